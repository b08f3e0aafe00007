// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse has to be told: the members of the structs, which operator has which, how the graph is read and edited.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/hana/adapt_struct.hpp>

#include <fuse/adapters/hana_struct.hpp>
#include <fuse/graph/traits.hpp>
#include <fuse/ops/dialect.hpp>

#include "ir.hpp"

BOOST_HANA_ADAPT_STRUCT(framework::reduce, over, keep);
BOOST_HANA_ADAPT_STRUCT(framework::norm, from, eps);
BOOST_HANA_ADAPT_STRUCT(framework::elu, alpha);

namespace framework {

namespace structs = fuse::adapters::hana_struct;
using source = fuse::parameter_source;

inline constexpr source reduce_parameters[] = {{"axes", source::kind::attribute, "over"},
                                               {"keepdims", source::kind::attribute, "keep"}};
inline constexpr source norm_parameters[] = {{"axis", source::kind::attribute, "from"},
                                             {"epsilon", source::kind::attribute, "eps"}};
inline constexpr fuse::operator_row rows[] = {
    {"add", fuse::opcode::add},
    {"sub", fuse::opcode::sub},
    {"mul", fuse::opcode::mul},
    {"div", fuse::opcode::div},
    {"sqrt", fuse::opcode::sqrt},
    {"relu", fuse::opcode::relu},
    structs::with<elu>({"elu", fuse::opcode::elu}),
    structs::with<reduce>({"mean", fuse::opcode::mean, 1, reduce_parameters}),
    structs::with<norm>({"layer_norm", fuse::opcode::layer_norm, 1, norm_parameters}),
};
inline constexpr auto dialect = structs::make_dialect("framework", rows);

}  // namespace framework

template <>
struct fuse::graph_traits<framework::graph> {
  using graph = framework::graph;
  using node = framework::node*;
  using value = framework::node*;
  static constexpr auto& dialect = framework::dialect;

  // Attributes: three functions of the adapter.
  static attribute_view attribute(graph const&, node n, std::string_view name) {
    return framework::structs::read(dialect, n->op, n->attributes, name);
  }
  static bool same_attributes(graph const&, node a, node b) {
    return framework::structs::same(a->attributes, b->attributes);
  }
  static node insert(graph& g, node place, new_node<value> const& made) {
    if (made.result_types[0] != element_type::float32) return nullptr;  // it has no others
    framework::attributes attributes;
    if (!framework::structs::write(dialect, made.op, made.attributes, attributes).empty()) return nullptr;
    return g.insert(place, std::string(made.op), {made.operands.begin(), made.operands.end()}, std::move(attributes));
  }

  static std::vector<node> nodes(graph const& g) {
    std::vector<node> all;
    for (auto const& n : g.order) all.push_back(n.get());
    return all;
  }
  static std::string_view op_name(graph const&, node n) { return n->op; }
  static auto const& operands(graph const&, node n) { return n->operands; }
  static std::vector<value> results(graph const&, node n) { return {n}; }
  static node producer(graph const&, value v) { return v->op.empty() ? nullptr : v; }
  static auto const& outputs(graph const& g) { return g.results; }
  static element_type type(graph const&, value) { return element_type::float32; }
  static bool shape(graph const&, value v, std::vector<dimension>& into) {
    into.clear();
    for (auto const extent : v->dims) into.push_back({extent});
    return v->op.empty();
  }
  static tensor_view constant(graph const&, value v) {
    if (v->contents.empty()) return {};
    return {element_type::float32, v->dims, std::as_bytes(std::span(v->contents))};
  }
  static std::string name(graph const&, value v) { return v->name; }

  static value add_constant(graph& g, tensor_view contents, std::string_view) {
    if (contents.type != element_type::float32) return nullptr;
    std::vector<float> numbers;
    for (std::size_t i = 0; i < contents.size(); ++i) numbers.push_back(contents.raw<float>(i));
    return g.constant({contents.shape.begin(), contents.shape.end()}, std::move(numbers));
  }
  static void replace_uses(graph& g, value from, value to) {
    for (auto const& n : g.order) std::replace(n->operands.begin(), n->operands.end(), from, to);
    std::replace(g.results.begin(), g.results.end(), from, to);
  }
  static void erase(graph& g, node n) {
    g.order.remove_if([&](auto const& one) { return one.get() == n; });
  }
};
