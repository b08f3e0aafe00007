// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, scale = var<"scale">;
constexpr auto wrong = fuse::rule<"wrong">(op<"LeakyRelu">(mean(x) * scale).attr<"alpha">(param<"alpha">))
                           .replace(layer_norm(x, row(scale, x, param<"axes">)).attr<"axis">(param<"axes">));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
