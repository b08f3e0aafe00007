// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// The attribute that says how much is padded, where no list of pads does.
inline constexpr std::string_view padding_attribute = "auto_pad";

/// Where a parameter of a node stands.
enum class parameter_state : std::uint8_t {
  missing,  ///< neither the node nor the dialect says: the operator's own default
  known,
  unknown,  ///< there is one, but no constant of the wanted kind
};

/// Where the dialect keeps a parameter of node `n` at the graph's version.
struct parameter_place {
  parameter_source source{};

  parameter_place(graph_image const& image, dialect const& names, node_id n, std::string_view parameter) {
    source.parameter = parameter;
    source.attribute = parameter;
    auto const* row = names.row(image.node(n).tag.name, image.version);
    if (row == nullptr) return;
    for (auto const& s : row->parameters)
      if (s.parameter == parameter) {
        source = s;
        if (source.attribute.empty()) source.attribute = parameter;
      }
  }
};

/// An axis, counted from the last one, that a list of the extents from there on tells.
template <class Image>
[[nodiscard]] parameter_state axis_by_extents(Image const& image, node_id n, parameter_source const& source,
                                              double& out) {
  auto const value = image.source->attribute_of(n, source.attribute);
  auto const* list = std::get_if<span<std::int64_t const>>(&value);
  if (list == nullptr || list->size() == 0) return parameter_state::unknown;
  out = -static_cast<double>(list->size());
  return parameter_state::known;
}

/// The number of a word among those that blanks part; -1 where it is none of them.
[[nodiscard]] inline int number_of_word(std::string_view words, std::string_view wanted) {
  for (int number = 0;; ++number) {
    auto const end = words.find(' ');
    if (words.substr(0, end) == wanted) return number;
    if (end == words.npos) return -1;
    words.remove_prefix(end + 1);
  }
}

/// The word of a number; empty where there is none.
[[nodiscard]] inline std::string_view word_of_number(std::string_view words, double number) {
  for (double at = 0;; ++at) {
    auto const end = words.find(' ');
    if (at == number) return words.substr(0, end);
    if (end == words.npos) return {};
    words.remove_prefix(end + 1);
  }
}

// Parameters that are operands are read from `known`, which tells the contents of values: `integers(value, out)`,
// `number(value, out)`, `rank(value)`, -1 where it is not known, and `most_contents`, how long a list may be.

/// Reads a list of integers, or one integer as a list of one; `out` is empty unless the result is `known`.
template <class Image, class Known>
[[nodiscard]] parameter_state read_parameter(Image const& image, Known const& known, dialect const& names, node_id n,
                                             std::string_view parameter, std::vector<std::int64_t>& out) {
  using kind = parameter_source::kind;
  out.clear();
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  switch (source.where) {
    case kind::operand: {
      auto const at = static_cast<std::uint32_t>(source.operand);
      if (at >= image.operand_count(n) || image.operand(n, at) == absent) return parameter_state::missing;
      if (known.integers(image.operand(n, at), out)) return parameter_state::known;
      out.clear();
      return parameter_state::unknown;
    }
    case kind::fixed: out.push_back(static_cast<std::int64_t>(source.number)); return parameter_state::known;
    case kind::spatial_axes: {
      auto const rank = image.operand_count(n) == 0 ? -1 : known.rank(image.operand(n, 0));
      if (rank < 3) return parameter_state::unknown;
      for (int axis = 2; axis < rank; ++axis) out.push_back(axis);
      return parameter_state::known;
    }
    case kind::extents: {
      double axis = 0;
      auto const state = detail::axis_by_extents(image, n, source, axis);
      if (state == parameter_state::known) out.push_back(static_cast<std::int64_t>(axis));
      return state;
    }
    case kind::attribute:
    case kind::inverted:
    case kind::word: break;
  }
  auto const value = image.source->attribute_of(n, source.attribute);
  if (auto const* one = std::get_if<std::int64_t>(&value)) {
    out.push_back(source.where == kind::inverted ? std::int64_t{*one == 0} : *one);
    return parameter_state::known;
  }
  if (auto const* list = std::get_if<span<std::int64_t const>>(&value);
      list != nullptr && source.where == kind::attribute) {
    if (list->size() > Known::most_contents) return parameter_state::unknown;
    out.assign(list->begin(), list->end());
    return parameter_state::known;
  }
  if (!std::holds_alternative<std::monostate>(value)) return parameter_state::unknown;
  if (source.number == source.number) {
    out.push_back(static_cast<std::int64_t>(source.number));
    return parameter_state::known;
  }
  return parameter_state::missing;
}

/// How much a convolution or a pool pads, where its list of pads does not say.
enum class padding_rule : std::uint8_t {
  by_list,  ///< that does
  nothing,
  other,
};
template <class Image>
[[nodiscard]] padding_rule padding_of(Image const& image, node_id n) {
  auto const said = image.source->attribute_of(n, padding_attribute);
  if (std::holds_alternative<std::monostate>(said)) return padding_rule::by_list;
  auto const* text = std::get_if<std::string_view>(&said);
  if (text == nullptr) return padding_rule::other;
  if (text->empty() || *text == "NOTSET") return padding_rule::by_list;
  return *text == "VALID" ? padding_rule::nothing : padding_rule::other;
}

/// A list that an operator has where neither node nor dialect says: one entry or two for each of some axes of the first
/// operand.
template <class Image, class Known>
[[nodiscard]] bool default_list(Image const& image, Known const& known, node_id n, list_use use,
                                std::vector<std::int64_t>& out) {
  auto const rank = image.operand_count(n) == 0 || image.operand(n, 0) == absent ? -1 : known.rank(image.operand(n, 0));
  bool const spatial = use == list_use::ones || use == list_use::pads;
  if (rank < (spatial ? 3 : 0) || (!spatial && use != list_use::reversed)) return false;
  if (use == list_use::reversed)
    for (int axis = rank; axis-- > 0;) out.push_back(axis);
  else
    out.assign(static_cast<std::size_t>(rank - 2) * (use == list_use::pads ? 2 : 1), use == list_use::ones ? 1 : 0);
  return true;
}

/// Entries before and behind some axes, `list`, as those before and behind each axis of the first operand; false where
/// these axes are not known, or no such list has so many entries.
template <class Image, class Known>
[[nodiscard]] bool spread_over_axes(Image const& image, Known const& known, dialect const& names, node_id n,
                                    std::vector<std::int64_t>& list) {
  auto const rank = image.operand_count(n) == 0 || image.operand(n, 0) == absent ? -1 : known.rank(image.operand(n, 0));
  std::vector<std::int64_t> axes;
  auto const state = read_parameter(image, known, names, n, "axes", axes);
  if (rank < 0 || state == parameter_state::unknown) return false;
  auto const count = static_cast<std::size_t>(rank);
  if (state == parameter_state::missing) return list.size() == 2 * count;
  if (list.size() != 2 * axes.size()) return false;
  std::vector<std::int64_t> all(2 * count, 0);
  std::vector<bool> told(count, false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || told[static_cast<std::size_t>(axis)]) return false;
    told[static_cast<std::size_t>(axis)] = true;
    all[static_cast<std::size_t>(axis)] = list[i];
    all[count + static_cast<std::size_t>(axis)] = list[axes.size() + i];
  }
  list = std::move(all);
  return true;
}

/// Reads a parameter that is a list of integers: of the node, or the neutral operator's default. One that is a number
/// is `unknown`, and `out` is empty unless the result is `known`.
template <class Image, class Known>
[[nodiscard]] parameter_state read_list(Image const& image, Known const& known, dialect const& names, node_id n,
                                        std::string_view parameter, std::vector<std::int64_t>& out) {
  using kind = parameter_source::kind;
  out.clear();
  auto const* own = parameter_of(op_of(image, n), parameter);
  if (own != nullptr && own->list == list_use::none) return parameter_state::unknown;
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  if (source.where == kind::operand) {
    auto const at = static_cast<std::uint32_t>(source.operand);
    if (at < image.operand_count(n) && image.operand(n, at) != absent && known.rank(image.operand(n, at)) != 1)
      return parameter_state::unknown;
  } else {
    auto const value = image.source->attribute_of(n, source.attribute);
    if (source.where != kind::attribute ||
        !(std::holds_alternative<std::monostate>(value) || std::holds_alternative<span<std::int64_t const>>(value)))
      return parameter_state::unknown;
    if (std::holds_alternative<std::monostate>(value) && source.number == source.number)
      return parameter_state::unknown;
  }
  auto state = read_parameter(image, known, names, n, parameter, out);
  if (own == nullptr) return state;
  if (own->list == list_use::pads && state != parameter_state::unknown) {
    auto const padding = padding_of(image, n);
    if (padding == padding_rule::nothing) out.clear(), state = parameter_state::missing;
    if (padding == padding_rule::other) return out.clear(), parameter_state::unknown;
  }
  if (own->list == list_use::both_ends && state == parameter_state::known &&
      !spread_over_axes(image, known, names, n, out))
    return out.clear(), parameter_state::unknown;
  if (state != parameter_state::missing) return state;
  return default_list(image, known, n, own->list, out) ? parameter_state::known : parameter_state::missing;
}

/// Reads one number; where neither node nor dialect says, the neutral operator's default.
template <class Image, class Known>
[[nodiscard]] parameter_state read_parameter(Image const& image, Known const& known, dialect const& names, node_id n,
                                             std::string_view parameter, double& out) {
  using kind = parameter_source::kind;
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  switch (source.where) {
    case kind::operand: {
      auto const at = static_cast<std::uint32_t>(source.operand);
      if (at < image.operand_count(n) && image.operand(n, at) != absent)
        return known.number(image.operand(n, at), out) ? parameter_state::known : parameter_state::unknown;
      break;
    }
    case kind::fixed: out = source.number; return parameter_state::known;
    case kind::spatial_axes: return parameter_state::unknown;
    case kind::extents: return detail::axis_by_extents(image, n, source, out);
    case kind::word: {
      auto const value = image.source->attribute_of(n, source.attribute);
      if (std::holds_alternative<std::monostate>(value)) break;
      auto const* text = std::get_if<std::string_view>(&value);
      auto const at = text == nullptr ? -1 : number_of_word(source.words, *text);
      out = at;
      return at < 0 ? parameter_state::unknown : parameter_state::known;
    }
    case kind::attribute:
    case kind::inverted: {
      auto const value = image.source->attribute_of(n, source.attribute);
      if (auto const* whole = std::get_if<std::int64_t>(&value)) {
        out = source.where == kind::inverted ? static_cast<double>(*whole == 0) : static_cast<double>(*whole);
        return parameter_state::known;
      }
      if (auto const* number = std::get_if<double>(&value); number != nullptr && source.where == kind::attribute) {
        out = *number;
        return parameter_state::known;
      }
      if (!std::holds_alternative<std::monostate>(value)) return parameter_state::unknown;
      break;
    }
  }
  if (source.number == source.number) {
    out = source.number;
    return parameter_state::known;
  }
  if (auto const* by_table = parameter_of(op_of(image, n), parameter);
      by_table != nullptr && by_table->fallback == by_table->fallback) {
    out = by_table->fallback;
    return parameter_state::known;
  }
  return parameter_state::missing;
}

/// The integers of a parameter, where there is one and all are known.
template <class Image, class Known>
[[nodiscard]] bool read_integers(Image const& image, Known const& known, dialect const& names, node_id n,
                                 std::string_view parameter, std::vector<std::int64_t>& out) {
  return read_parameter(image, known, names, n, parameter, out) == parameter_state::known;
}

/// The number of a parameter: of the node, of the dialect's row, or the neutral operator's default. False where it is
/// no constant.
template <class Image, class Known>
[[nodiscard]] bool read_number(Image const& image, Known const& known, dialect const& names, node_id n,
                               std::string_view parameter, double& out) {
  return read_parameter(image, known, names, n, parameter, out) == parameter_state::known;
}

}  // namespace fuse::inline v0::detail
