// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

inline constexpr auto x = var<"x">;
inline constexpr auto once = fuse::rule<"once">(relu(relu(x))).replace(relu(x));

int main() {
  fuse::graph graph(17);
  auto v = graph.input("x", fuse::element_type::float32, {2, 3});
  for (int i = 0; i < 3; ++i) v = graph.add("Relu", {v});
  graph.output(v, "y");
  return fuse::rewrite<once>(graph).applied() == 2 ? 0 : 1;
}
