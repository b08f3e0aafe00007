// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/quantize.hpp>

#include "random_case.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

namespace quantize {
using namespace fuse::kernels;
namespace k = fuse::kernels;
using guarded_memory::guarded;

// All memory between guard pages; nothing is written but the columns of the result.
template <class Q, class Y>
void check_dequantize(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_case::shape const shape(random);
  bool const at_end = random() % 2 != 0;
  INFO("seed " << seed << ", " << target_name() << ", " << shape.rows << " x " << shape.columns);
  guarded<Q> q(shape.x_size(), at_end);
  guarded<Y> y(shape.y_size(), at_end);
  for (Q& value : q.span()) value = static_cast<Q>(random());
  q.make_readonly();
  float const scale = static_cast<float>(random() % 1000) / 333.0f - 1.0f;
  Q const zero_point = static_cast<Q>(random());
  REQUIRE(dequantize(quantized_view<Q const>{{q.data(), shape.rows, shape.columns, shape.x_stride},
                                             std::span(&scale, 1),
                                             std::span(&zero_point, 1)},
                     matrix_view(y.data(), shape.rows, shape.columns, shape.y_stride))
              .ok());
  bool same = true;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t i = 0; i < shape.columns; ++i) {
      Y const expected = from_float<Y>(static_cast<float>(q[r * shape.x_stride + i] - zero_point) * scale);
      same = same && to_float(y[r * shape.y_stride + i]) == to_float(expected);
    }
  }
  CHECK(same);
  CHECK(y.kept([&](std::size_t i) { return i % shape.y_stride < shape.columns; }));
}

TEST_CASE("dequantize: the formula, rounded") {
  random_case::on_every_target(check_dequantize<std::int8_t, float>);
  random_case::on_every_target(check_dequantize<std::uint8_t, float>);
  random_case::on_every_target(check_dequantize<std::uint8_t, bfloat16>);
  random_case::on_every_target(check_dequantize<std::int8_t, float16>);
}

template <class Q>
Q quantized(double x, double scale, int zero_point) {
  using limits = std::numeric_limits<Q>;
  if (std::isnan(x)) return static_cast<Q>(zero_point);
  // The quotient is a float, as everything is.
  double const rounded = std::nearbyint(static_cast<double>(static_cast<float>(x / scale))) + zero_point;
  return static_cast<Q>(std::clamp<double>(rounded, limits::min(), limits::max()));
}

template <class X, class Q>
void check_quantize(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_case::shape const shape(random);
  bool const at_end = random() % 2 != 0;
  INFO("seed " << seed << ", " << target_name() << ", " << shape.rows << " x " << shape.columns);
  guarded<X> x(shape.x_size(), at_end);
  guarded<Q> q(shape.y_size(), at_end);
  // A scale of a power of two makes ties.
  float const scale = random() % 2 == 0 ? 0.25f : 0.013f;
  float const special[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, -0.0f, 1e-40f, 0.375f, -0.375f, 0.125f, -0.125f};
  for (X& value : x.span()) {
    bool const plain = random() % 8 != 0;
    float const number = static_cast<float>(random() % 4096) * scale / 8 - 256 * scale;
    value = from_float<X>(plain ? number : special[random() % std::size(special)]);
  }
  x.make_readonly();
  Q const zero_point = static_cast<Q>(random());
  REQUIRE(k::quantize(matrix_view<X const>(x.data(), shape.rows, shape.columns, shape.x_stride),
                      quantized_view<Q>{{q.data(), shape.rows, shape.columns, shape.y_stride},
                                        std::span(&scale, 1),
                                        std::span(&zero_point, 1)})
              .ok());
  bool same = true;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t i = 0; i < shape.columns; ++i) {
      same = same && q[r * shape.y_stride + i] == quantized<Q>(random_case::value(x[r * shape.x_stride + i]),
                                                               static_cast<double>(scale), zero_point);
    }
  }
  CHECK(same);
  CHECK(q.kept([&](std::size_t i) { return i % shape.y_stride < shape.columns; }));
}

TEST_CASE("quantize: to the nearest, ties to even, within what the type holds") {
  random_case::on_every_target(check_quantize<float, std::int8_t>);
  random_case::on_every_target(check_quantize<float, std::uint8_t>);
  random_case::on_every_target(check_quantize<bfloat16, std::uint8_t>);
  random_case::on_every_target(check_quantize<float16, std::int8_t>);
}

TEST_CASE("quantize: what was dequantized comes back") {
  std::array<std::uint8_t, 256> q, back{};
  std::iota(q.begin(), q.end(), std::uint8_t{0});
  std::array<float, 256> y;
  float const scale = 0.0123f;
  std::uint8_t const zero_point = 117;
  std::span const scales(&scale, 1);
  std::span const zero_points(&zero_point, 1);
  REQUIRE(dequantize(quantized_view<std::uint8_t>{{q.data(), 4, 64}, scales, zero_points}, matrix_view(y.data(), 4, 64))
              .ok());
  REQUIRE(
      k::quantize(matrix_view(y.data(), 4, 64), quantized_view<std::uint8_t>{{back.data(), 4, 64}, scales, zero_points})
          .ok());
  CHECK(back == q);
}

TEST_CASE("quantize: what is wrong is said in one sentence") {
  std::array<float, 8> x{};
  std::array<std::uint8_t, 8> q{};
  std::array<float, 2> scale{1, 1};
  std::array<std::uint8_t, 2> zero_point{};
  matrix_view const xs(x.data(), 2, 4);
  auto const view = [&](std::size_t rows, std::size_t scales, std::size_t zero_points) {
    return quantized_view<std::uint8_t>{
        {q.data(), rows, 4}, std::span(scale.data(), scales), std::span(zero_point.data(), zero_points)};
  };
  CHECK(dequantize(view(1, 1, 1), xs).message() == "dequantize: y has 2 rows, expected 1 as q has");
  CHECK(dequantize(view(2, 2, 1), xs).message() == "dequantize: q.scale has 2 elements, expected 1");
  CHECK(dequantize(view(2, 1, 0), xs).message() == "dequantize: q.zero_point has 0 elements, expected 1");
  CHECK(k::quantize(xs, view(2, 0, 1)).message() == "quantize: q.scale has 0 elements, expected 1");
  CHECK(k::quantize(xs, view(2, 1, 2)).message() == "quantize: q.zero_point has 2 elements, expected 1");
  CHECK(k::quantize(xs, view(1, 1, 1)).message() == "quantize: q has 1 rows, expected 2 as x has");
  matrix_view const shared(reinterpret_cast<float*>(q.data()), 2, 1);
  CHECK(dequantize(
            quantized_view<std::uint8_t>{{q.data(), 2, 1}, std::span(scale.data(), 1), std::span(zero_point.data(), 1)},
            shared)
            .message() == "dequantize: y overlaps q, expected no common memory");
  for (float const wrong : {0.0f, -1.0f, NAN, INFINITY}) {
    scale[0] = wrong;
    CHECK(k::quantize(xs, view(2, 1, 1)).what() == fault::scale);
  }
  scale[0] = 0;
  CHECK(k::quantize(xs, view(2, 1, 1)).message() == "quantize: q.scale is 0, expected a finite number above 0");
}

}  // namespace quantize
