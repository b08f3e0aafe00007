// SPDX-License-Identifier: BSL-1.0

// Highway and what all kernels share, for one target. A source that runs Highway's foreach_target.h itself includes
// this in the part that is compiled for each target, and the kernels' own headers after it; all others include the
// kernels' headers alone.
#if defined(FUSE_REWRITE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_INL
#undef FUSE_REWRITE_KERNELS_INL
#else
#define FUSE_REWRITE_KERNELS_INL
#endif

#include <fuse/kernels/detail/isa.hpp>

#include <hwy/highway.h>
#include <fuse/kernels/detail/lanes-inl.hpp>
#include <fuse/kernels/detail/moments-inl.hpp>
#include <fuse/kernels/detail/norm_rows-inl.hpp>
#include <fuse/kernels/detail/write_row-inl.hpp>

#include <cstdint>

// Seen for another target than the compiler's own: somebody's foreach_target.h includes us.
#if HWY_TARGET != HWY_STATIC_TARGET && !defined(FUSE_REWRITE_KERNELS_FOREACH)
#define FUSE_REWRITE_KERNELS_FOREACH
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

/// The target's bit in FUSE_REWRITE_KERNELS_MASK, and what its loops have.
struct target_id {
  static constexpr std::int64_t value = HWY_TARGET;
  static constexpr target_vectors vectors = target_has;
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE

/// For kernels of others: rows of any element type as vectors of float.
namespace fuse::inline v0::kernels::HWY_NAMESPACE {
using detail::HWY_NAMESPACE::lanes;  ///< Highway's tag of a vector of float
using detail::HWY_NAMESPACE::load;   ///< a vector from this address on, which need not be aligned
using detail::HWY_NAMESPACE::load_first;
using detail::HWY_NAMESPACE::store;
using detail::HWY_NAMESPACE::store_first;  ///< load_first and store_first touch `count` elements; the others are 0
using detail::HWY_NAMESPACE::vec;
}  // namespace fuse::inline v0::kernels::HWY_NAMESPACE

#endif
