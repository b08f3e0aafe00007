// SPDX-License-Identifier: BSL-1.0
#include "onednn_modules.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace bench {

std::vector<onednn_version const*> const& onednn_versions() {
  static std::vector<onednn_version const*> const all = [] {
    namespace files = std::filesystem;
    std::vector<files::path> paths;
    for (auto const& entry : files::directory_iterator(files::read_symlink("/proc/self/exe").parent_path())) {
      if (entry.path().filename().string().starts_with("bench_onednn")) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());

    std::vector<onednn_version const*> versions;
    for (auto const& path : paths) {
      // In a namespace of its own: libraries of one major version share a name, and a second one is not loaded.
      void* const module = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_LAZY);
      void* const symbol = module ? dlsym(module, "bench_onednn_version") : nullptr;
      if (symbol) {
        versions.push_back(reinterpret_cast<decltype(&bench_onednn_version)>(symbol)());
      } else {
        std::cerr << "bench_kernels: " << dlerror() << '\n';
      }
    }
    return versions;
  }();
  return all;
}

namespace {
std::function<void()> repeated(onednn_version const& version, void* made) {
  if (!made) return {};
  return [&version, primitives = std::shared_ptr<void>(made, version.destroy)] { version.run(primitives.get()); };
}
}  // namespace

std::function<void()> prepare(onednn_version const& version, onednn_norm const& norm) {
  return repeated(version, version.make_norm(norm));
}
std::function<void()> prepare(onednn_version const& version, onednn_activation const& activation) {
  return repeated(version, version.make_activation(activation));
}

}  // namespace bench
