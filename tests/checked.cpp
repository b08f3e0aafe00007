// SPDX-License-Identifier: BSL-1.0
#include <fuse/rewrite/check.hpp>

// Once for all sources of a program whose rewrites are checked wherever nothing else is said.
template fuse::check_result fuse::check_by_evaluation(fuse::replacement const&);
