// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include <fuse/infer/layout_of.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/match/state.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Tells `names` the extents that a match has captured.
inline void know_bound(rearrangement const& what, match_state const& match, facts const& known, named_extents& names) {
  for (std::uint8_t name = 0; name < what.name_count; ++name) {
    if (what.slots[name] == no_slot || !match.slot(what.slots[name]).bound) continue;
    auto const& b = match.slot(what.slots[name]);
    names.know(name, b.number == b.number ? polynomial(static_cast<std::int64_t>(b.number))
                                          : known.symbols().polynomial_of(known.shape(b.value)[b.first]));
  }
}

/// The step that finds what a value is a rearrangement of: whether a chain of operators amounts to a notation, and what
/// the names of that are.
template <class Image>
class basic_layout_steps {
 public:
  static constexpr int most_below = 16;  ///< operators between a value and what it may be a rearrangement of

  basic_layout_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                     match_state& state)
      : rules_(rules), image_(image), facts_(known), layouts_(image, known, names), s_(state) {}

  /// What `v` may be a rearrangement of, one operator further down; absent where there is nothing.
  [[nodiscard]] value_id below(value_id v) const {
    auto const from = layouts_.below(v);
    return from != absent && image_.node(image_.producer(v)).region == s_.region ? from : absent;
  }

  /// Whether `v` is the rearrangement of `from` that step `i` asks for; binds the names, and what lies between is
  /// matched.
  [[nodiscard]] bool rearranged(instruction const& i, value_id v, value_id from) {
    auto const& what = rules_.rearrangements[i.op];
    if (!facts_.has_rank(v) || !facts_.has_rank(from) || (v == from && what.reverses())) return false;
    named_extents names(what);
    know_bound(what, s_, facts_, names);
    auto const left = facts_.polynomials(from), right = facts_.polynomials(v);
    // What one side tells, the other may need.
    auto const learn = [&] { return names.learn(what.left, left) && names.learn(what.right, right); };
    if (!learn() || !learn()) return false;
    layout wanted, found;
    bool const told = names.complete();
    if (!told && !layouts_.read(v, from, found)) return false;
    if (!told) names.learn(found, left);
    if (!names.complete() || !learn() || !names.same_rest(left, right)) return false;
    if (what.regroups()) names.regroup(right);
    if (!names.lay(left, facts_.symbols(), wanted) || (told && !layouts_.read(v, from, found)) || !(wanted == found))
      return false;
    for (std::uint8_t name = 0; name < what.name_count; ++name)
      if (!bind(what.slots[name], names.of(name), from, v)) return false;
    for (auto n : layouts_.passed()) s_.add_matched(n);
    return true;
  }

 private:
  // A captured extent is a number, or that of an axis of a value: see know_bound.
  [[nodiscard]] bool bind(std::uint8_t slot, polynomial const& extent, value_id a, value_id b) {
    if (s_.slot(slot).bound) return true;
    std::int64_t number = 0;
    if (extent.known(number)) return s_.bind(slot, {.number = static_cast<double>(number)});
    for (auto const v : {a, b}) {
      auto const shape = facts_.shape(v);
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (facts_.symbols().polynomial_of(shape[axis]) == extent)
          return s_.bind(slot, {.value = v,
                                .number = std::numeric_limits<double>::quiet_NaN(),
                                .first = static_cast<std::uint8_t>(axis)});
    }
    return false;  // neither a number nor the extent of an axis
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  basic_layouts<Image> layouts_;
  match_state& s_;
};

}  // namespace fuse::inline v0::detail
