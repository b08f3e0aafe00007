// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <fuse/infer/value_view.hpp>
#include <fuse/match/congruence.hpp>
#include <fuse/match/frame.hpp>
#include <fuse/match/operator_sets.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0 {

/// What a slot of a rule holds while matching.
struct binding {
  value_id value = absent;
  value_id bare = absent;       ///< below what is looked through: what a second occurrence is compared with
  double number = 0;
  std::uint64_t axes = 0;       ///< bit k: the k-th axis from the last
  std::uint8_t first = 0, members = 0;  ///< of a rest: in the machine's list
  bool bound = false;
};

/// A member of a rest: a value and its exponent in the product, or its sign in the sum.
struct rest_member {
  value_id value;
  double weight;
};

namespace detail {

/// Told where matching failed, for explanations; see match/explain.hpp.
class failure_listener {
 public:
  failure_listener() = default;
  failure_listener(failure_listener const&) = delete;
  failure_listener& operator=(failure_listener const&) = delete;
  virtual ~failure_listener() = default;
  virtual void failed(std::uint16_t instruction, value_id at, int score) = 0;
};

}  // namespace detail

/// The matching machine: interprets a program on a graph. Full backtracking; no allocation after construction.
///
/// Work at one node is bounded by `step_limit` instructions; `exceeded` tells that a search was cut off there.
class machine {
 public:
  static constexpr int step_limit = 50'000;
  static constexpr std::size_t slot_capacity = lowered_rule::name_capacity, matched_capacity = 192, rest_capacity = 64;

  machine(program const& rules, graph_image const& image, facts const& known, dialect const& names)
      : rules_(rules), image_(image), facts_(known), names_(names), congruent_(image, known, names), opener_(rules_, image, known), operators_(rules_, image, known),
        groups_(shared_groups + frame_count), tables_(static_cast<std::size_t>(rules.stages) * table_size) {
    index_entries();
    list_branches();
  }

  /// Takes in what has changed in the image: all of it, or the results of one node.
  void look() { operators_.update(); }
  void look(node_id n) { operators_.update(n); }

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
    auto const& record = image_.node(n);
    auto const* table = &tables_[static_cast<std::size_t>(stage) * table_size];
    auto const at = table[record.tag.op];
    if (at == no_instruction && !by_name_) return false;
    acceptor_ = &to;
    exceeded_ = false;
    if (at != no_instruction && enter_all(n, stage, at, false, record.tag.op)) return true;
    if (by_name_ && record.tag.name != 0)
      for (std::size_t i = 0; i < rules_.entries.size(); ++i)
        if (rules_.entries[i].stage == stage && rules_.entries[i].by_name && rules_.entries[i].tag == record.tag.name)
          return enter_all(n, stage, static_cast<std::uint16_t>(i), true, record.tag.name);
    return false;
  }

  [[nodiscard]] bool exceeded() const { return exceeded_; }
  [[nodiscard]] bool has_entry(node_id n, int stage) const {
    return by_name_ || tables_[static_cast<std::size_t>(stage) * table_size + image_.node(n).tag.op] != no_instruction;
  }

  // The current match

  [[nodiscard]] binding const& slot(std::size_t at) const { return slots_[at]; }
  [[nodiscard]] std::span<rest_member const> members(std::size_t at) const { return {rest_ + slots_[at].first, slots_[at].members}; }
  /// Value of a register; the first root is in register 1, or in 0 with what was looked through above it.
  [[nodiscard]] value_id value(std::uint8_t at) const { return registers_[at]; }
  /// Nodes that the pattern's operators were found in, in the order in which they were met; a node may occur more than once.
  [[nodiscard]] std::span<node_id const> matched() const { return {matched_, matched_count_}; }

  /// The value below Identity and widening Casts: what two occurrences of a capture are compared by.
  [[nodiscard]] value_id bare(value_id v) const {
    for (int i = 0; i < 8; ++i) {
      auto const n = v == absent ? absent : image_.producer(v);
      if (n == absent || image_.operand_count(n) == 0) return v;
      auto const op = op_of(image_, n);
      if (op != opcode::identity && op != opcode::cast) return v;
      auto const below = image_.operand(n, 0);
      if (below == absent) return v;
      if (op == opcode::cast && !widens(facts_.type(below), facts_.type(v))) return v;
      v = below;
    }
    return v;
  }

  detail::failure_listener* listener = nullptr;

  [[nodiscard]] program const& rules() const { return rules_; }
  [[nodiscard]] detail::opened_group const& opened(std::uint8_t at) const { return *frames_[at].group; }

 private:
  static constexpr std::size_t table_size = static_cast<std::size_t>(opcode::count_);
  static constexpr std::size_t undo_capacity = 512, frame_count = 32, shared_groups = 48;

  // What a step changed and a failure takes back.
  struct undo {
    enum class kind : std::uint8_t { slot, covered, taken, sign } what;
    std::uint8_t at;
    std::uint32_t bits;
    double sign;
  };
  struct branch {
    std::uint64_t deep, direct;  // see operator_sets
    std::uint16_t to;
    std::uint8_t at;  // register
  };
  struct branch_list {
    std::uint32_t first = 0, count = 0;
  };
  struct mark {
    std::uint16_t undo, matched, rest;
  };

  void index_entries() {
    for (auto& first : tables_) first = no_instruction;
    for (std::size_t i = rules_.entries.size(); i-- > 0;) {
      auto const& e = rules_.entries[i];
      if (e.by_name)
        by_name_ = true;
      else
        tables_[e.stage * table_size + e.tag] = static_cast<std::uint16_t>(i);
    }
  }

  // Whether an instruction fails on what the registers hold, seen at a glance. Explanations want to see it fail.
  [[nodiscard]] bool hopeless(branch const& b) const {
    auto const& there = operators_[registers_[b.at]];
    return ((b.deep & ~there.deep) | (b.direct & ~there.direct)) != 0 && listener == nullptr;
  }
  [[nodiscard]] bool closed(std::uint16_t pc) const {
    auto const list = lists_[pc];
    for (std::uint32_t k = list.first; k < list.first + list.count; ++k)
      if (!hopeless(branches_[k])) return false;
    return true;
  }

  // What a branch needs at a register: nothing, or operators that it tests for first.
  [[nodiscard]] branch branch_to(std::uint16_t pc) const {
    branch made{0, 0, pc, rules_.code[pc].a};
    for (auto at = pc;; at = rules_.code[at].next) {
      auto const& i = rules_.code[at];
      bool const tells = i.code == step::within || i.code == step::operation || i.code == step::reduction;
      if (!tells || i.a != made.at) return made;
      auto const needed = i.code == step::within ? static_cast<std::uint64_t>(i.number) : operator_bit(static_cast<opcode>(i.op));
      (i.code == step::within && i.c == 0 ? made.deep : made.direct) |= needed;
      if (i.code != step::within) return made;
    }
  }
  // Forks as lists: the branches in order, each with what it needs. Those within a list have none of their own.
  void list_branches() {
    std::vector<bool> entered(rules_.code.size(), false);
    for (auto const& e : rules_.entries) entered[e.first] = true;
    for (auto const& i : rules_.code)
      if (i.code != step::fork && i.next != no_instruction) entered[i.next] = true;
    lists_.resize(rules_.code.size());
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc) {
      lists_[pc].first = static_cast<std::uint32_t>(branches_.size());
      if (rules_.code[pc].code != step::fork || entered[pc]) append_branches(pc);
      lists_[pc].count = static_cast<std::uint32_t>(branches_.size()) - lists_[pc].first;
    }
  }
  void append_branches(std::uint16_t pc) {
    while (pc != no_instruction && rules_.code[pc].code == step::fork) {
      append_branches(rules_.code[pc].next);
      pc = rules_.code[pc].other;
    }
    if (pc != no_instruction) branches_.push_back(branch_to(pc));
  }

  [[nodiscard]] bool has_below(instruction const& i) const {
    auto const wanted = static_cast<std::uint64_t>(i.number);
    auto const& there = operators_[registers_[i.a]];
    if (listener == nullptr) return (wanted & ~(i.c == 0 ? there.deep : there.direct)) == 0;
    return i.c != 0 || (wanted & there.deep) != 0;  // for an explanation, something like it is enough to go on
  }

  bool enter_all(node_id n, int stage, std::uint16_t at, bool by_name, std::uint16_t tag) {
    for (std::size_t i = at; i < rules_.entries.size(); ++i) {
      auto const& e = rules_.entries[i];
      if (e.stage != stage || e.by_name != by_name || e.tag != tag) break;
      if (enter(n, e)) return true;
    }
    return false;
  }

  bool enter(node_id n, program_entry const& e) {
    if (image_.node(n).result_count == 0) return false;
    steps_ = score_ = 0;
    group_count_ = 0;
    region_ = image_.node(n).region;
    auto const begin = here();
    registers_[0] = image_.result(n);
    registers_[1] = e.strip == 0 ? registers_[0] : stripped(registers_[0], e.strip, true);
    signs_[1] = 1;
    if (e.strip != 0 && registers_[1] == registers_[0]) return false;
    bool const stop = !closed(e.first) && run(e.first);
    rewind(begin);
    return stop;
  }

  [[nodiscard]] mark here() const { return {undo_count_, matched_count_, rest_count_}; }
  void rewind(mark const& to) {
    while (undo_count_ > to.undo) {
      auto const& u = undo_[--undo_count_];
      switch (u.what) {
        case undo::kind::slot: slots_[u.at].bound = false; break;
        case undo::kind::covered: frames_[u.at].covered = u.bits; break;
        case undo::kind::taken: frames_[u.at].taken = u.bits; break;
        case undo::kind::sign: frames_[u.at].sign = u.sign; break;
      }
    }
    matched_count_ = to.matched;
    rest_count_ = to.rest;
  }
  bool remember(undo const& change) {
    if (undo_count_ == undo_capacity) return exceeded_ = true, false;
    undo_[undo_count_++] = change;
    return true;
  }
  bool cover(std::uint8_t at, std::uint32_t leaves, std::uint32_t taken) {
    auto& f = frames_[at];
    if (!remember({undo::kind::covered, at, f.covered, 0}) || !remember({undo::kind::taken, at, f.taken, 0})) return false;
    f.covered |= leaves;
    f.taken |= taken;
    return true;
  }
  binding* bind(std::uint8_t at) {
    if (!remember({undo::kind::slot, at, 0, 0})) return nullptr;
    slots_[at] = binding{};
    slots_[at].bound = true;
    return &slots_[at];
  }
  void matched(node_id n) {
    if (matched_count_ < matched_capacity)
      matched_[matched_count_++] = n;
    else
      exceeded_ = true;
  }

  [[nodiscard]] bool transparent(node_id n, std::uint8_t set) const {
    auto const& record = image_.node(n);
    if (record.operand_count == 0 || image_.operand(n, 0) == absent || record.region != region_) return false;
    if (!rules_.sets[set - 1u].contains(record.tag.name, record.tag.op)) return false;
    auto const below = facts_.type(image_.operand(n, 0)), type = facts_.type(image_.result(n));
    return (below == element_type::unknown || is_floating(below)) && (type == element_type::unknown || is_floating(type));
  }
  /// Below a chain of transparent operators, at most 8; they count as matched.
  value_id stripped(value_id v, std::uint8_t set, bool count) {
    if (set == 0) return v;
    for (int i = 0; i < 8; ++i) {
      auto const n = v == absent ? absent : image_.producer(v);
      if (n == absent || !transparent(n, set)) return v;
      if (count) matched(n);
      v = image_.operand(n, 0);
    }
    return v;
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
          auto const list = lists_[pc];
          auto const back = here();
          for (std::uint32_t k = list.first; k < list.first + list.count; ++k) {
            if (hopeless(branches_[k])) continue;
            if (run(branches_[k].to)) return true;
            rewind(back);
          }
          return false;
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
          if (!equals_number(registers_[i.a], i.number, static_cast<double>(i.tolerance))) return fail(pc, registers_[i.a]);
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

  // Whether `users` is how many use `v`, and nothing else of its node is used.
  [[nodiscard]] bool used_by(value_id v, std::uint32_t users) const {
    if (v == absent || image_.value(v).use_count + image_.value(v).outputs != users) return false;
    auto const n = image_.producer(v);
    for (std::uint32_t k = 0; n != absent && k < image_.node(n).result_count; ++k) {
      auto const other = image_.result(n, k);
      if (other != v && (image_.value(other).use_count != 0 || image_.value(other).outputs != 0)) return false;
    }
    return true;
  }

  bool operation(instruction const& i, value_id v) {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent) return false;
    auto const& record = image_.node(n);
    if (record.region != region_ || (i.code == step::exactly ? record.tag.name : record.tag.op) != i.op) return false;
    if (image_.result_index(v) != i.c) return false;
    std::uint32_t const wanted = i.count & 0x7fu;
    bool const open_ended = (i.count & 0x80u) != 0;
    // Operands that are parameters in this dialect are not the pattern's; absent ones are.
    auto const* row = names_.row(record.tag.name, image_.version);
    std::uint32_t there = record.operand_count;
    if (row != nullptr && row->operands >= 0 && there > static_cast<std::uint32_t>(row->operands)) there = static_cast<std::uint32_t>(row->operands);
    if (!open_ended)
      for (std::uint32_t k = wanted; k < there; ++k)
        if (image_.operand(n, k) != absent) return false;
    if (open_ended && there < wanted) return false;
    for (std::uint32_t k = 0; k < wanted; ++k) {
      registers_[i.b + k] = k < there ? image_.operand(n, k) : absent;
      signs_[i.b + k] = 1;
    }
    matched(n);
    return true;
  }

  // A reduction that keeps its axes: by itself, because all axes are reduced and broadcasting restores them, or because an
  // Unsqueeze or Reshape puts extents of 1 where the axes were.
  bool reduction(instruction const& i) {
    auto v = stripped(registers_[i.a], i.through, true);
    auto n = v == absent ? absent : image_.producer(v);
    if (n == absent || image_.node(n).region != region_) return false;
    value_id restored = absent;
    if (auto const op = op_of(image_, n); op == opcode::unsqueeze || op == opcode::reshape) {
      if (image_.operand_count(n) == 0) return false;
      matched(n);
      restored = v;
      v = stripped(image_.operand(n, 0), i.through, true);
      n = v == absent ? absent : image_.producer(v);
      if (n == absent || image_.node(n).region != region_) return false;
    }
    if (image_.node(n).tag.op != i.op || image_.operand_count(n) == 0) return false;
    auto const operand = image_.operand(n, 0);
    bool keep = true;
    std::uint64_t axes = 0;
    auto const rank = facts_.rank(operand);
    if (reduction_axes(image_, facts_, names_, n, axes_, keep)) {
      for (auto axis : axes_) axes |= std::uint64_t{1} << (rank - 1 - axis);
      if (restored != absent) {
        if (!restores(restored, operand)) return false;
      } else if (!keep && static_cast<int>(axes_.size()) != rank) {
        return false;
      }
    } else if (!axes_from_the_end(n, axes) || restored != absent) {
      return false;
    }
    auto& s = slots_[i.c];
    if (s.bound) {
      if (s.axes == 0 ? axes != trailing(s.number) : s.axes != axes) return false;
    } else if (auto* made = bind(i.c)) {
      made->axes = axes;
    } else {
      return false;
    }
    registers_[i.b] = operand;
    signs_[i.b] = 1;
    matched(n);
    return true;
  }

  // Whether `v` has the shape of `operand` with the axes in `axes_` reduced to 1.
  [[nodiscard]] bool restores(value_id v, value_id operand) const {
    if (!facts_.has_rank(v) || facts_.rank(v) != facts_.rank(operand)) return false;
    auto const now = facts_.shape(v), before = facts_.shape(operand);
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < now.size(); ++axis) {
      bool const reduced = next < axes_.size() && axes_[next] == static_cast<int>(axis);
      if (reduced) ++next;
      if (!(now[axis] == (reduced ? extent(1) : before[axis]))) return false;
    }
    return true;
  }

  // Where the rank is not known: axes that count from the last, kept.
  bool axes_from_the_end(node_id n, std::uint64_t& axes) {
    double keep = 1;
    if (facts_.rank(image_.operand(n, 0)) >= 0 || !read_number(image_, facts_, names_, n, "keepdims", keep) || keep == 0) return false;
    if (!read_integers(image_, facts_, names_, n, "axes", listed_) || listed_.empty()) return false;
    for (auto axis : listed_) {
      if (axis >= 0 || axis < -64) return false;
      axes |= std::uint64_t{1} << (-1 - axis);
    }
    return true;
  }

  void open(instruction const& i, double sign) {
    auto& f = frames_[i.b];
    auto const kind = static_cast<op_group>(i.op);
    if (static_cast<sign_use>(i.c) == sign_use::linked && sign < 0) {
      auto& around = frames_[i.count];
      remember({undo::kind::sign, i.count, 0, around.sign});
      around.sign = -around.sign;
    }
    f.group = &group(i, kind);
    f.covered = f.taken = 0;
    f.sign = f.group->negative ? -sign : sign;
  }

  // What other rules opened at this node is there already.
  detail::opened_group const& group(instruction const& i, op_group kind) {
    auto const v = registers_[i.a];
    for (std::size_t k = 0; k < group_count_; ++k)
      if (auto const& known = groups_[k]; known.parts[0].value == v && known.kind == kind && known.through == i.through) return known;
    auto& made = groups_[group_count_ < shared_groups ? group_count_++ : shared_groups + i.b];
    opener_.open(made, v, kind, i.through, region_);
    return made;
  }

  // Weight of a part as the pattern counts it.
  [[nodiscard]] static double weight(detail::frame const& f, detail::opened_group::part const& p) {
    return f.group->kind == op_group::sum ? p.weight * f.sign : p.weight;
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

  // A second part that is the same value as part `k`.
  bool pair(detail::frame const& f, std::uint8_t k, std::uint32_t& leaves, std::uint32_t& taken) {
    for (std::uint8_t j = static_cast<std::uint8_t>(k + 1); j < f.group->count; ++j) {
      auto const& q = f.group->parts[j];
      if (q.leaves == 0 || (q.leaves & (f.covered | leaves)) != 0 || q.weight != 1) continue;
      if (!congruent_.same(bare(f.group->parts[k].value), bare(q.value))) continue;
      leaves |= q.leaves;
      taken |= 1u << j;
      return true;
    }
    return false;
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

  bool literal(instruction const& i) {
    auto& f = frames_[i.a];
    double number = f.group->kind == op_group::sum ? 0 : 1;
    std::uint32_t leaves = 0, taken = 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.leaf || !p.has_number || (p.leaves & f.covered) != 0) continue;
      number = f.group->kind == op_group::sum ? number + weight(f, p) * p.number : number * std::pow(p.number, p.weight);
      leaves |= p.leaves;
      taken |= 1u << k;
    }
    double wanted = i.number;
    if (f.group->kind == op_group::product && f.sign < 0 && (number < 0) != (wanted < 0)) {
      number = -number;
      if (!remember({undo::kind::sign, i.a, 0, f.sign})) return false;
      f.sign = -f.sign;
    }
    return close_to(number, wanted, static_cast<double>(i.tolerance)) && cover(i.a, leaves, taken);
  }

  // Everything left, in the largest whole parts.
  bool rest(instruction const& i) {
    auto& f = frames_[i.a];
    auto const left = f.left();
    auto* made = bind(i.b);
    if (made == nullptr) return false;
    made->first = static_cast<std::uint8_t>(rest_count_);
    made->axes = static_cast<std::uint64_t>(f.group->kind);
    std::uint32_t done = 0, taken = 0;
    double sign = f.sign;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & ~left) != 0 || (p.leaves & done) != 0) continue;
      if (!p.leaf) {
        // A negated factor keeps its sign where the product has one to give.
        bool const negated = f.group->kind == op_group::product && sign < 0 && op_of(image_, image_.producer(p.value)) == opcode::neg;
        if (negated)
          sign = 1;
        else if (!whole_part(f, k))
          continue;
      }
      if (rest_count_ == rest_capacity) return false;
      rest_[rest_count_++] = {p.value, weight(f, p)};
      ++made->members;
      done |= p.leaves;
      taken |= 1u << k;
    }
    if (f.group->kind == op_group::product && sign != f.sign) {
      if (!remember({undo::kind::sign, i.a, 0, f.sign})) return false;
      f.sign = sign;
    }
    return cover(i.a, left, taken);
  }
  // Whether nothing below part `k` was left out or moved to the sign of the whole.
  [[nodiscard]] static bool whole_part(detail::frame const& f, std::uint8_t k) {
    for (std::uint8_t j = static_cast<std::uint8_t>(k + 1); j < f.group->count; ++j) {
      if (f.group->parts[j].leaves != 0 || f.group->parts[j].parent == 255) continue;
      for (auto up = f.group->parts[j].parent; up != 255; up = f.group->parts[up].parent)
        if (up == k) return false;
    }
    return f.group->kind == op_group::sum || f.sign > 0;
  }

  bool close(instruction const& i) {
    auto const& f = frames_[i.a];
    if (f.left() != 0 || (f.group->kind == op_group::product && f.sign < 0)) return false;
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

  bool operands(instruction const& i) {
    auto const n = matched_count_ == 0 ? absent : image_.producer(registers_[i.a]);
    auto* made = bind(i.b);
    if (made == nullptr || n == absent) return false;
    made->first = static_cast<std::uint8_t>(rest_count_);
    for (std::uint32_t k = i.count; k < image_.operand_count(n); ++k) {
      if (rest_count_ == rest_capacity) return exceeded_ = true, false;
      rest_[rest_count_++] = {image_.operand(n, k), 1};
      ++made->members;
    }
    return true;
  }

  bool capture(std::uint8_t at, value_id v) {
    if (v == absent) return false;
    auto& s = slots_[at];
    if (s.bound) return s.value == v || congruent_.same(s.bare, bare(v));
    auto* made = bind(at);
    if (made == nullptr) return false;
    made->value = v;
    made->bare = bare(v);
    return true;
  }

  // A capture binds on either side of what is looked through: above first, then further down.
  bool capture_below(instruction const& i) {
    auto const above = registers_[i.a];
    auto& v = registers_[i.a];
    while (v != absent && image_.producer(v) != absent && op_of(image_, image_.producer(v)) == opcode::identity && transparent(image_.producer(v), i.through)) {
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

  bool bind_number(std::uint8_t at, double number, value_id from) {
    auto& s = slots_[at];
    if (s.bound) return close_to(s.number, number, 1e-7);  // one may have been rounded to float
    auto* made = bind(at);
    if (made == nullptr) return false;
    made->number = number;
    made->value = made->bare = from;
    return true;
  }

  [[nodiscard]] static bool close_to(double found, double wanted, double tolerance) {
    if (found == wanted) return true;
    return std::fabs(found - wanted) <= tolerance * std::fabs(wanted);  // 0 is only 0
  }

  [[nodiscard]] bool equals_number(value_id v, double wanted, double tolerance) const {
    double number = 0;
    if (v == absent) return false;
    if (facts_.number(v, number)) return close_to(number, wanted, tolerance);
    if (!image_.value(v).constant) return false;
    auto const t = image_.source->constant(v);
    if (t.size() == 0) return false;
    for (std::size_t k = 0; k < t.size(); ++k)
      if (!close_to(t.number(k), wanted, tolerance)) return false;
    return true;
  }

  // The value whose node an `operation` on `v` found.
  value_id op_below(value_id v, std::uint8_t set) { return stripped(v, set, false); }

  bool parameter(instruction const& i) {
    auto const n = image_.producer(op_below(registers_[i.a], i.through));
    auto const name = rules_.parameter_names[i.op];
    double number = 0;
    if (n == absent || !read_number(image_, facts_, names_, n, name, number)) return false;
    if (name == "axis" && number >= 0 && image_.operand_count(n) != 0 && facts_.has_rank(image_.operand(n, 0)))
      number -= facts_.rank(image_.operand(n, 0));  // counted from the last, so that ranks do not matter
    if (i.b == no_slot) return close_to(number, i.number, static_cast<double>(i.tolerance));
    if (name == "axis" && slots_[i.b].bound && slots_[i.b].axes != 0) return slots_[i.b].axes == trailing(number);
    return bind_number(i.b, number, absent);
  }
  // The axes from `axis`, counted from the last, to the last.
  [[nodiscard]] static std::uint64_t trailing(double axis) {
    return axis < 0 && axis >= -63 ? (std::uint64_t{1} << static_cast<int>(-axis)) - 1 : 0;
  }

  bool condition_holds(std::uint16_t at) {
    auto const& c = rules_.conditions[at];
    captured arguments[condition::capacity];
    std::size_t used = 0;
    value_view views[rest_capacity];
    for (std::size_t k = 0; k < c.what.count; ++k) {
      auto const s = c.slots[k];
      if (s == no_slot || !slots_[s].bound) continue;
      auto const& b = slots_[s];
      arguments[k].bound = true;
      arguments[k].number = b.number;
      arguments[k].axes = b.axes;
      auto const first = used;
      if (rules_.rules[c.rule].slot_kinds[s] == slot_kind::rest) {
        for (auto const& m : members(s))
          if (used < rest_capacity) views[used++] = {image_, facts_, names_, m.value};
      } else if (b.value != absent && used < rest_capacity) {
        views[used++] = {image_, facts_, names_, b.value};
      }
      arguments[k].values = {views + first, used - first};
    }
    return c.what.holds == nullptr || c.what.holds(arguments, c.what);
  }

  program rules_;
  graph_image const& image_;
  facts const& facts_;
  dialect names_;
  congruence congruent_;
  detail::frame_opener opener_;
  detail::operator_sets operators_;
  detail::frame frames_[frame_count];
  std::vector<detail::opened_group> groups_;  // those that the rules at a node share, then one of each frame's own
  std::size_t group_count_ = 0;
  std::vector<std::uint16_t> tables_;
  std::vector<branch> branches_;
  std::vector<branch_list> lists_;  // per instruction
  bool by_name_ = false;
  std::vector<int> axes_;
  std::vector<std::int64_t> listed_;

  acceptor* acceptor_ = nullptr;
  std::uint32_t region_ = 0;
  int steps_ = 0;
  int score_ = 0;  // how telling what has matched so far is: operators and reductions 2, powers 1
  bool exceeded_ = false;
  std::uint16_t undo_count_ = 0, matched_count_ = 0, rest_count_ = 0;
  undo undo_[undo_capacity];
  node_id matched_[matched_capacity];
  rest_member rest_[rest_capacity];
  binding slots_[slot_capacity];
  value_id registers_[256];
  double signs_[256];
};

}  // namespace fuse::inline v0
