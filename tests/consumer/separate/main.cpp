// SPDX-License-Identifier: BSL-1.0
#include "rule.hpp"

int main() {
  fuse::graph graph(17);
  auto v = graph.input("x", fuse::element_type::float32, {2, 3});
  for (int i = 0; i < 3; ++i) v = graph.add("Relu", {v});
  graph.output(v, "y");
  return rewrite_in_other_source(graph) == 2 && fuse::rewrite<once>(graph).applied() == 0 ? 0 : 1;
}
