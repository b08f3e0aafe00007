// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bench {

/// Copies `bytes`, a multiple of 16 between addresses that are, with stores that pass the caches by; elsewhere than on
/// x86, as memcpy does. Others see them after `finish_streams`.
inline void stream(void* to, void const* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* const target = static_cast<__m128i*>(to);
  auto const* const source = static_cast<__m128i const*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); ++i) _mm_stream_si128(target + i, _mm_load_si128(source + i));
#else
  std::memcpy(to, from, bytes);
#endif
}

inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

inline void non_temporal_copy(void* to, void const* from, std::size_t bytes) {
  stream(to, from, bytes);
  finish_streams();
}

}  // namespace bench
