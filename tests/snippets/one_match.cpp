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
constexpr fuse::step listed[] = {
    fuse::step::within, fuse::step::within,    fuse::step::group,     fuse::step::member,    fuse::step::within,
    fuse::step::within, fuse::step::group,     fuse::step::member,    fuse::step::reduction, fuse::step::within,
    fuse::step::group,  fuse::step::member,    fuse::step::capture,   fuse::step::close,     fuse::step::scalar_member,
    fuse::step::close,  fuse::step::member,    fuse::step::capture,   fuse::step::member,    fuse::step::capture,
    fuse::step::close,  fuse::step::condition, fuse::step::condition, fuse::step::accept};
constexpr bool as_listed() {
  auto const& code = fuse::program_of<my_norm>.code;
  if (code.size() != std::size(listed)) return false;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i].code != listed[i]) return false;
  return true;
}
static_assert(as_listed(), "docs/one_match.md lists another program: print it anew");
