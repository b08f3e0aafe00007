// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/canonical.hpp>
#include <fuse/rules/rotary.hpp>

namespace rules_rotary {

using namespace rewriting;

namespace {

/// Rotary embeddings whose every operand can be changed: one test for each condition changes one.
struct rotary : sketch {
  explicit rotary(int version = 18, graph::dims const& of = {"b", 4, "s", 8}) : sketch(version), x(in("x", of)) {}
  value x;

  value cut(value v, std::int64_t from, std::int64_t to, std::int64_t step = 1) {
    std::int64_t const axis = -1;
    return add("Slice", {v, constant({from}), constant({to}), constant({axis}), constant({step})});
  }
  value joined(value a, value b, int axis = -1) { return add("Concat", {a, b}, {{"axis", axis}}); }
  value minus(value v) { return add("Neg", {v}); }
  value half_turned(value of) { return joined(minus(cut(of, 4, 8)), cut(of, 0, 4)); }
  value times(value a, value b) { return add("Mul", {a, b}); }
  value sum(value a, value b) { return add("Add", {a, b}); }
  value row(std::vector<float> const& numbers) {
    return constant(fuse::make_tensor<float>({1, static_cast<std::int64_t>(numbers.size())}, numbers));
  }
  value with_axis(value v, std::int64_t at = 1) { return add("Unsqueeze", {v, constant({at})}); }

  struct tables {
    value cosines, sines;
  };
  /// Of one row of frequencies for both halves.
  tables of_elements(graph::dims const& of = {1, "s", 4}, std::int64_t heads = 1) {
    auto const f = in("f", of), both = joined(f, f);
    return {with_axis(add("Cos", {both}), heads), with_axis(add("Sin", {both}), heads)};
  }
  tables of_pairs(graph::dims const& of = {1, "s", 4}, std::int64_t heads = 1) {
    auto const f = in("f", of);
    return {with_axis(add("Cos", {f}), heads), with_axis(add("Sin", {f}), heads)};
  }
  value turned(tables const& by) { return sum(times(x, by.cosines), times(half_turned(x), by.sines)); }
};

fuse::rewrite_report run(rotary& g, graph::value y, fuse::target target = fuse::target::onnxruntime) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto report = fuse::rewrite<fuse::rules::rotary>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  UNSCOPED_INFO(to_text(g));
  CHECK(report.notes.empty());
  return report;
}
/// The name of the operator that stands for the rotary embedding with output `y`.
std::string became(rotary& g, graph::value y, fuse::target target = fuse::target::onnxruntime) {
  CHECK(run(g, y, target).applied() == 1);
  for (auto const n : g.nodes())
    if (std::string_view(g.op(n)).find("Rotary") != std::string_view::npos) return std::string(g.op(n));
  return ops(g);
}
/// What keeps the rules from the graph with output `y`; it stays as it is.
std::string kept(rotary& g, graph::value y, fuse::target target = fuse::target::standard) {
  g.end(y);
  auto const before = to_text(g);
  fuse::rewrite_options options;
  options.target = target;
  auto const report = fuse::rewrite<fuse::rules::rotary>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.applied() == 0);
  CHECK(to_text(g) == before);
  for (auto const& r : report.rules)
    if (!r.refused.empty()) return r.refused[0].condition + ": " + r.refused[0].reason;
  return {};
}
auto constexpr standard = fuse::target::standard;

}  // namespace

TEST_CASE("rotary embeddings become the operator of the target, or a function") {
  SECTION("onnxruntime's, by tables of one batch") {
    rotary g;
    CHECK(became(g, g.turned(g.of_elements())) == "com.microsoft::RotaryEmbedding");
  }
  SECTION("a function below operator set 23") {
    rotary g;
    CHECK(became(g, g.turned(g.of_elements()), standard) == "fuse::RotaryEmbedding_float32");
  }
  SECTION("a function where tables differ by batch") {
    rotary g;
    CHECK(became(g, g.turned(g.of_elements({"b", "s", 4}))) == "fuse::RotaryEmbedding_float32");
  }
  SECTION("the standard's operator") {
    rotary g(23);
    CHECK(became(g, g.turned(g.of_elements({"b", "s", 4})), standard) == "RotaryEmbedding");
    CHECK(ops(g).find("Reshape RotaryEmbedding Reshape") == std::string::npos);
  }
  SECTION("the standard's operator by tables of one batch: heads of all are heads of one") {
    rotary g(23, {"b", 4, 6, 8});
    CHECK(became(g, g.turned(g.of_elements({1, 6, 4})), standard) == "RotaryEmbedding");
    CHECK(ops(g).find("RotaryEmbedding Reshape") != std::string::npos);
  }
  SECTION("they are repeated where a length may be 0, too") {
    rotary g(23);
    CHECK(became(g, g.turned(g.of_elements()), standard) == "RotaryEmbedding");
    CHECK(ops(g).find("Expand RotaryEmbedding") != std::string::npos);
    CHECK(ops(g).find("RotaryEmbedding Reshape") == std::string::npos);
  }
}

TEST_CASE("heads that are made of tokens are turned side by side, and moved behind that") {
  struct tokens : rotary {
    explicit tokens(int version) : rotary(version, {"b", "s", 32}) {
      x = add("Transpose", {add("Reshape", {x, constant({0, 0, 4, 8})})},
              {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    }
    value side_by_side(value v) {
      return add("Reshape",
                 {add("Transpose", {v}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}), constant({0, 0, 32})});
    }
  };
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  bool const vendor = GENERATE(true, false);
  options.target = vendor ? fuse::target::onnxruntime : standard;
  tokens g(vendor ? 18 : 23);
  auto const y = g.turned(g.of_elements({vendor ? graph::dim(1) : graph::dim("b"), "s", 4}));
  std::string const name = vendor ? "com.microsoft::RotaryEmbedding" : "RotaryEmbedding";
  SECTION("nothing moves them where they lie side by side behind it") {
    g.end(g.side_by_side(y));
    static constexpr auto rules = fuse::rule_set<fuse::rules::rotary, fuse::rules::canonical>;
    auto const report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
    CAPTURE(to_text(report), to_text(g));
    CHECK(report.notes.empty());
    CHECK(g.op(last(g)) == name);
    CHECK(number(g, last(g), "num_heads") == 4);
    CHECK(ops(g).find("Transpose") == std::string::npos);
  }
  SECTION("else the same moves them") {
    g.end(y);
    CHECK(fuse::rewrite<fuse::rules::rotary>(static_cast<graph&>(g), options).applied() == 2);
    CHECK(ops(g).find(name + " Reshape Transpose") != std::string::npos);
  }
  SECTION("they stay where others read them as they are") {
    g.output(g.x, "heads");
    g.end(y);
    CHECK(fuse::rewrite<fuse::rules::rotary>(static_cast<graph&>(g), options).applied() == 1);
    CHECK(ops(g).find(name + " Reshape") == std::string::npos);
  }
}

TEST_CASE("heads of a token side by side") {
  for (auto const& [batch, target, name] : {std::tuple<graph::dim, fuse::target, char const*>{
                                                1, fuse::target::onnxruntime, "com.microsoft::RotaryEmbedding"},
                                            {1, standard, "fuse::RotaryEmbedding_float32_joined"},
                                            {"b", standard, "fuse::RotaryEmbedding_float32_joined"}}) {
    rotary g(18, {"b", "s", 4, 8});
    CHECK(became(g, g.turned(g.of_elements({batch, "s", 4}, 2)), target) == name);
  }
  for (graph::dim const& batch : {graph::dim(1), graph::dim("b")}) {
    rotary g(23, {"b", "s", 4, 8});
    CHECK(became(g, g.turned(g.of_elements({batch, "s", 4}, 2)), standard) == "RotaryEmbedding");
  }
}

TEST_CASE("pairs of neighbours, and tables of pairs") {
  SECTION("halves") {
    rotary g;
    auto const by = g.of_pairs();
    auto const a = g.cut(g.x, 0, 4), b = g.cut(g.x, 4, 8);
    auto const first = g.add("Sub", {g.times(a, by.cosines), g.times(b, by.sines)});
    CHECK(became(g, g.joined(first, g.sum(g.times(b, by.cosines), g.times(by.sines, a)))) ==
          "com.microsoft::RotaryEmbedding");
  }
  SECTION("neighbours") {
    for (bool const elements : {false, true}) {
      rotary g;
      auto const a = g.cut(g.x, 0, 8, 2), b = g.cut(g.x, 1, 8, 2);
      auto const stacked = [&](graph::value p, graph::value q) {
        return g.add("Reshape", {g.joined(g.with_axis(p, 4), g.with_axis(q, 4)), g.constant({0, 0, 0, 8})});
      };
      auto by = g.of_pairs();
      graph::value y{};
      if (elements) {
        auto const twice = [&](graph::value v) {
          auto const wide = g.with_axis(v, 4);
          return g.add("Reshape", {g.joined(wide, wide), g.constant({0, 0, 0, 8})});
        };
        y = g.sum(g.times(g.x, twice(by.cosines)), g.times(stacked(g.minus(b), a), twice(by.sines)));
      } else {
        y = stacked(g.add("Sub", {g.times(a, by.cosines), g.times(b, by.sines)}),
                    g.sum(g.times(b, by.cosines), g.times(a, by.sines)));
      }
      CHECK(became(g, y, standard) == "fuse::RotaryEmbedding_float32_interleaved");
    }
  }
}

TEST_CASE("a minus by constants of signs, in the table of sines, at the other half") {
  rotary g;
  auto const by = g.of_elements();
  auto const swapped = g.joined(g.cut(g.x, 4, 8), g.cut(g.x, 0, 4));
  auto const signs = g.row({-1, -1, -1, -1, 1, 1, 1, 1});
  auto const plain = g.times(g.x, by.cosines);
  auto constexpr name = "com.microsoft::RotaryEmbedding";
  SECTION("at the halves") { CHECK(became(g, g.sum(plain, g.times(g.times(swapped, signs), by.sines))) == name); }
  SECTION("at the sines") { CHECK(became(g, g.sum(plain, g.times(swapped, g.times(by.sines, signs)))) == name); }
  SECTION("in the table, the first half") {
    auto const s = g.add("Sin", {g.in("f", {1, "s", 4})});
    CHECK(became(g, g.sum(plain, g.times(swapped, g.with_axis(g.joined(g.minus(s), s))))) == name);
  }
  SECTION("in the table, the second half: the angle is the negative one") {
    auto const s = g.add("Sin", {g.in("f", {1, "s", 4})});
    CHECK(became(g, g.sum(plain, g.times(swapped, g.with_axis(g.joined(s, g.minus(s)))))) == name);
  }
  SECTION("in a table of constants") {
    auto const s = g.row({-1, -2, -3, 0, 1, 2, 3, -0.0f});
    CHECK(became(g, g.sum(plain, g.times(swapped, g.add("Mul", {g.in("column", {1, 1, "s", 1}), s})))) == name);
  }
  SECTION("at the other half") {
    auto const other = g.joined(g.cut(g.x, 4, 8), g.minus(g.cut(g.x, 0, 4)));
    CHECK(became(g, g.add("Sub", {plain, g.times(other, by.sines)})) == name);
  }
}

TEST_CASE("signs that are none") {
  for (auto const& signs : {std::vector<float>{1, 1, 1, 1, -1, -1, -1, -1},
                            {-1, -1, -1, -1, 1, 1, 1, 2},
                            {-1, 1, -1, 1, -1, 1, -1, 1},
                            {-1, -1, -1, 1, 1, 1, 1, 1}}) {
    rotary g;
    auto const by = g.of_elements();
    auto const swapped = g.joined(g.cut(g.x, 4, 8), g.cut(g.x, 0, 4));
    auto const signed_halves = g.times(swapped, g.row(signs));
    CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(signed_halves, by.sines))).find("a constant of signs") == 0);
  }
  rotary of_positions(18, {"b", 4, 8, 8});  // by the position, and not by the element
  auto const f = of_positions.of_elements({1, 8, 4});
  auto const column =
      of_positions.constant(fuse::make_tensor<float>({8, 1}, std::vector<float>{-1, -1, -1, -1, 1, 1, 1, 1}));
  auto const other =
      of_positions.joined(of_positions.cut(of_positions.x, 4, 8), of_positions.cut(of_positions.x, 0, 4));
  CHECK(kept(of_positions, of_positions.sum(of_positions.times(of_positions.x, f.cosines),
                                            of_positions.times(of_positions.times(other, column), f.sines)))
            .find("a constant of signs") == 0);
  rotary g;
  auto const by = g.of_elements();
  auto const swapped = g.joined(g.cut(g.x, 4, 8), g.cut(g.x, 0, 4));
  auto const table = g.row({-1, -2, -3, 0, 1, 2, 3, 0});  // whose first 0 is to be -0
  CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(swapped, table))).find("opposite parts") == 0);
}

TEST_CASE("what only looks like a rotary embedding stays") {
  rotary g;
  SECTION("halves with the signs alone") {
    auto const by = g.of_elements();
    auto const signs = g.joined(g.minus(g.cut(g.x, 0, 4)), g.cut(g.x, 4, 8));
    CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(signs, by.sines))).empty());
  }
  SECTION("without a sign") {
    auto const by = g.of_elements();
    auto const other = g.joined(g.cut(g.x, 4, 8), g.cut(g.x, 0, 4));
    CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(other, by.sines))).find("opposite parts") == 0);
  }
  SECTION("halves of another value") {
    auto const by = g.of_elements();
    auto const other = g.in("other", {"b", 4, "s", 8});
    CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(g.half_turned(other), by.sines))).empty());
  }
  SECTION("a cut elsewhere") {
    auto const by = g.of_elements();
    auto const other = g.joined(g.minus(g.cut(g.x, 3, 8)), g.cut(g.x, 0, 3));
    CHECK(kept(g, g.sum(g.times(g.x, by.cosines), g.times(other, by.sines))).empty());
  }
  SECTION("halves of tables that differ") {
    auto const c = g.with_axis(g.in("cos", {1, "s", 8})), s = g.with_axis(g.in("sin", {1, "s", 8}));
    CHECK(kept(g, g.turned({c, s})).find("equal parts of the last axis") == 0);
  }
  SECTION("tables of each head") {
    CHECK(kept(g, g.turned(g.of_elements({4, "s", 4}, 0))).find("one element along that axis") == 0);
  }
  SECTION("tables of another sequence, which is one element") {
    CHECK(kept(g, g.turned(g.of_elements({1, 1, 4}))).find("right side: cosines and sines") == 0);
  }
  SECTION("cosines and sines of two lengths") {
    auto by = g.of_elements();
    by.sines = rotary::tables(g.of_elements({1, 1, 4})).sines;
    CHECK(kept(g, g.turned(by)).find("right side: cosines and sines") == 0);
  }
}

TEST_CASE("of doubles, and of three axes, there is no operator") {
  SECTION("doubles") {
    rotary g;
    auto const wide = [&](graph::value v) { return g.add("Cast", {v}, {{"to", 11}}); };
    auto const by = g.of_elements();
    auto const x = wide(g.x);
    CHECK(kept(g, g.sum(g.times(x, wide(by.cosines)), g.times(g.half_turned(x), wide(by.sines))))
              .find("right side: the operator takes float, half and bfloat16") == 0);
  }
  SECTION("three axes") {
    rotary g(18, {"b", "s", 8});
    auto const f = g.in("f", {"s", 4}), both = g.joined(f, f);
    CHECK(kept(g, g.turned({g.add("Cos", {both}), g.add("Sin", {both})})).find("the rank") == 0);
  }
}

TEST_CASE("what a rule of one's own gives the operators must fit them") {
  using namespace fuse::dsl;
  static constexpr auto x = var<"x">, c = var<"c">, s = var<"s">;
  static constexpr auto pattern = op<"Max">(tanh(x), c, s);
  static constexpr auto from_0 = fuse::rule<"own">(pattern).replace(rotary_embedding_at(x, list(0), c, s));
  static constexpr auto from_1 = fuse::rule<"own">(pattern).replace(rotary_embedding_at(x, list(1), c, s));
  static constexpr auto by_batch = fuse::rule<"own">(pattern).replace(rotary_embedding(x, c, s));
  fuse::rewrite_options options;
  options.target = fuse::target::onnxruntime;
  auto const why = [&]<auto const & Rule>(graph::dims const& cosines, graph::dims const& sines) {
    sketch g(18);
    g.end(g.add("Max", {g.add("Tanh", {g.in("x", {2, 4, 3, 8})}), g.in("c", cosines), g.in("s", sines)}));
    return refusal<Rule>(g, options);
  };
  CHECK(why.template operator()<from_0>({3, 4}, {3, 4}) ==
        "shape and element type");  // (the operator fits; what Max makes has no shape)
  CHECK(why.template operator()<from_1>({3, 4}, {3, 4}) == "right side");
  CHECK(why.template operator()<from_0>({5, 4}, {5, 4}) == "right side");
  CHECK(why.template operator()<from_0>({3, 8}, {3, 8}) == "right side");
  CHECK(why.template operator()<from_0>({3, 4}, {1, 4}) == "right side");
  CHECK(why.template operator()<by_batch>({3, 3, 4}, {3, 3, 4}) == "right side");
}

TEST_CASE("before operator set 12 there is not even a function") {
  rotary g(11);
  auto const f = g.in("f", {1, 1, "s", 4}), both = g.joined(f, f);
  CHECK(
      kept(g, g.turned({g.add("Cos", {both}), g.add("Sin", {both})})).find("right side: the dialect has no operator") ==
      0);
}

}  // namespace rules_rotary
