// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include "rewriting.hpp"

namespace dsl_through {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr int float32 = 1, float16 = 10, float64 = 11, int64 = 7;
constexpr auto x = var<"x">;
constexpr auto local = fuse::rule<"local">(abs(through<"Cast", "Identity">(tanh(x)))).replace(relu(x));
constexpr auto everywhere = fuse::rule<"everywhere">(abs(tanh(x))).through<"Cast", "Identity">().replace(relu(x));
constexpr auto one = fuse::rule<"one">(abs(through<"Identity">(tanh(x)))).replace(relu(x));

graph::value identities(sketch& g, graph::value v, int count) {
  for (int i = 0; i < count; ++i) v = g.add("Identity", {v});
  return v;
}

}  // namespace

TEST_CASE("chains of the operators are looked through, up to 8") {
  for (auto [length, fires] : {std::pair{0, 1u}, {1, 1u}, {8, 1u}, {9, 0u}}) {
    sketch g;
    g.end(g.add("Abs", {identities(g, g.add("Tanh", {g.in("a")}), length)}));
    auto h = g;
    CHECK(applied<local>(g) == fires);
    CHECK(applied<everywhere>(h) == fires);
  }
}

TEST_CASE("with Identity, what does nothing is looked through") {
  sketch g;
  auto const a = g.add("Tanh", {g.in("a", {4, 8})});
  auto const end = [&](graph::value v, std::size_t fires) {
    g.end(g.add("Abs", {v}));
    CHECK(applied<one>(g) == fires);
  };
  SECTION("a Cast to its own type") { end(g.add("Cast", {a}, {{"to", float32}}), 1); }
  SECTION("a Reshape to its own shape") { end(g.add("Reshape", {a, g.constant({4, 8})}), 1); }
  SECTION("an Expand to its own shape") { end(g.add("Expand", {a, g.constant({1, 8})}), 1); }
  auto const slice = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    return g.add("Slice",
                 {a, g.constant({from, from}), g.constant({to, to}), g.constant({-1, 0}), g.constant({step, step})});
  };
  SECTION("a Slice of all there is") { end(slice(0, 8, 1), 1); }
  SECTION("a Slice to the end") { end(slice(0, std::numeric_limits<std::int64_t>::max(), 1), 1); }
  SECTION("a Slice of most") { end(slice(0, 7, 1), 0); }
  SECTION("a Slice from the back to the front") { end(slice(-1, std::numeric_limits<std::int64_t>::min(), -1), 0); }
  SECTION("a Slice of all there is of axes whose lengths nobody knows, and of some") {
    for (std::int64_t to : {1'000'000'000, 8}) {
      sketch h;
      auto const b = h.add("Tanh", {h.in("b", {"m", "n"})});
      h.end(h.add("Abs", {h.add("Slice", {b, h.constant({0}), h.constant({to}), h.constant({0})})}));
      CHECK(applied<one>(h) == (to == 8 ? 0 : 1));
    }
  }
  SECTION("a selection whose condition is known, at the operand that it selects") {
    auto const b = g.in("b", {4, 8}), wide = g.in("wide", {2, 4, 8});
    auto const truth = [&](double number) {
      return g.constant(fuse::make_tensor(element_type::boolean, {1}, std::vector<double>{number}));
    };
    SECTION("true, and first") { end(g.add("Where", {truth(1), a, b}), 1); }
    SECTION("false, and last") { end(g.add("Where", {truth(0), b, a}), 1); }
    SECTION("computed") { end(g.add("Where", {g.add("Greater", {g.scalar(8.f), g.scalar(0.f)}), a, b}), 1); }
    SECTION("false, and first") { end(g.add("Where", {truth(0), a, b}), 0); }
    SECTION("true, and last") { end(g.add("Where", {truth(1), b, a}), 0); }
    SECTION("true, but larger") { end(g.add("Where", {truth(1), a, wide}), 0); }
    SECTION("not known") { end(g.add("Where", {g.in("c", {4, 8}, element_type::boolean), a, b}), 0); }
    SECTION("not the same everywhere") {
      auto const some = fuse::make_tensor(element_type::boolean, {4, 1}, std::vector<double>{1, 1, 0, 1});
      end(g.add("Where", {g.constant(some), a, b}), 0);
    }
    SECTION("left to the caller") {
      auto const truth_or_not = fuse::make_tensor(element_type::boolean, {1}, std::vector<double>{1});
      end(g.add("Where", {g.input("c", truth_or_not), a, b}), 0);
    }
  }
  SECTION("a Dropout while nobody trains") { end(g.add("Dropout", {a}), 1); }
  SECTION("a sum of one") { end(g.add("Sum", {a}), 1); }
  SECTION("another Cast") { end(g.add("Cast", {a}, {{"to", float64}}), 0); }
  SECTION("another Reshape") { end(g.add("Reshape", {a, g.constant({8, 4})}), 0); }
  SECTION("another Expand") { end(g.add("Expand", {a, g.constant({2, 4, 8})}), 0); }
  SECTION("a Dropout in training") {
    end(g.add("Dropout",
              {a, g.scalar(0.5f), g.constant(fuse::make_tensor(element_type::boolean, {}, std::vector<double>{1}))}),
        0);
  }
}

TEST_CASE("only the named operators are looked through, where they are named") {
  sketch g;
  SECTION("one that is named") {
    g.end(g.add("Abs", {g.add("Identity", {g.add("Tanh", {g.in("a")})})}));
    CHECK(applied<one>(g) == 1);
  }
  SECTION("one that is not") {
    g.end(g.add("Abs", {g.add("Cast", {g.add("Tanh", {g.in("a")})}, {{"to", float64}})}));
    CHECK(applied<one>(g) == 0);
  }
  SECTION("at another place") {
    g.end(g.add("Identity", {g.add("Abs", {g.add("Tanh", {g.add("Identity", {g.in("b")})})})}));
    CHECK(applied<one>(g) == 1);
    CHECK(ops(g) == "Identity Relu Identity");
  }
}

TEST_CASE("a rule looks through above its root and below its captures") {
  sketch g;
  g.end(g.add("Identity", {g.add("Abs", {g.add("Tanh", {g.add("Identity", {g.in("a")})})})}));
  CHECK(applied<everywhere>(g) == 1);
  CHECK(ops(g) == "Relu");
}

TEST_CASE("what is crossed may be wider than the result, not narrower") {
  sketch g;
  SECTION("wider inside") {
    auto const a = g.in("a", {4}, element_type::float16);
    auto const t = g.add("Tanh", {g.add("Cast", {a}, {{"to", float32}})});
    g.end(g.add("Cast", {g.add("Abs", {t})}, {{"to", float16}}));
    CHECK(applied<everywhere>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("narrower inside") {
    auto const t = g.add("Tanh", {g.add("Cast", {g.in("a", {4})}, {{"to", float16}})});
    g.end(g.add("Abs", {g.add("Cast", {t}, {{"to", float32}})}));
    CHECK(refusal<everywhere>(g) == "element type");
  }
  SECTION("as wide") {
    auto const t = g.add("Cast", {g.add("Tanh", {g.in("a", {4}, element_type::float64)})}, {{"to", float64}});
    g.end(g.add("Abs", {t}));
    CHECK(applied<local>(g) == 1);
  }
  SECTION("bfloat16 and float16 are neither") {
    auto const t = g.add("Tanh", {g.add("Cast", {g.in("a", {4}, element_type::bfloat16)}, {{"to", float16}})});
    g.end(g.add("Cast", {g.add("Abs", {t})}, {{"to", 16}}));
    CHECK(applied<everywhere>(g) == 1);  // between the Casts, not across them
    CHECK(ops(g) == "Cast Relu Cast");
  }
}

TEST_CASE("a Cast to or from integers is not looked through") {
  sketch g;
  auto const t = g.add("Cast", {g.add("Tanh", {g.in("a")})}, {{"to", int64}});
  g.end(g.add("Abs", {g.add("Cast", {t}, {{"to", float32}})}));
  CHECK(applied<local>(g) == 0);
}

TEST_CASE("a rule looks through above operators that it has by name") {
  static constexpr auto w = var<"w">;
  static constexpr auto unknown_meaning =
      fuse::rule<"einsum">(abs(op<"Einsum">(x, w))).through<"Identity">().replace(relu(x)).at_equal_cost();
  static constexpr auto by_name =
      fuse::rule<"exactly">(abs(exactly<"Div">(x, w))).through<"Identity">().replace(op<"Max">(x, w));
  static constexpr auto with_attribute =
      fuse::rule<"attribute">(abs(op<"LRN">(x).attr<"size">(3))).through<"Identity">().replace(relu(x));
  static constexpr auto below = fuse::rule<"below">(abs(exactly<"Relu">(tanh(x)))).through<"Relu">().replace(relu(x));
  for (int const length : {0, 1, 3}) {
    sketch g;
    auto const a = g.in("a"), b = g.in("b");
    auto const end = [&](graph::value v, char const* name) {
      g.output(g.add("Abs", {identities(g, v, length)}), name);
    };
    end(g.add("Einsum", {a, b}), "einsum");
    CHECK(fuse::match_all<unknown_meaning>(g).size() == 1);
    end(g.add("Div", {a, b}), "div");
    CHECK(fuse::match_all<by_name>(g).size() == 1);
    end(g.add("LRN", {a}, {{"size", 3}}), "lrn");
    end(g.add("LRN", {a}, {{"size", 5}}), "another");
    CHECK(fuse::match_all<with_attribute>(g).size() == 1);
  }
  sketch g;  // an operator that is looked through is itself where the pattern has it
  g.end(g.add("Abs", {g.add("Relu", {g.add("Tanh", {g.in("a")})})}));
  CHECK(fuse::match_all<below>(g).size() == 1);
}

TEST_CASE("a rest has the operands of the operator that is found below what is looked through") {
  static constexpr auto flat = fuse::rule<"flat">(relu(op<"Max">(relu(x), rest<"r">)))
                                   .through<"Identity">()
                                   .replace(op<"Max">(relu(x), rest<"r">));
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  g.end(g.add("Relu", {g.add("Identity", {g.add("Max", {g.add("Relu", {a}), b, c})})}));
  REQUIRE(applied<flat>(g) == 1);
  CHECK(g.operands(last(g)).size() == 3);
}

}  // namespace dsl_through
