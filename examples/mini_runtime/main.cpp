// SPDX-License-Identifier: BSL-1.0

// A small inference runtime, rewritten by fuse and run on fuse's kernels:
//
//   mini_runtime                  the encoders and decoders among the models of the tests
//   mini_runtime MODEL.onnx...    with the inputs and outputs in MODEL.io/, as ONNX's own test data keeps them
//     --time                      how long runs take, and what they move
//     --tolerance X               how far outputs may be off, in units of the larger of 1 and the element
//   mini_runtime --models         where those of the tests are

#include "adapt.hpp"
#include "groups.hpp"
#include "load.hpp"
#include "run.hpp"

#include <fuse/fuse.hpp>
#include <fuse/rules/activations.hpp>
#include <fuse/rules/canonical.hpp>
#include <fuse/rules/embeddings.hpp>
#include <fuse/rules/rotary.hpp>
#include <fuse/rules/skip_norms.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr char const* models[] = {"bert-dynamic-op14",
                                  "bert-dynamo18",
                                  "bert-dynamo20",
                                  "bert-fixed-op13",
                                  "bert-fp16-op14",
                                  "bert-op11",
                                  "bert-op14",
                                  "bert-op17",
                                  "bert-qdq-op14",
                                  "bert-qdq-op17",
                                  "bert-sdpa-op16",
                                  "distilbert-op14",
                                  "gpt2-deep",
                                  "gpt2-dynamo18",
                                  "gpt2-op11",
                                  "gpt2-op14",
                                  "llama-bf16-dynamo18",
                                  "llama-dynamo18",
                                  "llama-fp16-op17",
                                  "llama-op14",
                                  "t5-decoder-op14",
                                  "t5-encoder-fp16-op14",
                                  "t5-encoder-op14",
                                  "vit-op14",
                                  "whisper-encoder-op14",
                                  "whisper-encoder-op17"};
constexpr int most_rounds = 51, runs_in_a_row = 3;  // the first one finds in the caches what another program left
constexpr double most_milliseconds = 2000;

// A rule of the runtime's own: its products read what is multiplied from the right row by row as well as column by
// column. Keys of attention need not be turned then.
constexpr auto queries = fuse::dsl::var<"queries">, keys = fuse::dsl::var<"keys">;
inline constexpr auto product_with_turned =
    fuse::rule<"product-with-turned">(fuse::dsl::matmul(queries, fuse::dsl::rearrange<"b s h d -> b h d s">(keys)))
        .replace(fuse::dsl::op<"com.microsoft::FusedMatMul">(queries, fuse::dsl::rearrange<"b s h d -> b h s d">(keys))
                     .attr<"transB">(1))
        .at_equal_cost();

// The first rule of a set that matches has its way: a norm of embeddings is one of sums, too.
inline constexpr auto rules =
    fuse::rule_set<fuse::rules::norms, fuse::rules::embeddings, fuse::rules::skip_norms, fuse::rules::activations,
                   fuse::rules::rotary, product_with_turned, fuse::rules::canonical>;

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

// Others of the same shapes: the elements of each from the last to the first.
named_tensors turned_round(named_tensors inputs) {
  for (auto& [name, input] : inputs)
    input = input.visit([dims = input.dims](auto all) {
      std::reverse(all.begin(), all.end());
      return mini::tensor(dims, std::move(all));
    });
  return inputs;
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

// Milliseconds of a run, of the whole and outside of products of matrices; and what is moved then.
struct timing {
  double whole = INFINITY, outside = INFINITY, bytes = 0;
};

timing measured(mini::graph& g, mini::program& program, named_tensors const& inputs) {
  for (auto& s : program.steps) s.seconds = 0;
  (void)mini::run(g, program, inputs);
  timing now{0, 0, 0};
  for (auto const& s : program.steps) {
    now.whole += 1e3 * s.seconds;
    if (s.is_product || s.seconds == 0) continue;
    now.outside += 1e3 * s.seconds;
    now.bytes += s.bytes;
  }
  return now;
}

bool run(std::string const& file, bool timed, double tolerance) {
  auto const stem = file.substr(0, file.rfind(".onnx"));
  auto const inputs = read_all(stem + ".io/input_"), expected = read_all(stem + ".io/output_");
  mini::graph exported, rewritten, grouped;
  for (auto* each : {&exported, &rewritten, &grouped}) require(mini::load_model(file, *each));
  for (auto* each : {&rewritten, &grouped}) fuse::rewrite<rules>(*each);
  mini::program programs[] = {mini::program_of(exported), mini::program_of(rewritten),
                              mini::program_of_groups(grouped)};
  mini::graph* const graphs[] = {&exported, &rewritten, &grouped};

  double far = 0;
  for (int i = 0; i < 3; ++i) {
    // What is kept from one run to the next must not depend on what the inputs hold.
    (void)mini::run(*graphs[i], programs[i], turned_round(inputs));
    far = std::max(far, distance(*graphs[i], mini::run(*graphs[i], programs[i], inputs), expected));
  }
  bool const right = far <= std::max(tolerance, exported.tolerance);
  std::printf("%-22s %5zu -> %4zu -> %4zu steps, ", std::filesystem::path(stem).filename().c_str(),
              programs[0].steps.size(), programs[1].steps.size(), programs[2].steps.size());
  if (right)
    std::printf("outputs as expected\n");
  else
    std::printf("outputs off by up to %.2g\n", far);
  if (!timed) return right;

  static constexpr char const* names[] = {"as exported", "rewritten", "with groups"};
  timing best[3];
  double spent = 0;
  for (int round = 0; round < 3 || (round < most_rounds && spent < most_milliseconds); ++round)
    for (int i = 0; i < 3; ++i)
      for (int run = 0; run < runs_in_a_row; ++run) {
        auto const now = measured(*graphs[i], programs[i], inputs);
        best[i] = {std::min(best[i].whole, now.whole), std::min(best[i].outside, now.outside), now.bytes};
        spent += now.whole;
      }
  for (int i = 0; i < 3; ++i)
    std::printf("  %-11s %9.4f ms, outside of products %9.4f ms and %9.3f MB\n", names[i], best[i].whole,
                best[i].outside, 1e-6 * best[i].bytes);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  bool timed = false;
  double tolerance = 0;
  for (auto const* name : models) files.push_back(std::string("tests/models/") + name + ".onnx");
  auto const known = files.size();
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument == "--models") {
      for (auto const& file : files) std::printf("%s\n", file.c_str());
      return 0;
    }
    if (argument == "--time")
      timed = true;
    else if (argument == "--tolerance" && i + 1 < argc)
      tolerance = std::atof(argv[++i]);
    else
      files.push_back(argument);
  }
  if (files.size() > known) files.erase(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(known));
  try {
    bool right = true;
    for (auto const& file : files) right = run(file, timed, tolerance) && right;
    return right ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "mini_runtime: %s\n", error.what());
    return 2;
  }
}
