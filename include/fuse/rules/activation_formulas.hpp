// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// The parts that the rules of activations are put together from. Every spelling of a product, a sum or a power is the
/// operators' own; what stands here changes the formula.
namespace fuse::inline v0::rules::formula {

inline constexpr auto activated = dsl::var<"x">, gelu_bias = dsl::var<"bias">;
inline constexpr auto alpha = dsl::scalar<"alpha">;

/// A number that exporters write with five digits.
[[nodiscard]] constexpr expression about(double number) { return dsl::constant(number).within(2e-5); }

/// 1 + curve, halved, in its bracketings. As curve is odd, 1 - curve(-x) is the same.
[[nodiscard]] constexpr expression gate(expression const& curve, expression const& curve_of_minus) {
  using namespace dsl;
  return either(either(0.5 * (1 + curve), 0.5 * (1 - curve_of_minus)),
                either(0.5 + 0.5 * curve, 0.5 - 0.5 * curve_of_minus));
}
[[nodiscard]] constexpr expression gated(expression const& of, expression const& curve,
                                         expression const& curve_of_minus) {
  using namespace dsl;
  return either(of * gate(curve, curve_of_minus), 0.5 * of + 0.5 * of * curve);
}

inline constexpr double root_of_half = 0.70710678118654752440, root_of_2_by_pi = 0.79788456080286535588;

/// D. Hendrycks, K. Gimpel: Gaussian Error Linear Units, arXiv:1606.08415.
inline constexpr auto gelu =
    gated(activated, dsl::erf(activated* about(root_of_half)), dsl::erf(activated* about(-root_of_half)));

/// sqrt(2 / pi) (x + 0.044715 x^3), in its bracketings, so many times.
[[nodiscard]] constexpr expression tanh_argument(double times) {
  using namespace dsl;
  auto const& of = activated;
  double const all = times * root_of_2_by_pi;
  return either(
      either(about(all) * (of + about(0.044715) * pow(of, 3)), about(all) * of * (1 + about(0.044715) * square(of))),
      about(all) * of + about(all * 0.044715) * pow(of, 3));
}
inline constexpr auto gelu_by_tanh =
    dsl::either(gated(activated, dsl::tanh(tanh_argument(1)), dsl::tanh(tanh_argument(-1))),
                activated* dsl::sigmoid(tanh_argument(2)));

/// Either operator for it.
[[nodiscard]] constexpr expression gelu_operator_by_tanh(expression const& of) {
  return dsl::either(dsl::fast_gelu(of), dsl::gelu(of).attr<"approximate">(1));
}
inline constexpr auto biased_layer = layer_of_joined_tokens(gelu_bias).as<"x">().users(1);

/// The logistic function, as an operator or written out.
[[nodiscard]] constexpr expression logistic(expression const& of) {
  using namespace dsl;
  return either(sigmoid(of), reciprocal(1 + exp(-of)));
}

/// P. Ramachandran, B. Zoph, Q. V. Le: Searching for Activation Functions, arXiv:1710.05941.
inline constexpr auto silu = activated * logistic(activated), swish = activated * logistic(activated * alpha);
inline constexpr auto minus_alpha = dsl::scalar<"minus alpha">;
inline constexpr auto swish_of_minus_alpha = activated / (1 + dsl::exp(activated * minus_alpha));

/// D. Misra: Mish, arXiv:1908.08681.
inline constexpr auto softplus = dsl::either(dsl::softplus(activated), dsl::log(1 + dsl::exp(activated)));
inline constexpr auto mish = activated * dsl::tanh(softplus);

/// A value that is held between two numbers, however that is written.
[[nodiscard]] constexpr expression held_between(expression const& of, double least, double most) {
  using namespace dsl;
  return either(either(clip(of).attr<"min">(least).attr<"max">(most), minimum(maximum(of, least), most)),
                maximum(minimum(of, most), least));
}
[[nodiscard]] constexpr expression held_above_zero(expression const& of, double most) {
  using namespace dsl;
  return either(held_between(of, 0, most), either(minimum(relu(of), most), relu(minimum(of, most))));
}

/// A. Howard and others: Searching for MobileNetV3, arXiv:1905.02244.
inline constexpr auto hard_sigmoid = dsl::either(
    dsl::either(held_above_zero(activated + 3, 6) * about(1. / 6), held_above_zero(activated* about(1. / 6) + 0.5, 1)),
    dsl::hard_sigmoid(activated).attr<"alpha">(about(1. / 6)).attr<"beta">(0.5));
inline constexpr auto hard_swish = activated * hard_sigmoid;

/// Softmax of y along the axis of its sum, and its logarithm. They are the same for x and for x - max(x), but for
/// overflow; not where one of the two stands above and the other below, so that each is a formula of its own.
[[nodiscard]] constexpr expression softmax_of(expression const& y) { return dsl::exp(y) / dsl::sum(dsl::exp(y)); }
[[nodiscard]] constexpr expression log_softmax_of(expression const& y) {
  using namespace dsl;
  return either(either(y - log(sum(exp(y))), y - log_sum(exp(y))), y - log_sum_exp(y));
}
inline constexpr auto shifted = activated - dsl::reduce_max(activated);
inline constexpr auto softmax = dsl::either(softmax_of(shifted), softmax_of(activated));
inline constexpr auto log_softmax = log_softmax_of(activated), log_softmax_of_shifted = log_softmax_of(shifted);

}  // namespace fuse::inline v0::rules::formula
