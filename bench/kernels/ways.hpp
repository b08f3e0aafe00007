// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/plan.hpp>
#include <fuse/kernels/detail/selection.hpp>
#include <fuse/kernels/execution.hpp>

#include "comparison.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {
using fuse::kernels::row_way;

/// A kernel that goes through its rows the way that it is told.
struct told_kernel {
  std::string kernel, type;
  fuse::kernels::detail::row_loops loops;
  fuse::kernels::detail::row_shape shape;
  std::function<std::function<void(row_way)>()> make;
};

/// The shapes of norms, and some around those at which another way is chosen.
inline constexpr std::pair<std::size_t, std::size_t> way_shapes[] = {
    {128, 384},  {128, 768},  {128, 776},  {512, 896},  {512, 1024},  {512, 1280}, {512, 1536},
    {512, 2048}, {256, 3072}, {128, 4096}, {128, 8192}, {4096, 4096}, {8, 16384}};

/// The loops of the target in use.
inline fuse::kernels::detail::row_loops loops_here(fuse::kernels::detail::rows_from source, std::size_t sums,
                                                   bool floats, bool only_halves) {
  return {fuse::kernels::detail::selection<fuse::kernels::detail::build_targets>::vectors(), source, sums, floats,
          only_halves};
}

/// `on()`, which says the way.
inline auto going(row_way way) {
  fuse::kernels::on how;
  how.way = way;
  return how;
}

void add_norm_ways(std::vector<told_kernel>& all);
void add_skip_norm_ways(std::vector<told_kernel>& all);
void add_embedding_ways(std::vector<told_kernel>& all);
void add_expression_ways(std::vector<told_kernel>& all);

/// For each kernel and shape: the chosen way first, then all others that it has.
std::vector<comparison> compared_ways();

/// A line for each of them: the chosen way, the best one, and the time of the one in that of the other.
void print_choices(nlohmann::ordered_json const& rows);

}  // namespace bench
