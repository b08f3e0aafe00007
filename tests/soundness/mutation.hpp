// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph_change.hpp"

namespace soundness {

/// Changes an example at one place: to a graph that computes something else, or the same in a way that its rule need
/// not find.
class mutation : graph_change {
 public:
  using graph_change::graph_change;

  /// Puts a Reshape to the shape that is there behind a node; false where there is no room.
  bool reshape_to_same() {
    if (!look()) return false;
    auto const at = any_node();
    if (!at) return false;
    auto const v = g_.result(at);
    return insert_behind(at, v, [&](value from) { return reshape(from, values_->value(v).shape); });
  }

  /// One change out of all; false where none fits. The graph may be invalid then, or nothing may be different.
  bool any() {
    if (!look()) return false;
    auto const at = any_node();
    if (!at || g_.results(at).size() != 1) return false;
    auto const v = g_.result(at);
    auto const shape = values_->value(v).shape;
    auto const type = checked_->types().at(v.id);
    auto const how = choose(
        "mutation", {"operator", "operator", "swap", "axis", "little", "lot", "type", "type", "user", "away and back",
                     "turned", "turned twice", "axis added", "larger", "smaller", "other operand", "operator behind"});
    if (how == "operator") return another_operator(at);
    if (how == "swap") return swapped(at);
    if (how == "axis") return another_axis(at);
    if (how == "little") return another_number(at, 1e-4);
    if (how == "lot") return another_number(at, 0.5);
    if (how == "user") {
      g_.output(append(corpus::name_of(opcode::abs, e_.second), {v}), "another user");
      return true;
    }
    if (how == "other operand") return another_operand(at);
    if (how == "operator behind") {
      if (!fuse::is_floating(type)) return false;
      auto const name = corpus::name_of(any_unary(), e_.second);
      return insert_behind(at, v, [&](value from) { return append(name, {from}); });
    }
    if (how == "type") {
      if (type != fuse::element_type::float32) return false;
      constexpr int types[] = {11, 10, 16, 7, 6};
      auto const to = types[choose.number("type", {0, 1, 2, 3, 4})];
      if ((to == 7 || to == 6) && near_whole(values_->value(v))) return false;
      return insert_behind(at, v, [&](value from) { return cast(cast(from, to), 1); });
    }
    if (how == "away and back") {
      std::vector<std::int64_t> flat{static_cast<std::int64_t>(corpus::count_of(shape))};
      return insert_behind(at, v, [&](value from) { return reshape(reshape(from, flat), shape); });
    }
    if (how == "turned" || how == "turned twice") {
      std::vector<std::int64_t> order;
      for (auto axis = shape.size(); axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
      return insert_behind(at, v, [&](value from) {
        auto const once = transpose(from, order);
        return how == "turned" ? once : transpose(once, order);
      });
    }
    if (how == "axis added" && !e_.second && g_.version() >= 13) {
      auto const axis = static_cast<std::int64_t>(choose.number("added axis", {0, 1, 2, 3})) %
                        static_cast<std::int64_t>(shape.size() + 1);
      auto const back = choose.one_in("another axis back", 2) ? 0 : axis;
      return insert_behind(at, v, [&](value from) {
        return append("Squeeze", {append("Unsqueeze", {from, list({axis})}), list({back})});
      });
    }
    if (how == "larger") {
      auto larger = shape;
      if (choose.one_in("more axes", 2) || larger.empty())
        larger.insert(larger.begin(), choose.number("first extent", {1, 2}));
      else
        larger[0] = larger[0] == 1 ? 3 : larger[0];
      return insert_behind(at, v, [&](value from) {
        return append(corpus::name_of(opcode::expand, e_.second), {from, list(larger)});
      });
    }
    if (how == "smaller" && !shape.empty() && !e_.second) {
      auto const axis =
          static_cast<std::int64_t>(choose.number("axis to reduce", {-1, -1, -2})) < -1 && shape.size() > 1 ? -2 : -1;
      return insert_behind(at, v, [&](value from) {
        return g_.version() >= 18 ? append("ReduceMax", {from, list({axis})})
                                  : append("ReduceMax", {from}, {{"axes", {axis}}});
      });
    }
    return false;
  }

 private:
  // Changes

  opcode any_unary() {
    constexpr opcode all[] = {opcode::abs, opcode::neg,  opcode::tanh, opcode::sigmoid,
                              opcode::exp, opcode::sqrt, opcode::log,  opcode::reciprocal};
    return all[choose.number("another", {0, 1, 2, 3, 4, 5, 6, 7})];
  }
  bool another_operator(node at) {
    auto const op = corpus::op_named(g_.op(at));
    auto const count = g_.operands(at).size();
    bool const floats = fuse::is_floating(checked_->types().at(g_.result(at).id));
    std::string_view name;
    if (count == 2 && corpus::binary_of(op, false) != nullptr) {
      constexpr opcode others[] = {opcode::add, opcode::sub, opcode::mul, opcode::maximum, opcode::div};
      auto const other = others[choose.number("another", {0, 1, 2, 3, 4})];
      if (other == opcode::div && !floats) return false;
      name = corpus::name_of(other, e_.second);
    } else if (count == 1 && corpus::unary_of(op) != nullptr) {
      name = corpus::name_of(floats ? any_unary() : choose.one_in("negated", 2) ? opcode::neg : opcode::abs, e_.second);
    } else {
      return false;
    }
    std::vector<value> const operands(g_.operands(at).begin(), g_.operands(at).end());
    auto const made = g_.insert_before(at, name, operands);
    g_.replace_uses(g_.result(at), g_.result(made));
    g_.erase(at);
    return true;
  }
  bool swapped(node at) {
    if (g_.operands(at).size() != 2 || corpus::binary_of(corpus::op_named(g_.op(at)), false) == nullptr) return false;
    auto const a = g_.operands(at)[0], b = g_.operands(at)[1];
    g_.set_operand(at, 0, b);
    g_.set_operand(at, 1, a);
    return true;
  }
  bool another_operand(node at) {
    auto const other = one_of(nodes_);
    if (g_.operands(at).empty()) return false;
    auto const i = static_cast<std::size_t>(choose.number("which operand", {0, 1})) % g_.operands(at).size();
    g_.set_operand(at, i, g_.result(other));  // (behind it: no valid graph)
    return true;
  }
  bool another_axis(node at) {
    std::vector<node> with_axes;
    for (auto const n : nodes_)
      if (auto const op = corpus::op_named(g_.op(n)); op == opcode::sum || op == opcode::mean || op == opcode::softmax)
        with_axes.push_back(n);
    auto const n = one_of(with_axes);
    if (!n) return false;
    (void)at;
    auto const axis = static_cast<std::int64_t>(choose.number("another axis", {-1, -2, 0, 1}));
    for (auto const name : {"axes", "dim"})
      if (g_.attribute(n, name) != nullptr) return g_.set(n, {name, {axis}}), true;
    for (auto const name : {"axis", "from"})
      if (g_.attribute(n, name) != nullptr) return g_.set(n, {name, axis}), true;
    if (g_.operands(n).size() < 2) return false;
    g_.set_operand(n, 1, list({axis}));
    return true;
  }
  // Another constant among the operands of a node.
  bool another_number(node at, double by) {
    std::vector<std::pair<node, std::size_t>> constants;
    for (auto const n : nodes_)
      for (std::size_t i = 0; i < g_.operands(n).size(); ++i)
        if (auto const c = g_.operands(n)[i] ? g_.constant(g_.operands(n)[i]) : fuse::tensor_view{};
            c && c.type == fuse::element_type::float32)
          constants.emplace_back(n, i);
    if (constants.empty()) return false;
    (void)at;
    auto const [n, i] =
        constants[static_cast<std::size_t>(choose.number("which constant", {0, 1, 2, 3, 4, 5, 6})) % constants.size()];
    auto const c = g_.constant(g_.operands(n)[i]);
    std::vector<double> numbers;
    for (std::size_t k = 0; k < c.size(); ++k) numbers.push_back(c.number(k));
    if (numbers.empty()) return false;
    auto& x = numbers[static_cast<std::size_t>(choose.number("which element", {0, 1, 2})) % numbers.size()];
    x = x == 0 ? by * 1e-6 : x * (1 + by);
    std::vector<std::int64_t> const shape(c.shape.begin(), c.shape.end());
    g_.set_operand(n, i, g_.constant(fuse::make_tensor(fuse::element_type::float32, shape, numbers)));
    return true;
  }
};

}  // namespace soundness
