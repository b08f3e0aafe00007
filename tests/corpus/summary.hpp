// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <fuse/rewrite/report.hpp>

namespace corpus {

/// What fuse did to a graph and what it refused, whatever type the graph has.
[[nodiscard]] inline std::string summary_of(fuse::rewrite_report const& report) {
  std::string text = report.error;
  for (auto const& rule : report.rules) {
    text +=
        rule.name + ": matched " + std::to_string(rule.matched) + ", applied " + std::to_string(rule.applied) + '\n';
    for (auto const& refused : rule.refused) text += "  " + refused.condition + '\n';
  }
  return text;
}

/// Whether a refusal of this condition is one of a whole match: what the page "Why did my rule not fire?" lists.
[[nodiscard]] inline bool is_requirement(std::string_view condition) {
  for (std::string_view const known : {"element type", "shape and element type", "right side", "results", "cost",
                                       "veto", "graph", "operator", "order"})
    if (condition == known) return true;
  return false;
}

/// The rules that matched elsewhere than where they were applied or are refused, or an empty text.
[[nodiscard]] inline std::string miscounted(fuse::rewrite_report const& report) {
  std::string text;
  for (auto const& rule : report.rules) {
    std::set<std::string_view> places;
    for (auto const& r : rule.refused)
      if (is_requirement(r.condition)) places.insert(r.node);
    if (rule.matched != rule.applied + places.size()) text += rule.name + ' ';
  }
  return text;
}

}  // namespace corpus
