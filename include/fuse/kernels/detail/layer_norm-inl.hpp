// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// Adds up pivot - x: what is loaded comes second, since there an instruction takes it from memory.
template <class Source>
struct gathers_moments : adds_moments<-1> {
  Source source;
  vec pivot;

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    return part.elements(sub(pivot, source.get(part, i)));
  }
};

template <class Row, class Scale, class Bias>
struct layer_norm_values {
  Row x;
  vec mean, factor, rest;  // factor is negative; of the mean, what float does not hold: rest is negative, and scaled
  Scale scale;
  Bias bias;

  template <class Part>
  HWY_ATTR HWY_INLINE auto normalised(Part part, std::ptrdiff_t i) const {
    return mul_add(sub(mean, x.get(part, i)), factor, rest);
  }
  template <class Part, class V>
  HWY_ATTR HWY_INLINE V weighted(Part part, V n, std::ptrdiff_t i) const {
    return affine(part, n, scale, bias, i);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE auto operator()(Part part, std::ptrdiff_t i) const {
    return weighted(part, normalised(part, i), i);
  }
};

struct layer_norm_sums {
  static constexpr int sums = 2;

  template <class Source>
  HWY_ATTR HWY_INLINE static gathers_moments<Source> gather(Source const& source, float pivot) {
    return {{{pivot}}, source, hn::Set(lanes(), pivot)};
  }
};

template <class Call>
struct layer_normalises : layer_norm_sums {
  using gathers = layer_norm_sums;

  Call const& call;
  double per_column;

  template <class Other>
  HWY_ATTR HWY_INLINE layer_normalises<Other> of(Other const& other) const {
    return {{}, other, per_column};
  }

  HWY_ATTR HWY_INLINE float pivot(Call const& of, std::size_t row) const {
    auto const source = unread(of.rows, row);
    auto const near = [&source](auto part, std::ptrdiff_t i) HWY_ATTR { return source.near(part, i); };
    return first_mean<!reads_floats<Call>>(near, of.columns);
  }
  HWY_ATTR HWY_INLINE row_moments moments(moment_totals totals, std::size_t row) const {
    auto const* const x = elements(call.rows, row);
    using source = given_row<std::remove_cvref_t<decltype(*x)>>;
    double const epsilon = static_cast<double>(call.epsilon);
    auto const again = [&](float mean) HWY_ATTR {
      return gather_row<part_of<Call>, gathers>(source{x}, mean, call.columns, before_in_line(x, call.columns));
    };
    auto const exactly = [&]() HWY_ATTR { return exact_moments(x, call.columns, epsilon); };
    row_moments const m = settled(totals, per_column, epsilon, again, exactly);
    if (call.mean != nullptr) call.mean[row] = static_cast<float>(m.mean());
    if (call.inverse_deviation != nullptr) call.inverse_deviation[row] = static_cast<float>(m.inverse_deviation);
    return m;
  }

  HWY_ATTR HWY_INLINE auto values(row_moments const& m, std::size_t row) const {
    lanes const d;
    float const mean = static_cast<float>(m.mean());
    double const rest = m.mean() - static_cast<double>(mean);
    auto const again = reread(call.rows, row);
    return layer_norm_values<std::remove_const_t<decltype(again)>, decltype(call.scale), decltype(call.bias)>{
        again,
        hn::Set(d, mean),
        hn::Set(d, static_cast<float>(-m.inverse_deviation)),
        hn::Set(d, static_cast<float>(-rest * m.inverse_deviation)),
        call.scale,
        call.bias};
  }
};

// The same call of other rows and weights.
template <class Rows, class S, class B, class Y, class OtherRows, class Scale, class Bias>
HWY_ATTR HWY_INLINE layer_norm_call<OtherRows, Scale, Bias, Y> with(layer_norm_call<Rows, S, B, Y> const& call,
                                                                    OtherRows rows, Scale scale, Bias bias) {
  return {rows,     call.y,       call.columns, call.y_stride,          scale,
          bias,     call.epsilon, call.mean,    call.inverse_deviation, call.streamed,
          call.way, call.begin,   call.end};
}
template <class Part, class Rows, class Scale, class Bias, class Y>
HWY_ATTR HWY_INLINE auto with_widened(layer_norm_call<Rows, Scale, Bias, Y> const& call, widened_copies& copies) {
  return with(call, copies.rows(call.rows), copies.scale<Part>(call.scale), copies.bias<Part>(call.bias));
}

struct layer_norm_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    if constexpr (!is_elaborate && has_exact_weights<std::remove_cvref_t<decltype(call.rows)>>) {
      using weights = optional_weights<float, decltype(call.scale), decltype(call.bias)>;
      normalise(with(call, call.rows, weights::scale(call.scale), weights::bias(call.bias)));
    } else {
      normalise(call);
    }
  }

 private:
  template <class Call>
  HWY_ATTR HWY_INLINE static void normalise(Call const& call) {
    normalise_rows(layer_normalises<Call>{{}, call, 1 / static_cast<double>(call.columns)}, call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
