// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"
#include "operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace mini {
namespace {

template <class T, class F>
tensor binary_of(tensor const& a, tensor const& b, F const& f) {
  using result = std::conditional_t<std::is_same_v<std::invoke_result_t<F, T, T>, bool>, std::uint8_t, T>;
  auto const &x = a.as<T>(), &y = b.as<T>();
  auto const dims = broadcast(a.dims, b.dims);
  elements<result> made(index(count(dims)));
  auto outer = dims, x_strides = broadcast_strides(a.dims, dims), y_strides = broadcast_strides(b.dims, dims);
  auto const pop = [](shape& from) {
    return from.empty() ? 1 : std::exchange(from, shape(from.begin(), from.end() - 1)).back();
  };
  auto const columns = pop(outer), x_step = pop(x_strides), y_step = pop(y_strides);
  auto to = made.begin();
  walk<2>(outer, {x_strides, y_strides}, [&](std::int64_t i, std::int64_t j) {
    for (std::int64_t k = 0; k < columns; ++k)
      *to++ = static_cast<result>(f(x[index(i + k * x_step)], y[index(j + k * y_step)]));
  });
  return {dims, std::move(made)};
}

template <class F>
tensor binary(tensor const& a, tensor const& b, F const& f) {
  return a.visit([&](auto const& elements) {
    return binary_of<typename std::remove_cvref_t<decltype(elements)>::value_type>(a, b, f);
  });
}

// Functions of operators, from functions of elements.
template <class F>
function each(F) {
  return [](node const&, tensors const& in) -> tensors {
    return {in.at(0).visit([&](auto elements) -> tensor {
      for (auto& x : elements) x = static_cast<std::remove_reference_t<decltype(x)>>(F{}(x));
      return {in[0].dims, std::move(elements)};
    })};
  };
}
template <class F>
function pairwise(F) {
  return [](node const&, tensors const& in) -> tensors {
    auto so_far = binary(in.at(0), in.at(1), F{});
    for (std::size_t i = 2; i < in.size(); ++i) so_far = binary(so_far, in[i], F{});
    return {std::move(so_far)};
  };
}

/// What no integer holds, such as log(0), is the lowest of all.
std::int64_t whole(float x) {
  bool const fits = x >= -0x1p63f && x < 0x1p63f;
  return fits ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::min();
}

template <class To>
tensor converted(tensor const& x) {
  return x.visit([&](auto const& from) -> tensor {
    elements<To> made;
    made.reserve(from.size());
    for (auto const element : from)
      if constexpr (std::is_same_v<To, std::uint8_t>)
        made.push_back(element != 0);
      else if constexpr (std::is_same_v<To, std::int64_t> && std::is_same_v<decltype(element), float const>)
        made.push_back(whole(element));
      else
        made.push_back(static_cast<To>(element));
    return {x.dims, std::move(made)};
  });
}

tensors power(node const&, tensors const& in) {
  return {binary_of<float>(in.at(0), in.at(1).is<float>() ? in[1] : converted<float>(in[1]),
                           [](float a, float b) { return b == 2 ? a * a : std::pow(a, b); })};
}

tensors cast(node const& n, tensors const& in) {
  auto const to = n.get<std::int64_t>("to", 0);
  if (to == 1) return {converted<float>(in.at(0))};
  if (to == 6 || to == 7) return {converted<std::int64_t>(in.at(0))};
  if (to == 9) return {converted<std::uint8_t>(in.at(0))};
  throw std::runtime_error("element type " + std::to_string(to) + ", expected float, int32, int64 or bool");
}

tensors where(node const&, tensors const& in) {
  auto const dims = broadcast(in.at(0).dims, broadcast(in.at(1).dims, in.at(2).dims));
  auto const a = gathered(in[1], dims, broadcast_strides(in[1].dims, dims));
  auto const b = gathered(in[2], dims, broadcast_strides(in[2].dims, dims));
  auto const chosen = gathered(in[0], dims, broadcast_strides(in[0].dims, dims));
  return {a.visit([&](auto elements) -> tensor {
    auto const& others = b.as<typename decltype(elements)::value_type>();
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (chosen.as<std::uint8_t>()[i] == 0) elements[i] = others[i];
    return {dims, std::move(elements)};
  })};
}

template <class F>
function asked(F) {
  return [](node const&, tensors const& in) -> tensors {
    booleans made;
    for (float const x : in.at(0).as<float>()) made.push_back(F{}(x));
    return {{in[0].dims, std::move(made)}};
  };
}

tensors clip(node const&, tensors const& in) {
  auto const bound = [&](std::size_t at, float otherwise) {
    return in.size() > at && in[at] ? in[at].as<float>().at(0) : otherwise;
  };
  constexpr float none = std::numeric_limits<float>::infinity();
  float const least = bound(1, -none), most = bound(2, none);
  floats made(in.at(0).as<float>());
  for (auto& x : made) x = std::min(std::max(x, least), most);
  return {{in[0].dims, std::move(made)}};
}

}  // namespace

std::span<named_function const> elementwise_operators() {
  static named_function const all[] = {
      {"Abs", each([](auto v) { return v < 0 ? -v : v; })},
      {"Add", pairwise(std::plus<>())},
      {"And", pairwise(std::logical_and<>())},
      {"Cast", cast},
      {"Clip", clip},
      {"Cos", each([](auto v) { return std::cos(v); })},
      {"Div", pairwise(std::divides<>())},
      {"Equal", pairwise(std::equal_to<>())},
      {"Erf", each([](auto v) { return std::erf(v); })},
      {"Exp", each([](auto v) { return std::exp(v); })},
      {"Greater", pairwise(std::greater<>())},
      {"GreaterOrEqual", pairwise(std::greater_equal<>())},
      {"IsInf", asked([](float v) { return std::isinf(v); })},
      {"IsNaN", asked([](float v) { return std::isnan(v); })},
      {"Less", pairwise(std::less<>())},
      {"LessOrEqual", pairwise(std::less_equal<>())},
      {"Log", each([](auto v) { return std::log(v); })},
      {"Max", pairwise([](auto a, auto b) { return std::max(a, b); })},
      {"Min", pairwise([](auto a, auto b) { return std::min(a, b); })},
      {"Mul", pairwise(std::multiplies<>())},
      {"Neg", each(std::negate<>())},
      {"Not", each(std::logical_not<>())},
      {"Or", pairwise(std::logical_or<>())},
      {"Pow", power},
      {"Reciprocal", each([](auto v) { return 1 / v; })},
      {"Relu", each([](auto v) { return v < 0 ? decltype(v){} : v; })},
      {"Sigmoid", each([](auto v) { return 1 / (1 + std::exp(-v)); })},
      {"Sin", each([](auto v) { return std::sin(v); })},
      {"Sqrt", each([](auto v) { return std::sqrt(v); })},
      {"Sub", pairwise(std::minus<>())},
      {"Tanh", each([](auto v) { return std::tanh(v); })},
      {"Where", where},
  };
  return all;
}

}  // namespace mini
