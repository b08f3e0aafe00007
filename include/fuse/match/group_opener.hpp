// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/multiples.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/match/filter/frame_needs.hpp>
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
  using needs = frame_needs::needs;

  basic_group_opener(program const& rules, Image const& image, facts const& known, operator_sets const& operators,
                     congruence& congruent)
      : rules_(rules), image_(image), facts_(known), operators_(operators), multiples_(image, known, congruent) {
    for (auto const& set : rules.sets) {
      auto& bits = through_bits_.emplace_back();
      for (std::size_t i = 0; i < set.count; ++i)
        bits |= set.by_name[i] ? ~std::uint64_t{0} : operator_bit(static_cast<opcode>(set.ops[i]));
    }
  }

  /// Opens the sum or product `root`, down to parts that have none of the operators `wanted` below them.
  void open(opened_group& f, reading const& root, op_group kind, std::uint8_t through, std::uint32_t region,
            needs const& wanted, bool repeats = true) const {
    f.count = f.leaf_count = 0;
    f.through = through;
    f.kind = kind;
    f.integers = root.value != absent && is_integer(facts_.type(root.value));
    f.divided = f.dropped = f.bounded = f.repeated = false;
    f.minus = f.closable = f.passed_on = f.neutral = 0;
    struct {  // of parts that wait, each apart: see operator_sets::find
      value_id value[opened_group::capacity], shape[opened_group::capacity];
      double weight[opened_group::capacity];
      std::uint8_t parent[opened_group::capacity];
    } stack;
    // What stands at a value says of most that it is one part, before more of it is looked at.
    auto const openers =
        (kind == op_group::sum ? sum_bit : product_bit) | (through == 0 ? 0 : through_bits_[through - 1u]);
    std::uint8_t waiting = 0;
    auto const wait = [&](value_id v, value_id shape, double weight, std::uint8_t parent) {
      stack.value[waiting] = v;
      stack.shape[waiting] = shape;
      stack.weight[waiting] = weight;
      stack.parent[waiting++] = parent;
    };
    unsigned const may = (f.clips ? clip : 0u) | (repeats ? repeat : 0u) | (f.scales ? multiply : 0u),
                   may_first = may | (f.divides ? divide : 0u);
    std::uint32_t numbers = 0, clipped = 0, squared = 0;
    std::uint32_t whole = 1;                         // the root, and what is passed on to it as it is
    if (kind == op_group::sum && root.power != 1) {  // it is no sum
      f.count = f.leaf_count = 1;
      f.parts[0] = {root.value, root.shape, 1, 0, 1, 255, root.power, true, false};
      return;
    }
    wait(root.value, root.shape, root.power, 255);
    while (waiting != 0) {
      --waiting;
      auto const v = stack.value[waiting], shape = stack.shape[waiting];
      auto const weight = stack.weight[waiting];
      auto const at = f.count++;
      auto& p = f.parts[at];
      p = {v, shape, weight, 0, 0, stack.parent[waiting], 1, false, false};
      p.has_number = v != absent && facts_.uniform(v, p.number);
      if (squared != 0 && (squared >> p.parent & 1u) != 0) {
        p.power = 2;
        p.has_number = false;
      }
      if (at != 0 && (f.passed_on & whole) >> p.parent & 1u) whole |= 1u << at;
      bool const first = (whole >> at & 1u) != 0;
      children below(shape);
      // A number is one part, however it is computed; but its sign is one of the product's.
      bool const one_number = p.has_number && at != 0 && !(kind == op_group::product && is_negated(image_, v));
      if ((operators_[v].direct & openers) != 0 && !one_number && !f.divided && p.power == 1 &&
          opens(v, weight, kind, through, first ? may_first : may, region, below) &&
          (first || !taken_whole(v, kind, below, wanted))) {
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
            f.parts[f.count++] = {absent, absent, weight, below.number, leaf, at, 1, true, true};
            numbers |= leaf;
          }
          for (std::uint8_t i = below.count; i > 0; --i) wait(below.value[i - 1], below.shape, below.weight[i - 1], at);
          if (below.passed_on) f.passed_on |= 1u << at;
          f.divided = below.divided;
          f.repeated = f.repeated || below.repeated;
          if (below.clipped) clipped |= 1u << at;
          continue;
        }
      }
      f.bounded = f.bounded || below.bounded;
      if (p.has_number && at != 0) {
        bool const small = !may_enlarge(facts_, v);
        if (is_sign(f, at) && (small || repeats)) {
          f.minus |= 1u << at;
          f.repeated = f.repeated || !small;
          continue;
        }
        if (f.kind == op_group::sum ? p.number == 0 : p.number == 1) {
          f.dropped = true;
          if (!has_several(facts_, v) && (small || repeats)) {
            f.repeated = f.repeated || !small;
            continue;
          }
          f.neutral |= 1u << f.leaf_count;  // it may be meant as a row
        }
      }
      p.leaf = true;
      p.leaves = 1u << f.leaf_count++;
      if (p.has_number) numbers |= p.leaves;
    }
    for (std::uint8_t at = f.count; at-- > 1;) {
      f.parts[f.parts[at].parent].leaves |= f.parts[at].leaves;
      f.minus ^= (f.minus >> at & 1u) << f.parts[at].parent;
    }
    for (std::uint8_t at = 0; clipped != 0 && at < f.count; ++at)
      if ((clipped >> at & 1u) != 0 && !never_negative(f, f.parts[at].leaves, numbers)) {
        f.clips = false;
        open(f, root, kind, through, region, wanted, repeats);
        f.clips = true;
        return;
      }
    if (f.free || !(f.repeated || f.neutral != 0) || keeps_shape(f, f.neutral)) return;
    // A sum over more elements, or along another axis, is another one.
    if (f.repeated) return open(f, root, kind, through, region, wanted, false);
    f.neutral = 0;
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
  // Whether what is clipped of a sum that is never negative, nor without its constants, is not either: all of it, or
  // all but constants, and with those that make it larger.
  [[nodiscard]] static bool never_negative(opened_group const& f, std::uint32_t inside, std::uint32_t numbers) {
    if ((f.all() & ~inside) == 0) return true;
    double sum = 0;
    for (std::uint8_t k = 0; k < f.count; ++k)
      if (auto const& p = f.parts[k]; p.leaf && (p.leaves & inside & numbers) != 0) sum += p.weight * p.number;
    return (f.all() & ~inside & ~numbers) == 0 && sum >= 0;
  }

  // What opening may do: look below what clips, below what repeats elements, into a quotient of integers, and take like
  // terms for a product.
  enum : unsigned { clip = 1, repeat = 2, divide = 4, multiply = 8 };

  struct children {
    value_id value[opened_group::leaf_capacity];
    double weight[opened_group::leaf_capacity];
    value_id shape;
    double number;  // one more part of a product, that no value is; 0: none
    std::uint8_t count;
    bool negate, squared, closable, passed_on, clipped, repeated, bounded, divided;
    explicit children(value_id in_shape)  // and no more: one is made for every part
        : shape(in_shape),
          number(0),
          count(0),
          negate(false),
          squared(false),
          closable(false),
          passed_on(false),
          clipped(false),
          repeated(false),
          bounded(false),
          divided(false) {}
    void add(value_id v, double w) {
      value[count] = v;
      weight[count++] = w;
    }
  };

  // A factor of 1 or an addend of 0 is left out; a factor of -1 is a sign.
  [[nodiscard]] static bool is_sign(opened_group const& f, std::uint8_t at) {
    auto const& p = f.parts[at];
    return f.kind == op_group::product && p.number == -1 && (p.weight == 1 || p.weight == -1);
  }

  // Parts that can only be matched together. Not where one of them may be left out, which leaves the other alone, nor
  // where they may be one term.
  [[nodiscard]] bool taken_whole(value_id v, op_group kind, children const& below, needs const& wanted) const {
    auto const& there = operators_[v];
    constexpr auto both = sum_bit | product_bit;
    if (below.count < 2 || (there.deep & wanted.deep) != 0 || (there.direct & wanted.direct) != 0) return false;
    if (kind == op_group::sum && (there.direct & both) == both) return false;
    for (std::uint8_t i = 0; i < below.count; ++i)
      if (facts_.is_uniform(below.value[i])) return false;
    return true;
  }

  bool opens(value_id v, double w, op_group kind, std::uint8_t through, unsigned may, std::uint32_t region,
             children& into) const {
    if (v == absent) return false;
    auto const n = image_.producer(v);
    if (n == absent || image_.node(n).region != region || image_.result_index(v) != 0) return false;
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    bool const transparent = through != 0 && (through_bits_[through - 1u] & operator_bit(op)) != 0 &&
                             rules_.sets[through - 1u].contains(record.tag.name, record.tag.op);
    auto const& how = opening_of(op, kind);
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
      into.add(a, w);
      return true;
    }
    if (closed) {
      if (((may & clip) != 0 && w == 1 && opens_clipped(n, (may & repeat) != 0, into)) ||
          opens_layout(n, a, w, through, (may & repeat) != 0, into))
        return true;
      if (op != opcode::sum_of) return false;
    }
    if (integers && !of_integers(how.integers, n, (may & divide) != 0)) return false;
    into.divided = integers && how.integers == opens_integers::quotient;
    return record.operand_count >= info(op).least && opens_group(how, n, w, may, into);
  }

  [[nodiscard]] bool of_integers(opens_integers when, node_id n, bool may_divide) const {
    double exponent = 0;
    switch (when) {
      case opens_integers::no: return false;
      case opens_integers::yes: return true;
      case opens_integers::quotient: return may_divide;
      case opens_integers::power:
        return is_number(image_, facts_, n, 1, exponent) && exponent > 0 && is_whole_weight(exponent);
    }
    return false;
  }

  bool opens_clipped(node_id n, bool repeats, children& into) const {
    auto const whole = positive_part_of(image_, facts_, n);
    if (whole == absent) return false;
    bool repeated = false;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      repeated = repeated || (image_.operand(n, i) != whole && repeats_by(n, i, whole));
    if (repeated && !repeats) return false;
    into.clipped = true;
    into.repeated = repeated;
    into.add(whole, 1);
    return true;
  }

  // What changes no element: extents of 1 around a reduction that put its axes back; and where Identity is looked
  // through, nothing at all, or repeated elements, which broadcasting repeats.
  bool opens_layout(node_id n, value_id a, double w, std::uint8_t through, bool repeats, children& into) const {
    bool const identity = through != 0 && rules_.sets[through - 1u].has_identity();
    into.passed_on = identity && unchanged(image_, facts_, n);
    if (identity && !into.passed_on && repeats) into.passed_on = into.repeated = broadcasts(image_, facts_, n);
    if (!into.passed_on) {
      if (!operators_.has_reduction_below(a) || !moves_ones(image_, facts_, n)) return false;
      if (into.shape == absent) into.shape = image_.result(n);
    }
    into.add(a, w);
    return true;
  }

  // Whether the number that operand `i` of `n` is makes the result larger than `kept`, another operand, perhaps.
  [[nodiscard]] bool repeats_by(node_id n, std::uint32_t i, value_id kept) const {
    return may_enlarge(facts_, image_.operand(n, i)) && !facts_.same_shape(image_.result(n), kept);
  }

  // By the table of ops/algebra.hpp.
  bool opens_group(opening const& how, node_id n, double w, unsigned may, children& into) const {
    auto const count = image_.operand_count(n);
    double number = 1;
    std::uint32_t left_out = absent;
    switch (how.when) {
      case opens_with::none: return false;
      case opens_with::scaled: return opens_scaled(n, w, (may & repeat) != 0, into);
      case opens_with::squared: return opens_squared(image_.result(n), w * how.first, into);
      case opens_with::logarithm: return opens_logarithm(n, w, into);
      case opens_with::alike:
        return (may & multiply) != 0 && allows(how.when, w) && opens_alike(image_.result(n), w, into);
      case opens_with::power:
        if (!is_number(image_, facts_, n, 1, number)) return false;
        break;
      default: break;
    }
    if (!allows(how.when, w, number)) {
      if (how.when != opens_with::one_over || !is_number(image_, facts_, n, 0, number) || number != 1) return false;
      left_out = 0;
    }
    auto const not_a_part = left_out != absent ? left_out : how.when == opens_with::power ? 1u : count;
    into.repeated = not_a_part < count && repeats_by(n, not_a_part, image_.operand(n, not_a_part == 0 ? 1 : 0));
    if (into.repeated && (may & repeat) == 0) return false;
    for (std::uint32_t i = 0; i < count && (i == 0 || how.further != 0 || left_out == 0); ++i) {
      if (i == left_out) continue;
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
    if (into.repeated && !repeats) return false;
    into.closable = found.by != -1;
    into.add(found.value, w * found.by);
    return true;
  }

  // What is a root is its square, to the half.
  static bool opens_squared(value_id v, double w, children& into) {
    into.squared = true;
    into.closable = true;
    into.add(v, w);
    return true;
  }

  // The exponential of a multiple of a logarithm is a power. As that is positive, it is none of the whole powers, which
  // are known of negative numbers, too.
  bool opens_logarithm(node_id n, double w, children& into) const {
    double exponent = 1;
    auto const log = multiples_.term_of(image_.operand(n, 0), exponent, true, may_be_multiple());
    auto const of = log == absent ? absent : image_.producer(log);
    if (of == absent || op_of(image_, of) != opcode::log || image_.node(of).region != image_.node(n).region)
      return false;
    if (!allows(opens_with::logarithm, w, exponent)) return false;
    into.closable = true;
    into.add(image_.operand(of, 0), w * exponent);
    return true;
  }

  // A sum of one term, but for coefficients: their sum, times that.
  bool opens_alike(value_id v, double w, children& into) const {
    double coefficient = 1;
    auto term = multiples_.term_of(v, coefficient, false, may_be_multiple());
    if (term == v) term = multiples_.term_of(v, coefficient, true, may_be_multiple());
    if (term == v) return false;
    into.number = coefficient;
    into.add(term, w);
    return true;
  }
  [[nodiscard]] auto may_be_multiple() const {
    return [this](value_id v) { return (operators_[v].direct & product_bit) != 0; };
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  operator_sets const& operators_;
  basic_multiples<Image> multiples_;
  plain_vector<std::uint64_t> through_bits_;  // by set of operators to look through
};
using group_opener = basic_group_opener<graph_image>;

}  // namespace fuse::inline v0::detail
