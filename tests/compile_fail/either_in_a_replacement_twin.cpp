// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(relu(tanh(x))).replace(either(abs(tanh(x)), relu(x)));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
