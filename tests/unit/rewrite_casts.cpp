// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/casts.hpp>

#include <second_dialect.hpp>

namespace rewrite_casts {

using namespace rewriting;

namespace {

/// A graph with a transaction that makes Casts before its last node.
template <class G>
struct opened {
  static constexpr auto const& names = fuse::dialect_of<G>;
  G& graph;
  fuse::graph_binding<G> bound{graph, fuse::names_in(names), names.newest};
  fuse::detail::facts known{bound.image, names};

  /// What `v` becomes in `type`: the number of new nodes, and whether the result has the type.
  std::pair<std::size_t, bool> make(fuse::graph::value v, element_type type, fuse::graph::node before) {
    known.run();
    auto const place = bound.image.producer(bound.number(graph.result(before)));
    fuse::detail::transaction changes(bound.image, known);
    fuse::detail::basic_cast_maker<fuse::graph_image> casts(bound.image, known, names, fuse::target::standard, changes,
                                                            place);
    auto const made = casts.make(bound.number(v), type);
    CHECK(casts.make(bound.number(v), type) == made);  // asked again, the same
    auto const count = bound.image.node_count() - changes.first_node();
    auto const right = made != fuse::absent && known.type(made) == type;
    if (count != 0) CHECK(changes.commit(place, "made").empty());
    return {count, right};
  }
};
template <class G>
opened(G&) -> opened<G>;

}  // namespace

TEST_CASE("a value of the type is itself, another gets one Cast") {
  sketch g;
  auto const a = g.in("a", {4}, element_type::float16);
  auto const y = g.add("Relu", {a});
  g.end(y);
  graph& whole = g;
  CHECK(opened{whole}.make(a, element_type::float16, g.producer(y)) == std::pair{std::size_t{0}, true});
  CHECK(opened{whole}.make(a, element_type::float32, g.producer(y)) == std::pair{std::size_t{1}, true});
  CHECK(ops(g) == "Cast Relu");
}

TEST_CASE("what was widened in steps is cast once, from below") {
  sketch g;
  auto const a = g.in("a", {4}, element_type::float16);
  auto const wide = g.add("Cast", {g.add("Identity", {g.add("Cast", {a}, {{"to", 1}})})}, {{"to", 11}});
  auto const y = g.add("Relu", {wide});
  g.end(y);
  graph& whole = g;
  CHECK(opened{whole}.make(wide, element_type::float64, g.producer(y)) == std::pair{std::size_t{1}, true});
  std::size_t of_a = 0;
  for (auto const n : g.nodes()) of_a += g.op(n) == "Cast" && g.operands(n)[0] == a ? 1 : 0;
  CHECK(of_a == 2);
}

TEST_CASE("a Cast that stands before the place serves again, a later one does not") {
  for (bool const earlier : {true, false}) {
    sketch g;
    auto const a = g.in("a", {4}, element_type::float16);
    if (earlier) g.output(g.add("Cast", {a}, {{"to", 1}}), "z");
    auto const y = g.add("Relu", {a});
    if (!earlier) g.output(g.add("Cast", {a}, {{"to", 1}}), "z");
    g.end(y);
    graph& whole = g;
    CHECK(opened{whole}.make(a, element_type::float32, g.producer(y)) ==
          std::pair{std::size_t{earlier ? 0u : 1u}, true});
  }
}

TEST_CASE("a Cast is written as the dialect writes it") {
  second::graph g;
  auto const a = g.input("a", element_type::float16, {4});
  auto const y = g.add("ramp", {a});
  g.output(y, "y");
  CHECK(opened{g}.make(a, element_type::float32, g.producer(y)) == std::pair{std::size_t{1}, true});
  CHECK(ops(g) == "as_type ramp");
}

}  // namespace rewrite_casts
