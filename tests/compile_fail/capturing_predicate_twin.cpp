// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

fuse::condition even() {
  return fuse::dsl::pred<"x">([](auto x) { return x.rank() == 2; });
}
