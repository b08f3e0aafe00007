// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/dsl/condition.hpp>

namespace fuse::inline v0::dsl {

namespace condition_detail {

template <fixed_string... Names>
constexpr condition make(std::string_view name, bool (*holds)(captured const*, condition const&), double number = 0) {
  condition made{};
  made.name = static_text::of(name);
  made.holds = holds;
  made.number = number;
  ((made.captures[made.count++] = fuse::detail::name_text<Names>), ...);
  return made;
}

// The same condition by another name, under which reports tell it.
constexpr condition named(std::string_view name, condition made) {
  made.name = static_text::of(name);
  return made;
}

inline bool trailing(captured const* c, condition const&) {
  // Bits 0 to k - 1 are the last k axes; a number is the first of them, counted from the last.
  return c[0].axes != 0 ? (c[0].axes & (c[0].axes + 1)) == 0 : c[0].number < 0;
}

// They are the last ones, and as many as x has from a stated one on.
inline bool from_one_on(captured const* c, condition const& first) {
  if (!c[0].bound) return true;
  auto const count = (c[1].values.empty() ? -1 : c[1].values[0].rank()) - static_cast<int>(first.number);
  if (count <= 0 || count >= 64) return false;
  return c[0].axes != 0 ? c[0].axes == (std::uint64_t{1} << count) - 1 : c[0].number == -count;
}

// Every member broadcasts into the last axes of x, and over nothing else.
inline bool along_last_axes(captured const* c, condition const&) {
  if (c[1].values.empty()) return true;
  auto const x = c[1].values[0];
  if (c[2].bound && (c[2].axes & (c[2].axes + 1)) != 0) return false;
  auto const axes = c[2].bound && c[2].axes != 0    ? std::popcount(c[2].axes)
                    : c[2].bound && c[2].number < 0 ? static_cast<int>(-c[2].number)
                                                    : 1;
  for (auto const& v : c[0].values) {
    double number = 0;
    if (v.uniform(number)) continue;  // that number everywhere, unless it enlarges x, which nothing may
    if (v.rank() < 0) return false;
    auto const shape = v.shape(), wanted = x.shape();
    if (x.rank() >= 0 && v.rank() > x.rank()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const from_end = shape.size() - i;
      if (shape[i] == extent(1)) continue;
      if (from_end > static_cast<std::size_t>(axes)) return false;
      if (x.rank() < 0) continue;
      if (from_end > wanted.size() || !(shape[i] == wanted[wanted.size() - from_end])) return false;
    }
  }
  return true;
}

// Every member repeats one row of x along an axis, or a number.
inline bool along_one_axis(captured const* c, condition const& by) {
  if (c[1].values.empty()) return true;
  auto const x = c[1].values[0];
  auto const rank = x.rank();
  auto const axis = by.number < 0 ? static_cast<int>(by.number) + rank : static_cast<int>(by.number);
  if (axis < 0 || axis >= rank) return false;
  for (auto const& v : c[0].values) {
    if (v.rank() < 0 || v.rank() > rank) return false;
    auto const shape = v.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const at = static_cast<std::size_t>(rank - v.rank()) + i;
      if (shape[i] == extent(1)) continue;
      if (at != static_cast<std::size_t>(axis) || !(shape[i] == x.shape()[at])) return false;
    }
  }
  return true;
}

inline bool same_type(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!c[1].values.empty() && (v.type() != c[1].values[0].type() || v.type() == element_type::unknown)) return false;
  return true;
}
inline bool same_shape(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!c[1].values.empty() && !v.same_shape(c[1].values[0])) return false;
  return true;
}
inline bool floating(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!is_floating(v.type())) return false;
  return true;
}
inline bool constant_value(captured const* c, condition const&) {
  for (auto const& v : c[0].values) {
    double number = 0;
    if (!v.is_constant() && !v.number(number)) return false;
  }
  return true;
}
inline bool broadcasts_along(captured const* c, condition const& by) {
  if (c[1].values.empty() || c[1].values[0].rank() < 0) return false;
  auto const rank = c[1].values[0].rank();
  auto const axis = static_cast<int>(by.number) + (by.number < 0 ? rank : 0);
  for (auto const& v : c[0].values) {
    if (v.rank() < 0) return false;
    auto const at = axis - rank + v.rank();
    if (at >= 0 && !(v.shape()[static_cast<std::size_t>(at)] == extent(1))) return false;
  }
  return true;
}
inline bool of_equal_parts(captured const* c, condition const& count) {
  bool const apart = count.number < 0;
  for (auto const& v : c[0].values)
    if (!v.has_equal_parts(static_cast<std::int64_t>(apart ? -count.number : count.number), apart)) return false;
  return true;
}
inline bool of_opposite_parts(captured const* c, condition const& count) {
  bool const apart = count.number < 0;
  for (auto const& v : c[0].values)
    if (!v.has_opposite_parts(static_cast<std::int64_t>(apart ? -count.number : count.number), apart)) return false;
  return true;
}
inline bool counts_as_far(captured const* c, condition const&) {
  if (c[1].values.empty()) return true;
  for (auto const& v : c[0].values)
    if (!v.counts() || !v.as_long_as(c[1].values[0])) return false;
  return true;
}
inline bool from_the_front(captured const* c, condition const&) {
  for (auto const& v : c[0].values) {
    double every = 0;
    std::vector<std::int64_t> listed;
    if (v.uniform(every) && every < 0) return false;
    if (v.integers(listed))
      for (auto const each : listed)
        if (each < 0) return false;
    auto const held = v.constant();
    for (std::size_t i = 0; held && i < held.size(); ++i)
      if (held.number(i) < 0) return false;
  }
  return true;
}
inline bool rank_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (v.rank() != static_cast<int>(wanted.number)) return false;
  return true;
}
inline bool type_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (static_cast<double>(v.type()) != wanted.number) return false;
  return true;
}
inline bool uniform_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (double number = 0; !v.uniform(number) || number != wanted.number) return false;
  return true;
}
inline bool used_only_for(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    for (auto const& other : c[1].values)
      if (!v.is_used_only_for(other)) return false;
  return true;
}
inline bool in_float32(captured const* c, condition const& least) {
  return detail::math::fits_float(c[0].number) && c[0].number >= least.number;
}

}  // namespace condition_detail

/// The axes that all reductions of the rule share are the last ones, without a gap: `trailing_axes<"axes">`. Of an axis
/// from which on a norm or a Flatten counts: that there is one.
template <fixed_string Axes>
inline constexpr condition trailing_axes = condition_detail::make<Axes>("the axes are trailing ones",
                                                                        &condition_detail::trailing);

/// They are all axes of `x` from that one on, counted from the first: `axes_from<"axes", "x">(2)`.
template <fixed_string Axes, fixed_string X>
[[nodiscard]] constexpr condition axes_from(int first) {
  return condition_detail::make<Axes, X>("all axes from that one on", &condition_detail::from_one_on, first);
}

/// `v` (or every member of a rest) broadcasts to the last axes of `x` without enlarging `x`, and along no other axis. A
/// constant that is one number everywhere does so whatever its shape: a rewrite keeps the shape. The axes are those
/// that `Axes` captured, or the last one where it captured none.
template <fixed_string V, fixed_string X, fixed_string Axes = "axes">
inline constexpr condition along_last_axes = condition_detail::make<V, X, Axes>("along the last axes alone",
                                                                                &condition_detail::along_last_axes);
/// The same of what scales or shifts a norm of `x`: it has one row of the axes that `x` is normalised over, or
/// broadcasts to it.
template <fixed_string Scale, fixed_string X, fixed_string Axes = "axes">
inline constexpr condition row_vector = condition_detail::named("one row over the normalised axes",
                                                                along_last_axes<Scale, X, Axes>);

/// `v` (or every member of a rest) broadcasts to `x` without enlarging it, and repeats along all axes but one, if it is
/// no number: `along_axis<"s", "x">(1)`. The axis counts from the first one, or from the last where it is negative.
template <fixed_string V, fixed_string X>
[[nodiscard]] constexpr condition along_axis(int axis) {
  return condition_detail::make<V, X>("along that axis alone", &condition_detail::along_one_axis, axis);
}

/// `v` has one element for all of an axis of `x`, or lacks the axis: `repeats_along<"cos", "x">(1)`. The axis counts
/// from the first one, or from the last where it is negative.
template <fixed_string V, fixed_string X>
[[nodiscard]] constexpr condition repeats_along(int axis) {
  return condition_detail::make<V, X>("one element along that axis", &condition_detail::broadcasts_along, axis);
}

template <fixed_string A, fixed_string B>
inline constexpr condition same_type = condition_detail::make<A, B>("the same element type",
                                                                    &condition_detail::same_type);
template <fixed_string A, fixed_string B>
inline constexpr condition same_shape = condition_detail::make<A, B>("the same shape", &condition_detail::same_shape);
template <fixed_string X>
inline constexpr condition floating = condition_detail::make<X>("a floating element type", &condition_detail::floating);
template <fixed_string X>
inline constexpr condition is_constant = condition_detail::make<X>("a constant", &condition_detail::constant_value);
/// All parts `part<"d", i, Count, Step>` of the value are the same, provably: its halves are one where it is
/// `Concat(f, f)`, computed element by element from such, or a constant that repeats: `equal_parts<"c", 2>`.
template <fixed_string V, int Count, int Step = 1>
inline constexpr condition equal_parts = [] {
  static_assert(Count > 1 && (Step == 1 || Step == Count),
                "fuse: equal_parts<\"v\", 2> are neighbours, equal_parts<\"v\", 2, 2> every second element");
  return condition_detail::make<V>("equal parts of the last axis", &condition_detail::of_equal_parts,
                                   Step == 1 ? Count : -Count);
}();
/// Each of these parts is the negative of the one before it, provably: the value is `Concat(-f, f)`, the product of
/// equal parts and signs, or a constant of such elements: `opposite_parts<"s", 2>`.
template <fixed_string V, int Count, int Step = 1>
inline constexpr condition opposite_parts = [] {
  static_assert(Count > 1 && (Step == 1 || Step == Count),
                "fuse: opposite_parts<\"v\", 2> are neighbours, opposite_parts<\"v\", 2, 2> every second element");
  return condition_detail::make<V>("opposite parts of the last axis", &condition_detail::of_opposite_parts,
                                   Step == 1 ? Count : -Count);
}();
/// `v` is positions along the last axis of `x`: each of its rows is 0, 1, 2, and so on, provably, and has as many
/// elements wherever a valid graph broadcasts the two: `counts_along<"positions", "ids">`.
template <fixed_string V, fixed_string X>
inline constexpr condition counts_along = condition_detail::make<V, X>("positions that count from 0",
                                                                       &condition_detail::counts_as_far);
/// `v` names rows from the front, for an operator that refuses others, where a Gather counts from the end: none is
/// known to be below 0. What only a run shows, the operator refuses then.
template <fixed_string V>
inline constexpr condition from_the_front = condition_detail::make<V>("rows that count from the front",
                                                                      &condition_detail::from_the_front);
/// `rank<"x">(3)`.
template <fixed_string X>
[[nodiscard]] constexpr condition rank(int wanted) {
  return condition_detail::make<X>("the rank", &condition_detail::rank_is, wanted);
}
/// `type<"x">(element_type::float32)`.
template <fixed_string X>
[[nodiscard]] constexpr condition type(element_type wanted) {
  return condition_detail::make<X>("the element type", &condition_detail::type_is, static_cast<double>(wanted));
}
/// What uses `v` does so for `x` alone: when that goes, so does `v`: `used_only_for<"layer", "x">`. A rule that
/// computes `v` anew, of other weights, would keep both else.
template <fixed_string V, fixed_string X>
inline constexpr condition used_only_for = condition_detail::make<V, X>("nothing else uses it",
                                                                        &condition_detail::used_only_for);
/// Every element is that number, by constants: `everywhere<"s">(1)`.
template <fixed_string V>
[[nodiscard]] constexpr condition everywhere(double number) {
  return condition_detail::make<V>("that number everywhere", &condition_detail::uniform_is, number);
}
/// A number of at least `least` that float32 can hold, as an attribute does: neither infinite nor 0 once it is rounded,
/// unless it was.
template <fixed_string Number>
[[nodiscard]] constexpr condition float32_number(double least = std::numeric_limits<double>::lowest()) {
  return condition_detail::make<Number>("a number that float32 can hold", &condition_detail::in_float32, least);
}
/// The same of an epsilon, which is not negative.
template <fixed_string Epsilon>
inline constexpr condition float32_epsilon = condition_detail::named("an epsilon that float32 can hold",
                                                                     float32_number<Epsilon>(0));

}  // namespace fuse::inline v0::dsl
