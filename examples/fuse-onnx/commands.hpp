// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

/// The commands of fuse-onnx. Each returns the status of the process.
namespace fuse_onnx {

inline constexpr int success = 0;    ///< also when nothing was to do
inline constexpr int bad_input = 1;  ///< cannot be read, is not valid, or the output cannot be written; a rule is wrong
inline constexpr int wrong_usage = 2;

struct optimize_arguments {
  std::filesystem::path input, output;
  std::vector<std::string> rules, except;
  std::string target = "onnx", report = "text";
  bool check = false;
  bool clean = false;
  bool quantise_embeddings = false;
};
struct explain_arguments {
  std::filesystem::path input;
  std::string rule, node, target = "onnx";
  unsigned limit = 10;
};
struct rules_arguments {
  std::string rule;
  bool program = false;
  unsigned verify = 0;           ///< how many graphs to try with each rule
  unsigned seed = 1;             ///< of the first of them
  std::filesystem::path output;  ///< where to write one on which a rule is wrong; empty: nowhere
};

struct draw_arguments {
  std::filesystem::path input, output;
  std::string rule, around;
  std::size_t hops = 2;
};

struct partition_arguments {
  std::filesystem::path input, output, drawing;
  std::size_t depth = 0;  // 0: any
  std::string report = "text";
};

int optimize(optimize_arguments const& arguments);
int explain(explain_arguments const& arguments);
int draw(draw_arguments const& arguments);
int partition(partition_arguments const& arguments);
int list_rules(rules_arguments const& arguments);
int verify_rules(rules_arguments const& arguments);

/// What the program does with the words of its command line, its name first.
int run(int count, char const* const* words);

/// Prints "fuse-onnx: `what`" to stderr and returns `status`.
int complain(int status, std::string const& what);

}  // namespace fuse_onnx
