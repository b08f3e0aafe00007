// SPDX-License-Identifier: BSL-1.0

// A row's bits are a function of the row: for each kernel, element type and target of one build, whatever else is in
// the call. `kernels_bits [FILE [quick]]` compares checksums with those of FILE, which hold for each target with fused
// multiply-add, of every machine and compiler; without FILE it prints them.
#include "cases.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

namespace {
using namespace bits;

constexpr std::size_t widths[] = {1, 5, 8, 31, 32, 33, 100, 384, 771, 1024, 1040, 2080, 4099, 8200};
// What is left of it where nothing is optimised.
constexpr std::size_t few_widths[] = {33, 1040};

class comparison {
 public:
  comparison(kernel_case const& kernel, std::size_t columns) : kernel_(kernel), columns_(columns) {
    for (std::size_t r = 0; r < row_count; ++r) alone_.push_back(kernel.run({columns, r, 1, {}}).front());
  }

  /// Rows from `first` on are the same in this arrangement.
  void expect_same(std::size_t first, std::size_t count, arrangement const& how) {
    results const together = kernel_.run({columns_, first, count, how});
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t i = 0; i < alone_[first + r].size(); ++i) differences_ += together[r][i] != alone_[first + r][i];
    }
    if (differences_ == 0 || is_told_) return;
    is_told_ = true;
    std::cout << target_name() << ": " << kernel_.name << ", " << columns_ << " columns, rows " << first << " to "
              << first + count - 1 << " differ from those alone: argument " << how.argument << ' ' << how.elements
              << " elements past a line, rows " << how.apart << " apart, in place " << how.in_place << ", "
              << how.ranges << " ranges, output " << static_cast<int>(how.result) << ", way "
              << static_cast<int>(how.way) << '\n';
  }

  /// FNV-1a.
  std::uint64_t checksum() const {
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (auto const& row : alone_) {
      for (std::uint32_t const bits : row) {
        for (int shift = 0; shift < 32; shift += 8) sum = (sum ^ (bits >> shift & 0xffu)) * 0x100000001b3u;
      }
    }
    return sum;
  }
  std::size_t differences() const { return differences_; }

 private:
  kernel_case const& kernel_;
  std::size_t columns_;
  results alone_;
  std::size_t differences_ = 0;
  bool is_told_ = false;
};

void compare(comparison& rows, kernel_case const& kernel, std::size_t columns, std::size_t pace) {
  bool const is_long = columns > 1100;
  for (std::size_t count = 1; count <= 33; count += is_long ? 7 : pace) rows.expect_same(count % 7, count, {});
  // As many places as there are in a line, of every argument and of all at once.
  std::size_t const step = is_long ? 5 * pace : pace;
  for (std::size_t elements = 1; elements < 32; elements += step) {
    for (std::size_t argument = 0; argument < kernel.arguments; ++argument) {
      rows.expect_same(3, 3, {.argument = argument, .elements = elements});
    }
    rows.expect_same(elements % 16, 5, {.elements = elements});
    rows.expect_same(2, 4, {.elements = elements, .apart = elements % 4});
    rows.expect_same(0, 6, {.elements = elements, .apart = elements % 3, .result = output::not_read_soon});
  }
  for (std::size_t apart = 1; apart <= 32; apart += step) {
    rows.expect_same(1, 4, {.apart = apart});
    rows.expect_same(0, 5, {.elements = apart % 5, .apart = 64 - columns % 32, .in_place = true});
  }
  rows.expect_same(0, 33, {.in_place = true});
  rows.expect_same(0, 33, {.result = output::not_read_soon});
  rows.expect_same(0, 33, {.result = output::read_soon});
  for (std::size_t number = 2; number <= 5; ++number) {
    rows.expect_same(0, 33, {.elements = number, .ranges = number});
    rows.expect_same(4, 9, {.result = output::not_read_soon, .ranges = number});
  }
  for (row_way const way : row_ways) {
    rows.expect_same(0, 33, {.way = way});
    rows.expect_same(0, 33, {.in_place = true, .way = way});
    rows.expect_same(2, 3, {.elements = 7, .way = way});
    rows.expect_same(1, 10, {.elements = 3, .apart = 5, .ranges = 2, .way = way});
    rows.expect_same(0, 11, {.argument = 1, .elements = 9, .result = output::not_read_soon, .way = way});
  }
}

bool has_multiply_add(std::string_view target) {
  return target != "SCALAR" && target != "EMU128" && !target.starts_with("SSE") && target != "SSSE3";
}

// Lines of a checksum and what it is of.
std::map<std::string, std::string> read_table(std::istream& from) {
  std::map<std::string, std::string> table;
  for (std::string line; std::getline(from, line);)
    table[line.substr(line.find(' ') + 1)] = line.substr(0, line.find(' '));
  return table;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> expected;
  if (count > 1) {
    std::ifstream file(words[1]);
    expected = read_table(file);
    if (expected.empty()) {
      std::cerr << "kernels_bits: cannot read " << words[1] << '\n';
      return 1;
    }
  }
  bool const is_quick = count > 2 && std::string_view(words[2]) == "quick";
  std::span const columns_of =
      is_quick ? std::span<std::size_t const>(few_widths) : std::span<std::size_t const>(widths);
  std::size_t failed = 0;
  for (auto const target : target_names()) {
    use_target(target);
    bool const is_promised = has_multiply_add(target);
    for (kernel_case const& kernel : cases) {
      for (std::size_t const columns : columns_of) {
        comparison rows(kernel, columns);
        compare(rows, kernel, columns, is_quick ? 9 : 1);
        failed += rows.differences() > 0;
        if (!is_promised) continue;
        char checksum[17];
        std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(rows.checksum()));
        std::string const what = std::to_string(columns) + ' ' + kernel.name;
        if (count == 1) std::cout << checksum << ' ' << what << '\n';
        if (count == 1 || expected[what] == checksum) continue;
        ++failed;
        std::cout << target << ": " << what << " has checksum " << checksum << ", the table " << expected[what] << '\n';
      }
    }
    std::cerr << target << (is_promised ? "" : ", which has no fused multiply-add") << '\n';
    if (count == 1 && is_promised) break;
  }
  return failed == 0 ? 0 : 1;
}
