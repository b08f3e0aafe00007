// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lower_writing.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr void lowering::add_condition(condition const& added) {
  std::uint8_t at = 0;
  for (; at < out.condition_count; ++at) {
    auto const& known = out.conditions[at].what;
    bool equal = known.name == added.name && known.count == added.count;
    for (std::size_t i = 0; equal && i < added.count; ++i) equal = known.captures[i] == added.captures[i];
    if (equal) break;
  }
  if (at == out.condition_count) {
    if (at == lowered_rule::condition_capacity) return fail(rule_error::too_large, rule_.name);
    out.conditions[at].what = added;
    for (std::size_t i = 0; i < added.count; ++i) {
      std::uint8_t found = no_slot;
      for (std::uint8_t s = 0; found == no_slot && s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) found = s;
      // "axes" is there for conditions whether a reduction captured it or not.
      if (found == no_slot && added.captures[i] != "axes" && !names(pattern_, added.captures[i]))
        return fail(rule_error::unbound_condition, added.captures[i]);
      out.conditions[at].slots[i] = found;
    }
    ++out.condition_count;
  } else {
    for (std::size_t i = 0; i < added.count; ++i)
      for (std::uint8_t s = 0; s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) out.conditions[at].slots[i] = s;
  }
  emit({.code = step::condition, .op = at});
}
constexpr bool lowering::names(expression const& in, static_text name) {
  for (std::uint16_t i = 0; i < in.size; ++i)
    if (in[i].name == name) return true;
  return false;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
