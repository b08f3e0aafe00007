// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/quantize_call.hpp>

#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// The difference is exact.
template <class Q>
struct dequantized {
  Q const* q;
  vec scale, zero_point;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::Mul(hn::Sub(part.get(q + i), zero_point), scale);
  }
};

template <class Q>
HWY_ATTR HWY_INLINE dequantized<Q> dequantized_row(Q const* q, float scale, Q zero_point) {
  return {q, hn::Set(lanes(), scale), hn::Set(lanes(), static_cast<float>(zero_point))};
}

template <class Q, class Y>
HWY_ATTR void run_rows(dequantize_call<Q, Y> const& call) {
  for (std::size_t row = call.begin; row < call.end; ++row) {
    write_row(call, dequantized_row(call.x + row * call.x_stride, call.scale, call.zero_point), row);
  }
  if (call.streamed) hwy::FlushStream();
}

template <class Q>
struct quantizer {
  vec scale, least, most;
  hn::Vec<lanes_i32> zero_point;

  HWY_ATTR HWY_INLINE hn::Vec<hn::Rebind<Q, lanes>> operator()(vec x) const {
    vec const number = hn::IfThenElseZero(hn::Eq(x, x), hn::Div(x, scale));
    auto const rounded = hn::NearestInt(hn::Min(hn::Max(number, least), most));
    return hn::DemoteTo(hn::Rebind<Q, lanes>(), hn::Add(rounded, zero_point));
  }
};

template <class X, class Q>
HWY_ATTR void run_rows(quantize_call<X, Q> const& call) {
  lanes const d;
  hn::Rebind<Q, lanes> const dq;
  std::size_t const n = hn::Lanes(d), columns = call.columns;
  int const zero_point = call.zero_point;
  using limits = std::numeric_limits<Q>;
  quantizer<Q> const quantized{hn::Set(d, call.scale), hn::Set(d, static_cast<float>(limits::min() - zero_point)),
                               hn::Set(d, static_cast<float>(limits::max() - zero_point)),
                               hn::Set(lanes_i32(), zero_point)};
  for (std::size_t row = call.begin; row < call.end; ++row) {
    X const* const x = call.x + row * call.x_stride;
    Q* const q = call.y + row * call.y_stride;
    std::size_t i = 0;
    for (; columns - i >= n; i += n) hn::StoreU(quantized(load(x + i)), dq, q + i);
    if (i < columns) {
      Q rest[hn::MaxLanes(d)];
      hn::StoreU(quantized(load_first(columns - i, x + i)), dq, rest);
      std::memcpy(q + i, rest, columns - i);
    }
  }
}

struct quantize_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
