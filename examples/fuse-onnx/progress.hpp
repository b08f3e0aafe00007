// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace fuse_onnx {

/// A bar on stderr where that is a terminal and the work takes more than a second; gone when the work is done.
class progress {
 public:
  progress() = default;
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { clear(); }

  void clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }
  void show(std::string const& what, std::size_t done, std::size_t total) {
    auto const now = clock::now();
    if (!terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    shown_ = true;
    constexpr std::size_t width = 40;
    auto const filled = total == 0 ? 0 : done >= total ? width : done * width / total;
    auto const bar = std::string(filled, '#') + std::string(width - filled, '.');
    std::fprintf(stderr, "\r\033[K%-18s [%s]", what.c_str(), bar.c_str());
    std::fflush(stderr);
  }

 private:
  using clock = std::chrono::steady_clock;
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  clock::time_point next_ = clock::now() + std::chrono::seconds(1);
};

}  // namespace fuse_onnx
