// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include <string>

/// A model in protobuf's text form; IR version 8 and operator set 17 unless the text says otherwise.
inline onnx::ModelProto parsed(std::string text) {
  if (text.find("ir_version") == std::string::npos) text += " ir_version: 8";
  if (text.find("opset_import") == std::string::npos) text += " opset_import { version: 17 }";
  onnx::ModelProto model;
  if (!google::protobuf::TextFormat::ParseFromString(text, &model)) model.Clear();
  return model;
}

/// x: float [2, n, 4] -> Sub(x, ReduceMean(x)) named "y", with an initializer that an If branch captures.
inline char const* const branching = R"(
  graph {
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: "n" } dim { dim_value: 4 } } } } }
    input { name: "flag" type { tensor_type { elem_type: 9 shape { } } } }
    initializer { name: "scale" dims: 4 data_type: 1 float_data: 1 float_data: 2 float_data: 3 float_data: 4 }
    node { name: "mean" op_type: "ReduceMean" input: "x" output: "m" attribute { name: "axes" type: INTS ints: -1 } }
    node { name: "sub" op_type: "Sub" input: "x" input: "m" output: "d" }
    node { name: "if" op_type: "If" input: "flag" output: "chosen"
      attribute { name: "then_branch" type: GRAPH g {
        node { name: "scaled" op_type: "Mul" input: "d" input: "scale" output: "then" }
        output { name: "then" } } }
      attribute { name: "else_branch" type: GRAPH g {
        initializer { name: "zero" data_type: 1 raw_data: "\0\0\0\0" }
        node { name: "shifted" op_type: "Add" input: "d" input: "zero" output: "else" }
        output { name: "else" } } } }
    node { name: "split" op_type: "Split" input: "chosen" output: "left" output: "" output: "right" attribute { name: "axis" type: INT i: -1 } }
    node { name: "clip" op_type: "Clip" input: "left" input: "" input: "m" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 } } }
    output { name: "right" }
    value_info { name: "d" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { } dim { dim_value: 4 } } } } }
  })";

/// x: float [2, 4] -> twice(x) -> once(...), where twice(x) is once(once(x)), and once(x) is x + mean(x).
inline char const* const calling = R"(
  opset_import { version: 17 } opset_import { domain: "own" version: 1 }
  graph {
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
    node { name: "first" domain: "own" op_type: "twice" input: "x" output: "t" }
    node { name: "last" domain: "own" op_type: "once" input: "t" output: "y" }
    output { name: "y" }
  }
  functions { domain: "own" name: "once" input: "x" output: "y" opset_import { version: 17 }
    node { name: "mean" op_type: "ReduceMean" input: "x" output: "m" attribute { name: "axes" type: INTS ints: -1 } }
    node { name: "sum" op_type: "Add" input: "x" input: "m" output: "y" } }
  functions { domain: "own" name: "twice" input: "x" output: "y" opset_import { version: 17 } opset_import { domain: "own" version: 1 }
    node { name: "inner" domain: "own" op_type: "once" input: "x" output: "t" }
    node { name: "outer" domain: "own" op_type: "once" input: "t" output: "y" } })";
