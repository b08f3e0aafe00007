// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_rewrite {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto tidy = fuse::rule<"tidy">(abs(tanh(x))).replace(relu(x));
constexpr auto unlike_shape = fuse::rule<"unlike-shape">(abs(tanh(matmul(x, w)))).replace(relu(x));
constexpr auto unlike_type = fuse::rule<"unlike-type">(abs(tanh(op<"Cast">(x)))).replace(relu(x));

}  // namespace

// Right or refused: every sentence of what a rewrite promises has a graph that breaks only that.

TEST_CASE("a replacement of another shape is refused") {
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 5})})})}));
  CHECK(refusal<unlike_shape>(g) == "shape and element type");
}

TEST_CASE("a replacement whose shape is not provably the same is refused") {
  sketch g;
  SECTION("another symbol") {
    g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, "n"}), g.in("b", {"n", "m"})})})}));
    CHECK(refusal<unlike_shape>(g) == "shape and element type");
  }
  SECTION("an unknown rank") {
    g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, 8}), g.input("b", element_type::float32)})})}));
    CHECK(refusal<unlike_shape>(g) == "shape and element type");
  }
  SECTION("the same symbol is proof") {
    g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, "n"}), g.in("b", {"n", "n"})})})}));
    CHECK(applied<unlike_shape>(g) == 1);
  }
}

TEST_CASE("a replacement of another element type is refused") {
  sketch g;
  auto const to = GENERATE(1, 11);
  g.end(g.add("Abs", {g.add("Tanh", {g.add("Cast", {g.in("a")}, {{"to", to}})})}));
  if (to == 1)
    CHECK(applied<unlike_type>(g) == 1);
  else
    CHECK(refusal<unlike_type>(g) == "shape and element type");
}

TEST_CASE("an element type that nobody knows is a reason, not a licence") {
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.input("a")})}));
  CHECK(refusal<tidy>(g) == "element type");
}

TEST_CASE("a graph output keeps its name") {
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
  CHECK(applied<tidy>(g) == 1);
  REQUIRE(g.outputs().size() == 1);
  CHECK(g.output_name(0) == "y");
  CHECK(g.op(g.producer(g.outputs()[0])) == "Relu");
}

TEST_CASE("an interior value that is an output, or has another user, stays") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a", {1000, 8})});
  SECTION("an output") { g.output(t, "t"); }
  SECTION("a user") { g.output(g.add("Sin", {t}), "t"); }
  SECTION("a body that captures it") {
    auto const n = g.append("If", {g.in("c", {}, element_type::boolean)});
    g.append_to(g.add_body(n, "then_branch"));
    g.output(g.add("Sin", {t}), "r");
    g.append_to(graph::main_body);
    g.output(g.result(n), "t");
  }
  g.end(g.add("Abs", {t}));
  auto const outputs = g.outputs();
  (void)fuse::rewrite<tidy>(g);
  CHECK(g.alive(g.producer(t)));  // the rule fires or does not; what others read is never lost
  CHECK(g.outputs()[0] == outputs[0]);
}

TEST_CASE("what nobody reads any more is erased, what others read is not") {
  sketch g;
  auto const e = g.add("Exp", {g.in("a")});
  g.end(g.add("Abs", {g.add("Tanh", {e})}));
  g.output(e, "e");
  CHECK(applied<tidy>(g) == 1);
  CHECK(ops(g) == "Exp Relu");
}

TEST_CASE("a refused rewrite leaves the graph as it was, handles included") {
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 5})})})}));
  auto const before = to_text(g);
  auto const nodes = g.node_count();
  CHECK(refusal<unlike_shape>(g) == "shape and element type");
  CHECK(to_text(g) == before);
  CHECK(g.node_count() == nodes);
  CHECK(g.add("Next", {}).id == g.outputs()[0].id + 1);
}

TEST_CASE("a cycle is an error, not a hang") {
  sketch g;
  auto const a = g.in("a");
  auto const t = g.add("Tanh", {a});
  auto const y = g.add("Abs", {t});
  g.set_operand(g.producer(t), 0, y);
  g.end(y);
  auto const report = fuse::rewrite<tidy>(g);
  CHECK(report.error == "the graph has a cycle");
  CHECK(report.applied() == 0);
}

TEST_CASE("new nodes stand before what reads them and after what they read") {
  sketch g;
  auto const a = g.in("a");
  auto const y = g.add("Abs", {g.add("Tanh", {g.add("Exp", {a})})});
  g.end(g.add("Sin", {y}));
  CHECK(applied<tidy>(g) == 1);
  CHECK(ops(g) == "Exp Relu Sin");
}

TEST_CASE("a replacement that is a capture") {
  static constexpr auto gone = fuse::rule<"gone">(op<"Neg">(op<"Neg">(x))).replace(x);
  sketch g;
  auto const a = g.in("a");
  SECTION("computed") {
    auto const e = g.add("Exp", {a});
    g.end(g.add("Neg", {g.add("Neg", {e})}));
    CHECK(applied<gone>(g) == 1);
    CHECK(ops(g) == "Exp");
  }
  SECTION("twice over") {
    auto const e = g.add("Exp", {a});
    g.end(g.add("Neg", {g.add("Neg", {g.add("Neg", {g.add("Neg", {e})})})}));
    CHECK(applied<gone>(g) >= 1);
    CHECK(ops(g) == "Exp");
  }
}

TEST_CASE("a second run changes nothing") {
  sketch g;
  auto v = g.in("a");
  for (int i = 0; i < 5; ++i) v = g.add("Abs", {g.add("Tanh", {v})});
  g.end(v);
  CHECK(applied<tidy>(g) == 5);
  auto const once = to_text(g);
  CHECK(applied<tidy>(g) == 0);
  CHECK(to_text(g) == once);
}

TEST_CASE("the same graph gives the same result and the same report") {
  auto const build = [] {
    sketch g;
    auto const a = g.in("a");
    auto const t = g.add("Tanh", {a});
    for (auto op : {"Abs", "Sin", "Abs", "Cos", "Abs"}) g.output(g.add(op, {t}), op);
    return g;
  };
  auto g = build(), h = build();
  auto const one = fuse::rewrite<tidy>(g), two = fuse::rewrite<tidy>(h);
  CHECK(to_text(g) == to_text(h));
  CHECK(to_json(one) == to_json(two));
}

TEST_CASE("when a larger match is refused, a smaller one may apply, and the refusal is told") {
  static constexpr auto large = fuse::rule<"large">(exp(abs(tanh(x)))).where(rank<"x">(9)).replace(relu(x));
  static constexpr auto both = fuse::rule_set<large, tidy>;
  sketch g;
  g.end(g.add("Exp", {g.add("Abs", {g.add("Tanh", {g.in("a")})})}));
  auto const report = fuse::rewrite<both>(g);
  CHECK(report.rule("tidy")->applied == 1);
  CHECK(report.rule("large")->applied == 0);
  CHECK(refused(report, "large") == "the rank");
  CHECK(ops(g) == "Relu Exp");
}

}  // namespace rewrite_rewrite
