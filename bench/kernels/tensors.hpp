// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/element.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/view.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <span>

namespace bench {

/// Elements at a 64-byte boundary, as frameworks allocate them, or so many bytes past one.
template <class T>
class tensor {
 public:
  tensor() = default;
  explicit tensor(std::size_t size, std::size_t past = 0)
      : memory_(static_cast<T*>(::operator new(size * sizeof(T) + past, boundary))),
        begin_(memory_.get() + past / sizeof(T)),
        size_(size) {
    std::memset(begin_, 0, size * sizeof(T));
  }

  T* data() const { return begin_; }
  std::size_t size() const { return size_; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }

 private:
  static constexpr std::align_val_t boundary{64};
  struct release {
    void operator()(T* data) const { ::operator delete(data, boundary); }
  };
  std::unique_ptr<T, release> memory_;
  T* begin_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
constexpr char const* type_name() {
  return std::is_same_v<T, float> ? "float" : std::is_same_v<T, fuse::kernels::bfloat16> ? "bfloat16" : "float16";
}

/// Normally distributed elements, the same ones in each run.
template <class T>
void fill(tensor<T> const& to, float mean, float deviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> distribution(mean, deviation);
  for (T& element : to) element = fuse::kernels::from_float<T>(distribution(random));
}

/// A measurement of a call that was refused means nothing.
inline void check(fuse::kernels::status const& result) {
  if (result.ok()) return;
  std::cerr << result.message() << '\n';
  std::abort();
}

}  // namespace bench
