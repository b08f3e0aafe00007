// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/detail/interpreted_call.hpp>
#include <fuse/kernelgen/detail/passes.hpp>
#include <fuse/kernelgen/row_access.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernelgen/row_schedule.hpp>
#include <fuse/kernelgen/step_writer.hpp>
#include <fuse/kernels/detail/plan.hpp>
#include <fuse/kernels/own_kernel.hpp>

#include <cstddef>
#include <span>

#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernelgen/detail/interpreted_rows-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>

namespace fuse::inline v0::kernelgen {
inline namespace FUSE_REWRITE_ISA {

using interpreted_targets = FUSE_REWRITE_KERNELS_TARGETS(interpreted_rows);

}  // namespace FUSE_REWRITE_ISA

/// How many rows there are, and their columns; the last row may have fewer.
struct row_extents {
  std::size_t rows, columns, last_columns;
};

/// Computes a row program that is known at run time only: the bits of `kernel<expression>`, whose program it is.
/// `inputs` are those of the program, `results` lie in rows whose elements are one after the other, or are one number
/// for each row; none shares memory with anything else. `schedule` is of the program and these inputs. Allocates what
/// the schedule keeps, for each range of rows that `how` makes.
template <class Executor>
void run_rows(detail::row_program const& program, row_schedule const& schedule, std::span<row_access const> inputs,
              std::span<result_access const> results, row_extents of, kernels::on<Executor>& how) {
  std::size_t row_bytes = 0;
  for (auto const& each : inputs) row_bytes += each.columns.count == 0 ? 0 : of.columns * size_of(each.element);
  for (auto const& each : results) row_bytes += of.columns * size_of(each.element);
  bool const streamed = results.size() == 1 && results[0].element == row_element::float32 &&
                        kernels::detail::is_streamed(how.result, false, of.rows * of.columns * sizeof(float));
  interpreted_call const call{&program, &schedule,  inputs.data(),   results.data(),
                              of.rows,  of.columns, of.last_columns, streamed};
  kernels::dispatch_rows<interpreted_targets>(how, call, of.rows, row_bytes);
}

}  // namespace fuse::inline v0::kernelgen
