// SPDX-License-Identifier: BSL-1.0

// Compares the kernels with other ways to do their work, on one thread: `bench_kernels --help`.
#include <fuse/kernels/target.hpp>

#include "comparison.hpp"
#include "measure.hpp"
#include "ways.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

int main(int count, char** arguments) {
  // Before a library of a peer starts its threads.
  setenv("OMP_NUM_THREADS", "1", 1);

  CLI::App options("Compares the kernels with other ways to do their work, on one thread.");
  bench::effort effort;
  std::string only, json, target;
  bool list = false, ways = false;
  options.add_option("--repetitions", effort.repetitions, "Interleaved repetitions of each candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  options.add_option("--seconds", effort.seconds, "The least time of one repetition")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  options.add_option("--only", only, "Comparisons whose name has this in it, such as layer_norm/float/128x768");
  options.add_option("--target", target, "The instruction set to use, by Highway's name of it");
  options.add_option("--json", json, "Write a row for each peer to this file");
  options.add_flag("--list", list, "Name the comparisons");
  options.add_flag("--ways", ways, "Compare the ways through rows with the one that is chosen, and nothing else");
  CLI11_PARSE(options, count, arguments);
  if (!target.empty() && !fuse::kernels::use_target(target)) {
    std::cerr << "bench_kernels: this machine or this build has no target " << target << '\n';
    return 1;
  }

  std::vector<bench::comparison> all;
  if (ways) {
    all = bench::compared_ways();
  } else {
    bench::add_norms(all);
    bench::add_skip_norms(all);
    bench::add_embeddings(all);
    bench::add_expressions(all);
  }
  std::erase_if(all, [&](auto const& one) { return name_of(one).find(only) == std::string::npos; });
  if (all.empty()) {
    std::cerr << "bench_kernels: no comparison's name has " << only << " in it\n";
    return 1;
  }
  if (list) {
    for (auto const& one : all) std::cout << name_of(one) << '\n';
    return 0;
  }

  auto report = bench::describe_run(effort);
  std::cout << report["context"].dump(2) << "\n\n";
  for (auto const& one : all) {
    for (auto& row : bench::measure(one, effort, std::cout)) report["rows"].push_back(std::move(row));
  }
  if (ways) bench::print_choices(report["rows"]);
  if (!json.empty()) {
    std::ofstream file(json);
    file << report.dump(1) << '\n';
    if (!file) {
      std::cerr << "bench_kernels: cannot write " << json << '\n';
      return 1;
    }
  }
}
