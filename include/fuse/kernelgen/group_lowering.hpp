// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/kernelgen/row_access.hpp>
#include <fuse/kernelgen/row_axes.hpp>
#include <fuse/kernelgen/row_operators.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernelgen/step_writer.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>

namespace fuse::inline v0::detail {

/// A group as rows of one program.
struct group_rows {
  /// Input i of the program: elements of an input of the group.
  struct input {
    std::uint32_t of;
    std::ptrdiff_t offset;  ///< in elements
    kernelgen::digits rows, columns;
    [[nodiscard]] friend bool operator==(input const&, input const&) = default;
  };
  row_program program{};
  std::vector<input> inputs{};
  std::vector<kernelgen::digits> results{};  ///< the rows of each; one number for each row: its program says so
  std::size_t rows = 0, columns = 0;
};

/// Makes rows of a group whose shapes are known. An element of a result is followed down to the elements of the inputs
/// that it is made of: what moves elements, and what broadcasts, changes where they lie, and computes nothing.
class group_lowering {
 public:
  static constexpr std::size_t most_nodes = 512;

  group_lowering(graph_image const& image, facts const& known, dialect const& names, span<value_id const> outputs)
      : image_(image), facts_(known), names_(names), layouts_(image, known, names), outputs_(outputs) {}

  /// False where there are none; `refusal` says why, in one sentence.
  [[nodiscard]] bool lower() {
    if (image_.node_count() > most_nodes)
      return refuse("a group of rows has at most 512 nodes, this one has " + std::to_string(image_.node_count()));
    if (outputs_.size() > row_program::most_results)
      return refuse("a group of rows gives out at most 4 values, this one " + std::to_string(outputs_.size()));
    bool is_empty = true;
    for (auto const v : outputs_) {
      std::size_t count = 0;
      if (!elements(v, count)) return false;
      is_empty = is_empty && count == 0;
    }
    if (is_empty) return true;  // no rows
    // What the outputs are computed from: operands come before their users.
    std::vector<bool> is_needed(image_.node_count(), false);
    node_id reduction = absent;
    for (auto const v : outputs_)
      if (image_.producer(v) != absent) is_needed[image_.producer(v)] = true;
    for (auto n = image_.node_count(); n-- > 0;) {
      if (!is_needed[n]) continue;
      if (is_over_rows(op_of(image_, n))) reduction = n;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i); v != absent && image_.producer(v) != absent)
          is_needed[image_.producer(v)] = true;
    }
    return reduction == absent ? lower_cheapest() : measure(reduction) && lower_rows();
  }
  group_rows rows{};
  std::string refusal{};

 private:
  // What is done to the indices of a value before they are row and column of a result.
  struct view {
    enum class kind : std::uint8_t { rows, numbers, broadcast, node } is;
    std::uint32_t of;     // of a broadcast the value whose shape it is, of a node its result, else 0
    std::int32_t beyond;  // what is done after that, or -1
  };

  bool refuse(std::string why) {
    if (refusal.empty()) refusal = std::move(why);
    return false;
  }
  int refuse_step(std::string why) {
    refuse(std::move(why));
    return row_operator::absent;
  }
  [[nodiscard]] std::string named(node_id n) const {
    return "operator " + std::string(image_.source->op_name(n)) + " (" + image_.source->node_name(n) + ")";
  }

  [[nodiscard]] bool elements(value_id v, std::size_t& count) {
    count = 1;
    if (!facts_.has_rank(v)) return refuse("the shape of " + image_.source->value_name(v) + " is not known");
    for (auto const e : facts_.shape(v)) {
      if (!e.known()) return refuse("the shape of " + image_.source->value_name(v) + " is not known");
      count *= static_cast<std::size_t>(e.value());
    }
    return true;
  }

  // Rows

  // What a node reduces: all elements, and those of a row; false where these are not the last axes.
  [[nodiscard]] bool reduced(node_id n, std::size_t& total, std::size_t& columns) {
    auto const from = image_.operand(n, 0);
    if (from == absent || !elements(from, total)) return false;
    std::vector<int> axes;
    if (auto const why = row_axes(image_, facts_, names_, n, axes); !why.empty())
      return refuse(named(n) + std::string(why));
    columns = 1;
    for (auto const axis : axes)
      columns *= static_cast<std::size_t>(facts_.shape(from)[static_cast<std::size_t>(axis)].value());
    return are_last(facts_.shape(from), axes) || refuse(named(n) + " reduces other axes than the last ones");
  }
  [[nodiscard]] bool measure(node_id n) {
    std::size_t total = 0;
    if (!reduced(n, total, rows.columns)) return false;
    if (rows.columns == 0) return refuse(named(n) + " reduces nothing");
    rows.rows = total / rows.columns;
    return true;
  }

  // Without reductions any number of last axes may be a row: those that take least, where a row and each of its steps
  // cost some time, and so does each element that does not lie beside the one before it.
  [[nodiscard]] bool lower_cheapest() {
    std::size_t total = 0;
    value_id largest = absent;
    for (auto const v : outputs_)
      if (std::size_t count = 0; elements(v, count) && (largest == absent || count > total)) largest = v, total = count;
    if (largest == absent) return refuse("the group gives out nothing");
    group_rows best;
    double least = 0;
    std::size_t columns = 1;
    auto const shape = facts_.shape(largest);
    for (auto axis = shape.size() + 1; axis-- > 0;) {
      if (axis < shape.size()) columns *= static_cast<std::size_t>(shape[axis].value());
      bool const is_last = axis == 0;
      if (!is_last && (columns == 0 || shape[axis - 1] == extent(1))) continue;
      if (columns < 16 && !is_last) continue;
      rows = {};
      rows.columns = std::max<std::size_t>(columns, 1);
      rows.rows = total / rows.columns;
      refusal.clear();
      if (!lower_rows()) continue;
      double cost = 8.0 * static_cast<double>(rows.rows) * static_cast<double>(1 + rows.program.size);
      for (auto const& each : rows.inputs)
        if (each.columns.count != 0 && !each.columns.contiguous()) cost += static_cast<double>(total);
      if (best.columns == 0 || cost < least) best = rows, least = cost;
    }
    if (best.columns == 0) return refuse("the group has no rows");
    rows = std::move(best);
    refusal.clear();
    return true;
  }

  [[nodiscard]] bool lower_rows() {
    rows.program = row_program();
    rows.inputs.clear();
    rows.results.clear();
    views_.clear();
    made_.clear();
    rows.program.number_of_results = outputs_.size();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::size_t count = 0;
      if (!elements(outputs_[i], count)) return false;
      bool const is_row = count == rows.rows * rows.columns;
      if (!is_row && count != rows.rows)
        return refuse(image_.source->value_name(outputs_[i]) + " has other rows than the group");
      int made = step(outputs_[i], with_view(is_row ? view::kind::rows : view::kind::numbers, 0, -1));
      if (made == row_operator::absent) return false;
      if (is_row) made = steps_.row(static_cast<step_id>(made));
      rows.program.results[i] = static_cast<step_id>(made);
      steps_.use(static_cast<step_id>(made));
      kernelgen::digits at;
      at.extents[at.count] = rows.rows;
      at.strides[at.count++] = static_cast<std::ptrdiff_t>(is_row ? rows.columns : 1);
      rows.results.push_back(at);
    }
    return rows.program.error == row_error::none || refuse("the group has more steps than a kernel holds");
  }

  // Where elements lie

  [[nodiscard]] std::int32_t with_view(view::kind is, std::uint32_t of, std::int32_t beyond) {
    for (std::size_t i = 0; i < views_.size(); ++i)
      if (views_[i].is == is && views_[i].of == of && views_[i].beyond == beyond) return static_cast<std::int32_t>(i);
    views_.push_back({is, of, beyond});
    return static_cast<std::int32_t>(views_.size() - 1);
  }
  // For operands of `v`, which broadcast to its shape.
  [[nodiscard]] std::int32_t with_broadcast(value_id operand, value_id v, std::int32_t at) {
    return facts_.same_shape(operand, v) ? at : with_view(view::kind::broadcast, v, at);
  }

  // How row and column lie in `v`, which is seen so.
  [[nodiscard]] bool locate(value_id v, std::int32_t at, layout& into) {
    if (std::size_t count = 0; !elements(v, count) || !into.row_major(facts_.polynomials(v))) return false;
    auto const number = [](std::size_t of) { return polynomial(static_cast<std::int64_t>(of)); };
    polynomial const whole[] = {number(rows.rows), number(rows.columns)}, first[] = {whole[0], polynomial(1)};
    for (; at >= 0; at = views_[static_cast<std::size_t>(at)].beyond) {
      auto const& one = views_[static_cast<std::size_t>(at)];
      bool done = false;
      switch (one.is) {
        case view::kind::rows: done = into.reshape(whole); break;
        case view::kind::numbers: done = into.reshape(first) && into.tile(1, whole[1]); break;
        case view::kind::broadcast: done = layouts_.broadcast(one.of, into); break;
        case view::kind::node: done = layouts_.apply(image_.producer(one.of), one.of, into); break;
      }
      if (!done) return refuse("where the elements of " + image_.source->value_name(v) + " go is not known");
    }
    return true;
  }
  // Of one axis: 0 of rows, 1 of columns.
  [[nodiscard]] static bool digits_of(layout const& from, std::uint32_t axis, kernelgen::digits& into) {
    into = {};
    for (auto const& d : from.all()) {
      if (d.axis != axis) continue;
      std::int64_t extent = 0, stride = 0;
      if (!d.extent.known(extent) || !d.stride.known(stride) || into.count == kernelgen::digits::most) return false;
      into.extents[into.count] = static_cast<std::size_t>(extent);
      into.strides[into.count++] = static_cast<std::ptrdiff_t>(stride);
    }
    if (into.count == 1 && into.strides[0] == 0) into = {};
    return true;
  }
  // Whether row r of `v`, so seen, is its element r, or its elements from r times the columns on.
  [[nodiscard]] bool is_in_rows(value_id v, std::int32_t at, bool by_element) {
    layout found, wanted;
    auto const number = [](std::size_t of) { return polynomial(static_cast<std::int64_t>(of)); };
    polynomial const whole[] = {number(rows.rows), number(rows.columns)}, first[] = {whole[0], polynomial(1)};
    if (!locate(v, at, found)) return false;
    bool const made = by_element ? wanted.row_major(whole) : wanted.row_major(first) && wanted.tile(1, whole[1]);
    return made && found == wanted;
  }

  // Steps

  // The step of `v`, so seen.
  [[nodiscard]] int step(value_id v, std::int32_t at) {
    auto const key = std::pair(v, at);
    if (auto const found = made_.find(key); found != made_.end()) return found->second;
    int const made = image_.producer(v) == absent ? write_input(v, at) : write_node(image_.producer(v), v, at);
    if (rows.program.error != row_error::none) return refuse_step("the group has more steps than a kernel holds");
    return made_[key] = made;
  }

  [[nodiscard]] int write_input(value_id v, std::int32_t at) {
    auto const type = facts_.type(v);
    double number = 0;
    bool const is_whole = type == element_type::int32 || type == element_type::int64;
    bool const is_row = is_row_type(type) || (is_whole && is_cast_);
    if (is_row && facts_.uniform(v, number)) return steps_.number(number);
    if (!is_row)
      return refuse_step("rows are of float32, float16, bfloat16 or bool; " + image_.source->value_name(v) + " is of " +
                         std::string(name_of(type)));
    layout found;
    if (!locate(v, at, found)) return row_operator::absent;
    group_rows::input made{v, 0, {}, {}};
    std::int64_t offset = 0;
    if (!found.offset().known(offset) || !digits_of(found, 0, made.rows) || !digits_of(found, 1, made.columns))
      return refuse_step("the elements of " + image_.source->value_name(v) + " lie in no rows");
    made.offset = static_cast<std::ptrdiff_t>(offset);
    if (rows.columns == 1) made.columns.extents[0] = made.columns.strides[0] = 1, made.columns.count = 1;
    std::size_t place = 0;
    while (place < rows.inputs.size() && !(rows.inputs[place] == made)) ++place;
    if (place == rows.inputs.size()) rows.inputs.push_back(made);
    if (place > 255) return refuse_step("the group reads more than a kernel does");
    return steps_.input(place, made.columns.count != 0);
  }

  [[nodiscard]] int write_node(node_id n, value_id v, std::int32_t at) {
    auto const op = op_of(image_, n);
    if (image_.node(n).has_bodies || image_.operand_count(n) == 0 || image_.operand(n, 0) == absent)
      return refuse_step("no row is computed by " + named(n));
    if (image_.result_index(v) != 0 && op != opcode::split) return refuse_step(named(n) + " gives out more than a row");
    auto const type = facts_.type(v);
    if (!is_row_type(type))
      return refuse_step("rows are of float32, float16, bfloat16 or bool; " + named(n) + " makes " +
                         std::string(name_of(type)));
    auto const first = image_.operand(n, 0);
    if (may_move_elements(op)) {
      if (op == opcode::concat) return refuse_step("no row is computed by " + named(n));
      return step(first, with_view(view::kind::node, v, at));
    }
    if (op == opcode::pow) return write_power(n, v, at);
    if (op == opcode::cast) return write_cast(n, v, at);
    bool const over_rows = is_over_rows(op);
    if (!over_rows && info(op).kind != op_kind::elementwise && info(op).kind != op_kind::broadcast)
      return refuse_step("no row is computed by " + named(n));
    if (over_rows && !fits(n, v, at)) return row_operator::absent;
    auto const own = over_rows ? with_view(view::kind::rows, 0, -1) : at;
    row_operator is;
    is.op = op;
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      if (row->operands >= 0 && i >= static_cast<std::uint32_t>(row->operands)) break;  // the others are parameters
      auto const operand = image_.operand(n, i);
      if (is.count == 8) return refuse_step(named(n) + " has more than 8 operands");
      int made = row_operator::absent;
      if (operand != absent) {
        made = step(operand, i == 0 && over_rows ? own : with_broadcast(operand, over_rows ? first : v, own));
        if (made == row_operator::absent) return made;
      }
      is.operands[is.count++] = made;
    }
    while (is.count > 0 && !is.has(is.count - 1)) --is.count;
    if (over_rows) is.operands[0] = steps_.row(static_cast<step_id>(is.operands[0]));
    if (!read_numbers(n, is)) return row_operator::absent;
    for (int i = 0; i < is.count; ++i)
      if (!is.has(i)) return refuse_step(named(n) + " lacks an operand");
    int const made = row_operator_writer(steps_, is).write();
    return made == row_operator::absent ? refuse_step("no row is computed by " + named(n)) : made;
  }

  // Whole numbers become rows here alone: others would compute with more digits than floats have.
  [[nodiscard]] int write_cast(node_id n, value_id v, std::int32_t at) {
    auto const from = image_.operand(n, 0);
    is_cast_ = image_.producer(from) == absent;
    auto const made = is_cast_ ? write_input(from, at) : step(from, at);
    is_cast_ = false;
    if (made == row_operator::absent || facts_.type(v) != element_type::boolean ||
        facts_.type(from) == element_type::boolean)
      return made;
    auto const zero = steps_.number(0);
    return steps_.binary(row_op::equal, steps_.binary(row_op::equal, static_cast<step_id>(made), zero), zero);
  }

  [[nodiscard]] int write_power(node_id n, value_id v, std::int32_t at) {
    double exponent = 0;
    if (image_.operand_count(n) != 2 || !facts_.uniform(image_.operand(n, 1), exponent))
      return refuse_step("no row is computed by " + named(n) + ", whose exponent is no constant");
    auto const base = step(image_.operand(n, 0), with_broadcast(image_.operand(n, 0), v, at));
    if (base == row_operator::absent) return base;
    auto const made = steps_.power(static_cast<step_id>(base), exponent);
    return made == row_operator::absent ? refuse_step("no row is computed by " + named(n) +
                                                      ", whose exponent is no whole number up to 16, and no half")
                                        : made;
  }

  // Whether a reduction is over the rows of the group, and its result seen as them.
  [[nodiscard]] bool fits(node_id n, value_id v, std::int32_t at) {
    std::size_t total = 0, columns = 0;
    if (!reduced(n, total, columns)) return false;
    if (columns != rows.columns || total != rows.rows * rows.columns ||
        !is_in_rows(v, at, is_row_to_row(op_of(image_, n))))
      return refuse(named(n) + " is over other rows than the group");
    return true;
  }

  // Parameters of the operator that are numbers.
  [[nodiscard]] bool read_numbers(node_id n, row_operator& is) {
    for (auto const name : row_parameters) {
      double number = 0;
      auto const state = read_parameter(image_, facts_, names_, n, name, number);
      if (state == parameter_state::unknown)
        return refuse(named(n) + " has a parameter " + std::string(name) + " that is not known");
      bool const bounds_nothing = is.op == opcode::clip && !math::is_finite(number);
      if (state == parameter_state::missing || bounds_nothing) continue;
      is.names[is.number_count] = static_text::of(name);
      is.numbers[is.number_count++] = steps_.number(number);
    }
    return true;
  }

  graph_image const& image_;
  facts const& facts_;
  dialect const& names_;
  layouts layouts_;
  span<value_id const> outputs_;
  std::vector<view> views_;
  std::map<std::pair<value_id, std::int32_t>, int> made_;
  step_writer steps_{rows.program};
  bool is_cast_ = false;  // what is written next
};

}  // namespace fuse::inline v0::detail
