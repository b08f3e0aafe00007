// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

namespace {
constexpr auto tidy = fuse::rule<"tidy">(fuse::dsl::relu(fuse::dsl::var<"x">)).replace(fuse::dsl::var<"x">);
}  // namespace

fuse::graph::value use(fuse::graph const& g) { return fuse::match_all<tidy>(g)[0].get<"x">(); }
