// SPDX-License-Identifier: BSL-1.0

// The kernels for bench/peers.py, which loads them beside the frameworks that it compares them with. Whatever is timed
// here is repeated here: a call through ctypes takes longer than a short kernel.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "measure.hpp"

#include <ctime>
#include <string>

namespace {
using namespace fuse::kernels;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Call>
double seconds_of(long count, Call const& call) {
  if (!call().ok()) return -1;
  double const before = processor_seconds();
  for (long i = 0; i < count; ++i) static_cast<void>(call());
  return processor_seconds() - before;
}

}  // namespace

extern "C" {

char const* bench_context() {
  static std::string const text = bench::describe_run({})["context"].dump();
  return text.c_str();
}

/// Seconds of `count` calls of "layer_norm" or "rms_norm" on floats; negative where the kernel refused its arguments.
double bench_norm(char const* kernel, float const* x, float const* scale, float const* bias, float* y, std::size_t rows,
                  std::size_t columns, float epsilon, long count) {
  matrix_view<float const> const input(x, rows, columns);
  matrix_view<float> const output(y, rows, columns);
  std::span<float const> const scales(scale, columns), biases(bias, columns);
  if (std::string_view(kernel) == "layer_norm") {
    return seconds_of(count, [&] { return layer_norm(input, scales, biases, output, epsilon); });
  }
  if (std::string_view(kernel) == "rms_norm") {
    return seconds_of(count, [&] { return rms_norm(input, scales, output, epsilon); });
  }
  return -1;
}

/// Seconds of `count` calls of a function of six pointers, which is how a compiled graph's kernel is called when no
/// framework stands around it.
double bench_pointers(void (*function)(void*, void*, void*, void*, void*, void*), void** arguments, long count) {
  double const before = processor_seconds();
  for (long i = 0; i < count; ++i) {
    function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  }
  return processor_seconds() - before;
}
}
