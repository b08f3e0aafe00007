// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fuse/dsl/expression.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/program/rearrangement.hpp>

namespace fuse::inline v0::detail {

/// Writes what a pattern rearranges, in some spelling. How a node comes into the graph is the business of `Spelling`,
/// as for sums and products (group_spelling.hpp), which has, too
///
///     value layout_node(opcode, value, std::vector<listed>, shape);  // a node with lists, or numbers, as parameters
///     value indexed(value, axis, shape indices, shape of_indices, shape made);   // a Gather
///     value joined_along(axis, std::vector<value>, shape);                       // a Concat
template <class Spelling>
class layout_spelling {
 public:
  using shape = std::vector<std::int64_t>;

 protected:
  struct listed {
    std::string name;
    shape list;
    bool one = false;  ///< a number, not a list
  };

  /// The shape that what is rearranged has where the result's is `wanted`, and how it is rearranged. False where there
  /// is none. Extents of names that the shape leaves open are drawn, once for all.
  [[nodiscard]] bool shape_below(term const& t, shape const& wanted, rearrangement& what, shape& below) {
    what = {};
    if (t.index != 0) {
      what = part_of(t.name, static_cast<std::uint8_t>(t.number), static_cast<std::uint8_t>(t.tolerance), t.index == 2);
      below = wanted;
      if (below.empty()) return false;
      auto const parts = static_cast<std::int64_t>(t.tolerance);
      if (t.number == every_part) return below.back() % parts == 0;
      below.back() *= parts;
      return true;
    }
    if (!notation_reader().read(t.name, what)) return false;
    if (what.right.rest == rearrangement::none ? wanted.size() != what.right.rank : wanted.size() < what.right.rank)
      return false;
    auto const more = wanted.size() - what.right.rank;
    if (what.right.joined && !what.regroups() && more != 1) return false;
    auto const place = [&](std::size_t axis) { return axis < what.right.rest ? axis : axis + more; };
    for (std::size_t axis = 0; axis < what.right.rank; ++axis) {
      auto left = wanted[place(axis)];
      std::size_t names = 0, at = 0;
      for (std::size_t i = 0; i < what.right.count; ++i) names += what.right.all[i].axis == axis;
      if (names == 0 && left != 1) return false;
      for (std::size_t i = 0; i < what.right.count; ++i) {
        if (what.right.all[i].axis != axis) continue;
        auto& known = extents_[std::string(what.names[what.right.all[i].name])];
        if (known == 0) {
          known = left;
          if (++at < names)
            for (std::int64_t const divisor : {2, 3, 5})
              if (left % divisor == 0) {
                auto const which = self().choose.number("factor", {0, 1, 2});
                known = which == 0 ? 1 : which == 1 ? divisor : left / divisor;
                break;
              }
          if (at < names && known == left && left > 1 && self().choose.one_in("factor", 2)) known = 1;
        } else {
          ++at;
        }
        if (left % known != 0) return false;
        left /= known;
      }
      if (left != 1) return false;
    }
    below.clear();
    for (std::size_t axis = 0; axis <= what.left.rank; ++axis) {
      if (axis == what.left.rest) {
        auto const first = wanted.begin() + static_cast<std::ptrdiff_t>(what.right.rest);
        auto rest = shape(first, first + static_cast<std::ptrdiff_t>(more));
        if (what.regroups()) regroup(rest, what);
        below.insert(below.end(), rest.begin(), rest.end());
      }
      if (axis == what.left.rank) break;
      std::int64_t whole = 1;
      for (std::size_t i = 0; i < what.left.count; ++i)
        if (what.left.all[i].axis == axis) whole *= extents_[std::string(what.names[what.left.all[i].name])];
      below.push_back(whole);
    }
    return true;
  }

  /// `v`, rearranged to that shape.
  graph::value rearranged(rearrangement const& what, graph::value v, shape const& wanted) {
    auto const from = polynomials(self().shape_of(v));
    named_extents names(what);
    for (std::uint8_t i = 0; i < what.name_count; ++i)
      if (auto const known = extents_.find(std::string(what.names[i])); known != extents_.end())
        names.know(i, polynomial(known->second));
    named_extents::way along;
    if (what.regroups()) names.regroup(polynomials(wanted));
    if (!names.learn(what.left, from) || !names.complete() || !names.find(from, along)) {
      self().fail("a value whose shape does not fit a rearrangement");
      return v;
    }
    if (!along.picks.empty()) return part(along, v);
    if (along.reversed) return backwards(along, v);
    auto const repeats = static_cast<std::int64_t>(along.repeats.size());
    if (self().choose.one_in("flat at first", 3)) v = reshaped(v, {product_of(self().shape_of(v))});
    v = reshaped(v, numbers(along.split));
    auto order = along.order;
    if (repeats != 0) {
      auto ones = shape(along.repeats.size(), 1), wide = numbers(along.repeats);
      for (auto each : numbers(along.split)) ones.push_back(each), wide.push_back(each);
      v = self().layout_node(opcode::expand, reshaped(v, ones), {{"", wide, false}}, wide);
    }
    shape turned;
    for (auto each : order) turned.push_back(self().shape_of(v)[static_cast<std::size_t>(each)]);
    v = self().layout_node(opcode::transpose, v, {{"perm", order, false}}, turned);
    return reshaped(v, numbers(along.shape));
  }

 private:
  Spelling& self() { return static_cast<Spelling&>(*this); }

  // Other axes of the same elements: often two, of which the first is a part of what it was, or those that others had,
  // as there are where elements are regrouped and back.
  void regroup(shape& rest, rearrangement const& what) {
    auto& choose = self().choose;
    auto const all = product_of(rest);
    if (auto const& seen = regrouped_[std::string(what.text)];
        product_of(seen) == all && !choose.one_in("elsewhere", 4)) {
      rest = seen;
      return;
    }
    regrouped_[std::string(what.text)] = rest;
    if (rest.empty() || choose.one_in("as it is", 8)) return;
    std::int64_t first = choose.one_in("any part", 8) ? all : rest[0];
    for (std::int64_t const divisor : {2, 3, 5})
      if (first % divisor == 0 && choose.one_in("a part", 2)) first /= divisor;
    if (first == 0) return;
    auto behind = rest;
    behind[0] = first;
    if (rest.size() > 1 && rest[0] % first == 0 && choose.one_in("an axis more", 3))
      behind.insert(behind.begin() + 1, rest[0] / first);
    else
      behind = {first, all / first};
    rest = behind;
  }

  [[nodiscard]] static plain_vector<polynomial> polynomials(shape const& of) {
    plain_vector<polynomial> made;
    for (auto each : of) made.push_back(polynomial(each));
    return made;
  }
  [[nodiscard]] static shape numbers(plain_vector<polynomial> const& of) {
    shape made;
    for (auto const& each : of) {
      std::int64_t number = 0;
      static_cast<void>(each.known(number));
      made.push_back(number);
    }
    return made;
  }
  [[nodiscard]] static std::int64_t product_of(shape const& of) {
    std::int64_t count = 1;
    for (auto each : of) count *= each;
    return count;
  }

  graph::value reshaped(graph::value v, shape const& to) {
    if (self().shape_of(v) == to && !self().choose.one_in("a Reshape for nothing", 6)) return v;
    return self().layout_node(opcode::reshape, v, {{"shape", to, false}}, to);
  }

  // Parts in reverse order: an axis of them, backwards or put together of slices, or indices of all elements.
  graph::value backwards(named_extents::way const& along, graph::value v) {
    auto const made = numbers(along.shape), wide = numbers(along.split);
    auto const axis = static_cast<std::int64_t>(*along.reversed);
    auto const count = wide[*along.reversed], size = made.back(), each = size / count;
    auto const how = self().choose.number("backwards", {0, 1, 2, 3});
    if (how == 0) {
      bool const apart = *along.reversed + 1 == wide.size();
      shape all;
      for (std::int64_t i = 0; i < size; ++i)
        all.push_back(apart ? i + count - 1 - 2 * (i % count) : i % each + (count - 1 - i / each) * each);
      return self().indexed(v, static_cast<std::int64_t>(made.size()) - 1, all, {size}, made);
    }
    v = reshaped(v, wide);
    if (how == 1) {
      shape all;
      for (auto i = count; i-- > 0;) all.push_back(i);
      v = self().indexed(v, axis, all, {count}, wide);
    } else if (how == 2) {
      std::int64_t const far = -1'000'000'000'000;
      v = self().layout_node(opcode::slice, v, {{"starts", {-1}}, {"ends", {far}}, {"axes", {axis}}, {"steps", {-1}}},
                             wide);
    } else {
      auto one = wide;
      one[*along.reversed] = 1;
      std::vector<graph::value> parts;
      for (auto i = count; i-- > 0;)
        parts.push_back(
            self().layout_node(opcode::slice, v, {{"starts", {i}}, {"ends", {i + 1}}, {"axes", {axis}}}, one));
      v = self().joined_along(axis, parts, wide);
    }
    return reshaped(v, made);
  }

  graph::value part(named_extents::way const& along, graph::value v) {
    auto const& pick = along.picks[0];
    auto const of = self().shape_of(v);
    bool const apart = pick.axis + 1 == along.split.size();
    auto const each = of.back() / pick.count;
    auto made = of;
    made.back() = each;
    auto const axis = static_cast<std::int64_t>(of.size()) - 1;
    switch (self().choose.number("cut", {0, 0, 1, 2, 3})) {
      case 1: {  // an axis for the parts, and one of its indices
        auto wide = numbers(along.split), gone = wide;
        auto const at = static_cast<std::ptrdiff_t>(pick.axis);
        gone.erase(gone.begin() + at);
        auto const split = reshaped(v, wide);
        return self().indexed(split, at, {pick.index}, {}, gone);
      }
      case 2: {
        shape all;
        for (std::int64_t i = 0; i < each; ++i)
          all.push_back(apart ? pick.index + i * pick.count : pick.index * each + i);
        return self().indexed(v, axis, all, {each}, made);
      }
      default: {
        auto const start = apart ? pick.index : pick.index * each;
        bool const last = apart || pick.index + 1 == pick.count;
        std::int64_t const far = 1'000'000'000'000;
        std::vector<listed> parameters{
            {"starts", {self().choose.one_in("from the end", 3) ? start - of.back() : start}},
            {"ends",
             {last && self().choose.one_in("beyond the end", 2) ? far
              : apart                                           ? of.back()
                                                                : start + each}},
            {"axes", {self().choose.one_in("from the last", 2) ? -1 : axis}}};
        if (apart || self().choose.one_in("a step", 2)) parameters.push_back({"steps", {apart ? pick.count : 1}});
        return self().layout_node(opcode::slice, v, parameters, made);
      }
    }
  }

  std::map<std::string, std::int64_t> extents_{};
  std::map<std::string, shape> regrouped_{};  // by notation
};

}  // namespace fuse::inline v0::detail
