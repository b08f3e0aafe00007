// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/activations.hpp>

namespace rules_activations {

using namespace rewriting;

namespace {

constexpr double root_of_two = 1.4142135623730951, root_of_two_by_pi = 0.7978845608028654;

/// Activations whose every number and operand can be changed: one test for each condition changes one.
struct activation : sketch {
  explicit activation(int version = 17, element_type of = element_type::float32)
      : sketch(version), type(of), x(in("x", {4, 8}, of)) {}
  element_type type;
  value x;

  value c(double number) { return constant(fuse::make_tensor(type, {}, std::vector<double>{number})); }
  value axes(std::int64_t axis) {
    return constant(fuse::make_tensor<std::int64_t>({1}, std::vector<std::int64_t>{axis}));
  }
  value gated(value of, value curve, double half = 0.5, double one = 1) {
    return add("Mul", {add("Mul", {of, add("Add", {curve, c(one)})}), c(half)});
  }
  value by_erf(value of, double root = root_of_two) { return add("Erf", {add("Div", {of, c(root)})}); }
  value tanh_argument(value of, double exponent = 3, double factor = 0.044715, double root = root_of_two_by_pi) {
    auto const cube = add("Pow", {of, c(exponent)});
    return add("Mul", {add("Add", {of, add("Mul", {cube, c(factor)})}), c(root)});
  }
  value clipped(value of, double least, double most) { return add("Clip", {of, c(least), c(most)}); }
  value total(value of, std::int64_t axis = -1) { return add("ReduceSum", {of, axes(axis)}); }
  value largest(value of, std::int64_t axis = -1) {
    return add("ReduceMax", {of}, {{"axes", std::vector<std::int64_t>{axis}}});
  }
};

/// What is left of the graph with output `y`; each rewrite is checked.
std::string activated(activation& g, fuse::graph::value y, fuse::target target = fuse::target::onnxruntime) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::activations>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  return ops(g);
}

/// Checks that the rules leave the graph with output `y` as it is.
void unchanged(activation& g, fuse::graph::value y) {
  g.end(y);
  auto const before = to_text(g);
  for (auto const target : {fuse::target::standard, fuse::target::onnxruntime}) {
    fuse::rewrite_options options;
    options.target = target;
    auto const report = fuse::rewrite<fuse::rules::activations>(static_cast<graph&>(g), options);
    INFO(to_text(report));
    CHECK(report.applied() == 0);
    CHECK(to_text(g) == before);
  }
}

}  // namespace

TEST_CASE("a GELU by erf is one operator, by target and operator set version") {
  for (auto [version, target, name] : {std::tuple{17, fuse::target::onnxruntime, "com.microsoft::Gelu"},
                                       {17, fuse::target::standard, "fuse::Gelu_float32"},
                                       {20, fuse::target::onnxruntime, "Gelu"},
                                       {20, fuse::target::standard, "Gelu"}}) {
    activation g(version);
    CHECK(activated(g, g.gated(g.x, g.by_erf(g.x)), target) == name);
  }
}

TEST_CASE("a GELU by tanh is one operator, and never the one by erf") {
  for (auto [version, target, name] : {std::tuple{17, fuse::target::onnxruntime, "com.microsoft::FastGelu"},
                                       {17, fuse::target::standard, "fuse::Gelu_tanh_float32"},
                                       {20, fuse::target::standard, "Gelu"}}) {
    activation g(version);
    CHECK(activated(g, g.gated(g.x, g.add("Tanh", {g.tanh_argument(g.x)})), target) == name);
    if (version == 20) CHECK(std::get<std::string>(g.attribute(last(g), "approximate")->content) == "tanh");
    if (target == fuse::target::standard && version == 17) CHECK(g.functions().size() == 1);
  }
}

TEST_CASE("the curves of erf and tanh are not mixed") {
  activation g;
  unchanged(g, g.gated(g.x, g.add("Erf", {g.tanh_argument(g.x)})));
  activation h;
  unchanged(h, h.gated(h.x, h.add("Tanh", {h.add("Div", {h.x, h.c(root_of_two)})})));
}

TEST_CASE("the numbers of a GELU may be written with five digits, and not with three") {
  for (auto const root : {1.4142, 1.41421, 1.41421356}) {
    activation g;
    CHECK(activated(g, g.gated(g.x, g.by_erf(g.x, root))) == "com.microsoft::Gelu");
  }
  for (auto const root : {1.41, 1.5, 1.0, 0.70710678, -1.4142135}) {
    activation g;
    unchanged(g, g.gated(g.x, g.by_erf(g.x, root)));
  }
  activation half, one;
  unchanged(half, half.gated(half.x, half.by_erf(half.x), 0.25));
  unchanged(one, one.gated(one.x, one.by_erf(one.x), 0.5, 1.001));
}

TEST_CASE("in half precision numbers are what the type makes of them, and no others") {
  activation g(17, element_type::float16);
  CHECK(activated(g, g.gated(g.x, g.by_erf(g.x))) == "com.microsoft::Gelu");
  activation tanh(17, element_type::float16);
  CHECK(activated(tanh, tanh.gated(tanh.x, tanh.add("Tanh", {tanh.tanh_argument(tanh.x)}))) ==
        "com.microsoft::FastGelu");
  activation next(17, element_type::float16);  // the half after that
  unchanged(next, next.gated(next.x, next.by_erf(next.x, 1.4160)));
  activation one(17, element_type::float16);
  unchanged(one, one.gated(one.x, one.by_erf(one.x), 0.5, 1 + 0x1p-10));
}

TEST_CASE("the numbers of a GELU by tanh are these") {
  for (auto [exponent, factor, root] : {std::tuple{2.0, 0.044715, root_of_two_by_pi},
                                        {3.0, 0.05, root_of_two_by_pi},
                                        {3.0, 0.044715, 0.8},
                                        {3.0, 0.0447, root_of_two_by_pi}}) {
    activation g;
    unchanged(g, g.gated(g.x, g.add("Tanh", {g.tanh_argument(g.x, exponent, factor, root)})));
  }
}

TEST_CASE("an activation gates what it is computed of") {
  activation g;
  unchanged(g, g.gated(g.in("other"), g.by_erf(g.x)));
  activation s;
  unchanged(s, s.add("Mul", {s.in("other"), s.add("Sigmoid", {s.x})}));
  activation m;
  unchanged(m, m.add("Mul", {m.in("other"), m.add("Tanh", {m.add("Softplus", {m.x})})}));
}

TEST_CASE("numbers that callers give or that lie along an axis are none") {
  activation g;
  auto const root = g.in("root", {});
  unchanged(g, g.gated(g.x, g.add("Erf", {g.add("Div", {g.x, root})})));
  activation s;
  auto const alpha = s.in("alpha", {8});
  unchanged(s, s.add("Mul", {s.x, s.add("Sigmoid", {s.add("Mul", {s.x, alpha})})}));
  activation row;
  auto const numbers =
      row.constant(fuse::make_tensor(element_type::float32, {8}, std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}));
  unchanged(row, row.add("Mul", {row.x, row.add("Sigmoid", {row.add("Mul", {row.x, numbers})})}));
}

TEST_CASE("a number that makes the result larger is none") {
  activation g;
  auto const larger = g.constant(fuse::make_tensor(element_type::float32, {2, 1, 1}, std::vector<double>{0.5, 0.5}));
  unchanged(g, g.add("Mul", {g.add("Mul", {g.x, g.add("Add", {g.by_erf(g.x), g.c(1)})}), larger}));
}

TEST_CASE("x * sigmoid(alpha * x) is one operator, which has its alpha written") {
  for (auto const alpha : {1.0, 1.702, 0.5, -2.0}) {
    activation g;
    auto const scaled = alpha == 1 ? g.x : g.add("Mul", {g.c(alpha), g.x});
    CHECK(activated(g, g.add("Mul", {g.add("Sigmoid", {scaled}), g.x})) == "com.microsoft::QuickGelu");
    CHECK(number(g, last(g), "alpha") == Approx(alpha));
  }
  activation standard(24), function;
  CHECK(activated(standard, standard.add("Mul", {standard.add("Sigmoid", {standard.x}), standard.x}),
                  fuse::target::standard) == "Swish");
  CHECK(activated(function, function.add("Mul", {function.add("Sigmoid", {function.x}), function.x}),
                  fuse::target::standard) == "fuse::Swish_float32");
  CHECK(number(function, last(function), "alpha") == 1);
}

TEST_CASE("the logistic function may be written out") {
  activation g;
  auto const below = g.add("Add", {g.add("Exp", {g.add("Neg", {g.x})}), g.c(1)});
  CHECK(activated(g, g.add("Div", {g.x, below})) == "com.microsoft::QuickGelu");
  activation plus;
  unchanged(plus,
            plus.add("Div", {plus.x, plus.add("Add", {plus.add("Exp", {plus.add("Neg", {plus.x})}), plus.c(2)})}));
}

TEST_CASE("the logistic function's number may have the minus sign, or none") {
  for (auto const number_below : {-1.702, 0.5}) {
    activation g;
    auto const exponential = g.add("Exp", {g.add("Mul", {g.x, g.c(number_below)})});
    CHECK(activated(g, g.add("Div", {g.x, g.add("Add", {g.c(1), exponential})})) == "com.microsoft::QuickGelu");
    CHECK(number(g, last(g), "alpha") == Approx(-number_below));
  }
}

TEST_CASE("Mish is one operator, with a logarithm or Softplus") {
  activation g(18), written(18);
  CHECK(activated(g, g.add("Mul", {g.x, g.add("Tanh", {g.add("Softplus", {g.x})})})) == "Mish");
  auto const plus = written.add("Log", {written.add("Add", {written.c(1), written.add("Exp", {written.x})})});
  CHECK(activated(written, written.add("Mul", {written.x, written.add("Tanh", {plus})})) == "Mish");
}

TEST_CASE("HardSwish is one operator, however its clip is written") {
  auto const three_more = [](activation& g) { return g.add("Add", {g.x, g.c(3)}); };
  activation g, least, most, relu, operators;
  CHECK(activated(g, g.add("Div", {g.add("Mul", {g.x, g.clipped(three_more(g), 0, 6)}), g.c(6)})) == "HardSwish");
  auto const held = least.add("Min", {least.add("Max", {three_more(least), least.c(0)}), least.c(6)});
  CHECK(activated(least, least.add("Mul", {least.x, least.add("Div", {held, least.c(6)})})) == "HardSwish");
  auto const other = most.add("Max", {most.c(0), most.add("Min", {most.c(6), three_more(most)})});
  CHECK(activated(most, most.add("Mul", {other, most.add("Mul", {most.x, most.c(1. / 6)})})) == "HardSwish");
  auto const six = relu.add("Min", {relu.add("Relu", {three_more(relu)}), relu.c(6)});
  CHECK(activated(relu, relu.add("Mul", {relu.x, relu.add("Div", {six, relu.c(6)})})) == "HardSwish");
  auto const gate = operators.add("HardSigmoid", {operators.x}, {{"alpha", 1. / 6}, {"beta", 0.5}});
  CHECK(activated(operators, operators.add("Mul", {gate, operators.x})) == "HardSwish");
}

TEST_CASE("other numbers are no HardSwish") {
  for (auto [shift, least, most, by] : {std::tuple{2.0, 0.0, 6.0, 6.0},
                                        {3.0, 0.5, 6.0, 6.0},
                                        {3.0, 0.0, 5.0, 6.0},
                                        {3.0, -1.0, 6.0, 6.0},
                                        {3.0, 0.0, 6.0, 5.0}}) {
    activation g;
    auto const held = g.clipped(g.add("Add", {g.x, g.c(shift)}), least, most);
    unchanged(g, g.add("Div", {g.add("Mul", {g.x, held}), g.c(by)}));
  }
  activation by_default;  // a slope of 0.2
  unchanged(by_default, by_default.add("Mul", {by_default.x, by_default.add("HardSigmoid", {by_default.x})}));
}

TEST_CASE("exponentials by their sum are one Softmax, with the maximum taken away or not") {
  for (bool const shifted : {true, false}) {
    activation g;
    auto const y = shifted ? g.add("Sub", {g.x, g.largest(g.x)}) : g.x;
    auto const raised = g.add("Exp", {y});
    CHECK(activated(g, g.add("Div", {raised, g.total(raised)})) == "Softmax");
    CHECK(number(g, last(g), "axis") == -1);
  }
}

TEST_CASE("the maximum is taken away above and below, or nowhere") {
  for (bool const above : {true, false}) {
    activation g;
    auto const shifted = g.add("Exp", {g.add("Sub", {g.x, g.largest(g.x)})}), plain = g.add("Exp", {g.x});
    unchanged(g, g.add("Div", {above ? shifted : plain, g.total(above ? plain : shifted)}));
    activation h;
    auto const less = h.add("Sub", {h.x, h.largest(h.x)});
    auto const logarithm = h.add("Log", {h.total(h.add("Exp", {above ? h.x : less}))});
    unchanged(h, h.add("Sub", {above ? less : h.x, logarithm}));
  }
}

TEST_CASE("the two exponentials of a Softmax may be spelled differently, and their maxima computed twice") {
  for (int above = 0; above < 4; ++above)
    for (int below = 0; below < 4; ++below)
      for (bool const twice : {false, true}) {
        activation g;
        auto const one = g.add("ReduceMax", {g.x}, {{"axes", {-1}}});
        auto const other = twice ? g.add("ReduceMax", {g.x}, {{"axes", {-1}}}) : one;
        auto const less = [&](int how, graph::value maximum) {
          switch (how) {
            case 0: return g.add("Sub", {g.x, maximum});
            case 1: return g.add("Add", {g.x, g.add("Neg", {maximum})});
            case 2: return g.add("Add", {g.add("Mul", {maximum, g.c(-1)}), g.x});
            default: return g.add("Neg", {g.add("Sub", {maximum, g.x})});
          }
        };
        auto const raised = g.add("Exp", {less(above, one)});
        CHECK(activated(g, g.add("Div", {raised, g.total(g.add("Exp", {less(below, other)}))})) == "Softmax");
      }
}

TEST_CASE("a Softmax is along the axis of its sum, and along one") {
  activation g;
  auto const raised = g.add("Exp", {g.x});
  CHECK(activated(g, g.add("Div", {raised, g.total(raised, 0)})) == "Softmax");
  CHECK(number(g, last(g), "axis") == -2);
  activation both;
  auto const all = both.add("Exp", {both.x});
  auto const sum = both.add("ReduceSum", {all});
  unchanged(both, both.add("Div", {all, sum}));
  activation other;  // a maximum along another axis is another function's
  auto const less = other.add("Exp", {other.add("Sub", {other.x, other.largest(other.x, 0)})});
  CHECK(activated(other, other.add("Div", {less, other.total(less)})) == "ReduceMax Sub Softmax");
}

TEST_CASE("what is divided by a sum of exponentials is among them") {
  activation g;
  unchanged(g, g.add("Div", {g.add("Exp", {g.in("other")}), g.total(g.add("Exp", {g.x}))}));
  activation mean;
  auto const raised = mean.add("Exp", {mean.x});
  auto const average = mean.add("ReduceMean", {raised}, {{"axes", std::vector<std::int64_t>{-1}}});
  unchanged(mean, mean.add("Div", {raised, average}));
}

TEST_CASE("a LogSoftmax is one operator, from primitives or from a Softmax") {
  activation g, of_softmax, whole, back;
  auto const less = g.add("Sub", {g.x, g.largest(g.x)});
  CHECK(activated(g, g.add("Sub", {less, g.add("Log", {g.total(g.add("Exp", {less}))})})) == "LogSoftmax");
  CHECK(activated(of_softmax, of_softmax.add("Log", {of_softmax.add("Softmax", {of_softmax.x})})) == "LogSoftmax");
  auto const logarithm = whole.add("ReduceLogSumExp", {whole.x}, {{"axes", std::vector<std::int64_t>{-1}}});
  CHECK(activated(whole, whole.add("Sub", {whole.x, logarithm})) == "LogSoftmax");
  auto const m = back.largest(back.x);
  auto const sum = back.total(back.add("Exp", {back.add("Sub", {back.x, m})}));
  CHECK(activated(back, back.add("Sub", {back.x, back.add("Add", {m, back.add("Log", {sum})})})) == "LogSoftmax");
}

TEST_CASE("a GELU takes a row that is added before it, where the target has that") {
  for (bool const by_tanh : {false, true})
    for (auto const target : {fuse::target::onnxruntime, fuse::target::standard}) {
      activation g;
      auto const sum = g.add("Add", {g.in("bias", {8}), g.x});
      auto const curve = by_tanh ? g.add("Tanh", {g.tanh_argument(sum)}) : g.by_erf(sum);
      auto const made = activated(g, g.gated(sum, curve), target);
      if (target == fuse::target::standard)
        CHECK(made == (by_tanh ? "Add fuse::Gelu_tanh_float32" : "Add fuse::Gelu_float32"));
      else
        CHECK(made == (by_tanh ? "com.microsoft::FastGelu" : "com.microsoft::BiasGelu"));
    }
}

TEST_CASE("a bias is one row of the last axis, and the sum has no other user") {
  activation g, used;
  auto const column = g.add("Add", {g.x, g.in("bias", {4, 1})});
  CHECK(activated(g, g.gated(column, g.by_erf(column))) == "Add com.microsoft::Gelu");
  auto const sum = used.add("Add", {used.x, used.in("bias", {8})});
  used.output(used.add("Relu", {sum}), "other");
  CHECK(activated(used, used.gated(sum, used.by_erf(sum))) == "Add Relu com.microsoft::Gelu");
}

TEST_CASE("a GELU by tanh that is an operator takes no bias of one by erf") {
  for (auto const how : {"none", "tanh"}) {
    activation g(20);
    auto const sum = g.add("Add", {g.in("bias", {8}), g.x});
    auto const made = activated(g, g.add("Gelu", {sum}, {{"approximate", std::string(how)}}));
    CHECK(made == (std::string(how) == "tanh" ? "com.microsoft::FastGelu" : "com.microsoft::BiasGelu"));
  }
}

TEST_CASE("what is not of a floating type is no activation") {
  sketch g;
  auto const x = g.in("x", {4, 8}, element_type::int32);
  auto const two = g.constant(fuse::make_tensor<std::int32_t>({}, std::vector<std::int32_t>{1}));
  g.end(g.add("Mul", {x, g.add("Max", {two, x})}));
  CHECK(applied<fuse::rules::activations>(g) == 0);
}

TEST_CASE("a Cast behind a Softmax that narrows stays, whichever rule is looked for first") {
  // Sets of several rules that begin alike try one after the other below what stands above the root.
  for (auto const narrow : {10, 16}) {
    sketch g;
    auto const x = g.in("x", {5, 3});
    auto const e = g.add("Exp", {x});
    auto const sum = g.add("ReduceSum", {e, g.constant({-2})}, {{"keepdims", 1}});
    auto const y = g.add("Div", {g.add("Reciprocal", {sum}), g.add("Reciprocal", {e})});
    g.end(g.add("Cast", {g.add("Cast", {y}, {{"to", narrow}})}, {{"to", 1}}));
    CHECK(applied<fuse::rules::activations>(g) == 1);
    CHECK(ops(g) == "Softmax Cast Cast");
  }
}

}  // namespace rules_activations
