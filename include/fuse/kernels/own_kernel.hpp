// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What a kernel of one's own needs beside its `-inl.hpp`, which <fuse/kernels/foreach_target.hpp> compiles for each
/// target. docs/kernels/own_kernel.md
#include <fuse/kernels/detail/arguments.hpp>
#include <fuse/kernels/detail/run_all_rows.hpp>
#include <fuse/kernels/detail/selection.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>

namespace fuse::inline v0::kernels {

using detail::argument_check;
using detail::same_elements;

/// Runs `run(call)` of the class for the target in use. `Targets` is FUSE_REWRITE_KERNELS_TARGETS(name of the class),
/// named in the namespace around the targets'.
template <class Targets, class Call>
void dispatch(Call const& call) {
  detail::dispatcher<Targets>::run(call);
}

/// Runs it for rows from `call.begin` to `call.end`, which are set here, as often as the executor divides `rows`; a row
/// is worth a thread's while by the `row_bytes` that it reads and writes.
template <class Targets, class Executor, class Call>
void dispatch_rows(on<Executor>& how, Call call, std::size_t rows, std::size_t row_bytes) {
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, rows, row_bytes);
}

}  // namespace fuse::inline v0::kernels
