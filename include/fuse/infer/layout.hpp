// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/dimension.hpp>
#include <fuse/infer/polynomial.hpp>

namespace fuse::inline v0::detail {

/// Where each element of one tensor stands in another, the base: a map of mixed radix with symbolic extents, after
/// CuTe's layouts (Cecka, "CuTe Layout Representation and Algebra"). The index along an axis is read as digits, the
/// most significant first; a digit has an extent and a stride, how far a step of it goes in the base, whose elements
/// are numbered in row-major order. A stride of 0 repeats.
///
/// The form is normal: no digit has the extent 1, and none goes on where the one below it ends (neighbours that do are
/// one digit). Equal forms are equal maps, whatever the symbols stand for. Equal maps are equal forms where each extent
/// is above 1 and products were proven at every step; an operation that needs a product nobody has proven returns
/// false, `unproven` is the extent that it asked for, and nothing else of the layout means anything then.
/// Each operation is linear in the digits.
class layout {
 public:
  struct digit {
    using moves_as_bytes = void;
    std::uint32_t axis;
    polynomial extent, stride;
    [[nodiscard]] friend bool operator==(digit const& a, digit const& b) {
      return a.axis == b.axis && a.extent == b.extent && a.stride == b.stride;
    }
  };
  using digits = plain_vector<digit>;

  /// What a tensor of that shape is to itself.
  [[nodiscard]] bool row_major(span<polynomial const> shape);

  [[nodiscard]] std::size_t rank() const { return extents_.size(); }
  [[nodiscard]] span<polynomial const> shape() const { return extents_; }
  [[nodiscard]] span<digit const> all() const { return digits_; }
  [[nodiscard]] polynomial const& offset() const { return offset_; }
  [[nodiscard]] polynomial const& unproven() const { return unproven_; }
  [[nodiscard]] friend bool operator==(layout const& a, layout const& b) {
    if (a.rank() != b.rank() || !(a.offset_ == b.offset_) || a.digits_.size() != b.digits_.size()) return false;
    for (std::size_t i = 0; i < a.digits_.size(); ++i)
      if (!(a.digits_[i] == b.digits_[i])) return false;
    return true;
  }

  /// The same elements in the same order under another shape.
  [[nodiscard]] bool reshape(span<polynomial const> shape);
  /// Axis i is what axis order[i] was; each occurs once.
  void permute(span<std::int64_t const> order);
  /// Of an axis, `length` indices from `start` on, each `step` (not 0) after the one before. They lie in the axis.
  [[nodiscard]] bool slice(std::uint32_t axis, polynomial const& start, polynomial const& length, std::int64_t step,
                           extent_algebra const& symbols);
  /// An axis of extent 1 is gone.
  void drop(std::uint32_t axis);
  /// New axes in front, which all lead to the same.
  void add_axes(span<polynomial const> extents);
  /// An axis as a whole, so many times in a row.
  [[nodiscard]] bool tile(std::uint32_t axis, polynomial const& times);
  /// In the place of one axis, axes of that shape: element i of them, in row-major order, is index first + sum of
  /// (digit of i) * (stride) of it. The digits are of axis 0, and their extents make up the shape. Where the axis is
  /// not one digit, only a run of neighbours.
  [[nodiscard]] bool gather(std::uint32_t axis, polynomial const& first, digits const& picked,
                            span<polynomial const> shape, extent_algebra const& symbols);
  /// One after the other along an axis, all layouts of one base: where they are neighbours there, each as far from the
  /// one before as that is long, or all the same. False where they are not; that is no want of proof.
  [[nodiscard]] static bool concatenate(span<layout const* const> parts, std::uint32_t axis, layout& into);

 private:
  bool refuse(polynomial const& at) {
    unproven_ = at;
    return false;
  }
  static void normalise(digits& of);
  // The digits of an axis, as axis 0; and others in their place, on further axes from there on.
  [[nodiscard]] digits of_axis(std::uint32_t axis) const;
  void replace(std::uint32_t axis, digits const& by, span<polynomial const> shape);
  [[nodiscard]] bool regroup(digits flat, span<polynomial const> shape, digits& made);
  [[nodiscard]] bool cut(digits const& own, polynomial start, polynomial const& length, std::int64_t step,
                         extent_algebra const& symbols, digits& made);
  [[nodiscard]] bool cut_steps(digits const& own, polynomial const& start, polynomial const& length, std::int64_t step,
                               extent_algebra const& symbols, digits& made);
  [[nodiscard]] bool move(polynomial const& by, polynomial const& stride);
  [[nodiscard]] static bool tops(span<layout const* const> parts, std::uint32_t axis, digits const& below,
                                 digit const* top, layout& into);

  digits digits_;  // by axis, in each the most significant first
  plain_vector<polynomial> extents_;
  polynomial offset_, unproven_;
};

inline bool layout::row_major(span<polynomial const> shape) {
  extents_.assign(shape);
  digits_.clear();
  offset_ = polynomial();
  polynomial stride(1);
  for (auto axis = shape.size(); axis-- > 0;) {
    digits_.push_back({static_cast<std::uint32_t>(axis), shape[axis], stride});
    if (!stride.multiply(shape[axis])) return refuse(shape[axis]);
  }
  for (std::size_t i = 0, k = digits_.size(); i + 1 < k; ++i) {
    auto const kept = digits_[i];
    digits_[i] = digits_[--k];
    digits_[k] = kept;
  }
  normalise(digits_);
  return true;
}

inline void layout::normalise(digits& of) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    auto const& next = of[i];
    if (next.extent.is(1)) continue;
    if (kept != 0 && of[kept - 1].axis == next.axis) {
      auto& above = of[kept - 1];
      polynomial reach, both;
      if (polynomial::multiply(next.extent, next.stride, reach) && reach == above.stride &&
          polynomial::multiply(above.extent, next.extent, both)) {
        above.extent = both;
        above.stride = next.stride;
        continue;
      }
    }
    if (kept != i) of[kept] = next;
    ++kept;
  }
  while (of.size() > kept) of.pop_back();
}

inline layout::digits layout::of_axis(std::uint32_t axis) const {
  digits own;
  for (auto const& d : digits_)
    if (d.axis == axis) own.push_back({0, d.extent, d.stride});
  return own;
}

inline void layout::replace(std::uint32_t axis, digits const& by, span<polynomial const> shape) {
  digits made;
  bool done = false;
  auto const add = [&] {
    for (auto d : by) {
      d.axis += axis;
      made.push_back(d);
    }
    done = true;
  };
  for (auto d : digits_) {
    if (d.axis >= axis && !done) add();
    if (d.axis == axis) continue;
    if (d.axis > axis) d.axis += static_cast<std::uint32_t>(shape.size()) - 1;
    made.push_back(d);
  }
  if (!done) add();
  normalise(made);
  digits_.swap(made);
  plain_vector<polynomial> extents;
  extents.append(span<polynomial const>(extents_).first(axis));
  extents.append(shape);
  extents.append(span<polynomial const>(extents_).subspan(axis + 1));
  extents_.swap(extents);
}

/// Digits in one row are dealt to axes, from the last on; where an axis ends within a digit, that is parted.
inline bool layout::regroup(digits flat, span<polynomial const> shape, digits& made) {
  normalise(flat);
  made.clear();
  for (auto axis = shape.size(); axis-- > 0;) {
    polynomial wanted = shape[axis], left;
    while (!wanted.is(1)) {
      if (flat.empty()) return refuse(wanted);
      auto& last = flat.back();
      if (polynomial::divide(wanted, last.extent, left)) {
        made.push_back({static_cast<std::uint32_t>(axis), last.extent, last.stride});
        flat.pop_back();
        wanted = left;
      } else if (polynomial::divide(last.extent, wanted, left)) {
        made.push_back({static_cast<std::uint32_t>(axis), wanted, last.stride});
        last.extent = left;
        if (!last.stride.multiply(wanted)) return refuse(wanted);
        wanted = polynomial(1);
      } else {
        std::int64_t number = 0;
        return refuse(wanted.known(number) ? last.extent : wanted);
      }
    }
  }
  if (!flat.empty()) return refuse(flat.back().extent);
  for (std::size_t i = 0, k = made.size(); i + 1 < k; ++i) {
    auto const kept = made[i];
    made[i] = made[--k];
    made[k] = kept;
  }
  normalise(made);
  return true;
}

inline bool layout::reshape(span<polynomial const> shape) {
  digits made, flat = digits_;
  for (auto& d : flat) d.axis = 0;
  if (!regroup(flat, shape, made)) return false;
  digits_.swap(made);
  extents_.assign(shape);
  return true;
}

inline void layout::permute(span<std::int64_t const> order) {
  digits made;
  plain_vector<polynomial> extents;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    auto const from = static_cast<std::uint32_t>(order[axis]);
    extents.push_back(extents_[from]);
    for (auto d : digits_) {
      if (d.axis != from) continue;
      d.axis = static_cast<std::uint32_t>(axis);
      made.push_back(d);
    }
  }
  digits_.swap(made);
  extents_.swap(extents);
}

inline void layout::drop(std::uint32_t axis) { replace(axis, {}, {}); }

inline void layout::add_axes(span<polynomial const> extents) {
  digits made;
  for (std::size_t i = 0; i < extents.size(); ++i)
    made.push_back({static_cast<std::uint32_t>(i), extents[i], polynomial()});
  for (auto d : digits_) {
    d.axis += static_cast<std::uint32_t>(extents.size());
    made.push_back(d);
  }
  normalise(made);
  digits_.swap(made);
  plain_vector<polynomial> all;
  all.append(extents);
  all.append(extents_);
  extents_.swap(all);
}

inline bool layout::tile(std::uint32_t axis, polynomial const& times) {
  polynomial whole;
  if (!polynomial::multiply(extents_[axis], times, whole)) return refuse(times);
  digits made;
  made.push_back({0, times, polynomial()});
  made.append(of_axis(axis));
  replace(axis, made, {&whole, 1});
  return true;
}

inline bool layout::move(polynomial const& by, polynomial const& stride) {
  polynomial far;
  return (polynomial::multiply(by, stride, far) && offset_.add(far)) || refuse(by);
}

/// A slice of digits: within the last one, or of the first one in whole turns of those below it.
inline bool layout::cut(digits const& own, polynomial start, polynomial const& length, std::int64_t step,
                        extent_algebra const& symbols, digits& made) {
  made.clear();
  if (own.empty()) return (start.is(0) && length.is(1)) || refuse(length);
  if (step != 1 && own.size() > 1) return cut_steps(own, start, length, step, symbols, made);
  for (std::size_t i = 0; i < own.size(); ++i) {
    auto taken = own[i];
    if (i + 1 == own.size()) {
      if (!move(start, taken.stride)) return false;
      taken.extent = length;
      if (!taken.stride.multiply(polynomial(step))) return refuse(length);
      made.push_back(taken);
      break;
    }
    polynomial below(1), first, turns, room;
    for (auto k = i + 1; k < own.size(); ++k)
      if (!below.multiply(own[k].extent)) return refuse(own[k].extent);
    if (polynomial::divide(start, below, first) && polynomial::divide(length, below, turns)) {
      if (!move(first, taken.stride)) return false;
      taken.extent = turns;
      made.push_back(taken);
      made.append(span<digit const>(own).subspan(i + 1));
      break;
    }
    // Else it stays within one turn.
    std::int64_t at = 0, turn = 0;
    if (start.known(at) && below.known(turn) && at >= 0 && turn > 0) {
      if (!move(polynomial(at / turn), taken.stride)) return false;
      start = polynomial(at % turn);
    }
    room = below;
    if (!room.add(start, -1) || !room.add(length, -1) || symbols.least(room) < 0 || symbols.least(start) < 0)
      return refuse(length);
  }
  normalise(made);
  return true;
}

/// Every `step`-th index of several digits: what is left of the digits when an index below `step` is chosen.
inline bool layout::cut_steps(digits const& own, polynomial const& start, polynomial const& length, std::int64_t step,
                              extent_algebra const& symbols, digits& made) {
  std::int64_t at = 0;
  polynomial whole(1), reach;
  for (auto const& d : own)
    if (!whole.multiply(d.extent)) return refuse(d.extent);
  if (step < 0 || !start.known(at) || at < 0 || at >= step || !polynomial::multiply(length, polynomial(step), reach) ||
      !(reach == whole))
    return refuse(length);
  digits parted, upper, lower, chosen;
  polynomial const shape[] = {length, polynomial(step)};
  if (!regroup(own, shape, parted)) return false;
  for (auto d : parted) {
    auto const axis = d.axis;
    d.axis = 0;
    (axis == 0 ? upper : lower).push_back(d);
  }
  if (!cut(lower, start, polynomial(1), 1, symbols, chosen)) return false;
  made = upper;
  normalise(made);
  return true;
}

inline bool layout::slice(std::uint32_t axis, polynomial const& start, polynomial const& length, std::int64_t step,
                          extent_algebra const& symbols) {
  if (start.is(0) && step == 1 && length == extents_[axis]) return true;
  digits made;
  if (!cut(of_axis(axis), start, length, step, symbols, made)) return false;
  polynomial const shape[] = {length};
  replace(axis, made, shape);
  return true;
}

inline bool layout::gather(std::uint32_t axis, polynomial const& first, digits const& picked,
                           span<polynomial const> shape, extent_algebra const& symbols) {
  auto const own = of_axis(axis);
  digits flat, made;
  std::int64_t step = 0;
  if (own.size() == 1 || own.empty()) {
    // (What has one element is read at its only index.)
    polynomial const stride = own.empty() ? polynomial() : own[0].stride;
    if (!move(first, stride)) return false;
    for (auto d : picked) {
      if (!d.stride.multiply(stride)) return refuse(d.extent);
      flat.push_back(d);
    }
  } else if (picked.empty() || (picked.size() == 1 && picked[0].stride.known(step) && step != 0)) {
    auto const length = picked.empty() ? polynomial(1) : picked[0].extent;
    if (!cut(own, first, length, picked.empty() ? 1 : step, symbols, flat)) return false;
  } else {
    return refuse(picked[0].extent);
  }
  if (!regroup(flat, shape, made)) return false;
  replace(axis, made, shape);
  return true;
}

/// Each part as a run of what lies below: `below` alone, once, or with a first digit that `top` has the stride of.
/// Without `top` the first two parts tell it.
inline bool layout::tops(span<layout const* const> parts, std::uint32_t axis, digits const& below, digit const* top,
                         layout& into) {
  polynomial stride, total, next = parts[0]->offset_;
  if (top != nullptr) {
    stride = top->stride;
  } else {
    stride = parts[1]->offset_;
    if (!stride.add(parts[0]->offset_, -1)) return false;
  }
  for (auto const* part : parts) {
    auto const own = part->of_axis(axis);
    auto const above = own.size() - below.size();
    if (own.size() < below.size() || above > 1 || (above == 1 && !(own[0].stride == stride))) return false;
    for (std::size_t i = 0; i < below.size(); ++i)
      if (!(own[above + i] == below[i])) return false;
    auto const run = above == 1 ? own[0].extent : polynomial(1);
    polynomial far;
    if (!(part->offset_ == next) || !polynomial::multiply(run, stride, far) || !next.add(far) || !total.add(run))
      return false;
  }
  digits made;
  made.push_back({0, total, stride});
  made.append(below);
  polynomial whole = total;
  for (auto const& d : below)
    if (!whole.multiply(d.extent)) return false;
  into = *parts[0];
  into.replace(axis, made, {&whole, 1});
  return true;
}

inline bool layout::concatenate(span<layout const* const> parts, std::uint32_t axis, layout& into) {
  auto const& first = *parts[0];
  for (auto const* part : parts) {
    if (part->rank() != first.rank()) return false;
    std::size_t i = 0, k = 0;
    while (true) {  // but for that axis all are the same
      while (i < first.digits_.size() && first.digits_[i].axis == axis) ++i;
      while (k < part->digits_.size() && part->digits_[k].axis == axis) ++k;
      if (i == first.digits_.size() || k == part->digits_.size()) break;
      if (!(first.digits_[i++] == part->digits_[k++])) return false;
    }
    if (i != first.digits_.size() || k != part->digits_.size()) return false;
  }
  if (parts.size() == 1) return into = first, true;
  auto const own = first.of_axis(axis);
  digits below;
  if (!own.empty()) below.append(span<digit const>(own).subspan(1));
  return (!own.empty() && tops(parts, axis, below, &own[0], into)) || tops(parts, axis, own, nullptr, into);
}

}  // namespace fuse::inline v0::detail
