// SPDX-License-Identifier: BSL-1.0
// Time per node of matching and rewriting. Everything that is compared is measured in turns in one run; medians are
// printed.
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/rules/all.hpp>

#include "allocations.hpp"
#include "graphs.hpp"
#include "many_rules.hpp"
#include "timing.hpp"

namespace {

inline constexpr auto norms_and_generated = fuse::rule_set<fuse::rules::norms, generated::first_200>;

template <auto const&... Members>
std::vector<fuse::program> one_by_one(fuse::rule_set_of<Members...>) {
  return {fuse::program_of<Members>...};
}

/// A graph with all that matching needs to know of it.
struct prepared {
  fuse::graph graph;
  fuse::dialect const& names = fuse::dialect_of<fuse::graph>;
  std::size_t before = bench::bytes_held;
  fuse::graph_binding<fuse::graph> bound{graph, fuse::names_in(names), names.newest};
  fuse::detail::facts known{bound.image, names};
  std::size_t side_tables = 0;

  explicit prepared(fuse::graph made) : graph(std::move(made)) {
    known.run();
    side_tables = bench::bytes_held - before;
  }
};

struct counting final : fuse::detail::machine::acceptor {
  std::size_t accepted = 0, refused = 0;
  bool accept(std::uint16_t) override { return ++accepted, true; }
  void refuse(std::uint16_t, std::uint16_t) override { ++refused; }
};

/// All programs over all nodes; nanoseconds.
struct contender {
  std::string name;
  std::deque<fuse::detail::filter_tables> tables{};
  std::deque<fuse::detail::machine> machines{};
  std::vector<double> times{};
  std::size_t found = 0, allocations = 0;

  contender(std::string called, std::vector<fuse::program> const& programs, prepared const& on, bool filter = true)
      : name(std::move(called)) {
    for (auto const& p : programs) tables.emplace_back(p, on.names);
    for (auto const& t : tables) machines.emplace_back(t, on.bound.image, on.known, on.names);
    for (auto& m : machines)
      m.look_for(filter ? fuse::detail::search_for::matches : fuse::detail::search_for::failures);
  }
  void run() {
    counting found_now;
    auto const allocated = bench::allocations;
    auto const start = bench::now();
    for (auto& m : machines) m.run(found_now);
    times.push_back(bench::now() - start);
    allocations = bench::allocations - allocated;
    found = found_now.accepted;
  }
};

volatile std::uint64_t sink = 0;

/// Reads each node's operator and operands.
double walk(fuse::graph_image const& image) {
  auto const start = bench::now();
  std::uint64_t sum = 0;
  for (fuse::node_id n = 0; n < image.node_count(); ++n) {
    sum += image.node(n).tag.op;
    for (std::uint32_t i = 0; i < image.operand_count(n); ++i) sum += image.operand(n, i);
  }
  sink = sink + sum;
  return bench::now() - start;
}

void match(char const* name, fuse::graph graph) {
  prepared const on(std::move(graph));
  auto const nodes = static_cast<double>(on.bound.image.node_count());
  std::deque<contender> all;
  all.emplace_back("norms + 200", std::vector{fuse::program_of<norms_and_generated>}, on);
  all.emplace_back("norms", std::vector{fuse::program_of<fuse::rules::norms>}, on);
  all.emplace_back("rules::all", std::vector{fuse::program_of<fuse::rules::all>}, on);
  all.emplace_back("norms + 200, filter off", std::vector{fuse::program_of<norms_and_generated>}, on, false);
  all.emplace_back("norms, filter off", std::vector{fuse::program_of<fuse::rules::norms>}, on, false);
  all.emplace_back("1", std::vector{fuse::program_of<generated::first_1>}, on);
  all.emplace_back("14", std::vector{fuse::program_of<generated::first_14>}, on);
  all.emplace_back("50", std::vector{fuse::program_of<generated::first_50>}, on);
  all.emplace_back("200", std::vector{fuse::program_of<generated::first_200>}, on);
  all.emplace_back("14 in turn", one_by_one(generated::first_14), on);
  all.emplace_back("50 in turn", one_by_one(generated::first_50), on);
  if (nodes <= 2e5) all.emplace_back("200 in turn", one_by_one(generated::first_200), on);
  std::vector<double> walks;
  int const rounds = nodes > 5e5 ? 3 : 7;
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < 3; ++k) walks.push_back(walk(on.bound.image));
    for (auto& c : all) c.run();
  }
  auto const plain = bench::median(walks) / nodes;
  std::printf("%s, %.0f nodes: plain walk %.2f ns per node, side tables %.0f bytes per node\n", name, nodes, plain,
              static_cast<double>(on.side_tables) / nodes);
  for (auto const& c : all) {
    auto const time = bench::median(c.times) / nodes;
    std::printf("  %-25s %8.1f ns per node, %6.1f plain walks, %zu matches, %zu allocations\n", c.name.c_str(), time,
                time / plain, c.found, c.allocations);
  }
}

/// Shapes, matching and rewriting, with the image that they work on.
template <auto const& Rules>
void rewrite(char const* name, fuse::graph (*make)(std::size_t), std::vector<std::size_t> const& sizes) {
  double first = 0;
  for (auto size : sizes) {
    struct clock {
      double shapes = 0, match = 0, rewrite = 0, last = 0;
      double* into = nullptr;
      void enter(double* next) {
        auto const at = bench::now();
        if (into != nullptr) *into += at - last;
        last = at;
        into = next;
      }
    };
    std::vector<double> totals, shapes, matches, rewrites, images;
    std::size_t applied = 0;
    for (int round = 0; round < (size > 500'000 ? 3 : 5); ++round) {
      auto graph = make(size);
      clock times;
      fuse::rewrite_options options;
      options.observer.context = &times;
      options.observer.phase = [](void* context, std::string_view phase) {
        auto& to = *static_cast<clock*>(context);
        to.enter(phase == "shapes" ? &to.shapes : phase == "match" ? &to.match : &to.rewrite);
      };
      auto const start = bench::now();
      auto const report = fuse::rewrite<Rules>(graph, options);
      auto const total = bench::now() - start;
      times.enter(nullptr);
      applied = report.applied();
      shapes.push_back(times.shapes);
      matches.push_back(times.match);
      rewrites.push_back(times.rewrite);
      images.push_back(total - times.shapes - times.match - times.rewrite);
      totals.push_back(times.shapes + times.match + times.rewrite);
    }
    auto const nodes = static_cast<double>(size);
    auto const total = bench::median(totals) / nodes;
    if (first == 0) first = total;
    std::printf(
        "%s, %zu nodes: %.0f ns per node (shapes %.0f, matching %.0f, rewriting %.0f; the image before: %.0f), %.2f "
        "times the first, %zu applied\n",
        name, size, total, bench::median(shapes) / nodes, bench::median(matches) / nodes,
        bench::median(rewrites) / nodes, bench::median(images) / nodes, total / first, applied);
  }
}

}  // namespace

/// `bench_matching [match|rewrite] [largest size]`
int main(int argc, char** argv) {
  bool const only_match = argc > 1 && std::strcmp(argv[1], "match") == 0,
             only_rewrite = argc > 1 && std::strcmp(argv[1], "rewrite") == 0;
  std::size_t const largest = argc > 2 ? std::stoul(argv[2]) : 1'000'000;
  if (!only_rewrite)
    for (std::size_t size = 1000; size <= largest; size *= 10) {
      match("mixed", bench::mixed(size));
      match("blocks", bench::blocks(size));
    }
  if (!only_match) {
    rewrite<fuse::rules::norms>("blocks", &bench::blocks, {10'000, 100'000, 1'000'000});
    rewrite<fuse::rules::norms>("chain", &bench::chain, {10'000, 1'000'000});
    auto const drawn = [](std::size_t nodes) { return bench::mixed(nodes); };
    rewrite<fuse::rules::all>("blocks, rules::all", &bench::blocks, {10'000, 100'000});
    rewrite<fuse::rules::all>("mixed, rules::all", drawn, {10'000, 100'000});
  }
}
