// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto right = fuse::rule<"right">(relu(op<"Gelu">(var<"x">))).replace(var<"x">);
constexpr auto mine = fuse::rule_set<fuse::rules::norms, right>;
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<mine>(g); }
