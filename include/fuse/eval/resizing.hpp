// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// How one axis is resized.
struct axis_resize {
  std::int64_t from = 0, to = 0;
  double scale = 1, start = 0, end = 1;  // start and end of what is looked at, where coordinates are cropped

  /// Where output place `y` lies in the input.
  [[nodiscard]] double place(double y, std::string_view mode) const {
    auto const in = static_cast<double>(from), out = scale * in;
    if (mode == "asymmetric") return y / scale;
    if (mode == "align_corners") return out == 1 ? 0 : y * (in - 1) / (out - 1);
    if (mode == "tf_crop_and_resize")
      return start * (in - 1) + (out == 1 ? (end - start) * (in - 1) / 2 : y * (end - start) * (in - 1) / (out - 1));
    if (mode == "pytorch_half_pixel" && out == 1) return -0.5;
    auto const middle = (y + 0.5) / scale - 0.5;
    return mode == "half_pixel_symmetric" ? in / 2 * (1 - static_cast<double>(to) / out) + middle : middle;
  }
};

/// How the neighbours of a place are weighed.
struct neighbour_weights {
  std::string_view mode = "nearest", nearest = "round_prefer_floor";
  double cubic = -0.75;
  bool antialias = false;

  /// The weights of the neighbours, an even number of them, the place lying `ratio` in (0, 1] after the middle's left.
  [[nodiscard]] std::vector<double> at(double ratio, double scale) const {
    if (mode == "nearest") {
      bool const left = ratio != 1 && (nearest == "floor"                ? true
                                       : nearest == "ceil"               ? false
                                       : nearest == "round_prefer_floor" ? ratio <= 0.5
                                                                         : ratio < 0.5);
      return {left ? 1. : 0., left ? 0. : 1.};
    }
    auto const by = antialias && scale < 1 ? scale : 1;
    auto const reach = mode == "cubic" ? 2 : 1;
    auto const first = static_cast<int>(std::floor(-reach / by)) + 1;
    std::vector<double> made;
    double sum = 0;
    for (int i = first; i < 2 - first; ++i) made.push_back(weight(by * (i - ratio)));
    for (auto w : made) sum += w;
    for (auto& w : made) w /= sum;
    return made;
  }

 private:
  [[nodiscard]] double weight(double distance) const {
    auto const x = std::fabs(distance);
    if (mode != "cubic") return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((cubic + 2) * x - (cubic + 3)) * x * x + 1;
    return x < 2 ? ((cubic * x - 5 * cubic) * x + 8 * cubic) * x - 4 * cubic : 0;
  }
};

/// What a resize does with places outside.
struct outside {
  bool excluded = false;
  double number = 0;  // of a cropped coordinate
};

[[nodiscard]] inline dense resized_along(dense const& x, std::size_t axis, axis_resize const& how,
                                         std::string_view places, neighbour_weights const& weights,
                                         outside const& beyond) {
  dense made{x.shape, {}, x.type, {}};
  made.shape[axis] = how.to;
  made.elements.assign(count_of(made.shape), 0);
  auto const outer = count_between(x.shape, 0, axis), inner = count_between(x.shape, axis + 1, x.shape.size());
  auto const in = static_cast<std::size_t>(how.from), out = static_cast<std::size_t>(how.to);
  for (std::size_t y = 0; y < out; ++y) {
    auto const place = how.place(static_cast<double>(y), places);
    auto const left = std::floor(place);
    auto w = weights.at(place == left ? 1 : place - left, how.scale);
    auto const first =
        static_cast<std::int64_t>(left) - static_cast<std::int64_t>(w.size() / 2) + (place == left ? 0 : 1);
    bool const cropped = places == "tf_crop_and_resize" && (place < 0 || place > static_cast<double>(how.from - 1));
    double sum = 0;
    for (std::size_t k = 0; k < w.size(); ++k) {
      auto const i = first + static_cast<std::int64_t>(k);
      if (beyond.excluded && (i < 0 || i >= how.from)) w[k] = 0;
      sum += w[k];
    }
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t r = 0; r < inner; ++r) {
        double value = 0;
        for (std::size_t k = 0; k < w.size(); ++k) {
          auto i = first + static_cast<std::int64_t>(k);
          i = i < 0 ? 0 : i >= how.from ? how.from - 1 : i;
          if (w[k] != 0) value += w[k] * x.elements[(o * in + static_cast<std::size_t>(i)) * inner + r];
        }
        made.elements[(o * out + y) * inner + r] = cropped                       ? beyond.number
                                                   : beyond.excluded && sum != 0 ? value / sum
                                                                                 : value;
      }
  }
  return made;
}

/// Scales, from an operand or an attribute; none where sizes are given.
[[nodiscard]] inline std::vector<double> scales_of(call const& c) {
  auto const* operand = c.operand(c.operands.size() <= 2 ? 1 : 2);
  if (operand != nullptr) return in_doubles(*operand).elements;
  auto const held = c.parameters.attribute("scales");
  auto const* list = std::get_if<span<float const>>(&held);
  return list == nullptr ? std::vector<double>{} : std::vector<double>(list->begin(), list->end());
}

/// One axis after the other, as the weights of the neighbours of each place say.
[[nodiscard]] inline evaluation evaluate_resize(call const& c) {
  auto const *x = c.operand(0), *region = c.operands.size() <= 2 ? nullptr : c.operand(1), *sizes = c.operand(3);
  if (x == nullptr) return evaluation::misfit;
  bool const old = c.operands.size() <= 2;  // from before coordinates could be told
  auto const rank = x->shape.size();
  std::vector<std::int64_t> axes;
  if (!c.list("axes", axes) || axes.empty()) {
    axes.clear();
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!counted_axes(axes, rank)) return evaluation::misfit;
  auto scales = scales_of(c);
  auto lengths = sizes == nullptr ? std::vector<std::int64_t>{} : integers_of(*sizes);
  auto const bounds = region == nullptr ? std::vector<double>{} : in_doubles(*region).elements;
  auto const count = axes.size();
  if (!lengths.empty()) {
    if (lengths.size() != count || !are_extents(lengths)) return evaluation::misfit;
    scales.assign(count, 1);
    for (std::size_t i = 0; i < count; ++i)
      scales[i] = static_cast<double>(lengths[i]) / static_cast<double>(x->shape[static_cast<std::size_t>(axes[i])]);
    if (auto const policy = c.text("keep_aspect_ratio_policy", "stretch"); policy != "stretch") {
      auto one = scales[0];
      for (auto s : scales) one = (policy == "not_larger" ? s < one : s > one) ? s : one;
      for (std::size_t i = 0; i < count; ++i) {
        scales[i] = one;
        lengths[i] = static_cast<std::int64_t>(
            std::floor(one * static_cast<double>(x->shape[static_cast<std::size_t>(axes[i])]) + 0.5));
      }
    }
  }
  if (scales.size() != count || (!bounds.empty() && bounds.size() != 2 * count)) return evaluation::misfit;
  neighbour_weights weights{c.text("mode", "nearest"), c.text("nearest_mode", old ? "floor" : "round_prefer_floor"),
                            c.number("cubic_coeff_a", -0.75), c.flag("antialias")};
  if (weights.mode == "bilinear") weights.mode = "linear";
  if (weights.mode != "nearest" && weights.mode != "linear" && weights.mode != "cubic") return evaluation::unknown;
  auto const places = c.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  outside const beyond{c.flag("exclude_outside"), c.number("extrapolation_value", 0)};
  auto made = in_doubles(*x);
  for (std::size_t i = 0; i < count; ++i) {
    auto const axis = static_cast<std::size_t>(axes[i]);
    axis_resize how{x->shape[axis], 0, scales[i]};
    if (!(how.scale > 0) || how.from < 1) return evaluation::misfit;
    how.to =
        lengths.empty() ? static_cast<std::int64_t>(std::floor(how.scale * static_cast<double>(how.from))) : lengths[i];
    if (!bounds.empty()) {
      how.start = bounds[i];
      how.end = bounds[i + count];
    }
    if (how.to == how.from && how.scale == 1 && how.start == 0 && how.end == 1) continue;
    made = resized_along(made, axis, how, places, weights, beyond);
  }
  return c.yield(converted(std::move(made), x->type));
}

}  // namespace fuse::inline v0::detail
