// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fuse::inline v0::adapters::bgl {

namespace detail {

enum class role {
  operator_name,
  position,
  result_number,
  result_count,
  attributes,
  constant,
  overridable,
  element_type,
  shape,
  name,
  order,
  inputs,
  outputs,
  functions,
  operator_set,
  dialect
};

struct not_given {};

template <role Role, class Read, class Write = not_given>
struct property {
  static constexpr role what = Role;
  Read read;
  Write write{};
};

/// Takes a pointer to a member of a bundled property, a property map, or a function of the descriptor, with a second
/// one that writes.
template <role Role>
struct property_name {
  template <class Read>
  constexpr auto operator()(Read read) const {
    return property<Role, Read>{std::move(read)};
  }
  template <class Read, class Write>
  constexpr auto operator()(Read read, Write write) const {
    return property<Role, Read, Write>{std::move(read), std::move(write)};
  }
};

/// Takes a container that outlives the adapter.
template <role Role>
struct container_name {
  template <class Container>
  constexpr auto operator()(Container& all) const {
    return property<Role, Container*>{&all};
  }
  template <class Container>
  void operator()(Container const&& all) const = delete;
};

template <auto const& Table>
struct table {
  static constexpr auto const& value = Table;
};

/// Where the property of a role stands in the list; its length where nobody gave it.
template <role Role, class... Properties>
constexpr std::size_t place_of() {
  std::size_t at = 0;
  bool const found = ((Properties::what == Role || (++at, false)) || ...);
  return found ? at : sizeof...(Properties);
}
template <role Role, class... Properties>
constexpr std::size_t count_of() {
  return (std::size_t{Properties::what == Role} + ... + std::size_t{0});
}

// Asked before whether something can be called: some of Boost's maps can be.
template <class T>
concept property_map = requires {
  typename boost::property_traits<T>::category;
};

template <class G, class Read, class Descriptor>
decltype(auto) read_property(G& g, Read const& how, Descriptor d) {
  using boost::get;
  if constexpr (std::is_member_object_pointer_v<Read>)
    return (g[d].*how);
  else if constexpr (property_map<Read>)
    return get(how, d);
  else
    return how(d);
}

template <property_map Map>
constexpr bool is_writable_map() {
  using reference = typename boost::property_traits<Map>::reference;
  using category = typename boost::property_traits<Map>::category;
  return std::is_convertible_v<category, boost::writable_property_map_tag> &&
         !(std::is_reference_v<reference> && std::is_const_v<std::remove_reference_t<reference>>);
}

template <class G, class Property>
constexpr bool is_writable() {
  using read = decltype(Property::read);
  if constexpr (!std::is_same_v<decltype(Property::write), not_given>)
    return true;
  else if constexpr (std::is_member_object_pointer_v<read>)
    return !std::is_const_v<G>;
  else if constexpr (property_map<read>)
    return is_writable_map<read>();
  else
    return false;
}

/// Writes `content`, converted to the type that the property has.
template <class G, class Property, class Descriptor, class T>
void write_property(G& g, Property const& p, Descriptor d, T const& content) {
  using boost::put;
  using type = std::remove_cvref_t<decltype(read_property(g, p.read, d))>;
  if constexpr (!std::is_same_v<decltype(p.write), not_given>)
    p.write(d, content);
  else if constexpr (std::is_member_object_pointer_v<decltype(p.read)>)
    g[d].*p.read = static_cast<type>(content);
  else
    put(p.read, d, static_cast<type>(content));
}

void target() = delete;  // hides the type of that name: the graph's own function is meant

/// The vertex that an edge leads to.
template <class G, class Edge>
auto end_of(Edge const& e, G const& g) {
  return target(e, g);
}

template <class T>
concept range = requires(T const& all) {
  all.begin() != all.end();
};

}  // namespace detail

/// What the vertices and edges of a Boost graph mean, by name. Each takes a pointer to a member of the bundled property
/// (`operator_name(&node::op)`), a property map (`operator_name(get(boost::vertex_name, g))`), or a function of the
/// descriptor; a second function writes: `operator_name(read, [&](auto v, std::string_view name) { ... })`.
///
/// Of vertices:
inline constexpr detail::property_name<detail::role::operator_name> operator_name;  ///< text; REQUIRED
/// How many results a vertex has; one without it.
inline constexpr detail::property_name<detail::role::result_count> result_count;
/// A sequence of `fuse::attribute` or the like (members `name`, `content`), or a map from names; or a function of
/// vertex and name that returns an attribute_view, with one of vertex and `span<attribute const>` that writes them all.
inline constexpr detail::property_name<detail::role::attributes> attributes;
/// A tensor, or a pointer to one or an optional one. A vertex that has it and reads nothing is a constant.
inline constexpr detail::property_name<detail::role::constant> constant;
inline constexpr detail::property_name<detail::role::overridable> overridable;  ///< whether a caller may replace it
/// Of the result: a fuse::element_type; of several results: a sequence of them.
inline constexpr detail::property_name<detail::role::element_type> element_type;
/// Of the result: a std::optional (or pointer) of a sequence of extents, empty where not even the rank is known; of
/// several results: a sequence of those. An extent is a number, below 0 where unknown, or has members `extent`,
/// `symbol`.
inline constexpr detail::property_name<detail::role::shape> shape;
inline constexpr detail::property_name<detail::role::name> name;  ///< text, for reports
/// A number that orders vertices; required where the storage has no order of its own (setS), else the storage's.
inline constexpr detail::property_name<detail::role::order> order;

/// Of edges, which lead from the vertex that computes a value to the one that reads it: which operand of the target the
/// edge is, from 0; REQUIRED. A sequence of numbers where one edge stands for several operands, as it must where the
/// storage has no parallel edges. A number that no edge has is an absent operand. An edge with an empty sequence is
/// none of fuse's.
inline constexpr detail::property_name<detail::role::position> position;
/// Which result of its source the edge reads; the only one without it. A sequence where `position` is one.
inline constexpr detail::property_name<detail::role::result_number> result_number;

/// The graph's inputs: a container of vertices. Without it, vertices that read nothing and have neither a constant nor
/// a name of an operator.
inline constexpr detail::container_name<detail::role::inputs> inputs;
/// What the graph returns: a container of vertices, or of pairs of a vertex and the number of a result; kept up to
/// date. Without it, the results of those vertices of which nobody reads any.
inline constexpr detail::container_name<detail::role::outputs> outputs;
/// Where functions go that operators of a rewrite need: a container of `fuse::function_body`.
inline constexpr detail::container_name<detail::role::functions> functions;
/// The version of the operator set, a number; the dialect's newest without it.
inline constexpr detail::property_name<detail::role::operator_set> operator_set;
/// The dialect in which operators are named, `dialect<my_dialect>`; ONNX's without it.
template <auto const& Table>
inline constexpr detail::property<detail::role::dialect, detail::table<Table>> dialect{};

}  // namespace fuse::inline v0::adapters::bgl
