// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

constexpr auto x = var<"x">;
constexpr auto many =
    op<"Max">(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x);
