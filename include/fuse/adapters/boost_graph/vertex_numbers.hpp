// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace fuse::inline v0::adapters::bgl::detail {

/// Small numbers for vertices: an array where descriptors are small numbers themselves, else a hash table.
template <class Vertex>
class vertex_numbers {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  [[nodiscard]] std::uint32_t find(Vertex const& v) const {
    if constexpr (std::is_integral_v<Vertex>) {
      return static_cast<std::size_t>(v) < numbers_.size() ? numbers_[static_cast<std::size_t>(v)] : none;
    } else {
      auto const at = numbers_.find(v);
      return at == numbers_.end() ? none : at->second;
    }
  }
  void set(Vertex const& v, std::uint32_t number) {
    if constexpr (std::is_integral_v<Vertex>) {
      if (static_cast<std::size_t>(v) >= numbers_.size()) numbers_.resize(static_cast<std::size_t>(v) + 1, none);
      numbers_[static_cast<std::size_t>(v)] = number;
    } else {
      numbers_[v] = number;
    }
  }
  void forget(Vertex const& v) {
    if constexpr (!std::is_integral_v<Vertex>) numbers_.erase(v);
  }
  void clear() { numbers_.clear(); }

 private:
  std::conditional_t<std::is_integral_v<Vertex>, std::vector<std::uint32_t>, std::unordered_map<Vertex, std::uint32_t>>
      numbers_;
};

}  // namespace fuse::inline v0::adapters::bgl::detail
