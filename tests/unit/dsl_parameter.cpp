// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_parameter {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto gathered = fuse::rule<"gathered">(relu(op<"Gather">(x, w).attr<"axis">(param<"axis">)))
                              .replace(op<"Gather">(x, w).attr<"axis">(param<"axis">));
constexpr auto both =
    fuse::rule<"both">(op<"Softmax">(relu(op<"Softmax">(x).attr<"axis">(param<"axis">))).attr<"axis">(param<"axis">))
        .replace(relu(x));
constexpr auto means = fuse::rule<"means">(mean(abs(mean(x)))).replace(mean(x).attr<"axes">(param<"axes">));
constexpr auto two_means =
    fuse::rule<"two-means">(mean(abs(mean(x).attr<"axes">(param<"first">))).attr<"axes">(param<"second">))
        .replace(mean(x).attr<"axes">(param<"first">));

}  // namespace

TEST_CASE("a parameter is captured and given again") {
  for (int axis : {0, 1}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Gather", {g.in("a", {4, 4}), g.constant({0, 2, 1, 1})}, {{"axis", axis}})}));
    CHECK(applied<gathered>(g) == 1);
    auto const found = number(g, last(g), "axis");
    CHECK((found == axis || found == axis - 2));
  }
}

TEST_CASE("a real number stays one, also where it is whole") {
  static constexpr auto captured = fuse::rule<"captured">(relu(op<"LeakyRelu">(x).attr<"alpha">(param<"alpha">)))
                                       .replace(op<"Elu">(x).attr<"alpha">(param<"alpha">));
  static constexpr auto stated =
      fuse::rule<"stated">(relu(matmul(x, w))).replace(op<"Gemm">(x, w).attr<"alpha">(2).attr<"transB">(0));
  SECTION("captured") {
    sketch g;
    g.end(g.add("Relu", {g.add("LeakyRelu", {g.in("a")}, {{"alpha", 2.0}})}));
    REQUIRE(applied<captured>(g) == 1);
    CHECK(std::get<double>(g.attribute(last(g), "alpha")->content) == 2);
  }
  SECTION("stated") {
    sketch g;
    g.end(g.add("Relu", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 4})})}));
    REQUIRE(applied<stated>(g) == 1);
    CHECK(std::get<double>(g.attribute(last(g), "alpha")->content) == 2);
    CHECK(std::get<std::int64_t>(g.attribute(last(g), "transB")->content) == 0);
  }
}

TEST_CASE("a number stands where the dialect keeps it, of the type of what it is about") {
  static constexpr auto bounded = fuse::rule<"bounded">(relu(op<"Clip">(x).attr<"min">(param<"least">)))
                                      .replace(op<"Clip">(x).attr<"min">(param<"least"> + 0.5));
  static constexpr auto third = fuse::rule<"third">(relu(abs(x))).replace(op<"Clip">(x).attr<"min">(1.0 / 3));
  for (auto const type : {element_type::float32, element_type::float16}) {
    sketch g(13);
    auto const least = g.constant(fuse::make_tensor(type, std::vector<std::int64_t>{}, std::vector<double>{0.25}));
    g.end(g.add("Relu", {g.add("Clip", {g.in("a", {4}, type), least})}));
    CHECK(applied<bounded>(g) == 1);
    REQUIRE(g.operands(last(g)).size() == 2);
    auto const made = g.constant(g.operands(last(g))[1]);
    CHECK(made.type == type);
    CHECK(made.shape.size() == 0);
    CHECK(made.number(0) == 0.75);
  }
  sketch old(10);
  old.end(old.add("Relu", {old.add("Clip", {old.in("a")}, {{"min", 0.25}})}));
  CHECK(applied<bounded>(old) == 1);
  CHECK(number(old, last(old), "min") == 0.75);
  sketch rounded(13);  // what the type does not hold is no bound
  rounded.end(rounded.add("Relu", {rounded.add("Abs", {rounded.in("a", {4}, element_type::float16)})}));
  CHECK(applied<third>(rounded) == 0);
}

TEST_CASE("pads are those of all axes, and none where nothing is padded") {
  static constexpr auto padded = fuse::rule<"padded">(relu(op<"Pad">(x).attr<"pads">(param<"pads">)))
                                     .replace(op<"Pad">(relu(x)).attr<"pads">(param<"pads">));
  static constexpr auto convolved =
      fuse::rule<"convolved">(relu(op<"Conv">(x, w).attr<"pads">(list(0, 0)))).replace(op<"Conv">(x, w));
  using integers = std::vector<std::int64_t>;
  auto const listed = [](integers const& of) {
    return fuse::make_tensor(integers{static_cast<std::int64_t>(of.size())}, fuse::span<std::int64_t const>(of));
  };
  auto const pads_of = [&](integers const& pads, integers const& axes) {
    sketch g(18);
    g.end(g.add("Relu", {g.add("Pad", {g.in("a", {2, 3, 4}), g.constant(listed(pads)), graph::value{},
                                       g.constant(listed(axes))})}));
    auto const found = fuse::match_all<padded>(g);
    return found.empty() ? integers{} : found[0].integers<"pads">();
  };
  CHECK(pads_of({1, 2, 3, 4}, {2, 0}) == integers{2, 0, 1, 4, 0, 3});
  CHECK(pads_of({1, 2}, {-1}) == integers{0, 0, 1, 0, 0, 2});
  CHECK(pads_of({1, 2, 3, 4}, {0, 0}).empty());
  CHECK(pads_of({1, 2, 3, 4}, {0, 3}).empty());
  CHECK(pads_of({1, 2}, {0, 1}).empty());
  for (std::string const how : {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Conv", {g.in("a", {1, 2, 8}), g.in("b", {3, 2, 1})}, {{"auto_pad", how}})}));
    CHECK(applied<convolved>(g) == (how == "NOTSET" || how == "VALID" ? 1 : 0));
  }
}

TEST_CASE("a parameter that stands nowhere has its default") {
  sketch g;
  g.end(g.add("Relu", {g.add("Gather", {g.in("a", {4, 8}), g.constant({0, 2})})}));
  CHECK(applied<gathered>(g) == 1);
  auto const found = number(g, last(g), "axis");
  CHECK((found == 0 || found == -2));
}

TEST_CASE("parameters of one name agree, however they are counted") {
  for (auto [first, second, fires] : {std::tuple{-1, -1, 1u}, {1, -1, 1u}, {0, -1, 0u}}) {
    sketch g;
    g.end(g.add("Softmax", {g.add("Relu", {g.add("Softmax", {g.in("a")}, {{"axis", first}})})}, {{"axis", second}}));
    CHECK(applied<both>(g) == fires);
  }
}

TEST_CASE("all reductions of a rule are over the same axes unless it says otherwise") {
  for (auto [second, fires] : {std::pair{1, 1u}, {0, 0u}}) {
    sketch g;
    auto const m = g.add("ReduceMean", {g.in("a")}, {{"axes", {1}}, {"keepdims", 1}});
    auto const y = g.add("ReduceMean", {g.add("Abs", {m})}, {{"axes", {second}}, {"keepdims", 1}});
    g.end(y);
    auto h = g;
    CHECK(applied<means>(g) == fires);
    CHECK(fuse::rewrite<two_means>(h).rules[0].matched == 1);
  }
}

TEST_CASE("axes are read from where the operator set keeps them, and written there") {
  for (int version : {17, 18}) {
    sketch g(version);
    auto const reduce = [&](graph::value v) {
      return version < 18 ? g.add("ReduceMean", {v}, {{"axes", {-1}}}) : g.add("ReduceMean", {v, g.constant({1})});
    };
    g.end(reduce(g.add("Abs", {reduce(g.in("a"))})));
    CHECK(applied<means>(g) == 1);
    auto const n = last(g);
    if (version < 18)
      CHECK(std::get<std::vector<std::int64_t>>(g.attribute(n, "axes")->content) == std::vector<std::int64_t>{-1});
    else
      CHECK(g.constant(g.operands(n)[1]).integer(0) == -1);
  }
}

}  // namespace dsl_parameter
