// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace infer_counting {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto counted = fuse::rule<"counted">(tanh(op<"Gather">(var<"table">, var<"rows">)) * var<"x">)
                             .where(counts_along<"rows", "x">)
                             .replace(relu(var<"x">))
                             .at_equal_cost();

using integers = std::vector<std::int64_t>;

struct model : sketch {
  model() : sketch(18), x(in("x", {"batch", "n"})), table(in("table", {64})) {}
  value x, table;

  value whole(integers shape, integers const& elements) {
    return constant(fuse::make_tensor<std::int64_t>(std::move(shape), elements));
  }
  value numbers(std::int64_t count, std::int64_t first = 0) {
    integers all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return whole({count}, all);
  }
  value one(std::int64_t of) { return whole({}, {of}); }
  value list(integers const& of) { return whole({static_cast<std::int64_t>(of.size())}, of); }
  /// The last extent of x, in a list.
  value length() { return add("Shape", {x}, {{"start", std::int64_t{1}}}); }
  value range(std::int64_t from = 0, std::int64_t by = 1) {
    return add("Range", {one(from), add("Squeeze", {length()}), one(by)});
  }
  /// So many that nobody has computed.
  value range_of(std::int64_t count) {
    auto const any = add("Reshape", {in("count", {1}, element_type::int64), list({1})});
    auto const all = add("Range", {one(0), add("Squeeze", {any}), one(1)});
    return add("Slice", {all, list({0}), list({count}), list({0})});
  }
  value beginning(value of, std::int64_t from = 0) { return add("Slice", {of, list({from}), length(), list({-1})}); }
};
template <class Make>
bool proven(Make const& make) {
  model g;
  auto const rows = g.add("Gather", {g.table, make(g)}, {{"axis", std::int64_t{0}}});
  g.end(g.add("Mul", {g.add("Tanh", {rows}), g.x}));
  return applied<counted>(g) == 1;
}

}  // namespace

TEST_CASE("positions count from 0 where that follows from what makes them") {
  CHECK(proven([](model& g) { return g.range(); }));
  CHECK(proven([](model& g) { return g.add("Unsqueeze", {g.range(), g.list({0})}); }));
  CHECK(proven([](model& g) { return g.add("Cast", {g.range()}, {{"to", std::int64_t{6}}}); }));
  CHECK(proven([](model& g) { return g.beginning(g.numbers(40)); }));
  CHECK(proven([](model& g) { return g.beginning(g.add("Unsqueeze", {g.numbers(40), g.list({0})})); }));
  CHECK(proven([](model& g) {
    return g.add("Expand", {g.range(), g.add("Shape", {g.x})});  // for each batch
  }));
  CHECK(proven([](model& g) {
    return g.add("Expand", {g.beginning(g.add("Unsqueeze", {g.numbers(40), g.list({0})})), g.add("Shape", {g.x})});
  }));
  CHECK(proven([](model& g) {
    auto const ones =
        g.add("ConstantOfShape", {g.length()}, {{"value", fuse::make_tensor<std::int64_t>({1}, integers{1})}});
    return g.add("Squeeze", {g.add("NonZero", {ones}), g.list({0})});
  }));
}

TEST_CASE("other positions do not") {
  CHECK_FALSE(proven([](model& g) { return g.range(1); }));
  CHECK_FALSE(proven([](model& g) { return g.range(0, 2); }));
  CHECK_FALSE(proven([](model& g) { return g.beginning(g.numbers(40, 1)); }));
  CHECK_FALSE(proven([](model& g) { return g.beginning(g.numbers(40), 1); }));
  CHECK_FALSE(proven([](model& g) { return g.beginning(g.whole({1}, {0})); }));  // repeated along the axis
  CHECK_FALSE(proven([](model& g) { return g.numbers(40); }));                   // nobody says that x has as many
  CHECK_FALSE(proven([](model& g) { return g.in("rows", {"n"}, element_type::int64); }));
  CHECK_FALSE(proven([](model& g) { return g.add("Neg", {g.range()}); }));
  // 0, 1, 2, 1, 2, 3: each step of the layout is 1, and it counts twice.
  CHECK_FALSE(proven([](model& g) {
    g.x = g.in("six", {"batch", 6});
    return g.add("Gather", {g.range_of(40), g.list({0, 1, 2, 1, 2, 3})});
  }));
  CHECK(proven([](model& g) {
    g.x = g.in("six", {"batch", 6});
    return g.add("Gather", {g.range_of(40), g.list({0, 1, 2, 3, 4, 5})});
  }));
  CHECK_FALSE(proven([](model& g) { return g.add("Cast", {g.range()}, {{"to", std::int64_t{3}}}); }));  // int8 wraps
  CHECK_FALSE(proven([](model& g) {
    return g.add("Slice", {g.whole({2, 4}, {0, 1, 2, 3, 1, 2, 3, 4}), g.list({0}), g.length(), g.list({-1})});
  }));
}

}  // namespace infer_counting
