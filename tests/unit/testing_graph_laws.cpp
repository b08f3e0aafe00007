// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>
#include <fuse/testing/graph_laws.hpp>

namespace {

using fuse::element_type;
using fuse::graph;
using fuse::testing::graph_laws;

// A graph with everything that a law looks at.
graph sample() {
  graph g;
  auto x = g.input("x", element_type::float32, {2, "n", 8});
  auto condition = g.input("c", element_type::boolean, {});
  auto mean = g.add("ReduceMean", {x}, {{"axes", {-1}}});
  auto centred = g.add("Sub", {x, mean});
  auto square = g.add("Mul", {centred, centred});
  auto epsilon = g.constant({1e-5f, 2e-5f});
  auto sum = g.add("Add", {g.add("ReduceMean", {square}), epsilon});
  auto clip = g.add("Clip", {sum, {}, epsilon});
  auto split = g.append("Split", {clip}, {{"axis", 1}}, 2);
  auto branch = g.append("If", {condition});
  for (auto const* name : {"then_branch", "else_branch"}) {
    g.append_to(g.add_body(branch, name));
    g.output(g.add("Neg", {centred}), "z");
  }
  g.append_to(graph::main_body);
  g.output(g.add("Div", {centred, g.result(split, 0)}), "y");
  g.output(g.result(split, 1), "statistic");
  g.output(g.result(branch), "chosen");
  for (auto n : g.nodes())
    for (auto v : g.results(n)) g.annotate(v, element_type::float32);
  return g;
}

std::vector<std::string> output_names(graph const& g) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < g.outputs().size(); ++i) names.emplace_back(g.output_name(i));
  return names;
}

// Every way to get an adaptation wrong that a law speaks of.
enum class fault {
  none,
  changing_operands,
  null_node,
  node_twice,
  forgetful_producer,
  shared_result,
  unlisted_producer,
  null_output,
  input_twice,
  produced_input,
  one_op_key,
  sparse_index,
  equal_index,
  no_users_in_bodies,
  foreign_user,
  negative_extent,
  short_constant,
  constant_type,
  constant_shape,
  attribute_for_all,
  insert_at_end,
  insert_other_op,
  insert_swapped_operands,
  insert_one_result,
  insert_no_types,
  insert_no_attributes,
  insert_no_floats,
  insert_refuses_floats,
  insert_wide_results,
  insert_known_op,
  signed_constant,
  insert_output,
  replace_first_operand,
  replace_too_much,
  replace_no_outputs,
  replace_rename,
  erase_nothing,
  erase_two,
  erase_rename,
  moving_index,
  old_constant,
  flat_constant,
  unread_constant,
};

struct faulty {
  std::shared_ptr<graph> g;
  fault f = fault::none;
  mutable int reads = 0;
};

using base = fuse::graph_traits<graph>;

// To which all nodes look alike.
struct lenient : graph {};

}  // namespace

template <>
struct fuse::graph_traits<lenient> : fuse::graph_traits<fuse::graph> {
  static bool same_attributes(lenient const&, node, node) { return true; }
};

template <>
struct fuse::graph_traits<faulty> {
  using node = graph::node;
  using value = graph::value;

  static std::vector<node> nodes(faulty const& g) {
    std::vector<node> all;
    for (auto n : g.g->nodes()) all.push_back(n);
    if (g.f == fault::null_node) all.push_back({});
    if (g.f == fault::node_twice) all.push_back(all.front());
    if (g.f == fault::unlisted_producer) all.erase(all.begin());
    return all;
  }
  static std::string_view op_name(faulty const& g, node n) { return g.g->op(n); }
  static std::uint32_t op_key(faulty const& g, node n) { return g.f == fault::one_op_key ? 7 : g.g->op_key(n); }
  static std::vector<value> operands(faulty const& g, node n) {
    std::vector<value> all(g.g->operands(n).begin(), g.g->operands(n).end());
    if (g.f == fault::changing_operands && ++g.reads % 7 == 0) std::swap(all.front(), all.back());
    if (g.f == fault::unread_constant && all.size() == 1 && g.g->constant(all[0])) all.clear();
    return all;
  }
  static std::vector<value> results(faulty const& g, node n) {
    std::vector<value> all;
    for (auto v : g.g->results(n)) all.push_back(v);
    if (g.f == fault::shared_result && all.size() == 2) all[1] = all[0];
    return all;
  }
  static node producer(faulty const& g, value v) {
    return g.f == fault::forgetful_producer ? node{} : g.g->producer(v);
  }
  static std::vector<node> users(faulty const& g, value v) {
    auto all = g.g->users(v);
    if (g.f == fault::foreign_user) all.push_back({1000});
    if (g.f == fault::no_users_in_bodies) std::erase_if(all, [&](node n) { return g.g->op(n) == "Neg"; });
    return all;
  }
  static std::vector<value> inputs(faulty const& g) {
    std::vector<value> all(g.g->inputs().begin(), g.g->inputs().end());
    if (g.f == fault::input_twice) all.push_back(all[0]);
    if (g.f == fault::produced_input) all.push_back(g.g->outputs()[0]);
    return all;
  }
  static std::vector<value> outputs(faulty const& g) {
    auto all = g.g->outputs();
    if (g.f == fault::null_output) all.push_back({});
    return all;
  }
  static fuse::tensor_view constant(faulty const& g, value v) {
    auto t = g.g->constant(v);
    if (t && g.f == fault::short_constant) t.bytes = t.bytes.subspan(1);
    if (t && g.f == fault::flat_constant) t.shape = t.shape.subspan(t.shape.size() - 1);
    return t;
  }
  static element_type type(faulty const& g, value v) {
    return g.f == fault::constant_type && g.g->constant(v) ? element_type::int32 : g.g->type(v);
  }
  static bool shape(faulty const& g, value v, std::vector<fuse::dimension>& into) {
    if (g.f == fault::flat_constant) return false;
    if (!g.g->shape(v, into)) return false;
    if (g.f == fault::negative_extent) into.push_back({-2});
    if (g.f == fault::constant_shape && g.g->constant(v)) into.push_back({1});
    return true;
  }
  static std::size_t index(faulty const& g, value v) {
    if (g.f == fault::sparse_index) return v.id * 1'000'000u;
    if (g.f == fault::equal_index) return v.id / 2;
    if (g.f == fault::moving_index) return v.id + 50 - g.g->node_count();
    return v.id;
  }
  static fuse::attribute_view attribute(faulty const& g, node n, std::string_view name) {
    if (g.f == fault::attribute_for_all) return std::int64_t{0};
    return base::attribute(*g.g, n, name);
  }
  static auto bodies(faulty const& g, node n) { return g.g->bodies(n); }
  static auto nodes(faulty const& g, graph::body b) { return g.g->nodes(b); }
  static auto inputs(faulty const& g, graph::body b) { return g.g->inputs(b); }
  static auto outputs(faulty const& g, graph::body b) { return g.g->outputs(b); }

  static node insert(faulty& g, node place, fuse::new_node<value> made) {
    std::vector<value> operands(made.operands.begin(), made.operands.end());
    if (g.f == fault::insert_swapped_operands) std::swap(operands.front(), operands.back());
    made.operands = operands;
    if (g.f == fault::insert_other_op) made.op = "Other";
    if (g.f == fault::insert_one_result) made.result_types = made.result_types.first(1);
    if (g.f == fault::insert_no_attributes) made.attributes = {};
    bool const floats = std::any_of(made.attributes.begin(), made.attributes.end(), [](auto const& a) {
      return std::holds_alternative<std::vector<float>>(a.content);
    });
    if (floats && g.f == fault::insert_no_floats) made.attributes = {};
    if (floats && g.f == fault::insert_refuses_floats) return {};
    element_type const wide[]{element_type::float32};
    if (g.f == fault::insert_wide_results && made.result_types[0] == element_type::float16) made.result_types = wide;
    if (g.f == fault::insert_known_op && made.op == "fuse::no_such_operator") made.op = "Identity";
    if (g.f == fault::insert_at_end)
      return g.g->append(made.op, made.operands, {made.attributes.begin(), made.attributes.end()},
                         static_cast<std::uint32_t>(made.result_types.size()));
    auto const n = base::insert(*g.g, place, made);
    if (g.f == fault::insert_no_types)
      for (auto v : g.g->results(n)) g.g->annotate(v, element_type::unknown);
    if (g.f == fault::insert_output) g.g->output(g.g->result(n));
    return n;
  }
  static value add_constant(faulty& g, fuse::tensor_view t, std::string_view origin) {
    if (g.f == fault::old_constant)
      for (auto n : g.g->nodes())
        for (auto v : g.g->operands(n))
          if (v && g.g->constant(v)) return v;
    if (g.f == fault::signed_constant && t.type == element_type::uint8) t.type = element_type::int8;
    return base::add_constant(*g.g, t, origin);
  }
  static void replace_uses(faulty& g, value from, value to) {
    auto const outputs = g.g->outputs();
    if (g.f == fault::replace_first_operand) {
      for (auto n : g.g->users(from))
        if (g.g->operands(n).size() == 2 && g.g->operands(n)[0] == from) return g.g->set_operand(n, 0, to);
    }
    if (g.f == fault::replace_too_much) g.g->replace_uses(g.g->inputs()[0], to);
    if (g.f == fault::replace_no_outputs) {
      for (auto n : g.g->users(from))
        for (std::size_t i = 0; i < g.g->operands(n).size(); ++i)
          if (g.g->operands(n)[i] == from) g.g->set_operand(n, i, to);
      return;
    }
    g.g->replace_uses(from, to);
    if (g.f == fault::replace_rename) g.g->rename(to, "other");
  }
  static void erase(faulty& g, node n) {
    if (g.f == fault::erase_nothing) return;
    if (g.f == fault::erase_rename) g.g->rename(g.g->outputs()[0], "other");
    auto const name = g.g->op(n);
    g.g->erase(n);
    if (g.f == fault::erase_two && name == "Split")
      for (auto other : g.g->nodes())
        if (g.g->op(other) == "If") {
          g.g->replace_uses(g.g->result(other), g.g->inputs()[0]);
          return g.g->erase(other);
        }
  }
};

namespace {

std::vector<std::string> names_of_outputs(faulty const& g) {
  std::vector<std::string> names;
  for (auto v : g.g->outputs()) names.emplace_back(g.g->name(v));
  return names;
}

std::vector<std::string> laws_of(fault f) {
  fuse::testing::graph_examples<faulty> examples;
  examples.output_names = &names_of_outputs;
  return graph_laws<faulty>([&] { return faulty{std::make_shared<graph>(sample()), f}; }, examples);
}

bool any_contains(std::vector<std::string> const& all, std::string_view text) {
  for (auto const& one : all)
    if (one.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("fuse::graph keeps every law") {
  fuse::testing::graph_examples<graph> examples;
  examples.output_names = &output_names;
  CHECK(graph_laws<graph>(sample, examples) == std::vector<std::string>{});
  CHECK(laws_of(fault::none) == std::vector<std::string>{});
  CHECK(laws_of(fault::insert_refuses_floats) == std::vector<std::string>{});
  CHECK(graph_laws<graph>([] { return graph(); }) == std::vector<std::string>{});
}

TEST_CASE("a graph in no particular order keeps every law") {
  CHECK(graph_laws<graph>([] {
          graph g;
          auto x = g.input("x", element_type::float32, {2});
          auto late = g.append("Neg", {x});
          auto early = g.append("Exp", {x});
          g.set_operand(late, 0, g.result(early));
          g.output(g.result(late), "y");
          for (auto n : {late, early}) g.annotate(g.result(n), element_type::float32);
          return g;
        }) == std::vector<std::string>{});
}

TEST_CASE("each broken law is told") {
  struct expectation {
    fault f;
    char const* sentence;
  };
  auto const [f, sentence] = GENERATE(values<expectation>({
      {fault::changing_operands, "reading a graph twice must give the same"},
      {fault::null_node, "nodes() must not hold node{}"},
      {fault::node_twice, "must hold each node once"},
      {fault::forgetful_producer, "producer(v) must be the node that has v"},
      {fault::shared_result, "a value must be the result of one node, once"},
      {fault::unlisted_producer, "producer(v) must be node{} or a listed node"},
      {fault::null_output, "outputs() must hold values"},
      {fault::input_twice, "inputs() must hold each input once"},
      {fault::produced_input, "producer() of a graph input must be node{}"},
      {fault::one_op_key, "nodes of equal op_key must have equal op_name"},
      {fault::sparse_index, "index(v) must be dense"},
      {fault::equal_index, "index(v) must differ"},
      {fault::no_users_in_bodies, "users(v) must be the nodes that have v"},
      {fault::foreign_user, "users(v) must be listed nodes"},
      {fault::negative_extent, "an extent must be at least 0"},
      {fault::short_constant, "constant(v) must have as many bytes"},
      {fault::constant_type, "type(v) of a constant"},
      {fault::constant_shape, "shape(v) of a constant"},
      {fault::attribute_for_all, "attribute() must be std::monostate"},
      {fault::insert_at_end, "insert() must put the new node right before its place"},
      {fault::insert_other_op, "insert() must give the new node its operator"},
      {fault::insert_swapped_operands, "insert() must give the new node its operands"},
      {fault::insert_one_result, "insert() must give the new node one result for each"},
      {fault::insert_no_types, "insert() must give the new results their element types"},
      {fault::insert_no_attributes, "insert() must give the new node its attributes"},
      {fault::insert_wide_results, "insert() must give results any element type, or refuse"},
      {fault::insert_known_op, "insert() must make nodes of any operator, or refuse"},
      {fault::signed_constant, "add_constant() must keep a constant of any element type, or refuse"},
      {fault::insert_no_floats, "insert() must keep what an attribute holds, of whatever kind, or refuse"},
      {fault::insert_output, "insert() must leave the outputs"},
      {fault::replace_first_operand, "replace_uses() must redirect every operand"},
      {fault::replace_too_much, "and no other"},
      {fault::replace_no_outputs, "replace_uses() must redirect the outputs"},
      {fault::replace_rename, "replace_uses() must leave the outputs their names"},
      {fault::erase_nothing, "erase() must remove the node"},
      {fault::erase_two, "and leave the others in their order"},
      {fault::erase_rename, "erase() must leave the outputs their names"},
      {fault::moving_index, "index(v) must not change"},
      {fault::old_constant, "add_constant() must return a new value"},
      {fault::flat_constant, "add_constant() must keep element type, shape"},
      {fault::unread_constant, "a node must be able to read a constant"},
  }));
  auto const broken = laws_of(f);
  CAPTURE(sentence, broken);
  CHECK(any_contains(broken, sentence));
}

TEST_CASE("make() is checked as well") {
  int calls = 0;
  CHECK(any_contains(graph_laws<graph>([&] {
                       auto g = sample();
                       if (++calls % 2 == 0) g.add("Extra", {g.inputs()[0]});
                       return g;
                     }),
                     "make() must build the same graph every time"));
  auto const one = std::make_shared<graph>(sample());
  CHECK(any_contains(graph_laws<faulty>([&] { return faulty{one}; }), "must share nothing"));
  CHECK(any_contains(graph_laws<graph>([] {
                       graph g;
                       auto a = g.append("A", {g.input("x")}), b = g.append("B", {g.result(a)});
                       g.set_operand(a, 0, g.result(b));
                       g.output(g.result(b), "y");
                       return g;
                     }),
                     "no node may depend on itself"));
}

TEST_CASE("what a graph tells of results is compared with what follows from its operators") {
  auto const laws = [](element_type type, graph::dims const& shape) {
    return graph_laws<graph>([&] {
      graph g;
      auto const y = g.add("Relu", {g.input("x", element_type::float32, {2, 8})});
      g.annotate(y, type, shape);
      g.output(y, "y");
      return g;
    });
  };
  CHECK(laws(element_type::float32, {2, 8}).empty());
  CHECK(laws(element_type::float32, {"n", 8}).empty());
  CHECK(any_contains(laws(element_type::float16, {2, 8}), "type(v) of a result"));
  CHECK(any_contains(laws(element_type::float32, {2, 9}), "shape(v) of a result"));
  CHECK(any_contains(laws(element_type::float32, {16}), "shape(v) of a result"));
}

TEST_CASE("nodes of different attributes do not look alike") {
  auto const make = [] {
    lenient g;
    g.output(g.add("Softmax", {g.input("x", element_type::float32, {2, 8})}, {{"axis", 0}}), "y");
    return g;
  };
  CHECK(any_contains(graph_laws<lenient>(make), "different attributes must be false"));
}

TEST_CASE("an operator may have examples of its own") {
  fuse::testing::graph_examples<graph> examples;
  examples.operators = {{"Softmax", {{"axis", std::int64_t{1}}}}};
  auto const make = [] {
    graph g;
    g.output(g.add("Softmax", {g.input("x", element_type::float32, {2, 8})}, {{"axis", 0}}), "y");
    return g;
  };
  CHECK(graph_laws<graph>(make, examples).empty());
}
