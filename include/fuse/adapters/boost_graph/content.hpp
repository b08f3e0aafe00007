// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/adapters/boost_graph/property.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/traits.hpp>

/// What users keep in the properties of vertices, as fuse reads it.
namespace fuse::inline v0::adapters::bgl::detail {

template <class T>
attribute_view view_of(T const& content) {
  if constexpr (requires { std::variant_size<T>::value; })
    return std::visit([](auto const& one) { return view_of(one); }, content);
  else if constexpr (std::is_same_v<T, std::monostate>)
    return {};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(content);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(content);
  else if constexpr (std::is_convertible_v<T const&, std::string_view>)
    return std::string_view(content);
  else if constexpr (std::is_convertible_v<T const&, tensor_view>)
    return tensor_view(content);
  else if constexpr (std::is_convertible_v<T const&, span<std::int64_t const>>)
    return span<std::int64_t const>(content);
  else if constexpr (std::is_convertible_v<T const&, span<float const>>)
    return span<float const>(content);
  else
    return opaque_attribute{};
}

template <class All>
concept attribute_map = requires(All const& all) {
  all.find(typename All::key_type{})->second;
};

/// `all`: a map from names, or a sequence of elements with `name` and `content`.
template <class All>
attribute_view find_attribute(All const& all, std::string_view name) {
  if constexpr (attribute_map<All>) {
    auto const at = all.find(typename All::key_type(name));
    return at == all.end() ? attribute_view{} : view_of(at->second);
  } else {
    for (auto const& one : all)
      if (one.name == name) return view_of(one.content);
    return {};
  }
}

template <class All>
bool same_attributes(All const& a, All const& b) {
  if constexpr (attribute_map<All>) {
    return a == b;
  } else {
    return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), [](auto const& one, auto const& other) {
      return one.name == other.name && one.content == other.content;
    });
  }
}

template <class All, class T>
constexpr bool takes() {
  if constexpr (attribute_map<All>)
    return std::is_constructible_v<typename All::mapped_type, T>;
  else
    return std::is_constructible_v<typename All::value_type, attribute>;
}

/// The attributes of a new vertex in the user's own container; nothing where that cannot hold one of them.
template <class All>
std::optional<All> made_of(span<attribute const> attributes) {
  static_assert(
      takes<All, std::int64_t>() && takes<All, double>() && takes<All, std::string>() &&
          takes<All, std::vector<std::int64_t>>(),
      "fuse: the attributes of a Boost graph that is rewritten must hold std::int64_t, double, std::string and "
      "std::vector<std::int64_t>");
  All made;
  for (auto const& a : attributes) {
    if constexpr (attribute_map<All>) {
      bool const kept = std::visit(
          [&]<class T>(T const& content) {
            constexpr bool holds = std::is_constructible_v<typename All::mapped_type, T>;
            if constexpr (holds) made.emplace(typename All::key_type(a.name), typename All::mapped_type(content));
            return holds;
          },
          a.content);
      if (!kept) return std::nullopt;
    } else {
      made.emplace_back(a);
    }
  }
  return made;
}

/// A tensor, or what points to one: a null view where there is none.
template <class T>
tensor_view contents_of(T&& given) {
  if constexpr (std::is_convertible_v<T, tensor_view>) {
    static_assert(
        std::is_lvalue_reference_v<T> || std::is_same_v<T, tensor_view>,
        "fuse: constant(...) must return a reference or a tensor_view: a tensor by value is gone before it is read");
    return given;
  } else {
    if (!given) return {};
    return *given;
  }
}

/// The part of a property that belongs to one result: a sequence has one for each, else there is but one result.
template <class T, class Use>
auto of_result(T const& given, std::size_t result, Use use) {
  if constexpr (range<T>) {
    for (auto const& one : given)
      if (result-- == 0) return use(one);
    return decltype(use(*given.begin())){};
  } else {
    return result == 0 ? use(given) : decltype(use(given)){};
  }
}

/// `given`: an optional sequence of extents. Returns whether there is one.
template <class T>
bool read_shape(T const& given, std::vector<dimension>& into) {
  static_assert(!std::is_arithmetic_v<T>,
                "fuse: shape(...) takes a std::optional of the extents: an empty sequence is the shape of a scalar");
  if (!given) return false;
  for (auto const& one : *given) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(one)>>)
      into.push_back({one < 0 ? -1 : static_cast<std::int64_t>(one), {}});
    else
      into.push_back({one.extent, one.symbol});
  }
  return true;
}

}  // namespace fuse::inline v0::adapters::bgl::detail
