// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/graph/graph.hpp>
#include <fuse/ops/dialect.hpp>

/// A dialect that nobody uses: other names, axes in an attribute called `dim`, keepdims inverted, attributes where ONNX
/// has operands, softmax over all axes from one on, operators that ONNX lacks. What holds in it as well holds because
/// rules know no dialect.
namespace second {

namespace rows {
using enum fuse::parameter_source::kind;
inline constexpr fuse::parameter_source average[] = {{"axes", attribute, "dim"}, {"keepdims", inverted, "squeeze"}};
inline constexpr fuse::parameter_source dims[] = {{"axes", attribute, "dim"}};
inline constexpr fuse::parameter_source type[] = {{"to", attribute, "dtype"}};
inline constexpr fuse::parameter_source shares[] = {{"axis", attribute, "from", 0, -1, fuse::axis_use::trailing}};
inline constexpr fuse::parameter_source extents_of[] = {{"shape", attribute, "extents"}};
inline constexpr fuse::parameter_source order[] = {{"perm", attribute, "order"}};
inline constexpr fuse::parameter_source norm[] = {{"axis", attribute, "from"}, {"epsilon", attribute, "eps"}};
inline constexpr fuse::parameter_source sized_norm[] = {{"axis", extents, "sizes"}, {"epsilon", attribute, "eps"}};

using fuse::opcode;
inline constexpr fuse::operator_row table[] = {
    {"plus", opcode::add},
    {"minus", opcode::sub},
    {"times", opcode::mul},
    {"over", opcode::div},
    {"negate", opcode::neg},
    {"inverse", opcode::reciprocal},
    {"root", opcode::sqrt},
    {"inverse_root", opcode::rsqrt},
    {"power", opcode::pow},
    {"squared", opcode::square},
    {"avg", opcode::mean, 1, average},
    {"total", opcode::sum, 1, average},
    {"total_of_squares", opcode::sum_square, 1, average},
    {"length", opcode::l2_norm, 1, average},
    {"insert_dims", opcode::unsqueeze, 1, dims},
    {"as_type", opcode::cast, 1, type},
    {"same", opcode::identity},
    {"ramp", opcode::relu},
    {"matrix_product", opcode::matmul},
    {"magnitude", opcode::abs},
    {"choose", opcode::if_else},
    {"sized_norm", opcode::layer_norm, 1, sized_norm, -1, fuse::target::vendor},
    {"norm", opcode::layer_norm, 1, norm},
    {"root_mean_norm", opcode::rms_norm, 1, norm},
    {"broadcast_to", opcode::expand},
    {"larger", opcode::maximum},
    {"smaller", opcode::minimum},
    {"hyperbolic_tangent", opcode::tanh},
    {"logistic", opcode::sigmoid},
    {"exponential", opcode::exp},
    {"logarithm", opcode::log},
    {"error_function", opcode::erf},
    {"below", opcode::less},
    {"select", opcode::where},
    {"shares", opcode::softmax, 1, shares},
    {"with_extents", opcode::reshape, 1, extents_of},
    {"reordered", opcode::transpose, 1, order},
    {"dense_layer", opcode::linear},
    {"moved", opcode::opaque_layout},
};
}  // namespace rows

inline constexpr auto dialect = fuse::make_dialect("second", rows::table, 1);

/// fuse::graph, its operators named in this dialect.
struct graph : fuse::graph {
  explicit graph(int version = 1) : fuse::graph(version) {}
};

}  // namespace second

template <>
struct fuse::graph_traits<second::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = second::dialect;
};
