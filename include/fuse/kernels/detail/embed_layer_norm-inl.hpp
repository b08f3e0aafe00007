// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/embed_rows.hpp>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// A word and a position, less the pivot.
template <class T>
struct pair_sum {
  T const* word;
  T const* position;
  vec pivot;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::Sub(hn::Add(part.get(word + i), part.get(position + i)), pivot);
  }
};

template <class T>
struct triple_sum {
  T const* word;
  T const* position;
  T const* segment;
  vec pivot;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::ptrdiff_t i) const {
    return hn::Sub(hn::Add(hn::Add(part.get(word + i), part.get(position + i)), part.get(segment + i)), pivot);
  }
};

// Makes the rows of tokens.
template <class Call>
struct embedding_sums {
  Call const& call;

  HWY_ATTR HWY_INLINE auto word(token_walk const& token) const { return row(call.word, token.word(call.ids)); }
  HWY_ATTR HWY_INLINE auto position(token_walk const& token) const {
    return row(call.position, token.position(call.ids));
  }
  template <class T>
  HWY_ATTR HWY_INLINE static T const* row(table<T> const& from, std::size_t r) {
    return from.data + r * from.stride;
  }
};

template <class T, class Call>
struct pair_sums : embedding_sums<Call> {
  HWY_ATTR HWY_INLINE pair_sum<T> operator()(token_walk const& token, float pivot) const {
    return {this->word(token), this->position(token), hn::Set(lanes(), pivot)};
  }
};

template <class T, class Call>
struct triple_sums : embedding_sums<Call> {
  HWY_ATTR HWY_INLINE triple_sum<T> operator()(token_walk const& token, float pivot) const {
    return {this->word(token), this->position(token), this->row(this->call.segment, token.segment(this->call.ids)),
            hn::Set(lanes(), pivot)};
  }
};

template <class Call, class Make>
HWY_ATTR void embed_from(Call const& call, Make const& make) {
  using weight_row = stored_row<std::remove_cvref_t<decltype(*call.gamma)>>;
  affine_rows<weight_row, weight_row> const weights{{call.gamma}, {call.beta}};
  if (!goes_ahead(call, 2)) return embed_twice(call, make, weights);
  HWY_ALIGN float scratch[most_floats_on_stack];
  embed_rows(call, make, weights, scratch);
}

template <class T, class Y, class Id>
HWY_ATTR void run_rows(embed_layer_norm_call<T, Y, Id> const& call) {
  using call_type = embed_layer_norm_call<T, Y, Id>;
  if (call.segment.data == nullptr) {
    embed_from(call, pair_sums<T, call_type>{{call}});
  } else {
    embed_from(call, triple_sums<T, call_type>{{call}});
  }
}

struct embed_layer_norm_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
