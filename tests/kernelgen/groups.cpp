// SPDX-License-Identifier: BSL-1.0
#include <fuse/run_group.hpp>

#include <fuse/eval/graph.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/partition.hpp>

#include <sampled.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Groups that are known at run time only: what they compute is compared with the evaluator, in double precision.
namespace groups {
using fuse::element_type;
using fuse::graph;
using fuse::tensor;
using fuse::tensor_view;
using shape = std::vector<std::int64_t>;

/// A graph that may be one group: elementwise operators, broadcasts, reductions of the last axes, and what moves
/// elements, before, between and behind them. The same for the same seed.
class random_group {
 public:
  graph made{20};
  std::vector<tensor> inputs;

  explicit random_group(std::uint32_t seed) : random_(seed) {
    type_ = below(5) == 0 ? element_type::float16 : element_type::float32;
    auto const rank = 1 + below(4);
    for (std::size_t i = 0; i < rank; ++i) base_.push_back(below(5) == 0 ? 1 : 2 + static_cast<std::int64_t>(below(4)));
    if (below(3) == 0) base_.back() = static_cast<std::int64_t>(below(2) == 0 ? 17 + below(60) : 1000 + below(1500));
    reduced_ = 1 + below(rank);
    has_reductions_ = below(3) != 0;
    for (auto count = 1 + below(3); count != 0; --count) values_.push_back(input());
    for (auto count = 1 + below(12); count != 0; --count) values_.push_back(next());
    auto last = values_.back();
    if (!has_reductions_ && below(4) == 0) last = moved(last, base_);
    last = made.add("Add", {last, made.constant(type_of_scalar(0.5f))});
    bool const is_alone = below(4) != 0;
    if (has_reductions_ || !is_alone) last = full(last);
    if (has_reductions_ && below(4) == 0) last = made.add("ReduceMean", {last, list(last_axes())});
    made.output(last, "last");
    if (!is_alone)
      made.output(full(values_[values_.size() - 1 - below(std::min<std::size_t>(values_.size(), 3))]), "more");
  }

 private:
  using value = graph::value;

  std::size_t below(std::size_t most) { return random_() % most; }
  [[nodiscard]] tensor type_of_scalar(float number) const { return fuse::make_tensor(type_, {}, {{double{number}}}); }
  [[nodiscard]] static std::size_t count(shape const& of) {
    std::size_t all = 1;
    for (auto const extent : of) all *= static_cast<std::size_t>(extent);
    return all;
  }
  value given(shape of) {
    std::vector<double> numbers(count(of));
    std::normal_distribution<double> around(0, 1);
    for (auto& each : numbers) each = around(random_);
    inputs.push_back(fuse::make_tensor(type_, of, numbers));
    return made.input("x" + std::to_string(inputs.size()), type_, fuse::graph::dims(of.begin(), of.end()));
  }
  value list(shape const& elements) {
    return made.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(elements.size())}, elements));
  }

  // One that broadcasts to the base, one that is moved to it, or of all of it.
  value input() {
    auto of = base_;
    switch (below(6)) {
      case 0: {
        for (auto& extent : of) extent = below(2) == 0 ? 1 : extent;
        return given(of);
      }
      case 1: return given({of.begin() + static_cast<std::ptrdiff_t>(below(of.size())), of.end()});
      case 2: return moved_to_base();
      case 3: return made.add("Expand", {given(shape(of.size(), 1)), list(of)});
      default: return given(of);
    }
  }
  value moved_to_base() {
    auto const rank = base_.size();
    shape order(rank), of(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t i = 0; i < rank; ++i) of[static_cast<std::size_t>(order[i])] = base_[i];
    switch (below(4)) {
      case 0: return made.add("Reshape", {given({static_cast<std::int64_t>(count(base_))}), list(base_)});
      case 1: {
        of = base_;
        of[0] += 2;
        return made.add("Slice", {given(of), list({1}), list({base_[0] + 1}), list({0})});
      }
      case 2: {
        // Merged axes, which the next operator cuts elsewhere.
        auto const turned = made.add("Transpose", {given(of)}, {{"perm", order}});
        return made.add("Relu", {turned});
      }
      default: return made.add("Transpose", {given(of)}, {{"perm", order}});
    }
  }
  // Elsewhere, through an operator, and back.
  value moved(value v, shape const& of) {
    auto const rank = static_cast<std::int64_t>(of.size());
    shape order;
    for (std::int64_t i = rank; i-- > 0;) order.push_back(i);
    v = full(v);
    if (below(2) == 0) {
      v = made.add("Tanh", {made.add("Transpose", {v}, {{"perm", order}})});
      return made.add("Transpose", {v}, {{"perm", order}});
    }
    v = made.add("Abs", {made.add("Reshape", {v, list({-1})})});
    return made.add("Reshape", {v, list(of)});
  }
  // In the shape of the base.
  value full(value v) { return made.add("Expand", {v, list(base_)}); }

  value next() {
    static constexpr std::string_view of_one[] = {"Relu", "Exp", "Neg",      "Tanh",      "Sigmoid",
                                                  "Erf",  "Abs", "Softplus", "HardSwish", "Identity",
                                                  "Sin",  "Cos", "Gelu",     "Mish"},
                                      stepped[] = {"Floor", "Ceil", "Round", "Sign"},  // of what is exact
        of_two[] = {"Add", "Sub", "Mul", "Min", "Max"},
                                      reduction[] = {"ReduceMean",      "ReduceSum", "ReduceMax", "ReduceMin",
                                                     "ReduceSumSquare", "ReduceL2",  "ReduceL1",  "ReduceLogSumExp"};
    auto const v = values_[values_.size() - 1 - below(std::min<std::size_t>(values_.size(), 4))];
    auto const w = values_[below(values_.size())];
    auto const bounded = [&](value of) { return made.add("Tanh", {of}); };
    switch (below(has_reductions_ ? 10 : 6)) {
      case 0:
        if (below(2) == 0) return made.add("Where", {condition(2), v, w});
        [[fallthrough]];
      case 1: return made.add(of_one[below(std::size(of_one))], {bounded(v)});
      case 2:
      case 3: return made.add(of_two[below(std::size(of_two))], {v, w});
      case 4:
        switch (below(6)) {
          case 5: return made.add(stepped[below(std::size(stepped))], {values_[0]});
          case 0: return made.add("Div", {v, made.add("Exp", {bounded(w)})});
          case 1: return made.add("Pow", {bounded(v), made.constant(type_of_scalar(static_cast<float>(1 + below(4))))});
          case 2: return made.add("Sqrt", {made.add("Exp", {bounded(v)})});
          case 3:
            return made.add("Clip", {v, made.constant(type_of_scalar(-0.5f)), made.constant(type_of_scalar(0.7f))});
          default: return made.add("Sum", {v, w, values_[0]});
        }
      case 5: return below(3) == 0 ? moved(v, base_) : made.add("LeakyRelu", {v}, {{"alpha", 0.2f}});
      case 6: {
        shape axes;
        for (std::size_t i = 0; i < reduced_; ++i) axes.push_back(-1 - static_cast<std::int64_t>(i));
        auto const op = reduction[below(std::size(reduction))];
        if (below(3) != 0) return made.add(op, {full(bounded(v)), list(axes)});
        auto const dropped = made.add(op, {full(bounded(v)), list(axes)}, {{"keepdims", 0}});
        return made.add("Unsqueeze", {dropped, list(axes)});
      }
      case 7: {
        auto const x = full(bounded(v));
        return made.add("Sub", {x, made.add("ReduceMean", {x, list(last_axes())})});
      }
      default:
        if (reduced_ == 1 && below(2) == 0)
          return made.add(below(2) == 0 ? "Softmax" : "LogSoftmax", {full(v)}, {{"axis", -1}});
        return made.add("LayerNormalization",
                        {full(v), given({base_.end() - static_cast<std::ptrdiff_t>(reduced_), base_.end()})},
                        {{"axis", -static_cast<std::int64_t>(reduced_)}, {"epsilon", 0.01f}});
    }
  }
  // Of what is exact: a number on the other side of a bound would be another result.
  value condition(std::size_t deepest) {
    static constexpr std::string_view compares[] = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"},
                                      joins[] = {"And", "Or", "Xor"};
    switch (below(deepest == 0 ? 4 : 6)) {
      case 0:
        return made.add("Cast", {made.add("Relu", {values_[0]})}, {{"to", static_cast<int>(element_type::boolean)}});
      case 1: {
        std::vector<double> all(count(base_));
        for (auto& each : all) each = static_cast<double>(below(2));
        inputs.push_back(fuse::make_tensor(element_type::boolean, base_, all));
        return made.input("x" + std::to_string(inputs.size()), element_type::boolean,
                          fuse::graph::dims(base_.begin(), base_.end()));
      }
      case 2: {
        std::vector<std::int64_t> all(static_cast<std::size_t>(base_.back()));
        for (auto& each : all) each = static_cast<std::int64_t>(below(4)) - 1;
        inputs.push_back(fuse::make_tensor<std::int64_t>({base_.back()}, all));
        auto const whole = made.input("x" + std::to_string(inputs.size()), element_type::int64, {base_.back()});
        auto const number = made.add("Cast", {whole}, {{"to", static_cast<int>(type_)}});
        return made.add(compares[below(std::size(compares))], {number, made.constant(type_of_scalar(1))});
      }
      case 4: return made.add("Not", {condition(deepest - 1)});
      case 5: return made.add(joins[below(std::size(joins))], {condition(deepest - 1), condition(deepest - 1)});
      default:
        if (below(6) == 0) return made.add("IsNaN", {values_[0]});
        return made.add(compares[below(std::size(compares))], {values_[0], made.constant(type_of_scalar(0.25f))});
    }
  }
  [[nodiscard]] shape last_axes() const {
    shape axes;
    for (std::size_t i = 0; i < reduced_; ++i) axes.push_back(-1 - static_cast<std::int64_t>(i));
    return axes;
  }

  std::mt19937 random_;
  element_type type_;
  shape base_;
  std::size_t reduced_;
  bool has_reductions_;
  std::vector<value> values_;
};

/// All nodes of a graph as one group.
fuse::fusion_group<graph> whole(graph const& g) {
  fuse::fusion_group<graph> group;
  for (auto const n : g.nodes()) {
    for (auto const v : g.operands(n))
      if (v != graph::value{} && g.producer(v) == graph::node{} &&
          std::find(group.inputs.begin(), group.inputs.end(), v) == group.inputs.end())
        group.inputs.push_back(v);
    group.nodes.push_back(n);
  }
  for (auto const v : g.outputs()) group.outputs.push_back(v);
  return group;
}

class evaluated {
 public:
  fuse::graph_binding<graph const> bound;
  fuse::detail::facts known;
  fuse::detail::graph_evaluation<fuse::graph_image, fuse::detail::facts> values;

  evaluated(graph const& g, std::vector<tensor> const& inputs)
      : bound(g, fuse::names_in(fuse::dialect_of<graph>), fuse::dialect_of<graph>.newest),
        known(bound.image, fuse::dialect_of<graph>),
        values(bound.image, known, fuse::dialect_of<graph>) {
    known.run();
    std::size_t at = 0;
    for (auto const v : g.inputs()) values.give(bound.number(v), fuse::dense::of(inputs[at++]));
    values.run();
  }
  [[nodiscard]] fuse::dense const& of(graph::value v) {
    auto const* found = values.value(bound.number(v));
    INFO(values.reason);
    REQUIRE(found != nullptr);
    return *found;
  }
  struct held_inputs {
    std::vector<tensor> held;
    std::vector<tensor_view> views;
  };
  [[nodiscard]] held_inputs inputs_of(fuse::fusion_group<graph> const& group) {
    held_inputs made;
    for (auto const v : group.inputs) made.held.push_back(rounded(v));
    made.views.assign(made.held.begin(), made.held.end());
    return made;
  }

 private:
  [[nodiscard]] tensor rounded(graph::value v) {
    auto const& held = of(v);
    if (held.whole() && known.type(bound.number(v)) == element_type::boolean)
      return fuse::make_tensor(element_type::boolean, held.shape,
                               std::vector<double>(held.integers.begin(), held.integers.end()));
    if (held.whole()) return fuse::make_tensor<std::int64_t>(held.shape, held.integers);
    return fuse::make_tensor(known.type(bound.number(v)), held.shape, held.elements);
  }
};

/// The largest distance, in units of the larger of 1 and the element.
double distance(std::vector<std::byte> const& bytes, fuse::group_output const& is, fuse::dense const& expected) {
  tensor_view const found{is.type, is.shape, bytes};
  REQUIRE(is.shape == expected.shape);
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double const far = std::abs(found.number(i) - expected.elements[i]) / std::max(1.0, std::abs(expected.elements[i]));
    if (!(far <= worst)) worst = std::isnan(far) && std::isnan(expected.elements[i]) ? worst : far;
  }
  return worst;
}

template <class How>
void check(fuse::group_kernel& kernel, fuse::fusion_group<graph> const& group, evaluated& judge, How how) {
  auto const inputs = judge.inputs_of(group);
  bool const ready = kernel.prepare(inputs.views);
  INFO(kernel.refusal());
  REQUIRE(ready);
  std::vector<std::vector<std::byte>> memory;
  std::vector<fuse::span<std::byte>> outputs;
  for (auto const& each : kernel.outputs()) memory.emplace_back(each.bytes, std::byte{0x55});
  for (auto& each : memory) outputs.emplace_back(each.data(), each.size());
  REQUIRE(kernel.run(inputs.views, outputs, how));
  for (std::size_t i = 0; i < memory.size(); ++i) {
    auto const& is = kernel.outputs()[i];
    CHECK(distance(memory[i], is, judge.of(group.outputs[i])) < (is.type == element_type::float16 ? 2e-3 : 2e-5));
  }
}

// Divides into as many ranges, the last first.
struct ranges {
  std::size_t count;

  template <class Body>
  void operator()(std::size_t rows, std::size_t, Body const& body) const {
    for (std::size_t i = count; i-- > 0;) body(rows * i / count, rows * (i + 1) / count);
  }
};

TEST_CASE("Groups: random graphs as one group") {
  for (std::uint32_t seed = 1; seed <= 3000 / one_case_in; ++seed) {
    random_group const sample(seed);
    INFO("seed " << seed << "\n" << fuse::to_text(sample.made));
    auto const group = whole(sample.made);
    evaluated judge(sample.made, sample.inputs);
    auto kernels = fuse::group_kernels(sample.made, std::vector{group});
    ranges const executor{3};
    check(kernels[0], group, judge, fuse::kernels::on(executor));
  }
}

// Of what a partition makes of a graph, most is computed, and all that is so is right.
TEST_CASE("Groups: as a partition makes them, on every target") {
  std::size_t computed = 0, all = 0;
  for (auto const name : fuse::kernels::target_names()) {
    REQUIRE(fuse::kernels::use_target(name));
    for (std::uint32_t seed = 1; seed <= 300 / one_case_in; ++seed) {
      random_group const sample(5000 + seed);
      INFO(name << ", seed " << 5000 + seed << "\n" << fuse::to_text(sample.made));
      evaluated judge(sample.made, sample.inputs);
      auto const groups = fuse::partition(sample.made).groups;
      auto kernels = fuse::group_kernels(sample.made, groups);
      for (std::size_t i = 0; i < groups.size(); ++i, ++all) {
        auto const inputs = judge.inputs_of(groups[i]);
        if (!kernels[i].prepare(inputs.views)) continue;
        ++computed;
        check(kernels[i], groups[i], judge, fuse::kernels::on<>());
      }
    }
  }
  REQUIRE(fuse::kernels::use_target(fuse::kernels::target_names().front()));
  CHECK(computed > all * 9 / 10);
}

TEST_CASE("Groups: of nodes that rows compute, they are refused as a whole alone") {
  std::size_t computed = 0, all = 0;
  for (std::uint32_t seed = 1; seed <= 500 / one_case_in; ++seed) {
    random_group sample(9000 + seed);
    auto& g = sample.made;
    // What no row computes stands between: Concat, a Cast to whole numbers, their sum.
    auto const last = g.outputs()[0];
    if (sample.inputs[0].type != element_type::float32) continue;
    auto const joined = g.add("Concat", {last, g.add("Relu", {last})}, {{"axis", 0}});
    auto const chosen = g.add("Where", {g.add("Less", {joined, g.scalar(0.f)}), g.add("Neg", {joined}), joined});
    auto const high = g.add("Less", {g.constant(fuse::make_tensor<float>({}, {{0.25f}})), g.inputs()[0]});
    auto const whole_numbers = g.add("Cast", {high}, {{"to", static_cast<int>(element_type::int64)}});
    g.output(g.add("Sqrt", {g.add("Abs", {chosen})}), "root");
    g.output(g.add("Neg", {g.add("Add", {whole_numbers, whole_numbers})}), "twice");
    INFO("seed " << 9000 + seed << "\n" << fuse::to_text(g));
    evaluated judge(g, sample.inputs);
    fuse::row_nodes<graph> rows(g);
    auto const groups = fuse::partition(g, rows.options()).groups;
    auto kernels = fuse::group_kernels(g, groups);
    for (std::size_t i = 0; i < groups.size(); ++i, ++all) {
      if (kernels[i].prepare(judge.inputs_of(groups[i]).views)) {
        ++computed;
        check(kernels[i], groups[i], judge, fuse::kernels::on<>());
      } else {
        auto const& why = kernels[i].refusal();
        INFO(why);
        CHECK((why.find("other rows") != std::string::npos || why.find("gives out at most") != std::string::npos));
      }
    }
  }
  CHECK(all >= 500 / one_case_in);
  CHECK(computed > all * 9 / 10);
}

TEST_CASE("Groups: which nodes rows compute, told before shapes are known") {
  graph g{18};
  auto const x = g.input("x", element_type::float32, {"batch", "heads", 7, 8});
  auto const ids = g.input("ids", element_type::int64, {"length"});
  auto const wide = g.input("wide", element_type::float64, {"batch", 8});
  auto const mask = g.input("mask", element_type::boolean, {"length"});
  auto const unknown = g.input("unknown");
  auto const over = [&](graph::value v, std::vector<std::int64_t> axes) {
    return g.add("ReduceMean",
                 {v, g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes))});
  };
  auto const known = g.constant(fuse::make_tensor<std::int64_t>({2}, std::vector<std::int64_t>{1, 3}));
  std::vector<std::pair<graph::value, bool>> const expected{
      {g.add("Exp", {x}), true},
      {g.add("Add", {x, unknown}), true},
      {g.add("Transpose", {x}), true},
      {g.add("Softmax", {x}, {{"axis", -1}}), true},
      {g.add("Softmax", {x}, {{"axis", 1}}), false},
      {over(x, {-1}), true},
      {over(x, {2, 3}), true},
      {over(x, {2}), false},
      {over(unknown, {-1}), false},  // of nobody knows which axis
      {g.add("MatMul", {x, x}), false},
      {g.add("Concat", {x, x}, {{"axis", 0}}), false},
      {g.add("Gather", {x, known}), true},
      {g.add("Gather", {x, ids}), false},
      {g.add("Pow", {x, g.scalar(2.f)}), true},
      {g.add("Pow", {x, g.scalar(0.3f)}), false},
      {g.add("Pow", {x, x}), false},
      {g.add("Mul", {ids, ids}), false},
      {g.add("Cast", {ids}, {{"to", 1}}), true},
      {g.add("Cast", {wide}, {{"to", 1}}), false},
      {g.add("Cast", {x}, {{"to", 7}}), false},
      {g.add("Cast", {x}, {{"to", 10}}), true},
      {g.add("Neg", {wide}), false},
      {g.add("Less", {x, x}), true},
      {g.add("Less", {ids, ids}), false},
      {g.add("Where", {g.add("Equal", {ids, ids}), x, x}), true},
      {g.add("Where", {mask, ids, ids}), false},
      {g.add("Shape", {x}), false},
      {g.add("Unheard", {x}), false},
  };
  for (auto const& [v, is_row] : expected) g.output(v, "y" + std::to_string(g.outputs().size()));
  fuse::row_nodes<graph> const rows(g);
  for (auto const& [v, is_row] : expected) {
    INFO(g.name(v));
    CHECK(rows.has(g.producer(v)) == is_row);
  }
}

/// x[4, 6] and y[4, 6], and what a function makes of them; all of it is the group.
struct small_group {
  graph made{18};
  std::vector<float> x = std::vector<float>(24, 2.f), y = std::vector<float>(24, 3.f), z = std::vector<float>(24);
  shape of{4, 6};

  template <class Make>
  explicit small_group(Make const& make) {
    auto const first = made.input("x", element_type::float32, {4, 6}), second = made.input("y");
    made.output(make(made, first, second), "z");
  }
  [[nodiscard]] tensor_view view(std::vector<float> const& from) const {
    return {element_type::float32, of, std::as_bytes(std::span(from))};
  }
  [[nodiscard]] fuse::fusion_group<graph> group() const {
    auto made_of = whole(made);
    made_of.inputs.assign(made.inputs().begin(), made.inputs().end());
    return made_of;
  }
  std::string run() {
    tensor_view const inputs[] = {view(x), view(y)};
    fuse::span<std::byte> const outputs[] = {std::as_writable_bytes(std::span(z))};
    return fuse::run_group(made, group(), inputs, outputs);
  }
};
using value = graph::value;

TEST_CASE("Groups: what cannot be computed says why") {
  auto const refusal = [](auto const& make) { return small_group(make).run(); };
  CHECK(refusal([](graph& g, value a, value b) { return g.add("Add", {a, b}); }).empty());
  CHECK(refusal([](graph& g, value a, value b) {
          return g.add("MatMul", {a, g.add("Transpose", {b})});
        }) == "no row is computed by operator MatMul (z)");
  CHECK(refusal([](graph& g, value a, value) { return g.add("Unheard", {a}); }) ==
        "the shape of the result of Unheard is not known");
  CHECK(refusal([](graph& g, value a, value b) {
          return g.add("Add", {g.add("ReduceMean", {a, g.constant({0})}), g.add("ReduceMean", {b, g.constant({1})})});
        }) == "operator ReduceMean (%3) reduces other axes than the last ones");
  CHECK(refusal([](graph& g, value a, value b) {
          return g.add("Pow", {a, b});
        }) == "no row is computed by operator Pow (z), whose exponent is no constant");
  CHECK(refusal([](graph& g, value a, value) {
          return g.add("Pow", {a, g.scalar(0.3f)});
        }) == "no row is computed by operator Pow (z), whose exponent is no whole number up to 16, and no half");
  CHECK(refusal([](graph& g, value a, value) {
          return g.add("Cast", {a}, {{"to", static_cast<int>(element_type::int64)}});
        }) == "rows are of float32, float16, bfloat16 or bool; operator Cast (z) makes int64");
  CHECK(refusal([](graph& g, value a, value b) {
          return g.add("Concat", {a, b}, {{"axis", 0}});
        }) == "no row is computed by operator Concat (z)");
}

TEST_CASE("Groups: arguments that do not fit are told, and nothing is written") {
  small_group sample([](graph& g, value a, value b) { return g.add("Mul", {a, b}); });
  auto kernel = std::move(fuse::group_kernels(sample.made, std::vector{sample.group()})[0]);
  tensor_view const x = sample.view(sample.x), y = sample.view(sample.y);
  auto const bytes = std::as_writable_bytes(std::span(sample.z));
  fuse::span<std::byte> const z(bytes.data(), bytes.size());
  auto const refusal = [&](std::vector<tensor_view> const& inputs, std::vector<fuse::span<std::byte>> const& outputs) {
    CHECK(!kernel.run(inputs, outputs));
    CHECK(sample.z == std::vector<float>(24));
    return kernel.refusal();
  };
  CHECK(refusal({x}, {z}) == "a group has 2 inputs, 1 came");
  CHECK(refusal({x, y}, {}) == "a group has 1 outputs, 0 came");
  CHECK(refusal({x, y}, {z.first(8)}) == "output 0 has 8 bytes, expected 96");
  CHECK(refusal({{x.type, x.shape, x.bytes.first(12)}, y}, {z}) == "input 0 has 12 bytes, its type and shape say 96");
  std::vector<std::byte> const odd(98);
  auto const* const between = reinterpret_cast<std::uintptr_t>(odd.data()) % 4 == 0 ? odd.data() + 1 : odd.data();
  CHECK(refusal({x, {x.type, x.shape, {between, 96}}}, {z}) == "y lies at an address that does not suit its elements");
  shape const other{5, 6};
  std::vector<float> const more(30);
  CHECK(refusal({x, {x.type, other, std::as_bytes(std::span(more))}}, {z}) ==
        "the shape of the result of Mul is not known");
  CHECK(refusal({x, {x.type, x.shape, {z.data(), z.size()}}}, {z}) == "output 0 shares memory with input 1");
  // And again as it should be.
  CHECK(kernel.run(std::vector{x, y}, std::vector{z}));
  CHECK(sample.z == std::vector<float>(24, 6.f));
}

TEST_CASE("Groups: masks are read as they are, and conditions given out") {
  graph g{18};
  auto const x = g.input("x", element_type::float32, {10, 13}), mask = g.input("mask", element_type::boolean, {10, 13});
  auto const no = g.add("Not", {mask});
  g.output(g.add("Where", {no, x, g.scalar(-1.f)}), "kept");
  g.output(g.add("And", {no, g.add("Greater", {x, g.scalar(0.f)})}), "high");
  auto group = whole(g);
  group.inputs = {mask, x};
  auto kernel = std::move(fuse::group_kernels(g, std::vector{group})[0]);
  shape const of{10, 13};
  std::vector<float> numbers(130), kept(130);
  std::vector<std::uint8_t> masked(130), high(130, 7);
  auto const floats = std::as_writable_bytes(std::span(kept)), bools = std::as_writable_bytes(std::span(high));
  fuse::span<std::byte> const outputs[] = {{floats.data(), floats.size()}, {bools.data(), bools.size()}};
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 130; ++i) numbers[i] = static_cast<float>(i % 7) - 3, masked[i] = (i + round) % 3 == 0;
    tensor_view const inputs[] = {{element_type::boolean, of, std::as_bytes(std::span(masked))},
                                  {element_type::float32, of, std::as_bytes(std::span(numbers))}};
    bool const done = kernel.run(inputs, outputs);
    INFO(kernel.refusal());
    REQUIRE(done);
    CHECK(kernel.outputs()[1].type == element_type::boolean);
    for (std::size_t i = 0; i < 130; ++i) {
      CHECK(kept[i] == (masked[i] == 0 ? numbers[i] : -1.f));
      CHECK(high[i] == (masked[i] == 0 && numbers[i] > 0));
    }
  }
}

TEST_CASE("Groups: a caller's numbers count where they may override those of the graph") {
  graph g{18};
  shape const of{3};
  std::vector<float> const held(3, 2.f), given(3, 5.f);
  auto const x = g.input("x", fuse::make_tensor<float>(of, held));
  auto const fixed = g.constant(fuse::make_tensor<float>(of, held));
  g.output(g.add("Mul", {x, fixed}), "y");
  tensor_view const input{element_type::float32, of, std::as_bytes(std::span(given))};
  std::vector<float> y(3);
  auto const bytes = std::as_writable_bytes(std::span(y));
  fuse::span<std::byte> const outputs[] = {{bytes.data(), bytes.size()}};
  fuse::fusion_group<graph> group = whole(g);
  group.inputs = {x};
  CHECK(fuse::run_group(g, group, std::vector{input}, outputs) == "");
  CHECK(y == std::vector<float>(3, 10.f));
  // An input may be listed twice.
  group.inputs = {x, x};
  CHECK(fuse::run_group(g, group, std::vector{input, input}, outputs) == "");
  group.inputs = {};
  CHECK(fuse::run_group(g, group, std::vector<tensor_view>(), outputs) ==
        "x is read, and is neither an input of the group nor a constant");
  group.inputs = {x};
  group.outputs = {g.input("z")};
  CHECK(fuse::run_group(g, group, std::vector{input}, outputs) == "z is given out, and no node of the group makes it");
}

TEST_CASE("Groups: shapes may change from call to call, and so may what a parameter holds") {
  graph g{18};
  auto const x = g.input("x"), to = g.input("to", element_type::int64);
  g.output(g.add("Exp", {g.add("Reshape", {g.add("Neg", {x}), to})}), "y");
  auto kernel = std::move(fuse::group_kernels(g, std::vector{whole(g)})[0]);
  std::vector<float> const numbers(12, 0.f);
  std::vector<float> made(12);
  auto const bytes = std::as_writable_bytes(std::span(made));
  for (auto const& [from, shape_to] :
       {std::pair<shape, shape>{{3, 4}, {2, 6}}, {{3, 4}, {12}}, {{12}, {12}}, {{12}, {4, 3}}}) {
    shape const of{static_cast<std::int64_t>(shape_to.size())};
    tensor_view const inputs[] = {{element_type::float32, from, std::as_bytes(std::span(numbers))},
                                  {element_type::int64, of, std::as_bytes(std::span(shape_to))}};
    REQUIRE(kernel.prepare(inputs));
    CHECK(kernel.outputs()[0].shape == shape_to);
    std::fill(made.begin(), made.end(), 0.f);
    fuse::span<std::byte> const outputs[] = {{bytes.data(), bytes.size()}};
    CHECK(kernel.run(inputs, outputs));
    CHECK(made == std::vector<float>(12, 1.f));
  }
}

}  // namespace groups
