// SPDX-License-Identifier: BSL-1.0
#include "graphviz.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fuse/adapters/onnx/file.hpp>
#include <memory>
#include <utility>

extern char** environ;

namespace fuse_onnx {
namespace {

// Lets Graphviz's program `dot` make a drawing of `text`, which it replaces. Returns why it could not, or nothing.
std::string as_svg(std::string& text) {
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  // Files that have no name: nothing is left behind, and neither side waits for the other.
  std::unique_ptr<std::FILE, closer> const in(std::tmpfile()), out(std::tmpfile());
  if (!in || !out || std::fwrite(text.data(), 1, text.size(), in.get()) != text.size() || std::fflush(in.get()) != 0 ||
      std::fseek(in.get(), 0, SEEK_SET) != 0)
    return std::string("no room for temporary files: ") + std::strerror(errno);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ::fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ::fileno(out.get()), STDOUT_FILENO);
  std::string program = "dot", format = "-Tsvg";
  std::array<char*, 3> arguments{program.data(), format.data(), nullptr};
  pid_t child = 0;
  int const failed = ::posix_spawnp(&child, program.c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed == ENOENT) return "Graphviz's program 'dot' is not installed; a drawing that ends in .dot needs none";
  if (failed != 0) return std::string("Graphviz's program 'dot' does not start: ") + std::strerror(failed);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::string("lost Graphviz's program 'dot': ") + std::strerror(errno);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "Graphviz's program 'dot' failed";

  text.clear();
  std::rewind(out.get());
  std::array<char, 1 << 16> part{};
  while (auto const got = std::fread(part.data(), 1, part.size(), out.get())) text.append(part.data(), got);
  return {};
}

}  // namespace

std::string no_drawing(std::filesystem::path const& file) {
  auto const kind = file.extension();
  return kind == ".dot" || kind == ".svg" ? std::string()
                                          : "a drawing is a file that ends in .dot or .svg, not " + file.string();
}

std::string write_drawing(std::filesystem::path const& file, std::string text) {
  auto reason = file.extension() == ".svg" ? as_svg(text) : std::string();
  if (reason.empty()) reason = fuse::adapters::detail::replace_file(file, text);
  return reason.empty() ? reason : "cannot write " + file.string() + ": " + reason;
}

}  // namespace fuse_onnx
