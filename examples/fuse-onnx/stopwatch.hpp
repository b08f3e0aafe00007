// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

namespace fuse_onnx {

/// Seconds from one question to the next.
class stopwatch {
 public:
  double lap() {
    auto const now = clock::now();
    auto const passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point last_ = clock::now();
};

}  // namespace fuse_onnx
