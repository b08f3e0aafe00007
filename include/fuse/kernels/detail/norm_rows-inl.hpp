// SPDX-License-Identifier: BSL-1.0

// What all norms share: the order in which rows are gathered and written.
#if defined(FUSE_REWRITE_KERNELS_NORM_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#undef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#endif

#include <fuse/kernels/detail/two_rows-inl.hpp>
#include <fuse/kernels/detail/widened_rows-inl.hpp>

#include <fuse/kernels/detail/call.hpp>
#include <fuse/kernels/detail/plan.hpp>
#include <fuse/kernels/execution.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Call>
using result_of = std::remove_pointer_t<decltype(std::declval<Call const&>().y)>;

template <class Call>
inline constexpr bool reads_floats =
    std::is_same_v<decltype(elements(std::declval<Call const&>().rows, 0)), float const*>;

// What a loop over rows of a call takes at once. Two vectors of halves fill one that is written past the caches.
template <class Call>
using part_of = std::conditional_t<reads_floats<Call>, whole, two<FUSE_REWRITE_KERNELS_EVEN_ODD && is_bfloat16<Call>>>;

template <class Norm, class Call>
inline constexpr row_loops loops_of{
    .vectors = target_has,
    .source = are_given<std::remove_cvref_t<decltype(std::declval<Call const&>().rows)>> ? rows_from::given
                                                                                         : rows_from::added,
    .sums = Norm::sums,
    .floats = reads_floats<Call>,
    .only_halves = are_given<std::remove_cvref_t<decltype(std::declval<Call const&>().rows)>> && !has_floats<Call>};

// Everything goes in and out by value, in registers: what has an address is loaded again after each store, and what a
// call copies through memory in other pieces than it was written is waited for.
template <class Part, class Gathers, class Source>
HWY_ATTR HWY_NOINLINE auto gather_row(Source source, float pivot, std::size_t columns, std::ptrdiff_t before) {
  auto gather = Gathers::gather(source, pivot);
  visit_row<Part>(gather, writes_nothing{}, columns, before);
  return gather.totals;
}

// How many columns before row `row` lane 0 is. What was widened is read again in the parts in which it was gathered.
template <class Call>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_row(Call const& call, std::size_t row) {
  constexpr bool widened = are_widened<std::remove_cvref_t<decltype(call.rows)>>;
  return before_in_line(elements(call.rows, widened ? call.begin : row), call.columns);
}
// ... before its result.
template <class Call>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_result(Call const& call, std::size_t row) {
  if constexpr (are_widened<std::remove_cvref_t<decltype(call.rows)>>) {
    return before_row(call, row);
  } else {
    return before_in_line(call.y + row * call.y_stride, call.columns);
  }
}

template <class Norm, class Call>
HWY_ATTR HWY_INLINE auto gathered(Norm const&, Call const& call, std::size_t row, float pivot) {
  return gather_row<part_of<Call>, typename Norm::gathers>(unread(call.rows, row), pivot, call.columns,
                                                           before_row(call, row));
}
// Two rows: what the second begins with is computed while the first is gathered.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE auto both_gathered(Norm const& norm, Call const& call, std::size_t row) {
  float const a = norm.pivot(call, row), b = norm.pivot(call, row + 1);
  return two_rows{gathered(norm, call, row, a), gathered(norm, call, row + 1, b)};
}
template <class Norm, class Call>
HWY_ATTR HWY_INLINE auto gather_of(Norm const& norm, Call const& call, std::size_t row) {
  return norm.gather(unread(call.rows, row), norm.pivot(call, row));
}

// One row after the other, from `row` on. Apart from what takes several rows together, and with a first loop of its
// own: each takes 2 to 4 % off a single row of 768.
template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_each(Norm norm, Call const& call, std::size_t row) {
  for (; row < call.end; ++row) {
    auto gather = gather_of(norm, call, row);
    visit_row<part_of<Call>>(gather, writes_nothing{}, call.columns, before_row(call, row));
    auto const values = norm.values(norm.moments(gather.totals, row), row);
    write_row<part_of<Call>>(call, values, row, fetched(call.rows, HWY_MIN(row + 1, call.end - 1)),
                             before_result(call, row));
  }
  if (call.streamed) hwy::FlushStream();
}

// Two rows at once, as far as there are two; returns the row that is left. Where they are short, the next two are
// gathered while two are written: one loop has work for loads, stores and arithmetic alike.
template <bool GathersAhead, class Norm, class Call>
HWY_ATTR HWY_NOINLINE std::size_t normalise_twos(Norm norm, Call const& call) {
  std::size_t row = call.begin;
  std::ptrdiff_t const before = before_row(call, row);
  auto totals = both_gathered(norm, call, row);
  for (std::size_t left = call.end - row; left > 1; row += 2, left -= 2) {
    auto const moments = two_rows{norm.moments(totals.a, row), norm.moments(totals.b, row + 1)};
    auto const a = norm.values(moments.a, row), b = norm.values(moments.b, row + 1);
    auto* const y = call.y + row * call.y_stride;
    writes_two<into_caches, std::remove_const_t<decltype(a)>, result_of<Call>> const write{
        {}, {a, b}, {y, y + call.y_stride}};
    if constexpr (GathersAhead) {
      if (left >= 4) {
        two_rows const sums{gather_of(norm, call, row + 2), gather_of(norm, call, row + 3)};
        gathers_two<std::remove_const_t<decltype(sums.a)>> gather{sums};
        visit_row<part_of<Call>>(gather, write, call.columns, before);
        totals = {gather.rows.a.totals, gather.rows.b.totals};
        continue;
      }
    }
    gathers_nothing nothing;
    visit_row<part_of<Call>>(nothing, write, call.columns, before);
    if (left >= 4) totals = both_gathered(norm, call, row + 2);
  }
  return row;
}

// One row at a time, the next gathered while it is written.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_ones(Norm norm, Call const& call) {
  std::size_t row = call.begin;
  auto totals = gathered(norm, call, row, norm.pivot(call, row));
  for (; row + 1 < call.end; ++row) {
    auto const values = norm.values(norm.moments(totals, row), row);
    writes<into_caches, std::remove_const_t<decltype(values)>, result_of<Call>> const write{
        {}, values, call.y + row * call.y_stride};
    auto gather = gather_of(norm, call, row + 1);
    visit_row<part_of<Call>>(gather, write, call.columns, before_row(call, row + 1));
    totals = gather.totals;
  }
  write_row<part_of<Call>>(call, norm.values(norm.moments(totals, row), row), row, fetched(call.rows, row),
                           before_result(call, row));
}

// Columns `begin` to `end` of row `row`, or of this one and the next, counted from a line, or vector, of what is
// written: what comes before is taken with the first of them.
template <class Call, class Values>
HWY_ATTR HWY_INLINE void write_columns(Call const& call, Values const& values, std::size_t row, std::ptrdiff_t begin,
                                       std::ptrdiff_t end) {
  auto const* const y = call.y + row * call.y_stride;
  auto const columns = static_cast<std::ptrdiff_t>(call.columns);
  gathers_nothing nothing;
  auto const visit = [&](auto way, std::ptrdiff_t before) HWY_ATTR {
    std::ptrdiff_t const head = before == 0 ? 0 : sum_lanes - before;
    visit_columns<part_of<Call>>(nothing, writes_of(way, call, row, values),
                                 begin == 0 ? 0 : HWY_MIN(begin + head, columns), HWY_MIN(end + head, columns),
                                 begin == 0 ? before : 0);
  };
  if (call.streamed) {
    visit(past_caches_alone{}, before_in_vector(y));
  } else {
    visit(into_caches{}, before_in_line(y, call.columns));
  }
}

// Several rows are gathered before they are written, two at a time, some columns of these after those of the others:
// scale and bias stay in the first cache, which has no room for them beside whole rows. Nothing is fetched ahead.
template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_blocks(Norm norm, Call const& call) {
  std::size_t const most = rows_of_block(call.columns);
  constexpr std::ptrdiff_t step{columns_of_block};
  auto const columns = static_cast<std::ptrdiff_t>(call.columns);
  // Past the caches, both rows begin at the same place of a vector.
  bool const in_twos = !call.streamed || call.y_stride * sizeof(result_of<Call>) % 64 == 0;
  float next_pivot = norm.pivot(call, call.begin);
  for (std::size_t row = call.begin; row < call.end; row += most) {
    std::size_t const rows = HWY_MIN(most, call.end - row);
    decltype(norm.moments(gathered(norm, call, row, next_pivot), row)) moments[most_rows_of_block];
    for (std::size_t k = 0; k < rows; ++k) {
      float const pivot = next_pivot;
      if (row + k + 1 < call.end) next_pivot = norm.pivot(call, row + k + 1);
      moments[k] = norm.moments(gathered(norm, call, row + k, pivot), row + k);
    }
    for (std::ptrdiff_t i = 0; i < columns; i += step) {
      std::size_t k = 0;
      for (; in_twos && k + 1 < rows; k += 2) {
        two_rows const values{norm.values(moments[k], row + k), norm.values(moments[k + 1], row + k + 1)};
        write_columns(call, values, row + k, i, i + step);
      }
      for (; k < rows; ++k) write_columns(call, norm.values(moments[k], row + k), row + k, i, i + step);
    }
  }
  if (call.streamed) hwy::FlushStream();
}

// Whether all rows, read and written, begin at the same place of a line of a cache.
template <class Call>
HWY_ATTR HWY_INLINE bool share_lines(Call const& call) {
  auto const* const x = elements(call.rows, call.begin);
  auto const apart = reinterpret_cast<std::uintptr_t>(x) ^ reinterpret_cast<std::uintptr_t>(call.y);
  return ((apart | (stride_of(call.rows) | call.y_stride) * sizeof(float)) & 63) == 0;
}

// Loops over widened rows are the same ones for all weights, which are widened, too.
template <bool GathersAhead, class Norm, class Call>
HWY_ATTR HWY_NOINLINE std::size_t normalise_widened(Norm norm, Call const& call) {
  using rows = std::remove_cvref_t<decltype(call.rows)>;
  using part = two<FUSE_REWRITE_KERNELS_EVEN_ODD && is_bfloat16<rows> && is_bfloat16<result_of<Call>>>;
  widened_copies copies(call.columns, before_row(call, call.begin));
  auto const widened = with_widened<part>(call, copies);
  static_assert(std::is_same_v<part, part_of<std::remove_const_t<decltype(widened)>>>);
  return normalise_twos<GathersAhead>(norm.of(widened), widened);
}

// `norm.pivot(call, row)` is what a row is added up around; `norm.gather(source, pivot)` adds up what it needs, in so
// many `sums`; `norm.moments(totals, row)` is what follows of them, written where it is wanted;
// `norm.values(moments, row)` are the row's results.
template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_several(Norm norm, Call const& call) {
  constexpr row_loops loops = loops_of<Norm, Call>;
  row_way const way = way_to_go<loops>(call.way, {.rows = call.end - call.begin,
                                                  .columns = call.columns,
                                                  .streamed = call.streamed,
                                                  .share_lines = share_lines(call)});
  if constexpr (has_way(loops, row_way::one_ahead)) {
    if (way == row_way::one_ahead) return normalise_ones(norm, call);
  }
  if constexpr (has_way(loops, row_way::blocks)) {
    if (way == row_way::blocks) return normalise_blocks(norm, call);
  }
  std::size_t row = call.begin;
  if constexpr (has_way(loops, row_way::twos)) {
    if (way == row_way::twos) row = normalise_twos<false>(norm, call);
  }
  if constexpr (has_way(loops, row_way::twos_ahead)) {
    if (way == row_way::twos_ahead) row = normalise_twos<true>(norm, call);
  }
  if constexpr (has_way(loops, row_way::widened)) {
    if (way == row_way::widened) row = normalise_widened<false>(norm, call);
  }
  if constexpr (has_way(loops, row_way::widened_ahead)) {
    if (way == row_way::widened_ahead) row = normalise_widened<true>(norm, call);
  }
  normalise_each(norm, call, row);
}

template <class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_rows(Norm norm, Call const& call) {
  if constexpr (is_elaborate) {
    if (call.end - call.begin > 1) return normalise_several(norm, call);
  }
  normalise_each(norm, call, call.begin);
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
