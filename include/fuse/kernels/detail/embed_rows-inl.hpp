// SPDX-License-Identifier: BSL-1.0

// Layer norm of rows that are made, not read: sums of a row of each of several tables.

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/exact.hpp>
#include <fuse/kernels/detail/plan.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// What a row is computed from has, for part of a row at column i, a vector: `values(part, i)`.
template <class T>
struct stored_row {
  T const* data;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return part.get(data + i);
  }
};

struct constant_row {
  vec value;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part, std::ptrdiff_t) const {
    return value;
  }
};

template <class Row>
struct shifted_row {
  Row row;
  vec shift;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::Sub(row(part, i), shift);
  }
};

// (row - mean) / deviation, where offset is -mean / deviation.
template <class Row, class Gamma, class Beta>
struct normalised_row {
  Row row;
  vec inverse_deviation, offset;
  Gamma gamma;
  Beta beta;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::MulAdd(hn::MulAdd(row(part, i), inverse_deviation, offset), gamma(part, i), beta(part, i));
  }
};

// Where a row goes that is computed again when it is needed.
struct nowhere {
  template <class Part>
  HWY_ATTR HWY_INLINE void keep(Part, vec, std::ptrdiff_t) const {}
};
struct scratch_row {
  float* data;

  template <class Part>
  HWY_ATTR HWY_INLINE void keep(Part part, vec v, std::ptrdiff_t i) const {
    part.put(v, data + i);
  }
};

// A walk over the tokens of all sequences, in their order.
class token_walk {
 public:
  token_walk(std::size_t token, std::size_t length)
      : sequence_(token / length), index_(token % length), length_(length) {}

  void advance() {
    if (++index_ == length_) {
      index_ = 0;
      ++sequence_;
    }
  }
  template <class Id>
  std::size_t id(Id const* ids, std::size_t stride, std::size_t otherwise) const {
    return ids == nullptr ? otherwise : static_cast<std::size_t>(ids[sequence_ * stride + index_]);
  }
  template <class Id>
  std::size_t word(token_ids<Id> const& ids) const {
    return id(ids.word, ids.word_stride, 0);
  }
  template <class Id>
  std::size_t position(token_ids<Id> const& ids) const {
    return id(ids.position, ids.position_stride, index_);
  }
  template <class Id>
  std::size_t segment(token_ids<Id> const& ids) const {
    return id(ids.segment, ids.segment_stride, 0);
  }

 private:
  std::size_t sequence_, index_, length_;
};

// A row that is read later, and the row that is being written, if any.
template <class T, class Y>
struct rows_to_fetch {
  T const* read;
  Y const* written;
};
template <class T, class Y = float>
HWY_ATTR HWY_INLINE rows_to_fetch<T, Y> to_fetch(T const* read, Y const* written = nullptr) {
  return {read, written};
}

// Computes a row, keeps it, and adds it up, while the lines of others are fetched.
template <class Row, class Kept, class T, class Y>
struct gathers_made : adds_moments<1> {
  Row row;
  Kept kept;
  rows_to_fetch<T, Y> fetched;

  // What is read goes into the second cache: four rows of floats would be in the way in the first. What is written
  // next goes into the first, so that stores do not wait for their lines.
  HWY_ATTR HWY_INLINE void fetch(std::ptrdiff_t i) const {
    constexpr std::ptrdiff_t read_line = 64 / sizeof(T), written_line = 64 / sizeof(Y);
    for (std::ptrdiff_t at = i; at < i + sum_lanes; at += read_line) __builtin_prefetch(fetched.read + at, 0, 2);
    if (fetched.written == nullptr) return;
    Y const* const ahead = fetched.written + bytes_written_ahead / sizeof(Y);
    for (std::ptrdiff_t at = i; at < i + sum_lanes; at += written_line) __builtin_prefetch(ahead + at, 1, 3);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE vec get(Part part, std::ptrdiff_t i) const {
    vec const v = part.elements(row(part, i));
    kept.keep(part, v, i);
    return v;
  }
};

template <class Maker>
using row_type = std::remove_cvref_t<decltype(*std::declval<Maker const&>().word(std::declval<token_walk const&>()))>;

// Rows whose sums float cannot hold, in double precision; they are kept, too.
template <class Row, class Kept>
HWY_ATTR HWY_NOINLINE row_moments exact_moments_of(Row const& row, Kept kept, std::size_t columns, double epsilon) {
  double mean = 0, variance = 0;
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; i += vector_lanes) {
      between const part{0, HWY_MIN(columns - i, static_cast<std::size_t>(vector_lanes))};
      auto const at = static_cast<std::ptrdiff_t>(i);
      vec const v = row(part, at);
      kept.keep(part, v, at);
      float elements[vector_lanes];
      store(v, elements);
      for (std::size_t k = 0; k < part.end; ++k) {
        double const value = static_cast<double>(elements[k]), difference = value - mean;
        sum += pass == 0 ? value : product(difference, difference);
      }
    }
    (pass == 0 ? mean : variance) = sum / static_cast<double>(columns);
  }
  double const inverse_deviation = 1 / std::sqrt(variance + epsilon);
  float const pivot = static_cast<float>(mean);
  if (!std::isfinite(pivot)) return {0, mean, inverse_deviation};
  return {pivot, mean - static_cast<double>(pivot), inverse_deviation};
}

template <class Maker, class Kept, class T, class Y>
HWY_ATTR HWY_INLINE auto gather_made(Maker const& make, token_walk const& token, float pivot, Kept kept,
                                     rows_to_fetch<T, Y> fetched) {
  auto const row = make(token, pivot);
  return gathers_made<std::remove_const_t<decltype(row)>, Kept, T, Y>{{{pivot}}, row, kept, fetched};
}
// ... while nothing is written.
template <class Maker, class Kept>
HWY_ATTR HWY_INLINE auto gather_made(Maker const& make, token_walk const& token, float pivot, Kept kept,
                                     token_walk const& fetched) {
  return gather_made(make, token, pivot, kept, to_fetch(make.word(fetched)));
}
template <class Maker>
HWY_ATTR HWY_INLINE float pivot_of(Maker const& make, token_walk const& token, std::size_t columns) {
  return first_mean<sizeof(row_type<Maker>) == 2>(make(token, 0), columns);
}

// By itself: seldom, so one copy of it will do.
template <class Gather>
HWY_ATTR HWY_NOINLINE moment_totals gather_alone(Gather gather, std::size_t columns) {
  visit_row<whole>(gather, writes_nothing{}, columns);
  return gather.totals;
}

// Mean and deviation of row `token` less the pivot, with which it was gathered. Where the sums say too little, the row
// is gathered again around its own mean, which `pivot` becomes; where that does not help either, around 0, so that
// nothing of it is rounded away.
template <class Maker, class Kept>
HWY_ATTR HWY_INLINE row_moments settle(Maker const& make, token_walk const& token, moment_totals totals, float& pivot,
                                       Kept kept, std::size_t columns, double epsilon) {
  auto const again = [&](float mean) HWY_ATTR {
    pivot = mean;
    return gather_alone(gather_made(make, token, mean, kept, token), columns);
  };
  auto const exactly = [&]() HWY_ATTR {
    pivot = 0;
    return exact_moments_of(make(token, 0), kept, columns, epsilon);
  };
  row_moments m = settled(totals, 1 / static_cast<double>(columns), epsilon, again, exactly);
  m.pivot -= pivot;
  return m;
}

template <class Gamma, class Beta>
struct affine_rows {
  Gamma gamma;
  Beta beta;
};

template <class Row, class Gamma, class Beta>
HWY_ATTR HWY_INLINE normalised_row<Row, Gamma, Beta> normalised(Row row, row_moments const& m,
                                                                affine_rows<Gamma, Beta> const& weights) {
  return {row, hn::Set(lanes(), static_cast<float>(m.inverse_deviation)),
          hn::Set(lanes(), static_cast<float>(-m.shift * m.inverse_deviation)), weights.gamma, weights.beta};
}

// Where a half is near 0, what is rounded of mean / deviation is more than its last place: rows of halves are shifted
// by what float holds of the mean. That takes time, which shows where tables are bytes; results of float, whose error
// is counted beside 1, do without.
template <class Y>
HWY_ATTR HWY_INLINE row_moments moments_for(row_moments const& m) {
  if constexpr (std::is_same_v<Y, float>) {
    return m;
  } else {
    float const mean = static_cast<float>(m.mean());
    return {mean, m.mean() - static_cast<double>(mean), m.inverse_deviation};
  }
}

// A row in scratch memory, less the pivot.
template <class Y>
HWY_ATTR HWY_INLINE auto around_pivot(scratch_row kept, row_moments const& m, std::size_t columns) {
  shifted_row<stored_row<float>> const shifted{{kept.data}, hn::Set(lanes(), m.pivot)};
  if constexpr (std::is_same_v<Y, float>) {
    if (m.pivot != 0) write_row_by(into_caches{}, shifted, kept.data, columns);
    return stored_row<float>{kept.data};
  } else {
    return shifted;
  }
}

// The sum of a row's tables where the caller wants it, too; they are in the first-level cache now.
template <class Call, class Maker>
HWY_ATTR HWY_INLINE void write_sum(Call const& call, Maker const& make, token_walk const& token, std::size_t t) {
  if constexpr (requires { call.embedding_sum; }) {
    if (call.embedding_sum == nullptr) return;
    write_row_by(into_caches{}, make(token, 0), call.embedding_sum + t * call.sum_stride, call.columns);
  }
}

// Whether the next row is gathered while one is finished; so many rows are on the stack then.
template <class Call>
HWY_ATTR HWY_INLINE bool goes_ahead(Call const& call, std::size_t rows_on_stack) {
  constexpr row_loops loops{.vectors = target_has, .source = rows_from::made, .sums = 2};
  row_shape const shape{.rows = call.end - call.begin, .columns = call.columns, .rows_on_stack = rows_on_stack};
  return way_to_go<loops>(call.way, shape) == row_way::one_ahead;
}

// Rows in scratch memory: the next one is gathered while one is finished.
template <class Way, class Call, class Maker, class Weights>
HWY_ATTR void embed_overlapped(Way way, Call const& call, Maker const& make, Weights const& weights, float* scratch) {
  using output = std::remove_pointer_t<decltype(call.y)>;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  bool const fetches = std::is_same_v<Way, into_caches> && fetches_written(columns);
  scratch_row current{scratch}, next{scratch + padded(columns)};
  token_walk token(call.begin, call.ids.length), ahead = token;
  for (std::size_t k = call.begin; k < HWY_MIN(call.begin + tokens_ahead, call.end - 1); ++k) ahead.advance();
  float pivot = pivot_of(make, token, columns);
  moment_totals totals = gather_alone(gather_made(make, token, pivot, current, ahead), columns);
  for (std::size_t t = call.begin; t < call.end; ++t) {
    write_sum(call, make, token, t);
    row_moments const m = moments_for<output>(settle(make, token, totals, pivot, current, columns, epsilon));
    auto const values = normalised(around_pivot<output>(current, m, columns), m, weights);
    output* const y = call.y + t * call.y_stride;
    std::ptrdiff_t const before = std::is_same_v<Way, past_caches_alone> ? before_in_vector(y) : 0;
    if (t + 1 == call.end) {
      write_row_by(way, values, y, columns, before);
    } else {
      token.advance();
      if (t + 1 + tokens_ahead < call.end) ahead.advance();
      pivot = pivot_of(make, token, columns);
      output const* const written = fetches ? y : nullptr;
      auto gather = gather_made(make, token, pivot, next, to_fetch(make.word(ahead), written));
      visit_row<whole>(gather, writes<Way, std::remove_const_t<decltype(values)>, output>{way, values, y}, columns,
                       before);
      totals = gather.totals;
    }
    std::swap(current, next);
  }
}

// `scratch` holds two rows.
template <class Call, class Maker, class Weights>
HWY_ATTR HWY_INLINE void embed_rows(Call const& call, Maker const& make, Weights const& weights, float* scratch) {
  if constexpr (std::is_same_v<decltype(call.y), float* const> || std::is_same_v<decltype(call.y), float*>) {
    if (call.streamed) {
      embed_overlapped(past_caches_alone{}, call, make, weights, scratch);
      return hwy::FlushStream();
    }
  }
  embed_overlapped(into_caches{}, call, make, weights, scratch);
}

// One after the other: a row that is not kept is computed twice.
template <class Call, class Maker, class Weights>
HWY_ATTR void embed_twice(Call const& call, Maker const& make, Weights const& weights) {
  using output = std::remove_pointer_t<decltype(call.y)>;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  token_walk token(call.begin, call.ids.length);
  for (std::size_t t = call.begin; t < call.end; ++t, token.advance()) {
    write_sum(call, make, token, t);
    float pivot = pivot_of(make, token, columns);
    moment_totals const totals = gather_alone(gather_made(make, token, pivot, nowhere{}, token), columns);
    row_moments const m = moments_for<output>(settle(make, token, totals, pivot, nowhere{}, columns, epsilon));
    auto const row = make(token, pivot);
    shifted_row<std::remove_const_t<decltype(row)>> const shifted{row, hn::Set(lanes(), m.pivot)};
    write_row_by(into_caches{}, normalised(shifted, m, weights), call.y + t * call.y_stride, columns);
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
