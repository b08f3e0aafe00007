// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// What is padded before a convolution or a pool, these pad themselves.
namespace fuse::inline v0::rules {
namespace formula {

/// The entries of a Pad are before each axis, then behind each; those of a layer are of the axes behind batch and
/// channels.
inline constexpr auto pads_ahead = dsl::param<"padded">, layer_pads = dsl::param<"pads">;

/// x, with one number around it.
[[nodiscard]] constexpr expression padded_with(double number) {
  auto const made = expression(opcode::pad, layer_input).attr<"mode">(0).attr<"value">(number).attr<"pads">(pads_ahead);
  return made.as<"wider x">();
}
[[nodiscard]] constexpr expression pads_together() {
  auto const ends = dsl::reshape(pads_ahead).attr<"shape">(dsl::list(2, -1));
  auto const spatial = expression(opcode::slice, ends)
                           .attr<"starts">(dsl::list(2))
                           .attr<"ends">(dsl::list(64))  // there are no more axes
                           .attr<"axes">(dsl::list(1));
  return dsl::reshape(spatial).attr<"shape">(dsl::list(-1)) + layer_pads;
}

inline constexpr auto spatial_alone = dsl::pred<"padded">([](auto padded) {
  std::vector<std::int64_t> all;
  if (!padded.integers(all) || all.size() < 6) return false;
  auto const rank = all.size() / 2;
  return all[0] == 0 && all[1] == 0 && all[rank] == 0 && all[rank + 1] == 0;
});
inline constexpr auto nothing_is_cut = dsl::pred<"padded">([](auto padded) {
  std::vector<std::int64_t> all;
  if (!padded.integers(all)) return false;
  for (auto const each : all)
    if (each < 0) return false;
  return true;
});

/// That every window of a pool has an element of x, also one at either end: runtimes demand it, and what the largest of
/// none is they do not agree about.
inline constexpr auto no_window_beside = dsl::pred<"padded", "pads", "kernel">([](auto padded, auto pads, auto kernel) {
  std::vector<std::int64_t> ahead, own, window;
  if (!padded.integers(ahead) || !pads.integers(own) || !kernel.integers(window)) return false;
  auto const axes = window.size();
  if (own.size() != 2 * axes || ahead.size() != 2 * (axes + 2)) return false;
  for (std::size_t i = 0; i < 2 * axes; ++i)
    if (ahead[i + (i < axes ? 2 : 4)] + own[i] >= window[i % axes]) return false;
  return true;
});
inline constexpr auto windows_without_gaps = dsl::pred<"dilations">([](auto dilations) {
  std::vector<std::int64_t> all;
  if (!dilations.integers(all)) return false;
  for (auto const each : all)
    if (each != 1) return false;
  return true;
});
/// What a pool pads itself it counts, too, or it pads nothing.
inline constexpr auto pads_count = dsl::pred<"counted", "pads">([](auto counted, auto pads) {
  double number = 0;
  std::vector<std::int64_t> all;
  if (!counted.number(number) || !pads.integers(all)) return false;
  for (auto const each : all)
    if (each != 0 && number == 0) return false;
  return true;
});

/// Else the Pad would stay: what reads it are layers of that kind, which all may pad themselves.
inline constexpr auto nothing_else_reads = dsl::pred<"wider x", "layer">([](auto wider, auto layer) {
  bool all = !wider.is_output();
  wider.for_each_user([&](value_view user) { all = all && user.op() == layer.op(); });
  return all;
});

[[nodiscard]] constexpr rewrite_rule of_padded(rule_name name, expression const& layer) {
  return name(layer.as<"layer">())
      .where<"batch and channels are not padded">(spatial_alone)
      .where<"nothing is cut off">(nothing_is_cut)
      .where<"nothing else reads what is padded">(nothing_else_reads)
      .stage(6);
}
[[nodiscard]] constexpr expression pool(opcode op, expression const& of) {
  return expression(op, of).attr<"pads">(layer_pads).attr<"kernel_shape">(dsl::param<"kernel">).attr<"ceil_mode">(0);
}

}  // namespace formula

inline constexpr auto pad_into_conv =
    formula::of_padded(rule<"pad-into-conv">, formula::conv(formula::padded_with(0)).attr<"pads">(formula::layer_pads))
        .summary("zeros around what goes into a convolution are its own padding")
        .replace(dsl::again<"layer">(formula::layer_input, formula::weights, formula::layer_bias)
                     .attr<"pads">(formula::pads_together()));

inline constexpr auto pad_into_average_pool =
    formula::of_padded(
        rule<"pad-into-average-pool">,
        formula::pool(opcode::average_pool, formula::padded_with(0)).attr<"count_include_pad">(dsl::param<"counted">))
        .where<"its own padding counts, or there is none">(formula::pads_count)
        .where<"no window lies beside the input">(formula::no_window_beside)
        .summary("zeros around what goes into an average pool are its own padding, which counts")
        .replace(dsl::again<"layer">(formula::layer_input)
                     .attr<"pads">(formula::pads_together())
                     .attr<"count_include_pad">(1));

inline constexpr auto pad_into_max_pool =
    formula::of_padded(rule<"pad-into-max-pool">,
                       formula::pool(opcode::max_pool, formula::padded_with(-std::numeric_limits<double>::infinity()))
                           .attr<"dilations">(dsl::param<"dilations">))
        .where(dsl::floating<"x">.quiet())
        .where<"windows have no gaps">(formula::windows_without_gaps)
        .where<"no window lies beside the input">(formula::no_window_beside)
        .summary("what is less than every number around what goes into a max pool is its own padding")
        .replace(dsl::again<"layer">(formula::layer_input).attr<"pads">(formula::pads_together()));

/// Padding that convolutions and pools have themselves.
inline constexpr auto padding = rule_set<pad_into_conv, pad_into_average_pool, pad_into_max_pool>;

}  // namespace fuse::inline v0::rules
