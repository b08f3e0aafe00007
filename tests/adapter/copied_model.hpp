// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <fuse/graph/graph.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

/// An owned graph, in ONNX's dialect, as a model.
class copied_model {
 public:
  explicit copied_model(fuse::graph const& from) : from_(from) {
    model.set_ir_version(10);
    model.add_opset_import()->set_version(from.version());
    top_ = model.mutable_graph();
    for (auto const v : from.inputs()) describe(v, *top_->add_input());
    write(fuse::graph::main_body, *top_);
    for (auto const v : from.outputs()) describe(v, *top_->add_output());
  }

  onnx::ModelProto model{};

 private:
  std::string name(fuse::graph::value v) {
    if (!v) return {};
    auto const text = 'v' + std::to_string(v.id);
    if (auto const contents = from_.constant(v); contents && !from_.producer(v) && written_.insert(v.id).second) {
      auto& t = *top_->add_initializer();
      fill(contents, t);
      t.set_name(text);
    }
    return text;
  }
  static void fill(fuse::tensor_view contents, onnx::TensorProto& t) {
    t.set_data_type(static_cast<int>(contents.type));
    for (auto const extent : contents.shape) t.add_dims(extent);
    t.set_raw_data(contents.bytes.data(), contents.bytes.size());
  }
  void describe(fuse::graph::value v, onnx::ValueInfoProto& info) {
    info.set_name(name(v));
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int>(from_.type(v)));
    std::vector<fuse::dimension> shape;
    if (!from_.shape(v, shape)) return;
    (void)type.mutable_shape();
    for (auto const& d : shape) {
      auto& dim = *type.mutable_shape()->add_dim();
      if (d.extent >= 0)
        dim.set_dim_value(d.extent);
      else if (!d.symbol.empty())
        dim.set_dim_param(std::string(d.symbol));
    }
  }

  void write(fuse::graph::body b, onnx::GraphProto& into) {
    for (auto const n : from_.nodes(b)) {
      auto& node = *into.add_node();
      node.set_op_type(std::string(from_.op(n)));
      for (auto const v : from_.operands(n)) node.add_input(name(v));
      for (auto const v : from_.results(n)) {
        node.add_output(name(v));
        std::vector<fuse::dimension> shape;
        if (from_.type(v) != fuse::element_type::unknown || from_.shape(v, shape)) describe(v, *into.add_value_info());
      }
      for (auto const& a : from_.attributes(n)) write(a, *node.add_attribute());
      for (auto const inner : from_.bodies(n)) {
        auto& a = *node.add_attribute();
        a.set_name(std::string(from_.name(inner)));
        a.set_type(onnx::AttributeProto::GRAPH);
        write(inner, *a.mutable_g());
        for (auto const v : from_.outputs(inner)) describe(v, *a.mutable_g()->add_output());
      }
    }
  }
  static void write(fuse::graph::named const& from, onnx::AttributeProto& a) {
    a.set_name(from.name);
    std::visit(
        [&]<class T>(T const& content) {
          if constexpr (std::is_integral_v<T>) {
            a.set_type(onnx::AttributeProto::INT);
            a.set_i(content);
          } else if constexpr (std::is_floating_point_v<T>) {
            a.set_type(onnx::AttributeProto::FLOAT);
            a.set_f(static_cast<float>(content));
          } else if constexpr (std::is_same_v<T, std::string>) {
            a.set_type(onnx::AttributeProto::STRING);
            a.set_s(content);
          } else if constexpr (std::is_same_v<T, fuse::tensor>) {
            a.set_type(onnx::AttributeProto::TENSOR);
            fill(content, *a.mutable_t());
          } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
            a.set_type(onnx::AttributeProto::INTS);
            for (auto const one : content) a.add_ints(one);
          } else {
            a.set_type(onnx::AttributeProto::FLOATS);
            for (auto const one : content) a.add_floats(static_cast<float>(one));
          }
        },
        from.content);
  }

  fuse::graph const& from_;
  onnx::GraphProto* top_ = nullptr;
  std::set<std::uint32_t> written_{};
};
