// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The engine, compiled here. Most of the time that a source with a rewrite in it takes goes into the engine, which is
/// the same for every graph and every rule. A program that defines FUSE_REWRITE_SEPARATE everywhere compiles it only
/// where this header is included: in exactly one of its sources, or in none, which the linker then says.
#include <fuse/fuse.hpp>

namespace fuse::inline v0 {

template void detail::rewrite(program const&, graph_source&, graph_image&, bool, dialect const&, rewrite_options const&,
                              rewrite_report&);

}  // namespace fuse::inline v0
