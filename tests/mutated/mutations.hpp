// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Damages models: their bytes, any field of their messages, and the things that readers of graphs trip over. The same
/// seed gives the same damage with every standard library.
class mutator {
 public:
  explicit mutator(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(engine_() % count); }
  bool chance(std::size_t in) { return below(in) == 0; }

  /// The bytes of a damaged copy of `model`.
  std::string damaged(onnx::ModelProto model) {
    bool const fields = !chance(3);
    if (fields)
      for (auto count = chance(4) ? 1 + below(4) : 1; count > 0; --count)
        chance(3) ? any_field(model) : graph_of(model);
    auto bytes = model.SerializeAsString();
    if (!fields || chance(8))
      for (auto count = chance(2) ? 1 + below(4) : 1; count > 0; --count) damage(bytes);
    return bytes;
  }

 private:
  template <class T>
  T const& one_of(std::vector<T> const& all) {
    return all[below(all.size())];
  }
  char letter() { return static_cast<char>(below(256)); }

  void damage(std::string& bytes) {
    if (bytes.empty()) return;
    auto const at = below(bytes.size());
    auto const length = std::min<std::size_t>(bytes.size() - at, 1 + below(chance(4) ? 2000 : 8));
    switch (below(7)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 1: bytes[at] = letter(); break;
      case 2: bytes.erase(at, length); break;
      case 3: bytes.insert(at, bytes.substr(at, length)); break;
      case 4: bytes.insert(at, 1, letter()); break;
      case 5:
        if (chance(4))
          bytes.resize(at);
        else
          bytes.replace(at, length, length, letter());
        break;
      default: std::swap(bytes[at], bytes[below(bytes.size())]);
    }
  }

  std::int64_t number() {
    constexpr std::array<std::int64_t, 16> interesting{0,
                                                       1,
                                                       -1,
                                                       2,
                                                       -2,
                                                       3,
                                                       4,
                                                       7,
                                                       17,
                                                       127,
                                                       -128,
                                                       65536,
                                                       std::int64_t{1} << 31,
                                                       std::int64_t{1} << 40,
                                                       std::numeric_limits<std::int64_t>::max(),
                                                       std::numeric_limits<std::int64_t>::min()};
    return chance(6) ? static_cast<std::int64_t>(engine_()) : interesting[below(interesting.size())];
  }

  // Any field of any message, by reflection.
  void any_field(google::protobuf::Message& whole) {
    auto* message = &whole;
    while (true) {
      auto const* const reflection = message->GetReflection();
      std::vector<google::protobuf::FieldDescriptor const*> fields;
      reflection->ListFields(*message, &fields);
      if (fields.empty()) return;
      auto const* const field = one_of(fields);
      auto const repeated = field->is_repeated();
      auto const at =
          repeated ? static_cast<int>(below(static_cast<std::size_t>(reflection->FieldSize(*message, field)))) : 0;
      if (chance(12)) {
        if (!repeated) return reflection->ClearField(message, field);
        if (chance(2))
          return reflection->SwapElements(
              message, field, at,
              static_cast<int>(below(static_cast<std::size_t>(reflection->FieldSize(*message, field)))));
        return reflection->RemoveLast(message, field);
      }
      if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
        if (repeated && chance(10)) {
          reflection->AddMessage(message, field)->CopyFrom(reflection->GetRepeatedMessage(*message, field, at));
          return;
        }
        message = repeated ? reflection->MutableRepeatedMessage(message, field, at)
                           : reflection->MutableMessage(message, field);
        continue;
      }
      return set(*message, *field, at);
    }
  }

  void set(google::protobuf::Message& message, google::protobuf::FieldDescriptor const& field, int at) {
    using descriptor = google::protobuf::FieldDescriptor;
    auto const& r = *message.GetReflection();
    bool const repeated = field.is_repeated();
    auto const n = number();
    switch (field.cpp_type()) {
      case descriptor::CPPTYPE_INT32: {
        auto const v = static_cast<std::int32_t>(chance(2) ? static_cast<std::int64_t>(below(28)) : n);
        return repeated ? r.SetRepeatedInt32(&message, &field, at, v) : r.SetInt32(&message, &field, v);
      }
      case descriptor::CPPTYPE_INT64:
        return repeated ? r.SetRepeatedInt64(&message, &field, at, n) : r.SetInt64(&message, &field, n);
      case descriptor::CPPTYPE_UINT64: {
        auto const v = static_cast<std::uint64_t>(n);
        return repeated ? r.SetRepeatedUInt64(&message, &field, at, v) : r.SetUInt64(&message, &field, v);
      }
      case descriptor::CPPTYPE_FLOAT: {
        auto const v = static_cast<float>(n);
        return repeated ? r.SetRepeatedFloat(&message, &field, at, v) : r.SetFloat(&message, &field, v);
      }
      case descriptor::CPPTYPE_DOUBLE: {
        auto const v = static_cast<double>(n);
        return repeated ? r.SetRepeatedDouble(&message, &field, at, v) : r.SetDouble(&message, &field, v);
      }
      case descriptor::CPPTYPE_ENUM: {
        auto const v = static_cast<int>(below(16));
        return repeated ? r.SetRepeatedEnumValue(&message, &field, at, v) : r.SetEnumValue(&message, &field, v);
      }
      case descriptor::CPPTYPE_STRING: {
        auto text = repeated ? r.GetRepeatedString(message, &field, at) : r.GetString(message, &field);
        if (chance(3))
          text = word();
        else if (!text.empty())
          damage(text);
        return repeated ? r.SetRepeatedString(&message, &field, at, text) : r.SetString(&message, &field, text);
      }
      default: return;
    }
  }

  std::string word() {
    static std::vector<std::string> const words{"",
                                                "Add",
                                                "Sub",
                                                "Mul",
                                                "Div",
                                                "Pow",
                                                "Sqrt",
                                                "Reciprocal",
                                                "ReduceMean",
                                                "ReduceSum",
                                                "Cast",
                                                "Identity",
                                                "Constant",
                                                "ConstantOfShape",
                                                "Shape",
                                                "Size",
                                                "Gather",
                                                "Concat",
                                                "Slice",
                                                "Unsqueeze",
                                                "Squeeze",
                                                "Range",
                                                "Reshape",
                                                "Flatten",
                                                "Expand",
                                                "Tile",
                                                "Transpose",
                                                "MatMul",
                                                "Gemm",
                                                "Conv",
                                                "Softmax",
                                                "Where",
                                                "Split",
                                                "LayerNormalization",
                                                "RMSNormalization",
                                                "SimplifiedLayerNormalization",
                                                "If",
                                                "Loop",
                                                "GlobalAveragePool",
                                                "Neg",
                                                "Sum",
                                                "Einsum",
                                                "com.microsoft",
                                                "fuse",
                                                "ai.onnx",
                                                "axes",
                                                "axis",
                                                "keepdims",
                                                "epsilon",
                                                "value",
                                                "to",
                                                "perm",
                                                "x"};
    return one_of(words);
  }

  // What readers of graphs trip over.
  void graph_of(onnx::ModelProto& model) {
    auto& graph = *model.mutable_graph();
    if (graph.node_size() == 0) return;
    auto& node = *graph.mutable_node(static_cast<int>(below(static_cast<std::size_t>(graph.node_size()))));
    auto const other = graph.node(static_cast<int>(below(static_cast<std::size_t>(graph.node_size()))));
    switch (below(16)) {
      case 0:  // an operand that is computed elsewhere, also later
        if (node.input_size() > 0 && other.output_size() > 0)
          node.set_input(static_cast<int>(below(static_cast<std::size_t>(node.input_size()))), other.output(0));
        break;
      case 1:
        if (node.input_size() > 0 && other.input_size() > 0)
          node.set_input(static_cast<int>(below(static_cast<std::size_t>(node.input_size()))),
                         other.input(static_cast<int>(below(static_cast<std::size_t>(other.input_size())))));
        break;
      case 2: {  // a copy, with names of its own or not
        auto& copy = *graph.add_node() = other;
        if (!chance(4))
          for (auto& output : *copy.mutable_output()) output += "'";
        break;
      }
      case 3:
        graph.mutable_node()->DeleteSubrange(static_cast<int>(below(static_cast<std::size_t>(graph.node_size()))), 1);
        break;
      case 4:
        graph.mutable_node()->SwapElements(static_cast<int>(below(static_cast<std::size_t>(graph.node_size()))),
                                           static_cast<int>(below(static_cast<std::size_t>(graph.node_size()))));
        break;
      case 5: node.set_op_type(chance(2) ? other.op_type() : word()); break;
      case 6: branch(model, other); break;
      case 7: external(graph); break;
      case 8:
        if (model.opset_import_size() > 0)
          model.mutable_opset_import(0)->set_version(chance(4) ? number() : static_cast<std::int64_t>(1 + below(26)));
        break;
      case 9: model.set_ir_version(chance(4) ? number() : static_cast<std::int64_t>(1 + below(12))); break;
      case 10:  // a constant that a caller may override
        if (graph.initializer_size() > 0) {
          auto const& tensor =
              graph.initializer(static_cast<int>(below(static_cast<std::size_t>(graph.initializer_size()))));
          auto& input = *graph.add_input();
          input.set_name(tensor.name());
          input.mutable_type()->mutable_tensor_type()->set_elem_type(tensor.data_type());
        }
        break;
      case 11:
        if (graph.initializer_size() > 0) {
          auto& tensor =
              *graph.mutable_initializer(static_cast<int>(below(static_cast<std::size_t>(graph.initializer_size()))));
          chance(2) ? tensor.add_dims(number()) : tensor.set_data_type(static_cast<int>(below(28)));
        }
        break;
      case 12:
        if (node.output_size() > 0) graph.add_output()->set_name(node.output(0));
        break;
      case 13: {
        auto& attribute = *node.add_attribute();
        attribute.set_name(word());
        attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(below(8)));
        attribute.set_i(number());
        for (auto count = below(4); count > 0; --count) attribute.add_ints(number());
        break;
      }
      case 14: {
        auto& function = *model.add_functions();
        function.set_name(chance(2) ? node.op_type() : "LayerNormalization_scale_bias");
        function.set_domain(chance(2) ? node.domain() : "fuse");
        *function.add_node() = other;
        break;
      }
      default:
        if (graph.input_size() > 0) {
          auto& type = *graph.mutable_input(static_cast<int>(below(static_cast<std::size_t>(graph.input_size()))))
                            ->mutable_type()
                            ->mutable_tensor_type();
          type.set_elem_type(static_cast<int>(below(20)));
          type.mutable_shape()->add_dim()->set_dim_value(number());
        }
    }
  }

  // Moves a node into the branches of an If, some levels deep, where it captures what it read.
  void branch(onnx::ModelProto& model, onnx::NodeProto const& other) {
    auto* graph = model.mutable_graph();
    for (auto depth = 1 + below(chance(20) ? 60 : 3); depth > 0; --depth) {
      auto& owner = *graph->add_node();
      owner.set_op_type("If");
      owner.add_input(graph->input_size() > 0 ? graph->input(0).name() : "none");
      owner.add_output(chance(6) ? "" : "if" + std::to_string(below(1000)));
      auto& attribute = *owner.add_attribute();
      attribute.set_name("then_branch");
      attribute.set_type(onnx::AttributeProto::GRAPH);
      graph = attribute.mutable_g();
    }
    auto& copy = *graph->add_node() = other;
    for (auto& output : *copy.mutable_output())
      if (!output.empty()) {
        output += "\"";
        graph->add_output()->set_name(output);
      }
  }

  void external(onnx::GraphProto& graph) {
    if (graph.initializer_size() == 0) return;
    auto& tensor =
        *graph.mutable_initializer(static_cast<int>(below(static_cast<std::size_t>(graph.initializer_size()))));
    static std::vector<std::string> const locations{
        "weights.bin", "./weights.bin", "../weights.bin", "/etc/passwd", "", ".", "absent", "a/../weights.bin", "loop"};
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    if (chance(2)) tensor.clear_raw_data();
    auto const entry = [&](char const* key, std::string const& value) {
      auto& made = *tensor.add_external_data();
      made.set_key(key);
      made.set_value(value);
    };
    entry("location", chance(2) ? locations[0] : one_of(locations));
    if (chance(2)) entry("offset", std::to_string(number()));
    if (chance(2)) entry("length", std::to_string(number()));
  }

  std::mt19937_64 engine_;
};
