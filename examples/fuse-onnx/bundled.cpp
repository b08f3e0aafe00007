// SPDX-License-Identifier: BSL-1.0
#include "bundled.hpp"

#include <fuse/rewrite/rewrite.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/onnx_functions.hpp>

namespace fuse_onnx {

namespace {
inline constexpr auto bundled = fuse::rule_set<fuse::rules::norms, fuse::rules::onnx_norm_functions>;
}

fuse::program const& bundled_program() {
  static constexpr fuse::program program = fuse::program_of<bundled>;
  return program;
}

fuse::rewrite_report rewrite_bundled(fuse::adapters::onnx_graph& graph, fuse::rewrite_options const& options) {
  return fuse::rewrite<bundled>(graph, options);
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
