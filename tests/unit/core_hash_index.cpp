// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <cstdint>

#include <fuse/core/hash_index.hpp>

namespace core_hash_index {

TEST_CASE("numbers are found by their hash, whatever else has it") {
  fuse::detail::hash_index<std::uint32_t> index;
  auto const find = [&](std::uint32_t wanted, std::size_t hash) {
    return index.find(hash, [&](std::uint32_t number) { return number == wanted; });
  };
  CHECK(find(0, 0) == index.none);
  for (std::uint32_t i = 0; i < 1000; ++i) index.add(i % 7, i);  // many of one hash
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK(find(i, i % 7) == i);
  CHECK(find(3, 4) == index.none);
  CHECK(find(1000, 1000 % 7) == index.none);
}

}  // namespace core_hash_index
