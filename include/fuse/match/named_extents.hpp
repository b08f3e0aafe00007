// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/program/rearrangement.hpp>

namespace fuse::inline v0::detail {

/// What the names of a notation stand for, by the shapes on both sides of it, and what it does to a value then. Linear
/// in the factors, times the names.
class named_extents {
 public:
  explicit named_extents(rearrangement const& what) : what_(what) {}

  /// Whether two of one notation know the same.
  [[nodiscard]] bool same(named_extents const& other) const {
    bool equal = told_ == other.told_ && regrouped_.size() == other.regrouped_.size();
    for (std::size_t i = 0; equal && i < regrouped_.size(); ++i) equal = regrouped_[i] == other.regrouped_[i];
    for (std::uint8_t name = 0; equal && name < what_.name_count; ++name)
      equal = known_[name] == other.known_[name] && (!known_[name] || of_[name] == other.of_[name]);
    return equal;
  }
  void know(std::uint8_t name, polynomial const& extent) {
    of_[name] = extent;
    known_[name] = true;
  }
  [[nodiscard]] bool knows(std::uint8_t name) const { return known_[name]; }
  [[nodiscard]] polynomial const& of(std::uint8_t name) const { return of_[name]; }

  /// Learns from the shape of one side; false where that contradicts the notation, or what is known already.
  [[nodiscard]] bool learn(rearrangement::side const& side, span<polynomial const> shape) {
    bool const one = side.joined && !what_.regroups();
    auto const apart = one ? 1u : 0u;
    bool const any = side.rest != rearrangement::none && !one;
    if (any ? shape.size() < side.rank : shape.size() != side.rank + apart) return false;
    for (std::uint8_t axis = 0; axis < side.rank; ++axis)
      if (!learn(side, axis, shape[place(side, axis, shape.size())])) return false;
    return true;
  }
  /// Learns what both shapes leave open from how the right side lies in a left one of that shape: each digit of an axis
  /// there is of the names that stand at it, and each name of the axis that it has on the left. What is learnt may
  /// contradict the notation all the same.
  void learn(layout const& lies, span<polynomial const> left) {
    for (std::uint8_t axis = 0; axis < what_.right.rank; ++axis)
      learn_digits(lies, axis, static_cast<std::uint32_t>(place(what_.right, axis, lies.rank())), left);
  }
  [[nodiscard]] bool complete() const {
    for (std::uint8_t name = 0; name < what_.name_count; ++name)
      if (!known_[name]) return false;
    return true;
  }
  /// Whether axes of both sides that `...` stands for are the same.
  [[nodiscard]] bool same_rest(span<polynomial const> left, span<polynomial const> right) const {
    auto const count = left.size() - what_.left.rank;
    if (what_.regroups()) return true;  // whether the elements are the same, the layout tells
    if (what_.right.joined) {
      polynomial all;
      return joined_rest(left, all) && all == right[what_.right.rest];
    }
    if (count != right.size() - what_.right.rank) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!(left[what_.left.rest + i] == right[what_.right.rest + i])) return false;
    return true;
  }

  /// What has `(...)` on both sides can be laid once it is told the shape on the right.
  void regroup(span<polynomial const> right) {
    regrouped_.assign(right.subspan(what_.right.rest, right.size() - what_.right.rank));
    told_ = true;
  }
  [[nodiscard]] bool lacks_shape() const { return what_.regroups() && !told_; }

  /// The way from left to right: a reshape to `split`, on each of whose axes is one factor, an index of some of them
  /// that are gone then, one axis backwards, `repeats` in front, a permutation, and a reshape to `shape`. Where it
  /// `tiles`, whole axes are repeated: of shape `once`, and each as often as `times` says.
  struct way {
    struct pick {
      std::uint32_t axis;
      std::int64_t index, count;
    };
    plain_vector<polynomial> split, repeats, once, times, shape;
    plain_vector<pick> picks;  // the last axis first
    std::optional<std::uint32_t> reversed;
    std::vector<std::int64_t> order;
    bool tiles = true;
  };
  /// Of a value of that shape, when all is known; false where a product is too large.
  [[nodiscard]] bool find(span<polynomial const> from, way& into) const {
    into = {};
    if (lacks_shape()) return false;
    auto const& left = what_.left;
    auto const& right = what_.right;
    std::uint32_t axis_of[rearrangement::most_names]{}, axis_without_name = 0;
    auto const axis_of_factor = [&](rearrangement::factor const& f) -> std::uint32_t& {
      return f.name == rearrangement::none ? axis_without_name : axis_of[f.name];
    };
    auto const rest = from.size() - left.rank;
    std::uint32_t kept = 0, first_of_rest = 0;
    auto const add_rest = [&] {
      first_of_rest = kept;
      for (std::size_t i = 0; i < rest; ++i, ++kept) into.split.push_back(from[left.rest + i]);
    };
    std::size_t at = 0;
    for (std::uint8_t axis = 0; axis <= left.rank; ++axis) {
      if (axis == left.rest) add_rest();
      for (; at < left.count && left.all[at].axis == axis; ++at) {
        auto const& f = left.all[at];
        polynomial extent;
        if (!extent_of(f, extent)) return false;
        if (f.chosen != rearrangement::none)
          into.picks.push_back({static_cast<std::uint32_t>(into.split.size()), f.chosen, f.number});
        else
          axis_of_factor(f) = kept++;
        if (f.chosen == rearrangement::none && f.name == rearrangement::none) into.reversed = axis_without_name;
        into.split.push_back(extent);
      }
    }
    for (std::size_t i = 0, k = into.picks.size(); i + 1 < k; ++i) {
      auto const moved = into.picks[i];
      into.picks[i] = into.picks[--k];
      into.picks[k] = moved;
    }
    for (std::size_t i = 0; i < right.count; ++i) {
      auto const name = right.all[i].name;
      if (left.has(name)) continue;
      axis_of[name] = static_cast<std::uint32_t>(into.repeats.size());
      into.repeats.push_back(of_[name]);
    }
    auto const repeats = static_cast<std::int64_t>(into.repeats.size());
    at = 0;
    for (std::uint8_t axis = 0; axis <= right.rank; ++axis) {
      if (axis == right.rest)
        for (std::size_t i = 0; i < rest; ++i) {
          into.order.push_back(repeats + first_of_rest + static_cast<std::int64_t>(i));
          if (!right.joined) into.shape.push_back(from[left.rest + i]);
        }
      if (axis == right.rest && what_.regroups())
        into.shape.append(regrouped_);
      else if (axis == right.rest && right.joined && !joined_rest(from, into.shape.emplace_back()))
        return false;
      for (auto i = into.once.size(); i < into.shape.size(); ++i) {
        into.once.push_back(into.shape[i]);
        into.times.push_back(polynomial(1));
      }
      if (axis == right.rank) break;
      polynomial whole(1), once(1), times(1), extent;
      bool any_kept = false;
      for (; at < right.count && right.all[at].axis == axis; ++at) {
        auto const& f = right.all[at];
        bool const keeps = left.has(f.name);
        into.order.push_back((keeps ? repeats : 0) + axis_of_factor(f));
        if (!extent_of(f, extent) || !whole.multiply(extent) || !(keeps ? once : times).multiply(extent)) return false;
        any_kept = any_kept || keeps;
        into.tiles = into.tiles && (keeps || !any_kept);
      }
      into.shape.push_back(whole);
      into.once.push_back(once);
      into.times.push_back(times);
    }
    return true;
  }

  /// What it does to a value of that shape, as a layout.
  [[nodiscard]] bool lay(span<polynomial const> from, extent_algebra const& symbols, layout& into) const {
    return into.row_major(from) && rearrange(symbols, into);
  }
  /// What it makes of a value that lies like that itself.
  [[nodiscard]] bool rearrange(extent_algebra const& symbols, layout& into) const {
    way along;
    plain_vector<polynomial> from;
    from.assign(into.shape());
    if (!find(from, along) || !into.reshape(along.split)) return false;
    for (auto const& pick : along.picks) {
      if (!into.slice(pick.axis, polynomial(pick.index), polynomial(1), 1, symbols)) return false;
      into.drop(pick.axis);
    }
    if (along.reversed) {
      auto const length = into.shape()[*along.reversed];
      auto last = length;
      if (!last.add(polynomial(-1)) || !into.slice(*along.reversed, last, length, -1, symbols)) return false;
    }
    if (!along.repeats.empty()) into.add_axes(along.repeats);
    into.permute(along.order);
    return into.reshape(along.shape);
  }

 private:
  [[nodiscard]] static std::size_t place(rearrangement::side const& side, std::uint8_t axis, std::size_t rank) {
    return axis < side.rest ? axis : axis + rank - side.rank;
  }
  // What the axes make together that `...` stands for.
  [[nodiscard]] bool joined_rest(span<polynomial const> left, polynomial& into) const {
    into = polynomial(1);
    for (std::size_t i = 0; i < left.size() - what_.left.rank; ++i)
      if (!into.multiply(left[what_.left.rest + i])) return false;
    return true;
  }
  [[nodiscard]] bool extent_of(rearrangement::factor const& f, polynomial& into) const {
    if (f.name == rearrangement::none) return into = polynomial(f.number), true;
    return known_[f.name] && polynomial::divide(of_[f.name], polynomial(f.parts), into);
  }
  /// All factors of an axis but one tell that one.
  [[nodiscard]] bool learn(rearrangement::side const& side, std::uint8_t axis, polynomial const& whole) {
    rearrangement::factor const* open = nullptr;
    polynomial product(1), extent;
    for (std::size_t i = 0; i < side.count; ++i) {
      auto const& f = side.all[i];
      if (f.axis != axis) continue;
      if (extent_of(f, extent)) {
        if (!product.multiply(extent)) return false;
      } else {
        if (f.name == rearrangement::none || known_[f.name]) return false;
        if (open != nullptr) return true;  // another side may tell
        open = &f;
      }
    }
    if (open == nullptr) return product == whole;
    if (!polynomial::divide(whole, product, extent) || !extent.multiply(polynomial(open->parts))) return false;
    know(open->name, extent);
    return true;
  }

  // The names of an axis of the right side from the last to the first, each with its part of the digits.
  void learn_digits(layout const& lies, std::uint8_t axis, std::uint32_t there, span<polynomial const> left) {
    layout::digits digits;
    for (auto const& d : lies.all())
      if (d.axis == there) digits.push_back(d);
    for (auto i = what_.right.count; i-- > 0;) {
      auto const& f = what_.right.all[i];
      if (f.axis != axis) continue;
      if (f.name == rearrangement::none || f.parts != 1) return;
      polynomial taken(1);
      if (known_[f.name])
        taken = of_[f.name];
      else if (shares_digit(i) || (!digits.empty() && !part_of_name(digits.back(), f.name, left, taken)))
        return;
      if (!known_[f.name]) know(f.name, taken);
      while (!taken.is(1)) {
        if (digits.empty()) return;
        auto& last = digits.back();
        polynomial rest;
        if (polynomial::divide(taken, last.extent, rest)) {
          taken = rest;
          digits.pop_back();
        } else if (polynomial::divide(last.extent, taken, rest) && last.stride.multiply(taken)) {
          last.extent = rest;
          break;
        } else {
          return;
        }
      }
    }
  }
  // Whether the name before it on the right is as unknown, and lies before it on the left, too: where one ends and the
  // other begins nothing tells.
  [[nodiscard]] bool shares_digit(std::size_t at) const {
    auto const& right = what_.right.all;
    if (at == 0 || right[at - 1].axis != right[at].axis || right[at - 1].name == rearrangement::none) return false;
    auto const before = right[at - 1].name, name = right[at].name;
    if (known_[before]) return false;
    if (!what_.left.has(name)) return !what_.left.has(before);
    for (std::size_t i = 1; i < what_.left.count; ++i)
      if (what_.left.all[i].name == name)
        return what_.left.all[i - 1].name == before && what_.left.all[i - 1].axis == what_.left.all[i].axis;
    return false;
  }
  // How much of the digit a name has that it may be of: what lies in the axis that the name has on the left.
  [[nodiscard]] bool part_of_name(layout::digit const& d, std::uint8_t name, span<polynomial const> left,
                                  polynomial& into) const {
    into = polynomial(1);
    rearrangement::factor const* of = nullptr;
    for (std::size_t i = 0; i < what_.left.count; ++i)
      if (what_.left.all[i].name == name) of = &what_.left.all[i];
    if (d.stride.is(0) || of == nullptr) {
      if (d.stride.is(0) && of == nullptr) into = d.extent;
      return true;
    }
    polynomial reach(1), room;
    auto at = left.size();
    for (std::size_t axis = 0; axis < left.size(); ++axis) {  // the first whose indices are as far apart, or nearer
      reach = polynomial(1);
      for (auto k = axis + 1; k < left.size(); ++k)
        if (!reach.multiply(left[k])) return false;
      if (!polynomial::divide(d.stride, reach, room)) continue;
      at = axis;
      break;
    }
    if (at != place(what_.left, of->axis, left.size())) return true;
    if (!reach.multiply(left[at]) || !polynomial::divide(reach, d.stride, room)) return false;
    into = d.extent;
    polynomial ignored;
    if (polynomial::divide(room, d.extent, ignored)) return true;
    into = room;
    return polynomial::divide(d.extent, room, ignored);
  }

  rearrangement const& what_;
  polynomial of_[rearrangement::most_names];
  bool known_[rearrangement::most_names]{};
  plain_vector<polynomial> regrouped_;
  bool told_ = false;
};

}  // namespace fuse::inline v0::detail
