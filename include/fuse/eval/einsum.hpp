// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// The letters of an equation: of each operand, and of the result. Axes that an ellipsis stands for are the letters
/// '0', '1', ..., counted from the last. False where the equation is none, or does not fit the ranks.
[[nodiscard]] inline bool read_equation(std::string_view equation, span<dense const* const> operands,
                                        std::vector<std::string>& of_operands, std::string& of_result) {
  std::string text;
  for (char c : equation)
    if (c != ' ') text += c;
  auto const arrow = text.find("->");
  auto const dots = [](std::string_view term) { return term.find("..."); };
  std::size_t most = 0;  // axes in an ellipsis
  std::string left = text.substr(0, arrow);
  for (std::size_t i = 0, from = 0; i < operands.size(); ++i) {
    auto const end = left.find(',', from);
    if (operands[i] == nullptr || from > left.size() || (end == left.npos) != (i + 1 == operands.size())) return false;
    auto term = left.substr(from, end == left.npos ? end : end - from);
    from = end + 1;
    auto const rank = operands[i]->shape.size();
    if (auto const at = dots(term); at != term.npos) {
      if (rank + 3 < term.size()) return false;
      auto const hidden = rank + 3 - term.size();
      std::string names;
      for (auto k = hidden; k-- > 0;) names += static_cast<char>('0' + static_cast<char>(k));
      term.replace(at, 3, names);
      most = hidden > most ? hidden : most;
    }
    if (term.size() != rank) return false;
    of_operands.push_back(term);
  }
  std::string names;
  for (auto k = most; k-- > 0;) names += static_cast<char>('0' + static_cast<char>(k));
  if (arrow != text.npos) {
    of_result = text.substr(arrow + 2);
    if (auto const at = dots(of_result); at != of_result.npos) of_result.replace(at, 3, names);
    return true;
  }
  of_result = names;  // then the letters that occur once, in order
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    std::size_t uses = 0;
    for (auto const& term : of_operands)
      for (char c : term) uses += c == letter;
    if (uses == 1) of_result += letter;
  }
  return true;
}

/// The sum, over all letters that the result does not name, of the products of the elements that the letters name.
[[nodiscard]] inline evaluation evaluate_einsum(call const& c) {
  std::vector<std::string> terms;
  std::string result;
  if (c.operands.empty() || !read_equation(c.text("equation"), c.operands, terms, result)) return evaluation::misfit;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result.find(result[i], i + 1) != result.npos) return evaluation::misfit;
  std::string letters = result;
  for (auto const& term : terms)
    for (char letter : term)
      if (letters.find(letter) == letters.npos) letters += letter;
  std::vector<std::int64_t> extents(letters.size(), 1);
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t axis = 0; axis < terms[i].size(); ++axis) {
      auto& extent = extents[letters.find(terms[i][axis])];
      auto const here = c.operands[i]->shape[axis];
      if (extent != 1 && here != 1 && extent != here) return evaluation::misfit;
      if (extent == 1) extent = here;
    }
  std::vector<dense> factors;
  std::vector<std::vector<std::int64_t>> steps;  // of each letter in each operand
  for (std::size_t i = 0; i < terms.size(); ++i) {
    factors.push_back(in_doubles(*c.operands[i]));
    auto const strides = strides_of(c.operands[i]->shape);
    auto& of_letters = steps.emplace_back(letters.size(), 0);
    for (std::size_t axis = 0; axis < terms[i].size(); ++axis)
      if (c.operands[i]->shape[axis] != 1) of_letters[letters.find(terms[i][axis])] += strides[axis];
  }
  dense made{{extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(result.size())}, {}, {}, {}};
  made.type = element_type::float64;
  made.elements.assign(count_of(made.shape), 0);
  auto const places = strides_of(made.shape);
  for_each_index(extents, [&](std::vector<std::int64_t> const& at) {
    double product = 1;
    std::int64_t to = 0;
    for (std::size_t k = 0; k < result.size(); ++k) to += at[k] * places[k];
    for (std::size_t i = 0; i < factors.size(); ++i) {
      std::int64_t from = 0;
      for (std::size_t k = 0; k < at.size(); ++k) from += at[k] * steps[i][k];
      product *= factors[i].elements[static_cast<std::size_t>(from)];
    }
    made.elements[static_cast<std::size_t>(to)] += product;
  });
  return c.yield(converted(std::move(made), c.operands[0]->type));
}

}  // namespace fuse::inline v0::detail
