// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/state.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/folding.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/written_integers.hpp>

namespace fuse::inline v0::detail {

/// Lists of numbers and extents that right sides have. Where extents are not known, one is put together when the graph
/// runs, from the shapes of what has them.
template <class Image>
class basic_extent_lists {
 public:
  basic_extent_lists(match_state const& match, Image const& image, facts const& known, basic_folding<Image>& fold,
                     basic_operator_writer<Image>& writer, basic_transaction<Image>& into)
      : match_(match), image_(image), facts_(known), folding_(fold), integers_(writer, into) {}

  /// Lists are of these terms of a rule's right side.
  void begin(span<replacement_term const> terms, rule_info const& rule) {
    terms_ = terms;
    info_ = &rule;
  }

  /// Whether it has an extent.
  [[nodiscard]] bool names_an_extent(replacement_term const& t) const {
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (terms_[t.child[i]].what == kind::dimension) return true;
    return false;
  }
  /// In one axis; refused where an entry is neither known nor an extent.
  built<value_id> at_run_time(replacement_term const& t) {
    plain_vector<value_id> parts;
    std::vector<double> known;  // entries in a row that are
    auto const put = [&]() -> built<value_id> {
      auto made = integers_.constant(std::exchange(known, {}));
      if (made) parts.push_back(*made);
      return made;
    };
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto entry = folding_.compute(terms_, *info_, t.child[i], element_type::int64);
      if (entry) {
        auto const& elements = (*entry).elements;
        known.insert(known.end(), elements.begin(), elements.end());
        continue;
      }
      auto const& e = terms_[t.child[i]];
      if (!is_an_axis(e)) return entry.why();
      if (!known.empty())
        if (auto made = put(); !made) return made;
      auto made = extent_at_run_time(match_.slot(e.slot).value, static_cast<int>(e.number));
      if (!made) return made;
      parts.push_back(*made);
    }
    if (!known.empty())
      if (auto made = put(); !made) return made;
    return integers_.joined(parts);
  }
  /// Whether the last extents of a value are those of a list, which is 1 where it leaves them open.
  [[nodiscard]] bool is_shape_of(value_id v, replacement_term const& list) {
    if (!facts_.has_rank(v) || list.children > facts_.shape(v).size()) return false;
    auto const last = facts_.shape(v).subspan(facts_.shape(v).size() - list.children);
    for (std::uint8_t i = 0; i < list.children; ++i) {
      auto const& e = terms_[list.child[i]];
      if (is_an_axis(e)) {
        auto const of = facts_.shape(match_.slot(e.slot).value);
        auto const axis = e.number < 0 ? e.number + static_cast<double>(of.size()) : e.number;
        if (!(last[i] == of[static_cast<std::size_t>(axis)])) return false;
      } else {
        auto const known = folding_.compute(terms_, *info_, list.child[i], element_type::int64);
        if (!known || (*known).elements.size() != 1) return false;
        auto const number = (*known).elements[0];
        if (number != 1 && !(last[i].known() && static_cast<double>(last[i].value()) == number)) return false;
      }
    }
    return true;
  }

 private:
  using kind = replacement_term::kind;

  // Whether a term is the extent of an axis that a captured value has.
  [[nodiscard]] bool is_an_axis(replacement_term const& t) const {
    if (t.what != kind::dimension || info_->slot_kinds[t.slot] != slot_kind::value || !match_.slot(t.slot).bound)
      return false;
    auto const rank = facts_.rank(match_.slot(t.slot).value);
    return t.number < rank && t.number >= -rank;
  }
  // In one axis of one element.
  built<value_id> extent_at_run_time(value_id of, int axis) {
    look_below(of, axis);
    auto const shape = integers_.shape_of(of);
    if (!shape) return shape;
    return integers_.extent(*shape, static_cast<std::size_t>(axis < 0 ? axis + facts_.rank(of) : axis));
  }

  // Where a value is made from another one that provably has such an axis, too, that one is asked, and so on: whoever
  // else is made from what lies below leaves the value without readers. (Below a product of all rows of all batches,
  // axes are apart again.)
  void look_below(value_id& of, int& axis) const {
    auto const rank = facts_.rank(of);
    auto const wanted = facts_.shape(of)[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
    auto from = of;
    for (int left = 256; left != 0 && from != absent; --left) {
      int at = -1;
      from = operand_with(wanted, from, at);
      if (at >= 0) of = from, axis = at;
    }
  }
  // The operand of what makes `v` that has an axis of that extent, else the first.
  [[nodiscard]] value_id operand_with(extent wanted, value_id v, int& axis) const {
    auto const n = image_.producer(v);
    if (n == absent || image_.operand_count(n) == 0) return absent;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const from = image_.operand(n, i);
      auto const shape = from != absent && facts_.has_rank(from) ? facts_.shape(from) : span<extent const>();
      for (std::size_t at = 0; at < shape.size(); ++at)
        if (shape[at] == wanted) return axis = static_cast<int>(at), from;
    }
    return image_.operand(n, 0);
  }

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  basic_folding<Image>& folding_;
  basic_written_integers<Image> integers_;
  span<replacement_term const> terms_;
  rule_info const* info_ = nullptr;
};

}  // namespace fuse::inline v0::detail
