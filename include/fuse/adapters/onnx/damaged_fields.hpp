// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/newer_fields.hpp>
#include <fuse/adapters/onnx/wire_fields.hpp>

namespace fuse::inline v0::adapters::detail {

/// Looks for damage in fields that are newer than the parser, which takes them as bytes. As protobuf has it, a field of
/// another wire type than its own, or one that no ONNX knows, is nobody's and stays. Only messages that can hold newer
/// fields are visited.
class damaged_fields {
 public:
  /// The first one, in one sentence without a subject, or nothing.
  [[nodiscard]] std::string find(::onnx::ModelProto const& model) {
    static_cast<void>(visit(model, 0));
    return std::move(error_);
  }

 private:
  static constexpr int deepest = 100;  // messages within each other: more are refused by every parser

  bool visit(::onnx::ModelProto const& model, int level) {
    return unknown(model, onnx_part::model, level) && (!model.has_graph() || visit(model.graph(), level + 1)) &&
           visit_all(model.functions(), level + 1) && visit_all(model.training_info(), level + 1);
  }
  bool visit(::onnx::TrainingInfoProto const& training, int level) {
    return (!training.has_initialization() || visit(training.initialization(), level + 1)) &&
           (!training.has_algorithm() || visit(training.algorithm(), level + 1));
  }
  bool visit(::onnx::GraphProto const& graph, int level) {
    return unknown(graph, onnx_part::graph, level) && visit_all(graph.node(), level + 1) &&
           visit_all(graph.initializer(), level + 1) && visit_all(graph.sparse_initializer(), level + 1) &&
           visit_all(graph.input(), level + 1) && visit_all(graph.output(), level + 1) &&
           visit_all(graph.value_info(), level + 1);
  }
  bool visit(::onnx::FunctionProto const& function, int level) {
    return unknown(function, onnx_part::function, level) && visit_all(function.node(), level + 1);
  }
  bool visit(::onnx::NodeProto const& node, int level) {
    return unknown(node, onnx_part::node, level) && visit_all(node.attribute(), level + 1);
  }
  bool visit(::onnx::AttributeProto const& a, int level) {
    return (!a.has_t() || visit(a.t(), level + 1)) && (!a.has_g() || visit(a.g(), level + 1)) &&
           (!a.has_sparse_tensor() || visit(a.sparse_tensor(), level + 1)) && visit_all(a.tensors(), level + 1) &&
           visit_all(a.graphs(), level + 1) && visit_all(a.sparse_tensors(), level + 1);
  }
  bool visit(::onnx::SparseTensorProto const& tensor, int level) {
    return (!tensor.has_values() || visit(tensor.values(), level + 1)) &&
           (!tensor.has_indices() || visit(tensor.indices(), level + 1));
  }
  bool visit(::onnx::TensorProto const& tensor, int level) { return unknown(tensor, onnx_part::tensor, level); }
  bool visit(::onnx::ValueInfoProto const& value, int level) { return unknown(value, onnx_part::value_info, level); }

  template <class Messages>
  bool visit_all(Messages const& messages, int level) {
    for (auto const& message : messages)
      if (!visit(message, level)) return false;
    return true;
  }

  template <class Message>
  bool unknown(Message const& message, onnx_part part, int level) {
    bool sound = true;
    auto wrong =
        read_unknown(message.unknown_fields(), deepest - level, [&](std::uint32_t number, std::string_view content) {
          auto const* const known = find_newer_field(part, number);
          return sound = known == nullptr || whole(*known, content, level);
        });
    if (!wrong.empty()) sound = fail(std::move(wrong));
    if (!sound && error_.empty()) error_ = sentence(describe(message));
    return sound;
  }

  [[nodiscard]] std::string sentence(std::string const& owner) const {
    if (path_.empty()) return "has a damaged field in " + owner + ": " + what_;
    std::string name;
    for (auto const* field : path_) name += (name.empty() ? "" : ".") + std::string(field->name);
    return "has a damaged field: '" + name + "' of " + owner + " is no " +
           std::string(message_name(path_.back()->holds)) + ": " + what_;
  }
  static std::string describe(::onnx::ModelProto const&) { return "the model"; }
  static std::string describe(::onnx::GraphProto const& graph) { return "graph '" + graph.name() + "'"; }
  static std::string describe(::onnx::TensorProto const& tensor) { return "tensor '" + tensor.name() + "'"; }
  static std::string describe(::onnx::ValueInfoProto const& value) { return "value '" + value.name() + "'"; }
  static std::string describe(::onnx::FunctionProto const& function) {
    return "function '" + function.domain() + "::" + function.name() + "'";
  }
  static std::string describe(::onnx::NodeProto const& node) {
    if (!node.name().empty()) return "node '" + node.name() + "'";
    return node.output_size() == 0 ? "a node (" + node.op_type() + ")"
                                   : "the node (" + node.op_type() + ") that computes '" + node.output(0) + "'";
  }

  // What a field that came with a length holds. `level` is that of the message around it.
  bool whole(newer_field const& field, std::string_view bytes, int level) {
    if (field.holds == onnx_part::text || field.holds == onnx_part::integer) return true;
    path_.push_back(&field);
    bool const done = field.holds == onnx_part::integers     ? packed(bytes)
                      : level == deepest                     ? fail("it lies deeper than protobuf reads")
                      : field.holds == onnx_part::attribute  ? parsed<::onnx::AttributeProto>(bytes, level + 1)
                      : field.holds == onnx_part::value_info ? parsed<::onnx::ValueInfoProto>(bytes, level + 1)
                                                             : fields(bytes, field.holds, level + 1);
    if (done) path_.pop_back();
    return done;
  }

  bool packed(std::string_view bytes) {
    wire_cursor cursor(bytes);
    for (std::uint64_t value = 0; !cursor.done();)
      if (auto const begin = cursor.at(); !cursor.number(value)) return fail(cut_off_at(begin));
    return true;
  }

  // A message that the parser knows, though not in this place.
  template <class Message>
  bool parsed(std::string_view bytes, int level) {
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<std::uint8_t const*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    stream.SetRecursionLimit(deepest - level);
    Message message;
    if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
      return fields(bytes, onnx_part::entry, level) && fail("protobuf cannot decode it");
    auto const around = std::exchange(path_, {});
    bool const done = visit(message, level);
    path_ = around;
    return done;
  }

  // A message that the parser does not know.
  bool fields(std::string_view bytes, onnx_part part, int level) {
    bool sound = true;
    auto wrong = read_fields(bytes, deepest - level, [&](std::uint32_t number, std::string_view content) {
      auto const* const known = find_newer_field(part, number);
      return sound = known == nullptr || whole(*known, content, level);
    });
    return wrong.empty() ? sound : fail(std::move(wrong));
  }

  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }

  std::string what_, error_;
  std::vector<newer_field const*> path_;
};

}  // namespace fuse::inline v0::adapters::detail
