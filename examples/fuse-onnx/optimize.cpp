// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <fuse/adapters/onnx.hpp>

#include "commands.hpp"
#include "run_report.hpp"
#include "stopwatch.hpp"

namespace fuse_onnx {

int optimize(optimize_arguments const& arguments) {
  run_report report;
  report.input = arguments.input.string();
  report.output = arguments.output.string();
  report.target = arguments.target;

  stopwatch watch;
  fuse::adapters::onnx_file file;
  if (!file.read(arguments.input)) return complain(bad_input, file.error());
  fuse::adapters::onnx_graph graph(file.model(), file.folder());
  if (!graph) return complain(bad_input, report.input + ": " + graph.error());
  report.read = watch.lap();
  report.nodes_before = report.nodes_after = graph.node_count();

  graph.commit();
  if (!file.write(arguments.output, graph)) return complain(bad_input, file.error());
  report.write = watch.lap();

  auto const text = arguments.report == "json" ? as_json(report) : as_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return done;
}

int explain(explain_arguments const&) { return done; }
int list_rules(rules_arguments const&) { return done; }

}  // namespace fuse_onnx
