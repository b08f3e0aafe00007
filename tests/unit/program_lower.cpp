// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace program_lower {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::rule_error;

namespace {

constexpr auto x = var<"x">, w = var<"w">;

/// What lowering says of a rule. Not by way of a compiler's messages: those are in compile_fail/.
rule_error error_of(fuse::rewrite_rule const& rule) { return fuse::detail::lower(rule, fuse::onnx).error; }
std::string_view culprit_of(fuse::rewrite_rule const& rule) { return fuse::detail::lower(rule, fuse::onnx).culprit; }

bool has(fuse::lowered_rule const& rule, fuse::detail::step code) {
  for (std::size_t i = 0; i < rule.size; ++i)
    if (rule.code[i].code == code) return true;
  return false;
}

}  // namespace

TEST_CASE("a rule without mistakes lowers to instructions that end by accepting") {
  auto const made =
      fuse::detail::lower(fuse::rule<"good">(relu(matmul(x, w) + rest<"b">)).replace(matmul(x, w)), fuse::onnx);
  CHECK(made.error == rule_error::none);
  CHECK(made.name == "good");
  REQUIRE(made.size > 0);
  CHECK(has(made, fuse::detail::step::operation));
  CHECK(has(made, fuse::detail::step::group));
  CHECK(has(made, fuse::detail::step::rest));
  CHECK(has(made, fuse::detail::step::accept));
  CHECK(made.slot_count == 3);
}

TEST_CASE("each mistake has its error and its culprit") {
  CHECK(error_of(fuse::rule<"r">(relu(op<"Gamma">(x))).replace(x)) == rule_error::unknown_operator);
  CHECK(culprit_of(fuse::rule<"r">(relu(op<"Gamma">(x))).replace(x)) == "Gamma");
  CHECK(error_of(fuse::rule<"r">(relu(op<"Div">(x))).replace(x)) == rule_error::wrong_operand_count);
  CHECK(error_of(fuse::rule<"r">(relu(x)).replace(w)) == rule_error::unbound_name);
  CHECK(culprit_of(fuse::rule<"r">(relu(x)).replace(w)) == "w");
  CHECK(error_of(fuse::rule<"r">(relu(x))) == rule_error::no_replacement);
  CHECK(error_of(fuse::rule<"r">(x).replace(x)) == rule_error::unreachable_root);
  CHECK(error_of(fuse::rule<"r">(relu(x)).where(rank<"w">(1)).replace(x)) == rule_error::unbound_condition);
  CHECK(error_of(fuse::rule<"r">(roots(relu(x), abs(x))).replace(x)) == rule_error::roots_and_replacements_differ);
  CHECK(error_of(fuse::rule<"r">(relu(op<"Max">(rest<"m">, x))).replace(x)) == rule_error::rest_not_last);
  CHECK(error_of(fuse::rule<"r">(op<"Max">(x, scalar<"x">)).replace(x)) == rule_error::two_uses_of_a_name);
}

TEST_CASE("a rest is one of products, of sums or of operands, throughout a rule") {
  constexpr auto more = rest<"more">;
  constexpr auto product = tanh(x * more), sum = exp(x + more), operands = op<"Max">(x, more);
  auto const together = [](auto const& a, auto const& b) {
    return error_of(fuse::rule<"r">(op<"Equal">(a, b)).replace(x));
  };
  for (auto const& one : {product, sum, operands}) CHECK(together(one, relu(one)) == rule_error::none);
  CHECK(together(product, sum) == rule_error::two_uses_of_a_name);
  CHECK(together(sum, operands) == rule_error::two_uses_of_a_name);
  CHECK(together(operands, product) == rule_error::two_uses_of_a_name);
}

TEST_CASE("a sum or product is opened once, however it is bracketed in the rule") {
  auto const groups = [](fuse::rewrite_rule const& rule) {
    auto const made = fuse::detail::lower(rule, fuse::onnx);
    int count = 0;
    for (std::size_t i = 0; i < made.size; ++i) count += made.code[i].code == fuse::detail::step::group ? 1 : 0;
    return count;
  };
  constexpr auto v = var<"v">;
  CHECK(groups(fuse::rule<"r">(relu((x + w) + v)).replace(x)) == 1);
  CHECK(groups(fuse::rule<"r">(relu(x - (w - v))).replace(x)) == 1);
  CHECK(groups(fuse::rule<"r">(relu(x / w / v)).replace(x)) == 1);
  CHECK(groups(fuse::rule<"r">(relu(x * (w + v))).replace(x)) == 2);
}

TEST_CASE("too many conditions are told") {
  auto rule = fuse::rule<"r">(relu(x)).replace(x);
  for (int i = 0; i < 16; ++i) rule = rule.where(rank<"x">(i));
  CHECK_FALSE(rule.too_many);
  CHECK(error_of(rule.where(rank<"x">(16))) == rule_error::too_large);
}

}  // namespace program_lower
