// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/argument.hpp>
#include <fuse/kernelgen/detail/expression_call.hpp>
#include <fuse/kernelgen/detail/passes.hpp>
#include <fuse/kernelgen/lower_row.hpp>
#include <fuse/kernelgen/requirements.hpp>
#include <fuse/kernels/own_kernel.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernelgen/detail/expression_rows-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>

namespace fuse::inline v0 {
namespace kernelgen {
inline namespace FUSE_REWRITE_ISA {

using expression_targets = FUSE_REWRITE_KERNELS_TARGETS(expression_rows);

}  // namespace FUSE_REWRITE_ISA

template <auto const& Expression>
inline constexpr detail::row_inputs inputs = detail::inputs_of(Expression);

template <auto const& Expression, detail::input_kind... Kinds>
inline constexpr detail::row_program lowered =
    detail::row_lowering(Expression, inputs<Expression>, detail::input_kinds{{Kinds...}}).lower();

/// A row program as a type.
template <auto const& Expression, detail::input_kind... Kinds>
struct program_of {
  static constexpr detail::row_program const& get() { return lowered<Expression, Kinds...>; }
};

template <class T>
struct argument_of {
  static constexpr bool is_result = false, is_input = false;
};
template <class T>
struct argument_of<kernels::matrix_view<T>> {
  static constexpr bool is_result = true, is_input = false;
};
template <fixed_string Name, class T>
struct argument_of<named_argument<Name, T>> {
  static constexpr bool is_result = false, is_input = true;
  static constexpr static_text name = detail::name_text<Name>;
  static constexpr detail::input_kind kind = kind_of<T>;
  using quoted_name = decltype(detail::quoted_name<Name>(std::make_index_sequence<sizeof(Name.text) - 1>{}));
};

template <class Argument>
constexpr bool is_named(static_text name) {
  if constexpr (argument_of<Argument>::is_input) {
    return argument_of<Argument>::name == name;
  } else {
    return false;
  }
}
template <class Argument>
constexpr detail::input_kind kind_if_named(static_text name) {
  if constexpr (argument_of<Argument>::is_input) {
    if (argument_of<Argument>::name == name) return argument_of<Argument>::kind;
  }
  return detail::input_kind::absent;
}
template <class... Arguments>
constexpr detail::input_kind kind_of_input(static_text name) {
  auto found = detail::input_kind::absent;
  static_cast<void>(((found = kind_if_named<Arguments>(name), found != detail::input_kind::absent) || ...));
  return found;
}

template <class T>
constexpr each_row<T> source_of(kernels::matrix_view<T const> const& rows) {
  return {rows.data, rows.row_stride};
}
template <class T>
constexpr shared_row<T> source_of(std::span<T const> row) {
  return {row.data()};
}
constexpr one_number source_of(float number) { return {number}; }

template <auto const& Expression, std::size_t I>
constexpr no_input input_source() {
  return {};
}
template <auto const& Expression, std::size_t I, class First, class... Rest>
constexpr auto input_source(First const& first, Rest const&... rest) {
  if constexpr (is_named<First>(inputs<Expression>.names[I])) {
    return source_of(first.value);
  } else {
    return input_source<Expression, I>(rest...);
  }
}

constexpr list<> list_of() { return {}; }
template <class First, class... Rest>
constexpr list<First, Rest...> list_of(First const& first, Rest const&... rest) {
  return {first, list_of(rest...)};
}
template <auto const& Expression, std::size_t... I, class... Arguments>
constexpr auto sources(std::index_sequence<I...>, Arguments const&... arguments) {
  return list_of(input_source<Expression, I>(arguments...)...);
}

template <auto const& Expression, class Sequence, class... Arguments>
struct program_with;
template <auto const& Expression, std::size_t... I, class... Arguments>
struct program_with<Expression, std::index_sequence<I...>, Arguments...> {
  using type = program_of<Expression, kind_of_input<Arguments...>(inputs<Expression>.names[I])...>;
};
template <auto const& Expression, class... Arguments>
using program_for =
    typename program_with<Expression, std::make_index_sequence<inputs<Expression>.count>, Arguments...>::type;

template <class Program>
constexpr void require_program() {
  using culprit = decltype(detail::quoted_culprit<Program>(std::make_index_sequence<Program::get().culprit.size()>{}));
  static_cast<void>(detail::kernel_requirement<Program::get().error, culprit>::met);
}
template <auto const& Expression, class Argument, class... Arguments>
constexpr void require_argument() {
  if constexpr (argument_of<Argument>::is_input) {
    constexpr auto const& all = inputs<Expression>;
    constexpr static_text name = argument_of<Argument>::name;
    using quoted = typename argument_of<Argument>::quoted_name;
    constexpr std::size_t at = all.find(name);
    static_cast<void>(detail::kernel_argument_names_a_capture<quoted, (at < all.count)>());
    static_cast<void>(detail::kernel_argument_is_given_once<quoted, (0 + ... + is_named<Arguments>(name)) == 1>());
    constexpr bool is_number = argument_of<Argument>::kind == detail::input_kind::number;
    static_cast<void>(
        detail::kernel_scalar_is_a_number<quoted, (at == all.count || !all.is_scalar[at] || is_number)>());
  }
}

template <std::size_t At, class... Arguments>
constexpr auto how_of(std::tuple<Arguments const&...> const& all) {
  if constexpr (At < sizeof...(Arguments)) {
    return std::get<At>(all);
  } else {
    return kernels::on<>();
  }
}

template <class T>
constexpr result_rows<T> result_of(kernels::matrix_view<T> const& to) {
  static_assert(kernels::element<T>, "fuse: a kernel's result has elements float, bfloat16 or float16, not const");
  return {to.data, to.row_stride};
}
template <class T>
constexpr bool has_floats(kernels::matrix_view<T> const&) {
  return std::is_same_v<T, float>;
}

template <fixed_string Name, class T, class Y>
constexpr bool is_place_of(named_argument<Name, T> const&, kernels::matrix_view<Y> const&) {
  return false;
}
template <fixed_string Name, class T, class Y>
constexpr bool is_place_of(named_argument<Name, kernels::matrix_view<T>> const& given,
                           kernels::matrix_view<Y> const& result) {
  return kernels::same_elements(given.value, result);
}

template <class T>
constexpr std::size_t row_bytes(kernels::matrix_view<T> const& rows) {
  return rows.columns * sizeof(T);
}
template <fixed_string Name, class T>
constexpr std::size_t row_bytes(named_argument<Name, T> const&) {
  return 0;
}
template <fixed_string Name, class T>
constexpr std::size_t row_bytes(named_argument<Name, kernels::matrix_view<T>> const& given) {
  return row_bytes(given.value);
}

/// Looks at the arguments of a call, whose first result says how many rows and columns there are.
template <class First>
class expression_check : public kernels::argument_check {
 public:
  explicit expression_check(kernels::matrix_view<First> const& like) : argument_check("kernel"), like_(like) {}

  template <class T>
  void result(kernels::matrix_view<T> const& view) {
    static constexpr char const* names[] = {first_name, "result 2", "result 3", "result 4"};
    char const* const name = names[results_++];
    same_shape(name, view, first_name, like_);
    matrix(name, view);
  }
  // One result cannot take the place of another one.
  template <class T, class... Rest>
  void results_apart(kernels::matrix_view<T> const& view, Rest const&... rest) {
    (apart(view, rest), ...);
    if constexpr (sizeof...(Rest) > 0) results_apart(rest...);
  }
  template <fixed_string Name, class T>
  void input(named_argument<Name, kernels::matrix_view<T>> const& given) {
    same_shape(text_of<Name>, given.value, first_name, like_);
    matrix(text_of<Name>, given.value);
  }
  template <fixed_string Name, class T>
  void input(named_argument<Name, std::span<T>> const& given) {
    vector(text_of<Name>, given.value, "column of result", like_.columns);
  }
  template <fixed_string Name>
  void input(named_argument<Name, float> const&) {}

 private:
  static constexpr char const* first_name = "result";
  template <fixed_string Name>
  static constexpr char const* text_of = detail::name_text<Name>.data();

  template <class T, class U>
  void apart(kernels::matrix_view<T> const& a, kernels::matrix_view<U> const& b) {
    if (a.rows > 0 && kernels::same_elements(a, b)) fail(kernels::fault::overlap, "a result", "another one");
  }

  kernels::matrix_view<First> like_;
  std::size_t results_ = 0;
};

}  // namespace kernelgen

/// `kernel<expression>(results..., arguments..., how)`: computes the expression over rows, vectorised, on the best
/// instruction set of the machine. `Expression` is a constexpr object with static storage.
///
/// - results: a `matrix_view` for each root of the expression, one unless that is `roots(...)`. All have the same rows
///   and columns.
/// - arguments: `arg<"name">(value)` for each capture; a capture that is optional may be left out.
/// - how: threads, and when the result is read; see kernels/execution.hpp. May be left out.
///
/// Elements are float, bfloat16 or float16, of each tensor its own; arithmetic is float, what is one number for a row
/// is double, sums are added up as those of the kernels: a row's bits are a function of the row
/// (docs/kernels/numerics.md). A result and an argument are the same elements (address, stride, type) or share none. Of
/// alternatives (`either`) the first is computed. Allocates nothing. Unless the status is ok, nothing was read or
/// written. Complexity: one pass over the row for each nesting of reductions, and one more.
template <auto const& Expression>
struct kernel_of {
  template <class Targets = kernelgen::expression_targets, class... Arguments>
  kernels::status operator()(Arguments const&... arguments) const {
    constexpr std::size_t results = (std::size_t{0} + ... + kernelgen::argument_of<Arguments>::is_result);
    constexpr std::size_t inputs = (std::size_t{0} + ... + kernelgen::argument_of<Arguments>::is_input);
    (kernelgen::require_argument<Expression, Arguments, Arguments...>(), ...);
    using lowered = kernelgen::program_for<Expression, Arguments...>;
    kernelgen::require_program<lowered>();
    static_assert(sizeof...(Arguments) <= results + inputs + 1,
                  "fuse: a kernel takes results, arg<...>(...) for each capture, and on(...) last");
    if constexpr (lowered::get().error == detail::row_error::none) {
      static_assert(results == lowered::get().number_of_results,
                    "fuse: a kernel takes a matrix_view for each result of its expression");
      auto const all = std::tie(arguments...);
      auto how = kernelgen::how_of<results + inputs>(all);
      return run<Targets, lowered>(how, std::make_index_sequence<results>(), std::make_index_sequence<inputs>(), all);
    } else {
      return {};
    }
  }

 private:
  template <class Targets, class Program, std::size_t... R, std::size_t... I, class How, class All>
  static kernels::status run(How& how, std::index_sequence<R...>, std::index_sequence<I...>, All const& all) {
    auto const& first = std::get<0>(all);
    kernelgen::expression_check check(first);
    (check.result(std::get<R>(all)), ...);
    (check.input(std::get<sizeof...(R) + I>(all)), ...);
    check.results_apart(std::get<R>(all)...);
    kernels::status const found = check.finish_in_place();
    if (!found.ok()) return found;

    auto const inputs = kernelgen::sources<Expression>(std::make_index_sequence<kernelgen::inputs<Expression>.count>(),
                                                       std::get<sizeof...(R) + I>(all)...);
    auto const results = kernelgen::list_of(kernelgen::result_of(std::get<R>(all))...);
    using call_type = kernelgen::expression_call<Program, std::remove_const_t<decltype(inputs)>,
                                                 std::remove_const_t<decltype(results)>>;
    bool const in_place = (kernelgen::is_place_of(std::get<sizeof...(R) + I>(all), first) || ...);
    bool const streamed =
        sizeof...(R) == 1 && kernelgen::has_floats(first) &&
        kernels::detail::is_streamed(how.result, in_place, first.rows * first.columns * sizeof(float));
    call_type call{inputs, results, first.columns, streamed, how.way};
    std::size_t const row_bytes = (kernelgen::row_bytes(std::get<R>(all)) + ...) +
                                  (0 + ... + kernelgen::row_bytes(std::get<sizeof...(R) + I>(all)));
    kernels::dispatch_rows<Targets>(how, call, first.rows, row_bytes);
    return {};
  }
};

template <auto const& Expression>
inline constexpr kernel_of<Expression> kernel{};

}  // namespace fuse::inline v0
