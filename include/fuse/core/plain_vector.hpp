// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include <fuse/core/large_pages.hpp>
#include <fuse/core/span.hpp>

namespace fuse::inline v0::detail {

/// Memory that grows, for `plain_vector`: what it does for all element types alike, compiled once.
class plain_memory {
 protected:
  plain_memory() = default;
  plain_memory(plain_memory const&) = delete;
  plain_memory& operator=(plain_memory const&) = delete;
  ~plain_memory() { ::operator delete(bytes_); }

  /// Makes room for `wanted` elements of `each` bytes, `used` of which are kept.
  void make_room(std::size_t used, std::size_t wanted, std::size_t each) {
    auto const room = wanted < 2 * room_ ? 2 * room_ : wanted < least_room ? least_room : wanted;
    auto* const made = ::operator new(each* room);
    prefer_large_pages(made, each * room);
    if (used != 0) std::memcpy(made, bytes_, used * each);
    ::operator delete(bytes_);
    bytes_ = made;
    room_ = room;
  }
  void swap(plain_memory& other) {
    auto* const bytes = bytes_;
    auto const room = room_;
    bytes_ = other.bytes_, room_ = other.room_;
    other.bytes_ = bytes, other.room_ = room;
  }

  static constexpr std::size_t least_room = 4;

  void* bytes_ = nullptr;
  std::size_t room_ = 0;  ///< in elements
};

/// Whether an object may be moved as bytes: what may be copied so, and what says it of itself by a member type
/// `moves_as_bytes`, as it copies no more than it needs.
template <class T>
concept plain = std::is_trivially_copyable_v<T> || requires {
  typename T::moves_as_bytes;
};

/// A std::vector of elements that may be moved as bytes, but for its price: the engine keeps records of some forty
/// types, each of which a file pays for when it compiles (bench/compile_time.py, "the engine").
template <class T>
class plain_vector : plain_memory {
 public:
  using value_type = T;

  plain_vector() = default;
  explicit plain_vector(std::size_t size) { resize(size); }
  plain_vector(std::size_t size, T const& each) { resize(size, each); }
  plain_vector(plain_vector const& other) : plain_memory() { append(other); }
  plain_vector(plain_vector&& other) noexcept { swap(other); }
  plain_vector& operator=(plain_vector const& other) {
    if (this == &other) return *this;
    clear();
    append(other);
    return *this;
  }
  plain_vector& operator=(plain_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  void swap(plain_vector& other) noexcept {
    plain_memory::swap(other);
    auto const size = size_;
    size_ = other.size_;
    other.size_ = size;
  }

  [[nodiscard]] T* data() { return static_cast<T*>(bytes_); }
  [[nodiscard]] T const* data() const { return static_cast<T const*>(bytes_); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T const* begin() const { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] T const* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t at) { return data()[at]; }
  [[nodiscard]] T const& operator[](std::size_t at) const { return data()[at]; }
  [[nodiscard]] T& front() { return data()[0]; }
  [[nodiscard]] T const& front() const { return data()[0]; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] T const& back() const { return data()[size_ - 1]; }

  void push_back(T added) {  // by value: it may be one of these elements
    reserve(size_ + 1);
    ::new (static_cast<void*>(data() + size_++)) T(added);
  }
  T& emplace_back() {
    push_back(T{});
    return back();
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void reserve(std::size_t wanted) {
    static_assert(plain<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (wanted > room_) make_room(size_, wanted, sizeof(T));
  }
  void resize(std::size_t size) { resize(size, T{}); }
  void resize(std::size_t size, T each) {
    reserve(size);
    for (auto i = size_; i < size; ++i) ::new (static_cast<void*>(data() + i)) T(each);
    size_ = size;
  }
  void assign(std::size_t size, T each) {
    clear();
    resize(size, each);
  }
  void assign(span<T const> elements) {
    clear();
    append(elements);
  }
  /// Adds elements that are none of these.
  void append(span<T const> added) {
    reserve(size_ + added.size());
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (!added.empty()) std::memcpy(static_cast<void*>(data() + size_), added.data(), added.size_bytes());
      size_ += added.size();
    } else {
      for (auto const& each : added) ::new (static_cast<void*>(data() + size_++)) T(each);
    }
  }
  void erase_first(std::size_t count) {
    size_ -= count;
    if (size_ != 0) std::memmove(bytes_, data() + count, size_ * sizeof(T));
  }
  template <class Is>
  void erase_if(Is const& is) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (!is(data()[i])) data()[kept++] = data()[i];
    size_ = kept;
  }

 private:
  std::size_t size_ = 0;
};

}  // namespace fuse::inline v0::detail
