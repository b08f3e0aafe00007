// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/embed_layer_norm.hpp>

#include "last_place.hpp"
#include "random_tokens.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

namespace embed_layer_norm {
using namespace fuse::kernels;
namespace k = fuse::kernels;
using guarded_memory::guarded;

// All memory between guard pages; nothing is written but what was asked for.
template <class T, class Y, class Id>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_tokens::tokens<Id> const tokens(random);
  // Some of them too wide for two rows on the stack.
  std::size_t const columns = random_case::shape(random).columns + (random() % 16 == 0 ? 8192 : 0);
  float const epsilon = random() % 2 == 0 ? 1e-12f : 1e-3f;
  double const mean = random() % 4 == 0 ? 1000 : 0;
  bool const with_position_ids = random() % 3 == 0, one_row = random() % 2 == 0, with_sum = random() % 2 == 0;
  INFO("seed " << seed << ", " << target_name() << ", " << tokens.sequences << " x " << tokens.length << " x "
               << columns);
  auto const table = [&](std::size_t rows, double center) {
    std::normal_distribution<double> values(center, 1);
    return random_tokens::matrix<T>(rows, columns, random,
                                    [&] { return from_float<T>(static_cast<float>(values(random))); });
  };
  std::size_t const positions = tokens.positions + (with_position_ids && tokens.positions == 0 ? 1 : 0);
  auto const word = table(tokens.words, mean), position = table(positions, 0), segment = table(tokens.segments, -1);
  auto const gamma = table(1, 1), beta = table(1, 0);
  random_tokens::matrix<Id> const position_ids(one_row ? 1 : tokens.sequences, tokens.length, random,
                                               [&] { return random() % std::max<std::size_t>(positions, 1); });
  std::size_t const y_stride = columns + random() % 20, count = tokens.count();
  std::size_t const y_size = count == 0 ? 0 : (count - 1) * y_stride + columns;
  guarded<Y> y(y_size, random() % 2 != 0), sum(y_size, random() % 2 != 0);
  guarded<std::int32_t> mask_index(tokens.sequences, random() % 2 != 0);

  embed_layer_norm_arguments<T, Y, Id> arguments{.input_ids = tokens.input_ids.view(),
                                                 .segment_ids = tokens.segment_ids_or_none(),
                                                 .word = word.view(),
                                                 .position = position.view(),
                                                 .segment = {},
                                                 .gamma = {gamma.view().data, columns},
                                                 .beta = {beta.view().data, columns},
                                                 .mask = tokens.mask_or_none(),
                                                 .position_ids = {},
                                                 .epsilon = epsilon,
                                                 .y = {y.data(), count, columns, y_stride}};
  if (tokens.with_segments) arguments.segment = segment.view();
  if (with_position_ids) arguments.position_ids = position_ids.view();
  if (tokens.with_index) arguments.mask_index = mask_index.span();
  if (with_sum) arguments.embedding_sum = matrix_view(sum.data(), count, columns, y_stride);
  status const result =
      k::embed_layer_norm(arguments, on(random() % 2 == 0 ? output::automatic : output::not_read_soon));
  INFO(result.message());
  REQUIRE(result.ok());

  auto const number = [](T value) { return random_case::value(value); };
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t const s = t / tokens.length, i = t % tokens.length;
    auto const row = [&](bool is_there, auto const& ids, std::size_t sequence, std::size_t otherwise) {
      return is_there ? static_cast<std::size_t>(ids.at(sequence, i)) : otherwise;
    };
    std::size_t const position_row = row(with_position_ids, position_ids, one_row ? 0 : s, i);
    std::size_t const segment_row = row(tokens.with_segment_ids, tokens.segment_ids, s, 0);
    std::vector<double> x(columns);
    double largest = 0, largest_gamma = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      x[c] = number(word.at(static_cast<std::size_t>(tokens.input_ids.at(s, i)), c)) +
             number(position.at(position_row, c));
      if (tokens.with_segments) x[c] += number(segment.at(segment_row, c));
      largest = std::max(largest, std::abs(x[c]));
      largest_gamma = std::max(largest_gamma, std::abs(number(gamma.at(0, c))));
    }
    double const e = static_cast<double>(epsilon);
    auto const expected = random_tokens::norm_of(
        x, e, [&](std::size_t c) { return number(gamma.at(0, c)); },
        [&](std::size_t c) { return number(beta.at(0, c)); });
    // Sums are float, and rounded twice. One column is exactly its mean.
    double const rounding = 0x1p-23 * (largest + 4);
    double const own = columns == 1 ? 0 : rounding * random_tokens::gain_of(x, e, largest_gamma);
    CHECK(random_case::distance(y.data() + t * y_stride, expected.y, 1e-6 * std::max(1.0, expected.largest) + own) <=
          1);
    if (with_sum) CHECK(random_case::distance(sum.data() + t * y_stride, x, rounding) <= 1);
  }
  CHECK(y.kept([&](std::size_t i) { return i % y_stride < columns; }));
  CHECK(sum.kept([&](std::size_t i) { return with_sum && i % y_stride < columns; }));
  CHECK(mask_index.kept([&](std::size_t) { return tokens.with_index; }));
  for (std::size_t s = 0; tokens.with_index && s < tokens.sequences; ++s) CHECK(mask_index[s] == tokens.ones(s));
}

TEST_CASE("embed layer norm: agrees with the formula in double precision") {
  random_case::on_every_target(check_random<float, float, std::int32_t>);
  random_case::on_every_target(check_random<float, float, std::int64_t>);
}

TEST_CASE("embed layer norm: half tables are added up in float") {
  random_case::on_every_target(check_random<bfloat16, float, std::int32_t>);
  random_case::on_every_target(check_random<float16, float16, std::int32_t>);
}

// Words are the rows of x, positions those of `added`. The widest do not fit into scratch memory.
template <class T>
void check_last_places() {
  auto const norm = [](auto x, auto added, auto const& scale, matrix_view<T> y) {
    std::vector<std::int32_t> ids(x.rows);
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<T> gamma(x.columns, from_float<T>(1));
    if constexpr (!std::is_same_v<decltype(scale), none_t const&>) gamma.assign(scale.begin(), scale.end());
    std::vector<T> const beta(x.columns);
    return k::embed_layer_norm(embed_layer_norm_arguments<T>{.input_ids = {ids.data(), 1, x.rows},
                                                             .segment_ids = {},
                                                             .word = x,
                                                             .position = added,
                                                             .segment = {},
                                                             .gamma = gamma,
                                                             .beta = beta,
                                                             .mask = {},
                                                             .position_ids = {},
                                                             .epsilon = 1e-5f,
                                                             .y = y});
  };
  last_place::check_sums<T>(norm, 0.5, {100, 768, 3000, 9000});
}

TEST_CASE("embed layer norm: half results near 0 are exact to their last place") {
  check_last_places<bfloat16>();
  check_last_places<float16>();
}

/// Two sequences of three tokens, four columns; tests make one thing wrong.
struct small_case {
  std::vector<std::int32_t> input_ids{0, 1, 2, 4, 3, 0}, segment_ids{0, 1, 0, 1, 1, 0}, position_ids{0, 1, 2, 2, 1, 0};
  std::vector<float> table = std::vector<float>(20, 1);
  std::vector<float> y = std::vector<float>(24, -77), sum = y;
  std::vector<std::int32_t> mask_index{-77, -77};
  embed_layer_norm_arguments<float> arguments{
      .input_ids = {input_ids.data(), 2, 3},
      .segment_ids = matrix_view<std::int32_t const>(segment_ids.data(), 2, 3),
      .word = {table.data(), 5, 4},
      .position = {table.data(), 3, 4},
      .segment = matrix_view<float const>(table.data(), 2, 4),
      .gamma = {table.data(), 4},
      .beta = {table.data(), 4},
      .mask = {},
      .position_ids = matrix_view<std::int32_t const>(position_ids.data(), 2, 3),
      .y = {y.data(), 6, 4},
      .mask_index = mask_index,
      .embedding_sum = matrix_view(sum.data(), 6, 4),
  };

  small_case() = default;
  small_case(small_case const&) = delete;
};

template <class Break>
std::string refused(Break const& make_wrong) {
  small_case c;
  make_wrong(c, c.arguments);
  status const result = k::embed_layer_norm(c.arguments);
  CHECK_FALSE(result.ok());
  for (auto const* const written : {&c.y, &c.sum}) {
    CHECK(std::all_of(written->begin(), written->end(), [](float value) { return value == -77; }));
  }
  CHECK(c.mask_index == std::vector<std::int32_t>{-77, -77});
  return result.message();
}

TEST_CASE("embed layer norm: ids outside their table") {
  CHECK(refused([](auto& c, auto&) { c.input_ids[4] = 5; }) ==
        "embed_layer_norm: input_ids contains 5, expected a row of word, of which there are 5");
  CHECK(refused([](auto& c, auto&) { c.segment_ids[5] = -1; }) ==
        "embed_layer_norm: segment_ids contains -1, expected a row of segment, of which there are 2");
  CHECK(refused([](auto& c, auto&) { c.position_ids[3] = 3; }) ==
        "embed_layer_norm: position_ids contains 3, expected a row of position, of which there are 3");
  // A table of more rows than an id can name, which nothing lies at.
  CHECK(refused([](auto& c, auto& a) {
          c.input_ids[0] = -1;
          a.word = {reinterpret_cast<float const*>(0x10000), std::size_t{1} << 32, 4};
        }) == "embed_layer_norm: input_ids contains -1, expected a row of word, of which there are 4294967296");
  CHECK(refused([](auto&, auto& a) {
          a.segment_ids.reset();
          a.segment->rows = 0;
        }) == "embed_layer_norm: segment_ids contains 0, expected a row of segment, of which there are 0");
  std::vector<std::int64_t> const large{0, std::int64_t{1} << 32};
  std::vector<float> const table(8);
  std::vector<float> y(8);
  CHECK(k::embed_layer_norm(embed_layer_norm_arguments<float, float, std::int64_t>{.input_ids = {large.data(), 1, 2},
                                                                                   .segment_ids = {},
                                                                                   .word = {table.data(), 2, 4},
                                                                                   .position = {table.data(), 2, 4},
                                                                                   .segment = {},
                                                                                   .gamma = {table.data(), 4},
                                                                                   .beta = {table.data(), 4},
                                                                                   .mask = {},
                                                                                   .position_ids = {},
                                                                                   .y = {y.data(), 2, 4}})
            .message() ==
        "embed_layer_norm: input_ids contains 4294967296, expected a row of word, of which there are 2");
}

TEST_CASE("embed layer norm: shapes that disagree, and memory that is shared") {
  CHECK(refused([](auto&, auto& a) { a.segment.reset(); }) ==
        "embed_layer_norm: segment is missing, expected beside segment_ids");
  CHECK(refused([](auto&, auto& a) { a.segment_ids->rows = 1; }) ==
        "embed_layer_norm: segment_ids has 1 rows, expected 2 as input_ids has");
  CHECK(refused([](auto&, auto& a) { a.position_ids->rows = 3; }) ==
        "embed_layer_norm: position_ids has 3 rows, expected 2 as input_ids has");
  CHECK(refused([](auto&, auto& a) { a.position_ids->columns = 2; }) ==
        "embed_layer_norm: position_ids has 2 columns, expected 3 as input_ids has");
  CHECK(refused([](auto&, auto& a) {
          a.position_ids.reset();
          a.position.rows = 2;
        }) == "embed_layer_norm: position has 2 rows, expected at least 3, the columns of input_ids");
  CHECK(refused([](auto&, auto& a) { a.position.columns = 3; }) ==
        "embed_layer_norm: position has 3 columns, expected 4 as word has");
  CHECK(refused([](auto&, auto& a) { a.segment->columns = 5; }) ==
        "embed_layer_norm: segment has 5 columns, expected 4 as word has");
  CHECK(refused([](auto& c, auto& a) { a.gamma = std::span(c.table).first(3); }) ==
        "embed_layer_norm: gamma has 3 elements, expected 4, one for each column of word");
  CHECK(refused([](auto& c, auto& a) { a.beta = std::span(c.table).first(5); }) ==
        "embed_layer_norm: beta has 5 elements, expected 4, one for each column of word");
  CHECK(refused([](auto&, auto& a) { a.embedding_sum->rows = 5; }) ==
        "embed_layer_norm: embedding_sum has 5 rows, expected 6, one for each of input_ids");
  CHECK(refused([](auto& c, auto& a) { a.mask = matrix_view<std::int32_t const>(c.input_ids.data(), 3, 2); }) ==
        "embed_layer_norm: mask has 3 rows, expected 2 as input_ids has");
  CHECK(refused([](auto&, auto& a) { a.epsilon = std::numeric_limits<float>::infinity(); }) ==
        "embed_layer_norm: epsilon is inf, expected a finite number of at least 0");
  CHECK(refused([](auto& c, auto& a) { a.embedding_sum->data = c.y.data(); }) ==
        "embed_layer_norm: y overlaps embedding_sum, expected no common memory");
  CHECK(refused([](auto& c, auto& a) { a.word.data = c.y.data(); }) ==
        "embed_layer_norm: y overlaps word, expected no common memory");
}

TEST_CASE("embed layer norm: a row that is no number leaves its neighbours alone") {
  random_case::for_each_target([&] {
    small_case c;
    std::vector<float> word(20, 1);
    for (std::size_t i = 0; i < 20; ++i) word[i] = static_cast<float>(i % 3);
    word[5] = std::numeric_limits<float>::quiet_NaN();
    c.arguments.word.data = word.data();
    c.input_ids[0] = 1;
    REQUIRE(k::embed_layer_norm(c.arguments).ok());
    for (std::size_t i = 0; i < 24; ++i) CHECK(std::isnan(c.y[i]) == (i < 8));
    CHECK(std::isnan(c.sum[1]));
    CHECK(c.sum[0] == word[4] + 2);
  });
}

TEST_CASE("embed layer norm: rows of far apart means") {
  random_case::for_each_target([] {
    std::size_t const columns = 405;
    double const means[] = {1e10, 0, -1e5, 5, 0}, deviations[] = {1e7, 1, 1, 1e-3, 1e-20};
    std::mt19937 random(31);
    std::vector<float> word(5 * columns);
    for (std::size_t r = 0; r < 5; ++r) {
      random_case::fill(std::span(word).subspan(r * columns, columns), means[r], deviations[r], random);
    }
    std::vector<std::int32_t> const ids{0, 1, 2, 3, 4};
    std::vector<float> const zero(columns), one(columns, 1);
    std::vector<float> y(5 * columns);
    embed_layer_norm_arguments<float> const arguments{.input_ids = {ids.data(), 5, 1},
                                                      .segment_ids = {},
                                                      .word = {word.data(), 5, columns},
                                                      .position = {zero.data(), 1, columns},
                                                      .segment = {},
                                                      .gamma = one,
                                                      .beta = zero,
                                                      .mask = {},
                                                      .position_ids = {},
                                                      .epsilon = 0,
                                                      .y = {y.data(), 5, columns}};
    REQUIRE(k::embed_layer_norm(arguments).ok());
    for (std::size_t r = 0; r < 5; ++r) {
      CAPTURE(r);
      std::vector<double> const row(word.data() + r * columns, word.data() + (r + 1) * columns);
      auto const expected = random_tokens::norm_of(
          row, 0, [](std::size_t) { return 1.0; }, [](std::size_t) { return 0.0; });
      CHECK(random_case::distance(y.data() + r * columns, expected.y, 1e-6 * std::max(1.0, expected.largest)) <= 1);
    }
  });
}

}  // namespace embed_layer_norm
