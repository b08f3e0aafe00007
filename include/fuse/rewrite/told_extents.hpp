// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <fuse/core/span.hpp>
#include <fuse/infer/polynomial.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/program/rearrangement.hpp>

namespace fuse::inline v0::detail {

/// Learns from the shape of what a right side rearranges. Why that does not tell all extents of the notation; empty
/// where it does.
[[nodiscard]] inline std::string learn_all(rearrangement const& what, span<polynomial const> from,
                                           named_extents& names) {
  if (!names.learn(what.left, from) || !names.learn(what.left, from))
    return "a value has another shape than " + text_of(what) + " takes";
  for (std::uint8_t name = 0; name < what.name_count; ++name)
    if (!names.knows(name))
      return "nothing tells the extent '" + std::string(what.names[name]) + "' of " + text_of(what);
  return names.lacks_shape() ? "nothing tells the shape on the right of " + text_of(what) : std::string();
}

}  // namespace fuse::inline v0::detail
