// SPDX-License-Identifier: BSL-1.0

// A row program, row by row: a pass over the row for each depth of reductions, and one that writes.
#include <fuse/kernelgen/detail/passes.hpp>
#include <fuse/kernels/detail/plan.hpp>

#include <hwy/cache_control.h>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// Results of float that are alone can be written past the caches, where the loop waits for memory; not where the last
// pass stored something in their place, which is in the caches.
template <class Call>
inline constexpr bool can_stream = false;
template <class Program, class Inputs>
inline constexpr bool can_stream<expression_call<Program, Inputs, list<result_rows<float>>>> =
    kernels::detail::HWY_NAMESPACE::is_elaborate&& kept_step<Program> ==
    none&& is_cheap<needed_by_results<expression_call<Program, Inputs, list<result_rows<float>>>>, Program>;

template <std::size_t Result, class Program, bool Streamed, class Part, class T, class... Rest>
HWY_ATTR HWY_INLINE void store_results(vec const* values, Part part, std::ptrdiff_t i, list<T*, Rest...> const& to) {
  vec const v = values[Program::get().results[Result]];
  if constexpr (Streamed) {
    part.stream(v, to.first + i);
  } else {
    part.put(v, to.first + i);
  }
  if constexpr (sizeof...(Rest) > 0) store_results<Result + 1, Program, Streamed>(values, part, i, to.rest);
}

// All results of these columns are computed before one is stored: it may take the place of an input.
template <class Call, bool Streamed, class Operands, class Results>
struct writes_results {
  static constexpr std::ptrdiff_t most_sums = kernels::detail::HWY_NAMESPACE::vector_registers / 2;

  Operands operands;
  Results results;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::ptrdiff_t i) const {
    using program = typename Call::program;
    vec values[program::get().size];
    if constexpr (kept_by<Call> != none) values[kept_by<Call>] = part.get(results.first + i);
    compute_steps<needed_by_results<Call>>(operands, values, part, i, all_steps<program>());
    store_results<0, program, Streamed>(values, part, i, results);
  }
};
template <bool Streamed, class Call, class Program>
HWY_ATTR HWY_INLINE auto writes_of(row_source<Call, Program> const& source) {
  auto const results = all_at_row(source.call->results, source.row);
  return writes_results<Call, Streamed, operands_for<Call, Program>, std::remove_const_t<decltype(results)>>{
      operands_of(source), results};
}

template <class Call>
HWY_ATTR HWY_INLINE auto* first_result(Call const& call, std::size_t row) {
  return call.results.first.data + row * call.results.first.stride;
}
template <class Call>
HWY_ATTR HWY_INLINE std::ptrdiff_t before_result(Call const& call, std::size_t row) {
  return kernels::detail::HWY_NAMESPACE::before_in_line(first_result(call, row), call.columns);
}

// Vectors begin at multiples of their size, so far as that pays: some lanes come first.
template <bool Streamed, class Call, class Program>
HWY_ATTR HWY_INLINE void write_row_in(row_source<Call, Program> const& source, std::ptrdiff_t before) {
  auto const write = writes_of<Streamed>(source);
  auto const columns = static_cast<std::ptrdiff_t>(source.call->columns);
  std::ptrdiff_t i = -(before % vector_lanes);
  while (i < columns) {
    if (i >= 0 && columns - i >= vector_lanes) {
      if constexpr (is_cheap<needed_by_results<Call>, Program>) {
        for (; columns - i >= 2 * vector_lanes; i += 2 * vector_lanes) {
          write(whole(), i);
          write(whole(), i + vector_lanes);
        }
      }
      for (; columns - i >= vector_lanes; i += vector_lanes) write(whole(), i);
    } else {
      std::ptrdiff_t const from = HWY_MAX(-i, 0), to = HWY_MIN(columns - i, vector_lanes);
      write(between{static_cast<std::size_t>(from), static_cast<std::size_t>(to)}, i);
      i += vector_lanes;
    }
  }
}
template <class Call, class Program>
HWY_ATTR HWY_NOINLINE void write_row(row_source<Call, Program> const& source) {
  if constexpr (can_stream<Call>) {
    if (source.call->streamed) {
      auto const* const y = first_result(*source.call, source.row);
      return write_row_in<true>(source, kernels::detail::HWY_NAMESPACE::before_in_vector(y));
    }
  }
  write_row_in<false>(source, before_result(*source.call, source.row));
}

// One row after the other.
template <class Call, class Program>
HWY_ATTR HWY_INLINE void compute_each(Call const& call, known_numbers<Program>& numbers) {
  for (std::size_t row = call.begin; row < call.end; ++row) {
    row_source<Call, Program> const source{&call, &numbers, row};
    gather_rows<1>(source, numbers);
    write_row(source);
  }
}

// The first pass of a row in the loop that writes the one before it: that has work for loads, stores and arithmetic
// alike.
template <class Call, class Program>
HWY_ATTR HWY_INLINE void compute_ahead(Call const& call, known_numbers<Program>& numbers) {
  using sequence = folds_sequence<Program, 1>;
  auto gather = begin_pass<1>(row_source<Call, Program>{&call, &numbers, call.begin}, sequence());
  kernels::detail::HWY_NAMESPACE::visit_row<whole>(gather, kernels::detail::HWY_NAMESPACE::writes_nothing{},
                                                   call.columns);
  for (std::size_t row = call.begin; row < call.end; ++row) {
    row_source<Call, Program> const source{&call, &numbers, row};
    finish_pass<1>(gather, source, numbers, sequence());
    gather_rows<2>(source, numbers);
    if (row + 1 == call.end) {
      write_row(source);
      break;
    }
    auto next = begin_pass<1>(row_source<Call, Program>{&call, &numbers, row + 1}, sequence());
    kernels::detail::HWY_NAMESPACE::visit_row<whole>(next, writes_of<false>(source), call.columns,
                                                     before_result(call, row));
    gather = next;
  }
}

struct expression_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    using program = typename Call::program;
    known_numbers<program> numbers{};
    compute_numbers<0>(numbers, call, all_steps<program>());
    if constexpr (kernels::detail::HWY_NAMESPACE::is_elaborate && program::get().depth > 0 &&
                  is_cheap<needed_by_results<Call>, program> && is_cheap<needed_by_pass<program, 1>, program>) {
      constexpr kernels::detail::row_loops loops{.vectors = kernels::detail::HWY_NAMESPACE::target_has,
                                                 .source = kernels::detail::rows_from::computed};
      kernels::row_way const way = kernels::detail::way_to_go<loops>(
          call.way, {.rows = call.end - call.begin, .columns = call.columns, .streamed = call.streamed});
      if (way == kernels::row_way::one_ahead) return compute_ahead(call, numbers);
    }
    compute_each(call, numbers);
    if (call.streamed) hwy::FlushStream();
  }
};

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
