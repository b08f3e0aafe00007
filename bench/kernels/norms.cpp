// SPDX-License-Identifier: BSL-1.0

// The norms against copies of the same bytes, compiled loops and oneDNN.
#include "autovectorised.hpp"
#include "comparison.hpp"
#include "copy.hpp"
#include "norm_tensors.hpp"
#include "onednn_modules.hpp"
#include "read_then_write.hpp"
#include "ways.hpp"

#if BENCH_EIGEN
#include "eigen.hpp"
#endif

#include <algorithm>
#include <utility>

namespace bench {
namespace {
using namespace fuse::kernels;

template <formula Formula, class T>
double largest_error(norm_tensors<T> const& t) {
  double worst = 0;
  for (std::size_t r = 0; r < t.rows; ++r) {
    T const* const x = t.x.data() + r * t.columns;
    auto const n = static_cast<double>(t.columns);
    double mean = 0, square = 0;
    if (Formula == formula::layer_norm) {
      for (std::size_t c = 0; c < t.columns; ++c) mean += to_float(x[c]) / n;
    }
    for (std::size_t c = 0; c < t.columns; ++c) square += (to_float(x[c]) - mean) * (to_float(x[c]) - mean) / n;
    for (std::size_t c = 0; c < t.columns; ++c) {
      double const bias = Formula == formula::layer_norm ? double{t.float_bias.data()[c]} : 0;
      double const expected =
          (to_float(x[c]) - mean) / std::sqrt(square + double{epsilon}) * double{t.float_scale.data()[c]} + bias;
      double const error = std::abs(to_float(t.y.data()[r * t.columns + c]) - expected);
      if (error > worst || std::isnan(error)) worst = error;  // nothing is larger than a NaN: it stays
    }
  }
  return worst;
}

template <formula Formula>
void add_loops(std::vector<candidate>& all, std::shared_ptr<norm_tensors<float>> const& t) {
  all.push_back({"plain loops", __VERSION__, [t] {
                   if constexpr (Formula == formula::layer_norm) {
                     autovectorised::layer_norm(t->x.data(), t->scale.data(), t->bias.data(), t->y.data(), t->rows,
                                                t->columns, epsilon);
                   } else {
                     autovectorised::rms_norm(t->x.data(), t->scale.data(), t->y.data(), t->rows, t->columns, epsilon);
                   }
                 }});
#if BENCH_EIGEN
  all.push_back({"Eigen", eigen::version(), [t] {
                   if constexpr (Formula == formula::layer_norm) {
                     eigen::layer_norm(t->x.data(), t->scale.data(), t->bias.data(), t->y.data(), t->rows, t->columns,
                                       epsilon);
                   } else {
                     eigen::rms_norm(t->x.data(), t->scale.data(), t->y.data(), t->rows, t->columns, epsilon);
                   }
                 }});
#endif
}

template <formula Formula, class T>
void add_onednn(std::vector<candidate>& all, std::shared_ptr<norm_tensors<T>> const& t) {
  auto const element = std::is_same_v<T, float>      ? onednn_norm::element::float32
                       : std::is_same_v<T, bfloat16> ? onednn_norm::element::bfloat16
                                                     : onednn_norm::element::float16;
  for (auto const* const version : onednn_versions()) {
    auto call = prepare(*version, {Formula, element, t->rows, t->columns, t->x.data(), t->float_scale.data(),
                                   t->float_bias.data(), t->y.data(), epsilon});
    if (call) all.push_back({"oneDNN", version->name, [t, call = std::move(call)] { call(); }});
  }
}

template <formula Formula, class T>
std::vector<candidate> plain(std::size_t rows, std::size_t columns, std::size_t past = 0) {
  auto const t = std::make_shared<norm_tensors<T>>(rows, columns, 0.0f, 0.1f, past);
  std::vector<candidate> all;
  all.push_back({"fuse", "", [t] { norm<Formula>(*t, t->x.data(), t->y.data()); }});
  all.push_back({"memcpy", "", [t] { std::memcpy(t->y.data(), t->x.data(), t->bytes()); }});
  bool const past_caches = detail::is_streamed(output::automatic, false, t->bytes());
  all.push_back({"reading and writing", "", [t, past_caches] {
                   read_then_write(t->x.data(), t->y.data(), t->rows, t->columns * sizeof(T), past_caches);
                 }});
  all.push_back({"non-temporal copy", "", [t] { non_temporal_copy(t->y.data(), t->x.data(), t->bytes()); }});
  if (past > 0) {
    auto const at_lines = std::make_shared<norm_tensors<T>>(rows, columns, 0.0f, 0.1f);
    all.push_back(
        {"fuse, at lines", "", [at_lines] { norm<Formula>(*at_lines, at_lines->x.data(), at_lines->y.data()); }});
  }
  if constexpr (std::is_same_v<T, float>) {
    add_loops<Formula>(all, t);
  } else {
    auto const wide = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.1f, past);
    all.push_back({"fuse, float", "", [wide] { norm<Formula>(*wide, wide->x.data(), wide->y.data()); }});
  }
  add_onednn<Formula>(all, t);
  return all;
}

// The next norm reads what this one wrote: what was written past the caches, or left them, comes back from memory.
// A norm of a norm is the same again, as scale is 1 and bias 0.
template <formula Formula>
std::vector<candidate> ping_pong(std::size_t rows, std::size_t columns) {
  auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.0f);
  return {{"fuse", "",
           [t, x = t->x.data(), y = t->y.data()]() mutable {
             norm<Formula>(*t, x, y);
             std::swap(x, y);
           }},
          {"fuse, the same input each time", "", [t] { norm<Formula>(*t, t->x.data(), t->y.data()); }}};
}

// Rows whose mean is 1e5 deviations away from 0. With scale 1 and bias 0, an error is one of the normalised value.
template <formula Formula>
std::vector<candidate> far_mean(std::size_t rows, std::size_t columns) {
  auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 1e5f, 0.0f);
  auto const near = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.0f);
  std::vector<candidate> all;
  all.push_back({"fuse", "", [t] { norm<Formula>(*t, t->x.data(), t->y.data()); }});
  all.push_back({"fuse, mean 0", "", [near] { norm<Formula>(*near, near->x.data(), near->y.data()); }});
  add_loops<Formula>(all, t);
  add_onednn<Formula>(all, t);
  for (auto& one : all) {
    if (one.name != "fuse, mean 0") one.error = [t] { return largest_error<Formula>(*t); };
  }
  return all;
}

template <formula Formula, class T>
void add_plain(std::vector<comparison>& all, std::string const& kernel, std::string const& variant = "",
               std::size_t past = 0) {
  for (auto const& [rows, columns] : norm_shapes) {
    all.push_back({kernel, type_name<T>(), variant, rows, columns,
                   [rows = rows, columns = columns, past] { return plain<Formula, T>(rows, columns, past); }});
  }
}

template <formula Formula>
void add(std::vector<comparison>& all, std::string const& kernel) {
  add_plain<Formula, float>(all, kernel);
  add_plain<Formula, bfloat16>(all, kernel);
  add_plain<Formula, float16>(all, kernel);
  // Where std::vector, malloc and NumPy put large tensors.
  add_plain<Formula, float>(all, kernel, "16 bytes past lines", 16);
  add_plain<Formula, bfloat16>(all, kernel, "16 bytes past lines", 16);
  for (auto const& [rows, columns] : {std::pair<std::size_t, std::size_t>{128, 768}, {512, 1024}, {4096, 1024}}) {
    all.push_back({kernel, "float", "ping-pong", rows, columns,
                   [rows = rows, columns = columns] { return ping_pong<Formula>(rows, columns); }});
  }
}

template <formula Formula, class T>
void add_ways(std::vector<told_kernel>& all, std::string const& kernel) {
  bool const floats = std::is_same_v<T, float>;
  for (auto const& [rows, columns] : way_shapes) {
    all.push_back({kernel,
                   type_name<T>(),
                   loops_here(detail::rows_from::given, Formula == formula::layer_norm ? 2 : 1, floats, !floats),
                   {.rows = rows,
                    .columns = columns,
                    .streamed = detail::is_streamed(output::automatic, false, rows * columns * sizeof(T)),
                    .share_lines = columns % 16 == 0},
                   [rows = rows, columns = columns] {
                     auto const t = std::make_shared<norm_tensors<T>>(rows, columns, 0.0f, 0.1f);
                     return [t](row_way way) { norm<Formula>(*t, t->x.data(), t->y.data(), going(way)); };
                   }});
  }
}

}  // namespace

void add_norm_ways(std::vector<told_kernel>& all) {
  add_ways<formula::layer_norm, float>(all, "layer_norm");
  add_ways<formula::layer_norm, bfloat16>(all, "layer_norm");
  add_ways<formula::layer_norm, float16>(all, "layer_norm");
  add_ways<formula::rms_norm, float>(all, "rms_norm");
  add_ways<formula::rms_norm, bfloat16>(all, "rms_norm");
  add_ways<formula::rms_norm, float16>(all, "rms_norm");
}

void add_norms(std::vector<comparison>& all) {
  add<formula::layer_norm>(all, "layer_norm");
  add<formula::rms_norm>(all, "rms_norm");
  for (auto const& [rows, columns] : {std::pair<std::size_t, std::size_t>{128, 768}, {512, 1024}}) {
    all.push_back({"layer_norm", "float", "mean 1e5", rows, columns,
                   [rows = rows, columns = columns] { return far_mean<formula::layer_norm>(rows, columns); }});
  }
}

}  // namespace bench
