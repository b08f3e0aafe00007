// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fuse/core/static_text.hpp>

namespace fuse::inline v0::detail {

/// A notation as a program holds it: both sides as factors, in the order of their axes.
struct rearrangement {
  static constexpr std::size_t most_names = 8, most_factors = 12;
  static constexpr std::uint8_t none = 255;

  struct factor {
    std::uint8_t axis;    ///< of its side, those apart that `...` stands for
    std::uint8_t name;    ///< none: its extent is `number`
    std::uint8_t parts;   ///< of a name: its extent is that of the name by this
    std::uint8_t number;  ///< of none
    std::uint8_t chosen;  ///< on the left: the one index that there is on the right; none: all, and those of a factor
                          ///< without a name, of which there is one at most, in reverse order
    [[nodiscard]] friend constexpr bool operator==(factor const& a, factor const& b) {
      return a.axis == b.axis && a.name == b.name && a.parts == b.parts && a.number == b.number && a.chosen == b.chosen;
    }
  };
  struct side {
    factor all[most_factors];
    std::uint8_t count, rank;
    std::uint8_t rest;  ///< before this axis stands `...`; none: nowhere
    bool joined;        ///< ... in brackets: all of them are one axis, apart from the others, too; on both sides: there
                        ///< are any number, with the same elements in the same order
    [[nodiscard]] friend constexpr bool operator==(side const& a, side const& b) {
      bool same = a.count == b.count && a.rank == b.rank && a.rest == b.rest && a.joined == b.joined;
      for (std::size_t i = 0; same && i < a.count; ++i) same = a.all[i] == b.all[i];
      return same;
    }
    [[nodiscard]] constexpr bool has(std::uint8_t name) const {
      for (std::size_t i = 0; i < count; ++i)
        if (all[i].name == name) return true;
      return false;
    }
  };

  side left, right;
  /// Whether what `(...)` stands for may have other axes on the right than on the left.
  [[nodiscard]] constexpr bool regroups() const { return left.joined && right.joined; }
  /// Whether parts stand in reverse order: then it changes whatever it is of.
  [[nodiscard]] constexpr bool reverses() const { return right.has(none); }

  static_text names[most_names];
  std::uint8_t slots[most_names];
  std::uint8_t name_count;
  static_text text;  ///< as it is written; of a part the name

  [[nodiscard]] friend constexpr bool operator==(rearrangement const& a, rearrangement const& b) {
    bool same = a.left == b.left && a.right == b.right && a.name_count == b.name_count && a.text == b.text;
    for (std::size_t i = 0; same && i < a.name_count; ++i) same = a.slots[i] == b.slots[i];
    return same;
  }
};

/// Reads einops' notation; false where it is none. Linear in the text, times the names.
class notation_reader {
 public:
  constexpr bool read(static_text text, rearrangement& into) {
    text_ = text;
    at_ = 0;
    into.text = text;
    if (!side(into, into.left) || !take("->") || !side(into, into.right) || at_ != text_.size()) return false;
    if (into.left.joined && !into.right.joined) return false;
    bool const rest_on_both = (into.left.rest == rearrangement::none) == (into.right.rest == rearrangement::none);
    for (std::uint8_t name = 0; name < into.name_count; ++name)
      if (!into.right.has(name)) return false;
    return rest_on_both;
  }

 private:
  constexpr void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  constexpr bool take(std::string_view token) {
    for (std::size_t i = 0; i < token.size(); ++i)
      if (at_ + i >= text_.size() || text_[at_ + i] != token[i]) return false;
    at_ += token.size();
    return true;
  }
  [[nodiscard]] static constexpr bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  constexpr bool side(rearrangement& all, rearrangement::side& into) {
    into.rest = rearrangement::none;
    for (skip(); at_ < text_.size() && text_[at_] != '-'; skip()) {
      bool const joined = take("(...)");
      if (joined || take("...")) {
        if (into.rest != rearrangement::none) return false;
        into.rest = into.rank;
        into.joined = joined;
        continue;
      }
      if (take("(")) {
        for (skip(); !take(")"); skip())
          if (!factor(all, into)) return false;
      } else if (!factor(all, into)) {
        return false;
      }
      ++into.rank;
    }
    return true;
  }
  constexpr bool factor(rearrangement& all, rearrangement::side& into) {
    if (take("1")) return at_ == text_.size() || !(letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9'));
    auto const first = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || (at_ != first && text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    if (at_ == first || into.count == rearrangement::most_factors) return false;
    static_text const text{text_.data() + first, at_ - first};
    std::uint8_t name = 0;
    while (name < all.name_count && !(all.names[name] == text)) ++name;
    if (name == rearrangement::most_names || into.has(name)) return false;
    if (name == all.name_count) all.names[all.name_count++] = text;
    into.all[into.count++] = {into.rank, name, 1, 0, rearrangement::none};
    return true;
  }

  static_text text_{};
  std::size_t at_ = 0;
};

/// One of `count` parts of the last axis, neighbours or every `count`-th; without an index all, in reverse order.
[[nodiscard]] constexpr rearrangement part_of(static_text name, std::uint8_t index, std::uint8_t count, bool apart) {
  constexpr auto none = rearrangement::none;
  rearrangement made{};
  made.text = made.names[0] = name;
  made.name_count = 1;
  made.left.rest = made.right.rest = 0;
  made.left.rank = made.right.rank = 1;
  made.left.count = 2;
  made.right.count = 1;
  rearrangement::factor const chosen{0, none, 1, count, index}, kept{0, 0, count, 0, none};
  made.left.all[0] = apart ? kept : chosen;
  made.left.all[1] = apart ? chosen : kept;
  made.right.all[0] = kept;
  if (index == none) made.right = made.left;
  return made;
}

/// As a rule has it, for people.
[[nodiscard]] inline std::string text_of(rearrangement const& what) {
  for (std::size_t i = 0; i < what.left.count; ++i)
    if (auto const& f = what.left.all[i]; f.name == rearrangement::none)
      return (f.chosen != rearrangement::none ? "part " + std::to_string(f.chosen) + " of " + std::to_string(f.number)
                                              : std::to_string(f.number) + " parts in reverse order") +
             " of '" + std::string(what.text) + (i == 0 ? "'" : "', by steps");
  return "'" + std::string(what.text) + "'";
}

}  // namespace fuse::inline v0::detail
