// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/kernelgen/group_lowering.hpp>
#include <fuse/kernelgen/row_axes.hpp>
#include <fuse/kernelgen/row_operators.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernelgen/step_writer.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/partition/partition.hpp>

namespace fuse::inline v0 {
namespace detail {

/// Whether a kernel of rows may compute a node: by its operator, by what is known of element types, axes and constants.
/// What only shapes can tell is left to `group_lowering`.
class row_node_test {
 public:
  row_node_test(graph_image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] bool operator()(node_id n) {
    auto const op = op_of(image_, n);
    if (image_.node(n).has_bodies || image_.operand_count(n) == 0 || image_.operand(n, 0) == absent) return false;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const v = image_.result(n, i);
      bool const is_read = image_.value(v).use_count != 0 || image_.value(v).outputs != 0;
      if (!may_be_rows(v) || (i > 0 && is_read && op != opcode::split)) return false;
    }
    bool const makes_rows = op == opcode::cast && is_whole(image_.operand(n, 0));
    if (!makes_rows && !may_be_rows(image_.operand(n, 0))) return false;
    if (may_move_elements(op))
      return op != opcode::concat && (op != opcode::gather || (image_.operand_count(n) > 1 && is_constant(n, 1)));
    if (op == opcode::pow) return may_raise(n);
    if (op == opcode::cast) return true;
    if (!is_over_rows(op))
      return (info(op).kind == op_kind::elementwise || info(op).kind == op_kind::broadcast) && may_write(n);
    auto const x = image_.operand(n, 0);
    return facts_.has_rank(x) && row_axes(image_, facts_, names_, n, axes_).empty() &&
           are_last(facts_.shape(x), axes_) && may_write(n);
  }

 private:
  [[nodiscard]] bool may_be_rows(value_id v) const {
    return facts_.type(v) == element_type::unknown || is_row_type(facts_.type(v));
  }
  [[nodiscard]] bool is_whole(value_id v) const {
    return facts_.type(v) == element_type::int32 || facts_.type(v) == element_type::int64;
  }
  [[nodiscard]] bool is_constant(node_id n, std::uint32_t i) const {
    return image_.operand(n, i) != absent && image_.value(image_.operand(n, i)).constant;
  }
  [[nodiscard]] bool may_raise(node_id n) const {
    double exponent = 0;
    if (image_.operand_count(n) != 2 || !facts_.uniform(image_.operand(n, 1), exponent)) return false;
    row_program tried;
    step_writer steps(tried);
    return steps.power(steps.input(0, true), exponent) != row_operator::absent;
  }
  // With operands of which nothing is known.
  [[nodiscard]] bool may_write(node_id n) const {
    row_program tried;
    step_writer steps(tried);
    row_operator is;
    is.op = op_of(image_, n);
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      if (row->operands >= 0 && i >= static_cast<std::uint32_t>(row->operands)) break;  // the others are parameters
      auto const operand = image_.operand(n, i);
      if (is.count == 8 || (operand != absent && !may_be_rows(operand))) return false;
      is.operands[is.count++] = operand == absent ? row_operator::absent : steps.input(i, true);
    }
    while (is.count > 0 && !is.has(is.count - 1)) --is.count;
    return row_operator_writer(steps, is).write() != row_operator::absent;
  }

  graph_image const& image_;
  facts const& facts_;
  dialect const& names_;
  std::vector<int> axes_;
};

}  // namespace detail

/// The nodes of a graph that `group_kernel` computes, as far as can be told before the shapes of a run are known.
/// `fuse::partition(graph, rows.options())` makes groups of these alone. docs/kernels/group.md
template <class G>
class row_nodes {
 public:
  /// Linear in the graph, which outlives this and stays as it is.
  explicit row_nodes(G const& graph) : bound_(graph, names_in(dialect_of<G>), dialect_of<G>.newest) {
    if (bound_.cyclic()) return;
    detail::facts known(bound_.image, dialect_of<G>);
    known.run();
    detail::row_node_test test(bound_.image, known, dialect_of<G>);
    is_row_.reserve(bound_.image.node_count());
    for (node_id n = 0; n < bound_.image.node_count(); ++n) is_row_.push_back(test(n));
  }

  [[nodiscard]] bool has(node_of<G> const& n) const {
    auto const number = bound_.number_of(n);
    return number < is_row_.size() && is_row_[number];
  }

  /// `given`, where every other node stays alone, and a norm is computed in its rows. They refer to this.
  [[nodiscard]] partition_options<G> options(partition_options<G> given = {}) {
    given_ = given;
    given.max_depth = std::min(given.max_depth, detail::group_lowering::most_nodes);
    given.alone = [](void* self, node_of<G> const& n) {
      auto const& of = *static_cast<row_nodes const*>(self);
      return !of.has(n) || (of.given_.alone != nullptr && of.given_.alone(of.given_.context, n));
    };
    if (given.veto != nullptr)
      given.veto = [](void* self, node_of<G> const& from, node_of<G> const& into) {
        auto const& of = *static_cast<row_nodes const*>(self);
        return of.given_.veto(of.given_.context, from, into);
      };
    given.context = this;
    given.by_formula = false;
    return given;
  }

 private:
  graph_binding<G const> bound_;
  std::vector<bool> is_row_;
  partition_options<G> given_{};
};

}  // namespace fuse::inline v0
