// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include <fuse/infer/congruence.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/match/group_steps.hpp>
#include <fuse/match/layout_steps.hpp>
#include <fuse/match/reduction_steps.hpp>
#include <fuse/match/state.hpp>
#include <fuse/match/value_steps.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Told where matching failed, for explanations; see match/explain.hpp.
class failure_listener {
 public:
  virtual void failed(std::uint16_t instruction, value_id at, int score) = 0;
  /// Whether to go that way at all.
  [[nodiscard]] virtual bool follows(std::uint16_t /*instruction*/) const { return true; }

 protected:
  ~failure_listener() = default;
};

/// What to do with a match; returns whether to stop looking for others at this node.
class match_acceptor {
 public:
  virtual bool accept(std::uint16_t rule) = 0;
  /// What would match, but for a condition.
  virtual void refuse(std::uint16_t /*rule*/, std::uint16_t /*condition*/) {}

 protected:
  ~match_acceptor() = default;
};

/// The way through the program from one entrance, and the steps with several outcomes: each is tried until the rest of
/// the program accepts. Steps that either hold or fail stand in value_steps.hpp, group_steps.hpp and
/// reduction_steps.hpp, what they find in state.hpp. Full backtracking; no allocation after construction.
///
/// Work is bounded by `step_limit` instructions for each way into the program; the state tells that a search was cut
/// off there.
template <class Image>
class basic_interpreter {
 public:
  static constexpr int step_limit = 50'000;

  basic_interpreter(program const& rules, Image const& image, facts const& known, dialect const& names,
                    congruence& congruent, basic_filter<Image>& told)
      : rules_(rules),
        image_(image),
        facts_(known),
        filter_(told),
        values_(rules, image, known, names, congruent, s_),
        groups_(rules, image, known, congruent, told, s_),
        reductions_(rules, image, known, names, congruent, values_, groups_, s_),
        layouts_(rules, image, known, names, s_) {}
  basic_interpreter(basic_interpreter const&) = delete;
  basic_interpreter& operator=(basic_interpreter const&) = delete;

  /// The match, while it is accepted, and which bounds the search has met since `begin`.
  [[nodiscard]] match_state const& found() const { return s_; }
  /// The node at which rules were last looked for; while a match is accepted, that of its root.
  [[nodiscard]] node_id root() const { return root_; }

  /// Whoever is told of every failure, or nobody.
  void listen(failure_listener* to) { listener_ = to; }
  /// A search of its own begins.
  void begin() { s_.exceeded = s_.bounded = false; }
  /// The graph has changed, or what the filter tells.
  void forget() { groups_.forget(); }

  /// Goes the ways into the program that begin at entrance `e`, at node `n`; returns whether to look for nothing else
  /// there.
  bool enter(node_id n, entrance const& e, match_acceptor& to) {
    acceptor_ = &to;
    score_ = 0;
    groups_.begin();
    root_ = n;
    s_.region = image_.node(n).region;
    auto const begin = s_.here();
    auto const root = image_.result(n);
    s_.registers[0] = s_.registers[1] = {{root}};
    if (e.strip != 0) {
      s_.registers[1] = {{values_.stripped(root, e.strip, true, true)}};
      if (s_.value(1) == root) return false;
    }
    auto const stripped = s_.here();  // what was looked through is matched, whichever way is gone
    auto const from = [&](std::uint16_t pc) {
      steps_ = 0;  // what one rule does, or those that begin like it, is not taken from others
      return try_from(pc, stripped);
    };
    bool const stop = any_branch(e, from);
    s_.rewind(begin);
    return stop;
  }

 private:
  // The operators that the filter is asked about.
  [[nodiscard]] operator_sets::sets const& operators_at(std::uint16_t at) const {
    if (at >= operator_needs::frame_base) return s_.opened(static_cast<std::uint8_t>(at)).there;
    return filter_.sets().at(s_.value(static_cast<std::uint8_t>(at)), s_.registers[at].power);
  }

  // Calls `go_on(pc)` for the branches that may match at an instruction or entrance, until one returns true.
  template <class Where, class GoOn>
  bool any_branch(Where const& where, GoOn const& go_on) const {
    return filter_.branches(
        where, [&](std::uint16_t at) -> auto const& { return operators_at(at); },
        [&](std::uint16_t pc) { return (listener_ == nullptr || listener_->follows(pc)) && go_on(pc); });
  }

  bool fail(std::uint16_t pc) {
    if (listener_ != nullptr) listener_->failed(pc, looked_at(rules_.code[pc]), score_);
    return false;
  }
  [[nodiscard]] value_id looked_at(instruction const& i) {
    switch (i.code) {
      case step::operation:
      case step::exactly:
      case step::parameter:
      case step::element:
      case step::over:
      case step::users: return values_.stripped(i, false);
      case step::condition: return s_.value(0);
      default: return i.is_of_frame() ? s_.opened(i.a).asked.of.value : s_.value(i.a);
    }
  }

  bool run(std::uint16_t pc) {
    int const score = score_;
    bool const stop = interpret(pc);
    if (!stop) score_ = score;
    return stop;
  }

  bool try_from(std::uint16_t pc, match_state::mark const& back) { return try_if(true, pc, back); }
  // The same after a change, which is taken back as well; not where that failed.
  bool try_if(bool held, std::uint16_t pc, match_state::mark const& back) {
    if (held && run(pc)) return true;
    s_.rewind(back);
    return false;
  }

  bool interpret(std::uint16_t pc) {
    while (true) {
      if (++steps_ > step_limit) return s_.exceeded = true, false;
      auto const& i = rules_.code[pc];
      bool held = true;
      switch (i.code) {
        case step::fork: {
          auto const back = s_.here();
          return any_branch(pc, [&](std::uint16_t to) { return try_from(to, back); });
        }
        case step::operation:
        case step::exactly:
          held = values_.operation(i, values_.stripped(i, true));
          if (!held) break;
          score_ += i.tells();
          if ((i.flags & instruction::commutes) != 0) {
            if (try_from(i.next, s_.here())) return true;
            std::swap(s_.registers[i.b], s_.registers[i.b + 1]);
          }
          break;
        case step::reduction:
          held = reductions_.reduction(i);
          if (held) score_ += i.tells();
          break;
        case step::within: held = filter_.has_below(i, operators_at(i.a)); break;
        case step::group:
          if (static_cast<sign_use>(i.c) == sign_use::strict) {
            held = groups_.open(i, s_.registers[i.a].times);
          } else {
            auto const back = s_.here();
            held = groups_.open(i, 1);
            if (held && try_from(i.next, back)) return true;
            held = held && groups_.open(i, -1);
          }
          break;
        case step::member: return member(i, pc);
        case step::scalar_member: return scalar_member(i, pc);
        case step::literal: held = groups_.literal(i); break;
        case step::rest: held = groups_.rest(i); break;
        case step::close: held = groups_.close(i); break;
        case step::operands: held = values_.operands(i); break;
        case step::capture:
          held = s_.registers[i.a].plain();
          if (held && i.through != 0 && !s_.slot(i.b).bound) return capture_below(i);
          held = held && values_.capture(i.b, s_.value(i.a));
          break;
        case step::scalar: held = values_.scalar(i); break;
        case step::number: held = values_.number(i); break;
        case step::missing: held = s_.value(i.a) == absent; break;
        case step::parameter: held = values_.parameter(i); break;
        case step::element: held = values_.element(i); break;
        case step::over: held = values_.over(i); break;
        case step::users: held = image_.used_by(values_.stripped(i, false), i.op); break;
        case step::user: return user(i, pc);
        case step::same: held = values_.same(i.a, i.b); break;
        case step::agrees: held = values_.agrees(i); break;
        case step::recall: s_.registers[i.a] = {{s_.slot(i.b).value}}; break;
        case step::strip: return strip(i);
        case step::rearranged: return rearranged(i, pc);
        case step::condition:
          held = values_.condition_holds(i.op);
          if (!held && !rules_.conditions[i.op].what.silent) acceptor_->refuse(rules_.conditions[i.op].rule, i.op);
          break;
        case step::accept: return acceptor_->accept(i.op);
      }
      if (!held) return fail(pc);
      pc = i.next;
    }
  }

  bool member(instruction const& i, std::uint16_t pc) {
    using and_then = typename basic_group_steps<Image>::and_then;
    auto& f = s_.frames[i.a];
    bool const captures = (i.flags & instruction::captures) != 0, any_sign = (i.flags & instruction::any_sign) != 0;
    bool const last = captures && closes_behind(i);
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & f.covered) != 0 || (captures ? s_.is_root(p.value) : !f.group->whole(k)))
        continue;
      auto const found = groups_.any_like_terms(f, k, [&](double weight, std::uint32_t leaves, std::uint32_t taken) {
        if (weight != i.number && p.value == absent) return and_then::leave;
        bool const scales = (i.flags & instruction::scales) != 0;  // it has a coefficient: whatever there is
        double const sign = scales ? weight / i.number : any_sign && weight * i.number < 0 ? -1 : 1;
        bool const enough = scales || groups_.same_weight(f, weight, sign * i.number);
        bool const all = !last || groups_.leaves_nothing(f, leaves);
        if (enough && all && part(i, pc, p, sign, leaves, taken)) return and_then::take;
        bool const may_grow = scales || (!enough && groups_.may_add_up(f, weight, sign * i.number));
        return may_grow && p.value != absent ? and_then::add_others : and_then::leave;
      });
      if (found) return true;
    }
    return fail(pc);
  }

  // Whether a member is captured, and nothing else is looked for in its frame.
  [[nodiscard]] bool closes_behind(instruction const& i) const {
    auto const& capture = rules_.code[i.next];
    if (capture.code != step::capture || capture.a != i.b) return false;
    auto const& close = rules_.code[capture.next];
    return close.code == step::close && close.a == i.a;
  }

  // Goes on with part `p` of a frame, or several that are like it.
  bool part(instruction const& i, std::uint16_t pc, opened_group::part const& p, double sign, std::uint32_t leaves,
            std::uint32_t taken) {
    int const telling = i.tells();
    auto const& f = s_.frames[i.a];
    auto const only = f.group->leaf_count == 1 ? f.member : no_instruction;
    s_.registers[i.b].take(p, sign, f.group->sums() ? only : pc);
    auto const back = s_.here();
    return any_branch(i.next, [&](std::uint16_t to) {
      if (!s_.cover(i.a, leaves, taken)) return false;
      score_ += telling;
      if (try_from(to, back)) return true;
      score_ -= telling;
      return false;
    });
  }

  bool scalar_member(instruction const& i, std::uint16_t pc) {
    auto& f = s_.frames[i.a];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.has_number || p.value == absent || (k == 0 && !p.leaf) || (p.leaves & f.covered) != 0) continue;
      auto number = p.number;
      auto const w = f.weight(p);
      bool const sum = f.group->sums();
      auto const type = facts_.type(p.value);
      if (w == -i.number && (sum ? !is_unsigned(type) : number != 0 && !is_integer(type)))
        number = sum ? -number : 1 / number;  // subtracted, or divided by
      else if (w != i.number)
        continue;
      if (!groups_.may_leave_out(*f.group, p.leaves)) continue;
      auto const back = s_.here();
      auto const from = w == i.number ? p.value : absent;
      if (try_if(s_.cover(i.a, p.leaves, 1u << k) && values_.bind_number(i.b, number, from), i.next, back)) return true;
    }
    // What follows may fail for the want of this part: it is told first.
    if (!f.group->dropped) fail(pc);
    if (f.group->dropped || (i.flags & instruction::optional) != 0) {  // a constant 0 or 1 that was left out
      auto const back = s_.here();
      if (try_if(values_.bind_number(i.b, f.group->sums() ? 0 : 1, absent), i.next, back)) return true;
    }
    return fail(pc);
  }

  // A capture binds on either side of what is looked through: above first, then further down.
  bool capture_below(instruction const& i) {
    auto const above = s_.value(i.a);
    auto& v = s_.registers[i.a].value;
    for (int tries = 0; tries < 9;) {
      auto const next = values_.seen_through(v, i.through, (i.flags & instruction::free) != 0);
      if (next == absent || !unchanged(image_, facts_, image_.producer(v))) {  // else it makes no difference
        auto const back = s_.here();
        if (try_if(values_.capture(i.b, v), i.next, back)) return true;
        ++tries;
      }
      if (next == absent) break;
      s_.add_matched(image_.producer(v));
      v = next;
    }
    v = above;
    return false;
  }

  // What is looked through is matched: all of it first, then less.
  bool strip(instruction const& i) { return strip(i, s_.value(i.a), 0); }
  bool strip(instruction const& i, value_id v, int passed) {
    auto const below =
        i.through == 0 || passed == 8 ? absent : values_.seen_through(v, i.through, (i.flags & instruction::free) != 0);
    auto const back = s_.here();
    if (below != absent) {
      s_.add_matched(image_.producer(v));
      if (strip(i, below, passed + 1)) return true;
      s_.rewind(back);
    }
    s_.registers[i.b] = s_.registers[i.a];
    s_.registers[i.b].value = v;
    return try_from(i.next, back);
  }

  // Whether the operator that the step needs computes `from`, behind what is looked through there.
  [[nodiscard]] bool may_be_base(instruction const& i, value_id from) {
    if (i.number == 0) return true;
    auto const n = image_.producer(values_.stripped(from, i.through, false, false));
    return n != absent && i.number == 1. + static_cast<double>(image_.node(n).tag.op);
  }
  // Of what is furthest down first.
  bool rearranged(instruction const& i, std::uint16_t pc) {
    if (!s_.registers[i.a].plain()) return fail(pc);
    auto const v = s_.value(i.a);
    auto const back = s_.here();
    value_id below[basic_layout_steps<Image>::most_below + 1];
    int count = 0;
    for (auto from = v; from != absent && count <= layouts_.most_below; from = layouts_.below(from))
      below[count++] = from;
    while (count-- > (s_.is_root(v) ? 1 : 0)) {  // what is replaced is made of something else
      if (may_be_base(i, below[count]) && layouts_.rearranged(i, v, below[count])) {
        s_.registers[i.b] = {{below[count]}};
        if (run(i.next)) return true;
      }
      s_.rewind(back);
    }
    return fail(pc);
  }

  bool user(instruction const& i, std::uint16_t pc) {
    int scanned = 0;
    auto const v = s_.value(i.a);
    auto const back = s_.here();
    if ((i.flags & instruction::optional) != 0) {
      s_.registers[i.b] = {{v}};
      if (try_from(i.next, back)) return true;
    }
    return user_of(i, v, scanned, 0) || fail(pc);
  }
  // ... of `v`, or of what passes it on through the operators of a set, chains of at most 8 of them; through what
  // spells a sum, product or reduction, of at most 16.
  bool user_of(instruction const& i, value_id v, int& scanned, int passed) {
    bool const climbs = (i.flags & instruction::climbs) != 0;
    for (auto at = image_.value(v).first_use; at != absent; at = image_.use_at(at).next) {
      auto const n = image_.use_at(at).node;
      if (image_.node(n).result_count <= i.c || image_.node(n).region != s_.region) continue;
      if (++scanned > 1024) return s_.exceeded = true, false;
      bool const fits = is_user(i, image_.node(n).tag);
      if (fits) {
        s_.registers[i.b] = {{image_.result(n, i.c)}};
        if (try_from(i.next, s_.here())) return true;
      }
      bool const on = climbs && passed < 16 && fits;
      if (!on && (i.through == 0 || passed >= 8 || !passes_on(n, v, i.through))) continue;
      if (user_of(i, image_.result(n), scanned, passed + 1)) return true;
    }
    return false;
  }
  // Whether a user is what is looked for.
  template <class Tag>
  [[nodiscard]] static bool is_user(instruction const& i, Tag const& tag) {
    if ((i.flags & instruction::named) != 0) return tag.name == i.op;
    auto const op = static_cast<opcode>(tag.op);
    if ((i.flags & instruction::climbs) == 0) return i.op == 0 || tag.op == i.op;
    return is_spelling(op) || op == opcode::unsqueeze || op == opcode::reshape;
  }
  // Whether node `n` is one of a set, and `v` its first operand. Whether elements stay what they are is asked on the
  // way down.
  [[nodiscard]] bool passes_on(node_id n, value_id v, std::uint8_t set) const {
    auto const& tag = image_.node(n).tag;
    return rules_.sets[set - 1u].contains(tag.name, tag.op) && image_.operand(n, 0) == v;
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  basic_filter<Image> const& filter_;
  match_state s_;
  basic_value_steps<Image> values_;
  basic_group_steps<Image> groups_;
  basic_reduction_steps<Image> reductions_;
  basic_layout_steps<Image> layouts_;
  failure_listener* listener_ = nullptr;
  match_acceptor* acceptor_ = nullptr;
  node_id root_ = absent;
  int steps_ = 0;
  int score_ = 0;  // how telling what has held so far is
};

}  // namespace fuse::inline v0::detail
