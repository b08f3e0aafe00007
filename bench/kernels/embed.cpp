// SPDX-License-Identifier: BSL-1.0

// The quantized embedding of BERT's sizes, and of wider ones, against the public algorithm, tables of 256 floats, the
// least that has to be done, and our norm of float rows that were looked up first.
#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/quantize.hpp>

#include "comparison.hpp"
#include "copy.hpp"
#include "lookups.hpp"
#include "tensors.hpp"
#include "ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace bench {
namespace {
using namespace fuse::kernels;

constexpr std::size_t words = 30522, positions = 512, segments = 2, length = 128;
constexpr struct {
  std::size_t tokens, columns;
} sizes[] = {{128, 768}, {1024, 768}, {4096, 768}, {16384, 768}, {128, 1536}, {128, 2048}};
constexpr float epsilon = 1e-12f;

void fill_bytes(tensor<std::uint8_t> const& to, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(128, 20);
  for (auto& value : to) value = static_cast<std::uint8_t>(std::clamp(distribution(random), 0.0f, 255.0f));
}

// All of one type with its scales; float tables hold the same numbers.
struct embedding {
  std::size_t tokens, columns;
  tensor<std::int32_t> input_ids{tokens}, segment_ids{tokens};
  tensor<std::uint8_t> word{words * columns}, position{positions * columns}, segment{segments * columns},
      gamma{columns}, beta{columns};
  tensor<float> y{tokens * columns};
  float const scales[5] = {0.01f, 0.008f, 0.012f, 0.01f, 0.01f};
  std::uint8_t const zero_point = 128;

  embedding(std::size_t tokens_, std::size_t columns_) : tokens(tokens_), columns(columns_) {
    std::mt19937 random(1);
    for (auto& id : input_ids) id = static_cast<std::int32_t>(random() % words);
    for (auto& id : segment_ids) id = static_cast<std::int32_t>(random() % segments);
    unsigned seed = 1;
    for (auto const* const table : {&word, &position, &segment, &gamma, &beta}) fill_bytes(*table, ++seed);
  }

  quantized_view<std::uint8_t const> view(tensor<std::uint8_t> const& table, int which) const {
    return {{table.data(), table.size() / columns, columns}, {scales + which, 1}, {&zero_point, 1}};
  }
  tensor<float> floats(tensor<std::uint8_t> const& table, int which) const {
    tensor<float> result(table.size());
    check(dequantize(view(table, which), matrix_view(result.data(), table.size() / columns, columns)));
    return result;
  }
  matrix_view<std::int32_t const> ids(tensor<std::int32_t> const& which) const {
    return {which.data(), tokens / length, length};
  }
  matrix_view<float> output_rows() const { return {y.data(), tokens, columns}; }

  void ours(on<> const& how = {}) const {
    qembed_layer_norm_arguments<std::uint8_t> arguments;
    arguments.input_ids = ids(input_ids);
    arguments.segment_ids = ids(segment_ids);
    arguments.word = view(word, 0);
    arguments.position = view(position, 1);
    arguments.segment = view(segment, 2);
    arguments.gamma = view(gamma, 3);
    arguments.beta = view(beta, 4);
    arguments.epsilon = epsilon;
    arguments.y = output_rows();
    check(qembed_layer_norm(arguments, how));
  }

  lookups::arguments plain() const {
    return {input_ids.data(), segment_ids.data(),
            word.data(),      position.data(),
            segment.data(),   gamma.data(),
            beta.data(),      scales[0],
            scales[1],        scales[2],
            scales[3],        scales[4],
            y.data(),         tokens,
            length,           columns,
            epsilon};
  }
};

// What nobody can do without: the row of each word is read, converted and written; past the caches from where on ours
// is.
void gather_convert_store(embedding const& e) {
  std::size_t const columns = e.columns;
  bool const past_caches = e.y.size() * sizeof(float) >= std::size_t{16} << 20;
  tensor<float> const row(past_caches ? columns : 0);
  for (std::size_t t = 0; t < e.tokens; ++t) {
    auto const word_of = [&](std::size_t token) {
      return e.word.data() + static_cast<std::size_t>(e.input_ids.data()[token]) * columns;
    };
    std::uint8_t const* const ahead = word_of(std::min(t + 4, e.tokens - 1));
    for (std::size_t i = 0; i < columns; i += 64) __builtin_prefetch(ahead + i);
    float* const y = e.y.data() + t * columns;
    quantized_view<std::uint8_t const> const word{{word_of(t), 1, columns}, {e.scales, 1}, {&e.zero_point, 1}};
    check(dequantize(word, matrix_view(past_caches ? row.data() : y, 1, columns)));
    if (past_caches) stream(y, row.data(), columns * sizeof(float));
  }
  finish_streams();
}

// The same numbers in tables of float, from before a user quantized them.
struct float_tables {
  embedding const& e;
  tensor<float> word = e.floats(e.word, 0), position = e.floats(e.position, 1), segment = e.floats(e.segment, 2),
                gamma = e.floats(e.gamma, 3), beta = e.floats(e.beta, 4), sum{e.y.size()};
  std::size_t const columns = e.columns;

  matrix_view<float const> view(tensor<float> const& table) const {
    return {table.data(), table.size() / columns, columns};
  }
  void embed() const {
    embed_layer_norm_arguments<float> arguments;
    arguments.input_ids = e.ids(e.input_ids);
    arguments.segment_ids = e.ids(e.segment_ids);
    arguments.word = view(word);
    arguments.position = view(position);
    arguments.segment = view(segment);
    arguments.gamma = std::span(gamma.data(), columns);
    arguments.beta = std::span(beta.data(), columns);
    arguments.epsilon = epsilon;
    arguments.y = e.output_rows();
    check(embed_layer_norm(arguments));
  }
  void look_up_then_norm() const {
    for (std::size_t t = 0; t < e.tokens; ++t) {
      float const* const w = word.data() + static_cast<std::size_t>(e.input_ids.data()[t]) * columns;
      float const* const p = position.data() + t % length * columns;
      float const* const s = segment.data() + static_cast<std::size_t>(e.segment_ids.data()[t]) * columns;
      float* const row = sum.data() + t * columns;
      for (std::size_t i = 0; i < columns; ++i) row[i] = w[i] + p[i] + s[i];
    }
    check(layer_norm(view(sum), std::span(gamma.data(), columns), std::span(beta.data(), columns), e.output_rows(),
                     epsilon));
  }
};

std::vector<candidate> candidates_for(std::size_t tokens, std::size_t columns) {
  auto const e = std::make_shared<embedding>(tokens, columns);
  std::shared_ptr<float_tables> const floats(new float_tables{*e});
  return {{"fuse", "", [e] { e->ours(); }},
          {"scalar algorithm", __VERSION__, [e] { lookups::scalar(e->plain()); }},
          {"tables of 256", __VERSION__, [e] { lookups::tables_of_256(e->plain()); }},
          {"gather, convert and store", "", [e] { gather_convert_store(*e); }},
          {"fuse, float tables", "", [e, floats] { floats->embed(); }},
          {"float lookup, then norm", "", [e, floats] { floats->look_up_then_norm(); }}};
}

}  // namespace

void add_embedding_ways(std::vector<told_kernel>& all) {
  for (auto const [tokens, columns] : sizes) {
    all.push_back({"qembed_layer_norm",
                   "uint8",
                   loops_here(detail::rows_from::made, 2, true, false),
                   {.rows = tokens, .columns = columns, .rows_on_stack = 4 + segments},
                   [tokens = tokens, columns = columns] {
                     auto const e = std::make_shared<embedding>(tokens, columns);
                     return [e](row_way way) { e->ours(going(way)); };
                   }});
  }
}

void add_embeddings(std::vector<comparison>& all) {
  for (auto const [tokens, columns] : sizes) {
    all.push_back({"qembed_layer_norm", "uint8", "", tokens, columns,
                   [tokens = tokens, columns = columns] { return candidates_for(tokens, columns); }});
  }
}

}  // namespace bench
