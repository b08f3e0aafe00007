// SPDX-License-Identifier: BSL-1.0

// A small inference runtime, rewritten by fuse and run on fuse's kernels:
//
//   mini_runtime                       the encoders among the models of the tests
//   mini_runtime [--time] MODEL.onnx   with the inputs and outputs in MODEL.io/, as ONNX's own test data keeps them

#include "adapt.hpp"
#include "load.hpp"
#include "run.hpp"

#include <fuse/fuse.hpp>
#include <fuse/rules/embeddings.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr char const* encoders[] = {"bert-fixed-op13",      "bert-op11",           "bert-op14",       "bert-op17",
                                    "bert-sdpa-op16",       "distilbert-op14",     "t5-encoder-op14", "vit-op14",
                                    "whisper-encoder-op14", "whisper-encoder-op17"};
constexpr int rounds = 51;

inline constexpr auto norms = fuse::rule_set<fuse::rules::norms, fuse::rules::embeddings>;

using named_tensors = std::unordered_map<std::string, mini::tensor>;

void require(std::string const& error) {
  if (!error.empty()) throw std::runtime_error(error);
}

named_tensors read_all(std::string const& prefix) {
  named_tensors all;
  for (int i = 0; std::filesystem::exists(prefix + std::to_string(i) + ".pb"); ++i) {
    std::string name;
    mini::tensor contents;
    require(mini::load_tensor(prefix + std::to_string(i) + ".pb", name, contents));
    all.emplace(std::move(name), std::move(contents));
  }
  return all;
}

// The largest distance from what onnxruntime computed, in units of the larger of 1 and the element.
double distance(mini::graph const& g, std::vector<mini::tensor> const& outputs, named_tensors const& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto const& right = expected.at(g.outputs[i]->name);
    if (outputs[i].dims != right.dims) return INFINITY;
    auto const &a = outputs[i].as<float>(), &b = right.as<float>();
    for (std::size_t k = 0; k < a.size(); ++k) {
      double const far = std::abs(double{a[k]} - double{b[k]}) / std::max(1.0, std::abs(double{b[k]}));
      if (!(far <= worst)) worst = std::isnan(far) ? INFINITY : far;
    }
  }
  return worst;
}

struct timing {
  double whole, norms;  // milliseconds of a run
};

// The best of some runs; `is_norm` tells the nodes that belong to norms.
template <class Test>
timing measure(mini::graph& g, named_tensors const& inputs, Test const& is_norm) {
  timing best{INFINITY, INFINITY};
  for (int round = 0; round < rounds; ++round) {
    for (auto& n : g.nodes) n.seconds = 0;
    (void)mini::run(g, inputs);
    timing now{0, 0};
    for (auto const& n : g.nodes) {
      now.whole += 1e3 * n.seconds;
      if (is_norm(n)) now.norms += 1e3 * n.seconds;
    }
    best = {std::min(best.whole, now.whole), std::min(best.norms, now.norms)};
  }
  return best;
}

bool run(std::string const& file, bool timed) {
  auto const stem = file.substr(0, file.rfind(".onnx"));
  auto const inputs = read_all(stem + ".io/input_"), expected = read_all(stem + ".io/output_");
  mini::graph plain, fused;
  require(mini::load_model(file, plain));
  require(mini::load_model(file, fused));
  fuse::rewrite<norms>(fused);

  require(mini::prepare(plain));
  require(mini::prepare(fused));
  double const far = std::max(distance(plain, mini::run(plain, inputs), expected),
                              distance(fused, mini::run(fused, inputs), expected));
  bool const right = far <= 1e-5;
  std::printf("%-22s %4zu -> %3zu nodes, outputs %s\n", std::filesystem::path(stem).filename().c_str(),
              plain.nodes.size(), fused.nodes.size(), right ? "as onnxruntime's" : "NOT as onnxruntime's");
  if (!timed) return right;

  std::set<std::size_t> kept;
  for (auto const& n : fused.nodes) kept.insert(n.serial);
  auto const before = measure(plain, inputs, [&](auto const& n) { return kept.count(n.serial) == 0; });
  auto const after = measure(fused, inputs, [&](auto const& n) { return n.serial >= plain.nodes_made; });
  std::printf("  %.3f -> %.3f ms, %.2f times as fast", before.whole, after.whole, before.whole / after.whole);
  if (fused.nodes_made > plain.nodes_made)
    std::printf("; norms alone %.4f -> %.4f ms, %.1f times", before.norms, after.norms, before.norms / after.norms);
  std::printf("\n");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  bool timed = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--time")
      timed = true;
    else
      files.emplace_back(argv[i]);
  }
  if (files.empty())
    for (auto const* name : encoders) files.push_back(std::string("tests/models/") + name + ".onnx");
  try {
    bool right = true;
    for (auto const& file : files) right = run(file, timed) && right;
    return right ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "mini_runtime: %s\n", error.what());
    return 2;
  }
}
