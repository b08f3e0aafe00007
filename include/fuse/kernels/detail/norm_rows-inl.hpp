// SPDX-License-Identifier: BSL-1.0

// What all norms share: the order in which rows are gathered and written.
#if defined(FUSE_REWRITE_KERNELS_NORM_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#undef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#endif

#include <fuse/kernels/detail/kept_rows-inl.hpp>
#include <fuse/kernels/detail/two_rows-inl.hpp>

#include <fuse/kernels/detail/call.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Call>
using two_of = two<FUSE_REWRITE_KERNELS_EVEN_ODD && is_bfloat16<Call>>;

#if HWY_ARCH_X86
inline constexpr std::ptrdiff_t vector_registers = HWY_TARGET <= HWY_AVX3 ? 32 : 16;
#else
inline constexpr std::ptrdiff_t vector_registers = 32;
#endif
inline constexpr bool has_many_registers = vector_registers >= 32;

// Whether the lanes of two rows leave half of the registers to what is written of two others.
template <class Norm>
inline constexpr bool fit_two_rows = 4 * Norm::sums * sum_lanes / vector_lanes <= vector_registers;

template <class Call>
inline constexpr bool reads_floats =
    std::is_same_v<decltype(elements(std::declval<Call const&>().rows, 0)), float const*>;

// Everything goes in and out by value: what has an address is loaded again after each store.
template <class Part, class Gather>
HWY_ATTR HWY_NOINLINE auto gather_row(Gather gather, std::size_t columns, std::ptrdiff_t before) {
  visit_row<Part>(gather, writes_nothing{}, columns, before);
  return gather.totals;
}

// How many columns before row `row` lane 0 is. What was kept is taken up again in the parts in which it was gathered.
template <class Call>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_row(Call const& call, std::size_t row) {
  constexpr bool kept = are_kept<std::remove_cvref_t<decltype(call.rows)>>;
  return before_in_line(elements(call.rows, kept ? call.begin : row), call.columns);
}
// ... before its result.
template <class Call>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_result(Call const& call, std::size_t row) {
  if constexpr (are_kept<std::remove_cvref_t<decltype(call.rows)>>) {
    return before_row(call, row);
  } else {
    return before_in_line(call.y + row * call.y_stride, call.columns);
  }
}

template <class Norm, class Call>
HWY_ATTR HWY_INLINE auto gathered(Norm const& norm, Call const& call, std::size_t row) {
  return gather_row<two_of<Call>>(norm.gather(unread(call.rows, row)), call.columns, before_row(call, row));
}

// One row after the other, from `row` on. Apart from what takes several rows together, and with a first loop of its
// own: each takes 2 to 4 % off a single row of 768.
template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_each(Norm norm, Call const& call, std::size_t row) {
  for (; row < call.end; ++row) {
    auto gather = norm.gather(unread(call.rows, row));
    visit_row<two_of<Call>>(gather, writes_nothing{}, call.columns, before_row(call, row));
    auto const values = norm.values(gather.totals, row);
    write_row<two_of<Call>>(call, values, row, fetched(call.rows, HWY_MIN(row + 1, call.end - 1)),
                            before_result(call, row));
  }
}

// Two rows at once. Where they are short, the next two are gathered while two are written: one loop has work for loads,
// stores and arithmetic alike.
template <bool GathersAhead, class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_twos(Norm norm, Call const& call) {
  using part = std::conditional_t<GathersAhead && reads_floats<Call>, whole, two_of<Call>>;
  std::size_t row = call.begin;
  std::ptrdiff_t const before = before_row(call, row);
  auto totals = two_rows{gathered(norm, call, row), gathered(norm, call, row + 1)};
  for (std::size_t left = call.end - row; left > 1; row += 2, left -= 2) {
    auto* const y = call.y + row * call.y_stride;
    auto const a = norm.values(totals.a, row), b = norm.values(totals.b, row + 1);
    writes_two<std::remove_const_t<decltype(a)>, std::remove_pointer_t<decltype(call.y)>> const write{
        {a, b}, {y, y + call.y_stride}};
    if constexpr (GathersAhead) {
      if (left >= 4) {
        auto const sums = two_rows{norm.gather(unread(call.rows, row + 2)), norm.gather(unread(call.rows, row + 3))};
        gathers_two<std::remove_const_t<decltype(sums.a)>> gather{sums};
        visit_row<part>(gather, write, call.columns, before);
        totals = {gather.rows.a.totals, gather.rows.b.totals};
        continue;
      }
    }
    gathers_nothing nothing;
    visit_row<part>(nothing, write, call.columns, before);
    if (left >= 4) totals = {gathered(norm, call, row + 2), gathered(norm, call, row + 3)};
  }
  if (row < call.end) normalise_each(norm, call, row);
}

// One row is written while the one after the next is gathered: what is computed of the next one's sums is waited for
// meanwhile.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_ones(Norm norm, Call const& call) {
  std::size_t row = call.begin;
  auto values = norm.values(gathered(norm, call, row), row);
  auto totals = gathered(norm, call, row + 1);
  for (; row + 2 < call.end; ++row) {
    auto const next = norm.values(totals, row + 1);
    writes<into_caches, std::remove_const_t<decltype(next)>, std::remove_pointer_t<decltype(call.y)>> const write{
        {}, values, call.y + row * call.y_stride};
    auto gather = norm.gather(unread(call.rows, row + 2));
    visit_row<two_of<Call>>(gather, write, call.columns, before_row(call, row + 2));
    totals = gather.totals;
    values = next;
  }
  write_row<two_of<Call>>(call, values, row, fetched(call.rows, row), before_result(call, row));
  ++row;
  write_row<two_of<Call>>(call, norm.values(totals, row), row, fetched(call.rows, row), before_result(call, row));
}

// Several rows are gathered before they are written, so many columns of each after those of the others: scale and bias
// stay in the first cache, which has no room for them beside whole rows, and the rows wait in the second. Against two
// rows at a time, 128x4096 took .88 of the time with AVX2, 4096x4096 past the caches .73, where nothing is fetched
// ahead: that cost 30 %.
inline constexpr std::size_t rows_of_block = 8, floats_of_block = std::size_t{1} << 17;
inline constexpr std::ptrdiff_t columns_of_block = 512;

template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_blocks(Norm norm, Call const& call) {
  std::size_t const most = HWY_MAX(2, HWY_MIN(rows_of_block, floats_of_block / call.columns));
  decltype(norm.values(gathered(norm, call, call.begin), call.begin)) values[rows_of_block];
  for (std::size_t row = call.begin; row < call.end; row += most) {
    std::size_t const rows = HWY_MIN(most, call.end - row);
    for (std::size_t k = 0; k < rows; ++k) values[k] = norm.values(gathered(norm, call, row + k), row + k);
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(call.columns); i += columns_of_block) {
      for (std::size_t k = 0; k < rows; ++k) {
        write_columns<two_of<Call>>(call, values[k], row + k, i, i + columns_of_block);
      }
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

template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE void normalise_kept(Norm norm, Call const& call) {
  kept_floats floats(call.columns, before_row(call, call.begin));
  auto const kept = with_kept(call, floats);
  // Four longer rows at once, with two sums of each, took a fifth longer than two and two where they come from the
  // third cache.
  if constexpr (has_many_registers && Norm::sums == 2) {
    if (call.columns > kept_columns_ahead) return normalise_twos<false>(norm.of(kept), kept);
  }
  normalise_twos<has_many_registers>(norm.of(kept), kept);
}

// Up to this much in a row, it, its results and weights stay in a first cache of 48 KB beside the next two rows, or the
// next, or by themselves.
inline constexpr std::size_t beside_two_columns = 1536, beside_one_columns = 2560, alone_columns = 8192;

// Without AVX3, first caches have 32 KB, of which a loop over so many rows, read or written, and weights may fill 28.
// Rows of more than `whole_columns` are taken in blocks.
HWY_INLINE bool fit_first_cache(std::size_t rows, std::size_t columns) {
  return rows * columns * sizeof(float) <= (std::size_t{28} << 10);
}
inline constexpr std::size_t whole_columns = 2048;

// Several rows of floats together, where that is faster, at any alignment. Rows that begin at different places of their
// lines go one by one: 128x776 took .21 ns per element in pairs, .16 so.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE bool normalise_floats(Norm norm, given_rows<float> const&, Call const& call) {
  std::size_t const n = call.columns;
  if (!share_lines(call)) return false;
  if constexpr (!has_many_registers) {
    if (fit_first_cache(6 + Norm::sums, n)) return normalise_twos<true>(norm, call), true;
    return normalise_ones(norm, call), true;
  } else if constexpr (Norm::sums == 1) {
    if (n > beside_one_columns && n <= alone_columns) return false;
    return normalise_ones(norm, call), true;
  } else {
    if (n <= beside_two_columns) return normalise_twos<true>(norm, call), true;
    if (n <= beside_one_columns) return normalise_ones(norm, call), true;
    return normalise_twos<false>(norm, call), true;
  }
}
// A sum is three streams of memory by itself.
template <class Norm, class Rows, class Call>
HWY_ATTR HWY_INLINE bool normalise_floats(Norm norm, Rows const&, Call const& call) {
  if (!share_lines(call)) return false;
  if constexpr (!has_many_registers) {
    fit_first_cache(7, call.columns) ? normalise_ones(norm, call) : normalise_twos<false>(norm, call);
    return true;
  } else {
    return call.columns > beside_one_columns && (normalise_twos<false>(norm, call), true);
  }
}

// Whether all rows were normalised, several together.
template <class Norm, class Call>
HWY_ATTR HWY_NOINLINE bool normalise_several(Norm norm, Call const& call) {
  if constexpr (reads_floats<Call>) {
    return normalise_floats(norm, call.rows, call);
  } else {
    // Where rows are sums, or weights or results floats, more memory goes by.
    constexpr bool alone = are_given<std::remove_cvref_t<decltype(call.rows)>> && !has_floats<Call>;
    bool const kept =
        call.end - call.begin >= rows_at_once && call.columns <= (alone ? kept_columns : kept_columns_ahead);
    kept ? normalise_kept(norm, call) : normalise_twos<has_many_registers && alone>(norm, call);
    return true;
  }
}

// `norm.gather(source)` adds up what a row needs, in so many `sums`; `norm.values(totals, row)` are its results.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_rows(Norm norm, Call const& call) {
  if constexpr (is_elaborate) {
    bool const several = call.end - call.begin > 1;
    if constexpr (!has_many_registers && reads_floats<Call>) {
      if (several && call.columns > whole_columns) return normalise_blocks(norm, call);
    }
    if (several && !call.streamed && normalise_several(norm, call)) return;
  }
  normalise_each(norm, call, call.begin);
  if (call.streamed) hwy::FlushStream();
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
