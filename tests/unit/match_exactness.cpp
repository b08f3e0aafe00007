// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <limits>
#include <vector>

// What only looks like what a rule asks for: another number, another result, another rank, another precision.
namespace match_exactness {

using namespace rewriting;
using namespace fuse::dsl;
using value = graph::value;

namespace {

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, m = var<"m">;
inline constexpr auto s = scalar<"s">;
inline constexpr auto others = rest<"others">;
constexpr auto infinity = std::numeric_limits<double>::infinity();

template <auto const& Rules, class Make>
std::size_t fires(Make const& make, int version = 17) {
  sketch g(version);
  g.end(make(g));
  return applied<Rules>(g);
}

/// One number of that rank.
value one(sketch& g, float number, std::size_t rank) {
  return g.constant(fuse::make_tensor<float>(std::vector<std::int64_t>(rank, 1), std::vector<float>{number}));
}
value integer(sketch& g, std::int64_t number) {
  return g.constant(fuse::make_tensor<std::int64_t>({}, std::vector<std::int64_t>{number}));
}

inline constexpr auto flat =
    fuse::rule<"flat">(relu(op<"Max">(relu(x), others))).through<"Identity">().replace(op<"Max">(relu(x), others));
inline constexpr auto unbounded =
    fuse::rule<"unbounded">(tanh(op<"Clip">(x).attr<"min">(0.0).attr<"max">(infinity))).replace(tanh(relu(x)));
inline constexpr auto masked =
    fuse::rule<"masked">(op<"Where">(m, x, constant(-infinity)) + y).replace(op<"Where">(m, x, y));
inline constexpr auto scaled_twice = fuse::rule<"scaled-twice">(tanh(x * s) + sigmoid(y * s)).replace(op<"Max">(x, y));
inline constexpr auto squares = fuse::rule<"squares">(square(x) - square(y)).replace((x - y) * (x + y)).at_equal_cost();
inline constexpr auto rooted =
    fuse::rule<"rooted">(tanh(x) * sqrt(others)).replace(op<"Max">(x, others)).at_equal_cost();
inline constexpr auto like = fuse::rule<"like">(2.0 * x * y + tanh(z)).through<"Cast">().replace(op<"Max">(x, y, z));
inline constexpr auto clipped =
    fuse::rule<"clipped">(sqrt((abs(x) + 0.25).never_negative()) * y).replace(op<"Max">(x, y));
inline constexpr auto soft =
    fuse::rule<"soft">(op<"Softmax">(op<"Max">(x, constant(0))).attr<"axis">(0) + y).replace(op<"Max">(x, y));
inline constexpr auto soft_product =
    fuse::rule<"soft-product">(op<"Softmax">(tanh(x) * z).attr<"axis">(0) + y).replace(op<"Max">(x, z, y));
inline constexpr auto soft_scalar =
    fuse::rule<"soft-scalar">(op<"Softmax">(op<"Max">(x, s)).attr<"axis">(0) + y).replace(op<"Max">(x, y));
inline constexpr auto summed = fuse::rule<"summed">(tanh(sum(square(x))) * y).replace(op<"Max">(x, y)).at_equal_cost();
inline constexpr auto biased =
    fuse::rule<"biased">(tanh(x) + y + others.not_empty()).replace(op<"Max">(tanh(x), y, others)).at_equal_cost();

}  // namespace

TEST_CASE("a rest of operands below what is looked through has all of them") {
  sketch g;
  auto const a = g.in("a");
  auto const most = g.add("Max", {g.add("Relu", {a}), g.in("b"), g.in("c")});
  g.end(g.add("Relu", {g.add("Identity", {most})}));
  CHECK(applied<flat>(g) == 1);
  CHECK(ops(g) == "Relu Max");
  CHECK(g.operands(last(g)).size() == 3);
}

TEST_CASE("an infinity is no other number") {
  auto const limited = [](float most) {
    return [most](sketch& g) { return g.add("Tanh", {g.add("Clip", {g.in("x"), g.scalar(0.0f), g.scalar(most)})}); };
  };
  CHECK(fires<unbounded>(limited(6)) == 0);
  CHECK(fires<unbounded>(limited(static_cast<float>(infinity))) == 1);
  auto const filled = [](float number) {
    return [number](sketch& g) {
      auto const chosen = g.add("Where", {g.in("m", {4, 8}, element_type::boolean), g.in("x"), g.scalar(number)});
      return g.add("Add", {chosen, g.in("y")});
    };
  };
  CHECK(fires<masked>(filled(7)) == 0);
  CHECK(fires<masked>(filled(static_cast<float>(-infinity))) == 1);
  auto const two = [](float first, float second) {
    return [=](sketch& g) {
      auto const left = g.add("Tanh", {g.add("Mul", {g.in("x"), g.scalar(first)})});
      return g.add("Add", {left, g.add("Sigmoid", {g.add("Mul", {g.in("y"), g.scalar(second)})})});
    };
  };
  CHECK(fires<scaled_twice>(two(3, static_cast<float>(infinity))) == 0);
  CHECK(fires<scaled_twice>(two(3, 3)) == 1);
}

TEST_CASE("integers are compared exactly") {
  auto const two = [](std::int64_t first, std::int64_t second) {
    return [=](sketch& g) {
      auto const a = g.in("x", {4}, element_type::int64), b = g.in("y", {4}, element_type::int64);
      return g.add("Add", {g.add("Tanh", {g.add("Mul", {a, integer(g, first)})}),
                           g.add("Sigmoid", {g.add("Mul", {b, integer(g, second)})})});
    };
  };
  CHECK(fires<scaled_twice>(two(10'000'000, 10'000'001)) == 0);
}

TEST_CASE("a further result of an operator is not what the operator keeps") {
  CHECK(fires<squares>(
            [](sketch& g) {
              auto const n = g.append("Dropout", {g.in("x")}, {}, 2);
              auto const b = g.in("y");
              return g.add("Sub", {g.add("Mul", {g.result(n, 0), g.result(n, 1)}), g.add("Mul", {b, b})});
            },
            9) == 0);
}

TEST_CASE("a number with axes is left out only where the rank stays") {
  auto const below = [](std::size_t rank) {
    return [rank](sketch& g) {
      auto const most = g.add("Max", {g.in("x", {3, 3}), one(g, 0, rank)});
      return g.add("Add", {g.add("Softmax", {most}, {{"axis", 0}}), g.in("y", {1, 3, 3})});
    };
  };
  CHECK(fires<soft>(below(3)) == 0);
  CHECK(fires<soft_scalar>(below(3)) == 0);
  CHECK(fires<soft>(below(0)) == fires<soft>(below(2)));
  CHECK(fires<soft_product>([](sketch& g) {
          auto const product = g.add("Mul", {g.add("Tanh", {g.in("x", {3, 3})}), g.in("z", {3, 3})});
          auto const wider = g.add("Mul", {product, one(g, 1, 3)});
          return g.add("Add", {g.add("Softmax", {wider}, {{"axis", 0}}), g.in("y", {1, 3, 3})});
        }) == 0);
  auto const power = [](std::size_t rank) {
    return [rank](sketch& g) {
      auto const squared = g.add("Pow", {g.in("x", {3, 3}), one(g, 2, rank)});
      auto const total = g.add("ReduceSum", {squared}, {{"axes", {0}}, {"keepdims", 1}});
      return g.add("Mul", {g.add("Tanh", {total}), g.in("y", {1, 3, 3})});
    };
  };
  CHECK(fires<summed>(power(3), 12) == 0);
}

TEST_CASE("below a root stands what the root is of, not what is beside it") {
  sketch g;
  auto const c = g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, -2.0f)));
  auto const scaled = g.add("Mul", {g.add("Tanh", {g.in("x")}), c});
  g.end(g.add("Mul", {scaled, g.add("Sqrt", {g.in("y")})}));
  CHECK(applied<rooted>(g) == 0);
  sketch h;
  h.end(h.add("Mul", {h.add("Tanh", {h.in("x")}), h.add("Sqrt", {h.in("y")})}));
  CHECK(applied<rooted>(h) == 1);
}

TEST_CASE("terms that differ by a Cast that narrows are not alike") {
  auto const twice = [](std::int64_t through) {
    return [through](sketch& g) {
      auto const a = g.in("a"), b = g.in("b");
      auto const half = g.add("Cast", {a}, {{"to", through}});
      auto const back = g.add("Cast", {half}, {{"to", 1}});
      auto const terms = g.add("Add", {g.add("Mul", {a, b}), g.add("Mul", {back, b})});
      return g.add("Add", {terms, g.add("Tanh", {g.in("c")})});
    };
  };
  CHECK(fires<like>(twice(10)) == 0);
  CHECK(fires<like>(twice(1)) == 1);
}

TEST_CASE("what is never negative may be clipped with the constants that make it larger alone") {
  auto const inside = [](float in, float out) {
    return [=](sketch& g) {
      auto const sum = g.add("Add", {g.add("Abs", {g.in("x")}), g.scalar(in)});
      auto const root = g.add("Sqrt", {g.add("Add", {g.add("Relu", {sum}), g.scalar(out)})});
      return g.add("Mul", {root, g.in("y")});
    };
  };
  CHECK(fires<clipped>(inside(-0.75f, 1.0f)) == 0);
  CHECK(fires<clipped>(inside(0.125f, 0.125f)) == 1);
  CHECK(fires<clipped>(inside(0.25f, 0.0f)) == 1);
}

TEST_CASE("a row of zeros is one term, and not what was left out besides") {
  auto const negated = [](float number, std::vector<std::int64_t> const& further) {
    return [=](sketch& g) {
      auto const row = g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, number)));
      auto sum = g.add("Add", {row, g.add("Tanh", {g.in("x")})});
      for (auto const extent : further)
        sum = g.add("Add", {sum, g.constant(fuse::make_tensor<float>(
                                     {extent}, std::vector<float>(static_cast<std::size_t>(extent), number)))});
      return g.add("Neg", {g.add("Neg", {sum})});
    };
  };
  float const number = GENERATE(-0.0f, 0.0f, 1.0f);
  CHECK(fires<biased>(negated(number, {})) == 0);
  CHECK(fires<biased>(negated(number, {8})) == 1);
  CHECK(fires<biased>(negated(number, {1})) == 1);
}

}  // namespace match_exactness
