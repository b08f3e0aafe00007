// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>
#include <fuse/kernelgen/run_rows.hpp>

#include <fuse/dsl/dsl.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/rules/activation_formulas.hpp>
#include <fuse/rules/norm_formulas.hpp>

#include <sampled.hpp>

#include "../kernels/random_case.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

// A program that is known at run time gives the bits of the kernel that is compiled of it.
namespace interpreted {
using namespace fuse::kernels;
using namespace fuse::dsl;
using fuse::detail::input_kind;
namespace kernelgen = fuse::kernelgen;
namespace formula = fuse::rules::formula;

constexpr auto x = var<"x">, other = var<"other">, scale = var<"scale">;
constexpr auto number = scalar<"number">;
constexpr auto centred = x - mean(x);
constexpr auto layer_norm_of_all = centred * rsqrt(mean(square(centred)) + number) * scale + other;
constexpr auto rms_norm_of_sum = (x + other) * rsqrt(mean(square(x + other)) + number) * scale;
constexpr auto softmax_of_sum = softmax(x * scale + other * number);
constexpr auto sums = sum(x * scale) * other - sum(x * number) + mean(x) + x / reduce_max(other) + x / number +
                      scale / sqrt(sum(square(x))) - (x * mean(other) - other);
constexpr auto functions = exp(x) + log(abs(other)) * erf(x) - tanh(x) * sigmoid(scale) + op<"Sin">(x) -
                           op<"Cos">(other) + sqrt(abs(x)) * op<"Sign">(x) - op<"Floor">(x) * number +
                           op<"Ceil">(other) - op<"Round">(x) + minimum(maximum(x, other), relu(scale)) +
                           reciprocal(2 + square(x)) + op<"LeakyRelu">(other).attr<"alpha">(0.1) + number * number -
                           mean(exp(x)) * x + where(op<"Less">(x, other), x, scale) +
                           where(op<"Or">(op<"GreaterOrEqual">(x, number), op<"Equal">(other, scale)), number, x) *
                               op<"Not">(op<"And">(op<"IsNaN">(log(x)), op<"Less">(other, scale))) +
                           op<"Xor">(op<"Greater">(x, mean(x)), op<"LessOrEqual">(number, mean(x)));
constexpr auto nested =
    log_softmax(x + other) - op<"ReduceMin">(x * other) * mean(square(x - mean(x) * scale)) + number;
// Rows that others are made of by numbers alone.
constexpr auto by_numbers = roots(
    (x + number) * scale - (2 - x * number) * other, relu(other* number - 0.25) + ((other - number) * 3 + 1) * scale,
    (number - (x - mean(other)) * 0.5) * other + (0.5 + number * x) * (x - 0.125) - (scale * 2 - other));
constexpr auto several = roots(x + other, softmax(x* scale), (x + other) * number);

template <class T>
struct tensor {
  std::size_t rows, columns, stride;
  std::vector<T> elements;

  tensor(std::size_t rows_, std::size_t columns_, std::size_t beside)
      : rows(rows_), columns(columns_), stride(columns_ + beside), elements(rows_ * stride) {}

  [[nodiscard]] matrix_view<T> view() { return {elements.data(), rows, columns, stride}; }
  [[nodiscard]] matrix_view<T const> view() const { return {elements.data(), rows, columns, stride}; }
  [[nodiscard]] kernelgen::digits row_digits() const {
    kernelgen::digits made;
    made.extents[made.count] = rows;
    made.strides[made.count++] = static_cast<std::ptrdiff_t>(stride);
    return made;
  }
};
kernelgen::digits columns_of(std::size_t columns, std::ptrdiff_t stride = 1) {
  kernelgen::digits made;
  made.extents[made.count] = columns;
  made.strides[made.count++] = stride;
  return made;
}
template <class T>
std::byte const* bytes_of(T const* from) {
  return reinterpret_cast<std::byte const*>(from);
}
template <class T>
std::byte* bytes_of(T* to) {
  return reinterpret_cast<std::byte*>(to);
}

constexpr input_kind kind_of(std::string_view name) {
  return name == "number" ? input_kind::number : name == "scale" ? input_kind::row_of_all : input_kind::row_of_each;
}
template <auto const& Expression>
constexpr fuse::detail::row_program lowered = [] {
  auto const& names = kernelgen::inputs<Expression>;
  fuse::detail::input_kinds all;
  for (std::size_t i = 0; i < names.count; ++i) all.of[i] = kind_of(names.names[i]);
  return fuse::detail::row_lowering(Expression, names, all).lower();
}();

template <auto const& Expression, class T, class Y>
void check(std::size_t rows, std::size_t columns, double center, std::mt19937& random) {
  auto const& names = kernelgen::inputs<Expression>;
  static_assert(lowered<Expression>.error == fuse::detail::row_error::none);
  constexpr std::size_t results = lowered<Expression>.number_of_results;
  tensor<T> from(rows, columns, random() % 2 * 3);
  tensor<float> added(rows, columns, random() % 2 * 5);
  random_case::fill(std::span(from.elements), center, 1, random);
  random_case::fill(std::span(added.elements), center / 2, 1, random);
  std::vector<float> factors(columns), spread_factors(3 * columns);
  random_case::fill(std::span(factors), 1, 0.5, random);
  for (std::size_t i = 0; i < columns; ++i) spread_factors[3 * i] = factors[i];
  float const one = random() % 4 == 0 ? 1e-5f : 0.3f;

  std::size_t const apart = random() % 2 * 2;
  std::vector<tensor<Y>> expected(results, tensor<Y>(rows, columns, 0)), y(results, tensor<Y>(rows, columns, apart));
  auto const arguments = [&](auto const& run) {
    if constexpr (fuse::kernelgen::inputs<Expression>.count == 4) {
      return run(fuse::arg<"x">(std::as_const(from).view()), fuse::arg<"other">(std::as_const(added).view()),
                 fuse::arg<"scale">(factors), fuse::arg<"number">(one));
    } else {
      return run(fuse::arg<"x">(std::as_const(from).view()), fuse::arg<"scale">(factors));
    }
  };
  auto const done = arguments([&](auto const&... all) {
    if constexpr (results == 1) {
      return fuse::kernel<Expression>(expected[0].view(), all...);
    } else {
      return fuse::kernel<Expression>(expected[0].view(), expected[1].view(), expected[2].view(), all...);
    }
  });
  REQUIRE(done.ok());

  // A row that all share may lie anywhere; a number may be one of each row.
  bool const is_spread = random() % 2 == 0;
  std::vector<float> ones(2 * rows, one);
  std::vector<kernelgen::row_access> inputs;
  for (std::size_t i = 0; i < names.count; ++i) {
    std::string_view const name = names.names[i];
    if (name == "x") {
      inputs.push_back(
          {bytes_of(from.elements.data()), kernelgen::element_of<T>, from.row_digits(), columns_of(columns)});
    } else if (name == "other") {
      inputs.push_back(
          {bytes_of(added.elements.data()), kernelgen::row_element::float32, added.row_digits(), columns_of(columns)});
    } else if (name == "scale") {
      auto const& data = is_spread ? spread_factors : factors;
      inputs.push_back(
          {bytes_of(data.data()), kernelgen::row_element::float32, {}, columns_of(columns, is_spread ? 3 : 1)});
    } else {
      inputs.push_back({bytes_of(ones.data()),
                        kernelgen::row_element::float32,
                        is_spread ? columns_of(rows, 2) : kernelgen::digits{},
                        {}});
    }
  }
  std::vector<kernelgen::result_access> to;
  for (auto& each : y)
    to.push_back({bytes_of(each.elements.data()), kernelgen::element_of<Y>, each.row_digits(), columns_of(columns)});
  kernelgen::row_schedule const schedule(lowered<Expression>, inputs, columns);
  on how;
  if (random() % 2 == 0) how.result = output::not_read_soon;
  kernelgen::run_rows(lowered<Expression>, schedule, inputs, to, {rows, columns, columns}, how);
  for (std::size_t i = 0; i < results; ++i)
    for (std::size_t r = 0; r < rows; ++r) {
      INFO("result " << i << ", row " << r << " of " << rows << " x " << columns);
      for (std::size_t c = 0; c < columns; ++c) {
        float const a = to_float(y[i].elements[r * y[i].stride + c]),
                    b = to_float(expected[i].elements[r * columns + c]);
        auto const found = std::bit_cast<std::uint32_t>(a), wanted = std::bit_cast<std::uint32_t>(b);
        if (found == wanted || (a != a && b != b)) continue;
        INFO("column " << c << ": " << a << ", not " << b);
        CHECK(found == wanted);
        return;
      }
    }
}

template <auto const& Expression>
void check() {
  for (auto const name : target_names()) {
    REQUIRE(use_target(name));
    INFO(name);
    std::mt19937 random(11);
    for (std::size_t const columns : {1u, 7u, 16u, 33u, 100u, 128u, 129u, 768u, 1024u, 1029u, 2500u, 5000u})
      for (std::size_t i = 0; i < 1 + 4 / one_case_in; ++i) {
        double const centers[] = {0, 0, 30, 1e5};
        auto const center = centers[random() % 4];
        // Short rows are computed several at once.
        auto const rows = 1 + random() % (columns <= 128 ? 200 : 3);
        check<Expression, float, float>(rows, columns, center, random);
        check<Expression, float16, bfloat16>(rows, columns, center, random);
      }
  }
  REQUIRE(use_target(target_names().front()));
}

TEST_CASE("Interpreted: norms") {
  check<layer_norm_of_all>();
  check<rms_norm_of_sum>();
}
TEST_CASE("Interpreted: softmax, and results that share steps") {
  check<softmax_of_sum>();
  check<several>();
}
TEST_CASE("Interpreted: rows that numbers make of others") { check<by_numbers>(); }
TEST_CASE("Interpreted: sums and quotients") { check<sums>(); }
TEST_CASE("Interpreted: every function") { check<functions>(); }
TEST_CASE("Interpreted: reductions of reductions") { check<nested>(); }

}  // namespace interpreted
