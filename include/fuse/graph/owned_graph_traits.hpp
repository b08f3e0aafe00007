// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0 {

/// The traits of `fuse::graph`, and of graphs of that interface whose attributes are others: everything that fuse can
/// use; the dialect is ONNX's, the default.
template <class Graph>
struct owned_graph_traits {
  using node = typename Graph::node;
  using value = typename Graph::value;

  static auto nodes(Graph const& g) { return g.nodes(); }
  static std::string_view op_name(Graph const& g, node n) { return g.op(n); }
  static std::uint32_t op_key(Graph const& g, node n) { return g.op_key(n); }
  static auto operands(Graph const& g, node n) { return g.operands(n); }
  static auto results(Graph const& g, node n) { return g.results(n); }
  static node producer(Graph const& g, value v) { return g.producer(v); }
  static auto users(Graph const& g, value v) { return g.users(v); }
  static auto inputs(Graph const& g) { return g.inputs(); }
  static auto outputs(Graph const& g) { return g.outputs(); }
  static int version(Graph const& g) { return g.version(); }
  /// A constant's contents, or those that a node without operands holds as its one attribute (ONNX's Constant).
  static tensor_view constant(Graph const& g, value v) {
    if (auto const n = g.producer(v); n && g.operands(n).empty() && g.attributes(n).size() == 1)
      if (auto const* contents = std::get_if<tensor>(&g.attributes(n)[0].content)) return *contents;
    return g.constant(v);
  }
  static bool overridable(Graph const& g, value v) { return g.overridable(v); }
  static element_type type(Graph const& g, value v) { return g.type(v); }
  static bool shape(Graph const& g, value v, std::vector<dimension>& into) { return g.shape(v, into); }
  static std::size_t index(Graph const&, value v) { return v.id; }
  static std::string name(Graph const& g, value v) { return g.report_name(v); }
  static std::string name(Graph const& g, node n) {
    if (!g.name(n).empty()) return std::string(g.name(n));
    return g.results(n).size() == 0 ? std::string(g.op(n)) : g.report_name(g.result(n));
  }
  static auto bodies(Graph const& g, node n) { return g.bodies(n); }
  static auto nodes(Graph const& g, typename Graph::body b) { return g.nodes(b); }
  static auto inputs(Graph const& g, typename Graph::body b) { return g.inputs(b); }
  static auto outputs(Graph const& g, typename Graph::body b) { return g.outputs(b); }

  static attribute_view attribute(Graph const& g, node n, std::string_view name) {
    auto const* found = g.attribute(n, name);
    if (found == nullptr) return {};
    return std::visit([](auto const& content) { return attribute_view(view_of(content)); }, found->content);
  }

  /// Whether two nodes have the same attributes, in whatever order.
  static bool same_attributes(Graph const& g, node a, node b) {
    if (g.attributes(a).size() != g.attributes(b).size()) return false;
    for (auto const& one : g.attributes(a)) {
      auto const* other = g.attribute(b, one.name);
      if (other == nullptr || other->content != one.content) return false;
    }
    return true;
  }

  static node insert(Graph& g, node place, new_node<value> const& made) {
    std::vector<typename Graph::named> attributes(made.attributes.begin(), made.attributes.end());
    auto const n = g.insert_before(place, made.op, made.operands, std::move(attributes),
                                   static_cast<std::uint32_t>(made.result_types.size()));
    for (std::uint32_t i = 0; i < made.result_types.size(); ++i) g.annotate(g.result(n, i), made.result_types[i]);
    return n;
  }
  static value add_constant(Graph& g, tensor_view contents, std::string_view) {
    return g.constant({contents.type,
                       {contents.shape.begin(), contents.shape.end()},
                       {contents.bytes.begin(), contents.bytes.end()}});
  }
  static void replace_uses(Graph& g, value from, value to) { g.replace_uses(from, to); }
  static void erase(Graph& g, node n) { g.erase(n); }
  static bool declare(Graph& g, function_body const& function) { return g.declare(function); }

 private:
  static std::int64_t view_of(std::int64_t number) { return number; }
  static double view_of(double number) { return number; }
  static std::string_view view_of(std::string const& text) { return text; }
  static span<std::int64_t const> view_of(std::vector<std::int64_t> const& numbers) { return numbers; }
  static span<float const> view_of(std::vector<float> const& numbers) { return numbers; }
  static tensor_view view_of(tensor const& contents) { return contents; }
};

}  // namespace fuse::inline v0
