// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdio>
#include <fuse/adapters/onnx.hpp>
#include <fuse/core/printable.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bundled.hpp"
#include "commands.hpp"
#include "find_node.hpp"
#include "progress.hpp"

namespace fuse_onnx {
namespace {

using traits = fuse::graph_traits<fuse::adapters::onnx_graph>;

// What a rewrite by all rules would do, seen by doing it to a graph that is never written: one waits for what others
// make.
struct rehearsal {
  struct place {
    std::string rule, node;
  };
  std::vector<place> applied;
  fuse::rewrite_report report;
  progress bar;

  rehearsal(fuse::adapters::onnx_graph& graph, fuse::target target) {
    fuse::rewrite_options options;
    options.target = target;
    options.observer.context = this;
    options.observer.applied = [](void* self, std::string_view name, std::string_view node) {
      static_cast<rehearsal*>(self)->applied.push_back({std::string(name), std::string(node)});
    };
    options.observer.progress = [](void* self, int, std::size_t visited, std::size_t total) {
      static_cast<rehearsal*>(self)->bar.show("matching", visited, total);
    };
    report = rewrite_bundled(graph, options);
  }
};

void print(std::string const& line) { std::printf("%s\n", fuse::printable(line).c_str()); }

std::string plural(std::size_t count, std::string const& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void explain_graph(rehearsal const& seen, std::string const& only, std::size_t limit) {
  bool silent = true;
  for (auto const& rule : seen.report.rules) {
    if (only.empty() ? rule.applied + rule.refused.size() == 0 : rule.name != only) continue;
    silent = false;
    if (!rule.left_out.empty()) {
      print(rule.name + ": not looked for: " + rule.left_out);
      continue;
    }
    print(rule.name + ": applies at " + plural(rule.applied, "place") + ", is refused at " +
          std::to_string(rule.refused.size()));
    std::size_t shown = 0;
    for (auto const& place : seen.applied)
      if (place.rule == rule.name && shown++ < limit) print("  applies at " + place.node);
    if (shown > limit) print("  and at " + std::to_string(shown - limit) + " more");
    shown = 0;
    for (auto const& refusal : rule.refused)
      if (shown++ < limit) print("  refused at " + refusal.node + ": " + refusal.reason);
    if (shown > limit) print("  and at " + std::to_string(shown - limit) + " more");
  }
  if (silent) print("no rule applies, and none nearly does");
  for (auto const& note : seen.report.notes) print("note: " + note);
}

}  // namespace

int explain(explain_arguments const& arguments) {
  if (!arguments.rule.empty())
    if (auto const unknown = unknown_rule(arguments.rule); !unknown.empty()) return complain(wrong_usage, unknown);
  fuse::adapters::onnx_file file;
  if (!file.read(arguments.input)) return complain(bad_input, file.error());
  fuse::adapters::onnx_graph graph(file.model(), file.folder());
  if (!graph) return complain(bad_input, arguments.input.string() + ": " + graph.error());

  std::string name;
  std::vector<std::string> verdicts;
  if (!arguments.node.empty()) {
    auto const node = find_node(graph, arguments.node);
    if (!node) return complain(wrong_usage, no_node(arguments.node));
    name = traits::name(graph, node);
    print(name + " (" + std::string(traits::op_name(graph, node)) + ")");
    verdicts = explain_node(graph, node, arguments.rule);
  }
  rehearsal const seen(graph, target_named(arguments.target));
  if (!seen.report.error.empty()) return complain(bad_input, arguments.input.string() + ": " + seen.report.error);
  if (arguments.node.empty()) {
    explain_graph(seen, arguments.rule, arguments.limit);
    return success;
  }
  auto const asked = [&](std::string const& rule) { return arguments.rule.empty() || rule == arguments.rule; };
  for (auto const& place : seen.applied)
    if (place.node == name && asked(place.rule)) print("  " + place.rule + ": applies here");
  for (auto const& rule : seen.report.rules)
    for (auto const& refusal : rule.refused)
      if (refusal.node == name && asked(rule.name)) print("  " + rule.name + ": refused here: " + refusal.reason);
  for (auto const& verdict : verdicts) print("  " + verdict);
  return success;
}

}  // namespace fuse_onnx
