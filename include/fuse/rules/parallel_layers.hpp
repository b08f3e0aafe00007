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
template <class... Weights>
[[nodiscard]] constexpr expression joined(layer is, expression const& biases, Weights const&... of) {
  using namespace dsl;
  auto const by = fold(expression(opcode::concat, of...).template attr<"axis">(channels(is)));
  auto const plus = fold(biases.attr<"axis">(-1));
  if (is == layer::product) return matmul(formula::layer_input, by);
  if (is == layer::biased_product) return matmul(formula::layer_input, by) + plus;
  return again<"layer">(formula::layer_input, by, plus);
}
[[nodiscard]] constexpr expression cut(expression const& whole, expression const& lengths) {
  return expression(opcode::split, whole).attr<"axis">(-1).attr<"split">(lengths);
}

/// Weights of layers that are several, and not one that is found again.
inline constexpr auto two_matrices = dsl::pred<"w", "v">(
    [](auto one, auto other) { return one.rank() == 2 && other.rank() == 2 && one.id() != other.id(); });
inline constexpr auto third_matrix = dsl::pred<"w", "v", "u">([](auto one, auto other, auto third) {
  return third.rank() == 2 && third.id() != one.id() && third.id() != other.id();
});
/// Else nobody can tell what moves less.
inline constexpr auto known_rank = dsl::pred<"x">([](auto x) { return x.rank() > 0; });
/// Whether layers make fewer elements of a token than all but one of them read: if not, to cut these moves more than is
/// saved, whatever it costs.
template <layer Is, class... Others>
[[nodiscard]] bool are_narrow(value_view const& one, Others const&... others) {
  constexpr std::size_t axis = channels(Is);
  std::int64_t made = 0;
  bool known = one.shape()[1 - axis].known();
  for (auto const& by : {one, others...}) {
    known = known && by.shape()[axis].known();
    if (known) made += by.shape()[axis].value();
  }
  return known && made < static_cast<std::int64_t>(sizeof...(Others)) * one.shape()[1 - axis].value();
}

/// Products without a bias come last, as one with a bias is more.
[[nodiscard]] constexpr rewrite_rule of_two(rewrite_rule const& rule, layer is) {
  using namespace dsl;
  auto const asked = rule.where(is_constant<"w">.quiet(), is_constant<"v">.quiet(), floating<"x">.quiet())
                         .where<"several layers">(two_matrices.quiet())
                         .where<"the rank is known">(known_rank.quiet())
                         .where<"nothing else uses the weights">(formula::used_once<"w">)
                         .where<"nothing else uses the other weights">(formula::used_once<"v">)
                         .quiet();
  if (is == layer::product) return asked.stage(9);
  return asked.where(is_constant<"b">.quiet(), is_constant<"bias of v">.quiet()).stage(8);
}
[[nodiscard]] constexpr rewrite_rule of_three(rewrite_rule const& rule, layer is) {
  using namespace dsl;
  auto const asked = of_two(rule, is)
                         .where(is_constant<"u">.quiet())
                         .where<"several layers">(third_matrix.quiet())
                         .where<"nothing else uses the third weights">(formula::used_once<"u">)
                         .benefit(1);
  if (is == layer::product) return asked;
  return asked.where(is_constant<"bias of u">.quiet());
}

template <layer Is>
[[nodiscard]] constexpr rewrite_rule two(rule_name name) {
  using namespace dsl;
  constexpr int axis = channels(Is);
  auto const parts = cut(joined(Is, concat(b, c), w, v), list(dim<"w", axis>, dim<"v", axis>));
  return of_two(name(roots(found(Is, w, b).as<"layer">(), found(Is, v, c))), Is)
      .template where<"narrow layers">(
          pred<"w", "v">([](auto one, auto other) { return are_narrow<Is>(one, other); }).quiet())
      .summary("two layers of one value that go different ways are one, where that moves less")
      .replace(result<0>(parts), result<1>(parts));
}
template <layer Is>
[[nodiscard]] constexpr rewrite_rule three(rule_name name) {
  using namespace dsl;
  constexpr int axis = channels(Is);
  auto const parts = cut(joined(Is, expression(opcode::concat, b, c, d), w, v, u),
                         list(dim<"w", axis>, dim<"v", axis>, dim<"u", axis>));
  return of_three(name(roots(found(Is, w, b).as<"layer">(), found(Is, v, c), found(Is, u, d))), Is)
      .template where<"narrow layers">(pred<"w", "v", "u">([](auto one, auto other, auto third) {
                                         return are_narrow<Is>(one, other, third);
                                       }).quiet())
      .summary("three layers of one value that go different ways are one, where that moves less")
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
