// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/fixed_string.hpp>
#include <fuse/core/static_text.hpp>
#include <fuse/ops/operator.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0 {

/// What a term of an expression is. The elements of the language, each with a header of its own in dsl/.
enum class term_kind : std::uint8_t {
  none,
  capture,       ///< var<"x">
  scalar,        ///< scalar<"epsilon">: a constant with one element
  rest,          ///< rest<"scale">: whatever operands are left
  parameter,     ///< param<"axes">: captures a parameter
  number,        ///< a constant all of whose elements are one number
  neutral,       ///< an operator by its meaning, with all its spellings
  named,         ///< op<"Name">: as the dialect means that name
  exact,         ///< exactly<"Name">: that node and nothing else
  attribute,     ///< .attr<"axis">(-1)
  alternatives,  ///< either(a, b)
  optional,      ///< optional(a): an operand, factor or addend that may be absent
  wrapped,       ///< with_or_without<"Relu">(a): an operator that may stand around a
  through,       ///< through<"Cast">(a)
  result,        ///< result<1>(a)
  users,         ///< a.users(1)
  known_as,      ///< a.as<"name">()
  roots,         ///< roots(a, b)
  again,         ///< again<"conv">(x, w): that operator with its attributes, on other operands; as an attribute of
                 ///< another operator, all of its attributes
  fold,          ///< fold(a): computed when the rule is applied
  along,         ///< along<0>(s): inside fold, a constant that lies along that axis
  dimension,     ///< dim<"x", -1>: an extent of what a name captured; with `index` 1 dim<"h">, a captured extent
  list,          ///< list(0, 2, 1): integers, one after the other
  or_else,       ///< or_else(b, 0): what b captured, or 0 where it is absent
  row,           ///< row(scale, x): broadcast to the last axes of x
  no_operand,    ///< none: an operand that is absent
  further,       ///< operands of the operator above, more than a term has room for
  rearranged,    ///< rearrange<"b s d -> b d s">(a); with `index` 1, or 2 by steps, part `number` of `tolerance` parts,
                 ///< or `every_part`, in reverse order
  misused,       ///< what stands where it means nothing; `index` says what
};

/// How far a constant may be from the number that a pattern names, relative to it, where that does not say.
inline constexpr double usual_tolerance = 1e-6;

/// In the place of the number of a part: all of them.
inline constexpr std::uint8_t every_part = 255;

/// What an expression cannot have.
enum class misuse : std::uint8_t { attribute_of_no_operator, tolerance_of_no_number, too_many_users, exact_of_no_fold };

/// One term: a node of an expression's flat graph. Children stand before their parents.
struct term {
  term_kind kind;
  std::uint8_t children, attributes;  ///< attributes are the last of the children
  opcode op;
  std::uint16_t index;  ///< result number, number of users
  std::uint8_t child[8];
  static_text name;
  double number, tolerance;

  [[nodiscard]] constexpr int operands() const { return children - attributes; }
  [[nodiscard]] friend constexpr bool operator==(term const& a, term const& b) {
    if (a.kind == b.kind && a.kind <= term_kind::parameter) return a.name == b.name;  // all that counts of these
    if (a.kind != b.kind || a.op != b.op || a.name != b.name || a.children != b.children || a.index != b.index ||
        a.number != b.number || a.tolerance != b.tolerance)
      return false;
    for (int i = 0; i < a.children; ++i)
      if (a.child[i] != b.child[i]) return false;
    return true;
  }
};

/// An expression as the user writes it: a flat array of terms, the last of which is its root. One type for all
/// expressions, so that rules cost no templates. Equal subexpressions are one term.
struct expression {
  static constexpr std::size_t capacity = 128;
  static constexpr int most_users = 65535;
  template <std::size_t Operands>
  static constexpr bool fits = Operands <= 32;

  term terms[capacity];
  std::uint16_t size;
  bool too_large;  ///< more than `capacity` distinct terms, or more than 8 children of one

  [[nodiscard]] constexpr std::uint8_t root() const { return static_cast<std::uint8_t>(size - 1); }
  [[nodiscard]] constexpr term const& operator[](std::size_t at) const { return terms[at]; }

  /// Adds a term unless an equal one is there; returns its place.
  constexpr std::uint8_t add(term const& made) {
    auto const at = find(made, 0, size);
    return at < size ? static_cast<std::uint8_t>(at) : append(made);
  }

  /// Adds all terms of `other`; returns the place of its root.
  constexpr std::uint8_t add(expression const& other) {
    int const before = size, more = other.size;
    if (more == 0) return 0;
    if (more == 1) return add(other.terms[0]);
    if (other.too_large) too_large = true;
    std::uint8_t place[capacity]{};
    int end = before;
    for (int i = 0; i < more; ++i) {
      term moved = other.terms[i];
      // A term equals one that was there, if any: those of `other` are all different. Its operands were there then, and
      // it stands above the last of these.
      int from = 0;
      int const children = moved.children;
      for (int c = 0; c < children; ++c) {
        auto const at = place[moved.child[c]];
        moved.child[c] = at;
        if (at >= from) from = at + 1;
      }
      if (from <= before) {
        auto const at = find(moved, from, before);
        if (at < before) {
          place[i] = static_cast<std::uint8_t>(at);
          continue;
        }
      }
      if (end == capacity) {
        too_large = true;
        return 0;
      }
      place[i] = static_cast<std::uint8_t>(end);
      terms[end++] = moved;
    }
    size = static_cast<std::uint16_t>(end);
    return place[more - 1];
  }

  /// Makes `made` the last term, also where an equal one stands earlier: the root. Returns its place.
  constexpr std::uint8_t append(term const& made) {
    if (size == capacity) {
      too_large = true;
      return 0;
    }
    terms[size] = made;
    return static_cast<std::uint8_t>(size++);
  }

  /// Requires (in a pattern) or gives (in a replacement) a parameter: `.attr<"axis">(-1)`, `.attr<"epsilon">(eps)`.
  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(int value) const;
  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(double value) const;
  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(expression const& value) const;

  /// In a replacement: the attributes of the operator that the pattern calls `name`, but for those that `attr` gives
  /// (dsl/again.hpp).
  [[nodiscard]] constexpr expression with_attributes_of(static_text name) const {
    term made{};
    made.kind = term_kind::again;
    made.name = name;
    return with_attribute(made, {});
  }

  /// Requires the value to have exactly `count` users (a graph output is one), and its node no other result in use.
  [[nodiscard]] constexpr expression users(int count) const {
    if (count < 0 || count > most_users) return misused(misuse::too_many_users);
    expression counted(term_kind::users, opcode::opaque, {}, *this);
    counted.terms[counted.root()].index = static_cast<std::uint16_t>(count);
    return counted;
  }

  /// For a sum: without rounding it is never negative, and neither are its terms together that are no constants. So it
  /// may stand in a Relu, a maximum with 0 or a clipping at 0, with or without its constants: that makes no difference.
  [[nodiscard]] constexpr expression never_negative() const {
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  /// For a rest of a product or sum: something is left.
  [[nodiscard]] constexpr expression not_empty() const {
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  /// For a fold: refused where its element type does not hold what was computed as it is.
  [[nodiscard]] constexpr expression exact() const {
    if (terms[root()].kind != term_kind::fold) return misused(misuse::exact_of_no_fold);
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  /// Also captures the value itself, as var<Name> would, for conditions to look at.
  template <fixed_string Name>
  [[nodiscard]] constexpr expression as() const;

  /// For a number: the relative tolerance within which a constant equals it (0 only equals 0).
  [[nodiscard]] constexpr expression within(double tolerance) const {
    if (terms[root()].kind != term_kind::number) return misused(misuse::tolerance_of_no_number);
    expression changed = *this;
    changed.terms[changed.root()].tolerance = tolerance;
    return changed;
  }

  /// A term above its operands. (A constructor: where a function returns a class, g++ walks through all of it to put
  /// the object in the place of the function's result.)
  template <class First, class... Others>
  constexpr expression(term_kind kind, opcode op, static_text name, First const& first, Others const&... others)
      : expression(first) {
    constexpr std::size_t operands = 1 + sizeof...(Others);
    static_assert(fits<operands>, "fuse: an operator in a rule takes at most 32 operands");
    if constexpr (operands <= 8)
      append({.kind = kind,
              .children = operands,
              .op = op,
              .child = {static_cast<std::uint8_t>(first.size - 1), add(others)...},
              .name = name});
    else if constexpr (fits<operands>)
      append_many({.kind = kind, .op = op, .name = name}, {static_cast<std::uint8_t>(first.size - 1), add(others)...});
  }
  /// A neutral operator above its operands.
  template <class... Operands>
  explicit constexpr expression(opcode op, Operands const&... operands)
      : expression(term_kind::neutral, op, {}, operands...) {}
  /// A term without operands.
  constexpr expression(term_kind kind, opcode op, static_text name)
      : terms{{.kind = kind, .op = op, .name = name}}, size(1), too_large(false) {}

  // NOLINTNEXTLINE: a number in a formula is a constant
  constexpr expression(double value)
      : terms{{.kind = term_kind::number, .number = value, .tolerance = usual_tolerance}}, size(1), too_large(false) {}
  constexpr expression() : terms{}, size(0), too_large(false) {}

 private:
  // An expression that no rule may have, in the place of this one.
  [[nodiscard]] constexpr expression misused(misuse what) const {
    expression changed = *this;
    auto& made = changed.terms[changed.root()];
    made.kind = term_kind::misused;
    made.index = static_cast<std::uint16_t>(what);
    return changed;
  }

  // A term with more children than it has room for: two, and the others eight by eight below terms of their own.
  template <std::size_t Children>
  constexpr void append_many(term made, std::uint8_t const (&children)[Children]) {
    made.child[made.children++] = children[0];
    made.child[made.children++] = children[1];
    for (std::size_t at = 2; at < Children;) {
      term further{};
      further.kind = term_kind::further;
      while (further.children < 8 && at < Children) further.child[further.children++] = children[at++];
      made.child[made.children++] = add(further);
    }
    append(made);
  }

  // The place of a term, looked for from `from` on; `end` if it is not there.
  [[nodiscard]] constexpr int find(term const& wanted, int from, int end) const {
    auto const kind = wanted.kind;
    auto const op = wanted.op;
    while (from < end && !(terms[from].kind == kind && terms[from].op == op && terms[from] == wanted)) ++from;
    return from;
  }

  // An empty `value` is none. (By reference: to g++ the address of a constant is no constant under
  // -fsanitize=undefined.)
  [[nodiscard]] constexpr expression with_attribute(term const& made, expression const& value) const {
    // The operator is this expression's root; its attribute goes below it.
    expression changed = *this;
    term node = terms[root()];
    if (node.kind != term_kind::neutral && node.kind != term_kind::named && node.kind != term_kind::exact &&
        node.kind != term_kind::again)
      return misused(misuse::attribute_of_no_operator);
    --changed.size;
    term holder = made;
    if (value.size != 0) {
      holder.child[0] = changed.add(value);
      holder.children = 1;
    }
    if (node.children == 8) changed.make_room(node);
    if (node.children == 8)
      changed.too_large = true;
    else
      node.child[node.children++] = changed.add(holder), ++node.attributes;
    changed.append(node);
    return changed;
  }

  // Puts the operands of a term but the first below a term of their own.
  constexpr void make_room(term& node) {
    if (node.operands() < 3) return;
    term further{};
    further.kind = term_kind::further;
    for (int i = 1; i < node.operands(); ++i) further.child[further.children++] = node.child[i];
    std::uint8_t kept = 1;
    node.child[kept++] = add(further);
    for (int i = node.operands(); i < node.children; ++i) node.child[kept++] = node.child[i];
    node.children = kept;
  }
};

namespace detail {

/// Text of a name in static storage: the object behind a template argument.
template <fixed_string Name>
inline constexpr static_text name_text{Name.text, sizeof(Name.text) - 1};

}  // namespace detail

template <fixed_string Name>
constexpr expression expression::as() const {
  return expression(term_kind::known_as, opcode::opaque, detail::name_text<Name>, *this);
}
template <fixed_string Name>
constexpr expression expression::attr(int value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  made.number = value;
  made.index = 1;  // an integer, in a replacement
  return with_attribute(made, {});
}
template <fixed_string Name>
constexpr expression expression::attr(double value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  made.number = value;
  return with_attribute(made, {});
}
template <fixed_string Name>
constexpr expression expression::attr(expression const& value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  return with_attribute(made, value);
}

}  // namespace fuse::inline v0

#pragma GCC diagnostic pop
