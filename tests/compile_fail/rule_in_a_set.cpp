// SPDX-License-Identifier: BSL-1.0
// expect: a rule names an operator that the dialect does not know
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'G', 'a', 'm', 'm', 'a'>
// twin: rule_in_a_set_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Gamma">(var<"x">))).replace(var<"x">);
constexpr auto mine = fuse::rule_set<fuse::rules::norms, wrong>;
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<mine>(g); }
