// SPDX-License-Identifier: BSL-1.0
#include "read_then_write.hpp"

#include <fuse/kernels/detail/caches.hpp>

#include "copy.hpp"

#include <cstdint>
#include <cstring>

namespace bench {
namespace {

using line = std::uint32_t __attribute__((vector_size(64)));
constexpr std::size_t at_once = 4;

line load(char const* from) {
  line read;
  std::memcpy(&read, from, sizeof read);
  return read;
}

void store(line v, char* to) {
  std::memcpy(to, &v, sizeof v);
  asm volatile("" : : : "memory");  // else the compiler calls memcpy for a row
}

// Reads one row, and copies another in the same loop where there is one.
void read(char const* row, char const* copied, char* to, std::size_t bytes) {
  line sums[at_once] = {};
  for (std::size_t i = 0; i < bytes; i += sizeof sums) {
    for (std::size_t k = 0; k < at_once && i + k * sizeof(line) < bytes; ++k) {
      std::size_t const at = i + k * sizeof(line);
      sums[k] |= load(row + at);
      if (copied != nullptr) store(load(copied + at), to + at);
    }
  }
  line const all = sums[0] | sums[1] | sums[2] | sums[3];
  asm volatile("" : : "m"(all));
}

}  // namespace

void read_then_write(void const* x, void* y, std::size_t rows, std::size_t row_bytes, bool past_caches) {
  auto const* from = static_cast<char const*>(x);
  auto* to = static_cast<char*>(y);
  bool const ahead = !past_caches && 3 * row_bytes <= fuse::kernels::detail::this_processor().first;
  if (ahead) read(from, nullptr, nullptr, row_bytes);
  for (std::size_t r = 0; r < rows; ++r, from += row_bytes, to += row_bytes) {
    if (!ahead) read(from, nullptr, nullptr, row_bytes);
    if (past_caches) {
      stream(to, from, row_bytes);
    } else if (ahead && r + 1 < rows) {
      read(from + row_bytes, from, to, row_bytes);
    } else {
      for (std::size_t i = 0; i < row_bytes; i += sizeof(line)) store(load(from + i), to + i);
    }
  }
  finish_streams();
}

void read_and_write(void const* x, void const* up, void* y, std::size_t bytes, bool past_caches) {
  auto const* const from = static_cast<char const*>(x);
  auto const* const factor = static_cast<char const*>(up);
  auto* const to = static_cast<char*>(y);
  for (std::size_t i = 0; i < bytes; i += sizeof(line)) {
    line v = load(from + i);
    if (factor != nullptr) v |= load(factor + i);
    if (past_caches) {
      stream(to + i, &v, sizeof v);
    } else {
      store(v, to + i);
    }
  }
  finish_streams();
}

}  // namespace bench
