// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_rest {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto more = rest<"more">;
constexpr auto factors = fuse::rule<"factors">(abs(tanh(x) * more)).replace(relu(x) * more);
constexpr auto factors_below_identity =
    fuse::rule<"factors">(abs(tanh(x) * more)).through<"Identity">().replace(relu(x) * more);
constexpr auto addends = fuse::rule<"addends">(abs(tanh(x) + more)).replace(relu(x) + more);
constexpr auto y = var<"y">;
constexpr auto factors_twice =
    fuse::rule<"factors-twice">(tanh(relu(x) * more) + exp(abs(y) * more)).replace(op<"Max">(x, y) * more);
constexpr auto addends_twice =
    fuse::rule<"addends-twice">(tanh(relu(x) + more) * exp(abs(y) + more)).replace(op<"Max">(x, y) + more);
constexpr auto operands_twice =
    fuse::rule<"operands-twice">(op<"Max">(x, more) - op<"Min">(y, more)).replace(op<"Sum">(x, y, more));
constexpr auto operands = fuse::rule<"operands">(relu(op<"Max">(x, more))).replace(op<"Min">(x, more));

}  // namespace

TEST_CASE("the rest of a product are all other factors") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  SECTION("one") {
    g.end(g.add("Abs", {g.add("Mul", {b, t})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Relu Mul");
  }
  SECTION("two, bracketed on either side") {
    g.end(g.add("Abs", {g.add("Mul", {b, g.add("Mul", {t, c})})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Mul Relu Mul");
  }
  SECTION("a divisor") {
    g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {t, b}), c})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(to_text(g).find("Div(b, c)") != std::string::npos);
  }
}

TEST_CASE("the rest of a sum are all other addends, with their signs") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  g.end(g.add("Abs", {g.add("Sub", {g.add("Add", {t, b}), c})}));
  CHECK(applied<addends>(g) == 1);
  CHECK(to_text(g).find("Sub(b, c)") != std::string::npos);
}

TEST_CASE("minus signs of a rest that cancel are gone, one that is left stays") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  auto const neg = [&g](auto v) { return g.add("Neg", {v}); };
  SECTION("two factors") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Mul", {neg(b), neg(c)}), t})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Mul Relu Mul");
    CHECK(to_text(g).find("Mul(b, c)") != std::string::npos);
  }
  SECTION("a factor and another part") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Mul", {neg(b), c}), neg(t)})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Mul Relu Mul");
    CHECK(to_text(g).find("Mul(b, c)") != std::string::npos);
  }
  SECTION("one factor") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Mul", {neg(b), c}), t})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Relu Neg Mul Mul");
  }
  SECTION("an addend is subtracted") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Add", {neg(b), c}), t})}));
    CHECK(applied<addends>(g) == 1);
    CHECK(to_text(g).find("Sub(c, b)") != std::string::npos);
    CHECK(to_text(g).find("Neg") == std::string::npos);
  }
  SECTION("a number whose sign stands below an Identity") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Identity", {neg(g.scalar(3.f))}), neg(t)})}));
    CHECK(applied<factors_below_identity>(g) == 1);
    CHECK(to_text(g).find("Neg") == std::string::npos);
  }
}

TEST_CASE("a rest that only divides, or is only subtracted, is not inverted first") {
  static constexpr auto first = fuse::rule<"first">(abs(tanh(x) * more)).replace(more * relu(x));
  static constexpr auto divisor = fuse::rule<"divisor">(abs(tanh(x) * more)).replace(relu(x) / more);
  static constexpr auto subtracted = fuse::rule<"subtracted">(abs(tanh(x) + more)).replace(relu(x) - more);
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  auto const quotient = [&] { g.end(g.add("Abs", {g.add("Div", {g.add("Div", {t, b}), c})})); };
  SECTION("divisors") {
    quotient();
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Mul Relu Div");
    CHECK(to_text(g).find("Mul(b, c)") != std::string::npos);
  }
  SECTION("divisors as the first factor") {
    quotient();
    CHECK(applied<first>(g) == 1);
    CHECK(ops(g) == "Mul Relu Div");
  }
  SECTION("what is divided by them is multiplied") {
    quotient();
    CHECK(applied<divisor>(g) == 1);
    CHECK(ops(g) == "Mul Relu Mul");
  }
  SECTION("subtrahends") {
    g.end(g.add("Abs", {g.add("Sub", {g.add("Sub", {t, b}), c})}));
    SECTION("added") {
      CHECK(applied<addends>(g) == 1);
      CHECK(ops(g) == "Add Relu Sub");
    }
    SECTION("subtracted") {
      CHECK(applied<subtracted>(g) == 1);
      CHECK(ops(g) == "Add Relu Add");
    }
  }
}

TEST_CASE("the rest of an operator are its trailing operands, possibly none") {
  for (std::size_t count : {1u, 2u, 4u}) {
    sketch g;
    std::vector<graph::value> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(g.in(std::string(1, static_cast<char>('a' + i))));
    g.end(g.add("Relu", {g.add("Max", all)}));
    CHECK(applied<operands>(g) == 1);
    CHECK(ops(g) == "Min");
    auto const found = g.operands(last(g));
    CHECK(std::vector<graph::value>(found.begin(), found.end()) == all);
  }
}

TEST_CASE("a rest that occurs again is what was left the first time") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c"), d = g.in("d"), e = g.in("e");
  auto const r = g.add("Relu", {a}), s = g.add("Abs", {b});
  auto const mul = [&g](auto v, auto w) { return g.add("Mul", {v, w}); };
  auto const end = [&g](char const* op, auto v, auto w) { g.end(g.add(op, {g.add("Tanh", {v}), g.add("Exp", {w})})); };
  SECTION("factors, in any order and bracketing") {
    end("Add", mul(mul(c, r), d), mul(s, mul(d, c)));
    CHECK(applied<factors_twice>(g) == 1);
    CHECK(ops(g) == "Mul Max Mul");
  }
  SECTION("divisors") {
    end("Add", g.add("Div", {mul(r, c), d}), mul(s, g.add("Div", {c, d})));
    CHECK(applied<factors_twice>(g) == 1);
    CHECK(ops(g) == "Div Max Mul");
  }
  SECTION("one") {
    end("Add", mul(r, c), mul(s, c));
    CHECK(applied<factors_twice>(g) == 1);
    CHECK(ops(g) == "Max Mul");
  }
  SECTION("numbers of a half type, whose product it would round") {
    auto const h = g.in("h", {4, 8}, element_type::float16), k = g.in("k", {4, 8}, element_type::float16);
    auto const p = g.add("Relu", {h}), q = g.add("Abs", {k});
    auto const c1 = g.constant(fuse::make_tensor(element_type::float16, {}, std::vector<double>{0.90478516}));
    auto const c2 = g.constant(fuse::make_tensor(element_type::float16, {}, std::vector<double>{0.60546875}));
    auto const c3 = g.constant(fuse::make_tensor(element_type::float16, {}, std::vector<double>{0.60595703}));
    bool const same = GENERATE(true, false);
    end("Add", mul(mul(p, c1), c2), mul(q, mul(c1, same ? c2 : c3)));
    CHECK(applied<factors_twice>(g) == (same ? 1 : 0));
  }
  SECTION("one factor more") {
    end("Add", mul(r, c), mul(s, mul(c, d)));
    CHECK(refusal<factors_twice>(g) == "factors");
  }
  SECTION("another factor") {
    end("Add", mul(mul(r, c), d), mul(mul(s, c), e));
    CHECK(refusal<factors_twice>(g) == "factors");
  }
  SECTION("one factor twice, the other once") {
    end("Add", mul(mul(r, c), mul(c, d)), mul(mul(s, c), mul(d, d)));
    CHECK(refusal<factors_twice>(g) == "factors");
  }
  SECTION("once a factor, once a divisor") {
    end("Add", mul(r, c), g.add("Div", {s, c}));
    CHECK(refusal<factors_twice>(g) == "factors");
  }
  SECTION("addends, with their signs") {
    SECTION("the same") {
      end("Mul", g.add("Sub", {g.add("Add", {r, c}), d}), g.add("Add", {s, g.add("Sub", {c, d})}));
      CHECK(applied<addends_twice>(g) == 1);
      CHECK(ops(g) == "Sub Max Add");
    }
    SECTION("another sign") {
      end("Mul", g.add("Sub", {g.add("Add", {r, c}), d}), g.add("Add", {s, g.add("Sub", {d, c})}));
      CHECK(refusal<addends_twice>(g) == "addends");
    }
  }
}

TEST_CASE("operands that occur again are the same in the same order") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c"), d = g.in("d");
  SECTION("the same") {
    g.end(g.add("Sub", {g.add("Max", {a, c, d}), g.add("Min", {b, c, d})}));
    CHECK(applied<operands_twice>(g) == 1);
    CHECK(ops(g) == "Sum");
  }
  SECTION("another order") {
    g.end(g.add("Sub", {g.add("Max", {a, c, d}), g.add("Min", {b, d, c})}));
    CHECK(refusal<operands_twice>(g) == "operands");
  }
  SECTION("fewer") {
    g.end(g.add("Sub", {g.add("Max", {a, c, d}), g.add("Min", {b, c})}));
    CHECK(refusal<operands_twice>(g) == "operands");
  }
}

TEST_CASE("a rest may be nothing: a product of one factor and nothing is that factor") {
  sketch g;
  SECTION("a factor") {
    g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("an addend") {
    g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
    CHECK(applied<addends>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
}

TEST_CASE("a Concat of one operand and a rest that is nothing is that operand") {
  static constexpr auto joined =
      fuse::rule<"joined">(op<"Concat">(abs(tanh(var<"x">)), rest<"others">).attr<"axis">(-1))
          .replace(op<"Concat">(relu(var<"x">), rest<"others">).attr<"axis">(-1));
  sketch g;
  auto const a = g.in("a"), first = g.add("Abs", {g.add("Tanh", {a})});
  SECTION("others") {
    g.end(g.add("Concat", {first, a}, {{"axis", 1}}));
    CHECK(applied<joined>(g) == 1);
    CHECK(ops(g) == "Relu Concat");
  }
  SECTION("none") {
    g.end(g.add("Concat", {first}, {{"axis", 1}}));
    CHECK(applied<joined>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
}

TEST_CASE("a rest that is subtracted, or divided by, is what was") {
  static constexpr auto subtracted = fuse::rule<"subtracted">(abs(tanh(var<"x">) - (exp(var<"y">) + rest<"r">)))
                                         .replace(abs(op<"Max">(var<"x">, var<"y">) + rest<"r">))
                                         .at_equal_cost();
  static constexpr auto divided = fuse::rule<"divided">(abs(tanh(var<"x">) / (exp(var<"y">) * rest<"r">)))
                                      .replace(abs(op<"Max">(var<"x">, var<"y">) * rest<"r">))
                                      .at_equal_cost();
  static constexpr auto squared = fuse::rule<"squared">(abs(tanh(var<"x">) * square(exp(var<"y">) * rest<"r">)))
                                      .replace(abs(op<"Max">(var<"x">, var<"y">) * rest<"r">))
                                      .at_equal_cost();
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  auto const t = g.add("Tanh", {a}), e = g.add("Exp", {b});
  SECTION("what is added is minus that") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Sub", {t, e}), c})}));
    CHECK(applied<subtracted>(g) == 1);
    CHECK(ops(g) == "Max Sub Abs");
  }
  SECTION("what is subtracted is that") {
    g.end(g.add("Abs", {g.add("Sub", {g.add("Sub", {t, e}), c})}));
    CHECK(applied<subtracted>(g) == 1);
    CHECK(ops(g) == "Max Add Abs");
  }
  SECTION("a factor is one by that") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Div", {t, e}), c})}));
    CHECK(applied<divided>(g) == 1);
    CHECK(ops(g) == "Max Div Abs");
  }
  SECTION("what stands there once is no square") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Mul", {t, g.add("Mul", {e, e})}), c})}));
    CHECK(applied<squared>(g) == 0);
  }
  SECTION("a square is") {
    auto const square = g.add("Pow", {c, g.scalar(2.0f)});
    g.end(g.add("Abs", {g.add("Mul", {g.add("Mul", {t, g.add("Mul", {e, e})}), square})}));
    CHECK(applied<squared>(g) == 1);
    CHECK(ops(g) == "Max Mul Abs");
  }
}

}  // namespace dsl_rest
