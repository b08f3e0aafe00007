// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "random_case.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

// Results of 16 MiB and more, smaller ones where the third cache is small, and those that nobody reads soon are written
// past the caches, where they begin and end as they like.
namespace streamed {
using namespace fuse::kernels;
using guarded_memory::guarded;

template <class T, class Norm>
void check(std::size_t rows, std::size_t columns, std::size_t stride, Norm const& norm) {
  std::mt19937 random(19);
  std::size_t const size = (rows - 1) * stride + columns;
  std::vector<T> x(size);
  std::size_t const drawn = std::min<std::size_t>(size, 1 << 16);
  for (std::size_t i = 0; i < drawn; ++i) x[i] = from_float<T>(static_cast<float>(random() % 4096) / 1024.0f);
  for (std::size_t i = drawn; i < size; i += drawn)
    std::copy_n(x.begin(), std::min(drawn, size - i), x.begin() + static_cast<std::ptrdiff_t>(i));
  guarded<T> y(size, true);
  REQUIRE(
      norm(matrix_view<T const>(x.data(), rows, columns, stride), matrix_view(y.data(), rows, columns, stride)).ok());
  // In place nothing goes past the caches.
  matrix_view const in_place(x.data(), rows, columns, stride);
  REQUIRE(norm(in_place, in_place).ok());
  std::size_t different = 0;
  for (std::size_t at = 0; at < size; at += stride) {
    different += std::memcmp(y.data() + at, x.data() + at, columns * sizeof(T)) == 0 ? 0 : 1;
  }
  CHECK(different == 0);
  CHECK(y.kept([&](std::size_t i) { return i % stride < columns; }));
}

TEST_CASE("large results are written past the caches, and are the same") {
  auto const layer_norm = [](auto x, auto y) { return fuse::kernels::layer_norm(x, none, none, y); };
  auto const rms_norm = [](auto x, auto y) { return fuse::kernels::rms_norm(x, none, y); };
  constexpr std::size_t large = std::size_t{16} << 20;
  static_assert(1024 * 4099 * sizeof(float) >= large && (1 << 20) * 5 * sizeof(float) >= large);
  random_case::for_each_target([&] {
    if (one_case_in != 1 && target_name() != target_names().front()) return;
    check<float>(1024, 4099, 4107, layer_norm);
    // Under sanitizers not a million rows.
    if (one_case_in == 1) check<float>(1 << 20, 5, 5, rms_norm);
  });
}

TEST_CASE("results that nobody reads soon are written past the caches, and are the same") {
  auto const layer_norm = [](auto x, auto y) {
    return fuse::kernels::layer_norm(x, none, none, y, 1e-5f, {}, on(output::not_read_soon));
  };
  auto const rms_norm = [](auto x, auto y) {
    return fuse::kernels::rms_norm(x, none, y, 1e-5f, {}, on(output::not_read_soon));
  };
  random_case::for_each_target([&] {
    for (std::size_t const columns : {1u, 31u, 33u, 131u, 1027u, 2611u}) {
      check<float>(40, columns, columns + 3, layer_norm);
      check<bfloat16>(40, columns, columns + 3, layer_norm);
      check<bfloat16>(40, columns, columns + 3, rms_norm);
      check<float16>(40, columns, columns + 3, layer_norm);
      check<float16>(40, columns, columns + 3, rms_norm);
    }
  });
}

TEST_CASE("results are written past the caches where a quarter of the third one is too small for them") {
  using detail::is_streamed;
  constexpr std::size_t mib = std::size_t{1} << 20;
  for (std::size_t const bytes : {std::size_t{0}, 4 * mib - 1, 4 * mib, 8 * mib, 16 * mib - 1, 16 * mib, 1024 * mib}) {
    CHECK(is_streamed(output::not_read_soon, false, bytes));
    CHECK_FALSE(is_streamed(output::not_read_soon, true, bytes));
    CHECK_FALSE(is_streamed(output::read_soon, false, bytes));
    CHECK_FALSE(is_streamed(output::automatic, true, bytes));
  }
  CHECK_FALSE(is_streamed(output::automatic, false, 4 * mib - 1));
  CHECK(is_streamed(output::automatic, false, 16 * mib));
  std::size_t const third = detail::this_processor().third;
  for (std::size_t bytes = 4 * mib; bytes < 16 * mib; bytes += mib) {
    CHECK(is_streamed(output::automatic, false, bytes) == (third != 0 && bytes >= third / 4));
  }
}

}  // namespace streamed
