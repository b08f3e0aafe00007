// SPDX-License-Identifier: BSL-1.0
#include "spelled.hpp"

namespace match_means {

using namespace rewriting;
using namespace fuse::dsl;
using value = graph::value;

namespace {

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, m = var<"m">;

inline constexpr auto centred = fuse::rule<"centred">(abs(x - mean(x))).replace(op<"Relu">(x));
inline constexpr auto scaled = fuse::rule<"scaled">(abs(y * mean(x))).replace(op<"Max">(x, y));
inline constexpr auto doubled = fuse::rule<"doubled">(abs(2.0 * y * mean(x))).replace(op<"Max">(x, y));
inline constexpr auto rooted = fuse::rule<"rooted">(abs(y / sqrt(mean(x)))).replace(op<"Max">(x, y));
inline constexpr auto added = fuse::rule<"added">(abs(y * sum(x))).replace(op<"Max">(x, y));
inline constexpr auto named = fuse::rule<"named">(abs(y * mean(x).as<"m">())).replace(op<"Max">(m, y));
inline constexpr auto counted = fuse::rule<"counted">(abs(y * mean(x).users(1))).replace(op<"Max">(x, y));
inline constexpr auto with_rest = fuse::rule<"with-rest">(abs(mean(x) * rest<"r">)).replace(op<"Relu">(rest<"r">));
inline constexpr auto unit = fuse::rule<"unit">(abs(x / sqrt(sum(square(x))))).replace(op<"Relu">(x));
inline constexpr auto length = fuse::rule<"length">(abs(op<"ReduceL2">(x) * y)).replace(op<"Max">(x, y));
inline constexpr auto one_length = fuse::rule<"one-length">(abs(exactly<"ReduceL2">(x) * y)).replace(op<"Max">(x, y));
inline constexpr auto root_of_squares =
    fuse::rule<"root-of-squares">(abs(sqrt(sum(square(x))) * y)).replace(op<"Max">(x, y));
inline constexpr auto squares = fuse::rule<"squares">(abs(op<"ReduceSumSquare">(x) * y)).replace(op<"Max">(x, y));
inline constexpr auto sum_of_products = fuse::rule<"sum-of-products">(abs(sum(x * x) * y)).replace(op<"Max">(x, y));
inline constexpr auto length_alone = fuse::rule<"length-alone">(op<"ReduceL2">(x)).replace(op<"Relu">(x));
inline constexpr auto length_of_axes = fuse::rule<"length-of-axes">(abs(op<"ReduceL2">(x).attr<"axes">(param<"a">) * y))
                                           .where(trailing_axes<"a">)
                                           .replace(op<"Max">(x, y));
inline constexpr auto length_again =
    fuse::rule<"length-again">(abs(op<"ReduceL2">(-x).as<"n">())).replace(again<"n">(x));
inline constexpr auto quotients = fuse::rule<"quotients">(tanh(x / y / z)).replace(op<"Max">(x, y, z));
inline constexpr auto either_of_them = fuse::rule_set<scaled, quotients>;

/// How often a rule fires on |what `make` makes| of a [4, 8] and b [4, 8].
template <auto const& Rules, class Make>
std::size_t fires(Make const& make) {
  sketch g(12);  // whose reductions have their axes as attributes
  auto const a = g.in("a"), b = g.in("b");
  g.end(g.add("Abs", {make(g, a, b)}));
  return applied<Rules>(g);
}
value reduced(sketch& g, char const* op, value a) { return g.add(op, {a}, {{"axes", {-1}}, {"keepdims", 1}}); }
value times(sketch& g, value a, float number) { return g.add("Mul", {a, g.scalar(number)}); }

// Lengths, sums of squares, and what is neither, of a, times b.
template <auto const& Rule>
std::string found_among_lengths() {
  using make = value (*)(sketch&, value);
  constexpr make spellings[] = {
      [](sketch& g, value a) { return reduced(g, "ReduceL2", a); },
      [](sketch& g, value a) {
        return g.add("Sqrt", {reduced(g, "ReduceSum", g.add("Mul", {a, a}))});
      },
      [](sketch& g, value a) {
        return g.add("Pow", {reduced(g, "ReduceSumSquare", a), g.scalar(0.5f)});
      },
      [](sketch& g, value a) {
        return g.add("Sqrt", {times(g, reduced(g, "ReduceMean", g.add("Pow", {a, g.scalar(2.0f)})), 8.0f)});
      },
      [](sketch& g, value a) { return reduced(g, "ReduceSumSquare", a); },
      [](sketch& g, value a) {
        return reduced(g, "ReduceSum", g.add("Mul", {a, a}));
      },
      [](sketch& g, value a) {
        return times(g, reduced(g, "ReduceMean", g.add("Mul", {a, a})), 8.0f);
      },
      [](sketch& g, value a) {
        auto const once = reduced(g, "ReduceL2", a);
        return g.add("Mul", {once, once});
      },
      [](sketch& g, value a) { return reduced(g, "ReduceSum", a); },
      [](sketch& g, value a) { return reduced(g, "ReduceL1", a); },
      [](sketch& g, value a) { return times(g, reduced(g, "ReduceL2", a), 8.0f); },
      [](sketch& g, value a) {
        return reduced(g, "ReduceMean", g.add("Mul", {a, a}));
      }};
  std::string all;
  for (auto spelling : spellings)
    all += fires<Rule>([&](sketch& g, value a, value b) { return g.add("Mul", {spelling(g, a), b}); }) == 1 ? '1' : '0';
  return all;
}

template <auto const& Rules>
std::size_t fires_pooled(graph::dims const& shape, std::vector<std::int64_t> const& window,
                         std::vector<std::int64_t> const& pads = {}) {
  sketch g;
  auto const a = g.in("a", shape);
  std::vector<graph::named> attributes{{"kernel_shape", window}};
  if (!pads.empty()) attributes.emplace_back("pads", pads);
  g.end(g.add("Abs", {g.add("Sub", {a, g.add("AveragePool", {a}, attributes)})}));
  return applied<Rules>(g);
}

}  // namespace

TEST_CASE("a mean is a sum whose numbers make up one over its count, wherever they stand") {
  CHECK(fires<scaled>([](sketch& g, value a, value b) {
          return g.add("Div", {g.add("Mul", {b, reduced(g, "ReduceSum", a)}), g.scalar(8.0f)});
        }) == 1);
  CHECK(fires<scaled>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {times(g, b, 0.25f), reduced(g, "ReduceSum", a)}), 0.5f);
        }) == 1);
  CHECK(fires<scaled>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {b, reduced(g, "ReduceSum", a)}), 0.25f);
        }) == 0);
  CHECK(fires<scaled>([](sketch& g, value a, value b) { return g.add("Mul", {b, reduced(g, "ReduceSum", a)}); }) == 0);
  CHECK(fires<doubled>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {b, reduced(g, "ReduceSum", a)}), 0.25f);
        }) == 1);
  CHECK(fires<doubled>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {b, reduced(g, "ReduceSum", a)}), 0.125f);
        }) == 0);
  CHECK(fires<rooted>([](sketch& g, value a, value b) {
          return times(g, g.add("Div", {b, g.add("Sqrt", {reduced(g, "ReduceSum", a)})}), 2.8284271f);
        }) == 1);
  CHECK(fires<with_rest>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {times(g, b, 0.25f), reduced(g, "ReduceSum", a)}), 0.5f);
        }) == 1);
}

TEST_CASE("a sum is a mean times its count") {
  CHECK(fires<added>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {b, reduced(g, "ReduceMean", a)}), 8.0f);
        }) == 1);
  CHECK(fires<added>([](sketch& g, value a, value b) {
          return g.add("Mul", {b, times(g, reduced(g, "ReduceMean", a), 8.0f)});
        }) == 1);
  CHECK(fires<added>([](sketch& g, value a, value b) {
          return times(g, g.add("Mul", {b, reduced(g, "ReduceMean", a)}), 4.0f);
        }) == 0);
}

TEST_CASE("a mean with a name, or whose users are counted, is one value") {
  auto const apart = [](sketch& g, value a, value b) {
    return g.add("Div", {g.add("Mul", {b, reduced(g, "ReduceSum", a)}), g.scalar(8.0f)});
  };
  CHECK(fires<named>(apart) == 0);
  CHECK(fires<counted>(apart) == 0);
  auto const whole = [](sketch& g, value a, value b) { return g.add("Mul", {b, reduced(g, "ReduceMean", a)}); };
  CHECK(fires<named>(whole) == 1);
  CHECK(fires<counted>(whole) == 1);
}

TEST_CASE("a count that nobody knows is none") {
  sketch g(12);
  auto const a = g.in("a", {4, "n"}), b = g.in("b", {4, 1});
  g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {b, reduced(g, "ReduceSum", a)}), g.scalar(8.0f)})}));
  CHECK(applied<scaled>(g) == 0);
}

TEST_CASE("a length is the root of a sum of squares, and itself") {
  auto const by_length = [](sketch& g, value a, value) { return g.add("Div", {a, reduced(g, "ReduceL2", a)}); };
  auto const with_length = [](sketch& g, value a, value b) { return g.add("Mul", {reduced(g, "ReduceL2", a), b}); };
  CHECK(fires<unit>(by_length) == 1);
  CHECK(fires<unit>([](sketch& g, value a, value) {
          return g.add("Div", {a, g.add("Sqrt", {reduced(g, "ReduceSumSquare", a)})});
        }) == 1);
  CHECK(fires<unit>([](sketch& g, value a, value b) { return g.add("Div", {a, reduced(g, "ReduceL2", b)}); }) == 0);
  CHECK(fires<unit>([](sketch& g, value a, value) { return g.add("Div", {a, reduced(g, "ReduceL1", a)}); }) == 0);
  CHECK(fires<length>(with_length) == 1);
  CHECK(fires<one_length>(with_length) == 1);
}

TEST_CASE("a length or a sum of squares is found in each spelling of it, however the pattern spells it") {
  CHECK(found_among_lengths<length>() == "111100000000");
  CHECK(found_among_lengths<root_of_squares>() == "111100000000");
  CHECK(found_among_lengths<length_of_axes>() == "111100000000");
  CHECK(found_among_lengths<squares>() == "000011110000");
  CHECK(found_among_lengths<sum_of_products>() == "000011110000");
  CHECK(found_among_lengths<one_length>() == "100000000000");
}

TEST_CASE("a length may be all of a pattern, and stand again on the right side") {
  sketch g(12);
  g.end(g.add("Sqrt", {reduced(g, "ReduceSumSquare", g.in("a"))}));
  CHECK(fuse::match_all<length_alone>(g).size() == 1);
  sketch again(12);
  again.end(again.add("Abs", {reduced(again, "ReduceL2", again.add("Neg", {again.in("a")}))}));
  CHECK(applied<length_again>(again) == 1);
  CHECK(ops(again) == "ReduceL2");
}

TEST_CASE("a pool whose window is all of the axes from the third on is a mean over them") {
  std::vector<std::int64_t> const all{8}, some{7}, both{3, 8}, one{1, 8};
  CHECK(fires_pooled<centred>({2, 4, 8}, all) == 1);
  CHECK(fires_pooled<centred>({2, 4, 3, 8}, both) == 1);
  CHECK(fires_pooled<centred>({2, 4, 8}, all, {0, 0}) == 1);
  CHECK(fires_pooled<centred>({2, 4, 3, 8}, one) == 0);
  CHECK(fires_pooled<centred>({2, 4, 8}, all, {1, 0}) == 0);
  CHECK(fires_pooled<centred>({2, 4, "n"}, all) == 0);
  CHECK(fires_pooled<centred>({2, 4, 8}, some) == 0);
}

TEST_CASE("beside rules that ask for means, what is divided by a number is divided by a number") {
  sketch g(12);
  auto const a = g.in("a"), b = g.in("b", {4, 1});
  auto const divided = g.add("Div", {reduced(g, "ReduceSum", a), g.scalar(8.0f)});
  g.end(g.add("Tanh", {g.add("Div", {divided, b})}));
  CHECK(applied<either_of_them>(g) == 1);
}

}  // namespace match_means
