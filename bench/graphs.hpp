// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>

/// The graphs that are measured. Deterministic.
namespace bench {

using fuse::element_type;

inline fuse::tensor filled(std::vector<std::int64_t> shape, std::size_t elements, float with) {
  std::vector<float> const contents(elements, with);
  return fuse::make_tensor(std::move(shape), fuse::span<float const>(contents));
}
inline fuse::tensor row(float with) { return filled({8}, 8, with); }
inline fuse::tensor square(float with) { return filled({8, 8}, 64, with); }

/// Blocks of 12 nodes: a layer norm as PyTorch writes it, MatMul, Add, and the residual Add.
inline fuse::graph blocks(std::size_t nodes) {
  fuse::graph made(17);
  auto x = made.input("x", element_type::float32, {2, "sequence", 8});
  auto const scale = made.constant(row(1.5f));
  auto const bias = made.constant(row(0.5f));
  auto const weight = made.constant(square(0.25f));
  auto const two = made.scalar(2.0f), epsilon = made.scalar(1e-5f);
  for (std::size_t i = 0; i + 12 <= nodes; i += 12) {
    auto const mean = made.add("ReduceMean", {x}, {{"axes", {-1}}, {"keepdims", 1}});
    auto const centred = made.add("Sub", {x, mean});
    auto const variance = made.add("ReduceMean", {made.add("Pow", {centred, two})}, {{"axes", {-1}}, {"keepdims", 1}});
    auto const root = made.add("Sqrt", {made.add("Add", {variance, epsilon})});
    auto const norm = made.add("Add", {made.add("Mul", {made.add("Div", {centred, root}), scale}), bias});
    x = made.add("Add", {x, made.add("Add", {made.add("MatMul", {norm, weight}), bias})});
  }
  made.output(x, "y");
  return made;
}

/// A chain of additions, as deep as it is large.
inline fuse::graph chain(std::size_t nodes) {
  fuse::graph made(17);
  auto x = made.input("x", element_type::float32, {2, "sequence", 8});
  auto const bias = made.constant(row(0.5f));
  for (std::size_t i = 0; i < nodes; ++i) x = made.add("Add", {x, bias});
  made.output(x, "y");
  return made;
}

/// A DAG of the operators that the generated rules are made of, each reading values of the last 64 nodes; every rule
/// finds its root often and fails at any depth.
inline fuse::graph mixed(std::size_t nodes, std::uint64_t seed = 1) {
  constexpr std::string_view unary[] = {"Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "Erf",  "Log",
                                        "Abs",  "Floor",   "Ceil", "Sin",      "Cos", "Sqrt", "Round"};
  constexpr std::string_view binary[] = {"MatMul", "Mul", "Add", "Min", "Max", "Sub", "Div", "Pow"};
  auto next = [state = seed](std::uint64_t below) mutable {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  fuse::graph made(17);
  auto const x = made.input("x", element_type::float32, {8, 8});
  auto const half = made.scalar(0.5f), three = made.scalar(3.0f);
  std::vector<fuse::graph::value> values{x};
  auto const recent = [&] { return values[values.size() - 1 - next(values.size() < 64 ? values.size() : 64)]; };
  for (std::size_t i = 0; i < nodes; ++i) {
    auto const kind = next(20);
    if (kind < 8)
      values.push_back(made.add(unary[next(14)], {recent()}));
    else if (kind < 18)
      values.push_back(made.add(binary[next(7)], {recent(), recent()}));
    else if (kind < 19)
      values.push_back(made.add("Add", {recent(), half}));
    else
      values.push_back(made.add("Mul", {three, recent()}));
  }
  made.output(values.back(), "y");
  return made;
}

}  // namespace bench
