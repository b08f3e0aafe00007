// SPDX-License-Identifier: BSL-1.0

// All kernels for one target. A source that runs Highway's foreach_target.h itself includes this in the part that is
// compiled for each target, and the kernels' own headers after it; all others include the kernels' headers alone.
#if defined(FUSE_REWRITE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_INL
#undef FUSE_REWRITE_KERNELS_INL
#else
#define FUSE_REWRITE_KERNELS_INL
#endif

#include <fuse/kernels/detail/isa.hpp>

#include <hwy/highway.h>
#include <fuse/kernels/detail/layer_norm-inl.hpp>
#include <fuse/kernels/detail/quantize-inl.hpp>
#include <fuse/kernels/detail/rms_norm-inl.hpp>

#include <cstdint>

// Seen for another target than the compiler's own: somebody's foreach_target.h includes us.
#if HWY_TARGET != HWY_STATIC_TARGET && !defined(FUSE_REWRITE_KERNELS_FOREACH)
#define FUSE_REWRITE_KERNELS_FOREACH
#endif

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

struct kernels {
  static constexpr std::int64_t target = HWY_TARGET;

  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
