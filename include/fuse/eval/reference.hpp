// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/call.hpp>
#include <fuse/eval/elementwise.hpp>
#include <fuse/eval/layout.hpp>
#include <fuse/eval/linear.hpp>
#include <fuse/eval/reduction.hpp>

namespace fuse::inline v0 {

/// Computes what `op` makes of its operands (null: absent), in double precision, as the ONNX operator of that meaning
/// says: operators of one element, of operands that broadcast, reductions, casts, layout, products of matrices,
/// softmax, norms. `results` comes with as many entries as the operator has results here, each with its element type,
/// if that is known; it gets their shapes and elements. Narrow types are not rounded to. Nothing is promised of
/// `results` unless it is done. Linear in the elements; products of matrices as the plain three loops.
[[nodiscard]] inline evaluation evaluate(opcode op, span<dense const* const> operands,
                                         operator_parameters const& parameters, std::vector<dense>& results) {
  detail::call const c{op, operands, parameters, results};
  if (results.empty()) return evaluation::misfit;
  auto const& known = info(op);
  switch (op) {
    case opcode::where: return detail::evaluate_where(c);
    case opcode::cast:
    case opcode::cast_like:
    case opcode::dropout: return detail::evaluate_unary(c);
    case opcode::fast_gelu:
    case opcode::bias_gelu: return detail::evaluate_broadcasting(c);
    case opcode::matmul:
    case opcode::gemm:
    case opcode::linear: return detail::evaluate_linear(c);
    case opcode::softmax:
    case opcode::log_softmax: return detail::evaluate_softmax(c);
    case opcode::layer_norm:
    case opcode::rms_norm:
    case opcode::skip_layer_norm:
    case opcode::skip_rms_norm: return detail::evaluate_norm(c);
    case opcode::batch_norm:
    case opcode::instance_norm: return detail::evaluate_channel_norm(c);
    default: break;
  }
  if (known.shape == shape_function::reduce) return detail::evaluate_reduction(c);
  if (known.kind == op_kind::elementwise) return detail::evaluate_unary(c);
  if (known.kind == op_kind::broadcast) return detail::evaluate_broadcasting(c);
  return detail::evaluate_layout(c);
}

}  // namespace fuse::inline v0
