// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"
#include "operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace mini {
namespace {

// How scales and zero points lie in a tensor: one for all, or one for each place along an axis.
shape strides_of_scale(node const& n, tensor const& scale, tensor const& x) {
  shape strides(x.dims.size(), 0);
  if (count(scale.dims) != 1) strides[index(from_front(n.get<std::int64_t>("axis", 1), x.rank()))] = 1;
  return strides;
}

/// To bytes.
template <class T>
T saturated(float of) {
  using limits = std::numeric_limits<T>;
  return static_cast<T>(std::clamp(of, static_cast<float>(limits::lowest()), static_cast<float>(limits::max())));
}

tensors quantise(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const* from = x.as<float>().data();
  auto const& scales = in.at(1).as<float>();
  tensor const zeros = in.size() > 2 && in[2] ? in[2] : tensor(in[1].dims, booleans(scales.size(), 0));
  return {zeros.visit([&](auto const& zero) -> tensor {
    std::remove_cvref_t<decltype(zero)> made;
    walk<1>(x.dims, {strides_of_scale(n, in[1], x)}, [&](std::int64_t at) {
      auto const of = static_cast<float>(zero[index(at)]);
      made.push_back(
          saturated<std::remove_cvref_t<decltype(zero[0])>>(std::nearbyint(*from++ / scales[index(at)]) + of));
    });
    return {x.dims, std::move(made)};
  })};
}

tensors dequantise(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const& scales = in.at(1).as<float>();
  bool const has_zeros = in.size() > 2 && in[2];
  return {x.visit([&](auto const& all) -> tensor {
    floats made;
    auto from = all.begin();
    walk<1>(x.dims, {strides_of_scale(n, in[1], x)}, [&](std::int64_t at) {
      auto const zero = has_zeros ? in[2].as<typename std::remove_cvref_t<decltype(all)>::value_type>()[index(at)] : 0;
      made.push_back(static_cast<float>(*from++ - zero) * scales[index(at)]);
    });
    return {x.dims, std::move(made)};
  })};
}

// To unsigned bytes between the least and the largest element, and 0.
tensors quantise_by_range(node const&, tensors const& in) {
  auto const& x = in.at(0).as<float>();
  float least = 0, most = 0;
  for (float const each : x) least = std::min(least, each), most = std::max(most, each);
  float const scale = (most - least) / 255;
  float const zero = scale == 0 ? 0 : std::nearbyint(std::clamp(-least / scale, 0.f, 255.f));
  booleans made;
  for (float const each : x)
    made.push_back(scale == 0 ? 0 : saturated<std::uint8_t>(std::nearbyint(each / scale) + zero));
  return {{in[0].dims, std::move(made)}, {{}, floats{scale}}, {{}, booleans{static_cast<std::uint8_t>(zero)}}};
}

}  // namespace

std::span<named_function const> quantised_operators() {
  static constexpr named_function all[] = {
      {"DequantizeLinear", dequantise}, {"DynamicQuantizeLinear", quantise_by_range}, {"QuantizeLinear", quantise}};
  return all;
}

}  // namespace mini
