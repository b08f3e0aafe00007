// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/cpu.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/execution.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

// Handing work to a thread costs what a core needs for about this much: from twice of it on, two are faster.
inline constexpr std::size_t bytes_per_thread = std::size_t{96} << 10;

// Results of this size are out of the caches before anybody reads them, and smaller ones where the third cache is small
// or shared: norms that read what the one before wrote took 1.3 times as long with results of 9 MB in a cache of 32,
// and twice with 12, as when these went past it.
inline constexpr std::size_t surely_cached_bytes = std::size_t{4} << 20, never_cached_bytes = std::size_t{16} << 20;

inline bool fits_caches(std::size_t bytes) {
#if defined(__x86_64__) || defined(__i386__)
  static std::size_t const third = cache_bytes(3);
  return third == 0 || bytes < third / 4;
#else
  return true;
#endif
}

/// Whether `bytes` of output are written past the caches. In place they are not: their lines are there already.
inline bool is_streamed(output result, bool in_place, std::size_t bytes) {
  if (in_place || result == output::read_soon) return false;
  return result == output::not_read_soon || bytes >= never_cached_bytes ||
         (bytes >= surely_cached_bytes && !fits_caches(bytes));
}

/// Runs all rows of a call, whose `begin` and `end` are set here, on the best target; `row_bytes` are what it reads and
/// writes for a row. On this thread it is not copied: a processor that reads what was just written, but in other
/// pieces, waits for it to reach the cache.
template <class Dispatcher, class Executor, class Call>
void run_all_rows(on<Executor>& how, Call& call, std::size_t rows, std::size_t row_bytes) {
  auto const body = [&call](std::size_t begin, std::size_t end) {
    if (begin == end) return;  // an executor with more threads than ranges; kernels read a first row
    Call part = call;
    part.begin = begin;
    part.end = end;
    Dispatcher::run(part);
  };
  static_assert(std::invocable<Executor&, std::size_t, std::size_t, decltype(body) const&>,
                "an executor is called with a count, a grain and a body, see fuse/kernels/execution.hpp");
  std::size_t const grain = row_bytes > 0 && row_bytes < bytes_per_thread ? bytes_per_thread / row_bytes : 1;
  if (std::is_same_v<Executor, calling_thread> || rows / 2 < grain) {
    if (rows == 0) return;
    call.begin = 0;
    call.end = rows;
    Dispatcher::run(call);
  } else {
    how.executor(rows, grain, body);
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
