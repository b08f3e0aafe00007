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

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
#endif
