// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>

namespace dsl_fold {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, a = var<"a">, b = var<"b">;
constexpr auto s = scalar<"s">;
constexpr auto joined =
    fuse::rule<"joined">(op<"Max">(op<"Max">(x, a), b)).where(is_constant<"a">).replace(op<"Max">(x, fold(sqrt(a* b))));
constexpr auto scaled = fuse::rule<"scaled">(op<"PRelu">(abs(x), s)).replace(op<"Max">(x, fold(s / 3)));

}  // namespace

TEST_CASE("a fold is computed and becomes a constant") {
  sketch g;
  auto const c = g.constant({1.0f, 4.0f, 9.0f}), d = g.constant({4.0f, 4.0f, 16.0f});
  g.end(g.add("Max", {g.add("Max", {g.in("x", {2, 3}), c}), d}));
  CHECK(applied<joined>(g) == 1);
  CHECK(ops(g) == "Max");
  auto const folded = g.constant(g.operands(last(g))[1]);
  REQUIRE(folded.size() == 3);
  CHECK(folded.type == element_type::float32);
  CHECK(folded.number(0) == 2);
  CHECK(folded.number(1) == 4);
  CHECK(folded.number(2) == 12);
}

TEST_CASE("constants broadcast to each other") {
  sketch g;
  auto const c = g.constant(fuse::make_tensor<float>({2, 3}, std::vector<float>{1, 4, 9, 1, 4, 9})),
             d = g.constant(fuse::make_tensor<float>({2, 1}, std::vector<float>{1, 4}));
  g.end(g.add("Max", {g.add("Max", {g.in("x", {2, 3}), c}), d}));
  CHECK(applied<joined>(g) == 1);
  auto const folded = g.constant(g.operands(last(g))[1]);
  REQUIRE(folded.size() == 6);
  CHECK(folded.number(5) == 6);
}

TEST_CASE("a fold is computed in double precision and rounded once") {
  sketch g;
  g.end(g.add("PRelu", {g.add("Abs", {g.in("x")}), g.scalar(1.0f)}));
  CHECK(applied<scaled>(g) == 1);
  CHECK(g.constant(g.operands(last(g))[1]).number(0) == static_cast<double>(static_cast<float>(1.0 / 3.0)));
}

TEST_CASE("what is no constant is not folded, and the graph stays as it is") {
  sketch g;
  auto const x_ = g.in("x", {2, 3});
  SECTION("an input") {
    g.end(g.add("Max", {g.add("Max", {x_, g.constant({1.0f, 4.0f, 9.0f})}), g.in("d", {3})}));
    CHECK(refusal<joined>(g).find("right side") != std::string::npos);
  }
  SECTION("a constant that a caller may override") {
    g.end(g.add("Max", {g.add("Max", {x_, g.constant({1.0f, 4.0f, 9.0f})}),
                        g.input("d", fuse::make_tensor<float>({3}, std::vector<float>{1, 2, 3}))}));
    CHECK(refusal<joined>(g).find("right side") != std::string::npos);
  }
}

namespace {

fuse::tensor of(std::vector<std::int64_t> const& shape, std::vector<float> const& elements) {
  return fuse::make_tensor<float>(shape, elements);
}
using numbers = std::vector<double>;
using extents = std::vector<std::int64_t>;

// The constant that takes the place of the second operand of a Max; nothing where the rule was refused.
template <auto const& Rule>
numbers folded(fuse::tensor const& first, extents const& shape) {
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Max", {g.in("x", {2, 3}), g.constant(first)})})}));
  numbers all;
  if (applied<Rule>(g) == 0) return all;
  auto const made = g.constant(g.operands(last(g))[1]);
  CHECK(extents(made.shape.begin(), made.shape.end()) == shape);
  for (std::size_t i = 0; i < made.size(); ++i) all.push_back(made.number(i));
  return all;
}
constexpr auto maximum_with(fuse::expression const& folded) {
  return fuse::rule<"maximum">(tanh(tanh(op<"Max">(x, a)))).replace(op<"Max">(x, fold(folded)));
}
constexpr auto turned = maximum_with(op<"Transpose">(a).attr<"perm">(list(1, 0)));
constexpr auto reshaped = maximum_with(op<"Reshape">(a).attr<"shape">(list(dim<"x", 0>, -1)));
constexpr auto cut = maximum_with(
    op<"Slice">(a).attr<"starts">(list(1)).attr<"ends">(list(3)).attr<"axes">(list(-1)).attr<"steps">(list(1)));
constexpr auto appended = maximum_with(op<"Concat">(a, a + 1).attr<"axis">(0));
constexpr auto summed = maximum_with(sum(a).attr<"axes">(list(0)).attr<"keepdims">(1));
constexpr auto averaged = maximum_with(mean(a).attr<"axes">(list(-1)).attr<"keepdims">(1) * 2);
constexpr auto as_half = maximum_with(cast(a).attr<"to">(10));
constexpr auto as_integers = maximum_with(cast(a).attr<"to">(7));
constexpr auto misfits = maximum_with(op<"Reshape">(a).attr<"shape">(list(5)));
constexpr auto repeated = maximum_with(rearrange<"1 n -> r n">(a));
constexpr auto of_other_rank = maximum_with(rearrange<"m n k -> k n m">(a));
constexpr auto with_axis = maximum_with(op<"Unsqueeze">(op<"Squeeze">(a).attr<"axes">(list(0))).attr<"axes">(list(0)));

}  // namespace

TEST_CASE("layouts, reductions and casts are folded, each into a constant of its own shape") {
  auto const six = of({2, 3}, {1, 2, 3, 4, 5, 6}), row = of({1, 3}, {1, 2, 3});
  CHECK(folded<reshaped>(of({3, 2}, {1, 2, 3, 4, 5, 6}), {2, 3}).empty());  // no operand of this Max
  CHECK(folded<reshaped>(row, {2, 3}).empty());                             // three elements in two rows
  CHECK(folded<turned>(of({1, 1}, {7}), {1, 1}) == numbers{7});
  CHECK(folded<cut>(of({2, 1}, {7, 8}), {2, 0}).empty());
  CHECK(folded<appended>(row, {2, 3}) == numbers{1, 2, 3, 2, 3, 4});
  CHECK(folded<summed>(six, {1, 3}) == numbers{5, 7, 9});
  CHECK(folded<averaged>(six, {2, 1}) == numbers{4, 10});
  CHECK(folded<as_half>(of({1}, {0.1f}), {1}) == numbers{0.0999755859375});
  CHECK(folded<as_integers>(of({3}, {0.5f, -1.5f, 2}), {3}) == numbers{0, -1, 2});
  CHECK(folded<misfits>(six, {5}).empty());
  CHECK(folded<with_axis>(row, {1, 3}) == numbers{1, 2, 3});
  CHECK(folded<repeated>(row, {2, 3}).empty());  // nothing tells how often
  CHECK(folded<of_other_rank>(six, {1, 3}).empty());
}

TEST_CASE("rearrangements are folded") {
  static constexpr auto exchanged = fuse::rule<"exchanged">(tanh(op<"MatMul">(x, rearrange<"m n -> n m">(a))))
                                        .replace(op<"MatMul">(x, fold(rearrange<"m n -> n m">(a))));
  static constexpr auto halved = fuse::rule<"halved">(tanh(op<"MatMul">(x, part<"d", 1, 2>(a))))
                                     .replace(op<"MatMul">(x, fold(part<"d", 1, 2>(a))));
  sketch g;
  auto const x_ = g.in("x", {2, 3});
  auto const six = of({2, 3}, {1, 2, 3, 4, 5, 6});
  auto const made = [&] {
    numbers all;
    auto const v = g.constant(g.operands(last(g))[1]);
    for (std::size_t i = 0; i < v.size(); ++i) all.push_back(v.number(i));
    return all;
  };
  SECTION("in another order") {
    g.end(g.add("Tanh", {g.add("MatMul", {x_, g.add("Transpose", {g.constant(six)}, {{"perm", {1, 0}}})})}));
    REQUIRE(applied<exchanged>(g) == 1);
    CHECK(made() == numbers{1, 4, 2, 5, 3, 6});
  }
  SECTION("a part") {
    auto const parts = g.append("Split", {g.constant(of({3, 2}, {1, 2, 3, 4, 5, 6}))}, {{"axis", 1}}, 2);
    g.end(g.add("Tanh", {g.add("MatMul", {x_, g.result(parts, 1)})}));
    REQUIRE(applied<halved>(g) == 1);
    CHECK(made() == numbers{2, 4, 6});
  }
}

TEST_CASE("a list is made of entries of another, as the order of two Transposes is") {
  static constexpr auto in_turn =
      fuse::rule<"in turn">(
          op<"Transpose">(op<"Transpose">(x).attr<"perm">(param<"first">)).attr<"perm">(param<"then">))
          .replace(op<"Transpose">(x).attr<"perm">(op<"Gather">(param<"first">, param<"then">)));
  using axes = std::vector<std::int64_t>;
  sketch g;
  g.end(g.add("Transpose", {g.add("Transpose", {g.in("x", {2, 3, 4})}, {{"perm", axes{1, 2, 0}}})},
              {{"perm", axes{1, 0, 2}}}));
  CHECK(applied<in_turn>(g) == 1);
  CHECK(std::get<axes>(g.attribute(last(g), "perm")->content) == axes{2, 1, 0});
}

TEST_CASE("a reason names what is no constant") {
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Max", {g.in("x", {2, 3}), g.in("second", {3})})})}));
  auto const report = fuse::rewrite<summed>(g);
  REQUIRE(report.rules[0].refused.size() == 1);
  CHECK(report.rules[0].refused[0].reason.find("'a' is the graph input or overridable initializer 'second'") !=
        std::string::npos);
}

TEST_CASE("equal constants are one") {
  static constexpr auto both =
      fuse::rule<"both">(tanh(tanh(tanh(op<"Max">(x, a))))).replace(op<"Max">(op<"Min">(x, fold(a + 1)), fold(1 + a)));
  sketch g;
  auto const y = g.add("Max", {g.in("x", {2, 3}), g.constant({1.0f, 2.0f, 3.0f})});
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Tanh", {y})})}));
  CHECK(applied<both>(g) == 1);
  auto const outer = g.operands(last(g));
  CHECK(outer[1] == g.operands(g.producer(outer[0]))[1]);
}

TEST_CASE("weights are turned for an operator that wants them so") {
  static constexpr auto into_gemm =
      fuse::rule<"into-gemm">(tanh(matmul(x, a)) + b)
          .where(is_constant<"a">)
          .replace(tanh(op<"Gemm">(x, fold(op<"Transpose">(a).attr<"perm">(list(1, 0)))).attr<"transB">(1)) + b)
          .at_equal_cost();
  sketch g;
  auto const y = g.add("MatMul", {g.in("x", {4, 2}), g.constant(of({2, 3}, {1, 2, 3, 4, 5, 6}))});
  g.end(g.add("Add", {g.add("Tanh", {y}), g.in("b", {4, 3})}));
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  REQUIRE(applied<into_gemm>(g, options) == 1);
  CHECK(ops(g) == "Gemm Tanh Add");
}

TEST_CASE("a rule may want what is exact alone") {
  static constexpr auto third =
      fuse::rule<"third">(tanh(tanh(op<"Max">(x, a)))).replace(op<"Max">(x, fold(a / 3).exact()));
  for (auto const& [number, fires] : {std::pair{1.0f, 0u}, {3.0f, 1u}}) {
    sketch g;
    g.end(g.add("Tanh", {g.add("Tanh", {g.add("Max", {g.in("x", {2, 3}), g.constant({number})})})}));
    if (fires == 0)
      CHECK(refusal<third>(g) == "right side");
    else
      CHECK(applied<third>(g) == 1);
  }
}

TEST_CASE("constants that do not broadcast are refused") {
  sketch g;
  static constexpr auto unlike =
      fuse::rule<"unlike">(op<"Max">(abs(op<"Gather">(x, a)), b)).replace(op<"Max">(x, fold(a * b)));
  g.end(g.add("Max",
              {g.add("Abs", {g.add("Gather", {g.in("x", {8}), g.constant({0, 1})})}), g.constant({1.0f, 2.0f, 3.0f})}));
  CHECK(refusal<unlike>(g) == "right side");
}

}  // namespace dsl_fold
