// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace fuse::inline v0::adapters::detail {

/// Texts that stay where they are, side by side. Messages have theirs each in a place of its own: while a graph is
/// rewritten, every name that was read from there waited for memory (a thirtieth of the time of 12,000 nodes).
class kept_texts {
 public:
  std::string_view keep(std::string_view text) {
    if (text.empty()) return "";
    if (text.size() > left_) add_piece(text.size());
    auto* const at = next_;
    std::memcpy(at, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    return {at, text.size()};
  }

 private:
  void add_piece(std::size_t least) {
    left_ = least > piece ? least : piece;
    next_ = pieces_.emplace_back(new char[left_]).get();
  }

  static constexpr std::size_t piece = 1 << 15;
  std::vector<std::unique_ptr<char[]>> pieces_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace fuse::inline v0::adapters::detail
