// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/concepts.hpp>

#include "operations.hpp"

namespace editing {

namespace {

namespace bgl = fuse::adapters::bgl;

struct reading {
  int operand = 0;
  std::string label{};
};
struct vertex {
  std::string op{};
  std::map<std::string, std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>> attributes{};
};
using numbered = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, vertex, reading, std::string>;

auto adapted(numbered& g) {
  return bgl::graph(g, bgl::operator_name(&vertex::op), bgl::position(&reading::operand),
                    bgl::attributes(&vertex::attributes));
}

// x -> Relu -> Relu -> Neg, Sub(x, Neg)
numbered chain() {
  numbered g;
  for (auto const* op : {"", "Relu", "Relu", "Neg", "Sub"}) g[add_vertex(g)].op = op;
  add_edge(0, 1, {0, "in"}, g);
  add_edge(1, 2, {0, "between"}, g);
  add_edge(2, 3, {0, "to neg"}, g);
  add_edge(0, 4, {0, "left"}, g);
  add_edge(3, 4, {1, "right"}, g);
  get_property(g, boost::graph_bundle) = "a chain";
  return g;
}

template <class Graph>
void remove(Graph& ir, typename Graph::vertex_descriptor v) {  // its result is what it reads
  using traits = fuse::graph_traits<Graph>;
  auto const n = ir.node_of(v);
  traits::replace_uses(ir, traits::results(ir, n).begin().operator*(), traits::operands(ir, n)[0]);
  traits::erase(ir, n);
}

}  // namespace

TEST_CASE("vertices that are numbers move up when the adapter is finished, and edges keep their properties") {
  auto g = chain();
  auto ir = adapted(g);
  remove(ir, 1);
  CHECK(num_vertices(g) == 5);  // until the end
  CHECK(ir.finish() == std::vector<std::size_t>{0, numbered::null_vertex(), 1, 2, 3});
  REQUIRE(num_vertices(g) == 4);
  CHECK(g[1].op == "Relu");
  CHECK(g[3].op == "Sub");
  std::set<std::string> labels;
  for (auto [e, last] = edges(g); e != last; ++e) labels.insert(g[*e].label);
  CHECK(labels == std::set<std::string>{"between", "to neg", "left", "right"});
  auto const [e, found] = edge(0, 1, g);
  REQUIRE(found);
  CHECK(g[e].label == "between");
  CHECK(get_property(g, boost::graph_bundle) == "a chain");

  CHECK(ir.vertex(ir.node_of(3)) == 3);  // the adapter goes on
  remove(ir, 2);
  CHECK(ir.finish() == std::vector<std::size_t>{0, 1, numbered::null_vertex(), 2});
  CHECK(in_degree(2, g) == 2);
  CHECK(ir.finish().empty());  // nothing to do
}

TEST_CASE("an adapter that goes leaves the graph finished") {
  auto g = chain();
  {
    auto ir = adapted(g);
    remove(ir, 2);
    remove(ir, 1);
  }
  CHECK(num_vertices(g) == 3);
  CHECK(edge(0, 1, g).second);
}

TEST_CASE("a vertex is not made whose property cannot hold an attribute") {
  auto g = chain();
  auto ir = adapted(g);
  using traits = fuse::graph_traits<decltype(ir)>;
  fuse::graph::value const operands[] = {ir.value_of(0)};
  fuse::element_type const types[] = {fuse::element_type::float32};
  fuse::attribute const floats[] = {{"axis", std::int64_t{-1}}, {"scales", std::vector<float>{0.5f, 2}}};
  CHECK(traits::insert(ir, ir.node_of(3), {"Resize", operands, floats, types, "origin"}) == fuse::graph::node{});
  ir.finish();
  CHECK(num_vertices(g) == 5);
}

TEST_CASE("a new vertex has its operator, its operands and its attributes") {
  auto g = chain();
  auto ir = adapted(g);
  using traits = fuse::graph_traits<decltype(ir)>;
  auto const place = ir.node_of(3);
  fuse::graph::value const operands[] = {ir.value_of(0), {}, ir.value_of(0)};
  fuse::attribute const attributes[] = {{"axis", std::int64_t{-1}}, {"epsilon", 0.5}};
  fuse::element_type const types[] = {fuse::element_type::float32};
  auto const made = traits::insert(ir, place, {"Norm", operands, attributes, types, "origin"});
  traits::replace_uses(ir, ir.value_of(3), traits::results(ir, made).begin().operator*());
  traits::erase(ir, place);
  ir.finish();
  auto const v = ir.vertex(made);
  CHECK(g[v].op == "Norm");
  CHECK(std::get<double>(g[v].attributes.at("epsilon")) == 0.5);
  CHECK(in_degree(v, g) == 2);
  std::set<int> positions;
  for (auto [e, last] = in_edges(v, g); e != last; ++e) positions.insert(g[*e].operand);
  CHECK(positions == std::set<int>{0, 2});
  auto const again = adapted(g);
  CHECK(traits::operands(again, again.node_of(v)).size() == 3);
  CHECK(traits::outputs(again).size() == 2);  // Sub, and the second Relu, which nobody reads any more
}

TEST_CASE("descriptors of a list of vertices stay what they are") {
  using listed = boost::adjacency_list<boost::listS, boost::listS, boost::directedS, vertex, reading>;
  listed g;
  std::vector<listed::vertex_descriptor> v;
  for (auto const* op : {"", "Relu", "Relu", "Neg"}) g[v.emplace_back(add_vertex(g))].op = op;
  add_edge(v[0], v[1], {0, "a"}, g);
  add_edge(v[1], v[2], {0, "b"}, g);
  add_edge(v[2], v[3], {0, "c"}, g);
  std::vector<listed::vertex_descriptor> results{v[2], v[3]};
  bgl::graph ir(g, bgl::operator_name(&vertex::op), bgl::position(&reading::operand),
                bgl::attributes(&vertex::attributes), bgl::outputs(results));
  remove(ir, v[2]);
  CHECK(ir.finish().empty());
  CHECK(num_vertices(g) == 3);
  CHECK(results == std::vector<listed::vertex_descriptor>{v[1], v[3]});
  CHECK(g[edge(v[1], v[3], g).first].label == "c");
}

TEST_CASE("edges that are no operands stay") {
  using loose = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, vertex, operations::operands>;
  loose g;
  for (auto const* op : {"", "Relu", "Relu"}) g[add_vertex(g)].op = op;
  add_edge(0, 1, {{0}, {}}, g);
  add_edge(1, 2, {{0}, {}}, g);
  add_edge(0, 2, {}, g);  // waits for it
  bgl::graph ir(g, bgl::operator_name(&vertex::op), bgl::position(&operations::operands::positions),
                bgl::attributes(&vertex::attributes));
  remove(ir, 1);
  ir.finish();
  CHECK(num_vertices(g) == 2);
  CHECK(num_edges(g) == 2);
}

TEST_CASE("parallel edges of a node that reads what it read stay apart") {
  struct readings {
    std::vector<int> operands{};
    std::string label{};
  };
  using parallel = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, vertex, readings>;
  parallel g;
  for (auto const* op : {"", "Relu", "Mul", "Relu", "Neg"}) g[add_vertex(g)].op = op;
  add_edge(0, 1, {{0}, "in"}, g);
  add_edge(1, 2, {{0}, "left"}, g);
  add_edge(1, 2, {{1}, "right"}, g);
  add_edge(2, 3, {{0}, "between"}, g);
  add_edge(3, 4, {{0}, "to neg"}, g);
  bgl::graph ir(g, bgl::operator_name(&vertex::op), bgl::position(&readings::operands),
                bgl::attributes(&vertex::attributes));
  remove(ir, 3);
  ir.finish();
  std::map<std::string, std::vector<int>> found;
  for (auto [e, last] = edges(g); e != last; ++e) found[g[*e].label] = g[*e].operands;
  CHECK(found == std::map<std::string, std::vector<int>>{{"in", {0}}, {"left", {0}}, {"right", {1}}, {"to neg", {0}}});
}

TEST_CASE("constants are added where the property owns its tensor, or a function takes them") {
  struct holder {
    std::string op{};
    std::vector<fuse::attribute> attributes{};
    fuse::tensor_view seen{};
    fuse::tensor const* pointed = nullptr;
    std::optional<fuse::tensor> owned{};
  };
  using holders = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, holder, reading>;
  auto const adds = [](auto constant) {
    holders g;
    bgl::graph ir(g, bgl::operator_name(&holder::op), bgl::position(&reading::operand),
                  bgl::attributes(&holder::attributes), constant);
    using traits = fuse::graph_traits<decltype(ir)>;
    if constexpr (requires { traits::add_constant(ir, fuse::tensor_view{}, "c"); }) {
      fuse::tensor const contents{fuse::element_type::float32, {}, std::vector<std::byte>(4, std::byte{0x40})};
      return traits::constant(ir, traits::add_constant(ir, contents, "c")).bytes[0] == std::byte{0x40};
    } else {
      return false;
    }
  };
  CHECK(!adds(bgl::constant(&holder::seen)));
  CHECK(!adds(bgl::constant(&holder::pointed)));
  CHECK(adds(bgl::constant(&holder::owned)));
  std::map<std::size_t, fuse::tensor> kept;
  CHECK(adds(bgl::constant(
      [&](std::size_t v) { return kept.count(v) == 0 ? fuse::tensor_view{} : fuse::tensor_view(kept.at(v)); },
      [&](std::size_t v, fuse::tensor const& contents) { kept[v] = contents; })));
  CHECK(kept.size() == 1);
}

TEST_CASE("malformed edges are told, and leave no node to look at") {
  auto const error_of = [](auto change) {
    auto g = chain();
    change(g);
    auto const ir = adapted(g);
    CHECK(!ir);
    auto const nodes = fuse::graph_traits<std::remove_const_t<decltype(ir)>>::nodes(ir);
    CHECK(!(nodes.begin() != nodes.end()));
    return ir.error();
  };
  CHECK(error_of([](numbered& g) { add_edge(0, 4, {1, {}}, g); }) == "vertex 4 (Sub) has two edges for operand 1");
  CHECK(error_of([](numbered& g) { add_edge(0, 4, {-1, {}}, g); }) == "vertex 4 (Sub) has an edge for operand -1");
  CHECK(error_of([](numbered& g) {
          add_edge(0, 4, {1 << 20, {}}, g);
        }) == "vertex 4 (Sub) has an edge for operand 1048576");
}

TEST_CASE("maps and functions name properties as members do") {
  enum class kind { leaf, relu, neg };
  struct coded {
    kind op = kind::leaf;
    std::vector<fuse::attribute> attributes{};
  };
  using indexed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, coded,
                                        boost::property<boost::edge_index_t, std::size_t>>;
  indexed g;
  for (auto const k : {kind::leaf, kind::relu, kind::neg}) g[add_vertex(g)].op = k;
  add_edge(0, 1, 0, g);
  add_edge(1, 2, 0, g);
  auto const name_of = [&](std::size_t v) -> std::string_view {
    return g[v].op == kind::leaf ? "" : g[v].op == kind::relu ? "Relu" : "Neg";
  };
  auto const set_name = [&](std::size_t v, std::string_view to) { g[v].op = to == "Relu" ? kind::relu : kind::neg; };
  auto const find = [&](std::size_t v, std::string_view name) {
    for (auto const& a : g[v].attributes)
      if (a.name == name) return fuse::attribute_view(std::get<std::int64_t>(a.content));
    return fuse::attribute_view();
  };
  auto const set_all = [&](std::size_t v, fuse::span<fuse::attribute const> all) {
    g[v].attributes.assign(all.begin(), all.end());
  };
  bgl::graph ir(g, bgl::operator_name(name_of, set_name), bgl::position(get(boost::edge_index, g)),
                bgl::attributes(find, set_all));
  using traits = fuse::graph_traits<decltype(ir)>;
  STATIC_REQUIRE(fuse::rewritable_graph<decltype(ir)>);
  fuse::graph::value const operands[] = {ir.value_of(1)};
  fuse::attribute const attributes[] = {{"axis", std::int64_t{3}}};
  fuse::element_type const types[] = {fuse::element_type::float32};
  auto const made = traits::insert(ir, ir.node_of(2), {"Relu", operands, attributes, types, {}});
  CHECK(g[ir.vertex(made)].op == kind::relu);
  CHECK(std::get<std::int64_t>(traits::attribute(ir, made, "axis")) == 3);

  bgl::graph const read(std::as_const(g), bgl::operator_name(name_of), bgl::position([](auto) { return 0; }));
  STATIC_REQUIRE(!fuse::rewritable_graph<std::remove_const_t<decltype(read)>>);
  CHECK(read.error() == "");
}

}  // namespace editing
