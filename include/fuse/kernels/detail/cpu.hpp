// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>

#include <cstddef>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// What this processor and its operating system offer, as Highway groups it; a level includes those before it.
enum class x86_level { baseline, ssse3, sse4, avx2, avx3, avx3_dl, avx3_zen4, avx3_spr };

// The compiler's own query knows what the operating system saves, not every name: the rest is read from cpuid.
inline x86_level detect_x86_level() {
  __builtin_cpu_init();
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0, top = 0;
  auto const has = [](unsigned word, unsigned bits) { return (word & bits) == bits; };
  __get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx);
  bool const lzcnt = has(ecx, 1u << 5);
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  bool const f16c = has(ecx, 1u << 29), aes_pclmul = has(ecx, (1u << 25) | (1u << 1));
  unsigned leaf7_ecx = 0, leaf7_edx = 0, leaf71_eax = 0;
  if (__get_cpuid_count(7, 0, &top, &ebx, &leaf7_ecx, &leaf7_edx) != 0 && top >= 1) {
    __get_cpuid_count(7, 1, &leaf71_eax, &ebx, &ecx, &edx);
  }

  if (!__builtin_cpu_supports("ssse3")) return x86_level::baseline;
  if (!__builtin_cpu_supports("sse4.2") || !aes_pclmul) return x86_level::ssse3;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !lzcnt || !f16c) {
    return x86_level::sse4;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd")) {
    return x86_level::avx2;
  }
  // VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ.
  if (!has(leaf7_ecx, 0x5f42u)) return x86_level::avx3;
  if (!has(leaf71_eax, 1u << 5)) return x86_level::avx3_dl;    // BF16
  if (!has(leaf7_edx, 1u << 23)) return x86_level::avx3_zen4;  // FP16
  return x86_level::avx3_spr;
}

/// The bytes of the cache of this level that holds data and that this core uses, 0 where the processor does not tell:
/// Intel's caches, then AMD's. (sysconf gives what all third caches of an AMD processor have together.)
inline std::size_t cache_bytes(unsigned level) {
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

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// The bytes of the first cache, for data; 32 KiB where the processor does not tell.
inline std::size_t first_cache_bytes() {
  constexpr std::size_t otherwise = std::size_t{32} << 10;
#if defined(__x86_64__) || defined(__i386__)
  static std::size_t const bytes = cache_bytes(1);
  return bytes != 0 ? bytes : otherwise;
#else
  return otherwise;
#endif
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
