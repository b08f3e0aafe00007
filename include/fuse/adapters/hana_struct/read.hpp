// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fuse/adapters/hana_struct/members.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>

namespace fuse::inline v0::adapters::hana_struct {
namespace detail {

template <class T>
constexpr bool fits_integer(T content) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t))
    return content <= static_cast<T>(std::numeric_limits<std::int64_t>::max());
  else
    return true;
}

/// The elements of a list as a view has them: as they lie there, or copied for this thread until it reads the next one.
template <class Element, class T>
span<Element const> elements_of(T const& all) {
  if constexpr (requires { std::data(all); } && std::is_same_v<typename T::value_type, Element>) {
    return {std::data(all), std::size(all)};
  } else {
    static thread_local std::vector<Element> copy;
    copy.clear();
    for (auto const& one : all) copy.push_back(static_cast<Element>(one));
    return {copy.data(), copy.size()};
  }
}

template <class T>
attribute_view view_of(T const& content) {
  constexpr auto kind = kind_of<T>();
  if constexpr (is_optional<T>)
    return content ? view_of(*content) : attribute_view{};
  else if constexpr (std::is_enum_v<T>)
    return view_of(static_cast<std::underlying_type_t<T>>(content));
  else if constexpr (std::is_integral_v<T>)
    return fits_integer(content) ? attribute_view(static_cast<std::int64_t>(content)) : opaque_attribute{};
  else if constexpr (kind == attribute_kind::number)
    return static_cast<double>(content);
  else if constexpr (kind == attribute_kind::text)
    return std::string_view(content);
  else if constexpr (kind == attribute_kind::tensor)
    return tensor_view(content);
  else if constexpr (kind == attribute_kind::integers)
    return elements_of<std::int64_t>(content);
  else if constexpr (kind == attribute_kind::numbers)
    return elements_of<float>(content);
  else
    return opaque_attribute{};
}

}  // namespace detail

/// The attribute `name` of a struct: nothing where it has no such member, or an empty std::optional. Enumerations are
/// integers. The view is good until the struct changes or this thread reads another list. Linear in the members.
template <reflected S>
[[nodiscard]] attribute_view read(S const& from, std::string_view name) {
  attribute_view found;
  detail::for_each_member<S>([&](std::string_view member, auto const& get) {
    if (member == name) found = detail::view_of(get(from));
  });
  return found;
}

/// Whether the attributes of two nodes are the same: member by member. What cannot be compared is not the same.
template <reflected S>
[[nodiscard]] bool same(S const& a, S const& b) {
  bool all = true;
  detail::for_each_member<S>([&](std::string_view, auto const& get) {
    if constexpr (requires { get(a) == get(b); })
      all = all && static_cast<bool>(get(a) == get(b));
    else
      all = false;
  });
  return all;
}

}  // namespace fuse::inline v0::adapters::hana_struct
