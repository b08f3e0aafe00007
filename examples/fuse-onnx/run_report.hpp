// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fuse_onnx {

/// What `optimize` did; docs/report_schema.md describes its JSON form.
struct run_report {
  struct refusal {
    std::string node, reason, condition;
  };
  struct rule {
    std::string name;
    std::size_t matched = 0, applied = 0;
    std::vector<refusal> refused;
    std::string left_out;  ///< why it was not looked for, or empty
  };
  std::string input, output, target;
  std::vector<rule> rules;
  std::size_t nodes_before = 0, nodes_after = 0;
  std::uintmax_t bytes_before = 0, bytes_after = 0;                // of the files, without data that stands beside them
  double read = 0, shapes = 0, match = 0, rewrite = 0, write = 0;  // seconds
  std::vector<std::string> notes;
};

[[nodiscard]] std::string as_text(run_report const& report);
[[nodiscard]] std::string as_json(run_report const& report);

}  // namespace fuse_onnx
