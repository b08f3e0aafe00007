// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/row.hpp>

namespace fuse::inline v0::detail {

/// Builds the right sides of rules from matches, each in an open transaction. One for all: its buffers stay.
template <class Image>
class basic_instantiation {
 public:
  std::string reason;  ///< why there is no right side here
  /// What a scale or bias would need the norm to be computed in, where that is the reason; given to the constructor of
  /// another try, the norm's input is cast to it and the result back.
  element_type wider = element_type::unknown;
  plain_vector<value_id> roots;

  basic_instantiation(machine const& match, Image& image, facts& known, dialect const& names, target to,
                      basic_transaction<Image>& into)
      : match_(match),
        image_(image),
        facts_(known),
        names_(names),
        to_(to),
        into_(into),
        rows_(image, known, names, to, into, absent),
        writer_(image, known, names, to, into) {}

  /// The right side of `rule`, beside node `place`.
  bool build(std::uint16_t rule, node_id place, element_type computed_in = element_type::unknown) {
    info_ = &match_.rules().rules[rule];
    terms_ = match_.rules().replacements.subspan(info_->first_replacement, info_->replacement_size);
    place_ = place;
    writer_.begin(place);
    computed_in_ = computed_in;
    done_.assign(info_->replacement_size, result{});
    operands_.clear();
    reason.clear();
    wider = element_type::unknown;
    roots.clear();
    auto const root = static_cast<std::uint8_t>(terms_.size() - 1);
    type_ = facts_.type(match_.value(0));
    if (terms_[root].what != kind::roots) {
      needs_results(root, 1);
      return add_root(root);
    }
    for (std::uint8_t i = 0; i < terms_[root].children; ++i) needs_results(terms_[root].child[i], 1);
    for (std::uint8_t i = 0; i < terms_[root].children; ++i)
      if (!add_root(terms_[root].child[i])) return false;
    return true;
  }

 private:
  using kind = replacement_term::kind;
  struct result {
    bool ready = false;
    value_id value = absent;
    std::uint32_t results = 1;
  };

  bool add_root(std::uint8_t at) {
    auto const v = value(at, type_);
    if (v == absent) {
      if (reason.empty()) reason = "the right side has no value here";
      return false;
    }
    roots.push_back(v);
    return true;
  }

  // How many results of each operator are asked for.
  void needs_results(std::uint8_t at, std::uint32_t results) {
    auto const& t = terms_[at];
    if (t.what == kind::result) return needs_results(t.child[0], t.index + 1u);
    if (results > done_[at].results) done_[at].results = results;
    for (std::uint8_t i = 0; i < t.children; ++i) needs_results(t.child[i], 1);
  }

  value_id fail(std::string why) {
    if (reason.empty()) reason = std::move(why);
    return absent;
  }

  // A constant is made in element type `type`: that of where it stands.
  value_id value(std::uint8_t at, element_type type) {
    auto& mine = done_[at];
    if (mine.ready && (!is_literal(at) || facts_.type(mine.value) == type)) return mine.value;
    mine.ready = true;
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::slot: mine.value = slot_value(t.slot, type); break;
      case kind::number: mine.value = constant(dense::of(t.number), type); break;
      case kind::fold: {
        dense made;
        mine.value = computed(t.child[0], made) ? constant(made, type) : fail("an operand of fold is not a constant");
        break;
      }
      case kind::row: mine.value = row(t); break;
      case kind::result: {
        auto const first = value(t.child[0], type);
        mine.value = first == absent ? absent : image_.result(image_.producer(first), t.index);
        break;
      }
      case kind::neutral:
      case kind::named: mine.value = operation(t, mine.results, type); break;
      case kind::roots: break;
    }
    return mine.value;
  }
  // Whether a term is a number, or several, in whatever element type is wanted.
  [[nodiscard]] bool is_literal(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::number || t.what == kind::fold) return true;
    auto const is = t.what == kind::slot ? info_->slot_kinds[t.slot] : slot_kind::value;
    return is == slot_kind::number || is == slot_kind::parameter;
  }

  value_id constant(dense const& of, element_type type) {
    auto made = make_tensor(type, of.shape, of.elements);
    if (made.type == element_type::unknown) return fail("a constant of this element type cannot be made");
    if (!is_floating(type))
      for (std::size_t i = 0; i < of.elements.size(); ++i)
        if (made.number(i) != of.elements[i])
          return fail("the number " + std::to_string(of.elements[i]) + " is no " + std::string(name_of(type)));
    return into_.constant_of(std::move(made));
  }

  value_id slot_value(std::uint8_t at, element_type type) {
    auto const& s = match_.slot(at);
    if (!s.bound) return absent;
    switch (info_->slot_kinds[at]) {
      case slot_kind::value: return s.value;
      case slot_kind::number:
        return s.value != absent && facts_.type(s.value) == type ? s.value : constant(dense::of(s.number), type);
      case slot_kind::parameter: return constant(dense::of(s.number), type);
      case slot_kind::rest: return product_of(at, type);
    }
    return absent;
  }

  // A rest where one value is wanted: its product or sum.
  value_id product_of(std::uint8_t at, element_type type) {
    auto const group = static_cast<op_group>(match_.slot(at).axes);
    auto const members = match_.members(at);
    value_id made = absent;
    for (int pass = 0; pass < 2; ++pass)
      for (auto const& m : members) {
        if ((m.weight > 0) != (pass == 0)) continue;
        if (m.weight != 1 && m.weight != -1) return fail("a factor that is left over is raised to a power");
        if (made == absent && m.weight == 1) {
          made = m.value;
          continue;
        }
        if (made == absent) made = constant(dense::of(group == op_group::product ? 1 : 0), type);
        value_id const operands[2] = {made, m.value};
        auto const op = group == op_group::product ? (m.weight > 0 ? opcode::mul : opcode::div)
                        : m.weight > 0             ? opcode::add
                                                   : opcode::sub;
        made = written(writer_.neutral(op, operands, {}, 1));
        if (made == absent) return absent;
      }
    return made;
  }

  value_id row(replacement_term const& t) {
    auto const& like = terms_[t.child[1]];
    auto const x = value(t.child[1], type_);
    if (like.what != kind::slot || x == absent) return fail("row() needs a captured value to be like");
    int axes = 1;
    if (t.slot != no_slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound || s.axes == 0 || (s.axes & (s.axes + 1)) != 0)
        return fail("row() needs the last axes, and others, or none that are known, were captured");
      axes = std::popcount(s.axes);
    }
    bool const required = t.number != 0;
    auto const group = group_of(t.child[0], required);
    auto& members = row_members_;
    members.clear();
    if (!gather(t.child[0], 1, group, members)) return fail("row() takes captures, their products or their sums");
    if (!required && absent_first(t.child[0])) return absent;
    rows_.begin(place_);
    auto const made = rows_.make(members, group, x,
                                 computed_in_ != element_type::unknown ? computed_in_ : facts_.type(x), axes, required);
    if (rows_.wider) wider = rows_.widest;
    return rows_.reason.empty() ? made : fail(rows_.reason);
  }

  // row(scale * factor, x), row_or_none(bias + addend, x): what is multiplied or added.
  op_group group_of(std::uint8_t at, bool required) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral) return info(static_cast<opcode>(t.op)).group;
    if (t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest && match_.slot(t.slot).bound)
      return static_cast<op_group>(match_.slot(t.slot).axes);
    return required ? op_group::product : op_group::sum;
  }
  bool gather(std::uint8_t at, double weight, op_group group, plain_vector<rest_member>& into) {
    auto const& t = terms_[at];
    if (t.what == kind::slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound) return true;
      if (info_->slot_kinds[t.slot] == slot_kind::rest) {
        if (static_cast<op_group>(s.axes) != group) return false;
        for (auto const& m : match_.members(t.slot)) into.push_back({m.value, m.weight * weight});
        return true;
      }
      if (info_->slot_kinds[t.slot] != slot_kind::value) return false;
      into.push_back({s.value, weight});
      return true;
    }
    if (t.what != kind::neutral || t.children != 2 || info(static_cast<opcode>(t.op)).group != group) return false;
    auto const op = static_cast<opcode>(t.op);
    bool const inverse = op == opcode::sub || op == opcode::div;
    if (!inverse && op != opcode::add && op != opcode::mul) return false;
    return gather(t.child[0], weight, group, into) && gather(t.child[1], inverse ? -weight : weight, group, into);
  }
  // What a row that may be none is made of is absent: there is nothing to multiply.
  bool absent_first(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral)
      return info(static_cast<opcode>(t.op)).group == op_group::product && absent_first(t.child[0]);
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::value && !match_.slot(t.slot).bound;
  }

  // fold(...): a subtree of the right side in double precision.
  bool computed(std::uint8_t at, dense& into) {
    auto const& t = terms_[at];
    if (t.what == kind::number) return into = dense::of(t.number), true;
    if (t.what == kind::slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound) return false;
      if (info_->slot_kinds[t.slot] != slot_kind::value)
        return into = dense::of(s.number), info_->slot_kinds[t.slot] == slot_kind::number;
      double number = 0;
      if (image_.value(s.value).constant) {
        auto const contents = image_.source->constant(s.value);
        if (!contents || contents.size() != count_of(contents.shape)) return false;
        return into = dense::of(contents), true;
      }
      return facts_.number(s.value, number) && (into = dense::of(number), true);
    }
    if (t.what != kind::neutral) return false;
    std::vector<dense> operands(t.children);
    std::size_t axes = 0;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      if (!computed(t.child[i], operands[i])) return false;
      auto const rank = rank_of(operands[i]);
      if (axes != 0 && rank != 0 && rank != axes) {
        fail("operands of fold have different ranks, and nothing says along which axis one repeats");
        return false;
      }
      if (rank != 0) axes = rank;
    }
    return evaluate(static_cast<opcode>(t.op), operands, into);
  }

  // Leading extents of 1 aside.
  [[nodiscard]] static std::size_t rank_of(dense const& of) {
    std::size_t lead = 0;
    while (lead < of.shape.size() && of.shape[lead] == 1) ++lead;
    return of.shape.size() - lead;
  }

  // A node that takes the place of one of the same operator keeps that one's results.
  std::uint32_t kept_results(replacement_term const& t, std::uint32_t results) const {
    for (std::uint8_t i = 0; i < info_->root_count; ++i) {
      auto const n = image_.producer(match_.value(i == 0 ? std::uint8_t{0} : info_->root_registers[i]));
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
    return t.what == kind::neutral &&
           (op == opcode::add || op == opcode::sub || op == opcode::mul || op == opcode::div);
  }
  value_id without_nothing(opcode op, std::size_t first) {
    auto const a = operands_[first], b = operands_[first + 1];
    operands_.resize(first);
    if (a == absent && (op == opcode::sub || op == opcode::div))
      return fail("nothing is left to subtract or divide from");
    return a == absent ? b : a;
  }

  // Whether a term is a rest of operands, which stand one by one.
  [[nodiscard]] bool is_list(std::uint8_t at) const {
    auto const& t = terms_[at];
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest && match_.slot(t.slot).axes == 0;
  }

  // Whether an operator takes what its operands have become: a rest may have left any number of them, or none.
  [[nodiscard]] bool takes_operands(replacement_term const& t, span<value_id const> operands) const {
    auto const* row = t.what == kind::named ? names_.row(t.op, image_.version) : nullptr;
    auto const known = info(t.what == kind::neutral ? static_cast<opcode>(t.op)
                            : row != nullptr        ? row->op
                                                    : opcode::opaque);
    for (std::size_t i = 0; i < static_cast<std::size_t>(known.least); ++i)
      if (i >= operands.size() || operands[i] == absent) return false;
    return known.most < 0 || operands.size() <= static_cast<std::size_t>(known.most);
  }

  // Numbers among the operands are of the type of the others, so these come first.
  value_id operation(replacement_term const& t, std::uint32_t results, element_type type) {
    results = kept_results(t, results);
    value_id made_of[8];
    auto const selects = t.what == kind::neutral && static_cast<opcode>(t.op) == opcode::where;
    auto of_numbers = element_type::unknown;
    for (bool const literals : {false, true})
      for (std::uint8_t i = 0; i < t.children; ++i) {
        if (is_literal(t.child[i]) != literals || is_list(t.child[i])) continue;
        auto const known = of_numbers != element_type::unknown ? of_numbers : type;
        made_of[i] = value(t.child[i], selects && i == 0 ? element_type::boolean : known);
        if (!reason.empty()) return absent;
        if (of_numbers == element_type::unknown && made_of[i] != absent && !(selects && i == 0))
          of_numbers = facts_.type(made_of[i]);
      }
    auto const first = operands_.size();  // below lie those of the operators that wait for this one
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto const& child = terms_[t.child[i]];
      if (!is_list(t.child[i])) {
        operands_.push_back(made_of[i]);
        continue;
      }
      for (auto const& m : match_.members(child.slot)) operands_.push_back(m.value);
      if (match_.members(child.slot).empty() && may_lack_one(t)) operands_.push_back(absent);
    }
    if (may_lack_one(t) && operands_.size() == first + 2 &&
        (operands_[first] == absent || operands_[first + 1] == absent))
      return without_nothing(static_cast<opcode>(t.op), first);
    while (operands_.size() > first && operands_.back() == absent) operands_.pop_back();
    bool const between_casts = computed_in_ != element_type::unknown && t.what == kind::neutral && has_row(t);
    if (between_casts) operands_[first] = cast(operands_[first], computed_in_);
    if (!reason.empty()) return absent;
    auto const operands = span<value_id const>(operands_).subspan(first);
    if (!takes_operands(t, operands)) return fail("the operands here are too few or too many for an operator");
    parameters_.clear();
    for (std::uint8_t i = 0; i < t.parameter_count; ++i) parameters_.push_back(parameter(t.parameters[i]));
    auto made =
        written(t.what == kind::neutral ? writer_.neutral(static_cast<opcode>(t.op), operands, parameters_, results)
                                        : writer_.named(t.op, operands, parameters_, results));
    if (between_casts && made != absent && facts_.type(made) != type_) made = cast(made, type_);
    operands_.resize(first);
    return made;
  }

  value_id written(value_id made) {
    if (made != absent) return made;
    // What is refused in a narrow type may stand in float, between Casts.
    if (writer_.too_narrow && computed_in_ == element_type::unknown) wider = element_type::float32;
    return fail(writer_.reason);
  }

  [[nodiscard]] bool has_row(replacement_term const& t) const {
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (terms_[t.child[i]].what == kind::row) return true;
    return false;
  }
  value_id cast(value_id v, element_type to) {
    auto const made = basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).make(v, to);
    return made == absent ? fail("the dialect has no Cast") : made;
  }

  written_parameter parameter(replacement_term::given const& from) const {
    written_parameter made{from.name, from.number, from.integer};
    if (from.slot == no_slot) return made;
    auto const& s = match_.slot(from.slot);
    made.number = s.number;
    made.captured = info_->slot_kinds[from.slot] == slot_kind::parameter;
    made.integer = made.captured && math::is_whole(s.number);
    made.axes = made.captured ? s.axes : 0;
    return made;
  }

  machine const& match_;
  rule_info const* info_ = nullptr;
  span<replacement_term const> terms_;
  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_row_maker<Image> rows_;
  basic_operator_writer<Image> writer_;
  node_id place_ = absent;
  element_type computed_in_ = element_type::unknown, type_ = element_type::unknown;
  plain_vector<result> done_;
  plain_vector<rest_member> row_members_;
  plain_vector<value_id> operands_;
  std::vector<written_parameter> parameters_;
};
using instantiation = basic_instantiation<graph_image>;

}  // namespace fuse::inline v0::detail
