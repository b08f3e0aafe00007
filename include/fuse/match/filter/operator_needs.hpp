// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/dsl/conditions.hpp>
#include <fuse/match/filter/operator_sets.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// What a search is for: what cannot be that is not looked at.
enum class search_for : std::uint8_t {
  matches,
  near_misses,  ///< failures that are near misses
  failures,     ///< all of them: nothing is left out
};

/// For each instruction of a program and where it looks first, a register or the parts of a frame: the operators that
/// must stand there, on every way from the instruction to an accepting one, and those that must stand at their operands
/// (`deep`, `direct` and `below` as in operator_sets); and where ways ask for different ones, operators one of which
/// must stand there. Where near misses are looked for, on every way to what is one. Linear in the program, times the
/// registers in use.
template <class Program>
class basic_operator_needs {
 public:
  struct needs {
    std::uint64_t deep = 0, direct = 0, below = 0;
    std::uint64_t one_deep = 0, one_below = 0;  ///< 0: nothing must
    int parts = 0;                              ///< of a sum or product, at least so many
    std::uint64_t part_direct = 0;              ///< `direct` of one or the other of its parts
    bool opened = false;                        ///< it is opened as a sum or product
  };
  /// ... and where: in the register of this number, or in one or the other part of frame `at - frame_base`.
  struct wanted {
    std::uint16_t at = 0;
    needs what{};
  };
  static constexpr std::uint16_t frame_base = 256;

  explicit basic_operator_needs(Program const& rules, search_for what = search_for::matches)
      : rules_(rules),
        nearly_(what == search_for::near_misses),
        near_(rules.code.size(), false),
        first_(rules.code.size()),
        of_(rules.code.size()),
        waiting_(rules.code.size(), 0) {
    if (nearly_) mark_near_misses();
    for (auto const& i : rules_.code) {
      if (i.next != no_instruction) ++waiting_[i.next];
      if (i.code == step::fork) ++waiting_[i.other];
    }
    std::vector<bool> known(rules_.code.size(), false);
    plain_vector<std::uint16_t> path;
    for (auto const& e : rules_.entries) {
      path.assign(1, e.first);
      while (!path.empty()) {  // what comes after, before
        auto const pc = path.back();
        auto const& i = rules_.code[pc];
        auto const waits = [&](std::uint16_t next) { return next != no_instruction && !known[next]; };
        if (!known[pc] && waits(i.next)) {
          path.push_back(i.next);
        } else if (!known[pc] && i.code == step::fork && waits(i.other)) {
          path.push_back(i.other);
        } else {
          if (!known[pc]) {
            of_[pc] = before(i);
            if (near_[pc]) of_[pc].clear();  // whatever comes after
            first_[pc] = first(of_[pc], i);
          }
          known[pc] = true;
          path.pop_back();
        }
      }
    }
  }

  [[nodiscard]] wanted const& of(std::uint16_t pc) const { return first_[pc]; }

 private:
  using state = plain_vector<wanted>;  // of slots, too: slot_base and a slot
  static constexpr std::uint16_t slot_base = 512;

  [[nodiscard]] static needs find(state const& in, std::uint16_t at) {
    for (auto const& w : in)
      if (w.at == at) return w.what;
    return {};
  }
  // What an instruction needs first: a condition looks at no register, what follows it at some that are known by then.
  // (A number may be none of the parts: where it changes nothing, it is left out.)
  [[nodiscard]] static wanted first(state const& in, instruction const& i) {
    wanted found{i.a};
    if (i.is_of_frame())
      found.at = static_cast<std::uint16_t>(frame_base + i.a);
    else if (i.code == step::condition)
      found.at = first_register(in);
    found.what = find(in, found.at);
    constexpr auto numbers = number_bit | added_number_bit | constant_bit;
    if (i.is_of_frame()) found.what = {found.what.deep & ~numbers, found.what.part_direct, found.what.below};
    return found;
  }
  [[nodiscard]] static std::uint16_t first_register(state const& in) {
    std::uint16_t first = frame_base;
    for (auto const& w : in)
      if (w.at < first) first = w.at;
    return first == frame_base ? 0 : first;
  }
  static void add(state& to, std::uint16_t at, needs const& more) {
    if ((more.deep | more.direct | more.below | more.one_deep | more.one_below) == 0 && more.parts == 0) return;
    for (auto& w : to)
      if (w.at == at) {
        w.what.deep |= more.deep;
        w.what.direct |= more.direct;
        w.what.below |= more.below;
        w.what.parts += more.parts;
        w.what.part_direct |= more.part_direct;
        w.what.opened = w.what.opened || more.opened;
        if (w.what.one_deep == 0) w.what.one_deep = more.one_deep;
        if (w.what.one_below == 0) w.what.one_below = more.one_below;
        return;
      }
    to.push_back({at, more});
  }
  static void add_part(state& to, std::uint8_t frame, needs more) {
    more.parts = 1;
    add(to, static_cast<std::uint16_t>(frame_base + frame), more);
  }
  // What the conditions that follow ask of what is bound to a slot.
  static needs take_slot(state& from, std::uint8_t slot) {
    return take(from, static_cast<std::uint16_t>(slot_base + slot));
  }
  // Of several that must be there, the last operator tells most: sums and products are everywhere.
  [[nodiscard]] static needs all(std::uint64_t deep, std::uint64_t direct = 0) {
    return {deep | direct, direct, 0, std::bit_floor((deep | direct) & operator_bits), 0};
  }
  [[nodiscard]] static std::uint64_t either(std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 ? 0 : a | b; }
  static needs take(state& from, std::uint16_t at) {
    for (std::size_t k = 0; k < from.size(); ++k)
      if (from[k].at == at) {
        auto const found = from[k].what;
        from[k] = from.back();
        from.pop_back();
        return found;
      }
    return {};
  }
  [[nodiscard]] static std::uint64_t bit_of(std::uint16_t op) {
    auto const code = static_cast<opcode>(op);
    if (info(code).group != op_group::none) return 0;  // see operator_sets
    return operator_bit(code) | (may_move_elements(code) ? moved_bit : 0);
  }

  // Of what must be there, that which is still seen where elements are moved.
  [[nodiscard]] static needs moved(needs const& of) {
    bool const seen = (of.one_deep & reduction_bits) == 0;
    return {of.deep & ~reduction_bits, 0, of.below, seen ? of.one_deep : 0, of.one_below};
  }

  static void below(needs& of, needs const& operand) {
    of.below |= operand.deep;
    if (of.one_below == 0) of.one_below = operand.one_deep;
  }

  // Marks where so much may have held that whatever fails is a near miss.
  void mark_near_misses() {
    plain_vector<int> held(rules_.code.size(), -1);  // by instruction, the most before it that counts
    plain_vector<std::uint16_t> raised;
    auto const reach = [&](std::uint16_t pc, int score) {
      if (score > instruction::near_miss) score = instruction::near_miss;
      if (pc == no_instruction || score <= held[pc]) return;
      held[pc] = score;
      near_[pc] = score == instruction::near_miss;
      raised.push_back(pc);
    };
    for (auto const& e : rules_.entries) reach(e.first, 0);
    while (!raised.empty()) {
      auto const pc = raised.back();
      raised.pop_back();
      auto const& i = rules_.code[pc];
      reach(i.next, held[pc] + i.tells());
      if (i.code == step::fork) reach(i.other, held[pc]);
    }
  }

  // Of what follows: handed on by the last that needs it, not copied.
  [[nodiscard]] state after(std::uint16_t next) {
    if (next == no_instruction) return {};
    return --waiting_[next] == 0 ? std::move(of_[next]) : of_[next];
  }

  [[nodiscard]] state before(instruction const& i) {
    auto found = after(i.next);
    switch (i.code) {
      case step::fork:
        for (auto const others = after(i.other); auto& w : found) {
          auto const other = find(others, w.at);
          w.what = {w.what.deep & other.deep,
                    w.what.direct & other.direct,
                    w.what.below & other.below,
                    either(w.what.one_deep, other.one_deep),
                    either(w.what.one_below, other.one_below),
                    w.what.parts < other.parts ? w.what.parts : other.parts,
                    w.what.part_direct & other.part_direct,
                    w.what.opened || other.opened};
        }
        break;
      case step::operation:
      case step::exactly: {
        auto made = all(0, i.code == step::operation ? bit_of(i.op) : 0);
        for (std::uint32_t k = 0; k < (i.count & 0x7fu); ++k)
          below(made, take(found, static_cast<std::uint16_t>(i.b + k)));
        if (made.deep != 0) add(found, i.a, made);
        break;
      }
      case step::reduction: {
        auto made = all(0, bit_of(i.op));
        below(made, take(found, i.b));
        add(found, i.a, made);
        break;
      }
      case step::within: {
        if (nearly_) break;  // not told where it fails
        auto const set = static_cast<std::uint64_t>(i.number);
        add(found, i.a, i.c == 0 ? all(set) : all(0, set));
        break;
      }
      case step::scalar: add(found, i.a, all(number_bit | constant_bit)); break;
      case step::number: add(found, i.a, all(constant_bit)); break;
      case step::group: {
        auto made = take(found, static_cast<std::uint16_t>(frame_base + i.b));
        if (static_cast<op_group>(i.op) == op_group::sum) {
          if ((made.direct & number_bit) != 0) made.direct ^= number_bit | added_number_bit;
          if (made.parts > 1) made.direct |= terms_bit;
        }
        made.parts = 0;
        made.part_direct = 0;
        made.opened = true;
        add(found, i.a, made);
        break;
      }
      case step::scalar_member:
        if ((i.flags & instruction::optional) == 0) add_part(found, i.a, all(0, number_bit | constant_bit));
        break;
      case step::literal:
        if (i.number != 0) add_part(found, i.a, {});
        break;
      case step::member: {
        auto part = take(found, i.b);
        part.part_direct = part.direct;
        // A sum among factors, a product among addends hides what stands below it.
        part.direct = part.opened ? 0 : part.direct & constant_bit;
        part.opened = false;
        add_part(found, i.a, part);
        break;
      }
      case step::condition:
        // (Of one that is not quiet it is told where it fails alone.)
        if (auto const& c = rules_.conditions[i.op];
            c.what.silent && c.what.holds == &dsl::condition_detail::constant_value)
          add(found, static_cast<std::uint16_t>(slot_base + c.slots[0]), all(0, constant_bit));
        break;
      case step::capture: add(found, i.a, take_slot(found, i.b)); break;
      case step::rest:
        if (auto const members = take_slot(found, i.b); (i.flags & instruction::some) != 0)
          add_part(found, i.a, members);
        break;
      case step::strip: add(found, i.a, take(found, i.b)); break;
      case step::rearranged: {
        auto const changes = rules_.rearrangements[i.op].reverses() ? moved_bit : 0;
        add(found, i.a, moved(take(found, i.b)));
        add(found, i.a, all(0, changes));
        break;
      }
      case step::recall: take(found, i.a); break;
      case step::user: take(found, i.b); break;
      default: break;
    }
    return found;
  }

  Program const& rules_;
  bool const nearly_;           // near misses are looked for
  std::vector<bool> near_;      // per instruction: what fails there is one
  plain_vector<wanted> first_;  // per instruction
  std::vector<state> of_;
  plain_vector<std::uint16_t> waiting_;  // how many instructions need the state of one
};
using operator_needs = basic_operator_needs<program>;

}  // namespace fuse::inline v0::detail
