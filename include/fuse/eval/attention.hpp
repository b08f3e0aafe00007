// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fuse/eval/linear.hpp>

namespace fuse::inline v0::detail {

/// [batch, length, heads * size] as [batch, heads, length, size], which it may be already; false where it is neither.
[[nodiscard]] inline bool by_heads(dense const* x, std::int64_t heads, dense& into) {
  if (x == nullptr) return false;
  if (x->shape.size() == 4) return into = *x, true;
  if (x->shape.size() != 3 || heads < 1 || x->shape[2] % heads != 0) return false;
  std::int64_t const order[] = {0, 2, 1, 3};
  into = permuted(in_shape(*x, {x->shape[0], x->shape[1], heads, x->shape[2] / heads}), order);
  return true;
}
/// Back again.
[[nodiscard]] inline dense without_heads(dense const& x) {
  std::int64_t const order[] = {0, 2, 1, 3};
  return in_shape(permuted(x, order), {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]});
}

/// `before` and then `x` along axis 2.
[[nodiscard]] inline bool appended(dense const* before, dense& x) {
  if (before == nullptr) return true;
  if (before->shape.size() != 4 || before->whole() || before->shape[0] != x.shape[0] ||
      before->shape[1] != x.shape[1] || before->shape[3] != x.shape[3])
    return false;
  dense made{x.shape, {}, x.type, {}};
  made.shape[2] += before->shape[2];
  auto const run = [&](dense const& from, std::size_t head) {
    auto const length = static_cast<std::ptrdiff_t>(from.shape[2] * from.shape[3]);
    auto const first = from.elements.begin() + static_cast<std::ptrdiff_t>(head) * length;
    made.elements.insert(made.elements.end(), first, first + length);
  };
  for (std::size_t head = 0; head < static_cast<std::size_t>(x.shape[0] * x.shape[1]); ++head) {
    run(*before, head);
    run(x, head);
  }
  x = std::move(made);
  return true;
}

/// Which keys a query may look at.
struct attention_limits {
  dense const* mask = nullptr;         ///< is added to the scores, or says which keys count
  dense const* lengths = nullptr;      ///< of the keys of each batch that are no padding
  bool causal = false;                 ///< only such as do not come after it
  std::int64_t left = -1, right = -1;  ///< of its window; -1: as far as there are keys
  std::int64_t past = 0;               ///< keys that come before the first query
  double of_none = 0;                  ///< what a query weighs each key with that may look at none
};

/// What is added to the scores [batch, heads, queries, keys]: a mask, -infinity for keys that come after a query, that
/// lie outside of its window, or that are padding. False where the mask does not fit.
[[nodiscard]] inline bool attention_bias(attention_limits const& by, std::vector<std::int64_t> const& shape,
                                         dense& into) {
  into = {shape, std::vector<double>(count_of(shape), 0), element_type::float64, {}};
  if (by.mask != nullptr) {
    auto const rank = by.mask->shape.size();
    if (rank < 1 || rank > 4) return false;
    auto given = mapped(in_doubles(*by.mask), [&](double v) {
      return by.mask->type != element_type::boolean ? v : v != 0 ? 0 : -HUGE_VAL;
    });
    if (given.shape.back() < shape[3]) {  // keys that it leaves out are none
      auto wider = given.shape;
      wider.back() = shape[3];
      auto const none = dense::of(-HUGE_VAL);
      auto const strides = strides_of(given.shape);
      given = picked(
          given, wider,
          [&](std::vector<std::int64_t> const& at) -> std::int64_t {
            if (at.back() >= given.shape.back()) return -1;
            std::int64_t from = 0;
            for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * strides[i];
            return from;
          },
          &none);
    }
    if (!broadcast_to(given, shape, into)) return false;
  }
  auto const counts = by.lengths == nullptr ? std::vector<std::int64_t>{} : integers_of(*by.lengths);
  if (by.lengths != nullptr && counts.size() != static_cast<std::size_t>(shape[0])) return false;
  std::size_t next = 0;
  for_each_index(shape, [&](std::vector<std::int64_t> const& at) {
    auto& bias = into.elements[next++];
    auto const keys = by.lengths == nullptr ? shape[3] : counts[static_cast<std::size_t>(at[0])];
    auto const query = at[2] + (by.lengths == nullptr ? by.past : keys - shape[2]), key = at[3];
    if ((by.causal && key > query) || (by.left >= 0 && query - key > by.left) ||
        (by.right >= 0 && key - query > by.right) || key >= keys)
      bias = -HUGE_VAL;
  });
  return true;
}

/// softmax(scale * q k^T + bias) v, of heads; several heads of queries may share one of keys and values. `told` are
/// the scores at one of four stages.
[[nodiscard]] inline evaluation attend(dense const& q, dense const& k, dense const& v, attention_limits const& by,
                                       double scale, double cap, std::int64_t stage, dense& told, dense& made) {
  auto const heads = q.shape[1], shared = k.shape[1];
  if (k.shape[0] != q.shape[0] || v.shape[0] != q.shape[0] || v.shape[1] != shared || shared < 1 ||
      heads % shared != 0 || k.shape[3] != q.shape[3] || v.shape[2] != k.shape[2])
    return evaluation::misfit;
  std::vector<std::int64_t> const shape{q.shape[0], heads, q.shape[2], k.shape[2]};
  dense bias, scores;
  if (!attention_bias(by, shape, bias)) return evaluation::misfit;
  auto const repeated = [&](dense const& x) {
    auto const inner = x.shape[2] * x.shape[3];
    auto each = picked(in_shape(x, {x.shape[0], shared, inner}), {x.shape[0], heads, inner},
                       [&](std::vector<std::int64_t> const& at) {
                         return (at[0] * shared + at[1] / (heads / shared)) * inner + at[2];
                       });
    return in_shape(std::move(each), {x.shape[0], heads, x.shape[2], x.shape[3]});
  };
  if (!multiplied(q, matrix(repeated(k), true), scores)) return evaluation::misfit;
  scores = mapped(std::move(scores), [=](double x) { return scale * x; });
  told = scores;
  if (cap > 0) scores = mapped(std::move(scores), [=](double x) { return cap * std::tanh(x / cap); });
  if (stage == 1) told = scores;
  for (std::size_t i = 0; i < scores.elements.size(); ++i) scores.elements[i] += bias.elements[i];
  if (stage == 2) told = scores;
  auto const keys = static_cast<std::size_t>(shape[3]);
  for (std::size_t row = 0; row < scores.elements.size(); row += keys) {
    double most = -HUGE_VAL, sum = 0;
    bool looks = false;
    for (std::size_t i = row; i < row + keys; ++i) {
      if (bias.elements[i] == -HUGE_VAL) continue;
      looks = true;
      most = scores.elements[i] > most ? scores.elements[i] : most;
    }
    for (std::size_t i = row; i < row + keys; ++i)
      sum += scores.elements[i] = looks && bias.elements[i] != -HUGE_VAL ? std::exp(scores.elements[i] - most) : 0;
    if (!looks)
      for (std::size_t i = row; i < row + keys; ++i) scores.elements[i] = by.of_none;
    for (std::size_t i = row; i < row + keys && looks; ++i) scores.elements[i] /= sum;
  }
  if (stage == 3) told = scores;
  return multiplied(std::move(scores), repeated(v), made) ? evaluation::done : evaluation::misfit;
}

/// ONNX's Attention. Results: what it makes, all keys and values, and the scores as they are at one of four stages.
[[nodiscard]] inline evaluation evaluate_attention(call const& c) {
  dense q, k, v, told, made;
  auto const* past = c.operand(4);
  auto const of_queries = c.integer("q_num_heads", 0), of_keys = c.integer("kv_num_heads", 0);
  if (!by_heads(c.operand(0), of_queries, q) || !by_heads(c.operand(1), of_keys, k) ||
      !by_heads(c.operand(2), of_keys, v) || !appended(past, k) || !appended(c.operand(5), v))
    return evaluation::misfit;
  attention_limits const by{c.operand(3),
                            c.operand(6),
                            c.flag("is_causal"),
                            c.integer("left_window_size", -1),
                            c.integer("right_window_size", -1),
                            past == nullptr ? 0 : past->shape[2]};
  auto const scale = c.number("scale", 1 / std::sqrt(static_cast<double>(q.shape[3])));
  if (attend(q, k, v, by, scale, c.number("softcap", 0), c.integer("qk_matmul_output_mode", 0), told, made) !=
      evaluation::done)
    return evaluation::misfit;
  c.yield(1, std::move(k));
  c.yield(2, std::move(v));
  c.yield(3, std::move(told));
  return c.yield(c.operand(0)->shape.size() == 3 ? without_heads(made) : std::move(made));
}

/// onnxruntime's MultiHeadAttention, of queries of three axes: (queries, keys, values, -, -, what is added to the
/// scores, keys of the past, values of the past). Results: what it makes, all keys and values. Projections' bias and
/// padding are not computed.
[[nodiscard]] inline evaluation evaluate_multi_head_attention(call const& c) {
  for (auto const other : {3, 4, 8, 9})
    if (c.operand(static_cast<std::size_t>(other)) != nullptr) return evaluation::unknown;
  auto const heads = c.integer("num_heads", 0);
  auto const* past = c.operand(6);
  dense q, k, v, told, made;
  if (c.operand(0) == nullptr || c.operand(0)->shape.size() != 3 || !by_heads(c.operand(0), heads, q) ||
      !by_heads(c.operand(1), heads, k) || !by_heads(c.operand(2), heads, v) || k.shape[1] != heads ||
      !appended(past, k) || !appended(c.operand(7), v))
    return evaluation::misfit;
  attention_limits const by{.mask = c.operand(5),
                            .causal = c.flag("unidirectional"),
                            .past = past == nullptr ? 0 : past->shape[2],
                            .of_none = std::numeric_limits<double>::quiet_NaN()};
  auto const told_scale = c.number("scale", 0);
  auto const scale = told_scale != 0 ? told_scale : 1 / std::sqrt(static_cast<double>(q.shape[3]));
  if (attend(q, k, v, by, scale, 0, 0, told, made) != evaluation::done) return evaluation::misfit;
  c.yield(1, std::move(k));
  c.yield(2, std::move(v));
  return c.yield(without_heads(made));
}

/// onnxruntime's Attention: (x, weights, bias, -, -, what is added to the scores), of queries, keys and values that are
/// columns of x weights + bias. Padding, and keys and values of the past are not computed.
[[nodiscard]] inline evaluation evaluate_projected_attention(call const& c) {
  for (auto const other : {3, 4, 6})
    if (c.operand(static_cast<std::size_t>(other)) != nullptr) return evaluation::unknown;
  if (c.flag("do_rotary")) return evaluation::unknown;
  auto const *x = c.operand(0), *weights = c.operand(1), *bias = c.operand(2);
  dense projected;
  std::vector<std::int64_t> sizes;
  if (x == nullptr || weights == nullptr || x->shape.size() != 3 || weights->shape.size() != 2 ||
      !multiplied(*x, *weights, projected) || !c.list("qkv_hidden_sizes", 3, weights->shape[1] / 3, sizes))
    return evaluation::misfit;
  auto const columns = weights->shape[1];
  if (bias != nullptr) {
    if (bias->shape != std::vector<std::int64_t>{columns}) return evaluation::misfit;
    for (std::size_t i = 0; i < projected.elements.size(); ++i)
      projected.elements[i] += bias->elements[i % static_cast<std::size_t>(columns)];
  }
  auto const heads = c.integer("num_heads", 0);
  dense parts[3];
  std::int64_t first = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (sizes[i] < 1 || first + sizes[i] > columns) return evaluation::misfit;
    auto const part = picked(projected, {x->shape[0], x->shape[1], sizes[i]}, [&](std::vector<std::int64_t> const& at) {
      return (at[0] * x->shape[1] + at[1]) * columns + first + at[2];
    });
    if (!by_heads(&part, heads, parts[i])) return evaluation::misfit;
    first += sizes[i];
  }
  attention_limits const by{
      .mask = c.operand(5), .causal = c.flag("unidirectional"), .of_none = std::numeric_limits<double>::quiet_NaN()};
  auto const told_scale = c.number("scale", 0);
  auto const scale = told_scale != 0 ? told_scale : 1 / std::sqrt(static_cast<double>(parts[0].shape[3]));
  dense told, made;
  auto const done = attend(parts[0], parts[1], parts[2], by, scale, 0, 0, told, made);
  return done == evaluation::done ? c.yield(without_heads(made)) : done;
}

/// Pairs of each row of (batch, heads, sequence, size), turned by an angle whose cosine and sine stand in tables: of
/// the first half with the second, or of neighbours. `row` tells the row of the tables by batch and place in the
/// sequence.
template <class Row>
[[nodiscard]] dense turned_pairs(dense const& x, std::int64_t half, bool neighbours, dense const& cosines,
                                 dense const& sines, Row const& row) {
  auto made = x;
  for_each_index({x.shape[0], x.shape[1], x.shape[2], half}, [&](std::vector<std::int64_t> const& at) {
    auto const entry = static_cast<std::size_t>(row(at[0], at[2]) * half + at[3]);
    auto const start = ((at[0] * x.shape[1] + at[1]) * x.shape[2] + at[2]) * x.shape[3];
    auto const first = static_cast<std::size_t>(start + (neighbours ? 2 * at[3] : at[3]));
    auto const second = first + static_cast<std::size_t>(neighbours ? 1 : half);
    auto const a = x.elements[first], b = x.elements[second], cosine = cosines.elements[entry],
               sine = sines.elements[entry];
    made.elements[first] = cosine * a - sine * b;
    made.elements[second] = sine * a + cosine * b;
  });
  return made;
}

/// By tables of each batch and place, of one batch for all, or of each position there is.
[[nodiscard]] inline evaluation evaluate_rotary_embedding(call const& c) {
  auto const *input = c.operand(0), *cosines = c.operand(1), *sines = c.operand(2), *ids = c.operand(3);
  dense x;
  if (cosines == nullptr || sines == nullptr || cosines->shape != sines->shape || cosines->shape.empty() ||
      !by_heads(input, c.integer("num_heads", 0), x))
    return evaluation::misfit;
  auto const size = x.shape[3], told = c.integer("rotary_embedding_dim", 0), turned = told == 0 ? size : told;
  auto const rows = ids == nullptr ? std::vector<std::int64_t>{} : integers_of(*ids);
  auto const positions = static_cast<std::size_t>(x.shape[0] * x.shape[2]);
  auto const held = static_cast<std::int64_t>(count_between(cosines->shape, 0, cosines->shape.size() - 1));
  bool const one_batch = ids == nullptr && cosines->shape.size() == 3 && cosines->shape[0] == 1;
  if (turned > size || turned % 2 != 0 || cosines->shape.back() != turned / 2 ||
      (ids != nullptr ? rows.size() != positions
                      : held != (one_batch ? x.shape[2] : static_cast<std::int64_t>(positions))))
    return evaluation::misfit;
  for (auto row : rows)
    if (row < 0 || row >= held) return evaluation::misfit;
  auto made =
      turned_pairs(x, turned / 2, c.flag("interleaved"), *cosines, *sines, [&](std::int64_t batch, std::int64_t place) {
        auto const position = batch * x.shape[2] + place;
        return ids != nullptr ? rows[static_cast<std::size_t>(position)] : one_batch ? place : position;
      });
  return c.yield(input->shape.size() == 3 ? without_heads(made) : std::move(made));
}

/// By tables of each position there is: positions of each batch and place, or the first one of all batches.
[[nodiscard]] inline evaluation evaluate_rotary_embedding_at(call const& c) {
  auto const *input = c.operand(0), *ids = c.operand(1), *cosines = c.operand(2), *sines = c.operand(3);
  if (input == nullptr || ids == nullptr || cosines == nullptr || sines == nullptr || cosines->shape.size() != 2 ||
      cosines->shape != sines->shape || cosines->shape[1] < 1)
    return evaluation::misfit;
  if (c.integer("rotary_embedding_dim", 0) != 0 || c.number("scale", 1) != 1) return evaluation::unknown;
  auto const half = cosines->shape[1];
  dense x;
  if (input->shape.empty() || !by_heads(input, input->shape.back() / (2 * half), x) || x.shape[3] != 2 * half)
    return evaluation::misfit;
  auto const rows = integers_of(*ids);
  auto const positions = static_cast<std::size_t>(x.shape[0] * x.shape[2]);
  if (rows.size() != 1 && rows.size() != positions) return evaluation::misfit;
  for (auto row : rows)
    if (row < 0 || row + (rows.size() == 1 ? x.shape[2] - 1 : 0) >= cosines->shape[0]) return evaluation::misfit;
  auto made =
      turned_pairs(x, half, c.flag("interleaved"), *cosines, *sines, [&](std::int64_t batch, std::int64_t place) {
        return rows.size() == 1 ? rows[0] + place : rows[static_cast<std::size_t>(batch * x.shape[2] + place)];
      });
  return c.yield(input->shape.size() == 3 ? without_heads(made) : std::move(made));
}

}  // namespace fuse::inline v0::detail
