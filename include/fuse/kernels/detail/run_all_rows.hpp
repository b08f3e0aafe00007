// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/detail/plan.hpp>
#include <fuse/kernels/execution.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

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
