// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/build_targets.hpp>

#include <fuse/kernels/detail/cpu.hpp>

#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#if HWY_ARCH_X86
#if FUSE_REWRITE_KERNELS_MASK & HWY_AVX3_SPR
#define FUSE_REWRITE_KERNELS_AVX3_SPR(name) , N_AVX3_SPR::name
#else
#define FUSE_REWRITE_KERNELS_AVX3_SPR(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_AVX3_ZEN4
#define FUSE_REWRITE_KERNELS_AVX3_ZEN4(name) , N_AVX3_ZEN4::name
#else
#define FUSE_REWRITE_KERNELS_AVX3_ZEN4(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_AVX3_DL
#define FUSE_REWRITE_KERNELS_AVX3_DL(name) , N_AVX3_DL::name
#else
#define FUSE_REWRITE_KERNELS_AVX3_DL(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_AVX3
#define FUSE_REWRITE_KERNELS_AVX3(name) , N_AVX3::name
#else
#define FUSE_REWRITE_KERNELS_AVX3(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_AVX2
#define FUSE_REWRITE_KERNELS_AVX2(name) , N_AVX2::name
#else
#define FUSE_REWRITE_KERNELS_AVX2(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_SSE4
#define FUSE_REWRITE_KERNELS_SSE4(name) , N_SSE4::name
#else
#define FUSE_REWRITE_KERNELS_SSE4(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_SSSE3
#define FUSE_REWRITE_KERNELS_SSSE3(name) , N_SSSE3::name
#else
#define FUSE_REWRITE_KERNELS_SSSE3(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_SSE2
#define FUSE_REWRITE_KERNELS_SSE2(name) , N_SSE2::name
#else
#define FUSE_REWRITE_KERNELS_SSE2(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_EMU128
#define FUSE_REWRITE_KERNELS_EMU128(name) , N_EMU128::name
#else
#define FUSE_REWRITE_KERNELS_EMU128(name)
#endif
#if FUSE_REWRITE_KERNELS_MASK & HWY_SCALAR
#define FUSE_REWRITE_KERNELS_SCALAR(name) , N_SCALAR::name
#else
#define FUSE_REWRITE_KERNELS_SCALAR(name)
#endif
/// The class `name` of each target's namespace, inside the namespace where it stands. Best first.
#define FUSE_REWRITE_KERNELS_TARGETS(name)                                                                     \
  ::fuse::kernels::target_list_of<void FUSE_REWRITE_KERNELS_AVX3_SPR(name) FUSE_REWRITE_KERNELS_AVX3_ZEN4(     \
      name) FUSE_REWRITE_KERNELS_AVX3_DL(name) FUSE_REWRITE_KERNELS_AVX3(name) FUSE_REWRITE_KERNELS_AVX2(name) \
                                      FUSE_REWRITE_KERNELS_SSE4(name) FUSE_REWRITE_KERNELS_SSSE3(name)         \
                                          FUSE_REWRITE_KERNELS_SSE2(name) FUSE_REWRITE_KERNELS_EMU128(name)    \
                                              FUSE_REWRITE_KERNELS_SCALAR(name)>::type
#else
#define FUSE_REWRITE_KERNELS_TARGETS(name) ::fuse::kernels::target_list_of<void, HWY_STATIC_DISPATCH(name)>::type
#endif

namespace fuse::inline v0::kernels {

template <class... Kernels>
struct target_list {};

template <class, class... Kernels>
struct target_list_of {
  using type = target_list<Kernels...>;
};

}  // namespace fuse::inline v0::kernels

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

using build_targets = FUSE_REWRITE_KERNELS_TARGETS(target_id);

#if HWY_ARCH_X86
constexpr x86_level level_of(std::int64_t target) {
  switch (target) {
#ifdef HWY_AVX3_SPR
    case HWY_AVX3_SPR: return x86_level::avx3_spr;
#endif
#ifdef HWY_AVX3_ZEN4
    case HWY_AVX3_ZEN4: return x86_level::avx3_zen4;
#endif
    case HWY_AVX3_DL: return x86_level::avx3_dl;
    case HWY_AVX3: return x86_level::avx3;
    case HWY_AVX2: return x86_level::avx2;
    case HWY_SSE4: return x86_level::sse4;
    case HWY_SSSE3: return x86_level::ssse3;
    default: return x86_level::baseline;
  }
}
#endif

/// Which of the targets runs.
template <class Targets>
struct selection;

template <class... Ids>
struct selection<target_list<Ids...>> {
  static constexpr std::size_t count = sizeof...(Ids);
  static constexpr std::array<std::int64_t, count> ids{Ids::value...};

  /// What this machine runs, best first.
  static std::span<std::string_view const> names() {
    static std::array<std::string_view, count> const all{hwy::TargetName(Ids::value)...};
    return std::span(all).subspan(best());
  }

  static std::string_view name() { return names()[current() - best()]; }

  static target_vectors vectors() {
    static constexpr target_vectors all[]{Ids::vectors...};
    return all[current()];
  }

  static bool use(std::string_view name) {
    auto const offered = names();
    for (std::size_t i = 0; i < offered.size(); ++i) {
      if (offered[i] != name) continue;
      chosen.store(best() + i, std::memory_order_relaxed);
      return true;
    }
    return false;
  }

  static std::size_t current() {
    if constexpr (count == 1) return 0;
    std::size_t const index = chosen.load(std::memory_order_relaxed);
    if (index != count) [[likely]] {
      return index;
    }
    std::size_t const found = best();
    chosen.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  // The compiler's own target is the last that is tried: whatever runs the program runs that.
  static std::size_t best() {
    std::size_t i = 0;
#if HWY_ARCH_X86
    static x86_level const machine = detect_x86_level();
    while (i + 1 < count && ids[i] != HWY_STATIC_TARGET && level_of(ids[i]) > machine) ++i;
#endif
    return i;
  }

  static inline std::atomic<std::size_t> chosen{count};
};

/// One function for each target, of which the selected one runs: the kernels stand in the order of `build_targets`.
template <class Targets>
struct dispatcher;

template <class... Kernels>
struct dispatcher<target_list<Kernels...>> {
  template <class Call>
  static void run(Call const& call) {
    static constexpr void (*functions[])(Call const&) = {&Kernels::template run<Call>...};
    functions[selection<build_targets>::current()](call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
