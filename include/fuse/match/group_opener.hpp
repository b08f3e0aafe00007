// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/multiples.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/match/filter/operator_sets.hpp>
#include <fuse/match/opened_group.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Opens sums and products, by the table of ops/algebra.hpp.
template <class Image>
class basic_group_opener {
 public:
  basic_group_opener(program const& rules, Image const& image, facts const& known, operator_sets const& operators,
                     congruence& congruent)
      : rules_(rules), image_(image), facts_(known), operators_(operators), multiples_(image, known, congruent) {}

  /// Opens what is asked for.
  void open(opened_group& f, group_request const& asked) const {
    f.asked = asked;
    open(f, asked.flags | repeat);
  }

  /// Whether a sum or product provably has its shape without some of its leaves: along each axis, one of the others is
  /// as long, or a part that is made of others alone.
  [[nodiscard]] bool keeps_shape(opened_group const& f, std::uint32_t without) const {
    auto const shape_of = [](opened_group::part const& p) { return p.shape != absent ? p.shape : p.value; };
    auto const whole = shape_of(f.parts[0]);
    if (whole == absent || !facts_.has_rank(whole)) return false;
    auto const shape = facts_.shape(whole);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      auto const wanted = shape[shape.size() - i];
      bool found = false;
      for (std::uint8_t k = 0; k < f.count && !found; ++k) {
        auto const& p = f.parts[k];
        bool const counts = p.leaf || (!f.repeated && p.leaves != 0);
        if (!counts || p.value == absent || (p.leaves & without) != 0) continue;
        auto const part = facts_.shape(shape_of(p));
        found = i <= part.size() && part[part.size() - i] == wanted;
      }
      if (!found) return false;
    }
    return true;
  }

 private:
  // What opening may do: what an instruction asks for, and look below what repeats elements.
  static constexpr unsigned clip = instruction::clips, divide = instruction::divides, multiply = instruction::scales,
                            repeat = 1;

  void open(opened_group& f, unsigned may) const {
    auto const& root = f.asked.of;
    auto const kind = f.asked.kind;
    bool const repeats = (may & repeat) != 0;
    f.count = f.leaf_count = 0;
    f.integers = is_of_integers(facts_, root.value);
    f.divided = f.dropped = f.bounded = f.repeated = false;
    f.there = {0, 0, 0};
    f.numbers = f.minus = f.closable = f.passed_on = f.neutral = 0;
    struct waiting_part {
      value_id value, shape;
      double weight;
      std::uint8_t parent;
    } stack[opened_group::capacity];
    // What stands at a value says of most that it is one part, before more of it is looked at.
    auto const openers = operators_.openers(kind, f.asked.through);
    std::uint8_t waiting = 0;
    auto const wait = [&](waiting_part const& part) { stack[waiting++] = part; };
    std::uint32_t clipped = 0, squared = 0;
    std::uint32_t whole = 1;  // the root, and what is passed on to it as it is
    bool const no_sum = kind == op_group::sum && root.power != 1;
    wait({root.value, root.shape, no_sum ? 1.0 : root.power, opened_group::part::none});
    while (waiting != 0) {
      auto const& next = stack[--waiting];
      auto const v = next.value, shape = next.shape;
      auto const weight = next.weight;
      auto const parent = next.parent;
      auto const at = f.count++;
      auto& p = f.parts[at];
      p = {{v, shape}, parent, false, false, 0, weight};
      p.has_number = v != absent && facts_.uniform(v, p.number);
      if (at == 0 ? no_sum : (squared >> p.parent & 1u) != 0) {
        p.power = 2;
        p.has_number = false;
      }
      f.there.add(operators_.at(v, p.power));
      if (at != 0 && (f.passed_on & whole) >> p.parent & 1u) whole |= 1u << at;
      bool const first = (whole >> at & 1u) != 0;
      children below(shape);
      // A number is one part, however it is computed; but its sign is one of the product's.
      bool const one_number = p.has_number && at != 0 && !(kind == op_group::product && is_negated(image_, v));
      if ((operators_[v].direct & openers) != 0 && !one_number && !f.divided && p.power == 1 &&
          opens(v, weight, f.asked, first ? may : may & ~divide, below) && (first || !taken_whole(v, below, f.asked))) {
        bool const numbered = below.number != 0 && below.number != 1;
        auto const more = waiting + below.count + (numbered ? 1 : 0);
        if (f.count + more > opened_group::capacity || f.leaf_count + more > opened_group::leaf_capacity) {
          f.bounded = true;
        } else {
          if (below.negate) f.minus |= 1u << at;
          if (below.closable) f.closable |= 1u << at;
          if (below.squared) squared |= 1u << at;
          if (below.number == 1) f.dropped = true;
          if (numbered) {
            auto const leaf = 1u << f.leaf_count++;
            f.parts[f.count++] = {{}, at, true, true, leaf, weight, below.number};
            f.numbers |= leaf;
          }
          for (std::uint8_t i = below.count; i > 0; --i)
            wait({below.value[i - 1], below.shape, below.weight[i - 1], at});
          if (below.passed_on) f.passed_on |= 1u << at;
          f.divided = below.divided;
          f.repeated = f.repeated || below.repeated;
          if (below.clipped) clipped |= 1u << at;
          continue;
        }
      }
      f.bounded = f.bounded || below.bounded;
      if (p.has_number && at != 0) {
        bool const small = !may_enlarge(facts_, v), neutral = p.number == (f.sums() ? 0 : 1),
                   sign = !f.sums() && p.number == -1 && (weight == 1 || weight == -1);
        if ((small || repeats) && (sign || (neutral && !has_several(facts_, v)))) {
          if (sign) f.minus |= 1u << at;
          f.dropped = f.dropped || neutral;
          f.repeated = f.repeated || !small;
          continue;
        }
        if (neutral) f.neutral |= 1u << f.leaf_count;  // it may be meant as a row
      }
      p.leaf = true;
      p.leaves = 1u << f.leaf_count++;
      if (p.has_number) f.numbers |= p.leaves;
    }
    for (std::uint8_t at = f.count; at-- > 1;) {
      f.parts[f.parts[at].parent].leaves |= f.parts[at].leaves;
      f.minus ^= (f.minus >> at & 1u) << f.parts[at].parent;
    }
    for (std::uint8_t at = 0; clipped != 0 && at < f.count; ++at)
      if ((clipped >> at & 1u) != 0 && !never_negative(f, f.parts[at].leaves)) return open(f, may & ~clip);
    if (f.asked.asks(instruction::free) || !(f.repeated || f.neutral != 0) || keeps_shape(f, f.neutral)) return;
    // A sum over more elements, or along another axis, is another one.
    if (f.repeated) return open(f, may & ~repeat);
    f.neutral = 0;
  }

  // Whether what is clipped of a sum that is never negative, nor without its constants, is not either: all of it, or
  // all but constants, and with those that make it larger.
  [[nodiscard]] static bool never_negative(opened_group const& f, std::uint32_t inside) {
    auto const outside = f.all() & ~inside;
    return outside == 0 || ((outside & ~f.numbers) == 0 && f.number(inside) >= 0);
  }

  struct children {
    value_id value[opened_group::leaf_capacity];  // not written before they are known: there are some for every part
    double weight[opened_group::leaf_capacity];
    value_id shape;
    double number = 0;  // one more part of a product, that no value is; 0: none
    std::uint8_t count = 0;
    bool negate = false, squared = false, closable = false, passed_on = false, clipped = false, repeated = false,
         bounded = false, divided = false;

    explicit children(value_id in_shape) : shape(in_shape) {}
    bool add(value_id v, double w) {
      value[count] = v;
      weight[count++] = w;
      return true;
    }
  };

  // Parts that can only be matched together. Not where one of them may be left out, which leaves the other alone, nor
  // where they may be one term.
  [[nodiscard]] bool taken_whole(value_id v, children const& below, group_request const& asked) const {
    if (below.count < 2 || !asked.sought.lack(operators_[v], asked.kind)) return false;
    for (std::uint8_t i = 0; i < below.count; ++i)
      if (facts_.is_uniform(below.value[i])) return false;
    return true;
  }

  bool opens(value_id v, double w, group_request const& asked, unsigned may, children& into) const {
    if (v == absent) return false;
    auto const n = image_.producer(v);
    if (n == absent || image_.node(n).region != asked.region || image_.result_index(v) != 0) return false;
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    auto const* through = asked.through == 0 ? nullptr : &rules_.sets[asked.through - 1u];
    bool const transparent = through != nullptr && through->contains(record.tag.name, record.tag.op);
    auto const& how = opening_of(op, asked.kind);
    bool const closed = !transparent && (how.when == opens_with::none || op == opcode::sum_of);
    if (closed && !may_keep_elements(op) && !may_clip(op)) return false;
    auto const a = kept_operand(image_, facts_, n);
    if (record.operand_count > opened_group::leaf_capacity) return into.bounded = true, false;
    if (a == absent) return false;
    auto const type = facts_.type(v);
    bool const integers = is_integer(type);
    if (type != element_type::unknown && !is_floating(type) && !integers) return false;
    if (transparent) {
      auto const below = facts_.type(a);
      if (below != type && (integers || (below != element_type::unknown && !is_floating(below)))) return false;
      into.passed_on = op == opcode::identity || unchanged(image_, facts_, n);
      into.repeated = !into.passed_on && may_repeat(op);
      if (into.repeated && !((may & repeat) != 0 && broadcasts(image_, facts_, n))) return false;
      return into.add(a, w);
    }
    if (closed) {
      bool const identity = through != nullptr && through->has_identity(), repeats = (may & repeat) != 0;
      if (((may & clip) != 0 && w == 1 && opens_clipped(n, repeats, into)) ||
          opens_layout(n, a, w, identity, repeats, into))
        return true;
      if (op != opcode::sum_of) return false;
    }
    double exponent = 0;
    if (integers && how.integers == opens_integers::power && !is_number(image_, facts_, n, 1, exponent)) return false;
    if (integers && !allows(how.integers, (may & divide) != 0, exponent)) return false;
    into.divided = integers && how.integers == opens_integers::quotient;
    return record.operand_count >= info(op).least && opens_group(how, n, w, may, into);
  }

  bool opens_clipped(node_id n, bool repeats, children& into) const {
    auto const whole = positive_part_of(image_, facts_, n);
    if (whole == absent) return false;
    bool repeated = false;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      repeated = repeated || (image_.operand(n, i) != whole && repeats_by(image_, facts_, n, i, whole));
    if (repeated && !repeats) return false;
    into.clipped = true;
    into.repeated = repeated;
    return into.add(whole, 1);
  }

  // What changes no element: extents of 1 around a reduction that put its axes back; and where Identity is looked
  // through, nothing at all, or repeated elements, which broadcasting repeats.
  bool opens_layout(node_id n, value_id a, double w, bool identity, bool repeats, children& into) const {
    into.passed_on = identity && unchanged(image_, facts_, n);
    if (identity && !into.passed_on && repeats) into.passed_on = into.repeated = broadcasts(image_, facts_, n);
    if (!into.passed_on) {
      if (!operators_.has_reduction_below(a) || !moves_ones(image_, facts_, n)) return false;
      if (into.shape == absent) into.shape = image_.result(n);
    }
    return into.add(a, w);
  }

  // By the table of ops/algebra.hpp.
  bool opens_group(opening const& how, node_id n, double w, unsigned may, children& into) const {
    auto const count = image_.operand_count(n);
    double number = 1;
    auto no_part = count;  // an operand that is a number: the exponent of a power, the 1 of 1 / x
    switch (how.when) {
      case opens_with::none: return false;
      case opens_with::scaled: return opens_scaled(n, w, (may & repeat) != 0, into);
      case opens_with::alike: return (may & multiply) != 0 && allows(how.when, w) && opens_alike(n, w, into);
      case opens_with::squared:  // what is a root is its square, to the half
        into.squared = into.closable = true;
        return into.add(image_.result(n), w * how.first);
      case opens_with::logarithm: {  // as that is positive, it is none of the whole powers, known of negative numbers
        auto const of = multiples_.power_of(n, number, may_be_multiple());
        into.closable = true;
        return of != absent && allows(how.when, w, number) && into.add(of, w * number);
      }
      case opens_with::power:
        if (!is_number(image_, facts_, n, 1, number)) return false;
        no_part = 1;
        break;
      case opens_with::one_over:
        if (!allows(how.when, w) && is_number(image_, facts_, n, 0, number) && number == 1) no_part = 0;
        break;
      default: break;
    }
    if (no_part != 0 && !allows(how.when, w, number)) return false;
    into.repeated = no_part < count && repeats_by(image_, facts_, n, no_part, image_.operand(n, no_part == 0 ? 1 : 0));
    if (into.repeated && (may & repeat) == 0) return false;
    for (std::uint32_t i = 0; i < count && (i == 0 || how.further != 0); ++i) {
      if (i == no_part) continue;
      if (image_.operand(n, i) == absent) return false;
      into.add(image_.operand(n, i), w * (i == 0 ? how.first * number : how.further));
    }
    into.negate = how.negates && math::is_odd(w);
    into.closable = how.when == opens_with::power;
    return true;
  }

  bool opens_scaled(node_id n, double w, bool repeats, children& into) const {
    auto const found = multiples_.scaled(n);
    if (found.value == absent) return false;
    into.repeated = found.repeated && !facts_.same_shape(image_.result(n), found.value);
    into.closable = found.by != -1;
    return (repeats || !into.repeated) && into.add(found.value, w * found.by);
  }

  // A sum of one term, but for coefficients: their sum, times that.
  bool opens_alike(node_id n, double w, children& into) const {
    auto const v = image_.result(n);
    double coefficient = 1;
    auto const term = multiples_.term_of(v, coefficient, may_be_multiple());
    into.number = coefficient;
    return term != v && into.add(term, w);
  }
  [[nodiscard]] auto may_be_multiple() const {
    return [this](value_id v) { return (operators_[v].direct & product_bit) != 0; };
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  operator_sets const& operators_;
  basic_multiples<Image> multiples_;
};
using group_opener = basic_group_opener<graph_image>;

}  // namespace fuse::inline v0::detail
