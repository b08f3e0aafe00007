// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen/run_rows.hpp>
#include <fuse/kernelgen/step_writer.hpp>

#include <catch.hpp>
#include <sampled.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

// What else a program gives out, which then is a row that is written, changes no bit of a result.
namespace random_programs {
using namespace fuse::detail;
namespace kernelgen = fuse::kernelgen;

constexpr std::size_t rows_in = 3, numbers_in = 2;

std::size_t below(std::size_t n, std::mt19937& random) { return random() % n; }
template <class T>
T const& one_of(std::vector<T> const& all, std::mt19937& random) {
  return all[below(all.size(), random)];
}

// Sums and products of rows and numbers, most of them one behind the other, reductions and what follows from these.
class random_steps {
 public:
  row_program program{};
  std::vector<step_id> rows{}, numbers{};

  explicit random_steps(std::mt19937& random) : random_(random), write_(program) {
    for (std::size_t i = 0; i < rows_in; ++i) rows.push_back(write_.input(i, true));
    for (std::size_t i = 0; i < numbers_in; ++i) numbers.push_back(write_.input(rows_in + i, false));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> const some{0, -0.0, 1, 2, -3, 0.5, 0.1, -1e-5, 1e-30, 1e30, infinity};
    for (int i = 0; i < 2; ++i) numbers.push_back(write_.number(one_of(some, random)));
    for (auto left = 3 + below(25, random); left > 0; --left) add();
  }

 private:
  step_id row() { return below(2, random_) == 0 ? rows.back() : one_of(rows, random_); }
  step_id operand() { return below(3, random_) == 0 ? row() : one_of(numbers, random_); }

  void add() {
    auto a = row(), b = operand();
    if (below(2, random_) == 0) std::swap(a, b);
    switch (below(12, random_)) {
      case 0:
      case 1: return rows.push_back(write_.add(a, b));
      case 2:
      case 3: return rows.push_back(write_.sub(a, b));
      case 4:
      case 5:
      case 6: return rows.push_back(write_.mul(a, b));
      case 7: return rows.push_back(write_.maximum(a, b));
      case 8: return rows.push_back(write_.maximum(row(), write_.number(0)));
      case 9: return rows.push_back(write_.div(a, b));
      case 10: return reduce();
      default: {
        row_op const all[] = {row_op::mul_add, row_op::mul_sub, row_op::neg_mul_add};
        rows.push_back(write_.ternary(all[below(std::size(all), random_)], a, b, operand()));
      }
    }
  }
  void reduce() {
    auto const x = row();
    switch (below(4, random_)) {
      case 0: return numbers.push_back(write_.mean(x));
      case 1: return numbers.push_back(write_.sum(x));
      case 2: return numbers.push_back(write_.largest(x));
      default: {
        auto const variance = write_.mean(write_.square(write_.sub(x, write_.mean(x))));
        numbers.push_back(write_.reciprocal(write_.unary(row_op::sqrt, write_.add(variance, write_.number(1e-5)))));
      }
    }
  }

  std::mt19937& random_;
  step_writer write_;
};

kernelgen::digits index_of(std::size_t extent, std::size_t stride) {
  kernelgen::digits made;
  made.extents[0] = extent, made.strides[0] = static_cast<std::ptrdiff_t>(stride), made.count = 1;
  return made;
}

// What a program reads, among it now and then infinities, no numbers and denormals.
struct tensors {
  std::size_t rows, columns;
  std::vector<float> of_rows[rows_in], of_each_row, shared;
  bool made_on_the_way = false;  // in the last run, what a step reads

  explicit tensors(std::mt19937& random) {
    std::vector<std::size_t> const some{1, 7, 9, 33, 100, 128, 129, 768, 1024, 1030, 2500};
    columns = one_of(some, random);
    // Short rows are computed several at once.
    rows = 1 + below(columns <= 128 ? 150 : 3, random);
    bool const special = below(2, random) == 0;
    for (auto& each : of_rows) fill(each, rows * columns, special, random);
    fill(of_each_row, rows, false, random);
    fill(shared, 1, false, random);
  }

  /// The bits of the first result.
  [[nodiscard]] std::vector<std::uint32_t> run(row_program const& program, std::size_t offset, bool read_soon) {
    auto const at = [](std::vector<float> const& of) { return reinterpret_cast<std::byte const*>(of.data()); };
    constexpr auto floats = kernelgen::row_element::float32;
    std::vector<kernelgen::row_access> inputs;
    for (auto const& each : of_rows)
      inputs.push_back({at(each), floats, index_of(rows, columns), index_of(columns, 1)});
    inputs.push_back({at(of_each_row), floats, index_of(rows, 1), {}});
    inputs.push_back({at(shared), floats, {}, {}});
    std::vector<std::vector<float>> made(program.number_of_results, std::vector<float>(offset + rows * columns));
    std::vector<kernelgen::result_access> results;
    for (auto& each : made)
      results.push_back(
          {reinterpret_cast<std::byte*>(each.data() + offset), floats, index_of(rows, columns), index_of(columns, 1)});
    kernelgen::row_schedule const schedule(program, inputs, columns);
    fuse::kernels::on how;
    if (!read_soon) how.result = fuse::kernels::output::not_read_soon;
    kernelgen::run_rows(program, schedule, inputs, results, {rows, columns, columns}, how);
    std::vector<std::uint32_t> bits;
    made_on_the_way = false;
    for (std::size_t i = 0; i < program.size; ++i)
      made_on_the_way = made_on_the_way || (program[i].is_used && schedule.operands(i).on_the_way());
    for (auto const number : std::span(made[0]).subspan(offset))
      bits.push_back(number != number ? ~0u : std::bit_cast<std::uint32_t>(number));
    return bits;
  }

 private:
  static void fill(std::vector<float>& of, std::size_t count, bool special, std::mt19937& random) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> const some{0, -0.0f, infinity, -infinity, nan, 1e-40f, -1e-38f, 3e38f};
    std::normal_distribution<float> numbers;
    for (std::size_t i = 0; i < count; ++i)
      of.push_back(special && below(50, random) == 0 ? one_of(some, random) : numbers(random));
  }
};

row_program with_results(row_program made, std::vector<step_id> const& results) {
  for (auto const at : results) {
    made.results[made.number_of_results++] = at;
    step_writer(made).use(at);
  }
  return made;
}

TEST_CASE("Random row programs: what else is given out changes no bit") {
  std::size_t differed = 0, made_on_the_way = 0;
  for (unsigned seed = 1; seed <= 3000 / one_case_in; ++seed) {
    std::mt19937 random(seed);
    random_steps const steps(random);
    REQUIRE(steps.program.error == row_error::none);
    tensors given(random);
    auto const result = steps.rows.back();
    auto const alone = with_results(steps.program, {result});
    auto const expected = given.run(alone, below(4, random), below(2, random) == 0);
    std::vector<step_id> also{result};
    for (std::size_t i = 1; i < row_program::most_results; ++i) also.push_back(one_of(steps.rows, random));
    made_on_the_way += given.made_on_the_way ? 1 : 0;
    if (given.run(with_results(steps.program, also), below(4, random), true) == expected) continue;
    ++differed;
    UNSCOPED_INFO("seed " << seed);
  }
  CHECK(made_on_the_way > 1000 / one_case_in);
  CHECK(differed == 0);
}

}  // namespace random_programs
