// SPDX-License-Identifier: BSL-1.0

// A row program that is known at run time only: step by step over tiles of a row, with the operations, the reductions
// and so the bits of kernels from expressions.
#include <fuse/kernelgen/detail/interpreted_call.hpp>
#include <fuse/kernelgen/detail/passes.hpp>
#include <fuse/kernelgen/step_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// Calls `f` with an element of that type. What is no floating number is `whole_number`.
template <class T>
struct whole_number {};
template <class F>
HWY_ATTR HWY_INLINE void with_element(row_element type, F const& f) {
  switch (type) {
    case row_element::float32: return f(float{});
    case row_element::bfloat16: return f(kernels::bfloat16{});
    case row_element::float16: return f(kernels::float16{});
    case row_element::boolean: return f(whole_number<std::uint8_t>{});
    case row_element::int32: return f(whole_number<std::int32_t>{});
    case row_element::int64: return f(whole_number<std::int64_t>{});
  }
}

// Element `at` as a float. Whole numbers may lie at any address.
template <class T>
HWY_ATTR HWY_INLINE float element_at(T, std::byte const* from, std::ptrdiff_t at) {
  return kernels::to_float(reinterpret_cast<T const*>(from)[at]);
}
template <class T>
HWY_ATTR HWY_INLINE float element_at(whole_number<T>, std::byte const* from, std::ptrdiff_t at) {
  T number;
  std::memcpy(&number, from + at * static_cast<std::ptrdiff_t>(sizeof(T)), sizeof(T));
  if constexpr (sizeof(T) == 1) return number != 0 ? 1.f : 0.f;
  return static_cast<float>(number);
}
template <class T>
HWY_ATTR HWY_INLINE void put_element(T, std::byte* to, float number) {
  *reinterpret_cast<T*>(to) = kernels::from_float<T>(number);
}
template <class T>
HWY_ATTR HWY_INLINE void put_element(whole_number<T>, std::byte* to, float number) {
  auto const made = static_cast<T>(number);
  std::memcpy(to, &made, sizeof(T));
}

// Steps of rows

// (a + shift) * factor + more, rounded twice; what changes nothing at first.
struct affine {
  float shift = -0.f, factor = 1, more = -0.f;
};
// What a loop computes beside its operation: adds what float leaves of a number, or makes its first operand by numbers.
enum class beside : std::uint8_t { nothing, rest, affine };

// What a loop over columns reads: rows, or numbers in all lanes of a vector.
struct step_operands {
  float const *a, *b, *c, *rest;
  affine first;
};

constexpr int operands_of_operation(row_op op) {
  switch (op) {
    case row_op::add:
    case row_op::sub:
    case row_op::mul:
    case row_op::div:
    case row_op::sub_nearest:
    case row_op::minimum:
    case row_op::maximum:
    case row_op::greater:
    case row_op::greater_or_equal:
    case row_op::equal: return 2;
    case row_op::mul_add:
    case row_op::mul_sub:
    case row_op::neg_mul_add:
    case row_op::where_positive: return 3;
    default: return 1;
  }
}

// The operands at some column; bit K of `Numbers`: operand K is a number.
template <unsigned Numbers, int K, class Part>
HWY_ATTR HWY_INLINE vec operand_at(Part part, float const* from, std::ptrdiff_t i) {
  if constexpr ((Numbers >> K & 1u) != 0) {
    return hn::LoadU(lanes(), from);
  } else {
    return part.get(from + i);
  }
}
template <row_op Op, unsigned Numbers, beside Beside, class Part>
HWY_ATTR HWY_INLINE vec operate_at(Part part, step_operands const& of, std::ptrdiff_t i) {
  constexpr int count = operands_of_operation(Op);
  vec a = operand_at<Numbers, 0>(part, of.a, i);
  if constexpr (Beside == beside::affine) {
    a = hn::MulAdd(hn::Add(a, all(of.first.shift)), all(of.first.factor), all(of.first.more));
  }
  vec b = a, c = a;
  if constexpr (count > 1) b = operand_at<Numbers, 1>(part, of.b, i);
  if constexpr (count > 2) c = operand_at<Numbers, 2>(part, of.c, i);
  vec const made = operation<Op>(a, b, c);
  return Beside == beside::rest ? hn::Add(made, hn::LoadU(lanes(), of.rest)) : made;
}
// Loops of one operation wait for the loop itself: four vectors at once.
template <row_op Op, unsigned Numbers, beside Beside>
HWY_ATTR void operate(float* to, step_operands const& given, std::size_t columns) {
  auto const of = given;  // what has an address is loaded again after each store
  auto const all = static_cast<std::ptrdiff_t>(columns);
  std::ptrdiff_t i = 0;
  if constexpr (!detail::is_function(Op)) {
    for (; all - i >= 4 * vector_lanes; i += 4 * vector_lanes) {
      vec const v = operate_at<Op, Numbers, Beside>(whole(), of, i);
      vec const w = operate_at<Op, Numbers, Beside>(whole(), of, i + vector_lanes);
      vec const x = operate_at<Op, Numbers, Beside>(whole(), of, i + 2 * vector_lanes);
      vec const y = operate_at<Op, Numbers, Beside>(whole(), of, i + 3 * vector_lanes);
      whole().put(v, to + i);
      whole().put(w, to + i + vector_lanes);
      whole().put(x, to + i + 2 * vector_lanes);
      whole().put(y, to + i + 3 * vector_lanes);
    }
  }
  for (; all - i >= vector_lanes; i += vector_lanes)
    whole().put(operate_at<Op, Numbers, Beside>(whole(), of, i), to + i);
  between const some{0, static_cast<std::size_t>(all - i)};
  if (i < all) some.put(operate_at<Op, Numbers, Beside>(some, of, i), to + i);
}
using row_loop = void (*)(float*, step_operands const&, std::size_t);

// The loop of an operation on rows and numbers. Not all operands are numbers, but of what repeats one; what is made by
// numbers is a row.
template <row_op Op, beside Beside>
HWY_ATTR row_loop loop_on(unsigned numbers) {
  constexpr int count = operands_of_operation(Op);
  constexpr unsigned all = (1u << count) - 1, rows = Beside == beside::affine ? all - 1 : all;
  if constexpr (count == 1) {
    constexpr unsigned repeated = Op == row_op::repeat ? 1 : 0;
    return operate<Op, repeated, Beside>;
  } else {
    switch (numbers) {
      case 1: return operate<Op, 1 & rows, Beside>;
      case 2: return operate<Op, 2, Beside>;
      case 3: return operate<Op, 3 % all & rows, Beside>;
      case 4: return operate<Op, 4 % all, Beside>;
      case 5: return operate<Op, 5 % all & rows, Beside>;
      case 6: return operate<Op, 6 % all, Beside>;
      default: return operate<Op, 0, Beside>;
    }
  }
}
template <row_op Op>
HWY_ATTR row_loop loop_on(unsigned numbers, beside more) {
  if constexpr (detail::reads_on_the_way(Op)) {
    if (more == beside::affine) return loop_on<Op, beside::affine>(numbers);
  }
  if constexpr (detail::may_add_rest(Op)) {
    if (more == beside::rest) return loop_on<Op, beside::rest>(numbers);
  }
  return loop_on<Op, beside::nothing>(numbers);
}
HWY_ATTR inline row_loop loop_of(row_op op, unsigned numbers, beside more) {
  switch (op) {
    case row_op::add: return loop_on<row_op::add>(numbers, more);
    case row_op::sub: return loop_on<row_op::sub>(numbers, more);
    case row_op::mul_add: return loop_on<row_op::mul_add>(numbers, more);
    case row_op::mul_sub: return loop_on<row_op::mul_sub>(numbers, more);
    case row_op::neg_mul_add: return loop_on<row_op::neg_mul_add>(numbers, more);
    case row_op::mul: return loop_on<row_op::mul>(numbers, more);
    case row_op::div: return loop_on<row_op::div>(numbers, more);
    case row_op::sub_nearest: return loop_on<row_op::sub_nearest>(numbers, more);
    case row_op::minimum: return loop_on<row_op::minimum>(numbers, more);
    case row_op::maximum: return loop_on<row_op::maximum>(numbers, more);
    case row_op::where_positive: return loop_on<row_op::where_positive>(numbers, more);
    case row_op::greater: return loop_on<row_op::greater>(numbers, more);
    case row_op::greater_or_equal: return loop_on<row_op::greater_or_equal>(numbers, more);
    case row_op::equal: return loop_on<row_op::equal>(numbers, more);
    case row_op::repeat: return loop_on<row_op::repeat>(numbers, more);
    case row_op::neg: return loop_on<row_op::neg>(numbers, more);
    case row_op::reciprocal: return loop_on<row_op::reciprocal>(numbers, more);
    case row_op::sqrt: return loop_on<row_op::sqrt>(numbers, more);
    case row_op::abs: return loop_on<row_op::abs>(numbers, more);
    case row_op::sign: return loop_on<row_op::sign>(numbers, more);
    case row_op::floor: return loop_on<row_op::floor>(numbers, more);
    case row_op::ceil: return loop_on<row_op::ceil>(numbers, more);
    case row_op::round: return loop_on<row_op::round>(numbers, more);
    case row_op::relu: return loop_on<row_op::relu>(numbers, more);
    case row_op::exp: return loop_on<row_op::exp>(numbers, more);
    case row_op::log: return loop_on<row_op::log>(numbers, more);
    case row_op::erf: return loop_on<row_op::erf>(numbers, more);
    case row_op::tanh: return loop_on<row_op::tanh>(numbers, more);
    case row_op::sigmoid: return loop_on<row_op::sigmoid>(numbers, more);
    case row_op::sin: return loop_on<row_op::sin>(numbers, more);
    case row_op::cos: return loop_on<row_op::cos>(numbers, more);
    default: return nullptr;
  }
}

// Elements from and to wherever they lie

template <class From, class To>
HWY_ATTR void copy_row(From const* from, To* to, std::size_t columns) {
  constexpr auto width = static_cast<std::size_t>(vector_lanes);
  std::size_t i = 0;
  for (; i + width <= columns; i += width) whole().put(whole().get(from + i), to + i);
  between const some{0, columns - i};
  if (i < columns) some.put(some.get(from + i), to + i);
}

// Past the caches, where the target does that: in vectors from the first multiple of their size on.
HWY_ATTR inline void copy_past_caches(float const* from, float* to, std::size_t columns) {
  if constexpr (kernels::detail::HWY_NAMESPACE::is_elaborate) {
    constexpr auto width = static_cast<std::size_t>(vector_lanes);
    std::size_t const into = reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % width;
    std::size_t i = HWY_MIN(columns, (width - into) % width);
    copy_row(from, to, i);
    for (; i + width <= columns; i += width) whole().stream(whole().get(from + i), to + i);
    from += i, to += i, columns -= i;
  }
  copy_row(from, to, columns);
}

// Columns from `begin` on of an input whose first element of the row is at `from`: in runs of the last digit.
template <class T>
HWY_ATTR void gather_row(whole_number<T> of, std::byte const* from, digits const& columns, std::size_t begin,
                         std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = element_at(of, from, columns.at(begin + i));
}
template <class T>
HWY_ATTR void gather_row(T, std::byte const* bytes, digits const& columns, std::size_t begin, std::size_t count,
                         float* to) {
  auto const* const from = reinterpret_cast<T const*>(bytes);
  std::size_t const run = columns.extents[columns.count - 1];
  std::ptrdiff_t const stride = columns.strides[columns.count - 1];
  while (count != 0) {
    std::size_t const in_run = columns.count == 1 ? count : HWY_MIN(count, run - begin % run);
    T const* const first = from + columns.at(begin);
    if (stride == 1) {
      copy_row(first, to, in_run);
    } else {
      for (std::size_t i = 0; i < in_run; ++i)
        to[i] = kernels::to_float(first[static_cast<std::ptrdiff_t>(i) * stride]);
    }
    begin += in_run;
    count -= in_run;
    to += in_run;
  }
}

template <class T>
HWY_ATTR void put_row(T, float const* from, std::byte* to, std::size_t columns) {
  copy_row(from, reinterpret_cast<T*>(to), columns);
}
template <class T>
HWY_ATTR void put_row(whole_number<T> of, float const* from, std::byte* to, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) put_element(of, to + i * sizeof(T), from[i]);
}

// Reductions

// A row of floats that are as they were given, or were halves then.
template <class T>
struct kept_row {
  float const* data;
};
template <class Part, class T>
HWY_ATTR HWY_INLINE vec load_input(Part part, kept_row<T> const& from, std::ptrdiff_t i) {
  return part.get(from.data + i);
}

using fold_form = row_schedule::fold_form;
template <fold_form Form>
struct fold_program {
  static constexpr row_program made = [] {
    row_program program;
    detail::step_writer steps(program);
    auto const a = steps.input(0, true);
    auto const b = Form == fold_form::products               ? steps.input(1, true)
                   : Form == fold_form::products_with_number ? steps.input(1, false)
                                                             : a;
    program.results[0] = Form == fold_form::sum       ? steps.unary(row_op::sum, a)
                         : Form == fold_form::mean    ? steps.unary(row_op::mean, a)
                         : Form == fold_form::largest ? steps.largest(a)
                         : Form == fold_form::spread  ? steps.binary(row_op::spread, a, steps.unary(row_op::mean, a))
                                                      : steps.binary(row_op::sum_of_products, a, b);
    program.number_of_results = 1;
    steps.use(program.results[0]);
    return program;
  }();
  static constexpr row_program const& get() { return made; }
  static constexpr std::size_t total = made.results[0], mean = made[total].b;
};

struct folded {
  double total, mean;
};
template <fold_form Form, class... Inputs>
HWY_ATTR folded fold_row(std::size_t columns, list<Inputs...> const& inputs) {
  using program = fold_program<Form>;
  expression_call<program, list<Inputs...>, list<>> const call{inputs, {}, columns, false, {}};
  known_numbers<program> numbers{};
  compute_numbers<0>(numbers, call, all_steps<program>());
  gather_rows<1>(row_source<decltype(call), program>{&call, &numbers, 0}, numbers);
  return {numbers.value[program::total], numbers.value[program::mean]};
}

// Rows

HWY_ATTR inline double number_of(row_op op, double a, double b) {
  switch (op) {
    case row_op::add: return number_of<row_op::add>(a, b);
    case row_op::sub: return number_of<row_op::sub>(a, b);
    case row_op::mul: return number_of<row_op::mul>(a, b);
    case row_op::div: return number_of<row_op::div>(a, b);
    case row_op::neg: return number_of<row_op::neg>(a, b);
    case row_op::reciprocal: return number_of<row_op::reciprocal>(a, b);
    case row_op::sqrt: return number_of<row_op::sqrt>(a, b);
    case row_op::abs: return number_of<row_op::abs>(a, b);
    case row_op::sign: return number_of<row_op::sign>(a, b);
    case row_op::floor: return number_of<row_op::floor>(a, b);
    case row_op::ceil: return number_of<row_op::ceil>(a, b);
    case row_op::round: return number_of<row_op::round>(a, b);
    case row_op::relu: return number_of<row_op::relu>(a, b);
    case row_op::minimum: return number_of<row_op::minimum>(a, b);
    case row_op::maximum: return number_of<row_op::maximum>(a, b);
    case row_op::greater: return number_of<row_op::greater>(a, b);
    case row_op::greater_or_equal: return number_of<row_op::greater_or_equal>(a, b);
    case row_op::equal: return number_of<row_op::equal>(a, b);
    case row_op::exp: return number_of<row_op::exp>(a, b);
    case row_op::log: return number_of<row_op::log>(a, b);
    case row_op::erf: return number_of<row_op::erf>(a, b);
    case row_op::tanh: return number_of<row_op::tanh>(a, b);
    case row_op::sigmoid: return number_of<row_op::sigmoid>(a, b);
    case row_op::sin: return number_of<row_op::sin>(a, b);
    case row_op::cos: return number_of<row_op::cos>(a, b);
    case row_op::rest_product: return number_of<row_op::rest_product>(a, b);
    default: return 0;
  }
}

class row_interpreter {
 public:
  HWY_ATTR row_interpreter(interpreted_call const& call, float* scratch)
      : call_(call),
        program_(*call.program),
        schedule_(*call.schedule),
        slots_(scratch),
        numbers_(reinterpret_cast<double*>(scratch + schedule_.begin_of_numbers())) {}

  HWY_ATTR void run() {
    for (std::size_t at = 0; at < program_.size; ++at) {
      auto const& s = program_[at];
      if (s.is_row) loops_[at] = loop_of(s.op, numbers_among(at), beside_of(at));
    }
    find_results();
    compute_all(schedule_.shared_numbers());
    for (std::size_t row = call_.begin; row < call_.end; row += height_) {
      height_ = HWY_MIN(schedule_.rows_at_once(), call_.end - row);
      compute_rows(row);
    }
    if (call_.streamed) hwy::FlushStream();
  }

 private:
  using action = row_schedule::action;
  using fold = row_schedule::fold;

  // A number as rows meet it, each in all lanes of a vector.
  struct alignas(64) met_lanes {
    float upper[16], lower[16], minus_lower[16], inverse[16];
    bool divides;
  };
  struct place {
    float* data;
    bool of_row;  // else of the tile
  };

  // Those that are one tile, or one row of several tiles.
  HWY_ATTR void compute_rows(std::size_t first) {
    first_ = first;
    columns_ = first + 1 == call_.rows ? call_.last_columns : call_.columns;
    for (std::size_t at = 0; at < program_.size; ++at) {
      auto const& s = program_[at];
      if (s.op != row_op::input || !s.is_used) continue;
      // (Nobody writes to an input.)
      if (schedule_.is_read_in_place(at))
        rows_[at] = {const_cast<float*>(reinterpret_cast<float const*>(call_.inputs[s.index].at(first))), true};
    }
    compute_all_of_rows(schedule_.first_numbers());
    std::size_t left = schedule_.passes().size();
    for (auto const& pass : schedule_.passes()) {
      --left;
      for (begin_ = 0; begin_ < columns_; begin_ += row_schedule::tile) {
        count_ = HWY_MIN(columns_ - begin_, row_schedule::tile);
        for (auto const& one : pass.actions) compute(one);
        if (left == 0) write_rows();
      }
      for (auto const& one : pass.folds)
        for (row_ = 0; row_ < height_; ++row_) reduce(one);
      compute_all_of_rows(pass.numbers);
    }
    for (row_ = 0; row_ < height_; ++row_) write_numbers();
  }

  // Steps

  HWY_ATTR float* at_tile(std::size_t step) const { return rows_[step].data + (rows_[step].of_row ? begin_ : 0); }
  HWY_ATTR float const* operand(std::size_t step, std::size_t begin) const {
    return program_[step].is_row ? at_tile(step) + begin : met_[step].upper;
  }
  HWY_ATTR unsigned numbers_among(std::size_t step) const {
    unsigned numbers = 0;
    for (int i = 0; i < program_[step].operands; ++i)
      numbers |= (program_[schedule_.operands(step)[i]].is_row ? 0u : 1u) << i;
    return numbers;
  }
  HWY_ATTR beside beside_of(std::size_t step) const {
    if (schedule_.operands(step).on_the_way()) return beside::affine;
    return detail::added_rest_of(program_, program_[step]).is_there ? beside::rest : beside::nothing;
  }

  HWY_ATTR void compute(action one) {
    auto const& s = program_[one.step];
    rows_[one.step] = {slots_ + schedule_.begin_of(one.slot), schedule_.is_kept(one.step)};
    if (s.op == row_op::input) return read_input(s, at_tile(one.step));
    if (auto const* const result = written_directly_[one.step])
      rows_[one.step] = {reinterpret_cast<float*>(result->at(first_)), true};
    if (height_ == 1 || !meets_numbers_of_rows(one.step)) return operate_on(one.step, 0, height_ * count_);
    for (row_ = 0; row_ < height_; ++row_) {
      each_number(one.step, [&](std::size_t number) HWY_ATTR { meet(number); });
      operate_on(one.step, row_ * columns_, count_);
    }
  }
  HWY_ATTR bool meets_numbers_of_rows(std::size_t step) const {
    bool meets = false;
    each_number(step, [&](std::size_t number) HWY_ATTR { meets = meets || schedule_.varies(number); });
    return meets;
  }
  // Calls `f` with those that a step meets, on the way, too.
  template <class F>
  HWY_ATTR HWY_INLINE void each_number(std::size_t step, F const& f) const {
    auto const& read = schedule_.operands(step);
    for (auto const at : {static_cast<std::uint8_t>(step), read.shift, read.factor}) {
      if (at == read.none) continue;
      for (int i = 0; i < program_[at].operands; ++i)
        if (!program_[program_[at].operand(i)].is_row) f(program_[at].operand(i));
    }
  }
  // Elements from `begin` of the tile on.
  HWY_ATTR void operate_on(std::size_t step, std::size_t begin, std::size_t count) {
    auto const& s = program_[step];
    auto const& read = schedule_.operands(step);
    row_loop loop = loops_[step];
    step_operands of{operand(read.a, begin), nullptr, nullptr, nullptr, affine_of(read)};
    if (s.operands > 1) of.b = operand(read.b, begin);
    if (s.operands > 2) of.c = operand(read.c, begin);
    if (auto const rest = detail::added_rest_of(program_, s); rest.is_there)
      of.rest = rest.subtracted ? met_[rest.step].minus_lower : met_[rest.step].lower;
    if (s.op == row_op::div && !program_[s.b].is_row && !met_[s.b].divides) {
      loop = operate<row_op::mul, 2, beside::nothing>;
      of.b = met_[s.b].inverse;
    }
    loop(at_tile(step) + begin, of, count);
  }
  // What the steps on the way make of a row.
  HWY_ATTR affine affine_of(detail::read_operands const& read) const {
    affine made;
    auto const upper = [&](std::size_t number) HWY_ATTR { return met_[number].upper[0]; };
    auto const number_among = [&](row_step const& s) { return program_[s.a].is_row ? s.b : s.a; };
    if (read.shift != read.none) {
      auto const& s = program_[read.shift];
      made.shift = s.op == row_op::add ? upper(number_among(s)) : -upper(s.b);
    }
    if (read.factor != read.none) {
      auto const& s = program_[read.factor];
      made.factor = s.op == row_op::neg_mul_add ? -upper(number_among(s)) : upper(number_among(s));
      if (s.op != row_op::mul) made.more = s.op == row_op::mul_sub ? -upper(s.c) : upper(s.c);
    }
    return made;
  }
  HWY_ATTR void read_input(row_step const& s, float* to) const {
    auto const& input = call_.inputs[s.index];
    with_element(input.element, [&](auto of) HWY_ATTR {
      for (std::size_t row = 0; row < height_; ++row)
        gather_row(of, input.at(first_ + row), input.columns, begin_, count_, to + row * columns_);
    });
  }

  // Results

  // Of each step the result of floats that it is, whose rows lie as those of a tile do; the other rows are copied.
  HWY_ATTR void find_results() {
    for (std::size_t i = 0; i < program_.number_of_results; ++i) {
      auto const step = program_.results[i];
      auto const& result = call_.results[i];
      if (!program_[step].is_row) continue;
      bool const is_direct =
          !call_.streamed && written_directly_[step] == nullptr && result.element == row_element::float32 &&
          (schedule_.rows_at_once() == 1 || schedule_.are_together(result.rows)) && program_[step].op != row_op::input;
      if (is_direct) {
        written_directly_[step] = &result;
      } else {
        copied_[number_of_copied_++] = static_cast<std::uint8_t>(i);
      }
    }
  }
  HWY_ATTR void write_rows() const {
    for (std::size_t i = 0; i < number_of_copied_; ++i) {
      auto const& result = call_.results[copied_[i]];
      auto const step = program_.results[copied_[i]];
      auto const before = begin_ * size_of(result.element);
      with_element(result.element, [&](auto of) HWY_ATTR {
        for (std::size_t row = 0; row < height_; ++row) {
          float const* const from = at_tile(step) + row * columns_;
          std::byte* const to = result.at(first_ + row) + before;
          if (call_.streamed) {
            copy_past_caches(from, reinterpret_cast<float*>(to), count_);
          } else {
            put_row(of, from, to, count_);
          }
        }
      });
    }
  }
  HWY_ATTR void write_numbers() const {
    for (std::size_t i = 0; i < program_.number_of_results; ++i) {
      auto const step = program_.results[i];
      if (program_[step].is_row) continue;
      auto const& result = call_.results[i];
      with_element(result.element, [&](auto of) HWY_ATTR {
        put_element(of, result.at(first_ + row_), static_cast<float>(number(step)));
      });
    }
  }

  // Numbers

  // Of row `row_` of the tile, if they differ.
  HWY_ATTR double& number(std::size_t at) {
    return numbers_[at * schedule_.rows_at_once() + (schedule_.varies(at) ? row_ : 0)];
  }
  HWY_ATTR double number(std::size_t at) const { return const_cast<row_interpreter&>(*this).number(at); }

  HWY_ATTR void compute_all_of_rows(std::vector<std::uint8_t> const& steps) {
    for (row_ = 0; row_ < height_; ++row_) compute_all(steps);
    row_ = 0;
  }
  HWY_ATTR void compute_all(std::vector<std::uint8_t> const& steps) {
    for (auto const at : steps) {
      auto const& s = program_[at];
      switch (s.op) {
        case row_op::input: number(at) = number_at(s.index); break;
        case row_op::number: number(at) = s.number; break;
        case row_op::columns: number(at) = static_cast<double>(call_.columns); break;
        case row_op::where_positive: number(at) = number(s.a) > 0 ? number(s.b) : number(s.c); break;
        default: number(at) = number_of(s.op, number(s.a), number(s.b));
      }
      if (height_ == 1 || !schedule_.varies(at)) meet(at);
    }
  }
  HWY_ATTR double number_at(std::size_t input) const {
    auto const& from = call_.inputs[input];
    float read = 0;
    with_element(from.element, [&](auto of) HWY_ATTR { read = element_at(of, from.at(first_ + row_), 0); });
    return static_cast<double>(read);
  }
  HWY_ATTR void meet(std::size_t at) {
    if (!schedule_.is_met(at)) return;
    auto& met = met_[at];
    float const upper = static_cast<float>(number(at));
    hn::StoreU(all(upper), lanes(), met.upper);
    if (program_[at].has_rest) {
      float const lower = rest_of(number(at), upper);
      hn::StoreU(all(lower), lanes(), met.lower);
      hn::StoreU(all(-lower), lanes(), met.minus_lower);
    }
    if (schedule_.divides(at)) {
      float const inverse = static_cast<float>(1 / number(at));
      hn::StoreU(all(inverse), lanes(), met.inverse);
      met.divides = has_to_divide(number(at), inverse);
    }
  }

  HWY_ATTR void reduce(fold const& one) {
    float const* const a = rows_[one.a].data + row_ * columns_;
    folded made{};
    switch (one.form) {
      case fold_form::sum: made = fold_row<fold_form::sum>(columns_, list_of_rows(a)); break;
      case fold_form::mean: made = fold_row<fold_form::mean>(columns_, list_of_rows(a)); break;
      case fold_form::largest: made = fold_row<fold_form::largest>(columns_, list_of_rows(a)); break;
      case fold_form::spread:
        made = has_halves(one.a) ? fold_row<fold_form::spread>(columns_, list<kept_row<kernels::float16>>{{a}, {}})
                                 : fold_row<fold_form::spread>(columns_, list_of_rows(a));
        number(one.b) = made.mean;
        if (height_ == 1) meet(one.b);
        break;
      case fold_form::products:
        made = fold_row<fold_form::products>(
            columns_, joined(kept_row<float>{a}, list_of_rows(rows_[one.b].data + row_ * columns_)));
        break;
      case fold_form::products_with_number:
        made = fold_row<fold_form::products_with_number>(
            columns_, joined(kept_row<float>{a}, list<one_number>{{static_cast<float>(number(one.b))}, {}}));
        break;
    }
    number(one.step) = made.total;
    if (height_ == 1) meet(one.step);
  }
  HWY_ATTR static list<kept_row<float>> list_of_rows(float const* a) { return {{a}, {}}; }
  HWY_ATTR bool has_halves(std::size_t step) const {
    auto const& s = program_[step];
    return s.op == row_op::input && size_of(call_.inputs[s.index].element) == 2;
  }

  interpreted_call const& call_;
  row_program const& program_;
  row_schedule const& schedule_;
  float* slots_;
  double* numbers_;                                 // by step and row of the tile
  std::size_t first_ = 0, height_ = 1;              // rows of the tile
  std::size_t columns_, begin_, count_;             // of each; of the tile in a longer row
  std::size_t row_ = 0;                             // of the tile, whose numbers are looked at
  std::uint8_t copied_[row_program::most_results];  // results that are no step's own rows
  std::size_t number_of_copied_ = 0;
  // By step:
  row_loop loops_[row_program::capacity];
  result_access const* written_directly_[row_program::capacity]{};
  place rows_[row_program::capacity];
  met_lanes met_[row_program::capacity];
};

struct interpreted_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    auto const slots = call.slots();
    row_interpreter(call, slots.get()).run();
  }
};

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
