// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include <fuse/graph/tensor_view.hpp>
#include <fuse/ops/attribute_list.hpp>

namespace fuse::inline v0::adapters::hana_struct {

/// A struct whose members Boost.Hana knows.
template <class S>
concept reflected = static_cast<bool>(boost::hana::Struct<S>::value);

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept text = std::is_convertible_v<T const&, std::string_view>;
template <class T>
concept list = !text<T> && requires(T const& all) {
  typename T::value_type;
  std::begin(all) != std::end(all);
};

/// What an attribute of type T holds.
template <class T>
constexpr attribute_kind kind_of() {
  if constexpr (is_optional<T>)
    return kind_of<typename T::value_type>();
  else if constexpr (std::is_same_v<T, bool>)
    return attribute_kind::flag;
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return attribute_kind::integer;
  else if constexpr (std::is_floating_point_v<T>)
    return attribute_kind::number;
  else if constexpr (text<T>)
    return attribute_kind::text;
  else if constexpr (std::is_convertible_v<T const&, tensor_view>)
    return attribute_kind::tensor;
  else if constexpr (list<T>)
    return std::is_integral_v<typename T::value_type> || std::is_enum_v<typename T::value_type>
               ? attribute_kind::integers
           : std::is_floating_point_v<typename T::value_type> ? attribute_kind::numbers
                                                              : attribute_kind::other;
  else
    return attribute_kind::other;
}

/// Calls `use` with a name and what reads that member of an S, for each member in order.
template <reflected S, class Use>
constexpr void for_each_member(Use&& use) {
  boost::hana::unpack(boost::hana::accessors<S>(), [&](auto const&... members) {
    (use(std::string_view(boost::hana::first(members).c_str()), boost::hana::second(members)), ...);
  });
}

template <reflected S>
inline constexpr std::size_t member_count =
    decltype(boost::hana::unpack(boost::hana::accessors<S>(), [](auto... members) {
      return std::integral_constant<std::size_t, sizeof...(members)>();
    }))::value;

template <class Get, class S>
using member_of = std::remove_cvref_t<decltype(std::declval<Get const&>()(std::declval<S&>()))>;

}  // namespace detail
}  // namespace fuse::inline v0::adapters::hana_struct
