// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/element.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/view.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

namespace bits {
using namespace fuse::kernels;

/// How the arguments of one call lie in memory, and how it is executed: everything that its results do not depend on.
struct arrangement {
  static constexpr std::size_t all = 100;

  std::size_t argument = all;  ///< the one that begins past a line of 64 bytes; or all of them
  std::size_t elements = 0;    ///< how far past it
  std::size_t apart = 0;       ///< elements between rows
  bool in_place = false;
  output result = output::automatic;
  std::size_t ranges = 1;  ///< of rows, in which an executor takes them
  row_way way = row_way::automatic;
};

/// Calls the body for so many ranges, the last one first.
struct ranges {
  std::size_t number;

  template <class Body>
  void operator()(std::size_t count, std::size_t, Body const& body) const {
    for (std::size_t i = number; i-- > 0;) body(count * i / number, count * (i + 1) / number);
  }
};

/// The memory of one call; its arguments are numbered in the order in which they are asked for.
class room {
 public:
  explicit room(arrangement const& how) : how_(how) {}

  auto execution() const {
    on how(ranges{how_.ranges}, how_.result);
    how.way = how_.way;
    return how;
  }

  /// Rows `first` to `first + count` of a matrix without gaps.
  template <class T>
  matrix_view<T> rows(std::vector<T> const& source, std::size_t columns, std::size_t first, std::size_t count) {
    matrix_view<T> const view = fresh<T>(count, columns);
    for (std::size_t r = 0; r < count; ++r) {
      std::memcpy(view.data + r * view.row_stride, source.data() + (first + r) * columns, columns * sizeof(T));
    }
    return view;
  }
  template <class T>
  matrix_view<T> all_rows(std::vector<T> const& source, std::size_t columns) {
    return rows(source, columns, 0, source.size() / columns);
  }
  template <class T>
  std::span<T> vector(std::vector<T> const& source) {
    return {rows(source, source.size(), 0, 1).data, source.size()};
  }
  template <class T>
  matrix_view<T> fresh(std::size_t count, std::size_t columns) {
    bool const is_past = how_.argument == arrangement::all || how_.argument == number_;
    ++number_;
    std::size_t const past = is_past ? how_.elements : 0, stride = columns + how_.apart;
    auto* const data = static_cast<T*>(::operator new((past + count * stride) * sizeof(T), line));
    memory_.emplace_back(data);
    return {data + past, count, columns, stride};
  }
  std::span<float> statistics(std::size_t count) { return {fresh<float>(1, count).data, count}; }

 private:
  static constexpr std::align_val_t line{64};
  struct release {
    void operator()(void* memory) const { ::operator delete(memory, line); }
  };

  arrangement how_;
  std::size_t number_ = 0;
  std::vector<std::unique_ptr<void, release>> memory_;
};

/// What a call wrote for each row. One NaN is as good as another.
using results = std::vector<std::vector<std::uint32_t>>;

inline std::uint32_t bits_of(float value) { return value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fc00000u; }
template <class T>
std::uint32_t bits_of(T value) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(value));
  } else {
    return to_float(value) == to_float(value) ? value.bits : 0x7fc0u;
  }
}

template <class T>
void append(results& to, matrix_view<T> const& from) {
  to.resize(from.rows);
  for (std::size_t r = 0; r < from.rows; ++r) {
    T const* const row = from.data + r * from.row_stride;
    std::transform(row, row + from.columns, std::back_inserter(to[r]), [](T value) { return bits_of(value); });
  }
}
inline void append(results& to, std::span<float> of_rows) {
  for (std::size_t r = 0; r < of_rows.size(); ++r) to[r].push_back(bits_of(of_rows[r]));
}

/// Nearly normal numbers of mean 0 and deviation 1, the same ones with every compiler and library.
class numbers {
 public:
  explicit numbers(std::uint32_t seed) : random_(seed) {}

  float next() {
    std::int32_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<std::int32_t>(random_() >> 12);
    return static_cast<float>(sum - 6 * (1 << 20)) * 0x1p-20f;
  }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_()) % limit; }

 private:
  std::mt19937 random_;
};

}  // namespace bits
