// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/bare_value.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/state.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Refuses matches that round: nothing that is looked through or computed inside may be narrower than the result; and
/// where a result is no floating number, such as that of a comparison, nothing may have been rounded that it is
/// computed from. Complexity: one pass over the matched nodes; where a Cast among them rounds, one for each value above
/// it.
template <class Image>
class basic_narrowing {
 public:
  basic_narrowing(program const& rules, match_state const& match, Image const& image, facts const& known,
                  dialect const& names, bool trust_shapes)
      : match_(match), image_(image), facts_(known), trust_(trust_shapes) {
    for (auto const& set : rules.sets) looks_through_casts_ = looks_through_casts_ || has_casts(set, names);
  }

  /// Why the match with this root is refused, or an empty text.
  [[nodiscard]] std::string refuses(value_id root) {
    auto const wanted = facts_.type(root);
    if (wanted == element_type::unknown) return trust_ ? std::string() : "the element type of the result is not known";
    if (looks_through_casts_)
      for (auto n : match_.matched()) {
        auto const op = op_of(image_, n);
        if ((op != opcode::cast && op != opcode::cast_like) || image_.operand_count(n) == 0) continue;
        auto const of = image_.operand(n, 0), result = image_.result(n);
        if (of == absent) continue;
        auto const from = facts_.type(of), to = facts_.type(result);
        if (!trust_ && (from == element_type::unknown || to == element_type::unknown))
          return "the element types of " + image_.source->node_name(n) + ", a Cast, are not both known: it may round";
        if (rounds(of, to) && tells_apart(result, root, wanted))
          return "inside, " + image_.source->node_name(n) + " rounds to " + std::string(name_of(to)) +
                 ", which what is computed of it may tell";
      }
    if (!is_floating(wanted)) return {};
    for (auto n : match_.matched())
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const type = facts_.type(image_.result(n, i));
        if (type == wanted || type == element_type::unknown || !is_floating(type)) continue;
        if (!widens(wanted, type))
          return "inside, " + image_.source->node_name(n) + " computes in " + std::string(name_of(type)) +
                 ", which is narrower than the result's " + std::string(name_of(wanted));
      }
    return {};
  }

 private:
  [[nodiscard]] bool has_casts(through_set const& set, dialect const& names) const {
    for (std::size_t i = 0; i < set.count; ++i) {
      auto const* row = set.by_name[i] ? names.row(set.ops[i], image_.version) : nullptr;
      auto const op = row != nullptr ? row->op : static_cast<opcode>(set.by_name[i] ? 0 : set.ops[i]);
      if (op == opcode::cast || op == opcode::cast_like) return true;
    }
    return false;
  }
  // Whether a Cast of `of` to type `to` may round. It does not where it takes back one that has widened.
  [[nodiscard]] bool rounds(value_id of, element_type to) const {
    auto const from = facts_.type(bare_value(image_, facts_, of));
    return is_floating(from) && is_floating(to) && !widens(from, to);
  }
  // Whether something that is no floating number is computed of `rounded` and matched: the result itself, or what it
  // depends on.
  [[nodiscard]] bool tells_apart(value_id rounded, value_id root, element_type wanted) {
    auto const of_shapes = [&](node_id n) {
      auto const op = op_of(image_, n);
      return op == opcode::shape || op == opcode::size;
    };
    if (!is_floating(wanted)) return !of_shapes(image_.producer(root));
    reached_.assign(1, rounded);
    for (std::size_t i = 0; i < reached_.size(); ++i)
      for (auto n : match_.matched()) {
        bool reads = false;
        for (std::uint32_t k = 0; k < image_.operand_count(n); ++k)
          reads = reads || image_.operand(n, k) == reached_[i];
        if (!reads || of_shapes(n)) continue;
        for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k) {
          auto const v = image_.result(n, k);
          if (image_.unused(v)) continue;
          if (!is_floating(facts_.type(v))) return true;
          bool known = false;
          for (auto r : reached_) known = known || r == v;
          if (!known) reached_.push_back(v);
        }
      }
    return false;
  }

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  bool trust_;
  bool looks_through_casts_ = false;  // some rule does
  plain_vector<value_id> reached_;
};
using narrowing = basic_narrowing<graph_image>;

}  // namespace fuse::inline v0::detail
