// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>
#ifdef WITH_kernels
#include <fuse/kernels/layer_norm.hpp>
#endif
#ifdef WITH_onnx
#include <fuse/adapters/onnx.hpp>
#endif
#ifdef WITH_boost_graph
#include <fuse/adapters/boost_graph.hpp>
#endif
#ifdef WITH_hana
#include <fuse/adapters/hana_struct.hpp>
#endif

using namespace fuse::dsl;

inline constexpr auto x = var<"x">;
inline constexpr auto once = fuse::rule<"once">(relu(relu(x))).replace(relu(x));

int main() {
  fuse::graph graph;
  auto const in = graph.input("x", fuse::element_type::float32, {2, 3});
  graph.output(graph.add("Relu", {graph.add("Relu", {in})}), "y");
  bool fine = true;
#ifdef WITH_onnx
  fine = onnx::ModelProto().ByteSizeLong() == 0;
#endif
#ifdef WITH_kernels
  float row[] = {1, 3};
  fuse::kernels::matrix_view const view(row, 1, 2);
  auto const done = fuse::kernels::layer_norm(view, fuse::kernels::none, fuse::kernels::none, view, 0);
  fine = fine && done.ok() && row[1] == 1;
#endif
  return fine && fuse::rewrite<once>(graph).applied() == 1 ? 0 : 1;
}
