// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the operators of TorchScript mean. An operator is named with its overload: aten::mean.dim is another one than
// aten::mean. A parameter is an input as well; it is named here as the operator's schema names it, and the leading
// inputs that are data are counted.

#include <fuse/ops/dialect.hpp>

#include <cstddef>
#include <string_view>

namespace torchscript {

namespace rows {

using enum fuse::parameter_source::kind;
using fuse::opcode;

inline constexpr fuse::parameter_source over_dims[] = {{"axes", attribute, "dim"}, {"keepdims", attribute, "keepdim"}};
inline constexpr fuse::parameter_source over_all[] = {{"keepdims", fixed, {}, 0, 0}};
inline constexpr fuse::parameter_source dims[] = {{"axes", attribute, "dim"}};
inline constexpr fuse::parameter_source axis[] = {{"axis", attribute, "dim"}};
inline constexpr fuse::parameter_source first_axis[] = {{"axis", fixed, {}, 0, 0}};
inline constexpr fuse::parameter_source shape[] = {{"shape", attribute}, {"allowzero", fixed, {}, 0, 1}};
inline constexpr fuse::parameter_source size[] = {{"shape", attribute, "size"}, {"allowzero", fixed, {}, 0, 1}};
inline constexpr fuse::parameter_source type[] = {{"to", attribute, "dtype"}};
inline constexpr fuse::parameter_source normalized[] = {{"axis", extents, "normalized_shape"},
                                                        {"epsilon", attribute, "eps"}};

using enum fuse::target;  // standard: of libtorch alone; vendor: with fuse's own operators (operators.cpp)

// clang-format off
inline constexpr fuse::operator_row table[] = {
    {"aten::add.Tensor", opcode::add, 1, {}, 2}, {"aten::add.Scalar", opcode::add, 1, {}, 2, none},
    {"aten::sub.Tensor", opcode::sub, 1, {}, 2}, {"aten::sub.Scalar", opcode::sub, 1, {}, 2, none},
    {"aten::mul.Tensor", opcode::mul}, {"aten::mul.Scalar", opcode::mul, 1, {}, -1, none},
    {"aten::div.Tensor", opcode::div}, {"aten::div.Scalar", opcode::div, 1, {}, -1, none},
    {"aten::neg", opcode::neg}, {"aten::reciprocal", opcode::reciprocal}, {"aten::sqrt", opcode::sqrt}, {"aten::rsqrt", opcode::rsqrt},
    {"aten::pow.Tensor_Tensor", opcode::pow}, {"aten::pow.Tensor_Scalar", opcode::pow, 1, {}, -1, none},
    {"aten::square", opcode::square}, {"aten::abs", opcode::abs}, {"aten::exp", opcode::exp}, {"aten::log", opcode::log},
    {"aten::erf", opcode::erf}, {"aten::sin", opcode::sin}, {"aten::cos", opcode::cos}, {"aten::tanh", opcode::tanh},
    {"aten::sigmoid", opcode::sigmoid}, {"aten::relu", opcode::relu}, {"aten::silu", opcode::silu},
    {"aten::gelu", opcode::gelu, 1, {}, 1},
    {"aten::mean.dim", opcode::mean, 1, over_dims, 1}, {"aten::mean", opcode::mean, 1, over_all, 1, none},
    {"aten::sum.dim_IntList", opcode::sum, 1, over_dims, 1}, {"aten::sum", opcode::sum, 1, over_all, 1, none},
    {"aten::to.dtype", opcode::cast, 1, type, 1}, {"aten::type_as", opcode::cast_like},
    {"aten::contiguous", opcode::identity, 1, {}, 1}, {"aten::clone", opcode::identity, 1, {}, 1, none},
    {"aten::detach", opcode::identity, 1, {}, -1, none},
    {"aten::unsqueeze", opcode::unsqueeze, 1, dims, 1},
    {"aten::reshape", opcode::reshape, 1, shape, 1}, {"aten::view", opcode::reshape, 1, size, 1, none},
    {"aten::matmul", opcode::matmul}, {"aten::linear", opcode::linear}, {"aten::softmax.int", opcode::softmax, 1, axis, 1},
    {"aten::log_softmax.int", opcode::log_softmax, 1, axis, 1},
    {"aten::embedding", opcode::gather, 1, first_axis, 2, none},
    {"aten::transpose.int", opcode::opaque_layout, 1, {}, 1}, {"aten::permute", opcode::opaque_layout, 1, {}, 1},
    {"aten::t", opcode::transpose},
    {"aten::flatten.using_ints", opcode::opaque_layout, 1, {}, 1}, {"aten::squeeze.dim", opcode::opaque_layout, 1, {}, 1},
    {"aten::expand", opcode::opaque_layout, 1, {}, 1}, {"aten::slice.Tensor", opcode::opaque_layout, 1, {}, 1},
    {"aten::select.int", opcode::opaque_layout, 1, {}, 1},
    {"prim::NumToTensor", opcode::identity, 1, {}, -1, none},
    {"prim::If", opcode::if_else}, {"prim::Loop", opcode::loop},
    {"aten::layer_norm", opcode::layer_norm, 1, normalized, 3, standard},
    {"fuse::layer_norm", opcode::layer_norm, 1, {}, 3, vendor}, {"fuse::rms_norm", opcode::rms_norm, 1, {}, 2, vendor},
};
// clang-format on

struct conduct {
  // Whether scale and bias of a norm have just the axes of its input from `axis` on, of extents known to be the same.
  static bool plain_rows(fuse::emission const& made) {
    auto const x = made.operands[0].shape;
    auto const from = made.number("axis");
    if (!(from < 0)) return false;
    auto const axes = static_cast<std::size_t>(-from);
    for (std::size_t i = 1; i < made.operands.size(); ++i) {
      if (!made.has(i)) continue;
      auto const row = made.operands[i].shape;
      if (row.size() != axes || x.size() < axes) return false;
      for (std::size_t k = 0; k < axes; ++k)
        if (!(row[k] == x[x.size() - axes + k])) return false;
    }
    return true;
  }
  static std::string_view refuse(fuse::emission const& made) {
    if (made.results > 1) return "a norm of TorchScript returns no statistics";
    if (made.op == opcode::layer_norm && made.to == standard && !plain_rows(made))
      return "aten::layer_norm takes a scale and a bias of just the normalised axes";
    return {};
  }
  static constexpr void add_to(fuse::dialect& into) { into.refuse = &refuse, into.promotes = true; }
};

}  // namespace rows

inline constexpr auto dialect = fuse::make_dialect<rows::conduct>("torchscript", rows::table);

}  // namespace torchscript
