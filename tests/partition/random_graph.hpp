// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/graph/graph.hpp>

/// A graph of 2 to 40 nodes of every kind, some of them in bodies of an If; the same for the same seed.
class random_graph {
 public:
  struct kind_of_graph {
    bool bodies = true, outputs_again = true;  // `outputs_again`: the last value may be an output twice
    bool onnx_only = true;                     // Concat, Split and Flatten, which others do not have as they are
    int used_handles = 0;                      // of nodes that are gone
  };
  fuse::graph graph{12};

  explicit random_graph(std::uint64_t seed) : random_graph(seed, kind_of_graph{}) {}
  random_graph(std::uint64_t seed, kind_of_graph of) : state_(seed * 0x9e3779b97f4a7c15u + 1) {
    for (int i = 0; i < of.used_handles; ++i) graph.erase(graph.append("Relu", {fuse::graph::value{}}));
    for (int i = 0; i < 3; ++i) values_.push_back(graph.input("x", fuse::element_type::float32, {4, 4}));
    values_.push_back(graph.scalar(2.f));
    // Of some kinds many, of others few: another mixture for each graph.
    for (auto& weight : weights_) weight = 1 + below(4) * below(4);
    if (!of.bodies) weights_[branch] = 0;
    if (!of.onnx_only) weights_[joined] = weights_[split] = 0;
    unary_ = of.onnx_only ? 4 : 3;
    fill(2 + below(39));
    graph.output(values_.back(), "last");
    for (auto const n : graph.nodes())
      if (below(8) == 0 && (of.outputs_again || graph.result(n) != values_.back()))
        graph.output(graph.result(n), "some");
  }

  std::uint64_t below(std::uint64_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % most;
  }

 private:
  enum kind : std::size_t {
    unary,
    binary,
    layout,
    joined,
    split,
    reduction,
    softmax,
    norm,
    anchor,
    opaque,
    branch,
    kinds
  };

  kind draw() {
    std::uint64_t sum = 0;
    for (auto const weight : weights_) sum += weight;
    auto at = below(sum);
    std::size_t k = 0;
    while (at >= weights_[k]) at -= weights_[k++];
    return static_cast<kind>(k);
  }
  fuse::graph::value recent() {
    auto const reach = values_.size() < 8 || below(6) == 0 ? values_.size() : 8;
    return values_[values_.size() - 1 - below(reach)];
  }
  void fill(std::uint64_t nodes) {
    constexpr std::string_view of_one[] = {"Relu", "Exp", "Neg", "Flatten"}, of_two[] = {"Add", "Mul", "Div"},
                               reduced[] = {"ReduceMax", "ReduceMean"}, of_norms[] = {"LogSoftmax", "LpNormalization"};
    for (std::uint64_t i = 0; i < nodes; ++i) {
      auto const k = draw();
      switch (k) {
        case unary: values_.push_back(graph.add(of_one[below(unary_)], {recent()})); break;
        case binary: values_.push_back(graph.add(of_two[below(3)], {recent(), recent()})); break;
        case layout: values_.push_back(graph.add("Transpose", {recent()})); break;
        case joined: values_.push_back(graph.add("Concat", {recent(), recent()}, {{"axis", 0}})); break;
        case split: {
          auto const n = graph.append("Split", {recent()}, {{"axis", 0}}, 2);
          for (auto const v : graph.results(n)) values_.push_back(v);
          break;
        }
        case reduction:
          values_.push_back(
              graph.add(reduced[below(2)], {recent()}, {{"axes", {below(4) == 0 ? 0 : -1}}, {"keepdims", 1}}));
          break;
        case softmax: values_.push_back(graph.add("Softmax", {recent()}, {{"axis", 1}})); break;
        case norm: values_.push_back(graph.add(of_norms[below(2)], {recent()}, {{"axis", 1}})); break;
        case anchor: values_.push_back(graph.add("MatMul", {recent(), recent()})); break;
        case branch:
          if (depth_ < 2) {
            add_branch();
            break;
          }
          [[fallthrough]];
        case opaque:
        case kinds: values_.push_back(graph.add("my::Op", {recent(), recent()})); break;
      }
    }
  }
  void add_branch() {
    auto const owner = graph.append("If", {recent()});
    auto const around = body_;
    auto const seen = values_.size();
    body_ = graph.add_body(owner, "then");
    graph.append_to(body_);
    ++depth_;
    fill(1 + below(6));
    graph.output(values_.back());
    --depth_;
    values_.resize(seen);
    body_ = around;
    graph.append_to(body_);
    values_.push_back(graph.result(owner));
  }

  std::uint64_t state_;
  std::uint64_t weights_[kinds]{};
  std::uint64_t unary_ = 0;  // operators of one operand
  std::vector<fuse::graph::value> values_;
  fuse::graph::body body_{};
  int depth_ = 0;
};
