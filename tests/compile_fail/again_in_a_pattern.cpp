// SPDX-License-Identifier: BSL-1.0
// expect: fold, row, dim, or_else, again and what is computed stand on the right side of a rule
// twin: again_in_a_pattern_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong =
    fuse::rule<"wrong">(relu(again<"m", "ConvInteger">(op<"Conv">(x, w).as<"m">(), w))).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
