// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace dsl_rearrange {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">;
constexpr auto to_heads = rearrange<"b s (h d) -> b h s d">(x);
constexpr auto heads = fuse::rule<"heads">(tanh(to_heads))
                           .where<"three heads">(pred<"h">([](auto h) {
                             double number = 0;
                             return h.number(number) && number == 3;
                           }))
                           .replace(op<"Softmax">(to_heads).attr<"axis">(dim<"h"> - 2))
                           .at_equal_cost();
constexpr auto lengths =
    fuse::rule<"lengths">(tanh(to_heads)).replace(op<"LeakyRelu">(to_heads).attr<"alpha">(dim<"s">));
constexpr auto both = fuse::rule<"both">(tanh(op<"MatMul">(to_heads, rearrange<"b t (h d) -> b h d t">(y))))
                          .replace(relu(op<"MatMul">(to_heads, rearrange<"b t (h d) -> b h d t">(y))))
                          .at_equal_cost();
constexpr auto groups = fuse::rule<"groups">(tanh(tanh(rearrange<"b h s d -> b (h r) s d">(x))))
                            .replace(relu(rearrange<"b h s d -> b (h r) s d">(x)))
                            .at_equal_cost();
constexpr auto last_two = fuse::rule<"last two">(tanh(rearrange<"... a b -> ... b a">(x)))
                              .replace(relu(rearrange<"... a b -> ... b a">(x)))
                              .at_equal_cost();
constexpr auto squeezed = fuse::rule<"squeezed">(tanh(rearrange<"a b 1 -> a b">(tanh(x))))
                              .replace(relu(rearrange<"a b 1 -> a b">(x)))
                              .at_equal_cost();
constexpr auto moved = fuse::rule<"moved">(rearrange<"a b c -> b a c">(tanh(tanh(x))))
                           .replace(relu(rearrange<"a b c -> b a c">(x)))
                           .at_equal_cost();
constexpr auto patches = fuse::rule<"patches">(tanh(rearrange<"n c (h p) (w q) -> n (h w) (c p q)">(x)))
                             .replace(op<"LeakyRelu">(rearrange<"n c (h p) (w q) -> n (h w) (c p q)">(x))
                                          .attr<"alpha">(dim<"p"> + 0.125 * dim<"q">))
                             .at_equal_cost();
constexpr auto unshuffled = fuse::rule<"unshuffled">(tanh(rearrange<"n c (h p) (w q) -> n (c p q) h w">(x)))
                                .replace(relu(rearrange<"n c (h p) (w q) -> n (c p q) h w">(x)))
                                .at_equal_cost();
constexpr auto split_anyhow = fuse::rule<"split anyhow">(tanh(rearrange<"n (a b) -> (a b) n">(x)))
                                  .replace(relu(rearrange<"n (a b) -> (a b) n">(x)))
                                  .at_equal_cost();
constexpr auto cleaned = fuse::rule<"cleaned">(rearrange<"a b c -> a b c">(x)).replace(x);

// Two rules with the same right side, of which the caller refuses the first, and one that changes the graph between.
constexpr auto put_back = rearrange<"a c b -> a b c">(sigmoid(rearrange<"a b c -> a c b">(x)));
constexpr auto vetoed = fuse::rule<"vetoed">(sigmoid(x)).replace(put_back).at_equal_cost().benefit(1);
constexpr auto shortened = fuse::rule<"shortened">(abs(abs(x).as<"inner">())).replace(var<"inner">);
constexpr auto accepted = fuse::rule<"accepted">(sigmoid(x)).replace(put_back).at_equal_cost().stage(1);
constexpr auto one_after_the_other = fuse::rule_set<vetoed, shortened, accepted>;

std::vector<std::int64_t> list(graph const& g, graph::value v) {
  std::vector<std::int64_t> all;
  auto const held = g.constant(v);
  for (std::size_t i = 0; i < held.size(); ++i) all.push_back(held.integer(i));
  return all;
}

graph::value swapped(sketch& g, graph::value v) { return g.add("Transpose", {v}, {{"perm", {0, 2, 1, 3}}}); }

}  // namespace

TEST_CASE("every chain that amounts to a rearrangement matches") {
  sketch g;
  auto const v = g.in("x", {2, "s", 12});
  graph::value made{};
  SECTION("as exporters write it") { made = swapped(g, g.add("Reshape", {v, g.constant({0, 0, 3, 4})})); }
  SECTION("with the batch in one axis for a while") {
    auto const rows = g.add("Reshape", {v, g.constant({-1, 12})});
    made = swapped(g, g.add("Reshape", {g.add("Reshape", {rows, g.constant({-1, 3, 4})}), g.constant({2, -1, 3, 4})}));
  }
  SECTION("with an axis that comes and goes, in two permutations") {
    auto const wide = g.add("Reshape", {v, g.constant({0, 0, 3, 1, 4})});
    auto const turned = g.add("Transpose", {wide}, {{"perm", {2, 0, 3, 1, 4}}});
    made = g.add("Transpose", {g.add("Squeeze", {turned, g.constant({2})})}, {{"perm", {1, 0, 2, 3}}});
  }
  SECTION("head by head") {
    auto const parts = g.append("Split", {v, g.constant({4, 4, 4})}, {{"axis", 2}}, 3);
    std::vector<graph::value> all;
    for (std::uint32_t i = 0; i < 3; ++i) all.push_back(g.add("Unsqueeze", {g.result(parts, i), g.constant({1})}));
    made = g.add("Concat", all, {{"axis", 1}});
  }
  g.end(g.add("Tanh", {made}));
  CHECK(applied<heads>(g) == 1);
  CHECK(ops(g) == "Reshape Transpose Softmax");
  CHECK(number(g, last(g), "axis") == 1);
}

TEST_CASE("what amounts to something else does not match") {
  sketch g;
  auto const v = g.in("x", {2, "s", 12});
  SECTION("another order") {
    g.end(g.add("Tanh",
                {g.add("Transpose", {g.add("Reshape", {v, g.constant({0, 0, 3, 4})})}, {{"perm", {0, 3, 1, 2}}})}));
    CHECK(refusal<heads>(g) == "");
  }
  SECTION("digits exchanged") {
    auto const split = g.add("Reshape", {v, g.constant({0, 0, 4, 3})});
    g.end(g.add("Tanh", {g.add("Transpose", {split}, {{"perm", {0, 3, 1, 2}}})}));
    CHECK(refusal<heads>(g) == "");
  }
  SECTION("no operator at all") {
    g.end(g.add("Tanh", {g.in("w", {2, 3, 5, 4})}));
    CHECK(refusal<heads>(g) == "");
  }
  SECTION("a shape that nobody can prove") {
    auto const split = g.add("Reshape", {v, g.input("shape", element_type::int64, {4})});
    g.end(g.add("Tanh", {swapped(g, split)}));
    CHECK(refusal<heads>(g) == "");
  }
  SECTION("a condition on an axis that does not hold") {
    g.end(g.add("Tanh", {swapped(g, g.add("Reshape", {v, g.constant({0, 0, 4, 3})}))}));
    CHECK(refusal<heads>(g) == "three heads");
  }
}

TEST_CASE("what nothing proves is told with the extent") {
  sketch g;
  auto const parted = g.add("Reshape", {g.in("x", {2, "s", 12}), g.constant({0, -1, 5, 12})});
  auto const end = g.add("Tanh", {swapped(g, parted)});
  g.end(end);
  fuse::matcher<heads, graph> search(g);
  auto const why = search.why(g.producer(end));
  CHECK(why.condition == "layout");
  CHECK(why.expected == "the elements of another value rearranged as 'b s (h d) -> b h s d'");
  CHECK(why.found == "Transpose '%3', for which nothing proves what becomes of the extent 2*s");
}

TEST_CASE("without the filter the same is written") {
  for (bool const filter : {true, false}) {
    sketch g;
    auto const v = g.in("x", {2, "s", 12});
    g.end(g.add("Tanh", {swapped(g, g.add("Reshape", {v, g.constant({0, 0, 3, 4})}))}));
    fuse::rewrite_options options;
    options.filter = filter;
    CHECK(applied<heads>(g, options) == 1);
    CHECK(ops(g) == "Reshape Transpose Softmax");
  }
}

TEST_CASE("an extent that is not known is captured, but is no number") {
  sketch g;
  auto const v = g.in("x", {2, "s", 12});
  g.end(g.add("Tanh", {swapped(g, g.add("Reshape", {v, g.constant({0, 0, 3, 4})}))}));
  CHECK(refusal<lengths>(g) == "right side");
}

TEST_CASE("a name is one extent throughout a rule") {
  auto const make = [](sketch& g, std::int64_t heads_of_keys) {
    auto const q = g.in("q", {2, "s", 12}), k = g.in("k", {2, "t", 12});
    auto const left = swapped(g, g.add("Reshape", {q, g.constant({0, 0, 3, 4})}));
    auto const keys =
        g.add("Reshape", {k, g.constant({std::int64_t{0}, std::int64_t{0}, heads_of_keys, std::int64_t{-1}})});
    g.end(g.add("Tanh", {g.add("MatMul", {left, g.add("Transpose", {keys}, {{"perm", {0, 2, 3, 1}}})})}));
  };
  sketch same, other;
  make(same, 3);
  make(other, 1);
  CHECK(applied<both>(same) == 1);
  CHECK(ops(same) == "Reshape Transpose Reshape Transpose MatMul Relu");
  CHECK(refusal<both>(other) == "layout");
}

TEST_CASE("extents that no shape tells are told by the chain") {
  using numbers = std::initializer_list<std::int64_t>;
  auto const cut = [](sketch& g, graph::dims const& shape, numbers parts, numbers joined) {
    auto const v = g.add("Reshape", {g.in("x", shape), g.constant(parts)});
    auto const turned = g.add("Transpose", {v}, {{"perm", {0, 2, 4, 1, 3, 5}}});
    g.end(g.add("Tanh", {g.add("Reshape", {turned, g.constant(joined)})}));
  };
  auto const alpha = [](graph const& g) {
    for (auto n : g.nodes())
      if (g.op(n) == "LeakyRelu") return std::get<double>(g.attribute(n, "alpha")->content);
    return 0.0;
  };
  sketch g;
  SECTION("of patches of an image") {
    cut(g, {"n", 3, 8, 15}, {0, 3, 4, 2, 3, 5}, {0, 12, 30});
    REQUIRE(applied<patches>(g) == 1);
    CHECK(alpha(g) == 2.625);
  }
  SECTION("that are one row of them, or as high as the image") {
    cut(g, {"n", 3, 8, 15}, {0, 3, 1, 8, 3, 5}, {0, 3, 120});
    REQUIRE(applied<patches>(g) == 1);
    CHECK(alpha(g) == 8.625);
  }
  SECTION("that are single elements") {
    cut(g, {"n", 3, 8, 15}, {0, 3, 8, 1, 15, 1}, {0, 120, 3});
    REQUIRE(applied<patches>(g) == 1);
    CHECK(alpha(g) == 1.125);
  }
  SECTION("in an image of one channel, whose rows and patches lie one behind the other") {
    cut(g, {"n", 1, 6, 6}, {0, 1, 1, 6, 6, 1}, {0, 6, 6});
    REQUIRE(applied<patches>(g) == 1);
    CHECK(alpha(g) == 6.125);
  }
  SECTION("of pixels that become channels") {
    auto const v = g.in("x", {"n", 4, 6, 6});
    g.end(g.add("Tanh", {g.add("Reshape", {g.add("Transpose", {g.add("Reshape", {v, g.constant({0, 4, 3, 2, 2, 3})})},
                                                 {{"perm", {0, 1, 3, 5, 2, 4}}}),
                                           g.constant({0, 24, 3, 2})})}));
    CHECK(applied<unshuffled>(g) == 1);
  }
  SECTION("but not where rows of another image are patches") {
    auto const v = g.add("Reshape", {g.in("x", {2, 3, 8, 15}), g.constant({0, 3, 4, 2, 3, 5})});
    auto const turned = g.add("Transpose", {v}, {{"perm", {0, 2, 4, 3, 1, 5}}});
    g.end(g.add("Tanh", {g.add("Reshape", {turned, g.constant({0, 12, 30})})}));
    CHECK(applied<patches>(g) == 0);
  }
  SECTION("and not where any would do") {
    auto const v = g.in("x", {2, 12});
    g.end(g.add("Tanh", {g.add("Transpose", {v}, {{"perm", {1, 0}}})}));
    CHECK(applied<split_anyhow>(g) == 0);
  }
}

TEST_CASE("repeats match where they are written") {
  sketch g;
  auto const v = g.in("x", {2, 3, "s", 4});
  SECTION("each so many times in a row") {
    auto const one = g.add("Unsqueeze", {v, g.constant({2})});
    auto const many = g.add("Expand", {one, g.constant({1, 1, 5, 1, 1})});
    g.end(g.add("Tanh", {g.add("Tanh", {g.add("Reshape", {many, g.constant({2, 15, -1, 4})})})}));
    CHECK(applied<groups>(g) == 1);
    CHECK(ops(g) == "Reshape Expand Reshape Relu");
  }
  SECTION("all of them, one time after the other, is a value of its own") {
    g.end(g.add("Tanh", {g.add("Tanh", {g.add("Tile", {v, g.constant({1, 5, 1, 1})})})}));
    CHECK(applied<groups>(g) == 1);  // r is 1
    CHECK(ops(g) == "Tile Relu");
  }
}

TEST_CASE("whole axes are repeated by one operator, whose extents need not be known") {
  static constexpr auto times = fuse::rule<"times">(tanh(tanh(rearrange<"b h s d -> b (r h) s d">(x))))
                                    .replace(relu(rearrange<"b h s d -> b (r h) s d">(x)))
                                    .at_equal_cost();
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Tile", {g.in("x", {"b", 3, "s", "d"}), g.constant({1, 5, 1, 1})})})}));
  CHECK(applied<times>(g) == 1);
  CHECK(ops(g) == "Tile Relu");
  CHECK(list(g, g.operands(g.producer(g.operands(last(g))[0]))[1]) == std::vector<std::int64_t>{1, 5, 1, 1});
}

TEST_CASE("dots stand for any number of axes") {
  for (graph::dims const& shape : {graph::dims{2, 3}, graph::dims{"n", 4, 2, 3}}) {
    sketch g;
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
    order.push_back(static_cast<std::int64_t>(shape.size()) - 1);
    order.push_back(static_cast<std::int64_t>(shape.size()) - 2);
    auto const turned = g.add("Transpose", {g.in("x", shape)}, {{"perm", order}});
    g.end(g.add("Tanh", {g.add("Identity", {turned})}));
    CHECK(applied<last_two>(g) == 1);
    CHECK(ops(g) == "Transpose Relu");
  }
}

TEST_CASE("a right side writes as few operators as it takes") {
  sketch g;
  auto const end = [&](graph::value v) {
    g.end(g.add("Transpose", {g.add("Tanh", {g.add("Tanh", {v})})}, {{"perm", {1, 0, 2}}}));
  };
  SECTION("one Reshape, whose extents stay and need not be known") {
    g.end(g.add("Tanh", {g.add("Squeeze", {g.add("Tanh", {g.in("x", {"b", "s", 1})}), g.constant({2})})}));
    CHECK(applied<squeezed>(g) == 1);
    CHECK(ops(g) == "Reshape Relu");
    CHECK(list(g, g.operands(g.producer(g.operands(last(g))[0]))[1]) == std::vector<std::int64_t>{0, 0});
  }
  SECTION("a Reshape and no Transpose, where what moves has one element") {
    end(g.in("x", {2, 1, "s"}));
    CHECK(applied<moved>(g) == 1);
    CHECK(ops(g) == "Reshape Relu");
  }
  SECTION("a Transpose alone") {
    end(g.in("x", {2, 5, "s"}));
    CHECK(applied<moved>(g) == 1);
    CHECK(ops(g) == "Transpose Relu");
  }
}

TEST_CASE("a right side looks below what is rearranged already") {
  sketch g;
  auto const end = [&](graph::value v) {
    g.end(g.add("Transpose", {g.add("Tanh", {g.add("Tanh", {v})})}, {{"perm", {1, 0, 2}}}));
    CHECK(applied<moved>(g) == 1);
  };
  auto const turned = [&](graph::value v, std::vector<std::int64_t> perm) {
    return g.add("Transpose", {v}, {{"perm", std::move(perm)}});
  };
  SECTION("nothing is written where that stands below") {
    end(turned(g.in("x", {"b", 5, "s"}), {1, 0, 2}));
    CHECK(ops(g) == "Relu");
  }
  SECTION("one Reshape of what stands there") {
    end(g.add("Squeeze", {turned(g.in("x", {4, 5, 1, "s"}), {1, 2, 0, 3}), g.constant({1})}));
    CHECK(ops(g) == "Reshape Relu");
  }
  SECTION("one Squeeze, where a Reshape fails of a length of 0") {
    end(g.add("Squeeze", {turned(g.in("x", {"b", 5, 1, "s"}), {1, 2, 0, 3}), g.constant({1})}));
    CHECK(ops(g) == "Squeeze Relu");
  }
  SECTION("one Transpose in place of two") {
    end(turned(g.in("x", {"b", 5, "s"}), {2, 0, 1}));
    CHECK(ops(g) == "Transpose Relu");
  }
  SECTION("one Slice of what it is a part of") {
    auto const part = GENERATE(std::int64_t{0}, std::int64_t{1}, std::int64_t{2});
    auto const apart = g.add("Reshape", {g.in("x", {"b", 5, 12}), g.constant({-1, 5, 3, 4})});
    end(g.add("Gather", {turned(apart, {2, 1, 0, 3}), g.scalar(part)}, {{"axis", 0}}));
    CHECK(ops(g) == "Slice Relu");
    auto const cut = g.operands(g.producer(g.operands(last(g))[0]));
    CHECK(g.constant(cut[1]).number(0) == static_cast<double>(4 * part));
    CHECK(g.constant(cut[2]).number(0) == static_cast<double>(4 * part + 4));
    CHECK(g.constant(cut[3]).number(0) == 2);
  }
  SECTION("not where it is none of equal parts") {
    auto const apart = g.add("Reshape", {g.in("x", {"b", 5, 12}), g.constant({-1, 5, 6, 2})});
    auto const cut = g.add("Slice", {turned(apart, {1, 0, 2, 3}), g.constant({1}), g.constant({3}), g.constant({2})});
    end(g.add("Reshape", {cut, g.constant({5, -1, 4})}));
    CHECK(ops(g) == "Reshape Transpose Slice Reshape Transpose Relu");
  }
  SECTION("what others read stays") {
    auto const t = turned(g.in("x", {"b", 5, "s"}), {1, 0, 2});
    g.output(t, "t");
    end(t);
    CHECK(ops(g) == "Transpose Relu");
  }
  SECTION("not below what computes") {
    end(g.add("Abs", {turned(g.in("x", {"b", 5, "s"}), {1, 0, 2})}));
    CHECK(ops(g) == "Transpose Abs Transpose Relu");
  }
}

TEST_CASE("a chain that comes back is nothing") {
  sketch g;
  auto const v = g.in("x", {"b", "s", 12});
  auto const turned = g.add("Transpose", {v}, {{"perm", {2, 0, 1}}});
  g.end(g.add("Relu", {g.add("Transpose", {turned}, {{"perm", {1, 2, 0}}})}));
  CHECK(applied<cleaned>(g) == 1);
  CHECK(ops(g) == "Relu");
}

TEST_CASE("where elements stay where they are, a right side that moves them says nothing new") {
  static constexpr auto outwards = fuse::rule<"outwards">(tanh(rearrange<"(a b) c -> a (b c)">(abs(x))))
                                       .replace(rearrange<"(a b) c -> a (b c)">(tanh(abs(x))))
                                       .at_equal_cost();
  sketch g;
  g.end(g.add("Tanh", {g.add("Abs", {g.in("x", {4, 8})})}));
  auto const before = to_text(g);
  auto const report = fuse::rewrite<outwards>(g);
  CHECK(report.notes.empty());
  CHECK(to_text(g) == before);
}

TEST_CASE("what becomes a match below operators that move elements is found at once") {
  static constexpr auto added = fuse::rule<"added">(rearrange<"1 a -> a">(x) + rearrange<"1 a -> a">(y))
                                    .where(same_shape<"x", "y">)
                                    .replace(rearrange<"1 a -> a">(x + y))
                                    .at_equal_cost();
  sketch g;
  auto const v = g.in("x", {1, 8});
  auto const row = [&] { return g.add("Reshape", {v, g.constant({8})}); };
  auto const parted = g.add("Transpose", {g.add("Add", {row(), row()})}, {{"perm", std::vector<std::int64_t>{0}}});
  g.end(g.add("Sub", {row(), g.add("Neg", {parted})}));
  CHECK(applied<added>(g) == 2);
  CHECK(applied<added>(g) == 0);
}

TEST_CASE("all that stands before a name is one axis in brackets") {
  static constexpr auto rows =
      fuse::rule<"rows">(tanh(tanh(x))).replace(relu(rearrange<"... d -> (...) d">(x))).at_equal_cost();
  static constexpr auto joined = fuse::rule<"joined">(tanh(rearrange<"... d -> (...) d">(x)))
                                     .replace(relu(rearrange<"... d -> (...) d">(x)))
                                     .at_equal_cost();
  SECTION("in a pattern") {
    sketch g;
    g.end(g.add("Tanh", {g.add("Reshape", {g.in("x", {2, "s", 12}), g.constant({-1, 12})})}));
    CHECK(applied<joined>(g) == 1);
    CHECK(ops(g) == "Reshape Relu");
  }
  SECTION("of two axes nothing is left to do on a right side") {
    sketch g;
    g.end(g.add("Tanh", {g.add("Tanh", {g.in("x", {"n", 12})})}));
    CHECK(applied<rows>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
}

TEST_CASE("axes in brackets on both sides are others, with the same elements in the same order") {
  constexpr auto between = rearrange<"n (...) -> n (...)">;
  static constexpr auto twice = fuse::rule<"twice">(between(tanh(between(x).as<"inner">())).as<"outer">())
                                    .where(same_shape<"outer", "x">)
                                    .replace(relu(x))
                                    .at_equal_cost();
  static constexpr auto once = fuse::rule<"once">(tanh(between(x))).replace(relu(between(x))).at_equal_cost();
  sketch g;
  auto const v = g.in("x", {"n", 6, 4, 5});
  auto const reshaped = [&](graph::value of, std::vector<std::int64_t> const& to) {
    return g.add("Reshape", {of, g.constant(fuse::make_tensor<std::int64_t>({std::ssize(to)}, to))});
  };
  SECTION("in one axis, and back") {
    g.end(reshaped(g.add("Tanh", {g.add("Flatten", {v})}), {0, 6, 4, -1}));
    CHECK(applied<twice>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("in more axes, step by step") {
    auto const rows = g.add("Unsqueeze", {reshaped(g.add("Flatten", {v}), {0, 3, -1}), g.constant({1})});
    g.end(reshaped(g.add("Tanh", {rows}), {0, 6, 4, -1}));
    CHECK(applied<twice>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("not back to the same") {
    g.end(reshaped(g.add("Tanh", {g.add("Flatten", {v})}), {0, 4, 6, -1}));
    CHECK(refusal<twice>(g).find("the same shape") != std::string::npos);
  }
  SECTION("another order") {
    auto const turned = g.add("Transpose", {v}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    g.end(reshaped(g.add("Tanh", {g.add("Flatten", {turned})}), {0, 6, 4, -1}));
    CHECK(refusal<twice>(g).find("the same shape") != std::string::npos);
  }
  SECTION("the first axis is split") {
    auto const four = g.in("four", {4, 6, 5});
    g.end(reshaped(g.add("Tanh", {reshaped(four, {2, 12, 5})}), {4, 6, 5}));
    CHECK(refusal<twice>(g) == "");
  }
  SECTION("a right side cannot tell the axes") {
    g.end(g.add("Tanh", {g.add("Flatten", {v})}));
    CHECK(refusal<once>(g) == "right side");
  }
}

TEST_CASE("what a rule replaces is made from what is below it") {
  static constexpr auto turned_shape = op<"Transpose">(op<"Reshape">(x)).as<"y">();
  static constexpr auto shortest = fuse::rule<"shortest">(turned_shape).replace(rearrange<"... -> ...">(y));
  static constexpr auto exchanged =
      fuse::rule<"exchanged">(turned_shape).replace(reversed_parts<"d", 2>(y)).at_equal_cost();
  static constexpr auto half_of_it = fuse::rule<"half-of-it">(turned_shape).replace(part<"d", 0, 2>(y)).at_equal_cost();
  static constexpr auto computed = fuse::rule<"computed">(abs(x).as<"y">()).replace(rearrange<"... -> ...">(y));
  sketch g;
  auto const reshaped = [&](graph::value of, std::vector<std::int64_t> const& to) {
    return g.add("Reshape", {of, g.constant(fuse::make_tensor<std::int64_t>({std::ssize(to)}, to))});
  };
  auto const turn = [&](graph::value of) { return g.add("Transpose", {of}, {{"perm", {0, 2, 1}}}); };
  auto const v = g.in("x", {2, 3, 4});
  SECTION("in fewer operators") {
    g.end(turn(reshaped(turn(v), {2, 4, 3})));
    CHECK(applied<shortest>(g) == 1);
    CHECK(ops(g).empty());
  }
  SECTION("not in as many") {
    g.end(turn(reshaped(v, {2, 2, 6})));
    CHECK(refusal<shortest>(g) == "right side");
  }
  SECTION("not by an operator that would read it") {
    g.end(turn(reshaped(v, {2, 2, 6})));
    CHECK(refusal<exchanged>(g) == "right side");
    CHECK(refusal<half_of_it>(g) == "right side");
  }
  SECTION("not where nothing moves elements") {
    g.end(g.add("Abs", {v}));
    CHECK(refusal<computed>(g) == "right side");
  }
}

TEST_CASE("what a right side rearranges is looked for anew when the graph has changed") {
  sketch g;
  auto const twice = g.add("Abs", {g.add("Abs", {g.in("x", {2, 3, 4})})});
  g.end(g.add("Sigmoid", {g.add("Transpose", {twice}, {{"perm", {0, 2, 1}}})}));
  int refused = 0;
  fuse::rewrite_options options;
  options.veto_context = &refused;
  options.veto = [](void* count, std::string_view rule, fuse::rewrite_cost const&) {
    bool const refuses = rule == "vetoed";
    *static_cast<int*>(count) += refuses;
    return refuses;
  };
  CHECK(applied<one_after_the_other>(g, options) == 2);
  CHECK(refused != 0);
  CHECK(ops(g) == "Abs Sigmoid Transpose");
}

}  // namespace dsl_rearrange
