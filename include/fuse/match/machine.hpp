// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/match/group_steps.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0 {

/// The matching machine: interprets a program on a graph. Full backtracking; no allocation after construction. What a
/// step needs stands in value_steps.hpp and group_steps.hpp; here are the steps with several outcomes, and the way
/// through the program.
///
/// Work at one node is bounded by `step_limit` instructions; `exceeded` tells that a search was cut off there.
template <class Image>
class basic_machine : public detail::group_steps {
 public:
  static constexpr int step_limit = 50'000;

  basic_machine(program const& rules, Image const& image, facts const& known, dialect const& names)
      : detail::group_steps(rules, image, known, names), tables_(static_cast<std::size_t>(rules.stages) * table_size) {
    index_entries();
  }
  basic_machine(basic_machine const&) = delete;
  basic_machine& operator=(basic_machine const&) = delete;

  /// Takes in what has changed in the image: all of it, or the results of one node.
  void look() {
    operators_.update();
    congruent_.update();
  }
  void look(node_id n) {
    operators_.update(n);
    congruent_.update(n);
  }

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
    auto const tag = image_.node(n).tag;  // a copy: accepting adds nodes
    auto const at = table(stage)[tag.op];
    if (at.count == 0 && !by_name_) return false;
    acceptor_ = &to;
    exceeded_ = bounded_ = false;
    for (std::size_t i = at.first; i < std::size_t{at.first} + at.count; ++i)
      if (enter(n, i)) return true;
    if (by_name_ && tag.name != 0)
      for (std::size_t i = 0; i < rules_.entries.size(); ++i)
        if (auto const& e = rules_.entries[i]; e.stage == stage && e.by_name && e.tag == tag.name && enter(n, i))
          return true;
    return false;
  }

  [[nodiscard]] bool has_entry(node_id n, int stage) const {
    return by_name_ || table(stage)[image_.node(n).tag.op].count != 0;
  }

 private:
  static constexpr std::size_t table_size = static_cast<std::size_t>(opcode::count_);

  // The entries of one operator in one stage stand together.
  struct entries {
    std::uint16_t first = 0, count = 0;
  };

  [[nodiscard]] entries const* table(int stage) const { return &tables_[static_cast<std::size_t>(stage) * table_size]; }

  void index_entries() {
    for (std::size_t i = rules_.entries.size(); i-- > 0;) {
      auto const& e = rules_.entries[i];
      by_name_ = by_name_ || e.by_name;
      if (e.by_name) continue;
      auto& of = tables_[e.stage * table_size + e.tag];
      of = {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(of.count + 1)};
    }
    for (auto const& e : rules_.entries) gates_.push_back(branches_.gate_of(e.first, 1));
  }

  // The branches at `pc` that do not fail on what the registers hold, seen at a glance. Explanations want to see all
  // fail.
  template <class Enter>
  bool any_branch(std::uint16_t pc, Enter const& enter) const {
    if (listener != nullptr) return branches_.any(pc, enter);
    return branches_.any(
        pc, [&](std::uint8_t at) -> auto const& { return operators_[registers_[at]]; }, enter);
  }

  [[nodiscard]] bool closed(std::uint16_t pc) const {
    return !any_branch(pc, [](auto const&) { return true; });
  }

  [[nodiscard]] bool has_below(instruction const& i) const {
    auto const wanted = static_cast<std::uint64_t>(i.number);
    auto const& there = operators_[registers_[i.a]];
    if (listener == nullptr) return (wanted & ~(i.c == 0 ? there.deep : there.direct)) == 0;
    return i.c != 0 || (wanted & there.deep) != 0;  // for an explanation, something like it is enough to go on
  }

  bool enter(node_id n, std::size_t entry) {
    if (image_.node(n).result_count == 0) return false;
    auto const& e = rules_.entries[entry];
    registers_[0] = registers_[1] = image_.result(n);
    if (e.strip == 0 && listener == nullptr && !gates_[entry].lets(operators_[registers_[0]]))
      return false;  // of most nodes this is all
    steps_ = score_ = 0;
    forget_groups();
    region_ = image_.node(n).region;
    auto const begin = here();
    if (e.strip != 0) registers_[1] = stripped(registers_[0], e.strip, true);
    signs_[1] = 1;
    if (e.strip != 0 && registers_[1] == registers_[0]) return false;
    bool const stop = run(e.first);
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

  bool interpret(std::uint16_t pc) {
    while (true) {
      if (++steps_ > step_limit) return exceeded_ = true, false;
      auto const& i = rules_.code[pc];
      switch (i.code) {
        case step::fork: {
          auto const back = here();
          return any_branch(pc, [&](auto const& b) {
            if (run(b.to)) return true;
            rewind(back);
            return false;
          });
        }
        case step::operation:
        case step::exactly: {
          auto const v = stripped(registers_[i.a], i.through, true);
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
          if (!has_below(i)) return fail(pc, registers_[i.a]);
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
          if (!equals_number(registers_[i.a], i.number, static_cast<double>(i.tolerance)))
            return fail(pc, registers_[i.a]);
          break;
        case step::missing:
          if (registers_[i.a] != absent) return fail(pc, registers_[i.a]);
          break;
        case step::parameter:
          if (!parameter(i)) return fail(pc, registers_[i.a]);
          break;
        case step::users: {
          auto const v = stripped(registers_[i.a], i.through, false);
          if (!used_by(v, i.op)) return fail(pc, v);
          break;
        }
        case step::user: return user(i, pc);
        case step::same:
          if (!congruent_.same(bare(registers_[i.a]), bare(registers_[i.b]))) return fail(pc, registers_[i.a]);
          break;
        case step::recall:
          registers_[i.a] = slots_[i.b].value;
          signs_[i.a] = 1;
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
    int const telling = i.number == 1 || i.number == -1 ? 0 : 1;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & f.covered) != 0 || (!captures && !p.leaf)) continue;
      auto const w = weight(f, p);
      std::uint32_t leaves = p.leaves, taken = 1u << k;
      double sign = 1;
      if (w == i.number) {
      } else if (any_sign) {
        sign = w * i.number;
        if (sign != 1 && sign != -1) continue;
      } else if (f.group->kind == op_group::product && i.number == 2 && w == 1) {
        if (!pair(f, k, leaves, taken)) continue;
      } else {
        continue;
      }
      registers_[i.b] = p.value;
      signs_[i.b] = sign;
      if (closed(i.next)) continue;
      auto const back = here();
      if (!cover(i.a, leaves, taken)) return false;
      score_ += telling;
      if (run(i.next)) return true;
      score_ -= telling;
      rewind(back);
    }
    return fail(pc, f.group->parts[0].value);
  }

  bool scalar_member(instruction const& i, std::uint16_t pc) {
    auto& f = frames_[i.a];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.leaf || !p.has_number || (p.leaves & f.covered) != 0 || weight(f, p) != i.number) continue;
      auto const back = here();
      if (cover(i.a, p.leaves, 1u << k) && bind_number(i.b, p.number, p.value) && run(i.next)) return true;
      rewind(back);
    }
    if (f.group->dropped) {  // a constant 0 or 1 that was left out
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
    while (v != absent && image_.producer(v) != absent && op_of(image_, image_.producer(v)) == opcode::identity &&
           transparent(image_.producer(v), i.through)) {
      matched(image_.producer(v));  // an Identity makes no difference
      v = image_.operand(image_.producer(v), 0);
    }
    for (int k = 0; k < 9 && v != absent; ++k) {
      auto const back = here();
      if (capture(i.b, v) && run(i.next)) return true;
      rewind(back);
      auto const n = image_.producer(v);
      if (n == absent || !transparent(n, i.through)) break;
      matched(n);
      v = image_.operand(n, 0);
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
      if (n == absent || !transparent(n, i.through)) break;
      v = image_.operand(n, 0);
      chain[length++] = v;
    }
    while (length-- > 0) {
      for (int k = 0; k < length; ++k) matched(image_.producer(chain[k]));
      registers_[i.b] = chain[length];
      signs_[i.b] = signs_[i.a];
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
      if (run(i.next)) return true;
      rewind(back);
    }
    return fail(pc, v);
  }

  std::vector<entries> tables_;                    // by stage and operator
  std::vector<detail::branch_lists::gate> gates_;  // by entry
  bool by_name_ = false;
  acceptor* acceptor_ = nullptr;
  int steps_ = 0;
  int score_ = 0;  // how telling what has matched so far is: operators and reductions 2, powers 1
};
using machine = basic_machine<graph_image>;

}  // namespace fuse::inline v0
