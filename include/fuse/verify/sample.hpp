// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <string>

#include <fuse/eval/dense.hpp>
#include <fuse/graph/graph.hpp>

namespace fuse::inline v0::detail {

/// What is passed to a graph: the contents of its inputs, by their names.
using graph_feeds = std::map<std::string, dense>;

/// A graph and what is passed to it.
struct sample {
  fuse::graph graph;
  graph_feeds feeds{};
};

}  // namespace fuse::inline v0::detail
