// SPDX-License-Identifier: BSL-1.0
// fuse-evaluate MODEL...: evaluates each model, whose inputs are all constants, and rounds each result to its element
// type. Of each model, of each output, a line "TYPE EXTENT..." and then the elements, row-major, as many bytes as that
// tells; or a line "unknown REASON".
#include <cstdio>
#include <string>

#include <fuse/adapters/onnx.hpp>
#include <fuse/eval/graph.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace {

void tell(fuse::dense const& x) {
  std::string line(name_of(x.type));
  for (auto extent : x.shape) line += " " + std::to_string(extent);
  std::puts(line.c_str());
  if (x.whole()) {
    for (auto v : x.integers) std::fwrite(&v, 1, size_of(x.type), stdout);  // the low bytes come first
    return;
  }
  auto const made = fuse::make_tensor(x.type, x.shape, x.elements);
  std::fwrite(made.bytes.data(), 1, made.bytes.size(), stdout);
}

void tell(char const* model) {
  using fuse::adapters::onnx_graph;
  fuse::adapters::onnx_file file;
  if (!file.read(model)) {
    std::printf("0 %s\n", file.error().c_str());
    return;
  }
  onnx_graph const graph(file.model(), file.folder());
  if (!graph) {
    std::printf("0 %s\n", graph.error().c_str());
    return;
  }
  auto const& names = fuse::dialect_of<onnx_graph>;
  fuse::graph_binding<onnx_graph const> const bound(graph, fuse::names_in(names), names.newest);
  if (bound.cyclic()) {
    std::puts("0 the graph is cyclic");
    return;
  }
  fuse::detail::facts known(bound.image, names);
  known.run();
  fuse::detail::graph_evaluation evaluated(bound.image, known, names, true);
  evaluated.run();
  auto const& outputs = fuse::graph_traits<onnx_graph>::outputs(graph);
  std::printf("%d\n", static_cast<int>(outputs.size()));
  for (auto const& output : outputs) {
    auto const* made = evaluated.value(bound.number(output));
    if (made == nullptr)
      std::printf("unknown %s\n", evaluated.reason.c_str());
    else
      tell(*made);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: fuse-evaluate MODEL...\n", stderr);
    return 2;
  }
  for (int i = 1; i < count; ++i) tell(arguments[i]);
}
