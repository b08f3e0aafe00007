// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/editor.hpp>
#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/tables.hpp>

namespace fuse::inline v0::adapters::detail {

/// Writes the edits into the model's messages, once, at the end. What no edit touched keeps its message and its order.
class onnx_writer {
 public:
  onnx_writer(onnx_tables& tables, onnx_editor& editor) : t_(tables), editor_(editor) {}

  void write() {
    drop_constants();
    name_outputs();
    uncover();
    name_values();  // the last to ask which names are free: from here on the messages change
    for (auto& n : t_.nodes)
      if (n.alive && n.made) n.proto = new_message(n);
    for (std::uint32_t n = 1; n < t_.nodes.size(); ++n)
      if (t_.nodes[n].alive && t_.nodes[n].stale) write_names(t_.nodes[n]);
    for (std::uint32_t g = 0; g < t_.graphs.size(); ++g)
      if (alive(g) && t_.graphs[g].proto != nullptr) forget_values(t_.graphs[g]);
    for (auto const& [v, old] : uncovered_) write_name(v, old);
    write_functions();
    write_initializers();
    for (std::uint32_t g = 0; g < t_.graphs.size(); ++g)
      if (alive(g)) write_nodes(g);
    import_domains();
    for (auto& n : t_.nodes)
      if (!n.alive && !n.made && alive(n.body)) discard_message(std::exchange(n.proto, nullptr));
  }

 private:
  // Deep bodies of erased nodes died with them, and their messages go with their owner's.
  [[nodiscard]] bool alive(std::uint32_t g) const {
    return t_.graphs[g].owner == 0 || t_.nodes[t_.graphs[g].owner].alive;
  }
  [[nodiscard]] bool alive(onnx_value v) const {
    auto const& record = t_.values[v.id];
    return record.producer != 0 ? t_.nodes[record.producer].alive : !dropped_.contains(v.id) && alive(record.body);
  }
  [[nodiscard]] bool initializer(onnx_value v) const {
    auto const& record = t_.values[v.id];
    return record.contents != 0 && record.producer == 0 && t_.contents[record.contents - 1].initializer != nullptr;
  }

  // Constants that a rewrite made useless. Inputs stay: they belong to the interface.
  void drop_constants() {
    for (std::size_t i = 0; i < editor_.lost().size(); ++i) {
      auto const v = editor_.lost()[i];
      auto const& record = t_.values[v.id];
      if (record.pinned || !alive(v) || t_.used(v)) continue;
      if (initializer(v) && !record.input) {
        dropped_.insert(v.id);
      } else if (record.producer != 0 && t_.ops[t_.nodes[record.producer].op] == "Constant" &&
                 t_.nodes[record.producer].result_count == 1) {
        editor_.erase({record.producer});
      }
    }
  }

  void rename(onnx_value v, std::string_view name) {
    auto& record = t_.values[v.id];
    record.name = name;
    if (record.producer != 0) t_.nodes[record.producer].stale = true;
    t_.for_each_use(v, [&](std::uint32_t slot) { t_.nodes[t_.slot_node[slot]].stale = true; });
  }

  // An output keeps its name: whoever computes it now takes that name over, or an Identity hands it on.
  void name_outputs() {
    for (std::uint32_t g = 0; g < t_.graphs.size(); ++g) {
      if (!alive(g)) continue;
      std::unordered_set<std::uint32_t> fixed;  // values that bear the name of an output already
      std::vector<std::uint32_t> open;
      for (std::uint32_t i = 0; i < t_.graphs[g].output_count; ++i) {
        auto const v = output(g, i);
        if (t_.values[v.id].name == t_.output_name(t_.graphs[g], i))
          fixed.insert(v.id);
        else
          open.push_back(i);
      }
      std::unordered_set<std::string_view> handed_on;
      for (auto const i : open) {
        auto const& name = t_.output_name(t_.graphs[g], i);
        auto const v = output(g, i);
        auto const before = t_.graphs[g].named[i];
        if (handed_on.contains(name) || t_.values[v.id].name == name) continue;
        if (before != v && alive(before) && t_.values[before.id].name == name) {
          if (t_.values[before.id].input) continue;  // its name stands for another value: no edit may change that
          if (initializer(before))
            rename(before, t_.names.fresh(name));
          else
            rename(before, {});
        }
        auto const& record = t_.values[v.id];
        if (record.producer != 0 && record.body == g && fixed.insert(v.id).second) {
          rename(v, t_.texts.keep(name));
        } else {
          handed_on.insert(name);
          identities_.push_back({g, v, &name});
        }
      }
    }
  }
  [[nodiscard]] onnx_value output(std::uint32_t g, std::uint32_t i) const {
    return t_.slots[t_.graphs[g].first_output + i];
  }

  // An edit may bring a value into a body where another one hides its name: those get names of their own.
  void uncover() {
    if (!t_.hiding) return;
    for (std::uint32_t id = 1; id < t_.values.size(); ++id) {
      if (!t_.values[id].hides || !alive(onnx_value{id})) continue;
      uncovered_.push_back({onnx_value{id}, t_.values[id].name});
      rename({id}, t_.names.fresh(t_.values[id].name));
    }
  }
  void write_name(onnx_value v, std::string_view old) {
    std::string const fresh(t_.values[v.id].name);
    auto& proto = *t_.graphs[t_.values[v.id].body].proto;
    for (auto* field : {proto.mutable_input(), proto.mutable_value_info(), proto.mutable_output()})
      for (auto& info : *field)
        if (info.name() == old) info.set_name(fresh);
    for (auto& sparse : *proto.mutable_sparse_initializer())
      if (sparse.values().name() == old) sparse.mutable_values()->set_name(fresh);
    for (auto& annotation : *proto.mutable_quantization_annotation()) {
      if (annotation.tensor_name() == old) annotation.set_tensor_name(fresh);
      for (auto& entry : *annotation.mutable_quant_parameter_tensor_names())
        if (entry.value() == old) entry.set_value(fresh);
    }
  }

  void name_values() {
    for (std::uint32_t n = 1; n < t_.nodes.size(); ++n) {
      auto const& record = t_.nodes[n];
      if (!record.alive || !record.stale) continue;
      for (auto const v : t_.results_of(record))
        if (v && t_.values[v.id].name.empty())
          rename(v, t_.names.fresh(record.name.empty() ? t_.ops[record.op] : record.name));
    }
    for (auto& entry : t_.contents)
      if (auto const name = t_.values[entry.value].name;
          entry.initializer != nullptr && name != entry.initializer->name())
        entry.initializer->set_name(name.data(), name.size());
    for (auto const& record : t_.values)
      if (record.producer != 0 && t_.nodes[record.producer].made && t_.nodes[record.producer].alive)
        made_names_.insert(record.name);
  }

  [[nodiscard]] ::onnx::NodeProto* new_message(onnx_node_record const& record) const {
    auto* const node = make_message<::onnx::NodeProto>(*t_.model);
    auto const [domain, type] = split_op(t_.ops[record.op]);
    node->set_op_type(type.data(), type.size());
    if (!is_default_domain(domain)) node->set_domain(domain.data(), domain.size());
    node->set_name(record.name.data(), record.name.size());
    for (auto const& a : t_.made_attributes[record.first_attribute]) fill_attribute(*node->add_attribute(), a);
    return node;
  }

  void write_names(onnx_node_record& record) {
    auto& node = *record.proto;
    auto const text = [&](onnx_value v) { return v ? t_.values[v.id].name : std::string_view(""); };
    auto operands = record.operand_count, results = record.result_count;
    // Calls of functions name every result, "" for those that nobody uses; operators leave out the last ones.
    if (record.made && node.domain() != "fuse") {
      while (operands > 0 && !t_.operands(record)[operands - 1]) --operands;
      while (results > 1 && !t_.results_of(record)[results - 1]) --results;
    }
    for (std::uint32_t i = 0; i < operands; ++i) {
      auto const name = text(t_.operands(record)[i]);
      if (static_cast<int>(i) == node.input_size())
        node.add_input(name.data(), name.size());
      else if (node.input(static_cast<int>(i)) != name)
        node.set_input(static_cast<int>(i), name.data(), name.size());
    }
    for (std::uint32_t i = 0; i < results; ++i) {
      auto const name = text(t_.results_of(record)[i]);
      if (static_cast<int>(i) == node.output_size())
        node.add_output(name.data(), name.size());
      else if (node.output(static_cast<int>(i)) != name)
        node.set_output(static_cast<int>(i), name.data(), name.size());
    }
  }

  // Functions that some call names; the first version with functions asks for IR version 8.
  void write_functions() {
    std::unordered_set<std::string> called;
    for (auto const& n : t_.nodes)
      if (n.alive && n.made) called.insert(t_.ops[n.op]);
    bool any = false;
    for (auto& function : editor_.functions_made) {
      if (!called.contains(function.domain() + "::" + function.name())) continue;
      t_.model->add_functions()->Swap(&function);
      any = true;
    }
    drop_functions();
    auto& model = *t_.model;
    if (!any || model.ir_version() >= functions_since) return;
    for (std::uint32_t g = 0; g < t_.graphs.size(); ++g)
      if (alive(g) && t_.graphs[g].proto != nullptr) allow_functions(model, *t_.graphs[g].proto);
    model.set_ir_version(functions_since);
  }

  // Functions of fuse whose last call a rewrite replaced.
  void drop_functions() {
    auto& model = *t_.model;
    std::unordered_set<std::string> gone;
    for (auto const& n : t_.nodes)
      if (!n.alive && !n.made && n.proto->domain() == "fuse") gone.insert(n.proto->op_type());
    if (gone.empty() || model.training_info_size() != 0) return;
    for (auto const& n : t_.nodes)
      if (n.alive && n.proto != nullptr && n.proto->domain() == "fuse") gone.erase(n.proto->op_type());
    std::unordered_set<::onnx::FunctionProto const*> read;
    for (auto const b : t_.functions) read.insert(t_.graphs[b.id].function);
    for (auto const& function : model.functions())
      if (!read.contains(&function))
        for_each_node(function, [&](::onnx::NodeProto const& node) {
          if (node.domain() == "fuse") gone.erase(node.op_type());
        });
    keep_if(*model.mutable_functions(), [&](auto const& function, std::size_t) {
      return function.domain() != "fuse" || !gone.contains(function.name());
    });
    bool needed = false;
    for (auto const& n : t_.nodes) needed = needed || (n.alive && n.proto != nullptr && n.proto->domain() == "fuse");
    for (auto const& function : model.functions()) {
      needed = needed || function.domain() == "fuse";
      for (auto const& import : function.opset_import()) needed = needed || import.domain() == "fuse";
    }
    if (!needed)
      keep_if(*model.mutable_opset_import(), [](auto const& import, std::size_t) { return import.domain() != "fuse"; });
  }

  void write_initializers() {
    std::unordered_set<::onnx::TensorProto const*> gone;
    std::unordered_set<std::uint32_t> graphs;
    for (auto const& entry : t_.contents)
      if (entry.initializer != nullptr && dropped_.contains(entry.value)) {
        gone.insert(entry.initializer);
        if (!entry.made) graphs.insert(t_.values[entry.value].body);
      }
    for (auto const g : graphs)
      if (alive(g))
        keep_if(*t_.graphs[g].proto->mutable_initializer(),
                [&](auto const& tensor, std::size_t) { return !gone.contains(&tensor); });
    for (auto const& entry : t_.contents) {
      if (!entry.made) continue;
      auto const g = t_.values[entry.value].body;
      // Functions have no initializers; one of IR version 3 would have to be an input of the model, too.
      if (gone.contains(entry.initializer))
        discard_message(entry.initializer);
      else if (g == 0 && t_.model->ir_version() >= 4)
        t_.graphs[0].proto->mutable_initializer()->UnsafeArenaAddAllocated(entry.initializer);
      else
        constant_nodes_[g].push_back(entry.initializer);
    }
  }

  void write_nodes(std::uint32_t g) {
    auto const& graph = t_.graphs[g];
    auto& nodes = graph.nodes();
    auto const constants = constant_nodes_.find(g);
    if (graph.edited || constants != constant_nodes_.end()) {
      static_cast<void>(take_all(nodes));
      if (constants != constant_nodes_.end())
        for (auto* tensor : constants->second) nodes.UnsafeArenaAddAllocated(constant_node(tensor));
      for (auto n = graph.first; n != 0; n = t_.nodes[n].next) nodes.UnsafeArenaAddAllocated(t_.nodes[n].proto);
    }
    for (auto const& [body, v, name] : identities_) {
      if (body != g) continue;
      auto& node = *nodes.Add();
      node.set_op_type("Identity");
      node.add_input(std::string(t_.values[v.id].name));
      node.add_output(*name);
    }
  }

  [[nodiscard]] ::onnx::NodeProto* constant_node(::onnx::TensorProto* tensor) {
    auto* const node = make_message<::onnx::NodeProto>(*t_.model);
    node->set_op_type("Constant");
    node->set_name(tensor->name());
    node->add_output(tensor->name());
    auto& attribute = *node->add_attribute();
    attribute.set_name("value");
    attribute.set_type(::onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = *tensor;
    attribute.mutable_t()->clear_name();
    discard_message(tensor);
    return node;
  }

  // Descriptions of values that no longer exist, unless another value bears the name now.
  void forget_values(onnx_graph_record const& graph) {
    auto& proto = *graph.proto;
    auto const vanished = [&](onnx_value v, std::string const& name) {
      if (!v) return false;
      return !(alive(v) && t_.values[v.id].name == name) && !made_names_.contains(name);
    };
    bool any = false;
    for (std::size_t i = 0; i < graph.described.size(); ++i)
      any = vanished(graph.described[i], proto.value_info(static_cast<int>(i)).name()) || any;
    if (any)
      keep_if(*proto.mutable_value_info(),
              [&](auto const& info, std::size_t i) { return !vanished(graph.described[i], info.name()); });
  }

  void import_domains() {
    auto& model = *t_.model;
    for (auto const& n : t_.nodes) {
      if (!n.alive || !n.made || is_default_domain(n.proto->domain())) continue;
      auto const version = import(*model.mutable_opset_import(), n.proto->domain(), 1);
      if (auto* const function = t_.graphs[t_.graphs[n.body].scope].function; function != nullptr)
        import(*function->mutable_opset_import(), n.proto->domain(), version);
    }
  }
  // Returns the version that is imported already, or now is.
  template <class Imports>
  static std::int64_t import(Imports& imports, std::string const& domain, std::int64_t version) {
    bool known = false;
    for (auto const& import : imports)
      if (import.domain() == domain) {  // of several, the last one counts
        known = true;
        version = import.version();
      }
    if (known) return version;
    auto& made = *imports.Add();
    made.set_domain(domain);
    made.set_version(version);
    return version;
  }

  struct identity {
    std::uint32_t body;
    onnx_value value;
    std::string const* name;
  };

  onnx_tables& t_;
  onnx_editor& editor_;
  std::unordered_set<std::uint32_t> dropped_;
  std::vector<identity> identities_;
  std::unordered_set<std::string_view> made_names_;
  std::unordered_map<std::uint32_t, std::vector<::onnx::TensorProto*>> constant_nodes_;  // by body
  std::vector<std::pair<onnx_value, std::string_view>> uncovered_;
};

}  // namespace fuse::inline v0::adapters::detail
