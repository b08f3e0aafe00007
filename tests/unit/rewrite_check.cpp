// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <string>

#include <fuse/rewrite/check.hpp>

namespace rewrite_check {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, s = var<"s">;
constexpr auto axes = param<"axes">;

constexpr auto swish = fuse::rule<"swish">(x * sigmoid(x)).through<"cast">().replace(op<"Swish">(x));

fuse::rewrite_options const checked{.check = &fuse::check_by_evaluation<>};

/// Why the check refuses a rewrite of `Rule` that is made without it.
template <auto const& Rule>
std::string wrong(sketch& g) {
  CHECK(refusal<Rule>(g, checked) == "check");
  auto const report = fuse::rewrite<Rule>(g, checked);
  UNSCOPED_INFO(to_text(report));
  auto const reason = report.rules[0].refused.empty() ? std::string() : report.rules[0].refused[0].reason;
  auto unchecked = checked;
  unchecked.check = nullptr;
  CHECK(applied<Rule>(g, unchecked) == 1);
  return reason;
}
/// What the report notes where `Rule` is applied once, and checked.
template <auto const& Rule>
std::string noted(sketch& g) {
  auto const report = fuse::rewrite<Rule>(g, checked);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.applied() == 1);
  CHECK(report.notes.size() <= 1);
  return report.notes.empty() ? "" : report.notes[0];
}

}  // namespace

TEST_CASE("a rule that is wrong is refused, and the graph stays as it is") {
  SECTION("another operator") {
    static constexpr auto rule = fuse::rule<"wrong">(tanh(x) + y).replace(tanh(x) - y).at_equal_cost();
    sketch g;
    g.end(g.add("Add", {g.add("Tanh", {g.in("a")}), g.in("b")}));
    CHECK(wrong<rule>(g).find("of 'y' would be") != std::string::npos);
  }
  SECTION("a number that is nearly right") {
    static constexpr auto rule = fuse::rule<"wrong">(tanh(x) * 0.5).replace(tanh(x) * 0.5001).at_equal_cost();
    sketch g;
    g.end(g.add("Mul", {g.add("Tanh", {g.in("a")}), g.scalar(0.5f)}));
    CHECK(!wrong<rule>(g).empty());
  }
  SECTION("a number that is wrong, where all results are small") {
    static constexpr auto rule = fuse::rule<"wrong">(tanh(x) * 1e-20).replace(tanh(x) * 2e-20).at_equal_cost();
    sketch g;
    g.end(g.add("Mul", {g.add("Tanh", {g.in("a")}), g.scalar(1e-20f)}));
    CHECK(!wrong<rule>(g).empty());
  }
  SECTION("no number where there was 0") {
    static constexpr auto endless = fuse::rule<"wrong">(tanh(abs(abs(x - y)))).replace(log(abs(x - y))).at_equal_cost();
    sketch zero;
    auto const e = zero.add("Exp", {zero.in("a")});
    zero.end(zero.add("Tanh", {zero.add("Abs", {zero.add("Abs", {zero.add("Sub", {e, e})})})}));
    CHECK(!wrong<endless>(zero).empty());
  }
  SECTION("a mean for a sum, whose count nobody knows") {
    static constexpr auto rule =
        fuse::rule<"wrong">(tanh(mean(x))).replace(tanh(op<"ReduceSum">(x).attr<"axes">(axes))).at_equal_cost();
    sketch g(11);
    g.end(g.add("Tanh", {g.add("ReduceMean", {g.in("a", {"n", "m"})}, {{"axes", std::vector<std::int64_t>{-1}}})}));
    CHECK(!wrong<rule>(g).empty());
  }
  SECTION("right only where numbers are positive") {
    static constexpr auto rule = fuse::rule<"wrong">(sqrt(square(x))).replace(relu(x)).at_equal_cost();
    sketch g;
    g.end(g.add("Sqrt", {g.add("Mul", {g.in("a"), g.in("b")})}));
    CHECK(applied<rule>(g, checked) == 0);
    sketch square;
    auto const a = square.in("a");
    square.end(square.add("Sqrt", {square.add("Mul", {a, a})}));
    CHECK(!wrong<rule>(square).empty());
  }
  SECTION("integers") {
    static constexpr auto rule = fuse::rule<"wrong">((x / y) * z).replace((x * z) / y).at_equal_cost();
    sketch g;
    auto const a = g.in("a", {4, 8}, element_type::int64), b = g.in("b", {4, 8}, element_type::int64),
               c = g.in("c", {4, 8}, element_type::int64);
    g.end(g.add("Mul", {g.add("Div", {a, b}), c}));
    CHECK(fuse::rewrite<rule>(g, checked).applied() == 0);
  }
  SECTION("another axis") {
    static constexpr auto rule =
        fuse::rule<"wrong">(exp(x) / sum(exp(x))).replace(op<"Softmax">(x).attr<"axis">(0)).at_equal_cost();
    sketch g;
    auto const e = g.add("Exp", {g.in("a", {"n", "n"})});
    g.end(g.add("Div", {e, g.add("ReduceSum", {e, g.constant(fuse::make_tensor<std::int64_t>({1}, {{-1}}))})}));
    CHECK(!wrong<rule>(g).empty());
  }
}

TEST_CASE("a rule that is right is applied, and nothing is noted") {
  SECTION("values that are computed twice, and converted") {
    sketch g(24);
    auto const half = g.in("a", {4, 8}, element_type::float16);
    auto const wide = [&] { return g.add("Cast", {half}, {{"to", 1}}); };
    g.end(g.add("Mul", {wide(), g.add("Sigmoid", {wide()})}));
    CHECK(noted<swish>(g).empty());
  }
  SECTION("a product whose factors stand apart, and that is a value elsewhere") {
    static constexpr auto rule = fuse::rule<"right">(x * y * sigmoid(x * y)).replace(op<"Swish">(x * y));
    sketch g(24);
    auto const a = g.in("a", {"n", 8}), b = g.in("b", {"n", 8});
    g.end(g.add("Mul", {g.add("Mul", {a, g.add("Sigmoid", {g.add("Mul", {b, a})})}), b}));
    CHECK(noted<rule>(g).empty());
  }
  SECTION("logarithms, which only positive numbers have") {
    static constexpr auto rule = fuse::rule<"right">(log(x) - log(y)).replace(log(x / y)).at_equal_cost();
    sketch g;
    g.end(g.add("Sub", {g.add("Log", {g.in("a")}), g.add("Log", {g.in("b")})}));
    CHECK(noted<rule>(g).empty());
  }
  SECTION("results of which rounding is all there is") {
    static constexpr auto rule =
        fuse::rule<"right">(x - log(sum(exp(x)))).replace(op<"LogSoftmax">(x).attr<"axis">(-1)).at_equal_cost();
    sketch g;
    auto const a = g.in("a", {"n", 1});
    auto const total =
        g.add("ReduceSum", {g.add("Exp", {a}), g.constant(fuse::make_tensor<std::int64_t>({1}, {{-1}}))});
    g.end(g.add("Sub", {a, g.add("Log", {total})}));
    CHECK(noted<rule>(g).empty());
  }
  SECTION("contents that follow from extents that nobody knows") {
    sketch g(24);
    auto const a = g.in("a", {"n", "m"});
    auto const sum = g.add("Add", {a, g.add("Cast", {g.add("Size", {a})}, {{"to", 1}})});
    g.end(g.add("Mul", {sum, g.add("Sigmoid", {sum})}));
    CHECK(noted<swish>(g).empty());
  }
}

TEST_CASE("rounding of a new constant is no mistake where a small difference of large terms is what comes out") {
  // The square of 1 + 2^-10, rounded to a half, is what is subtracted: nothing is left of the difference.
  sketch g;
  auto const half = [&](double number) { return g.constant(fuse::make_tensor(element_type::float16, {}, {{number}})); };
  auto const e = g.add("Exp", {g.in("a", {2, 3}, element_type::float16)});
  auto const product = g.add("Mul", {g.add("Mul", {e, half(1 + 0x1p-10)}), half(1 + 0x1p-10)});
  g.end(g.add("Sub", {product, g.add("Mul", {e, half(1 + 0x1p-9)})}));
  static constexpr auto difference = (exp(x) * y) * z - exp(x) * s;
  SECTION("and one that is larger is") {
    static constexpr auto rule = fuse::rule<"wrong">(difference)
                                     .where(is_constant<"y">, is_constant<"z">, is_constant<"s">)
                                     .replace(exp(x) * fold(y * z * 1.01) - exp(x) * s);
    CHECK(!wrong<rule>(g).empty());
  }
  SECTION("the product of the constants") {
    static constexpr auto rule = fuse::rule<"right">(difference)
                                     .where(is_constant<"y">, is_constant<"z">, is_constant<"s">)
                                     .replace(exp(x) * fold(y * z) - exp(x) * s);
    CHECK(noted<rule>(g).empty());
  }
}

TEST_CASE("what cannot be checked is noted") {
  SECTION("an operator without an evaluation, of this degree") {
    static constexpr auto cubes = op<"LpNormalization">(x).attr<"p">(3);
    static constexpr auto rule = fuse::rule<"own">(tanh(cubes)).replace(abs(cubes)).at_equal_cost();
    sketch g;
    g.end(g.add("Tanh", {g.add("LpNormalization", {g.in("a")}, {{"p", 3}})}));
    CHECK(noted<rule>(g) == "of rule 'own', 1 rewrites were not checked: there is no evaluation of LpNormalization");
  }
  SECTION("large tensors") {
    sketch g(24);
    auto const a = g.in("a", {4096, 4096});
    g.end(g.add("Mul", {a, g.add("Sigmoid", {a})}));
    CHECK(noted<swish>(g).find("is too large") != std::string::npos);
  }
}

}  // namespace rewrite_check
