// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/static_text.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// The instructions of the matching machine. A register holds a value; a slot what a name captured; a frame an opened
/// product or sum. Those marked * may have several outcomes (`instruction::has_outcomes`) and are tried until the rest
/// of the program accepts.
enum class step : std::uint8_t {
  fork,       ///< * continue at `next`, then at `other`
  operation,  ///< value a is result `c` of neutral operator `op`; its `count` operands to registers from b (* both
              ///< orders if commutative)
  exactly,    ///< the same with an operator name code
  reduction,  ///< value a is `op` over the axes in slot c with kept extents; the operand to register b
  within,     ///< the set of operators at value a has those of `number` (c = 0: deep, 1: direct; see operator_bit): a
              ///< cheap test before others
  group,      ///< open value a as frame b of group `op`; c says what its sign is worth (* either, unless strict)
  member,     ///< * a part of frame a with exponent or sign `number`; its value to register b
  scalar_member,  ///< * an addend or factor of frame a that is a constant of one element; to slot b (or 0, 1 where it
                  ///< may be absent)
  literal,        ///< the constants left in frame a make up `number`
  rest,           ///< everything left in frame a, to the power or times `number`; to slot b
  close,          ///< nothing is left in frame a, and its sign is right
  operands,       ///< all operands of value a's node from number `count` on; to slot b
  capture,        ///< * value a to slot b, or the same value as there (either side of what is looked through)
  scalar,         ///< value a is a constant of one element; to slot b, or the same number
  number,         ///< value a is a constant all of whose elements are `number`. Both: of `count` operands from register
                  ///< c on, another one is as large (0: that does not matter)
  missing,        ///< operand a is absent
  parameter,      ///< parameter names[op] of value a's node is `number`, or goes to slot b (b = 255: compare)
  element,        ///< parameter names[op] of value a's node is a list of `count`, number `c` of which is `number`
  over,           ///< the axes in slot b, of value a, or those of value a's node (b = 255) are `count` and no others:
                  ///< as bits, in `number` those that count from the last one, in `op` those from the first
  users,          ///< value a has exactly `op` users
  user,           ///< * a user of value a that is operator `op`, or any (0); its result `c` to register b
  same,           ///< values a and b are one computation
  agrees,         ///< value a's node has the parameters of that of the value in slot b, or goes there
  recall,         ///< what slot b holds, to register a
  strip,          ///< * value a below what set `through` looks through; to register b
  rearranged,     ///< * value a is rearrangement `op` of another value; that to register b; number: 1 + the operator
                  ///< that must compute it, behind such as are looked through, or 0
  condition,      ///< conditions[op] holds
  accept,         ///< rule `op` matches
};

[[nodiscard]] constexpr std::string_view name_of(step code) {
  constexpr std::string_view names[] = {"fork",    "operation",     "exactly",   "reduction", "within",    "group",
                                        "member",  "scalar-member", "literal",   "rest",      "close",     "operands",
                                        "capture", "scalar",        "number",    "missing",   "parameter", "element",
                                        "over",    "users",         "user",      "same",      "agrees",    "recall",
                                        "strip",   "rearranged",    "condition", "accept"};
  return names[static_cast<std::size_t>(code)];
}

/// What the sign of an opened sum or product is worth.
enum class sign_use : std::uint8_t {
  strict,  ///< it must be as the register says
  free,    ///< under an even power: either
  linked,  ///< under an odd power: a minus goes to the frame around it
};

/// A set of operators as bits, few enough for a double to hold. Different operators may share a bit: a test of sets may
/// pass where the operator is not there, never fail where it is.
[[nodiscard]] constexpr std::uint64_t operator_bit(opcode op) {
  return std::uint64_t{8} << static_cast<unsigned>(op) % 50u;
}
/// A root, or a power that is not whole, is below.
inline constexpr std::uint64_t root_bit = 1;
/// The value is a sum, a product.
inline constexpr std::uint64_t sum_bit = 2, product_bit = 4;
// What no step asks for, as these are beyond what a double holds.
/// The value is a constant: of one element, of any number of them.
inline constexpr std::uint64_t number_bit = std::uint64_t{1} << 53, constant_bit = std::uint64_t{1} << 54;
/// It is a number among the terms of a sum; a sum of several terms, where a multiple is a sum of one.
inline constexpr std::uint64_t added_number_bit = std::uint64_t{1} << 55, terms_bit = std::uint64_t{1} << 56;
/// It is computed by what moves elements.
inline constexpr std::uint64_t moved_bit = std::uint64_t{1} << 57;
/// All bits of operators and roots.
inline constexpr std::uint64_t operator_bits = (number_bit - 1) & ~(sum_bit | product_bit);

inline constexpr std::uint16_t no_instruction = 0xffff;
inline constexpr std::uint8_t no_slot = 255;

struct instruction {
  step code;
  std::uint8_t a, b, c;
  std::uint16_t op;      ///< operator, name code, or index
  std::uint8_t count;    ///< operands; bit 7: may have more
  std::uint8_t through;  ///< set of operators to look through, 0: none
  std::uint16_t next, other;
  std::uint8_t flags;
  float tolerance;
  double number;

  static constexpr std::uint8_t captures = 1;  ///< member: any part will do, not only a whole one
  static constexpr std::uint8_t any_sign = 2;  ///< member: the register takes the sign along
  static constexpr std::uint8_t commutes = 4;  ///< operation: either order of two operands
  static constexpr std::uint8_t alone = 1;     ///< reduction: it is one node, no number of it stands apart
  static constexpr std::uint8_t optional = 8;  ///< scalar_member: absent, it is what changes nothing; user: a itself,
                                               ///< too
  static constexpr std::uint8_t named = 1;     ///< user: `op` is an operator name code
  static constexpr std::uint8_t climbs = 2;    ///< user: any number of them, one above the other, which spell sums,
                                               ///< products and reductions
  static constexpr std::uint8_t clips = 16;    ///< group: a sum that is never negative may be clipped at 0
  static constexpr std::uint8_t some = 1;      ///< rest: something is left
  static constexpr std::uint8_t divides = 64;  ///< group: one quotient, which may be of integers
  static constexpr std::uint8_t scales = 8;    ///< group: a product with a number, which may be that of like terms
                                               ///< added up; member: such a product, the register takes a coefficient
  static constexpr std::uint8_t free = 32;  ///< what only repeats elements is looked through, and numbers are left out,
                                            ///< whatever shape is left: up to the root, all that stands around it
                                            ///< broadcasts

  /// How telling it is that it holds: what tells most of a match is its operators, then powers and coefficients.
  [[nodiscard]] constexpr int tells() const {
    if (code == step::operation || code == step::exactly || code == step::reduction) return 2;
    return code == step::member && number != 1 && number != -1 ? 1 : 0;
  }
  /// What of that must hold before a failure is a near miss.
  static constexpr int near_miss = 3;

  /// Whether it is a step on an opened frame, a.
  [[nodiscard]] constexpr bool is_of_frame() const { return code >= step::member && code <= step::close; }
  /// Whether it may hold in several ways, all of which are tried until the rest of the program accepts.
  [[nodiscard]] constexpr bool has_outcomes() const {
    switch (code) {
      case step::fork:
      case step::member:
      case step::scalar_member:
      case step::user:
      case step::strip:
      case step::rearranged: return true;
      case step::operation:
      case step::exactly: return (flags & commutes) != 0;
      case step::group: return static_cast<sign_use>(c) != sign_use::strict;
      case step::capture: return through != 0;
      case step::reduction:
      case step::within:
      case step::literal:
      case step::rest:
      case step::close:
      case step::operands:
      case step::scalar:
      case step::number:
      case step::missing:
      case step::parameter:
      case step::element:
      case step::over:
      case step::users:
      case step::same:
      case step::agrees:
      case step::recall:
      case step::condition:
      case step::accept: return false;
    }
    return true;
  }
  /// Equal but for where they lead.
  [[nodiscard]] friend constexpr bool same(instruction const& x, instruction const& y) {
    return x.code == y.code && x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && x.count == y.count &&
           x.through == y.through && x.flags == y.flags && x.tolerance == y.tolerance && x.number == y.number;
  }
};

/// A set of operators to look through: neutral ones and, for names without a meaning, name codes.
struct through_set {
  static constexpr std::size_t capacity = 8;
  std::uint16_t ops[capacity];
  bool by_name[capacity];
  std::uint8_t count;

  [[nodiscard]] constexpr bool contains(std::uint16_t name, std::uint16_t op) const {
    for (std::size_t i = 0; i < count; ++i)
      if ((by_name[i] ? name : op) == ops[i]) return true;
    return false;
  }
  [[nodiscard]] constexpr bool has_identity() const {
    return contains(0, static_cast<std::uint16_t>(opcode::identity));
  }
  [[nodiscard]] friend constexpr bool operator==(through_set const& x, through_set const& y) {
    if (x.count != y.count) return false;
    for (std::size_t i = 0; i < x.count; ++i)
      if (x.ops[i] != y.ops[i] || x.by_name[i] != y.by_name[i]) return false;
    return true;
  }
};

/// A term of a replacement, resolved: names are slots, operators are opcodes or rows of the dialect.
struct replacement_term {
  enum class kind : std::uint8_t {
    slot,
    number,
    neutral,
    named,
    again,
    fold,
    along,
    dimension,
    list,
    or_else,
    optional,
    row,
    result,
    roots,
    rearranged,
    no_operand,
    further,
    either
  } what;
  std::uint8_t children, slot;
  std::uint16_t op;     ///< opcode, or name code for `named`; of `again` the opcode
  std::uint16_t index;  ///< result number; of `fold` whether it is exact; of `again` the name code, where the pattern
                        ///< asks for a name (else 0); of `rearranged` which one; of `row` 1 + its axis, or 0 for
                        ///< the last ones
  std::uint8_t child[8];
  double number;  ///< of `along` and `dimension` the axis; of `again` the name code of another operator that has the
                  ///< attributes, or less than 0 its opcode, or 0
  struct given {
    static_text name;
    double number;
    std::uint8_t slot;  ///< 255: `number`, or what is computed
    std::uint8_t term;  ///< 255: nothing is; else the term that tells how
    bool integer;       ///< `number` was written as an integer
  } parameters[4];
  std::uint8_t parameter_count;
};

/// The operands of an operator on a right side, in their order: those that stand below terms of their own, too.
struct operand_terms {
  static constexpr std::size_t most = 32;
  std::uint8_t at[most], count = 0;

  operand_terms(span<replacement_term const> terms, replacement_term const& of) { add(terms, of); }
  [[nodiscard]] std::uint8_t const* begin() const { return at; }
  [[nodiscard]] std::uint8_t const* end() const { return at + count; }

 private:
  void add(span<replacement_term const> terms, replacement_term const& of) {
    for (std::uint8_t i = 0; i < of.children; ++i) {
      auto const& child = terms[of.child[i]];
      if (child.what == replacement_term::kind::further)
        add(terms, child);
      else
        at[count++] = of.child[i];
    }
  }
};

}  // namespace fuse::inline v0::detail
