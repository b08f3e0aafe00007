// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/state.hpp>
#include <fuse/program/program.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/constant_contents.hpp>

namespace fuse::inline v0::detail {

/// Computes what right sides fold, and attributes that they compute: of constants, captured numbers and extents, in
/// double precision; of integers, only what is exact there all along.
template <class Image>
class basic_folding {
 public:
  basic_folding(match_state const& match, Image const& image, facts const& known)
      : match_(match), image_(image), facts_(known) {}

  /// The contents of term `at` of `terms`, the right side of `rule`. `type`: that of where it stands.
  built<dense> compute(span<replacement_term const> terms, rule_info const& rule, std::uint8_t at, element_type type) {
    terms_ = terms;
    rule_ = &rule;
    type_ = type;
    auto made = term(at);
    if (!made) return made.why();
    if ((*made).lies && (*made).axis != -1)
      return objection{"along() names an axis of what stands beside it, and nothing does"};
    return (*made).contents;
  }

 private:
  using kind = replacement_term::kind;
  /// Contents, and where they lie beside others.
  struct part {
    dense contents{};
    bool lies = false;  ///< along `axis`, whatever the rank; `contents` have one axis then
    int axis = 0;
  };

  built<part> term(std::uint8_t at) {
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::number: return part{dense::of(t.number)};
      case kind::dimension: return extent_of(t);
      case kind::slot: return captured(t.slot);
      case kind::along: return lying(t);
      case kind::neutral: return operation(t);
      default: return objection{no_constant};
    }
  }

  built<part> extent_of(replacement_term const& t) const {
    auto const& s = match_.slot(t.slot);
    auto const rank = s.bound ? facts_.rank(s.value) : -1;
    auto axis = static_cast<int>(t.number);
    if (axis < 0) axis += rank;
    if (rank < 0 || axis < 0 || axis >= rank)
      return objection{"dim() names an axis of a value that is not known to have it"};
    auto const e = facts_.shape(s.value)[static_cast<std::size_t>(axis)];
    if (!e.known()) return objection{"dim() needs an extent that is known"};
    return part{dense::of(static_cast<double>(e.value()))};
  }

  built<part> captured(std::uint8_t slot) const {
    auto const& s = match_.slot(slot);
    auto const is = rule_->slot_kinds[slot];
    if (!s.bound) return objection{no_constant};
    if (is == slot_kind::parameter && s.axes != 0) return objection{"fold takes numbers, and axes were captured"};
    if (is == slot_kind::number || is == slot_kind::parameter) return part{dense::of(s.number)};
    if (is != slot_kind::value) return objection{no_constant};
    if (image_.value(s.value).constant) {
      auto const contents = image_.source->constant(s.value);
      if (!contents || contents.size() != count_of(contents.shape)) return objection{no_constant};
      auto read = dense::in_doubles(contents);
      if (is_integer(contents.type) && !exact_integers(read)) return objection{no_integer};
      return part{read};
    }
    double number = 0;
    if (!facts_.number(s.value, number)) return objection{no_constant};
    if (is_integer(facts_.type(s.value)) && !exact_integers(dense::of(number))) return objection{no_integer};
    return part{dense::of(number)};
  }

  built<part> lying(replacement_term const& t) {
    auto inside = term(t.child[0]);
    if (!inside) return inside;
    auto made = *inside;
    std::size_t longer = 0;
    for (auto const extent : made.contents.shape) longer += extent != 1 ? 1 : 0;
    if (longer > 1) return objection{"along() takes a constant of one axis, and this one has several"};
    made.contents.shape = {static_cast<std::int64_t>(made.contents.elements.size())};
    made.lies = true;
    made.axis = static_cast<int>(t.number);
    return made;
  }

  built<part> operation(replacement_term const& t) {
    std::vector<part> parts;
    std::size_t rank = 0, axes = 0;  // of what does not lie along an axis of others; without leading extents of 1
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto made = term(t.child[i]);
      if (!made) return made;
      parts.push_back(*made);
      if (parts.back().lies) continue;
      auto const& shape = parts.back().contents.shape;
      auto const own = rank_of(shape);
      if (axes != 0 && own != 0 && own != axes)
        return objection{"operands of fold have different ranks, and nothing says along which axis one repeats"};
      if (own != 0) axes = own;
      if (shape.size() > rank) rank = shape.size();
    }
    part made;
    for (auto& p : parts)
      if (p.lies) {
        if (rank != 0) {
          if (auto const* why = place(p, rank, parts); why != nullptr) return objection{why};
        } else if (made.lies && made.axis != p.axis) {
          return objection{"operands of fold lie along different axes of nothing"};
        } else {
          made.lies = true;
          made.axis = p.axis;
        }
      }
    std::vector<dense> operands;
    for (auto& p : parts) operands.push_back(std::move(p.contents));
    auto const op = static_cast<opcode>(t.op);
    if (!evaluate(op, operands, made.contents)) return objection{no_constant};
    if (is_integer(type_) && !exact_integers(made.contents)) return objection{no_integer};
    bool finite = true, zeros = info(op).group != op_group::product;
    for (auto const& operand : operands) {
      finite = finite && all_finite(operand);
      zeros = zeros || has_zero(operand) || !all_finite(operand);
    }
    if (finite && !all_finite(made.contents))
      return objection{"fold would make an infinite number, or none, of finite ones"};
    if (!zeros && has_zero(made.contents)) return objection{"fold would make 0 a product of numbers that are not"};
    return made;
  }

  // Gives a part its axis among `rank`; it repeats along the others, and makes no operand longer.
  static char const* place(part& p, std::size_t rank, std::vector<part> const& beside) {
    auto const axis = p.axis < 0 ? p.axis + static_cast<int>(rank) : p.axis;
    auto const count = p.contents.shape[0];
    if (axis < 0 || axis >= static_cast<int>(rank)) return "along() names an axis that the constant beside it lacks";
    bool fits = count == 1;
    for (auto const& other : beside) {
      auto const& shape = other.contents.shape;
      fits = fits || (!other.lies && shape.size() == rank && shape[static_cast<std::size_t>(axis)] == count);
    }
    if (!fits) return "along() has another number of elements than the axis that it names";
    p.contents.shape.assign(rank, 1);
    p.contents.shape[static_cast<std::size_t>(axis)] = count;
    return nullptr;
  }

  [[nodiscard]] static bool all_finite(dense const& of) {
    for (auto x : of.elements)
      if (!math::is_finite(x)) return false;
    return true;
  }
  [[nodiscard]] static bool has_zero(dense const& of) {
    for (auto x : of.elements)
      if (x == 0) return true;
    return false;
  }
  // Leading extents of 1 aside.
  [[nodiscard]] static std::size_t rank_of(span<std::int64_t const> shape) {
    std::size_t lead = 0;
    while (lead < shape.size() && shape[lead] == 1) ++lead;
    return shape.size() - lead;
  }

  static constexpr auto const* no_constant = "an operand of fold is not a constant";
  static constexpr auto const* no_integer = "fold would compute with integers that a double does not hold exactly";

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  span<replacement_term const> terms_{};
  rule_info const* rule_ = nullptr;
  element_type type_ = element_type::unknown;
};
using folding = basic_folding<graph_image>;

}  // namespace fuse::inline v0::detail
