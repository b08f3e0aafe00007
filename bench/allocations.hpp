// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

/// Counts what `new` gives out in the whole program. Include it in one source file.
namespace bench {

inline std::size_t allocations = 0, bytes_held = 0;

}  // namespace bench

void* operator new(std::size_t size) {
  void* const made = std::malloc(size);
  if (made == nullptr) std::abort();
  ++bench::allocations;
  bench::bytes_held += malloc_usable_size(made);
  return made;
}
void operator delete(void* at) noexcept {
  if (at != nullptr) bench::bytes_held -= malloc_usable_size(at);
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
