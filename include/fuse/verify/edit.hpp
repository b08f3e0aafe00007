// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/verify/choices.hpp>
#include <fuse/verify/judgement.hpp>
#include <fuse/verify/sample.hpp>

namespace fuse::inline v0::detail {

/// Changes a sample at one place, to a graph that a rule need not find, or finds and must be right on: another
/// operator, operands exchanged, another constant, attribute or axis, a value that is shared, used elsewhere, rounded
/// to a narrow type or turned on its way.
class edit {
 public:
  edit(sample& of, dialect const& names, random_choices& choose) : g_(of.graph), names_(names), choose_(choose) {}

  /// One change; false where the one that was drawn does not fit. The graph may be invalid then, or what it was.
  bool any() {
    std::vector<node> all;
    for (auto const n : g_.nodes()) all.push_back(n);
    if (all.empty()) return false;
    auto const n = all[draw("node", all.size())];
    auto const how =
        choose_("edit", {"operator", "operator", "operator", "operands", "operands", "number", "number", "number",
                         "attribute", "attribute", "shared", "shared", "user", "between", "narrow", "turned"});
    if (how == "operator") return another_operator(n);
    if (how == "operands") return exchanged_operands(n);
    if (how == "number") return another_number(all);
    if (how == "attribute") return another_attribute(all);
    if (how == "shared") return shared_operand(n, all);
    if (how == "user") return g_.output(g_.result(n), "another user"), true;
    if (how == "between") {
      constexpr opcode some[] = {opcode::relu, opcode::neg, opcode::abs, opcode::tanh, opcode::exp};
      return behind(n, some[draw("operator between", std::size(some))], {});
    }
    if (how == "turned") return behind(n, opcode::transpose, {});
    return narrowed(n);
  }

 private:
  using node = graph::node;
  using value = graph::value;

  std::size_t draw(std::string_view dimension, std::size_t count) {
    return static_cast<std::size_t>(
               choose_.number(dimension, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})) %
           count;
  }
  [[nodiscard]] opcode meaning(node n) const {
    auto const* row = names_.row(names_.code(g_.op(n)), g_.version());
    return row == nullptr ? opcode::opaque : row->op;
  }
  [[nodiscard]] std::string_view name_of(opcode op) const {
    auto const* row = names_.emitted(op, g_.version(), target::standard);
    return row == nullptr ? std::string_view() : row->name;
  }
  // Another node in the place of one, with its operands.
  bool instead(node n, std::string_view name, std::vector<value> const& operands) {
    std::vector<graph::named> const attributes(g_.attributes(n).begin(), g_.attributes(n).end());
    auto const made = g_.insert_before(n, name, operands, attributes);
    g_.replace_uses(g_.result(n), g_.result(made));
    g_.erase(n);
    return true;
  }
  bool another_operator(node n) {
    if (g_.results(n).size() != 1) return false;
    static constexpr opcode ones[] = {opcode::abs, opcode::neg,  opcode::tanh,       opcode::sigmoid,
                                      opcode::exp, opcode::relu, opcode::reciprocal, opcode::erf};
    static constexpr opcode pairs[] = {opcode::add,     opcode::sub,     opcode::mul, opcode::div,
                                       opcode::maximum, opcode::minimum, opcode::pow};
    static constexpr opcode folds[] = {opcode::mean,       opcode::sum,     opcode::reduce_max,
                                       opcode::sum_square, opcode::l2_norm, opcode::reduce_min};
    auto const op = meaning(n);
    std::string_view name;
    if (op == opcode::opaque) return false;
    if (std::find(std::begin(ones), std::end(ones), op) != std::end(ones))
      name = name_of(ones[draw("another", std::size(ones))]);
    if (std::find(std::begin(pairs), std::end(pairs), op) != std::end(pairs) && g_.operands(n).size() == 2)
      name = name_of(pairs[draw("another", std::size(pairs))]);
    if (info(op).shape == shape_function::reduce && g_.version() >= 18)
      name = name_of(folds[draw("another", std::size(folds))]);
    if (op == opcode::softmax) name = name_of(opcode::log_softmax);
    if (op == opcode::less) name = name_of(opcode::greater);
    if (op == opcode::greater) name = name_of(opcode::less);
    if (name.empty()) return false;
    return instead(n, name, {g_.operands(n).begin(), g_.operands(n).end()});
  }
  bool exchanged_operands(node n) {
    auto const count = g_.operands(n).size();
    if (count < 2) return false;
    auto const first = draw("first operand", count), second = (first + 1 + draw("second operand", count - 1)) % count;
    auto const a = g_.operands(n)[first], b = g_.operands(n)[second];
    g_.set_operand(n, first, b);
    g_.set_operand(n, second, a);
    return true;
  }
  // One element, or all that are alike, of a constant: a little, by half, or its sign.
  bool another_number(std::vector<node> const& all) {
    std::vector<std::pair<node, std::size_t>> constants;
    for (auto const n : all)
      for (std::size_t i = 0; i < g_.operands(n).size(); ++i)
        if (auto const v = g_.operands(n)[i]; v && g_.constant(v) && g_.constant(v).size() != 0)
          constants.emplace_back(n, i);
    if (constants.empty()) return false;
    auto const [n, i] = constants[draw("constant", constants.size())];
    auto const c = g_.constant(g_.operands(n)[i]);
    if (!computed_in(c.type)) return false;
    std::vector<double> numbers;
    for (std::size_t k = 0; k < c.size(); ++k) numbers.push_back(c.number(k));
    auto const how = choose_.number("another number", {0, 1, 2, 3, 4});
    auto& x = numbers[draw("element", numbers.size())];
    auto const was = x;
    if (is_integer(c.type))
      x += how % 2 == 0 ? 1 : -1;
    else
      x = how == 0 ? was * 1.001 : how == 1 ? was * 1.5 : how == 2 ? -was : how == 3 ? was + 1 : 0;
    if (how > 1 && numbers.size() > 1 &&
        std::all_of(numbers.begin() + 1, numbers.end(), [&](double y) { return y == was; }))
      std::fill(numbers.begin(), numbers.end(), x);
    if (is_unsigned(c.type) && x < 0) return false;
    std::vector<std::int64_t> const shape(c.shape.begin(), c.shape.end());
    g_.set_operand(n, i, g_.constant(make_tensor(c.type, shape, numbers)));
    return true;
  }
  bool another_attribute(std::vector<node> const& all) {
    std::vector<std::pair<node, graph::named>> attributes;
    for (auto const n : all)
      for (auto const& a : g_.attributes(n)) attributes.emplace_back(n, a);
    if (attributes.empty()) return false;
    auto [n, a] = attributes[draw("attribute", attributes.size())];
    int const by = choose_.one_in("less", 2) ? -1 : 1;
    if (auto* number = std::get_if<std::int64_t>(&a.content))
      *number += by;
    else if (auto* real = std::get_if<double>(&a.content))
      *real = by < 0 ? *real * 2 : *real + 0.25;
    else if (auto* list = std::get_if<std::vector<std::int64_t>>(&a.content); list != nullptr && !list->empty())
      (*list)[draw("entry", list->size())] += by;
    else
      return false;
    g_.set(n, a);
    return true;
  }
  // Another value that is computed before, or passed.
  bool shared_operand(node n, std::vector<node> const& all) {
    if (g_.operands(n).empty()) return false;
    std::vector<value> before;
    for (auto const v : g_.inputs()) before.push_back(v);
    for (auto const other : all) {
      if (other == n) break;
      before.push_back(g_.result(other));
    }
    if (before.empty()) return false;
    g_.set_operand(n, draw("operand", g_.operands(n).size()), before[draw("other value", before.size())]);
    return true;
  }
  // Whoever reads a node's result reads what an operator makes of it.
  bool behind(node n, opcode op, std::vector<graph::named> const& attributes) {
    auto const name = name_of(op);
    if (name.empty()) return false;
    auto const v = g_.result(n);
    auto const at = next_of(n);
    auto const made = at ? g_.insert_before(at, name, std::vector<value>{v}, attributes)
                         : g_.append(name, std::vector<value>{v}, attributes);
    redirect(v, made);
    return true;
  }
  bool narrowed(node n) {
    auto const v = g_.result(n);
    auto const name = name_of(opcode::cast);
    if (name.empty()) return false;
    auto const at = next_of(n);
    auto const put = [&](value from, element_type to) {
      std::vector<graph::named> const attributes{{"to", static_cast<int>(to)}};
      return at ? g_.insert_before(at, name, std::vector<value>{from}, attributes)
                : g_.append(name, std::vector<value>{from}, attributes);
    };
    auto const narrow = choose_.one_in("to bfloat16", 2) ? element_type::bfloat16 : element_type::float16;
    auto const first = put(v, narrow), second = put(g_.result(first), element_type::float32);
    g_.replace_uses(v, g_.result(second));
    g_.set_operand(first, 0, v);
    return true;
  }
  [[nodiscard]] node next_of(node n) const {
    bool found = false;
    for (auto const other : g_.nodes()) {
      if (found) return other;
      found = other == n;
    }
    return {};
  }
  void redirect(value v, node made) {
    g_.replace_uses(v, g_.result(made));
    g_.set_operand(made, 0, v);
  }

  graph& g_;
  dialect const& names_;
  random_choices& choose_;
};

}  // namespace fuse::inline v0::detail
