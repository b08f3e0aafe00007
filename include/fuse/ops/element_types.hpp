// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/graph/element_type.hpp>

namespace fuse::inline v0 {

/// The element types that an operator's operands, and its first result, may have from an operator set version on: a bit
/// for each `element_type`; 0 where it may be any.
struct element_types {
  static constexpr std::size_t most_operands = 5;  ///< those that follow may be of any type

  int since = 1;
  std::uint32_t operands[most_operands]{};
  std::uint32_t result = 0;
  bool variadic = false;  ///< what holds of the last operand holds of all that follow

  [[nodiscard]] static constexpr bool has(std::uint32_t set, element_type type) {
    return set == 0 || type == element_type::unknown || (set >> static_cast<int>(type) & 1u) != 0;
  }
  /// Whether operand `i` may be of a type; also where that is not known.
  [[nodiscard]] constexpr bool takes(std::size_t i, element_type type) const {
    std::size_t last = most_operands;
    while (last > 0 && operands[last - 1] == 0) --last;
    if (variadic && last > 0 && i >= last) i = last - 1;
    return i >= most_operands || has(operands[i], type);
  }
  [[nodiscard]] constexpr bool gives(element_type type) const { return has(result, type); }
};

}  // namespace fuse::inline v0
