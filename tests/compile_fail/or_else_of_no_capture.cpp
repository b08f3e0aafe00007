// SPDX-License-Identifier: BSL-1.0
// expect: or_else begins with a capture, which may be absent
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: or_else_of_no_capture_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(x + y)).replace(or_else(tanh(x), y));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
