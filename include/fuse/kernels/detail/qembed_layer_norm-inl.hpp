// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/embed_rows.hpp>
#include <fuse/kernels/quantize.hpp>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// A word, a position and a segment, less the pivot. Layer norm does not see what is the same in all columns, so that a
// zero point or a pivot costs nothing: it is part of what is added to a product. The two products are rounded near
// their own values, not near those of the zero points.
template <class T, class Segment>
struct quantized_sum {
  T const* word;
  T const* position;
  Segment segment;  // less the position's zero point
  vec word_scale, word_offset, position_scale;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    vec const from_position = hn::MulAdd(part.get(position + i), position_scale, segment(part, i));
    return hn::Add(hn::MulAdd(part.get(word + i), word_scale, word_offset), from_position);
  }
};

template <class T>
HWY_ATTR HWY_INLINE float zero_of(quantized_table<T> const& table) {
  return -static_cast<float>(product(static_cast<double>(table.zero_point), static_cast<double>(table.scale)));
}

// The segment's part of a row, from tables of the three kinds: none, numbers that stand for floats, the floats.
struct no_segment {
  vec offset;

  HWY_ATTR HWY_INLINE constant_row row(std::size_t) const { return {offset}; }
};

template <class T>
struct quantized_row {
  T const* data;
  vec scale, zero_point, offset;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::MulAdd(hn::Sub(part.get(data + i), zero_point), scale, offset);
  }
};

template <class T>
struct quantized_segment {
  T const* data;
  std::size_t stride;
  vec scale, zero_point, offset;

  HWY_ATTR HWY_INLINE quantized_row<T> row(std::size_t r) const {
    return {data + r * stride, scale, zero_point, offset};
  }
};

struct float_segment {
  float const* data;
  std::size_t stride;

  HWY_ATTR HWY_INLINE stored_row<float> row(std::size_t r) const { return {data + r * stride}; }
};

// Makes the rows of tokens.
template <class T, class Id, class Segment>
struct quantized_sums {
  qembed_layer_norm_call<T, Id> const& call;
  Segment segment;
  float word_zero = zero_of(call.word);

  HWY_ATTR HWY_INLINE T const* word(token_walk const& token) const {
    return call.word.data + token.word(call.ids) * call.word.stride;
  }
  HWY_ATTR HWY_INLINE auto operator()(token_walk const& token, float pivot) const {
    lanes const d;
    auto const row = segment.row(token.segment(call.ids));
    return quantized_sum<T, std::remove_const_t<decltype(row)>>{
        word(token),
        call.position.data + token.position(call.ids) * call.position.stride,
        row,
        hn::Set(d, call.word.scale),
        hn::Set(d, word_zero - pivot),
        hn::Set(d, call.position.scale)};
  }
};

template <class T>
HWY_ATTR HWY_INLINE stored_row<float> dequantized_into(float* to, quantized_table<T> const& table,
                                                       std::size_t columns) {
  write_row_by(into_caches{}, dequantized_row(table.data, table.scale, table.zero_point), to, columns);
  return {to};
}

template <class T, class Id, class Segment>
HWY_ATTR void embed_in_scratch(qembed_layer_norm_call<T, Id> const& call, Segment const& segment, float* scratch) {
  std::size_t const width = padded(call.columns);
  affine_rows<stored_row<float>, stored_row<float>> const weights{
      dequantized_into(scratch, call.gamma, call.columns), dequantized_into(scratch + width, call.beta, call.columns)};
  quantized_sums<T, Id, Segment> const make{call, segment};
  embed_rows(call, make, weights, scratch + 2 * width);
}

template <class T, class Id, class Segment>
HWY_ATTR void embed_without_scratch(qembed_layer_norm_call<T, Id> const& call, Segment const& segment) {
  affine_rows<dequantized<T>, dequantized<T>> const weights{
      dequantized_row(call.gamma.data, call.gamma.scale, call.gamma.zero_point),
      dequantized_row(call.beta.data, call.beta.scale, call.beta.zero_point)};
  embed_twice(call, quantized_sums<T, Id, Segment>{call, segment}, weights);
}

template <class T, class Id>
HWY_ATTR void run_rows(qembed_layer_norm_call<T, Id> const& call) {
  lanes const d;
  std::size_t const width = padded(call.columns), segments = call.segment.rows;
  vec const offset = hn::Set(d, zero_of(call.position));
  no_segment const none{offset};
  quantized_segment<T> const quantized{call.segment.data, call.segment.stride, hn::Set(d, call.segment.scale),
                                       hn::Set(d, static_cast<float>(call.segment.zero_point)), offset};
  // Two rows, gamma, beta, all segments.
  if (!goes_ahead(call, 4 + segments)) {
    return segments == 0 ? embed_without_scratch(call, none) : embed_without_scratch(call, quantized);
  }
  HWY_ALIGN float scratch[most_floats_on_stack];
  if (segments == 0) return embed_in_scratch(call, none, scratch);
  float* const rows = scratch + 4 * width;
  for (std::size_t r = 0; r < segments; ++r) {
    write_row_by(into_caches{}, quantized.row(r), rows + r * width, call.columns);
  }
  embed_in_scratch(call, float_segment{rows, width}, scratch);
}

struct qembed_layer_norm_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
