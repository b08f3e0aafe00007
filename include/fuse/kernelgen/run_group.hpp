// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/kernelgen/group_graph.hpp>
#include <fuse/kernelgen/group_lowering.hpp>
#include <fuse/kernelgen/row_access.hpp>
#include <fuse/kernelgen/row_nodes.hpp>
#include <fuse/kernelgen/row_schedule.hpp>
#include <fuse/kernelgen/run_rows.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/partition/partition.hpp>

namespace fuse::inline v0 {

/// A tensor that a group gives out: row-major, float32, float16, bfloat16 or boolean.
struct group_output {
  element_type type = element_type::unknown;
  std::vector<std::int64_t> shape{};
  std::size_t bytes = 0;
};

/// A fusion group that is computed in one go: what `kernel<expression>` of its formula would compute, bit by bit, step
/// by step over pieces of rows that stay in the first cache. docs/kernels/group.md says what it computes.
///
/// It belongs to a graph, which outlives it and stays as it is. One thread at a time may use it.
class group_kernel {
 public:
  /// `source` is what the image `whole` was taken of; `owner` keeps both. For `group_kernels`.
  group_kernel(std::shared_ptr<void const> owner, graph_image const& whole, graph_source const& source,
               dialect const& names, span<node_id const> nodes, span<value_id const> inputs,
               span<value_id const> outputs)
      : owner_(std::move(owner)),
        graph_(std::make_unique<detail::group_graph>(whole, source, nodes, inputs, outputs)),
        names_(&names) {}

  /// Makes ready for inputs of these types and shapes, in the order of the group's; those that are parameters have
  /// contents. False where the group cannot be computed so; `refusal` says why, in one sentence. Where nothing is
  /// other than the last time it returns at once; else linear in the nodes times the axes.
  [[nodiscard]] bool prepare(span<tensor_view const> inputs);
  [[nodiscard]] std::string const& refusal() const { return refusal_; }
  /// After `prepare`.
  [[nodiscard]] std::vector<group_output> const& outputs() const { return outputs_; }

  /// Computes the group: inputs and outputs in the order of the group's, each output of as many bytes as it has.
  /// Outputs share no memory with each other or with an input. False where `prepare` is, or an argument does not fit;
  /// then nothing was written. Allocates what it keeps of a row.
  template <class Executor = kernels::calling_thread>
  [[nodiscard]] bool run(span<tensor_view const> inputs, span<span<std::byte> const> outputs,
                         kernels::on<Executor> how = {});

 private:
  struct rows_of_group {
    detail::group_rows rows;
    kernelgen::row_extents extents{};
    std::vector<kernelgen::row_access> inputs{};
    std::unique_ptr<kernelgen::row_schedule> schedule{};
  };

  bool refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool lower();
  [[nodiscard]] bool check(span<tensor_view const> inputs, span<span<std::byte> const> outputs);
  [[nodiscard]] std::byte const* contents(span<tensor_view const> inputs, std::uint32_t of) const {
    return (of < inputs.size() ? inputs[of] : graph_->constant(of)).bytes.data();
  }
  [[nodiscard]] static kernelgen::row_element element_of(element_type type) {
    switch (type) {
      case element_type::float32: return kernelgen::row_element::float32;
      case element_type::bfloat16: return kernelgen::row_element::bfloat16;
      case element_type::boolean: return kernelgen::row_element::boolean;
      case element_type::int32: return kernelgen::row_element::int32;
      case element_type::int64: return kernelgen::row_element::int64;
      default: return kernelgen::row_element::float16;
    }
  }
  [[nodiscard]] static std::size_t bytes_of(tensor_view const& of) {
    std::size_t count = fuse::size_of(of.type);
    for (auto const extent : of.shape) count *= static_cast<std::size_t>(extent);
    return count;
  }

  std::shared_ptr<void const> owner_;
  std::unique_ptr<detail::group_graph> graph_;
  dialect const* names_;
  bool is_prepared_ = false;
  std::unique_ptr<rows_of_group> rows_;
  std::vector<group_output> outputs_;
  std::string refusal_;
};

inline bool group_kernel::prepare(span<tensor_view const> inputs) {
  if (inputs.size() != graph_->input_count())
    return refuse("a group has " + std::to_string(graph_->input_count()) + " inputs, " + std::to_string(inputs.size()) +
                  " came");
  bool const changed = graph_->give(inputs);
  if (!changed && is_prepared_) return rows_ != nullptr;
  is_prepared_ = true;
  rows_ = nullptr;
  outputs_.clear();
  refusal_.clear();
  return lower();
}

inline bool group_kernel::lower() {
  if (!graph_->unknown().empty()) return refuse(graph_->unknown());
  detail::facts known(graph_->image, *names_);
  known.run();
  detail::group_lowering lowering(graph_->image, known, *names_, graph_->outputs());
  if (!lowering.lower()) return refuse(std::move(lowering.refusal));
  for (auto const v : graph_->outputs()) {
    group_output made{known.type(v), {}, 0};
    for (auto const e : known.shape(v)) made.shape.push_back(e.value());
    made.bytes = bytes_of({made.type, made.shape, {}});
    outputs_.push_back(std::move(made));
  }
  auto rows = std::make_unique<rows_of_group>(rows_of_group{std::move(lowering.rows)});
  auto& of = rows->rows;
  rows->extents = {of.rows, of.columns, of.columns};
  // One row without reductions is as good as many: threads may share them.
  constexpr auto tile = kernelgen::row_schedule::tile;
  bool parts = of.rows == 1 && of.columns > tile && of.program.depth == 0;
  for (auto const& each : of.inputs) parts = parts && (each.columns.count == 0 || each.columns.contiguous());
  for (std::size_t i = 0; i < of.program.number_of_results; ++i)
    parts = parts && of.program[of.program.results[i]].is_row;
  if (parts) {
    auto const count = (of.columns + tile - 1) / tile;
    rows->extents = {count, tile, of.columns - (count - 1) * tile};
    kernelgen::digits by_tile;
    by_tile.extents[0] = count, by_tile.strides[0] = static_cast<std::ptrdiff_t>(tile), by_tile.count = 1;
    for (auto& each : of.inputs)
      if (each.columns.count != 0) each.rows = by_tile;
    for (auto& each : of.results) each = by_tile;
  }
  for (auto const& each : of.inputs)
    rows->inputs.push_back({nullptr, element_of(known.type(each.of)), each.rows, each.columns});
  if (of.rows != 0)
    rows->schedule = std::make_unique<kernelgen::row_schedule>(of.program, rows->inputs, rows->extents.columns);
  rows_ = std::move(rows);
  return true;
}

inline bool group_kernel::check(span<tensor_view const> inputs, span<span<std::byte> const> outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].bytes.size() != bytes_of(inputs[i]))
      return refuse("input " + std::to_string(i) + " has " + std::to_string(inputs[i].bytes.size()) +
                    " bytes, its type and shape say " + std::to_string(bytes_of(inputs[i])));
  if (outputs.size() != outputs_.size())
    return refuse("a group has " + std::to_string(outputs_.size()) + " outputs, " + std::to_string(outputs.size()) +
                  " came");
  auto const suits = [](std::byte const* at, element_type type) {
    return !is_floating(type) || reinterpret_cast<std::uintptr_t>(at) % fuse::size_of(type) == 0;
  };
  auto const& image = graph_->image;
  for (value_id v = 0; v < image.value_count() && image.producer(v) == absent; ++v)
    if (!suits(contents(inputs, v), graph_->type(v)))
      return refuse(graph_->value_name(v) + " lies at an address that does not suit its elements");
  // Orders all addresses, as `<` does not.
  std::less<std::byte const*> const before;
  auto const apart = [&](span<std::byte const> a, span<std::byte const> b) {
    return a.empty() || b.empty() || !before(a.data(), b.data() + b.size()) || !before(b.data(), a.data() + a.size());
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!suits(outputs[i].data(), outputs_[i].type))
      return refuse("output " + std::to_string(i) + " lies at an address that does not suit its elements");
    if (outputs[i].size() != outputs_[i].bytes)
      return refuse("output " + std::to_string(i) + " has " + std::to_string(outputs[i].size()) + " bytes, expected " +
                    std::to_string(outputs_[i].bytes));
    span<std::byte const> const own(outputs[i].data(), outputs[i].size());
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (!apart(own, inputs[k].bytes))
        return refuse("output " + std::to_string(i) + " shares memory with input " + std::to_string(k));
    for (std::size_t k = 0; k < i; ++k)
      if (!apart(own, {outputs[k].data(), outputs[k].size()}))
        return refuse("output " + std::to_string(i) + " shares memory with output " + std::to_string(k));
  }
  return true;
}

template <class Executor>
bool group_kernel::run(span<tensor_view const> inputs, span<span<std::byte> const> outputs, kernels::on<Executor> how) {
  if (!prepare(inputs) || !check(inputs, outputs)) return false;
  auto const& of = rows_->rows;
  if (of.rows == 0) return true;
  auto from = rows_->inputs;
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i].data = contents(inputs, of.inputs[i].of) +
                   of.inputs[i].offset * static_cast<std::ptrdiff_t>(kernelgen::size_of(from[i].element));
  std::vector<kernelgen::result_access> to;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    to.push_back({outputs[i].data(), element_of(outputs_[i].type), of.results[i], {}});
  kernelgen::run_rows(of.program, *rows_->schedule, from, to, rows_->extents, how);
  return true;
}

/// Kernels of groups of `graph`, one for each, in their order. Linear in the graph. A group of which a node is computed
/// by something else, such as an anchor, is refused when it is prepared: `row_nodes` keeps these out of groups.
template <class G>
[[nodiscard]] std::vector<group_kernel> group_kernels(G const& graph, std::vector<fusion_group<G>> const& groups) {
  auto const& names = dialect_of<G>;
  auto const bound = std::make_shared<graph_binding<G const>>(graph, names_in(names), names.newest);
  std::vector<group_kernel> made;
  made.reserve(groups.size());
  std::vector<node_id> nodes;
  std::vector<value_id> inputs, outputs;
  for (auto const& group : groups) {
    nodes.clear(), inputs.clear(), outputs.clear();
    for (auto const& n : group.nodes)
      if (auto const number = bound->number_of(n); number != absent) nodes.push_back(number);
    std::sort(nodes.begin(), nodes.end());
    for (auto const& v : group.inputs) inputs.push_back(bound->number(v));
    for (auto const& v : group.outputs) outputs.push_back(bound->number(v));
    made.emplace_back(bound, bound->image, *bound, names, nodes, inputs, outputs);
  }
  return made;
}

/// Computes one group once; the same as its `group_kernel::run`. Returns why it cannot be computed, or nothing.
template <class G>
[[nodiscard]] std::string run_group(G const& graph, fusion_group<G> const& group, span<tensor_view const> inputs,
                                    span<span<std::byte> const> outputs) {
  auto made = group_kernels(graph, std::vector{group});
  return made[0].run(inputs, outputs) ? std::string() : made[0].refusal();
}

}  // namespace fuse::inline v0
