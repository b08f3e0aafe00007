// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/match/frame.hpp>
#include <fuse/match/value_steps.hpp>

namespace fuse::inline v0::detail {

/// The steps on opened sums and products that either hold or fail.
template <class Image>
class basic_group_steps : public value_steps {
 public:
  basic_group_steps(program const& rules, Image const& image, facts const& known, dialect const& names)
      : value_steps(rules, image, known, names),
        filter_(rules_, image, known, names),
        opener_(rules_, image, known, filter_.sets(), congruent_, true) {
    groups_.reserve(kept_groups + frame_count);
  }

 protected:
  void open(instruction const& i, double sign) {
    auto& f = frames_[i.b];
    if (static_cast<sign_use>(i.c) == sign_use::linked && sign < 0) {
      auto& around = frames_[i.count];
      remember({undo::kind::sign, i.count, 0, 0, around.sign});
      around.sign = -around.sign;
    }
    f.group = &group(i);
    bounded_ = bounded_ || f.group->bounded;
    f.covered = f.taken = 0;
    f.sign = f.group->negative() ? -sign : sign;
  }

  // A new search begins: what others opened may give way.
  void release_groups() { ++search_; }
  // The graph has changed.
  void forget_groups() { ++graph_; }

  // Weight of a part as the pattern counts it.
  [[nodiscard]] static double weight(frame const& f, opened_group::part const& p) {
    return f.group->kind == op_group::sum ? p.weight * f.sign : p.weight;
  }

  // Whether weights are one: exponents are, coefficients as float rounds them.
  [[nodiscard]] static bool same_weight(frame const& f, double found, double wanted) {
    return f.group->kind == op_group::sum ? close_to(found, wanted, usual_tolerance) : found == wanted;
  }

  // Part `k`, and more of the same value, which together weigh `wanted`: like terms add up. Which of those that weigh
  // the same does not matter.
  bool several(frame const& f, std::uint8_t k, double wanted, std::uint32_t& leaves, std::uint32_t& taken) {
    auto const w = weight(f, f.group->parts[k]);
    if (w * wanted <= 0 || math::abs(w) > math::abs(wanted)) return false;
    int tries = 256;
    return (f.group->kind == op_group::sum || math::is_whole(wanted)) &&
           adds_up(f, k, k, wanted - w, leaves, taken, tries);
  }
  bool adds_up(frame const& f, std::uint8_t k, std::uint8_t last, double missing, std::uint32_t& leaves,
               std::uint32_t& taken, int& tries) {
    auto const& p = f.group->parts[k];
    double failed = 0;  // a weight
    for (auto j = static_cast<std::uint8_t>(last + 1); j < f.group->count; ++j) {
      auto const w = another(f, p, j, leaves);
      if (w == 0 || w == failed || w * missing <= 0 || tries-- <= 0) continue;
      bool const last_one = same_weight(f, w, missing);
      if (!last_one && math::abs(w) > math::abs(missing)) continue;
      auto const before = leaves, taken_before = taken;
      leaves |= f.group->parts[j].leaves;
      taken |= 1u << j;
      if (last_one || adds_up(f, k, j, missing - w, leaves, taken, tries)) return true;
      leaves = before, taken = taken_before;
      failed = w;
    }
    return false;
  }
  // What part `j` weighs where it is `p` times a number, mostly 1, and nothing has it; else 0.
  double another(frame const& f, opened_group::part const& p, std::uint8_t j, std::uint32_t leaves) {
    auto const& q = f.group->parts[j];
    if (q.leaves == 0 || q.value == absent || (q.leaves & (f.covered | leaves)) != 0 || q.stands_for != p.stands_for)
      return 0;
    auto const w = weight(f, q);
    if (f.group->kind == op_group::product && !(math::is_whole(w) && math::is_whole(p.weight))) return 0;
    if (congruent_.same(bare(p.value), bare(q.value))) return w;
    return f.group->kind == op_group::sum && p.stands_for == absent ? w * ratio(p.value, q.value, *f.group) : 0;
  }

  // By which number two products of the same factors differ; 0: they have others.
  double ratio(value_id a, value_id b, opened_group const& among) {
    if (((filter_.sets()[a].direct | filter_.sets()[b].direct) & product_bit) == 0) return 0;
    auto const first = rest_count_;
    double of_a = 1, of_b = 1;
    bool same = add_member(a, 1) && add_member(b, 1) && open_members(first, first + 1u, op_group::product, among, of_a);
    auto const middle = rest_count_;
    same = same && open_members(first + 1u, first + 2u, op_group::product, among, of_b) &&
           same_members(first + 2u, middle, middle, rest_count_);
    rest_count_ = first;
    return same && of_a != 0 ? of_b / of_a : 0;
  }

  // Whether leaves that are numbers may be left out of what is matched: a number may stand there several times, which
  // makes the whole larger.
  [[nodiscard]] bool may_leave_out(opened_group const& group, std::uint32_t numbers) const {
    bool several = false;
    for (std::uint8_t k = 0; k < group.count && !group.free; ++k) {
      auto const& p = group.parts[k];
      several = several || (p.leaf && (p.leaves & numbers) != 0 && opener_.has_several(p.value));
    }
    return !several || opener_.keeps_shape(group, group.neutral | numbers);
  }

  bool literal(instruction const& i) {
    auto& f = frames_[i.a];
    double number = f.group->kind == op_group::sum ? 0 : 1;
    std::uint32_t leaves = 0, taken = 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.leaf || !p.has_number || (p.leaves & f.covered) != 0) continue;
      number =
          f.group->kind == op_group::sum ? number + weight(f, p) * p.number : number * math::pow(p.number, p.weight);
      leaves |= p.leaves;
      taken |= 1u << k;
    }
    double const wanted = i.number;
    if (f.group->kind == op_group::product) {
      number *= math::abs(f.sign);
      bool const flips = f.sign < 0 && (number < 0) != (wanted < 0);
      if (flips) number = -number;
      if (flips || math::abs(f.sign) != 1) {
        if (!remember({undo::kind::sign, i.a, 0, 0, f.sign})) return false;
        f.sign = f.sign < 0 && !flips ? -1 : 1;
      }
    }
    return close_to(number, wanted, static_cast<double>(i.tolerance)) && may_leave_out(*f.group, leaves) &&
           cover(i.a, leaves, taken);
  }

  // Everything left, in the largest whole parts without minus signs that end up elsewhere: what was left the first
  // time, where the rest occurs again.
  bool rest(instruction const& i) {
    auto& f = frames_[i.a];
    auto const left = f.left();
    auto const first = rest_count_;
    std::uint32_t done = 0, taken = 0;
    double sign = f.sign;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & ~left) != 0 || (p.leaves & done) != 0 || (f.group->passed_on >> k & 1u) != 0)
        continue;
      if (p.value == absent || (p.stands_for != absent && !p.has_number)) return false;
      if (is_root(p.value)) {
        if (p.leaf) return false;
        continue;
      }
      // What the pattern takes to a power, or subtracts, is that of each member.
      auto const w = weight(f, p) / i.number;
      bool const fits =
          f.group->kind == op_group::sum ? w == 1 || w == -1 : math::abs(i.number) == 1 || math::is_whole(w);
      if (!fits) {
        if (p.leaf) return false;
        continue;
      }
      if (!p.leaf) {
        // A negated factor keeps its sign where the product has one to give; otherwise it is opened.
        bool const negated = (f.group->minus >> k & 1u) != 0;
        if (f.group->kind == op_group::product && (sign < 0) != negated) continue;
        if (negated)
          sign = -sign;
        else if (!whole_part(f, k) || negates_inside(f, k))
          continue;
      }
      if (!add_member(p.value, w)) return false;
      done |= p.leaves;
      taken |= 1u << k;
    }
    bool const some = rest_count_ != first || f.group->dropped || (left & f.group->neutral) != 0;
    if ((i.flags & instruction::some) != 0 && !some) return false;
    auto const& known = slots_[i.b];
    if (known.bound ? !left_before(known, first, *f.group) : !bind_members(i.b, first, f.group->kind)) return false;
    return cover(i.a, left, taken);
  }

  // Whether nothing below part `k` was left out.
  [[nodiscard]] static bool whole_part(frame const& f, std::uint8_t k) {
    for (std::uint8_t j = static_cast<std::uint8_t>(k + 1); j < f.group->count; ++j) {
      if (f.group->parts[j].leaves != 0 || f.group->parts[j].parent == 255) continue;
      for (auto up = f.group->parts[j].parent; up != 255; up = f.group->parts[up].parent)
        if (up == k) return false;
    }
    return true;
  }

  // Whether part `k` has a Neg at it or below that is worth opening it for: signs of products cancel, those of sums
  // become subtractions. Not where a part alone could not be taken.
  [[nodiscard]] bool negates_inside(frame const& f, std::uint8_t k) const {
    auto const inside = f.group->parts[k].leaves;
    bool found = false;
    std::uint32_t scaled = f.group->scaled;  // and what is below
    for (std::uint8_t j = k; j < f.group->count; ++j) {
      auto const& p = f.group->parts[j];
      if (p.leaves == 0 || (p.leaves & ~inside) != 0) continue;
      if (p.parent != 255 && (scaled >> p.parent & 1u) != 0) {
        scaled |= 1u << j;
        continue;
      }
      if (p.leaf && !p.has_number && (p.stands_for != absent || (p.weight != 1 && p.weight != -1))) return false;
      auto const n = p.leaf && !p.has_number ? absent : image_.producer(p.value);
      found = found || (n != absent && op_of(image_, n) == opcode::neg);
    }
    return found;
  }

  bool close(instruction const& i) {
    auto const& f = frames_[i.a];
    if ((f.left() & ~f.group->neutral) != 0 || (f.group->kind == op_group::product && f.sign != 1)) return false;
    // The operators of the tree are matched, down to what a capture took whole.
    std::uint32_t inside = 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      bool const below = p.parent != 255 && (inside >> p.parent & 1u) != 0;
      if (below || (f.taken >> k & 1u) != 0)
        inside |= 1u << k;
      else if (!p.leaf && p.leaves != 0)
        matched(image_.producer(p.value));
    }
    return true;
  }

  basic_filter<Image> filter_;

 private:
  static constexpr std::size_t kept_groups = 64;

  // What was asked for when a group was opened.
  struct request {
    value_id value, stands_for;
    frame_needs::needs sought;
    std::uint32_t region, graph;
    op_group kind;
    std::uint8_t through, flags;
    friend bool operator==(request const&, request const&) = default;
    [[nodiscard]] std::size_t hash() const {
      auto const mixed = value * 0x9e3779b1u ^ (static_cast<unsigned>(kind) * 8u + through + flags) * 0x85ebca6bu ^
                         static_cast<unsigned>(sought.deep ^ sought.deep >> 32) * 0xc2b2ae35u;
      return mixed >> 23;
    }
  };
  struct kept_group {
    request what{};
    std::uint32_t search = 0;  // the last one that needed it
  };

  // Whether the members from `first` on are those of a rest that is bound: in any bracketing, numbers multiplied out.
  bool left_before(binding const& known, std::uint16_t first, opened_group const& like) {
    if (known.axes != static_cast<std::uint64_t>(like.kind)) return false;
    auto const last = rest_count_;
    bool same = same_members(known.first, known.first + known.members, first, last);
    if (!same) {
      double const neutral = like.kind == op_group::product ? 1 : 0;
      double before = neutral, now = neutral;
      same = open_members(known.first, known.first + known.members, like.kind, like, before);
      auto const middle = rest_count_;
      same = same && open_members(first, last, like.kind, like, now) && close_to(now, before, usual_tolerance) &&
             same_members(last, middle, middle, rest_count_);
    }
    rest_count_ = first;
    return same;
  }

  // Whether two lists of members are one, in any order.
  bool same_members(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end) {
    if (a_end - a != b_end - b) return false;
    for (; a != a_end; ++a, ++b) {
      auto other = b;
      while (other != b_end && (rest_[other].weight != rest_[a].weight ||
                                !congruent_.same(bare(rest_[a].value), bare(rest_[other].value))))
        ++other;
      if (other == b_end) return false;
      std::swap(rest_[b], rest_[other]);
    }
    return true;
  }

  // Adds what the members [from, to) are made of, opened all the way; their numbers and signs go into `number`. One
  // that is a number is opened as well: what half types round their product to is not that product.
  bool open_members(std::size_t from, std::size_t to, op_group kind, opened_group const& like, double& number) {
    auto& opened = opened_again_;
    auto const added = rest_count_;
    auto const take = [&](double element, double weight) {
      number = kind == op_group::sum ? number + weight * element : number * math::pow(element, weight);
    };
    for (; from != to; ++from) {
      auto const m = rest_[from];
      opened.clips = false;
      opened.free = like.free;
      opened.divides = false;
      opened.scales = true;
      opener_.open(opened, m.value, absent, kind, like.through, region_, frame_needs::all);
      if (opened.bounded) return false;
      if (opened.negative()) take(-1, m.weight);
      for (std::uint8_t k = 0; k < opened.count; ++k) {
        auto const& p = opened.parts[k];
        if (!p.leaf || p.stands_for == mean_with_number) continue;
        if (p.has_number && !like.free && opener_.has_several(p.value)) return false;
        if (p.has_number)
          take(p.number, p.weight * m.weight);
        else if (p.stands_for != absent || !add_like(added, p.value, p.weight * m.weight))
          return false;
      }
    }
    return true;
  }
  // A member; of what is there from `first` on already, so many times more.
  bool add_like(std::size_t first, value_id v, double weight) {
    for (auto at = first; at < rest_count_ && math::is_whole(weight); ++at) {
      auto& known = rest_[at].weight;
      if (known * weight > 0 && math::is_whole(known) && congruent_.same(bare(rest_[at].value), bare(v)))
        return known += weight, true;
    }
    return add_member(v, weight);
  }

  // Sums and products are met again, by other rules and from other nodes: those that were opened last stay.
  opened_group const& group(instruction const& i) {
    constexpr auto matter = instruction::clips | instruction::free | instruction::divides | instruction::scales;
    request const wanted{registers_[i.a],
                         stands_for_[i.a],
                         filter_.sought(i),
                         region_,
                         graph_,
                         static_cast<op_group>(i.op),
                         i.through,
                         static_cast<std::uint8_t>(i.flags & matter)};
    auto& known = place_of_[wanted.hash()];
    if (kept_[known].what == wanted) {
      kept_[known].search = search_;
      return groups_[known];
    }
    std::size_t at = kept_groups + i.b;
    next_ = (next_ + 1) % kept_groups;
    if (kept_[next_].search != search_) {
      at = next_;
      kept_[at] = {wanted, search_};
      known = static_cast<std::uint8_t>(at);
    }
    if (at >= groups_.size()) groups_.resize(at + 1);  // they are large, and few are ever used
    auto& made = groups_[at];
    made.clips = (i.flags & instruction::clips) != 0;
    made.free = (i.flags & instruction::free) != 0;
    made.divides = (i.flags & instruction::divides) != 0;
    made.scales = (i.flags & instruction::scales) != 0;
    opener_.open(made, wanted.value, wanted.stands_for, wanted.kind, wanted.through, region_, wanted.sought);
    return made;
  }

  frame_opener opener_;
  plain_vector<opened_group> groups_;  // those that are kept, then one of each frame's own
  kept_group kept_[kept_groups];
  std::uint8_t place_of_[512]{};  // by hash of a request: where it is kept, if it is
  std::size_t next_ = 0;
  std::uint32_t search_ = 1, graph_ = 1;
  opened_group opened_again_;
};
using group_steps = basic_group_steps<graph_image>;

}  // namespace fuse::inline v0::detail
