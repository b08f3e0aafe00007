// SPDX-License-Identifier: BSL-1.0

// Loads and stores of any element type as vectors of float.
#if defined(FUSE_REWRITE_KERNELS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_LANES_INL
#undef FUSE_REWRITE_KERNELS_LANES_INL
#else
#define FUSE_REWRITE_KERNELS_LANES_INL
#endif

#include <fuse/kernels/detail/isa.hpp>

#include <hwy/highway.h>
#include <fuse/kernels/element.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

// Elsewhere Highway emulates the conversions of half floats and does not round them.
#undef FUSE_REWRITE_KERNELS_F16
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define FUSE_REWRITE_KERNELS_F16 1
#else
#define FUSE_REWRITE_KERNELS_F16 0
#endif

// A vector of one word has no halves.
#undef FUSE_REWRITE_KERNELS_EVEN_ODD
#if HWY_TARGET == HWY_SCALAR
#define FUSE_REWRITE_KERNELS_EVEN_ODD 0
#else
#define FUSE_REWRITE_KERNELS_EVEN_ODD 1
#endif

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using lanes = hn::CappedTag<float, 16>;
using lanes_u32 = hn::RebindToUnsigned<lanes>;
using lanes_i32 = hn::RebindToSigned<lanes>;
using lanes_u16 = hn::Rebind<std::uint16_t, lanes>;
using vec = hn::Vec<lanes>;

inline constexpr std::ptrdiff_t vector_lanes = hn::MaxLanes(lanes());

HWY_ATTR HWY_INLINE vec widen(bfloat16, hn::Vec<lanes_u16> bits) {
  return hn::BitCast(lanes(), hn::ShiftLeft<16>(hn::PromoteTo(lanes_u32(), bits)));
}

HWY_ATTR HWY_INLINE vec widen(float16, hn::Vec<lanes_u16> bits) {
#if FUSE_REWRITE_KERNELS_F16
  return hn::PromoteTo(lanes(), hn::BitCast(hn::Rebind<hwy::float16_t, lanes>(), bits));
#else
  lanes_u32 const du;
  auto const wide = hn::PromoteTo(du, bits);
  auto const magnitude = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7fffu)));
  // The product moves the exponent, and makes normal numbers of subnormal ones.
  auto const value = hn::BitCast(du, hn::Mul(hn::BitCast(lanes(), magnitude), hn::Set(lanes(), 0x1p112f)));
  auto const special =
      hn::RebindMask(du, hn::Gt(hn::BitCast(lanes_i32(), magnitude), hn::Set(lanes_i32(), (0x7c00 << 13) - 1)));
  auto const result = hn::IfThenElse(special, hn::Or(magnitude, hn::Set(du, 0x7f800000u)), value);
  return hn::BitCast(lanes(), hn::Or(result, hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000u)))));
#endif
}

// Bits below 65536 in each lane.
HWY_ATTR HWY_INLINE hn::Vec<lanes_u16> low_halves(hn::Vec<lanes_u32> bits) {
  return hn::DemoteTo(lanes_u16(), hn::BitCast(lanes_i32(), bits));
}

// Rounded to what the upper 16 bits hold; the lower ones are left over. A NaN whose lower bits are not zero may become
// something else.
HWY_ATTR HWY_INLINE hn::Vec<lanes_u32> rounded_upper(vec v) {
  lanes_u32 const du;
  auto const bits = hn::BitCast(du, v);
#if HWY_TARGET <= HWY_AVX3
  auto const odd = hn::TestBit(bits, hn::Set(du, 0x10000u));
  return hn::Add(bits, hn::IfThenElse(odd, hn::Set(du, 0x8000u), hn::Set(du, 0x7fffu)));
#else
  auto const odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  return hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
#endif
}

HWY_ATTR HWY_INLINE hn::Vec<lanes_u16> narrow(bfloat16, vec v) {
  lanes_u32 const du;
  auto const quiet = hn::Or(hn::BitCast(du, v), hn::Set(du, 0x400000u));
  auto const result = hn::IfThenElse(hn::RebindMask(du, hn::Eq(v, v)), rounded_upper(v), quiet);
  return low_halves(hn::ShiftRight<16>(result));
}

HWY_ATTR HWY_INLINE hn::Vec<lanes_u16> narrow(float16, vec v) {
#if FUSE_REWRITE_KERNELS_F16
  return hn::BitCast(lanes_u16(), hn::DemoteTo(hn::Rebind<hwy::float16_t, lanes>(), v));
#else
  lanes_u32 const du;
  lanes_i32 const di;
  auto const bits = hn::BitCast(du, v);
  auto const magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  auto const compared = hn::BitCast(di, magnitude);
  auto const odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  // 0xfff less 112 << 23, modulo 2^32.
  auto const normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(du, 0xfffu - (112u << 23))));
  // Added to 0.5, the last bit of the sum is worth what the last bit of a subnormal is.
  auto const half = hn::Set(lanes(), 0.5f);
  auto const subnormal =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(lanes(), magnitude), half)), hn::BitCast(du, half));
  auto const is_subnormal = hn::RebindMask(du, hn::Lt(compared, hn::Set(di, 113 << 23)));
  auto const is_large = hn::RebindMask(du, hn::Gt(compared, hn::Set(di, (143 << 23) - 1)));
  auto const special = hn::IfThenElse(hn::RebindMask(du, hn::Eq(v, v)), hn::Set(du, 0x7c00u), hn::Set(du, 0x7e00u));
  auto const result = hn::IfThenElse(is_large, special, hn::IfThenElse(is_subnormal, subnormal, normal));
  return low_halves(hn::Or(result, hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u))));
#endif
}

template <class T>
HWY_ATTR HWY_INLINE vec load(T const* from) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(lanes(), from);
  } else if constexpr (sizeof(T) == 1) {
    return hn::ConvertTo(lanes(), hn::PromoteTo(lanes_i32(), hn::LoadU(hn::Rebind<T, lanes>(), from)));
  } else {
    return widen(T{}, hn::LoadU(lanes_u16(), &from->bits));
  }
}

template <class T>
HWY_ATTR HWY_INLINE void store(vec v, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    hn::StoreU(v, lanes(), to);
  } else {
    hn::StoreU(narrow(T{}, v), lanes_u16(), &to->bits);
  }
}

// Past the caches, to a multiple of its size.
template <class T>
HWY_ATTR HWY_INLINE void stream_vector(vec v, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    hn::Stream(v, lanes(), to);
  } else {
    hn::Stream(narrow(T{}, v), lanes_u16(), &to->bits);
  }
}

// Two vectors of float.
struct vec_pair {
  vec a, b;
};

#if FUSE_REWRITE_KERNELS_EVEN_ODD
using lanes_halves = hn::Repartition<std::uint16_t, lanes>;

// Elements 0, 2, ... and 1, 3, ... of as many as two vectors hold: the halves of words, which need no shuffle.
HWY_ATTR HWY_INLINE vec_pair even_odd(hn::Vec<lanes_u32> words) {
  return {hn::BitCast(lanes(), hn::ShiftLeft<16>(words)),
          hn::BitCast(lanes(), hn::And(words, hn::Set(lanes_u32(), 0xffff0000u)))};
}
HWY_ATTR HWY_INLINE vec_pair load_even_odd(bfloat16 const* from) {
  return even_odd(hn::BitCast(lanes_u32(), hn::LoadU(lanes_halves(), &from->bits)));
}
// Of numbers computed from bfloat16 alone: arithmetic makes no NaN with lower bits of its own.
HWY_ATTR HWY_INLINE hn::Vec<lanes_halves> narrow_even_odd(vec_pair v) {
  lanes_halves const d;
  auto const even = hn::BitCast(d, hn::ShiftRight<16>(rounded_upper(v.a)));
  return hn::OddEven(hn::BitCast(d, rounded_upper(v.b)), even);
}
HWY_ATTR HWY_INLINE void store_even_odd(vec_pair v, bfloat16* to) {
  lanes_halves const d;
  hn::StoreU(narrow_even_odd(v), d, &to->bits);
}
HWY_ATTR HWY_INLINE void stream_even_odd(vec_pair v, bfloat16* to) {
  lanes_halves const d;
  hn::Stream(narrow_even_odd(v), d, &to->bits);
}
#endif

// Whether a part of a vector can be loaded and stored without a touch of what is beside it.
#if HWY_ARCH_X86
template <class T>
inline constexpr bool has_parts = HWY_TARGET <= HWY_AVX3 || (HWY_TARGET == HWY_AVX2 && std::is_same_v<T, float>);
#else
template <class T>
inline constexpr bool has_parts = false;
#endif

template <class D>
HWY_ATTR HWY_INLINE auto lanes_between(D d, std::size_t begin, std::size_t end) {
  return hn::AndNot(hn::FirstN(d, begin), hn::FirstN(d, end));
}

// The elements of a vector from `begin` to `end`, whose lane 0 is at `from`; 0 in the other lanes. Elsewhere they go
// through a buffer.
template <class T>
HWY_ATTR HWY_INLINE vec load_between(std::size_t begin, std::size_t end, T const* from) {
  if constexpr (!has_parts<T> || sizeof(T) == 1) {
    T buffer[vector_lanes] = {};
    std::memcpy(buffer + begin, from + begin, (end - begin) * sizeof(T));
    return load(buffer);
  } else if constexpr (std::is_same_v<T, float>) {
    return hn::MaskedLoad(lanes_between(lanes(), begin, end), lanes(), from);
  } else {
    return widen(T{}, hn::MaskedLoad(lanes_between(lanes_u16(), begin, end), lanes_u16(), &from->bits));
  }
}

template <class T>
HWY_ATTR HWY_INLINE void store_between(std::size_t begin, std::size_t end, vec v, T* to) {
  if constexpr (!has_parts<T>) {
    T buffer[vector_lanes];
    store(v, buffer);
    std::memcpy(to + begin, buffer + begin, (end - begin) * sizeof(T));
  } else if constexpr (std::is_same_v<T, float>) {
    hn::BlendedStore(v, lanes_between(lanes(), begin, end), lanes(), to);
  } else {
    hn::BlendedStore(narrow(T{}, v), lanes_between(lanes_u16(), begin, end), lanes_u16(), &to->bits);
  }
}

#if FUSE_REWRITE_KERNELS_EVEN_ODD
// ... of as many as two vectors hold.
HWY_ATTR HWY_INLINE vec_pair load_even_odd_between(std::size_t begin, std::size_t end, bfloat16 const* from) {
  lanes_halves const d;
  return even_odd(hn::BitCast(lanes_u32(), hn::MaskedLoad(lanes_between(d, begin, end), d, &from->bits)));
}
HWY_ATTR HWY_INLINE void store_even_odd_between(std::size_t begin, std::size_t end, vec_pair v, bfloat16* to) {
  lanes_halves const d;
  hn::BlendedStore(narrow_even_odd(v), lanes_between(d, begin, end), d, &to->bits);
}
#endif

// The first elements of a vector.
template <class T>
HWY_ATTR HWY_INLINE vec load_first(std::size_t count, T const* from) {
  return load_between(0, count, from);
}
template <class T>
HWY_ATTR HWY_INLINE void store_first(std::size_t count, vec v, T* to) {
  store_between(0, count, v, to);
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
