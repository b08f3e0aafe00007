// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

/// A test that tries many cases tries all of them where it is optimised, and elsewhere one in so many: under sanitizers
/// a case takes many times as long, and a few show what sanitizers see.
#ifdef NDEBUG
inline constexpr std::size_t one_case_in = 1;
#else
inline constexpr std::size_t one_case_in = 8;
#endif
