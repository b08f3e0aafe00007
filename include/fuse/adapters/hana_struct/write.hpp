// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/adapters/hana_struct/members.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/tensor.hpp>

namespace fuse::inline v0::adapters::hana_struct {
namespace detail {

/// A number as a T, where T can hold it: a whole one for an integer, 0 or 1 for a flag, one in its range for a float.
template <class T, class Number>
bool fit(Number number, T& into) {
  if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> code{};
    if (!fit(number, code)) return false;
    into = static_cast<T>(code);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (number != 0 && number != 1) return false;
    into = number != 0;
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Number>) {
    // Also what is no number at all.
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0)) return false;
    auto const whole = static_cast<std::int64_t>(number);
    return static_cast<Number>(whole) == number && fit(whole, into);
  } else if constexpr (std::is_integral_v<T>) {
    into = static_cast<T>(number);
    return (number < 0) == (into < T{}) && static_cast<Number>(into) == number;
  } else {
    into = static_cast<T>(number);
    if constexpr (std::is_floating_point_v<Number>)
      return (into == 0) == (number == 0) && (into - into == 0) == (number - number == 0);
  }
  return true;
}

/// Gives a member what an attribute says; false where its type cannot hold that.
template <class T, class Content>
bool assign(Content const& content, T& into) {
  constexpr auto kind = kind_of<T>();
  if constexpr (is_optional<T>) {
    return assign(content, into.emplace());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    if constexpr (std::is_arithmetic_v<Content>) return fit(content, into);
  } else if constexpr (kind == attribute_kind::text && std::is_same_v<Content, std::string>) {
    if constexpr (std::is_assignable_v<T&, std::string const&> && !std::is_same_v<T, std::string_view>)
      return into = content, true;
  } else if constexpr (kind == attribute_kind::tensor && std::is_same_v<Content, tensor>) {
    if constexpr (std::is_assignable_v<T&, tensor const&> && !std::is_same_v<T, tensor_view>)
      return into = content, true;
  } else if constexpr ((kind == attribute_kind::integers || kind == attribute_kind::numbers) &&
                       (std::is_same_v<Content, std::vector<std::int64_t>> ||
                        std::is_same_v<Content, std::vector<float>>)) {
    using element = typename T::value_type;
    if constexpr (requires { into.push_back(element{}); }) {
      into.clear();
      for (auto const one : content) {
        element made{};
        if (!fit(one, made)) return false;
        into.push_back(made);
      }
      return true;
    } else if constexpr (requires { std::tuple_size<T>::value; }) {  // a std::array
      if (into.size() != content.size()) return false;
      std::size_t at = 0;
      for (auto& one : into)
        if (!fit(content[at++], one)) return false;
      return true;
    }
  }
  return false;
}

inline std::string text_of(double number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + 32, number).ptr};
}
inline std::string text_of(std::int64_t number) { return std::to_string(number); }
inline std::string text_of(std::string const& text) { return '\'' + text + '\''; }
inline std::string text_of(tensor const&) { return "a tensor"; }
template <class Number>
std::string text_of(std::vector<Number> const& all) {
  std::string text = "[";
  for (auto const one : all) text += (text.size() == 1 ? "" : ", ") + text_of(one);
  return text + ']';
}

template <reflected S>
std::string listing() {
  std::string text;
  for_each_member<S>([&]<class Get>(std::string_view name, Get const&) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(kind_of<member_of<Get, S>>())) + ' ' + std::string(name);
  });
  return text.empty() ? "none" : text;
}

}  // namespace detail

/// Gives a struct the attributes of a new node; its other members stay as they are. Returns an empty text, or one
/// sentence that says which attribute there is not or cannot be held: then `into` is as it was.
///
/// Numbers go into integers, floats, flags and enumerations that can hold them, lists into std::vector and std::array.
template <reflected S>
std::string write(span<attribute const> given, S& into) {
  S made = into;
  std::string why;
  for (auto const& a : given) {
    bool known = false;
    detail::for_each_member<S>([&]<class Get>(std::string_view name, Get const& get) {
      if (name != a.name) return;
      known = true;
      if (!why.empty() ||
          std::visit([&](auto const& content) { return detail::assign(content, get(made)); }, a.content))
        return;
      why = "the attribute '" + a.name + "' (" + std::string(name_of(detail::kind_of<detail::member_of<Get, S>>())) +
            ") cannot be " + std::visit([](auto const& content) { return detail::text_of(content); }, a.content);
    });
    if (!known) why = "there is no attribute '" + a.name + "'; there are " + detail::listing<S>();
    if (!why.empty()) return why;
  }
  into = std::move(made);
  return why;
}

}  // namespace fuse::inline v0::adapters::hana_struct
