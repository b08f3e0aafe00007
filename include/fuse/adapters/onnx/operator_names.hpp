// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fuse/adapters/onnx/newer_fields.hpp>
#include <fuse/adapters/onnx/own_functions.hpp>
#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/ops/onnx.hpp>

namespace fuse::inline v0::adapters::detail {

/// Numbers the names of operators. Calls of the model's own functions never look like standard operators.
class onnx_operator_names {
 public:
  explicit onnx_operator_names(onnx_tables& tables) : t_(tables) {}

  /// Reads domains, their versions, and functions. Returns what is wrong with them.
  std::string read() {
    auto const& model = *t_.model;
    std::unordered_map<std::string, std::int64_t> versions;
    for (auto const& import : model.opset_import()) {
      std::string const domain = is_default_domain(import.domain()) ? "" : import.domain();
      auto const shown = domain.empty() ? std::string("ai.onnx") : domain;
      if (import.version() < 0)
        return "the model imports version " + std::to_string(import.version()) + " of domain '" + shown + "'";
      versions[domain] = import.version();  // of several, the last one counts, as onnxruntime has it
      domains_.insert(domain);
    }
    // Other domains may well begin with 0.
    if (auto const standard = versions.find(""); standard != versions.end() && standard->second == 0)
      return "the model imports version 0 of domain 'ai.onnx'";
    dialect const known = fuse::onnx;
    for (auto const& function : model.functions()) {
      if (!overload_of(function).empty()) continue;  // only calls that name the overload reach it
      auto const standard = is_default_domain(function.domain());
      ++functions_[(standard ? std::string() : function.domain()) + "::" + function.name()];
      // A rewrite could create an operator that the model takes for its own function.
      t_.redefined = t_.redefined || standard ||
                     (function.domain() == "com.microsoft" && known.code("com.microsoft::" + function.name()) != 0);
    }
    auto const standard = versions.find("");
    t_.version = standard == versions.end() ? 1 : static_cast<int>(std::min<std::int64_t>(standard->second, 1 << 16));
    for (auto const& function : model.functions()) {
      auto const [at, added] =
          own_.try_emplace(function.domain() + "::" + function.name(), recognise(function, model, t_.version));
      if (!added) at->second = {};
    }
    if (t_.redefined) t_.version = 0;  // no dialect knows an operator of that version, so nothing is rewritten
    return {};
  }

  /// Whether a function is looked into: what stands in it means what it would mean in the graph, and calls of its name
  /// are calls of it. Lists those that are not for the version that they import.
  /// Not so functions of fuse, which stand in for an operator: inside, that operator would be a call of them; nor
  /// overloads, which calls name otherwise.
  bool looks_into(::onnx::FunctionProto const& function) {
    if (t_.redefined || function.domain() == "fuse" || functions_[name_of(function)] != 1) return false;
    if (!overload_of(function).empty()) return false;
    std::int64_t version = 0;
    for (auto const& import : function.opset_import())
      if (is_default_domain(import.domain())) version = import.version();
    if (version != 0 && version != t_.version) t_.foreign_functions.push_back(name_of(function));
    return version == t_.version;
  }

  /// Gives a node the number of its operator. Returns what is wrong with the operator.
  std::string name(onnx_node_record& record) {
    auto const& node = *record.proto;
    if (node.op_type().empty())
      return "an operator has no name" + (node.name().empty() ? std::string() : ": that of node '" + node.name() + "'");
    bool const standard = is_default_domain(node.domain());
    auto const overload = overload_of(node);
    if (standard && overload.empty())
      if (auto const at = standard_.find(node.op_type()); at != standard_.end()) {
        record.op = at->second;
        return {};
      }
    auto qualified = (standard ? std::string() : node.domain()) + "::" + node.op_type();
    if (!overload.empty()) {
      qualified = "overload '" + std::string(overload) + "' of function " + qualified;
    } else if (node.domain() == "fuse") {
      auto const own = own_.find(qualified);
      bool const ours = own != own_.end() && own->second && agrees(node, own->second);
      qualified = ours ? own->second.name : "function " + qualified;
    }
    auto const [at, added] = numbers_.try_emplace(qualified, static_cast<std::uint32_t>(t_.ops.size()));
    record.op = at->second;
    if (!added) return {};
    t_.ops.push_back(standard && overload.empty() ? node.op_type() : qualified);
    if (node.domain() != "fuse" && functions_.contains(qualified)) t_.ops.back() = "function " + t_.ops.back();
    auto const* const function = t_.graphs[t_.graphs[record.body].scope].function;  // has imports of its own
    if (function == nullptr && !domains_.contains(standard ? std::string() : node.domain()))
      return "operator " + node.op_type() + " belongs to domain '" + (standard ? "ai.onnx" : node.domain()) +
             "', which the model does not import";
    if (standard && overload.empty()) standard_.emplace(node.op_type(), record.op);
    return {};
  }

 private:
  onnx_tables& t_;
  std::unordered_set<std::string> domains_;
  std::unordered_map<std::string, int> functions_;  // how many have a name
  std::unordered_map<std::string, own_function> own_;
  std::unordered_map<std::string_view, std::uint32_t> standard_;  // by bare name: most nodes
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace fuse::inline v0::adapters::detail
