// SPDX-License-Identifier: BSL-1.0
#pragma once

// TorchScript carries no shapes of its own, and those of a traced graph are one run's. Who rewrites says what the
// inputs are; libtorch's own passes tell the rest.

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/shape_analysis.h>
#include <torch/csrc/jit/passes/symbolic_shape_analysis.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace torchscript {

/// Makes the tensors among the graph's inputs float tensors of these extents, in their order, and what follows from
/// them known, in place of whatever the graph said before.
inline void give_shapes(std::shared_ptr<torch::jit::Graph> graph,
                        std::vector<std::vector<std::int64_t>> const& shapes) {
  torch::jit::EraseShapeInformation(graph);
  std::size_t next = 0;
  for (auto* const input : graph->inputs())
    if (input->type()->isSubtypeOf(*c10::TensorType::get()) && next < shapes.size())
      input->setType(c10::TensorType::createContiguous(c10::kFloat, c10::kCPU, shapes[next++]));
  torch::jit::PropagateInputShapes(graph);    // types and extents, as far as it knows all of them
  torch::jit::PropagateShapesOnGraph(graph);  // extents, of many more operators
}

}  // namespace torchscript
