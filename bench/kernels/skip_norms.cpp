// SPDX-License-Identifier: BSL-1.0

// The norms of a sum that is kept, against an addition and a norm after it.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/skip_layer_norm.hpp>
#include <fuse/kernels/skip_rms_norm.hpp>

#include "autovectorised.hpp"
#include "comparison.hpp"
#include "norm_tensors.hpp"
#include "ways.hpp"

namespace bench {
namespace {
using namespace fuse::kernels;

template <class T>
struct skip_tensors : norm_tensors<T> {
  tensor<T> residual{this->rows * this->columns}, sum{this->rows * this->columns};

  skip_tensors(std::size_t rows_, std::size_t columns_) : norm_tensors<T>(rows_, columns_, 0.0f, 0.1f) {
    fill(residual, 0, 1);
  }
};

template <formula Formula, class T>
void ours(skip_tensors<T> const& t, on<> const& how = {}) {
  matrix_view<T const> const x(t.x.data(), t.rows, t.columns), residual(t.residual.data(), t.rows, t.columns);
  matrix_view<T> const sum(t.sum.data(), t.rows, t.columns), y(t.y.data(), t.rows, t.columns);
  if constexpr (Formula == formula::layer_norm) {
    check(skip_layer_norm(x, residual, none, t.scale, t.bias, sum, y, epsilon, {}, how));
  } else {
    check(skip_rms_norm(x, residual, none, t.scale, sum, y, epsilon, {}, how));
  }
}

template <formula Formula, class T>
std::vector<candidate> plain(std::size_t rows, std::size_t columns) {
  auto const t = std::make_shared<skip_tensors<T>>(rows, columns);
  std::vector<candidate> all;
  all.push_back({"fuse", "", [t] { ours<Formula>(*t); }});
  all.push_back({"memcpy of both inputs", "", [t] {
                   std::memcpy(t->sum.data(), t->x.data(), t->bytes());
                   std::memcpy(t->y.data(), t->residual.data(), t->bytes());
                 }});
  if constexpr (std::is_same_v<T, float>) {
    all.push_back({"add, then fuse", "", [t] {
                     autovectorised::add(t->x.data(), t->residual.data(), t->sum.data(), t->x.size());
                     norm<Formula>(*t, t->sum.data(), t->y.data());
                   }});
  } else {
    auto const wide = std::make_shared<skip_tensors<float>>(rows, columns);
    all.push_back({"fuse, float", "", [wide] { ours<Formula>(*wide); }});
  }
  return all;
}

template <formula Formula, class T>
void add(std::vector<comparison>& all, std::string const& kernel) {
  for (auto const& [rows, columns] : norm_shapes) {
    all.push_back({kernel, type_name<T>(), "", rows, columns,
                   [rows = rows, columns = columns] { return plain<Formula, T>(rows, columns); }});
  }
}

template <formula Formula, class T>
void add_ways(std::vector<told_kernel>& all, std::string const& kernel) {
  for (auto const& [rows, columns] : way_shapes) {
    all.push_back(
        {kernel,
         type_name<T>(),
         loops_here(detail::rows_from::added, Formula == formula::layer_norm ? 2 : 1, std::is_same_v<T, float>, false),
         {.rows = rows,
          .columns = columns,
          .streamed = detail::is_streamed(output::automatic, false, rows * columns * sizeof(T)),
          .share_lines = columns % 16 == 0},
         [rows = rows, columns = columns] {
           auto const t = std::make_shared<skip_tensors<T>>(rows, columns);
           return [t](row_way way) { ours<Formula>(*t, going(way)); };
         }});
  }
}

}  // namespace

void add_skip_norm_ways(std::vector<told_kernel>& all) {
  add_ways<formula::layer_norm, float>(all, "skip_layer_norm");
  add_ways<formula::layer_norm, bfloat16>(all, "skip_layer_norm");
  add_ways<formula::rms_norm, float>(all, "skip_rms_norm");
  add_ways<formula::rms_norm, bfloat16>(all, "skip_rms_norm");
}

void add_skip_norms(std::vector<comparison>& all) {
  add<formula::layer_norm, float>(all, "skip_layer_norm");
  add<formula::layer_norm, bfloat16>(all, "skip_layer_norm");
  add<formula::rms_norm, float>(all, "skip_rms_norm");
  add<formula::rms_norm, bfloat16>(all, "skip_rms_norm");
}

}  // namespace bench
