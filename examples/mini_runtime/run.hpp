// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mini {

/// What is computed at once: a node, or nodes that are one.
struct step {
  std::vector<value*> operands{}, results{};
  std::function<tensors(tensors const&)> run{};
  std::string op{};  // for whoever reads a message
  bool is_product = false;
  bool is_of_shapes = false;        // its results depend on nothing but the shapes of the inputs
  std::vector<value*> read_last{};  // no later step reads them
  double seconds = 0;               // that all runs took
  double bytes = 0;                 // that the last run read and wrote
};

/// What a run computes, in order.
struct program {
  std::vector<step> steps{};
  std::vector<shape> shapes{};  // of the inputs of the last run: what depends on these alone is still there

  /// Takes steps that are complete but for what the others say of them.
  program(graph const& g, std::vector<step> all);
};

/// The step of one node. Throws std::runtime_error where its operator is not among those of this runtime.
[[nodiscard]] step step_of(node const& n);

/// A step for each node; the same errors.
[[nodiscard]] program program_of(graph const& g);

/// The outputs for the inputs by name. Throws std::runtime_error where operands do not fit their operator.
tensors run(graph& g, program& of, std::unordered_map<std::string, tensor> const& inputs);

/// The results of a step from what its operands hold, into these. The same errors.
void run(step& one);

[[nodiscard]] tensor contents(value const* v);

}  // namespace mini
