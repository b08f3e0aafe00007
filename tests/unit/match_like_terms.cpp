// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "spelled.hpp"

namespace match_like_terms {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">;

// Those of a family mean the same.
inline constexpr auto twice_a = fuse::rule<"twice_a">(abs(x + x)).replace(op<"Relu">(x));
inline constexpr auto twice_b = fuse::rule<"twice_b">(abs(2.0 * x)).replace(op<"Relu">(x));
inline constexpr auto twice_c = fuse::rule<"twice_c">(abs(x * 2.0)).replace(op<"Relu">(x));
inline constexpr auto twice_d = fuse::rule<"twice_d">(abs(x / 0.5)).replace(op<"Relu">(x));
inline constexpr auto twice_e = fuse::rule<"twice_e">(abs(0.5 * x + 1.5 * x)).replace(op<"Relu">(x));
inline constexpr auto twice_f = fuse::rule<"twice_f">(abs(x - (-x))).replace(op<"Relu">(x));
inline constexpr auto twice_alone_a = fuse::rule<"twice_alone_a">(x + x).replace(op<"Relu">(x));
inline constexpr auto twice_alone_b = fuse::rule<"twice_alone_b">(2.0 * x).replace(op<"Relu">(x));
inline constexpr auto twice_alone_c = fuse::rule<"twice_alone_c">(x / 0.5).replace(op<"Relu">(x));
inline constexpr auto three_times_a = fuse::rule<"three_times_a">(abs(x + x + x)).replace(op<"Relu">(x));
inline constexpr auto three_times_b = fuse::rule<"three_times_b">(abs(3.0 * x)).replace(op<"Relu">(x));
inline constexpr auto three_times_c = fuse::rule<"three_times_c">(abs(x + 2.0 * x)).replace(op<"Relu">(x));
inline constexpr auto three_times_d = fuse::rule<"three_times_d">(abs(0.5 * x + 2.5 * x)).replace(op<"Relu">(x));
inline constexpr auto three_times_e = fuse::rule<"three_times_e">(abs((x + x) * 1.5)).replace(op<"Relu">(x));
inline constexpr auto three_times_f = fuse::rule<"three_times_f">(abs(3.0 * (2.0 * x) * 0.5)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_a = fuse::rule<"twice_and_more_a">(abs(x + x + y)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_b = fuse::rule<"twice_and_more_b">(abs(2.0 * x + y)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_c = fuse::rule<"twice_and_more_c">(abs(y - (-2.0) * x)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_d = fuse::rule<"twice_and_more_d">(abs(y + x / 0.5)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_e =
    fuse::rule<"twice_and_more_e">(abs((0.5 * x + y) + 1.5 * x)).replace(op<"Relu">(x));
inline constexpr auto twice_and_more_f = fuse::rule<"twice_and_more_f">(abs(-((-2.0) * x - y))).replace(op<"Relu">(x));
inline constexpr auto by_twice_a = fuse::rule<"by_twice_a">(abs(y / (x + x))).replace(op<"Relu">(x));
inline constexpr auto by_twice_b = fuse::rule<"by_twice_b">(abs(y / (2.0 * x))).replace(op<"Relu">(x));
inline constexpr auto by_twice_c = fuse::rule<"by_twice_c">(abs(0.5 * y / x)).replace(op<"Relu">(x));
inline constexpr auto by_twice_d = fuse::rule<"by_twice_d">(abs((y / x) / (0.5 + 1.5))).replace(op<"Relu">(x));
inline constexpr auto product_twice_a = fuse::rule<"product_twice_a">(abs(2.0 * x * z + y)).replace(op<"Relu">(x));
inline constexpr auto product_twice_b = fuse::rule<"product_twice_b">(abs(x * z + x * z + y)).replace(op<"Relu">(x));
inline constexpr auto product_twice_c = fuse::rule<"product_twice_c">(abs(2.0 * (x * z) + y)).replace(op<"Relu">(x));
inline constexpr auto product_twice_d = fuse::rule<"product_twice_d">(abs(y + (z + z) * x)).replace(op<"Relu">(x));
inline constexpr auto product_twice_e = fuse::rule<"product_twice_e">(abs(y - (-2.0) * x * z)).replace(op<"Relu">(x));
inline constexpr auto product_twice_f = fuse::rule<"product_twice_f">(abs(y + x * z / 0.5)).replace(op<"Relu">(x));
inline constexpr auto product_twice_alone_a =
    fuse::rule<"product_twice_alone_a">(abs(x * z + x * z)).replace(op<"Relu">(x));
inline constexpr auto product_twice_alone_b =
    fuse::rule<"product_twice_alone_b">(abs(2.0 * x * z)).replace(op<"Relu">(x));
inline constexpr auto product_twice_alone_c =
    fuse::rule<"product_twice_alone_c">(abs((x + x) * z)).replace(op<"Relu">(x));
inline constexpr auto product_twice_alone_d =
    fuse::rule<"product_twice_alone_d">(abs(x * (2.0 * z))).replace(op<"Relu">(x));
inline constexpr auto function_twice_a = fuse::rule<"function_twice_a">(abs(2.0 * tanh(x) + y)).replace(op<"Relu">(x));
inline constexpr auto function_twice_b =
    fuse::rule<"function_twice_b">(abs(tanh(x) + y + tanh(x))).replace(op<"Relu">(x));
inline constexpr auto function_twice_c =
    fuse::rule<"function_twice_c">(abs((tanh(x) - -tanh(x)) + y)).replace(op<"Relu">(x));
inline constexpr auto product_three_times_a =
    fuse::rule<"product_three_times_a">(abs(3.0 * tanh(x) * exp(x) + y)).replace(op<"Relu">(x));
inline constexpr auto product_three_times_b =
    fuse::rule<"product_three_times_b">(abs(tanh(x) * exp(x) + y + tanh(x) * 2.0 * exp(x))).replace(op<"Relu">(x));
inline constexpr auto product_three_times_c =
    fuse::rule<"product_three_times_c">(abs(tanh(x) * exp(x) + y + tanh(x) * exp(x) + exp(x) * tanh(x)))
        .replace(op<"Relu">(x));
inline constexpr auto two_terms_a = fuse::rule<"two_terms_a">(abs(2.0 * x + 3.0 * y)).replace(op<"Relu">(x));
inline constexpr auto two_terms_b = fuse::rule<"two_terms_b">(abs(x + y + x + y + y)).replace(op<"Relu">(x));
inline constexpr auto two_terms_c =
    fuse::rule<"two_terms_c">(abs(3.0 / reciprocal(y) - 2.0 / (-reciprocal(x)))).replace(op<"Relu">(x));
inline constexpr auto two_terms_d = fuse::rule<"two_terms_d">(abs(x + 3.0 * y + x)).replace(op<"Relu">(x));
inline constexpr auto square_of_twice_a =
    fuse::rule<"square_of_twice_a">(abs(y * square(x + x))).replace(op<"Relu">(x));
inline constexpr auto square_of_twice_b = fuse::rule<"square_of_twice_b">(abs(4.0 * y * x * x)).replace(op<"Relu">(x));
inline constexpr auto square_of_twice_c =
    fuse::rule<"square_of_twice_c">(abs(y * pow(2.0 * x, 2.0))).replace(op<"Relu">(x));

inline constexpr auto large = tanh(x) * sigmoid(y) * exp(z) * abs(w) * erf(x + y);
inline constexpr auto occurs_again = fuse::rule<"occurs again">(relu(large) + large).replace(op<"Max">(x, y, z, w));
inline constexpr auto two_roots = fuse::rule<"two roots">(abs(sqrt(x) * sqrt(x) * y)).replace(op<"Max">(x, y));
inline constexpr auto plus_and_minus = fuse::rule<"plus and minus">(abs(x + y - z)).replace(op<"Max">(x, y, z));
inline constexpr auto only_one = fuse::rule<"only one">(abs(tanh(x))).replace(op<"Relu">(x));

inline constexpr auto summed_twice = fuse::rule<"summed twice">(sum(2.0 * x) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_with_itself =
    fuse::rule<"summed with itself">(sum(x + x) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_square = fuse::rule<"summed square">(sum(pow(x, 2.0)) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_scaled =
    fuse::rule<"summed scaled">(sum(x * scalar<"s">) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_shifted =
    fuse::rule<"summed shifted">(sum(tanh(x) + 2.0) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_larger =
    fuse::rule<"summed larger">(sum(maximum(x, 2.0)) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_negative = fuse::rule<"summed negative">(-sum(x) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_exactly =
    fuse::rule<"summed exactly">(sum(exactly<"Mul">(x, 2.0)) * tanh(y)).replace(op<"Max">(x, y));
inline constexpr auto summed_terms = fuse::rule<"summed terms">(abs(sum(3.0 * x + y))).replace(op<"Max">(x, y));
inline constexpr auto with_rows = fuse::rule_set<summed_twice, summed_with_itself, summed_square, summed_scaled,
                                                 summed_shifted, summed_larger, summed_negative, summed_exactly>;

// What reduces `op` of a value and eight times `number`, a row.
fuse::graph of_a_row(std::string_view op, float number, int last) {
  sketch g(12);
  std::vector<float> const row(8, number);
  auto const a = g.in("a", {4, last}), b = g.in("b", {4, 1});
  auto const numbers = g.constant(fuse::make_tensor<float>({8}, row));
  auto const operand = op == "Add" ? g.add("Tanh", {a}) : a;
  auto const sum = g.add("ReduceSum", {g.add(op, {operand, numbers})}, {{"axes", std::vector<std::int64_t>{-1}}});
  g.end(g.add("Mul", {sum, g.add("Tanh", {b})}));
  return static_cast<fuse::graph&>(g);
}

}  // namespace

TEST_CASE("like terms add up, on both sides") {
  expect_all_alike<twice_a, twice_b, twice_c, twice_d, twice_e, twice_f>();
  expect_all_alike<twice_alone_a, twice_alone_b, twice_alone_c>();
  expect_all_alike<three_times_a, three_times_b, three_times_c, three_times_d, three_times_e, three_times_f>();
  expect_all_alike<twice_and_more_a, twice_and_more_b, twice_and_more_c, twice_and_more_d, twice_and_more_e,
                   twice_and_more_f>();
  expect_all_alike<by_twice_a, by_twice_b, by_twice_c, by_twice_d>();
  expect_all_alike<product_twice_a, product_twice_b, product_twice_c, product_twice_d, product_twice_e,
                   product_twice_f>();
  expect_all_alike<product_twice_alone_a, product_twice_alone_b, product_twice_alone_c, product_twice_alone_d>();
  expect_all_alike<function_twice_a, function_twice_b, function_twice_c>();
  expect_all_alike<product_three_times_a, product_three_times_b, product_three_times_c>();
  expect_all_alike<two_terms_a, two_terms_b, two_terms_c, two_terms_d>();
  expect_all_alike<square_of_twice_a, square_of_twice_b, square_of_twice_c>();
}

TEST_CASE("a number by one over something is a multiple of it, by a function of that of nothing") {
  sketch plain;
  plain.end(plain.add(
      "Abs", {plain.add("Add", {plain.add("Div", {plain.scalar(2.0f), plain.add("Reciprocal", {plain.in("a")})}),
                                plain.in("b")})}));
  CHECK(fuse::match_all<twice_and_more_b>(plain).size() == 1);
  for (auto const function : {"Exp", "Log", "Sqrt", "Abs", "Neg", "Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Floor",
                              "Ceil", "Round", "Sign", "Relu", "Softplus"}) {
    CAPTURE(function);
    sketch g;
    auto const of = g.add(function, {g.add("Reciprocal", {g.in("a")})});
    g.end(g.add("Abs", {g.add("Add", {g.add("Div", {g.scalar(2.0f), of}), g.in("b")})}));
    auto const found = fuse::match_all<twice_and_more_b>(g);
    CHECK(found.empty());
  }
}

TEST_CASE("a large part that occurs again has the sign that it had") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c"), d = g.in("d");
  auto const first = g.add("Mul", {g.add("Tanh", {a}), g.add("Sigmoid", {b})});
  auto const second = g.add("Mul", {g.add("Exp", {c}), g.add("Abs", {d})});
  auto const all = g.add("Mul", {g.add("Mul", {first, second}), g.add("Erf", {g.add("Add", {a, b})})});
  SECTION("added") {
    g.end(g.add("Add", {g.add("Relu", {all}), all}));
    CHECK(fuse::match_all<occurs_again>(g).size() == 1);
  }
  SECTION("subtracted") {
    g.end(g.add("Sub", {g.add("Relu", {all}), all}));
    CHECK(fuse::match_all<occurs_again>(g).empty());
  }
}

TEST_CASE("terms of a graph never cancel, and roots are no values") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  SECTION("a product is not that of two roots, below 0") {
    g.end(g.add("Abs", {g.add("Mul", {a, b})}));
    CHECK(fuse::match_all<two_roots>(g).empty());
  }
  SECTION("two roots are") {
    auto const roots = g.add("Mul", {g.add("Sqrt", {a}), g.add("Sqrt", {a})});
    g.end(g.add("Abs", {g.add("Mul", {roots, b})}));
    CHECK(fuse::match_all<two_roots>(g).size() == 1);
  }
  SECTION("what is added and taken back") {
    auto const t = g.add("Tanh", {a});
    g.end(g.add("Abs", {g.add("Sub", {g.add("Add", {t, b}), b})}));
    CHECK(fuse::match_all<plus_and_minus>(g).size() == 1);
    CHECK(fuse::match_all<only_one>(g).empty());
  }
  SECTION("three times less twice is not once") {
    auto const t = g.add("Tanh", {a});
    g.end(g.add("Abs", {g.add("Sub", {g.add("Mul", {t, g.scalar(3.0f)}), g.add("Add", {t, t})})}));
    CHECK(fuse::match_all<only_one>(g).empty());
  }
}

// A number may stand there as a row of itself. Left out where that made the shape, what is summed would be less.
TEST_CASE("a number that stands several times is left out where the shape stays") {
  for (auto const* op : {"Mul", "Div", "Pow", "Add", "Max"})
    for (auto const number : {2.0f, 0.5f, -1.0f}) {
      INFO(op << " by " << number);
      CHECK(fuse::match_all<with_rows>(of_a_row(op, number, 1)).empty());
    }
  CHECK(fuse::match_all<summed_twice>(of_a_row("Mul", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_with_itself>(of_a_row("Mul", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_square>(of_a_row("Pow", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_scaled>(of_a_row("Mul", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_shifted>(of_a_row("Add", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_larger>(of_a_row("Max", 2.0f, 8)).size() == 1);
  CHECK(fuse::match_all<summed_exactly>(of_a_row("Mul", 2.0f, 8)).size() == 1);
  for (auto const last : {1, 8}) {
    sketch g(12);
    std::vector<float> const row(8, -1.0f);
    auto const inverse = g.add("Pow", {g.in("a", {4, last}), g.constant(fuse::make_tensor<float>({8}, row))});
    auto const terms = g.add("Add", {g.add("Div", {g.scalar(3.0f), inverse}), g.in("b", {4, 1})});
    g.end(g.add("Abs", {g.add("ReduceSum", {terms}, {{"axes", std::vector<std::int64_t>{-1}}})}));
    CHECK(fuse::match_all<summed_terms>(g).size() == (last == 8 ? 1 : 0));
  }
}

TEST_CASE("two operators are one term, twice, where their parameters are the same") {
  static constexpr auto doubled =
      fuse::rule<"doubled">(tanh(2 * op<"Softmax">(x) + y)).replace(op<"Max">(x, y)).at_equal_cost();
  static constexpr auto subtracted =
      fuse::rule<"subtracted">(tanh(y - 2 * op<"Softmax">(x))).replace(op<"Max">(x, y)).at_equal_cost();
  static constexpr auto product =
      fuse::rule<"product">(tanh(2 * (z * op<"Softmax">(x)) + y)).replace(op<"Max">(x, y, z)).at_equal_cost();
  for (int const axis : {0, 1}) {
    sketch g;
    auto const a = g.in("a", {3, 3}), b = g.in("b", {3, 3}), c = g.in("c", {3, 3});
    auto const of = [&](int along) { return g.add("Softmax", {a}, {{"axis", along}}); };
    auto const times = [&](graph::value v) { return g.add("Mul", {c, v}); };
    auto const sum = [&](char const* last, graph::value p, graph::value q) {
      g.output(g.add("Tanh", {g.add(last, {g.add(last, {b, p}), q})}), last);
    };
    sum("Add", of(0), of(axis));
    CHECK(fuse::match_all<doubled>(g).size() == static_cast<std::size_t>(1 - axis));
    sum("Sub", of(0), of(axis));
    CHECK(fuse::match_all<subtracted>(g).size() == static_cast<std::size_t>(1 - axis));
    g.output(g.add("Tanh", {g.add("Add", {g.add("Add", {b, times(of(0))}), times(of(axis))})}), "products");
    CHECK(fuse::match_all<product>(g).size() == static_cast<std::size_t>(1 - axis));
  }
}

// Halves of `whole`, cut in some way, appended to `into`.
void cut(std::mt19937& draw, int whole, std::vector<int>& into) {
  while (whole > 0) {
    auto const part = 1 + static_cast<int>(draw() % static_cast<unsigned>(whole));
    into.push_back(part);
    whole -= part;
  }
}

TEST_CASE("like terms of several names are shared out in whichever way they add up") {
  static constexpr auto shared =
      fuse::rule<"shared">(abs(4.0 * z + 1.5 * y + x)).replace(op<"Max">(x, y, z)).at_equal_cost();
  static constexpr auto shared_products = fuse::rule<"shared_products">(abs(3.0 * (x * tanh(x)) + 2.0 * (y * tanh(y))))
                                              .replace(op<"Max">(x, y))
                                              .at_equal_cost();
  static constexpr auto shared_with_sum =
      fuse::rule<"shared_with_sum">(relu(x) * tanh(4.0 * z + 1.5 * y + x)).replace(op<"Max">(x, y, z)).at_equal_cost();
  std::mt19937 draw(1);
  auto const sum = [&](sketch& g, std::vector<int> const& halves, graph::value term, graph::value first = {}) {
    std::vector<graph::value> terms;
    for (auto const each : halves) terms.push_back(g.add("Mul", {term, g.scalar(0.5f * static_cast<float>(each))}));
    if (first) terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(draw() % terms.size()), first);
    return g.add("Sum", terms);
  };
  auto const shuffled = [&](std::initializer_list<int> wholes) {
    std::vector<int> halves;
    for (auto const each : wholes) cut(draw, each, halves);
    for (auto i = halves.size(); i-- > 1;) std::swap(halves[i], halves[draw() % (i + 1)]);
    return halves;
  };
  for (int i = 0; i < 300; ++i) {
    sketch g;
    auto const a = g.in("a");
    g.output(g.add("Abs", {sum(g, shuffled({8, 3, 2}), a)}), "values");
    CHECK(fuse::match_all<shared>(g).size() == 1);
    g.output(g.add("Abs", {sum(g, shuffled({6, 4}), g.add("Mul", {g.add("Tanh", {a}), a}))}), "products");
    CHECK(fuse::match_all<shared_products>(g).size() == 1);
    // One of the terms is a sum of others itself, and is wanted whole.
    auto const twice = g.add("Add", {a, a});
    g.end(g.add("Mul", {g.add("Relu", {twice}), g.add("Tanh", {sum(g, shuffled({8, 3}), a, twice)})}));
    CHECK(fuse::match_all<shared_with_sum>(g).size() == 1);
  }
}

// What is taken for x is itself twice, four times or eight times a value, and stands in sums of itself.
TEST_CASE("a multiple of a multiple is one of either") {
  static constexpr auto tripled =
      fuse::rule<"tripled">(3.0 * square(x) * tanh(x)).replace(op<"Max">(x, x)).at_equal_cost();
  for (int doublings = 0; doublings < 4; ++doublings) {
    sketch g;
    auto v = g.in("a");
    for (int i = 0; i < doublings; ++i) v = g.add("Add", {v, v});
    auto const thrice = g.add("Add", {g.add("Add", {v, v}), v});
    g.end(g.add("Mul", {g.add("Mul", {v, thrice}), g.add("Tanh", {v})}));
    CHECK(fuse::match_all<tripled>(g).size() == 1);
  }
}

}  // namespace match_like_terms
