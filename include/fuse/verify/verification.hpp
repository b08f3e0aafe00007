// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>
#include <fuse/graph/tensor.hpp>

namespace fuse::inline v0 {

/// What became of the graphs that one rule was tried on.
struct verified_rule {
  std::string name;
  std::size_t graphs = 0;    ///< that were made and could be computed
  std::size_t applied = 0;   ///< that the rule rewrote
  std::size_t edited = 0;    ///< of these, the ones that had been changed at one place
  std::size_t compared = 0;  ///< numbers that were equal before and after
  std::size_t refused = 0;   ///< on which the rule matched, and the engine refused to apply it
  std::string reason{};      ///< why, most often
};

/// What a verification came to. True where no rule was found wrong; else it says which rule, on which graph.
struct verification {
  std::vector<verified_rule> rules{};
  std::string wrong{};      ///< the name of the rule that is wrong, or could not be verified; empty where none is
  std::string reason{};     ///< what is wrong: one sentence
  std::uint64_t seed = 0;   ///< of the graph that shows it: `verify_options::seed`, with one graph, makes it again
  graph before{}, after{};  ///< the smallest graph that shows it, and what it was rewritten to
  std::map<std::string, tensor> inputs{};  ///< what was passed to it, by the inputs' names

  [[nodiscard]] explicit operator bool() const { return wrong.empty(); }
};

namespace detail {

/// "float32[2,3]{0.5, ...}" with as many elements as one computes by hand.
[[nodiscard]] inline std::string text_of_contents(tensor_view contents) {
  constexpr std::size_t most = 64;
  auto text = text_of_shape(contents) + '{';
  for (std::size_t i = 0; i < contents.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + text_of_element(contents, i);
  return text + (contents.size() > most ? ", ...}" : "}");
}

}  // namespace detail

/// What a verification came to, for people: a line for each rule, or what is wrong and the graph that shows it.
[[nodiscard]] inline std::string to_text(verification const& v) {
  std::string text;
  if (!v) {
    text = "rule '" + v.wrong + "': " + v.reason + "\n";
    if (v.seed == 0) return text;
    text += "the smallest graph that shows it, made of seed " + std::to_string(v.seed) + ":\n" + to_text(v.before);
    for (auto const& [name, contents] : v.inputs)
      text += "  " + name + " = " + detail::text_of_contents(contents) + "\n";
    return text + "it became:\n" + to_text(v.after);
  }
  for (auto const& r : v.rules) {
    text += r.name + ": right on " + std::to_string(r.applied) + " graphs that it rewrote, of " +
            std::to_string(r.graphs) + "\n";
    if (r.refused != 0) text += "  refused on " + std::to_string(r.refused) + " others, most often: " + r.reason + "\n";
  }
  return text;
}

/// For test frameworks, which print what they are shown.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& into, verification const& v) {
  return into << to_text(v);
}

}  // namespace fuse::inline v0
