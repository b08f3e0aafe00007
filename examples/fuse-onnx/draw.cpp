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
  auto const kind = arguments.output.extension();
  if (kind != ".dot" && kind != ".svg")
    return complain(wrong_usage, "a drawing is a file that ends in .dot or .svg, not " + arguments.output.string());
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

  auto bytes = fuse::draw(graph, what);
  if (kind == ".svg")
    if (auto const reason = as_svg(bytes); !reason.empty())
      return complain(bad_input, "cannot write " + arguments.output.string() + ": " + reason);
  auto const reason = fuse::adapters::detail::replace_file(arguments.output, bytes);
  return reason.empty() ? success : complain(bad_input, "cannot write " + arguments.output.string() + ": " + reason);
}

}  // namespace fuse_onnx
