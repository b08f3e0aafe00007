// SPDX-License-Identifier: BSL-1.0
#include "read_then_write.hpp"

#include "copy.hpp"

#include <cstdint>

namespace bench {
namespace {

typedef std::uint32_t line_of_words __attribute__((vector_size(64), aligned(16), may_alias));
constexpr std::size_t at_once = 4;

}  // namespace

void read_then_write(void const* x, void* y, std::size_t rows, std::size_t row_bytes, bool past_caches) {
  std::size_t const lines = row_bytes / sizeof(line_of_words), even = lines / at_once * at_once;
  auto const* from = static_cast<line_of_words const*>(x);
  auto* to = static_cast<line_of_words*>(y);
  for (std::size_t r = 0; r < rows; ++r, from += lines, to += lines) {
    line_of_words a{}, b{}, c{}, d{};
    for (std::size_t i = 0; i < even; i += at_once) {
      a |= from[i];
      b |= from[i + 1];
      c |= from[i + 2];
      d |= from[i + 3];
    }
    for (std::size_t i = even; i < lines; ++i) a |= from[i];
    a |= b | c | d;
    asm volatile("" : : "m"(a));
    if (past_caches) {
      stream(to, from, row_bytes);
      continue;
    }
    // Nothing that the compiler could call memcpy for.
    for (std::size_t i = 0; i < lines; ++i) {
      to[i] = from[i];
      asm volatile("" : : : "memory");
    }
  }
  finish_streams();
}

}  // namespace bench
