// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mini {

/// Makes room, from the begin of a line of the caches on, for numbers that are written next, and does not set them
/// first.
template <class T>
struct unset : std::allocator<T> {
  static constexpr std::align_val_t line{64};

  template <class U>
  struct rebind {
    using other = unset<U>;
  };
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* at, std::size_t) { ::operator delete(at, line); }
  template <class... Arguments>
  void construct(T* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(at)) T;
    else
      ::new (static_cast<void*>(at)) T(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using elements = std::vector<T, std::conditional_t<std::is_same_v<T, float>, unset<T>, std::allocator<T>>>;

using shape = std::vector<std::int64_t>;
using floats = elements<float>;           // halves, too
using integers = elements<std::int64_t>;  // all integer types: what fits into the others fits here
using booleans = elements<std::uint8_t>;  // and unsigned integers of 8 bits
using signed_bytes = elements<std::int8_t>;

/// A dense row-major tensor. Elements are never changed once they are in a tensor, so tensors share them.
class tensor {
 public:
  shape dims{};

  tensor() = default;
  template <class T, class Allocator>
  tensor(shape dims_, std::vector<T, Allocator> all)
      : dims(std::move(dims_)), elements_(std::make_shared<storage const>(std::move(all))) {}

  /// The same elements in another shape.
  [[nodiscard]] tensor reshaped(shape to) const {
    tensor made = *this;
    made.dims = std::move(to);
    return made;
  }

  template <class T>
  [[nodiscard]] elements<T> const& as() const {
    return std::get<elements<T>>(*elements_);
  }
  template <class T>
  [[nodiscard]] bool is() const {
    return elements_ && std::holds_alternative<elements<T>>(*elements_);
  }
  /// Calls `f` with the vector of elements.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), *elements_);
  }
  [[nodiscard]] explicit operator bool() const { return elements_ != nullptr; }
  [[nodiscard]] bool shares(tensor const& with) const { return elements_ == with.elements_; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  [[nodiscard]] std::size_t bytes() const {
    return elements_ ? visit([](auto const& all) { return all.size() * sizeof(all[0]); }) : 0;
  }

 private:
  using storage = std::variant<floats, integers, booleans, signed_bytes>;
  std::shared_ptr<storage const> elements_{};
};

using tensors = std::vector<tensor>;

[[nodiscard]] inline std::int64_t product(shape::const_iterator from, shape::const_iterator to) {
  return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
}
[[nodiscard]] inline std::int64_t count(shape const& dims) { return product(dims.begin(), dims.end()); }

/// An axis counted from the end is negative.
[[nodiscard]] inline std::int64_t from_front(std::int64_t axis, std::int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

}  // namespace mini
