// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <variant>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/testing/graph_laws.hpp>

#include "../../examples/attribute_structs/adapt.hpp"

namespace rewriting {

using framework::elu, framework::graph, framework::norm, framework::reduce;
using namespace fuse::dsl;

static_assert(fuse::rewritable_graph<graph>);

namespace {

constexpr auto x = var<"x">;
constexpr auto plain_relu =
    fuse::rule<"plain-relu">(op<"elu">(x).attr<"alpha">(0)).replace(op<"relu">(x)).at_equal_cost();
constexpr auto averaged = fuse::rule<"averaged">(op<"relu">(x)).replace(op<"mean">(x)).at_equal_cost();
constexpr auto from_alpha = fuse::rule<"from-alpha">(op<"elu">(x).attr<"alpha">(param<"a">))
                                .replace(op<"layer_norm">(x).attr<"axis">(param<"a">))
                                .at_equal_cost();

template <class Attributes>
graph layer_norm(Attributes const& mean, float epsilon = 1e-5f) {
  graph g;
  auto* const in = g.input("x", {2, 3, 4});
  auto* const d = g.add("sub", {in, g.add("mean", {in}, mean)});
  auto* const variance = g.add("mean", {g.add("mul", {d, d})}, reduce{});
  auto* const deviation = g.add("sqrt", {g.add("add", {variance, g.constant({}, {epsilon})})});
  g.results = {g.add("mul", {g.add("div", {d, deviation}), g.constant({4}, {1, 2, 3, 4})})};
  return g;
}
graph one(std::string op, framework::attributes given = {}) {
  graph g;
  g.results = {g.add(std::move(op), {g.input("x", {2, 1})}, std::move(given))};
  return g;
}
template <class S>
S const& result(graph const& g) {
  REQUIRE(std::holds_alternative<S>(g.results[0]->attributes));
  return std::get<S>(g.results[0]->attributes);
}

}  // namespace

TEST_CASE("bundled rules read structs and write them") {
  auto g = layer_norm(reduce{{2}}, 0.25f);
  auto const report = fuse::rewrite<fuse::rules::norms>(g);
  CHECK(report.applied() == 1);
  REQUIRE(g.order.size() == 1);
  CHECK(g.results[0]->op == "layer_norm");
  CHECK(result<norm>(g).from == -1);
  CHECK(result<norm>(g).eps == 0.25f);
  CHECK(fuse::rewrite<fuse::rules::norms>(g).applied() == 0);
}

TEST_CASE("another member, another verdict") {
  auto kept = layer_norm(reduce{{2}, true}), dropped = layer_norm(reduce{{2}, false}), across = layer_norm(reduce{{1}});
  CHECK(fuse::rewrite<fuse::rules::norms>(kept).applied() == 1);
  CHECK(fuse::rewrite<fuse::rules::norms>(dropped).applied() == 0);
  CHECK(fuse::rewrite<fuse::rules::norms>(across).applied() == 0);
}

TEST_CASE("a node without a struct has its operator's defaults") {
  auto g = layer_norm(std::monostate{});
  CHECK(fuse::rewrite<fuse::rules::norms>(g).applied() == 1);
}

TEST_CASE("a pattern asks for members") {
  auto zero = one("elu", elu{0}), other = one("elu", elu{0.5}), none = one("elu");
  CHECK(fuse::rewrite<plain_relu>(zero).applied() == 1);
  CHECK(std::holds_alternative<std::monostate>(zero.results[0]->attributes));
  CHECK(fuse::rewrite<plain_relu>(other).applied() == 0);
  CHECK(fuse::rewrite<plain_relu>(none).applied() == 0);
}

TEST_CASE("what a right side leaves out is the struct's default, for shapes as well") {
  auto g = one("relu");  // over all axes, as ONNX would have it, the result would be of another shape
  CHECK(fuse::rewrite<averaged>(g).applied() == 1);
  CHECK(result<reduce>(g).over == std::vector{-1});
  CHECK(result<reduce>(g).keep);
}

TEST_CASE("a captured number that the member cannot hold is refused, in the report and in JSON") {
  auto whole = one("elu", elu{1});
  CHECK(fuse::rewrite<from_alpha>(whole).applied() == 1);
  CHECK(result<norm>(whole).from == 1);
  CHECK(result<norm>(whole).eps == norm{}.eps);

  auto half = one("elu", elu{0.5});
  auto const report = fuse::rewrite<from_alpha>(half);
  CHECK(report.applied() == 0);
  CHECK(half.results[0]->op == "elu");
  constexpr auto why = "the parameter 'axis' of layer_norm is an integer, and what gives it is none";
  CHECK(to_text(report).find(why) != std::string::npos);
  CHECK(to_json(report).find(why) != std::string::npos);
}

TEST_CASE("an explanation names the member, what it holds and what it is") {
  auto const g = one("layer_norm", norm{-2, 0.5f});
  static constexpr auto pattern =
      fuse::rule<"r">(op<"layer_norm">(x).attr<"axis">(-2).attr<"epsilon">(0.25)).replace(x);
  fuse::matcher<pattern, graph> matcher(g);
  CHECK(to_text(matcher.why(g.results[0])) ==
        "expected 'epsilon' to be 0.25, found layer_norm 'layer_norm1', whose 'epsilon' (its attribute 'eps': number) "
        "is 0.5");
  static constexpr auto alpha = fuse::rule<"r">(op<"elu">(x).attr<"alpha">(2)).replace(x);
  auto const e = one("elu");
  fuse::matcher<alpha, graph> other(e);
  CHECK(to_text(other.why(e.results[0])) == "expected 'alpha' to be 2, found elu 'elu1', whose 'alpha' (number) is 1");
}

TEST_CASE("the laws of graphs hold") {
  fuse::testing::graph_examples<graph> examples;
  examples.absent_operands = false;
  examples.attributes = {{"from", std::int64_t{-2}}, {"eps", 0.5},   {"over", std::vector<std::int64_t>{-2, -1}},
                         {"keep", std::int64_t{0}},  {"alpha", 0.1}, {"axis", std::int64_t{1}}};
  CHECK(fuse::testing::graph_laws<graph>(
            [] {
              auto g = layer_norm(reduce{{2}});
              g.results.push_back(g.add("elu", {g.add("layer_norm", {g.results[0]}, norm{})}, elu{2}));
              return g;
            },
            examples) == std::vector<std::string>{});
}

}  // namespace rewriting
