// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fuse/rewrite/clean.hpp>
#include <fuse/verify/equivalent.hpp>

#include "../sampled.hpp"

namespace rewrite_clean {

using namespace rewriting;
using value = graph::value;

namespace {

value numbers(graph& g, std::vector<std::int64_t> const& shape, std::vector<double> const& all,
              element_type type = element_type::float32) {
  return g.constant(fuse::make_tensor(type, shape, all));
}

/// What is left of a graph with output `y`: the operators. It computes the same, and a second run does nothing.
std::string left(sketch& g, value y, fuse::clean_options const& options = {}) {
  g.end(y);
  graph const before = g;
  auto const report = fuse::clean(g, options);
  CHECK(report.error.empty());
  CHECK(report.changed() == (to_text(before) != to_text(g)));
  CHECK_FALSE(fuse::clean(g, options).changed());
  auto const same = fuse::equivalent(before, static_cast<graph&>(g));
  INFO(same);
  CHECK(same.wrong.empty());
  return ops(g);
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = 0.25 * static_cast<double>(i % 7) + 0.5;
  return all;
}

value rows(graph& g, value of, std::int64_t from, std::int64_t to) {
  auto const list = [&](std::int64_t number) {
    return numbers(g, {1}, {static_cast<double>(number)}, element_type::int64);
  };
  return g.add("Slice", {of, list(from), list(to), list(0)});
}

/// Some constants of up to 60 rows of 8 numbers, what is computed of them, and inputs that some of it is added to.
class drawn_constants {
 public:
  sketch graph;
  value sum{};  ///< of all that is read: the last value and one in three

  explicit drawn_constants(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) all_.push_back(constant(i == 0 ? 1 : 1 + below(30)));
    for (auto left = 3 + below(12); left > 0; --left) all_.push_back(computed());
    for (auto const& [v, count] : all_) {
      if (v != all_.back().v && below(3) != 0) continue;
      auto const read = graph.add("ReduceMean", {graph.add("Add", {graph.in("x", {count, 8}), v})});
      sum = sum ? graph.add("Add", {sum, read}) : read;
    }
  }
  [[nodiscard]] std::size_t node_count() const {
    std::size_t count = 0;
    for ([[maybe_unused]] auto const n : graph.nodes()) ++count;
    return count;
  }
  struct constants_read {
    std::size_t count = 0, bytes = 0;
  };
  [[nodiscard]] constants_read constants() const {
    std::map<std::uint32_t, std::size_t> bytes;
    for (auto const n : graph.nodes())
      for (auto const v : graph.operands(n))
        if (auto const contents = graph.constant(v)) bytes[v.id] = contents.bytes.size();
    constants_read all{bytes.size()};
    for (auto const& [v, each] : bytes) all.bytes += each;
    return all;
  }

 private:
  struct rows_of {
    value v;
    std::int64_t count;
  };
  std::int64_t below(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(most));
  }
  rows_of constant(std::int64_t count) {
    return {numbers(graph, {count, 8}, counted(static_cast<std::size_t>(8 * count))), count};
  }
  rows_of any() { return all_[static_cast<std::size_t>(below(static_cast<std::int64_t>(all_.size())))]; }
  rows_of computed() {
    auto const a = any(), b = any();
    switch (below(6)) {
      case 0: return {graph.add("Abs", {a.v}), a.count};
      case 1: return {graph.add("ReduceMean", {a.v}, {{"axes", std::vector<std::int64_t>{0}}}), 1};
      case 2: {
        auto const from = below(a.count);
        return {rows(graph, a.v, from, a.count), a.count - from};
      }
      case 3:
        if (a.count + b.count <= 60)
          return {graph.add("Concat", {a.v, b.v}, {{"axis", std::int64_t{0}}}), a.count + b.count};
        [[fallthrough]];
      default:
        if (a.count == b.count || a.count == 1) return {graph.add("Sub", {b.v, a.v}), b.count};
        return {graph.add("Add", {a.v, all_.front().v}), a.count};
    }
  }

  std::minstd_rand random_;
  std::vector<rows_of> all_;
};

}  // namespace

TEST_CASE("what is computed of constants is one") {
  sketch g;
  auto const x = g.in("x");
  auto const c = numbers(g, {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  SECTION("a chain") {
    auto const root = g.add("Sqrt", {g.add("Mul", {c, numbers(g, {}, {4})})});
    CHECK(left(g, g.add("Add", {x, root})) == "Add");
  }
  SECTION("integers") {
    auto const i = numbers(g, {2}, {4, 8}, element_type::int64);
    CHECK(left(g, g.add("Reshape", {x, g.add("Concat", {i, i}, {{"axis", std::int64_t{0}}})})) == "Reshape");
  }
  SECTION("an output stays computed") {
    g.output(g.add("Sqrt", {c}), "root");
    CHECK(left(g, g.add("Abs", {x})) == "Sqrt Abs");
  }
  SECTION("what a caller gives is no constant") {
    CHECK(left(g, g.add("Add", {x, g.add("Sqrt", {g.in("c", {8})})})) == "Sqrt Add");
  }
  SECTION("a Dropout that trains is drawn each time") {
    auto const trains = numbers(g, {}, {1}, element_type::boolean);
    auto const y = g.add("Dropout", {c, numbers(g, {}, {0.5}), trains});
    CHECK(left(g, g.add("Add", {x, y})) == "Dropout Add");
  }
  SECTION("what was quantised stays so") {
    auto const q = numbers(g, {8}, {1, 2, 3, 4, 5, 6, 7, 8}, element_type::int8);
    auto const y = g.add("DequantizeLinear", {q, numbers(g, {}, {0.5})});
    CHECK(left(g, g.add("Add", {x, y})) == "DequantizeLinear Add");
  }
  SECTION("not where that is switched off") {
    CHECK(left(g, g.add("Add", {x, g.add("Sqrt", {c})}), {.fold_constants = false}) == "Sqrt Add");
  }
}

TEST_CASE("constants do not grow beyond what is allowed") {
  for (bool const allowed : {false, true}) {
    sketch g;
    auto const many = g.add("Expand", {numbers(g, {}, {2}), numbers(g, {2}, {40, 8}, element_type::int64)});
    auto const y = g.add("Add", {g.in("x", {40, 8}), many});
    CHECK(left(g, y, {.most_growth = allowed ? 1280u : 1000u}) == (allowed ? "Add" : "Expand Add"));
  }
  sketch g;  // its operand goes with it
  auto const large = numbers(g, {40, 40}, std::vector<double>(1600, 2));
  CHECK(left(g, g.add("Add", {g.in("x", {40, 40}), g.add("Sqrt", {large})}), {.most_growth = 0}) == "Add");
}

TEST_CASE("constants whose intermediate results are shared are folded as a whole") {
  sketch g;
  auto const w = numbers(g, {40, 16}, counted(640));
  auto const mean = [&](value of) { return g.add("ReduceMean", {of}, {{"axes", std::vector<std::int64_t>{1}}}); };
  auto const x = g.in("x", {40, 16});
  auto const centred = g.add("Sub", {w, mean(w)});
  auto const scaled = g.add("Div", {centred, g.add("Sqrt", {mean(g.add("Mul", {centred, centred}))})});
  SECTION("weights that are standardised") { CHECK(left(g, g.add("Add", {x, scaled}), {.most_growth = 64}) == "Add"); }
  SECTION("of what others read, too") {
    CHECK(left(g, g.add("Mul", {g.add("Add", {x, scaled}), g.add("Add", {x, centred})}), {.most_growth = 256}) ==
          "Mul ReduceMean Sqrt Div Add Add Mul");
  }
  SECTION("parts of one constant") {
    value sum = x;
    for (std::int64_t i = 0; i < 4; ++i) sum = g.add("Add", {sum, rows(g, w, 10 * i, 10 * i + 10)});
    CHECK(left(g, sum, {.most_growth = 0}) == "Add Add Add Add");
  }
  SECTION("parts that overlap would be more than the whole") {
    auto const sum = g.add("Add", {g.in("y'", {30, 16}), rows(g, w, 0, 30)});
    CHECK(left(g, g.add("Add", {sum, rows(g, w, 10, 40)}), {.most_growth = 64}) == "Slice Add Slice Add");
  }
}

TEST_CASE("drawn computations of constants become constants that are hardly larger") {
  std::size_t before = 0, after = 0;
  for (std::uint32_t seed = 0; seed < 400 / one_case_in; ++seed) {
    CAPTURE(seed);
    drawn_constants made(seed);
    std::size_t const growth = seed % 3 * 256, nodes = made.node_count(), bytes = made.constants().bytes;
    (void)left(made.graph, made.sum, {.most_growth = growth});
    auto const left = made.constants();
    CHECK(left.bytes <= bytes + growth * left.count);
    before += nodes;
    after += made.node_count();
  }
  CHECK(4 * after < 3 * before);
}

TEST_CASE("shapes that are known are constants") {
  sketch g;
  auto const x = g.in("x", {2, 4, 8});
  SECTION("all of them") { CHECK(left(g, g.add("Reshape", {g.in("z", {8, 4, 2}), g.add("Shape", {x})})) == "Reshape"); }
  SECTION("not those that a caller decides") {
    CHECK(left(g, g.add("Reshape", {g.in("z", {"n", 8}), g.add("Shape", {g.in("w", {"n", 8})})})) == "Shape Reshape");
  }
}

TEST_CASE("of nodes that compute the same, one stays") {
  sketch g;
  auto const x = g.in("x"), y = g.in("y'");
  auto const mean = [&](value of, std::int64_t axis) {
    return g.add("ReduceMean", {of}, {{"axes", std::vector<std::int64_t>{axis}}});
  };
  SECTION("and what follows from them") {
    CHECK(left(g, g.add("Mul", {g.add("Exp", {g.add("Add", {x, y})}), g.add("Exp", {g.add("Add", {y, x})})})) ==
          "Add Exp Mul");
  }
  SECTION("with equal constants") {
    auto const two = [&] { return numbers(g, {}, {2}); };
    CHECK(left(g, g.add("Sub", {g.add("Mul", {x, two()}), g.add("Mul", {two(), x})})) == "Mul Sub");
  }
  SECTION("extents that are the same, whatever they are of") {
    auto const batch = [&](value of) {
      return g.add("Gather", {g.add("Shape", {of}), numbers(g, {}, {0}, element_type::int64)});
    };
    auto const p = g.in("p", {"n", 8}), q = g.in("q", {"n", 3, 2}), r = g.in("r", {"m", 3});
    auto const of_two = g.add("Add", {batch(p), batch(q)});
    CHECK(left(g, g.add("Mul", {of_two, batch(r)})) == "Shape Gather Add Shape Gather Mul");
  }
  SECTION("not where operands differ in order") {
    CHECK(left(g, g.add("Mul", {g.add("Sub", {x, y}), g.add("Sub", {y, x})})) == "Sub Sub Mul");
  }
  SECTION("nor parameters") { CHECK(left(g, g.add("Sub", {mean(x, -1), mean(x, 0)})) == "ReduceMean ReduceMean Sub"); }
  SECTION("nor types") {
    auto const to = [&](element_type type) { return g.add("Cast", {x}, {{"to", static_cast<std::int64_t>(type)}}); };
    CHECK(left(g, g.add("Mul", {g.add("Cast", {to(element_type::float16)}, {{"to", std::int64_t{1}}}),
                                g.add("Cast", {to(element_type::bfloat16)}, {{"to", std::int64_t{1}}})})) ==
          "Cast Cast Cast Cast Mul");
  }
  SECTION("two outputs have names of their own") {
    g.output(g.add("Exp", {x}), "first");
    CHECK(left(g, g.add("Exp", {x})) == "Exp Exp");
  }
  SECTION("an output takes the other's users") {
    g.output(g.add("Abs", {g.add("Exp", {x})}), "first");
    CHECK(left(g, g.add("Exp", {x})) == "Exp Abs");
  }
  SECTION("what is drawn at random is drawn twice") {
    auto const drawn = [&] { return g.add("RandomUniformLike", {x}); };
    g.end(g.add("Sub", {drawn(), drawn()}));
    CHECK_FALSE(fuse::clean(g).changed());
  }
  SECTION("not where that is switched off") {
    CHECK(left(g, g.add("Mul", {g.add("Exp", {x}), g.add("Exp", {x})}), {.share_equal = false}) == "Exp Exp Mul");
  }
}

TEST_CASE("what nobody uses goes, with what only that reads") {
  sketch g;
  auto const x = g.in("x");
  (void)g.add("Exp", {g.add("Sin", {x})});
  SECTION("known operators") { CHECK(left(g, g.add("Abs", {x})) == "Abs"); }
  SECTION("others may do more than compute") {
    (void)g.add("acme::Print", {x});
    CHECK(left(g, g.add("Abs", {x})) == "acme::Print Abs");
  }
  SECTION("not where that is switched off") {
    CHECK(left(g, g.add("Abs", {x}), {.drop_unused = false}) == "Sin Exp Abs");
  }
}

}  // namespace rewrite_clean
