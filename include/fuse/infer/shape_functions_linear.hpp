// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/shape_context.hpp>
#include <fuse/infer/shape_functions_elementwise.hpp>

namespace fuse::inline v0::detail {

/// Product of the matrices in the last two dimensions of two operands, the others broadcast.
template <class Context>
void matmul_shape(Context& at, std::uint32_t right = 1, bool turned_left = false, bool turned_right = false) {
  if (!at.ranked(0) || !at.ranked(right)) return;
  auto const a = at.shape(0);
  auto const b = at.shape(right);
  if (a.empty() || b.empty()) return;
  at.dims.clear();
  if (a.size() > 2) at.dims.assign(a.begin(), a.end() - 2);
  if (b.size() > 2) broadcast_into(at, at.shape(right).first(b.size() - 2));
  if (a.size() > 1) at.dims.push_back(a[a.size() - (turned_left ? 1 : 2)]);
  if (b.size() > 1) at.dims.push_back(b[b.size() - (turned_right ? 2 : 1)]);
  at.set_shape(0, at.dims);
}

template <class Context>
void fused_matmul_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t left = 0, right = 0, batch_left = 0, batch_right = 0;
  bool const known = at.integer("transA", 0, left) && at.integer("transB", 0, right) &&
                     at.integer("transBatchA", 0, batch_left) && at.integer("transBatchB", 0, batch_right) &&
                     batch_left == 0 && batch_right == 0;
  if (known && at.rank(0) > 1 && at.rank(1) > 1) matmul_shape(at, 1, left != 0, right != 0);
}

template <class Context>
void gemm_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t turned_a = 0, turned_b = 0;
  if (!at.integer("transA", 0, turned_a) || !at.integer("transB", 0, turned_b)) return at.set_rank(0, 2);
  auto const pick = [&](std::uint32_t i, bool first) {
    return at.rank(i) == 2 ? at.shape(i)[first ? 0 : 1] : at.symbols().fresh();
  };
  extent const made[] = {pick(0, turned_a == 0), pick(1, turned_b != 0)};
  at.set_shape(0, made);
}

/// The last axis of the first operand becomes as many as the second operand has rows. All are of one type.
template <class Context>
void linear_shape(Context& at) {
  at.share_type(0, at.type(0) != element_type::unknown ? 0 : 1);
  if (!at.ranked(0) || at.rank(0) == 0) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  at.dims.back() = at.rank(1) == 2 ? at.shape(1)[0] : at.symbols().fresh();
  if (at.rank(1) != 1) at.set_shape(0, at.dims);
}

/// One spatial dimension of a convolution or a pooling. `same`: padded so that only the stride counts.
struct window {
  extent kernel = 1;
  std::int64_t stride = 1, dilation = 1, before = 0, after = 0;
  bool same = false, ceil = false;

  /// Whether the one window is all of a dimension, which is reduced then.
  [[nodiscard]] bool covers(extent whole) const {
    return kernel == whole && dilation == 1 && before == 0 && after == 0 && !same;
  }
};
template <class Context>
[[nodiscard]] extent window_extent(Context& at, extent whole, window const& w) {
  auto& symbols = at.symbols();
  if (w.stride < 1 || w.dilation < 1) return symbols.fresh();
  if (w.same) return symbols.floor_divide(symbols.add(whole, w.stride - 1), w.stride);
  // ((whole + pads - (dilation * (kernel - 1) + 1)) / stride) + 1
  auto const padded = symbols.add(whole, symbols.add(extent(w.before), w.after));
  auto const covered = symbols.add(symbols.multiply(symbols.subtract(w.kernel, 1), w.dilation), 1);
  auto const room = symbols.subtract(padded, covered);
  if (room.known() && room.value() < 0) return symbols.fresh();
  if (!w.ceil || w.stride == 1) return at.dimension(symbols.add(symbols.floor_divide(room, w.stride), 1));
  if (!room.known() || room.value() > 0x7fffffff) return symbols.fresh();
  // Rounded up; runtimes disagree on a window that starts in the padding behind.
  auto const steps = (room.value() + w.stride - 1) / w.stride;
  bool const behind = !whole.known() || steps > (whole.value() + w.before - 1) / w.stride;
  return behind ? symbols.fresh() : extent(steps + 1);
}

/// Pads, strides and dilations of `count` spatial dimensions; false where they are not known.
template <class Context>
[[nodiscard]] bool read_windows(Context& at, std::size_t count, plain_vector<window>& windows) {
  windows.assign(count, {});
  auto const each = [&](std::string_view parameter, std::size_t entries, auto&& take) {
    auto const state = at.integers(parameter);
    if (state == parameter_state::missing) return true;
    if (state == parameter_state::unknown || at.list.size() != entries) return false;
    for (std::size_t i = 0; i < entries; ++i) {
      if (at.list[i] < -0x7fffffff || at.list[i] > 0x7fffffff) return false;
      take(i, at.list[i]);
    }
    return true;
  };
  bool const read = each("strides", count, [&](std::size_t i, std::int64_t e) { windows[i].stride = e; }) &&
                    each("dilations", count, [&](std::size_t i, std::int64_t e) { windows[i].dilation = e; }) &&
                    each("kernel_shape", count, [&](std::size_t i, std::int64_t e) { windows[i].kernel = e; }) &&
                    each("pads", 2 * count, [&](std::size_t i, std::int64_t e) {
                      (i < count ? windows[i].before : windows[i - count].after) = e;
                    });
  if (!read) return false;
  auto const padding = at.image().source->attribute_of(at.n, "auto_pad");
  if (std::holds_alternative<std::monostate>(padding)) return true;
  auto const* text = std::get_if<std::string_view>(&padding);
  if (text == nullptr) return false;
  if (*text == "NOTSET" || text->empty()) return true;
  for (auto& w : windows) {
    w.before = w.after = 0;
    w.same = *text == "SAME_UPPER" || *text == "SAME_LOWER";
  }
  return *text == "VALID" || windows.empty() || windows[0].same;
}

/// [batch, channels, ...] of a convolution, by the weights [channels, channels / groups, kernel...].
template <class Context>
void conv_shape(Context& at, std::uint32_t weight = 1) {
  if (!at.ranked(0)) {
    if (at.ranked(weight)) at.set_rank(0, at.shape(weight).size());
    return;
  }
  auto const from = at.shape(0);
  if (from.size() < 2) return;
  plain_vector<window> windows;
  bool const known = read_windows(at, from.size() - 2, windows);
  bool const weights = at.ranked(weight) && at.shape(weight).size() == from.size();
  at.dims.assign({from[0], weights ? at.shape(weight)[0] : at.symbols().fresh()});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (weights) windows[i].kernel = at.shape(weight)[i + 2];
    bool const sized = known && (weights || at.integers("kernel_shape") == parameter_state::known);
    at.dims.push_back(sized ? window_extent(at, from[i + 2], windows[i]) : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
}

/// Weights [channels in, channels out / groups, kernel...]: stride * (whole - 1) + output padding + covered - pads.
template <class Context>
void conv_transpose_shape(Context& at) {
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  auto& symbols = at.symbols();
  plain_vector<window> windows;
  std::int64_t groups = 1;
  bool const weights = at.ranked(1) && at.shape(1).size() == from.size();
  bool known = read_windows(at, from.size() - 2, windows) && weights && at.integer("group", 1, groups);
  for (auto const& w : windows) known = known && !w.same;
  known = known && at.integers("output_shape") == parameter_state::missing;
  auto const extra = at.integers("output_padding");
  known = known &&
          (extra == parameter_state::missing || (extra == parameter_state::known && at.list.size() == windows.size()));
  at.dims.assign({from[0], known ? at.dimension(symbols.multiply(at.shape(1)[1], groups)) : symbols.fresh()});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    auto const& w = windows[i];
    auto const covered =
        known ? symbols.add(symbols.multiply(symbols.subtract(at.shape(1)[i + 2], 1), w.dilation), 1) : extent(0);
    auto const grown = symbols.add(symbols.multiply(symbols.subtract(from[i + 2], 1), w.stride), covered);
    auto const cut = symbols.subtract(extra == parameter_state::known && known ? extent(at.list[i]) : extent(0),
                                      symbols.add(extent(w.before), w.after));
    at.dims.push_back(known ? at.dimension(symbols.add(grown, cut)) : symbols.fresh());
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void pool_shape(Context& at) {
  at.share_type(0, 0);
  at.set_type(1, element_type::int64);
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  plain_vector<window> windows;
  std::int64_t ceil = 0;
  bool const known = at.integers("kernel_shape") == parameter_state::known &&
                     read_windows(at, from.size() - 2, windows) && at.integer("ceil_mode", 0, ceil);
  at.dims.assign(from.begin(), from.begin() + 2);
  at.axes.clear();
  for (std::size_t i = 2; i < from.size(); ++i) {
    if (!known) {  // then there are no windows
      at.dims.push_back(at.symbols().fresh());
      continue;
    }
    auto& w = windows[i - 2];
    w.ceil = ceil != 0;
    if (w.covers(from[i])) at.axes.push_back(static_cast<int>(i));
    bool const sized = !w.same || w.dilation == 1;  // what "same" pads to a dilated window is not what runtimes do
    at.dims.push_back(sized ? window_extent(at, from[i], w) : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
  at.set_shape(1, at.dims);
  if (op_of(at.image(), at.n) != opcode::lp_pool && at.axes.size() == windows.size() && !windows.empty())
    at.facts.keep_reduction(at.n, at.axes, true);
}

template <class Context>
void global_pool_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.begin() + 2);
  at.dims.resize(from.size(), extent(1));
  at.set_shape(0, at.dims);
}

/// Letters of the equation name dimensions; an ellipsis gives no answer beyond that there is one.
template <class Context>
void einsum_shape(Context& at) {
  at.share_type(0, 0);
  auto const equation = at.image().source->attribute_of(at.n, "equation");
  auto const* text = std::get_if<std::string_view>(&equation);
  if (text == nullptr || text->size() > 1024) return;
  extent letters[128];
  unsigned char uses[128] = {};
  std::uint32_t operand = 0;
  std::size_t at_dimension = 0, position = 0;
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (; position < text->size() && (*text)[position] != '-'; ++position) {
    char const c = (*text)[position];
    if (c == ' ') continue;
    if (c == ',') {
      if (at.rank(operand) != static_cast<int>(at_dimension)) return;
      ++operand;
      at_dimension = 0;
    } else if (letter(c)) {
      if (!at.ranked(operand) || at_dimension >= at.shape(operand).size()) return;
      auto const e = at.shape(operand)[at_dimension++];
      auto const i = static_cast<std::size_t>(c);
      letters[i] = uses[i] == 0 ? e : at.symbols().broadcast(letters[i], e);
      if (uses[i] < 2) ++uses[i];
    } else {
      return;
    }
  }
  if (at.rank(operand) != static_cast<int>(at_dimension) || operand + 1 != at.operand_count()) return;
  at.dims.clear();
  if (position == text->size()) {  // no arrow: the letters that occur once, in order
    for (std::size_t i = 0; i < 128; ++i)
      if (uses[i] == 1) at.dims.push_back(letters[i]);
  } else {
    if (text->size() < position + 2 || (*text)[position + 1] != '>') return;
    for (char c : text->substr(position + 2)) {
      if (c == ' ') continue;
      if (!letter(c) || uses[static_cast<std::size_t>(c)] == 0) return;
      at.dims.push_back(letters[static_cast<std::size_t>(c)]);
    }
  }
  at.set_shape(0, at.dims);
}

/// Sizes as integers where they are known; scales only where they are whole.
template <class Context>
void resize_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const policy = at.image().source->attribute_of(at.n, "keep_aspect_ratio_policy");
  auto const* kept = std::get_if<std::string_view>(&policy);
  bool const plain = std::holds_alternative<std::monostate>(policy) || (kept != nullptr && *kept == "stretch");
  auto const state = at.integers("axes");
  if (state == parameter_state::missing)
    for (int i = 0; i < at.rank(0); ++i) at.list.push_back(i);
  if (state == parameter_state::unknown || !plain || !normalise_axes(at.list, at.rank(0), at.axes))
    return at.set_rank(0, from.size());
  for (auto& axis : at.list)
    if (axis < 0) axis += at.rank(0);
  auto const sizes = at.operand(3) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(3));
  auto const scales_at = at.operand_count() == 2 ? 1u : 2u;
  auto const scales = at.operand(scales_at) == absent ? span<double const>{} : at.facts.numbers(at.operand(scales_at));
  if (sizes.size() != at.list.size() && scales.size() != at.list.size()) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  for (std::size_t i = 0; i < at.list.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.list[i])];
    if (sizes.size() == at.list.size()) {
      e = at.dimension(sizes[i]);
    } else if (scales[i] >= 1 && scales[i] < 1e9 &&
               static_cast<double>(static_cast<std::int64_t>(scales[i])) == scales[i]) {
      e = at.symbols().multiply(e, static_cast<std::int64_t>(scales[i]));
    } else if (e.known() && e.value() < 1 << 24 && scales[i] > 0 && scales[i] < 1e9) {
      e = static_cast<std::int64_t>(static_cast<float>(e.value()) * static_cast<float>(scales[i]));  // as runtimes do
    } else {
      e = at.symbols().fresh();
    }
  }
  at.set_shape(0, at.dims);
}

}  // namespace fuse::inline v0::detail
