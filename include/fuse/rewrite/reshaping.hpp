// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/polynomial.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// Whether two shapes are the same.
[[nodiscard]] inline bool equal(span<polynomial const> a, span<polynomial const> b) {
  bool all = a.size() == b.size();
  for (std::size_t i = 0; all && i < b.size(); ++i) all = a[i] == b[i];
  return all;
}

/// The operator by which a value gets another shape, with its elements in their order, although extents are not known.
struct reshaping {
  opcode by = opcode::opaque;           ///< opaque: nothing tells the shape
  std::vector<std::int64_t> list;       ///< of a Reshape its shape, else the axes of the operator
  bool may_fail = false;                ///< it leaves an extent to others of which one may be 0, where runtimes fail
  polynomial const* unknown = nullptr;  ///< of a Reshape that cannot be written, the extent that is not known
};

/// The list by which a Reshape makes `to` of `from`: numbers, 0 for an extent that stays where it was, and -1 for one
/// that is left to the others. False where that does not tell all of them.
[[nodiscard]] inline bool list_of_reshape(span<polynomial const> from, span<polynomial const> to, reshaping& into) {
  into.list.clear();
  bool open = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::int64_t number = 0;
    bool const known = to[i].known(number);
    if (known && number > 0) {
      into.list.push_back(number);
    } else if (i < from.size() && from[i] == to[i]) {
      into.list.push_back(0);
    } else {
      into.unknown = &to[i];
      if (open || known) return false;
      open = true;
      into.list.push_back(-1);
    }
  }
  return true;
}

/// Whether `to` is `from` without axes of one element, and these.
[[nodiscard]] inline bool leaves_out_ones(span<polynomial const> from, span<polynomial const> to,
                                          std::vector<std::int64_t>& axes) {
  axes.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (at < to.size() && from[i] == to[at])
      ++at;
    else if (from[i].is(1))
      axes.push_back(static_cast<std::int64_t>(i));
    else
      return false;
  }
  return at == to.size();
}

/// Whether `to` is a matrix of the axes before one of `from` and the others, and that one.
[[nodiscard]] inline bool flattens(span<polynomial const> from, span<polynomial const> to,
                                   std::vector<std::int64_t>& axis) {
  if (to.size() != 2) return false;
  for (std::size_t at = 0; at <= from.size(); ++at) {
    polynomial rows(1), columns(1);
    bool fits = true;
    for (std::size_t i = 0; i < from.size(); ++i) fits = fits && (i < at ? rows : columns).multiply(from[i]);
    if (!fits || !(rows == to[0]) || !(columns == to[1])) continue;
    axis.assign(1, static_cast<std::int64_t>(at));
    return true;
  }
  return false;
}

/// How `from` becomes another shape `to`: by a Reshape, if that cannot fail or nothing else does it. `is_positive`
/// tells of an extent whether it is not 0, `has` of an operator whether it can be written.
template <class Positive, class Has>
void find_reshaping(span<polynomial const> from, span<polynomial const> to, Positive const& is_positive, Has const& has,
                    reshaping& into) {
  into.by = opcode::opaque;
  into.may_fail = false;
  bool const told = list_of_reshape(from, to, into);
  bool left = false;
  for (auto const e : into.list) left = left || e == -1;
  for (std::size_t i = 0; told && left && i < into.list.size(); ++i)
    into.may_fail = into.may_fail || (into.list[i] == 0 && !is_positive(to[i]));
  if (told && !into.may_fail) {
    into.by = opcode::reshape;
    return;
  }
  std::vector<std::int64_t> axes;
  for (auto const op : {opcode::squeeze, opcode::unsqueeze, opcode::flatten}) {
    bool const fits = op == opcode::squeeze     ? leaves_out_ones(from, to, axes)
                      : op == opcode::unsqueeze ? leaves_out_ones(to, from, axes)
                                                : flattens(from, to, axes);
    if (!fits || !has(op)) continue;
    into.by = op;
    into.list = axes;
    into.may_fail = false;
    return;
  }
  if (told) into.by = opcode::reshape;
}

/// The shape that a Reshape of `from` to `list` has; false where that is not told.
[[nodiscard]] inline bool shape_by_list(span<polynomial const> from, span<std::int64_t const> list,
                                        plain_vector<polynomial>& to) {
  polynomial all(1), others(1);
  for (auto const& e : from)
    if (!all.multiply(e)) return false;
  auto open = list.size();
  to.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == 0 && i >= from.size()) return false;
    if (list[i] == -1 && std::exchange(open, i) != list.size()) return false;
    to.push_back(list[i] == -1 ? polynomial(1) : list[i] == 0 ? from[i] : polynomial(list[i]));
    if (!others.multiply(to.back())) return false;
  }
  return open == list.size() || polynomial::divide(all, others, to[open]);
}

}  // namespace fuse::inline v0::detail
