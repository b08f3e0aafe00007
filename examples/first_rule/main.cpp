// SPDX-License-Identifier: BSL-1.0

// The first rule: a formula is found in a graph, however it is spelled there, and becomes one operator.

#include <iostream>

#include <fuse/fuse.hpp>

namespace sample {

using namespace fuse::dsl;

constexpr auto x = var<"x">, scale = var<"scale">, bias = var<"bias">;
constexpr auto epsilon = scalar<"epsilon">;  // a constant with one element
constexpr auto d = x - mean(x);

inline constexpr auto layer_norm =
    fuse::rule<"layer-norm">(d / sqrt(mean(square(d)) + epsilon) * scale + bias)
        .where(trailing_axes<"axes">, row_vector<"scale", "x">, row_vector<"bias", "x">)
        .replace(op<"LayerNormalization">(x, scale, bias).attr<"axis">(param<"axes">).attr<"epsilon">(epsilon));

}  // namespace sample

int main() {
  fuse::graph graph;
  auto const x = graph.input("x", fuse::element_type::float32, {"batch", "length", 768});
  auto const scale = graph.input("scale", fuse::element_type::float32, {768}),
             bias = graph.input("bias", fuse::element_type::float32, {768});
  // Not as the rule is written: x + -mean(x), Pow, the epsilon first, a product with the reciprocal, the bias first.
  auto const mean = graph.add("ReduceMean", {x}, {{"axes", {-1}}});
  auto const d = graph.add("Add", {graph.add("Neg", {mean}), x});
  auto const variance = graph.add("ReduceMean", {graph.add("Pow", {d, graph.scalar(2.0f)})}, {{"axes", {2}}});
  auto const deviation = graph.add("Sqrt", {graph.add("Add", {graph.scalar(1e-5f), variance})});
  auto const normalised = graph.add("Mul", {graph.add("Reciprocal", {deviation}), d});
  graph.output(graph.add("Add", {bias, graph.add("Mul", {normalised, scale})}), "y");
  std::cout << to_text(graph) << '\n';

  auto const report = fuse::rewrite<sample::layer_norm>(graph);
  std::cout << to_text(graph) << '\n' << to_text(report);
}
