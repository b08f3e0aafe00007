// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace match_match {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto product = fuse::rule<"product">(relu(matmul(x, w) * scalar<"s">)).replace(matmul(x, w));
constexpr auto largest = fuse::rule<"largest">(relu(op<"Max">(x, rest<"more">))).replace(op<"Min">(x, rest<"more">));
constexpr auto any = fuse::rule_set<product, largest>;

}  // namespace

TEST_CASE("a match tells its rule, its root and what its names captured, as handles of the graph") {
  sketch g;
  auto const a = g.in("a", {4, 8}), b = g.in("b", {8, 4});
  auto const y = g.add("Relu", {g.add("Mul", {g.scalar(0.5f), g.add("MatMul", {a, b})})});
  g.end(y);
  auto const before = to_text(g);
  auto const found = fuse::match<product>(g, g.producer(y));
  REQUIRE(found.size() == 1);
  CHECK(found[0].rule() == "product");
  CHECK(found[0].root() == g.producer(y));
  CHECK(found[0].get<"x">() == a);
  CHECK(found[0].get<"w">() == b);
  CHECK(found[0].number<"s">() == 0.5);
  CHECK(to_text(g) == before);
}

TEST_CASE("matches are a range, and outlive it") {
  sketch g;
  auto const a = g.in("a", {4, 8});
  for (auto const* name : {"b", "c"})
    g.output(g.add("Relu", {g.add("Mul", {g.scalar(0.5f), g.add("MatMul", {a, g.in(name, {8, 4})})})}), name);
  auto const taken = [&] { return fuse::match_all<product>(g)[1]; }();
  CHECK(taken.get<"x">() == a);
  std::vector<fuse::match_of<product, sketch>> const kept = fuse::match_all<product>(g);
  REQUIRE(kept.size() == 2);
  CHECK(kept[1].root() == taken.root());
  std::vector<graph::value> weights;
  for (auto const& m : fuse::match_all<product>(g)) weights.push_back(m.get<"w">());
  CHECK(weights == std::vector<graph::value>{kept[0].get<"w">(), kept[1].get<"w">()});
  CHECK(fuse::match_all<product>(g).front().root() == kept[0].root());
  CHECK(fuse::match_all<product>(g).back().root() == kept[1].root());
}

TEST_CASE("a node that is not the root matches nothing") {
  sketch g;
  auto const m = g.add("Mul", {g.scalar(0.5f), g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 4})})});
  g.end(g.add("Relu", {m}));
  CHECK(fuse::match<product>(g, g.producer(m)).empty());
}

TEST_CASE("the members of a rest") {
  sketch g;
  std::vector<graph::value> const all{g.in("a"), g.in("b"), g.in("c")};
  auto const y = g.add("Relu", {g.add("Max", all)});
  g.end(y);
  auto const found = fuse::match<largest>(g, g.producer(y));
  REQUIRE(found.size() == 1);
  CHECK(found[0].get<"x">() == all[0]);
  CHECK(found[0].all<"more">() == std::vector<graph::value>{all[1], all[2]});
}

TEST_CASE("all matches of all rules in a graph, in a stable order") {
  sketch g;
  auto v = g.in("a", {4, 4});
  for (int i = 0; i < 3; ++i) {
    v = g.add("Relu", {g.add("Mul", {g.scalar(0.5f), g.add("MatMul", {v, g.in("w" + std::to_string(i), {4, 4})})})});
    v = g.add("Relu", {g.add("Max", {v, v})});
  }
  g.end(v);
  auto const found = fuse::match_all<any>(g), again = fuse::match_all<any>(g);
  REQUIRE(found.size() == 6);
  std::size_t products = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    products += found[i].rule() == "product" ? 1u : 0u;
    CHECK(found[i].root() == again[i].root());
  }
  CHECK(products == 3);
}

TEST_CASE("a pattern that matches although no rewrite would be made") {
  // No shapes at all: rewriting refuses, matching does not ask.
  sketch g;
  auto const y = g.add("Relu", {g.add("Max", {g.input("a"), g.input("b")})});
  g.end(y);
  CHECK(fuse::match_all<largest>(g).size() == 1);
  CHECK(fuse::rewrite<largest>(g).applied() == 0);
}

TEST_CASE("an alternative that did not match has no value") {
  static constexpr auto some =
      fuse::rule<"some">(relu(op<"Gemm">(x, w, optional(var<"b">)))).replace(op<"Gemm">(x, w, var<"b">));
  sketch g;
  auto const y = g.add("Relu", {g.add("Gemm", {g.in("a", {4, 8}), g.in("b", {8, 4})})});
  g.end(y);
  auto const found = fuse::match<some>(g, g.producer(y));
  REQUIRE(found.size() == 1);
  CHECK(found[0].get<"b">() == graph::value{});
}

}  // namespace match_match
