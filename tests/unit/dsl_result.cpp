// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_result {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto second = fuse::rule<"second">(relu(result<1>(op<"Split">(x)))).replace(result<1>(op<"Split">(x)));
constexpr auto both = fuse::rule<"both">(relu(result<0>(op<"Split">(x)) + result<1>(op<"Split">(x))))
                          .replace(relu(result<0>(op<"Split">(x))));

sketch split(std::uint32_t index) {
  sketch g;
  auto const n = g.append("Split", {g.in("a")}, {{"axis", 0}}, 2);
  g.annotate(g.result(n, 0), element_type::float32, {2, 8});
  g.annotate(g.result(n, 1), element_type::float32, {2, 8});
  g.end(g.add("Relu", {g.result(n, index)}));
  return g;
}

}  // namespace

TEST_CASE("a result is matched by its number") {
  static constexpr auto product =
      fuse::rule<"product">(relu(matmul(result<1>(op<"Split">(x)), w))).replace(matmul(x, w));
  for (std::uint32_t index : {0u, 1u}) {
    sketch g;
    auto const n = g.append("Split", {g.in("a", {8, 8})}, {{"axis", 0}}, 2);
    g.end(g.add("Relu", {g.add("MatMul", {g.result(n, index), g.in("b", {8, 8})})}));
    auto const report = fuse::rewrite<product>(g);
    CHECK(report.rules[0].matched == index);
    CHECK(report.applied() == 0);  // half of the rows are missing
  }
}

TEST_CASE("the first result is what an operator without a number means") {
  static constexpr auto first = fuse::rule<"first">(relu(op<"Split">(x))).replace(x);
  for (std::uint32_t index : {0u, 1u}) {
    auto g = split(index);
    CHECK(fuse::rewrite<first>(g).rules[0].matched == 1 - index);
  }
}

TEST_CASE("a replacement may use any result of what it makes") {
  auto g = split(1);
  CHECK(applied<second>(g) == 1);
  REQUIRE(ops(g) == "Split");
  CHECK(g.results(last(g)).size() == 2);
  CHECK(g.outputs()[0] == g.result(last(g), 1));
}

TEST_CASE("two results of one node") {
  sketch g;
  auto const n = g.append("Split", {g.in("a")}, {{"axis", 0}}, 2);
  auto const other = g.append("Split", {g.in("b")}, {{"axis", 0}}, 2);
  for (auto m : {n, other})
    for (std::uint32_t i : {0u, 1u}) g.annotate(g.result(m, i), element_type::float32, {2, 8});
  SECTION("of one") {
    g.end(g.add("Relu", {g.add("Add", {g.result(n, 1), g.result(n, 0)})}));
    CHECK(fuse::rewrite<both>(g).rules[0].matched == 1);
  }
  SECTION("of two") {
    g.end(g.add("Relu", {g.add("Add", {g.result(n, 1), g.result(other, 0)})}));
    CHECK(fuse::rewrite<both>(g).rules[0].matched == 0);
  }
  SECTION("the same one twice") {
    g.end(g.add("Relu", {g.add("Add", {g.result(n, 1), g.result(n, 1)})}));
    CHECK(fuse::rewrite<both>(g).rules[0].matched == 0);
  }
}

TEST_CASE("a root is the first result of its operator") {
  using fuse::rule_error;
  auto const error_of = [](fuse::rewrite_rule const& rule) { return fuse::detail::lower(rule, fuse::onnx).error; };
  auto const split = op<"Split">(tanh(x));
  CHECK(error_of(fuse::rule<"r">(result<0>(split)).replace(x)) == rule_error::none);
  CHECK(error_of(fuse::rule<"r">(result<1>(split) + optional(w)).replace(x)) == rule_error::none);
  CHECK(error_of(fuse::rule<"r">(result<1>(split)).replace(x)) == rule_error::result_as_root);
  CHECK(error_of(fuse::rule<"r">(result<1>(split).as<"s">()).replace(x)) == rule_error::result_as_root);
  CHECK(error_of(fuse::rule<"r">(through<"Identity">(result<1>(split))).replace(x)) == rule_error::result_as_root);
  CHECK(error_of(fuse::rule<"r">(either(relu(exp(x)), result<1>(split))).replace(x)) == rule_error::result_as_root);
  CHECK(error_of(fuse::rule<"r">(roots(relu(tanh(x)), result<1>(split))).replace(x, x)) == rule_error::result_as_root);
}

}  // namespace dsl_result
