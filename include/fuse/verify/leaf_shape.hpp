// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/dsl/conditions.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/verify/choices.hpp>

namespace fuse::inline v0::detail {

/// The condition of that kind which a rule has on a name, or null.
[[nodiscard]] inline condition const* condition_on(rewrite_rule const& rule, std::string_view name,
                                                   bool (*holds)(captured const*, condition const&)) {
  for (std::size_t i = 0; i < rule.condition_count; ++i)
    if (auto const& c = rule.conditions[i]; c.holds == holds && c.captures[0] == name) return &c;
  return nullptr;
}

/// Writes the shape of what a name of a pattern captures, beside a value of shape `base`: one that broadcasts to that,
/// as conditions on the name want it, mostly. `axes` are those that names stand for.
[[nodiscard]] inline std::vector<std::int64_t> leaf_shape(rewrite_rule const& rule, std::string_view name,
                                                          std::vector<std::int64_t> base,
                                                          std::map<std::string, std::vector<std::int64_t>> const& axes,
                                                          bool exact, random_choices& choose) {
  using shape = std::vector<std::int64_t>;
  using namespace dsl::condition_detail;
  auto const on = [&](bool (*holds)(captured const*, condition const&)) { return condition_on(rule, name, holds); };
  auto const axis_of = [&](condition const& c) {
    return static_cast<std::ptrdiff_t>(c.number) + (c.number < 0 ? std::ssize(base) : std::ptrdiff_t{0});
  };
  auto const with_fewer_axes = [&] {
    while (base.size() > 1 && base[0] == 1 && choose.one_in("fewer axes", 2)) base.erase(base.begin());
    return base;
  };
  if (base.empty()) return base;
  if (auto const* c = on(&along_last_axes); c != nullptr && !choose.one_in("another shape", 8)) {
    std::size_t count = 1;
    if (auto const at = axes.find(std::string(std::string_view(c->captures[2]))); at != axes.end())
      count = at->second.size();
    auto const first = base.end() - static_cast<std::ptrdiff_t>(std::min(count, base.size()));
    auto const kept = shape(first, base.end());
    auto const how = choose.number("shape of a row", {0, 0, 0, 1, 2});
    if (how == 0) return kept;
    if (how == 2) return {};
    std::fill(base.begin(), first, 1);
    return base;
  }
  if (auto const* c = on(&along_one_axis); c != nullptr && !choose.one_in("another shape", 8)) {
    for (std::ptrdiff_t i = 0; i < std::ssize(base); ++i)
      if (i != axis_of(*c)) base[static_cast<std::size_t>(i)] = 1;
    return with_fewer_axes();
  }
  bool const ranked = on(&rank_is) != nullptr;
  if (auto const* c = on(&broadcasts_along); c != nullptr && !choose.one_in("another shape", ranked ? 16 : 8)) {
    auto const axis = axis_of(*c);
    if (axis >= 0 && axis < std::ssize(base)) base[static_cast<std::size_t>(axis)] = 1;
    if (axis > 0 && choose.one_in("one for all", ranked ? 16 : 2)) base[0] = 1;
    return ranked ? base : with_fewer_axes();
  }
  if (exact || on(&same_shape) != nullptr) return base;
  auto const how = choose.number("shape of a leaf", {0, 0, 0, 0, 1, 2, 3, 4});
  if (how == 1) base[0] = 1;
  if (how == 2) base.back() = 1;
  if (how == 3) base.erase(base.begin());
  if (how == 4 && choose.one_in("a number", 2)) base.clear();
  return base;
}

}  // namespace fuse::inline v0::detail
