// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include <fuse/draw/draw.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/partition/partition.hpp>

namespace fuse::inline v0 {

/// Fusion groups as groups for a drawing, each labelled by its kind: `fuse::draw(g, {.groups =
/// fuse::framed(fuse::partition(g))})`.
template <class G>
[[nodiscard]] std::vector<drawn_group<G>> framed(partitioned<G> const& of) {
  std::vector<drawn_group<G>> made;
  made.reserve(of.groups.size());
  for (auto const& group : of.groups) made.push_back({std::string(name_of(group.kind)), group.nodes});
  return made;
}

}  // namespace fuse::inline v0
