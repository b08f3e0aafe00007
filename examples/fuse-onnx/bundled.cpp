// SPDX-License-Identifier: BSL-1.0
#include "bundled.hpp"

#include <fuse/rewrite/rewrite.hpp>
#include <fuse/rules/norms.hpp>

namespace fuse_onnx {

fuse::program const& bundled_program() {
  static constexpr fuse::program program = fuse::program_of<fuse::rules::norms>;
  return program;
}

fuse::rewrite_report rewrite_bundled(fuse::adapters::onnx_graph& graph, fuse::rewrite_options const& options) {
  return fuse::rewrite<fuse::rules::norms>(graph, options);
}

std::string_view summary_of(std::string_view rule) {
  struct entry {
    std::string_view name, summary;
  };
  static constexpr entry entries[] = {
      {"layer-norm", "(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the last axes"},
      {"layer-norm-distributed", "the same as TensorFlow writes it, the scale distributed over the difference"},
      {"rms-norm", "x / sqrt(mean(x * x) + epsilon) * scale over the last axes"},
  };
  for (auto const& e : entries)
    if (e.name == rule) return e.summary;
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
