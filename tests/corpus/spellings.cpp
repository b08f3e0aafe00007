// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include "spelling.hpp"
#include "verdict.hpp"

namespace spellings {

namespace {

using corpus::opcode;
using corpus::spelling;

std::string reasons(fuse::rewrite_report const& report) {
  std::string text = report.error;
  for (auto const& rule : report.rules)
    for (auto const& refusal : rule.refused)
      text += "; " + rule.name + ": " + refusal.condition + ": " + refusal.reason;
  return text;
}

// Operators of the norm that are still there.
std::map<opcode, int> leftovers(spelling const& s, fuse::graph const& after, fuse::target target) {
  auto left = corpus::operators_of(after);
  for (auto const whose : {corpus::owner::context, corpus::owner::prepared})
    if (auto const at = s.w.written.find(whose); at != s.w.written.end())
      for (auto const& [op, count] : at->second) left[op] -= count;
  left[opcode::cast] -= s.casts;
  if (target == fuse::target::onnxruntime && s.narrowest() == fuse::element_type::bfloat16)  // which has no such norms
    for (auto const& f : s.formulas) {
      left[opcode::cast] -= 3 + static_cast<int>(f.steps.size());  // x, the result, each computed row
      left[opcode::identity] -= 3;
      for (auto const& step : f.steps) --left[step.op];
    }
  if (s.flattened)
    for (auto const op : {opcode::flatten, opcode::reshape, opcode::shape}) left[op] -= 10;
  if (s.spreads)
    for (auto const op : {opcode::expand, opcode::reshape, opcode::shape}) left[op] -= 4;
  for (auto const& f : s.formulas)
    if (f.steps.size() > 1)  // computed rows are put together
      for (auto const op : {opcode::mul, opcode::div, opcode::add, opcode::sub}) left[op] -= 2;
  // A residual that is a row is put together with the bias: where that is subtracted, its Add becomes a Sub.
  int const turned = std::min({s.residual_rows, std::max(left[opcode::sub], 0), std::max(-left[opcode::add], 0)});
  left[opcode::sub] -= turned;
  left[opcode::add] += turned;
  for (auto const op : {opcode::constant, opcode::layer_norm, opcode::rms_norm}) left.erase(op);
  std::erase_if(left, [](auto const& item) { return item.second <= 0; });
  return left;
}

// An empty text where fuse does right by the spelling; else a sentence that begins with its kind.
template <class G>
std::string verdict(spelling const& s, G const& before, fuse::target target) {
  G after = before;
  fuse::rewrite_options options;
  options.target = target;
  auto const report = fuse::rewrite<fuse::rules::norms>(after, options);
  auto const found = corpus::operators_of(after);
  std::map<opcode, int> wanted;
  for (auto const& f : s.formulas) ++wanted[f.centred ? opcode::layer_norm : opcode::rms_norm];
  for (auto const op : {opcode::layer_norm, opcode::rms_norm}) {
    auto const at = found.find(op);
    if ((at == found.end() ? 0 : at->second) != wanted[op])
      return "count: " + corpus::text_of(found) + reasons(report) + '\n' + to_text(after);
  }
  if (s.strict)
    if (auto const left = leftovers(s, after, target); !left.empty())
      return "left over: " + corpus::text_of(left) + '\n' + to_text(after);
  // The evaluator rounds nothing; a root of a constant, and a row that is made anew, are rounded by their type.
  bool const half = s.narrowest() == fuse::element_type::float16, brain = s.narrowest() == fuse::element_type::bfloat16;
  double const tolerance = !s.rounds ? (half || brain ? 5e-5 : 1e-6) : half ? 4e-3 : brain ? 4e-2 : 1e-5;
  if (auto const off = corpus::difference(before, after, s.feeds(), tolerance); !off.empty())
    return "result: " + off + '\n' + to_text(after);
  G again = after;
  options.filter = false;  // which hides nothing
  fuse::rewrite<fuse::rules::norms>(again, options);
  if (to_text(again) != to_text(after)) return "not idempotent:\n" + to_text(after) + "again\n" + to_text(again);
  return {};
}

template <class G>
void check_spellings(bool second, fuse::target target) {
  auto const seed = corpus::setting("FUSE_CORPUS_SEED", 1),
             count = corpus::setting("FUSE_CORPUS_COUNT", 1000 / one_case_in);
  corpus::tally tally;
  std::map<std::string, int> kinds;
  std::string examples;
  for (auto s = seed; s < seed + count; ++s) {
    G g(spelling::version(s, second));
    spelling const spelled(g, second, s);
    auto const wrong = verdict(spelled, g, target);
    tally.add(spelled.choose.choices(), wrong.empty());
    if (wrong.empty()) continue;
    if (++kinds[wrong.substr(0, wrong.find(':'))] <= 2)
      examples += "seed " + std::to_string(s) + ": " + wrong + "of\n" + to_text(g) + '\n';
  }
  std::string text;
  for (auto const& [kind, times] : kinds) text += kind + ": " + std::to_string(times) + '\n';
  INFO("seeds from " << seed << ", " << count << " of them\n" << tally.summary() << text << examples);
  CHECK(kinds.empty());
}

}  // namespace

TEST_CASE("every spelling in ONNX's dialect becomes one operator of the standard") {
  check_spellings<fuse::graph>(false, fuse::target::standard);
}

TEST_CASE("every spelling in ONNX's dialect becomes one operator of onnxruntime") {
  check_spellings<fuse::graph>(false, fuse::target::onnxruntime);
}

TEST_CASE("every spelling in another dialect becomes one operator") {
  check_spellings<second::graph>(true, fuse::target::standard);
}

}  // namespace spellings
