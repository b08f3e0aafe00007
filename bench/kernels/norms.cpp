// SPDX-License-Identifier: BSL-1.0

// The norms against a copy of the same bytes and against plain loops. Compare within one run:
//   bench_kernels --benchmark_enable_random_interleaving=true --benchmark_repetitions=30 --benchmark_min_time=0.02
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "autovectorised.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

namespace {
using namespace fuse::kernels;

template <class T>
struct tensors {
  std::size_t rows, columns;
  std::vector<T> x, y, scale, bias;

  explicit tensors(benchmark::State const& state)
      : rows(static_cast<std::size_t>(state.range(0))), columns(static_cast<std::size_t>(state.range(1))) {
    std::uint32_t random = 1;
    for (auto* const part : {&x, &y}) part->resize(rows * columns);
    for (auto* const part : {&scale, &bias}) part->resize(columns);
    for (auto* const part : {&x, &y, &scale, &bias}) {
      for (T& element : *part) {
        random = random * 1664525u + 1013904223u;
        element = from_float<T>(static_cast<float>(random >> 8) / 0x1p23f - 1.0f);
      }
    }
  }
  matrix_view<T const> input() const { return {x.data(), rows, columns}; }
  matrix_view<T> output() { return {y.data(), rows, columns}; }
};

template <class T, class Body>
void measure(benchmark::State& state, Body const& body) {
  tensors<T> t(state);
  for (auto _ : state) {
    body(t);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

void check(status const& result, benchmark::State& state) {
  if (!result.ok()) state.SkipWithError(result.message().c_str());
}

template <class T>
void copy(benchmark::State& state) {
  measure<T>(state, [](auto& t) { std::memcpy(t.y.data(), t.x.data(), t.x.size() * sizeof(T)); });
}

template <class T>
void layer_norm_of(benchmark::State& state) {
  measure<T>(state, [&](auto& t) { check(layer_norm(t.input(), t.scale, t.bias, t.output()), state); });
}

template <class T>
void rms_norm_of(benchmark::State& state) {
  measure<T>(state, [&](auto& t) { check(rms_norm(t.input(), t.scale, t.output()), state); });
}

void layer_norm_autovectorised(benchmark::State& state) {
  measure<float>(state, [](auto& t) {
    autovectorised::layer_norm(t.x.data(), t.scale.data(), t.bias.data(), t.y.data(), t.rows, t.columns, 1e-5f);
  });
}

void rms_norm_autovectorised(benchmark::State& state) {
  measure<float>(state, [](auto& t) {
    autovectorised::rms_norm(t.x.data(), t.scale.data(), t.y.data(), t.rows, t.columns, 1e-5f);
  });
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (auto const& [rows, columns] :
       {std::pair{1, 768}, {128, 768}, {512, 1024}, {128, 4096}, {4096, 4096}, {8, 16384}}) {
    bench->Args({rows, columns});
  }
}

BENCHMARK(copy<float>)->Apply(sizes);
BENCHMARK(layer_norm_of<float>)->Apply(sizes);
BENCHMARK(layer_norm_autovectorised)->Apply(sizes);
BENCHMARK(rms_norm_of<float>)->Apply(sizes);
BENCHMARK(rms_norm_autovectorised)->Apply(sizes);
BENCHMARK(layer_norm_of<bfloat16>)->Apply(sizes);
BENCHMARK(layer_norm_of<float16>)->Apply(sizes);
BENCHMARK(rms_norm_of<bfloat16>)->Apply(sizes);

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::AddCustomContext("instruction set", std::string(target_name()));
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::RunSpecifiedBenchmarks();
}
