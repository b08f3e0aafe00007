// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where elements of tensors lie, for whoever writes an operator.

#include "graph.hpp"
#include "tensor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace mini {

[[nodiscard]] inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

[[nodiscard]] inline shape strides_of(shape const& dims) {
  shape strides(dims.size(), 1);
  for (auto i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// Calls f(offset, ...) with an offset for each of the strides, for all places of `dims` in order.
template <std::size_t Count, class F>
void walk(shape const& dims, std::array<shape, Count> const& strides, F const& f) {
  if (count(dims) == 0) return;
  shape at(dims.size(), 0);
  std::array<std::int64_t, Count> offsets{};
  for (;;) {
    std::apply(f, offsets);
    auto axis = dims.size();
    for (;;) {
      if (axis == 0) return;
      --axis;
      for (std::size_t k = 0; k < Count; ++k) offsets[k] += strides[k][axis];
      if (++at[axis] < dims[axis]) break;
      for (std::size_t k = 0; k < Count; ++k) offsets[k] -= strides[k][axis] * dims[axis];
      at[axis] = 0;
    }
  }
}

[[nodiscard]] inline shape broadcast(shape const& a, shape const& b) {
  shape dims(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto const from_end = dims.size() - i;
    auto const x = from_end > a.size() ? 1 : a[a.size() - from_end],
               y = from_end > b.size() ? 1 : b[b.size() - from_end];
    if (x != y && x != 1 && y != 1) throw std::runtime_error("shapes that do not broadcast");
    dims[i] = x == 1 ? y : x;
  }
  return dims;
}

/// The strides with which a tensor of shape `from` is read at the places of `to`.
[[nodiscard]] inline shape broadcast_strides(shape const& from, shape const& to) {
  shape strides(to.size(), 0);
  auto const own = strides_of(from);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[to.size() - from.size() + i] = own[i];
  return strides;
}

/// The elements of `t` at the places of `dims`, as strides and a first one say.
[[nodiscard]] inline tensor gathered(tensor const& t, shape const& dims, shape const& strides, std::int64_t first = 0) {
  return t.visit([&](auto const& from) -> tensor {
    std::remove_cvref_t<decltype(from)> made;
    made.reserve(index(count(dims)));
    walk<1>(dims, {strides}, [&](std::int64_t at) { made.push_back(from[index(first + at)]); });
    return {dims, std::move(made)};
  });
}

[[nodiscard]] inline integers const& ints(tensor const& t) { return t.as<std::int64_t>(); }

/// A list that is an attribute in old operator sets, an operand in new ones.
[[nodiscard]] inline integers list(node const& n, tensors const& in, std::string const& name, std::size_t operand) {
  if (in.size() > operand && in[operand]) return ints(in[operand]);
  return n.get<std::vector<std::int64_t>>(name, {});
}

}  // namespace mini
