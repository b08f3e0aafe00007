// SPDX-License-Identifier: BSL-1.0
#pragma once

// Two sources of one program may be compiled for different machines. Code that a linker could take from either lies in
// an inline namespace that spells what the compiler was allowed to use, so that it never takes the wrong one.

#ifdef __SSSE3__
#define FUSE_REWRITE_ISA_1 _ssse3
#else
#define FUSE_REWRITE_ISA_1
#endif
#ifdef __SSE4_2__
#define FUSE_REWRITE_ISA_2 _sse4
#else
#define FUSE_REWRITE_ISA_2
#endif
#ifdef __AVX__
#define FUSE_REWRITE_ISA_3 _avx
#else
#define FUSE_REWRITE_ISA_3
#endif
#ifdef __AVX2__
#define FUSE_REWRITE_ISA_4 _avx2
#else
#define FUSE_REWRITE_ISA_4
#endif
#ifdef __FMA__
#define FUSE_REWRITE_ISA_5 _fma
#else
#define FUSE_REWRITE_ISA_5
#endif
#ifdef __BMI2__
#define FUSE_REWRITE_ISA_6 _bmi2
#else
#define FUSE_REWRITE_ISA_6
#endif
#ifdef __AVX512F__
#define FUSE_REWRITE_ISA_7 _avx512
#else
#define FUSE_REWRITE_ISA_7
#endif
#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define FUSE_REWRITE_ISA_8 _bw_dq_vl
#else
#define FUSE_REWRITE_ISA_8
#endif
#ifdef __AVX512BITALG__
#define FUSE_REWRITE_ISA_9 _bitalg
#else
#define FUSE_REWRITE_ISA_9
#endif
#ifdef __AVX512BF16__
#define FUSE_REWRITE_ISA_10 _bf16
#else
#define FUSE_REWRITE_ISA_10
#endif

#define FUSE_REWRITE_ISA_PASTE_(a, b, c, d, e, f, g, h, i, j) isa##a##b##c##d##e##f##g##h##i##j
#define FUSE_REWRITE_ISA_PASTE(a, b, c, d, e, f, g, h, i, j) FUSE_REWRITE_ISA_PASTE_(a, b, c, d, e, f, g, h, i, j)
#define FUSE_REWRITE_ISA                                                                                 \
  FUSE_REWRITE_ISA_PASTE(FUSE_REWRITE_ISA_1, FUSE_REWRITE_ISA_2, FUSE_REWRITE_ISA_3, FUSE_REWRITE_ISA_4, \
                         FUSE_REWRITE_ISA_5, FUSE_REWRITE_ISA_6, FUSE_REWRITE_ISA_7, FUSE_REWRITE_ISA_8, \
                         FUSE_REWRITE_ISA_9, FUSE_REWRITE_ISA_10)

// Highway 1.0.3 stops with an #error where the compiler may use all of AVX3_DL and nobody asked for that target.
#if defined(__AVX512BITALG__) && !defined(HWY_WANT_AVX3_DL)
#define HWY_WANT_AVX3_DL
#endif

// Where the host hides a processor's AVX-512, -march=native makes clang 18 and 19 refuse their own functions for it.
#if defined(__EVEX512__) && !defined(__AVX512F__) && !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS (HWY_AVX3 | (HWY_AVX3 - 1))
#endif

// Vectors of a length that nobody knows before the program runs are no members of anything: NEON's do there.
#if defined(__ARM_FEATURE_SVE) && !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Highway knows -march=x86-64-v3 for less than it is, as that has no AES, which no kernel needs.
#if defined(__SSE4_2__) && !(defined(__AES__) && defined(__PCLMUL__)) && !defined(HWY_DISABLE_PCLMUL_AES)
#define HWY_DISABLE_PCLMUL_AES
#endif
