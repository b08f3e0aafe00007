// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/reshaped_operand.hpp>
#include <fuse/rewrite/told_extents.hpp>
#include <fuse/rewrite/written_integers.hpp>

namespace fuse::inline v0::detail {

/// Writes what a right side rearranges: another shape where that is all it takes, else a Transpose between two, where
/// they are needed, and a Tile or an Expand for what is repeated; a part as a Slice, and parts in reverse order as one
/// backwards. Where what is rearranged is a rearrangement itself, or a part of one, it is made from whatever below
/// takes the fewest operators, which may be none; what the rule replaces, only where that takes fewer than there are.
template <class Image>
class basic_rearranged_operand {
 public:
  static constexpr int most_below = 16;  ///< operators that are looked below

  basic_rearranged_operand(Image const& image, facts const& known, dialect const& names,
                           basic_reshaped_operand<Image>& reshapes, basic_operator_writer<Image>& writer,
                           basic_transaction<Image>& into)
      : facts_(known),
        layouts_(image, known, names),
        reshapes_(reshapes),
        writer_(writer),
        integers_(writer, into),
        into_(into) {}

  /// Operators between what was to be rearranged and what was, of the right side that is being built.
  [[nodiscard]] span<node_id const> passed() const { return passed_; }
  /// `replaced`: values that no new node may read.
  void begin(span<value_id const> replaced) {
    passed_.clear();
    replaced_.assign(replaced);
  }

  /// The graph has changed.
  void forget() { found_.clear(); }

  /// `v` rearranged by `what`; `names` are what the match tells of its names.
  built<value_id> make(rearrangement const& what, named_extents names, value_id v) {
    bool const replaced = is_replaced(v);
    for (auto const& each : found_)
      if (each.of == v && each.what == &what && each.names.same(names) && each.replaced == replaced &&
          !is_replaced(each.best.of)) {
        passed_.append(each.passed);
        return written(each.best);
      }
    auto const told = names;
    if (!facts_.has_rank(v)) return objection{"a value whose rank is not known cannot be rearranged"};
    auto const from = facts_.polynomials(v);
    if (auto why = learn_all(what, from, names); !why.empty()) return objection{std::move(why)};
    named_extents::way along;
    if (!names.find(from, along)) return objection{"the extents of " + text_of(what) + " are too large"};
    if (!replaced && !along.picks.empty()) return part(along, v);
    if (!replaced && along.reversed) return reversed(along, v);
    layout as_told;
    if (!names.lay(from, facts_.symbols(), as_told)) return reshapes_.not_known(as_told.unproven());
    if (plan best; shortest(v, names, best)) {
      if (replaced && best.operators >= static_cast<int>(between_.size()))
        return objection{"it takes as many operators to move elements like that"};
      if (into_.was_there(v) && !of_match_) keep({&what, told, v, replaced, best, between_});
      return written(best);
    }
    if (replaced) return objection{"nothing tells how what is replaced lies in what is below it"};
    auto const repeats = static_cast<std::int64_t>(along.repeats.size());
    std::vector<std::int64_t> order;
    for (auto each : along.order)
      if (each >= repeats) order.push_back(each - repeats);
    // What is repeated is an axis of one element where it stands.
    plain_vector<polynomial> with_ones;
    for (auto each : along.order)
      with_ones.push_back(each < repeats ? polynomial(1) : along.split[static_cast<std::size_t>(each - repeats)]);
    built<value_id> made = v;
    if (!in_order_already(order)) {
      made = reshapes_.make(v, along.split);
      if (made) made = transposed(*made, order);
    }
    if (repeats != 0 && along.tiles && !equal(along.once, with_ones) && writer_.has_operator(opcode::tile)) {
      if (made) made = reshapes_.make(*made, along.once);
      return made ? tiled(along, *made) : made;
    }
    if (repeats != 0) {
      if (made) made = reshapes_.make(*made, with_ones);
      if (made) made = repeated(along, *made);
    }
    return made ? reshapes_.make(*made, along.shape) : made;
  }

 private:
  // Of several equal parts of an axis, the one that begins at `start`, so long; of length 0: the whole.
  struct slice {
    std::size_t axis = 0;
    std::int64_t start = 0, length = 0;
  };
  // A Slice of `of`, a Reshape, a Transpose, a Reshape, of which some may change nothing.
  struct plan {
    value_id of = absent;
    slice part;
    plain_vector<polynomial> split, turned, shape;
    std::vector<std::int64_t> order;
    int operators = 0, moving = 0;  ///< of these, a Reshape moves nothing
  };

  // What was found lately: the forms of a right side rearrange alike, and so do rules that are found in one place.
  struct found_plan {
    rearrangement const* what;
    named_extents names;
    value_id of;
    bool replaced;
    plan best;
    plain_vector<node_id> passed;
  };
  static constexpr std::size_t most_found = 32;
  void keep(found_plan found) {
    if (found_.size() == most_found) found_.clear();
    found_.push_back(std::move(found));
  }

  // The plan of fewest operators, from `v` or what it is a rearrangement of: of equal ones that which moves least, and
  // of these the deepest, so that what stands between has fewer readers. Where `v` is replaced, so is what stands
  // between, and the plan is from below `v` and saves most of it. False where there is none: elements are repeated or
  // left out otherwise, or a shape could not be written.
  bool shortest(value_id v, named_extents const& names, plan& best) {
    bool const saves = is_replaced(v);
    bool any = false;
    of_match_ = false;
    int fewest = 0;
    auto from = v;
    for (int below = 0; from != absent && below <= most_below; ++below, from = layouts_.below(from)) {
      layout made;
      plan next;
      if (is_replaced(from) || !layouts_.read(v, from, made) || !names.rearrange(facts_.symbols(), made) ||
          !planned(made, from, next))
        continue;
      auto const more = next.operators - (saves ? static_cast<int>(layouts_.passed().size()) : 0);
      if (any && (more > fewest || (more == fewest && next.moving > best.moving))) continue;
      any = true;
      fewest = more;
      best = std::move(next);
      between_.assign(layouts_.passed());
    }
    if (any) passed_.append(between_);
    return any;
  }

  // How `v` comes to lie like that; false where that takes more than a permutation of its elements, or of those of a
  // part.
  [[nodiscard]] bool planned(layout const& wanted, value_id v, plan& into) {
    auto from = facts_.polynomials(v);
    auto const all = wanted.all();
    into.of = v;
    into.shape.assign(wanted.shape());
    // Digits from the last one of `v` up, each of which begins where those below end; but one may begin further up,
    // where that is one of several parts of an axis.
    plain_vector<std::size_t> rising;
    polynomial reach(1), whole(1);
    for (auto const& e : from)
      if (!whole.multiply(e)) return false;
    while (rising.size() < all.size()) {
      std::size_t at = 0;
      while (at < all.size() && !(all[at].stride == reach)) ++at;
      if (at == all.size()) {
        auto const above = next_above(all, rising, whole);
        if (!take_part(reach, above, wanted.offset(), from, into.part)) return false;
        reach = above;
        continue;
      }
      if (!reach.multiply(all[at].extent)) return false;
      rising.push_back(at);
    }
    if (!(whole == reach) && !take_part(reach, whole, wanted.offset(), from, into.part)) return false;
    if (into.part.length == 0 && !wanted.offset().is(0)) return false;
    bool in_order = true;
    for (std::size_t i = 0; i < rising.size(); ++i) in_order = in_order && rising[i] == rising.size() - i - 1;
    if (in_order && reshapes_.takes_one(from, into.shape, of_match_)) {
      into.split = into.turned = into.shape;
      into.moving = into.part.length == 0 ? 0 : 1;
      into.operators = into.moving + (equal(into.shape, from) ? 0 : 1);
      return true;
    }
    if (!by_own_axes(all, rising, from, into)) by_digits(all, rising, into);
    into.moving = (into.part.length == 0 ? 0 : 1) + (in_order_already(into.order) ? 0 : 1);
    into.operators = into.moving + (equal(into.split, from) ? 0 : 1) + (equal(into.turned, into.shape) ? 0 : 1);
    return reshapes_.takes_one(from, into.split, of_match_) && reshapes_.takes_one(into.turned, into.shape, of_match_);
  }
  // Where the next digit begins, of those that are left, if one is nearest for certain; else the end.
  [[nodiscard]] static polynomial next_above(span<layout::digit const> all, plain_vector<std::size_t> const& below,
                                             polynomial const& whole) {
    auto nearest = whole;
    polynomial times;
    for (std::size_t at = 0; at < all.size(); ++at) {
      bool risen = false;
      for (auto const each : below) risen = risen || each == at;
      if (!risen && polynomial::divide(nearest, all[at].stride, times)) nearest = all[at].stride;
    }
    return nearest;
  }
  // That what lies below `reach` is one of the equal parts of an axis that end at `above`, the only one of its axis and
  // of `from`, whose extent becomes that of the part.
  [[nodiscard]] static bool take_part(polynomial const& reach, polynomial const& above, polynomial const& offset,
                                      plain_vector<polynomial>& from, slice& into) {
    polynomial end(1), parts, length, index;
    auto axis = from.size();
    while (axis > 0 && !(end == above)) {
      if (polynomial begin = end; !end.multiply(from[--axis]))
        return false;
      else if (end == above && polynomial::divide(reach, begin, length)) {
        std::int64_t count = 0, each = 0, at = 0;
        if (into.length != 0 || !polynomial::divide(above, reach, parts) || !parts.known(count) || count < 2 ||
            !length.known(each) || each < 1)
          return false;
        if (!offset.is(0) && !(polynomial::divide(offset, reach, index) && index.known(at))) return false;
        if (at < 0 || at >= count) return false;
        into = {axis, at * each, each};
        from[axis] = length;
        return true;
      }
    }
    return false;
  }
  // Each digit is a run of axes of `v`: these are turned as they are. Axes of one element go where one is wanted.
  [[nodiscard]] static bool by_own_axes(span<layout::digit const> all, plain_vector<std::size_t> const& rising,
                                        plain_vector<polynomial> const& from, plan& into) {
    std::vector<std::vector<std::int64_t>> runs(all.size());
    plain_vector<std::int64_t> single;
    auto axis = from.size();
    for (auto const at : rising) {
      polynomial left = all[at].extent, rest;
      while (!left.is(1)) {
        while (axis > 0 && from[axis - 1].is(1)) single.push_back(static_cast<std::int64_t>(--axis));
        if (axis == 0 || !polynomial::divide(left, from[axis - 1], rest)) return false;
        runs[at].insert(runs[at].begin(), static_cast<std::int64_t>(--axis));
        left = rest;
      }
    }
    while (axis > 0 && from[axis - 1].is(1)) single.push_back(static_cast<std::int64_t>(--axis));
    if (axis != 0) return false;
    into.order.clear();
    std::size_t next = 0;
    for (std::size_t of = 0; of < into.shape.size(); ++of) {
      bool any = false;
      for (; next < all.size() && all[next].axis == of; ++next, any = true)
        into.order.insert(into.order.end(), runs[next].begin(), runs[next].end());
      if (any || single.empty()) continue;
      into.order.push_back(single.back());
      single.pop_back();
    }
    while (!single.empty()) {
      into.order.push_back(single.back());
      single.pop_back();
    }
    into.split.assign(from);
    into.turned.clear();
    for (auto each : into.order) into.turned.push_back(from[static_cast<std::size_t>(each)]);
    return true;
  }
  // Each digit is an axis.
  static void by_digits(span<layout::digit const> all, plain_vector<std::size_t> const& rising, plan& into) {
    into.split.clear();
    into.turned.clear();
    into.order.assign(all.size(), 0);
    for (auto i = rising.size(); i-- > 0;) {
      into.order[rising[i]] = static_cast<std::int64_t>(into.split.size());
      into.split.push_back(all[rising[i]].extent);
    }
    for (auto const& d : all) into.turned.push_back(d.extent);
  }

  built<value_id> written(plan const& by) {
    auto made = sliced(by.of, by.part);
    if (made) made = reshapes_.make(*made, by.split);
    if (made && !in_order_already(by.order)) made = transposed(*made, by.order);
    return made ? reshapes_.make(*made, by.shape) : made;
  }

  [[nodiscard]] bool is_replaced(value_id v) const {
    for (auto const each : replaced_)
      if (each == v) return true;
    return false;
  }

  [[nodiscard]] static bool in_order_already(span<std::int64_t const> order) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i] != static_cast<std::int64_t>(i)) return false;
    return true;
  }
  built<value_id> transposed(value_id v, span<std::int64_t const> order) {
    written_parameter list{"perm"};
    list.give({order.begin(), order.end()});
    return writer_.neutral(opcode::transpose, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  // An Expand leaves an axis as it is where it says 1.
  built<value_id> repeated(named_extents::way const& along, value_id v) {
    std::vector<double> extents;
    for (auto each : along.order) {
      std::int64_t number = 1;
      if (each < static_cast<std::int64_t>(along.repeats.size()))
        if (auto const& e = along.repeats[static_cast<std::size_t>(each)]; !e.known(number))
          return reshapes_.not_known(e);
      extents.push_back(static_cast<double>(number));
    }
    return with_list(opcode::expand, v, std::move(extents));
  }
  built<value_id> tiled(named_extents::way const& along, value_id v) {
    std::vector<double> times;
    for (auto const& e : along.times) {
      std::int64_t number = 1;
      if (!e.known(number)) return reshapes_.not_known(e);
      times.push_back(static_cast<double>(number));
    }
    return with_list(opcode::tile, v, std::move(times));
  }
  built<value_id> with_list(opcode op, value_id v, std::vector<double> numbers) {
    auto const list = integers_.constant(std::move(numbers));
    if (!list) return list;
    value_id const operands[] = {v, *list};
    return writer_.neutral(op, operands, {}, 1);
  }

  built<value_id> sliced(value_id v, slice const& by) {
    if (by.length == 0) return v;
    written_parameter parameters[] = {{"starts"}, {"ends"}, {"axes"}};
    parameters[0].give({by.start});
    parameters[1].give({by.start + by.length});
    parameters[2].give({static_cast<std::int64_t>(by.axis)});
    return writer_.neutral(opcode::slice, span<value_id const>(&v, 1), parameters, 1);
  }

  built<value_id> part(named_extents::way const& along, value_id v) {
    auto const& pick = along.picks[0];
    bool const apart = pick.axis + 1 == along.split.size();
    std::int64_t each = 0;
    if (!apart && !along.split.back().known(each)) return reshapes_.not_known(along.split.back());
    std::int64_t const lists[4][1] = {
        {apart ? pick.index : pick.index * each},
        {apart || pick.index + 1 == pick.count ? std::numeric_limits<std::int64_t>::max() : (pick.index + 1) * each},
        {static_cast<std::int64_t>(facts_.shape(v).size()) - 1},
        {apart ? pick.count : 1}};
    written_parameter parameters[] = {{"starts"}, {"ends"}, {"axes"}, {"steps"}};
    std::size_t at = 0;
    for (auto& p : parameters) p.give({lists[at][0]}), ++at;
    // Before there were steps, none could be written.
    return writer_.neutral(opcode::slice, span<value_id const>(&v, 1), {parameters, apart ? 4u : 3u}, 1);
  }

  built<value_id> reversed(named_extents::way const& along, value_id v) {
    constexpr auto end = std::numeric_limits<std::int64_t>::min();
    written_parameter parameters[] = {{"starts"}, {"ends"}, {"axes"}, {"steps"}};
    parameters[0].give({-1});
    parameters[1].give({end});
    parameters[2].give({*along.reversed});
    parameters[3].give({-1});
    auto made = reshapes_.make(v, along.split);
    if (made) made = writer_.neutral(opcode::slice, span<value_id const>(&*made, 1), parameters, 1);
    return made ? reshapes_.make(*made, along.shape) : made;
  }

  facts const& facts_;
  basic_layouts<Image> layouts_;
  basic_reshaped_operand<Image>& reshapes_;
  basic_operator_writer<Image>& writer_;
  basic_written_integers<Image> integers_;
  basic_transaction<Image>& into_;
  bool of_match_ = false;  // whether the last plan may be otherwise for another match
  plain_vector<node_id> between_, passed_;
  plain_vector<value_id> replaced_;
  std::vector<found_plan> found_;
};

}  // namespace fuse::inline v0::detail
