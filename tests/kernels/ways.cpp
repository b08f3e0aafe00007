// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "random_case.hpp"

#include <cstring>
#include <fstream>

// Which way rows are gone through is chosen by the caches, or by the caller, and changes no bit.
namespace ways {
using namespace fuse::kernels;
using guarded_memory::guarded;

template <class T>
struct tensors {
  random_case::shape shape;
  guarded<T> x, scale, bias;

  explicit tensors(std::mt19937& random)
      : shape(random), x(shape.x_size(), false), scale(shape.columns, false), bias(shape.columns, true) {
    random_case::fill(x.span(), 3, 2, random);
    random_case::fill(scale.span(), 1, 0.25, random);
    random_case::fill(bias.span(), 0, 1, random);
  }

  // `norm(x, y, how)` of all rows, each way, against that of each row alone.
  template <class Norm>
  void check(output result, Norm const& norm) const {
    std::vector<T> alone(shape.columns);
    auto const row = [&](std::size_t r) { return x.data() + r * shape.x_stride; };
    for (row_way const way : row_ways) {
      guarded<T> y(shape.y_size(), true);
      on how(result);
      how.way = way;
      REQUIRE(norm(matrix_view<T const>(x.data(), shape.rows, shape.columns, shape.x_stride),
                   matrix_view(y.data(), shape.rows, shape.columns, shape.y_stride), how)
                  .ok());
      std::size_t different = 0;
      for (std::size_t r = 0; r < shape.rows; ++r) {
        REQUIRE(norm(matrix_view<T const>(row(r), 1, shape.columns), matrix_view(alone.data(), 1, shape.columns), on())
                    .ok());
        different += std::memcmp(alone.data(), y.data() + r * shape.y_stride, shape.columns * sizeof(T)) == 0 ? 0 : 1;
      }
      INFO("way " << static_cast<int>(way) << ", " << shape.rows << " rows of " << shape.columns);
      CHECK(different == 0);
      CHECK(y.kept([&](std::size_t i) { return i % shape.y_stride < shape.columns; }));
    }
  }
};

template <class T>
void check_norms(std::uint32_t seed) {
  std::mt19937 random(seed);
  INFO("seed " << seed);
  tensors<T> const t(random);
  output const result = seed % 3 == 0 ? output::not_read_soon : output::automatic;
  auto const layer = [&](auto const& scale, auto const& bias) {
    t.check(result, [&](auto x, auto y, auto how) { return layer_norm(x, scale, bias, y, 1e-5f, {}, how); });
  };
  auto const rms = [&](auto const& scale) {
    t.check(result, [&](auto x, auto y, auto how) { return rms_norm(x, scale, y, 1e-5f, {}, how); });
  };
  auto const scale = std::span(t.scale.data(), t.shape.columns), bias = std::span(t.bias.data(), t.shape.columns);
  switch (seed % 6) {
    case 0: return layer(scale, bias);
    case 1: return layer(none, bias);
    case 2: return layer(one_plus(scale), none);
    case 3: return layer(none, none);
    case 4: return rms(scale);
    default: return rms(none);
  }
}

TEST_CASE("every way through rows gives the same bits") {
  random_case::on_every_target([](std::uint32_t seed) {
    check_norms<float>(seed);
    check_norms<bfloat16>(seed);
    check_norms<float16>(seed);
  });
}

using detail::cache_sizes;
using detail::row_loops;
using detail::row_shape;
using detail::rows_from;

constexpr detail::target_vectors avx2{true, 16, 8}, avx512{true, 32, 16}, sse4{false, 16, 4};
constexpr row_loops layer_norm_of_floats{avx512, rows_from::given, 2, true, false};
constexpr row_loops layer_norm_of_halves{avx512, rows_from::given, 2, false, true};

constexpr row_way fastest(std::size_t columns, std::size_t first, row_loops const& loops = layer_norm_of_floats) {
  return fastest_way(loops, {.rows = 128, .columns = columns}, cache_sizes{.first = first << 10});
}

TEST_CASE("the way through rows follows the first cache") {
  STATIC_REQUIRE(fastest(768, 32) == row_way::twos_ahead);
  STATIC_REQUIRE(fastest(1024, 32) == row_way::one_ahead);
  STATIC_REQUIRE(fastest(1024, 48) == row_way::twos_ahead);
  STATIC_REQUIRE(fastest(2048, 32) == row_way::one_by_one);
  STATIC_REQUIRE(fastest(2049, 32) == row_way::blocks);
  STATIC_REQUIRE(fastest(2049, 64) == row_way::one_ahead);
}

TEST_CASE("long rows go without blocks where the second cache is large") {
  constexpr cache_sizes small{.first = 48 << 10}, large{.first = 48 << 10, .second = 2 << 20};
  row_shape const shape{.rows = 128, .columns = 4096};
  row_loops added = layer_norm_of_floats;
  added.source = rows_from::added;
  CHECK(fastest_way(layer_norm_of_floats, shape, small) == row_way::blocks);
  CHECK(fastest_way(layer_norm_of_floats, shape, large) == row_way::twos_ahead);
  CHECK(fastest_way(added, shape, large) == row_way::blocks);
}

TEST_CASE("the way through rows follows the registers where lanes of two rows do not fit") {
  row_loops narrow = layer_norm_of_floats;
  narrow.vectors = avx2;
  CHECK(fastest(768, 48, narrow) == row_way::one_ahead);
  narrow.sums = 1;
  CHECK(fastest(768, 48, narrow) == row_way::one_ahead);
  narrow.vectors = avx512;
  CHECK(fastest(768, 48, narrow) == row_way::twos_ahead);
}

TEST_CASE("a way that cannot be gone is the nearest before it") {
  auto const gone = [](row_way said, std::size_t columns) {
    return std::pair(detail::way_to_go<layer_norm_of_floats>(said, {.rows = 8, .columns = columns}),
                     detail::way_to_go<layer_norm_of_halves>(said, {.rows = 8, .columns = columns}));
  };
  CHECK(gone(row_way::widened_ahead, 1024) == std::pair(row_way::twos_ahead, row_way::widened_ahead));
  CHECK(gone(row_way::widened_ahead, 1025) == std::pair(row_way::twos_ahead, row_way::twos_ahead));
  CHECK(gone(row_way::twos, 1024) == std::pair(row_way::blocks, row_way::one_by_one));
  constexpr row_loops plain{sse4, rows_from::given, 2, true, false};
  for (row_way const way : row_ways) {
    CHECK(detail::way_to_go<plain>(way, {.rows = 8, .columns = 768}) == row_way::one_by_one);
  }
}

TEST_CASE("caches are those that Linux tells of this processor") {
  std::size_t told[4] = {};
  for (int index = 0;; ++index) {
    std::string const folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::size_t level = 0, kilobytes = 0;
    std::string type;
    if (!(std::ifstream(folder + "level") >> level) || !(std::ifstream(folder + "type") >> type)) break;
    if (level > 3 || type == "Instruction" || !(std::ifstream(folder + "size") >> kilobytes)) continue;
    told[level] = kilobytes << 10;
  }
  cache_sizes const& known = detail::this_processor();
  if (told[1] != 0) CHECK(known.first == told[1]);
  if (told[2] != 0) CHECK(known.second == told[2]);
  if (told[3] != 0) CHECK(known.third == told[3]);
}

}  // namespace ways
