// SPDX-License-Identifier: BSL-1.0
// Damaged models go through reading, shapes, matching, rewriting and writing. Sanitizers watch; here stands what must
// hold besides.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <fuse/adapters/onnx.hpp>
#include <fuse/rewrite/rewrite.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/onnx_functions.hpp>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "catch.hpp"
#include "mutations.hpp"

namespace {

namespace fs = std::filesystem;

inline constexpr auto bundled = fuse::rule_set<fuse::rules::norms, fuse::rules::onnx_norm_functions>;

std::uint64_t current = 0;  // the mutation at work, for whoever dies in it

std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
  auto const* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void tell_on_death() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback([] {
    std::cerr << "died in mutation " << current << " (FUSE_FIRST=" << current << " FUSE_MUTATIONS=1 runs it alone)"
              << std::endl;
  });
#endif
}

// The first nodes of a model, with what they read; what nobody reads becomes an output.
onnx::ModelProto excerpt(std::string const& name, int first, int nodes) {
  std::ifstream file(fs::path(FUSE_TEST_MODELS) / (name + ".onnx"), std::ios::binary);
  onnx::ModelProto model;
  if (!model.ParseFromString(std::string(std::istreambuf_iterator<char>(file), {}))) return {};
  auto& graph = *model.mutable_graph();
  std::unordered_set<std::string> read, made;
  onnx::GraphProto cut;
  for (int i = first; i < first + nodes && i < graph.node_size(); ++i) *cut.add_node() = graph.node(i);
  for (auto const& node : cut.node()) {
    read.insert(node.input().begin(), node.input().end());
    made.insert(node.output().begin(), node.output().end());
  }
  for (auto const& tensor : graph.initializer())
    if (read.contains(tensor.name()) && made.insert(tensor.name()).second) *cut.add_initializer() = tensor;
  for (auto const& input : graph.input())
    if (read.contains(input.name()) && made.insert(input.name()).second) *cut.add_input() = input;
  for (auto const& name_read : std::vector<std::string>(read.begin(), read.end())) {
    if (name_read.empty() || made.contains(name_read)) continue;
    auto& input = *cut.add_input();
    input.set_name(name_read);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (auto const* symbol : {"batch", "sequence"}) type.mutable_shape()->add_dim()->set_dim_param(symbol);
    type.mutable_shape()->add_dim()->set_dim_value(32);
  }
  std::sort(cut.mutable_input()->begin(), cut.mutable_input()->end(),
            [](auto const& a, auto const& b) { return a.name() < b.name(); });
  for (auto const& node : cut.node())
    for (auto const& output : node.output())
      if (!output.empty() && !read.contains(output)) cut.add_output()->set_name(output);
  graph.Swap(&cut);
  return model;
}

onnx::ModelProto rewritten(onnx::ModelProto model) {
  fuse::adapters::onnx_graph graph(model);
  fuse::rewrite<bundled>(graph);
  graph.commit();
  return model;
}

struct outcome {
  std::size_t refused = 0, unchanged = 0, rewritten = 0;
};

// What must hold of any bytes. Returns what does not.
std::string run(std::string const& bytes, fs::path const& folder, fuse::target target, outcome& count) {
  fuse::adapters::onnx_file file;
  bool const decoded = file.read_bytes(bytes);
  if (!decoded) {
    ++count.refused;
    return file.error().empty() ? "refused without a reason" : "";
  }
  fuse::adapters::onnx_graph graph(file.model(), folder);
  if (!graph) {
    ++count.refused;
    return "";
  }
  fuse::rewrite_options options;
  options.target = target;
  auto const report = fuse::rewrite<bundled>(graph, options);
  if (!report.error.empty()) return "a model that was accepted could not be rewritten: " + report.error;
  bool const edited = graph.edited();
  ++(edited ? count.rewritten : count.unchanged);
  graph.commit();
  std::string written;
  if (!file.encode(graph, written)) return "the result could not be written";
  if (!edited) return written == bytes ? "" : "a model without edits was not written as it was read";
  fuse::adapters::onnx_file again;
  if (!again.read_bytes(written)) return "the result cannot be read: " + again.error();
  fuse::adapters::onnx_graph result(again.model(), folder);
  if (!result) return "the result is not valid: " + result.error();
  fuse::rewrite<bundled>(result, options);
  return result.edited() ? "a second run changed the result" : "";
}

}  // namespace

TEST_CASE("damaged models are refused or rewritten, and never break anything") {
  auto const seed = from_environment("FUSE_SEED", 20240229);
  auto const mutations = from_environment("FUSE_MUTATIONS", 20000);
  auto const first = from_environment("FUSE_FIRST", 0);
  std::vector<onnx::ModelProto> models{
      excerpt("bert-op14", 40, 110),     excerpt("bert-op11", 20, 30),        excerpt("llama-fp16-op17", 60, 120),
      excerpt("t5-encoder-op14", 0, 60), excerpt("bert-op17", 20, 30),        excerpt("whisper-encoder-op14", 10, 60),
      excerpt("llama-dynamo18", 10, 60), excerpt("token-mlp-bn-op14", 0, 20), excerpt("bert-qdq-op14", 40, 60)};
  for (std::size_t i = 0; i < 4; ++i)
    models.push_back(rewritten(models[i]));  // with the functions or operators that a first run leaves
  for (auto const& model : models) REQUIRE(model.graph().node_size() > 0);

  auto pattern = (fs::temp_directory_path() / "fuse-mutated-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  fs::path const folder(pattern);
  std::ofstream(folder / "weights.bin", std::ios::binary) << std::string(4096, '\1');
  fs::create_symlink("loop", folder / "loop");

  std::cout << "seed " << seed << ", " << mutations << " mutations" << std::endl;
  outcome count;
  double slowest = 0;
  tell_on_death();
  for (auto i = first; i < first + mutations; ++i) {
    current = i;
    mutator damage(seed * 1000003 + i);
    auto const bytes = damage.damaged(models[i % models.size()]);
    if (auto const* const kept = std::getenv("FUSE_KEEP"); kept != nullptr)
      std::ofstream(kept, std::ios::binary) << bytes;
    auto const begin = std::chrono::steady_clock::now();
    auto const wrong =
        run(bytes, folder, i / models.size() % 2 == 0 ? fuse::target::standard : fuse::target::onnxruntime, count);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (!wrong.empty()) {
      INFO("mutation " << i << " (FUSE_FIRST=" << i << " FUSE_MUTATIONS=1 runs it alone)");
      CHECK(wrong == "");
    }
  }
  fs::remove_all(folder);
  std::cout << count.refused << " refused, " << count.unchanged << " left as they were, " << count.rewritten
            << " rewritten; the slowest took " << slowest << " s" << std::endl;
  CHECK(slowest < 20);
  if (mutations >= 1000) {  // damage that is always refused, or that nothing is ever rewritten in, would test little
    CHECK(count.refused > mutations / 10);
    CHECK(count.unchanged > mutations / 20);
    CHECK(count.rewritten > mutations / 20);
  }
}
