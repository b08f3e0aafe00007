// SPDX-License-Identifier: BSL-1.0
// expect: fuse: the lambda of a predicate captures nothing
// twin: capturing_predicate_twin.cpp
#include <fuse/fuse.hpp>

fuse::condition even(int head) {
  return fuse::dsl::pred<"x">([head](auto x) { return x.rank() == head; });
}
