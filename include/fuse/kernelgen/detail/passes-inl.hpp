// SPDX-License-Identifier: BSL-1.0

// A pass over a row, for the reductions of one depth.
#include <fuse/kernelgen/detail/folds-inl.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Program>
using all_steps = std::make_index_sequence<Program::get().size>;

// Whether steps are arithmetic alone, and little of that: loops of them wait for memory more than for anything else.
template <auto const& Needed, class Program>
inline constexpr bool is_cheap = [] {
  int operations = 0;
  for (std::size_t i = 0; i < Program::get().size; ++i)
    if (Needed.has[i]) operations += is_function(Program::get()[i].op) ? 20 : 1;
  return operations < 20;
}();

// What a pass keeps in lanes: of most reductions what they add up, or the largest; of a spread the distances from a
// pivot and their squares, of which the mean follows, too.
enum class fold_kind : std::uint8_t { sum, products, largest, distances, squares };
struct fold {
  std::uint8_t step, a, b;
  fold_kind kind;
};

// Calls `add(step, kind)` for each of these of a pass.
template <class Add>
constexpr void each_fold(row_program const& program, int depth, Add const& add) {
  for (std::size_t i = 0; i < program.size; ++i) {
    row_step const& s = program[i];
    if (!s.is_used || !is_reduction(s.op) || s.depth != depth) continue;
    if (s.op == row_op::spread) {
      add(i, fold_kind::distances);
      add(i, fold_kind::squares);
    } else if (s.op != row_op::mean || !has_spread(program, s.a)) {
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

// The steps that these read, and that one step does.
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

// A function of each element that the last pass and the result need is stored in the place of the result, of floats,
// where nothing but what all rows share is read after that. `none` where there is no such step.
inline constexpr std::size_t none = row_program::capacity;
template <class Program>
constexpr bool reads_rows(step_set const& set) {
  row_program const& program = Program::get();
  for (std::size_t i = 0; i < program.size; ++i)
    if (set.has[i] && program[i].op == row_op::input && program.inputs.of[program[i].index] == input_kind::row_of_each)
      return true;
  return false;
}
template <class Program>
constexpr step_set needed_by_results_beside(std::size_t kept) {
  step_set set;
  if (kept != none) set.has[kept] = true;
  for (std::size_t i = 0; i < Program::get().number_of_results; ++i)
    need(set, Program::get(), Program::get().results[i]);
  if (kept != none) set.has[kept] = false;
  return set;
}
template <class Program>
inline constexpr std::size_t kept_step = [] {
  row_program const& program = Program::get();
  if (program.depth == 0) return none;
  auto const& last = needed_by_pass<Program, Program::get().depth>;
  for (fold const& one : folds_of_pass<Program, Program::get().depth>)
    if (one.kind == fold_kind::distances) return none;  // they may be gathered again
  for (std::size_t i = program.size; i-- > 0;)
    if (last.has[i] && is_function(program[i].op) && !reads_rows<Program>(needed_by_results_beside<Program>(i)))
      return i;
  return none;
}();
template <class Call>
inline constexpr std::size_t kept_by = none;
template <class Program, class Inputs>
inline constexpr std::size_t kept_by<expression_call<Program, Inputs, list<result_rows<float>>>> = kept_step<Program>;
template <class Call>
inline constexpr step_set needed_by_results = needed_by_results_beside<typename Call::program>(kept_by<Call>);

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
  float* kept;  // where this pass stores what the result needs, too

  template <class Part>
  HWY_ATTR HWY_INLINE columns_at<Part> get(Part part, std::ptrdiff_t i) const {
    return {part, i};
  }
  template <class Part>
  HWY_ATTR HWY_INLINE void accumulate(columns_at<Part> at, sums<vec>& to) const {
    vec values[Program::get().size];
    compute_steps<needed_by_pass<Program, Depth>>(operands, values, at.part, at.i, all_steps<Program>());
    if constexpr (Depth == Program::get().depth && kept_by<Call> != none) {
      at.part.put(values[kept_by<Call>], kept + at.i);
    }
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
  gathers_folds<Program, Depth, Call, K...> gather{operands_of(source), {}, {}, nullptr};
  if constexpr (Depth == Program::get().depth && kept_by<Call> != none) {
    gather.kept = at_row(source.call->results.first, source.row);
  }
  (begin_fold<Depth, K>(gather, source), ...);
  return gather;
}

// Goes over the columns of a row. A loop of many operations keeps its lanes in memory, whose latency it does not
// notice: less is compiled.
template <bool IsCheap, class Gather>
HWY_ATTR HWY_INLINE void visit_pass(Gather& gather, std::size_t columns) {
  kernels::detail::HWY_NAMESPACE::writes_nothing const nothing;
  if constexpr (IsCheap) {
    kernels::detail::HWY_NAMESPACE::visit_row<whole>(gather, nothing, columns);
  } else {
    constexpr std::ptrdiff_t at_once = kernels::detail::HWY_NAMESPACE::columns_of_sums;
    auto const all = static_cast<std::ptrdiff_t>(columns);
    std::ptrdiff_t i = 0;
    for (std::ptrdiff_t begin = 0; begin < all; begin += at_once) {
      gather.finish(kernels::detail::HWY_NAMESPACE::visit_columns_in_memory(gather, nothing, i, begin,
                                                                            HWY_MIN(all, begin + at_once)));
    }
  }
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
    visit_pass<is_cheap<needed_by_pass<Program, Depth>, Program>>(gather, source.call->columns);
    finish_pass<Depth>(gather, source, numbers, folds_sequence<Program, Depth>());
    gather_rows<Depth + 1>(source, numbers);
  }
}

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
