// SPDX-License-Identifier: BSL-1.0

// The steps of a row program: those of rows as vectors, those that are one number in double precision.
#include <fuse/kernelgen/functions-inl.hpp>

#include <fuse/kernelgen/detail/expression_call.hpp>
#include <fuse/kernels/detail/exact.hpp>

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {
using detail::input_kind;
using detail::row_op;
using detail::row_program;
using detail::row_step;

// The larger of two; NaN where one of them is.
HWY_ATTR HWY_INLINE vec larger(vec a, vec b) {
  return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Le(b, a), a, b), a);
}

// What an operator makes of vectors.
template <row_op Op>
HWY_ATTR HWY_INLINE vec function_of(vec a) {
  if constexpr (Op == row_op::neg) {
    return hn::Neg(a);
  } else if constexpr (Op == row_op::reciprocal) {
    return hn::Div(all(1), a);
  } else if constexpr (Op == row_op::sqrt) {
    return hn::Sqrt(a);
  } else if constexpr (Op == row_op::abs) {
    return hn::Abs(a);
  } else if constexpr (Op == row_op::sign) {
    vec const unit = hn::IfThenElse(hn::Gt(a, all(0)), all(1), a);
    return hn::IfThenElse(hn::Lt(a, all(0)), all(-1), unit);
  } else if constexpr (Op == row_op::floor) {
    return hn::Floor(a);
  } else if constexpr (Op == row_op::ceil) {
    return hn::Ceil(a);
  } else if constexpr (Op == row_op::round) {
    return hn::Round(a);
  } else if constexpr (Op == row_op::relu) {
    return hn::IfThenElse(hn::Le(a, all(0)), all(0), a);
  } else if constexpr (Op == row_op::exp) {
    return HWY_NAMESPACE::exp(a);
  } else if constexpr (Op == row_op::log) {
    return HWY_NAMESPACE::log(a);
  } else if constexpr (Op == row_op::erf) {
    return HWY_NAMESPACE::erf(a);
  } else if constexpr (Op == row_op::tanh) {
    return HWY_NAMESPACE::tanh(a);
  } else if constexpr (Op == row_op::sigmoid) {
    return HWY_NAMESPACE::sigmoid(a);
  } else if constexpr (Op == row_op::sin) {
    return HWY_NAMESPACE::sin(a);
  } else {
    static_assert(Op == row_op::cos);
    return HWY_NAMESPACE::cos(a);
  }
}

// The steps of a program that are one number, as far as they are known.
template <class Program>
struct known_numbers {
  double value[Program::get().size];
};

// A row of a call, and what is known of it.
template <class Call, class Program>
struct row_source {
  Call const* call;
  known_numbers<Program> const* numbers;
  std::size_t row;
};

// The numbers that rows meet, in the order of the steps.
template <class Program>
inline constexpr auto places_of_numbers = [] {
  struct {
    bool is_met[row_program::capacity]{}, divides[row_program::capacity]{};
    std::size_t at[row_program::capacity]{}, count = 0;
  } places;
  row_program const& program = Program::get();
  for (std::size_t i = 0; i < program.size; ++i)
    for (int k = 0; k < program[i].operands; ++k)
      if (program[i].is_used && (program[i].is_row || is_reduction(program[i].op)))
        places.is_met[program[i].operand(k)] = !program[program[i].operand(k)].is_row;
  for (std::size_t i = 0; i < program.size; ++i)
    if (program[i].is_used && program[i].is_row && program[i].op == row_op::div) places.divides[program[i].b] = true;
  for (std::size_t i = 0; i < program.size; ++i)
    if (places.is_met[i]) places.at[i] = places.count++;
  return places;
}();
// A number as rows meet it: `upper` and `lower` together. Rows are multiplied by `inverse` where that is a float that
// does for all of 1 / number, else divided.
struct met_number {
  float upper, lower, inverse;
  bool divides;
};
HWY_ATTR HWY_INLINE float rest_of(double number, float upper) {
  float const rest = static_cast<float>(number - static_cast<double>(upper));
  return std::isfinite(upper) ? rest : 0;
}
HWY_ATTR HWY_INLINE bool has_to_divide(double number, float inverse) {
  bool const is_normal = std::fabs(inverse) >= 0x1p-126f && std::isfinite(inverse);
  return !is_normal && number != 0 && std::isfinite(number);
}

// All of them.
template <class Program>
struct met_numbers {
  static constexpr std::size_t count = places_of_numbers<Program>.count;

  float upper[count + 1], lower[count + 1], inverse[count + 1];
  bool divides[count + 1];

  template <std::size_t At>
  HWY_ATTR HWY_INLINE void take(known_numbers<Program> const& from) {
    constexpr auto const& places = places_of_numbers<Program>;
    if constexpr (places.is_met[At]) {
      constexpr std::size_t to = places.at[At];
      double const number = from.value[At];
      upper[to] = static_cast<float>(number);
      if constexpr (Program::get()[At].has_rest) lower[to] = rest_of(number, upper[to]);
      if constexpr (places.divides[At]) {
        inverse[to] = static_cast<float>(1 / number);
        divides[to] = has_to_divide(number, inverse[to]);
      }
    }
  }
};
template <class Program, std::size_t... At>
HWY_ATTR HWY_INLINE met_numbers<Program> met(known_numbers<Program> const& known, std::index_sequence<At...>) {
  met_numbers<Program> numbers{};
  (numbers.template take<At>(known), ...);
  return numbers;
}

// What lies at this row of an input, or result.
template <class T>
HWY_ATTR HWY_INLINE shared_row<T> at_row(each_row<T> const& from, std::size_t row) {
  return {from.data + row * from.stride};
}
template <class Same>
HWY_ATTR HWY_INLINE Same at_row(Same const& from, std::size_t) {
  return from;
}
template <class T>
HWY_ATTR HWY_INLINE T* at_row(result_rows<T> const& to, std::size_t row) {
  return to.data + row * to.stride;
}
HWY_ATTR HWY_INLINE list<> all_at_row(list<> const&, std::size_t) { return {}; }
template <class First, class... Rest>
HWY_ATTR HWY_INLINE auto all_at_row(list<First, Rest...> const& of, std::size_t row) {
  auto const rest = all_at_row(of.rest, row);
  auto const first = at_row(of.first, row);
  return joined(first, rest);
}

// What a loop over a row's columns reads. By value: what has an address is loaded again after each store.
template <class Program, class Inputs>
struct row_operands {
  Inputs inputs;
  met_numbers<Program> numbers;
};
template <class Call, class Program>
HWY_ATTR HWY_INLINE auto operands_of(row_source<Call, Program> const& source) {
  auto const inputs = all_at_row(source.call->inputs, source.row);
  return row_operands<Program, std::remove_const_t<decltype(inputs)>>{
      inputs, met(*source.numbers, std::make_index_sequence<Program::get().size>())};
}
template <class Call, class Program>
using operands_for = decltype(operands_of(std::declval<row_source<Call, Program> const&>()));

template <class Part, class T>
HWY_ATTR HWY_INLINE vec load_input(Part part, shared_row<T> const& from, std::ptrdiff_t i) {
  return part.get(from.data + i);
}

// What a step makes of its operands, but for what float leaves of one that is a number.
template <row_op Op>
HWY_ATTR HWY_INLINE vec operation(vec a, vec b, vec c) {
  if constexpr (Op == row_op::add) {
    return hn::Add(a, b);
  } else if constexpr (Op == row_op::sub || Op == row_op::sub_nearest) {
    return hn::Sub(a, b);
  } else if constexpr (Op == row_op::mul) {
    return product(a, b);
  } else if constexpr (Op == row_op::div) {
    return hn::Div(a, b);
  } else if constexpr (Op == row_op::mul_add) {
    return hn::MulAdd(a, b, c);
  } else if constexpr (Op == row_op::mul_sub) {
    return hn::MulSub(a, b, c);
  } else if constexpr (Op == row_op::neg_mul_add) {
    return hn::NegMulAdd(a, b, c);
  } else if constexpr (Op == row_op::maximum) {
    return larger(a, b);
  } else if constexpr (Op == row_op::minimum) {
    return hn::Neg(larger(hn::Neg(a), hn::Neg(b)));
  } else if constexpr (Op == row_op::where_positive) {
    return hn::IfThenElse(hn::Gt(a, all(0)), b, c);
  } else if constexpr (Op == row_op::greater) {
    return hn::IfThenElseZero(hn::Gt(a, b), all(1));
  } else if constexpr (Op == row_op::greater_or_equal) {
    return hn::IfThenElseZero(hn::Ge(a, b), all(1));
  } else if constexpr (Op == row_op::equal) {
    return hn::IfThenElseZero(hn::Eq(a, b), all(1));
  } else if constexpr (Op == row_op::repeat) {
    return a;
  } else {
    return function_of<Op>(a);
  }
}

// Whether a step is a row less its largest element.
constexpr bool is_below_largest(row_program const& program, std::size_t at) {
  row_step const& s = program[at];
  bool const subtracts = s.op == row_op::sub || s.op == row_op::sub_nearest;
  return subtracts && program[s.b].op == row_op::largest && program[s.b].a == s.a;
}

// Operand `K` of step `At`, where the steps before it are in `values`.
template <std::size_t At, int K, class Program, class Inputs>
HWY_ATTR HWY_INLINE vec operand_of(row_operands<Program, Inputs> const& source, vec const* values) {
  constexpr row_step s = Program::get()[At];
  if constexpr (K >= s.operands) {
    return all(0);
  } else if constexpr (Program::get()[s.operand(K)].is_row) {
    return values[s.operand(K)];
  } else {
    return all(source.numbers.upper[places_of_numbers<Program>.at[s.operand(K)]]);
  }
}

// Step `At` of a row, where those before it are in `values`.
template <std::size_t At, class Part, class Program, class Inputs>
HWY_ATTR HWY_INLINE vec step_of(row_operands<Program, Inputs> const& source, vec const* values, Part part,
                                std::ptrdiff_t i) {
  constexpr row_program const& program = Program::get();
  constexpr row_step s = program[At];
  constexpr auto const& place = places_of_numbers<Program>.at;
  if constexpr (s.op == row_op::input) {
    return load_input(part, get<s.index>(source.inputs), i);
  } else {
    vec const a = operand_of<At, 0>(source, values), b = operand_of<At, 1>(source, values),
              c = operand_of<At, 2>(source, values);
    if constexpr (s.op == row_op::div && !program[s.b].is_row) {
      if (!source.numbers.divides[place[s.b]]) [[likely]] {
        return product(a, all(source.numbers.inverse[place[s.b]]));
      }
    }
    if constexpr (s.op == row_op::exp && is_below_largest(program, s.a)) return exp_of_at_most_0(a);
    constexpr auto rest = added_rest_of(program, s);
    vec const made = operation<s.op>(a, b, c);
    if constexpr (rest.is_there) {
      vec const more = all(source.numbers.lower[place[rest.step]]);
      return rest.subtracted ? hn::Sub(made, more) : hn::Add(made, more);
    } else {
      return made;
    }
  }
}

// Those steps of rows that these ones need, each once: step I where bit I of `Needed` says so.
struct step_set {
  bool has[row_program::capacity]{};
};
constexpr void need(step_set& set, row_program const& program, std::size_t at) {
  if (!program[at].is_row || set.has[at]) return;
  set.has[at] = true;
  for (int i = 0; i < program[at].operands; ++i) need(set, program, program[at].operand(i));
}

template <auto const& Needed, std::size_t At, class Part, class Source>
HWY_ATTR HWY_INLINE void compute_step(Source const& source, vec* values, Part part, std::ptrdiff_t i) {
  if constexpr (Needed.has[At]) values[At] = step_of<At>(source, values, part, i);
}
template <auto const& Needed, class Part, class Source, std::size_t... At>
HWY_ATTR HWY_INLINE void compute_steps(Source const& source, vec* values, Part part, std::ptrdiff_t i,
                                       std::index_sequence<At...>) {
  (compute_step<Needed, At>(source, values, part, i), ...);
}

// One number, in double precision where that is arithmetic.
template <row_op Op>
HWY_ATTR HWY_INLINE double number_of(double a, double b) {
  if constexpr (Op == row_op::add) {
    return a + b;
  } else if constexpr (Op == row_op::sub) {
    return a - b;
  } else if constexpr (Op == row_op::mul) {
    return kernels::detail::product(a, b);
  } else if constexpr (Op == row_op::div) {
    return a / b;
  } else if constexpr (Op == row_op::neg) {
    return -a;
  } else if constexpr (Op == row_op::reciprocal) {
    return 1 / a;
  } else if constexpr (Op == row_op::sqrt) {
    return std::sqrt(a);
  } else if constexpr (Op == row_op::abs) {
    return std::fabs(a);
  } else if constexpr (Op == row_op::relu) {
    return a <= 0 ? 0 : a;
  } else if constexpr (Op == row_op::rest_product) {
    float const nearest = static_cast<float>(a);
    bool const has_rest = std::isfinite(nearest) && std::isfinite(static_cast<float>(b));
    return has_rest ? kernels::detail::product(static_cast<double>(nearest) - a, b) : 0;
  } else if constexpr (Op == row_op::maximum) {
    return a != a || b <= a ? a : b;
  } else if constexpr (Op == row_op::minimum) {
    return a != a || a <= b ? a : b;
  } else if constexpr (Op == row_op::greater) {  // as rows meet them
    return static_cast<float>(a) > static_cast<float>(b) ? 1 : 0;
  } else if constexpr (Op == row_op::greater_or_equal) {
    return static_cast<float>(a) >= static_cast<float>(b) ? 1 : 0;
  } else if constexpr (Op == row_op::equal) {
    return static_cast<float>(a) == static_cast<float>(b) ? 1 : 0;
  } else {
    return static_cast<double>(hn::GetLane(function_of<Op>(all(static_cast<float>(a)))));
  }
}

template <std::size_t At, class Program, class Call>
HWY_ATTR HWY_INLINE void compute_number(known_numbers<Program>& numbers, Call const& call) {
  constexpr row_program const& program = Program::get();
  constexpr row_step s = program[At];
  if constexpr (s.op == row_op::input) {
    numbers.value[At] = static_cast<double>(get<s.index>(call.inputs).value);
  } else if constexpr (s.op == row_op::number) {
    numbers.value[At] = s.number;
  } else if constexpr (s.op == row_op::columns) {
    numbers.value[At] = static_cast<double>(call.columns);
  } else if constexpr (s.op == row_op::where_positive) {
    numbers.value[At] = numbers.value[s.a] > 0 ? numbers.value[s.b] : numbers.value[s.c];
  } else {
    numbers.value[At] = number_of<s.op>(numbers.value[s.a], numbers.value[s.b]);
  }
}

// The numbers that are known after so many passes over the row.
template <int Depth, std::size_t At, class Program, class Call>
HWY_ATTR HWY_INLINE void compute_number_of_depth(known_numbers<Program>& numbers, Call const& call) {
  constexpr row_step s = Program::get()[At];
  if constexpr (s.is_used && !s.is_row && !is_reduction(s.op) && s.depth == Depth) compute_number<At>(numbers, call);
}
template <int Depth, class Program, class Call, std::size_t... At>
HWY_ATTR HWY_INLINE void compute_numbers(known_numbers<Program>& numbers, Call const& call,
                                         std::index_sequence<At...>) {
  (compute_number_of_depth<Depth, At>(numbers, call), ...);
}

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
