// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/embeddings.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/skip_norms.hpp>

namespace rules_embeddings {

using namespace rewriting;

namespace {

inline constexpr auto rules = fuse::rule_set<fuse::rules::norms, fuse::rules::embeddings, fuse::rules::skip_norms>;
constexpr auto fused = "com.microsoft::EmbedLayerNormalization";

/// Embeddings before a norm, whose every part can be changed: one test for each condition changes one.
struct embeddings : sketch {
  dims of_ids{"batch", "sequence"}, of_segments{"batch", "sequence"}, of_scale{8};
  std::int64_t words = 20, places = 16, kinds = 2;
  element_type type = element_type::float32, of_rows = element_type::int64;
  std::int64_t axis = -1;
  double epsilon = 1e-12;
  bool biased = true;
  value ids = in("ids", of_ids, of_rows);

  value list(std::vector<std::int64_t> const& of) {
    return constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(of.size())}, of));
  }
  value rows(value table, value of) { return add("Gather", {table, of}, {{"axis", std::int64_t{0}}}); }
  value of_words() { return rows(in("words", {words, 8}, type), ids); }
  value length() { return add("Shape", {ids}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}}); }
  value positions(std::int64_t first = 0) {
    std::vector<std::int64_t> all(16);
    std::iota(all.begin(), all.end(), first);
    return add("Slice", {constant(fuse::make_tensor<std::int64_t>({1, 16}, all)), list({0}), length(), list({1})});
  }
  value of_positions(value at) { return rows(in("places", {places, 8}, type), at); }
  value of_segments_of(value which) { return rows(in("kinds", {kinds, 8}, type), which); }
  value segments() { return of_segments_of(in("segments", of_segments, of_rows)); }
  value sum(value a, value b) { return add("Add", {a, b}); }
  /// A table of 8 bits, and what it stands for.
  value quantised(std::string_view name, dims const& of, double by, bool with_zero = true, dims const& one = {}) {
    auto const q = in(name, of, bytes);
    std::vector<value> operands{q, one.empty() ? scalar(static_cast<float>(by)) : constant({static_cast<float>(by)})};
    if (with_zero) operands.push_back(constant(fuse::make_tensor(bytes, {}, std::vector<double>{3})));
    return add("DequantizeLinear", operands);
  }
  element_type bytes = element_type::uint8;
  value norm(value of) {
    std::vector<value> operands{of, in("scale", of_scale, type)};
    if (biased) operands.push_back(in("bias", of_scale, type));
    return add("LayerNormalization", operands, {{"axis", axis}, {"epsilon", epsilon}});
  }
};

fuse::rewrite_report run(embeddings& g, graph::value y, fuse::target target = fuse::target::onnxruntime) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  UNSCOPED_INFO(to_text(g));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  return report;
}
/// The operands of the operator that the graph with output `y` ends in, "Cast - words places - scale bias": an
/// operator, a name or nothing.
std::string became(embeddings& g, graph::value y) {
  run(g, y);
  auto const n = last(g);
  CHECK(g.op(n) == fused);
  std::string all;
  for (auto const v : g.operands(n)) {
    auto const producer = v == graph::value{} ? graph::node{} : g.producer(v);
    all += all.empty() ? "" : " ";
    all += v == graph::value{} ? "-" : producer == graph::node{} ? std::string(g.name(v)) : std::string(g.op(producer));
  }
  return all;
}
/// What keeps the rules from the graph with output `y`.
std::string kept(embeddings& g, graph::value y, std::string_view rule = "embed-layer-norm") {
  auto const report = run(g, y);
  CHECK(report.rule(rule)->applied == 0);
  CHECK(ops(g).find("Embed") == std::string::npos);
  return refused(report, rule);
}

}  // namespace

TEST_CASE("rows of words, positions and segments before a norm are one operator") {
  SECTION("positions in order, in any bracketing") {
    for (int bracketing = 0; bracketing < 3; ++bracketing) {
      embeddings g;
      auto const w = g.of_words(), p = g.of_positions(g.positions()), s = g.segments();
      auto const y = bracketing == 0   ? g.sum(g.sum(w, s), p)
                     : bracketing == 1 ? g.sum(g.sum(p, w), s)
                                       : g.sum(s, g.sum(p, w));
      CHECK(became(g, g.norm(y)) == "Cast Cast words places kinds scale bias");
      CHECK(number(g, last(g), "epsilon") == Approx(1e-12));
    }
  }
  SECTION("no segments, no bias, ids of 32 bits") {
    embeddings g;
    g.of_rows = element_type::int32;
    g.ids = g.in("short ids", {"batch", "sequence"}, element_type::int32);
    g.biased = false;
    CHECK(became(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions())))) == "short ids - words places - scale ");
    auto const bias = g.constant(g.operands(last(g))[6]);
    REQUIRE(bias.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) CHECK(bias.number(i) == 0);
  }
  SECTION("positions that are given, of each batch or of one") {
    for (graph::dims const& of :
         {graph::dims{"batch", "sequence"}, graph::dims{1, "sequence"}, graph::dims{"sequence"}}) {
      embeddings g;
      auto const y = g.sum(g.of_words(), g.of_positions(g.in("positions", of, element_type::int64)));
      auto const made = became(g, g.norm(y));
      INFO(made);
      CHECK(made.ends_with("scale bias - Cast"));
    }
  }
  SECTION("half precision, whose scale is one element") {
    embeddings g;
    g.type = element_type::float16;
    g.of_scale = {1};
    g.biased = false;
    CHECK(became(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions())))).starts_with("Cast - words places - "));
  }
  SECTION("from primitives") {
    embeddings g;
    auto const mean = [&](graph::value v) {
      return g.add("ReduceMean", {v}, {{"axes", std::vector<std::int64_t>{-1}}});
    };
    auto const x = g.sum(g.of_words(), g.of_positions(g.positions()));
    auto const d = g.add("Sub", {x, mean(x)});
    auto const root = g.add("Sqrt", {g.sum(mean(g.add("Mul", {d, d})), g.scalar(1e-5f))});
    CHECK(became(g, g.add("Div", {d, root})).starts_with("Cast - words places - "));
  }
}

TEST_CASE("rows of places that were taken already") {
  auto const rows = [](embeddings& g, std::vector<std::int64_t> const& shape) {
    std::vector<float> numbers(static_cast<std::size_t>(shape[0] * shape[1] * (shape.size() == 3 ? shape[2] : 1)));
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    return g.constant(fuse::make_tensor<float>(shape, numbers));
  };
  auto const cut = [](embeddings& g, graph::value table, std::int64_t from, std::int64_t axis, std::int64_t by = 1) {
    return g.add("Slice", {table, g.list({from}), g.length(), g.list({axis}), g.list({by})});
  };
  constexpr auto made = "Cast - words  - scale bias";
  constexpr auto with_segments = "Cast Cast words  kinds scale bias";
  SECTION("a constant of as many as ids") {
    for (auto const& shape : {std::vector<std::int64_t>{1, 5, 8}, {5, 8}}) {
      embeddings g;
      g.ids = g.in("some", {"batch", 5}, element_type::int64);
      CHECK(became(g, g.norm(g.sum(g.of_words(), rows(g, shape)))) == made);
      CHECK(g.constant(g.operands(last(g))[3]).number(8) == 9);
    }
  }
  SECTION("the beginning of a constant, with segments") {
    for (auto const& shape : {std::vector<std::int64_t>{1, 16, 8}, {16, 8}}) {
      embeddings g;
      auto const some = cut(g, rows(g, shape), 0, shape.size() == 3 ? 1 : 0);
      CHECK(became(g, g.norm(g.sum(g.sum(some, g.segments()), g.of_words()))) == with_segments);
    }
  }
  SECTION("others use the sum") {
    embeddings g;
    auto const x = g.sum(g.of_words(), cut(g, rows(g, {1, 16, 8}), 0, 1));
    g.output(g.add("Tanh", {x}), "other");
    CHECK(run(g, g.norm(x)).rule("embed-layer-norm-with-sum")->applied == 1);
  }
  SECTION("not one for each position") {
    for (auto const& shape : {std::vector<std::int64_t>{1, 1, 8}, {1, 5, 1}, {5, 1}}) {
      embeddings g;
      g.ids = g.in("some", {"batch", 5}, element_type::int64);
      CHECK(kept(g, g.norm(g.sum(g.of_words(), rows(g, shape)))).find("one for each position") != std::string::npos);
    }
  }
  SECTION("cut from the second on, every second, or along another axis") {
    embeddings g;
    auto const [from, axis, by] = GENERATE(table<int, int, int>({{1, 1, 1}, {0, 1, 2}, {0, 2, 1}}));
    auto const some = cut(g, rows(g, {1, 16, 8}), from, axis, by);
    kept(g, g.norm(g.sum(g.of_words(), some)));
  }
  SECTION("given by the caller") {
    embeddings g;
    kept(g, g.norm(g.sum(g.of_words(), cut(g, g.in("rows", {1, 16, 8}), 0, 1))));
  }
  SECTION("words that are quantised") {
    embeddings g;
    auto const w = g.rows(g.quantised("words", {20, 8}, 0.5), g.ids);
    CHECK(kept(g, g.norm(g.sum(w, cut(g, rows(g, {1, 16, 8}), 0, 1)))).find("quantised") != std::string::npos);
  }
}

TEST_CASE("a sum that others use is a result") {
  embeddings g;
  auto const x = g.sum(g.of_words(), g.of_positions(g.positions()));
  g.output(g.add("Tanh", {x}), "other");
  auto const report = run(g, g.norm(x));
  CHECK(report.rule("embed-layer-norm-with-sum")->applied == 1);
  CHECK(ops(g).find("Gather") == std::string::npos);
}

TEST_CASE("the standard has no such operator") {
  embeddings g;
  auto const report = run(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions()))), fuse::target::standard);
  CHECK(report.applied() == 0);
}

TEST_CASE("what the operator does not compute stays") {
  SECTION("a norm over other axes") {
    embeddings g;
    g.axis = 1;
    g.of_scale = {"sequence", 8};
    CHECK(kept(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions())))).find("over the last axis") !=
          std::string::npos);
  }
  SECTION("ids without a batch") {
    embeddings g;
    g.ids = g.in("few", {"sequence"}, element_type::int64);
    auto const at = g.in("positions", {"sequence"}, element_type::int64);
    kept(g, g.norm(g.sum(g.of_words(), g.of_positions(at))));
  }
  SECTION("segments of another shape") {
    embeddings g;
    g.of_segments = {1, "sequence"};
    kept(g, g.norm(g.sum(g.sum(g.of_words(), g.segments()),
                         g.of_positions(g.in("positions", {1, "other"}, element_type::int64)))));
  }
  SECTION("positions of another length") {
    embeddings g;
    kept(g, g.norm(g.sum(g.of_words(), g.of_positions(g.in("positions", {1, "other"}, element_type::int64)))));
  }
  SECTION("rows that count from the end") {
    embeddings g;
    auto const y = g.norm(g.sum(g.of_words(), g.of_positions(g.constant(fuse::make_tensor<std::int64_t>(
                                                  {1, 1}, std::vector<std::int64_t>{-1})))));
    CHECK(kept(g, y, "embed-layer-norm-at").find("count from the front") != std::string::npos);
  }
  SECTION("rows that are computed of constants, and count from the end") {
    embeddings g;
    auto const one = g.constant(fuse::make_tensor<std::int64_t>({1, 1}, std::vector<std::int64_t>{1}));
    auto const y = g.norm(g.sum(g.of_words(), g.of_positions(g.add("Neg", {one}))));
    CHECK(kept(g, y, "embed-layer-norm-at").find("count from the front") != std::string::npos);
  }
  SECTION("a scale that is no row") {
    embeddings g;
    g.of_scale = {"sequence", 8};
    kept(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions()))));
  }
  SECTION("an epsilon that float32 does not hold") {
    embeddings g;
    g.epsilon = 1e-60;
    kept(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions()))));
  }
  SECTION("tables of doubles") {
    embeddings g;
    g.type = element_type::float64;
    kept(g, g.norm(g.sum(g.of_words(), g.of_positions(g.positions()))));
  }
  SECTION("a word that is scaled") {
    embeddings g;
    kept(g, g.norm(g.sum(g.add("Mul", {g.of_words(), g.scalar(2)}), g.of_positions(g.positions()))));
  }
  SECTION("columns instead of rows") {
    embeddings g;
    auto const columns = g.add("Gather", {g.in("words", {8, 8}), g.ids}, {{"axis", std::int64_t{1}}});
    kept(g, g.add("LayerNormalization", {g.sum(columns, g.of_positions(g.positions())), g.in("scale", {8})}));
  }
}

TEST_CASE("tables, scale and bias of 8 bits") {
  constexpr auto of_bytes = "com.microsoft::QEmbedLayerNormalization";
  auto const norm = [](embeddings& g, graph::value x, bool with_zero = true) {
    return g.add("LayerNormalization", {x, g.quantised("gamma", {8}, 0.25, with_zero), g.quantised("beta", {8}, 0.125)},
                 {{"epsilon", 1e-12}});
  };
  for (bool const is_signed : {false, true}) {
    embeddings g;
    if (is_signed) g.bytes = element_type::int8;
    auto const w = g.rows(g.quantised("words", {20, 8}, 0.5), g.ids);
    auto const p = g.rows(g.quantised("places", {16, 8}, 0.25, is_signed), g.positions());
    auto const s = g.rows(g.quantised("kinds", {2, 8}, 0.125, !is_signed),
                          g.in("segments", {"batch", "sequence"}, element_type::int64));
    auto const report = run(g, norm(g, g.sum(s, g.sum(w, p)), is_signed));
    CHECK(report.rule("qembed-layer-norm")->applied == 1);
    CHECK(g.op(last(g)) == of_bytes);
    auto const operands = g.operands(last(g));
    REQUIRE(operands.size() == 18);
    for (std::size_t i = 13; i < 18; ++i) CHECK(g.constant(operands[i]).type == g.bytes);
    CHECK(g.constant(operands[14]).number(0) == (is_signed ? 3 : 0));
    CHECK(g.constant(operands[15]).number(0) == (is_signed ? 0 : 3));
  }
  SECTION("rows that are taken before they are dequantised, without segments") {
    embeddings g;
    auto const q = g.rows(g.in("words", {20, 8}, g.bytes), g.ids);
    auto const w = g.add("DequantizeLinear",
                         {q, g.scalar(0.5f), g.constant(fuse::make_tensor(g.bytes, {}, std::vector<double>{7}))});
    auto const p = g.rows(g.quantised("places", {16, 8}, 0.25), g.positions());
    auto const report = run(g, norm(g, g.sum(w, p)));
    CHECK(report.rule("qembed-layer-norm")->applied == 1);
    CHECK(g.operands(last(g))[15] == graph::value{});
  }
  SECTION("two types, and a scale for each row, stay") {
    embeddings g;
    auto const w = g.rows(g.quantised("words", {20, 8}, 0.5), g.ids);
    g.bytes = element_type::int8;
    auto const p = g.rows(g.quantised("places", {16, 8}, 0.25), g.positions());
    CHECK(run(g, norm(g, g.sum(w, p))).rule("qembed-layer-norm")->applied == 0);
    embeddings of_rows;
    auto const by_row =
        of_rows.add("DequantizeLinear", {of_rows.in("words", {20, 8}, of_rows.bytes), of_rows.in("scales", {20})},
                    {{"axis", std::int64_t{0}}});
    auto const places = of_rows.rows(of_rows.quantised("places", {16, 8}, 0.25), of_rows.positions());
    CHECK(run(of_rows, norm(of_rows, of_rows.sum(of_rows.rows(by_row, of_rows.ids), places)))
              .rule("qembed-layer-norm")
              ->applied == 0);
  }
}

TEST_CASE("positions that begin elsewhere are given to the operator") {
  embeddings g;
  auto const length = g.add("Squeeze", {g.length()});
  auto const one = [&](std::int64_t of) {
    return g.constant(fuse::make_tensor<std::int64_t>({}, std::vector<std::int64_t>{of}));
  };
  auto const later = g.add("Add", {g.add("Range", {one(0), length, one(1)}), one(2)});
  CHECK(became(g, g.norm(g.sum(g.of_words(), g.of_positions(later)))) == "Cast - words places - scale bias - Cast");
}

}  // namespace rules_embeddings
