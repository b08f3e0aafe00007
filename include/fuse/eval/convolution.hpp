// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/elementwise.hpp>
#include <fuse/eval/windows.hpp>

namespace fuse::inline v0::detail {

/// Adds a bias, one number for each channel.
[[nodiscard]] inline bool add_to_channels(dense& x, dense const* bias) {
  if (bias == nullptr) return true;
  if (bias->elements.size() != static_cast<std::size_t>(x.shape[1])) return false;
  auto const inner = count_between(x.shape, 2, x.shape.size());
  for (std::size_t i = 0; i < x.elements.size(); ++i)
    x.elements[i] += bias->elements[i / inner % bias->elements.size()];
  return true;
}

/// Calls `visit(place, entry, position)` for each place of a kernel and each of its entries that lies inside of the
/// input: the numbers of the three.
template <class Visit>
void for_each_entry(window_places const& w, std::vector<std::int64_t> const& places,
                    std::vector<std::int64_t> const& whole, Visit const& visit) {
  auto const strides = strides_of(whole);
  std::size_t place = 0;
  for_each_index(places, [&](std::vector<std::int64_t> const& at) {
    std::size_t entry = 0;
    for_each_index(w.kernel, [&](std::vector<std::int64_t> const& k) {
      std::int64_t from = 0;
      bool inside = true;
      for (std::size_t axis = 0; axis < k.size(); ++axis) {
        auto const position = w.position(axis, at[axis], k[axis]);
        inside = inside && position >= 0 && position < whole[axis];
        from += position * strides[axis];
      }
      if (inside) visit(place, entry, static_cast<std::size_t>(from));
      ++entry;
    });
    ++place;
  });
}

/// The convolution of x [batch, channels in, ...] by w [channels out, channels in / groups, kernel...], in doubles.
[[nodiscard]] inline bool convolved(call const& c, dense const& x, dense const& w, dense const* bias, dense& made) {
  auto const groups = c.integer("group", 1);
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size() || groups < 1 || w.shape[0] % groups != 0 ||
      w.shape[1] * groups != x.shape[1])
    return false;
  window_places windows;
  auto const whole = spatial(x.shape);
  if (!windows.read(c, spatial(w.shape), whole)) return false;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < whole.size(); ++i) places.push_back(windows.places(i, whole[i]));
  made.shape = {x.shape[0], w.shape[0]};
  made.shape.insert(made.shape.end(), places.begin(), places.end());
  made.elements.assign(count_of(made.shape), 0);
  auto const batch = static_cast<std::size_t>(x.shape[0]), in = static_cast<std::size_t>(w.shape[1]),
             out = static_cast<std::size_t>(w.shape[0]), per_group = out / static_cast<std::size_t>(groups);
  auto const size_x = count_of(whole), size_w = count_of(windows.kernel), size_y = count_of(places);
  for_each_entry(windows, places, whole, [&](std::size_t place, std::size_t entry, std::size_t from) {
    for (std::size_t n = 0; n < batch; ++n)
      for (std::size_t o = 0; o < out; ++o) {
        auto& sum = made.elements[(n * out + o) * size_y + place];
        for (std::size_t i = 0; i < in; ++i)
          sum += x.elements[(n * in * static_cast<std::size_t>(groups) + o / per_group * in + i) * size_x + from] *
                 w.elements[(o * in + i) * size_w + entry];
      }
  });
  return add_to_channels(made, bias);
}

/// Pads of a transposed convolution to a given or an even output: what its result lacks at either end.
[[nodiscard]] inline bool read_transposed(call const& c, dense const& w, std::vector<std::int64_t> const& whole,
                                          window_places& windows, std::vector<std::int64_t>& places) {
  std::vector<std::int64_t> extra, wanted;
  auto const how = c.text("auto_pad", "NOTSET");
  auto const count = whole.size();
  if (!windows.read(c, spatial(w.shape), whole) || !c.list("output_padding", count, 0, extra)) return false;
  bool const told = c.list("output_shape", wanted) && !wanted.empty();
  bool const same = how == "SAME_UPPER" || how == "SAME_LOWER";
  if (told && wanted.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    auto const grown = windows.strides[i] * (whole[i] - 1) + extra[i] + windows.covered(i);
    if (told || same) {
      auto const length = told ? wanted[i] : whole[i] * windows.strides[i];
      auto const all = grown > length ? grown - length : 0;
      windows.before[i] = how == "SAME_UPPER" ? all / 2 : all - all / 2;
      windows.behind[i] = all - windows.before[i];
      places.push_back(length);
    } else {
      places.push_back(grown - windows.before[i] - windows.behind[i]);
    }
    if (places[i] < 0) return false;
  }
  return true;
}

/// The transpose of a convolution: each element of x [batch, channels in, ...] spreads w [channels in,
/// channels out / groups, kernel...].
[[nodiscard]] inline bool spread(call const& c, dense const& x, dense const& w, dense const* bias, dense& made) {
  auto const groups = c.integer("group", 1);
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size() || groups < 1 || w.shape[0] != x.shape[1] ||
      x.shape[1] % groups != 0)
    return false;
  window_places windows;
  std::vector<std::int64_t> places;
  auto const whole = spatial(x.shape);
  if (!read_transposed(c, w, whole, windows, places)) return false;
  made.shape = {x.shape[0], w.shape[1] * groups};
  made.shape.insert(made.shape.end(), places.begin(), places.end());
  made.elements.assign(count_of(made.shape), 0);
  auto const batch = static_cast<std::size_t>(x.shape[0]), in = static_cast<std::size_t>(x.shape[1]),
             out = static_cast<std::size_t>(w.shape[1]), per_group = in / static_cast<std::size_t>(groups);
  auto const size_x = count_of(whole), size_w = count_of(windows.kernel), size_y = count_of(places);
  for_each_entry(windows, whole, places, [&](std::size_t from, std::size_t entry, std::size_t place) {
    for (std::size_t n = 0; n < batch; ++n)
      for (std::size_t i = 0; i < in; ++i)
        for (std::size_t o = 0; o < out; ++o)
          made.elements[((n * static_cast<std::size_t>(groups) + i / per_group) * out + o) * size_y + place] +=
              x.elements[(n * in + i) * size_x + from] * w.elements[(i * out + o) * size_w + entry];
  });
  return add_to_channels(made, bias);
}

[[nodiscard]] inline evaluation evaluate_convolution(call const& c) {
  auto const *x = c.operand(0), *w = c.operand(1);
  if (x == nullptr || w == nullptr) return evaluation::misfit;
  dense made;
  bool const fits =
      c.op == opcode::conv_transpose ? spread(c, *x, *w, c.operand(2), made) : convolved(c, *x, *w, c.operand(2), made);
  if (!fits) return evaluation::misfit;
  if (c.op != opcode::fused_conv) return c.yield(std::move(made));
  if (auto const* added = c.operand(3); added != nullptr) {
    if (added->shape != made.shape) return evaluation::misfit;
    for (std::size_t i = 0; i < made.elements.size(); ++i) made.elements[i] += added->elements[i];
  }
  return activated(c, c.yield(std::move(made)));
}

}  // namespace fuse::inline v0::detail
