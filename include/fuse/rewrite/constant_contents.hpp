// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/rewrite/built.hpp>

namespace fuse::inline v0::detail {

/// From here on a double does not tell an integer from its neighbours.
inline constexpr double inexact_integers = 9007199254740992.0;  // 2^53

/// Whether every integer of `of` is exact.
[[nodiscard]] inline bool exact_integers(dense const& of) {
  for (auto x : of.elements)
    if (!math::is_whole(x) || !(math::abs(x) < inexact_integers)) return false;
  return true;
}

/// Whether integer type `type`, or boolean, has `number`.
[[nodiscard]] inline bool has_integer(element_type type, double number) {
  if (!math::is_whole(number)) return false;
  if (type == element_type::boolean) return number == 0 || number == 1;
  double end = 1;  // the first that is too large
  for (std::size_t bits = size_of(type) * 8 - (is_unsigned(type) ? 0 : 1); bits > 0; --bits) end *= 2;
  return number < end && number >= (is_unsigned(type) ? 0 : -end);
}

/// A constant of numbers, each rounded to element type `type`. There is none where a number has no place in it: one
/// that would be infinite or 0 and is neither, or an integer that the type lacks or that is not known exactly.
[[nodiscard]] inline built<tensor> make_constant(element_type type, dense const& of) {
  auto const text = [](double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.7g", number);
    return "the number " + std::string(digits);
  };
  bool const integers = is_integer(type) || type == element_type::boolean;
  for (std::size_t i = 0; integers && i < of.elements.size(); ++i) {
    auto const number = of.elements[i];
    if (!has_integer(type, number)) return objection{text(number) + " is no " + std::string(name_of(type))};
    if (!(math::abs(number) < inexact_integers))
      return objection{text(number) + " stands for several integers of " + std::string(name_of(type)) +
                       ", and nobody knows which"};
  }
  auto made = make_tensor(type, of.shape, of.elements);
  if (made.type == element_type::unknown) return objection{"a constant of this element type cannot be made"};
  auto const* number = of.elements.data();
  double rounded = 0;
  auto const fits = [&](double held) {
    rounded = held;
    auto const wanted = *number++;
    return wanted == held || wanted == 0 || !math::is_finite(wanted) || (held != 0 && math::is_finite(held));
  };
  if (integers || tensor_view(made).all_numbers(fits)) return made;
  return objection{text(number[-1]) + (rounded == 0 ? " would be 0 in " : " is beyond ") + std::string(name_of(type))};
}

/// Whether element type `type` holds every number of `of` as it is.
[[nodiscard]] inline bool is_exact(dense const& of, element_type type) {
  for (auto x : of.elements)
    if (is_floating(type) ? rounded(x, type) != x && x == x : !has_integer(type, x)) return false;
  return true;
}

/// Reads constants, and what elementwise operators and changes of shape make of constants, in double precision.
template <class Image>
class basic_constant_contents {
 public:
  basic_constant_contents(Image const& image, facts const& known) : image_(image), facts_(known) {}

  /// The floating contents of `v`; false where it has none that are constant. One number for a value whose elements
  /// are all alike, whatever its shape. Looks at most 8 operators deep and at 64 values in all: operands may be shared,
  /// over and over.
  bool read(value_id v, dense& into) const {
    if (double number = 0; facts_.uniform(v, number)) return into = dense::of(number), true;
    int left = 64;
    return read(v, into, 0, left);
  }

 private:
  bool read(value_id v, dense& into, int depth, int& left) const {
    if (left-- == 0) return false;
    if (image_.value(v).constant) {
      auto const t = image_.source->constant(v);
      if (!t || t.size() != count_of(t.shape) || !is_floating(t.type)) return false;
      into = dense::of(t);
      return true;
    }
    if (double number = 0; facts_.number(v, number)) return into = dense::of(number), true;
    auto const n = image_.producer(v);
    if (n == absent || depth == 8 || !is_floating(facts_.type(v))) return false;
    auto const op = op_of(image_, n);
    bool const moves = op == opcode::identity || op == opcode::flatten || op == opcode::reshape ||
                       op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::expand;
    auto const count = moves || op == opcode::cast ? 1 : image_.operand_count(n);
    if (image_.operand_count(n) == 0 || count > 8) return false;
    std::vector<dense> operands(count);
    for (std::uint32_t i = 0; i < count; ++i)
      if (image_.operand(n, i) == absent || !read(image_.operand(n, i), operands[i], depth + 1, left)) return false;
    if (moves) return reshape(v, op, operands[0], into);
    if (op == opcode::cast) {
      into = dense::of(make_tensor(facts_.type(v), operands[0].shape, operands[0].elements));
      return true;
    }
    if (op != opcode::sum_of) return evaluate(op, operands, into);
    into = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      dense const both[2] = {into, operands[i]};
      if (!evaluate(opcode::add, both, into)) return false;
    }
    return true;
  }

  // To the shape of `v`, which `op` computes.
  bool reshape(value_id v, opcode op, dense const& from, dense& into) const {
    std::vector<std::int64_t> shape;
    if (!facts_.has_rank(v)) return false;
    for (auto e : facts_.shape(v)) {
      if (!e.known()) return false;
      shape.push_back(e.value());
    }
    if (op == opcode::expand) return broadcast_to(from, shape, into);
    if (count_of(shape) != from.elements.size()) return false;
    into = {std::move(shape), from.elements};
    return true;
  }

  Image const& image_;
  facts const& facts_;
};

}  // namespace fuse::inline v0::detail
