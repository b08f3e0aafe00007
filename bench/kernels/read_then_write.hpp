// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace bench {

/// What a norm cannot do without: reads each row, and reads it again while the row at `y` is written, past the caches
/// where that is wanted; the next row in the loop that writes one where all three fit into the first cache. Rows of
/// `row_bytes`, a multiple of 64.
void read_then_write(void const* x, void* y, std::size_t rows, std::size_t row_bytes, bool past_caches);

/// The same of what needs no row as a whole: reads `bytes` at `x`, and as many at `up` where there are any, while those
/// at `y` are written.
void read_and_write(void const* x, void const* up, void* y, std::size_t bytes, bool past_caches);

}  // namespace bench
