// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0::detail {

/// A copy of an example without what no output needs, in which some values are replaced: by others that are computed
/// before them, or by inputs of what they are.
template <class Example, class Values>
class reduced_copy {
 public:
  using value = graph::value;

  struct change {
    std::size_t without_output = ~std::size_t{0};
    std::map<std::uint32_t, value> instead{};  ///< value{}: an input
    graph::node inlined{};                     ///< its first body, which is taken, stands in its place
  };

  /// `values`: of `from`.
  reduced_copy(Example const& from, change const& what, Values& values)
      : made(from), from_(from.graph), feeds_(from.feeds), what_(what), values_(values) {
    made.graph = graph(from_.version());
    made.feeds.clear();
    for (auto const& function : from_.functions()) made.graph.declare(function);
    auto const outputs = from_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (i != what.without_output) need(outputs[i]);
    for (auto const v : from_.inputs())
      if (needed_.count(v.id) != 0 && what.instead.count(v.id) == 0) copy_input(v);
    for (auto const& [id, other] : what.instead)
      if (!other && needed_.count(id) != 0) new_input({id});
    copy(graph::main_body, graph::main_body);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (i != what.without_output) made.graph.output(copied(outputs[i]), from_.output_name(i));
  }

  Example made;

 private:
  void need(value v) {
    if (!v || !needed_.insert(v.id).second) return;
    if (auto const other = what_.instead.find(v.id); other != what_.instead.end()) return need(other->second);
    auto const n = from_.producer(v);
    if (!n) return;
    if (n == what_.inlined) {
      for (auto const out : from_.outputs(from_.bodies(n)[0])) need(out);
      return;
    }
    nodes_.insert(n.id);
    for (auto const operand : from_.operands(n)) need(operand);
    for (auto const b : from_.bodies(n))
      for (auto const out : from_.outputs(b)) need(out);
  }
  void copy_input(value v) {
    graph::dims shape;
    std::vector<dimension> known;
    if (from_.shape(v, known))
      for (auto const& d : known) {
        if (d.extent >= 0)
          shape.emplace_back(d.extent);
        else
          shape.emplace_back(std::string(d.symbol));
      }
    auto const name = std::string(from_.name(v));
    if (auto const held = from_.constant(v))
      copies_[v.id] = made.graph.input(name, owned(held));
    else
      copies_[v.id] = made.graph.input(name, from_.type(v), shape);
    made.feeds.insert_or_assign(name, feeds_.at(name));
  }
  void new_input(value v) {
    auto const& is = values_.contents(v);
    auto const name = "value" + std::to_string(v.id);
    copies_[v.id] = made.graph.input(name, values_.type(v), graph::dims(is.shape.begin(), is.shape.end()));
    made.feeds.insert_or_assign(name, is);
  }
  value copied(value v) {
    if (!v) return {};
    if (auto const other = what_.instead.find(v.id); other != what_.instead.end() && other->second)
      return copied(other->second);
    if (auto const at = copies_.find(v.id); at != copies_.end()) return at->second;
    return copies_[v.id] = made.graph.constant(owned(from_.constant(v)));
  }
  static tensor owned(tensor_view const& c) {
    return {c.type, {c.shape.begin(), c.shape.end()}, {c.bytes.begin(), c.bytes.end()}};
  }
  // The nodes of a body, into another one.
  void copy(graph::body b, graph::body into) {
    made.graph.append_to(into);
    for (auto const n : from_.nodes(b)) {
      if (n == what_.inlined) {
        auto const taken = from_.bodies(n)[0];
        copy(taken, into);
        auto const outputs = from_.outputs(taken);
        for (std::uint32_t i = 0; i < outputs.size(); ++i) copies_[from_.result(n, i).id] = copied(outputs[i]);
      }
      if (nodes_.count(n.id) == 0) continue;
      std::vector<value> operands;
      for (auto const v : from_.operands(n)) operands.push_back(copied(v));
      std::vector<graph::named> const attributes(from_.attributes(n).begin(), from_.attributes(n).end());
      auto const count = static_cast<std::uint32_t>(from_.results(n).size());
      auto const m = made.graph.append(from_.op(n), operands, attributes, count);
      for (std::uint32_t i = 0; i < count; ++i)
        if (auto const v = from_.result(n, i); copies_.count(v.id) == 0) copies_[v.id] = made.graph.result(m, i);
      for (auto const inner : from_.bodies(n)) {
        copy(inner, made.graph.add_body(m, from_.name(inner)));
        auto const outputs = from_.outputs(inner);
        for (std::size_t i = 0; i < outputs.size(); ++i)
          made.graph.output(copied(outputs[i]), from_.output_name(i, inner));
        made.graph.append_to(into);
      }
    }
  }

  graph const& from_;
  decltype(Example::feeds) const& feeds_;
  change const& what_;
  Values& values_;
  std::set<std::uint32_t> needed_, nodes_;
  std::map<std::uint32_t, value> copies_;
};

/// The smallest example for which `fails` still holds, found greedily: outputs are dropped, nodes give way to their
/// operands or to inputs, a choice to its branch, constants to inputs, inputs to each other. `fails` holds of `e`.
/// `Values` computes them: `Values(e)` has, of a value, `has`, `contents`, and `type`.
template <class Values, class Example, class Fails>
[[nodiscard]] Example shrunk(Example e, Fails const& fails) {
  using copy = reduced_copy<Example, Values>;
  using change = typename copy::change;
  auto const size = [](Example const& of) {
    std::set<std::uint32_t> constants;
    std::size_t nodes = 0;
    std::vector<graph::body> bodies{graph::main_body};
    while (!bodies.empty()) {
      auto const b = bodies.back();
      bodies.pop_back();
      for (auto const n : of.graph.nodes(b)) {
        ++nodes;
        for (auto const v : of.graph.operands(n))
          if (v && of.graph.constant(v)) constants.insert(v.id);
        for (auto const inner : of.graph.bodies(n)) bodies.push_back(inner);
      }
    }
    return 1000 * nodes + 50 * of.graph.outputs().size() + 3 * constants.size() + 2 * of.graph.inputs().size();
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    Values values(e);
    std::vector<change> changes;
    auto const outputs = e.graph.outputs().size();
    for (std::size_t i = 0; i < outputs && outputs > 1; ++i) changes.push_back({.without_output = i});
    std::vector<graph::value> inputs(e.graph.inputs().begin(), e.graph.inputs().end()), constants;
    auto const alike = [&](graph::value a, graph::value b) {
      return values.has(a) && values.has(b) && values.contents(a).shape == values.contents(b).shape &&
             values.type(a) == values.type(b);
    };
    std::vector<graph::body> bodies{graph::main_body};
    while (!bodies.empty()) {
      auto const b = bodies.back();
      bodies.pop_back();
      for (auto const n : e.graph.nodes(b)) {
        for (auto const v : e.graph.operands(n))
          if (v && e.graph.constant(v) && values.has(v)) constants.push_back(v);
        for (auto const v : e.graph.results(n)) {
          if (!values.has(v)) continue;
          changes.push_back({.instead = {{v.id, {}}}});
          for (auto const operand : e.graph.operands(n))
            if (operand && alike(operand, v)) changes.push_back({.instead = {{v.id, operand}}});
        }
        for (auto const inner : e.graph.bodies(n)) bodies.push_back(inner);
        if (!e.graph.bodies(n).empty()) changes.push_back({.inlined = n});
      }
    }
    for (auto const v : constants) changes.push_back({.instead = {{v.id, {}}}});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (alike(inputs[i], inputs[k])) changes.push_back({.instead = {{inputs[i].id, inputs[k]}}});
    for (auto const& c : changes) {
      auto candidate = copy(e, c, values).made;
      if (size(candidate) >= size(e) || !fails(candidate)) continue;
      e = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return e;
}

}  // namespace fuse::inline v0::detail
