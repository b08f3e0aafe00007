// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/adapters/hana_struct/members.hpp>
#include <fuse/adapters/hana_struct/read.hpp>
#include <fuse/adapters/hana_struct/write.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::adapters::hana_struct {
namespace detail {

template <std::size_t Size>
struct infos {
  attribute_info of[Size == 0 ? 1 : Size]{};
};
template <reflected S>
inline constexpr auto infos_of = [] {
  infos<member_count<S>> made;
  std::size_t at = 0;
  for_each_member<S>([&]<class Get>(std::string_view name, Get const&) {
    made.of[at++] = {name, kind_of<member_of<Get, S>>()};
  });
  return made;
}();

/// What a view shows, for a node's attribute; false where that has no such content.
inline bool content_of(attribute_view const& view, decltype(attribute::content)& into) {
  return std::visit(
      [&]<class T>(T const& content) {
        if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>)
          into = content;
        else if constexpr (std::is_same_v<T, std::string_view>)
          into = std::string(content);
        else if constexpr (std::is_same_v<T, span<std::int64_t const>>)
          into = std::vector<std::int64_t>(content.begin(), content.end());
        else if constexpr (std::is_same_v<T, tensor_view>)
          into = tensor{
              content.type, {content.shape.begin(), content.shape.end()}, {content.bytes.begin(), content.bytes.end()}};
        else
          return false;
        return true;
      },
      view);
}

/// What a node that holds an S will say of its attributes, where a rewrite gives it these.
template <reflected S>
std::string complete(std::vector<attribute>& attributes) {
  static_assert(
      std::is_default_constructible_v<S> && std::is_copy_constructible_v<S>,
      "fuse: a struct of attributes must be copyable and have a default constructor, which makes the defaults");
  S made{};
  if (auto why = write(attributes, made); !why.empty()) return why;
  for_each_member<S>([&](std::string_view name, auto const& get) {
    decltype(attribute::content) content;
    if (!content_of(view_of(get(made)), content)) return;
    for (auto& a : attributes)
      if (a.name == name) {
        a.content = std::move(content);
        return;
      }
    attributes.push_back({std::string(name), std::move(content)});
  });
  return {};
}

inline std::string complete_none(std::vector<attribute>& attributes) {
  return attributes.empty() ? std::string() : "there is no attribute '" + attributes[0].name + "'; there are none";
}

}  // namespace detail

/// The members of a struct as all attributes of an operator: names, kinds and, from its default constructor, defaults.
template <reflected S>
inline constexpr attribute_list attributes_of{
    span<attribute_info const>(detail::infos_of<S>.of, detail::member_count<S>), &detail::complete<S>};

/// Of an operator without attributes.
inline constexpr attribute_list no_attributes{{}, &detail::complete_none};

/// A row of a dialect, its attributes those of a struct: `with<norm>({"layer_norm", fuse::opcode::layer_norm})`.
template <reflected S>
[[nodiscard]] constexpr operator_row with(operator_row row) {
  row.attributes = &attributes_of<S>;
  return row;
}

/// Makes a dialect of rows as fuse::make_dialect does, for graphs whose attributes all stand in structs: an operator
/// whose row names no struct has no attributes.
template <class Emission = names_alone, std::size_t Rows>
[[nodiscard]] constexpr dialect_table<Rows, Emission> make_dialect(std::string_view name,
                                                                   operator_row const (&rows)[Rows], int newest = 1) {
  operator_row closed[Rows];
  for (std::size_t i = 0; i < Rows; ++i) {
    closed[i] = rows[i];
    if (closed[i].attributes->any) closed[i].attributes = &no_attributes;
  }
  return fuse::make_dialect<Emission>(name, closed, newest);
}

}  // namespace fuse::inline v0::adapters::hana_struct
