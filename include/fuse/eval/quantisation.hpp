// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/convolution.hpp>
#include <fuse/eval/linear.hpp>

namespace fuse::inline v0::detail {

/// A whole number in an integer type: the nearest that it has.
[[nodiscard]] inline double saturated(double x, element_type type) {
  auto const least = least_of(type), most = most_of(type);
  return x < least ? least : x > most ? most : x;
}

/// Of each element of `x`, the number of its entry in a scale or a zero point: there is one for all, one for each
/// index along an axis, or one for each block along it. False where it is none of these.
[[nodiscard]] inline bool entries_along(dense const& x, std::vector<std::int64_t> const& shape, call const& c,
                                        std::vector<std::size_t>& into) {
  if (count_of(shape) == 1) {
    into.assign(x.size(), 0);
    return true;
  }
  std::size_t axis = 0;
  auto const block = c.integer("block_size", 0);
  if (!c.axis(x.shape.size(), 1, axis) || axis >= x.shape.size()) return false;
  if (shape.size() == 1 && block == 0) {
    std::vector<std::int64_t> row(x.shape.size() - axis, 1);
    row[0] = shape[0];
    return shape[0] == x.shape[axis] && for_each_repeated(row, x.shape, [&](std::size_t i) { into.push_back(i); });
  }
  if (block < 1 || shape.size() != x.shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != (i == axis ? (x.shape[i] + block - 1) / block : x.shape[i])) return false;
  auto const strides = strides_of(shape);
  for_each_index(x.shape, [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += (i == axis ? at[i] / block : at[i]) * strides[i];
    into.push_back(static_cast<std::size_t>(from));
  });
  return true;
}

/// round(x / scale) + zero point, in the type of the zero point or of the result, of at most 16 bits.
[[nodiscard]] inline evaluation evaluate_quantize(call const& c) {
  auto const *x = c.operand(0), *scale = c.operand(1), *zero = c.operand(2);
  if (x == nullptr || scale == nullptr || (zero != nullptr && zero->shape != scale->shape)) return evaluation::misfit;
  auto& type = c.results[0].type;
  if (type == element_type::unknown) type = zero != nullptr ? zero->type : element_type::uint8;
  if (!is_integer(type) || size_of(type) > 2) return evaluation::unknown;
  std::vector<std::size_t> entries;
  if (!entries_along(*x, scale->shape, c, entries)) return evaluation::misfit;
  auto const precise = scale->type;  // ties are those of a quotient of this type
  auto const zeros = zero == nullptr ? std::vector<double>(scale->size(), 0) : in_doubles(*zero).elements;
  auto made = in_doubles(*x);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const whole = rounded_to_even(rounded(made.elements[i] / scale->elements[entries[i]], precise));
    made.elements[i] = saturated(whole + zeros[entries[i]], type);
  }
  return c.yield(std::move(made));
}

/// (x - zero point) * scale.
[[nodiscard]] inline evaluation evaluate_dequantize(call const& c) {
  auto const *x = c.operand(0), *scale = c.operand(1), *zero = c.operand(2);
  if (x == nullptr || scale == nullptr || (zero != nullptr && zero->shape != scale->shape)) return evaluation::misfit;
  std::vector<std::size_t> entries;
  if (!entries_along(*x, scale->shape, c, entries)) return evaluation::misfit;
  auto const zeros = zero == nullptr ? std::vector<double>(scale->size(), 0) : in_doubles(*zero).elements;
  auto made = in_doubles(*x);
  for (std::size_t i = 0; i < entries.size(); ++i)
    made.elements[i] = (made.elements[i] - zeros[entries[i]]) * scale->elements[entries[i]];
  return c.yield(converted(std::move(made), scale->type));
}

/// To 8 bits, by the range of the numbers and 0. Results: that, the scale, the zero point; each step in float.
[[nodiscard]] inline evaluation evaluate_dynamic_quantize(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  auto const in_float = [](double v) { return rounded(v, element_type::float32); };
  double least = 0, most = 0;
  for (auto v : x->elements) {
    least = v < least ? v : least;
    most = v > most ? v : most;
  }
  auto const scale = in_float(in_float(most - least) / 255);
  auto const of = [&](double v) { return scale == 0 ? 0 : in_float(v / scale); };
  auto const zero = rounded_to_even(saturated(-of(least), element_type::uint8));
  c.yield(1, {{}, {scale}, element_type::float32, {}});
  c.yield(2, converted(dense::of(zero), element_type::uint8));
  auto made = mapped(*x, [&](double v) { return saturated(rounded_to_even(of(v)) + zero, element_type::uint8); });
  return c.yield(converted(std::move(made), element_type::uint8));
}

/// `x` less a zero point, absent where it is 0: one for all, or a row along an axis.
[[nodiscard]] inline bool less_zero(dense const* x, dense const* zero, std::size_t axis, dense& into) {
  if (x == nullptr) return false;
  into = in_doubles(*x);
  if (zero == nullptr) return true;
  auto row = in_doubles(*zero);
  if (row.shape.size() == 1 && row.shape[0] != 1) {
    if (axis >= x->shape.size()) return false;
    row.shape.resize(x->shape.size() - axis, 1);
  }
  auto const whole = into.shape;
  return combine(into, row, into, [](double a, double b) { return a - b; }) && into.shape == whole;
}
/// Times a scale likewise.
[[nodiscard]] inline bool scaled(dense& x, dense const* scale, std::size_t axis) {
  if (scale == nullptr) return false;
  auto row = *scale;
  if (row.shape.size() == 1 && row.shape[0] != 1) {
    if (axis >= x.shape.size()) return false;
    row.shape.resize(x.shape.size() - axis, 1);
  }
  return combine(x, row, x, [](double a, double b) { return a * b; });
}

/// Products and convolutions of 8-bit integers: with zero points, and with scales, where the result is quantised.
[[nodiscard]] inline evaluation evaluate_quantised_linear(call const& c) {
  bool const scales = c.op == opcode::qlinear_matmul || c.op == opcode::qlinear_conv;
  bool const convolves = c.op == opcode::conv_integer || c.op == opcode::qlinear_conv;
  auto const second = scales ? 3u : 1u;
  auto const *a = c.operand(0), *b = c.operand(second);
  if (a == nullptr || b == nullptr || a->shape.empty() || b->shape.empty()) return evaluation::misfit;
  auto const row = convolves || a->shape.size() < 2 ? 0 : a->shape.size() - 2;
  auto const column = convolves ? 0 : b->shape.size() - 1;
  dense x, w, made;
  if (!less_zero(a, c.operand(2), row, x) || !less_zero(b, c.operand(scales ? 5 : 3), column, w))
    return evaluation::misfit;
  if (scales && (!scaled(x, c.operand(1), row) || !scaled(w, c.operand(4), column))) return evaluation::misfit;
  dense bias;
  if (auto const* added = convolves && scales ? c.operand(8) : nullptr; added != nullptr) {
    bias = in_doubles(*added);  // in units of both scales
    auto unit = *c.operand(4);
    if (!scaled(unit, c.operand(1), 0) || !scaled(bias, &unit, 0)) return evaluation::misfit;
  }
  bool const fits = convolves ? convolved(c, x, w, bias.elements.empty() ? nullptr : &bias, made)
                              : multiplied(std::move(x), std::move(w), made);
  if (!fits) return evaluation::misfit;
  if (!scales) return c.yield(converted(std::move(made), element_type::int32));
  auto const *scale = c.operand(6), *zero = c.operand(7);
  if (scale == nullptr || zero == nullptr || scale->size() != 1 || zero->size() != 1) return evaluation::misfit;
  auto const by = scale->elements[0], from = in_doubles(*zero).elements[0];
  if (!is_integer(zero->type) || size_of(zero->type) > 2) return evaluation::unknown;
  made = mapped(std::move(made), [&](double v) { return saturated(rounded_to_even(v / by) + from, zero->type); });
  return c.yield(converted(std::move(made), zero->type));
}

}  // namespace fuse::inline v0::detail
