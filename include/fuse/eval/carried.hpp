// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/attention.hpp>
#include <fuse/eval/elementwise.hpp>

namespace fuse::inline v0::detail {

/// A cache with rows of an update along an axis, from an index on that each sample has; around its end, or not beyond.
[[nodiscard]] inline evaluation evaluate_tensor_scatter(call const& c) {
  auto const *cache = c.operand(0), *update = c.operand(1), *starts = c.operand(2);
  std::size_t axis = 0;
  if (cache == nullptr || update == nullptr || cache->whole() != update->whole() ||
      cache->shape.size() != update->shape.size() || !c.axis(cache->shape.size(), -2, axis) || axis < 1 ||
      axis >= cache->shape.size())
    return evaluation::misfit;
  for (std::size_t i = 0; i < cache->shape.size(); ++i)
    if (i == axis ? update->shape[i] > cache->shape[i] : update->shape[i] != cache->shape[i]) return evaluation::misfit;
  auto const first = starts == nullptr ? std::vector<std::int64_t>(static_cast<std::size_t>(cache->shape[0]), 0)
                                       : integers_of(*starts);
  bool const around = c.text("mode", "linear") == "circular";
  auto const extent = cache->shape[axis];
  if (first.size() != static_cast<std::size_t>(cache->shape[0])) return evaluation::misfit;
  for (auto start : first)
    if (start < 0 || start > extent || (!around && start + update->shape[axis] > extent)) return evaluation::misfit;
  auto made = *cache;
  auto const strides = strides_of(cache->shape);
  std::size_t from = 0;
  for_each_index(update->shape, [&](std::vector<std::int64_t> const& at) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      to += (i == axis ? (first[static_cast<std::size_t>(at[0])] + at[i]) % extent : at[i]) * strides[i];
    if (made.whole())
      made.integers[static_cast<std::size_t>(to)] = update->integers[from++];
    else
      made.elements[static_cast<std::size_t>(to)] = update->elements[from++];
  });
  return c.yield(std::move(made));
}

/// A convolution of each channel [batch, channels, length] with what came before it, in a state that goes on.
[[nodiscard]] inline evaluation evaluate_causal_conv(call const& c) {
  auto const *x = c.operand(0), *w = c.operand(1), *bias = c.operand(2), *past = c.operand(3);
  if (x == nullptr || w == nullptr || x->shape.size() != 3 || w->shape.size() != 3 || w->shape[0] != x->shape[1] ||
      w->shape[1] != 1 || w->shape[2] < 1 || (bias != nullptr && bias->size() != static_cast<std::size_t>(x->shape[1])))
    return evaluation::misfit;
  auto const channels = static_cast<std::size_t>(x->shape[1]), length = static_cast<std::size_t>(x->shape[2]),
             kernel = static_cast<std::size_t>(w->shape[2]), before = kernel - 1;
  std::vector<std::int64_t> const of_state{x->shape[0], x->shape[1], w->shape[2] - 1};
  if (past != nullptr && past->shape != of_state) return evaluation::misfit;
  auto const activation = c.text("activation", "none");
  bool const swishes = activation == "silu" || activation == "swish";
  if (!swishes && activation != "none") return evaluation::unknown;
  dense made{x->shape, {}, x->type, {}}, state{of_state, {}, past != nullptr ? past->type : x->type, {}};
  std::vector<double> row(before + length);
  for (std::size_t i = 0; i < static_cast<std::size_t>(x->shape[0]) * channels; ++i) {
    for (std::size_t k = 0; k < before; ++k) row[k] = past == nullptr ? 0 : past->elements[i * before + k];
    for (std::size_t k = 0; k < length; ++k) row[before + k] = x->elements[i * length + k];
    for (std::size_t at = 0; at < length; ++at) {
      double sum = bias == nullptr ? 0 : bias->elements[i % channels];
      for (std::size_t k = 0; k < kernel; ++k) sum += row[at + k] * w->elements[i % channels * kernel + k];
      made.elements.push_back(swishes ? sum * logistic(sum) : sum);
    }
    for (std::size_t k = 0; k < before; ++k) state.elements.push_back(row[length + k]);
  }
  c.yield(1, std::move(state));
  return c.yield(std::move(made));
}

/// Attention without softmax: a state of each head, keys by values, that decays, takes up each step's key and value, or
/// what they correct, and is read by its query. Several heads of queries may share one of keys and values. [batch,
/// length, heads * size] throughout; the state is [batch, heads, key, value].
[[nodiscard]] inline evaluation evaluate_linear_attention(call const& c) {
  auto const *past = c.operand(3), *decays = c.operand(4), *rates = c.operand(5);
  auto const heads = c.integer("q_num_heads", 0), shared = c.integer("kv_num_heads", 0);
  auto const rule = c.text("update_rule", "gated_delta");
  bool const decay = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  dense q, k, v, g, beta;
  for (std::size_t i = 0; i < 3; ++i)
    if (c.operand(i) == nullptr || c.operand(i)->shape.size() != 3) return evaluation::misfit;
  if (!by_heads(c.operand(0), heads, q) || !by_heads(c.operand(1), shared, k) || !by_heads(c.operand(2), shared, v) ||
      heads % shared != 0 || k.shape[3] != q.shape[3] || (decay && !by_heads(decays, shared, g)) ||
      (corrects && rates == nullptr))
    return evaluation::misfit;
  auto const batch = q.shape[0], length = q.shape[2], keys = q.shape[3], values = v.shape[3];
  std::vector<std::int64_t> const of_state{batch, shared, keys, values};
  for (auto const* each : {&k, &v})
    if (each->shape[0] != batch || each->shape[2] != length) return evaluation::misfit;
  if (decay &&
      (g.shape[0] != batch || g.shape[1] != shared || g.shape[2] != length || (g.shape[3] != 1 && g.shape[3] != keys)))
    return evaluation::misfit;
  if (corrects && !by_heads(rates, rates->shape.size() == 3 && rates->shape[2] == 1 ? 1 : shared, beta))
    return evaluation::misfit;
  if (corrects && (beta.shape[0] != batch || beta.shape[2] != length || beta.shape[3] != 1 ||
                   (beta.shape[1] != 1 && beta.shape[1] != shared)))
    return evaluation::misfit;
  if (past != nullptr && past->shape != of_state) return evaluation::misfit;
  auto const told = c.number("scale", 0), scale = told == 0 ? 1 / std::sqrt(static_cast<double>(keys)) : told;
  dense state = past != nullptr ? *past : dense{of_state, std::vector<double>(count_of(of_state), 0), q.type, {}};
  dense made{{batch, heads, length, values}, {}, q.type, {}};
  made.elements.assign(count_of(made.shape), 0);
  auto const at = [](dense const& x, std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t i) {
    auto const one = [](std::int64_t extent, std::int64_t index) { return extent == 1 ? 0 : index; };
    return x.elements[static_cast<std::size_t>(((b * x.shape[1] + one(x.shape[1], h)) * x.shape[2] + t) * x.shape[3] +
                                               one(x.shape[3], i))];
  };
  std::vector<double> written(static_cast<std::size_t>(values));
  for_each_index({batch, shared, length}, [&](std::vector<std::int64_t> const& step) {
    auto const b = step[0], h = step[1], t = step[2];
    auto* const s = state.elements.data() + (b * shared + h) * keys * values;
    for (std::int64_t i = 0; decay && i < keys; ++i)
      for (std::int64_t j = 0; j < values; ++j) s[i * values + j] *= std::exp(at(g, b, h, t, i));
    for (std::int64_t j = 0; j < values; ++j) {
      double held = 0;
      for (std::int64_t i = 0; corrects && i < keys; ++i) held += s[i * values + j] * at(k, b, h, t, i);
      auto const value = at(v, b, h, t, j);
      written[static_cast<std::size_t>(j)] = corrects ? at(beta, b, h, t, 0) * (value - held) : value;
    }
    for (std::int64_t i = 0; i < keys; ++i)
      for (std::int64_t j = 0; j < values; ++j)
        s[i * values + j] += at(k, b, h, t, i) * written[static_cast<std::size_t>(j)];
    for (auto reader = h * (heads / shared); reader < (h + 1) * (heads / shared); ++reader)
      for (std::int64_t j = 0; j < values; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < keys; ++i) sum += at(q, b, reader, t, i) * s[i * values + j];
        made.elements[static_cast<std::size_t>(((b * heads + reader) * length + t) * values + j)] = scale * sum;
      }
  });
  c.yield(1, std::move(state));
  return c.yield(without_heads(made));
}

}  // namespace fuse::inline v0::detail
