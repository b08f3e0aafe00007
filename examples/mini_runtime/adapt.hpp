// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse has to be told of the runtime's graph.

#include "graph.hpp"

#include <fuse/graph/traits.hpp>
#include <fuse/ops/onnx.hpp>

#include <algorithm>
#include <span>
#include <type_traits>

namespace mini {

// ONNX, but what there are kernels for is there in every version.
inline constexpr fuse::parameter_source epsilon[] = {
    {"epsilon", fuse::parameter_source::kind::attribute, "epsilon", 0, 1e-12}};
inline constexpr fuse::parameter_source approximation[] = {
    {"approximate", fuse::parameter_source::kind::word, "approximate", 0, 0, fuse::axis_use::none, "none tanh"}};
inline constexpr fuse::operator_row kernels[] = {
    {"Gelu", fuse::opcode::gelu, 1, approximation, 1},
    {"Swish", fuse::opcode::swish, 1, {}, 1},
    {"LayerNormalization", fuse::opcode::layer_norm},
    {"RMSNormalization", fuse::opcode::rms_norm},
    {"RotaryEmbedding", fuse::opcode::rotary_embedding},
    {"com.microsoft::SkipLayerNormalization", fuse::opcode::skip_layer_norm, 1, epsilon},
    {"com.microsoft::SkipSimplifiedLayerNormalization", fuse::opcode::skip_rms_norm, 1, epsilon},
    {"com.microsoft::EmbedLayerNormalization", fuse::opcode::embed_layer_norm},
    {"com.microsoft::QEmbedLayerNormalization", fuse::opcode::qembed_layer_norm}};
inline constexpr auto dialect = fuse::onnx.with(kernels);

[[nodiscard]] inline fuse::element_type element_of(char type) {
  switch (type) {
    case 'f': return fuse::element_type::float32;
    case 'i': return fuse::element_type::int64;
    case 'b': return fuse::element_type::boolean;
    case 'u': return fuse::element_type::uint8;
    case 's': return fuse::element_type::int8;
    default: return fuse::element_type::unknown;
  }
}

[[nodiscard]] inline fuse::tensor_view view_of(tensor const& t, char type) {
  if (!t) return {};
  return t.visit([&](auto const& elements) -> fuse::tensor_view {
    return {element_of(type), t.dims, std::as_bytes(std::span(elements))};
  });
}
[[nodiscard]] inline char type_of(tensor const& t) { return t.is<float>() ? 'f' : t.is<std::int64_t>() ? 'i' : 'b'; }

}  // namespace mini

template <>
struct fuse::graph_traits<mini::graph> {
  using node = mini::node*;
  using value = mini::value*;
  static constexpr auto& dialect = mini::dialect;

  static int version(mini::graph const& g) { return g.version; }
  static std::vector<node> nodes(mini::graph const& g) {
    std::vector<node> all;
    for (auto const& n : g.nodes) all.push_back(&*n.place);
    return all;
  }
  static std::string_view op_name(mini::graph const&, node n) { return n->op; }
  static auto const& operands(mini::graph const&, node n) { return n->operands; }
  static auto const& results(mini::graph const&, node n) { return n->results; }
  static node producer(mini::graph const&, value v) { return v->producer; }
  static auto const& inputs(mini::graph const& g) { return g.inputs; }
  static auto const& outputs(mini::graph const& g) { return g.outputs; }
  static std::string name(mini::graph const&, value v) { return v->name; }
  static tensor_view constant(mini::graph const&, value v) { return mini::view_of(v->constant, v->type); }
  static element_type type(mini::graph const&, value v) { return mini::element_of(v->type); }
  static bool shape(mini::graph const&, value v, std::vector<dimension>& into) {
    into.clear();
    for (auto const& extent : v->dims)
      std::visit(
          [&](auto const& d) {
            if constexpr (std::is_same_v<decltype(d), std::string const&>)
              into.push_back({-1, d});
            else
              into.push_back({d});
          },
          extent);
    return v->has_dims;
  }
  static attribute_view attribute(mini::graph const&, node n, std::string_view name) {
    auto const found = n->attributes.find(name);
    if (found == n->attributes.end()) return {};
    return std::visit(
        [](auto const& content) -> attribute_view {
          if constexpr (std::is_same_v<decltype(content), mini::tensor const&>)
            return mini::view_of(content, mini::type_of(content));
          else if constexpr (std::is_same_v<decltype(content), float const&>)
            return double{content};
          else
            return content;
        },
        found->second);
  }

  static node insert(mini::graph& g, node place, new_node<value> const& made) {
    decltype(mini::node::attributes) attributes;
    for (auto const& a : made.attributes) {
      if (auto const* real = std::get_if<double>(&a.content))
        attributes.emplace(a.name, static_cast<float>(*real));
      else if (!std::visit([&](auto const& content) { return keep(attributes, a.name, content); }, a.content))
        return nullptr;
    }
    std::vector<value> results;
    for (std::size_t i = 0; i < made.result_types.size(); ++i) results.push_back(g.make_value());
    auto* const n = g.insert(place->place, std::string(made.op), {made.operands.begin(), made.operands.end()}, results);
    n->attributes = std::move(attributes);
    return n;
  }
  static value add_constant(mini::graph& g, tensor_view contents, std::string_view) {
    switch (contents.type) {
      case element_type::float32: return add<float>(g, contents, 'f');
      case element_type::boolean: return add<std::uint8_t>(g, contents, 'b');
      case element_type::uint8: return add<std::uint8_t>(g, contents, 'u');
      case element_type::int8: return add<std::int8_t>(g, contents, 's');
      default: return is_integer(contents.type) ? add<std::int64_t>(g, contents, 'i') : nullptr;
    }
  }
  static void replace_uses(mini::graph& g, value from, value to) {
    for (auto& n : g.nodes) std::replace(n.operands.begin(), n.operands.end(), from, to);
    if (std::find(g.outputs.begin(), g.outputs.end(), from) != g.outputs.end()) to->name = from->name;
    std::replace(g.outputs.begin(), g.outputs.end(), from, to);
  }
  static void erase(mini::graph& g, node n) {
    for (auto* const result : n->results) result->producer = nullptr;
    g.nodes.erase(n->place);
  }

 private:
  // Whether the runtime has attributes of this kind.
  template <class Content>
  static bool keep(decltype(mini::node::attributes)& all, std::string const& name, Content const& content) {
    constexpr bool holds = std::is_constructible_v<mini::attribute, Content const&>;
    if constexpr (holds) all.emplace(name, content);
    return holds;
  }
  template <class Element>
  static value add(mini::graph& g, tensor_view contents, char type) {
    mini::elements<Element> all;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      if constexpr (std::is_floating_point_v<Element>)
        all.push_back(static_cast<Element>(contents.number(i)));
      else  // as a double, the end of a Slice that takes all would be none of these
        all.push_back(static_cast<Element>(contents.integer(i)));
    }
    auto* const made = g.make_value();
    made->constant = mini::tensor({contents.shape.begin(), contents.shape.end()}, std::move(all));
    made->type = type;
    return made;
  }
};
