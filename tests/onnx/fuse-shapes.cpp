// SPDX-License-Identifier: BSL-1.0
// fuse-shapes MODEL...: of each model a JSON line for each named value, those of functions aside, and then an empty
// line: {"name": "y", "type": "float32", "dims": [2, "batch", null]}. Types are called as ONNX calls them; a dimension
// is a number, an expression over the model's names, or null.
#include <cstdio>
#include <string>
#include <string_view>

#include <fuse/adapters/onnx.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string line(fuse::detail::facts const& known, fuse::value_id v, std::string_view name) {
  std::string out = "{\"name\": " + in_quotes(name) + ", \"type\": ";
  auto const type = known.type(v);
  out += type == fuse::element_type::unknown ? "null"
                                             : in_quotes(type == fuse::element_type::boolean ? "bool" : name_of(type));
  out += ", \"dims\": ";
  if (!known.has_rank(v)) return out + "null}";
  std::string_view separator = "[";
  for (auto const e : known.shape(v)) {
    out += separator;
    out += e.known()                     ? std::to_string(e.value())
           : known.symbols().is_fresh(e) ? std::string("null")
                                         : in_quotes(known.symbols().text(e));
    separator = ", ";
  }
  return out + (known.shape(v).empty() ? "[]}" : "]}");
}

int tell(char const* model) {
  using fuse::adapters::onnx_graph;
  fuse::adapters::onnx_file file;
  if (!file.read(model)) {
    std::fprintf(stderr, "%s\n", file.error().c_str());
    return 1;
  }
  onnx_graph const graph(file.model(), file.folder());
  if (!graph) {
    std::fprintf(stderr, "%s\n", graph.error().c_str());
    return 1;
  }
  auto const& names = fuse::dialect_of<onnx_graph>;
  fuse::graph_binding<onnx_graph const> const bound(graph, fuse::names_in(names), names.newest);
  if (bound.cyclic()) {
    std::fputs("the graph is cyclic\n", stderr);
    return 1;
  }
  fuse::detail::facts known(bound.image, names);
  known.run();
  for (fuse::value_id v = 0; v < bound.image.value_count(); ++v)
    if (auto const name = bound.value_name(v); !name.empty() && bound.image.scope_of(bound.image.value(v).region) == 0)
      std::puts(line(known, v, name).c_str());
  std::puts("");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: fuse-shapes MODEL...\n", stderr);
    return 2;
  }
  for (int i = 1; i < count; ++i)
    if (auto const status = tell(arguments[i]); status != 0) return status;
}
