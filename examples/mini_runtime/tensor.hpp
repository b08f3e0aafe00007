// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

namespace mini {

using shape = std::vector<std::int64_t>;
using floats = std::vector<float>;
using integers = std::vector<std::int64_t>;  // all integer types: what fits into the others fits here
using booleans = std::vector<std::uint8_t>;  // and unsigned integers of 8 bits
using signed_bytes = std::vector<std::int8_t>;

/// A dense row-major tensor. Elements are never changed once they are in a tensor, so tensors share them.
class tensor {
 public:
  shape dims{};

  tensor() = default;
  template <class T>
  tensor(shape dims_, std::vector<T> elements)
      : dims(std::move(dims_)), elements_(std::make_shared<storage const>(std::move(elements))) {}

  /// The same elements in another shape.
  [[nodiscard]] tensor reshaped(shape to) const {
    tensor made = *this;
    made.dims = std::move(to);
    return made;
  }

  template <class T>
  [[nodiscard]] std::vector<T> const& as() const {
    return std::get<std::vector<T>>(*elements_);
  }
  template <class T>
  [[nodiscard]] bool is() const {
    return elements_ && std::holds_alternative<std::vector<T>>(*elements_);
  }
  /// Calls `f` with the vector of elements.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), *elements_);
  }
  [[nodiscard]] explicit operator bool() const { return elements_ != nullptr; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }

 private:
  using storage = std::variant<floats, integers, booleans, signed_bytes>;
  std::shared_ptr<storage const> elements_{};
};

[[nodiscard]] inline std::int64_t product(shape::const_iterator from, shape::const_iterator to) {
  return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
}
[[nodiscard]] inline std::int64_t count(shape const& dims) { return product(dims.begin(), dims.end()); }

/// An axis counted from the end is negative.
[[nodiscard]] inline std::int64_t from_front(std::int64_t axis, std::int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

}  // namespace mini
