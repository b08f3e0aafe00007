// SPDX-License-Identifier: BSL-1.0
#include "bundled.hpp"

#include <fuse/draw/groups.hpp>
#include <fuse/match/match.hpp>
#include <fuse/rewrite/rewrite.hpp>
#include <fuse/rules/all.hpp>
#include <fuse/verify/rules_of.hpp>

namespace fuse_onnx {

using fuse::rules::all;

fuse::program const& bundled_program() {
  static constexpr fuse::program program = fuse::program_of<all>;
  return program;
}

std::vector<fuse::rewrite_rule const*> bundled_rules() { return fuse::rules_of<all>(); }

fuse::rewrite_report rewrite_bundled(fuse::adapters::onnx_graph& graph, fuse::rewrite_options const& options) {
  return fuse::rewrite<all>(graph, options);
}

fuse::target target_named(std::string_view name) {
  return name == "onnxruntime" ? fuse::target::onnxruntime : fuse::target::standard;
}

std::vector<std::string> explain_node(fuse::adapters::onnx_graph const& graph, fuse::adapters::onnx_node node,
                                      std::string_view only) {
  std::vector<std::string> verdicts;
  fuse::matcher<all, fuse::adapters::onnx_graph> matcher(graph);
  for (auto const& rule : bundled_program().rules) {
    if (!only.empty() && rule.name != only) continue;
    auto const why = matcher.why(node, rule.name);
    if (why.matched)
      verdicts.push_back(std::string(rule.name) + ": matches here, alone or as part of something larger");
    else if (why.score >= 0)
      verdicts.push_back(std::string(rule.name) + ": " + to_text(why));
    else if (!only.empty())
      verdicts.push_back(std::string(rule.name) + ": no match of the rule ends in an operator like this one");
  }
  if (verdicts.empty()) verdicts.push_back("no match of a rule ends in an operator like this one");
  return verdicts;
}

std::vector<fuse::drawn_group<fuse::adapters::onnx_graph>> replaced_bundled(fuse::adapters::onnx_graph& graph,
                                                                            fuse::rewrite_options const& options) {
  return fuse::replaced<all>(graph, options);
}

std::string_view summary_of(std::string_view rule) {
  for (auto const& known : bundled_program().rules)
    if (known.name == rule) return known.summary;
  return {};
}

std::string unknown_rule(std::string_view name) {
  std::string names;
  for (auto const& rule : bundled_program().rules) {
    if (rule.name == name) return {};
    names += (names.empty() ? "" : ", ") + std::string(rule.name);
  }
  return "there is no rule '" + std::string(name) + "'; the rules are " + names;
}

}  // namespace fuse_onnx
