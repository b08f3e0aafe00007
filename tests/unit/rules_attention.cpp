// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/attention.hpp>

namespace rules_attention {

using namespace rewriting;

namespace {

using integers = std::vector<std::int64_t>;

constexpr auto standard = fuse::target::standard, vendor = fuse::target::onnxruntime;
constexpr auto lowest = -3.4028234663852886e38;

/// Attention of 4 heads of size 6 whose every part can be changed: one test for each condition changes one.
struct attending : sketch {
  explicit attending(int version = 23, graph::dim queries = 3, graph::dim keys = 5, graph::dim batch = 2)
      : sketch(version), b(batch), s(queries), t(keys) {}
  graph::dim b, s, t;

  value tokens(std::string_view name, graph::dim length, std::int64_t size = 6, std::int64_t count = 4) {
    return in(name, {b, length, count * size});
  }
  value heads(value v, integers perm = {0, 2, 1, 3}, std::int64_t size = 6, std::int64_t count = 4) {
    return turned(add("Reshape", {v, list({0, 0, count, size})}), std::move(perm));
  }
  value list(integers const& of) {
    return constant(fuse::make_tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(of.size())},
                                      fuse::span<std::int64_t const>(of.data(), of.size())));
  }
  value turned(value v, integers perm) { return add("Transpose", {v}, {{"perm", std::move(perm)}}); }
  value number(double of, dims const& shape = {}) {
    double const all[] = {of};
    return floats(shape, all);
  }
  value floats(dims const& shape, fuse::span<double const> of) {
    std::vector<std::int64_t> extents;
    for (auto const& e : shape) extents.push_back(e.extent);
    return constant(fuse::make_tensor(element_type::float32, extents, of));
  }
  value queries() { return heads(tokens("q", s)); }
  value keys() { return heads(tokens("k", t), {0, 2, 3, 1}); }
  value values(std::int64_t size = 6) { return heads(tokens("v", t, size), {0, 2, 1, 3}, size); }
  value product(value a, value c) { return add("MatMul", {a, c}); }
  value sum(value a, value c) { return add("Add", {a, c}); }
  value times(value a, value c) { return add("Mul", {a, c}); }
  value scores() { return times(product(queries(), keys()), number(0.25)); }
  value softmax(value v, std::int64_t axis = -1) { return add("Softmax", {v}, {{"axis", axis}}); }
  value mask(dims const& shape) { return in("mask", shape); }
  value condition(dims const& shape) { return in("condition", shape, element_type::boolean); }
  value weighted(value masked) { return product(softmax(masked), values()); }
  value side_by_side(value v, std::int64_t size = 6) {
    return add("Reshape", {turned(v, {0, 2, 1, 3}), list({0, 0, 4 * size})});
  }
};

fuse::rewrite_report run(attending& g, graph::value y, fuse::target target) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto report = fuse::rewrite<fuse::rules::attentions>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  UNSCOPED_INFO(to_text(g));
  CHECK(report.notes.empty());
  return report;
}
/// The operators that the graph with output `y` has afterwards.
std::string became(attending& g, graph::value y, fuse::target target = standard) {
  run(g, y, target);
  return ops(g);
}
/// Whether all stays as it is.
bool stays(attending& g, graph::value y, fuse::target target = vendor) {
  auto const report = run(g, y, target);
  return report.applied() == 0;
}
std::string reason(attending& g, graph::value y, std::string_view rule, fuse::target target = standard) {
  auto const report = run(g, y, target);
  CHECK(report.rule(rule)->applied == 0);
  REQUIRE_FALSE(report.rule(rule)->refused.empty());
  UNSCOPED_INFO(report.rule(rule)->refused[0].reason);
  return report.rule(rule)->refused[0].reason;
}
/// The last node of that operator.
graph::node last_of(attending& g, std::string_view op) {
  graph::node found;
  for (auto n : g.nodes())
    if (g.op(n) == op) found = n;
  return found;
}
std::string const multi_head = "com.microsoft::MultiHeadAttention";

}  // namespace

TEST_CASE("attention of tokens takes them as they are") {
  attending g;
  SECTION("by the standard") {
    CHECK(became(g, g.side_by_side(g.weighted(g.scores()))) == "Attention");
    auto const n = last(g);
    CHECK(number(g, n, "scale") == 0.25);
    CHECK(number(g, n, "q_num_heads") == 4);
    CHECK(number(g, n, "kv_num_heads") == 4);
    CHECK(number(g, n, "softmax_precision") == 1);
    CHECK(g.operands(n).size() == 3);
  }
  SECTION("by onnxruntime") {
    CHECK(became(g, g.side_by_side(g.weighted(g.scores())), vendor) == multi_head);
    CHECK(number(g, last(g), "scale") == 0.25);
    CHECK(number(g, last(g), "num_heads") == 4);
  }
  SECTION("where nobody knows how many there are") {
    attending any(17, "s", "t", "b");
    CHECK(became(any, any.side_by_side(any.weighted(any.scores())), vendor) == multi_head);
  }
  SECTION("with values of another size") {
    CHECK(became(g, g.side_by_side(g.product(g.softmax(g.scores()), g.values(4)), 4)) == "Attention");
  }
}

TEST_CASE("attention of heads leaves them") {
  attending g;
  SECTION("by the standard, which has keys turned back") {
    CHECK(became(g, g.weighted(g.scores())) == "Reshape Transpose Reshape Transpose Reshape Transpose Attention");
    CHECK(g.attribute(last(g), "q_num_heads") == nullptr);
  }
  SECTION("by onnxruntime, behind which they are apart again") {
    CHECK(became(g, g.weighted(g.scores()), vendor) == multi_head + " Reshape Transpose");
  }
}

TEST_CASE("keys and values behind a cache are not turned") {
  attending g(17, "s", "s", "b");
  auto const cached = [&](std::string_view name, graph::value now) {
    auto const all = g.add("Concat", {g.in(name, {g.b, 4, "past", 6}), now}, {{"axis", 2}});
    g.output(all, "present " + std::string(name));
    return g.add("Gather", {all, g.in("beams of " + std::string(name), {g.b}, element_type::int64)}, {{"axis", 0}});
  };
  auto const k = cached("keys", g.heads(g.tokens("k", g.t))), v = cached("values", g.values());
  auto const scores = g.times(g.product(g.queries(), g.turned(k, {0, 1, 3, 2})), g.number(0.25));
  CHECK(became(g, g.side_by_side(g.product(g.softmax(scores), v)), vendor) ==
        "Reshape Transpose Concat Gather Reshape Transpose Concat Gather " + multi_head);
  auto const read = g.operands(last(g));
  REQUIRE(read.size() == 3);
  CHECK(read[1] == k);
  CHECK(read[2] == v);
}

TEST_CASE("a scale stands anywhere") {
  attending g;
  auto const at = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(at);
  auto q = g.queries(), k = g.keys();
  double wanted = 1;
  if (at == 0) q = g.times(q, g.number(0.5)), wanted = 0.5;
  if (at == 1) k = g.add("Div", {k, g.number(4)}), wanted = 0.25;
  if (at == 2) q = g.times(g.number(0.5), q), k = g.times(k, g.number(0.5)), wanted = 0.25;
  auto scores = g.product(q, k);
  if (at == 3) scores = g.add("Div", {scores, g.number(8, {1})}), wanted = 0.125;
  CHECK(became(g, g.side_by_side(g.weighted(scores))) == "Attention");
  CHECK(number(g, last(g), "scale") == Approx(wanted));
}

TEST_CASE("masks are added") {
  attending g;
  SECTION("as they are, where they are for each query and key") {
    CHECK(became(g, g.side_by_side(g.weighted(g.sum(g.scores(), g.mask({2, 1, 3, 5})))), vendor) == multi_head);
    CHECK(g.operands(last(g)).size() == 6);
  }
  SECTION("repeated for each query, where they are of keys") {
    CHECK(became(g, g.side_by_side(g.weighted(g.sum(g.scores(), g.mask({2, 1, 1, 5})))), vendor) ==
          "Expand " + multi_head);
  }
  SECTION("repeated for as many as there are when the graph runs") {
    attending any(17, "s", "t", "b");
    CHECK(became(any, any.side_by_side(any.weighted(any.sum(any.scores(), any.mask({"b", 1, 1, "t"})))), vendor) ==
          "Shape Gather Shape Gather Concat Expand " + multi_head);
  }
  SECTION("of as many columns as there are keys, which the product with the values alone tells") {
    attending any(17, "s", "t", "b");
    auto const masked = any.sum(any.scores(), any.mask({"b", 1, "s", "columns"}));
    CHECK(became(any, any.side_by_side(any.weighted(masked)), vendor) ==
          "Shape Gather Shape Gather Concat Expand " + multi_head);
  }
  SECTION("several of them, and what is subtracted") {
    auto const two = g.sum(g.sum(g.mask({3, 5}), g.scores()), g.in("other", {4, 3, 5}));
    CHECK(became(g, g.side_by_side(g.weighted(g.add("Sub", {two, g.in("third", {2, 1, 3, 5})})))) ==
          "Add Sub Attention");
  }
  SECTION("by a condition that keeps scores") {
    auto const masked = g.add("Where", {g.condition({2, 1, 3, 5}), g.scores(), g.number(-HUGE_VAL)});
    CHECK(became(g, g.side_by_side(g.weighted(masked))) == "Where Attention");
  }
  SECTION("by a condition that leaves them out, and a sum behind") {
    auto const masked = g.add("Where", {g.condition({1, 4, 3, 5}), g.number(lowest), g.scores()});
    CHECK(became(g, g.side_by_side(g.weighted(g.sum(masked, g.mask({2, 1, 1, 5}))))) == "Where Add Attention");
    auto const where = g.producer(g.operands(g.producer(g.operands(last(g))[3]))[0]);
    CHECK(g.constant(g.operands(where)[1]).number(0) == lowest);  // as much as keys that the sum leaves out
  }
  SECTION("by half of the lowest number, which no key has alone then") {
    auto const masked = g.add("Where", {g.condition({1, 4, 3, 5}), g.number(lowest), g.scores()});
    CHECK(became(g, g.side_by_side(g.weighted(masked))) == "Where Attention");
    CHECK(g.constant(g.operands(g.producer(g.operands(last(g))[3]))[1]).number(0) == lowest / 2);
  }
}

TEST_CASE("a query that may look at nothing has zeros where it had") {
  attending g;
  auto const weights = g.softmax(g.sum(g.scores(), g.mask({2, 1, 3, 5})));
  auto const right = g.add("Where", {g.add("IsNaN", {weights}), g.number(0), weights});
  CHECK(became(g, g.side_by_side(g.product(right, g.values())), vendor) == multi_head + " IsNaN Where");
}

TEST_CASE("a softmax in float between Casts") {
  attending g;
  auto const half = [&](std::string_view name, graph::dim length, integers perm) {
    return g.heads(g.in(name, {g.b, length, 24}, element_type::float16), std::move(perm));
  };
  auto const scores = g.product(half("q", g.s, {0, 2, 1, 3}), half("k", g.t, {0, 2, 3, 1}));
  auto const weights = g.add("Cast", {g.softmax(g.add("Cast", {scores}, {{"to", 1}}))}, {{"to", 10}});
  CHECK(became(g, g.side_by_side(g.product(weights, half("v", g.t, {0, 2, 1, 3})))) == "Attention");
}

TEST_CASE("heads of keys and values that several of queries share") {
  auto const repeated = [](attending& g, graph::value v, bool in_turn = false) {
    auto const more = g.add("Unsqueeze", {v, g.constant({in_turn ? std::int64_t{1} : std::int64_t{2}})});
    auto const all = in_turn ? g.constant({1, 2, 1, 1, 1}) : g.constant({1, 1, 2, 1, 1});
    return g.add("Reshape", {g.add("Expand", {more, all}), g.list({0, 4, -1, 6})});
  };
  auto const heads = [](attending& g, std::string_view name) {
    return g.heads(g.tokens(name, g.t, 6, 2), {0, 2, 1, 3}, 6, 2);
  };
  auto const scores = [&](attending& g, bool in_turn = false) {
    return g.product(g.queries(), g.turned(repeated(g, heads(g, "k"), in_turn), {0, 1, 3, 2}));
  };
  auto const attended = [&](attending& g, graph::value masked, bool in_turn = false) {
    return g.product(g.softmax(masked), repeated(g, heads(g, "v"), in_turn));
  };
  attending g, older(17), any(17, "s", "t", "b");
  SECTION("one after the other: the standard's operator repeats them itself") {
    CHECK(became(g, g.side_by_side(attended(g, scores(g)))) == "Attention");
    CHECK(number(g, last(g), "kv_num_heads") == 2);
  }
  SECTION("in turn: they stay repeated") {
    became(g, g.side_by_side(attended(g, scores(g, true), true)));
    CHECK(number(g, last(g), "kv_num_heads") == 4);
  }
  // onnxruntime's operator has as many heads of each: of those that share one, all queries are that one's.
  std::string const apart = "Reshape Transpose Reshape ", together = " Reshape Transpose Reshape";
  auto const side_by_side = [&](attending& of, graph::value masked) {
    return became(of, of.side_by_side(attended(of, masked)), vendor);
  };
  SECTION("onnxruntime's takes more queries of fewer heads") {
    CHECK(side_by_side(older, scores(older)) == apart + multi_head + together);
    CHECK(number(older, last_of(older, multi_head), "num_heads") == 2);
  }
  SECTION("of any length, with a mask that is repeated for each of them") {
    auto const mask = any.mask({any.b, 1, "s", "t"});
    CHECK(side_by_side(any, any.sum(scores(any), mask)) == "Tile " + apart + multi_head + together);
    CHECK(any.operands(last_of(any, "Tile"))[0] == mask);
  }
  SECTION("and with one of keys alone") {
    CHECK(side_by_side(older, older.sum(scores(older), older.mask({2, 1, 1, 5}))) ==
          "Expand Tile " + apart + multi_head + together);
  }
  SECTION("of as many columns as there are keys, which the product with the values alone tells") {
    CHECK(side_by_side(any, any.sum(scores(any), any.mask({any.b, 1, "s", "columns"}))) ==
          "Shape Gather Shape Gather Concat Expand Tile " + apart + multi_head + together);
  }
  SECTION("and with one of each head") {
    CHECK(side_by_side(older, older.sum(scores(older), older.mask({2, 4, 3, 5}))) ==
          "Reshape " + apart + multi_head + together);
  }
  SECTION("behind a cache, keys and values are read where they lie") {
    auto const k = older.in("cached keys", {2, 2, 5, 6}), v = older.in("cached values", {2, 2, 5, 6});
    auto const all = older.product(older.queries(), older.turned(repeated(older, k), {0, 1, 3, 2}));
    became(older, older.side_by_side(older.product(older.softmax(all), repeated(older, v))), vendor);
    auto const read = older.operands(last_of(older, multi_head));
    CHECK(read[1] == k);
    CHECK(read[2] == v);
  }
  SECTION("which stay heads behind it") {
    auto const k = older.in("cached keys", {2, 2, 5, 6}), v = older.in("cached values", {2, 2, 5, 6});
    auto const all = older.product(older.in("q", {2, 4, 3, 6}), older.turned(repeated(older, k), {0, 1, 3, 2}));
    CHECK(became(older, older.product(older.softmax(all), repeated(older, v)), vendor) ==
          apart + multi_head + together);
  }
}

TEST_CASE("a head of keys and values that all of queries share") {
  attending g(17), any(17, "s", "t", "b");
  auto const became_of = [](attending& of, graph::dims const& mask = {}, std::int64_t heads_of_values = 1) {
    auto scores = of.product(of.queries(), of.in("k", {of.b, 1, 6, of.t}));
    if (!mask.empty()) scores = of.sum(scores, of.mask(mask));
    auto const v = of.in("v", {of.b, heads_of_values, of.t, 6});
    return became(of, of.side_by_side(of.product(of.softmax(scores), v)), vendor);
  };
  auto const made = [](std::string const& between) {
    return between + "Transpose Reshape Transpose Reshape " + multi_head + " Reshape Transpose Reshape";
  };
  SECTION("is not repeated") { CHECK(became_of(g) == made("")); }
  // (Where the batch may be 0, a Reshape leaves no extent to the others: the shape tells it when the graph runs.)
  SECTION("of any length") {
    CHECK(became_of(any, {any.b, 1, "s", "t"}) ==
          "Tile Transpose Reshape Transpose Shape Gather Mul Gather Concat Reshape " + multi_head +
              " Shape Gather Div Gather Concat Reshape Transpose Reshape");
  }
  SECTION("with a mask of keys") { CHECK(became_of(g, {2, 1, 1, 5}) == made("Expand Tile ")); }
  SECTION("with a mask of each head, whose rows come one behind the other") {
    CHECK(became_of(g, {4, 1, 5}) == made("Expand Reshape "));
  }
  SECTION("behind which there are heads") {
    auto const scores = any.sum(any.product(any.in("q", {any.b, 4, "s", 6}), any.in("k", {any.b, 1, 6, "t"})),
                                any.mask({any.b, 1, "s", "t"}));
    CHECK(became(any, any.product(any.softmax(scores), any.in("v", {any.b, 1, "t", 6})), vendor) ==
          "Tile Transpose Shape Gather Mul Gather Concat Reshape " + multi_head +
              " Shape Gather Div Gather Concat Reshape");
  }
  SECTION("but not where values have more") { CHECK(became_of(g, {}, 4).find(multi_head) == std::string::npos); }
}

TEST_CASE("heads that are part of the first axis") {
  attending g;
  SECTION("with a mask that is added where they are apart") {
    auto const joined = [&](graph::value v, integers const& to) { return g.add("Reshape", {v, g.list(to)}); };
    auto const q = joined(g.queries(), {8, 3, 6}), k = joined(g.keys(), {8, 6, 5}), v = joined(g.values(), {8, 5, 6});
    auto const apart = g.sum(joined(g.product(q, k), {2, 4, 3, 5}), g.mask({2, 1, 3, 5}));
    auto const made = joined(g.product(g.softmax(joined(apart, {8, 3, 5})), v), {2, 4, 3, 6});
    CHECK(became(g, g.side_by_side(made), vendor) == multi_head);
    CHECK(number(g, last(g), "num_heads") == 4);
  }
  SECTION("with nothing that tells how many there are: each is one") {
    auto const a = g.in("a", {8, 3, 6}), c = g.in("c", {8, 6, 5}), e = g.in("e", {8, 5, 6});
    CHECK(became(g, g.product(g.softmax(g.sum(g.product(a, c), g.mask({8, 3, 5}))), e), vendor) ==
          "Reshape Transpose " + multi_head);
    CHECK(number(g, last(g), "num_heads") == 1);
  }
}

TEST_CASE("a condition that is repeated as the scores are is repeated no more") {
  attending g(17, "s", "t", "b");
  auto const scores = g.product(g.queries(), g.keys());
  auto const wide = g.add("Expand", {g.condition({"b", 1, 1, "t"}), g.add("Shape", {scores})});
  bool const kept = GENERATE(true, false);
  auto const fill = g.number(-HUGE_VAL);
  auto const masked = kept ? g.add("Where", {wide, scores, fill}) : g.add("Where", {wide, fill, scores});
  run(g, g.side_by_side(g.weighted(masked)), vendor);
  CHECK(ops(g).find("MatMul") == std::string::npos);
  CHECK(ops(g).find(multi_head) != std::string::npos);
}

namespace {

std::string const projects = "com.microsoft::Attention";

/// onnxruntime's operator on 4 heads of size 2 that are projections of one value, (2, 3, 5).
struct projecting : attending {
  projecting() : attending(17) {}
  value x = in("x", {2, 3, 5});

  value weights(double first, std::int64_t columns = 8) {
    std::vector<double> all(static_cast<std::size_t>(5 * columns), first);
    return floats({5, columns}, all);
  }
  value bias(double first, dims const& shape = {8}) {
    std::vector<double> all(8, first);
    return floats(shape, all);
  }
  value projected(double number) { return sum(product(x, weights(number)), bias(number)); }
  value multi_head(std::vector<value> operands, std::int64_t causal = 0) {
    return add("com.microsoft::MultiHeadAttention", operands, {{"num_heads", 4}, {"unidirectional", causal}});
  }
};

}  // namespace

TEST_CASE("queries, keys and values that are projections of one value are projected at once") {
  projecting g;
  SECTION("with their weights and biases side by side, zeros where there is none") {
    auto const k = g.product(g.x, g.weights(2)), v = g.sum(g.bias(3, {1, 1, 8}), g.product(g.x, g.weights(3)));
    CHECK(became(g, g.multi_head({g.projected(1), k, v}), vendor) == projects);
    auto const operands = g.operands(last(g));
    REQUIRE(operands.size() == 3);
    CHECK(operands[0] == g.x);
    auto const w = g.constant(operands[1]), b = g.constant(operands[2]);
    REQUIRE(w.size() == 5 * 24);
    REQUIRE(b.size() == 24);
    for (std::size_t i = 0; i < w.size(); ++i) CHECK(w.number(i) == 1 + static_cast<int>(i % 24 / 8));
    for (std::size_t i = 0; i < 24; ++i) CHECK(b.number(i) == (i < 8 ? 1 : i < 16 ? 0 : 3));
  }
  SECTION("with a mask") {
    auto const q = g.projected(1), k = g.projected(2), v = g.projected(3);
    CHECK(became(g, g.multi_head({q, k, v, {}, {}, g.mask({2, 1, 3, 3})}), vendor) == projects);
    CHECK(g.operands(last(g)).size() == 6);
  }
  SECTION("by Gemms of all tokens") {
    auto const tokens = g.add("Reshape", {g.x, g.list({-1, 5})});
    auto const by = [&](double number) {
      auto const made = g.add("Gemm", {tokens, g.weights(number), g.bias(number)});
      return g.add("Reshape", {made, g.list({2, 3, 8})});
    };
    auto const q = by(1), k = by(2), v = by(3);
    CHECK(became(g, g.multi_head({q, k, v}), vendor) == projects);
  }
  SECTION("as parts of one projection") {
    auto const whole = g.product(g.x, g.weights(1, 24));
    auto const part = [&](std::int64_t i) {
      return g.add("Slice", {whole, g.list({8 * i}), g.list({8 * i + 8}), g.list({2})});
    };
    auto const q = part(0), k = part(1), v = part(2);
    CHECK(became(g, g.multi_head({q, k, v}), vendor) == projects);
    CHECK(g.constant(g.operands(last(g))[1]).size() == 5 * 24);
  }
}

TEST_CASE("what is projected otherwise stays") {
  projecting g;
  std::string_view const rule = "projected-attention";
  SECTION("keys of another value") {
    auto const k = g.product(g.in("y", {2, 3, 5}), g.weights(2));
    CHECK(stays(g, g.multi_head({g.projected(1), k, g.projected(3)})));
  }
  SECTION("weights that others use as well") {
    auto const w = g.weights(1);
    auto const k = g.product(g.x, w);
    g.output(g.product(g.in("y", {2, 3, 5}), w), "other");
    CHECK(reason(g, g.multi_head({g.projected(1), k, g.projected(3)}), rule, vendor)
              .find("nothing else uses the weights") != std::string::npos);
  }
  SECTION("weights that are no constants") {
    auto const k = g.product(g.x, g.in("w", {5, 8}));
    CHECK(reason(g, g.multi_head({g.projected(1), k, g.projected(3)}), rule, vendor).find("a constant") !=
          std::string::npos);
  }
  SECTION("weights of each batch") {
    auto const k = g.product(g.x, g.floats({2, 5, 8}, std::vector<double>(80, 1)));
    CHECK(stays(g, g.multi_head({g.projected(1), k, g.projected(3)})));
  }
  SECTION("a bias of each token") {
    auto const k = g.sum(g.product(g.x, g.weights(2)), g.floats({3, 8}, std::vector<double>(24, 1)));
    CHECK(reason(g, g.multi_head({g.projected(1), k, g.projected(3)}), rule, vendor).find("along that axis alone") !=
          std::string::npos);
  }
  SECTION("a bias that is no constant") {
    auto const k = g.sum(g.product(g.x, g.weights(2)), g.in("b", {8}));
    CHECK(reason(g, g.multi_head({g.projected(1), k, g.projected(3)}), rule, vendor).find("a constant") !=
          std::string::npos);
  }
  SECTION("values of another size") {
    auto const v = g.product(g.x, g.weights(2, 4));
    CHECK(stays(g, g.multi_head({g.projected(1), g.projected(2), v})));
  }
  SECTION("keys that others read") {
    auto const k = g.projected(2);
    g.output(k, "keys");
    CHECK(stays(g, g.multi_head({g.projected(1), k, g.projected(3)})));
  }
  SECTION("an attention that looks back alone") {
    CHECK(reason(g, g.multi_head({g.projected(1), g.projected(2), g.projected(3)}, 1), rule, vendor)
              .find("queries look at all keys") != std::string::npos);
  }
  SECTION("an attention with a bias of its own") {
    CHECK(stays(g, g.multi_head({g.projected(1), g.projected(2), g.projected(3), g.in("biases", {24})})));
  }
  SECTION("an attention with padding") {
    auto const padding = g.in("padding", {2, 3}, element_type::int32);
    CHECK(stays(g, g.multi_head({g.projected(1), g.projected(2), g.projected(3), {}, padding})));
  }
  SECTION("parts of what others read") {
    auto const whole = g.product(g.x, g.weights(1, 24));
    auto const cut = g.append("Split", {whole, g.list({8, 8, 8})}, {{"axis", 2}}, 3);
    bool const of_whole = GENERATE(true, false);
    g.output(of_whole ? whole : g.result(cut, 1), "read");
    CHECK(reason(g, g.multi_head({g.result(cut, 0), g.result(cut, 1), g.result(cut, 2)}),
                 "projected-attention-of-parts", vendor)
              .find("nothing else reads what is projected") != std::string::npos);
  }
  SECTION("parts in another order") {
    auto const cut = g.append("Split", {g.product(g.x, g.weights(1, 24)), g.list({8, 8, 8})}, {{"axis", 2}}, 3);
    CHECK(stays(g, g.multi_head({g.result(cut, 1), g.result(cut, 0), g.result(cut, 2)})));
  }
}

TEST_CASE("what is no attention stays") {
  attending g;
  SECTION("a softmax along the queries") {
    CHECK(stays(g, g.side_by_side(g.product(g.softmax(g.scores(), 2), g.values()))));
  }
  SECTION("a scale of each head") {
    double const each[] = {0.1, 0.2, 0.3, 0.4};
    auto const scores = g.times(g.product(g.queries(), g.keys()), g.floats({4, 1, 1}, each));
    CHECK(stays(g, g.side_by_side(g.weighted(scores))));
  }
  SECTION("scores that others read") {
    auto const scores = g.scores();
    g.output(scores, "scores");
    CHECK(stays(g, g.side_by_side(g.weighted(scores))));
  }
  SECTION("weights that others read") {
    auto const weights = g.softmax(g.scores());
    g.output(weights, "weights");
    CHECK(stays(g, g.side_by_side(g.product(weights, g.values()))));
  }
  SECTION("weights that are scaled") {
    CHECK(stays(g, g.side_by_side(g.product(g.times(g.softmax(g.scores()), g.number(2)), g.values()))));
  }
  SECTION("a number that does not absorb scores") {
    auto const masked = g.add("Where", {g.condition({2, 1, 3, 5}), g.scores(), g.number(-1e4)});
    CHECK(reason(g, g.side_by_side(g.weighted(masked)), "attention").find("what is left out absorbs its score") !=
          std::string::npos);
  }
}

TEST_CASE("what the operators do not take is refused") {
  SECTION("batches that repeat") {
    attending g;
    auto const scores = g.product(g.in("a", {1, 4, 3, 6}), g.keys());
    CHECK(reason(g, g.weighted(scores), "attention-of-heads").find("not provably of as many batches") !=
          std::string::npos);
  }
  SECTION("a mask that makes more rows than there are queries") {
    attending g(23, 1);
    auto const y = g.weighted(g.sum(g.scores(), g.mask({2, 1, 3, 5})));
    CHECK(reason(g, y, "attention-of-heads").find("a row for each query") != std::string::npos);
  }
  SECTION("a mask of as many rows as nothing tells") {
    attending g(23, "s", "t", "b");
    auto const y = g.weighted(g.sum(g.scores(), g.mask({"b", 1, "rows", "t"})));
    CHECK(reason(g, y, "attention-of-heads").find("a row for each query") != std::string::npos);
  }
  SECTION("a scale of 0, which onnxruntime takes for another one") {
    attending g(17);
    auto const scores = g.times(g.product(g.queries(), g.keys()), g.number(0));
    CHECK(reason(g, g.side_by_side(g.weighted(scores)), "attention", vendor).find("the scale is 0") !=
          std::string::npos);
  }
  SECTION("a scale below 0, of which the standard takes the root") {
    attending g;
    auto const scores = g.times(g.product(g.queries(), g.keys()), g.number(-0.5));
    CHECK(reason(g, g.side_by_side(g.weighted(scores)), "attention").find("not above 0") != std::string::npos);
  }
  SECTION("doubles, whose softmax is not to be one of floats") {
    attending g;
    auto const of = [&](std::string_view name, graph::dims const& shape) {
      return g.in(name, shape, element_type::float64);
    };
    auto const weights = g.softmax(g.product(of("a", {2, 4, 3, 6}), of("c", {2, 4, 6, 5})));
    CHECK(reason(g, g.product(weights, of("e", {2, 4, 5, 6})), "attention-of-heads").find("less precise") !=
          std::string::npos);
  }
  SECTION("an operator set that has no such operator") {
    attending g(22);
    CHECK(reason(g, g.side_by_side(g.weighted(g.scores())), "attention").find("no operator") != std::string::npos);
  }
}

TEST_CASE("heads that are joined for one product alone are taken apart") {
  attending g;
  auto const joined = [&](graph::value v, std::int64_t rows, std::int64_t columns) {
    return g.add("Reshape", {v, g.list({-1, rows, columns})});
  };
  auto const apart = [&](graph::value v, std::int64_t rows, std::int64_t columns) {
    return g.add("Reshape", {v, g.list({-1, 4, rows, columns})});
  };
  auto const joined_scores = [&] {
    return g.times(g.product(joined(g.queries(), 3, 6), joined(g.keys(), 6, 5)), g.number(0.25));
  };
  SECTION("for the first, whose scores are masked when they are apart") {
    auto const scores = g.sum(apart(joined_scores(), 3, 5), g.mask({2, 1, 3, 5}));
    CHECK(became(g, g.side_by_side(g.weighted(scores))) == "Attention");
  }
  SECTION("for the first, with something added to all of each head") {
    auto const slopes = joined(g.in("slopes", {2, 4, 1, 5}), 1, 5);
    CHECK(became(g, g.side_by_side(g.weighted(apart(g.sum(joined_scores(), slopes), 3, 5)))) == "Expand Attention");
  }
  SECTION("for the first, which is added to zeros") {
    auto const zeros = g.add("ConstantOfShape", {g.list({8, 3, 5})});
    CHECK(became(g, g.side_by_side(g.weighted(apart(g.sum(zeros, joined_scores()), 3, 5)))).find("Softmax") ==
          std::string::npos);
  }
  SECTION("not as such with zeros below 0, which leave -0 as it is") {
    auto const zeros = g.floats({8, 3, 5}, std::vector<double>(8 * 3 * 5, -0.0));
    auto const report = run(g, g.side_by_side(g.weighted(apart(g.sum(zeros, joined_scores()), 3, 5))), standard);
    CHECK(report.rule("matmul-of-joined-axes-and-zeros")->applied == 0);
  }
  SECTION("for the second") {
    auto const weights = joined(g.softmax(g.sum(g.scores(), g.mask({2, 1, 3, 5}))), 3, 5);
    CHECK(became(g, g.side_by_side(apart(g.product(weights, joined(g.values(), 5, 6)), 3, 6))) == "Attention");
  }
  SECTION("for the softmax and the second") {
    auto const weights = g.softmax(joined(g.sum(g.scores(), g.mask({2, 1, 3, 5})), 3, 5));
    SECTION("at once") {
      CHECK(became(g, g.side_by_side(apart(g.product(weights, joined(g.values(), 5, 6)), 3, 6))) == "Attention");
    }
    SECTION("with weights that were apart in between") {
      auto const again = joined(apart(weights, 3, 5), 3, 5);
      CHECK(became(g, g.side_by_side(apart(g.product(again, joined(g.values(), 5, 6)), 3, 6))) == "Attention");
    }
    SECTION("not along another axis") {
      auto const other = g.softmax(joined(g.sum(g.scores(), g.mask({2, 1, 3, 5})), 3, 5), 1);
      CHECK(became(g, g.side_by_side(apart(g.product(other, joined(g.values(), 5, 6)), 3, 6))).find("Attention") ==
            std::string::npos);
    }
  }
  SECTION("not where something else reads the product") {
    auto const product = joined_scores();
    g.output(product, "scores");
    CHECK(stays(g, g.side_by_side(g.weighted(apart(product, 3, 5)))));
  }
}

TEST_CASE("a least number of masked scores is one of their mask") {
  attending g;
  auto const at_least = [&](graph::value v, double number) { return g.add("Max", {v, g.number(number)}); };
  auto const masked = [&] { return g.sum(g.scores(), g.mask({2, 1, 3, 5})); };
  SECTION("if it absorbs scores") {
    CHECK(became(g, g.side_by_side(g.weighted(at_least(masked(), lowest)))) == "Max Attention");
  }
  SECTION("else scores may be below it") {
    CHECK(reason(g, g.side_by_side(g.weighted(at_least(masked(), -1e4))), "least-of-masked-scores")
              .find("the least number absorbs scores") != std::string::npos);
  }
  SECTION("if something masks them") { CHECK(stays(g, g.side_by_side(g.weighted(at_least(g.scores(), lowest))))); }
}

TEST_CASE("what a selection leaves out may be masked before") {
  attending g;
  auto const masked = g.sum(g.scores(), g.mask({2, 1, 3, 5}));
  auto const selected = [&](double number) {
    return g.add("Where", {g.condition({1, 1, 3, 5}), masked, g.number(number)});
  };
  SECTION("by the whole number, which keys may have that are left out by the mask") {
    CHECK(became(g, g.side_by_side(g.weighted(selected(-1e30)))) == "Where Attention");
    auto const operands = g.operands(last_of(g, "Where"));
    REQUIRE(operands.size() == 3);
    CHECK(g.constant(operands[2]).number(0) == static_cast<double>(-1e30F));
  }
  SECTION("not by one that does not absorb scores") {
    CHECK(reason(g, g.side_by_side(g.weighted(selected(-1e4))), "attention").find("absorbs its score") !=
          std::string::npos);
  }
}

namespace {

/// The same behind a cache of 2 keys: `t` of them are new.
struct cached : attending {
  explicit cached(int version = 23) : attending(version) {}
  std::int64_t axis = 2;

  value behind_past(std::string_view name, value v, std::int64_t size = 6) {
    auto const past = in(name, {b, 4, 2, size});
    return add("Concat", {past, v}, {{"axis", axis}});
  }
  value all_keys() { return behind_past("past k", heads(tokens("k", t))); }
  value all_values(std::int64_t size = 6) {
    return behind_past("past v", heads(tokens("v", t, size), {0, 2, 1, 3}, size), size);
  }
  value attention(value k, value v) {
    return product(softmax(times(product(queries(), turned(k, {0, 1, 3, 2})), number(0.25))), v);
  }
};

}  // namespace

TEST_CASE("attention appends keys and values to those of earlier calls itself") {
  auto const target = GENERATE(standard, vendor);
  CAPTURE(target);
  cached g;
  SECTION("side by side") {
    g.axis = GENERATE(2, -2);
    auto const k = g.all_keys(), v = g.all_values();
    if (GENERATE(false, true)) {
      g.output(k, "present k");
      g.output(v, "present v");
    }
    CHECK(became(g, g.side_by_side(g.attention(k, v)), target) == (target == vendor ? multi_head : "Attention"));
    auto const n = last(g);
    CHECK(g.operands(n).size() == (target == vendor ? 8 : 6));
    CHECK(number(g, n, "scale") == 0.25);
  }
  SECTION("with a mask") {
    auto const k = g.all_keys(), v = g.all_values();
    auto const scores = g.times(g.product(g.queries(), g.turned(k, {0, 1, 3, 2})), g.number(0.25));
    CHECK(became(g, g.side_by_side(g.product(g.softmax(g.sum(scores, g.mask({2, 4, 3, 7}))), v)), target) ==
          (target == vendor ? multi_head : "Attention"));
    CHECK(g.operands(last(g)).size() == (target == vendor ? 8 : 6));
  }
  SECTION("all keys and values are read by others, which reads the operator's results then") {
    auto const k = g.all_keys(), v = g.all_values();
    g.output(g.add("Neg", {k}), "negative k");
    g.output(g.add("Neg", {v}), "negative v");
    auto const made = became(g, g.side_by_side(g.attention(k, v)), target);
    CHECK(made.find("Concat") == std::string::npos);
    CHECK(made.find("Softmax") == std::string::npos);
  }
  SECTION("values of another size, which onnxruntime's does not append") {
    auto const made = became(g, g.side_by_side(g.attention(g.all_keys(), g.all_values(8)), 8), target);
    CHECK((made.find("Concat") == std::string::npos) == (target == standard));
  }
}

TEST_CASE("what is no past of keys and values stays in front of attention") {
  auto const target = GENERATE(standard, vendor);
  CAPTURE(target);
  cached g;
  SECTION("of values alone") {
    auto const k = g.heads(g.tokens("k", 7));
    CHECK(became(g, g.side_by_side(g.attention(k, g.all_values())), target).find("Concat") != std::string::npos);
  }
  SECTION("of as many values as keys together, but not before") {
    auto const k = g.add("Concat", {g.in("past k", {2, 4, 3, 6}), g.heads(g.tokens("k", 4))}, {{"axis", 2}});
    CHECK(became(g, g.side_by_side(g.attention(k, g.all_values())), target).find("Concat") != std::string::npos);
  }
  SECTION("of which nothing tells that there are as many values as keys") {
    auto const part = [&](std::string_view name, char const* length, graph::value now) {
      return g.add("Concat", {g.in(name, {2, 4, graph::dim{length}, 6}), now}, {{"axis", 2}});
    };
    auto const k = part("past k", "keys", g.heads(g.tokens("k", 5))), v = part("past v", "values", g.values());
    CHECK(became(g, g.side_by_side(g.attention(k, v)), target).find("Concat") != std::string::npos);
  }
  SECTION("of three parts") {
    auto const k =
        g.add("Concat", {g.in("a", {2, 4, 1, 6}), g.in("b", {2, 4, 1, 6}), g.heads(g.tokens("k", 5))}, {{"axis", 2}});
    CHECK(became(g, g.side_by_side(g.attention(k, g.all_values())), target).find("Concat") != std::string::npos);
  }
}

TEST_CASE("queries of an attention that looks back alone are not counted anew") {
  cached g;
  auto const q = g.heads(g.tokens("q", 3)), k = g.all_keys(), v = g.all_values();
  SECTION("causal") { CHECK(stays(g, g.add("Attention", {q, k, v}, {{"scale", 0.25}, {"is_causal", 1}}), standard)); }
  SECTION("but for all keys") {
    CHECK(became(g, g.add("Attention", {q, k, v}, {{"scale", 0.25}, {"softcap", 2.0}})).find("Concat") ==
          std::string::npos);
    CHECK(number(g, last(g), "softcap") == 2.0);
  }
}

}  // namespace rules_attention
