// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0::adapters::detail {

/// A new message where the model's own messages live: in its arena, or on the heap.
template <class Message>
[[nodiscard]] Message* make_message(::onnx::ModelProto const& model) {
  return google::protobuf::Arena::CreateMessage<Message>(model.GetArena());
}

template <class Message>
void discard_message(Message* message) {
  if (message->GetArena() == nullptr) delete message;
}

/// Takes all elements out of a repeated field; they stay where they are.
template <class Field>
[[nodiscard]] auto take_all(Field& field) {
  std::vector<std::remove_reference_t<decltype(*field.Mutable(0))>*> all(static_cast<std::size_t>(field.size()));
  if (!all.empty()) field.UnsafeArenaExtractSubrange(0, field.size(), all.data());
  return all;
}

/// Keeps the elements for which `keep(element, index)` holds, in their order.
template <class Field, class Keep>
void keep_if(Field& field, Keep&& keep) {
  auto const all = take_all(field);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (keep(*all[i], i))
      field.UnsafeArenaAddAllocated(all[i]);
    else
      discard_message(all[i]);
  }
}

/// The bytes of a message, the same for equal messages.
[[nodiscard]] inline bool serialize(google::protobuf::MessageLite const& message, std::string& bytes) {
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  return message.SerializeToCodedStream(&coded);
}

/// Calls `visit(node)` for the nodes of a graph or function and of all bodies below them, with a stack of its own.
template <class Graph, class Visit>
void for_each_node(Graph const& graph, Visit&& visit) {
  std::vector<::onnx::NodeProto const*> nodes;
  for (auto const& node : graph.node()) nodes.push_back(&node);
  while (!nodes.empty()) {
    auto const& node = *nodes.back();
    nodes.pop_back();
    visit(node);
    for (auto const& attribute : node.attribute()) {
      for (auto const& inner : attribute.g().node()) nodes.push_back(&inner);
      for (auto const& body : attribute.graphs())
        for (auto const& inner : body.node()) nodes.push_back(&inner);
    }
  }
}

inline void fill_tensor(::onnx::TensorProto& into, tensor_view contents) {
  into.set_data_type(static_cast<int>(contents.type));
  for (auto const extent : contents.shape) into.add_dims(extent);
  into.set_raw_data(contents.bytes.data(), contents.bytes.size());
}

/// Of an `attribute`, or of one of `fuse::graph`.
template <class Attribute>
void fill_attribute(::onnx::AttributeProto& into, Attribute const& from) {
  into.set_name(from.name);
  std::visit(
      [&](auto const& content) {
        using type = std::remove_cvref_t<decltype(content)>;
        if constexpr (std::is_same_v<type, std::int64_t>) {
          into.set_type(::onnx::AttributeProto::INT);
          into.set_i(content);
        } else if constexpr (std::is_same_v<type, double>) {
          into.set_type(::onnx::AttributeProto::FLOAT);
          into.set_f(static_cast<float>(content));
        } else if constexpr (std::is_same_v<type, std::string>) {
          into.set_type(::onnx::AttributeProto::STRING);
          into.set_s(content);
        } else if constexpr (std::is_same_v<type, tensor>) {
          into.set_type(::onnx::AttributeProto::TENSOR);
          fill_tensor(*into.mutable_t(), content);
        } else if constexpr (std::is_same_v<type, std::vector<float>>) {
          into.set_type(::onnx::AttributeProto::FLOATS);
          for (auto const x : content) into.add_floats(x);
        } else {
          into.set_type(::onnx::AttributeProto::INTS);
          for (auto const i : content) into.add_ints(i);
        }
      },
      from.content);
}

/// Splits "domain::Name"; a bare name belongs to the default domain.
[[nodiscard]] inline std::pair<std::string_view, std::string_view> split_op(std::string_view op) {
  auto const at = op.rfind("::");
  if (at == std::string_view::npos) return {{}, op};
  return {op.substr(0, at), op.substr(at + 2)};
}

/// Sets what kind of attribute a function's own attribute is where a step refers to it: known by its ONNX name.
[[nodiscard]] inline ::onnx::AttributeProto::AttributeType referred_type(std::string_view attribute) {
  if (attribute == "epsilon" || attribute == "alpha" || attribute == "beta" || attribute == "value_float")
    return ::onnx::AttributeProto::FLOAT;
  if (attribute == "axes" || attribute == "value_ints") return ::onnx::AttributeProto::INTS;
  if (attribute == "value_floats") return ::onnx::AttributeProto::FLOATS;
  return ::onnx::AttributeProto::INT;
}

using operator_sets = google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;

/// Imports those operator sets whose domains a function's nodes use, in the order of the nodes.
inline void import_domains(::onnx::FunctionProto& into, operator_sets const& imports) {
  std::vector<std::string> domains;
  for (auto const& node : into.node()) {
    auto const domain = is_default_domain(node.domain()) ? std::string() : node.domain();
    bool known = false;
    for (auto const& seen : domains) known = known || seen == domain;
    if (!known) domains.push_back(domain);
  }
  for (auto const& domain : domains) {
    ::onnx::OperatorSetIdProto* made = nullptr;
    for (auto const& import : imports)  // the last one counts
      if (domain == (is_default_domain(import.domain()) ? std::string() : import.domain())) {
        if (made == nullptr) made = into.add_opset_import();
        made->set_domain(domain);
        made->set_version(import.version());
      }
  }
}

/// The ONNX function of a body, without a name; it imports the model's own operator sets of the domains that its steps
/// use.
inline void fill_function(::onnx::FunctionProto& into, function_body const& from, ::onnx::ModelProto const& model) {
  into.set_domain(std::string(split_op(from.name).first));
  for (auto const& name : from.inputs) into.add_input(name);
  for (auto const& name : from.outputs) into.add_output(name);
  for (auto const& name : from.attributes) into.add_attribute(name);
  for (auto const& step : from.steps) {
    auto& node = *into.add_node();
    auto const [domain, op] = split_op(step.op);
    node.set_op_type(std::string(op));
    if (!is_default_domain(domain)) node.set_domain(std::string(domain));
    for (auto const& name : step.operands) node.add_input(name);
    for (auto const& name : step.results) node.add_output(name);
    for (auto const& a : step.attributes) fill_attribute(*node.add_attribute(), a);
    for (auto const& [own, referred] : step.references) {
      auto& a = *node.add_attribute();
      a.set_name(own);
      a.set_ref_attr_name(referred);
      a.set_type(referred_type(own));
    }
  }
  import_domains(into, model.opset_import());
}

/// The first IR version with functions.
inline constexpr int functions_since = 8;

/// What a graph needs where its model's IR version rises to one with functions. Below version 4 an initializer is an
/// input, too, and a constant nevertheless; from 4 on it would be none.
inline void allow_functions(::onnx::ModelProto const& model, ::onnx::GraphProto& graph) {
  if (model.ir_version() >= 4) return;
  std::unordered_set<std::string_view> constants;
  for (auto const& tensor : graph.initializer()) constants.insert(tensor.name());
  for (auto const& sparse : graph.sparse_initializer()) constants.insert(sparse.values().name());
  keep_if(*graph.mutable_input(), [&](auto const& input, std::size_t) { return !constants.contains(input.name()); });
}

}  // namespace fuse::inline v0::adapters::detail
