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
