// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/weight.hpp>
#include <fuse/kernels/element.hpp>

#include <cstdint>
#include <type_traits>

namespace fuse::inline v0::kernels::detail {

template <class... Types>
struct type_list {};

template <class... A, class... B>
constexpr type_list<A..., B...> operator+(type_list<A...>, type_list<B...>) {
  return {};
}

/// What a template argument of a call may be, where matrices have elements `E` and weights elements `W`.
struct any_element {
  template <class E, class W>
  using choices = type_list<E>;
};
struct any_byte {
  template <class E, class W>
  using choices = type_list<std::int8_t, std::uint8_t>;
};
template <class T>
struct always {
  template <class E, class W>
  using choices = type_list<T>;
};
/// A weight or none; a scale may also be 1 plus what is stored.
struct any_weight {
  template <class E, class W>
  using choices = type_list<optional_weight<W>>;
};
struct any_scale {
  template <class E, class W>
  using choices = type_list<optional_weight<W>, one_plus_weight<W>>;
};
/// ... of rows that are read.
struct read_weight {
  template <class E, class W>
  using choices =
      std::conditional_t<std::is_same_v<E, float>, type_list<no_weight, weight<W>>, any_weight::choices<E, W>>;
};
struct read_scale {
  template <class E, class W>
  using choices = std::conditional_t<std::is_same_v<E, float>, type_list<no_weight, weight<W>, one_plus_weight<W>>,
                                     any_scale::choices<E, W>>;
};

/// All calls with the `Chosen` arguments and one of each further list.
template <template <class...> class Call, class... Chosen>
constexpr auto all_calls(type_list<Chosen...>) {
  return type_list<Call<Chosen...>>();
}
template <template <class...> class Call, class... Chosen, class... Choices, class... Rest>
constexpr auto all_calls(type_list<Chosen...>, type_list<Choices...>, Rest... rest) {
  return (all_calls<Call>(type_list<Chosen..., Choices>(), rest...) + ...);
}
template <template <class...> class Call, class E, class W, class... Arguments>
constexpr auto calls_with() {
  return all_calls<Call>(type_list<>(), typename Arguments::template choices<E, W>()...);
}

/// The calls of a kernel that <fuse/kernels/separate.hpp> compiles: its matrices have one element type, its weights
/// have that one or float. Which weights it has is up to the kernel: each choice is compiled for each target. Their
/// list is made where it is asked for: who compiles what is called pays for none.
template <template <class...> class Call, class... Arguments>
struct calls_of {
  static constexpr auto list() {
    return calls_with<Call, float, float, Arguments...>() +        //
           calls_with<Call, bfloat16, bfloat16, Arguments...>() +  //
           calls_with<Call, bfloat16, float, Arguments...>() +     //
           calls_with<Call, float16, float16, Arguments...>() +    //
           calls_with<Call, float16, float, Arguments...>();
  }
};
template <class... Calls>
struct all_of {
  static constexpr auto list() { return (Calls::list() + ...); }
};

template <class Type, class... Types>
constexpr bool is_among(type_list<Types...>) {
  return (std::is_same_v<Type, Types> || ...);
}

}  // namespace fuse::inline v0::kernels::detail
