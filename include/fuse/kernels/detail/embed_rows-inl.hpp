// SPDX-License-Identifier: BSL-1.0

// Layer norm of rows that are made, not read: sums of a row of each of several tables.

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/exact.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// On the stack, for everything that is computed once and used often.
inline constexpr std::size_t scratch_floats = std::size_t{16} << 10;

// What a row needs of it, so that each begins where a vector may.
HWY_ATTR HWY_INLINE std::size_t padded(std::size_t columns) {
  constexpr std::size_t line = 16;
  return (columns + line - 1) / line * line;
}

// What a row is computed from has, for part of a row at column i, a vector: `values(part, i)`.
template <class T>
struct stored_row {
  T const* data;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::size_t i) const {
    return part.get(data + i);
  }
};

struct constant_row {
  vec value;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part, std::size_t) const {
    return value;
  }
};

template <class Row>
struct shifted_row {
  Row row;
  vec shift;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::size_t i) const {
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
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::size_t i) const {
    return hn::MulAdd(hn::MulAdd(row(part, i), inverse_deviation, offset), gamma(part, i), beta(part, i));
  }
};

// Where a row goes that is computed again when it is needed.
struct nowhere {
  HWY_ATTR HWY_INLINE void keep(whole, vec, std::size_t) const {}
  HWY_ATTR HWY_INLINE void keep(first, vec, std::size_t) const {}
};
struct scratch_row {
  float* data;

  template <class Part>
  HWY_ATTR HWY_INLINE void keep(Part part, vec v, std::size_t i) const {
    part.put(v, data + i);
  }
};

struct nothing_else {
  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part, std::size_t) const {}
};

struct row_sums {
  double sum, squares;
};

// Sums of halves are mostly exact.
template <class T>
HWY_ATTR HWY_INLINE double total_of(vec sums) {
  return sizeof(T) == 2 ? double_sum_of(sums) : sum_of(sums);
}

// Computes a row, keeps it, and adds up its elements and their squares: four vectors, then something else for the same
// columns, which keeps the processor busy with what does not depend on it. Float sums end after 32 steps. The first
// `head` elements are taken by themselves.
template <class Row, class Kept, class T, class Else>
HWY_ATTR HWY_INLINE row_sums gather(Row const& row, Kept kept, T const* fetched, std::size_t columns,
                                    Else const& otherwise = {}, std::size_t head = 0) {
  lanes const d;
  std::size_t const n = hn::Lanes(d), step = 4 * n;
  double sum = 0, squares = 0;
  vec s0 = hn::Zero(d), s1 = s0, q0 = s0, q1 = s0;
  std::size_t i = head;
  if (head > 0) {
    first const part{head};
    s0 = hn::IfThenElseZero(hn::FirstN(d, head), row(part, 0));
    q0 = hn::Mul(s0, s0);
    kept.keep(part, s0, 0);
    otherwise(part, 0);
  }
  while (columns - i >= step) {
    std::size_t const end = i + HWY_MIN((columns - i) / step, 32) * step;
    for (; i < end; i += step) {
      // Into the second cache: four rows of floats would be in the way in the first.
      for (std::size_t byte = 0; byte < step * sizeof(T); byte += 64) {
        __builtin_prefetch(fetched + i + byte / sizeof(T), 0, 2);
      }
      vec const v0 = row(whole{}, i);
      kept.keep(whole{}, v0, i);
      s0 = hn::Add(s0, v0);
      q0 = hn::MulAdd(v0, v0, q0);
      vec const v1 = row(whole{}, i + n);
      kept.keep(whole{}, v1, i + n);
      s1 = hn::Add(s1, v1);
      q1 = hn::MulAdd(v1, v1, q1);
      vec const v2 = row(whole{}, i + 2 * n);
      kept.keep(whole{}, v2, i + 2 * n);
      s0 = hn::Add(s0, v2);
      q0 = hn::MulAdd(v2, v2, q0);
      vec const v3 = row(whole{}, i + 3 * n);
      kept.keep(whole{}, v3, i + 3 * n);
      s1 = hn::Add(s1, v3);
      q1 = hn::MulAdd(v3, v3, q1);
      otherwise(whole{}, i);
      otherwise(whole{}, i + n);
      otherwise(whole{}, i + 2 * n);
      otherwise(whole{}, i + 3 * n);
    }
    sum += total_of<T>(hn::Add(s0, s1));
    squares += sum_of(hn::Add(q0, q1));
    s0 = s1 = q0 = q1 = hn::Zero(d);
  }
  if (i == columns && head == 0) return {sum, squares};
  for (; columns - i >= n; i += n) {
    vec const v = row(whole{}, i);
    kept.keep(whole{}, v, i);
    s0 = hn::Add(s0, v);
    q0 = hn::MulAdd(v, v, q0);
    otherwise(whole{}, i);
  }
  if (i < columns) {
    first const part{columns - i};
    vec const v = hn::IfThenElseZero(hn::FirstN(d, columns - i), row(part, i));
    kept.keep(part, v, i);
    s0 = hn::Add(s0, v);
    q0 = hn::MulAdd(v, v, q0);
    otherwise(part, i);
  }
  return {sum + total_of<T>(s0), squares + sum_of(q0)};
}

// By itself: seldom, so one copy of it will do.
template <class Row, class Kept, class T>
HWY_ATTR HWY_NOINLINE row_sums gather_alone(Row const& row, Kept kept, T const* fetched, std::size_t columns) {
  return gather(row, kept, fetched, columns, nothing_else{});
}

// Rows whose sums float cannot hold, in double precision; they are kept, too.
template <class Row, class Kept>
HWY_ATTR HWY_NOINLINE row_moments exact_moments_of(Row const& row, Kept kept, std::size_t columns, double epsilon) {
  std::size_t const n = hn::Lanes(lanes());
  float buffer[hn::MaxLanes(lanes())];
  double mean = 0, variance = 0;
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; i += n) {
      std::size_t const count = HWY_MIN(n, columns - i);
      vec const v = count == n ? row(whole{}, i) : row(first{count}, i);
      kept.keep(first{count}, v, i);
      store(v, buffer);
      for (std::size_t k = 0; k < count; ++k) {
        double const value = static_cast<double>(buffer[k]);
        sum += pass == 0 ? value : (value - mean) * (value - mean);
      }
    }
    (pass == 0 ? mean : variance) = sum / static_cast<double>(columns);
  }
  double const inverse_deviation = 1 / std::sqrt(variance + epsilon);
  float const pivot = static_cast<float>(mean);
  if (!std::isfinite(pivot)) return {0, mean, inverse_deviation};
  return {pivot, mean - static_cast<double>(pivot), inverse_deviation};
}

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

// A pivot for rows of this mean. It has no bits but those of about 2^-8 of the deviation and more: less all bits of a
// mean, halves of one magnitude would all be rounded to the same side, and the mean of the row with them.
HWY_ATTR HWY_INLINE float near_mean_of(double mean, double variance) {
  double const large = 0x1.8p44 * std::sqrt(variance);
  return static_cast<float>((mean + large) - large);
}

// Mean and deviation of row `token` from the sums that were gathered with `pivot`; where they say too little, the row
// is gathered again around its own mean, which `pivot` becomes; where that does not help either, around 0, so that
// nothing of it is rounded away.
template <class Maker, class Kept>
HWY_ATTR HWY_INLINE row_moments settle(Maker const& make, token_walk const& token, float& pivot, row_sums sums,
                                       Kept kept, std::size_t columns, double epsilon) {
  double const per_column = 1 / static_cast<double>(columns);
  for (int attempt = 0;; ++attempt) {
    double const mean = sums.sum * per_column, mean_square = sums.squares * per_column;
    double const square = mean * mean, variance = mean_square > square ? mean_square - square : 0;
    if (!is_comfortable(variance + square, epsilon)) break;
    if (2 * square <= variance + epsilon) [[likely]] {
      return {0, mean, inverse_root(variance + epsilon)};
    }
    if (attempt == 1) break;
    pivot = near_mean_of(static_cast<double>(pivot) + mean, variance);
    auto const row = make(token, pivot);
    sums = gather_alone(row, kept, make.word(token), columns);
  }
  pivot = 0;
  return exact_moments_of(make(token, pivot), kept, columns, epsilon);
}

// A number that the rows of a call are near to: 0 for most tables, since an embedding's mean is small beside its
// deviation; else the mean of the first token's row. That of a row before, as layer_norm has it, would let the last
// bits of a row depend on where threads begin.
template <class Call, class Maker>
HWY_ATTR HWY_NOINLINE float common_pivot(Call const& call, Maker const& make) {
  token_walk const token(0, call.ids.length);
  float pivot = 0;
  row_sums const sums = gather_alone(make(token, pivot), nowhere{}, make.word(token), call.columns);
  settle(make, token, pivot, sums, nowhere{}, call.columns, static_cast<double>(call.epsilon));
  return pivot;
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

// Rows in scratch memory: the next one is gathered while one is finished.
template <class Way, class Call, class Maker, class Weights>
HWY_ATTR void embed_overlapped(Way way, Call const& call, Maker const& make, Weights const& weights, float* scratch) {
  using output = std::remove_pointer_t<decltype(call.y)>;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  float const pivot = common_pivot(call, make);
  scratch_row current{scratch}, next{scratch + padded(columns)};
  token_walk token(call.begin, call.ids.length), ahead = token;
  for (std::size_t k = call.begin; k < HWY_MIN(call.begin + 4, call.end - 1); ++k) ahead.advance();
  row_sums sums = gather_alone(make(token, pivot), current, make.word(ahead), columns);
  for (std::size_t t = call.begin; t < call.end; ++t) {
    write_sum(call, make, token, t);
    float own_pivot = pivot;
    row_moments const m = moments_for<output>(settle(make, token, own_pivot, sums, current, columns, epsilon));
    auto const values = normalised(around_pivot<output>(current, m, columns), m, weights);
    output* const y = call.y + t * call.y_stride;
    std::size_t head = 0;
    if constexpr (std::is_same_v<Way, past_caches_alone>) head = vector_head(y, columns);
    if (t + 1 == call.end) {
      write_row_by(way, values, y, columns, head);
    } else {
      token.advance();
      if (t + 5 < call.end) ahead.advance();
      sums = gather(make(token, pivot), next, make.word(ahead), columns,
                    writes<Way, decltype(values), output>{way, values, y}, head);
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

// Rows too wide for scratch memory are computed twice.
template <class Call, class Maker, class Weights>
HWY_ATTR void embed_twice(Call const& call, Maker const& make, Weights const& weights) {
  using output = std::remove_pointer_t<decltype(call.y)>;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  float const common = common_pivot(call, make);
  token_walk token(call.begin, call.ids.length);
  for (std::size_t t = call.begin; t < call.end; ++t, token.advance()) {
    write_sum(call, make, token, t);
    float pivot = common;
    row_sums const sums = gather_alone(make(token, pivot), nowhere{}, make.word(token), columns);
    row_moments const m = moments_for<output>(settle(make, token, pivot, sums, nowhere{}, columns, epsilon));
    auto const row = make(token, pivot);
    shifted_row<std::remove_const_t<decltype(row)>> const shifted{row, hn::Set(lanes(), m.pivot)};
    write_row_by(into_caches{}, normalised(shifted, m, weights), call.y + t * call.y_stride, columns);
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
