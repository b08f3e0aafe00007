// SPDX-License-Identifier: BSL-1.0
#include "groups.hpp"

#include "adapt.hpp"

#include <fuse/partition.hpp>
#include <fuse/run_group.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace mini {
namespace {

using fused = fuse::fusion_group<graph>;

// A group of one: on kernels of rows it is faster than in loops.
fused alone(node const& n) {
  fused made;
  made.nodes = {const_cast<node*>(&n)};
  for (auto* const v : n.operands)
    if (v != nullptr && std::find(made.inputs.begin(), made.inputs.end(), v) == made.inputs.end())
      made.inputs.push_back(v);
  for (auto* const v : n.results)
    if (v != nullptr) made.outputs.push_back(v);
  return made;
}

// What a group is computed with, and its nodes, for inputs of which fuse computes no rows.
struct computed_group {
  fuse::group_kernel kernel;
  std::vector<step> nodes;
  std::vector<value*> outputs;

  tensors run(tensors const& operands) {
    std::vector<fuse::tensor_view> inputs;
    for (auto const& operand : operands) inputs.push_back(view_of(operand, type_of(operand)));
    if (!kernel.prepare(inputs)) {
      for (auto& n : nodes) mini::run(n);
      tensors results;
      for (auto const* v : outputs) results.push_back(v->computed);
      return results;
    }
    std::vector<std::variant<floats, booleans>> made;
    std::vector<fuse::span<std::byte>> to;
    for (auto const& output : kernel.outputs()) {
      if (output.type == fuse::element_type::boolean)
        made.emplace_back(booleans(output.bytes));
      else
        made.emplace_back(floats(output.bytes / sizeof(float)));
      auto* const bytes = std::visit([](auto& all) { return reinterpret_cast<std::byte*>(all.data()); }, made.back());
      to.emplace_back(bytes, output.bytes);
    }
    if (!kernel.run(inputs, to)) throw std::runtime_error(kernel.refusal());
    tensors results;
    for (std::size_t i = 0; i < made.size(); ++i)
      std::visit([&](auto& all) { results.emplace_back(kernel.outputs()[i].shape, std::move(all)); }, made[i]);
    return results;
  }
};

}  // namespace

program program_of_groups(graph const& g) {
  fuse::row_nodes<graph> rows(g);
  auto groups = fuse::partition(g, rows.options()).groups;
  std::unordered_map<node const*, std::size_t> group_of;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (auto const* n : groups[i].nodes) group_of.emplace(n, i);
  for (auto const& n : g.nodes)
    if (rows.has(&*n.place) && group_of.emplace(&n, groups.size()).second) groups.push_back(alone(n));

  auto computed = fuse::group_kernels(g, groups);
  std::vector<step> all;
  for (auto const& n : g.nodes) {
    auto const found = group_of.find(&n);
    if (found == group_of.end()) {
      all.push_back(step_of(n));
      continue;
    }
    auto const& group = groups[found->second];
    if (group.nodes.back() != &n) continue;
    auto const made =
        std::make_shared<computed_group>(computed_group{std::move(computed[found->second]), {}, group.outputs});
    for (auto const* each : group.nodes) made->nodes.push_back(step_of(*each));
    all.push_back({.operands = group.inputs,
                   .results = group.outputs,
                   .run = [made](tensors const& operands) { return made->run(operands); },
                   .op = "the group of " + n.op});
  }
  return {g, std::move(all)};
}

}  // namespace mini
