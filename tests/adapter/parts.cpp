// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <fstream>
#include <fuse/adapters/onnx.hpp>
#include <fuse/fuse.hpp>
#include <map>
#include <sstream>
#include <string>

#include "catch.hpp"

// Whether parts are found in models as exporters write them: rotary embeddings are made of halves.
namespace parts {

using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, cosine = var<"cos">, sine = var<"sin">;
constexpr auto turned = op<"Concat">(-1.0 * part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1);
constexpr auto by_halves = fuse::rule<"by halves">(x * cosine + turned * sine)
                               .through<"cast", "identity">()
                               .replace(op<"Max">(x, cosine, sine));

/// The entries of a column of tests/models/counts.tsv, by model.
std::map<std::string, std::size_t> column(std::string const& wanted) {
  std::ifstream file(FUSE_TEST_MODELS "/counts.tsv");
  std::map<std::string, std::size_t> all;
  std::size_t place = 0;
  for (std::string line, entry; std::getline(file, line);) {
    std::istringstream entries(line);
    std::string model;
    for (std::size_t at = 0; std::getline(entries, entry, '\t'); ++at) {
      if (at == 0) model = entry;
      if (model == "model" && entry == wanted) place = at;
      if (model != "model" && at == place) all[model] = std::stoul(entry);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("halves that are turned are found in each model that has them") {
  std::size_t found = 0;
  for (auto const& [name, count] : column("rotary_half")) {
    if (name == "gpt2-deep") continue;  // large
    fuse::adapters::onnx_file file;
    REQUIRE(file.read(std::string(FUSE_TEST_MODELS "/") + name + ".onnx"));
    fuse::adapters::onnx_graph const graph(file.model());
    REQUIRE(graph);
    fuse::matcher<by_halves, fuse::adapters::onnx_graph> search(graph);
    INFO(name);
    CHECK(search.all().size() == count);
    found += count;
  }
  CHECK(found == 16);
}

}  // namespace parts
