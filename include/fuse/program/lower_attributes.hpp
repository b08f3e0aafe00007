// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/program/lowering.hpp>

namespace fuse::inline v0::detail {

constexpr void lowering::fail_at(operator_row const& row, rule_error error, std::string_view attribute) {
  if (failed_) return;
  fail(error, static_text::of(attribute));
  out.owner = static_text::of(row.name);
  out.attributes = row.attributes;
}

/// Where rows say that parameters stand in attributes, these must be there.
constexpr void lowering::check_sources() {
  using kind = parameter_source::kind;
  for (auto const& row : names_.rows) {
    if (row.attributes->any) continue;
    for (auto const& s : row.parameters) {
      auto const name = s.attribute.empty() ? s.parameter : s.attribute;
      if ((s.where == kind::attribute || s.where == kind::inverted) && !row.attributes->has(name))
        return fail_at(row, rule_error::unknown_attribute, name);
    }
  }
}

/// The attributes of a term against the lists of the dialect. An operator by its name (`code`) must have each; of one
/// by its meaning (0) it is enough that one of its names has it, or that it is a parameter with a default.
constexpr void lowering::check_attributes(expression const& in, term const& t, std::uint16_t code, bool has_defaults) {
  using kind = parameter_source::kind;
  if (!names_.lists_attributes) return;
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& given = in[t.child[i]];
    if (given.kind != term_kind::attribute) continue;
    bool known = false, has_default = false;
    if (has_defaults)
      for (auto const& p : info(t.op).parameters) has_default = has_default || given.name == p.name;
    auto error = rule_error::none;
    std::string_view culprit{};
    std::size_t wrong = 0;
    // Rows of one name stand together.
    std::size_t const first = code != 0 ? code - 1u : 0;
    std::size_t const end = code != 0 ? code + std::size_t{names_.rows[first].more} : names_.rows.size();
    for (auto r = first; r < end && !known; ++r) {
      auto const& row = names_.rows[r];
      if (code == 0 && row.op != t.op) continue;
      parameter_source source{};
      for (auto const& s : row.parameters)
        if (given.name == s.parameter) source = s;
      auto const name = source.attribute.empty() ? std::string_view(given.name) : source.attribute;
      bool const elsewhere = source.where != kind::attribute && source.where != kind::inverted;
      auto const at = row.attributes->find(name);
      bool const has = at < row.attributes->all.size();
      known = row.attributes->any || elsewhere || (has ? holds(row.attributes->all[at].kind, in, given) : has_default);
      if (known) continue;
      error = has ? rule_error::attribute_of_another_kind : rule_error::unknown_attribute;
      culprit = name;
      wrong = r;
    }
    if (!known && error != rule_error::none) return fail_at(names_.rows[wrong], error, culprit);
  }
}

/// Whether an attribute can be the number, or what a name captured.
constexpr bool lowering::holds(attribute_kind kind, expression const& in, term const& given) {
  bool const captured = given.children != 0 && in[given.child[0]].kind != term_kind::number;
  if (given.children != 0 && in[given.child[0]].kind == term_kind::list)
    return kind == attribute_kind::integers || kind == attribute_kind::numbers;
  double const number = given.children == 0 ? given.number : in[given.child[0]].number;
  auto const is_whole = [](double x) {
    return x > -9e18 && x < 9e18 && static_cast<double>(static_cast<long long>(x)) == x;
  };
  switch (kind) {
    case attribute_kind::flag: return captured || number == 0 || number == 1;
    case attribute_kind::integer: return captured || is_whole(number);
    case attribute_kind::number: return true;
    case attribute_kind::integers: return captured;
    default: return false;
  }
}

}  // namespace fuse::inline v0::detail
