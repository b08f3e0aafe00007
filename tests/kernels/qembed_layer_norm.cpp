// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/qembed_layer_norm.hpp>

#include "random_tokens.hpp"

#include <array>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace qembed_layer_norm {
using namespace fuse::kernels;
namespace k = fuse::kernels;
using guarded_memory::guarded;
using random_tokens::up_to;

/// Random numbers of a table with their scale and zero point, between guard pages.
template <class T>
struct table {
  random_tokens::matrix<T> values;
  random_tokens::matrix<float> scale;
  random_tokens::matrix<T> zero_point;

  table(std::size_t rows, std::size_t columns, std::mt19937& random)
      : values(rows, columns, random, [&] { return random(); }),
        scale(1, 1, random, [&] { return static_cast<float>(1 + random() % 1000) / 50000.0f; }),
        zero_point(1, 1, random, [&] { return random(); }) {}

  quantized_view<T const> view() const { return {values.view(), {scale.view().data, 1}, {zero_point.view().data, 1}}; }
  double unit() const { return static_cast<double>(scale.at(0, 0)); }
  double at(std::size_t row, std::size_t column) const {
    return (static_cast<double>(values.at(row, column)) - static_cast<double>(zero_point.at(0, 0))) * unit();
  }
};

template <class T>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_tokens::tokens<std::int32_t> const tokens(random);
  std::size_t const columns = random_case::shape(random).columns;
  float const epsilon = random() % 2 == 0 ? 1e-12f : 1e-3f;
  INFO("seed " << seed << ", " << target_name() << ", " << tokens.sequences << " x " << tokens.length << " x "
               << columns);
  table<T> const word(tokens.words, columns, random), position(tokens.positions, columns, random);
  table<T> const segment(tokens.segments, columns, random), gamma(1, columns, random), beta(1, columns, random);
  std::size_t const y_stride = columns + random() % 20, count = tokens.count();
  guarded<float> y(count == 0 ? 0 : (count - 1) * y_stride + columns, random() % 2 != 0);
  guarded<std::int32_t> mask_index(tokens.sequences, random() % 2 != 0);

  qembed_layer_norm_arguments<T> arguments{
      .input_ids = tokens.input_ids.view(),
      .segment_ids = {},
      .word = word.view(),
      .position = position.view(),
      .segment = {},
      .gamma = gamma.view(),
      .beta = beta.view(),
      .mask = tokens.mask_or_none(),
      .epsilon = epsilon,
      .y = {y.data(), count, columns, y_stride},
  };
  if (tokens.with_segments) {
    arguments.segment_ids = tokens.segment_ids.view();
    arguments.segment = segment.view();
  }
  if (tokens.with_index) arguments.mask_index = mask_index.span();
  status const result =
      k::qembed_layer_norm(arguments, on(random() % 2 == 0 ? output::automatic : output::not_read_soon));
  INFO(result.message());
  REQUIRE(result.ok());

  // What adding up float numbers of this size may cost.
  double const rounding = 0x1p-23 * 256 * (word.unit() + position.unit() + (tokens.with_segments ? segment.unit() : 0));
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t const s = t / tokens.length, i = t % tokens.length;
    std::vector<double> x(columns);
    double largest_gamma = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      x[c] = word.at(static_cast<std::size_t>(tokens.input_ids.at(s, i)), c) + position.at(i, c);
      if (tokens.with_segments) x[c] += segment.at(static_cast<std::size_t>(tokens.segment_ids.at(s, i)), c);
      largest_gamma = std::max(largest_gamma, std::abs(gamma.at(0, c)));
    }
    double const e = static_cast<double>(epsilon);
    auto const expected = random_tokens::norm_of(
        x, e, [&](std::size_t c) { return gamma.at(0, c); }, [&](std::size_t c) { return beta.at(0, c); });
    // One column is exactly its mean.
    double const own = columns == 1 ? 0 : rounding * random_tokens::gain_of(x, e, largest_gamma);
    double const bound = 1e-6 * std::max(1.0, expected.largest) + own;
    CHECK(random_case::distance(y.data() + t * y_stride, expected.y, bound) <= 1);
  }
  CHECK(y.kept([&](std::size_t i) { return i % y_stride < columns; }));
  CHECK(mask_index.kept([&](std::size_t) { return tokens.with_index; }));
  for (std::size_t s = 0; tokens.with_index && s < tokens.sequences; ++s) CHECK(mask_index[s] == tokens.ones(s));
}

TEST_CASE("qembed layer norm: agrees with the formula in double precision") {
  random_case::on_every_target(check_random<std::uint8_t>);
  random_case::on_every_target(check_random<std::int8_t>);
}

/// Two sequences of three tokens, four columns; tests make one thing wrong.
struct small_case {
  std::vector<std::int32_t> input_ids{0, 1, 2, 4, 3, 0}, segment_ids{0, 1, 0, 1, 1, 0}, mask{1, 1, 0, 1, 0, 2};
  std::vector<std::uint8_t> word, position, segment, gamma, beta;
  std::array<float, 2> scale{0.25f, 0.25f};
  std::array<std::uint8_t, 2> zero_point{128, 128};
  std::vector<float> y = std::vector<float>(24, -77);
  std::vector<std::int32_t> mask_index{-77, -77};
  qembed_layer_norm_arguments<std::uint8_t> arguments;

  small_case() {
    std::mt19937 random(3);
    for (auto const& [table, size] : {std::pair{&word, 20}, {&position, 12}, {&segment, 8}, {&gamma, 4}, {&beta, 4}}) {
      table->resize(static_cast<std::size_t>(size));
      for (auto& value : *table) value = static_cast<std::uint8_t>(random());
    }
    arguments = {
        .input_ids = {input_ids.data(), 2, 3},
        .segment_ids = ids(segment_ids, 2, 3),
        .word = view(word, 5),
        .position = view(position, 3),
        .segment = view(segment, 2),
        .gamma = view(gamma, 1),
        .beta = view(beta, 1),
        .mask = ids(mask, 2, 3),
        .y = {y.data(), 6, 4},
        .mask_index = mask_index,
    };
  }
  small_case(small_case const&) = delete;

  static matrix_view<std::int32_t const> ids(std::vector<std::int32_t> const& values, std::size_t rows,
                                             std::size_t columns) {
    return {values.data(), rows, columns};
  }
  quantized_view<std::uint8_t const> view(std::vector<std::uint8_t> const& table, std::size_t rows) const {
    return {{table.data(), rows, 4}, {scale.data(), 1}, {zero_point.data(), 1}};
  }
  std::string refused() const {
    status const result = k::qembed_layer_norm(arguments);
    CHECK_FALSE(result.ok());
    CHECK(std::all_of(y.begin(), y.end(), [](float value) { return value == -77; }));
    CHECK(mask_index == std::vector<std::int32_t>{-77, -77});
    return result.message();
  }
};

template <class Break>
std::string refused(Break const& make_wrong) {
  small_case c;
  make_wrong(c, c.arguments);
  return c.refused();
}

TEST_CASE("qembed layer norm: ids outside their table") {
  CHECK(refused([](auto& c, auto&) { c.input_ids[4] = 5; }) ==
        "qembed_layer_norm: input_ids contains 5, expected a row of word, of which there are 5");
  CHECK(refused([](auto& c, auto&) { c.input_ids[0] = -1; }) ==
        "qembed_layer_norm: input_ids contains -1, expected a row of word, of which there are 5");
  CHECK(refused([](auto& c, auto&) { c.segment_ids[5] = 2; }) ==
        "qembed_layer_norm: segment_ids contains 2, expected a row of segment, of which there are 2");
  CHECK(refused([](auto& c, auto&) { c.segment_ids[5] = std::numeric_limits<std::int32_t>::min(); }) ==
        "qembed_layer_norm: segment_ids contains -2147483648, expected a row of segment, of which there are 2");
  CHECK(refused([](auto&, auto& a) { a.word.values.rows = 0; }) ==
        "qembed_layer_norm: input_ids contains 0, expected a row of word, of which there are 0");
}

TEST_CASE("qembed layer norm: segments come together or not at all") {
  CHECK(refused([](auto&, auto& a) { a.segment_ids.reset(); }) ==
        "qembed_layer_norm: segment_ids is missing, expected beside segment");
  CHECK(refused([](auto&, auto& a) { a.segment.reset(); }) ==
        "qembed_layer_norm: segment is missing, expected beside segment_ids");
  CHECK(refused([](auto&, auto& a) { a.segment->scale = {}; }) ==
        "qembed_layer_norm: segment.scale has 0 elements, expected 1");
  CHECK(refused([](auto&, auto& a) { a.segment->zero_point = {}; }) ==
        "qembed_layer_norm: segment.zero_point has 0 elements, expected 1");
}

TEST_CASE("qembed layer norm: every scale and every zero point is one number") {
  auto const two = [](auto table, auto part) {
    return refused([&](auto& c, auto& a) {
      if constexpr (part.value) {
        table(a).scale = c.scale;
      } else {
        table(a).zero_point = c.zero_point;
      }
    });
  };
  auto const check = [&](char const* name, auto table) {
    std::string const begin = "qembed_layer_norm: " + std::string(name);
    CHECK(two(table, std::true_type{}) == begin + ".scale has 2 elements, expected 1");
    CHECK(two(table, std::false_type{}) == begin + ".zero_point has 2 elements, expected 1");
  };
  check(
      "word", [](auto& a) -> auto& { return a.word; });
  check(
      "position", [](auto& a) -> auto& { return a.position; });
  check(
      "segment", [](auto& a) -> auto& { return *a.segment; });
  check(
      "gamma", [](auto& a) -> auto& { return a.gamma; });
  check(
      "beta", [](auto& a) -> auto& { return a.beta; });
}

TEST_CASE("qembed layer norm: shapes that disagree") {
  CHECK(refused([](auto&, auto& a) { a.segment_ids->rows = 1; }) ==
        "qembed_layer_norm: segment_ids has 1 rows, expected 2 as input_ids has");
  CHECK(refused([](auto&, auto& a) { a.mask->columns = 2; }) ==
        "qembed_layer_norm: mask has 2 columns, expected 3 as input_ids has");
  CHECK(refused([](auto&, auto& a) { a.position.values.columns = 3; }) ==
        "qembed_layer_norm: position has 3 columns, expected 4 as word has");
  CHECK(refused([](auto&, auto& a) { a.segment->values.columns = 3; }) ==
        "qembed_layer_norm: segment has 3 columns, expected 4 as word has");
  CHECK(refused([](auto&, auto& a) { a.position.values.rows = 2; }) ==
        "qembed_layer_norm: position has 2 rows, expected at least 3, the columns of input_ids");
  CHECK(refused([](auto&, auto& a) { a.gamma.values.columns = 3; }) ==
        "qembed_layer_norm: gamma has 3 elements, expected 4, one for each column of word");
  CHECK(refused([](auto&, auto& a) { a.beta.values.rows = 2; }) == "qembed_layer_norm: beta has 2 rows, expected 1");
  CHECK(refused([](auto&, auto& a) { a.y.rows = 5; }) ==
        "qembed_layer_norm: y has 5 rows, expected 6, one for each of input_ids");
  CHECK(refused([](auto&, auto& a) { a.y.columns = 3; }) ==
        "qembed_layer_norm: y has 3 columns, expected 4 as word has");
  CHECK(refused([](auto&, auto& a) { a.y.row_stride = 3; }) ==
        "qembed_layer_norm: y has a row stride of 3, expected at least 4, its columns");
  CHECK(refused([](auto& c, auto& a) { a.mask_index = std::span(c.mask_index).first(1); }) ==
        "qembed_layer_norm: mask_index has 1 elements, expected 2, one for each row of input_ids");
  CHECK(refused([](auto&, auto& a) { a.word.values.data = nullptr; }) ==
        "qembed_layer_norm: word has no data, expected 20 elements");
  CHECK(refused([](auto&, auto& a) { a.input_ids.data = nullptr; }) ==
        "qembed_layer_norm: input_ids has no data, expected 6 elements");
  CHECK(refused([](auto&, auto& a) { a.epsilon = -1; }) ==
        "qembed_layer_norm: epsilon is -1, expected a finite number of at least 0");
}

TEST_CASE("qembed layer norm: what is written shares memory with nothing") {
  CHECK(refused([](auto& c, auto& a) { a.mask_index = std::span(c.mask).first(2); }) ==
        "qembed_layer_norm: mask_index overlaps mask, expected no common memory");
  CHECK(refused([](auto& c, auto& a) { a.input_ids.data = reinterpret_cast<std::int32_t*>(c.y.data()) + 18; }) ==
        "qembed_layer_norm: y overlaps input_ids, expected no common memory");
  CHECK(refused([](auto& c, auto& a) { a.word.values.data = reinterpret_cast<std::uint8_t*>(c.y.data()) + 95; }) ==
        "qembed_layer_norm: y overlaps word, expected no common memory");
  CHECK(refused([](auto& c, auto& a) { a.beta.scale = std::span(c.y).last(1); }) ==
        "qembed_layer_norm: y overlaps beta.scale, expected no common memory");
}

TEST_CASE("qembed layer norm: no tokens, and no columns") {
  small_case c;
  c.arguments.input_ids = {nullptr, 2, 0};
  c.arguments.segment_ids->columns = c.arguments.mask->columns = 0;
  c.arguments.y.rows = 0;
  REQUIRE(k::qembed_layer_norm(c.arguments).ok());
  CHECK(c.mask_index == std::vector<std::int32_t>{0, 0});
  CHECK(refused([](auto&, auto& a) {
          for (auto* const table : {&a.word, &a.position, &*a.segment, &a.gamma, &a.beta}) table->values.columns = 0;
          a.y.columns = 0;
        }) == "qembed_layer_norm: word has 0 columns, expected at least 1");
}

TEST_CASE("qembed layer norm: numbers that are none spoil every row, zero deviation none") {
  random_case::for_each_target([&] {
    small_case c;
    c.scale[0] = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(k::qembed_layer_norm(c.arguments).ok());
    CHECK(std::all_of(c.y.begin(), c.y.end(), [](float value) { return std::isnan(value); }));

    // Every table is its zero point: rows of 0, however large the scale. Beta is 0, too.
    small_case zero;
    zero.scale[0] = 1000.1f;
    for (auto* const table : {&zero.word, &zero.position, &zero.segment, &zero.beta}) {
      std::fill(table->begin(), table->end(), zero.zero_point[0]);
    }
    REQUIRE(k::qembed_layer_norm(zero.arguments).ok());
    CHECK(std::all_of(zero.y.begin(), zero.y.end(), [](float value) { return value == 0; }));
    zero.arguments.epsilon = 0;
    REQUIRE(k::qembed_layer_norm(zero.arguments).ok());
    CHECK(std::all_of(zero.y.begin(), zero.y.end(), [](float value) { return std::isnan(value); }));
  });
}

TEST_CASE("qembed layer norm: rows far from zero, and back") {
  // The word table's first row lies far off: the mean is 250 deviations.
  random_case::for_each_target([&] {
    small_case c;
    for (std::size_t i = 0; i < 4; ++i) c.word[i] = static_cast<std::uint8_t>(250 + i % 2);
    for (std::size_t i = 0; i < 12; ++i) c.position[i] = c.segment[i % 8] = c.zero_point[0];
    c.zero_point = {0, 0};
    std::fill(c.gamma.begin(), c.gamma.end(), std::uint8_t{4});
    std::fill(c.beta.begin(), c.beta.end(), std::uint8_t{0});
    REQUIRE(k::qembed_layer_norm(c.arguments).ok());
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(std::abs(c.y[i] - (i % 2 == 0 ? -1 : 1)) <= 1e-6f);       // token 0
      CHECK(std::abs(c.y[20 + i] - (i % 2 == 0 ? -1 : 1)) <= 1e-6f);  // token 5
    }
  });
}

TEST_CASE("qembed layer norm: threads share the tokens") {
  std::mt19937 random(17);
  std::size_t const tokens = 500, columns = 300;
  table<std::int8_t> const word(50, columns, random), position(tokens, columns, random), gamma(1, columns, random),
      beta(1, columns, random);
  guarded<std::int32_t> const ids(tokens, true);
  for (auto& id : ids.span()) id = static_cast<std::int32_t>(random() % 50);
  std::vector<float> alone(tokens * columns), shared(tokens * columns, -77);
  qembed_layer_norm_arguments<std::int8_t> arguments{.input_ids = {ids.data(), 1, tokens},
                                                     .segment_ids = {},
                                                     .word = word.view(),
                                                     .position = position.view(),
                                                     .segment = {},
                                                     .gamma = gamma.view(),
                                                     .beta = beta.view(),
                                                     .mask = {},
                                                     .y = {alone.data(), tokens, columns}};
  REQUIRE(k::qembed_layer_norm(arguments).ok());
  arguments.y.data = shared.data();
  int calls = 0;
  auto const threads = [&](std::size_t count, std::size_t grain, auto const& body) {
    ++calls;
    CHECK(count == tokens);
    CHECK(grain < count / 2);
    std::thread other([&] { body(0, 203); });
    body(203, count);
    body(count, count);  // nothing
    other.join();
  };
  REQUIRE(k::qembed_layer_norm(arguments, on(threads)).ok());
  CHECK(calls == 1);
  bool const same = shared == alone;
  CHECK(same);
}

}  // namespace qembed_layer_norm
