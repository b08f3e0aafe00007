// SPDX-License-Identifier: BSL-1.0
// fuse 0.1.0, all of <fuse/fuse.hpp> in one file. Made by scripts/amalgamate.py; documentation stands in the headers it is made of.
#pragma once

#include <bit>
#include <cassert>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define FUSE_REWRITE_VERSION_MAJOR 0
#define FUSE_REWRITE_VERSION_MINOR 1
#define FUSE_REWRITE_VERSION_PATCH 0

#define FUSE_REWRITE_VERSION \
  (FUSE_REWRITE_VERSION_MAJOR * 10000 + FUSE_REWRITE_VERSION_MINOR * 100 + FUSE_REWRITE_VERSION_PATCH)

namespace fuse::inline v0 {

template <std::size_t N>
struct fixed_string {
  char text[N];

  constexpr fixed_string(char const (&literal)[N]) : fixed_string(literal, std::make_index_sequence<N>{}) {}

  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }

 private:
  template <std::size_t... I>
  constexpr fixed_string(char const (&literal)[N], std::index_sequence<I...>) : text{literal[I]...} {}
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct static_text {
  char const* first;
  std::size_t length;

  [[nodiscard]] static constexpr static_text of(std::string_view text) { return {text.data(), text.size()}; }

  constexpr operator std::string_view() const { return {first, length}; }
  [[nodiscard]] constexpr char operator[](std::size_t at) const { return first[at]; }
  [[nodiscard]] constexpr char const* data() const { return first; }
  [[nodiscard]] constexpr bool empty() const { return length == 0; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }

  [[nodiscard]] friend constexpr bool operator==(static_text a, static_text b) {
    return a.length == b.length && (a.length == 0 || __builtin_memcmp(a.first, b.first, a.length) == 0);
  }
  [[nodiscard]] friend constexpr bool operator==(static_text a, std::string_view b) { return a == of(b); }
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() = default;
  constexpr span(T* first, std::size_t size) : first_(first), size_(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) : first_(array), size_(N) {}  // NOLINT: implicit on purpose
  template <class Row>
    requires requires(Row& row, T*& first) { first = row.data(); }
  constexpr span(Row&& row) : first_(row.data()), size_(row.size()) {}  // NOLINT: implicit on purpose

  [[nodiscard]] constexpr T* data() const { return first_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const { return first_; }
  [[nodiscard]] constexpr T* end() const { return first_ + size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t at) const { return first_[at]; }
  [[nodiscard]] constexpr T& front() const { return first_[0]; }
  [[nodiscard]] constexpr T& back() const { return first_[size_ - 1]; }
  [[nodiscard]] constexpr span first(std::size_t count) const { return {first_, count}; }
  [[nodiscard]] constexpr span subspan(std::size_t from) const { return {first_ + from, size_ - from}; }
  [[nodiscard]] constexpr span subspan(std::size_t from, std::size_t count) const { return {first_ + from, count}; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};
template <class Row>
span(Row&& row) -> span<std::remove_pointer_t<decltype(row.data())>>;

template <class T>
[[nodiscard]] span<std::byte const> as_bytes(span<T> elements) {
  return {reinterpret_cast<std::byte const*>(elements.data()), elements.size_bytes()};
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

enum class axis_use : std::uint8_t {
  none,      ///< nobody says
  one,       ///< that axis alone
  trailing,  ///< all axes from that one on
};

enum class list_use : std::uint8_t {
  none,       ///< it is one number
  given,      ///< it must be given
  reversed,   ///< the axes of the first operand, from the last to the first
  ones,       ///< a 1 for each spatial axis: those of the first operand from the third on
  pads,       ///< a 0 before and one behind each spatial axis
  both_ends,  ///< must be given: entries before and behind each of the axes that the parameter "axes" tells, or of all
};

struct parameter_info {
  std::string_view name;
  double fallback;
  axis_use axis = axis_use::none;
  bool real = false;  ///< a real number, also where it happens to be whole; else an integer
  list_use list = list_use::none;
};

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

constexpr parameter_info real_number(std::string_view name, double fallback) {
  return {name, fallback, axis_use::none, true};
}

constexpr parameter_info list_of_integers(std::string_view name, list_use otherwise = list_use::given) {
  return {name, std::numeric_limits<double>::quiet_NaN(), axis_use::none, false, otherwise};
}

inline constexpr parameter_info reduction_parameters[] = {{"keepdims", 1}, {"noop_with_empty_axes", 0}};
inline constexpr parameter_info norm_parameters[] = {
    {"axis", -1, axis_use::trailing}, real_number("epsilon", 1e-5), {"stash_type", 1}};
inline constexpr parameter_info embedding_parameters[] = {real_number("epsilon", 1e-12), {"mask_index_type", 0}};
inline constexpr parameter_info instance_norm_parameters[] = {real_number("epsilon", 1e-5)};
inline constexpr parameter_info group_norm_parameters[] = {
    {"num_groups", std::numeric_limits<double>::quiet_NaN()}, real_number("epsilon", 1e-5), {"stash_type", 1}};
inline constexpr parameter_info last_axis_parameters[] = {{"axis", -1, axis_use::one}};
inline constexpr parameter_info first_axis_parameters[] = {{"axis", 0, axis_use::one}};
inline constexpr parameter_info axis_parameters[] = {{"axis", std::numeric_limits<double>::quiet_NaN(), axis_use::one}};
inline constexpr parameter_info flatten_parameters[] = {{"axis", 1, axis_use::trailing}};
inline constexpr parameter_info batch_norm_parameters[] = {real_number("epsilon", 1e-5), {"training_mode", 0}};
inline constexpr parameter_info gelu_parameters[] = {{"approximate", 0}};  // by erf; 1: by tanh
inline constexpr parameter_info swish_parameters[] = {real_number("alpha", 1)};
inline constexpr parameter_info clip_parameters[] = {real_number("min", -std::numeric_limits<double>::infinity()),
                                                     real_number("max", std::numeric_limits<double>::infinity())};
inline constexpr parameter_info rotary_parameters[] = {
    {"interleaved", 0}, {"num_heads", 0}, {"rotary_embedding_dim", 0}};
inline constexpr parameter_info attention_parameters[] = {
    {"q_num_heads", 0},
    {"kv_num_heads", 0},
    real_number("scale", std::numeric_limits<double>::quiet_NaN()),
    {"is_causal", 0},
    real_number("softcap", 0)};
inline constexpr parameter_info multi_head_attention_parameters[] = {
    {"num_heads", std::numeric_limits<double>::quiet_NaN()}, real_number("scale", 0), {"unidirectional", 0}};
inline constexpr parameter_info transpose_parameters[] = {list_of_integers("perm", list_use::reversed)};
inline constexpr parameter_info reshape_parameters[] = {list_of_integers("shape"), {"allowzero", 0}};
inline constexpr parameter_info slice_parameters[] = {list_of_integers("starts"), list_of_integers("ends"),
                                                      list_of_integers("steps")};
inline constexpr parameter_info pad_parameters[] = {
    list_of_integers("pads", list_use::both_ends), {"mode", 0}, real_number("value", 0)};  // 0: by one number
inline constexpr parameter_info conv_parameters[] = {list_of_integers("strides", list_use::ones),
                                                     list_of_integers("dilations", list_use::ones),
                                                     list_of_integers("pads", list_use::pads),
                                                     list_of_integers("kernel_shape"),
                                                     {"group", 1}};
inline constexpr parameter_info pool_parameters[] = {
    list_of_integers("strides", list_use::ones), list_of_integers("dilations", list_use::ones),
    list_of_integers("pads", list_use::pads), list_of_integers("kernel_shape")};
inline constexpr parameter_info max_pool_parameters[] = {
    pool_parameters[0], pool_parameters[1], pool_parameters[2], pool_parameters[3], {"ceil_mode", 0}};
inline constexpr parameter_info average_pool_parameters[] = {pool_parameters[0],     pool_parameters[1],
                                                             pool_parameters[2],     pool_parameters[3],
                                                             max_pool_parameters[4], {"count_include_pad", 0}};
inline constexpr parameter_info gemm_parameters[] = {
    real_number("alpha", 1), real_number("beta", 1), {"transA", 0}, {"transB", 0}};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

enum class opcode : std::uint16_t {
  opaque,
  add, sub, mul, div, neg, reciprocal, sqrt, rsqrt, pow, square, abs, exp, log, erf, sin, cos, tanh, sigmoid, relu, gelu, silu,
  softplus, leaky_relu, elu, hard_sigmoid, hard_swish, prelu, tan, asin, acos, atan, sinh,
  cosh, asinh, acosh, atanh, selu, celu, thresholded_relu, softsign, mish, swish, shrink, fast_gelu, quick_gelu, bias_gelu, floor, ceil, round, sign, minimum, maximum, mod, clip, sum_of,
  mean_of, bitwise_and, bitwise_or, bitwise_xor, bitwise_not,
  equal, less, less_or_equal, greater, greater_or_equal, logical_and, logical_or, logical_xor, logical_not, where, is_nan, is_inf,
  cast, cast_like, identity, dropout,
  constant, constant_of_shape, shape, size, range, reshape, flatten, squeeze, unsqueeze, transpose, concat, split, slice, gather,
  gather_elements, gather_nd, scatter_nd, scatter_elements, expand, tile, pad, trilu, one_hot, non_zero, cumulative_sum, top_k,
  depth_to_space, space_to_depth, reverse_sequence, eye_like, opaque_layout,
  mean, sum, product, reduce_max, reduce_min, sum_square, l1_norm, l2_norm, log_sum, log_sum_exp, arg_max, arg_min,
  matmul, gemm, linear, einsum, matmul_integer, conv, conv_transpose, conv_integer, max_pool, average_pool, global_max_pool, resize,
  fused_matmul, qlinear_matmul, qlinear_conv, lstm, gru, rnn,
  softmax, log_softmax, batch_norm, instance_norm, group_norm, layer_norm, rms_norm, skip_layer_norm, skip_rms_norm,
  embed_layer_norm, qembed_layer_norm, rotary_embedding, rotary_embedding_at, attention, multi_head_attention, hardmax, lp_normalization, mean_variance_norm, local_response_norm,
  quantize, dequantize, dynamic_quantize,
  if_else, loop, scan,
  bit_shift, swiglu, cumulative_product, compress, lp_pool, global_lp_pool,
  tensor_scatter, causal_conv, linear_attention, nll_loss, cross_entropy_loss,
  count_,
};

struct opcode_set {
  std::uint64_t words[(static_cast<std::size_t>(opcode::count_) + 63) / 64];

  constexpr void add(opcode op) {
    words[static_cast<std::size_t>(op) / 64] |= std::uint64_t{1} << static_cast<std::size_t>(op) % 64;
  }
  constexpr void add(opcode_set const& others) {
    std::size_t at = 0;
    for (auto& word : words) word |= others.words[at++];
  }
  [[nodiscard]] constexpr bool has(opcode op) const {
    return (words[static_cast<std::size_t>(op) / 64] >> static_cast<std::size_t>(op) % 64 & 1u) != 0;
  }
  [[nodiscard]] constexpr bool empty() const {
    for (auto const word : words)
      if (word != 0) return false;
    return true;
  }
};

enum class op_kind : std::uint8_t { opaque, elementwise, broadcast, injective, reduction, anchor };

[[nodiscard]] constexpr std::string_view name_of(op_kind kind) {
  constexpr std::string_view names[] = {"opaque", "elementwise", "broadcast", "injective", "reduction", "anchor"};
  return names[static_cast<std::size_t>(kind)];
}

enum class op_group : std::uint8_t { none, sum, product };

enum class shape_function : std::uint8_t { unknown, same_as_first, broadcast, reduce, own };

enum class type_function : std::uint8_t { unknown, same_as_first, boolean, own };

struct operator_info {
  opcode op = opcode::opaque;
  std::string_view name{};
  op_kind kind = op_kind::opaque;
  std::int8_t least = 0, most = -1;  ///< operands; most = -1: any number
  bool commutative = false;
  op_group group = op_group::none;
  shape_function shape = shape_function::unknown;
  type_function type = type_function::unknown;
  span<parameter_info const> parameters{};
  std::uint8_t of_first_result = 0;  ///< operands, a bit each, that no other result depends on
  std::uint8_t least_results = 1;
};

namespace detail {

constexpr operator_info unary(opcode op, std::string_view name) {
  return {op,
          name,
          op_kind::elementwise,
          1,
          1,
          false,
          op_group::none,
          shape_function::same_as_first,
          type_function::same_as_first,
          {}};
}
constexpr operator_info unary(opcode op, std::string_view name, op_group group) {
  auto info = unary(op, name);
  info.group = group;
  return info;
}
constexpr operator_info unary(opcode op, std::string_view name, span<parameter_info const> parameters) {
  auto info = unary(op, name);
  info.parameters = parameters;
  return info;
}
constexpr operator_info binary(opcode op, std::string_view name, bool commutative, op_group group = op_group::none) {
  return {
      op, name, op_kind::broadcast, 2, 2, commutative, group, shape_function::broadcast, type_function::same_as_first,
      {}};
}
constexpr operator_info comparison(opcode op, std::string_view name, bool commutative) {
  return {op,
          name,
          op_kind::broadcast,
          2,
          2,
          commutative,
          op_group::none,
          shape_function::broadcast,
          type_function::boolean,
          {}};
}
constexpr operator_info reduction(opcode op, std::string_view name) {
  return {op,
          name,
          op_kind::reduction,
          1,
          1,
          false,
          op_group::none,
          shape_function::reduce,
          type_function::same_as_first,
          reduction_parameters};
}
constexpr operator_info other(opcode op, std::string_view name, op_kind kind, int least, int most,
                              span<parameter_info const> parameters = {}) {
  return {op,
          name,
          kind,
          static_cast<std::int8_t>(least),
          static_cast<std::int8_t>(most),
          false,
          op_group::none,
          shape_function::own,
          type_function::own,
          parameters};
}
constexpr operator_info with_results(int least, operator_info info) {
  info.least_results = static_cast<std::uint8_t>(least);
  return info;
}
constexpr operator_info same_shape_reduction(opcode op, std::string_view name, int least, int most,
                                             span<parameter_info const> parameters, std::uint8_t of_first_result = 0) {
  auto info = other(op, name, op_kind::reduction, least, most, parameters);
  info.of_first_result = of_first_result;
  info.shape = shape_function::same_as_first;
  info.type = type_function::same_as_first;
  return info;
}

}  // namespace detail

inline constexpr operator_info operator_table[] = {
    detail::binary(opcode::add, "add", true, op_group::sum),
    detail::binary(opcode::sub, "sub", false, op_group::sum),
    detail::binary(opcode::mul, "mul", true, op_group::product),
    detail::binary(opcode::div, "div", false, op_group::product),
    detail::unary(opcode::neg, "neg", op_group::sum),  // also a factor of -1
    detail::unary(opcode::reciprocal, "reciprocal", op_group::product),
    detail::unary(opcode::sqrt, "sqrt", op_group::product),
    detail::unary(opcode::rsqrt, "rsqrt", op_group::product),
    detail::binary(opcode::pow, "pow", false, op_group::product),
    detail::unary(opcode::square, "square", op_group::product),
    detail::unary(opcode::abs, "abs"),
    detail::unary(opcode::exp, "exp"),
    detail::unary(opcode::log, "log"),
    detail::unary(opcode::erf, "erf"),
    detail::unary(opcode::sin, "sin"),
    detail::unary(opcode::cos, "cos"),
    detail::unary(opcode::tanh, "tanh"),
    detail::unary(opcode::sigmoid, "sigmoid"),
    detail::unary(opcode::relu, "relu"),
    detail::unary(opcode::gelu, "gelu", detail::gelu_parameters),
    detail::unary(opcode::silu, "silu"),
    detail::unary(opcode::softplus, "softplus"),
    detail::unary(opcode::leaky_relu, "leaky_relu"),
    detail::unary(opcode::elu, "elu"),
    detail::unary(opcode::hard_sigmoid, "hard_sigmoid"),
    detail::unary(opcode::hard_swish, "hard_swish"),
    detail::binary(opcode::prelu, "prelu", false),
    detail::unary(opcode::tan, "tan"),
    detail::unary(opcode::asin, "asin"),
    detail::unary(opcode::acos, "acos"),
    detail::unary(opcode::atan, "atan"),
    detail::unary(opcode::sinh, "sinh"),
    detail::unary(opcode::cosh, "cosh"),
    detail::unary(opcode::asinh, "asinh"),
    detail::unary(opcode::acosh, "acosh"),
    detail::unary(opcode::atanh, "atanh"),
    detail::unary(opcode::selu, "selu"),
    detail::unary(opcode::celu, "celu"),
    detail::unary(opcode::thresholded_relu, "thresholded_relu"),
    detail::unary(opcode::softsign, "softsign"),
    detail::unary(opcode::mish, "mish"),
    detail::unary(opcode::swish, "swish", detail::swish_parameters),
    detail::unary(opcode::shrink, "shrink"),
    detail::unary(opcode::quick_gelu, "quick_gelu"),
    detail::other(opcode::fast_gelu, "fast_gelu", op_kind::broadcast, 1, 2),
    detail::other(opcode::bias_gelu, "bias_gelu", op_kind::broadcast, 2, 2),
    detail::unary(opcode::floor, "floor"),
    detail::unary(opcode::ceil, "ceil"),
    detail::unary(opcode::round, "round"),
    detail::unary(opcode::sign, "sign"),
    {opcode::minimum, "minimum", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::maximum, "maximum", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::sum_of, "sum_of", op_kind::broadcast, 1, -1, true, op_group::sum, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::mean_of, "mean_of", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    detail::binary(opcode::mod, "mod", false),
    detail::binary(opcode::bitwise_and, "bitwise_and", true),
    detail::binary(opcode::bitwise_or, "bitwise_or", true),
    detail::binary(opcode::bitwise_xor, "bitwise_xor", true),
    detail::unary(opcode::bitwise_not, "bitwise_not"),
    {opcode::clip, "clip", op_kind::elementwise, 1, 3, false, op_group::none, shape_function::same_as_first, type_function::same_as_first, detail::clip_parameters},
    detail::comparison(opcode::equal, "equal", true),
    detail::comparison(opcode::less, "less", false),
    detail::comparison(opcode::less_or_equal, "less_or_equal", false),
    detail::comparison(opcode::greater, "greater", false),
    detail::comparison(opcode::greater_or_equal, "greater_or_equal", false),
    detail::comparison(opcode::logical_and, "logical_and", true),
    detail::comparison(opcode::logical_or, "logical_or", true),
    detail::comparison(opcode::logical_xor, "logical_xor", true),
    {opcode::logical_not, "logical_not", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::where, "where", op_kind::broadcast, 3, 3, false, op_group::none, shape_function::broadcast, type_function::own, {}},
    {opcode::is_nan, "is_nan", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::is_inf, "is_inf", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::cast, "cast", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::own, {}},
    {opcode::cast_like, "cast_like", op_kind::elementwise, 2, 2, false, op_group::none, shape_function::same_as_first, type_function::own, {}},
    detail::unary(opcode::identity, "identity"),
    detail::other(opcode::dropout, "dropout", op_kind::elementwise, 1, 3),
    detail::other(opcode::constant, "constant", op_kind::opaque, 0, 0),
    detail::other(opcode::constant_of_shape, "constant_of_shape", op_kind::injective, 1, 1),
    detail::other(opcode::shape, "shape", op_kind::opaque, 1, 1),
    detail::other(opcode::size, "size", op_kind::opaque, 1, 1),
    detail::other(opcode::range, "range", op_kind::opaque, 3, 3),
    detail::other(opcode::reshape, "reshape", op_kind::injective, 1, 2, detail::reshape_parameters),
    detail::other(opcode::flatten, "flatten", op_kind::injective, 1, 1, detail::flatten_parameters),
    detail::other(opcode::squeeze, "squeeze", op_kind::injective, 1, 1),
    detail::other(opcode::unsqueeze, "unsqueeze", op_kind::injective, 1, 1),
    detail::other(opcode::transpose, "transpose", op_kind::injective, 1, 1, detail::transpose_parameters),
    detail::other(opcode::concat, "concat", op_kind::injective, 1, -1, detail::axis_parameters),
    detail::other(opcode::split, "split", op_kind::injective, 1, 2, detail::first_axis_parameters),
    detail::other(opcode::slice, "slice", op_kind::injective, 1, 5, detail::slice_parameters),
    detail::other(opcode::gather, "gather", op_kind::injective, 2, 2, detail::first_axis_parameters),
    detail::other(opcode::gather_elements, "gather_elements", op_kind::injective, 2, 2, detail::first_axis_parameters),
    detail::other(opcode::gather_nd, "gather_nd", op_kind::injective, 2, 2),
    detail::other(opcode::scatter_nd, "scatter_nd", op_kind::opaque, 3, 3),
    detail::other(opcode::scatter_elements, "scatter_elements", op_kind::opaque, 3, 3, detail::first_axis_parameters),
    detail::other(opcode::expand, "expand", op_kind::injective, 2, 2),
    detail::other(opcode::tile, "tile", op_kind::injective, 2, 2),
    detail::other(opcode::pad, "pad", op_kind::injective, 1, 4, detail::pad_parameters),
    detail::other(opcode::trilu, "trilu", op_kind::injective, 1, 2),
    detail::other(opcode::one_hot, "one_hot", op_kind::injective, 3, 3, detail::last_axis_parameters),
    detail::other(opcode::non_zero, "non_zero", op_kind::opaque, 1, 1),
    detail::other(opcode::cumulative_sum, "cumulative_sum", op_kind::opaque, 2, 2),
    detail::with_results(2, detail::other(opcode::top_k, "top_k", op_kind::opaque, 1, 2, detail::last_axis_parameters)),
    detail::other(opcode::depth_to_space, "depth_to_space", op_kind::injective, 1, 1),
    detail::other(opcode::space_to_depth, "space_to_depth", op_kind::injective, 1, 1),
    detail::other(opcode::reverse_sequence, "reverse_sequence", op_kind::opaque, 2, 2),
    detail::other(opcode::eye_like, "eye_like", op_kind::opaque, 1, 1),
    detail::other(opcode::opaque_layout, "opaque_layout", op_kind::opaque, 1, -1),
    detail::reduction(opcode::mean, "mean"),
    detail::reduction(opcode::sum, "sum"),
    detail::reduction(opcode::product, "product"),
    detail::reduction(opcode::reduce_max, "reduce_max"),
    detail::reduction(opcode::reduce_min, "reduce_min"),
    detail::reduction(opcode::sum_square, "sum_square"),
    detail::reduction(opcode::l1_norm, "l1_norm"),
    detail::reduction(opcode::l2_norm, "l2_norm"),
    detail::reduction(opcode::log_sum, "log_sum"),
    detail::reduction(opcode::log_sum_exp, "log_sum_exp"),
    detail::other(opcode::arg_max, "arg_max", op_kind::reduction, 1, 1, detail::first_axis_parameters),
    detail::other(opcode::arg_min, "arg_min", op_kind::reduction, 1, 1, detail::first_axis_parameters),
    detail::other(opcode::matmul, "matmul", op_kind::anchor, 2, 2),
    detail::other(opcode::gemm, "gemm", op_kind::anchor, 2, 3, detail::gemm_parameters),
    detail::other(opcode::linear, "linear", op_kind::anchor, 2, 3),  // x w^T + b: rows of any x, by the rows of w
    detail::other(opcode::einsum, "einsum", op_kind::anchor, 1, -1),
    detail::other(opcode::matmul_integer, "matmul_integer", op_kind::anchor, 2, 4),
    detail::other(opcode::conv, "conv", op_kind::anchor, 2, 3, detail::conv_parameters),
    detail::other(opcode::conv_transpose, "conv_transpose", op_kind::anchor, 2, 3, detail::conv_parameters),
    detail::other(opcode::conv_integer, "conv_integer", op_kind::anchor, 2, 4),
    detail::other(opcode::max_pool, "max_pool", op_kind::anchor, 1, 1, detail::max_pool_parameters),
    detail::other(opcode::average_pool, "average_pool", op_kind::anchor, 1, 1, detail::average_pool_parameters),
    detail::other(opcode::global_max_pool, "global_max_pool", op_kind::reduction, 1, 1),
    detail::other(opcode::resize, "resize", op_kind::opaque, 1, 4),
    detail::other(opcode::fused_matmul, "fused_matmul", op_kind::anchor, 2, 2),
    detail::other(opcode::qlinear_matmul, "qlinear_matmul", op_kind::anchor, 8, 8),
    detail::other(opcode::qlinear_conv, "qlinear_conv", op_kind::anchor, 8, 9),
    detail::other(opcode::lstm, "lstm", op_kind::opaque, 3, 8),
    detail::other(opcode::gru, "gru", op_kind::opaque, 3, 6),
    detail::other(opcode::rnn, "rnn", op_kind::opaque, 3, 6),
    detail::same_shape_reduction(opcode::softmax, "softmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::log_softmax, "log_softmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::batch_norm, "batch_norm", 5, 5, detail::batch_norm_parameters),
    detail::same_shape_reduction(opcode::instance_norm, "instance_norm", 3, 3, detail::instance_norm_parameters),
    detail::same_shape_reduction(opcode::group_norm, "group_norm", 3, 3, detail::group_norm_parameters),
    detail::same_shape_reduction(opcode::layer_norm, "layer_norm", 1, 3, detail::norm_parameters, 0b110),
    detail::same_shape_reduction(opcode::rms_norm, "rms_norm", 1, 2, detail::norm_parameters, 0b10),
    detail::same_shape_reduction(opcode::skip_layer_norm, "skip_layer_norm", 3, 5, detail::norm_parameters, 0b1100),
    detail::same_shape_reduction(opcode::skip_rms_norm, "skip_rms_norm", 3, 4, detail::norm_parameters, 0b100),
    detail::with_results(2, detail::other(opcode::embed_layer_norm, "embed_layer_norm", op_kind::reduction, 1, 9, detail::embedding_parameters)),
    detail::with_results(2, detail::other(opcode::qembed_layer_norm, "qembed_layer_norm", op_kind::reduction, 1, 18, detail::embedding_parameters)),
    detail::other(opcode::rotary_embedding, "rotary_embedding", op_kind::injective, 3, 4, detail::rotary_parameters),
    detail::other(opcode::rotary_embedding_at, "rotary_embedding_at", op_kind::injective, 4, 4, detail::rotary_parameters),
    detail::other(opcode::attention, "attention", op_kind::anchor, 3, 7, detail::attention_parameters),
    detail::other(opcode::multi_head_attention, "multi_head_attention", op_kind::anchor, 1, 10, detail::multi_head_attention_parameters),
    detail::same_shape_reduction(opcode::hardmax, "hardmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::lp_normalization, "lp_normalization", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::mean_variance_norm, "mean_variance_norm", 1, 1, {}),
    detail::same_shape_reduction(opcode::local_response_norm, "local_response_norm", 1, 1, {}),
    detail::other(opcode::quantize, "quantize", op_kind::elementwise, 2, 3),
    detail::other(opcode::dequantize, "dequantize", op_kind::elementwise, 2, 3),
    detail::with_results(3, detail::other(opcode::dynamic_quantize, "dynamic_quantize", op_kind::opaque, 1, 1)),
    detail::other(opcode::if_else, "if_else", op_kind::opaque, 1, 1),
    detail::other(opcode::loop, "loop", op_kind::opaque, 2, -1),
    detail::other(opcode::scan, "scan", op_kind::opaque, 1, -1),
    detail::binary(opcode::bit_shift, "bit_shift", false),
    detail::binary(opcode::swiglu, "swiglu", false),
    detail::other(opcode::cumulative_product, "cumulative_product", op_kind::opaque, 2, 2),
    detail::other(opcode::compress, "compress", op_kind::opaque, 2, 2),
    detail::other(opcode::lp_pool, "lp_pool", op_kind::anchor, 1, 1, detail::pool_parameters),
    detail::other(opcode::global_lp_pool, "global_lp_pool", op_kind::reduction, 1, 1),
    detail::other(opcode::tensor_scatter, "tensor_scatter", op_kind::opaque, 2, 3),
    detail::other(opcode::causal_conv, "causal_conv", op_kind::anchor, 2, 4),
    detail::other(opcode::linear_attention, "linear_attention", op_kind::anchor, 3, 6),
    detail::other(opcode::nll_loss, "nll_loss", op_kind::opaque, 2, 3),
    detail::other(opcode::cross_entropy_loss, "cross_entropy_loss", op_kind::opaque, 2, 3),
};

namespace detail {

struct operator_rows {
  std::uint8_t row[static_cast<std::size_t>(opcode::count_)]{};  // 1-based; 0 is opaque
};
inline constexpr operator_rows rows_by_opcode = [] {
  operator_rows rows;
  std::uint8_t at = 0;
  for (auto const& info : operator_table) rows.row[static_cast<std::size_t>(info.op)] = ++at;
  return rows;
}();
inline constexpr operator_info opaque_operator{opcode::opaque, "opaque"};

}  // namespace detail

[[nodiscard]] constexpr operator_info const& info(opcode op) {
  auto const row = detail::rows_by_opcode.row[static_cast<std::size_t>(op)];
  return row == 0 ? detail::opaque_operator : operator_table[row - 1];
}

[[nodiscard]] constexpr std::string_view name_of(opcode op) { return info(op).name; }

[[nodiscard]] constexpr bool is_view(opcode op) {
  return op == opcode::reshape || op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::flatten ||
         op == opcode::identity;
}

[[nodiscard]] constexpr bool is_nothing_of_nothing(opcode op) {
  return op == opcode::cast || op == opcode::where || op == opcode::expand;
}

[[nodiscard]] constexpr bool has_set_of_axes(opcode op) {
  return op == opcode::squeeze || op == opcode::unsqueeze || info(op).shape == shape_function::reduce;
}

struct row_names {
  int table = -1;
  bool from_end = false;
};
[[nodiscard]] constexpr row_names rows_named_by(opcode op, std::size_t operand) {
  switch (op) {
    case opcode::gather: return operand == 1 ? row_names{0, true} : row_names{};
    case opcode::embed_layer_norm:
      if (operand == 8) return {3};
      [[fallthrough]];
    case opcode::qembed_layer_norm: return operand == 0 ? row_names{2} : operand == 1 ? row_names{4} : row_names{};
    default: return {};
  }
}

[[nodiscard]] constexpr int number_beside(opcode op, std::size_t i) {
  return op == opcode::qembed_layer_norm && i > 12 ? 2 : -1;  // zero points, beside tables
}

[[nodiscard]] constexpr parameter_info const* parameter_of(opcode op, std::string_view name) {
  for (auto const& p : info(op).parameters)
    if (p.name == name) return &p;
  return nullptr;
}
[[nodiscard]] constexpr parameter_info const* parameter_named(std::string_view name) {
  for (auto const& row : operator_table)
    if (auto const* found = parameter_of(row.op, name); found != nullptr) return found;
  return nullptr;
}

[[nodiscard]] constexpr opcode op_named(std::string_view name) {
  for (auto const& row : operator_table)
    if (row.name == name) return row.op;
  return opcode::opaque;
}

}  // namespace fuse::inline v0

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0 {

enum class term_kind : std::uint8_t {
  none,
  capture,       ///< var<"x">
  scalar,        ///< scalar<"epsilon">: a constant with one element
  rest,          ///< rest<"scale">: whatever operands are left
  parameter,     ///< param<"axes">: captures a parameter
  number,        ///< a constant all of whose elements are one number
  neutral,       ///< an operator by its meaning, with all its spellings
  named,         ///< op<"Name">: as the dialect means that name
  exact,         ///< exactly<"Name">: that node and nothing else
  attribute,     ///< .attr<"axis">(-1)
  alternatives,  ///< either(a, b)
  optional,      ///< optional(a): an operand, factor or addend that may be absent
  wrapped,       ///< with_or_without<"Relu">(a): an operator that may stand around a
  through,       ///< through<"Cast">(a)
  result,        ///< result<1>(a)
  users,         ///< a.users(1)
  known_as,      ///< a.as<"name">()
  roots,         ///< roots(a, b)
  again,         ///< again<"conv">(x, w): that operator with its attributes, on other operands
  fold,          ///< fold(a): computed when the rule is applied
  along,         ///< along<0>(s): inside fold, a constant that lies along that axis
  dimension,     ///< dim<"x", -1>: an extent of what a name captured; with `index` 1 dim<"h">, a captured extent
  list,          ///< list(0, 2, 1): integers, one after the other
  or_else,       ///< or_else(b, 0): what b captured, or 0 where it is absent
  row,           ///< row(scale, x): broadcast to the last axes of x
  no_operand,    ///< none: an operand that is absent
  further,       ///< operands of the operator above, more than a term has room for
  rearranged,    ///< rearrange<"b s d -> b d s">(a); with `index` 1, or 2 by steps, part `number` of `tolerance` parts
  misused,       ///< what stands where it means nothing; `index` says what
};

inline constexpr double usual_tolerance = 1e-6;

enum class misuse : std::uint8_t { attribute_of_no_operator, tolerance_of_no_number, too_many_users, exact_of_no_fold };

struct term {
  term_kind kind;
  std::uint8_t children, attributes;  ///< attributes are the last of the children
  opcode op;
  std::uint16_t index;  ///< result number, number of users
  std::uint8_t child[8];
  static_text name;
  double number, tolerance;

  [[nodiscard]] constexpr int operands() const { return children - attributes; }
  [[nodiscard]] friend constexpr bool operator==(term const& a, term const& b) {
    if (a.kind == b.kind && a.kind <= term_kind::parameter) return a.name == b.name;  // all that counts of these
    if (a.kind != b.kind || a.op != b.op || a.name != b.name || a.children != b.children || a.index != b.index ||
        a.number != b.number || a.tolerance != b.tolerance)
      return false;
    for (int i = 0; i < a.children; ++i)
      if (a.child[i] != b.child[i]) return false;
    return true;
  }
};

struct expression {
  static constexpr std::size_t capacity = 128;
  static constexpr int most_users = 65535;
  template <std::size_t Operands>
  static constexpr bool fits = Operands <= 32;

  term terms[capacity];
  std::uint16_t size;
  bool too_large;  ///< more than `capacity` distinct terms, or more than 8 children of one

  [[nodiscard]] constexpr std::uint8_t root() const { return static_cast<std::uint8_t>(size - 1); }
  [[nodiscard]] constexpr term const& operator[](std::size_t at) const { return terms[at]; }

  constexpr std::uint8_t add(term const& made) {
    auto const at = find(made, 0, size);
    return at < size ? static_cast<std::uint8_t>(at) : append(made);
  }

  constexpr std::uint8_t add(expression const& other) {
    int const before = size, more = other.size;
    if (more == 0) return 0;
    if (more == 1) return add(other.terms[0]);
    if (other.too_large) too_large = true;
    std::uint8_t place[capacity]{};
    int end = before;
    for (int i = 0; i < more; ++i) {
      term moved = other.terms[i];
      int from = 0;
      int const children = moved.children;
      for (int c = 0; c < children; ++c) {
        auto const at = place[moved.child[c]];
        moved.child[c] = at;
        if (at >= from) from = at + 1;
      }
      if (from <= before) {
        auto const at = find(moved, from, before);
        if (at < before) {
          place[i] = static_cast<std::uint8_t>(at);
          continue;
        }
      }
      if (end == capacity) {
        too_large = true;
        return 0;
      }
      place[i] = static_cast<std::uint8_t>(end);
      terms[end++] = moved;
    }
    size = static_cast<std::uint16_t>(end);
    return place[more - 1];
  }

  constexpr std::uint8_t append(term const& made) {
    if (size == capacity) {
      too_large = true;
      return 0;
    }
    terms[size] = made;
    return static_cast<std::uint8_t>(size++);
  }

  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(int value) const;
  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(double value) const;
  template <fixed_string Name>
  [[nodiscard]] constexpr expression attr(expression const& value) const;

  [[nodiscard]] constexpr expression users(int count) const {
    if (count < 0 || count > most_users) return misused(misuse::too_many_users);
    expression counted(term_kind::users, opcode::opaque, {}, *this);
    counted.terms[counted.root()].index = static_cast<std::uint16_t>(count);
    return counted;
  }

  [[nodiscard]] constexpr expression never_negative() const {
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  [[nodiscard]] constexpr expression not_empty() const {
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  [[nodiscard]] constexpr expression exact() const {
    if (terms[root()].kind != term_kind::fold) return misused(misuse::exact_of_no_fold);
    expression changed = *this;
    changed.terms[changed.root()].index = 1;
    return changed;
  }

  template <fixed_string Name>
  [[nodiscard]] constexpr expression as() const;

  [[nodiscard]] constexpr expression within(double tolerance) const {
    if (terms[root()].kind != term_kind::number) return misused(misuse::tolerance_of_no_number);
    expression changed = *this;
    changed.terms[changed.root()].tolerance = tolerance;
    return changed;
  }

  template <class First, class... Others>
  constexpr expression(term_kind kind, opcode op, static_text name, First const& first, Others const&... others)
      : expression(first) {
    constexpr std::size_t operands = 1 + sizeof...(Others);
    static_assert(fits<operands>, "fuse: an operator in a rule takes at most 32 operands");
    if constexpr (operands <= 8)
      append({.kind = kind,
              .children = operands,
              .op = op,
              .child = {static_cast<std::uint8_t>(first.size - 1), add(others)...},
              .name = name});
    else if constexpr (fits<operands>)
      append_many({.kind = kind, .op = op, .name = name}, {static_cast<std::uint8_t>(first.size - 1), add(others)...});
  }
  template <class... Operands>
  explicit constexpr expression(opcode op, Operands const&... operands)
      : expression(term_kind::neutral, op, {}, operands...) {}
  constexpr expression(term_kind kind, opcode op, static_text name)
      : terms{{.kind = kind, .op = op, .name = name}}, size(1), too_large(false) {}

  constexpr expression(double value)
      : terms{{.kind = term_kind::number, .number = value, .tolerance = usual_tolerance}}, size(1), too_large(false) {}
  constexpr expression() : terms{}, size(0), too_large(false) {}

 private:
  [[nodiscard]] constexpr expression misused(misuse what) const {
    expression changed = *this;
    auto& made = changed.terms[changed.root()];
    made.kind = term_kind::misused;
    made.index = static_cast<std::uint16_t>(what);
    return changed;
  }

  template <std::size_t Children>
  constexpr void append_many(term made, std::uint8_t const (&children)[Children]) {
    made.child[made.children++] = children[0];
    made.child[made.children++] = children[1];
    for (std::size_t at = 2; at < Children;) {
      term further{};
      further.kind = term_kind::further;
      while (further.children < 8 && at < Children) further.child[further.children++] = children[at++];
      made.child[made.children++] = add(further);
    }
    append(made);
  }

  [[nodiscard]] constexpr int find(term const& wanted, int from, int end) const {
    auto const kind = wanted.kind;
    auto const op = wanted.op;
    while (from < end && !(terms[from].kind == kind && terms[from].op == op && terms[from] == wanted)) ++from;
    return from;
  }

  [[nodiscard]] constexpr expression with_attribute(term const& made, expression const& value) const {
    expression changed = *this;
    term node = terms[root()];
    if (node.kind != term_kind::neutral && node.kind != term_kind::named && node.kind != term_kind::exact &&
        node.kind != term_kind::again)
      return misused(misuse::attribute_of_no_operator);
    --changed.size;
    term holder = made;
    if (value.size != 0) {
      holder.child[0] = changed.add(value);
      holder.children = 1;
    }
    if (node.children == 8)
      changed.too_large = true;
    else
      node.child[node.children++] = changed.add(holder), ++node.attributes;
    changed.append(node);
    return changed;
  }
};

namespace detail {

template <fixed_string Name>
inline constexpr static_text name_text{Name.text, sizeof(Name.text) - 1};

}  // namespace detail

template <fixed_string Name>
constexpr expression expression::as() const {
  return expression(term_kind::known_as, opcode::opaque, detail::name_text<Name>, *this);
}
template <fixed_string Name>
constexpr expression expression::attr(int value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  made.number = value;
  made.index = 1;  // an integer, in a replacement
  return with_attribute(made, {});
}
template <fixed_string Name>
constexpr expression expression::attr(double value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  made.number = value;
  return with_attribute(made, {});
}
template <fixed_string Name>
constexpr expression expression::attr(expression const& value) const {
  term made{};
  made.kind = term_kind::attribute;
  made.name = detail::name_text<Name>;
  return with_attribute(made, value);
}

}  // namespace fuse::inline v0

#pragma GCC diagnostic pop

namespace fuse::inline v0::dsl {

template <fixed_string Name, class... Operands>
[[nodiscard]] constexpr expression again(Operands const&... operands) {
  return expression(term_kind::again, opcode::opaque, fuse::detail::name_text<Name>, operands...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <int Axis>
[[nodiscard]] constexpr expression along(expression const& inside) {
  expression made(term_kind::along, opcode::opaque, {}, inside);
  made.terms[made.root()].number = Axis;
  return made;
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Name>
inline constexpr expression var{term_kind::capture, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0 {

enum class element_type : std::uint8_t {
  unknown = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  other =
      17,  ///< known to the graph, not to fuse (8-bit floats, 4-bit integers, sequences): equal to nothing but itself
};

[[nodiscard]] constexpr std::size_t size_of(element_type type) {
  switch (type) {
    case element_type::uint8:
    case element_type::int8:
    case element_type::boolean: return 1;
    case element_type::uint16:
    case element_type::int16:
    case element_type::float16:
    case element_type::bfloat16: return 2;
    case element_type::float32:
    case element_type::int32:
    case element_type::uint32: return 4;
    case element_type::float64:
    case element_type::int64:
    case element_type::uint64:
    case element_type::complex64: return 8;
    case element_type::complex128: return 16;
    default: return 0;
  }
}

[[nodiscard]] constexpr std::string_view name_of(element_type type) {
  constexpr std::string_view names[] = {"unknown", "float32", "uint8",     "int8",       "uint16",   "int16",
                                        "int32",   "int64",   "string",    "boolean",    "float16",  "float64",
                                        "uint32",  "uint64",  "complex64", "complex128", "bfloat16", "other"};
  return names[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr bool is_floating(element_type type) {
  return type == element_type::float32 || type == element_type::float16 || type == element_type::float64 ||
         type == element_type::bfloat16;
}

[[nodiscard]] constexpr bool is_integer(element_type type) {
  return type == element_type::uint8 || type == element_type::int8 || type == element_type::uint16 ||
         type == element_type::int16 || type == element_type::int32 || type == element_type::int64 ||
         type == element_type::uint32 || type == element_type::uint64;
}

[[nodiscard]] constexpr bool is_unsigned(element_type type) {
  return type == element_type::uint8 || type == element_type::uint16 || type == element_type::uint32 ||
         type == element_type::uint64;
}

[[nodiscard]] constexpr bool widens(element_type from, element_type to) {
  if (from == to) return is_floating(from);
  if (!is_floating(from) || !is_floating(to)) return false;
  return size_of(from) < size_of(to);
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

namespace detail {

[[nodiscard]] constexpr double half_to_double(std::uint16_t bits) {
  double const sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  int const exponent = (bits >> 10) & 0x1f;
  double const fraction = static_cast<double>(bits & 0x3ffu);
  if (exponent == 31) {
    auto const special = fraction == 0 ? 0x7ff0000000000000u : 0x7ff8000000000000u;
    return sign * std::bit_cast<double>(special);
  }
  double scale = exponent == 0 ? 1.0 / 16777216.0 : 1.0 / 33554432.0;  // 2^-24, 2^-25
  for (int i = 0; i < exponent; ++i) scale *= 2;
  return sign * (exponent == 0 ? fraction : fraction + 1024.0) * scale;
}

[[nodiscard]] inline std::uint16_t double_to_half(double value) {
  auto const bits = std::bit_cast<std::uint64_t>(value);
  auto const sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000u);
  double const magnitude = value < 0 ? -value : value;
  if (!(magnitude == magnitude)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00u);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent < -14) exponent = -14;
  double unit = 1.0 / 1024.0;  // distance of neighbours at exponent 0
  for (int i = exponent; i < 0; ++i) unit /= 2;
  for (int i = 0; i < exponent; ++i) unit *= 2;
  double const quotient = magnitude / unit;  // exact: unit is a power of two
  auto whole = static_cast<std::uint32_t>(quotient);
  double const rest = quotient - whole;
  if (rest > 0.5 || (rest == 0.5 && (whole & 1u) != 0)) ++whole;
  std::uint32_t const field = whole < 1024 ? whole : whole + static_cast<std::uint32_t>(exponent + 14) * 1024;
  return static_cast<std::uint16_t>(sign | field);
}

[[nodiscard]] inline std::uint16_t float_to_bfloat16(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

struct tensor_view {
  element_type type = element_type::unknown;
  span<std::int64_t const> shape{};
  span<std::byte const> bytes{};

  [[nodiscard]] std::size_t size() const { return size_of(type) == 0 ? 0 : bytes.size() / size_of(type); }

  [[nodiscard]] explicit operator bool() const { return type != element_type::unknown; }

  template <class T>
  [[nodiscard]] T raw(std::size_t i) const {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    return element;
  }

  [[nodiscard]] double number(std::size_t i) const {
    switch (type) {
      case element_type::float32: return static_cast<double>(raw<float>(i));
      case element_type::float64: return raw<double>(i);
      case element_type::float16: return detail::half_to_double(raw<std::uint16_t>(i));
      case element_type::bfloat16:
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw<std::uint16_t>(i)) << 16));
      case element_type::uint64: return static_cast<double>(raw<std::uint64_t>(i));
      case element_type::complex64:
      case element_type::complex128:
      case element_type::string:
      case element_type::unknown:
      case element_type::other: return std::bit_cast<double>(std::uint64_t{0x7ff8000000000000u});
      default: return static_cast<double>(integer(i));
    }
  }

  [[nodiscard]] std::int64_t integer(std::size_t i) const {
    switch (type) {
      case element_type::int64: return raw<std::int64_t>(i);
      case element_type::int32: return raw<std::int32_t>(i);
      case element_type::int16: return raw<std::int16_t>(i);
      case element_type::int8: return raw<std::int8_t>(i);
      case element_type::uint64: return static_cast<std::int64_t>(raw<std::uint64_t>(i));
      case element_type::uint32: return raw<std::uint32_t>(i);
      case element_type::uint16: return raw<std::uint16_t>(i);
      case element_type::uint8:
      case element_type::boolean: return raw<std::uint8_t>(i);
      default: return 0;
    }
  }
};

namespace detail {

[[nodiscard]] inline bool same_contents(tensor_view const& a, tensor_view const& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size() || a.bytes.size() != b.bytes.size()) return false;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != b.shape[i]) return false;
  return a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

}  // namespace detail

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct tensor {
  element_type type = element_type::unknown;
  std::vector<std::int64_t> shape{};
  std::vector<std::byte> bytes{};

  operator tensor_view() const { return {type, shape, bytes}; }

  [[nodiscard]] std::size_t size() const { return tensor_view(*this).size(); }
  [[nodiscard]] double number(std::size_t i) const { return tensor_view(*this).number(i); }

  friend bool operator==(tensor const&, tensor const&) = default;
};

namespace detail {

template <class T>
[[nodiscard]] constexpr element_type element_type_of() {
  static_assert(std::is_arithmetic_v<T>, "fuse: elements of a tensor are numbers");
  if constexpr (std::is_same_v<T, bool>) return element_type::boolean;
  if constexpr (std::is_same_v<T, float>) return element_type::float32;
  if constexpr (std::is_same_v<T, double>) return element_type::float64;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1   ? element_type::int8
           : sizeof(T) == 2 ? element_type::int16
           : sizeof(T) == 4 ? element_type::int32
                            : element_type::int64;
  if constexpr (std::is_integral_v<T> && !std::is_signed_v<T> && !std::is_same_v<T, bool>)
    return sizeof(T) == 1   ? element_type::uint8
           : sizeof(T) == 2 ? element_type::uint16
           : sizeof(T) == 4 ? element_type::uint32
                            : element_type::uint64;
}

[[nodiscard]] inline std::uint16_t double_to_bfloat16(double number) {
  auto nearest = static_cast<float>(number);
  if (static_cast<double>(nearest) != number && number == number) {
    bool const away = number < 0 ? static_cast<double>(nearest) < number : static_cast<double>(nearest) > number;
    nearest = std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (away ? 1u : 0u)) | 1u);
  }
  return float_to_bfloat16(nearest);
}

template <class T>
void append_bytes(std::vector<std::byte>& into, T element) {
  auto const at = into.size();
  into.resize(at + sizeof(T));
  std::memcpy(into.data() + at, &element, sizeof(T));
}

}  // namespace detail

template <class T>
[[nodiscard]] tensor make_tensor(std::vector<std::int64_t> shape, span<T const> elements) {
  auto const* first = reinterpret_cast<std::byte const*>(elements.data());
  return {detail::element_type_of<T>(), std::move(shape), {first, first + elements.size_bytes()}};
}

[[nodiscard]] inline tensor make_tensor(element_type type, std::vector<std::int64_t> shape,
                                        span<double const> numbers) {
  tensor made{type, std::move(shape), {}};
  made.bytes.reserve(numbers.size() * size_of(type));
  for (double const number : numbers) {
    switch (type) {
      case element_type::float64: detail::append_bytes(made.bytes, number); break;
      case element_type::float32: detail::append_bytes(made.bytes, static_cast<float>(number)); break;
      case element_type::float16: detail::append_bytes(made.bytes, detail::double_to_half(number)); break;
      case element_type::bfloat16: detail::append_bytes(made.bytes, detail::double_to_bfloat16(number)); break;
      case element_type::int64: detail::append_bytes(made.bytes, static_cast<std::int64_t>(number)); break;
      case element_type::int32: detail::append_bytes(made.bytes, static_cast<std::int32_t>(number)); break;
      case element_type::int16: detail::append_bytes(made.bytes, static_cast<std::int16_t>(number)); break;
      case element_type::int8: detail::append_bytes(made.bytes, static_cast<std::int8_t>(number)); break;
      case element_type::uint64: detail::append_bytes(made.bytes, static_cast<std::uint64_t>(number)); break;
      case element_type::uint32: detail::append_bytes(made.bytes, static_cast<std::uint32_t>(number)); break;
      case element_type::uint16: detail::append_bytes(made.bytes, static_cast<std::uint16_t>(number)); break;
      case element_type::uint8: detail::append_bytes(made.bytes, static_cast<std::uint8_t>(number)); break;
      case element_type::boolean: detail::append_bytes(made.bytes, static_cast<std::uint8_t>(number != 0)); break;
      default: return {};
    }
  }
  return made;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct opaque_attribute {};
using attribute_view = std::variant<std::monostate, std::int64_t, double, std::string_view, span<std::int64_t const>,
                                    span<float const>, tensor_view, opaque_attribute>;

struct attribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, tensor> content;

  friend bool operator==(attribute const&, attribute const&) = default;
};

[[nodiscard]] inline attribute_view view_of(attribute const& a) {
  struct reader {
    attribute_view operator()(std::int64_t x) const { return x; }
    attribute_view operator()(double x) const { return x; }
    attribute_view operator()(std::string const& x) const { return std::string_view(x); }
    attribute_view operator()(std::vector<std::int64_t> const& x) const { return span<std::int64_t const>(x); }
    attribute_view operator()(tensor const& x) const { return tensor_view(x); }
  };
  return std::visit(reader{}, a.content);
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct dimension {
  std::int64_t extent = -1;
  std::string_view symbol{};
};

template <class Value>
struct new_node {
  std::string_view
      op;  ///< name in the graph's dialect, with its domain where the dialect writes one ("com.microsoft::Gelu")
  span<Value const> operands;
  span<attribute const> attributes;
  span<element_type const> result_types;  ///< one per result; `unknown` marks a result that nobody uses
  std::string_view origin;                ///< name of the node that it replaces, for whoever names nodes
};

struct function_body {
  struct step {
    std::string op;
    std::vector<std::string> operands, results;
    std::vector<attribute> attributes;
    std::vector<std::pair<std::string, std::string>>
        references;  ///< attribute of the step <- attribute of the function

    friend bool operator==(step const&, step const&) = default;
  };
  std::string name;  ///< with its domain: "fuse::RMSNormalization_scale"
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<step> steps;

  friend bool operator==(function_body const&, function_body const&) = default;
};

template <class Graph>
struct graph_traits;

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

template <class G>
using node_of = typename graph_traits<std::remove_const_t<G>>::node;
template <class G>
using value_of = typename graph_traits<std::remove_const_t<G>>::value;

namespace detail {

template <class R, class T>
concept range_of = requires(R&& range) {
  { *std::begin(range) } -> std::convertible_to<T>;
  std::begin(range) != std::end(range);
};

template <class G>
concept has_handles = requires {
  typename graph_traits<G>::node;
  typename graph_traits<G>::value;
  requires std::regular<typename graph_traits<G>::node>;
  requires std::regular<typename graph_traits<G>::value>;
};
template <class G>
concept has_nodes = requires(G const& g) {
  { graph_traits<G>::nodes(g) } -> range_of<node_of<G>>;
};
template <class G>
concept has_op_name = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::op_name(g, n) } -> std::convertible_to<std::string_view>;
};
template <class G>
concept has_operands = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::operands(g, n) } -> range_of<value_of<G>>;
};
template <class G>
concept has_results = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::results(g, n) } -> range_of<value_of<G>>;
};
template <class G>
concept has_producer = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::producer(g, v) } -> std::convertible_to<node_of<G>>;
};
template <class G>
concept has_outputs = requires(G const& g) {
  { graph_traits<G>::outputs(g) } -> range_of<value_of<G>>;
};
template <class G>
concept has_insert = requires(G& g, node_of<G> n, new_node<value_of<G>> const& made) {
  { graph_traits<G>::insert(g, n, made) } -> std::convertible_to<node_of<G>>;
};
template <class G>
concept has_replace_uses = requires(G& g, value_of<G> v) {
  { graph_traits<G>::replace_uses(g, v, v) } -> std::same_as<void>;
};
template <class G>
concept has_erase = requires(G& g, node_of<G> n) {
  { graph_traits<G>::erase(g, n) } -> std::same_as<void>;
};
template <class G>
concept has_users = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::users(g, v) } -> range_of<node_of<G>>;
};
template <class G>
concept has_inputs = requires(G const& g) {
  { graph_traits<G>::inputs(g) } -> range_of<value_of<G>>;
};
template <class G>
concept has_version = requires(G const& g) {
  { graph_traits<G>::version(g) } -> std::convertible_to<int>;
};
template <class G>
concept has_constant = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::constant(g, v) } -> std::convertible_to<tensor_view>;
};
template <class G>
concept has_overridable = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::overridable(g, v) } -> std::convertible_to<bool>;
};
template <class G>
concept has_add_constant = requires(G& g, tensor_view t, std::string_view origin) {
  { graph_traits<G>::add_constant(g, t, origin) } -> std::convertible_to<value_of<G>>;
};
template <class G>
concept has_type = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::type(g, v) } -> std::convertible_to<element_type>;
};
template <class G>
concept has_shape = requires(G const& g, value_of<G> v, std::vector<dimension>& into) {
  { graph_traits<G>::shape(g, v, into) } -> std::convertible_to<bool>;
};
template <class G>
concept has_attribute = requires(G const& g, node_of<G> n, std::string_view name) {
  { graph_traits<G>::attribute(g, n, name) } -> std::convertible_to<attribute_view>;
};
template <class G>
concept has_same_attributes = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::same_attributes(g, n, n) } -> std::same_as<bool>;
};
template <class G>
concept has_value_name = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::name(g, v) } -> std::convertible_to<std::string>;
};
template <class G>
concept has_node_name = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::name(g, n) } -> std::convertible_to<std::string>;
};
template <class G>
concept has_index = requires(G const& g, value_of<G> v) {
  { graph_traits<G>::index(g, v) } -> std::convertible_to<std::size_t>;
};
template <class G>
concept has_op_key = requires(G const& g, node_of<G> n) {
  { graph_traits<G>::op_key(g, n) } -> std::integral;
};
template <class G>
concept has_bodies = requires(G const& g, node_of<G> n) {
  *std::begin(graph_traits<G>::bodies(g, n));
  graph_traits<G>::nodes(g, *std::begin(graph_traits<G>::bodies(g, n)));
  graph_traits<G>::inputs(g, *std::begin(graph_traits<G>::bodies(g, n)));
  graph_traits<G>::outputs(g, *std::begin(graph_traits<G>::bodies(g, n)));
};
template <class G>
concept has_functions = requires(G const& g) {
  *std::begin(graph_traits<G>::functions(g));
  graph_traits<G>::nodes(g, *std::begin(graph_traits<G>::functions(g)));
  graph_traits<G>::inputs(g, *std::begin(graph_traits<G>::functions(g)));
  graph_traits<G>::outputs(g, *std::begin(graph_traits<G>::functions(g)));
  { graph_traits<G>::calls(g, *std::begin(graph_traits<G>::functions(g))) } -> range_of<node_of<G>>;
};
template <class G>
concept has_add_constant_inside = requires(G& g, tensor_view t, std::string_view origin) {
  {
    graph_traits<G>::add_constant(g, *std::begin(graph_traits<G>::functions(g)), t, origin)
    } -> std::convertible_to<value_of<G>>;
};
template <class G>
concept has_declare = requires(G& g, function_body const& body) {
  { graph_traits<G>::declare(g, body) } -> std::same_as<bool>;
};

}  // namespace detail

template <class G>
concept readable_graph = detail::has_handles<G> && detail::has_nodes<G> && detail::has_op_name<G> &&
    detail::has_operands<G> && detail::has_results<G> && detail::has_producer<G> && detail::has_outputs<G>;

template <class G>
concept use_tracking_graph = readable_graph<G> && detail::has_users<G>;

template <class G>
concept rewritable_graph =
    readable_graph<G> && detail::has_insert<G> && detail::has_replace_uses<G> && detail::has_erase<G>;

namespace detail {

enum class graph_member : std::uint8_t {
  none,
  handles,
  nodes,
  op_name,
  operands,
  results,
  producer,
  outputs,
  insert,
  replace_uses,
  erase,
  version,
  inputs,
  constant,
  overridable,
  add_constant,
  type,
  shape,
  attribute,
  same_attributes,
  name,
  index,
  op_key,
  users,
  bodies,
  functions,
  declare
};

template <graph_member Missing, graph_member Other>
inline constexpr bool has_member = Missing != Other;

template <class G>
struct member_arguments {
  G const& graph;
  G& edited;
  value_of<G> v;
  node_of<G> n;
  std::string_view text;
  tensor_view contents;
  std::vector<dimension>& into;
  function_body const& body;
};

template <class G>
constexpr graph_member unusable() {
  if constexpr (requires(member_arguments<G> a) { graph_traits<G>::version(a.graph); } && !has_version<G>)
    return graph_member::version;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::inputs(a.graph); } && !has_inputs<G>)
    return graph_member::inputs;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::constant(a.graph, a.v); } && !has_constant<G>)
    return graph_member::constant;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::overridable(a.graph, a.v); } &&
                     !has_overridable<G>)
    return graph_member::overridable;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::add_constant(a.edited, a.contents, a.text); } &&
                     !has_add_constant<G>)
    return graph_member::add_constant;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::type(a.graph, a.v); } && !has_type<G>)
    return graph_member::type;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::shape(a.graph, a.v, a.into); } && !has_shape<G>)
    return graph_member::shape;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::attribute(a.graph, a.n, a.text); } &&
                     !has_attribute<G>)
    return graph_member::attribute;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::same_attributes(a.graph, a.n, a.n); } &&
                     !has_same_attributes<G>)
    return graph_member::same_attributes;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::name(a.graph, a.v); } && !has_value_name<G>)
    return graph_member::name;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::index(a.graph, a.v); } && !has_index<G>)
    return graph_member::index;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::op_key(a.graph, a.n); } && !has_op_key<G>)
    return graph_member::op_key;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::users(a.graph, a.v); } && !has_users<G>)
    return graph_member::users;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::bodies(a.graph, a.n); } && !has_bodies<G>)
    return graph_member::bodies;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::functions(a.graph); } && !has_functions<G>)
    return graph_member::functions;
  else if constexpr (requires(member_arguments<G> a) { graph_traits<G>::declare(a.edited, a.body); } && !has_declare<G>)
    return graph_member::declare;
  else
    return graph_member::none;
}
template <class G>
constexpr graph_member missing_to_read() {
  if constexpr (!has_handles<G>)
    return graph_member::handles;
  else if constexpr (!has_nodes<G>)
    return graph_member::nodes;
  else if constexpr (!has_op_name<G>)
    return graph_member::op_name;
  else if constexpr (!has_operands<G>)
    return graph_member::operands;
  else if constexpr (!has_results<G>)
    return graph_member::results;
  else if constexpr (!has_producer<G>)
    return graph_member::producer;
  else if constexpr (!has_outputs<G>)
    return graph_member::outputs;
  else
    return unusable<std::remove_const_t<G>>();
}
template <class G>
constexpr graph_member missing_to_rewrite() {
  if constexpr (missing_to_read<G>() != graph_member::none)
    return missing_to_read<G>();
  else if constexpr (!has_insert<G>)
    return graph_member::insert;
  else if constexpr (!has_replace_uses<G>)
    return graph_member::replace_uses;
  else if constexpr (!has_erase<G>)
    return graph_member::erase;
  else
    return graph_member::none;
}

template <class G, graph_member Missing>
struct graph_traits_lack {
  static_assert(has_member<Missing, graph_member::handles>,
                "fuse: graph_traits<G> must define regular types 'node' and 'value'");
  static_assert(has_member<Missing, graph_member::nodes>,
                "fuse: graph_traits<G>::nodes(g) must return a range of nodes");
  static_assert(has_member<Missing, graph_member::op_name>,
                "fuse: graph_traits<G>::op_name(g, node) must return a name convertible to std::string_view");
  static_assert(has_member<Missing, graph_member::operands>,
                "fuse: graph_traits<G>::operands(g, node) must return a range of values");
  static_assert(has_member<Missing, graph_member::results>,
                "fuse: graph_traits<G>::results(g, node) must return a range of values");
  static_assert(has_member<Missing, graph_member::producer>,
                "fuse: graph_traits<G>::producer(g, value) must return a node");
  static_assert(has_member<Missing, graph_member::outputs>,
                "fuse: graph_traits<G>::outputs(g) must return a range of values");
  static_assert(has_member<Missing, graph_member::insert>,
                "fuse: graph_traits<G>::insert(g, place, new_node<value>) must return the new node");
  static_assert(has_member<Missing, graph_member::replace_uses>,
                "fuse: graph_traits<G>::replace_uses(g, from, to) must exist and return void");
  static_assert(has_member<Missing, graph_member::erase>,
                "fuse: graph_traits<G>::erase(g, node) must exist and return void");
  static_assert(has_member<Missing, graph_member::version>, "fuse: graph_traits<G>::version(g) must return an int");
  static_assert(has_member<Missing, graph_member::inputs>,
                "fuse: graph_traits<G>::inputs(g) must return a range of values");
  static_assert(has_member<Missing, graph_member::constant>,
                "fuse: graph_traits<G>::constant(g, value) must return a tensor_view");
  static_assert(has_member<Missing, graph_member::overridable>,
                "fuse: graph_traits<G>::overridable(g, value) must return a bool");
  static_assert(has_member<Missing, graph_member::add_constant>,
                "fuse: graph_traits<G>::add_constant(g, tensor_view, origin) must return the new value");
  static_assert(has_member<Missing, graph_member::type>,
                "fuse: graph_traits<G>::type(g, value) must return an element_type");
  static_assert(has_member<Missing, graph_member::shape>,
                "fuse: graph_traits<G>::shape(g, value, std::vector<dimension>&) must return a bool");
  static_assert(has_member<Missing, graph_member::attribute>,
                "fuse: graph_traits<G>::attribute(g, node, name) must return an attribute_view");
  static_assert(has_member<Missing, graph_member::same_attributes>,
                "fuse: graph_traits<G>::same_attributes(g, node, node) must return a bool");
  static_assert(has_member<Missing, graph_member::name>,
                "fuse: graph_traits<G>::name(g, value) must return a std::string");
  static_assert(has_member<Missing, graph_member::index>,
                "fuse: graph_traits<G>::index(g, value) must return a std::size_t");
  static_assert(has_member<Missing, graph_member::op_key>,
                "fuse: graph_traits<G>::op_key(g, node) must return an integer");
  static_assert(has_member<Missing, graph_member::users>,
                "fuse: graph_traits<G>::users(g, value) must return a range of nodes");
  static_assert(has_member<Missing, graph_member::bodies>,
                "fuse: graph_traits<G>::bodies(g, node) must return a range of bodies, which have nodes(g, body), "
                "inputs and outputs");
  static_assert(has_member<Missing, graph_member::functions>,
                "fuse: graph_traits<G>::functions(g) must return a range of bodies, which have nodes(g, body), inputs, "
                "outputs and calls(g, body), a range of nodes");
  static_assert(has_member<Missing, graph_member::declare>,
                "fuse: graph_traits<G>::declare(g, function_body const&) must return a bool");
};

template <class G>
using require_readable = graph_traits_lack<G, missing_to_read<G>()>;
template <class G>
using require_rewritable = graph_traits_lack<G, missing_to_rewrite<G>()>;

}  // namespace detail
}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

class plain_memory {
 protected:
  plain_memory() = default;
  plain_memory(plain_memory const&) = delete;
  plain_memory& operator=(plain_memory const&) = delete;
  ~plain_memory() { ::operator delete(bytes_); }

  void make_room(std::size_t used, std::size_t wanted, std::size_t each) {
    auto const room = wanted < 2 * room_ ? 2 * room_ : wanted;
    auto* const made = ::operator new(each* room);
    if (used != 0) std::memcpy(made, bytes_, used * each);
    ::operator delete(bytes_);
    bytes_ = made;
    room_ = room;
  }
  void swap(plain_memory& other) {
    auto* const bytes = bytes_;
    auto const room = room_;
    bytes_ = other.bytes_, room_ = other.room_;
    other.bytes_ = bytes, other.room_ = room;
  }

  void* bytes_ = nullptr;
  std::size_t room_ = 0;  ///< in elements
};

template <class T>
class plain_vector : plain_memory {
 public:
  using value_type = T;

  plain_vector() = default;
  explicit plain_vector(std::size_t size) { resize(size); }
  plain_vector(std::size_t size, T const& each) { resize(size, each); }
  plain_vector(plain_vector const& other) : plain_memory() { append(other); }
  plain_vector(plain_vector&& other) noexcept { swap(other); }
  plain_vector& operator=(plain_vector const& other) {
    if (this == &other) return *this;
    clear();
    append(other);
    return *this;
  }
  plain_vector& operator=(plain_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  void swap(plain_vector& other) noexcept {
    plain_memory::swap(other);
    auto const size = size_;
    size_ = other.size_;
    other.size_ = size;
  }

  [[nodiscard]] T* data() { return static_cast<T*>(bytes_); }
  [[nodiscard]] T const* data() const { return static_cast<T const*>(bytes_); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T const* begin() const { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] T const* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t at) { return data()[at]; }
  [[nodiscard]] T const& operator[](std::size_t at) const { return data()[at]; }
  [[nodiscard]] T& front() { return data()[0]; }
  [[nodiscard]] T const& front() const { return data()[0]; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] T const& back() const { return data()[size_ - 1]; }

  void push_back(T added) {  // by value: it may be one of these elements
    reserve(size_ + 1);
    ::new (static_cast<void*>(data() + size_++)) T(added);
  }
  T& emplace_back() {
    push_back(T{});
    return back();
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void reserve(std::size_t wanted) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (wanted > room_) make_room(size_, wanted, sizeof(T));
  }
  void resize(std::size_t size) { resize(size, T{}); }
  void resize(std::size_t size, T each) {
    reserve(size);
    for (auto i = size_; i < size; ++i) ::new (static_cast<void*>(data() + i)) T(each);
    size_ = size;
  }
  void assign(std::size_t size, T each) {
    clear();
    resize(size, each);
  }
  void assign(span<T const> elements) {
    clear();
    append(elements);
  }
  void append(span<T const> added) {
    reserve(size_ + added.size());
    if (!added.empty()) std::memcpy(static_cast<void*>(data() + size_), added.data(), added.size_bytes());
    size_ += added.size();
  }
  void erase_first(std::size_t count) {
    size_ -= count;
    if (size_ != 0) std::memmove(bytes_, data() + count, size_ * sizeof(T));
  }
  template <class Is>
  void erase_if(Is const& is) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (!is(data()[i])) data()[kept++] = data()[i];
    size_ = kept;
  }

 private:
  std::size_t size_ = 0;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

using node_id = std::uint32_t;
using value_id = std::uint32_t;
inline constexpr std::uint32_t absent = 0xffffffffu;

struct operator_tag {
  std::uint16_t name = 0;
  std::uint16_t op = 0;
};

class graph_source;

struct operator_names {
  struct found {
    operator_tag tag;
    bool by_node = false;  ///< nodes of this name may have other tags, which `settle` tells
  };
  found (*find)(void const* context, std::string_view name, int version) = nullptr;
  operator_tag (*settle)(void const* context, operator_tag tag, int version, graph_source const& graph, node_id n,
                         std::uint32_t results) = nullptr;
  void const* context = nullptr;
};

template <class Graph>
[[nodiscard]] void const* graph_type_of() {
  static constexpr char mark = 0;
  return &mark;
}

class graph_source {
 public:
  graph_source() = default;
  graph_source(graph_source const&) = delete;
  graph_source& operator=(graph_source const&) = delete;
  virtual ~graph_source() = default;

  [[nodiscard]] virtual tensor_view constant(value_id) const = 0;
  [[nodiscard]] virtual attribute_view attribute_of(node_id, std::string_view) const = 0;
  [[nodiscard]] virtual bool same_attributes(node_id, node_id) const = 0;
  [[nodiscard]] virtual element_type type(value_id) const = 0;
  [[nodiscard]] virtual bool shape(value_id, std::vector<dimension>&) const = 0;
  [[nodiscard]] virtual std::string_view op_name(node_id) const = 0;
  [[nodiscard]] virtual std::string node_name(node_id) const = 0;
  [[nodiscard]] virtual std::string value_name(value_id) const = 0;
  [[nodiscard]] virtual bool has_shapes() const = 0;  ///< whether the graph type can tell shapes at all
  [[nodiscard]] virtual void const* graph() const = 0;
  [[nodiscard]] virtual void const* graph_type() const { return nullptr; }
  [[nodiscard]] virtual void const* handle(value_id) const { return nullptr; }

  virtual bool insert(node_id place, std::string_view op, span<value_id const> operands,
                      span<attribute const> attributes, span<element_type const> results, std::string_view origin) = 0;
  virtual bool add_constant(std::uint32_t region, tensor_view contents, std::string_view origin) = 0;
  virtual void replace_uses(value_id from, value_id to) = 0;
  virtual void erase(node_id) = 0;
  virtual void forget(node_id first, value_id first_value) = 0;
  virtual bool declare(function_body const&) = 0;
};

template <class Source>
class basic_graph_image {
 public:
  struct node_record {
    operator_tag tag{};
    std::uint16_t operand_count = 0, result_count = 0;
    std::uint32_t first_operand = 0;  ///< slot of operand 0
    value_id first_result = absent;
    std::uint32_t region = 0;  ///< 0 the graph itself, else a body or a function
    bool alive = true;
    bool has_bodies = false;
    std::uint64_t order = 0;                   ///< position: operands have smaller ones
    node_id previous = absent, next = absent;  ///< neighbours in that order
  };
  struct value_record {
    node_id producer = absent;
    std::uint32_t first_use = absent, use_count = 0;
    std::uint32_t region = 0;
    std::uint16_t outputs = 0;     ///< how often it is an output of the graph or of a body
    bool constant = false;         ///< has contents that no caller may override
    mutable bool watched = false;  ///< a condition has looked at who uses it
  };
  struct use_record {
    value_id value = absent;
    node_id node = absent;
    std::uint32_t next = absent, previous = absent;
  };
  struct region_record {
    node_id owner = absent;
    std::uint32_t parent = absent;  ///< the region around it; the graph itself and functions have none
    std::uint32_t first_output = 0, output_count = 0;
  };
  struct function_record {
    std::uint32_t region = 0;
    node_id first_node = absent;              ///< its nodes, those of bodies inside among them, begin here
    detail::plain_vector<value_id> inputs{};  ///< input i is operand i of each call
    detail::plain_vector<node_id> calls{};    ///< all of them; none where not all are known
  };

  int version = 1;
  Source* source = nullptr;

  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }
  [[nodiscard]] std::uint32_t value_count() const { return value_count_; }
  [[nodiscard]] std::uint32_t alive_count() const { return alive_count_; }  ///< nodes that were not erased
  [[nodiscard]] node_id first_node() const { return first_; }               ///< in order; others by `next`
  [[nodiscard]] node_record const& node(node_id n) const { return nodes_[n]; }
  [[nodiscard]] value_record const& value(value_id v) const { return values_[v]; }
  [[nodiscard]] node_id producer(value_id v) const { return values_[v].producer; }
  [[nodiscard]] value_id operand(node_id n, std::uint32_t i) const { return uses_[nodes_[n].first_operand + i].value; }
  [[nodiscard]] value_id result(node_id n, std::uint32_t i = 0) const { return nodes_[n].first_result + i; }
  [[nodiscard]] std::uint32_t result_index(value_id v) const { return v - nodes_[values_[v].producer].first_result; }
  [[nodiscard]] std::uint32_t operand_count(node_id n) const { return nodes_[n].operand_count; }
  [[nodiscard]] use_record const& use_at(std::uint32_t slot) const { return uses_[slot]; }
  [[nodiscard]] span<region_record const> regions() const { return regions_; }
  [[nodiscard]] bool unused(value_id v) const { return values_[v].use_count == 0 && values_[v].outputs == 0; }
  [[nodiscard]] bool used_by(value_id v, std::uint32_t users) const {
    if (v == absent || values_[v].use_count + values_[v].outputs != users) return false;
    auto const n = producer(v);
    for (std::uint32_t k = 0; n != absent && k < nodes_[n].result_count; ++k)
      if (result(n, k) != v && !unused(result(n, k))) return false;
    return true;
  }
  [[nodiscard]] span<value_id const> region_outputs(std::uint32_t region) const {
    return span(region_outputs_).subspan(regions_[region].first_output, regions_[region].output_count);
  }

  [[gnu::always_inline]] void expect_before(node_id n) const {
    auto const& record = nodes_[n];
    if (n >= ahead) __builtin_prefetch(nodes_.data() + (n - ahead));
    if (record.first_operand >= ahead) __builtin_prefetch(uses_.data() + (record.first_operand - ahead));
    if (record.first_result >= ahead) __builtin_prefetch(values_.data() + (record.first_result - ahead));
  }
  static constexpr std::uint32_t ahead = 192;

  template <class Visit>
  void for_each_user(value_id v, Visit&& visit) const {
    for (auto at = values_[v].first_use; at != absent; at = uses_[at].next) visit(uses_[at].node);
  }

  [[nodiscard]] bool visible(std::uint32_t inner, std::uint32_t from) const {
    while (from != inner && from != absent) from = regions_[from].parent;
    return from == inner;
  }
  [[nodiscard]] std::uint32_t scope_of(std::uint32_t region) const {
    while (regions_[region].parent != absent) region = regions_[region].parent;
    return region;
  }
  [[nodiscard]] std::vector<function_record> const& functions() const { return functions_; }

  std::uint32_t add_region(node_id owner, std::uint32_t parent) {
    regions_.push_back({owner, parent, 0, 0});
    return static_cast<std::uint32_t>(regions_.size() - 1);
  }
  void set_region_owner(std::uint32_t at, node_id owner) { regions_[at].owner = owner; }
  void add_function(function_record made) { functions_.push_back(std::move(made)); }

  value_id add_value(std::uint32_t region = 0, node_id producer = absent) {
    auto& made = values_.emplace_back();
    made.region = region;
    made.producer = producer;
    return value_count_++;
  }

  void set_constant(value_id v, bool constant) { values_[v].constant = constant; }
  void add_output(value_id v) { ++values_[v].outputs; }
  void add_region_output(std::uint32_t region, value_id v) {
    if (v != absent) add_output(v);
    auto& record = regions_[region];
    if (record.output_count++ == 0) record.first_output = static_cast<std::uint32_t>(region_outputs_.size());
    region_outputs_.push_back(v);
  }
  void set_has_bodies(node_id n) { nodes_[n].has_bodies = true; }

  node_id add_node(operator_tag tag, std::uint32_t result_count, std::uint32_t region) {
    auto const id = node_count_++;
    ++alive_count_;
    auto& made = nodes_.emplace_back();
    made.tag = tag;
    made.result_count = static_cast<std::uint16_t>(result_count);
    made.region = region;
    made.first_result = value_count_;
    made.first_operand = static_cast<std::uint32_t>(uses_.size());
    for (std::uint32_t i = 0; i < result_count; ++i) add_value(region, id);
    return id;
  }

  void place_last(node_id n) {
    nodes_[n].previous = last_;
    nodes_[n].order = last_ == absent ? gap : nodes_[last_].order + gap;
    (last_ == absent ? first_ : nodes_[last_].next) = n;
    last_ = n;
  }
  void place_before(node_id n, node_id place) {
    auto const previous = nodes_[place].previous;
    auto const low = previous == absent ? 0 : nodes_[previous].order, high = nodes_[place].order;
    nodes_[n].previous = previous;
    nodes_[n].next = place;
    nodes_[place].previous = n;
    (previous == absent ? first_ : nodes_[previous].next) = n;
    nodes_[n].order = low + (high - low) / 2;
    if (high - low > 1) return;
    std::uint64_t order = 0;
    for (auto at = first_; at != absent; at = nodes_[at].next) nodes_[at].order = order += gap;
  }

  void attach_operands(node_id n, span<value_id const> operands) {
    for (auto v : operands) attach_operand(n, v);
  }
  [[gnu::always_inline]] void attach_operand(node_id n, value_id v) {
    auto const slot = static_cast<std::uint32_t>(uses_.size());
    auto& record = nodes_[n];
    if (record.operand_count++ == 0) record.first_operand = slot;
    auto& use = uses_.emplace_back();
    use.value = v;
    use.node = n;
    if (v != absent) link(slot, use, values_[v]);
  }

  void redirect(value_id from, value_id to) {
    auto& source_record = values_[from];
    for (auto at = source_record.first_use; at != absent;) {
      auto const next = uses_[at].next;
      uses_[at].value = to;
      link(at);
      at = next;
    }
    source_record.first_use = absent;
    source_record.use_count = 0;
    values_[to].outputs = static_cast<std::uint16_t>(values_[to].outputs + source_record.outputs);
    source_record.outputs = 0;
  }

  void erase(node_id n) {
    auto& record = nodes_[n];
    for (std::uint32_t i = 0; i < record.operand_count; ++i) {
      auto const slot = record.first_operand + i;
      if (uses_[slot].value != absent) unlink(slot);
      uses_[slot].value = absent;
    }
    record.alive = false;
    --alive_count_;
    take_out(record);
  }

  void pop_node() {
    auto const& record = nodes_.back();
    if (record.next != absent) take_out(record);  // it was given a place
    for (std::uint32_t i = 0; i < record.operand_count; ++i)
      if (uses_[record.first_operand + i].value != absent) unlink(record.first_operand + i);
    uses_.resize(record.first_operand);
    values_.resize(record.first_result);
    value_count_ = record.first_result;
    nodes_.pop_back();
    --node_count_;
    --alive_count_;
  }
  void pop_value() {
    values_.pop_back();
    --value_count_;
  }

  void reserve(std::size_t nodes, std::size_t values, std::size_t uses) {
    nodes_.reserve(nodes);
    values_.reserve(values);
    uses_.reserve(uses);
  }

 private:
  void take_out(node_record const& record) {
    (record.previous == absent ? first_ : nodes_[record.previous].next) = record.next;
    (record.next == absent ? last_ : nodes_[record.next].previous) = record.previous;
  }

  void link(std::uint32_t slot) { link(slot, uses_[slot], values_[uses_[slot].value]); }
  void link(std::uint32_t slot, use_record& use, value_record& of) {
    use.previous = absent;
    use.next = of.first_use;
    if (of.first_use != absent) uses_[of.first_use].previous = slot;
    of.first_use = slot;
    ++of.use_count;
  }
  void unlink(std::uint32_t slot) {
    auto& record = values_[uses_[slot].value];
    auto const [value, node, next, previous] = uses_[slot];
    (previous == absent ? record.first_use : uses_[previous].next) = next;
    if (next != absent) uses_[next].previous = previous;
    --record.use_count;
  }

  static constexpr std::uint64_t gap = std::uint64_t{1} << 24;
  node_id first_ = absent, last_ = absent;
  std::uint32_t node_count_ = 0, value_count_ = 0, alive_count_ = 0;  // a vector would divide
  detail::plain_vector<node_record> nodes_;
  detail::plain_vector<value_record> values_;
  detail::plain_vector<use_record> uses_;
  detail::plain_vector<region_record> regions_{1};
  detail::plain_vector<value_id> region_outputs_;
  std::vector<function_record> functions_;
};
using graph_image = basic_graph_image<graph_source>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_graph_image<graph_source>;
#endif

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr std::uint64_t hashed(std::uint64_t h, std::int64_t item) {
  return mixed(h, static_cast<std::uint64_t>(item));
}
[[nodiscard]] constexpr bool same(std::int64_t a, std::int64_t b) { return a == b; }
[[nodiscard]] constexpr std::uint64_t hashed(std::uint64_t h, double item) {
  return mixed(h, std::bit_cast<std::uint64_t>(item));
}
[[nodiscard]] constexpr bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class T>
class sequence_pool {
 public:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(hashes_.size()); }
  [[nodiscard]] span<T const> operator[](std::uint32_t id) const {
    return {items_.data() + starts_[id], starts_[id + 1] - starts_[id]};
  }

  std::uint32_t keep(span<T const> sequence) {
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
    std::uint64_t h = sequence.size();
    for (auto const& item : sequence) h = hashed(h, item);
    auto const hash = static_cast<std::uint32_t>(h >> 32);
    auto const mask = slots_.size() - 1;
    auto at = hash & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
      if (hashes_[slots_[at] - 1] == hash && holds(slots_[at] - 1, sequence)) return slots_[at] - 1;
    items_.append(sequence);
    starts_.push_back(items_.size());
    hashes_.push_back(hash);
    slots_[at] = count();
    return count() - 1;
  }

 private:
  [[nodiscard]] bool holds(std::uint32_t id, span<T const> sequence) const {
    auto const kept = (*this)[id];
    if (kept.size() != sequence.size()) return false;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!same(kept[i], sequence[i])) return false;
    return true;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
    auto const mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < count(); ++id) {
      auto at = hashes_[id] & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = id + 1;
    }
  }

  plain_vector<T> items_;
  plain_vector<std::size_t> starts_ = plain_vector<std::size_t>(1, 0);  // and behind the last one
  plain_vector<std::uint32_t> hashes_, slots_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  if (b > 0 ? a > most - b : a < least - b) return false;
  sum = a + b;
  return true;
}
[[nodiscard]] constexpr bool checked_multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  if (a != 0 && b != 0) {
    if (a == least || b == least) {
      if (a != 1 && b != 1) return false;
    } else {
      auto const room = most / (b < 0 ? -b : b);
      if (a > room || a < -room) return false;
    }
  }
  product = a * b;
  return true;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct polynomial {
  static constexpr std::uint32_t most_terms = 12, most_degree = 6;
  struct term {
    std::int64_t factor = 0;
    std::uint32_t degree = 0;
    std::uint32_t atoms[most_degree]{};  ///< rising, repeated for powers
  };
  term terms[most_terms]{};
  std::uint32_t count = 0;

  constexpr polynomial() = default;
  explicit constexpr polynomial(std::int64_t number) : count(number != 0 ? 1 : 0) { terms[0].factor = number; }

  [[nodiscard]] constexpr bool is(std::int64_t number) const { return *this == polynomial(number); }
  [[nodiscard]] constexpr bool known(std::int64_t& number) const {
    number = count == 0 ? 0 : terms[0].factor;
    return count == 0 || (count == 1 && terms[0].degree == 0);
  }
  [[nodiscard]] friend constexpr bool operator==(polynomial const& a, polynomial const& b) {
    if (a.count != b.count) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (a.terms[i].factor != b.terms[i].factor || order(a.terms[i], b.terms[i]) != 0) return false;
    return true;
  }

  [[nodiscard]] static constexpr int order(term const& a, term const& b) {
    if (a.degree != b.degree) return a.degree < b.degree ? 1 : -1;
    for (std::uint32_t i = 0; i < a.degree; ++i)
      if (a.atoms[i] != b.atoms[i]) return a.atoms[i] < b.atoms[i] ? -1 : 1;
    return 0;
  }

  [[nodiscard]] constexpr bool add(term const& t) {
    if (t.factor == 0) return true;
    std::uint32_t at = 0;
    while (at < count && order(terms[at], t) < 0) ++at;
    if (at < count && order(terms[at], t) == 0) {
      if (!checked_add(terms[at].factor, t.factor, terms[at].factor)) return false;
      if (terms[at].factor == 0) {
        for (; at + 1 < count; ++at) terms[at] = terms[at + 1];
        --count;
      }
      return true;
    }
    if (count == most_terms) return false;
    for (auto i = count; i > at; --i) terms[i] = terms[i - 1];
    terms[at] = t;
    ++count;
    return true;
  }

  [[nodiscard]] static constexpr bool multiply(term const& a, term const& b, term& product) {
    if (a.degree + b.degree > most_degree) return false;
    term made;
    if (!checked_multiply(a.factor, b.factor, made.factor)) return false;
    for (std::uint32_t i = 0, j = 0; i < a.degree || j < b.degree;)
      made.atoms[made.degree++] =
          j == b.degree || (i < a.degree && a.atoms[i] <= b.atoms[j]) ? a.atoms[i++] : b.atoms[j++];
    product = made;
    return true;
  }

  [[nodiscard]] constexpr bool add(polynomial const& other, term const& factor) {
    term product;
    for (std::uint32_t i = 0; i < other.count; ++i)
      if (!multiply(other.terms[i], factor, product) || !add(product)) return false;
    return true;
  }

  [[nodiscard]] static constexpr bool multiply(polynomial const& a, polynomial const& b, polynomial& product) {
    product.count = 0;
    for (std::uint32_t i = 0; i < b.count; ++i)
      if (!product.add(a, b.terms[i])) return false;
    return true;
  }
  [[nodiscard]] constexpr bool add(polynomial const& other, std::int64_t factor = 1) {
    return add(other, polynomial(factor).terms[0]);
  }
  [[nodiscard]] constexpr bool multiply(polynomial const& other) {
    polynomial const before = *this;
    return multiply(before, other, *this);
  }

  [[nodiscard]] static constexpr bool divide(term const& a, term const& b, term& quotient) {
    if (b.factor == -1) {  // apart from the others: the least integer has no opposite
      if (!checked_multiply(a.factor, -1, quotient.factor)) return false;
    } else {
      if (b.factor == 0 || a.factor % b.factor != 0) return false;
      quotient.factor = a.factor / b.factor;
    }
    quotient.degree = 0;
    std::uint32_t j = 0;
    for (std::uint32_t i = 0; i < a.degree; ++i)
      if (j < b.degree && a.atoms[i] == b.atoms[j])
        ++j;
      else
        quotient.atoms[quotient.degree++] = a.atoms[i];
    return j == b.degree;
  }

  [[nodiscard]] static constexpr bool divide(polynomial a, polynomial const& b, polynomial& quotient) {
    quotient.count = 0;
    if (b.count == 0) return false;
    for (std::uint32_t steps = 0; a.count != 0; ++steps) {
      term t, back;
      if (steps == most_terms || !divide(a.terms[0], b.terms[0], t) || !quotient.add(t)) return false;
      back = t;
      if (!checked_multiply(t.factor, -1, back.factor) || !a.add(b, back)) return false;
    }
    return true;
  }
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

class extent {
 public:
  constexpr extent() = default;
  constexpr extent(std::int64_t number) : number_(number) {}  // NOLINT: a number is an extent

  [[nodiscard]] static constexpr extent of_symbol(std::uint32_t symbol) {
    extent made;
    made.symbol_ = symbol + 1;
    return made;
  }
  [[nodiscard]] constexpr bool known() const { return symbol_ == 0; }
  [[nodiscard]] constexpr std::int64_t value() const { return number_; }        ///< if known, else 0
  [[nodiscard]] constexpr std::uint32_t symbol() const { return symbol_ - 1; }  ///< if not known
  [[nodiscard]] friend constexpr bool operator==(extent, extent) = default;

  [[nodiscard]] friend constexpr std::uint64_t hashed(std::uint64_t h, extent e) {
    return detail::mixed(h, e.known() ? static_cast<std::uint64_t>(e.number_) : ~std::uint64_t{e.symbol_});
  }
  [[nodiscard]] friend constexpr bool same(extent a, extent b) { return a == b; }

 private:
  std::int64_t number_ = 0;
  std::uint32_t symbol_ = 0;
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

class extent_algebra {
 public:
  enum class function : std::uint8_t { maximum, minimum, floor_quotient, quotient, broadcast };

  [[nodiscard]] extent named(std::string_view name);

  [[nodiscard]] extent fresh(std::int64_t least = 0);

  [[nodiscard]] extent add(extent a, extent b);
  [[nodiscard]] extent subtract(extent a, extent b);
  [[nodiscard]] extent multiply(extent a, extent b);

  [[nodiscard]] bool divide_exactly(extent a, extent b, extent& quotient);

  [[nodiscard]] extent floor_divide(extent a, extent b);
  [[nodiscard]] extent divide(extent a, extent b);
  [[nodiscard]] extent maximum(extent a, extent b);
  [[nodiscard]] extent minimum(extent a, extent b);

  [[nodiscard]] extent broadcast(extent a, extent b);

  [[nodiscard]] bool equal_where_broadcast(extent whole, extent part) const {
    return whole == part || (!whole.known() && !part.known() && caps(whole.symbol(), part.symbol(), 2));
  }

  static constexpr std::size_t most_broadcast = 12;
  [[nodiscard]] std::size_t broadcast_of(extent e, extent (&set)[most_broadcast]) const;

  template <class Of>
  [[nodiscard]] bool value(extent e, Of const& of, std::int64_t& into) const;

  [[nodiscard]] std::int64_t least(extent) const;
  [[nodiscard]] bool nonnegative(extent e) const { return least(e) >= 0; }
  [[nodiscard]] bool different(extent a, extent b);  ///< provably

  [[nodiscard]] std::uint32_t symbol_count() const { return symbols_.count(); }
  [[nodiscard]] bool is_fresh(extent e) const { return !e.known() && symbols_[e.symbol()][0] == fresh_tag; }

  [[nodiscard]] detail::polynomial polynomial_of(extent) const;
  [[nodiscard]] std::int64_t least(detail::polynomial const&) const;

  [[nodiscard]] std::string text(extent e, int depth = 4) const;
  [[nodiscard]] std::string text(detail::polynomial const& p, int depth = 4) const;

 private:
  enum : std::int64_t { name_tag, fresh_tag, polynomial_tag, function_tag };

  extent symbol(span<std::int64_t const> key, std::int64_t least);
  extent apply(function f, extent a, extent b, std::int64_t least);
  void expand(extent e, detail::polynomial& into) const;
  extent contract(detail::polynomial const& p);
  extent combine(extent a, extent b, std::int64_t factor);
  [[nodiscard]] extent argument(span<std::int64_t const> key, std::size_t at) const {
    return key[at] != 0 ? extent(key[at + 1]) : extent::of_symbol(static_cast<std::uint32_t>(key[at + 1]));
  }
  [[nodiscard]] bool caps(std::uint32_t a, std::uint32_t b, std::int64_t most = 1) const {
    auto const key = symbols_[b];
    if (key[0] != function_tag || key[1] != static_cast<std::int64_t>(function::minimum)) return false;
    auto const first = argument(key, 2), second = argument(key, 4);
    return (first == extent::of_symbol(a) && least(second) >= most) ||
           (second == extent::of_symbol(a) && least(first) >= most);
  }

  [[nodiscard]] bool collect(extent e, std::uint32_t (&set)[most_broadcast], std::size_t& size) const;

  detail::sequence_pool<std::int64_t> symbols_;
  std::vector<std::int64_t> least_;
  std::int64_t fresh_count_ = 0;
};

inline constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::min();

inline extent extent_algebra::symbol(span<std::int64_t const> key, std::int64_t least) {
  auto const at = symbols_.keep(key);
  if (at == least_.size()) least_.push_back(least);
  return extent::of_symbol(at);
}

inline extent extent_algebra::named(std::string_view name) {
  std::vector<std::int64_t> key{name_tag};
  for (char c : name) key.push_back(static_cast<unsigned char>(c));
  return symbol(key, 0);
}

inline extent extent_algebra::fresh(std::int64_t least) {
  std::int64_t const key[] = {fresh_tag, fresh_count_++};
  return symbol(key, least);
}

inline extent extent_algebra::apply(function f, extent a, extent b, std::int64_t least) {
  auto const code = [](extent e) { return e.known() ? e.value() : std::int64_t{e.symbol()}; };
  std::int64_t const key[] = {function_tag, static_cast<std::int64_t>(f), a.known(), code(a), b.known(), code(b)};
  return symbol(key, least);
}

inline void extent_algebra::expand(extent e, detail::polynomial& into) const {
  into.count = 1;
  auto& first = into.terms[0];
  if (e.known()) {
    first.factor = e.value();
    first.degree = 0;
    if (e.value() == 0) into.count = 0;
    return;
  }
  auto const key = symbols_[e.symbol()];
  if (key[0] != polynomial_tag) {
    first.factor = 1;
    first.degree = 1;
    first.atoms[0] = e.symbol();
    return;
  }
  into.count = 0;
  for (std::size_t at = 1; at < key.size();) {
    auto& t = into.terms[into.count++];
    t.factor = key[at++];
    t.degree = static_cast<std::uint32_t>(key[at++]);
    for (std::uint32_t i = 0; i < t.degree; ++i) t.atoms[i] = static_cast<std::uint32_t>(key[at++]);
  }
}

inline detail::polynomial extent_algebra::polynomial_of(extent e) const {
  detail::polynomial made;
  expand(e, made);
  return made;
}

inline std::int64_t extent_algebra::least(detail::polynomial const& p) const {
  std::int64_t bound = 0;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    std::int64_t part = t.factor;
    bool bounded = t.factor > 0 || t.degree == 0;
    for (std::uint32_t k = 0; k < t.degree; ++k)
      bounded = bounded && least_[t.atoms[k]] >= 0 && detail::checked_multiply(part, least_[t.atoms[k]], part);
    if (!bounded || !detail::checked_add(bound, part, bound)) return no_bound;
  }
  return bound;
}

inline extent extent_algebra::contract(detail::polynomial const& p) {
  if (p.count == 0) return 0;
  auto const& first = p.terms[0];
  if (p.count == 1 && first.degree == 0) return first.factor;
  if (p.count == 1 && first.degree == 1 && first.factor == 1) return extent::of_symbol(first.atoms[0]);
  std::int64_t key[1 + detail::polynomial::most_terms * (2 + detail::polynomial::most_degree)];
  std::size_t size = 0;
  key[size++] = polynomial_tag;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    key[size++] = t.factor;
    key[size++] = t.degree;
    for (std::uint32_t k = 0; k < t.degree; ++k) key[size++] = t.atoms[k];
  }
  return symbol({key, size}, least(p));
}

inline extent extent_algebra::combine(extent a, extent b, std::int64_t factor) {
  std::int64_t product = 0, sum = 0;
  if (a.known() && b.known() && detail::checked_multiply(b.value(), factor, product) &&
      detail::checked_add(a.value(), product, sum))
    return sum;
  detail::polynomial p, q;
  expand(a, p);
  expand(b, q);
  detail::polynomial::term times;
  times.factor = factor;
  return p.add(q, times) ? contract(p) : fresh(no_bound);
}

inline extent extent_algebra::add(extent a, extent b) { return combine(a, b, 1); }
inline extent extent_algebra::subtract(extent a, extent b) { return a == b ? extent(0) : combine(a, b, -1); }

inline extent extent_algebra::multiply(extent a, extent b) {
  if (a == extent(1)) return b;
  if (b == extent(1)) return a;
  std::int64_t product = 0;
  if (a.known() && b.known() && detail::checked_multiply(a.value(), b.value(), product)) return product;
  detail::polynomial p, q, r;
  expand(a, p);
  expand(b, q);
  if (detail::polynomial::multiply(p, q, r)) return contract(r);
  return fresh(nonnegative(a) && nonnegative(b) ? 0 : no_bound);
}

inline bool extent_algebra::divide_exactly(extent a, extent b, extent& quotient) {
  if (b == extent(0)) return false;
  detail::polynomial p, q, r;
  expand(a, p);
  expand(b, q);
  if (!detail::polynomial::divide(p, q, r)) return false;
  quotient = contract(r);
  return true;
}

inline extent extent_algebra::divide(extent a, extent b) {
  extent quotient;
  if (divide_exactly(a, b, quotient)) return quotient;
  if (b == extent(0)) return fresh(no_bound);
  if (nonnegative(a) && nonnegative(b)) return floor_divide(a, b);
  if (a.known() && b.known()) return b.value() == -1 ? fresh(no_bound) : extent(a.value() / b.value());
  return apply(function::quotient, a, b, no_bound);
}

inline extent extent_algebra::floor_divide(extent a, extent b) {
  extent quotient;
  if (divide_exactly(a, b, quotient)) return quotient;
  if (b == extent(0)) return fresh(no_bound);
  if (a.known() && b.known()) {
    if (b.value() == -1) return fresh(no_bound);  // the least integer: its opposite is none
    auto const whole = a.value() / b.value();
    return (a.value() % b.value() != 0) && ((a.value() < 0) != (b.value() < 0)) ? whole - 1 : whole;
  }
  return apply(function::floor_quotient, a, b, nonnegative(a) && nonnegative(b) ? 0 : no_bound);
}

inline extent extent_algebra::maximum(extent a, extent b) {
  if (a == b) return a;
  if (a.known() && b.known()) return a.value() > b.value() ? a : b;
  if (nonnegative(subtract(a, b))) return a;
  if (nonnegative(subtract(b, a))) return b;
  if (b.known() || (!a.known() && b.symbol() < a.symbol())) return maximum(b, a);
  auto const bound = least(a) > least(b) ? least(a) : least(b);
  return apply(function::maximum, a, b, bound);
}

inline extent extent_algebra::minimum(extent a, extent b) {
  if (a == b) return a;
  if (a.known() && b.known()) return a.value() < b.value() ? a : b;
  if (nonnegative(subtract(b, a))) return a;
  if (nonnegative(subtract(a, b))) return b;
  if (b.known() || (!a.known() && b.symbol() < a.symbol())) return minimum(b, a);
  auto const bound = least(a) < least(b) ? least(a) : least(b);
  return apply(function::minimum, a, b, bound);
}

inline extent extent_algebra::broadcast(extent a, extent b) {
  if (a == b || b == extent(1)) return a;
  if (a == extent(1)) return b;
  if (a.known() && b.known()) return fresh();  // no valid graph
  if (least(a) >= 2 || a == extent(0)) return a;
  if (least(b) >= 2 || b == extent(0)) return b;
  if (a.known() || b.known()) return fresh();
  std::uint32_t set[most_broadcast];
  std::size_t size = 0;
  if (!collect(a, set, size) || !collect(b, set, size)) return fresh();
  if (size == 1) return extent::of_symbol(set[0]);
  std::int64_t key[2 + 2 * most_broadcast] = {function_tag, static_cast<std::int64_t>(function::broadcast)};
  auto bound = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < size; ++i) {
    key[3 + 2 * i] = set[i];
    bound = least_[set[i]] < bound ? least_[set[i]] : bound;
  }
  return symbol({key, 2 + 2 * size}, bound);
}

inline bool extent_algebra::collect(extent e, std::uint32_t (&set)[most_broadcast], std::size_t& size) const {
  auto const insert = [&](std::uint32_t symbol) {
    for (std::size_t i = 0; i < size; ++i)
      if (set[i] == symbol || caps(set[i], symbol)) return true;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i)
      if (!caps(symbol, set[i])) set[kept++] = set[i];
    size = kept;
    if (size == most_broadcast) return false;
    std::size_t at = size++;
    for (; at > 0 && set[at - 1] > symbol; --at) set[at] = set[at - 1];
    set[at] = symbol;
    return true;
  };
  auto const key = symbols_[e.symbol()];
  if (key[0] != function_tag || key[1] != static_cast<std::int64_t>(function::broadcast)) return insert(e.symbol());
  for (std::size_t at = 3; at < key.size(); at += 2)
    if (!insert(static_cast<std::uint32_t>(key[at]))) return false;
  return true;
}

inline std::size_t extent_algebra::broadcast_of(extent e, extent (&set)[most_broadcast]) const {
  std::uint32_t symbols[most_broadcast];
  std::size_t size = 0;
  set[0] = e;
  if (e.known() || !collect(e, symbols, size)) return 1;
  for (std::size_t i = 0; i < size; ++i) set[i] = extent::of_symbol(symbols[i]);
  return size;
}

inline std::int64_t extent_algebra::least(extent e) const { return e.known() ? e.value() : least_[e.symbol()]; }

inline bool extent_algebra::different(extent a, extent b) {
  if (a == b) return false;
  if (a.known() && b.known()) return true;
  return least(subtract(a, b)) > 0 || least(subtract(b, a)) > 0;
}

template <class Of>
bool extent_algebra::value(extent e, Of const& of, std::int64_t& into) const {
  if (e.known()) return into = e.value(), true;
  auto const key = symbols_[e.symbol()];
  if (key[0] == name_tag || key[0] == fresh_tag) return into = of(e), true;
  if (key[0] == polynomial_tag) {
    std::int64_t sum = 0;
    for (std::size_t at = 1; at < key.size();) {
      auto product = key[at++], factor = std::int64_t{0};
      for (auto degree = key[at++]; degree > 0; --degree)
        if (!value(extent::of_symbol(static_cast<std::uint32_t>(key[at++])), of, factor) ||
            !detail::checked_multiply(product, factor, product))
          return false;
      if (!detail::checked_add(sum, product, sum)) return false;
    }
    return into = sum, true;
  }
  std::int64_t a = 0, b = 0;
  if (!value(argument(key, 2), of, a)) return false;
  for (std::size_t at = 4; at < key.size(); at += 2, a = into) {
    if (!value(argument(key, at), of, b)) return false;
    switch (static_cast<function>(key[1])) {
      case function::maximum: into = a > b ? a : b; break;
      case function::minimum: into = a < b ? a : b; break;
      case function::broadcast:
        if (a != b && a != 1 && b != 1) return false;
        into = a == 1 ? b : a;
        break;
      case function::floor_quotient:
      case function::quotient:
        if (b == 0 || b == -1) return false;
        into = a / b;
        if (static_cast<function>(key[1]) == function::floor_quotient && a % b != 0 && (a < 0) != (b < 0)) --into;
        break;
    }
  }
  return true;
}

inline std::string extent_algebra::text(extent e, int depth) const {
  if (e.known()) return std::to_string(e.value());
  auto const key = symbols_[e.symbol()];
  std::string out;
  if (key[0] == name_tag) {
    for (auto c : key.subspan(1)) out.push_back(static_cast<char>(c));
  } else if (key[0] == fresh_tag) {
    out = "?" + std::to_string(key[1]);
  } else if (depth == 0) {
    out = "...";
  } else if (key[0] == function_tag) {
    constexpr std::string_view names[] = {"max", "min", "floor_div", "div", "broadcast"};
    out.append(names[static_cast<std::size_t>(key[1])]);
    for (std::size_t at = 2; at < key.size(); at += 2)
      out.append(at == 2 ? "(" : ", ").append(text(argument(key, at), depth - 1));
    out.append(")");
  } else {
    out = text(polynomial_of(e), depth);
  }
  return out;
}

inline std::string extent_algebra::text(detail::polynomial const& p, int depth) const {
  std::string out;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    if (i != 0) out.append(" + ");
    if (t.factor != 1 || t.degree == 0) out.append(std::to_string(t.factor)).append(t.degree == 0 ? "" : "*");
    for (std::uint32_t k = 0; k < t.degree; ++k) {
      if (k != 0) out.append("*");
      out.append(text(extent::of_symbol(t.atoms[k]), depth - 1));
    }
  }
  return out.empty() ? "0" : out;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Image>
class basic_fact_table {
 public:
  static constexpr std::size_t most_rank = 64;      ///< a value of a higher rank has an unknown shape
  static constexpr std::size_t most_contents = 64;  ///< contents of larger tensors are not followed

  explicit basic_fact_table(Image const& image) : image_(&image) {}

  [[nodiscard]] Image const& image() const { return *image_; }

  [[nodiscard]] element_type type(value_id v) const { return v < size_ ? types_[v] : element_type::unknown; }
  [[nodiscard]] bool has_rank(value_id v) const { return shape_number(v) != 0; }
  [[nodiscard]] int rank(value_id v) const { return has_rank(v) ? static_cast<int>(shape(v).size()) : -1; }

  [[nodiscard]] span<extent const> shape(value_id v) const {
    auto const number = shape_number(v);
    if (number == 0) return {};
    return extents_[number - 1];
  }

  [[nodiscard]] std::uint32_t shape_number(value_id v) const { return v < size_ ? shapes_[v] : 0; }

  [[nodiscard]] bool same_shape(value_id a, value_id b) const {
    return has_rank(a) && shape_number(a) == shape_number(b);
  }
  [[nodiscard]] bool broadcasts_into(value_id a, value_id b) const {
    if (!has_rank(a) || !has_rank(b)) return false;
    auto const from = shape(a), to = shape(b);
    bool fits = from.size() <= to.size();
    for (std::size_t i = 1; fits && i <= from.size(); ++i) {
      auto const one = from[from.size() - i];
      fits = one == extent(1) || one == to[to.size() - i];
    }
    return fits;
  }

  [[nodiscard]] bool has_integers(value_id v) const { return kind_of(contents(v)) == integer_kind; }
  [[nodiscard]] span<extent const> symbolic_integers(value_id v) const {
    if (!has_integers(v)) return {};
    return extents_[index_of(contents(v))];
  }
  [[nodiscard]] bool has_numbers(value_id v) const { return kind_of(contents(v)) == number_kind; }
  [[nodiscard]] span<double const> numbers(value_id v) const {
    if (!has_numbers(v)) return {};
    return numbers_[index_of(contents(v))];
  }

  [[nodiscard]] bool has_contents(value_id v) const { return contents(v) != 0; }
  [[nodiscard]] std::uint32_t contents_number(value_id v) const { return contents(v); }

  [[nodiscard]] bool integers(value_id v, std::vector<std::int64_t>& out) const {
    out.clear();
    if (!has_integers(v)) return false;
    for (auto e : symbolic_integers(v)) {
      if (!e.known()) return false;
      out.push_back(e.value());
    }
    return true;
  }

  [[nodiscard]] bool number(value_id v, double& out) const {
    if (has_numbers(v)) {
      auto const all = numbers(v);
      if (all.size() != 1) return false;
      out = all[0];
      return true;
    }
    auto const all = symbolic_integers(v);
    if (all.size() != 1 || !all[0].known()) return false;
    out = static_cast<double>(all[0].value());
    return true;
  }

  [[nodiscard]] bool is_uniform(value_id v) const { return (contents(v) & alike) != 0; }
  [[nodiscard]] bool uniform(value_id v, double& out) const {
    auto const all = contents(v);
    if ((all & alike) == 0) return false;
    auto const index = index_of(all);
    out = kind_of(all) == integer_kind ? static_cast<double>(extents_[index][0].value()) : numbers_[index][0];
    return true;
  }

  [[nodiscard]] bool reduction(node_id n, std::vector<int>& axes, bool& keepdims) const {
    if (n >= reductions_.size() || reductions_[n] == 0) return false;
    auto const& kept = reduction_kinds_[reductions_[n] - 1];
    keepdims = kept.keepdims;
    axes.clear();
    for (auto left = kept.axes; left != 0; left &= left - 1) axes.push_back(std::countr_zero(left));
    return true;
  }

  [[nodiscard]] bool takes_all(node_id n) const { return n < taking_all_.size() && taking_all_[n]; }

  [[nodiscard]] span<node_id const> reductions() const { return reducing_; }

  [[nodiscard]] extent_algebra const& symbols() const { return symbols_; }

  [[nodiscard]] extent_algebra& symbols() { return symbols_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void resize(std::size_t values) {
    if (values - size_ == 1) {  // a new node's: resizing takes ten times as long
      types_.push_back(element_type::unknown);
      shapes_.push_back(0);
      contents_.push_back(0);
    } else {
      types_.resize(values, element_type::unknown);
      shapes_.resize(values, 0);
      contents_.resize(values, 0);
    }
    size_ = values;
  }
  void reserve(std::size_t values) {
    types_.reserve(values);
    shapes_.reserve(values);
    contents_.reserve(values);
  }
  void forget(value_id v) {
    types_[v] = element_type::unknown;
    shapes_[v] = 0;
    contents_[v] = 0;
  }
  void forget_shape(value_id v) { shapes_[v] = 0; }
  void forget_contents(value_id v) { contents_[v] = 0; }
  void set_type(value_id v, element_type type) { types_[v] = type; }
  void set_shape(value_id v, span<extent const> dimensions) {  // not a span of this table
    shapes_[v] = dimensions.size() > most_rank ? 0 : extents_.keep(dimensions) + 1;
  }
  void add_reduction(node_id n) { reducing_.push_back(n); }
  std::uint32_t keep_reduction(node_id n, span<int const> axes, bool keepdims) {
    reduction_kind kind{0, keepdims};
    for (auto axis : axes) kind.axes |= std::uint64_t{1} << axis;
    if (reduction_kinds_.empty() || !(reduction_kinds_.back() == kind)) reduction_kinds_.push_back(kind);
    if (n >= reductions_.size()) reductions_.resize(image_->node_count(), 0);
    return reductions_[n] = static_cast<std::uint32_t>(reduction_kinds_.size());
  }
  void forget_reduction(node_id n) {
    if (n < reductions_.size()) reductions_[n] = 0;
  }
  void set_takes_all(node_id n, bool all) {
    if (all && n >= taking_all_.size()) taking_all_.resize(image_->node_count(), false);
    if (n < taking_all_.size()) taking_all_[n] = all;
  }
  void set_shape_number(value_id v, std::uint32_t number) { shapes_[v] = number; }
  void share_shape(value_id v, value_id from) { shapes_[v] = shapes_[from]; }
  void share_contents(value_id v, value_id from) { contents_[v] = contents_[from]; }
  void set_integers(value_id v, span<extent const> elements) {
    if (elements.size() > most_contents) return;
    bool same = !elements.empty() && elements[0].known();
    for (auto e : elements) same = same && e == elements[0];
    contents_[v] = extents_.keep(elements) * 8 + integer_kind + (same ? alike : 0);
  }
  void set_numbers(value_id v, span<double const> elements) {
    if (elements.size() > most_contents) return;
    bool same = !elements.empty();
    for (auto each : elements) same = same && each == elements[0];
    contents_[v] = numbers_.keep(elements) * 8 + number_kind + (same ? alike : 0);
  }
  void set_uniform(value_id v, double number) {
    if (number == number) contents_[v] = numbers_.keep(span<double const>(&number, 1)) * 8 + uniform_kind + alike;
  }

 private:
  enum : std::uint32_t { no_kind, integer_kind, number_kind, uniform_kind };
  static constexpr std::uint32_t alike = 4;  // a bit: all elements are
  [[nodiscard]] static std::uint32_t kind_of(std::uint32_t contents) { return contents & 3u; }
  [[nodiscard]] static std::uint32_t index_of(std::uint32_t contents) { return contents >> 3; }

  [[nodiscard]] std::uint32_t contents(value_id v) const { return v < size_ ? contents_[v] : 0; }

  graph_image const* image_;
  extent_algebra symbols_;
  detail::plain_vector<element_type> types_;
  detail::plain_vector<std::uint32_t> shapes_;    // 0, or 1 + number of a sequence of extents
  detail::plain_vector<std::uint32_t> contents_;  // kind, and the number of a sequence
  std::size_t size_ = 0;                          // of each
  struct reduction_kind {
    std::uint64_t axes = 0;  // a bit each
    bool keepdims = true;

    friend bool operator==(reduction_kind const&, reduction_kind const&) = default;
  };
  detail::plain_vector<std::uint32_t> reductions_;  // by node: 0, or 1 + number of a kind
  detail::plain_vector<reduction_kind> reduction_kinds_;
  detail::plain_vector<node_id> reducing_;
  std::vector<bool> taking_all_;  // by node, empty where none does
  detail::sequence_pool<extent> extents_;
  detail::sequence_pool<double> numbers_;
};
using fact_table = basic_fact_table<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

enum class attribute_kind : std::uint8_t { flag, integer, number, text, integers, numbers, tensor, other };

[[nodiscard]] constexpr std::string_view name_of(attribute_kind kind) {
  constexpr std::string_view names[] = {"flag", "integer", "number", "text", "integers", "numbers", "tensor", "other"};
  return names[static_cast<std::size_t>(kind)];
}

struct attribute_info {
  std::string_view name;
  attribute_kind kind;
  int since = 1, until = 0;  ///< operator set versions that have it, the latter not (0: all from `since` on)
  int required = 0;          ///< from this version on, no node may lack it (0: any may)

  [[nodiscard]] constexpr bool is_of(int version) const { return since <= version && (until == 0 || version < until); }
  [[nodiscard]] constexpr bool is_required(int version) const {
    return required != 0 && required <= version && is_of(version);
  }
};

struct attribute_list {
  span<attribute_info const> all{};
  std::string (*complete)(std::vector<attribute>&) = nullptr;
  bool any = false;  ///< this is no list: the operator may have any

  [[nodiscard]] constexpr std::size_t find(std::string_view name) const {
    std::size_t at = 0;
    while (at < all.size() && all[at].name != name) ++at;
    return at;
  }
  [[nodiscard]] constexpr bool has(std::string_view name) const { return find(name) < all.size(); }
};

inline constexpr attribute_list any_attributes{{}, nullptr, true};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct element_types {
  static constexpr std::size_t most_operands = 5;  ///< those that follow may be of any type

  int since = 1;
  std::uint32_t operands[most_operands]{};
  std::uint32_t result = 0;
  bool variadic = false;  ///< what holds of the last operand holds of all that follow

  [[nodiscard]] static constexpr bool has(std::uint32_t set, element_type type) {
    return set == 0 || type == element_type::unknown || (set >> static_cast<int>(type) & 1u) != 0;
  }
  [[nodiscard]] constexpr bool takes(std::size_t i, element_type type) const {
    std::size_t last = most_operands;
    while (last > 0 && operands[last - 1] == 0) --last;
    if (variadic && last > 0 && i >= last) i = last - 1;
    return i >= most_operands || has(operands[i], type);
  }
  [[nodiscard]] constexpr bool gives(element_type type) const { return has(result, type); }
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct parameter_source {
  enum class kind : std::uint8_t {
    attribute,     ///< attribute `attribute`
    inverted,      ///< attribute `attribute`, a flag of the opposite meaning
    operand,       ///< operand number `operand`, a constant
    fixed,         ///< always `number`
    spatial_axes,  ///< the axes from 2 to the last (pooling over everything that is neither batch nor channel)
    word,          ///< attribute `attribute` is one of `words`, and the parameter is its number among them
    extents,  ///< attribute `attribute` lists the first operand's extents from this axis on: as many as there are axes
  };
  std::string_view parameter{};
  kind where = kind::attribute;
  std::string_view attribute{};
  int operand = 0;
  double number =
      std::numeric_limits<double>::quiet_NaN();  ///< value when absent (NaN: the neutral operator's own default)
  axis_use axis = axis_use::none;                ///< of an axis: what it counts (none: as for the neutral operator)
  std::string_view words{};                      ///< a blank stands between two
};

enum class target : std::uint8_t {
  none = 0,              ///< nobody: an operator that is read, and never written
  standard = 1,          ///< whoever knows the operators of the dialect's own specification
  vendor = 2,            ///< one runtime with operators of its own beside these
  onnxruntime = vendor,  ///< ... that of ONNX
  any = 3,
};
[[nodiscard]] constexpr bool includes(target set, target one) {
  return (static_cast<int>(set) & static_cast<int>(one)) != 0;
}

struct result_extent {
  std::int64_t number = -1;
  std::int8_t operand = -1, axis = 0;  ///< an axis below 0 counts from the last
};

using known_extents = span<std::vector<std::int64_t> const>;

struct result_info {
  enum class kind : std::uint8_t {
    unknown,
    operand,    ///< as operand `number`
    broadcast,  ///< all operands, broadcast
    function,   ///< `extents` tells
  };
  kind shape = kind::unknown;
  std::int8_t shape_of = 0;
  std::int8_t type_of = 0;                    ///< the operand whose element type the result has
  element_type type = element_type::unknown;  ///< ... or, if this is known, this one
  bool (*extents)(known_extents operands, std::vector<result_extent>& into) = nullptr;
};

struct required_attribute {
  static constexpr auto none = std::numeric_limits<std::int64_t>::min();  ///< whatever stands there, it does not

  std::string_view name;
  std::int64_t number = none;
  bool may_lack = true;
};

struct operator_row {
  std::string_view name{};
  opcode op = opcode::opaque;
  int since = 1;
  span<parameter_source const> parameters{};
  std::int8_t operands = -1;  ///< leading operands that are data; the rest are parameters (-1: all are data)
  target emit = target::any;  ///< targets for which a rewrite may create this operator
  int emit_since = 0;         ///< ... from this version on (0: from `since`)
  attribute_list const* attributes = &any_attributes;  ///< all that it has
  result_info result{};                                ///< of an operator without a meaning, `opcode::opaque`
  span<element_types const> types{};                   ///< that it takes and gives, by rising version; none: any
  bool one_shape = false;  ///< its operands have one shape: none is repeated along axes that it lacks
  span<required_attribute const> needs{};
  std::uint8_t most_results = 0;
  std::string_view otherwise{};
  std::optional<op_kind> kind{};  ///< how it may be grouped (none: as the neutral operator)
  std::uint8_t more = 0;          ///< rows of the same name that follow; `make_dialect` counts them
};

[[nodiscard]] constexpr axis_use axis_use_of(operator_row const* row, opcode op, std::string_view parameter = "axis") {
  if (row != nullptr)
    for (auto const& s : row->parameters)
      if (s.parameter == parameter && s.axis != axis_use::none) return s.axis;
  auto const* known = parameter_of(op, parameter);
  return known != nullptr ? known->axis : axis_use::none;
}

struct operand_facts {
  bool present = false;
  element_type type = element_type::unknown;
  bool has_rank = false;
  span<extent const> shape{};  ///< none where the rank is not known; extents that are equal are known to be so
  double number = std::numeric_limits<double>::quiet_NaN();  ///< the element of a constant that has just one

  [[nodiscard]] constexpr bool is_number() const { return number == number; }
};

struct emission {
  struct given {
    std::string_view parameter;
    double number;
  };

  opcode op = opcode::opaque;
  int version = 0;
  target to = target::standard;
  std::vector<operand_facts> operands{};
  std::vector<given> parameters{};
  std::size_t results = 1;
  bool negative_axes = true;  ///< axes may count from the last one, see `dialect::negative_axes_since`

  [[nodiscard]] bool has(std::size_t operand) const { return operand < operands.size() && operands[operand].present; }
  [[nodiscard]] double number(std::string_view parameter) const {
    for (auto const& p : parameters)
      if (p.parameter == parameter) return p.number;
    auto const* known = parameter_of(op, parameter);
    return known != nullptr ? known->fallback : std::numeric_limits<double>::quiet_NaN();
  }
};

struct dialect {
  std::string_view name{};
  span<operator_row const> rows{};
  span<std::uint16_t const> slots{};
  int newest = 1;  ///< operator set version of graphs that state none
  int negative_axes_since = 0;
  bool promotes = false;
  bool lists_attributes = false;  ///< for some row; `make_dialect` looks
  bool has_structs = false;       ///< some list is that of a struct, which completes new nodes; likewise
  std::string_view (*refuse)(emission const&) = nullptr;
  bool (*stands_in)(opcode, std::size_t) = nullptr;
  bool (*function)(emission const&, function_body&) = nullptr;
  void (*complete)(emission const&, std::vector<attribute>&) = nullptr;

  [[nodiscard]] constexpr std::uint16_t code(std::string_view operator_name) const;

  [[nodiscard]] constexpr operator_row const* row(std::uint16_t code, int version) const;

  [[nodiscard]] constexpr operator_row const* emitted(opcode op, int version, target to) const;
};

namespace detail {

[[nodiscard]] constexpr std::uint32_t hash(std::string_view text) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h ^ (h >> 15);
}

}  // namespace detail

constexpr std::uint16_t dialect::code(std::string_view operator_name) const {
  auto const mask = slots.size() - 1;
  for (std::size_t at = detail::hash(operator_name) & mask; slots[at] != 0; at = (at + 1) & mask)
    if (static_text::of(operator_name) == rows[slots[at] - 1u].name) return slots[at];
  if (auto const variant = operator_name.rfind('_');
      variant != operator_name.npos && operator_name.substr(0, 6) == "fuse::")
    return code(operator_name.substr(0, variant));
  return 0;
}

constexpr operator_row const* dialect::row(std::uint16_t code, int version) const {
  operator_row const* found = nullptr;
  if (code == 0) return found;
  auto const* const first = &rows[code - 1u];
  for (auto const* row = first; row <= first + first->more; ++row)
    if (row->since <= version) found = row;
  return found;
}

constexpr operator_row const* dialect::emitted(opcode op, int version, target to) const {
  operator_row const* found = nullptr;
  for (auto const& candidate : rows)
    if (candidate.op == op && includes(candidate.emit, to) && candidate.since <= version &&
        candidate.emit_since <= version && (found == nullptr || found->name == candidate.name))
      found = &candidate;
  return found;
}

namespace detail {

[[nodiscard]] inline std::string complete(operator_row const& row, std::vector<attribute>& attributes) {
  if (row.attributes->complete == nullptr) return {};
  auto why = row.attributes->complete(attributes);
  return why.empty() ? why : std::string(row.name) + ": " + why;
}

}  // namespace detail

struct names_alone {
  static constexpr void add_to(dialect&) {}
};

template <std::size_t Rows, class Emission = names_alone>
struct dialect_table {
  static constexpr std::size_t slot_count = Rows < 128 ? 512 : Rows < 512 ? 2048 : 8192;
  dialect view_without_rows{};
  operator_row rows[Rows]{};
  std::uint16_t slots[slot_count]{};

  constexpr operator dialect() const {
    dialect view = names();
    Emission::add_to(view);
    return view;
  }
  [[nodiscard]] constexpr dialect names() const {
    dialect view = view_without_rows;
    view.rows = rows;
    view.slots = slots;
    return view;
  }

  template <std::size_t More>
  [[nodiscard]] constexpr dialect_table<Rows + More, Emission> with(operator_row const (&more)[More]) const {
    dialect_table<Rows + More, Emission> extended;
    extended.view_without_rows = view_without_rows;
    std::size_t at = 0;
    for (auto const& row : more) extended.rows[at++] = row;
    for (auto const& row : rows) {
      extended.rows[at] = row;
      for (auto const& newer : more)
        if (newer.name == row.name) extended.rows[at] = operator_row{};
      ++at;
    }
    extended.fill();
    return extended;
  }

  constexpr void fill() {
    for (std::size_t i = 0; i < Rows; ++i) {
      if (!rows[i].attributes->any) view_without_rows.lists_attributes = true;
      if (rows[i].attributes->complete != nullptr) view_without_rows.has_structs = true;
      if (rows[i].name.empty() || (i > 0 && rows[i - 1].name == rows[i].name)) continue;
      std::size_t at = detail::hash(rows[i].name) & (slot_count - 1);
      while (slots[at] != 0) at = (at + 1) & (slot_count - 1);
      slots[at] = static_cast<std::uint16_t>(i + 1);
      std::size_t last = i;
      while (last + 1 < Rows && rows[last + 1].name == rows[i].name) ++last;
      rows[i].more = static_cast<std::uint8_t>(last - i);
    }
  }
};

template <class Emission = names_alone, std::size_t Rows>
[[nodiscard]] constexpr dialect_table<Rows, Emission> make_dialect(std::string_view name,
                                                                   operator_row const (&rows)[Rows], int newest = 1,
                                                                   int negative_axes_since = 0) {
  dialect_table<Rows, Emission> table;
  table.view_without_rows.name = name;
  table.view_without_rows.newest = newest;
  table.view_without_rows.negative_axes_since = negative_axes_since;
  for (std::size_t i = 0; i < Rows; ++i) table.rows[i] = rows[i];
  table.fill();
  return table;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail::math {

inline constexpr double infinity = __builtin_inf();

[[nodiscard]] inline double abs(double x) { return __builtin_fabs(x); }
[[nodiscard]] inline double sqrt(double x) { return __builtin_sqrt(x); }
[[nodiscard]] inline double pow(double x, double y) { return __builtin_pow(x, y); }
[[nodiscard]] inline double exp(double x) { return __builtin_exp(x); }
[[nodiscard]] inline double log(double x) { return __builtin_log(x); }
[[nodiscard]] inline double erf(double x) { return __builtin_erf(x); }
[[nodiscard]] inline double tanh(double x) { return __builtin_tanh(x); }
[[nodiscard]] inline double floor(double x) { return __builtin_floor(x); }
[[nodiscard]] inline double nearbyint(double x) { return __builtin_nearbyint(x); }
[[nodiscard]] inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
[[nodiscard]] inline bool is_finite(double x) { return __builtin_isfinite(x); }
[[nodiscard]] inline bool fits_float(double x) {
  auto const rounded = static_cast<float>(x);
  return is_finite(static_cast<double>(rounded)) && (rounded == 0) == (x == 0);
}
[[nodiscard]] inline bool is_whole(double x) { return nearbyint(x) == x; }
[[nodiscard]] inline bool close_to(double found, double wanted, double tolerance) {
  return found == wanted || (is_finite(wanted) && abs(found - wanted) <= tolerance * abs(wanted));
}
[[nodiscard]] inline bool is_odd(double x) { return fmod(abs(x), 2) == 1; }

}  // namespace fuse::inline v0::detail::math

namespace fuse::inline v0::detail {

template <class Body>
class onnx_function_writer {
 protected:
  onnx_function_writer(emission const& e, Body& into)
      : e_(e),
        body_(into),
        type_(e.operands[0].type),
        computed_(type_ == element_type::float64 ? element_type::float64 : element_type::float32) {}

  void begin(std::string_view name) {
    body_.name = "fuse::" + std::string(name) + "_" + std::string(name_of(type_));
    body_.inputs = {"X"};
    body_.outputs = {"Y"};
  }
  void step(std::string op, std::vector<std::string> operands, std::string result,
            std::vector<attribute> attributes = {}, std::vector<std::pair<std::string, std::string>> references = {}) {
    body_.steps.push_back(
        {std::move(op), std::move(operands), {std::move(result)}, std::move(attributes), std::move(references)});
  }
  std::string cast(std::string const& from, std::string to, element_type type) {
    step("Cast", {from}, to, {{"to", static_cast<std::int64_t>(type)}});
    return to;
  }
  std::string widened() { return type_ != computed_ ? cast("X", "XU", computed_) : std::string("X"); }

  void number(std::string const& name, double value) {
    if (plain())
      step("Constant", {}, name, {{"value_float", value}});
    else
      step("Constant", {}, name, {{"value", make_tensor(computed_, {}, span<double const>(&value, 1))}});
  }
  void parameter(std::string const& name, std::string const& attribute) {
    body_.attributes.push_back(attribute);
    if (plain()) return step("Constant", {}, name, {}, {{"value_float", attribute}});
    auto const rounded = static_cast<float>(e_.number(attribute));
    char digits[32];
    auto const end = std::to_chars(digits, digits + 32, rounded, std::chars_format::scientific).ptr;
    body_.name += "_" + attribute;
    body_.name.append(digits, end);
    number(name, static_cast<double>(rounded));
  }

  emission const& e_;
  Body& body_;
  element_type type_, computed_;

 private:
  [[nodiscard]] bool plain() const { return e_.version >= 12 && computed_ == element_type::float32; }
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail::onnx_activations {

[[nodiscard]] constexpr std::string_view function_name(opcode op) {
  switch (op) {
    case opcode::gelu: return "Gelu";
    case opcode::fast_gelu: return "Gelu_tanh";
    case opcode::swish: return "Swish";
    case opcode::mish: return "Mish";
    case opcode::hard_swish: return "HardSwish";
    default: return {};
  }
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const known = !function_name(e.op).empty() || e.op == opcode::bias_gelu || e.op == opcode::softmax ||
                     e.op == opcode::log_softmax;
  if (!known || e.operands.empty()) return {};
  auto const type = e.operands[0].type;
  if (type == element_type::unknown) return "the element type of the activation's input is not known";
  if (!is_floating(type)) return "the activation's input is not of a floating element type";
  if (e.op == opcode::swish && !math::fits_float(e.number("alpha")))
    return "alpha does not fit the operator's float32 attribute";
  bool const of_softplus_or_clip = e.op == opcode::mish || e.op == opcode::hard_swish;
  if (of_softplus_or_clip && e.to == target::onnxruntime && type == element_type::float64)
    return "onnxruntime has no kernel of it for doubles";
  bool const with_bias = e.op == opcode::bias_gelu || e.op == opcode::fast_gelu;
  if (with_bias && e.has(1)) {
    if (e.operands[1].type != type) return "the bias has another element type than what it is added to";
    auto const x = e.operands[0].shape, bias = e.operands[1].shape;
    if (!e.operands[0].has_rank || !e.operands[1].has_rank || x.empty() || bias.size() != 1 || !(bias[0] == x.back()))
      return "the bias is not provably one row of what it is added to";
  }
  return {};
}

template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (e.op == opcode::fast_gelu && e.to != target::onnxruntime)
    attributes.push_back({"approximate", std::string("tanh")});
}

template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into) : base(e, into) {}

  void write() {
    base::begin(function_name(e_.op));
    x_ = base::widened();
    result_ = type_ == computed_ ? "Y" : "YU";
    switch (e_.op) {
      case opcode::gelu: gelu(); break;
      case opcode::fast_gelu: gelu_by_tanh(); break;
      case opcode::swish:
        base::parameter("Alpha", "alpha");
        base::step("Mul", {x_, "Alpha"}, "Scaled");
        base::step("Sigmoid", {"Scaled"}, "Gate");
        base::step("Mul", {x_, "Gate"}, result_);
        break;
      case opcode::mish:
        base::step("Softplus", {x_}, "Plus");
        base::step("Tanh", {"Plus"}, "Gate");
        base::step("Mul", {x_, "Gate"}, result_);
        break;
      default:
        base::step("HardSigmoid", {x_}, "Gate", {{"alpha", 1. / 6}, {"beta", 0.5}});
        base::step("Mul", {x_, "Gate"}, result_);
        break;
    }
    if (type_ != computed_) base::cast(result_, "Y", type_);
  }

 private:
  void gelu() {
    base::number("RootOfTwo", 1.4142135623730951);
    base::number("One", 1);
    base::number("Half", 0.5);
    base::step("Div", {x_, "RootOfTwo"}, "Scaled");
    base::step("Erf", {"Scaled"}, "Curve");
    base::step("Add", {"Curve", "One"}, "Gate");
    base::step("Mul", {x_, "Gate"}, "Twice");
    base::step("Mul", {"Twice", "Half"}, result_);
  }
  void gelu_by_tanh() {
    base::number("Three", 3);
    base::number("Factor", 0.044715);
    base::number("RootOfTwoByPi", 0.7978845608028654);
    base::number("One", 1);
    base::number("Half", 0.5);
    base::step("Pow", {x_, "Three"}, "Cube");
    base::step("Mul", {"Cube", "Factor"}, "Part");
    base::step("Add", {x_, "Part"}, "Sum");
    base::step("Mul", {"Sum", "RootOfTwoByPi"}, "Scaled");
    base::step("Tanh", {"Scaled"}, "Curve");
    base::step("Add", {"Curve", "One"}, "Gate");
    base::step("Mul", {x_, "Half"}, "Halved");
    base::step("Mul", {"Halved", "Gate"}, result_);
  }

  using base::computed_, base::e_, base::type_;
  std::string x_, result_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (function_name(e.op).empty() || e.operands.size() != 1) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_activations

namespace fuse::inline v0::detail::onnx_attention {

struct heads_of {
  extent count{}, size{}, length{};
};
[[nodiscard]] inline bool read(operand_facts const& of, double heads, heads_of& into) {
  if (!of.has_rank) return false;
  auto const shape = of.shape;
  if (shape.size() == 4) {
    into = {shape[1], shape[3], shape[2]};
    return true;
  }
  if (shape.size() != 3 || !(heads >= 1 && heads <= 1e9) || !shape[2].known()) return false;
  auto const count = static_cast<std::int64_t>(heads);
  if (shape[2].value() % count != 0) return false;
  into = {extent(count), extent(shape[2].value() / count), shape[1]};
  return true;
}

[[nodiscard]] inline std::string_view refuse_mask(operand_facts const& mask, std::size_t least, extent batch,
                                                  heads_of const& q, heads_of const& k) {
  auto const rank = mask.shape.size();
  if (!mask.has_rank || rank < least || rank > 4)
    return "the mask has, or may have, other axes than the operator takes";
  if (!(mask.shape[rank - 2] == q.length) || !(mask.shape[rank - 1] == k.length))
    return "the mask has not provably a row for each query and a column for each key";
  extent const leading[] = {batch, q.count};
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (auto const e = mask.shape[i]; !(e == extent(1)) && !(e == leading[i + 4 - rank]))
      return "the mask is not provably for each batch and head, or for all";
  return {};
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const vendor = e.op == opcode::multi_head_attention;
  if (e.op != opcode::attention && !vendor) return {};
  for (std::size_t i = 0; i < 3; ++i)
    if (!e.has(i)) return "the operator needs queries, keys and values";
  std::size_t const mask = vendor ? 5 : 3;
  for (std::size_t i = 3; i < e.operands.size(); ++i)
    if (e.has(i) && i != mask) return "queries, keys, values and a mask are all that a rewrite can give the operator";
  auto const type = e.operands[0].type;
  for (std::size_t i = 0; i < e.operands.size(); ++i)
    if (e.has(i) && (e.operands[i].type != type || !is_floating(type)))
      return "the operator takes operands of one floating element type";
  if (type == element_type::float64 && e.number("softmax_precision") == static_cast<double>(element_type::float32))
    return "a softmax in float32 is less precise than doubles are";
  auto const of_queries = e.number(vendor ? "num_heads" : "q_num_heads");
  auto const of_keys = vendor ? of_queries : e.number("kv_num_heads");
  auto const rank = e.operands[0].shape.size();
  if (vendor && rank != 3) return "the operator takes queries of three axes";
  heads_of q, k, v;
  if (!read(e.operands[0], of_queries, q) || !read(e.operands[1], of_keys, k) || !read(e.operands[2], of_keys, v))
    return "queries, keys or values have, or may have, other axes than the operator takes";
  for (std::size_t i = 1; i < 3; ++i) {
    if (e.operands[i].shape.size() != rank) return "queries, keys and values have not as many axes";
    if (!(e.operands[i].shape[0] == e.operands[0].shape[0]))
      return "queries, keys and values are not provably of as many batches";
  }
  if (!(q.size == k.size)) return "queries and keys have not provably heads of one size";
  if (!(k.length == v.length)) return "keys and values are not provably as many";
  if (!(k.count == v.count)) return "keys and values have not provably as many heads";
  bool const grouped =
      q.count.known() && k.count.known() && k.count.value() > 0 && q.count.value() % k.count.value() == 0;
  if (!(q.count == k.count) && !grouped) return "heads of queries do not provably share those of keys";
  auto const scale = e.number("scale");
  if (!math::fits_float(scale) || (vendor ? scale == 0 : !(scale > 0)))
    return vendor ? "the scale is 0, which means another one, or does not fit a float32 attribute"
                  : "the scale is not above 0, or does not fit a float32 attribute";
  if (!vendor && e.has(mask) && e.to == target::onnxruntime)
    return "onnxruntime takes masks otherwise than the standard says, where a query may look at nothing";
  return e.has(mask) ? refuse_mask(e.operands[mask], vendor ? 4 : 2, e.operands[0].shape[0], q, k) : std::string_view{};
}

}  // namespace fuse::inline v0::detail::onnx_attention

namespace fuse::inline v0::detail::onnx_channel_norms {

[[nodiscard]] constexpr bool is_norm(opcode op) { return op == opcode::instance_norm || op == opcode::group_norm; }

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if (!is_norm(e.op) || e.operands.size() != 3) return {};
  auto const& x = e.operands[0];
  if (x.type == element_type::unknown) return "the element type of the norm's input is not known";
  if (!is_floating(x.type)) return "the norm's input is not of a floating element type";
  if (e.to == target::onnxruntime && x.type != element_type::float32 && x.type != element_type::float16)
    return "onnxruntime has a kernel for float and half, and for no other type";
  if (!x.has_rank || x.shape.size() < 3) return "the operator takes inputs of three axes or more";
  for (std::size_t i = 1; i < 3; ++i) {
    auto const& row = e.operands[i];
    if (row.type != x.type) return "scale or bias has another element type than the norm's input";
    if (!row.has_rank || row.shape.size() != 1 || !(row.shape[0] == x.shape[1]))
      return "scale or bias is not provably one element for each channel";
  }
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  if (e.op == opcode::instance_norm) return {};
  auto const groups = e.number("num_groups");
  if (!x.shape[1].known() || !(groups >= 1) || x.shape[1].value() % static_cast<std::int64_t>(groups) != 0)
    return "the channels are not, or not provably, as many in each group";
  return {};
}

template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (e.op == opcode::group_norm && !e.operands.empty() && e.operands[0].type == element_type::float64)
    attributes.push_back({"stash_type", std::int64_t{11}});
}

}  // namespace fuse::inline v0::detail::onnx_channel_norms

namespace fuse::inline v0::detail::onnx_embeddings {

[[nodiscard]] inline bool same_shape(operand_facts const& a, operand_facts const& b) {
  bool same = a.has_rank && b.has_rank && a.shape.size() == b.shape.size();
  for (std::size_t i = 0; same && i < a.shape.size(); ++i) same = a.shape[i] == b.shape[i];
  return same;
}

[[nodiscard]] inline std::string_view refuse_positions(emission const& e) {
  if (!e.has(8)) return {};
  auto const &ids = e.operands[0], &at = e.operands[8];
  if (at.type != element_type::int32) return "the operator takes positions of 32 bits";
  if (at.shape.size() != 2 || !(at.shape[1] == ids.shape[1]) ||
      !(at.shape[0] == extent(1) || at.shape[0] == ids.shape[0]))
    return "positions are not provably as many as the ids";
  return {};
}
[[nodiscard]] inline std::string_view refuse_quantisation(emission const& e) {
  constexpr std::size_t first = 2, count = 5, scales = 8, zeros = 13;
  for (std::size_t i = 0; i < count; ++i) {
    if (!e.has(first + i)) continue;
    for (auto const at : {scales + i, zeros + i}) {
      if (!e.has(at)) return "a scale or zero point is absent";
      auto const& given = e.operands[at];
      if (!given.has_rank || given.shape.size() > 1 || (given.shape.size() == 1 && !(given.shape[0] == extent(1))))
        return "a scale or zero point is not provably one number";
      if (given.type != (at < zeros ? element_type::float32 : e.operands[first].type))
        return "a scale is not float32, or a zero point not of the tables' element type";
    }
  }
  return {};
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const quantised = e.op == opcode::qembed_layer_norm;
  if (e.op != opcode::embed_layer_norm && !quantised) return {};
  for (auto const needed : {0u, 2u, 3u, 5u, 6u})
    if (!e.has(needed)) return "the operator needs ids, tables of words and positions, a scale and a bias";
  auto const &ids = e.operands[0], &words = e.operands[2];
  if (words.type == element_type::unknown) return "the element type of the tables is not known";
  for (auto const i : {2u, 3u, 4u, 5u, 6u})
    if (e.has(i) && e.operands[i].type != words.type)
      return "the operator takes tables, scale and bias of one element type";
  for (auto const i : {0u, 1u})
    if (e.has(i) && e.operands[i].type != element_type::int32) return "the operator takes ids of 32 bits";
  if (!ids.has_rank || ids.shape.size() != 2) return "the operator takes ids of two axes";
  if (e.has(1) != e.has(4)) return "segments and their table come together";
  if (e.has(1) && !same_shape(e.operands[1], ids)) return "segments have not, or not provably, the shape of the ids";
  for (auto const i : {2u, 3u, 4u})
    if (e.has(i) && (e.operands[i].shape.size() != 2 || !(e.operands[i].shape[1] == words.shape[1])))
      return "tables are not provably of rows of one length";
  for (auto const i : {5u, 6u})
    if (e.operands[i].shape.size() != 1 || !(e.operands[i].shape[0] == words.shape[1]))
      return "scale or bias is not provably one row of the tables";
  if (auto const why = quantised ? refuse_quantisation(e) : refuse_positions(e); !why.empty()) return why;
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  return {};
}

}  // namespace fuse::inline v0::detail::onnx_embeddings

namespace fuse::inline v0::detail::onnx_norms {

[[nodiscard]] constexpr bool is_norm(opcode op) { return op == opcode::layer_norm || op == opcode::rms_norm; }

[[nodiscard]] constexpr bool has_operator(emission const& e) {
  return e.to == target::onnxruntime || e.version >= (e.op == opcode::layer_norm ? 17 : 23);
}

[[nodiscard]] inline bool degenerate(emission const& e) {
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.operands[i].has_rank && e.operands[i].shape.empty()) return true;
  auto const x = e.operands[0].shape;
  return x.size() == 1 || (!x.empty() && x.back() == extent(1));
}

[[nodiscard]] inline bool counts_axes(emission const& e) {
  auto const& x = e.operands[0];
  return e.negative_axes || (x.has_rank && static_cast<double>(x.shape.size()) >= -e.number("axis"));
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if (!is_norm(e.op) || e.operands.empty()) return {};
  auto const type = e.operands[0].type;
  if (type == element_type::unknown) return "the element type of the norm's input is not known";
  if (!is_floating(type)) return "the norm's input is not of a floating element type";
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.has(i) && e.operands[i].type != type) return "scale or bias has another element type than the norm's input";
  if (!e.has(1)) return "the operator needs a scale";
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  if (e.results > 1 && e.op == opcode::rms_norm) return "the operator has no statistics among its results";
  if (e.results > 1 && type == element_type::float64)
    return "statistics of a double norm are no results of the operator";
  if (e.to == target::onnxruntime && type == element_type::bfloat16) return "onnxruntime has no bfloat16 kernel for it";
  if (!has_operator(e) && !counts_axes(e))
    return "axes count from the first one at this operator set version, and the rank is not known";
  return {};
}

template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (is_norm(e.op) && !e.operands.empty() && e.operands[0].type == element_type::float64)
    attributes.push_back({"stash_type", std::int64_t{11}});
}

template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into)
      : base(e, into), axis_(static_cast<std::int64_t>(e.number("axis"))), degenerate_(degenerate(e)) {}

  void write() {
    bool const centred = e_.op == opcode::layer_norm;
    bool const bias = e_.has(2);
    base::begin(centred ? "LayerNormalization" : "RMSNormalization");
    body_.name += "_axes" + std::to_string(-axis_);
    if (degenerate_) body_.name += "_reciprocal";
    body_.inputs.push_back("Scale");
    if (bias) {
      body_.inputs.push_back("Bias");
      body_.name += "_bias";
    }
    body_.attributes = {"axis"};
    if (e_.results > 1) {
      body_.name += e_.results > 2 ? "_statistics" : "_mean";
      body_.outputs.push_back("Mean");
      if (e_.results > 2) body_.outputs.push_back("InvStdDev");
    }
    std::int64_t first = 0;
    if (!e_.negative_axes) {
      first = static_cast<std::int64_t>(e_.operands[0].shape.size());
      body_.name += "_rank" + std::to_string(first);
    }
    for (std::int64_t i = axis_; i < 0; ++i) axes_.push_back(first + i);

    auto const x = base::widened();
    base::parameter("Epsilon", "epsilon");
    if (e_.results == 1) base::number("Two", 2);
    if (e_.version >= 18) base::step("Constant", {}, "Axes", {{"value_ints", axes_}});
    std::string d = x;
    if (centred) {
      mean(x, "Mean");
      base::step("Sub", {x, "Mean"}, "D");
      d = "D";
    }
    if (e_.results > 1)
      base::step("Mul", {d, d}, "Square");
    else
      base::step("Pow", {d, "Two"}, "Square");
    mean("Square", "Variance");
    base::step("Add", {"Variance", "Epsilon"}, "Shifted");
    base::step("Sqrt", {"Shifted"}, "Deviation");
    if (e_.results > 2) base::step("Reciprocal", {"Deviation"}, "InvStdDev");
    if (computed_ == element_type::float64 || degenerate_) {
      if (e_.results < 3) base::step("Reciprocal", {"Deviation"}, "InvStdDev");
      base::step("Mul", {d, "InvStdDev"}, "Normalised");
    } else {
      base::step("Div", {d, "Deviation"}, "Normalised");
    }
    std::string n = "Normalised";
    if (type_ != computed_) n = base::cast(n, "NormalisedT", type_);
    base::step("Mul", {n, "Scale"}, bias ? "Scaled" : "Y");
    if (bias) base::step("Add", {"Scaled", "Bias"}, "Y");
  }

 private:
  void mean(std::string const& of, std::string const& to) {
    if (e_.version >= 18)
      base::step("ReduceMean", {of, "Axes"}, to, {{"keepdims", std::int64_t{1}}});
    else
      base::step("ReduceMean", {of}, to, {{"axes", axes_}, {"keepdims", std::int64_t{1}}});
  }

  using base::body_, base::computed_, base::e_, base::type_;
  std::int64_t axis_;
  bool degenerate_;
  std::vector<std::int64_t> axes_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (!is_norm(e.op) || e.operands.size() < 2 || !(e.number("axis") < 0) || !counts_axes(e)) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_norms

namespace fuse::inline v0::detail::onnx_rotary {

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const at = e.op == opcode::rotary_embedding_at;
  if ((e.op != opcode::rotary_embedding && !at) || e.operands.size() < 3 || (!at && e.has(3))) return {};
  auto const &x = e.operands[0], &cosines = e.operands[at ? 2 : 1], &sines = e.operands[at ? 3 : 2];
  if (at && (!(e.operands[1].number == 0) || e.operands[1].shape.size() != 1))
    return "the first position is not provably 0, in one element of one axis";
  if (x.type == element_type::unknown) return "the element type of what is turned is not known";
  if (!is_floating(x.type) || x.type == element_type::float64)
    return "the operator takes float, half and bfloat16, and no other type";
  if (cosines.type != x.type || sines.type != x.type) return "the operator takes operands of one element type";
  if (!x.has_rank || (x.shape.size() != 3 && x.shape.size() != 4))
    return "the operator takes inputs of three or four axes";
  std::size_t const rank = at ? 2 : 3;
  if (!cosines.has_rank || !sines.has_rank || cosines.shape.size() != rank || sines.shape.size() != rank)
    return at ? "cosines and sines are not of two axes" : "cosines and sines are not of three axes";
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (!(cosines.shape[axis] == sines.shape[axis])) return "cosines and sines have provably not one shape";
  auto const row = x.shape.back(), half = cosines.shape[rank - 1];
  auto const heads = x.shape.size() == 4 ? 1.0 : e.number("num_heads");
  if (!row.known() || !half.known() ||
      !(static_cast<double>(row.value()) == heads * 2.0 * static_cast<double>(half.value())))
    return "cosines and sines have not, or not provably, half as many columns as a head";
  if (!(cosines.shape[rank - 2] == x.shape[x.shape.size() - 2]))
    return "cosines and sines are not provably as long as the sequence";
  bool const one_for_all = at || (e.version < 23 && cosines.shape[0] == extent(1));
  if (!one_for_all && !(cosines.shape[0] == x.shape[0])) return "cosines and sines are not provably of as many batches";
  return {};
}

template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into)
      : base(e, into), neighbours_(e.number("interleaved") == 1), joined_(e.number("num_heads") > 0) {}

  void write() {
    base::begin("RotaryEmbedding");
    if (neighbours_) body_.name += "_interleaved";
    if (joined_) body_.name += "_joined";
    body_.inputs = {"X", "Cosines", "Sines"};
    body_.attributes = {"interleaved"};
    std::int64_t const two = neighbours_ ? 4 : 3, heads = joined_ ? 2 : 1;
    list("Two", {2});
    list("Three", {3});
    base::step("Shape", {"X"}, "Whole");
    base::step("Shape", {"Cosines"}, "Extents");
    base::step("Slice", {"Extents", "Two", "Three"}, "Pairs");
    texts parted{"Kept"};
    if (joined_) {
      body_.attributes.push_back("num_heads");
      base::step("Constant", {}, "HeadCount", {}, {{"value_int", "num_heads"}});
      list("One", {1});
      base::step("Reshape", {"HeadCount", "One"}, "Heads");
      parted.push_back("Heads");
    }
    list("Kept", joined_ ? integers{0, 0} : integers{0, 0, 0});
    parted.insert(parted.end(), {neighbours_ ? "Pairs" : "Two", neighbours_ ? "Two" : "Pairs"});
    base::step("Concat", std::move(parted), "Parted", along(0));
    base::step("Reshape", {"X", "Parted"}, "ByPairs");
    auto parts = along(two);
    if (e_.version >= 18) parts.push_back({"num_outputs", std::int64_t{2}});
    body_.steps.push_back({"Split", {"ByPairs"}, {"First", "Second"}, std::move(parts), {}});
    unsqueezed("Cosines", "C", {heads, two});
    unsqueezed("Sines", "S", {heads, two});
    base::step("Mul", {"First", "C"}, "FirstC");
    base::step("Mul", {"Second", "S"}, "SecondS");
    base::step("Mul", {"Second", "C"}, "SecondC");
    base::step("Mul", {"First", "S"}, "FirstS");
    base::step("Sub", {"FirstC", "SecondS"}, "NewFirst");
    base::step("Add", {"SecondC", "FirstS"}, "NewSecond");
    base::step("Concat", {"NewFirst", "NewSecond"}, "Turned", along(two));
    base::step("Reshape", {"Turned", "Whole"}, "Y");
  }

 private:
  using texts = std::vector<std::string>;
  using integers = std::vector<std::int64_t>;

  static std::vector<attribute> along(std::int64_t axis) { return {{"axis", axis}}; }
  void list(std::string const& name, integers const& numbers) {
    auto const count = static_cast<std::int64_t>(numbers.size());
    base::step("Constant", {}, name, {{"value", make_tensor<std::int64_t>({count}, {numbers.data(), numbers.size()})}});
  }
  void unsqueezed(std::string const& from, std::string const& to, integers axes) {
    if (e_.version < 13) return base::step("Unsqueeze", {from}, to, {{"axes", std::move(axes)}});
    list(to + "Axes", axes);
    base::step("Unsqueeze", {from, to + "Axes"}, to);
  }

  using base::body_, base::e_;
  bool neighbours_, joined_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (e.op != opcode::rotary_embedding || e.operands.size() != 3 || e.version < 12) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_rotary

namespace fuse::inline v0::detail::onnx_skip_norms {

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if ((e.op != opcode::skip_layer_norm && e.op != opcode::skip_rms_norm) || e.operands.size() < 3) return {};
  auto const& input = e.operands[0];
  if (!input.has_rank || (input.shape.size() != 2 && input.shape.size() != 3))
    return "the operator takes inputs of two or three axes";
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.has(i) && e.operands[i].type != input.type) return "the operator takes operands of one element type";
  auto const& skip = e.operands[1];
  auto const rank = input.shape.size(), skip_rank = skip.shape.size();
  bool fits = skip.has_rank && skip_rank <= rank && (skip_rank == rank || (rank == 3 && skip_rank == 2));
  for (std::size_t i = 1; fits && i <= skip_rank; ++i) {
    auto const a = input.shape[rank - i], b = skip.shape[skip_rank - i];
    fits = a == b || (i == 3 && b == extent(1));
  }
  if (!fits) return "the skip has provably neither the shape of the input nor one that the operator repeats";
  for (std::size_t i = 2; i < e.operands.size(); ++i)
    if (e.has(i) && (e.operands[i].shape.size() != 1 || !(e.operands[i].shape[0] == input.shape.back())))
      return "scale or bias is not provably one row of the last axis";
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  return {};
}

}  // namespace fuse::inline v0::detail::onnx_skip_norms

namespace fuse::inline v0::detail::onnx_functions {

struct stand_in {
  opcode op = opcode::opaque;
  std::size_t least = 1, most = 1;  ///< operands
  std::string_view parameter{}, constant{};
  bool over_axes = false;                   ///< it has a parameter "axis", which the body holds
  span<std::string_view const> variants{};  ///< parameters for which, where they are above 0, the body is another one
};
inline constexpr std::string_view rotary_variants[] = {"interleaved", "num_heads"};
inline constexpr stand_in all[] = {
    {opcode::layer_norm, 2, 3, "epsilon", "Epsilon", true},
    {opcode::rms_norm, 2, 2, "epsilon", "Epsilon", true},
    {opcode::gelu},
    {opcode::fast_gelu},
    {opcode::swish, 1, 1, "alpha", "Alpha"},
    {opcode::mish},
    {opcode::hard_swish},
    {opcode::rotary_embedding, 3, 3, {}, {}, false, rotary_variants},
};

[[nodiscard]] inline bool stands_in(opcode op, std::size_t operands) {
  for (auto const& each : all)
    if (each.op == op && operands <= each.most) return true;
  return false;
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  for (auto const why :
       {onnx_norms::refuse(e), onnx_channel_norms::refuse(e), onnx_skip_norms::refuse(e), onnx_embeddings::refuse(e),
        onnx_activations::refuse(e), onnx_rotary::refuse(e), onnx_attention::refuse(e)})
    if (!why.empty()) return why;
  if (e.op == opcode::clip && e.version < 12 && e.has(0) && e.operands[0].type == element_type::float64)
    return "onnxruntime has no Clip of doubles at this operator set version";
  if (!e.operands.empty() && e.operands[0].type == element_type::bfloat16 && e.version < 13 &&
      stands_in(e.op, e.operands.size()))
    return "this operator set version has no bfloat16";
  return {};
}

template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  onnx_norms::complete(e, attributes);
  onnx_channel_norms::complete(e, attributes);
  onnx_activations::complete(e, attributes);
}

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  return onnx_norms::function(e, into) || onnx_activations::function(e, into) || onnx_rotary::function(e, into);
}

struct emission_rules {
  template <class Dialect>
  static constexpr void add_to(Dialect& into) {
    into.refuse = &refuse;
    into.stands_in = &stands_in;
    into.function = &function<function_body>;
    into.complete = &complete<attribute>;
  }
};

}  // namespace fuse::inline v0::detail::onnx_functions

namespace fuse::inline v0::detail::onnx_rows {

namespace listed {
using enum attribute_kind;

inline constexpr attribute_info list0_all[] = {{"axis", integer, 1, 7}, {"broadcast", integer, 1, 7}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list1_all[] = {{"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list2_all[] = {{"axis", integer, 1, 7}, {"broadcast", integer, 1, 7}};
inline constexpr attribute_info list3_all[] = {{"approximate", text}};
inline constexpr attribute_info list4_all[] = {{"alpha", number}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list5_all[] = {{"alpha", number}, {"beta", number}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list6_all[] = {{"fmod", integer}};
inline constexpr attribute_info list7_all[] = {{"consumed_inputs", integers, 1, 6}, {"max", number, 1, 11}, {"min", number, 1, 11}};
inline constexpr attribute_info list8_all[] = {{"detect_negative", integer}, {"detect_positive", integer}};
inline constexpr attribute_info list9_all[] = {{"round_mode", text, 24}, {"saturate", integer, 19}, {"to", integer, 1, 0, 1}};
inline constexpr attribute_info list10_all[] = {{"round_mode", text, 24}, {"saturate", integer, 19}};
inline constexpr attribute_info list11_all[] = {{"consumed_inputs", integers, 1, 6}, {"is_test", integer, 1, 7}, {"ratio", number, 1, 12}, {"seed", integer, 12}};
inline constexpr attribute_info list12_all[] = {{"sparse_value", other, 11}, {"value", tensor}, {"value_float", number, 12}, {"value_floats", numbers, 12}, {"value_int", integer, 12}, {"value_ints", integers, 12}, {"value_string", text, 12}, {"value_strings", other, 12}};
inline constexpr attribute_info list13_all[] = {{"value", tensor}};
inline constexpr attribute_info list14_all[] = {{"end", integer, 15}, {"start", integer, 15}};
inline constexpr attribute_info list15_all[] = {{"stash_type", integer, 27}};
inline constexpr attribute_info list16_all[] = {{"allowzero", integer, 14}, {"consumed_inputs", integers, 1, 5}, {"shape", integers, 1, 5}};
inline constexpr attribute_info list17_all[] = {{"axis", integer}};
inline constexpr attribute_info list18_all[] = {{"axes", integers, 1, 13}};
inline constexpr attribute_info list19_all[] = {{"axes", integers, 1, 13, 1}};
inline constexpr attribute_info list20_all[] = {{"perm", integers}};
inline constexpr attribute_info list21_all[] = {{"axis", integer, 1, 0, 4}};
inline constexpr attribute_info list22_all[] = {{"axis", integer}, {"num_outputs", integer, 18}, {"split", integers, 1, 13}};
inline constexpr attribute_info list23_all[] = {{"axes", integers, 1, 10}, {"ends", integers, 1, 10, 1}, {"starts", integers, 1, 10, 1}};
inline constexpr attribute_info list24_all[] = {{"batch_dims", integer, 12}};
inline constexpr attribute_info list25_all[] = {{"reduction", text, 16}};
inline constexpr attribute_info list26_all[] = {{"axis", integer}, {"reduction", text, 16}};
inline constexpr attribute_info list27_all[] = {{"mode", text}, {"paddings", integers, 1, 2, 1}, {"pads", integers, 2, 11, 2}, {"value", number, 1, 11}};
inline constexpr attribute_info list28_all[] = {{"upper", integer}};
inline constexpr attribute_info list29_all[] = {{"exclusive", integer}, {"reverse", integer}};
inline constexpr attribute_info list30_all[] = {{"axis", integer}, {"k", integer, 1, 10, 1}, {"largest", integer, 11}, {"sorted", integer, 11}};
inline constexpr attribute_info list31_all[] = {{"axes", integers, 1, 18}, {"keepdims", integer}, {"noop_with_empty_axes", integer, 18}};
inline constexpr attribute_info list32_all[] = {{"axes", integers, 1, 13}, {"keepdims", integer}, {"noop_with_empty_axes", integer, 13}};
inline constexpr attribute_info list33_all[] = {{"axis", integer}, {"keepdims", integer}, {"select_last_index", integer, 12}};
inline constexpr attribute_info list34_all[] = {{"alpha", number}, {"beta", number}, {"broadcast", integer, 1, 7}, {"transA", integer}, {"transB", integer}};
inline constexpr attribute_info list35_all[] = {{"equation", text, 1, 0, 12}};
inline constexpr attribute_info list36_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list37_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"output_padding", integers}, {"output_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list38_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 10}, {"dilations", integers, 10}, {"kernel_shape", integers, 1, 0, 1}, {"pads", integers}, {"storage_order", integer, 8}, {"strides", integers}};
inline constexpr attribute_info list39_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 10}, {"count_include_pad", integer, 7}, {"dilations", integers, 19}, {"kernel_shape", integers, 1, 0, 1}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list40_all[] = {{"antialias", integer, 18}, {"axes", integers, 18}, {"coordinate_transformation_mode", text, 11}, {"cubic_coeff_a", number, 11}, {"exclude_outside", integer, 11}, {"extrapolation_value", number, 11}, {"keep_aspect_ratio_policy", text, 18}, {"mode", text}, {"nearest_mode", text, 11}};
inline constexpr attribute_info list41_all[] = {{"consumed_inputs", integers, 1, 6, 1}, {"epsilon", number}, {"is_test", integer, 1, 7}, {"momentum", number}, {"spatial", integer, 1, 9}, {"training_mode", integer, 14}};
inline constexpr attribute_info list42_all[] = {{"consumed_inputs", integers, 1, 6}, {"epsilon", number}};
inline constexpr attribute_info list43_all[] = {{"epsilon", number}, {"num_groups", integer, 1, 0, 18}, {"stash_type", integer, 21}};
inline constexpr attribute_info list44_all[] = {{"axis", integer}, {"epsilon", number}, {"stash_type", integer}};
inline constexpr attribute_info list45_all[] = {{"interleaved", integer}, {"num_heads", integer}, {"rotary_embedding_dim", integer}};
inline constexpr attribute_info list46_all[] = {{"is_causal", integer}, {"kv_num_heads", integer}, {"left_window_size", integer, 25}, {"q_num_heads", integer}, {"qk_matmul_output_mode", integer}, {"right_window_size", integer, 25}, {"scale", number}, {"softcap", number}, {"softmax_precision", integer}};
inline constexpr attribute_info list47_all[] = {{"axis", integer, 13}, {"block_size", integer, 21}, {"output_dtype", integer, 21}, {"precision", integer, 23}, {"saturate", integer, 19}};
inline constexpr attribute_info list48_all[] = {{"axis", integer, 13}, {"block_size", integer, 21}, {"output_dtype", integer, 23}};
inline constexpr attribute_info list49_all[] = {{"alpha", number}, {"consumed_inputs", integers, 1, 6}, {"gamma", number}};
inline constexpr attribute_info list50_all[] = {{"alpha", number}};
inline constexpr attribute_info list51_all[] = {{"bias", number}, {"lambd", number}};
inline constexpr attribute_info list52_all[] = {{"blocksize", integer, 1, 0, 1}, {"mode", text, 11}};
inline constexpr attribute_info list53_all[] = {{"blocksize", integer, 1, 0, 1}, {"mode", text, 28}};
inline constexpr attribute_info list54_all[] = {{"batch_axis", integer}, {"time_axis", integer}};
inline constexpr attribute_info list55_all[] = {{"dtype", integer}, {"k", integer}};
inline constexpr attribute_info list56_all[] = {{"axis", integer}, {"p", integer}};
inline constexpr attribute_info list57_all[] = {{"axes", integers}};
inline constexpr attribute_info list58_all[] = {{"alpha", number}, {"beta", number}, {"bias", number}, {"size", integer, 1, 0, 1}};
inline constexpr attribute_info list59_all[] = {{"height_scale", number, 1, 7, 1}, {"mode", text}, {"scales", numbers, 7, 9, 7}, {"width_scale", number, 1, 7, 1}};
inline constexpr attribute_info list60_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"input_forget", integer}, {"layout", integer, 14}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list61_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer, 14}, {"linear_before_reset", integer, 3}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list62_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer, 14}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list63_all[] = {{"else_branch", other, 1, 0, 1}, {"then_branch", other, 1, 0, 1}};
inline constexpr attribute_info list64_all[] = {{"body", other, 1, 0, 1}};
inline constexpr attribute_info list65_all[] = {{"body", other, 1, 0, 8}, {"directions", integers, 1, 9}, {"num_scan_inputs", integer, 1, 0, 8}, {"scan_input_axes", integers, 9}, {"scan_input_directions", integers, 9}, {"scan_output_axes", integers, 9}, {"scan_output_directions", integers, 9}};
inline constexpr attribute_info list66_all[] = {{"direction", text, 1, 0, 11}};
inline constexpr attribute_info list67_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 18}, {"dilations", integers, 18}, {"kernel_shape", integers, 1, 0, 2}, {"p", integer}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list68_all[] = {{"p", integer}};
inline constexpr attribute_info list69_all[] = {{"axis", integer}, {"mode", text}};
inline constexpr attribute_info list70_all[] = {{"activation", text}};
inline constexpr attribute_info list71_all[] = {{"chunk_size", integer}, {"kv_num_heads", integer, 1, 0, 27}, {"q_num_heads", integer, 1, 0, 27}, {"scale", number}, {"update_rule", text}};
inline constexpr attribute_info list72_all[] = {{"ignore_index", integer}, {"reduction", text}};
inline constexpr attribute_list none{}, list0{list0_all}, list1{list1_all}, list2{list2_all}, list3{list3_all}, list4{list4_all}, list5{list5_all}, list6{list6_all}, list7{list7_all}, list8{list8_all}, list9{list9_all}, list10{list10_all}, list11{list11_all}, list12{list12_all}, list13{list13_all}, list14{list14_all}, list15{list15_all}, list16{list16_all}, list17{list17_all}, list18{list18_all}, list19{list19_all}, list20{list20_all}, list21{list21_all}, list22{list22_all}, list23{list23_all}, list24{list24_all}, list25{list25_all}, list26{list26_all}, list27{list27_all}, list28{list28_all}, list29{list29_all}, list30{list30_all}, list31{list31_all}, list32{list32_all}, list33{list33_all}, list34{list34_all}, list35{list35_all}, list36{list36_all}, list37{list37_all}, list38{list38_all}, list39{list39_all}, list40{list40_all}, list41{list41_all}, list42{list42_all}, list43{list43_all}, list44{list44_all}, list45{list45_all}, list46{list46_all}, list47{list47_all}, list48{list48_all}, list49{list49_all}, list50{list50_all}, list51{list51_all}, list52{list52_all}, list53{list53_all}, list54{list54_all}, list55{list55_all}, list56{list56_all}, list57{list57_all}, list58{list58_all}, list59{list59_all}, list60{list60_all}, list61{list61_all}, list62{list62_all}, list63{list63_all}, list64{list64_all}, list65{list65_all}, list66{list66_all}, list67{list67_all}, list68{list68_all}, list69{list69_all}, list70{list70_all}, list71{list71_all}, list72{list72_all};
inline constexpr element_types types0[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {6, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2}, 0x13cc2, false}, {14, {0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types1[] = {{1, {0xc02}, 0xc02, false}, {6, {0xcea}, 0xcea, false}, {13, {0x10cea}, 0x10cea, false}};
inline constexpr element_types types2[] = {{1, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types3[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {12, {0xcc2, 0x3cfe}, 0xcc2, false}, {13, {0x10cc2, 0x3cfe}, 0x10cc2, false}, {15, {0x10cc2, 0x13cfe}, 0x10cc2, false}};
inline constexpr element_types types4[] = {{1, {0xc02}, 0xc02, false}, {6, {0x3cfe}, 0x3cfe, false}, {13, {0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types5[] = {{9, {0x3cfe}, 0x3cfe, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types6[] = {{7, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types7[] = {{1, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}, {14, {0x10cea}, 0x10cea, false}};
inline constexpr element_types types8[] = {{20, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types9[] = {{1, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types10[] = {{1, {0xc02}, 0xc02, false}, {16, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types11[] = {{14, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types12[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {16, {0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types13[] = {{11, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types14[] = {{9, {0x3cfe}, 0x3cfe, false}, {13, {0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types15[] = {{1, {0xc02}, 0xc02, true}, {12, {0x3cfe}, 0x3cfe, true}, {13, {0x13cfe}, 0x13cfe, true}};
inline constexpr element_types types16[] = {{1, {0xc02}, 0xc02, true}, {13, {0x10c02}, 0x10c02, true}};
inline constexpr element_types types17[] = {{10, {0x3cfe, 0x3cfe}, 0x3cfe, false}, {13, {0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types18[] = {{1, {0xc02}, 0xc02, false}, {11, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {12, {0x3cfe, 0x3cfe, 0x3cfe}, 0x3cfe, false}, {13, {0x13cfe, 0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types19[] = {{1, {0x2c0, 0x2c0}, 0x200, false}, {11, {0x3efe, 0x3efe}, 0x200, false}, {13, {0x13efe, 0x13efe}, 0x200, false}, {19, {0x13ffe, 0x13ffe}, 0x200, false}};
inline constexpr element_types types20[] = {{1, {0xc02, 0xc02}, 0x200, false}, {9, {0x3cfe, 0x3cfe}, 0x200, false}, {13, {0x13cfe, 0x13cfe}, 0x200, false}};
inline constexpr element_types types21[] = {{12, {0x3cfe, 0x3cfe}, 0x200, false}, {16, {0x13cfe, 0x13cfe}, 0x200, false}};
inline constexpr element_types types22[] = {{1, {0x200, 0x200}, 0x200, false}};
inline constexpr element_types types23[] = {{1, {0x200}, 0x200, false}};
inline constexpr element_types types24[] = {{9, {0x200, 0xfffe, 0xfffe}, 0xfffe, false}, {16, {0x200, 0x1fffe, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types25[] = {{9, {0xc02}, 0x200, false}, {13, {0x10c02}, 0x200, false}, {20, {0x30c02}, 0x200, false}};
inline constexpr element_types types26[] = {{10, {0x802}, 0x200, false}, {20, {0x30c02}, 0x200, false}};
inline constexpr element_types types27[] = {{1, {0x3efe}, 0x3efe, false}, {9, {0x3ffe}, 0x3ffe, false}, {13, {0x13ffe}, 0x13ffe, false}, {19, {0x33ffe}, 0x33ffe, false}};
inline constexpr element_types types28[] = {{15, {0x13ffe, 0x13ffe}, 0x13ffe, false}, {19, {0x33ffe, 0x33ffe}, 0x33ffe, false}};
inline constexpr element_types types29[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {14, {0x0}, 0x0, false}};
inline constexpr element_types types30[] = {{1, {0xc02}, 0xc02, false}, {12, {0xc02, 0xc02, 0x200}, 0xc02, false}, {13, {0x10c02, 0xc02, 0x200}, 0x10c02, false}, {22, {0x30c02, 0x30c02, 0x200}, 0x30c02, false}};
inline constexpr element_types types31[] = {{1, {}, 0xc02, false}, {9, {}, 0xfffe, false}, {13, {}, 0x1fffe, false}, {19, {}, 0x3fffe, false}};
inline constexpr element_types types32[] = {{9, {0x80}, 0x3efe, false}, {20, {0x80}, 0x33efe, false}};
inline constexpr element_types types33[] = {{1, {0xfffe}, 0x80, false}, {13, {0x1fffe}, 0x80, false}, {19, {0x3fffe}, 0x80, false}};
inline constexpr element_types types34[] = {{11, {0x8e2, 0x8e2, 0x8e2}, 0x8e2, false}, {27, {0x10ce2, 0x10ce2, 0x10ce2}, 0x10ce2, false}};
inline constexpr element_types types35[] = {{1, {0xc02}, 0xc02, false}, {5, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}, {19, {0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types36[] = {{1, {0xc02}, 0xc02, false}, {9, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {21, {0x3fffe}, 0x3fffe, false}};
inline constexpr element_types types37[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}, {21, {0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types38[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {21, {0x3fffe}, 0x3fffe, false}};
inline constexpr element_types types39[] = {{1, {0xc02}, 0xc02, true}, {4, {0xfffe}, 0xfffe, true}, {13, {0x1fffe}, 0x1fffe, true}};
inline constexpr element_types types40[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {2, {0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types41[] = {{1, {0xfffe}, 0xfffe, false}, {10, {0xfffe, 0xc0, 0xc0, 0xc0, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0, 0xc0, 0xc0, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types42[] = {{1, {0xfffe, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types43[] = {{11, {0xfffe, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types44[] = {{11, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types45[] = {{11, {0xfffe, 0x80, 0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types46[] = {{11, {0xfffe, 0xc0, 0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0xc0, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types47[] = {{8, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types48[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {6, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types49[] = {{1, {0xc02}, 0xc02, false}, {11, {0x3cfe, 0x80, 0x3cfe}, 0x3cfe, false}, {13, {0x1fffe, 0x80, 0x1fffe}, 0x1fffe, false}, {18, {0x1fffe, 0x80, 0x1fffe, 0xc0}, 0x1fffe, false}, {21, {0x3fffe, 0x80, 0x3fffe, 0xc0}, 0x3fffe, false}};
inline constexpr element_types types50[] = {{14, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types51[] = {{9, {0x3cfe, 0x3cfe, 0xfffe}, 0xfffe, false}, {28, {0x3cfe, 0x3cfe, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types52[] = {{9, {0xfffe}, 0x80, false}, {13, {0x1fffe}, 0x80, false}};
inline constexpr element_types types53[] = {{11, {0x38c2, 0xc0}, 0x38c2, false}, {14, {0x13cc2, 0xc0}, 0x13cc2, false}};
inline constexpr element_types types54[] = {{1, {0xc02}, 0xc02, false}, {10, {0xc02, 0x80}, 0xc02, false}, {11, {0x3cfe, 0x80}, 0x3cfe, false}, {24, {0x13cfe, 0x80}, 0x13cfe, false}};
inline constexpr element_types types55[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2}, 0x13cc2, false}, {18, {0x13cc2, 0x80}, 0x13cc2, false}};
inline constexpr element_types types56[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x80}, 0x13cc2, false}};
inline constexpr element_types types57[] = {{1, {0x3cc2}, 0x3cc2, false}, {12, {0x3cce}, 0x3cce, false}, {13, {0x13cce}, 0x13cce, false}, {18, {0x13cce, 0x80}, 0x13cce, false}, {20, {0x13ece, 0x80}, 0x13ece, false}};
inline constexpr element_types types58[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2}, 0x13cc2, false}, {18, {0x13cc2, 0x80}, 0x13cc2, false}, {28, {0x10c02, 0x80}, 0x10c02, false}};
inline constexpr element_types types59[] = {{1, {0x3cfe}, 0x80, false}, {13, {0x13cfe}, 0x80, false}};
inline constexpr element_types types60[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types61[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types62[] = {{12, {0x3cfe}, 0x3cfe, true}, {28, {0x13cfe}, 0x13cfe, true}};
inline constexpr element_types types63[] = {{10, {0xc, 0xc, 0xc, 0xc}, 0x40, false}};
inline constexpr element_types types64[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {22, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types65[] = {{1, {0xc02}, 0xc02, false}, {12, {0xc0e}, 0xc0e, false}, {22, {0x10c0e}, 0x10c0e, false}};
inline constexpr element_types types66[] = {{10, {0xfffe, 0x2}, 0xfffe, false}, {11, {0xfffe, 0xc02, 0x2, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0xc02, 0x2, 0x80}, 0x1fffe, false}};
inline constexpr element_types types67[] = {{1, {0xc02, 0xc02, 0xc02, 0xc02, 0xc02}, 0xc02, false}, {14, {0x10c02, 0x10c02, 0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types68[] = {{18, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types69[] = {{17, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types70[] = {{23, {0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types71[] = {{23, {0x10402, 0x10402, 0x10402, 0x80}, 0x10402, false}};
inline constexpr element_types types72[] = {{23, {0x10c02, 0x10c02, 0x10c02, 0x13efe, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types73[] = {{10, {0x42, 0x2, 0xc}, 0xc, false}, {19, {0x10442, 0x10442, 0x2000c}, 0x2000c, false}, {21, {0x10442, 0x10442, 0x2003c}, 0x2003c, false}, {24, {0x10442, 0x30442, 0x2003c}, 0x2003c, false}};
inline constexpr element_types types74[] = {{10, {0x4c, 0x2, 0x4c}, 0x2, false}, {19, {0x2004c, 0x10402, 0x2004c}, 0x10402, false}, {21, {0x2007c, 0x10402, 0x2007c}, 0x10402, false}, {24, {0x2007c, 0x30402, 0x2007c}, 0x10402, false}};
inline constexpr element_types types75[] = {{11, {0x2}, 0x4, false}};
inline constexpr element_types types76[] = {{9, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types77[] = {{12, {0x2}, 0x2, false}, {28, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types78[] = {{10, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types79[] = {{18, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types80[] = {{24, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types81[] = {{9, {0x3cfe}, 0x3cfe, false}};
inline constexpr element_types types82[] = {{18, {0x30fc, 0x30fc}, 0x30fc, false}};
inline constexpr element_types types83[] = {{18, {0x30fc}, 0x30fc, false}};
inline constexpr element_types types84[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types85[] = {{10, {0xfffe, 0x80}, 0xfffe, false}, {28, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types86[] = {{9, {0x3efe}, 0x3efe, false}, {22, {0x13efe}, 0x13efe, false}};
inline constexpr element_types types87[] = {{9, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types88[] = {{1, {0xec2}, 0xec2, false}, {7, {0xfffe}, 0xfffe, false}, {9, {0xfffe, 0x2}, 0xfffe, false}};
inline constexpr element_types types89[] = {{10, {0xc, 0x2, 0xc, 0xc, 0x2}, 0xc, false}, {21, {0x2000c, 0x10402, 0x2000c, 0x2000c, 0x10402}, 0x2000c, false}};
inline constexpr element_types types90[] = {{10, {0xc, 0x2, 0xc, 0xc, 0x2}, 0xc, false}};
inline constexpr element_types types91[] = {{1, {0xc02, 0xc02, 0xc02, 0xc02, 0x40}, 0xc02, false}, {22, {0x10c02, 0x10c02, 0x10c02, 0x10c02, 0x40}, 0x10c02, false}};
inline constexpr element_types types92[] = {{1, {0x200}, 0xfffe, false}, {13, {0x200}, 0x0, false}};
inline constexpr element_types types93[] = {{1, {0x80, 0x200, 0xfffe}, 0xfffe, true}, {13, {0x80, 0x200, 0x0}, 0x0, true}};
inline constexpr element_types types94[] = {{8, {0x80, 0xfffe}, 0xfffe, true}, {9, {0xfffe}, 0xfffe, true}, {16, {0x1fffe}, 0x1fffe, true}, {19, {0x3fffe}, 0x3fffe, true}};
inline constexpr element_types types95[] = {{11, {0x3014, 0x3014}, 0x3014, false}, {28, {0x30fc, 0x30fc}, 0x30fc, false}};
inline constexpr element_types types96[] = {{28, {0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types97[] = {{26, {0x13cc2, 0xc0}, 0x13cc2, false}};
inline constexpr element_types types98[] = {{9, {0xfffe, 0x200}, 0xfffe, false}, {28, {0x1fffe, 0x200}, 0x1fffe, false}};
inline constexpr element_types types99[] = {{9, {0xfffe, 0xc0, 0xfffe}, 0xfffe, false}};
inline constexpr element_types types100[] = {{24, {0x3fffe, 0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types101[] = {{27, {0x10402, 0x10402, 0x10402, 0x10402}, 0x10402, false}};
inline constexpr element_types types102[] = {{27, {0x10402, 0x10402, 0x10402, 0x10402, 0x10402}, 0x10402, false}};
inline constexpr element_types types103[] = {{12, {0xc02, 0xc0, 0xc02}, 0xc02, false}, {22, {0x10c02, 0xc0, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types104[] = {{12, {0xc02, 0xc0, 0xc02}, 0xc02, false}, {13, {0x10c02, 0xc0, 0x10c02}, 0x10c02, false}};
}  // namespace listed

struct standard_operator {
  std::string_view name;
  int since;
  attribute_list const* attributes;
  span<element_types const> types;
};

inline constexpr standard_operator standard[] = {
    {"Add", 1, &listed::list0, listed::types0},
    {"Sub", 1, &listed::list0, listed::types0},
    {"Mul", 1, &listed::list0, listed::types0},
    {"Div", 1, &listed::list0, listed::types0},
    {"Neg", 1, &listed::list1, listed::types1},
    {"Reciprocal", 1, &listed::list1, listed::types2},
    {"Sqrt", 1, &listed::list1, listed::types2},
    {"Pow", 1, &listed::list2, listed::types3},
    {"Abs", 1, &listed::list1, listed::types4},
    {"Exp", 1, &listed::list1, listed::types2},
    {"Log", 1, &listed::list1, listed::types2},
    {"Erf", 9, &listed::none, listed::types5},
    {"Sin", 7, &listed::none, listed::types6},
    {"Cos", 7, &listed::none, listed::types6},
    {"Tanh", 1, &listed::list1, listed::types2},
    {"Sigmoid", 1, &listed::list1, listed::types2},
    {"Relu", 1, &listed::list1, listed::types7},
    {"Gelu", 20, &listed::list3, listed::types8},
    {"Softplus", 1, &listed::none, listed::types9},
    {"LeakyRelu", 1, &listed::list4, listed::types10},
    {"Elu", 1, &listed::list4, listed::types9},
    {"HardSigmoid", 1, &listed::list5, listed::types9},
    {"HardSwish", 14, &listed::none, listed::types11},
    {"PRelu", 1, &listed::list1, listed::types12},
    {"Floor", 1, &listed::list1, listed::types2},
    {"Ceil", 1, &listed::list1, listed::types2},
    {"Round", 11, &listed::none, listed::types13},
    {"Sign", 9, &listed::none, listed::types14},
    {"Min", 1, &listed::list1, listed::types15},
    {"Max", 1, &listed::list1, listed::types15},
    {"Sum", 1, &listed::list1, listed::types16},
    {"Mod", 10, &listed::list6, listed::types17},
    {"Clip", 1, &listed::list7, listed::types18},
    {"Equal", 1, &listed::list2, listed::types19},
    {"Less", 1, &listed::list2, listed::types20},
    {"LessOrEqual", 12, &listed::none, listed::types21},
    {"Greater", 1, &listed::list2, listed::types20},
    {"GreaterOrEqual", 12, &listed::none, listed::types21},
    {"And", 1, &listed::list2, listed::types22},
    {"Or", 1, &listed::list2, listed::types22},
    {"Xor", 1, &listed::list2, listed::types22},
    {"Not", 1, &listed::none, listed::types23},
    {"Where", 9, &listed::none, listed::types24},
    {"IsNaN", 9, &listed::none, listed::types25},
    {"IsInf", 10, &listed::list8, listed::types26},
    {"Cast", 1, &listed::list9, listed::types27},
    {"CastLike", 15, &listed::list10, listed::types28},
    {"Identity", 1, &listed::none, listed::types29},
    {"Dropout", 1, &listed::list11, listed::types30},
    {"Constant", 1, &listed::list12, listed::types31},
    {"ConstantOfShape", 9, &listed::list13, listed::types32},
    {"Shape", 1, &listed::list14, listed::types33},
    {"Size", 1, &listed::none, listed::types33},
    {"Range", 11, &listed::list15, listed::types34},
    {"Reshape", 1, &listed::list16, listed::types35},
    {"Flatten", 1, &listed::list17, listed::types36},
    {"Squeeze", 1, &listed::list18, listed::types37},
    {"Unsqueeze", 1, &listed::list19, listed::types37},
    {"Transpose", 1, &listed::list20, listed::types38},
    {"Concat", 1, &listed::list21, listed::types39},
    {"Split", 1, &listed::list22, listed::types40},
    {"Slice", 1, &listed::list23, listed::types41},
    {"Gather", 1, &listed::list17, listed::types42},
    {"GatherElements", 11, &listed::list17, listed::types43},
    {"GatherND", 11, &listed::list24, listed::types44},
    {"ScatterND", 11, &listed::list25, listed::types45},
    {"ScatterElements", 11, &listed::list26, listed::types46},
    {"Expand", 8, &listed::none, listed::types47},
    {"Tile", 1, &listed::none, listed::types48},
    {"Pad", 1, &listed::list27, listed::types49},
    {"Trilu", 14, &listed::list28, listed::types50},
    {"OneHot", 9, &listed::list17, listed::types51},
    {"NonZero", 9, &listed::none, listed::types52},
    {"CumSum", 11, &listed::list29, listed::types53},
    {"TopK", 1, &listed::list30, listed::types54},
    {"ReduceMean", 1, &listed::list31, listed::types55},
    {"GlobalAveragePool", 1, &listed::none, listed::types9},
    {"ReduceSum", 1, &listed::list32, listed::types56},
    {"ReduceProd", 1, &listed::list31, listed::types55},
    {"ReduceMax", 1, &listed::list31, listed::types57},
    {"ReduceMin", 1, &listed::list31, listed::types57},
    {"ReduceSumSquare", 1, &listed::list31, listed::types55},
    {"ReduceL1", 1, &listed::list31, listed::types55},
    {"ReduceL2", 1, &listed::list31, listed::types55},
    {"ReduceLogSum", 1, &listed::list31, listed::types58},
    {"ReduceLogSumExp", 1, &listed::list31, listed::types58},
    {"ArgMax", 1, &listed::list33, listed::types59},
    {"ArgMin", 1, &listed::list33, listed::types59},
    {"MatMul", 1, &listed::none, listed::types60},
    {"Gemm", 1, &listed::list34, listed::types61},
    {"Einsum", 12, &listed::list35, listed::types62},
    {"MatMulInteger", 10, &listed::none, listed::types63},
    {"Conv", 1, &listed::list36, listed::types64},
    {"ConvTranspose", 1, &listed::list37, listed::types64},
    {"ConvInteger", 10, &listed::list36, listed::types63},
    {"MaxPool", 1, &listed::list38, listed::types65},
    {"AveragePool", 1, &listed::list39, listed::types9},
    {"GlobalMaxPool", 1, &listed::none, listed::types9},
    {"Resize", 10, &listed::list40, listed::types66},
    {"Softmax", 1, &listed::list17, listed::types2},
    {"LogSoftmax", 1, &listed::list17, listed::types2},
    {"BatchNormalization", 1, &listed::list41, listed::types67},
    {"InstanceNormalization", 1, &listed::list42, listed::types64},
    {"GroupNormalization", 18, &listed::list43, listed::types68},
    {"LayerNormalization", 17, &listed::list44, listed::types69},
    {"RMSNormalization", 23, &listed::list44, listed::types70},
    {"RotaryEmbedding", 23, &listed::list45, listed::types71},
    {"Attention", 23, &listed::list46, listed::types72},
    {"QuantizeLinear", 10, &listed::list47, listed::types73},
    {"DequantizeLinear", 10, &listed::list48, listed::types74},
    {"DynamicQuantizeLinear", 11, &listed::none, listed::types75},
    {"Tan", 7, &listed::none, listed::types6},
    {"Asin", 7, &listed::none, listed::types6},
    {"Acos", 7, &listed::none, listed::types6},
    {"Atan", 7, &listed::none, listed::types6},
    {"Sinh", 9, &listed::none, listed::types76},
    {"Cosh", 9, &listed::none, listed::types76},
    {"Asinh", 9, &listed::none, listed::types76},
    {"Acosh", 9, &listed::none, listed::types76},
    {"Atanh", 9, &listed::none, listed::types76},
    {"Selu", 1, &listed::list49, listed::types9},
    {"Celu", 12, &listed::list50, listed::types77},
    {"ThresholdedRelu", 10, &listed::list50, listed::types78},
    {"Softsign", 1, &listed::none, listed::types9},
    {"Mish", 18, &listed::none, listed::types79},
    {"Swish", 24, &listed::list50, listed::types80},
    {"Shrink", 9, &listed::list51, listed::types81},
    {"Mean", 1, &listed::list1, listed::types16},
    {"BitwiseAnd", 18, &listed::none, listed::types82},
    {"BitwiseOr", 18, &listed::none, listed::types82},
    {"BitwiseXor", 18, &listed::none, listed::types82},
    {"BitwiseNot", 18, &listed::none, listed::types83},
    {"DepthToSpace", 1, &listed::list52, listed::types84},
    {"SpaceToDepth", 1, &listed::list53, listed::types84},
    {"ReverseSequence", 10, &listed::list54, listed::types85},
    {"EyeLike", 9, &listed::list55, listed::types86},
    {"Hardmax", 1, &listed::list17, listed::types2},
    {"LpNormalization", 1, &listed::list56, listed::types9},
    {"MeanVarianceNormalization", 9, &listed::list57, listed::types87},
    {"LRN", 1, &listed::list58, listed::types2},
    {"Upsample", 1, &listed::list59, listed::types88},
    {"QLinearMatMul", 10, &listed::none, listed::types89},
    {"QLinearConv", 10, &listed::list36, listed::types90},
    {"LSTM", 1, &listed::list60, listed::types91},
    {"GRU", 1, &listed::list61, listed::types91},
    {"RNN", 1, &listed::list62, listed::types91},
    {"If", 1, &listed::list63, listed::types92},
    {"Loop", 1, &listed::list64, listed::types93},
    {"Scan", 8, &listed::list65, listed::types94},
    {"BitShift", 11, &listed::list66, listed::types95},
    {"SwiGLU", 28, &listed::list50, listed::types96},
    {"CumProd", 26, &listed::list29, listed::types97},
    {"Compress", 9, &listed::list17, listed::types98},
    {"LpPool", 1, &listed::list67, listed::types9},
    {"GlobalLpPool", 1, &listed::list68, listed::types9},
    {"Scatter", 9, &listed::list17, listed::types99},
    {"TensorScatter", 24, &listed::list69, listed::types100},
    {"CausalConvWithState", 27, &listed::list70, listed::types101},
    {"LinearAttention", 27, &listed::list71, listed::types102},
    {"NegativeLogLikelihoodLoss", 12, &listed::list72, listed::types103},
    {"SoftmaxCrossEntropyLoss", 12, &listed::list72, listed::types104},
};

}  // namespace fuse::inline v0::detail::onnx_rows

namespace fuse::inline v0 {
namespace detail::onnx_rows {

using kind = parameter_source::kind;

inline constexpr parameter_source axes_operand[] = {{"axes", kind::operand, {}, 1}};
inline constexpr parameter_source global_pool[] = {{"axes", kind::spatial_axes}, {"keepdims", kind::fixed, {}, 0, 1}};
inline constexpr parameter_source shape_operand[] = {{"shape", kind::operand, {}, 1}};
inline constexpr parameter_source slice_operands[] = {{"starts", kind::operand, {}, 1},
                                                      {"ends", kind::operand, {}, 2},
                                                      {"axes", kind::operand, {}, 3},
                                                      {"steps", kind::operand, {}, 4}};
inline constexpr parameter_source split_operand[] = {{"split", kind::operand, {}, 1}};
inline constexpr parameter_source clip_operands[] = {{"min", kind::operand, {}, 1}, {"max", kind::operand, {}, 2}};
inline constexpr parameter_source softmax_first_axis[] = {{"axis", kind::attribute, "axis", 0, 1, axis_use::trailing}};
inline constexpr parameter_source padding_mode{
    "mode", kind::word, "mode", 0, 0, axis_use::none, "constant reflect edge wrap"};
inline constexpr parameter_source pad_mode[] = {padding_mode};
inline constexpr parameter_source pads_operand[] = {
    {"pads", kind::operand, {}, 1}, {"value", kind::operand, {}, 2}, padding_mode};
inline constexpr parameter_source pads_and_axes[] = {
    {"pads", kind::operand, {}, 1}, {"value", kind::operand, {}, 2}, {"axes", kind::operand, {}, 3}, padding_mode};
inline constexpr parameter_source k_operand[] = {{"k", kind::operand, {}, 1}};
inline constexpr parameter_source approximation[] = {
    {"approximate", kind::word, "approximate", 0, 0, axis_use::none, "none tanh"}};
inline constexpr parameter_source quick_alpha[] = {{"alpha", kind::attribute, "alpha", 0, 1.702}};
inline constexpr parameter_source skip_epsilon[] = {{"epsilon", kind::attribute, "epsilon", 0, 1e-12}};

inline constexpr element_types short_float_types[] = {{1, {0x10402, 0x10402, 0x10402, 0x10402, 0x10402}, 0x10402}};
inline constexpr element_types float_types[] = {{1, {0x10c02, 0x10c02}, 0x10c02}};

inline constexpr element_types embedding_types[] = {{1, {0x40, 0x40, 0x402, 0x402, 0x402}, 0x402}};
inline constexpr element_types quantised_embedding_types[] = {{1, {0x40, 0x40, 0xc, 0xc, 0xc}, 0x2}};
inline constexpr element_types attention_types[] = {{1, {0x402, 0x402, 0x402, 0x402, 0x40}, 0x402}};
inline constexpr element_types rotary_types[] = {{1, {0x402, 0x80, 0x402, 0x402}, 0x402}};

inline constexpr required_attribute no_axis[] = {{"axis"}};
inline constexpr required_attribute is_test[] = {{"is_test", 1, false}};
inline constexpr required_attribute spatial[] = {{"spatial", 1}};
inline constexpr required_attribute is_test_and_spatial[] = {{"is_test", 1, false}, {"spatial", 1}};

[[nodiscard]] constexpr operator_row repeats_by_axis(std::string_view name, opcode op, std::string_view otherwise) {
  return {.name = name, .op = op, .one_shape = true, .needs = no_axis, .otherwise = otherwise};
}
[[nodiscard]] constexpr operator_row one_shape(std::string_view name, opcode op) {
  return {.name = name, .op = op, .one_shape = true};
}
[[nodiscard]] constexpr operator_row otherwise(std::string_view name, element_type type = element_type::unknown) {
  return {.name = name, .emit = target::none, .result = {.shape = result_info::kind::operand, .type = type}};
}

inline constexpr operator_row rows[] = {
    repeats_by_axis("Add", opcode::add, "Add along an axis"), {"Add", opcode::add, 7},
    repeats_by_axis("Sub", opcode::sub, "Sub along an axis"), {"Sub", opcode::sub, 7},
    repeats_by_axis("Mul", opcode::mul, "Mul along an axis"), {"Mul", opcode::mul, 7},
    repeats_by_axis("Div", opcode::div, "Div along an axis"), {"Div", opcode::div, 7}, {"Neg", opcode::neg},
    {"Reciprocal", opcode::reciprocal}, {"Sqrt", opcode::sqrt}, repeats_by_axis("Pow", opcode::pow, "Pow along an axis"), {"Pow", opcode::pow, 7}, {"Abs", opcode::abs}, {"Exp", opcode::exp},
    {"Log", opcode::log}, {"Erf", opcode::erf}, {"Sin", opcode::sin}, {"Cos", opcode::cos}, {"Tanh", opcode::tanh},
    {"Sigmoid", opcode::sigmoid}, {"Relu", opcode::relu}, 
    {"Gelu", opcode::fast_gelu, 1, {}, 1, target::standard}, {"Gelu", opcode::gelu, 2, approximation, 1},
    {"Softplus", opcode::softplus},
    {"LeakyRelu", opcode::leaky_relu}, {"Elu", opcode::elu}, {"HardSigmoid", opcode::hard_sigmoid}, {"HardSwish", opcode::hard_swish},
    {"PRelu", opcode::prelu, 7}, {"Floor", opcode::floor}, {"Ceil", opcode::ceil}, {"Round", opcode::round}, {"Sign", opcode::sign},
    one_shape("Min", opcode::minimum), {"Min", opcode::minimum, 8}, one_shape("Max", opcode::maximum), {"Max", opcode::maximum, 8},
    one_shape("Sum", opcode::sum_of), {"Sum", opcode::sum_of, 8}, {"Mod", opcode::mod},
    {"Clip", opcode::clip}, {"Clip", opcode::clip, 11, clip_operands, 1},
    repeats_by_axis("Equal", opcode::equal, "Equal along an axis"), {"Equal", opcode::equal, 7},
    repeats_by_axis("Less", opcode::less, "Less along an axis"), {"Less", opcode::less, 7}, {"LessOrEqual", opcode::less_or_equal},
    repeats_by_axis("Greater", opcode::greater, "Greater along an axis"), {"Greater", opcode::greater, 7}, {"GreaterOrEqual", opcode::greater_or_equal},
    repeats_by_axis("And", opcode::logical_and, "And along an axis"), {"And", opcode::logical_and, 7},
    repeats_by_axis("Or", opcode::logical_or, "Or along an axis"), {"Or", opcode::logical_or, 7},
    repeats_by_axis("Xor", opcode::logical_xor, "Xor along an axis"), {"Xor", opcode::logical_xor, 7},
    {"Not", opcode::logical_not}, {"Where", opcode::where}, {"IsNaN", opcode::is_nan}, {"IsInf", opcode::is_inf},
    {"Cast", opcode::cast}, {"CastLike", opcode::cast_like}, {"Identity", opcode::identity},
    {.name = "Dropout", .op = opcode::dropout, .needs = is_test, .otherwise = "Dropout while training"}, {"Dropout", opcode::dropout, 7},
    {"Constant", opcode::constant}, {"ConstantOfShape", opcode::constant_of_shape}, {"Shape", opcode::shape}, {"Size", opcode::size},
    {"Range", opcode::range}, {"Reshape", opcode::reshape, 1}, {"Reshape", opcode::reshape, 5, shape_operand, 1},
    {"Flatten", opcode::flatten}, {"Squeeze", opcode::squeeze}, {"Squeeze", opcode::squeeze, 13, axes_operand, 1},
    {"Unsqueeze", opcode::unsqueeze}, {"Unsqueeze", opcode::unsqueeze, 13, axes_operand, 1}, {"Transpose", opcode::transpose},
    {"Concat", opcode::concat}, {"Split", opcode::split, 2}, {"Split", opcode::split, 13, split_operand, 1},
    {"Slice", opcode::slice}, {"Slice", opcode::slice, 10, slice_operands, 1}, {"Gather", opcode::gather},
    {"GatherElements", opcode::gather_elements}, {"GatherND", opcode::gather_nd}, {"ScatterND", opcode::scatter_nd},
    {"ScatterElements", opcode::scatter_elements}, {"Expand", opcode::expand, 8}, {"Tile", opcode::tile, 6},
    {"Pad", opcode::pad, 1, pad_mode}, {"Pad", opcode::pad, 11, pads_operand, 1}, {"Pad", opcode::pad, 18, pads_and_axes, 1}, {"Trilu", opcode::trilu}, {"OneHot", opcode::one_hot},
    {"NonZero", opcode::non_zero}, {"CumSum", opcode::cumulative_sum}, {"TopK", opcode::top_k}, {"TopK", opcode::top_k, 10, k_operand, 1},
    {"ReduceMean", opcode::mean}, {"ReduceMean", opcode::mean, 18, axes_operand, 1},
    {"GlobalAveragePool", opcode::mean, 1, global_pool, -1, target::none},  // read as a mean, never written as one
    {"ReduceSum", opcode::sum}, {"ReduceSum", opcode::sum, 13, axes_operand, 1},
    {"ReduceProd", opcode::product}, {"ReduceProd", opcode::product, 18, axes_operand, 1},
    {"ReduceMax", opcode::reduce_max}, {"ReduceMax", opcode::reduce_max, 18, axes_operand, 1},
    {"ReduceMin", opcode::reduce_min}, {"ReduceMin", opcode::reduce_min, 18, axes_operand, 1},
    {"ReduceSumSquare", opcode::sum_square}, {"ReduceSumSquare", opcode::sum_square, 18, axes_operand, 1},
    {"ReduceL1", opcode::l1_norm}, {"ReduceL1", opcode::l1_norm, 18, axes_operand, 1},
    {"ReduceL2", opcode::l2_norm}, {"ReduceL2", opcode::l2_norm, 18, axes_operand, 1},
    {"ReduceLogSum", opcode::log_sum}, {"ReduceLogSum", opcode::log_sum, 18, axes_operand, 1},
    {"ReduceLogSumExp", opcode::log_sum_exp}, {"ReduceLogSumExp", opcode::log_sum_exp, 18, axes_operand, 1},
    {"ArgMax", opcode::arg_max}, {"ArgMin", opcode::arg_min},
    {"MatMul", opcode::matmul}, one_shape("Gemm", opcode::gemm), {"Gemm", opcode::gemm, 7}, {"Einsum", opcode::einsum}, {"MatMulInteger", opcode::matmul_integer},
    {"Conv", opcode::conv}, {"ConvTranspose", opcode::conv_transpose}, {"ConvInteger", opcode::conv_integer},
    {"MaxPool", opcode::max_pool}, {"AveragePool", opcode::average_pool}, {"GlobalMaxPool", opcode::global_max_pool},
    {"Resize", opcode::resize},
    {"Softmax", opcode::softmax, 1, softmax_first_axis}, {"Softmax", opcode::softmax, 13},
    {"LogSoftmax", opcode::log_softmax, 1, softmax_first_axis}, {"LogSoftmax", opcode::log_softmax, 13},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .needs = is_test_and_spatial, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .since = 7, .needs = spatial, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .since = 9, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {"BatchNormalization", opcode::batch_norm, 14},
    {"InstanceNormalization", opcode::instance_norm, 1, {}, -1, target::any, 6},
    {"GroupNormalization", opcode::group_norm, 1, {}, -1, target::standard, 21},
    {"LayerNormalization", opcode::layer_norm, 1, {}, -1, target::onnxruntime},
    {"LayerNormalization", opcode::layer_norm, 17, {}, -1, target::any},
    {"RMSNormalization", opcode::rms_norm, 23, {}, -1, target::standard},
    {"SimplifiedLayerNormalization", opcode::rms_norm, 1, {}, -1, target::onnxruntime},
    {"fuse::LayerNormalization", opcode::layer_norm, 1, {}, -1, target::none},
    {"fuse::RMSNormalization", opcode::rms_norm, 1, {}, -1, target::none},
    {"com.microsoft::LayerNormalization", opcode::layer_norm, 1, {}, -1, target::none},
    {"com.microsoft::SimplifiedLayerNormalization", opcode::rms_norm, 1, {}, -1, target::none},
    {"com.microsoft::SkipLayerNormalization", opcode::skip_layer_norm, 1, skip_epsilon, -1, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::SkipSimplifiedLayerNormalization", opcode::skip_rms_norm, 1, skip_epsilon, -1, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::EmbedLayerNormalization", opcode::embed_layer_norm, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, embedding_types},
    {"com.microsoft::QEmbedLayerNormalization", opcode::qembed_layer_norm, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, quantised_embedding_types},
    {"com.microsoft::RotaryEmbedding", opcode::rotary_embedding_at, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, rotary_types},
    {"RotaryEmbedding", opcode::rotary_embedding, 23}, {"Attention", opcode::attention, 23},
    {"com.microsoft::MultiHeadAttention", opcode::multi_head_attention, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, attention_types},
    {"QuantizeLinear", opcode::quantize}, {"DequantizeLinear", opcode::dequantize}, {"DynamicQuantizeLinear", opcode::dynamic_quantize},
    {"Tan", opcode::tan}, {"Asin", opcode::asin}, {"Acos", opcode::acos}, {"Atan", opcode::atan}, {"Sinh", opcode::sinh}, {"Cosh", opcode::cosh},
    {"Asinh", opcode::asinh}, {"Acosh", opcode::acosh}, {"Atanh", opcode::atanh}, {"Selu", opcode::selu}, {"Celu", opcode::celu},
    {"ThresholdedRelu", opcode::thresholded_relu}, {"Softsign", opcode::softsign}, {"Mish", opcode::mish}, {"Swish", opcode::swish, 1, {}, 1, target::standard},
    {"Shrink", opcode::shrink}, one_shape("Mean", opcode::mean_of), {"Mean", opcode::mean_of, 8}, {"BitwiseAnd", opcode::bitwise_and}, {"BitwiseOr", opcode::bitwise_or},
    {"BitwiseXor", opcode::bitwise_xor}, {"BitwiseNot", opcode::bitwise_not}, {"DepthToSpace", opcode::depth_to_space},
    {"SpaceToDepth", opcode::space_to_depth}, {"ReverseSequence", opcode::reverse_sequence}, {"EyeLike", opcode::eye_like},
    {"Hardmax", opcode::hardmax, 1, softmax_first_axis}, {"Hardmax", opcode::hardmax, 13}, {"LpNormalization", opcode::lp_normalization},
    {"MeanVarianceNormalization", opcode::mean_variance_norm}, {"LRN", opcode::local_response_norm}, {"Upsample", opcode::resize, 9},
    {"QLinearMatMul", opcode::qlinear_matmul}, {"QLinearConv", opcode::qlinear_conv}, {"LSTM", opcode::lstm}, {"GRU", opcode::gru},
    {"RNN", opcode::rnn},
    {"com.microsoft::Gelu", opcode::gelu, 1, {}, 1, target::onnxruntime, 0, &any_attributes, {}, float_types},
    {"com.microsoft::FastGelu", opcode::fast_gelu, 1, {}, 2, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::QuickGelu", opcode::swish, 1, quick_alpha, 1, target::onnxruntime, 0, &any_attributes, {}, float_types},
    {"com.microsoft::BiasGelu", opcode::bias_gelu, 1, {}, 2, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"fuse::Gelu", opcode::gelu, 1, {}, -1, target::none}, {"fuse::Gelu_tanh", opcode::fast_gelu, 1, {}, -1, target::none},
    {"fuse::Swish", opcode::swish, 1, {}, -1, target::none}, {"fuse::Mish", opcode::mish, 1, {}, -1, target::none},
    {"fuse::HardSwish", opcode::hard_swish, 1, {}, -1, target::none}, {"fuse::RotaryEmbedding", opcode::rotary_embedding, 1, {}, -1, target::none},
    {"com.microsoft::FusedMatMul", opcode::fused_matmul},
    {"If", opcode::if_else}, {"Loop", opcode::loop}, {"Scan", opcode::scan},
    otherwise("Add along an axis"), otherwise("Sub along an axis"), otherwise("Mul along an axis"), otherwise("Div along an axis"),
    otherwise("Pow along an axis"), otherwise("Equal along an axis", element_type::boolean), otherwise("Less along an axis", element_type::boolean),
    otherwise("Greater along an axis", element_type::boolean), otherwise("And along an axis"), otherwise("Or along an axis"), otherwise("Xor along an axis"),
    otherwise("Dropout while training"), otherwise("BatchNormalization of another kind"),
    {"BitShift", opcode::bit_shift}, {"SwiGLU", opcode::swiglu}, {"CumProd", opcode::cumulative_product},
    {"Compress", opcode::compress}, {"LpPool", opcode::lp_pool}, {"GlobalLpPool", opcode::global_lp_pool},
    {"Scatter", opcode::scatter_elements, 1, {}, -1, target::none},
    {"TensorScatter", opcode::tensor_scatter}, {"CausalConvWithState", opcode::causal_conv},
    {"LinearAttention", opcode::linear_attention}, {"NegativeLogLikelihoodLoss", opcode::nll_loss},
    {"SoftmaxCrossEntropyLoss", opcode::cross_entropy_loss},
};

struct completed_rows {
  operator_row all[sizeof(rows) / sizeof(rows[0])];
};
inline constexpr completed_rows completed = [] {
  completed_rows made;
  std::size_t at = 0, next = 0;
  constexpr auto known = sizeof(standard) / sizeof(standard[0]);
  for (auto const& row : rows) {
    auto& each = made.all[at++] = row;
    if (next < known && standard[next].name == row.name) ++next;
    if (next == 0 || standard[next - 1].name != row.name) continue;
    auto const& told = standard[next - 1];
    each.attributes = told.attributes;
    each.types = told.types;
    if (includes(row.emit, target::standard) && each.emit_since < told.since) each.emit_since = told.since;
  }
  return made;
}();

}  // namespace detail::onnx_rows

inline constexpr auto onnx =
    make_dialect<detail::onnx_functions::emission_rules>("onnx", detail::onnx_rows::completed.all, 24, 11);

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

namespace detail {

template <class G>
concept has_dialect = requires {
  graph_traits<G>::dialect;
};

template <class G>
constexpr auto const& dialect_table_of() {
  if constexpr (has_dialect<G>)
    return graph_traits<G>::dialect;
  else
    return onnx;
}

}  // namespace detail

template <class G>
inline constexpr dialect dialect_of = detail::dialect_table_of<std::remove_const_t<G>>();

[[nodiscard]] inline opcode op_of(graph_image const& image, node_id n) {
  return static_cast<opcode>(image.node(n).tag.op);
}

namespace detail {

inline operator_names::found find_tag(void const* context, std::string_view name, int version) {
  auto const& names = *static_cast<dialect const*>(context);
  auto const code = names.code(name);
  auto const* row = names.row(code, version);
  return {{code, static_cast<std::uint16_t>(row == nullptr ? opcode::opaque : row->op)},
          row != nullptr && (row->needs.size() != 0 || row->most_results != 0)};
}

[[nodiscard]] inline bool is_met(required_attribute const& by, attribute_view const& given) {
  if (std::holds_alternative<std::monostate>(given)) return by.may_lack;
  auto const* number = std::get_if<std::int64_t>(&given);
  return number != nullptr && *number == by.number && by.number != required_attribute::none;
}

inline operator_tag settled_tag(void const* context, operator_tag tag, int version, graph_source const& graph,
                                node_id n, std::uint32_t results) {
  auto const& names = *static_cast<dialect const*>(context);
  auto const& row = *names.row(tag.name, version);
  bool meant = row.most_results == 0 || results <= row.most_results;
  for (auto const& by : row.needs) meant = meant && is_met(by, graph.attribute_of(n, by.name));
  return meant ? tag : find_tag(context, row.otherwise, version).tag;
}

}  // namespace detail

[[nodiscard]] inline operator_names names_in(dialect const& names) {
  return {&detail::find_tag, &detail::settled_tag, &names};
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

inline constexpr std::string_view padding_attribute = "auto_pad";

enum class parameter_state : std::uint8_t {
  missing,  ///< neither the node nor the dialect says: the operator's own default
  known,
  unknown,  ///< there is one, but no constant of the wanted kind
};

struct parameter_place {
  parameter_source source{};

  parameter_place(graph_image const& image, dialect const& names, node_id n, std::string_view parameter) {
    source.parameter = parameter;
    source.attribute = parameter;
    auto const* row = names.row(image.node(n).tag.name, image.version);
    if (row == nullptr) return;
    for (auto const& s : row->parameters)
      if (s.parameter == parameter) {
        source = s;
        if (source.attribute.empty()) source.attribute = parameter;
      }
  }
};

template <class Image>
[[nodiscard]] parameter_state axis_by_extents(Image const& image, node_id n, parameter_source const& source,
                                              double& out) {
  auto const value = image.source->attribute_of(n, source.attribute);
  auto const* list = std::get_if<span<std::int64_t const>>(&value);
  if (list == nullptr || list->size() == 0) return parameter_state::unknown;
  out = -static_cast<double>(list->size());
  return parameter_state::known;
}

[[nodiscard]] inline int number_of_word(std::string_view words, std::string_view wanted) {
  for (int number = 0;; ++number) {
    auto const end = words.find(' ');
    if (words.substr(0, end) == wanted) return number;
    if (end == words.npos) return -1;
    words.remove_prefix(end + 1);
  }
}

[[nodiscard]] inline std::string_view word_of_number(std::string_view words, double number) {
  for (double at = 0;; ++at) {
    auto const end = words.find(' ');
    if (at == number) return words.substr(0, end);
    if (end == words.npos) return {};
    words.remove_prefix(end + 1);
  }
}

template <class Image, class Known>
[[nodiscard]] parameter_state read_parameter(Image const& image, Known const& known, dialect const& names, node_id n,
                                             std::string_view parameter, std::vector<std::int64_t>& out) {
  using kind = parameter_source::kind;
  out.clear();
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  switch (source.where) {
    case kind::operand: {
      auto const at = static_cast<std::uint32_t>(source.operand);
      if (at >= image.operand_count(n) || image.operand(n, at) == absent) return parameter_state::missing;
      if (known.integers(image.operand(n, at), out)) return parameter_state::known;
      out.clear();
      return parameter_state::unknown;
    }
    case kind::fixed: out.push_back(static_cast<std::int64_t>(source.number)); return parameter_state::known;
    case kind::spatial_axes: {
      auto const rank = image.operand_count(n) == 0 ? -1 : known.rank(image.operand(n, 0));
      if (rank < 3) return parameter_state::unknown;
      for (int axis = 2; axis < rank; ++axis) out.push_back(axis);
      return parameter_state::known;
    }
    case kind::extents: {
      double axis = 0;
      auto const state = detail::axis_by_extents(image, n, source, axis);
      if (state == parameter_state::known) out.push_back(static_cast<std::int64_t>(axis));
      return state;
    }
    case kind::attribute:
    case kind::inverted:
    case kind::word: break;
  }
  auto const value = image.source->attribute_of(n, source.attribute);
  if (auto const* one = std::get_if<std::int64_t>(&value)) {
    out.push_back(source.where == kind::inverted ? std::int64_t{*one == 0} : *one);
    return parameter_state::known;
  }
  if (auto const* list = std::get_if<span<std::int64_t const>>(&value);
      list != nullptr && source.where == kind::attribute) {
    if (list->size() > Known::most_contents) return parameter_state::unknown;
    out.assign(list->begin(), list->end());
    return parameter_state::known;
  }
  if (!std::holds_alternative<std::monostate>(value)) return parameter_state::unknown;
  if (source.number == source.number) {
    out.push_back(static_cast<std::int64_t>(source.number));
    return parameter_state::known;
  }
  return parameter_state::missing;
}

enum class padding_rule : std::uint8_t {
  by_list,  ///< that does
  nothing,
  other,
};
template <class Image>
[[nodiscard]] padding_rule padding_of(Image const& image, node_id n) {
  auto const said = image.source->attribute_of(n, padding_attribute);
  if (std::holds_alternative<std::monostate>(said)) return padding_rule::by_list;
  auto const* text = std::get_if<std::string_view>(&said);
  if (text == nullptr) return padding_rule::other;
  if (text->empty() || *text == "NOTSET") return padding_rule::by_list;
  return *text == "VALID" ? padding_rule::nothing : padding_rule::other;
}

template <class Image, class Known>
[[nodiscard]] bool default_list(Image const& image, Known const& known, node_id n, list_use use,
                                std::vector<std::int64_t>& out) {
  auto const rank = image.operand_count(n) == 0 || image.operand(n, 0) == absent ? -1 : known.rank(image.operand(n, 0));
  bool const spatial = use == list_use::ones || use == list_use::pads;
  if (rank < (spatial ? 3 : 0) || (!spatial && use != list_use::reversed)) return false;
  if (use == list_use::reversed)
    for (int axis = rank; axis-- > 0;) out.push_back(axis);
  else
    out.assign(static_cast<std::size_t>(rank - 2) * (use == list_use::pads ? 2 : 1), use == list_use::ones ? 1 : 0);
  return true;
}

template <class Image, class Known>
[[nodiscard]] bool spread_over_axes(Image const& image, Known const& known, dialect const& names, node_id n,
                                    std::vector<std::int64_t>& list) {
  auto const rank = image.operand_count(n) == 0 || image.operand(n, 0) == absent ? -1 : known.rank(image.operand(n, 0));
  std::vector<std::int64_t> axes;
  auto const state = read_parameter(image, known, names, n, "axes", axes);
  if (rank < 0 || state == parameter_state::unknown) return false;
  auto const count = static_cast<std::size_t>(rank);
  if (state == parameter_state::missing) return list.size() == 2 * count;
  if (list.size() != 2 * axes.size()) return false;
  std::vector<std::int64_t> all(2 * count, 0);
  std::vector<bool> told(count, false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || told[static_cast<std::size_t>(axis)]) return false;
    told[static_cast<std::size_t>(axis)] = true;
    all[static_cast<std::size_t>(axis)] = list[i];
    all[count + static_cast<std::size_t>(axis)] = list[axes.size() + i];
  }
  list = std::move(all);
  return true;
}

template <class Image, class Known>
[[nodiscard]] parameter_state read_list(Image const& image, Known const& known, dialect const& names, node_id n,
                                        std::string_view parameter, std::vector<std::int64_t>& out) {
  using kind = parameter_source::kind;
  out.clear();
  auto const* own = parameter_of(op_of(image, n), parameter);
  if (own != nullptr && own->list == list_use::none) return parameter_state::unknown;
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  if (source.where == kind::operand) {
    auto const at = static_cast<std::uint32_t>(source.operand);
    if (at < image.operand_count(n) && image.operand(n, at) != absent && known.rank(image.operand(n, at)) != 1)
      return parameter_state::unknown;
  } else {
    auto const value = image.source->attribute_of(n, source.attribute);
    if (source.where != kind::attribute ||
        !(std::holds_alternative<std::monostate>(value) || std::holds_alternative<span<std::int64_t const>>(value)))
      return parameter_state::unknown;
    if (std::holds_alternative<std::monostate>(value) && source.number == source.number)
      return parameter_state::unknown;
  }
  auto state = read_parameter(image, known, names, n, parameter, out);
  if (own == nullptr) return state;
  if (own->list == list_use::pads && state != parameter_state::unknown) {
    auto const padding = padding_of(image, n);
    if (padding == padding_rule::nothing) out.clear(), state = parameter_state::missing;
    if (padding == padding_rule::other) return out.clear(), parameter_state::unknown;
  }
  if (own->list == list_use::both_ends && state == parameter_state::known &&
      !spread_over_axes(image, known, names, n, out))
    return out.clear(), parameter_state::unknown;
  if (state != parameter_state::missing) return state;
  return default_list(image, known, n, own->list, out) ? parameter_state::known : parameter_state::missing;
}

template <class Image, class Known>
[[nodiscard]] parameter_state read_parameter(Image const& image, Known const& known, dialect const& names, node_id n,
                                             std::string_view parameter, double& out) {
  using kind = parameter_source::kind;
  detail::parameter_place const place(image, names, n, parameter);
  auto const& source = place.source;
  switch (source.where) {
    case kind::operand: {
      auto const at = static_cast<std::uint32_t>(source.operand);
      if (at < image.operand_count(n) && image.operand(n, at) != absent)
        return known.number(image.operand(n, at), out) ? parameter_state::known : parameter_state::unknown;
      break;
    }
    case kind::fixed: out = source.number; return parameter_state::known;
    case kind::spatial_axes: return parameter_state::unknown;
    case kind::extents: return detail::axis_by_extents(image, n, source, out);
    case kind::word: {
      auto const value = image.source->attribute_of(n, source.attribute);
      if (std::holds_alternative<std::monostate>(value)) break;
      auto const* text = std::get_if<std::string_view>(&value);
      auto const at = text == nullptr ? -1 : number_of_word(source.words, *text);
      out = at;
      return at < 0 ? parameter_state::unknown : parameter_state::known;
    }
    case kind::attribute:
    case kind::inverted: {
      auto const value = image.source->attribute_of(n, source.attribute);
      if (auto const* whole = std::get_if<std::int64_t>(&value)) {
        out = source.where == kind::inverted ? static_cast<double>(*whole == 0) : static_cast<double>(*whole);
        return parameter_state::known;
      }
      if (auto const* number = std::get_if<double>(&value); number != nullptr && source.where == kind::attribute) {
        out = *number;
        return parameter_state::known;
      }
      if (!std::holds_alternative<std::monostate>(value)) return parameter_state::unknown;
      break;
    }
  }
  if (source.number == source.number) {
    out = source.number;
    return parameter_state::known;
  }
  if (auto const* by_table = parameter_of(op_of(image, n), parameter);
      by_table != nullptr && by_table->fallback == by_table->fallback) {
    out = by_table->fallback;
    return parameter_state::known;
  }
  return parameter_state::missing;
}

template <class Image, class Known>
[[nodiscard]] bool read_integers(Image const& image, Known const& known, dialect const& names, node_id n,
                                 std::string_view parameter, std::vector<std::int64_t>& out) {
  return read_parameter(image, known, names, n, parameter, out) == parameter_state::known;
}

template <class Image, class Known>
[[nodiscard]] bool read_number(Image const& image, Known const& known, dialect const& names, node_id n,
                               std::string_view parameter, double& out) {
  return read_parameter(image, known, names, n, parameter, out) == parameter_state::known;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline bool normalise_axes(span<std::int64_t const> axes, int rank, std::vector<int>& out) {
  out.clear();
  std::uint64_t seen = 0;
  if (rank < 0 || rank > static_cast<int>(fact_table::most_rank)) return false;
  for (auto axis : axes) {
    if (axis < -rank || axis >= rank) return false;
    auto const bit = std::uint64_t{1} << (axis < 0 ? axis + rank : axis);
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  for (int axis = 0; axis < rank; ++axis)
    if ((seen >> axis & 1u) != 0) out.push_back(axis);
  return true;
}

template <class Image>
[[nodiscard]] bool reduction_axes(Image const& image, fact_table const& known, dialect const& names, node_id n,
                                  std::vector<int>& axes, bool& keepdims, std::vector<std::int64_t>& listed) {
  axes.clear();
  if (known.reduction(n, axes, keepdims)) return true;
  if (image.operand_count(n) == 0 || image.operand(n, 0) == absent) return false;
  auto const rank = known.rank(image.operand(n, 0));
  if (rank < 0) return false;
  double flag = 1;
  if (!read_number(image, known, names, n, "keepdims", flag)) return false;
  keepdims = flag != 0;
  listed.clear();
  auto const state = read_parameter(image, known, names, n, "axes", listed);
  if (state == parameter_state::unknown) return false;
  if (listed.empty()) {
    double none = 0;
    if (!read_number(image, known, names, n, "noop_with_empty_axes", none)) return false;
    if (none == 0)
      for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
    return true;
  }
  return normalise_axes(listed, rank, axes);
}
template <class Image>
[[nodiscard]] bool reduction_axes(Image const& image, fact_table const& known, dialect const& names, node_id n,
                                  std::vector<int>& axes, bool& keepdims) {
  std::vector<std::int64_t> listed;  // those who ask often keep one
  return reduction_axes(image, known, names, n, axes, keepdims, listed);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Table>
class basic_shape_context {
 public:
  basic_shape_context(Table& table, dialect const& dialect_names) : facts(table), names(dialect_names) {}

  Table& facts;
  dialect names;
  node_id n = absent;
  std::vector<extent> dims, extents, ends;
  std::vector<double> numbers;
  std::vector<std::int64_t> list, more;
  std::vector<int> axes;
  struct broadcast {
    std::uint32_t a = 0, b = 0, result = 0;
  };
  static constexpr std::size_t most_broadcasts = 64;
  broadcast broadcasts[most_broadcasts];
  broadcast reduced;  // the last shape that was reduced, how, and to what

  [[nodiscard]] graph_image const& image() const { return facts.image(); }
  [[nodiscard]] extent_algebra& symbols() { return facts.symbols(); }

  void at_node(node_id other) {
    n = other;
    record_ = &image().node(n);
  }

  [[nodiscard]] std::uint32_t operand_count() const { return record_->operand_count; }
  [[nodiscard]] value_id operand(std::uint32_t i) const {
    return i < record_->operand_count ? image().use_at(record_->first_operand + i).value : absent;
  }
  [[nodiscard]] bool ranked(std::uint32_t i) const { return facts.has_rank(operand(i)); }
  [[nodiscard]] span<extent const> shape(std::uint32_t i) const { return facts.shape(operand(i)); }
  [[nodiscard]] int rank(std::uint32_t i) const { return facts.rank(operand(i)); }
  [[nodiscard]] element_type type(std::uint32_t i) const { return facts.type(operand(i)); }

  [[nodiscard]] std::uint32_t result_count() const { return record_->result_count; }
  [[nodiscard]] value_id result(std::uint32_t i = 0) const { return record_->first_result + i; }
  void set_type(std::uint32_t i, element_type type) {
    if (i < result_count()) facts.set_type(result(i), type);
  }
  void set_shape(std::uint32_t i, span<extent const> shape) {
    if (i < result_count()) facts.set_shape(result(i), shape);
  }
  void share_type(std::uint32_t i, std::uint32_t from) { set_type(i, type(from)); }
  void share_shape(std::uint32_t i, std::uint32_t from) {
    if (i < result_count() && ranked(from)) facts.share_shape(result(i), operand(from));
  }
  void set_rank(std::uint32_t i, std::size_t rank) {
    if (rank > fact_table::most_rank) return;
    dims.clear();
    for (std::size_t k = 0; k < rank; ++k) dims.push_back(symbols().fresh());
    set_shape(i, dims);
  }

  [[nodiscard]] bool integer(std::string_view parameter, std::int64_t fallback, std::int64_t& out) {
    std::vector<std::int64_t>& found = more;
    switch (read_parameter(image(), facts, names, n, parameter, found)) {
      case parameter_state::missing: out = fallback; return true;
      case parameter_state::unknown: return false;
      case parameter_state::known: break;
    }
    if (found.size() != 1) return false;
    out = found[0];
    return true;
  }
  [[nodiscard]] parameter_state integers(std::string_view parameter) {
    return read_parameter(image(), facts, names, n, parameter, list);
  }
  [[nodiscard]] parameter_state symbolic_integers(std::string_view parameter, std::vector<extent>& out) {
    out.clear();
    parameter_place const place(image(), names, n, parameter);
    if (place.source.where == parameter_source::kind::operand) {
      auto const v = operand(static_cast<std::uint32_t>(place.source.operand));
      if (v == absent) return parameter_state::missing;
      if (!facts.has_integers(v)) return parameter_state::unknown;
      auto const elements = facts.symbolic_integers(v);
      out.assign(elements.begin(), elements.end());
      return parameter_state::known;
    }
    auto const state = integers(parameter);
    out.assign(list.begin(), list.end());
    return state;
  }
  [[nodiscard]] bool length(std::string_view parameter, std::size_t& out) const {
    parameter_place const place(image(), names, n, parameter);
    if (place.source.where != parameter_source::kind::operand) return false;
    auto const at = static_cast<std::uint32_t>(place.source.operand);
    if (rank(at) != 1 || !shape(at)[0].known() ||
        shape(at)[0].value() > static_cast<std::int64_t>(fact_table::most_rank))
      return false;
    out = static_cast<std::size_t>(shape(at)[0].value());
    return true;
  }
  [[nodiscard]] bool axis(std::string_view parameter, std::int64_t fallback, int rank, std::size_t& out) {
    std::int64_t axis = 0;
    if (rank < 0 || !integer(parameter, fallback, axis) || axis < -rank || axis >= rank) return false;
    out = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    return true;
  }

  [[nodiscard]] extent dimension(extent e) {
    if (e.known()) return e.value() < 0 ? symbols().fresh() : e;
    return symbols().maximum(e, 0);
  }

  [[nodiscard]] extent product(span<extent const> factors) {
    extent all = 1;
    for (auto e : factors) all = symbols().multiply(all, e);
    return all;
  }

 private:
  graph_image::node_record const* record_ = nullptr;  // of `n`; nobody adds nodes meanwhile
};
using shape_context = basic_shape_context<fact_table>;

[[nodiscard]] inline bool small_count(span<extent const> shape, std::size_t limit, std::size_t& count) {
  count = 1;
  bool none = false;
  for (auto e : shape) {
    if (!e.known() || e.value() < 0) return false;
    none = none || e.value() == 0;
    if (none) continue;
    if (static_cast<std::uint64_t>(e.value()) > limit) return false;
    count *= static_cast<std::size_t>(e.value());
    if (count > limit) return false;
  }
  if (none) count = 0;
  return true;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void meet_calls(Context& at, graph_image::function_record const& function) {
  if (function.calls.empty()) return;
  auto& facts = at.facts;
  auto const operand = [&](node_id call, std::size_t i) {
    return i < at.image().operand_count(call) ? at.image().operand(call, static_cast<std::uint32_t>(i)) : absent;
  };
  sequence_pool<extent> columns;        // an extent in one call after the other
  std::vector<extent> column, extents;  // ... and inside, by the number of its column
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    auto const input = function.inputs[i];
    if (input == absent) continue;
    auto const first = operand(function.calls[0], i);
    auto type = facts.type(first);
    auto rank = facts.rank(first);
    for (auto const call : function.calls) {
      if (facts.type(operand(call, i)) != type) type = element_type::unknown;
      if (facts.rank(operand(call, i)) != rank) rank = -1;
    }
    if (facts.type(input) == element_type::unknown) facts.set_type(input, type);
    if (rank < 0 || facts.has_rank(input)) continue;  // the graph may have said more
    at.dims.clear();
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      column.clear();
      for (auto const call : function.calls) column.push_back(facts.shape(operand(call, i))[axis]);
      bool same = column[0].known();
      for (auto const e : column) same = same && e == column[0];
      auto const number = columns.keep(column);
      if (number == extents.size()) extents.push_back(same ? column[0] : at.symbols().fresh());
      at.dims.push_back(extents[number]);
    }
    facts.set_shape(input, at.dims);
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

struct dense {
  std::vector<std::int64_t> shape{};
  std::vector<double> elements{};             ///< of whatever is no integer
  element_type type = element_type::float64;  ///< what the elements are, or will be
  std::vector<std::int64_t> integers{};       ///< the elements of an integer type; of uint64 their bits

  [[nodiscard]] bool whole() const { return is_integer(type); }
  [[nodiscard]] std::size_t size() const { return whole() ? integers.size() : elements.size(); }

  [[nodiscard]] static dense of(double number) { return {{}, {number}}; }
  [[nodiscard]] static dense of(tensor_view const& from) {
    dense made;
    made.type = from.type;
    made.shape.assign(from.shape.begin(), from.shape.end());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (made.whole())
        made.integers.push_back(from.integer(i));
      else
        made.elements.push_back(from.number(i));
    }
    return made;
  }
  [[nodiscard]] static dense in_doubles(tensor_view const& from) {
    dense made;
    made.shape.assign(from.shape.begin(), from.shape.end());
    made.elements.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) made.elements.push_back(from.number(i));
    return made;
  }
};

namespace detail {

[[nodiscard]] inline std::size_t count_of(span<std::int64_t const> shape) {
  std::size_t count = 1;
  for (auto extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

template <class Visit>
[[nodiscard]] bool for_each_repeated(span<std::int64_t const> from, span<std::int64_t const> shape,
                                     Visit const& visit) {
  if (from.size() > shape.size()) return false;
  std::size_t const lead = shape.size() - from.size();
  std::vector<std::size_t> stride(shape.size(), 0);
  std::size_t step = 1;
  for (std::size_t axis = from.size(); axis-- > 0;) {
    if (from[axis] != 1) {
      if (from[axis] != shape[lead + axis]) return false;
      stride[lead + axis] = step;
    }
    step *= static_cast<std::size_t>(from[axis]);
  }
  std::vector<std::size_t> at(shape.size(), 0);
  std::size_t source = 0;
  for (auto count = count_of(shape); count > 0; --count) {
    visit(source);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++at[axis] < static_cast<std::size_t>(shape[axis])) break;
      source -= stride[axis] * at[axis];
      at[axis] = 0;
    }
  }
  return true;
}

}  // namespace detail

[[nodiscard]] inline bool broadcast_to(dense const& from, span<std::int64_t const> shape, dense& into) {
  dense made;
  made.type = from.type;
  made.shape.assign(shape.begin(), shape.end());
  bool const fits = detail::for_each_repeated(from.shape, shape, [&](std::size_t i) {
    if (made.whole())
      made.integers.push_back(from.integers[i]);
    else
      made.elements.push_back(from.elements[i]);
  });
  if (fits) into = static_cast<dense&&>(made);
  return fits;
}

[[nodiscard]] inline bool broadcast_shape(span<std::int64_t const> a, span<std::int64_t const> b,
                                          std::vector<std::int64_t>& into) {
  into.assign(a.size() > b.size() ? a.size() : b.size(), 1);
  for (std::size_t i = 0; i < into.size(); ++i) {
    auto const x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    into[into.size() - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

template <class F>
[[nodiscard]] bool combine(dense const& a, dense const& b, dense& into, F const& f) {
  std::vector<std::int64_t> shape;
  dense left, right;
  if (!broadcast_shape(a.shape, b.shape, shape) || !broadcast_to(a, shape, left) || !broadcast_to(b, shape, right))
    return false;
  for (std::size_t i = 0; i < left.elements.size(); ++i) left.elements[i] = f(left.elements[i], right.elements[i]);
  into = static_cast<dense&&>(left);
  return true;
}

namespace detail {

[[nodiscard]] inline auto function_of_one(opcode op) -> double (*)(double) {
  switch (op) {
    case opcode::neg: return [](double x) { return -x; };
    case opcode::reciprocal: return [](double x) { return 1 / x; };
    case opcode::sqrt: return [](double x) { return math::sqrt(x); };
    case opcode::rsqrt: return [](double x) { return 1 / math::sqrt(x); };
    case opcode::square: return [](double x) { return x * x; };
    case opcode::abs: return [](double x) { return math::abs(x); };
    case opcode::exp: return [](double x) { return math::exp(x); };
    case opcode::log: return [](double x) { return math::log(x); };
    case opcode::erf: return [](double x) { return math::erf(x); };
    case opcode::tanh: return [](double x) { return math::tanh(x); };
    case opcode::sigmoid: return [](double x) { return 1 / (1 + math::exp(-x)); };
    case opcode::relu: return [](double x) { return x < 0 ? 0 : x; };  // a NaN stays one
    case opcode::floor: return [](double x) { return math::floor(x); };
    case opcode::ceil: return [](double x) { return -math::floor(-x); };
    case opcode::round: return [](double x) { return math::nearbyint(x); };
    case opcode::sign: return [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; };
    case opcode::identity:
    case opcode::cast: return [](double x) { return x; };
    default: return nullptr;
  }
}
[[nodiscard]] inline auto function_of_two(opcode op) -> double (*)(double, double) {
  switch (op) {
    case opcode::add: return [](double a, double b) { return a + b; };
    case opcode::sub: return [](double a, double b) { return a - b; };
    case opcode::mul: return [](double a, double b) { return a * b; };
    case opcode::div: return [](double a, double b) { return a / b; };
    case opcode::pow: return [](double a, double b) { return math::pow(a, b); };
    case opcode::minimum: return [](double a, double b) { return a < b || a != a ? a : b; };
    case opcode::maximum: return [](double a, double b) { return a > b || a != a ? a : b; };
    default: return nullptr;
  }
}

}  // namespace detail

[[nodiscard]] inline bool evaluate(opcode op, span<dense const> operands, dense& into) {
  if (operands.size() == 2) {
    auto const f = detail::function_of_two(op);
    return f != nullptr && combine(operands[0], operands[1], into, f);
  }
  auto const f = operands.size() == 1 ? detail::function_of_one(op) : nullptr;
  if (f == nullptr) return false;
  into = operands[0];
  for (auto& x : into.elements) x = f(x);
  return true;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

[[nodiscard]] inline double rounded(double x, element_type type) {
  switch (type) {
    case element_type::float32: return static_cast<double>(static_cast<float>(x));
    case element_type::float16: return half_to_double(double_to_half(x));
    case element_type::bfloat16: {
      auto const bits = static_cast<std::uint32_t>(double_to_bfloat16(x)) << 16;
      return static_cast<double>(std::bit_cast<float>(bits));
    }
    default: return x;
  }
}

[[nodiscard]] constexpr double rounding_of(element_type type) {
  switch (type) {
    case element_type::float32: return 0x1p-24;
    case element_type::float16: return 0x1p-11;
    case element_type::bfloat16: return 0x1p-8;
    default: return 0;
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline double rounding_in(element_type type, double number) {
  if (size_of(type) != 2 || !is_floating(type) || rounded(number, type) == number) return 0;
  return type == element_type::float16 ? 0x1.01p-11 : 0x1.01p-8;
}

[[nodiscard]] inline bool fits(extent e, element_type type) {
  if (!e.known()) return true;
  auto const between = [&](std::int64_t least, std::int64_t most) { return e.value() >= least && e.value() <= most; };
  switch (type) {
    case element_type::boolean: return between(0, 1);
    case element_type::uint8: return between(0, 0xff);
    case element_type::int8: return between(-0x80, 0x7f);
    case element_type::uint16: return between(0, 0xffff);
    case element_type::int16: return between(-0x8000, 0x7fff);
    case element_type::uint32: return between(0, 0xffffffff);
    case element_type::int32: return between(-0x7fffffff - 1, 0x7fffffff);
    case element_type::uint64: return e.value() >= 0;
    default: return true;
  }
}

[[nodiscard]] inline bool compute(opcode op, double a, double b, double& out) {
  switch (op) {
    case opcode::exp:
    case opcode::log:
    case opcode::erf:
    case opcode::tanh:
    case opcode::sigmoid: return false;
    default: break;
  }
  if (auto const of_two = function_of_two(op == opcode::sum_of ? opcode::add : op); of_two != nullptr)
    return out = of_two(a, b), true;
  auto const of_one = function_of_one(op);
  if (of_one != nullptr) out = of_one(a);
  return of_one != nullptr;
}

[[nodiscard]] inline bool compare(opcode op, double a, double b, bool& out) {
  switch (op) {
    case opcode::equal: out = a == b; return true;
    case opcode::less: out = a < b; return true;
    case opcode::less_or_equal: out = a <= b; return true;
    case opcode::greater: out = a > b; return true;
    case opcode::greater_or_equal: out = a >= b; return true;
    default: return false;
  }
}

[[nodiscard]] inline extent unknown_truth(extent_algebra& symbols) { return symbols.fresh(0); }

[[nodiscard]] inline extent compare(extent_algebra& symbols, opcode op, extent a, extent b) {
  switch (op) {
    case opcode::equal: return a == b ? extent(1) : symbols.different(a, b) ? extent(0) : unknown_truth(symbols);
    case opcode::greater_or_equal:
      if (symbols.nonnegative(symbols.subtract(a, b))) return 1;
      return symbols.least(symbols.subtract(b, a)) > 0 ? extent(0) : unknown_truth(symbols);
    case opcode::greater: {
      auto const opposite = compare(symbols, opcode::greater_or_equal, b, a);
      return opposite.known() ? extent(1 - opposite.value()) : unknown_truth(symbols);
    }
    case opcode::less_or_equal: return compare(symbols, opcode::greater_or_equal, b, a);
    case opcode::less: return compare(symbols, opcode::greater, b, a);
    default: return unknown_truth(symbols);
  }
}

[[nodiscard]] inline bool compute(extent_algebra& symbols, opcode op, extent a, extent b, extent& out) {
  switch (op) {
    case opcode::add:
    case opcode::sum_of: out = symbols.add(a, b); return true;
    case opcode::sub: out = symbols.subtract(a, b); return true;
    case opcode::mul: out = symbols.multiply(a, b); return true;
    case opcode::div: out = symbols.divide(a, b); return true;
    case opcode::minimum: out = symbols.minimum(a, b); return true;
    case opcode::maximum: out = symbols.maximum(a, b); return true;
    case opcode::neg: out = symbols.subtract(0, a); return true;
    case opcode::abs: out = symbols.maximum(a, symbols.subtract(0, a)); return true;
    case opcode::square: out = symbols.multiply(a, a); return true;
    case opcode::mod:  // the sign of the divisor
      out = b.known() && b.value() > 0 ? symbols.subtract(a, symbols.multiply(b, symbols.floor_divide(a, b)))
                                       : symbols.fresh(no_bound);
      return true;
    case opcode::floor:
    case opcode::ceil:
    case opcode::round:
    case opcode::identity: out = a; return true;
    case opcode::pow:
      if (!b.known() || b.value() < 0 || b.value() > 64) return false;
      out = 1;
      for (std::int64_t i = 0; i < b.value(); ++i) out = symbols.multiply(out, a);
      return true;
    case opcode::logical_not: out = a.known() ? extent(a.value() == 0) : unknown_truth(symbols); return true;
    case opcode::logical_and:
      out = a == extent(0) || b == extent(0) ? extent(0)
            : a == extent(1)                 ? b
            : b == extent(1)                 ? a
                                             : unknown_truth(symbols);
      return true;
    case opcode::logical_or:
      out = a == extent(1) || b == extent(1) ? extent(1)
            : a == extent(0)                 ? b
            : b == extent(0)                 ? a
                                             : unknown_truth(symbols);
      return true;
    case opcode::logical_xor:
      out = a.known() && b.known() ? extent(a.value() != b.value()) : unknown_truth(symbols);
      return true;
    case opcode::equal:
    case opcode::less:
    case opcode::less_or_equal:
    case opcode::greater:
    case opcode::greater_or_equal: out = compare(symbols, op, a, b); return true;
    default: return false;
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline std::size_t broadcast_index(span<extent const> to, span<extent const> from, std::size_t flat) {
  std::size_t index = 0, stride = 1;
  for (std::size_t i = to.size(); i > 0; --i) {
    auto const size = static_cast<std::size_t>(to[i - 1].value());
    auto const digit = size == 0 ? 0 : flat % size;
    flat = size == 0 ? 0 : flat / size;
    auto const back = to.size() - i;
    if (back >= from.size()) break;
    auto const own = static_cast<std::size_t>(from[from.size() - 1 - back].value());
    if (own != 1) index += digit * stride;
    stride *= own;
  }
  return index;
}

struct operand_contents {
  span<extent const> shape, integers;
  span<double const> numbers;
  bool floating = false;

  [[nodiscard]] bool read(shape_context& at, std::uint32_t i) {
    auto const v = at.operand(i);
    if (v == absent || !at.facts.has_rank(v)) return false;
    shape = at.facts.shape(v);
    integers = at.facts.symbolic_integers(v);
    numbers = at.facts.numbers(v);
    floating = at.facts.has_numbers(v);
    std::size_t count = 0;
    return (floating || at.facts.has_integers(v)) && small_count(shape, fact_table::most_contents, count) &&
           count == size();
  }
  [[nodiscard]] std::size_t size() const { return floating ? numbers.size() : integers.size(); }
  [[nodiscard]] bool covers(std::size_t count) const { return count == 0 || size() != 0; }
  [[nodiscard]] std::size_t index(span<extent const> to, std::size_t flat) const {
    auto const at = size() == 1 ? 0 : broadcast_index(to, shape, flat);
    return at < size() ? at : 0;
  }
};

template <class Context>
[[nodiscard]] bool small_result(Context& at, std::size_t& count) {
  return at.facts.has_rank(at.result()) && small_count(at.facts.shape(at.result()), fact_table::most_contents, count);
}

template <class Context>
void store_integers(Context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_integer(type) && type != element_type::boolean) return;
  for (auto& e : at.extents)
    if (!fits(e, type)) e = at.symbols().fresh(no_bound);
  at.facts.set_integers(v, at.extents);
}
template <class Context>
void store_numbers(Context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_floating(type)) return;
  for (auto& x : at.numbers) x = rounded(x, type);
  at.facts.set_numbers(v, at.numbers);
}

template <class Context>
void store_uniform(Context& at, double number) {
  auto const type = at.facts.type(at.result());
  if (is_floating(type)) return at.facts.set_uniform(at.result(), rounded(number, type));
  bool const whole = math::is_whole(number) && number > -9e15 && number < 9e15;
  if (whole && is_integer(type) && fits(extent(static_cast<std::int64_t>(number)), type))
    at.facts.set_uniform(at.result(), number);
}

template <class Pick>
void pick_contents(shape_context& at, operand_contents const& from, std::size_t axis, std::size_t picked, value_id to,
                   Pick&& pick) {
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(from.shape[i].value());
  auto const whole = static_cast<std::size_t>(from.shape[axis].value());
  if (outer > fact_table::most_contents || inner > fact_table::most_contents ||
      outer * inner * picked > fact_table::most_contents)
    return;
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < picked; ++i) {
      std::size_t const source = pick(i);  // `whole`: unknown
      for (std::size_t k = 0; k < inner; ++k) {
        auto const flat = (o * whole + source) * inner + k;
        if (from.floating) {
          if (source >= whole) return;
          at.numbers.push_back(from.numbers[flat]);
        } else {
          at.extents.push_back(source < whole ? from.integers[flat] : at.symbols().fresh(no_bound));
        }
      }
    }
  if (from.floating)
    store_numbers(at, to);
  else
    store_integers(at, to);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void repeat_contents(Context& at) {
  double number = 0;
  if (at.operand(0) != absent && at.facts.uniform(at.operand(0), number)) store_uniform(at, number);
}

template <class Context>
void uniform_elementwise(Context& at, opcode op) {
  double all = 0, next = 0;
  auto const type = at.facts.type(at.result());
  if (!is_floating(type) || at.operand_count() == 0) return;
  bool const binary = at.operand_count() > 1;
  if (!binary && info(op).most != 1) return;
  for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
    if (at.operand(i) == absent || !at.facts.uniform(at.operand(i), i == 0 ? all : next)) return;
    if (i == 0 && binary) continue;
    if (!compute(op, all, next, all)) return;
    all = rounded(all, type);
  }
  store_uniform(at, all);
}

template <class Context>
void elementwise_contents(Context& at, opcode op) {
  std::size_t count = 0;
  operand_contents a, b;
  if (!small_result(at, count)) return uniform_elementwise(at, op);
  if (at.operand_count() == 0 || !a.read(at, 0) || !a.covers(count)) return;
  auto const shape = at.facts.shape(at.result());
  auto const type = at.facts.type(at.result());
  bool const binary = at.operand_count() > 1;
  if (!binary && info(op).most != 1) {
    if (info(op).least > 1) return;
    op = opcode::identity;  // a sum, a minimum of one
  }
  std::int64_t as_c = 0;
  if (op == opcode::mod && (!at.integer("fmod", 0, as_c) || as_c != 0)) return;  // another sign
  if (a.floating) {
    at.numbers.clear();
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) at.numbers.push_back(a.numbers[a.index(shape, i)]);
  } else {
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) at.extents.push_back(a.integers[a.index(shape, i)]);
  }
  for (std::uint32_t operand = 1; operand < at.operand_count() || !binary; ++operand) {
    if (binary && (!b.read(at, operand) || !b.covers(count) || (b.floating != a.floating && op != opcode::pow) ||
                   (!a.floating && b.floating)))
      return;
    for (std::size_t i = 0; i < count; ++i) {
      auto const j = binary ? b.index(shape, i) : 0;
      if (!a.floating) {
        if (!compute(at.symbols(), op, at.extents[i], binary ? b.integers[j] : extent(0), at.extents[i])) return;
        continue;
      }
      double right = 0;
      if (binary) {
        if (!b.floating && !b.integers[j].known()) return;
        right = b.floating ? b.numbers[j] : static_cast<double>(b.integers[j].value());
      }
      bool truth = false;
      if (compare(op, at.numbers[i], right, truth))
        at.extents.push_back(truth);
      else if (!compute(op, at.numbers[i], right, at.numbers[i]))
        return;
      else
        at.numbers[i] = rounded(at.numbers[i], type);
    }
    if (!binary) break;
  }
  if (!a.floating || (at.extents.size() == count && count != 0))
    store_integers(at, at.result());
  else
    store_numbers(at, at.result());
}

template <class Context>
void where_contents(Context& at) {
  std::size_t count = 0;
  operand_contents choice, yes, no;
  if (!small_result(at, count) || !choice.read(at, 0) || choice.floating || !choice.covers(count)) return;
  bool const has_yes = yes.read(at, 1) && yes.covers(count), has_no = no.read(at, 2) && no.covers(count);
  bool const floating = has_yes ? yes.floating : no.floating;
  if ((!has_yes && !has_no) || (has_yes && has_no && yes.floating != no.floating)) return;
  auto const shape = at.facts.shape(at.result());
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t i = 0; i < count; ++i) {
    auto const truth = choice.integers[choice.index(shape, i)];
    auto const& picked = truth.known() && truth.value() == 0 ? no : yes;
    bool const has = &picked == &no ? has_no : has_yes;
    bool const decided = truth.known() && has;
    if (floating) {
      if (!decided) return;
      at.numbers.push_back(picked.numbers[picked.index(shape, i)]);
    } else if (decided) {
      at.extents.push_back(picked.integers[picked.index(shape, i)]);
    } else if (has_yes && has_no && !truth.known()) {
      auto const a = yes.integers[yes.index(shape, i)], b = no.integers[no.index(shape, i)];
      auto const bound = at.symbols().least(a) < at.symbols().least(b) ? at.symbols().least(a) : at.symbols().least(b);
      at.extents.push_back(a == b ? a : at.symbols().fresh(bound));
    } else {
      at.extents.push_back(at.symbols().fresh(no_bound));
    }
  }
  if (floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

template <class Context>
void cast_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count)) return repeat_contents(at);
  if (!from.read(at, 0) || from.size() != count) return;
  auto const to = at.facts.type(at.result());
  at.extents.clear();
  at.numbers.clear();
  if (is_floating(to)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!from.floating && !from.integers[i].known()) return;
      at.numbers.push_back(from.floating ? from.numbers[i] : static_cast<double>(from.integers[i].value()));
    }
    return store_numbers(at, at.result());
  }
  if (!is_integer(to) && to != element_type::boolean) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (from.floating) {
      double const x = from.numbers[i];
      if (to == element_type::boolean)
        at.extents.push_back(x != 0);
      else if (x > -9e18 && x < 9e18)
        at.extents.push_back(static_cast<std::int64_t>(x));
      else
        at.extents.push_back(at.symbols().fresh(no_bound));
    } else if (to == element_type::boolean && at.type(0) != element_type::boolean) {
      auto const e = from.integers[i];
      at.extents.push_back(at.symbols().least(e) > 0 ? extent(1)
                           : e.known()               ? extent(e.value() != 0)
                                                     : unknown_truth(at.symbols()));
    } else {
      at.extents.push_back(from.integers[i]);
    }
  }
  store_integers(at, at.result());
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
[[nodiscard]] extent quotient_of_products(Context& at, std::vector<extent> above, std::vector<extent> below) {
  for (auto& b : below)
    for (auto& a : above)
      if (a == b && a != extent(0)) {
        a = b = 1;
        break;
      }
  auto const divisor = at.product(below);
  if (divisor == extent(0)) return at.symbols().fresh();
  return at.dimension(at.symbols().floor_divide(at.product(above), divisor));
}

template <class Context>
void reshape_shape(Context& at) {
  at.share_type(0, 0);
  auto& target = at.extents;
  if (at.symbolic_integers("shape", target) != parameter_state::known) {
    std::size_t rank = 0;
    if (at.length("shape", rank)) at.set_rank(0, rank);
    return;
  }
  std::int64_t zeros_stay = 0;
  if (target.size() > fact_table::most_rank || !at.integer("allowzero", 0, zeros_stay)) return;
  auto const from = at.shape(0);
  auto const ranked = at.ranked(0);
  std::size_t open = target.size();
  at.dims.clear();
  for (std::size_t i = 0; i < target.size(); ++i) {
    auto e = target[i];
    if (e == extent(-1)) {
      if (open != target.size()) return at.set_rank(0, target.size());
      open = i;
      e = 1;
    } else if (e == extent(0) && zeros_stay == 0) {
      e = ranked && i < from.size() ? from[i] : at.symbols().fresh();
    } else if (!at.symbols().nonnegative(e)) {
      if (e.known()) return;
      e = at.symbols().fresh();  // it may stand for -1
    }
    at.dims.push_back(e);
  }
  if (open != target.size())
    at.dims[open] = ranked ? quotient_of_products(at, {from.begin(), from.end()}, at.dims) : at.symbols().fresh();
  at.set_shape(0, at.dims);
}

template <class Context>
void flatten_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t axis = 0;
  auto const rank = at.rank(0);
  if (!at.integer("axis", 1, axis) || rank < 0 || axis < -rank || axis > rank) return at.set_rank(0, 2);
  auto const from = at.shape(0);
  auto const split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  extent const made[] = {at.product(from.first(split)), at.product(from.subspan(split))};
  at.set_shape(0, made);
}

template <class Context>
void squeeze_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const state = at.integers("axes");
  if (state == parameter_state::unknown) {
    std::size_t count = 0;
    if (at.length("axes", count) && count <= from.size()) at.set_rank(0, from.size() - count);
    return;
  }
  at.dims.clear();
  if (state == parameter_state::missing) {
    for (auto e : from) {
      if (!e.known() && at.symbols().least(e) < 2) return;  // it may be 1
      if (e != extent(1)) at.dims.push_back(e);
    }
    return at.set_shape(0, at.dims);
  }
  if (!normalise_axes(at.list, at.rank(0), at.axes)) return;
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (next < at.axes.size() && at.axes[next] == static_cast<int>(i))
      ++next;
    else
      at.dims.push_back(from[i]);
  at.set_shape(0, at.dims);
}

template <class Context>
void unsqueeze_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  if (at.integers("axes") != parameter_state::known) {
    std::size_t count = 0;
    if (at.length("axes", count)) at.set_rank(0, from.size() + count);
    return;
  }
  if (at.list.size() + from.size() > fact_table::most_rank) return;
  auto const rank = from.size() + at.list.size();
  if (!normalise_axes(at.list, static_cast<int>(rank), at.axes)) return;
  at.dims.clear();
  std::size_t next = 0, source = 0;
  for (std::size_t i = 0; i < rank; ++i)
    if (next < at.axes.size() && at.axes[next] == static_cast<int>(i)) {
      at.dims.push_back(1);
      ++next;
    } else {
      at.dims.push_back(from[source++]);
    }
  at.set_shape(0, at.dims);
}

template <class Context>
void transpose_shape(Context& at) {
  at.share_type(0, 0);
  auto const state = at.integers("perm");
  if (!at.ranked(0)) {
    if (state == parameter_state::known) at.set_rank(0, at.list.size());
    return;
  }
  auto const from = at.shape(0);
  at.dims.clear();
  if (state == parameter_state::unknown) return at.set_rank(0, from.size());
  if (state == parameter_state::missing) {
    for (std::size_t i = from.size(); i > 0; --i) at.dims.push_back(from[i - 1]);
  } else {
    if (at.list.size() != from.size() || !normalise_axes(at.list, at.rank(0), at.axes)) return;
    for (auto axis : at.list) at.dims.push_back(from[static_cast<std::size_t>(axis < 0 ? axis + at.rank(0) : axis)]);
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void concat_shape(Context& at) {
  at.share_type(0, 0);
  std::uint32_t first = 0;
  while (first < at.operand_count() && !at.ranked(first)) ++first;
  if (first == at.operand_count()) return;
  std::size_t axis = 0;
  auto const shape = at.shape(first);
  if (!at.axis("axis", 1, at.rank(first), axis)) return at.set_rank(0, shape.size());
  at.dims.assign(shape.begin(), shape.end());
  at.dims[axis] = 0;
  bool all = true;
  for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
    if (!at.ranked(i)) {
      all = false;
      continue;
    }
    auto const next = at.shape(i);
    if (next.size() != at.dims.size()) return;
    for (std::size_t k = 0; k < next.size(); ++k)
      if (k == axis)
        at.dims[k] = at.symbols().add(at.dims[k], next[k]);
      else if (next[k].known() && !at.dims[k].known())
        at.dims[k] = next[k];  // equal in a valid graph
  }
  at.dims[axis] = all ? at.dimension(at.dims[axis]) : at.symbols().fresh();
  at.set_shape(0, at.dims);
}

template <class Context>
[[nodiscard]] bool split_parts(Context& at, extent whole) {
  auto const parts = at.result_count();
  auto const state = at.symbolic_integers("split", at.extents);
  if (state == parameter_state::unknown) return false;
  if (state == parameter_state::known && !at.extents.empty()) {
    if (at.extents.size() != parts) return false;
    for (auto& e : at.extents) e = at.dimension(e);
    return true;
  }
  at.extents.clear();
  std::int64_t count = 0;
  if (!at.integer("num_outputs", 0, count) || parts > 4096) return false;
  if (count == 0) {  // equal parts
    extent const part = at.symbols().floor_divide(whole, parts);
    at.extents.assign(parts, part);
    return true;
  }
  if (count != parts) return false;
  auto const part = at.dimension(at.symbols().floor_divide(at.symbols().add(whole, parts - 1), parts));
  at.extents.assign(parts, part);
  at.extents.back() = at.dimension(at.symbols().subtract(whole, at.symbols().multiply(part, parts - 1)));
  return true;
}

template <class Context>
void split_shape(Context& at) {
  for (std::uint32_t i = 0; i < at.result_count(); ++i) at.share_type(i, 0);
  std::size_t axis = 0;
  if (!at.ranked(0)) return;
  if (!at.axis("axis", 0, at.rank(0), axis)) {
    for (std::uint32_t i = 0; i < at.result_count(); ++i) at.set_rank(i, at.shape(0).size());
    return;
  }
  bool const known = split_parts(at, at.shape(0)[axis]);
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  for (std::uint32_t i = 0; i < at.result_count(); ++i) {
    at.dims[axis] = known ? at.extents[i] : at.symbols().fresh();
    at.set_shape(i, at.dims);
  }
}

template <class Context>
[[nodiscard]] extent slice_extent(Context& at, extent whole, extent start, extent end, std::int64_t step) {
  auto& symbols = at.symbols();
  constexpr std::int64_t far = 0x7fffffff;  // how most exporters write "to the end"
  if (step == 0) return symbols.fresh();
  if (step < 0) {
    if (!start.known() || !end.known() || step < -far) return symbols.fresh();
    if (end == extent(far) || end == extent(std::numeric_limits<std::int64_t>::max())) return symbols.fresh();
    if (!whole.known()) {
      bool const all = (start.value() >= far || start.value() == -1) && end.value() <= -far;
      return all && step == -1 ? whole : symbols.fresh();
    }
    auto const size = whole.value();
    if (size == 0) return 0;
    auto from = start.value() < 0 ? start.value() + size : start.value();
    auto to = end.value() < -far ? -1 : end.value() < 0 ? end.value() + size : end.value();
    from = from < 0 ? 0 : from > size - 1 ? size - 1 : from;
    to = to < -1 ? -1 : to > size - 1 ? size - 1 : to;
    return from > to ? (from - to - step - 1) / -step : 0;
  }
  auto const from_front = [&](extent e, bool is_start, extent& place) {
    place = e;
    if (symbols.nonnegative(e)) return true;
    auto const back = symbols.subtract(0, e);
    place = symbols.add(whole, e);
    if (e.known() || symbols.least(back) >= 1) return true;
    place = 0;
    return is_start && symbols.nonnegative(back) && symbols.nonnegative(symbols.subtract(back, whole));
  };
  extent first, last;
  if (!from_front(start, true, first) || !from_front(end, false, last)) return symbols.fresh();
  bool const to_the_end = !whole.known() && end.known() && end.value() >= 1'000'000'000;
  auto const upper = to_the_end ? whole : symbols.minimum(last, whole);
  auto const length = symbols.maximum(symbols.subtract(upper, symbols.maximum(first, 0)), 0);
  if (step == 1) return length;
  return at.dimension(symbols.floor_divide(symbols.add(length, step - 1), step));
}

enum class slice_state : std::uint8_t { unknown, axes_known, known };
template <class Context>
[[nodiscard]] slice_state read_slice(Context& at, int rank) {
  at.axes.clear();
  auto const starts = at.symbolic_integers("starts", at.extents);
  auto const ends = at.symbolic_integers("ends", at.ends);
  std::size_t count = at.extents.size();
  bool known = starts == parameter_state::known && ends == parameter_state::known && at.ends.size() == count;
  auto const axes = at.integers("axes");
  if (axes == parameter_state::unknown) return slice_state::unknown;
  if (axes == parameter_state::missing) {
    if (!known && !at.length("starts", count) && !at.length("ends", count)) return slice_state::unknown;
    for (std::size_t i = 0; i < count; ++i) at.list.push_back(static_cast<std::int64_t>(i));
  }
  std::uint64_t seen = 0;
  for (auto axis : at.list) {
    if (axis < -rank || axis >= rank) return slice_state::unknown;
    at.axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    auto const bit = std::uint64_t{1} << at.axes.back();
    if ((seen & bit) != 0) return slice_state::unknown;
    seen |= bit;
  }
  auto const steps = at.integers("steps");
  if (steps == parameter_state::missing) at.list.assign(at.axes.size(), 1);
  known = known && steps != parameter_state::unknown && at.axes.size() == count && at.list.size() == count;
  return known ? slice_state::known : slice_state::axes_known;
}

template <class Context>
void slice_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const state = read_slice(at, at.rank(0));
  if (state == slice_state::unknown) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  bool all = state == slice_state::known;
  for (std::size_t i = 0; i < at.axes.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.axes[i])];
    auto const whole = e;
    e = state == slice_state::known ? slice_extent(at, e, at.extents[i], at.ends[i], at.list[i]) : at.symbols().fresh();
    all = all && e == whole && at.list[i] == 1;
  }
  at.set_shape(0, at.dims);
  at.facts.set_takes_all(at.n, all);
}

template <class Context>
void gather_shape(Context& at) {
  at.share_type(0, 0);
  std::size_t axis = 0;
  if (!at.ranked(0) || !at.ranked(1)) return;
  auto const data = at.shape(0), indices = at.shape(1);
  if (!at.axis("axis", 0, at.rank(0), axis)) {
    if (!data.empty()) at.set_rank(0, data.size() + indices.size() - 1);
    return;
  }
  at.dims.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  at.dims.insert(at.dims.end(), indices.begin(), indices.end());
  at.dims.insert(at.dims.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  at.set_shape(0, at.dims);
}

template <class Context>
void gather_nd_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t batch = 0;
  if (!at.ranked(0) || !at.ranked(1) || !at.integer("batch_dims", 0, batch)) return;
  auto const data = at.shape(0), indices = at.shape(1);
  if (indices.empty() || !indices.back().known() || batch < 0 || batch >= at.rank(1)) return;
  auto const depth = indices.back().value();
  if (depth < 0 || depth > at.rank(0) || batch + depth > at.rank(0)) return;
  at.dims.assign(indices.begin(), indices.end() - 1);
  at.dims.insert(at.dims.end(), data.begin() + batch + depth, data.end());
  at.set_shape(0, at.dims);
}

template <class Context>
void tile_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0) || at.operand_count() != 2) return;
  auto const from = at.shape(0);
  auto const repeats = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  if (repeats.size() != from.size()) return at.set_rank(0, from.size());
  at.dims.clear();
  for (std::size_t i = 0; i < from.size(); ++i)
    at.dims.push_back(at.dimension(at.symbols().multiply(from[i], repeats[i])));
  at.set_shape(0, at.dims);
}

template <class Context>
void pad_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const axes = at.integers("axes");
  bool known = axes != parameter_state::unknown;
  if (axes == parameter_state::missing)
    for (int i = 0; i < at.rank(0); ++i) at.list.push_back(i);
  for (auto& axis : at.list) {
    if (axis < -at.rank(0) || axis >= at.rank(0)) return;
    if (axis < 0) axis += at.rank(0);
  }
  at.axes.assign(at.list.begin(), at.list.end());
  known = known && at.symbolic_integers("pads", at.extents) == parameter_state::known &&
          at.extents.size() == 2 * at.axes.size();
  if (!known) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  for (std::size_t i = 0; i < at.axes.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.axes[i])];
    e = at.dimension(at.symbols().add(e, at.symbols().add(at.extents[i], at.extents[i + at.axes.size()])));
  }
  at.set_shape(0, at.dims);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void gather_contents(Context& at) {
  operand_contents data, indices;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !indices.read(at, 1) || indices.floating || !at.axis("axis", 0, at.rank(0), axis)) return;
  auto const whole = data.shape[axis].value();
  pick_contents(at, data, axis, indices.size(), at.result(), [&](std::size_t i) {
    auto const e = indices.integers[i];
    auto const index = e.value() < 0 ? e.value() + whole : e.value();
    return static_cast<std::size_t>(!e.known() || index < 0 || index >= whole ? whole : index);
  });
}

template <class Context>
void slice_contents(Context& at) {
  operand_contents data;
  std::size_t count = 0;
  if (!data.read(at, 0) || !small_result(at, count)) return;
  if (read_slice(at, at.rank(0)) != slice_state::known || at.axes.size() != 1) return;
  auto const axis = static_cast<std::size_t>(at.axes[0]);
  auto const whole = data.shape[axis].value();
  auto const picked = at.facts.shape(at.result())[axis].value();
  auto const step = at.list[0];
  if (!at.extents[0].known() || step == 0 || step > 0x7fffffff || step < -0x7fffffff) return;
  auto start = at.extents[0].value() < 0 ? at.extents[0].value() + whole : at.extents[0].value();
  auto const last = step < 0 ? whole - 1 : whole;
  start = start < 0 ? 0 : start > last ? last : start;
  pick_contents(at, data, axis, static_cast<std::size_t>(picked), at.result(), [&](std::size_t i) {
    auto const index = start + static_cast<std::int64_t>(i) * step;
    return static_cast<std::size_t>(index < 0 || index >= whole ? whole : index);
  });
}

template <class Context>
void split_contents(Context& at) {
  operand_contents data;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !at.axis("axis", 0, at.rank(0), axis)) return;
  std::size_t start = 0;
  for (std::uint32_t i = 0; i < at.result_count(); ++i) {
    if (!at.facts.has_rank(at.result(i)) || !data.read(at, 0)) return;  // storing moves what was read
    auto const part = at.facts.shape(at.result(i))[axis];
    if (!part.known() || part.value() < 0 || part.value() > static_cast<std::int64_t>(fact_table::most_contents))
      return;
    auto const length = static_cast<std::size_t>(part.value());
    pick_contents(at, data, axis, length, at.result(i), [&](std::size_t k) {
      auto const whole = static_cast<std::size_t>(data.shape[axis].value());
      return start + k < whole ? start + k : whole;
    });
    start += length;
  }
}

template <class Context>
void concat_contents(Context& at) {
  std::size_t count = 0, axis = 0;
  operand_contents part;
  if (!small_result(at, count) || !at.axis("axis", 1, at.facts.rank(at.result()), axis)) return;
  auto const shape = at.facts.shape(at.result());
  if (count == 0) return;  // any extents may stand beside the 0
  std::size_t outer = 1, pieces = 0;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i].value());
  bool const floating = is_floating(at.facts.type(at.result()));
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
      if (!part.read(at, i)) {
        std::size_t unknown = 0;
        if (floating || !at.ranked(i) || !small_count(at.shape(i), fact_table::most_contents, unknown)) return;
        for (std::size_t k = 0; k < unknown / outer; ++k) at.extents.push_back(at.symbols().fresh(no_bound));
        continue;
      }
      if (part.floating != floating) return;
      ++pieces;
      auto const block = part.size() / outer;
      if (floating)
        at.numbers.insert(at.numbers.end(), part.numbers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.numbers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      else
        at.extents.insert(at.extents.end(), part.integers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.integers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      if (at.numbers.size() > count || at.extents.size() > count) return;
    }
  if ((floating ? at.numbers.size() : at.extents.size()) != count || pieces == 0) return;
  if (floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

template <class Context>
void expand_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count)) return repeat_contents(at);
  if (!from.read(at, 0) || !from.covers(count)) return;
  auto const shape = at.facts.shape(at.result());
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t i = 0; i < count; ++i)
    if (from.floating)
      at.numbers.push_back(from.numbers[from.index(shape, i)]);
    else
      at.extents.push_back(from.integers[from.index(shape, i)]);
  if (from.floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

template <class Context>
void fill_contents(Context& at) {
  std::size_t count = 0;
  auto const value = at.image().source->attribute_of(at.n, "value");
  auto const* tensor = std::get_if<tensor_view>(&value);
  if (tensor != nullptr && tensor->size() != 1) return;
  if (tensor == nullptr && !std::holds_alternative<std::monostate>(value)) return;
  auto const type = at.facts.type(at.result());
  if (!small_result(at, count)) {
    return store_uniform(at, tensor == nullptr ? 0.0 : tensor->number(0));
  }
  if (is_floating(type)) {
    at.numbers.assign(count, tensor == nullptr ? 0.0 : tensor->number(0));
    store_numbers(at, at.result());
  } else if (tensor != nullptr && type != element_type::uint64) {
    at.extents.assign(count, extent(tensor->integer(0)));
    store_integers(at, at.result());
  }
}

template <class Context>
void range_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from, step;
  if (!small_result(at, count) || !from.read(at, 0) || !step.read(at, 2) || from.size() != 1 || step.size() != 1)
    return;
  if (from.floating || step.floating) {  // each further number depends on how a runtime rounds
    if (!from.floating || count != 1) return;
    at.numbers.assign(1, from.numbers[0]);
    return store_numbers(at, at.result());
  }
  auto e = from.integers[0];
  auto const by = step.integers[0];
  at.extents.clear();
  for (std::size_t i = 0; i < count; ++i, e = at.symbols().add(e, by)) at.extents.push_back(e);
  store_integers(at, at.result());
}

template <class Context>
void reduce_contents(Context& at, opcode op) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count) || count != 1 || !from.read(at, 0) || from.floating || from.size() == 0) return;
  auto const binary = op == opcode::sum          ? opcode::add
                      : op == opcode::product    ? opcode::mul
                      : op == opcode::reduce_max ? opcode::maximum
                                                 : opcode::minimum;
  auto all = from.integers[0];
  for (auto e : from.integers.subspan(1))
    if (!compute(at.symbols(), binary, all, e, all)) return;
  at.extents.assign(1, all);
  store_integers(at, at.result());
}

template <class Context>
void shape_contents(Context& at) {
  std::int64_t start = 0;
  if (!at.ranked(0) || !at.facts.has_rank(at.result()) || !at.integer("start", 0, start)) return;
  auto const from = at.shape(0);
  auto const length = at.facts.shape(at.result())[0];
  auto const rank = static_cast<std::int64_t>(from.size());
  if (!length.known()) return;
  start = start < 0 ? start + rank : start;
  start = start < 0 ? 0 : start > rank ? rank : start;
  if (length.value() > rank - start) return;
  auto const listed = from.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(length.value()));
  at.extents.assign(listed.begin(), listed.end());
  at.facts.set_integers(at.result(), at.extents);
}

template <class Context>
void propagate_contents(Context& at, opcode op) {
  if (at.result_count() == 0) return;
  switch (op) {
    case opcode::identity:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
      if (at.operand(0) != absent && at.facts.type(at.result()) == at.type(0))
        at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::transpose:
      if (at.rank(0) == 0 || at.rank(0) == 1) at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::cast:
    case opcode::cast_like: return cast_contents(at);
    case opcode::where: return where_contents(at);
    case opcode::shape: return shape_contents(at);
    case opcode::size:
      if (!at.ranked(0)) return;
      at.extents.assign(1, at.product(at.shape(0)));
      return at.facts.set_integers(at.result(), at.extents);
    case opcode::gather: return gather_contents(at);
    case opcode::slice: return slice_contents(at);
    case opcode::split: return split_contents(at);
    case opcode::concat: return concat_contents(at);
    case opcode::expand: return expand_contents(at);
    case opcode::constant_of_shape: return fill_contents(at);
    case opcode::range: return range_contents(at);
    case opcode::sum:
    case opcode::product:
    case opcode::reduce_max:
    case opcode::reduce_min: return reduce_contents(at, op);
    default: {
      if (!at.facts.has_contents(at.operand(0))) return;  // of most values none are known
      auto const kind = info(op).kind;
      if (kind == op_kind::elementwise || kind == op_kind::broadcast) elementwise_contents(at, op);
    }
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline bool is_uniform(tensor_view const& contents) {
  auto const size = size_of(contents.type), all = contents.bytes.size();
  return size != 0 && all >= size && std::memcmp(contents.bytes.data(), contents.bytes.data() + size, all - size) == 0;
}

template <class Context>
void read_constant(Context& at, value_id v, tensor_view const& contents) {
  at.facts.set_type(v, contents.type);
  at.dims.assign(contents.shape.begin(), contents.shape.end());
  for (auto& e : at.dims)
    if (e.value() < 0) return;
  at.facts.set_shape(v, at.dims);
  std::size_t count = 0;
  if (!small_count(at.dims, fact_table::most_contents, count)) {
    bool const number = is_floating(contents.type) || is_integer(contents.type);
    if (number && is_uniform(contents)) at.facts.set_uniform(v, contents.number(0));
    return;
  }
  if (contents.size() != count) return;
  if (is_floating(contents.type)) {
    at.numbers.clear();
    for (std::size_t i = 0; i < count; ++i) at.numbers.push_back(contents.number(i));
    at.facts.set_numbers(v, at.numbers);
  } else if (is_integer(contents.type) || contents.type == element_type::boolean) {
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) {
      auto const element = contents.integer(i);
      if (contents.type == element_type::uint64 && element < 0) return;  // more than an extent can be
      at.extents.push_back(extent(element));
    }
    at.facts.set_integers(v, at.extents);
  }
}

template <class Context>
extent declared_extent(Context& at, dimension const& d) {
  if (d.extent >= 0) return d.extent;
  return d.symbol.empty() ? at.symbols().fresh() : at.symbols().named(d.symbol);
}

template <class Context>
void declared_shape(Context& at, value_id v, std::vector<dimension> const& declared) {
  if (declared.size() > fact_table::most_rank) return;
  at.dims.clear();
  for (auto const& d : declared) at.dims.push_back(declared_extent(at, d));
  at.facts.set_shape(v, at.dims);
}

template <class Context>
void read_declared(Context& at, value_id v, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (at.image().value(v).constant) {
    if (auto const contents = source.constant(v)) return read_constant(at, v, contents);
  }
  at.facts.set_type(v, source.type(v));
  declared.clear();
  if (source.has_shapes() && source.shape(v, declared)) declared_shape(at, v, declared);
}

template <class Context>
void refine_shape(Context& at, value_id v, std::uint32_t before, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (!source.has_shapes()) return;
  bool const ranked = at.facts.has_rank(v);
  auto const open = [&](extent e) { return !e.known() && e.symbol() >= before && at.symbols().is_fresh(e); };
  bool wanted = !ranked;
  for (auto e : at.facts.shape(v)) wanted = wanted || open(e);
  if (!wanted) return;
  declared.clear();
  if (!source.shape(v, declared)) return;
  if (!ranked) return declared_shape(at, v, declared);
  auto const computed = at.facts.shape(v);
  if (computed.size() != declared.size()) return;
  at.dims.assign(computed.begin(), computed.end());
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (open(at.dims[i]) && (declared[i].extent >= 0 || !declared[i].symbol.empty()))
      at.dims[i] = declared_extent(at, declared[i]);
  at.facts.set_shape(v, at.dims);
}

template <class Context>
void refine_by_declaration(Context& at, value_id v, std::uint32_t before, std::vector<dimension>& declared) {
  if (at.facts.type(v) == element_type::unknown) at.facts.set_type(v, at.image().source->type(v));
  if (!at.facts.has_rank(v) || at.symbols().symbol_count() != before) refine_shape(at, v, before, declared);
}

template <class Context>
void read_constant_node(Context& at) {
  auto const v = at.result();
  auto const& source = *at.image().source;
  if (auto const contents = source.constant(v)) return read_constant(at, v, contents);
  auto const value = source.attribute_of(at.n, "value");
  if (auto const* tensor = std::get_if<tensor_view>(&value)) return read_constant(at, v, *tensor);
  auto const whole = source.attribute_of(at.n, "value_int");
  if (auto const* number = std::get_if<std::int64_t>(&whole)) {
    extent const element[] = {*number};
    at.facts.set_type(v, element_type::int64);
    at.facts.set_shape(v, {});
    return at.facts.set_integers(v, element);
  }
  auto const real = source.attribute_of(at.n, "value_float");
  if (auto const* number = std::get_if<double>(&real)) {
    at.facts.set_type(v, element_type::float32);
    at.facts.set_shape(v, {});
    double const element[] = {static_cast<double>(static_cast<float>(*number))};
    return at.facts.set_numbers(v, element);
  }
  auto const wholes = source.attribute_of(at.n, "value_ints");
  if (auto const* list = std::get_if<span<std::int64_t const>>(&wholes)) {
    extent const length[] = {static_cast<std::int64_t>(list->size())};
    at.facts.set_type(v, element_type::int64);
    at.facts.set_shape(v, length);
    at.extents.assign(list->begin(), list->end());
    return at.facts.set_integers(v, at.extents);
  }
  auto const reals = source.attribute_of(at.n, "value_floats");
  if (auto const* list = std::get_if<span<float const>>(&reals)) {
    extent const length[] = {static_cast<std::int64_t>(list->size())};
    at.facts.set_type(v, element_type::float32);
    at.facts.set_shape(v, length);
    at.numbers.assign(list->begin(), list->end());
    return at.facts.set_numbers(v, at.numbers);
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void broadcast_into(Context& at, span<extent const> shape) {
  auto& dims = at.dims;
  if (shape.size() > dims.size()) dims.insert(dims.begin(), shape.size() - dims.size(), extent(1));
  auto const shift = dims.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) dims[shift + i] = at.symbols().broadcast(dims[shift + i], shape[i]);
}

template <class Context>
void broadcast_shape(Context& at) {
  auto const count = at.operand_count();
  if (count == 0 || at.result_count() == 0) return;
  if (count == 2) {  // the same two over and over: a broadcast is a symbol known by its arguments
    auto const a = at.facts.shape_number(at.operand(0)), b = at.facts.shape_number(at.operand(1));
    if (a == 0 || b == 0) return;
    if (a == b) return at.facts.set_shape_number(at.result(), a);
    auto& known = at.broadcasts[(a * 31 + b) % at.most_broadcasts];
    if (known.a != a || known.b != b) {
      auto const first = at.shape(0);
      at.dims.assign(first.begin(), first.end());
      broadcast_into(at, at.shape(1));
      at.set_shape(0, at.dims);
      known = {a, b, at.facts.shape_number(at.result())};
    }
    return at.facts.set_shape_number(at.result(), known.result);
  }
  bool same = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!at.ranked(i)) return;
    same = same && at.facts.same_shape(at.operand(0), at.operand(i));
  }
  if (same) return at.share_shape(0, 0);
  auto const first = at.shape(0);
  at.dims.assign(first.begin(), first.end());
  for (std::uint32_t i = 1; i < count; ++i) broadcast_into(at, at.shape(i));
  at.set_shape(0, at.dims);
}

template <class Context>
void reduce_shape(Context& at) {
  at.facts.add_reduction(at.n);
  bool keepdims = true;
  if (!reduction_axes(at.image(), at.facts, at.names, at.n, at.axes, keepdims, at.list)) {
    double keeps = 0;
    if (at.ranked(0) && read_number(at.image(), at.facts, at.names, at.n, "keepdims", keeps) && keeps != 0)
      at.set_rank(0, at.shape(0).size());
    return;
  }
  if (at.result_count() == 0) return;
  auto const kind = at.facts.keep_reduction(at.n, at.axes, keepdims);
  auto const from = at.shape(0);
  auto const number = at.facts.shape_number(at.operand(0));
  auto& last = at.reduced;
  if (last.a == number && last.b == kind) return at.facts.set_shape_number(at.result(), last.result);
  last = {number, kind, 0};
  at.dims.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    bool const reduced = next < at.axes.size() && at.axes[next] == static_cast<int>(i);
    if (reduced) ++next;
    if (!reduced)
      at.dims.push_back(from[i]);
    else if (keepdims)
      at.dims.push_back(1);
  }
  at.set_shape(0, at.dims);
  last.result = at.facts.shape_number(at.result());
}

template <class Context>
void arg_reduce_shape(Context& at) {
  at.set_type(0, element_type::int64);
  std::size_t axis = 0;
  std::int64_t keeps = 1;
  if (!at.ranked(0) || !at.axis("axis", 0, at.rank(0), axis) || !at.integer("keepdims", 1, keeps)) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  if (keeps != 0)
    at.dims[axis] = 1;
  else
    at.dims.erase(at.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  at.set_shape(0, at.dims);
}

template <class Context>
void meet_shapes(Context& at, value_id v, value_id other) {
  auto const a = at.facts.shape(v), b = at.facts.shape(other);
  if (!at.facts.has_rank(v) || !at.facts.has_rank(other) || a.size() != b.size()) return at.facts.forget_shape(v);
  at.dims.clear();
  for (std::size_t i = 0; i < a.size(); ++i) at.dims.push_back(a[i] == b[i] ? a[i] : at.symbols().fresh());
  at.facts.set_shape(v, at.dims);
}

[[nodiscard]] inline element_type type_of_number(std::int64_t number) {
  if (number <= 0) return element_type::unknown;
  return number > 16 ? element_type::other : static_cast<element_type>(number);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void matmul_shape(Context& at, std::uint32_t right = 1, bool turned_left = false, bool turned_right = false) {
  if (!at.ranked(0) || !at.ranked(right)) return;
  auto const a = at.shape(0);
  auto const b = at.shape(right);
  if (a.empty() || b.empty()) return;
  at.dims.clear();
  if (a.size() > 2) at.dims.assign(a.begin(), a.end() - 2);
  if (b.size() > 2) broadcast_into(at, at.shape(right).first(b.size() - 2));
  if (a.size() > 1) at.dims.push_back(a[a.size() - (turned_left ? 1 : 2)]);
  if (b.size() > 1) at.dims.push_back(b[b.size() - (turned_right ? 2 : 1)]);
  at.set_shape(0, at.dims);
}

template <class Context>
void fused_matmul_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t left = 0, right = 0, batch_left = 0, batch_right = 0;
  bool const known = at.integer("transA", 0, left) && at.integer("transB", 0, right) &&
                     at.integer("transBatchA", 0, batch_left) && at.integer("transBatchB", 0, batch_right) &&
                     batch_left == 0 && batch_right == 0;
  if (known && at.rank(0) > 1 && at.rank(1) > 1) matmul_shape(at, 1, left != 0, right != 0);
}

template <class Context>
void gemm_shape(Context& at) {
  at.share_type(0, 0);
  std::int64_t turned_a = 0, turned_b = 0;
  if (!at.integer("transA", 0, turned_a) || !at.integer("transB", 0, turned_b)) return at.set_rank(0, 2);
  auto const pick = [&](std::uint32_t i, bool first) {
    return at.rank(i) == 2 ? at.shape(i)[first ? 0 : 1] : at.symbols().fresh();
  };
  extent const made[] = {pick(0, turned_a == 0), pick(1, turned_b != 0)};
  at.set_shape(0, made);
}

template <class Context>
void linear_shape(Context& at) {
  at.share_type(0, at.type(0) != element_type::unknown ? 0 : 1);
  if (!at.ranked(0) || at.rank(0) == 0) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  at.dims.back() = at.rank(1) == 2 ? at.shape(1)[0] : at.symbols().fresh();
  if (at.rank(1) != 1) at.set_shape(0, at.dims);
}

struct window {
  extent kernel = 1;
  std::int64_t stride = 1, dilation = 1, before = 0, after = 0;
  bool same = false, ceil = false;

  [[nodiscard]] bool covers(extent whole) const {
    return kernel == whole && dilation == 1 && before == 0 && after == 0 && !same;
  }
};
template <class Context>
[[nodiscard]] extent window_extent(Context& at, extent whole, window const& w) {
  auto& symbols = at.symbols();
  if (w.stride < 1 || w.dilation < 1) return symbols.fresh();
  if (w.same) return symbols.floor_divide(symbols.add(whole, w.stride - 1), w.stride);
  auto const padded = symbols.add(whole, symbols.add(extent(w.before), w.after));
  auto const covered = symbols.add(symbols.multiply(symbols.subtract(w.kernel, 1), w.dilation), 1);
  auto const room = symbols.subtract(padded, covered);
  if (room.known() && room.value() < 0) return symbols.fresh();
  if (!w.ceil || w.stride == 1) return at.dimension(symbols.add(symbols.floor_divide(room, w.stride), 1));
  if (!room.known() || room.value() > 0x7fffffff) return symbols.fresh();
  auto const steps = (room.value() + w.stride - 1) / w.stride;
  bool const behind = !whole.known() || steps > (whole.value() + w.before - 1) / w.stride;
  return behind ? symbols.fresh() : extent(steps + 1);
}

template <class Context>
[[nodiscard]] bool read_windows(Context& at, std::size_t count, plain_vector<window>& windows) {
  windows.assign(count, {});
  auto const each = [&](std::string_view parameter, std::size_t entries, auto&& take) {
    auto const state = at.integers(parameter);
    if (state == parameter_state::missing) return true;
    if (state == parameter_state::unknown || at.list.size() != entries) return false;
    for (std::size_t i = 0; i < entries; ++i) {
      if (at.list[i] < -0x7fffffff || at.list[i] > 0x7fffffff) return false;
      take(i, at.list[i]);
    }
    return true;
  };
  bool const read = each("strides", count, [&](std::size_t i, std::int64_t e) { windows[i].stride = e; }) &&
                    each("dilations", count, [&](std::size_t i, std::int64_t e) { windows[i].dilation = e; }) &&
                    each("kernel_shape", count, [&](std::size_t i, std::int64_t e) { windows[i].kernel = e; }) &&
                    each("pads", 2 * count, [&](std::size_t i, std::int64_t e) {
                      (i < count ? windows[i].before : windows[i - count].after) = e;
                    });
  if (!read) return false;
  auto const padding = at.image().source->attribute_of(at.n, "auto_pad");
  if (std::holds_alternative<std::monostate>(padding)) return true;
  auto const* text = std::get_if<std::string_view>(&padding);
  if (text == nullptr) return false;
  if (*text == "NOTSET" || text->empty()) return true;
  for (auto& w : windows) {
    w.before = w.after = 0;
    w.same = *text == "SAME_UPPER" || *text == "SAME_LOWER";
  }
  return *text == "VALID" || windows.empty() || windows[0].same;
}

template <class Context>
void conv_shape(Context& at, std::uint32_t weight = 1) {
  if (!at.ranked(0)) {
    if (at.ranked(weight)) at.set_rank(0, at.shape(weight).size());
    return;
  }
  auto const from = at.shape(0);
  if (from.size() < 2) return;
  plain_vector<window> windows;
  bool const known = read_windows(at, from.size() - 2, windows);
  bool const weights = at.ranked(weight) && at.shape(weight).size() == from.size();
  at.dims.assign({from[0], weights ? at.shape(weight)[0] : at.symbols().fresh()});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (weights) windows[i].kernel = at.shape(weight)[i + 2];
    bool const sized = known && (weights || at.integers("kernel_shape") == parameter_state::known);
    at.dims.push_back(sized ? window_extent(at, from[i + 2], windows[i]) : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void conv_transpose_shape(Context& at) {
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  auto& symbols = at.symbols();
  plain_vector<window> windows;
  std::int64_t groups = 1;
  bool const weights = at.ranked(1) && at.shape(1).size() == from.size();
  bool known = read_windows(at, from.size() - 2, windows) && weights && at.integer("group", 1, groups);
  for (auto const& w : windows) known = known && !w.same;
  known = known && at.integers("output_shape") == parameter_state::missing;
  auto const extra = at.integers("output_padding");
  known = known &&
          (extra == parameter_state::missing || (extra == parameter_state::known && at.list.size() == windows.size()));
  at.dims.assign({from[0], known ? at.dimension(symbols.multiply(at.shape(1)[1], groups)) : symbols.fresh()});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    auto const& w = windows[i];
    auto const covered =
        known ? symbols.add(symbols.multiply(symbols.subtract(at.shape(1)[i + 2], 1), w.dilation), 1) : extent(0);
    auto const grown = symbols.add(symbols.multiply(symbols.subtract(from[i + 2], 1), w.stride), covered);
    auto const cut = symbols.subtract(extra == parameter_state::known && known ? extent(at.list[i]) : extent(0),
                                      symbols.add(extent(w.before), w.after));
    at.dims.push_back(known ? at.dimension(symbols.add(grown, cut)) : symbols.fresh());
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void pool_shape(Context& at) {
  at.share_type(0, 0);
  at.set_type(1, element_type::int64);
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  plain_vector<window> windows;
  std::int64_t ceil = 0;
  bool const known = at.integers("kernel_shape") == parameter_state::known &&
                     read_windows(at, from.size() - 2, windows) && at.integer("ceil_mode", 0, ceil);
  at.dims.assign(from.begin(), from.begin() + 2);
  at.axes.clear();
  for (std::size_t i = 2; i < from.size(); ++i) {
    if (!known) {  // then there are no windows
      at.dims.push_back(at.symbols().fresh());
      continue;
    }
    auto& w = windows[i - 2];
    w.ceil = ceil != 0;
    if (w.covers(from[i])) at.axes.push_back(static_cast<int>(i));
    bool const sized = !w.same || w.dilation == 1;  // what "same" pads to a dilated window is not what runtimes do
    at.dims.push_back(sized ? window_extent(at, from[i], w) : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
  at.set_shape(1, at.dims);
  if (op_of(at.image(), at.n) != opcode::lp_pool && at.axes.size() == windows.size() && !windows.empty())
    at.facts.keep_reduction(at.n, at.axes, true);
}

template <class Context>
void global_pool_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0) || at.shape(0).size() < 2) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.begin() + 2);
  at.dims.resize(from.size(), extent(1));
  at.set_shape(0, at.dims);
}

template <class Context>
void einsum_shape(Context& at) {
  at.share_type(0, 0);
  auto const equation = at.image().source->attribute_of(at.n, "equation");
  auto const* text = std::get_if<std::string_view>(&equation);
  if (text == nullptr || text->size() > 1024) return;
  extent letters[128];
  unsigned char uses[128] = {};
  std::uint32_t operand = 0;
  std::size_t at_dimension = 0, position = 0;
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (; position < text->size() && (*text)[position] != '-'; ++position) {
    char const c = (*text)[position];
    if (c == ' ') continue;
    if (c == ',') {
      if (at.rank(operand) != static_cast<int>(at_dimension)) return;
      ++operand;
      at_dimension = 0;
    } else if (letter(c)) {
      if (!at.ranked(operand) || at_dimension >= at.shape(operand).size()) return;
      auto const e = at.shape(operand)[at_dimension++];
      auto const i = static_cast<std::size_t>(c);
      letters[i] = uses[i] == 0 ? e : at.symbols().broadcast(letters[i], e);
      if (uses[i] < 2) ++uses[i];
    } else {
      return;
    }
  }
  if (at.rank(operand) != static_cast<int>(at_dimension) || operand + 1 != at.operand_count()) return;
  at.dims.clear();
  if (position == text->size()) {  // no arrow: the letters that occur once, in order
    for (std::size_t i = 0; i < 128; ++i)
      if (uses[i] == 1) at.dims.push_back(letters[i]);
  } else {
    if (text->size() < position + 2 || (*text)[position + 1] != '>') return;
    for (char c : text->substr(position + 2)) {
      if (c == ' ') continue;
      if (!letter(c) || uses[static_cast<std::size_t>(c)] == 0) return;
      at.dims.push_back(letters[static_cast<std::size_t>(c)]);
    }
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void resize_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  auto const policy = at.image().source->attribute_of(at.n, "keep_aspect_ratio_policy");
  auto const* kept = std::get_if<std::string_view>(&policy);
  bool const plain = std::holds_alternative<std::monostate>(policy) || (kept != nullptr && *kept == "stretch");
  auto const state = at.integers("axes");
  if (state == parameter_state::missing)
    for (int i = 0; i < at.rank(0); ++i) at.list.push_back(i);
  if (state == parameter_state::unknown || !plain || !normalise_axes(at.list, at.rank(0), at.axes))
    return at.set_rank(0, from.size());
  for (auto& axis : at.list)
    if (axis < 0) axis += at.rank(0);
  auto const sizes = at.operand(3) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(3));
  auto const scales_at = at.operand_count() == 2 ? 1u : 2u;
  auto const scales = at.operand(scales_at) == absent ? span<double const>{} : at.facts.numbers(at.operand(scales_at));
  if (sizes.size() != at.list.size() && scales.size() != at.list.size()) return at.set_rank(0, from.size());
  at.dims.assign(from.begin(), from.end());
  for (std::size_t i = 0; i < at.list.size(); ++i) {
    auto& e = at.dims[static_cast<std::size_t>(at.list[i])];
    if (sizes.size() == at.list.size()) {
      e = at.dimension(sizes[i]);
    } else if (scales[i] >= 1 && scales[i] < 1e9 &&
               static_cast<double>(static_cast<std::int64_t>(scales[i])) == scales[i]) {
      e = at.symbols().multiply(e, static_cast<std::int64_t>(scales[i]));
    } else if (e.known() && e.value() < 1 << 24 && scales[i] > 0 && scales[i] < 1e9) {
      e = static_cast<std::int64_t>(static_cast<float>(e.value()) * static_cast<float>(scales[i]));  // as runtimes do
    } else {
      e = at.symbols().fresh();
    }
  }
  at.set_shape(0, at.dims);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void norm_statistics(Context& at, std::uint32_t first, std::uint32_t last) {
  if (at.result_count() <= first) return;
  std::int64_t stash = 1;
  bool const typed = at.integer("stash_type", 1, stash);
  for (auto i = first; i <= last; ++i)
    if (typed && stash == 1) at.set_type(i, element_type::float32);
  std::size_t axis = 0;
  if (!at.axis("axis", -1, at.rank(0), axis)) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  for (auto i = axis; i < at.dims.size(); ++i) at.dims[i] = 1;
  for (auto i = first; i <= last; ++i) at.set_shape(i, at.dims);
}

template <class Context>
void norm_type(Context& at, opcode op) {
  bool const one_type = op == opcode::layer_norm && at.image().version >= 17;
  if (!at.names.promotes && at.operand(1) != absent && (at.type(1) != element_type::unknown || !one_type))
    at.share_type(0, 1);
  norm_statistics(at, 1, 2);
}

template <class Context>
void skip_norm_shape(Context& at) {
  if (!at.ranked(0)) return;
  norm_statistics(at, 1, 2);
  at.share_type(3, 0);
  at.share_shape(3, 0);
}

template <class Context>
void embed_norm_shape(Context& at) {
  at.set_type(1, element_type::int32);
  if (at.rank(0) != 2) return;
  auto const ids = at.shape(0);
  extent const batch[] = {ids[0]};
  extent const made[] = {ids[0], ids[1], at.rank(2) == 2 ? at.shape(2)[1] : at.symbols().fresh()};
  at.set_shape(0, made);
  at.set_shape(1, batch);
  if (at.result_count() > 2) at.set_shape(2, made);
}

template <class Context>
void batch_norm_shape(Context& at) {
  double training = 0;
  if (!read_number(at.image(), at.facts, at.names, at.n, "training_mode", training)) return;
  for (std::uint32_t i = 1; i < at.result_count() && i <= 2; ++i) {
    if (training == 0) return;
    at.share_type(i, i + 2);
    at.share_shape(i, i + 2);
  }
}

template <class Context>
void quantize_shape(Context& at) {
  at.share_shape(0, 0);
  std::int64_t number = 0;
  if (at.operand(2) != absent)
    at.share_type(0, 2);
  else if (at.integer("output_dtype", 0, number))
    at.set_type(0, number == 0                  ? element_type::uint8
                   : number > 0 && number <= 16 ? static_cast<element_type>(number)
                                                : element_type::other);
}

template <class Context>
void dequantize_shape(Context& at) {
  at.share_shape(0, 0);
  std::int64_t number = 0;
  if (!at.integer("output_dtype", 0, number)) return;
  if (number == 0)
    at.share_type(0, 1);
  else
    at.set_type(0, type_of_number(number));
}

template <class Context>
void dynamic_quantize_shape(Context& at) {
  at.set_type(0, element_type::uint8);
  at.set_type(1, element_type::float32);
  at.set_type(2, element_type::uint8);
  at.share_shape(0, 0);
  at.set_shape(1, {});
  at.set_shape(2, {});
}

template <class Context>
void blocks_shape(Context& at, bool to_space) {
  at.share_type(0, 0);
  std::int64_t size = 0;
  if (at.rank(0) != 4) return;
  if (!at.integer("blocksize", 0, size) || size < 1 || size > 0x7fff) return at.set_rank(0, 4);
  auto const from = at.shape(0);
  auto& symbols = at.symbols();
  auto const scaled = [&](extent e, std::int64_t by, bool up) {
    return up ? symbols.multiply(e, by) : symbols.floor_divide(e, by);
  };
  extent const made[] = {from[0], scaled(from[1], size * size, !to_space), scaled(from[2], size, to_space),
                         scaled(from[3], size, to_space)};
  at.set_shape(0, made);
}

template <class Context>
void recurrent_shape(Context& at) {
  for (std::uint32_t i = 0; i < 3; ++i) at.share_type(i, 0);
  std::int64_t batch_first = 0, hidden = 0;
  if (at.rank(0) != 3 || !at.integer("layout", 0, batch_first)) return;
  auto const from = at.shape(0);
  auto const directions = at.rank(1) == 3 ? at.shape(1)[0] : at.symbols().fresh();
  extent const width = at.integer("hidden_size", -1, hidden) && hidden >= 0 ? extent(hidden)
                       : at.rank(2) == 3                                    ? at.shape(2)[2]
                                                                            : at.symbols().fresh();
  auto const length = from[batch_first != 0 ? 1 : 0], batch = from[batch_first != 0 ? 0 : 1];
  extent const all[] = {length, directions, batch, width}, all_batch_first[] = {batch, length, directions, width};
  extent const last[] = {directions, batch, width}, last_batch_first[] = {batch, directions, width};
  at.set_shape(0, batch_first != 0 ? all_batch_first : all);
  for (std::uint32_t i = 1; i < 3; ++i) at.set_shape(i, batch_first != 0 ? last_batch_first : last);
}

template <class Context>
void attention_result(Context& at, std::int64_t heads, std::int64_t shared) {
  at.share_type(0, 0);
  auto const rank = at.rank(0);
  if (rank != 3 && rank != 4) return;
  auto const values = at.rank(2) == 3 || at.rank(2) == 4 ? at.shape(2) : span<extent const>{};
  if (rank == 4) {
    auto const q = at.shape(0);
    extent const made[] = {q[0], q[1], q[2], values.empty() ? at.symbols().fresh() : values.back()};
    return at.set_shape(0, made);
  }
  extent row{};
  if (values.size() == 4)
    row = at.symbols().multiply(at.shape(2)[1], at.shape(2)[3]);
  else if (values.size() == 3 && heads == shared)
    row = values.back();
  else if (values.size() == 3 && values.back().known() && shared > 0 && values.back().value() % shared == 0)
    row = at.dimension(at.symbols().multiply(extent(values.back().value() / shared), extent(heads)));
  else
    row = at.symbols().fresh();
  auto const q = at.shape(0);
  extent const made[] = {q[0], q[1], row};
  at.set_shape(0, made);
}

template <class Context>
void attention_shape(Context& at) {
  std::int64_t heads = 0, shared = 0;
  bool const told = at.integer("q_num_heads", 0, heads) && at.integer("kv_num_heads", 0, shared);
  attention_result(at, told ? heads : 0, told ? shared : -1);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Context>
void apply_maker(Context& at, opcode op) {
  auto& symbols = at.symbols();
  switch (op) {
    case opcode::constant:
      if (at.result_count() == 1) read_constant_node(at);
      break;
    case opcode::shape: {
      at.set_type(0, element_type::int64);
      std::int64_t start = 0, end = 0x7fffffff;
      if (!at.integer("start", 0, start) || !at.integer("end", 0x7fffffff, end) || !at.ranked(0))
        return at.set_rank(0, 1);
      extent const length[] = {slice_extent(at, at.rank(0), start, end, 1)};
      at.set_shape(0, length);
      break;
    }
    case opcode::size:
      at.set_type(0, element_type::int64);
      at.set_shape(0, {});
      break;
    case opcode::constant_of_shape: {
      auto const value = at.image().source->attribute_of(at.n, "value");
      if (std::holds_alternative<std::monostate>(value)) at.set_type(0, element_type::float32);
      if (auto const* tensor = std::get_if<tensor_view>(&value)) at.set_type(0, tensor->type);
      auto const target = at.operand(0) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(0));
      if (at.operand(0) == absent || !at.facts.has_integers(at.operand(0))) {
        if (at.rank(0) == 1 && at.shape(0)[0].known() &&
            at.shape(0)[0].value() <= static_cast<std::int64_t>(fact_table::most_rank))
          at.set_rank(0, static_cast<std::size_t>(at.shape(0)[0].value()));
        return;
      }
      at.dims.clear();
      for (auto e : target) at.dims.push_back(at.dimension(e));
      at.set_shape(0, at.dims);
      break;
    }
    case opcode::range: {
      at.share_type(0, 0);
      double from = 0, to = 0, step = 0;
      extent length[] = {symbols.fresh()};
      auto const entry = [&](std::uint32_t i) {
        return at.operand(i) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(i));
      };
      if (entry(0).size() == 1 && entry(1).size() == 1 && entry(2).size() == 1) {
        auto const by = entry(2)[0];
        auto const room = symbols.subtract(entry(1)[0], entry(0)[0]);
        if (by.known() && by.value() > 0)
          length[0] = symbols.maximum(symbols.floor_divide(symbols.add(room, by.value() - 1), by), 0);
        else if (by.known() && by.value() < 0 && by.value() > -0x7fffffff)
          length[0] = symbols.maximum(
              symbols.floor_divide(symbols.add(symbols.subtract(0, room), -by.value() - 1), -by.value()), 0);
      } else if (at.operand_count() == 3 && at.type(0) != element_type::unknown && at.operand(0) != absent &&
                 at.operand(1) != absent && at.operand(2) != absent && at.facts.number(at.operand(0), from) &&
                 at.facts.number(at.operand(1), to) && at.facts.number(at.operand(2), step) && step != 0) {
        auto const count = (to - from) / step;
        if (count <= 0) {
          length[0] = 0;
        } else if (count < 1e9) {
          auto const whole = static_cast<std::int64_t>(count);
          length[0] = whole + (static_cast<double>(whole) < count ? 1 : 0);
        }
      }
      at.set_shape(0, length);
      break;
    }
    case opcode::non_zero: {
      at.set_type(0, element_type::int64);
      auto const rank = at.rank(0);  // runtimes take a scalar for a list
      double every = 0;
      bool const all = rank == 1 && at.facts.uniform(at.operand(0), every) && every != 0;
      extent const made[] = {rank > 0 ? extent(rank) : symbols.fresh(), all ? at.shape(0)[0] : symbols.fresh()};
      at.set_shape(0, made);
      break;
    }
    default: break;
  }
}

template <class Context>
void one_hot_shape(Context& at) {
  at.share_type(0, 2);
  if (!at.ranked(0)) return;
  std::size_t axis = 0;
  if (!at.axis("axis", -1, at.rank(0) + 1, axis)) return at.set_rank(0, at.shape(0).size() + 1);
  auto const from = at.shape(0);
  double depth = 0;
  auto const entries = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  extent e;
  if (entries.size() == 1)
    e = at.dimension(entries[0]);
  else if (at.operand(1) != absent && at.facts.number(at.operand(1), depth) && depth >= 0 && depth < 1e15)
    e = static_cast<std::int64_t>(depth);
  else
    e = at.symbols().fresh();
  at.dims.assign(from.begin(), from.end());
  at.dims.insert(at.dims.begin() + static_cast<std::ptrdiff_t>(axis), e);
  at.set_shape(0, at.dims);
}

template <class Context>
void compress_shape(Context& at) {
  at.share_type(0, 0);
  if (!at.ranked(0)) return;
  if (at.integers("axis") == parameter_state::missing) return at.set_rank(0, 1);
  std::size_t axis = 0;
  if (!at.axis("axis", 0, at.rank(0), axis)) return at.set_rank(0, at.shape(0).size());
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  at.dims[axis] = at.symbols().fresh();
  at.set_shape(0, at.dims);
}

template <class Context>
void carried_shape(Context& at) {
  at.share_type(0, 0);
  at.share_type(1, at.operand(3) != absent ? 3 : 0);
  at.share_shape(1, 3);
}

template <class Context>
void loss_shape(Context& at) {
  at.share_type(0, 0);
  at.share_type(1, 0);
  at.share_shape(1, 0);
  auto const how = at.image().source->attribute_of(at.n, "reduction");
  auto const* text = std::get_if<std::string_view>(&how);
  if (text != nullptr && *text == "none")
    at.share_shape(0, 1);
  else if (text != nullptr || std::holds_alternative<std::monostate>(how))
    at.set_shape(0, {});
}

template <class Context>
void top_k_shape(Context& at) {
  at.share_type(0, 0);
  at.set_type(1, element_type::int64);
  std::size_t axis = 0;
  if (!at.ranked(0)) return;
  bool const known = at.axis("axis", -1, at.rank(0), axis);
  auto const state = at.symbolic_integers("k", at.extents);
  auto const from = at.shape(0);
  if (!known) {
    at.set_rank(0, from.size());
  } else {
    at.dims.assign(from.begin(), from.end());
    at.dims[axis] =
        state == parameter_state::known && at.extents.size() == 1 ? at.dimension(at.extents[0]) : at.symbols().fresh();
    at.set_shape(0, at.dims);
  }
  if (at.result_count() > 1) at.facts.share_shape(at.result(1), at.result(0));
}

template <class Context>
void dropout_shape(Context& at) {
  at.share_type(0, 0);
  at.share_shape(0, 0);
  at.share_shape(1, 0);
  if (at.image().version >= 10)
    at.set_type(1, element_type::boolean);
  else
    at.share_type(1, 0);
}

template <class Context>
void expand_shape(Context& at) {
  at.share_type(0, 0);
  auto const target = at.operand(1) == absent ? span<extent const>{} : at.facts.symbolic_integers(at.operand(1));
  if (!at.ranked(0)) return;
  auto const from = at.shape(0);
  at.extents.clear();
  if (at.operand(1) != absent && at.facts.has_integers(at.operand(1))) {
    for (auto e : target) at.extents.push_back(at.symbols().nonnegative(e) ? e : at.symbols().fresh());
  } else {
    if (at.rank(1) != 1 || !at.shape(1)[0].known() ||
        at.shape(1)[0].value() > static_cast<std::int64_t>(fact_table::most_rank))
      return;
    for (std::int64_t i = 0; i < at.shape(1)[0].value(); ++i) at.extents.push_back(at.symbols().fresh());
  }
  at.dims.assign(from.begin(), from.end());
  broadcast_into(at, at.extents);
  at.set_shape(0, at.dims);
}

template <class Context>
void eye_like_shape(Context& at) {
  std::int64_t number = 0;
  at.share_shape(0, 0);
  if (at.integer("dtype", 0, number) && number != 0)
    at.set_type(0, type_of_number(number));
  else
    at.share_type(0, 0);
}

template <class Context>
void cast_type(Context& at) {
  std::int64_t to = 0;
  if (at.integer("to", 0, to)) at.set_type(0, type_of_number(to));
}

template <class Context>
[[nodiscard]] bool first_type_holds(Context const& at) {
  auto const first = at.type(0);
  for (std::uint32_t i = 1; i < at.operand_count(); ++i) {
    if (at.operand(i) == absent || at.type(i) == first) continue;
    bool const weak = at.rank(i) == 0 && at.rank(0) > 0 && is_floating(first);
    if (!weak || at.type(i) == element_type::unknown) return false;
  }
  return true;
}

template <class Context>
void apply_row(Context& at) {
  auto const* row = at.names.row(at.image().node(at.n).tag.name, at.image().version);
  if (row == nullptr || row->result.shape == result_info::kind::unknown) return;
  auto const& told = row->result;
  if (told.type != element_type::unknown)
    at.set_type(0, told.type);
  else
    at.share_type(0, static_cast<std::uint32_t>(told.type_of));
  switch (told.shape) {
    case result_info::kind::operand: return at.share_shape(0, static_cast<std::uint32_t>(told.shape_of));
    case result_info::kind::broadcast: return broadcast_shape(at);
    case result_info::kind::function: break;
    case result_info::kind::unknown: return;
  }
  std::vector<std::vector<std::int64_t>> known(at.operand_count());
  for (std::uint32_t i = 0; i < at.operand_count(); ++i)
    for (auto e : at.shape(i)) known[i].push_back(e.known() ? e.value() : -1);
  std::vector<result_extent> made;
  if (told.extents == nullptr || !told.extents(known, made)) return;
  at.dims.clear();
  for (auto const& e : made) {
    auto const from = e.operand < 0 ? span<extent const>{} : at.shape(static_cast<std::uint32_t>(e.operand));
    auto const axis = static_cast<std::size_t>(e.axis < 0 ? e.axis + static_cast<int>(from.size()) : e.axis);
    at.dims.push_back(e.number >= 0 ? extent(e.number) : axis < from.size() ? from[axis] : at.symbols().fresh());
  }
  at.set_shape(0, at.dims);
}

template <class Context>
void apply_shape_function(Context& at, opcode op) {
  if (at.result_count() == 0) return;
  if (op == opcode::opaque) return apply_row(at);
  auto const& meaning = info(op);
  switch (meaning.type) {
    case type_function::same_as_first:
      if (!at.names.promotes || meaning.shape != shape_function::broadcast || first_type_holds(at)) at.share_type(0, 0);
      break;
    case type_function::boolean: at.set_type(0, element_type::boolean); break;
    case type_function::unknown:
    case type_function::own: break;
  }
  switch (meaning.shape) {
    case shape_function::same_as_first: at.share_shape(0, 0); break;
    case shape_function::broadcast: broadcast_shape(at); break;
    case shape_function::reduce: reduce_shape(at); break;
    case shape_function::unknown: return;
    case shape_function::own: break;
  }
  switch (op) {
    case opcode::where: at.set_type(0, at.type(1) != element_type::unknown ? at.type(1) : at.type(2)); break;
    case opcode::cast: cast_type(at); break;
    case opcode::cast_like: at.share_type(0, 1); break;
    case opcode::dropout: dropout_shape(at); break;
    case opcode::constant:
    case opcode::constant_of_shape:
    case opcode::shape:
    case opcode::size:
    case opcode::range:
    case opcode::non_zero: apply_maker(at, op); break;
    case opcode::reshape: reshape_shape(at); break;
    case opcode::flatten: flatten_shape(at); break;
    case opcode::squeeze: squeeze_shape(at); break;
    case opcode::unsqueeze: unsqueeze_shape(at); break;
    case opcode::transpose: transpose_shape(at); break;
    case opcode::concat: concat_shape(at); break;
    case opcode::split: split_shape(at); break;
    case opcode::slice: slice_shape(at); break;
    case opcode::gather: gather_shape(at); break;
    case opcode::gather_elements:
      at.share_type(0, 0);
      at.share_shape(0, 1);
      break;
    case opcode::gather_nd: gather_nd_shape(at); break;
    case opcode::scatter_nd:
    case opcode::scatter_elements:
    case opcode::cumulative_sum:
    case opcode::cumulative_product:
    case opcode::tensor_scatter:
    case opcode::trilu:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::reverse_sequence:
    case opcode::rotary_embedding:
    case opcode::rotary_embedding_at:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::expand: expand_shape(at); break;
    case opcode::tile: tile_shape(at); break;
    case opcode::pad: pad_shape(at); break;
    case opcode::one_hot: one_hot_shape(at); break;
    case opcode::top_k: top_k_shape(at); break;
    case opcode::arg_max:
    case opcode::arg_min: arg_reduce_shape(at); break;
    case opcode::matmul:
      at.share_type(0, 0);
      matmul_shape(at);
      break;
    case opcode::matmul_integer:
      at.set_type(0, element_type::int32);
      matmul_shape(at);
      break;
    case opcode::gemm: gemm_shape(at); break;
    case opcode::linear: linear_shape(at); break;
    case opcode::einsum: einsum_shape(at); break;
    case opcode::conv:
      at.share_type(0, 0);
      conv_shape(at);
      break;
    case opcode::conv_integer:
      at.set_type(0, element_type::int32);
      conv_shape(at);
      break;
    case opcode::fused_matmul: fused_matmul_shape(at); break;
    case opcode::qlinear_matmul:
      at.share_type(0, 7);
      matmul_shape(at, 3);
      break;
    case opcode::qlinear_conv:
      at.share_type(0, 7);
      conv_shape(at, 3);
      break;
    case opcode::depth_to_space: blocks_shape(at, true); break;
    case opcode::space_to_depth: blocks_shape(at, false); break;
    case opcode::lstm:
    case opcode::gru:
    case opcode::rnn: recurrent_shape(at); break;
    case opcode::fast_gelu:
    case opcode::bias_gelu:
      at.share_type(0, 0);
      at.share_shape(0, 0);
      break;
    case opcode::eye_like: eye_like_shape(at); break;
    case opcode::opaque_layout: at.share_type(0, 0); break;
    case opcode::conv_transpose:
      at.share_type(0, 0);
      conv_transpose_shape(at);
      break;
    case opcode::max_pool:
    case opcode::average_pool: pool_shape(at); break;
    case opcode::lp_pool: pool_shape(at); break;
    case opcode::global_max_pool:
    case opcode::global_lp_pool: global_pool_shape(at); break;
    case opcode::compress: compress_shape(at); break;
    case opcode::causal_conv:
      carried_shape(at);
      at.share_shape(0, 0);
      break;
    case opcode::linear_attention: carried_shape(at); break;
    case opcode::nll_loss:
    case opcode::cross_entropy_loss: loss_shape(at); break;
    case opcode::resize: resize_shape(at); break;
    case opcode::batch_norm: batch_norm_shape(at); break;
    case opcode::layer_norm:
    case opcode::rms_norm: norm_type(at, op); break;
    case opcode::skip_layer_norm:
    case opcode::skip_rms_norm: skip_norm_shape(at); break;
    case opcode::embed_layer_norm:
      at.share_type(0, 2);
      at.share_type(2, 2);
      embed_norm_shape(at);
      break;
    case opcode::qembed_layer_norm:
      at.set_type(0, element_type::float32);
      embed_norm_shape(at);
      break;
    case opcode::attention: attention_shape(at); break;
    case opcode::multi_head_attention: attention_result(at, 1, 1); break;
    case opcode::quantize: quantize_shape(at); break;
    case opcode::dequantize: dequantize_shape(at); break;
    case opcode::dynamic_quantize: dynamic_quantize_shape(at); break;
    default: break;
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_facts : public fact_table {
 public:
  basic_facts(Image const& image, dialect const& names) : fact_table(image), at_(*this, names) {}
  basic_facts(basic_facts const&) = delete;
  basic_facts& operator=(basic_facts const&) = delete;

  void run() {
    resize(0);
    reserve(image().value_count() + image().value_count() / 8);
    read_inputs_and_constants();
    auto function = image().functions().begin();
    auto const last = image().functions().end();
    for (node_id n = 0; n < image().node_count(); ++n) {
      for (; function != last && function->first_node <= n; ++function) detail::meet_calls(at_, *function);
      if (image().node(n).alive) infer(n);
    }
  }

  void read_inputs_and_constants() {
    auto const from = static_cast<value_id>(size());
    resize(image().value_count());
    for (auto v = from; v < image().value_count(); ++v)
      if (image().producer(v) == absent) detail::read_declared(at_, v, declared_);
  }

  void update(node_id n) {
    read_inputs_and_constants();
    infer(n);
  }

  bool update_contents(node_id n) {
    auto& at = at_;
    at.at_node(n);
    before_.clear();
    for (std::uint32_t i = 0; i < at.result_count(); ++i) {
      before_.push_back(contents_number(at.result(i)));
      forget_contents(at.result(i));
    }
    detail::propagate_contents(at, op_of(image(), n));
    for (std::uint32_t i = 0; i < at.result_count(); ++i)
      if (contents_number(at.result(i)) != before_[i]) return true;
    return false;
  }

 private:
  void choose() {
    auto& at = at_;
    auto const first = first_body(at.n);
    if (first == absent || next_body_[first] == absent) return;
    for (auto region = first; region != absent; region = next_body_[region]) {
      if (image().region_outputs(region).size() != at.result_count()) return;
      for (auto v : image().region_outputs(region))
        if (v == absent || v >= size()) return;
    }
    for (auto region = first; region != absent; region = next_body_[region])
      for (std::uint32_t i = 0; i < at.result_count(); ++i) {
        auto const v = at.result(i), from = image().region_outputs(region)[i];
        if (region == first) {
          set_type(v, type(from));
          share_shape(v, from);
          continue;
        }
        if (type(v) != type(from)) set_type(v, element_type::unknown);
        if (!same_shape(v, from)) detail::meet_shapes(at, v, from);
      }
  }

  [[nodiscard]] std::uint32_t first_body(node_id n) {
    auto const& regions = image().regions();
    if (next_body_.size() != regions.size()) {
      first_body_.assign(image().node_count(), absent);
      next_body_.assign(regions.size(), absent);
      for (auto region = regions.size() - 1; region > 0; --region)
        if (auto const owner = regions[region].owner; owner != absent) {
          next_body_[region] = first_body_[owner];
          first_body_[owner] = static_cast<std::uint32_t>(region);
        }
    }
    return n < first_body_.size() ? first_body_[n] : absent;
  }

  void infer(node_id n) {
    auto& at = at_;
    at.at_node(n);
    for (std::uint32_t i = 0; i < at.result_count(); ++i) forget(at.result(i));
    forget_reduction(n);
    set_takes_all(n, false);
    auto const before = symbols().symbol_count();
    auto const op = op_of(image(), n);
    if (op == opcode::if_else)
      choose();
    else
      detail::apply_shape_function(at, op);
    for (std::uint32_t i = 0; i < at.result_count(); ++i)
      detail::refine_by_declaration(at, at.result(i), before, declared_);
    detail::propagate_contents(at, op);
  }

  detail::shape_context at_;  // one for all nodes: its buffers stay
  std::vector<dimension> declared_;
  detail::plain_vector<std::uint32_t> before_;                  // numbers of contents
  detail::plain_vector<std::uint32_t> first_body_, next_body_;  // of a node, of a region: the bodies that one node owns
};
using facts = basic_facts<graph_image>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_facts<graph_image>;
#endif

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class layout {
 public:
  struct digit {
    std::uint32_t axis;
    polynomial extent, stride;
    [[nodiscard]] friend bool operator==(digit const& a, digit const& b) {
      return a.axis == b.axis && a.extent == b.extent && a.stride == b.stride;
    }
  };
  using digits = plain_vector<digit>;

  [[nodiscard]] bool row_major(span<polynomial const> shape);

  [[nodiscard]] std::size_t rank() const { return extents_.size(); }
  [[nodiscard]] span<polynomial const> shape() const { return extents_; }
  [[nodiscard]] span<digit const> all() const { return digits_; }
  [[nodiscard]] polynomial const& offset() const { return offset_; }
  [[nodiscard]] polynomial const& unproven() const { return unproven_; }
  [[nodiscard]] friend bool operator==(layout const& a, layout const& b) {
    if (a.rank() != b.rank() || !(a.offset_ == b.offset_) || a.digits_.size() != b.digits_.size()) return false;
    for (std::size_t i = 0; i < a.digits_.size(); ++i)
      if (!(a.digits_[i] == b.digits_[i])) return false;
    return true;
  }

  [[nodiscard]] bool reshape(span<polynomial const> shape);
  void permute(span<std::int64_t const> order);
  [[nodiscard]] bool slice(std::uint32_t axis, polynomial const& start, polynomial const& length, std::int64_t step,
                           extent_algebra const& symbols);
  void drop(std::uint32_t axis);
  void add_axes(span<polynomial const> extents);
  [[nodiscard]] bool tile(std::uint32_t axis, polynomial const& times);
  [[nodiscard]] bool gather(std::uint32_t axis, polynomial const& first, digits const& picked,
                            span<polynomial const> shape, extent_algebra const& symbols);
  [[nodiscard]] static bool concatenate(span<layout const* const> parts, std::uint32_t axis, layout& into);

 private:
  bool refuse(polynomial const& at) {
    unproven_ = at;
    return false;
  }
  static void normalise(digits& of);
  [[nodiscard]] digits of_axis(std::uint32_t axis) const;
  void replace(std::uint32_t axis, digits const& by, span<polynomial const> shape);
  [[nodiscard]] bool regroup(digits flat, span<polynomial const> shape, digits& made);
  [[nodiscard]] bool cut(digits const& own, polynomial start, polynomial const& length, std::int64_t step,
                         extent_algebra const& symbols, digits& made);
  [[nodiscard]] bool cut_steps(digits const& own, polynomial const& start, polynomial const& length, std::int64_t step,
                               extent_algebra const& symbols, digits& made);
  [[nodiscard]] bool move(polynomial const& by, polynomial const& stride);
  [[nodiscard]] static bool tops(span<layout const* const> parts, std::uint32_t axis, digits const& below,
                                 digit const* top, layout& into);

  digits digits_;  // by axis, in each the most significant first
  plain_vector<polynomial> extents_;
  polynomial offset_, unproven_;
};

inline bool layout::row_major(span<polynomial const> shape) {
  extents_.assign(shape);
  digits_.clear();
  offset_ = polynomial();
  polynomial stride(1);
  for (auto axis = shape.size(); axis-- > 0;) {
    digits_.push_back({static_cast<std::uint32_t>(axis), shape[axis], stride});
    if (!stride.multiply(shape[axis])) return refuse(shape[axis]);
  }
  for (std::size_t i = 0, k = digits_.size(); i + 1 < k; ++i) {
    auto const kept = digits_[i];
    digits_[i] = digits_[--k];
    digits_[k] = kept;
  }
  normalise(digits_);
  return true;
}

inline void layout::normalise(digits& of) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    auto const& next = of[i];
    if (next.extent.is(1)) continue;
    if (kept != 0 && of[kept - 1].axis == next.axis) {
      auto& above = of[kept - 1];
      polynomial reach, both;
      if (polynomial::multiply(next.extent, next.stride, reach) && reach == above.stride &&
          polynomial::multiply(above.extent, next.extent, both)) {
        above.extent = both;
        above.stride = next.stride;
        continue;
      }
    }
    if (kept != i) of[kept] = next;
    ++kept;
  }
  while (of.size() > kept) of.pop_back();
}

inline layout::digits layout::of_axis(std::uint32_t axis) const {
  digits own;
  for (auto const& d : digits_)
    if (d.axis == axis) own.push_back({0, d.extent, d.stride});
  return own;
}

inline void layout::replace(std::uint32_t axis, digits const& by, span<polynomial const> shape) {
  digits made;
  bool done = false;
  auto const add = [&] {
    for (auto d : by) {
      d.axis += axis;
      made.push_back(d);
    }
    done = true;
  };
  for (auto d : digits_) {
    if (d.axis >= axis && !done) add();
    if (d.axis == axis) continue;
    if (d.axis > axis) d.axis += static_cast<std::uint32_t>(shape.size()) - 1;
    made.push_back(d);
  }
  if (!done) add();
  normalise(made);
  digits_.swap(made);
  plain_vector<polynomial> extents;
  extents.append(span<polynomial const>(extents_).first(axis));
  extents.append(shape);
  extents.append(span<polynomial const>(extents_).subspan(axis + 1));
  extents_.swap(extents);
}

inline bool layout::regroup(digits flat, span<polynomial const> shape, digits& made) {
  normalise(flat);
  made.clear();
  for (auto axis = shape.size(); axis-- > 0;) {
    polynomial wanted = shape[axis], left;
    while (!wanted.is(1)) {
      if (flat.empty()) return refuse(wanted);
      auto& last = flat.back();
      if (polynomial::divide(wanted, last.extent, left)) {
        made.push_back({static_cast<std::uint32_t>(axis), last.extent, last.stride});
        flat.pop_back();
        wanted = left;
      } else if (polynomial::divide(last.extent, wanted, left)) {
        made.push_back({static_cast<std::uint32_t>(axis), wanted, last.stride});
        last.extent = left;
        if (!last.stride.multiply(wanted)) return refuse(wanted);
        wanted = polynomial(1);
      } else {
        std::int64_t number = 0;
        return refuse(wanted.known(number) ? last.extent : wanted);
      }
    }
  }
  if (!flat.empty()) return refuse(flat.back().extent);
  for (std::size_t i = 0, k = made.size(); i + 1 < k; ++i) {
    auto const kept = made[i];
    made[i] = made[--k];
    made[k] = kept;
  }
  normalise(made);
  return true;
}

inline bool layout::reshape(span<polynomial const> shape) {
  digits made, flat = digits_;
  for (auto& d : flat) d.axis = 0;
  if (!regroup(flat, shape, made)) return false;
  digits_.swap(made);
  extents_.assign(shape);
  return true;
}

inline void layout::permute(span<std::int64_t const> order) {
  digits made;
  plain_vector<polynomial> extents;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    auto const from = static_cast<std::uint32_t>(order[axis]);
    extents.push_back(extents_[from]);
    for (auto d : digits_) {
      if (d.axis != from) continue;
      d.axis = static_cast<std::uint32_t>(axis);
      made.push_back(d);
    }
  }
  digits_.swap(made);
  extents_.swap(extents);
}

inline void layout::drop(std::uint32_t axis) { replace(axis, {}, {}); }

inline void layout::add_axes(span<polynomial const> extents) {
  digits made;
  for (std::size_t i = 0; i < extents.size(); ++i)
    made.push_back({static_cast<std::uint32_t>(i), extents[i], polynomial()});
  for (auto d : digits_) {
    d.axis += static_cast<std::uint32_t>(extents.size());
    made.push_back(d);
  }
  normalise(made);
  digits_.swap(made);
  plain_vector<polynomial> all;
  all.append(extents);
  all.append(extents_);
  extents_.swap(all);
}

inline bool layout::tile(std::uint32_t axis, polynomial const& times) {
  polynomial whole;
  if (!polynomial::multiply(extents_[axis], times, whole)) return refuse(times);
  digits made;
  made.push_back({0, times, polynomial()});
  made.append(of_axis(axis));
  replace(axis, made, {&whole, 1});
  return true;
}

inline bool layout::move(polynomial const& by, polynomial const& stride) {
  polynomial far;
  return (polynomial::multiply(by, stride, far) && offset_.add(far)) || refuse(by);
}

inline bool layout::cut(digits const& own, polynomial start, polynomial const& length, std::int64_t step,
                        extent_algebra const& symbols, digits& made) {
  made.clear();
  if (own.empty()) return (start.is(0) && length.is(1)) || refuse(length);
  if (step != 1 && own.size() > 1) return cut_steps(own, start, length, step, symbols, made);
  for (std::size_t i = 0; i < own.size(); ++i) {
    auto taken = own[i];
    if (i + 1 == own.size()) {
      if (!move(start, taken.stride)) return false;
      taken.extent = length;
      if (!taken.stride.multiply(polynomial(step))) return refuse(length);
      made.push_back(taken);
      break;
    }
    polynomial below(1), first, turns, room;
    for (auto k = i + 1; k < own.size(); ++k)
      if (!below.multiply(own[k].extent)) return refuse(own[k].extent);
    if (polynomial::divide(start, below, first) && polynomial::divide(length, below, turns)) {
      if (!move(first, taken.stride)) return false;
      taken.extent = turns;
      made.push_back(taken);
      made.append(span<digit const>(own).subspan(i + 1));
      break;
    }
    std::int64_t at = 0, turn = 0;
    if (start.known(at) && below.known(turn) && at >= 0 && turn > 0) {
      if (!move(polynomial(at / turn), taken.stride)) return false;
      start = polynomial(at % turn);
    }
    room = below;
    if (!room.add(start, -1) || !room.add(length, -1) || symbols.least(room) < 0 || symbols.least(start) < 0)
      return refuse(length);
  }
  normalise(made);
  return true;
}

inline bool layout::cut_steps(digits const& own, polynomial const& start, polynomial const& length, std::int64_t step,
                              extent_algebra const& symbols, digits& made) {
  std::int64_t at = 0;
  polynomial whole(1), reach;
  for (auto const& d : own)
    if (!whole.multiply(d.extent)) return refuse(d.extent);
  if (step < 0 || !start.known(at) || at < 0 || at >= step || !polynomial::multiply(length, polynomial(step), reach) ||
      !(reach == whole))
    return refuse(length);
  digits parted, upper, lower, chosen;
  polynomial const shape[] = {length, polynomial(step)};
  if (!regroup(own, shape, parted)) return false;
  for (auto d : parted) {
    auto const axis = d.axis;
    d.axis = 0;
    (axis == 0 ? upper : lower).push_back(d);
  }
  if (!cut(lower, start, polynomial(1), 1, symbols, chosen)) return false;
  made = upper;
  normalise(made);
  return true;
}

inline bool layout::slice(std::uint32_t axis, polynomial const& start, polynomial const& length, std::int64_t step,
                          extent_algebra const& symbols) {
  if (start.is(0) && step == 1 && length == extents_[axis]) return true;
  digits made;
  if (!cut(of_axis(axis), start, length, step, symbols, made)) return false;
  polynomial const shape[] = {length};
  replace(axis, made, shape);
  return true;
}

inline bool layout::gather(std::uint32_t axis, polynomial const& first, digits const& picked,
                           span<polynomial const> shape, extent_algebra const& symbols) {
  auto const own = of_axis(axis);
  digits flat, made;
  std::int64_t step = 0;
  if (own.size() == 1 || own.empty()) {
    polynomial const stride = own.empty() ? polynomial() : own[0].stride;
    if (!move(first, stride)) return false;
    for (auto d : picked) {
      if (!d.stride.multiply(stride)) return refuse(d.extent);
      flat.push_back(d);
    }
  } else if (picked.empty() || (picked.size() == 1 && picked[0].stride.known(step) && step != 0)) {
    auto const length = picked.empty() ? polynomial(1) : picked[0].extent;
    if (!cut(own, first, length, picked.empty() ? 1 : step, symbols, flat)) return false;
  } else {
    return refuse(picked[0].extent);
  }
  if (!regroup(flat, shape, made)) return false;
  replace(axis, made, shape);
  return true;
}

inline bool layout::tops(span<layout const* const> parts, std::uint32_t axis, digits const& below, digit const* top,
                         layout& into) {
  polynomial stride, total, next = parts[0]->offset_;
  if (top != nullptr) {
    stride = top->stride;
  } else {
    stride = parts[1]->offset_;
    if (!stride.add(parts[0]->offset_, -1)) return false;
  }
  for (auto const* part : parts) {
    auto const own = part->of_axis(axis);
    auto const above = own.size() - below.size();
    if (own.size() < below.size() || above > 1 || (above == 1 && !(own[0].stride == stride))) return false;
    for (std::size_t i = 0; i < below.size(); ++i)
      if (!(own[above + i] == below[i])) return false;
    auto const run = above == 1 ? own[0].extent : polynomial(1);
    polynomial far;
    if (!(part->offset_ == next) || !polynomial::multiply(run, stride, far) || !next.add(far) || !total.add(run))
      return false;
  }
  digits made;
  made.push_back({0, total, stride});
  made.append(below);
  polynomial whole = total;
  for (auto const& d : below)
    if (!whole.multiply(d.extent)) return false;
  into = *parts[0];
  into.replace(axis, made, {&whole, 1});
  return true;
}

inline bool layout::concatenate(span<layout const* const> parts, std::uint32_t axis, layout& into) {
  auto const& first = *parts[0];
  for (auto const* part : parts) {
    if (part->rank() != first.rank()) return false;
    std::size_t i = 0, k = 0;
    while (true) {  // but for that axis all are the same
      while (i < first.digits_.size() && first.digits_[i].axis == axis) ++i;
      while (k < part->digits_.size() && part->digits_[k].axis == axis) ++k;
      if (i == first.digits_.size() || k == part->digits_.size()) break;
      if (!(first.digits_[i++] == part->digits_[k++])) return false;
    }
    if (i != first.digits_.size() || k != part->digits_.size()) return false;
  }
  if (parts.size() == 1) return into = first, true;
  auto const own = first.of_axis(axis);
  digits below;
  if (!own.empty()) below.append(span<digit const>(own).subspan(1));
  return (!own.empty() && tops(parts, axis, below, &own[0], into)) || tops(parts, axis, own, nullptr, into);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr bool may_keep_elements(opcode op) {
  switch (op) {
    case opcode::identity:
    case opcode::cast:
    case opcode::cast_like:
    case opcode::dropout:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::expand:
    case opcode::tile:
    case opcode::slice:
    case opcode::where:
    case opcode::mean_of:
    case opcode::sum_of:
    case opcode::maximum:
    case opcode::minimum: return true;
    default: return false;
  }
}

template <class Image>
[[nodiscard]] value_id selected_operand(Image const& image, facts const& known, node_id n) {
  double condition = 0;
  if (image.operand_count(n) != 3 || image.operand(n, 0) == absent || !known.uniform(image.operand(n, 0), condition))
    return absent;
  return image.operand(n, condition != 0 ? 1 : 2);
}

template <class Image>
[[nodiscard]] value_id kept_operand(Image const& image, facts const& known, node_id n) {
  if (op_of(image, n) == opcode::where) return selected_operand(image, known, n);
  return image.operand_count(n) == 0 ? absent : image.operand(n, 0);
}

template <class Image>
[[nodiscard]] bool unchanged(Image const& image, facts const& known, node_id n) {
  auto const v = image.result(n), from = kept_operand(image, known, n);
  if (from == absent) return false;
  switch (op_of(image, n)) {
    case opcode::identity: return true;
    case opcode::cast:
    case opcode::cast_like: return known.type(v) == known.type(from) && known.type(v) != element_type::unknown;
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::expand:
    case opcode::tile:
    case opcode::where: return known.same_shape(v, from);
    case opcode::slice: return known.takes_all(n);
    case opcode::mean_of:
    case opcode::sum_of:
    case opcode::maximum:
    case opcode::minimum: return image.operand_count(n) == 1;
    case opcode::dropout: {  // while nobody trains
      double training = 0;
      if (image.operand_count(n) < 3 || image.operand(n, 2) == absent) return true;
      return known.number(image.operand(n, 2), training) && training == 0;
    }
    default: return false;
  }
}

[[nodiscard]] constexpr bool may_clip(opcode op) {
  return op == opcode::relu || op == opcode::maximum || op == opcode::clip;
}

template <class Image>
[[nodiscard]] value_id positive_part_of(Image const& image, facts const& known, node_id n) {
  auto const count = image.operand_count(n);
  auto const is_zero = [&](std::uint32_t i) {
    double number = 1;
    return image.operand(n, i) != absent && known.uniform(image.operand(n, i), number) && number == 0;
  };
  switch (op_of(image, n)) {
    case opcode::relu: return count == 1 ? image.operand(n, 0) : absent;
    case opcode::maximum:
      if (count != 2) return absent;
      return is_zero(1) ? image.operand(n, 0) : is_zero(0) ? image.operand(n, 1) : absent;
    case opcode::clip:
      if (count < 2 || !is_zero(1) || (count > 2 && image.operand(n, 2) != absent)) return absent;
      return image.operand(n, 0);
    default: return absent;
  }
}

template <class Image>
[[nodiscard]] bool moves_ones(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op != opcode::unsqueeze && op != opcode::reshape && op != opcode::squeeze && op != opcode::flatten) return false;
  auto const v = image.result(n), from = image.operand(n, 0);
  if (!known.has_rank(v) || !known.has_rank(from)) return false;
  auto const now = known.shape(v), before = known.shape(from);
  std::size_t i = 0, k = 0;
  while (true) {
    while (i < now.size() && now[i] == extent(1)) ++i;
    while (k < before.size() && before[k] == extent(1)) ++k;
    if (i == now.size() || k == before.size()) return i == now.size() && k == before.size();
    if (!(now[i++] == before[k++])) return false;
  }
}

[[nodiscard]] constexpr bool may_repeat(opcode op) {
  return op == opcode::expand || op == opcode::tile || op == opcode::where;
}

template <class Image>
[[nodiscard]] bool broadcasts(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op == opcode::expand || op == opcode::where) return true;
  auto const v = image.result(n), from = image.operand(n, 0);
  if (op != opcode::tile || !known.has_rank(v) || known.rank(v) != known.rank(from)) return false;
  auto const now = known.shape(v), before = known.shape(from);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (!(before[i] == extent(1)) && !(now[i] == before[i])) return false;
  return true;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr bool may_move_elements(opcode op) {
  switch (op) {
    case opcode::identity:
    case opcode::dropout:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::transpose:
    case opcode::split:
    case opcode::slice:
    case opcode::gather:
    case opcode::concat:
    case opcode::expand:
    case opcode::tile:
    case opcode::depth_to_space:
    case opcode::space_to_depth: return true;
    default: return false;
  }
}

template <class Image>
class basic_layouts {
 public:
  static constexpr int most_nodes = 64;  ///< that one layout is read of; what takes more is not read

  basic_layouts(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] value_id below(value_id v) const {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent || !may_move_elements(op_of(image_, n)) || image_.operand_count(n) == 0) return absent;
    if (image_.result_index(v) != 0 && op_of(image_, n) != opcode::split) return absent;
    auto const from = image_.operand(n, 0);
    return from != absent && facts_.has_rank(v) && facts_.has_rank(from) ? from : absent;
  }

  [[nodiscard]] bool read(value_id v, value_id base, layout& into) {
    passed_.clear();
    unproven_ = polynomial();
    left_ = most_nodes;
    region_ = v == absent || image_.producer(v) == absent ? absent : image_.node(image_.producer(v)).region;
    return follow(v, base, into);
  }
  [[nodiscard]] span<node_id const> passed() const { return passed_; }
  [[nodiscard]] polynomial const& unproven() const { return unproven_; }

  [[nodiscard]] plain_vector<polynomial> shape(value_id v) const {
    plain_vector<polynomial> made;
    for (auto e : facts_.shape(v)) made.push_back(in_atoms(e));
    return made;
  }

 private:
  [[nodiscard]] polynomial in_atoms(extent e) const { return facts_.symbols().polynomial_of(e); }

  [[nodiscard]] bool follow(value_id v, value_id base, layout& into) {
    if (v == base) return facts_.has_rank(base) && proven(into.row_major(shape(base)), into);
    auto const from = below(v);
    if (from == absent || left_-- == 0) return false;
    auto const n = image_.producer(v);
    if (image_.node(n).region != region_) return false;
    bool const made =
        op_of(image_, n) == opcode::concat
            ? concatenated(n, base, into)
            : follow(from, base, into) && (unchanged(image_, facts_, n) || proven(moved(n, v, into), into));
    if (!made || into.rank() != facts_.shape(v).size()) return false;
    for (auto done : passed_)
      if (done == n) return true;
    passed_.push_back(n);
    return true;
  }
  [[nodiscard]] bool proven(bool done, layout const& by) {
    if (!done) unproven_ = by.unproven();
    return done;
  }

  [[nodiscard]] bool moved(node_id n, value_id v, layout& into) {
    switch (op_of(image_, n)) {
      case opcode::reshape:
      case opcode::flatten:
      case opcode::squeeze:
      case opcode::unsqueeze: return into.reshape(shape(v));
      case opcode::transpose: return transposed(n, into);
      case opcode::split: return parted(n, v, into);
      case opcode::slice: return sliced(n, v, into);
      case opcode::gather: return gathered(n, v, into);
      case opcode::expand: return expanded(v, into);
      case opcode::tile: return tiled(v, into);
      case opcode::depth_to_space:
      case opcode::space_to_depth: return reblocked(n, v, into);
      default: return false;
    }
  }

  [[nodiscard]] bool axis(node_id n, std::size_t rank, std::uint32_t& into) {
    double number = 0;
    if (!read_number(image_, facts_, names_, n, "axis", number)) return false;
    if (number < 0) number += static_cast<double>(rank);
    if (!(number >= 0 && number < static_cast<double>(rank))) return false;
    into = static_cast<std::uint32_t>(number);
    return true;
  }

  [[nodiscard]] parameter_state integers(node_id n, std::string_view parameter, std::vector<extent>& into) {
    into.clear();
    parameter_place const place(image_, names_, n, parameter);
    if (place.source.where == parameter_source::kind::operand) {
      auto const at = static_cast<std::uint32_t>(place.source.operand);
      auto const v = at < image_.operand_count(n) ? image_.operand(n, at) : absent;
      if (v == absent) return parameter_state::missing;
      if (!facts_.has_integers(v)) return parameter_state::unknown;
      auto const elements = facts_.symbolic_integers(v);
      into.assign(elements.begin(), elements.end());
      return parameter_state::known;
    }
    auto const state = read_parameter(image_, facts_, names_, n, parameter, list_);
    into.assign(list_.begin(), list_.end());
    return state;
  }

  [[nodiscard]] bool transposed(node_id n, layout& into) {
    auto const rank = static_cast<std::int64_t>(into.rank());
    if (read_list(image_, facts_, names_, n, "perm", list_) != parameter_state::known || list_.size() != into.rank() ||
        !normalise_axes(list_, static_cast<int>(rank), axes_))
      return false;
    for (auto& each : list_) each += each < 0 ? rank : 0;
    into.permute(list_);
    return true;
  }

  [[nodiscard]] bool parted(node_id n, value_id v, layout& into) {
    std::uint32_t at = 0;
    if (!axis(n, into.rank(), at)) return false;
    polynomial start;
    for (auto part = image_.result(n); part != v; ++part)
      if (!facts_.has_rank(part) || facts_.shape(part).size() != into.rank() ||
          !start.add(in_atoms(facts_.shape(part)[at])))
        return false;
    return into.slice(at, start, in_atoms(facts_.shape(v)[at]), 1, facts_.symbols());
  }

  [[nodiscard]] bool from_front(extent index, polynomial const& whole, bool always_there, polynomial& into) const {
    auto const& symbols = facts_.symbols();
    into = in_atoms(index);
    if (symbols.nonnegative(index)) return true;
    polynomial back;
    if (!back.add(into, -1) || symbols.least(back) < 1 || !into.add(whole)) return false;
    return always_there || index == extent(-1) || symbols.least(into) >= 0;
  }

  [[nodiscard]] bool sliced(node_id n, value_id v, layout& into) {
    if (integers(n, "starts", starts_) != parameter_state::known ||
        integers(n, "ends", ends_) != parameter_state::known || starts_.size() != ends_.size())
      return false;
    std::vector<std::int64_t> steps, axes;
    auto const listed = read_parameter(image_, facts_, names_, n, "axes", axes);
    if (listed == parameter_state::missing)
      for (std::size_t i = 0; i < starts_.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    auto const stepped = read_parameter(image_, facts_, names_, n, "steps", steps);
    if (stepped == parameter_state::missing) steps.assign(axes.size(), 1);
    if (listed == parameter_state::unknown || stepped == parameter_state::unknown || axes.size() != starts_.size() ||
        steps.size() != axes.size() || !normalise_axes(axes, static_cast<int>(into.rank()), axes_))
      return false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      auto const at =
          static_cast<std::uint32_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(into.rank()) : axes[i]);
      polynomial const whole = into.shape()[at], length = in_atoms(facts_.shape(v)[at]);
      if (steps[i] == 1 && length == whole) continue;  // all of it, wherever it is said to begin
      polynomial start;
      if (steps[i] > 0 ? !from_front(starts_[i], whole, false, start)
                       : !last_of(starts_[i], ends_[i], whole, steps[i], start))
        return false;
      if (!into.slice(at, start, length, steps[i], facts_.symbols())) return false;
    }
    return true;
  }
  [[nodiscard]] static bool last_of(extent start, extent end, polynomial const& whole, std::int64_t step,
                                    polynomial& into) {
    constexpr std::int64_t far = 0x7fffffff;
    std::int64_t size = 0;
    if (step == 0 || !start.known() || !end.known()) return false;
    if (whole.known(size)) {
      auto const from = start.value() < 0 ? start.value() + size : start.value();
      into = polynomial(from > size - 1 ? size - 1 : from < 0 ? 0 : from);
      return size > 0 && from >= 0;
    }
    into = whole;
    return (start.value() >= far || start.value() == -1) && end.value() <= -far && step == -1 &&
           into.add(polynomial(-1));
  }

  [[nodiscard]] bool gathered(node_id n, value_id v, layout& into) {
    std::uint32_t at = 0;
    auto const picks = image_.operand_count(n) == 2 ? image_.operand(n, 1) : absent;
    if (picks == absent || !facts_.has_rank(picks) || !axis(n, into.rank(), at)) return false;
    auto const rank = facts_.shape(picks).size();
    if (facts_.shape(v).size() != into.rank() - 1 + rank) return false;
    polynomial const whole = into.shape()[at];
    polynomial first;
    layout::digits picked;
    if (!arithmetic(picks, whole, first, picked)) return false;
    return into.gather(at, first, picked, shape(picks), facts_.symbols());
  }
  [[nodiscard]] bool arithmetic(value_id picks, polynomial const& whole, polynomial& first,
                                layout::digits& picked) const {
    auto const n = image_.producer(picks);
    if (!facts_.has_integers(picks) && n != absent && op_of(image_, n) == opcode::range &&
        image_.operand_count(n) == 3) {
      auto const from = facts_.symbolic_integers(image_.operand(n, 0)),
                 by = facts_.symbolic_integers(image_.operand(n, 2));
      if (from.size() != 1 || by.size() != 1 || !facts_.symbols().nonnegative(from[0]) ||
          !facts_.symbols().nonnegative(by[0]))
        return false;  // (one that falls may go on below 0, from the end)
      first = in_atoms(from[0]);
      picked.push_back({0, in_atoms(facts_.shape(picks)[0]), in_atoms(by[0])});
      return true;
    }
    auto const given = facts_.symbolic_integers(picks);
    if (given.empty()) return false;
    plain_vector<polynomial> indices;
    for (auto each : given) {
      polynomial index;
      if (!from_front(each, whole, true, index)) return false;
      indices.push_back(index);
    }
    first = indices[0];
    layout::digits rising;
    for (std::size_t turn = 1; turn < indices.size();) {
      polynomial step = indices[turn];
      if (!step.add(first, -1)) return false;
      std::size_t run = 0;
      for (polynomial next = first; run * turn < indices.size() && indices[run * turn] == next; ++run)
        if (!next.add(step)) return false;
      if ((indices.size() / turn) % run != 0) return false;
      rising.push_back({0, polynomial(static_cast<std::int64_t>(run)), step});
      turn *= run;
    }
    for (auto i = rising.size(); i-- > 0;) picked.push_back(rising[i]);
    return follows(indices, rising);
  }
  [[nodiscard]] static bool follows(plain_vector<polynomial> const& indices, layout::digits const& rising) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      polynomial told = indices[0];
      auto left = static_cast<std::int64_t>(i);
      for (auto const& d : rising) {
        std::int64_t run = 1;
        if (!d.extent.known(run) || !told.add(d.stride, left % run)) return false;
        left /= run;
      }
      if (!(told == indices[i])) return false;
    }
    return true;
  }

  [[nodiscard]] bool expanded(value_id v, layout& into) {
    auto const to = shape(v);
    if (to.size() < into.rank()) return false;
    auto const more = to.size() - into.rank();
    if (more != 0) into.add_axes(span<polynomial const>(to).first(more));
    for (auto i = more; i < to.size(); ++i)
      if (!(into.shape()[i] == to[i]) && !(into.shape()[i].is(1) && into.tile(static_cast<std::uint32_t>(i), to[i])))
        return false;
    return true;
  }

  [[nodiscard]] bool tiled(value_id v, layout& into) {
    auto const to = shape(v);
    if (to.size() != into.rank()) return false;
    for (std::size_t i = 0; i < to.size(); ++i) {
      polynomial times;
      if (into.shape()[i] == to[i]) continue;
      if (!polynomial::divide(to[i], into.shape()[i], times) || !into.tile(static_cast<std::uint32_t>(i), times))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool concatenated(node_id n, value_id base, layout& into) {
    std::uint32_t at = 0;
    auto const count = image_.operand_count(n);
    std::vector<layout> parts(count);
    plain_vector<layout const*> all;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const part = image_.operand(n, i);
      if (part == absent || !follow(part, base, parts[i])) return false;
      all.push_back(&parts[i]);
    }
    return axis(n, parts[0].rank(), at) && layout::concatenate(all, at, into);
  }

  [[nodiscard]] bool reblocked(node_id n, value_id v, layout& into) {
    std::vector<std::int64_t> block;
    if (into.rank() != 4 || !read_integers(image_, facts_, names_, n, "blocksize", block) || block.size() != 1 ||
        block[0] < 1)
      return false;
    auto const mode = image_.source->attribute_of(n, "mode");
    auto const* text = std::get_if<std::string_view>(&mode);
    bool const by_depth = text == nullptr || *text == "DCR";
    polynomial const b(block[0]);
    polynomial s[4] = {into.shape()[0], into.shape()[1], into.shape()[2], into.shape()[3]};
    if (op_of(image_, n) == opcode::depth_to_space) {
      polynomial kept;
      if (!polynomial::divide(s[1], polynomial(block[0] * block[0]), kept)) return false;
      polynomial const depth_first[] = {s[0], b, b, kept, s[2], s[3]}, column_first[] = {s[0], kept, b, b, s[2], s[3]};
      std::int64_t const depth_order[] = {0, 3, 4, 1, 5, 2}, column_order[] = {0, 1, 4, 2, 5, 3};
      if (!into.reshape(by_depth ? span<polynomial const>(depth_first) : span<polynomial const>(column_first)))
        return false;
      into.permute(by_depth ? span<std::int64_t const>(depth_order) : span<std::int64_t const>(column_order));
    } else {
      polynomial high, wide;
      if (!polynomial::divide(s[2], b, high) || !polynomial::divide(s[3], b, wide)) return false;
      polynomial const split[] = {s[0], s[1], high, b, wide, b};
      std::int64_t const depth_order[] = {0, 3, 5, 1, 2, 4}, column_order[] = {0, 1, 3, 5, 2, 4};
      if (!into.reshape(split)) return false;
      into.permute(by_depth ? span<std::int64_t const>(depth_order) : span<std::int64_t const>(column_order));
    }
    return into.reshape(shape(v));
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  plain_vector<node_id> passed_;
  polynomial unproven_;
  int left_ = 0;
  std::uint32_t region_ = 0;
  std::vector<std::int64_t> list_;
  std::vector<extent> starts_, ends_;
  std::vector<int> axes_;
};
using layouts = basic_layouts<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_counting {
 public:
  static constexpr int most_values = 64;  ///< that are looked at; where it takes more, nothing is proven

  basic_counting(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), layouts_(image, known, names) {}

  [[nodiscard]] bool counts(value_id v) {
    if (v == absent || !facts_.has_rank(v) || facts_.shape(v).empty() || left_-- == 0) return false;
    if (in_contents(v)) return true;
    auto const n = image_.producer(v);
    if (n == absent || image_.result_index(v) != 0) return false;
    switch (op_of(image_, n)) {
      case opcode::range: return is(image_.operand(n, 0), 0) && is(image_.operand(n, 2), 1);
      case opcode::cast: return has_room(facts_.type(v)) && counts(image_.operand(n, 0));
      case opcode::non_zero: {
        double number = 0;
        auto const of = image_.operand(n, 0);
        return facts_.rank(of) == 1 && facts_.uniform(of, number) && number != 0;
      }
      case opcode::expand: return moved(v) || repeated(v, image_.operand(n, 0));
      default: return moved(v);
    }
  }

 private:
  [[nodiscard]] bool is(value_id v, double wanted) const {
    double number = 0;
    return v != absent && facts_.number(v, number) && number == wanted;
  }
  [[nodiscard]] static bool has_room(element_type type) {
    return type == element_type::int32 || type == element_type::int64;
  }

  [[nodiscard]] bool in_contents(value_id v) const {
    auto const last = facts_.shape(v).back();
    if (!last.known() || last.value() < 1) return false;
    auto const row = static_cast<std::size_t>(last.value());
    if (auto const held = image_.value(v).constant ? image_.source->constant(v) : tensor_view{}; held) {
      if (held.size() % row != 0) return false;
      for (std::size_t i = 0; i < held.size(); ++i)
        if (held.number(i) != static_cast<double>(i % row)) return false;
      return true;
    }
    if (!facts_.has_integers(v)) return false;
    auto const elements = facts_.symbolic_integers(v);
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (!(elements[i] == extent(static_cast<std::int64_t>(i % row)))) return false;
    return elements.size() % row == 0;
  }

  [[nodiscard]] bool repeated(value_id v, value_id of) {
    return facts_.rank(of) > 0 &&
           facts_.symbols().equal_where_broadcast(facts_.shape(v).back(), facts_.shape(of).back()) && counts(of);
  }

  [[nodiscard]] bool moved(value_id v) {
    auto const axis = facts_.shape(v).size() - 1;
    for (auto base = layouts_.below(v); base != absent && left_-- > 0; base = layouts_.below(base)) {
      layout lies;
      if (!is_one_row(base) || !layouts_.read(v, base, lies)) continue;
      bool whole = lies.offset().is(0);
      int along = 0;  // digits of a row: one runs through it, of several each would begin again
      for (auto const& d : lies.all()) {
        whole = whole && d.stride.is(d.axis == axis ? 1 : 0);
        along += d.axis == axis ? 1 : 0;
      }
      if (whole && along <= 1 && counts(base)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_one_row(value_id v) const {
    auto const shape = facts_.shape(v);
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
      if (!(shape[i] == extent(1))) return false;
    return !shape.empty();
  }

  Image const& image_;
  facts const& facts_;
  basic_layouts<Image> layouts_;
  int left_ = most_values;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_equal_parts {
 public:
  static constexpr int most_values = 64;  ///< that are looked at; where it takes more, nothing is proven

  basic_equal_parts(Image const& image, facts const& known, dialect const& names, std::int64_t count, bool apart)
      : image_(image), facts_(known), names_(names), layouts_(image, known, names), count_(count), apart_(apart) {}

  [[nodiscard]] bool has(value_id v) {
    std::int64_t length = 0;
    if (v == absent || !facts_.has_rank(v) || facts_.shape(v).empty() || left_-- == 0) return false;
    auto const last = facts_.shape(v).back();
    if (!last.known()) return moved(v);
    length = last.value();
    if (length < count_ || length % count_ != 0) return false;
    double number = 0;
    if (facts_.uniform(v, number)) return true;
    if (image_.value(v).constant) return in_contents(image_.source->constant(v), length);
    return image_.producer(v) != absent && (moved(v) || computed(v));
  }

 private:
  [[nodiscard]] bool has_or_repeats(value_id v, extent last) {
    if (v == absent || !facts_.has_rank(v)) return false;
    auto const shape = facts_.shape(v);
    return shape.empty() || shape.back() == extent(1) || (shape.back() == last && has(v));
  }

  [[nodiscard]] bool in_contents(tensor_view held, std::int64_t length) const {
    auto const row = static_cast<std::size_t>(length), part = row / static_cast<std::size_t>(count_);
    auto const step = apart_ ? std::size_t{1} : part;
    if (!held || held.size() % row != 0) return false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      auto const at = i % row;
      bool const first = apart_ ? at % static_cast<std::size_t>(count_) == 0 : at < part;
      if (first) continue;
      if (std::bit_cast<std::uint64_t>(held.number(i)) != std::bit_cast<std::uint64_t>(held.number(i - step)))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool moved(value_id v) {
    auto const axis = facts_.shape(v).size() - 1;
    for (auto base = layouts_.below(v); base != absent && left_-- > 0; base = layouts_.below(base)) {
      layout lies;
      if (!layouts_.read(v, base, lies)) continue;
      layout::digit const *first = nullptr, *last = nullptr;
      for (auto const& d : lies.all()) {
        if (d.axis != axis) continue;
        if (first == nullptr) first = &d;
        last = &d;
      }
      if (first == nullptr) return false;
      auto const& repeated = apart_ ? *last : *first;
      polynomial each;
      if (repeated.stride.is(0) && polynomial::divide(repeated.extent, polynomial(count_), each)) return true;
      if (first == last && is_last_axis(lies, *first, base) && has(base)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_last_axis(layout const& lies, layout::digit const& along, value_id base) const {
    auto const shape = layouts_.shape(base);
    if (shape.empty() || !along.stride.is(1) || !(shape.back() == along.extent)) return false;
    polynomial rows;
    bool whole = polynomial::divide(lies.offset(), along.extent, rows);
    for (auto const& d : lies.all())
      whole = whole && (&d == &along || polynomial::divide(d.stride, along.extent, rows));
    return whole;
  }

  [[nodiscard]] bool computed(value_id v) {
    auto const n = image_.producer(v);
    auto const op = op_of(image_, n);
    auto const last = facts_.shape(v).back();
    auto const operand = [&](std::uint32_t i) { return i < image_.operand_count(n) ? image_.operand(n, i) : absent; };
    auto const kind = info(op).kind;
    if (image_.result_index(v) != 0 || image_.node(n).has_bodies) return false;
    if (op == opcode::dropout) return false;  // of one that does nothing the layout tells
    if (kind == op_kind::elementwise || kind == op_kind::broadcast) {
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (operand(i) != absent && !has_or_repeats(operand(i), last)) return false;
      return true;
    }
    double axis = 0;
    switch (op) {
      case opcode::matmul: return facts_.rank(operand(1)) >= 2 && has(operand(1));
      case opcode::gather:
        return facts_.has_rank(operand(0)) && is_other_axis(n, facts_.rank(operand(0)), axis) && has(operand(0));
      case opcode::concat:
        if (!is_other_axis(n, facts_.rank(v), axis)) return false;
        for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
          if (!has(operand(i))) return false;
        return true;
      default: return false;
    }
  }
  [[nodiscard]] bool is_other_axis(node_id n, int rank, double& axis) const {
    if (!read_number(image_, facts_, names_, n, "axis", axis)) return false;
    return axis < 0 ? axis != -1 : axis != rank - 1;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  basic_layouts<Image> layouts_;
  std::int64_t count_;
  bool apart_;
  int left_ = most_values;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

class shape_view {
 public:
  shape_view() = default;
  shape_view(span<extent const> dimensions, value_id of) : dimensions_(dimensions), of_(of) {}

  [[nodiscard]] std::size_t size() const { return dimensions_.size(); }
  [[nodiscard]] bool empty() const { return dimensions_.empty(); }
  [[nodiscard]] extent operator[](std::size_t axis) const {
    if (axis < dimensions_.size()) return dimensions_[axis];
    constexpr std::uint32_t beyond = std::uint32_t{1} << 31;  // the symbols of graphs are fewer
    return extent::of_symbol(beyond | ((of_ * 64u + static_cast<std::uint32_t>(axis % 64)) & (beyond - 2)));
  }
  [[nodiscard]] extent front() const { return (*this)[0]; }
  [[nodiscard]] extent back() const { return (*this)[empty() ? 0 : size() - 1]; }
  [[nodiscard]] extent const* begin() const { return dimensions_.begin(); }
  [[nodiscard]] extent const* end() const { return dimensions_.end(); }

  operator span<extent const>() const { return dimensions_; }

 private:
  span<extent const> dimensions_{};
  value_id of_ = absent;
};

class value_view {
 public:
  value_view() = default;
  value_view(graph_image const& image, detail::facts const& known, dialect const& names, value_id v)
      : image_(&image), facts_(&known), dialect_(&names), id_(v) {}
  value_view(graph_image const& image, detail::facts const& known, dialect const& names, value_id v, double number,
             std::uint64_t axes, span<std::int64_t const> list = {})
      : image_(&image),
        facts_(&known),
        dialect_(&names),
        id_(v),
        number_(number),
        axes_(axes),
        list_(list),
        is_number_(true) {}

  [[nodiscard]] explicit operator bool() const { return image_ != nullptr && id_ != absent; }
  [[nodiscard]] value_id id() const { return id_; }

  [[nodiscard]] element_type type() const { return *this ? facts_->type(id_) : element_type::unknown; }
  [[nodiscard]] int rank() const { return *this ? facts_->rank(id_) : -1; }
  [[nodiscard]] shape_view shape() const { return *this ? shape_view(facts_->shape(id_), id_) : shape_view(); }
  [[nodiscard]] bool same_shape(value_view const& other) const {
    return *this && other && facts_->same_shape(id_, other.id_);
  }

  [[nodiscard]] tensor_view constant() const { return is_constant() ? image_->source->constant(id_) : tensor_view{}; }
  [[nodiscard]] bool is_constant() const { return *this && image_->value(id_).constant; }
  [[nodiscard]] bool number(double& into) const {
    if (!is_number_) return *this && facts_->number(id_, into);
    if (list_.size() > 1 || (axes_ != 0 && number_ == 0)) return false;       // several
    if (number_ != number_ && list_.size() == 0 && axes_ == 0) return false;  // an extent that is not known
    into = number_;
    return true;
  }
  [[nodiscard]] bool uniform(double& into) const {
    return is_number_ ? number(into) : *this && facts_->uniform(id_, into);
  }
  [[nodiscard]] bool integers(std::vector<std::int64_t>& into) const {
    if (list_.size() != 0) return into.assign(list_.begin(), list_.end()), true;
    if (!is_number_ || axes_ == 0) return *this && facts_->integers(id_, into);
    into.clear();
    for (int bit = 63; bit >= 0; --bit)
      if ((axes_ >> bit & 1u) != 0) into.push_back(-1 - bit);
    return true;
  }

  [[nodiscard]] bool has_equal_parts(std::int64_t count, bool apart = false) const {
    return *this && detail::basic_equal_parts<graph_image>(*image_, *facts_, *dialect_, count, apart).has(id_);
  }

  [[nodiscard]] bool counts() const {
    return *this && detail::basic_counting<graph_image>(*image_, *facts_, *dialect_).counts(id_);
  }
  [[nodiscard]] bool as_long_as(value_view const& other) const {
    return rank() > 0 && other.rank() > 0 &&
           facts_->symbols().equal_where_broadcast(other.shape().back(), shape().back());
  }

  [[nodiscard]] bool has_producer() const { return *this && image_->producer(id_) != absent; }
  [[nodiscard]] opcode op() const { return has_producer() ? op_of(*image_, image_->producer(id_)) : opcode::opaque; }
  [[nodiscard]] std::string_view op_name() const {
    return has_producer() ? image_->source->op_name(image_->producer(id_)) : std::string_view{};
  }
  [[nodiscard]] value_view operand(std::uint32_t i) const {
    if (!has_producer()) return {};
    auto const n = image_->producer(id_);
    return {*image_, *facts_, *dialect_, i < image_->operand_count(n) ? image_->operand(n, i) : absent};
  }
  [[nodiscard]] bool parameter(std::string_view name, double& into) const {
    return has_producer() && read_number(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }
  [[nodiscard]] bool parameter(std::string_view name, std::vector<std::int64_t>& into) const {
    return has_producer() && read_integers(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }

  [[nodiscard]] std::uint32_t users() const { return *this ? watched().use_count : 0; }
  template <class Visit>
  void for_each_user(Visit&& visit) const {
    if (!*this) return;
    watched();
    image_->for_each_user(id_, [&](node_id user) {
      if (image_->node(user).result_count != 0) visit(value_view(*image_, *facts_, *dialect_, image_->result(user)));
    });
  }
  [[nodiscard]] bool is_output() const { return *this && image_->value(id_).outputs != 0; }
  [[nodiscard]] std::string name() const { return *this ? image_->source->value_name(id_) : std::string(); }

  template <class Graph>
  [[nodiscard]] Graph const* graph() const {
    bool const is = image_ != nullptr && image_->source->graph_type() == graph_type_of<Graph>();
    return is ? static_cast<Graph const*>(image_->source->graph()) : nullptr;
  }
  [[nodiscard]] void const* graph() const { return image_ == nullptr ? nullptr : image_->source->graph(); }
  template <class Graph>
  [[nodiscard]] value_of<Graph> handle() const {
    auto const* found = *this && graph<Graph>() != nullptr ? image_->source->handle(id_) : nullptr;
    return found == nullptr ? value_of<Graph>{} : *static_cast<value_of<Graph> const*>(found);
  }

 private:
  graph_image::value_record const& watched() const {
    auto const& record = image_->value(id_);
    record.watched = true;
    return record;
  }

  graph_image const* image_ = nullptr;
  detail::facts const* facts_ = nullptr;
  dialect const* dialect_ = nullptr;
  value_id id_ = absent;
  double number_ = 0;
  std::uint64_t axes_ = 0;
  span<std::int64_t const> list_{};
  bool is_number_ = false;
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct captured {
  span<value_view const> values{};  ///< none when absent, one (of a number: without a value), or the members of a rest
  double number = 0;                ///< of a scalar
  std::uint64_t axes = 0;           ///< of captured axes: bit k is the k-th axis from the last
  span<std::int64_t const> integers{};  ///< of a captured list
  bool bound = false;
};

struct condition {
  static constexpr std::size_t capacity = 4;
  static_text name;
  bool (*holds)(captured const*, condition const&);
  bool (*ask)(value_view const*);  ///< of a predicate of the user's own
  static_text captures[capacity];
  std::size_t count;
  double number;
  bool silent;  ///< where it fails, that is no news

  [[nodiscard]] constexpr condition quiet() const {
    condition changed = *this;
    changed.silent = true;
    return changed;
  }
};

namespace detail {

inline bool holds_for_each_member(captured const* captures, condition const& what) {
  std::size_t longest = 1;
  for (std::size_t i = 0; i < what.count; ++i) {
    if (captures[i].values.empty()) return true;
    if (captures[i].values.size() > longest) longest = captures[i].values.size();
  }
  value_view arguments[condition::capacity];
  for (std::size_t member = 0; member < longest; ++member) {
    for (std::size_t i = 0; i < what.count; ++i)
      arguments[i] = captures[i].values[member < captures[i].values.size() ? member : 0];
    if (!what.ask(arguments)) return false;
  }
  return true;
}

template <fixed_string... Names>
inline constexpr condition asking = [] {
  condition made{};
  made.holds = &holds_for_each_member;
  if constexpr (sizeof...(Names) <= condition::capacity) ((made.captures[made.count++] = name_text<Names>), ...);
  return made;
}();

template <std::size_t Count>
struct asking_about;
template <>
struct asking_about<1> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0]));
  }
};
template <>
struct asking_about<2> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1]));
  }
};
template <>
struct asking_about<3> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1], of[2]));
  }
};
template <>
struct asking_about<4> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1], of[2], of[3]));
  }
};

template <std::size_t Count>
struct predicate_over {
  static_assert(Count >= 1 && Count <= condition::capacity, "fuse: a predicate names between one and four captures");
  condition about;

  template <class Function>
  [[nodiscard]] constexpr condition operator()(Function) const {
    static_assert(sizeof(Function) == 1, "fuse: the lambda of a predicate captures nothing");
    if constexpr (sizeof(Function) == 1)
      return asked_by(&asking_about<Count>::template ask<Function>);
    else
      return about;
  }

 private:
  [[nodiscard]] constexpr condition asked_by(bool (*ask)(value_view const*)) const {
    condition made = about;
    made.ask = ask;
    return made;
  }
};

}  // namespace detail

namespace dsl {

template <fixed_string... Names>
inline constexpr detail::predicate_over<sizeof...(Names)> pred{detail::asking<Names...>};

}  // namespace dsl
}  // namespace fuse::inline v0

namespace fuse::inline v0::dsl {

namespace condition_detail {

template <fixed_string... Names>
constexpr condition make(std::string_view name, bool (*holds)(captured const*, condition const&), double number = 0) {
  condition made{};
  made.name = static_text::of(name);
  made.holds = holds;
  made.number = number;
  ((made.captures[made.count++] = fuse::detail::name_text<Names>), ...);
  return made;
}

constexpr condition named(std::string_view name, condition made) {
  made.name = static_text::of(name);
  return made;
}

inline bool trailing(captured const* c, condition const&) {
  return c[0].axes != 0 ? (c[0].axes & (c[0].axes + 1)) == 0 : c[0].number < 0;
}

inline bool from_one_on(captured const* c, condition const& first) {
  if (!c[0].bound) return true;
  auto const count = (c[1].values.empty() ? -1 : c[1].values[0].rank()) - static_cast<int>(first.number);
  if (count <= 0 || count >= 64) return false;
  return c[0].axes != 0 ? c[0].axes == (std::uint64_t{1} << count) - 1 : c[0].number == -count;
}

inline bool along_last_axes(captured const* c, condition const&) {
  if (c[1].values.empty()) return true;
  auto const x = c[1].values[0];
  if (c[2].bound && (c[2].axes & (c[2].axes + 1)) != 0) return false;
  auto const axes = c[2].bound && c[2].axes != 0    ? std::popcount(c[2].axes)
                    : c[2].bound && c[2].number < 0 ? static_cast<int>(-c[2].number)
                                                    : 1;
  for (auto const& v : c[0].values) {
    double number = 0;
    if (v.uniform(number)) continue;  // that number everywhere, unless it enlarges x, which nothing may
    if (v.rank() < 0) return false;
    auto const shape = v.shape(), wanted = x.shape();
    if (x.rank() >= 0 && v.rank() > x.rank()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const from_end = shape.size() - i;
      if (shape[i] == extent(1)) continue;
      if (from_end > static_cast<std::size_t>(axes)) return false;
      if (x.rank() < 0) continue;
      if (from_end > wanted.size() || !(shape[i] == wanted[wanted.size() - from_end])) return false;
    }
  }
  return true;
}

inline bool along_one_axis(captured const* c, condition const& by) {
  if (c[1].values.empty()) return true;
  auto const x = c[1].values[0];
  auto const rank = x.rank();
  auto const axis = by.number < 0 ? static_cast<int>(by.number) + rank : static_cast<int>(by.number);
  if (axis < 0 || axis >= rank) return false;
  for (auto const& v : c[0].values) {
    if (v.rank() < 0 || v.rank() > rank) return false;
    auto const shape = v.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const at = static_cast<std::size_t>(rank - v.rank()) + i;
      if (shape[i] == extent(1)) continue;
      if (at != static_cast<std::size_t>(axis) || !(shape[i] == x.shape()[at])) return false;
    }
  }
  return true;
}

inline bool same_type(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!c[1].values.empty() && (v.type() != c[1].values[0].type() || v.type() == element_type::unknown)) return false;
  return true;
}
inline bool same_shape(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!c[1].values.empty() && !v.same_shape(c[1].values[0])) return false;
  return true;
}
inline bool floating(captured const* c, condition const&) {
  for (auto const& v : c[0].values)
    if (!is_floating(v.type())) return false;
  return true;
}
inline bool constant_value(captured const* c, condition const&) {
  for (auto const& v : c[0].values) {
    double number = 0;
    if (!v.is_constant() && !v.number(number)) return false;
  }
  return true;
}
inline bool broadcasts_along(captured const* c, condition const& by) {
  if (c[1].values.empty() || c[1].values[0].rank() < 0) return false;
  auto const rank = c[1].values[0].rank();
  auto const axis = static_cast<int>(by.number) + (by.number < 0 ? rank : 0);
  for (auto const& v : c[0].values) {
    if (v.rank() < 0) return false;
    auto const at = axis - rank + v.rank();
    if (at >= 0 && !(v.shape()[static_cast<std::size_t>(at)] == extent(1))) return false;
  }
  return true;
}
inline bool of_equal_parts(captured const* c, condition const& count) {
  bool const apart = count.number < 0;
  for (auto const& v : c[0].values)
    if (!v.has_equal_parts(static_cast<std::int64_t>(apart ? -count.number : count.number), apart)) return false;
  return true;
}
inline bool counts_as_far(captured const* c, condition const&) {
  if (c[1].values.empty()) return true;
  for (auto const& v : c[0].values)
    if (!v.counts() || !v.as_long_as(c[1].values[0])) return false;
  return true;
}
inline bool from_the_front(captured const* c, condition const&) {
  for (auto const& v : c[0].values) {
    double every = 0;
    std::vector<std::int64_t> listed;
    if (v.uniform(every) && every < 0) return false;
    if (v.integers(listed))
      for (auto const each : listed)
        if (each < 0) return false;
    auto const held = v.constant();
    for (std::size_t i = 0; held && i < held.size(); ++i)
      if (held.number(i) < 0) return false;
  }
  return true;
}
inline bool rank_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (v.rank() != static_cast<int>(wanted.number)) return false;
  return true;
}
inline bool type_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (static_cast<double>(v.type()) != wanted.number) return false;
  return true;
}
inline bool uniform_is(captured const* c, condition const& wanted) {
  for (auto const& v : c[0].values)
    if (double number = 0; !v.uniform(number) || number != wanted.number) return false;
  return true;
}
inline bool in_float32(captured const* c, condition const& least) {
  return detail::math::fits_float(c[0].number) && c[0].number >= least.number;
}

}  // namespace condition_detail

template <fixed_string Axes>
inline constexpr condition trailing_axes = condition_detail::make<Axes>("the axes are trailing ones",
                                                                        &condition_detail::trailing);

template <fixed_string Axes, fixed_string X>
[[nodiscard]] constexpr condition axes_from(int first) {
  return condition_detail::make<Axes, X>("all axes from that one on", &condition_detail::from_one_on, first);
}

template <fixed_string V, fixed_string X, fixed_string Axes = "axes">
inline constexpr condition along_last_axes = condition_detail::make<V, X, Axes>("along the last axes alone",
                                                                                &condition_detail::along_last_axes);
template <fixed_string Scale, fixed_string X, fixed_string Axes = "axes">
inline constexpr condition row_vector = condition_detail::named("one row over the normalised axes",
                                                                along_last_axes<Scale, X, Axes>);

template <fixed_string V, fixed_string X>
[[nodiscard]] constexpr condition along_axis(int axis) {
  return condition_detail::make<V, X>("along that axis alone", &condition_detail::along_one_axis, axis);
}

template <fixed_string V, fixed_string X>
[[nodiscard]] constexpr condition repeats_along(int axis) {
  return condition_detail::make<V, X>("one element along that axis", &condition_detail::broadcasts_along, axis);
}

template <fixed_string A, fixed_string B>
inline constexpr condition same_type = condition_detail::make<A, B>("the same element type",
                                                                    &condition_detail::same_type);
template <fixed_string A, fixed_string B>
inline constexpr condition same_shape = condition_detail::make<A, B>("the same shape", &condition_detail::same_shape);
template <fixed_string X>
inline constexpr condition floating = condition_detail::make<X>("a floating element type", &condition_detail::floating);
template <fixed_string X>
inline constexpr condition is_constant = condition_detail::make<X>("a constant", &condition_detail::constant_value);
template <fixed_string V, int Count, int Step = 1>
inline constexpr condition equal_parts = [] {
  static_assert(Count > 1 && (Step == 1 || Step == Count),
                "fuse: equal_parts<\"v\", 2> are neighbours, equal_parts<\"v\", 2, 2> every second element");
  return condition_detail::make<V>("equal parts of the last axis", &condition_detail::of_equal_parts,
                                   Step == 1 ? Count : -Count);
}();
template <fixed_string V, fixed_string X>
inline constexpr condition counts_along = condition_detail::make<V, X>("positions that count from 0",
                                                                       &condition_detail::counts_as_far);
template <fixed_string V>
inline constexpr condition from_the_front = condition_detail::make<V>("rows that count from the front",
                                                                      &condition_detail::from_the_front);
template <fixed_string X>
[[nodiscard]] constexpr condition rank(int wanted) {
  return condition_detail::make<X>("the rank", &condition_detail::rank_is, wanted);
}
template <fixed_string X>
[[nodiscard]] constexpr condition type(element_type wanted) {
  return condition_detail::make<X>("the element type", &condition_detail::type_is, static_cast<double>(wanted));
}
template <fixed_string V>
[[nodiscard]] constexpr condition everywhere(double number) {
  return condition_detail::make<V>("that number everywhere", &condition_detail::uniform_is, number);
}
template <fixed_string Number>
[[nodiscard]] constexpr condition float32_number(double least = std::numeric_limits<double>::lowest()) {
  return condition_detail::make<Number>("a number that float32 can hold", &condition_detail::in_float32, least);
}
template <fixed_string Epsilon>
inline constexpr condition float32_epsilon = condition_detail::named("an epsilon that float32 can hold",
                                                                     float32_number<Epsilon>(0));

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression constant(double value) { return expression(value); }

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr expression dimension_of(static_text name, int axis) {
  expression made(term_kind::dimension, opcode::opaque, name);
  made.terms[0].number = axis;
  return made;
}
[[nodiscard]] constexpr expression dimension_of(static_text name) {
  expression made(term_kind::dimension, opcode::opaque, name);
  made.terms[0].index = 1;
  return made;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::dsl {

template <fixed_string Name, int... Axis>
inline constexpr expression dim = detail::dimension_of(detail::name_text<Name>, Axis...);

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <class... Forms>
[[nodiscard]] constexpr expression either(Forms const&... forms) {
  return expression(term_kind::alternatives, opcode::opaque, {}, forms...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression fold(expression const& inside) {
  return expression(term_kind::fold, opcode::opaque, {}, inside);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <class... Others>
[[nodiscard]] constexpr expression list(expression const& first, Others const&... others) {
  return expression(term_kind::list, opcode::opaque, {}, first, expression(others)...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression sqrt(expression const& a) { return expression(opcode::sqrt, a); }
[[nodiscard]] constexpr expression rsqrt(expression const& a) { return expression(opcode::rsqrt, a); }
[[nodiscard]] constexpr expression reciprocal(expression const& a) { return expression(opcode::reciprocal, a); }
[[nodiscard]] constexpr expression square(expression const& a) { return expression(opcode::square, a); }
[[nodiscard]] constexpr expression pow(expression const& a, expression const& b) {
  return expression(opcode::pow, a, b);
}
[[nodiscard]] constexpr expression exp(expression const& a) { return expression(opcode::exp, a); }
[[nodiscard]] constexpr expression log(expression const& a) { return expression(opcode::log, a); }
[[nodiscard]] constexpr expression erf(expression const& a) { return expression(opcode::erf, a); }
[[nodiscard]] constexpr expression tanh(expression const& a) { return expression(opcode::tanh, a); }
[[nodiscard]] constexpr expression sigmoid(expression const& a) { return expression(opcode::sigmoid, a); }
[[nodiscard]] constexpr expression relu(expression const& a) { return expression(opcode::relu, a); }
[[nodiscard]] constexpr expression softplus(expression const& a) { return expression(opcode::softplus, a); }
[[nodiscard]] constexpr expression hard_sigmoid(expression const& a) { return expression(opcode::hard_sigmoid, a); }
[[nodiscard]] constexpr expression clip(expression const& a) { return expression(opcode::clip, a); }
[[nodiscard]] constexpr expression gelu(expression const& a) { return expression(opcode::gelu, a); }
[[nodiscard]] constexpr expression bias_gelu(expression const& a, expression const& bias) {
  return expression(opcode::bias_gelu, a, bias);
}
[[nodiscard]] constexpr expression fast_gelu(expression const& a) { return expression(opcode::fast_gelu, a); }
[[nodiscard]] constexpr expression fast_gelu(expression const& a, expression const& bias) {
  return expression(opcode::fast_gelu, a, bias);
}
[[nodiscard]] constexpr expression swish(expression const& a) { return expression(opcode::swish, a); }
[[nodiscard]] constexpr expression mish(expression const& a) { return expression(opcode::mish, a); }
[[nodiscard]] constexpr expression hard_swish(expression const& a) { return expression(opcode::hard_swish, a); }
[[nodiscard]] constexpr expression softmax(expression const& a) { return expression(opcode::softmax, a); }
[[nodiscard]] constexpr expression log_softmax(expression const& a) { return expression(opcode::log_softmax, a); }
[[nodiscard]] constexpr expression abs(expression const& a) { return expression(opcode::abs, a); }
[[nodiscard]] constexpr expression minimum(expression const& a, expression const& b) {
  return expression(opcode::minimum, a, b);
}
[[nodiscard]] constexpr expression maximum(expression const& a, expression const& b) {
  return expression(opcode::maximum, a, b);
}
[[nodiscard]] constexpr expression mean(expression const& a) { return expression(opcode::mean, a); }
[[nodiscard]] constexpr expression sum(expression const& a) { return expression(opcode::sum, a); }
[[nodiscard]] constexpr expression reduce_max(expression const& a) { return expression(opcode::reduce_max, a); }
[[nodiscard]] constexpr expression log_sum(expression const& a) { return expression(opcode::log_sum, a); }
[[nodiscard]] constexpr expression log_sum_exp(expression const& a) { return expression(opcode::log_sum_exp, a); }
[[nodiscard]] constexpr expression matmul(expression const& a, expression const& b) {
  return expression(opcode::matmul, a, b);
}
[[nodiscard]] constexpr expression reshape(expression const& a) { return expression(opcode::reshape, a); }
[[nodiscard]] constexpr expression concat(expression const& a, expression const& b) {
  return expression(opcode::concat, a, b);
}
[[nodiscard]] constexpr expression gather(expression const& a, expression const& indices) {
  return expression(opcode::gather, a, indices);
}
template <class... Operands>
[[nodiscard]] constexpr expression dequantize(Operands const&... operands) {
  return expression(opcode::dequantize, operands...);
}
[[nodiscard]] constexpr expression expand(expression const& a, expression const& shape) {
  return expression(opcode::expand, a, shape);
}
[[nodiscard]] constexpr expression where(expression const& condition, expression const& a, expression const& b) {
  return expression(opcode::where, condition, a, b);
}
[[nodiscard]] constexpr expression is_nan(expression const& a) { return expression(opcode::is_nan, a); }
[[nodiscard]] constexpr expression flatten(expression const& a) { return expression(opcode::flatten, a); }
[[nodiscard]] constexpr expression cast(expression const& a) { return expression(opcode::cast, a); }
template <class... Operands>
[[nodiscard]] constexpr expression layer_norm(Operands const&... operands) {
  return expression(opcode::layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression rms_norm(Operands const&... operands) {
  return expression(opcode::rms_norm, operands...);
}
[[nodiscard]] constexpr expression instance_norm(expression const& a, expression const& scale, expression const& bias) {
  return expression(opcode::instance_norm, a, scale, bias);
}
[[nodiscard]] constexpr expression group_norm(expression const& a, expression const& scale, expression const& bias) {
  return expression(opcode::group_norm, a, scale, bias);
}
template <class... Operands>
[[nodiscard]] constexpr expression skip_layer_norm(Operands const&... operands) {
  return expression(opcode::skip_layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression embed_layer_norm(Operands const&... operands) {
  return expression(opcode::embed_layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression qembed_layer_norm(Operands const&... operands) {
  return expression(opcode::qembed_layer_norm, operands...);
}
[[nodiscard]] constexpr expression rotary_embedding(expression const& x, expression const& cosines,
                                                    expression const& sines) {
  return expression(opcode::rotary_embedding, x, cosines, sines);
}
[[nodiscard]] constexpr expression rotary_embedding_at(expression const& x, expression const& positions,
                                                       expression const& cosines, expression const& sines) {
  return expression(opcode::rotary_embedding_at, x, positions, cosines, sines);
}
template <class... Operands>
[[nodiscard]] constexpr expression attention(Operands const&... operands) {
  return expression(opcode::attention, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression multi_head_attention(Operands const&... operands) {
  return expression(opcode::multi_head_attention, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression skip_rms_norm(Operands const&... operands) {
  return expression(opcode::skip_rms_norm, operands...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0 {

[[nodiscard]] constexpr expression operator+(expression const& a, expression const& b) {
  return expression(opcode::add, a, b);
}
[[nodiscard]] constexpr expression operator-(expression const& a, expression const& b) {
  return expression(opcode::sub, a, b);
}
[[nodiscard]] constexpr expression operator*(expression const& a, expression const& b) {
  return expression(opcode::mul, a, b);
}
[[nodiscard]] constexpr expression operator/(expression const& a, expression const& b) {
  return expression(opcode::div, a, b);
}
[[nodiscard]] constexpr expression operator-(expression const& a) { return expression(opcode::neg, a); }

}  // namespace fuse::inline v0

namespace fuse::inline v0::dsl {

inline constexpr expression none{term_kind::no_operand, opcode::opaque, {}};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

struct op_name {
  static_text name;

  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    return expression(term_kind::named, opcode::opaque, name, operands...);
  }
};
template <fixed_string Name>
inline constexpr op_name op{{Name.text, sizeof(Name.text) - 1}};

struct exact_name {
  static_text name;

  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    return expression(term_kind::exact, opcode::opaque, name, operands...);
  }
};
template <fixed_string Name>
inline constexpr exact_name exactly{{Name.text, sizeof(Name.text) - 1}};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression optional(expression const& operand) {
  return expression(term_kind::optional, opcode::opaque, {}, operand);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression or_else(expression const& captured, expression const& otherwise) {
  return expression(term_kind::or_else, opcode::opaque, {}, captured, otherwise);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Name>
inline constexpr expression param{term_kind::parameter, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Name, int Index, int Count, int Step = 1>
struct parting {
  static_assert(Count > 1 && Count <= 64 && Index >= 0 && Index < Count,
                "fuse: part<\"d\", 0, 2> is one of 2 to 64 parts, counted from 0");
  static_assert(Step == 1 || Step == Count,
                "fuse: the elements of a part are neighbours, or as far from each other as there are parts");

  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    expression made(term_kind::rearranged, opcode::opaque, detail::name_text<Name>, inside);
    auto& t = made.terms[made.root()];
    t.index = Step == 1 ? 1 : 2;
    t.number = Index;
    t.tolerance = Count;
    return made;
  }
};
template <fixed_string Name, int Index, int Count, int Step = 1>
inline constexpr parting<Name, Index, Count, Step> part{};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Notation>
struct rearranging {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    return expression(term_kind::rearranged, opcode::opaque, detail::name_text<Notation>, inside);
  }
};
template <fixed_string Notation>
inline constexpr rearranging<Notation> rearrange{};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Name>
inline constexpr expression rest{term_kind::rest, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <int Index>
[[nodiscard]] constexpr expression result(expression const& of) {
  expression made(term_kind::result, opcode::opaque, {}, of);
  made.terms[made.root()].index = Index;
  return made;
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <class... Roots>
[[nodiscard]] constexpr expression roots(Roots const&... all) {
  return expression(term_kind::roots, opcode::opaque, {}, all...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

[[nodiscard]] constexpr expression row(expression const& factor, expression const& like) {
  expression made(term_kind::row, opcode::opaque, {}, factor, like);
  made.terms[made.root()].number = 1;
  return made;
}
[[nodiscard]] constexpr expression row(expression const& factor, expression const& like, expression const& axes) {
  expression made(term_kind::row, opcode::opaque, {}, factor, like, axes);
  made.terms[made.root()].number = 1;
  return made;
}
[[nodiscard]] constexpr expression row_or_none(expression const& addend, expression const& like) {
  expression made(term_kind::row, opcode::opaque, {}, addend, like);
  made.terms[made.root()].number = 0;
  return made;
}
[[nodiscard]] constexpr expression row_or_none(expression const& addend, expression const& like,
                                               expression const& axes) {
  expression made(term_kind::row, opcode::opaque, {}, addend, like, axes);
  made.terms[made.root()].number = 0;
  return made;
}

template <int Axis>
[[nodiscard]] constexpr expression row_along(expression const& factor, expression const& like) {
  static_assert(Axis >= 0 && Axis < 64, "fuse: the axis of row_along<1>(v, x) counts from the first one");
  auto made = row(factor, like);
  made.terms[made.root()].index = Axis + 1;
  return made;
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0 {

struct rewrite_rule {
  static constexpr std::size_t condition_capacity = 16, name_capacity = 8;

  static_text name{};
  static_text summary_text{};
  expression pattern{};
  expression replacement{};  ///< its root is a `roots` term where the pattern has several
  condition conditions[condition_capacity]{};
  std::size_t condition_count = 0;
  static_text transparent[name_capacity]{};  ///< operators looked through at every edge
  std::size_t transparent_count = 0;
  int stage_number = 0;
  double benefit_value = 0;
  bool equal_cost = false, silent = false;
  bool too_many = false;

  template <class... Conditions>
  [[nodiscard]] constexpr rewrite_rule where(Conditions const&... added) const {
    rewrite_rule changed = *this;
    (changed.add(added), ...);
    return changed;
  }
  template <fixed_string Name>
  [[nodiscard]] constexpr rewrite_rule where(condition added) const {
    return where_named({Name.text, sizeof(Name.text) - 1}, added);
  }

  template <class... Expressions>
  [[nodiscard]] constexpr rewrite_rule replace(Expressions const&... made) const {
    rewrite_rule changed = *this;
    if constexpr (sizeof...(Expressions) == 1)
      changed.replacement = (expression(made), ...);
    else
      changed.replacement = dsl::roots(made...);
    return changed;
  }

  template <fixed_string... Names>
  [[nodiscard]] constexpr rewrite_rule through() const {
    static_assert(sizeof...(Names) <= name_capacity, "fuse: a rule looks through at most 8 operators");
    rewrite_rule changed = *this;
    ((changed.transparent[changed.transparent_count++] = detail::name_text<Names>), ...);
    return changed;
  }

  [[nodiscard]] constexpr rewrite_rule summary(std::string_view text) const {
    rewrite_rule changed = *this;
    changed.summary_text = static_text::of(text);
    return changed;
  }

  [[nodiscard]] constexpr rewrite_rule stage(int number) const {
    rewrite_rule changed = *this;
    changed.stage_number = number;
    return changed;
  }

  [[nodiscard]] constexpr rewrite_rule at_equal_cost() const {
    rewrite_rule changed = *this;
    changed.equal_cost = true;
    return changed;
  }

  [[nodiscard]] constexpr rewrite_rule quiet() const {
    rewrite_rule changed = *this;
    changed.silent = true;
    return changed;
  }

  [[nodiscard]] constexpr rewrite_rule benefit(double value) const {
    rewrite_rule changed = *this;
    changed.benefit_value = value;
    return changed;
  }

 private:
  [[nodiscard]] constexpr rewrite_rule where_named(static_text name_of_it, condition const& added) const {
    rewrite_rule changed = *this;
    changed.add(added);
    if (!changed.too_many) changed.conditions[changed.condition_count - 1].name = name_of_it;
    return changed;
  }
  constexpr void add(condition const& added) {
    if (condition_count == condition_capacity)
      too_many = true;
    else
      conditions[condition_count++] = added;
  }
};

struct rule_name {
  static_text name;

  [[nodiscard]] constexpr rewrite_rule operator()(expression const& pattern) const {
    rewrite_rule made{};
    made.name = name;
    made.pattern = pattern;
    return made;
  }
};

template <fixed_string Name>
inline constexpr rule_name rule{{Name.text, sizeof(Name.text) - 1}};

}  // namespace fuse::inline v0

namespace fuse::inline v0::dsl {

template <fixed_string Name>
inline constexpr expression scalar{term_kind::scalar, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string... Names>
struct through_names {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    expression composed = inside;
    ((composed = wrap(composed, detail::name_text<Names>)), ...);
    return composed;
  }

 private:
  [[nodiscard]] static constexpr expression wrap(expression const& inside, static_text name) {
    return expression(term_kind::through, opcode::opaque, name, inside);
  }
};
template <fixed_string... Names>
inline constexpr through_names<Names...> through{};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0::dsl {

template <fixed_string Name>
struct with_or_without_name {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    return expression(term_kind::wrapped, opcode::opaque, detail::name_text<Name>, inside);
  }
};
template <fixed_string Name>
inline constexpr with_or_without_name<Name> with_or_without{};

template <fixed_string Name>
[[deprecated("fuse: maybe<...> is called with_or_without<...>")]] inline constexpr with_or_without_name<Name> maybe{};

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0 {

struct graph_parts {
  static constexpr std::uint32_t none = 0xffffffffu;

  struct node {
    std::uint32_t id = none;
    [[nodiscard]] explicit operator bool() const { return id != none; }
    friend bool operator==(node, node) = default;
  };
  struct value {
    std::uint32_t id = none;
    [[nodiscard]] explicit operator bool() const { return id != none; }
    friend bool operator==(value, value) = default;
  };
  struct body {
    std::uint32_t id = 0;
    friend bool operator==(body, body) = default;
  };

  struct dim {
    std::int64_t extent = -1;
    std::string symbol{};

    template <class T>
      requires std::is_integral_v<T> dim(T known)
          : extent(static_cast<std::int64_t>(known)) {}   // NOLINT: implicit on purpose
      dim(char const* name) : symbol(name) {}             // NOLINT
      dim(std::string name) : symbol(std::move(name)) {}  // NOLINT
      friend bool operator==(dim const&, dim const&) = default;
  };
  using dims = std::vector<dim>;

  template <class Tensor>
  struct basic_named {
    std::string name;
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<float>, Tensor> content;

    template <class T>
      requires std::is_integral_v<T> basic_named(std::string_view n, T number)
          : name(n), content(static_cast<std::int64_t>(number)) {}
      basic_named(std::string_view n, double number) : name(n), content(number) {}
      basic_named(std::string_view n, char const* text) : name(n), content(std::string(text)) {}
      basic_named(std::string_view n, std::string text) : name(n), content(std::move(text)) {}
      basic_named(std::string_view n, std::initializer_list<std::int64_t> numbers)
          : name(n), content(std::vector(numbers)) {}
      basic_named(std::string_view n, std::vector<std::int64_t> numbers) : name(n), content(std::move(numbers)) {}
      basic_named(std::string_view n, std::vector<float> numbers) : name(n), content(std::move(numbers)) {}
      basic_named(std::string_view n, Tensor contents) : name(n), content(std::move(contents)) {}
      basic_named(attribute const& a) : name(a.name) {  // NOLINT
        std::visit([this](auto const& c) { content = c; }, a.content);
      }
  };
  using named = basic_named<tensor>;

  struct value_range {
    struct iterator {
      std::uint32_t id;
      value operator*() const { return {id}; }
      iterator& operator++() { return ++id, *this; }
      friend bool operator==(iterator, iterator) = default;
    };
    std::uint32_t first, count;
    [[nodiscard]] iterator begin() const { return {first}; }
    [[nodiscard]] iterator end() const { return {first + count}; }
    [[nodiscard]] std::size_t size() const { return count; }
  };
};

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Number>
class hash_index {
 public:
  static constexpr Number none = static_cast<Number>(-1);

  template <class Is>
  [[nodiscard]] Number find(std::size_t hash, Is const& is) const {
    if (slots_.empty()) return none;
    for (auto at = mixed(hash) & mask(); slots_[at].number != none; at = (at + 1) & mask())
      if (slots_[at].hash == hash && is(slots_[at].number)) return slots_[at].number;
    return none;
  }
  void add(std::size_t hash, Number number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    place({hash, number});
  }

 private:
  struct slot {
    std::size_t hash;
    Number number;
  };
  [[nodiscard]] static std::size_t mixed(std::size_t hash) { return hash ^ (hash >> 4) ^ (hash >> 15); }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(slot const& added) {
    auto at = mixed(added.hash) & mask();
    while (slots_[at].number != none) at = (at + 1) & mask();
    slots_[at] = added;
  }
  void grow() {
    auto const before = static_cast<plain_vector<slot>&&>(slots_);
    slots_ = plain_vector<slot>(before.empty() ? 64 : 2 * before.size(), slot{0, none});
    for (auto const& s : before)
      if (s.number != none) place(s);
  }

  plain_vector<slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

template <class Text>
class basic_name_table {
 public:
  basic_name_table() { static_cast<void>(number({})); }

  [[nodiscard]] std::uint32_t number(std::string_view name) {
    auto const hash = std::hash<std::string_view>{}(name);
    auto const known = numbers_.find(hash, [&](std::uint32_t n) { return this->name(n) == name; });
    if (known != numbers_.none) return known;
    auto const next = static_cast<std::uint32_t>(size_++);
    if (next % block == 0) names_.emplace_back().reserve(block);
    names_.back().emplace_back(name);
    numbers_.add(hash, next);
    return next;
  }
  [[nodiscard]] std::string_view name(std::uint32_t number) const { return names_[number / block][number % block]; }

 private:
  static constexpr std::size_t block = 64;  // texts that stay where they are: a short one holds its characters
  std::vector<std::vector<Text>> names_;
  std::size_t size_ = 0;
  detail::hash_index<std::uint32_t> numbers_;
};
using name_table = basic_name_table<std::string>;

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

template <class Graph>
struct owned_graph_traits {
  using node = typename Graph::node;
  using value = typename Graph::value;

  static auto nodes(Graph const& g) { return g.nodes(); }
  static std::string_view op_name(Graph const& g, node n) { return g.op(n); }
  static std::uint32_t op_key(Graph const& g, node n) { return g.op_key(n); }
  static auto operands(Graph const& g, node n) { return g.operands(n); }
  static auto results(Graph const& g, node n) { return g.results(n); }
  static node producer(Graph const& g, value v) { return g.producer(v); }
  static auto users(Graph const& g, value v) { return g.users(v); }
  static auto inputs(Graph const& g) { return g.inputs(); }
  static auto outputs(Graph const& g) { return g.outputs(); }
  static int version(Graph const& g) { return g.version(); }
  static tensor_view constant(Graph const& g, value v) {
    if (auto const n = g.producer(v); n && g.operands(n).empty() && g.attributes(n).size() == 1)
      if (auto const* contents = std::get_if<tensor>(&g.attributes(n)[0].content)) return *contents;
    return g.constant(v);
  }
  static bool overridable(Graph const& g, value v) { return g.overridable(v); }
  static element_type type(Graph const& g, value v) { return g.type(v); }
  static bool shape(Graph const& g, value v, std::vector<dimension>& into) { return g.shape(v, into); }
  static std::size_t index(Graph const&, value v) { return v.id; }
  static std::string name(Graph const& g, value v) { return g.report_name(v); }
  static std::string name(Graph const& g, node n) {
    if (!g.name(n).empty()) return std::string(g.name(n));
    return g.results(n).size() == 0 ? std::string(g.op(n)) : g.report_name(g.result(n));
  }
  static auto bodies(Graph const& g, node n) { return g.bodies(n); }
  static auto nodes(Graph const& g, typename Graph::body b) { return g.nodes(b); }
  static auto inputs(Graph const& g, typename Graph::body b) { return g.inputs(b); }
  static auto outputs(Graph const& g, typename Graph::body b) { return g.outputs(b); }

  static attribute_view attribute(Graph const& g, node n, std::string_view name) {
    auto const* found = g.attribute(n, name);
    if (found == nullptr) return {};
    return std::visit([](auto const& content) { return attribute_view(view_of(content)); }, found->content);
  }

  static bool same_attributes(Graph const& g, node a, node b) {
    if (g.attributes(a).size() != g.attributes(b).size()) return false;
    for (auto const& one : g.attributes(a)) {
      auto const* other = g.attribute(b, one.name);
      if (other == nullptr || other->content != one.content) return false;
    }
    return true;
  }

  static node insert(Graph& g, node place, new_node<value> const& made) {
    std::vector<typename Graph::named> attributes(made.attributes.begin(), made.attributes.end());
    auto const n = g.insert_before(place, made.op, made.operands, std::move(attributes),
                                   static_cast<std::uint32_t>(made.result_types.size()));
    for (std::uint32_t i = 0; i < made.result_types.size(); ++i) g.annotate(g.result(n, i), made.result_types[i]);
    return n;
  }
  static value add_constant(Graph& g, tensor_view contents, std::string_view) {
    return g.constant({contents.type,
                       {contents.shape.begin(), contents.shape.end()},
                       {contents.bytes.begin(), contents.bytes.end()}});
  }
  static void replace_uses(Graph& g, value from, value to) { g.replace_uses(from, to); }
  static void erase(Graph& g, node n) { g.erase(n); }
  static bool declare(Graph& g, function_body const& function) { return g.declare(function); }

 private:
  static std::int64_t view_of(std::int64_t number) { return number; }
  static double view_of(double number) { return number; }
  static std::string_view view_of(std::string const& text) { return text; }
  static span<std::int64_t const> view_of(std::vector<std::int64_t> const& numbers) { return numbers; }
  static span<float const> view_of(std::vector<float> const& numbers) { return numbers; }
  static tensor_view view_of(tensor const& contents) { return contents; }
};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

template <class Named>
class basic_graph : public graph_parts {
 public:
  using named = Named;
  static constexpr body main_body{};

  explicit basic_graph(int version = 17) : version_(version) {}

  value input(std::string_view name, element_type type = element_type::unknown) {
    auto const v = new_value(type);
    values_[v.id].name = names_.number(name);
    bodies_[at_].inputs.push_back(v);
    return v;
  }
  value input(std::string_view name, element_type type, dims const& shape) {
    auto const v = input(name, type);
    annotate(v, type, shape);
    return v;
  }
  value input(std::string_view name, tensor contents) {
    auto const v = input(name, contents.type);
    set_contents(v, std::move(contents));
    values_[v.id].overridable = true;
    return v;
  }

  value constant(tensor contents, std::string_view name = {}) {
    auto const v = new_value(contents.type);
    values_[v.id].name = names_.number(name);
    set_contents(v, std::move(contents));
    return v;
  }
  template <class T>
  value constant(std::initializer_list<T> elements, std::string_view name = {}) {
    return constant(list(elements, {static_cast<std::int64_t>(elements.size())}), name);
  }
  template <class T>
  value scalar(T element, std::string_view name = {}) {
    return constant(list(std::initializer_list<T>{element}, {}), name);
  }

  value add(std::string_view op, span<value const> operands, std::vector<named> attributes = {}) {
    return result(append(op, operands, std::move(attributes)));
  }
  value add(std::string_view op, std::initializer_list<value> operands, std::vector<named> attributes = {}) {
    return result(append(op, operands, std::move(attributes)));
  }
  node append(std::string_view op, span<value const> operands, std::vector<named> attributes = {},
              std::uint32_t results = 1) {
    return link(new_node(op, operands, results, std::move(attributes)), at_, none);
  }
  node append(std::string_view op, std::initializer_list<value> operands, std::vector<named> attributes = {},
              std::uint32_t results = 1) {
    return append(op, span(operands.begin(), operands.size()), std::move(attributes), results);
  }

  void output(value v, std::string_view name = {}) {
    auto const slot = new_slot(v, none);
    bodies_[at_].outputs.push_back({slot, names_.number(name)});
  }

  body add_body(node owner, std::string_view name) {
    auto const made = static_cast<std::uint32_t>(bodies_.size());
    bodies_.push_back({});
    bodies_[made].owner = owner.id;
    bodies_[made].name = names_.number(name);
    auto* last = &nodes_[owner.id].first_body;
    while (*last != none) last = &bodies_[*last].next;
    *last = made;
    return {made};
  }
  void append_to(body b) { at_ = b.id; }

  void annotate(value v, element_type type) { values_[v.id].type = type; }
  void annotate(value v, element_type type, dims const& shape) {
    annotate(v, type);
    values_[v.id].shape = static_cast<std::uint32_t>(shapes_.size());
    auto& extents = shapes_.emplace_back();
    for (auto const& d : shape) extents.push_back({d.extent, names_.number(d.symbol)});
  }
  void rename(node n, std::string_view name) { nodes_[n.id].name = names_.number(name); }
  void rename(value v, std::string_view name) { values_[v.id].name = names_.number(name); }
  void set(node n, named a) {
    auto& record = nodes_[n.id];
    for (auto i = record.first_attribute; i < record.first_attribute + record.attribute_count; ++i)
      if (attributes_[i].name == a.name) {
        attributes_[i] = std::move(a);
        return;
      }
    if (record.first_attribute + record.attribute_count !=
        attributes_.size()) {  // move them to the end, where there is room
      auto const first = static_cast<std::uint32_t>(attributes_.size());
      for (std::uint32_t i = 0; i < record.attribute_count; ++i)
        attributes_.push_back(attributes_[record.first_attribute + i]);
      record.first_attribute = first;
    }
    attributes_.push_back(std::move(a));
    ++record.attribute_count;
  }
  void set_operand(node n, std::size_t i, value v) {
    auto const slot = nodes_[n.id].first_operand + static_cast<std::uint32_t>(i);
    assert(i < nodes_[n.id].operand_count);
    unlink_use(slot);
    operands_[slot] = v;
    link_use(slot);
  }

  node insert_before(node place, std::string_view op, span<value const> operands, std::vector<named> attributes = {},
                     std::uint32_t results = 1) {
    assert(alive(place));
    return link(new_node(op, operands, results, std::move(attributes)), nodes_[place.id].body, place.id);
  }
  void replace_uses(value from, value to) {
    if (from == to) return;
    while (values_[from.id].first_use != none) {
      auto const slot = values_[from.id].first_use;
      unlink_use(slot);
      operands_[slot] = to;
      link_use(slot);
    }
  }
  void erase(node n) {
    detail::plain_vector<std::uint32_t> dying(1, n.id);
    for (std::size_t i = 0; i < dying.size(); ++i)  // bodies may nest deeply
      for (auto b = nodes_[dying[i]].first_body; b != none; b = bodies_[b].next) {
        for (auto const& out : bodies_[b].outputs) unlink_use(out.slot);
        for (auto inner = bodies_[b].first; inner != none; inner = nodes_[inner].next) dying.push_back(inner);
      }
    for (auto const id : dying) release_operands(id);
    for (auto const id : dying) {
      for ([[maybe_unused]] auto v : results({id})) assert(use_count(v) == 0 && "an erased node must not be used");
      nodes_[id].dead = true;
    }
    auto const previous = nodes_[n.id].previous, next = nodes_[n.id].next, in = nodes_[n.id].body;
    (previous == none ? bodies_[in].first : nodes_[previous].next) = next;
    (next == none ? bodies_[in].last : nodes_[next].previous) = previous;
    node_count_ -= dying.size();
  }
  bool declare(function_body const& function) {
    for (auto const& known : functions_)
      if (known.name == function.name) return known == function;
    functions_.push_back(function);
    return true;
  }

  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] std::size_t node_count() const { return node_count_; }  ///< bodies' nodes included
  [[nodiscard]] std::string_view op(node n) const { return names_.name(nodes_[n.id].op); }
  [[nodiscard]] std::uint32_t op_key(node n) const { return nodes_[n.id].op; }
  [[nodiscard]] std::string_view name(node n) const { return names_.name(nodes_[n.id].name); }
  [[nodiscard]] std::string_view name(value v) const { return names_.name(values_[v.id].name); }
  [[nodiscard]] std::string report_name(value v) const {
    if (!name(v).empty()) return std::string(name(v));
    for (auto use = values_[v.id].first_use; use != none; use = uses_[use].next) {
      if (uses_[use].node != none) continue;
      for (auto const& b : bodies_)
        for (auto const& out : b.outputs)
          if (out.slot == use && out.name != 0) return std::string(names_.name(out.name));
    }
    return '%' + std::to_string(v.id);
  }
  [[nodiscard]] bool alive(node n) const { return n.id < nodes_.size() && !nodes_[n.id].dead; }
  [[nodiscard]] span<value const> operands(node n) const {
    return {operands_.data() + nodes_[n.id].first_operand, nodes_[n.id].operand_count};
  }
  [[nodiscard]] value result(node n, std::uint32_t i = 0) const {
    assert(i < nodes_[n.id].result_count);
    return {nodes_[n.id].first_result + i};
  }
  [[nodiscard]] value_range results(node n) const { return {nodes_[n.id].first_result, nodes_[n.id].result_count}; }
  [[nodiscard]] node producer(value v) const { return {values_[v.id].producer}; }
  [[nodiscard]] span<named const> attributes(node n) const {
    return {attributes_.data() + nodes_[n.id].first_attribute, nodes_[n.id].attribute_count};
  }
  [[nodiscard]] named const* attribute(node n, std::string_view name) const {
    for (auto const& a : attributes(n))
      if (a.name == name) return &a;
    return nullptr;
  }
  [[nodiscard]] auto nodes(body b = main_body) const { return node_range{this, bodies_[b.id].first}; }
  [[nodiscard]] std::vector<node> users(value v) const {
    std::vector<node> all;
    for (auto slot = values_[v.id].first_use; slot != none; slot = uses_[slot].next)
      if (uses_[slot].node != none) all.push_back({uses_[slot].node});
    return all;
  }
  [[nodiscard]] std::size_t use_count(value v) const {
    std::size_t count = 0;
    for (auto slot = values_[v.id].first_use; slot != none; slot = uses_[slot].next) ++count;
    return count;
  }
  [[nodiscard]] span<value const> inputs(body b = main_body) const { return bodies_[b.id].inputs; }
  [[nodiscard]] std::vector<value> outputs(body b = main_body) const {
    std::vector<value> all;
    for (auto const& out : bodies_[b.id].outputs) all.push_back(operands_[out.slot]);
    return all;
  }
  [[nodiscard]] std::string_view output_name(std::size_t i, body b = main_body) const {
    return names_.name(bodies_[b.id].outputs[i].name);
  }
  [[nodiscard]] std::vector<body> bodies(node n) const {
    std::vector<body> all;
    for (auto b = nodes_[n.id].first_body; b != none; b = bodies_[b].next) all.push_back({b});
    return all;
  }
  [[nodiscard]] std::string_view name(body b) const { return names_.name(bodies_[b.id].name); }
  [[nodiscard]] tensor_view constant(value v) const {
    auto const at = values_[v.id].contents;
    return at == none ? tensor_view{} : tensor_view(tensors_[at]);
  }
  [[nodiscard]] bool overridable(value v) const { return values_[v.id].overridable; }
  [[nodiscard]] element_type type(value v) const { return values_[v.id].type; }
  bool shape(value v, std::vector<dimension>& into) const {
    into.clear();
    auto const& record = values_[v.id];
    if (record.shape != none) {
      for (auto const [known, symbol] : shapes_[record.shape]) into.push_back({known, names_.name(symbol)});
      return true;
    }
    if (record.contents == none) return false;
    for (auto const known : tensors_[record.contents].shape) into.push_back({known, {}});
    return true;
  }
  [[nodiscard]] span<function_body const> functions() const { return functions_; }

 private:
  struct node_record {
    std::uint32_t op = 0, name = 0;
    std::uint32_t first_operand = 0, first_result = 0, first_attribute = 0;
    std::uint32_t operand_count = 0, result_count = 0, attribute_count = 0;
    std::uint32_t body = 0, previous = none, next = none, first_body = none;
    bool dead = false;
  };
  struct value_record {
    std::uint32_t producer = none, first_use = none, name = 0, shape = none, contents = none;
    element_type type = element_type::unknown;
    bool overridable = false;
  };
  struct use_record {
    std::uint32_t node = none;  ///< none: an output
    std::uint32_t next = none, previous = none;
  };
  struct output_record {
    std::uint32_t slot, name;
  };
  struct body_record {
    std::uint32_t owner = none, name = 0, first = none, last = none, next = none;
    std::vector<value> inputs{};
    detail::plain_vector<output_record> outputs{};
  };
  struct extent_record {
    std::int64_t known;
    std::uint32_t symbol;
  };

  struct node_range {
    struct iterator {
      basic_graph const* in;
      std::uint32_t id;
      node operator*() const { return {id}; }
      iterator& operator++() { return id = in->nodes_[id].next, *this; }
      friend bool operator==(iterator, iterator) = default;
    };
    basic_graph const* in;
    std::uint32_t first;
    [[nodiscard]] iterator begin() const { return {in, first}; }
    [[nodiscard]] iterator end() const { return {in, none}; }
  };

  template <class T>
  static tensor list(std::initializer_list<T> elements, std::vector<std::int64_t> shape) {
    if constexpr (std::is_same_v<T, int>) {
      std::vector<std::int64_t> const wide(elements.begin(), elements.end());
      return make_tensor<std::int64_t>(std::move(shape), wide);
    } else {
      return make_tensor(std::move(shape), span<T const>(elements.begin(), elements.size()));
    }
  }

  value new_value(element_type type, std::uint32_t producer = none) {
    auto& made = values_.emplace_back();
    made.type = type;
    made.producer = producer;
    return {static_cast<std::uint32_t>(values_.size() - 1)};
  }
  void set_contents(value v, tensor contents) {
    values_[v.id].contents = static_cast<std::uint32_t>(tensors_.size());
    tensors_.push_back(std::move(contents));
  }
  std::uint32_t new_slot(value v, std::uint32_t user) {
    auto const slot = static_cast<std::uint32_t>(operands_.size());
    operands_.push_back(v);
    uses_.push_back({user, none, none});
    link_use(slot);
    return slot;
  }
  node new_node(std::string_view op, span<value const> operands, std::uint32_t results, std::vector<named> attributes) {
    auto const id = static_cast<std::uint32_t>(nodes_.size());
    node_record made;
    made.op = names_.number(op);
    made.first_operand = static_cast<std::uint32_t>(operands_.size());
    made.operand_count = static_cast<std::uint32_t>(operands.size());
    made.first_result = static_cast<std::uint32_t>(values_.size());
    made.result_count = results;
    made.first_attribute = static_cast<std::uint32_t>(attributes_.size());
    made.attribute_count = static_cast<std::uint32_t>(attributes.size());
    nodes_.push_back(made);
    for (auto const v : operands) new_slot(v, id);
    for (std::uint32_t i = 0; i < results; ++i) new_value(element_type::unknown, id);
    for (auto& a : attributes) attributes_.push_back(std::move(a));
    ++node_count_;
    return {id};
  }
  node link(node made, std::uint32_t in, std::uint32_t place) {
    auto& record = nodes_[made.id];
    record.body = in;
    record.next = place;
    auto& after = place == none ? bodies_[in].last : nodes_[place].previous;
    record.previous = after;
    (after == none ? bodies_[in].first : nodes_[after].next) = made.id;
    after = made.id;
    return made;
  }
  void link_use(std::uint32_t slot) {
    auto const v = operands_[slot];
    if (!v) return;
    auto& first = values_[v.id].first_use;
    uses_[slot].previous = none;
    uses_[slot].next = first;
    if (first != none) uses_[first].previous = slot;
    first = slot;
  }
  void unlink_use(std::uint32_t slot) {
    auto const v = operands_[slot];
    if (!v) return;
    auto const [user, next, previous] = uses_[slot];
    (previous == none ? values_[v.id].first_use : uses_[previous].next) = next;
    if (next != none) uses_[next].previous = previous;
    operands_[slot] = {};
  }
  void release_operands(std::uint32_t id) {
    for (std::uint32_t i = 0; i < nodes_[id].operand_count; ++i) unlink_use(nodes_[id].first_operand + i);
  }

  int version_;
  std::uint32_t at_ = 0;
  std::size_t node_count_ = 0;
  basic_name_table<decltype(Named::name)> names_;
  std::vector<node_record> nodes_;
  detail::plain_vector<value_record> values_;
  detail::plain_vector<value> operands_;  // beside uses_: reading operands touches nothing else
  detail::plain_vector<use_record> uses_;
  std::vector<named> attributes_;
  std::vector<tensor> tensors_;
  std::vector<std::vector<extent_record>> shapes_;
  std::vector<body_record> bodies_{body_record{}};
  std::vector<function_body> functions_;
};
class graph : public basic_graph<graph_parts::named> {
 public:
  using basic_graph::basic_graph;
};

template <>
struct graph_traits<graph> : owned_graph_traits<graph> {};

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

namespace detail {

template <class T>
[[nodiscard]] std::string text_of(T number) {
  char buffer[32];  // the longest number takes 24
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

[[nodiscard]] inline std::string text_of_element(tensor_view t, std::size_t i) {
  if (!is_floating(t.type)) return text_of(t.integer(i));
  return t.type == element_type::float64 ? text_of(t.number(i)) : text_of(static_cast<float>(t.number(i)));
}

[[nodiscard]] inline std::string text_of_shape(tensor_view t) {
  std::string text(name_of(t.type));
  text += '[';
  for (std::size_t i = 0; i < t.shape.size(); ++i) text += (i == 0 ? "" : ",") + text_of(t.shape[i]);
  return text + ']';
}

[[nodiscard]] inline std::string text_of(tensor_view t) {
  auto text = text_of_shape(t) + '{';
  if (t.size() <= 8) {
    for (std::size_t i = 0; i < t.size(); ++i) text += (i == 0 ? "" : ", ") + text_of_element(t, i);
  } else {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (auto const b : t.bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211u;
    char buffer[20];
    text += '#';
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, hash, 16).ptr);
  }
  return text + '}';
}

template <class Graph>
class graph_writer {
 public:
  explicit graph_writer(Graph const& g) : graph_(g) {}

  [[nodiscard]] std::string write() {
    text_ = "graph, operator set " + text_of(graph_.version()) + "\n";
    for (auto const& function : graph_.functions()) text_ += "  function " + function.name + "\n";
    write_body(graph::main_body, "  ");
    return std::move(text_);
  }

 private:
  void write_body(graph::body b, std::string const& indent) {
    for (auto const v : graph_.inputs(b)) {
      text_ += indent + "input " + name(v) + annotation(v);
      if (auto const contents = graph_.constant(v)) text_ += " = " + text_of(contents);
      text_ += '\n';
    }
    for (auto const n : graph_.nodes(b)) write_node(n, indent);
    auto const outputs = graph_.outputs(b);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      text_ += indent + "output " + std::string(graph_.output_name(i, b)) + " = " + name(outputs[i]) + '\n';
  }

  void write_node(graph::node n, std::string const& indent) {
    std::string line;
    for (auto const v : graph_.operands(n)) line += (line.empty() ? "" : ", ") + (v ? name(v) : "-");
    line = std::string(graph_.op(n)) + '(' + line + ')';
    for (auto const& a : graph_.attributes(n)) line += ' ' + a.name + '=' + text_of(a);
    std::string left;
    for (auto const v : graph_.results(n)) left += (left.empty() ? "" : ", ") + name(v) + annotation(v);
    text_ += indent + left + (left.empty() ? "" : " = ") + line + '\n';
    for (auto const b : graph_.bodies(n)) {
      text_ += indent + "  " + std::string(graph_.name(b)) + ":\n";
      write_body(b, indent + "    ");
    }
  }

  std::string name(graph::value v) {
    std::string const given(graph_.name(v));
    if (graph_.constant(v) &&
        !graph_.overridable(v))  // contents where they are read: constants have no place of their own
      return given + (given.empty() ? "" : ":") + text_of(graph_.constant(v));
    if (!given.empty()) return given;
    if (v.id >= numbers_.size()) numbers_.resize(v.id + 1, 0);
    if (numbers_[v.id] == 0) numbers_[v.id] = ++last_;
    return '%' + text_of(numbers_[v.id]);
  }

  std::string annotation(graph::value v) {
    std::vector<dimension> shape;
    bool const ranked = graph_.shape(v, shape);
    if (graph_.type(v) == element_type::unknown && !ranked) return {};
    std::string text = ": " + std::string(name_of(graph_.type(v)));
    if (!ranked) return text;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      text += i == 0 ? '[' : ',';
      text += shape[i].extent >= 0      ? text_of(shape[i].extent)
              : shape[i].symbol.empty() ? "?"
                                        : std::string(shape[i].symbol);
    }
    return text + (shape.empty() ? "[]" : "]");
  }

  static std::string text_of(graph::named const& a) {
    return std::visit(
        [](auto const& content) -> std::string {
          using type = std::remove_cvref_t<decltype(content)>;
          if constexpr (std::is_same_v<type, std::string>) {
            return '"' + content + '"';
          } else if constexpr (std::is_same_v<type, std::vector<std::int64_t>> ||
                               std::is_same_v<type, std::vector<float>>) {
            std::string list;
            for (auto const number : content) list += (list.empty() ? "" : ",") + detail::text_of(number);
            return '[' + list + ']';
          } else if constexpr (std::is_same_v<type, tensor>) {
            return detail::text_of(tensor_view(content));
          } else {
            return detail::text_of(content);
          }
        },
        a.content);
  }
  template <class T>
  static std::string text_of(T const& item) {
    return detail::text_of(item);
  }

  Graph const& graph_;
  std::string text_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace detail

template <class Named>
[[nodiscard]] std::string to_text(basic_graph<Named> const& g) {
  return detail::graph_writer(g).write();
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Image>
[[nodiscard]] std::string describe(Image const& image, facts const& known, value_id v) {
  if (v == absent) return "no operand";
  auto const name = "'" + image.source->value_name(v) + "'";
  auto const n = image.producer(v);
  double number = 0;
  if (image.value(v).constant || known.number(v, number)) {
    if (known.number(v, number)) {
      std::string digits = std::to_string(number);
      return "the constant " + name + (number != 0 && digits == "0.000000" ? std::string() : " = " + digits);
    }
    return "the constant " + name + " of several elements";
  }
  if (n == absent)
    return (image.scope_of(image.value(v).region) == 0 ? "the graph input or overridable initializer "
                                                       : "the function's input ") +
           name;
  return std::string(image.source->op_name(n)) + " " + name;
}

[[nodiscard]] inline std::string digits(double number) {
  char text[32];
  return {text, std::to_chars(text, text + 32, number).ptr};
}

template <class Image>
[[nodiscard]] std::string describe_parameter(Image const& image, facts const& known, dialect const& names, value_id v,
                                             std::string_view parameter) {
  auto text = describe(image, known, v);
  auto const n = v == absent ? absent : image.producer(v);
  if (n == absent) return text;
  text += ", whose '" + std::string(parameter) + "'";
  auto const& attribute = parameter_place(image, names, n, parameter).source.attribute;
  auto const* row = names.row(image.node(n).tag.name, image.version);
  if (row != nullptr && row->attributes->has(attribute))
    text += (attribute == parameter ? " (" : " (its attribute '" + std::string(attribute) + "': ") +
            std::string(name_of(row->attributes->all[row->attributes->find(attribute)].kind)) + ")";
  std::vector<std::int64_t> list;
  if (read_list(image, known, names, n, parameter, list) == parameter_state::known) {
    text += " is [";
    for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
    return text + "]";
  }
  double number = 0;
  switch (read_parameter(image, known, names, n, parameter, number)) {
    case parameter_state::known: return text + " is " + digits(number);
    case parameter_state::missing: return text + " is not said";
    case parameter_state::unknown: break;
  }
  return text + " is not known";
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
[[nodiscard]] value_id bare_value(Image const& image, facts const& known, value_id v) {
  for (int i = 0; i < 8; ++i) {
    auto const n = v == absent ? absent : image.producer(v);
    if (n == absent || image.result_index(v) != 0) return v;
    auto const op = op_of(image, n);
    if (!may_keep_elements(op)) return v;
    auto const below = kept_operand(image, known, n);
    if (below == absent) return v;
    if (!unchanged(image, known, n) && (op != opcode::cast || !widens(known.type(below), known.type(v)))) return v;
    v = below;
  }
  return v;
}

template <class Image>
[[nodiscard]] bool narrows(Image const& image, facts const& known, value_id v) {
  auto const n = image.producer(v);
  auto const below = n == absent ? absent : kept_operand(image, known, n);
  auto const type = known.type(v);
  return below != absent && type != known.type(below) && !widens(known.type(below), type);
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_congruence {
 public:
  basic_congruence(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] bool same(value_id a, value_id b) {
    if (a == b) return true;
    if (hashes_.empty() && alike(a, b)) hash_all();
    budget_ = 64;
    if (compare(a, b, 0)) return true;
    told_apart_ = told_apart_ || is_computed(a) || is_computed(b);
    return false;
  }

  [[nodiscard]] bool same_bare(value_id a, value_id b) {
    return same(bare_value(image_, facts_, a), bare_value(image_, facts_, b));
  }

  [[nodiscard]] bool same_now(value_id a, value_id b) {
    budget_ = 64;
    hashed_ = false;
    bool const found = compare(a, b, 0);
    hashed_ = true;
    return found;
  }

  [[nodiscard]] bool told_apart() const { return told_apart_; }
  void forget_told_apart() { told_apart_ = false; }

  [[nodiscard]] bool agree(node_id n, node_id m) {
    auto const &p = image_.node(n), &q = image_.node(m);
    bool const alike = p.tag.name == q.tag.name && p.tag.op == q.tag.op && !p.has_bodies && !q.has_bodies &&
                       (p.tag.name != 0 || image_.source->op_name(n) == image_.source->op_name(m));
    return alike && (op_of(image_, n) == opcode::opaque ? image_.source->same_attributes(n, m) : same_parameters(n, m));
  }

  void update() { hashes_.clear(); }
  void update(node_id n) {
    if (!hashes_.empty()) hash(n);
  }

 private:
  [[nodiscard]] bool is_computed(value_id v) const { return v != absent && image_.producer(v) != absent; }
  [[nodiscard]] bool alike(value_id a, value_id b) const {
    auto const n = a == absent ? absent : image_.producer(a), m = b == absent ? absent : image_.producer(b);
    return n != absent && m != absent && image_.node(n).tag.name == image_.node(m).tag.name;
  }

  void hash_all() {
    hashes_.reserve(image_.value_count() + image_.value_count() / 8);
    hashes_.resize(image_.value_count());
    for (value_id v = 0; v < image_.value_count(); ++v)
      if (image_.producer(v) == absent) hashes_[v] = image_.value(v).constant ? constant : leaf(v);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) hash(n);
  }
  void hash(node_id n) {
    auto const& record = image_.node(n);
    for (auto v = static_cast<value_id>(hashes_.size()); v < record.first_result + record.result_count; ++v)
      hashes_.push_back(image_.value(v).constant ? constant : leaf(v));
    auto const found = hash_at(n);
    for (std::uint32_t i = 0; i < record.result_count; ++i) {
      auto const v = record.first_result + i;
      hashes_[v] = image_.value(v).constant ? constant : found == 0 ? leaf(v) : mix(found, i);
    }
  }

  static constexpr std::uint32_t constant = 1;
  [[nodiscard]] static std::uint32_t leaf(value_id v) { return mix(2, v); }
  [[nodiscard]] static std::uint32_t mix(std::uint32_t h, std::uint32_t with) {
    h = (h ^ with) * 0x9e3779b1u;
    return h ^ (h >> 15);
  }
  [[nodiscard]] std::uint32_t hash_at(node_id n) const {
    auto const& record = image_.node(n);
    if (record.tag.name == 0 || record.has_bodies) return 0;
    std::uint32_t h = mix(record.tag.name + 3u, record.region);
    auto const hash_of = [&](std::uint32_t i) {
      auto const v = image_.operand(n, i);
      return v < hashes_.size() ? hashes_[v] : 0;
    };
    if (commutes(n)) {
      auto const a = hash_of(0), b = hash_of(1);
      h = mix(mix(h, a < b ? a : b), a < b ? b : a);
    } else {
      for (std::uint32_t i = 0; i < record.operand_count; ++i) h = mix(h, hash_of(i));
    }
    return h == 0 ? 1 : h;
  }
  [[nodiscard]] bool commutes(node_id n) const {
    return image_.operand_count(n) == 2 && info(op_of(image_, n)).commutative;
  }

  bool compare(value_id a, value_id b, int depth) {
    if (a == b) return true;
    if (a == absent || b == absent || budget_-- == 0 || depth == 32) return false;
    if (hashed_ && a < hashes_.size() && b < hashes_.size() && hashes_[a] != hashes_[b]) return false;
    auto const &x = image_.value(a), &y = image_.value(b);
    if (x.constant && y.constant) return same_contents(a, b);
    auto const n = x.producer, m = y.producer;
    if (n == absent || m == absent) return false;
    auto const &p = image_.node(n), &q = image_.node(m);
    if (p.tag.name == 0 || p.tag.name != q.tag.name || p.operand_count != q.operand_count || p.has_bodies ||
        q.has_bodies || p.region != q.region || image_.result_index(a) != image_.result_index(b))
      return false;
    if (!same_parameters(n, m)) return false;
    auto const same_at = [&](std::uint32_t i, std::uint32_t k) {
      return compare(image_.operand(n, i), image_.operand(m, k), depth + 1);
    };
    if (commutes(n)) return (same_at(0, 0) && same_at(1, 1)) || (same_at(0, 1) && same_at(1, 0));
    for (std::uint32_t i = 0; i < p.operand_count; ++i)
      if (!same_at(i, i)) return false;
    return true;
  }

  [[nodiscard]] bool same_contents(value_id a, value_id b) const {
    auto const s = image_.source->constant(a), t = image_.source->constant(b);
    return s && t && detail::same_contents(s, t);
  }

  [[nodiscard]] bool same_parameters(node_id n, node_id m) {
    auto const op = op_of(image_, n);
    auto const& known = info(op);
    if (known.group != op_group::none) return true;  // sums and products have none
    if (op == opcode::cast)
      return facts_.type(image_.result(n)) != element_type::unknown &&
             facts_.type(image_.result(n)) == facts_.type(image_.result(m));
    if (op == opcode::identity) return true;
    if (op == opcode::dropout) return false;  // while training, each is drawn anew
    if (known.shape == shape_function::reduce) {
      bool keep = false, keep_too = false;
      if (reduction_axes(image_, facts_, names_, n, axes_, keep, listed_) &&
          reduction_axes(image_, facts_, names_, m, axes_too_, keep_too, listed_))
        return keep == keep_too && axes_ == axes_too_;
    }
    return op != opcode::opaque && image_.source->same_attributes(n, m);
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  detail::plain_vector<std::uint32_t> hashes_;  // by value; none yet where empty
  std::vector<int> axes_, axes_too_;
  std::vector<std::int64_t> listed_;
  int budget_ = 0;
  bool told_apart_ = false;
  bool hashed_ = true;
};
using congruence = basic_congruence<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

enum class step : std::uint8_t {
  fork,       ///< * continue at `next`, then at `other`
  operation,  ///< value a is result `c` of neutral operator `op`; its `count` operands to registers from b (* both
  exactly,    ///< the same with an operator name code
  reduction,  ///< value a is `op` over the axes in slot c with kept extents; the operand to register b
  within,     ///< the set of operators at value a has those of `number` (c = 0: deep, 1: direct; see operator_bit): a
  group,      ///< open value a as frame b of group `op`; c says what its sign is worth
  member,     ///< * a part of frame a with exponent or sign `number`; its value to register b
  scalar_member,  ///< * an addend or factor of frame a that is a constant of one element; to slot b (or 0, 1 where it
  literal,        ///< the constants left in frame a make up `number`
  rest,           ///< everything left in frame a, to the power or times `number`; to slot b
  close,          ///< nothing is left in frame a, and its sign is right
  operands,       ///< all operands of value a's node from number `count` on; to slot b
  capture,        ///< * value a to slot b, or the same value as there (either side of what is looked through)
  scalar,         ///< value a is a constant of one element; to slot b, or the same number
  number,         ///< value a is a constant all of whose elements are `number`. Both: of `count` operands from register
  missing,        ///< operand a is absent
  parameter,      ///< parameter names[op] of value a's node is `number`, or goes to slot b (b = 255: compare)
  element,        ///< parameter names[op] of value a's node is a list of `count`, number `c` of which is `number`
  over,           ///< the axes in slot b, of value a, or those of value a's node (b = 255) are `count` and no others:
  users,          ///< value a has exactly `op` users
  user,           ///< * a user of value a that is operator `op`, or any (0); its result `c` to register b
  same,           ///< values a and b are one computation
  agrees,         ///< value a's node has the parameters of that of the value in slot b, or goes there
  recall,         ///< what slot b holds, to register a
  strip,          ///< value a below what set `through` looks through; to register b
  rearranged,     ///< * value a is rearrangement `op` of another value; that to register b; number: 1 + the operator
  condition,      ///< conditions[op] holds
  accept,         ///< rule `op` matches
};

[[nodiscard]] constexpr std::string_view name_of(step code) {
  constexpr std::string_view names[] = {"fork",    "operation",     "exactly",   "reduction", "within",    "group",
                                        "member",  "scalar-member", "literal",   "rest",      "close",     "operands",
                                        "capture", "scalar",        "number",    "missing",   "parameter", "element",
                                        "over",    "users",         "user",      "same",      "agrees",    "recall",
                                        "strip",   "rearranged",    "condition", "accept"};
  return names[static_cast<std::size_t>(code)];
}

enum class sign_use : std::uint8_t {
  strict,  ///< it must be as the register says
  free,    ///< under an even power: either
  linked,  ///< under an odd power: a minus goes to the frame around it
};

[[nodiscard]] constexpr std::uint64_t operator_bit(opcode op) {
  return std::uint64_t{8} << static_cast<unsigned>(op) % 50u;
}
inline constexpr std::uint64_t root_bit = 1;
inline constexpr std::uint64_t sum_bit = 2, product_bit = 4;
inline constexpr std::uint64_t number_bit = std::uint64_t{1} << 53, constant_bit = std::uint64_t{1} << 54;
inline constexpr std::uint64_t added_number_bit = std::uint64_t{1} << 55, terms_bit = std::uint64_t{1} << 56;
inline constexpr std::uint64_t operator_bits = (number_bit - 1) & ~(sum_bit | product_bit);

inline constexpr std::uint16_t no_instruction = 0xffff;
inline constexpr std::uint8_t no_slot = 255;

struct instruction {
  step code;
  std::uint8_t a, b, c;
  std::uint16_t op;      ///< operator, name code, or index
  std::uint8_t count;    ///< operands; bit 7: may have more
  std::uint8_t through;  ///< set of operators to look through, 0: none
  std::uint16_t next, other;
  std::uint8_t flags;
  float tolerance;
  double number;

  static constexpr std::uint8_t captures = 1;  ///< member: any part will do, not only a whole one
  static constexpr std::uint8_t any_sign = 2;  ///< member: the register takes the sign along
  static constexpr std::uint8_t commutes = 4;  ///< operation: either order of two operands
  static constexpr std::uint8_t alone = 1;     ///< reduction: it is one node, no number of it stands apart
  static constexpr std::uint8_t optional = 8;  ///< scalar_member: absent, it is what changes nothing; user: a itself,
  static constexpr std::uint8_t named = 1;     ///< user: `op` is an operator name code
  static constexpr std::uint8_t climbs = 2;    ///< user: any number of them, one above the other, which spell sums,
  static constexpr std::uint8_t clips = 16;    ///< group: a sum that is never negative may be clipped at 0
  static constexpr std::uint8_t some = 1;      ///< rest: something is left
  static constexpr std::uint8_t divides = 64;  ///< group: one quotient, which may be of integers
  static constexpr std::uint8_t scales = 8;    ///< group: a product with a number, which may be that of like terms
  static constexpr std::uint8_t free = 32;  ///< what only repeats elements is looked through, and numbers are left out,

  [[nodiscard]] constexpr bool is_of_frame() const { return code >= step::member && code <= step::close; }
  [[nodiscard]] friend constexpr bool same(instruction const& x, instruction const& y) {
    return x.code == y.code && x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && x.count == y.count &&
           x.through == y.through && x.flags == y.flags && x.tolerance == y.tolerance && x.number == y.number;
  }
};

struct through_set {
  static constexpr std::size_t capacity = 8;
  std::uint16_t ops[capacity];
  bool by_name[capacity];
  std::uint8_t count;

  [[nodiscard]] constexpr bool contains(std::uint16_t name, std::uint16_t op) const {
    for (std::size_t i = 0; i < count; ++i)
      if ((by_name[i] ? name : op) == ops[i]) return true;
    return false;
  }
  [[nodiscard]] constexpr bool has_identity() const {
    return contains(0, static_cast<std::uint16_t>(opcode::identity));
  }
  [[nodiscard]] friend constexpr bool operator==(through_set const& x, through_set const& y) {
    if (x.count != y.count) return false;
    for (std::size_t i = 0; i < x.count; ++i)
      if (x.ops[i] != y.ops[i] || x.by_name[i] != y.by_name[i]) return false;
    return true;
  }
};

struct replacement_term {
  enum class kind : std::uint8_t {
    slot,
    number,
    neutral,
    named,
    again,
    fold,
    along,
    dimension,
    list,
    or_else,
    row,
    result,
    roots,
    rearranged,
    no_operand,
    further,
    either
  } what;
  std::uint8_t children, slot;
  std::uint16_t op;     ///< opcode, or name code for `named`; of `again` the opcode
  std::uint16_t index;  ///< result number; of `fold` whether it is exact; of `again` the name code, where the pattern
  std::uint8_t child[8];
  double number;  ///< of `along` and `dimension` the axis
  struct given {
    static_text name;
    double number;
    std::uint8_t slot;  ///< 255: `number`, or what is computed
    std::uint8_t term;  ///< 255: nothing is; else the term that tells how
    bool integer;       ///< `number` was written as an integer
  } parameters[4];
  std::uint8_t parameter_count;
};

struct operand_terms {
  static constexpr std::size_t most = 32;
  std::uint8_t at[most], count = 0;

  operand_terms(span<replacement_term const> terms, replacement_term const& of) { add(terms, of); }
  [[nodiscard]] std::uint8_t const* begin() const { return at; }
  [[nodiscard]] std::uint8_t const* end() const { return at + count; }

 private:
  void add(span<replacement_term const> terms, replacement_term const& of) {
    for (std::uint8_t i = 0; i < of.children; ++i) {
      auto const& child = terms[of.child[i]];
      if (child.what == replacement_term::kind::further)
        add(terms, child);
      else
        at[count++] = of.child[i];
    }
  }
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct rearrangement {
  static constexpr std::size_t most_names = 8, most_factors = 12;
  static constexpr std::uint8_t none = 255;

  struct factor {
    std::uint8_t axis;    ///< of its side, those apart that `...` stands for
    std::uint8_t name;    ///< none: its extent is `number`
    std::uint8_t parts;   ///< of a name: its extent is that of the name by this
    std::uint8_t number;  ///< of none
    std::uint8_t chosen;  ///< on the left: the one index that there is on the right; none: all
    [[nodiscard]] friend constexpr bool operator==(factor const& a, factor const& b) {
      return a.axis == b.axis && a.name == b.name && a.parts == b.parts && a.number == b.number && a.chosen == b.chosen;
    }
  };
  struct side {
    factor all[most_factors];
    std::uint8_t count, rank;
    std::uint8_t rest;  ///< before this axis stands `...`; none: nowhere
    bool joined;        ///< ... in brackets: all of them are one axis, apart from the others, too; on both sides: there
    [[nodiscard]] friend constexpr bool operator==(side const& a, side const& b) {
      bool same = a.count == b.count && a.rank == b.rank && a.rest == b.rest && a.joined == b.joined;
      for (std::size_t i = 0; same && i < a.count; ++i) same = a.all[i] == b.all[i];
      return same;
    }
    [[nodiscard]] constexpr bool has(std::uint8_t name) const {
      for (std::size_t i = 0; i < count; ++i)
        if (all[i].name == name) return true;
      return false;
    }
  };

  side left, right;
  [[nodiscard]] constexpr bool regroups() const { return left.joined && right.joined; }

  static_text names[most_names];
  std::uint8_t slots[most_names];
  std::uint8_t name_count;
  static_text text;  ///< as it is written; of a part the name

  [[nodiscard]] friend constexpr bool operator==(rearrangement const& a, rearrangement const& b) {
    bool same = a.left == b.left && a.right == b.right && a.name_count == b.name_count && a.text == b.text;
    for (std::size_t i = 0; same && i < a.name_count; ++i) same = a.slots[i] == b.slots[i];
    return same;
  }
};

class notation_reader {
 public:
  constexpr bool read(static_text text, rearrangement& into) {
    text_ = text;
    at_ = 0;
    into.text = text;
    if (!side(into, into.left) || !take("->") || !side(into, into.right) || at_ != text_.size()) return false;
    if (into.left.joined && !into.right.joined) return false;
    bool const rest_on_both = (into.left.rest == rearrangement::none) == (into.right.rest == rearrangement::none);
    for (std::uint8_t name = 0; name < into.name_count; ++name)
      if (!into.right.has(name)) return false;
    return rest_on_both;
  }

 private:
  constexpr void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  constexpr bool take(std::string_view token) {
    for (std::size_t i = 0; i < token.size(); ++i)
      if (at_ + i >= text_.size() || text_[at_ + i] != token[i]) return false;
    at_ += token.size();
    return true;
  }
  [[nodiscard]] static constexpr bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  constexpr bool side(rearrangement& all, rearrangement::side& into) {
    into.rest = rearrangement::none;
    for (skip(); at_ < text_.size() && text_[at_] != '-'; skip()) {
      bool const joined = take("(...)");
      if (joined || take("...")) {
        if (into.rest != rearrangement::none) return false;
        into.rest = into.rank;
        into.joined = joined;
        continue;
      }
      if (take("(")) {
        for (skip(); !take(")"); skip())
          if (!factor(all, into)) return false;
      } else if (!factor(all, into)) {
        return false;
      }
      ++into.rank;
    }
    return true;
  }
  constexpr bool factor(rearrangement& all, rearrangement::side& into) {
    if (take("1")) return at_ == text_.size() || !(letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9'));
    auto const first = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || (at_ != first && text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    if (at_ == first || into.count == rearrangement::most_factors) return false;
    static_text const text{text_.data() + first, at_ - first};
    std::uint8_t name = 0;
    while (name < all.name_count && !(all.names[name] == text)) ++name;
    if (name == rearrangement::most_names || into.has(name)) return false;
    if (name == all.name_count) all.names[all.name_count++] = text;
    into.all[into.count++] = {into.rank, name, 1, 0, rearrangement::none};
    return true;
  }

  static_text text_{};
  std::size_t at_ = 0;
};

[[nodiscard]] constexpr rearrangement part_of(static_text name, std::uint8_t index, std::uint8_t count, bool apart) {
  constexpr auto none = rearrangement::none;
  rearrangement made{};
  made.text = made.names[0] = name;
  made.name_count = 1;
  made.left.rest = made.right.rest = 0;
  made.left.rank = made.right.rank = 1;
  made.left.count = 2;
  made.right.count = 1;
  rearrangement::factor const chosen{0, none, 1, count, index}, kept{0, 0, count, 0, none};
  made.left.all[0] = apart ? kept : chosen;
  made.left.all[1] = apart ? chosen : kept;
  made.right.all[0] = kept;
  return made;
}

[[nodiscard]] inline std::string text_of(rearrangement const& what) {
  for (std::size_t i = 0; i < what.left.count; ++i)
    if (auto const& f = what.left.all[i]; f.chosen != rearrangement::none)
      return "part " + std::to_string(f.chosen) + " of " + std::to_string(f.number) + " of '" + std::string(what.text) +
             (i == 0 ? "'" : "', by steps");
  return "'" + std::string(what.text) + "'";
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

enum class rule_error : std::uint8_t {
  none,
  too_large,
  unknown_operator,
  wrong_operand_count,
  unbound_name,
  rest_not_last,
  no_replacement,
  either_in_a_replacement,
  roots_and_replacements_differ,
  unreachable_root,
  unbound_condition,
  two_uses_of_a_name,
  unknown_attribute,
  attribute_of_another_kind,
  row_of_several_axes,
  root_on_the_right,
  attribute_of_no_operator,
  tolerance_of_no_number,
  too_many_users,
  parameter_as_operand,
  not_in_all_branches,
  parameter_as_value,
  cancels,
  misplaced,
  result_as_root,
  again_of_no_operator,
  result_of_no_operator,
  list_of_no_numbers,
  or_else_of_no_capture,
  exact_of_no_fold,
  wrong_notation,
};

enum class slot_kind : std::uint8_t { value, number, rest, parameter, dimension };

struct rule_info {
  static constexpr std::size_t name_capacity = 24;

  static_text name, summary;
  int stage;
  double benefit;
  bool equal_cost, silent, reduces;
  opcode_set telling;  ///< the operators of its pattern that are no sums, products, or changes of layout
  std::uint8_t slot_count, root_count, replacement_size;
  std::uint8_t root_registers[4];
  static_text slot_names[name_capacity];
  slot_kind slot_kinds[name_capacity];
  std::uint32_t first_replacement;  ///< in the program
};

struct bound_condition {
  condition what;
  std::uint8_t slots[condition::capacity];
  std::uint16_t rule;  ///< in the program
};

struct lowered_rule : rule_info {
  static constexpr std::size_t instruction_capacity = 768, entry_capacity = 40, set_capacity = 6,
                               replacement_capacity = 64, condition_capacity = 16, rearrangement_capacity = 8;

  struct entry {
    std::uint16_t first;  ///< instruction
    std::uint16_t tag;    ///< opcode or name code of the root's node
    bool by_name;
    std::uint8_t strip;  ///< set that the root is stripped of first, 0: the root itself
  };

  rule_error error;
  static_text culprit;
  std::size_t wanted;                ///< for a wrong number of operands
  static_text owner;                 ///< the operator, where an attribute is wrong
  attribute_list const* attributes;  ///< those that it has

  detail::instruction code[instruction_capacity];  ///< `next` and `other` are how many instructions are passed over
  std::uint16_t size;
  entry entries[entry_capacity];
  std::uint16_t entry_count;
  static_text parameter_names[name_capacity];
  std::uint16_t parameter_name_count;
  detail::through_set sets[set_capacity];
  std::uint8_t set_count;
  detail::rearrangement rearrangements[rearrangement_capacity];
  std::uint8_t rearrangement_count;
  bound_condition conditions[condition_capacity];
  std::uint8_t condition_count;
  detail::replacement_term replacement[replacement_capacity];
};

}  // namespace fuse::inline v0

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0 {

struct program_entry {
  std::uint16_t stage, tag, first;
  bool by_name;
  std::uint8_t strip;
};

struct program {
  span<detail::instruction const> code;
  span<program_entry const> entries;  ///< sorted by stage, by_name, tag
  span<rule_info const> rules;
  span<bound_condition const> conditions;
  span<static_text const> parameter_names;
  span<detail::through_set const> sets;
  span<detail::replacement_term const> replacements;
  span<detail::rearrangement const> rearrangements;
  int stages;

  [[nodiscard]] constexpr bool binds(std::string_view name) const {
    for (auto const& r : rules)
      for (std::size_t i = 0; i < r.slot_count; ++i)
        if (r.slot_names[i] == name) return true;
    return false;
  }
};

template <std::size_t Code, std::size_t Entries, std::size_t Rules, std::size_t Conditions, std::size_t Replacements>
struct program_table {
  static constexpr std::size_t name_capacity = 64, set_capacity = 32, rearrangement_capacity = 128;
  detail::instruction code[Code + Code / 2 + 1];
  std::size_t size;
  program_entry entries[Entries + 1];
  std::size_t entry_count;
  rule_info rules[Rules + 1];
  bound_condition conditions[Conditions + 1];
  std::size_t condition_count;
  static_text parameter_names[name_capacity];
  std::size_t parameter_name_count;
  detail::through_set sets[set_capacity];
  std::size_t set_count;
  detail::replacement_term replacements[Replacements + 1];
  std::size_t replacement_count;
  detail::rearrangement rearrangements[rearrangement_capacity];
  std::size_t rearrangement_count;
  int stages;
  bool overflow;

  constexpr operator program() const {
    return {{code, size},
            {entries, entry_count},
            {rules, Rules},
            {conditions, condition_count},
            {parameter_names, parameter_name_count},
            {sets, set_count},
            {replacements, replacement_count},
            {rearrangements, rearrangement_count},
            stages};
  }
};

namespace detail {

template <class Table>
class merging {
 public:
  Table out{};

  constexpr merging(lowered_rule const* const* rules, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_info(*rules[i], i);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t at = i;
      for (; at > 0 && rules[order_[at - 1]]->benefit < rules[i]->benefit; --at) order_[at] = order_[at - 1];
      order_[at] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t i = 0; i < count; ++i) add_rule(*rules[order_[i]], order_[i]);
    sort_entries();
  }

 private:
  struct chain {
    std::uint16_t stage, first;
    std::uint16_t entry, entries;  // in out.entries
    std::uint16_t tag;             // of the first entry
  };
  static constexpr std::size_t rule_capacity = 1024;
  std::uint16_t order_[rule_capacity]{};
  std::uint16_t name_map_[lowered_rule::name_capacity]{};
  std::uint8_t set_map_[lowered_rule::set_capacity + 1]{};
  std::uint16_t rearrangement_map_[lowered_rule::rearrangement_capacity]{};
  std::size_t first_condition_ = 0;
  bool renumbered_ = false;  // the rule has names of parameters or sets
  chain chains_[rule_capacity]{};
  std::size_t chain_count_ = 0;

  constexpr void add_info(lowered_rule const& from, std::size_t at) {
    out.rules[at] = from;
    auto added = out.replacement_count;
    out.rules[at].first_replacement = static_cast<std::uint32_t>(added);
    for (int i = 0; i < from.replacement_size; ++i) {
      auto& made = out.replacements[added++] = from.replacement[i];
      if (made.what == replacement_term::kind::rearranged) made.index = rearranged(from.rearrangements[made.index]);
    }
    out.replacement_count = added;
    if (from.stage + 1 > out.stages) out.stages = from.stage + 1;
  }

  constexpr void add_rule(lowered_rule const& rule, std::uint16_t number) {
    for (std::size_t i = 0; i < rule.parameter_name_count; ++i) name_map_[i] = parameter_name(rule.parameter_names[i]);
    for (std::size_t i = 0; i < rule.set_count; ++i) set_map_[i + 1] = set(rule.sets[i]);
    for (std::size_t i = 0; i < rule.rearrangement_count; ++i)
      rearrangement_map_[i] = rearranged(rule.rearrangements[i]);
    renumbered_ = rule.parameter_name_count != 0 || rule.set_count != 0 || rule.rearrangement_count != 0;
    first_condition_ = out.condition_count;
    for (std::size_t i = 0; i < rule.condition_count; ++i) {
      auto added = rule.conditions[i];
      added.rule = number;
      out.conditions[out.condition_count++] = added;
    }
    std::size_t const entries = rule.entry_count;
    for (std::size_t at = 0; at < entries;) {
      auto const first = rule.entries[at].first;
      auto last = at + 1;
      while (last < entries && rule.entries[last].first == first) ++last;
      insert(chain_of(rule, at, last), rule, first, last < entries ? rule.entries[last].first : rule.size, number);
      at = last;
    }
  }

  constexpr std::uint16_t parameter_name(static_text name) {
    for (std::size_t i = 0; i < out.parameter_name_count; ++i)
      if (out.parameter_names[i] == name) return static_cast<std::uint16_t>(i);
    if (out.parameter_name_count == Table::name_capacity) {
      out.overflow = true;
      return 0;
    }
    out.parameter_names[out.parameter_name_count] = name;
    return static_cast<std::uint16_t>(out.parameter_name_count++);
  }
  constexpr std::uint8_t set(through_set const& wanted) {
    for (std::size_t i = 0; i < out.set_count; ++i)
      if (out.sets[i] == wanted) return static_cast<std::uint8_t>(i + 1);
    if (out.set_count == Table::set_capacity) {
      out.overflow = true;
      return 0;
    }
    out.sets[out.set_count++] = wanted;
    return static_cast<std::uint8_t>(out.set_count);
  }

  constexpr std::uint16_t rearranged(rearrangement const& wanted) {
    for (std::size_t i = 0; i < out.rearrangement_count; ++i)
      if (out.rearrangements[i] == wanted) return static_cast<std::uint16_t>(i);
    if (out.rearrangement_count == Table::rearrangement_capacity) {
      out.overflow = true;
      return 0;
    }
    out.rearrangements[out.rearrangement_count] = wanted;
    return static_cast<std::uint16_t>(out.rearrangement_count++);
  }

  constexpr chain& chain_of(lowered_rule const& rule, std::size_t from, std::size_t to) {
    auto const tag = rule.entries[from].tag;
    for (std::size_t i = 0; i < chain_count_; ++i) {
      auto const c = chains_[i];
      if (c.tag != tag || c.stage != rule.stage || c.entries != to - from) continue;
      bool equal = true;
      for (std::size_t k = 0; equal && k < c.entries; ++k) {
        auto const x = out.entries[c.entry + k];
        auto const y = rule.entries[from + k];
        equal = x.tag == y.tag && x.by_name == y.by_name && x.strip == set_map_[y.strip];
      }
      if (equal) return chains_[i];
    }
    if (chain_count_ == rule_capacity) out.overflow = true;
    auto& c = chains_[chain_count_ == rule_capacity ? 0 : chain_count_++];
    c = {static_cast<std::uint16_t>(rule.stage), no_instruction, static_cast<std::uint16_t>(out.entry_count),
         static_cast<std::uint16_t>(to - from), tag};
    for (std::size_t k = from; k < to; ++k)
      out.entries[out.entry_count++] = {c.stage, rule.entries[k].tag, no_instruction, rule.entries[k].by_name,
                                        set_map_[rule.entries[k].strip]};
    return c;
  }

  constexpr void renumber(instruction& made) const {
    if (made.through != 0) made.through = set_map_[made.through];
    if (made.code == step::parameter || made.code == step::element) made.op = name_map_[made.op];
    if (made.code == step::rearranged) made.op = rearrangement_map_[made.op];
  }

  constexpr void insert(chain& root, lowered_rule const& rule, std::size_t at, std::size_t end, std::uint16_t number) {
    auto* where = &root.first;
    bool shared = true;
    while (shared && *where != no_instruction) {
      auto wanted = rule.code[at];
      if (renumbered_) renumber(wanted);
      bool const alone = wanted.code == step::fork || wanted.code == step::condition || wanted.code == step::accept;
      for (shared = false;;) {
        auto const place = *where;
        bool const branch = out.code[place].flags == trie_branch;
        if (!alone) {
          auto const one = branch ? out.code[place].next : place;
          auto const there = out.code[one];
          if (there.code == wanted.code && there.op == wanted.op && same(there, wanted)) {
            where = &out.code[one].next;
            shared = true;
            ++at;
            break;
          }
        }
        if (!branch) break;
        where = &out.code[place].other;
      }
    }
    auto to = out.size;
    if (!shared) {
      out.code[to] = {.code = step::fork, .next = *where, .flags = trie_branch};
      *where = static_cast<std::uint16_t>(to);
      where = &out.code[to++].other;
    }
    *where = static_cast<std::uint16_t>(to);
    bool const renumbered = renumbered_;
    while (at < end) {
      auto made = rule.code[at++];
      if (renumbered) renumber(made);
      auto const place = to++;
      made.next = static_cast<std::uint16_t>(to + made.next);
      if (made.code == step::fork) {
        made.other = static_cast<std::uint16_t>(to + made.other);
      } else if (made.code >= step::condition) {  // the last two steps
        if (made.code == step::condition) {
          made.op = static_cast<std::uint16_t>(first_condition_ + made.op);
        } else {
          made.op = number;
          made.next = no_instruction;
        }
      }
      out.code[place] = made;
    }
    out.size = to;
  }
  static constexpr std::uint8_t trie_branch = 128;

  constexpr void sort_entries() {
    for (std::size_t i = 0; i < chain_count_; ++i)
      for (std::size_t k = 0; k < chains_[i].entries; ++k) out.entries[chains_[i].entry + k].first = chains_[i].first;
    auto const before = [](program_entry const& x, program_entry const& y) {
      if (x.stage != y.stage) return x.stage < y.stage;
      if (x.by_name != y.by_name) return y.by_name;
      return x.tag < y.tag;
    };
    for (std::size_t i = 1; i < out.entry_count; ++i) {  // stable, and nearly sorted where rules share roots
      auto const moving = out.entries[i];
      std::size_t at = i;
      for (; at > 0 && before(moving, out.entries[at - 1]); --at) out.entries[at] = out.entries[at - 1];
      out.entries[at] = moving;
    }
  }
};

}  // namespace detail
}  // namespace fuse::inline v0

#pragma GCC diagnostic pop

namespace fuse::inline v0::detail {

template <class Program>
class basic_operator_needs {
 public:
  struct needs {
    std::uint64_t deep = 0, direct = 0, below = 0;
    std::uint64_t one_deep = 0, one_below = 0;  ///< 0: nothing must
    int parts = 0;                              ///< of a sum or product, at least so many
  };

  explicit basic_operator_needs(Program const& rules)
      : rules_(rules), first_(rules.code.size()), of_(rules.code.size()), waiting_(rules.code.size(), 0) {
    for (auto const& i : rules_.code) {
      if (i.next != no_instruction) ++waiting_[i.next];
      if (i.code == step::fork) ++waiting_[i.other];
    }
    std::vector<bool> known(rules_.code.size(), false);
    plain_vector<std::uint16_t> path;
    for (auto const& e : rules_.entries) {
      path.assign(1, e.first);
      while (!path.empty()) {  // what comes after, before
        auto const pc = path.back();
        auto const& i = rules_.code[pc];
        auto const waits = [&](std::uint16_t next) { return next != no_instruction && !known[next]; };
        if (!known[pc] && waits(i.next)) {
          path.push_back(i.next);
        } else if (!known[pc] && i.code == step::fork && waits(i.other)) {
          path.push_back(i.other);
        } else {
          if (!known[pc]) {
            of_[pc] = before(i);
            first_[pc] = find(of_[pc], i.a);
          }
          known[pc] = true;
          path.pop_back();
        }
      }
    }
  }

  [[nodiscard]] needs const& of(std::uint16_t pc) const { return first_[pc]; }

 private:
  struct wanted {
    std::uint16_t at;  // register, or frame_base and a frame
    needs what;
  };
  using state = plain_vector<wanted>;
  static constexpr std::uint16_t frame_base = 256;

  [[nodiscard]] static needs find(state const& in, std::uint16_t at) {
    for (auto const& w : in)
      if (w.at == at) return w.what;
    return {};
  }
  static void add(state& to, std::uint16_t at, needs const& more) {
    if ((more.deep | more.direct | more.below | more.one_deep | more.one_below) == 0 && more.parts == 0) return;
    for (auto& w : to)
      if (w.at == at) {
        w.what.deep |= more.deep;
        w.what.direct |= more.direct;
        w.what.below |= more.below;
        w.what.parts += more.parts;
        if (w.what.one_deep == 0) w.what.one_deep = more.one_deep;
        if (w.what.one_below == 0) w.what.one_below = more.one_below;
        return;
      }
    to.push_back({at, more});
  }
  static void add_part(state& to, std::uint8_t frame, needs more) {
    more.parts = 1;
    add(to, static_cast<std::uint16_t>(frame_base + frame), more);
  }
  [[nodiscard]] static needs all(std::uint64_t deep, std::uint64_t direct = 0) {
    return {deep | direct, direct, 0, std::bit_floor((deep | direct) & operator_bits), 0};
  }
  [[nodiscard]] static std::uint64_t either(std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 ? 0 : a | b; }
  static needs take(state& from, std::uint16_t at) {
    for (std::size_t k = 0; k < from.size(); ++k)
      if (from[k].at == at) {
        auto const found = from[k].what;
        from[k] = from.back();
        from.pop_back();
        return found;
      }
    return {};
  }
  [[nodiscard]] static std::uint64_t bit_of(std::uint16_t op) {
    auto const code = static_cast<opcode>(op);
    return info(code).group == op_group::none ? operator_bit(code) : 0;  // see operator_sets
  }

  static void below(needs& of, needs const& operand) {
    of.below |= operand.deep;
    if (of.one_below == 0) of.one_below = operand.one_deep;
  }

  [[nodiscard]] state after(std::uint16_t next) {
    if (next == no_instruction) return {};
    return --waiting_[next] == 0 ? std::move(of_[next]) : of_[next];
  }

  [[nodiscard]] state before(instruction const& i) {
    auto found = after(i.next);
    switch (i.code) {
      case step::fork:
        for (auto const others = after(i.other); auto& w : found) {
          auto const other = find(others, w.at);
          w.what = {w.what.deep & other.deep,
                    w.what.direct & other.direct,
                    w.what.below & other.below,
                    either(w.what.one_deep, other.one_deep),
                    either(w.what.one_below, other.one_below),
                    w.what.parts < other.parts ? w.what.parts : other.parts};
        }
        break;
      case step::operation:
      case step::exactly: {
        auto made = all(0, i.code == step::operation ? bit_of(i.op) : 0);
        for (std::uint32_t k = 0; k < (i.count & 0x7fu); ++k)
          below(made, take(found, static_cast<std::uint16_t>(i.b + k)));
        if (made.deep != 0) add(found, i.a, made);
        break;
      }
      case step::reduction: {
        auto made = all(0, bit_of(i.op));
        below(made, take(found, i.b));
        add(found, i.a, made);
        break;
      }
      case step::within: {
        auto const set = static_cast<std::uint64_t>(i.number);
        add(found, i.a, i.c == 0 ? all(set) : all(0, set));
        break;
      }
      case step::scalar: add(found, i.a, all(number_bit)); break;
      case step::number: add(found, i.a, all(constant_bit)); break;
      case step::group: {
        auto made = take(found, static_cast<std::uint16_t>(frame_base + i.b));
        if (static_cast<op_group>(i.op) == op_group::sum) {
          if ((made.direct & number_bit) != 0) made.direct ^= number_bit | added_number_bit;
          if (made.parts > 1) made.direct |= terms_bit;
        }
        made.parts = 0;
        add(found, i.a, made);
        break;
      }
      case step::scalar_member:
        if ((i.flags & instruction::optional) == 0) add_part(found, i.a, all(0, number_bit));
        break;
      case step::literal:
        if (i.number != 0) add_part(found, i.a, {});
        break;
      case step::member: {
        auto part = take(found, i.b);
        part.direct = 0;  // a sum among factors, a product among addends hides what is below it
        add_part(found, i.a, part);
        break;
      }
      case step::strip: add(found, i.a, take(found, i.b)); break;
      case step::rearranged: take(found, i.b); break;  // any operators may lie between
      case step::recall: take(found, i.a); break;
      case step::user: take(found, i.b); break;
      default: break;
    }
    return found;
  }

  Program const& rules_;
  plain_vector<needs> first_;  // per instruction
  std::vector<state> of_;
  plain_vector<std::uint16_t> waiting_;  // how many instructions need the state of one
};
using operator_needs = basic_operator_needs<program>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Program>
class basic_branch_lists {
 public:
  struct branch {
    std::uint64_t deep, direct, below;  // see operator_sets
    std::uint64_t one_deep, one_below;  // one of each of these, unless there are none
    std::uint16_t to;
    std::uint16_t after;  // the first step that is more than a test of these sets
    std::uint8_t at;      // register

    template <class Sets>
    [[nodiscard]] bool hopeless(Sets const& there) const {
      return ((deep & ~there.deep) | (direct & ~there.direct) | (below & ~there.below)) != 0;
    }
  };

  struct gate {
    std::uint64_t deep = everything, direct = everything, below = everything;
    std::uint64_t one_deep = 0, one_below = 0;

    [[nodiscard]] static gate open() { return {0, 0, 0, everything, everything}; }
    template <class Sets>
    [[nodiscard]] bool lets(Sets const& there) const {
      bool const all = ((deep & ~there.deep) | (direct & ~there.direct) | (below & ~there.below)) == 0;
      bool const one_deeper = (one_deep & (there.deep | no_operator)) != 0;
      return all & one_deeper & ((one_below & (there.below | no_operator)) != 0);  // one jump, not three
    }
    void widen(gate const& other) {
      deep &= other.deep;
      direct &= other.direct;
      below &= other.below;
      one_deep |= other.one_deep;
      one_below |= other.one_below;
    }
  };
  static constexpr std::uint64_t everything = ~std::uint64_t{0}, no_operator = std::uint64_t{1} << 63;

  [[nodiscard]] gate gate_of(std::uint16_t pc, std::uint8_t last) const {
    gate made;
    any(pc, [&](branch const& b) {
      bool const tells = b.at <= last;
      made.deep &= tells ? b.deep : 0;
      made.direct &= tells ? b.direct : 0;
      made.below &= tells ? b.below : 0;
      made.one_deep |= tells && b.one_deep != 0 ? b.one_deep : everything;
      made.one_below |= tells && b.one_below != 0 ? b.one_below : everything;
      return false;
    });
    return made;
  }

  [[nodiscard]] std::uint16_t only_branch(std::uint16_t pc) const {
    return lists_[pc].count == 1 ? branches_[lists_[pc].first].after : no_instruction;
  }

  explicit basic_branch_lists(Program const& rules) : rules_(rules) { list_branches(basic_operator_needs(rules)); }

  template <class There, class Enter>
  [[gnu::always_inline]] bool any(std::uint16_t pc, There const& there, Enter const& enter) const {
    auto const& all = lists_[pc];
    for (std::uint32_t from = 0; from < all.count; from += block_size)
      for (auto left = worth_a_look(all, from, there); left != 0; left &= left - 1) {
        auto const& b = branches_[all.first + from + static_cast<std::uint32_t>(std::countr_zero(left))];
        if ((all.questions != 0 || !b.hopeless(there(b.at))) && enter(b)) return true;
      }
    return false;
  }
  template <class Enter>
  bool any(std::uint16_t pc, Enter const& enter) const {
    auto const& all = lists_[pc];
    for (std::uint32_t k = 0; k < all.count; ++k)
      if (enter(branches_[all.first + k])) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t block_size = 64, few = 12;  // fewer branches than that are looked at one by one

  struct branch_list {
    std::uint32_t first = 0, count = 0, first_question = 0, questions = 0;
  };
  struct needed_bit {
    std::uint64_t branches;
    std::uint32_t bit;
  };
  struct question {
    std::uint64_t branches;
    std::uint32_t block, direct, deep, below, end;
    std::uint8_t at;
  };

  [[nodiscard]] static std::uint64_t first_bits(std::uint32_t count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  template <class There>
  [[nodiscard]] std::uint64_t worth_a_look(branch_list const& all, std::uint32_t from, There const& there) const {
    if (all.questions == 0) return first_bits(all.count - from);
    std::uint64_t found = 0;
    for (std::uint32_t k = 0; k < all.questions; ++k) {
      auto const& q = questions_[all.first_question + k];
      if (q.block != from) continue;
      auto const& sets = there(q.at);
      found |= q.branches & ~(lacking(q.direct, q.deep, sets.direct) | lacking(q.deep, q.below, sets.deep) |
                              lacking(q.below, q.end, sets.below));
    }
    return found;
  }
  [[nodiscard]] std::uint64_t lacking(std::uint32_t first, std::uint32_t last, std::uint64_t there) const {
    std::uint64_t found = 0;
    for (auto k = first; k < last; ++k) found |= needed_[k].branches & ((there >> needed_[k].bit & 1u) - 1);
    return found;
  }

  [[nodiscard]] branch branch_to(std::uint16_t pc, basic_operator_needs<Program> const& all) const {
    auto const at = rules_.code[pc].a;
    auto const& needed = all.of(pc);
    branch made{needed.deep, needed.direct, needed.below, needed.one_deep, needed.one_below, pc, pc, at};
    while (rules_.code[made.after].code == step::within && rules_.code[made.after].a == at)
      made.after = rules_.code[made.after].next;
    return made;
  }

  void list_branches(basic_operator_needs<Program> const& needs) {
    std::vector<bool> listed(rules_.code.size(), false);
    for (auto const& e : rules_.entries) listed[e.first] = true;
    for (auto const& i : rules_.code) {
      bool const asks = i.code == step::member || i.code == step::operation;
      if (i.code != step::fork && i.next != no_instruction && (asks || rules_.code[i.next].code == step::fork))
        listed[i.next] = true;
    }
    lists_.resize(rules_.code.size());
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc) {
      auto& list = lists_[pc];
      list.first = static_cast<std::uint32_t>(branches_.size());
      if (listed[pc]) append_branches(pc, needs);
      list.count = static_cast<std::uint32_t>(branches_.size()) - list.first;
      if (list.count > few) ask(list);
    }
  }

  void append_branches(std::uint16_t pc, basic_operator_needs<Program> const& needs) {
    while (pc != no_instruction && rules_.code[pc].code == step::fork) {
      append_branches(rules_.code[pc].next, needs);
      pc = rules_.code[pc].other;
    }
    if (pc != no_instruction) branches_.push_back(branch_to(pc, needs));
  }

  void ask(branch_list& list) {
    list.first_question = static_cast<std::uint32_t>(questions_.size());
    for (std::uint32_t from = 0; from < list.count; from += block_size) {
      auto const* first = branches_.data() + list.first + from;
      auto const count = list.count - from < block_size ? list.count - from : block_size;
      std::uint64_t asked = 0;
      for (std::uint32_t k = 0; k < count; ++k)
        if ((asked >> k & 1u) == 0) asked |= ask_at(first[k].at, first, count, from);
    }
    list.questions = static_cast<std::uint32_t>(questions_.size()) - list.first_question;
  }

  std::uint64_t ask_at(std::uint8_t at, branch const* first, std::uint32_t count, std::uint32_t block) {
    question q{0, block, 0, 0, 0, 0, at};
    for (std::uint32_t k = 0; k < count; ++k)
      if (first[k].at == at) q.branches |= std::uint64_t{1} << k;
    auto const list = [&](auto const& needs) {
      auto const begin = static_cast<std::uint32_t>(needed_.size());
      std::uint64_t bits = 0;
      for (std::uint32_t k = 0; k < count; ++k) bits |= first[k].at == at ? needs(first[k]) : 0;
      for (; bits != 0; bits &= bits - 1) {
        needed_bit by{0, static_cast<std::uint32_t>(std::countr_zero(bits))};
        for (std::uint32_t k = 0; k < count; ++k)
          if (first[k].at == at) by.branches |= (needs(first[k]) >> by.bit & 1u) << k;
        needed_.push_back(by);
      }
      return begin;
    };
    q.direct = list([](branch const& b) { return b.direct; });
    q.deep = list([](branch const& b) { return b.deep & ~b.direct; });
    q.below = list([](branch const& b) { return b.below; });
    q.end = static_cast<std::uint32_t>(needed_.size());
    questions_.push_back(q);
    return q.branches;
  }

  Program const& rules_;
  plain_vector<branch> branches_;
  plain_vector<branch_list> lists_;  // per instruction
  plain_vector<question> questions_;
  plain_vector<needed_bit> needed_;
};
using branch_lists = basic_branch_lists<program>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

enum class opens_with : std::uint8_t {
  none,
  any,
  whole,      ///< (a b)^w is a^w b^w for negative a and b, too
  one_over,   ///< a whole one; and any other, where operand 0 is the number 1, which is then no part
  unit,       ///< 1 or -1: what is below a root may not be negative
  power,      ///< operand 1 is the number e: both are whole, or the weight is 1 or -1; for 1 / a, half of a whole one
  scaled,     ///< any, where it is a product of one value, once, and of numbers: these are no parts, but a coefficient
  alike,      ///< a whole one, where what is added is the same, but for coefficients: a number, and that
  squared,    ///< any: it is never negative, and the part is its own square
  logarithm,  ///< where operand 0 is a number times a logarithm and the power of what that is of is not whole
};

enum class opens_integers : std::uint8_t {
  no,
  yes,
  quotient,  ///< where the pattern is one quotient, as integers divide otherwise
  power,     ///< a positive whole one
};

struct opening {
  opcode op = opcode::opaque;
  op_group kind = op_group::none;
  opens_with when = opens_with::none;
  double first = 1, further = 0;
  opens_integers integers = opens_integers::no;
  bool negates = false;  ///< it is minus the product, where its weight is odd
};

inline constexpr opening openings[] = {
    {opcode::add,        op_group::sum,     opens_with::any,        1,    1, opens_integers::yes},
    {opcode::add,        op_group::product, opens_with::alike,      1,    1, opens_integers::yes},
    {opcode::sum_of,     op_group::sum,     opens_with::any,        1,    1, opens_integers::yes},
    {opcode::sum_of,     op_group::product, opens_with::alike,      1,    1, opens_integers::yes},
    {opcode::sub,        op_group::sum,     opens_with::any,        1,   -1, opens_integers::yes},
    {opcode::sub,        op_group::product, opens_with::alike,      1,   -1, opens_integers::yes},
    {opcode::neg,        op_group::sum,     opens_with::any,       -1,    0, opens_integers::yes},
    {opcode::neg,        op_group::product, opens_with::whole,      1,    0, opens_integers::yes, true},
    {opcode::mul,        op_group::product, opens_with::whole,      1,    1, opens_integers::yes},
    {opcode::mul,        op_group::sum,     opens_with::scaled,     1,    1, opens_integers::yes},
    {opcode::div,        op_group::product, opens_with::one_over,   1,   -1, opens_integers::quotient},
    {opcode::div,        op_group::sum,     opens_with::scaled,     1,   -1},
    {opcode::reciprocal, op_group::product, opens_with::any,       -1},
    {opcode::square,     op_group::product, opens_with::whole,      2,    0, opens_integers::yes},
    {opcode::sqrt,       op_group::product, opens_with::unit,       0.5},
    {opcode::rsqrt,      op_group::product, opens_with::unit,      -0.5},
    {opcode::pow,        op_group::product, opens_with::power,      1,    0, opens_integers::power},
    {opcode::exp,        op_group::product, opens_with::logarithm},
    {opcode::l2_norm,    op_group::product, opens_with::squared,    0.5},
};

namespace detail {

struct openings_by_operator {
  opening of[2][static_cast<std::size_t>(opcode::count_)];
};
inline constexpr openings_by_operator known_openings = [] {
  openings_by_operator made{};
  for (auto const& each : openings) made.of[each.kind == op_group::product][static_cast<std::size_t>(each.op)] = each;
  return made;
}();

}  // namespace detail

[[nodiscard]] constexpr opening const& opening_of(opcode op, op_group kind) {
  return detail::known_openings.of[kind == op_group::product][static_cast<std::size_t>(op)];
}

struct summing {
  opcode op = opcode::opaque;
  int of = 0;        ///< the power of the elements; 0: it is none
  double power = 1;  ///< of the sum
  bool divided = false;
};

inline constexpr summing summings[] = {
    {opcode::sum, 1},
    {opcode::mean, 1, 1, true},
    {opcode::average_pool, 1, 1, true},  // over axes that its windows cover
    {opcode::sum_square, 2},
    {opcode::l2_norm, 2, 0.5},
};

[[nodiscard]] constexpr summing summing_of(opcode op) {
  for (auto const& each : summings)
    if (each.op == op) return each;
  return {};
}

[[nodiscard]] constexpr bool is_summing_of_others(opcode op) { return op == opcode::sum || op == opcode::mean; }

[[nodiscard]] constexpr std::uint32_t operands_added_up(opcode op, std::uint32_t count) {
  auto const first = [&](std::uint32_t terms) { return terms < count ? terms : count; };
  switch (op) {
    case opcode::reduce_max:
    case opcode::reduce_min:
    case opcode::arg_max:
    case opcode::arg_min:
    case opcode::max_pool:
    case opcode::global_max_pool:
    case opcode::resize:
    case opcode::neg: return 0;
    case opcode::attention: return first(3);
    case opcode::einsum: return count;
    default: break;
  }
  switch (info(op).kind) {
    case op_kind::reduction: return first(1);
    case op_kind::anchor: return first(2);
    default: return info(op).group == op_group::sum ? count : 0;
  }
}

[[nodiscard]] constexpr bool is_whole_weight(double w) {
  return w > -0x1p31 && w < 0x1p31 && static_cast<double>(static_cast<std::int64_t>(w)) == w;
}

[[nodiscard]] constexpr bool allows(opens_with when, double w, double exponent = 1) {
  bool const unit = w == 1 || w == -1;
  switch (when) {
    case opens_with::none: return false;
    case opens_with::any:
    case opens_with::squared:
    case opens_with::scaled: return true;
    case opens_with::whole:
    case opens_with::alike:
    case opens_with::one_over: return is_whole_weight(w);
    case opens_with::unit: return unit;
    case opens_with::logarithm: return !is_whole_weight(w * exponent);
    case opens_with::power:
      if (exponent == -1) return unit || is_whole_weight(2 * w);
      return exponent != 0 && exponent - exponent == 0 && (unit || (is_whole_weight(w) && is_whole_weight(exponent)));
  }
  return false;
}

[[nodiscard]] constexpr bool allows(opens_integers when, bool quotient, double exponent) {
  switch (when) {
    case opens_integers::no: return false;
    case opens_integers::yes: return true;
    case opens_integers::quotient: return quotient;
    case opens_integers::power: return exponent > 0 && is_whole_weight(exponent);
  }
  return false;
}

[[nodiscard]] constexpr bool is_spelling(opcode op) {
  return opening_of(op, op_group::sum).when != opens_with::none ||
         opening_of(op, op_group::product).when != opens_with::none || summing_of(op).of != 0;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Program>
struct basic_entrance {
  typename basic_branch_lists<Program>::gate gate;
  std::uint16_t stage, first, only;  ///< where there is one branch, the step that its gate leads to
  std::uint8_t strip;
  bool looks_ahead;  ///< that step is the operator at the root

  [[nodiscard]] static basic_entrance open(program_entry const& e) {
    return {basic_branch_lists<Program>::gate::open(), e.stage, e.first, no_instruction, e.strip, false};
  }
};

template <class Program>
class basic_entrances {
 public:
  struct range {
    typename basic_branch_lists<Program>::gate gate{};  ///< lets through what one of theirs does
    std::uint16_t first = 0, last = 0;
    bool named = false;  ///< nodes of this operator may have a name that rules begin with
  };

  basic_entrances(Program const& rules, basic_branch_lists<Program> const& branches, dialect const& names)
      : ranges_((static_cast<std::size_t>(rules.stages) + 1) * operators) {
    for (std::size_t op = 0; op < operators; ++op)
      for (auto const& e : rules.entries)
        if (begins(e, op)) add(op, e, rules, branches);
    for (auto const& e : rules.entries)
      if (e.by_name) add_name(e.tag, names, rules.stages);
  }

  [[nodiscard]] range const& of(int stage, std::size_t op) const {
    return ranges_[static_cast<std::size_t>(stage) * operators + op];
  }
  [[nodiscard]] basic_entrance<Program> const& operator[](std::uint16_t at) const { return entrances_[at]; }
  [[nodiscard]] bool has_name(std::uint16_t name) const { return name < names_.size() && names_[name]; }

 private:
  static constexpr std::size_t operators = static_cast<std::size_t>(opcode::count_);

  [[nodiscard]] static bool begins(program_entry const& e, std::size_t op) {
    auto const root = static_cast<opcode>(op);
    auto const& how = opening_of(root, op_group::product);
    bool const product =
        how.when == opens_with::whole || how.when == opens_with::one_over || how.when == opens_with::power;
    bool const reads =
        is_summing_of_others(static_cast<opcode>(e.tag)) && (summing_of(root).of != 0 || (product && !how.negates));
    return !e.by_name && (e.tag == op || reads);
  }

  void add(std::size_t op, program_entry const& e, Program const& rules, basic_branch_lists<Program> const& branches) {
    entrances_.push_back(e.strip != 0 ? basic_entrance<Program>::open(e) : gated(e, rules, branches));
    for (auto stage : {std::size_t{e.stage}, static_cast<std::size_t>(rules.stages)}) {
      auto& of = ranges_[stage * operators + op];
      of.gate.widen(entrances_.back().gate);
      if (of.last == 0) of.first = static_cast<std::uint16_t>(entrances_.size() - 1);
      of.last = static_cast<std::uint16_t>(entrances_.size());
    }
  }

  [[nodiscard]] static basic_entrance<Program> gated(program_entry const& e, Program const& rules,
                                                     basic_branch_lists<Program> const& branches) {
    auto const only = branches.only_branch(e.first);
    bool const operation =
        only != no_instruction && rules.code[only].code == step::operation && rules.code[only].through == 0;
    return {branches.gate_of(e.first, 1), e.stage, e.first, only, e.strip, operation};
  }

  void add_name(std::uint16_t name, dialect const& names, int stages) {
    if (names_.size() <= name) names_.resize(name + std::size_t{1}, false);
    names_[name] = true;
    auto const mark = [&](opcode op) {
      for (int stage = 0; stage <= stages; ++stage)
        ranges_[static_cast<std::size_t>(stage) * operators + static_cast<std::size_t>(op)].named = true;
    };
    mark(opcode::opaque);
    auto const& first = names.rows[name - 1u];
    for (std::size_t k = 0; k <= first.more; ++k) mark((&first)[k].op);
  }

  plain_vector<range> ranges_;  // by stage and operator
  plain_vector<basic_entrance<Program>> entrances_;
  std::vector<bool> names_;  // by name code
};
using entrance = basic_entrance<program>;
using entrances = basic_entrances<program>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Program>
class basic_frame_needs {
 public:
  struct needs {
    std::uint64_t deep = 0, direct = 0;  ///< see operator_sets
    template <class Sets>
    [[nodiscard]] bool lack(Sets const& there, op_group kind) const {
      constexpr auto both = sum_bit | product_bit;
      bool const other = kind == op_group::sum && (there.direct & both) == both;
      return ((there.deep & deep) | (there.direct & direct)) == 0 && !other;
    }
    friend bool operator==(needs const&, needs const&) = default;
  };
  static constexpr needs all{~std::uint64_t{0}, ~std::uint64_t{0}};  ///< every part may have to be opened

  basic_frame_needs(Program const& rules, branch_lists const& branches) : rules_(rules), of_(rules.code.size()) {
    finder find(rules, branches);
    for (std::uint16_t pc = 0; pc < rules.code.size(); ++pc)
      if (rules.code[pc].code == step::group) of_[pc] = find.wanted(pc);
  }

  [[nodiscard]] needs const& of(instruction const& i) const {
    return of_[static_cast<std::size_t>(&i - rules_.code.data())];
  }

 private:
  class finder {
   public:
    finder(Program const& rules, branch_lists const& branches)
        : rules_(rules), branches_(branches), seen_(rules.code.size(), false), captures_(rules.code.size()) {}

    [[nodiscard]] needs wanted(std::uint16_t group) {
      auto const frame = rules_.code[group].b;
      needs found{};
      for (auto pc : reached_) seen_[pc] = false;
      reached_.clear();
      waiting_.assign(1, rules_.code[group].next);
      while (!waiting_.empty()) {
        auto const pc = waiting_.back();
        waiting_.pop_back();
        if (pc == no_instruction || seen_[pc]) continue;
        seen_[pc] = true;
        reached_.push_back(pc);
        auto const& i = rules_.code[pc];
        if (i.code == step::fork) {
          waiting_.push_back(i.other);
        } else if (i.code == step::scalar_member || i.code == step::literal || i.code == step::rest) {
          if (i.a == frame) return all;
        } else if (i.code == step::member && i.a == frame && (i.flags & instruction::captures) == 0) {
          bool tells = true;
          branches_.any(i.next, [&](auto const& b) {
            auto const operators = b.direct & operator_bits, deep = b.deep & operator_bits;
            auto const& first = rules_.code[b.after];
            bool const hidden =
                (b.direct & (sum_bit | product_bit)) != 0 || (first.code == step::group && first.a == b.at);
            tells = tells && b.at == i.b && (deep | operators) != 0;
            (hidden || operators == 0 ? found.deep : found.direct) |= operators | (operators == 0 ? deep : 0);
            return false;
          });
          if (!tells) return all;
        }
        if (!(i.code == step::close && i.a == frame)) waiting_.push_back(i.next);
      }
      return most_captures(group, frame) > 1 ? all : found;
    }

   private:
    [[nodiscard]] int most_captures(std::uint16_t group, std::uint8_t frame) {
      for (auto pc : reached_) captures_[pc] = unknown;
      auto& path = path_;
      path.assign(1, rules_.code[group].next);
      auto const known = [&](std::uint16_t pc) { return pc == no_instruction || captures_[pc] >= 0; };
      auto const at = [&](std::uint16_t pc) { return pc == no_instruction ? 0 : captures_[pc]; };
      while (!path.empty()) {
        auto const pc = path.back();
        auto const& i = rules_.code[pc];
        bool const last = i.code == step::close && i.a == frame, forks = i.code == step::fork;
        if (!last && !known(i.next)) {
          path.push_back(i.next);
        } else if (forks && !known(i.other)) {
          path.push_back(i.other);
        } else {
          auto const after = last ? 0 : forks && at(i.other) > at(i.next) ? at(i.other) : at(i.next);
          bool const takes = i.code == step::member && i.a == frame && (i.flags & instruction::captures) != 0;
          captures_[pc] = after + (takes ? (i.number == 1 || i.number == -1 ? 1 : 2) : 0);  // squared: taken twice
          path.pop_back();
        }
      }
      return at(rules_.code[group].next);
    }
    static constexpr int unknown = -1;

    Program const& rules_;
    branch_lists const& branches_;
    std::vector<bool> seen_;
    plain_vector<int> captures_;
    plain_vector<std::uint16_t> waiting_, reached_, path_;
  };

  Program const& rules_;
  plain_vector<needs> of_;  // per instruction
};
using frame_needs = basic_frame_needs<program>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_operator_sets {
 public:
  struct sets {
    std::uint64_t deep, direct, below;

    [[nodiscard]] bool has(sets const& other) const {
      return ((other.deep & ~deep) | (other.direct & ~direct) | (other.below & ~below)) == 0;
    }
    void add(sets const& other) {
      deep |= other.deep;
      direct |= other.direct;
      below |= other.below;
    }
  };

  static constexpr value_id of_anything = absent - 1;
  static constexpr sets all{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};

  basic_operator_sets(program const& rules, Image const& image, facts const& known)
      : image_(image), facts_(known), meanings_(static_cast<std::size_t>(opcode::count_)) {
    for (std::size_t op = 0; op < meanings_.size(); ++op) meanings_[op] = meaning_of(static_cast<opcode>(op));
    for (auto const& set : rules.sets) {
      auto& bits = through_bits_.emplace_back();
      if (set.has_identity()) bits = operator_bit(opcode::cast);  // to the same type, it is one
      for (std::size_t i = 0; i < set.count; ++i) {
        bits |= set.by_name[i] ? ~std::uint64_t{0} : operator_bit(static_cast<opcode>(set.ops[i]));
        if (!set.by_name[i]) {
          meanings_[set.ops[i]].transparent = true;
          continue;
        }
        if (transparent_names_.size() <= set.ops[i]) transparent_names_.resize(set.ops[i] + std::size_t{1}, false);
        transparent_names_[set.ops[i]] = true;
      }
    }
    for (auto const& i : rules.code)
      if (i.code == step::group) {
        clips_ = clips_ || (i.flags & instruction::clips) != 0;
        opens_ = true;
      }
    update();
  }

  void tell(bool tells) {
    tells_ = tells;
    size_ = tells ? of_.size() : 0;
  }

  [[nodiscard]] sets const& operator[](value_id v) const { return v < size_ ? of_[v] : v == absent ? none_ : all; }

  [[nodiscard]] std::uint64_t openers(op_group kind, std::uint8_t through) const {
    return (kind == op_group::sum ? sum_bit : product_bit) | (through == 0 ? 0 : through_bits_[through - 1u]);
  }

  [[nodiscard]] bool has_reduction_below(value_id v) const { return v < of_.size() && (of_[v].deep & reductions) != 0; }

  [[gnu::always_inline]] void expect_before(value_id v) const {
    if (v >= Image::ahead && v < size_) __builtin_prefetch(of_.data() + (v - Image::ahead));
  }

  void update() {
    of_.reserve(image_.value_count() + image_.value_count() / 8);  // growing would copy all at the first new node
    take_in_leaves(0);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) find(n);
  }
  void update(node_id changed) {
    take_in_leaves(of_.size());
    waiting_.push_back(changed);
    while (!waiting_.empty()) {
      auto const n = waiting_.back();
      waiting_.pop_back();
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const v = image_.result(n, i);
        auto const before = of_[v];
        find(n, v);
        bool const multiple = opens_ && (n == changed || is_multiple(v));
        if (multiple || !before.has(of_[v])) image_.for_each_user(v, [&](node_id user) { waiting_.push_back(user); });
        if (n != changed) of_[v].add(before);
      }
    }
  }

  void add(node_id made) {
    take_in_leaves(of_.size());
    find(made);
  }

 private:
  void find(node_id n) {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) find(n, image_.result(n, i));
  }
  void take_in_leaves(std::size_t from) {
    if (image_.value_count() - of_.size() == 1)
      of_.push_back(none_);  // resizing takes ten times as long
    else
      of_.resize(image_.value_count(), none_);
    tell(tells_);
    for (auto v = static_cast<value_id>(from); v < of_.size(); ++v)
      if (image_.producer(v) == absent) of_[v] = constant_at(v);
  }
  [[nodiscard]] sets constant_at(value_id v) const {
    auto const bits = facts_.is_uniform(v)       ? number_bit | added_number_bit | constant_bit
                      : image_.value(v).constant ? constant_bit
                                                 : 0;
    return {bits, bits, 0};
  }

  [[nodiscard]] sets const& of(value_id v) const { return v < of_.size() ? of_[v] : v == absent ? none_ : all; }

  struct meaning {
    std::uint64_t bits = 0, below = 0;
    std::uint64_t kinds = 0;   // of a sum or product: the bits of its kinds
    std::uint64_t scaled = 0;  // ... and the one that it has where it multiplies by a number
    std::uint64_t alike = 0;   // ... and where its terms are alike
    bool transparent = false, layout = false, power = false, logarithm = false;
  };
  [[nodiscard]] static meaning meaning_of(opcode op) {
    meaning of;
    auto const sums = summing_of(op);
    bool const squares = sums.of == 2;
    of.layout = may_keep_elements(op) && op != opcode::identity && op != opcode::cast;
    of.transparent = squares || (may_keep_elements(op) && (info(op).kind != op_kind::broadcast || op == opcode::where));
    if (info(op).group == op_group::none) {
      of.bits = operator_bit(op) | (sums.of != 0 ? sum_and_mean : 0);  // with a number, it may be the other
      if (squares) of.bits |= of.below = product_bit;
      if (sums.power != 1) of.bits |= root_bit;
    }
    auto const add = [&](opening const& how, std::uint64_t kind) {
      switch (how.when) {
        case opens_with::none:
        case opens_with::squared: return;
        case opens_with::scaled: of.scaled = kind; return;
        case opens_with::alike: of.alike = kind; return;
        case opens_with::logarithm: of.logarithm = true; return;
        case opens_with::unit: of.bits |= root_bit; break;
        case opens_with::power: of.power = true; break;
        default: break;
      }
      of.kinds |= kind;
      if (kind == sum_bit && how.further != 0) of.kinds |= terms_bit;
    };
    add(opening_of(op, op_group::sum), sum_bit);
    add(opening_of(op, op_group::product), product_bit);
    return of;
  }

  void find(node_id n, value_id v) {
    auto const& means = meanings_[image_.node(n).tag.op];
    if (means.kinds == 0)
      find_operator(n, means, of_[v]);
    else
      find_group(n, means, of_[v]);
    if (auto const constant = constant_at(v); constant.deep != 0) of_[v].add(constant);
  }
  void find_operator(node_id n, meaning const& means, sets& into) const {
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    sets found{means.bits, means.bits, means.below};
    for (std::uint32_t i = 0; i < record.operand_count; ++i) found.below |= of(image_.operand(n, i)).deep;
    bool const alone = record.operand_count == 1 && may_keep_elements(op);
    if (means.transparent || alone || has_transparent_name(record.tag)) found.add(of(kept_operand(image_, facts_, n)));
    if (means.layout && (alone || means.transparent)) found.direct |= sum_bit | product_bit;  // it may be opened
    if (means.logarithm && record.operand_count == 1 && opens_ && may_be_logarithm(image_.operand(n, 0))) {
      auto const& inside = of(image_.operand(n, 0));
      auto const there = inside.deep | inside.below | product_bit | root_bit;  // whatever it is of
      found.add({there, there & ~(sum_bit | terms_bit), inside.below});
    }
    if (clips_ && may_clip(op))
      if (auto const whole = positive_part_of(image_, facts_, n); whole != absent)
        found.add(of(whole)), found.direct |= sum_bit;
    into = found;
  }
  void find_group(node_id n, meaning const& means, sets& into) const {
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    sets found{means.bits, means.bits, means.below};
    if (op == opcode::sum_of && record.operand_count == 1) {  // whatever it adds, which may be opened below it
      found.add(of(image_.operand(n, 0)));
      found.add({sum_bit | operator_bit(op), sum_bit | product_bit | operator_bit(op), 0});
      into = found;
      return;
    }
    auto kinds = means.kinds;
    double number = 0.5;
    if (means.power &&
        (record.operand_count < 2 || !facts_.uniform(image_.operand(n, 1), number) || !math::is_whole(number)))
      found.deep = found.direct = root_bit;
    auto const scales = [&](std::uint32_t i) { return means.scaled != 0 && facts_.is_uniform(image_.operand(n, i)); };
    for (std::uint32_t i = 0; i < record.operand_count; ++i)
      if (scales(i)) kinds |= means.scaled;
    if (means.alike != 0 && opens_ && may_be_alike(n)) kinds |= means.alike;
    bool const inverts = op == opcode::reciprocal || (means.power && number == -1);
    for (std::uint32_t i = 0; i < record.operand_count; ++i) {
      auto const& inside = of(image_.operand(n, i));
      found.deep |= inside.deep;
      found.below |= inside.below;
      auto const other = inside.direct & (sum_bit | product_bit);
      if (other == 0 || (other & kinds) != 0 || inverts)
        found.direct |= inside.direct & ~(sum_bit | product_bit | (scales(i) ? added_number_bit : 0));
      else {  // a number, or a sum times one, is one part, however it is computed
        if ((other & product_bit) != 0) found.direct |= inside.direct & sum_and_mean;
        auto const producer = image_.producer(image_.operand(n, i));
        if (producer != absent && info(op_of(image_, producer)).group == op_group::none)
          found.direct |= operator_bit(op_of(image_, producer));
        if ((inside.direct & number_bit) != 0) found.add(constant_at(image_.operand(n, i)));
      }
    }
    found.direct |= kinds;
    found.deep |= kinds;
    into = found;
  }
  [[nodiscard]] bool may_pass_on(node_id n) const {
    switch (op_of(image_, n)) {
      case opcode::mean_of:
      case opcode::sum_of:
      case opcode::maximum:
      case opcode::minimum: return image_.operand_count(n) == 1;
      default: return may_keep_elements(op_of(image_, n));
    }
  }
  [[nodiscard]] bool is_multiple(value_id v) const {
    auto const n = image_.producer(v);
    constexpr auto both = sum_bit | product_bit;
    return n != absent && info(op_of(image_, n)).group != op_group::none && (of(v).direct & both) == both;
  }
  [[nodiscard]] value_id term_below(value_id v) const {
    for (int i = 0; i < 8; ++i) {
      auto const n = v == absent ? absent : image_.producer(v);
      if (n != absent && may_pass_on(n)) return of_anything;
      if (n == absent || !is_multiple(v)) return v;
      bool const second = image_.operand_count(n) > 1 && facts_.is_uniform(image_.operand(n, 0));
      if (second && op_of(image_, n) == opcode::div) return of_anything;
      v = image_.operand(n, second ? 1 : 0);
    }
    return of_anything;
  }
  [[nodiscard]] bool may_be_logarithm(value_id v) const {
    auto const term = term_below(v);
    if (term == of_anything) return (of(v).deep & operator_bit(opcode::log)) != 0;
    auto const n = term == absent ? absent : image_.producer(term);
    return n != absent && op_of(image_, n) == opcode::log;
  }
  [[nodiscard]] bool may_be_alike(node_id n) const {
    if (image_.operand_count(n) < 2) return false;
    auto const first = term_below(image_.operand(n, 0));
    if (first == absent) return false;
    for (std::uint32_t i = 1; i < image_.operand_count(n); ++i) {
      auto const other = term_below(image_.operand(n, i));
      if (other == first || first == of_anything || other == of_anything) continue;
      auto const a = image_.producer(first), b = other == absent ? absent : image_.producer(other);
      if (a == absent || b == absent || image_.node(a).tag.name != image_.node(b).tag.name ||
          opening_of(op_of(image_, a), op_group::sum).when == opens_with::any)
        return false;
    }
    return true;
  }
  [[nodiscard]] bool has_transparent_name(operator_tag tag) const {
    return tag.name < transparent_names_.size() && transparent_names_[tag.name];
  }

  static constexpr std::uint64_t reductions = [] {
    std::uint64_t all = 0;
    for (auto const& known : operator_table)
      if (known.shape == shape_function::reduce) all |= operator_bit(known.op);
    return all;
  }();
  static constexpr std::uint64_t sum_and_mean = operator_bit(opcode::sum) | operator_bit(opcode::mean);
  static constexpr sets none_{0, 0, 0};
  Image const& image_;
  facts const& facts_;
  plain_vector<meaning> meanings_;  // by opcode
  std::vector<bool> transparent_names_;
  plain_vector<std::uint64_t> through_bits_;  // by set of operators to look through
  plain_vector<sets> of_;
  std::size_t size_ = 0;  // a vector would divide
  bool tells_ = true;
  bool clips_ = false;  // rules look for clipped sums
  bool opens_ = false;  // ... or for any sum or product
  plain_vector<node_id> waiting_;
};
using operator_sets = basic_operator_sets<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Program>
struct basic_filter_tables {
  Program const rules;
  basic_branch_lists<Program> const branches;
  basic_frame_needs<Program> const needs;
  basic_entrances<Program> const begins;

  basic_filter_tables(Program const& of, dialect const& names);
  basic_filter_tables(basic_filter_tables const&) = delete;
  basic_filter_tables& operator=(basic_filter_tables const&) = delete;
};
using filter_tables = basic_filter_tables<program>;

template <class Program>
basic_filter_tables<Program>::basic_filter_tables(Program const& of, dialect const& names)
    : rules(of), branches(rules), needs(rules, branches), begins(rules, branches, names) {}

#ifdef FUSE_REWRITE_SEPARATE
extern template struct basic_filter_tables<program>;
#endif

template <class Image>
class basic_filter {
 public:
  using entrance = detail::entrance;

  basic_filter(filter_tables const& of, Image const& image, facts const& known)
      : rules_(of.rules),
        branches_(of.branches),
        needs_(of.needs),
        entrances_(of.begins),
        image_(image),
        sets_(of.rules, image, known) {}
  basic_filter(basic_filter const&) = delete;
  basic_filter& operator=(basic_filter const&) = delete;

  [[nodiscard]] bool is_on() const { return on_; }
  void turn(bool on) {
    on_ = on;
    sets_.tell(on);
  }

  void update() { sets_.update(); }
  void update(node_id n) { sets_.update(n); }
  void add(node_id made) { sets_.add(made); }

  [[nodiscard]] operator_sets const& sets() const { return sets_; }

  [[nodiscard]] bool may_match(node_id n, int stage) const {
    auto const& of = entrances_at(n, stage);
    return of.gate.lets(sets_[image_.result(n)]) | of.named;  // no jump
  }
  [[nodiscard]] entrances::range const& entrances_at(node_id n, int stage) const {
    return entrances_of(static_cast<opcode>(image_.node(n).tag.op), stage);
  }
  [[nodiscard]] entrances::range const& entrances_of(opcode op, int stage) const {
    return entrances_.of(stage, static_cast<std::size_t>(op));
  }
  [[nodiscard]] bool has_name(node_id n) const { return entrances_.has_name(image_.node(n).tag.name); }

  template <class Enter>
  bool any_entrance(node_id n, int stage, Enter const& enter) const {
    auto const there = sets_[image_.result(n)];  // copies: accepting adds nodes
    auto const name = has_name(n) ? image_.node(n).tag.name : 0;
    auto const& of = entrances_at(n, stage);
    for (auto i = of.first; i < of.last; ++i)
      if (auto const& e = entrances_[i]; e.gate.lets(there) && enter(e)) return true;
    for (auto const& e : name != 0 && stage != rules_.stages ? rules_.entries : span<program_entry const>())
      if (e.stage == stage && e.by_name && e.tag == name && enter(entrance::open(e))) return true;
    return false;
  }

  template <class Look>
  void for_each_hopeful(Look const& look) const {
    for (auto end = image_.node_count(); end != 0;) {
      auto const first = end > 64 ? end - 64 : 0;
      std::uint64_t hopeful = 0;
      for (auto n = end; n-- > first;) {
        expect_before(n);
        hopeful = hopeful << 1 | std::uint64_t{may_match(n, rules_.stages)};
      }
      for (; hopeful != 0; hopeful ^= std::bit_floor(hopeful))
        look(first + static_cast<node_id>(std::bit_width(hopeful) - 1));
      end = first;
    }
  }
  [[gnu::always_inline]] void expect_before(node_id n) const {
    image_.expect_before(n);
    sets_.expect_before(image_.result(n));
  }

  template <class Value, class GoOn>
  [[gnu::always_inline]] bool branches(std::uint16_t pc, Value const& value, GoOn const& go_on) const {
    if (!on_) return branches_.any(pc, [&](auto const& b) { return go_on(b.to); });
    return branches_.any(
        pc, [&](std::uint8_t at) -> auto const& { return sets_[value(at)]; },
        [&](auto const& b) { return go_on(b.after); });
  }
  template <class Value, class GoOn>
  bool branches(entrance const& e, Value const& value, GoOn const& go_on) const {
    return on_ && e.only != no_instruction ? go_on(e.only) : branches(e.first, value, go_on);
  }

  [[nodiscard]] bool leads_on(node_id n, entrance const& e) const {
    if (!e.looks_ahead || !on_) return true;
    auto const& i = rules_.code[e.only];
    auto const sets = [&](std::size_t k) -> auto const& {
      if (k >= (i.count & 0x7fu)) return operator_sets::all;
      return sets_[k < image_.operand_count(n) ? image_.operand(n, static_cast<std::uint32_t>(k)) : absent];
    };
    auto const found = [](auto const&) { return true; };
    if (branches_.any(
            i.next, [&](std::uint8_t at) -> auto const& { return sets(at - std::size_t{i.b}); }, found))
      return true;
    return (i.flags & instruction::commutes) != 0 &&
           branches_.any(
               i.next, [&](std::uint8_t at) -> auto const& { return sets((at - std::size_t{i.b}) ^ 1u); }, found);
  }

  [[nodiscard]] bool has_below(instruction const& i, value_id v) const {
    auto const& there = sets_[v];
    return (static_cast<std::uint64_t>(i.number) & ~(i.c == 0 ? there.deep : there.direct)) == 0;
  }

  [[nodiscard]] frame_needs::needs const& sought(instruction const& i) const {
    return on_ ? needs_.of(i) : frame_needs::all;
  }

 private:
  program const& rules_;
  branch_lists const& branches_;
  frame_needs const& needs_;
  entrances const& entrances_;
  Image const& image_;
  operator_sets sets_;
  bool on_ = true;
};
using filter = basic_filter<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline bool is_of_integers(fact_table const& known, value_id v) {
  return v != absent && is_integer(known.type(v));
}

template <class Image>
[[nodiscard]] bool is_number(Image const& image, fact_table const& known, node_id n, std::uint32_t i, double& number) {
  return i < image.operand_count(n) && image.operand(n, i) != absent && known.uniform(image.operand(n, i), number);
}

[[nodiscard]] inline bool has_several(fact_table const& known, value_id v) {
  double number = 0;
  return v != absent && known.is_uniform(v) && !known.number(v, number);
}
[[nodiscard]] inline bool may_enlarge(fact_table const& known, value_id v) {
  return v != absent && (known.rank(v) != 0 || has_several(known, v));
}

template <class Image>
[[nodiscard]] bool repeats_by(Image const& image, fact_table const& known, node_id n, std::uint32_t i, value_id kept) {
  return may_enlarge(known, image.operand(n, i)) && !known.same_shape(image.result(n), kept);
}

template <class Image>
[[nodiscard]] bool equals_number(Image const& image, fact_table const& known, value_id v, double wanted,
                                 double tolerance) {
  double number = 0;
  if (v == absent) return false;
  if (is_of_integers(known, v)) tolerance = 0;
  if (auto const rounding = rounding_in(known.type(v), wanted); rounding > tolerance) tolerance = rounding;
  if (known.number(v, number)) return math::close_to(number, wanted, tolerance);
  if (!image.value(v).constant) return false;
  auto const t = image.source->constant(v);
  if (t.size() == 0) return false;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (!math::close_to(t.number(k), wanted, tolerance)) return false;
  return true;
}

template <class Image>
[[nodiscard]] bool is_negated(Image const& image, value_id v) {
  auto n = image.producer(v);
  for (int i = 0; i < 8 && n != absent && op_of(image, n) == opcode::identity && image.operand_count(n) != 0 &&
                  image.operand(n, 0) != absent;
       ++i)
    n = image.producer(image.operand(n, 0));
  return n != absent && op_of(image, n) == opcode::neg;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct shaped_value {
  value_id value = absent;
  value_id shape = absent;  ///< of this one, which puts extents of 1 where a reduction took axes away
  std::uint8_t power = 1;

  [[nodiscard]] bool plain() const { return shape == absent && power == 1; }
  friend bool operator==(shaped_value const&, shaped_value const&) = default;
};

struct reading : shaped_value {
  double times = 1;                       ///< its sign; of a product that is added, its coefficient
  std::uint16_t member = no_instruction;  ///< the step that found it as a factor
  bool apart = false;  ///< a sum that numbers apart from it make a mean, or a mean that they make a sum

  void take(shaped_value const& part, double sign, std::uint16_t found_by) {
    value = part.value;
    shape = part.shape;
    power = part.power;
    times = sign;
    member = found_by;
    apart = false;
  }
};

struct group_request {
  shaped_value of;
  op_group kind = op_group::none;
  std::uint8_t through = 0;  ///< set of operators to look through, 0: none
  std::uint8_t flags = 0;    ///< how: as of an instruction `group`
  std::uint32_t region = 0;
  frame_needs::needs sought = frame_needs::all;  ///< parts that have none of these below them stay closed

  [[nodiscard]] bool asks(std::uint8_t flag) const { return (flags & flag) != 0; }
  friend bool operator==(group_request const&, group_request const&) = default;
};

struct opened_group {
  static constexpr std::uint8_t capacity = 32, leaf_capacity = 28;

  struct part : shaped_value {  // no value: a number that a product has and no value is
    std::uint8_t parent = none;
    bool leaf = false, has_number = false;
    std::uint32_t leaves = 0;  ///< which leaves it is made of
    double weight = 1;
    double number = 0;  ///< of what is the same number everywhere
    static constexpr std::uint8_t none = 255;
  };

  group_request asked;
  part parts[capacity];
  std::uint8_t count, leaf_count;
  bool integers;           ///< its numbers are exact
  bool divided;            ///< it is a quotient of integers: its operands as they stand, nothing comes from elsewhere
  bool dropped;            ///< a neutral constant was left out
  bool repeated;           ///< what repeats elements was looked through, or numbers with axes were left out: a part may
  bool bounded;            ///< something was not opened because there is no room for more parts
  std::uint32_t numbers;   ///< leaves that are one number everywhere
  std::uint32_t minus;     ///< parts of a product that are minus what their leaves multiply to
  std::uint32_t closable;  ///< inner parts that may be matched as the operators that they are
  std::uint32_t passed_on;  ///< parts of an operator that changes nothing, or that broadcasting makes superfluous
  std::uint32_t neutral;    ///< leaves of 1 or 0 everywhere, of several elements: what is left of these is left out

  [[nodiscard]] bool sums() const { return asked.kind == op_group::sum; }
  [[nodiscard]] bool whole(std::uint8_t k) const { return parts[k].leaf || (closable >> k & 1u) != 0; }
  [[nodiscard]] bool negative() const { return (minus & 1u) != 0; }
  [[nodiscard]] std::uint32_t all() const { return leaf_count == 0 ? 0 : (~0u >> (32 - leaf_count)); }
  [[nodiscard]] std::uint8_t end_of(std::uint8_t k) const {
    auto end = static_cast<std::uint8_t>(k + 1);
    while (end < count && parts[end].parent >= k) ++end;
    return end;
  }
  [[nodiscard]] double number(std::uint32_t leaves) const {
    double made = sums() ? 0 : 1;
    for (auto const* p = parts; p != parts + count && (leaves & numbers) != 0; ++p) {
      if (!p->leaf || (p->leaves & leaves & numbers) == 0) continue;
      leaves &= ~p->leaves;
      made = sums()            ? made + p->weight * p->number
             : p->weight == -1 ? made / p->number
                               : made * math::pow(p->number, p->weight);
    }
    return made;
  }
};

struct frame_progress {
  std::uint32_t covered = 0;  ///< leaves that are matched
  std::uint32_t taken = 0;    ///< parts that are matched
  double sign = 1;            ///< product: of the whole, or its coefficient; sum: what weights are multiplied by
  double owed = 1;            ///< product: what its numbers make besides those of the pattern, see reading::apart
};

struct frame : frame_progress {
  opened_group const* group = nullptr;
  std::uint16_t member = no_instruction;  ///< sum: of the reading that it opens

  [[nodiscard]] std::uint32_t left() const { return group->all() & ~covered; }
  [[nodiscard]] double weight(opened_group::part const& p) const { return group->sums() ? p.weight * sign : p.weight; }
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class kept_groups {
 public:
  kept_groups() { groups_.reserve(capacity + match_frames); }

  void begin() { ++search_; }
  void forget() { ++graph_; }

  template <class Open>
  opened_group const& get(group_request const& wanted, std::uint8_t frame, Open const& open) {
    auto& known = place_of_[hash(wanted)];
    if (kept_[known].graph == graph_ && kept_[known].what == wanted) {
      kept_[known].search = search_;
      return groups_[known];
    }
    std::size_t at = capacity + frame;
    next_ = (next_ + 1) % capacity;
    if (kept_[next_].search != search_) {
      at = next_;
      kept_[at] = {wanted, graph_, search_};
      known = static_cast<std::uint8_t>(at);
    }
    if (at >= groups_.size()) groups_.resize(at + 1);  // they are large, and few are ever used
    open(groups_[at]);
    return groups_[at];
  }

 private:
  static constexpr std::size_t capacity = 64, match_frames = 32;

  [[nodiscard]] static std::size_t hash(group_request const& of) {
    auto const kind = static_cast<unsigned>(of.kind);
    auto const mixed = of.of.value * 0x9e3779b1u ^ (kind * 8u + of.through + of.flags) * 0x85ebca6bu ^
                       static_cast<unsigned>(of.sought.deep ^ of.sought.deep >> 32) * 0xc2b2ae35u;
    return mixed >> 23;
  }
  struct kept {
    group_request what{};
    std::uint32_t graph = 0;
    std::uint32_t search = 0;  // the last one that needed it
  };

  plain_vector<opened_group> groups_;  // those that are kept, then one of each frame's own
  kept kept_[capacity];
  std::uint8_t place_of_[512]{};  // by hash of a request: where it is kept, if it is
  std::size_t next_ = 0;
  std::uint32_t search_ = 1, graph_ = 1;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_multiples {
 public:
  basic_multiples(Image const& image, facts const& known, congruence& congruent)
      : image_(image), facts_(known), congruent_(congruent) {}

  struct scaled_operand {
    value_id value = absent;
    double by = 1;
    bool repeated = false;  // a number has several elements, which may repeat those of the operand
  };
  [[nodiscard]] scaled_operand scaled(node_id n) const {
    scaled_operand found;
    double exponent = 1;
    auto const region = image_.node(n).region;
    for (int i = 0; i < 8; ++i) {
      auto const& how = opening_of(op_of(image_, n), op_group::product);
      if (image_.node(n).region != region || !goes_on(how, n, exponent, found)) return {};
      if (exponent == 1) return found.by != 0 && found.by - found.by == 0 ? found : scaled_operand{};
      n = image_.producer(found.value);
      if (n == absent || image_.result_index(found.value) != 0) return {};
    }
    return {};
  }
  template <class MayBe>
  [[nodiscard]] value_id term_of(value_id v, double& coefficient, MayBe const& may_be) const {
    int left = 256;
    return term_of(v, coefficient, may_be, left, 0);
  }

  template <class MayBe>
  [[nodiscard]] value_id power_of(node_id n, double& exponent, MayBe const& may_be) const {
    exponent = 1;
    auto log = image_.operand(n, 0);
    for (int i = 0; i < 8; ++i) {
      auto const term = term_of(log, exponent, may_be);
      if (term == log) break;
      log = term;
    }
    auto const of = log == absent ? absent : image_.producer(log);
    bool const is = of != absent && op_of(image_, of) == opcode::log && image_.node(of).region == image_.node(n).region;
    return is ? image_.operand(of, 0) : absent;
  }

 private:
  template <class MayBe>
  value_id term_of(value_id v, double& coefficient, MayBe const& may_be, int& left, int depth) const {
    auto const n = v == absent || depth == 8 || left-- <= 0 ? absent : image_.producer(v);
    if (n == absent || image_.result_index(v) != 0 || image_.operand_count(n) == 0) return v;
    auto const& how = opening_of(op_of(image_, n), op_group::sum);
    if (how.when == opens_with::scaled) {
      auto const found = scaled(n);
      if (found.value == absent || found.repeated) return v;
      coefficient *= found.by;
      return found.value;
    }
    if (how.when != opens_with::any || !may_be(v)) return v;
    auto const count = how.further == 0 ? 1 : image_.operand_count(n);
    auto one = how.first;
    for (auto term = image_.operand(n, 0);;) {
      auto sum = one;
      bool all = term != absent;
      for (std::uint32_t i = 1; all && i < count; ++i) {
        auto const more = how.further * multiple_of(term, image_.operand(n, i), may_be, left, depth + 1);
        all = more * one > 0;
        sum += more;
      }
      if (all) return coefficient *= sum, term;
      auto const below = term_of(term, one, may_be, left, depth + 1);
      if (below == term) return v;
      term = below;
    }
  }
  template <class MayBe>
  double multiple_of(value_id term, value_id v, MayBe const& may_be, int& left, int depth) const {
    double by = 1;
    while (!congruent_.same_bare(term, v)) {
      auto const below = term_of(v, by, may_be, left, depth);
      if (below == v) return 0;
      v = below;
    }
    return by;
  }

  bool goes_on(opening const& how, node_id n, double& exponent, scaled_operand& into) const {
    double power = 1;
    switch (how.when) {
      case opens_with::none:
      case opens_with::alike:
      case opens_with::squared:
      case opens_with::logarithm: return false;
      default: break;
    }
    if (how.integers != opens_integers::yes && is_integer(facts_.type(image_.result(n)))) return false;
    if (how.when == opens_with::power && !is_number(image_, facts_, n, 1, power)) return false;
    if (how.when == opens_with::power) into.repeated = into.repeated || has_several(facts_, image_.operand(n, 1));
    auto const count = how.further == 0 ? 1 : image_.operand_count(n);
    double of_operand = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      double number = 0;
      auto const weight = i == 0 ? how.first * power : how.further;
      if (is_number(image_, facts_, n, i, number)) {
        into.by = exponent * weight < 0 ? into.by / number : into.by * number;
        into.repeated = into.repeated || has_several(facts_, image_.operand(n, i));
      } else if (of_operand == 0 && (weight == 1 || weight == -1)) {
        into.value = image_.operand(n, i);
        of_operand = weight;
      } else {
        return false;
      }
    }
    exponent *= of_operand;
    if (how.negates) into.by = -into.by;
    return of_operand != 0 && into.value != absent;
  }

  Image const& image_;
  facts const& facts_;
  congruence& congruent_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_group_opener {
 public:
  basic_group_opener(program const& rules, Image const& image, facts const& known, operator_sets const& operators,
                     congruence& congruent)
      : rules_(rules), image_(image), facts_(known), operators_(operators), multiples_(image, known, congruent) {}

  void open(opened_group& f, group_request const& asked) const {
    f.asked = asked;
    open(f, asked.flags | repeat);
  }

  [[nodiscard]] bool keeps_shape(opened_group const& f, std::uint32_t without) const {
    auto const shape_of = [](opened_group::part const& p) { return p.shape != absent ? p.shape : p.value; };
    auto const whole = shape_of(f.parts[0]);
    if (whole == absent || !facts_.has_rank(whole)) return false;
    auto const shape = facts_.shape(whole);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      auto const wanted = shape[shape.size() - i];
      bool found = false;
      for (std::uint8_t k = 0; k < f.count && !found; ++k) {
        auto const& p = f.parts[k];
        bool const counts = p.leaf || (!f.repeated && p.leaves != 0);
        if (!counts || p.value == absent || (p.leaves & without) != 0) continue;
        auto const part = facts_.shape(shape_of(p));
        found = i <= part.size() && part[part.size() - i] == wanted;
      }
      if (!found) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned clip = instruction::clips, divide = instruction::divides, multiply = instruction::scales,
                            repeat = 1;

  void open(opened_group& f, unsigned may) const {
    auto const& root = f.asked.of;
    auto const kind = f.asked.kind;
    bool const repeats = (may & repeat) != 0;
    f.count = f.leaf_count = 0;
    f.integers = is_of_integers(facts_, root.value);
    f.divided = f.dropped = f.bounded = f.repeated = false;
    f.numbers = f.minus = f.closable = f.passed_on = f.neutral = 0;
    struct waiting_part {
      value_id value, shape;
      double weight;
      std::uint8_t parent;
    } stack[opened_group::capacity];
    auto const openers = operators_.openers(kind, f.asked.through);
    std::uint8_t waiting = 0;
    auto const wait = [&](waiting_part const& part) { stack[waiting++] = part; };
    std::uint32_t clipped = 0, squared = 0;
    std::uint32_t whole = 1;  // the root, and what is passed on to it as it is
    bool const no_sum = kind == op_group::sum && root.power != 1;
    wait({root.value, root.shape, no_sum ? 1.0 : root.power, opened_group::part::none});
    while (waiting != 0) {
      auto const& next = stack[--waiting];
      auto const v = next.value, shape = next.shape;
      auto const weight = next.weight;
      auto const parent = next.parent;
      auto const at = f.count++;
      auto& p = f.parts[at];
      p = {{v, shape}, parent, false, false, 0, weight};
      p.has_number = v != absent && facts_.uniform(v, p.number);
      if (at == 0 ? no_sum : (squared >> p.parent & 1u) != 0) {
        p.power = 2;
        p.has_number = false;
      }
      if (at != 0 && (f.passed_on & whole) >> p.parent & 1u) whole |= 1u << at;
      bool const first = (whole >> at & 1u) != 0;
      children below(shape);
      bool const one_number = p.has_number && at != 0 && !(kind == op_group::product && is_negated(image_, v));
      if ((operators_[v].direct & openers) != 0 && !one_number && !f.divided && p.power == 1 &&
          opens(v, weight, f.asked, first ? may : may & ~divide, below) && (first || !taken_whole(v, below, f.asked))) {
        bool const numbered = below.number != 0 && below.number != 1;
        auto const more = waiting + below.count + (numbered ? 1 : 0);
        if (f.count + more > opened_group::capacity || f.leaf_count + more > opened_group::leaf_capacity) {
          f.bounded = true;
        } else {
          if (below.negate) f.minus |= 1u << at;
          if (below.closable) f.closable |= 1u << at;
          if (below.squared) squared |= 1u << at;
          if (below.number == 1) f.dropped = true;
          if (numbered) {
            auto const leaf = 1u << f.leaf_count++;
            f.parts[f.count++] = {{}, at, true, true, leaf, weight, below.number};
            f.numbers |= leaf;
          }
          for (std::uint8_t i = below.count; i > 0; --i)
            wait({below.value[i - 1], below.shape, below.weight[i - 1], at});
          if (below.passed_on) f.passed_on |= 1u << at;
          f.divided = below.divided;
          f.repeated = f.repeated || below.repeated;
          if (below.clipped) clipped |= 1u << at;
          continue;
        }
      }
      f.bounded = f.bounded || below.bounded;
      if (p.has_number && at != 0) {
        bool const small = !may_enlarge(facts_, v), neutral = p.number == (f.sums() ? 0 : 1),
                   sign = !f.sums() && p.number == -1 && (weight == 1 || weight == -1);
        if ((small || repeats) && (sign || (neutral && !has_several(facts_, v)))) {
          if (sign) f.minus |= 1u << at;
          f.dropped = f.dropped || neutral;
          f.repeated = f.repeated || !small;
          continue;
        }
        if (neutral) f.neutral |= 1u << f.leaf_count;  // it may be meant as a row
      }
      p.leaf = true;
      p.leaves = 1u << f.leaf_count++;
      if (p.has_number) f.numbers |= p.leaves;
    }
    for (std::uint8_t at = f.count; at-- > 1;) {
      f.parts[f.parts[at].parent].leaves |= f.parts[at].leaves;
      f.minus ^= (f.minus >> at & 1u) << f.parts[at].parent;
    }
    for (std::uint8_t at = 0; clipped != 0 && at < f.count; ++at)
      if ((clipped >> at & 1u) != 0 && !never_negative(f, f.parts[at].leaves)) return open(f, may & ~clip);
    if (f.asked.asks(instruction::free) || !(f.repeated || f.neutral != 0) || keeps_shape(f, f.neutral)) return;
    if (f.repeated) return open(f, may & ~repeat);
    f.neutral = 0;
  }

  [[nodiscard]] static bool never_negative(opened_group const& f, std::uint32_t inside) {
    auto const outside = f.all() & ~inside;
    return outside == 0 || ((outside & ~f.numbers) == 0 && f.number(inside) >= 0);
  }

  struct children {
    value_id value[opened_group::leaf_capacity];  // not written before they are known: there are some for every part
    double weight[opened_group::leaf_capacity];
    value_id shape;
    double number = 0;  // one more part of a product, that no value is; 0: none
    std::uint8_t count = 0;
    bool negate = false, squared = false, closable = false, passed_on = false, clipped = false, repeated = false,
         bounded = false, divided = false;

    explicit children(value_id in_shape) : shape(in_shape) {}
    bool add(value_id v, double w) {
      value[count] = v;
      weight[count++] = w;
      return true;
    }
  };

  [[nodiscard]] bool taken_whole(value_id v, children const& below, group_request const& asked) const {
    if (below.count < 2 || !asked.sought.lack(operators_[v], asked.kind)) return false;
    for (std::uint8_t i = 0; i < below.count; ++i)
      if (facts_.is_uniform(below.value[i])) return false;
    return true;
  }

  bool opens(value_id v, double w, group_request const& asked, unsigned may, children& into) const {
    if (v == absent) return false;
    auto const n = image_.producer(v);
    if (n == absent || image_.node(n).region != asked.region || image_.result_index(v) != 0) return false;
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    auto const* through = asked.through == 0 ? nullptr : &rules_.sets[asked.through - 1u];
    bool const transparent = through != nullptr && through->contains(record.tag.name, record.tag.op);
    auto const& how = opening_of(op, asked.kind);
    bool const closed = !transparent && (how.when == opens_with::none || op == opcode::sum_of);
    if (closed && !may_keep_elements(op) && !may_clip(op)) return false;
    auto const a = kept_operand(image_, facts_, n);
    if (record.operand_count > opened_group::leaf_capacity) return into.bounded = true, false;
    if (a == absent) return false;
    auto const type = facts_.type(v);
    bool const integers = is_integer(type);
    if (type != element_type::unknown && !is_floating(type) && !integers) return false;
    if (transparent) {
      auto const below = facts_.type(a);
      if (below != type && (integers || (below != element_type::unknown && !is_floating(below)))) return false;
      into.passed_on = op == opcode::identity || unchanged(image_, facts_, n);
      into.repeated = !into.passed_on && may_repeat(op);
      if (into.repeated && !((may & repeat) != 0 && broadcasts(image_, facts_, n))) return false;
      return into.add(a, w);
    }
    if (closed) {
      bool const identity = through != nullptr && through->has_identity(), repeats = (may & repeat) != 0;
      if (((may & clip) != 0 && w == 1 && opens_clipped(n, repeats, into)) ||
          opens_layout(n, a, w, identity, repeats, into))
        return true;
      if (op != opcode::sum_of) return false;
    }
    double exponent = 0;
    if (integers && how.integers == opens_integers::power && !is_number(image_, facts_, n, 1, exponent)) return false;
    if (integers && !allows(how.integers, (may & divide) != 0, exponent)) return false;
    into.divided = integers && how.integers == opens_integers::quotient;
    return record.operand_count >= info(op).least && opens_group(how, n, w, may, into);
  }

  bool opens_clipped(node_id n, bool repeats, children& into) const {
    auto const whole = positive_part_of(image_, facts_, n);
    if (whole == absent) return false;
    bool repeated = false;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      repeated = repeated || (image_.operand(n, i) != whole && repeats_by(image_, facts_, n, i, whole));
    if (repeated && !repeats) return false;
    into.clipped = true;
    into.repeated = repeated;
    return into.add(whole, 1);
  }

  bool opens_layout(node_id n, value_id a, double w, bool identity, bool repeats, children& into) const {
    into.passed_on = identity && unchanged(image_, facts_, n);
    if (identity && !into.passed_on && repeats) into.passed_on = into.repeated = broadcasts(image_, facts_, n);
    if (!into.passed_on) {
      if (!operators_.has_reduction_below(a) || !moves_ones(image_, facts_, n)) return false;
      if (into.shape == absent) into.shape = image_.result(n);
    }
    return into.add(a, w);
  }

  bool opens_group(opening const& how, node_id n, double w, unsigned may, children& into) const {
    auto const count = image_.operand_count(n);
    double number = 1;
    auto no_part = count;  // an operand that is a number: the exponent of a power, the 1 of 1 / x
    switch (how.when) {
      case opens_with::none: return false;
      case opens_with::scaled: return opens_scaled(n, w, (may & repeat) != 0, into);
      case opens_with::alike: return (may & multiply) != 0 && allows(how.when, w) && opens_alike(n, w, into);
      case opens_with::squared:  // what is a root is its square, to the half
        into.squared = into.closable = true;
        return into.add(image_.result(n), w * how.first);
      case opens_with::logarithm: {  // as that is positive, it is none of the whole powers, known of negative numbers
        auto const of = multiples_.power_of(n, number, may_be_multiple());
        into.closable = true;
        return of != absent && allows(how.when, w, number) && into.add(of, w * number);
      }
      case opens_with::power:
        if (!is_number(image_, facts_, n, 1, number)) return false;
        no_part = 1;
        break;
      case opens_with::one_over:
        if (!allows(how.when, w) && is_number(image_, facts_, n, 0, number) && number == 1) no_part = 0;
        break;
      default: break;
    }
    if (no_part != 0 && !allows(how.when, w, number)) return false;
    into.repeated = no_part < count && repeats_by(image_, facts_, n, no_part, image_.operand(n, no_part == 0 ? 1 : 0));
    if (into.repeated && (may & repeat) == 0) return false;
    for (std::uint32_t i = 0; i < count && (i == 0 || how.further != 0); ++i) {
      if (i == no_part) continue;
      if (image_.operand(n, i) == absent) return false;
      into.add(image_.operand(n, i), w * (i == 0 ? how.first * number : how.further));
    }
    into.negate = how.negates && math::is_odd(w);
    into.closable = how.when == opens_with::power;
    return true;
  }

  bool opens_scaled(node_id n, double w, bool repeats, children& into) const {
    auto const found = multiples_.scaled(n);
    if (found.value == absent) return false;
    into.repeated = found.repeated && !facts_.same_shape(image_.result(n), found.value);
    into.closable = found.by != -1;
    return (repeats || !into.repeated) && into.add(found.value, w * found.by);
  }

  bool opens_alike(node_id n, double w, children& into) const {
    auto const v = image_.result(n);
    double coefficient = 1;
    auto const term = multiples_.term_of(v, coefficient, may_be_multiple());
    into.number = coefficient;
    return term != v && into.add(term, w);
  }
  [[nodiscard]] auto may_be_multiple() const {
    return [this](value_id v) { return (operators_[v].direct & product_bit) != 0; };
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  operator_sets const& operators_;
  basic_multiples<Image> multiples_;
};
using group_opener = basic_group_opener<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

struct binding {
  value_id value = absent;
  value_id bare = absent;  ///< below what is looked through: what a second occurrence is compared with
  double number = 0;
  std::uint64_t axes = 0;               ///< bit k: the k-th axis from the last; of a rest, its op_group
  std::uint8_t first = 0, members = 0;  ///< of a rest, or of a list: among all of them
  bool bound = false;
  bool listed = false;  ///< a list of integers; `number` is the first of them

  [[nodiscard]] bool is_single() const { return !listed || members == 1; }
};

struct rest_member {
  value_id value;
  double weight;
};

namespace detail {

class match_state {
 public:
  static constexpr std::size_t slot_capacity = lowered_rule::name_capacity, matched_capacity = 192, rest_capacity = 64,
                               frame_capacity = 32, integer_capacity = 256;

  [[nodiscard]] binding const& slot(std::size_t at) const { return slots_[at]; }
  [[nodiscard]] value_id value(std::uint8_t at) const { return registers[at].value; }
  [[nodiscard]] span<rest_member const> members(std::size_t at) const {
    return {rest_ + slots_[at].first, slots_[at].members};
  }
  [[nodiscard]] span<std::int64_t const> integers(std::size_t at) const {
    if (!slots_[at].bound || !slots_[at].listed) return {};
    return {integers_ + slots_[at].first, slots_[at].members};
  }
  [[nodiscard]] span<rest_member const> members_from(std::uint16_t first) const {
    return {rest_ + first, static_cast<std::size_t>(rest_count_ - first)};
  }
  [[nodiscard]] std::uint16_t member_count() const { return rest_count_; }
  [[nodiscard]] span<node_id const> matched() const { return {matched_, matched_count_}; }
  [[nodiscard]] opened_group const& opened(std::uint8_t frame) const { return *frames[frame].group; }
  [[nodiscard]] bool is_root(value_id v) const { return v == value(0) || v == value(1); }

  reading registers[256];
  frame frames[frame_capacity];
  std::uint32_t region = 0;  ///< where the root is
  bool exceeded = false;     ///< the search was cut off at a bound
  bool bounded = false;      ///< it looked into a sum or product that has more parts than were opened

  bool bind(std::uint8_t at, binding const& to) {
    if (!remember({at, true, {}})) return false;
    slots_[at] = to;
    return slots_[at].bound = true;
  }
  frame_progress* change(std::uint8_t frame) {
    return remember({frame, false, frames[frame]}) ? &frames[frame] : nullptr;
  }
  bool cover(std::uint8_t frame, std::uint32_t leaves, std::uint32_t taken) {
    auto* f = change(frame);
    if (f == nullptr) return false;
    f->covered |= leaves;
    f->taken |= taken;
    if ((std::popcount(taken & frames[frame].group->minus) & 1) != 0) f->sign = -f->sign;
    return true;
  }
  bool add_member(value_id v, double weight) {
    if (rest_count_ == rest_capacity) return exceeded = true, false;
    rest_[rest_count_++] = {v, weight};
    return true;
  }
  void drop_members(std::uint16_t from) { rest_count_ = from; }
  bool bind_members(std::uint8_t at, std::uint16_t first, op_group kind) {
    return bind(at, {.axes = static_cast<std::uint64_t>(kind),
                     .first = static_cast<std::uint8_t>(first),
                     .members = static_cast<std::uint8_t>(rest_count_ - first)});
  }
  bool bind_integers(std::uint8_t at, span<std::int64_t const> list) {
    if (list.size() >= integer_capacity - integer_count_) return exceeded = true, false;
    auto const first = static_cast<std::uint8_t>(integer_count_);
    for (auto each : list) integers_[integer_count_++] = each;
    return bind(at,
                {.number = list.size() == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(list[0]),
                 .first = first,
                 .members = static_cast<std::uint8_t>(list.size()),
                 .listed = true});
  }
  void add_matched(node_id n) {
    if (matched_count_ < matched_capacity)
      matched_[matched_count_++] = n;
    else
      exceeded = true;
  }

  struct mark {
    std::uint16_t undo, matched, rest, integers;
  };
  [[nodiscard]] mark here() const { return {undo_count_, matched_count_, rest_count_, integer_count_}; }
  void rewind(mark const& to) {
    while (undo_count_ > to.undo) {
      auto const& u = undo_[--undo_count_];
      if (u.is_slot)
        slots_[u.at].bound = false;
      else
        static_cast<frame_progress&>(frames[u.at]) = u.before;
    }
    matched_count_ = to.matched;
    rest_count_ = to.rest;
    integer_count_ = to.integers;
  }

 private:
  static constexpr std::size_t undo_capacity = 512;

  struct undo {
    std::uint8_t at;
    bool is_slot;           // bound; else a frame
    frame_progress before;  // of that
  };

  bool remember(undo const& change) {
    if (undo_count_ == undo_capacity) return exceeded = true, false;
    undo_[undo_count_++] = change;
    return true;
  }

  std::uint16_t undo_count_ = 0, matched_count_ = 0, rest_count_ = 0, integer_count_ = 0;
  undo undo_[undo_capacity];
  node_id matched_[matched_capacity];
  rest_member rest_[rest_capacity];
  std::int64_t integers_[integer_capacity];
  binding slots_[slot_capacity];
};

}  // namespace detail
}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Image>
class basic_multisets {
 public:
  basic_multisets(Image const& image, facts const& known, operator_sets const& operators, congruence& congruent,
                  basic_group_opener<Image> const& opener, match_state const& state)
      : image_(image), facts_(known), operators_(operators), congruent_(congruent), opener_(opener), s_(state) {}

  [[nodiscard]] bool same(value_id a, value_id b) { return congruent_.same_bare(a, b); }

  [[nodiscard]] bool equal(span<rest_member const> before, span<rest_member const> now, opened_group const& like) {
    list a(before), b(now);
    if (same(a, b)) return true;
    list first, second;
    first.number = second.number = like.sums() ? 0 : 1;
    return open(before, like.asked.kind, like, first) && open(now, like.asked.kind, like, second) &&
           math::close_to(second.number, first.number, like.integers ? 0 : usual_tolerance) && same(first, second);
  }

  [[nodiscard]] double ratio(value_id a, value_id b, opened_group const& like) {
    if (((operators_[a].direct | operators_[b].direct) & product_bit) == 0) return 0;
    rest_member const one{a, 1}, other{b, 1};
    list first, second;
    bool const open_both =
        open({&one, 1}, op_group::product, like, first) && open({&other, 1}, op_group::product, like, second);
    bool const factors = open_both && first.count != 0 && first.number != 0;  // numbers alone are no multiples
    return factors && same(first, second) ? second.number / first.number : 0;
  }

 private:
  struct list {
    rest_member all[match_state::rest_capacity];
    std::size_t count = 0;
    double number = 1;

    list() = default;
    explicit list(span<rest_member const> members) {
      for (auto const& m : members) all[count++] = m;
    }
  };

  [[nodiscard]] bool same(list const& a, list& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i) {
      auto at = i;
      while (at < b.count && (b.all[at].weight != a.all[i].weight || !same(a.all[i].value, b.all[at].value))) ++at;
      if (at == b.count) return false;
      std::swap(b.all[i], b.all[at]);
    }
    return true;
  }

  [[nodiscard]] bool open(span<rest_member const> members, op_group kind, opened_group const& like, list& into) {
    for (auto const& m : members) {
      auto const flags = static_cast<std::uint8_t>((like.asked.flags & instruction::free) | instruction::scales);
      opener_.open(opened_, {{m.value}, kind, like.asked.through, flags, s_.region});
      if (opened_.bounded) return false;
      for (std::uint8_t k = 0; k < opened_.count; ++k) {
        auto const& p = opened_.parts[k];
        bool const factor = p.leaf && !p.has_number;
        if (!p.leaf && p.leaves != 0 && !p.has_number && narrows(image_, facts_, p.value)) return false;
        if (p.leaf && p.has_number && !like.asked.asks(instruction::free) && has_several(facts_, p.value)) return false;
        if (factor && (p.shape != absent || !add(p.value, p.weight * p.power * m.weight, into))) return false;
      }
      auto const number = opened_.negative() ? -opened_.number(opened_.all()) : opened_.number(opened_.all());
      into.number = opened_.sums() ? into.number + m.weight * number : into.number * math::pow(number, m.weight);
    }
    return true;
  }

  [[nodiscard]] bool add(value_id v, double weight, list& into) {
    for (std::size_t i = 0; i < into.count && math::is_whole(weight); ++i) {
      auto& known = into.all[i].weight;
      if (known * weight > 0 && math::is_whole(known) && same(into.all[i].value, v)) return known += weight, true;
    }
    if (into.count == match_state::rest_capacity) return false;
    into.all[into.count++] = {v, weight};
    return true;
  }

  Image const& image_;
  facts const& facts_;
  operator_sets const& operators_;
  congruence& congruent_;
  basic_group_opener<Image> const& opener_;
  match_state const& s_;
  opened_group opened_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_group_steps {
 public:
  basic_group_steps(program const& rules, Image const& image, facts const& known, congruence& congruent,
                    basic_filter<Image>& told, match_state& state)
      : image_(image),
        facts_(known),
        filter_(told),
        s_(state),
        opener_(rules, image, known, told.sets(), congruent),
        multisets_(image, known, told.sets(), congruent, opener_, state) {}

  void begin() { kept_.begin(); }
  void forget() { kept_.forget(); }

  [[nodiscard]] basic_group_opener<Image> const& opener() const { return opener_; }

  bool open(instruction const& i, double sign) {
    auto const& from = s_.registers[i.a];
    if (static_cast<sign_use>(i.c) == sign_use::linked && sign < 0) {
      auto* around = s_.frames[i.count].group->divided ? nullptr : s_.change(i.count);
      if (around == nullptr) return false;
      around->sign = -around->sign;
    }
    auto& f = s_.frames[i.b];
    constexpr auto how = instruction::clips | instruction::free | instruction::divides | instruction::scales;
    auto const flags = static_cast<std::uint8_t>(i.flags & how);
    group_request const wanted{from, static_cast<op_group>(i.op), i.through, flags, s_.region, filter_.sought(i)};
    f.group = &kept_.get(wanted, i.b, [&](opened_group& made) { opener_.open(made, wanted); });
    s_.bounded = s_.bounded || f.group->bounded;
    if (f.group->divided && sign != 1) return false;  // a number times a quotient, which is no other quotient
    f.covered = f.taken = 0;
    f.sign = f.group->negative() ? -sign : sign;
    f.owed = 1;
    f.member = from.member;
    return true;
  }

  [[nodiscard]] static bool same_weight(frame const& f, double found, double wanted) {
    if (f.group->sums()) return math::close_to(found, wanted, f.group->integers ? 0 : usual_tolerance);
    return found == wanted ||
           (math::close_to(found, wanted, 0x1p-23) && !math::is_whole(found) && !math::is_whole(wanted));
  }

  [[nodiscard]] static bool may_add_up(frame const& f, double weight, double wanted) {
    return weight * wanted > 0 && math::abs(weight) <= math::abs(wanted) && (f.group->sums() || math::is_whole(wanted));
  }

  enum class and_then : std::uint8_t { take, add_others, leave };

  template <class Look>
  bool any_like_terms(frame const& f, std::uint8_t k, Look const& look) {
    auto const& p = f.group->parts[k];
    int tries = 1024;
    return looks(f, k, k, {f.weight(p), p.leaves, 1u << k}, tries, look);
  }

  [[nodiscard]] bool may_leave_out(opened_group const& group, std::uint32_t numbers) const {
    bool several = false;
    for (std::uint8_t k = 0; k < group.count && !group.asked.asks(instruction::free); ++k) {
      auto const& p = group.parts[k];
      several = several || (p.leaf && (p.leaves & numbers) != 0 && may_enlarge(facts_, p.value));
    }
    return !several || opener_.keeps_shape(group, group.neutral | numbers);
  }

  bool literal(instruction const& i) { return numbers_make(i.a, i.number, static_cast<double>(i.tolerance)); }
  bool numbers_make(std::uint8_t at, double wanted, double tolerance) {
    auto& f = s_.frames[at];
    auto const leaves = f.group->numbers & f.left();
    auto number = f.group->number(leaves);
    if (f.group->sums()) {
      number *= f.sign;
    } else {
      number *= math::abs(f.sign) / f.owed;
      bool const flips = f.sign < 0 && (number < 0) != (wanted < 0);
      if (flips) number = -number;
      if (f.sign != 1 || f.owed != 1) {
        auto* changed = s_.change(at);
        if (changed == nullptr) return false;
        changed->sign = f.sign < 0 && !flips ? -1 : 1;
        changed->owed = 1;
      }
    }
    double rounding = 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k)
      if (auto const& p = f.group->parts[k]; p.leaf && (p.leaves & leaves) != 0 && p.value != absent)
        rounding += rounding_in(facts_.type(p.value), wanted);
    if (rounding > tolerance) tolerance = rounding;
    return math::close_to(number, wanted, f.group->integers ? 0 : tolerance) && may_leave_out(*f.group, leaves) &&
           s_.cover(at, leaves, 0);
  }

  bool owe(std::uint8_t at, double number) {
    auto& f = s_.frames[at];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.leaf || (p.leaves & f.group->numbers & f.left()) == 0) continue;
      auto const wanted = math::pow(number, 1 / p.weight);
      if (math::abs(p.number - wanted) <= 0x1p-24 * wanted && may_leave_out(*f.group, p.leaves))
        return s_.cover(at, p.leaves, 1u << k);
    }
    auto* changed = s_.change(at);
    if (changed != nullptr) changed->owed *= number;
    return changed != nullptr;
  }
  bool pay(std::uint8_t at) { return s_.frames[at].owed == 1 || numbers_make(at, 1, 0x1p-22); }

  bool rest(instruction const& i) {
    auto& f = s_.frames[i.a];
    if (!pay(i.a)) return false;
    auto const left = f.left();
    auto const first = s_.member_count();
    std::uint32_t done = 0, taken = 0;
    double sign = f.sign;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & ~left) != 0 || (p.leaves & done) != 0 || (f.group->passed_on >> k & 1u) != 0)
        continue;
      if (p.value == absent || (p.shape != absent && !p.has_number)) return false;
      if (s_.is_root(p.value)) {
        if (p.leaf) return false;
        continue;
      }
      auto const w = f.weight(p) * p.power / i.number;
      bool const below_root = !math::is_whole(i.number) && math::is_whole(f.weight(p));
      bool const fits =
          f.group->sums() ? w == 1 || w == -1 : math::abs(i.number) == 1 || (math::is_whole(w) && !below_root);
      if (!fits) {
        if (p.leaf) return false;
        continue;
      }
      if (!p.leaf) {
        bool const negated = (f.group->minus >> k & 1u) != 0;
        if (!f.group->sums() && (sign < 0) != negated) continue;
        if (negated)
          sign = -sign;
        else if (!stands_whole(*f.group, k))
          continue;
      }
      if (!s_.add_member(p.value, w)) return false;
      done |= p.leaves;
      taken |= 1u << k;
    }
    bool const some = s_.member_count() != first || f.group->dropped || (left & f.group->neutral) != 0;
    if ((i.flags & instruction::some) != 0 && !some) return false;
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind_members(i.b, first, f.group->asked.kind) && s_.cover(i.a, left, taken);
    auto const now = s_.members_from(first);
    bool const as_before = known.axes == static_cast<std::uint64_t>(f.group->asked.kind) &&
                           multisets_.equal(s_.members(i.b), now, *f.group);
    s_.drop_members(first);
    return as_before && s_.cover(i.a, left, taken);
  }

  bool close(instruction const& i) {
    auto const& f = s_.frames[i.a];
    if (!pay(i.a) || (f.left() & ~f.group->neutral) != 0) return false;
    if (!f.group->sums() && f.sign != 1) return false;
    for (std::uint8_t k = 0; k < f.group->count;) {
      auto const& p = f.group->parts[k];
      bool const taken = (f.taken >> k & 1u) != 0;
      if (!taken && !p.leaf && p.leaves != 0) s_.add_matched(image_.producer(p.value));
      k = taken ? f.group->end_of(k) : static_cast<std::uint8_t>(k + 1);
    }
    return true;
  }

 private:
  struct terms {
    double weight;
    std::uint32_t leaves, taken;
  };
  template <class Look>
  bool looks(frame const& f, std::uint8_t k, std::uint8_t last, terms const& of, int& tries, Look const& look) {
    auto const next = look(of.weight, of.leaves, of.taken);
    if (next != and_then::add_others) return next == and_then::take;
    auto const& parts = f.group->parts;
    std::uint32_t tried = 0;
    for (auto j = static_cast<std::uint8_t>(last + 1); j < f.group->count; ++j) {
      auto const w = another(f, parts[k], j, of.leaves);
      if (w * of.weight <= 0 || any_like(*f.group, tried, j)) continue;
      if (tries-- <= 0) return s_.exceeded = true, false;
      if (looks(f, k, j, {of.weight + w, of.leaves | parts[j].leaves, of.taken | 1u << j}, tries, look)) return true;
      tried |= 1u << j;
    }
    return false;
  }
  [[nodiscard]] bool any_like(opened_group const& f, std::uint32_t some, std::uint8_t j) {
    auto const outermost = [&](std::uint8_t k) -> auto const& {  // of the parts that are made of this one alone
      while (k != 0 && f.parts[k].parent != 0 && f.parts[f.parts[k].parent].leaves == f.parts[k].leaves)
        k = f.parts[k].parent;
      return f.parts[k];
    };
    auto const& p = outermost(j);
    for (; some != 0; some &= some - 1) {
      auto const i = static_cast<std::uint8_t>(std::countr_zero(some));
      auto const& q = outermost(i);
      if (f.parts[i].weight == f.parts[j].weight && q.parent == p.parent && q.weight == p.weight &&
          multisets_.same(q.value, p.value))
        return true;
    }
    return false;
  }
  double another(frame const& f, opened_group::part const& p, std::uint8_t j, std::uint32_t leaves) {
    auto const& q = f.group->parts[j];
    if (q.leaves == 0 || q.value == absent || (q.leaves & (f.covered | leaves)) != 0 || q.shape != p.shape ||
        q.power != p.power)
      return 0;
    auto const w = f.weight(q);
    if (!f.group->sums() && p.power == 1 && !(math::is_whole(w) && math::is_whole(p.weight))) return 0;
    if (multisets_.same(p.value, q.value)) return w;
    return f.group->sums() && p.plain() ? w * multisets_.ratio(p.value, q.value, *f.group) : 0;
  }

  [[nodiscard]] bool stands_whole(opened_group const& f, std::uint8_t k) const {
    bool negates = false, opens = true;
    std::uint32_t closable = f.closable;  // and what is below
    for (auto j = k; j < f.end_of(k); ++j) {
      auto const& p = f.parts[j];
      if (p.leaves == 0) return false;
      if (j != 0 && (closable >> p.parent & 1u) != 0) {
        closable |= 1u << j;
        continue;
      }
      bool const value = p.leaf && !p.has_number;
      if (value && (!p.plain() || (p.weight != 1 && p.weight != -1))) opens = false;
      auto const n = value || p.value == absent ? absent : image_.producer(p.value);
      negates = negates || (n != absent && op_of(image_, n) == opcode::neg);
    }
    return !(negates && opens);
  }

  Image const& image_;
  facts const& facts_;
  basic_filter<Image>& filter_;
  match_state& s_;
  basic_group_opener<Image> opener_;
  basic_multisets<Image> multisets_;
  kept_groups kept_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class named_extents {
 public:
  explicit named_extents(rearrangement const& what) : what_(what) {}

  void know(std::uint8_t name, polynomial const& extent) {
    of_[name] = extent;
    known_[name] = true;
  }
  [[nodiscard]] bool knows(std::uint8_t name) const { return known_[name]; }
  [[nodiscard]] polynomial const& of(std::uint8_t name) const { return of_[name]; }

  [[nodiscard]] bool learn(rearrangement::side const& side, span<polynomial const> shape) {
    bool const one = side.joined && !what_.regroups();
    auto const apart = one ? 1u : 0u;
    bool const any = side.rest != rearrangement::none && !one;
    if (any ? shape.size() < side.rank : shape.size() != side.rank + apart) return false;
    for (std::uint8_t axis = 0; axis < side.rank; ++axis)
      if (!learn(side, axis, shape[place(side, axis, shape.size())])) return false;
    return true;
  }
  [[nodiscard]] bool complete() const {
    for (std::uint8_t name = 0; name < what_.name_count; ++name)
      if (!known_[name]) return false;
    return true;
  }
  [[nodiscard]] bool same_rest(span<polynomial const> left, span<polynomial const> right) const {
    auto const count = left.size() - what_.left.rank;
    if (what_.regroups()) return true;  // whether the elements are the same, the layout tells
    if (what_.right.joined) {
      polynomial all;
      return joined_rest(left, all) && all == right[what_.right.rest];
    }
    if (count != right.size() - what_.right.rank) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!(left[what_.left.rest + i] == right[what_.right.rest + i])) return false;
    return true;
  }

  void regroup(span<polynomial const> right) {
    regrouped_.assign(right.subspan(what_.right.rest, right.size() - what_.right.rank));
    told_ = true;
  }
  [[nodiscard]] bool lacks_shape() const { return what_.regroups() && !told_; }

  struct way {
    struct pick {
      std::uint32_t axis;
      std::int64_t index, count;
    };
    plain_vector<polynomial> split, repeats, shape;
    plain_vector<pick> picks;  // the last axis first
    std::vector<std::int64_t> order;
  };
  [[nodiscard]] bool find(span<polynomial const> from, way& into) const {
    into = {};
    if (lacks_shape()) return false;
    auto const& left = what_.left;
    auto const& right = what_.right;
    std::uint32_t axis_of[rearrangement::most_names]{};
    auto const rest = from.size() - left.rank;
    std::uint32_t kept = 0, first_of_rest = 0;
    auto const add_rest = [&] {
      first_of_rest = kept;
      for (std::size_t i = 0; i < rest; ++i, ++kept) into.split.push_back(from[left.rest + i]);
    };
    std::size_t at = 0;
    for (std::uint8_t axis = 0; axis <= left.rank; ++axis) {
      if (axis == left.rest) add_rest();
      for (; at < left.count && left.all[at].axis == axis; ++at) {
        auto const& f = left.all[at];
        polynomial extent;
        if (!extent_of(f, extent)) return false;
        if (f.chosen != rearrangement::none)
          into.picks.push_back({static_cast<std::uint32_t>(into.split.size()), f.chosen, f.number});
        else
          axis_of[f.name] = kept++;
        into.split.push_back(extent);
      }
    }
    for (std::size_t i = 0, k = into.picks.size(); i + 1 < k; ++i) {
      auto const moved = into.picks[i];
      into.picks[i] = into.picks[--k];
      into.picks[k] = moved;
    }
    for (std::size_t i = 0; i < right.count; ++i) {
      auto const name = right.all[i].name;
      if (left.has(name)) continue;
      axis_of[name] = static_cast<std::uint32_t>(into.repeats.size());
      into.repeats.push_back(of_[name]);
    }
    auto const repeats = static_cast<std::int64_t>(into.repeats.size());
    at = 0;
    for (std::uint8_t axis = 0; axis <= right.rank; ++axis) {
      if (axis == right.rest)
        for (std::size_t i = 0; i < rest; ++i) {
          into.order.push_back(repeats + first_of_rest + static_cast<std::int64_t>(i));
          if (!right.joined) into.shape.push_back(from[left.rest + i]);
        }
      if (axis == right.rest && what_.regroups())
        into.shape.append(regrouped_);
      else if (axis == right.rest && right.joined && !joined_rest(from, into.shape.emplace_back()))
        return false;
      if (axis == right.rank) break;
      polynomial whole(1), extent;
      for (; at < right.count && right.all[at].axis == axis; ++at) {
        auto const& f = right.all[at];
        into.order.push_back((left.has(f.name) ? repeats : 0) + axis_of[f.name]);
        if (!extent_of(f, extent) || !whole.multiply(extent)) return false;
      }
      into.shape.push_back(whole);
    }
    return true;
  }

  [[nodiscard]] bool lay(span<polynomial const> from, extent_algebra const& symbols, layout& into) const {
    return into.row_major(from) && rearrange(symbols, into);
  }
  [[nodiscard]] bool rearrange(extent_algebra const& symbols, layout& into) const {
    way along;
    plain_vector<polynomial> from;
    from.assign(into.shape());
    if (!find(from, along) || !into.reshape(along.split)) return false;
    for (auto const& pick : along.picks) {
      if (!into.slice(pick.axis, polynomial(pick.index), polynomial(1), 1, symbols)) return false;
      into.drop(pick.axis);
    }
    if (!along.repeats.empty()) into.add_axes(along.repeats);
    into.permute(along.order);
    return into.reshape(along.shape);
  }

 private:
  [[nodiscard]] static std::size_t place(rearrangement::side const& side, std::uint8_t axis, std::size_t rank) {
    return axis < side.rest ? axis : axis + rank - side.rank;
  }
  [[nodiscard]] bool joined_rest(span<polynomial const> left, polynomial& into) const {
    into = polynomial(1);
    for (std::size_t i = 0; i < left.size() - what_.left.rank; ++i)
      if (!into.multiply(left[what_.left.rest + i])) return false;
    return true;
  }
  [[nodiscard]] bool extent_of(rearrangement::factor const& f, polynomial& into) const {
    if (f.name == rearrangement::none) return into = polynomial(f.number), true;
    return known_[f.name] && polynomial::divide(of_[f.name], polynomial(f.parts), into);
  }
  [[nodiscard]] bool learn(rearrangement::side const& side, std::uint8_t axis, polynomial const& whole) {
    rearrangement::factor const* open = nullptr;
    polynomial product(1), extent;
    for (std::size_t i = 0; i < side.count; ++i) {
      auto const& f = side.all[i];
      if (f.axis != axis) continue;
      if (extent_of(f, extent)) {
        if (!product.multiply(extent)) return false;
      } else {
        if (f.name == rearrangement::none || known_[f.name]) return false;
        if (open != nullptr) return true;  // another side may tell
        open = &f;
      }
    }
    if (open == nullptr) return product == whole;
    if (!polynomial::divide(whole, product, extent) || !extent.multiply(polynomial(open->parts))) return false;
    know(open->name, extent);
    return true;
  }

  rearrangement const& what_;
  polynomial of_[rearrangement::most_names];
  bool known_[rearrangement::most_names]{};
  plain_vector<polynomial> regrouped_;
  bool told_ = false;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

inline void know_bound(rearrangement const& what, match_state const& match, facts const& known, named_extents& names) {
  for (std::uint8_t name = 0; name < what.name_count; ++name) {
    if (what.slots[name] == no_slot || !match.slot(what.slots[name]).bound) continue;
    auto const& b = match.slot(what.slots[name]);
    names.know(name, b.number == b.number ? polynomial(static_cast<std::int64_t>(b.number))
                                          : known.symbols().polynomial_of(known.shape(b.value)[b.first]));
  }
}

template <class Image>
class basic_layout_steps {
 public:
  static constexpr int most_below = 16;  ///< operators between a value and what it may be a rearrangement of

  basic_layout_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                     match_state& state)
      : rules_(rules), image_(image), facts_(known), layouts_(image, known, names), s_(state) {}

  [[nodiscard]] value_id below(value_id v) const {
    auto const from = layouts_.below(v);
    return from != absent && image_.node(image_.producer(v)).region == s_.region ? from : absent;
  }

  [[nodiscard]] bool rearranged(instruction const& i, value_id v, value_id from) {
    auto const& what = rules_.rearrangements[i.op];
    if (!facts_.has_rank(v) || !facts_.has_rank(from)) return false;
    named_extents names(what);
    know_bound(what, s_, facts_, names);
    auto const left = layouts_.shape(from), right = layouts_.shape(v);
    if (!names.learn(what.left, left) || !names.learn(what.right, right) || !names.learn(what.left, left) ||
        !names.learn(what.right, right) || !names.complete() || !names.learn(what.left, left) ||
        !names.learn(what.right, right) || !names.same_rest(left, right))
      return false;
    if (what.regroups()) names.regroup(right);
    layout wanted, found;
    if (!names.lay(left, facts_.symbols(), wanted) || !layouts_.read(v, from, found) || !(wanted == found))
      return false;
    for (std::uint8_t name = 0; name < what.name_count; ++name)
      if (!bind(what.slots[name], names.of(name), from, v)) return false;
    for (auto n : layouts_.passed()) s_.add_matched(n);
    return true;
  }

 private:
  [[nodiscard]] bool bind(std::uint8_t slot, polynomial const& extent, value_id a, value_id b) {
    if (s_.slot(slot).bound) return true;
    std::int64_t number = 0;
    if (extent.known(number)) return s_.bind(slot, {.number = static_cast<double>(number)});
    for (auto const v : {a, b}) {
      auto const shape = facts_.shape(v);
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (facts_.symbols().polynomial_of(shape[axis]) == extent)
          return s_.bind(slot, {.value = v,
                                .number = std::numeric_limits<double>::quiet_NaN(),
                                .first = static_cast<std::uint8_t>(axis)});
    }
    return false;  // neither a number nor the extent of an axis
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  basic_layouts<Image> layouts_;
  match_state& s_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline std::uint64_t axes_named(double axis, axis_use use) {
  if (!(axis < 0 && axis >= -63) || use == axis_use::none) return 0;
  auto const bit = std::uint64_t{1} << static_cast<int>(-axis - 1);
  return use == axis_use::one ? bit : 2 * bit - 1;
}

[[nodiscard]] inline bool axes_of_list(std::vector<std::int64_t> const& listed, int rank, std::uint64_t& into) {
  into = 0;
  for (auto axis : listed) {
    if (axis >= 0 && rank >= 0) axis -= rank;
    if (axis >= 0 || axis < -64) return false;
    into |= std::uint64_t{1} << static_cast<int>(-1 - axis);
  }
  return true;
}

template <class Image>
[[nodiscard]] int rank_of_axes(Image const& image, fact_table const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op == opcode::unsqueeze || op == opcode::one_hot) return known.rank(image.result(n));
  return image.operand_count(n) == 0 ? -1 : known.rank(image.operand(n, 0));
}

template <class Image>
[[nodiscard]] bool count_from_last(Image const& image, fact_table const& known, node_id n, double& axis) {
  auto const rank = rank_of_axes(image, known, n);
  if (axis >= 0 && rank >= 0) axis -= rank;
  return axis < 0 || rank < 0;
}

template <class Image>
[[nodiscard]] bool is_same_axis(Image const& image, fact_table const& known, node_id n, double a, double b) {
  auto const rank = rank_of_axes(image, known, n);
  return a == b || (rank >= 0 && (a < 0) != (b < 0) && a + (a < 0 ? rank : -rank) == b);
}

[[nodiscard]] inline bool makes_up(double count, int power, double factor) {
  auto const rounded = [](double number) { return static_cast<double>(static_cast<float>(number)); };
  auto const is = [&](double wanted) { return factor == wanted || factor == rounded(wanted); };
  auto const root = rounded(math::sqrt(count)), inverse = rounded(1 / math::sqrt(count));
  if (count == 0) return false;
  if (power < 0) return is(1 / count) || factor == inverse * inverse || factor == 1 / (root * root);
  return is(count) || factor == 1 / rounded(1 / count) || factor == root * root || factor == 1 / (inverse * inverse);
}

template <class Image>
class basic_reduced_axes {
 public:
  basic_reduced_axes(Image const& image, fact_table const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] bool read(node_id n, value_id restored) {
    bool keep = true;
    bits_ = 0;
    operand_ = image_.operand(n, 0);
    auto const rank = facts_.rank(operand_);
    if (!reduction_axes(image_, facts_, names_, n, axes_, keep, listed_)) {
      axes_.clear();
      return restored == absent && rank < 0 && count_from_last(n);
    }
    for (auto axis : axes_) bits_ |= std::uint64_t{1} << (rank - 1 - axis);
    if (restored != absent) return restores(restored);
    return keep || static_cast<int>(axes_.size()) == rank;
  }

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  [[nodiscard]] bool any() const { return !axes_.empty(); }
  [[nodiscard]] double elements() const {
    double count = 1;
    auto const extents = facts_.shape(operand_);
    for (auto axis : axes_) {
      auto const e = extents[static_cast<std::size_t>(axis)];
      count *= e.known() ? static_cast<double>(e.value()) : 0;
    }
    return count;
  }

 private:
  [[nodiscard]] bool restores(value_id v) const {
    if (!facts_.has_rank(v) || facts_.rank(v) != facts_.rank(operand_)) return false;
    auto const now = facts_.shape(v), before = facts_.shape(operand_);
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < now.size(); ++axis) {
      bool const reduced = next < axes_.size() && axes_[next] == static_cast<int>(axis);
      if (reduced) ++next;
      if (!(now[axis] == (reduced ? extent(1) : before[axis]))) return false;
    }
    return true;
  }

  [[nodiscard]] bool count_from_last(node_id n) {
    double keep = 1;
    if (!read_number(image_, facts_, names_, n, "keepdims", keep) || keep == 0) return false;
    if (!read_integers(image_, facts_, names_, n, "axes", listed_) || listed_.empty()) return false;
    return axes_of_list(listed_, -1, bits_);
  }

  Image const& image_;
  fact_table const& facts_;
  dialect const& names_;
  value_id operand_ = absent;
  std::uint64_t bits_ = 0;
  std::vector<int> axes_;  // from the first, rising; none where the rank is not known
  std::vector<std::int64_t> listed_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_value_steps {
 public:
  basic_value_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                    congruence& congruent, match_state& state)
      : rules_(rules),
        image_(image),
        facts_(known),
        names_(names),
        congruent_(congruent),
        s_(state),
        data_operands_(names.rows.size() + 1, 0xffff),
        views_(match_state::rest_capacity) {
    for (std::size_t code = 1; code < data_operands_.size(); ++code)
      if (auto const* row = names_.row(static_cast<std::uint16_t>(code), image_.version);
          row != nullptr && row->operands >= 0)
        data_operands_[code] = static_cast<std::uint16_t>(row->operands);
  }

  [[nodiscard]] value_id seen_through(value_id v, std::uint8_t set, bool free) const {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent || image_.result_index(v) != 0) return absent;
    auto const& record = image_.node(n);
    auto const seen = kept_operand(image_, facts_, n);
    if (seen == absent || record.region != s_.region) return absent;
    auto const& through = rules_.sets[set - 1u];
    auto const op = static_cast<opcode>(record.tag.op);
    if (through.contains(record.tag.name, record.tag.op)) {
      if (may_repeat(op) && !(free && broadcasts(image_, facts_, n)) && !unchanged(image_, facts_, n)) return absent;
    } else if (!may_keep_elements(op) || !through.has_identity() || !unchanged(image_, facts_, n)) {
      return absent;
    }
    auto const below = facts_.type(seen), type = facts_.type(image_.result(n));
    bool const floating =
        (below == element_type::unknown || is_floating(below)) && (type == element_type::unknown || is_floating(type));
    return floating || (below == type && unchanged(image_, facts_, n)) ? seen : absent;
  }

  value_id stripped(instruction const& i, bool count) {
    return stripped(s_.value(i.a), i.through, (i.flags & instruction::free) != 0, count);
  }
  value_id stripped(value_id v, std::uint8_t set, bool free, bool count) {
    if (set == 0) return v;
    for (int i = 0; i < 8; ++i) {
      auto const below = seen_through(v, set, free);
      if (below == absent) return v;
      if (count) s_.add_matched(image_.producer(v));
      v = below;
    }
    return v;
  }

  bool operation(instruction const& i, value_id v) {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent) return false;
    auto const& record = image_.node(n);
    if (!s_.registers[i.a].plain() || record.region != s_.region ||
        (i.code == step::exactly ? record.tag.name : record.tag.op) != i.op)
      return false;
    if (image_.result_index(v) != i.c) return false;
    std::uint32_t const wanted = i.count & 0x7fu;
    bool const open_ended = (i.count & 0x80u) != 0;
    std::uint32_t there = record.operand_count;
    if (auto const most = data_operands_[record.tag.name]; there > most) there = most;
    if (!open_ended)
      for (std::uint32_t k = wanted; k < there; ++k)
        if (image_.operand(n, k) != absent) return false;
    if (open_ended && there < wanted) return false;
    for (std::uint32_t k = 0; k < wanted; ++k) s_.registers[i.b + k] = {{k < there ? image_.operand(n, k) : absent}};
    s_.add_matched(n);
    return true;
  }

  bool operands(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));  // an operator was found there
    auto const count = image_.operand_count(n);
    auto const first = s_.member_count();
    if (auto const& known = s_.slot(i.b); known.bound) {
      if (known.axes != 0 || i.count + known.members != count) return false;
      for (std::uint32_t k = i.count; k < count; ++k)
        if (!congruent_.same(s_.members(i.b)[k - i.count].value, image_.operand(n, k))) return false;
      return true;
    }
    for (std::uint32_t k = i.count; k < count; ++k)
      if (!s_.add_member(image_.operand(n, k), 1)) return false;
    return s_.bind_members(i.b, first, op_group::none);
  }

  bool same(std::uint8_t a, std::uint8_t b) {
    auto const &x = s_.registers[a], &y = s_.registers[b];
    if (x.shape != y.shape && !facts_.same_shape(x.shape, y.shape)) return false;
    return x.times == y.times && x.power == y.power && !y.apart && congruent_.same_bare(x.value, y.value);
  }

  bool agrees(instruction const& i) {
    auto const v = stripped(i, false);
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind(i.b, {.value = v});
    auto const n = image_.producer(v), first = image_.producer(known.value);
    if (n == first) return true;
    if (!congruent_.agree(n, first)) return false;
    auto const count = image_.operand_count(n), others = image_.operand_count(first);
    for (std::uint32_t k = data_operands_[image_.node(n).tag.name]; k < count || k < others; ++k)
      if (k >= count || k >= others || !congruent_.same(image_.operand(n, k), image_.operand(first, k))) return false;
    return true;
  }

  bool capture(std::uint8_t at, value_id v) {
    if (v == absent) return false;
    auto const& known = s_.slot(at);
    if (known.bound) return known.value == v || congruent_.same(known.bare, bare_value(image_, facts_, v));
    return s_.bind(at, {.value = v, .bare = bare_value(image_, facts_, v)});
  }

  bool bind_number(std::uint8_t at, double number, value_id from, std::uint64_t axes = 0) {
    auto const& known = s_.slot(at);
    if (!known.bound) return s_.bind(at, {.value = from, .bare = from, .number = number, .axes = axes});
    bool const exact = is_of_integers(facts_, from) || is_of_integers(facts_, known.value);
    return known.is_single() && math::close_to(known.number, number, exact ? 0 : 1e-7);
  }

  bool bind_axes(std::uint8_t at, std::uint64_t axes, double number) {
    auto const& known = s_.slot(at);
    if (!known.bound) return bind_number(at, number, absent, axes);
    if (!known.is_single()) return false;
    if (axes != 0 && known.axes != 0) return axes == known.axes;
    if (axes == 0 && known.axes == 0)
      return number == known.number || (number != number && known.number != known.number);
    return axes == 0 ? known.axes == 1 && number == -1 : axes == 1 && known.number == -1;
  }

  bool scalar(instruction const& i) {
    auto const& r = s_.registers[i.a];
    double number = 0;
    return r.value != absent && r.power == 1 && facts_.number(r.value, number) && has_as_large_beside(i) &&
           bind_number(i.b, number, r.value);
  }
  [[nodiscard]] bool number(instruction const& i) const {
    return s_.registers[i.a].power == 1 &&
           equals_number(image_, facts_, s_.value(i.a), i.number, static_cast<double>(i.tolerance)) &&
           has_as_large_beside(i);
  }

  [[nodiscard]] bool has_as_large_beside(instruction const& i) const {
    double number = 0;
    auto const v = s_.value(i.a);
    if (i.count == 0 || (facts_.rank(v) == 0 && facts_.number(v, number))) return true;
    for (std::uint8_t k = 0; k < i.count; ++k)
      if (auto const beside = s_.value(static_cast<std::uint8_t>(i.c + k));
          i.c + k != i.a && beside != absent && facts_.broadcasts_into(v, beside))
        return true;
    return false;
  }

  bool parameter(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));
    auto const name = rules_.parameter_names[i.op];
    if (n == absent) return false;
    if (read_list(image_, facts_, names_, n, name, listed_) == parameter_state::known) return list(i, n, name);
    double number = 0;
    if (!read_number(image_, facts_, names_, n, name, number)) return false;
    if (name == "axis" || name == "axes") return axis(i, n, name == "axes", number);
    if (i.b == no_slot) return math::close_to(number, i.number, static_cast<double>(i.tolerance));
    return bind_number(i.b, number, absent);
  }

  bool element(instruction const& i) {
    auto const n = image_.producer(stripped(i, false));
    auto const name = rules_.parameter_names[i.op];
    if (n == absent || read_list(image_, facts_, names_, n, name, listed_) != parameter_state::known ||
        listed_.size() != i.count)
      return false;
    auto const number = static_cast<double>(listed_[i.c]);
    return name == "axes" ? is_same_axis(image_, facts_, n, number, i.number) : number == i.number;
  }
  [[nodiscard]] bool over(instruction const& i) {
    auto const v = stripped(i, false);
    auto const n = image_.producer(v);
    std::uint64_t axes = i.b == no_slot ? 0 : s_.slot(i.b).axes;
    int rank = facts_.rank(v);
    if (i.b == no_slot) {
      if (n == absent || read_list(image_, facts_, names_, n, "axes", listed_) != parameter_state::known) return false;
      rank = rank_of_axes(image_, facts_, n);
      if (!axes_of_list(listed_, rank, axes)) return false;
    }
    auto wanted = static_cast<std::uint64_t>(i.number);
    for (int first = 0; i.op >> first != 0; ++first) {
      if ((i.op >> first & 1) == 0) continue;
      if (first >= rank) return false;
      wanted |= std::uint64_t{1} << (rank - 1 - first);
    }
    return axes == wanted && std::popcount(wanted) == i.count;  // two may be one axis
  }

  bool condition_holds(std::uint16_t at) {
    auto const& c = rules_.conditions[at];
    std::size_t used = 0;
    for (std::size_t k = 0; k < c.what.count; ++k) {
      auto const s = c.slots[k];
      auto& argument = arguments_[k] = captured{};
      if (s == no_slot || !s_.slot(s).bound) continue;
      auto const& b = s_.slot(s);
      argument.bound = true;
      argument.number = b.number;
      argument.axes = b.axes;
      argument.integers = s_.integers(s);
      auto const first = used;
      if (rules_.rules[c.rule].slot_kinds[s] == slot_kind::rest) {
        for (auto const& m : s_.members(s))
          if (used < match_state::rest_capacity) views_[used++] = {image_, facts_, names_, m.value};
      } else if (used < match_state::rest_capacity) {
        auto const is = rules_.rules[c.rule].slot_kinds[s];
        views_[used++] = is == slot_kind::value ? value_view(image_, facts_, names_, b.value)
                         : is == slot_kind::dimension
                             ? value_view(image_, facts_, names_, absent, b.number, 0)
                             : value_view(image_, facts_, names_, b.value, b.number, b.axes, s_.integers(s));
      }
      argument.values = {views_.data() + first, used - first};
    }
    return c.what.holds == nullptr || c.what.holds(arguments_, c.what);
  }

 private:
  bool axis(instruction const& i, node_id n, bool listed, double number) {
    if (i.b == no_slot) return is_same_axis(image_, facts_, n, number, i.number);
    if (!count_from_last(image_, facts_, n, number)) return false;
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    auto const use = listed ? axis_use::one : axis_use_of(row, op_of(image_, n));
    return bind_axes(i.b, axes_named(number, use), number);
  }

  bool list(instruction const& i, node_id n, std::string_view name) {
    if (name == "axes") {
      auto const rank = rank_of_axes(image_, facts_, n);
      bool const set = has_set_of_axes(op_of(image_, n));
      if (set && listed_.size() == 1) return axis(i, n, true, static_cast<double>(listed_[0]));
      std::uint64_t axes = 0;
      if (set) return i.b != no_slot && axes_of_list(listed_, rank, axes) && axes != 0 && bind_axes(i.b, axes, 0);
      for (auto& each : listed_)
        if (each >= 0 && rank >= 0 && (each -= rank) >= 0) return false;
    }
    if (i.b == no_slot) return listed_.size() == 1 && static_cast<double>(listed_[0]) == i.number;
    auto const& known = s_.slot(i.b);
    if (!known.bound) return s_.bind_integers(i.b, listed_);
    if (!known.listed) return known.axes == 0 && listed_.size() == 1 && static_cast<double>(listed_[0]) == known.number;
    auto const before = s_.integers(i.b);
    bool same = before.size() == listed_.size();
    for (std::size_t k = 0; same && k < listed_.size(); ++k) same = before[k] == listed_[k];
    return same;
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  congruence& congruent_;
  match_state& s_;
  captured arguments_[condition::capacity];    // what a condition is asked about
  plain_vector<std::uint16_t> data_operands_;  // by name code: how many operands are data and not parameters
  plain_vector<value_view> views_;             // the values among them
  std::vector<std::int64_t> listed_;           // the parameter that is looked at
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_reduction_steps {
 public:
  basic_reduction_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                        congruence& congruent, basic_value_steps<Image>& values, basic_group_steps<Image>& groups,
                        match_state& state)
      : rules_(rules),
        image_(image),
        congruent_(congruent),
        values_(values),
        groups_(groups),
        s_(state),
        axes_(image, known, names) {}

  bool reduction(instruction const& i) {
    auto& from = s_.registers[i.a];
    scaled found{values_.stripped(i, true), from.shape, static_cast<double>(from.power)};
    auto const wanted = static_cast<opcode>(i.op);
    if (!is_node(found.value)) return false;
    if (op_of(found.value) != wanted && summing_of(op_of(found.value)).of == 0 && !below_factors(i, found))
      return false;
    auto const n = image_.producer(found.value);
    auto const op = op_of(found.value);
    summing const as = summing_of(wanted);
    summing how = op == wanted ? as : summing_of(op);
    if (op == wanted && (as.of == 0 || found.power == 1))
      how.of = 1, how.power = 1;  // whatever it is
    else if (!is_summing_of_others(wanted) || how.of == 0)
      return false;
    if (how.power * found.power != 1 || image_.operand_count(n) == 0) return false;
    int const counts = int{how.divided} - int{as.divided};
    if (!axes_.read(n, found.shape)) return false;
    bool apart = false;
    if (counts == 0) {
      if (found.factor != 1) return false;
    } else if (!axes_.any()) {
      return false;
    } else if (auto const number = axes_.elements(); !makes_up(number, counts, found.factor)) {
      apart = number != 0 && found.factor == 1 && from.member != no_instruction && (i.flags & instruction::alone) == 0;
      if (!apart) return false;
      auto const& member = rules_.code[from.member];
      if (!groups_.owe(member.a, math::pow(number, counts * member.number))) return false;
    }
    auto const axis = axes_.bits() != 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (!values_.bind_axes(i.c, axes_.bits(), axis)) return false;
    from.apart = apart;
    s_.registers[i.b] = {{image_.operand(n, 0), absent, static_cast<std::uint8_t>(how.of)}};
    s_.add_matched(n);
    return true;
  }

 private:
  struct scaled {
    value_id value, shape;
    double power = 1, factor = 1;
  };

  [[nodiscard]] opcode op_of(value_id v) const { return v0::op_of(image_, image_.producer(v)); }
  [[nodiscard]] bool is_node(value_id v) const {
    return v != absent && image_.producer(v) != absent && image_.node(image_.producer(v)).region == s_.region;
  }

  bool below_factors(instruction const& i, scaled& found) {
    if (opening_of(op_of(found.value), op_group::product).when == opens_with::none &&
        !may_keep_elements(op_of(found.value)))
      return false;
    auto& f = product_;
    auto const flags = static_cast<std::uint8_t>(i.flags & instruction::free);
    groups_.opener().open(f, {{found.value, found.shape}, op_group::product, i.through, flags, s_.region});
    s_.bounded = s_.bounded || f.bounded;
    if (f.negative()) return false;
    found = {absent, absent, 0, f.number(f.all())};
    for (std::uint8_t k = 0; k < f.count; ++k) {
      auto const& p = f.parts[k];
      if (p.leaf && !p.has_number) {
        if (found.value == absent)
          found.value = p.value, found.shape = p.shape;
        else if (found.shape != p.shape || !congruent_.same_bare(found.value, p.value))
          return false;
        found.power += p.weight * p.power;
      } else if (!p.leaf && p.leaves != 0) {
        s_.add_matched(image_.producer(p.value));
      }
    }
    return is_node(found.value) && groups_.may_leave_out(f, f.numbers);
  }

  program const& rules_;
  Image const& image_;
  congruence& congruent_;
  basic_value_steps<Image>& values_;
  basic_group_steps<Image>& groups_;
  match_state& s_;
  opened_group product_;
  basic_reduced_axes<Image> axes_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class failure_listener {
 public:
  virtual void failed(std::uint16_t instruction, value_id at, int score) = 0;

 protected:
  ~failure_listener() = default;
};

class match_acceptor {
 public:
  virtual bool accept(std::uint16_t rule) = 0;
  virtual void refuse(std::uint16_t /*rule*/, std::uint16_t /*condition*/) {}

 protected:
  ~match_acceptor() = default;
};

template <class Image>
class basic_interpreter {
 public:
  static constexpr int step_limit = 50'000;

  basic_interpreter(program const& rules, Image const& image, facts const& known, dialect const& names,
                    congruence& congruent, basic_filter<Image>& told)
      : rules_(rules),
        image_(image),
        facts_(known),
        filter_(told),
        values_(rules, image, known, names, congruent, s_),
        groups_(rules, image, known, congruent, told, s_),
        reductions_(rules, image, known, names, congruent, values_, groups_, s_),
        layouts_(rules, image, known, names, s_) {}
  basic_interpreter(basic_interpreter const&) = delete;
  basic_interpreter& operator=(basic_interpreter const&) = delete;

  [[nodiscard]] match_state const& found() const { return s_; }
  [[nodiscard]] node_id root() const { return root_; }

  void listen(failure_listener* to) { listener_ = to; }
  void begin() { s_.exceeded = s_.bounded = false; }
  void forget() { groups_.forget(); }

  bool enter(node_id n, entrance const& e, match_acceptor& to) {
    acceptor_ = &to;
    score_ = 0;
    groups_.begin();
    root_ = n;
    s_.region = image_.node(n).region;
    auto const begin = s_.here();
    auto const root = image_.result(n);
    s_.registers[0] = s_.registers[1] = {{root}};
    if (e.strip != 0) {
      s_.registers[1] = {{values_.stripped(root, e.strip, true, true)}};
      if (s_.value(1) == root) return false;
    }
    auto const stripped = s_.here();  // what was looked through is matched, whichever way is gone
    auto const from = [&](std::uint16_t pc) {
      steps_ = 0;  // what one rule does, or those that begin like it, is not taken from others
      return try_from(pc, stripped);
    };
    bool const stop = any_branch(e, from);
    s_.rewind(begin);
    return stop;
  }

 private:
  [[nodiscard]] value_id operators_at(std::uint8_t at) const {
    return s_.registers[at].power == 1 ? s_.value(at) : operator_sets::of_anything;
  }

  template <class Where, class GoOn>
  bool any_branch(Where const& where, GoOn const& go_on) const {
    return filter_.branches(
        where, [&](std::uint8_t at) { return operators_at(at); }, go_on);
  }

  bool fail(std::uint16_t pc) {
    if (listener_ != nullptr) listener_->failed(pc, looked_at(rules_.code[pc]), score_);
    return false;
  }
  [[nodiscard]] value_id looked_at(instruction const& i) {
    switch (i.code) {
      case step::operation:
      case step::exactly:
      case step::parameter:
      case step::element:
      case step::over:
      case step::users: return values_.stripped(i, false);
      case step::condition: return s_.value(0);
      default: return i.is_of_frame() ? s_.opened(i.a).asked.of.value : s_.value(i.a);
    }
  }

  bool run(std::uint16_t pc) {
    int const score = score_;
    bool const stop = interpret(pc);
    if (!stop) score_ = score;
    return stop;
  }

  bool try_from(std::uint16_t pc, match_state::mark const& back) { return try_if(true, pc, back); }
  bool try_if(bool held, std::uint16_t pc, match_state::mark const& back) {
    if (held && run(pc)) return true;
    s_.rewind(back);
    return false;
  }

  bool interpret(std::uint16_t pc) {
    while (true) {
      if (++steps_ > step_limit) return s_.exceeded = true, false;
      auto const& i = rules_.code[pc];
      bool held = true;
      switch (i.code) {
        case step::fork: {
          auto const back = s_.here();
          return any_branch(pc, [&](std::uint16_t to) { return try_from(to, back); });
        }
        case step::operation:
        case step::exactly:
          held = values_.operation(i, values_.stripped(i, true));
          if (!held) break;
          score_ += 2;
          if ((i.flags & instruction::commutes) != 0) {
            if (try_from(i.next, s_.here())) return true;
            std::swap(s_.registers[i.b], s_.registers[i.b + 1]);
          }
          break;
        case step::reduction:
          held = reductions_.reduction(i);
          if (held) score_ += 2;
          break;
        case step::within: held = filter_.has_below(i, operators_at(i.a)); break;
        case step::group:
          if (static_cast<sign_use>(i.c) == sign_use::strict) {
            held = groups_.open(i, s_.registers[i.a].times);
          } else {
            auto const back = s_.here();
            held = groups_.open(i, 1);
            if (held && try_from(i.next, back)) return true;
            held = held && groups_.open(i, -1);
          }
          break;
        case step::member: return member(i, pc);
        case step::scalar_member: return scalar_member(i, pc);
        case step::literal: held = groups_.literal(i); break;
        case step::rest: held = groups_.rest(i); break;
        case step::close: held = groups_.close(i); break;
        case step::operands: held = values_.operands(i); break;
        case step::capture:
          held = s_.registers[i.a].plain();
          if (held && i.through != 0 && !s_.slot(i.b).bound) return capture_below(i);
          held = held && values_.capture(i.b, s_.value(i.a));
          break;
        case step::scalar: held = values_.scalar(i); break;
        case step::number: held = values_.number(i); break;
        case step::missing: held = s_.value(i.a) == absent; break;
        case step::parameter: held = values_.parameter(i); break;
        case step::element: held = values_.element(i); break;
        case step::over: held = values_.over(i); break;
        case step::users: held = image_.used_by(values_.stripped(i, false), i.op); break;
        case step::user: return user(i, pc);
        case step::same: held = values_.same(i.a, i.b); break;
        case step::agrees: held = values_.agrees(i); break;
        case step::recall: s_.registers[i.a] = {{s_.slot(i.b).value}}; break;
        case step::strip: return strip(i);
        case step::rearranged: return rearranged(i, pc);
        case step::condition:
          held = values_.condition_holds(i.op);
          if (!held && !rules_.conditions[i.op].what.silent) acceptor_->refuse(rules_.conditions[i.op].rule, i.op);
          break;
        case step::accept: return acceptor_->accept(i.op);
      }
      if (!held) return fail(pc);
      pc = i.next;
    }
  }

  bool member(instruction const& i, std::uint16_t pc) {
    using and_then = typename basic_group_steps<Image>::and_then;
    auto& f = s_.frames[i.a];
    bool const captures = (i.flags & instruction::captures) != 0, any_sign = (i.flags & instruction::any_sign) != 0;
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (p.leaves == 0 || (p.leaves & f.covered) != 0 || (captures ? s_.is_root(p.value) : !f.group->whole(k)))
        continue;
      auto const found = groups_.any_like_terms(f, k, [&](double weight, std::uint32_t leaves, std::uint32_t taken) {
        if (weight != i.number && p.value == absent) return and_then::leave;
        bool const scales = (i.flags & instruction::scales) != 0;  // it has a coefficient: whatever there is
        double const sign = scales ? weight / i.number : any_sign && weight * i.number < 0 ? -1 : 1;
        bool const enough = scales || groups_.same_weight(f, weight, sign * i.number);
        if (enough && part(i, pc, p, sign, leaves, taken)) return and_then::take;
        bool const may_grow = scales || (!enough && groups_.may_add_up(f, weight, sign * i.number));
        return may_grow && p.value != absent ? and_then::add_others : and_then::leave;
      });
      if (found) return true;
    }
    return fail(pc);
  }

  bool part(instruction const& i, std::uint16_t pc, opened_group::part const& p, double sign, std::uint32_t leaves,
            std::uint32_t taken) {
    int const telling = i.number == 1 || i.number == -1 ? 0 : 1;
    auto const& f = s_.frames[i.a];
    auto const only = f.group->leaf_count == 1 ? f.member : no_instruction;
    s_.registers[i.b].take(p, sign, f.group->sums() ? only : pc);
    auto const back = s_.here();
    return any_branch(i.next, [&](std::uint16_t to) {
      if (!s_.cover(i.a, leaves, taken)) return false;
      score_ += telling;
      if (try_from(to, back)) return true;
      score_ -= telling;
      return false;
    });
  }

  bool scalar_member(instruction const& i, std::uint16_t pc) {
    auto& f = s_.frames[i.a];
    for (std::uint8_t k = 0; k < f.group->count; ++k) {
      auto const& p = f.group->parts[k];
      if (!p.has_number || p.value == absent || (k == 0 && !p.leaf) || (p.leaves & f.covered) != 0) continue;
      auto number = p.number;
      auto const w = f.weight(p);
      bool const sum = f.group->sums();
      auto const type = facts_.type(p.value);
      if (w == -i.number && (sum ? !is_unsigned(type) : number != 0 && !is_integer(type)))
        number = sum ? -number : 1 / number;  // subtracted, or divided by
      else if (w != i.number)
        continue;
      if (!groups_.may_leave_out(*f.group, p.leaves)) continue;
      auto const back = s_.here();
      auto const from = w == i.number ? p.value : absent;
      if (try_if(s_.cover(i.a, p.leaves, 1u << k) && values_.bind_number(i.b, number, from), i.next, back)) return true;
    }
    if (!f.group->dropped) fail(pc);
    if (f.group->dropped || (i.flags & instruction::optional) != 0) {  // a constant 0 or 1 that was left out
      auto const back = s_.here();
      if (try_if(values_.bind_number(i.b, f.group->sums() ? 0 : 1, absent), i.next, back)) return true;
    }
    return fail(pc);
  }

  bool capture_below(instruction const& i) {
    auto const above = s_.value(i.a);
    auto& v = s_.registers[i.a].value;
    for (int tries = 0; tries < 9;) {
      auto const next = values_.seen_through(v, i.through, (i.flags & instruction::free) != 0);
      if (next == absent || !unchanged(image_, facts_, image_.producer(v))) {  // else it makes no difference
        auto const back = s_.here();
        if (try_if(values_.capture(i.b, v), i.next, back)) return true;
        ++tries;
      }
      if (next == absent) break;
      s_.add_matched(image_.producer(v));
      v = next;
    }
    v = above;
    return false;
  }

  bool strip(instruction const& i) { return strip(i, s_.value(i.a), 0); }
  bool strip(instruction const& i, value_id v, int passed) {
    auto const below =
        i.through == 0 || passed == 8 ? absent : values_.seen_through(v, i.through, (i.flags & instruction::free) != 0);
    auto const back = s_.here();
    if (below != absent) {
      s_.add_matched(image_.producer(v));
      if (strip(i, below, passed + 1)) return true;
      s_.rewind(back);
    }
    s_.registers[i.b] = s_.registers[i.a];
    s_.registers[i.b].value = v;
    return try_from(i.next, back);
  }

  [[nodiscard]] bool may_be_base(instruction const& i, value_id from) {
    if (i.number == 0) return true;
    auto const n = image_.producer(values_.stripped(from, i.through, false, false));
    return n != absent && i.number == 1. + static_cast<double>(image_.node(n).tag.op);
  }
  bool rearranged(instruction const& i, std::uint16_t pc) {
    if (!s_.registers[i.a].plain()) return fail(pc);
    auto const v = s_.value(i.a);
    auto const back = s_.here();
    value_id below[basic_layout_steps<Image>::most_below + 1];
    int count = 0;
    for (auto from = v; from != absent && count <= layouts_.most_below; from = layouts_.below(from))
      below[count++] = from;
    while (count-- > (s_.is_root(v) ? 1 : 0)) {  // what is replaced is made of something else
      if (may_be_base(i, below[count]) && layouts_.rearranged(i, v, below[count])) {
        s_.registers[i.b] = {{below[count]}};
        if (run(i.next)) return true;
      }
      s_.rewind(back);
    }
    return fail(pc);
  }

  bool user(instruction const& i, std::uint16_t pc) {
    int scanned = 0;
    auto const v = s_.value(i.a);
    auto const back = s_.here();
    if ((i.flags & instruction::optional) != 0) {
      s_.registers[i.b] = {{v}};
      if (try_from(i.next, back)) return true;
    }
    return user_of(i, v, scanned, 0) || fail(pc);
  }
  bool user_of(instruction const& i, value_id v, int& scanned, int passed) {
    bool const climbs = (i.flags & instruction::climbs) != 0;
    for (auto at = image_.value(v).first_use; at != absent; at = image_.use_at(at).next) {
      auto const n = image_.use_at(at).node;
      if (image_.node(n).result_count <= i.c || image_.node(n).region != s_.region) continue;
      if (++scanned > 1024) return s_.exceeded = true, false;
      bool const fits = is_user(i, image_.node(n).tag);
      if (fits) {
        s_.registers[i.b] = {{image_.result(n, i.c)}};
        if (try_from(i.next, s_.here())) return true;
      }
      bool const on = climbs && passed < 16 && fits;
      if (!on && (i.through == 0 || passed >= 8 || !passes_on(n, v, i.through))) continue;
      if (user_of(i, image_.result(n), scanned, passed + 1)) return true;
    }
    return false;
  }
  template <class Tag>
  [[nodiscard]] static bool is_user(instruction const& i, Tag const& tag) {
    if ((i.flags & instruction::named) != 0) return tag.name == i.op;
    auto const op = static_cast<opcode>(tag.op);
    if ((i.flags & instruction::climbs) == 0) return i.op == 0 || tag.op == i.op;
    return is_spelling(op) || op == opcode::unsqueeze || op == opcode::reshape;
  }
  [[nodiscard]] bool passes_on(node_id n, value_id v, std::uint8_t set) const {
    auto const& tag = image_.node(n).tag;
    return rules_.sets[set - 1u].contains(tag.name, tag.op) && image_.operand(n, 0) == v;
  }

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  basic_filter<Image> const& filter_;
  match_state s_;
  basic_value_steps<Image> values_;
  basic_group_steps<Image> groups_;
  basic_reduction_steps<Image> reductions_;
  basic_layout_steps<Image> layouts_;
  failure_listener* listener_ = nullptr;
  match_acceptor* acceptor_ = nullptr;
  node_id root_ = absent;
  int steps_ = 0;
  int score_ = 0;  // how telling what has matched so far is: operators and reductions 2, powers 1
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_machine {
 public:
  using acceptor = match_acceptor;
  static constexpr int step_limit = basic_interpreter<Image>::step_limit;

  basic_machine(filter_tables const& of, Image const& image, facts const& known, dialect const& names)
      : rules_(of.rules),
        image_(image),
        names_(names),
        congruent_(image, known, names_),
        filter_(of, image, known),
        interpreter_(rules_, image, known, names_, congruent_, filter_) {}
  basic_machine(basic_machine const&) = delete;
  basic_machine& operator=(basic_machine const&) = delete;

  void look() {
    stale_ = true;
    interpreter_.forget();
  }
  void look(node_id n) {
    interpreter_.forget();
    filter_.update(n);
    congruent_.update(n);
  }
  void add(node_id n) {
    interpreter_.forget();
    filter_.add(n);
    congruent_.update(n);
  }

  void compare_anew() { congruent_.update(); }

  void filter(bool on) {
    filter_.turn(on);
    interpreter_.forget();
  }
  [[nodiscard]] bool filters() const { return filter_.is_on(); }

  [[nodiscard]] program const& rules() const { return rules_; }
  [[nodiscard]] congruence& congruent() { return congruent_; }
  [[nodiscard]] match_state const& found() const { return interpreter_.found(); }
  [[nodiscard]] bool told_apart() const { return congruent_.told_apart(); }

  void listen(failure_listener* to) { interpreter_.listen(to); }

  bool run(node_id n, int stage, acceptor& to) {
    start(n);
    if (!may_match(n, stage)) return false;
    if (stale_) take_in();
    return run_stage(n, stage, to);
  }

  void run(node_id n, acceptor& to) {
    start(n);
    if (!may_match(n, rules_.stages)) return;
    if (stale_) take_in();
    run_stages(n, to);
  }

  void run(acceptor& to) {
    if (stale_) take_in();
    filter_.for_each_hopeful([&](node_id n) {
      interpreter_.begin();
      run_stages(n, to);
    });
  }

  [[nodiscard]] bool has_entry(node_id n, int stage) const {
    auto const& of = filter_.entrances_at(n, stage);
    return of.first != of.last || filter_.has_name(n);
  }
  [[nodiscard]] bool begins(opcode op, int stage) const {
    auto const& of = filter_.entrances_of(op, stage);
    return of.first != of.last;
  }
  [[nodiscard]] bool may_match(node_id n, int stage) const { return filter_.may_match(n, stage); }
  [[nodiscard]] node_id root() const { return interpreter_.root(); }

 private:
  void take_in() {
    stale_ = false;
    filter_.update();
    congruent_.update();
  }

  [[gnu::always_inline]] void start(node_id n) {
    interpreter_.begin();
    congruent_.forget_told_apart();
    filter_.expect_before(n);
  }

  bool run_stage(node_id n, int stage, acceptor& to) {
    return image_.node(n).result_count != 0 &&
           filter_.any_entrance(n, stage, [&](entrance const& e) { return enter(n, e, to); });
  }
  void run_stages(node_id n, acceptor& to) {
    if (image_.node(n).result_count == 0) return;
    if (filter_.entrances_at(n, rules_.stages).named && filter_.has_name(n)) {
      for (int stage = 0; stage < rules_.stages; ++stage) run_stage(n, stage, to);
      return;
    }
    int done = -1;  // the last stage that has accepted
    filter_.any_entrance(n, rules_.stages, [&](entrance const& e) {
      if (e.stage != done && enter(n, e, to)) done = e.stage;
      return false;
    });
  }

  bool enter(node_id n, entrance const& e, acceptor& to) {
    return filter_.leads_on(n, e) && interpreter_.enter(n, e, to);
  }

  program const& rules_;
  Image const& image_;
  dialect const names_;
  congruence congruent_;
  basic_filter<Image> filter_;
  basic_interpreter<Image> interpreter_;
  bool stale_ = false;  // the image has changed
};
using machine = basic_machine<graph_image>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_machine<graph_image>;
#endif

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline std::string text_of_axes(instruction const& i) {
  std::string text;
  auto const add = [&](int axis) { text += (text.empty() ? "" : ", ") + std::to_string(axis); };
  for (int bit = 0; bit < 16; ++bit)
    if ((i.op >> bit & 1) != 0) add(bit);
  for (int bit = 52; bit-- > 0;)
    if ((static_cast<std::uint64_t>(i.number) >> bit & 1u) != 0) add(-1 - bit);
  return text;
}

struct requirement {
  std::string condition, expected;
};

[[nodiscard]] inline std::string with_article(std::string_view noun) {
  bool const vowel = !noun.empty() && std::string_view("aeiouAEIOU").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

[[nodiscard]] inline std::string power(double exponent) {
  if (exponent == 2) return "a square";
  if (exponent == -0.5) return "a reciprocal square root";
  if (exponent == 0.5) return "a square root";
  if (exponent == 1) return "a factor";
  if (exponent == -1) return "a divisor";
  return "a factor with exponent " + std::to_string(exponent);
}

[[nodiscard]] inline std::string operators_in(std::uint64_t set, program const& rules) {
  std::string names;
  auto const add = [&](std::string_view name) { names += (names.empty() ? "" : " and ") + with_article(name); };
  if ((set & root_bit) != 0) add("root");
  auto const tested = [&](opcode op) {  // several operators share a bit
    for (auto const& i : rules.code)
      if ((i.code == step::operation || i.code == step::reduction) && i.op == static_cast<std::uint16_t>(op))
        return true;
    return false;
  };
  for (auto const& known : operator_table)
    if ((set & operator_bit(known.op)) != 0 && tested(known.op)) {
      add(known.name);
      set &= ~operator_bit(known.op);
    }
  return names;
}

[[nodiscard]] inline requirement requirement_of(program const& rules, instruction const& i, rule_info const& rule,
                                                dialect const& names, op_group kind) {
  auto const slot = [&](std::uint8_t at) {
    return at < rule.slot_count ? std::string(rule.slot_names[at]) : std::string();
  };
  switch (i.code) {
    case step::operation:
      return {"another operator", with_article(name_of(static_cast<opcode>(i.op))) + " with " +
                                      std::to_string(i.count & 0x7f) + " operands"};
    case step::exactly: return {"another operator", "exactly " + std::string(names.rows[i.op - 1u].name)};
    case step::reduction:
      return {std::string(name_of(static_cast<opcode>(i.op))) + " over known axes",
              with_article(name_of(static_cast<opcode>(i.op))) +
                  " that keeps its axes, over constant axes that agree with those of the rule's other reductions"};
    case step::within:
      return {"operators", operators_in(static_cast<std::uint64_t>(i.number), rules) + " somewhere below"};
    case step::member:
      return kind == op_group::product
                 ? requirement{"factors", power(i.number) + " among the factors"}
                 : requirement{"addends",
                               std::string(i.number > 0 ? "an addend" : "a subtracted term") + " that matches"};
    case step::scalar_member:
    case step::scalar:
      return {slot(i.b) + " is a constant with one element",
              "'" + slot(i.b) + "', a constant with one element that no caller may override"};
    case step::literal:
    case step::number: return {"constant", "the constant " + std::to_string(i.number)};
    case step::rest: {
      std::string const left = kind == op_group::product ? "factors" : "addends";
      return {left, left + " that can be '" + slot(i.b) + "'"};
    }
    case step::operands: return {"operands", "operands that can be '" + slot(i.b) + "'"};
    case step::close:
      return {"nothing left over",
              kind == op_group::product ? "no further factor and no minus sign" : "no further addend"};
    case step::capture: return {"the same value", "'" + slot(i.b) + "', the same value as elsewhere in the rule"};
    case step::same: return {"the same value", "the same computation as elsewhere in the rule"};
    case step::agrees:
      return {"the same parameters", "the same operator with the same parameters as elsewhere in the rule"};
    case step::recall: break;
    case step::missing: return {"absent operand", "no operand"};
    case step::parameter:
      return {std::string(rules.parameter_names[i.op]),
              "'" + std::string(rules.parameter_names[i.op]) + "' to be " +
                  (i.b == no_slot ? digits(i.number) : "known, and the same as elsewhere in the rule")};
    case step::element:
      return {std::string(rules.parameter_names[i.op]),
              "'" + std::string(rules.parameter_names[i.op]) + "' to be a list of " + std::to_string(i.count) +
                  " numbers, of which number " + std::to_string(i.c + 1) + " is " + digits(i.number)};
    case step::over: return {"axes", "no other axes than " + text_of_axes(i)};
    case step::users: return {"users", "exactly " + std::to_string(i.op) + " users"};
    case step::user: return {"second root", "a user that is the rule's other root"};
    case step::rearranged:
      return {"layout", "the elements of another value rearranged as " + text_of(rules.rearrangements[i.op])};
    case step::condition: {
      auto const& c = rules.conditions[i.op].what;
      std::string captures;
      for (std::size_t k = 0; k < c.count; ++k) captures += (k == 0 ? "" : ", ") + std::string(c.captures[k]);
      return {std::string(c.name), "that '" + std::string(c.name) + "' holds of (" + captures + ")"};
    }
    case step::fork:
    case step::group:
    case step::strip:
    case step::accept: break;
  }
  return {std::string(name_of(i.code)), std::string(name_of(i.code))};
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class chosen_rules {
 public:
  template <class Choose>
  chosen_rules(program const& rules, Choose const& choose) : first_(rules.code.size(), none) {
    for (std::size_t rule = 0; rule < rules.rules.size(); ++rule) chosen_.push_back(choose(rule));
    for (bool more = true; more;) {
      more = false;
      for (std::size_t at = first_.size(); at-- > 0;) {
        if (first_[at] != none) continue;
        auto const& i = rules.code[at];
        if (i.code == step::accept) {
          if (chosen_[i.op]) first_[at] = i.op;
        } else {
          if (i.next != no_instruction) first_[at] = first_[i.next];
          if (first_[at] == none && i.code == step::fork) first_[at] = first_[i.other];
        }
        more = more || first_[at] != none;
      }
    }
  }

  [[nodiscard]] bool has(std::uint16_t rule) const { return chosen_[rule]; }
  [[nodiscard]] bool pass(std::uint16_t at) const { return first_[at] != none; }
  [[nodiscard]] std::uint16_t rule_after(std::uint16_t at) const { return first_[at]; }

 private:
  static constexpr std::uint16_t none = 0xffff;
  std::vector<bool> chosen_;          // by rule
  std::vector<std::uint16_t> first_;  // by instruction
};

[[nodiscard]] inline std::uint16_t rule_after(program const& rules, std::uint16_t at) {
  while (at != no_instruction) {
    auto const& i = rules.code[at];
    if (i.code == step::accept) return i.op;
    at = i.next;
  }
  return 0;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

struct explanation {
  std::uint16_t rule = 0;
  node_id node = absent;         ///< where matching began
  value_id at = absent;          ///< where it failed
  bool matched = false;          ///< it does match, conditions included
  int score = 0;                 ///< how telling what had matched is; 3 and more is a near miss
  bool other_reduction = false;  ///< there is a reduction at `at`, but not the one that the rule wants
  std::string condition;         ///< what failed, in a few words
  std::string expected, found;   ///< what the rule wants at `at`, what is there
};

namespace detail {

class deepest_failure final : public failure_listener {
 public:
  std::uint16_t at = no_instruction;
  value_id value = absent;
  int score = -1;
  chosen_rules const* only = nullptr;

  void failed(std::uint16_t instruction, value_id v, int how_telling) override {
    if (how_telling < score) return;
    if (how_telling == score && at != no_instruction) return;
    if (only != nullptr && !only->pass(instruction)) return;
    at = instruction;
    value = v;
    score = how_telling;
  }
};

class all_matches final : public machine::acceptor {
 public:
  plain_vector<std::uint16_t> rules;
  bool accept(std::uint16_t rule) override {
    rules.push_back(rule);
    return false;
  }
};

template <class Image>
[[nodiscard]] std::string unproven_extent(Image const& image, facts const& known, dialect const& names, value_id v) {
  basic_layouts<Image> all(image, known, names);
  layout made;
  auto below = v;
  for (int i = 0; i < basic_layout_steps<Image>::most_below && below != absent; ++i, below = all.below(below))
    if (!all.read(v, below, made) && all.unproven().count != 0)
      return ", for which nothing proves what becomes of the extent " + known.symbols().text(all.unproven());
  return {};
}

template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, int stage, chosen_rules const* only = nullptr, int least = 0) {
  explanation best;
  best.node = n;
  best.score = -1;
  auto const& rules = match.rules();
  if (match.has_entry(n, stage)) {
    all_matches matches;
    match.run(n, stage, matches);
    if (only != nullptr) matches.rules.erase_if([&](auto rule) { return !only->has(rule); });
    if (!matches.rules.empty()) {
      best.matched = true;
      best.rule = matches.rules.front();
      best.score = 1 << 20;
      return best;
    }
    deepest_failure failure;
    failure.only = only;
    match.listen(&failure);
    bool const filtered = match.filters();
    match.filter(false);
    match.run(n, stage, matches);
    match.filter(filtered);
    match.listen(nullptr);
    if (failure.at == no_instruction) return best;
    auto const& i = rules.code[failure.at];
    best.rule = only != nullptr ? only->rule_after(failure.at) : rule_after(rules, failure.at);
    best.at = failure.value;
    best.score = failure.score;
    if (best.score < least) return best;
    auto const there = best.at == absent ? absent : image.producer(best.at);
    best.other_reduction =
        i.code == step::reduction && there != absent && info(op_of(image, there)).shape == shape_function::reduce;
    auto wanted = requirement_of(rules, i, rules.rules[best.rule], names,
                                 i.is_of_frame() ? match.found().opened(i.a).asked.kind : op_group::none);
    best.condition = std::move(wanted.condition);
    best.expected = std::move(wanted.expected);
    best.found = i.code == step::parameter || i.code == step::element
                     ? describe_parameter(image, known, names, failure.value, rules.parameter_names[i.op])
                     : describe(image, known, failure.value);
    if (i.code == step::rearranged) best.found += unproven_extent(image, known, names, failure.value);
    if (i.is_of_frame() && match.found().opened(i.a).bounded)
      best.found += ", of more than " + std::to_string(opened_group::capacity) +
                    " parts with the operators between them: the rest stayed closed";
  }
  return best;
}

template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, chosen_rules const* only = nullptr) {
  explanation best;
  best.node = n;
  best.score = -1;
  for (int stage = 0; stage < match.rules().stages; ++stage)
    if (auto found = explain(match, image, known, names, n, stage, only); found.score > best.score)
      best = std::move(found);
  return best;
}

#ifdef FUSE_REWRITE_SEPARATE
extern template explanation explain(machine&, graph_image const&, facts const&, dialect const&, node_id,
                                    chosen_rules const*);
#endif

}  // namespace detail

[[nodiscard]] inline std::string to_text(explanation const& e) {
  if (e.matched) return "matches";
  if (e.expected.empty()) return "no rule begins at an operator like this one";
  return "expected " + e.expected + ", found " + e.found;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class G>
class value_numbers {
 public:
  explicit value_numbers(G const& graph) : graph_(&graph) {}

  [[nodiscard]] value_id find(value_of<G> const& v) const {
    if constexpr (has_index<G>) {
      auto const at = static_cast<std::size_t>(graph_traits<G>::index(*graph_, v));
      return at < numbers_.size() ? numbers_[at] : absent;
    } else {
      auto const at = place(v);
      return at == places_.none ? absent : numbers_[at];
    }
  }
  void reserve(std::size_t values) { numbers_.reserve(values); }
  void set(value_of<G> const& v, value_id number) {
    if constexpr (has_index<G>) {
      auto const at = static_cast<std::size_t>(graph_traits<G>::index(*graph_, v));
      if (at >= numbers_.size()) numbers_.resize(at + at / 8 + 64, absent);
      numbers_[at] = number;
    } else if (auto const at = place(v); at != places_.none) {
      numbers_[at] = number;
    } else {
      places_.add(std::hash<value_of<G>>{}(v), numbers_.size());
      values_.push_back(v);
      numbers_.push_back(number);
    }
  }

 private:
  [[nodiscard]] std::size_t place(value_of<G> const& v) const {
    return places_.find(std::hash<value_of<G>>{}(v), [&](std::size_t at) { return values_[at] == v; });
  }

  G const* graph_;
  std::vector<value_id> numbers_;  // by index, or by place
  std::vector<value_of<G>> values_;
  hash_index<std::size_t> places_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

namespace detail {

template <class G>
[[nodiscard]] int version_of(G const& graph, int newest) {
  if constexpr (has_version<G>)
    return graph_traits<G>::version(graph);
  else
    return newest;
}

template <class G>
struct bound_functions {
  struct none {};
  static auto handle() {
    if constexpr (has_functions<G>)
      return std::remove_cvref_t<decltype(*std::begin(graph_traits<G>::functions(std::declval<G const&>())))>{};
    else
      return none{};
  }
  struct entry {
    decltype(handle()) function;
    std::uint32_t region;
  };
  std::vector<entry> all;
};

}  // namespace detail

template <class G>
class graph_binding final : public graph_source {
  using traits = graph_traits<std::remove_const_t<G>>;
  using plain = std::remove_const_t<G>;
  using node_type = node_of<G>;
  using value_type = value_of<G>;

 public:
  graph_image image;

  graph_binding(G& graph, operator_names names, int newest) : graph_(&graph), names_(names), numbers_(graph) {
    image.source = this;
    image.version = detail::version_of<plain>(graph, newest);
    build();
  }

  [[nodiscard]] bool cyclic() const { return cyclic_; }
  [[nodiscard]] node_type const& node(node_id n) const { return nodes_[n]; }
  [[nodiscard]] value_type const& value(value_id v) const { return values_[v]; }
  [[nodiscard]] value_id number(value_type const& v) const { return v == value_type{} ? absent : numbers_.find(v); }

  [[nodiscard]] tensor_view constant(value_id v) const override {
    if constexpr (detail::has_constant<plain>)
      return traits::constant(*graph_, values_[v]);
    else
      return {};
  }
  [[nodiscard]] attribute_view attribute_of(node_id n, std::string_view name) const override {
    if constexpr (detail::has_attribute<plain>)
      return traits::attribute(*graph_, nodes_[n], name);
    else
      return {};
  }
  [[nodiscard]] bool same_attributes(node_id a, node_id b) const override {
    if constexpr (detail::has_same_attributes<plain>)
      return traits::same_attributes(*graph_, nodes_[a], nodes_[b]);
    else
      return !detail::has_attribute<plain>;
  }
  [[nodiscard]] element_type type(value_id v) const override {
    if constexpr (detail::has_type<plain>)
      return traits::type(*graph_, values_[v]);
    else
      return element_type::unknown;
  }
  [[nodiscard]] bool shape(value_id v, std::vector<dimension>& into) const override {
    if constexpr (detail::has_shape<plain>)
      return traits::shape(*graph_, values_[v], into);
    else
      return false;
  }
  [[nodiscard]] bool has_shapes() const override { return detail::has_shape<plain>; }
  [[nodiscard]] std::string_view op_name(node_id n) const override { return traits::op_name(*graph_, nodes_[n]); }
  [[nodiscard]] std::string node_name(node_id n) const override {
    if constexpr (detail::has_node_name<plain>)
      return std::string(traits::name(*graph_, nodes_[n]));
    else
      return "node " + std::to_string(n);
  }
  [[nodiscard]] std::string value_name(value_id v) const override {
    if constexpr (detail::has_value_name<plain>)
      return std::string(traits::name(*graph_, values_[v]));
    else
      return "value " + std::to_string(v);
  }
  [[nodiscard]] void const* graph() const override { return graph_; }
  [[nodiscard]] void const* graph_type() const override { return graph_type_of<plain>(); }
  [[nodiscard]] void const* handle(value_id v) const override { return v < values_.size() ? &values_[v] : nullptr; }

  bool insert(node_id place, std::string_view op, span<value_id const> operands, span<attribute const> attributes,
              span<element_type const> results, std::string_view origin) override {
    if constexpr (rewritable_graph<G>) {
      operands_.clear();
      for (auto v : operands) operands_.push_back(v == absent ? value_type{} : values_[v]);
      auto const made = traits::insert(*graph_, nodes_[place], {op, operands_, attributes, results, origin});
      if (made == node_type{}) return false;
      nodes_.push_back(made);
      auto const bound = values_.size();
      for (auto const& v : traits::results(*graph_, made)) bind(v);
      return values_.size() - bound == results.size();
    } else {
      return false;
    }
  }
  bool add_constant(std::uint32_t region, tensor_view contents, std::string_view origin) override {
    value_type made{};
    if constexpr (rewritable_graph<G> && detail::has_add_constant<G>)
      if (region == 0) made = traits::add_constant(*graph_, contents, origin);
    if constexpr (rewritable_graph<G> && detail::has_functions<plain> && detail::has_add_constant_inside<G>)
      for (auto const& f : functions_.all)
        if (f.region == region) made = traits::add_constant(*graph_, f.function, contents, origin);
    if (made == value_type{}) return false;
    bind(made);
    return true;
  }
  void replace_uses(value_id from, value_id to) override {
    if constexpr (rewritable_graph<G>) traits::replace_uses(*graph_, values_[from], values_[to]);
  }
  void erase(node_id n) override {
    if constexpr (rewritable_graph<G>) traits::erase(*graph_, nodes_[n]);
  }
  void forget(node_id first, value_id first_value) override {
    if constexpr (rewritable_graph<G>) {
      for (auto v = static_cast<value_id>(values_.size()); v-- > first_value;) numbers_.set(values_[v], absent);
      for (auto n = static_cast<node_id>(nodes_.size()); n-- > first;) erase(n);
      nodes_.erase(nodes_.begin() + first, nodes_.end());
      values_.erase(values_.begin() + first_value, values_.end());
    }
  }
  bool declare(function_body const& body) override {
    if constexpr (rewritable_graph<G> && detail::has_declare<G>)
      return traits::declare(*graph_, body);
    else
      return false;
  }

 private:
  struct known_tag {
    operator_names::found name;
    bool known = false;
  };
  struct listed {
    node_type node;
    std::uint32_t region;
    bool owner;
  };

  void bind(value_type const& v) {
    numbers_.set(v, static_cast<value_id>(values_.size()));
    values_.push_back(v);
  }

  operator_names::found tag_of(node_type const& n) {
    if constexpr (detail::has_op_key<plain>) {
      auto const key = static_cast<std::size_t>(traits::op_key(*graph_, n));
      if (key >= tags_.size()) tags_.resize(key + 1);
      if (!tags_[key].known)
        tags_[key] = {names_.find(names_.context, traits::op_name(*graph_, n), image.version), true};
      return tags_[key].name;
    } else {
      return names_.find(names_.context, traits::op_name(*graph_, n), image.version);
    }
  }

  void build() {
    auto&& nodes = traits::nodes(*graph_);
    reserve(length_of(nodes));
    list_nodes(nodes, [&](node_type const& n, std::uint32_t region, bool owner) { add_node(n, region, owner); });
    number_inputs();
    if (attach()) return;
    std::vector<listed> order;
    sort(order);
    if (cyclic_) return;
    image = graph_image{};  // once more, in an order in which operands come first
    image.source = this;
    image.version = detail::version_of<plain>(*graph_, image.version);
    nodes_.clear();
    values_.clear();
    numbers_ = detail::value_numbers<plain>(*graph_);
    body_inputs_.clear();
    body_outputs_.clear();
    body_owners_.clear();
    functions_.all.clear();
    reserve(order.size());
    list_nodes(traits::nodes(*graph_), [](node_type const&, std::uint32_t, bool) {});  // regions anew
    for (auto const& [n, region, owner] : order) add_node(n, region, owner);
    number_inputs();
    attach();
  }

  template <class Nodes>
  std::size_t length_of(Nodes const& nodes) const {
    if constexpr (requires { nodes.size(); }) {
      return static_cast<std::size_t>(nodes.size());
    } else {
      std::size_t length = 0;
      for ([[maybe_unused]] auto const& n : traits::nodes(*graph_)) ++length;  // `nodes` may last for one pass
      return length;
    }
  }

  void reserve(std::size_t nodes) {
    auto const values = nodes + nodes * 5 / 8;
    image.reserve(nodes + nodes / 8, values, nodes * 2 + nodes / 8);
    nodes_.reserve(nodes + nodes / 8);
    values_.reserve(values);
    numbers_.reserve(values);
  }

  template <class Nodes, class Add>
  void list_nodes(Nodes&& nodes, Add const& add) {
    list_nodes(nodes, 0, add);
    if constexpr (detail::has_functions<plain>)
      for (auto const& f : traits::functions(*graph_)) {
        auto const region = open_region(f, absent);
        functions_.all.push_back({f, region});
        list_nodes(traits::nodes(*graph_, f), region, add);
      }
  }
  template <class Nodes, class Add>
  void list_nodes(Nodes&& nodes, std::uint32_t region, Add const& add) {
    if constexpr (detail::has_bodies<plain>) {
      for (auto const& n : nodes) {
        if (has_body(n))
          list_with_bodies(n, region, add);
        else
          add(n, region, false);  // most nodes
      }
    } else {
      for (auto const& n : nodes) add(n, region, false);
    }
  }

  template <class Body>
  std::uint32_t open_region(Body const& body, std::uint32_t parent) {
    auto const region = image.add_region(absent, parent);
    for (auto const& v : traits::inputs(*graph_, body)) body_inputs_.push_back({value_type(v), region});
    for (auto const& v : traits::outputs(*graph_, body)) body_outputs_.push_back({value_type(v), region});
    return region;
  }

  template <class Add>
  void list_with_bodies(node_type const& owner, std::uint32_t around, Add const& add) {
    if constexpr (detail::has_bodies<plain>) {
      using bodies_range = decltype(traits::bodies(*graph_, std::declval<node_type>()));
      using body_type = std::remove_cvref_t<decltype(*std::begin(std::declval<bodies_range&>()))>;
      struct frame {
        std::vector<node_type> nodes;
        std::size_t at = 0;
        std::uint32_t region = 0;
        std::vector<body_type> bodies{};
        std::size_t body = 0;
        bool open = false;
      };
      std::vector<frame> stack;
      stack.push_back({{owner}, 0, around, {}, 0, false});
      while (!stack.empty()) {
        auto& top = stack.back();
        for (; !top.open && top.at != top.nodes.size() && !has_body(top.nodes[top.at]); ++top.at)
          add(top.nodes[top.at], top.region, false);
        if (top.at == top.nodes.size()) {
          stack.pop_back();
          continue;
        }
        if (!top.open) {
          top.open = true;
          top.body = 0;
          top.bodies.clear();
          for (auto const& b : traits::bodies(*graph_, top.nodes[top.at])) top.bodies.push_back(b);
        }
        if (top.body < top.bodies.size()) {
          auto const body = top.bodies[top.body++];
          auto const region = open_region(body, top.region);
          body_owners_.push_back({top.nodes[top.at], region});
          stack.push_back({handles(traits::nodes(*graph_, body)), 0, region, {}, 0, false});
          continue;
        }
        add(top.nodes[top.at], top.region, !top.bodies.empty());
        ++top.at;
        top.open = false;
      }
    }
  }

  [[nodiscard]] bool has_body(node_type const& n) const {
    auto&& bodies = traits::bodies(*graph_, n);
    return std::begin(bodies) != std::end(bodies);
  }

  template <class Range>
  static std::vector<node_type> handles(Range&& range) {
    std::vector<node_type> all;
    for (auto const& n : range) all.push_back(n);
    return all;
  }

  value_id add_leaf(value_type const& v, std::uint32_t region) {
    if (v == value_type{}) return absent;
    if (auto const known = numbers_.find(v); known != absent) return known;
    auto const id = image.add_value(region);
    bind(v);
    if constexpr (detail::has_constant<plain>) {
      bool fixed = static_cast<bool>(tensor_view(traits::constant(*graph_, v)));
      if constexpr (detail::has_overridable<plain>) fixed = fixed && !traits::overridable(*graph_, v);
      image.set_constant(id, fixed);
    }
    return id;
  }

  void add_node(node_type const& n, std::uint32_t region, bool owner) {
    std::uint32_t results = 0, named = 0;
    for (auto const& v : traits::results(*graph_, n)) {
      if (!(v == value_type{})) {
        numbers_.set(v, static_cast<value_id>(values_.size()));
        ++named;
      }
      values_.push_back(v);  // an unused optional result keeps its place
      ++results;
    }
    auto [tag, by_node] = tag_of(n);
    nodes_.push_back(n);
    if (by_node) tag = names_.settle(names_.context, tag, image.version, *this, image.node_count(), named);
    auto const id = image.add_node(tag, results, region);
    image.place_last(id);
    if (owner) image.set_has_bodies(id);
  }

  void number_inputs() {
    if constexpr (detail::has_inputs<plain>)
      for (auto const& v : traits::inputs(*graph_)) add_leaf(v, 0);
    for (auto const& [v, region] : body_inputs_) add_leaf(v, region);
  }

  bool attach() {
    bool sorted = true;
    for (node_id id = 0; id < image.node_count(); ++id) {
      auto const scope = image.scope_of(image.node(id).region);
      for (auto const& v : traits::operands(*graph_, nodes_[id])) {
        auto const number = add_leaf(v, scope);
        image.attach_operand(id, number);
        if (number == absent) continue;
        auto const from = image.producer(number);
        sorted = sorted && (from == absent || from < id);
      }
      if constexpr (detail::has_constant<plain>)  // a node may be a constant, too
        if (image.operand_count(id) == 0 && image.node(id).result_count == 1)
          image.set_constant(image.result(id),
                             static_cast<bool>(tensor_view(traits::constant(*graph_, values_[image.result(id)]))));
    }
    for (auto const& v : traits::outputs(*graph_)) add_output(v, 0);
    for (auto const& [v, region] : body_outputs_) add_output(v, region);
    for (auto const& [n, region] : body_owners_)
      if (auto const owner = number_of(n); owner != absent) image.set_region_owner(region, owner);
    if (sorted) add_functions();
    return sorted;
  }

  [[nodiscard]] node_id number_of(node_type const& n) const {
    for (auto const& v : traits::results(*graph_, n))
      if (v != value_type{}) return image.producer(numbers_.find(v));
    return absent;
  }

  void add_functions() {
    if constexpr (detail::has_functions<plain>) {
      if (functions_.all.empty()) return;
      detail::plain_vector<node_id> first(image.regions().size(), image.node_count());
      for (auto n = image.node_count(); n-- > 0;) first[image.scope_of(image.node(n).region)] = n;
      for (auto const& f : functions_.all) {
        graph_image::function_record made;
        made.region = f.region;
        made.first_node = first[f.region];
        for (auto const& v : traits::inputs(*graph_, f.function)) made.inputs.push_back(numbers_.find(v));
        for (auto const& n : traits::calls(*graph_, f.function)) made.calls.push_back(number_of(n));
        for (auto const call : made.calls)
          if (call == absent) {
            made.calls.clear();
            break;
          }
        image.add_function(std::move(made));
      }
    }
  }

  void add_output(value_type const& v, std::uint32_t region) {
    if (v == value_type{}) {
      if (region != 0) image.add_region_output(region, absent);
      return;
    }
    auto const number = add_leaf(v, region);
    if (region == 0)
      image.add_output(number);
    else
      image.add_region_output(region, number);
  }

  void sort(std::vector<listed>& sorted) {
    detail::plain_vector<std::uint32_t> missing(image.node_count(), 0);
    detail::plain_vector<node_id> ready;
    for (node_id n = 0; n < image.node_count(); ++n) {
      for (std::uint32_t i = 0; i < image.operand_count(n); ++i)
        if (auto const v = image.operand(n, i); v != absent && image.producer(v) != absent) ++missing[n];
      if (missing[n] == 0) ready.push_back(n);
    }
    sorted.reserve(image.node_count());
    for (std::size_t at = 0; at < ready.size(); ++at) {
      auto const n = ready[at];
      sorted.push_back({nodes_[n], image.node(n).region, image.node(n).has_bodies});
      for (std::uint32_t i = 0; i < image.node(n).result_count; ++i)
        image.for_each_user(image.result(n, i), [&](node_id user) {
          if (--missing[user] == 0) ready.push_back(user);
        });
    }
    cyclic_ = sorted.size() != image.node_count();
    if (functions_.all.empty()) return;
    std::vector<std::vector<listed>> by_scope(image.regions().size());
    for (auto const& each : sorted) by_scope[image.scope_of(each.region)].push_back(each);
    sorted.clear();
    for (auto const& scope : by_scope)
      for (auto const& each : scope) sorted.push_back(each);
  }

  G* graph_;
  operator_names names_;
  detail::value_numbers<plain> numbers_;
  std::vector<node_type> nodes_;
  std::vector<value_type> values_;
  std::vector<value_type> operands_;      // of a new node
  detail::plain_vector<known_tag> tags_;  // by the graph's key of an operator
  std::vector<std::pair<value_type, std::uint32_t>> body_inputs_, body_outputs_;
  std::vector<std::pair<node_type, std::uint32_t>> body_owners_;
  detail::bound_functions<plain> functions_;
  bool cyclic_ = false;
};

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

struct operator_facts {
  opcode op;
  std::uint16_t code;  ///< of its name in the dialect; 0: none
  op_group group;
  bool reduces, commutative, broadcasts;
  std::int8_t least, most;  ///< operands
  std::int8_t data = 127;   ///< ... that are no parameters in the dialect, at any version
  std::uint8_t priority;    ///< of a part that it makes, see resolve
  std::uint64_t bit;
};

[[nodiscard]] constexpr operator_facts facts_of(opcode op) {
  auto const known = info(op);
  operator_facts made{};
  made.op = op;
  made.bit = operator_bit(op);
  made.group = known.group;
  made.reduces = known.shape == shape_function::reduce;
  made.commutative = known.commutative;
  made.broadcasts = (known.kind == op_kind::elementwise || known.kind == op_kind::broadcast) &&
                    op != opcode::quantize && op != opcode::dequantize;
  made.least = known.least;
  made.most = known.most < 0 ? std::int8_t{127} : known.most;
  made.priority = made.reduces ? 1 : 2;
  return made;
}

[[nodiscard]] constexpr operator_facts facts_of(dialect const& names, static_text name) {
  auto const code = names.code(name);
  auto made = facts_of(code == 0 ? opcode::opaque : names.rows[code - 1u].op);
  made.code = code;
  if (code == 0) return made;
  int data = -1;
  auto const& first = names.rows[code - 1u];
  for (std::size_t i = 0; i <= first.more; ++i)
    if (auto const stated = names.rows[code - 1u + i].operands; stated > data) data = stated;
  if (data >= 0) made.data = static_cast<std::int8_t>(data);
  return made;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class lowering {
 public:
  constexpr lowering(lowered_rule& into, rewrite_rule const& rule, dialect const& names);

 private:
  using links = std::uint16_t;
  struct part {
    std::uint8_t term, priority;
    double weight;
  };
  struct parts {
    part all[24];
    std::uint8_t count;
    double number;    // the constants among them
    float tolerance;  // the widest of theirs
    bool has_number, overflow;
  };
  struct term_registers {
    std::uint8_t of[expression::capacity];
  };
  struct way {
    static constexpr int capacity = 16;
    std::uint8_t terms[capacity];
    int length;
    [[nodiscard]] friend constexpr bool operator==(way const& a, way const& b) {
      bool same = a.length == b.length;
      for (int i = 0; same && i < a.length; ++i) same = a.terms[i] == b.terms[i];
      return same;
    }
  };
  static constexpr int max_ways = 16;
  static constexpr std::uint8_t rest_priority = 7;

  lowered_rule& out;  // (of someone else: constant evaluation pays for each struct around what is written)
  rewrite_rule const& rule_;
  dialect const& names_;
  expression pattern_{};
  op_group group_[expression::capacity]{};  // of a rest: what it is left of
  bool reduction_[expression::capacity]{};
  std::uint8_t priority_[expression::capacity]{};     // 0 to 3: operators, the more telling the less; see resolve
  std::uint64_t needs_[expression::capacity]{};       // operators that are below in any case, reached through sums and
  std::uint8_t slot_[expression::capacity]{};         // 1 + that of a capture
  std::uint8_t node_slot_[expression::capacity]{};    // 1 + that of the node where an operator was found first
  std::uint8_t times_[expression::capacity]{};        // that a term may occur in a match: 0, 1, or 2 for more
  bool has_number_[expression::capacity]{};           // of a product: it has a number
  std::uint8_t multiple_of_[expression::capacity]{};  // which term it is, and how many times: a sum of like terms, or
  double multiple_[expression::capacity]{};           // one beside a number; itself, once, where it is neither
  std::uint16_t size_ = 0;                            // of the code
  links pending_ = 0;
  std::uint16_t unreached_ = 0;  // where the instruction before does not lead
  bool failed_ = false;
  std::uint8_t next_register_ = 1, next_frame_ = 0;
  term_registers register_of_{};  // of a term that is found, else 0
  std::uint32_t bound_ = 0;       // slots, a bit each
  std::uint32_t partly_ = 0;      // ... of names that one branch of an either binds, and another one does not
  std::uint32_t root_names_ = 0;  // ... of names that roots have
  bool several_roots_ = false;
  bool again_ = false;                          // a large part is matched a second time
  bool free_ = true;                            // see instruction::free
  std::uint8_t first_beside_ = 0, beside_ = 0;  // registers of operands that broadcast, where a shape matters
  double scale_ = 0;                            // the next product is added, so many times; 0: it is not
  through_set everywhere_{};
  std::uint8_t everywhere_id_ = 0;

  constexpr void fail(rule_error error, static_text culprit, std::size_t wanted = 0) {
    if (failed_) return;
    failed_ = true;
    out.error = error;
    out.culprit = culprit;
    out.wanted = wanted;
  }

  constexpr void add_transparent(through_set& set, static_text name);
  constexpr std::uint8_t set_id(through_set const& set);
  constexpr std::uint8_t slot(static_text name, slot_kind kind);
  constexpr std::uint8_t bound_slot(static_text name, slot_kind kind);
  constexpr std::uint8_t bound_slot_of(std::uint8_t at, slot_kind kind);
  constexpr std::uint8_t bound_rest(std::uint8_t at, op_group of);
  constexpr std::uint8_t nameless_slot(std::uint8_t& known, slot_kind kind);
  constexpr std::uint8_t node_slot(std::uint8_t at);
  constexpr void emit(instruction const& made);
  constexpr std::uint16_t& led_by(links chain);
  constexpr void resolve_links();
  constexpr void pend(std::size_t at, bool other);
  [[nodiscard]] constexpr links chained(links chain, links then);
  [[nodiscard]] constexpr links detach();
  constexpr std::uint8_t new_register();
  constexpr std::uint8_t new_registers(int count);
  template <class Form>
  constexpr void lower_forks(int count, bool may_skip, Form&& form);
  constexpr std::uint16_t parameter_name(static_text name);
  constexpr std::uint16_t rearranged(term const& t, bool in_pattern);
  constexpr std::uint8_t dimension_slot(static_text name);
  constexpr std::uint8_t known(static_text name);

  constexpr void fail_at(operator_row const& row, rule_error error, std::string_view attribute);
  constexpr void check_sources();
  constexpr void check_attributes(expression const& in, term const& t, std::uint16_t code, bool has_defaults);
  [[nodiscard]] static constexpr bool holds(attribute_kind kind, expression const& in, term const& given);

  [[nodiscard]] constexpr bool large(std::uint8_t at) const;
  [[nodiscard]] constexpr int tree_size(std::uint8_t at, int limit) const;
  [[nodiscard]] constexpr std::uint64_t needs_of(term const& t, opcode op, op_group group);
  [[nodiscard]] constexpr std::uint64_t needs_directly(parts const& of, op_group kind, bool added) const;
  constexpr parts parts_of(std::uint8_t at, double weight, op_group kind);
  constexpr void collect(std::uint8_t at, double weight, op_group kind, parts& into);
  [[nodiscard]] constexpr double ratio(std::uint8_t a, std::uint8_t b);
  static constexpr void widen(parts& of, double tolerance);
  constexpr void add_number(double number, double weight, parts& into, double tolerance = usual_tolerance);
  [[nodiscard]] static constexpr bool is_small(double weight) {
    return is_whole_weight(weight) && weight >= -8 && weight <= 8;
  }
  constexpr void add_part(std::uint8_t at, double weight, op_group kind, parts& into);

  constexpr void resolve_multiple(std::uint8_t at, term const& t);
  constexpr void resolve_multiple_sum(std::uint8_t at, term const& t);
  [[nodiscard]] constexpr bool is_factor(std::uint8_t at) const;
  [[nodiscard]] constexpr bool is_term(std::uint8_t at) const;

  constexpr void resolve();
  constexpr void count_times();
  constexpr void resolve_operator(std::uint8_t at, term const& t);
  constexpr void spell_out(std::uint8_t at, summing const& as);
  [[nodiscard]] constexpr bool stands_again(std::uint8_t at) const;
  [[nodiscard]] constexpr bool opens_logarithm(term const& t, opcode op) const;
  [[nodiscard]] constexpr bool opens_power(term const& t) const;
  constexpr void fail_at_operands(term const& t, operator_facts const& known);
  constexpr void fail_at_misuse(term const& t);

  constexpr std::uint8_t collect_set(std::uint8_t at, through_set& set);
  constexpr void capture(std::uint8_t at, std::uint8_t r);
  constexpr void value(std::uint8_t at, std::uint8_t r, sign_use sign = sign_use::strict, std::uint8_t around = 0,
                       bool alone = false);
  constexpr void operation(std::uint8_t at, std::uint8_t r, std::uint8_t result);
  constexpr void attributes(term const& t, std::uint8_t r, std::uint8_t through, static_text except = {});
  constexpr void list_of_numbers(term const& list, instruction made);
  constexpr void reduction(term const& t, std::uint8_t r, bool alone);
  constexpr void axes_required(term const& by, instruction made);
  constexpr void group(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around);
  [[nodiscard]] constexpr bool is_operand(std::uint8_t at) const;
  [[nodiscard]] constexpr bool divides_products(term const& t) const;
  constexpr void whole_group(parts const& found, op_group kind, std::uint8_t frame, bool branch);
  constexpr void branches(parts const& found, int at, op_group kind, std::uint8_t frame);
  [[nodiscard]] constexpr bool may_add_number(std::uint8_t at, op_group kind) const;
  constexpr void finish_group(parts const& found, op_group kind, std::uint8_t frame, bool branch);
  constexpr void member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);
  [[nodiscard]] constexpr bool is_one_node(std::uint8_t at, op_group kind) const;
  constexpr void one_member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);
  constexpr void spliced(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);

  constexpr void lower_roots(std::uint8_t root);
  constexpr void add_entry(std::uint16_t first, std::uint16_t tag, bool by_name, std::uint8_t strip);
  constexpr void add_entries(std::uint8_t root, std::uint16_t first);
  constexpr void add_entries_of_group(std::uint8_t root, std::uint16_t first);
  [[nodiscard]] constexpr bool is_operator(std::uint8_t at) const;
  [[nodiscard]] constexpr bool is_other_result(std::uint8_t at) const;
  constexpr void name_root(std::uint8_t at);
  constexpr void add_transparent_entries(through_set const& set, std::uint16_t first);
  constexpr void further_root(std::uint8_t root);
  constexpr void climb(way const& along, std::uint8_t to);
  [[nodiscard]] static constexpr bool is_node(term const& t);
  [[nodiscard]] static constexpr bool is_name(term const& t);
  [[nodiscard]] constexpr bool is_spelled(std::uint8_t at) const {
    return pattern_[at].kind == term_kind::neutral && (group_[at] != op_group::none || reduction_[at]);
  }
  constexpr bool way_to_bound(std::uint8_t at, bool last, int& branches, way& into);
  [[nodiscard]] constexpr bool is_bound(static_text name) const;
  constexpr void add_condition(condition const& added);
  [[nodiscard]] static constexpr bool names(expression const& in, static_text name);
  [[nodiscard]] static constexpr bool captures(term const& t) {
    return t.kind == term_kind::capture || t.kind == term_kind::scalar || t.kind == term_kind::rest ||
           t.kind == term_kind::parameter;
  }
  constexpr void require_operands(expression const& in, term const& t, int required);
  constexpr std::uint8_t axes_of_row(expression const& in, term const& t);
  constexpr bool lower_again(term const& t, replacement_term& into);
  constexpr void lower_replacement();
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

constexpr void lowering::fail_at(operator_row const& row, rule_error error, std::string_view attribute) {
  if (failed_) return;
  fail(error, static_text::of(attribute));
  out.owner = static_text::of(row.name);
  out.attributes = row.attributes;
}

constexpr void lowering::check_sources() {
  using kind = parameter_source::kind;
  for (auto const& row : names_.rows) {
    if (row.attributes->any) continue;
    for (auto const& s : row.parameters) {
      auto const name = s.attribute.empty() ? s.parameter : s.attribute;
      if ((s.where == kind::attribute || s.where == kind::inverted) && !row.attributes->has(name))
        return fail_at(row, rule_error::unknown_attribute, name);
    }
  }
}

constexpr void lowering::check_attributes(expression const& in, term const& t, std::uint16_t code, bool has_defaults) {
  using kind = parameter_source::kind;
  if (!names_.lists_attributes) return;
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& given = in[t.child[i]];
    bool known = false, has_default = false;
    if (has_defaults)
      for (auto const& p : info(t.op).parameters) has_default = has_default || given.name == p.name;
    auto error = rule_error::none;
    std::string_view culprit{};
    std::size_t wrong = 0;
    std::size_t const first = code != 0 ? code - 1u : 0;
    std::size_t const end = code != 0 ? code + std::size_t{names_.rows[first].more} : names_.rows.size();
    for (auto r = first; r < end && !known; ++r) {
      auto const& row = names_.rows[r];
      if (code == 0 && row.op != t.op) continue;
      parameter_source source{};
      for (auto const& s : row.parameters)
        if (given.name == s.parameter) source = s;
      auto const name = source.attribute.empty() ? std::string_view(given.name) : source.attribute;
      bool const elsewhere = source.where != kind::attribute && source.where != kind::inverted;
      auto const at = row.attributes->find(name);
      bool const has = at < row.attributes->all.size();
      known = row.attributes->any || elsewhere || (has ? holds(row.attributes->all[at].kind, in, given) : has_default);
      if (known) continue;
      error = has ? rule_error::attribute_of_another_kind : rule_error::unknown_attribute;
      culprit = name;
      wrong = r;
    }
    if (!known && error != rule_error::none) return fail_at(names_.rows[wrong], error, culprit);
  }
}

constexpr bool lowering::holds(attribute_kind kind, expression const& in, term const& given) {
  bool const captured = given.children != 0 && in[given.child[0]].kind != term_kind::number;
  if (given.children != 0 && in[given.child[0]].kind == term_kind::list) return kind == attribute_kind::integers;
  double const number = given.children == 0 ? given.number : in[given.child[0]].number;
  auto const is_whole = [](double x) {
    return x > -9e18 && x < 9e18 && static_cast<double>(static_cast<long long>(x)) == x;
  };
  switch (kind) {
    case attribute_kind::flag: return captured || number == 0 || number == 1;
    case attribute_kind::integer: return captured || is_whole(number);
    case attribute_kind::number: return true;
    case attribute_kind::integers: return captured;
    default: return false;
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

constexpr void lowering::resolve_multiple(std::uint8_t at, term const& t) {
  if (group_[at] == op_group::sum) return resolve_multiple_sum(at, t);
  auto const op = pattern_.terms[at].op;
  int const factors = op == opcode::pow ? 1 : op == opcode::exp ? 0 : t.operands();  // an exponent is none
  int others = 0;                                                                    // that are no numbers
  std::uint8_t other = 0;
  double numbers = 1;
  for (int i = 0; i < factors; ++i) {
    auto const& factor = pattern_.terms[t.child[i]];
    bool const number = factor.kind == term_kind::number;
    has_number_[at] =
        has_number_[at] || (number && factor.number != 1) || has_number_[t.child[i]] || is_factor(t.child[i]);
    if (number && factor.tolerance == usual_tolerance) {
      numbers *= factor.number;
    } else {
      ++others;
      other = t.child[i];
    }
  }
  if (op != opcode::mul || others != 1 || numbers == 0 || !is_term(other)) return;
  multiple_of_[at] = multiple_of_[other];
  multiple_[at] = numbers * multiple_[other];
}
constexpr void lowering::resolve_multiple_sum(std::uint8_t at, term const& t) {
  auto const how = opening_of(pattern_.terms[at].op, op_group::sum);
  auto const like = multiple_of_[t.child[0]];
  double sum = 0;
  for (int i = 0; i < t.operands(); ++i) {
    auto const times = multiple_[t.child[i]] * (i == 0 ? how.first : how.further);
    if (multiple_of_[t.child[i]] != like || (sum < 0 ? times > 0 : sum > 0 && times < 0)) return;
    sum += times;
  }
  if (!is_term(like)) return;
  multiple_of_[at] = like;
  multiple_[at] = sum;
}
constexpr bool lowering::is_term(std::uint8_t at) const {
  switch (pattern_.terms[at].kind) {
    case term_kind::capture:
    case term_kind::named:
    case term_kind::exact: return true;
    case term_kind::neutral: return group_[at] != op_group::sum || multiple_of_[at] != at;
    default: return false;
  }
}
constexpr bool lowering::is_factor(std::uint8_t at) const {
  if (group_[at] != op_group::sum || multiple_of_[at] == at) return false;
  return multiple_[at] != -1 || group_[multiple_of_[at]] == op_group::product;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr void lowering::add_transparent(through_set& set, static_text name) {
  if (set.count == through_set::capacity) return fail(rule_error::too_large, rule_.name);
  auto const code = names_.code(name);
  auto const op = code == 0 ? op_named(name) : names_.rows[code - 1u].op;
  if (code == 0 && op == opcode::opaque) return fail(rule_error::unknown_operator, name);
  set.by_name[set.count] = op == opcode::opaque;
  set.ops[set.count++] = op == opcode::opaque ? code : static_cast<std::uint16_t>(op);
}
constexpr std::uint8_t lowering::set_id(through_set const& set) {
  for (std::uint8_t i = 0; i < out.set_count; ++i)
    if (out.sets[i] == set) return static_cast<std::uint8_t>(i + 1);
  if (out.set_count == lowered_rule::set_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.sets[out.set_count++] = set;
  return out.set_count;
}

constexpr std::uint8_t lowering::slot(static_text name, slot_kind kind) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) {
      if (out.slot_kinds[i] != kind) fail(rule_error::two_uses_of_a_name, name);
      return i;
    }
  if (out.slot_count == lowered_rule::name_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.slot_names[out.slot_count] = name;
  out.slot_kinds[out.slot_count] = kind;
  return out.slot_count++;
}
constexpr std::uint8_t lowering::bound_slot(static_text name, slot_kind kind) {
  auto const s = slot(name, kind);
  bound_ |= 1u << s;
  return s;
}
constexpr std::uint8_t lowering::bound_slot_of(std::uint8_t at, slot_kind kind) {
  auto s = slot_[at];
  if (s == 0) slot_[at] = s = static_cast<std::uint8_t>(slot(pattern_.terms[at].name, kind) + 1);
  --s;
  bound_ |= 1u << s;
  return s;
}
constexpr std::uint8_t lowering::bound_rest(std::uint8_t at, op_group of) {
  if (slot_[at] == 0)
    group_[at] = of;
  else if (group_[at] != of)
    fail(rule_error::two_uses_of_a_name, pattern_.terms[at].name);
  return bound_slot_of(at, slot_kind::rest);
}

constexpr std::uint8_t lowering::nameless_slot(std::uint8_t& known, slot_kind kind) {
  if (known == 0) {
    if (out.slot_count == lowered_rule::name_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    out.slot_kinds[out.slot_count] = kind;
    known = ++out.slot_count;
  }
  return static_cast<std::uint8_t>(known - 1);
}
constexpr std::uint8_t lowering::node_slot(std::uint8_t at) { return nameless_slot(node_slot_[at], slot_kind::value); }

constexpr void lowering::emit(instruction const& made) {
  if (size_ == lowered_rule::instruction_capacity) return fail(rule_error::too_large, rule_.name);
  if (pending_ != 0) resolve_links();
  out.code[size_] = made;
  if (free_ && (made.through != 0 || made.code == step::group || made.code == step::reduction))
    out.code[size_].flags |= instruction::free;
  ++size_;
}
constexpr std::uint16_t& lowering::led_by(links chain) {
  auto& first = out.code[(chain - 1) / 2];
  return chain % 2 != 0 ? first.next : first.other;
}
constexpr void lowering::resolve_links() {
  while (pending_ != 0) {
    auto& led = led_by(pending_);
    auto const skipped = size_ - (pending_ - 1) / 2 - 1;
    pending_ = led;
    led = static_cast<std::uint16_t>(skipped);
  }
}
constexpr void lowering::pend(std::size_t at, bool other) {
  if (failed_) return;
  auto const made = static_cast<links>(2 * at + (other ? 2 : 1));
  led_by(made) = pending_;
  pending_ = made;
}
constexpr lowering::links lowering::chained(links chain, links then) {
  if (chain == 0) return then;
  auto last = chain;
  for (auto after = led_by(last); after != 0; after = led_by(last)) last = after;
  led_by(last) = then;
  return chain;
}
constexpr lowering::links lowering::detach() {
  if (unreached_ != size_) pend(size_ - 1u, false);
  unreached_ = size_;
  auto const taken = pending_;
  pending_ = 0;
  return taken;
}

constexpr std::uint8_t lowering::new_register() {
  if (next_register_ == 255) fail(rule_error::too_large, rule_.name);
  return next_register_++;
}
constexpr std::uint8_t lowering::new_registers(int count) {
  auto const first = next_register_;
  if (first + count > 255) fail(rule_error::too_large, rule_.name);
  next_register_ = static_cast<std::uint8_t>(first + count);
  return first;
}

template <class Form>
constexpr void lowering::lower_forks(int count, bool may_skip, Form&& form) {
  links joined = 0;
  std::uint32_t common = ~0u, any = 0;
  auto const before = bound_;
  auto const registers = register_of_;                                    // what a branch finds is not known after it
  auto const first_register = next_register_, first_frame = next_frame_;  // branches use the same ones
  auto last_register = next_register_, last_frame = next_frame_;
  for (int i = 0; i < count; ++i) {
    bool const last = i + 1 == count && !may_skip;
    auto const fork = size_;
    if (!last) emit({.code = step::fork});
    bound_ = before;
    next_register_ = first_register;
    next_frame_ = first_frame;
    form(i);
    if (failed_) return;
    if (next_register_ > last_register) last_register = next_register_;
    if (next_frame_ > last_frame) last_frame = next_frame_;
    register_of_ = registers;
    common &= bound_;
    any |= bound_;
    if (last) break;
    joined = chained(detach(), joined);
    pend(fork, true);
  }
  if (may_skip) common &= before;
  if (!may_skip) partly_ |= any & ~common;
  pending_ = chained(joined, pending_);
  bound_ = common;
  next_register_ = last_register;
  next_frame_ = last_frame;
}

constexpr std::uint16_t lowering::parameter_name(static_text name) {
  for (std::uint16_t i = 0; i < out.parameter_name_count; ++i)
    if (out.parameter_names[i] == name) return i;
  if (out.parameter_name_count == lowered_rule::name_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.parameter_names[out.parameter_name_count] = name;
  return out.parameter_name_count++;
}

constexpr std::uint16_t lowering::rearranged(term const& t, bool in_pattern) {
  rearrangement made{};
  bool read = true;
  if (t.index == 0)
    read = notation_reader().read(t.name, made);
  else
    made = part_of(t.name, static_cast<std::uint8_t>(t.number), static_cast<std::uint8_t>(t.tolerance), t.index == 2);
  if (!read) fail(rule_error::wrong_notation, t.name);
  for (std::uint8_t i = 0; i < made.name_count && !failed_; ++i)
    made.slots[i] = in_pattern ? bound_slot(made.names[i], slot_kind::dimension) : dimension_slot(made.names[i]);
  if (failed_) return 0;
  for (std::uint8_t i = 0; i < out.rearrangement_count; ++i)
    if (out.rearrangements[i] == made) return i;
  if (out.rearrangement_count == lowered_rule::rearrangement_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.rearrangements[out.rearrangement_count] = made;
  return out.rearrangement_count++;
}
constexpr std::uint8_t lowering::dimension_slot(static_text name) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i) {
    if (!(out.slot_names[i] == name)) continue;
    if (out.slot_kinds[i] != slot_kind::dimension) fail(rule_error::two_uses_of_a_name, name);
    return i;
  }
  return no_slot;
}

constexpr std::uint8_t lowering::known(static_text name) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) return i;
  fail(rule_error::unbound_name, name);
  return 0;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

namespace fuse::inline v0::detail {

constexpr bool lowering::large(std::uint8_t at) const { return tree_size(at, 6) > 6; }

constexpr int lowering::tree_size(std::uint8_t at, int limit) const {
  auto const& t = pattern_[at];
  int size = t.kind == term_kind::neutral || t.kind == term_kind::named || t.kind == term_kind::exact ? 1 : 0;
  for (int i = 0; i < t.children && size <= limit; ++i) size += tree_size(t.child[i], limit);
  return size;
}

constexpr std::uint64_t lowering::needs_of(term const& t, opcode op, op_group group) {
  auto const first = needs_[t.child[0]];
  auto const how = opening_of(op, group);
  if (how.when == opens_with::logarithm) return needs_[pattern_.terms[multiple_of_[t.child[0]]].child[0]] | root_bit;
  if (how.when == opens_with::unit) return first | root_bit;
  if (how.when == opens_with::power)
    return is_whole_weight(pattern_.terms[t.child[1]].number) ? first : first | root_bit;
  auto all = first;
  int const operands = t.children - t.attributes;
  for (int i = 1; i < operands; ++i) all |= needs_[t.child[i]];
  if (group == op_group::sum || operands < 2 || (first & needs_[t.child[1]] & root_bit) == 0) return all;
  parts found{};
  collect(t.child[0], 1, group, found);
  collect(t.child[1], how.further, group, found);
  all = 0;
  for (int i = 0; i < found.count; ++i) {
    all |= needs_[found.all[i].term];
    if (!is_whole_weight(found.all[i].weight)) all |= root_bit;
  }
  return all;
}

constexpr std::uint64_t lowering::needs_directly(parts const& of, op_group kind, bool added) const {
  std::uint64_t all = 0;
  int required = !added && of.has_number && of.number != (kind == op_group::product ? 1 : 0) ? 1 : 0;
  int const count = of.count;
  for (int i = 0; i < count; ++i) {
    auto const p = of.all[i];
    auto const kind_of_part = pattern_.terms[p.term].kind;
    if ((kind_of_part == term_kind::rest && pattern_.terms[p.term].index == 0) || kind_of_part == term_kind::optional)
      continue;
    bool const once = p.weight == 1 || p.weight == -1 || (kind == op_group::sum && group_[p.term] == op_group::product);
    required += once ? 1 : 2;
    if (kind_of_part == term_kind::neutral && group_[p.term] == op_group::none) all |= needs_[p.term];
    if (kind == op_group::product && !is_whole_weight(p.weight)) all |= root_bit;
  }
  return required < 2 ? all : all | (kind == op_group::sum ? sum_bit : product_bit);
}

constexpr lowering::parts lowering::parts_of(std::uint8_t at, double weight, op_group kind) {
  parts found{};
  if (kind == op_group::product) found.number = 1;
  collect(at, weight, kind, found);
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto moving = found.all[i];
    moving.priority = priority_[moving.term];
    if (moving.priority < 4 && moving.weight != 1 && moving.weight != -1) moving.priority = 0;
    int to = i;
    for (; to > 0 && found.all[to - 1].priority > moving.priority; --to) found.all[to] = found.all[to - 1];
    found.all[to] = moving;
  }
  return found;
}
constexpr void lowering::collect(std::uint8_t at, double weight, op_group kind, parts& into) {
  auto const t = pattern_.terms[at];
  if (group_[at] == kind && t.kind == term_kind::neutral) {  // or it is a rest
    auto const how = opening_of(t.op, kind);
    auto first = t.child[0];
    double exponent = 1;
    if (how.when == opens_with::logarithm) {
      exponent = multiple_[first];
      first = pattern_.terms[multiple_of_[first]].child[0];
    } else if (how.when == opens_with::power) {
      exponent = pattern_.terms[t.child[1]].number;
    }
    if (allows(how.when, weight, exponent)) {
      collect(first, weight * how.first * exponent, kind, into);
      for (int i = 1; how.further != 0 && i < t.operands(); ++i) collect(t.child[i], weight * how.further, kind, into);
      return;
    }
    if (how.when == opens_with::one_over && pattern_.terms[first].kind == term_kind::number &&
        pattern_.terms[first].number == 1)
      return collect(t.child[1], weight * how.further, kind, into);
  } else if (t.kind == term_kind::number && (kind == op_group::sum || is_small(weight))) {
    if (kind == op_group::product) return add_number(t.number, weight, into, t.tolerance);
    widen(into, t.tolerance);
    into.number += weight * t.number;
    return;
  } else if (multiple_of_[at] != at && group_[at] != kind) {
    auto const times = multiple_[at];
    if (kind == op_group::sum) return collect(multiple_of_[at], weight * times, kind, into);
    if (is_factor(at) && is_small(weight)) {
      add_number(times, weight, into);
      return collect(multiple_of_[at], weight, kind, into);
    }
  }
  add_part(at, weight, kind, into);
}
constexpr double lowering::ratio(std::uint8_t a, std::uint8_t b) {
  if (group_[a] != op_group::product) return 0;
  parts of_a{}, of_b{};
  of_a.number = of_b.number = 1;
  collect(a, 1, op_group::product, of_a);
  collect(b, 1, op_group::product, of_b);
  auto const usual = static_cast<float>(usual_tolerance);
  if (of_a.count != of_b.count || of_a.tolerance > usual || of_b.tolerance > usual) return 0;
  for (int i = 0; i < of_a.count; ++i) {
    bool found = false;
    for (int k = 0; k < of_b.count && !found; ++k)
      found = of_a.all[i].term == of_b.all[k].term && of_a.all[i].weight == of_b.all[k].weight;
    if (!found || pattern_.terms[of_a.all[i].term].kind == term_kind::rest) return 0;
  }
  return of_b.number / of_a.number;
}
constexpr void lowering::widen(parts& of, double tolerance) {
  of.has_number = true;
  if (static_cast<float>(tolerance) > of.tolerance) of.tolerance = static_cast<float>(tolerance);
}
constexpr void lowering::add_number(double number, double weight, parts& into, double tolerance) {
  widen(into, tolerance);
  for (double w = weight; w != 0; w += w > 0 ? -1 : 1)
    into.number = w > 0 ? into.number * number : into.number / number;
}
constexpr void lowering::add_part(std::uint8_t at, double weight, op_group kind, parts& into) {
  auto const t = pattern_.terms[at];
  for (std::uint8_t i = 0; i < into.count && t.kind != term_kind::rest; ++i) {
    if (into.all[i].term != at) {
      if (kind != op_group::sum || group_[at] != op_group::product) continue;
      auto const times = ratio(into.all[i].term, at);
      if (times == 0) continue;
      weight *= times;
    }
    auto const known = into.all[i].weight;
    if (kind == op_group::product && !(is_whole_weight(known) && is_whole_weight(weight))) continue;
    if ((known < 0) != (weight < 0)) return fail(rule_error::cancels, t.name.empty() ? rule_.name : t.name);
    into.all[i].weight = known + weight;
    return;
  }
  if (into.count == 24) {
    into.overflow = true;
    return;
  }
  into.all[into.count++] = {at, 0, weight};
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

constexpr void lowering::resolve() {
  if (names_.has_structs) check_sources();
  pattern_ = rule_.pattern;
  for (int i = 0; i < pattern_.size; ++i) {  // (whose terms may become more)
    auto const at = static_cast<std::uint8_t>(i);
    auto const t = pattern_.terms[i];  // (copies: constant evaluation is slow at what it refers to)
    multiple_of_[i] = at;
    multiple_[i] = 1;
    switch (t.kind) {
      case term_kind::capture: priority_[i] = 5; break;
      case term_kind::neutral:
      case term_kind::named:
      case term_kind::exact: resolve_operator(at, t); break;
      case term_kind::scalar:
      case term_kind::number: priority_[i] = 4; break;
      case term_kind::optional: priority_[i] = 6; break;
      case term_kind::rest: priority_[i] = rest_priority; break;
      case term_kind::users:
      case term_kind::known_as:
      case term_kind::through:
        priority_[i] = priority_[t.child[0]];
        needs_[i] = needs_[t.child[0]];
        break;
      case term_kind::alternatives: {
        auto shared = ~std::uint64_t{0};
        for (int c = 0; c < t.children; ++c) shared &= needs_[t.child[c]];
        needs_[i] = shared;
        priority_[i] = 3;
        break;
      }
      case term_kind::misused: return fail_at_misuse(t);
      case term_kind::further: return fail(rule_error::too_large, rule_.name);
      default: priority_[i] = 3;
    }
    if (failed_) return;
  }
  count_times();
}
constexpr void lowering::count_times() {
  for (int i = pattern_.size; i-- > 0;) {
    if (i == pattern_.root()) times_[i] = 1;
    auto const t = pattern_.terms[i];
    if (times_[i] == 0 || t.children == 0) continue;
    bool const added = multiple_[i] == 2 || multiple_[i] == -2;
    bool const twice = t.op == opcode::square || t.op == opcode::pow || added || times_[i] > 1;
    for (int c = 0; c < t.children; ++c) times_[t.child[c]] = twice || times_[t.child[c]] != 0 ? 2 : 1;
  }
}
constexpr void lowering::resolve_operator(std::uint8_t at, term const& t) {
  bool const by_meaning = t.kind == term_kind::neutral;
  auto const known = by_meaning ? facts_of(t.op) : facts_of(names_, t.name);
  if (!by_meaning) {
    if (known.code == 0) return fail(rule_error::unknown_operator, t.name);
    if (t.children - t.attributes > known.data) return fail(rule_error::parameter_as_operand, t.name);
    if (t.kind == term_kind::exact || known.op == opcode::opaque) {
      if (t.attributes != 0) check_attributes(pattern_, t, known.code, false);
      priority_[at] = 3;
      pattern_.terms[at].index = known.code;
      return;
    }
    pattern_.terms[at].kind = term_kind::neutral;
    pattern_.terms[at].op = known.op;
  }
  if (t.attributes != 0) check_attributes(pattern_, t, known.code, by_meaning);
  int const operands = t.children - t.attributes;
  if (operands < known.least || operands > known.most) return fail_at_operands(t, known);
  if (known.reduces && summing_of(known.op).of == 2 && !stands_again(at)) return spell_out(at, summing_of(known.op));
  priority_[at] = known.priority;
  auto const group = opens_logarithm(pattern_.terms[at], known.op) ? op_group::product : known.group;
  if (known.op == opcode::pow && !opens_power(t)) {
    needs_[at] = 0;  // (it has the bits of a product, or none)
    return;
  }
  if (group != op_group::none) {
    group_[at] = group;
    resolve_multiple(at, t);
    needs_[at] = needs_of(t, known.op, group);
    return;
  }
  needs_[at] = known.bit;
  if (!may_keep_elements(known.op)) out.telling.add(known.op);
  if (known.reduces) out.reduces = reduction_[at] = true;
}

constexpr void lowering::spell_out(std::uint8_t at, summing const& as) {
  auto sum = pattern_.terms[at];
  int const more = as.power == 1 ? 1 : 2;
  if (pattern_.size + more > static_cast<int>(expression::capacity)) return fail(rule_error::too_large, rule_.name);
  for (int i = pattern_.size; i-- > at;) {
    auto moved = pattern_.terms[i];
    for (int c = 0; c < moved.children; ++c)
      if (moved.child[c] >= at) moved.child[c] = static_cast<std::uint8_t>(moved.child[c] + more);
    pattern_.terms[i + more] = moved;
  }
  pattern_.size = static_cast<std::uint16_t>(pattern_.size + more);
  auto const put = [&](int place, opcode op, std::uint8_t of) {
    auto& made = pattern_.terms[place] = term{};
    made.kind = term_kind::neutral;
    made.op = op;
    made.children = 1;
    made.child[0] = of;
  };
  put(at, opcode::square, sum.child[0]);
  if (more == 2) put(at + 2, opcode::sqrt, static_cast<std::uint8_t>(at + 1));
  sum.kind = term_kind::neutral;
  sum.op = opcode::sum;
  sum.child[0] = at;
  pattern_.terms[at + 1] = sum;
  resolve_operator(at, pattern_.terms[at]);
}
constexpr bool lowering::stands_again(std::uint8_t at) const {
  for (int i = at + 1; i < pattern_.size; ++i) {
    auto const& named = pattern_.terms[i];
    if (named.kind != term_kind::known_as || named.child[0] != at) continue;
    for (int k = 0; k < rule_.replacement.size; ++k)
      if (auto const& t = rule_.replacement.terms[k]; t.kind == term_kind::again && t.name == named.name) return true;
  }
  return false;
}

constexpr bool lowering::opens_logarithm(term const& t, opcode op) const {
  if (opening_of(op, op_group::product).when != opens_with::logarithm) return false;
  auto const& of = pattern_.terms[multiple_of_[t.child[0]]];
  return of.kind == term_kind::neutral && of.op == opcode::log &&
         allows(opens_with::logarithm, 1, multiple_[t.child[0]]);
}

constexpr bool lowering::opens_power(term const& t) const {
  auto const& exponent = pattern_.terms[t.child[1]];
  return exponent.kind == term_kind::number && exponent.tolerance == usual_tolerance &&
         allows(opens_with::power, 1, exponent.number);
}

constexpr void lowering::fail_at_misuse(term const& t) {
  constexpr rule_error errors[] = {rule_error::attribute_of_no_operator, rule_error::tolerance_of_no_number,
                                   rule_error::too_many_users, rule_error::exact_of_no_fold};
  fail(errors[t.index], t.name.empty() ? rule_.name : t.name);
}

constexpr void lowering::fail_at_operands(term const& t, operator_facts const& known) {
  fail(rule_error::wrong_operand_count, t.name.empty() ? static_text::of(name_of(known.op)) : t.name,
       static_cast<std::size_t>(t.operands() < known.least ? known.least : known.most));
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr std::uint8_t lowering::collect_set(std::uint8_t at, through_set& set) {
  while (pattern_[at].kind == term_kind::through) {
    add_transparent(set, pattern_[at].name);
    at = pattern_[at].child[0];
  }
  return at;
}

constexpr void lowering::capture(std::uint8_t at, std::uint8_t r) {
  if (several_roots_) register_of_.of[at] = r;
  emit({.code = step::capture, .a = r, .b = bound_slot_of(at, slot_kind::value), .through = everywhere_id_});
}

constexpr void lowering::value(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around, bool alone) {
  if (failed_) return;
  auto const t = pattern_.terms[at];
  if (t.kind == term_kind::capture) return capture(at, r);  // the most frequent one
  auto const first_found = register_of_.of[at];
  bool const once = scale_ == 0 || scale_ == 1;
  if (first_found != 0 && t.kind == term_kind::neutral && !again_ && once && large(at)) {
    return lower_forks(2, false, [&](int i) {
      if (i == 0) {
        emit({.code = step::same, .a = r, .b = first_found});
        return;
      }
      again_ = true;
      value(at, r, sign, around, alone);
      again_ = false;
    });
  }
  if (once) register_of_.of[at] = r;
  switch (t.kind) {
    case term_kind::neutral:
      if (group_[at] != op_group::none) {
        if (!divides_products(t)) return group(at, r, sign, around);
        return lower_forks(2, false, [&](int i) { i == 0 ? group(at, r, sign, around) : operation(at, r, 0); });
      }
      if (reduction_[at]) return reduction(t, r, alone);
      return operation(at, r, 0);
    case term_kind::named:
    case term_kind::exact: return operation(at, r, 0);
    case term_kind::scalar: {
      bool const beside = r >= first_beside_ && r < first_beside_ + beside_;
      return emit({.code = step::scalar,
                   .a = r,
                   .b = bound_slot_of(at, slot_kind::number),
                   .c = beside ? first_beside_ : std::uint8_t{0},
                   .count = beside ? beside_ : std::uint8_t{0}});
    }
    case term_kind::number: {
      bool const beside = r >= first_beside_ && r < first_beside_ + beside_;
      return emit({.code = step::number,
                   .a = r,
                   .c = beside ? first_beside_ : std::uint8_t{0},
                   .count = beside ? beside_ : std::uint8_t{0},
                   .tolerance = static_cast<float>(t.tolerance),
                   .number = t.number});
    }
    case term_kind::alternatives:
      return lower_forks(t.children, false, [&](int i) { value(t.child[i], r, sign, around, alone); });
    case term_kind::optional: {
      auto const before = bound_;
      auto const fork = size_;
      emit({.code = step::fork});
      value(t.child[0], r);
      auto const skipped = detach();
      pend(fork, true);
      emit({.code = step::missing, .a = r});
      pending_ = chained(skipped, pending_);
      bound_ = before;
      return;
    }
    case term_kind::wrapped: {
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      auto const inner = new_register();
      auto const op = names_.rows[code - 1u].op;
      return lower_forks(2, false, [&](int i) {
        if (i == 0) {
          if (op == opcode::opaque)
            emit({.code = step::exactly, .a = r, .b = inner, .op = code, .count = 1, .through = everywhere_id_});
          else
            emit({.code = step::operation,
                  .a = r,
                  .b = inner,
                  .op = static_cast<std::uint16_t>(op),
                  .count = 1,
                  .through = everywhere_id_});
        } else {
          emit({.code = step::strip, .a = r, .b = inner});  // of nothing: a copy
        }
        if (i == 1) register_of_.of[t.child[0]] = inner;
        value(t.child[0], inner);
      });
    }
    case term_kind::through: {
      through_set set{};
      auto const inside = collect_set(at, set);
      auto const inner = new_register();
      emit({.code = step::strip, .a = r, .b = inner, .through = set_id(set)});
      return value(inside, inner, sign, around, alone);
    }
    case term_kind::rearranged: {
      auto const inner = new_register();
      auto const what = rearranged(t, true);
      if (failed_) return;
      auto const& below = pattern_[t.child[0]];
      bool const known = below.kind == term_kind::neutral && !is_spelled(t.child[0]);
      emit({.code = step::rearranged,
            .a = r,
            .b = inner,
            .op = what,
            .through = everywhere_id_,
            .number = known ? 1. + static_cast<double>(below.op) : 0});
      bool const free = free_;
      free_ = false;  // its shape matters
      value(t.child[0], inner);
      free_ = free;
      return;
    }
    case term_kind::users: {
      emit({.code = step::users, .a = r, .op = t.index, .through = everywhere_id_});
      return value(t.child[0], r, sign, around, true);
    }
    case term_kind::known_as:
      emit({.code = step::capture, .a = r, .b = bound_slot(t.name, slot_kind::value)});
      return value(t.child[0], r, sign, around, true);
    case term_kind::result:
      if (!is_node(pattern_.terms[t.child[0]]) || t.index > 255)
        return fail(rule_error::result_of_no_operator, rule_.name);
      return operation(t.child[0], r, static_cast<std::uint8_t>(t.index));
    case term_kind::rest: return fail(rule_error::rest_not_last, t.name);
    case term_kind::parameter: return fail(rule_error::parameter_as_value, t.name);
    default: return fail(rule_error::misplaced, rule_.name);
  }
}

constexpr void lowering::operation(std::uint8_t at, std::uint8_t r, std::uint8_t result) {
  auto const t = pattern_.terms[at];
  bool const by_name = t.kind != term_kind::neutral;
  int const operands = t.children - t.attributes;
  bool const has_rest = operands > 0 && priority_[t.child[operands - 1]] == rest_priority;
  int const plain = has_rest ? operands - 1 : operands;
  auto const first = new_registers(plain);
  auto const count = static_cast<std::uint8_t>(has_rest ? plain | 0x80 : plain);
  auto const op = t.kind == term_kind::exact ? names_.rows[t.index - 1u].op : t.op;
  bool const passed = by_name && everywhere_.contains(t.index, static_cast<std::uint16_t>(op));
  auto const through = passed ? std::uint8_t{0} : everywhere_id_;
  if (by_name) {
    emit({.code = step::exactly, .a = r, .b = first, .c = result, .op = t.index, .count = count, .through = through});
  } else {
    bool const commutes = operands == 2 && !has_rest && facts_of(t.op).commutative;
    emit({.code = step::operation,
          .a = r,
          .b = first,
          .c = result,
          .op = static_cast<std::uint16_t>(t.op),
          .count = count,
          .through = through,
          .flags = commutes ? instruction::commutes : std::uint8_t{0}});
  }
  if (times_[at] > 1) emit({.code = step::agrees, .a = r, .b = node_slot(at), .through = through});
  if (t.attributes != 0) attributes(t, r, through);
  bool const free = free_, broadcasts = facts_of(op).broadcasts;
  auto const first_before = first_beside_, before = beside_;
  free_ = free && !by_name && broadcasts;
  first_beside_ = first;
  beside_ = broadcasts && !free ? static_cast<std::uint8_t>(plain) : std::uint8_t{0};
  int later = 0;
  for (int i = 0; i < plain; ++i)
    if (priority_[t.child[i]] >= 5)
      ++later;
    else
      value(t.child[i], static_cast<std::uint8_t>(first + i));
  for (int i = 0; later != 0; ++i) {
    if (priority_[t.child[i]] < 5) continue;
    --later;
    if (pattern_.terms[t.child[i]].kind == term_kind::capture)
      capture(t.child[i], static_cast<std::uint8_t>(first + i));
    else
      value(t.child[i], static_cast<std::uint8_t>(first + i));
  }
  free_ = free;
  first_beside_ = first_before;
  beside_ = before;
  if (has_rest) {
    emit({.code = step::operands,
          .a = r,
          .b = bound_rest(t.child[plain], op_group::none),
          .count = static_cast<std::uint8_t>(plain),
          .through = through});
  }
}

constexpr void lowering::attributes(term const& t, std::uint8_t r, std::uint8_t through, static_text except) {
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& a = pattern_[t.child[i]];
    if (a.name == except) continue;
    instruction made{.code = step::parameter, .a = r, .b = no_slot, .op = parameter_name(a.name), .through = through};
    if (a.children == 0) {
      made.number = a.number;
      made.tolerance = static_cast<float>(usual_tolerance);
    } else {
      auto const& holder = pattern_[a.child[0]];
      if (holder.kind == term_kind::number) {
        made.number = holder.number;
        made.tolerance = static_cast<float>(holder.tolerance);
      } else if (holder.kind == term_kind::list) {
        auto const op = t.kind == term_kind::exact ? names_.rows[t.index - 1u].op : t.op;
        if (a.name == static_text::of("axes") && has_set_of_axes(op))
          axes_required(a, made);
        else
          list_of_numbers(holder, made);
        continue;
      } else if (!captures(holder)) {
        return fail(rule_error::misplaced, rule_.name);
      } else {
        made.b = bound_slot(holder.name, holder.kind == term_kind::scalar ? slot_kind::number : slot_kind::parameter);
      }
    }
    emit(made);
  }
}

constexpr void lowering::list_of_numbers(term const& list, instruction made) {
  made.code = step::element;
  made.count = list.children;
  for (made.c = 0; made.c < list.children; ++made.c) {
    auto const& entry = pattern_[list.child[made.c]];
    if (entry.kind != term_kind::number) return fail(rule_error::list_of_no_numbers, rule_.name);
    made.number = entry.number;
    emit(made);
  }
}

constexpr void lowering::reduction(term const& t, std::uint8_t r, bool alone) {
  constexpr auto standard = static_text::of("axes");
  auto axes = standard;
  std::uint8_t required = 0;  // 1 + the attribute that says which
  for (int i = t.operands(); i < t.children; ++i) {
    auto const& a = pattern_[t.child[i]];
    if (a.name != standard) continue;
    if (a.children == 1 && captures(pattern_[a.child[0]]))
      axes = pattern_[a.child[0]].name;
    else
      required = static_cast<std::uint8_t>(t.child[i] + 1);
  }
  auto const inner = new_register();
  auto const s =
      required == 0 ? bound_slot(axes, slot_kind::parameter) : nameless_slot(slot_[required - 1], slot_kind::parameter);
  emit({.code = step::reduction,
        .a = r,
        .b = inner,
        .c = s,
        .op = static_cast<std::uint16_t>(t.op),
        .through = everywhere_id_,
        .flags = alone ? instruction::alone : std::uint8_t{0}});
  if (required != 0) axes_required(pattern_[required - 1], {.a = inner, .b = s});
  attributes(t, r, everywhere_id_, standard);
  bool const free = free_;
  free_ = false;
  value(t.child[0], inner);
  free_ = free;
}

constexpr void lowering::axes_required(term const& by, instruction made) {
  std::uint64_t from_last = 0;
  made.code = step::over;
  made.op = 0;
  auto const add = [&](double axis) {  // (No tensor has further ones: a mask without them holds of none.)
    if (axis < 0 && axis >= -52) from_last |= std::uint64_t{1} << static_cast<int>(-1 - axis);
    if (axis >= 0 && axis < 16) made.op = static_cast<std::uint16_t>(made.op | 1 << static_cast<int>(axis));
    ++made.count;
  };
  auto const* holder = by.children == 0 ? nullptr : &pattern_[by.child[0]];
  if (holder == nullptr) {
    add(by.number);
  } else if (holder->kind == term_kind::number) {
    add(holder->number);
  } else if (holder->kind != term_kind::list) {
    return fail(rule_error::misplaced, rule_.name);
  } else {
    for (int i = 0; i < holder->children; ++i) {
      auto const& entry = pattern_[holder->child[i]];
      if (entry.kind != term_kind::number) return fail(rule_error::list_of_no_numbers, rule_.name);
      add(entry.number);
    }
  }
  made.number = static_cast<double>(from_last);
  emit(made);
}

constexpr void lowering::group(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around) {
  auto const kind = group_[at];
  auto found = parts_of(at, 1, kind);
  if (found.overflow) return fail(rule_error::too_large, rule_.name);
  auto const frame = next_frame_++;
  if (frame == 31) return fail(rule_error::too_large, rule_.name);
  bool const added = scale_ != 0;
  if (auto const needed = needs_directly(found, kind, added); needed != 0)
    emit({.code = step::within, .a = r, .c = 1, .number = static_cast<double>(needed)});
  if (auto const needed = needs_[at]; needed != 0)
    emit({.code = step::within, .a = r, .number = static_cast<double>(needed)});
  auto const t = pattern_.terms[at];
  bool const clips = kind == op_group::sum && t.index != 0;
  bool const divides =
      t.op == opcode::div && !(added && scale_ != 1) && is_operand(t.child[0]) && is_operand(t.child[1]);
  if (added && scale_ != 1) add_number(scale_, 1, found);
  scale_ = 0;
  bool const scales = kind == op_group::product && found.has_number;
  emit({.code = step::group,
        .a = r,
        .b = frame,
        .c = static_cast<std::uint8_t>(sign),
        .op = static_cast<std::uint16_t>(kind),
        .count = around,
        .through = everywhere_id_,
        .flags = static_cast<std::uint8_t>((clips ? instruction::clips : 0) | (divides ? instruction::divides : 0) |
                                           (scales ? instruction::scales : 0))});
  whole_group(found, kind, frame, false);
}
constexpr void lowering::whole_group(parts const& found, op_group kind, std::uint8_t frame, bool branch) {
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto const p = found.all[i];
    if (p.priority == rest_priority) continue;
    auto const of = pattern_.terms[p.term].kind;
    if ((of == term_kind::alternatives || of == term_kind::optional) && may_add_number(p.term, kind))
      return branches(found, i, kind, frame);
    member(p.term, p.weight, kind, frame);
  }
  finish_group(found, kind, frame, branch);
}
constexpr void lowering::branches(parts const& found, int at, op_group kind, std::uint8_t frame) {
  auto const p = found.all[at];
  auto const t = pattern_.terms[p.term];
  bool const optional = t.kind == term_kind::optional;
  auto partly = partly_;
  lower_forks(optional ? 2 : t.children, false, [&](int k) {
    parts all{};
    if (k < t.children) all = parts_of(t.child[k], p.weight, kind);
    if (all.overflow || all.count + found.count - at > 24) return fail(rule_error::too_large, rule_.name);
    int first_rest = all.count;
    while (first_rest > 0 && all.all[first_rest - 1].priority == rest_priority) --first_rest;
    int const moved = found.count - at - 1;
    for (int i = all.count; i-- > first_rest;) all.all[i + moved] = all.all[i];
    for (int i = 0; i < moved; ++i) all.all[first_rest + i] = found.all[at + 1 + i];
    all.count = static_cast<std::uint8_t>(all.count + moved);
    if (k == t.children)
      all.number = found.number;
    else
      all.number = kind == op_group::product ? all.number * found.number : all.number + found.number;
    all.has_number = all.has_number || found.has_number;
    if (found.tolerance > all.tolerance) all.tolerance = found.tolerance;
    whole_group(all, kind, frame, true);
    partly |= partly_;
  });
  if (optional) partly_ = partly;  // a name that is absent is no mistake
}
constexpr bool lowering::may_add_number(std::uint8_t at, op_group kind) const {
  auto const& t = pattern_.terms[at];
  if (t.kind == term_kind::number) return true;
  bool const opens = t.kind == term_kind::alternatives || t.kind == term_kind::optional || group_[at] == kind;
  if (!opens || t.kind == term_kind::rest) return kind == op_group::product && is_factor(at);
  int const count = t.op == opcode::pow ? 1 : t.children;
  for (int i = 0; i < count; ++i)
    if (may_add_number(t.child[i], kind)) return true;
  return false;
}

constexpr bool lowering::divides_products(term const& t) const {
  if (t.op != opcode::div || scale_ != 0) return false;
  bool found = false;
  for (int i = 0; i < 2; ++i) {
    auto const& of = pattern_.terms[t.child[i]];
    bool const product = of.kind == term_kind::neutral && of.op == opcode::mul;
    if (!product && !is_operand(t.child[i])) return false;
    found = found || product;
  }
  return found;
}

constexpr bool lowering::is_operand(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  bool const branches = t.kind == term_kind::alternatives || t.kind == term_kind::optional;
  for (int i = 0; branches && i < t.children; ++i)
    if (!is_operand(t.child[i])) return false;
  return branches || (group_[at] != op_group::product && !is_factor(at));
}

constexpr void lowering::finish_group(parts const& found, op_group kind, std::uint8_t frame, bool branch) {
  if (found.has_number && (branch || found.number != (kind == op_group::product ? 1 : 0)))
    emit({.code = step::literal, .a = frame, .tolerance = found.tolerance, .number = found.number});
  int const count = found.count;
  int rest = count;  // the last ones
  while (rest > 0 && found.all[rest - 1].priority == rest_priority) --rest;
  for (; rest < count; ++rest) {
    bool const some = pattern_.terms[found.all[rest].term].index != 0;
    emit({.code = step::rest,
          .a = frame,
          .b = bound_rest(found.all[rest].term, kind),
          .flags = some ? instruction::some : std::uint8_t{0},
          .number = found.all[rest].weight});
  }
  emit({.code = step::close, .a = frame});
}

constexpr void lowering::member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const t = pattern_.terms[at];
  if (t.kind == term_kind::alternatives)
    return lower_forks(t.children, false, [&](int i) { spliced(t.child[i], weight, kind, frame); });
  bool const optional = t.kind == term_kind::optional;
  auto const& inside = optional ? pattern_.terms[t.child[0]] : t;
  if (inside.kind == term_kind::scalar)
    return emit({.code = step::scalar_member,
                 .a = frame,
                 .b = bound_slot(inside.name, slot_kind::number),
                 .flags = optional ? instruction::optional : std::uint8_t{0},
                 .number = weight});
  if (optional) return lower_forks(1, true, [&](int) { spliced(t.child[0], weight, kind, frame); });
  bool const twice = weight == 2 || (kind == op_group::sum && weight == -2);
  if (twice && t.kind != term_kind::capture)
    return lower_forks(2, false, [&](int i) {
      if (i == 0) return one_member(at, weight, kind, frame);
      one_member(at, weight / 2, kind, frame);
      one_member(at, weight / 2, kind, frame);
    });
  one_member(at, weight, kind, frame);
}

constexpr bool lowering::is_one_node(std::uint8_t at, op_group kind) const {
  auto const& t = pattern_.terms[at];
  if (t.kind != term_kind::users && t.kind != term_kind::known_as) return false;
  return group_[t.child[0]] == kind || is_one_node(t.child[0], kind);
}

constexpr void lowering::one_member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const group = group_[at];
  auto const r = new_register();
  instruction made{.code = step::member, .a = frame, .b = r, .number = weight};
  auto sign = sign_use::strict;
  if (pattern_.terms[at].kind == term_kind::capture || is_one_node(at, kind)) {
    made.flags = instruction::captures;
  } else if (kind == op_group::sum && group == op_group::product) {
    made.flags = instruction::any_sign;
    scale_ = weight < 0 ? -weight : weight;
    made.number = weight < 0 ? -1 : 1;
    if (scale_ != 1 || has_number_[at]) made.flags |= instruction::scales;
  } else if (kind == op_group::product && group == op_group::sum) {
    auto const whole = static_cast<int>(weight);
    if (whole == weight) sign = whole % 2 == 0 ? sign_use::free : sign_use::linked;
  }
  emit(made);
  value(at, r, sign, frame);
}

constexpr void lowering::spliced(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
  auto const found = parts_of(at, weight, kind);
  if (found.overflow) return fail(rule_error::too_large, rule_.name);
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto const p = found.all[i];
    if (p.priority != rest_priority) member(p.term, p.weight, kind, frame);
  }
  if (found.has_number && found.number != (kind == op_group::product ? 1 : 0))
    emit({.code = step::literal, .a = frame, .tolerance = found.tolerance, .number = found.number});
}

constexpr bool lowering::is_node(term const& t) {
  return t.kind == term_kind::neutral || t.kind == term_kind::named || t.kind == term_kind::exact;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr void lowering::require_operands(expression const& in, term const& t, int required) {
  if (partly_ == 0) return;
  int at = 0;  // of the operands, of which those of a term of their own come last
  for (int i = 0; i < t.children; ++i) {
    auto const* given = &in[t.child[i]];
    if (given->kind == term_kind::attribute) {
      if (given->children == 0) continue;
      given = &in[given->child[0]];
    } else if (given->kind == term_kind::further) {
      require_operands(in, *given, required - at);
      at += given->children;
      continue;
    } else if (at++ >= required) {
      continue;
    }
    bool const one =
        given->kind == term_kind::capture || given->kind == term_kind::scalar || given->kind == term_kind::parameter;
    if (one && (partly_ >> known(given->name) & 1u) != 0) return fail(rule_error::not_in_all_branches, given->name);
  }
}

constexpr std::uint8_t lowering::axes_of_row(expression const& in, term const& t) {
  if (t.children == 3) return known(in[t.child[2]].name);
  std::uint8_t found = no_slot;
  for (std::uint8_t i = 0; i < out.slot_count; ++i) {
    if (out.slot_kinds[i] != slot_kind::parameter) continue;
    if (found != no_slot) fail(rule_error::row_of_several_axes, out.slot_names[i]);
    found = i;
  }
  return found;
}

constexpr bool lowering::lower_again(term const& t, replacement_term& into) {
  for (std::uint16_t i = 0; i < pattern_.size; ++i) {
    auto const& named = pattern_[i];
    if (named.kind != term_kind::known_as || named.name != t.name) continue;
    auto const& known_as = pattern_[named.child[0]];
    auto const& is = known_as.kind == term_kind::result ? pattern_[known_as.child[0]] : known_as;
    bool const by_name = is.kind == term_kind::named || is.kind == term_kind::exact;
    if (!by_name && is.kind != term_kind::neutral) return false;
    auto const meant = by_name ? facts_of(names_, is.name) : facts_of(is.op);
    into.what = replacement_term::kind::again;
    into.slot = known(t.name);
    into.op = static_cast<std::uint16_t>(meant.op);
    into.index = is.kind == term_kind::exact || meant.op == opcode::opaque ? meant.code : std::uint16_t{0};
    return true;
  }
  return false;
}

constexpr void lowering::lower_replacement() {
  auto const& made = rule_.replacement;
  if (made.size > lowered_rule::replacement_capacity) return fail(rule_error::too_large, rule_.name);
  auto const& top = made.terms[made.size - 1];
  std::size_t const roots = top.kind == term_kind::roots ? top.children : 1u;
  if (top.kind == term_kind::alternatives)
    for (int i = 0; i < top.children; ++i)
      if (made.terms[top.child[i]].kind == term_kind::roots)
        return fail(rule_error::either_in_a_replacement, rule_.name);
  if (roots != out.root_count) return fail(rule_error::roots_and_replacements_differ, rule_.name);
  for (std::uint16_t i = 0; i < made.size; ++i) {
    auto const t = made.terms[i];
    replacement_term r{};
    for (int c = 0; c < t.children; ++c) {
      auto const& child = made.terms[t.child[c]];
      if (child.kind != term_kind::attribute) {
        r.child[r.children++] = t.child[c];
        continue;
      }
      if (r.parameter_count == 4) return fail(rule_error::too_large, rule_.name);
      auto& given = r.parameters[r.parameter_count++];
      given.name = child.name;
      given.number = child.number;
      given.integer = child.index == 1;
      given.slot = no_slot;
      given.term = no_slot;
      if (child.children == 1) {
        auto const& holder = made[child.child[0]];
        if (holder.kind == term_kind::number)
          given.number = holder.number;
        else if (captures(holder))
          given.slot = known(holder.name);
        else
          given.term = child.child[0];
      }
    }
    int operands = t.operands();
    for (int c = 0; c < t.operands(); ++c)
      if (auto const& child = made[t.child[c]]; child.kind == term_kind::further) operands += child.children - 1;
    using kind = replacement_term::kind;
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::scalar:
      case term_kind::rest:
      case term_kind::parameter:
        r.what = kind::slot;
        r.slot = known(t.name);
        if (out.slot_kinds[r.slot] == slot_kind::dimension) return fail(rule_error::two_uses_of_a_name, t.name);
        if ((root_names_ >> r.slot & 1u) != 0) return fail(rule_error::root_on_the_right, t.name);
        break;
      case term_kind::number:
        r.what = kind::number;
        r.number = t.number;
        break;
      case term_kind::named:
      case term_kind::exact: {
        auto const meant = facts_of(names_, t.name);
        if (meant.code == 0) return fail(rule_error::unknown_operator, t.name);
        if (operands > meant.data) return fail(rule_error::parameter_as_operand, t.name);
        bool const neutral = t.kind == term_kind::named && meant.op != opcode::opaque;
        if (t.attributes != 0) check_attributes(made, t, meant.code, false);
        r.what = neutral ? kind::neutral : kind::named;
        r.op = neutral ? static_cast<std::uint16_t>(meant.op) : meant.code;
        if (neutral && (operands < meant.least || operands > meant.most)) return fail_at_operands(t, meant);
        require_operands(made, t, neutral ? meant.least : operands);
        break;
      }
      case term_kind::neutral: {
        auto const meant = facts_of(t.op);
        if (operands < meant.least || operands > meant.most) return fail_at_operands(t, meant);
        r.what = kind::neutral;
        r.op = static_cast<std::uint16_t>(t.op);
        if (t.attributes != 0) check_attributes(made, t, 0, false);
        require_operands(made, t, is_nothing_of_nothing(t.op) ? 0 : meant.least);
        break;
      }
      case term_kind::again:
        if (!lower_again(t, r)) return fail(rule_error::again_of_no_operator, t.name);
        if (t.attributes != 0) {
          auto stands = t;
          stands.op = static_cast<opcode>(r.op);
          check_attributes(made, stands, r.index, false);
        }
        break;
      case term_kind::fold:
        r.what = kind::fold;
        r.index = t.index;
        break;
      case term_kind::or_else:
        if (!captures(made.terms[t.child[0]])) return fail(rule_error::or_else_of_no_capture, rule_.name);
        r.what = kind::or_else;
        break;
      case term_kind::along:
        r.what = kind::along;
        r.number = t.number;
        break;
      case term_kind::dimension:
        r.what = kind::dimension;
        r.number = t.number;
        r.slot = known(t.name);
        if (out.slot_kinds[r.slot] != (t.index != 0 ? slot_kind::dimension : slot_kind::value))
          return fail(rule_error::two_uses_of_a_name, t.name);
        break;
      case term_kind::rearranged:
        r.what = kind::rearranged;
        r.index = rearranged(t, false);
        break;
      case term_kind::list: r.what = kind::list; break;
      case term_kind::no_operand: r.what = kind::no_operand; break;
      case term_kind::further: r.what = kind::further; break;
      case term_kind::row:
        r.what = kind::row;
        r.number = t.number;
        r.index = t.index;
        r.slot = t.index != 0 ? no_slot : axes_of_row(made, t);
        r.children = 2;
        break;
      case term_kind::result:
        if (auto const& of = made[t.child[0]]; (!is_node(of) && of.kind != term_kind::again) || t.index > 255)
          return fail(rule_error::result_of_no_operator, rule_.name);
        r.what = kind::result;
        r.index = t.index;
        break;
      case term_kind::roots: r.what = kind::roots; break;
      case term_kind::alternatives:
        if (i + 1 != made.size) return fail(rule_error::either_in_a_replacement, rule_.name);
        r.what = kind::either;
        break;
      case term_kind::attribute: break;
      case term_kind::misused: return fail_at_misuse(t);
      default: return fail(rule_error::no_replacement, rule_.name);
    }
    out.replacement[i] = r;
  }
  out.replacement_size = static_cast<std::uint8_t>(made.size);
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr void lowering::add_condition(condition const& added) {
  std::uint8_t at = 0;
  for (; at < out.condition_count; ++at) {
    auto const& known = out.conditions[at].what;
    bool equal = known.name == added.name && known.count == added.count;
    for (std::size_t i = 0; equal && i < added.count; ++i) equal = known.captures[i] == added.captures[i];
    if (equal) break;
  }
  if (at == out.condition_count) {
    if (at == lowered_rule::condition_capacity) return fail(rule_error::too_large, rule_.name);
    out.conditions[at].what = added;
    for (std::size_t i = 0; i < added.count; ++i) {
      std::uint8_t found = no_slot;
      for (std::uint8_t s = 0; found == no_slot && s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) found = s;
      if (found == no_slot && added.captures[i] != "axes" && !names(pattern_, added.captures[i]))
        return fail(rule_error::unbound_condition, added.captures[i]);
      out.conditions[at].slots[i] = found;
    }
    ++out.condition_count;
  } else {
    for (std::size_t i = 0; i < added.count; ++i)
      for (std::uint8_t s = 0; s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) out.conditions[at].slots[i] = s;
  }
  emit({.code = step::condition, .op = at});
}
constexpr bool lowering::names(expression const& in, static_text name) {
  for (std::uint16_t i = 0; i < in.size; ++i)
    if (in[i].name == name) return true;
  return false;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr void lowering::lower_roots(std::uint8_t root) {
  auto const& t = pattern_.terms[root];
  if (t.kind == term_kind::alternatives) {
    std::uint32_t common = ~0u, any = 0;
    for (int i = 0; i < t.children && !failed_; ++i) {
      lower_roots(t.child[i]);
      common &= bound_;
      any |= bound_;
    }
    partly_ |= any & ~common;
    bound_ = common;
    return;
  }
  next_register_ = 1;
  next_frame_ = 0;
  bound_ = 0;
  register_of_ = {};
  auto const first = size_;
  std::uint8_t main = root;
  several_roots_ = t.kind == term_kind::roots;
  if (several_roots_) main = t.child[0];
  if (pattern_.terms[main].kind == term_kind::alternatives) return fail(rule_error::unreachable_root, rule_.name);
  if (is_other_result(main)) return fail(rule_error::result_as_root, rule_.name);
  auto const r = new_register();
  out.root_registers[0] = r;
  out.root_count = 1;
  add_entries(main, first);
  value(main, r);
  if (several_roots_)
    for (int i = 1; i < t.children; ++i) further_root(t.child[i]);
  for (std::size_t i = 0; i < rule_.condition_count; ++i) add_condition(rule_.conditions[i]);
  for (int i = 0; i < (several_roots_ ? t.children : 1); ++i) name_root(several_roots_ ? t.child[i] : main);
  emit({.code = step::accept});
  unreached_ = size_;
}
constexpr void lowering::name_root(std::uint8_t at) {
  auto const& t = pattern_.terms[at];
  bool const around = t.kind == term_kind::known_as || t.kind == term_kind::users || t.kind == term_kind::through ||
                      t.kind == term_kind::alternatives;
  if (t.kind == term_kind::known_as) root_names_ |= 1u << slot(t.name, slot_kind::value);
  for (int i = 0; around && i < t.children; ++i) name_root(t.child[i]);
}

constexpr bool lowering::is_other_result(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  if (t.kind == term_kind::result) return t.index != 0;
  bool const around = t.kind == term_kind::known_as || t.kind == term_kind::users || t.kind == term_kind::through ||
                      t.kind == term_kind::wrapped || t.kind == term_kind::alternatives;
  for (int i = 0; around && i < t.children; ++i)
    if (is_other_result(t.child[i])) return true;
  return false;
}

constexpr void lowering::add_entry(std::uint16_t first, std::uint16_t tag, bool by_name, std::uint8_t strip) {
  for (std::uint16_t i = 0; i < out.entry_count; ++i)
    if (out.entries[i].first == first && out.entries[i].tag == tag && out.entries[i].by_name == by_name) return;
  if (out.entry_count == lowered_rule::entry_capacity) return fail(rule_error::too_large, rule_.name);
  out.entries[out.entry_count++] = {first, tag, by_name, strip};
}
constexpr void lowering::add_entries(std::uint8_t root, std::uint16_t first) {
  auto const& t = pattern_.terms[root];
  switch (t.kind) {
    case term_kind::neutral:
      if (group_[root] != op_group::none) {
        add_entries_of_group(root, first);
      } else {
        add_entry(first, static_cast<std::uint16_t>(t.op), false, 0);
        if (reduction_[root])
          for (auto op : {opcode::unsqueeze, opcode::reshape})
            add_entry(first, static_cast<std::uint16_t>(op), false, 0);
      }
      break;
    case term_kind::named:
    case term_kind::exact: add_entry(first, t.index, true, 0); break;
    case term_kind::wrapped: {
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      auto const op = names_.rows[code - 1u].op;
      add_entry(first, op == opcode::opaque ? code : static_cast<std::uint16_t>(op), op == opcode::opaque, 0);
      add_entries(t.child[0], first);
      break;
    }
    case term_kind::through: {
      through_set set{};
      auto inside = collect_set(root, set);
      add_transparent_entries(set, first);
      add_entries(inside, first);
      break;
    }
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::result: add_entries(t.child[0], first); break;
    case term_kind::rearranged:
      for (auto const& known : operator_table)
        if (may_move_elements(known.op)) add_entry(first, static_cast<std::uint16_t>(known.op), false, 0);
      break;
    case term_kind::alternatives:  // of the one part that is left of a sum or product
      for (int i = 0; i < t.children; ++i) add_entries(t.child[i], first);
      break;
    default: return fail(rule_error::unreachable_root, rule_.name);
  }
  add_transparent_entries(everywhere_, first);
}
constexpr void lowering::add_entries_of_group(std::uint8_t root, std::uint16_t first) {
  auto const kind = group_[root];
  for (auto const& each : openings)
    if (each.kind == kind && (each.when != opens_with::alike || has_number_[root]))
      add_entry(first, static_cast<std::uint16_t>(each.op), false, 0);
  auto const found = parts_of(root, 1, kind);
  int required = found.has_number && found.number != (kind == op_group::product ? 1 : 0) ? 2 : 0;
  std::uint8_t one = 0;
  for (int i = 0; i < found.count; ++i) {
    auto const& one_of = pattern_.terms[found.all[i].term];
    if ((one_of.kind == term_kind::rest && one_of.index == 0) || one_of.kind == term_kind::optional) continue;
    bool const product = kind == op_group::sum && group_[found.all[i].term] == op_group::product;
    required += found.all[i].weight == 1 || (product && found.all[i].weight > 0) ? 1 : 2;
    one = found.all[i].term;
  }
  if (required == 1 && is_operator(one)) add_entries(one, first);
  for (int i = 0; required == 0 && i < found.count; ++i)
    if (auto const& one_of = pattern_.terms[found.all[i].term];
        one_of.kind == term_kind::optional && found.all[i].weight == 1 && is_operator(one_of.child[0]))
      add_entries(one_of.child[0], first);
}
constexpr bool lowering::is_operator(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  switch (t.kind) {
    case term_kind::neutral:
    case term_kind::named:
    case term_kind::exact: return true;
    case term_kind::alternatives: {
      bool all = true;
      for (int i = 0; i < t.children; ++i) all = all && is_operator(t.child[i]);
      return all;
    }
    case term_kind::wrapped:
    case term_kind::through:
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::result: return is_operator(t.child[0]);
    default: return false;
  }
}
constexpr void lowering::add_transparent_entries(through_set const& set, std::uint16_t first) {
  for (std::size_t i = 0; i < set.count; ++i)
    add_entry(first, set.ops[i], set.by_name[i], everywhere_id_ != 0 ? everywhere_id_ : set_id(set));
}

constexpr void lowering::further_root(std::uint8_t root) {
  if (is_other_result(root)) return fail(rule_error::result_as_root, rule_.name);
  if (out.root_count == sizeof(out.root_registers)) return fail(rule_error::too_large, rule_.name);
  way ways[max_ways]{};
  int count = 0;
  for (bool const last : {false, true})
    for (int branches = 0; branches < max_ways && count < max_ways; ++branches) {
      way found{};
      int left = branches;
      bool known = !way_to_bound(root, last, left, found) || left != 0;
      for (int i = 0; i < count && !known; ++i) known = ways[i] == found;
      if (!known) ways[count++] = found;
      if (count == 0) return fail(rule_error::unreachable_root, rule_.name);
    }
  auto const at = new_register();
  out.root_registers[out.root_count++] = at;
  lower_forks(count, false, [&](int i) { climb(ways[i], at); });
  if (!failed_) value(root, at);
}
constexpr void lowering::climb(way const& along, std::uint8_t to) {
  auto const bound = along.terms[along.length - 1];
  auto at = register_of_.of[bound];
  if (at == 0) {
    at = new_register();
    emit({.code = step::recall, .a = at, .b = slot(pattern_[bound].name, slot_kind::value)});
  }
  std::uint16_t last = no_instruction;
  for (int i = along.length - 2; i >= 0; --i) {
    auto const& t = pattern_[along.terms[i]];
    bool const wraps = t.kind == term_kind::wrapped || t.kind == term_kind::through;
    if (!wraps && !is_node(t)) continue;
    through_set set = everywhere_;
    if (wraps) add_transparent(set, t.name);
    instruction made{.code = step::user, .a = at, .through = set.count == 0 ? std::uint8_t{0} : set_id(set)};
    int above = i - 1;
    while (above > 0 && is_name(pattern_[along.terms[above]])) --above;
    if (above >= 0 && pattern_[along.terms[above]].kind == term_kind::result)
      made.c = static_cast<std::uint8_t>(pattern_[along.terms[above]].index);
    if (wraps) {
      made.flags = instruction::optional;
    } else if (is_spelled(along.terms[i])) {
      made.flags = instruction::climbs;
      while (i > 0 && (!is_node(pattern_[along.terms[i - 1]]) || is_spelled(along.terms[i - 1])) &&
             pattern_[along.terms[i - 1]].kind != term_kind::wrapped &&
             pattern_[along.terms[i - 1]].kind != term_kind::through)
        --i;
      if (i > 0 || last != no_instruction) made.flags |= instruction::optional;
    } else if (t.kind == term_kind::neutral) {
      made.op = static_cast<std::uint16_t>(t.op);
    } else {
      made.op = t.index;
      made.flags = instruction::named;
    }
    made.b = at = new_register();
    last = size_;
    emit(made);
  }
  if (last == no_instruction) return fail(rule_error::unreachable_root, rule_.name);
  if (!failed_) out.code[last].b = to;
}
constexpr bool lowering::is_name(term const& t) { return t.kind == term_kind::known_as || t.kind == term_kind::users; }
constexpr bool lowering::way_to_bound(std::uint8_t at, bool last, int& branches, way& into) {
  if (into.length == way::capacity) return false;
  into.terms[into.length++] = at;
  auto const& t = pattern_[at];
  bool const bound = register_of_.of[at] != 0 || (t.kind == term_kind::capture && is_bound(t.name));
  if (bound && (!last || into.length == 1)) return into.length > 1;
  bool const either = t.kind == term_kind::alternatives;
  int const before = branches, only = either ? branches % t.children : 0;
  if (either) branches /= t.children;
  for (int i = 0; i < t.children; ++i)
    if ((!either || i == only) && pattern_[t.child[i]].kind != term_kind::attribute &&
        way_to_bound(t.child[i], last, branches, into))
      return true;
  if (bound) return true;
  branches = before;
  --into.length;
  return false;
}

constexpr bool lowering::is_bound(static_text name) const {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) return (bound_ >> i & 1u) != 0;
  return false;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr lowering::lowering(lowered_rule& into, rewrite_rule const& rule, dialect const& names)
    : out(into), rule_(rule), names_(names) {
  out.name = rule.name;
  out.summary = rule.summary_text;
  out.stage = rule.stage_number;
  out.benefit = rule.benefit_value;
  out.equal_cost = rule.equal_cost;
  out.silent = rule.silent;
  if (rule.pattern.too_large || rule.replacement.too_large || rule.too_many)
    fail(rule_error::too_large, rule.name);
  else if (rule.replacement.size == 0)
    fail(rule_error::no_replacement, rule.name);
  for (std::size_t i = 0; i < rule.transparent_count; ++i) add_transparent(everywhere_, rule.transparent[i]);
  resolve();
  if (failed_) return;
  if (everywhere_.count != 0) everywhere_id_ = set_id(everywhere_);
  lower_roots(pattern_.root());
  out.size = size_;
  if (!failed_) lower_replacement();
}

[[nodiscard]] constexpr lowered_rule lower(rewrite_rule const& rule, dialect const& names) {
  lowered_rule made{};
  lowering(made, rule, names);
  return made;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop

namespace fuse::inline v0 {

template <char... Text>
struct quoted {};

namespace detail {

class culprit_text {
 public:
  std::size_t size = 0;
  char at_wanted = 0;

  constexpr explicit culprit_text(lowered_rule const& rule, std::size_t wanted = 0) : wanted_(wanted) {
    add(rule.culprit);
    if (rule.error != rule_error::unknown_attribute && rule.error != rule_error::attribute_of_another_kind) return;
    add(": ");
    add(rule.owner);
    std::string_view before = " has ";
    for (auto const& one : rule.attributes->all) {
      add(before);
      add(name_of(one.kind));
      add(" ");
      add(one.name);
      before = ", ";
    }
    if (rule.attributes->all.size() == 0) add(" has none");
  }

 private:
  constexpr void add(std::string_view text) {
    if (wanted_ >= size && wanted_ < size + text.size()) at_wanted = text[wanted_ - size];
    size += text.size();
  }
  std::size_t wanted_;
};

template <rule_error Error, rule_error Other>
inline constexpr bool is_not = Error != Other;

template <rule_error Error, class Rule, class Culprit>
struct rule_requirement {
  static constexpr bool met = Error == rule_error::none;
  static_assert(
      is_not<Error, rule_error::too_large>,
      "fuse: a rule has at most 128 distinct terms, 64 on its right side, 8 operands and attributes of an operator of "
      "its pattern, 4 roots, "
      "16 conditions, 8 rearrangements and 24 names; this one has more");
  static_assert(is_not<Error, rule_error::unknown_operator>,
                "fuse: a rule names an operator that the dialect does not know");
  static_assert(is_not<Error, rule_error::wrong_operand_count>,
                "fuse: a rule gives an operator a wrong number of operands");
  static_assert(is_not<Error, rule_error::unbound_name>,
                "fuse: the right side of a rule uses a name that the pattern does not bind");
  static_assert(is_not<Error, rule_error::rest_not_last>,
                "fuse: a rest stands as the last operand of an operator, or in a product or sum");
  static_assert(
      is_not<Error, rule_error::no_replacement>,
      "fuse: a rule needs a right side made of captures, numbers and operators: rule<...>(pattern).replace(...)");
  static_assert(is_not<Error, rule_error::either_in_a_replacement>,
                "fuse: either stands on a right side for the whole of it, that of a rule with one root");
  static_assert(is_not<Error, rule_error::roots_and_replacements_differ>,
                "fuse: a rule with several roots needs as many replacements: replace(first, second)");
  static_assert(
      is_not<Error, rule_error::unreachable_root>,
      "fuse: the root of a pattern is an operator, and every further root uses something that the first one binds");
  static_assert(is_not<Error, rule_error::unbound_condition>,
                "fuse: a condition names a capture that the pattern does not bind");
  static_assert(
      is_not<Error, rule_error::two_uses_of_a_name>,
      "fuse: a rule uses one name for two kinds of captures (a value, a scalar, a parameter, an extent, a rest of a "
      "product, of a sum or of operands)");
  static_assert(is_not<Error, rule_error::unknown_attribute>,
                "fuse: a rule, or its dialect, names an attribute that the operator does not have");
  static_assert(is_not<Error, rule_error::attribute_of_another_kind>,
                "fuse: a rule wants an attribute to be what it cannot hold");
  static_assert(is_not<Error, rule_error::row_of_several_axes>,
                "fuse: a rule captures several parameters: say which one is a row's axes, row(v, x, param<...>)");
  static_assert(is_not<Error, rule_error::root_on_the_right>,
                "fuse: the right side of a rule uses the name of what it replaces: it would read itself");
  static_assert(
      is_not<Error, rule_error::attribute_of_no_operator>,
      "fuse: .attr stands behind an operator; a capture, a number or what is looked through has no attributes");
  static_assert(is_not<Error, rule_error::tolerance_of_no_number>,
                "fuse: .within stands behind a number; nothing else has a tolerance");
  static_assert(is_not<Error, rule_error::too_many_users>, "fuse: .users takes a number from 0 to 65535");
  static_assert(is_not<Error, rule_error::parameter_as_operand>,
                "fuse: a rule gives an operator more operands than are data in its dialect: the others are parameters, "
                "which .attr names");
  static_assert(is_not<Error, rule_error::not_in_all_branches>,
                "fuse: the right side of a rule needs a name that not every branch of an either binds");
  static_assert(is_not<Error, rule_error::parameter_as_value>,
                "fuse: a parameter stands in .attr, where it captures one; it is no operand");
  static_assert(
      is_not<Error, rule_error::cancels>,
      "fuse: a sum or product takes back what it adds or multiplies: nothing of a graph cancels, so that this "
      "matches nothing");
  static_assert(
      is_not<Error, rule_error::result_as_root>,
      "fuse: the root of a pattern is the first result of its operator: matching begins there, and result<1> of an "
      "operator stands below another one");
  static_assert(is_not<Error, rule_error::again_of_no_operator>,
                "fuse: again stands for an operator of the pattern, to which .as gives that name");
  static_assert(is_not<Error, rule_error::or_else_of_no_capture>,
                "fuse: or_else begins with a capture, which may be absent: or_else(c, 0)");
  static_assert(is_not<Error, rule_error::exact_of_no_fold>,
                "fuse: .exact stands behind fold; nothing else is rounded");
  static_assert(is_not<Error, rule_error::wrong_notation>,
                "fuse: rearrange takes names, 1, groups in brackets and ..., on both sides of one ->; each name stands "
                "once on a side, all of the left stand on the right, and (...) stands on the right alone");
  static_assert(is_not<Error, rule_error::list_of_no_numbers>,
                "fuse: a list in a pattern has numbers for entries; param captures a list as it is");
  static_assert(
      is_not<Error, rule_error::result_of_no_operator>,
      "fuse: result<0> to result<255> stand around an operator; a name or a count of users stands around that");
  static_assert(
      is_not<Error, rule_error::misplaced>,
      "fuse: fold, row, dim, or_else, none and what is computed stand on the right side of a rule, roots around its "
      "whole pattern");
};

template <fixed_string Name, std::size_t... I>
quoted<Name.text[I]...> quoted_name(std::index_sequence<I...>);

template <class Name, bool Bound>
struct match_has_no_capture_of_that_name {
  static_assert(Bound, "fuse: the rule has no capture of that name");
};

}  // namespace detail
}  // namespace fuse::inline v0

namespace fuse::inline v0 {

template <auto const&... Members>
struct rule_set_of;

namespace detail {

template <class T>
inline constexpr bool is_rule_or_set = std::is_same_v<T, rewrite_rule>;
template <auto const&... Members>
inline constexpr bool is_rule_or_set<rule_set_of<Members...>> = true;

template <class... Members>
inline constexpr bool holds_rules_and_sets = (is_rule_or_set<std::remove_cvref_t<Members>> && ...);

}  // namespace detail

template <auto const&... Members>
struct rule_set_of {
  static_assert(detail::holds_rules_and_sets<decltype(Members)...>, "fuse: a rule set holds rules and rule sets");
};

template <auto const&... Members>
inline constexpr rule_set_of<Members...> rule_set{};

namespace detail {

template <auto const& Dialect>
inline constexpr dialect names_of = Dialect.names();

template <auto const& Rule, auto const& Dialect>
inline constexpr lowered_rule lowered = lower(Rule, names_of<Dialect>);

inline constexpr lowered_rule no_rule{};

template <std::size_t N>
struct lowered_list {
  lowered_rule const* at[N == 0 ? 1 : N]{};
};

template <class T>
struct member_count {
  static constexpr std::size_t value = 1;
};
template <auto const&... Members>
struct member_count<rule_set_of<Members...>> {
  static constexpr std::size_t value =
      (std::size_t{0} + ... + member_count<std::remove_cvref_t<decltype(Members)>>::value);
};

template <auto const& Member, auto const& Dialect, class T = std::remove_cvref_t<decltype(Member)>>
struct member_lowering {
  static constexpr void list(lowered_rule const** into, std::size_t& at) {
    if constexpr (std::is_same_v<T, rewrite_rule>)
      into[at++] = &lowered<Member, Dialect>;
    else
      into[at++] = &no_rule;
  }
};
template <auto const& Member, auto const& Dialect, auto const&... Members>
struct member_lowering<Member, Dialect, rule_set_of<Members...>> {
  static constexpr void list([[maybe_unused]] lowered_rule const** into, [[maybe_unused]] std::size_t& at) {
    if constexpr ((std::is_same_v<decltype(Members), rewrite_rule const&> && ...))
      ((into[at++] = &lowered<Members, Dialect>), ...);  // mostly so, and a template less for each rule
    else
      (member_lowering<Members, Dialect>::list(into, at), ...);
  }
};

template <auto const& Set, auto const& Dialect>
inline constexpr auto lowered_rules = [] {
  lowered_list<member_count<std::remove_cvref_t<decltype(Set)>>::value> made;
  std::size_t at = 0;
  member_lowering<Set, Dialect>::list(made.at, at);
  return made;
}();

template <auto const& Set, auto const& Dialect>
inline constexpr lowered_rule const* first_wrong = [] {
  for (std::size_t i = 0; i < member_count<std::remove_cvref_t<decltype(Set)>>::value; ++i)
    if (lowered_rules<Set, Dialect>.at[i]->error != rule_error::none) return lowered_rules<Set, Dialect>.at[i];
  return &no_rule;
}();

template <auto const& Set, auto const& Dialect, std::size_t... I>
quoted<first_wrong<Set, Dialect>->name[I]...> quoted_rule(std::index_sequence<I...>);
template <auto const& Set, auto const& Dialect, std::size_t... I>
quoted<culprit_text(*first_wrong<Set, Dialect>, I).at_wanted...> quoted_culprit(std::index_sequence<I...>);

template <auto const& Set, auto const& Dialect>
using require_rules = rule_requirement<
    first_wrong<Set, Dialect>->error,
    decltype(quoted_rule<Set, Dialect>(std::make_index_sequence<first_wrong<Set, Dialect>->name.size()>{})),
    decltype(quoted_culprit<Set, Dialect>(std::make_index_sequence<culprit_text(*first_wrong<Set, Dialect>).size>{}))>;

struct program_sizes {
  std::size_t code, entries, conditions, replacements;
};

template <std::size_t N>
constexpr program_sizes sizes_of(lowered_list<N> const& rules) {
  program_sizes sum{};
  for (std::size_t i = 0; i < N; ++i) {
    lowered_rule const& rule = *rules.at[i];
    sum.code += rule.size;
    sum.entries += rule.entry_count;
    sum.conditions += rule.condition_count;
    sum.replacements += rule.replacement_size;
  }
  return sum;
}

template <auto const& Set, auto const& Dialect>
constexpr auto merge() {
  constexpr auto const& rules = lowered_rules<Set, Dialect>;
  constexpr auto count = member_count<std::remove_cvref_t<decltype(Set)>>::value;
  constexpr auto sizes = sizes_of(rules);
  using table = program_table<sizes.code, sizes.entries, count, sizes.conditions, sizes.replacements>;
  return merging<table>(rules.at, count).out;
}

template <auto const& Set, auto const& Dialect>
inline constexpr auto program_table_of = merge<Set, Dialect>();

}  // namespace detail

template <auto const& Set, auto const& Dialect = onnx>
inline constexpr program program_of = detail::program_table_of<Set, Dialect>;

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

namespace detail {

template <auto const& Set, auto const& Dialect>
[[nodiscard]] filter_tables const& filter_tables_of() {
  static filter_tables const made(program_of<Set, Dialect>, Dialect);
  return made;
}

template <class Graph>
struct any_match {
  struct bound_name {
    std::string_view name;
    std::vector<value_of<Graph>> values;
    double number;
    std::vector<std::int64_t> integers;
  };

  [[nodiscard]] bound_name const* find(std::string_view name) const {
    for (auto const& b : bound)
      if (b.name == name) return &b;
    return nullptr;
  }

  std::string_view rule;
  node_of<Graph> root{};
  std::vector<bound_name> bound;
};

template <class Graph>
class graph_matcher {
 public:
  graph_matcher(filter_tables const& rules, Graph const& graph)
      : bound_(graph, names_in(names), names.newest),
        facts_(bound_.image, names),
        machine_(rules, bound_.image, propagated(), names) {}
  graph_matcher(graph_matcher const&) = delete;
  graph_matcher& operator=(graph_matcher const&) = delete;

  void filter(bool on) { machine_.filter(on); }

  [[nodiscard]] std::vector<any_match<Graph>> all() {
    std::vector<any_match<Graph>> found;
    if (bound_.cyclic()) return found;
    collector seen(*this, found);
    machine_.run(seen);
    return found;
  }
  [[nodiscard]] std::vector<any_match<Graph>> at(node_of<Graph> const& node) {
    std::vector<any_match<Graph>> found;
    auto const n = number(node);
    collector seen(*this, found);
    if (n != absent) machine_.run(n, seen);
    return found;
  }
  [[nodiscard]] explanation why(node_of<Graph> const& node) { return why_of(node, nullptr); }
  [[nodiscard]] explanation why(node_of<Graph> const& node, std::string_view rule) {
    auto const& all = machine_.rules();
    chosen_rules const only(all, [&](std::size_t each) { return all.rules[each].name == rule; });
    return why_of(node, &only);
  }
  [[nodiscard]] std::vector<explanation> near_misses(std::size_t limit = 10) {
    std::vector<explanation> found;
    for (node_id n = bound_.image.node_count(); n-- > 0 && !bound_.cyclic();) {
      auto why_not = explain(machine_, bound_.image, facts_, names, n);
      if (why_not.matched || why_not.score < 3) continue;
      std::size_t at = found.size();
      while (at > 0 && found[at - 1].score < why_not.score) --at;
      if (at < limit) found.insert(found.begin() + static_cast<std::ptrdiff_t>(at), std::move(why_not));
      if (found.size() > limit) found.pop_back();
    }
    return found;
  }

  [[nodiscard]] node_of<Graph> const& handle(node_id n) const { return bound_.node(n); }
  [[nodiscard]] facts const& known() const { return facts_; }
  [[nodiscard]] graph_image const& image() const { return bound_.image; }

 private:
  static constexpr auto const& names = dialect_of<Graph>;

  class collector final : public machine::acceptor {
   public:
    collector(graph_matcher& owner, std::vector<any_match<Graph>>& into) : owner_(owner), into_(into) {}
    bool accept(std::uint16_t rule) override {
      auto const& known = owner_.machine_.rules().rules[rule];
      if (std::exchange(node_, owner_.machine_.root()) != owner_.machine_.root()) first_ = into_.size();
      for (std::size_t i = first_; i < into_.size(); ++i)
        if (into_[i].rule == known.name) return false;
      any_match<Graph> made{known.name, owner_.bound_.node(node_), {}};
      for (std::uint8_t s = 0; s < known.slot_count; ++s) {
        auto const& b = owner_.machine_.found().slot(s);
        if (!b.bound) continue;
        made.bound.push_back({known.slot_names[s], {}, b.number, {}});
        auto& values = made.bound.back().values;
        auto const list = owner_.machine_.found().integers(s);
        auto& integers = made.bound.back().integers;
        integers.assign(list.begin(), list.end());
        for (int bit = 63; bit >= 0 && known.slot_kinds[s] == slot_kind::parameter; --bit)
          if ((b.axes >> bit & 1u) != 0) integers.push_back(-1 - bit);
        if (known.slot_kinds[s] == slot_kind::rest)
          for (auto const& m : owner_.machine_.found().members(s)) values.push_back(owner_.bound_.value(m.value));
        else if (b.value != absent && known.slot_kinds[s] != slot_kind::dimension)
          values.push_back(owner_.bound_.value(b.value));
      }
      into_.push_back(std::move(made));
      return false;
    }

   private:
    graph_matcher& owner_;
    std::vector<any_match<Graph>>& into_;
    node_id node_ = absent;
    std::size_t first_ = 0;  // of this node
  };

  [[nodiscard]] explanation why_of(node_of<Graph> const& node, chosen_rules const* only) {
    auto const n = number(node);
    return n == absent ? explanation{} : explain(machine_, bound_.image, facts_, names, n, only);
  }
  facts const& propagated() {
    if (!bound_.cyclic()) facts_.run();
    return facts_;
  }
  [[nodiscard]] node_id number(node_of<Graph> const& node) const {
    for (node_id n = 0; n < bound_.image.node_count(); ++n)
      if (bound_.node(n) == node) return n;
    return absent;
  }

  graph_binding<Graph const> bound_;
  facts facts_;
  detail::machine machine_;
};

}  // namespace detail

template <auto const& Rules, class Graph>
class match_of {
 public:
  using value = value_of<Graph>;
  using node = node_of<Graph>;

  [[nodiscard]] std::string_view rule() const { return found_.rule; }
  [[nodiscard]] node const& root() const { return found_.root; }

  template <fixed_string Name>
  [[nodiscard]] value get() const {
    auto const* const b = find<Name>();
    return b != nullptr && !b->values.empty() ? b->values[0] : value{};
  }
  template <fixed_string Name>
  [[nodiscard]] double number() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->number : 0;
  }
  template <fixed_string Name>
  [[nodiscard]] std::vector<std::int64_t> integers() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->integers : std::vector<std::int64_t>{};
  }
  template <fixed_string Name>
  [[nodiscard]] std::vector<value> all() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->values : std::vector<value>{};
  }

 private:
  template <auto const& R, class G>
  friend class matcher;

  explicit match_of(detail::any_match<Graph>&& found) : found_(std::move(found)) {}

  template <fixed_string Name>
  [[nodiscard]] auto const* find() const {
    constexpr bool bound = program_of<Rules, detail::dialect_table_of<Graph>()>.binds(Name.view());
    using name = decltype(detail::quoted_name<Name>(std::make_index_sequence<sizeof(Name.text) - 1>{}));
    (void)sizeof(detail::match_has_no_capture_of_that_name<name, bound>);
    return found_.find(Name.view());
  }

  detail::any_match<Graph> found_;
};

template <auto const& Rules, class Graph>
class matcher : public detail::graph_matcher<Graph> {
  using any_rules = detail::graph_matcher<Graph>;

 public:
  explicit matcher(Graph const& graph)
      : any_rules(detail::filter_tables_of<Rules, detail::dialect_table_of<Graph>()>(), graph) {}

  [[nodiscard]] std::vector<match_of<Rules, Graph>> all() { return typed(any_rules::all()); }
  [[nodiscard]] std::vector<match_of<Rules, Graph>> at(node_of<Graph> const& node) {
    return typed(any_rules::at(node));
  }

 private:
  static std::vector<match_of<Rules, Graph>> typed(std::vector<detail::any_match<Graph>>&& found) {
    std::vector<match_of<Rules, Graph>> made;
    made.reserve(found.size());
    for (auto& each : found) made.push_back(match_of<Rules, Graph>(std::move(each)));
    return made;
  }
};

template <auto const& Rules, class Graph>
[[nodiscard]] std::vector<match_of<Rules, Graph>> match(Graph const& graph, node_of<Graph> const& node) {
  (void)sizeof(detail::require_readable<Graph>);
  (void)sizeof(detail::require_rules<Rules, detail::dialect_table_of<Graph>()>);
  return matcher<Rules, Graph>(graph).at(node);
}

template <auto const& Rules, class Graph>
[[nodiscard]] std::vector<match_of<Rules, Graph>> match_all(Graph const& graph) {
  (void)sizeof(detail::require_readable<Graph>);
  (void)sizeof(detail::require_rules<Rules, detail::dialect_table_of<Graph>()>);
  return matcher<Rules, Graph>(graph).all();
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

class pattern_reach {
 public:
  static constexpr int none = -1;  ///< no pattern has such an operator inside

  explicit pattern_reach(program const& rules)
      : rules_(rules),
        above_(operators * static_cast<std::size_t>(rules.stages), none),
        most_(static_cast<std::size_t>(rules.stages), none),
        passed_(operators, false) {
    list_passed();
    plain_vector<int> before(rules.code.size());
    for (int stage = 0; stage < rules.stages; ++stage) {
      before.assign(before.size(), -1);
      for (auto const& e : rules.entries)
        if (e.stage <= stage) follow(e.first, 0, stage, before);
      for (auto op : {opcode::sum, opcode::mean})
        for (auto const& each : summings) raise(at(stage, each.op), at(stage, op));
    }
  }

  [[nodiscard]] int above(int stage, opcode op) const { return above_[place(stage, op)]; }
  [[nodiscard]] bool passes(operator_tag tag) const {
    if (passed_[tag.op]) return true;
    for (auto const name : passed_names_)
      if (name == tag.name) return true;
    return false;
  }
  [[nodiscard]] int most(int stage) const { return most_[static_cast<std::size_t>(stage)]; }

 private:
  static constexpr auto operators = static_cast<std::size_t>(opcode::count_);

  void list_passed() {
    for (std::size_t at = 0; at < operators; ++at) {
      auto const op = static_cast<opcode>(at);
      passed_[at] = info(op).group != op_group::none || op == opcode::log || may_keep_elements(op) || may_clip(op) ||
                    opening_of(op, op_group::product).when != opens_with::none;
    }
    for (auto const& set : rules_.sets)
      for (std::size_t i = 0; i < set.count; ++i)
        if (set.by_name[i])
          passed_names_.push_back(set.ops[i]);
        else
          passed_[set.ops[i]] = true;
  }

  void follow(std::uint16_t pc, int above, int stage, plain_vector<int>& before) {
    for (; pc != no_instruction && before[pc] < above; pc = rules_.code[pc].next) {
      before[pc] = above;
      auto const& i = rules_.code[pc];
      if (i.code == step::fork) follow(i.other, above, stage, before);
      if (i.code == step::group) above |= 1;
      if (i.code != step::operation && i.code != step::reduction && i.code != step::exactly) continue;
      auto const op = i.code == step::exactly ? opcode::opaque : static_cast<opcode>(i.op);
      if (above != 0) raise(at(stage, op), above / 2);  // else it is a root
      above += 2;
      raise(most_[static_cast<std::size_t>(stage)], above / 2);
    }
  }
  static void raise(int& most, int found) {
    if (found > most) most = found;
  }
  [[nodiscard]] static std::size_t place(int stage, opcode op) {
    return static_cast<std::size_t>(stage) * operators + static_cast<std::size_t>(op);
  }
  int& at(int stage, opcode op) { return above_[place(stage, op)]; }

  program const& rules_;
  plain_vector<int> above_;    // by stage and opcode
  plain_vector<int> most_;     // by stage
  plain_vector<bool> passed_;  // by opcode
  plain_vector<std::uint16_t> passed_names_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Program>
struct basic_compiled_rules {
  basic_filter_tables<Program> const tables;
  pattern_reach const reach;

  basic_compiled_rules(Program const& of, dialect const& names);
};
using compiled_rules = basic_compiled_rules<program>;

template <class Program>
basic_compiled_rules<Program>::basic_compiled_rules(Program const& of, dialect const& names)
    : tables(of, names), reach(tables.rules) {}

#ifdef FUSE_REWRITE_SEPARATE
extern template struct basic_compiled_rules<program>;
#endif

template <auto const& Rules, auto const& Table>
[[nodiscard]] compiled_rules const& compiled_rules_of() {
  static compiled_rules const made(program_of<Rules, Table>, Table);
  return made;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_validity {
 public:
  struct requirement {
    extent a{}, b{};
    value_id of_a = absent, of_b = absent;
    bool broadcasts = false, whole = false;

    [[nodiscard]] bool follows_from(requirement const& other) const {
      if (whole != other.whole || (other.broadcasts && !broadcasts)) return false;
      auto const same = [](auto const& p, auto const& q, auto const& r, auto const& s) {
        return (p == r && q == s) || (p == s && q == r);
      };
      return whole ? same(of_a, of_b, other.of_a, other.of_b) : same(a, b, other.a, other.b);
    }
  };

  basic_validity(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] std::string check(node_id n) {
    n_ = n;
    wrong_.clear();
    open_.clear();
    auto const op = op_of(image_, n);
    auto const& known = info(op);
    check_stated_types();
    if (op == opcode::opaque) return std::move(wrong_);
    for (int i = 0; i < known.least; ++i)
      if (operand(static_cast<std::uint32_t>(i)) == absent) return "operand " + std::to_string(i) + " is missing";
    check_types(op);
    check_shapes(op);
    return std::move(wrong_);
  }
  [[nodiscard]] span<requirement const> open() const { return open_; }
  [[nodiscard]] std::string text(requirement const& r) const {
    auto const name = [&](value_id v) { return "'" + image_.source->value_name(v) + "'"; };
    if (r.whole) return "whether the shapes of " + name(r.of_a) + " and " + name(r.of_b) + " fit is not known";
    return "whether " + facts_.symbols().text(r.a) + ", of " + name(r.of_a) + ", is " + facts_.symbols().text(r.b) +
           ", of " + name(r.of_b) + ", is not known";
  }

 private:
  [[nodiscard]] value_id operand(std::uint32_t i) const {
    return i < image_.operand_count(n_) ? image_.operand(n_, i) : absent;
  }
  [[nodiscard]] element_type type(std::uint32_t i) const { return facts_.type(operand(i)); }
  [[nodiscard]] bool ranked(std::uint32_t i) const { return facts_.has_rank(operand(i)); }
  [[nodiscard]] span<extent const> shape(std::uint32_t i) const { return facts_.shape(operand(i)); }

  void wrong(std::string text) {
    if (wrong_.empty()) wrong_ = std::move(text);
  }

  void check_stated_types() {
    auto const* const row = names_.row(image_.node(n_).tag.name, image_.version);
    element_types const* stated = nullptr;
    if (row != nullptr)
      for (auto const& from : row->types)
        if (from.since <= image_.version) stated = &from;
    if (stated == nullptr) return;
    auto const at = [&](element_type t) {
      return std::string(name_of(t)) + ", and " + std::string(row->name) + " has none of that type at version " +
             std::to_string(image_.version);
    };
    for (std::uint32_t i = 0; i < image_.operand_count(n_); ++i)
      if (operand(i) != absent && !stated->takes(i, type(i)))
        return wrong("operand " + std::to_string(i) + " is " + at(type(i)));
    if (auto const t = facts_.type(image_.result(n_)); image_.node(n_).result_count != 0 && !stated->gives(t))
      wrong("its result is " + at(t));
  }
  void check_types(opcode op) {
    if (names_.promotes) return;
    auto const& known = info(op);
    auto const count = image_.operand_count(n_);
    switch (op) {
      case opcode::where:
        want(0, "boolean", [](element_type t) { return t == element_type::boolean; });
        return alike(1, 2);
      case opcode::logical_and:
      case opcode::logical_or:
      case opcode::logical_xor:
      case opcode::logical_not:
        for (std::uint32_t i = 0; i < count; ++i)
          want(i, "boolean", [](element_type t) { return t == element_type::boolean; });
        return;
      case opcode::equal: return alike(0, 1);
      case opcode::bitwise_and:
      case opcode::bitwise_or:
      case opcode::bitwise_xor:
      case opcode::bitwise_not:
        for (std::uint32_t i = 0; i < count; ++i) want(i, "an integer type", &is_integer);
        return alike(0, 1);
      case opcode::pow:  // the exponent may be of another type
        want(0, "a number's", &is_number);
        want(1, "a number's", &is_number);
        if (image_.version < 12) alike(0, 1);
        return;
      case opcode::concat:
        for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
        return;
      case opcode::gather: return want(1, "an integer type", &is_integer);
      case opcode::embed_layer_norm:
      case opcode::qembed_layer_norm: {
        bool const quantised = op == opcode::qembed_layer_norm;
        want(2, quantised ? "an integer type" : "a floating type", quantised ? &is_integer : &is_floating);
        for (auto const i : {3u, 4u, 5u, 6u, 13u, 14u, 15u, 16u, 17u})
          if (i < count) alike(2, i);
        for (auto const i : {0u, 1u, 7u})
          if (i < count) want(i, "an integer type", &is_integer);
        for (auto const i : {8u, 9u, 10u, 11u, 12u})
          if (i < count)
            want(i, quantised ? "a floating type" : "an integer type", quantised ? &is_floating : &is_integer);
        return;
      }
      case opcode::rotary_embedding:
      case opcode::rotary_embedding_at: {
        bool const at = op == opcode::rotary_embedding_at;
        want(0, "a floating type", &is_floating);
        alike(0, at ? 2 : 1);
        alike(0, at ? 3 : 2);
        return want(at ? 1 : 3, "an integer type", &is_integer);
      }
      case opcode::attention:
      case opcode::multi_head_attention:
        for (auto const i : {1u, 2u}) alike(0, i);
        return want(0, "a floating type", &is_floating);
      case opcode::matmul:
      case opcode::gemm:
      case opcode::linear:
      case opcode::conv:
      case opcode::conv_transpose:
      case opcode::layer_norm:
      case opcode::rms_norm:
      case opcode::batch_norm:
      case opcode::instance_norm:
      case opcode::group_norm:
      case opcode::prelu:
      case opcode::clip:
        want(0, "a number's", &is_number);
        if (op == opcode::batch_norm || op == opcode::layer_norm || op == opcode::rms_norm) return;
        for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
        return;
      default: break;
    }
    if (needs_floats(op)) want(0, "a floating type", &is_floating);
    if (known.shape == shape_function::reduce) want(0, "a number's", &is_number);
    if (known.kind == op_kind::broadcast) {
      for (std::uint32_t i = 0; i < count; ++i) want(i, "a number's", &is_number);
      for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
    }
  }
  [[nodiscard]] static bool is_number(element_type t) {
    return t != element_type::boolean && t != element_type::string;
  }
  [[nodiscard]] static bool needs_floats(opcode op) {
    switch (op) {
      case opcode::reciprocal:
      case opcode::sqrt:
      case opcode::rsqrt:
      case opcode::exp:
      case opcode::log:
      case opcode::sin:
      case opcode::cos:
      case opcode::tan:
      case opcode::tanh:
      case opcode::sigmoid:
      case opcode::gelu:
      case opcode::silu:
      case opcode::softplus:
      case opcode::leaky_relu:
      case opcode::elu:
      case opcode::selu:
      case opcode::celu:
      case opcode::hard_sigmoid:
      case opcode::hard_swish:
      case opcode::softsign:
      case opcode::mish:
      case opcode::softmax:
      case opcode::log_softmax:
      case opcode::hardmax: return true;
      default: return false;
    }
  }
  template <class Holds>
  void want(std::uint32_t i, std::string_view what, Holds const& holds) {
    auto const t = type(i);
    if (operand(i) != absent && t != element_type::unknown && t != element_type::other && !holds(t))
      wrong("operand " + std::to_string(i) + " is " + std::string(name_of(t)) + ", not of " + std::string(what) +
            (what.back() == 's' ? " type" : ""));
  }
  void alike(std::uint32_t i, std::uint32_t k) {
    if (operand(i) == absent || operand(k) == absent) return;
    auto const a = type(i), b = type(k);
    if (a != b && a != element_type::unknown && b != element_type::unknown)
      wrong("operand " + std::to_string(k) + " is " + std::string(name_of(b)) + " where operand " + std::to_string(i) +
            " is " + std::string(name_of(a)));
  }

  void check_shapes(opcode op) {
    auto const& known = info(op);
    auto const count = image_.operand_count(n_);
    if (known.shape == shape_function::broadcast) {
      for (std::uint32_t k = 1; k < count; ++k)
        for (std::uint32_t i = 0; i < k; ++i) broadcast(i, k, 0);
    }
    if (known.shape == shape_function::reduce) return check_axes("axes");
    switch (op) {
      case opcode::prelu: return into(0, 1);
      case opcode::matmul: return check_matmul();
      case opcode::gemm: return check_gemm();
      case opcode::linear: return equal_at(0, from_end(0, 1), 1, from_end(1, 1));
      case opcode::conv: return check_conv();
      case opcode::conv_transpose: return check_conv_transpose();
      case opcode::softmax:
      case opcode::log_softmax:
      case opcode::hardmax:
      case opcode::concat:
      case opcode::gather:
      case opcode::flatten:
        check_axis(op == opcode::flatten);
        if (op == opcode::concat) check_concat();
        return;
      case opcode::layer_norm:
      case opcode::rms_norm:
        check_axis(false);
        for (std::uint32_t i = 1; i < count; ++i) into(0, i);
        return;
      case opcode::skip_layer_norm:
      case opcode::skip_rms_norm:
        if (ranked(0) && ranked(1) && shape(0).size() == shape(1).size())
          for (std::size_t i = 0; i < shape(0).size(); ++i)
            if (i != 0 || shape(0).size() != 3 || !(shape(1)[0] == extent(1))) equal_at(0, i, 1, i);
        return;
      case opcode::embed_layer_norm: return check_embedding({0, 1, 7, 8});
      case opcode::qembed_layer_norm: return check_embedding({0, 1, 7});
      case opcode::rotary_embedding: return check_rotary_embedding();
      case opcode::rotary_embedding_at:
        for (std::size_t axis = 0; ranked(2) && axis < shape(2).size(); ++axis) equal_at(2, axis, 3, axis);
        return check_pairs(2);
      case opcode::attention: return check_attention();
      case opcode::multi_head_attention:
        if (count > 2 && ranked(1) && ranked(2) && shape(1).size() == shape(2).size()) check_attention();
        return;
      case opcode::batch_norm:
      case opcode::instance_norm:
        for (std::uint32_t i = 1; i < count; ++i)
          if (ranked(0) && ranked(i) && shape(0).size() > 1) {
            if (shape(i).size() != 1) return wrong("operand " + std::to_string(i) + " has not one axis");
            equal_at(0, 1, i, 0);
          }
        return;
      case opcode::group_norm: return check_group_norm();
      case opcode::transpose: return check_permutation();
      default: break;
    }
  }

  void check_group_norm() {
    double groups = 0;
    bool const told = read_number(image_, facts_, names_, n_, "num_groups", groups);
    if (told && !(groups >= 1)) return wrong("it has no groups");
    if (!ranked(0)) return;
    if (shape(0).size() < 2) return wrong("operand 0 has no channels");
    auto const channels = shape(0)[1];
    if (told && channels.known() && channels.value() % static_cast<std::int64_t>(groups) != 0)
      return wrong("its channels are not as many in each group");
    for (std::uint32_t i = 1; i < 3; ++i) {
      if (!ranked(i)) continue;
      if (shape(i).size() != 1) return wrong("operand " + std::to_string(i) + " has not one axis");
      if (image_.version >= 21) equal_at(0, 1, i, 0);
    }
  }

  static constexpr std::size_t nowhere = ~std::size_t{0};
  [[nodiscard]] std::size_t from_end(std::uint32_t i, std::size_t k) const {
    return ranked(i) && k <= shape(i).size() ? shape(i).size() - k : nowhere;
  }

  void broadcast(std::uint32_t i, std::uint32_t k, std::size_t but) {
    if (operand(i) == absent || operand(k) == absent || operand(i) == operand(k)) return;
    if (!ranked(i) || !ranked(k)) {
      double number = 0;  // one element fits everywhere
      if (!facts_.number(operand(i), number) && !facts_.number(operand(k), number))
        open_.push_back({{}, {}, operand(i), operand(k), true, true});
      return;
    }
    auto const a = shape(i), b = shape(k);
    for (auto at = but + 1; at <= a.size() && at <= b.size(); ++at)
      pair(i, a[a.size() - at], k, b[b.size() - at], true);
  }
  void into(std::uint32_t i, std::uint32_t k) {
    if (operand(k) == absent) return;
    broadcast(i, k, 0);
    if (!ranked(i) || !ranked(k)) return;
    auto const a = shape(i), b = shape(k);
    for (std::size_t at = 1; at <= b.size(); ++at) {
      auto const e = b[b.size() - at];
      bool const larger = e.known() && e.value() != 1 && (at > a.size() || a[a.size() - at] == extent(1));
      if (larger) return wrong("operand " + std::to_string(k) + " is larger than operand " + std::to_string(i));
    }
  }
  void equal_at(std::uint32_t i, std::size_t at, std::uint32_t k, std::size_t at_k) {
    if (operand(i) == absent || operand(k) == absent) return;
    if (!ranked(i) || !ranked(k)) return open_.push_back({{}, {}, operand(i), operand(k), false, true});
    if (at >= shape(i).size() || at_k >= shape(k).size()) return wrong("an operand has too few axes");
    pair(i, shape(i)[at], k, shape(k)[at_k], false);
  }
  void pair(std::uint32_t i, extent a, std::uint32_t k, extent b, bool broadcasts) {
    if (a == b || (broadcasts && (a == extent(1) || b == extent(1)))) return;
    if (a.known() && b.known())
      return wrong("operand " + std::to_string(k) + " has " + std::to_string(b.value()) + " where operand " +
                   std::to_string(i) + " has " + std::to_string(a.value()));
    if (broadcasts) {
      extent of_a[extent_algebra::most_broadcast], of_b[extent_algebra::most_broadcast];
      auto const m = facts_.symbols().broadcast_of(a, of_a), n = facts_.symbols().broadcast_of(b, of_b);
      for (std::size_t x = 0; x < m; ++x)
        for (std::size_t y = 0; y < n; ++y)
          if (!(of_a[x] == of_b[y])) open_.push_back({of_a[x], of_b[y], operand(i), operand(k), true, false});
      return;
    }
    open_.push_back({a, b, operand(i), operand(k), false, false});
  }

  void check_axes(std::string_view parameter) {
    if (!ranked(0) || read_parameter(image_, facts_, names_, n_, parameter, list_) != parameter_state::known) return;
    if (!normalise_axes(list_, facts_.rank(operand(0)), axes_)) wrong("its axes are not among those of operand 0");
  }
  void check_axis(bool behind) {
    double axis = 0;
    if (!ranked(0) || !read_number(image_, facts_, names_, n_, "axis", axis)) return;
    auto const rank = facts_.rank(operand(0));
    if (axis < -rank || axis >= rank + (behind ? 1 : 0)) wrong("its axis is none of operand 0");
  }
  void check_embedding(std::initializer_list<std::uint32_t> of_tokens) {
    auto const given = [&](std::uint32_t i) { return i < image_.operand_count(n_) && operand(i) != absent; };
    auto const of_rank = [&](std::uint32_t i, std::size_t rank) {
      bool const fits = !given(i) || !ranked(i) || shape(i).size() == rank;
      if (!fits) wrong("operand " + std::to_string(i) + " has not " + std::to_string(rank) + " axes");
      return fits && given(i);
    };
    for (auto const i : of_tokens)
      if (of_rank(i, 2) && i != 0) {
        equal_at(0, 1, i, 1);
        if (i != 8 || !ranked(i) || !(shape(i)[0] == extent(1))) equal_at(0, 0, i, 0);
      }
    for (auto const i : {2u, 3u, 4u})
      if (of_rank(i, 2) && i != 2) equal_at(2, 1, i, 1);
    for (auto const i : {5u, 6u})
      if (of_rank(i, 1)) equal_at(2, 1, i, 0);
  }
  void check_rotary_embedding() {
    for (std::size_t axis = 0; ranked(1) && axis < shape(1).size(); ++axis) equal_at(1, axis, 2, axis);
    if (operand(3) != absent || !ranked(0) || !ranked(1)) return;
    auto const rank = shape(0).size();
    if ((rank != 3 && rank != 4) || shape(1).size() != 3) return wrong("its operands have other ranks than it takes");
    if (!(shape(1)[0] == extent(1))) equal_at(0, 0, 1, 0);
    equal_at(0, rank - 2, 1, 1);
    check_pairs(1);
  }
  void check_attention() {
    for (std::uint32_t i = 0; i < 3; ++i)
      if (ranked(i) && shape(i).size() != 3 && shape(i).size() != 4)
        return wrong("operand " + std::to_string(i) + " has not three axes or four");
    for (auto const i : {1u, 2u}) equal_at(0, 0, i, 0);
    if (!ranked(0) || !ranked(1) || !ranked(2) || shape(1).size() != shape(2).size()) return;
    bool const apart = shape(1).size() == 4;
    equal_at(1, apart ? 2 : 1, 2, apart ? 2 : 1);
    if (!apart || shape(0).size() != 4) return;
    equal_at(1, 1, 2, 1);
    equal_at(0, 3, 1, 3);
  }
  void check_pairs(std::uint32_t table) {
    if (!ranked(0) || !ranked(table) || shape(0).size() != 4 || shape(table).empty()) return;
    auto const row = shape(0).back(), half = shape(table).back();
    double partly = 0;
    bool const whole = !read_number(image_, facts_, names_, n_, "rotary_embedding_dim", partly) || partly == 0;
    if (whole && row.known() && half.known() && row.value() != 2 * half.value())
      wrong("operand " + std::to_string(table) + " has " + std::to_string(half.value()) +
            " columns where operand 0 has rows of " + std::to_string(row.value()));
  }
  void check_concat() {
    double axis = 0;
    if (!ranked(0) || !read_number(image_, facts_, names_, n_, "axis", axis)) return;
    auto const rank = shape(0).size();
    auto const along = static_cast<std::size_t>(axis < 0 ? axis + static_cast<double>(rank) : axis);
    for (std::uint32_t i = 1; i < image_.operand_count(n_); ++i) {
      if (ranked(i) && shape(i).size() != rank) return wrong("its operands have different ranks");
      for (std::size_t at = 0; at < rank; ++at)
        if (at != along) equal_at(0, at, i, at);
    }
  }
  void check_permutation() {
    if (!ranked(0) || read_parameter(image_, facts_, names_, n_, "perm", list_) != parameter_state::known) return;
    if (static_cast<int>(list_.size()) != facts_.rank(operand(0)) ||
        !normalise_axes(list_, facts_.rank(operand(0)), axes_))
      wrong("its permutation is none of the axes of operand 0");
  }
  void check_matmul() {
    for (std::uint32_t i = 0; i < 2; ++i)
      if (ranked(i) && shape(i).empty()) return wrong("operand " + std::to_string(i) + " has no axis");
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    equal_at(0, from_end(0, 1), 1, from_end(1, shape(1).size() > 1 ? 2 : 1));
    broadcast(0, 1, 2);
  }
  void check_gemm() {
    double turned_a = 0, turned_b = 0;
    if (!read_number(image_, facts_, names_, n_, "transA", turned_a) ||
        !read_number(image_, facts_, names_, n_, "transB", turned_b))
      return;
    for (std::uint32_t i = 0; i < 2; ++i)
      if (ranked(i) && shape(i).size() != 2) return wrong("operand " + std::to_string(i) + " is no matrix");
    equal_at(0, turned_a != 0 ? 0 : 1, 1, turned_b != 0 ? 1 : 0);
    if (operand(2) == absent) return;
    if (!ranked(0) || !ranked(1) || !ranked(2)) return open_.push_back({{}, {}, operand(0), operand(2), true, true});
    extent const made[] = {shape(0)[turned_a != 0 ? 1 : 0], shape(1)[turned_b != 0 ? 0 : 1]};
    auto const c = shape(2);
    if (c.size() > 2) return wrong("operand 2 has more than two axes");
    for (std::size_t at = 1; at <= c.size(); ++at) {
      auto const e = c[c.size() - at];
      if (e.known() && e.value() != 1 && made[2 - at] == extent(1))
        return wrong("operand 2 is larger than the product");
      pair(at == 1 ? 1 : 0, made[2 - at], 2, e, true);
    }
  }
  void check_conv() {
    double group = 1;
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    if (shape(0).size() != shape(1).size() || shape(0).size() < 3)
      return wrong("operands 0 and 1 have different ranks, or fewer than three axes");
    if (read_parameter(image_, facts_, names_, n_, "group", group) == parameter_state::unknown) return;
    auto const channels = shape(0)[1], taken = shape(1)[1];
    if (group == 1)
      equal_at(0, 1, 1, 1);
    else if (channels.known() && taken.known() &&
             static_cast<double>(channels.value()) != static_cast<double>(taken.value()) * group)
      wrong("operand 1 takes " + std::to_string(taken.value()) + " channels a group, and operand 0 has other ones");
    if (operand(2) != absent) equal_at(1, 0, 2, 0);
  }
  void check_conv_transpose() {
    double group = 1;
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    if (shape(0).size() != shape(1).size() || shape(0).size() < 3)
      return wrong("operands 0 and 1 have different ranks, or fewer than three axes");
    equal_at(0, 1, 1, 0);
    if (operand(2) == absent) return;
    if (read_parameter(image_, facts_, names_, n_, "group", group) == parameter_state::unknown) return;
    if (group == 1) return equal_at(1, 1, 2, 0);
    auto const made = shape(1)[1];
    if (!ranked(2) || shape(2).size() != 1) return wrong("operand 2 has not one axis");
    if (auto const given = shape(2)[0]; made.known() && given.known() &&
                                        static_cast<double>(given.value()) != static_cast<double>(made.value()) * group)
      wrong("operand 2 has " + std::to_string(given.value()) + " where operand 1 makes " +
            std::to_string(made.value()) + " channels a group");
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  node_id n_ = absent;
  std::string wrong_;
  detail::plain_vector<requirement> open_;
  std::vector<std::int64_t> list_;
  std::vector<int> axes_;
};
using validity = basic_validity<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct objection {
  std::string reason;                          ///< one sentence
  element_type wider = element_type::unknown;  ///< an element type in which it may be right, if there is one
  char const* condition = "right side";        ///< what is not met
  bool missing = false;  ///< the dialect, at this version and for this target, has no such operator

  [[nodiscard]] static objection no_operator(std::string why) {
    return {std::move(why), element_type::unknown, "right side", true};
  }
};

template <class T>
class [[nodiscard]] built {
 public:
  built(T made) : made_(std::move(made)) {}                // NOLINT: what is made is returned as it is
  built(objection why) : made_(), why_(std::move(why)) {}  // NOLINT: so is an objection

  [[nodiscard]] explicit operator bool() const { return !why_.has_value(); }
  [[nodiscard]] T const& operator*() const { return made_; }
  [[nodiscard]] T&& take() { return std::move(made_); }
  [[nodiscard]] objection&& why() { return std::move(*why_); }

 private:
  T made_;
  std::optional<objection> why_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

struct rewrite_cost {
  double removed = 0;          ///< that of what dies, and its share of what is shared
  double added = 0;            ///< that of what is made
  double constants_added = 0;  ///< bytes of new constants
};

template <class Image>
struct basic_replacement;
using replacement = basic_replacement<graph_image>;

struct check_result {
  enum class verdict : std::uint8_t { right, wrong, unknown };
  verdict is = verdict::right;
  std::string reason{};  ///< if not right, one sentence
};
using rewrite_check = check_result (*)(replacement const&);

#ifdef FUSE_REWRITE_CHECK
template <class Image>
[[nodiscard]] check_result check_by_evaluation(basic_replacement<Image> const& made);
inline constexpr rewrite_check default_check = &check_by_evaluation<graph_image>;
#else
inline constexpr rewrite_check default_check = nullptr;
#endif

struct observer {
  void* context = nullptr;
  void (*progress)(void* context, int stage, std::size_t done, std::size_t total) = nullptr;
  void (*applied)(void* context, std::string_view rule, std::string_view node) = nullptr;
  void (*phase)(void* context, std::string_view name) = nullptr;
};

struct rewrite_options {
  std::vector<std::string> only{};    ///< names of rules to use; empty: all
  std::vector<std::string> except{};  ///< names of rules to leave out
  fuse::target target = target::standard;
  bool trust_shapes = false;
  bool near_misses = true;
  bool filter = true;
  bool (*veto)(void* context, std::string_view rule, rewrite_cost const&) = nullptr;
  void* veto_context = nullptr;
  rewrite_check check = default_check;
  fuse::observer observer{};
};

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Image>
class basic_traffic {
 public:
  static constexpr double call = 1024;

  basic_traffic(Image const& image, facts const& known) : image_(image), facts_(known) {}

  [[nodiscard]] double of(node_id n) { return is_free(n) ? 0 : call + moved(n); }
  [[nodiscard]] double moved(node_id n) {
    double sum = 0;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      if (image_.operand(n, i) != absent) sum += bytes(image_.operand(n, i));
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) sum += bytes(image_.result(n, i));
    return sum;
  }

  [[nodiscard]] double bytes(value_id v) {
    auto const size = size_of(facts_.type(v));
    return (size == 0 ? 4 : static_cast<double>(size)) * elements(v);
  }

  [[nodiscard]] double saved(span<value_id const> roots, span<node_id const> matched, span<node_id const> passed,
                             node_id first_new, double enough = std::numeric_limits<double>::infinity()) {
    double sum = 0;
    if (seen_.size() < image_.node_count()) seen_.resize(image_.node_count() + image_.node_count() / 8, 0);
    if (seen_round_ > ~std::uint32_t{0} - 6) {
      seen_.assign(seen_.size(), 0);
      seen_round_ = 0;
    }
    seen_round_ += 3;
    for (auto v : roots) {
      auto const n = image_.producer(v);
      if (n == absent || dies(n)) continue;
      if (has_other_users(n, roots))
        seen_[n] = seen_round_;  // it stays, for another of its results
      else
        sum += die(n);
    }
    for (bool more = true; more;) {
      more = false;
      for (auto const some : {matched, passed})
        for (auto n : some) {
          if (sum > enough) return sum;
          if (dies(n) || seen_[n] == seen_round_ || stays(n)) continue;
          sum += die(n);
          more = true;
        }
    }
    mark_read(matched, first_new);
    for (auto n : matched) {
      if (seen_[n] >= seen_round_) continue;
      seen_[n] = seen_round_;
      sum += of(n) / (1.0 + users_left(n));
    }
    return sum;
  }

 private:
  [[nodiscard]] bool dies(node_id n) const { return seen_[n] == seen_round_ + 1; }
  double die(node_id n) {
    seen_[n] = seen_round_ + 1;
    return of(n);
  }
  [[nodiscard]] bool has_other_users(node_id n, span<value_id const> roots) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const v = image_.result(n, i);
      bool replaced = image_.unused(v);
      for (auto root : roots) replaced = replaced || root == v;
      if (!replaced) return true;
    }
    return false;
  }
  void mark_read(span<node_id const> matched, node_id first_new) {
    auto earliest = ~std::uint64_t{0};
    for (auto n : matched)
      if (!dies(n) && image_.node(n).order < earliest) earliest = image_.node(n).order;
    waiting_.clear();
    auto const wait_for_operands = [&](node_id n) {
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        auto const p = v == absent ? absent : image_.producer(v);
        if (p == absent || p >= first_new || image_.node(p).order < earliest || seen_[p] == seen_round_ + 2) continue;
        seen_[p] = seen_round_ + 2;
        waiting_.push_back(p);
      }
    };
    for (auto n = first_new; n < image_.node_count(); ++n) wait_for_operands(n);
    for (int left = 1024; !waiting_.empty() && left != 0; --left) {
      auto const n = waiting_.back();
      waiting_.pop_back();
      wait_for_operands(n);
    }
    if (!waiting_.empty())
      for (auto n : matched) seen_[n] = seen_round_ + 2;
  }

  [[nodiscard]] bool is_free(node_id n) const {
    auto const op = op_of(image_, n);
    if (is_view(op)) return true;
    if (op != opcode::expand || image_.operand_count(n) == 0 || image_.operand(n, 0) == absent ||
        !facts_.has_rank(image_.operand(n, 0)))
      return false;
    for (auto e : facts_.shape(image_.operand(n, 0)))
      if (!(e == extent(1))) return false;
    return true;
  }
  [[nodiscard]] bool stays(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const& v = image_.value(image_.result(n, i));
      if (v.outputs != 0) return true;
      for (auto at = v.first_use; at != absent; at = image_.use_at(at).next)
        if (!dies(image_.use_at(at).node)) return true;
    }
    return false;
  }
  [[nodiscard]] int users_left(node_id n) const {
    int left = 0;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      left += image_.value(image_.result(n, i)).outputs;
      image_.for_each_user(image_.result(n, i), [&](node_id user) { left += dies(user) ? 0 : 1; });
    }
    return left;
  }
  [[nodiscard]] double elements(value_id v) {
    auto const shape = facts_.shape_number(v);
    if (shape == 0) return 64 * 64;
    if (shape >= elements_.size()) elements_.resize(shape + 1, -1);
    auto& count = elements_[shape];
    if (count < 0) {
      count = 1;
      for (auto e : facts_.shape(v)) count *= e.known() ? static_cast<double>(e.value()) : 64;
    }
    return count;
  }

  Image const& image_;
  facts const& facts_;
  plain_vector<double> elements_;     // by number of a shape; negative: not counted yet
  plain_vector<std::uint32_t> seen_;  // by node: in this round, and whether it dies, or is read by what is new
  plain_vector<node_id> waiting_;
  std::uint32_t seen_round_ = 0;
};
using traffic = basic_traffic<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_infinite_terms {
 public:
  basic_infinite_terms(Image const& image, facts const& known, dialect const& names, match_state const& match)
      : image_(image), facts_(known), names_(names), match_(match) {}

  [[nodiscard]] std::string find(node_id first_new) const {
    for (auto n = first_new; n < image_.node_count(); ++n) {
      auto const terms = terms_of(n);
      for (std::uint32_t i = 0; i < terms; ++i)
        if (auto const found = below(image_.operand(n, i), first_new); found != absent)
          return image_.source->value_name(found);
      for (auto const& p : info(op_of(image_, n)).parameters)
        if (double number = 0;
            terms != 0 && read_number(image_, facts_, names_, n, p.name, number) && !math::is_finite(number))
          return std::string(image_.source->op_name(n)) + "'s " + std::string(p.name);
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t terms_of(node_id n) const {
    return operands_added_up(op_of(image_, n), image_.operand_count(n));
  }
  [[nodiscard]] bool was_added_up(value_id v) const {
    for (auto n : match_.matched())
      for (std::uint32_t i = 0; i < terms_of(n); ++i)
        if (gives(image_.operand(n, i), v)) return true;
    return false;
  }
  [[nodiscard]] bool gives(value_id sum, value_id v) const {
    if (sum == v) return true;
    auto const n = sum == absent ? absent : image_.producer(sum);
    if (n == absent || op_of(image_, n) != opcode::where || image_.operand_count(n) != 3) return false;
    double held = 0, wanted = 0;
    for (auto const i : {1u, 2u}) {
      auto const each = image_.operand(n, i);
      if (each == v || (facts_.uniform(each, held) && facts_.uniform(v, wanted) && held == wanted)) return true;
    }
    return false;
  }

  [[nodiscard]] value_id below(value_id v, node_id first_new) const {
    if (v == absent) return absent;
    auto const n = image_.producer(v);
    if (n == absent || n < first_new) return !is_finite(v) && !was_added_up(v) ? v : absent;
    if (terms_of(n) != 0) return absent;  // looked at by itself
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      if (auto const found = below(image_.operand(n, i), first_new); found != absent) return found;
    return absent;
  }
  [[nodiscard]] bool is_finite(value_id v) const {
    if (double number = 0; facts_.uniform(v, number)) return math::is_finite(number);
    for (auto const number : facts_.numbers(v))
      if (!math::is_finite(number)) return false;
    if (!image_.value(v).constant || !is_floating(facts_.type(v)) || was_added_up(v)) return true;
    auto const contents = image_.source->constant(v);
    for (std::size_t i = 0; contents && i < contents.size(); ++i)
      if (!math::is_finite(contents.number(i))) return false;
    return true;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  match_state const& match_;
};
using infinite_terms = basic_infinite_terms<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_transaction final : public graph_source {
 public:
  basic_transaction(Image& image, facts& known, bool opened = true)
      : image_(image), facts_(known), real_(*image.source) {
    if (opened) open();
  }
  ~basic_transaction() override { roll_back(); }

  void open(std::uint32_t scope = 0) {
    scope_ = scope;
    first_node_ = image_.node_count();
    first_value_ = image_.value_count();
    step_count_ = 0;
    functions_.clear();
    bytes_ = 0;
    open_ = true;
    image_.source = this;
  }

  value_id constant_of(tensor contents) {
    for (auto const& s : steps())
      if (s.constant && s.contents == contents) return s.id;
    auto const is = [&](value_id v) {
      return image_.value(v).region == scope_ && !image_.unused(v) && same_contents(real_.constant(v), contents);
    };
    if (auto const v = committed_.find(hash_of(contents), is); v != committed_.none) return v;
    auto const v = image_.add_value(scope_);
    image_.set_constant(v, true);
    auto& step = add_step(true, v);
    step.contents = std::move(contents);
    bytes_ += static_cast<double>(step.contents.bytes.size());
    facts_.read_inputs_and_constants();
    return v;
  }

  node_id node(operator_tag tag, std::string_view op, span<value_id const> operands,
               std::vector<attribute>&& attributes, std::uint32_t results, node_id like) {
    auto const region = image_.node(like).region;
    auto& step = add_step(false, image_.node_count());
    step.op = op;
    step.attributes.swap(attributes);
    auto const n = image_.add_node(tag, results, region);
    image_.attach_operands(n, operands);
    facts_.update(n);
    return n;
  }

  void function(function_body body) { functions_.push_back(std::move(body)); }

  [[nodiscard]] target target_here(target to) const { return scope_ == 0 ? to : target::standard; }

  [[nodiscard]] node_id first_node() const { return first_node_; }
  [[nodiscard]] double constant_bytes() const { return bytes_; }

  std::string commit(node_id place, std::string_view origin) {
    image_.source = &real_;
    open_ = false;
    for (auto const& body : functions_)
      if (!real_.declare(body)) return give_up("the graph cannot hold a function that the right side needs");
    for (auto const& s : steps()) {
      if (s.constant) {
        if (!real_.add_constant(scope_, s.contents, origin))
          return give_up("the graph cannot hold a constant that the right side needs");
        continue;
      }
      operands_.clear();
      types_.clear();
      for (std::uint32_t i = 0; i < image_.operand_count(s.id); ++i) operands_.push_back(image_.operand(s.id, i));
      for (std::uint32_t i = 0; i < image_.node(s.id).result_count; ++i)
        types_.push_back(facts_.type(image_.result(s.id, i)));
      auto const before = &s == &steps().back() ? place : early_place(s.id, place);
      if (!real_.insert(before, s.op, operands_, s.attributes, types_, origin))
        return give_up("the graph refuses a new " + s.op + ", or makes one with another number of results");
      image_.place_before(s.id, before);
    }
    for (auto const& s : steps())
      if (s.constant) committed_.add(hash_of(s.contents), s.id);
    return {};
  }

  [[nodiscard]] bool says_the_same(node_id n, node_id old) const {
    for (auto const& s : steps())
      if (!s.constant && s.id == n)
        for (auto const& a : s.attributes)
          if (!equal(view_of(a), real_.attribute_of(old, a.name))) return false;
    return true;
  }

  void roll_back() {
    if (!open_) return;
    image_.source = &real_;
    undo();
  }

  [[nodiscard]] tensor_view constant(value_id v) const override {
    if (v < first_value_) return real_.constant(v);
    for (auto const& s : steps())
      if (s.constant && s.id == v) return s.contents;
    return {};
  }
  [[nodiscard]] attribute_view attribute_of(node_id n, std::string_view name) const override {
    if (n < first_node_) return real_.attribute_of(n, name);
    for (auto const& s : steps())
      if (!s.constant && s.id == n)
        for (auto const& a : s.attributes)
          if (a.name == name) return view_of(a);
    return {};
  }
  [[nodiscard]] bool same_attributes(node_id a, node_id b) const override {
    return a < first_node_ && b < first_node_ && real_.same_attributes(a, b);
  }
  [[nodiscard]] element_type type(value_id v) const override {
    if (v < first_value_) return real_.type(v);
    return constant(v).type;
  }
  [[nodiscard]] bool shape(value_id v, std::vector<dimension>& into) const override {
    if (v < first_value_) return real_.shape(v, into);
    auto const t = constant(v);
    into.clear();
    for (auto extent : t.shape) into.push_back({extent, {}});
    return static_cast<bool>(t);
  }
  [[nodiscard]] std::string_view op_name(node_id n) const override {
    if (n < first_node_) return real_.op_name(n);
    for (auto const& s : steps())
      if (!s.constant && s.id == n) return s.op;
    return {};
  }
  [[nodiscard]] std::string node_name(node_id n) const override {
    return n < first_node_ ? real_.node_name(n) : "new node";
  }
  [[nodiscard]] std::string value_name(value_id v) const override {
    return v < first_value_ ? real_.value_name(v) : "new value";
  }
  [[nodiscard]] bool has_shapes() const override { return real_.has_shapes(); }
  [[nodiscard]] void const* graph() const override { return real_.graph(); }
  [[nodiscard]] void const* graph_type() const override { return real_.graph_type(); }
  [[nodiscard]] void const* handle(value_id v) const override { return v < first_value_ ? real_.handle(v) : nullptr; }
  bool insert(node_id, std::string_view, span<value_id const>, span<attribute const>, span<element_type const>,
              std::string_view) override {
    return false;
  }
  bool add_constant(std::uint32_t, tensor_view, std::string_view) override { return false; }
  void replace_uses(value_id, value_id) override {}
  void erase(node_id) override {}
  void forget(node_id, value_id) override {}
  bool declare(function_body const&) override { return false; }

 private:
  struct made {
    bool constant;
    std::uint32_t id;
    std::string op;
    std::vector<attribute> attributes;
    tensor contents;
  };

  [[nodiscard]] span<made const> steps() const { return {steps_.data(), step_count_}; }
  made& add_step(bool constant, std::uint32_t id) {
    if (step_count_ == steps_.size()) steps_.emplace_back();
    auto& step = steps_[step_count_++];
    step.constant = constant;
    step.id = id;
    return step;
  }

  [[nodiscard]] static std::size_t hash_of(tensor const& t) {
    auto h = mixed(static_cast<std::uint64_t>(t.type), t.bytes.size());
    for (auto extent : t.shape) h = mixed(h, static_cast<std::uint64_t>(extent));
    for (std::size_t i = 0; i < t.bytes.size() && i < 1024; ++i) h = mixed(h, static_cast<std::uint64_t>(t.bytes[i]));
    return static_cast<std::size_t>(h);
  }

  [[nodiscard]] node_id early_place(node_id n, node_id place) const {
    node_id after = absent;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      auto const p = v == absent ? absent : image_.producer(v);
      if (p != absent && (after == absent || image_.node(p).order > image_.node(after).order)) after = p;
    }
    auto at = after == absent ? image_.first_node() : image_.node(after).next;
    while (at != absent && image_.node(at).region != image_.node(place).region) at = image_.node(at).next;
    return at != absent && image_.node(at).order < image_.node(place).order ? at : place;
  }

  static bool equal(attribute_view const& a, attribute_view const& b) {
    if (auto const* x = std::get_if<std::int64_t>(&a))
      return std::holds_alternative<std::int64_t>(b) && std::get<std::int64_t>(b) == *x;
    if (auto const* x = std::get_if<double>(&a))  // graphs keep them as floats
      return std::holds_alternative<double>(b) && static_cast<float>(std::get<double>(b)) == static_cast<float>(*x);
    if (auto const* x = std::get_if<std::string_view>(&a))
      return std::holds_alternative<std::string_view>(b) && std::get<std::string_view>(b) == *x;
    if (auto const* x = std::get_if<span<std::int64_t const>>(&a)) {
      auto const* y = std::get_if<span<std::int64_t const>>(&b);
      return y != nullptr && x->size() == y->size() && std::equal(x->begin(), x->end(), y->begin());
    }
    return false;
  }

  std::string give_up(std::string why) {
    real_.forget(first_node_, first_value_);
    undo();
    return why;
  }
  void undo() {
    open_ = false;
    for (std::size_t i = step_count_; i-- > 0;) {
      if (steps_[i].constant)
        image_.pop_value();
      else
        image_.pop_node();
    }
    facts_.resize(image_.value_count());
    step_count_ = 0;
  }

  Image& image_;
  facts& facts_;
  graph_source& real_;
  node_id first_node_ = 0;
  value_id first_value_ = 0;
  std::uint32_t scope_ = 0;
  std::vector<made> steps_;  // the first `step_count_` of them; the others' memory waits
  std::size_t step_count_ = 0;
  hash_index<value_id> committed_;  // constants in the user's graph, by their contents
  std::vector<function_body> functions_;
  detail::plain_vector<value_id> operands_;
  detail::plain_vector<element_type> types_;
  double bytes_ = 0;
  bool open_ = false;
};
using transaction = basic_transaction<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_cast_maker {
 public:
  basic_cast_maker(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into,
                   node_id place)
      : image_(image), facts_(known), names_(names), target_(to), into_(into), place_(place) {}

  value_id make(value_id v, element_type type) {
    if (auto const below = bare_value(image_, facts_, v); widens(facts_.type(below), type)) v = below;
    if (facts_.type(v) == type) return v;
    if (auto const there = existing(v, type); there != absent) return there;
    auto const* row = names_.emitted(opcode::cast, image_.version, into_.target_here(target_));
    if (row == nullptr) return absent;
    std::string key = "to";
    for (auto const& s : row->parameters)
      if (s.parameter == "to" && !s.attribute.empty()) key = s.attribute;
    std::vector<attribute> attributes{{key, static_cast<std::int64_t>(type)}};
    if (!complete(*row, attributes).empty()) return absent;
    operator_tag const tag{names_.code(row->name), static_cast<std::uint16_t>(opcode::cast)};
    return image_.result(into_.node(tag, row->name, span<value_id const>(&v, 1), std::move(attributes), 1, place_));
  }

  value_id in_type(value_id v, element_type type) {
    auto const below = narrowed(v, type);
    return below != absent || !widens(facts_.type(v), type) ? below : make(v, type);
  }

 private:
  [[nodiscard]] value_id narrowed(value_id v, element_type type) const {
    while (first_below(v) != absent && op_of(image_, image_.producer(v)) == opcode::identity) v = first_below(v);
    for (int i = 0; i < 8 && facts_.type(v) != type; ++i) {
      auto const below = first_below(v);
      if (below == absent) return absent;
      auto const op = op_of(image_, image_.producer(v));
      if (op != opcode::identity && !(op == opcode::cast && widens(facts_.type(below), facts_.type(v)))) return absent;
      v = below;
    }
    return facts_.type(v) == type ? v : absent;
  }
  [[nodiscard]] value_id first_below(value_id v) const {
    auto const n = image_.producer(v);
    return n == absent || image_.operand_count(n) == 0 ? absent : image_.operand(n, 0);
  }
  [[nodiscard]] value_id existing(value_id v, element_type type) const {
    value_id found = absent;
    image_.for_each_user(v, [&](node_id user) {
      auto const& n = image_.node(user);
      if (op_of(image_, user) != opcode::cast || n.region != image_.node(place_).region ||
          facts_.type(image_.result(user)) != type)
        return;
      if (user >= into_.first_node() || n.order < image_.node(place_).order) found = image_.result(user);
    });
    return found;
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target target_;
  basic_transaction<Image>& into_;
  node_id place_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

inline constexpr double inexact_integers = 9007199254740992.0;  // 2^53

[[nodiscard]] inline bool exact_integers(dense const& of) {
  for (auto x : of.elements)
    if (!math::is_whole(x) || !(math::abs(x) < inexact_integers)) return false;
  return true;
}

[[nodiscard]] inline bool has_integer(element_type type, double number) {
  if (!math::is_whole(number)) return false;
  if (type == element_type::boolean) return number == 0 || number == 1;
  double end = 1;  // the first that is too large
  for (std::size_t bits = size_of(type) * 8 - (is_unsigned(type) ? 0 : 1); bits > 0; --bits) end *= 2;
  return number < end && number >= (is_unsigned(type) ? 0 : -end);
}

[[nodiscard]] inline built<tensor> make_constant(element_type type, dense const& of) {
  auto const text = [](double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.7g", number);
    return "the number " + std::string(digits);
  };
  bool const integers = is_integer(type) || type == element_type::boolean;
  for (std::size_t i = 0; integers && i < of.elements.size(); ++i) {
    auto const number = of.elements[i];
    if (!has_integer(type, number)) return objection{text(number) + " is no " + std::string(name_of(type))};
    if (!(math::abs(number) < inexact_integers))
      return objection{text(number) + " stands for several integers of " + std::string(name_of(type)) +
                       ", and nobody knows which"};
  }
  auto made = make_tensor(type, of.shape, of.elements);
  if (made.type == element_type::unknown) return objection{"a constant of this element type cannot be made"};
  for (std::size_t i = 0; !integers && i < of.elements.size(); ++i) {
    auto const number = of.elements[i], rounded = tensor_view(made).number(i);
    if (number == rounded || number == 0 || !math::is_finite(number)) continue;
    if (rounded == 0) return objection{text(number) + " would be 0 in " + std::string(name_of(type))};
    if (!math::is_finite(rounded)) return objection{text(number) + " is beyond " + std::string(name_of(type))};
  }
  return made;
}

[[nodiscard]] inline bool is_exact(dense const& of, element_type type) {
  for (auto x : of.elements)
    if (is_floating(type) ? rounded(x, type) != x && x == x : !has_integer(type, x)) return false;
  return true;
}

template <class Image>
class basic_constant_contents {
 public:
  basic_constant_contents(Image const& image, facts const& known) : image_(image), facts_(known) {}

  bool read(value_id v, dense& into) const {
    if (double number = 0; facts_.uniform(v, number)) return into = dense::of(number), true;
    int left = 64;
    return read(v, into, 0, left);
  }

 private:
  bool read(value_id v, dense& into, int depth, int& left) const {
    if (left-- == 0) return false;
    if (image_.value(v).constant) {
      auto const t = image_.source->constant(v);
      if (!t || t.size() != count_of(t.shape) || !is_floating(t.type)) return false;
      into = dense::of(t);
      return true;
    }
    if (double number = 0; facts_.number(v, number)) return into = dense::of(number), true;
    auto const n = image_.producer(v);
    if (n == absent || depth == 8 || !is_floating(facts_.type(v))) return false;
    auto const op = op_of(image_, n);
    bool const moves = op == opcode::identity || op == opcode::flatten || op == opcode::reshape ||
                       op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::expand;
    auto const count = moves || op == opcode::cast ? 1 : image_.operand_count(n);
    if (image_.operand_count(n) == 0 || count > 8) return false;
    std::vector<dense> operands(count);
    for (std::uint32_t i = 0; i < count; ++i)
      if (image_.operand(n, i) == absent || !read(image_.operand(n, i), operands[i], depth + 1, left)) return false;
    if (moves) return reshape(v, op, operands[0], into);
    if (op == opcode::cast) {
      into = dense::of(make_tensor(facts_.type(v), operands[0].shape, operands[0].elements));
      return true;
    }
    if (op != opcode::sum_of) return evaluate(op, operands, into);
    into = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      dense const both[2] = {into, operands[i]};
      if (!evaluate(opcode::add, both, into)) return false;
    }
    return true;
  }

  bool reshape(value_id v, opcode op, dense const& from, dense& into) const {
    std::vector<std::int64_t> shape;
    if (!facts_.has_rank(v)) return false;
    for (auto e : facts_.shape(v)) {
      if (!e.known()) return false;
      shape.push_back(e.value());
    }
    if (op == opcode::expand) return broadcast_to(from, shape, into);
    if (count_of(shape) != from.elements.size()) return false;
    into = {std::move(shape), from.elements};
    return true;
  }

  Image const& image_;
  facts const& facts_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline bool repeats_along_first_axes(facts const& known, value_id a, value_id b) {
  if (!known.has_rank(a) || !known.has_rank(b)) return false;
  auto const whole = known.shape(a), part = known.shape(b);
  if (part.size() > whole.size()) return false;
  bool last = true, single = true;
  for (std::size_t i = 0; i < part.size(); ++i) {
    last = last && part[i] == whole[whole.size() - part.size() + i];
    single = single && part[i] == extent(1);
  }
  return last || single;
}

[[nodiscard]] inline std::string repeats_unasked(facts const& known, operator_row const& row,
                                                 span<value_id const> operands, bool asked = false) {
  if (!row.one_shape) return {};
  bool const third = row.op == opcode::gemm;
  if (third && asked) return {};
  for (std::size_t i = third ? 2 : 1; i < operands.size(); ++i) {
    if (operands[i] == absent) continue;
    if (third || operands[0] == absent || !known.same_shape(operands[0], operands[i]))
      if (!asked || operands[0] == absent || !repeats_along_first_axes(known, operands[0], operands[i]))
        return "at this operator set version " + std::string(row.name) +
               (asked ? " repeats its second operand along the first axes alone, and its operands are not provably so"
                      : " repeats no elements unless an attribute says so, and its operands are not provably of one "
                        "shape");
  }
  return {};
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct operand_form {
  element_type type = element_type::unknown;
  std::size_t rank = 1;
  span<extent const> extents{};  ///< as many, or none where they are not known at all
  std::size_t behind = 0;        ///< axes of one element that the values have behind these
};

[[nodiscard]] inline operand_form last_axes(facts const& known, value_id like, element_type type, std::size_t rank) {
  auto const shape = known.shape(like);
  return {type, rank, shape.size() >= rank ? shape.subspan(shape.size() - rank) : span<extent const>{}};
}

[[nodiscard]] inline bool axis_alone(facts const& known, value_id like, element_type type, std::size_t axis,
                                     operand_form& into) {
  auto const shape = known.shape(like);
  if (axis >= shape.size()) return false;
  into = {type, 1, shape.subspan(axis, 1), shape.size() - axis - 1};
  return true;
}

[[nodiscard]] constexpr opcode joining(op_group kind, double weight) {
  if (kind == op_group::product) return weight > 0 ? opcode::mul : opcode::div;
  return weight > 0 ? opcode::add : opcode::sub;
}

template <class Image>
class basic_broadcast_operand {
 public:
  basic_broadcast_operand(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into)
      : image_(image), facts_(known), names_(names), to_(to), into_(into), constants_(image, known) {}

  void begin(node_id place) { place_ = place; }

  built<value_id> filled(double number, operand_form const& form) {
    set_form(form);
    combined_ = false;
    return constant_operand(dense::of(number), true);
  }

  built<value_id> make(span<rest_member const> members, op_group kind, operand_form const& form, bool required) {
    auto const neutral = kind == op_group::product ? 1.0 : 0.0;
    if (members.empty() && !required) return absent;
    set_form(form);
    for (auto e : extents_)
      if (e == extent(0)) return objection{"an axis of row() has no elements"};
    if (behind_ == 0 && members.size() == 1 && members[0].weight == 1 && as_it_stands(members[0].value))
      return members[0].value;
    combined_ = members.size() > 1 || (members.size() == 1 && members[0].weight != 1);
    dense folded = dense::of(neutral);
    plain_vector<rest_member> computed;
    bool constants = false, exact = true;
    for (auto const& m : members) {
      auto const type = facts_.type(m.value);
      if (widens(widest_, type)) widest_ = type;
      dense contents;
      if (!constants_.read(m.value, contents)) {
        computed.push_back(m);
        continue;
      }
      if (!without_axes_behind(contents.shape))
        return objection{"a constant of row_along() does not lie along its axis"};
      if (widens(type_, type) && type != type_) exact = false;
      if (!fold(folded, contents, m.weight, kind))
        return objection{"the constants of row() do not broadcast to each other"};
      constants = true;
    }
    if (computed.empty()) return constant_operand(folded, exact);
    constants = constants && !all_are(folded, neutral);
    value_id joined = absent;
    if (constants) {
      auto made = constant(folded, exact);
      if (!made) return made;
      joined = *made;
    }
    for (double const sign : {1.0, -1.0})
      for (auto const& m : computed) {
        if ((m.weight > 0) != (sign > 0)) continue;
        auto made = join(joined, m, kind);
        if (!made) return made;
        joined = *made;
      }
    return in_shape(joined);
  }

 private:
  static bool all_are(dense const& of, double number) {
    for (auto each : of.elements)
      if (each != number) return false;
    return true;
  }

  [[nodiscard]] objection too_narrow(char const* why) const {
    return {why, widest_ != type_ ? widest_ : element_type::unknown};
  }

  void set_form(operand_form const& form) {
    type_ = widest_ = form.type;
    rank_ = form.rank;
    behind_ = form.behind;
    extents_.assign(form.extents);  // apart from the facts, whose spans end with the next node that is made
    whole_ = extents_.size() == rank_;
    shape_.clear();
    for (auto e : extents_) {
      whole_ = whole_ && e.known();
      if (e.known()) shape_.push_back(e.value());
    }
  }

  [[nodiscard]] bool without_axes_behind(std::vector<std::int64_t>& shape) const {
    if (behind_ == 0) return true;
    for (std::size_t i = 0; i < behind_ && !shape.empty(); ++i) {
      if (shape.back() != 1) return false;
      shape.pop_back();
    }
    while (shape.size() > rank_ && shape[0] == 1) shape.erase(shape.begin());
    return shape.size() <= rank_;
  }
  built<value_id> along_its_axis(value_id v) {
    if (behind_ == 0) return v;
    if (!facts_.has_rank(v)) return objection{"the shape of a computed operand of row_along() is not known"};
    auto const shape = facts_.shape(v);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (i + behind_ + rank_ != shape.size() && !(shape[i] == extent(1)))
        return objection{"a computed operand of row_along() does not lie along its axis"};
    return shape.size() < 2 ? v : with_shape(opcode::reshape, v, {-1}, "to reshape a computed operand");
  }

  [[nodiscard]] bool as_it_stands(value_id v) const {
    if (!image_.value(v).constant || facts_.type(v) != type_ || !whole_) return false;
    auto const t = image_.source->constant(v);
    return t.shape.size() == shape_.size() && std::equal(shape_.begin(), shape_.end(), t.shape.begin());
  }

  static bool fold(dense& into, dense const& part, double weight, op_group kind) {
    dense const operands[2] = {into, part};
    auto const times = math::abs(weight);
    if (times == 1) return evaluate(joining(kind, weight), operands, into);
    if (kind != op_group::product) return false;
    dense const powered[2] = {part, dense::of(times)};
    dense power;
    if (!evaluate(opcode::pow, powered, power)) return false;
    dense const both[2] = {operands[0], power};
    return evaluate(joining(kind, weight), both, into);
  }

  built<value_id> constant_operand(dense folded, bool exact) {
    constexpr auto const* misfit = "the constants of row() do not broadcast to its axes";
    while (folded.shape.size() > rank_ && folded.shape[0] == 1) folded.shape.erase(folded.shape.begin());
    dense spread;
    if (whole_ && folded.shape.size() == 1 && shape_.size() != 1 && folded.elements.size() == count_of(shape_) &&
        folded.elements.size() != 1) {
      spread = {shape_, folded.elements};  // flat
    } else if (whole_) {
      if (!broadcast_to(folded, shape_, spread)) return objection{misfit};
    } else if (folded.elements.size() == 1) {
      spread = dense::of(folded.elements[0]);
    } else if (folded.shape.size() == rank_) {
      spread = std::move(folded);  // broadcasting in the graph has already tied the extents
    } else {
      return objection{misfit};
    }
    return constant(spread, exact);
  }

  built<value_id> constant(dense const& of, bool exact) {
    auto made = make_constant(type_, of);
    bool inexact = !exact && !made;
    for (std::size_t i = 0; made && i < of.elements.size(); ++i) {
      auto const wanted = of.elements[i];
      inexact = inexact || (!exact && wanted == wanted && (*made).number(i) != wanted);
      if (!inexact && combined_ && !math::is_finite(wanted))
        return objection{"the constants of row() together are beyond the element type of what it is like"};
    }
    if (inexact) return too_narrow("a constant of row() is not exact in the element type of what it is like");
    if (!made) return objection{"of the constants of row() together, " + made.why().reason};
    return into_.constant_of(made.take());
  }

  built<value_id> join(value_id joined, rest_member const& m, op_group kind) {
    if (m.weight != 1 && m.weight != -1) return objection{"a computed operand of row() is raised to a power"};
    auto const v = basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).in_type(m.value, type_);
    if (v == absent) return too_narrow("a computed operand of row() has another element type than what it is like");
    auto flat = along_its_axis(v);
    if (!flat) return flat;
    if (joined == absent && m.weight == 1) return flat;
    if (joined == absent)
      return node(kind == op_group::product ? opcode::reciprocal : opcode::neg, {*flat},
                  "to invert a computed operand");
    return node(joining(kind, m.weight), {joined, *flat}, "to combine computed operands");
  }

  built<value_id> node(opcode op, std::initializer_list<value_id> operands, char const* what_for) {
    auto const* row = names_.emitted(op, image_.version, into_.target_here(to_));
    if (row == nullptr) return objection{std::string("the dialect has no operator ") + what_for + " of row()"};
    if (auto why = repeats_unasked(facts_, *row, {operands.begin(), operands.size()}); !why.empty())
      return objection{std::move(why)};
    operator_tag const tag{names_.code(row->name), static_cast<std::uint16_t>(op)};
    return image_.result(into_.node(tag, row->name, {operands.begin(), operands.size()}, {}, 1, place_));
  }

  built<value_id> in_shape(value_id v) {
    if (!facts_.has_rank(v)) return objection{"the shape of a computed operand of row() is not known"};
    auto const shape = facts_.shape(v);
    std::size_t lead = 0;
    while (shape.size() - lead > rank_ && shape[lead] == extent(1)) ++lead;
    bool single = true;
    for (auto e : shape) single = single && e == extent(1);
    bool fits = shape.size() - lead == extents_.size();
    for (std::size_t i = 0; fits && i < extents_.size(); ++i) fits = shape[lead + i] == extents_[i];
    if (fits && (whole_ || !(single && shape.size() == 1)))
      return v;  // (H), (1, H) and (1, 1, H) run everywhere, [1] for an unknown H does not
    if (single && whole_) return expanded(v);
    if (single && shape.empty()) return v;
    std::vector<std::int64_t> wanted;
    if (fits) {
      if (rank_ != 1) return objection{"the extents of row() are not known"};
      wanted = {-1};
    } else if (!single) {
      if (!whole_ || !is_flat(shape)) return objection{"a computed operand of row() does not broadcast to its axes"};
      wanted = shape_;
    }
    return with_shape(opcode::reshape, v, wanted, "to reshape a computed operand");
  }
  built<value_id> expanded(value_id v) {
    constexpr auto const* what_for = "to expand a computed operand";
    if (names_.emitted(opcode::expand, image_.version, into_.target_here(to_)) != nullptr)
      return with_shape(opcode::expand, v, shape_, what_for);
    std::vector<double> const ones(count_of(shape_), 1);
    return node(opcode::mul, {v, into_.constant_of(make_tensor(type_, shape_, ones))}, what_for);
  }
  built<value_id> with_shape(opcode op, value_id v, std::vector<std::int64_t> const& shape, char const* what_for) {
    tensor contents = make_tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(shape.size())},
                                  span<std::int64_t const>(shape));
    return node(op, {v, into_.constant_of(std::move(contents))}, what_for);
  }

  [[nodiscard]] bool is_flat(span<extent const> shape) const {
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
      if (!(shape[i] == extent(1))) return false;
    return !shape.empty() && shape.back() == extent(static_cast<std::int64_t>(count_of(shape_)));
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_constant_contents<Image> constants_;
  node_id place_ = absent;
  element_type type_ = element_type::unknown, widest_ = element_type::unknown;  // wanted, and of any value
  std::size_t rank_ = 1, behind_ = 0;
  plain_vector<extent> extents_;
  std::vector<std::int64_t> shape_;
  bool whole_ = false;     // all extents are known, and stand in `shape_`
  bool combined_ = false;  // of several values, or of one that is inverted
};
using broadcast_operand = basic_broadcast_operand<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

namespace detail {

[[nodiscard]] inline std::int64_t wrapped(std::int64_t x, element_type type) {
  switch (type) {
    case element_type::int8: return static_cast<std::int8_t>(x);
    case element_type::int16: return static_cast<std::int16_t>(x);
    case element_type::int32: return static_cast<std::int32_t>(x);
    case element_type::uint8: return static_cast<std::uint8_t>(x);
    case element_type::uint16: return static_cast<std::uint16_t>(x);
    case element_type::uint32: return static_cast<std::uint32_t>(x);
    default: return x;
  }
}

[[nodiscard]] inline double real(std::int64_t x, element_type type) {
  return type == element_type::uint64 ? static_cast<double>(static_cast<std::uint64_t>(x)) : static_cast<double>(x);
}

[[nodiscard]] inline std::int64_t truncated(double x, element_type type) {
  if (x != x) return 0;
  if (type == element_type::uint64 && x >= 0x1p63)
    return static_cast<std::int64_t>(x >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(x));
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return wrapped(static_cast<std::int64_t>(x), type);
}

[[nodiscard]] inline double least_of(element_type type) {
  return is_unsigned(type) ? 0 : -static_cast<double>(std::int64_t{1} << (size_of(type) * 8 - 1));
}
[[nodiscard]] inline double most_of(element_type type) {
  return static_cast<double>((std::int64_t{1} << (size_of(type) * 8 - (is_unsigned(type) ? 0 : 1))) - 1);
}

[[nodiscard]] inline bool computed_in(element_type type) {
  return is_floating(type) || is_integer(type) || type == element_type::boolean;
}

[[nodiscard]] inline dense converted(dense x, element_type type) {
  bool const from_whole = x.whole(), to_whole = is_integer(type);
  auto const from = std::exchange(x.type, type);
  if (from_whole && to_whole) {
    for (auto& v : x.integers) v = wrapped(v, type);
  } else if (from_whole) {
    x.elements.reserve(x.integers.size());
    for (auto v : x.integers) x.elements.push_back(real(v, from));
    x.integers.clear();
  } else if (to_whole) {
    x.integers.reserve(x.elements.size());
    for (auto v : x.elements) x.integers.push_back(truncated(v, type));
    x.elements.clear();
  }
  if (type == element_type::boolean)
    for (auto& v : x.elements) v = v != 0 ? 1 : 0;
  return x;
}

[[nodiscard]] inline dense in_doubles(dense const& x) { return converted(x, element_type::float64); }

[[nodiscard]] inline std::vector<std::int64_t> integers_of(dense const& from) {
  return from.whole() ? from.integers : converted(from, element_type::int64).integers;
}

}  // namespace detail

inline void round_to_type(dense& x) {
  if (x.type == element_type::float64) return;
  for (auto& v : x.elements) v = detail::rounded(v, x.type);
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

class operator_parameters {
 public:
  operator_parameters() = default;
  operator_parameters(operator_parameters const&) = delete;
  operator_parameters& operator=(operator_parameters const&) = delete;
  virtual ~operator_parameters() = default;

  virtual bool number(std::string_view name, double& into) const = 0;
  virtual bool integers(std::string_view name, std::vector<std::int64_t>& into) const = 0;
  [[nodiscard]] virtual attribute_view attribute(std::string_view name) const = 0;
  [[nodiscard]] virtual axis_use use_of_axis() const = 0;
};

enum class evaluation : std::uint8_t {
  done,
  unknown,  ///< there is none of this operator, or of it with these parameters or element types
  misfit,   ///< the operands do not fit each other or the parameters
};

namespace detail {

struct call {
  opcode op;
  span<dense const* const> operands;  // null: absent
  operator_parameters const& parameters;
  std::vector<dense>& results;

  [[nodiscard]] dense const* operand(std::size_t i) const { return i < operands.size() ? operands[i] : nullptr; }
  [[nodiscard]] double number(std::string_view name, double otherwise) const {
    double found = 0;
    return parameters.number(name, found) ? found : otherwise;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return static_cast<std::int64_t>(number(name, static_cast<double>(otherwise)));
  }
  [[nodiscard]] bool flag(std::string_view name, bool otherwise = false) const {
    return number(name, otherwise ? 1 : 0) != 0;
  }
  [[nodiscard]] bool list(std::string_view name, std::vector<std::int64_t>& into) const {
    return parameters.integers(name, into);
  }
  [[nodiscard]] bool list(std::string_view name, std::size_t count, std::int64_t otherwise,
                          std::vector<std::int64_t>& into) const {
    if (!list(name, into) || into.empty()) into.assign(count, otherwise);
    return into.size() == count;
  }
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view otherwise = {}) const {
    auto const held = parameters.attribute(name);
    auto const* found = std::get_if<std::string_view>(&held);
    return found != nullptr ? *found : otherwise;
  }
  [[nodiscard]] bool axis(std::size_t rank, double otherwise, std::size_t& into) const {
    auto const told = number("axis", otherwise);
    auto const counted = told < 0 ? told + static_cast<double>(rank) : told;
    if (!(counted >= 0) || counted > static_cast<double>(rank)) return false;
    into = static_cast<std::size_t>(counted);
    return true;
  }
  evaluation yield(std::size_t i, dense made) const {
    if (i >= results.size()) return evaluation::done;
    if (results[i].type == element_type::unknown) results[i].type = made.type;
    if (!computed_in(results[i].type)) return evaluation::unknown;
    if (made.type != results[i].type || !is_floating(made.type)) made = converted(std::move(made), results[i].type);
    results[i] = std::move(made);
    return evaluation::done;
  }
  evaluation yield(dense made) const { return yield(0, std::move(made)); }
};

[[nodiscard]] inline std::size_t count_between(span<std::int64_t const> shape, std::size_t from, std::size_t to) {
  std::size_t count = 1;
  for (auto axis = from; axis < to; ++axis) count *= static_cast<std::size_t>(shape[axis]);
  return count;
}

[[nodiscard]] inline dense integers_in(std::vector<std::int64_t> shape, std::vector<std::int64_t> elements) {
  return {std::move(shape), {}, element_type::int64, std::move(elements)};
}

[[nodiscard]] inline bool are_extents(span<std::int64_t const> shape) {
  for (auto extent : shape)
    if (extent < 0) return false;
  return true;
}

[[nodiscard]] inline bool counted_axes(std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (auto& axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

[[nodiscard]] inline std::vector<std::int64_t> strides_of(span<std::int64_t const> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (auto axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

template <class Visit>
void for_each_index(std::vector<std::int64_t> const& shape, Visit const& visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  for (auto count = count_of(shape); count > 0; --count) {
    visit(at);
    for (auto axis = at.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

template <class Source>
[[nodiscard]] dense picked(dense const& from, std::vector<std::int64_t> shape, Source const& source,
                           dense const* otherwise = nullptr) {
  dense made{std::move(shape), {}, from.type, {}};
  auto const blank = otherwise != nullptr ? converted(*otherwise, from.type) : dense{};
  auto const pick = [&](auto const& elements, auto const& blanks, auto& into) {
    into.reserve(count_of(made.shape));
    for_each_index(made.shape, [&](std::vector<std::int64_t> const& at) {
      auto const i = source(at);
      into.push_back(i >= 0 ? elements[static_cast<std::size_t>(i)] : blanks.empty() ? 0 : blanks[0]);
    });
  };
  if (from.whole())
    pick(from.integers, blank.integers, made.integers);
  else
    pick(from.elements, blank.elements, made.elements);
  return made;
}

template <class Change>
void rearrange(dense& x, Change const& change) {
  if (x.whole())
    change(x.integers);
  else
    change(x.elements);
}

template <class F>
[[nodiscard]] dense mapped(dense made, F const& f) {
  for (auto& x : made.elements) x = f(x);
  return made;
}

}  // namespace detail
}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

[[nodiscard]] inline bool counted(std::int64_t& index, std::int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent;
}

[[nodiscard]] inline evaluation gathered(call const& c, dense const& x, dense const& indices) {
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size()) return evaluation::misfit;
  auto rows = integers_of(indices);
  for (auto& i : rows)
    if (!counted(i, x.shape[axis])) return evaluation::misfit;
  auto const count = static_cast<std::int64_t>(rows.size());
  auto const outer = static_cast<std::int64_t>(count_between(x.shape, 0, axis)),
             inner = static_cast<std::int64_t>(count_between(x.shape, axis + 1, x.shape.size()));
  auto const at_axis = x.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  std::vector<std::int64_t> shape(x.shape.begin(), at_axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), at_axis + 1, x.shape.end());
  auto made = picked(x, {outer, count, inner}, [&](std::vector<std::int64_t> const& at) {
    return (at[0] * x.shape[axis] + rows[static_cast<std::size_t>(at[1])]) * inner + at[2];
  });
  made.shape = std::move(shape);
  return c.yield(std::move(made));
}

[[nodiscard]] inline dense in_shape(dense x, std::vector<std::int64_t> shape) {
  x.shape = std::move(shape);
  return x;
}

[[nodiscard]] inline evaluation reshaped(call const& c, dense const& x, std::vector<std::int64_t> shape) {
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  bool const zero_is_zero = c.flag("allowzero");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= x.shape.size()) return evaluation::misfit;
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && open == nullptr)
      open = &shape[i];
    else if (shape[i] < 0 || !checked_multiply(known, shape[i], known))
      return evaluation::misfit;
  }
  if (open != nullptr) {
    if (known == 0) return evaluation::misfit;
    *open = static_cast<std::int64_t>(x.size()) / known;
  }
  if (count_of(shape) != x.size()) return evaluation::misfit;
  return c.yield(in_shape(x, std::move(shape)));
}

[[nodiscard]] inline dense permuted(dense const& x, span<std::int64_t const> order) {
  auto const strides = strides_of(x.shape);
  std::vector<std::int64_t> shape, steps;
  for (auto axis : order) {
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * steps[i];
    return from;
  });
}

[[nodiscard]] inline evaluation transposed(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  std::vector<std::int64_t> order;
  if (!c.list("perm", order) || order.empty()) {
    order.clear();
    for (auto axis = rank; axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
  }
  if (order.size() != rank || !counted_axes(order, rank)) return evaluation::misfit;
  return c.yield(permuted(x, order));
}

[[nodiscard]] inline evaluation concatenated(call const& c) {
  std::size_t axis = 0;
  if (c.operand(0) == nullptr || !c.axis(c.operand(0)->shape.size(), 1, axis)) return evaluation::misfit;
  dense made{c.operand(0)->shape, {}, c.operand(0)->type, {}};
  if (axis >= made.shape.size()) return evaluation::misfit;
  made.shape[axis] = 0;
  for (auto const* part : c.operands) {
    if (part == nullptr || part->shape.size() != made.shape.size() || part->whole() != made.whole())
      return evaluation::misfit;
    for (std::size_t i = 0; i < made.shape.size(); ++i)
      if (i != axis && part->shape[i] != made.shape[i]) return evaluation::misfit;
    made.shape[axis] += part->shape[axis];
  }
  auto const outer = count_between(made.shape, 0, axis);
  for (std::size_t at = 0; at < outer; ++at)
    for (auto const* part : c.operands) {
      auto const run = static_cast<std::ptrdiff_t>(count_between(part->shape, axis, part->shape.size()));
      auto const append = [&](auto const& from, auto& into) {
        auto const first = from.begin() + static_cast<std::ptrdiff_t>(at) * run;
        into.insert(into.end(), first, first + run);
      };
      if (made.whole())
        append(part->integers, made.integers);
      else
        append(part->elements, made.elements);
    }
  return c.yield(std::move(made));
}

[[nodiscard]] inline dense part_of(dense const& x, span<std::int64_t const> starts, span<std::int64_t const> steps,
                                   std::vector<std::int64_t> shape) {
  auto const strides = strides_of(x.shape);
  return picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += (starts[i] + at[i] * steps[i]) * strides[i];
    return from;
  });
}
[[nodiscard]] inline dense part_along(dense const& x, std::size_t axis, std::int64_t start, std::int64_t length) {
  std::vector<std::int64_t> starts(x.shape.size(), 0), steps(x.shape.size(), 1), shape = x.shape;
  starts[axis] = start;
  shape[axis] = length;
  return part_of(x, starts, steps, std::move(shape));
}

[[nodiscard]] inline evaluation sliced(call const& c, dense const& x) {
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (!c.list("starts", starts) || !c.list("ends", ends)) return evaluation::unknown;
  if (!c.list("axes", axes) || axes.empty()) {
    axes.clear();
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!c.list("steps", steps) || steps.empty()) steps.assign(starts.size(), 1);
  if (!counted_axes(axes, x.shape.size()) || ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return evaluation::misfit;
  std::vector<std::int64_t> from(x.shape.size(), 0), by(x.shape.size(), 1), shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = static_cast<std::size_t>(axes[i]);
    auto const extent = x.shape[axis], step = steps[i];
    if (step == 0) return evaluation::misfit;
    auto const bounded = [&](std::int64_t v, std::int64_t least, std::int64_t most) {
      if (v < 0) v += extent;
      return v < least ? least : v > most ? most : v;
    };
    auto const first = step > 0 ? bounded(starts[i], 0, extent) : bounded(starts[i], 0, extent - 1);
    auto const last = step > 0 ? bounded(ends[i], 0, extent) : bounded(ends[i], -1, extent - 1);
    auto const length = step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
    from[axis] = first;
    by[axis] = step;
    shape[axis] = length < 0 ? 0 : length;
  }
  return c.yield(part_of(x, from, by, std::move(shape)));
}

[[nodiscard]] inline evaluation split_up(call const& c, dense const& x) {
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size()) return evaluation::misfit;
  std::vector<std::int64_t> lengths;
  auto const parts = static_cast<std::int64_t>(c.results.size());
  if (!c.list("split", lengths) || lengths.empty()) {
    auto const each = (x.shape[axis] + parts - 1) / parts;
    lengths.assign(c.results.size(), each);
    lengths.back() = x.shape[axis] - each * (parts - 1);
  }
  if (lengths.size() != c.results.size()) return evaluation::misfit;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || from + lengths[i] > x.shape[axis]) return evaluation::misfit;
    if (auto const state = c.yield(i, part_along(x, axis, from, lengths[i])); state != evaluation::done) return state;
    from += lengths[i];
  }
  return evaluation::done;
}

[[nodiscard]] inline evaluation tiled(call const& c, dense const& x, dense const& repeats) {
  auto const times = integers_of(repeats);
  if (times.size() != x.shape.size()) return evaluation::misfit;
  auto shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (times[i] < 0) return evaluation::misfit;
    shape[i] *= times[i];
  }
  auto const strides = strides_of(x.shape);
  return c.yield(picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] % x.shape[i] * strides[i];
    return from;
  }));
}

[[nodiscard]] inline evaluation padded(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  std::vector<std::int64_t> pads, axes;
  if (!c.list("pads", pads)) return evaluation::unknown;
  if (!c.list("axes", axes) || axes.empty()) {
    axes.clear();
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!counted_axes(axes, rank) || pads.size() != 2 * axes.size()) return evaluation::misfit;
  std::vector<std::int64_t> before(rank, 0), shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = static_cast<std::size_t>(axes[i]);
    before[axis] = pads[i];
    shape[axis] += pads[i] + pads[i + axes.size()];
    if (shape[axis] < 0) return evaluation::misfit;
  }
  auto const mode = c.text("mode", "constant");
  auto const* blank = c.operand(2);
  auto const number = dense::of(c.number("value", 0));
  auto const strides = strides_of(x.shape);
  bool inside = true;
  auto made = picked(
      x, std::move(shape),
      [&](std::vector<std::int64_t> const& at) -> std::int64_t {
        std::int64_t from = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          auto i = at[axis] - before[axis];
          auto const extent = x.shape[axis];
          if (i < 0 || i >= extent) {
            if (mode == "constant") return -1;
            if (extent == 0) return inside = false, -1;
            if (mode == "edge") {
              i = i < 0 ? 0 : extent - 1;
            } else if (mode == "wrap") {
              i = (i % extent + extent) % extent;
            } else {
              auto const period = extent == 1 ? 1 : 2 * (extent - 1);
              i = (i % period + period) % period;
              if (i >= extent) i = period - i;
            }
          }
          from += i * strides[axis];
        }
        return from;
      },
      blank != nullptr ? blank : &number);
  return inside ? c.yield(std::move(made)) : evaluation::misfit;
}

[[nodiscard]] inline evaluation reblocked(call const& c, dense const& x) {
  auto const b = c.integer("blocksize", 0);
  if (x.shape.size() != 4 || b < 1) return evaluation::misfit;
  auto const n = x.shape[0], channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  bool const depth_first = c.text("mode", "DCR") == "DCR";
  if (c.op == opcode::depth_to_space) {
    if (channels % (b * b) != 0) return evaluation::misfit;
    auto const kept = channels / (b * b);
    auto const split = depth_first ? in_shape(x, {n, b, b, kept, h, w}) : in_shape(x, {n, kept, b, b, h, w});
    std::int64_t const by_depth[] = {0, 3, 4, 1, 5, 2}, by_column[] = {0, 1, 4, 2, 5, 3};
    return c.yield(in_shape(permuted(split, depth_first ? by_depth : by_column), {n, kept, h * b, w * b}));
  }
  if (h % b != 0 || w % b != 0) return evaluation::misfit;
  std::int64_t const by_depth[] = {0, 3, 5, 1, 2, 4}, by_column[] = {0, 1, 3, 5, 2, 4};
  return c.yield(in_shape(permuted(in_shape(x, {n, channels, h / b, b, w / b, b}), depth_first ? by_depth : by_column),
                          {n, channels * b * b, h / b, w / b}));
}

[[nodiscard]] inline evaluation squeezed(call const& c, dense const& x) {
  std::vector<std::int64_t> axes, shape;
  bool const all = !c.list("axes", axes) || axes.empty();
  if (!all && !counted_axes(axes, x.shape.size())) return evaluation::misfit;
  std::vector<bool> gone(x.shape.size(), false);
  for (std::size_t i = 0; all && i < gone.size(); ++i) gone[i] = x.shape[i] == 1;
  for (auto axis : axes) gone[static_cast<std::size_t>(axis)] = true;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) shape.push_back(x.shape[i]);
    if (gone[i] && x.shape[i] != 1) return evaluation::misfit;
  }
  return c.yield(in_shape(x, std::move(shape)));
}
[[nodiscard]] inline evaluation unsqueezed(call const& c, dense const& x) {
  std::vector<std::int64_t> axes, shape;
  if (!c.list("axes", axes)) return evaluation::unknown;
  auto const rank = x.shape.size() + axes.size();
  if (!counted_axes(axes, rank)) return evaluation::misfit;
  std::vector<bool> added(rank, false);
  for (auto axis : axes) added[static_cast<std::size_t>(axis)] = true;
  for (std::size_t i = 0, from = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : x.shape[from++]);
  return c.yield(in_shape(x, std::move(shape)));
}

[[nodiscard]] inline evaluation evaluate_layout(call const& c) {
  auto const *x = c.operand(0), *second = c.operand(1);
  if (x == nullptr) return evaluation::misfit;
  switch (c.op) {
    case opcode::reshape:
      if (std::vector<std::int64_t> shape; c.list("shape", shape)) return reshaped(c, *x, std::move(shape));
      return second == nullptr ? evaluation::misfit : reshaped(c, *x, integers_of(*second));
    case opcode::flatten: {
      std::size_t axis = 0;
      if (!c.axis(x->shape.size(), 1, axis)) return evaluation::misfit;
      return c.yield(in_shape(*x, {static_cast<std::int64_t>(count_between(x->shape, 0, axis)),
                                   static_cast<std::int64_t>(count_between(x->shape, axis, x->shape.size()))}));
    }
    case opcode::squeeze: return squeezed(c, *x);
    case opcode::unsqueeze: return unsqueezed(c, *x);
    case opcode::transpose: return transposed(c, *x);
    case opcode::concat: return concatenated(c);
    case opcode::slice: return sliced(c, *x);
    case opcode::split: return split_up(c, *x);
    case opcode::tile: return second == nullptr ? evaluation::misfit : tiled(c, *x, *second);
    case opcode::pad: return padded(c, *x);
    case opcode::gather: return second == nullptr ? evaluation::misfit : gathered(c, *x, *second);
    case opcode::depth_to_space:
    case opcode::space_to_depth: return reblocked(c, *x);
    case opcode::expand: {
      std::vector<std::int64_t> shape;
      dense made;
      if (second == nullptr || !are_extents(integers_of(*second)) ||
          !fuse::broadcast_shape(x->shape, integers_of(*second), shape) || !broadcast_to(*x, shape, made))
        return evaluation::misfit;
      return c.yield(std::move(made));
    }
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

[[nodiscard]] inline std::vector<std::int64_t> reduced_shape(std::vector<std::int64_t> shape,
                                                             std::vector<bool> const& over) {
  for (std::size_t i = 0; i < over.size(); ++i)
    if (over[i]) shape[i] = 1;
  return shape;
}

template <class T, class F>
[[nodiscard]] std::vector<T> folded(std::vector<T> const& elements, std::vector<std::int64_t> const& shape,
                                    std::vector<bool> const& over, T start, F const& f) {
  auto const kept = reduced_shape(shape, over);
  std::vector<T> made(count_of(kept), start);
  auto const strides = strides_of(kept);
  std::size_t next = 0;
  for_each_index(shape, [&](std::vector<std::int64_t> const& at) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < at.size(); ++i) to += over[i] ? 0 : at[i] * strides[i];
    auto& sum = made[static_cast<std::size_t>(to)];
    sum = f(sum, elements[next++]);
  });
  return made;
}
template <class F>
[[nodiscard]] dense folded(dense const& x, std::vector<bool> const& over, double start, F const& f) {
  return {reduced_shape(x.shape, over), folded(x.elements, x.shape, over, start, f), x.type, {}};
}
[[nodiscard]] inline dense summed(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, 0, [](double a, double b) { return a + b; });
}
[[nodiscard]] inline dense largest(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, -math::infinity, [](double a, double b) { return b > a || b != b ? b : a; });
}
[[nodiscard]] inline dense averaged(dense const& x, std::vector<bool> const& over) {
  auto made = summed(x, over);
  double count = 1;
  for (std::size_t i = 0; i < over.size(); ++i)
    if (over[i]) count *= static_cast<double>(x.shape[i]);
  for (auto& v : made.elements) v /= count;
  return made;
}

template <class F>
[[nodiscard]] dense joined(dense const& a, dense const& b, F const& f) {
  dense made;
  (void)combine(a, b, made, f);
  return made;
}
[[nodiscard]] inline dense minus(dense const& a, dense const& b) {
  return joined(a, b, [](double x, double y) { return x - y; });
}
[[nodiscard]] inline dense times(dense const& a, dense const& b) {
  return joined(a, b, [](double x, double y) { return x * y; });
}

[[nodiscard]] inline std::vector<bool> marked(std::vector<std::int64_t> const& axes, std::size_t rank) {
  std::vector<bool> over(rank, false);
  for (auto axis : axes) over[static_cast<std::size_t>(axis)] = true;
  return over;
}

[[nodiscard]] inline bool reduce_integers(opcode op, dense const& x, std::vector<bool> const& over, dense& into) {
  using whole = std::int64_t;
  auto const bits = [](whole v) { return static_cast<std::uint64_t>(v); };
  bool const is_unsigned_64 = x.type == element_type::uint64;
  auto const below = [&](whole a, whole b) { return is_unsigned_64 ? bits(a) < bits(b) : a < b; };
  auto const most = is_unsigned_64 ? -1 : size_of(x.type) == 8 ? INT64_MAX : static_cast<whole>(most_of(x.type));
  auto const least = is_unsigned(x.type) ? 0 : size_of(x.type) == 8 ? INT64_MIN : static_cast<whole>(least_of(x.type));
  auto const fold = [&](whole start, auto const& f) {
    into = {reduced_shape(x.shape, over), {}, x.type, folded(x.integers, x.shape, over, start, f)};
    for (auto& v : into.integers) v = wrapped(v, x.type);
    return true;
  };
  switch (op) {
    case opcode::sum: return fold(0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(b)); });
    case opcode::product: return fold(1, [&](whole a, whole b) { return static_cast<whole>(bits(a) * bits(b)); });
    case opcode::sum_square:
      return fold(0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(b) * bits(b)); });
    case opcode::l1_norm:
      return fold(
          0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(!is_unsigned_64 && b < 0 ? -b : b)); });
    case opcode::reduce_max: return fold(least, [&](whole a, whole b) { return below(a, b) ? b : a; });
    case opcode::reduce_min: return fold(most, [&](whole a, whole b) { return below(b, a) ? b : a; });
    default: return false;
  }
}

[[nodiscard]] inline evaluation reduced(opcode op, dense const& x, std::vector<bool> const& over, dense& made) {
  auto const of = [&](auto const& f) { return summed(mapped(x, f), over); };
  bool const truth = x.type == element_type::boolean;
  switch (op) {
    case opcode::sum: made = summed(x, over); break;
    case opcode::mean: made = averaged(x, over); break;
    case opcode::product: made = folded(x, over, 1, [](double a, double b) { return a * b; }); break;
    case opcode::reduce_max:
      made = truth ? folded(x, over, 0, [](double a, double b) { return b > a ? b : a; }) : largest(x, over);
      break;
    case opcode::reduce_min:
      made = folded(x, over, truth ? 1 : math::infinity, [](double a, double b) { return b < a || b != b ? b : a; });
      break;
    case opcode::sum_square: made = of([](double v) { return v * v; }); break;
    case opcode::l1_norm: made = of([](double v) { return math::abs(v); }); break;
    case opcode::l2_norm:
      made = mapped(of([](double v) { return v * v; }), [](double v) { return math::sqrt(v); });
      break;
    case opcode::log_sum: made = mapped(summed(x, over), [](double v) { return math::log(v); }); break;
    case opcode::log_sum_exp: {
      auto const shift = mapped(largest(x, over), [](double v) { return math::is_finite(v) ? v : 0; });
      auto const sums = summed(mapped(minus(x, shift), [](double v) { return math::exp(v); }), over);
      made = joined(sums, shift, [](double sum, double by) { return math::log(sum) + by; });
      break;
    }
    default: return evaluation::unknown;
  }
  return evaluation::done;
}

[[nodiscard]] inline evaluation evaluate_reduction(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  std::vector<std::int64_t> axes;
  if (!c.list("axes", axes)) axes.clear();
  auto const rank = x->shape.size();
  bool const none = axes.empty() && c.flag("noop_with_empty_axes");
  if (!counted_axes(axes, rank)) return evaluation::misfit;
  auto const over = axes.empty() && !none ? std::vector<bool>(rank, true) : marked(axes, rank);
  dense made;
  if (!x->whole() || !reduce_integers(c.op, *x, over, made)) {
    if (auto const state = reduced(c.op, x->type == element_type::boolean ? *x : in_doubles(*x), over, made);
        state != evaluation::done)
      return state;
    made = converted(std::move(made), x->type);
  }
  if (!c.flag("keepdims", true)) {
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < rank; ++i)
      if (!over[i]) kept.push_back(made.shape[i]);
    made.shape.swap(kept);
  }
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class folded_parameters final : public operator_parameters {
 public:
  struct given {
    std::string_view name;
    dense contents;
  };
  std::vector<given> all{};
  opcode op = opcode::opaque;

  bool number(std::string_view name, double& into) const override {
    if (auto const* found = find(name); found != nullptr && found->elements.size() == 1)
      return into = found->elements[0], true;
    auto const* own = parameter_of(op, name);
    return own != nullptr && own->fallback == own->fallback && (into = own->fallback, true);
  }
  bool integers(std::string_view name, std::vector<std::int64_t>& into) const override {
    into.clear();
    auto const* found = find(name);
    if (found == nullptr) return false;
    for (auto x : found->elements) into.push_back(static_cast<std::int64_t>(x));
    return true;
  }
  [[nodiscard]] attribute_view attribute(std::string_view) const override { return {}; }
  [[nodiscard]] axis_use use_of_axis() const override { return axis_use_of(nullptr, op); }

 private:
  [[nodiscard]] dense const* find(std::string_view name) const {
    for (auto const& each : all)
      if (each.name == name) return &each.contents;
    return nullptr;
  }
};

template <class Image>
class basic_folding {
 public:
  basic_folding(match_state const& match, Image const& image, facts const& known)
      : match_(match), image_(image), facts_(known) {}

  built<dense> compute(span<replacement_term const> terms, rule_info const& rule, std::uint8_t at, element_type type) {
    terms_ = terms;
    rule_ = &rule;
    type_ = type;
    auto made = term(at);
    if (!made) return made.why();
    if ((*made).lies && (*made).axis != -1)
      return objection{"along() names an axis of what stands beside it, and nothing does"};
    return (*made).contents;
  }

 private:
  using kind = replacement_term::kind;
  struct part {
    dense contents{};
    bool lies = false;  ///< along `axis`, whatever the rank; `contents` have one axis then
    int axis = 0;
  };

  built<part> term(std::uint8_t at) {
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::number: return part{dense::of(t.number)};
      case kind::fold: return term(t.child[0]);
      case kind::list: return list(t);
      case kind::dimension: return extent_of(t);
      case kind::slot: return captured(t.slot);
      case kind::along: return lying(t);
      case kind::neutral: return operator_of(t);
      default: return objection{"the right side folds what is computed when the graph runs"};
    }
  }

  built<part> extent_of(replacement_term const& t) const {
    auto const& s = match_.slot(t.slot);
    if (rule_->slot_kinds[t.slot] == slot_kind::dimension) {
      if (s.bound && s.number == s.number) return part{dense::of(s.number)};
      return objection{"dim() needs an extent that is known, and '" + name_of_slot(t.slot) + "' is not"};
    }
    auto const rank = s.bound ? facts_.rank(s.value) : -1;
    auto axis = static_cast<int>(t.number);
    if (axis < 0) axis += rank;
    if (rank < 0 || axis < 0 || axis >= rank)
      return objection{"dim() names an axis of a value that is not known to have it"};
    auto const e = facts_.shape(s.value)[static_cast<std::size_t>(axis)];
    if (!e.known())
      return objection{"dim() needs an extent that is known, and axis " + std::to_string(axis) + " of '" +
                       name_of_slot(t.slot) + "' is " + facts_.symbols().text(e)};
    return part{dense::of(static_cast<double>(e.value()))};
  }

  built<part> captured(std::uint8_t slot) const {
    auto const& s = match_.slot(slot);
    auto const is = rule_->slot_kinds[slot];
    if (!s.bound) return objection{"fold needs '" + name_of_slot(slot) + "', which is absent here"};
    if (is == slot_kind::parameter && (s.listed || s.axes != 0)) {
      dense made;
      for (auto each : match_.integers(slot)) made.elements.push_back(static_cast<double>(each));
      for (int bit = 63; bit >= 0; --bit)
        if ((s.axes >> bit & 1u) != 0) made.elements.push_back(-1 - bit);
      made.shape = {static_cast<std::int64_t>(made.elements.size())};
      if (!exact_integers(made)) return objection{no_integer};
      return part{made};
    }
    if (is == slot_kind::number || is == slot_kind::parameter) return part{dense::of(s.number)};
    if (is == slot_kind::rest) return rest(slot, false);
    return contents_of(s.value, slot);
  }
  built<part> contents_of(value_id v, std::uint8_t slot) const {
    bool const integers = is_integer(facts_.type(v));
    part made;
    if (image_.value(v).constant) {
      auto const contents = image_.source->constant(v);
      if (contents && contents.size() == count_of(contents.shape)) {
        made.contents = dense::in_doubles(contents);
        if (integers && !exact_integers(made.contents)) return objection{no_integer};
        return made;
      }
    } else if (double number = 0; facts_.number(v, number)) {
      made.contents = dense::of(number);
      if (integers && !exact_integers(made.contents)) return objection{no_integer};
      return made;
    } else if (basic_constant_contents<Image>(image_, facts_).read(v, made.contents)) {
      return made;
    }
    return objection{"fold needs constants, and '" + name_of_slot(slot) + "' is " + describe(image_, facts_, v)};
  }
  built<part> rest(std::uint8_t slot, bool lie) const {
    auto const group = static_cast<op_group>(match_.slot(slot).axes);
    if (group == op_group::none)
      return objection{"fold takes a rest of factors or addends, and '" + name_of_slot(slot) + "' is one of operands"};
    part all{dense::of(group == op_group::product ? 1 : 0)};
    all.lies = lie;
    if (lie) all.contents.shape = {1};
    for (auto const& m : match_.members(slot)) {
      auto one = contents_of(m.value, slot);
      if (one && lie) one = along(one.take(), 0);
      if (!one) return one;
      auto each = one.take();
      auto op = group == op_group::product ? opcode::mul : opcode::add;
      if (m.weight == -1)
        op = group == op_group::product ? opcode::div : opcode::sub;
      else if (m.weight != 1)
        return objection{"fold takes a rest whose members stand once, and one of '" + name_of_slot(slot) +
                         "' is raised to a power"};
      auto both = combined(op, {std::move(all), std::move(each)});
      if (!both) return both;
      all = both.take();
    }
    return all;
  }

  built<part> list(replacement_term const& t) {
    part made;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto entry = term(t.child[i]);
      if (!entry) return entry;
      auto const& contents = (*entry).contents;
      if ((*entry).lies || contents.shape.size() > 1) return objection{"an entry of a list is a number, or a list"};
      for (auto x : contents.elements) made.contents.elements.push_back(x);
    }
    made.contents.shape = {static_cast<std::int64_t>(made.contents.elements.size())};
    if (!exact_integers(made.contents)) return objection{"a list has integers, and an entry would be none"};
    return made;
  }

  built<part> lying(replacement_term const& t) {
    auto const& below = terms_[t.child[0]];
    bool const is_rest = below.what == kind::slot && rule_->slot_kinds[below.slot] == slot_kind::rest;
    auto inside = is_rest && match_.slot(below.slot).bound ? rest(below.slot, true) : term(t.child[0]);
    if (!inside) return inside;
    return along(inside.take(), static_cast<int>(t.number));
  }
  static built<part> along(part made, int axis) {
    std::size_t longer = 0;
    for (auto const extent : made.contents.shape) longer += extent != 1 ? 1 : 0;
    if (longer > 1) return objection{"along() takes a constant of one axis, and this one has several"};
    made.contents.shape = {static_cast<std::int64_t>(made.contents.elements.size())};
    made.lies = true;
    made.axis = axis;
    return made;
  }

  built<part> operator_of(replacement_term const& t) {
    auto const op = static_cast<opcode>(t.op);
    bool const broadcasts = op != opcode::cast && (function_of_one(op) != nullptr || function_of_two(op) != nullptr);
    auto made = broadcasts ? operation(t) : moved(t, op);
    if (made && is_integer(type_) && !exact_integers((*made).contents)) return objection{no_integer};
    return made;
  }

  built<part> moved(replacement_term const& t, opcode op) {
    std::vector<dense> operands;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto made = term(t.child[i]);
      if (!made) return made;
      if ((*made).lies) return objection{"along() stands beside what has the axis that it names"};
      operands.push_back(std::move(made.take().contents));
    }
    folded_parameters parameters;
    parameters.op = op;
    for (std::uint8_t i = 0; i < t.parameter_count; ++i) {
      auto const& p = t.parameters[i];
      auto made = p.term != no_slot ? term(p.term) : p.slot != no_slot ? captured(p.slot) : part{dense::of(p.number)};
      if (!made) return made;
      parameters.all.push_back({p.name, made.take().contents});
    }
    std::vector<dense const*> pointers;
    for (auto const& each : operands) pointers.push_back(&each);
    std::vector<dense> results(1);
    results[0].type = element_type::unknown;
    call const c{op, pointers, parameters, results};
    auto state = evaluation::unknown;
    if (op == opcode::cast)
      state = evaluate_cast(c);
    else
      state = info(op).shape == shape_function::reduce ? evaluate_reduction(c) : evaluate_layout(c);
    if (state == evaluation::misfit)
      return objection{"the operands or the parameters of " + std::string(fuse::name_of(op)) +
                       ", which the right side folds, do not fit"};
    if (state == evaluation::unknown)
      return objection{"fold does not compute " + std::string(fuse::name_of(op)) + " with these parameters"};
    return part{results[0]};
  }
  static evaluation evaluate_cast(call const& c) {
    auto const type = type_of_number(c.integer("to", 0));
    if (c.operand(0) == nullptr || !computed_in(type)) return evaluation::unknown;
    auto made = converted(*c.operand(0), type);
    round_to_type(made);
    return c.yield(in_doubles(made));
  }

  built<part> operation(replacement_term const& t) {
    std::vector<part> parts;
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto made = term(t.child[i]);
      if (!made) return made;
      parts.push_back(made.take());
    }
    return combined(static_cast<opcode>(t.op), std::move(parts));
  }
  static built<part> combined(opcode op, std::vector<part> parts) {
    std::size_t rank = 0, axes = 0;  // of what does not lie along an axis of others; without leading extents of 1
    for (auto const& each : parts) {
      if (each.lies) continue;
      auto const& shape = each.contents.shape;
      auto const own = rank_of(shape);
      if (axes != 0 && own != 0 && own != axes)
        return objection{"operands of fold have different ranks, and nothing says along which axis one repeats"};
      if (own != 0) axes = own;
      if (shape.size() > rank) rank = shape.size();
    }
    part made;
    for (auto& p : parts)
      if (p.lies) {
        if (rank != 0) {
          if (auto const* why = place(p, rank, parts); why != nullptr) return objection{why};
        } else if (made.lies && made.axis != p.axis) {
          return objection{"operands of fold lie along different axes of nothing"};
        } else {
          made.lies = true;
          made.axis = p.axis;
        }
      }
    std::vector<dense> operands;
    for (auto& p : parts) operands.push_back(std::move(p.contents));
    if (!evaluate(op, operands, made.contents))
      return objection{"operands that the right side folds do not broadcast to each other"};
    bool finite = true, zeros = info(op).group != op_group::product;
    for (auto const& operand : operands) {
      finite = finite && all_finite(operand);
      zeros = zeros || has_zero(operand) || !all_finite(operand);
    }
    if (finite && !all_finite(made.contents))
      return objection{"fold would make an infinite number, or none, of finite ones"};
    if (!zeros && has_zero(made.contents)) return objection{"fold would make 0 a product of numbers that are not"};
    return made;
  }

  static char const* place(part& p, std::size_t rank, std::vector<part> const& beside) {
    auto const axis = p.axis < 0 ? p.axis + static_cast<int>(rank) : p.axis;
    auto const count = p.contents.shape[0];
    if (axis < 0 || axis >= static_cast<int>(rank)) return "along() names an axis that the constant beside it lacks";
    bool fits = count == 1;
    for (auto const& other : beside) {
      auto const& shape = other.contents.shape;
      fits = fits || (!other.lies && shape.size() == rank && shape[static_cast<std::size_t>(axis)] == count);
    }
    if (!fits) return "along() has another number of elements than the axis that it names";
    p.contents.shape.assign(rank, 1);
    p.contents.shape[static_cast<std::size_t>(axis)] = count;
    return nullptr;
  }

  [[nodiscard]] static bool all_finite(dense const& of) {
    for (auto x : of.elements)
      if (!math::is_finite(x)) return false;
    return true;
  }
  [[nodiscard]] static bool has_zero(dense const& of) {
    for (auto x : of.elements)
      if (x == 0) return true;
    return false;
  }
  [[nodiscard]] static std::size_t rank_of(span<std::int64_t const> shape) {
    std::size_t lead = 0;
    while (lead < shape.size() && shape[lead] == 1) ++lead;
    return shape.size() - lead;
  }

  [[nodiscard]] std::string name_of_slot(std::uint8_t slot) const { return std::string(rule_->slot_names[slot]); }

  static constexpr auto const* no_integer = "fold would compute with integers that a double does not hold exactly";

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  span<replacement_term const> terms_{};
  rule_info const* rule_ = nullptr;
  element_type type_ = element_type::unknown;
};
using folding = basic_folding<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

struct written_parameter {
  std::string_view name;
  double number = 0;
  bool integer = false;    ///< the number is one, unless the operator has a real number there
  bool captured = false;   ///< it comes from the graph, which does not tell a real number from an integer
  std::uint64_t axes = 0;  ///< of captured axes: bit k is the k-th axis from the last
  decltype(attribute::content) content{};  ///< as the operator has it; the writer tells, unless it is `listed`
  bool listed = false;                     ///< a list of integers was given

  void give(std::vector<std::int64_t> list) {
    content = std::move(list);
    listed = true;
  }
};

template <class Image>
class basic_operator_writer {
 public:
  basic_operator_writer(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into)
      : image_(image),
        facts_(known),
        names_(names),
        to_(to),
        into_(into),
        rows_(static_cast<std::size_t>(opcode::count_) * 4) {}

  void begin(node_id place) { place_ = place; }

  built<value_id> neutral(opcode op, span<value_id const> operands, span<written_parameter> parameters,
                          std::uint32_t results) {
    auto const& [emitted, code, asked] = row_of(op);
    auto const* const row = stands_in(emitted, op, operands) ? nullptr : emitted;
    for (auto& p : parameters)
      if (auto why = settle(p, row, op, operands); !why.empty()) return objection{std::move(why)};
    describe(op, operands, parameters, results);
    if (names_.refuse != nullptr)
      if (auto const why = names_.refuse(emission_); !why.empty()) return objection{std::string(why), wider()};
    if (row != nullptr)
      if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    attributes_.clear();
    operands_.assign(operands);
    for (auto& p : parameters)
      if (auto const* why = place(p, row); why != nullptr) return objection{why};
    if (row != nullptr) place_defaults(*row, op, parameters);
    operator_tag tag{code, static_cast<std::uint16_t>(op)};
    if (row != nullptr) {
      if (names_.complete != nullptr) names_.complete(emission_, attributes_);
      if (auto why = completed(*row, operands); !why.empty()) return objection{std::move(why)};
      return node(tag, row->name, operands_, results);
    }
    function_body body;
    if (names_.function == nullptr || !names_.function(emission_, body))
      return objection::no_operator("the dialect has no operator " + std::string(name_of(op)) +
                                    " at this operator set version");
    auto const* sum = names_.emitted(opcode::add, image_.version, target::standard);
    if (sum != nullptr && sum->one_shape)
      return objection{"the function that stands for " + std::string(name_of(op)) +
                       " repeats elements, which operators do not by themselves at this operator set version"};
    auto const name = body.name;
    into_.function(std::move(body));
    tag.name = names_.code(name);
    return node(tag, name, operands_, results);
  }

  built<value_id> named(std::uint16_t name, span<value_id const> operands, span<written_parameter> parameters,
                        std::uint32_t results) {
    auto const* row = names_.row(name, image_.version);
    if (row == nullptr || row->emit_since > image_.version)
      return objection::no_operator("the operator of the right side does not exist at this operator set version");
    if (row->emit == target::none)
      return objection{"the dialect's " + std::string(row->name) + " is read, and never written"};
    if (!includes(row->emit, into_.target_here(to_)))
      return objection::no_operator("the dialect's " + std::string(row->name) + " is not for the target");
    if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    attributes_.clear();
    for (auto& p : parameters) {
      if (auto why = settle(p, row, row->op, operands); !why.empty()) return objection{std::move(why)};
      attributes_.push_back({std::string(p.name), std::move(p.content)});
    }
    if (auto why = completed(*row, operands); !why.empty()) return objection{std::move(why)};
    return node({name, static_cast<std::uint16_t>(row->op)}, row->name, operands, results);
  }

  built<value_id> again(node_id n, span<value_id const> operands, span<written_parameter> parameters,
                        std::uint32_t results) {
    auto const tag = image_.node(n).tag;
    auto const* row = names_.row(tag.name, image_.version);
    auto const is_not_copied = [&](char const* why) {
      return objection{"the operator of " + std::string(image_.source->node_name(n)) +
                       " cannot be written again: " + why};
    };
    if (row == nullptr || row->attributes->any) return is_not_copied("its dialect does not list its attributes");
    if (row->emit == target::none) return is_not_copied("it is read, and never written");
    if (image_.node(n).has_bodies) return is_not_copied("it has bodies");
    if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    attributes_.clear();
    for (auto const& listed : row->attributes->all) {
      auto const there = image_.source->attribute_of(n, listed.name);
      if (std::holds_alternative<std::monostate>(there)) continue;
      if (!copy(there, attributes_.emplace_back()))
        return is_not_copied("an attribute is of a kind that rewrites do not write");
      attributes_.back().name = listed.name;
    }
    operands_.assign(operands);
    for (auto i = static_cast<std::uint32_t>(row->operands); row->operands >= 0 && i < image_.operand_count(n); ++i) {
      while (operands_.size() < i) operands_.push_back(absent);
      operands_.push_back(image_.operand(n, i));
    }
    for (auto& p : parameters) {
      if (auto why = settle(p, row, row->op, operands); !why.empty()) return objection{std::move(why)};
      forget(p, *row);
      if (auto const* why = place(p, row); why != nullptr) return objection{why};
    }
    if (auto why = completed(*row, operands); !why.empty()) return objection{std::move(why)};
    return node(tag, row->name, operands_, results);
  }

 private:
  void forget(written_parameter const& p, operator_row const& row) {
    auto name = p.name;
    for (auto const& s : row.parameters)
      if (s.parameter == p.name && !s.attribute.empty()) name = s.attribute;
    auto const* own = parameter_of(row.op, p.name);
    bool const are_pads = own != nullptr && own->list == list_use::pads;
    std::erase_if(attributes_,
                  [&](attribute const& a) { return a.name == name || (are_pads && a.name == padding_attribute); });
  }

  static bool copy(attribute_view const& from, attribute& into) {
    if (auto const* whole = std::get_if<std::int64_t>(&from)) return into.content = *whole, true;
    if (auto const* number = std::get_if<double>(&from)) return into.content = *number, true;
    if (auto const* text = std::get_if<std::string_view>(&from)) return into.content = std::string(*text), true;
    auto const* list = std::get_if<span<std::int64_t const>>(&from);
    if (list == nullptr) return false;
    into.content = std::vector<std::int64_t>(list->begin(), list->end());
    return true;
  }

  [[nodiscard]] std::string completed(operator_row const& row, span<value_id const> operands) {
    if (auto why = complete(row, attributes_); !why.empty()) return why;
    bool asked = false;
    for (auto const& a : attributes_) {
      auto const* flag = std::get_if<std::int64_t>(&a.content);
      asked = asked || (a.name == "broadcast" && flag != nullptr && *flag != 0);
    }
    if (auto why = repeats_unasked(facts_, row, operands, asked); !why.empty()) return why;
    if (auto why = say_what_is_needed(row); !why.empty()) return why;
    if (row.attributes->any) return {};
    for (auto const& a : attributes_)
      if (auto const at = row.attributes->find(a.name);
          at == row.attributes->all.size() || !row.attributes->all[at].is_of(image_.version))
        return std::string(row.name) + " has no attribute '" + a.name + "' at this operator set version";
    for (auto const& listed : row.attributes->all)
      if (listed.is_required(image_.version) && !is_given(listed.name))
        return std::string(row.name) + " needs an attribute '" + std::string(listed.name) + "'";
    return {};
  }

  [[nodiscard]] bool is_given(std::string_view attribute_name) const {
    for (auto const& a : attributes_)
      if (a.name == attribute_name) return true;
    return false;
  }

  [[nodiscard]] std::string say_what_is_needed(operator_row const& row) {
    for (auto const& by : row.needs) {
      attribute const* given = nullptr;
      for (auto const& a : attributes_)
        if (a.name == by.name) given = &a;
      if (given != nullptr && !is_met(by, view_of(*given)))
        return "with this '" + std::string(by.name) + "', " + std::string(row.name) +
               " means something else at this operator set version";
      if (given == nullptr && !by.may_lack) attributes_.push_back({std::string(by.name), by.number});
    }
    return {};
  }

  [[nodiscard]] bool stands_in(operator_row const* row, opcode op, span<value_id const> operands) const {
    if (row == nullptr || names_.stands_in == nullptr || !names_.stands_in(op, operands.size())) return row == nullptr;
    element_types const* stated = nullptr;
    for (auto const& from : row->types)
      if (from.since <= image_.version) stated = &from;
    for (std::size_t i = 0; stated != nullptr && i < operands.size(); ++i)
      if (operands[i] != absent && !stated->takes(i, facts_.type(operands[i]))) return true;
    return false;
  }

  void place_defaults(operator_row const& row, opcode op, span<written_parameter const> given) {
    for (auto const& s : row.parameters) {
      bool is_given = s.where != parameter_source::kind::attribute || s.number != s.number;
      for (auto const& p : given) is_given = is_given || p.name == s.parameter;
      auto const* own = parameter_of(op, s.parameter);
      if (!is_given && own != nullptr && own->real && own->fallback != s.number)
        attributes_.push_back({std::string(s.attribute.empty() ? s.parameter : s.attribute), own->fallback});
    }
  }

  [[nodiscard]] static std::string refuses(operator_row const& row, std::size_t operands) {
    if (row.operands < 0 || operands <= static_cast<std::size_t>(row.operands)) return {};
    return "the dialect's " + std::string(row.name) + " takes " + std::to_string(row.operands) +
           " operands that are data, the right side has " + std::to_string(operands);
  }

  [[nodiscard]] element_type wider() const {
    auto const type = emission_.has(0) ? emission_.operands[0].type : element_type::unknown;
    return is_floating(type) && size_of(type) == 2 ? element_type::float32 : element_type::unknown;
  }

  value_id node(operator_tag tag, std::string_view name, span<value_id const> operands, std::uint32_t results) {
    return image_.result(into_.node(tag, name, operands, std::move(attributes_), results, place_));
  }

  void describe(opcode op, span<value_id const> operands, span<written_parameter const> parameters,
                std::uint32_t results) {
    auto& made = emission_;
    made.op = op;
    made.version = image_.version;
    made.to = into_.target_here(to_);
    made.results = results;
    made.negative_axes = made.version >= names_.negative_axes_since;
    extents_.clear();  // apart from the facts, whose spans end with the next constant that is made
    for (auto v : operands)
      if (v != absent) extents_.append(facts_.shape(v));
    made.operands.clear();
    std::size_t at = 0;
    for (auto v : operands) {
      auto& operand = made.operands.emplace_back();
      if (v == absent) continue;
      operand.present = true;
      operand.type = facts_.type(v);
      operand.has_rank = facts_.has_rank(v);
      auto const rank = facts_.shape(v).size();
      operand.shape = span<extent const>(extents_).subspan(at).first(rank);
      at += rank;
      if (double number = 0; facts_.number(v, number)) operand.number = number;
    }
    made.parameters.clear();
    for (auto const& p : parameters) {
      bool const list = std::holds_alternative<std::vector<std::int64_t>>(p.content);
      made.parameters.push_back({p.name, list ? std::numeric_limits<double>::quiet_NaN() : p.number});
    }
  }

  struct operator_of_dialect {
    operator_row const* row = nullptr;
    std::uint16_t code = 0;
    bool asked = false;
  };
  operator_of_dialect const& row_of(opcode op) {
    auto const to = into_.target_here(to_);
    auto& known = rows_[static_cast<std::size_t>(op) * 4 + static_cast<std::size_t>(to)];
    if (known.asked) return known;
    known.asked = true;
    known.row = names_.emitted(op, image_.version, to);
    if (known.row != nullptr) known.code = names_.code(known.row->name);
    return known;
  }

  [[nodiscard]] std::string settle(written_parameter& p, operator_row const* row, opcode op,
                                   span<value_id const> operands) const {
    auto const because = [&](std::string_view why) {
      return "the parameter '" + std::string(p.name) + "' of " + std::string(row != nullptr ? row->name : name_of(op)) +
             std::string(why);
    };
    if (p.listed) {
      auto const& list = std::get<std::vector<std::int64_t>>(p.content);
      if (is_one_number(p, row, op)) {
        if (list.size() != 1)
          return because(" is one number, and a list of " + std::to_string(list.size()) + " is given");
        p.number = static_cast<double>(list[0]);
        p.listed = false;
        p.content = list[0];
      }
    } else if (p.axes != 0) {
      if (auto const* why = count_axes(p, row, op); why != nullptr) return why;
    } else if (p.number != p.number) {
      return because(" would be no number: what gives it is not known, or no axes at all");
    } else if (p.integer && !is_real(p, row, op)) {
      if (!(math::abs(p.number) < inexact_integers)) return because(" is an integer that is not known exactly");
      p.content = static_cast<std::int64_t>(p.number);
      if (is_list(p, row, op)) p.give({static_cast<std::int64_t>(p.number)});
    } else if (counts(p, row, op)) {
      if (!math::is_whole(p.number) || !(math::abs(p.number) < inexact_integers))
        return because(" is an integer, and what gives it is none");
      p.content = static_cast<std::int64_t>(p.number);
    } else {
      p.content = p.number;
    }
    if (counts_from_the_first(p, row, op) && !count_from_the_first(p, op, operands))
      return because(" counts axes from the first one at this operator set version, and the rank is not known");
    return {};
  }
  [[nodiscard]] bool counts_from_the_first(written_parameter const& p, operator_row const* row, opcode op) const {
    return image_.version < names_.negative_axes_since && row != nullptr && row->op != opcode::opaque &&
           includes(row->emit, target::standard) &&
           (p.name == "axes" || axis_use_of(row, op, p.name) != axis_use::none);
  }
  [[nodiscard]] bool count_from_the_first(written_parameter& p, opcode op, span<value_id const> operands) const {
    auto const rank =
        operands.empty() || operands[0] == absent || op == opcode::unsqueeze ? -1 : facts_.rank(operands[0]);
    auto const count = [&](std::int64_t& axis) {
      if (axis >= 0) return true;
      axis += rank;
      return rank >= 0 && axis >= 0;
    };
    if (auto* one = std::get_if<std::int64_t>(&p.content)) {
      if (!count(*one)) return false;
      p.number = static_cast<double>(*one);
    }
    if (auto* list = std::get_if<std::vector<std::int64_t>>(&p.content))
      for (auto& axis : *list)
        if (!count(axis)) return false;
    return true;
  }
  [[nodiscard]] static bool counts(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr && !own->real) return true;
    auto const at = row == nullptr ? 0 : row->attributes->find(p.name);
    return row != nullptr && at != row->attributes->all.size() &&
           (row->attributes->all[at].kind == attribute_kind::integer ||
            row->attributes->all[at].kind == attribute_kind::flag);
  }
  [[nodiscard]] static bool is_list(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->list != list_use::none;
    return kind_of(p, row) == attribute_kind::integers;
  }
  [[nodiscard]] static bool is_one_number(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->list == list_use::none;
    auto const kind = kind_of(p, row);
    return kind == attribute_kind::flag || kind == attribute_kind::integer || kind == attribute_kind::number;
  }
  [[nodiscard]] static attribute_kind kind_of(written_parameter const& p, operator_row const* row) {
    auto const at = row == nullptr ? 0 : row->attributes->find(p.name);
    return row == nullptr || at == row->attributes->all.size() ? attribute_kind::other : row->attributes->all[at].kind;
  }
  [[nodiscard]] static bool is_real(written_parameter const& p, operator_row const* row, opcode op) {
    if (auto const* own = parameter_of(op, p.name); own != nullptr) return own->real;
    if (row != nullptr)
      if (auto const at = row->attributes->find(p.name); at != row->attributes->all.size())
        return row->attributes->all[at].kind == attribute_kind::number;
    auto const* others = p.captured ? parameter_named(p.name) : nullptr;
    return others != nullptr && others->real;
  }
  static char const* count_axes(written_parameter& p, operator_row const* row, opcode op) {
    auto const use = axis_use_of(row, op, p.name);
    if (use == axis_use::none && !counts_an_axis(p.name)) {
      std::vector<std::int64_t> list;
      for (int bit = 63; bit >= 0; --bit)
        if ((p.axes >> bit & 1u) != 0) list.push_back(-1 - bit);
      p.content = std::move(list);
      return nullptr;
    }
    bool const one = std::has_single_bit(p.axes), last = (p.axes & (p.axes + 1)) == 0;
    if (last && (use == axis_use::trailing || one))
      p.number = -std::popcount(p.axes);
    else if (one && use == axis_use::one)
      p.number = -static_cast<int>(std::bit_width(p.axes));
    else if (use == axis_use::none)
      return "the dialect does not state what the operator's axis counts";
    else
      return use == axis_use::one ? "the operator has one axis, and others were captured"
                                  : "the operator's axes are the last ones, and others were captured";
    p.content = static_cast<std::int64_t>(p.number);
    return nullptr;
  }

  [[nodiscard]] static bool counts_an_axis(std::string_view parameter) {
    auto const* known = parameter_named(parameter);
    return known != nullptr && known->axis != axis_use::none;
  }

  char const* place(written_parameter& p, operator_row const* row) {
    constexpr auto const* cannot = "the dialect cannot write a parameter of the right side";
    parameter_source source{};
    source.attribute = p.name;
    if (row != nullptr)
      for (auto const& s : row->parameters)
        if (s.parameter == p.name) source = s;
    auto const add = [&](auto&& content) {
      auto& made = attributes_.emplace_back();
      made.name = source.attribute.empty() ? p.name : source.attribute;
      made.content = std::forward<decltype(content)>(content);
      return nullptr;
    };
    switch (source.where) {
      case parameter_source::kind::attribute: return add(std::move(p.content));
      case parameter_source::kind::inverted: return add(static_cast<std::int64_t>(p.number == 0));
      case parameter_source::kind::operand: {
        auto const at = static_cast<std::size_t>(source.operand);
        while (operands_.size() <= at) operands_.push_back(absent);
        if (auto const* list = std::get_if<std::vector<std::int64_t>>(&p.content)) {
          operands_[at] = into_.constant_of(make_tensor(
              std::vector<std::int64_t>{static_cast<std::int64_t>(list->size())}, span<std::int64_t const>(*list)));
          return nullptr;
        }
        auto const type = operands_[0] == absent ? element_type::unknown : facts_.type(operands_[0]);
        auto const number = dense::of(p.number);
        if (!is_exact(number, type)) return "a parameter is a number that its operator's element type does not hold";
        auto made = make_constant(type, number);
        if (!made) return cannot;
        operands_[at] = into_.constant_of(made.take());
        return nullptr;
      }
      case parameter_source::kind::word: {
        auto const word = word_of_number(source.words, p.number);
        return word.empty() ? cannot : add(std::string(word));
      }
      case parameter_source::kind::fixed: return source.number == p.number ? nullptr : cannot;
      case parameter_source::kind::spatial_axes: return cannot;
      case parameter_source::kind::extents: {
        auto const shape =
            operands_.empty() || operands_[0] == absent ? span<extent const>{} : facts_.shape(operands_[0]);
        auto const rank = static_cast<double>(shape.size());
        auto const from = p.number < 0 ? rank + p.number : p.number;
        std::vector<std::int64_t> list;
        for (auto at = from; at >= 0 && at < rank && shape[static_cast<std::size_t>(at)].known(); ++at)
          list.push_back(shape[static_cast<std::size_t>(at)].value());
        if (list.empty() || static_cast<double>(list.size()) != rank - from)
          return "the operator lists the extents of its axes, and not all of them are known";
        return add(std::move(list));
      }
    }
    return cannot;
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  node_id place_ = absent;
  plain_vector<value_id> operands_;
  std::vector<attribute> attributes_;
  emission emission_;
  plain_vector<extent> extents_;            // of its operands
  plain_vector<operator_of_dialect> rows_;  // by opcode and target
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_rearranged_operand {
 public:
  static constexpr int most_below = 16;  ///< operators that are looked below

  basic_rearranged_operand(Image const& image, facts const& known, dialect const& names,
                           basic_operator_writer<Image>& writer, basic_transaction<Image>& into)
      : facts_(known), layouts_(image, known, names), writer_(writer), into_(into) {}

  [[nodiscard]] span<node_id const> passed() const { return passed_; }
  void begin() { passed_.clear(); }

  built<value_id> make(rearrangement const& what, named_extents names, value_id v) {
    if (!facts_.has_rank(v)) return objection{"a value whose rank is not known cannot be rearranged"};
    auto const from = shape(v);
    if (!names.learn(what.left, from) || !names.learn(what.left, from))
      return objection{"a value has another shape than " + text_of(what) + " takes"};
    for (std::uint8_t name = 0; name < what.name_count; ++name)
      if (!names.knows(name))
        return objection{"nothing tells the extent '" + std::string(what.names[name]) + "' of " + text_of(what)};
    if (names.lacks_shape()) return objection{"nothing tells the shape on the right of " + text_of(what)};
    named_extents::way along;
    if (!names.find(from, along)) return objection{"the extents of " + text_of(what) + " are too large"};
    if (!along.picks.empty()) return part(along, v);
    layout as_told;
    if (!names.lay(from, facts_.symbols(), as_told)) return not_known(as_told.unproven());
    if (plan best; shortest(v, names, best)) return written(best);
    auto const repeats = static_cast<std::int64_t>(along.repeats.size());
    std::vector<std::int64_t> order;
    for (auto each : along.order)
      if (each >= repeats) order.push_back(each - repeats);
    plain_vector<polynomial> with_ones;
    for (auto each : along.order)
      with_ones.push_back(each < repeats ? polynomial(1) : along.split[static_cast<std::size_t>(each - repeats)]);
    built<value_id> made = v;
    if (!in_order_already(order)) {
      made = reshaped(v, along.split);
      if (made) made = transposed(*made, order);
    }
    if (repeats != 0) {
      if (made) made = reshaped(*made, with_ones);
      if (made) made = repeated(along, *made);
    }
    return made ? reshaped(*made, along.shape) : made;
  }

 private:
  struct plan {
    value_id of = absent;
    plain_vector<polynomial> split, turned, shape;
    std::vector<std::int64_t> order;
    int operators = 0;
  };

  bool shortest(value_id v, named_extents const& names, plan& best) {
    bool any = false;
    auto from = v;
    for (int below = 0; from != absent && below <= most_below; ++below, from = layouts_.below(from)) {
      layout made;
      plan next;
      if (!layouts_.read(v, from, made) || !names.rearrange(facts_.symbols(), made) || !planned(made, from, next))
        continue;
      if (any && next.operators > best.operators) continue;
      any = true;
      best = std::move(next);
      between_.assign(layouts_.passed());
    }
    if (any) passed_.append(between_);
    return any;
  }

  [[nodiscard]] bool planned(layout const& wanted, value_id v, plan& into) const {
    auto const from = shape(v);
    auto const all = wanted.all();
    into.of = v;
    into.shape.assign(wanted.shape());
    if (!wanted.offset().is(0)) return false;
    plain_vector<std::size_t> rising;
    polynomial reach(1);
    while (rising.size() < all.size()) {
      std::size_t at = 0;
      while (at < all.size() && !(all[at].stride == reach)) ++at;
      if (at == all.size() || !reach.multiply(all[at].extent)) return false;
      rising.push_back(at);
    }
    polynomial whole(1);
    for (auto const& e : from)
      if (!whole.multiply(e)) return false;
    if (!(whole == reach)) return false;
    std::vector<std::int64_t> target;
    bool in_order = true;
    for (std::size_t i = 0; i < rising.size(); ++i) in_order = in_order && rising[i] == rising.size() - i - 1;
    if (in_order && target_of(from, into.shape, target)) {
      into.split = into.turned = into.shape;
      into.operators = same(into.shape, from) ? 0 : 1;
      return true;
    }
    if (!by_own_axes(all, rising, from, into)) by_digits(all, rising, into);
    into.operators = (same(into.split, from) ? 0 : 1) + (in_order_already(into.order) ? 0 : 1) +
                     (same(into.turned, into.shape) ? 0 : 1);
    return target_of(from, into.split, target) && target_of(into.turned, into.shape, target);
  }
  [[nodiscard]] static bool by_own_axes(span<layout::digit const> all, plain_vector<std::size_t> const& rising,
                                        plain_vector<polynomial> const& from, plan& into) {
    std::vector<std::vector<std::int64_t>> runs(all.size());
    plain_vector<std::int64_t> single;
    auto axis = from.size();
    for (auto const at : rising) {
      polynomial left = all[at].extent, rest;
      while (!left.is(1)) {
        while (axis > 0 && from[axis - 1].is(1)) single.push_back(static_cast<std::int64_t>(--axis));
        if (axis == 0 || !polynomial::divide(left, from[axis - 1], rest)) return false;
        runs[at].insert(runs[at].begin(), static_cast<std::int64_t>(--axis));
        left = rest;
      }
    }
    while (axis > 0 && from[axis - 1].is(1)) single.push_back(static_cast<std::int64_t>(--axis));
    if (axis != 0) return false;
    into.order.clear();
    std::size_t next = 0;
    for (std::size_t of = 0; of < into.shape.size(); ++of) {
      bool any = false;
      for (; next < all.size() && all[next].axis == of; ++next, any = true)
        into.order.insert(into.order.end(), runs[next].begin(), runs[next].end());
      if (any || single.empty()) continue;
      into.order.push_back(single.back());
      single.pop_back();
    }
    while (!single.empty()) {
      into.order.push_back(single.back());
      single.pop_back();
    }
    into.split.assign(from);
    into.turned.clear();
    for (auto each : into.order) into.turned.push_back(from[static_cast<std::size_t>(each)]);
    return true;
  }
  static void by_digits(span<layout::digit const> all, plain_vector<std::size_t> const& rising, plan& into) {
    into.split.clear();
    into.turned.clear();
    into.order.assign(all.size(), 0);
    for (auto i = rising.size(); i-- > 0;) {
      into.order[rising[i]] = static_cast<std::int64_t>(into.split.size());
      into.split.push_back(all[rising[i]].extent);
    }
    for (auto const& d : all) into.turned.push_back(d.extent);
  }

  built<value_id> written(plan const& by) {
    auto made = reshaped(by.of, by.split);
    if (made && !in_order_already(by.order)) made = transposed(*made, by.order);
    return made ? reshaped(*made, by.shape) : made;
  }

  [[nodiscard]] static bool same(span<polynomial const> a, span<polynomial const> b) {
    bool all = a.size() == b.size();
    for (std::size_t i = 0; all && i < b.size(); ++i) all = a[i] == b[i];
    return all;
  }
  [[nodiscard]] static bool target_of(span<polynomial const> from, span<polynomial const> to,
                                      std::vector<std::int64_t>& target, polynomial const** unknown = nullptr) {
    target.clear();
    bool open = false;
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::int64_t number = 0;
      bool const known = to[i].known(number);
      if (known && number > 0) {
        target.push_back(number);
      } else if (i < from.size() && from[i] == to[i]) {
        target.push_back(0);
      } else {
        if (unknown != nullptr) *unknown = &to[i];
        if (open || known) return false;
        open = true;
        target.push_back(-1);
      }
    }
    return true;
  }

  [[nodiscard]] plain_vector<polynomial> shape(value_id v) const {
    plain_vector<polynomial> made;
    for (auto e : facts_.shape(v)) made.push_back(facts_.symbols().polynomial_of(e));
    return made;
  }
  [[nodiscard]] objection not_known(polynomial const& e) const {
    return objection{"a shape needs an extent that is known, and one is " + facts_.symbols().text(e)};
  }

  built<value_id> reshaped(value_id v, span<polynomial const> to) {
    auto const from = shape(v);
    if (same(from, to)) return v;
    std::vector<std::int64_t> target;
    polynomial const* unknown = nullptr;
    if (!target_of(from, to, target, &unknown)) return not_known(*unknown);
    written_parameter list{"shape"};
    list.give(std::move(target));
    return writer_.neutral(opcode::reshape, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  [[nodiscard]] static bool in_order_already(span<std::int64_t const> order) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i] != static_cast<std::int64_t>(i)) return false;
    return true;
  }
  built<value_id> transposed(value_id v, span<std::int64_t const> order) {
    written_parameter list{"perm"};
    list.give({order.begin(), order.end()});
    return writer_.neutral(opcode::transpose, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  built<value_id> repeated(named_extents::way const& along, value_id v) {
    dense extents;
    for (auto each : along.order) {
      std::int64_t number = 1;
      if (each < static_cast<std::int64_t>(along.repeats.size()))
        if (auto const& e = along.repeats[static_cast<std::size_t>(each)]; !e.known(number)) return not_known(e);
      extents.elements.push_back(static_cast<double>(number));
    }
    extents.shape = {static_cast<std::int64_t>(extents.elements.size())};
    auto list = make_constant(element_type::int64, extents);
    if (!list) return list.why();
    value_id const operands[] = {v, into_.constant_of(list.take())};
    return writer_.neutral(opcode::expand, operands, {}, 1);
  }

  built<value_id> part(named_extents::way const& along, value_id v) {
    auto const& pick = along.picks[0];
    bool const apart = pick.axis + 1 == along.split.size();
    std::int64_t each = 0;
    if (!apart && !along.split.back().known(each)) return not_known(along.split.back());
    std::int64_t const lists[4][1] = {
        {apart ? pick.index : pick.index * each},
        {apart || pick.index + 1 == pick.count ? std::numeric_limits<std::int64_t>::max() : (pick.index + 1) * each},
        {static_cast<std::int64_t>(facts_.shape(v).size()) - 1},
        {apart ? pick.count : 1}};
    written_parameter parameters[] = {{"starts"}, {"ends"}, {"axes"}, {"steps"}};
    std::size_t at = 0;
    for (auto& p : parameters) p.give({lists[at][0]}), ++at;
    return writer_.neutral(opcode::slice, span<value_id const>(&v, 1), {parameters, apart ? 4u : 3u}, 1);
  }

  facts const& facts_;
  basic_layouts<Image> layouts_;
  basic_operator_writer<Image>& writer_;
  basic_transaction<Image>& into_;
  plain_vector<node_id> between_, passed_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_instantiation {
 public:
  basic_instantiation(program const& rules, match_state const& match, Image& image, facts& known, dialect const& names,
                      target to, basic_transaction<Image>& into)
      : rules_(rules),
        match_(match),
        image_(image),
        facts_(known),
        names_(names),
        to_(to),
        into_(into),
        folding_(match, image, known),
        broadcast_(image, known, names, to, into),
        writer_(image, known, names, to, into),
        rearranged_(image, known, names, writer_, into) {}

  [[nodiscard]] std::uint8_t forms(std::uint16_t rule) const {
    auto const& known = rules_.rules[rule];
    auto const& top = rules_.replacements[known.first_replacement + known.replacement_size - 1u];
    return top.what == kind::either ? top.children : std::uint8_t{1};
  }

  built<span<value_id const>> build(std::uint16_t rule, std::uint8_t form, node_id place, element_type computed_in) {
    info_ = &rules_.rules[rule];
    terms_ = rules_.replacements.subspan(info_->first_replacement, info_->replacement_size);
    choose();
    place_ = place;
    writer_.begin(place);
    broadcast_.begin(place);
    rearranged_.begin();
    computed_in_ = computed_in;
    type_ = facts_.type(match_.value(0));
    done_.assign(info_->replacement_size, result{});
    operands_.clear();
    roots_.clear();
    auto root = chosen(static_cast<std::uint8_t>(terms_.size() - 1));
    if (terms_[root].what == kind::either) root = chosen(terms_[root].child[form]);
    auto const& t = terms_[root];
    bool const several = t.what == kind::roots;
    auto const roots = several ? span<std::uint8_t const>(t.child, t.children) : span<std::uint8_t const>(&root, 1);
    for (auto at : roots) needs_results(at, 1);
    for (auto at : roots) {
      auto made = value(at, type_);
      if (!made) return made.why();
      if (*made == absent) return objection{"the right side has no value here"};
      roots_.push_back(*made);
    }
    return span<value_id const>(roots_);
  }
  [[nodiscard]] span<node_id const> passed() const { return rearranged_.passed(); }

 private:
  using kind = replacement_term::kind;
  struct result {
    bool ready = false;
    value_id value = absent;
    std::uint32_t results = 1;
  };

  void choose() {
    bool any = false;
    for (auto const& t : terms_) any = any || t.what == kind::or_else;
    if (!any) return;
    chosen_.assign(terms_);
    for (auto& t : chosen_) {
      for (std::uint8_t i = 0; i < t.children; ++i) t.child[i] = chosen(t.child[i]);
      for (std::uint8_t i = 0; i < t.parameter_count; ++i)
        if (auto& term = t.parameters[i].term; term != no_slot) term = chosen(term);
    }
    terms_ = chosen_;
  }
  [[nodiscard]] std::uint8_t chosen(std::uint8_t at) const {
    while (terms_[at].what == kind::or_else) {
      auto const slot = terms_[terms_[at].child[0]].slot;
      bool const rest = info_->slot_kinds[slot] == slot_kind::rest;
      bool const there = match_.slot(slot).bound && !(rest && match_.members(slot).empty());
      at = terms_[at].child[there ? 0 : 1];
    }
    return at;
  }

  void needs_results(std::uint8_t at, std::uint32_t results) {
    auto const& t = terms_[at];
    if (t.what == kind::result) return needs_results(t.child[0], t.index + 1u);
    if (results > done_[at].results) done_[at].results = results;
    for (std::uint8_t i = 0; i < t.children; ++i) needs_results(t.child[i], 1);
  }

  built<value_id> value(std::uint8_t at, element_type type) {
    if (done_[at].ready && (!is_literal(at) || facts_.type(done_[at].value) == type)) return done_[at].value;
    auto made = make(at, type);
    if (made) done_[at].ready = true, done_[at].value = *made;
    return made;
  }
  built<value_id> make(std::uint8_t at, element_type type) {
    auto const& t = terms_[at];
    switch (t.what) {
      case kind::slot: return slot_value(t.slot, type);
      case kind::number: return constant(dense::of(t.number), type);
      case kind::along: return objection{"along() stands inside fold()"};
      case kind::list:
      case kind::dimension:
      case kind::fold: {
        auto folded = folding_.compute(terms_, *info_, t.what == kind::fold ? t.child[0] : at, type);
        if (!folded) return t.what == kind::list && names_an_extent(t) ? list_at_run_time(t) : folded.why();
        if (t.what == kind::fold && t.index != 0 && !is_exact(*folded, type))
          return objection{"a constant would be rounded, and the rule takes it only as it is"};
        return constant(*folded, t.what == kind::list ? element_type::int64 : type);
      }
      case kind::row: return row(t);
      case kind::rearranged: {
        auto of = value(t.child[0], type);
        if (!of || *of == absent) return of;
        auto const& what = rules_.rearrangements[t.index];
        named_extents extents(what);
        know_bound(what, match_, facts_, extents);
        return rearranged_.make(what, extents, *of);
      }
      case kind::result: {
        auto first = value(t.child[0], type);
        if (!first || *first == absent) return first;
        return image_.result(image_.producer(*first), t.index);
      }
      case kind::neutral:
      case kind::again:
      case kind::named: return operation(t, done_[at].results, type);
      case kind::or_else:
      case kind::no_operand:
      case kind::further:
      case kind::either:
      case kind::roots: break;
    }
    return absent;
  }
  [[nodiscard]] bool is_literal(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::number || t.what == kind::fold || t.what == kind::dimension || t.what == kind::list)
      return true;
    auto const is = t.what == kind::slot ? info_->slot_kinds[t.slot] : slot_kind::value;
    return is == slot_kind::number || is == slot_kind::parameter;
  }

  [[nodiscard]] bool names_an_extent(replacement_term const& t) const {
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (terms_[t.child[i]].what == kind::dimension) return true;
    return false;
  }
  built<value_id> list_at_run_time(replacement_term const& t) {
    plain_vector<value_id> parts;
    dense known;  // entries in a row that are
    auto const put = [&]() -> built<value_id> {
      known.shape = {static_cast<std::int64_t>(known.elements.size())};
      auto made = constant(std::exchange(known, dense{}), element_type::int64);
      if (made) parts.push_back(*made);
      return made;
    };
    for (std::uint8_t i = 0; i < t.children; ++i) {
      auto entry = folding_.compute(terms_, *info_, t.child[i], element_type::int64);
      if (entry) {
        auto const& elements = (*entry).elements;
        known.elements.insert(known.elements.end(), elements.begin(), elements.end());
        continue;
      }
      auto const& e = terms_[t.child[i]];
      if (!is_an_axis(e)) return entry.why();
      if (!known.elements.empty())
        if (auto made = put(); !made) return made;
      auto made = extent_at_run_time(match_.slot(e.slot).value, static_cast<int>(e.number));
      if (!made) return made;
      parts.push_back(*made);
    }
    if (!known.elements.empty())
      if (auto made = put(); !made) return made;
    if (parts.size() == 1) return parts[0];
    written_parameter along{"axis", 0, true};
    return writer_.neutral(opcode::concat, parts, {&along, 1}, 1);
  }
  [[nodiscard]] bool is_an_axis(replacement_term const& t) const {
    if (t.what != kind::dimension || info_->slot_kinds[t.slot] != slot_kind::value || !match_.slot(t.slot).bound)
      return false;
    auto const rank = facts_.rank(match_.slot(t.slot).value);
    return t.number < rank && t.number >= -rank;
  }
  built<value_id> extent_at_run_time(value_id of, int axis) {
    auto shape = writer_.neutral(opcode::shape, span<value_id const>(&of, 1), {}, 1);
    if (!shape) return shape;
    auto const from_front = static_cast<double>(axis < 0 ? axis + facts_.rank(of) : axis);
    auto index = constant({{1}, {from_front}, element_type::float64, {}}, element_type::int64);
    if (!index) return index;
    value_id const operands[] = {*shape, *index};
    written_parameter along{"axis", 0, true};
    return writer_.neutral(opcode::gather, operands, {&along, 1}, 1);
  }

  built<value_id> constant(dense const& of, element_type type) {
    auto made = make_constant(type, of);
    if (!made) return made.why();
    return into_.constant_of(made.take());
  }

  built<value_id> slot_value(std::uint8_t at, element_type type) {
    auto const& s = match_.slot(at);
    if (!s.bound) return absent;
    switch (info_->slot_kinds[at]) {
      case slot_kind::value: return s.value;
      case slot_kind::number:
        if (s.value != absent && facts_.type(s.value) == type) return s.value;
        break;
      case slot_kind::parameter:
      case slot_kind::dimension: break;
      case slot_kind::rest: return joined(at, type);
    }
    return constant(dense::of(s.number), type);
  }

  built<value_id> joined(std::uint8_t at, element_type type) {
    auto const group = static_cast<op_group>(match_.slot(at).axes);
    auto const members = match_.members(at);
    value_id all = absent;
    for (double const sign : {1.0, -1.0})
      for (auto const& m : members) {
        if ((m.weight > 0) != (sign > 0)) continue;
        if (m.weight != 1 && m.weight != -1) return objection{"a factor that is left over is raised to a power"};
        if (all == absent && m.weight == 1) {
          all = m.value;
          continue;
        }
        if (all == absent) {
          auto neutral = constant(dense::of(group == op_group::product ? 1 : 0), type);
          if (!neutral) return neutral;
          all = *neutral;
        }
        value_id const operands[2] = {all, m.value};
        auto made = writer_.neutral(joining(group, m.weight), operands, {}, 1);
        if (!made) return made;
        all = *made;
      }
    return all;
  }

  built<value_id> row(replacement_term const& t) {
    auto like = value(t.child[1], type_);
    if (!like) return like;
    if (terms_[t.child[1]].what != kind::slot || *like == absent)
      return objection{"row() needs a captured value to be like"};
    auto form = t.index != 0 ? along_axis(t, *like) : along_last_axes(t, *like);
    if (!form) return form.why();
    bool const required = t.number != 0;
    auto const& given = terms_[t.child[0]];
    if (given.what == kind::number) return broadcast_.filled(given.number, *form);  // for what is absent
    auto const group = group_of(t.child[0], required);
    members_.clear();
    if (!gather(t.child[0], 1, group, members_)) return objection{"row() takes captures, their products or their sums"};
    if (!required && absent_first(t.child[0])) return absent;
    return broadcast_.make(members_, group, *form, required);
  }
  [[nodiscard]] built<operand_form> along_axis(replacement_term const& t, value_id like) const {
    operand_form form;
    if (!axis_alone(facts_, like, type_of_rows(like), t.index - 1u, form))
      return objection{"row_along() needs an axis that there is"};
    return form;
  }
  [[nodiscard]] built<operand_form> along_last_axes(replacement_term const& t, value_id like) const {
    int axes = 1;
    if (t.slot != no_slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound || s.axes == 0 || (s.axes & (s.axes + 1)) != 0)
        return objection{"row() needs the last axes, and others, or none that are known, were captured"};
      axes = std::popcount(s.axes);
    }
    return last_axes(facts_, like, type_of_rows(like), static_cast<std::size_t>(axes));
  }
  [[nodiscard]] element_type type_of_rows(value_id like) const {
    return computed_in_ != element_type::unknown ? computed_in_ : facts_.type(like);
  }

  op_group group_of(std::uint8_t at, bool required) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral) return info(static_cast<opcode>(t.op)).group;
    if (t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest && match_.slot(t.slot).bound)
      return static_cast<op_group>(match_.slot(t.slot).axes);
    return required ? op_group::product : op_group::sum;
  }
  bool gather(std::uint8_t at, double weight, op_group group, plain_vector<rest_member>& into) {
    auto const& t = terms_[at];
    if (t.what == kind::slot) {
      auto const& s = match_.slot(t.slot);
      if (!s.bound) return true;
      if (info_->slot_kinds[t.slot] == slot_kind::rest) {
        if (static_cast<op_group>(s.axes) != group) return false;
        for (auto const& m : match_.members(t.slot)) into.push_back({m.value, m.weight * weight});
        return true;
      }
      if (info_->slot_kinds[t.slot] != slot_kind::value) return false;
      into.push_back({s.value, weight});
      return true;
    }
    if (t.what != kind::neutral || t.children != 2 || info(static_cast<opcode>(t.op)).group != group) return false;
    auto const op = static_cast<opcode>(t.op);
    bool const inverse = op == opcode::sub || op == opcode::div;
    if (!inverse && op != opcode::add && op != opcode::mul) return false;
    return gather(t.child[0], weight, group, into) && gather(t.child[1], inverse ? -weight : weight, group, into);
  }
  bool absent_first(std::uint8_t at) const {
    auto const& t = terms_[at];
    if (t.what == kind::neutral)
      return info(static_cast<opcode>(t.op)).group == op_group::product && absent_first(t.child[0]);
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::value && !match_.slot(t.slot).bound;
  }

  std::uint32_t kept_results(replacement_term const& t, std::uint32_t results) const {
    if (t.what == kind::neutral && results < info(static_cast<opcode>(t.op)).least_results)
      results = info(static_cast<opcode>(t.op)).least_results;
    for (std::uint8_t i = 0; i < info_->root_count; ++i) {
      auto const n = image_.producer(match_.value(i == 0 ? std::uint8_t{0} : info_->root_registers[i]));
      if (n == absent || image_.node(n).tag.op != t.op || t.what != kind::neutral) continue;
      std::uint32_t used = image_.node(n).result_count;
      while (used > results && image_.unused(image_.result(n, used - 1))) --used;
      if (used > results) results = used;
    }
    return results;
  }

  [[nodiscard]] static bool may_lack_one(replacement_term const& t) {
    auto const op = static_cast<opcode>(t.op);
    return t.what == kind::neutral &&
           (op == opcode::add || op == opcode::sub || op == opcode::mul || op == opcode::div);
  }
  built<value_id> without_nothing(opcode op, std::size_t first) {
    auto const a = operands_[first], b = operands_[first + 1];
    operands_.resize(first);
    if (a == absent && (op == opcode::sub || op == opcode::div))
      return objection{"nothing is left to subtract or divide from"};
    return a == absent ? b : a;
  }

  [[nodiscard]] bool is_list(std::uint8_t at) const {
    auto const& t = terms_[at];
    return t.what == kind::slot && info_->slot_kinds[t.slot] == slot_kind::rest &&
           (!match_.slot(t.slot).bound || match_.slot(t.slot).axes == 0);
  }
  [[nodiscard]] span<rest_member const> members_of(std::uint8_t slot) const {
    return match_.slot(slot).bound ? match_.members(slot) : span<rest_member const>{};
  }

  [[nodiscard]] bool takes_operands(replacement_term const& t, span<value_id const> operands) const {
    auto const* row = t.what == kind::named ? names_.row(t.op, image_.version) : nullptr;
    auto const known = info(t.what != kind::named ? static_cast<opcode>(t.op)
                            : row != nullptr      ? row->op
                                                  : opcode::opaque);
    for (std::size_t i = 0; i < static_cast<std::size_t>(known.least); ++i)
      if (i >= operands.size() || operands[i] == absent) return false;
    return known.most < 0 || operands.size() <= static_cast<std::size_t>(known.most);
  }

  built<value_id> operation(replacement_term const& t, std::uint32_t results, element_type type) {
    results = kept_results(t, results);
    operand_terms const terms(terms_, t);
    value_id made_of[operand_terms::most];
    auto const op = t.what == kind::neutral ? static_cast<opcode>(t.op) : opcode::opaque;
    auto const selects = op == opcode::where;
    auto of_numbers = element_type::unknown;
    for (bool const literals : {false, true})
      for (std::uint8_t i = 0; i < terms.count; ++i) {
        if (is_literal(terms.at[i]) != literals || is_list(terms.at[i])) continue;
        auto known = of_numbers != element_type::unknown ? of_numbers : type;
        if (selects && i == 0) known = element_type::boolean;
        if (auto const beside = number_beside(op, i); beside >= 0 && beside < i) known = facts_.type(made_of[beside]);
        auto operand = value(terms.at[i], known);
        if (!operand) return operand;
        made_of[i] = *operand;
        if (of_numbers == element_type::unknown && made_of[i] != absent && !(selects && i == 0))
          of_numbers = facts_.type(made_of[i]);
      }
    auto const first = operands_.size();  // below lie those of the operators that wait for this one
    for (std::uint8_t i = 0; i < terms.count; ++i) {
      auto const& child = terms_[terms.at[i]];
      if (!is_list(terms.at[i])) {
        operands_.push_back(made_of[i]);
        continue;
      }
      for (auto const& m : members_of(child.slot)) operands_.push_back(m.value);
      if (members_of(child.slot).empty() && may_lack_one(t)) operands_.push_back(absent);
    }
    if (may_lack_one(t) && operands_.size() == first + 2 &&
        (operands_[first] == absent || operands_[first + 1] == absent))
      return without_nothing(static_cast<opcode>(t.op), first);
    while (operands_.size() > first && operands_.back() == absent) operands_.pop_back();
    bool const between_casts = computed_in_ != element_type::unknown && t.what == kind::neutral && has_row(t);
    if (between_casts) {
      auto widened = cast(operands_[first], computed_in_);
      if (!widened) return widened;
      operands_[first] = *widened;
    }
    auto const operands = span<value_id const>(operands_).subspan(first);
    if (t.what == kind::neutral && changes_nothing(t, operands)) {
      value_id const same = operands.empty() ? absent : operands[0];
      operands_.resize(first);
      return same;
    }
    if (!takes_operands(t, operands)) return objection{"the operands here are too few or too many for an operator"};
    parameters_.clear();
    for (std::uint8_t i = 0; i < t.parameter_count; ++i) {
      auto const& p = t.parameters[i];
      if (p.term != no_slot) {
        auto made = computed(p);
        if (!made) return made.why();
        parameters_.push_back(*made);
      } else if (p.slot == no_slot || match_.slot(p.slot).bound)
        parameters_.push_back(parameter(p));
      else if (auto const* known = t.what == kind::neutral ? parameter_of(static_cast<opcode>(t.op), p.name) : nullptr;
               known != nullptr && known->fallback != known->fallback)
        return lacks(t, p.name);
    }
    auto made = t.what == kind::neutral ? writer_.neutral(static_cast<opcode>(t.op), operands, parameters_, results)
                : t.what == kind::named ? writer_.named(t.op, operands, parameters_, results)
                                        : again(t, operands, results);
    operands_.resize(first);
    if (!made || !between_casts || facts_.type(*made) == type_) return made;
    return cast(*made, type_);
  }

  [[nodiscard]] bool changes_nothing(replacement_term const& t, span<value_id const> operands) const {
    auto const op = static_cast<opcode>(t.op);
    if (is_nothing_of_nothing(op) && (operands.size() == 0 || operands[0] == absent)) return true;
    if (op == opcode::concat) return operands.size() == 1 && t.children > 1;
    if (op != opcode::cast) return false;
    auto const& to = t.parameters[0];
    return t.parameter_count == 1 && to.name == "to" && to.slot == no_slot && to.term == no_slot &&
           static_cast<double>(facts_.type(operands[0])) == to.number;
  }

  built<value_id> again(replacement_term const& t, span<value_id const> operands, std::uint32_t results) {
    auto const& s = match_.slot(t.slot);
    auto const n = s.bound && s.value != absent ? image_.producer(s.value) : absent;
    if (n == absent) return objection{"again() names a value that no operator computes here"};
    auto const& tag = image_.node(n).tag;
    if (t.index != 0 ? tag.name != t.index : tag.op != t.op)
      return objection{"again() names a value that another operator passes on here"};
    if (results > image_.node(n).result_count) return objection{"again() has no more results than the operator here"};
    return writer_.again(n, operands, parameters_, image_.node(n).result_count);
  }

  static objection lacks(replacement_term const& t, std::string_view parameter) {
    return {"the operator " + std::string(name_of(static_cast<opcode>(t.op))) + " needs a parameter '" +
            std::string(parameter) + "', and what gives it is absent here"};
  }
  [[nodiscard]] bool has_row(replacement_term const& t) const {
    for (auto each : operand_terms(terms_, t))
      if (terms_[each].what == kind::row) return true;
    return false;
  }
  built<value_id> cast(value_id v, element_type to) {
    auto const made = basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).make(v, to);
    if (made == absent) return objection{"the dialect has no Cast"};
    return made;
  }

  built<written_parameter> computed(replacement_term::given const& from) {
    auto made = folding_.compute(terms_, *info_, from.term, element_type::float64);
    if (!made) return made.why();
    written_parameter written{from.name};
    if ((*made).shape.size() > 1)
      return objection{"the parameter '" + std::string(from.name) + "' would be a tensor of several axes"};
    if ((*made).shape.size() == 1) {
      if (!exact_integers(*made))
        return objection{"the parameter '" + std::string(from.name) + "' would be a list of what are no integers"};
      std::vector<std::int64_t> list;
      for (auto x : (*made).elements) list.push_back(static_cast<std::int64_t>(x));
      written.give(std::move(list));
      return written;
    }
    written.number = (*made).elements[0];
    written.integer = math::is_finite(written.number) && math::is_whole(written.number);
    return written;
  }
  written_parameter parameter(replacement_term::given const& from) const {
    written_parameter made{from.name, from.number, from.integer};
    if (from.slot == no_slot) return made;
    auto const& s = match_.slot(from.slot);
    made.number = s.number;
    made.captured = info_->slot_kinds[from.slot] == slot_kind::parameter;
    made.integer = made.captured && math::is_finite(s.number) && math::is_whole(s.number);
    made.axes = made.captured ? s.axes : 0;
    if (s.listed) {
      auto const list = match_.integers(from.slot);
      made.give({list.begin(), list.end()});
    }
    return made;
  }

  program const& rules_;
  match_state const& match_;
  rule_info const* info_ = nullptr;
  span<replacement_term const> terms_;
  plain_vector<replacement_term> chosen_;  // where they have an or_else
  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_folding<Image> folding_;
  basic_broadcast_operand<Image> broadcast_;
  basic_operator_writer<Image> writer_;
  basic_rearranged_operand<Image> rearranged_;
  node_id place_ = absent;
  element_type computed_in_ = element_type::unknown, type_ = element_type::unknown;
  plain_vector<result> done_;
  plain_vector<rest_member> members_;  // of the last row()
  plain_vector<value_id> operands_, roots_;
  std::vector<written_parameter> parameters_;
};
using instantiation = basic_instantiation<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_narrowing {
 public:
  basic_narrowing(program const& rules, match_state const& match, Image const& image, facts const& known,
                  dialect const& names, bool trust_shapes)
      : match_(match), image_(image), facts_(known), trust_(trust_shapes) {
    for (auto const& set : rules.sets) looks_through_casts_ = looks_through_casts_ || has_casts(set, names);
  }

  [[nodiscard]] std::string refuses(value_id root) {
    auto const wanted = facts_.type(root);
    if (wanted == element_type::unknown) return trust_ ? std::string() : "the element type of the result is not known";
    if (looks_through_casts_)
      for (auto n : match_.matched()) {
        auto const op = op_of(image_, n);
        if ((op != opcode::cast && op != opcode::cast_like) || image_.operand_count(n) == 0) continue;
        auto const of = image_.operand(n, 0), result = image_.result(n);
        if (of == absent) continue;
        auto const from = facts_.type(of), to = facts_.type(result);
        if (!trust_ && (from == element_type::unknown || to == element_type::unknown))
          return "the element types of " + image_.source->node_name(n) + ", a Cast, are not both known: it may round";
        if (rounds(of, to) && tells_apart(result, root, wanted))
          return "inside, " + image_.source->node_name(n) + " rounds to " + std::string(name_of(to)) +
                 ", which what is computed of it may tell";
      }
    if (!is_floating(wanted)) return {};
    for (auto n : match_.matched())
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const type = facts_.type(image_.result(n, i));
        if (type == wanted || type == element_type::unknown || !is_floating(type)) continue;
        if (!widens(wanted, type))
          return "inside, " + image_.source->node_name(n) + " computes in " + std::string(name_of(type)) +
                 ", which is narrower than the result's " + std::string(name_of(wanted));
      }
    return {};
  }

 private:
  [[nodiscard]] bool has_casts(through_set const& set, dialect const& names) const {
    for (std::size_t i = 0; i < set.count; ++i) {
      auto const* row = set.by_name[i] ? names.row(set.ops[i], image_.version) : nullptr;
      auto const op = row != nullptr ? row->op : static_cast<opcode>(set.by_name[i] ? 0 : set.ops[i]);
      if (op == opcode::cast || op == opcode::cast_like) return true;
    }
    return false;
  }
  [[nodiscard]] bool rounds(value_id of, element_type to) const {
    auto const from = facts_.type(bare_value(image_, facts_, of));
    return is_floating(from) && is_floating(to) && !widens(from, to);
  }
  [[nodiscard]] bool tells_apart(value_id rounded, value_id root, element_type wanted) {
    auto const of_shapes = [&](node_id n) {
      auto const op = op_of(image_, n);
      return op == opcode::shape || op == opcode::size;
    };
    if (!is_floating(wanted)) return !of_shapes(image_.producer(root));
    reached_.assign(1, rounded);
    for (std::size_t i = 0; i < reached_.size(); ++i)
      for (auto n : match_.matched()) {
        bool reads = false;
        for (std::uint32_t k = 0; k < image_.operand_count(n); ++k)
          reads = reads || image_.operand(n, k) == reached_[i];
        if (!reads || of_shapes(n)) continue;
        for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k) {
          auto const v = image_.result(n, k);
          if (image_.unused(v)) continue;
          if (!is_floating(facts_.type(v))) return true;
          bool known = false;
          for (auto r : reached_) known = known || r == v;
          if (!known) reached_.push_back(v);
        }
      }
    return false;
  }

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  bool trust_;
  bool looks_through_casts_ = false;  // some rule does
  plain_vector<value_id> reached_;
};
using narrowing = basic_narrowing<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_other_results {
 public:
  basic_other_results(Image const& image, facts const& known, dialect const& names, congruence& congruent,
                      basic_transaction<Image> const& changes)
      : image_(image), facts_(known), names_(names), congruent_(congruent), changes_(changes) {}

  [[nodiscard]] std::string take(plain_vector<value_id>& roots, plain_vector<value_id>& made) {
    auto const count = roots.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto const n = image_.producer(made[i]), old = image_.producer(roots[i]);
      if (n == absent || old == absent) continue;
      bool const alike = image_.node(n).tag.op == image_.node(old).tag.op;
      for (std::uint32_t k = 0; k < image_.node(old).result_count; ++k) {
        auto const v = image_.result(old, k);
        if (contains(roots, v) || image_.unused(v)) continue;
        if (!alike || k >= image_.node(n).result_count) {
          if (count > 1) return "another result of the replaced node is used, which the new node does not have";
          continue;
        }
        if (!same_from_the_second_on(n, old))
          return "another result of the replaced node is used, and that of the new node is not provably the same";
        roots.push_back(v);
        made.push_back(image_.result(n, k));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] static bool contains(plain_vector<value_id> const& all, value_id v) {
    for (auto each : all)
      if (each == v) return true;
    return false;
  }
  [[nodiscard]] bool same_from_the_second_on(node_id n, node_id old) {
    auto const op = op_of(image_, n);
    auto const of_first = info(op).of_first_result;
    if (n == old) return true;
    if (op == opcode::dropout || image_.node(n).has_bodies || image_.node(old).has_bodies) return false;
    auto const count = image_.operand_count(n), old_count = image_.operand_count(old);
    for (std::uint32_t i = 0; i < count || i < old_count; ++i) {
      if (i < 8 && (of_first >> i & 1u) != 0) continue;
      auto const a = i < count ? image_.operand(n, i) : absent, b = i < old_count ? image_.operand(old, i) : absent;
      if (a == b) continue;
      if (a == absent || b == absent) return false;
      if (!congruent_.same_now(a, b)) return false;
    }
    return of_first != 0 ? same_parameters(n, old) : same_attributes(n, old);
  }
  [[nodiscard]] bool same_parameters(node_id n, node_id old) const {
    for (auto const& p : info(op_of(image_, n)).parameters) {
      double a = 0, b = 0;
      if (!read_number(image_, facts_, names_, n, p.name, a) || !read_number(image_, facts_, names_, old, p.name, b))
        return false;
      if (p.axis != axis_use::none) {
        auto const rank = facts_.rank(image_.operand(n, 0));
        if ((a < 0) != (b < 0) && rank < 0) return false;
        if (a < 0) a += rank;
        if (b < 0) b += rank;
      }
      if (static_cast<float>(a) != static_cast<float>(b)) return false;  // graphs keep them as floats
    }
    return true;
  }
  [[nodiscard]] bool same_attributes(node_id n, node_id old) const {
    if (image_.node(n).tag.name == 0 || image_.node(n).tag.name != image_.node(old).tag.name) return false;
    if (n < changes_.first_node()) return image_.source->same_attributes(n, old);
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    if (row == nullptr || row->attributes->any || !changes_.says_the_same(n, old)) return false;
    for (auto const& a : row->attributes->all) {
      auto const there = image_.source->attribute_of(old, a.name), given = image_.source->attribute_of(n, a.name);
      if (there.index() != given.index()) return false;
    }
    return true;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  congruence& congruent_;
  basic_transaction<Image> const& changes_;
};
using other_results = basic_other_results<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

template <class Image>
struct basic_replacement {
  Image const& image;
  detail::facts const& known;
  dialect const& names;
  span<value_id const> roots;    ///< what is replaced
  span<value_id const> results;  ///< what replaces each
  span<node_id const> matched;   ///< nodes that the rule's operators were found in
  node_id first_new;             ///< nodes from this one on are new
};

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

struct rewrite_outcome {
  enum class kind : std::uint8_t { applied, refused, unchanged } is;
  objection why{};          ///< of one that is refused
  bool costly = false;      ///< ... for its cost
  std::string unchecked{};  ///< of one that is applied: why it was not checked, if it was to be
};

template <class Image>
class basic_application {
 public:
  basic_application(machine& match, Image& image, facts& known, dialect const& names, rewrite_options const& options)
      : rules_(match.rules()),
        match_(match.found()),
        image_(image),
        facts_(known),
        names_(names),
        options_(options),
        traffic_(image, known),
        validity_(image, known, names),
        changes_(image, known, false),
        right_(rules_, match_, image, known, names, options.target, changes_),
        infinite_(image, known, names, match_),
        narrowing_(rules_, match_, image, known, names, options.trust_shapes),
        others_(image, known, names, match.congruent(), changes_),
        counted_(static_cast<std::size_t>(opcode::count_), false) {}

  void count_users(std::vector<bool> const& selected) {
    bool counts = false;
    for (auto const& i : rules_.code) counts = counts || i.code == step::users;
    if (!counts) return;
    chosen_rules const chosen(rules_, [&](std::size_t rule) { return selected[rule]; });
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc)
      if (rules_.code[pc].code == step::users && chosen.pass(pc)) count_users_of(rules_.code[pc].next);
  }

  rewrite_outcome apply(std::uint16_t rule, node_id root, element_type computed_in, std::string_view origin) {
    using kind = rewrite_outcome::kind;
    root_ = root;
    if (!find_roots(rule)) return {kind::unchanged};
    if (one_root_twice()) return refuse("roots", "two results of the rule would replace one value");
    auto outcome = apply_form(rule, 0, computed_in, origin);
    for (std::uint8_t form = 1; outcome.is == kind::refused && form < right_.forms(rule); ++form) {
      auto other = apply_form(rule, form, computed_in, origin);
      if (other.is == kind::refused) {
        auto const wider = outcome.why.wider != element_type::unknown ? outcome.why.wider : other.why.wider;
        bool const costly = outcome.costly || other.costly;
        if (outcome.why.missing || (other.costly && !outcome.costly)) outcome = std::move(other);
        outcome.why.wider = wider;
        outcome.costly = costly;
      } else {
        outcome = std::move(other);
      }
    }
    return outcome;
  }

  [[nodiscard]] node_id first_node() const { return changes_.first_node(); }
  struct reader {
    node_id node;
    value_id of;  ///< absent where only contents are different
  };
  [[nodiscard]] span<reader const> readers() const { return readers_; }

 private:
  static rewrite_outcome refuse(char const* condition, std::string reason) {
    return {rewrite_outcome::kind::refused, {std::move(reason), element_type::unknown, condition}};
  }

  rewrite_outcome apply_form(std::uint16_t rule, std::uint8_t form, element_type computed_in, std::string_view origin) {
    using kind = rewrite_outcome::kind;
    changes_.open(image_.scope_of(image_.node(root_).region));
    struct rollback {
      basic_transaction<Image>& of;
      ~rollback() { of.roll_back(); }
    } const unless_committed{changes_};
    auto right = right_.build(rule, form, root_, computed_in);
    made_.assign(*right);
    if (right && unchanged()) return {kind::unchanged};
    if (auto why = narrowing_.refuses(roots_[0]); !why.empty()) return refuse("element type", std::move(why));
    if (!right) return {kind::refused, right.why()};
    if (auto why = others_.take(roots_, made_); !why.empty()) return refuse("results", std::move(why));
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (auto why = unfit(made_[i], roots_[i]); !why.empty()) return refuse("shape and element type", std::move(why));
    if (auto why = invalid(); !why.empty()) return refuse("operator", std::move(why));
    if (auto const what = infinite_.find(first_node()); !what.empty())
      return refuse("right side", "it would add up multiples of " + what +
                                      ", which is not finite, where it was none of the terms: inf - inf is no number");
    auto place = root_;
    if (roots_.size() > 1 && !find_place(place))
      return refuse("order",
                    "there is no place for the new node between what it needs and what needs it: a cycle would arise");
    if (auto const late = read_too_late(place); late != absent)
      return refuse("order", "the right side reads " + image_.source->value_name(late) +
                                 ", which is not there before what it replaces: a cycle would arise");
    auto const bytes = cost();
    auto const& known = rules_.rules[rule];
    if (known.equal_cost ? bytes.added > bytes.removed : bytes.added >= bytes.removed) {
      auto outcome = refuse("cost", "the rewrite would add " + std::to_string(static_cast<long long>(bytes.added)) +
                                        " bytes moved, calls counted as such, to save " +
                                        std::to_string(static_cast<long long>(bytes.removed)));
      outcome.costly = true;
      return outcome;
    }
    if (options_.veto != nullptr && options_.veto(options_.veto_context, known.name, bytes))
      return refuse("veto", "the caller's cost hook refused the rewrite");
    auto checked = check();
    if (checked.is == check_result::verdict::wrong) return refuse("check", std::move(checked.reason));
    if (auto why = changes_.commit(place, origin); !why.empty()) return refuse("graph", std::move(why));
    list_readers();
    replace();
    erase_dead();
    update_contents();
    rewrite_outcome outcome{kind::applied};
    if (checked.is == check_result::verdict::unknown) outcome.unchecked = std::move(checked.reason);
    return outcome;
  }

  bool find_roots(std::uint16_t rule) {
    auto const& known = rules_.rules[rule];
    roots_.assign(1, match_.value(0));
    for (std::uint8_t i = 1; i < known.root_count; ++i) roots_.push_back(match_.value(known.root_registers[i]));
    if (roots_.size() > 1)
      for (auto v : roots_)
        if (image_.unused(v)) return false;
    return true;
  }
  [[nodiscard]] bool one_root_twice() const {
    for (std::size_t i = 1; i < roots_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (roots_[i] == roots_[k]) return true;
    return false;
  }
  [[nodiscard]] bool is_root(value_id v) const {
    for (auto r : roots_)
      if (r == v) return true;
    return false;
  }
  [[nodiscard]] bool is_new(value_id v) const {
    return image_.producer(v) != absent && image_.producer(v) >= first_node();
  }

  [[nodiscard]] bool unchanged() const {
    if (made_[0] == roots_[0]) return true;
    auto const n = image_.producer(made_[0]);
    return roots_.size() == 1 && n == first_node() && image_.node_count() == n + 1 &&
           says_the_same(n, image_.producer(roots_[0]));
  }
  [[nodiscard]] bool says_the_same(node_id n, node_id old) const {
    if (n == absent || old == absent) return false;
    auto const &tag = image_.node(n).tag, &old_tag = image_.node(old).tag;
    if (tag.name != old_tag.name || (tag.name == 0 && image_.source->op_name(n) != image_.source->op_name(old)))
      return false;
    if (!changes_.says_the_same(n, old)) return false;
    std::uint32_t const count = image_.operand_count(n), old_count = image_.operand_count(old);
    for (std::uint32_t i = 0; i < count || i < old_count; ++i)
      if ((i < count ? image_.operand(n, i) : absent) != (i < old_count ? image_.operand(old, i) : absent))
        return false;
    return true;
  }

  [[nodiscard]] std::string unfit(value_id made, value_id old) const {
    auto const type = facts_.type(made), wanted = facts_.type(old);
    if (type != wanted || type == element_type::unknown) {
      if (!(options_.trust_shapes && (type == element_type::unknown || wanted == element_type::unknown)))
        return "the result would be " + std::string(name_of(type)) + " where it was " + std::string(name_of(wanted));
    }
    if (facts_.same_shape(made, old)) return {};
    if (options_.trust_shapes && (!facts_.has_rank(made) || !facts_.has_rank(old))) return {};
    if (!facts_.has_rank(made) || !facts_.has_rank(old)) return "the shape of the result is not known";
    return "the result would have another shape, or one that is not provably the same";
  }

  [[nodiscard]] std::string invalid() {
    for (auto n = first_node(); n < image_.node_count(); ++n) {
      auto const name = [&] { return "the new " + std::string(image_.source->op_name(n)) + " is not valid: "; };
      if (auto why = validity_.check(n); !why.empty()) return name() + why;
      if (validity_.open().size() == 0 || options_.trust_shapes) continue;
      open_.assign(validity_.open());
      for (auto old : match_.matched()) {
        if (!validity_.check(old).empty()) continue;
        for (auto const& given : validity_.open()) open_.erase_if([&](auto const& r) { return r.follows_from(given); });
      }
      if (!open_.empty()) return name() + validity_.text(open_[0]);
    }
    return {};
  }

  [[nodiscard]] check_result check() {
    if (options_.check == nullptr) return {};
    return options_.check({image_, facts_, names_, roots_, made_, match_.matched(), first_node()});
  }

  bool find_place(node_id& place) const {
    auto const first = first_node();
    auto const region = image_.node(root_).region;
    node_id after = absent;
    for (auto n = first; n < image_.node_count(); ++n)
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        auto const p = v == absent ? absent : image_.producer(v);
        if (p != absent && p < first && (after == absent || image_.node(p).order > image_.node(after).order)) after = p;
      }
    auto before = ~std::uint64_t{0};
    bool reads_itself = false;
    for (auto v : roots_)
      image_.for_each_user(v, [&](node_id user) {
        reads_itself = reads_itself || user >= first;
        bool root = false;
        for (auto r : roots_) root = root || image_.producer(r) == user;
        if (user < first && !root && image_.node(user).order < before) before = image_.node(user).order;
      });
    auto at = root_;  // the first node after `after`; without it, the earliest root will do
    if (after != absent) {
      at = image_.node(after).next;
    } else {
      for (auto v : roots_)
        if (image_.node(image_.producer(v)).order < image_.node(at).order) at = image_.producer(v);
    }
    while (at != absent && image_.node(at).region != region) at = image_.node(at).next;
    place = at;
    return at != absent && !reads_itself && image_.node(at).order <= before;
  }

  [[nodiscard]] value_id read_too_late(node_id place) const {
    auto const first = first_node();
    auto const readable = [&](value_id v, std::uint32_t region, std::uint64_t order) {
      auto const p = image_.producer(v);
      return !is_root(v) && image_.visible(image_.value(v).region, region) &&
             (p == absent || p >= first || image_.node(p).order < order);
    };
    for (auto n = first; n < image_.node_count(); ++n)
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i);
            v != absent && !readable(v, image_.node(n).region, image_.node(place).order))
          return v;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      auto const made = made_[i];
      auto earliest = image_.node(root_).order;
      if (roots_.size() > 1) {
        earliest = ~std::uint64_t{0};
        image_.for_each_user(roots_[i], [&](node_id user) {
          if (user < first && image_.node(user).order < earliest) earliest = image_.node(user).order;
        });
      }
      if (!readable(made, image_.value(roots_[i]).region, earliest)) return made;
    }
    return absent;
  }

  rewrite_cost cost() {
    rewrite_cost made;
    for (auto n = first_node(); n < image_.node_count(); ++n) made.added += traffic_.of(n);
    made.removed = options_.veto != nullptr
                       ? traffic_.saved(roots_, match_.matched(), right_.passed(), first_node())
                       : traffic_.saved(roots_, match_.matched(), right_.passed(), first_node(), made.added);
    made.constants_added = changes_.constant_bytes();
    return made;
  }

  void list_readers() {
    readers_.clear();
    auto const list = [&](value_id v, value_id of) {
      image_.for_each_user(v, [&](node_id user) { readers_.push_back({user, of}); });
    };
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      auto const made = made_[i];
      if (!is_new(made)) list(made, made);
      if (!is_new(made) || !says_the_same(image_.producer(made), image_.producer(roots_[i]))) list(roots_[i], made);
    }
  }

  void replace() {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      image_.source->replace_uses(roots_[i], made_[i]);
      image_.redirect(roots_[i], made_[i]);
    }
  }

  void erase_dead() {
    dead_ = roots_;
    while (!dead_.empty()) {
      auto const v = dead_.back();
      dead_.pop_back();
      if (!image_.unused(v)) continue;  // most operands
      auto const n = image_.producer(v);
      if (n == absent || !image_.node(n).alive || image_.node(n).has_bodies || used(n)) continue;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const operand = image_.operand(n, i); operand != absent) {
          dead_.push_back(operand);
          if (counts_users_of(operand)) less_read_.push_back(operand);
        }
      image_.source->erase(n);
      image_.erase(n);
    }
    list_less_read();
    readers_.erase_if([&](reader const& r) { return !image_.node(r.node).alive; });
  }
  void list_less_read() {
    for (auto v : less_read_)
      if (auto const n = image_.producer(v); n == absent || image_.node(n).alive)
        image_.for_each_user(v, [&](node_id user) { readers_.push_back({user, n == absent ? absent : v}); });
    less_read_.clear();
  }
  void count_users_of(std::uint16_t pc) {
    auto const& i = rules_.code[pc];
    counts_users_ = true;
    if (i.code == step::fork) {
      count_users_of(i.next);
      count_users_of(i.other);
    } else if (i.code == step::operation) {
      counted_[i.op] = true;
    } else {
      counted_.assign(counted_.size(), true);
    }
  }
  [[nodiscard]] bool counts_users_of(value_id v) const {
    auto const n = image_.producer(v);
    return image_.value(v).watched ||
           (counts_users_ && n != absent && counted_[static_cast<std::size_t>(op_of(image_, n))]);
  }

  void update_contents() {
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (facts_.has_contents(roots_[i]) && facts_.contents_number(roots_[i]) != facts_.contents_number(made_[i]))
        image_.for_each_user(made_[i], [&](node_id user) { stale_.push_back(user); });
    while (!stale_.empty()) {
      auto const n = stale_.back();
      stale_.pop_back();
      if (!facts_.update_contents(n)) continue;
      for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k)
        image_.for_each_user(image_.result(n, k), [&](node_id user) {
          stale_.push_back(user);
          readers_.push_back({user, absent});
        });
    }
  }

  [[nodiscard]] bool used(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
      if (!image_.unused(image_.result(n, i))) return true;
    return false;
  }

  program const& rules_;
  match_state const& match_;
  Image& image_;
  facts& facts_;
  dialect const& names_;
  rewrite_options const& options_;
  traffic traffic_;
  validity validity_;
  plain_vector<validity::requirement> open_;
  basic_transaction<Image> changes_;
  basic_instantiation<Image> right_;
  node_id root_ = absent;
  plain_vector<value_id> roots_, made_;  // what is replaced, each by what is made at the same place
  plain_vector<reader> readers_;
  plain_vector<node_id> stale_;
  plain_vector<value_id> dead_, less_read_;
  basic_infinite_terms<Image> infinite_;
  basic_narrowing<Image> narrowing_;
  basic_other_results<Image> others_;
  bool counts_users_ = false;  // some rule does
  std::vector<bool> counted_;  // ... of such operators
};
using application = basic_application<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_near_misses {
 public:
  basic_near_misses(machine& match, Image const& image, facts const& known, dialect const& names)
      : machine_(match), rules_(match.rules()), image_(image), facts_(known), names_(names) {}

  template <class Fused, class Tell>
  void find(int stage, std::vector<bool> const& selected, Fused const& fused, Tell const& tell) {
    auto const speaks = [&](std::size_t rule) {
      return rules_.rules[rule].stage == stage && selected[rule] && !rules_.rules[rule].silent;
    };
    bool any = false, anywhere = false;
    opcode_set telling{};
    for (std::size_t rule = 0; rule < rules_.rules.size(); ++rule) {
      any = any || speaks(rule);
      if (!speaks(rule) || rules_.rules[rule].reduces) continue;
      telling.add(rules_.rules[rule].telling);
      anywhere = anywhere || rules_.rules[rule].telling.empty();  // it is of sums and products alone
    }
    if (!any) return;
    if (anywhere)
      reach_.assign(image_.node_count(), true);
    else if (!mark_what_is_reached(telling, fused))
      return;

    misses own(*this, stage, speaks);
    misses above(*this, stage, [&](std::size_t rule) { return speaks(rule) && rules_.rules[rule].reduces; });
    std::vector<bool> told(image_.value_count(), false);
    auto const tell_once = [&](misses const& all, miss const& found) {
      if (!told[found.at]) tell(explain(machine_, image_, facts_, names_, found.node, stage, &all.rules));
      told[found.at] = true;
    };
    for (node_id n = image_.node_count(); n-- > 0;) {
      if (!image_.node(n).alive || !reach_[n] || fused(n)) continue;
      if (auto const& found = own.at(n); found.score >= near) tell_once(own, found);
      if (!is_landmark(n)) continue;
      miss nearest;
      list_users(n);
      for (auto user : users_)
        if (auto const& found = above.at(user); found.score > nearest.score) nearest = found;
      int const least = asked_for(op_of(image_, n)) ? 0 : 1;  // of another, a root must be there at least
      if (nearest.score >= least && nearest.score < near) tell_once(above, nearest);
    }
  }

 private:
  static constexpr int near = 3;  // the score from which a failure at a root is a near miss

  struct miss {
    node_id node = absent;
    value_id at = absent;
    int score = -1;  // -1: none of the rules missed
  };

  class misses {
   public:
    chosen_rules const rules;

    template <class Choose>
    misses(basic_near_misses& in, int stage, Choose const& choose)
        : rules(in.rules_, choose), in_(in), stage_(stage), kept_(in.image_.node_count(), miss{}) {}

    miss const& at(node_id n) {
      auto& kept = kept_[n];
      if (kept.node == n) return kept;
      kept.node = n;
      constexpr int without_words = 1 << 30;
      auto const why = explain(in_.machine_, in_.image_, in_.facts_, in_.names_, n, stage_, &rules, without_words);
      if (!why.matched && why.at != absent) {
        kept.at = why.at;
        kept.score = why.score;
      }
      return kept;
    }

   private:
    basic_near_misses& in_;
    int stage_;
    plain_vector<miss> kept_;
  };

  [[nodiscard]] bool is_landmark(node_id n) const { return info(op_of(image_, n)).shape == shape_function::reduce; }
  [[nodiscard]] bool asked_for(opcode op) const {
    for (auto const& i : rules_.code)
      if (i.code == step::reduction && i.op == static_cast<std::uint16_t>(op)) return true;
    return false;
  }

  template <class Fused>
  bool mark_what_is_reached(opcode_set const& telling, Fused const& fused) {
    if (telling.empty() && !any_landmark()) return false;
    bool any = false;
    constexpr std::uint8_t far = 17;
    plain_vector<std::uint8_t> distance(image_.node_count(), far);
    reach_.assign(image_.node_count(), false);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) {
      if (is_landmark(n) || (telling.has(op_of(image_, n)) && !fused(n))) distance[n] = 0, any = true;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i); v != absent && image_.producer(v) != absent)
          if (auto const below = distance[image_.producer(v)]; below + 1 < distance[n])
            distance[n] = static_cast<std::uint8_t>(below + 1);
      reach_[n] = distance[n] < far;
    }
    return any;
  }

  [[nodiscard]] bool any_landmark() {
    auto const all = facts_.reductions();
    for (; listed_ < all.size(); ++listed_) landmarks_.push_back(all[listed_]);
    auto const is_there = [&](node_id n) { return n < image_.node_count() && image_.node(n).alive && is_landmark(n); };
    while (!landmarks_.empty() && !is_there(landmarks_.back())) landmarks_.pop_back();
    return !landmarks_.empty();
  }

  void list_users(node_id n) {
    users_.assign(1, n);
    for (std::size_t at = 0; at < users_.size() && users_.size() < 32; ++at)
      for (std::uint32_t k = 0; k < image_.node(users_[at]).result_count; ++k)
        image_.for_each_user(image_.result(users_[at], k), [&](node_id user) {
          if (users_.size() < 32 && !is_listed(user)) users_.push_back(user);
        });
  }
  [[nodiscard]] bool is_listed(node_id user) const {
    for (auto const listed : users_)
      if (listed == user) return true;
    return false;
  }

  machine& machine_;
  program const& rules_;
  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  std::vector<bool> reach_;
  plain_vector<node_id> users_;
  plain_vector<node_id> landmarks_;  // of the first `listed_` that the facts tell; the last one is alive
  std::size_t listed_ = 0;
};
using near_misses = basic_near_misses<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  auto const byte_at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    auto const first = byte_at(i);
    std::size_t length = first < 0x80   ? 1
                         : first < 0xc2 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                         : first < 0xf5 ? 4
                                        : 0;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte_at(i + k) & 0xc0u) != 0x80u) length = 0;
    bool const control = first < 0x20 || first == 0x7f || (first == 0xc2 && byte_at(i + 1) < 0xa0);
    if (length != 0 && !control) {
      shown.append(text.substr(i, length));
      i += length;
      continue;
    }
    for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k, ++i) {
      shown += "\\x";
      shown += digits[byte_at(i) >> 4];
      shown += digits[byte_at(i) & 15u];
    }
  }
  return shown;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0 {

struct refusal {
  std::string node;       ///< name of the node at the pattern's root
  std::string condition;  ///< what failed: the name of a condition, or of a requirement of legality
  std::string reason;     ///< one sentence
};

struct rule_report {
  std::string name;
  std::size_t matched = 0, applied = 0;
  std::vector<refusal> refused;
  std::string left_out{};  ///< why the rule was not looked for: one sentence, or empty
};

struct rewrite_report {
  std::string error;
  std::vector<rule_report> rules;
  std::size_t nodes_before = 0, nodes_after = 0;
  std::vector<std::string> notes;

  [[nodiscard]] std::size_t applied() const {
    std::size_t sum = 0;
    for (auto const& r : rules) sum += r.applied;
    return sum;
  }
  [[nodiscard]] rule_report const* rule(std::string_view name) const {
    for (auto const& r : rules)
      if (r.name == name) return &r;
    return nullptr;
  }
};

[[nodiscard]] inline std::string found_nothing(std::size_t rules, bool others) {
  return std::to_string(rules) + (others ? " other" : "") + (rules == 1 ? " rule" : " rules") + " found nothing";
}

template <class Rules>
[[nodiscard]] std::string not_looked_for(Rules const& rules) {
  std::string text, last;
  for (auto const& r : rules) {
    if (r.left_out.empty()) continue;
    if (!last.empty() && last != r.left_out) text += " (" + last + ")";
    text += (text.empty() ? "not looked for: " : ", ") + r.name;
    last = r.left_out;
  }
  return text.empty() ? text : text + " (" + last + ")";
}

[[nodiscard]] inline std::string to_text(rewrite_report const& report) {
  std::string text;
  std::size_t silent = 0;
  if (!report.error.empty()) return "error: " + printable(report.error) + "\n";
  for (auto const& r : report.rules) {
    if (r.matched == 0 && r.refused.empty()) {
      if (r.left_out.empty()) ++silent;
      continue;
    }
    text += r.name + ": matched " + std::to_string(r.matched) + ", applied " + std::to_string(r.applied) +
            ", refused " + std::to_string(r.refused.size()) + "\n";
    for (auto const& f : r.refused) text += "  not at " + printable(f.node + ": " + f.reason) + "\n";
  }
  if (silent != 0) text += found_nothing(silent, silent != report.rules.size()) + "\n";
  if (auto const left_out = not_looked_for(report.rules); !left_out.empty()) text += printable(left_out) + "\n";
  text +=
      "nodes: " + std::to_string(report.nodes_before) + " before, " + std::to_string(report.nodes_after) + " after\n";
  for (auto const& n : report.notes) text += "note: " + printable(n) + "\n";
  return text;
}

namespace detail {

inline void append_json(std::string& into, std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  into += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      into += '\\';
      into += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      into += "\\u00";
      into += digits[static_cast<unsigned char>(c) >> 4];
      into += digits[static_cast<unsigned char>(c) & 15];
    } else {
      into += c;
    }
  }
  into += '"';
}

}  // namespace detail

[[nodiscard]] inline std::string to_json(rewrite_report const& report) {
  std::string json = "{\"error\":";
  detail::append_json(json, report.error);
  json += ",\"rules\":[";
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    auto const& r = report.rules[i];
    json += i == 0 ? "{\"name\":" : ",{\"name\":";
    detail::append_json(json, r.name);
    json +=
        ",\"matched\":" + std::to_string(r.matched) + ",\"applied\":" + std::to_string(r.applied) + ",\"refused\":[";
    for (std::size_t k = 0; k < r.refused.size(); ++k) {
      json += k == 0 ? "{\"node\":" : ",{\"node\":";
      detail::append_json(json, r.refused[k].node);
      json += ",\"reason\":";
      detail::append_json(json, r.refused[k].reason);
      json += ",\"condition\":";
      detail::append_json(json, r.refused[k].condition);
      json += "}";
    }
    json += "]";
    if (!r.left_out.empty()) {
      json += ",\"left_out\":";
      detail::append_json(json, r.left_out);
    }
    json += "}";
  }
  json += "],\"nodes\":{\"before\":" + std::to_string(report.nodes_before) +
          ",\"after\":" + std::to_string(report.nodes_after) + "},\"notes\":[";
  for (std::size_t i = 0; i < report.notes.size(); ++i) {
    if (i != 0) json += ',';
    detail::append_json(json, report.notes[i]);
  }
  return json + "]}";
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::detail {

template <class Image>
class basic_refusals {
 public:
  struct refused_match {
    std::uint16_t rule;
    node_id root, witness;  ///< matches of one thing have the same witness
    std::string node, condition, reason;
    bool matched;          ///< the whole pattern, with every condition
    bool quiet;            ///< the rule repeats no condition that another one has told
    bool lasting = false;  ///< also where a smaller rule applies
  };

  explicit basic_refusals(Image const& image) : image_(image) {}

  void add(refused_match made) {
    for (auto const& r : here_)
      if (r.rule == made.rule && r.reason == made.reason) return;
    here_.push_back(std::move(made));
  }
  void leave(bool applied) {
    if (!applied)
      for (auto& r : here_) all_.push_back(std::move(r));
    here_.clear();
  }
  void add_near_miss(refused_match made) { all_.push_back(std::move(made)); }

  template <class Stands>
  void tell(rewrite_report& report, Stands const& stands) const {
    if (all_.empty()) return;
    plain_vector<refused_match const*> said;  // at one root
    for (auto const* by_root : by_roots()) {
      auto const& r = *by_root;
      if (!said.empty() && said.front()->root != r.root) said.clear();
      int unmatched = 0;
      bool alike = false, counted = !r.matched;
      for (auto const* other : said) {
        if (other->rule != r.rule) {
          alike = alike || (r.quiet && !r.matched && other->reason == r.reason);
          continue;
        }
        unmatched += other->matched ? 0 : 1;
        counted = counted || other->matched;
        alike = alike || (other->condition == r.condition && other->matched == r.matched);
      }
      if (alike || (!r.matched && unmatched >= 3) || !stands(r)) continue;
      said.push_back(&r);
      auto& of_rule = report.rules[r.rule];
      if (!counted) ++of_rule.matched;
      of_rule.refused.push_back({r.node, r.condition, r.reason});
    }
  }

 private:
  [[nodiscard]] plain_vector<refused_match const*> by_roots() const {
    plain_vector<std::uint32_t> place(image_.node_count() + 1, 0);
    for (auto const& r : all_) ++place[r.root + 1];
    for (std::size_t n = 1; n < place.size(); ++n) place[n] += place[n - 1];
    plain_vector<refused_match const*> sorted(all_.size());
    for (auto const& r : all_) sorted[place[r.root]++] = &r;
    return sorted;
  }

  Image const& image_;
  std::vector<refused_match> here_, all_;
};
using refusals = basic_refusals<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

class rule_targets {
 public:
  rule_targets(program const& rules, dialect const& names, int version, target to)
      : rules_(rules), names_(names), version_(version), to_(to) {}

  [[nodiscard]] std::string_view missing(rule_info const& rule) const {
    auto const terms = rules_.replacements.subspan(rule.first_replacement, rule.replacement_size);
    if (terms.size() == 0) return {};
    return missing(rule, terms, static_cast<std::uint8_t>(terms.size() - 1));
  }

 private:
  using kind = replacement_term::kind;

  [[nodiscard]] std::string_view missing(rule_info const& rule, span<replacement_term const> terms,
                                         std::uint8_t at) const {
    auto const& t = terms[at];
    if (t.what == kind::fold || t.what == kind::row) return {};
    std::string_view found{};
    if (t.what == kind::either) {  // one form that may be written will do
      for (auto i = t.children; i-- > 0;)
        if (found = missing(rule, terms, t.child[i]); found.empty()) return {};
      return found;
    }
    if (t.what == kind::named) found = missing(t);
    operand_terms const operands(terms, t);
    if (t.what == kind::neutral && !has_rest(rule, terms, operands))
      found = missing(static_cast<opcode>(t.op), operands.count);
    for (auto each : operands)
      if (found.empty()) found = missing(rule, terms, each);
    return found;
  }
  [[nodiscard]] std::string_view missing(replacement_term const& named) const {
    auto const* row = names_.row(named.op, version_);
    bool const included = row == nullptr || row->emit == target::none || includes(row->emit, to_);
    return included ? std::string_view{} : row->name;
  }
  [[nodiscard]] std::string_view missing(opcode op, std::size_t operands) const {
    if (names_.stands_in != nullptr && names_.stands_in(op, operands)) return {};
    std::string_view elsewhere{};
    for (auto const& row : names_.rows) {
      if (row.op != op || row.emit == target::none || row.since > version_ || row.emit_since > version_) continue;
      if (row.operands >= 0 && static_cast<std::size_t>(row.operands) < operands) continue;
      if (includes(row.emit, to_)) return {};
      elsewhere = row.name;
    }
    return elsewhere;
  }
  [[nodiscard]] static bool has_rest(rule_info const& rule, span<replacement_term const> terms,
                                     operand_terms const& operands) {
    for (auto each : operands)
      if (auto const& child = terms[each]; child.what == kind::slot && rule.slot_kinds[child.slot] == slot_kind::rest)
        return true;
    return false;
  }

  program const& rules_;
  dialect const& names_;
  int version_;
  target to_;
};

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_worklist {
 public:
  explicit basic_worklist(Image const& image) : image_(image) {}

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  void clear() { heap_.clear(); }

  void add(node_id n) {
    auto at = heap_.size();
    heap_.push_back(n);
    for (; at != 0 && after(n, heap_[(at - 1) / 2]); at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
    heap_[at] = n;
  }
  node_id take() {
    auto const first = heap_[0], n = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return first;
    std::size_t at = 0;
    for (auto below = std::size_t{1}; below < heap_.size(); below = 2 * at + 1) {
      if (below + 1 < heap_.size() && after(heap_[below + 1], heap_[below])) ++below;
      if (!after(heap_[below], n)) break;
      heap_[at] = heap_[below];
      at = below;
    }
    heap_[at] = n;
    return first;
  }

 private:
  [[nodiscard]] bool after(node_id a, node_id b) const { return image_.node(a).order > image_.node(b).order; }

  Image const& image_;
  plain_vector<node_id> heap_;
};
using worklist = basic_worklist<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::detail {

template <class Image>
class basic_driver final : machine::acceptor {
 public:
  basic_driver(compiled_rules const& of, Image& image, facts& known, dialect const& names,
               rewrite_options const& options, rewrite_report& report)
      : rules_(of.tables.rules),
        image_(image),
        facts_(known),
        options_(options),
        report_(report),
        machine_(of.tables, image, known, names),
        near_misses_(machine_, image, known, names),
        application_(machine_, image, known, names, options),
        refusals_(image),
        reach_(of.reach),
        selected_(rules_.rules.size(), true),
        begins_(static_cast<std::size_t>(opcode::count_)),
        last_stage_(begins_.size(), -1),
        waiting_(image) {
    report_.rules.resize(rules_.rules.size());
    for (std::size_t i = 0; i < rules_.rules.size(); ++i) report_.rules[i].name = rules_.rules[i].name;
    machine_.filter(options.filter);
    list_last_stages();
    if (!select()) return;
    leave_out_other_targets(names);
    application_.count_users(selected_);
    fused_by_.resize(image.node_count(), 0);
  }

  void run() {
    if (!report_.error.empty()) return;
    budget_ = std::size_t{16} * image_.node_count() + 1024;
    half_budget_ = budget_ / 2;
    for (int stage = 0; stage < rules_.stages && budget_ != 0; ++stage) {
      if (!has_rules(stage)) continue;
      enter_stage(stage);
      if (std::exchange(changed_, false)) machine_.look();
      auto const before = costly_.size();
      visit_all();
      for (int i = 0; i < cost_rounds && may_pay(before); ++i) {
        wait(list_costly(before));
        visit_waiting();
      }
      waiting_.clear();
      visit_further_up();
      if (options_.near_misses) add_near_misses();
    }
    late_rounds_ = true;
    for (int i = 0; (!late_.empty() || (i < cost_rounds && may_pay(0)) || may_be_same()) && budget_ != 0; ++i) {
      auto again = std::exchange(late_, {});
      if (i < cost_rounds && may_pay(0)) again.append(span(list_costly(0)));
      if (may_be_same()) list_doubtful(again);
      for (int stage = 0; stage < rules_.stages; ++stage) {
        if (!has_rules(stage)) continue;
        enter_stage(stage);
        wait(again);
        visit_waiting();
        visit_further_up();
      }
      waiting_.clear();
    }
    if (budget_ == 0) name_the_restless();
    for (std::size_t i = 0; i < unchecked_.size(); ++i)
      if (unchecked_[i] != 0)
        report_.notes.push_back("of rule '" + report_.rules[i].name + "', " + std::to_string(unchecked_[i]) +
                                " rewrites were not checked: " + why_unchecked_[i]);
    if (exceeded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(exceeded_) + " nodes reached a bound, of " +
                              std::to_string(machine::step_limit) +
                              " steps, 1024 users or 1024 sets of like terms, and was cut off there");
    if (bounded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(bounded_) +
                              " nodes met a sum or product of more than " + std::to_string(opened_group::capacity) +
                              " parts with the operators between them, the rest of which stayed closed");
    refusals_.tell(report_, [&](auto const& r) { return stands(r); });
  }

  [[nodiscard]] bool fused(node_id n) const { return n < fused_by_.size() && fused_by_[n] != 0; }
  [[nodiscard]] std::vector<bool> const& selected() const { return selected_; }

 private:
  using refused_match = typename basic_refusals<Image>::refused_match;

  struct phase {
    observer const& to;
    explicit phase(observer const& who) : to(who) { tell("rewrite"); }
    phase(phase const&) = delete;
    phase& operator=(phase const&) = delete;
    ~phase() { tell("match"); }
    void tell(std::string_view name) const {
      if (to.phase != nullptr) to.phase(to.context, name);
    }
  };

  bool select() {
    auto const find = [&](std::string const& name) {
      for (std::size_t i = 0; i < rules_.rules.size(); ++i)
        if (rules_.rules[i].name == name) return static_cast<std::ptrdiff_t>(i);
      report_.error = "there is no rule '" + name + "'; the rules are";
      for (auto const& r : rules_.rules) report_.error += " " + std::string(r.name);
      return std::ptrdiff_t{-1};
    };
    if (!options_.only.empty()) selected_.assign(selected_.size(), false);
    for (auto const& name : options_.only) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = true;
    }
    for (auto const& name : options_.except) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = false;
    }
    return true;
  }

  void leave_out_other_targets(dialect const& names) {
    rule_targets const told(rules_, names, image_.version, options_.target);
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      if (!selected_[i]) continue;
      auto const missing = told.missing(rules_.rules[i]);
      if (missing.empty()) continue;
      selected_[i] = false;
      report_.rules[i].left_out = std::string(missing) + " is for another target";
      if (!options_.only.empty())
        report_.notes.push_back("rule '" + report_.rules[i].name + "' makes operators of another target");
    }
  }

  void visit_all() {
    auto const listed = nodes_.size(), all = listed + image_.node_count() - listed_;
    nodes_.resize(all);
    for (auto at = listed; at < all; ++at) nodes_[at] = listed_++;
    auto kept = all;
    for (auto at = all; at-- > 0;) {
      auto const n = nodes_[at];
      auto const& node = image_.node(n);
      if (!node.alive) continue;
      if (last_stage_[node.tag.op] > stage_ || last_stage_by_name(node.tag.name) > stage_) nodes_[--kept] = n;
      if (matters(n)) {
        reached_ = n;
        visit(n);
        visit_waiting();
      }
      if (at % 4096 == 0 && options_.observer.progress != nullptr)
        options_.observer.progress(options_.observer.context, stage_, all - at, all);
    }
    nodes_.erase_first(kept);
    reached_ = 0;
  }

  void list_last_stages() {
    for (std::size_t op = 0; op < last_stage_.size(); ++op)
      for (int stage = 0; stage < rules_.stages; ++stage)
        if (machine_.begins(static_cast<opcode>(op), stage)) last_stage_[op] = stage;
    for (auto const& e : rules_.entries) {
      if (!e.by_name) continue;
      if (e.tag >= last_stage_by_name_.size()) last_stage_by_name_.resize(e.tag + std::size_t{1}, -1);
      if (e.stage > last_stage_by_name_[e.tag]) last_stage_by_name_[e.tag] = e.stage;
    }
  }
  [[nodiscard]] int last_stage_by_name(std::uint16_t name) const {
    return name < last_stage_by_name_.size() ? last_stage_by_name_[name] : -1;
  }

  [[nodiscard]] bool has_rules(int stage) const {
    for (std::size_t i = 0; i < selected_.size(); ++i)
      if (selected_[i] && rules_.rules[i].stage == stage) return true;
    return false;
  }
  void enter_stage(int stage) {
    stage_ = stage;
    for (std::size_t op = 0; op < begins_.size(); ++op) begins_[op] = machine_.begins(static_cast<opcode>(op), stage);
    begins_by_name_.clear();
    for (auto const& e : rules_.entries) {
      if (e.stage != stage || !e.by_name) continue;
      if (e.tag >= begins_by_name_.size()) begins_by_name_.resize(e.tag + std::size_t{1}, false);
      begins_by_name_[e.tag] = true;
    }
  }
  [[nodiscard]] bool matters(node_id n) const {
    auto const& node = image_.node(n);
    return node.alive &&
           (begins_[node.tag.op] || (node.tag.name < begins_by_name_.size() && begins_by_name_[node.tag.name]));
  }

  void visit(node_id n) {
    if (budget_ == 0) return;
    root_ = n;
    bool const applied = rewrite_at(n);
    if (!applied && machine_.told_apart() && (doubtful_.empty() || doubtful_.back().root != n))
      doubtful_.push_back({n, applied_});
    if (machine_.found().exceeded) ++exceeded_;
    if (!applied && machine_.found().bounded) ++bounded_;
    refusals_.leave(applied);
  }

  bool rewrite_at(node_id n) {
    computed_in_ = wider_ = element_type::unknown;
    if (machine_.run(n, stage_, *this)) return true;
    computed_in_ = wider_;
    return wider_ != element_type::unknown && machine_.run(n, stage_, *this);
  }

  void refuse(std::uint16_t rule, std::uint16_t condition) override {
    if (!selected_[rule]) return;
    auto const& c = rules_.conditions[condition].what;
    std::string text(c.name.empty() ? std::string_view("a predicate") : c.name);
    std::string names;
    for (std::size_t i = 0; i < c.count; ++i) names += (i == 0 ? "" : ", ") + std::string(c.captures[i]);
    auto reason = "the condition '" + text + "' of (" + names + ") does not hold";
    refuse(rule, std::move(text), std::move(reason), false);
  }
  void refuse(std::uint16_t rule, std::string condition, std::string reason, bool matched) {
    refusals_.add({rule, root_, witness(), image_.source->node_name(root_), std::move(condition), std::move(reason),
                   matched, rules_.rules[rule].silent});
  }

  [[nodiscard]] bool stands(refused_match const& r) {
    auto const gone = [&](node_id n) { return fused(n) && !image_.node(n).alive; };
    if (!r.lasting && (gone(r.root) || (gone(r.witness) && fused_by_[r.witness] == r.rule + 1))) return false;
    if (!r.quiet) return true;
    finder again(r.rule);
    if (image_.node(r.root).alive) machine_.run(r.root, rules_.rules[r.rule].stage, again);
    return r.matched ? again.matched : again.refused;
  }
  struct finder final : machine::acceptor {
    explicit finder(std::uint16_t wanted) : rule(wanted) {}
    bool accept(std::uint16_t found) override {
      matched = matched || found == rule;
      return false;
    }
    void refuse(std::uint16_t found, std::uint16_t) override { refused = refused || found == rule; }
    std::uint16_t rule;
    bool matched = false, refused = false;
  };

  [[nodiscard]] node_id witness() const {
    auto const all = machine_.found().matched();
    for (std::size_t i = all.size(); i-- > 0;)
      if (auto const op = op_of(image_, all[i]); info(op).group == op_group::none && !may_keep_elements(op))
        return all[i];
    return all.empty() ? root_ : all[0];
  }

  bool accept(std::uint16_t rule) override {
    if (!selected_[rule]) return false;
    phase const rewriting(options_.observer);
    auto const origin = image_.source->node_name(root_);
    auto outcome = application_.apply(rule, root_, computed_in_, origin);
    if (outcome.is == rewrite_outcome::kind::unchanged) return false;
    if (outcome.is == rewrite_outcome::kind::refused) {
      if (outcome.why.wider != element_type::unknown) wider_ = outcome.why.wider;
      if (outcome.costly && (costly_.empty() || costly_.back().root != root_)) costly_.push_back({root_, applied_});
      refuse(rule, outcome.why.condition, std::move(outcome.why.reason), true);
      return false;
    }
    ++applied_;
    look_again(rule);
    ++report_.rules[rule].matched;
    ++report_.rules[rule].applied;
    if (!outcome.unchecked.empty()) {
      unchecked_.resize(report_.rules.size(), 0);
      why_unchecked_.resize(report_.rules.size());
      if (unchecked_[rule]++ == 0) why_unchecked_[rule] = std::move(outcome.unchecked);
    }
    if (budget_ != 0 && --budget_ == half_budget_) half_way_ = report_.rules;
    auto const& to = options_.observer;
    if (to.applied != nullptr) to.applied(to.context, rules_.rules[rule].name, origin);
    return true;
  }

  static constexpr int cost_rounds = 8;
  struct refused_place {
    node_id root;
    std::size_t applied;  // how many rewrites there had been
  };
  [[nodiscard]] bool may_pay(std::size_t first) const {
    return first < costly_.size() && costly_[first].applied != applied_ && budget_ != 0;
  }
  plain_vector<node_id> list_costly(std::size_t first) {
    plain_vector<node_id> roots;
    for (auto at = costly_.size(); at-- > first;)
      if (auto const root = costly_[at].root; image_.node(root).alive && (roots.empty() || roots.back() != root))
        roots.push_back(root);
    costly_.resize(first);
    return roots;
  }

  [[nodiscard]] bool may_be_same() const { return !doubtful_.empty() && doubtful_[0].applied != applied_; }
  void list_doubtful(plain_vector<node_id>& into) {
    machine_.compare_anew();
    begin_round();
    std::size_t count = 0;  // those since the last rewrite have seen all there is
    while (count < doubtful_.size() && doubtful_[count].applied != applied_) ++count;
    for (auto at = count; at-- > 0;)
      if (auto const root = doubtful_[at].root; image_.node(root).alive && seen_[root].round != round_) {
        seen_[root].round = round_;
        into.push_back(root);
      }
    doubtful_.erase_first(count);
  }
  void begin_round() {
    if (seen_.size() < image_.node_count()) seen_.resize(image_.node_count() + image_.node_count() / 8);
    ++round_;
  }

  [[nodiscard]] int above(value_id v) const {
    auto const stage = patterns_so_far();
    auto const n = v == absent ? absent : image_.producer(v);
    if (v != absent && n == absent) return image_.value(v).constant ? reach_.most(stage) : pattern_reach::none;
    if (n == absent || reach_.passes(image_.node(n).tag)) return reach_.most(stage);
    return reach_.above(stage, op_of(image_, n));
  }

  void look_again(std::uint16_t rule) {
    changed_ = true;
    auto const first = application_.first_node(), last = image_.node_count();
    if (fused_by_.size() < last) fused_by_.resize(last + last / 8, 0);
    for (auto n : machine_.found().matched())
      if (fused_by_[n] == 0) fused_by_[n] = static_cast<std::uint16_t>(rule + 1);
    for (auto n = first; n < last; ++n) machine_.add(n);
    auto const readers = application_.readers();
    for (auto i = readers.size(); i-- > 0;)
      climbs_.push_back({readers[i].node, above(readers[i].of)}), look_at(readers[i].node);
    for (auto n = last; n-- > first;) look_now_and_late(n);
  }

  void look_at(node_id reader, int passed = 0) {
    if (passed < 8 && may_keep_elements(op_of(image_, reader)) && unchanged(image_, facts_, reader))
      image_.for_each_user(image_.result(reader), [&](node_id user) { look_at(user, passed + 1); });
    machine_.look(reader);
    look_now_and_late(reader);
  }

  void look_further_up() {
    begin_round();
    auto const stage = patterns_so_far();
    while (!climbs_.empty()) {
      auto const at = climbs_.back();
      climbs_.pop_back();
      auto const n = at.node;
      auto& seen = seen_[n];
      if (!image_.node(n).alive || (seen.round == round_ && seen.operators >= at.operators)) continue;
      if (seen.round != round_) look_now_and_late(n);
      seen = {round_, at.operators};
      auto const op = op_of(image_, n);
      bool const passed = reach_.passes(image_.node(n).tag);
      if (!passed && (at.operators <= 0 || reach_.above(stage, op) == pattern_reach::none)) continue;
      auto const left = passed ? at.operators : at.operators - 1;
      for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k)
        image_.for_each_user(image_.result(n, k), [&](node_id user) { climbs_.push_back({user, left}); });
    }
  }
  [[nodiscard]] int patterns_so_far() const { return late_rounds_ ? rules_.stages - 1 : stage_; }

  void wait(plain_vector<node_id> const& nodes) {
    for (auto n : nodes) waiting_.add(n);
  }
  void look_now_and_late(node_id n) {
    waiting_.add(n);
    if (stage_ != 0 || late_rounds_) late_.push_back(n);
  }

  void visit_waiting() {
    while (!waiting_.empty() && budget_ != 0) {
      auto const next = waiting_.take();
      if (next >= reached_ && matters(next)) visit(next);
    }
  }

  void visit_further_up() {
    while (!climbs_.empty() && budget_ != 0) {
      look_further_up();
      visit_waiting();
    }
    waiting_.clear();
  }

  void add_near_misses() {
    near_misses_.find(
        stage_, selected_, [&](node_id n) { return fused(n); },
        [&](explanation const& why) {
          refusals_.add_near_miss({why.rule, why.node, why.node, image_.source->node_name(why.node), why.condition,
                                   to_text(why), false, false, why.other_reduction});
        });
  }

  void name_the_restless() {
    std::string names;
    for (std::size_t i = 0; i < half_way_.size(); ++i)  // those that have gone on beyond any number of useful rewrites
      if (report_.rules[i].applied != half_way_[i].applied) names += " " + report_.rules[i].name;
    report_.notes.push_back("the budget of rewrites is used up; rules that keep undoing each other:" + names +
                            "; the graph is as they left it");
  }

  program const& rules_;
  Image& image_;
  facts const& facts_;
  rewrite_options const& options_;
  rewrite_report& report_;
  machine machine_;
  basic_near_misses<Image> near_misses_;
  basic_application<Image> application_;
  basic_refusals<Image> refusals_;
  pattern_reach const& reach_;
  std::vector<bool> selected_;
  plain_vector<std::uint16_t> fused_by_;  // by node: 0, or 1 + the first rule that it took part in a rewrite of
  plain_vector<std::uint8_t> begins_, begins_by_name_;  // by opcode, by code of a name
  plain_vector<int> last_stage_, last_stage_by_name_;
  plain_vector<std::uint32_t> unchecked_;   // rewrites by rule, empty where there is none
  std::vector<std::string> why_unchecked_;  // ... of the first
  basic_worklist<Image> waiting_;
  plain_vector<node_id> late_;
  struct climb {
    node_id node;
    int operators;  // that may stand above what it reads
  };
  plain_vector<climb> climbs_;
  struct passed_with {
    std::uint32_t round;
    int operators;
  };
  plain_vector<passed_with> seen_;  // by node: in which round it was passed, with the most operators
  std::uint32_t round_ = 0;
  bool late_rounds_ = false;
  plain_vector<node_id> nodes_;  // of the first `listed_`, those that a stage left for later ones
  node_id listed_ = 0;
  node_id reached_ = 0;  // of the walk over all nodes, which goes down; else 0
  int stage_ = 0;
  bool changed_ = false;  // since the machine last took in the whole image
  element_type computed_in_ = element_type::unknown, wider_ = element_type::unknown;
  node_id root_ = absent;
  plain_vector<refused_place> costly_, doubtful_;
  std::size_t applied_ = 0;  // rewrites of all rules
  std::size_t budget_ = 0, exceeded_ = 0, bounded_ = 0;
  std::size_t half_budget_ = 0;
  std::vector<rule_report> half_way_;
};
using driver = basic_driver<graph_image>;

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0 {

namespace detail {

template <class Image>
void rewrite(compiled_rules const& rules, graph_source& source, Image& image, bool cyclic, dialect const& names,
             rewrite_options const& options, rewrite_report& report) {
  if (cyclic) {
    report.error = "the graph has a cycle";
    return;
  }
  report.nodes_before = image.node_count();
  auto const phase = [&](std::string_view name) {
    if (options.observer.phase != nullptr) options.observer.phase(options.observer.context, name);
  };
  phase("shapes");
  facts known(image, names);
  known.run();
  phase("match");
  basic_driver<Image> run(rules, image, known, names, options, report);
  run.run();
  if (options.trust_shapes && !source.has_shapes())
    report.notes.push_back(
        "the graph tells no shapes: that replacements have the shape of what they replace was taken on trust");
  report.nodes_after = image.alive_count();
}

#ifdef FUSE_REWRITE_SEPARATE
extern template void rewrite(compiled_rules const&, graph_source&, graph_image&, bool, dialect const&,
                             rewrite_options const&, rewrite_report&);
#endif

template <class Graph>
void rewrite(compiled_rules const& rules, Graph& graph, rewrite_options const& options, rewrite_report& report) {
  static constexpr auto const& names = dialect_of<Graph>;
  graph_binding<Graph> bound(graph, names_in(names), names.newest);
  rewrite(rules, bound, bound.image, bound.cyclic(), names, options, report);
}

}  // namespace detail

template <auto const& Rules, class Graph>
rewrite_report rewrite(Graph& graph, rewrite_options const& options = {}) {
  (void)sizeof(detail::require_rewritable<Graph>);
  rewrite_report report;
  if constexpr (rewritable_graph<Graph>) {
    static constexpr auto const& table = detail::dialect_table_of<Graph>();
    if constexpr (detail::require_rules<Rules, table>::met) {
      static_assert(!detail::program_table_of<Rules, table>.overflow,
                    "fuse: a rule set has at most 1024 rules, 64 parameter names, 32 sets to look through and 128 "
                    "rearrangements");
      detail::rewrite(detail::compiled_rules_of<Rules, table>(), graph, options, report);
    }
  }
  return report;
}

}  // namespace fuse::inline v0

namespace fuse::inline v0::rules::formula {

inline constexpr auto x = dsl::var<"x">, old_scale = dsl::var<"old scale">, old_bias = dsl::var<"old bias">;
inline constexpr auto epsilon = dsl::scalar<"epsilon">;
inline constexpr auto scale = dsl::rest<"scale">, factor = dsl::rest<"factor">, bias = dsl::rest<"bias">;

inline constexpr auto centred = x - dsl::mean(x);
inline constexpr auto variance =
    dsl::either(dsl::mean(dsl::square(centred)), dsl::mean(dsl::square(x)) - dsl::square(dsl::mean(x)));
inline constexpr auto inverse_deviation = dsl::rsqrt((variance + dsl::optional(epsilon)).never_negative());
inline constexpr auto inverse_root_mean_square = dsl::rsqrt(dsl::mean(dsl::square(x)) + dsl::optional(epsilon));

inline constexpr auto distributed = x * inverse_deviation * factor - dsl::mean(x) * inverse_deviation * factor;
inline constexpr auto scaled_first = x * factor - dsl::mean(x) * factor;
inline constexpr auto normalised = dsl::either(dsl::either(centred, scaled_first) * inverse_deviation, distributed);
inline constexpr auto scaled_norm = dsl::either(normalised * scale, distributed) + bias;

[[nodiscard]] constexpr expression layer_norm_of(expression const& what) {
  return dsl::layer_norm(what, old_scale, dsl::optional(old_bias))
      .attr<"axis">(dsl::param<"axes">)
      .attr<"epsilon">(epsilon);
}
inline constexpr auto layer_norm_operator = layer_norm_of(x);
inline constexpr auto layer_norm_again =
    dsl::layer_norm(x, old_scale, old_bias).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);
inline constexpr auto rms_norm_operator =
    dsl::rms_norm(x, old_scale).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);

inline constexpr auto last_axis = dsl::pred<"axes">([](auto axes) {
  std::vector<std::int64_t> listed;
  return axes.integers(listed) && listed.size() == 1 && listed[0] == -1;
});

[[nodiscard]] inline bool squared(value_view mean, int depth = 0) {
  bool found = false;
  mean.for_each_user([&](value_view user) {
    switch (user.op()) {
      case opcode::pow:
      case opcode::square: found = true; break;
      case opcode::mul: found = found || user.operand(0).id() == user.operand(1).id(); break;
      case opcode::neg:
      case opcode::cast:
      case opcode::identity:
      case opcode::unsqueeze:
      case opcode::reshape: found = found || (depth < 8 && squared(user, depth + 1)); break;
      default: break;
    }
  });
  return found;
}

}  // namespace fuse::inline v0::rules::formula

namespace fuse::inline v0::rules {

inline constexpr auto layer_norm =
    rule<"layer-norm">(formula::scaled_norm)
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">,
               dsl::row_vector<"factor", "x">, dsl::row_vector<"bias", "x">)
        .summary("(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the last axes, in any spelling")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::scale* formula::factor, formula::x),
                                 dsl::row_or_none(formula::bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .benefit(2);

inline constexpr auto rms_norm_of_centred =
    rule<"rms-norm-of-centred">(dsl::rms_norm(formula::centred, formula::old_scale)
                                    .attr<"axis">(dsl::param<"axes">)
                                    .attr<"epsilon">(formula::epsilon))
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("an RMS norm of x - mean(x) is a layer norm of x")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(1)
        .quiet();

inline constexpr auto layer_norm_times_row =
    rule<"layer-norm-times-row">(formula::layer_norm_operator.users(1) * formula::scale.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"scale", "x">)
        .summary("a layer norm takes a row that multiplies it into its scale and bias")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale* formula::scale, formula::x),
                                 dsl::row_or_none(formula::old_bias* formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

inline constexpr auto layer_norm_plus_row =
    rule<"layer-norm-plus-row">(formula::layer_norm_operator.users(1) + formula::bias.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a layer norm takes a row that is added to it into its bias")
        .replace(dsl::layer_norm(formula::x, formula::old_scale,
                                 dsl::row_or_none(formula::bias + formula::old_bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

inline constexpr auto layer_norm_mean =
    rule<"layer-norm-mean">(dsl::roots(dsl::mean(formula::x).as<"mean">(), formula::layer_norm_operator))
        .through<"cast", "identity">()
        .where<"nothing squares the mean">(dsl::pred<"mean">([](auto mean) { return !formula::squared(mean); }))
        .summary("a mean computed beside a layer norm becomes its second result")
        .replace(dsl::result<1>(formula::layer_norm_again), dsl::result<0>(formula::layer_norm_again))
        .stage(3)
        .quiet();

inline constexpr auto layer_norm_inverse_deviation =
    rule<"layer-norm-inverse-deviation">(dsl::roots(formula::inverse_deviation, formula::layer_norm_operator))
        .through<"cast", "identity">()
        .summary("an inverse deviation computed beside a layer norm becomes its third result")
        .replace(dsl::result<2>(formula::layer_norm_again), dsl::result<0>(formula::layer_norm_again))
        .stage(3)
        .quiet();

inline constexpr auto layer_norm_of_flattened =
    rule<"layer-norm-of-flattened">(
        dsl::reshape(dsl::layer_norm(dsl::flatten(formula::x).attr<"axis">(dsl::param<"axes">), formula::old_scale,
                                     dsl::optional(formula::old_bias))
                         .attr<"axis">(-1)
                         .attr<"epsilon">(formula::epsilon)
                         .users(1)))
        .through<"identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("a layer norm between Flatten and Reshape is one over the axes that were flattened")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale, formula::x),
                                 dsl::row_or_none(formula::old_bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .at_equal_cost()
        .stage(4)
        .quiet();

}  // namespace fuse::inline v0::rules

namespace fuse::inline v0::rules {

inline constexpr auto rms_norm =
    rule<"rms-norm">(formula::x * formula::inverse_root_mean_square * formula::scale)
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">)
        .summary("x / sqrt(mean(x * x) + epsilon) * scale over the last axes, in any spelling")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(1);

inline constexpr auto rms_norm_times_row =
    rule<"rms-norm-times-row">(formula::rms_norm_operator.users(1) * formula::scale.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"scale", "x">)
        .summary("an RMS norm takes a row that multiplies it into its scale")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::old_scale* formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

inline constexpr auto rms_norm_of_flattened =
    rule<"rms-norm-of-flattened">(
        dsl::reshape(dsl::rms_norm(dsl::flatten(formula::x).attr<"axis">(dsl::param<"axes">), formula::old_scale)
                         .attr<"axis">(-1)
                         .attr<"epsilon">(formula::epsilon)
                         .users(1)))
        .through<"identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("an RMS norm between Flatten and Reshape is one over the axes that were flattened")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::old_scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .at_equal_cost()
        .stage(4)
        .quiet();

}  // namespace fuse::inline v0::rules

namespace fuse::inline v0::rules {

inline constexpr auto norms =
    rule_set<layer_norm, rms_norm, rms_norm_of_centred, layer_norm_times_row, layer_norm_plus_row, rms_norm_times_row,
             layer_norm_mean, layer_norm_inverse_deviation, layer_norm_of_flattened, rms_norm_of_flattened>;

}  // namespace fuse::inline v0::rules
