// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>

#include "array.hpp"
#include "names.hpp"
#include "operators.hpp"

namespace corpus {

/// Operators of a test's own; none of what it does not know.
using own_operators = std::function<std::optional<array>(
    std::string_view name, std::vector<array const*> const& operands, parameters const& attributes)>;

/// Evaluates graphs in double precision: floating Casts round nothing, constants keep the values that they store; where
/// `rounds`, what is computed of constants alone is rounded to their type, and a Cast to its own. Floating constants
/// are off by `moved_by`, relatively.
/// Independent of the library's own tables: it is what they are checked with. Throws std::runtime_error for what it
/// does not know; where there are no exceptions, that ends the program.
class evaluator {
 public:
  evaluator(fuse::graph const& g, std::map<std::string, array> const& inputs, own_operators own = {},
            bool rounds = false, double moved_by = 0)
      : graph_(g), own_(std::move(own)), rounds_(rounds), moved_by_(moved_by) {
    for (auto const v : g.inputs()) {
      if (auto const at = inputs.find(std::string(g.name(v))); at != inputs.end())
        values_[v.id] = at->second;
      else if (g.constant(v))
        values_[v.id] = constant(v);
      else
        fail("no value for the input " + std::string(g.name(v)));
    }
    run(fuse::graph::main_body);
  }

  [[nodiscard]] array const& value(fuse::graph::value v) {
    auto const at = values_.find(v.id);
    if (at != values_.end()) return at->second;
    if (!graph_.constant(v)) fail("a value is read before it is computed");
    constants_[v.id] = graph_.constant(v).type;
    return values_[v.id] = constant(v);
  }
  /// Whether a value was computed: none is in a branch that is not taken.
  [[nodiscard]] bool has(fuse::graph::value v) const { return values_.count(v.id) != 0; }
  [[nodiscard]] std::map<std::string, array> outputs() {
    std::map<std::string, array> all;
    auto const values = graph_.outputs();
    for (std::size_t i = 0; i < values.size(); ++i) all[std::string(graph_.output_name(i))] = value(values[i]);
    return all;
  }

 private:
  void run(fuse::graph::body b) {
    for (auto const n : graph_.nodes(b)) {
      parameters p;
      for (auto const& a : graph_.attributes(n)) p.all.emplace(a.name, a);
      std::vector<array const*> operands;
      for (auto const v : graph_.operands(n)) operands.push_back(v ? &value(v) : nullptr);
      std::vector<array> results;
      if (op_named(graph_.op(n)) == opcode::if_else) {
        auto const taken = graph_.bodies(n)[operands[0]->data[0] != 0 ? 0 : 1];
        run(taken);
        for (auto const v : graph_.outputs(taken)) results.push_back(value(v));
      } else {
        results = apply(graph_.op(n), operands, p);
      }
      std::size_t i = 0;
      for (auto const v : graph_.results(n)) {
        if (i == results.size()) fail("too few results of " + std::string(graph_.op(n)));
        values_[v.id] = std::move(results[i++]);
        if (rounds_) round_constant(n, v);
        if (rounds_ && op_named(graph_.op(n)) == opcode::cast) round_cast(v, operators::target_of(p));
      }
    }
  }

  void round_cast(fuse::graph::value v, fuse::element_type to) {
    if (auto& a = values_[v.id]; fuse::is_floating(to)) a = array_of(fuse::make_tensor(to, a.shape, a.data));
  }

  // A number of float16 may be off by a thousandth, which counts where much of a sum cancels.
  void round_constant(fuse::graph::node n, fuse::graph::value v) {
    auto const operands = graph_.operands(n);
    auto type = fuse::element_type::unknown;
    for (auto const o : operands) {
      auto const at = o ? constants_.find(o.id) : constants_.end();
      if (at == constants_.end()) return;
      if (type == fuse::element_type::unknown) type = at->second;
    }
    auto& a = values_[v.id];
    if (!fuse::is_floating(type) || a.integers || op_named(graph_.op(n)) == opcode::cast) return;
    constants_[v.id] = type;
    a = array_of(fuse::make_tensor(type, a.shape, a.data));
  }

  std::vector<array> apply(std::string_view name, std::vector<array const*> const& in, parameters const& p) {
    for (auto const& function : graph_.functions())
      if (function.name == name) return call(function, in, p);
    auto all = results_of(name, in, p);
    if (all.empty() && own_)
      if (auto made = own_(name, in, p)) all.push_back(std::move(*made));
    if (all.empty()) fail("no evaluation of " + std::string(name));
    return all;
  }

  std::vector<array> call(fuse::function_body const& f, std::vector<array const*> const& in, parameters const& given) {
    std::map<std::string, array> names;
    for (std::size_t i = 0; i < f.inputs.size() && i < in.size(); ++i)
      if (in[i] != nullptr) names[f.inputs[i]] = *in[i];
    for (auto const& step : f.steps) {
      parameters p;
      for (auto const& a : step.attributes) p.all.emplace(a.name, a);
      for (auto const& [to, from] : step.references)
        if (auto const at = given.all.find(from); at != given.all.end()) {
          auto copy = at->second;
          copy.name = to;
          p.all.emplace(to, copy);
        }
      std::vector<array const*> operands;
      for (auto const& name : step.operands) operands.push_back(name.empty() ? nullptr : &names.at(name));
      auto results = apply(step.op, operands, p);
      for (std::size_t i = 0; i < step.results.size(); ++i) names[step.results[i]] = results.at(i);
    }
    std::vector<array> results;
    for (auto const& name : f.outputs) results.push_back(names.at(name));
    return results;
  }

  [[nodiscard]] array constant(fuse::graph::value v) const {
    auto contents = array_of(graph_.constant(v));
    for (auto& x : contents.data)
      if (!contents.integers) x *= 1 + moved_by_;
    return contents;
  }

  fuse::graph const& graph_;
  own_operators own_;
  bool rounds_;
  double moved_by_;
  std::map<std::uint32_t, array> values_;
  std::map<std::uint32_t, fuse::element_type> constants_;
};

/// The largest distance between two arrays relative to the largest value of `a`; infinite where shapes differ.
[[nodiscard]] inline double distance(array const& a, array const& b) {
  if (a.shape != b.shape) return HUGE_VAL;
  double range = 0, worst = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    if (std::isfinite(a.data[i])) range = std::max(range, std::fabs(a.data[i]));
    if (a.data[i] == b.data[i] || (std::isnan(a.data[i]) && std::isnan(b.data[i]))) continue;
    auto const off = std::fabs(a.data[i] - b.data[i]);
    if (!std::isfinite(off)) return HUGE_VAL;
    worst = std::max(worst, off);
  }
  return range == 0 ? worst : worst / range;
}

}  // namespace corpus
