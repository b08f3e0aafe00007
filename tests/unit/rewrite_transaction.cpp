// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/transaction.hpp>

namespace rewrite_transaction {

using namespace rewriting;

namespace {

struct opened {
  static constexpr auto const& names = fuse::dialect_of<graph>;
  fuse::graph_binding<graph> bound;
  fuse::facts known;

  explicit opened(graph& g) : bound(g, fuse::names_in(names), names.newest), known(bound.image, names) { known.run(); }

  fuse::node_id add_relu(fuse::transaction& changes, fuse::value_id of) {
    fuse::value_id const operands[] = {of};
    return changes.node({names.code("Relu"), static_cast<std::uint16_t>(fuse::opcode::relu)}, "Relu", operands, {}, 1,
                        0);
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
    fuse::transaction changes(o.bound.image, o.known);
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
    fuse::transaction changes(o.bound.image, o.known);
    o.add_relu(changes, o.bound.number(t));
    changes.constant_of(fuse::make_tensor<float>({2}, std::vector<float>{1, 2}));
    CHECK(changes.constant_bytes() == 8);
    CHECK(changes.commit(o.bound.image.producer(o.bound.number(y)), "abs"));
  }
  CHECK(ops(g) == "Tanh Relu Abs");
}

TEST_CASE("constants of a transaction are read before it is committed") {
  sketch g;
  g.end(g.add("Tanh", {g.in("a")}));
  graph& whole = g;
  opened o(whole);
  fuse::transaction changes(o.bound.image, o.known);
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
  fuse::transaction changes(o.bound.image, o.known);
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
