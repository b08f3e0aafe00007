// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/declared_facts.hpp>
#include <fuse/infer/shape_context.hpp>
#include <fuse/infer/shape_functions_elementwise.hpp>
#include <fuse/infer/shape_functions_layout.hpp>
#include <fuse/infer/shape_functions_linear.hpp>
#include <fuse/infer/shape_functions_norm.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// Shapes and types that follow from contents: what makes a tensor of numbers.
template <class Context>
void apply_maker(Context& at, opcode op) {
  auto& symbols = at.symbols();
  switch (op) {
    case opcode::constant:
      if (at.result_count() == 1) read_constant_node(at);
      break;
    case opcode::shape: {
      at.set_type(0, element_type::int64);
      std::int64_t start = 0, end = 0x7fffffff;
      if (!at.integer("start", 0, start) || !at.integer("end", 0x7fffffff, end) || !at.ranked(0))
        return at.set_rank(0, 1);
      extent const length[] = {slice_extent(at, at.rank(0), start, end, 1)};
      at.set_shape(0, length);
      break;
    }
    case opcode::size:
      at.set_type(0, element_type::int64);
      at.set_shape(0, {});
      break;
    case opcode::constant_of_shape: {
      auto const value = at.image().source->attribute_of(at.n, "value");
      if (std::holds_alternative<std::monostate>(value)) at.set_type(0, element_type::float32);
      if (auto const* tensor = std::get_if<tensor_view>(&value)) at.set_type(0, tensor->type);
      auto const target = at.operand(0) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(0));
      if (at.operand(0) == absent || !at.facts.has_integers(at.operand(0))) {
        if (at.rank(0) == 1 && at.shape(0)[0].known() &&
            at.shape(0)[0].value() <= static_cast<std::int64_t>(fact_table::most_rank))
          at.set_rank(0, static_cast<std::size_t>(at.shape(0)[0].value()));
        return;
      }
      at.dims.clear();
      for (auto e : target) at.dims.push_back(at.dimension(e));
      at.set_shape(0, at.dims);
      break;
    }
    case opcode::range: {
      at.share_type(0, 0);
      double from = 0, to = 0, step = 0;
      extent length[] = {symbols.fresh()};
      auto const entry = [&](std::uint32_t i) {
        return at.operand(i) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(i));
      };
      if (entry(0).size() == 1 && entry(1).size() == 1 && entry(2).size() == 1) {
        auto const by = entry(2)[0];
        auto const room = symbols.subtract(entry(1)[0], entry(0)[0]);
        if (by.known() && by.value() > 0)
          length[0] = symbols.maximum(symbols.floor_divide(symbols.add(room, by.value() - 1), by), 0);
        else if (by.known() && by.value() < 0 && by.value() > -0x7fffffff)
          length[0] = symbols.maximum(
              symbols.floor_divide(symbols.add(symbols.subtract(0, room), -by.value() - 1), -by.value()), 0);
      } else if (at.operand_count() == 3 && at.type(0) != element_type::unknown && at.operand(0) != absent &&
                 at.operand(1) != absent && at.operand(2) != absent && at.facts.number(at.operand(0), from) &&
                 at.facts.number(at.operand(1), to) && at.facts.number(at.operand(2), step) && step != 0) {
        auto const count = (to - from) / step;
        if (count <= 0) {
          length[0] = 0;
        } else if (count < 1e9) {
          auto const whole = static_cast<std::int64_t>(count);
          length[0] = whole + (static_cast<double>(whole) < count ? 1 : 0);
        }
      }
      at.set_shape(0, length);
      break;
    }
    case opcode::non_zero: {
      at.set_type(0, element_type::int64);
      auto const rank = at.rank(0);  // runtimes take a scalar for a list
      double every = 0;
      bool const all = rank == 1 && at.facts.uniform(at.operand(0), every) && every != 0;
      extent const made[] = {rank > 0 ? extent(rank) : symbols.fresh(), all ? at.shape(0)[0] : symbols.fresh()};
      at.set_shape(0, made);
      break;
    }
    default: break;
  }
}

template <class Context>
void one_hot_shape(Context& at) {
  at.share_type(0, 2);
  if (!at.ranked(0)) return;
  std::size_t axis = 0;
  if (!at.axis("axis", -1, at.rank(0) + 1, axis)) return at.set_rank(0, at.shape(0).size() + 1);
  auto const from = at.shape(0);
  double depth = 0;
  auto const entries = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  extent e;
  if (entries.size() == 1)
    e = at.dimension(entries[0]);
  else if (at.operand(1) != absent && at.facts.number(at.operand(1), depth) && depth >= 0 && depth < 1e15)
    e = static_cast<std::int64_t>(depth);
  else
    e = at.symbols().fresh();
  at.dims.assign(from.begin(), from.end());
  at.dims.insert(at.dims.begin() + static_cast<std::ptrdiff_t>(axis), e);
  at.set_shape(0, at.dims);
}

/// Nobody knows how many slices, or elements, are kept.
template <class Context>
void compress_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  if (at.integers("axis") == parameter_state::missing) return at.set_rank(0, 1);
  std::size_t axis = 0;
  if (!at.axis("axis", 0, at.rank(0), axis)) return at.set_rank(0, at.shape(0).size());
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  at.dims[axis] = at.symbols().fresh();
  at.set_shape(0, at.dims);
}

/// A state, operand 3, that goes on as the second result.
template <class Context>
void carried_shape(Context& at) {
  at.share_type(0, 0);
  at.share_type(1, at.operand(3) != absent ? 3 : 0);
  at.share_shape(1, 3);
}

/// A number, or one for each target; of scores, also their logarithmic softmax.
template <class Context>
void loss_shape(Context& at) {
  at.share_type(0, 0);
  at.share_type(1, 0);
  at.share_shape(1, 0);
  auto const how = at.image().source->attribute_of(at.n, "reduction");
  auto const* text = std::get_if<std::string_view>(&how);
  if (text != nullptr && *text == "none")
    at.share_shape(0, 1);
  else if (text != nullptr || std::holds_alternative<std::monostate>(how))
    at.set_shape(0, {});
}

template <class Context>
void top_k_shape(Context& at) {
  at.share_type(0, 0);
  at.set_type(1, element_type::int64);
  std::size_t axis = 0;
  if (!at.ranked(0)) return;
  bool const known = at.axis("axis", -1, at.rank(0), axis);
  auto const state = at.symbolic_integers("k", at.extents);
  auto const from = at.shape(0);
  if (!known) {
    at.set_rank(0, from.size());
  } else {
    at.dims.assign(from.begin(), from.end());
    at.dims[axis] =
        state == parameter_state::known && at.extents.size() == 1 ? at.dimension(at.extents[0]) : at.symbols().fresh();
    at.set_shape(0, at.dims);
  }
  if (at.result_count() > 1) at.facts.share_shape(at.result(1), at.result(0));
}

/// The second result of a Dropout, its mask.
template <class Context>
void dropout_shape(Context& at) {
  at.share_type(0, 0);
  at.share_shape(0, 0);
  at.share_shape(1, 0);
  if (at.image().version >= 10)
    at.set_type(1, element_type::boolean);
  else
    at.share_type(1, 0);
}

template <class Context>
void expand_shape(Context& at) {
  at.share_type(0, 0);
  auto const target = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  at.extents.clear();
  if (at.operand(1) != absent && at.facts.has_integers(at.operand(1))) {
    for (auto e : target) at.extents.push_back(at.symbols().nonnegative(e) ? e : at.symbols().fresh());
  } else {
    if (at.rank(1) != 1 || !at.shape(1)[0].known() ||
        at.shape(1)[0].value() > static_cast<std::int64_t>(fact_table::most_rank))
      return;
    for (std::int64_t i = 0; i < at.shape(1)[0].value(); ++i) at.extents.push_back(at.symbols().fresh());
  }
  at.dims.assign(from.begin(), from.end());
  broadcast_into(at, at.extents);
  at.set_shape(0, at.dims);
}

template <class Context>
void eye_like_shape(Context& at) {
  std::int64_t number = 0;
  at.share_shape(0, 0);
  if (at.integer("dtype", 0, number) && number != 0)
    at.set_type(0, type_of_number(number));
  else
    at.share_type(0, 0);
}

template <class Context>
void cast_type(Context& at) {
  std::int64_t to = 0;
  if (at.integer("to", 0, to)) at.set_type(0, type_of_number(to));
}

/// Whether a result has the element type of the first operand although operands may be of several.
template <class Context>
[[nodiscard]] bool first_type_holds(Context const& at) {
  auto const first = at.type(0);
  for (std::uint32_t i = 1; i < at.operand_count(); ++i) {
    if (at.operand(i) == absent || at.type(i) == first) continue;
    bool const weak = at.rank(i) == 0 && at.rank(0) > 0 && is_floating(first);
    if (!weak || at.type(i) == element_type::unknown) return false;
  }
  return true;
}

/// The first result of an operator without a meaning, as its row in the dialect tells.
template <class Context>
void apply_row(Context& at) {
  auto const* row = at.names.row(at.image().node(at.n).tag.name, at.image().version);
  if (row == nullptr || row->result.shape == result_info::kind::unknown) return;
  auto const& told = row->result;
  if (told.type != element_type::unknown)
    at.set_type(0, told.type);
  else
    at.share_type(0, static_cast<std::uint32_t>(told.type_of));
  switch (told.shape) {
    case result_info::kind::operand: return at.share_shape(0, static_cast<std::uint32_t>(told.shape_of));
    case result_info::kind::broadcast: return broadcast_shape(at);
    case result_info::kind::function: break;
    case result_info::kind::unknown: return;
  }
  std::vector<std::vector<std::int64_t>> known(at.operand_count());
  for (std::uint32_t i = 0; i < at.operand_count(); ++i)
    for (auto e : at.shape(i)) known[i].push_back(e.known() ? e.value() : -1);
  std::vector<result_extent> made;
  if (told.extents == nullptr || !told.extents(known, made)) return;
  at.dims.clear();
  for (auto const& e : made) {
    auto const from = e.operand < 0 ? span<extent const>{} : at.shape(static_cast<std::uint32_t>(e.operand));
    auto const axis = static_cast<std::size_t>(e.axis < 0 ? e.axis + static_cast<int>(from.size()) : e.axis);
    at.dims.push_back(e.number >= 0 ? extent(e.number) : axis < from.size() ? from[axis] : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
}

/// Types and shapes of the results of node `at.n`. What no shape function tells stays unknown.
template <class Context>
void apply_shape_function(Context& at, opcode op) {
  if (at.result_count() == 0) return;
  if (op == opcode::opaque) return apply_row(at);
  auto const& meaning = info(op);
  switch (meaning.type) {
    case type_function::same_as_first:
      if (!at.names.promotes || meaning.shape != shape_function::broadcast || first_type_holds(at)) at.share_type(0, 0);
      break;
    case type_function::boolean: at.set_type(0, element_type::boolean); break;
    case type_function::unknown:
    case type_function::own: break;
  }
  switch (meaning.shape) {
    case shape_function::same_as_first: at.share_shape(0, 0); break;
    case shape_function::broadcast: broadcast_shape(at); break;
    case shape_function::reduce: reduce_shape(at); break;
    case shape_function::unknown: return;
    case shape_function::own: break;
  }
  switch (op) {
    case opcode::where: at.set_type(0, at.type(1) != element_type::unknown ? at.type(1) : at.type(2)); break;
    case opcode::cast: cast_type(at); break;
    case opcode::cast_like: at.share_type(0, 1); break;
    case opcode::dropout: dropout_shape(at); break;
    case opcode::constant:
    case opcode::constant_of_shape:
    case opcode::shape:
    case opcode::size:
    case opcode::range:
    case opcode::non_zero: apply_maker(at, op); break;
    case opcode::reshape: reshape_shape(at); break;
    case opcode::flatten: flatten_shape(at); break;
    case opcode::squeeze: squeeze_shape(at); break;
    case opcode::unsqueeze: unsqueeze_shape(at); break;
    case opcode::transpose: transpose_shape(at); break;
    case opcode::concat: concat_shape(at); break;
    case opcode::split: split_shape(at); break;
    case opcode::slice: slice_shape(at); break;
    case opcode::gather: gather_shape(at); break;
    case opcode::gather_elements:
      at.share_type(0, 0);
      at.share_shape(0, 1);
      break;
    case opcode::gather_nd: gather_nd_shape(at); break;
    case opcode::scatter_nd:
    case opcode::scatter_elements:
    case opcode::cumulative_sum:
    case opcode::cumulative_product:
    case opcode::tensor_scatter:
    case opcode::trilu:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::reverse_sequence:
    case opcode::rotary_embedding:
    case opcode::rotary_embedding_at:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::expand: expand_shape(at); break;
    case opcode::tile: tile_shape(at); break;
    case opcode::pad: pad_shape(at); break;
    case opcode::one_hot: one_hot_shape(at); break;
    case opcode::top_k: top_k_shape(at); break;
    case opcode::arg_max:
    case opcode::arg_min: arg_reduce_shape(at); break;
    case opcode::matmul:
      at.share_type(0, 0);
      matmul_shape(at);
      break;
    case opcode::matmul_integer:
      at.set_type(0, element_type::int32);
      matmul_shape(at);
      break;
    case opcode::gemm:
    case opcode::fused_gemm: gemm_shape(at); break;
    case opcode::linear: linear_shape(at); break;
    case opcode::einsum: einsum_shape(at); break;
    case opcode::conv:
    case opcode::fused_conv:
      at.share_type(0, 0);
      conv_shape(at);
      break;
    case opcode::conv_integer:
      at.set_type(0, element_type::int32);
      conv_shape(at);
      break;
    case opcode::fused_matmul: fused_matmul_shape(at); break;
    case opcode::qlinear_matmul:
      at.share_type(0, 7);
      matmul_shape(at, 3);
      break;
    case opcode::qlinear_conv:
      at.share_type(0, 7);
      conv_shape(at, 3);
      break;
    case opcode::depth_to_space: blocks_shape(at, true); break;
    case opcode::space_to_depth: blocks_shape(at, false); break;
    case opcode::lstm:
    case opcode::gru:
    case opcode::rnn: recurrent_shape(at); break;
    case opcode::fast_gelu:
    case opcode::bias_gelu:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::eye_like: eye_like_shape(at); break;
    case opcode::opaque_layout: at.share_type(0, 0); break;
    case opcode::conv_transpose:
      at.share_type(0, 0);
      conv_transpose_shape(at);
      break;
    case opcode::max_pool:
    case opcode::average_pool: pool_shape(at); break;
    case opcode::lp_pool: pool_shape(at); break;
    case opcode::global_max_pool:
    case opcode::global_lp_pool: global_pool_shape(at); break;
    case opcode::compress: compress_shape(at); break;
    case opcode::causal_conv:
      carried_shape(at);
      at.share_shape(0, 0);
      break;
    case opcode::linear_attention: carried_shape(at); break;
    case opcode::nll_loss:
    case opcode::cross_entropy_loss: loss_shape(at); break;
    case opcode::resize: resize_shape(at); break;
    case opcode::batch_norm: batch_norm_shape(at); break;
    case opcode::layer_norm:
    case opcode::rms_norm: norm_type(at, op); break;
    case opcode::skip_layer_norm:
    case opcode::skip_rms_norm: skip_norm_shape(at); break;
    case opcode::embed_layer_norm:
      at.share_type(0, 2);
      at.share_type(2, 2);
      embed_norm_shape(at);
      break;
    case opcode::qembed_layer_norm:
      at.set_type(0, element_type::float32);
      embed_norm_shape(at);
      break;
    case opcode::attention: attention_shape(at); break;
    case opcode::multi_head_attention: multi_head_attention_shape(at); break;
    case opcode::projected_attention: projected_attention_shape(at); break;
    case opcode::quantize: quantize_shape(at); break;
    case opcode::dequantize: dequantize_shape(at); break;
    case opcode::dynamic_quantize: dynamic_quantize_shape(at); break;
    default: break;
  }
}

}  // namespace fuse::inline v0::detail
