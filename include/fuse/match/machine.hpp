// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/infer/congruence.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/match/group_steps.hpp>
#include <fuse/match/reduction_steps.hpp>
#include <fuse/match/state.hpp>
#include <fuse/match/value_steps.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Told where matching failed, for explanations; see match/explain.hpp.
class failure_listener {
 public:
  failure_listener() = default;
  failure_listener(failure_listener const&) = delete;
  failure_listener& operator=(failure_listener const&) = delete;
  virtual ~failure_listener() = default;
  virtual void failed(std::uint16_t instruction, value_id at, int score) = 0;
};

/// The matching machine: interprets a program on a graph. Full backtracking; no allocation after construction. Steps
/// that either hold or fail stand in value_steps.hpp, group_steps.hpp and reduction_steps.hpp, what they find in
/// state.hpp; here are the way through the program and the steps with several outcomes.
///
/// Work at one node is bounded by `step_limit` instructions for each way into it; `exceeded` tells that a search was
/// cut off there. What the facts know must be known when a machine is made, or told by `look`.
template <class Image>
class basic_machine {
 public:
  static constexpr int step_limit = 50'000;

  basic_machine(program const& rules, Image const& image, facts const& known, dialect const& names)
      : rules_(rules),
        image_(image),
        facts_(known),
        names_(names),
        congruent_(image, known, names_),
        filter_(rules_, image, known, names_),
        values_(rules_, image, known, names_, congruent_, s_),
        groups_(rules_, image, known, congruent_, filter_, s_),
        reductions_(rules_, image, known, names_, congruent_, values_, groups_, s_) {}
  basic_machine(basic_machine const&) = delete;
  basic_machine& operator=(basic_machine const&) = delete;

  /// Takes in what has changed in the image: all of it, before the next match is looked for, or the results of one
  /// node. Till then the sets of operators are larger than they need be, which lets nothing be missed.
  void look() {
    stale_ = true;
    groups_.forget();
  }
  void look(node_id n) {
    groups_.forget();
    filter_.update(n);
    congruent_.update(n);
  }
  /// A new node; whoever uses it is looked at next.
  void add(node_id n) {
    groups_.forget();
    filter_.add(n);
    congruent_.update(n);
  }

  /// Takes in for whatever compares two values that any may be another computation than it was. Linear in the image
  /// with the next comparison, if there is one.
  void compare_anew() { congruent_.update(); }

  /// Whether what cannot match is told apart before it is looked for (match/filter/). Matches are the same; without it
  /// one sees all that fails.
  void filter(bool on) {
    filter_.turn(on);
    groups_.forget();
  }
  [[nodiscard]] bool filters() const { return filter_.is_on(); }

  [[nodiscard]] program const& rules() const { return rules_; }
  [[nodiscard]] congruence& congruent() { return congruent_; }
  /// The match, while it is accepted.
  [[nodiscard]] detail::match_state const& found() const { return s_; }
  /// Whether the last search was cut off at a bound.
  [[nodiscard]] bool exceeded() const { return s_.exceeded; }
  /// Whether it looked into a sum or product that has more parts than were opened.
  [[nodiscard]] bool bounded() const { return s_.bounded; }

  /// Whether it went no further where two values are different computations: a change below, however far, may make them
  /// the same.
  [[nodiscard]] bool told_apart() const { return congruent_.told_apart(); }

  detail::failure_listener* listener = nullptr;

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

  /// The same for every node, users before producers.
  void run(acceptor& to) {
    if (stale_) take_in();
    filter_.for_each_hopeful([&](node_id n) {
      s_.exceeded = s_.bounded = false;
      run_stages(n, to);
    });
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

  [[gnu::always_inline]] void start(node_id n) {
    s_.exceeded = s_.bounded = false;
    congruent_.told_apart(false);
    filter_.expect_before(n);
  }

  bool run_stage(node_id n, int stage, acceptor& to) {
    return image_.node(n).result_count != 0 &&
           filter_.any_entrance(n, stage, [&](detail::entrance const& e) { return enter(n, e, to); });
  }
  // At a node whose operator rules begin with by name, they come stage by stage among the others.
  void run_stages(node_id n, acceptor& to) {
    if (image_.node(n).result_count == 0) return;
    if (filter_.entrances_at(n, rules_.stages).named && filter_.has_name(n)) {
      for (int stage = 0; stage < rules_.stages; ++stage) run_stage(n, stage, to);
      return;
    }
    int done = -1;  // the last stage that has accepted
    filter_.any_entrance(n, rules_.stages, [&](detail::entrance const& e) {
      if (e.stage != done && enter(n, e, to)) done = e.stage;
      return false;
    });
  }

  // What the filter is asked about: of the square of a value nothing is told.
  [[nodiscard]] value_id operators_at(std::uint8_t at) const {
    return s_.registers[at].power == 1 ? s_.value(at) : detail::operator_sets::of_anything;
  }

  // Calls `go_on(pc)` for the branches at `pc` that may match, until one returns true.
  template <class GoOn>
  bool any_branch(std::uint16_t pc, GoOn const& go_on) const {
    return filter_.branches(
        pc, [&](std::uint8_t at) { return operators_at(at); }, go_on);
  }

  bool enter(node_id n, detail::entrance const& e, acceptor& to) {
    if (!filter_.leads_on(n, e)) return false;
    acceptor_ = &to;
    score_ = 0;
    groups_.begin();
    root_ = n;
    s_.region = image_.node(n).region;
    auto const begin = s_.here();
    auto const root = image_.result(n);
    s_.registers[0] = s_.registers[1] = {root};
    if (e.strip != 0) s_.registers[1] = {values_.stripped(root, e.strip, true, true)};
    if (e.strip != 0 && s_.value(1) == root) return false;
    auto const from = [&](std::uint16_t pc) {
      steps_ = 0;  // what one rule does, or those that begin like it, is not taken from others
      return try_from(pc, begin);
    };
    bool const stop = filter_.branches(
        e, [&](std::uint8_t at) { return operators_at(at); }, from);
    s_.rewind(begin);
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

  bool try_from(std::uint16_t pc, detail::match_state::mark const& back) {
    if (run(pc)) return true;
    s_.rewind(back);
    return false;
  }

  bool interpret(std::uint16_t pc) {
    while (true) {
      if (++steps_ > step_limit) return s_.exceeded = true, false;
      auto const& i = rules_.code[pc];
      switch (i.code) {
        case step::fork: {
          auto const back = s_.here();
          return any_branch(pc, [&](std::uint16_t to) { return try_from(to, back); });
        }
        case step::operation:
        case step::exactly: {
          auto const v = values_.stripped(i, true);
          if (!values_.operation(i, v)) return fail(pc, v);
          score_ += 2;
          if ((i.flags & instruction::commutes) != 0) {
            auto const back = s_.here();
            if (run(i.next)) return true;
            s_.rewind(back);
            std::swap(s_.registers[i.b], s_.registers[i.b + 1]);
          }
          break;
        }
        case step::reduction:
          if (!reductions_.reduction(i)) return fail(pc, s_.value(i.a));
          score_ += 2;
          break;
        case step::within:
          if (!filter_.has_below(i, operators_at(i.a))) return fail(pc, s_.value(i.a));
          break;
        case step::group:
          if (static_cast<sign_use>(i.c) != sign_use::strict) {
            auto const back = s_.here();
            if (!groups_.open(i, 1)) return fail(pc, s_.value(i.a));
            if (run(i.next)) return true;
            s_.rewind(back);
          }
          if (!groups_.open(i, static_cast<sign_use>(i.c) != sign_use::strict ? -1 : s_.registers[i.a].times))
            return fail(pc, s_.value(i.a));
          break;
        case step::member: return member(i, pc);
        case step::scalar_member: return scalar_member(i, pc);
        case step::literal:
          if (!groups_.literal(i)) return fail(pc, whole(i.a));
          break;
        case step::rest:
          if (!groups_.rest(i)) return fail(pc, whole(i.a));
          break;
        case step::close:
          if (!groups_.close(i)) return fail(pc, whole(i.a));
          break;
        case step::operands:
          if (!values_.operands(i)) return fail(pc, s_.value(i.a));
          break;
        case step::capture:
          if (!s_.registers[i.a].plain()) return fail(pc, s_.value(i.a));
          if (!s_.slot(i.b).bound && i.through != 0) return capture_below(i);
          if (!values_.capture(i.b, s_.value(i.a))) return fail(pc, s_.value(i.a));
          break;
        case step::scalar:
          if (!values_.scalar(i)) return fail(pc, s_.value(i.a));
          break;
        case step::number:
          if (!values_.number(i)) return fail(pc, s_.value(i.a));
          break;
        case step::missing:
          if (s_.value(i.a) != absent) return fail(pc, s_.value(i.a));
          break;
        case step::parameter:
          if (!values_.parameter(i)) return fail(pc, values_.stripped(i, false));
          break;
        case step::users: {
          auto const v = values_.stripped(i, false);
          if (!values_.used_by(v, i.op)) return fail(pc, v);
          break;
        }
        case step::user: return user(i, pc);
        case step::same:
          if (!values_.same(i.a, i.b)) return fail(pc, s_.value(i.a));
          break;
        case step::agrees:
          if (!values_.agrees(i)) return fail(pc, s_.value(i.a));
          break;
        case step::recall: s_.registers[i.a] = {s_.slot(i.b).value}; break;
        case step::strip: return strip(i);
        case step::condition:
          if (!values_.condition_holds(i.op)) {
            acceptor_->refuse(rules_.conditions[i.op].rule, i.op);
            return fail(pc, s_.value(0));
          }
          break;
        case step::accept: return acceptor_->accept(i.op);
      }
      pc = i.next;
    }
  }
  // What a frame opened.
  [[nodiscard]] value_id whole(std::uint8_t frame) const { return s_.frames[frame].group->parts[0].value; }

  bool member(instruction const& i, std::uint16_t pc) {
    auto& f = s_.frames[i.a];
    bool const captures = (i.flags & instruction::captures) != 0, any_sign = (i.flags & instruction::any_sign) != 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & f.covered) != 0 || (captures ? s_.is_root(p.value) : !f.group->whole(k)))
        continue;
      auto const w = groups_.weight(f, p);
      std::uint32_t leaves = p.leaves, taken = 1u << k;
      double sign = 1;
      if (w != i.number) {
        if (p.value == absent) continue;
        if ((i.flags & instruction::scales) != 0) {
          if (multiples(i, pc, k)) return true;
          continue;
        }
        if (any_sign && w * i.number < 0) sign = -1;
        if (!groups_.same_weight(f, w, sign * i.number) && !groups_.several(f, k, sign * i.number, leaves, taken))
          continue;
      }
      if (part(i, pc, p, sign, leaves, taken)) return true;
      if ((i.flags & instruction::scales) != 0 && multiples(i, pc, k)) return true;
    }
    return fail(pc, whole(i.a));
  }

  // Goes on with part `p` of a frame, or several that are like it.
  bool part(instruction const& i, std::uint16_t pc, detail::opened_group::part const& p, double sign,
            std::uint32_t leaves, std::uint32_t taken) {
    int const telling = i.number == 1 || i.number == -1 ? 0 : 1;
    auto const& f = s_.frames[i.a];
    s_.registers[i.b] = {.value = p.value,
                         .shape = p.shape,
                         .times = sign,
                         .member = f.group->kind == op_group::product ? pc
                                   : f.group->leaf_count == 1         ? f.member
                                                                      : no_instruction,
                         .power = p.power};
    auto const back = s_.here();
    return any_branch(i.next, [&](std::uint16_t to) {
      if (!s_.cover(i.a, leaves, taken)) return false;
      score_ += telling;
      if (try_from(to, back)) return true;
      score_ -= telling;
      return false;
    });
  }

  // The same with a coefficient: that of part `k`, where it is not that of the member, and those of like terms added
  // up.
  [[gnu::noinline]] bool multiples(instruction const& i, std::uint16_t pc, std::uint8_t k) {
    auto const& f = s_.frames[i.a];
    auto const& p = f.group->parts[k];
    auto w = groups_.weight(f, p);
    std::uint32_t leaves = p.leaves, taken = 1u << k;
    if (w != i.number && part(i, pc, p, w / i.number, leaves, taken)) return true;
    for (auto j = static_cast<std::uint8_t>(k + 1); j < f.group->count; ++j) {
      auto const more = groups_.another(f, p, j, leaves);
      if (more * w <= 0) continue;
      w += more;
      leaves |= f.group->parts[j].leaves;
      taken |= 1u << j;
      if (part(i, pc, p, w / i.number, leaves, taken)) return true;
    }
    return false;
  }

  bool scalar_member(instruction const& i, std::uint16_t pc) {
    auto& f = s_.frames[i.a];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.has_number || p.value == absent || (k == 0 && !p.leaf) || (p.leaves & f.covered) != 0) continue;
      auto number = p.number;
      auto const w = groups_.weight(f, p);
      bool const sum = f.group->kind == op_group::sum;
      auto const type = facts_.type(p.value);
      if (w == -i.number && (sum ? !is_unsigned(type) : number != 0 && !is_integer(type)))
        number = sum ? -number : 1 / number;  // subtracted, or divided by
      else if (w != i.number)
        continue;
      if (!groups_.may_leave_out(*f.group, p.leaves)) continue;
      auto const back = s_.here();
      if (s_.cover(i.a, p.leaves, 1u << k) && values_.bind_number(i.b, number, w == i.number ? p.value : absent) &&
          run(i.next))
        return true;
      s_.rewind(back);
    }
    // What follows may fail for the want of this part: it is told first.
    if (!f.group->dropped) fail(pc, whole(i.a));
    if (f.group->dropped || (i.flags & instruction::optional) != 0) {  // a constant 0 or 1 that was left out
      auto const back = s_.here();
      if (values_.bind_number(i.b, f.group->kind == op_group::sum ? 0 : 1, absent) && run(i.next)) return true;
      s_.rewind(back);
    }
    return fail(pc, whole(i.a));
  }

  // A capture binds on either side of what is looked through: above first, then further down.
  bool capture_below(instruction const& i) {
    auto const above = s_.value(i.a);
    auto& v = s_.registers[i.a].value;
    auto const below = [&] { return values_.seen_through(v, i.through, (i.flags & instruction::free) != 0); };
    for (auto next = below(); next != absent && detail::unchanged(image_, facts_, image_.producer(v)); next = below()) {
      s_.add_matched(image_.producer(v));  // it makes no difference
      v = next;
    }
    for (int k = 0; k < 9 && v != absent; ++k) {
      auto const back = s_.here();
      if (values_.capture(i.b, v) && run(i.next)) return true;
      s_.rewind(back);
      auto const next = below();
      if (next == absent) break;
      s_.add_matched(image_.producer(v));
      v = next;
    }
    v = above;
    return false;
  }

  bool strip(instruction const& i) {
    value_id chain[9];
    int length = 0;
    auto v = s_.value(i.a);
    chain[length++] = v;
    auto const begin = s_.here();
    while (i.through != 0 && length < 9) {
      v = values_.seen_through(v, i.through, (i.flags & instruction::free) != 0);
      if (v == absent) break;
      chain[length++] = v;
    }
    while (length-- > 0) {
      for (int k = 0; k < length; ++k) s_.add_matched(image_.producer(chain[k]));
      s_.registers[i.b] = s_.registers[i.a];
      s_.registers[i.b].value = chain[length];
      if (run(i.next)) return true;
      s_.rewind(begin);
    }
    return false;
  }

  bool user(instruction const& i, std::uint16_t pc) {
    int tried = 0;
    auto const v = s_.value(i.a);
    auto const back = s_.here();
    if ((i.flags & instruction::optional) != 0) {
      s_.registers[i.b] = {v};
      if (run(i.next)) return true;
      s_.rewind(back);
    }
    return user_of(i, v, tried, 0) || fail(pc, v);
  }
  // ... of `v`, or of what passes it on through the operators of a set, chains of at most 8 of them.
  bool user_of(instruction const& i, value_id v, int& tried, int passed) {
    for (auto at = image_.value(v).first_use; at != absent; at = image_.use_at(at).next) {
      auto const n = image_.use_at(at).node;
      if (image_.node(n).result_count <= i.c || image_.node(n).region != s_.region) continue;
      if (++tried > 256) return s_.exceeded = true, false;
      auto const back = s_.here();
      s_.registers[i.b] = {image_.result(n, i.c)};
      if (run(i.next)) return true;
      s_.rewind(back);
      if (i.through == 0 || passed == 8 || !passes_on(n, v, i.through)) continue;
      if (user_of(i, image_.result(n), tried, passed + 1)) return true;
    }
    return false;
  }
  // Whether node `n` is one of a set, and `v` its first operand. Whether elements stay what they are is asked on the
  // way down.
  [[nodiscard]] bool passes_on(node_id n, value_id v, std::uint8_t set) const {
    auto const& tag = image_.node(n).tag;
    return rules_.sets[set - 1u].contains(tag.name, tag.op) && image_.operand(n, 0) == v;
  }

  program const rules_;
  Image const& image_;
  facts const& facts_;
  dialect const names_;
  detail::match_state s_;
  congruence congruent_;
  detail::basic_filter<Image> filter_;
  detail::basic_value_steps<Image> values_;
  detail::basic_group_steps<Image> groups_;
  detail::basic_reduction_steps<Image> reductions_;
  bool stale_ = false;  // the image has changed
  acceptor* acceptor_ = nullptr;
  node_id root_ = absent;
  int steps_ = 0;
  int score_ = 0;  // how telling what has matched so far is: operators and reductions 2, powers 1
};
using machine = basic_machine<graph_image>;

}  // namespace fuse::inline v0::detail
