// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

#include <string>

int main() {
  fuse::graph graph(17);
  graph.output(graph.add("Relu", {graph.input("x", fuse::element_type::float32, {2, 3})}), "y");
  return fuse::to_text(graph).find("Relu") != std::string::npos ? 0 : 1;
}
