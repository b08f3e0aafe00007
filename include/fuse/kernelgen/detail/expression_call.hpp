// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernels/element.hpp>
#include <fuse/kernels/execution.hpp>

#include <cstddef>

namespace fuse::inline v0::kernelgen {

/// Where an input of a call comes from.
template <class T>
struct each_row {
  T const* data;
  std::size_t stride;
};
template <class T>
struct shared_row {
  T const* data;
};
struct one_number {
  float value;
};
struct no_input {};

/// Where a result goes.
template <class T>
struct result_rows {
  T* data;
  std::size_t stride;
};

/// Several of these. (No std::tuple: code of the compiler's own target would read it.)
template <class... T>
struct list {};
template <class First, class... Rest>
struct list<First, Rest...> {
  First first;
  [[no_unique_address]] list<Rest...> rest;
};

template <std::size_t I, class... T>
[[gnu::always_inline]] constexpr auto const& get(list<T...> const& of) {
  if constexpr (I == 0) {
    return of.first;
  } else {
    return get<I - 1>(of.rest);
  }
}

template <class First, class... Rest>
[[gnu::always_inline]] constexpr list<First, Rest...> joined(First const& first, list<Rest...> const& rest) {
  return {first, rest};
}

/// A call whose arguments are checked, for the rows from `begin` to `end`. `Program::get()` is a row_program.
template <class Program, class Inputs, class Results>
struct expression_call {
  using program = Program;

  Inputs inputs;
  Results results;
  std::size_t columns;
  bool streamed;  // written past the caches
  kernels::row_way way;
  std::size_t begin = 0, end = 0;
};

}  // namespace fuse::inline v0::kernelgen
