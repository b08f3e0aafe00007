// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/graph_parts.hpp>
#include <fuse/graph/name_table.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0 {

/// A graph that fuse owns, for tests and for users without one. Nodes have any number of results; bodies of control
/// flow are part of it and may read values from around them.
///
///     fuse::graph g;
///     auto x = g.input("x", element_type::float32, {2, "seq", 8});
///     auto mean = g.add("ReduceMean", {x}, {{"axes", {-1}}, {"keepdims", 1}});
///     g.output(g.add("Sub", {x, mean}), "y");
///
/// Handles are small numbers that stay valid until what they name is erased, and are never used again. Everything lies
/// in flat arrays: adding, inserting, erasing cost constant time per operand, redirecting constant time per use.
/// Operators and attributes are not checked: a graph may hold any. Copying copies everything; handles of the original
/// fit the copy. Violated requirements are asserted; nothing throws but the allocator.
///
/// `graph` is all there is to it: the template makes a file compile only what it uses.
template <class Named>
class basic_graph : public graph_parts {
 public:
  using named = Named;
  static constexpr body main_body{};

  /// `version`: the operator set version, in which names and attributes are meant.
  explicit basic_graph(int version = 17) : version_(version) {}

  // Building. Everything is appended to the current body, the graph itself unless `append_to` says another.

  /// An input of the current body. Without `shape` not even the rank is known.
  value input(std::string_view name, element_type type = element_type::unknown) {
    auto const v = new_value(type);
    values_[v.id].name = names_.number(name);
    bodies_[at_].inputs.push_back(v);
    return v;
  }
  value input(std::string_view name, element_type type, dims const& shape) {
    auto const v = input(name, type);
    annotate(v, type, shape);
    return v;
  }
  /// An input that holds `contents` unless the caller passes something else.
  value input(std::string_view name, tensor contents) {
    auto const v = input(name, contents.type);
    set_contents(v, std::move(contents));
    values_[v.id].overridable = true;
    return v;
  }

  value constant(tensor contents, std::string_view name = {}) {
    auto const v = new_value(contents.type);
    values_[v.id].name = names_.number(name);
    set_contents(v, std::move(contents));
    return v;
  }
  /// A constant of rank 1: `g.constant({1.f, 2.f})`, `g.constant({-1})`; an `int` becomes an int64 element.
  template <class T>
  value constant(std::initializer_list<T> elements, std::string_view name = {}) {
    return constant(list(elements, {static_cast<std::int64_t>(elements.size())}), name);
  }
  /// A constant of rank 0.
  template <class T>
  value scalar(T element, std::string_view name = {}) {
    return constant(list(std::initializer_list<T>{element}, {}), name);
  }

  /// Appends a node with one result and returns that. `value{}` among the operands is an absent optional operand.
  value add(std::string_view op, span<value const> operands, std::vector<named> attributes = {}) {
    return result(append(op, operands, std::move(attributes)));
  }
  value add(std::string_view op, std::initializer_list<value> operands, std::vector<named> attributes = {}) {
    return result(append(op, operands, std::move(attributes)));
  }
  /// Appends a node with `results` results, which `result(node, i)` names.
  node append(std::string_view op, span<value const> operands, std::vector<named> attributes = {},
              std::uint32_t results = 1) {
    return link(new_node(op, operands, results, std::move(attributes)), at_, none);
  }
  node append(std::string_view op, std::initializer_list<value> operands, std::vector<named> attributes = {},
              std::uint32_t results = 1) {
    return append(op, span(operands.begin(), operands.size()), std::move(attributes), results);
  }

  /// Makes `v` the next output of the current body, under `name`. A value may be an output several times.
  void output(value v, std::string_view name = {}) {
    auto const slot = new_slot(v, none);
    bodies_[at_].outputs.push_back({slot, names_.number(name)});
  }

  /// A new, empty body of `owner`: a branch, a loop's body. Fill it after `append_to`.
  body add_body(node owner, std::string_view name) {
    auto const made = static_cast<std::uint32_t>(bodies_.size());
    bodies_.push_back({});
    bodies_[made].owner = owner.id;
    bodies_[made].name = names_.number(name);
    auto* last = &nodes_[owner.id].first_body;
    while (*last != none) last = &bodies_[*last].next;
    *last = made;
    return {made};
  }
  void append_to(body b) { at_ = b.id; }

  void annotate(value v, element_type type) { values_[v.id].type = type; }
  void annotate(value v, element_type type, dims const& shape) {
    annotate(v, type);
    values_[v.id].shape = static_cast<std::uint32_t>(shapes_.size());
    auto& extents = shapes_.emplace_back();
    for (auto const& d : shape) extents.push_back({d.extent, names_.number(d.symbol)});
  }
  void rename(node n, std::string_view name) { nodes_[n.id].name = names_.number(name); }
  void rename(value v, std::string_view name) { values_[v.id].name = names_.number(name); }
  void set(node n, named a) {
    auto& record = nodes_[n.id];
    for (auto i = record.first_attribute; i < record.first_attribute + record.attribute_count; ++i)
      if (attributes_[i].name == a.name) {
        attributes_[i] = std::move(a);
        return;
      }
    if (record.first_attribute + record.attribute_count !=
        attributes_.size()) {  // move them to the end, where there is room
      auto const first = static_cast<std::uint32_t>(attributes_.size());
      for (std::uint32_t i = 0; i < record.attribute_count; ++i)
        attributes_.push_back(attributes_[record.first_attribute + i]);
      record.first_attribute = first;
    }
    attributes_.push_back(std::move(a));
    ++record.attribute_count;
  }
  void set_operand(node n, std::size_t i, value v) {
    auto const slot = nodes_[n.id].first_operand + static_cast<std::uint32_t>(i);
    assert(i < nodes_[n.id].operand_count);
    unlink_use(slot);
    operands_[slot] = v;
    link_use(slot);
  }

  // Editing.

  /// Inserts a node right before `place`, in its body.
  node insert_before(node place, std::string_view op, span<value const> operands, std::vector<named> attributes = {},
                     std::uint32_t results = 1) {
    assert(alive(place));
    return link(new_node(op, operands, results, std::move(attributes)), nodes_[place.id].body, place.id);
  }
  /// Makes all uses of `from`, outputs included, uses of `to`. Outputs keep their names.
  void replace_uses(value from, value to) {
    if (from == to) return;
    while (values_[from.id].first_use != none) {
      auto const slot = values_[from.id].first_use;
      unlink_use(slot);
      operands_[slot] = to;
      link_use(slot);
    }
  }
  /// Removes a node, with its bodies. Nothing else may use its results.
  void erase(node n) {
    detail::plain_vector<std::uint32_t> dying(1, n.id);
    for (std::size_t i = 0; i < dying.size(); ++i)  // bodies may nest deeply
      for (auto b = nodes_[dying[i]].first_body; b != none; b = bodies_[b].next) {
        for (auto const& out : bodies_[b].outputs) unlink_use(out.slot);
        for (auto inner = bodies_[b].first; inner != none; inner = nodes_[inner].next) dying.push_back(inner);
      }
    for (auto const id : dying) release_operands(id);
    for (auto const id : dying) {
      for ([[maybe_unused]] auto v : results({id})) assert(use_count(v) == 0 && "an erased node must not be used");
      nodes_[id].dead = true;
    }
    auto const previous = nodes_[n.id].previous, next = nodes_[n.id].next, in = nodes_[n.id].body;
    (previous == none ? bodies_[in].first : nodes_[previous].next) = next;
    (next == none ? bodies_[in].last : nodes_[next].previous) = previous;
    node_count_ -= dying.size();
  }
  /// Has a function that nodes may call by its name; false where another one has that name.
  bool declare(function_body const& function) {
    for (auto const& known : functions_)
      if (known.name == function.name) return known == function;
    functions_.push_back(function);
    return true;
  }

  // Reading. Ranges are valid until the graph changes.

  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] std::size_t node_count() const { return node_count_; }  ///< bodies' nodes included
  [[nodiscard]] std::string_view op(node n) const { return names_.name(nodes_[n.id].op); }
  [[nodiscard]] std::uint32_t op_key(node n) const { return nodes_[n.id].op; }
  [[nodiscard]] std::string_view name(node n) const { return names_.name(nodes_[n.id].name); }
  [[nodiscard]] std::string_view name(value v) const { return names_.name(values_[v.id].name); }
  /// What a report calls `v`: its name, that of the output it is, or its number.
  [[nodiscard]] std::string report_name(value v) const {
    if (!name(v).empty()) return std::string(name(v));
    for (auto use = values_[v.id].first_use; use != none; use = uses_[use].next) {
      if (uses_[use].node != none) continue;
      for (auto const& b : bodies_)
        for (auto const& out : b.outputs)
          if (out.slot == use && out.name != 0) return std::string(names_.name(out.name));
    }
    return '%' + std::to_string(v.id);
  }
  [[nodiscard]] bool alive(node n) const { return n.id < nodes_.size() && !nodes_[n.id].dead; }
  [[nodiscard]] span<value const> operands(node n) const {
    return {operands_.data() + nodes_[n.id].first_operand, nodes_[n.id].operand_count};
  }
  [[nodiscard]] value result(node n, std::uint32_t i = 0) const {
    assert(i < nodes_[n.id].result_count);
    return {nodes_[n.id].first_result + i};
  }
  [[nodiscard]] value_range results(node n) const { return {nodes_[n.id].first_result, nodes_[n.id].result_count}; }
  [[nodiscard]] node producer(value v) const { return {values_[v.id].producer}; }
  [[nodiscard]] span<named const> attributes(node n) const {
    return {attributes_.data() + nodes_[n.id].first_attribute, nodes_[n.id].attribute_count};
  }
  [[nodiscard]] named const* attribute(node n, std::string_view name) const {
    for (auto const& a : attributes(n))
      if (a.name == name) return &a;
    return nullptr;
  }
  /// The nodes of a body in their order.
  [[nodiscard]] auto nodes(body b = main_body) const { return node_range{this, bodies_[b.id].first}; }
  /// One node for each use of `v` as an operand, the latest first.
  [[nodiscard]] std::vector<node> users(value v) const {
    std::vector<node> all;
    for (auto slot = values_[v.id].first_use; slot != none; slot = uses_[slot].next)
      if (uses_[slot].node != none) all.push_back({uses_[slot].node});
    return all;
  }
  /// Uses as an operand and as an output.
  [[nodiscard]] std::size_t use_count(value v) const {
    std::size_t count = 0;
    for (auto slot = values_[v.id].first_use; slot != none; slot = uses_[slot].next) ++count;
    return count;
  }
  [[nodiscard]] span<value const> inputs(body b = main_body) const { return bodies_[b.id].inputs; }
  [[nodiscard]] std::vector<value> outputs(body b = main_body) const {
    std::vector<value> all;
    for (auto const& out : bodies_[b.id].outputs) all.push_back(operands_[out.slot]);
    return all;
  }
  [[nodiscard]] std::string_view output_name(std::size_t i, body b = main_body) const {
    return names_.name(bodies_[b.id].outputs[i].name);
  }
  [[nodiscard]] std::vector<body> bodies(node n) const {
    std::vector<body> all;
    for (auto b = nodes_[n.id].first_body; b != none; b = bodies_[b].next) all.push_back({b});
    return all;
  }
  [[nodiscard]] std::string_view name(body b) const { return names_.name(bodies_[b.id].name); }
  [[nodiscard]] tensor_view constant(value v) const {
    auto const at = values_[v.id].contents;
    return at == none ? tensor_view{} : tensor_view(tensors_[at]);
  }
  [[nodiscard]] bool overridable(value v) const { return values_[v.id].overridable; }
  [[nodiscard]] element_type type(value v) const { return values_[v.id].type; }
  /// The annotated shape of `v`, or a constant's; false when there is none.
  bool shape(value v, std::vector<dimension>& into) const {
    into.clear();
    auto const& record = values_[v.id];
    if (record.shape != none) {
      for (auto const [known, symbol] : shapes_[record.shape]) into.push_back({known, names_.name(symbol)});
      return true;
    }
    if (record.contents == none) return false;
    for (auto const known : tensors_[record.contents].shape) into.push_back({known, {}});
    return true;
  }
  [[nodiscard]] span<function_body const> functions() const { return functions_; }

 private:
  struct node_record {
    std::uint32_t op = 0, name = 0;
    std::uint32_t first_operand = 0, first_result = 0, first_attribute = 0;
    std::uint32_t operand_count = 0, result_count = 0, attribute_count = 0;
    std::uint32_t body = 0, previous = none, next = none, first_body = none;
    bool dead = false;
  };
  struct value_record {
    std::uint32_t producer = none, first_use = none, name = 0, shape = none, contents = none;
    element_type type = element_type::unknown;
    bool overridable = false;
  };
  struct use_record {
    std::uint32_t node = none;  ///< none: an output
    std::uint32_t next = none, previous = none;
  };
  struct output_record {
    std::uint32_t slot, name;
  };
  struct body_record {
    std::uint32_t owner = none, name = 0, first = none, last = none, next = none;
    std::vector<value> inputs{};
    detail::plain_vector<output_record> outputs{};
  };
  struct extent_record {
    std::int64_t known;
    std::uint32_t symbol;
  };

  struct node_range {
    struct iterator {
      basic_graph const* in;
      std::uint32_t id;
      node operator*() const { return {id}; }
      iterator& operator++() { return id = in->nodes_[id].next, *this; }
      friend bool operator==(iterator, iterator) = default;
    };
    basic_graph const* in;
    std::uint32_t first;
    [[nodiscard]] iterator begin() const { return {in, first}; }
    [[nodiscard]] iterator end() const { return {in, none}; }
  };

  template <class T>
  static tensor list(std::initializer_list<T> elements, std::vector<std::int64_t> shape) {
    if constexpr (std::is_same_v<T, int>) {
      std::vector<std::int64_t> const wide(elements.begin(), elements.end());
      return make_tensor<std::int64_t>(std::move(shape), wide);
    } else {
      return make_tensor(std::move(shape), span<T const>(elements.begin(), elements.size()));
    }
  }

  value new_value(element_type type, std::uint32_t producer = none) {
    auto& made = values_.emplace_back();
    made.type = type;
    made.producer = producer;
    return {static_cast<std::uint32_t>(values_.size() - 1)};
  }
  void set_contents(value v, tensor contents) {
    values_[v.id].contents = static_cast<std::uint32_t>(tensors_.size());
    tensors_.push_back(std::move(contents));
  }
  std::uint32_t new_slot(value v, std::uint32_t user) {
    auto const slot = static_cast<std::uint32_t>(operands_.size());
    operands_.push_back(v);
    uses_.push_back({user, none, none});
    link_use(slot);
    return slot;
  }
  node new_node(std::string_view op, span<value const> operands, std::uint32_t results, std::vector<named> attributes) {
    auto const id = static_cast<std::uint32_t>(nodes_.size());
    node_record made;
    made.op = names_.number(op);
    made.first_operand = static_cast<std::uint32_t>(operands_.size());
    made.operand_count = static_cast<std::uint32_t>(operands.size());
    made.first_result = static_cast<std::uint32_t>(values_.size());
    made.result_count = results;
    made.first_attribute = static_cast<std::uint32_t>(attributes_.size());
    made.attribute_count = static_cast<std::uint32_t>(attributes.size());
    nodes_.push_back(made);
    for (auto const v : operands) new_slot(v, id);
    for (std::uint32_t i = 0; i < results; ++i) new_value(element_type::unknown, id);
    for (auto& a : attributes) attributes_.push_back(std::move(a));
    ++node_count_;
    return {id};
  }
  // Into the list of `in`, before node `place`, or at the end.
  node link(node made, std::uint32_t in, std::uint32_t place) {
    auto& record = nodes_[made.id];
    record.body = in;
    record.next = place;
    auto& after = place == none ? bodies_[in].last : nodes_[place].previous;
    record.previous = after;
    (after == none ? bodies_[in].first : nodes_[after].next) = made.id;
    after = made.id;
    return made;
  }
  void link_use(std::uint32_t slot) {
    auto const v = operands_[slot];
    if (!v) return;
    auto& first = values_[v.id].first_use;
    uses_[slot].previous = none;
    uses_[slot].next = first;
    if (first != none) uses_[first].previous = slot;
    first = slot;
  }
  void unlink_use(std::uint32_t slot) {
    auto const v = operands_[slot];
    if (!v) return;
    auto const [user, next, previous] = uses_[slot];
    (previous == none ? values_[v.id].first_use : uses_[previous].next) = next;
    if (next != none) uses_[next].previous = previous;
    operands_[slot] = {};
  }
  void release_operands(std::uint32_t id) {
    for (std::uint32_t i = 0; i < nodes_[id].operand_count; ++i) unlink_use(nodes_[id].first_operand + i);
  }

  int version_;
  std::uint32_t at_ = 0;
  std::size_t node_count_ = 0;
  basic_name_table<decltype(Named::name)> names_;
  std::vector<node_record> nodes_;
  detail::plain_vector<value_record> values_;
  detail::plain_vector<value> operands_;  // beside uses_: reading operands touches nothing else
  detail::plain_vector<use_record> uses_;
  std::vector<named> attributes_;
  std::vector<tensor> tensors_;
  std::vector<std::vector<extent_record>> shapes_;
  std::vector<body_record> bodies_{body_record{}};
  std::vector<function_body> functions_;
};
class graph : public basic_graph<graph_parts::named> {
 public:
  using basic_graph::basic_graph;
};

template <>
struct graph_traits<graph> : owned_graph_traits<graph> {};

}  // namespace fuse::inline v0
