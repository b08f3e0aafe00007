// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/transaction.hpp>

namespace rewrite_transaction {

using namespace rewriting;

// New nodes have one result, whatever they are asked for.
struct single_results : graph {
  using graph::graph;
};

}  // namespace rewrite_transaction

template <>
struct fuse::graph_traits<rewrite_transaction::single_results> : fuse::graph_traits<fuse::graph> {
  static node insert(fuse::graph& g, node place, new_node<value> made) {
    made.result_types = {made.result_types.data(), 1};
    return graph_traits<fuse::graph>::insert(g, place, made);
  }
};

namespace rewrite_transaction {

namespace {

template <class G = graph>
struct opened {
  static constexpr auto const& names = fuse::dialect_of<G>;
  fuse::graph_binding<G> bound;
  fuse::detail::facts known;

  explicit opened(G& g) : bound(g, fuse::names_in(names), names.newest), known(bound.image, names) { known.run(); }

  fuse::node_id add_relu(fuse::detail::transaction& changes, fuse::value_id of, std::uint32_t results = 1) {
    fuse::value_id const operands[] = {of};
    return changes.node({names.code("Relu"), static_cast<std::uint16_t>(fuse::opcode::relu)}, "Relu", operands, {},
                        results, 0);
  }
};

}  // namespace

TEST_CASE("new nodes have facts before the graph has the nodes") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a", {"n", 8})});
  g.end(t);
  auto const before = to_text(g);
  graph& whole = g;
  opened o(whole);
  auto const nodes = o.bound.image.node_count();
  {
    fuse::detail::transaction changes(o.bound.image, o.known);
    auto const made = o.add_relu(changes, o.bound.number(t));
    auto const v = o.bound.image.result(made);
    CHECK(o.known.same_shape(v, o.bound.number(t)));
    CHECK(o.known.type(v) == element_type::float32);
    CHECK(to_text(g) == before);
  }
  CHECK(o.bound.image.node_count() == nodes);  // rolled back
  CHECK(to_text(g) == before);
}

TEST_CASE("a commit adds all of it before the place") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")});
  auto const y = g.add("Abs", {t});
  g.end(y);
  graph& whole = g;
  opened o(whole);
  {
    fuse::detail::transaction changes(o.bound.image, o.known);
    o.add_relu(changes, o.bound.number(t));
    changes.constant_of(fuse::make_tensor<float>({2}, std::vector<float>{1, 2}));
    CHECK(changes.constant_bytes() == 8);
    CHECK(changes.commit(o.bound.image.producer(o.bound.number(y)), "abs").empty());
  }
  CHECK(ops(g) == "Tanh Relu Abs");
}

TEST_CASE("where the graph makes a node of fewer results, nothing of the transaction stays") {
  single_results g;
  auto const t = g.add("Tanh", {g.input("a", element_type::float32, {2})});
  g.output(g.add("Abs", {t}));
  auto const before = to_text(g);
  opened o(g);
  auto const nodes = o.bound.image.node_count(), values = o.bound.image.value_count();
  auto const place = o.bound.image.producer(o.bound.number(g.outputs()[0]));
  for (int again = 0; again < 2; ++again) {
    fuse::detail::transaction changes(o.bound.image, o.known);
    auto const first = o.add_relu(changes, o.bound.number(t));
    o.add_relu(changes, o.bound.image.result(first), 3);
    CHECK(changes.commit(place, {}) == "the graph refuses a new Relu, or makes one with another number of results");
    CHECK(to_text(g) == before);
    CHECK(o.bound.image.node_count() == nodes);
    CHECK(o.bound.image.value_count() == values);
  }
  {
    fuse::detail::transaction changes(o.bound.image, o.known);
    o.add_relu(changes, o.bound.number(t));
    CHECK(changes.commit(place, {}).empty());
  }
  CHECK(ops(g) == "Tanh Relu Abs");
  std::string order;
  for (auto n = o.bound.image.first_node(); n != fuse::absent; n = o.bound.image.node(n).next)
    order += std::string(o.bound.op_name(n)) + ' ';
  CHECK(order == "Tanh Relu Abs ");
}

TEST_CASE("constants of a transaction are read before it is committed") {
  sketch g;
  g.end(g.add("Tanh", {g.in("a")}));
  graph& whole = g;
  opened o(whole);
  fuse::detail::transaction changes(o.bound.image, o.known);
  auto const v = changes.constant_of(fuse::make_tensor<float>({}, std::vector<float>{0.5f}));
  double number = 0;
  CHECK(o.bound.image.source->constant(v).size() == 1);
  CHECK(o.known.number(v, number));
  CHECK(number == 0.5);
}

TEST_CASE("what was rolled back is forgotten when a transaction is opened again") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a", {"n", 8})});
  g.end(t);
  graph& whole = g;
  opened o(whole);
  fuse::detail::transaction changes(o.bound.image, o.known);
  auto const first = changes.first_node();
  for (std::int64_t const keepdims : {0, 1}) {
    fuse::value_id const operands[] = {o.bound.number(t)};
    auto const made = changes.node({o.names.code("ReduceMean"), static_cast<std::uint16_t>(fuse::opcode::mean)},
                                   "ReduceMean", operands, {{"keepdims", keepdims}}, 1, 0);
    CHECK(made == first);
    CHECK(o.known.rank(o.bound.image.result(made)) == (keepdims == 0 ? 0 : 2));
    changes.roll_back();
    changes.open();
  }
  CHECK(o.bound.image.node_count() == first);
}

}  // namespace rewrite_transaction
