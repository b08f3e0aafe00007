// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace fuse::inline v0::kernels {

/// What was wrong with an argument.
enum class fault : std::uint8_t {
  nothing,
  no_data,
  rows,
  columns,
  no_columns,
  size,
  row_stride,
  too_large,
  overlap,
  epsilon,
  scale,
  no_scalar,
  one_row,
  missing,
  tokens,
  too_few_rows,
  id,
  too_many
};

/// The outcome of a kernel. It is known before memory of a tensor is touched: unless it is ok, nothing was read or
/// written. (Ids that say which rows of a table are read are looked at first.)
class [[nodiscard]] status {
 public:
  [[gnu::always_inline]] constexpr status() {}
  constexpr status(fault what, char const* kernel, char const* argument, char const* other, double found,
                   double expected)
      : kernel_(kernel), argument_(argument), other_(other), found_(found), expected_(expected), fault_(what) {}

  [[nodiscard]] constexpr bool ok() const { return fault_ == fault::nothing; }
  [[nodiscard]] constexpr explicit operator bool() const { return ok(); }
  [[nodiscard]] constexpr fault what() const { return fault_; }

  /// One sentence that names the argument, what was expected and what came; empty when ok.
  [[nodiscard, gnu::always_inline]] std::string message() const {
    char text[200] = "";
    switch (fault_) {
      case fault::nothing: break;
      case fault::no_data:
        print(text, "%s: %s has no data, expected %.0f elements", kernel_, argument_, expected_);
        break;
      case fault::rows:
        print(text, "%s: %s has %.0f rows, expected %.0f as %s has", kernel_, argument_, found_, expected_, other_);
        break;
      case fault::columns:
        print(text, "%s: %s has %.0f columns, expected %.0f as %s has", kernel_, argument_, found_, expected_, other_);
        break;
      case fault::no_columns: print(text, "%s: %s has 0 columns, expected at least 1", kernel_, argument_); break;
      case fault::size:
        print(text, "%s: %s has %.0f elements, expected %.0f, one for each %s", kernel_, argument_, found_, expected_,
              other_);
        break;
      case fault::row_stride:
        print(text, "%s: %s has a row stride of %.0f, expected at least %.0f, its columns", kernel_, argument_, found_,
              expected_);
        break;
      case fault::too_large:
        print(text, "%s: %s has %.0f rows of stride %.0f, expected what memory can hold", kernel_, argument_, found_,
              expected_);
        break;
      case fault::overlap:
        print(text, "%s: %s overlaps %s, expected %s", kernel_, argument_, other_,
              expected_ != 0 ? "the same elements or no common one" : "no common memory");
        break;
      case fault::epsilon:
        print(text, "%s: %s is %g, expected a finite number of at least 0", kernel_, argument_, found_);
        break;
      case fault::scale:
        print(text, "%s: %s is %g, expected a finite number above 0", kernel_, argument_, found_);
        break;
      case fault::no_scalar: print(text, "%s: %s has %.0f elements, expected 1", kernel_, argument_, found_); break;
      case fault::one_row: print(text, "%s: %s has %.0f rows, expected 1", kernel_, argument_, found_); break;
      case fault::missing: print(text, "%s: %s is missing, expected beside %s", kernel_, argument_, other_); break;
      case fault::tokens:
        print(text, "%s: %s has %.0f rows, expected %.0f, one for each of %s", kernel_, argument_, found_, expected_,
              other_);
        break;
      case fault::too_few_rows:
        print(text, "%s: %s has %.0f rows, expected at least %.0f, the columns of %s", kernel_, argument_, found_,
              expected_, other_);
        break;
      case fault::id:
        print(text, "%s: %s contains %.0f, expected a row of %s, of which there are %.0f", kernel_, argument_, found_,
              other_, expected_);
        break;
      case fault::too_many:
        print(text, "%s: %s is argument %.0f, expected at most %.0f", kernel_, argument_, found_, expected_);
        break;
    }
    return text;
  }

 private:
  template <class... Values>
  [[gnu::always_inline]] static void print(char (&text)[200], char const* format, Values... values) {
    std::snprintf(text, sizeof text, format, values...);
  }

  char const* kernel_ = "";
  char const* argument_ = "";
  char const* other_ = "";
  double found_ = 0;
  double expected_ = 0;
  fault fault_ = fault::nothing;
};

}  // namespace fuse::inline v0::kernels
