// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/group_norm.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/onnx_functions.hpp>

namespace rules_group_norm {

using namespace rewriting;

namespace {

inline constexpr auto rules = fuse::rule_set<fuse::rules::norms, fuse::rules::group_norms>;
auto constexpr standard = fuse::target::standard;
using integers = std::vector<std::int64_t>;

/// Norms whose every operand can be changed: one test for each condition changes one.
struct normed : sketch {
  explicit normed(int version = 21, graph::dims const& of = {"n", 6, "h", "w"},
                  element_type type = element_type::float32)
      : sketch(version), x(in("x", of, type)), of_type(type) {}
  value x;
  element_type of_type;
  double epsilon = 0.125;

  value floats(integers const& shape, double first = 1, double step = 1) {
    std::vector<double> all;
    std::size_t count = 1;
    for (auto e : shape) count *= static_cast<std::size_t>(e);
    for (std::size_t i = 0; i < count; ++i) all.push_back(first + step * static_cast<double>(i));
    return constant(fuse::make_tensor(of_type, shape, all));
  }
  value mean(value v, integers const& axes) {
    if (version() < 18) return add("ReduceMean", {v}, {{"axes", axes}});
    return add("ReduceMean", {v, constant(fuse::make_tensor<std::int64_t>({std::ssize(axes)}, axes))});
  }
  value normalised(value v, integers const& axes = {2, 3}) {
    auto const d = add("Sub", {v, mean(v, axes)});
    auto const variance = mean(add("Mul", {d, d}), axes);
    return add("Div", {d, add("Sqrt", {add("Add", {variance, floats({}, epsilon)})})});
  }
  value times(value a, value b) { return add("Mul", {a, b}); }
  value sum(value a, value b) { return add("Add", {a, b}); }
  value reshaped(value v, integers const& to) {
    return add("Reshape", {v, constant(fuse::make_tensor<std::int64_t>({std::ssize(to)}, to))});
  }
  value like(value v, value other) { return add("Reshape", {v, add("Shape", {other})}); }
  value operation(value v, value scale, value bias) {
    return add("InstanceNormalization", {v, scale, bias}, {{"epsilon", epsilon}});
  }
  value ones(std::int64_t count) { return floats({count}, 1, 0); }
  value zeros(std::int64_t count) { return floats({count}, 0, 0); }
  /// As PyTorch exports it.
  value grouped(integers const& to = {0, 3, -1}, std::int64_t count = 3) {
    return like(operation(reshaped(x, to), ones(count), zeros(count)), x);
  }
  value row(std::int64_t count = 6) { return floats({count, 1, 1}); }
};

fuse::rewrite_report run(normed& g, graph::value y, fuse::target target) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  UNSCOPED_INFO(to_text(g));
  CHECK(report.notes.empty());
  return report;
}
/// The operators that the graph with output `y` has afterwards.
std::string became(normed& g, graph::value y, fuse::target target = standard) {
  run(g, y, target);
  return ops(g);
}
/// What keeps `rule` from the graph with output `y`; smaller rules may apply.
std::string kept(normed& g, graph::value y, std::string_view rule, fuse::target target = standard) {
  auto const report = run(g, y, target);
  CHECK(report.rule(rule)->applied == 0);
  return refused(report, rule);
}
/// Whether it is that condition.
bool kept_by(normed& g, graph::value y, std::string_view rule, std::string_view condition) {
  return kept(g, y, rule).find(condition) != std::string::npos;
}
std::string reason(normed& g, graph::value y, std::string_view rule, fuse::target target = standard) {
  auto const report = run(g, y, target);
  CHECK(report.rule(rule)->applied == 0);
  REQUIRE_FALSE(report.rule(rule)->refused.empty());
  return report.rule(rule)->refused[0].reason;
}
std::vector<double> contents(graph const& g, graph::value v) {
  auto const held = g.constant(v);
  std::vector<double> all;
  for (std::size_t i = 0; i < held.size(); ++i) all.push_back(held.number(i));
  return all;
}

}  // namespace

TEST_CASE("instance norms, with scales and biases of channels in any shape") {
  SECTION("scale and bias") {
    normed g;
    CHECK(became(g, g.sum(g.floats({1, 6, 1, 1}, 7), g.times(g.normalised(g.x), g.row()))) == "InstanceNormalization");
    auto const n = last(g);
    CHECK(number(g, n, "epsilon") == 0.125);
    CHECK(contents(g, g.operands(n)[1]) == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(contents(g, g.operands(n)[2]) == std::vector<double>{7, 8, 9, 10, 11, 12});
    CHECK(g.constant(g.operands(n)[1]).shape.size() == 1);
  }
  SECTION("a scale alone, of two factors, at an older operator set and for onnxruntime") {
    normed g(13);
    CHECK(became(g, g.times(g.times(g.floats({}, 2), g.normalised(g.x)), g.row()), fuse::target::onnxruntime) ==
          "InstanceNormalization");
    CHECK(contents(g, g.operands(last(g))[1]) == std::vector<double>{2, 4, 6, 8, 10, 12});
    CHECK(contents(g, g.operands(last(g))[2]) == std::vector<double>(6, 0));
  }
  SECTION("a bias alone") {
    normed g;
    CHECK(became(g, g.sum(g.normalised(g.x), g.row())) == "InstanceNormalization");
    CHECK(contents(g, g.operands(last(g))[1]) == std::vector<double>(6, 1));
  }
  SECTION("that are computed, of as many channels as nobody knows") {
    normed g(21, {"n", "c", "h", "w"});
    auto const scale = g.in("scale", {"c", 1, 1}), bias = g.in("bias", {1, "c", 1, 1});
    CHECK(became(g, g.sum(g.times(g.normalised(g.x), scale), bias)) == "Reshape Reshape InstanceNormalization");
  }
  SECTION("that are computed, with a constant") {
    normed g;
    auto const scale = g.in("scale", {6, 1, 1});
    CHECK(became(g, g.times(g.times(g.normalised(g.x), scale), g.row())) == "Reshape Mul InstanceNormalization");
  }
  SECTION("of one axis, of doubles, and of half") {
    for (auto const type : {element_type::float64, element_type::float16}) {
      normed g(17, {"n", 6, 5}, type);
      CHECK(became(g, g.times(g.normalised(g.x, {-1}), g.floats({6, 1}))) == "InstanceNormalization");
    }
  }
  SECTION("in another spelling") {
    normed g;
    auto const m = g.mean(g.x, {-2, -1});
    auto const variance = g.add("Sub", {g.mean(g.times(g.x, g.x), {2, 3}), g.times(m, m)});
    auto const r = g.add("Reciprocal", {g.add("Sqrt", {g.sum(variance, g.floats({}, 0.125))})});
    auto const by = g.times(r, g.row());
    CHECK(became(g, g.sum(g.times(g.x, by), g.add("Sub", {g.row(), g.times(m, by)}))) == "InstanceNormalization");
  }
}

TEST_CASE("what is a layer norm as well stays one") {
  SECTION("without scale and bias") {
    normed g(21, {"n", 6, 5});
    CHECK(became(g, g.normalised(g.x, {2})) == "LayerNormalization");
  }
  SECTION("with a scale that is one number") {
    normed g(21, {"n", 6, 5});
    CHECK(became(g, g.times(g.normalised(g.x, {2}), g.floats({}, 2))) == "LayerNormalization");
  }
  SECTION("with a scale along the last axis, of as many elements") {
    normed g(21, {"n", 6, 6});
    CHECK(became(g, g.sum(g.times(g.normalised(g.x, {2}), g.floats({6})), g.floats({6}))) == "LayerNormalization");
  }
  SECTION("of one channel") {
    normed g(21, {"n", 1, 5});
    CHECK(became(g, g.times(g.normalised(g.x, {2}), g.floats({1, 1}, 3))) == "LayerNormalization");
  }
}

TEST_CASE("what is no instance norm") {
  normed g;
  std::string_view const rule = "instance-norm";
  SECTION("over other axes") {
    CHECK(kept(g, g.times(g.normalised(g.x, {1, 2, 3}), g.row()), rule).empty());
    CHECK(ops(g).find("InstanceNormalization") == std::string::npos);
  }
  SECTION("over the last axis alone") {
    CHECK(kept(g, g.times(g.normalised(g.x, {3}), g.row()), rule).empty());
    CHECK(ops(g).find("InstanceNormalization") == std::string::npos);
  }
  SECTION("a scale of each sample") {
    CHECK(kept(g, g.times(g.normalised(g.x), g.in("s", {"n", 6, 1, 1})), rule) == "along that axis alone");
  }
  SECTION("a bias along other axes, too") {
    CHECK(kept_by(g, g.sum(g.normalised(g.x), g.in("b", {6, "h", 1})), rule, "along that axis alone"));
  }
  SECTION("a scale that makes x larger") {
    normed one(21, {"n", 1, "h", "w"});
    CHECK(kept(one, one.times(one.normalised(one.x), one.row()), rule) == "along that axis alone");
  }
  SECTION("an epsilon that float32 cannot hold") {
    normed wide(21, {"n", 6, 5}, element_type::float64);
    wide.epsilon = 1e-60;
    CHECK(kept_by(wide, wide.times(wide.normalised(wide.x, {2}), wide.floats({6, 1})), rule,
                  "an epsilon that float32 can hold"));
  }
  SECTION("for onnxruntime, of doubles") {
    normed wide(21, {"n", 6, 5}, element_type::float64);
    CHECK(reason(wide, wide.times(wide.normalised(wide.x, {2}), wide.floats({6, 1})), rule,
                 fuse::target::onnxruntime) == "onnxruntime has a kernel for float and half, and for no other type");
  }
}

TEST_CASE("group norms, as PyTorch exports them and of primitives") {
  SECTION("of an instance norm") {
    normed g;
    CHECK(became(g, g.sum(g.times(g.grouped(), g.row()), g.floats({6, 1, 1}, 7))) == "GroupNormalization");
    auto const n = last(g);
    CHECK(number(g, n, "num_groups") == 3);
    CHECK(number(g, n, "epsilon") == 0.125);
    CHECK(g.operands(n)[0] == g.x);
    CHECK(contents(g, g.operands(n)[1]) == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(contents(g, g.operands(n)[2]) == std::vector<double>{7, 8, 9, 10, 11, 12});
  }
  SECTION("of primitives, in one axis or more") {
    for (auto const& [to, axes] : {std::pair<integers, integers>{{0, 3, -1}, {2}},
                                   {{0, 3, 2, -1}, {2, 3}},
                                   {{0, 2, 3, 4, 5}, {2, 3, 4}},
                                   {{0, 1, -1, 5}, {-1, -2}}}) {
      normed g(21, {"n", 6, 4, 5});
      auto const y = g.reshaped(g.normalised(g.reshaped(g.x, to), axes), {0, 6, 4, 5});
      CHECK(became(g, g.times(y, g.row())) == "GroupNormalization");
      CHECK(number(g, last(g), "num_groups") == static_cast<double>(to[1]));
    }
  }
  SECTION("a bias alone; by way of other axes") {
    normed g(21, {"n", 6, 4, 5});
    auto const flat = g.add("Flatten", {g.x}, {{"axis", 1}});
    auto const y = g.operation(g.reshaped(flat, {0, 3, 1, -1}), g.ones(3), g.zeros(3));
    CHECK(became(g, g.sum(g.row(), g.reshaped(g.reshaped(y, {-1, 6, 20}), {0, 0, 4, 5}))) == "GroupNormalization");
  }
  SECTION("of doubles") {
    normed g(21, {"n", 6, 4, 5}, element_type::float64);
    auto const y = g.reshaped(g.normalised(g.reshaped(g.x, {0, 3, -1}), {2}), {0, 6, 4, 5});
    CHECK(became(g, g.times(y, g.row())) == "GroupNormalization");
    CHECK(number(g, last(g), "stash_type") == 11);
  }
}

TEST_CASE("where the operator set has no group norm, a function stands in") {
  using enum element_type;
  auto const grouped = [](normed& g) {
    return g.reshaped(g.normalised(g.reshaped(g.x, {0, 3, -1}), {2}), {0, 6, 4, 5});
  };
  for (int version : {13, 17, 18, 20})
    for (auto const& [type, name] : {std::pair{float32, "fuse::GroupNormalization_float32"},
                                     {float16, "fuse::GroupNormalization_float16"},
                                     {float64, "fuse::GroupNormalization_float64"}}) {
      normed g(version, {"n", 6, 4, 5}, type);
      CHECK(became(g, g.times(grouped(g), g.row())) == name);
      CHECK(number(g, last(g), "num_groups") == 3);
    }
  SECTION("and becomes the operator where it has") {
    graph g(21);
    float const ones[] = {1, 1, 1, 1, 1, 1};
    auto const row = g.constant(fuse::make_tensor({6}, fuse::span<float const>(ones)));
    auto const x = g.input("x", float32, {"n", 6, 4, 5});
    g.output(g.add("fuse::GroupNormalization_float32", {x, row, row}, {{"num_groups", 3}, {"epsilon", 0.125}}), "y");
    CHECK(applied<fuse::rules::onnx_functions>(g) == 1);
    CHECK(ops(g) == "GroupNormalization");
    CHECK(number(g, last(g), "num_groups") == 3);
    CHECK(number(g, last(g), "epsilon") == 0.125);
  }
  SECTION("but not for onnxruntime") {
    normed g(17, {"n", 6, 4, 5});
    CHECK(reason(g, g.times(grouped(g), g.row()), "group-norm", fuse::target::onnxruntime) ==
          "onnxruntime expands a group norm: an instance norm and what stands around it are faster");
  }
}

TEST_CASE("groups of single channels are instance norms") {
  SECTION("between Reshapes, for onnxruntime at an older operator set") {
    normed g(17, {"n", 6, 4, 5});
    auto const y = g.sum(g.times(g.grouped({0, 6, -1}, 6), g.row()), g.row());
    CHECK(became(g, y, fuse::target::onnxruntime) == "InstanceNormalization");
    CHECK(contents(g, g.operands(last(g))[2]) == std::vector<double>{1, 2, 3, 4, 5, 6});
  }
  SECTION("where nothing is reshaped") {
    normed g;
    CHECK(became(g, g.times(g.operation(g.x, g.ones(6), g.zeros(6)), g.row())) == "InstanceNormalization");
  }
  SECTION("a layer norm of the last axes") {
    normed g(21, {"n", "c", 4, 5});
    auto const y = g.add("LayerNormalization", {g.x, g.floats({4, 5}, 1, 0)}, {{"axis", 2}});
    CHECK(became(g, g.times(y, g.in("s", {"c", 1, 1}))).find("InstanceNormalization") == std::string::npos);
    normed h(21, {"n", 6, 4, 5});
    auto const z = h.add("LayerNormalization", {h.x, h.floats({4, 5}, 1, 0)}, {{"axis", 2}});
    CHECK(became(h, h.times(z, h.in("s", {6, 1, 1}))) == "Reshape InstanceNormalization");
  }
  SECTION("not with a scale of its own") {
    normed g;
    CHECK(kept_by(g, g.times(g.operation(g.x, g.floats({6}), g.zeros(6)), g.row()), "group-norm",
                  "the norm has no scale of its own"));
    CHECK(ops(g) == "InstanceNormalization Mul");
  }
  SECTION("not of several channels") {
    normed g(11);
    CHECK(kept_by(g, g.times(g.grouped(), g.row()), "scaled-instance-norm", "each group is one channel"));
  }
}

TEST_CASE("where there is no operator for groups, the parts stay") {
  SECTION("below operator set 12") {
    normed g(11);
    CHECK(kept(g, g.times(g.grouped(), g.row()), "group-norm").find("right side") == 0);
  }
  SECTION("for onnxruntime") {
    normed g;
    CHECK(became(g, g.times(g.grouped(), g.row()), fuse::target::onnxruntime) ==
          "Reshape InstanceNormalization Shape Reshape Mul");
  }
  SECTION("a scale of groups is that of an instance norm") {
    normed g(17, {"n", 6, 4, 5});
    auto const y = g.times(g.normalised(g.reshaped(g.x, {0, 3, -1}), {2}), g.floats({3, 1}));
    CHECK(became(g, g.reshaped(y, {0, 6, 4, 5})) == "Reshape InstanceNormalization Reshape");
  }
}

TEST_CASE("what is no group norm") {
  normed g(21, {"n", 6, 4, 5});
  std::string_view const rule = "group-norm";
  auto const of = [&](graph::value rows, std::int64_t count) {
    return g.operation(rows, g.ones(count), g.zeros(count));
  };
  SECTION("a scale of groups") {
    auto const y = g.like(g.operation(g.reshaped(g.x, {0, 3, -1}), g.floats({3}), g.zeros(3)), g.x);
    CHECK(kept_by(g, g.times(y, g.row()), rule, "the norm has no scale of its own"));
  }
  SECTION("a bias of groups") {
    auto const y = g.like(g.operation(g.reshaped(g.x, {0, 3, -1}), g.ones(3), g.ones(3)), g.x);
    CHECK(kept_by(g, g.times(y, g.row()), rule, "the norm has no bias of its own"));
  }
  SECTION("some of the axes of groups") {
    auto const y = g.like(g.normalised(g.reshaped(g.x, {0, 3, 2, -1}), {3}), g.x);
    CHECK(kept_by(g, g.times(y, g.row()), rule, "all axes from that one on"));
  }
  SECTION("groups of parts of channels") {
    auto const y = g.like(of(g.reshaped(g.x, {0, 4, -1}), 4), g.x);
    CHECK(kept_by(g, g.times(y, g.row()), rule, "each group is of as many whole channels"));
  }
  SECTION("groups of the batch") {
    normed four(21, {4, 6, 4, 5});
    auto const y = four.operation(four.reshaped(four.x, {2, 6, -1}), four.ones(6), four.zeros(6));
    CHECK(kept(four, four.times(four.reshaped(y, {4, 6, 4, 5}), four.row()), rule).empty());
    CHECK(ops(four).find("GroupNormalization") == std::string::npos);
  }
  SECTION("back to other axes") {
    auto const y = g.reshaped(of(g.reshaped(g.x, {0, 3, -1}), 3), {0, 6, 5, 4});
    CHECK(kept_by(g, g.times(y, g.row()), rule, "the same shape"));
  }
  SECTION("channels in another order") {
    auto const turned = g.add("Transpose", {g.reshaped(g.x, {0, 2, 3, -1})}, {{"perm", integers{0, 2, 1, 3}}});
    kept(g, g.times(g.like(of(g.reshaped(turned, {0, 3, -1}), 3), g.x), g.row()), rule);
    CHECK(ops(g).find("GroupNormalization") == std::string::npos);
  }
  SECTION("a scale along the last axis") {
    CHECK(kept_by(g, g.times(g.grouped(), g.floats({5})), rule, "along that axis alone"));
  }
  SECTION("a bias of each element") {
    CHECK(kept_by(g, g.sum(g.grouped(), g.floats({6, 4, 5})), rule, "along that axis alone"));
  }
  SECTION("an epsilon that float32 cannot hold") {
    normed wide(21, {"n", 6, 4, 5}, element_type::float64);
    wide.epsilon = 1e-60;
    CHECK(kept_by(wide, wide.times(wide.grouped(), wide.row()), rule, "an epsilon that float32 can hold"));
  }
  SECTION("a norm that others use, too") {
    auto const inner = of(g.reshaped(g.x, {0, 3, -1}), 3);
    g.output(inner, "z");
    CHECK(kept(g, g.times(g.like(inner, g.x), g.row()), rule).empty());
  }
}

TEST_CASE("what a rule of one's own gives norms of channels must fit them") {
  using namespace fuse::dsl;
  static constexpr auto x = var<"x">, s = var<"s">, b = var<"b">;
  static constexpr auto pattern = op<"Max">(tanh(x), s, b);
  static constexpr auto instance = fuse::rule<"own">(pattern).replace(instance_norm(x, s, b).attr<"epsilon">(0.1));
  static constexpr auto negative = fuse::rule<"own">(pattern).replace(instance_norm(x, s, b).attr<"epsilon">(-0.1));
  static constexpr auto three =
      fuse::rule<"own">(pattern).replace(group_norm(x, s, b).attr<"num_groups">(3).attr<"epsilon">(0.1));
  static constexpr auto four =
      fuse::rule<"own">(pattern).replace(group_norm(x, s, b).attr<"num_groups">(4).attr<"epsilon">(0.1));
  auto const why = [&]<auto const & Rule>(graph::dims const& of, graph::dims const& row) {
    sketch g(21);
    g.end(g.add("Max", {g.add("Tanh", {g.in("x", of)}), g.in("s", row), g.in("b", row)}));
    return refusal<Rule>(g);
  };
  CHECK(why.template operator()<instance>({2, 6}, {6}) == "right side");
  CHECK(why.template operator()<instance>({2, 6, 6}, {1}) == "right side");
  CHECK(why.template operator()<instance>({2, 6, 6}, {6, 1}) == "right side");
  CHECK(why.template operator()<instance>({2, "c", 6}, {6}) == "right side");
  CHECK(why.template operator()<negative>({2, 6, 6}, {6}) == "right side");
  CHECK(why.template operator()<four>({2, 6, 6}, {6}) == "right side");
  CHECK(why.template operator()<three>({2, 6, 6}, {1}) == "right side");
}

}  // namespace rules_group_norm
