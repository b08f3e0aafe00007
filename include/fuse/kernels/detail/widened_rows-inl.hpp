// SPDX-License-Identifier: BSL-1.0

// Short rows of halves: what is gathered is widened, that is stored as floats, and not converted again where it is
// written.
#if defined(FUSE_REWRITE_KERNELS_WIDENED_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_WIDENED_ROWS_INL
#undef FUSE_REWRITE_KERNELS_WIDENED_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_WIDENED_ROWS_INL
#endif

#include <fuse/kernels/detail/rows-inl.hpp>
#include <fuse/kernels/detail/write_row-inl.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Source>
struct widens {
  Source source;
  float* to;

  template <class Part>
  HWY_ATTR HWY_INLINE auto near(Part part, std::ptrdiff_t i) const {
    return source.near(part, i);
  }

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    auto const v = source.get(part, i);
    part.keep(v, to + i);
    return v;
  }
};

struct widened_row {
  float const* data;

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    return part.kept(data + i);
  }
};

template <class Rows>
struct widened_rows {
  Rows rows;
  float* data;
  std::size_t stride;

  HWY_ATTR HWY_INLINE float* at(std::size_t row) const { return data + row % widened_rows_at_once * stride; }
};

template <class Rows>
inline constexpr bool are_widened = false;
template <class Rows>
inline constexpr bool are_widened<widened_rows<Rows>> = true;

template <class Rows>
HWY_ATTR HWY_INLINE auto unread(widened_rows<Rows> const& rows, std::size_t row) {
  auto const source = unread(rows.rows, row);
  return widens<std::remove_const_t<decltype(source)>>{source, rows.at(row)};
}
template <class Rows>
HWY_ATTR HWY_INLINE widened_row reread(widened_rows<Rows> const& rows, std::size_t row) {
  return {rows.at(row)};
}
template <class Rows>
HWY_ATTR HWY_INLINE auto const* elements(widened_rows<Rows> const& rows, std::size_t row) {
  return elements(rows.rows, row);
}

template <class Rows>
HWY_ATTR HWY_INLINE auto const* fetched(widened_rows<Rows> const& rows, std::size_t row) {
  return fetched(rows.rows, row);
}

template <class Weight>
struct widens_weight {
  static constexpr std::ptrdiff_t most_sums = 0;

  Weight weight;
  float* to;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::ptrdiff_t i) const {
    part.keep(clean(in_order_of(part, i)), to + i);
  }

 private:
  // A NaN has no bits but those that a half could have: rounding counts on that.
  HWY_ATTR HWY_INLINE static vec clean(vec v) {
    return hn::IfThenElse(hn::Eq(v, v), v, hn::BitCast(lanes(), hn::Set(lanes_u32(), 0x7fc00000u)));
  }
  HWY_ATTR HWY_INLINE static vec_pair clean(vec_pair v) { return {clean(v.a), clean(v.b)}; }

  template <class Part>
  HWY_ATTR HWY_INLINE auto in_order_of(Part part, std::ptrdiff_t i) const {
    return weights_of(part, weight, i);
  }
#if FUSE_REWRITE_KERNELS_EVEN_ODD
  HWY_ATTR HWY_INLINE vec_pair in_order_of(two<true> part, std::ptrdiff_t i) const {
    return even_odd_of(part, two<false>(), i);
  }
  HWY_ATTR HWY_INLINE vec_pair in_order_of(two_between<true> part, std::ptrdiff_t i) const {
    return even_odd_of(part, two_between<false>{part.begin, part.end}, i);
  }
  template <class Part, class InColumns>
  HWY_ATTR HWY_INLINE vec_pair even_odd_of(Part part, InColumns in_columns, std::ptrdiff_t i) const {
    if constexpr (is_bfloat16<Weight>) {
      return weights_of(part, weight, i);
    } else {
      HWY_ALIGN float columns[2 * vector_lanes] = {};
      in_columns.keep(weights_of(in_columns, weight, i), columns);
      return two<true>().kept_columns(columns);
    }
  }
#endif
};

// The widened rows and weights of a call of rows that have `columns`, whose lane 0 is that of column `-before` and
// begins at a vector's multiple. They lie no multiple of 4 KiB apart, so that they are not in each other's way in the
// first cache.
class widened_copies {
 public:
  widened_copies(std::size_t columns, std::ptrdiff_t before)
      : columns_(columns),
        before_(before),
        begin_(data_ + before),
        stride_(hwy::RoundUpTo(columns + static_cast<std::size_t>(before), sum_lanes) + sum_lanes) {}

  template <class Rows>
  HWY_ATTR HWY_INLINE widened_rows<Rows> rows(Rows const& rows) {
    return {rows, begin_, stride_};
  }
  template <class Part, class Weight>
  HWY_ATTR HWY_INLINE widened_weight scale(Weight weight) {
    return widen<Part>(weight, begin_ + widened_rows_at_once * stride_);
  }
  template <class Part, class Weight>
  HWY_ATTR HWY_INLINE widened_weight bias(Weight weight) {
    return widen<Part>(weight, begin_ + (widened_rows_at_once + 1) * stride_);
  }

 private:
  template <class Part, class Weight>
  HWY_ATTR HWY_INLINE widened_weight widen(Weight weight, float* to) {
    gathers_nothing nothing;
    visit_row<Part>(nothing, widens_weight<Weight>{weight, to}, columns_, before_);
    return {to};
  }

  static constexpr std::size_t most_stride = most_widened_columns + 2 * sum_lanes;

  std::size_t columns_;
  std::ptrdiff_t before_;
  float* begin_;
  std::size_t stride_;
  HWY_ALIGN float data_[(widened_rows_at_once + 2) * most_stride];
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
