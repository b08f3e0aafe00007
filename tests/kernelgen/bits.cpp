// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>
#include <fuse/kernels/target.hpp>

#include <sampled.hpp>

#include "../kernels/random_case.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// A row's bits are a function of the row.
namespace bits {
using namespace fuse::kernels;
using namespace fuse::dsl;

constexpr auto x = var<"x">, scale = var<"scale">, bias = var<"bias">;
constexpr auto centred = x - mean(x);
constexpr auto layer_norm_formula = centred * rsqrt(mean(square(centred)) + scalar<"epsilon">) * scale + bias;
// All kinds of folds, products that meet sums, functions that end in products.
constexpr auto mixed = exp(x - reduce_max(x)) + tanh(x) * scale - log(1 + square(x)) / sum(sigmoid(x)) +
                       erf(x) * mean(x * scale) + bias * op<"Sin">(x);

// Rows of every kind: ordinary, far from 0, constant, of numbers whose squares float does not hold, not finite.
inline void fill_row(std::span<float> row, std::size_t kind, std::mt19937& random) {
  double const centers[] = {0, 1e5, -3, 0, 0}, deviations[] = {1, 1, 0, 1e25, 1e-25};
  random_case::fill(row, centers[kind % 5], deviations[kind % 5], random);
  if (kind % 7 == 6) row[row.size() / 2] = kind % 2 == 0 ? NAN : HUGE_VALF;
}

inline bool same_bits(float const* a, float const* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

// Divides into as many ranges, the last first.
struct ranges {
  std::size_t count;

  template <class Body>
  void operator()(std::size_t rows, std::size_t, Body const& body) const {
    for (std::size_t i = count; i-- > 0;) body(rows * i / count, rows * (i + 1) / count);
  }
};

template <auto const& Expression>
struct one_kernel {
  std::vector<float> scale, bias;

  template <class... How>
  void run(matrix_view<float const> from, matrix_view<float> to, How const&... how) const {
    fuse::kernels::status done;
    if constexpr (&Expression == &layer_norm_formula) {
      done = fuse::kernel<Expression>(to, fuse::arg<"x">(from), fuse::arg<"scale">(scale), fuse::arg<"bias">(bias),
                                      fuse::arg<"epsilon">(1e-5f), how...);
    } else {
      done = fuse::kernel<Expression>(to, fuse::arg<"x">(from), fuse::arg<"scale">(scale), fuse::arg<"bias">(bias),
                                      how...);
    }
    INFO(done.message());
    REQUIRE(done.ok());
  }
};

template <auto const& Expression>
void check() {
  constexpr std::size_t rows = 35 / one_case_in + 3;
  for (std::size_t const columns : {1u, 2u, 7u, 16u, 31u, 33u, 100u, 768u, 1029u, 2500u}) {
    if (one_case_in > 1 && columns != 7 && columns != 33 && columns != 1029) continue;
    std::mt19937 random(static_cast<std::uint32_t>(columns));
    std::size_t const stride = columns + 5;
    std::vector<float> from(rows * stride + 16), expected(rows * columns), y(rows * stride + 16);
    one_kernel<Expression> kernel{std::vector<float>(columns), std::vector<float>(columns)};
    random_case::fill(std::span(kernel.scale), 1, 0.5, random);
    random_case::fill(std::span(kernel.bias), 0, 0.5, random);
    for (std::size_t r = 0; r < rows; ++r) fill_row({from.data() + r * stride, columns}, r, random);

    // Each row alone, on the best target: what all others give, too, as far as they have fused multiply-add.
    REQUIRE(use_target(target_names().front()));
    for (std::size_t r = 0; r < rows; ++r) {
      kernel.run({from.data() + r * stride, 1, columns}, {expected.data() + r * columns, 1, columns});
    }
    for (auto const name : target_names()) {
      REQUIRE(use_target(name));
      INFO(name << ", " << columns << " columns");
      if (name.substr(0, 3) != "AVX") {
        for (std::size_t r = 0; r < rows; ++r) {
          kernel.run({from.data() + r * stride, 1, columns}, {expected.data() + r * columns, 1, columns});
        }
      }
      auto const check_rows = [&](float const* result, std::size_t result_stride) {
        for (std::size_t r = 0; r < rows; ++r) {
          INFO("row " << r);
          CHECK(same_bits(result + r * result_stride, expected.data() + r * columns, columns));
        }
      };
      kernel.run({from.data(), rows, columns, stride}, {y.data(), rows, columns, columns});
      check_rows(y.data(), columns);
      kernel.run({from.data(), rows, columns, stride}, {y.data(), rows, columns, stride}, on(output::not_read_soon));
      check_rows(y.data(), stride);
      for (std::size_t const count : {1u, 2u, 5u}) {
        ranges const executor{count};
        kernel.run({from.data(), rows, columns, stride}, {y.data(), rows, columns, stride}, on(executor));
        check_rows(y.data(), stride);
      }
      for (std::size_t offset = 1; offset < 16; offset += 1 + one_case_in) {
        std::memcpy(y.data() + offset, from.data(), rows * stride * sizeof(float));
        matrix_view<float> const in_place(y.data() + offset, rows, columns, stride);
        kernel.run(in_place, in_place);
        check_rows(y.data() + offset, stride);
      }
    }
  }
  REQUIRE(use_target(target_names().front()));
}

TEST_CASE("Rows alone, in batches, at any address, divided, on all targets: a norm") { check<layer_norm_formula>(); }
TEST_CASE("... and all kinds of folds and functions") { check<mixed>(); }

// One number of all bits of results, which compilers, flags and instruction sets with fused multiply-add agree on.
TEST_CASE("A checksum") {
  std::uint32_t state = 12345;
  auto const fill = [&](std::vector<float>& all) {
    for (float& one : all) {
      state = state * 1664525u + 1013904223u;
      one = static_cast<float>(state >> 8) * 0x1p-22f - 2;
    }
  };
  for (auto const name : target_names()) {
    if (name.substr(0, 3) != "AVX") continue;
    REQUIRE(use_target(name));
    INFO(name);
    state = 12345;
    std::uint64_t sum = 0;
    for (std::size_t const columns : {1u, 3u, 17u, 100u, 768u, 1100u}) {
      std::vector<float> from(7 * columns), y(from.size()), factors(columns), addends(columns);
      fill(from);
      fill(factors);
      fill(addends);
      matrix_view<float const> const rows(from.data(), 7, columns);
      matrix_view<float> const result(y.data(), 7, columns);
      auto const add = [&] {
        for (float const one : y) sum = sum * 1099511628211u + std::bit_cast<std::uint32_t>(one);
      };
      one_kernel<layer_norm_formula>{factors, addends}.run(rows, result);
      add();
      one_kernel<mixed>{factors, addends}.run(rows, result);
      add();
    }
    CHECK(sum == 0x3c6f4fef36f9ff38u);
  }
  REQUIRE(use_target(target_names().front()));
}

}  // namespace bits
