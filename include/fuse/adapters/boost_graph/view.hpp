// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>

namespace fuse::inline v0::adapters::bgl {

/// An edge of a view: operand `operand` of the node at `to` is result `result` of what stands at `from`.
struct operand_edge {
  std::size_t from = 0, to = 0;
  std::size_t index = 0;  ///< of the edge, from 0: what boost::edge_index gives
  std::uint32_t operand = 0, result = 0;

  friend bool operator==(operand_edge const& a, operand_edge const& b) { return a.index == b.index; }
  friend auto operator<=>(operand_edge const& a, operand_edge const& b) { return a.index <=> b.index; }
};

namespace detail {

using number_iterator = boost::counting_iterator<std::size_t>;

class edge_iterator
    : public boost::iterator_facade<edge_iterator, operand_edge, boost::random_access_traversal_tag, operand_edge> {
 public:
  edge_iterator() = default;
  /// Edge `at` of `all`; with `sorted`, the one whose index stands there.
  edge_iterator(operand_edge const* all, std::uint32_t const* sorted, std::size_t at)
      : all_(all), sorted_(sorted), at_(at) {}

 private:
  friend class boost::iterator_core_access;
  [[nodiscard]] operand_edge dereference() const { return all_[sorted_ == nullptr ? at_ : sorted_[at_]]; }
  [[nodiscard]] bool equal(edge_iterator const& other) const { return at_ == other.at_; }
  void increment() { ++at_; }
  void decrement() { --at_; }
  void advance(std::ptrdiff_t n) { at_ += static_cast<std::size_t>(n); }
  [[nodiscard]] std::ptrdiff_t distance_to(edge_iterator const& other) const {
    return static_cast<std::ptrdiff_t>(other.at_ - at_);
  }
  operand_edge const* all_ = nullptr;
  std::uint32_t const* sorted_ = nullptr;
  std::size_t at_ = 0;
};

struct view_category : boost::bidirectional_graph_tag, boost::vertex_list_graph_tag, boost::edge_list_graph_tag {};

}  // namespace detail

/// Any readable graph as a Boost graph: BidirectionalGraph, VertexListGraph, EdgeListGraph, with the vertex and edge
/// properties vertex_index, vertex_name (operator, or name of an input or constant) and edge_index.
///
///     bgl::view const seen(graph);
///     boost::topological_sort(seen, std::back_inserter(order));
///
/// Vertices are the numbers from 0: nodes in a topological order, those of bodies before the node that owns them, then
/// inputs and constants. Edges lead from producer to user, one for each operand. The view is taken when it is made, in
/// linear time, and knows nothing of later changes; a graph with a cycle keeps its nodes in the graph's own order.
template <class G>
class view {
 public:
  using vertex_descriptor = std::size_t;
  using edge_descriptor = operand_edge;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  using traversal_category = detail::view_category;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = detail::number_iterator;
  using edge_iterator = detail::edge_iterator;
  using out_edge_iterator = detail::edge_iterator;
  using in_edge_iterator = detail::edge_iterator;
  using adjacency_iterator = void;

  [[nodiscard]] static vertex_descriptor null_vertex() { return std::numeric_limits<std::size_t>::max(); }

  explicit view(G const& graph) {
    (void)sizeof(fuse::detail::require_readable<G>);
    graph_binding<G const> const bound(graph,
                                       {[](void const*, std::string_view, int) { return operator_names::found{}; }}, 1);
    read(bound, bound.image);
  }

  [[nodiscard]] std::size_t vertex_count() const { return names_.size(); }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  /// Whether a vertex is a node, and none of the inputs and constants.
  [[nodiscard]] bool is_node(vertex_descriptor v) const { return v < nodes_.size(); }
  [[nodiscard]] node_of<G> node(vertex_descriptor v) const { return is_node(v) ? nodes_[v] : node_of<G>{}; }
  /// The input or constant at a vertex; value{} for a node.
  [[nodiscard]] value_of<G> leaf(vertex_descriptor v) const {
    return is_node(v) ? value_of<G>{} : leaves_[v - nodes_.size()];
  }
  [[nodiscard]] std::string const& name(vertex_descriptor v) const { return names_[v]; }

  [[nodiscard]] std::pair<out_edge_iterator, out_edge_iterator> out(vertex_descriptor v) const {
    return {at(by_source_.data(), out_[v]), at(by_source_.data(), out_[v + 1])};
  }
  [[nodiscard]] std::pair<in_edge_iterator, in_edge_iterator> in(vertex_descriptor v) const {
    return {at(nullptr, in_[v]), at(nullptr, in_[v + 1])};
  }
  [[nodiscard]] std::pair<edge_iterator, edge_iterator> all_edges() const {
    return {at(nullptr, 0), at(nullptr, edges_.size())};
  }

 private:
  [[nodiscard]] edge_iterator at(std::uint32_t const* sorted, std::size_t i) const {
    return {edges_.data(), sorted, i};
  }

  void read(graph_binding<G const> const& bound, graph_image const& image) {
    std::vector<std::uint32_t> vertex_of(image.value_count(), absent);
    for (node_id n = 0; n < image.node_count(); ++n) {
      nodes_.push_back(bound.node(n));
      names_.emplace_back(bound.op_name(n));
      for (std::uint32_t i = 0; i < image.node(n).result_count; ++i) vertex_of[image.result(n, i)] = n;
    }
    for (value_id v = 0; v < image.value_count(); ++v)
      if (vertex_of[v] == absent) {
        vertex_of[v] = static_cast<std::uint32_t>(names_.size());
        leaves_.push_back(bound.value(v));
        names_.push_back(bound.value_name(v));
      }
    in_.assign(1, 0);
    out_.assign(names_.size() + 1, 0);
    for (node_id n = 0; n < image.node_count(); ++n) {
      for (std::uint32_t i = 0; i < image.operand_count(n); ++i) {
        auto const v = image.operand(n, i);
        if (v == absent) continue;
        edges_.push_back({vertex_of[v], n, edges_.size(), i, image.producer(v) == absent ? 0 : image.result_index(v)});
        ++out_[vertex_of[v] + 1];
      }
      in_.push_back(edges_.size());
    }
    in_.resize(names_.size() + 1, edges_.size());
    for (std::size_t v = 0; v < names_.size(); ++v) out_[v + 1] += out_[v];
    auto next = out_;
    by_source_.resize(edges_.size());
    for (auto const& e : edges_) by_source_[next[e.from]++] = static_cast<std::uint32_t>(e.index);
  }

  std::vector<node_of<G>> nodes_;
  std::vector<value_of<G>> leaves_;
  std::vector<std::string> names_;
  std::vector<operand_edge> edges_;  // by target
  std::vector<std::uint32_t> by_source_;
  std::vector<std::size_t> in_, out_;  // where the edges of each vertex begin
};

// What Boost.Graph's concepts ask for, found by the argument.

template <class G>
std::size_t num_vertices(view<G> const& g) {
  return g.vertex_count();
}
template <class G>
auto vertices(view<G> const& g) {
  return std::pair(detail::number_iterator(0), detail::number_iterator(g.vertex_count()));
}
template <class G>
auto edges(view<G> const& g) {
  return g.all_edges();
}
template <class G>
std::size_t num_edges(view<G> const& g) {
  auto const [first, last] = g.all_edges();
  return static_cast<std::size_t>(last - first);
}
template <class G>
std::size_t source(operand_edge const& e, view<G> const&) {
  return e.from;
}
template <class G>
std::size_t target(operand_edge const& e, view<G> const&) {
  return e.to;
}
template <class G>
auto out_edges(std::size_t v, view<G> const& g) {
  return g.out(v);
}
template <class G>
auto in_edges(std::size_t v, view<G> const& g) {
  return g.in(v);
}
template <class G>
std::size_t out_degree(std::size_t v, view<G> const& g) {
  auto const [first, last] = g.out(v);
  return static_cast<std::size_t>(last - first);
}
template <class G>
std::size_t in_degree(std::size_t v, view<G> const& g) {
  auto const [first, last] = g.in(v);
  return static_cast<std::size_t>(last - first);
}
template <class G>
std::size_t degree(std::size_t v, view<G> const& g) {
  return in_degree(v, g) + out_degree(v, g);
}

/// The names of a view's vertices.
template <class G>
class vertex_names : public boost::put_get_helper<std::string const&, vertex_names<G>> {
 public:
  using key_type = std::size_t;
  using value_type = std::string;
  using reference = std::string const&;
  using category = boost::readable_property_map_tag;

  explicit vertex_names(view<G> const& of) : of_(&of) {}
  reference operator[](std::size_t v) const { return of_->name(v); }

 private:
  view<G> const* of_;
};
/// The numbers of a view's edges.
class edge_indices : public boost::put_get_helper<std::size_t, edge_indices> {
 public:
  using key_type = operand_edge;
  using value_type = std::size_t;
  using reference = std::size_t;
  using category = boost::readable_property_map_tag;

  reference operator[](operand_edge const& e) const { return e.index; }
};

template <class G>
boost::identity_property_map get(boost::vertex_index_t, view<G> const&) {
  return {};
}
template <class G>
std::size_t get(boost::vertex_index_t, view<G> const&, std::size_t v) {
  return v;
}
template <class G>
vertex_names<G> get(boost::vertex_name_t, view<G> const& g) {
  return vertex_names<G>(g);
}
template <class G>
std::string const& get(boost::vertex_name_t, view<G> const& g, std::size_t v) {
  return g.name(v);
}
template <class G>
edge_indices get(boost::edge_index_t, view<G> const&) {
  return {};
}
template <class G>
std::size_t get(boost::edge_index_t, view<G> const&, operand_edge const& e) {
  return e.index;
}

}  // namespace fuse::inline v0::adapters::bgl

namespace boost {

template <class G>
struct property_map<fuse::adapters::bgl::view<G>, vertex_index_t> {
  using type = identity_property_map;
  using const_type = identity_property_map;
};
template <class G>
struct property_map<fuse::adapters::bgl::view<G>, vertex_name_t> {
  using type = fuse::adapters::bgl::vertex_names<G>;
  using const_type = type;
};
template <class G>
struct property_map<fuse::adapters::bgl::view<G>, edge_index_t> {
  using type = fuse::adapters::bgl::edge_indices;
  using const_type = type;
};

}  // namespace boost
