// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fuse::inline v0 {

/// Names as dense numbers: equal names, equal numbers. Number 0 is the empty name. Views stay valid while the table
/// lives.
template <class Text>
class basic_name_table {
 public:
  basic_name_table() { static_cast<void>(number({})); }

  [[nodiscard]] std::uint32_t number(std::string_view name) {
    if (auto const at = numbers_.find(name); at != numbers_.end()) return at->second;
    auto const next = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(names_.back(), next);
    return next;
  }
  [[nodiscard]] std::string_view name(std::uint32_t number) const { return names_[number]; }

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct text_equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  std::deque<Text> names_;
  std::unordered_map<Text, std::uint32_t, text_hash, text_equal> numbers_;
};
using name_table = basic_name_table<std::string>;

}  // namespace fuse::inline v0
