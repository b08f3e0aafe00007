// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// Two or three layers of one input whose results go different ways are one, whose result is cut.
namespace fuse::inline v0::rules {
namespace parallel {

enum class layer : std::uint8_t { product, biased_product, gemm, transposed_gemm };

inline constexpr auto w = formula::weights, v = dsl::var<"v">, u = dsl::var<"u">;
inline constexpr auto b = formula::layer_bias, c = dsl::var<"bias of v">, d = dsl::var<"bias of u">;

/// One of those that are found.
[[nodiscard]] constexpr expression found(layer is, expression const& by, expression const& plus) {
  using namespace dsl;
  if (is == layer::product) return matmul(formula::layer_input, by);
  if (is == layer::biased_product) return matmul(formula::layer_input, by).users(1) + plus;
  return expression(opcode::gemm, formula::layer_input, by, plus)
      .attr<"alpha">(param<"alpha">)
      .attr<"beta">(param<"beta">)
      .attr<"transA">(param<"transA">)
      .attr<"transB">(is == layer::transposed_gemm ? 1 : 0);
}
/// The axis of its weights that is output channels.
[[nodiscard]] constexpr int channels(layer is) { return is == layer::transposed_gemm ? 0 : 1; }
/// The one that takes their place.
[[nodiscard]] constexpr expression joined(layer is, expression const& of, expression const& biases) {
  using namespace dsl;
  auto const by = fold(of.attr<"axis">(channels(is))), plus = fold(biases.attr<"axis">(-1));
  if (is == layer::product) return matmul(formula::layer_input, by);
  if (is == layer::biased_product) return matmul(formula::layer_input, by) + plus;
  return again<"layer">(formula::layer_input, by, plus);
}
[[nodiscard]] constexpr expression cut(expression const& whole, expression const& lengths) {
  return expression(opcode::split, whole).attr<"axis">(-1).attr<"split">(lengths);
}

/// A bias with an element for each column.
template <layer Is, fixed_string Weights, fixed_string Bias>
[[nodiscard]] constexpr expression row() {
  using namespace dsl;
  return expand(reshape(var<Bias>).template attr<"shape">(list(-1)), list(dim<Weights, channels(Is)>));
}

/// Whether these are weights of layers that are several, and not one that is found again, and which make so few
/// elements of a token that it may pay to cut them: fewer than all but one of them read, and, since a Split reads and
/// writes them, half as many at most, but for the calls that are saved. Those are the third layer's and, of products
/// with a bias, all additions but one; each counts as 1024 bytes, and an element as two at least. What cannot pay, the
/// default cost would refuse once the weights are joined.
template <layer Is, class... Others>
[[nodiscard]] bool are_narrow(value_view const& one, Others const&... others) {
  constexpr std::size_t axis = channels(Is);
  value_view const all[] = {one, others...};
  std::int64_t made = 0;
  for (auto const& by : all) {
    if (by.rank() != 2 || !by.shape()[0].known() || !by.shape()[1].known()) return false;
    for (auto const* other = all; other != &by; ++other)
      if (other->id() == by.id()) return false;
    made += by.shape()[axis].value();
  }
  constexpr std::int64_t spared = sizeof...(Others), calls = spared - 1 + (Is == layer::biased_product ? spared : 0);
  auto const read = spared * one.shape()[1 - axis].value();
  return made < read && 2 * made < read + calls * 512;
}
/// Something else reads x, too; and its rank is known, else nobody can tell what moves less.
inline constexpr auto is_shared = dsl::pred<"x">([](auto x) { return x.users() > 1 && x.rank() > 0; });

/// What is asked of one of the layers. Products without a bias come last, as one with a bias is more.
template <layer Is, fixed_string Weights, fixed_string Bias, fixed_string Result>
[[nodiscard]] constexpr rewrite_rule with_constants(rewrite_rule const& rule) {
  using namespace dsl;
  auto const asked = rule.where(is_constant<Weights>.quiet())
                         .template where<"nothing else uses the weights">(formula::used_once<Weights>);
  if (Is == layer::product) return asked;
  return asked.where(is_constant<Bias>.quiet(), along_axis<Bias, Result>(-1));
}
template <layer Is>
[[nodiscard]] constexpr rewrite_rule begun(rewrite_rule const& rule) {
  auto const asked = rule.where(dsl::floating<"x">.quiet())
                         .template where<"others read x">(is_shared.quiet())
                         .stage(Is == layer::product ? 9 : 8)
                         .quiet();
  return with_constants<Is, "v", "bias of v", "other">(with_constants<Is, "w", "b", "layer">(asked));
}

template <layer Is>
[[nodiscard]] constexpr rewrite_rule two(rule_name name) {
  using namespace dsl;
  constexpr int axis = channels(Is);
  auto const whole = joined(Is, concat(w, v), concat(row<Is, "w", "b">(), row<Is, "v", "bias of v">()));
  auto const parts = cut(whole, list(dim<"w", axis>, dim<"v", axis>));
  return begun<Is>(name(roots(found(Is, w, b).as<"layer">(), found(Is, v, c).as<"other">())))
      .template where<"narrow layers">(
          pred<"w", "v">([](auto one, auto other) { return are_narrow<Is>(one, other); }).quiet())
      .summary("two layers of one value that go different ways are one, where that moves less")
      .replace(result<0>(parts), result<1>(parts));
}
template <layer Is>
[[nodiscard]] constexpr rewrite_rule three(rule_name name) {
  using namespace dsl;
  constexpr int axis = channels(Is);
  auto const whole =
      joined(Is, expression(opcode::concat, w, v, u),
             expression(opcode::concat, row<Is, "w", "b">(), row<Is, "v", "bias of v">(), row<Is, "u", "bias of u">()));
  auto const parts = cut(whole, list(dim<"w", axis>, dim<"v", axis>, dim<"u", axis>));
  auto const all = roots(found(Is, w, b).as<"layer">(), found(Is, v, c).as<"other">(), found(Is, u, d).as<"third">());
  return with_constants<Is, "u", "bias of u", "third">(begun<Is>(name(all)))
      .template where<"narrow layers">(pred<"w", "v", "u">([](auto one, auto other, auto third) {
                                         return are_narrow<Is>(one, other, third);
                                       }).quiet())
      .summary("three layers of one value that go different ways are one, where that moves less")
      .benefit(1)
      .replace(result<0>(parts), result<1>(parts), result<2>(parts));
}

}  // namespace parallel

inline constexpr auto parallel_matmuls = parallel::two<parallel::layer::product>(rule<"parallel-matmuls">);
inline constexpr auto parallel_biased_matmuls =
    parallel::two<parallel::layer::biased_product>(rule<"parallel-biased-matmuls">);
inline constexpr auto parallel_gemms = parallel::two<parallel::layer::gemm>(rule<"parallel-gemms">);
inline constexpr auto parallel_transposed_gemms =
    parallel::two<parallel::layer::transposed_gemm>(rule<"parallel-transposed-gemms">);
inline constexpr auto three_parallel_matmuls =
    parallel::three<parallel::layer::product>(rule<"three-parallel-matmuls">);
inline constexpr auto three_parallel_biased_matmuls =
    parallel::three<parallel::layer::biased_product>(rule<"three-parallel-biased-matmuls">);
inline constexpr auto three_parallel_gemms = parallel::three<parallel::layer::gemm>(rule<"three-parallel-gemms">);
inline constexpr auto three_parallel_transposed_gemms =
    parallel::three<parallel::layer::transposed_gemm>(rule<"three-parallel-transposed-gemms">);

/// Layers of one input, where they are so narrow that to read it once saves more than to cut the result costs. They
/// come behind all that makes one operator of a layer and of what follows it.
inline constexpr auto parallel_layers =
    rule_set<three_parallel_matmuls, three_parallel_biased_matmuls, three_parallel_gemms,
             three_parallel_transposed_gemms, parallel_matmuls, parallel_biased_matmuls, parallel_gemms,
             parallel_transposed_gemms>;

}  // namespace fuse::inline v0::rules
