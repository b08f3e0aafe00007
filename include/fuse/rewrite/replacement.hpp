// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0 {

/// What a rewrite is about to replace, and by what. The new nodes are in the image, and not yet in the graph.
template <class Image>
struct basic_replacement {
  Image const& image;
  detail::facts const& known;
  dialect const& names;
  span<value_id const> roots;    ///< what is replaced
  span<value_id const> results;  ///< what replaces each
  span<node_id const> matched;   ///< nodes that the rule's operators were found in
  node_id first_new;             ///< nodes from this one on are new
  span<node_id const> shared{};  ///< nodes that earlier rewrites made and that stand for new ones
};

}  // namespace fuse::inline v0
