// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/match/reduction_steps.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0 {

/// The matching machine: interprets a program on a graph. Full backtracking; no allocation after construction. What a
/// step needs stands in value_steps.hpp, group_steps.hpp and reduction_steps.hpp; here are the steps with several
/// outcomes, and the way through the program.
///
/// Work at one node is bounded by `step_limit` instructions for each way into it; `exceeded` tells that a search was
/// cut off there. What the facts know must be known when a machine is made, or told by `look`.
template <class Image>
class basic_machine : public detail::reduction_steps {
 public:
  static constexpr int step_limit = 50'000;

  basic_machine(program const& rules, Image const& image, facts const& known, dialect const& names)
      : detail::reduction_steps(rules, image, known, names) {}
  basic_machine(basic_machine const&) = delete;
  basic_machine& operator=(basic_machine const&) = delete;

  /// Takes in what has changed in the image: all of it, before the next match is looked for, or the results of one
  /// node. Till then the sets of operators are larger than they need be, which lets nothing be missed.
  void look() {
    stale_ = true;
    forget_groups();
  }
  void look(node_id n) {
    forget_groups();
    filter_.update(n);
    congruent_.update(n);
  }
  /// A new node; whoever uses it is looked at next.
  void add(node_id n) {
    forget_groups();
    filter_.add(n);
    congruent_.update(n);
  }

  /// Whether what cannot match is told apart before it is looked for (match/filter/). Matches are the same; without it
  /// one sees all that fails.
  void filter(bool on) {
    filter_.turn(on);
    forget_groups();
  }
  [[nodiscard]] bool filters() const { return filter_.is_on(); }

  /// What to do with a match; returns whether to stop looking for others at this node.
  class acceptor {
   public:
    acceptor() = default;
    acceptor(acceptor const&) = delete;
    acceptor& operator=(acceptor const&) = delete;
    virtual ~acceptor() = default;
    virtual bool accept(std::uint16_t rule) = 0;
    virtual void refuse(std::uint16_t rule, std::uint16_t condition) = 0;
  };

  /// Matches the rules of `stage` at node `n`. The bindings are those of the match during `accept`.
  bool run(node_id n, int stage, acceptor& to) {
    start(n);
    if (!may_match(n, stage)) return false;
    if (stale_) take_in();
    return run_stage(n, stage, to);
  }

  /// The same for all stages in turn, in a graph that nobody changes meanwhile.
  void run(node_id n, acceptor& to) {
    start(n);
    if (!may_match(n, rules_.stages)) return;
    if (stale_) take_in();
    run_stages(n, to);
  }

  /// The same for every node, users before producers. Of many nodes at once, those that may match are told apart from
  /// the others without a jump at each, which the processor cannot foresee: a fifth of the time with 200 rules.
  void run(acceptor& to) {
    if (stale_) take_in();
    for (auto end = image_.node_count(); end != 0;) {
      auto const first = end > 64 ? end - 64 : 0;
      std::uint64_t hopeful = 0;
      for (auto n = end; n-- > first;) {
        expect_before(n);
        hopeful = hopeful << 1 | std::uint64_t{may_match(n, rules_.stages)};
      }
      for (; hopeful != 0; hopeful ^= std::bit_floor(hopeful)) {
        exceeded_ = bounded_ = false;
        run_stages(first + static_cast<node_id>(std::bit_width(hopeful) - 1), to);
      }
      end = first;
    }
  }

  /// Whether a rule of `stage` begins with the operator of `n`.
  [[nodiscard]] bool has_entry(node_id n, int stage) const {
    auto const& of = filter_.entrances_at(n, stage);
    return of.first != of.last || filter_.has_name(n);
  }
  /// The same of an operator.
  [[nodiscard]] bool begins(opcode op, int stage) const {
    auto const& of = filter_.entrances_of(op, stage);
    return of.first != of.last;
  }
  /// Whether `run` may have anything to do: of most nodes, this is all.
  [[nodiscard]] bool may_match(node_id n, int stage) const { return filter_.may_match(n, stage); }
  /// The node at which rules were last looked for; while a match is accepted, that of its root.
  [[nodiscard]] node_id root() const { return root_; }

 private:
  void take_in() {
    stale_ = false;
    filter_.update();
    congruent_.update();
  }

  // Nodes are mostly looked at from the last to the first.
  [[gnu::always_inline]] void start(node_id n) {
    exceeded_ = bounded_ = false;
    expect_before(n);
  }
  [[gnu::always_inline]] void expect_before(node_id n) const {
    image_.expect_before(n);
    filter_.sets().expect_before(image_.result(n));
  }

  bool run_stage(node_id n, int stage, acceptor& to) {
    if (image_.node(n).result_count == 0) return false;
    auto const there = filter_.sets()[image_.result(n)];  // copies: accepting adds nodes
    auto const name = filter_.has_name(n) ? image_.node(n).tag.name : 0;
    auto const& of = filter_.entrances_at(n, stage);
    for (auto i = of.first; i < of.last; ++i)
      if (auto const& e = filter_[i]; e.gate.lets(there) && enter(n, e, to)) return true;
    if (name != 0)
      for (auto const& e : rules_.entries)
        if (e.stage == stage && e.by_name && e.tag == name && enter(n, detail::entrance::open(e), to)) return true;
    return false;
  }

  void run_stages(node_id n, acceptor& to) {
    auto const& of = filter_.entrances_at(n, rules_.stages);
    if (of.named && filter_.has_name(n)) {
      for (int stage = 0; stage < rules_.stages; ++stage) run_stage(n, stage, to);
      return;
    }
    if (image_.node(n).result_count == 0) return;
    auto const& there = filter_.sets()[image_.result(n)];
    int done = -1;  // the last stage that has accepted
    for (auto i = of.first; i < of.last; ++i)
      if (auto const& e = filter_[i]; e.stage != done && e.gate.lets(there) && enter(n, e, to)) done = e.stage;
  }

  // Calls `go_on(pc)` for the branches at `pc` that may match, until one returns true.
  template <class GoOn>
  bool any_branch(std::uint16_t pc, GoOn const& go_on) const {
    return filter_.branches(
        pc, [&](std::uint8_t at) { return registers_[at]; }, go_on);
  }

  bool enter(node_id n, detail::entrance const& e, acceptor& to) {
    if (!filter_.leads_on(n, e)) return false;
    acceptor_ = &to;
    score_ = 0;
    release_groups();
    root_ = n;
    region_ = image_.node(n).region;
    auto const begin = here();
    registers_[0] = registers_[1] = image_.result(n);
    if (e.strip != 0) registers_[1] = stripped(registers_[0], e.strip, true, true);
    signs_[1] = 1;
    stands_for_[0] = stands_for_[1] = absent;
    if (e.strip != 0 && registers_[1] == registers_[0]) return false;
    auto const from = [&](std::uint16_t pc) {
      steps_ = 0;  // what one rule does, or those that begin like it, is not taken from others
      return try_from(pc, begin);
    };
    bool const stop = filter_.branches(
        e, [&](std::uint8_t at) { return registers_[at]; }, from);
    rewind(begin);
    return stop;
  }

  bool fail(std::uint16_t pc, value_id at) {
    if (listener != nullptr) listener->failed(pc, at, score_);
    return false;
  }

  bool run(std::uint16_t pc) {
    int const score = score_;
    bool const stop = interpret(pc);
    if (!stop) score_ = score;
    return stop;
  }

  bool try_from(std::uint16_t pc, mark const& back) {
    if (run(pc)) return true;
    rewind(back);
    return false;
  }

  bool interpret(std::uint16_t pc) {
    while (true) {
      if (++steps_ > step_limit) return exceeded_ = true, false;
      auto const& i = rules_.code[pc];
      switch (i.code) {
        case step::fork: {
          auto const back = here();
          return any_branch(pc, [&](std::uint16_t to) { return try_from(to, back); });
        }
        case step::operation:
        case step::exactly: {
          auto const v = stripped(i, true);
          if (!operation(i, v)) return fail(pc, v);
          score_ += 2;
          if ((i.flags & instruction::commutes) != 0) {
            auto const back = here();
            if (run(i.next)) return true;
            rewind(back);
            std::swap(registers_[i.b], registers_[i.b + 1]);
          }
          break;
        }
        case step::reduction:
          if (!reduction(i)) return fail(pc, registers_[i.a]);
          score_ += 2;
          break;
        case step::within:
          if (!filter_.has_below(i, registers_[i.a])) return fail(pc, registers_[i.a]);
          break;
        case step::group:
          if (static_cast<sign_use>(i.c) != sign_use::strict) {
            auto const back = here();
            open(i, 1);
            if (run(i.next)) return true;
            rewind(back);
            open(i, -1);
          } else {
            open(i, signs_[i.a]);
          }
          break;
        case step::member: return member(i, pc);
        case step::scalar_member: return scalar_member(i, pc);
        case step::literal:
          if (!literal(i)) return fail(pc, frames_[i.a].group->parts[0].value);
          break;
        case step::rest:
          if (!rest(i)) return fail(pc, frames_[i.a].group->parts[0].value);
          break;
        case step::close:
          if (!close(i)) return fail(pc, frames_[i.a].group->parts[0].value);
          break;
        case step::operands:
          if (!operands(i)) return fail(pc, registers_[i.a]);
          break;
        case step::capture:
          if (stands_for_[i.a] != absent) return fail(pc, registers_[i.a]);
          if (!slots_[i.b].bound && i.through != 0) return capture_below(i);
          if (!capture(i.b, registers_[i.a])) return fail(pc, registers_[i.a]);
          break;
        case step::scalar: {
          double number = 0;
          auto const v = registers_[i.a];
          if (v == absent || !facts_.number(v, number) || !bind_number(i.b, number, v)) return fail(pc, v);
          break;
        }
        case step::number:
          if (!equals_number(registers_[i.a], i.number, static_cast<double>(i.tolerance)) || !has_as_large_beside(i))
            return fail(pc, registers_[i.a]);
          break;
        case step::missing:
          if (registers_[i.a] != absent) return fail(pc, registers_[i.a]);
          break;
        case step::parameter:
          if (!parameter(i)) return fail(pc, stripped(i, false));
          break;
        case step::users: {
          auto const v = stripped(i, false);
          if (!used_by(v, i.op)) return fail(pc, v);
          break;
        }
        case step::user: return user(i, pc);
        case step::same:
          if (!same(i.a, i.b)) return fail(pc, registers_[i.a]);
          break;
        case step::agrees:
          if (!agrees(i)) return fail(pc, registers_[i.a]);
          break;
        case step::recall:
          registers_[i.a] = slots_[i.b].value;
          signs_[i.a] = 1;
          stands_for_[i.a] = absent;
          break;
        case step::strip: return strip(i);
        case step::condition:
          if (!condition_holds(i.op)) {
            acceptor_->refuse(rules_.conditions[i.op].rule, i.op);
            return fail(pc, registers_[0]);
          }
          break;
        case step::accept: return acceptor_->accept(i.op);
      }
      pc = i.next;
    }
  }

  bool member(instruction const& i, std::uint16_t pc) {
    auto& f = frames_[i.a];
    bool const captures = (i.flags & instruction::captures) != 0, any_sign = (i.flags & instruction::any_sign) != 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & f.covered) != 0 || (captures ? is_root(p.value) : !f.group->whole(k))) continue;
      auto const w = weight(f, p);
      std::uint32_t leaves = p.leaves, taken = 1u << k;
      double sign = 1;
      if (w != i.number) {
        if (p.value == absent) continue;
        if ((i.flags & instruction::scales) != 0) {
          if (multiples(i, k)) return true;
          continue;
        }
        if (any_sign && w * i.number < 0) sign = -1;
        if (!same_weight(f, w, sign * i.number) && !several(f, k, sign * i.number, leaves, taken)) continue;
      }
      if (part(i, p, sign, leaves, taken)) return true;
      if ((i.flags & instruction::scales) != 0 && multiples(i, k)) return true;
    }
    return fail(pc, f.group->parts[0].value);
  }

  // Goes on with part `p` of a frame, or several that are like it.
  bool part(instruction const& i, detail::opened_group::part const& p, double sign, std::uint32_t leaves,
            std::uint32_t taken) {
    int const telling = i.number == 1 || i.number == -1 ? 0 : 1;
    registers_[i.b] = p.value;
    signs_[i.b] = sign;
    stands_for_[i.b] = p.stands_for;
    auto const back = here();
    return any_branch(i.next, [&](std::uint16_t to) {
      if (!cover(i.a, leaves, taken)) return false;
      score_ += telling;
      if (try_from(to, back)) return true;
      score_ -= telling;
      return false;
    });
  }

  // The same with a coefficient: that of part `k`, where it is not that of the member, and those of like terms added
  // up.
  [[gnu::noinline]] bool multiples(instruction const& i, std::uint8_t k) {
    auto const& f = frames_[i.a];
    auto const& p = f.group->parts[k];
    auto w = weight(f, p);
    std::uint32_t leaves = p.leaves, taken = 1u << k;
    if (w != i.number && part(i, p, w / i.number, leaves, taken)) return true;
    for (auto j = static_cast<std::uint8_t>(k + 1); j < f.group->count; ++j) {
      auto const more = another(f, p, j, leaves);
      if (more * w <= 0) continue;
      w += more;
      leaves |= f.group->parts[j].leaves;
      taken |= 1u << j;
      if (part(i, p, w / i.number, leaves, taken)) return true;
    }
    return false;
  }

  bool scalar_member(instruction const& i, std::uint16_t pc) {
    auto& f = frames_[i.a];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.has_number || p.value == absent || (k == 0 && !p.leaf) || (p.leaves & f.covered) != 0) continue;
      auto number = p.number;
      auto const w = weight(f, p);
      bool const sum = f.group->kind == op_group::sum;
      auto const type = facts_.type(p.value);
      if (w == -i.number && (sum ? !is_unsigned(type) : number != 0 && !is_integer(type)))
        number = sum ? -number : 1 / number;  // subtracted, or divided by
      else if (w != i.number)
        continue;
      if (!may_leave_out(*f.group, p.leaves)) continue;
      auto const back = here();
      if (cover(i.a, p.leaves, 1u << k) && bind_number(i.b, number, w == i.number ? p.value : absent) && run(i.next))
        return true;
      rewind(back);
    }
    // What follows may fail for the want of this part: it is told first.
    if (!f.group->dropped) fail(pc, f.group->parts[0].value);
    if (f.group->dropped || (i.flags & instruction::optional) != 0) {  // a constant 0 or 1 that was left out
      auto const back = here();
      if (bind_number(i.b, f.group->kind == op_group::sum ? 0 : 1, absent) && run(i.next)) return true;
      rewind(back);
    }
    return fail(pc, f.group->parts[0].value);
  }

  // A capture binds on either side of what is looked through: above first, then further down.
  bool capture_below(instruction const& i) {
    auto const above = registers_[i.a];
    auto& v = registers_[i.a];
    auto const below = [&] {
      auto const n = v == absent ? absent : image_.producer(v);
      return n == absent ? absent : seen_through(n, i.through, (i.flags & instruction::free) != 0);
    };
    for (auto next = below(); next != absent && detail::unchanged(image_, facts_, image_.producer(v)); next = below()) {
      matched(image_.producer(v));  // it makes no difference
      v = next;
    }
    for (int k = 0; k < 9 && v != absent; ++k) {
      auto const back = here();
      if (capture(i.b, v) && run(i.next)) return true;
      rewind(back);
      auto const next = below();
      if (next == absent) break;
      matched(image_.producer(v));
      v = next;
    }
    v = above;
    return false;
  }

  bool strip(instruction const& i) {
    value_id chain[9];
    int length = 0;
    auto v = registers_[i.a];
    chain[length++] = v;
    auto const begin = here();
    while (i.through != 0 && length < 9) {
      auto const n = v == absent ? absent : image_.producer(v);
      v = n == absent ? absent : seen_through(n, i.through, (i.flags & instruction::free) != 0);
      if (v == absent) break;
      chain[length++] = v;
    }
    while (length-- > 0) {
      for (int k = 0; k < length; ++k) matched(image_.producer(chain[k]));
      registers_[i.b] = chain[length];
      signs_[i.b] = signs_[i.a];
      stands_for_[i.b] = stands_for_[i.a];
      if (run(i.next)) return true;
      rewind(begin);
    }
    return false;
  }

  bool user(instruction const& i, std::uint16_t pc) {
    auto const v = registers_[i.a];
    int tried = 0;
    for (auto at = image_.value(v).first_use; at != absent; at = image_.use_at(at).next) {
      auto const n = image_.use_at(at).node;
      if (image_.node(n).result_count <= i.c || image_.node(n).region != region_) continue;
      if (++tried > 256) return exceeded_ = true, fail(pc, v);
      auto const back = here();
      registers_[i.b] = image_.result(n, i.c);
      signs_[i.b] = 1;
      stands_for_[i.b] = absent;
      if (run(i.next)) return true;
      rewind(back);
    }
    return fail(pc, v);
  }

  bool stale_ = false;  // the image has changed
  acceptor* acceptor_ = nullptr;
  node_id root_ = absent;
  int steps_ = 0;
  int score_ = 0;  // how telling what has matched so far is: operators and reductions 2, powers 1
};
using machine = basic_machine<graph_image>;

}  // namespace fuse::inline v0
