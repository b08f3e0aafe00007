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

struct rms_norm_sums {
  static constexpr int sums = 1;

  template <class Source>
  HWY_ATTR HWY_INLINE static gathers_squares<Source> gather(Source const& source, float) {
    return {source};
  }
};

template <class Call>
struct rms_normalises : rms_norm_sums {
  using gathers = rms_norm_sums;

  Call const& call;
  double per_column;

  template <class Other>
  HWY_ATTR HWY_INLINE rms_normalises<Other> of(Other const& other) const {
    return {{}, other, per_column};
  }

  HWY_ATTR HWY_INLINE static float pivot(Call const&, std::size_t) { return 0; }

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

// The same call of other rows and weights.
template <class Rows, class S, class Y, class OtherRows, class Scale>
HWY_ATTR HWY_INLINE rms_norm_call<OtherRows, Scale, Y> with(rms_norm_call<Rows, S, Y> const& call, OtherRows rows,
                                                            Scale scale) {
  return {rows,          call.y,   call.columns, call.y_stride, scale, call.epsilon, call.inverse_rms,
          call.streamed, call.way, call.begin,   call.end};
}
template <class Part, class Rows, class Scale, class Y>
HWY_ATTR HWY_INLINE auto with_widened(rms_norm_call<Rows, Scale, Y> const& call, widened_copies& copies) {
  return with(call, copies.rows(call.rows), copies.scale<Part>(call.scale));
}

struct rms_norm_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    if constexpr (!is_elaborate && has_exact_weights<std::remove_cvref_t<decltype(call.rows)>>) {
      using weights = optional_weights<float, decltype(call.scale)>;
      normalise(with(call, call.rows, weights::scale(call.scale)));
    } else {
      normalise(call);
    }
  }

 private:
  template <class Call>
  HWY_ATTR HWY_INLINE static void normalise(Call const& call) {
    normalise_rows(rms_normalises<Call>{{}, call, 1 / static_cast<double>(call.columns)}, call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
