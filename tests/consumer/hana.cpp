// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/hana_struct.hpp>

struct norm {
  int axis = -1;
  float epsilon = 1e-5f;
};
BOOST_HANA_ADAPT_STRUCT(norm, axis, epsilon);

int main() {
  auto const axis = fuse::adapters::hana_struct::read(norm{}, "axis");
  return std::get<std::int64_t>(axis) == -1 ? 0 : 1;
}
