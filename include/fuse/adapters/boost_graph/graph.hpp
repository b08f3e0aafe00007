// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/adapters/boost_graph/content.hpp>
#include <fuse/adapters/boost_graph/property.hpp>
#include <fuse/adapters/boost_graph/vertex_numbers.hpp>
#include <fuse/graph/graph.hpp>

namespace boost {
struct setS;
struct multisetS;
struct hash_setS;
struct hash_multisetS;
}  // namespace boost

namespace fuse::inline v0::adapters::bgl {

namespace detail {

// Storages that keep vertices in the order of their addresses, or in none.
template <class G>
constexpr bool orders_vertices() {
  if constexpr (requires { typename G::vertex_list_selector; }) {
    using selector = typename G::vertex_list_selector;
    return !std::is_same_v<selector, boost::setS> && !std::is_same_v<selector, boost::multisetS> &&
           !std::is_same_v<selector, boost::hash_setS> && !std::is_same_v<selector, boost::hash_multisetS>;
  } else {
    return true;
  }
}

// adjacency_list, and what wraps one. (adjacency_matrix has an add_vertex, too, which adds none.)
template <class G>
concept mutable_graph = !std::is_const_v<G> && requires {
  typename G::vertex_list_selector;
  typename G::vertex_property_type;
};

template <class G, class... Properties>
class write_back;

}  // namespace detail

/// A Boost graph as a graph of fuse: vertices are nodes, inputs and constants, edges lead from the vertex that computes
/// a value to the one that reads it. What they mean is named by properties (property.hpp):
///
///     bgl::graph ir(g, bgl::operator_name(&node::op), bgl::position(&edge::operand), bgl::shape(&node::shape));
///     fuse::rewrite<fuse::rules::norms>(ir);
///     ir.finish();
///
/// Any directed VertexListGraph that is an IncidenceGraph can be read, in whatever storage; its edges are read once,
/// when the adapter is made (linear; hashing where vertices are no small numbers), its properties when they are asked
/// for. While the adapter lives, nobody else changes the graph.
///
/// Rewriting takes an adjacency_list that is not const, a position and an operator name that can be written, and
/// attributes that can: else values such as an epsilon would be lost. New vertices come at once. Everything else, edges
/// that are redirected and vertices that are erased, happens in `finish()`, or when the adapter goes: in one step that
/// is linear on every storage, where single steps are not.
///
/// Malformed edges leave a graph without nodes, and `error()` says what is wrong.
template <class G, class... Properties>
class graph {
  using role = detail::role;
  using boost_traits = boost::graph_traits<std::remove_const_t<G>>;
  template <role Role>
  static constexpr std::size_t place = detail::place_of<Role, Properties...>();
  template <role Role>
  static constexpr bool has = place<Role> < sizeof...(Properties);

 public:
  using vertex_descriptor = typename boost_traits::vertex_descriptor;
  using edge_descriptor = typename boost_traits::edge_descriptor;
  using node = fuse::graph::node;
  using value = fuse::graph::value;

  static_assert(std::is_convertible_v<typename boost_traits::directed_category, boost::directed_tag>,
                "fuse: a graph of operators has directed edges");
  static_assert(has<role::operator_name>,
                "fuse: a Boost graph needs operator_name(...), the property of vertices that "
                "holds the operator");
  static_assert(has<role::position>,
                "fuse: a Boost graph needs position(...), the property of edges that says which "
                "operand of its target an edge is");
  static_assert(((detail::count_of<Properties::what, Properties...>() == 1) && ...),
                "fuse: a property of a Boost graph is given twice");
  static_assert(
      has<role::order> || detail::orders_vertices<std::remove_const_t<G>>(),
      "fuse: vertices in a set come in the order of their addresses: order(...) must name a property that orders "
      "them");

  explicit graph(G& g, Properties... properties) : graph_(&g), properties_(std::move(properties)...) {
    if constexpr (has<role::operator_set>)
      structure_ = fuse::graph(static_cast<int>(std::get<place<role::operator_set>>(properties_).read));
    read();
  }
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;
  ~graph() { finish(); }

  /// Empty, or what is wrong with the graph, in one sentence.
  [[nodiscard]] std::string const& error() const { return error_; }
  [[nodiscard]] explicit operator bool() const { return error_.empty(); }

  [[nodiscard]] vertex_descriptor vertex(node n) const { return records_[record_of_node_[n.id]].vertex; }
  /// The vertex that computes `v`, or that is this input or constant.
  [[nodiscard]] vertex_descriptor vertex(value v) const { return records_[record_of_value_[v.id]].vertex; }
  /// Which result of its vertex `v` is.
  [[nodiscard]] std::uint32_t result(value v) const { return v.id - records_[record_of_value_[v.id]].first.id; }
  /// The node of a vertex; node{} for inputs and constants.
  [[nodiscard]] node node_of(vertex_descriptor v) const {
    auto const at = numbers_.find(v);
    return at == numbers_.none ? node{} : records_[at].node;
  }
  [[nodiscard]] value value_of(vertex_descriptor v, std::uint32_t result = 0) const {
    auto const at = numbers_.find(v);
    return at == numbers_.none || result >= records_[at].results ? value{} : value{records_[at].first.id + result};
  }

  /// Gives the Boost graph the edges and vertices that the rewrites left. Where vertices are numbers (vecS), those that
  /// died make the others move up, as if by remove_vertex: then `result[old]` is the new number of a vertex,
  /// null_vertex() for one that is gone. Empty where descriptors stay what they are. `inputs` and `outputs` are kept up
  /// to date; property maps of your own that vertices index are yours. The adapter stays usable.
  std::vector<vertex_descriptor> finish() {
    if constexpr (is_rewritable) {
      if (!std::exchange(changed_, false)) return {};
      return detail::write_back<G, Properties...>(*this).run();
    } else {
      return {};
    }
  }

 private:
  friend struct graph_traits<graph>;
  friend class detail::write_back<G, Properties...>;

  /// What is known of a vertex.
  struct record {
    vertex_descriptor vertex;
    fuse::graph::node node{};    ///< none: an input or constant
    fuse::graph::value first{};  ///< its first result
    std::uint32_t results = 1;
    bool input = false;                       ///< is named as one
    bool edges_differ = false, dead = false;  ///< from what the Boost graph has
  };

  template <role Role>
  using property_of = std::tuple_element_t<place<Role>, std::tuple<Properties...>>;
  template <role Role>
  static constexpr bool writes() {
    if constexpr (has<Role>)
      return detail::is_writable<G, property_of<Role>>();
    else
      return false;
  }
  static constexpr bool is_rewritable = detail::mutable_graph<G> && writes<role::operator_name>() &&
                                        writes<role::position>() && writes<role::attributes>() &&
                                        (!has<role::result_number> || writes<role::result_number>()) &&
                                        (!has<role::result_count> || writes<role::result_count>());

  template <role Role, class Descriptor>
  [[nodiscard]] decltype(auto) get(Descriptor d) const {
    return detail::read_property(*graph_, std::get<place<Role>>(properties_).read, d);
  }
  template <role Role, class Descriptor, class T>
  void put(Descriptor d, T const& content) {
    detail::write_property(*graph_, std::get<place<Role>>(properties_), d, content);
  }

  // Structure.

  /// Calls `use(source, target, edge)` for each edge, in the order of the sources.
  template <class Use>
  void each_edge(Use use) const {
    for (std::uint32_t from = 0; from < records_.size(); ++from) {
      if (records_[from].vertex == boost_traits::null_vertex()) continue;
      auto const [first, last] = out_edges(records_[from].vertex, *graph_);
      for (auto e = first; e != last; ++e) use(from, numbers_.find(detail::end_of(*e, *graph_)), *e);
    }
  }
  /// Calls `use(operand, result)` for each operand that the edge stands for.
  template <class Use>
  void each_read(edge_descriptor e, Use use) const {
    auto const& positions = get<role::position>(e);
    if constexpr (detail::range<std::remove_cvref_t<decltype(positions)>>) {
      if constexpr (has<role::result_number>) {
        auto const& results = get<role::result_number>(e);
        auto at = results.begin();
        for (auto const p : positions)
          use(static_cast<std::int64_t>(p), at == results.end() ? -1 : static_cast<std::int64_t>(*at++));
      } else {
        for (auto const p : positions) use(static_cast<std::int64_t>(p), std::int64_t{0});
      }
    } else if constexpr (has<role::result_number>) {
      use(static_cast<std::int64_t>(positions), static_cast<std::int64_t>(get<role::result_number>(e)));
    } else {
      use(static_cast<std::int64_t>(positions), std::int64_t{0});
    }
  }

  void fail(std::string sentence) {
    if (error_.empty()) error_ = std::move(sentence);
  }
  [[nodiscard]] std::string title(std::uint32_t at) const {
    return "vertex " + std::to_string(at) + " (" + std::string(get<role::operator_name>(records_[at].vertex)) + ")";
  }

  void read() {
    auto const [first, last] = vertices(*graph_);
    std::vector<vertex_descriptor> all(first, last);
    if constexpr (has<role::order>)
      std::stable_sort(all.begin(), all.end(),
                       [&](auto const& a, auto const& b) { return get<role::order>(a) < get<role::order>(b); });
    for (auto const& v : all) {
      numbers_.set(v, static_cast<std::uint32_t>(records_.size()));
      records_.push_back({v});
    }
    if constexpr (has<role::inputs>)
      for (auto const& one : *std::get<place<role::inputs>>(properties_).read)
        if (auto const at = numbers_.find(one); at != numbers_.none) records_[at].input = true;
    auto const counts = operand_counts();
    if (!error_.empty()) return;
    for (std::uint32_t at = 0; at < records_.size(); ++at) add(at, counts[at]);
    attach();
    if (error_.empty()) find_inputs(), find_outputs();
    if (!error_.empty()) structure_ = fuse::graph();
  }

  std::vector<std::uint32_t> operand_counts() {
    constexpr std::int64_t most = 65535;  // what an image holds
    std::vector<std::uint32_t> counts(records_.size(), 0);
    each_edge([&](std::uint32_t, std::uint32_t to, edge_descriptor e) {
      each_read(e, [&](std::int64_t operand, std::int64_t) {
        if (operand < 0 || operand >= most)
          return fail(title(to) + " has an edge for operand " + std::to_string(operand));
        counts[to] = std::max(counts[to], static_cast<std::uint32_t>(operand) + 1);
      });
    });
    return counts;
  }

  /// Makes vertex `at` a node, or an input or constant.
  void add(std::uint32_t at, std::uint32_t operands) {
    auto& r = records_[at];
    std::string_view const op = get<role::operator_name>(r.vertex);
    if (operands == 0 && (op.empty() || contents(r.vertex) || r.input)) {
      r.first = structure_.input({});
    } else {
      if constexpr (has<role::result_count>) r.results = static_cast<std::uint32_t>(get<role::result_count>(r.vertex));
      r.node = structure_.append(op, std::vector<value>(operands), {}, r.results);
      r.first = {structure_.results(r.node).first};
    }
    enter(at);
  }
  void enter(std::uint32_t at) {
    auto const& r = records_[at];
    if (r.node) {
      record_of_node_.resize(r.node.id + 1);
      record_of_node_[r.node.id] = at;
    }
    record_of_value_.resize(r.first.id + r.results);
    for (std::uint32_t i = 0; i < r.results; ++i) record_of_value_[r.first.id + i] = at;
  }

  void attach() {
    each_edge([&](std::uint32_t from, std::uint32_t to, edge_descriptor e) {
      each_read(e, [&](std::int64_t operand, std::int64_t number) {
        auto const& read = records_[from];
        auto const reader = records_[to].node;
        auto const i = static_cast<std::size_t>(operand);
        if (number < 0 || number >= read.results)
          fail(title(to) + " reads result " + std::to_string(number) + " of " + title(from) + ", which has " +
               std::to_string(read.results));
        else if (structure_.operands(reader)[i])
          fail(title(to) + " has two edges for operand " + std::to_string(operand));
        else
          structure_.set_operand(reader, i, {read.first.id + static_cast<std::uint32_t>(number)});
      });
    });
  }

  void find_inputs() {
    if constexpr (has<role::inputs>) {
      for (auto const& one : *std::get<place<role::inputs>>(properties_).read) {
        auto const v = value_of(one);
        if (!v || node_of(one)) return fail("an input of the graph is no vertex of it, or one that reads others");
        inputs_.push_back(v);
      }
    } else {
      for (auto const& r : records_)
        if (!r.node && (!contents(r.vertex) || is_overridable(r.vertex))) inputs_.push_back(r.first);
    }
  }
  void find_outputs() {
    if constexpr (has<role::outputs>) {
      for (auto const& one : *std::get<place<role::outputs>>(properties_).read) {
        auto const v = output_at(one);
        if (!v) return fail("an output of the graph is no vertex of it, or no result of one");
        structure_.output(v);
      }
    } else {
      for (auto const& r : records_) {
        bool used = !r.node;
        for (std::uint32_t i = 0; i < r.results; ++i) used = used || structure_.use_count({r.first.id + i}) != 0;
        for (std::uint32_t i = 0; i < r.results && !used; ++i) structure_.output({r.first.id + i});
      }
    }
  }
  template <class One>
  [[nodiscard]] value output_at(One const& one) const {
    if constexpr (std::is_convertible_v<One, vertex_descriptor>)
      return value_of(one);
    else
      return value_of(one.first, static_cast<std::uint32_t>(one.second));
  }

  // Contents.

  [[nodiscard]] tensor_view contents(vertex_descriptor v) const {
    if constexpr (has<role::constant>)
      return detail::contents_of(get<role::constant>(v));
    else
      return {};
  }
  [[nodiscard]] bool is_overridable(vertex_descriptor v) const {
    if constexpr (has<role::overridable>)
      return static_cast<bool>(get<role::overridable>(v));
    else
      return false;
  }
  /// The contents of `v` where it is a constant.
  [[nodiscard]] tensor_view constant_of(value v) const {
    auto const& r = records_[record_of_value_[v.id]];
    if (r.results != 1 || (r.node && structure_.operands(r.node).size() != 0)) return {};
    return contents(r.vertex);
  }

  G* graph_;
  std::tuple<Properties...> properties_;
  fuse::graph structure_{};  ///< operators and operands, the users of each value; empty of everything else
  std::vector<record> records_;
  detail::vertex_numbers<vertex_descriptor> numbers_;
  std::vector<std::uint32_t> record_of_node_, record_of_value_;
  std::vector<value> inputs_;
  std::string error_;
  bool changed_ = false;
};

}  // namespace fuse::inline v0::adapters::bgl
