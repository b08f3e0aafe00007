// SPDX-License-Identifier: BSL-1.0
// expect: is one of 2 to 64 parts, counted from 0
// twin: part_of_too_many_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(part<"d", 2, 2>(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
