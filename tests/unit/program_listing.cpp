// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/program/listing.hpp>

namespace program_listing {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto first = fuse::rule<"first">(relu(tanh(matmul(x, w)))).where(rank<"x">(2)).replace(matmul(x, w));
constexpr auto second = fuse::rule<"second">(relu(tanh(exactly<"Add">(x, w)))).replace(x * w);
constexpr auto both = fuse::rule_set<first, second>;

std::string listing(int only = -1) {
  static constexpr fuse::dialect names = fuse::onnx;
  return fuse::to_text(fuse::program_of<both>, names, only);
}

}  // namespace

TEST_CASE("a listing has a line for each instruction, in words") {
  auto const text = listing();
  for (auto words : {"relu", "tanh", "matmul", "exactly Add", "the rank", "first", "second"}) {
    INFO(text << "\nwithout " << words);
    CHECK(text.find(words) != std::string::npos);
  }
}

TEST_CASE("the listing of one rule leaves the others out") {
  auto const text = listing(0);
  INFO(text);
  CHECK(text.find("matmul") != std::string::npos);
  CHECK(text.find("exactly Add") == std::string::npos);
}

TEST_CASE("every instruction has a name") {
  for (int code = 0; code <= static_cast<int>(fuse::detail::step::accept); ++code)
    CHECK_FALSE(fuse::detail::name_of(static_cast<fuse::detail::step>(code)).empty());
}

}  // namespace program_listing
