// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>

#include <fuse/core/printable.hpp>

namespace core_printable {

using fuse::printable;

TEST_CASE("what a terminal would obey is shown") {
  CHECK(printable("a\nb\tc") == "a\\x0ab\\x09c");
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable(std::string("\0\x7f", 2)) == "\\x00\\x7f");
  CHECK(printable("\xc2\x9b"
                  "1m") == "\\xc2\\x9b1m");
}

TEST_CASE("other text stays as it is, and what is no text is shown byte by byte") {
  CHECK(printable("") == "");
  CHECK(printable("größe ✓ 𝛼") == "größe ✓ 𝛼");
  CHECK(printable("a\xff"
                  "b\xc3") ==
        "a\\xff"
        "b\\xc3");
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");
}

}  // namespace core_printable
