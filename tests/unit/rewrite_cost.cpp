// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/cost.hpp>

namespace rewrite_cost {

using namespace rewriting;

namespace {

using namespace fuse::dsl;

constexpr auto call = fuse::detail::traffic::call;

/// Bytes that the node of `v` moves, and what is saved without the given values.
struct measured {
  static constexpr auto const& names = fuse::dialect_of<graph>;
  fuse::graph_binding<graph const> bound;
  fuse::detail::facts known;
  fuse::detail::traffic traffic;

  explicit measured(graph const& g)
      : bound(g, fuse::names_in(names), names.newest), known(bound.image, names), traffic(bound.image, known) {
    known.run();
  }
  fuse::node_id node(graph const& g, graph::value v) { return (void)g, bound.image.producer(bound.number(v)); }
};

}  // namespace

TEST_CASE("a node costs the bytes that it reads and writes, and its call") {
  sketch g;
  auto const y = g.add("Add", {g.in("a", {4, 8}), g.in("b", {8})});
  auto const h = g.add("Abs", {g.in("c", {4, 8}, element_type::float16)});
  auto const n = g.add("Abs", {g.in("d", {"n", 8})});
  auto const rows = g.add("Flatten", {g.in("e", {"n", 8, "m"})}, {{"axis", std::int64_t{2}}});
  auto const r = g.add("Abs", {rows});
  for (auto const each : {y, h, n, r}) g.output(each);
  measured m(g);
  CHECK(m.traffic.of(m.node(g, y)) == call + 4 * (32 + 8 + 32));
  CHECK(m.traffic.of(m.node(g, h)) == call + 2 * (32 + 32));
  CHECK(m.traffic.of(m.node(g, n)) == call + 4 * 2 * 64 * 8);         // an unknown extent counts as 64
  CHECK(m.traffic.of(m.node(g, r)) == call + 4 * 2 * (64 * 8) * 64);  // and 8 times that is 8 times as many
}

TEST_CASE("what others use is saved in part, what dies is saved whole") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a", {4, 8})});
  auto const y = g.add("Abs", {t}), z = g.add("Sin", {t});
  g.output(y);
  bool const shared = GENERATE(false, true);
  if (shared) g.output(z);
  measured m(g);
  fuse::value_id const roots[] = {m.bound.number(y)};
  fuse::node_id const matched[] = {m.node(g, y), m.node(g, t)};
  auto const each = call + 4.0 * 64;
  CHECK(m.traffic.saved(roots, matched, {}, fuse::absent) == each + each / 2);
  CHECK(m.traffic.saved(roots, matched, {}, fuse::absent, each) == each + each / 2);
  CHECK(m.traffic.saved(roots, matched, {}, fuse::absent, each - 1) == each);  // counted no further
}

TEST_CASE("what was passed by is saved if it dies") {
  sketch g;
  auto const passed_by = g.add("Tanh", {g.in("a", {4, 8})});
  auto const y = g.add("Abs", {passed_by});
  g.output(y);
  bool const shared = GENERATE(false, true);
  if (shared) g.output(g.add("Sin", {passed_by}));
  measured m(g);
  fuse::value_id const roots[] = {m.bound.number(y)};
  fuse::node_id const matched[] = {m.node(g, y)}, passed[] = {m.node(g, passed_by)};
  auto const each = call + 4.0 * 64;
  CHECK(m.traffic.saved(roots, matched, passed, fuse::absent) == (shared ? each : 2 * each));
}

TEST_CASE("a change of shape is no call") {
  sketch g;
  auto const v = g.add("Identity", {g.in("a", {4, 8})});
  g.output(v);
  measured m(g);
  CHECK(m.traffic.of(m.node(g, v)) == 0);
}

TEST_CASE("of small tensors the number of operators tells, of large ones the bytes") {
  static constexpr auto x = var<"x">;
  static constexpr auto fewer = fuse::rule<"fewer">(relu(abs(x))).replace(op<"Max">(x, x, x, x));  // 4 tensors, 5
  auto const build = [](sketch& g, std::int64_t extent) {
    g.end(g.add("Relu", {g.add("Abs", {g.in("a", {extent, 8})})}));
  };
  sketch small, large;
  build(small, 4);
  CHECK(applied<fewer>(small) == 1);
  CHECK(ops(small) == "Max");
  build(large, 33);  // a tensor takes more than a call
  CHECK(refusal<fewer>(large) == "cost");
}

TEST_CASE("a node that stays for another of its results saves nothing") {
  static constexpr auto x = var<"x">, scale = var<"scale">;
  static constexpr auto other = fuse::rule<"other">(layer_norm(x, scale)).replace(x * scale);
  for (bool const used : {false, true}) {
    sketch g;
    auto const norm = g.append("LayerNormalization", {g.in("a", {4, 8}), g.in("scale", {8})}, {}, 2);
    g.end(g.result(norm));
    if (used) g.output(g.result(norm, 1), "mean");
    if (used)
      CHECK(refusal<other>(g) == "cost");
    else
      CHECK(applied<other>(g) == 1);
  }
}

}  // namespace rewrite_cost
