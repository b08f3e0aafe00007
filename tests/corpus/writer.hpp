// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>

#include "array.hpp"
#include "draw.hpp"
#include "names.hpp"

namespace corpus {

using fuse::element_type;
using value = fuse::graph::value;
using extents = std::vector<std::int64_t>;

/// Whose nodes are being written: those of the norm must go, the others may stay.
enum class owner { context, prepared, norm };

/// Writes neutral operators into a graph as its dialect and version spell them, and counts them.
class writer {
 public:
  writer(fuse::graph& into, bool in_second, draw& choices) : g(into), second(in_second), choose(choices) {}

  fuse::graph& g;
  bool const second;
  draw& choose;
  owner as = owner::context;
  bool identities = false;  ///< scatter Identity nodes over the norm
  std::map<owner, std::map<opcode, int>> written{};
  std::map<std::string, extents> inputs{};  ///< by name, with extents for a run

  value op(opcode o, std::vector<value> const& operands, std::vector<fuse::graph::named> attributes = {}) {
    ++written[as][o];
    auto v = g.add(name_of(o, second), operands, std::move(attributes));
    if (identities && as != owner::context && choose.one_in("an identity", 7)) {
      ++written[as][opcode::identity];
      v = g.add(name_of(opcode::identity, second), {v});
    }
    return v;
  }
  value commuted(opcode o, value a, value b) {
    if (choose("operand order", {"written", "swapped"}) == "swapped") std::swap(a, b);
    return op(o, {a, b});
  }
  value add(value a, value b) { return commuted(opcode::add, a, b); }
  value mul(value a, value b) { return commuted(opcode::mul, a, b); }
  value cast(value v, element_type to) {
    return op(opcode::cast, {v}, {{second ? "dtype" : "to", static_cast<int>(to)}});
  }

  value input(std::string const& name, element_type type, fuse::graph::dims const& shape, extents const& run) {
    inputs[name] = run;
    return g.input(name, type, shape);
  }
  value input(std::string const& name, element_type type, extents const& run) {
    return input(name, type, fuse::graph::dims(run.begin(), run.end()), run);
  }

  /// A constant as the graph or one of its nodes holds it.
  value plain_constant(fuse::tensor contents, bool node = false) {
    if (node && !second) return g.add("Constant", {}, {{"value", std::move(contents)}});
    return g.constant(std::move(contents));
  }
  value plain_constant(element_type type, extents const& shape, std::vector<double> const& numbers, bool node = false) {
    return plain_constant(fuse::make_tensor(type, shape, numbers), node);
  }
  value integers(std::vector<std::int64_t> const& numbers) {
    return g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
  }

  /// A constant in some spelling; `stored`, where given, becomes its first number as the graph really holds it.
  value constant(element_type type, extents const& shape, std::vector<double> numbers, double* stored = nullptr,
                 bool allow_root = false) {
    std::vector<std::string_view> forms{"initializer", "node", "cast", "identity"};
    if (allow_root) forms.emplace_back("root");
    auto const form = choose("constant", forms);
    auto const before = as;
    if (form != "initializer" && form != "node" && as == owner::context) as = owner::prepared;
    value v;
    auto contents = fuse::make_tensor(type, shape, numbers);
    if (form == "cast") {
      auto const source = type == element_type::float64 ? element_type::float32 : element_type::float64;
      if (fuse::size_of(type) == 2)  // the evaluator's Casts round nothing
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = contents.number(i);
      auto const wide = fuse::make_tensor(source, shape, numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = wide.number(i);
      contents = fuse::make_tensor(type, shape, numbers);
      v = cast(plain_constant(wide, true), type);
    } else if (form == "identity") {
      v = op(opcode::identity, {plain_constant(contents)});
    } else if (form == "root") {
      for (auto& x : numbers) x *= x;
      contents = fuse::make_tensor(type, shape, numbers);
      v = op(opcode::sqrt, {plain_constant(contents)});
    } else {
      v = plain_constant(contents, form == "node");
    }
    if (stored != nullptr) *stored = form == "root" ? std::sqrt(contents.number(0)) : contents.number(0);
    as = before;
    return v;
  }

  /// `axes`: absent means all, a value is computed by the graph.
  value reduce(opcode o, value v, std::optional<std::vector<std::int64_t>> const& axes, bool keepdims,
               std::optional<value> computed = {}) {
    std::vector<fuse::graph::named> attributes;
    std::vector<value> operands{v};
    if (second) {
      if (axes) attributes.emplace_back("dim", *axes);
      if (!keepdims) attributes.emplace_back("squeeze", 1);
    } else {
      int const since = o == opcode::sum ? 13 : 18;
      if (computed)
        operands.push_back(*computed);
      else if (axes && g.version() >= since)
        operands.push_back(integers(*axes));
      else if (axes)
        attributes.emplace_back("axes", *axes);
      if (!keepdims || choose.one_in("keepdims written", 2)) attributes.emplace_back("keepdims", keepdims ? 1 : 0);
    }
    return op(o, operands, std::move(attributes));
  }
  value unsqueeze(value v, std::vector<std::int64_t> const& axes) {
    if (second) return op(opcode::unsqueeze, {v}, {{"dim", axes}});
    if (g.version() >= 13) return op(opcode::unsqueeze, {v, integers(axes)});
    return op(opcode::unsqueeze, {v}, {{"axes", axes}});
  }
};

}  // namespace corpus
