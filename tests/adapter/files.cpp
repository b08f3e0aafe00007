// SPDX-License-Identifier: BSL-1.0
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <fuse/adapters/onnx.hpp>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "parsed.hpp"

namespace files {

namespace fs = std::filesystem;
using fuse::adapters::onnx_file;
using fuse::adapters::onnx_graph;
using traits = fuse::graph_traits<onnx_graph>;

namespace {

struct scratch_folder {
  fs::path path;
  scratch_folder() {
    auto name = (fs::temp_directory_path() / "fuse-XXXXXX").string();
    path = mkdtemp(name.data()) == nullptr ? fs::path() : fs::path(name);
  }
  ~scratch_folder() { fs::remove_all(path); }
};

void put(fs::path const& path, std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
std::string get(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

onnx::ModelProto external(std::string const& location, std::string const& more = {}) {
  return parsed(
      R"(graph { initializer { name: "w" dims: 2 data_type: 1 data_location: EXTERNAL external_data { key: "location" value: ")" +
      location + "\" } " + more + R"( } node { op_type: "Neg" input: "w" output: "y" } output { name: "y" } })");
}

}  // namespace

TEST_CASE("a model that nothing edited is written as it was read, unknown fields and odd encodings included") {
  scratch_folder const folder;
  auto bytes = parsed(branching).SerializeAsString();
  bytes += std::string("\xc2\x3e\x03") + "new";     // field 1000
  bytes += std::string("\x08\x88\x80\x80\x00", 5);  // ir_version once more, in more bytes than it needs
  put(folder.path / "in.onnx", bytes);
  onnx_file file;
  REQUIRE(file.read(folder.path / "in.onnx"));
  onnx_graph graph(file.model(), file.folder());
  REQUIRE(graph.error() == "");
  graph.commit();
  REQUIRE(file.write(folder.path / "out.onnx", graph));
  CHECK(get(folder.path / "out.onnx") == bytes);
}

TEST_CASE("damage in fields is found, whether or not the parser knows them; fields of nobody stay as they are") {
  auto const error = [](std::string const& more) {
    onnx_file file;
    auto const graph = "\x3a" + std::string(1, static_cast<char>(more.size())) + more;  // what comes twice is merged
    return file.read_bytes(parsed(branching).SerializeAsString() + graph) ? std::string() : file.error();
  };
  auto const in_node = [](std::string const& field) {
    auto const node = "\x22\x03Neg\x12\x01q" + field;
    return "\x0a" + std::string(1, static_cast<char>(node.size())) + node;
  };
  CHECK(error("") == "");
  CHECK(error(in_node("\x4a\x03\x0a\x01k")) == "");                 // metadata_props
  CHECK(error(in_node("\x4a\x03\x0a\x02k")) != "");                 // cut off
  CHECK(error(in_node("\x48\x03")) == "");                          // a number in its place is nobody's
  CHECK(error(in_node("\x52\x06\x12\x04\x12\x02\x01\x02")) == "");  // device_configurations.sharding_spec.device
  CHECK(error(in_node("\x52\x06\x12\x04\x12\x02\x01\x82")) != "");  // its last number is cut off
  CHECK(error(in_node("\x52\x05\x12\x04\x12\x02\x01")) != "");      // a part is longer than the whole
  CHECK(error(in_node("\xa2\x06\x03\x0a\x02k")) == "");             // 100: nobody's
  CHECK(error("\x82\x01\x03\x0a\x02k") != "");                      // metadata_props of the graph
  CHECK(error("\x2a\x06\x82\x01\x03\x0a\x02k") != "");              // of an initializer
}

TEST_CASE("a file is replaced whole, and keeps its permissions") {
  scratch_folder const folder;
  auto const path = folder.path / "model.onnx";
  put(path, parsed(branching).SerializeAsString());
  ::chmod(path.c_str(), 0640);
  fs::create_symlink("model.onnx", folder.path / "link.onnx");
  onnx_file file;
  REQUIRE(file.read(folder.path / "link.onnx"));
  onnx_graph graph(file.model(), file.folder());
  REQUIRE(file.write(folder.path / "link.onnx", graph));
  CHECK(fs::is_symlink(folder.path / "link.onnx"));
  CHECK((fs::status(path).permissions() & fs::perms::mask) == fs::perms(0640));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
  CHECK_FALSE(file.write(folder.path / "nowhere" / "model.onnx", graph));
  CHECK(file.error() ==
        "cannot write " + (folder.path / "nowhere" / "model.onnx").string() + ": No such file or directory");
  CHECK_FALSE(file.write(folder.path, graph));
}

TEST_CASE("external data are read where they lie, and copied beside a model elsewhere") {
  scratch_folder const folder, other;
  float const numbers[]{9, 1.5f, -2};
  put(folder.path / "weights.bin", std::string(reinterpret_cast<char const*>(numbers), sizeof numbers));
  put(folder.path / "in.onnx",
      external("weights.bin",
               R"(external_data { key: "offset" value: "4" } external_data { key: "length" value: "8" })")
          .SerializeAsString());
  onnx_file file;
  REQUIRE(file.read(folder.path / "in.onnx"));
  onnx_graph graph(file.model(), file.folder());
  REQUIRE(graph.error() == "");
  auto const w = traits::operands(graph, *traits::nodes(graph).begin())[0];
  CHECK(traits::constant(graph, w).number(1) == -2.0);
  REQUIRE(file.write(folder.path / "in.onnx", graph));
  REQUIRE(file.write(other.path / "out.onnx", graph));
  CHECK(get(other.path / "weights.bin") == get(folder.path / "weights.bin"));
  REQUIRE(file.write(other.path / "out.onnx", graph));
  put(other.path / "weights.bin", "something else");
  CHECK_FALSE(file.write(other.path / "out.onnx", graph));
  CHECK(file.error().find("another file is there") != std::string::npos);
  CHECK(get(other.path / "weights.bin") == "something else");
}

TEST_CASE("external data that are missing, short or outside the folder are refused") {
  scratch_folder const folder;
  auto const inside = folder.path / "model";
  fs::create_directory(inside);
  put(inside / "short.bin", "1234567");
  put(inside / "right.bin", "12345678");
  put(folder.path / "outside.bin", "12345678");
  fs::create_symlink("../outside.bin", inside / "link.bin");
  auto const error = [&](std::string const& location, std::string const& more = {}) {
    auto model = external(location, more);
    return onnx_graph(model, inside).error();
  };
  auto const begin = std::string("initializer 'w' refers to files that do not help: ");
  CHECK(error("right.bin") == "");
  CHECK(error("./right.bin") == "");
  CHECK(error("absent.bin") == begin + "external data 'absent.bin' is missing");
  CHECK(error("../outside.bin") == begin + "external data '../outside.bin' escapes the folder of the model");
  CHECK(error("link.bin") == begin + "external data 'link.bin' escapes the folder of the model through a link");
  CHECK(error("/etc/passwd") ==
        begin + "external data '/etc/passwd' escapes the folder of the model: its location is absolute");
  CHECK(error("") == begin + "external data has no location");
  CHECK(error(".") == begin + "external data '.' cannot be read");
  CHECK(error("short.bin") == "initializer 'w' wants 8 bytes at offset 0 of external data 'short.bin', which has 7");
  CHECK(error("right.bin", R"(external_data { key: "offset" value: "18446744073709551615" })")
            .find("wants 8 bytes at offset") != std::string::npos);
  CHECK(error("right.bin", R"(external_data { key: "offset" value: "-4" })") ==
        "initializer 'w' keeps external data at an offset that is no number");
  CHECK(error("right.bin", R"(external_data { key: "length" value: "4" })") ==
        "initializer 'w' holds 4 bytes of external data where its shape wants 8");
}

}  // namespace files
