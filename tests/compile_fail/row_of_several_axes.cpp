// SPDX-License-Identifier: BSL-1.0
// expect: a rule captures several parameters: say which one is a row's axes
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: row_of_several_axes_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, scale = var<"scale">;
constexpr auto wrong = fuse::rule<"wrong">(op<"LeakyRelu">(mean(x) * scale).attr<"alpha">(param<"alpha">))
                           .replace(layer_norm(x, row(scale, x)).attr<"axis">(param<"axes">));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
