// SPDX-License-Identifier: BSL-1.0

// The norms on each target of one build, and which targets that has. Arguments: `only=NAME`, `with=NAME` or
// `without=NAME`. Ends with 77 where the machine does not run what is asked for.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {
using namespace fuse::kernels;

constexpr int skipped = 77;

template <class T>
double worst_error(std::size_t columns) {
  std::size_t const rows = 3;
  std::vector<T> x(rows * columns), y(x.size()), z(x.size());
  std::vector<float> scale(columns), bias(columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = from_float<T>(100 + static_cast<float>(i * 37 % 101));
  for (std::size_t i = 0; i < columns; ++i) {
    scale[i] = 1 + static_cast<float>(i % 5);
    bias[i] = static_cast<float>(i % 3);
  }
  matrix_view const input(x.data(), rows, columns);
  if (!layer_norm(input, scale, bias, matrix_view(y.data(), rows, columns), 1e-3f).ok() ||
      !rms_norm(input, one_plus(scale), matrix_view(z.data(), rows, columns), 1e-3f).ok()) {
    return HUGE_VAL;
  }

  double worst = 0;
  auto const compare = [&worst](T computed, double expected) {
    double const error = std::abs(static_cast<double>(to_float(computed)) - expected) / (1 + std::abs(expected));
    if (error > worst || std::isnan(error)) worst = error;  // nothing is larger than a NaN: it stays
  };
  for (std::size_t row = 0; row < rows; ++row) {
    double mean = 0, variance = 0, mean_square = 0;
    auto const count = static_cast<double>(columns);
    auto const at = [&](std::size_t i) { return static_cast<double>(to_float(x[row * columns + i])); };
    for (std::size_t i = 0; i < columns; ++i) mean += at(i) / count;
    for (std::size_t i = 0; i < columns; ++i) {
      variance += (at(i) - mean) * (at(i) - mean) / count;
      mean_square += at(i) * at(i) / count;
    }
    double const epsilon = static_cast<double>(1e-3f);
    for (std::size_t i = 0; i < columns; ++i) {
      double const s = static_cast<double>(scale[i]), b = static_cast<double>(bias[i]);
      compare(y[row * columns + i], (at(i) - mean) / std::sqrt(variance + epsilon) * s + b);
      compare(z[row * columns + i], at(i) / std::sqrt(mean_square + epsilon) * (1 + s));
    }
  }
  return worst;
}

bool has(std::string_view name) {
  auto const names = target_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool machine_runs(std::string_view name) {
#if defined(__x86_64__) || defined(__i386__)
  if (name == "AVX2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (name == "AVX3") return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (name == "AVX3_DL") return __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi2");
#endif
  return !name.empty();
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    std::string_view const word = words[i], name = word.substr(word.find('=') + 1);
    bool const without = word.starts_with("without"), only = word.starts_with("only");
    if (!without && !machine_runs(name)) return skipped;
    if (has(name) == without || (only && target_names().size() != 1)) {
      std::printf("%s, but the build has", words[i]);
      for (auto const other : target_names()) std::printf(" %s", other.data());
      std::printf("\n");
      return 1;
    }
  }
  int status = 0;
  for (auto const name : target_names()) {
    if (!use_target(name)) status = 1;
    for (std::size_t const columns : {1u, 7u, 16u, 33u, 1000u}) {
      double const full = worst_error<float>(columns), half = worst_error<bfloat16>(columns);
      if (full <= 1e-6 && half <= 0x1p-8) continue;
      std::printf("%s: %zu columns, errors %g and %g\n", name.data(), columns, full, half);
      status = 1;
    }
    std::printf("%s\n", name.data());
  }
  return status;
}
