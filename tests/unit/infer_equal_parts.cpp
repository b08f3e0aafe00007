// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <vector>

namespace infer_equal_parts {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto halves = fuse::rule<"halves">(tanh(x)).where(equal_parts<"x", 2>).replace(relu(x)).at_equal_cost();
constexpr auto neighbours =
    fuse::rule<"neighbours">(tanh(x)).where(equal_parts<"x", 2, 2>).replace(relu(x)).at_equal_cost();

constexpr auto opposite_halves =
    fuse::rule<"halves">(tanh(x)).where(opposite_parts<"x", 2>).replace(relu(x)).at_equal_cost();
constexpr auto opposite_neighbours =
    fuse::rule<"neighbours">(tanh(x)).where(opposite_parts<"x", 2, 2>).replace(relu(x)).at_equal_cost();

struct model : sketch {
  model() : sketch(18), f(in("f", {"n", 3})) {}
  value f;
  value rows(std::vector<std::int64_t> const& shape, std::vector<float> const& numbers) {
    return constant(fuse::make_tensor<float>(shape, numbers));
  }
  value joined(value a, value b, int axis = -1) { return add("Concat", {a, b}, {{"axis", axis}}); }
  value doubled() { return joined(f, f); }
  /// Each element of f twice.
  value each_twice() {
    auto const wide = add("Unsqueeze", {f, constant({2})});
    return add("Reshape", {joined(wide, wide), constant({0, 6})});
  }
};
template <auto const& Halves, auto const& Neighbours, class Make>
std::vector<bool> proven_by(Make const& make) {
  std::vector<bool> all;
  for (bool const apart : {false, true}) {
    model g;
    g.end(g.add("Tanh", {make(g)}));
    all.push_back((apart ? applied<Neighbours>(g) : applied<Halves>(g)) == 1);
  }
  return all;
}
/// Whether the halves of what `make` makes are proven to be alike, and neighbours.
template <class Make>
std::vector<bool> proven(Make const& make) {
  return proven_by<halves, neighbours>(make);
}
template <class Make>
std::vector<bool> proven_opposite(Make const& make) {
  return proven_by<opposite_halves, opposite_neighbours>(make);
}
std::vector<bool> const none{false, false}, alike{true, false}, by_twos{false, true}, both{true, true};

}  // namespace

TEST_CASE("parts are alike by what moves elements") {
  CHECK(proven([](model& g) { return g.doubled(); }) == alike);
  CHECK(proven([](model& g) { return g.each_twice(); }) == by_twos);
  CHECK(proven([](model& g) { return g.add("Tile", {g.f, g.constant({1, 2})}); }) == alike);
  CHECK(proven([](model& g) { return g.add("Unsqueeze", {g.doubled(), g.constant({1})}); }) == alike);
  CHECK(proven([](model& g) { return g.add("Transpose", {g.doubled()}, {{"perm", {1, 0}}}); }) == none);
  CHECK(proven([](model& g) { return g.f; }) == none);
  CHECK(proven([](model& g) { return g.joined(g.f, g.in("other", {"n", 3})); }) == none);
  CHECK(proven([](model& g) { return g.joined(g.f, g.f, 0); }) == none);
  CHECK(proven([](model& g) { return g.joined(g.joined(g.f, g.f), g.f); }) == none);  // three
}

TEST_CASE("parts are alike element by element") {
  CHECK(proven([](model& g) { return g.add("Cos", {g.doubled()}); }) == alike);
  CHECK(proven([](model& g) { return g.add("Mul", {g.add("Sin", {g.doubled()}), g.scalar(2.0f)}); }) == alike);
  CHECK(proven([](model& g) { return g.add("Mul", {g.doubled(), g.in("column", {"n", 1})}); }) == alike);
  CHECK(proven([](model& g) { return g.add("Mul", {g.doubled(), g.in("row", {6})}); }) == none);
  CHECK(proven([](model& g) { return g.add("Add", {g.doubled(), g.each_twice()}); }) == none);
  CHECK(proven([](model& g) { return g.add("Softmax", {g.doubled()}); }) == none);  // it is; nobody has proven it
  CHECK(proven([](model& g) { return g.add("Dropout", {g.doubled()}); }) == alike);
  CHECK(proven([](model& g) {
          return g.add("Dropout", {g.doubled(), g.scalar(0.5f), g.in("trains", {}, element_type::boolean)});
        }) == none);
}

TEST_CASE("parts of constants are alike by their contents") {
  auto const of = [](std::vector<float> numbers, std::vector<std::int64_t> shape) {
    return proven([&](model& g) {
      return g.add("Add", {g.constant(fuse::make_tensor<float>(shape, numbers)), g.in("column", {"n", 1})});
    });
  };
  CHECK(of({1, 2, 1, 2}, {4}) == alike);
  CHECK(of({1, 1, 2, 2}, {4}) == by_twos);
  CHECK(of({3, 3, 3, 3}, {4}) == both);
  CHECK(of({1, 2, 1, 3}, {4}) == none);
  CHECK(of({1, 2, 1, 2, 5, 6, 5, 6}, {2, 4}) == alike);
  CHECK(of({1, 2, 1, 2, 5, 6, 5, 7}, {2, 4}) == none);
  CHECK(of({0, 1, -0.0f, 1}, {4}) == none);
  CHECK(of({0, 0, -0.0f, -0.0f}, {4}) == by_twos);
  CHECK(of({1, 2, 1}, {3}) == none);
}

TEST_CASE("rows that are gathered, and products by columns that repeat, have alike parts") {
  auto const table = [](model& g, std::vector<float> const& row) {
    auto numbers = row;
    for (auto each : row) numbers.push_back(each + 1);
    return g.constant(fuse::make_tensor<float>({2, 4}, numbers));
  };
  auto const indices = [](model& g) { return g.in("i", {"n"}, element_type::int64); };
  CHECK(proven([&](model& g) { return g.add("Gather", {table(g, {1, 2, 1, 2}), indices(g)}); }) == alike);
  CHECK(proven([&](model& g) { return g.add("Gather", {table(g, {1, 2, 1, 3}), indices(g)}); }) == none);
  CHECK(proven([&](model& g) {
          return g.add("Gather", {table(g, {1, 2, 1, 2}), g.in("i", {4}, element_type::int64)}, {{"axis", 1}});
        }) == none);
  CHECK(proven([&](model& g) { return g.add("MatMul", {g.in("a", {"n", 2}), table(g, {1, 2, 1, 2})}); }) == alike);
  CHECK(proven([&](model& g) { return g.add("MatMul", {g.in("a", {"n", 2}), table(g, {1, 2, 3, 2})}); }) == none);
}

TEST_CASE("parts are opposite by what stands in them") {
  auto const minus = [](model& g, graph::value v) { return g.add("Neg", {v}); };
  auto const stacked = [](model& g, graph::value a, graph::value b) {
    auto const wide = [&](graph::value v) { return g.add("Unsqueeze", {v, g.constant({2})}); };
    return g.add("Reshape", {g.joined(wide(a), wide(b)), g.constant({0, 6})});
  };
  CHECK(proven_opposite([&](model& g) { return g.joined(minus(g, g.f), g.f); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.joined(g.f, minus(g, g.f)); }) == alike);
  CHECK(proven_opposite([&](model& g) { return stacked(g, minus(g, g.f), g.f); }) == by_twos);
  CHECK(proven_opposite([&](model& g) { return stacked(g, g.f, minus(g, g.f)); }) == by_twos);
  CHECK(proven([&](model& g) { return g.joined(minus(g, g.f), g.f); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.doubled(); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.joined(minus(g, g.f), g.in("other", {"n", 3})); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.joined(minus(g, g.f), minus(g, g.f)); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.joined(g.add("Mul", {g.f, g.scalar(-1.0f)}), g.f); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.joined(g.add("Mul", {g.f, g.scalar(-2.0f)}), g.f); }) == none);
  CHECK(proven_opposite([&](model& g) {  // moved in two ways
          auto const square = g.in("s", {3, 3});
          auto const turned = g.add("Transpose", {square}, {{"perm", {1, 0}}});
          return g.joined(minus(g, square), turned);
        }) == none);
}

TEST_CASE("a minus goes through products, and not through sums or what keeps no sign") {
  auto const signs = [](model& g) { return g.rows({6}, {-1, -1, -1, 1, 1, 1}); };
  auto const by_signs = [&](model& g) { return g.add("Mul", {g.doubled(), signs(g)}); };
  CHECK(proven_opposite(by_signs) == alike);
  CHECK(proven([&](model& g) { return g.add("Div", {by_signs(g), signs(g)}); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.add("Neg", {by_signs(g)}); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.add("Mul", {by_signs(g), g.in("column", {"n", 1})}); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.add("Add", {by_signs(g), by_signs(g)}); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.add("Abs", {by_signs(g)}); }) == none);
  CHECK(proven_opposite([&](model& g) { return g.add("Exp", {by_signs(g)}); }) == none);
  CHECK(proven([&](model& g) { return g.add("Abs", {by_signs(g)}); }) == none);  // it is; nobody has proven it
  CHECK(proven_opposite([&](model& g) {
          return g.add("MatMul", {g.in("a", {"n", 1}), g.add("Mul", {signs(g), g.in("one", {1, 1})})});
        }) == none);
  CHECK(proven_opposite([&](model& g) {
          return g.add("Gather", {g.rows({2, 2}, {1, -1, 2, -2}), g.in("i", {"n"}, element_type::int64)});
        }) == both);
  CHECK(proven_opposite([&](model& g) { return g.joined(by_signs(g), by_signs(g), 0); }) == alike);
  CHECK(proven_opposite([&](model& g) { return g.joined(by_signs(g), g.doubled(), 0); }) == none);
}

}  // namespace infer_equal_parts
