// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Any Boost graph as a graph of fuse, by naming property maps. Includes none of Boost.Graph's graph types.
#include <fuse/adapters/boost_graph/graph.hpp>
#include <fuse/adapters/boost_graph/property.hpp>
#include <fuse/adapters/boost_graph/traits.hpp>
