// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/dense.hpp>
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
  virtual bool text(std::string_view name, std::string_view& into) const = 0;
  /// What the parameter "axis" counts.
  [[nodiscard]] virtual axis_use use_of_axis() const = 0;
};

/// What became of an evaluation.
enum class evaluation : std::uint8_t {
  done,
  unknown,  ///< there is none of this operator, or of it with these parameters
  misfit,   ///< the operands do not fit each other or the parameters
};

namespace detail {

/// One operator on its operands. A result has the element type that it is given with.
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
  /// A parameter that may be an operand as well as an attribute.
  [[nodiscard]] bool list(std::string_view name, std::vector<std::int64_t>& into) const {
    return parameters.integers(name, into);
  }
  /// The parameter "axis" of an operand of `rank` axes, counted from the first; false where it is none of them.
  [[nodiscard]] bool axis(std::size_t rank, double otherwise, std::size_t& into) const {
    auto const told = number("axis", otherwise);
    auto const counted = told < 0 ? told + static_cast<double>(rank) : told;
    if (!(counted >= 0) || counted > static_cast<double>(rank)) return false;
    into = static_cast<std::size_t>(counted);
    return true;
  }
  /// Gives the first result its shape and elements.
  evaluation yield(dense made) const {
    results[0].shape.swap(made.shape);
    results[0].elements.swap(made.elements);
    return evaluation::done;
  }
};

/// Product of the extents from axis `from` up to `to`.
[[nodiscard]] inline std::size_t count_between(span<std::int64_t const> shape, std::size_t from, std::size_t to) {
  std::size_t count = 1;
  for (auto axis = from; axis < to; ++axis) count *= static_cast<std::size_t>(shape[axis]);
  return count;
}

}  // namespace detail
}  // namespace fuse::inline v0
