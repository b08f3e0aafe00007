// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/fixed_string.hpp>
#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// One of `Count` equal parts of the last axis of `inside`, number `Index` from 0 on: neighbours, or (`Step` = `Count`)
/// every `Count`-th element: `part<"d", 0, 2>(x)` is the first half of x, `part<"d", 1, 2, 2>(x)` the elements with odd
/// indices. `Name` is the extent of the axis, as `rearrange` has such names. A pattern matches it however it is cut:
/// Slice, Split, Gather, Reshape.
template <fixed_string Name, int Index, int Count, int Step = 1>
struct parting {
  static_assert(Count > 1 && Count <= 64 && Index >= 0 && Index < Count,
                "fuse: part<\"d\", 0, 2> is one of 2 to 64 parts, counted from 0");
  static_assert(Step == 1 || Step == Count,
                "fuse: the elements of a part are neighbours, or as far from each other as there are parts");

  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    expression made(term_kind::rearranged, opcode::opaque, detail::name_text<Name>, inside);
    auto& t = made.terms[made.root()];
    t.index = Step == 1 ? 1 : 2;
    t.number = Index;
    t.tolerance = Count;
    return made;
  }
};
template <fixed_string Name, int Index, int Count, int Step = 1>
inline constexpr parting<Name, Index, Count, Step> part{};

/// The parts that `part` tells of, in reverse order, each in the place of another: `reversed_parts<"d", 2>(x)` is x
/// with its halves exchanged, `reversed_parts<"d", 2, 2>(x)` with the neighbours of each pair. A pattern matches it
/// however elements are moved: parts and a Concat, Gather of constant indices, a Slice backwards along an axis of the
/// parts.
template <fixed_string Name, int Count, int Step = 1>
struct reversing {
  static_assert(Count > 1 && Count <= 64, "fuse: reversed_parts<\"d\", 2> are 2 to 64 parts");
  static_assert(Step == 1 || Step == Count,
                "fuse: the elements of a part are neighbours, or as far from each other as there are parts");

  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    auto made = parting<Name, 0, Count, Step>()(inside);
    made.terms[made.root()].number = every_part;
    return made;
  }
};
template <fixed_string Name, int Count, int Step = 1>
inline constexpr reversing<Name, Count, Step> reversed_parts{};

}  // namespace fuse::inline v0::dsl
