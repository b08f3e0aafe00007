// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include "../second_dialect.hpp"

namespace dsl_neutral {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">, v = var<"v">;
constexpr auto squared = fuse::rule<"squared">(tanh(square(x))).replace(relu(x));
constexpr auto divided = fuse::rule<"divided">(tanh(x / sqrt(w))).replace(op<"Max">(x, w));
constexpr auto difference = fuse::rule<"difference">(tanh(x - exp(w))).replace(op<"Max">(x, w));
constexpr auto three = fuse::rule<"three">(relu(tanh(x) + exp(w) + abs(v))).replace(op<"Max">(x, op<"Max">(w, v)));
constexpr auto negated = fuse::rule<"negated">(tanh(-exp(x))).replace(relu(x));
constexpr auto averaged = fuse::rule<"averaged">(tanh(mean(x).attr<"axes">(param<"axes">))).replace(relu(x));

template <auto const& Rule>
std::size_t fires(graph::value (*make)(sketch&, graph::value, graph::value)) {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  g.end(g.add("Tanh", {make(g, a, b)}));
  auto const count = applied<Rule>(g);
  if (count == 1) CHECK(g.operands(last(g))[0] == a);
  return count;
}
using value = graph::value;

}  // namespace

TEST_CASE("a square in all its spellings") {
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Mul", {a, a}); }) == 1);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {a, g.scalar(2.0f)}); }) == 1);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {a, g.constant({2.0f})}); }) == 1);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {a, g.scalar(2)}); }) == 1);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Div", {a, g.add("Reciprocal", {a})}); }) == 1);
}

TEST_CASE("what is no square") {
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {a, g.scalar(3.0f)}); }) == 0);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {a, g.scalar(2.001f)}); }) == 0);
  CHECK(fires<squared>([](sketch& g, value a, value b) { return g.add("Pow", {a, b}); }) == 0);
  CHECK(fires<squared>([](sketch& g, value a, value b) { return g.add("Mul", {a, b}); }) == 0);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Pow", {g.scalar(2.0f), a}); }) == 0);
  CHECK(fires<squared>([](sketch& g, value a, value) { return g.add("Mul", {a, g.add("Mul", {a, a})}); }) == 0);
}

TEST_CASE("a division by a root in all its spellings") {
  CHECK(fires<divided>([](sketch& g, value a, value b) { return g.add("Div", {a, g.add("Sqrt", {b})}); }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Mul", {g.add("Reciprocal", {g.add("Sqrt", {b})}), a});
        }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Mul", {a, g.add("Div", {g.scalar(1.0f), g.add("Sqrt", {b})})});
        }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Mul", {a, g.add("Pow", {b, g.scalar(-0.5f)})});
        }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Div", {a, g.add("Pow", {b, g.scalar(0.5f)})});
        }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Mul", {a, g.add("Sqrt", {g.add("Reciprocal", {b})})});
        }) == 1);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Div", {g.add("Div", {a, g.add("Sqrt", {b})}), g.scalar(1.0f)});
        }) == 1);
}

TEST_CASE("what is no division by a root") {
  CHECK(fires<divided>([](sketch& g, value a, value b) { return g.add("Div", {g.add("Sqrt", {b}), a}); }) == 0);
  CHECK(fires<divided>([](sketch& g, value a, value b) { return g.add("Mul", {g.add("Sqrt", {b}), a}); }) == 0);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Div", {g.scalar(2.0f), g.add("Mul", {a, g.add("Sqrt", {b})})});
        }) == 0);
  CHECK(fires<divided>([](sketch& g, value a, value b) {
          return g.add("Mul", {a, g.add("Pow", {b, g.scalar(0.5f)})});
        }) == 0);
}

TEST_CASE("a difference in all its spellings") {
  CHECK(fires<difference>([](sketch& g, value a, value b) { return g.add("Sub", {a, g.add("Exp", {b})}); }) == 1);
  CHECK(fires<difference>([](sketch& g, value a, value b) {
          return g.add("Add", {a, g.add("Neg", {g.add("Exp", {b})})});
        }) == 1);
  CHECK(fires<difference>([](sketch& g, value a, value b) {
          return g.add("Add", {g.add("Mul", {g.scalar(-1.0f), g.add("Exp", {b})}), a});
        }) == 1);
  CHECK(fires<difference>([](sketch& g, value a, value b) {
          return g.add("Neg", {g.add("Sub", {g.add("Exp", {b}), a})});
        }) == 1);
  CHECK(fires<difference>([](sketch& g, value a, value b) { return g.add("Sub", {g.add("Exp", {b}), a}); }) == 0);
  CHECK(fires<difference>([](sketch& g, value a, value b) { return g.add("Add", {a, g.add("Exp", {b})}); }) == 0);
}

TEST_CASE("a negation is a factor of -1") {
  CHECK(fires<negated>([](sketch& g, value a, value) { return g.add("Neg", {g.add("Exp", {a})}); }) == 1);
  CHECK(fires<negated>([](sketch& g, value a, value) {
          return g.add("Mul", {g.add("Exp", {a}), g.scalar(-1.0f)});
        }) == 1);
  CHECK(fires<negated>([](sketch& g, value a, value) {
          return g.add("Sub", {g.scalar(0.0f), g.add("Exp", {a})});
        }) == 1);
  CHECK(fires<negated>([](sketch& g, value a, value) { return g.add("Exp", {a}); }) == 0);
}

TEST_CASE("a sum matches as a multiset in any bracketing and order") {
  int const orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (auto const& order : orders)
    for (bool right : {false, true}) {
      sketch g;
      value const parts[3] = {g.add("Tanh", {g.in("a")}), g.add("Exp", {g.in("b")}), g.add("Abs", {g.in("c")})};
      auto const p = parts[order[0]], q = parts[order[1]], r = parts[order[2]];
      g.end(g.add("Relu", {right ? g.add("Add", {p, g.add("Add", {q, r})}) : g.add("Add", {g.add("Add", {p, q}), r})}));
      CHECK(applied<three>(g) == 1);
      CHECK(ops(g) == "Max Max");
    }
  sketch g;
  g.end(g.add("Relu",
              {g.add("Sum", {g.add("Abs", {g.in("c")}), g.add("Tanh", {g.in("a")}), g.add("Exp", {g.in("b")})})}));
  CHECK(applied<three>(g) == 1);
}

TEST_CASE("nothing may be left over in a sum, and nothing missing") {
  sketch g;
  auto const a = g.add("Tanh", {g.in("a")}), b = g.add("Exp", {g.in("b")}), c = g.add("Abs", {g.in("c")});
  SECTION("one more") { g.end(g.add("Relu", {g.add("Sum", {a, b, c, g.in("d")})})); }
  SECTION("one less") { g.end(g.add("Relu", {g.add("Sum", {a, b})})); }
  SECTION("one twice") { g.end(g.add("Relu", {g.add("Sum", {a, b, c, c})})); }
  SECTION("one subtracted") { g.end(g.add("Relu", {g.add("Sub", {g.add("Add", {a, b}), c})})); }
  CHECK(applied<three>(g) == 0);
}

TEST_CASE("a mean keeps its axes, or something puts them back") {
  // It matches; relu(x) has another shape, so that nothing is ever rewritten.
  auto const matched = [](sketch& g) { return fuse::rewrite<averaged>(g).rules[0].matched; };
  sketch g;
  auto const a = g.in("a", {4, 8});
  SECTION("kept") {
    g.end(g.add("Tanh", {g.add("ReduceMean", {a}, {{"axes", {-1}}, {"keepdims", 1}})}));
    CHECK(matched(g) == 1);
  }
  SECTION("put back") {
    auto const m = g.add("ReduceMean", {a}, {{"axes", {1}}, {"keepdims", 0}});
    g.end(g.add("Tanh", {g.add("Unsqueeze", {m, g.constant({-1})})}));
    CHECK(matched(g) == 1);
  }
  SECTION("put back one by one") {
    auto const m = g.add("ReduceMean", {g.in("b", {2, 4, 8})}, {{"axes", {1, 2}}, {"keepdims", 0}});
    auto const once = g.add("Unsqueeze", {m, g.constant({1})});
    auto const [axis, found] = GENERATE(std::pair{-1, 1u}, std::pair{0, 0u});  // in front nothing was reduced
    g.end(g.add("Tanh", {g.add("Unsqueeze", {once, g.constant({axis})})}));
    CHECK(matched(g) == found);
  }
  SECTION("lost") {
    g.end(g.add("Tanh", {g.add("ReduceMean", {a}, {{"axes", {-1}}, {"keepdims", 0}})}));
    CHECK(matched(g) == 0);
  }
  SECTION("put back elsewhere") {
    auto const m = g.add("ReduceMean", {a}, {{"axes", {1}}, {"keepdims", 0}});
    g.end(g.add("Tanh", {g.add("Unsqueeze", {m, g.constant({0})})}));
    CHECK(matched(g) == 0);
  }
  SECTION("a sum that is divided, at the root of a rule") {
    static constexpr auto alone = fuse::rule<"alone">(mean(x).attr<"axes">(param<"axes">)).replace(relu(x));
    g.end(g.add("Div", {g.add("ReduceSum", {a, g.constant({-1})}, {{"keepdims", 1}}), g.scalar(8.0f)}));
    CHECK(fuse::rewrite<alone>(g).rules[0].matched == 1);
  }
  SECTION("a sum is no mean") {
    g.end(g.add("Tanh", {g.add("ReduceSum", {a, g.constant({-1})}, {{"keepdims", 1}})}));
    CHECK(matched(g) == 0);
  }
}

TEST_CASE("axes are put back behind what is computed of the reduction") {
  static constexpr auto rooted = fuse::rule<"rooted">(x / sqrt(mean(square(x)))).through<"Identity">().replace(tanh(x));
  sketch g;
  auto const a = g.in("a", {5, 5});
  auto const squares = g.add("Mul", {a, a});
  auto const flat = g.add("Sqrt", {g.add("ReduceMean", {squares}, {{"axes", {1}}, {"keepdims", 0}})});
  auto const end = [&](value root) { g.end(g.add("Div", {a, root})); };
  SECTION("by Unsqueeze") {
    end(g.add("Unsqueeze", {flat, g.constant({1})}));
    CHECK(applied<rooted>(g) == 1);
  }
  SECTION("by Reshape") {
    end(g.add("Reshape", {flat, g.constant({5, 1})}));
    CHECK(applied<rooted>(g) == 1);
  }
  SECTION("and repeated") {
    end(g.add("Expand", {g.add("Unsqueeze", {flat, g.constant({1})}), g.constant({5, 5})}));
    CHECK(applied<rooted>(g) == 1);
  }
  SECTION("in another place") {
    end(g.add("Unsqueeze", {flat, g.constant({0})}));
    CHECK(applied<rooted>(g) == 0);
  }
  SECTION("never") {
    end(flat);
    CHECK(applied<rooted>(g) == 0);
  }
}

TEST_CASE("what stands for itself in another shape is captured by no name") {
  static constexpr auto shifted = fuse::rule<"shifted">((x + w) * mean(v)).replace(op<"Max">(x, op<"Max">(w, v)));
  sketch g;
  auto const a = g.in("a", {4, 1}), b = g.in("b", {4}), c = g.in("c", {4, 8});
  auto const mean = g.add("ReduceMean", {c}, {{"axes", {1}}, {"keepdims", 0}});
  // The sum of b and the mean gets an axis, b alone has none.
  g.end(g.add("Mul", {a, g.add("Unsqueeze", {g.add("Add", {b, mean}), g.constant({1})})}));
  CHECK(fuse::rewrite<shifted>(g).rules[0].matched == 0);
}

TEST_CASE("a mean of squares is also a sum of squares by their number, but not by another") {
  static constexpr auto power = fuse::rule<"power">(x * mean(square(x))).replace(tanh(x));
  auto const fires = [](auto const& make) {
    sketch g;
    auto const a = g.in("a", {4, 8});
    g.end(g.add("Mul", {a, make(g, a)}));
    return applied<power>(g);
  };
  auto const squares = [](sketch& g, value a, int axis) {
    return g.add("ReduceSumSquare", {a}, {{"axes", {axis}}, {"keepdims", 1}});
  };
  auto const norm = [](sketch& g, value a) { return g.add("ReduceL2", {a}, {{"axes", {1}}, {"keepdims", 1}}); };
  CHECK(fires([&](sketch& g, value a) { return g.add("Div", {squares(g, a, 1), g.scalar(8.0f)}); }) == 1);
  CHECK(fires([&](sketch& g, value a) { return g.add("Mul", {g.scalar(0.125f), squares(g, a, -1)}); }) == 1);
  CHECK(fires([&](sketch& g, value a) {
          auto const half = g.add("Mul", {squares(g, a, -1), g.scalar(0.5f)});
          return g.add("Mul", {g.scalar(0.25f), half});
        }) == 1);
  CHECK(fires([&](sketch& g, value a) { return g.add("Div", {squares(g, a, 1), g.scalar(7.0f)}); }) == 0);
  CHECK(fires([&](sketch& g, value a) { return g.add("Div", {squares(g, a, 0), g.scalar(8.0f)}); }) == 0);
  CHECK(fires([&](sketch& g, value a) {
          return g.add("Neg", {g.add("Div", {squares(g, a, 1), g.scalar(8.0f)})});
        }) == 0);
  CHECK(fires([&](sketch& g, value a) { return squares(g, a, 1); }) == 0);
  CHECK(fires([&](sketch& g, value a) { return g.add("Div", {norm(g, a), g.scalar(8.0f)}); }) == 0);
}

TEST_CASE("a mean is also a sum whose number stands elsewhere among the factors") {
  static constexpr auto normed = fuse::rule<"normed">(x * rsqrt(mean(square(x)))).replace(tanh(x));
  auto const fires = [](auto const& make) {
    sketch g;
    g.end(make(g, g.in("a", {4, 8})));
    return applied<normed>(g);
  };
  auto const norm = [](sketch& g, value a, int axis = 1) {
    return g.add("ReduceL2", {a}, {{"axes", {axis}}, {"keepdims", 1}});
  };
  auto const scaled = [&](auto const& number) {  // x / |x| * number
    return fires([&](sketch& g, value a) { return g.add("Mul", {g.add("Div", {a, norm(g, a)}), g.scalar(number)}); });
  };
  float const root = 2.8284271f;
  SECTION("as what the norm is divided by, or x multiplied by") {
    CHECK(scaled(root) == 1);
    CHECK(scaled(2.8284271247461903) == 1);
    CHECK(fires([&](sketch& g, value a) {
            return g.add("Div", {a, g.add("Mul", {norm(g, a), g.scalar(0.35355338f)})});
          }) == 1);
    CHECK(fires([&](sketch& g, value a) {
            return g.add("Div", {g.add("Mul", {g.scalar(root), a}), norm(g, a)});
          }) == 1);
    CHECK(fires([&](sketch& g, value a) {
            auto const sum = g.add("ReduceSum", {g.add("Mul", {a, a}), g.constant({1})}, {{"keepdims", 1}});
            return g.add("Mul", {g.add("Div", {a, g.add("Sqrt", {sum})}), g.scalar(root)});
          }) == 1);
  }
  SECTION("not by another number, or none") {
    for (float number : {8.0f, 3.0f, 2.6457513f, -2.8284271f, 2.8284f, 0.35355338f}) CHECK(scaled(number) == 0);
    CHECK(fires([&](sketch& g, value a) { return g.add("Div", {a, norm(g, a)}); }) == 0);
  }
  SECTION("nor where the norm is not that of x, or bounded") {
    CHECK(fires([&](sketch& g, value a) {
            return g.add("Mul", {g.add("Div", {a, norm(g, a, 0)}), g.scalar(root)});
          }) == 0);
    CHECK(fires([&](sketch& g, value a) {
            return g.add("Mul", {g.add("Div", {a, norm(g, g.in("b", {4, 8}))}), g.scalar(root)});
          }) == 0);
    CHECK(fires([&](sketch& g, value a) {
            auto const bounded = g.add("Max", {norm(g, a), g.scalar(1e-12f)});
            return g.add("Mul", {g.add("Div", {a, bounded}), g.scalar(root)});
          }) == 0);
  }
}

TEST_CASE("integers divide otherwise: their products stay closed") {
  static constexpr auto scaled = fuse::rule<"scaled">(abs(x * w / v)).replace(op<"Max">(x, op<"Max">(w, v)));
  sketch g;
  auto const type = GENERATE(element_type::float32, element_type::int64);
  auto const a = g.in("a", {4}, type), b = g.in("b", {4}, type), c = g.in("c", {4}, type);
  g.end(g.add("Abs", {g.add("Mul", {a, g.add("Div", {b, c})})}));
  CHECK(applied<scaled>(g) == (type == element_type::float32 ? 1 : 0));
}

TEST_CASE("a quotient of integers is one division, of the operands as they stand") {
  static constexpr auto by_rest = fuse::rule<"by_rest">(tanh(exp(x) / rest<"r">)).replace(relu(x)).at_equal_cost();
  static constexpr auto quarter = fuse::rule<"quarter">(abs(x / 4)).replace(relu(x)).at_equal_cost();
  static constexpr auto added = fuse::rule<"added">(abs(v + x / 4)).replace(op<"Max">(x, v)).at_equal_cost();
  static constexpr auto twice = fuse::rule<"twice">(abs(x / w + x / w + v)).replace(op<"Max">(x, w, v)).at_equal_cost();
  static constexpr auto by_sum = fuse::rule<"by_sum">(abs((x - w) / v)).replace(op<"Max">(x, w, v)).at_equal_cost();
  static constexpr auto by_product = fuse::rule<"by_product">(abs(x / (w * v))).replace(op<"Max">(x, w, v));
  sketch g;
  auto const type = GENERATE(element_type::int64, element_type::uint8, element_type::float32);
  bool const divides_exactly = type == element_type::float32;
  auto const a = g.in("a", {4}, type), b = g.in("b", {4}, type), c = g.in("c", {4}, type);
  auto const number = [&](double n) { return g.constant(fuse::make_tensor(type, {}, std::vector<double>{n})); };
  auto const mul = [&](graph::value p, graph::value q) { return g.add("Mul", {p, q}); };
  auto const div = [&](graph::value p, graph::value q) { return g.add("Div", {p, q}); };
  auto const add = [&](graph::value p, graph::value q) { return g.add("Add", {p, q}); };
  auto const sub = [&](graph::value p, graph::value q) { return g.add("Sub", {p, q}); };
  auto const matches = [&]<auto const & Rule>(graph::value end) {
    g.end(g.add("Abs", {end}));
    return fuse::match_all<Rule>(g).size();
  };
  auto const always = std::size_t{1}, when_exact = std::size_t{divides_exactly ? 1u : 0u};
  SECTION("a rest") {
    g.end(g.add("Tanh", {div(mul(g.add("Exp", {a}), b), c)}));
    CHECK(fuse::match_all<by_rest>(g).size() == when_exact);
  }
  SECTION("by the number") { CHECK(matches.operator()<quarter>(div(a, number(4))) == always); }
  SECTION("by a number that numbers make") {
    CHECK(matches.operator()<quarter>(div(mul(a, number(2)), number(8))) == when_exact);
  }
  SECTION("added") { CHECK(matches.operator()<added>(add(div(a, number(4)), b)) == always); }
  SECTION("added, with a coefficient") {
    CHECK(matches.operator()<added>(add(mul(div(a, number(8)), number(2)), b)) == when_exact);
  }
  SECTION("added, several times") {
    auto const eighth = div(a, number(8));
    CHECK(matches.operator()<added>(add(add(eighth, b), eighth)) == when_exact);
  }
  SECTION("of multiples") {
    CHECK(matches.operator()<twice>(add(div(mul(a, number(4)), mul(b, number(2))), c)) == when_exact);
  }
  SECTION("of a sum") { CHECK(matches.operator()<by_sum>(div(sub(a, b), c)) == always); }
  SECTION("of a sum that is negated") {
    CHECK(matches.operator()<by_sum>(g.add("Neg", {div(sub(b, a), c)})) == when_exact);
  }
  SECTION("by a product") { CHECK(matches.operator()<by_product>(div(a, mul(b, c))) == always); }
  SECTION("one after the other") { CHECK(matches.operator()<by_product>(div(div(a, b), c)) == when_exact); }
}

TEST_CASE("a rule in neutral operators knows no dialect") {
  second::graph g;
  auto const a = g.input("a", element_type::float32, {4, 8});
  g.output(g.add("matrix_product", {a, g.add("times", {g.input("b", element_type::float32, {8, 4}), g.scalar(1.0f)})}),
           "y");
  static constexpr auto plain = fuse::rule<"plain">(matmul(x, w * v)).replace(matmul(x, w));
  auto const report = fuse::rewrite<plain>(g);
  CHECK(report.applied() == 0);  // a factor of 1 is nothing that v could capture
  second::graph h;
  auto const b = h.input("a", element_type::float32, {4, 8});
  h.output(
      h.add("magnitude", {h.add("over", {b, h.add("inverse_root", {h.input("b", element_type::float32, {4, 8})})})}),
      "y");
  static constexpr auto rooted = fuse::rule<"rooted">(abs(x * sqrt(w))).replace(x + w);
  CHECK(fuse::rewrite<rooted>(h).applied() == 1);
  CHECK(ops(h) == "plus");
}

}  // namespace dsl_neutral
