// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/canonical.hpp>

namespace rules_canonical {

using namespace rewriting;
using value = graph::value;

namespace {

using axes = std::vector<std::int64_t>;

/// A graph that reads x and computes abs(x), of which the operators under test are made.
struct tidied : sketch {
  explicit tidied(int version = 17) : sketch(version) {}

  value abs(dims const& shape = {4, 8}, element_type type = element_type::float32) {
    return add("Abs", {in("x", shape, type)});
  }
  value numbers(std::vector<std::int64_t> const& shape, std::vector<double> const& all,
                element_type type = element_type::float32) {
    return constant(fuse::make_tensor(type, shape, all));
  }
  value number(double of, element_type type = element_type::float32) { return numbers({}, {of}, type); }
  value list(axes const& all) {
    return constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(all.size())}, all));
  }
  value cast(value of, element_type to) { return add("Cast", {of}, {{"to", static_cast<std::int64_t>(to)}}); }
  value transpose(value of, axes const& perm) { return add("Transpose", {of}, {{"perm", perm}}); }
  value reshape(value of, axes const& shape) { return add("Reshape", {of, list(shape)}); }
  value row(double from, double by) {
    std::vector<double> all;
    for (int i = 0; i < 8; ++i) all.push_back(from + by * i);
    return numbers({8}, all);
  }
};

/// What is left of the graph with output `y`; each rewrite is checked, and a second run finds nothing.
std::string left(tidied& g, value y) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::canonical>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  CHECK(fuse::rewrite<fuse::rules::canonical>(static_cast<graph&>(g)).applied() == 0);
  return ops(g);
}

}  // namespace

TEST_CASE("an Identity goes, but for outputs that have a name of their own") {
  tidied g;
  auto const x = g.in("x");
  SECTION("between operators") { CHECK(left(g, g.add("Abs", {g.add("Identity", {x})})) == "Abs"); }
  SECTION("at an output") { CHECK(left(g, g.add("Identity", {g.add("Abs", {x})})) == "Abs"); }
  SECTION("an output that is an input") { CHECK(left(g, g.add("Identity", {x})) == "Identity"); }
  SECTION("an output that is another one") {
    auto const y = g.add("Abs", {x});
    g.output(y, "z");
    CHECK(left(g, g.add("Identity", {y})) == "Abs Identity");
  }
}

TEST_CASE("a Dropout goes while nobody trains") {
  tidied g;
  auto const y = g.abs();
  auto const trains = [&](bool does) { return g.number(does ? 1 : 0, element_type::boolean); };
  SECTION("alone") { CHECK(left(g, g.add("Dropout", {y})) == "Abs"); }
  SECTION("with a ratio") { CHECK(left(g, g.add("Dropout", {y, g.number(0.5)})) == "Abs"); }
  SECTION("told so") { CHECK(left(g, g.add("Dropout", {y, g.number(0.5), trains(false)})) == "Abs"); }
  SECTION("training") { CHECK(left(g, g.add("Dropout", {y, g.number(0.5), trains(true)})) == "Abs Dropout"); }
  SECTION("whoever runs it says") {
    CHECK(left(g, g.add("Dropout", {y, g.number(0.5), g.in("training", {}, element_type::boolean)})) == "Abs Dropout");
  }
  SECTION("its mask is used") {
    auto const n = g.append("Dropout", {y}, {}, 2);
    g.output(g.result(n, 1), "mask");
    CHECK(left(g, g.result(n, 0)) == "Abs Dropout");
  }
}

TEST_CASE("a Dropout of an old operator set trains unless it says otherwise") {
  for (bool const tests : {false, true}) {
    tidied g(6);
    auto const y = g.add("Dropout", {g.abs()}, {{"is_test", std::int64_t{tests}}});
    CHECK(left(g, y) == (tests ? "Abs" : "Abs Dropout"));
  }
}

TEST_CASE("conversions that lose nothing are one, or none") {
  using enum element_type;
  struct chain {
    element_type from, between, to;
    char const* left;
  };
  for (auto const& c : std::vector<chain>{{float32, float32, float32, ""},
                                          {float32, float64, float32, ""},
                                          {float32, float64, float16, "Cast"},
                                          {float16, float32, float16, ""},
                                          {bfloat16, float32, float16, "Cast"},
                                          {int8, int32, int64, "Cast"},
                                          {uint8, float16, int32, "Cast"},
                                          {boolean, int32, float32, "Cast"},
                                          {int32, float64, int32, ""},
                                          {float32, float16, float32, "Cast Cast"},
                                          {float16, bfloat16, float32, "Cast Cast"},
                                          {bfloat16, float16, float32, "Cast Cast"},
                                          {float32, int32, float32, "Cast Cast"},
                                          {float32, boolean, float32, "Cast Cast"},
                                          {int32, float32, int64, "Cast Cast"},
                                          {int64, float64, int64, "Cast Cast"},
                                          {int16, float16, int32, "Cast Cast"},
                                          {int8, uint8, int32, "Cast Cast"},
                                          {uint8, int8, int32, "Cast Cast"},
                                          {int64, int32, int64, "Cast Cast"}}) {
    tidied g;
    INFO(fuse::name_of(c.from) << ' ' << fuse::name_of(c.between) << ' ' << fuse::name_of(c.to));
    CHECK(left(g, g.cast(g.cast(g.in("x", {4, 8}, c.from), c.between), c.to)) == c.left);
  }
}

TEST_CASE("a conversion whose type between others use goes around it") {
  tidied g;
  auto const wide = g.cast(g.in("x", {4, 8}, element_type::float16), element_type::float32);
  g.output(wide, "z");
  CHECK(left(g, g.cast(wide, element_type::float16)) == "Cast");
}

TEST_CASE("what takes any number of operands and has one is that one") {
  for (auto const* name : {"Concat", "Sum", "Mean", "Max", "Min"}) {
    tidied g;
    auto const y = g.abs();
    CHECK(left(g, g.add(name, {y}, {{"axis", std::int64_t{0}}})) == "Abs");
    tidied two;
    auto const z = two.abs();
    CHECK(left(two, two.add(name, {z, z}, {{"axis", std::int64_t{0}}})) == "Abs " + std::string(name));
  }
}

TEST_CASE("what changes no shape goes") {
  tidied g;
  auto const y = g.abs({"batch", 8});
  SECTION("Reshape") { CHECK(left(g, g.reshape(y, {0, 8})) == "Abs"); }
  SECTION("Flatten") { CHECK(left(g, g.add("Flatten", {y})) == "Abs"); }
  SECTION("Expand") { CHECK(left(g, g.add("Expand", {y, g.list({1, 8})})) == "Abs"); }
  SECTION("Tile") { CHECK(left(g, g.add("Tile", {y, g.list({1, 1})})) == "Abs"); }
  SECTION("a Reshape to who knows what") { CHECK(left(g, g.reshape(y, {2, -1})) == "Abs Reshape"); }
  SECTION("a Tile that repeats") { CHECK(left(g, g.add("Tile", {y, g.list({2, 1})})) == "Abs Tile"); }
  SECTION("an Expand that repeats") { CHECK(left(g, g.add("Expand", {y, g.list({3, 1, 8})})) == "Abs Expand"); }
}

TEST_CASE("a change of the shape behind another one is one, or none") {
  tidied g;
  auto const y = g.abs({2, 3, 8});
  SECTION("there and back") { CHECK(left(g, g.reshape(g.reshape(y, {6, 8}), {2, 3, 8})) == "Abs"); }
  SECTION("Unsqueeze and Squeeze") {
    CHECK(left(g, g.add("Squeeze", {g.add("Unsqueeze", {y, g.list({1})}), g.list({1})})) == "Abs");
  }
  SECTION("somewhere else") { CHECK(left(g, g.reshape(g.reshape(y, {6, 8}), {4, -1})) == "Abs Reshape"); }
  SECTION("a Reshape of a Flatten") { CHECK(left(g, g.reshape(g.add("Flatten", {y}), {3, 16})) == "Abs Reshape"); }
  SECTION("an extent is copied from between") {
    CHECK(left(g, g.reshape(g.reshape(y, {6, 8}), {0, 2, 4})) == "Abs Reshape Reshape");
  }
  SECTION("the second shape is computed") {
    auto const shape = g.in("shape", {2}, element_type::int64);
    CHECK(left(g, g.add("Reshape", {g.reshape(y, {6, 8}), shape})) == "Abs Reshape Reshape");
  }
}

TEST_CASE("Unsqueezes one after the other are one") {
  int const version = GENERATE(9, 11, 17);
  auto const unsqueeze = [&](tidied& g, value of, axes const& at) {
    if (version < 13) return g.add("Unsqueeze", {of}, {{"axes", at}});
    return g.add("Unsqueeze", {of, g.list(at)});
  };
  SECTION("wherever axes are added, which the shape tells") {
    for (auto const& first : {axes{0}, axes{1}, axes{2}, axes{0, 1}, axes{1, 3}, axes{0, 3}, axes{2, 3}})
      for (std::int64_t then = 0; then <= static_cast<std::int64_t>(2 + first.size()); ++then) {
        tidied g(version);
        auto const y = unsqueeze(g, unsqueeze(g, g.abs({3, 5}), first), {then});
        CHECK(left(g, y) == "Abs Unsqueeze");
      }
  }
  SECTION("three") {
    tidied g(version);
    CHECK(left(g, unsqueeze(g, unsqueeze(g, unsqueeze(g, g.abs(), {0}), {1}), {2})) == "Abs Unsqueeze");
  }
  SECTION("counted from the back") {
    tidied g(version);
    if (version >= 11) CHECK(left(g, unsqueeze(g, unsqueeze(g, g.abs(), {-1}), {-2})) == "Abs Unsqueeze");
  }
  SECTION("several axes at once") {
    tidied g(version);
    CHECK(left(g, unsqueeze(g, unsqueeze(g, g.abs(), {0}), {0, 1})) == "Abs Unsqueeze Unsqueeze");
  }
  SECTION("what is between is used elsewhere") {
    tidied g(version);
    auto const between = unsqueeze(g, g.abs(), {0});
    g.output(between, "z");
    CHECK(left(g, unsqueeze(g, between, {0})) == "Abs Unsqueeze Unsqueeze");
  }
}

TEST_CASE("what takes everything, adds nothing or always chooses the same goes") {
  tidied g;
  auto const x = g.abs({4, 8});
  auto const slice = [&](axes const& from, axes const& to, axes const& by) {
    return g.add("Slice", {x, g.list(from), g.list(to), g.list({0, 1}), g.list(by)});
  };
  SECTION("a Slice") { CHECK(left(g, slice({0, -8}, {100, 8}, {1, 1})) == "Abs"); }
  SECTION("a Slice whose steps nobody states") {
    CHECK(left(g, g.add("Slice", {x, g.list({0}), g.list({4}), g.list({0})})) == "Abs");
  }
  SECTION("not a Slice backwards") { CHECK(left(g, slice({0, -1}, {4, -9}, {1, -1})) == "Abs Slice"); }
  SECTION("not a Slice whose steps are not known") {
    auto const steps = g.in("steps", {1}, element_type::int64);
    auto const y = g.add("Slice", {x, g.list({3}), g.list({-5}), g.list({0}), steps});
    CHECK(left(g, y) == "Abs Slice");
  }
  SECTION("nor one that takes a part") { CHECK(left(g, slice({0, 1}, {4, 8}, {1, 1})) == "Abs Slice"); }
  SECTION("a Split") {
    CHECK(left(g, g.result(g.append("Split", {x, g.list({8})}, {{"axis", std::int64_t{1}}}), 0)) == "Abs");
  }
  SECTION("a Pad") { CHECK(left(g, g.add("Pad", {x, g.list({0, 0, 0, 0}), g.number(3)})) == "Abs"); }
  SECTION("not a Pad that moves") {
    CHECK(left(g, g.add("Pad", {x, g.list({1, 0, -1, 0}), g.number(3)})) == "Abs Pad");
  }
  SECTION("nor one by what is not known") {
    CHECK(left(g, g.add("Pad", {x, g.in("pads", {4}, element_type::int64)})) == "Abs Pad");
  }
  SECTION("a selection") {
    auto const c = [&](double is) { return g.numbers({1, 8}, std::vector<double>(8, is), element_type::boolean); };
    auto const y = g.add("Where", {c(1), x, g.in("other", {4, 8})});
    CHECK(left(g, g.add("Where", {c(0), g.in("another", {8}), y})) == "Abs");
  }
  SECTION("not what stands behind an Identity that is not chosen") {
    auto const never = g.numbers({}, {0}, element_type::boolean);
    auto const other = g.add("Identity", {g.in("other", {4, 8})});
    CHECK(left(g, g.add("Where", {never, other, x})) == "Abs");
  }
  SECTION("not one that enlarges") {
    auto const c = g.numbers({3, 4, 8}, std::vector<double>(96, 1), element_type::boolean);
    CHECK(left(g, g.add("Where", {c, x, g.number(3)})) == "Abs Where");
  }
  SECTION("nor one whose condition is true here and there") {
    auto const c = g.numbers({8}, {1, 1, 1, 1, 1, 1, 1, 0}, element_type::boolean);
    CHECK(left(g, g.add("Where", {c, x, g.number(3)})) == "Abs Where");
  }
}

TEST_CASE("Slices one after the other are one") {
  constexpr auto far = std::numeric_limits<std::int64_t>::max();
  int const version = GENERATE(9, 10, 17);
  bool const stepped = GENERATE(false, true);
  if (stepped && version < 10) return;
  tidied g(version);
  struct cut {
    axes from, to, along, by;
  };
  auto const slice = [&](value of, cut const& c) {
    if (version < 10) return g.add("Slice", {of}, {{"starts", c.from}, {"ends", c.to}, {"axes", c.along}});
    if (!stepped) return g.add("Slice", {of, g.list(c.from), g.list(c.to), g.list(c.along)});
    return g.add("Slice", {of, g.list(c.from), g.list(c.to), g.list(c.along), g.list(c.by)});
  };
  auto const x = g.abs({5, 6, 7});
  SECTION("along other axes") {
    CHECK(left(g, slice(slice(x, {{1}, {far}, {1}, {2}}), {{-4}, {far}, {2}, {1}})) == "Abs Slice");
  }
  SECTION("three, along several, in any order") {
    auto const y = slice(slice(x, {{1, 2}, {far, 5}, {2, 0}, {1, 2}}), {{-3}, {-1}, {1}, {1}});
    CHECK(left(g, y) == "Abs Slice");
  }
  SECTION("not along the same one") {
    auto const y = slice(slice(x, {{1, 0}, {far, 4}, {1, 2}, {1, 1}}), {{1}, {4}, {1}, {1}});
    CHECK(left(g, y) == "Abs Slice Slice");
  }
  SECTION("not where what is between is used elsewhere") {
    auto const between = slice(x, {{1}, {far}, {1}, {1}});
    g.output(between, "z");
    CHECK(left(g, slice(between, {{0}, {3}, {0}, {1}})) == "Abs Slice Slice");
  }
  SECTION("not along axes that are not known to be others") {
    if (version < 10) return;
    auto const axis = g.in("axis", {1}, element_type::int64);
    auto const between = g.add("Slice", {x, g.list({1}), g.list({4}), axis});
    CHECK(left(g, slice(between, {{0}, {3}, {0}, {1}})) == "Abs Slice Slice");
  }
}

TEST_CASE("what decides nothing goes") {
  tidied g;
  auto const p = g.add("Not", {g.in("p", {2, 8}, element_type::boolean)});
  auto const all = [&](bool is, axes const& shape) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    return g.numbers(shape, std::vector<double>(count, is ? 1 : 0), element_type::boolean);
  };
  SECTION("and true") { CHECK(left(g, g.add("And", {p, all(true, {})})) == "Not"); }
  SECTION("true and") { CHECK(left(g, g.add("And", {all(true, {2, 1}), p})) == "Not"); }
  SECTION("or false") { CHECK(left(g, g.add("Or", {p, all(false, {8})})) == "Not"); }
  SECTION("and false") { CHECK(left(g, g.add("And", {p, all(false, {})})) == "Not And"); }
  SECTION("or true") { CHECK(left(g, g.add("Or", {p, all(true, {})})) == "Not Or"); }
  SECTION("xor false") { CHECK(left(g, g.add("Xor", {p, all(false, {})})) == "Not Xor"); }
  SECTION("not everywhere") {
    CHECK(left(g, g.add("And", {p, g.numbers({2, 1}, {1, 0}, element_type::boolean)})) == "Not And");
  }
  SECTION("a larger result") { CHECK(left(g, g.add("And", {p, all(true, {2, 1, 1})})) == "Not And"); }
}

TEST_CASE("Transposes one after the other are one") {
  tidied g;
  auto const y = g.abs({2, 3, 8});
  auto const order = [&] { return std::get<axes>(g.attribute(last(g), "perm")->content); };
  SECTION("the same way twice") {
    CHECK(left(g, g.transpose(g.transpose(y, {1, 2, 0}), {1, 2, 0})) == "Abs Transpose");
    CHECK(order() == axes{2, 0, 1});
  }
  SECTION("two ways that do not commute") {
    CHECK(left(g, g.transpose(g.transpose(y, {1, 2, 0}), {1, 0, 2})) == "Abs Transpose");
    CHECK(order() == axes{2, 1, 0});
  }
  SECTION("the usual order") {
    CHECK(left(g, g.transpose(g.add("Transpose", {y}), {0, 2, 1})) == "Abs Transpose");
    CHECK(order() == axes{2, 0, 1});
  }
  SECTION("many") {
    auto const two = g.transpose(g.transpose(y, {0, 2, 1}), {1, 0, 2});
    CHECK(left(g, g.transpose(two, {0, 2, 1})) == "Abs Transpose");
    CHECK(order() == axes{2, 1, 0});
  }
  SECTION("others use what is between") {
    auto const between = g.transpose(y, {1, 2, 0});
    g.output(between, "z");
    CHECK(left(g, g.transpose(between, {1, 2, 0})) == "Abs Transpose Transpose");
  }
}

TEST_CASE("a Transpose of a constant is a constant") {
  tidied g;
  auto const y = g.abs({3, 2});
  auto const w = g.numbers({3, 2}, {1, 2, 3, 4, 5, 6});
  SECTION("that nothing else uses") {
    CHECK(left(g, g.add("MatMul", {y, g.transpose(w, {1, 0})})) == "Abs MatMul");
    auto const turned = g.constant(g.operands(last(g))[1]);
    CHECK(turned.shape[0] == 2);
    CHECK(turned.number(1) == 3);
  }
  SECTION("in the usual order") { CHECK(left(g, g.add("MatMul", {y, g.add("Transpose", {w})})) == "Abs MatMul"); }
  SECTION("that others use, too") {
    g.output(g.add("Mul", {y, w}), "z");
    CHECK(left(g, g.add("MatMul", {y, g.transpose(w, {1, 0})})) == "Abs Mul Transpose MatMul");
  }
  SECTION("that is an output") { CHECK(left(g, g.transpose(w, {1, 0})) == "Abs Transpose"); }
  SECTION("of integers") {
    auto const v = g.numbers({3, 2}, {1, 2, 3, 4, 5, 6}, element_type::int32);
    auto const z = g.add("MatMul", {g.in("z", {4, 2}, element_type::int32), g.transpose(v, {1, 0})});
    CHECK(left(g, z) == "Abs Transpose MatMul");
  }
}

TEST_CASE("Transposes that cancel go") {
  tidied g;
  auto const y = g.abs({2, 3, 8});
  SECTION("back") { CHECK(left(g, g.transpose(g.transpose(y, {1, 2, 0}), {2, 0, 1})) == "Abs"); }
  SECTION("the usual order, twice") { CHECK(left(g, g.add("Transpose", {g.add("Transpose", {y})})) == "Abs"); }
  SECTION("nothing turned") { CHECK(left(g, g.transpose(y, {0, 1, 2})) == "Abs"); }
  SECTION("others use what is between") {
    auto const between = g.transpose(y, {0, 2, 1});
    g.output(between, "z");
    CHECK(left(g, g.transpose(between, {0, 2, 1})) == "Abs Transpose");
  }
  SECTION("extents that are equal by chance") {
    g.output(y, "z");
    CHECK(left(g, g.transpose(g.in("s", {8, 8}), {1, 0})) == "Abs Transpose");
  }
}

TEST_CASE("a chain of operators that move elements becomes the fewest that move them like that") {
  tidied g;
  auto const y = g.abs({2, 6, 4});
  SECTION("one turn between four shapes") {
    auto const heads = g.transpose(g.reshape(y, {2, 6, 2, 2}), {0, 2, 1, 3});
    auto const tokens = g.reshape(g.transpose(g.reshape(heads, {4, 6, 2}), {0, 2, 1}), {2, 2, 2, 6});
    CHECK(left(g, tokens) == "Abs Reshape Transpose");
  }
  SECTION("that undo each other") {
    auto const heads = g.transpose(g.reshape(y, {2, 6, 2, 2}), {0, 2, 1, 3});
    CHECK(left(g, g.reshape(g.transpose(heads, {0, 2, 1, 3}), {2, 6, 4})) == "Abs");
  }
  SECTION("of axes of one element alone") {
    auto const apart = g.reshape(y, {2, 1, 6, 4});
    CHECK(left(g, g.transpose(apart, {0, 2, 1, 3})) == "Abs Reshape");
  }
  SECTION("each of which is needed") {
    CHECK(left(g, g.transpose(g.reshape(y, {2, 6, 2, 2}), {0, 2, 1, 3})) == "Abs Reshape Transpose");
  }
  SECTION("of which others read a part") {
    auto const heads = g.transpose(g.reshape(y, {2, 6, 2, 2}), {0, 2, 1, 3});
    g.output(g.add("Neg", {heads}), "heads");
    CHECK(left(g, g.reshape(g.transpose(heads, {0, 2, 1, 3}), {2, 6, 4})) == "Abs Reshape Transpose Neg");
  }
}

TEST_CASE("a chain that moves elements is read as far as shapes are known") {
  tidied g;
  SECTION("of a batch of any size") {
    auto const x = g.in("x", {"b", 3, 4});
    auto const heads = g.reshape(g.transpose(g.reshape(x, {0, 3, 2, 2}), {0, 2, 1, 3}), {-1, 3, 2});
    CHECK(left(g, g.reshape(g.transpose(heads, {0, 2, 1}), {-1, 2, 2, 3})) == "Reshape Transpose");
  }
  SECTION("of two lengths that may be 0") {
    auto const turned =
        g.transpose(g.add("Unsqueeze", {g.transpose(g.in("x", {"b", "s", 4}), {0, 2, 1}), g.list({3})}), {0, 2, 1, 3});
    CHECK(left(g, g.add("Flatten", {turned}, {{"axis", 1}})) == "Flatten");
  }
  SECTION("of two lengths, of which what was there may not have been 0") {
    auto const heads = g.transpose(g.reshape(g.in("x", {"b", "s", 8}), {0, 0, 2, 4}), {0, 2, 1, 3});
    auto const halves = g.transpose(g.reshape(heads, {0, 2, -1, 2, 2}), {0, 1, 3, 2, 4});
    CHECK(left(g, g.reshape(halves, {0, -1, 2})) == "Reshape Transpose Reshape");
  }
  SECTION("of four axes, however long") {
    auto const x = g.add("Reshape", {g.in("x", {"b", "s", "c"}), g.in("shape", {4}, element_type::int64)});
    auto const more = g.transpose(g.add("Unsqueeze", {g.transpose(x, {0, 2, 1, 3}), g.list({0})}), {0, 2, 1, 3, 4});
    CHECK(left(g, g.add("Squeeze", {more, g.list({0})})) == "Reshape Transpose");
  }
  SECTION("of any axes") {
    auto const x = g.add("Reshape", {g.in("x", {"b", "s", "c"}), g.in("shape", {"rank"}, element_type::int64)});
    auto const more = g.transpose(g.add("Unsqueeze", {g.add("Transpose", {x}), g.list({0})}), {0, 2, 1, 3, 4});
    CHECK(left(g, g.add("Squeeze", {more, g.list({0})})) == "Reshape Transpose Unsqueeze Transpose Squeeze");
  }
}

TEST_CASE("chains of any shapes and turns move the same elements, in no more operators") {
  std::mt19937 random(7);
  auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t fewer = 0;
  for (int graphs = 0; graphs < 300; ++graphs) {
    tidied g;
    axes shape{2, 8, 4};
    auto v = g.abs({2, 8, 4});
    auto const length = 2 + below(5);
    for (std::size_t i = 0; i < length; ++i) {
      if (below(2) == 0) {
        axes order(shape.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::shuffle(order.begin(), order.end(), random);
        v = g.transpose(v, order);
        auto const from = shape;
        for (std::size_t k = 0; k < order.size(); ++k) shape[k] = from[static_cast<std::size_t>(order[k])];
        continue;
      }
      shape = {1};
      for (int bit = 0; bit < 6; ++bit) below(2) == 0 ? shape.push_back(2) : void(shape.back() *= 2);
      v = g.reshape(v, shape);
    }
    auto const made = left(g, v);
    auto const operators = static_cast<std::size_t>(std::count(made.begin(), made.end(), ' '));
    CAPTURE(graphs, made, length);
    CHECK(operators <= length);
    CHECK(operators <= 3);  // of powers of 2, each is a turn of axes between two shapes
    fewer += operators < length ? 1u : 0u;
  }
  CHECK(fewer > 150);
}

TEST_CASE("1 as a factor and 0 as an addend go, where not even the sign of 0 changes") {
  tidied g;
  auto const y = g.abs();
  SECTION("x * 1") { CHECK(left(g, g.add("Mul", {y, g.number(1)})) == "Abs"); }
  SECTION("1 * x") { CHECK(left(g, g.add("Mul", {g.number(1), y})) == "Abs"); }
  SECTION("x / 1") { CHECK(left(g, g.add("Div", {y, g.numbers({8}, std::vector<double>(8, 1))})) == "Abs"); }
  SECTION("1 / x") { CHECK(left(g, g.add("Div", {g.number(1), y})) == "Abs Div"); }
  SECTION("nearly 1") { CHECK(left(g, g.add("Mul", {y, g.number(1 + 1e-6)})) == "Abs Mul"); }
  SECTION("x - 0") { CHECK(left(g, g.add("Sub", {y, g.number(0)})) == "Abs"); }
  SECTION("x + -0") { CHECK(left(g, g.add("Add", {g.number(-0.0), y})) == "Abs"); }
  SECTION("x + 0") { CHECK(left(g, g.add("Add", {y, g.number(0)})) == "Abs Add"); }
  SECTION("x - -0") { CHECK(left(g, g.add("Sub", {y, g.number(-0.0)})) == "Abs Sub"); }
  SECTION("0 - x") { CHECK(left(g, g.add("Sub", {g.number(0), y})) == "Abs Sub"); }
  SECTION("nearly 0") { CHECK(left(g, g.add("Sub", {y, g.number(1e-30)})) == "Abs Sub"); }
  SECTION("zeros of both signs") {
    CHECK(left(g, g.add("Sub", {y, g.numbers({8}, {0, 0, 0, -0.0, 0, 0, 0, 0})})) == "Abs Sub");
  }
  SECTION("x to the power of 1") { CHECK(left(g, g.add("Pow", {y, g.number(1)})) == "Abs"); }
  SECTION("1 to the power of x") { CHECK(left(g, g.add("Pow", {g.number(1), y})) == "Abs Pow"); }
  SECTION("x * 0, which may be no number") { CHECK(left(g, g.add("Mul", {y, g.number(0)})) == "Abs Mul"); }
  SECTION("a 1 that a caller gives") { CHECK(left(g, g.add("Mul", {y, g.in("one", {})})) == "Abs Mul"); }
  SECTION("a 1 that adds an axis") { CHECK(left(g, g.add("Mul", {y, g.numbers({1, 1, 1}, {1})})) == "Abs Mul"); }
}

TEST_CASE("integers have one 0") {
  tidied g;
  auto const y = g.abs({4, 8}, element_type::int64);
  CHECK(left(g, g.add("Div", {g.add("Add", {y, g.number(0, element_type::int64)}),
                              g.number(1, element_type::int64)})) == "Abs");
}

TEST_CASE("what changes nothing the second time is applied once") {
  tidied g;
  auto const x = g.in("x");
  SECTION("Relu") { CHECK(left(g, g.add("Relu", {g.add("Relu", {x})})) == "Relu"); }
  SECTION("Abs, three times") { CHECK(left(g, g.add("Abs", {g.add("Abs", {g.add("Abs", {x})})})) == "Abs"); }
  SECTION("Round of Floor") { CHECK(left(g, g.add("Round", {g.add("Floor", {x})})) == "Floor"); }
  SECTION("Relu of Floor") { CHECK(left(g, g.add("Relu", {g.add("Floor", {x})})) == "Floor Relu"); }
  SECTION("Neg") { CHECK(left(g, g.add("Abs", {g.add("Neg", {g.add("Neg", {x})})})) == "Abs"); }
  SECTION("Not") {
    auto const b = g.add("Not", {g.in("b", {4}, element_type::boolean)});
    CHECK(left(g, g.add("Not", {g.add("Not", {b})})) == "Not");
  }
  SECTION("Sigmoid") { CHECK(left(g, g.add("Sigmoid", {g.add("Sigmoid", {x})})) == "Sigmoid Sigmoid"); }
}

TEST_CASE("constants one after the other are one") {
  tidied g;
  SECTION("integers") {
    auto const three = g.number(3, element_type::int64);
    CHECK(left(g, g.add("Mul", {g.add("Div", {g.in("i", {4}, element_type::int64), three}), three})) == "Div Mul");
    return;
  }
  auto const y = g.abs(), two = g.number(2), row = g.row(1, 0.5);
  SECTION("factors") { CHECK(left(g, g.add("Mul", {g.add("Mul", {y, two}), row})) == "Abs Mul"); }
  SECTION("three factors") {
    CHECK(left(g, g.add("Mul", {row, g.add("Div", {g.add("Mul", {two, y}), g.number(3)})})) == "Abs Mul");
  }
  SECTION("a factor over x") { CHECK(left(g, g.add("Mul", {g.add("Div", {two, y}), row})) == "Abs Div"); }
  SECTION("addends") { CHECK(left(g, g.add("Sub", {g.add("Add", {y, two}), row})) == "Abs Add"); }
  SECTION("less x") { CHECK(left(g, g.add("Add", {g.add("Sub", {two, y}), row})) == "Abs Sub"); }
  SECTION("one alone") { CHECK(left(g, g.add("Mul", {y, row})) == "Abs Mul"); }
  SECTION("one of them computed") {
    CHECK(left(g, g.add("Mul", {g.add("Mul", {y, two}), g.in("s", {8})})) == "Abs Mul Mul");
  }
  SECTION("others use what is between") {
    auto const between = g.add("Mul", {y, two});
    g.output(between, "z");
    CHECK(left(g, g.add("Mul", {between, row})) == "Abs Mul Mul");
  }
  SECTION("something else between") {
    CHECK(left(g, g.add("Mul", {g.add("Add", {g.add("Mul", {y, two}), two}), row})) == "Abs Mul Add Mul");
  }
  SECTION("a product beyond the type") {
    CHECK(left(g, g.add("Mul", {g.add("Mul", {y, g.number(1e30)}), g.number(1e30)})) == "Abs Mul Mul");
  }
}

TEST_CASE("constants that are larger together stay apart, which is told") {
  tidied g;
  auto const column = g.numbers({4, 1}, {1, 2, 3, 4});
  g.end(g.add("Mul", {g.add("Mul", {g.abs(), column}), g.numbers({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})}));
  auto const report = fuse::rewrite<fuse::rules::canonical>(static_cast<graph&>(g));
  CHECK(ops(g) == "Abs Mul Mul");
  CHECK(refused(report, "factors-in-one") == "no larger than one of them");
}

TEST_CASE("multiples of one value are one") {
  tidied g;
  auto const y = g.abs(), two = g.number(2), row = g.row(1, 0.5);
  SECTION("numbers") {
    CHECK(left(g, g.add("Add", {g.add("Mul", {y, two}), g.add("Mul", {g.number(3), y})})) == "Abs Mul");
  }
  SECTION("rows") { CHECK(left(g, g.add("Add", {g.add("Mul", {y, row}), g.add("Mul", {y, two})})) == "Abs Mul"); }
  SECTION("a difference") {
    CHECK(left(g, g.add("Sub", {g.add("Mul", {y, row}), g.add("Mul", {y, two})})) == "Abs Mul Mul Sub");
  }
  SECTION("of two values") {
    auto const other = g.add("Mul", {g.add("Exp", {g.in("z")}), row});
    CHECK(left(g, g.add("Add", {g.add("Mul", {y, two}), other})) == "Abs Exp Mul Mul Add");
  }
  SECTION("others use one") {
    auto const one = g.add("Mul", {y, two});
    g.output(one, "z");
    CHECK(left(g, g.add("Add", {one, g.add("Mul", {y, row})})) == "Abs Mul Mul Add");
  }
}

}  // namespace rules_canonical
