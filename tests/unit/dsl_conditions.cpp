// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dsl_conditions {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">, s = var<"s">;
constexpr auto eps = scalar<"epsilon">;
constexpr auto larger = fuse::rule<"larger">(relu(op<"Max">(tanh(x), w))).replace(op<"Max">(x, w));

constexpr auto alike_type = larger.where(same_type<"x", "w">);
constexpr auto alike_shape = larger.where(same_shape<"x", "w">);
constexpr auto float_x = larger.where(floating<"x">);
constexpr auto constant_w = larger.where(is_constant<"w">);
constexpr auto rank_2 = larger.where(rank<"x">(2));
constexpr auto half_x = larger.where(type<"x">(element_type::float16));
constexpr auto along_w = larger.where(along_last_axes<"w", "x">);
constexpr auto row_w = larger.where(row_vector<"w", "x">);
constexpr auto storable = fuse::rule<"storable">(tanh(x) * eps).where(float32_number<"epsilon">()).replace(relu(x));
constexpr auto above = fuse::rule<"above">(tanh(x) * eps).where(float32_number<"epsilon">(-1)).replace(relu(x));
constexpr auto small = fuse::rule<"small">(tanh(x) * eps).where(float32_epsilon<"epsilon">).replace(relu(x));
constexpr auto trailing = fuse::rule<"trailing">(relu(abs(mean(x))))
                              .where(trailing_axes<"axes">)
                              .replace(mean(x).attr<"axes">(param<"axes">));
constexpr auto row_of_axes =
    fuse::rule<"row-of-axes">(relu(op<"Max">(x - mean(x), s))).where(row_vector<"s", "x">).replace(op<"Max">(x, s));

constexpr auto alone = fuse::rule<"alone">(op<"Max">(tanh(var<"y">), abs(var<"y">)).as<"top">())
                           .where(used_only_for<"y", "top">)
                           .replace(relu(var<"y">));

/// The condition that keeps `Rule` from max(tanh(x), w); empty when it fires.
template <auto const& Rule>
std::string why(graph::value (*make)(sketch&), graph::dims const& shape = {4, 8},
                element_type type = element_type::float32) {
  sketch g;
  auto const a = g.in("a", shape, type);
  g.end(g.add("Relu", {g.add("Max", {g.add("Tanh", {a}), make(g)})}));
  auto const before = to_text(g);
  auto const report = fuse::rewrite<Rule>(g);
  INFO(to_text(report));
  if (report.applied() == 1) return "";
  CHECK(to_text(g) == before);
  auto const all = refused(report, "larger");
  REQUIRE_FALSE(all.empty());
  return all;
}

}  // namespace

TEST_CASE("the same element type") {
  CHECK(why<alike_type>([](sketch& g) { return g.in("b", {8}); }).empty());
  CHECK(why<alike_type>([](sketch& g) { return g.in("b", {8}, element_type::float16); }) == "the same element type");
}

TEST_CASE("the same shape, provably") {
  CHECK(why<alike_shape>([](sketch& g) { return g.in("b", {4, 8}); }).empty());
  CHECK(why<alike_shape>([](sketch& g) { return g.in("b", {8}); }) == "the same shape");
  CHECK(why<alike_shape>([](sketch& g) { return g.in("b", {"n", 8}); }, {"n", 8}).empty());
  CHECK(why<alike_shape>([](sketch& g) { return g.in("b", {"m", 8}); }, {"n", 8}) == "the same shape");
  CHECK(why<alike_shape>([](sketch& g) { return g.in("b", {"", 8}); }, {"", 8}) == "the same shape");
}

TEST_CASE("a floating element type") {
  CHECK(why<float_x>([](sketch& g) { return g.in("b"); }).empty());
  CHECK(why<float_x>([](sketch& g) { return g.in("b", {8}, element_type::int32); }, {4, 8}, element_type::int32) ==
        "a floating element type");
}

TEST_CASE("a constant") {
  CHECK(why<constant_w>([](sketch& g) { return g.scalar(1.0f); }).empty());
  CHECK(why<constant_w>([](sketch& g) { return g.add("Sqrt", {g.scalar(4.0f)}); }).empty());
  CHECK(why<constant_w>([](sketch& g) { return g.in("b", {}); }) == "a constant");
  CHECK(why<constant_w>([](sketch& g) { return g.input("b", fuse::make_tensor<float>({}, std::vector<float>{1})); }) ==
        "a constant");
}

TEST_CASE("the rank") {
  auto const b = [](sketch& g) { return g.in("b", {8}); };
  CHECK(why<rank_2>(b).empty());
  CHECK(why<rank_2>(b, {2, 4, 8}) == "the rank");
}

TEST_CASE("the element type") {
  CHECK(why<half_x>([](sketch& g) { return g.in("b", {8}, element_type::float16); }, {4, 8}, element_type::float16)
            .empty());
  CHECK(why<half_x>([](sketch& g) { return g.in("b", {8}); }) == "the element type");
}

TEST_CASE("along the last axis") {
  for (auto const& [make, fires] : std::initializer_list<std::pair<graph::value (*)(sketch&), bool>>{
           {[](sketch& g) { return g.in("b", {8}); }, true},
           {[](sketch& g) {
              return g.in("b", {1, 8});
            },
            true},
           {[](sketch& g) { return g.in("b", {}); }, true},
           {[](sketch& g) {
              return g.in("b", {4, 1});
            },
            false},
           {[](sketch& g) {
              return g.in("b", {4, 8});
            },
            false},
           {[](sketch& g) {
              return g.in("b", {1, 1, 8});
            },
            false},
           {[](sketch& g) { return g.input("b", element_type::float32); }, false}})
    CHECK(why<along_w>(make) == (fires ? "" : "along the last axes alone"));
}

TEST_CASE("one row of the last axis") {
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {8}); }).empty());
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {1, 8}); }).empty());
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {1}); }).empty());
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {}); }).empty());
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {4, 1}); }) == "one row over the normalised axes");
  CHECK(why<row_w>([](sketch& g) { return g.in("b", {4, 8}); }) == "one row over the normalised axes");
  CHECK(why<row_w>([](sketch& g) {
          return g.in("b", {1, 1, 8});
        }) == "one row over the normalised axes");  // it enlarges the result
  CHECK(why<row_w>([](sketch& g) { return g.input("b", element_type::float32); }) ==
        "one row over the normalised axes");
}

TEST_CASE("one row of the axes that a mean is over") {
  for (auto [axis, width, fires] : {std::tuple{1, 8, true}, {1, 4, false}}) {
    sketch g;
    auto const a = g.in("a", {4, 8});
    auto const m = g.add("ReduceMean", {a}, {{"axes", {axis}}});
    g.end(g.add("Relu", {g.add("Max", {g.add("Sub", {a, m}), width == 8 ? g.in("s", {8}) : g.in("s", {4, 1})})}));
    if (fires)
      CHECK(applied<row_of_axes>(g) == 1);
    else
      CHECK(refusal<row_of_axes>(g) == "one row over the normalised axes");
  }
  sketch g;  // two axes
  auto const a = g.in("a", {2, 4, 8});
  auto const m = g.add("ReduceMean", {a}, {{"axes", {-2, -1}}});
  g.end(g.add("Relu", {g.add("Max", {g.add("Sub", {a, m}), g.in("s", {4, 8})})}));
  CHECK(applied<row_of_axes>(g) == 1);
}

TEST_CASE("trailing axes") {
  for (auto [axes, fires] : {std::pair{std::vector<std::int64_t>{2}, true},
                             {{1, 2}, true},
                             {{-1, 0, 1}, true},
                             {{1}, false},
                             {{0, 2}, false}}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Abs", {g.add("ReduceMean", {g.in("a", {2, 4, 8})}, {{"axes", axes}})})}));
    if (fires)
      CHECK(applied<trailing>(g) == 1);
    else
      CHECK(refusal<trailing>(g) == "the axes are trailing ones");
  }
}

TEST_CASE("a number that float32 can hold") {
  for (auto [number, fires, fires_above] : {std::tuple{1e-5, true, true},
                                            {0.0, true, true},
                                            {-1.0, true, true},
                                            {-2.0, true, false},
                                            {1e-300, false, false},
                                            {-1e300, false, false}}) {
    sketch g;
    g.end(g.add("Mul", {g.add("Tanh", {g.in("a", {4}, element_type::float64)}), g.scalar(number)}));
    auto h = g;
    CHECK(fuse::rewrite<storable>(g).applied() == (fires ? 1 : 0));
    CHECK(fuse::rewrite<above>(h).applied() == (fires_above ? 1 : 0));
  }
}

TEST_CASE("an epsilon that float32 can hold") {
  for (auto [number, fires] :
       {std::pair{1e-5, true}, {0.0, true}, {0.5, true}, {1e-300, false}, {1e300, false}, {-1e-5, false}}) {
    sketch g;
    g.end(g.add("Mul", {g.add("Tanh", {g.in("a", {4}, element_type::float64)}), g.scalar(number)}));
    if (fires)
      CHECK(applied<small>(g) == 1);
    else
      CHECK(refusal<small>(g) == "an epsilon that float32 can hold");
  }
}

TEST_CASE("one element along an axis") {
  static constexpr auto first = larger.where(repeats_along<"w", "x">(0));
  static constexpr auto last = larger.where(repeats_along<"w", "x">(-1));
  auto const row = [](sketch& g) { return g.in("b", {8}); };
  auto const column = [](sketch& g) { return g.in("b", {4, 1}); };
  auto const open = [](sketch& g) { return g.in("b", {"n", 8}); };
  CHECK(why<first>(row).empty());
  CHECK(why<last>(row) == "one element along that axis");
  CHECK(why<first>(column) == "one element along that axis");
  CHECK(why<last>(column).empty());
  CHECK(why<first>(open) == "one element along that axis");
}

TEST_CASE("all axes from one on") {
  static constexpr auto from_2 = fuse::rule<"from 2">(relu(abs(mean(x))))
                                     .where(axes_from<"axes", "x">(2))
                                     .replace(mean(x).attr<"axes">(param<"axes">));
  auto const why_not = [](graph::dims const& shape, std::vector<std::int64_t> const& axes) {
    sketch g;
    auto const m = g.add("ReduceMean", {g.in("a", shape)}, {{"axes", axes}});
    g.end(g.add("Relu", {g.add("Abs", {m})}));
    return fuse::rewrite<from_2>(static_cast<graph&>(g)).applied() == 1 ? std::string() : "refused";
  };
  CHECK(why_not({2, 3, 4, 5}, {2, 3}).empty());
  CHECK(why_not({2, 3, 4}, {-1}).empty());
  CHECK(why_not({2, 3, 4, 5}, {3}) == "refused");
  CHECK(why_not({2, 3, 4, 5}, {1, 2, 3}) == "refused");
  CHECK(why_not({2, 3, 4, 5}, {1, 3}) == "refused");
  CHECK(why_not({2, 3}, {1}) == "refused");
}

TEST_CASE("one number everywhere") {
  static constexpr auto ones = larger.where(everywhere<"w">(1));
  CHECK(why<ones>([](sketch& g) { return g.scalar(1.0f); }).empty());
  CHECK(
      why<ones>([](sketch& g) { return g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, 1))); }).empty());
  CHECK(why<ones>([](sketch& g) { return g.scalar(2.0f); }) == "that number everywhere");
  CHECK(why<ones>([](sketch& g) {
          return g.constant(fuse::make_tensor<float>({8}, std::vector<float>{1, 1, 1, 1, 1, 1, 1, 2}));
        }) == "that number everywhere");
  CHECK(why<ones>([](sketch& g) { return g.in("b", {8}); }) == "that number everywhere");
}

TEST_CASE("what is used for one value alone") {
  sketch g;
  auto const y = g.add("Sigmoid", {g.in("a")}), left = g.add("Tanh", {y}), right = g.add("Abs", {y});
  auto const top = g.add("Max", {left, right});
  auto const applies = [&] {
    auto const report = fuse::rewrite<alone>(g);
    CHECK((report.applied() == 1 || refused(report, "alone") == "nothing else uses it"));
    return report.applied() == 1;
  };
  SECTION("two nodes that use it compute the value") {
    g.end(g.add("Exp", {top}));
    CHECK(applies());
  }
  SECTION("one that others use, too, does not") {
    g.end(g.add("Exp", {g.add("Add", {top, right})}));
    CHECK_FALSE(applies());
  }
  SECTION("nor one of another way") {
    g.end(g.add("Exp", {g.add("Add", {top, g.add("Exp", {y})})}));
    CHECK_FALSE(applies());
  }
  SECTION("nor one that nobody reads: it is there") {
    g.add("Exp", {y});
    g.end(top);
    CHECK_FALSE(applies());
  }
  SECTION("an output is used") {
    g.output(y, "z");
    g.end(top);
    CHECK_FALSE(applies());
  }
  SECTION("an output further on is, too") {
    g.output(left, "z");
    g.end(top);
    CHECK_FALSE(applies());
  }
  SECTION("an input is used for what is computed of it") {
    sketch other;
    auto const a = other.in("a");
    other.end(other.add("Max", {other.add("Tanh", {a}), other.add("Abs", {a})}));
    CHECK(fuse::rewrite<alone>(other).applied() == 1);
  }
}

}  // namespace dsl_conditions
