// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The engine, compiled here. Most of the time that a source takes which matches or rewrites goes into the engine,
/// which is the same for every graph and every rule. A program that defines FUSE_REWRITE_SEPARATE everywhere compiles
/// it only where this header is included: in exactly one of its sources, or in none, which the linker then says.
#include <fuse/fuse.hpp>

namespace fuse::inline v0 {

template class basic_graph_image<graph_source>;
template class detail::basic_facts<graph_image>;
template struct detail::basic_filter_tables<program>;
template class detail::basic_machine<graph_image>;
template explanation detail::explain(detail::machine&, graph_image const&, detail::facts const&, dialect const&,
                                     node_id, detail::chosen_rules const*);
template struct detail::basic_compiled_rules<program>;
template void detail::rewrite(compiled_rules const&, graph_source&, graph_image&, bool, dialect const&,
                              rewrite_options const&, rewrite_report&);

}  // namespace fuse::inline v0
