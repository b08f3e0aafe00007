// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/layout.hpp>
#include <fuse/eval/reduction.hpp>

namespace fuse::inline v0::detail {

/// 1 where the first of the largest is, else 0.
[[nodiscard]] inline evaluation hardmax(call const& c, dense const& x, std::vector<bool> const& over) {
  auto const most = largest(x, over);
  dense top, found{most.shape, std::vector<double>(most.elements.size(), 0), x.type, {}};
  std::vector<std::size_t> rows;
  if (!broadcast_to(most, x.shape, top) ||
      !for_each_repeated(most.shape, x.shape, [&](std::size_t i) { rows.push_back(i); }))
    return evaluation::misfit;
  auto made = x;
  for (std::size_t i = 0; i < made.elements.size(); ++i) {
    bool const first = x.elements[i] == top.elements[i] && found.elements[rows[i]] == 0;
    if (first) found.elements[rows[i]] = 1;
    made.elements[i] = first ? 1 : 0;
  }
  return c.yield(std::move(made));
}

/// The operators that make rows of the axes from one on, or along one, sum to 1.
[[nodiscard]] inline evaluation evaluate_softmax(call const& c) {
  auto const* x = c.operand(0);
  std::size_t axis = 0;
  if (x == nullptr || !c.axis(x->shape.size(), -1, axis) || axis >= x->shape.size()) return evaluation::misfit;
  std::vector<bool> over(x->shape.size(), false);
  for (auto i = axis; i < over.size(); ++i) over[i] = i == axis || c.parameters.use_of_axis() == axis_use::trailing;
  if (c.op == opcode::hardmax) return hardmax(c, *x, over);
  auto const shifted = minus(*x, largest(*x, over));
  auto const raised = mapped(shifted, [](double v) { return std::exp(v); });
  auto const sums = summed(raised, over);
  if (c.op == opcode::softmax) return c.yield(joined(raised, sums, [](double a, double b) { return a / b; }));
  return c.yield(minus(shifted, mapped(sums, [](double v) { return std::log(v); })));
}

/// What a norm makes of rows: they themselves, their means, and their inverse deviations.
struct normed_rows {
  dense y{}, mean{}, inverse{};

  /// Rows along the axes that are marked, less their means where it `centres`, by their deviations, times a scale, plus
  /// a bias; false where these do not fit.
  [[nodiscard]] bool make(dense const& x, std::vector<bool> const& over, bool centres, double epsilon,
                          dense const* scale, dense const* bias) {
    mean = averaged(x, over);
    auto const centred = centres ? minus(x, mean) : x;
    inverse = mapped(averaged(times(centred, centred), over), [&](double v) { return 1 / std::sqrt(v + epsilon); });
    y = times(centred, inverse);
    if (scale != nullptr && !combine(y, *scale, y, [](double a, double b) { return a * b; })) return false;
    if (bias != nullptr && !combine(y, *bias, y, [](double a, double b) { return a + b; })) return false;
    return y.shape == x.shape;
  }
};

/// Norms of the axes from one on. Results: the norm, mean, inverse deviation (of RMS norms alone, the latter), and the
/// sum that was normed.
[[nodiscard]] inline evaluation evaluate_norm(call const& c) {
  bool const skips = c.op == opcode::skip_layer_norm || c.op == opcode::skip_rms_norm;
  bool const centres = c.op == opcode::layer_norm || c.op == opcode::skip_layer_norm;
  auto const* first = c.operand(0);
  if (first == nullptr) return evaluation::misfit;
  auto x = *first;
  std::size_t const scale = skips ? 2 : 1, bias = centres ? 4 : 3;
  if (skips)
    for (auto const* added : {c.operand(1), c.operand(bias)})
      if (added != nullptr && !combine(x, *added, x, [](double a, double b) { return a + b; }))
        return evaluation::misfit;
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), -1, axis)) return evaluation::misfit;
  std::vector<bool> over(x.shape.size(), false);
  for (auto i = axis; i < over.size(); ++i) over[i] = true;
  normed_rows made;
  if (!made.make(x, over, centres, c.number("epsilon", 1e-5), c.operand(scale),
                 centres ? c.operand(scale + 1) : nullptr))
    return evaluation::misfit;
  c.yield(centres || skips ? 2 : 1, std::move(made.inverse));
  if (centres || skips) c.yield(1, std::move(made.mean));
  if (skips) c.yield(3, std::move(x));
  return c.yield(std::move(made.y));
}

/// Adds the rows of a table that ids name, [rows, columns], to rows of as many columns; false where an id names none.
[[nodiscard]] inline bool add_rows(dense& rows, dense const* table, std::vector<std::int64_t> const& ids) {
  auto const columns = static_cast<std::size_t>(rows.shape.back());
  if (table == nullptr || table->shape.size() != 2 || table->shape[1] != rows.shape.back() ||
      ids.size() * columns != rows.elements.size())
    return false;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] < 0 || ids[row] >= table->shape[0]) return false;
    for (std::size_t i = 0; i < columns; ++i)
      rows.elements[row * columns + i] += table->elements[static_cast<std::size_t>(ids[row]) * columns + i];
  }
  return true;
}

/// Tables, scale and bias of embeddings: as they are, or of 8 bits, each with a scale and a zero point.
struct embedding_tables {
  static constexpr std::size_t first = 2, count = 5, scales = 8, zeros = 13;
  dense made[count];
  dense const* all[count]{};

  /// False where one that is needed is absent, or a scale or zero point is not one number.
  [[nodiscard]] bool read(call const& c) {
    for (std::size_t i = 0; i < count; ++i) {
      all[i] = c.operand(first + i);
      if (all[i] == nullptr && i != 2) return false;
      if (all[i] == nullptr || c.op != opcode::qembed_layer_norm) continue;
      auto const *scale = c.operand(scales + i), *zero = c.operand(zeros + i);
      if (scale == nullptr || scale->size() != 1 || zero == nullptr || zero->size() != 1) return false;
      auto const by = scale->elements[0], from = in_doubles(*zero).elements[0];
      made[i] = converted(mapped(in_doubles(*all[i]), [&](double q) { return (q - from) * by; }), scale->type);
      all[i] = &made[i];
    }
    return true;
  }
};

/// The layer norm of the sum of a word's row, its position's and its segment's. Results: that, how many entries of each
/// mask count (of tables of 8 bits those that are 1, else those that are not 0), and the sum.
[[nodiscard]] inline evaluation evaluate_embed_norm(call const& c) {
  bool const quantised = c.op == opcode::qembed_layer_norm;
  embedding_tables tables;
  if (!tables.read(c)) return evaluation::misfit;
  auto const *ids = c.operand(0), *segments = c.operand(1), *words = tables.all[0], *mask = c.operand(7),
             *told = quantised ? nullptr : c.operand(8);
  if (ids == nullptr || words == nullptr || ids->shape.size() != 2 || words->shape.size() != 2)
    return evaluation::misfit;
  if (segments == nullptr && c.operand(4) != nullptr) return evaluation::unknown;
  auto const batch = static_cast<std::size_t>(ids->shape[0]), length = static_cast<std::size_t>(ids->shape[1]);
  auto const given = told == nullptr ? std::vector<std::int64_t>{} : integers_of(*told);
  std::vector<std::int64_t> positions(batch * length), counts(batch, 0);
  if (told != nullptr && given.size() != length && given.size() != positions.size()) return evaluation::misfit;
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = told == nullptr ? static_cast<std::int64_t>(i % length) : given[i % given.size()];
  dense sum{{ids->shape[0], ids->shape[1], words->shape[1]}, {}, words->type, {}};
  sum.elements.assign(count_of(sum.shape), 0);
  normed_rows made;
  if (!add_rows(sum, words, integers_of(*ids)) || !add_rows(sum, tables.all[1], positions) ||
      (segments != nullptr && !add_rows(sum, tables.all[2], integers_of(*segments))) ||
      !made.make(sum, {false, false, true}, true, c.number("epsilon", 1e-12), tables.all[3], tables.all[4]))
    return evaluation::misfit;
  if (mask != nullptr) {
    auto const kept = integers_of(*mask);
    if (kept.size() != positions.size()) return evaluation::misfit;
    for (std::size_t i = 0; i < kept.size(); ++i) counts[i / length] += quantised ? kept[i] == 1 : kept[i] != 0;
  }
  c.yield(1, converted(integers_in({ids->shape[0]}, std::move(counts)), element_type::int32));
  if (!quantised) c.yield(2, std::move(sum));
  return c.yield(std::move(made.y));
}

/// A row of numbers, one for each channel, along axis 1 of `rank`; false where it is none.
[[nodiscard]] inline bool along_channels(dense const* row, dense const& x, dense& into) {
  if (row == nullptr || row->shape.size() != 1 || (row->shape[0] != x.shape[1] && row->shape[0] != 1)) return false;
  into = *row;
  into.shape.resize(x.shape.size() - 1, 1);
  return true;
}

/// (x - mean) / sqrt(variance + epsilon).
[[nodiscard]] inline dense standardised(dense const& x, dense const& mean, dense const& variance, double epsilon) {
  return times(minus(x, mean), mapped(variance, [&](double v) { return 1 / std::sqrt(v + epsilon); }));
}
[[nodiscard]] inline dense variance_of(dense const& x, dense const& mean, std::vector<bool> const& over) {
  auto const centred = minus(x, mean);
  return averaged(times(centred, centred), over);
}

/// Norms along the axis of channels, 1: by statistics that are given, by those of the batch, which then update the
/// given ones, or by those of each channel of each sample.
[[nodiscard]] inline evaluation evaluate_channel_norm(call const& c) {
  auto const* x = c.operand(0);
  dense by, added, mean, variance;
  if (x == nullptr || x->shape.size() < 2 || !along_channels(c.operand(1), *x, by) ||
      !along_channels(c.operand(2), *x, added))
    return evaluation::misfit;
  bool const batch = c.op == opcode::batch_norm, training = batch && c.flag("training_mode");
  if (batch && (!along_channels(c.operand(3), *x, mean) || !along_channels(c.operand(4), *x, variance)))
    return evaluation::misfit;
  if (!batch || training) {
    std::vector<bool> over(x->shape.size(), true);
    over[0] = training;
    over[1] = false;
    auto const of_batch = averaged(*x, over);
    auto const spread = variance_of(*x, of_batch, over);
    auto const moved = [&](std::size_t result, dense const& old, dense const& seen) {
      double const kept = c.number("momentum", 0.9);
      auto made = joined(in_shape(old, {old.shape[0]}), in_shape(seen, {x->shape[1]}),
                         [&](double a, double b) { return a * kept + b * (1 - kept); });
      c.yield(result, std::move(made));
    };
    if (training) {
      moved(1, mean, of_batch);
      moved(2, variance, spread);
    }
    mean = of_batch;
    variance = spread;
  }
  auto made = times(standardised(*x, mean, variance, c.number("epsilon", 1e-5)), by);
  if (!combine(made, added, made, [](double a, double b) { return a + b; })) return evaluation::misfit;
  return c.yield(std::move(made));
}

/// Norms of groups of channels, then a scale and a bias for each channel, or for each group.
[[nodiscard]] inline evaluation evaluate_group_norm(call const& c) {
  auto const *x = c.operand(0), *scale = c.operand(1), *bias = c.operand(2);
  auto const groups = c.integer("num_groups", 0);
  if (x == nullptr || scale == nullptr || bias == nullptr || x->shape.size() < 2 || groups < 1 ||
      x->shape[1] % groups != 0 || scale->shape != bias->shape || scale->shape.size() != 1 ||
      (scale->shape[0] != x->shape[1] && scale->shape[0] != groups))
    return evaluation::misfit;
  auto const rest = static_cast<std::int64_t>(count_between(x->shape, 2, x->shape.size()));
  auto const by_group = in_shape(*x, {x->shape[0], groups, x->shape[1] / groups * rest});
  std::vector<bool> const over{false, false, true};
  auto const mean = averaged(by_group, over);
  auto made = standardised(by_group, mean, variance_of(by_group, mean, over), c.number("epsilon", 1e-5));
  auto const rows = scale->shape[0];
  made.shape = {x->shape[0], rows, x->shape[1] / rows * rest};
  made = times(made, in_shape(*scale, {rows, 1}));
  made = joined(made, in_shape(*bias, {rows, 1}), [](double a, double b) { return a + b; });
  return c.yield(in_shape(std::move(made), x->shape));
}

/// Rows by their norms: of degree 1 or 2; a row of zeros stays one.
[[nodiscard]] inline evaluation evaluate_lp_normalization(call const& c) {
  auto const* x = c.operand(0);
  std::size_t axis = 0;
  auto const degree = c.integer("p", 2);
  if (x == nullptr || !c.axis(x->shape.size(), -1, axis) || axis >= x->shape.size()) return evaluation::misfit;
  if (degree != 1 && degree != 2) return evaluation::unknown;
  std::vector<bool> over(x->shape.size(), false);
  over[axis] = true;
  auto sums = summed(mapped(*x, [&](double v) { return degree == 1 ? std::fabs(v) : v * v; }), over);
  if (degree == 2) sums = mapped(std::move(sums), [](double v) { return std::sqrt(v); });
  return c.yield(joined(*x, sums, [](double a, double b) { return b == 0 ? 0 : a / b; }));
}

/// Less the mean, by the deviation, of the axes that are named, else of all but channels.
[[nodiscard]] inline evaluation evaluate_mean_variance_norm(call const& c) {
  auto const* x = c.operand(0);
  std::vector<std::int64_t> axes;
  if (!c.list("axes", axes) || axes.empty()) axes = {0, 2, 3};
  if (x == nullptr || !counted_axes(axes, x->shape.size())) return evaluation::misfit;
  auto const over = marked(axes, x->shape.size());
  auto const mean = averaged(*x, over);
  auto const deviation = mapped(variance_of(*x, mean, over), [](double v) { return std::sqrt(v); });
  return c.yield(joined(minus(*x, mean), deviation, [](double a, double b) { return a / (b + 1e-9); }));
}

/// By a power of the squares of the channels around.
[[nodiscard]] inline evaluation evaluate_local_response_norm(call const& c) {
  auto const* x = c.operand(0);
  auto const size = c.integer("size", 0);
  if (x == nullptr || x->shape.size() < 2 || size < 1) return evaluation::misfit;
  double const alpha = c.number("alpha", 1e-4), beta = c.number("beta", 0.75), bias = c.number("bias", 1);
  auto const channels = x->shape[1], inner = static_cast<std::int64_t>(count_between(x->shape, 2, x->shape.size()));
  auto made = *x;
  for (std::size_t i = 0; i < made.elements.size(); ++i) {
    auto const channel = static_cast<std::int64_t>(i) / inner % channels;
    double sum = 0;
    for (auto other = channel - (size - 1) / 2; other <= channel + size / 2; ++other) {
      if (other < 0 || other >= channels) continue;
      auto const v = x->elements[static_cast<std::size_t>(static_cast<std::int64_t>(i) + (other - channel) * inner)];
      sum += v * v;
    }
    made.elements[i] /= std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail
