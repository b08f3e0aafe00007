// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/calls.hpp>
#include <fuse/adapters/onnx/cycle.hpp>
#include <fuse/adapters/onnx/operator_names.hpp>
#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/core/span.hpp>

namespace fuse::inline v0::adapters::detail {

/// Numbers the nodes and values of a model and checks what ONNX asks of it, in one pass. `error` says in one sentence
/// what is wrong first, and where.
class onnx_reader {
 public:
  onnx_reader(onnx_tables& tables, std::string& error) : t_(tables), error_(error), operators_(tables) {}

  bool read() {
    auto& model = *t_.model;
    if (!model.has_graph()) return fail("the model has no graph");
    if (model.ir_version() < 1) return fail("the model states no IR version");
    if (auto wrong = operators_.read(); !wrong.empty()) return fail(std::move(wrong));
    auto const nodes = static_cast<std::size_t>(model.graph().node_size());
    t_.nodes.reserve(nodes + nodes / 8 + 1);
    auto const slots = 2 * nodes + nodes / 8;  // as models have them; see graph_binding
    t_.values.reserve(nodes + nodes * 5 / 8 + 1);
    t_.slots.reserve(slots);
    t_.slot_next.reserve(slots);
    t_.slot_node.reserve(slots);
    t_.results.reserve(nodes + nodes / 8);
    t_.names.reserve(nodes + static_cast<std::size_t>(model.graph().initializer_size()) + 16);
    t_.graphs.emplace_back().proto = model.mutable_graph();
    if (!read_graph(0, 0)) return false;
    for (auto& function : *model.mutable_functions())
      if (operators_.looks_into(function) && !read_function(function)) return false;
    if (auto recursion = order_functions(t_); !recursion.empty()) return fail(std::move(recursion));
    if (t_.sorted) return true;
    auto cycle = find_cycle(t_);
    return cycle.empty() || fail(std::move(cycle));
  }

 private:
  static constexpr int deepest = 100;  // bodies within bodies: what recursion here may cost

  bool fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return false;
  }

  [[nodiscard]] std::string place(std::uint32_t g) const {
    auto const owner = t_.graphs[g].owner;
    return (owner == 0 ? std::string() : " in a body of " + t_.describe(t_.nodes[owner])) + t_.where(g);
  }
  [[nodiscard]] std::string origin(onnx_value v) const {
    auto const& record = t_.values[v.id];
    if (record.producer != 0) return "by " + t_.describe(t_.nodes[record.producer]);
    return record.input ? "as an input" : "as an initializer";
  }

  // Whether a node's result that body `g` does not see yet has this name: that of the node that owns the body, or of a
  // later one. A name is free there.
  [[nodiscard]] bool comes_later(onnx_value_record const& result, std::uint32_t g) const {
    auto owner = t_.graphs[g].owner;
    while (t_.nodes[owner].body != result.body) owner = t_.graphs[t_.nodes[owner].body].owner;
    return result.producer >= owner;
  }

  // A value of body `g`. Null, with an error, where the name is taken in that body; nodes may not hide values that they
  // see.
  onnx_value define(std::string const& name, std::uint32_t g, std::uint32_t producer) {
    auto const here = onnx_value{t_.names.find(name)};
    auto const made = t_.add_value(t_.texts.keep(name), g, producer);
    if (here) {
      auto const& taken = t_.values[here.id];
      if (taken.body == g || (producer != 0 && !comes_later(taken, g))) {
        fail("value '" + name + "' is defined twice, " + origin(here) + " and " + origin(made) + place(g));
        return {};
      }
      t_.values[made.id].hides = t_.hiding = true;
    }
    t_.names.define(t_.values[made.id].name, made.id);
    return made;
  }

  bool read_graph(std::uint32_t g, int depth) {
    if (depth > deepest) return fail("bodies nest deeper than " + std::to_string(deepest) + " levels" + place(g));
    auto& proto = *t_.graphs[g].proto;
    auto const scope = t_.names.enter();
    auto const done = define_inputs(proto, g) && define_initializers(proto, g) && define_results(g) &&
                      resolve_nodes(g, depth) && resolve_outputs(proto, g);
    if (!done) return false;
    describe_values(proto, g);
    if (g == 0) {
      pin_training();
      close_outputs(g);
    }
    for (auto const& annotation : proto.quantization_annotation())
      for (auto const& entry : annotation.quant_parameter_tensor_names())
        t_.values[t_.names.find(entry.value())].pinned = true;
    t_.names.leave(scope);
    return true;
  }

  // Names in a function are a scope of their own.
  bool read_function(::onnx::FunctionProto& proto) {
    auto const g = static_cast<std::uint32_t>(t_.graphs.size());
    t_.graphs.emplace_back().function = &proto;
    t_.graphs[g].scope = g;
    t_.functions.push_back({g});
    auto const scope = t_.names.enter();
    auto const done = define_inputs(proto, g) && define_results(g) && resolve_nodes(g, 0) && resolve_outputs(proto, g);
    t_.names.leave(scope);
    return done;
  }

  [[nodiscard]] static std::string const& name_of(::onnx::ValueInfoProto const& value) { return value.name(); }
  [[nodiscard]] static std::string const& name_of(std::string const& value) { return value; }

  template <class Proto>
  bool define_inputs(Proto const& proto, std::uint32_t g) {
    for (auto const& input : proto.input()) {
      if (name_of(input).empty()) return fail("an input has no name" + place(g));
      auto const v = define(name_of(input), g, 0);
      if (!v) return false;
      auto& record = t_.values[v.id];
      record.input = true;
      set_type(record, input);
      t_.graphs[g].inputs.push_back(v);
    }
    return true;
  }

  bool define_initializers(::onnx::GraphProto& proto, std::uint32_t g) {
    for (auto& tensor : *proto.mutable_initializer()) {
      auto const v = define_initializer(tensor.name(), g);
      if (!v) return false;
      if (auto const wrong = t_.tensors.admit(tensor); !wrong.empty())
        return fail("initializer '" + tensor.name() + "' " + wrong + place(g));
      t_.contents.push_back({t_.tensors.view(tensor),
                             element_type_of_onnx(tensor.data_type()),
                             {tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())},
                             &tensor,
                             v.id,
                             false});
      auto& record = t_.values[v.id];
      record.contents = static_cast<std::uint32_t>(t_.contents.size());
      record.overridable = record.input && t_.model->ir_version() >= 4;
      if (!record.overridable) record.element = t_.contents.back().type;
    }
    for (auto& sparse : *proto.mutable_sparse_initializer()) {
      auto const v = define_initializer(sparse.values().name(), g);
      if (!v) return false;
      t_.contents.push_back({{},
                             element_type_of_onnx(sparse.values().data_type()),
                             {sparse.dims().data(), static_cast<std::size_t>(sparse.dims_size())},
                             nullptr,
                             v.id,
                             false});
      auto& record = t_.values[v.id];
      record.contents = static_cast<std::uint32_t>(t_.contents.size());
      record.element = t_.contents.back().type;
    }
    return true;
  }

  onnx_value define_initializer(std::string const& name, std::uint32_t g) {
    if (name.empty()) return fail("an initializer has no name" + place(g)), onnx_value{};
    auto const here = onnx_value{t_.names.find(name)};
    if (here && t_.values[here.id].body == g && t_.values[here.id].input && t_.values[here.id].contents == 0)
      return here;
    auto const v = define(name, g, 0);
    if (v && g != 0) t_.graphs[g].inputs.push_back(v);
    return v;
  }

  bool define_results(std::uint32_t g) {
    for (auto& node : t_.graphs[g].nodes()) {
      auto const n = static_cast<std::uint32_t>(t_.nodes.size());
      auto& record = t_.nodes.emplace_back();
      record.proto = &node;
      record.name = t_.texts.keep(node.name());
      record.body = g;
      t_.node_names.add(record.name);
      if (auto const wrong = operators_.name(record); !wrong.empty()) return fail(wrong + place(g));
      if (node.input_size() > widest || node.output_size() > widest)
        return fail(t_.describe(record) + " has more than " + std::to_string(widest) + " operands or results" +
                    place(g));
      append(g, n);
      record.first_result = static_cast<std::uint32_t>(t_.results.size());
      record.result_count = static_cast<std::uint16_t>(node.output_size());
      for (auto const& output : node.output()) {
        onnx_value v{};
        if (!output.empty() && !(v = define(output, g, n))) return false;
        t_.results.push_back(v);
      }
    }
    return true;
  }

  void append(std::uint32_t g, std::uint32_t n) {
    auto& graph = t_.graphs[g];
    t_.nodes[n].previous = graph.last;
    (graph.last == 0 ? graph.first : t_.nodes[graph.last].next) = n;
    graph.last = n;
    ++graph.length;
  }

  bool resolve_nodes(std::uint32_t g, int depth) {
    passed_.resize(t_.nodes.size(), false);
    for (auto n = t_.graphs[g].first; n != 0; n = t_.nodes[n].next) {
      auto& node = *t_.nodes[n].proto;
      if (!read_attributes(n, depth)) return false;
      t_.nodes[n].first_operand = static_cast<std::uint32_t>(t_.slots.size());
      t_.nodes[n].operand_count = static_cast<std::uint16_t>(node.input_size());
      for (auto const& input : node.input()) {
        if (input.empty()) {
          t_.add_slot({}, n);
          continue;
        }
        auto const v = onnx_value{t_.names.find(input)};
        if (!v)
          return fail(t_.describe(t_.nodes[n]) + " reads value '" + input + "', which nothing defines" + place(g));
        if (auto const from = t_.values[v.id].producer; from != 0 && !passed_[from]) t_.sorted = false;
        t_.add_slot(v, n);
      }
      passed_[n] = true;
    }
    return true;
  }

  bool read_attributes(std::uint32_t n, int depth) {
    auto& node = *t_.nodes[n].proto;
    std::vector<std::pair<std::string_view, ::onnx::GraphProto*>> bodies;
    t_.nodes[n].first_attribute = static_cast<std::uint32_t>(t_.attributes.size());
    t_.nodes[n].attribute_count = static_cast<std::uint32_t>(node.attribute_size());
    for (auto& attribute : *node.mutable_attribute()) {
      t_.attributes.emplace_back(attribute);
      auto const admit = [&](::onnx::TensorProto const& tensor) {
        auto const wrong = t_.tensors.admit(tensor);
        return wrong.empty() ||
               fail("the tensor in attribute '" + attribute.name() + "' of " + t_.describe(t_.nodes[n]) + " " + wrong);
      };
      if (attribute.has_t() && !admit(attribute.t())) return false;
      for (auto const& tensor : attribute.tensors())
        if (!admit(tensor)) return false;
      if (attribute.has_g()) bodies.emplace_back(attribute.name(), attribute.mutable_g());
      for (auto& body : *attribute.mutable_graphs()) bodies.emplace_back(attribute.name(), &body);
    }
    if (t_.ops[t_.nodes[n].op] == "Constant") read_constant(n);
    if (bodies.empty()) return true;
    // An If's then_branch before its else_branch, in whatever order they stand.
    std::stable_sort(bodies.begin(), bodies.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    auto const first = static_cast<std::uint32_t>(t_.graphs.size());
    t_.nodes[n].first_body = first;
    t_.nodes[n].body_count = static_cast<std::uint32_t>(bodies.size());
    for (auto const& [attribute, body] : bodies) {
      auto& graph = t_.graphs.emplace_back();
      graph.proto = body;
      graph.owner = n;
      graph.parent = t_.nodes[n].body;
      graph.scope = t_.graphs[graph.parent].scope;
    }
    for (std::uint32_t i = 0; i < bodies.size(); ++i)
      if (!read_graph(first + i, depth + 1)) return false;
    return true;
  }

  void read_constant(std::uint32_t n) {
    auto const& record = t_.nodes[n];
    auto const& node = *record.proto;
    if (node.input_size() != 0 || node.output_size() != 1 || node.attribute_size() != 1 || node.output(0).empty())
      return;
    auto const& a = node.attribute(0);
    tensor_view view;
    auto const keep = [&](element_type type, auto const& elements, bool list) {
      auto const extent = static_cast<std::int64_t>(elements.size());
      view = t_.tensors.keep(type, as_bytes(span(elements.data(), elements.size())), list ? &extent : nullptr);
    };
    if (!a.ref_attr_name().empty()) return;
    if (a.name() == "value" && a.has_t()) {
      view = t_.tensors.view(a.t());
    } else if (a.name() == "value_float" && a.has_f()) {
      keep(element_type::float32, std::vector<float>{a.f()}, false);
    } else if (a.name() == "value_int" && a.has_i()) {
      keep(element_type::int64, std::vector<std::int64_t>{a.i()}, false);
    } else if (a.name() == "value_floats") {
      keep(element_type::float32, std::vector<float>(a.floats().begin(), a.floats().end()), true);
    } else if (a.name() == "value_ints") {
      keep(element_type::int64, std::vector<std::int64_t>(a.ints().begin(), a.ints().end()), true);
    }
    if (!view) return;
    auto const v = t_.results[record.first_result];
    t_.contents.push_back({view, view.type, view.shape, nullptr, v.id, false});
    t_.values[v.id].contents = static_cast<std::uint32_t>(t_.contents.size());
    t_.values[v.id].element = view.type;
  }

  template <class Proto>
  bool resolve_outputs(Proto const& proto, std::uint32_t g) {
    std::vector<onnx_value> found;
    for (auto const& output : proto.output()) {
      auto const& name = name_of(output);
      auto const v = name.empty() ? onnx_value{} : onnx_value{t_.names.find(name)};
      if (!v) return fail("output '" + name + "' is computed by nothing" + place(g));
      if (t_.values[v.id].body != g) return fail("output '" + name + "' is a value from outside" + place(g));
      if (t_.values[v.id].element == element_type::unknown) set_type(t_.values[v.id], output);
      found.push_back(v);
    }
    t_.graphs[g].named = std::move(found);
    if (g != 0) close_outputs(g);
    return true;
  }

  void close_outputs(std::uint32_t g) {
    auto& graph = t_.graphs[g];
    graph.first_output = static_cast<std::uint32_t>(t_.slots.size());
    graph.output_count = static_cast<std::uint32_t>(graph.named.size());
    for (auto const v : graph.named) t_.add_slot(v, 0);
  }

  void describe_values(::onnx::GraphProto& proto, std::uint32_t g) {
    for (auto const& info : proto.value_info()) {
      auto v = onnx_value{t_.names.find(info.name())};
      if (t_.values[v.id].body != g) v = {};
      t_.graphs[g].described.push_back(v);
      if (v && t_.values[v.id].type == nullptr) set_type(t_.values[v.id], info);
    }
  }

  static void set_type(onnx_value_record& record, ::onnx::ValueInfoProto const& info) {
    if (!info.has_type()) return;
    record.type = &info.type();
    if (record.element != element_type::unknown) return;
    if (info.type().has_tensor_type())
      record.element = element_type_of_onnx(info.type().tensor_type().elem_type());
    else if (info.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET)
      record.element = element_type::other;
  }

  static void set_type(onnx_value_record&, std::string const&) {}  // functions state no types

  // Training graphs read values of the graph by name, and fuse does not edit them.
  void pin_training() {
    std::vector<::onnx::GraphProto const*> graphs;
    std::unordered_set<std::string_view> seen;
    auto const pin = [&](std::string const& name) {
      auto const v = onnx_value{t_.names.find(name)};
      if (!v || !seen.insert(name).second) return;
      t_.values[v.id].pinned = true;
      t_.training_names.push_back(&name);
      t_.graphs[0].named.push_back(v);
    };
    for (auto const& training : t_.model->training_info()) {
      for (auto const* bindings : {&training.initialization_binding(), &training.update_binding()})
        for (auto const& binding : *bindings) {
          pin(binding.key());
          pin(binding.value());
        }
      graphs.push_back(&training.initialization());
      graphs.push_back(&training.algorithm());
    }
    for (std::size_t at = 0; at < graphs.size(); ++at)
      for (auto const& node : graphs[at]->node()) {
        for (auto const& input : node.input()) pin(input);
        for (auto const& attribute : node.attribute()) {
          if (attribute.has_g()) graphs.push_back(&attribute.g());
          for (auto const& body : attribute.graphs()) graphs.push_back(&body);
        }
      }
  }

  static constexpr int widest = std::numeric_limits<std::uint16_t>::max();

  onnx_tables& t_;
  std::string& error_;
  onnx_operator_names operators_;
  std::vector<bool> passed_;
};

}  // namespace fuse::inline v0::adapters::detail
