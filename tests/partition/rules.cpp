// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/partition.hpp>

#include "../sampled.hpp"
#include "written_graph.hpp"

namespace rules {

inline constexpr auto my_dialect = fuse::onnx.with(
    {{.name = "my::Scale", .kind = fuse::op_kind::elementwise}, {.name = "Softmax", .kind = fuse::op_kind::opaque}});
struct of_mine : fuse::graph {
  explicit of_mine(fuse::graph const& other) : fuse::graph(other) {}
};

}  // namespace rules

template <>
struct fuse::graph_traits<rules::of_mine> : fuse::owned_graph_traits<rules::of_mine> {
  static constexpr auto& dialect = rules::my_dialect;
};

namespace rules {

using fuse::op_kind;
using groups = std::vector<std::string>;
using options = fuse::partition_options<fuse::graph>;

// The names of the nodes of each group.
groups grouped(fuse::graph const& g, options const& to = {}) {
  groups all;
  for (auto const& group : fuse::partition(g, to).groups) {
    std::string names;
    for (auto const n : group.nodes) names += (names.empty() ? "" : " ") + std::string(g.name(n));
    all.push_back(names);
  }
  return all;
}
groups grouped(std::string_view text, options const& to = {}) { return grouped(written_graph(text).graph, to); }

std::vector<std::string> names_of(written_graph const& in, std::vector<fuse::graph::value> const& values) {
  std::vector<std::string> all;
  for (auto const v : values)
    for (auto const& [name, known] : in.values)
      if (known == v) all.push_back(name);
  return all;
}

// The small graphs of TVM's own tests of its pass, and the examples of its paper (section 3).
TEST_CASE("elementwise, broadcast and injective operators go into what reads them") {
  CHECK(grouped("x[4,8] a=Add(x,c1) e=Exp(a) s=Unsqueeze<0>(e) -> s") == groups{"a e s"});
  CHECK(grouped("x[4,8] t=Transpose(x) e=Exp(t) u=Transpose(e) -> u") == groups{"t e u"});
  CHECK(grouped("x[4,8] i[3] m=Mul(x,c2) t=Gather<0>(m,i) -> t") == groups{"m t"});
  CHECK(grouped("x[4,8] l=Transpose(x) r=Transpose(x) a=Add(l,r) -> a") == groups{"l r a"});
  CHECK(grouped("x[4] y[8,4] e=Exp(x) a=Add(e,y) -> a") == groups{"e a"});
}

TEST_CASE("an anchor takes what follows element by element") {
  CHECK(grouped("x[1,8,9,9] w[8,8,3,3] a=Add(x,c1) v=Conv(a,w) r=Relu(v) -> r") == groups{"v r"});
  CHECK(grouped("x[1,8,9,9] w[8,8,1,1] a=Add(x,c1) k=Conv(a,w) b=Add(k,c2) s=Add(k,b) k2=Conv(s,w) k3=Conv(s,w) "
                "z=Add(k2,k3) -> z") == groups{"k b s", "k2 z"});
  // TVM leaves the Transpose to others.
  CHECK(grouped("x[4,8] w[8,8] m=MatMul(x,w) t=Transpose(m) r=Relu(t) -> r") == groups{"m t r"});
  CHECK(grouped("x[4,8] w[8,8] m=MatMul(x,w) t=Concat<0>(m,m) -> t").empty());
  CHECK(grouped("x[4,8] w[8,8] m=MatMul(x,w) t=Transpose(m) u=Concat<0>(t,x) -> u") == groups{"m t"});
  CHECK(grouped("x[1,8] y[4,8] w[8,8] m=MatMul(x,w) a=Add(m,y) -> a").empty());  // m would be computed four times
  CHECK(grouped("x[4,8] y[4,8] w[8,8] m=MatMul(x,w) e=Exp(y) a=Add(m,e) -> a") == groups{"m e a"});
  CHECK(grouped("x w m=MatMul(x,w) f=Flatten<1>(m) a=Add(f,c1) -> a") == groups{"m f a"});  // no shape is known
  CHECK(grouped("x[4,8] w[8,8] m=MatMul(x,w) r=Relu(m) s=Softmax<-1>(r) -> s") == groups{"m r"});
}

TEST_CASE("convolutions that are put together stay apart") {
  CHECK(grouped("x[1,8,9,9] w[8,8,1,1] k=Conv(x,w) r=Relu(k) k2=Conv(x,w) r2=Relu(k2) j=Concat<1>(r,r2) k3=Conv(j,v) "
                "r3=Relu(k3) -> r3") == groups{"k r", "k2 r2", "k3 r3"});
}

TEST_CASE("several results stay with their node") {
  CHECK(grouped("x[4,8] w[8,8] m=MatMul(x,w) p,q=Split<1>(m) s=Sigmoid(p) t=Tanh(q) u=Mul(s,t) -> u") ==
        groups{"p s t u"});
  CHECK(grouped("x[4,8] p,q=Split<1>(x) s=Sigmoid(p) t=Tanh(q) -> s t") == groups{"p s"});
  CHECK(grouped("x[4,8] y[4,8] a=Exp(x) b=Exp(y) j=Concat<0>(a,b) r=Relu(j) -> r") == groups{"a b j r"});
  CHECK(grouped("x[1,8,9,9] p=MaxPool(x) t=Gather<2>(p,i) j=Concat<1>(t,x) a=Add(j,c1) -> a") == groups{"t j a"});
}

TEST_CASE("a diamond is one group, unless something in it is opaque") {
  CHECK(grouped("x[4] a=Exp(x) b=Relu(a) d=Tanh(a) s=Add(b,d) -> s") == groups{"a b d s"});
  CHECK(grouped("x[4] a=Exp(x) b=Relu(a) o=my::Op(a) s=Add(b,o) -> s") == groups{"b s"});
  CHECK(grouped("x[4,4] w[4,4] a=Exp(x) m=MatMul(a,w) s=Add(m,a) -> s") == groups{"m s"});
  CHECK(grouped("x[4] a=Exp(x) o=my::Op(a) p=my::Op(o) -> p").empty());
}

TEST_CASE("a reduction takes what feeds it and what follows in its rows") {
  CHECK(grouped("x[4,8] e=Exp(x) s=ReduceSum<-1>(e) -> s") == groups{"e s"});
  CHECK(grouped("x[4,8] t=Transpose(x) s=ReduceSum<-1>(t) -> s") == groups{"t s"});
  // TVM ends a group at a reduction.
  CHECK(grouped("x[4,8] s=ReduceSum<-1>(x) r=Sqrt(s) d=Div(x,r) -> d") == groups{"s r d"});
  CHECK(grouped("x[4,8] m=ReduceMax<-1>(x) d=Sub(x,m) e=Exp(d) s=ReduceSum<-1>(e) p=Div(e,s) -> p") ==
        groups{"m d e s p"});
  CHECK(grouped("x[4,8] n=Softmax<-1>(x) r=Relu(n) -> r") == groups{"n r"});
  // Other rows: along another axis, of another shape, or moved.
  CHECK(grouped("x[4,8] m=ReduceMax<-1>(x) d=Sub(x,m) s=ReduceSum<0>(d) -> s") == groups{"m d"});
  CHECK(grouped("x[4,8] y[3,4,8] m=ReduceMax<-1>(x) a=Add(y,m) -> a").empty());
  CHECK(grouped("x[4,8] m=ReduceMax<-1>(x) t=Transpose(m) -> t").empty());
  CHECK(grouped("x[4,8] e=Exp(x) m=ReduceMax<-1>(e) t=Transpose(m) a=Add(e,t) -> a") == groups{"e m", "t a"});
}

TEST_CASE("a layer norm in its parts is one group") {
  CHECK(grouped("x[4,8] m=ReduceMean<-1>(x) d=Sub(x,m) q=Mul(d,d) v=ReduceMean<-1>(q) a=Add(v,c1) r=Sqrt(a) n=Div(d,r) "
                "s=Mul(n,w) b=Add(s,w) -> b") == groups{"m d q v a r n s b"});
}

// Groups with their norms by formula behind them.
groups with_formulas(std::string_view text, options const& to = {}) {
  written_graph const w(text, 17);
  groups all;
  for (auto const& group : fuse::partition(w.graph, to).groups) {
    std::string names;
    for (auto const n : group.nodes) names += (names.empty() ? "" : " ") + std::string(w.graph.name(n));
    for (auto const n : group.by_formula) names += " | " + std::string(w.graph.name(n));
    all.push_back(names);
  }
  return all;
}

TEST_CASE("a batch norm goes with what it follows, unless it makes its statistics") {
  auto const before = std::string("x[1,8,9,9] w[8,8,3,3] k=Conv(x,w) ");
  CHECK(grouped(before + "n=BatchNormalization(k,s,b,m,v) r=Relu(n) -> r") == groups{"k n r"});
  CHECK(grouped(before + "n,p,q=BatchNormalization(k,s,b,m,v) r=Relu(n) -> r").empty());
  CHECK(with_formulas(before + "n,p,q=BatchNormalization(k,s,b,m,v) r=Relu(n) -> r") == groups{"n r"});
}

TEST_CASE("a norm takes part by its formula where that moves less") {
  // Into another layout, and into a reduction of other rows: reading x again is less than writing and reading the norm.
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) -> t") == groups{"n t | n"});
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) r=Relu(n) m=ReduceMean<1>(r) d=Tanh(m) -> d") ==
        groups{"n r m d | n"});
  CHECK(with_formulas("x[2,64,96] n=LogSoftmax<-1>(x) m=ReduceSum<0>(n) -> m") == groups{"n m | n"});
  CHECK(with_formulas("x[2,64,96] n=InstanceNormalization(x,s,b) m=ReduceMean<1>(n) -> m") == groups{"n m | n"});
  // As one operator: with what feeds it, which would be written and read twice, and where others read it anyway.
  CHECK(with_formulas("x[2,64,96] e=Exp(x) n=LayerNormalization<-1>(e,s,b) t=Transpose(n) -> t") == groups{"e n"});
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) -> t n").empty());
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) r=Relu(n) -> r") == groups{"n r"});
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) r=ReduceMean<-1>(n) -> r") == groups{"n r | n"});
  // A softmax would compute its exponentials twice.
  CHECK(with_formulas("x[2,64,96] n=Softmax<-1>(x) t=Transpose(n) -> t").empty());
  // Statistics that are given out, and norms that a user wants whole.
  CHECK(with_formulas("x[2,64,96] n,m=LayerNormalization<-1>(x,s,b) t=Transpose(n) -> t m").empty());
  options whole;
  whole.by_formula = false;
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) -> t", whole).empty());
}

TEST_CASE("what a norm by its formula saves: what it need not write, less what its statistics read") {
  written_graph const w("x[2,64,96] s[96] b[96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) -> t", 17);
  auto const made = fuse::partition(w.graph);
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].kind == op_kind::injective);
  CHECK(made.groups[0].bytes_saved == (2 - 1) * 2 * 64 * 96 * 4);
  CHECK(names_of(w, made.groups[0].inputs) == std::vector<std::string>{"x", "s", "b"});
}

TEST_CASE("of several norms each is taken as it is best") {
  CHECK(with_formulas("x[2,64,96] y[2,64,96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) e=Exp(y) "
                      "o=LayerNormalization<-1>(e,s,b) u=Transpose(o) v=my::Op(t,u) -> v") == groups{"n t | n", "e o"});
  // The second reads the first, which would be written for its statistics.
  CHECK(with_formulas("x[2,64,96] n=LayerNormalization<-1>(x,s,b) t=Transpose(n) o=LayerNormalization<-1>(t,s,b) "
                      "u=Transpose(o) -> u") == groups{"t o"});
}

// The first is what TVM's FuseOpsByPattern made one of (its pull request 15308).
TEST_CASE("groups that overlap are not made one where two of their nodes do not go together") {
  CHECK(grouped("x[8,8] y[8,8] z[8,8] u=MatMul(y,z) v=MatMul(x,z) b=Add(v,c1) s=Add(b,u) r=Add(s,x) -> r") ==
        groups{"v b", "u s r"});
  CHECK(grouped("x[4,4] w[4,4] m=MatMul(x,w) k=MatMul(x,v) a=Add(m,k) r=Relu(a) -> r") == groups{"m a r"});
  CHECK(grouped("x[4,4] w[4,4] m=MatMul(x,w) s=Softmax<-1>(x) a=Add(m,s) -> a") == groups{"m a"});
  CHECK(grouped("x[4,8] m=ReduceMax<-1>(x) n=ReduceMax<0>(x) a=Add(m,n) -> a") == groups{"m a"});
}

TEST_CASE("what is given out in the middle stays inside, and so does what others read later") {
  written_graph const w("x[4] a=Exp(x) b=Relu(a) d=Tanh(b) -> a d");
  auto const made = fuse::partition(w.graph);
  REQUIRE(made.groups.size() == 1);
  CHECK(names_of(w, made.groups[0].outputs) == std::vector<std::string>{"a", "d"});
  // A residual sum and its norm, then what reads the sum again.
  CHECK(grouped("x[4,8] w[8,8] s=Add(x,c1) n=Softmax<-1>(s) m=MatMul(n,w) r=Add(m,s) -> r") == groups{"s n", "m r"});
  // Not where something that the group needs reads it before.
  CHECK(grouped("x[4] a=Exp(x) o=my::Op(a) b=Relu(a) d=Add(b,o) -> d") == groups{"b d"});
  CHECK(grouped("x[4] a=Exp(x) b=Relu(a) o=my::Op(a) d=Add(b,o) p=my::Op(d) -> p") == groups{"b d"});
}

TEST_CASE("what several read goes with the first of them, where nothing that this one needs reads it") {
  CHECK(grouped("x[4] a=Exp(x) q=Exp(x) y=Add(a,q) o=my::Op(y) z=Mul(a,o) -> z q") == groups{"a q y"});
  CHECK(grouped("x[4] a=Exp(x) y=Relu(a) q=Add(y,c1) o=my::Op(a) z=Add(q,o) -> z") == groups{"y q z"});
}

TEST_CASE("parameters are no way into a group") {
  CHECK(grouped("x[4,8] s=Shape(x) g=Gather<0>(s,c1) u=Unsqueeze<0>(g) r=Reshape(x,u) e=Exp(r) -> e") ==
        groups{"g u", "r e"});
}

TEST_CASE("a row of the dialect states another kind") {
  auto const text = "x[4,4] a=my::Scale(x) b=Relu(a) s=Softmax<-1>(b) d=Tanh(s) -> d";
  CHECK(grouped(text) == groups{"b s d"});
  auto const made = fuse::partition(of_mine(written_graph(text).graph));
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].kind == op_kind::elementwise);
  CHECK(made.groups[0].nodes.size() == 2);  // a, b: the Softmax is nobody's
}

TEST_CASE("limits and a veto keep groups small") {
  auto const chain = "x[4] a=Exp(x) b=Relu(a) d=Tanh(b) e=Abs(d) f=Neg(e) -> f";
  CHECK(grouped(chain) == groups{"a b d e f"});
  options to;
  to.max_depth = 2;
  CHECK(grouped(chain, to) == groups{"a b", "d e"});
  to = {};
  to.max_bytes = 3 * 16;
  CHECK(grouped(chain, to) == groups{"a b d", "e f"});
  to = {};
  to.max_operands = 3;
  CHECK(grouped("x[4] y[4] z[4] u[4] a=Add(x,y) b=Mul(a,z) d=Mul(b,x) e=Add(d,u) -> e", to) == groups{"a b d"});
  to = {};
  written_graph w(chain);
  to.context = &w.nodes["d"];
  to.veto = [](void* context, fuse::graph::node const& from, fuse::graph::node const&) {
    return from == *static_cast<fuse::graph::node*>(context);
  };
  CHECK(grouped(w.graph, to) == groups{"a b d", "e f"});
}

TEST_CASE("a node may be left alone, wherever it stands") {
  auto const left_alone = [](std::string_view text, std::string const& name) {
    written_graph w(text);
    options to;
    to.context = &w.nodes[name];
    to.alone = [](void* context, fuse::graph::node const& n) { return n == *static_cast<fuse::graph::node*>(context); };
    return grouped(w.graph, to);
  };
  CHECK(left_alone("x[4] a=Exp(x) b=Relu(a) d=Tanh(b) e=Abs(d) f=Neg(e) -> f", "d") == groups{"a b", "e f"});
  // Between others, where a veto is not asked.
  auto const diamond = "x[4] a=Exp(x) b=Relu(a) d=Tanh(a) e=Add(b,d) -> e";
  CHECK(grouped(diamond) == groups{"a b d e"});
  CHECK(left_alone(diamond, "d") == groups{"b e"});
  CHECK(left_alone("x[4,8] w[8,8] b[4,8] m=MatMul(x,w) a=Add(m,b) r=Add(a,b) -> r", "m") == groups{"a r"});
}

TEST_CASE("a group tells its kind, what it reads, what it gives out and what it saves") {
  written_graph const w("x[4,8] w[8,8] b[4,8] m=MatMul(x,w) a=Add(m,b) r=Add(a,b) -> r");
  auto const made = fuse::partition(w.graph);
  CHECK(made.nodes == 3);
  CHECK(made.operators == 1);
  REQUIRE(made.groups.size() == 1);
  auto const& group = made.groups[0];
  CHECK(group.kind == op_kind::anchor);
  CHECK(names_of(w, group.inputs) == std::vector<std::string>{"x", "w", "b"});
  CHECK(names_of(w, group.outputs) == std::vector<std::string>{"r"});
  CHECK(group.bytes_saved == 5 * 4 * 8 * 4);  // m and a are neither written nor read, b is read once
}

TEST_CASE("bodies are grouped by themselves, and what they read stays outside") {
  fuse::graph g(17);
  auto const x = g.input("x", fuse::element_type::float32, {4});
  auto const e = g.add("Exp", {x});
  auto const r = g.add("Relu", {e});
  auto const choice = g.append("If", {g.input("c")});
  auto const body = g.add_body(choice, "then");
  g.append_to(body);
  auto const a = g.add("Abs", {e}), t = g.add("Tanh", {a});
  g.output(t);
  g.append_to(fuse::graph::main_body);
  auto const s = g.add("Add", {r, g.result(choice)});
  g.output(s);
  auto const made = fuse::partition(g);
  REQUIRE(made.groups.size() == 2);
  CHECK(made.groups[0].nodes == std::vector{g.producer(a), g.producer(t)});
  CHECK(made.groups[1].nodes == std::vector{g.producer(r), g.producer(s)});
}

TEST_CASE("a million nodes in a row are one group") {
  fuse::graph g(17);
  auto v = g.input("x", fuse::element_type::float32, {4});
  constexpr auto nodes = 1'000'000 / one_case_in;
  for (std::size_t i = 0; i < nodes; ++i) v = g.add("Relu", {v});
  g.output(v);
  auto const made = fuse::partition(g);
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].nodes.size() == nodes);
}

TEST_CASE("a cycle has no groups") {
  fuse::graph g;
  auto const a = g.append("Relu", {fuse::graph::value{}});
  g.set_operand(a, 0, g.result(a));
  CHECK(fuse::partition(g).cyclic);
}

}  // namespace rules
