// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <type_traits>

namespace fuse::inline v0 {

/// A view of elements that lie in a row: std::span, but for its price. Each element type that is ever converted to a
/// std::span costs every file 19 ms (g++ 12, the concepts of ranges); this one converts from a std::span, a vector or
/// an array, and to whatever takes a contiguous range.
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() = default;
  constexpr span(T* first, std::size_t size) : first_(first), size_(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) : first_(array), size_(N) {}  // NOLINT: implicit on purpose
  /// Of anything with `data()` and `size()`.
  template <class Row>
    requires requires(Row& row, T*& first) { first = row.data(); }
  constexpr span(Row&& row) : first_(row.data()), size_(row.size()) {}  // NOLINT: implicit on purpose

  [[nodiscard]] constexpr T* data() const { return first_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const { return first_; }
  [[nodiscard]] constexpr T* end() const { return first_ + size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t at) const { return first_[at]; }
  [[nodiscard]] constexpr T& front() const { return first_[0]; }
  [[nodiscard]] constexpr T& back() const { return first_[size_ - 1]; }
  [[nodiscard]] constexpr span first(std::size_t count) const { return {first_, count}; }
  [[nodiscard]] constexpr span subspan(std::size_t from) const { return {first_ + from, size_ - from}; }
  [[nodiscard]] constexpr span subspan(std::size_t from, std::size_t count) const { return {first_ + from, count}; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};
template <class Row>
span(Row&& row) -> span<std::remove_pointer_t<decltype(row.data())>>;

/// The bytes that the elements lie in.
template <class T>
[[nodiscard]] span<std::byte const> as_bytes(span<T> elements) {
  return {reinterpret_cast<std::byte const*>(elements.data()), elements.size_bytes()};
}

}  // namespace fuse::inline v0
