// SPDX-License-Identifier: BSL-1.0
// expect: fuse: a rule set holds rules and rule sets
// expect: number
// twin: set_of_something_else_twin.cpp
#include <fuse/fuse.hpp>

namespace {
constexpr int number = 3;
constexpr auto mine = fuse::rule_set<fuse::rules::norms, number>;
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<mine>(g); }
