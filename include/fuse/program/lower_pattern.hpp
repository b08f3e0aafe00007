// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/program/lower_parts.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

// Products and sums are lowered as multisets: their parts become `member` instructions of one frame, the most telling
// first (roots and reductions before captures), so that matching fails early and rules share prefixes.

/// Follows a chain of `through` terms, collecting its names; returns the term inside.
constexpr std::uint8_t lowering::collect_set(std::uint8_t at, through_set& set) {
  while (pattern_[at].kind == term_kind::through) {
    add_transparent(set, pattern_[at].name);
    at = pattern_[at].child[0];
  }
  return at;
}

constexpr void lowering::capture(std::uint8_t at, std::uint8_t r) {
  if (several_roots_) register_of_.of[at] = r;
  emit({.code = step::capture, .a = r, .b = bound_slot_of(at, slot_kind::value), .through = everywhere_id_});
}

/// What a term says of the value of the one below it: its name, or how many users it has.
constexpr void lowering::named(std::uint8_t at, std::uint8_t r) {
  auto const& t = pattern_.terms[at];
  if (t.kind == term_kind::known_as)
    emit({.code = step::capture, .a = r, .b = bound_slot(t.name, slot_kind::value)});
  else
    emit({.code = step::users, .a = r, .op = t.index, .through = everywhere_id_});
}

/// `alone`: the value has a name, or its users are counted.
constexpr void lowering::value(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around, bool alone) {
  if (failed_) return;
  auto const t = pattern_.terms[at];
  if (t.kind == term_kind::capture) return capture(at, r);  // the most frequent one
  auto const first_found = register_of_.of[at];
  bool const once = scale_ == 0 || scale_ == 1;
  if (first_found != 0 && t.kind == term_kind::neutral && !again_ && once && large(at)) {
    // A large part that occurs again is mostly the same computation; only else is it matched anew.
    return lower_forks(2, false, [&](int i) {
      if (i == 0) {
        emit({.code = step::same, .a = r, .b = first_found});
        return;
      }
      again_ = true;
      value(at, r, sign, around, alone);
      again_ = false;
    });
  }
  if (once) register_of_.of[at] = r;
  // The frequent ones first: constant evaluation walks through all the cases before.
  switch (t.kind) {
    case term_kind::neutral:
      if (group_[at] != op_group::none) {
        if (!divides_products(t)) return group(at, r, sign, around);
        return lower_forks(2, false, [&](int i) { i == 0 ? group(at, r, sign, around) : operation(at, r, 0); });
      }
      if (reduction_[at]) return reduction(t, r, alone);
      return operation(at, r, 0);
    case term_kind::named:
    case term_kind::exact: return operation(at, r, 0);
    case term_kind::scalar: {
      bool const beside = r >= first_beside_ && r < first_beside_ + beside_;
      return emit({.code = step::scalar,
                   .a = r,
                   .b = bound_slot_of(at, slot_kind::number),
                   .c = beside ? first_beside_ : std::uint8_t{0},
                   .count = beside ? beside_ : std::uint8_t{0}});
    }
    case term_kind::number: {
      bool const beside = r >= first_beside_ && r < first_beside_ + beside_;
      return emit({.code = step::number,
                   .a = r,
                   .c = beside ? first_beside_ : std::uint8_t{0},
                   .count = beside ? beside_ : std::uint8_t{0},
                   .tolerance = static_cast<float>(t.tolerance),
                   .number = t.number});
    }
    case term_kind::alternatives:
      return lower_forks(t.children, false, [&](int i) { value(t.child[i], r, sign, around, alone); });
    case term_kind::optional: {
      auto const before = bound_;
      auto const registers = register_of_;
      auto const fork = size_;
      emit({.code = step::fork});
      value(t.child[0], r);
      auto const skipped = detach();
      pend(fork, true);
      emit({.code = step::missing, .a = r});
      pending_ = chained(skipped, pending_);
      bound_ = before;
      register_of_ = registers;
      return;
    }
    case term_kind::no_operand: return emit({.code = step::missing, .a = r});
    case term_kind::wrapped: {
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      auto const inner = new_register();
      auto const op = names_.rows[code - 1u].op;
      return lower_forks(2, false, [&](int i) {
        if (i == 0) {
          if (op == opcode::opaque)
            emit({.code = step::exactly, .a = r, .b = inner, .op = code, .count = 1, .through = everywhere_id_});
          else
            emit({.code = step::operation,
                  .a = r,
                  .b = inner,
                  .op = static_cast<std::uint16_t>(op),
                  .count = 1,
                  .through = everywhere_id_});
        } else {
          emit({.code = step::strip, .a = r, .b = inner});  // of nothing: a copy
        }
        if (i == 1) register_of_.of[t.child[0]] = inner;
        value(t.child[0], inner);
      });
    }
    case term_kind::through: {
      through_set set{};
      auto const inside = collect_set(at, set);
      auto const inner = new_register();
      emit({.code = step::strip, .a = r, .b = inner, .through = set_id(set)});
      return value(inside, inner, sign, around, alone);
    }
    case term_kind::rearranged: {
      auto const inner = new_register();
      auto const what = rearranged(t, true);
      if (failed_) return;
      auto const& below = pattern_[t.child[0]];
      bool const known = below.kind == term_kind::neutral && !is_spelled(t.child[0]);
      emit({.code = step::rearranged,
            .a = r,
            .b = inner,
            .op = what,
            .through = everywhere_id_,
            .number = known ? 1. + static_cast<double>(below.op) : 0});
      bool const free = free_;
      free_ = false;  // its shape matters
      value(t.child[0], inner);
      free_ = free;
      return;
    }
    case term_kind::users:
    case term_kind::known_as: named(at, r); return value(t.child[0], r, sign, around, true);
    case term_kind::result:
      if (!is_node(pattern_.terms[t.child[0]]) || t.index > 255)
        return fail(rule_error::result_of_no_operator, rule_.name);
      return operation(t.child[0], r, static_cast<std::uint8_t>(t.index));
    case term_kind::rest: return fail(rule_error::rest_not_last, t.name);
    case term_kind::parameter: return fail(rule_error::parameter_as_value, t.name);
    default: return fail(rule_error::misplaced, rule_.name);
  }
}

constexpr void lowering::operation(std::uint8_t at, std::uint8_t r, std::uint8_t result) {
  auto const t = pattern_.terms[at];
  bool const by_name = t.kind != term_kind::neutral;
  int const operands = t.children - t.attributes;
  bool const has_rest = operands > 0 && priority_[t.child[operands - 1]] == rest_priority;
  int const plain = has_rest ? operands - 1 : operands;
  auto const first = new_registers(plain);
  auto const count = static_cast<std::uint8_t>(has_rest ? plain | 0x80 : plain);
  auto const op = t.kind == term_kind::exact ? names_.rows[t.index - 1u].op : t.op;
  // (Not through the operator itself, of which it is the first one that counts.)
  bool const passed = by_name && everywhere_.contains(t.index, static_cast<std::uint16_t>(op));
  auto const through = passed ? std::uint8_t{0} : everywhere_id_;
  if (by_name) {
    emit({.code = step::exactly, .a = r, .b = first, .c = result, .op = t.index, .count = count, .through = through});
  } else {
    bool const commutes = operands == 2 && !has_rest && facts_of(t.op).commutative;
    emit({.code = step::operation,
          .a = r,
          .b = first,
          .c = result,
          .op = static_cast<std::uint16_t>(t.op),
          .count = count,
          .through = through,
          .flags = commutes ? instruction::commutes : std::uint8_t{0}});
  }
  // What the pattern leaves open is the same wherever the operator occurs.
  if (times_[at] > 1) emit({.code = step::agrees, .a = r, .b = node_slot(at), .through = through});
  if (t.attributes != 0) attributes(t, r, through);
  bool const free = free_, broadcasts = facts_of(op).broadcasts;
  auto const first_before = first_beside_, before = beside_;
  free_ = free && !by_name && broadcasts;
  first_beside_ = first;
  beside_ = broadcasts && !free ? static_cast<std::uint8_t>(plain) : std::uint8_t{0};
  // Operators before captures: what is more telling is tested first.
  int later = 0;
  for (int i = 0; i < plain; ++i)
    if (priority_[t.child[i]] >= 5)
      ++later;
    else
      value(t.child[i], static_cast<std::uint8_t>(first + i));
  for (int i = 0; later != 0; ++i) {
    if (priority_[t.child[i]] < 5) continue;
    --later;
    if (pattern_.terms[t.child[i]].kind == term_kind::capture)
      capture(t.child[i], static_cast<std::uint8_t>(first + i));
    else
      value(t.child[i], static_cast<std::uint8_t>(first + i));
  }
  free_ = free;
  first_beside_ = first_before;
  beside_ = before;
  if (has_rest) {
    emit({.code = step::operands,
          .a = r,
          .b = bound_rest(t.child[plain], op_group::none),
          .count = static_cast<std::uint8_t>(plain),
          .through = through});
  }
}

constexpr void lowering::attributes(term const& t, std::uint8_t r, std::uint8_t through, static_text except) {
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& a = pattern_[t.child[i]];
    if (a.kind != term_kind::attribute) return fail(rule_error::misplaced, rule_.name);
    if (a.name == except) continue;
    instruction made{.code = step::parameter, .a = r, .b = no_slot, .op = parameter_name(a.name), .through = through};
    if (a.children == 0) {
      made.number = a.number;
      made.tolerance = static_cast<float>(usual_tolerance);
    } else {
      auto const& holder = pattern_[a.child[0]];
      if (holder.kind == term_kind::number) {
        made.number = holder.number;
        made.tolerance = static_cast<float>(holder.tolerance);
      } else if (holder.kind == term_kind::list) {
        auto const op = t.kind == term_kind::exact ? names_.rows[t.index - 1u].op : t.op;
        if (a.name == static_text::of("axes") && has_set_of_axes(op))
          axes_required(a, made);
        else
          list_of_numbers(holder, made);
        continue;
      } else if (!captures(holder)) {
        return fail(rule_error::misplaced, rule_.name);
      } else {
        made.b = bound_slot(holder.name, holder.kind == term_kind::scalar ? slot_kind::number : slot_kind::parameter);
      }
    }
    emit(made);
  }
}

/// An instruction for each number of a list.
constexpr void lowering::list_of_numbers(term const& list, instruction made) {
  made.code = step::element;
  made.count = list.children;
  for (made.c = 0; made.c < list.children; ++made.c) {
    auto const& entry = pattern_[list.child[made.c]];
    if (entry.kind != term_kind::number) return fail(rule_error::list_of_no_numbers, rule_.name);
    made.number = entry.number;
    emit(made);
  }
}

constexpr void lowering::reduction(term const& t, std::uint8_t r, bool alone) {
  constexpr auto standard = static_text::of("axes");
  auto axes = standard;
  std::uint8_t required = 0;  // 1 + the attribute that says which
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& a = pattern_[t.child[i]];
    if (a.name != standard) continue;
    if (a.children == 1 && captures(pattern_[a.child[0]]))
      axes = pattern_[a.child[0]].name;
    else
      required = static_cast<std::uint8_t>(t.child[i] + 1);
  }
  auto const inner = new_register();
  auto const s =
      required == 0 ? bound_slot(axes, slot_kind::parameter) : nameless_slot(slot_[required - 1], slot_kind::parameter);
  emit({.code = step::reduction,
        .a = r,
        .b = inner,
        .c = s,
        .op = static_cast<std::uint16_t>(t.op),
        .through = everywhere_id_,
        .flags = alone ? instruction::alone : std::uint8_t{0}});
  if (required != 0) axes_required(pattern_[required - 1], {.a = inner, .b = s});
  attributes(t, r, everywhere_id_, standard);
  bool const free = free_;
  free_ = false;
  value(t.child[0], inner);
  free_ = free;
}

/// The axes that an attribute of the pattern names, one or a list of them, where their order says nothing.
constexpr void lowering::axes_required(term const& by, instruction made) {
  std::uint64_t from_last = 0;
  made.code = step::over;
  made.op = 0;
  auto const add = [&](double axis) {  // (No tensor has further ones: a mask without them holds of none.)
    if (axis < 0 && axis >= -52) from_last |= std::uint64_t{1} << static_cast<int>(-1 - axis);
    if (axis >= 0 && axis < 16) made.op = static_cast<std::uint16_t>(made.op | 1 << static_cast<int>(axis));
    ++made.count;
  };
  auto const* holder = by.children == 0 ? nullptr : &pattern_[by.child[0]];
  if (holder == nullptr) {
    add(by.number);
  } else if (holder->kind == term_kind::number) {
    add(holder->number);
  } else if (holder->kind != term_kind::list) {
    return fail(rule_error::misplaced, rule_.name);
  } else {
    for (int i = 0; i < holder->children; ++i) {
      auto const& entry = pattern_[holder->child[i]];
      if (entry.kind != term_kind::number) return fail(rule_error::list_of_no_numbers, rule_.name);
      add(entry.number);
    }
  }
  made.number = static_cast<double>(from_last);
  emit(made);
}

constexpr void lowering::group(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around) {
  auto const kind = group_[at];
  auto found = parts_of(at, 1, kind);
  if (found.overflow) return fail(rule_error::too_large, rule_.name);
  auto const frame = next_frame_++;
  if (frame == 31) return fail(rule_error::too_large, rule_.name);
  bool const added = scale_ != 0;
  if (auto const needed = needs_directly(found, kind, added); needed != 0)
    emit({.code = step::within, .a = r, .c = 1, .number = static_cast<double>(needed)});
  if (auto const needed = needs_[at]; needed != 0)
    emit({.code = step::within, .a = r, .number = static_cast<double>(needed)});
  auto const t = pattern_.terms[at];
  bool const clips = kind == op_group::sum && t.index != 0;
  bool const divides =
      t.op == opcode::div && !(added && scale_ != 1) && is_operand(t.child[0]) && is_operand(t.child[1]);
  if (added && scale_ != 1) add_number(scale_, 1, found);
  scale_ = 0;
  bool const scales = kind == op_group::product && found.has_number;
  emit({.code = step::group,
        .a = r,
        .b = frame,
        .c = static_cast<std::uint8_t>(sign),
        .op = static_cast<std::uint16_t>(kind),
        .count = around,
        .through = everywhere_id_,
        .flags = static_cast<std::uint8_t>((clips ? instruction::clips : 0) | (divides ? instruction::divides : 0) |
                                           (scales ? instruction::scales : 0))});
  whole_group(found, kind, frame, false);
}
/// The members of a frame and its end.
constexpr void lowering::whole_group(parts const& found, op_group kind, std::uint8_t frame, bool branch) {
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto const p = found.all[i];
    if (p.priority == rest_priority) continue;
    auto const of = pattern_.terms[p.term].kind;
    if ((of == term_kind::alternatives || of == term_kind::optional) && may_add_number(p.term, kind))
      return branches(found, i, kind, frame);
    member(p.term, p.weight, kind, frame);
  }
  finish_group(found, kind, frame, branch);
}
/// The numbers of a branch and those around it make one: all that follows part `at` of a frame stands in each branch.
constexpr void lowering::branches(parts const& found, int at, op_group kind, std::uint8_t frame) {
  auto const p = found.all[at];
  auto const t = pattern_.terms[p.term];
  bool const optional = t.kind == term_kind::optional;
  auto partly = partly_;
  lower_forks(optional ? 2 : t.children, false, [&](int k) {
    parts all{};
    if (k < t.children) all = parts_of(t.child[k], p.weight, kind);
    if (all.overflow || all.count + found.count - at > 24) return fail(rule_error::too_large, rule_.name);
    int first_rest = all.count;
    while (first_rest > 0 && all.all[first_rest - 1].priority == rest_priority) --first_rest;
    int const moved = found.count - at - 1;
    for (int i = all.count; i-- > first_rest;) all.all[i + moved] = all.all[i];
    for (int i = 0; i < moved; ++i) all.all[first_rest + i] = found.all[at + 1 + i];
    all.count = static_cast<std::uint8_t>(all.count + moved);
    if (k == t.children)
      all.number = found.number;
    else
      all.number = kind == op_group::product ? all.number * found.number : all.number + found.number;
    all.has_number = all.has_number || found.has_number;
    if (found.tolerance > all.tolerance) all.tolerance = found.tolerance;
    whole_group(all, kind, frame, true);
    partly |= partly_;
  });
  if (optional) partly_ = partly;  // a name that is absent is no mistake
}
/// Whether a term may add a number to those of a sum or product that it is part of.
constexpr bool lowering::may_add_number(std::uint8_t at, op_group kind) const {
  auto const& t = pattern_.terms[at];
  if (t.kind == term_kind::number) return true;
  bool const opens = t.kind == term_kind::alternatives || t.kind == term_kind::optional || group_[at] == kind;
  if (!opens || t.kind == term_kind::rest) return kind == op_group::product && is_factor(at);
  int const count = t.op == opcode::pow ? 1 : t.children;
  for (int i = 0; i < count; ++i)
    if (may_add_number(t.child[i], kind)) return true;
  return false;
}

/// Whether a term is a quotient with a product for an operand, which integers have as it is written alone: they are
/// rounded in between.
constexpr bool lowering::divides_products(term const& t) const {
  if (t.op != opcode::div || scale_ != 0) return false;
  bool found = false;
  for (int i = 0; i < 2; ++i) {
    auto const& of = pattern_.terms[t.child[i]];
    bool const product = of.kind == term_kind::neutral && of.op == opcode::mul;
    if (!product && !is_operand(t.child[i])) return false;
    found = found || product;
  }
  return found;
}

/// Whether a quotient takes a term as it stands: none of its factors is one of the quotient's.
constexpr bool lowering::is_operand(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  bool const branches = t.kind == term_kind::alternatives || t.kind == term_kind::optional;
  for (int i = 0; branches && i < t.children; ++i)
    if (!is_operand(t.child[i])) return false;
  return branches || (group_[at] != op_group::product && !is_factor(at));
}

constexpr void lowering::finish_group(parts const& found, op_group kind, std::uint8_t frame, bool branch) {
  if (found.has_number && (branch || found.number != (kind == op_group::product ? 1 : 0)))
    emit({.code = step::literal, .a = frame, .tolerance = found.tolerance, .number = found.number});
  int const count = found.count;
  int rest = count;  // the last ones
  while (rest > 0 && found.all[rest - 1].priority == rest_priority) --rest;
  for (; rest < count; ++rest) {
    bool const some = pattern_.terms[found.all[rest].term].index != 0;
    emit({.code = step::rest,
          .a = frame,
          .b = bound_rest(found.all[rest].term, kind),
          .flags = some ? instruction::some : std::uint8_t{0},
          .number = found.all[rest].weight});
  }
  emit({.code = step::close, .a = frame});
}

constexpr void lowering::member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const t = pattern_.terms[at];
  if (t.kind == term_kind::alternatives)
    return lower_forks(t.children, false, [&](int i) { spliced(t.child[i], weight, kind, frame); });
  bool const optional = t.kind == term_kind::optional;
  auto const& inside = optional ? pattern_.terms[t.child[0]] : t;
  if (inside.kind == term_kind::scalar)
    return emit({.code = step::scalar_member,
                 .a = frame,
                 .b = bound_slot(inside.name, slot_kind::number),
                 .flags = optional ? instruction::optional : std::uint8_t{0},
                 .number = weight});
  if (optional) return lower_forks(1, true, [&](int) { spliced(t.child[0], weight, kind, frame); });
  bool const twice = weight == 2 || (kind == op_group::sum && weight == -2);
  if (twice && t.kind != term_kind::capture)
    // A square is one part squared (or one computation twice), or two computations that match alike; so is what is
    // added twice.
    return lower_forks(2, false, [&](int i) {
      if (i == 0) return one_member(at, weight, kind, frame);
      one_member(at, weight / 2, kind, frame);
      one_member(at, weight / 2, kind, frame);
    });
  one_member(at, weight, kind, frame);
}

/// Whether a term is a sum in a sum, or a product in a product, that stays together: its users are counted, or it has a
/// name.
constexpr bool lowering::is_one_node(std::uint8_t at, op_group kind) const {
  auto const& t = pattern_.terms[at];
  if (t.kind != term_kind::users && t.kind != term_kind::known_as) return false;
  return group_[t.child[0]] == kind || is_one_node(t.child[0], kind);
}

constexpr void lowering::one_member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const group = group_[at];
  auto const r = new_register();
  instruction made{.code = step::member, .a = frame, .b = r, .number = weight};
  auto sign = sign_use::strict;
  if (pattern_.terms[at].kind == term_kind::capture || is_one_node(at, kind)) {
    made.flags = instruction::captures;
  } else if (kind == op_group::sum && group == op_group::product) {
    made.flags = instruction::any_sign;
    // Several times a product is a product with one more number.
    scale_ = weight < 0 ? -weight : weight;
    made.number = weight < 0 ? -1 : 1;
    if (scale_ != 1 || has_number_[at]) made.flags |= instruction::scales;
  } else if (kind == op_group::product && group == op_group::sum) {
    auto const whole = static_cast<int>(weight);
    if (whole == weight) sign = whole % 2 == 0 ? sign_use::free : sign_use::linked;
  }
  emit(made);
  value(at, r, sign, frame);
}

/// An alternative or optional part that adds no number: when it is of the frame's own group, its parts are the frame's.
constexpr void lowering::spliced(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const found = parts_of(at, weight, kind);
  if (found.overflow) return fail(rule_error::too_large, rule_.name);
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto const p = found.all[i];
    if (p.priority != rest_priority) member(p.term, p.weight, kind, frame);
  }
  if (found.has_number && found.number != (kind == op_group::product ? 1 : 0))
    emit({.code = step::literal, .a = frame, .tolerance = found.tolerance, .number = found.number});
}

// Whether a term is a node of its own, and no name for one, nor a choice among several.
constexpr bool lowering::is_node(term const& t) {
  return t.kind == term_kind::neutral || t.kind == term_kind::named || t.kind == term_kind::exact;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
