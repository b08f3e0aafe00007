// SPDX-License-Identifier: BSL-1.0

// A row program, row by row: a pass over the row for each depth of reductions, and one that writes.

#include <fuse/kernelgen/detail/folds-inl.hpp>

#include <hwy/cache_control.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Program>
using all_steps = std::make_index_sequence<Program::get().size>;

// What a pass keeps in lanes: of most reductions what they add up, or the largest; of a spread the distances from a
// pivot and their squares, of which the mean follows, too.
enum class fold_kind : std::uint8_t { sum, products, largest, distances, squares };
struct fold {
  std::uint8_t step, a, b;
  fold_kind kind;
};

constexpr bool has_spread(row_program const& program, row_step const& mean) {
  for (std::size_t i = 0; i < program.size; ++i)
    if (program[i].is_used && program[i].op == row_op::spread && program[i].a == mean.a) return true;
  return false;
}
// Calls `add(step, kind)` for each of these of a pass.
template <class Add>
constexpr void each_fold(row_program const& program, int depth, Add const& add) {
  for (std::size_t i = 0; i < program.size; ++i) {
    row_step const& s = program[i];
    if (!s.is_used || !is_reduction(s.op) || s.depth != depth) continue;
    if (s.op == row_op::spread) {
      add(i, fold_kind::distances);
      add(i, fold_kind::squares);
    } else if (s.op != row_op::mean || !has_spread(program, s)) {
      add(i, s.op == row_op::largest           ? fold_kind::largest
             : s.op == row_op::sum_of_products ? fold_kind::products
                                               : fold_kind::sum);
    }
  }
}
template <class Program, int Depth>
inline constexpr std::size_t number_of_folds = [] {
  std::size_t count = 0;
  each_fold(Program::get(), Depth, [&](std::size_t, fold_kind) { ++count; });
  return count;
}();
template <class Program, int Depth>
inline constexpr auto folds_of_pass = [] {
  std::array<fold, number_of_folds<Program, Depth>> all{};
  std::size_t at = 0;
  each_fold(Program::get(), Depth, [&](std::size_t step, fold_kind kind) {
    all[at++] = {static_cast<std::uint8_t>(step), Program::get()[step].a, Program::get()[step].b, kind};
  });
  return all;
}();

// The steps that these read, that one step does, that results do.
template <class Program, int Depth>
inline constexpr step_set needed_by_pass = [] {
  step_set set;
  for (fold const& one : folds_of_pass<Program, Depth>) {
    need(set, Program::get(), one.a);
    if (one.kind == fold_kind::products) need(set, Program::get(), one.b);
  }
  return set;
}();
template <class Program, std::size_t At>
inline constexpr step_set needed_by_step = [] {
  step_set set;
  need(set, Program::get(), At);
  return set;
}();
template <class Program>
inline constexpr step_set needed_by_results = [] {
  step_set set;
  for (std::size_t i = 0; i < Program::get().number_of_results; ++i)
    need(set, Program::get(), Program::get().results[i]);
  return set;
}();

// Whether steps are arithmetic alone, and little of that: loops of them wait for memory more than for anything else.
template <auto const& Needed, class Program>
inline constexpr bool is_cheap = [] {
  int operations = 0;
  for (std::size_t i = 0; i < Program::get().size; ++i)
    if (Needed.has[i]) operations += is_function(Program::get()[i].op) ? 20 : 1;
  return operations < 20;
}();

// Results of float that are alone can be written past the caches.
template <class Call>
inline constexpr bool can_stream = false;
template <class Program, class Inputs>
inline constexpr bool can_stream<expression_call<Program, Inputs, list<result_rows<float>>>> =
    kernels::detail::HWY_NAMESPACE::is_elaborate;

// Step `At`, which is of rows, at any column.
template <std::size_t At, class Program, class Operands>
struct one_step {
  Operands operands;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    vec values[Program::get().size];
    compute_steps<needed_by_step<Program, At>>(operands, values, part, i, all_steps<Program>());
    return values[At];
  }
};
template <std::size_t At, class Call, class Program>
HWY_ATTR HWY_INLINE auto step_at(row_source<Call, Program> const& source) {
  return one_step<At, Program, operands_for<Call, Program>>{operands_of(source)};
}

// Where a vector has lanes that are no elements, these have this number.
HWY_ATTR HWY_INLINE vec elements_or(whole, vec v, float) { return v; }
HWY_ATTR HWY_INLINE vec elements_or(between part, vec v, float otherwise) {
  return hn::IfThenElse(kernels::detail::HWY_NAMESPACE::lanes_between(lanes(), part.begin, part.end), v,
                        all(otherwise));
}

template <class Part>
struct columns_at {
  Part part;
  std::ptrdiff_t i;
};

// A pass, as the kernels' loop over the columns of a row wants it.
template <class Program, int Depth, class Call, std::size_t... K>
struct gathers_folds {
  static constexpr std::ptrdiff_t number_of_sums = sizeof...(K);
  template <class V>
  using sums = folds<V, (folds_of_pass<Program, Depth>[K].kind == fold_kind::largest)...>;

  operands_for<Call, Program> operands;
  double totals[sizeof...(K)];
  float pivots[sizeof...(K)];

  template <class Part>
  HWY_ATTR HWY_INLINE columns_at<Part> get(Part part, std::ptrdiff_t i) const {
    return {part, i};
  }
  template <class Part>
  HWY_ATTR HWY_INLINE void accumulate(columns_at<Part> at, sums<vec>& to) const {
    vec values[Program::get().size];
    compute_steps<needed_by_pass<Program, Depth>>(operands, values, at.part, at.i, all_steps<Program>());
    accumulate_from<0>(values, at.part, to);
  }
  HWY_ATTR HWY_INLINE void finish(sums<double> const& more) { finish_from<0>(more); }

 private:
  template <std::size_t At>
  HWY_ATTR HWY_INLINE vec operand(vec const* values) const {
    if constexpr (Program::get()[At].is_row) {
      return values[At];
    } else {
      return HWY_NAMESPACE::all(operands.numbers.upper[places_of_numbers<Program>.at[At]]);
    }
  }
  template <std::size_t At, class Part, class Folds>
  HWY_ATTR HWY_INLINE void accumulate_from(vec const* values, Part part, Folds& to) const {
    if constexpr (At < sizeof...(K)) {
      constexpr fold one = folds_of_pass<Program, Depth>[At];
      vec const a = operand<one.a>(values);
      if constexpr (one.kind == fold_kind::largest) {
        to.first.of = larger_so_far(to.first.of, elements_or(part, a, lowest));
      } else if constexpr (one.kind == fold_kind::products) {
        to.first = hn::MulAdd(elements_or(part, a, 0), elements_or(part, operand<one.b>(values), 0), to.first);
      } else if constexpr (one.kind == fold_kind::sum) {
        to.first = hn::Add(to.first, elements_or(part, a, 0));
      } else {
        vec const distance = elements_or(part, hn::Sub(a, HWY_NAMESPACE::all(pivots[At])), 0);
        to.first =
            one.kind == fold_kind::distances ? hn::Add(to.first, distance) : hn::MulAdd(distance, distance, to.first);
      }
      accumulate_from<At + 1>(values, part, to.rest);
    }
  }
  template <std::size_t At, class Folds>
  HWY_ATTR HWY_INLINE void finish_from(Folds const& more) {
    if constexpr (At < sizeof...(K)) {
      if constexpr (folds_of_pass<Program, Depth>[At].kind == fold_kind::largest) {
        totals[At] = larger_number(totals[At], more.first);
      } else {
        totals[At] += more.first;
      }
      finish_from<At + 1>(more.rest);
    }
  }
};

// Whether a step is an input of halves.
template <class Input>
inline constexpr bool input_has_halves = false;
template <template <class> class Input, class T>
inline constexpr bool input_has_halves<Input<T>> = !std::is_same_v<T, float>;
template <class Call, std::size_t At>
constexpr bool is_input_of_halves() {
  constexpr row_step s = Call::program::get()[At];
  if constexpr (s.op == row_op::input) {
    using input = std::remove_cvref_t<decltype(get<s.index>(std::declval<Call const&>().inputs))>;
    return input_has_halves<input>;
  } else {
    return false;
  }
}

// What a pass begins with: nothing, added up around the mean of a row's first elements where that matters.
template <int Depth, std::size_t At, class Gather, class Call, class Program>
HWY_ATTR HWY_INLINE void begin_fold(Gather& gather, row_source<Call, Program> const& source) {
  constexpr fold one = folds_of_pass<Program, Depth>[At];
  gather.totals[At] = one.kind == fold_kind::largest ? static_cast<double>(lowest) : 0;
  if constexpr (one.kind == fold_kind::distances) {
    gather.pivots[At] = kernels::detail::HWY_NAMESPACE::first_mean<is_input_of_halves<Call, one.a>()>(
        step_at<one.a>(source), source.call->columns);
  } else if constexpr (one.kind == fold_kind::squares) {
    gather.pivots[At] = gather.pivots[At - 1];
  }
}
template <int Depth, class Call, class Program, std::size_t... K>
HWY_ATTR HWY_INLINE gathers_folds<Program, Depth, Call, K...> begin_pass(row_source<Call, Program> const& source,
                                                                         std::index_sequence<K...>) {
  gathers_folds<Program, Depth, Call, K...> gather{operands_of(source), {}, {}};
  (begin_fold<Depth, K>(gather, source), ...);
  return gather;
}

// Sum and spread of a step of rows, exactly but for one rounding of each product and sum in double: for what float
// cannot hold.
struct exact_spread {
  double mean, spread;
};
template <class Step>
HWY_ATTR HWY_NOINLINE exact_spread spread_exactly(Step const& step, std::size_t columns) {
  HWY_ALIGN float v[static_cast<std::size_t>(vector_lanes)];
  double sum = 0, mean = 0, squares = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < columns; i += static_cast<std::size_t>(vector_lanes)) {
      std::size_t const count = HWY_MIN(columns - i, static_cast<std::size_t>(vector_lanes));
      hn::Store(step(between{0, count}, static_cast<std::ptrdiff_t>(i)), lanes(), v);
      for (std::size_t k = 0; k < count; ++k) {
        double const element = static_cast<double>(v[k]);
        sum += pass == 0 ? element : 0;
        squares += pass == 0 ? 0 : kernels::detail::product(element - mean, element - mean);
      }
    }
    mean = sum / static_cast<double>(columns);
  }
  return {mean, squares};
}

template <int Depth, std::size_t At, class Gather, class Call, class Program>
HWY_ATTR HWY_NOINLINE Gather gather_again(Gather again, row_source<Call, Program> const& source, double mean,
                                          double variance) {
  again.totals[At] = again.totals[At + 1] = 0;
  again.pivots[At] = again.pivots[At + 1] = kernels::detail::HWY_NAMESPACE::near_mean(mean, variance);
  kernels::detail::HWY_NAMESPACE::visit_row<whole>(again, kernels::detail::HWY_NAMESPACE::writes_nothing{},
                                                   source.call->columns);
  return again;
}

// What follows of the totals of a pass. A spread around a pivot that was far from the mean is gathered again, around
// the row's own; one of squares that float does not hold is computed exactly.
template <int Depth, std::size_t At, class Gather, class Call, class Program>
HWY_ATTR HWY_INLINE void finish_fold(Gather const& gather, row_source<Call, Program> const& source,
                                     known_numbers<Program>& numbers) {
  constexpr fold one = folds_of_pass<Program, Depth>[At];
  if constexpr (one.kind == fold_kind::distances) {
    auto const columns = static_cast<double>(source.call->columns);
    double pivot = static_cast<double>(gather.pivots[At]);
    double shift = gather.totals[At] / columns, mean_square = gather.totals[At + 1] / columns;
    for (int attempt = 0;; ++attempt) {
      double const square = kernels::detail::product(shift, shift);
      double const variance = mean_square > square ? mean_square - square : 0;
      bool const is_held = kernels::detail::is_comfortable(mean_square, 0);
      if (is_held && square <= 2 * variance) [[likely]] {
        numbers.value[one.b] = pivot + shift;
        numbers.value[one.step] = kernels::detail::product(variance, columns);
        return;
      }
      if (!is_held || attempt == 1) break;
      auto again = gather_again<Depth, At>(gather, source, pivot + shift, variance);
      pivot = static_cast<double>(again.pivots[At]);
      shift = again.totals[At] / columns;
      mean_square = again.totals[At + 1] / columns;
    }
    auto const exact = spread_exactly(step_at<one.a>(source), source.call->columns);
    numbers.value[one.b] = exact.mean;
    numbers.value[one.step] = exact.spread;
  } else if constexpr (one.kind != fold_kind::squares) {
    // A largest number of 0 has no sign.
    double const total = gather.totals[At] + 0.0;
    bool const is_mean = Program::get()[one.step].op == row_op::mean;
    numbers.value[one.step] = is_mean ? total / static_cast<double>(source.call->columns) : total;
  }
}
template <int Depth, class Gather, class Call, class Program, std::size_t... K>
HWY_ATTR HWY_INLINE void finish_pass(Gather const& gather, row_source<Call, Program> const& source,
                                     known_numbers<Program>& numbers, std::index_sequence<K...>) {
  (finish_fold<Depth, K>(gather, source, numbers), ...);
  compute_numbers<Depth>(numbers, *source.call, all_steps<Program>());
}

// Passes from `Depth` on, and the numbers that are known after each.
template <class Program, int Depth>
using folds_sequence = std::make_index_sequence<number_of_folds<Program, Depth>>;
template <int Depth, class Call, class Program>
HWY_ATTR HWY_INLINE void gather_rows(row_source<Call, Program> const& source, known_numbers<Program>& numbers) {
  if constexpr (Depth <= Program::get().depth) {
    auto gather = begin_pass<Depth>(source, folds_sequence<Program, Depth>());
    kernels::detail::HWY_NAMESPACE::visit_row<whole>(gather, kernels::detail::HWY_NAMESPACE::writes_nothing{},
                                                     source.call->columns);
    finish_pass<Depth>(gather, source, numbers, folds_sequence<Program, Depth>());
    gather_rows<Depth + 1>(source, numbers);
  }
}

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
template <class Program, bool Streamed, class Operands, class Results>
struct writes_results {
  static constexpr std::ptrdiff_t most_sums = kernels::detail::HWY_NAMESPACE::vector_registers / 2;

  Operands operands;
  Results results;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::ptrdiff_t i) const {
    vec values[Program::get().size];
    compute_steps<needed_by_results<Program>>(operands, values, part, i, all_steps<Program>());
    store_results<0, Program, Streamed>(values, part, i, results);
  }
};
template <bool Streamed, class Call, class Program>
HWY_ATTR HWY_INLINE auto writes_of(row_source<Call, Program> const& source) {
  auto const results = all_at_row(source.call->results, source.row);
  return writes_results<Program, Streamed, operands_for<Call, Program>, std::remove_const_t<decltype(results)>>{
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
      if constexpr (is_cheap<needed_by_results<Program>, Program>) {
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
                  is_cheap<needed_by_results<program>, program> && is_cheap<needed_by_pass<program, 1>, program>) {
      if (call.end - call.begin > 1 && !call.streamed) return compute_ahead(call, numbers);
    }
    compute_each(call, numbers);
    if (call.streamed) hwy::FlushStream();
  }
};

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
