// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/dsl/dsl.hpp>

/// The parts that the rules of norms are put together from. Every spelling of a product, a sum, a square or a root is
/// the operators' own; what stands here changes the formula.
namespace fuse::inline v0::rules::formula {

inline constexpr auto x = dsl::var<"x">, old_scale = dsl::var<"old scale">, old_bias = dsl::var<"old bias">;
inline constexpr auto epsilon = dsl::scalar<"epsilon">;
inline constexpr auto scale = dsl::rest<"scale">, factor = dsl::rest<"factor">, bias = dsl::rest<"bias">;

inline constexpr auto centred = x - dsl::mean(x);
/// Also as the mean of squares less the square of the mean: the standard's own function body.
inline constexpr auto variance =
    dsl::either(dsl::mean(dsl::square(centred)), dsl::mean(dsl::square(x)) - dsl::square(dsl::mean(x)));
/// An exporter may take a small epsilon for 0 and leave it out.
inline constexpr auto inverse_deviation = dsl::rsqrt((variance + dsl::optional(epsilon)).never_negative());
inline constexpr auto inverse_root_mean_square = dsl::rsqrt(dsl::mean(dsl::square(x)) + dsl::optional(epsilon));

/// (x - mean) r multiplied out, perhaps with scales, too: x (r s) + (bias - mean (r s)) is TensorFlow's form. Or the
/// scales alone.
inline constexpr auto distributed = x * inverse_deviation * factor - dsl::mean(x) * inverse_deviation * factor;
inline constexpr auto scaled_first = x * factor - dsl::mean(x) * factor;
inline constexpr auto normalised = dsl::either(dsl::either(centred, scaled_first) * inverse_deviation, distributed);
/// With scales and a bias.
inline constexpr auto scaled_norm = dsl::either(normalised * scale, distributed) + bias;

/// A layer norm that is one operator already, with its scale and perhaps a bias.
[[nodiscard]] constexpr expression layer_norm_of(expression const& what) {
  return dsl::layer_norm(what, old_scale, dsl::optional(old_bias))
      .attr<"axis">(dsl::param<"axes">)
      .attr<"epsilon">(epsilon);
}
inline constexpr auto layer_norm_operator = layer_norm_of(x);
inline constexpr auto layer_norm_again =
    dsl::layer_norm(x, old_scale, old_bias).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);
inline constexpr auto rms_norm_operator =
    dsl::rms_norm(x, old_scale).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);

/// Whether a norm is over the last axis alone.
inline constexpr auto last_axis = dsl::pred<"axes">([](auto axes) {
  std::vector<std::int64_t> listed;
  return axes.integers(listed) && listed.size() == 1 && listed[0] == -1;
});

/// Whether something squares `mean`. A variance that is the mean of squares less that square is mostly rounding where
/// the mean is large: it keeps the very mean it had.
[[nodiscard]] inline bool squared(value_view mean, int depth = 0) {
  bool found = false;
  mean.for_each_user([&](value_view user) {
    switch (user.op()) {
      case opcode::pow:
      case opcode::square: found = true; break;
      case opcode::mul: found = found || user.operand(0).id() == user.operand(1).id(); break;
      case opcode::neg:
      case opcode::cast:
      case opcode::identity:
      case opcode::unsqueeze:
      case opcode::reshape: found = found || (depth < 8 && squared(user, depth + 1)); break;
      default: break;
    }
  });
  return found;
}

}  // namespace fuse::inline v0::rules::formula
