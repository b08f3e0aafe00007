// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/graph/traits.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::adapters {

namespace detail {

/// Writes a graph into an empty model.
class model_writer {
 public:
  model_writer(fuse::graph const& from, ::onnx::ModelProto& into)
      : from_(from), into_(into), bound_(from, names_in(names), names.newest), known_(bound_.image, names) {
    if (!bound_.cyclic()) known_.run();
  }

  void write(std::map<std::string, tensor> const& passed) {
    into_.set_ir_version(8);
    import({}, from_.version());
    auto& graph = *into_.mutable_graph();
    graph.set_name("graph");
    for (auto const v : from_.inputs()) {
      auto const& name = name_of(v);
      describe(*graph.add_input(), v);
      auto const given = passed.find(name);
      if (given != passed.end())
        initialize(name, given->second);
      else if (auto const held = from_.constant(v))
        initialize(name, held);
    }
    write_body(fuse::graph::main_body, graph);
    for (auto const& function : from_.functions()) {
      auto const [domain, name] = split_op(function.name);
      import(domain, 1);
      auto& made = *into_.add_functions();
      fill_function(made, function, into_);
      made.set_name(std::string(name));
    }
  }

 private:
  using body = fuse::graph::body;
  using node = fuse::graph::node;
  using value = fuse::graph::value;

  void import(std::string_view domain, int version) {
    if (!imported_.insert(std::string(domain)).second) return;
    auto& made = *into_.add_opset_import();
    made.set_domain(std::string(domain));
    made.set_version(version);
  }
  void initialize(std::string const& name, tensor_view contents) {
    auto& made = *into_.mutable_graph()->add_initializer();
    fill_tensor(made, contents);
    made.set_name(name);
  }

  // Its own, or `wanted`, or else a number. Constants of all bodies are initializers of the graph.
  std::string const& name_of(value v, std::string_view wanted = {}) {
    auto& name = names_[v.id];
    if (!name.empty()) return name;
    auto const own = from_.name(v);
    name = free_name(std::string(own.empty() ? wanted : own), "%" + std::to_string(v.id));
    if (from_.constant(v) && !from_.overridable(v)) initialize(name, from_.constant(v));
    return name;
  }
  void describe(::onnx::ValueInfoProto& into, value v) {
    into.set_name(name_of(v));
    auto const known = known_.type(bound_.number(v));
    if (known == element_type::unknown) return;
    auto& type = *into.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int>(known));
    std::vector<dimension> shape;
    if (!from_.shape(v, shape)) return;
    type.mutable_shape();
    for (auto const& d : shape) {
      auto& made = *type.mutable_shape()->add_dim();
      if (d.extent >= 0)
        made.set_dim_value(d.extent);
      else if (!d.symbol.empty())
        made.set_dim_param(std::string(d.symbol));
    }
  }

  void write_body(body b, ::onnx::GraphProto& into) {
    auto const outputs = from_.outputs(b);
    std::set<std::uint32_t> made_here, given_out;
    for (auto const n : from_.nodes(b))
      for (auto const v : from_.results(n)) made_here.insert(v.id);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (given_out.insert(outputs[i].id).second && made_here.contains(outputs[i].id))
        name_of(outputs[i], from_.output_name(i, b));
    for (auto const n : from_.nodes(b)) {
      write_node(n, *into.add_node());
      for (auto const v : from_.results(n))
        if (from_.type(v) != element_type::unknown && !given_out.contains(v.id)) describe(*into.add_value_info(), v);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      auto const& name = name_of(outputs[i]);
      auto const wanted = from_.output_name(i, b);
      auto& made = *into.add_output();
      describe(made, outputs[i]);
      // Names of the graph's outputs are for whoever runs it, those of a body's for nobody. A body gives out what it
      // computes; nothing is given out twice.
      bool const named = b == fuse::graph::main_body ? wanted.empty() || taken_.contains(std::string(wanted))
                                                     : made_here.contains(outputs[i].id);
      if (named && given_out.erase(outputs[i].id) != 0) continue;
      auto& handed_on = *into.add_node();
      handed_on.set_op_type("Identity");
      handed_on.add_input(name);
      made.set_name(free_name(std::string(wanted), name));
      handed_on.add_output(made.name());
    }
  }
  // `wanted`, where it is free, else a name like that of the value.
  std::string free_name(std::string wanted, std::string const& like) {
    for (int i = 0; wanted.empty() || !taken_.insert(wanted).second; ++i) wanted = like + '_' + std::to_string(i);
    return wanted;
  }
  void write_node(node n, ::onnx::NodeProto& into) {
    auto const [domain, op] = split_op(from_.op(n));
    into.set_op_type(std::string(op));
    into.set_name(std::string(from_.name(n)));
    if (!is_default_domain(domain)) {
      into.set_domain(std::string(domain));
      import(domain, 1);
    }
    for (auto const v : from_.operands(n)) into.add_input(v ? name_of(v) : std::string());
    for (auto const v : from_.results(n)) into.add_output(name_of(v));
    for (auto const& a : from_.attributes(n)) fill_attribute(*into.add_attribute(), a);
    for (auto const b : from_.bodies(n)) {
      auto& made = *into.add_attribute();
      made.set_name(std::string(from_.name(b)));
      made.set_type(::onnx::AttributeProto::GRAPH);
      made.mutable_g()->set_name(std::string(from_.name(b)));
      for (auto const v : from_.inputs(b)) describe(*made.mutable_g()->add_input(), v);
      write_body(b, *made.mutable_g());
    }
  }

  static constexpr auto const& names = dialect_of<fuse::graph>;

  fuse::graph const& from_;
  ::onnx::ModelProto& into_;
  graph_binding<fuse::graph const> bound_;
  fuse::detail::facts known_;
  std::map<std::uint32_t, std::string> names_{};
  std::set<std::string> taken_{}, imported_{};
};

}  // namespace detail

/// The ONNX model of a graph that holds ONNX operators. Values keep their names, and the types and shapes that the
/// graph tells of them; those without a name get a number, or the name of the output that they are. `passed` are
/// contents for inputs, by their names: the model holds them as defaults. Complexity: O(nodes + bytes of constants).
[[nodiscard]] inline ::onnx::ModelProto model_of(fuse::graph const& g,
                                                 std::map<std::string, tensor> const& passed = {}) {
  ::onnx::ModelProto made;
  detail::model_writer(g, made).write(passed);
  return made;
}

}  // namespace fuse::inline v0::adapters
