// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>

#include "operations.hpp"

namespace operations {

/// A Boost graph with its inputs and outputs in order.
template <class G>
struct program {
  explicit program(fuse::graph const& from);
  program(program const&) = delete;  // a copy would hold the vertices of the original

  using vertex = typename boost::graph_traits<G>::vertex_descriptor;
  G g{};
  std::vector<vertex> inputs{};
  std::vector<std::pair<vertex, std::size_t>> outputs{};
  std::vector<std::string> output_names{};
};

/// What the nodes of a body read from around it.
inline std::vector<fuse::graph::value> captured(fuse::graph const& g, fuse::graph::body b) {
  std::vector<fuse::graph::value> all;
  for (auto const n : g.nodes(b))
    for (auto const v : g.operands(n)) {
      bool inside = false;
      for (auto const other : g.nodes(b)) inside = inside || other == g.producer(v);
      if (!inside) all.push_back(v);
    }
  return all;
}

/// Writes an owned graph as a Boost graph. A node with bodies reads what they capture, after its own operands.
template <class G>
program<G>::program(fuse::graph const& from) {
  std::map<std::uint32_t, std::pair<vertex, std::size_t>> values;  // by value id
  auto const annotated = [&](operation& to, fuse::graph::value v, std::size_t result) {
    to.types.resize(result + 1), to.shapes.resize(result + 1);
    to.types[result] = from.type(v);
    if (std::vector<fuse::dimension> shape; from.shape(v, shape)) {
      auto& dims = to.shapes[result].emplace();
      for (auto const& d : shape)
        if (d.extent >= 0 || d.symbol.empty())
          dims.emplace_back(d.extent);
        else
          dims.emplace_back(std::string(d.symbol));
    }
  };
  auto const add = [&](operation o) {
    o.order = static_cast<int>(num_vertices(g));
    auto const v = add_vertex(g);
    g[v] = std::move(o);
    return v;
  };
  auto const leaf = [&](fuse::graph::value v) {
    operation o;
    o.name = from.name(v);
    annotated(o, v, 0);
    if (auto const contents = from.constant(v)) {
      o.contents = fuse::tensor{contents.type,
                                {contents.shape.begin(), contents.shape.end()},
                                {contents.bytes.begin(), contents.bytes.end()}};
      o.overridable = from.overridable(v);
    }
    return values[v.id] = {add(std::move(o)), 0};
  };
  auto const connect = [&](fuse::graph::value v, vertex to, int position) {
    if (!v) return;
    auto const at = values.find(v.id);
    auto const [source, result] = at == values.end() ? leaf(v) : at->second;
    using edge_type = typename G::edge_bundled;
    if constexpr (std::is_same_v<edge_type, operands>) {
      auto e = edge(source, to, g);
      if (!e.second) e = add_edge(source, to, g);
      g[e.first].positions.push_back(position);
      g[e.first].results.push_back(static_cast<int>(result));
    } else {
      add_edge(source, to, edge_type{position, static_cast<int>(result)}, g);
    }
  };
  for (auto const v : from.inputs()) inputs.push_back(leaf(v).first);
  for (auto const n : from.nodes()) {
    operation o;
    o.op = from.op(n);
    o.name = from.name(n);
    o.attributes.assign(from.attributes(n).begin(), from.attributes(n).end());
    o.results = from.results(n).size();
    if (from.operands(n).size() == 0 && o.attributes.size() == 1)
      if (auto const* contents = std::get_if<fuse::tensor>(&o.attributes[0].content)) o.contents = *contents;
    std::size_t result = 0;
    for (auto const v : from.results(n)) annotated(o, v, result++);
    auto const to = add(std::move(o));
    result = 0;
    for (auto const v : from.results(n)) values[v.id] = {to, result++};
    int position = 0;
    for (auto const v : from.operands(n)) connect(v, to, position++);
    for (auto const b : from.bodies(n))
      for (auto const v : captured(from, b)) connect(v, to, position++);
  }
  std::size_t output = 0;
  for (auto const v : from.outputs()) {
    if (!values.contains(v.id)) leaf(v);
    outputs.push_back(values[v.id]);
    output_names.emplace_back(from.output_name(output++));
  }
}

/// What a graph computes, as text: each output with all it depends on, values by their content, never by their place.
class listing {
 public:
  explicit listing(fuse::graph const& g) {
    for (auto const v : g.outputs()) text_ += "output " + value(g, v, [&](auto n) { return g.attributes(n); }) + '\n';
  }
  template <class G, class... Properties>
  listing(bgl::graph<G, Properties...> const& g, std::type_identity_t<G> const& boost) {
    for (auto const v : fuse::graph_traits<bgl::graph<G, Properties...>>::outputs(g))
      text_ += "output " +
               value(
                   g, v, [&](auto n) -> auto& { return boost[g.vertex(n)].attributes; }) +
               '\n';
  }
  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_; }

 private:
  template <class G, class Attributes>
  std::string value(G const& g, fuse::graph::value v, Attributes const& attributes) {
    using traits = fuse::graph_traits<G>;
    if (!v) return "-";
    if (auto const at = names_.find(v.id); at != names_.end()) return at->second;
    auto const n = traits::producer(g, v);
    std::string line;
    auto const contents = traits::constant(g, v);
    if (contents) {  // held by a node or not
      line = (traits::overridable(g, v) ? "overridable " : "") + fuse::detail::text_of(contents);
    } else if (!n) {
      line = "input " + traits::name(g, v);
    } else {
      line = std::string(traits::op_name(g, n)) + '(';
      std::string absent;  // at the end they mean nothing
      for (auto const o : traits::operands(g, n))
        if (o)
          line += std::exchange(absent, {}) + value(g, o, attributes) + ' ';
        else
          absent += "- ";
      if constexpr (fuse::detail::has_bodies<G>)
        for (auto const b : traits::bodies(g, n))
          for (auto const o : captured(g, b)) line += value(g, o, attributes) + ' ';
      line += ')';
      for (auto const& a : attributes(n)) line += ' ' + a.name + '=' + text_of(a.content);
      ++nodes_;
    }
    auto const name = '%' + std::to_string(++last_);
    text_ += name + " = " + line + '\n';
    if (!n || contents) return names_[v.id] = name;
    std::size_t i = 0;
    for (auto const r : traits::results(g, n)) names_[r.id] = name + ':' + std::to_string(i++);
    return names_[v.id];
  }
  template <class Content>
  static std::string text_of(Content const& content) {
    return std::visit(
        []<class T>(T const& c) {
          if constexpr (std::is_same_v<T, std::string>) {
            return c;
          } else if constexpr (std::is_same_v<T, fuse::tensor>) {
            return fuse::detail::text_of(fuse::tensor_view(c));
          } else if constexpr (std::is_arithmetic_v<T>) {
            return std::to_string(c);
          } else {
            std::string text;
            for (auto const one : c) text += std::to_string(one) + ',';
            return text;
          }
        },
        content);
  }

  std::string text_;
  std::map<std::uint32_t, std::string> names_;
  std::size_t nodes_ = 0, last_ = 0;
};

}  // namespace operations
