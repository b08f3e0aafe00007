// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/dsl/dsl.hpp>

/// What rules of heads whose pairs of elements are turned are put together from.
namespace fuse::inline v0::rules::formula {

/// Which elements of a head are a pair: one of the first half with one of the second, or neighbours.
enum class pairs : std::uint8_t { of_halves, of_neighbours };

[[nodiscard]] constexpr expression first(pairs are, expression const& of) {
  return are == pairs::of_halves ? dsl::part<"d", 0, 2>(of) : dsl::part<"d", 0, 2, 2>(of);
}
[[nodiscard]] constexpr expression second(pairs are, expression const& of) {
  return are == pairs::of_halves ? dsl::part<"d", 1, 2>(of) : dsl::part<"d", 1, 2, 2>(of);
}
[[nodiscard]] constexpr expression joined(pairs are, expression const& a, expression const& b) {
  using namespace dsl;
  if (are == pairs::of_halves) return concat(a, b).attr<"axis">(-1);
  auto const each = rearrange<"... p -> ... p 1">;
  return rearrange<"... p t -> ... (p t)">(concat(each(a), each(b)).attr<"axis">(-1));
}
[[nodiscard]] constexpr expression exchanged(pairs are, expression const& of) {
  return are == pairs::of_halves ? dsl::reversed_parts<"d", 2>(of) : dsl::reversed_parts<"d", 2, 2>(of);
}
/// By 90 degrees: the first element of each pair becomes the negative of the second, and the second the first. What is
/// turned occurs more than once: it is `of`, which may be spelled out, and else `again`, a name for the same.
[[nodiscard]] constexpr expression quarter_turn(pairs are, expression const& of, expression const& again) {
  return joined(are, dsl::either(-second(are, again), second(are, -again)), first(are, of));
}
/// By as much the other way.
[[nodiscard]] constexpr expression quarter_turn_back(pairs are, expression const& of, expression const& again) {
  return joined(are, second(are, of), dsl::either(-first(are, again), first(are, -again)));
}

}  // namespace fuse::inline v0::rules::formula
