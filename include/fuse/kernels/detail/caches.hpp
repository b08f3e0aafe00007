// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>

#include <cstddef>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__linux__)
#include <cstdio>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// The bytes of a processor's caches for data that one core uses. What nobody tells is this; of the third, 0 is none
/// that is known.
struct cache_sizes {
  std::size_t first = std::size_t{32} << 10, second = std::size_t{1} << 20, third = 0;
};

#if defined(__x86_64__) || defined(__i386__)
/// Of the cache of a level, 0 where the processor does not tell: Intel's leaf of caches, then AMD's. (Linux and sysconf
/// may give what all third caches of an AMD processor have together.)
inline std::size_t told_cache_bytes(unsigned level) {
  unsigned const leaves[] = {4, 0x8000001d};
  for (unsigned const leaf : leaves) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    for (unsigned cache = 0; cache < 8; ++cache) {
      if (__get_cpuid_count(leaf, cache, &eax, &ebx, &ecx, &edx) == 0 || (eax & 31) == 0) break;
      bool const holds_data = (eax & 31) != 2;
      if (!holds_data || (eax >> 5 & 7) != level) continue;
      std::size_t const ways = (ebx >> 22) + 1, partitions = (ebx >> 12 & 0x3ff) + 1, line = (ebx & 0xfff) + 1;
      return ways * partitions * line * (std::size_t{ecx} + 1);
    }
  }
  return 0;
}
#elif defined(__linux__)
/// Reads what `format` says from a file that describes a cache of the first core.
template <class T>
bool read_cache_file(unsigned cache, char const* name, char const* format, T* to) {
  char path[80];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", cache, name);
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return false;
  bool const is_read = std::fscanf(file, format, to) == 1;
  std::fclose(file);
  return is_read;
}
/// Of the cache of a level, 0 where Linux does not tell.
inline std::size_t told_cache_bytes(unsigned level) {
  unsigned found = 0;
  unsigned long kilobytes = 0;
  char type = 0;
  for (unsigned cache = 0; read_cache_file(cache, "level", "%u", &found); ++cache) {
    bool const holds_data = read_cache_file(cache, "type", "%c", &type) && type != 'I';  // Data, Instruction, Unified
    if (found == level && holds_data && read_cache_file(cache, "size", "%luK", &kilobytes)) return kilobytes << 10;
  }
  return 0;
}
#else
inline std::size_t told_cache_bytes(unsigned) { return 0; }
#endif

[[gnu::cold, gnu::noinline]] inline cache_sizes told_caches() {
  cache_sizes known;
  if (std::size_t const told = told_cache_bytes(1)) known.first = told;
  if (std::size_t const told = told_cache_bytes(2)) known.second = told;
  if (std::size_t const told = told_cache_bytes(3)) known.third = told;
  return known;
}

/// Those of this processor, which is asked once.
inline cache_sizes const& this_processor() {
  static cache_sizes const sizes = told_caches();
  return sizes;
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
