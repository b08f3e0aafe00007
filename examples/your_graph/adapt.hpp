// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse has to be told to rewrite an ir::function: how to read it, how to edit it, and what its operators mean.

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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
    {"matrix_product", fuse::opcode::matmul},
    {"relu", fuse::opcode::relu},
    {"layer_norm", fuse::opcode::layer_norm, 1, norm_parameters},
    {"rms_norm", fuse::opcode::rms_norm, 1, norm_parameters},
};
inline constexpr auto dialect = fuse::make_dialect("ir", rows);

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
  static element_type type(ir::function const&, value const&) { return element_type::float32; }
  static bool shape(ir::function const&, value const& v, std::vector<dimension>& into) {
    into.clear();
    for (auto const extent : v->dims) into.push_back({extent});
    return v->has_dims;
  }
  static tensor_view constant(ir::function const&, value const& v) {
    if (v->op != ir::opcode::literal) return {};
    return {element_type::float32, v->dims, std::as_bytes(std::span(v->contents))};
  }
  static attribute_view attribute(ir::function const&, node const& n, std::string_view name) {
    auto const found = n->attributes.find(name);
    if (found == n->attributes.end()) return {};
    return std::visit([](auto const& content) -> attribute_view { return content; }, found->second);
  }
  static std::string name(ir::function const&, value const& v) { return v->name; }

  static node insert(ir::function& f, node const& before, new_node<value> const& made) {
    std::map<std::string, ir::attribute, std::less<>> attributes;
    for (auto const& a : made.attributes)
      std::visit(
          [&](auto const& content) {
            if constexpr (std::is_constructible_v<ir::attribute, decltype(content)>)
              attributes.emplace(a.name, content);
          },
          a.content);
    return f.insert(before->place, ir::opcode_named(made.op), {made.operands.begin(), made.operands.end()},
                    std::move(attributes));
  }
  static value add_constant(ir::function& f, tensor_view contents, std::string_view) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < contents.size(); ++i) numbers.push_back(contents.raw<float>(i));
    return f.literal({contents.shape.begin(), contents.shape.end()}, std::move(numbers));
  }
  static void replace_uses(ir::function& f, value const& from, value const& to) {
    if (!std::exchange(to->has_dims, true)) to->dims = from->dims;  // fuse has proved that they agree
    f.replace_all_uses(from, to);
  }
  static void erase(ir::function& f, node const& n) { f.erase(n); }
};
