// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/graph/properties.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fuse/adapters/boost_graph/graph.hpp>

namespace fuse::inline v0::adapters::bgl::detail {

/// Gives a Boost graph the edges and vertices that its adapter has. Edges of nodes whose operands are the same stay
/// what they are; one that reads the same operand as an edge before keeps that one's properties. Linear.
template <class G, class... Properties>
class write_back {
  using owner = graph<G, Properties...>;
  using vertex_descriptor = typename owner::vertex_descriptor;
  using edge_descriptor = typename owner::edge_descriptor;
  using vertex_property = typename G::vertex_property_type;
  using edge_property = typename G::edge_property_type;
  static constexpr bool renumbers = std::is_integral_v<vertex_descriptor>;
  static constexpr bool has_edge_property = !std::is_same_v<edge_property, boost::no_property>;

 public:
  explicit write_back(owner& of) : of_(of), g_(*of.graph_) {}

  std::vector<vertex_descriptor> run() {
    std::vector<vertex_descriptor> moved;
    if constexpr (renumbers)
      moved = rebuild();
    else
      edit();
    update_lists();
    return moved;
  }

 private:
  template <role Role>
  using edge_type = std::remove_cvref_t<decltype(std::declval<owner const&>().template get<Role>(edge_descriptor{}))>;
  template <role Role>
  static auto part() {
    if constexpr (owner::template has<Role>)
      return edge_type<Role>{};
    else
      return not_given{};
  }
  /// An edge that is made anew as it was.
  struct same_edge {
    vertex_descriptor from, to;
    edge_property content;
    edge_type<role::position> position;
    decltype(part<role::result_number>()) result;
  };
  static std::uint64_t key(std::uint32_t reader, std::uint64_t operand) { return operand << 32 | reader; }

  edge_property content(edge_descriptor e) const {
    if constexpr (has_edge_property)
      return boost::get(boost::edge_all, g_)[e];
    else
      return {};
  }
  // Returns whether the edge stands for an operand at all.
  bool keep(edge_descriptor e, std::uint32_t reader) {
    bool any = false;
    of_.each_read(e, [&](std::int64_t operand, std::int64_t) {
      any = true;
      if constexpr (has_edge_property) kept_.try_emplace(key(reader, static_cast<std::uint64_t>(operand)), content(e));
    });
    return any;
  }

  /// Edges for the operands of a node; one for all that are one value's where an edge may stand for several.
  void connect(std::uint32_t reader) {
    auto const& r = of_.records_[reader];
    auto const operands = of_.structure_.operands(r.node);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]) continue;
      auto const from = of_.vertex(operands[i]);
      if constexpr (range<edge_type<role::position>>) {
        std::vector<std::int64_t> positions, results;
        bool first = true;
        for (std::size_t k = 0; k < operands.size(); ++k) {
          if (!operands[k] || of_.vertex(operands[k]) != from) continue;
          first = first && k >= i;
          positions.push_back(static_cast<std::int64_t>(k));
          results.push_back(of_.result(operands[k]));
        }
        if (first)
          link(from, r.vertex, key(reader, i), list<role::position>(positions), [&](auto e) {
            if constexpr (owner::template has<role::result_number>)
              of_.template put<role::result_number>(e, list<role::result_number>(results));
          });
      } else {
        link(from, r.vertex, key(reader, i), i, [&](auto e) {
          if constexpr (owner::template has<role::result_number>)
            of_.template put<role::result_number>(e, of_.result(operands[i]));
        });
      }
    }
  }
  template <role Role>
  auto list(std::vector<std::int64_t> const& numbers) const {
    edge_type<Role> made;
    for (auto const n : numbers) made.insert(made.end(), static_cast<typename decltype(made)::value_type>(n));
    return made;
  }
  template <class Position, class PutResult>
  void link(vertex_descriptor from, vertex_descriptor to, std::uint64_t key, Position const& position, PutResult put) {
    auto const e = add_edge(from, to, g_).first;
    if constexpr (has_edge_property)
      if (auto const at = kept_.find(key); at != kept_.end()) boost::get(boost::edge_all, g_)[e] = at->second;
    of_.template put<role::position>(e, position);
    put(e);
  }

  // Vertices that are numbers: remove_vertex would renumber them all each time, so the graph is built anew.
  std::vector<vertex_descriptor> rebuild() {
    auto& records = of_.records_;
    std::vector<vertex_descriptor> moved(num_vertices(g_), G::null_vertex());
    std::vector<std::uint32_t> alive;
    auto const [first_vertex, last_vertex] = vertices(g_);
    for (auto v = first_vertex; v != last_vertex; ++v)
      if (auto const at = of_.numbers_.find(*v); !records[at].dead) {
        moved[*v] = static_cast<vertex_descriptor>(alive.size());
        alive.push_back(at);
      }
    std::vector<same_edge> same;
    of_.each_edge([&](std::uint32_t from, std::uint32_t to, edge_descriptor e) {
      if (records[to].dead || (records[to].edges_differ && keep(e, to)) || records[from].dead) return;
      same.push_back({moved[records[from].vertex], moved[records[to].vertex], content(e),
                      of_.template get<role::position>(e), part<role::result_number>()});
      if constexpr (owner::template has<role::result_number>)
        same.back().result = of_.template get<role::result_number>(e);
    });
    std::vector<vertex_property> contents;
    contents.reserve(alive.size());
    for (auto const at : alive) contents.push_back(std::move(boost::get(boost::vertex_all, g_)[records[at].vertex]));
    g_.clear();
    of_.numbers_.clear();
    for (std::size_t i = 0; i < alive.size(); ++i) {
      auto const v = add_vertex(g_);
      boost::get(boost::vertex_all, g_)[v] = std::move(contents[i]);
      records[alive[i]].vertex = v;
      of_.numbers_.set(v, alive[i]);
    }
    for (auto const& s : same) {
      auto const e = add_edge(s.from, s.to, s.content, g_).first;
      of_.template put<role::position>(e, s.position);
      if constexpr (owner::template has<role::result_number>) of_.template put<role::result_number>(e, s.result);
    }
    for (auto const at : alive)
      if (records[at].edges_differ) connect(at);
    for (auto& r : records) {
      if (r.dead) r.vertex = G::null_vertex();
      r.edges_differ = false;
    }
    return moved;
  }

  // Others: each vertex loses its stale edges at once, nodes whose operands changed get theirs anew, the dead go.
  void edit() {
    auto& records = of_.records_;
    auto const stale = [&](edge_descriptor e) {
      auto const& to = records[of_.numbers_.find(end_of(e, g_))];
      if (to.dead) return true;
      bool any = false;
      of_.each_read(e, [&](std::int64_t, std::int64_t) { any = true; });
      return any && to.edges_differ;
    };
    for (auto const& r : records) {
      if (r.vertex == G::null_vertex()) continue;
      bool any = false;
      auto const [first, last] = out_edges(r.vertex, g_);
      for (auto e = first; e != last; ++e)
        if (stale(*e)) {
          any = true;
          keep(*e, of_.numbers_.find(end_of(*e, g_)));
        }
      if (any) remove_out_edge_if(r.vertex, stale, g_);
    }
    for (std::uint32_t at = 0; at < records.size(); ++at) {
      auto& r = records[at];
      if (!r.dead && r.edges_differ) connect(at);
      r.edges_differ = false;
      if (!r.dead || r.vertex == G::null_vertex()) continue;
      of_.numbers_.forget(r.vertex);
      remove_out_edge_if(
          r.vertex, [](auto const&) { return true; }, g_);
      remove_vertex(r.vertex, g_);
      r.vertex = G::null_vertex();
    }
  }

  void update_lists() {
    if constexpr (owner::template has<role::inputs>)
      if constexpr (renumbers) {
        auto at = of_.inputs_.begin();
        for (auto& one : list_of<role::inputs>()) one = of_.vertex(*at++);
      }
    if constexpr (owner::template has<role::outputs>) {
      auto const values = of_.structure_.outputs();
      auto at = values.begin();
      for (auto& one : list_of<role::outputs>()) {
        if constexpr (std::is_convertible_v<decltype(one), vertex_descriptor>) {
          one = of_.vertex(*at);
        } else {
          one.first = of_.vertex(*at);
          one.second = static_cast<std::remove_cvref_t<decltype(one.second)>>(of_.result(*at));
        }
        ++at;
      }
    }
  }
  template <role Role>
  auto& list_of() {
    return *std::get<owner::template place<Role>>(of_.properties_).read;
  }

  owner& of_;
  G& g_;
  std::unordered_map<std::uint64_t, edge_property> kept_;
};

}  // namespace fuse::inline v0::adapters::bgl::detail
