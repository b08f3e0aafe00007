// SPDX-License-Identifier: BSL-1.0

// The loop over the columns of a row, which gathers from one row, writes another, or does both.
#if defined(FUSE_REWRITE_KERNELS_WRITE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#undef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#else
#define FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#endif

#include <fuse/kernels/detail/lane_sums-inl.hpp>

#include <hwy/cache_control.h>
#include <fuse/kernels/element.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// An older processor has less to win, and who has a newer one should not compile as much for it.
#if HWY_ARCH_X86
inline constexpr bool is_elaborate = HWY_TARGET <= HWY_AVX2;
#else
inline constexpr bool is_elaborate = true;
#endif

struct gathers_nothing {
  static constexpr std::ptrdiff_t number_of_sums = 0;
  template <class V>
  using sums = no_sums<V>;

  template <class Part>
  HWY_ATTR HWY_INLINE int get(Part, std::ptrdiff_t) const {
    return 0;
  }
  template <class V>
  HWY_ATTR HWY_INLINE void accumulate(int, no_sums<V>) const {}
  HWY_ATTR HWY_INLINE void finish(no_sums<double>) const {}
};

#if HWY_ARCH_X86
inline constexpr std::ptrdiff_t vector_registers = HWY_TARGET <= HWY_AVX3 ? 32 : 16;
#else
inline constexpr std::ptrdiff_t vector_registers = 32;
#endif

inline constexpr target_vectors target_has{is_elaborate, vector_registers, vector_lanes};

struct writes_nothing {
  static constexpr std::ptrdiff_t most_sums = vector_registers / 2;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part, std::ptrdiff_t) const {}
};

struct into_caches {
  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::ptrdiff_t i) const {
    part.put(v, y + i);
  }
};

// Evicts nothing.
struct past_caches_alone {
  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::ptrdiff_t i) const {
    part.stream(v, y + i);
  }
};

// ... and fetches the row that is read next bit by bit: a burst of prefetches would stall.
template <class X>
struct past_caches {
  X const* next;

  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::ptrdiff_t i) const {
    part.stream(v, y + i);
    for (std::ptrdiff_t j = 0; j < Part::vectors; ++j) hwy::Prefetch(next + i + j * vector_lanes);
  }
};

// y[i] = value(part, i)
template <class Way, class Value, class Y>
struct writes {
  static constexpr std::ptrdiff_t most_sums = vector_registers / 2;

  Way way;
  Value value;
  Y* y;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::ptrdiff_t i) const {
    way.put(part, value(part, i), y, i);
  }
};

// Visits the columns from `begin` to `end` that lanes from column `i` on have, whose sums are in memory.
template <class Gather, class Write, class Memory>
HWY_ATTR HWY_INLINE void visit_lanes(Gather const& gather, Write const& write, std::ptrdiff_t i, std::ptrdiff_t begin,
                                     std::ptrdiff_t end, Memory& memory) {
  for (std::ptrdiff_t lane = 0; lane < sum_lanes; lane += vector_lanes, i += vector_lanes) {
    std::ptrdiff_t const from = HWY_MAX(begin - i, 0), to = HWY_MIN(end - i, vector_lanes);
    if (from >= to) continue;
    auto sums = lane_tree<whole, Gather, vector_lanes>::zero();
    sums.take(memory, lane);
    if (to - from == vector_lanes) {
      sums.visit(whole(), gather, write, i);
    } else {
      sums.visit(between{static_cast<std::size_t>(from), static_cast<std::size_t>(to)}, gather, write, i);
    }
    sums.keep(memory, lane);
  }
}

// Visits the columns from `i` to `end` that these lanes have. Where they do not fit into registers beside what is
// written, half of them goes first.
template <class Lanes, class Part, class Gather, class Write>
HWY_ATTR HWY_INLINE void visit_steps(Lanes& sums, Part part, Gather const& gather, Write const& write, std::ptrdiff_t i,
                                     std::ptrdiff_t end) {
  if constexpr (Lanes::vectors > Write::most_sums && Lanes::lanes > width_of<Part>) {
    visit_steps(sums.lower, part, gather, write, i, end);
    visit_steps(sums.upper, part, gather, write, i + Lanes::half::lanes, end);
  } else {
    for (; i < end; i += sum_lanes) {
      if constexpr (requires { gather.fetch(i); }) gather.fetch(i);
      sums.visit(part, gather, write, i);
    }
  }
}

// Whether any lanes of a vector cost as much as all.
#if HWY_ARCH_X86
inline constexpr bool has_masks = HWY_TARGET <= HWY_AVX3;
#else
inline constexpr bool has_masks = false;
#endif

// Visits the columns from `begin` to `end`, in `Part`s, and returns their sums; lane 0 is that of column `i`, which is
// moved on to that after them.
template <class Part, class Gather, class Write>
HWY_ATTR HWY_INLINE auto visit_columns_of_sums(Gather const& gather, Write const& write, std::ptrdiff_t& i,
                                               std::ptrdiff_t begin, std::ptrdiff_t end) {
  using in_memory = typename Gather::template sums<lane_memory>;
  auto sums = lane_tree<Part, Gather>::zero();
  while (begin < end) {
    if (begin == i && end - i >= sum_lanes) {
      begin += (end - begin) / sum_lanes * sum_lanes;
      visit_steps(sums, Part(), gather, write, i, begin);
      i = begin;
      continue;
    }
    std::ptrdiff_t const step_end = HWY_MIN(end, i + sum_lanes);
    if constexpr (has_masks) {
      sums.visit_some(gather, write, i, begin, step_end);
    } else {
      in_memory memory;
      sums.keep(memory);
      visit_lanes(gather, write, i, begin, step_end, memory);
      sums.take(memory);
    }
    begin = step_end;
    if (begin == i + sum_lanes) i = begin;
  }
  typename Gather::template sums<double> totals;
  if constexpr (vector_lanes >= float_lanes) {
    sums.total(totals);
  } else {
    in_memory memory;
    sums.keep(memory);
    total_lanes(memory, totals);
  }
  return totals;
}
// ... where registers are too few for all lanes, or nobody should compile that much.
template <class Gather, class Write>
HWY_ATTR HWY_INLINE auto visit_columns_in_memory(Gather const& gather, Write const& write, std::ptrdiff_t& i,
                                                 std::ptrdiff_t begin, std::ptrdiff_t end) {
  auto memory = Gather::template sums<lane_memory>::all({});
  auto const visit = [&](auto part, std::ptrdiff_t at) HWY_ATTR {
    std::ptrdiff_t const lane = (at - i) & (sum_lanes - 1);
    auto sums = lane_tree<whole, Gather, vector_lanes>::zero();
    sums.take(memory, lane);
    sums.visit(part, gather, write, at);
    sums.keep(memory, lane);
  };
  std::ptrdiff_t at = i;
  while (at < end) {
    if (at >= begin && end - at >= vector_lanes) {
      for (; end - at >= vector_lanes; at += vector_lanes) visit(whole(), at);
    } else {
      std::ptrdiff_t const from = HWY_MAX(begin - at, 0), to = HWY_MIN(end - at, vector_lanes);
      if (from < to) visit(between{static_cast<std::size_t>(from), static_cast<std::size_t>(to)}, at);
      at += vector_lanes;
    }
  }
  i += (end - i) / sum_lanes * sum_lanes;
  typename Gather::template sums<double> totals;
  total_lanes(memory, totals);
  return totals;
}

// Visits the columns from `begin` to `end`, in `Part`s; lane 0 is that of column `begin - before`.
template <class Part, class Gather, class Write>
HWY_ATTR HWY_INLINE void visit_columns(Gather& gather, Write const& write, std::ptrdiff_t begin, std::ptrdiff_t end,
                                       std::ptrdiff_t before) {
  constexpr bool adds_up = Gather::number_of_sums > 0;
  std::ptrdiff_t i = begin - before;
  while (begin < end) {
    std::ptrdiff_t const next = adds_up ? HWY_MIN(end, begin + columns_of_sums) : end;
    if constexpr (is_elaborate) {
      gather.finish(visit_columns_of_sums<Part>(gather, write, i, begin, next));
    } else {
      gather.finish(visit_columns_in_memory(gather, write, i, begin, next));
    }
    begin = next;
  }
}

// ... all of them.
template <class Part, class Gather, class Write>
HWY_ATTR HWY_INLINE void visit_row(Gather& gather, Write const& write, std::size_t columns, std::ptrdiff_t before = 0) {
  visit_columns<Part>(gather, write, 0, static_cast<std::ptrdiff_t>(columns), before);
}

// y[i] = value(part, i) for a whole row.
template <class Part, class Way, class Value, class Y>
HWY_ATTR HWY_INLINE void write_row_in(Way way, Value const& value, Y* y, std::size_t columns,
                                      std::ptrdiff_t before = 0) {
  gathers_nothing nothing;
  visit_row<Part>(nothing, writes<Way, Value, Y>{way, value, y}, columns, before);
}
template <class Way, class Value, class Y>
HWY_ATTR HWY_INLINE void write_row_by(Way way, Value const& value, Y* y, std::size_t columns,
                                      std::ptrdiff_t before = 0) {
  write_row_in<whole>(way, value, y, columns, before);
}

// How many elements lie before a row since the last multiple of `n`.
template <class T>
HWY_ATTR HWY_INLINE std::ptrdiff_t elements_before(std::size_t n, T const* row) {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % n);
}

// ... since the last multiple of a vector's size: only whole vectors there can be written past the caches.
template <class T>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_in_vector(T const* row) {
  return elements_before(static_cast<std::size_t>(vector_lanes) * sizeof(float) / sizeof(T), row);
}

// ... since the line of a cache began. Vectors that lie in two lines cost twice, and with AVX2 two rows at once are
// half as fast where a line's vectors are not loaded and stored together. What comes before the first line is some
// lanes of vectors.
template <class T>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_in_line(T const* row, std::size_t columns) {
  if constexpr (has_parts<T>) {
    if (begins_at_line(sizeof(T), columns)) return elements_before(64 / sizeof(T), row);
  }
  return 0;
}

// Row `row` of a call, past the caches where the call says so; the row at `next` is read next. Else lane 0 is that of
// column `-before`.
template <class Part, class Call, class Value, class Next>
HWY_ATTR HWY_INLINE void write_row(Call const& call, Value const& value, std::size_t row, Next const* next,
                                   std::ptrdiff_t before) {
  auto* const y = call.y + row * call.y_stride;
  using output = std::remove_pointer_t<decltype(call.y)>;
  if constexpr (is_elaborate && element<output>) {
    if (call.streamed) return write_row_in<Part>(past_caches<Next>{next}, value, y, call.columns, before_in_vector(y));
  }
  write_row_in<Part>(into_caches{}, value, y, call.columns, before);
}
template <class Call, class Value>
HWY_ATTR HWY_INLINE void write_row(Call const& call, Value const& value, std::size_t row) {
  write_row<whole>(call, value, row, call.x + HWY_MIN(row + 1, call.end - 1) * call.x_stride,
                   before_in_line(call.y + row * call.y_stride, call.columns));
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
