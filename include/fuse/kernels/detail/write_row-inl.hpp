// SPDX-License-Identifier: BSL-1.0

#if defined(FUSE_REWRITE_KERNELS_WRITE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#undef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#else
#define FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#endif

#include <fuse/kernels/detail/lanes-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// y[i] = value(part, i) for a whole row.
template <class Value, class Y>
HWY_ATTR HWY_INLINE void write_row(Value const& value, Y* y, std::size_t columns) {
  std::size_t const n = hn::Lanes(lanes());
  std::size_t i = 0;
  for (; columns - i >= 2 * n; i += 2 * n) {
    whole{}.put(value(whole{}, i), y + i);
    whole{}.put(value(whole{}, i + n), y + i + n);
  }
  if (columns - i >= n) {
    whole{}.put(value(whole{}, i), y + i);
    i += n;
  }
  if (i < columns) {
    first const rest{columns - i};
    rest.put(value(rest, i), y + i);
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
