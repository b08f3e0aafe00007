// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse has to be told to rewrite an ir::function: how to read it, how to edit it, and what its operators mean.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/element_type.hpp>
#include <fuse/graph/traits.hpp>
#include <fuse/ops/dialect.hpp>

#include "ir.hpp"

namespace ir {

using source = fuse::parameter_source;
inline constexpr source average_parameters[] = {{"axes", source::kind::attribute, "over"},
                                                {"keepdims", source::kind::inverted, "drop"}};
inline constexpr source norm_parameters[] = {{"axis", source::kind::attribute, "from"},
                                             {"epsilon", source::kind::attribute, "eps"}};
inline constexpr source axes_parameter[] = {{"axes", source::kind::attribute, "over"}};
inline constexpr fuse::operator_row rows[] = {
    {"add", fuse::opcode::add},
    {"subtract", fuse::opcode::sub},
    {"multiply", fuse::opcode::mul},
    {"divide", fuse::opcode::div},
    {"negate", fuse::opcode::neg},
    {"reciprocal", fuse::opcode::reciprocal},
    {"square", fuse::opcode::square},
    {"sqrt", fuse::opcode::sqrt},
    {"rsqrt", fuse::opcode::rsqrt},
    {"power", fuse::opcode::pow},
    {"absolute", fuse::opcode::abs},
    {"average", fuse::opcode::mean, 1, average_parameters},
    {"sum", fuse::opcode::sum, 1, average_parameters},
    {"insert_axes", fuse::opcode::unsqueeze, 1, axes_parameter},
    {"broadcast", fuse::opcode::expand},
    {"convert", fuse::opcode::cast},
    {"matrix_product", fuse::opcode::matmul},
    {"relu", fuse::opcode::relu},
    {"layer_norm", fuse::opcode::layer_norm, 1, norm_parameters},
    {"rms_norm", fuse::opcode::rms_norm, 1, norm_parameters},
};
inline constexpr auto dialect = fuse::make_dialect("ir", rows);

using fuse_type = fuse::element_type;
inline constexpr fuse_type element_types[] = {fuse_type::unknown, fuse_type::boolean, fuse_type::int32,
                                              fuse_type::int64,   fuse_type::float16, fuse_type::bfloat16,
                                              fuse_type::float32, fuse_type::float64};
inline fuse_type type_of(element type) { return element_types[static_cast<std::size_t>(type)]; }
inline std::optional<element> element_of(fuse_type type) {
  auto const* const found = std::find(std::begin(element_types), std::end(element_types), type);
  if (found == std::end(element_types)) return std::nullopt;
  return static_cast<element>(found - element_types);
}

}  // namespace ir

template <>
struct fuse::graph_traits<ir::function> {
  using node = ir::ref;  // an instruction is a node and, having one result, its value
  using value = ir::ref;
  static constexpr auto& dialect = ir::dialect;

  static auto const& nodes(ir::function const& f) { return f.body; }
  static std::string_view op_name(ir::function const&, node const& n) { return ir::name_of(n->op); }
  static int op_key(ir::function const&, node const& n) { return static_cast<int>(n->op); }
  static auto const& operands(ir::function const&, node const& n) { return n->operands; }
  static std::vector<value> results(ir::function const&, node const& n) { return {n}; }
  static node producer(ir::function const&, value const& v) { return v->is_leaf() ? node{} : v; }
  static auto const& inputs(ir::function const& f) { return f.parameters; }
  static std::vector<value> outputs(ir::function const& f) {
    std::vector<value> all;
    for (auto const& [name, result] : f.results) all.push_back(result);
    return all;
  }
  static element_type type(ir::function const&, value const& v) { return ir::type_of(v->type); }
  static bool shape(ir::function const&, value const& v, std::vector<dimension>& into) {
    into.clear();
    for (auto const extent : v->dims) into.push_back({extent});
    return v->has_dims;
  }
  static tensor_view constant(ir::function const&, value const& v) {
    if (v->op != ir::opcode::literal && v->contents.empty()) return {};
    return {ir::type_of(v->type), v->dims, v->contents};
  }
  static bool overridable(ir::function const&, value const& v) { return v->op == ir::opcode::parameter; }
  static attribute_view attribute(ir::function const&, node const& n, std::string_view name) {
    if (n->op == ir::opcode::convert && name == "to") return static_cast<std::int64_t>(ir::type_of(n->type));
    auto const found = n->attributes.find(name);
    if (found == n->attributes.end()) return {};
    return std::visit([](auto const& content) -> attribute_view { return content; }, found->second);
  }
  static bool same_attributes(ir::function const&, node const& a, node const& b) {
    return a->attributes == b->attributes && a->type == b->type;
  }
  static std::string name(ir::function const&, value const& v) { return v->name; }

  static node insert(ir::function& f, node const& before, new_node<value> const& made) {
    auto const op = ir::opcode_named(made.op);
    auto const type = ir::element_of(made.result_types[0]);
    if (!op || !type) return {};
    ir::attribute_map attributes;
    for (auto const& a : made.attributes) {
      auto const keep = [&](auto const& content) {
        constexpr bool holds = std::is_constructible_v<ir::attribute, decltype(content)>;
        if constexpr (holds) attributes.emplace(a.name, content);
        return holds;
      };
      if (a.name == "to") continue;  // a conversion is to the type of its result
      if (!std::visit(keep, a.content)) return {};
    }
    return f.insert(before->place, *op, *type, {made.operands.begin(), made.operands.end()}, std::move(attributes));
  }
  static value add_constant(ir::function& f, tensor_view contents, std::string_view) {
    auto const type = ir::element_of(contents.type);
    if (!type) return {};
    return f.literal(*type, {contents.shape.begin(), contents.shape.end()},
                     {contents.bytes.begin(), contents.bytes.end()});
  }
  static void replace_uses(ir::function& f, value const& from, value const& to) {
    if (!std::exchange(to->has_dims, true)) to->dims = from->dims;  // fuse has proved that they agree
    f.replace_all_uses(from, to);
  }
  static void erase(ir::function& f, node const& n) { f.erase(n); }
};
