// SPDX-License-Identifier: BSL-1.0

// The kernels for bench/peers.py, which loads them beside the frameworks that it compares them with. Whatever is timed
// here is repeated here: a call through ctypes takes longer than a short kernel.
#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/skip_layer_norm.hpp>
#include <fuse/kernels/skip_rms_norm.hpp>

#include "activations.hpp"
#include "measure.hpp"

#include <ctime>
#include <string>
#include <string_view>

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

// The next of the arrays of a call.
template <class T>
T* next(void**& arrays) {
  return static_cast<T*>(*arrays++);
}

// Tables of BERT's size, sequences of 128 tokens.
constexpr std::size_t length = 128, words = 30522, positions = 512, segments = 2;

template <class Arguments, class Table, class Vector>
void set(Arguments& to, void**& arrays, std::size_t tokens, std::size_t columns, float epsilon, Table const& table,
         Vector const& vector) {
  auto const ids = [&] { return matrix_view<std::int32_t const>(next<std::int32_t>(arrays), tokens / length, length); };
  to.input_ids = ids();
  to.segment_ids = ids();
  to.word = table(words);
  to.position = table(positions);
  to.segment = table(segments);
  to.gamma = vector();
  to.beta = vector();
  to.y = {next<float>(arrays), tokens, columns};
  to.epsilon = epsilon;
}

double embed_seconds(void** arrays, std::size_t tokens, std::size_t columns, float epsilon, long count) {
  embed_layer_norm_arguments<float> arguments;
  set(
      arguments, arrays, tokens, columns, epsilon,
      [&](std::size_t rows) { return matrix_view<float const>(next<float>(arrays), rows, columns); },
      [&] { return std::span<float const>(next<float>(arrays), columns); });
  return seconds_of(count, [&] { return embed_layer_norm(arguments); });
}

double qembed_seconds(void** arrays, std::size_t tokens, std::size_t columns, float epsilon, long count) {
  static constexpr float scale[] = {0.02f};
  static constexpr std::uint8_t zero_point[] = {128};
  auto const table = [&](std::size_t rows) {
    return quantized_view<std::uint8_t const>{{next<std::uint8_t>(arrays), rows, columns}, scale, zero_point};
  };
  qembed_layer_norm_arguments<std::uint8_t> arguments;
  set(arguments, arrays, tokens, columns, epsilon, table, [&] { return table(1); });
  return seconds_of(count, [&] { return qembed_layer_norm(arguments); });
}

}  // namespace

extern "C" {

char const* bench_context() {
  static std::string const text = bench::describe_run({})["context"].dump();
  return text.c_str();
}

/// Seconds of `count` calls of a kernel on the arrays that bench/works.py lists for it, the result last; negative where
/// it refused them.
double bench_kernel(char const* kernel, void** arrays, std::size_t rows, std::size_t columns, float epsilon,
                    long count) {
  std::string_view const name(kernel);
  if (name == "embed_layer_norm") return embed_seconds(arrays, rows, columns, epsilon, count);
  if (name == "qembed_layer_norm") return qembed_seconds(arrays, rows, columns, epsilon, count);

  auto const matrix = [&] { return matrix_view<float>(next<float>(arrays), rows, columns); };
  auto const vector = [&] { return std::span<float const>(next<float>(arrays), columns); };
  matrix_view<float const> const x(next<float>(arrays), rows, columns);
  if (name == "layer_norm") {
    auto const scale = vector(), bias = vector();
    return seconds_of(count, [&, y = matrix()] { return layer_norm(x, scale, bias, y, epsilon); });
  }
  if (name == "rms_norm") {
    auto const scale = vector();
    return seconds_of(count, [&, y = matrix()] { return rms_norm(x, scale, y, epsilon); });
  }
  if (name == "skip_layer_norm") {
    auto const residual = matrix();
    auto const scale = vector(), bias = vector();
    return seconds_of(count, [&, sum = matrix(), y = matrix()] {
      return skip_layer_norm(x, residual, none, scale, bias, sum, y, epsilon);
    });
  }
  if (name == "skip_rms_norm") {
    auto const residual = matrix();
    auto const scale = vector();
    return seconds_of(
        count, [&, sum = matrix(), y = matrix()] { return skip_rms_norm(x, residual, none, scale, sum, y, epsilon); });
  }
  for (auto const& one : bench::activations) {
    if (name != one.name) continue;
    auto const up = one.formula == bench::activation_formula::swiglu ? matrix() : matrix_view<float>();
    return seconds_of(count, [&, y = matrix()] { return one.kernel(x, up, y); });
  }
  return -1;
}

/// Seconds of `count` calls of a function of up to twelve pointers, which is how a compiled graph's kernel is called
/// when no framework stands around it. It ignores those beyond its own parameters.
double bench_pointers(void (*function)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                                       void*),
                      void** a, long count) {
  double const before = processor_seconds();
  for (long i = 0; i < count; ++i) function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  return processor_seconds() - before;
}
}
