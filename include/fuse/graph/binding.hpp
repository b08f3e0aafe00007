// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/graph/value_numbers.hpp>

namespace fuse::inline v0 {

namespace detail {

template <class G>
[[nodiscard]] int version_of(G const& graph, int newest) {
  if constexpr (has_version<G>)
    return graph_traits<G>::version(graph);
  else
    return newest;
}

/// Handles of functions, and the region of each.
template <class G>
struct bound_functions {
  struct none {};
  static auto handle() {
    if constexpr (has_functions<G>)
      return std::remove_cvref_t<decltype(*std::begin(graph_traits<G>::functions(std::declval<G const&>())))>{};
    else
      return none{};
  }
  struct entry {
    decltype(handle()) function;
    std::uint32_t region;
  };
  std::vector<entry> all;
};

}  // namespace detail

/// An image bound to the graph that it was taken of. `G` may be const for graphs that are only read.
///
/// Building is linear in nodes, values and operands. Nodes need not come in topological order: fuse sorts them where
/// they do not; `cyclic()` tells that it could not.
template <class G>
class graph_binding final : public graph_source {
  using traits = graph_traits<std::remove_const_t<G>>;
  using plain = std::remove_const_t<G>;
  using node_type = node_of<G>;
  using value_type = value_of<G>;

 public:
  graph_image image;

  graph_binding(G& graph, operator_names names, int newest) : graph_(&graph), names_(names), numbers_(graph) {
    image.source = this;
    image.version = detail::version_of<plain>(graph, newest);
    build();
  }

  [[nodiscard]] bool cyclic() const { return cyclic_; }
  [[nodiscard]] node_type const& node(node_id n) const { return nodes_[n]; }
  [[nodiscard]] value_type const& value(value_id v) const { return values_[v]; }
  [[nodiscard]] value_id number(value_type const& v) const { return v == value_type{} ? absent : numbers_.find(v); }

  /// By its results: a node without any has none.
  [[nodiscard]] node_id number_of(node_type const& n) const {
    for (auto const& v : traits::results(*graph_, n))
      if (v != value_type{}) return image.producer(numbers_.find(v));
    return absent;
  }

  [[nodiscard]] tensor_view constant(value_id v) const override {
    if constexpr (detail::has_constant<plain>)
      return traits::constant(*graph_, values_[v]);
    else
      return {};
  }
  [[nodiscard]] attribute_view attribute_of(node_id n, std::string_view name) const override {
    if constexpr (detail::has_attribute<plain>)
      return traits::attribute(*graph_, nodes_[n], name);
    else
      return {};
  }
  [[nodiscard]] bool same_attributes(node_id a, node_id b) const override {
    if constexpr (detail::has_same_attributes<plain>)
      return traits::same_attributes(*graph_, nodes_[a], nodes_[b]);
    else
      return !detail::has_attribute<plain>;
  }
  [[nodiscard]] element_type type(value_id v) const override {
    if constexpr (detail::has_type<plain>)
      return traits::type(*graph_, values_[v]);
    else
      return element_type::unknown;
  }
  [[nodiscard]] bool shape(value_id v, std::vector<dimension>& into) const override {
    if constexpr (detail::has_shape<plain>)
      return traits::shape(*graph_, values_[v], into);
    else
      return false;
  }
  [[nodiscard]] bool has_shapes() const override { return detail::has_shape<plain>; }
  [[nodiscard]] std::string_view op_name(node_id n) const override { return traits::op_name(*graph_, nodes_[n]); }
  [[nodiscard]] std::string node_name(node_id n) const override {
    if constexpr (detail::has_node_name<plain>)
      return std::string(traits::name(*graph_, nodes_[n]));
    else
      return "node " + std::to_string(n);
  }
  [[nodiscard]] std::string value_name(value_id v) const override {
    if constexpr (detail::has_value_name<plain>)
      return std::string(traits::name(*graph_, values_[v]));
    else
      return "value " + std::to_string(v);
  }
  [[nodiscard]] void const* graph() const override { return graph_; }
  [[nodiscard]] void const* graph_type() const override { return graph_type_of<plain>(); }
  [[nodiscard]] void const* handle(value_id v) const override { return v < values_.size() ? &values_[v] : nullptr; }

  bool insert(node_id place, std::string_view op, span<value_id const> operands, span<attribute const> attributes,
              span<element_type const> results, std::string_view origin) override {
    if constexpr (rewritable_graph<G>) {
      operands_.clear();
      for (auto v : operands) operands_.push_back(v == absent ? value_type{} : values_[v]);
      auto const made = traits::insert(*graph_, nodes_[place], {op, operands_, attributes, results, origin});
      if (made == node_type{}) return false;
      nodes_.push_back(made);
      auto const bound = values_.size();
      for (auto const& v : traits::results(*graph_, made)) bind(v);
      return values_.size() - bound == results.size();
    } else {
      return false;
    }
  }
  bool add_constant(std::uint32_t region, tensor_view contents, std::string_view origin) override {
    value_type made{};
    if constexpr (rewritable_graph<G> && detail::has_add_constant<G>)
      if (region == 0) made = traits::add_constant(*graph_, contents, origin);
    if constexpr (rewritable_graph<G> && detail::has_functions<plain> && detail::has_add_constant_inside<G>)
      for (auto const& f : functions_.all)
        if (f.region == region) made = traits::add_constant(*graph_, f.function, contents, origin);
    if (made == value_type{}) return false;
    bind(made);
    return true;
  }
  void replace_uses(value_id from, value_id to) override {
    if constexpr (rewritable_graph<G>) traits::replace_uses(*graph_, values_[from], values_[to]);
  }
  void erase(node_id n) override {
    if constexpr (rewritable_graph<G>) traits::erase(*graph_, nodes_[n]);
  }
  void forget(node_id first, value_id first_value) override {
    if constexpr (rewritable_graph<G>) {
      for (auto v = static_cast<value_id>(values_.size()); v-- > first_value;) numbers_.set(values_[v], absent);
      for (auto n = static_cast<node_id>(nodes_.size()); n-- > first;) erase(n);
      nodes_.erase(nodes_.begin() + first, nodes_.end());
      values_.erase(values_.begin() + first_value, values_.end());
    }
  }
  bool declare(function_body const& body) override {
    if constexpr (rewritable_graph<G> && detail::has_declare<G>)
      return traits::declare(*graph_, body);
    else
      return false;
  }

 private:
  struct known_tag {
    operator_names::found name;
    bool known = false;
  };
  struct listed {
    node_type node;
    std::uint32_t region;
    bool owner;
  };

  void bind(value_type const& v) {
    numbers_.set(v, static_cast<value_id>(values_.size()));
    values_.push_back(v);
  }

  operator_names::found tag_of(node_type const& n) {
    if constexpr (detail::has_op_key<plain>) {
      auto const key = static_cast<std::size_t>(traits::op_key(*graph_, n));
      if (key >= tags_.size()) tags_.resize(key + 1);
      if (!tags_[key].known)
        tags_[key] = {names_.find(names_.context, traits::op_name(*graph_, n), image.version), true};
      return tags_[key].name;
    } else {
      return names_.find(names_.context, traits::op_name(*graph_, n), image.version);
    }
  }

  void build() {
    auto&& nodes = traits::nodes(*graph_);
    reserve(length_of(nodes));
    list_nodes(nodes, [&](node_type const& n, std::uint32_t region, bool owner) { add_node(n, region, owner); });
    number_inputs();
    if (attach()) return;
    std::vector<listed> order;
    sort(order);
    if (cyclic_) return;
    image = graph_image{};  // once more, in an order in which operands come first
    image.source = this;
    image.version = detail::version_of<plain>(*graph_, image.version);
    nodes_.clear();
    values_.clear();
    numbers_ = detail::value_numbers<plain>(*graph_);
    body_inputs_.clear();
    body_outputs_.clear();
    body_owners_.clear();
    functions_.all.clear();
    reserve(order.size());
    list_nodes(traits::nodes(*graph_), [](node_type const&, std::uint32_t, bool) {});  // regions anew
    for (auto const& [n, region, owner] : order) add_node(n, region, owner);
    number_inputs();
    attach();
  }

  template <class Nodes>
  std::size_t length_of(Nodes const& nodes) const {
    if constexpr (requires { nodes.size(); }) {
      return static_cast<std::size_t>(nodes.size());
    } else {
      std::size_t length = 0;
      for ([[maybe_unused]] auto const& n : traits::nodes(*graph_)) ++length;  // `nodes` may last for one pass
      return length;
    }
  }

  // Models have at most 1.6 values and 2.1 operands a node. Memory that is never needed costs time where pages are
  // large.
  void reserve(std::size_t nodes) {
    auto const values = nodes + nodes * 5 / 8;
    image.reserve(nodes + nodes / 8, values, nodes * 2 + nodes / 8);
    nodes_.reserve(nodes + nodes / 8);
    values_.reserve(values);
    numbers_.reserve(values);
  }

  // Calls `add(node, region, whether it has bodies)` for the nodes of the graph, of functions, and of all bodies: those
  // of a body right before their owner.
  template <class Nodes, class Add>
  void list_nodes(Nodes&& nodes, Add const& add) {
    list_nodes(nodes, 0, add);
    if constexpr (detail::has_functions<plain>)
      for (auto const& f : traits::functions(*graph_)) {
        auto const region = open_region(f, absent);
        functions_.all.push_back({f, region});
        list_nodes(traits::nodes(*graph_, f), region, add);
      }
  }
  template <class Nodes, class Add>
  void list_nodes(Nodes&& nodes, std::uint32_t region, Add const& add) {
    if constexpr (detail::has_bodies<plain>) {
      for (auto const& n : nodes) {
        if (has_body(n))
          list_with_bodies(n, region, add);
        else
          add(n, region, false);  // most nodes
      }
    } else {
      for (auto const& n : nodes) add(n, region, false);
    }
  }

  template <class Body>
  std::uint32_t open_region(Body const& body, std::uint32_t parent) {
    auto const region = image.add_region(absent, parent);
    for (auto const& v : traits::inputs(*graph_, body)) body_inputs_.push_back({value_type(v), region});
    for (auto const& v : traits::outputs(*graph_, body)) body_outputs_.push_back({value_type(v), region});
    return region;
  }

  // A stack of our own: bodies nest as deep as they like.
  template <class Add>
  void list_with_bodies(node_type const& owner, std::uint32_t around, Add const& add) {
    if constexpr (detail::has_bodies<plain>) {
      using bodies_range = decltype(traits::bodies(*graph_, std::declval<node_type>()));
      using body_type = std::remove_cvref_t<decltype(*std::begin(std::declval<bodies_range&>()))>;
      struct frame {
        std::vector<node_type> nodes;
        std::size_t at = 0;
        std::uint32_t region = 0;
        std::vector<body_type> bodies{};
        std::size_t body = 0;
        bool open = false;
      };
      std::vector<frame> stack;
      stack.push_back({{owner}, 0, around, {}, 0, false});
      while (!stack.empty()) {
        auto& top = stack.back();
        for (; !top.open && top.at != top.nodes.size() && !has_body(top.nodes[top.at]); ++top.at)
          add(top.nodes[top.at], top.region, false);
        if (top.at == top.nodes.size()) {
          stack.pop_back();
          continue;
        }
        if (!top.open) {
          top.open = true;
          top.body = 0;
          top.bodies.clear();
          for (auto const& b : traits::bodies(*graph_, top.nodes[top.at])) top.bodies.push_back(b);
        }
        if (top.body < top.bodies.size()) {
          auto const body = top.bodies[top.body++];
          auto const region = open_region(body, top.region);
          body_owners_.push_back({top.nodes[top.at], region});
          stack.push_back({handles(traits::nodes(*graph_, body)), 0, region, {}, 0, false});
          continue;
        }
        add(top.nodes[top.at], top.region, !top.bodies.empty());
        ++top.at;
        top.open = false;
      }
    }
  }

  [[nodiscard]] bool has_body(node_type const& n) const {
    auto&& bodies = traits::bodies(*graph_, n);
    return std::begin(bodies) != std::end(bodies);
  }

  template <class Range>
  static std::vector<node_type> handles(Range&& range) {
    std::vector<node_type> all;
    for (auto const& n : range) all.push_back(n);
    return all;
  }

  // The number of a value, a new one where it has none yet: then nothing produces it.
  value_id add_leaf(value_type const& v, std::uint32_t region) {
    if (v == value_type{}) return absent;
    if (auto const known = numbers_.find(v); known != absent) return known;
    auto const id = image.add_value(region);
    bind(v);
    if constexpr (detail::has_constant<plain>) {
      bool fixed = static_cast<bool>(tensor_view(traits::constant(*graph_, v)));
      if constexpr (detail::has_overridable<plain>) fixed = fixed && !traits::overridable(*graph_, v);
      image.set_constant(id, fixed);
    }
    return id;
  }

  void add_node(node_type const& n, std::uint32_t region, bool owner) {
    std::uint32_t results = 0, named = 0;
    for (auto const& v : traits::results(*graph_, n)) {
      if (!(v == value_type{})) {
        numbers_.set(v, static_cast<value_id>(values_.size()));
        ++named;
      }
      values_.push_back(v);  // an unused optional result keeps its place
      ++results;
    }
    auto [tag, by_node] = tag_of(n);
    nodes_.push_back(n);
    if (by_node) tag = names_.settle(names_.context, tag, image.version, *this, image.node_count(), named);
    auto const id = image.add_node(tag, results, region);
    image.place_last(id);
    if (owner) image.set_has_bodies(id);
  }

  void number_inputs() {
    if constexpr (detail::has_inputs<plain>)
      for (auto const& v : traits::inputs(*graph_)) add_leaf(v, 0);
    for (auto const& [v, region] : body_inputs_) add_leaf(v, region);
  }

  // Returns whether every operand came before its user.
  bool attach() {
    bool sorted = true;
    for (node_id id = 0; id < image.node_count(); ++id) {
      auto const scope = image.scope_of(image.node(id).region);
      for (auto const& v : traits::operands(*graph_, nodes_[id])) {
        auto const number = add_leaf(v, scope);
        image.attach_operand(id, number);
        if (number == absent) continue;
        auto const from = image.producer(number);
        sorted = sorted && (from == absent || from < id);
      }
      if constexpr (detail::has_constant<plain>)  // a node may be a constant, too
        if (image.operand_count(id) == 0 && image.node(id).result_count == 1)
          image.set_constant(image.result(id),
                             static_cast<bool>(tensor_view(traits::constant(*graph_, values_[image.result(id)]))));
    }
    for (auto const& v : traits::outputs(*graph_)) add_output(v, 0);
    for (auto const& [v, region] : body_outputs_) add_output(v, region);
    for (auto const& [n, region] : body_owners_)
      if (auto const owner = number_of(n); owner != absent) image.set_region_owner(region, owner);
    if (sorted) add_functions();
    return sorted;
  }

  void add_functions() {
    if constexpr (detail::has_functions<plain>) {
      if (functions_.all.empty()) return;
      detail::plain_vector<node_id> first(image.regions().size(), image.node_count());
      for (auto n = image.node_count(); n-- > 0;) first[image.scope_of(image.node(n).region)] = n;
      for (auto const& f : functions_.all) {
        graph_image::function_record made;
        made.region = f.region;
        made.first_node = first[f.region];
        for (auto const& v : traits::inputs(*graph_, f.function)) made.inputs.push_back(numbers_.find(v));
        for (auto const& n : traits::calls(*graph_, f.function)) made.calls.push_back(number_of(n));
        for (auto const call : made.calls)
          if (call == absent) {
            made.calls.clear();
            break;
          }
        image.add_function(std::move(made));
      }
    }
  }

  void add_output(value_type const& v, std::uint32_t region) {
    if (v == value_type{}) {
      if (region != 0) image.add_region_output(region, absent);
      return;
    }
    auto const number = add_leaf(v, region);
    if (region == 0)
      image.add_output(number);
    else
      image.add_region_output(region, number);
  }

  // Kahn's algorithm, ties by the order in which the graph lists its nodes. Linear. The graph's own nodes stay before
  // those of functions, and these stay in their order: no operand leads from one to another.
  void sort(std::vector<listed>& sorted) {
    detail::plain_vector<std::uint32_t> missing(image.node_count(), 0);
    detail::plain_vector<node_id> ready;
    for (node_id n = 0; n < image.node_count(); ++n) {
      for (std::uint32_t i = 0; i < image.operand_count(n); ++i)
        if (auto const v = image.operand(n, i); v != absent && image.producer(v) != absent) ++missing[n];
      if (missing[n] == 0) ready.push_back(n);
    }
    sorted.reserve(image.node_count());
    for (std::size_t at = 0; at < ready.size(); ++at) {
      auto const n = ready[at];
      sorted.push_back({nodes_[n], image.node(n).region, image.node(n).has_bodies});
      for (std::uint32_t i = 0; i < image.node(n).result_count; ++i)
        image.for_each_user(image.result(n, i), [&](node_id user) {
          if (--missing[user] == 0) ready.push_back(user);
        });
    }
    cyclic_ = sorted.size() != image.node_count();
    if (functions_.all.empty()) return;
    std::vector<std::vector<listed>> by_scope(image.regions().size());
    for (auto const& each : sorted) by_scope[image.scope_of(each.region)].push_back(each);
    sorted.clear();
    for (auto const& scope : by_scope)
      for (auto const& each : scope) sorted.push_back(each);
  }

  G* graph_;
  operator_names names_;
  detail::value_numbers<plain> numbers_;
  std::vector<node_type> nodes_;
  std::vector<value_type> values_;
  std::vector<value_type> operands_;      // of a new node
  detail::plain_vector<known_tag> tags_;  // by the graph's key of an operator
  std::vector<std::pair<value_type, std::uint32_t>> body_inputs_, body_outputs_;
  std::vector<std::pair<node_type, std::uint32_t>> body_owners_;
  detail::bound_functions<plain> functions_;
  bool cyclic_ = false;
};

}  // namespace fuse::inline v0
