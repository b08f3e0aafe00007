// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <string_view>

#include <fuse/ops/operator.hpp>

namespace corpus {

using fuse::opcode;

struct operator_names {
  opcode op;
  std::string_view onnx, second;  ///< empty: the dialect has none
};

/// The operators of the corpus under their names in both dialects; kept apart from the library's tables on purpose.
inline constexpr operator_names names_of_operators[] = {
    {opcode::add, "Add", "plus"},
    {opcode::sub, "Sub", "minus"},
    {opcode::mul, "Mul", "times"},
    {opcode::div, "Div", "over"},
    {opcode::neg, "Neg", "negate"},
    {opcode::reciprocal, "Reciprocal", "inverse"},
    {opcode::sqrt, "Sqrt", "root"},
    {opcode::rsqrt, {}, "inverse_root"},
    {opcode::pow, "Pow", "power"},
    {opcode::square, {}, "squared"},
    {opcode::abs, "Abs", "magnitude"},
    {opcode::mean, "ReduceMean", "avg"},
    {opcode::sum, "ReduceSum", "total"},
    {opcode::sum_square, "ReduceSumSquare", "total_of_squares"},
    {opcode::reduce_max, "ReduceMax", {}},
    {opcode::mean, "GlobalAveragePool", {}},
    {opcode::unsqueeze, "Unsqueeze", "insert_dims"},
    {opcode::squeeze, "Squeeze", {}},
    {opcode::cast, "Cast", "as_type"},
    {opcode::identity, "Identity", "same"},
    {opcode::relu, "Relu", "ramp"},
    {opcode::matmul, "MatMul", "matrix_product"},
    {opcode::maximum, "Max", "larger"},
    {opcode::minimum, "Min", "smaller"},
    {opcode::sum_of, "Sum", {}},
    {opcode::tanh, "Tanh", "hyperbolic_tangent"},
    {opcode::sigmoid, "Sigmoid", "logistic"},
    {opcode::exp, "Exp", "exponential"},
    {opcode::log, "Log", "logarithm"},
    {opcode::erf, "Erf", "error_function"},
    {opcode::shape, "Shape", {}},
    {opcode::size, "Size", {}},
    {opcode::range, "Range", {}},
    {opcode::reshape, "Reshape", "with_extents"},
    {opcode::flatten, "Flatten", {}},
    {opcode::transpose, "Transpose", "reordered"},
    {opcode::less, "Less", "below"},
    {opcode::greater, "Greater", {}},
    {opcode::equal, "Equal", {}},
    {opcode::logical_not, "Not", {}},
    {opcode::where, "Where", "select"},
    {opcode::mod, "Mod", {}},
    {opcode::clip, "Clip", {}},
    {opcode::softmax, "Softmax", "shares"},
    {opcode::top_k, "TopK", {}},
    {opcode::split, "Split", {}},
    {opcode::slice, "Slice", {}},
    {opcode::gather, "Gather", {}},
    {opcode::concat, "Concat", {}},
    {opcode::gemm, "Gemm", {}},
    {opcode::conv, "Conv", {}},
    {opcode::expand, "Expand", "broadcast_to"},
    {opcode::tile, "Tile", {}},
    {opcode::dropout, "Dropout", {}},
    {opcode::constant, "Constant", {}},
    {opcode::if_else, "If", "choose"},
    {opcode::layer_norm, "LayerNormalization", "norm"},
    {opcode::rms_norm, "RMSNormalization", "root_mean_norm"},
    {opcode::rms_norm, "SimplifiedLayerNormalization", {}},
};

[[nodiscard]] inline opcode op_named(std::string_view name) {
  for (auto const& row : names_of_operators)
    if (row.onnx == name || row.second == name) return row.op;
  if (name.starts_with("fuse::LayerNormalization")) return opcode::layer_norm;
  if (name.starts_with("fuse::RMSNormalization")) return opcode::rms_norm;
  return opcode::opaque;
}

[[nodiscard]] inline std::string_view name_of(opcode op, bool second) {
  for (auto const& row : names_of_operators)
    if (row.op == op && !(second ? row.second : row.onnx).empty()) return second ? row.second : row.onnx;
  assert(false && "this dialect has no such operator");
  return {};
}

}  // namespace corpus
