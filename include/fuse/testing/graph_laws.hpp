// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::testing {

/// An operator with attributes that a node of it can have.
struct operator_example {
  std::string op;
  std::vector<attribute> attributes;
};

/// What graph_laws cannot ask a graph by itself.
template <class G>
struct graph_examples {
  /// Attributes that a node may be given; they must read back. Floating ones may be rounded to float.
  std::vector<attribute> attributes{
      {"axis", std::int64_t{-1}}, {"epsilon", 0.5}, {"axes", std::vector<std::int64_t>{-2, -1}}};
  /// Of operators that cannot have those: what their nodes may be given instead. Where a graph makes nodes of typed
  /// attributes, all operators of its graphs are listed.
  std::vector<operator_example> operators{};
  /// Whether an operand may be absent; a graph type without optional operands says no.
  bool absent_operands = true;
  /// The names of the graph's outputs, which no edit may change; null: not checked.
  std::vector<std::string> (*output_names)(G const&) = nullptr;
};

namespace detail {

template <class G>
class law_checker {
  using traits = graph_traits<G>;
  using node = node_of<G>;
  using value = value_of<G>;

 public:
  explicit law_checker(graph_examples<G> const& examples) : examples_(examples) {}

  template <class Make>
  std::vector<std::string> check(Make const& make) {
    G graph = make();
    read(graph);
    if (broken_.empty()) results_fit(graph);
    if (!broken_.empty()) return broken_;  // edits would only repeat it
    auto const original = listing(graph);
    law(listing(make()) == original, "make() must build the same graph every time, its nodes in the same order");
    if constexpr (rewritable_graph<G>) {
      auto const count = handles(traits::nodes(graph)).size();
      auto const step = count / 32 + 1;
      for (std::size_t at = 0; at < count && broken_.empty(); at += step) {
        G edited = make();
        replace_node(edited, at);
      }
      law(listing(make()) == original && listing(graph) == original,
          "graphs of two calls of make() must share nothing: an edit of one showed in another");
      if constexpr (fuse::detail::has_add_constant<G>) {
        G edited = make();
        add_constant(edited);
      }
      if (broken_.empty()) keep_or_refuse(make);
    }
    return broken_;
  }

 private:
  // Each law once, however often it is broken.
  bool law(bool holds, std::string_view sentence) {
    if (!holds && std::find(broken_.begin(), broken_.end(), sentence) == broken_.end()) broken_.emplace_back(sentence);
    return holds;
  }

  /// Those of the examples that the dialect says a node of this operator can have.
  std::vector<attribute> attributes_of(std::string_view op) const {
    for (auto const& example : examples_.operators)
      if (example.op == op) return example.attributes;
    std::vector<attribute> all;
    for (auto const& a : examples_.attributes)
      if (may_have(op, a)) all.push_back(a);
    return all;
  }
  static bool may_have(std::string_view op, attribute const& a) {
    dialect const& names = dialect_of<G>;
    auto const* row = names.row(names.code(op), names.newest);
    std::vector<attribute> one{a};
    return row == nullptr || fuse::detail::complete(*row, one).empty();
  }
  static constexpr element_type element_types[]{element_type::float16, element_type::bfloat16, element_type::float64,
                                                element_type::int8,    element_type::int16,    element_type::int32,
                                                element_type::int64,   element_type::uint8,    element_type::uint16,
                                                element_type::uint32,  element_type::uint64,   element_type::boolean};
  static std::vector<attribute> attributes_of_each_kind() {
    return {{"held", std::int64_t{3}},
            {"held", 0.5},
            {"held", std::string("text")},
            {"held", std::vector<std::int64_t>{3, 4}},
            {"held", std::vector<float>{0.5f, 4}},
            {"held", make_tensor<float>({2}, std::vector<float>{0.5f, 4})}};
  }

  template <class Range>
  static auto handles(Range&& range) {
    std::vector<std::remove_cvref_t<decltype(*std::begin(range))>> all;
    for (auto const& item : range) all.push_back(item);
    return all;
  }
  template <class T>
  static bool contains(std::vector<T> const& all, T const& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  template <class T>
  static std::size_t position(std::vector<T> const& all, T const& one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
  }
  template <class T>
  static bool distinct(std::vector<T> const& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (all[i] == all[k]) return false;
    return true;
  }

  static std::vector<node> all_nodes(G const& g) {
    auto all = handles(traits::nodes(g));
    if constexpr (fuse::detail::has_functions<G>)
      for (auto const& f : traits::functions(g))
        for (auto const& n : traits::nodes(g, f)) all.push_back(n);
    if constexpr (fuse::detail::has_bodies<G>)
      for (std::size_t i = 0; i < all.size(); ++i)
        for (auto const& b : traits::bodies(g, all[i]))
          for (auto const& inner : traits::nodes(g, b)) all.push_back(inner);
    return all;
  }
  static std::vector<value> all_values(G const& g) {
    std::vector<value> all;
    auto add = [&](value const& v) {
      if (!(v == value{}) && !contains(all, v)) all.push_back(v);
    };
    for (auto const& n : all_nodes(g)) {
      for (auto const& v : traits::operands(g, n)) add(v);
      for (auto const& v : traits::results(g, n)) add(v);
    }
    for (auto const& v : traits::outputs(g)) add(v);
    return all;
  }
  // The graph by positions alone, so that two graphs compare.
  static std::string listing(G const& g) {
    auto const nodes = all_nodes(g);
    auto const values = all_values(g);
    auto number = [&](value const& v) { return v == value{} ? std::string("-") : std::to_string(position(values, v)); };
    std::string text;
    for (auto const& n : nodes) {
      text += std::string(traits::op_name(g, n)) + '(';
      for (auto const& v : traits::operands(g, n)) text += number(v) + ' ';
      text += "->";
      for (auto const& v : traits::results(g, n)) text += ' ' + number(v);
      text += ")\n";
    }
    for (auto const& v : traits::outputs(g)) text += number(v) + ' ';
    return text;
  }

  void read(G const& g) {
    if (!law(!contains(handles(traits::nodes(g)), node{}), "nodes() must not hold node{}, which means none")) return;
    auto const nodes = all_nodes(g);
    auto const values = all_values(g);
    law(listing(g) == listing(g), "reading a graph twice must give the same");
    if (!law(distinct(nodes), "nodes() and the nodes of bodies and functions must hold each node once")) return;
    std::vector<value> results;
    for (auto const& n : nodes)
      for (auto const& v : traits::results(g, n)) {
        if (v == value{}) continue;
        results.push_back(v);
        law(traits::producer(g, v) == n, "producer(v) must be the node that has v among its results");
      }
    law(distinct(results), "a value must be the result of one node, once");
    for (auto const& v : values)
      if (auto const from = traits::producer(g, v); !(from == node{}))
        law(contains(nodes, from) && contains(handles(traits::results(g, from)), v),
            "producer(v) must be node{} or a listed node that has v among its results");
    for (auto const& v : traits::outputs(g)) law(!(v == value{}), "outputs() must hold values, not value{}");
    read_inputs(g);
    acyclic(g, nodes);
    calls(g);
    if constexpr (fuse::detail::has_op_key<G>)
      for (auto const& a : nodes)
        for (auto const& b : nodes)
          law(!(traits::op_key(g, a) == traits::op_key(g, b)) ||
                  std::string(traits::op_name(g, a)) == traits::op_name(g, b),
              "nodes of equal op_key must have equal op_name");
    indices(g, values);
    users(g, nodes, values);
    for (auto const& v : values) contents(g, v);
    if constexpr (fuse::detail::has_attribute<G>)
      for (auto const& n : nodes)
        law(traits::attribute(g, n, "an attribute that nobody has").index() == 0,
            "attribute() must be std::monostate for a name that the node does not have");
  }

  // What the graph says of results, against what their operators make of their operands. (Not of what is inserted,
  // whose attributes are others.)
  void results_fit(G const& g) {
    dialect const& names = dialect_of<G>;
    graph_binding<G const> bound(g, names_in(names), names.newest);
    if (bound.cyclic()) return;
    fuse::detail::facts known(bound.image, names);
    known.run();
    for (value_id v = 0; v < bound.image.value_count(); ++v) {
      if (bound.image.producer(v) == absent) continue;
      if constexpr (fuse::detail::has_type<G>) {
        auto const told = traits::type(g, bound.value(v));
        law(told == element_type::unknown || known.type(v) == element_type::unknown || told == known.type(v),
            "type(v) of a result must be what its operator makes of its operands");
      }
      if constexpr (fuse::detail::has_shape<G>) {
        std::vector<dimension> told;
        if (!known.has_rank(v) || !traits::shape(g, bound.value(v), told)) continue;
        auto const found = known.shape(v);
        bool fits = told.size() == found.size();
        for (std::size_t i = 0; fits && i < told.size(); ++i)
          fits = told[i].extent < 0 || !found[i].known() || told[i].extent == found[i].value();
        law(fits, "shape(v) of a result must be what its operator makes of its operands");
      }
    }
  }

  // Callers come before what they call; a call of a function in itself, too, would stand too late.
  void calls(G const& g) {
    if constexpr (fuse::detail::has_functions<G>) {
      graph_binding<G const> const bound(g, names_in(dialect_of<G>), 1);
      if (bound.cyclic()) return;
      for (auto const& f : bound.image.functions())
        for (auto const call : f.calls) law(call < f.first_node, "functions() must hold callers before what they call");
      auto const nodes = all_nodes(g);
      for (auto const& f : traits::functions(g))
        for (auto const& n : traits::calls(g, f)) law(contains(nodes, n), "calls(g, function) must be listed nodes");
    }
  }

  void read_inputs(G const& g) {
    if constexpr (fuse::detail::has_inputs<G>) {
      auto const inputs = handles(traits::inputs(g));
      law(distinct(inputs) && !contains(inputs, value{}), "inputs() must hold each input once, and no value{}");
      for (auto const& v : inputs)
        if (!(v == value{})) law(traits::producer(g, v) == node{}, "producer() of a graph input must be node{}");
    }
  }

  void acyclic(G const& g, std::vector<node> const& nodes) {
    std::vector<bool> done(nodes.size(), false);
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (done[i]) continue;
        bool ready = true;
        for (auto const& v : traits::operands(g, nodes[i])) {
          if (v == value{}) continue;
          auto const from = traits::producer(g, v);
          ready = ready && (from == node{} || !contains(nodes, from) || done[position(nodes, from)]);
        }
        if (ready) done[i] = progress = true;
      }
    }
    law(!contains(std::vector<char>(done.begin(), done.end()), '\0'),
        "no node may depend on itself through its operands");
  }

  void indices(G const& g, std::vector<value> const& values) {
    if constexpr (fuse::detail::has_index<G>) {
      std::vector<std::size_t> all;
      for (auto const& v : values) {
        all.push_back(static_cast<std::size_t>(traits::index(g, v)));
        law(all.back() < 8 * values.size() + 64, "index(v) must be dense: fuse keeps arrays as long as the largest");
      }
      law(distinct(all), "index(v) must differ for different values");
    }
  }

  void users(G const& g, std::vector<node> const& nodes, std::vector<value> const& values) {
    if constexpr (fuse::detail::has_users<G>)
      for (auto const& v : values) {
        auto const known = handles(traits::users(g, v));
        for (auto const& n : nodes)
          law(contains(known, n) == contains(handles(traits::operands(g, n)), v),
              "users(v) must be the nodes that have v among their operands, in bodies, too");
        for (auto const& n : known) law(contains(nodes, n), "users(v) must be listed nodes");
      }
  }

  void contents(G const& g, value const& v) {
    std::vector<dimension> shape;
    bool ranked = false;
    if constexpr (fuse::detail::has_shape<G>) {
      ranked = traits::shape(g, v, shape);
      for (auto const& d : shape) law(d.extent >= -1, "an extent must be at least 0, or -1 where it is not known");
    }
    if constexpr (fuse::detail::has_constant<G>) {
      tensor_view const t = traits::constant(g, v);
      if (!t) return;
      std::size_t count = 1;
      for (auto const extent : t.shape) count *= static_cast<std::size_t>(extent);
      if (size_of(t.type) != 0)
        law(t.bytes.size() == count * size_of(t.type),
            "constant(v) must have as many bytes as its shape and element type say");
      if constexpr (fuse::detail::has_type<G>)
        law(traits::type(g, v) == t.type, "type(v) of a constant must be the element type of its contents");
      if (ranked) {
        bool same = shape.size() == t.shape.size();
        for (std::size_t i = 0; same && i < shape.size(); ++i) same = shape[i].extent == t.shape[i];
        law(same, "shape(v) of a constant must be the shape of its contents");
      }
    }
  }

  static bool agrees(attribute const& given, attribute_view const& read) {
    if (auto const* n = std::get_if<std::int64_t>(&given.content)) {
      auto const* r = std::get_if<std::int64_t>(&read);
      return r != nullptr && *r == *n;
    }
    if (auto const* n = std::get_if<double>(&given.content)) {
      auto const* r = std::get_if<double>(&read);
      return r != nullptr && (*r == *n || *r == static_cast<double>(static_cast<float>(*n)));
    }
    if (auto const* n = std::get_if<std::string>(&given.content)) {
      auto const* r = std::get_if<std::string_view>(&read);
      return r != nullptr && *r == *n;
    }
    if (auto const* n = std::get_if<std::vector<float>>(&given.content)) {
      auto const* r = std::get_if<span<float const>>(&read);
      return r != nullptr && std::equal(r->begin(), r->end(), n->begin(), n->end());
    }
    if (auto const* n = std::get_if<tensor>(&given.content)) {
      auto const* r = std::get_if<tensor_view>(&read);
      return r != nullptr && fuse::detail::same_contents(*r, *n);
    }
    auto const& n = std::get<std::vector<std::int64_t>>(given.content);
    auto const* r = std::get_if<span<std::int64_t const>>(&read);
    return r != nullptr && std::equal(r->begin(), r->end(), n.begin(), n.end());
  }

  std::vector<std::string> output_names(G const& g) const {
    return examples_.output_names == nullptr ? std::vector<std::string>{} : examples_.output_names(g);
  }

  // What a rewrite does: a new node before an old one, all uses to the new, the old one erased.
  void replace_node(G& g, std::size_t at) {
    auto const before = handles(traits::nodes(g));
    auto const names = output_names(g);
    auto const old = before[at];
    auto const place = at;
    auto const op = std::string(traits::op_name(g, old));
    auto operands = handles(traits::operands(g, old));
    if (examples_.absent_operands) operands.push_back(value{});  // an absent optional operand must survive, too
    auto const old_results = handles(traits::results(g, old));
    std::vector<element_type> types(old_results.size(), element_type::float32);
    if constexpr (fuse::detail::has_type<G>)
      for (std::size_t i = 0; i < types.size(); ++i)
        if (auto const known = traits::type(g, old_results[i]); known != element_type::unknown) types[i] = known;
    std::vector<std::size_t> indices_before;
    auto const values = all_values(g);
    if constexpr (fuse::detail::has_index<G>)
      for (auto const& v : values) indices_before.push_back(static_cast<std::size_t>(traits::index(g, v)));
    auto const outputs = handles(traits::outputs(g));

    auto const given = attributes_of(op);
    node const made = traits::insert(g, old, new_node<value>{op, operands, given, types, "origin"});
    auto expected = before;
    expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(place), made);
    law(handles(traits::nodes(g)) == expected,
        "insert() must put the new node right before its place and leave the others in their order");
    law(std::string(traits::op_name(g, made)) == op, "insert() must give the new node its operator");
    law(handles(traits::operands(g, made)) == operands,
        "insert() must give the new node its operands in their order, value{} where one is absent");
    auto const results = handles(traits::results(g, made));
    if (!law(results.size() == old_results.size(),
             "insert() must give the new node one result for each of its result types"))
      return;
    if constexpr (fuse::detail::has_type<G>)
      for (std::size_t i = 0; i < types.size(); ++i)
        law(traits::type(g, results[i]) == types[i], "insert() must give the new results their element types");
    if constexpr (fuse::detail::has_attribute<G>)
      for (auto const& a : given)
        law(agrees(a, traits::attribute(g, made, a.name)),
            "insert() must give the new node its attributes, to be read back as they were given");
    if constexpr (fuse::detail::has_same_attributes<G> && fuse::detail::has_attribute<G>) {
      law(traits::same_attributes(g, made, made), "same_attributes() of a node and itself must be true");
      for (auto const& a : given)
        law(agrees(a, traits::attribute(g, old, a.name)) || !traits::same_attributes(g, made, old),
            "same_attributes() of nodes with different attributes must be false");
    }
    law(handles(traits::outputs(g)) == outputs, "insert() must leave the outputs as they are");
    read(g);
    if (!broken_.empty()) return;

    auto const nodes = all_nodes(g);
    std::vector<std::vector<value>> wanted;
    for (auto const& n : nodes) {
      wanted.push_back(handles(traits::operands(g, n)));
      for (auto& v : wanted.back()) v = moved(v, old_results, results);
    }
    auto wanted_outputs = outputs;
    for (auto& v : wanted_outputs) v = moved(v, old_results, results);
    for (std::size_t i = 0; i < results.size(); ++i) traits::replace_uses(g, old_results[i], results[i]);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      law(handles(traits::operands(g, nodes[i])) == wanted[i],
          "replace_uses() must redirect every operand that is the old value, in bodies, too, and no other");
    law(handles(traits::outputs(g)) == wanted_outputs,
        "replace_uses() must redirect the outputs that are the old value");
    law(output_names(g) == names, "replace_uses() must leave the outputs their names");
    read(g);
    if (!broken_.empty()) return;

    traits::erase(g, old);
    expected = before;
    expected[at] = made;
    law(handles(traits::nodes(g)) == expected, "erase() must remove the node and leave the others in their order");
    law(output_names(g) == names, "erase() must leave the outputs their names");
    read(g);
    if constexpr (fuse::detail::has_index<G>)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (!contains(old_results, values[i]))
          law(static_cast<std::size_t>(traits::index(g, values[i])) == indices_before[i],
              "index(v) must not change when others are inserted or erased");
  }
  static value moved(value const& v, std::vector<value> const& from, std::vector<value> const& to) {
    if (v == value{}) return v;
    auto const at = position(from, v);
    return at == from.size() ? v : to[at];
  }

  void add_constant(G& g) {
    float const numbers[]{0.5f, -2.0f};
    std::int64_t const shape[]{2, 1};
    auto const before = all_values(g);
    auto const given = tensor_view{element_type::float32, shape, as_bytes(span(numbers))};
    value const v = traits::add_constant(g, given, "origin");
    law(!(v == value{}) && !contains(before, v), "add_constant() must return a new value");
    if constexpr (fuse::detail::has_constant<G>) {
      law(fuse::detail::same_contents(traits::constant(g, v), given),
          "add_constant() must keep element type, shape and contents");
    }
    if constexpr (fuse::detail::has_index<G>)
      for (auto const& other : before)
        law(traits::index(g, other) != traits::index(g, v), "index(v) must differ for different values");
    auto const nodes = handles(traits::nodes(g));
    if (nodes.empty()) return;
    element_type const types[]{element_type::float32};
    auto const op = std::string(traits::op_name(g, nodes[0]));
    value const operands[]{v};
    auto const made = traits::insert(g, nodes[0], new_node<value>{op, operands, {}, types, "origin"});
    law(handles(traits::operands(g, made)) == std::vector<value>{v},
        "a node must be able to read a constant that add_constant() returned");
    read(g);
  }

  // A rule of anybody's may ask for what no node of the graph has. What is left out without a word, or taken for
  // something else, is another graph.
  template <class Make>
  void keep_or_refuse(Make const& make) {
    if constexpr (fuse::detail::has_add_constant<G>)
      for (auto const type : element_types) {
        G edited = make();
        constant(edited, type);
      }
    if (handles(traits::nodes(make())).empty()) return;
    G edited = make();
    new_operator(edited);
    if constexpr (fuse::detail::has_type<G>)
      for (auto const type : element_types) {
        G other = make();
        result(other, type);
      }
    if constexpr (fuse::detail::has_attribute<G>)
      for (auto const& a : attributes_of_each_kind()) {
        G other = make();
        new_attribute(other, a);
      }
  }
  void constant(G& g, element_type type) {
    std::int64_t const shape[]{2};
    std::byte const bytes[16]{std::byte{1}};
    auto const given = tensor_view{type, shape, span(bytes).first(2 * size_of(type))};
    value const v = traits::add_constant(g, given, "origin");
    if constexpr (fuse::detail::has_constant<G>)
      law(v == value{} || fuse::detail::same_contents(traits::constant(g, v), given),
          "add_constant() must keep a constant of any element type, or refuse it by value{}");
  }
  // A node before `old`, with its operands and as many results; node{} where it is refused.
  node insert_like(G& g, node const& old, std::string_view op, span<attribute const> given, element_type type) {
    auto const operands = handles(traits::operands(g, old));
    std::vector<element_type> const types(handles(traits::results(g, old)).size(), type);
    return traits::insert(g, old, new_node<value>{op, operands, given, types, "origin"});
  }
  void new_operator(G& g) {
    std::string_view const op = "fuse::no_such_operator";
    node const made = insert_like(g, handles(traits::nodes(g)).front(), op, {}, element_type::float32);
    law(made == node{} || std::string(traits::op_name(g, made)) == op,
        "insert() must make nodes of any operator, or refuse by node{}");
  }
  void result(G& g, element_type type) {
    auto const old = handles(traits::nodes(g)).front();
    auto const op = std::string(traits::op_name(g, old));
    auto const given = attributes_of(op);
    node const made = insert_like(g, old, op, given, type);
    if (made == node{}) return;
    for (auto const& v : traits::results(g, made))
      law(traits::type(g, v) == type, "insert() must give results any element type, or refuse by node{}");
  }
  // ... to the first node whose operator may have it.
  void new_attribute(G& g, attribute const& a) {
    for (auto const& old : handles(traits::nodes(g))) {
      auto const op = std::string(traits::op_name(g, old));
      auto const is_example = [&](auto const& example) { return example.op == op; };
      if (std::any_of(examples_.operators.begin(), examples_.operators.end(), is_example) || !may_have(op, a)) continue;
      node const made = insert_like(g, old, op, {&a, 1}, element_type::float32);
      law(made == node{} || agrees(a, traits::attribute(g, made, a.name)),
          "insert() must keep what an attribute holds, of whatever kind, or refuse by node{}");
      return;
    }
  }

  graph_examples<G> const& examples_;
  std::vector<std::string> broken_;
};

}  // namespace detail

/// Checks an adaptation of a graph type: what fuse relies on when it reads and edits through `graph_traits<G>`.
///
/// `make()` returns a graph of some dozen nodes, the same each time: one with shared values, several results, absent
/// operands, constants, bodies, wherever the type has them; what the graph lacks is not checked. Returns the laws that
/// are broken, a sentence each; none for a sound adaptation. Quadratic in the graph's size.
///
///     CHECK(fuse::testing::graph_laws<my_graph>([] { return build(); }) == std::vector<std::string>{});
template <class G, class Make>
[[nodiscard]] std::vector<std::string> graph_laws(Make const& make, graph_examples<G> const& examples = {}) {
  (void)sizeof(fuse::detail::require_readable<G>);
  return detail::law_checker<G>(examples).check(make);
}

}  // namespace fuse::inline v0::testing
