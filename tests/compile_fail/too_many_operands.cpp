// SPDX-License-Identifier: BSL-1.0
// expect: fuse: an operator in a rule takes at most 32 operands
// twin: too_many_operands_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

constexpr auto x = var<"x">;
constexpr auto many =
    op<"Max">(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x);
