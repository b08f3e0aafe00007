// SPDX-License-Identifier: BSL-1.0
#include "onednn.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

#define BENCH_ONEDNN (DNNL_VERSION_MAJOR * 100 + DNNL_VERSION_MINOR)

namespace {
using namespace dnnl;
using bench::onednn_norm;

struct norm {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  layer_normalization_forward primitive;
  std::vector<memory> tensors;
  std::vector<dnnl_exec_arg_t> arguments;

  explicit norm(onednn_norm const& what) {
    auto const rows = static_cast<memory::dim>(what.rows), columns = static_cast<memory::dim>(what.columns);
    auto const type = what.element == onednn_norm::element::float32    ? memory::data_type::f32
                      : what.element == onednn_norm::element::bfloat16 ? memory::data_type::bf16
                                                                       : memory::data_type::f16;
    memory::desc const matrix({rows, columns}, type, memory::format_tag::ab);
    // What every version takes for every element type, and what none is slow with.
    memory::desc const vector({columns}, memory::data_type::f32, memory::format_tag::a);
    bool const has_bias = what.formula == onednn_norm::formula::layer_norm;
    auto flags = normalization_flags::use_scale;
    if (has_bias) flags |= normalization_flags::use_shift;
#if BENCH_ONEDNN >= 309
    if (!has_bias) flags |= normalization_flags::rms_norm;
#else
    if (!has_bias) throw error(dnnl_unimplemented, "no rms_norm");
#endif
#if BENCH_ONEDNN >= 300
    primitive = layer_normalization_forward(layer_normalization_forward::primitive_desc(
        cpu, prop_kind::forward_inference, matrix, matrix, what.epsilon, flags));
#else
    primitive = layer_normalization_forward(layer_normalization_forward::primitive_desc(
        layer_normalization_forward::desc(prop_kind::forward_inference, matrix, what.epsilon, flags), cpu));
#endif
    add(DNNL_ARG_SRC, matrix, what.x);
    add(DNNL_ARG_DST, matrix, what.y);
    add(DNNL_ARG_SCALE, vector, what.scale);
    if (has_bias) add(DNNL_ARG_SHIFT, vector, what.bias);
    run();
  }

  void add(int argument, memory::desc const& description, void const* data) {
    tensors.emplace_back(description, cpu, const_cast<void*>(data));
    arguments.push_back({argument, tensors.back().get()});
  }

  // Its C interface: the C++ one fills a map anew in each call.
  void run() {
    error::wrap_c_api(
        dnnl_primitive_execute(primitive.get(), queue.get(), static_cast<int>(arguments.size()), arguments.data()),
        "layer normalization");
  }
};

}  // namespace

extern "C" bench::onednn_version const* bench_onednn_version() {
  static std::string const name = [] {
    auto const* const found = dnnl_version();
    return std::to_string(found->major) + "." + std::to_string(found->minor) + "." + std::to_string(found->patch);
  }();
  static bench::onednn_version const version{name.c_str(),
                                             [](onednn_norm const& what) -> void* {
                                               try {
                                                 return new norm(what);
                                               } catch (error const&) {
                                                 return nullptr;
                                               }
                                             },
                                             [](void* made) { static_cast<norm*>(made)->run(); },
                                             [](void* made) { delete static_cast<norm*>(made); }};
  return &version;
}
