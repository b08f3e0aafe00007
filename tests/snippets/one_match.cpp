// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <iostream>
#include <iterator>

#include <fuse/fuse.hpp>

using namespace fuse::dsl;

// <code>

void page() {
  // <code>
}

void print() {
  // <code>
}

// The page lists these instructions.
using fuse::detail::step;
constexpr step listed[] = {step::within, step::within,    step::group,     step::member,    step::within,
                           step::within, step::group,     step::member,    step::reduction, step::within,
                           step::group,  step::member,    step::capture,   step::close,     step::scalar_member,
                           step::close,  step::member,    step::capture,   step::member,    step::capture,
                           step::close,  step::condition, step::condition, step::accept};
constexpr bool as_listed() {
  auto const& code = fuse::program_of<my_norm>.code;
  if (code.size() != std::size(listed)) return false;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i].code != listed[i]) return false;
  return true;
}
static_assert(as_listed(), "docs/one_match.md lists another program: print it anew");
