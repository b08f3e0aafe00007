// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse has to be told to rewrite a torch::jit::Graph in place: how to read it and how to edit it.

#include <fuse/graph/tensor.hpp>
#include <fuse/graph/traits.hpp>

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "aten.hpp"
#include "ir_parts.hpp"

namespace torchscript {

/// How many of an operator's inputs are data, as the dialect says.
[[nodiscard]] inline std::size_t data_operands(std::string_view op, std::size_t inputs) {
  auto const* const row = dialect.names().row(dialect.names().code(op), 1);
  return row == nullptr || row->operands < 0 ? inputs : std::min(inputs, static_cast<std::size_t>(row->operands));
}

/// A graph, and what fuse asks of it that it does not hold by itself.
struct graph {
  explicit graph(std::shared_ptr<torch::jit::Graph> of) : ir(std::move(of)) {
    bool any = false;
    for_each_node(*ir->block(), [&](torch::jit::Node* n) { any = any || may_write(n); });
    std::optional<torch::jit::AliasDb> memory;  // takes longer than all else here
    if (any) memory.emplace(ir);
    for_each_node(*ir->block(), [&](torch::jit::Node* n) {
      if (memory && memory->hasWriters(n))
        written.insert(n);
      else if (n->outputs().size() == 1)
        note(n->output());
    });
  }

  /// Where the nodes stand that write to memory; what touches it is opaque.
  [[nodiscard]] std::vector<std::string> writers() const {
    std::vector<std::string> all;
    for_each_node(*ir->block(), [&](torch::jit::Node* n) {
      auto const* const schema = n->maybeSchema();
      if (schema != nullptr && schema->is_mutable()) all.push_back(place_of(n));
    });
    return all;
  }

  /// What a constant holds that is no tensor: 2, [-1], True. Null for every other value.
  [[nodiscard]] fuse::tensor const* number(torch::jit::Value const* v) const {
    auto const at = v->unique() < places_.size() ? places_[v->unique()] : 0;
    return at == 0 ? nullptr : &numbers_[at - 1];
  }
  void note(torch::jit::Value const* v) {
    auto held = number_or_list(v, [this](auto const* of) { return number(of); });
    if (held.type == fuse::element_type::unknown) return;
    if (places_.size() <= v->unique()) places_.resize(v->unique() + v->unique() / 2 + 16);
    numbers_.push_back(std::move(held));
    places_[v->unique()] = numbers_.size();
  }

  std::shared_ptr<torch::jit::Graph> ir;
  std::unordered_set<torch::jit::Node const*> written;  ///< nodes that touch memory that some node writes to

 private:
  std::deque<fuse::tensor> numbers_;
  std::vector<std::size_t> places_;  // by the value's number: 1 + where in numbers_, or 0
};

}  // namespace torchscript

template <>
struct fuse::graph_traits<torchscript::graph> {
  using graph = torchscript::graph;
  using node = torch::jit::Node*;
  using value = torch::jit::Value*;
  using body = torch::jit::Block*;
  static constexpr auto& dialect = torchscript::dialect;

  static std::vector<node> nodes(graph const& g) { return nodes(g, g.ir->block()); }
  static std::vector<node> nodes(graph const& g, body b) {
    std::vector<node> all;
    for (auto* const n : b->nodes())
      if (!is_constant(g, n)) all.push_back(n);
    return all;
  }
  static std::string_view op_name(graph const& g, node n) {
    return torchscript::operator_name(n, g.written.count(n) != 0);
  }
  /// The inputs that are data. Parameters follow them (lists stand anywhere), constants as a rule; else an operator
  /// shows what it reads.
  static std::vector<value> operands(graph const& g, node n) {
    std::vector<value> all;
    for (auto* const v : n->inputs()) all.push_back(v->mustBeNone() ? nullptr : v);
    auto const parameter = [&](value v) { return v == nullptr || g.number(v) != nullptr; };
    if (all.empty() || !parameter(all.back())) return all;
    auto const count = torchscript::data_operands(op_name(g, n), all.size());
    if (count == all.size()) return all;
    std::erase_if(all, [&](value v) { return v != nullptr && g.number(v) != nullptr && !g.number(v)->shape.empty(); });
    auto const data = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
    if (std::all_of(data, all.end(), parameter)) all.erase(data, all.end());
    return all;
  }
  static auto results(graph const&, node n) { return n->outputs(); }
  static node producer(graph const& g, value v) {
    auto* const n = v->node();
    return n->kind() == torch::jit::prim::Param || is_constant(g, n) ? nullptr : n;
  }
  static std::vector<node> users(graph const& g, value v) {
    std::vector<node> all;
    for (auto const& use : v->uses()) {
      if (use.user->kind() == torch::jit::prim::Return || is_constant(g, use.user)) continue;
      auto const data = operands(g, use.user);
      if (std::find(data.begin(), data.end(), v) != data.end()) all.push_back(use.user);
    }
    return all;
  }
  static auto inputs(graph const& g) { return g.ir->inputs(); }
  static auto outputs(graph const& g) { return g.ir->outputs(); }
  static auto bodies(graph const&, node n) { return n->blocks(); }
  static auto inputs(graph const&, body b) { return b->inputs(); }
  static auto outputs(graph const&, body b) { return b->outputs(); }
  static std::size_t index(graph const&, value v) { return v->unique(); }
  static std::string name(graph const&, value v) { return torchscript::name_of(v); }
  static std::string name(graph const&, node n) { return torchscript::place_of(n); }

  static tensor_view constant(graph const& g, value v) {
    if (auto const* const found = g.number(v)) return *found;
    return g.written.count(v->node()) != 0 ? tensor_view{} : torchscript::contents(v);
  }
  static element_type type(graph const& g, value v) {
    if (auto const held = constant(g, v)) return held.type;
    auto const tensor = v->type()->cast<c10::TensorType>();
    return tensor && tensor->scalarType() ? torchscript::element_of(*tensor->scalarType()) : element_type::unknown;
  }
  static bool shape(graph const& g, value v, std::vector<dimension>& into) {
    into.clear();
    if (auto const held = constant(g, v)) {
      for (auto const extent : held.shape) into.push_back({extent});
      return true;
    }
    if (v->type()->isSubtypeOf(*c10::NumberType::get())) return true;  // no axes
    auto const tensor = v->type()->cast<c10::TensorType>();
    auto const extents = tensor ? tensor->symbolic_sizes().sizes() : c10::nullopt;
    if (!extents) return false;
    for (auto const& extent : *extents)
      into.push_back(extent.is_static() ? dimension{extent.static_size()}
                                        : dimension{-1, torchscript::symbol_of(extent)});
    return true;
  }
  static attribute_view attribute(graph const& g, node n, std::string_view name) {
    auto* const v = torchscript::argument(n, name);
    if (v == nullptr || v->mustBeNone()) return {};
    auto const held = constant(g, v);
    if (!held) return opaque_attribute{};
    if (name == "dtype")
      return static_cast<std::int64_t>(torchscript::element_of(static_cast<c10::ScalarType>(held.integer(0))));
    if (held.shape.size() == 1 && held.type == element_type::int64)
      return span(reinterpret_cast<std::int64_t const*>(held.bytes.data()), held.size());
    if (!held.shape.empty()) return held;
    return is_floating(held.type) ? attribute_view{held.number(0)} : attribute_view{held.integer(0)};
  }

  static node insert(graph& g, node place, new_node<value> const& made) {
    torch::jit::WithInsertPoint const here(place);
    auto const& [kind, schema] = torchscript::operator_named(made.op);
    if (!torchscript::are_arguments(schema, made.attributes) || !torchscript::are_types(made.result_types))
      return nullptr;
    auto const arguments = std::max(schema == nullptr ? 0 : schema->arguments().size(), made.operands.size());
    std::vector<value> inputs;
    for (std::size_t i = 0, next = 0; i < arguments; ++i) {
      bool const given = torchscript::is_attribute(schema, i, made.attributes);
      inputs.push_back(given || next == made.operands.size() ? nullptr : made.operands[next++]);
      if (inputs.back() != nullptr) continue;
      inputs.back() = torch::jit::insertConstant(*g.ir, torchscript::argument_value(schema, i, made.attributes));
      g.note(inputs.back());
    }
    auto* const n = g.ir->insertNode(g.ir->create(kind, inputs, made.result_types.size()));
    n->copyMetadata(place);
    for (std::size_t i = 0; i < made.result_types.size(); ++i)
      n->output(i)->setType(torchscript::tensor_of(made.result_types[i]));
    return n;
  }
  static value add_constant(graph& g, tensor_view contents, std::string_view) {
    if (!torchscript::are_types({&contents.type, 1})) return nullptr;
    torch::jit::WithInsertPoint const first(*g.ir->block()->nodes().begin());
    auto* const v = torch::jit::insertConstant(*g.ir, torchscript::constant_of(contents));
    g.note(v);
    return v;
  }
  static void replace_uses(graph&, value from, value to) { from->replaceAllUsesWith(to); }
  static void erase(graph&, node n) { n->destroy(); }

 private:
  static bool is_constant(graph const& g, node n) {
    return n->kind() == torch::jit::prim::Constant || (n->outputs().size() == 1 && g.number(n->output()) != nullptr);
  }
};
