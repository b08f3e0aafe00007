// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace corpus {

/// Ends what cannot go on: with an exception, or, where there are none, the program.
[[noreturn]] inline void fail(std::string const& why) {
#ifdef __cpp_exceptions
  throw std::runtime_error(why);
#else
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
#endif
}

/// A dense array of doubles, row-major.
struct array {
  std::vector<std::int64_t> shape{};
  std::vector<double> data{};
  bool integers = false;

  [[nodiscard]] std::size_t rank() const { return shape.size(); }
};

[[nodiscard]] inline std::size_t count_of(std::vector<std::int64_t> const& shape) {
  std::size_t count = 1;
  for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

/// The multi-index of element `at`.
[[nodiscard]] inline std::vector<std::int64_t> position(std::size_t at, std::vector<std::int64_t> const& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (auto axis = shape.size(); axis-- > 0;) {
    index[axis] = static_cast<std::int64_t>(at) % shape[axis];
    at /= static_cast<std::size_t>(shape[axis]);
  }
  return index;
}

/// The element of an array of `shape` that broadcasting puts at `index`.
[[nodiscard]] inline std::size_t broadcast_offset(std::vector<std::int64_t> const& index,
                                                  std::vector<std::int64_t> const& shape) {
  std::size_t offset = 0;
  auto const skip = index.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    auto const i = shape[axis] == 1 ? 0 : index[axis + skip];
    offset = offset * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(i);
  }
  return offset;
}

/// Fails where the shapes do not fit.
[[nodiscard]] inline std::vector<std::int64_t> broadcast_shape(std::vector<std::int64_t> a,
                                                               std::vector<std::int64_t> b) {
  if (a.size() < b.size()) a.swap(b);
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto& extent = a[a.size() - b.size() + i];
    if (extent != b[i] && extent != 1 && b[i] != 1) fail("operands do not broadcast");
    if (extent == 1) extent = b[i];
  }
  return a;
}

template <class F>
[[nodiscard]] array map(array const& a, F f) {
  array result = a;
  for (auto& x : result.data) x = f(x);
  return result;
}

template <class F>
[[nodiscard]] array combine(array const& a, array const& b, F f) {
  array result{broadcast_shape(a.shape, b.shape), {}, a.integers && b.integers};
  auto const count = count_of(result.shape);
  for (std::size_t at = 0; at < count; ++at) {
    auto const index = position(at, result.shape);
    result.data.push_back(f(a.data[broadcast_offset(index, a.shape)], b.data[broadcast_offset(index, b.shape)]));
  }
  return result;
}

/// The number of an axis from the first; a negative one counts from the end. Fails where there is none.
[[nodiscard]] inline std::size_t axis_of(array const& a, std::int64_t axis) {
  auto const rank = static_cast<std::int64_t>(a.rank());
  if (axis < -rank || axis >= rank) fail("an axis that is none");
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// Folds `f` over the axes (negative ones count from the end; none: all).
template <class F>
[[nodiscard]] array fold(array const& a, std::vector<std::int64_t> axes, bool keepdims, double start, F f) {
  std::vector<bool> reduced(a.rank(), axes.empty());
  for (auto const axis : axes) reduced[axis_of(a, axis)] = true;
  array kept;
  for (std::size_t i = 0; i < a.rank(); ++i) kept.shape.push_back(reduced[i] ? 1 : a.shape[i]);
  kept.data.assign(count_of(kept.shape), start);
  for (std::size_t at = 0; at < a.data.size(); ++at) {
    auto& x = kept.data[broadcast_offset(position(at, a.shape), kept.shape)];
    x = f(x, a.data[at]);
  }
  if (!keepdims)
    for (auto i = a.rank(); i-- > 0;)
      if (reduced[i]) kept.shape.erase(kept.shape.begin() + static_cast<std::ptrdiff_t>(i));
  return kept;
}

[[nodiscard]] inline array sum(array const& a, std::vector<std::int64_t> const& axes, bool keepdims) {
  return fold(a, axes, keepdims, 0, [](double x, double y) { return x + y; });
}
[[nodiscard]] inline array mean(array const& a, std::vector<std::int64_t> const& axes, bool keepdims) {
  auto result = sum(a, axes, keepdims);
  double const count = static_cast<double>(a.data.size()) / static_cast<double>(result.data.size());
  for (auto& x : result.data) x /= count;
  return result;
}

}  // namespace corpus
