// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/span.hpp>
#include <fuse/infer/scalar_arithmetic.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// Where element `flat` of a result is read in an operand that was broadcast to it.
[[nodiscard]] inline std::size_t broadcast_index(span<extent const> to, span<extent const> from, std::size_t flat) {
  std::size_t index = 0, stride = 1;
  for (std::size_t i = to.size(); i > 0; --i) {
    auto const size = static_cast<std::size_t>(to[i - 1].value());
    auto const digit = size == 0 ? 0 : flat % size;
    flat = size == 0 ? 0 : flat / size;
    auto const back = to.size() - i;
    if (back >= from.size()) break;
    auto const own = static_cast<std::size_t>(from[from.size() - 1 - back].value());
    if (own != 1) index += digit * stride;
    stride *= own;
  }
  return index;
}

/// An operand's small contents, read at the place that a result's element comes from.
struct operand_contents {
  span<extent const> shape, integers;
  span<double const> numbers;
  bool floating = false;

  [[nodiscard]] bool read(shape_context& at, std::uint32_t i) {
    auto const v = at.operand(i);
    if (v == absent || !at.facts.has_rank(v)) return false;
    shape = at.facts.shape(v);
    integers = at.facts.symbolic_integers(v);
    numbers = at.facts.numbers(v);
    floating = at.facts.has_numbers(v);
    std::size_t count = 0;
    return (floating || at.facts.has_integers(v)) && small_count(shape, fact_table::most_contents, count) &&
           count == size();
  }
  [[nodiscard]] std::size_t size() const { return floating ? numbers.size() : integers.size(); }
  // A malformed graph may broadcast nothing to something.
  [[nodiscard]] bool covers(std::size_t count) const { return count == 0 || size() != 0; }
  [[nodiscard]] std::size_t index(span<extent const> to, std::size_t flat) const {
    auto const at = size() == 1 ? 0 : broadcast_index(to, shape, flat);
    return at < size() ? at : 0;
  }
};

/// The shape of result 0 if its contents are small.
template <class Context>
[[nodiscard]] bool small_result(Context& at, std::size_t& count) {
  return at.facts.has_rank(at.result()) && small_count(at.facts.shape(at.result()), fact_table::most_contents, count);
}

/// Stores integers that were collected in `extents`; an element that the type cannot hold is nobody's guess.
template <class Context>
void store_integers(Context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_integer(type) && type != element_type::boolean) return;
  for (auto& e : at.extents)
    if (!fits(e, type)) e = at.symbols().fresh(no_bound);
  at.facts.set_integers(v, at.extents);
}
template <class Context>
void store_numbers(Context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_floating(type)) return;
  for (auto& x : at.numbers) x = rounded(x, type);
  at.facts.set_numbers(v, at.numbers);
}

/// Stores a number that every element of the result is.
template <class Context>
void store_uniform(Context& at, double number) {
  auto const type = at.facts.type(at.result());
  if (is_floating(type)) return at.facts.set_uniform(at.result(), rounded(number, type));
  bool const whole = math::is_whole(number) && number > -9e15 && number < 9e15;
  if (whole && is_integer(type) && fits(extent(static_cast<std::int64_t>(number)), type))
    at.facts.set_uniform(at.result(), number);
}

/// Copies blocks of elements: result[outer][i][inner] = contents[outer][pick(i)][inner], for one axis of the contents.
template <class Pick>
void pick_contents(shape_context& at, operand_contents const& from, std::size_t axis, std::size_t picked, value_id to,
                   Pick&& pick) {
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(from.shape[i].value());
  auto const whole = static_cast<std::size_t>(from.shape[axis].value());
  if (outer > fact_table::most_contents || inner > fact_table::most_contents ||
      outer * inner * picked > fact_table::most_contents)
    return;
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < picked; ++i) {
      std::size_t const source = pick(i);  // `whole`: unknown
      for (std::size_t k = 0; k < inner; ++k) {
        auto const flat = (o * whole + source) * inner + k;
        if (from.floating) {
          if (source >= whole) return;
          at.numbers.push_back(from.numbers[flat]);
        } else {
          at.extents.push_back(source < whole ? from.integers[flat] : at.symbols().fresh(no_bound));
        }
      }
    }
  if (from.floating)
    store_numbers(at, to);
  else
    store_integers(at, to);
}

}  // namespace fuse::inline v0::detail
