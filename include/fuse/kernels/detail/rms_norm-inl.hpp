// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/exact.hpp>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Source>
struct gathers_squares {
  static constexpr std::ptrdiff_t number_of_sums = 1;
  template <class V>
  using sums = square_sums<V>;

  Source source;
  double totals = 0;

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    return part.elements(source.get(part, i));
  }
  template <class V>
  HWY_ATTR HWY_INLINE void accumulate(V v, square_sums<V>& to) const {
    to.squares = mul_add(v, v, to.squares);
  }
  HWY_ATTR HWY_INLINE void finish(square_sums<double> const& more) { totals += more.squares; }
};

template <class Row, class Scale>
struct rms_norm_values {
  Row x;
  vec inverse_rms;
  Scale scale;

  template <class Part>
  HWY_ATTR HWY_INLINE auto normalised(Part part, std::ptrdiff_t i) const {
    return mul(x.get(part, i), inverse_rms);
  }
  template <class Part, class V>
  HWY_ATTR HWY_INLINE V weighted(Part part, V n, std::ptrdiff_t i) const {
    return affine(part, n, scale, no_weight{}, i);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE auto operator()(Part part, std::ptrdiff_t i) const {
    return weighted(part, normalised(part, i), i);
  }
};

template <class Call>
struct rms_normalises {
  static constexpr int sums = 1;

  Call const& call;
  double per_column;

  template <class Other>
  HWY_ATTR HWY_INLINE rms_normalises<Other> of(Other const& other) const {
    return {other, per_column};
  }

  HWY_ATTR HWY_INLINE static float pivot(Call const&, std::size_t) { return 0; }
  template <class Source>
  HWY_ATTR HWY_INLINE gathers_squares<Source> gather(Source const& source, float) const {
    return {source};
  }

  HWY_ATTR HWY_INLINE float moments(double squares, std::size_t row) const {
    auto const* const x = elements(call.rows, row);
    double const epsilon = static_cast<double>(call.epsilon);
    double const mean_square = product(squares, per_column);
    float const inverse_rms = static_cast<float>(is_comfortable(mean_square, epsilon)
                                                     ? inverse_root(mean_square + epsilon)
                                                     : 1 / std::sqrt(exact_mean_square(x, call.columns) + epsilon));
    if (call.inverse_rms != nullptr) call.inverse_rms[row] = inverse_rms;
    return inverse_rms;
  }

  HWY_ATTR HWY_INLINE auto values(float inverse_rms, std::size_t row) const {
    auto const again = reread(call.rows, row);
    return rms_norm_values<std::remove_const_t<decltype(again)>, decltype(call.scale)>{
        again, hn::Set(lanes(), inverse_rms), call.scale};
  }
};

template <class Rows, class Scale, class Y>
HWY_ATTR HWY_INLINE auto with_widened(rms_norm_call<Rows, Scale, Y> const& call, widened_copies& copies) {
  using part = part_of<rms_norm_call<Rows, Scale, Y>>;
  using widened_call = rms_norm_call<widened_rows<Rows>, typename widened_of<Scale>::type, Y>;
  return widened_call{copies.rows(call.rows),
                      call.y,
                      call.columns,
                      call.y_stride,
                      copies.scale<part>(call.scale),
                      call.epsilon,
                      call.inverse_rms,
                      call.streamed,
                      call.way,
                      call.begin,
                      call.end};
}

struct rms_norm_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    normalise_rows(rms_normalises<Call>{call, 1 / static_cast<double>(call.columns)}, call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
