// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/windows.hpp>

namespace fuse::inline v0::detail {

/// The number of an element in an image of these extents, whose index is `at`, with the last axis outermost.
[[nodiscard]] inline std::int64_t column_major(std::vector<std::int64_t> const& at,
                                               std::vector<std::int64_t> const& whole) {
  std::int64_t number = 0;
  for (auto axis = at.size(); axis-- > 0;) number = number * whole[axis] + at[axis];
  return number;
}

/// Pools: the largest, and where it stands; the mean, with or without what is padded; the norm of a degree.
[[nodiscard]] inline evaluation evaluate_pool(call const& c) {
  auto const* x = c.operand(0);
  std::vector<std::int64_t> kernel;
  if (x == nullptr || x->shape.size() < 3 || !c.list("kernel_shape", kernel)) return evaluation::misfit;
  auto const whole = spatial(x->shape);
  window_places w;
  if (!w.read(c, kernel, whole)) return evaluation::misfit;
  bool const up = c.flag("ceil_mode"), counts_pads = c.flag("count_include_pad"), by_column = c.flag("storage_order");
  double const degree = c.number("p", 2);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < whole.size(); ++i) places.push_back(w.places(i, whole[i], up));
  auto const input = in_doubles(*x);
  dense made{{x->shape[0], x->shape[1]}, {}, element_type::float64, {}};
  made.shape.insert(made.shape.end(), places.begin(), places.end());
  auto where = integers_in(made.shape, {});
  auto const images = static_cast<std::size_t>(x->shape[0] * x->shape[1]);
  auto const size = static_cast<std::int64_t>(count_of(whole));
  auto const strides = strides_of(whole);
  std::vector<std::int64_t> position(whole.size());
  for (std::size_t image = 0; image < images; ++image)
    for_each_index(places, [&](std::vector<std::int64_t> const& at) {
      double best = -HUGE_VAL, sum = 0, powers = 0;
      std::int64_t inside = 0, covered = 0, place = 0;
      for_each_index(w.kernel, [&](std::vector<std::int64_t> const& k) {
        std::int64_t from = 0;
        bool in_image = true, in_pads = true;
        for (std::size_t axis = 0; axis < k.size(); ++axis) {
          position[axis] = w.position(axis, at[axis], k[axis]);
          in_image = in_image && position[axis] >= 0 && position[axis] < whole[axis];
          in_pads = in_pads && position[axis] < whole[axis] + w.behind[axis];
          from += position[axis] * strides[axis];
        }
        covered += in_pads;
        if (!in_image) return;
        auto const v = input.elements[image * static_cast<std::size_t>(size) + static_cast<std::size_t>(from)];
        ++inside;
        sum += v;
        if (c.op == opcode::lp_pool) powers += std::pow(std::fabs(v), degree);
        if (v > best || v != v || inside == 1) {
          best = v;
          place = static_cast<std::int64_t>(image) * size + (by_column ? column_major(position, whole) : from);
        }
      });
      if (c.op == opcode::max_pool) {
        made.elements.push_back(best);
        where.integers.push_back(place);
      } else if (c.op == opcode::lp_pool) {
        made.elements.push_back(std::pow(powers, 1 / degree));
      } else {
        made.elements.push_back(sum / static_cast<double>(counts_pads ? covered : inside));
      }
    });
  if (c.op == opcode::max_pool) c.yield(1, std::move(where));
  return c.yield(converted(std::move(made), x->type));
}

/// The largest of each channel.
[[nodiscard]] inline evaluation evaluate_global_pool(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr || x->shape.size() < 3) return evaluation::misfit;
  dense made{x->shape, {}, x->type, {}};
  for (std::size_t i = 2; i < made.shape.size(); ++i) made.shape[i] = 1;
  auto const inner = count_between(x->shape, 2, x->shape.size());
  if (inner == 0) return evaluation::misfit;
  double const degree = c.number("p", 2);
  for (std::size_t at = 0; at < x->elements.size(); at += inner) {
    double best = -HUGE_VAL, powers = 0;
    for (std::size_t i = 0; i < inner; ++i) {
      auto const v = x->elements[at + i];
      if (v > best || v != v) best = v;
      if (c.op == opcode::global_lp_pool) powers += std::pow(std::fabs(v), degree);
    }
    made.elements.push_back(c.op == opcode::global_lp_pool ? std::pow(powers, 1 / degree) : best);
  }
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail
