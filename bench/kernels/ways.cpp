// SPDX-License-Identifier: BSL-1.0

// All ways through rows, on the machine at hand, against the one that is chosen for it.
#include "ways.hpp"

#include <cstdio>
#include <map>

namespace bench {
namespace {
namespace detail = fuse::kernels::detail;

std::string name_of(row_way way) {
  switch (way) {
    case row_way::automatic: return "automatic";
    case row_way::one_by_one: return "one_by_one";
    case row_way::one_ahead: return "one_ahead";
    case row_way::blocks: return "blocks";
    case row_way::twos: return "twos";
    case row_way::twos_ahead: return "twos_ahead";
    case row_way::widened: return "widened";
    case row_way::widened_ahead: return "widened_ahead";
  }
  return "unknown";
}

}  // namespace

std::vector<comparison> compared_ways() {
  std::vector<told_kernel> kernels;
  add_norm_ways(kernels);
  add_skip_norm_ways(kernels);
  add_embedding_ways(kernels);
  add_expression_ways(kernels);
  std::vector<comparison> all;
  for (auto const& one : kernels) {
    row_way const chosen = way_to_go(one.loops, one.shape, row_way::automatic, detail::this_processor());
    all.push_back({one.kernel, one.type, name_of(chosen), one.shape.rows, one.shape.columns, [one, chosen] {
                     auto const run = one.make();
                     // As users call it.
                     std::vector<candidate> ways{{"fuse", "", [run] { run(row_way::automatic); }}};
                     for (row_way const way : fuse::kernels::row_ways) {
                       if (way == row_way::automatic || way == chosen || !can_go(one.loops, one.shape, way)) continue;
                       ways.push_back({name_of(way), "", [run, way] { run(way); }});
                     }
                     return ways;
                   }});
  }
  return all;
}

void print_choices(nlohmann::ordered_json const& rows) {
  std::map<std::string, nlohmann::ordered_json const*> fastest;
  std::vector<std::string> order;
  for (auto const& row : rows) {
    std::string const name = row["kernel"].get<std::string>() + " | " + row["type"].get<std::string>() + " | " +
                             std::to_string(row["rows"].get<std::size_t>()) + "x" +
                             std::to_string(row["columns"].get<std::size_t>()) + " | " +
                             row["variant"].get<std::string>();
    auto const [place, is_new] = fastest.try_emplace(name, &row);
    if (is_new) order.push_back(name);
    if (row["ratio"] < (*place->second)["ratio"]) place->second = &row;
  }
  std::printf(
      "\n| kernel | type | shape | chosen | best other | its time / that of the chosen one |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (auto const& name : order) {
    auto const& row = *fastest[name];
    std::printf("| %s | %s | %.2f |\n", name.c_str(), row["peer"].get<std::string>().c_str(),
                row["ratio"].get<double>());
  }
}

}  // namespace bench
