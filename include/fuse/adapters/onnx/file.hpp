// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <google/protobuf/arena.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fuse/adapters/onnx/damaged_fields.hpp>
#include <fuse/adapters/onnx/graph.hpp>
#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/wire.hpp>

namespace fuse::inline v0::adapters {

namespace detail {

[[nodiscard]] inline std::string because() { return std::string(": ") + std::strerror(errno); }

/// Closes what it opened.
class file_handle {
 public:
  explicit file_handle(int number) : number_(number) {}
  file_handle(file_handle const&) = delete;
  file_handle& operator=(file_handle const&) = delete;
  ~file_handle() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

[[nodiscard]] inline bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

[[nodiscard]] inline std::filesystem::path folder_of(std::filesystem::path const& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Makes `path` hold `bytes`, all at once: written beside it, then renamed. A file that was there keeps its
/// permissions, a link keeps its place. What is no regular file (a pipe, a device) is written to. Returns why not, or
/// nothing.
[[nodiscard]] inline std::string replace_file(std::filesystem::path path, std::string_view bytes) {
  std::error_code none;
  auto const target = std::filesystem::canonical(path, none);
  if (!none) path = target;
  struct ::stat about {};
  bool const exists = ::stat(path.c_str(), &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) return "it is a folder";
  if (exists && !S_ISREG(about.st_mode)) {
    file_handle device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return device.number() >= 0 && write_all(device.number(), bytes) ? std::string() : std::strerror(errno);
  }
  auto const beside = folder_of(path) / ("." + path.filename().string() + "." + std::to_string(::getpid()) + ".part");
  file_handle file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) return std::strerror(errno);
  bool done = !exists || ::fchmod(file.number(), about.st_mode & 07777) == 0;
  done = done && write_all(file.number(), bytes);
  done = done && file.close();
  done = done && ::rename(beside.c_str(), path.c_str()) == 0;
  if (done) return {};
  std::string const reason = std::strerror(errno);
  ::unlink(beside.c_str());
  return reason;
}

/// Puts a copy of an external file beside another model. One that is there already must have the same contents.
[[nodiscard]] inline std::string copy_beside(std::filesystem::path const& from, std::filesystem::path const& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::equivalent(from, to, failed)) return {};
  if (fs::exists(to, failed)) {
    mapped_file old, made;
    if (old.open(from) && made.open(to) && old.bytes().size() == made.bytes().size() &&
        std::memcmp(old.bytes().data(), made.bytes().data(), old.bytes().size()) == 0)
      return {};
    return "another file is there";
  }
  fs::create_directories(folder_of(to), failed);
  auto const beside = folder_of(to) / ("." + to.filename().string() + "." + std::to_string(::getpid()) + ".part");
  if (!fs::copy_file(from, beside, failed)) return failed.message();
  if (::rename(beside.c_str(), to.c_str()) == 0) return {};
  std::string const reason = std::strerror(errno);
  ::unlink(beside.c_str());
  return reason;
}

}  // namespace detail

/// A model as a file holds it. Keeps the bytes, so that a model which nothing changed is written as it was read.
class onnx_file {
 public:
  onnx_file() : model_(google::protobuf::Arena::CreateMessage<::onnx::ModelProto>(&arena_)) {}
  onnx_file(onnx_file const&) = delete;
  onnx_file& operator=(onnx_file const&) = delete;

  /// Once per object. False, with a reason in error(), where there is no model; whether it is sound is the graph's to
  /// say.
  bool read(std::filesystem::path const& path) {
    path_ = path;
    return load(path) && decode();
  }
  /// As if a file of these bytes had been read.
  bool read_bytes(std::string bytes) {
    bytes_ = std::move(bytes);
    return decode();
  }

  [[nodiscard]] std::string const& error() const { return error_; }
  [[nodiscard]] ::onnx::ModelProto& model() { return *model_; }
  [[nodiscard]] std::filesystem::path folder() const { return detail::folder_of(path_); }

  /// The bytes to write: those that were read, or the model's where `graph` edited it. False where they are more than
  /// ONNX allows.
  bool encode(onnx_graph const& graph, std::string& bytes) {
    if (!graph.edited()) {
      bytes = bytes_;
      return true;
    }
    bytes.clear();
    if (model_->ByteSizeLong() > most_bytes || !detail::serialize(*model_, bytes))
      return fail("the result has more than 2 GiB, which ONNX does not allow");
    return true;
  }

  /// Writes a committed graph. The file appears whole or not at all, and may be the one that was read. External data
  /// are not touched; beside a model in another folder they are copied, and never replace a file of other contents.
  bool write(std::filesystem::path const& path, onnx_graph const& graph) {
    std::string bytes;
    if (!encode(graph, bytes)) return false;
    auto const to = detail::folder_of(path);
    std::string wrong;
    graph.tables().tensors.external().for_each([&](std::string const& location) {
      if (wrong.empty())
        if (auto const reason = detail::copy_beside(folder() / location, to / location); !reason.empty())
          wrong = "external data '" + location + "' cannot be copied beside " + path.string() + ": " + reason;
    });
    if (!wrong.empty()) return fail(wrong);
    auto const reason = detail::replace_file(path, bytes);
    return reason.empty() || fail("cannot write " + path.string() + ": " + reason);
  }

 private:
  static constexpr std::size_t most_bytes = std::numeric_limits<int>::max();  // what protobuf puts into one message

  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }

  bool load(std::filesystem::path const& path) {
    detail::file_handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct ::stat about {};
    if (file.number() < 0 || ::fstat(file.number(), &about) != 0)
      return fail("cannot read " + path.string() + detail::because());
    if (S_ISDIR(about.st_mode)) return fail("cannot read " + path.string() + ": it is a folder");
    if (S_ISREG(about.st_mode)) {
      if (static_cast<std::size_t>(about.st_size) > most_bytes) return fail(too_large());
      bytes_.resize(static_cast<std::size_t>(about.st_size));
    }
    std::size_t size = 0;
    while (true) {
      if (size == bytes_.size() && !S_ISREG(about.st_mode)) bytes_.resize(size + size / 2 + (1u << 16));
      if (size == bytes_.size()) break;
      auto const got = ::read(file.number(), bytes_.data() + size, bytes_.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail("cannot read " + path.string() + detail::because());
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
      if (size > most_bytes) return fail(too_large());
    }
    bytes_.resize(size);
    return true;
  }

  [[nodiscard]] std::string too_large() const { return subject() + "has more than 2 GiB, which ONNX does not allow"; }
  [[nodiscard]] std::string subject() const { return path_.empty() ? std::string("the model ") : path_.string() + " "; }

  bool decode() {
    if (bytes_.empty()) return fail(subject() + "is empty");
    if (!model_->ParseFromArray(bytes_.data(), static_cast<int>(bytes_.size())))
      return fail(subject() + detail::explain_undecodable(bytes_));
    auto const damage = detail::damaged_fields().find(*model_);
    return damage.empty() || fail(subject() + damage);
  }

  std::filesystem::path path_;
  std::string bytes_;
  std::string error_;
  google::protobuf::Arena arena_;
  ::onnx::ModelProto* model_;
};

}  // namespace fuse::inline v0::adapters
