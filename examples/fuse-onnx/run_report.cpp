// SPDX-License-Identifier: BSL-1.0
#include "run_report.hpp"

#include <algorithm>
#include <cstdio>
#include <fuse/core/printable.hpp>
#include <fuse/rewrite/report.hpp>
#include <nlohmann/json.hpp>

namespace fuse_onnx {
namespace {

std::string in_milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  return text;
}

}  // namespace

std::string as_text(run_report const& report) {
  using fuse::printable;
  std::string text = printable(report.input + " -> " + report.output) + ", for " + report.target + "\n";
  std::size_t widest = 4, silent = 0;
  auto const found_nothing = [](run_report::rule const& rule) { return rule.matched == 0 && rule.refused.empty(); };
  for (auto const& rule : report.rules) {
    if (found_nothing(rule))
      silent += rule.left_out.empty() ? 1 : 0;
    else
      widest = std::max(widest, rule.name.size());
  }
  for (auto const& rule : report.rules) {
    if (found_nothing(rule)) continue;
    text += "  " + rule.name + std::string(widest - rule.name.size(), ' ') + "  matched " +
            std::to_string(rule.matched) + ", applied " + std::to_string(rule.applied) + ", refused " +
            std::to_string(rule.refused.size()) + "\n";
    for (auto const& refusal : rule.refused)
      text += "    refused at " + printable(refusal.node + ": " + refusal.reason) +
              (refusal.condition.empty() ? "" : " (" + refusal.condition + ")") + "\n";
  }
  if (silent != 0) text += "  " + fuse::found_nothing(silent, silent != report.rules.size()) + "\n";
  if (auto const left_out = fuse::not_looked_for(report.rules); !left_out.empty())
    text += "  " + printable(left_out) + "\n";
  text +=
      "  nodes: " + std::to_string(report.nodes_before) + " before, " + std::to_string(report.nodes_after) + " after\n";
  text +=
      "  bytes: " + std::to_string(report.bytes_before) + " before, " + std::to_string(report.bytes_after) + " after\n";
  text += "  time: reading " + in_milliseconds(report.read) + ", shapes " + in_milliseconds(report.shapes) +
          ", matching " + in_milliseconds(report.match) + ", rewriting " + in_milliseconds(report.rewrite) +
          ", writing " + in_milliseconds(report.write) + "\n";
  for (auto const& note : report.notes) text += "  note: " + printable(note) + "\n";
  return text;
}

std::string as_json(run_report const& report) {
  using nlohmann::ordered_json;
  auto rules = ordered_json::array();
  for (auto const& rule : report.rules) {
    auto refused = ordered_json::array();
    for (auto const& refusal : rule.refused)
      refused.push_back({{"node", refusal.node}, {"reason", refusal.reason}, {"condition", refusal.condition}});
    rules.push_back(
        {{"name", rule.name}, {"matched", rule.matched}, {"applied", rule.applied}, {"refused", std::move(refused)}});
    if (!rule.left_out.empty()) rules.back()["left_out"] = rule.left_out;
  }
  ordered_json const whole = {{"schema", "fuse-report-1"},
                              {"input", report.input},
                              {"output", report.output},
                              {"target", report.target},
                              {"rules", std::move(rules)},
                              {"nodes", {{"before", report.nodes_before}, {"after", report.nodes_after}}},
                              {"bytes", {{"before", report.bytes_before}, {"after", report.bytes_after}}},
                              {"seconds",
                               {{"read", report.read},
                                {"shapes", report.shapes},
                                {"match", report.match},
                                {"rewrite", report.rewrite},
                                {"write", report.write}}},
                              {"notes", report.notes}};
  // Names in a model need not be UTF-8.
  return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace fuse_onnx
