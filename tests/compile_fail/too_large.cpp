// SPDX-License-Identifier: BSL-1.0
// expect: a rule has at most 128 distinct terms
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: too_large_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
template <int N>
constexpr fuse::expression chain(fuse::expression const& end) {
  if constexpr (N == 0)
    return end;
  else
    return relu(chain<N - 1>(end));
}
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(chain<128>(x)).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
