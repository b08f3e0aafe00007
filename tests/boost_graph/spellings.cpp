// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <second_dialect.hpp>

#include "../corpus/all.hpp"
#include "../corpus/summary.hpp"
#include "copies.hpp"

namespace spellings {

using namespace operations;

namespace {

template <class G, class... More>
bool compare(fuse::graph const& from, auto owned, fuse::target target, More... more) {
  fuse::rewrite_options options;
  options.target = target;
  program<G> p(from);
  std::vector<fuse::function_body> functions;
  auto const adapt = [&] {
    return adapted(p.g, bgl::inputs(p.inputs), bgl::outputs(p.outputs), bgl::functions(functions),
                   bgl::operator_set(from.version()), more...);
  };
  CHECK(listing(adapt(), p.g).text() == listing(from).text());

  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  auto ir = adapt();
  auto const report = fuse::rewrite<fuse::rules::norms>(ir, options);
  CHECK(corpus::summary_of(report) == corpus::summary_of(expected));
  CHECK(functions.size() == owned.functions().size());
  ir.finish();
  listing const wanted(owned);
  CHECK(listing(ir, p.g).text() == wanted.text());
  auto const again = adapt();  // of what stands in the Boost graph now
  CHECK(again.error() == "");
  CHECK(listing(again, p.g).text() == wanted.text());
  return true;
}

using boost::bidirectionalS, boost::directedS, boost::listS, boost::setS, boost::vecS;

// Each storage in turn.
bool compare_in(std::uint64_t storage, fuse::graph const& g, fuse::target target) {
  switch (storage % 3) {
    case 0: return compare<vertex_list>(g, g, target);
    case 1: return compare<list_graph<listS, listS, bidirectionalS>>(g, g, target);
    default: return compare<list_graph<setS, vecS, directedS, operands>>(g, g, target);
  }
}

}  // namespace

TEST_CASE("every spelling has the same verdict in a Boost graph as in the owned graph") {
  CHECK(corpus::all_spellings<fuse::graph>([](auto const& g, auto const&, std::uint64_t seed) {
          return compare_in(seed / 2, g, seed % 2 == 0 ? fuse::target::standard : fuse::target::onnxruntime);
        }) == corpus::spellings);
  CHECK(corpus::all_spellings<second::graph>(
            [](auto const& g, auto const&, std::uint64_t) {
              return compare<vertex_list>(g, g, fuse::target::standard, bgl::dialect<second::dialect>);
            },
            300) == 300);
}

TEST_CASE("every look-alike has the same verdict in a Boost graph as in the owned graph") {
  std::uint64_t storage = 0;
  CHECK(corpus::all_lookalikes<fuse::graph>([&](auto const& g) {
          return compare_in(storage++, g, fuse::target::standard);
        }) == corpus::lookalikes_in_onnx);
}

}  // namespace spellings
