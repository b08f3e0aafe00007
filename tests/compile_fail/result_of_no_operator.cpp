// SPDX-License-Identifier: BSL-1.0
// expect: stand around an operator; a name or a count of users stands around that
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: result_of_no_operator_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(relu(result<1>(op<"Split">(x).users(1)))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
