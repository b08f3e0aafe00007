// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/printable.hpp>

namespace fuse::inline v0 {

/// Why a rule was not applied at a node where it, or most of it, was found.
struct refusal {
  std::string node;       ///< name of the node at the pattern's root
  std::string condition;  ///< what failed: the name of a condition, or of a requirement of legality
  std::string reason;     ///< one sentence
};

/// Each place that matched was rewritten by the rule, or is among the refused ones with the requirement of legality or
/// cost that was not met. So are places where a condition failed or most of the rule was found, which did not match. A
/// place that another rule has rewritten counts for that one.
struct rule_report {
  std::string name;
  std::size_t matched = 0, applied = 0;
  std::vector<refusal> refused;
  std::string left_out{};  ///< why the rule was not looked for: one sentence, or empty
};

/// What a rewrite did. `error` is empty, or one sentence: then the graph is as it was.
struct rewrite_report {
  std::string error;
  std::vector<rule_report> rules;
  std::size_t nodes_before = 0, nodes_after = 0;
  std::vector<std::string> notes;

  [[nodiscard]] std::size_t applied() const {
    std::size_t sum = 0;
    for (auto const& r : rules) sum += r.applied;
    return sum;
  }
  [[nodiscard]] rule_report const* rule(std::string_view name) const {
    for (auto const& r : rules)
      if (r.name == name) return &r;
    return nullptr;
  }
};

/// How many rules found nothing, as a line of a report says it; `others`: beside those that it names.
[[nodiscard]] inline std::string found_nothing(std::size_t rules, bool others) {
  return std::to_string(rules) + (others ? " other" : "") + (rules == 1 ? " rule" : " rules") + " found nothing";
}

/// Which rules were not looked for, and why, as a line of a report says it; empty where all were.
template <class Rules>
[[nodiscard]] std::string not_looked_for(Rules const& rules) {
  std::string text, last;
  for (auto const& r : rules) {
    if (r.left_out.empty()) continue;
    if (!last.empty() && last != r.left_out) text += " (" + last + ")";
    text += (text.empty() ? "not looked for: " : ", ") + r.name;
    last = r.left_out;
  }
  return text.empty() ? text : text + " (" + last + ")";
}

/// The report for people: a line for each rule that matched or was refused, with its refusals; how many others there
/// are, and which were not looked for; notes.
[[nodiscard]] inline std::string to_text(rewrite_report const& report) {
  std::string text;
  std::size_t silent = 0;
  if (!report.error.empty()) return "error: " + printable(report.error) + "\n";
  for (auto const& r : report.rules) {
    if (r.matched == 0 && r.refused.empty()) {
      if (r.left_out.empty()) ++silent;
      continue;
    }
    text += r.name + ": matched " + std::to_string(r.matched) + ", applied " + std::to_string(r.applied) +
            ", refused " + std::to_string(r.refused.size()) + "\n";
    for (auto const& f : r.refused) text += "  not at " + printable(f.node + ": " + f.reason) + "\n";
  }
  if (silent != 0) text += found_nothing(silent, silent != report.rules.size()) + "\n";
  if (auto const left_out = not_looked_for(report.rules); !left_out.empty()) text += printable(left_out) + "\n";
  text +=
      "nodes: " + std::to_string(report.nodes_before) + " before, " + std::to_string(report.nodes_after) + " after\n";
  for (auto const& n : report.notes) text += "note: " + printable(n) + "\n";
  return text;
}

namespace detail {

inline void append_json(std::string& into, std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  into += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      into += '\\';
      into += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      into += "\\u00";
      into += digits[static_cast<unsigned char>(c) >> 4];
      into += digits[static_cast<unsigned char>(c) & 15];
    } else {
      into += c;
    }
  }
  into += '"';
}

}  // namespace detail

/// The report as one JSON object with the members error, rules, nodes and notes.
[[nodiscard]] inline std::string to_json(rewrite_report const& report) {
  std::string json = "{\"error\":";
  detail::append_json(json, report.error);
  json += ",\"rules\":[";
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    auto const& r = report.rules[i];
    json += i == 0 ? "{\"name\":" : ",{\"name\":";
    detail::append_json(json, r.name);
    json +=
        ",\"matched\":" + std::to_string(r.matched) + ",\"applied\":" + std::to_string(r.applied) + ",\"refused\":[";
    for (std::size_t k = 0; k < r.refused.size(); ++k) {
      json += k == 0 ? "{\"node\":" : ",{\"node\":";
      detail::append_json(json, r.refused[k].node);
      json += ",\"reason\":";
      detail::append_json(json, r.refused[k].reason);
      json += ",\"condition\":";
      detail::append_json(json, r.refused[k].condition);
      json += "}";
    }
    json += "]";
    if (!r.left_out.empty()) {
      json += ",\"left_out\":";
      detail::append_json(json, r.left_out);
    }
    json += "}";
  }
  json += "],\"nodes\":{\"before\":" + std::to_string(report.nodes_before) +
          ",\"after\":" + std::to_string(report.nodes_after) + "},\"notes\":[";
  for (std::size_t i = 0; i < report.notes.size(); ++i) {
    if (i != 0) json += ',';
    detail::append_json(json, report.notes[i]);
  }
  return json + "]}";
}

}  // namespace fuse::inline v0
