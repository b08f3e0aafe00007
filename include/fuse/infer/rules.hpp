// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/infer/contents.hpp>
#include <fuse/infer/rule_context.hpp>
#include <fuse/infer/rules_elementwise.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

inline void apply_constant(rule_context& at) {
  if (at.result_count() != 1) return;
  auto const v = at.result();
  if (auto const contents = at.image().source->constant(v)) read_constant(at, v, contents);
}

/// Types and shapes of the results of node `at.n`.
inline void apply_rule(rule_context& at, opcode op) {
  if (at.result_count() == 0) return;
  auto const& meaning = info(op);
  switch (meaning.type) {
    case type_rule::same_as_first: at.share_type(0, 0); break;
    case type_rule::boolean: at.set_type(0, element_type::boolean); break;
    case type_rule::unknown:
    case type_rule::own: break;
  }
  switch (meaning.shape) {
    case shape_rule::same_as_first: at.share_shape(0, 0); break;
    case shape_rule::broadcast: broadcast_shape(at); break;
    case shape_rule::reduce: reduce_shape(at); break;
    case shape_rule::unknown:
    case shape_rule::own: break;
  }
  if (op == opcode::constant) apply_constant(at);
}

}  // namespace fuse::inline v0::detail
