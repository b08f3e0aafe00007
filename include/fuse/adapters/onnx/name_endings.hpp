// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fuse::inline v0::adapters::detail {

/// How names end, roughly: enough to tell of most names that they are free, without a table of all.
class onnx_name_endings {
 public:
  void add(std::string_view name) {
    auto const stem = stem_of(name);
    if (stem.size() == name.size())
      seen_.set(hash(name));
    else if (!stem.empty() && stem.back() == '_')
      seen_.set(hash(stem.substr(0, stem.size() - 1)));
  }

  /// Whether `name`, or `name` with an underscore and a number behind it, may have been added.
  [[nodiscard]] bool may_have(std::string_view name) const {
    return stem_of(name).size() != name.size() || seen_[hash(name)];
  }

 private:
  [[nodiscard]] static std::string_view stem_of(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name;
  }
  [[nodiscard]] static std::size_t hash(std::string_view name) {
    std::uint64_t word = 0;
    auto const size = name.size() < 8 ? name.size() : 8;
    std::memcpy(&word, name.data() + (name.size() - size), size);
    return static_cast<std::size_t>((word * 0x9e3779b97f4a7c15u) >> 51);
  }

  std::bitset<1 << 13> seen_;
};

}  // namespace fuse::inline v0::adapters::detail
