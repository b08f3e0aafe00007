// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/node_names.hpp>
#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0::adapters::detail {

/// The edits of a rewrite, in the tables alone: the model's messages follow in one go when the edits are written. Each
/// edit costs time in proportion to the operands and uses that it touches, never to the model.
class onnx_editor {
 public:
  explicit onnx_editor(onnx_tables& tables) : t_(tables), node_names_(tables) {}

  [[nodiscard]] bool edited() const { return edited_; }

  /// None for an operator that is taken for a function of the model: one that was not declared, or one that fuse looks
  /// into, which might come to call itself, and whose calls have told what holds in it.
  onnx_node insert(onnx_node place, new_node<onnx_value> const& made) {
    auto const renamed = functions_renamed.find(made.op);
    bool const declared = renamed != functions_renamed.end();
    auto const op = declared ? std::string_view(renamed->second) : made.op;
    if (auto const known = function_of(op); known != function_names_.end() && (!declared || known->second)) return {};
    edited_ = true;
    auto const n = static_cast<std::uint32_t>(t_.nodes.size());

    auto& record = t_.nodes.emplace_back();
    record.name = name(bare(made.origin), split_op(op).second);
    record.op = op_number(op);
    record.first_attribute = static_cast<std::uint32_t>(t_.made_attributes.size());
    t_.made_attributes.emplace_back(made.attributes.begin(), made.attributes.end());
    record.body = t_.nodes[place.id].body;
    record.made = record.stale = true;
    record.first_operand = static_cast<std::uint32_t>(t_.slots.size());
    record.operand_count = static_cast<std::uint16_t>(made.operands.size());
    record.first_result = static_cast<std::uint32_t>(t_.results.size());
    record.result_count = static_cast<std::uint16_t>(made.result_types.size());
    auto& graph = t_.graphs[record.body];
    graph.edited = true;
    ++graph.length;
    for (auto const v : made.operands) t_.add_slot(v, n);
    for (auto const type_of_result : made.result_types) {
      onnx_value v{};
      // The first result is what a node is for, also where its type is not known.
      if (type_of_result != element_type::unknown || t_.results.size() == record.first_result) {
        v = t_.add_value({}, record.body, n);
        t_.values[v.id].element = type_of_result;
      }
      t_.results.push_back(v);
    }
    auto& around = t_.nodes[place.id];
    record.next = place.id;
    record.previous = around.previous;
    (around.previous == 0 ? graph.first : t_.nodes[around.previous].next) = n;
    around.previous = n;
    return {n};
  }

  void replace_uses(onnx_value from, onnx_value to) {
    if (from == to || !t_.used(from)) return;
    edited_ = true;
    bool const same_name = adopt_name(from, to);
    auto slot = std::exchange(t_.values[from.id].first_use, no_slot);
    while (slot != no_slot) {
      auto const next = t_.slot_next[slot];
      if (t_.slots[slot] == from) {
        t_.slots[slot] = to;
        t_.link(slot);
        if (!same_name) t_.nodes[t_.slot_node[slot]].stale = true;
      }
      slot = next;
    }
    t_.values[from.id].lost_use = true;
    lost_.push_back(from);
  }

  void erase(onnx_node n) {
    edited_ = true;
    auto const [previous, next, body] = std::tuple(t_.nodes[n.id].previous, t_.nodes[n.id].next, t_.nodes[n.id].body);
    auto& graph = t_.graphs[body];
    (previous == 0 ? graph.first : t_.nodes[previous].next) = next;
    (next == 0 ? graph.last : t_.nodes[next].previous) = previous;
    graph.edited = true;
    --graph.length;
    if (t_.nodes[n.id].body_count == 0) return take(n.id);  // most nodes
    dying_.assign(1, n.id);
    for (std::size_t at = 0; at < dying_.size(); ++at) {
      take(dying_[at]);
      auto const& record = t_.nodes[dying_[at]];
      for (auto b = record.first_body; b < record.first_body + record.body_count; ++b) {
        auto const& inner = t_.graphs[b];
        for (auto slot = inner.first_output; slot < inner.first_output + inner.output_count; ++slot) release(slot);
        for (auto m = inner.first; m != 0; m = t_.nodes[m].next) dying_.push_back(m);
      }
    }
  }

  /// In the model's graph, or in a function: there as a Constant, which holds nothing but floats before operator set 9.
  onnx_value add_constant(onnx_body body, tensor_view contents, std::string_view origin) {
    if (body.id != 0 && t_.version < 9 && !is_floating(contents.type)) return {};
    edited_ = true;
    auto* const proto = make_message<::onnx::TensorProto>(*t_.model);
    fill_tensor(*proto, contents);
    auto const name = t_.names.fresh(origin.empty() ? "constant" : bare(origin));
    proto->set_name(name.data(), name.size());
    auto const v = t_.add_value(name, body.id);
    t_.contents.push_back({t_.tensors.view(*proto),
                           contents.type,
                           {proto->dims().data(), static_cast<std::size_t>(proto->dims_size())},
                           proto,
                           v.id,
                           true});
    auto& record = t_.values[v.id];
    record.contents = static_cast<std::uint32_t>(t_.contents.size());
    record.element = contents.type;
    record.lost_use = true;
    lost_.push_back(v);
    return v;
  }

  /// Makes a function callable. An equal one of the model is used; a name that means another function is changed.
  bool declare(function_body const& body) {
    auto const [domain, name] = split_op(body.name);
    if (domain.empty() || functions_renamed.contains(body.name)) return !domain.empty();
    ::onnx::FunctionProto made;
    fill_function(made, body, *t_.model);
    std::string bytes;
    if (!serialize(made, bytes)) return false;
    read_functions(std::string(domain));
    auto const known = by_bytes_.find(bytes);
    if (known != by_bytes_.end()) {
      functions_renamed.emplace(body.name, known->second);
      return true;
    }
    auto free = body.name;
    for (std::size_t count = 1; function_names_.contains(free); ++count) free = body.name + "_" + std::to_string(count);
    made.set_name(std::string(split_op(free).second));
    function_names_.emplace(free, false);
    by_bytes_.emplace(std::move(bytes), free);
    functions_renamed.emplace(body.name, free);
    functions_made.push_back(std::move(made));
    return true;
  }

  /// Values that lost a use, in the order of the edits; some were constants that now nobody needs.
  [[nodiscard]] std::vector<onnx_value>& lost() { return lost_; }

  std::map<std::string, std::string, std::less<>> functions_renamed;  // asked for -> in the model
  std::vector<::onnx::FunctionProto> functions_made;

 private:
  void take(std::uint32_t n) {
    auto& record = t_.nodes[n];
    record.alive = false;
    for (auto slot = record.first_operand; slot < record.first_operand + record.operand_count; ++slot) release(slot);
  }
  void release(std::uint32_t slot) {
    auto const v = std::exchange(t_.slots[slot], onnx_value{});
    if (!v || t_.values[v.id].lost_use) return;
    t_.values[v.id].lost_use = true;
    lost_.push_back(v);
  }

  // A new value takes over the name of the first computed value that it replaces: names last, and users need no change.
  bool adopt_name(onnx_value from, onnx_value to) {
    auto& given = t_.values[from.id];
    auto& taken = t_.values[to.id];
    auto const fresh =
        taken.name.empty() && taken.producer != 0 && t_.nodes[taken.producer].made && taken.body == given.body;
    if (!fresh || given.producer == 0 || given.name.empty()) return false;
    taken.name = std::exchange(given.name, {});
    t_.nodes[given.producer].stale = true;
    return true;
  }

  // The name of a node without the function that it is in, which reports say behind it.
  [[nodiscard]] static std::string_view bare(std::string_view origin) {
    return origin.substr(0, origin.rfind(onnx_tables::in_function));
  }

  std::string_view name(std::string_view origin, std::string_view type) {
    name_ = origin;
    if (!name_.empty()) name_ += '_';
    name_ += type;
    return node_names_.name(name_);
  }

  std::uint32_t op_number(std::string_view op) {
    if (t_.ops[last_op_] == op) return last_op_;
    auto const [at, added] = ops_.try_emplace(std::string(op), static_cast<std::uint32_t>(t_.ops.size()));
    if (added) t_.ops.emplace_back(op);
    return last_op_ = at->second;
  }

  using function_names = std::unordered_map<std::string, bool>;  // whether fuse looks into it
  [[nodiscard]] function_names::const_iterator function_of(std::string_view op) {
    auto const domain = split_op(op).first;
    if (domain.empty()) return function_names_.end();
    read_functions(std::string(domain));
    return function_names_.find(std::string(op));
  }

  void read_functions(std::string const& domain) {
    if (!domains_read_.insert(domain).second) return;
    for (auto const b : t_.functions)
      if (auto const& function = *t_.graphs[b.id].function; function.domain() == domain)
        function_names_.emplace(name_of(function), true);
    for (auto const& function : t_.model->functions()) {
      if (function.domain() != domain) continue;
      auto const name = name_of(function);
      function_names_.emplace(name, false);
      auto copy = function;
      copy.clear_name();
      std::string bytes;
      if (serialize(copy, bytes)) by_bytes_.emplace(std::move(bytes), name);
    }
  }

  onnx_tables& t_;
  bool edited_ = false;
  std::vector<onnx_value> lost_;
  std::vector<std::uint32_t> dying_;
  onnx_node_names node_names_;
  std::string name_;
  std::uint32_t last_op_ = 0;  // of the last new node
  function_names function_names_;
  std::unordered_set<std::string> domains_read_;
  std::unordered_map<std::string, std::uint32_t> ops_;
  std::unordered_map<std::string, std::string> by_bytes_;
};

}  // namespace fuse::inline v0::adapters::detail
