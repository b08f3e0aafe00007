// SPDX-License-Identifier: BSL-1.0
// fuse-onnx-served: fuse-onnx for each line of standard input, words separated by tabs, in one process. What it prints
// ends with a zero byte and the status. For tests that run it thousands of times: with sanitizers, to start takes
// longer than most models do.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "../../examples/fuse-onnx/commands.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words{"fuse-onnx"};
    for (std::size_t from = 0, to = 0; to != line.npos; from = to + 1) {
      to = line.find('\t', from);
      words.push_back(line.substr(from, to - from));
    }
    std::vector<char const*> begins;
    for (auto const& word : words) begins.push_back(word.c_str());
    int const status = fuse_onnx::run(static_cast<int>(begins.size()), begins.data());
    std::printf("%c%d\n", '\0', status);
    std::fflush(stdout);
  }
}
