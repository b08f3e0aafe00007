// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// a_0 * a_1 * ... / (b_0 * b_1 * ...), which is an integer in a valid graph. Equal factors cancel first: what is left
/// stays small.
template <class Context>
[[nodiscard]] extent quotient_of_products(Context& at, std::vector<extent> above, std::vector<extent> below) {
  for (auto& b : below)
    for (auto& a : above)
      if (a == b && a != extent(0)) {
        a = b = 1;
        break;
      }
  auto const divisor = at.product(below);
  if (divisor == extent(0)) return at.symbols().fresh();
  return at.dimension(at.symbols().floor_divide(at.product(above), divisor));
}

template <class Context>
void reshape_shape(Context& at) {
  at.share_type(0, 0);
  auto& target = at.extents;
  if (at.symbolic_integers("shape", target) != parameter_state::known) {
    std::size_t rank = 0;
    if (at.length("shape", rank)) at.set_rank(0, rank);
    return;
  }
  std::int64_t zeros_stay = 0;
  if (target.size() > fact_table::most_rank || !at.integer("allowzero", 0, zeros_stay)) return;
  auto const from = at.shape(0);
  auto const ranked = at.ranked(0);
  std::size_t open = target.size();
  at.dims.clear();
  for (std::size_t i = 0; i < target.size(); ++i) {
    auto e = target[i];
    if (e == extent(-1)) {
      if (open != target.size()) return at.set_rank(0, target.size());
      open = i;
      e = 1;
    } else if (e == extent(0) && zeros_stay == 0) {
      e = ranked && i < from.size() ? from[i] : at.symbols().fresh();
    } else if (!at.symbols().nonnegative(e)) {
      if (e.known()) return;
      e = at.symbols().fresh();  // it may stand for -1
    }
    at.dims.push_back(e);
  }
  if (open != target.size())
    at.dims[open] = ranked ? quotient_of_products(at, {from.begin(), from.end()}, at.dims) : at.symbols().fresh();
  at.set_shape(0, at.dims);
}

template <class Context>
void flatten_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t axis = 0;
  auto const rank = at.rank(0);
  if (!at.integer("axis", 1, axis) || rank < 0 || axis < -rank || axis > rank) return at.set_rank(0, 2);
  auto const from = at.shape(0);
  auto const split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  extent const made[] = {at.product(from.first(split)), at.product(from.subspan(split))};
  at.set_shape(0, made);
}

template <class Context>
void squeeze_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const state = at.integers("axes");
  if (state == parameter_state::unknown) {
    std::size_t count = 0;
    if (at.length("axes", count) && count <= from.size()) at.set_rank(0, from.size() - count);
    return;
  }
  at.dims.clear();
  if (state == parameter_state::missing) {
    for (auto e : from) {
      if (!e.known() && at.symbols().least(e) < 2) return;  // it may be 1
      if (e != extent(1)) at.dims.push_back(e);
    }
    return at.set_shape(0, at.dims);
  }
  if (!normalise_axes(at.list, at.rank(0), at.axes)) return;
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (next < at.axes.size() && at.axes[next] == static_cast<int>(i))
      ++next;
    else
      at.dims.push_back(from[i]);
  at.set_shape(0, at.dims);
}

template <class Context>
void unsqueeze_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  if (at.integers("axes") != parameter_state::known) {
    std::size_t count = 0;
    if (at.length("axes", count)) at.set_rank(0, from.size() + count);
    return;
  }
  if (at.list.size() + from.size() > fact_table::most_rank) return;
  auto const rank = from.size() + at.list.size();
  if (!normalise_axes(at.list, static_cast<int>(rank), at.axes)) return;
  at.dims.clear();
  std::size_t next = 0, source = 0;
  for (std::size_t i = 0; i < rank; ++i)
    if (next < at.axes.size() && at.axes[next] == static_cast<int>(i)) {
      at.dims.push_back(1);
      ++next;
    } else {
      at.dims.push_back(from[source++]);
    }
  at.set_shape(0, at.dims);
}

template <class Context>
void transpose_shape(Context& at) {
  at.share_type(0, 0);
  auto const state = at.integers("perm");
  if (!at.ranked(0)) {
    if (state == parameter_state::known) at.set_rank(0, at.list.size());
    return;
  }
  auto const from = at.shape(0);
  at.dims.clear();
  if (state == parameter_state::unknown) return at.set_rank(0, from.size());
  if (state == parameter_state::missing) {
    for (std::size_t i = from.size(); i > 0; --i) at.dims.push_back(from[i - 1]);
  } else {
    if (at.list.size() != from.size() || !normalise_axes(at.list, at.rank(0), at.axes)) return;
    for (auto axis : at.list) at.dims.push_back(from[static_cast<std::size_t>(axis < 0 ? axis + at.rank(0) : axis)]);
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void concat_shape(Context& at) {
  at.share_type(0, 0);
  std::uint32_t first = 0;
  while (first < at.operand_count() && !at.ranked(first)) ++first;
  if (first == at.operand_count()) return;
  std::size_t axis = 0;
  auto const shape = at.shape(first);
  if (!at.axis("axis", 1, at.rank(first), axis)) return at.set_rank(0, shape.size());
  at.dims.assign(shape.begin(), shape.end());
  at.dims[axis] = 0;
  bool all = true;
  for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
    if (!at.ranked(i)) {
      all = false;
      continue;
    }
    auto const next = at.shape(i);
    if (next.size() != at.dims.size()) return;
    for (std::size_t k = 0; k < next.size(); ++k)
      at.dims[k] = k == axis ? at.symbols().add(at.dims[k], next[k]) : at.symbols().plainer(at.dims[k], next[k]);
  }
  at.dims[axis] = all ? at.dimension(at.dims[axis]) : at.symbols().fresh();
  at.set_shape(0, at.dims);
}

/// The extents of the parts that Split makes along `axis`, into `extents`; false where they are not known.
template <class Context>
[[nodiscard]] bool split_parts(Context& at, extent whole) {
  auto const parts = at.result_count();
  auto const state = at.symbolic_integers("split", at.extents);
  if (state == parameter_state::unknown) return false;
  if (state == parameter_state::known && !at.extents.empty()) {
    if (at.extents.size() != parts) return false;
    for (auto& e : at.extents) e = at.dimension(e);
    return true;
  }
  at.extents.clear();
  std::int64_t count = 0;
  if (!at.integer("num_outputs", 0, count) || parts > 4096) return false;
  if (count == 0) {  // equal parts
    extent const part = at.symbols().floor_divide(whole, parts);
    at.extents.assign(parts, part);
    return true;
  }
  if (count != parts) return false;
  // The last part is the smaller one.
  auto const part = at.dimension(at.symbols().floor_divide(at.symbols().add(whole, parts - 1), parts));
  at.extents.assign(parts, part);
  at.extents.back() = at.dimension(at.symbols().subtract(whole, at.symbols().multiply(part, parts - 1)));
  return true;
}

template <class Context>
void split_shape(Context& at) {
  for (std::uint32_t i = 0; i < at.result_count(); ++i) at.share_type(i, 0);
  std::size_t axis = 0;
  if (!at.ranked(0)) return;
  if (!at.axis("axis", 0, at.rank(0), axis)) {
    for (std::uint32_t i = 0; i < at.result_count(); ++i) at.set_rank(i, at.shape(0).size());
    return;
  }
  bool const known = split_parts(at, at.shape(0)[axis]);
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  for (std::uint32_t i = 0; i < at.result_count(); ++i) {
    at.dims[axis] = known ? at.extents[i] : at.symbols().fresh();
    at.set_shape(i, at.dims);
  }
}

/// How many elements a slice from `start` to `end` takes of `whole`.
template <class Context>
[[nodiscard]] extent slice_extent(Context& at, extent whole, extent start, extent end, std::int64_t step) {
  auto& symbols = at.symbols();
  constexpr std::int64_t far = 0x7fffffff;  // how most exporters write "to the end"
  if (step == 0) return symbols.fresh();
  if (step < 0) {
    // Known ends only: from max(start) down to, not including, end. Runtimes disagree on the largest integer as the
    // end: the last element, or none.
    if (!start.known() || !end.known() || step < -far) return symbols.fresh();
    if (end == extent(far) || end == extent(std::numeric_limits<std::int64_t>::max())) return symbols.fresh();
    if (!whole.known()) {
      bool const all = (start.value() >= far || start.value() == -1) && end.value() <= -far;
      return all && step == -1 ? whole : symbols.fresh();
    }
    auto const size = whole.value();
    if (size == 0) return 0;
    auto from = start.value() < 0 ? start.value() + size : start.value();
    auto to = end.value() < -far ? -1 : end.value() < 0 ? end.value() + size : end.value();
    from = from < 0 ? 0 : from > size - 1 ? size - 1 : from;
    to = to < -1 ? -1 : to > size - 1 ? size - 1 : to;
    return from > to ? (from - to - step - 1) / -step : 0;
  }
  // From the front, as a number that may lie outside of the dimension. False where the sign is not known: -n counts
  // from the end, unless n is 0.
  auto const from_front = [&](extent e, bool is_start, extent& place) {
    place = e;
    if (symbols.nonnegative(e)) return true;
    auto const back = symbols.subtract(0, e);
    place = symbols.add(whole, e);
    if (e.known() || symbols.least(back) >= 1) return true;
    place = 0;
    return is_start && symbols.nonnegative(back) && symbols.nonnegative(symbols.subtract(back, whole));
  };
  extent first, last;
  if (!from_front(start, true, first) || !from_front(end, false, last)) return symbols.fresh();
  // tf2onnx writes a thousand million for it; an extent that is known is compared with what is written.
  bool const to_the_end = !whole.known() && end.known() && end.value() >= 1'000'000'000;
  auto const upper = to_the_end ? whole : symbols.minimum(last, whole);
  auto const length = symbols.maximum(symbols.subtract(upper, symbols.maximum(first, 0)), 0);
  if (step == 1) return length;
  return at.dimension(symbols.floor_divide(symbols.add(length, step - 1), step));
}

/// The operands of a Slice: starts in `extents`, ends in `ends`, axes in `axes` (in the order of the starts), steps in
/// `list`.
enum class slice_state : std::uint8_t { unknown, axes_known, known };
template <class Context>
[[nodiscard]] slice_state read_slice(Context& at, int rank) {
  at.axes.clear();
  auto const starts = at.symbolic_integers("starts", at.extents);
  auto const ends = at.symbolic_integers("ends", at.ends);
  std::size_t count = at.extents.size();
  bool known = starts == parameter_state::known && ends == parameter_state::known && at.ends.size() == count;
  auto const axes = at.integers("axes");
  if (axes == parameter_state::unknown) return slice_state::unknown;
  if (axes == parameter_state::missing) {
    if (!known && !at.length("starts", count) && !at.length("ends", count)) return slice_state::unknown;
    for (std::size_t i = 0; i < count; ++i) at.list.push_back(static_cast<std::int64_t>(i));
  }
  std::uint64_t seen = 0;
  for (auto axis : at.list) {
    if (axis < -rank || axis >= rank) return slice_state::unknown;
    at.axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    auto const bit = std::uint64_t{1} << at.axes.back();
    if ((seen & bit) != 0) return slice_state::unknown;
    seen |= bit;
  }
  auto const steps = at.integers("steps");
  if (steps == parameter_state::missing) at.list.assign(at.axes.size(), 1);
  known = known && steps != parameter_state::unknown && at.axes.size() == count && at.list.size() == count;
  return known ? slice_state::known : slice_state::axes_known;
}

template <class Context>
void slice_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const state = read_slice(at, at.rank(0));
  if (state == slice_state::unknown) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  bool all = state == slice_state::known;
  for (std::size_t i = 0; i < at.axes.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.axes[i])];
    auto const whole = e;
    e = state == slice_state::known ? slice_extent(at, e, at.extents[i], at.ends[i], at.list[i]) : at.symbols().fresh();
    all = all && e == whole && at.list[i] == 1;
  }
  at.set_shape(0, at.dims);
  at.facts.set_takes_all(at.n, all);
}

template <class Context>
void gather_shape(Context& at) {
  at.share_type(0, 0);
  std::size_t axis = 0;
  if (!at.ranked(0) || !at.ranked(1)) return;
  auto const data = at.shape(0), indices = at.shape(1);
  if (!at.axis("axis", 0, at.rank(0), axis)) {
    if (!data.empty()) at.set_rank(0, data.size() + indices.size() - 1);
    return;
  }
  at.dims.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  at.dims.insert(at.dims.end(), indices.begin(), indices.end());
  at.dims.insert(at.dims.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  at.set_shape(0, at.dims);
}

template <class Context>
void gather_nd_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t batch = 0;
  if (!at.ranked(0) || !at.ranked(1) || !at.integer("batch_dims", 0, batch)) return;
  auto const data = at.shape(0), indices = at.shape(1);
  if (indices.empty() || !indices.back().known() || batch < 0 || batch >= at.rank(1)) return;
  auto const depth = indices.back().value();
  if (depth < 0 || depth > at.rank(0) || batch + depth > at.rank(0)) return;
  at.dims.assign(indices.begin(), indices.end() - 1);
  at.dims.insert(at.dims.end(), data.begin() + batch + depth, data.end());
  at.set_shape(0, at.dims);
}

template <class Context>
void tile_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0) || at.operand_count() != 2) return;
  auto const from = at.shape(0);
  auto const repeats = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  if (repeats.size() != from.size()) return at.set_rank(0, from.size());
  at.dims.clear();
  for (std::size_t i = 0; i < from.size(); ++i)
    at.dims.push_back(at.dimension(at.symbols().multiply(from[i], repeats[i])));
  at.set_shape(0, at.dims);
}

template <class Context>
void pad_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const axes = at.integers("axes");
  bool known = axes != parameter_state::unknown;
  if (axes == parameter_state::missing)
    for (int i = 0; i < at.rank(0); ++i) at.list.push_back(i);
  for (auto& axis : at.list) {
    if (axis < -at.rank(0) || axis >= at.rank(0)) return;
    if (axis < 0) axis += at.rank(0);
  }
  at.axes.assign(at.list.begin(), at.list.end());
  known = known && at.symbolic_integers("pads", at.extents) == parameter_state::known &&
          at.extents.size() == 2 * at.axes.size();
  if (!known) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  for (std::size_t i = 0; i < at.axes.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.axes[i])];
    e = at.dimension(at.symbols().add(e, at.symbols().add(at.extents[i], at.extents[i + at.axes.size()])));
  }
  at.set_shape(0, at.dims);
}

}  // namespace fuse::inline v0::detail
