// SPDX-License-Identifier: BSL-1.0
#include "measure.hpp"

#include <fuse/kernels/target.hpp>

#include <benchmark/benchmark.h>

#include <hwy/highway.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <ostream>
#include <string>

namespace bench {
namespace {
using nlohmann::ordered_json;

// Seconds of each repetition, by the candidate's place.
class collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }

  void ReportRuns(std::vector<Run> const& runs) override {
    for (Run const& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      times[std::stoul(run.run_name.function_name)].push_back(run.cpu_accumulated_time /
                                                              static_cast<double>(run.iterations));
    }
  }

  std::map<std::size_t, std::vector<double>> times;
};

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  double const place = part * static_cast<double>(values.size() - 1);
  auto const below = static_cast<std::size_t>(place);
  double const above = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (place - static_cast<double>(below)) * (above - values[below]);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

void enable_interleaving() {
  std::string program = "bench_kernels", option = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), option.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
}

}  // namespace

std::string name_of(comparison const& what) {
  std::string name =
      what.kernel + "/" + what.type + "/" + std::to_string(what.rows) + "x" + std::to_string(what.columns);
  return what.variant.empty() ? name : name + "/" + what.variant;
}

ordered_json describe_run(effort const& how) {
  auto const& machine = benchmark::CPUInfo::Get();
  ordered_json caches = ordered_json::array();
  for (auto const& cache : machine.caches) {
    caches.push_back("L" + std::to_string(cache.level) + " " + cache.type + " " + std::to_string(cache.size >> 10) +
                     "K");
  }
  return {{"context",
           {{"processor", processor()},
            {"cores", machine.num_cpus},
            {"caches", caches},
            {"compiler", compiler()},
            {"flags", BENCH_FLAGS},
            {"flags of plain loops and Eigen", BENCH_FAST_FLAGS},
            {"target", fuse::kernels::target_name()},
            {"highway", std::to_string(HWY_MAJOR) + "." + std::to_string(HWY_MINOR) + "." + std::to_string(HWY_PATCH)},
            {"threads", 1},
            {"repetitions", how.repetitions},
            {"time", "processor time of the thread"}}},
          {"rows", ordered_json::array()}};
}

std::vector<ordered_json> measure(comparison const& what, effort const& how, std::ostream& table) {
  [[maybe_unused]] static bool const interleaved = (enable_interleaving(), true);
  auto const candidates = what.candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [&run = candidates[i].run](benchmark::State& state) {
                                   for (auto _ : state) {
                                     run();
                                     benchmark::ClobberMemory();
                                   }
                                 })
        ->Repetitions(how.repetitions)
        ->MinTime(how.seconds);
  }
  collector collected;
  benchmark::RunSpecifiedBenchmarks(&collected, ".");
  benchmark::ClearRegisteredBenchmarks();

  double const elements = static_cast<double>(what.rows * what.columns);
  auto const nanoseconds = [&](std::size_t i) { return quantile(collected.times.at(i), 0.5) / elements * 1e9; };
  auto const error = [&](std::size_t i) {
    candidates[i].run();
    return candidates[i].error();
  };
  char line[160];
  std::snprintf(line, sizeof line, "%-40s %9.4f ns per element\n", name_of(what).c_str(), nanoseconds(0));
  table << line;

  std::vector<ordered_json> rows;
  double const our_error = candidates[0].error ? error(0) : 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t k = 0; k < collected.times.at(i).size(); ++k) {
      ratios.push_back(collected.times.at(i)[k] / collected.times.at(0).at(k));
    }
    double const ratio = nanoseconds(i) / nanoseconds(0);
    double const spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / quantile(ratios, 0.5);
    rows.push_back({{"kernel", what.kernel},
                    {"type", what.type},
                    {"variant", what.variant},
                    {"rows", what.rows},
                    {"columns", what.columns},
                    {"compiler", compiler()},
                    {"target", fuse::kernels::target_name()},
                    {"peer", candidates[i].name},
                    {"peer_version", candidates[i].version},
                    {"ratio", ratio},
                    {"spread", spread},
                    {"nanoseconds", nanoseconds(0)},
                    {"peer_nanoseconds", nanoseconds(i)}});
    std::snprintf(line, sizeof line, "    %-36s %9.4f  ratio %7.3f  spread %4.1f%%",
                  (candidates[i].name + " " + candidates[i].version).c_str(), nanoseconds(i), ratio, 100 * spread);
    table << line;
    if (candidates[i].error) {
      rows.back()["error"] = our_error;
      rows.back()["peer_error"] = error(i);
      std::snprintf(line, sizeof line, "  error %.1e, ours %.1e", rows.back()["peer_error"].get<double>(), our_error);
      table << line;
    }
    table << '\n';
  }
  table << std::flush;
  return rows;
}

}  // namespace bench
