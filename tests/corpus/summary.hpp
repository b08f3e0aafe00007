// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

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

}  // namespace corpus
