// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include "lookalike_list.hpp"
#include "verdict.hpp"

namespace lookalikes {

namespace {

using corpus::opcode;

template <class G>
void check(corpus::lookalike const& look, bool second, bool layer) {
  G before(second ? 1 : look.version);
  corpus::plain_norm n(before, second, layer, look.shape);
  look.change(n);
  n.write();
  G after = before;
  auto const report = fuse::rewrite<fuse::rules::norms>(after);
  CAPTURE(look.name, second, layer, to_text(before), to_text(after), to_text(report));
  REQUIRE(report.error.empty());
  auto found = corpus::operators_of(after);
  auto const layers = found[opcode::layer_norm], rms = found[opcode::rms_norm];
  auto const most = look.twice ? 2 : 1;
  CHECK(layers <= (look.norm_may_stay && layer ? most : 0));
  CHECK(rms <= (look.rms_may_stay || (look.norm_may_stay && !layer) ? most : 0));
  if (layers + rms == 0) CHECK(to_text(after) == to_text(before));
  CHECK(corpus::difference(before, after, n.feeds, 1e-6).empty());
  if (!look.needs_reason) return;
  auto const* rule = report.rule(layer ? "layer-norm" : "rms-norm");
  REQUIRE(rule != nullptr);
  bool named = false;
  for (auto const& refusal : rule->refused)
    named = named || (!refusal.reason.empty() && !refusal.condition.empty() && !refusal.node.empty());
  CHECK(named);
}

}  // namespace

TEST_CASE("a look-alike is refused with a reason, or only its sound part is fused") {
  for (auto const& look : corpus::lookalike_list().all)
    for (bool const layer : {true, false}) {
      if (corpus::concerns(look, layer, false)) check<fuse::graph>(look, false, layer);
      if (corpus::concerns(look, layer, true)) check<second::graph>(look, true, layer);
    }
}

TEST_CASE("the plain norm that look-alikes are made of is fused") {
  for (bool const second : {false, true})
    for (bool const layer : {false, true}) {
      auto run = [&]<class G>(G g) {
        corpus::plain_norm n(g, second, layer, {4, 3, 7});
        n.write();
        auto const before = g;
        fuse::rewrite<fuse::rules::norms>(g);
        CAPTURE(second, layer, to_text(before), to_text(g));
        CHECK(g.node_count() == 1);
        CHECK(corpus::operators_of(g)[layer ? opcode::layer_norm : opcode::rms_norm] == 1);
        CHECK(corpus::difference(before, g, n.feeds, 1e-6).empty());
      };
      if (second)
        run(second::graph());
      else
        run(fuse::graph(23));
    }
}

}  // namespace lookalikes
