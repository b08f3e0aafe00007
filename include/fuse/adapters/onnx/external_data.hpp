// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fuse/core/span.hpp>

namespace fuse::inline v0::adapters::detail {

/// The bytes of a file, mapped when it is opened and read by the system as they are touched.
class mapped_file {
 public:
  mapped_file() = default;
  mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  mapped_file& operator=(mapped_file&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  /// False when `path` is no readable regular file.
  bool open(std::filesystem::path const& path) {
    struct ::stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;  // before open: a pipe would block
    auto const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool mapped = true;
    if (about.st_size > 0) {
      auto const size = static_cast<std::size_t>(about.st_size);
      auto* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      mapped = at != MAP_FAILED;
      if (mapped) bytes_ = {static_cast<std::byte const*>(at), size};
    }
    ::close(file);
    return mapped;
  }

  [[nodiscard]] span<std::byte const> bytes() const { return bytes_; }

 private:
  span<std::byte const> bytes_;
};

/// The files beside a model that hold its tensors.
class external_data {
 public:
  /// `folder` is the model's; without one external tensors have no contents.
  explicit external_data(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  [[nodiscard]] bool has_folder() const { return !folder_.empty(); }

  /// The bytes of the file `location`, or why there are none. A location must lie in the folder, links followed.
  bool find(std::string const& location, span<std::byte const>& bytes, std::string& error) {
    auto const [at, added] = files_.try_emplace(location);
    auto& file = at->second;
    if (added) file.error = open(location, file.data);
    bytes = file.data.bytes();
    error = file.error;
    return error.empty();
  }

  /// Calls `visit(location)` for each file in the order of names.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const& [location, file] : files_) visit(location);
  }

 private:
  struct opened {
    mapped_file data;
    std::string error;
  };

  std::string open(std::string const& location, mapped_file& data) const {
    namespace fs = std::filesystem;
    fs::path const relative(location);
    auto const quoted = "external data '" + location + "' ";
    if (location.empty() || location.find('\0') != std::string::npos) return "external data has no location";
    if (relative.is_absolute()) return quoted + "escapes the folder of the model: its location is absolute";
    for (auto const& part : relative)
      if (part == "..") return quoted + "escapes the folder of the model";
    std::error_code failed;
    auto const root = fs::canonical(folder_, failed);
    if (failed) return "the folder of the model cannot be read";
    auto const file = fs::canonical(folder_ / relative, failed);
    if (failed) return quoted + "is missing";
    auto const inside = file.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..") return quoted + "escapes the folder of the model through a link";
    if (!data.open(file)) return quoted + "cannot be read";
    return {};
  }

  std::filesystem::path folder_;
  std::map<std::string, opened> files_;
};

}  // namespace fuse::inline v0::adapters::detail
