// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/fact_table.hpp>
#include <fuse/infer/scalar_arithmetic.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

// Values that are one number, however often it stands there.

[[nodiscard]] inline bool is_of_integers(fact_table const& known, value_id v) {
  return v != absent && is_integer(known.type(v));
}

/// Whether operand `i` of `n` is a number; and that.
template <class Image>
[[nodiscard]] bool is_number(Image const& image, fact_table const& known, node_id n, std::uint32_t i, double& number) {
  return i < image.operand_count(n) && image.operand(n, i) != absent && known.uniform(image.operand(n, i), number);
}

/// Whether a number stands there several times, perhaps: left out, it may leave a smaller shape.
[[nodiscard]] inline bool has_several(fact_table const& known, value_id v) {
  double number = 0;
  return v != absent && known.is_uniform(v) && !known.number(v, number);
}
/// The same of one that has axes, be they of one element.
[[nodiscard]] inline bool may_enlarge(fact_table const& known, value_id v) {
  return v != absent && (known.rank(v) != 0 || has_several(known, v));
}

/// Whether the number that operand `i` of `n` is makes the result larger than `kept`, another operand, perhaps.
template <class Image>
[[nodiscard]] bool repeats_by(Image const& image, fact_table const& known, node_id n, std::uint32_t i, value_id kept) {
  return may_enlarge(known, image.operand(n, i)) && !known.same_shape(image.result(n), kept);
}

/// Whether every element of `v` is `wanted`, within a tolerance that is relative, or as its type rounds that.
template <class Image>
[[nodiscard]] bool equals_number(Image const& image, fact_table const& known, value_id v, double wanted,
                                 double tolerance) {
  double number = 0;
  if (v == absent) return false;
  if (is_of_integers(known, v)) tolerance = 0;
  if (auto const rounding = rounding_in(known.type(v), wanted); rounding > tolerance) tolerance = rounding;
  if (known.number(v, number)) return math::close_to(number, wanted, tolerance);
  if (!image.value(v).constant) return false;
  auto const t = image.source->constant(v);
  if (t.size() == 0) return false;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (!math::close_to(t.number(k), wanted, tolerance)) return false;
  return true;
}

/// Whether a Neg computes `v`, as it is or below Identity.
template <class Image>
[[nodiscard]] bool is_negated(Image const& image, value_id v) {
  auto n = image.producer(v);
  for (int i = 0; i < 8 && n != absent && op_of(image, n) == opcode::identity && image.operand_count(n) != 0 &&
                  image.operand(n, 0) != absent;
       ++i)
    n = image.producer(image.operand(n, 0));
  return n != absent && op_of(image, n) == opcode::neg;
}

}  // namespace fuse::inline v0::detail
