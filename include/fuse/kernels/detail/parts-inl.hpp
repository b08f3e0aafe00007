// SPDX-License-Identifier: BSL-1.0

// Parts of a row: what a loop handles at once, the arithmetic on it, and weights.
#if defined(FUSE_REWRITE_KERNELS_PARTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_PARTS_INL
#undef FUSE_REWRITE_KERNELS_PARTS_INL
#else
#define FUSE_REWRITE_KERNELS_PARTS_INL
#endif

#include <fuse/kernels/detail/lanes-inl.hpp>

#include <fuse/kernels/detail/weight.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

struct between;
template <bool EvenOdd>
struct two_between;

// A vector: the columns from `i` on, where `from` and `to` are the address of column i.
struct whole {
  using values = vec;
  using some = between;
  static constexpr std::ptrdiff_t vectors = 1;

  HWY_ATTR HWY_INLINE static vec zero() { return hn::Zero(lanes()); }
  template <class T>
  HWY_ATTR HWY_INLINE vec get(T const* from) const {
    return load(from);
  }
  template <class T>
  HWY_ATTR HWY_INLINE void put(vec v, T* to) const {
    store(v, to);
  }
  // Past the caches, to a multiple of the vector's size; halves that fill none stay in them.
  template <class T>
  HWY_ATTR HWY_INLINE void stream(vec v, T* to) const {
    if constexpr (std::is_same_v<T, float>) {
      stream_vector(v, to);
    } else {
      store(v, to);
    }
  }
  // As it is, in the order of the lanes.
  HWY_ATTR HWY_INLINE void keep(vec v, float* to) const { hn::StoreU(v, lanes(), to); }
  HWY_ATTR HWY_INLINE vec kept(float const* from) const { return hn::LoadU(lanes(), from); }
  // In the order of the columns.
  HWY_ATTR HWY_INLINE void keep_columns(vec v, float* to) const { keep(v, to); }
  HWY_ATTR HWY_INLINE vec kept_columns(float const* from) const { return kept(from); }
  HWY_ATTR HWY_INLINE vec elements(vec v) const { return v; }
};

// Some lanes of a vector, which alone are touched.
struct between {
  using values = vec;
  static constexpr std::ptrdiff_t vectors = 1;

  std::size_t begin, end;

  template <class T>
  HWY_ATTR HWY_INLINE vec get(T const* from) const {
    return load_between(begin, end, from);
  }
  template <class T>
  HWY_ATTR HWY_INLINE void put(vec v, T* to) const {
    store_between(begin, end, v, to);
  }
  template <class T>
  HWY_ATTR HWY_INLINE void stream(vec v, T* to) const {
    put(v, to);
  }
  HWY_ATTR HWY_INLINE void keep(vec v, float* to) const { put(v, to); }
  HWY_ATTR HWY_INLINE vec kept(float const* from) const { return get(from); }
  // Zero in the lanes that are no elements.
  HWY_ATTR HWY_INLINE vec elements(vec v) const { return hn::IfThenElseZero(lanes_between(lanes(), begin, end), v); }
};

// Two vectors: one after the other, or, where all operands are bfloat16, even and odd elements.
template <bool EvenOdd>
struct two {
  using values = vec_pair;
  using some = two_between<EvenOdd>;
  static constexpr std::ptrdiff_t vectors = 2;
  static constexpr bool even_odd = EvenOdd;

  HWY_ATTR HWY_INLINE static vec_pair zero() { return {hn::Zero(lanes()), hn::Zero(lanes())}; }
  template <class T>
  HWY_ATTR HWY_INLINE vec_pair get(T const* from) const {
    if constexpr (EvenOdd) {
      return load_even_odd(from);
    } else {
      return {load(from), load(from + vector_lanes)};
    }
  }
  template <class T>
  HWY_ATTR HWY_INLINE void put(vec_pair v, T* to) const {
    if constexpr (EvenOdd) {
      store_even_odd(v, to);
    } else {
      store(v.a, to);
      store(v.b, to + vector_lanes);
    }
  }
  template <class T>
  HWY_ATTR HWY_INLINE void stream(vec_pair v, T* to) const {
    if constexpr (EvenOdd) {
      stream_even_odd(v, to);
    } else {
      stream_vector(v.a, to);
      stream_vector(v.b, to + vector_lanes);
    }
  }
  HWY_ATTR HWY_INLINE void keep(vec_pair v, float* to) const {
    hn::StoreU(v.a, lanes(), to);
    hn::StoreU(v.b, lanes(), to + vector_lanes);
  }
  HWY_ATTR HWY_INLINE vec_pair kept(float const* from) const {
    return {hn::LoadU(lanes(), from), hn::LoadU(lanes(), from + vector_lanes)};
  }
  HWY_ATTR HWY_INLINE void keep_columns(vec_pair v, float* to) const {
    if constexpr (EvenOdd) {
      hn::StoreInterleaved2(v.a, v.b, lanes(), to);
    } else {
      keep(v, to);
    }
  }
  HWY_ATTR HWY_INLINE vec_pair kept_columns(float const* from) const {
    vec_pair v = kept(from);
    if constexpr (EvenOdd) hn::LoadInterleaved2(lanes(), from, v.a, v.b);
    return v;
  }
  HWY_ATTR HWY_INLINE vec_pair elements(vec_pair v) const { return v; }
};

// Some lanes of two vectors, from the `begin`th element to the `end`th.
template <bool EvenOdd>
struct two_between {
  using values = vec_pair;
  static constexpr std::ptrdiff_t vectors = 2;

  std::size_t begin, end;

  template <class T>
  HWY_ATTR HWY_INLINE vec_pair get(T const* from) const {
    if constexpr (EvenOdd) {
      return load_even_odd_between(begin, end, from);
    } else {
      return {first().get(from), second().get(from + vector_lanes)};
    }
  }
  template <class T>
  HWY_ATTR HWY_INLINE void put(vec_pair v, T* to) const {
    if constexpr (EvenOdd) {
      store_even_odd_between(begin, end, v, to);
    } else {
      first().put(v.a, to);
      second().put(v.b, to + vector_lanes);
    }
  }
  template <class T>
  HWY_ATTR HWY_INLINE void stream(vec_pair v, T* to) const {
    put(v, to);
  }
  HWY_ATTR HWY_INLINE void keep(vec_pair v, float* to) const {
    first().keep(v.a, to);
    second().keep(v.b, to + vector_lanes);
  }
  HWY_ATTR HWY_INLINE vec_pair kept(float const* from) const {
    return {first().kept(from), second().kept(from + vector_lanes)};
  }
  HWY_ATTR HWY_INLINE vec_pair elements(vec_pair v) const { return {first().elements(v.a), second().elements(v.b)}; }

 private:
  // The lanes of either vector.
  HWY_INLINE between first() const {
    if constexpr (EvenOdd) {
      return {(begin + 1) / 2, (end + 1) / 2};
    } else {
      return {HWY_MIN(begin, one), HWY_MIN(end, one)};
    }
  }
  HWY_INLINE between second() const {
    if constexpr (EvenOdd) {
      return {begin / 2, end / 2};
    } else {
      return {HWY_MAX(begin, one) - one, HWY_MAX(end, one) - one};
    }
  }

  static constexpr std::size_t one{vector_lanes};
};

// Arithmetic on one vector and on two; the other operands of two are two, or one for both.
HWY_ATTR HWY_INLINE vec add(vec a, vec b) { return hn::Add(a, b); }
HWY_ATTR HWY_INLINE vec sub(vec a, vec b) { return hn::Sub(a, b); }
HWY_ATTR HWY_INLINE vec mul(vec a, vec b) { return hn::Mul(a, b); }
HWY_ATTR HWY_INLINE vec mul_add(vec a, vec b, vec c) { return hn::MulAdd(a, b, c); }

HWY_ATTR HWY_INLINE vec_pair both(vec v) { return {v, v}; }
HWY_ATTR HWY_INLINE vec_pair both(vec_pair v) { return v; }
template <class B>
HWY_ATTR HWY_INLINE vec_pair add(vec_pair a, B b) {
  return {hn::Add(a.a, both(b).a), hn::Add(a.b, both(b).b)};
}
template <class A>
HWY_ATTR HWY_INLINE vec_pair sub(A a, vec_pair b) {
  return {hn::Sub(both(a).a, b.a), hn::Sub(both(a).b, b.b)};
}
template <class B>
HWY_ATTR HWY_INLINE vec_pair mul(vec_pair a, B b) {
  return {hn::Mul(a.a, both(b).a), hn::Mul(a.b, both(b).b)};
}
template <class B, class C>
HWY_ATTR HWY_INLINE vec_pair mul_add(vec_pair a, B b, C c) {
  return {hn::MulAdd(a.a, both(b).a, both(c).a), hn::MulAdd(a.b, both(b).b, both(c).b)};
}

// A scale or bias at column i.
template <class Part, class T>
HWY_ATTR HWY_INLINE auto weights_of(Part part, weight<T> from, std::ptrdiff_t i) {
  return part.get(from.data + i);
}
template <class Part, class T>
HWY_ATTR HWY_INLINE auto weights_of(Part part, one_plus_weight<T> from, std::ptrdiff_t i) {
  return add(part.get(from.data + i), hn::Set(lanes(), 1.0f));
}
template <class Part, class T>
HWY_ATTR HWY_INLINE auto weights_of(Part part, optional_weight<T> from, std::ptrdiff_t i) {
  return part.get(from.data + (i & from.columns));
}
template <class Part>
HWY_ATTR HWY_INLINE auto weights_of(Part part, widened_weight from, std::ptrdiff_t i) {
  return part.kept(from.data + i);
}

// v * scale + bias at column i.
template <class Part, class V, class Scale, class Bias>
HWY_ATTR HWY_INLINE V affine(Part part, V v, Scale scale, Bias bias, std::ptrdiff_t i) {
  constexpr bool scaled = !std::is_same_v<Scale, no_weight>, biased = !std::is_same_v<Bias, no_weight>;
  if constexpr (scaled && biased) {
    return mul_add(v, weights_of(part, scale, i), weights_of(part, bias, i));
  } else if constexpr (scaled) {
    return mul(v, weights_of(part, scale, i));
  } else if constexpr (biased) {
    return add(v, weights_of(part, bias, i));
  } else {
    return v;
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
