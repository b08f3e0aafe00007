// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/clipping.hpp>

namespace rules_clipping {

using namespace rewriting;
using value = graph::value;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Bounds one after the other.
struct bounding : sketch {
  explicit bounding(int version = 17, element_type of = element_type::float32) : sketch(version), type(of) {}

  element_type type;

  value number(double of, std::vector<std::int64_t> const& shape = {}) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    return constant(fuse::make_tensor(type, shape, std::vector<double>(count, of)));
  }
  value x() { return in("x", {4, 8}, type); }
  value raised(value of, double least) { return add("Max", {of, number(least)}); }
  value lowered(value of, double most) { return add("Min", {of, number(most)}); }
  value clipped(value of, double least, double most) {
    bool const below = least == least, above = most == most;
    if (version() >= 11) return add("Clip", {of, below ? number(least) : value{}, above ? number(most) : value{}});
    std::vector<named> bounds;
    if (below) bounds.emplace_back("min", least);
    if (above) bounds.emplace_back("max", most);
    return add("Clip", {of}, bounds);
  }
};

/// What is left of the graph with output `y`, each rewrite checked: the operators, and the bounds of the last one.
std::string left(bounding& g, value y, std::string* why = nullptr) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::clipping>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) {
      CHECK(r.condition != "check");
      if (why != nullptr) *why = r.condition;
    }
  auto all = ops(g);
  auto const n = last(g);
  if (g.op(n) != "Clip") return all;
  for (auto const* bound : {"min", "max"}) {
    double number = 0;
    std::size_t const at = bound == std::string("min") ? 1 : 2;
    if (g.version() < 11)
      number = rewriting::number(g, n, bound);
    else if (at < g.operands(n).size() && g.operands(n)[at])
      number = g.constant(g.operands(n)[at]).number(0);
    else
      continue;
    auto text = std::to_string(number);
    text.erase(text.find_last_not_of('0') + 1);
    all += " " + text;
  }
  return all;
}

}  // namespace

TEST_CASE("a maximum and a minimum of one value are a Clip") {
  int const version = GENERATE(8, 10, 11, 12, 17, 21);
  bounding g(version);
  auto const x = g.x();
  SECTION("a minimum of a maximum") { CHECK(left(g, g.lowered(g.raised(x, -1), 2.5)) == "Clip -1. 2.5"); }
  SECTION("a maximum of a minimum") { CHECK(left(g, g.raised(g.lowered(x, 2.5), -1)) == "Clip -1. 2.5"); }
  SECTION("numbers before the value") {
    CHECK(left(g, g.add("Min", {g.number(6), g.add("Max", {g.number(1), x})})) == "Clip 1. 6.");
  }
  SECTION("a Relu") { CHECK(left(g, g.lowered(g.add("Relu", {x}), 6)) == "Clip 0. 6."); }
  SECTION("a Relu behind") { CHECK(left(g, g.add("Relu", {g.lowered(x, 6)})) == "Clip 0. 6."); }
  SECTION("numbers of one element") {
    CHECK(left(g, g.add("Min", {g.add("Max", {x, g.number(1, {1, 1})}), g.number(6, {1})})) == "Clip 1. 6.");
  }
}

TEST_CASE("bounds that exclude each other leave the outer one") {
  bounding g;
  SECTION("a minimum of a maximum") { CHECK(left(g, g.lowered(g.raised(g.x(), 3), 2)) == "Clip 2. 2."); }
  SECTION("a maximum of a minimum") { CHECK(left(g, g.raised(g.lowered(g.x(), 2), 3)) == "Clip 3. 3."); }
  SECTION("a Relu of what is below 0") { CHECK(left(g, g.add("Relu", {g.lowered(g.x(), -2)})) == "Clip 0. 0."); }
  SECTION("what is below 0 of a Relu") { CHECK(left(g, g.lowered(g.add("Relu", {g.x()}), -2)) == "Clip -2. -2."); }
  SECTION("of Clips") { CHECK(left(g, g.clipped(g.clipped(g.x(), 0, 1), 2, 3)) == "Clip 2. 2."); }
  SECTION("of one Clip, whose upper bound wins") {
    CHECK(left(g, g.clipped(g.clipped(g.x(), 3, 1), 0, 2)) == "Clip 1. 1.");
  }
  SECTION("of one Clip behind") { CHECK(left(g, g.clipped(g.clipped(g.x(), 0, 5), 3, 1)) == "Clip 1. 1."); }
}

TEST_CASE("bounds of a Clip and others are one Clip") {
  int const version = GENERATE(9, 13, 18);
  bounding g(version);
  auto const x = g.x();
  SECTION("two Clips") { CHECK(left(g, g.clipped(g.clipped(x, -1, 4), 0, 6)) == "Clip 0. 4."); }
  SECTION("each of one bound") { CHECK(left(g, g.clipped(g.clipped(x, 0, nothing), nothing, 6)) == "Clip 0. 6."); }
  SECTION("a Relu of a Clip") { CHECK(left(g, g.add("Relu", {g.clipped(x, -1, 4)})) == "Clip 0. 4."); }
  SECTION("a Clip of a Relu") { CHECK(left(g, g.clipped(g.add("Relu", {x}), -1, 4)) == "Clip 0. 4."); }
  SECTION("a Clip of an upper bound, of a Relu") {
    CHECK(left(g, g.clipped(g.add("Relu", {x}), nothing, 4)) == "Clip 0. 4.");
  }
  SECTION("a maximum of a Clip") { CHECK(left(g, g.raised(g.clipped(x, 0, 4), 1)) == "Clip 1. 4."); }
  SECTION("a minimum of a Clip") { CHECK(left(g, g.lowered(g.clipped(x, 0, 4), 3)) == "Clip 0. 3."); }
  SECTION("a Clip of a maximum") { CHECK(left(g, g.clipped(g.raised(x, 1), 0, 4)) == "Clip 1. 4."); }
  SECTION("a Clip of a minimum") { CHECK(left(g, g.clipped(g.lowered(x, 3), 0, 4)) == "Clip 0. 3."); }
  SECTION("many") {
    auto const y = g.lowered(g.add("Relu", {g.clipped(g.raised(x, -3), -2, 9)}), 7);
    CHECK(left(g, g.clipped(y, -1, 8)) == "Clip 0. 7.");
  }
}

TEST_CASE("bounds of other element types") {
  SECTION("integers") {
    for (auto const type : {element_type::int8, element_type::uint8, element_type::int32, element_type::int64}) {
      bounding g(13, type);
      CHECK(left(g, g.lowered(g.raised(g.x(), 1), 6)) == "Clip 1. 6.");
    }
  }
  SECTION("integers that a double does not tell apart") {
    bounding g(13, element_type::int64);
    auto const most = g.constant(fuse::make_tensor(
        std::vector<std::int64_t>{}, fuse::span<std::int64_t const>(std::vector<std::int64_t>{9007199254740993})));
    CHECK(left(g, g.add("Min", {g.raised(g.x(), 1), most})) == "Max Min");
  }
  SECTION("integers where Clip takes none") {
    bounding g(11, element_type::int32);
    CHECK(left(g, g.lowered(g.raised(g.x(), 1), 6)) == "Max Min");
  }
  SECTION("halves") {
    bounding g(17, element_type::float16);
    CHECK(left(g, g.lowered(g.raised(g.x(), 0.5), 6)) == "Clip 0.5 6.");
  }
  SECTION("doubles, of which onnxruntime has no Clip at first") {
    for (int const version : {8, 10, 11, 12, 17}) {
      bounding g(version, element_type::float64);
      CHECK(left(g, g.lowered(g.raised(g.x(), 0.5), 6)) == (version < 12 ? "Max Min" : "Clip 0.5 6."));
    }
  }
}

TEST_CASE("what is no Clip between two bounds stays") {
  bounding g;
  auto const x = g.x();
  std::string why;
  SECTION("two lower bounds") { CHECK(left(g, g.raised(g.add("Relu", {x}), 1)) == "Relu Max"); }
  SECTION("bounds of each column") { CHECK(left(g, g.lowered(g.add("Max", {x, g.number(1, {8})}), 6)) == "Max Min"); }
  SECTION("bounds that enlarge the value") {
    CHECK(left(g, g.lowered(g.add("Max", {x, g.number(1, {1, 1, 1})}), 6)) == "Max Min");
  }
  SECTION("computed bounds") { CHECK(left(g, g.lowered(g.add("Max", {x, g.in("c", {})}), 6)) == "Max Min"); }
  SECTION("computed bounds of a Clip") {
    auto const y = g.add("Clip", {x, g.in("c", {}), g.number(4)});
    CHECK(left(g, g.add("Relu", {y})) == "Clip Relu");
  }
  SECTION("three operands") { CHECK(left(g, g.lowered(g.add("Max", {x, g.number(1), g.in("z")}), 6)) == "Max Min"); }
  SECTION("others use what is between") {
    auto const raised = g.raised(x, 1);
    g.output(raised, "z");
    CHECK(left(g, g.lowered(raised, 6)) == "Max Min");
  }
  SECTION("a Relu of a Clip without an upper bound") {
    CHECK(left(g, g.add("Relu", {g.clipped(x, -1, nothing)}), &why) == "Clip Relu");
    CHECK(why == "there is a bound on either side");
  }
  SECTION("a minimum of a Clip without a lower bound") {
    CHECK(left(g, g.lowered(g.clipped(x, nothing, 4), 3), &why) == "Clip Min");
    CHECK(why == "there is a bound on either side");
  }
  SECTION("a Clip without an upper bound of a maximum") {
    left(g, g.clipped(g.raised(x, 1), 0, nothing), &why);
    CHECK(ops(g) == "Max Clip");
    CHECK(why == "there is a bound on either side");
  }
  SECTION("a Clip without a lower bound of a minimum") {
    left(g, g.clipped(g.lowered(x, 1), nothing, 2), &why);
    CHECK(ops(g) == "Min Clip");
    CHECK(why == "there is a bound on either side");
  }
  SECTION("Clips without upper bounds") {
    left(g, g.clipped(g.clipped(x, 1, nothing), 2, nothing), &why);
    CHECK(ops(g) == "Clip Clip");
    CHECK(why == "one has a largest number");
  }
  SECTION("Clips without lower bounds") {
    left(g, g.clipped(g.clipped(x, nothing, 2), nothing, 1), &why);
    CHECK(ops(g) == "Clip Clip");
    CHECK(why == "one has a least number");
  }
  SECTION("a maximum with -infinity of a Clip") {
    CHECK(left(g, g.raised(g.clipped(x, nothing, 4), -infinity), &why) == "Clip Max");
    CHECK(why == "the least number is none that is infinite");
  }
  SECTION("a minimum with infinity of a Clip") {
    CHECK(left(g, g.lowered(g.clipped(x, 0, nothing), infinity), &why) == "Clip Min");
    CHECK(why == "the largest number is none that is infinite");
  }
  SECTION("a Clip of a maximum with -infinity") {
    left(g, g.clipped(g.raised(x, -infinity), nothing, 4), &why);
    CHECK(ops(g) == "Max Clip");
    CHECK(why == "the least number is none that is infinite");
  }
  SECTION("a Clip of a minimum with infinity") {
    left(g, g.clipped(g.lowered(x, infinity), 0, nothing), &why);
    CHECK(ops(g) == "Min Clip");
    CHECK(why == "the largest number is none that is infinite");
  }
}

}  // namespace rules_clipping
