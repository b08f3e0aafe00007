// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/tables.hpp>

namespace fuse::inline v0::adapters::detail {

/// Lists the calls of the functions that were read, and puts callers before what they call. Returns which function
/// calls itself, if one does. Linear in the model.
[[nodiscard]] inline std::string order_functions(onnx_tables& tables) {
  if (tables.functions.empty()) return {};
  std::unordered_map<std::string, std::uint32_t> numbers;  // 1 + place in the list, by what their calls are called
  for (std::uint32_t i = 0; i < tables.functions.size(); ++i)
    numbers.emplace("function " + name_of(*tables.graphs[tables.functions[i].id].function), i + 1);
  auto const number_of = [&](std::string const& op) {
    auto const at = numbers.find(op);
    return at == numbers.end() ? 0 : at->second;
  };
  std::vector<std::uint32_t> called(tables.ops.size()), inside(tables.graphs.size());
  for (std::size_t op = 0; op < called.size(); ++op) called[op] = number_of(tables.ops[op]);
  for (std::uint32_t i = 0; i < tables.functions.size(); ++i) inside[tables.functions[i].id] = i + 1;

  std::vector<std::uint32_t> waits(tables.functions.size() + 1), ready;
  std::vector<std::vector<std::uint32_t>> callees(waits.size());
  for (std::uint32_t n = 1; n < tables.nodes.size(); ++n) {
    auto const callee = called[tables.nodes[n].op];
    if (callee == 0) continue;
    tables.graphs[tables.functions[callee - 1].id].calls.push_back({n});
    auto const caller = inside[tables.graphs[tables.nodes[n].body].scope];
    if (caller == 0) continue;
    callees[caller].push_back(callee);
    ++waits[callee];
  }
  for (std::uint32_t i = 1; i < waits.size(); ++i)
    if (waits[i] == 0) ready.push_back(i);
  for (std::size_t at = 0; at < ready.size(); ++at)
    for (auto const callee : callees[ready[at]])
      if (--waits[callee] == 0) ready.push_back(callee);
  if (ready.size() != tables.functions.size()) {
    std::uint32_t at = 1;
    while (waits[at] == 0) ++at;
    // Back to a caller that waits, until one is seen twice.
    for (std::vector<bool> seen(waits.size(), false); !seen[at];) {
      seen[at] = true;
      for (auto const call : tables.graphs[tables.functions[at - 1].id].calls)
        if (auto const caller = inside[tables.graphs[tables.nodes[call.id].body].scope]; waits[caller] != 0) {
          at = caller;
          break;
        }
    }
    return "function '" + name_of(*tables.graphs[tables.functions[at - 1].id].function) +
           "' calls itself, directly or through others";
  }
  std::vector<onnx_body> ordered;
  for (auto const i : ready) ordered.push_back(tables.functions[i - 1]);

  // Calls that were not read: those of functions that were not, and those of training.
  auto const lose = [&](::onnx::NodeProto const& node) {
    if (auto const i = number_of("function " + node.domain() + "::" + node.op_type()); i != 0)
      tables.graphs[tables.functions[i - 1].id].calls.clear();
  };
  std::unordered_set<::onnx::FunctionProto const*> read;
  for (auto const b : tables.functions) read.insert(tables.graphs[b.id].function);
  for (auto const& function : tables.model->functions())
    if (!read.contains(&function)) for_each_node(function, lose);
  for (auto const& training : tables.model->training_info()) {
    for_each_node(training.initialization(), lose);
    for_each_node(training.algorithm(), lose);
  }
  tables.functions = std::move(ordered);
  return {};
}

}  // namespace fuse::inline v0::adapters::detail
