// SPDX-License-Identifier: BSL-1.0

// The loop over the columns of a row, which gathers from one row, writes another, or does both.
#if defined(FUSE_REWRITE_KERNELS_WRITE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#undef FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#else
#define FUSE_REWRITE_KERNELS_WRITE_ROW_INL
#endif

#include <fuse/kernels/detail/parts-inl.hpp>

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
  template <class Part>
  HWY_ATTR HWY_INLINE int get(Part, std::size_t) const {
    return 0;
  }
  template <class Part>
  HWY_ATTR HWY_INLINE int sums(Part) const {
    return 0;
  }
  template <class Part>
  HWY_ATTR HWY_INLINE void accumulate(Part, int, int) const {}
  HWY_ATTR HWY_INLINE void finish(int, int) const {}
};

struct writes_nothing {
  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part, std::size_t) const {}
};

struct into_caches {
  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::size_t i) const {
    part.put(v, y + i);
  }
};

// Evicts nothing.
struct past_caches_alone {
  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::size_t i) const {
    part.stream(v, y + i);
  }
};

// ... and fetches the row that is read next bit by bit: a burst of prefetches would stall.
template <class X>
struct past_caches {
  X const* next;

  template <class Part, class V, class Y>
  HWY_ATTR HWY_INLINE void put(Part part, V v, Y* y, std::size_t i) const {
    part.stream(v, y + i);
    for (std::size_t j = 0; j < Part::vectors; ++j) hwy::Prefetch(next + i + j * hn::Lanes(lanes()));
  }
};

// y[i] = value(part, i)
template <class Way, class Value, class Y>
struct writes {
  Way way;
  Value value;
  Y* y;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::size_t i) const {
    way.put(part, value(part, i), y, i);
  }
};

// `before` are sums of what came before, which are finished with these.
template <class Gather, class Write, class Sums>
HWY_ATTR HWY_INLINE void visit_end(Gather& gather, Write const& write, std::size_t i, std::size_t end,
                                   Sums const& before) {
  std::size_t const n = hn::Lanes(lanes());
  auto sums = gather.sums(whole{});
  for (; end - i >= n; i += n) {
    auto const values = gather.get(whole{}, i);
    write(whole{}, i);
    gather.accumulate(whole{}, values, sums);
  }
  if (i < end) {
    first const rest{end - i};
    auto const values = gather.get(rest, i);
    write(rest, i);
    gather.accumulate(rest, values, sums);
  }
  gather.finish(sums, before);
}

// What is left of `end` by vectors comes first: the others begin at multiples of their size where `end` does.
template <class Gather, class Write, class Sums>
HWY_ATTR HWY_INLINE void visit_head(Gather& gather, Write const& write, std::size_t end, Sums& sums) {
  std::size_t const n = hn::Lanes(lanes());
  for (std::size_t i = 0; i < end;) {
    first const part{(end - i - 1) % n + 1};
    auto const values = gather.get(part, i);
    write(part, i);
    gather.accumulate(part, values, sums);
    i += part.count;
  }
}

// Visits the columns from `i` to `end`, `Wide` parts at a time; where `i` is 0, the first `head` by themselves. Sums in
// float end after so many additions that long rows lose nothing.
template <class Wide, class Gather, class Write>
HWY_ATTR HWY_INLINE void visit_columns(Gather& gather, Write const& write, std::size_t i, std::size_t end,
                                       std::size_t head) {
  std::size_t const width = Wide::vectors * hn::Lanes(lanes()), step = Wide::at_once * width;
  auto ends = gather.sums(whole{});
  if (head > 0) visit_head(gather, write, head, ends);
  i += head;
  while (end - i >= step) {
    std::size_t const next = i + HWY_MIN((end - i) / step, Wide::additions) * step;
    auto sums0 = gather.sums(Wide{}), sums1 = sums0;
    for (; i < next; i += step) {
      auto const values0 = gather.get(Wide{}, i);
      if constexpr (Wide::at_once == 1) {
        write(Wide{}, i);
        gather.accumulate(Wide{}, values0, sums0);
      } else {
        auto const values1 = gather.get(Wide{}, i + width);
        write(Wide{}, i);
        write(Wide{}, i + width);
        gather.accumulate(Wide{}, values0, sums0);
        gather.accumulate(Wide{}, values1, sums1);
      }
    }
    gather.finish(sums0, sums1);
  }
  if (i < end || head > 0) visit_end(gather, write, i, end, ends);
}

// ... all of them.
template <class Wide, class Gather, class Write>
HWY_ATTR HWY_INLINE void visit_row(Gather& gather, Write const& write, std::size_t columns, std::size_t head = 0) {
  visit_columns<Wide>(gather, write, 0, columns, head);
}

// y[i] = value(part, i) for a whole row, of which the first `head` elements by themselves.
template <class Wide, class Way, class Value, class Y>
HWY_ATTR HWY_INLINE void write_row_in(Way way, Value const& value, Y* y, std::size_t columns, std::size_t head = 0) {
  gathers_nothing nothing;
  visit_row<Wide>(nothing, writes<Way, Value, Y>{way, value, y}, columns, head);
}
template <class Way, class Value, class Y>
HWY_ATTR HWY_INLINE void write_row_by(Way way, Value const& value, Y* y, std::size_t columns, std::size_t head = 0) {
  write_row_in<whole>(way, value, y, columns, head);
}

// The elements of a row before the first multiple of `n`.
template <class T>
HWY_ATTR HWY_INLINE std::size_t head_before(std::size_t n, T const* row, std::size_t columns) {
  std::size_t const before = (n - reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % n) % n;
  return HWY_MIN(before, columns);
}

// Only whole vectors at their own multiples can be written past the caches; what comes before.
template <class T>
HWY_ATTR HWY_INLINE std::size_t vector_head(T const* row, std::size_t columns) {
  return head_before(hn::Lanes(lanes()) * sizeof(float) / sizeof(T), row, columns);
}

// Up to this much in a row of halves, what is kept of it as floats leaves room for the rest in a first cache of 48 KB:
// 30 KB. And up to this much, room for rows that are gathered ahead, or for more than such rows: 21 KB.
inline constexpr std::size_t kept_columns = 1280, kept_columns_ahead = 896;

// Vectors that lie in two lines of a cache cost twice, and with AVX2 two rows at once are half as fast where a line's
// vectors are not loaded and stored together. What comes before the first line, where parts of vectors cost little: a
// line of halves begins with up to two of them, which with AVX3 pays for rows that are kept or long (128x768: 0.6 to
// 0.8 of the time).
template <class T>
HWY_ATTR HWY_INLINE std::size_t line_head(T const* row, std::size_t columns) {
  if constexpr (has_parts<T>) {
    bool const pays = std::is_same_v<T, float> || (columns >= 384 && columns <= kept_columns) || columns >= 2048;
    if (pays) return head_before(64 / sizeof(T), row, columns);
  }
  return 0;
}

// Columns `begin` to `end` of row `row` of a call, counted from the first line, or vector, of what is written: what
// comes before is taken with the first of them.
template <class Wide, class Call, class Value>
HWY_ATTR HWY_INLINE void write_columns(Call const& call, Value const& value, std::size_t row, std::size_t begin,
                                       std::size_t end) {
  auto* const y = call.y + row * call.y_stride;
  using output = std::remove_pointer_t<decltype(call.y)>;
  gathers_nothing nothing;
  auto const visit = [&](auto way, std::size_t head) HWY_ATTR {
    std::size_t const from = begin == 0 ? 0 : HWY_MIN(begin + head, call.columns);
    visit_columns<Wide>(nothing, writes<decltype(way), Value, output>{way, value, y}, from,
                        HWY_MIN(end + head, call.columns), begin == 0 ? head : 0);
  };
  if (call.streamed) {
    visit(past_caches_alone{}, vector_head(y, call.columns));
  } else {
    visit(into_caches{}, line_head(y, call.columns));
  }
}

// Row `row` of a call, past the caches where the call says so; the row at `next` is read next. Else the first `head`
// elements are written by themselves.
template <class Wide, class Call, class Value, class Next>
HWY_ATTR HWY_INLINE void write_row(Call const& call, Value const& value, std::size_t row, Next const* next,
                                   std::size_t head) {
  auto* const y = call.y + row * call.y_stride;
  using output = std::remove_pointer_t<decltype(call.y)>;
  if constexpr (is_elaborate && element<output>) {
    if (call.streamed)
      return write_row_in<Wide>(past_caches<Next>{next}, value, y, call.columns, vector_head(y, call.columns));
  }
  write_row_in<Wide>(into_caches{}, value, y, call.columns, head);
}
template <class Call, class Value>
HWY_ATTR HWY_INLINE void write_row(Call const& call, Value const& value, std::size_t row) {
  write_row<whole>(call, value, row, call.x + HWY_MIN(row + 1, call.end - 1) * call.x_stride,
                   line_head(call.y + row * call.y_stride, call.columns));
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
