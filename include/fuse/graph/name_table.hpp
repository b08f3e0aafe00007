// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/hash_index.hpp>

namespace fuse::inline v0 {

/// Names as dense numbers: equal names, equal numbers. Number 0 is the empty name. Views stay valid while the table
/// lives.
template <class Text>
class basic_name_table {
 public:
  basic_name_table() { static_cast<void>(number({})); }

  [[nodiscard]] std::uint32_t number(std::string_view name) {
    auto const hash = std::hash<std::string_view>{}(name);
    auto const known = numbers_.find(hash, [&](std::uint32_t n) { return this->name(n) == name; });
    if (known != numbers_.none) return known;
    auto const next = static_cast<std::uint32_t>(size_++);
    if (next % block == 0) names_.emplace_back().reserve(block);
    names_.back().emplace_back(name);
    numbers_.add(hash, next);
    return next;
  }
  [[nodiscard]] std::string_view name(std::uint32_t number) const { return names_[number / block][number % block]; }

 private:
  static constexpr std::size_t block = 64;  // texts that stay where they are: a short one holds its characters
  std::vector<std::vector<Text>> names_;
  std::size_t size_ = 0;
  detail::hash_index<std::uint32_t> numbers_;
};
using name_table = basic_name_table<std::string>;

}  // namespace fuse::inline v0
