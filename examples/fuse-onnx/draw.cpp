// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <fuse/draw/draw.hpp>
#include <string>

#include "bundled.hpp"
#include "commands.hpp"
#include "find_node.hpp"
#include "graphviz.hpp"

namespace fuse_onnx {

int draw(draw_arguments const& arguments) {
  if (auto const wrong = no_drawing(arguments.output); !wrong.empty()) return complain(wrong_usage, wrong);
  if (!arguments.rule.empty())
    if (auto const unknown = unknown_rule(arguments.rule); !unknown.empty()) return complain(wrong_usage, unknown);

  // One copy is drawn; the other one is rewritten, and never written.
  fuse::adapters::onnx_file file, rehearsed;
  for (auto* one : {&file, &rehearsed})
    if (!one->read(arguments.input)) return complain(bad_input, one->error());
  fuse::adapters::onnx_graph graph(file.model(), file.folder());
  fuse::adapters::onnx_graph after(rehearsed.model(), rehearsed.folder());
  if (!graph) return complain(bad_input, arguments.input.string() + ": " + graph.error());

  fuse::drawing<fuse::adapters::onnx_graph> what;
  what.hops = arguments.hops;
  if (!arguments.around.empty()) {
    what.around = {find_node(graph, arguments.around)};
    if (!what.around[0]) return complain(wrong_usage, no_node(arguments.around));
  }
  fuse::rewrite_options options;
  if (!arguments.rule.empty()) options.only = {arguments.rule};
  what.groups = replaced_bundled(after, options);

  auto const reason = write_drawing(arguments.output, fuse::draw(graph, what));
  return reason.empty() ? success : complain(bad_input, reason);
}

}  // namespace fuse_onnx
