// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace guarded_memory {

/// Elements that begin right after a page nobody may touch, or end right before one; the other side holds a pattern
/// that must stay. Poisoned until something is written.
template <class T>
class guarded {
 public:
  guarded(std::size_t count, bool at_end) : count_(count) {
    std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (count * sizeof(T) / page + 1) * page;
    size_ = inner_ + 2 * page;
    void* const map = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(map != MAP_FAILED);
    map_ = static_cast<std::byte*>(map);
    pages_ = map_ + page;
    protect(PROT_READ | PROT_WRITE);
    std::memset(pages_, pattern, inner_);
    data_ = reinterpret_cast<T*>(at_end ? pages_ + inner_ - count * sizeof(T) : pages_);
  }
  guarded(guarded const&) = delete;
  guarded& operator=(guarded const&) = delete;
  ~guarded() { munmap(map_, size_); }

  T* data() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() const { return {data_, count_}; }

  /// From here on a write ends the test.
  void make_readonly() const { protect(PROT_READ); }

  /// Whether all bytes outside the elements, and those of elements that `is_ours` denies, are as they were.
  template <class IsOurs>
  bool kept(IsOurs const& is_ours) const {
    auto const* const begin = reinterpret_cast<std::byte*>(data_);
    auto const untouched = [](std::byte const* from, std::byte const* to) {
      return std::all_of(from, to, [](std::byte b) { return b == std::byte{pattern}; });
    };
    for (std::size_t i = 0; i < count_; ++i)
      if (!is_ours(i) && !untouched(begin + i * sizeof(T), begin + (i + 1) * sizeof(T))) return false;
    return untouched(pages_, begin) && untouched(begin + count_ * sizeof(T), pages_ + inner_);
  }

 private:
  static constexpr unsigned char pattern = 0xff;  // a NaN in every type

  void protect(int rights) const { REQUIRE(mprotect(pages_, inner_, rights) == 0); }

  std::byte* map_ = nullptr;
  std::byte* pages_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0, inner_ = 0, size_ = 0;
};

}  // namespace guarded_memory
