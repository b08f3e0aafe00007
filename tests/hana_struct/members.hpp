// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/adapters/hana_struct.hpp>
#include <fuse/graph/tensor.hpp>

/// Structs with a member of each type that an attribute may have.
namespace members {

namespace structs = fuse::adapters::hana_struct;

enum class mode : std::uint8_t { near, far = 7 };
struct foreign {};

struct scalars {
  int small = -3;
  std::int64_t large = std::int64_t{1} << 40;
  std::uint64_t huge = 5;
  std::uint8_t byte = 200;
  bool flag = true;
  float single = 0.5f;
  double twice = 0.25;
  mode chosen = mode::far;
};
struct others {
  std::string text = "same";
  std::vector<int> ints{1, -2};
  std::vector<std::int64_t> longs{3, 4, 5};
  std::array<short, 2> pair{6, 7};
  std::list<unsigned> apart{8};
  std::vector<bool> flags{true, false};
  std::vector<float> floats{1.5f};
  std::vector<double> doubles{2.5, 3.5};
  fuse::tensor contents = fuse::make_tensor<float>({1}, std::vector{9.0f});
  foreign unknown{};
};
struct optionals {
  std::optional<int> number{};
  std::optional<std::vector<int>> axes{};
  std::optional<std::string> text = "there";
};
struct empty {};

// Boost's other macro makes the members themselves.
struct defined {
  BOOST_HANA_DEFINE_STRUCT(defined, (int, axis), (double, epsilon));
};

using any = std::variant<std::monostate, scalars, others, optionals, empty, defined>;

}  // namespace members

BOOST_HANA_ADAPT_STRUCT(members::scalars, small, large, huge, byte, flag, single, twice, chosen);
BOOST_HANA_ADAPT_STRUCT(members::others, text, ints, longs, pair, apart, flags, floats, doubles, contents, unknown);
BOOST_HANA_ADAPT_STRUCT(members::optionals, number, axes, text);
BOOST_HANA_ADAPT_STRUCT(members::empty);

namespace members {

inline constexpr fuse::operator_row rows[] = {
    structs::with<scalars>({"scalars"}), structs::with<others>({"others"}),   structs::with<optionals>({"optionals"}),
    structs::with<empty>({"empty"}),     structs::with<defined>({"defined"}), {"bare"},
};
inline constexpr auto dialect = structs::make_dialect("members", rows);

}  // namespace members
