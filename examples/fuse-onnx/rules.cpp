// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fuse/program/listing.hpp>
#include <string>

#include "bundled.hpp"
#include "commands.hpp"

namespace fuse_onnx {
namespace {

std::string kind_of(fuse::slot_kind kind) {
  switch (kind) {
    case fuse::slot_kind::number: return "a constant with one element";
    case fuse::slot_kind::parameter: return "a parameter of an operator";
    case fuse::slot_kind::rest: return "any further terms or factors";
    default: return "a value";
  }
}

void describe(fuse::program const& program, std::size_t number) {
  auto const& rule = program.rules[number];
  std::printf("%.*s: %.*s\n", static_cast<int>(rule.name.size()), rule.name.data(),
              static_cast<int>(summary_of(rule.name).size()), summary_of(rule.name).data());
  std::printf("  stage %d, benefit %g\n  captures\n", rule.stage, rule.benefit);
  for (std::size_t i = 0; i < rule.slot_count; ++i)
    std::printf("    %s: %s\n", std::string(rule.slot_names[i]).c_str(), kind_of(rule.slot_kinds[i]).c_str());
  std::printf("  conditions\n");
  for (auto const& condition : program.conditions) {
    if (condition.rule != number) continue;
    std::string names;
    for (std::size_t i = 0; i < condition.what.count; ++i)
      names += (i == 0 ? "" : ", ") + std::string(condition.what.captures[i]);
    std::printf("    %s (%s)\n", std::string(condition.what.name).c_str(), names.c_str());
  }
}

}  // namespace

int list_rules(rules_arguments const& arguments) {
  auto const& program = bundled_program();
  if (!arguments.rule.empty())
    if (auto const unknown = unknown_rule(arguments.rule); !unknown.empty()) return complain(wrong_usage, unknown);
  if (arguments.verify != 0) return verify_rules(arguments);
  std::size_t widest = 0;
  for (auto const& rule : program.rules) widest = std::max(widest, rule.name.size());
  for (std::size_t i = 0; i < program.rules.size(); ++i) {
    auto const& rule = program.rules[i];
    if (rule.name == arguments.rule)
      describe(program, i);
    else if (arguments.rule.empty())
      std::printf("%-*s  %s\n", static_cast<int>(widest), std::string(rule.name).c_str(),
                  std::string(summary_of(rule.name)).c_str());
  }
  if (arguments.program) {
    static constexpr fuse::dialect names = fuse::onnx;
    int only = -1;
    for (std::size_t i = 0; i < program.rules.size(); ++i)
      if (program.rules[i].name == arguments.rule) only = static_cast<int>(i);
    std::printf("\n%s", fuse::to_text(program, names, only).c_str());
  }
  return success;
}

}  // namespace fuse_onnx
