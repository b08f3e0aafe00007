// SPDX-License-Identifier: BSL-1.0

#if defined(FUSE_REWRITE_KERNELS_WRITE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#undef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#else
#define FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#endif

#include <fuse/kernels/detail/lanes-inl.hpp>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

struct into_caches {
  template <class Y>
  HWY_ATTR HWY_INLINE void put(vec v, Y* y, std::size_t i) const {
    store(v, y + i);
  }
};

// Evicts nothing, and fetches the row that is read next bit by bit: a burst of prefetches would stall.
template <class X>
struct past_caches {
  X const* next;

  HWY_ATTR HWY_INLINE void put(vec v, float* y, std::size_t i) const {
    hn::Stream(v, lanes(), y + i);
    hwy::Prefetch(next + i);
  }
};

// y[i] = value(part, i) for a whole row, of which the first `head` elements by themselves.
template <class Way, class Value, class Y>
HWY_ATTR HWY_INLINE void write_row_by(Way way, Value const& value, Y* y, std::size_t columns, std::size_t head = 0) {
  std::size_t const n = hn::Lanes(lanes());
  std::size_t i = head;
  if (head > 0) first{head}.put(value(first{head}, 0), y);
  for (; columns - i >= 2 * n; i += 2 * n) {
    way.put(value(whole{}, i), y, i);
    way.put(value(whole{}, i + n), y, i + n);
  }
  if (columns - i >= n) {
    way.put(value(whole{}, i), y, i);
    i += n;
  }
  if (i < columns) {
    first const rest{columns - i};
    rest.put(value(rest, i), y + i);
  }
}

template <class Call, class Value>
HWY_ATTR HWY_INLINE void write_row(Call const& call, Value const& value, std::size_t row) {
  auto* const y = call.y + row * call.y_stride;
  if constexpr (std::is_same_v<decltype(y), float* const>) {
    if (call.streamed) {
      // Only whole vectors at their own multiples can be written past the caches.
      std::size_t const n = hn::Lanes(lanes());
      std::size_t const head = (n - reinterpret_cast<std::uintptr_t>(y) / sizeof(float) % n) % n;
      auto const* const next = call.x + std::min(row + 1, call.end - 1) * call.x_stride;
      return write_row_by(past_caches<std::remove_cvref_t<decltype(*next)>>{next}, value, y, call.columns,
                          std::min(head, call.columns));
    }
  }
  write_row_by(into_caches{}, value, y, call.columns);
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
