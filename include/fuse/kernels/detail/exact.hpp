// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/element.hpp>

#include <cmath>
#include <cstddef>

// Rows whose sums float cannot hold: squares that overflow or underflow, a deviation below the rounding of the mean,
// NaN and infinity. Seldom, so in double precision and without vectors.
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// A product that is rounded before anything is added to it. Compilers make one operation of a product and a sum where
/// the processor has it, or not, as their flags say; no result may depend on that.
[[nodiscard, gnu::always_inline]] inline double product(double a, double b) {
  double rounded = a * b;
#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE2_MATH__))
  asm("" : "+x"(rounded));
#elif defined(__aarch64__)
  asm("" : "+w"(rounded));
#else
  asm("" : "+m"(rounded));
#endif
  return rounded;
}

/// The mean is `pivot + shift`; `pivot` is finite where the mean is.
struct row_moments {
  float pivot;
  double shift;
  double inverse_deviation;  // 1 / sqrt(variance + epsilon)

  double mean() const { return static_cast<double>(pivot) + shift; }
};

template <class T>
row_moments exact_moments(T const* x, std::size_t columns, double epsilon) {
  double const count = static_cast<double>(columns);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(to_float(x[i]));
  double const mean = sum / count;
  for (std::size_t i = 0; i < columns; ++i) {
    double const difference = static_cast<double>(to_float(x[i])) - mean;
    squares += product(difference, difference);
  }
  double const inverse_deviation = 1 / std::sqrt(squares / count + epsilon);
  if (!std::isfinite(mean)) return {0, mean, inverse_deviation};
  float const pivot = static_cast<float>(mean);
  return {pivot, mean - static_cast<double>(pivot), inverse_deviation};
}

template <class T>
double exact_mean_square(T const* x, std::size_t columns) {
  double squares = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    double const value = static_cast<double>(to_float(x[i]));
    squares += product(value, value);
  }
  return squares / static_cast<double>(columns);
}

/// Whether a mean of squares that was added up in float lost neither large terms nor, beside epsilon, small ones.
inline bool is_comfortable(double mean_square, double epsilon) {
  return mean_square <= 1e32 && mean_square + epsilon >= 1e-30;
}

/// 1 / sqrt(value), of a value that is_comfortable: the root and the quotient at once, neither of them 0 or infinite.
inline double inverse_root(double value) { return std::sqrt(value) * (1 / value); }

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
