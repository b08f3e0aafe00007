// SPDX-License-Identifier: BSL-1.0
#include "onednn.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <utility>
#include <vector>

#define BENCH_ONEDNN (DNNL_VERSION_MAJOR * 100 + DNNL_VERSION_MINOR)

namespace {
using namespace dnnl;
using bench::onednn_activation;
using bench::onednn_norm;

// Primitives that follow each other, with their tensors.
class work {
 public:
  explicit work(onednn_norm const& what) {
    auto const type = what.element == onednn_norm::element::float32    ? memory::data_type::f32
                      : what.element == onednn_norm::element::bfloat16 ? memory::data_type::bf16
                                                                       : memory::data_type::f16;
    memory::desc const matrix = rows_of(what, type);
    // What every version takes for every element type, and what none is slow with.
    memory::desc const vector({static_cast<memory::dim>(what.columns)}, memory::data_type::f32, memory::format_tag::a);
    bool const has_bias = what.formula == onednn_norm::formula::layer_norm;
    auto flags = normalization_flags::use_scale;
    if (has_bias) flags |= normalization_flags::use_shift;
#if BENCH_ONEDNN >= 309
    if (!has_bias) flags |= normalization_flags::rms_norm;
#else
    if (!has_bias) throw error(dnnl_unimplemented, "no rms_norm");
#endif
#if BENCH_ONEDNN >= 300
    layer_normalization_forward::primitive_desc const made(cpu, prop_kind::forward_inference, matrix, matrix,
                                                           what.epsilon, flags);
#else
    layer_normalization_forward::primitive_desc const made(
        layer_normalization_forward::desc(prop_kind::forward_inference, matrix, what.epsilon, flags), cpu);
#endif
    std::vector<tensor> tensors{
        {DNNL_ARG_SRC, matrix, what.x}, {DNNL_ARG_DST, matrix, what.y}, {DNNL_ARG_SCALE, vector, what.scale}};
    if (has_bias) tensors.push_back({DNNL_ARG_SHIFT, vector, what.bias});
    add(layer_normalization_forward(made), tensors);
    run();
  }

  explicit work(onednn_activation const& what) {
    using enum bench::activation_formula;
    memory::desc const matrix = rows_of(what, memory::data_type::f32);
    std::vector<tensor> const x_and_y{{DNNL_ARG_SRC, matrix, what.x}, {DNNL_ARG_DST, matrix, what.y}};
    auto const add_eltwise = [&](algorithm function, float alpha) {
#if BENCH_ONEDNN >= 300
      eltwise_forward::primitive_desc const made(cpu, prop_kind::forward_inference, function, matrix, matrix, alpha);
#else
      eltwise_forward::primitive_desc const made(
          eltwise_forward::desc(prop_kind::forward_inference, function, matrix, alpha), cpu);
#endif
      add(eltwise_forward(made), x_and_y);
    };
    switch (what.formula) {
      case softmax: {
#if BENCH_ONEDNN >= 300
        softmax_forward::primitive_desc const made(cpu, prop_kind::forward_inference, algorithm::softmax_accurate,
                                                   matrix, matrix, 1);
#else
        softmax_forward::primitive_desc const made(softmax_forward::desc(prop_kind::forward_inference, matrix, 1), cpu);
#endif
        add(softmax_forward(made), x_and_y);
        break;
      }
      case gelu: add_eltwise(algorithm::eltwise_gelu_erf, 0); break;
      case gelu_by_tanh: add_eltwise(algorithm::eltwise_gelu_tanh, 0); break;
      case swiglu: {
        // A product that follows the function in its own primitive is done by oneDNN's reference code, which is slow.
        add_eltwise(algorithm::eltwise_swish, 1);
#if BENCH_ONEDNN >= 300
        binary::primitive_desc const made(cpu, algorithm::binary_mul, matrix, matrix, matrix);
#else
        binary::primitive_desc const made(binary::desc(algorithm::binary_mul, matrix, matrix, matrix), cpu);
#endif
        add(binary(made),
            {{DNNL_ARG_SRC_0, matrix, what.y}, {DNNL_ARG_SRC_1, matrix, what.up}, {DNNL_ARG_DST, matrix, what.y}});
        break;
      }
    }
    run();
  }

  // Its C interface: the C++ one fills a map anew in each call.
  void run() {
    for (auto const& [one, arguments] : steps) {
      error::wrap_c_api(
          dnnl_primitive_execute(one.get(), queue.get(), static_cast<int>(arguments.size()), arguments.data()),
          "execution");
    }
  }

 private:
  struct tensor {
    int argument;
    memory::desc const& description;
    void const* data;
  };

  static memory::desc rows_of(auto const& what, memory::data_type type) {
    return {
        {static_cast<memory::dim>(what.rows), static_cast<memory::dim>(what.columns)}, type, memory::format_tag::ab};
  }

  void add(primitive const& next, std::vector<tensor> const& of) {
    std::vector<dnnl_exec_arg_t> arguments;
    for (auto const& [argument, description, data] : of) {
      memories.emplace_back(description, cpu, const_cast<void*>(data));
      arguments.push_back({argument, memories.back().get()});
    }
    steps.emplace_back(next, std::move(arguments));
  }

  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  std::vector<memory> memories;
  std::vector<std::pair<primitive, std::vector<dnnl_exec_arg_t>>> steps;
};

template <class What>
void* make(What const& what) {
  try {
    return new work(what);
  } catch (error const&) {
    return nullptr;
  }
}

}  // namespace

extern "C" bench::onednn_version const* bench_onednn_version() {
  static std::string const name = [] {
    auto const* const found = dnnl_version();
    return std::to_string(found->major) + "." + std::to_string(found->minor) + "." + std::to_string(found->patch);
  }();
  static bench::onednn_version const version{name.c_str(), make<onednn_norm>, make<onednn_activation>,
                                             [](void* made) { static_cast<work*>(made)->run(); },
                                             [](void* made) { delete static_cast<work*>(made); }};
  return &version;
}
