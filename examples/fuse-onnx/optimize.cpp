// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fuse/adapters/onnx.hpp>
#include <fuse/rewrite/check.hpp>
#include <fuse/rewrite/clean.hpp>
#include <fuse/rules/quantise_embeddings.hpp>
#include <fuse/verify/equivalent.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "bundled.hpp"
#include "commands.hpp"
#include "huge_pages.hpp"
#include "progress.hpp"
#include "run_report.hpp"
#include "stopwatch.hpp"

namespace fuse_onnx {
namespace {

// Watches a rewrite: which phase takes how long, and how far it is.
class watcher {
 public:
  watcher(run_report& report, progress& bar) : report_(report), bar_(bar), seconds_(&report.shapes) {}

  [[nodiscard]] fuse::observer observer() {
    fuse::observer made;
    made.context = this;
    made.phase = [](void* self, std::string_view name) { static_cast<watcher*>(self)->begin(name); };
    made.progress = [](void* self, int stage, std::size_t done, std::size_t total) {
      static_cast<watcher*>(self)->bar_.show("rewriting, stage " + std::to_string(stage + 1), done, total);
    };
    return made;
  }
  void end() { *seconds_ += watch_.lap(); }

 private:
  void begin(std::string_view phase) {
    end();
    seconds_ = phase == "shapes" ? &report_.shapes : phase == "match" ? &report_.match : &report_.rewrite;
    if (phase == "shapes") bar_.show("shapes", 0, 1);
  }

  run_report& report_;
  progress& bar_;
  double* seconds_;
  stopwatch watch_;
};

// The model as it was read, compared with what became of it: once, where that takes seconds.
fuse::equivalence compared(std::filesystem::path const& input, fuse::adapters::onnx_graph const& after) {
  fuse::adapters::onnx_file file;
  if (!file.read(input)) return {.unknown = file.error()};
  fuse::adapters::onnx_graph const before(file.model(), file.folder());
  return fuse::equivalent(before, after, {.rounds = 1, .in_type = false, .most_elements = std::size_t{1} << 22});
}

// In bytes; 0 of what is no file.
std::uintmax_t size_of(std::filesystem::path const& file) {
  std::error_code error;
  auto const size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

// What was applied in a round before counts; what was refused then has been looked at again.
void take_over(run_report& report, fuse::rewrite_report&& done) {
  report.rules.resize(done.rules.size());
  for (std::size_t i = 0; i < done.rules.size(); ++i) {
    auto& rule = done.rules[i];
    auto& into = report.rules[i];
    into.name = std::move(rule.name);
    into.matched = into.applied + rule.matched;
    into.applied += rule.applied;
    into.refused.clear();
    for (auto& r : rule.refused)
      into.refused.push_back({std::move(r.node), std::move(r.reason), std::move(r.condition)});
    into.left_out = std::move(rule.left_out);
  }
  report.notes = std::move(done.notes);
}

// "table 'words' (30522 x 768): scale 0.0016, zero point 128; errors up to 0.0008 ..."
std::string told(fuse::quantised_constant const& of) {
  std::string extents;
  for (auto const extent : of.shape) extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
  char numbers[200];
  std::snprintf(numbers, sizeof numbers,
                "scale %.3g, zero point %d; errors up to %.3g, typically %.3g, of elements up to %.3g", of.scale,
                of.zero_point, of.largest_error, of.root_mean_square_error, of.largest);
  return "'" + of.name + "' (" + extents + ") is of 8 bits: " + numbers;
}

// Cleaned graphs are what rules look for, and what rules leave is to be cleaned: at most so often.
constexpr int most_rounds = 8;

}  // namespace

int optimize(optimize_arguments const& arguments) {
  for (auto const* names : {&arguments.rules, &arguments.except})
    for (auto const& name : *names)
      if (auto const unknown = unknown_rule(name); !unknown.empty()) return complain(wrong_usage, unknown);

  run_report report;
  report.input = arguments.input.string();
  report.output = arguments.output.string();
  report.target = arguments.target;

  progress bar;
  stopwatch watch;
  report.bytes_before = size_of(arguments.input);
  if (report.bytes_before > 256 << 10) use_huge_pages();
  fuse::adapters::onnx_file file;
  if (!file.read(arguments.input)) return complain(bad_input, file.error());
  fuse::adapters::onnx_graph graph(file.model(), file.folder());
  if (!graph) return complain(bad_input, report.input + ": " + graph.error());
  report.read = watch.lap();
  report.nodes_before = graph.node_count();
  auto const version = file.model().ir_version();

  fuse::clean_report cleaned;
  if (arguments.clean) cleaned.folded = fuse::clean(graph, {.share_equal = false, .drop_unused = false}).folded;

  fuse::rewrite_options options;
  options.only = arguments.rules;
  options.except = arguments.except;
  if (arguments.check) options.check = &fuse::check_by_evaluation<>;
  options.target = target_named(arguments.target);
  for (int round = 0; round < most_rounds; ++round) {
    watcher watching(report, bar);
    options.observer = watching.observer();
    auto rewritten = rewrite_bundled(graph, options);
    watching.end();
    bar.clear();
    if (!rewritten.error.empty()) return complain(bad_input, report.input + ": " + rewritten.error);
    take_over(report, std::move(rewritten));
    if (!arguments.clean) break;
    auto const more = fuse::clean(graph);
    cleaned.folded += more.folded;
    cleaned.shared += more.shared;
    cleaned.dropped += more.dropped;
    if (!more.changed()) break;
  }
  if (arguments.clean)
    report.notes.push_back(std::to_string(cleaned.folded) + " nodes became constants, " +
                           std::to_string(cleaned.shared) + " computed what others do, " +
                           std::to_string(cleaned.dropped) + " were not used");
  report.nodes_after = graph.node_count();
  if (graph.redefines_operators())
    report.notes.push_back(
        "nothing was rewritten: the model defines functions of its own under the names of standard operators");
  if (auto const& foreign = graph.foreign_functions(); !foreign.empty())
    report.notes.push_back(
        (foreign.size() == 1 ? "1 function was" : std::to_string(foreign.size()) + " functions were") +
        " left as they are, " + foreign[0] + (foreign.size() == 1 ? "" : " among them") +
        ": they import another version of the standard operators than the model does");

  if (arguments.check && graph.edited()) {
    bar.show("checking", 0, 1);
    auto const same = compared(arguments.input, graph);
    bar.clear();
    if (!same.wrong.empty())
      return complain(bad_input, report.input + ": the rewritten model computes something else: " + same.wrong);
    report.notes.push_back("the whole model, on random inputs: " + to_text(same));
  }

  if (arguments.quantise_embeddings) {
    auto const quantised = fuse::quantise_embeddings(graph, {.target = options.target});
    if (quantised.constants.empty() && quantised.left.empty())
      report.notes.emplace_back("there is no norm of embeddings to quantise");
    for (auto const& each : quantised.constants) report.notes.push_back(told(each));
    for (auto const& each : quantised.left) report.notes.push_back("not quantised: " + each);
  }

  watch.lap();
  bar.show("writing", 0, 1);
  graph.commit();
  bool const written = file.write(arguments.output, graph);
  bar.clear();
  if (!written) return complain(bad_input, file.error());
  report.write = watch.lap();
  report.bytes_after = size_of(arguments.output);
  if (file.model().ir_version() != version)
    report.notes.push_back("the IR version was raised from " + std::to_string(version) + " to " +
                           std::to_string(file.model().ir_version()) + ", the first with functions");

  auto const text = arguments.report == "json" ? as_json(report) : as_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return success;
}

}  // namespace fuse_onnx
