// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/eval/call.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/eval/layout.hpp>
#include <fuse/eval/reduction.hpp>
#include <fuse/infer/describe.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/shape_functions_elementwise.hpp>
#include <fuse/match/layout_steps.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/match/state.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/constant_contents.hpp>
#include <fuse/rewrite/told_extents.hpp>

namespace fuse::inline v0::detail {

/// The parameters of an operator that a right side folds.
class folded_parameters final : public operator_parameters {
 public:
  struct given {
    std::string_view name;
    dense contents;
  };
  std::vector<given> all{};
  opcode op = opcode::opaque;

  bool number(std::string_view name, double& into) const override {
    if (auto const* found = find(name); found != nullptr && found->elements.size() == 1)
      return into = found->elements[0], true;
    auto const* own = parameter_of(op, name);
    return own != nullptr && own->fallback == own->fallback && (into = own->fallback, true);
  }
  bool integers(std::string_view name, std::vector<std::int64_t>& into) const override {
    into.clear();
    auto const* found = find(name);
    if (found == nullptr) return false;
    for (auto x : found->elements) into.push_back(static_cast<std::int64_t>(x));
    return true;
  }
  [[nodiscard]] attribute_view attribute(std::string_view) const override { return {}; }
  [[nodiscard]] axis_use use_of_axis() const override { return axis_use_of(nullptr, op); }

 private:
  [[nodiscard]] dense const* find(std::string_view name) const {
    for (auto const& each : all)
      if (each.name == name) return &each.contents;
    return nullptr;
  }
};

/// Computes what right sides fold, and attributes that they compute: of constants, captured numbers and lists, and
/// extents, in double precision; of integers, only what is exact there all along.
template <class Image>
class basic_folding {
 public:
  basic_folding(program const& rules, match_state const& match, Image const& image, facts const& known)
      : rules_(rules), match_(match), image_(image), facts_(known) {}

  /// The contents of term `at` of `terms`, the right side of `rule`. `type`: that of where it stands.
  built<dense> compute(span<replacement_term const> terms, rule_info const& rule, std::uint8_t at, element_type type) {
    terms_ = terms;
    rule_ = &rule;
    type_ = type;
    auto made = term(at);
    if (!made) return made.why();
    if ((*made).lies && (*made).axis != -1)
      return objection{"along() names an axis of what stands beside it, and nothing does"};
    return (*made).contents;
  }
  /// For a parameter: a number, or a list of numbers, whole or not.
  built<dense> numbers(span<replacement_term const> terms, rule_info const& rule, std::uint8_t at) {
    lists_integers_ = false;
    auto made = compute(terms, rule, at, element_type::float64);
    lists_integers_ = true;
    return made;
  }
  /// A list of captured lists of integers alone: these, one after the other, however large the integers are. False
  /// where something else is in it.
  bool joined(span<replacement_term const> terms, std::uint8_t at, std::vector<std::int64_t>& into) const {
    auto const& list = terms[at];
    if (list.what != kind::list) return false;
    into.clear();
    for (std::uint8_t i = 0; i < list.children; ++i) {
      auto const& entry = terms[list.child[i]];
      if (entry.what != kind::slot || !match_.slot(entry.slot).bound || !match_.slot(entry.slot).listed) return false;
      auto const integers = match_.integers(entry.slot);
      into.insert(into.end(), integers.begin(), integers.end());
    }
    return true;
  }

 private:
  using kind = replacement_term::kind;
  /// Contents, and where they lie beside others.
  struct part {
    dense contents{};
    bool lies = false;  ///< along `axis`, whatever the rank; `contents` have one axis then
    int axis = 0;
  };

  built<part> term(std::uint8_t at) {
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::number: return part{dense::of(t.number)};
      case kind::fold: return term(t.child[0]);
      case kind::list: return list(t);
      case kind::dimension: return extent_of(t);
      case kind::slot: return captured(t.slot);
      case kind::along: return lying(t);
      case kind::neutral: return operator_of(t);
      case kind::rearranged: return rearranged(t);
      default: return objection{"the right side folds what is computed when the graph runs"};
    }
  }

  built<part> extent_of(replacement_term const& t) const {
    auto const& s = match_.slot(t.slot);
    if (rule_->slot_kinds[t.slot] == slot_kind::dimension) {
      if (s.bound && s.number == s.number) return part{dense::of(s.number)};
      return objection{"dim() needs an extent that is known, and '" + name_of_slot(t.slot) + "' is not"};
    }
    auto const rank = s.bound ? facts_.rank(s.value) : -1;
    auto axis = static_cast<int>(t.number);
    if (axis < 0) axis += rank;
    if (rank < 0 || axis < 0 || axis >= rank)
      return objection{"dim() names an axis of a value that is not known to have it"};
    auto const e = facts_.shape(s.value)[static_cast<std::size_t>(axis)];
    if (!e.known())
      return objection{"dim() needs an extent that is known, and axis " + std::to_string(axis) + " of '" +
                       name_of_slot(t.slot) + "' is " + facts_.symbols().text(e)};
    return part{dense::of(static_cast<double>(e.value()))};
  }

  built<part> captured(std::uint8_t slot) const {
    auto const& s = match_.slot(slot);
    auto const is = rule_->slot_kinds[slot];
    if (!s.bound) return objection{"fold needs '" + name_of_slot(slot) + "', which is absent here"};
    if (is == slot_kind::parameter && (s.listed || s.axes != 0)) {
      dense made;
      for (auto each : match_.integers(slot)) made.elements.push_back(static_cast<double>(each));
      for (int bit = 63; bit >= 0; --bit)
        if ((s.axes >> bit & 1u) != 0) made.elements.push_back(-1 - bit);
      made.shape = {static_cast<std::int64_t>(made.elements.size())};
      if (!exact_integers(made)) return objection{no_integer};
      return part{made};
    }
    if (is == slot_kind::number || is == slot_kind::parameter) return part{dense::of(s.number)};
    if (is == slot_kind::rest) return rest(slot, false);
    return contents_of(s.value, slot);
  }
  // Also of what follows from constants.
  built<part> contents_of(value_id v, std::uint8_t slot) const {
    bool const integers = is_integer(facts_.type(v));
    part made;
    if (image_.value(v).constant) {
      auto const contents = image_.source->constant(v);
      if (contents && contents.size() == count_of(contents.shape)) {
        made.contents = dense::in_doubles(contents);
        if (integers && !exact_integers(made.contents)) return objection{no_integer};
        return made;
      }
    } else if (double number = 0; facts_.number(v, number)) {
      made.contents = dense::of(number);
      if (integers && !exact_integers(made.contents)) return objection{no_integer};
      return made;
    } else if (basic_constant_contents<Image>(image_, facts_).read(v, made.contents)) {
      return made;
    }
    return objection{"fold needs constants, and '" + name_of_slot(slot) + "' is " + describe(image_, facts_, v)};
  }
  // The product or the sum of what is left over; `lie`: each along an axis, whichever.
  built<part> rest(std::uint8_t slot, bool lie) const {
    auto const group = static_cast<op_group>(match_.slot(slot).axes);
    if (group == op_group::none)
      return objection{"fold takes a rest of factors or addends, and '" + name_of_slot(slot) + "' is one of operands"};
    part all{dense::of(group == op_group::product ? 1 : 0)};
    all.lies = lie;
    if (lie) all.contents.shape = {1};
    for (auto const& m : match_.members(slot)) {
      auto one = contents_of(m.value, slot);
      if (one && lie) one = along(one.take(), 0);
      if (!one) return one;
      auto each = one.take();
      auto op = group == op_group::product ? opcode::mul : opcode::add;
      if (m.weight == -1)
        op = group == op_group::product ? opcode::div : opcode::sub;
      else if (m.weight != 1)
        return objection{"fold takes a rest whose members stand once, and one of '" + name_of_slot(slot) +
                         "' is raised to a power"};
      auto both = combined(op, {std::move(all), std::move(each)});
      if (!both) return both;
      all = both.take();
    }
    return all;
  }

  // Numbers, one after the other; an entry that is a list stands for its own.
  built<part> list(replacement_term const& t) {
    part made;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto entry = term(t.child[i]);
      if (!entry) return entry;
      auto const& contents = (*entry).contents;
      if ((*entry).lies || contents.shape.size() > 1) return objection{"an entry of a list is a number, or a list"};
      for (auto x : contents.elements) made.contents.elements.push_back(x);
    }
    made.contents.shape = {static_cast<std::int64_t>(made.contents.elements.size())};
    if (lists_integers_ && !exact_integers(made.contents))
      return objection{"a list has integers, and an entry would be none"};
    return made;
  }

  built<part> lying(replacement_term const& t) {
    auto const& below = terms_[t.child[0]];
    bool const is_rest = below.what == kind::slot && rule_->slot_kinds[below.slot] == slot_kind::rest;
    auto inside = is_rest && match_.slot(below.slot).bound ? rest(below.slot, true) : term(t.child[0]);
    if (!inside) return inside;
    return along(inside.take(), static_cast<int>(t.number));
  }
  static built<part> along(part made, int axis) {
    std::size_t longer = 0;
    for (auto const extent : made.contents.shape) longer += extent != 1 ? 1 : 0;
    if (longer > 1) return objection{"along() takes a constant of one axis, and this one has several"};
    made.contents.shape = {static_cast<std::int64_t>(made.contents.elements.size())};
    made.lies = true;
    made.axis = axis;
    return made;
  }

  built<part> operator_of(replacement_term const& t) {
    auto const op = static_cast<opcode>(t.op);
    bool const broadcasts = op != opcode::cast && (function_of_one(op) != nullptr || function_of_two(op) != nullptr);
    auto made = broadcasts ? operation(t) : moved(t, op);
    if (made && is_integer(type_) && !exact_integers((*made).contents)) return objection{no_integer};
    return made;
  }

  built<part> rearranged(replacement_term const& t) {
    auto of = term(t.child[0]);
    if (!of) return of;
    if ((*of).lies) return objection{"along() stands beside what has the axis that it names"};
    auto const& contents = (*of).contents;
    auto const& what = rules_.rearrangements[t.index];
    plain_vector<polynomial> from;
    for (auto const extent : contents.shape) from.push_back(polynomial(extent));
    named_extents names(what);
    know_bound(what, match_, facts_, names);
    if (auto why = learn_all(what, from, names); !why.empty()) return objection{std::move(why)};
    layout lies;
    part made;
    if (!names.lay(from, facts_.symbols(), lies) || !gathered(contents, lies, made.contents))
      return objection{"fold needs extents that are known, and one of " + text_of(what) + " is not"};
    return made;
  }
  // The elements that lie like that in those of a constant. False where not all extents are known.
  static bool gathered(dense const& from, layout const& lies, dense& into) {
    struct digit {
      std::int64_t extent, stride;
    };
    std::vector<digit> digits(lies.all().size());
    std::int64_t first = 0, count = 1;
    if (!lies.offset().known(first)) return false;
    for (std::size_t i = 0; i < digits.size(); ++i)
      if (!lies.all()[i].extent.known(digits[i].extent) || !lies.all()[i].stride.known(digits[i].stride)) return false;
    into.shape.clear();
    for (auto const& extent : lies.shape())
      if (!extent.known(into.shape.emplace_back())) return false;
    for (auto const& d : digits) count *= d.extent;
    into.elements.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      auto at = first, left = i;
      for (auto d = digits.size(); d-- > 0; left /= digits[d].extent) at += left % digits[d].extent * digits[d].stride;
      into.elements.push_back(from.elements[static_cast<std::size_t>(at)]);
    }
    return true;
  }

  // What moves elements, or takes axes of them together.
  built<part> moved(replacement_term const& t, opcode op) {
    std::vector<dense> operands;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto made = term(t.child[i]);
      if (!made) return made;
      if ((*made).lies) return objection{"along() stands beside what has the axis that it names"};
      operands.push_back(std::move(made.take().contents));
    }
    folded_parameters parameters;
    parameters.op = op;
    for (std::uint8_t i = 0; i < t.parameter_count; ++i) {
      auto const& p = t.parameters[i];
      auto made = p.term != no_slot ? term(p.term) : p.slot != no_slot ? captured(p.slot) : part{dense::of(p.number)};
      if (!made) return made;
      parameters.all.push_back({p.name, made.take().contents});
    }
    std::vector<dense const*> pointers;
    for (auto const& each : operands) pointers.push_back(&each);
    std::vector<dense> results(1);
    results[0].type = element_type::unknown;
    call const c{op, pointers, parameters, results};
    auto state = evaluation::unknown;
    if (op == opcode::cast)
      state = evaluate_cast(c);
    else
      state = info(op).shape == shape_function::reduce ? evaluate_reduction(c) : evaluate_layout(c);
    if (state == evaluation::misfit)
      return objection{"the operands or the parameters of " + std::string(fuse::name_of(op)) +
                       ", which the right side folds, do not fit"};
    if (state == evaluation::unknown)
      return objection{"fold does not compute " + std::string(fuse::name_of(op)) + " with these parameters"};
    return part{results[0]};
  }
  // As a cast to the type that a parameter names rounds each element.
  static evaluation evaluate_cast(call const& c) {
    auto const type = type_of_number(c.integer("to", 0));
    if (c.operand(0) == nullptr || !computed_in(type)) return evaluation::unknown;
    auto made = converted(*c.operand(0), type);
    round_to_type(made);
    return c.yield(in_doubles(made));
  }

  built<part> operation(replacement_term const& t) {
    std::vector<part> parts;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto made = term(t.child[i]);
      if (!made) return made;
      parts.push_back(made.take());
    }
    return combined(static_cast<opcode>(t.op), std::move(parts));
  }
  static built<part> combined(opcode op, std::vector<part> parts) {
    std::size_t rank = 0, axes = 0;  // of what does not lie along an axis of others; without leading extents of 1
    for (auto const& each : parts) {
      if (each.lies) continue;
      auto const& shape = each.contents.shape;
      auto const own = rank_of(shape);
      if (axes != 0 && own != 0 && own != axes)
        return objection{"operands of fold have different ranks, and nothing says along which axis one repeats"};
      if (own != 0) axes = own;
      if (shape.size() > rank) rank = shape.size();
    }
    part made;
    for (auto& p : parts)
      if (p.lies) {
        if (rank != 0) {
          if (auto const* why = place(p, rank, parts); why != nullptr) return objection{why};
        } else if (made.lies && made.axis != p.axis) {
          return objection{"operands of fold lie along different axes of nothing"};
        } else {
          made.lies = true;
          made.axis = p.axis;
        }
      }
    std::vector<dense> operands;
    for (auto& p : parts) operands.push_back(std::move(p.contents));
    if (!evaluate(op, operands, made.contents))
      return objection{"operands that the right side folds do not broadcast to each other"};
    bool finite = true, zeros = info(op).group != op_group::product;
    for (auto const& operand : operands) {
      finite = finite && all_finite(operand);
      zeros = zeros || has_zero(operand) || !all_finite(operand);
    }
    if (finite && !all_finite(made.contents))
      return objection{"fold would make an infinite number, or none, of finite ones"};
    if (!zeros && has_zero(made.contents)) return objection{"fold would make 0 a product of numbers that are not"};
    return made;
  }

  // Gives a part its axis among `rank`; it repeats along the others, and makes no operand longer.
  static char const* place(part& p, std::size_t rank, std::vector<part> const& beside) {
    auto const axis = p.axis < 0 ? p.axis + static_cast<int>(rank) : p.axis;
    auto const count = p.contents.shape[0];
    if (axis < 0 || axis >= static_cast<int>(rank)) return "along() names an axis that the constant beside it lacks";
    bool fits = count == 1;
    for (auto const& other : beside) {
      auto const& shape = other.contents.shape;
      fits = fits || (!other.lies && shape.size() == rank && shape[static_cast<std::size_t>(axis)] == count);
    }
    if (!fits) return "along() has another number of elements than the axis that it names";
    p.contents.shape.assign(rank, 1);
    p.contents.shape[static_cast<std::size_t>(axis)] = count;
    return nullptr;
  }

  [[nodiscard]] static bool all_finite(dense const& of) {
    for (auto x : of.elements)
      if (!math::is_finite(x)) return false;
    return true;
  }
  [[nodiscard]] static bool has_zero(dense const& of) {
    for (auto x : of.elements)
      if (x == 0) return true;
    return false;
  }
  // Leading extents of 1 aside.
  [[nodiscard]] static std::size_t rank_of(span<std::int64_t const> shape) {
    std::size_t lead = 0;
    while (lead < shape.size() && shape[lead] == 1) ++lead;
    return shape.size() - lead;
  }

  [[nodiscard]] std::string name_of_slot(std::uint8_t slot) const { return std::string(rule_->slot_names[slot]); }

  static constexpr auto const* no_integer = "fold would compute with integers that a double does not hold exactly";

  program const& rules_;
  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  span<replacement_term const> terms_{};
  rule_info const* rule_ = nullptr;
  element_type type_ = element_type::unknown;
  bool lists_integers_ = true;  // lists are shapes, axes and the like
};
using folding = basic_folding<graph_image>;

}  // namespace fuse::inline v0::detail
