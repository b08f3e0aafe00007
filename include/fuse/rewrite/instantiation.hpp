// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/match/layout_steps.hpp>
#include <fuse/rewrite/broadcast_operand.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/casts.hpp>
#include <fuse/rewrite/constant_contents.hpp>
#include <fuse/rewrite/extent_lists.hpp>
#include <fuse/rewrite/folding.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/rearranged_operand.hpp>
#include <fuse/rewrite/reshaped_operand.hpp>

namespace fuse::inline v0::detail {

/// Builds the right sides of rules from matches, each in an open transaction. One for all: its buffers stay.
template <class Image>
class basic_instantiation {
 public:
  basic_instantiation(program const& rules, match_state const& match, Image& image, facts& known, dialect const& names,
                      target to, basic_transaction<Image>& into, basic_matched_requirements<Image>& required)
      : rules_(rules),
        match_(match),
        image_(image),
        facts_(known),
        names_(names),
        to_(to),
        into_(into),
        folding_(rules, match, image, known),
        broadcast_(image, known, names, to, into),
        writer_(image, known, names, to, into, &required),
        lists_(match, image, known, folding_, writer_, into),
        reshapes_(known, writer_, required, into),
        rearranged_(image, known, names, reshapes_, writer_, into) {}

  /// How many forms the right side of a rule has.
  [[nodiscard]] std::uint8_t forms(std::uint16_t rule) const {
    auto const& known = rules_.rules[rule];
    auto const& top = rules_.replacements[known.first_replacement + known.replacement_size - 1u];
    return top.what == kind::either ? top.children : std::uint8_t{1};
  }

  /// The values that the right side of `rule`, in that form, has for its roots, made beside node `place`.
  /// `computed_in`, where that is known: operators with an operand of `row` are computed in that wider type, between
  /// two Casts.
  built<span<value_id const>> build(std::uint16_t rule, std::uint8_t form, node_id place, element_type computed_in) {
    info_ = &rules_.rules[rule];
    terms_ = rules_.replacements.subspan(info_->first_replacement, info_->replacement_size);
    choose();
    lists_.begin(terms_, *info_);
    place_ = place;
    writer_.begin(place);
    broadcast_.begin(place);
    replaced_.clear();
    for (std::uint8_t i = 0; i < info_->root_count; ++i) replaced_.push_back(root(i));
    rearranged_.begin(replaced_);
    computed_in_ = computed_in;
    type_ = facts_.type(match_.value(0));
    done_.assign(info_->replacement_size, result{});
    operands_.clear();
    made_.clear();
    auto top = chosen(static_cast<std::uint8_t>(terms_.size() - 1));
    if (terms_[top].what == kind::either) top = chosen(terms_[top].child[form]);
    auto const& t = terms_[top];
    bool const several = t.what == kind::roots;
    auto const roots = several ? span<std::uint8_t const>(t.child, t.children) : span<std::uint8_t const>(&top, 1);
    for (auto at : roots) needs_results(at, 1);
    for (auto at : roots) {
      auto made = value(at, type_);
      if (!made) return made.why();
      if (*made == absent) return objection{"the right side has no value here"};
      made_.push_back(*made);
    }
    return span<value_id const>(made_);
  }
  /// The graph has changed.
  void forget() { rearranged_.forget(); }
  /// Nodes whose results the right side that was built last reads no more, as it is made from what is below them.
  [[nodiscard]] span<node_id const> passed() const { return rearranged_.passed(); }

 private:
  using kind = replacement_term::kind;
  struct result {
    bool ready = false;
    value_id value = absent;
    std::uint32_t results = 1;
  };

  // What or_else stands for in this match takes its place.
  void choose() {
    bool any = false;
    for (auto const& t : terms_) any = any || t.what == kind::or_else;
    if (!any) return;
    chosen_.assign(terms_);
    for (auto& t : chosen_) {
      for (std::uint8_t i = 0; i < t.children; ++i) t.child[i] = chosen(t.child[i]);
      for (std::uint8_t i = 0; i < t.parameter_count; ++i)
        if (auto& term = t.parameters[i].term; term != no_slot) term = chosen(term);
    }
    terms_ = chosen_;
  }
  [[nodiscard]] std::uint8_t chosen(std::uint8_t at) const {
    while (terms_[at].what == kind::or_else) {
      auto const slot = terms_[terms_[at].child[0]].slot;
      bool const rest = info_->slot_kinds[slot] == slot_kind::rest;
      bool const there = match_.slot(slot).bound && !(rest && match_.members(slot).empty());
      at = terms_[at].child[there ? 0 : 1];
    }
    return at;
  }

  // A value that the rule replaces.
  [[nodiscard]] value_id root(std::uint8_t i) const {
    return match_.value(i == 0 ? std::uint8_t{0} : info_->root_registers[i]);
  }

  // How many results of each operator are asked for.
  void needs_results(std::uint8_t at, std::uint32_t results) {
    auto const& t = terms_[at];
    if (t.what == kind::result) return needs_results(t.child[0], t.index + 1u);
    if (results > done_[at].results) done_[at].results = results;
    for (std::uint8_t i = 0; i < t.children; ++i) needs_results(t.child[i], 1);
  }

  // What a term stands for, absent where that is nothing; made once. A constant is made in element type `type`: that of
  // where it stands.
  built<value_id> value(std::uint8_t at, element_type type) {
    if (done_[at].ready && (!is_literal(at) || facts_.type(done_[at].value) == type)) return done_[at].value;
    auto made = make(at, type);
    if (made) done_[at].ready = true, done_[at].value = *made;
    return made;
  }
  built<value_id> make(std::uint8_t at, element_type type) {
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::slot: return slot_value(t.slot, type);
      case kind::number: return constant(dense::of(t.number), type);
      case kind::along: return objection{"along() stands inside fold()"};
      case kind::list:
      case kind::dimension:
      case kind::fold: {
        auto folded = folding_.compute(terms_, *info_, t.what == kind::fold ? t.child[0] : at, type);
        if (!folded) return t.what == kind::list && lists_.names_an_extent(t) ? lists_.at_run_time(t) : folded.why();
        if (t.what == kind::fold && t.index != 0 && !is_exact(*folded, type))
          return objection{"a constant would be rounded, and the rule takes it only as it is"};
        return constant(*folded, t.what == kind::list ? element_type::int64 : type);
      }
      case kind::optional: return needs_something_absent(t.child[0]) ? absent : value(t.child[0], type);
      case kind::row: return row(t);
      case kind::rearranged: {
        auto of = value(t.child[0], type);
        if (!of || *of == absent) return of;
        auto const& what = rules_.rearrangements[t.index];
        named_extents extents(what);
        know_bound(what, match_, facts_, extents);
        return rearranged_.make(what, extents, *of);
      }
      case kind::result: {
        auto first = value(t.child[0], type);
        if (!first || *first == absent) return first;
        return image_.result(image_.producer(*first), t.index);
      }
      case kind::neutral:
        if (auto const rest = inverse_rest(t); rest >= 0) return with_inverse_rest(t, rest, type);
        [[fallthrough]];
      case kind::again:
      case kind::named: return operation(t, done_[at].results, type);
      case kind::or_else:
      case kind::no_operand:
      case kind::further:
      case kind::either:
      case kind::roots: break;
    }
    return absent;
  }
  // Whether a term is a number, or several, in whatever element type is wanted.
  [[nodiscard]] bool is_literal(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::number || t.what == kind::fold || t.what == kind::dimension || t.what == kind::list)
      return true;
    auto const is = t.what == kind::slot ? info_->slot_kinds[t.slot] : slot_kind::value;
    return is == slot_kind::number || is == slot_kind::parameter;
  }

  built<value_id> constant(dense const& of, element_type type) {
    auto made = make_constant(type, of);
    if (!made) return made.why();
    return into_.constant_of(made.take());
  }

  built<value_id> slot_value(std::uint8_t at, element_type type) {
    auto const& s = match_.slot(at);
    if (!s.bound) return absent;
    switch (info_->slot_kinds[at]) {
      case slot_kind::value: return s.value;
      case slot_kind::number:
        if (s.value != absent && facts_.type(s.value) == type) return s.value;
        break;
      case slot_kind::parameter:
      case slot_kind::dimension: break;
      case slot_kind::rest: return joined(at, type, 1);
    }
    return constant(dense::of(s.number), type);
  }

  // A rest where one value is wanted: its product or sum; with weight -1, the inverse of it.
  built<value_id> joined(std::uint8_t at, element_type type, double weight) {
    auto const group = group_of_rest(at);
    auto const members = match_.members(at);
    value_id all = absent;
    for (double const sign : {1.0, -1.0})
      for (auto const& m : members) {
        auto const times = m.weight * weight;
        if ((times > 0) != (sign > 0)) continue;
        if (times != 1 && times != -1) return objection{"a factor that is left over is raised to a power"};
        if (all == absent && times == 1) {
          all = m.value;
          continue;
        }
        if (all == absent) {
          auto neutral = constant(dense::of(group == op_group::product ? 1 : 0), type);
          if (!neutral) return neutral;
          all = *neutral;
        }
        value_id const operands[2] = {all, m.value};
        auto made = writer_.neutral(joining(group, times), operands, {}, 1);
        if (!made) return made;
        all = *made;
      }
    return all;
  }
  [[nodiscard]] op_group group_of_rest(std::uint8_t slot) const {
    return static_cast<op_group>(match_.slot(slot).axes);
  }

  // Which operand of a sum or product of two is a rest whose members are all subtracted, or divided by; -1 is none. The
  // other way to join it is written then, `x / c` for `x * (1 / c)`.
  [[nodiscard]] int inverse_rest(replacement_term const& t) const {
    if (!may_lack_one(t)) return -1;
    bool const commutes = !is_inverse(static_cast<opcode>(t.op));
    for (std::uint8_t i = commutes ? 0 : 1; i < 2; ++i) {
      auto const other = t.child[1 - i];
      if (terms_[other].what != kind::row && !is_literal(other) && !is_list(other) && is_inverse_rest(t, t.child[i]))
        return i;
    }
    return -1;
  }
  [[nodiscard]] bool is_inverse_rest(replacement_term const& of, std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what != kind::slot || info_->slot_kinds[t.slot] != slot_kind::rest || is_list(at)) return false;
    bool inverse = !members_of(t.slot).empty() && group_of_rest(t.slot) == info(static_cast<opcode>(of.op)).group;
    for (auto const& m : members_of(t.slot)) inverse = inverse && m.weight < 0;
    return inverse;
  }
  built<value_id> with_inverse_rest(replacement_term const& t, int rest, element_type type) {
    auto const op = static_cast<opcode>(t.op);
    auto of = value(t.child[1 - rest], type);
    if (!of) return of;
    auto const weight = is_inverse(op) ? 1.0 : -1.0;
    if (*of == absent && weight > 0) return objection{nothing_to_take_from};
    auto joint = joined(terms_[t.child[rest]].slot, type, *of == absent ? 1 : -1);
    if (!joint || *of == absent) return joint;
    value_id const operands[2] = {*of, *joint};
    return writer_.neutral(joining(info(op).group, weight), operands, {}, 1);
  }
  [[nodiscard]] static bool is_inverse(opcode op) { return op == opcode::sub || op == opcode::div; }
  static constexpr auto const* nothing_to_take_from = "nothing is left to subtract or divide from";

  built<value_id> row(replacement_term const& t) {
    auto like = value(t.child[1], type_);
    if (!like) return like;
    if (terms_[t.child[1]].what != kind::slot || *like == absent)
      return objection{"row() needs a captured value to be like"};
    auto form = t.index != 0 ? along_axis(t, *like) : along_last_axes(t, *like);
    if (!form) return form.why();
    bool const required = t.number != 0;
    auto const& given = terms_[t.child[0]];
    if (given.what == kind::number) return broadcast_.filled(given.number, *form);  // for what is absent
    auto const group = group_of(t.child[0], required);
    members_.clear();
    if (!gather(t.child[0], 1, group, members_)) return objection{"row() takes captures, their products or their sums"};
    if (!required && absent_first(t.child[0])) return absent;
    return broadcast_.make(members_, group, *form, required);
  }
  // The form of a row: of an axis that the rule names, or of the last ones, as many as it captured.
  [[nodiscard]] built<operand_form> along_axis(replacement_term const& t, value_id like) const {
    operand_form form;
    if (!axis_alone(facts_, like, type_of_rows(like), t.index - 1u, form))
      return objection{"row_along() needs an axis that there is"};
    return form;
  }
  [[nodiscard]] built<operand_form> along_last_axes(replacement_term const& t, value_id like) const {
    int axes = 1;
    if (t.slot != no_slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound || s.axes == 0 || (s.axes & (s.axes + 1)) != 0)
        return objection{"row() needs the last axes, and others, or none that are known, were captured"};
      axes = std::popcount(s.axes);
    }
    return last_axes(facts_, like, type_of_rows(like), static_cast<std::size_t>(axes));
  }
  [[nodiscard]] element_type type_of_rows(value_id like) const {
    return computed_in_ != element_type::unknown ? computed_in_ : facts_.type(like);
  }

  // row(v * w, x), row_or_none(v + w, x): what is multiplied or added.
  op_group group_of(std::uint8_t at, bool required) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral) return info(static_cast<opcode>(t.op)).group;
    if (t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest && match_.slot(t.slot).bound)
      return group_of_rest(t.slot);
    return required ? op_group::product : op_group::sum;
  }
  bool gather(std::uint8_t at, double weight, op_group group, plain_vector<rest_member>& into) {
    auto const& t = terms_[at];
    if (t.what == kind::slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound) return true;
      if (info_->slot_kinds[t.slot] == slot_kind::rest) {
        if (group_of_rest(t.slot) != group) return false;
        for (auto const& m : match_.members(t.slot)) into.push_back({m.value, m.weight * weight});
        return true;
      }
      if (info_->slot_kinds[t.slot] != slot_kind::value) return false;
      into.push_back({s.value, weight});
      return true;
    }
    if (t.what != kind::neutral || t.children != 2 || info(static_cast<opcode>(t.op)).group != group) return false;
    auto const op = static_cast<opcode>(t.op);
    if (!is_inverse(op) && op != opcode::add && op != opcode::mul) return false;
    return gather(t.child[0], weight, group, into) &&
           gather(t.child[1], is_inverse(op) ? -weight : weight, group, into);
  }
  // Whether a term needs what is absent here.
  [[nodiscard]] bool needs_something_absent(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::slot) {
      bool const rest = info_->slot_kinds[t.slot] == slot_kind::rest;
      return !match_.slot(t.slot).bound || (rest && members_of(t.slot).empty());
    }
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (needs_something_absent(t.child[i])) return true;
    return false;
  }
  // What a row that may be none is made of is absent: there is nothing to multiply.
  bool absent_first(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral)
      return info(static_cast<opcode>(t.op)).group == op_group::product && absent_first(t.child[0]);
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::value && !match_.slot(t.slot).bound;
  }

  // An operator has the results that it cannot lack, and a node that takes the place of one of the same operator keeps
  // that one's.
  std::uint32_t kept_results(replacement_term const& t, std::uint32_t results) const {
    if (t.what == kind::neutral && results < info(static_cast<opcode>(t.op)).least_results)
      results = info(static_cast<opcode>(t.op)).least_results;
    for (std::uint8_t i = 0; i < info_->root_count; ++i) {
      auto const n = image_.producer(root(i));
      if (n == absent || image_.node(n).tag.op != t.op || t.what != kind::neutral) continue;
      std::uint32_t used = image_.node(n).result_count;
      while (used > results && image_.unused(image_.result(n, used - 1))) --used;
      if (used > results) results = used;
    }
    return results;
  }

  // Whether one operand and nothing, such as a rest that is empty, is that operand.
  [[nodiscard]] static bool may_lack_one(replacement_term const& t) {
    auto const op = static_cast<opcode>(t.op);
    return t.what == kind::neutral && (op == opcode::add || op == opcode::mul || is_inverse(op));
  }
  built<value_id> without_nothing(opcode op, std::size_t first) {
    auto const a = operands_[first], b = operands_[first + 1];
    operands_.resize(first);
    if (a == absent && is_inverse(op)) return objection{nothing_to_take_from};
    return a == absent ? b : a;
  }

  // Whether a term is a rest of operands, which stand one by one, or a rest that nothing is left over for.
  [[nodiscard]] bool is_list(std::uint8_t at) const {
    auto const& t = terms_[at];
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest &&
           (!match_.slot(t.slot).bound || match_.slot(t.slot).axes == 0);
  }
  [[nodiscard]] span<rest_member const> members_of(std::uint8_t slot) const {
    return match_.slot(slot).bound ? match_.members(slot) : span<rest_member const>{};
  }

  // What an operator that a term makes means.
  [[nodiscard]] opcode made_by(replacement_term const& t) const {
    bool const takes_over = t.what == kind::again && t.number != 0;
    if (takes_over && t.number < 0) return static_cast<opcode>(-t.number);
    if (t.what != kind::named && !takes_over) return static_cast<opcode>(t.op);
    auto const* row = names_.row(takes_over ? static_cast<std::uint16_t>(t.number) : t.op, image_.version);
    return row != nullptr ? row->op : opcode::opaque;
  }
  // Whether an operator takes what its operands have become: a rest may have left any number of them, or none.
  [[nodiscard]] bool takes_operands(replacement_term const& t, span<value_id const> operands) const {
    auto const& known = info(made_by(t));
    for (std::size_t i = 0; i < static_cast<std::size_t>(known.least); ++i)
      if (i >= operands.size() || operands[i] == absent) return false;
    return known.most < 0 || operands.size() <= static_cast<std::size_t>(known.most);
  }

  // Numbers among the operands are of the type of the others, so these come first.
  built<value_id> operation(replacement_term const& t, std::uint32_t results, element_type type) {
    results = kept_results(t, results);
    operand_terms const terms(terms_, t);
    value_id made_of[operand_terms::most];
    auto const op = t.what == kind::neutral ? static_cast<opcode>(t.op) : opcode::opaque;
    if (info(op).group == op_group::none && !may_keep_elements(op) && writer_.lacks(op)) return writer_.lacking(op);
    if (op == opcode::expand && terms_[t.child[1]].what == kind::list) {
      auto of = value(t.child[0], type);
      if (!of || *of == absent || lists_.is_shape_of(*of, terms_[t.child[1]])) return of;
    }
    auto const selects = op == opcode::where;
    auto of_numbers = element_type::unknown;
    for (bool const literals : {false, true})
      for (std::uint8_t i = 0; i < terms.count; ++i) {
        if (is_literal(terms.at[i]) != literals || is_list(terms.at[i])) continue;
        auto known = of_numbers != element_type::unknown ? of_numbers : type;
        if (selects && i == 0) known = element_type::boolean;
        if (auto const beside = number_beside(op, i); beside >= 0 && beside < i) known = facts_.type(made_of[beside]);
        auto operand = value(terms.at[i], known);
        if (!operand) return operand;
        made_of[i] = *operand;
        if (of_numbers == element_type::unknown && made_of[i] != absent && !(selects && i == 0))
          of_numbers = facts_.type(made_of[i]);
      }
    auto const first = operands_.size();  // below lie those of the operators that wait for this one
    for (std::uint8_t i = 0; i < terms.count; ++i) {
      auto const& child = terms_[terms.at[i]];
      if (!is_list(terms.at[i])) {
        operands_.push_back(made_of[i]);
        continue;
      }
      for (auto const& m : members_of(child.slot)) operands_.push_back(m.value);
      if (members_of(child.slot).empty() && may_lack_one(t)) operands_.push_back(absent);
    }
    if (may_lack_one(t) && operands_.size() == first + 2 &&
        (operands_[first] == absent || operands_[first + 1] == absent))
      return without_nothing(static_cast<opcode>(t.op), first);
    while (operands_.size() > first && operands_.back() == absent) operands_.pop_back();
    bool const between_casts = computed_in_ != element_type::unknown && t.what == kind::neutral && has_row(t);
    if (between_casts) {
      auto widened = cast(operands_[first], computed_in_);
      if (!widened) return widened;
      operands_[first] = *widened;
    }
    auto const operands = span<value_id const>(operands_).subspan(first);
    if (t.what == kind::neutral && changes_nothing(t, operands)) {
      value_id const same = operands.empty() ? absent : operands[0];
      operands_.resize(first);
      return same;
    }
    if (!takes_operands(t, operands)) return objection{"the operands here are too few or too many for an operator"};
    parameters_.clear();
    for (std::uint8_t i = 0; i < t.parameter_count; ++i) {
      auto const& p = t.parameters[i];
      if (p.term != no_slot) {
        auto made = computed(p);
        if (!made) return made.why();
        parameters_.push_back(*made);
      } else if (p.slot == no_slot || match_.slot(p.slot).bound)
        parameters_.push_back(parameter(p));
      else if (auto const* known = t.what == kind::neutral ? parameter_of(static_cast<opcode>(t.op), p.name) : nullptr;
               known != nullptr && known->fallback != known->fallback)
        return lacks(t, p.name);
    }
    auto const* reshapes =
        t.what == kind::neutral && op == opcode::reshape && operands.size() == 1 && parameters_.size() == 1
            ? std::get_if<std::vector<std::int64_t>>(&parameters_[0].content)
            : nullptr;
    auto made = reshapes != nullptr       ? reshapes_.make(operands[0], *reshapes)
                : t.what == kind::neutral ? writer_.neutral(static_cast<opcode>(t.op), operands, parameters_, results)
                : t.what == kind::named   ? writer_.named(t.op, operands, parameters_, results)
                                          : again(t, operands, results);
    operands_.resize(first);
    if (!made || !between_casts || facts_.type(*made) == type_) return made;
    return cast(*made, type_);
  }

  // Whether an operator is nothing as its first operand is, a Concat of one operand beside a rest of none, or a Cast to
  // the element type that there is.
  [[nodiscard]] bool changes_nothing(replacement_term const& t, span<value_id const> operands) const {
    auto const op = static_cast<opcode>(t.op);
    if (is_nothing_of_nothing(op) && (operands.size() == 0 || operands[0] == absent)) return true;
    if (op == opcode::concat) return operands.size() == 1 && t.children > 1;
    if (op != opcode::cast) return false;
    auto const& to = t.parameters[0];
    return t.parameter_count == 1 && to.name == "to" && to.slot == no_slot && to.term == no_slot &&
           static_cast<double>(facts_.type(operands[0])) == to.number;
  }

  // What a name of the pattern stands for, once more. Above the operator may stand what is looked through.
  built<value_id> again(replacement_term const& t, span<value_id const> operands, std::uint32_t results) {
    auto const& s = match_.slot(t.slot);
    auto const n = s.bound && s.value != absent ? image_.producer(s.value) : absent;
    if (n == absent) return objection{"again() names a value that no operator computes here"};
    auto const& tag = image_.node(n).tag;
    if (t.index != 0 ? tag.name != t.index : tag.op != t.op)
      return objection{"again() names a value that another operator passes on here"};
    if (t.number > 0)
      return writer_.taking_over(n, static_cast<std::uint16_t>(t.number), operands, parameters_, results);
    if (t.number < 0) return writer_.taking_over(n, static_cast<opcode>(-t.number), operands, parameters_, results);
    // How many it has may be part of what it computes.
    if (results > image_.node(n).result_count) return objection{"again() has no more results than the operator here"};
    return writer_.again(n, operands, parameters_, image_.node(n).result_count);
  }

  static objection lacks(replacement_term const& t, std::string_view parameter) {
    return {"the operator " + std::string(name_of(static_cast<opcode>(t.op))) + " needs a parameter '" +
            std::string(parameter) + "', and what gives it is absent here"};
  }
  [[nodiscard]] bool has_row(replacement_term const& t) const {
    for (auto each : operand_terms(terms_, t))
      if (terms_[each].what == kind::row) return true;
    return false;
  }
  built<value_id> cast(value_id v, element_type to) {
    auto const made = basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).make(v, to);
    if (made == absent) return objection{"the dialect has no Cast"};
    return made;
  }

  // A parameter that the right side computes.
  built<written_parameter> computed(replacement_term::given const& from) {
    written_parameter written{from.name};
    if (std::vector<std::int64_t> list; folding_.joined(terms_, from.term, list)) {
      written.give(std::move(list));
      return written;
    }
    auto made = folding_.numbers(terms_, *info_, from.term);
    if (!made) return made.why();
    if ((*made).shape.size() > 1)
      return objection{"the parameter '" + std::string(from.name) + "' would be a tensor of several axes"};
    if ((*made).shape.size() == 1) {
      if (exact_integers(*made))
        written.give({(*made).elements.begin(), (*made).elements.end()});
      else
        written.give_numbers({(*made).elements.begin(), (*made).elements.end()});
      return written;
    }
    written.number = (*made).elements[0];
    written.integer = math::is_finite(written.number) && math::is_whole(written.number);
    return written;
  }
  // A captured parameter is bound; one that is absent is not written.
  written_parameter parameter(replacement_term::given const& from) const {
    written_parameter made{from.name, from.number, from.integer};
    if (from.slot == no_slot) return made;
    auto const& s = match_.slot(from.slot);
    made.number = s.number;
    made.captured = info_->slot_kinds[from.slot] == slot_kind::parameter;
    made.integer = made.captured && math::is_finite(s.number) && math::is_whole(s.number);
    made.axes = made.captured ? s.axes : 0;
    if (s.listed) {
      auto const list = match_.integers(from.slot);
      made.give({list.begin(), list.end()});
    }
    return made;
  }

  program const& rules_;
  match_state const& match_;
  rule_info const* info_ = nullptr;
  span<replacement_term const> terms_;
  plain_vector<replacement_term> chosen_;  // where they have an or_else
  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_folding<Image> folding_;
  basic_broadcast_operand<Image> broadcast_;
  basic_operator_writer<Image> writer_;
  basic_extent_lists<Image> lists_;
  basic_reshaped_operand<Image> reshapes_;
  basic_rearranged_operand<Image> rearranged_;
  node_id place_ = absent;
  element_type computed_in_ = element_type::unknown, type_ = element_type::unknown;
  plain_vector<result> done_;
  plain_vector<rest_member> members_;  // of the last row()
  plain_vector<value_id> operands_, replaced_, made_;
  std::vector<written_parameter> parameters_;
};
using instantiation = basic_instantiation<graph_image>;

}  // namespace fuse::inline v0::detail
