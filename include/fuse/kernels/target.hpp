// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>

#include <fuse/kernels/detail/foreach.hpp>

#include <fuse/kernels/detail/cpu.hpp>

#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

template <class... Kernels>
struct target_list {};

template <class, class... Kernels>
struct target_list_of {
  using type = target_list<Kernels...>;
};

// Best first. Elsewhere than on x86 the compiler's own target is the only one.
// clang-format off
using targets = target_list_of<void
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX3_SPR
  , N_AVX3_SPR::kernels
#endif
#if HWY_TARGETS & HWY_AVX3_ZEN4
  , N_AVX3_ZEN4::kernels
#endif
#if HWY_TARGETS & HWY_AVX3_DL
  , N_AVX3_DL::kernels
#endif
#if HWY_TARGETS & HWY_AVX3
  , N_AVX3::kernels
#endif
#if HWY_TARGETS & HWY_AVX2
  , N_AVX2::kernels
#endif
#if HWY_TARGETS & HWY_SSE4
  , N_SSE4::kernels
#endif
#if HWY_TARGETS & HWY_SSSE3
  , N_SSSE3::kernels
#endif
#if HWY_TARGETS & HWY_SSE2
  , N_SSE2::kernels
#endif
#if HWY_TARGETS & HWY_EMU128
  , N_EMU128::kernels
#endif
#if HWY_TARGETS & HWY_SCALAR
  , N_SCALAR::kernels
#endif
#else
  , HWY_STATIC_DISPATCH(kernels)
#endif
>::type;
// clang-format on

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

/// The targets of a list, as far as this machine runs them.
template <class List>
struct dispatcher;

template <class... Kernels>
struct dispatcher<target_list<Kernels...>> {
  static constexpr std::size_t count = sizeof...(Kernels);
  static constexpr std::array<std::int64_t, count> ids{Kernels::target...};

  static std::array<std::string_view, count> const& names() {
    static std::array<std::string_view, count> const all{hwy::TargetName(Kernels::target)...};
    return all;
  }

  /// The compiler's own target is the last that is tried: whatever runs the program runs that.
  static std::size_t best() {
    std::size_t i = 0;
#if HWY_ARCH_X86
    static x86_level const machine = detect_x86_level();
    while (i + 1 < count && ids[i] != HWY_STATIC_TARGET && level_of(ids[i]) > machine) ++i;
#endif
    return i;
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

  template <class Call>
  static void run(Call const& call) {
    static constexpr void (*functions[])(Call const&) = {&Kernels::template run<Call>...};
    functions[current()](call);
  }

  static inline std::atomic<std::size_t> chosen{count};
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// The instruction set that the kernels use, by Highway's name of it ("AVX3", "SCALAR").
template <class Targets = detail::targets>
[[nodiscard]] std::string_view target_name() {
  return detail::dispatcher<Targets>::names()[detail::dispatcher<Targets>::current()];
}

/// All instruction sets that this source was compiled for and this machine runs, best first.
template <class Targets = detail::targets>
[[nodiscard]] std::span<std::string_view const> target_names() {
  return std::span(detail::dispatcher<Targets>::names()).subspan(detail::dispatcher<Targets>::best());
}

/// Makes kernels called from now on use one of `target_names()`, in all threads; false where it is none of them. Meant
/// for tests and measurements: the best one is chosen without it.
template <class Targets = detail::targets>
bool use_target(std::string_view name) {
  using dispatcher = detail::dispatcher<Targets>;
  for (std::size_t i = dispatcher::best(); i < dispatcher::count; ++i) {
    if (dispatcher::names()[i] == name) {
      dispatcher::chosen.store(i, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace fuse::inline v0::kernels
