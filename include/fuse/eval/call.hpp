// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/conversion.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0 {

/// The parameters of an operator, by their neutral names; each returns false for one that is not given.
class operator_parameters {
 public:
  operator_parameters() = default;
  operator_parameters(operator_parameters const&) = delete;
  operator_parameters& operator=(operator_parameters const&) = delete;
  virtual ~operator_parameters() = default;

  virtual bool number(std::string_view name, double& into) const = 0;
  virtual bool integers(std::string_view name, std::vector<std::int64_t>& into) const = 0;
  /// An attribute that is neither: a text, a tensor, a list of numbers.
  [[nodiscard]] virtual attribute_view attribute(std::string_view name) const = 0;
  /// What the parameter "axis" counts.
  [[nodiscard]] virtual axis_use use_of_axis() const = 0;
};

/// What became of an evaluation.
enum class evaluation : std::uint8_t {
  done,
  unknown,  ///< there is none of this operator, or of it with these parameters or element types
  misfit,   ///< the operands do not fit each other or the parameters
};

namespace detail {

/// One operator on its operands. A result has the element type that it is given with, else that of what it is made of.
struct call {
  opcode op;
  span<dense const* const> operands;  // null: absent
  operator_parameters const& parameters;
  std::vector<dense>& results;

  [[nodiscard]] dense const* operand(std::size_t i) const { return i < operands.size() ? operands[i] : nullptr; }
  [[nodiscard]] double number(std::string_view name, double otherwise) const {
    double found = 0;
    return parameters.number(name, found) ? found : otherwise;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return static_cast<std::int64_t>(number(name, static_cast<double>(otherwise)));
  }
  [[nodiscard]] bool flag(std::string_view name, bool otherwise = false) const {
    return number(name, otherwise ? 1 : 0) != 0;
  }
  /// A parameter that may be an operand as well as an attribute.
  [[nodiscard]] bool list(std::string_view name, std::vector<std::int64_t>& into) const {
    return parameters.integers(name, into);
  }
  /// A list that has `count` entries; all are `otherwise` where none is given.
  [[nodiscard]] bool list(std::string_view name, std::size_t count, std::int64_t otherwise,
                          std::vector<std::int64_t>& into) const {
    if (!list(name, into) || into.empty()) into.assign(count, otherwise);
    return into.size() == count;
  }
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view otherwise = {}) const {
    auto const held = parameters.attribute(name);
    auto const* found = std::get_if<std::string_view>(&held);
    return found != nullptr ? *found : otherwise;
  }
  /// The parameter "axis" of an operand of `rank` axes, counted from the first; false where it is none of them.
  [[nodiscard]] bool axis(std::size_t rank, double otherwise, std::size_t& into) const {
    auto const told = number("axis", otherwise);
    auto const counted = told < 0 ? told + static_cast<double>(rank) : told;
    if (!(counted >= 0) || counted > static_cast<double>(rank)) return false;
    into = static_cast<std::size_t>(counted);
    return true;
  }
  /// Gives a result its shape and elements, those of the first from an evaluation that is done.
  evaluation yield(std::size_t i, dense made) const {
    if (i >= results.size()) return evaluation::done;
    if (results[i].type == element_type::unknown) results[i].type = made.type;
    if (!computed_in(results[i].type)) return evaluation::unknown;
    if (made.type != results[i].type || !is_floating(made.type)) made = converted(std::move(made), results[i].type);
    results[i] = std::move(made);
    return evaluation::done;
  }
  evaluation yield(dense made) const { return yield(0, std::move(made)); }
};

/// Product of the extents from axis `from` up to `to`.
[[nodiscard]] inline std::size_t count_between(span<std::int64_t const> shape, std::size_t from, std::size_t to) {
  std::size_t count = 1;
  for (auto axis = from; axis < to; ++axis) count *= static_cast<std::size_t>(shape[axis]);
  return count;
}

/// A list of integers.
[[nodiscard]] inline dense integers_in(std::vector<std::int64_t> shape, std::vector<std::int64_t> elements) {
  return {std::move(shape), {}, element_type::int64, std::move(elements)};
}

[[nodiscard]] inline bool are_extents(span<std::int64_t const> shape) {
  for (auto extent : shape)
    if (extent < 0) return false;
  return true;
}

/// Counts axes from the first; false where one is none of `rank`, or named twice.
[[nodiscard]] inline bool counted_axes(std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (auto& axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

[[nodiscard]] inline std::vector<std::int64_t> strides_of(span<std::int64_t const> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (auto axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Calls `visit(at)` for each index `at` of a shape, in order.
template <class Visit>
void for_each_index(std::vector<std::int64_t> const& shape, Visit const& visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  for (auto count = count_of(shape); count > 0; --count) {
    visit(at);
    for (auto axis = at.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

/// `from` in `shape`, with the elements that `source(at)` names by their numbers there, where `at` is an index in
/// `shape`; where that is below 0, `otherwise`, a scalar, or 0.
template <class Source>
[[nodiscard]] dense picked(dense const& from, std::vector<std::int64_t> shape, Source const& source,
                           dense const* otherwise = nullptr) {
  dense made{std::move(shape), {}, from.type, {}};
  auto const blank = otherwise != nullptr ? converted(*otherwise, from.type) : dense{};
  auto const pick = [&](auto const& elements, auto const& blanks, auto& into) {
    into.reserve(count_of(made.shape));
    for_each_index(made.shape, [&](std::vector<std::int64_t> const& at) {
      auto const i = source(at);
      into.push_back(i >= 0 ? elements[static_cast<std::size_t>(i)] : blanks.empty() ? 0 : blanks[0]);
    });
  };
  if (from.whole())
    pick(from.integers, blank.integers, made.integers);
  else
    pick(from.elements, blank.elements, made.elements);
  return made;
}

/// Rearranges elements, whatever they are: `change(elements)` of the integers or of the doubles.
template <class Change>
void rearrange(dense& x, Change const& change) {
  if (x.whole())
    change(x.integers);
  else
    change(x.elements);
}

template <class F>
[[nodiscard]] dense mapped(dense made, F const& f) {
  for (auto& x : made.elements) x = f(x);
  return made;
}

}  // namespace detail
}  // namespace fuse::inline v0
