// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/rewrite/constant_contents.hpp>

namespace fuse::inline v0::detail {

/// A named parameter of an operator that is to be written: a number, a list, axes, or a value that has it.
struct written_parameter {
  std::string_view name;
  double number = 0;
  bool integer = false;    ///< the number is one, unless the operator has a real number there
  bool captured = false;   ///< it comes from the graph, which does not tell a real number from an integer
  std::uint64_t axes = 0;  ///< of captured axes: bit k is the k-th axis from the last
  decltype(attribute::content) content{};  ///< as the operator has it; the writer tells, unless it is `listed`
  bool listed = false;                     ///< a list was given
  value_id value = absent;                 ///< what computes it when the graph runs, where it is an operand

  void give(std::vector<std::int64_t> list) {
    content = std::move(list);
    listed = true;
  }
  void give_numbers(std::vector<float> list) {
    content = std::move(list);
    listed = true;
  }
};

/// How operators have their parameters: as whole numbers or real ones, one or a list, axes from the first or the last.
template <class Image>
class basic_parameter_forms {
 public:
  basic_parameter_forms(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  /// Says `p`, a number, a list or captured axes, as the operator has it: one of the dialect where there is a `row`,
  /// else a neutral one. Returns why that cannot be, or an empty text.
  [[nodiscard]] std::string settle(written_parameter& p, operator_row const* row, opcode op,
                                   span<value_id const> operands) const {
    auto const because = [&](std::string_view why) {
      return "the parameter '" + std::string(p.name) + "' of " + std::string(row != nullptr ? row->name : name_of(op)) +
             std::string(why);
    };
    if (p.value != absent) return {};
    if (p.listed) {
      if (kind_of(p, row) == attribute_kind::numbers) return be_numbers(p), std::string();
      if (std::holds_alternative<std::vector<float>>(p.content))
        return because(" would be a list of what are no integers");
      auto const& list = std::get<std::vector<std::int64_t>>(p.content);
      if (is_one_number(p, row, op)) {
        if (list.size() != 1)
          return because(" is one number, and a list of " + std::to_string(list.size()) + " is given");
        auto const one = list[0];  // which goes with the list
        p.number = static_cast<double>(one);
        p.listed = false;
        p.content = one;
      }
    } else if (p.axes != 0) {
      if (auto const* why = count_axes(p, row, op); why != nullptr) return why;
    } else if (p.number != p.number) {
      return because(" would be no number: what gives it is not known, or no axes at all");
    } else if (p.integer && !is_real(p, row, op)) {
      if (!(math::abs(p.number) < inexact_integers)) return because(" is an integer that is not known exactly");
      p.content = static_cast<std::int64_t>(p.number);
      if (is_list(p, row, op)) p.give({static_cast<std::int64_t>(p.number)});
    } else if (counts(p, row, op)) {
      if (!math::is_whole(p.number) || !(math::abs(p.number) < inexact_integers))
        return because(" is an integer, and what gives it is none");
      p.content = static_cast<std::int64_t>(p.number);
    } else {
      p.content = p.number;
    }
    if (counts_from_the_first(p, row, op) && !count_from_the_first(p, op, operands))
      return because(" counts axes from the first one at this operator set version, and the rank is not known");
    return {};
  }

 private:
  // What was given as integers, where the operator has numbers.
  static void be_numbers(written_parameter& p) {
    auto const* whole = std::get_if<std::vector<std::int64_t>>(&p.content);
    if (whole == nullptr) return;
    std::vector<float> list;
    for (auto const x : *whole) list.push_back(static_cast<float>(x));
    p.give_numbers(std::move(list));
  }
  [[nodiscard]] bool counts_from_the_first(written_parameter const& p, operator_row const* row, opcode op) const {
    return image_.version < names_.negative_axes_since && row != nullptr && row->op != opcode::opaque &&
           includes(row->emit, target::standard) &&
           (p.name == "axes" || axis_use_of(row, op, p.name) != axis_use::none);
  }
  // False where the rank is not known, or an axis is none of it. Unsqueeze counts axes of its result.
  [[nodiscard]] bool count_from_the_first(written_parameter& p, opcode op, span<value_id const> operands) const {
    auto* const list = std::get_if<std::vector<std::int64_t>>(&p.content);
    auto const known = operands.empty() || operands[0] == absent ? -1 : facts_.rank(operands[0]);
    auto const added = op != opcode::unsqueeze ? 0 : list != nullptr ? static_cast<int>(list->size()) : 1;
    auto const count = [&](std::int64_t& axis) {
      if (axis >= 0) return true;
      axis += known + added;
      return known >= 0 && axis >= 0;
    };
    if (auto* one = std::get_if<std::int64_t>(&p.content)) {
      if (!count(*one)) return false;
      p.number = static_cast<double>(*one);
    }
    if (list != nullptr)
      for (auto& axis : *list)
        if (!count(axis)) return false;
    return true;
  }
  // Whether the operator, or the dialect's, says that the parameter is an integer.
  [[nodiscard]] static bool counts(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr && !own->real) return true;
    auto const at = row == nullptr ? 0 : row->attributes->find(p.name);
    return row != nullptr && at != row->attributes->all.size() &&
           (row->attributes->all[at].kind == attribute_kind::integer ||
            row->attributes->all[at].kind == attribute_kind::flag);
  }
  // Whether the operator, or the dialect's, says that the parameter is a list; and whether that it is none.
  [[nodiscard]] static bool is_list(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->list != list_use::none;
    return kind_of(p, row) == attribute_kind::integers;
  }
  [[nodiscard]] static bool is_one_number(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->list == list_use::none;
    auto const kind = kind_of(p, row);
    return kind == attribute_kind::flag || kind == attribute_kind::integer || kind == attribute_kind::number;
  }
  [[nodiscard]] static attribute_kind kind_of(written_parameter const& p, operator_row const* row) {
    auto const at = row == nullptr ? 0 : row->attributes->find(p.name);
    return row == nullptr || at == row->attributes->all.size() ? attribute_kind::other : row->attributes->all[at].kind;
  }
  // As the operator's own parameters say, or its attributes; what was captured, also as other operators have it.
  [[nodiscard]] static bool is_real(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->real;
    if (row != nullptr)
      if (auto const at = row->attributes->find(p.name); at != row->attributes->all.size())
        return row->attributes->all[at].kind == attribute_kind::number;
    auto const* others = p.captured ? parameter_named(p.name) : nullptr;
    return others != nullptr && others->real;
  }
  // Axes are one number where the parameter counts an axis, of this operator or of any, and else a list.
  static char const* count_axes(written_parameter& p, operator_row const* row, opcode op) {
    auto const use = axis_use_of(row, op, p.name);
    if (use == axis_use::none && !counts_an_axis(p.name)) {
      std::vector<std::int64_t> list;
      for (int bit = 63; bit >= 0; --bit)
        if ((p.axes >> bit & 1u) != 0) list.push_back(-1 - bit);
      p.content = std::move(list);
      return nullptr;
    }
    bool const one = std::has_single_bit(p.axes), last = (p.axes & (p.axes + 1)) == 0;
    if (last && (use == axis_use::trailing || one))
      p.number = -std::popcount(p.axes);
    else if (one && use == axis_use::one)
      p.number = -static_cast<int>(std::bit_width(p.axes));
    else if (use == axis_use::none)
      return "the dialect does not state what the operator's axis counts";
    else
      return use == axis_use::one ? "the operator has one axis, and others were captured"
                                  : "the operator's axes are the last ones, and others were captured";
    p.content = static_cast<std::int64_t>(p.number);
    return nullptr;
  }

  [[nodiscard]] static bool counts_an_axis(std::string_view parameter) {
    auto const* known = parameter_named(parameter);
    return known != nullptr && known->axis != axis_use::none;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
};

}  // namespace fuse::inline v0::detail
