// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <limits>

#include <fuse/core/math.hpp>
#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/identities.hpp>

/// Bounds of a value one after the other are one Clip.
namespace fuse::inline v0::rules {
namespace formula {

/// A value that is raised to a least number, and what comes of that is lowered to a largest one. Where the least one is
/// larger, it is the largest everywhere.
struct bounded {
  expression value, least, most;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A Relu is a maximum with 0.
template <fixed_string Least>
[[nodiscard]] constexpr bounded raised(expression const& of) {
  expression const least = dsl::scalar<Least>;
  return {dsl::either(dsl::relu(of), dsl::maximum(of, least)), dsl::or_else(least, 0.0), infinity};
}
template <fixed_string Most>
[[nodiscard]] constexpr bounded lowered(expression const& of) {
  expression const most = dsl::scalar<Most>;
  return {dsl::minimum(of, most), -infinity, most};
}
template <fixed_string Least, fixed_string Most>
[[nodiscard]] constexpr bounded clipped(expression const& of) {
  expression const least = dsl::param<Least>, most = dsl::param<Most>;
  return {dsl::clip(of).attr<"min">(least).attr<"max">(most), dsl::minimum(least, most), most};
}

/// What a number becomes between bounds.
[[nodiscard]] constexpr expression between(expression const& number, bounded const& by) {
  return dsl::minimum(dsl::maximum(number, by.least), by.most);
}
/// `outer` of `inner`, which is a value between the bounds of `inner`, as they are between those of `outer`.
[[nodiscard]] constexpr rewrite_rule in_one(rule_name name, bounded const& inner, bounded const& outer) {
  return name(outer.value)
      .replace(dsl::clip(kept).attr<"min">(between(inner.least, outer)).attr<"max">(between(inner.most, outer)))
      .stage(6);
}

/// The bounds that a Clip lacks are the least and the largest finite number of its type: a Clip takes them of an
/// infinite one. So the other operator has to bound on that side.
[[nodiscard]] inline bool is_bound(value_view of) {
  double number = 0;
  return of.number(number) && detail::math::is_finite(number);
}
template <fixed_string Bound>
inline constexpr condition is_there = [] {
  constexpr condition made = dsl::pred<Bound>([](auto bound) { return is_bound(bound); });
  return made;
}();
inline constexpr auto one_is_there =
    dsl::pred<"least", "next least">([](auto a, auto b) { return is_bound(a) || is_bound(b); });
inline constexpr auto one_is_there_above =
    dsl::pred<"most", "next most">([](auto a, auto b) { return is_bound(a) || is_bound(b); });

inline constexpr auto raised_x = raised<"least">(kept), lowered_x = lowered<"most">(kept);
inline constexpr auto clipped_x = clipped<"least", "most">(kept);

}  // namespace formula

inline constexpr auto minimum_of_maximum = formula::in_one(rule<"minimum-of-maximum">, formula::raised_x,
                                                           formula::lowered<"most">(formula::raised_x.value.users(1)))
                                               .summary("a minimum of a maximum or of a Relu is a Clip");
inline constexpr auto maximum_of_minimum = formula::in_one(rule<"maximum-of-minimum">, formula::lowered_x,
                                                           formula::raised<"least">(formula::lowered_x.value.users(1)))
                                               .summary("a maximum or a Relu of a minimum is a Clip");

inline constexpr auto maximum_of_clip =
    formula::in_one(rule<"maximum-of-clip">, formula::clipped_x,
                    formula::raised<"next least">(formula::clipped_x.value.users(1)))
        .where<"there is a bound on either side">(formula::is_there<"most">)
        .where<"the least number is none that is infinite">(formula::is_there<"next least">)
        .summary("a maximum or a Relu of a Clip is a Clip");
inline constexpr auto minimum_of_clip =
    formula::in_one(rule<"minimum-of-clip">, formula::clipped_x,
                    formula::lowered<"next most">(formula::clipped_x.value.users(1)))
        .where<"there is a bound on either side">(formula::is_there<"least">)
        .where<"the largest number is none that is infinite">(formula::is_there<"next most">)
        .summary("a minimum of a Clip is a Clip");

inline constexpr auto clip_of_maximum =
    formula::in_one(rule<"clip-of-maximum">, formula::raised_x,
                    formula::clipped<"next least", "next most">(formula::raised_x.value.users(1)))
        .where<"there is a bound on either side">(formula::is_there<"next most">)
        .where<"the least number is none that is infinite">(formula::is_there<"least">)
        .summary("a Clip of a maximum or of a Relu is a Clip");
inline constexpr auto clip_of_minimum =
    formula::in_one(rule<"clip-of-minimum">, formula::lowered_x,
                    formula::clipped<"next least", "next most">(formula::lowered_x.value.users(1)))
        .where<"there is a bound on either side">(formula::is_there<"next least">)
        .where<"the largest number is none that is infinite">(formula::is_there<"most">)
        .summary("a Clip of a minimum is a Clip");

inline constexpr auto clip_of_clip =
    formula::in_one(rule<"clip-of-clip">, formula::clipped_x,
                    formula::clipped<"next least", "next most">(formula::clipped_x.value.users(1)))
        .where<"one has a least number">(formula::one_is_there)
        .where<"one has a largest number">(formula::one_is_there_above)
        .summary("a Clip of a Clip is a Clip");

/// Bounds one after the other.
inline constexpr auto clipping = rule_set<minimum_of_maximum, maximum_of_minimum, maximum_of_clip, minimum_of_clip,
                                          clip_of_maximum, clip_of_minimum, clip_of_clip>;

}  // namespace fuse::inline v0::rules
