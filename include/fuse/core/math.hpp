// SPDX-License-Identifier: BSL-1.0
#pragma once

// What fuse needs of <cmath>, which costs a file a tenth of the time that all of fuse takes to compile: g++ and clang
// have these built in.
namespace fuse::inline v0::detail::math {

inline constexpr double infinity = __builtin_inf();

[[nodiscard]] inline double abs(double x) { return __builtin_fabs(x); }
[[nodiscard]] inline double sqrt(double x) { return __builtin_sqrt(x); }
[[nodiscard]] inline double pow(double x, double y) { return __builtin_pow(x, y); }
[[nodiscard]] inline double exp(double x) { return __builtin_exp(x); }
[[nodiscard]] inline double log(double x) { return __builtin_log(x); }
[[nodiscard]] inline double erf(double x) { return __builtin_erf(x); }
[[nodiscard]] inline double tanh(double x) { return __builtin_tanh(x); }
[[nodiscard]] inline double floor(double x) { return __builtin_floor(x); }
[[nodiscard]] inline double nearbyint(double x) { return __builtin_nearbyint(x); }
[[nodiscard]] inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
[[nodiscard]] inline bool is_finite(double x) { return __builtin_isfinite(x); }
/// Whether a number is finite as a float, and 0 only where it is 0.
[[nodiscard]] inline bool fits_float(double x) {
  auto const rounded = static_cast<float>(x);
  return is_finite(static_cast<double>(rounded)) && (rounded == 0) == (x == 0);
}
[[nodiscard]] inline bool is_whole(double x) { return nearbyint(x) == x; }
/// Within a tolerance that is relative: 0 is only 0, an infinity only itself.
[[nodiscard]] inline bool close_to(double found, double wanted, double tolerance) {
  return found == wanted || (is_finite(wanted) && abs(found - wanted) <= tolerance * abs(wanted));
}
[[nodiscard]] inline bool is_odd(double x) { return fmod(abs(x), 2) == 1; }

}  // namespace fuse::inline v0::detail::math
