// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/adapters/boost_graph/content.hpp>
#include <fuse/adapters/boost_graph/graph.hpp>
#include <fuse/adapters/boost_graph/write_back.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/traits.hpp>
#include <fuse/ops/onnx.hpp>

namespace fuse::inline v0 {

template <class G, class... Properties>
struct graph_traits<adapters::bgl::graph<G, Properties...>> {
 private:
  using graph = adapters::bgl::graph<G, Properties...>;
  using role = adapters::bgl::detail::role;
  template <role Role>
  static constexpr bool has = graph::template has<Role>;
  template <role Role>
  static constexpr bool writes = graph::template writes<Role>();
  template <role Role>
  using read_type = std::remove_cvref_t<decltype(std::declval<graph const&>().template get<Role>(
      std::declval<typename graph::vertex_descriptor>()))>;

  // A function of the user's own writes them, or the property itself owns what it holds; a view would dangle.
  static constexpr bool keeps_constants() {
    if constexpr (writes<role::constant>) {
      using property = typename graph::template property_of<role::constant>;
      return !std::is_same_v<decltype(property::write), adapters::bgl::detail::not_given> ||
             (std::is_constructible_v<read_type<role::constant>, tensor> &&
              !std::is_same_v<read_type<role::constant>, tensor_view>);
    } else {
      return false;
    }
  }

  static constexpr auto const& dialect_table() {
    if constexpr (has<role::dialect>)
      return decltype(graph::template property_of<role::dialect>::read)::value;
    else
      return onnx;
  }

 public:
  using node = typename graph::node;
  using value = typename graph::value;
  static constexpr auto& dialect = dialect_table();

  static auto nodes(graph const& g) { return g.structure_.nodes(); }
  static std::string_view op_name(graph const& g, node n) { return g.structure_.op(n); }
  static std::uint32_t op_key(graph const& g, node n) { return g.structure_.op_key(n); }
  static auto operands(graph const& g, node n) { return g.structure_.operands(n); }
  static auto results(graph const& g, node n) { return g.structure_.results(n); }
  static node producer(graph const& g, value v) { return g.structure_.producer(v); }
  static auto users(graph const& g, value v) { return g.structure_.users(v); }
  static span<value const> inputs(graph const& g) { return g.inputs_; }
  static auto outputs(graph const& g) { return g.structure_.outputs(); }
  static std::size_t index(graph const&, value v) { return v.id; }
  static int version(graph const& g) requires(has<role::operator_set>) { return g.structure_.version(); }

  static tensor_view constant(graph const& g, value v) requires(has<role::constant>) { return g.constant_of(v); }
  static bool overridable(graph const& g, value v) requires(has<role::overridable>) {
    return g.is_overridable(g.vertex(v));
  }
  static element_type type(graph const& g, value v) requires(has<role::element_type>) {
    if (auto const contents = g.constant_of(v)) return contents.type;
    return adapters::bgl::detail::of_result(g.template get<role::element_type>(g.vertex(v)), g.result(v),
                                            [](auto const& one) { return static_cast<element_type>(one); });
  }
  static bool shape(graph const& g, value v, std::vector<dimension>& into) requires(has<role::shape>) {
    into.clear();
    if (auto const contents = g.constant_of(v)) {
      for (auto const extent : contents.shape) into.push_back({extent, {}});
      return true;
    }
    return adapters::bgl::detail::of_result(
        g.template get<role::shape>(g.vertex(v)), g.result(v),
        [&](auto const& one) { return adapters::bgl::detail::read_shape(one, into); });
  }
  static attribute_view attribute(graph const& g, node n, std::string_view name) requires(has<role::attributes>) {
    if constexpr (reads_by_name)
      return std::get<graph::template place<role::attributes>>(g.properties_).read(g.vertex(n), name);
    else
      return adapters::bgl::detail::find_attribute(g.template get<role::attributes>(g.vertex(n)), name);
  }
  static bool same_attributes(graph const& g, node a, node b) {
    if constexpr (!has<role::attributes>)
      return true;
    else if constexpr (reads_by_name)
      return false;
    else
      return adapters::bgl::detail::same_attributes(g.template get<role::attributes>(g.vertex(a)),
                                                    g.template get<role::attributes>(g.vertex(b)));
  }
  static std::string name(graph const& g, value v) {
    auto text = name_of(g, g.record_of_value_[v.id]);
    if (g.result(v) != 0) text += ':' + std::to_string(g.result(v));
    return text;
  }
  static std::string name(graph const& g, node n) { return name_of(g, g.record_of_node_[n.id]); }

  static node insert(graph& g, node place, new_node<value> const& made) requires(graph::is_rewritable) {
    auto attributes = attributes_of(made);
    if (!attributes) return {};
    auto const v = add(g);
    auto const results = static_cast<std::uint32_t>(made.result_types.size());
    g.template put<role::operator_name>(v, made.op);
    if constexpr (has<role::result_count>) g.template put<role::result_count>(v, results);
    if constexpr (reads_by_name)
      std::get<graph::template place<role::attributes>>(g.properties_).write(v, *attributes);
    else
      g.template put<role::attributes>(v, *std::move(attributes));
    if constexpr (writes<role::element_type>) put_types(g, v, made.result_types);
    if constexpr (writes<role::name>) g.template put<role::name>(v, made.origin);
    if constexpr (writes<role::order>)
      g.template put<role::order>(v, read_type<role::order>(g.template get<role::order>(g.vertex(place))));
    auto& r = g.records_.back();
    r.node = g.structure_.insert_before(place, made.op, made.operands, {}, results);
    r.results = results;
    r.first = {g.structure_.results(r.node).first};
    r.edges_differ = true;
    g.enter(static_cast<std::uint32_t>(g.records_.size() - 1));
    return r.node;
  }
  static value add_constant(graph& g, tensor_view contents,
                            std::string_view origin) requires(graph::is_rewritable&& keeps_constants()) {
    auto const v = add(g);
    g.template put<role::constant>(v, tensor{contents.type,
                                             {contents.shape.begin(), contents.shape.end()},
                                             {contents.bytes.begin(), contents.bytes.end()}});
    if constexpr (writes<role::name>) g.template put<role::name>(v, origin);
    auto& r = g.records_.back();
    r.first = g.structure_.input({});
    g.enter(static_cast<std::uint32_t>(g.records_.size() - 1));
    return r.first;
  }
  static void replace_uses(graph& g, value from, value to) requires(graph::is_rewritable) {
    if constexpr (writes<role::shape>) copy_shape(g, from, to);
    for (auto const user : g.structure_.users(from)) g.records_[g.record_of_node_[user.id]].edges_differ = true;
    g.structure_.replace_uses(from, to);
    g.changed_ = true;
  }
  static void erase(graph& g, node n) requires(graph::is_rewritable) {
    g.structure_.erase(n);
    g.records_[g.record_of_node_[n.id]].dead = true;
    g.changed_ = true;
  }
  static bool declare(graph& g, function_body const& function) requires(has<role::functions>) {
    auto& known = *std::get<graph::template place<role::functions>>(g.properties_).read;
    for (auto const& one : known)
      if (one.name == function.name) return one == function;
    known.push_back(function);
    return true;
  }

 private:
  static constexpr bool reads_by_name = [] {
    if constexpr (has<role::attributes>)
      return std::is_invocable_v<decltype(graph::template property_of<role::attributes>::read) const&,
                                 typename graph::vertex_descriptor, std::string_view>;
    else
      return false;
  }();

  // What a function of the user's own writes is the user's; a property's type may lack what an attribute holds.
  static auto attributes_of(new_node<value> const& made) {
    if constexpr (reads_by_name)
      return std::optional(made.attributes);
    else
      return adapters::bgl::detail::made_of<read_type<role::attributes>>(made.attributes);
  }
  static std::string name_of(graph const& g, std::uint32_t record) {
    auto const& r = g.records_[record];
    if constexpr (has<role::name>)
      if (std::string given(g.template get<role::name>(r.vertex)); !given.empty()) return given;
    return (r.node ? std::string(g.structure_.op(r.node)) + ' ' : std::string("vertex ")) + std::to_string(record);
  }

  static typename graph::vertex_descriptor add(graph& g) {
    auto const v = add_vertex(*g.graph_);
    g.numbers_.set(v, static_cast<std::uint32_t>(g.records_.size()));
    g.records_.push_back({v});
    g.changed_ = true;
    return v;
  }

  static void put_types(graph& g, typename graph::vertex_descriptor v, span<element_type const> types) {
    using type = read_type<role::element_type>;
    if constexpr (adapters::bgl::detail::range<type>) {
      type made;
      for (auto const t : types) made.insert(made.end(), static_cast<typename type::value_type>(t));
      g.template put<role::element_type>(v, made);
    } else if (types.size() != 0) {
      g.template put<role::element_type>(v, types[0]);
    }
  }

  // fuse has proved that they agree.
  static void copy_shape(graph& g, value from, value to) {
    std::vector<dimension> known;
    if (shape(g, to, known) || !shape(g, from, known)) return;
    using type = read_type<role::shape>;
    if constexpr (adapters::bgl::detail::range<type>) {
      auto all = type(g.template get<role::shape>(g.vertex(to)));
      if (all.size() <= g.result(to)) all.resize(g.result(to) + 1);
      auto const& given = g.template get<role::shape>(g.vertex(from));
      if (g.result(from) < given.size()) all[g.result(to)] = given[g.result(from)];
      g.template put<role::shape>(g.vertex(to), all);
    } else if (g.result(to) == 0) {
      g.template put<role::shape>(g.vertex(to), type(g.template get<role::shape>(g.vertex(from))));
    }
  }
};

}  // namespace fuse::inline v0
