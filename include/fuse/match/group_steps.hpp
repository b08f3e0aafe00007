// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/infer/scalar_arithmetic.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/match/filter/kept_groups.hpp>
#include <fuse/match/group_opener.hpp>
#include <fuse/match/multisets.hpp>
#include <fuse/match/state.hpp>

namespace fuse::inline v0::detail {

/// The steps on opened sums and products that either hold or fail.
template <class Image>
class basic_group_steps {
 public:
  basic_group_steps(program const& rules, Image const& image, facts const& known, congruence& congruent,
                    basic_filter<Image>& told, match_state& state)
      : image_(image),
        facts_(known),
        filter_(told),
        s_(state),
        opener_(rules, image, known, told.sets(), congruent),
        multisets_(image, known, told.sets(), congruent, opener_, state) {}

  /// A new search begins: what others opened may give way.
  void begin() { kept_.begin(); }
  /// The graph has changed.
  void forget() { kept_.forget(); }

  [[nodiscard]] basic_group_opener<Image> const& opener() const { return opener_; }

  bool open(instruction const& i, double sign) {
    auto const& from = s_.registers[i.a];
    if (static_cast<sign_use>(i.c) == sign_use::linked && sign < 0) {
      auto* around = s_.frames[i.count].group->divided ? nullptr : s_.change(i.count);
      if (around == nullptr) return false;
      around->sign = -around->sign;
    }
    auto& f = s_.frames[i.b];
    constexpr auto how = instruction::clips | instruction::free | instruction::divides | instruction::scales;
    auto const flags = static_cast<std::uint8_t>(i.flags & how);
    group_request const wanted{from, static_cast<op_group>(i.op), i.through, flags, s_.region, filter_.sought(i)};
    f.group = &kept_.get(wanted, i.b, [&](opened_group& made) { opener_.open(made, wanted); });
    s_.bounded = s_.bounded || f.group->bounded;
    if (f.group->divided && sign != 1) return false;  // a number times a quotient, which is no other quotient
    f.covered = f.taken = 0;
    f.sign = f.group->negative() ? -sign : sign;
    f.owed = 1;
    f.member = from.member;
    return true;
  }

  /// Whether weights are one: whole exponents are, others and coefficients as float rounds them.
  [[nodiscard]] static bool same_weight(frame const& f, double found, double wanted) {
    if (f.group->sums()) return math::close_to(found, wanted, f.group->integers ? 0 : usual_tolerance);
    return found == wanted ||
           (math::close_to(found, wanted, 0x1p-23) && !math::is_whole(found) && !math::is_whole(wanted));
  }

  /// Whether terms that weigh so much may make up more of them.
  [[nodiscard]] static bool may_add_up(frame const& f, double weight, double wanted) {
    return weight * wanted > 0 && math::abs(weight) <= math::abs(wanted) && (f.group->sums() || math::is_whole(wanted));
  }

  /// Whether to look at a set of terms with further ones in it.
  enum class and_then : std::uint8_t { take, add_others, leave };

  /// Goes through the sets of terms that have part `k` as the first and otherwise what is a multiple of it, with the
  /// same sign: like terms add up. Calls `look(weight, leaves, taken)` for each, till it takes one; whether it did.
  /// Of those that are alike, any will do. Bounded.
  template <class Look>
  bool any_like_terms(frame const& f, std::uint8_t k, Look const& look) {
    auto const& p = f.group->parts[k];
    int tries = 1024;
    return looks(f, k, k, {f.weight(p), p.leaves, 1u << k}, tries, look);
  }

  /// Whether leaves that are numbers may be left out of what is matched: a number may stand there several times, which
  /// makes the whole larger.
  [[nodiscard]] bool may_leave_out(opened_group const& group, std::uint32_t numbers) const {
    bool several = false;
    for (std::uint8_t k = 0; k < group.count && !group.asked.asks(instruction::free); ++k) {
      auto const& p = group.parts[k];
      several = several || (p.leaf && (p.leaves & numbers) != 0 && may_enlarge(facts_, p.value));
    }
    return !several || opener_.keeps_shape(group, group.neutral | numbers);
  }

  bool literal(instruction const& i) { return numbers_make(i.a, i.number, static_cast<double>(i.tolerance)); }
  /// The numbers that are left make up `wanted`, and what is owed.
  bool numbers_make(std::uint8_t at, double wanted, double tolerance) {
    auto& f = s_.frames[at];
    auto const leaves = f.group->numbers & f.left();
    auto number = f.group->number(leaves);
    if (f.group->sums()) {
      number *= f.sign;
    } else {
      number *= math::abs(f.sign) / f.owed;
      bool const flips = f.sign < 0 && (number < 0) != (wanted < 0);
      if (flips) number = -number;
      if (f.sign != 1 || f.owed != 1) {
        auto* changed = s_.change(at);
        if (changed == nullptr) return false;
        changed->sign = f.sign < 0 && !flips ? -1 : 1;
        changed->owed = 1;
      }
    }
    double rounding = 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k)
      if (auto const& p = f.group->parts[k]; p.leaf && (p.leaves & leaves) != 0 && p.value != absent)
        rounding += rounding_in(facts_.type(p.value), wanted);
    if (rounding > tolerance) tolerance = rounding;
    return math::close_to(number, wanted, f.group->integers ? 0 : tolerance) && may_leave_out(*f.group, leaves) &&
           s_.cover(at, leaves, 0);
  }

  /// Takes `number` from the numbers of a product: one that is it, or else what all that are left in the end make up.
  bool owe(std::uint8_t at, double number) {
    auto& f = s_.frames[at];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.leaf || (p.leaves & f.group->numbers & f.left()) == 0) continue;
      auto const wanted = math::pow(number, 1 / p.weight);
      if (math::abs(p.number - wanted) <= 0x1p-24 * wanted && may_leave_out(*f.group, p.leaves))
        return s_.cover(at, p.leaves, 1u << k);
    }
    auto* changed = s_.change(at);
    if (changed != nullptr) changed->owed *= number;
    return changed != nullptr;
  }
  bool pay(std::uint8_t at) { return s_.frames[at].owed == 1 || numbers_make(at, 1, 0x1p-22); }

  /// Everything left, in the largest whole parts without minus signs that end up elsewhere: what was left the first
  // time, where the rest occurs again.
  bool rest(instruction const& i) {
    auto& f = s_.frames[i.a];
    if (!pay(i.a)) return false;
    auto const left = f.left();
    auto const first = s_.member_count();
    std::uint32_t done = 0, taken = 0;
    double sign = f.sign;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & ~left) != 0 || (p.leaves & done) != 0 || (f.group->passed_on >> k & 1u) != 0)
        continue;
      if (p.value == absent || (p.shape != absent && !p.has_number)) return false;
      if (s_.is_root(p.value)) {
        if (p.leaf) return false;
        continue;
      }
      // What the pattern takes to a power, or subtracts, is that of each member.
      auto const w = f.weight(p) * p.power / i.number;
      // (Below a root only what stands there: the root of a square is not what was squared.)
      bool const below_root = !math::is_whole(i.number) && math::is_whole(f.weight(p));
      bool const fits =
          f.group->sums() ? w == 1 || w == -1 : math::abs(i.number) == 1 || (math::is_whole(w) && !below_root);
      if (!fits) {
        if (p.leaf) return false;
        continue;
      }
      if (!p.leaf) {
        // A negated factor keeps its sign where the product has one to give; otherwise it is opened.
        bool const negated = (f.group->minus >> k & 1u) != 0;
        if (!f.group->sums() && (sign < 0) != negated) continue;
        if (negated)
          sign = -sign;
        else if (!stands_whole(*f.group, k))
          continue;
      }
      if (!s_.add_member(p.value, w)) return false;
      done |= p.leaves;
      taken |= 1u << k;
    }
    bool const some = s_.member_count() != first || f.group->dropped || (left & f.group->neutral) != 0;
    if ((i.flags & instruction::some) != 0 && !some) return false;
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind_members(i.b, first, f.group->asked.kind) && s_.cover(i.a, left, taken);
    auto const now = s_.members_from(first);
    bool const as_before = known.axes == static_cast<std::uint64_t>(f.group->asked.kind) &&
                           multisets_.equal(s_.members(i.b), now, *f.group);
    s_.drop_members(first);
    return as_before && s_.cover(i.a, left, taken);
  }

  /// Whether a frame closes once `leaves` are covered as well, as far as that is seen before it is tried.
  [[nodiscard]] static bool leaves_nothing(frame const& f, std::uint32_t leaves) {
    auto const paid = f.owed == 1 ? 0 : f.group->numbers;
    return (f.left() & ~(leaves | f.group->neutral | paid)) == 0;
  }
  bool close(instruction const& i) {
    auto const& f = s_.frames[i.a];
    if (!pay(i.a) || (f.left() & ~f.group->neutral) != 0) return false;
    if (!f.group->sums() && f.sign != 1) return false;
    // The operators of the tree are matched, down to what a capture took whole.
    for (std::uint8_t k = 0; k < f.group->count;) {
      auto const& p = f.group->parts[k];
      bool const taken = (f.taken >> k & 1u) != 0;
      if (!taken && !p.leaf && p.leaves != 0) s_.add_matched(image_.producer(p.value));
      k = taken ? f.group->end_of(k) : static_cast<std::uint8_t>(k + 1);
    }
    return true;
  }

 private:
  struct terms {
    double weight;
    std::uint32_t leaves, taken;
  };
  // That of some like terms, and of these with others behind the last one.
  template <class Look>
  bool looks(frame const& f, std::uint8_t k, std::uint8_t last, terms const& of, int& tries, Look const& look) {
    auto const next = look(of.weight, of.leaves, of.taken);
    if (next != and_then::add_others) return next == and_then::take;
    auto const& parts = f.group->parts;
    std::uint32_t tried = 0;
    for (auto j = static_cast<std::uint8_t>(last + 1); j < f.group->count; ++j) {
      auto const w = another(f, parts[k], j, of.leaves);
      if (w * of.weight <= 0 || any_like(*f.group, tried, j)) continue;
      if (tries-- <= 0) return s_.exceeded = true, false;
      if (looks(f, k, j, {of.weight + w, of.leaves | parts[j].leaves, of.taken | 1u << j}, tries, look)) return true;
      tried |= 1u << j;
    }
    return false;
  }
  // Whether one of some terms is what part `j` is, and would leave as much to be matched whole.
  [[nodiscard]] bool any_like(opened_group const& f, std::uint32_t some, std::uint8_t j) {
    auto const outermost = [&](std::uint8_t k) -> auto const& {  // of the parts that are made of this one alone
      while (k != 0 && f.parts[k].parent != 0 && f.parts[f.parts[k].parent].leaves == f.parts[k].leaves)
        k = f.parts[k].parent;
      return f.parts[k];
    };
    auto const& p = outermost(j);
    for (; some != 0; some &= some - 1) {
      auto const i = static_cast<std::uint8_t>(std::countr_zero(some));
      auto const& q = outermost(i);
      if (f.parts[i].weight == f.parts[j].weight && q.parent == p.parent && q.weight == p.weight &&
          multisets_.same(q.value, p.value))
        return true;
    }
    return false;
  }
  // What part `j` weighs where it is `p` times a number, mostly 1, and nothing has it; else 0.
  double another(frame const& f, opened_group::part const& p, std::uint8_t j, std::uint32_t leaves) {
    auto const& q = f.group->parts[j];
    if (q.leaves == 0 || q.value == absent || (q.leaves & (f.covered | leaves)) != 0 || q.shape != p.shape ||
        q.power != p.power)
      return 0;
    auto const w = f.weight(q);
    // (What is a square is never negative: its roots make it up.)
    if (!f.group->sums() && p.power == 1 && !(math::is_whole(w) && math::is_whole(p.weight))) return 0;
    if (multisets_.same(p.value, q.value)) return w;
    return f.group->sums() && p.plain() ? w * multisets_.ratio(p.value, q.value, *f.group) : 0;
  }

  // Whether part `k` may stand for what is in it: nothing below was left out, and it has no Neg at it or below that is
  // worth opening it for: signs of products cancel, those of sums become subtractions. (They are not worth it where a
  // part alone could not be taken.)
  [[nodiscard]] bool stands_whole(opened_group const& f, std::uint8_t k) const {
    bool negates = false, opens = true;
    std::uint32_t closable = f.closable;  // and what is below
    for (auto j = k; j < f.end_of(k); ++j) {
      auto const& p = f.parts[j];
      if (p.leaves == 0) return false;
      if (j != 0 && (closable >> p.parent & 1u) != 0) {
        closable |= 1u << j;
        continue;
      }
      bool const value = p.leaf && !p.has_number;
      if (value && (!p.plain() || (p.weight != 1 && p.weight != -1))) opens = false;
      auto const n = value || p.value == absent ? absent : image_.producer(p.value);
      negates = negates || (n != absent && op_of(image_, n) == opcode::neg);
    }
    return !(negates && opens);
  }

  Image const& image_;
  facts const& facts_;
  basic_filter<Image>& filter_;
  match_state& s_;
  basic_group_opener<Image> opener_;
  basic_multisets<Image> multisets_;
  kept_groups kept_;
};

}  // namespace fuse::inline v0::detail
