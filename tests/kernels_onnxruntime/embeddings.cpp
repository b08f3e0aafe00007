// SPDX-License-Identifier: BSL-1.0

// The embeddings for test_embeddings.py: arrays come as pointers, shapes as numbers, an absent array as null.
#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>

#include <cstring>
#include <string>

using namespace fuse::kernels;

namespace {

struct shapes {
  std::size_t sequences, length, columns, words, positions, segments, position_sequences;
};

using ids = matrix_view<std::int32_t const>;

std::optional<ids> optional_ids(std::int32_t const* data, std::size_t rows, std::size_t columns) {
  return data == nullptr ? std::nullopt : std::optional(ids(data, rows, columns));
}

char const* message_of(status const& result) {
  static std::string text;
  text = result.message();
  return text.c_str();
}

template <class T>
char const* quantized(shapes const& s, std::int32_t const* const* id_arrays, T const* const* tables,
                      float const* scales, T const* zero_points, float epsilon, float* y, std::int32_t* mask_index) {
  auto const table = [&](std::size_t i, std::size_t rows) {
    return quantized_view<T const>{{tables[i], rows, s.columns}, {scales + i, 1}, {zero_points + i, 1}};
  };
  qembed_layer_norm_arguments<T> arguments{
      .input_ids = {id_arrays[0], s.sequences, s.length},
      .segment_ids = optional_ids(id_arrays[1], s.sequences, s.length),
      .word = table(0, s.words),
      .position = table(1, s.positions),
      .segment = {},
      .gamma = table(3, 1),
      .beta = table(4, 1),
      .mask = optional_ids(id_arrays[2], s.sequences, s.length),
      .epsilon = epsilon,
      .y = {y, s.sequences * s.length, s.columns},
      .mask_index = {mask_index, s.sequences},
  };
  if (tables[2] != nullptr) arguments.segment = table(2, s.segments);
  return message_of(qembed_layer_norm(arguments));
}

}  // namespace

extern "C" {

char const* qembed_uint8(shapes const* s, std::int32_t const* const* id_arrays, std::uint8_t const* const* tables,
                         float const* scales, std::uint8_t const* zero_points, float epsilon, float* y,
                         std::int32_t* mask_index) {
  return quantized(*s, id_arrays, tables, scales, zero_points, epsilon, y, mask_index);
}

char const* qembed_int8(shapes const* s, std::int32_t const* const* id_arrays, std::int8_t const* const* tables,
                        float const* scales, std::int8_t const* zero_points, float epsilon, float* y,
                        std::int32_t* mask_index) {
  return quantized(*s, id_arrays, tables, scales, zero_points, epsilon, y, mask_index);
}

char const* embed(shapes const* s, std::int32_t const* const* id_arrays, float const* const* tables, float epsilon,
                  float* y, std::int32_t* mask_index, float* embedding_sum) {
  std::size_t const tokens = s->sequences * s->length;
  embed_layer_norm_arguments<float> arguments{
      .input_ids = {id_arrays[0], s->sequences, s->length},
      .segment_ids = optional_ids(id_arrays[1], s->sequences, s->length),
      .word = {tables[0], s->words, s->columns},
      .position = {tables[1], s->positions, s->columns},
      .segment = {},
      .gamma = {tables[3], s->columns},
      .beta = {tables[4], s->columns},
      .mask = optional_ids(id_arrays[2], s->sequences, s->length),
      .position_ids = optional_ids(id_arrays[3], s->position_sequences, s->length),
      .epsilon = epsilon,
      .y = {y, tokens, s->columns},
      .mask_index = {mask_index, s->sequences},
  };
  if (tables[2] != nullptr) arguments.segment = matrix_view(tables[2], s->segments, s->columns);
  if (embedding_sum != nullptr) arguments.embedding_sum = matrix_view(embedding_sum, tokens, s->columns);
  return message_of(embed_layer_norm(arguments));
}

}  // extern "C"
