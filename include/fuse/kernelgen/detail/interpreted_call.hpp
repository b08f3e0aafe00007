// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/row_access.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernelgen/row_schedule.hpp>

#include <cstddef>
#include <memory>

namespace fuse::inline v0::kernelgen {

/// Rows of a row program that is known at run time only, for those from `begin` to `end`.
struct interpreted_call {
  detail::row_program const* program;
  row_schedule const* schedule;
  row_access const* inputs;      // of the program's input i
  result_access const* results;  // of its result i
  std::size_t rows, columns, last_columns;
  bool streamed;  // the result, of floats, is written past the caches
  std::size_t begin = 0, end = 0;

  struct freed {
    void operator()(float* slots) const { ::operator delete(slots, std::align_val_t(64)); }
  };
  /// Memory for what the schedule keeps, of one thread.
  [[nodiscard]] std::unique_ptr<float, freed> slots() const {
    return std::unique_ptr<float, freed>(
        static_cast<float*>(::operator new(schedule->size() * sizeof(float) + 64, std::align_val_t(64))));
  }
};

}  // namespace fuse::inline v0::kernelgen
