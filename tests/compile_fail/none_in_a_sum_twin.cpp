// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(op<"Gemm">(tanh(x), w, none)).replace(op<"MatMul">(relu(x), w));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
