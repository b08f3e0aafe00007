// SPDX-License-Identifier: BSL-1.0
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
constexpr auto wrong = fuse::rule<"wrong">(chain<100>(x)).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
