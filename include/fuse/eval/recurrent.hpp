// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/eval/layout.hpp>
#include <fuse/eval/linear.hpp>

namespace fuse::inline v0::detail {

[[nodiscard]] inline std::size_t gate_count(opcode op) { return op == opcode::lstm ? 4 : op == opcode::gru ? 3 : 1; }

/// The operands of a recurrent layer in one direction: what enters each gate of a step, and what is carried.
struct recurrent_step {
  std::size_t batch, size;
  std::vector<double> const& carried_weights;  // [gates * size, size]
  std::vector<double> carried_bias, peepholes;
  std::vector<double> state, cell;  // [batch, size]

  /// Gate `g` of what is carried, with its bias.
  [[nodiscard]] double of_state(std::vector<double> const& from, std::size_t g, std::size_t b, std::size_t i) const {
    double sum = carried_bias[g * size + i];
    for (std::size_t k = 0; k < size; ++k) sum += from[b * size + k] * carried_weights[(g * size + i) * size + k];
    return sum;
  }
};

/// One step: `input` [batch, gates * size] is what enters, with its bias. Gates in ONNX's order.
inline void advance(opcode op, recurrent_step& of, std::vector<double> const& input, bool linear_before_reset) {
  auto const size = of.size, gates = gate_count(op);
  auto const before = of.state;
  auto const enters = [&](std::size_t g, std::size_t b, std::size_t i) { return input[(b * gates + g) * size + i]; };
  auto const logistic_of = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (std::size_t b = 0; b < of.batch; ++b) {
    if (op == opcode::gru) {
      std::vector<double> reset(of.batch * size);
      for (std::size_t i = 0; i < size; ++i)
        reset[b * size + i] = logistic_of(enters(1, b, i) + of.of_state(before, 1, b, i));
      auto scaled_state = before;
      for (std::size_t i = 0; i < size; ++i) scaled_state[b * size + i] *= reset[b * size + i];
      for (std::size_t i = 0; i < size; ++i) {
        auto const update = logistic_of(enters(0, b, i) + of.of_state(before, 0, b, i));
        auto const carried = linear_before_reset ? reset[b * size + i] * of.of_state(before, 2, b, i)
                                                 : of.of_state(scaled_state, 2, b, i);
        auto const made = std::tanh(enters(2, b, i) + carried);
        of.state[b * size + i] = (1 - update) * made + update * before[b * size + i];
      }
      continue;
    }
    for (std::size_t i = 0; i < size; ++i) {
      auto const gate = [&](std::size_t g) { return enters(g, b, i) + of.of_state(before, g, b, i); };
      if (op == opcode::rnn) {
        of.state[b * size + i] = std::tanh(gate(0));
        continue;
      }
      auto& cell = of.cell[b * size + i];
      auto const old = cell;  // gates: input, output, forget, cell
      auto const in = logistic_of(gate(0) + of.peepholes[i] * old);
      auto const forget = logistic_of(gate(2) + of.peepholes[2 * size + i] * old);
      cell = forget * old + in * std::tanh(gate(3));
      of.state[b * size + i] = logistic_of(gate(1) + of.peepholes[size + i] * cell) * std::tanh(cell);
    }
  }
}

/// LSTM, GRU, RNN with their own activations, for sequences of one length. Operands: input, weights, carried weights,
/// bias, lengths, the first state, and, of an LSTM, the first cell and peepholes.
[[nodiscard]] inline evaluation evaluate_recurrent(call const& c) {
  auto const *x = c.operand(0), *w = c.operand(1), *r = c.operand(2);
  if (x == nullptr || w == nullptr || r == nullptr || x->shape.size() != 3 || w->shape.size() != 3 ||
      r->shape.size() != 3)
    return evaluation::misfit;
  for (auto const* name : {"activations", "activation_alpha", "activation_beta", "clip", "input_forget"})
    if (!std::holds_alternative<std::monostate>(c.parameters.attribute(name))) return evaluation::unknown;
  bool const batch_first = c.flag("layout");
  std::int64_t const swapped[] = {1, 0, 2};
  auto const input = batch_first ? permuted(*x, swapped) : *x;
  auto const steps = static_cast<std::size_t>(input.shape[0]), batch = static_cast<std::size_t>(input.shape[1]),
             width = static_cast<std::size_t>(input.shape[2]), directions = static_cast<std::size_t>(w->shape[0]),
             size = static_cast<std::size_t>(r->shape[2]), gates = gate_count(c.op);
  auto const direction = c.text("direction", "forward");
  if (w->shape[1] != static_cast<std::int64_t>(gates * size) || r->shape[1] != w->shape[1] ||
      w->shape[2] != input.shape[2] || directions != (direction == "bidirectional" ? 2u : 1u))
    return evaluation::misfit;
  if (auto const* lengths = c.operand(4); lengths != nullptr)
    for (auto length : integers_of(*lengths))
      if (length != input.shape[0]) return evaluation::unknown;
  auto const held = [&](std::size_t i, std::size_t count) {
    auto const* operand = c.operand(i);
    auto const turned = operand != nullptr && batch_first && operand->shape.size() == 3 ? permuted(*operand, swapped)
                        : operand != nullptr                                            ? *operand
                                                                                        : dense{};
    return operand == nullptr ? std::vector<double>(directions * count, 0) : turned.elements;
  };
  auto const bias = held(3, 2 * gates * size), first = held(5, batch * size), cells = held(6, batch * size),
             peepholes = held(7, 3 * size);
  if (bias.size() != directions * 2 * gates * size || first.size() != directions * batch * size ||
      cells.size() != first.size() || peepholes.size() != directions * 3 * size)
    return evaluation::misfit;
  auto const of = [](std::vector<double> const& all, std::size_t part, std::size_t count) {
    auto const from = all.begin() + static_cast<std::ptrdiff_t>(part * count);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count));
  };
  auto const in_shape_of = [&](std::vector<std::int64_t> shape) {
    auto const count = count_of(shape);
    return dense{std::move(shape), std::vector<double>(count, 0), x->type, {}};
  };
  auto const as = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  auto all = in_shape_of({as(steps), as(directions), as(batch), as(size)});
  auto last = in_shape_of({as(directions), as(batch), as(size)}), last_cell = last;
  for (std::size_t d = 0; d < directions; ++d) {
    bool const backward = direction == "reverse" || d == 1;
    auto const weights = of(w->elements, d, gates * size * width), carried = of(r->elements, d, gates * size * size);
    auto const biases = of(bias, d, 2 * gates * size);
    recurrent_step each{batch,
                        size,
                        carried,
                        of(biases, 1, gates * size),
                        of(peepholes, d, 3 * size),
                        of(first, d, batch * size),
                        of(cells, d, batch * size)};
    for (std::size_t k = 0; k < steps; ++k) {
      auto const at = backward ? steps - 1 - k : k;
      std::vector<double> enters(batch * gates * size);
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t g = 0; g < gates * size; ++g) {
          double sum = biases[g];
          for (std::size_t i = 0; i < width; ++i)
            sum += input.elements[(at * batch + b) * width + i] * weights[g * width + i];
          enters[b * gates * size + g] = sum;
        }
      advance(c.op, each, enters, c.flag("linear_before_reset"));
      for (std::size_t i = 0; i < batch * size; ++i)
        all.elements[(at * directions + d) * batch * size + i] = each.state[i];
    }
    for (std::size_t i = 0; i < batch * size; ++i) {
      last.elements[d * batch * size + i] = each.state[i];
      last_cell.elements[d * batch * size + i] = each.cell[i];
    }
  }
  std::int64_t const batch_before_all[] = {2, 0, 1, 3};
  c.yield(1, batch_first ? permuted(last, swapped) : last);
  c.yield(2, batch_first ? permuted(last_cell, swapped) : last_cell);
  return c.yield(batch_first ? permuted(all, batch_before_all) : all);
}

}  // namespace fuse::inline v0::detail
