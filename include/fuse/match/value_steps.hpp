// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/axes.hpp>
#include <fuse/infer/bare_value.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/infer/value_view.hpp>
#include <fuse/match/state.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The steps that look at one value and either hold or fail: operators, captures, constants, parameters, conditions.
template <class Image>
class basic_value_steps {
 public:
  basic_value_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                    congruence& congruent, match_state& state)
      : rules_(rules),
        image_(image),
        facts_(known),
        names_(names),
        congruent_(congruent),
        s_(state),
        data_operands_(names.rows.size() + 1, 0xffff),
        views_(match_state::rest_capacity) {
    for (std::size_t code = 1; code < data_operands_.size(); ++code)
      if (auto const* row = names_.row(static_cast<std::uint16_t>(code), image_.version);
          row != nullptr && row->operands >= 0)
        data_operands_[code] = static_cast<std::uint16_t>(row->operands);
  }

  /// What a look through what computes `v` sees; absent where `set` does not look through that. `free`: also where
  /// elements are repeated.
  [[nodiscard]] value_id seen_through(value_id v, std::uint8_t set, bool free) const {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent || image_.result_index(v) != 0) return absent;
    auto const& record = image_.node(n);
    auto const seen = kept_operand(image_, facts_, n);
    if (seen == absent || record.region != s_.region) return absent;
    auto const& through = rules_.sets[set - 1u];
    auto const op = static_cast<opcode>(record.tag.op);
    if (through.contains(record.tag.name, record.tag.op)) {
      if (may_repeat(op) && !(free && broadcasts(image_, facts_, n)) && !unchanged(image_, facts_, n)) return absent;
    } else if (!may_keep_elements(op) || !through.has_identity() || !unchanged(image_, facts_, n)) {
      return absent;
    }
    auto const below = facts_.type(seen), type = facts_.type(image_.result(n));
    bool const floating =
        (below == element_type::unknown || is_floating(below)) && (type == element_type::unknown || is_floating(type));
    return floating || (below == type && unchanged(image_, facts_, n)) ? seen : absent;
  }

  /// Register a of `i` below a chain of operators that it looks through, at most 8; `count`: they are matched.
  value_id stripped(instruction const& i, bool count) {
    return stripped(s_.value(i.a), i.through, (i.flags & instruction::free) != 0, count);
  }
  value_id stripped(value_id v, std::uint8_t set, bool free, bool count) {
    if (set == 0) return v;
    for (int i = 0; i < 8; ++i) {
      auto const below = seen_through(v, set, free);
      if (below == absent) return v;
      if (count) s_.add_matched(image_.producer(v));
      v = below;
    }
    return v;
  }

  bool operation(instruction const& i, value_id v) {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent) return false;
    auto const& record = image_.node(n);
    if (!s_.registers[i.a].plain() || record.region != s_.region ||
        (i.code == step::exactly ? record.tag.name : record.tag.op) != i.op)
      return false;
    if (image_.result_index(v) != i.c) return false;
    std::uint32_t const wanted = i.count & 0x7fu;
    bool const open_ended = (i.count & 0x80u) != 0;
    // Operands that are parameters in this dialect are not the pattern's; absent ones are.
    std::uint32_t there = record.operand_count;
    if (auto const most = data_operands_[record.tag.name]; there > most) there = most;
    if (!open_ended)
      for (std::uint32_t k = wanted; k < there; ++k)
        if (image_.operand(n, k) != absent) return false;
    if (open_ended && there < wanted) return false;
    for (std::uint32_t k = 0; k < wanted; ++k) s_.registers[i.b + k] = {{k < there ? image_.operand(n, k) : absent}};
    s_.add_matched(n);
    return true;
  }

  /// All further operands: what they were the first time, where the rest occurs again.
  bool operands(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));  // an operator was found there
    auto const count = image_.operand_count(n);
    auto const first = s_.member_count();
    if (auto const& known = s_.slot(i.b); known.bound) {
      if (known.axes != 0 || i.count + known.members != count) return false;
      for (std::uint32_t k = i.count; k < count; ++k)
        if (!congruent_.same(s_.members(i.b)[k - i.count].value, image_.operand(n, k))) return false;
      return true;
    }
    for (std::uint32_t k = i.count; k < count; ++k)
      if (!s_.add_member(image_.operand(n, k), 1)) return false;
    return s_.bind_members(i.b, first, op_group::none);
  }

  /// Whether two registers hold one computation, taken alike.
  bool same(std::uint8_t a, std::uint8_t b) {
    auto const &x = s_.registers[a], &y = s_.registers[b];
    if (x.shape != y.shape && !facts_.same_shape(x.shape, y.shape)) return false;
    return x.times == y.times && x.power == y.power && !y.apart && congruent_.same_bare(x.value, y.value);
  }

  /// Whether the node of value a has the parameters, operands among them, of the one that was found first.
  bool agrees(instruction const& i) {
    auto const v = stripped(i, false);
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind(i.b, {.value = v});
    auto const n = image_.producer(v), first = image_.producer(known.value);
    if (n == first) return true;
    if (!congruent_.agree(n, first)) return false;
    auto const count = image_.operand_count(n), others = image_.operand_count(first);
    for (std::uint32_t k = data_operands_[image_.node(n).tag.name]; k < count || k < others; ++k)
      if (k >= count || k >= others || !congruent_.same(image_.operand(n, k), image_.operand(first, k))) return false;
    return true;
  }

  bool capture(std::uint8_t at, value_id v) {
    if (v == absent) return false;
    auto const& known = s_.slot(at);
    if (known.bound) return known.value == v || congruent_.same(known.bare, bare_value(image_, facts_, v));
    return s_.bind(at, {.value = v, .bare = bare_value(image_, facts_, v)});
  }

  bool bind_number(std::uint8_t at, double number, value_id from, std::uint64_t axes = 0) {
    auto const& known = s_.slot(at);
    if (!known.bound) return s_.bind(at, {.value = from, .bare = from, .number = number, .axes = axes});
    // One may have been rounded to float.
    bool const exact = is_of_integers(facts_, from) || is_of_integers(facts_, known.value);
    return known.is_single() && math::close_to(known.number, number, exact ? 0 : 1e-7);
  }

  /// ... axes, as bits, or where these are not known the number that stands for them.
  bool bind_axes(std::uint8_t at, std::uint64_t axes, double number) {
    auto const& known = s_.slot(at);
    if (!known.bound) return bind_number(at, number, absent, axes);
    if (!known.is_single()) return false;
    if (axes != 0 && known.axes != 0) return axes == known.axes;
    if (axes == 0 && known.axes == 0)
      return number == known.number || (number != number && known.number != known.number);
    return axes == 0 ? known.axes == 1 && number == -1 : axes == 1 && known.number == -1;
  }

  /// The constant of one element at register a, or the same number.
  bool scalar(instruction const& i) {
    auto const& r = s_.registers[i.a];
    double number = 0;
    return r.value != absent && r.power == 1 && facts_.number(r.value, number) && has_as_large_beside(i) &&
           bind_number(i.b, number, r.value);
  }
  /// That number, which may be left out.
  [[nodiscard]] bool number(instruction const& i) const {
    return s_.registers[i.a].power == 1 &&
           equals_number(image_, facts_, s_.value(i.a), i.number, static_cast<double>(i.tolerance)) &&
           has_as_large_beside(i);
  }

  /// Whether the constant at register a may be left out: it has neither axes nor several elements, or an operand beside
  /// it is as large.
  [[nodiscard]] bool has_as_large_beside(instruction const& i) const {
    double number = 0;
    auto const v = s_.value(i.a);
    if (i.count == 0 || (facts_.rank(v) == 0 && facts_.number(v, number))) return true;
    for (std::uint8_t k = 0; k < i.count; ++k)
      if (auto const beside = s_.value(static_cast<std::uint8_t>(i.c + k));
          i.c + k != i.a && beside != absent && facts_.broadcasts_into(v, beside))
        return true;
    return false;
  }

  bool parameter(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));
    auto const name = rules_.parameter_names[i.op];
    if (n == absent) return false;
    if (read_list(image_, facts_, names_, n, name, listed_) == parameter_state::known) return list(i, n, name);
    double number = 0;
    if (!read_number(image_, facts_, names_, n, name, number)) return false;
    if (name == "axis" || name == "axes") return axis(i, n, name == "axes", number);
    if (i.b == no_slot) return math::close_to(number, i.number, static_cast<double>(i.tolerance));
    return bind_number(i.b, number, absent);
  }

  /// Whether a parameter is a list of so many, with that number at that place.
  bool element(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));
    auto const name = rules_.parameter_names[i.op];
    if (n == absent || read_list(image_, facts_, names_, n, name, listed_) != parameter_state::known ||
        listed_.size() != i.count)
      return false;
    auto const number = static_cast<double>(listed_[i.c]);
    return name == "axes" ? is_same_axis(image_, facts_, n, number, i.number) : number == i.number;
  }
  /// Whether axes that each stand for themselves are those and no others.
  [[nodiscard]] bool over(instruction const& i) {
    auto const v = stripped(i, false);
    auto const n = image_.producer(v);
    std::uint64_t axes = i.b == no_slot ? 0 : s_.slot(i.b).axes;
    int rank = facts_.rank(v);
    if (i.b == no_slot) {
      if (n == absent || read_list(image_, facts_, names_, n, "axes", listed_) != parameter_state::known) return false;
      rank = rank_of_axes(image_, facts_, n);
      if (!axes_of_list(listed_, rank, axes)) return false;
    }
    auto wanted = static_cast<std::uint64_t>(i.number);
    for (int first = 0; i.op >> first != 0; ++first) {
      if ((i.op >> first & 1) == 0) continue;
      if (first >= rank) return false;
      wanted |= std::uint64_t{1} << (rank - 1 - first);
    }
    return axes == wanted && std::popcount(wanted) == i.count;  // two may be one axis
  }

  bool condition_holds(std::uint16_t at) {
    auto const& c = rules_.conditions[at];
    std::size_t used = 0;
    for (std::size_t k = 0; k < c.what.count; ++k) {
      auto const s = c.slots[k];
      auto& argument = arguments_[k] = captured{};
      if (s == no_slot || !s_.slot(s).bound) continue;
      auto const& b = s_.slot(s);
      argument.bound = true;
      argument.number = b.number;
      argument.axes = b.axes;
      argument.integers = s_.integers(s);
      auto const first = used;
      if (rules_.rules[c.rule].slot_kinds[s] == slot_kind::rest) {
        for (auto const& m : s_.members(s))
          if (used < match_state::rest_capacity) views_[used++] = {image_, facts_, names_, m.value};
      } else if (used < match_state::rest_capacity) {
        auto const is = rules_.rules[c.rule].slot_kinds[s];
        views_[used++] = is == slot_kind::value ? value_view(image_, facts_, names_, b.value)
                         : is == slot_kind::dimension
                             ? value_view(image_, facts_, names_, absent, b.number, 0)
                             : value_view(image_, facts_, names_, b.value, b.number, b.axes, s_.integers(s));
      }
      argument.values = {views_.data() + first, used - first};
    }
    return c.what.holds == nullptr || c.what.holds(arguments_, c.what);
  }

 private:
  // An axis is compared with a number as that is counted, from the first or from the last; with what was captured, from
  // the last, so that ranks do not matter.
  bool axis(instruction const& i, node_id n, bool listed, double number) {
    if (i.b == no_slot) return is_same_axis(image_, facts_, n, number, i.number);
    if (!count_from_last(image_, facts_, n, number)) return false;
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    auto const use = listed ? axis_use::one : axis_use_of(row, op_of(image_, n));
    return bind_axes(i.b, axes_named(number, use), number);
  }

  // A list is compared with a number if it has one entry, and with what was captured entry by entry. Axes count from
  // the last, where that is known; they are a set unless other parameters belong to each.
  bool list(instruction const& i, node_id n, std::string_view name) {
    if (name == "axes") {
      auto const rank = rank_of_axes(image_, facts_, n);
      bool const set = has_set_of_axes(op_of(image_, n));
      if (set && listed_.size() == 1) return axis(i, n, true, static_cast<double>(listed_[0]));
      std::uint64_t axes = 0;
      if (set) return i.b != no_slot && axes_of_list(listed_, rank, axes) && axes != 0 && bind_axes(i.b, axes, 0);
      for (auto& each : listed_)
        if (each >= 0 && rank >= 0 && (each -= rank) >= 0) return false;
    }
    if (i.b == no_slot) return listed_.size() == 1 && static_cast<double>(listed_[0]) == i.number;
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind_integers(i.b, listed_);
    if (!known.listed) return known.axes == 0 && listed_.size() == 1 && static_cast<double>(listed_[0]) == known.number;
    auto const before = s_.integers(i.b);
    bool same = before.size() == listed_.size();
    for (std::size_t k = 0; same && k < listed_.size(); ++k) same = before[k] == listed_[k];
    return same;
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  congruence& congruent_;
  match_state& s_;
  captured arguments_[condition::capacity];    // what a condition is asked about
  plain_vector<std::uint16_t> data_operands_;  // by name code: how many operands are data and not parameters
  plain_vector<value_view> views_;             // the values among them
  std::vector<std::int64_t> listed_;           // the parameter that is looked at
};

}  // namespace fuse::inline v0::detail
