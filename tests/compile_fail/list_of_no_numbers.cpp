// SPDX-License-Identifier: BSL-1.0
// expect: a list in a pattern has numbers for entries
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: list_of_no_numbers_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Transpose">(x).attr<"perm">(list(0, scalar<"s">)))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
