// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <fuse/graph/traits.hpp>

namespace fuse::inline v0 {

template <class G>
using node_of = typename graph_traits<std::remove_const_t<G>>::node;
template <class G>
using value_of = typename graph_traits<std::remove_const_t<G>>::value;

namespace detail {

template <class R, class T>
concept range_of = requires(R&& range) {
  { *std::begin(range) } -> std::convertible_to<T>;
  std::begin(range) != std::end(range);
};

// One concept per required member, so that a type that falls short is told which one is missing.
template <class G>
concept has_handles = requires {
  typename graph_traits<G>::node;
  typename graph_traits<G>::value;
  requires std::regular<typename graph_traits<G>::node>;
  requires std::regular<typename graph_traits<G>::value>;
};
template <class G>
concept has_nodes = requires(G const& g) {
  { graph_traits<G>::nodes(g) } -> range_of<node_of<G>>;
};
template <class G>
concept has_op_name = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::op_name(g, n) } -> std::convertible_to<std::string_view>;
};
template <class G>
concept has_operands = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::operands(g, n) } -> range_of<value_of<G>>;
};
template <class G>
concept has_results = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::results(g, n) } -> range_of<value_of<G>>;
};
template <class G>
concept has_producer = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::producer(g, v) } -> std::convertible_to<node_of<G>>;
};
template <class G>
concept has_outputs = requires(G const& g) {
  { graph_traits<G>::outputs(g) } -> range_of<value_of<G>>;
};
template <class G>
concept has_insert = requires(G& g, node_of<G> n, new_node<value_of<G>> const& made) {
  { graph_traits<G>::insert(g, n, made) } -> std::convertible_to<node_of<G>>;
};
template <class G>
concept has_replace_uses = requires(G& g, value_of<G> v) {
  { graph_traits<G>::replace_uses(g, v, v) } -> std::same_as<void>;
};
template <class G>
concept has_erase = requires(G& g, node_of<G> n) {
  { graph_traits<G>::erase(g, n) } -> std::same_as<void>;
};
template <class G>
concept has_users = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::users(g, v) } -> range_of<node_of<G>>;
};
template <class G>
concept has_inputs = requires(G const& g) {
  { graph_traits<G>::inputs(g) } -> range_of<value_of<G>>;
};
template <class G>
concept has_version = requires(G const& g) {
  { graph_traits<G>::version(g) } -> std::convertible_to<int>;
};
template <class G>
concept has_constant = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::constant(g, v) } -> std::convertible_to<tensor_view>;
};
template <class G>
concept has_overridable = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::overridable(g, v) } -> std::convertible_to<bool>;
};
template <class G>
concept has_add_constant = requires(G& g, tensor_view t, std::string_view origin) {
  { graph_traits<G>::add_constant(g, t, origin) } -> std::convertible_to<value_of<G>>;
};
template <class G>
concept has_type = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::type(g, v) } -> std::convertible_to<element_type>;
};
template <class G>
concept has_shape = requires(G const& g, value_of<G> v, std::vector<dimension>& into) {
  { graph_traits<G>::shape(g, v, into) } -> std::convertible_to<bool>;
};
template <class G>
concept has_attribute = requires(G const& g, node_of<G> n, std::string_view name) {
  { graph_traits<G>::attribute(g, n, name) } -> std::convertible_to<attribute_view>;
};
template <class G>
concept has_same_attributes = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::same_attributes(g, n, n) } -> std::same_as<bool>;
};
template <class G>
concept has_value_name = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::name(g, v) } -> std::convertible_to<std::string>;
};
template <class G>
concept has_node_name = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::name(g, n) } -> std::convertible_to<std::string>;
};
template <class G>
concept has_index = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::index(g, v) } -> std::convertible_to<std::size_t>;
};
template <class G>
concept has_op_key = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::op_key(g, n) } -> std::integral;
};
template <class G>
concept has_bodies = requires(G const& g, node_of<G> n) {
  *std::begin(graph_traits<G>::bodies(g, n));
  graph_traits<G>::nodes(g, *std::begin(graph_traits<G>::bodies(g, n)));
  graph_traits<G>::inputs(g, *std::begin(graph_traits<G>::bodies(g, n)));
  graph_traits<G>::outputs(g, *std::begin(graph_traits<G>::bodies(g, n)));
};
template <class G>
concept has_functions = requires(G const& g) {
  *std::begin(graph_traits<G>::functions(g));
  graph_traits<G>::nodes(g, *std::begin(graph_traits<G>::functions(g)));
  graph_traits<G>::inputs(g, *std::begin(graph_traits<G>::functions(g)));
  graph_traits<G>::outputs(g, *std::begin(graph_traits<G>::functions(g)));
  { graph_traits<G>::calls(g, *std::begin(graph_traits<G>::functions(g))) } -> range_of<node_of<G>>;
};
template <class G>
concept has_add_constant_inside = requires(G& g, tensor_view t, std::string_view origin) {
  {
    graph_traits<G>::add_constant(g, *std::begin(graph_traits<G>::functions(g)), t, origin)
    } -> std::convertible_to<value_of<G>>;
};
template <class G>
concept has_declare = requires(G& g, function_body const& body) {
  { graph_traits<G>::declare(g, body) } -> std::same_as<bool>;
};

}  // namespace detail

/// What matching needs: handles, nodes, operator names, operands, results, producers, outputs.
template <class G>
concept readable_graph = detail::has_handles<G> && detail::has_nodes<G> && detail::has_op_name<G> &&
    detail::has_operands<G> && detail::has_results<G> && detail::has_producer<G> && detail::has_outputs<G>;

/// A readable graph that also keeps users of values. fuse builds an index of its own for all graphs; this is what
/// graph_laws checks it against.
template <class G>
concept use_tracking_graph = readable_graph<G> && detail::has_users<G>;

/// What rewriting needs: a readable graph with the three edits.
template <class G>
concept rewritable_graph =
    readable_graph<G> && detail::has_insert<G> && detail::has_replace_uses<G> && detail::has_erase<G>;

namespace detail {

/// The first member of graph_traits<G> that is missing or returns another type.
enum class graph_member : std::uint8_t {
  none,
  handles,
  nodes,
  op_name,
  operands,
  results,
  producer,
  outputs,
  insert,
  replace_uses,
  erase,
  version,
  inputs,
  constant,
  overridable,
  add_constant,
  type,
  shape,
  attribute,
  same_attributes,
  name,
  index,
  op_key,
  users,
  bodies,
  functions,
  declare
};

// Not an operator: compilers would tell how it evaluates.
template <graph_member Missing, graph_member Other>
inline constexpr bool has_member = Missing != Other;

// What optional members are called with.
template <class G>
struct member_arguments {
  G const& graph;
  G& edited;
  value_of<G> v;
  node_of<G> n;
  std::string_view text;
  tensor_view contents;
  std::vector<dimension>& into;
  function_body const& body;
};

/// The first optional member that can be called and returns something else. (One that is constrained away cannot.)
template <class G>
constexpr graph_member unusable() {
  if constexpr (requires(member_arguments<G> a) { graph_traits<G>::version(a.graph); } && !has_version<G>)
    return graph_member::version;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::inputs(a.graph); } && !has_inputs<G>)
    return graph_member::inputs;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::constant(a.graph, a.v); } && !has_constant<G>)
    return graph_member::constant;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::overridable(a.graph, a.v); } &&
                     !has_overridable<G>)
    return graph_member::overridable;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::add_constant(a.edited, a.contents, a.text); } &&
                     !has_add_constant<G>)
    return graph_member::add_constant;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::type(a.graph, a.v); } && !has_type<G>)
    return graph_member::type;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::shape(a.graph, a.v, a.into); } && !has_shape<G>)
    return graph_member::shape;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::attribute(a.graph, a.n, a.text); } &&
                     !has_attribute<G>)
    return graph_member::attribute;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::same_attributes(a.graph, a.n, a.n); } &&
                     !has_same_attributes<G>)
    return graph_member::same_attributes;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::name(a.graph, a.v); } && !has_value_name<G>)
    return graph_member::name;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::index(a.graph, a.v); } && !has_index<G>)
    return graph_member::index;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::op_key(a.graph, a.n); } && !has_op_key<G>)
    return graph_member::op_key;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::users(a.graph, a.v); } && !has_users<G>)
    return graph_member::users;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::bodies(a.graph, a.n); } && !has_bodies<G>)
    return graph_member::bodies;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::functions(a.graph); } && !has_functions<G>)
    return graph_member::functions;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::declare(a.edited, a.body); } && !has_declare<G>)
    return graph_member::declare;
  else
    return graph_member::none;
}
template <class G>
constexpr graph_member missing_to_read() {
  if constexpr (!has_handles<G>)
    return graph_member::handles;
  else if constexpr (!has_nodes<G>)
    return graph_member::nodes;
  else if constexpr (!has_op_name<G>)
    return graph_member::op_name;
  else if constexpr (!has_operands<G>)
    return graph_member::operands;
  else if constexpr (!has_results<G>)
    return graph_member::results;
  else if constexpr (!has_producer<G>)
    return graph_member::producer;
  else if constexpr (!has_outputs<G>)
    return graph_member::outputs;
  else
    return unusable<std::remove_const_t<G>>();
}
template <class G>
constexpr graph_member missing_to_rewrite() {
  if constexpr (missing_to_read<G>() != graph_member::none)
    return missing_to_read<G>();
  else if constexpr (!has_insert<G>)
    return graph_member::insert;
  else if constexpr (!has_replace_uses<G>)
    return graph_member::replace_uses;
  else if constexpr (!has_erase<G>)
    return graph_member::erase;
  else
    return graph_member::none;
}

/// Says in one sentence which member that is. An object of this type in a function stops compilation there.
template <class G, graph_member Missing>
struct graph_traits_lack {
  static_assert(has_member<Missing, graph_member::handles>,
                "fuse: graph_traits<G> must define regular types 'node' and 'value'");
  static_assert(has_member<Missing, graph_member::nodes>,
                "fuse: graph_traits<G>::nodes(g) must return a range of nodes");
  static_assert(has_member<Missing, graph_member::op_name>,
                "fuse: graph_traits<G>::op_name(g, node) must return a name convertible to std::string_view");
  static_assert(has_member<Missing, graph_member::operands>,
                "fuse: graph_traits<G>::operands(g, node) must return a range of values");
  static_assert(has_member<Missing, graph_member::results>,
                "fuse: graph_traits<G>::results(g, node) must return a range of values");
  static_assert(has_member<Missing, graph_member::producer>,
                "fuse: graph_traits<G>::producer(g, value) must return a node");
  static_assert(has_member<Missing, graph_member::outputs>,
                "fuse: graph_traits<G>::outputs(g) must return a range of values");
  static_assert(has_member<Missing, graph_member::insert>,
                "fuse: graph_traits<G>::insert(g, place, new_node<value>) must return the new node");
  static_assert(has_member<Missing, graph_member::replace_uses>,
                "fuse: graph_traits<G>::replace_uses(g, from, to) must exist and return void");
  static_assert(has_member<Missing, graph_member::erase>,
                "fuse: graph_traits<G>::erase(g, node) must exist and return void");
  static_assert(has_member<Missing, graph_member::version>, "fuse: graph_traits<G>::version(g) must return an int");
  static_assert(has_member<Missing, graph_member::inputs>,
                "fuse: graph_traits<G>::inputs(g) must return a range of values");
  static_assert(has_member<Missing, graph_member::constant>,
                "fuse: graph_traits<G>::constant(g, value) must return a tensor_view");
  static_assert(has_member<Missing, graph_member::overridable>,
                "fuse: graph_traits<G>::overridable(g, value) must return a bool");
  static_assert(has_member<Missing, graph_member::add_constant>,
                "fuse: graph_traits<G>::add_constant(g, tensor_view, origin) must return the new value");
  static_assert(has_member<Missing, graph_member::type>,
                "fuse: graph_traits<G>::type(g, value) must return an element_type");
  static_assert(has_member<Missing, graph_member::shape>,
                "fuse: graph_traits<G>::shape(g, value, std::vector<dimension>&) must return a bool");
  static_assert(has_member<Missing, graph_member::attribute>,
                "fuse: graph_traits<G>::attribute(g, node, name) must return an attribute_view");
  static_assert(has_member<Missing, graph_member::same_attributes>,
                "fuse: graph_traits<G>::same_attributes(g, node, node) must return a bool");
  static_assert(has_member<Missing, graph_member::name>,
                "fuse: graph_traits<G>::name(g, value) must return a std::string");
  static_assert(has_member<Missing, graph_member::index>,
                "fuse: graph_traits<G>::index(g, value) must return a std::size_t");
  static_assert(has_member<Missing, graph_member::op_key>,
                "fuse: graph_traits<G>::op_key(g, node) must return an integer");
  static_assert(has_member<Missing, graph_member::users>,
                "fuse: graph_traits<G>::users(g, value) must return a range of nodes");
  static_assert(has_member<Missing, graph_member::bodies>,
                "fuse: graph_traits<G>::bodies(g, node) must return a range of bodies, which have nodes(g, body), "
                "inputs and outputs");
  static_assert(has_member<Missing, graph_member::functions>,
                "fuse: graph_traits<G>::functions(g) must return a range of bodies, which have nodes(g, body), inputs, "
                "outputs and calls(g, body), a range of nodes");
  static_assert(has_member<Missing, graph_member::declare>,
                "fuse: graph_traits<G>::declare(g, function_body const&) must return a bool");
};

template <class G>
using require_readable = graph_traits_lack<G, missing_to_read<G>()>;
template <class G>
using require_rewritable = graph_traits_lack<G, missing_to_rewrite<G>()>;

}  // namespace detail
}  // namespace fuse::inline v0
