// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace fuse::inline v0::kernels {

/// When the output of a kernel is read, as far as its caller knows. Only speed depends on it.
enum class output : std::uint8_t {
  automatic,     ///< written past the caches where it is too large for them and takes nobody's place
  read_soon,     ///< kept in the caches
  not_read_soon  ///< written past the caches, which keep what they have; not where it takes the place of an input
};

/// Which way a kernel goes through its rows; only speed depends on it. A kernel that does not have a way, or cannot go
/// it with these rows, goes the nearest one before it in this list that it can: a single row is always by itself.
enum class row_way : std::uint8_t {
  automatic,     ///< what is the fastest with the caches of this processor
  one_by_one,    ///< a row is read, then written, then the next
  one_ahead,     ///< the next row is read in the loop that writes one
  blocks,        ///< several rows are read, then written, some columns of each before the next columns
  twos,          ///< two rows are written in one loop
  twos_ahead,    ///< ..., which reads the next two
  widened,       ///< two rows of halves, which are kept as floats once they are read, are written in one loop
  widened_ahead  ///< ..., which reads the next two
};

/// All of them.
inline constexpr row_way row_ways[] = {row_way::automatic, row_way::one_by_one,   row_way::one_ahead,
                                       row_way::blocks,    row_way::twos,         row_way::twos_ahead,
                                       row_way::widened,   row_way::widened_ahead};

/// The executor that a kernel has unless it is given one: no threads.
struct calling_thread {
  template <class Body>
  constexpr void operator()(std::size_t count, std::size_t, Body const& body) const {
    body(std::size_t{0}, count);
  }
};

/// How a kernel is executed, the last argument of each: `on(pool)`, `on(pool, output::read_soon)`.
///
/// `executor(count, grain, body)` calls `body(begin, end)` for ranges that together are 0 to `count`, each number in
/// one of them, from any threads, and returns when all calls have; no range needs to be shorter than `grain`, and one
/// may be empty. A kernel calls it at most once, and not at all where its work is too small for two threads. What it
/// throws, the kernel does. An executor that has a name is referred to, any other one is kept.
template <class Executor = calling_thread>
struct on {
  Executor executor{};
  output result = output::automatic;
  row_way way = row_way::automatic;  ///< for tests and measurements

  constexpr on() = default;
  constexpr explicit on(Executor&& executor_, output result_ = output::automatic)
      : executor(std::forward<Executor>(executor_)), result(result_) {}
  constexpr explicit on(output result_) : result(result_) {}
};

template <class Executor>
on(Executor&&) -> on<Executor>;
template <class Executor>
on(Executor&&, output) -> on<Executor>;
on(output)->on<calling_thread>;

}  // namespace fuse::inline v0::kernels
