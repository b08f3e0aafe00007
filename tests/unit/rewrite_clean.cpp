// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fuse/rewrite/clean.hpp>
#include <fuse/verify/equivalent.hpp>

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
