// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>

/// The parts that the rules of norms are put together from. Every spelling of a product, a sum, a square or a root is
/// the operators' own; what stands here changes the formula.
namespace fuse::inline v0::rules::formula {

inline constexpr auto x = dsl::var<"x">, factor = dsl::var<"factor">, old_scale = dsl::var<"old scale">,
                      old_bias = dsl::var<"old bias">;
inline constexpr auto epsilon = dsl::scalar<"epsilon">;
inline constexpr auto scale = dsl::rest<"scale">, bias = dsl::rest<"bias">;

inline constexpr auto centred = x - dsl::mean(x);
/// Also as the mean of squares less the square of the mean: the standard's own function body.
inline constexpr auto variance =
    dsl::either(dsl::mean(dsl::square(centred)), dsl::mean(dsl::square(x)) - dsl::square(dsl::mean(x)));
inline constexpr auto inverse_deviation = dsl::rsqrt(variance + epsilon);
inline constexpr auto inverse_root_mean_square = dsl::rsqrt(dsl::mean(dsl::square(x)) + epsilon);

/// (x - mean) r multiplied out, and with the scale multiplied in, too: x (r s) + (bias - mean (r s)) is TensorFlow's
/// form.
inline constexpr auto expanded = x * inverse_deviation - dsl::mean(x) * inverse_deviation;
inline constexpr auto distributed = x * inverse_deviation * factor - dsl::mean(x) * inverse_deviation * factor;
inline constexpr auto normalised = dsl::either(centred * inverse_deviation, expanded, distributed);

/// A layer norm that is one operator already, with its scale and perhaps a bias.
inline constexpr auto layer_norm_operator =
    dsl::layer_norm(x, old_scale, dsl::optional(old_bias)).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);
inline constexpr auto layer_norm_again =
    dsl::layer_norm(x, old_scale, old_bias).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);
inline constexpr auto rms_norm_operator =
    dsl::rms_norm(x, old_scale).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);

/// What `v` is computed from without a change of its numbers: below Cast and Identity.
[[nodiscard]] inline value_view unchanged(value_view v) {
  for (int i = 0; i < 8 && v && (v.op() == opcode::cast || v.op() == opcode::identity); ++i) v = v.operand(0);
  return v;
}

/// Whether something squares `mean` or subtracts it from `x`. A variance that is the mean of squares less that square
/// is mostly rounding where the mean is large, and so is the difference: they keep the very mean they had.
[[nodiscard]] inline bool cancels(value_view mean, value_view x, int depth = 0) {
  bool found = false;
  mean.for_each_user([&](value_view user) {
    switch (user.op()) {
      case opcode::pow:
      case opcode::square: found = true; break;
      case opcode::mul: found = found || unchanged(user.operand(0)).id() == unchanged(user.operand(1)).id(); break;
      case opcode::add:
      case opcode::sub:
        for (std::uint32_t i = 0; i < 2; ++i) found = found || unchanged(user.operand(i)).id() == unchanged(x).id();
        break;
      case opcode::neg:
      case opcode::cast:
      case opcode::identity:
      case opcode::unsqueeze:
      case opcode::reshape: found = found || (depth < 8 && cancels(user, x, depth + 1)); break;
      default: break;
    }
  });
  return found;
}

}  // namespace fuse::inline v0::rules::formula
