// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fuse/adapters/onnx.hpp>
#include <fuse/adapters/onnx/outline.hpp>
#include <fuse/core/printable.hpp>
#include <fuse/draw/fusion_groups.hpp>
#include <fuse/partition.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "commands.hpp"
#include "graphviz.hpp"

namespace fuse_onnx {
namespace {

using graph = fuse::adapters::onnx_graph;
using traits = fuse::graph_traits<graph>;
using groups = fuse::partitioned<graph>;

double saved_by(groups const& made) {
  double sum = 0;
  for (auto const& group : made.groups) sum += group.bytes_saved;
  return sum;
}

std::string as_text(partition_arguments const& arguments, graph const& g, groups const& made) {
  using fuse::printable;
  std::string text = printable(arguments.input.string()) + ": " + std::to_string(made.nodes) + " nodes, " +
                     std::to_string(made.operators) + " where each of " + std::to_string(made.groups.size()) +
                     " groups is one; " + std::to_string(static_cast<long long>(saved_by(made))) +
                     " bytes need not be moved\n";
  for (auto const& group : made.groups) {
    std::string kind(fuse::name_of(group.kind));
    kind.resize(11, ' ');
    text += "  " + kind + "  " + printable(traits::name(g, group.nodes.back())) + ":";
    for (auto const n : group.nodes) {
      text += ' ' + printable(traits::op_name(g, n));
      if (std::find(group.by_formula.begin(), group.by_formula.end(), n) != group.by_formula.end()) text += "(formula)";
    }
    text += '\n';
  }
  return text;
}

std::string as_json(partition_arguments const& arguments, graph const& g, groups const& made) {
  using nlohmann::ordered_json;
  auto const names = [&](auto const& handles) {
    auto all = ordered_json::array();
    for (auto const& each : handles) all.push_back(traits::name(g, each));
    return all;
  };
  auto list = ordered_json::array();
  for (auto const& group : made.groups)
    list.push_back({{"kind", std::string(fuse::name_of(group.kind))},
                    {"nodes", names(group.nodes)},
                    {"inputs", names(group.inputs)},
                    {"outputs", names(group.outputs)},
                    {"bytes_saved", group.bytes_saved},
                    {"by_formula", names(group.by_formula)}});
  ordered_json const whole = {
      {"schema", "fuse-partition-1"}, {"input", arguments.input.string()}, {"output", arguments.output.string()},
      {"nodes", made.nodes},          {"operators", made.operators},       {"bytes_saved", saved_by(made)},
      {"groups", std::move(list)}};
  // Names in a model need not be UTF-8.
  return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int partition(partition_arguments const& arguments) {
  if (!arguments.drawing.empty())
    if (auto const wrong = no_drawing(arguments.drawing); !wrong.empty()) return complain(wrong_usage, wrong);
  fuse::adapters::onnx_file file;
  if (!file.read(arguments.input)) return complain(bad_input, file.error());
  graph g(file.model(), file.folder());
  if (!g) return complain(bad_input, arguments.input.string() + ": " + g.error());

  fuse::partition_options<graph> options;
  if (arguments.depth != 0) options.max_depth = arguments.depth;
  auto const made = fuse::partition(g, options);
  auto const text = arguments.report == "json" ? as_json(arguments, g, made) : as_text(arguments, g, made);
  if (!arguments.drawing.empty())
    if (auto const reason = write_drawing(arguments.drawing, fuse::draw(g, {.groups = fuse::framed(made)}));
        !reason.empty())
      return complain(bad_input, reason);
  if (!arguments.output.empty()) {
    fuse::adapters::outline(g, made);
    if (!file.write(arguments.output, g)) return complain(bad_input, file.error());
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return success;
}

}  // namespace fuse_onnx
