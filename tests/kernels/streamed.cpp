// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "random_case.hpp"

// Results of 16 MiB and more are written past the caches, where they begin and end as they like.
namespace streamed {
using namespace fuse::kernels;
using guarded_memory::guarded;

template <class Norm>
void check(std::size_t rows, std::size_t columns, std::size_t stride, Norm const& norm) {
  std::mt19937 random(19);
  std::size_t const size = (rows - 1) * stride + columns;
  REQUIRE(rows * columns * sizeof(float) >= std::size_t{16} << 20);
  std::vector<float> x(size);
  for (float& value : x) value = static_cast<float>(random() % 4096) / 1024.0f;
  guarded<float> y(size, true);
  REQUIRE(norm(matrix_view<float const>(x.data(), rows, columns, stride), matrix_view(y.data(), rows, columns, stride))
              .ok());
  // In place nothing goes past the caches.
  matrix_view const in_place(x.data(), rows, columns, stride);
  REQUIRE(norm(in_place, in_place).ok());
  std::size_t different = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = r * stride; i < r * stride + columns; ++i) different += y[i] == x[i] ? 0 : 1;
  }
  CHECK(different == 0);
  CHECK(y.kept([&](std::size_t i) { return i % stride < columns; }));
}

TEST_CASE("large results are written past the caches, and are the same") {
  random_case::for_each_target([&] {
    check(1024, 4099, 4107, [](auto x, auto y) { return fuse::kernels::layer_norm(x, none, none, y); });
    check(1 << 20, 5, 5, [](auto x, auto y) { return fuse::kernels::rms_norm(x, none, y); });
  });
}

}  // namespace streamed
