// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>

namespace fuse::inline v0 {

/// What an attribute holds.
enum class attribute_kind : std::uint8_t { flag, integer, number, text, integers, numbers, tensor, other };

[[nodiscard]] constexpr std::string_view name_of(attribute_kind kind) {
  constexpr std::string_view names[] = {"flag", "integer", "number", "text", "integers", "numbers", "tensor", "other"};
  return names[static_cast<std::size_t>(kind)];
}

struct attribute_info {
  std::string_view name;
  attribute_kind kind;
  int since = 1, until = 0;  ///< operator set versions that have it, the latter not (0: all from `since` on)
  int required = 0;          ///< from this version on, no node may lack it (0: any may)

  [[nodiscard]] constexpr bool is_of(int version) const { return since <= version && (until == 0 || version < until); }
  [[nodiscard]] constexpr bool is_required(int version) const {
    return required != 0 && required <= version && is_of(version);
  }
};

/// All attributes that an operator has, for dialects that know them (adapters/hana_struct makes such lists). A rule
/// that names another does not compile.
struct attribute_list {
  span<attribute_info const> all{};
  /// Gives the attributes of a new node the types in which the node will hold them, and adds the defaults of those that
  /// are not given. Returns an empty text, or why the node cannot hold them.
  std::string (*complete)(std::vector<attribute>&) = nullptr;
  bool any = false;  ///< this is no list: the operator may have any

  /// The number of the attribute of a name, or how many there are. (No pointer: to g++ a comparison of addresses is no
  /// constant under -fsanitize=undefined.)
  [[nodiscard]] constexpr std::size_t find(std::string_view name) const {
    std::size_t at = 0;
    while (at < all.size() && all[at].name != name) ++at;
    return at;
  }
  [[nodiscard]] constexpr bool has(std::string_view name) const { return find(name) < all.size(); }
};

inline constexpr attribute_list any_attributes{{}, nullptr, true};

}  // namespace fuse::inline v0
