// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/eval/dense.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/verify/choices.hpp>

namespace fuse::inline v0::detail {

/// A node that is about to be written: of its operator, what its result is to be, and what is stated of it. Gets the
/// shapes of its operands and the parameters that were drawn for them.
struct layer_call {
  struct parameter {
    std::string name;
    bool listed = false;
    double number = 0;
    std::vector<std::int64_t> list{};
  };

  opcode op = opcode::opaque;
  std::vector<std::int64_t> result{};
  std::size_t count = 0;                             ///< operands
  std::vector<std::int64_t> const* first = nullptr;  ///< the shape of the first one, where it is there already
  std::vector<parameter> stated{};
  std::vector<std::vector<std::int64_t>> operands{};
  std::vector<parameter> drawn{};
  std::size_t parts = 1;                           ///< results
  bool alike = false;                              ///< where operands are parts of the result, these are equally long
  bool batched = false;                            ///< matrices that are multiplied are as many on both sides
  std::vector<std::int64_t> indices{};             ///< of operands that are indices: into how many
  std::vector<std::vector<std::int64_t>> lists{};  ///< of operands that are lists: what they hold

  // Whether the parameter that an operand holds was drawn, which is written there then.
  [[nodiscard]] bool drawn_operand(std::size_t operand, std::string_view wanted) {
    if (wanted.empty() || operand >= count) return false;
    for (auto const& p : drawn)
      if (p.name == wanted && p.listed) return as_operands.emplace_back(wanted), true;
    return false;
  }
  [[nodiscard]] bool is_operand(std::string_view wanted) const {
    for (auto const& p : as_operands)
      if (p == wanted) return true;
    return false;
  }
  std::vector<std::string> as_operands{};

  [[nodiscard]] parameter const* find(std::string_view name) const {
    for (auto const& p : stated)
      if (p.name == name) return &p;
    for (auto const& p : drawn)
      if (p.name == name) return &p;
    return nullptr;
  }
  [[nodiscard]] double number(std::string_view name, double otherwise) const {
    auto const* p = find(name);
    return p == nullptr ? otherwise : p->number;
  }
  // What is stated, or else drawn now.
  double drawn_number(std::string_view name, double drawn_now) {
    if (auto const* p = find(name)) return p->number;
    drawn.push_back({std::string(name), false, drawn_now, {}});
    return drawn_now;
  }
  std::vector<std::int64_t> drawn_list(std::string_view name, std::vector<std::int64_t> drawn_now) {
    if (auto const* p = find(name); p != nullptr && p->listed) return p->list;
    drawn.push_back({std::string(name), true, 0, drawn_now});
    return drawn_now;
  }
};

/// Whether an operator has results of that rank.
[[nodiscard]] inline bool makes_rank(opcode op, std::size_t rank) {
  switch (op) {
    case opcode::conv:
    case opcode::conv_transpose:
    case opcode::max_pool:
    case opcode::average_pool:
    case opcode::instance_norm:
    case opcode::group_norm: return rank >= 3;
    case opcode::matmul:
    case opcode::batch_norm: return rank >= 2;
    case opcode::gemm:
    case opcode::flatten: return rank == 2;
    default: return true;
  }
}

/// Writes the shapes of operands: of the operators that have axes, and of those alone.
class layer_shapes {
 public:
  using shape = std::vector<std::int64_t>;

  layer_shapes(layer_call& call, shape const& whole, random_choices& choose)
      : call_(call), whole_(whole), choose_(choose) {}

  /// False where all operands broadcast to the result, or nobody knows what they are.
  [[nodiscard]] bool draw() {
    auto const& y = call_.result;
    auto& in = call_.operands;
    if (!makes_rank(call_.op, y.size())) return false;
    switch (call_.op) {
      case opcode::conv:
      case opcode::conv_transpose: return draw_convolution();
      case opcode::max_pool:
      case opcode::average_pool: return draw_pool();
      case opcode::pad: return draw_pad();
      case opcode::gemm: return draw_gemm();
      case opcode::matmul: {
        auto left = y;
        left.back() = call_.first != nullptr && call_.first->size() == y.size() ? call_.first->back() : contracted();
        in = {left, {left.back(), y.back()}};
        if (call_.batched || choose_.one_in("batched", 6)) {
          in[1] = y;
          in[1][y.size() - 2] = left.back();
        }
        return true;
      }
      case opcode::batch_norm: {
        in = {y, {y[1]}, {y[1]}, {y[1]}, {y[1]}};
        call_.drawn_number("epsilon", choose_.one_in("usual epsilon", 2) ? 1e-5 : 0.1);
        return true;
      }
      case opcode::instance_norm:
      case opcode::group_norm: {
        in = {y, {y[1]}, {y[1]}};
        if (call_.op == opcode::group_norm) call_.drawn_number("num_groups", y[1] % 2 == 0 ? 2 : 1);
        call_.drawn_number("epsilon", choose_.one_in("usual epsilon", 2) ? 1e-5 : 0.1);
        return true;
      }
      case opcode::layer_norm:
      case opcode::rms_norm: {
        if (y.empty()) return false;
        auto const axis = static_cast<std::ptrdiff_t>(call_.drawn_number("axis", -1));
        auto const first = axis < 0 ? axis + static_cast<std::ptrdiff_t>(y.size()) : axis;
        if (first < 0 || first >= static_cast<std::ptrdiff_t>(y.size())) return false;
        shape const row(y.begin() + first, y.end());
        in = {y, row, row};
        return true;
      }
      case opcode::rotary_embedding:
      case opcode::rotary_embedding_at: {
        if (y.size() < 3 || y.size() > 4 || y.back() % 2 != 0) return false;
        auto heads = static_cast<std::int64_t>(call_.number("num_heads", 0));
        if (y.size() == 3)
          heads = static_cast<std::int64_t>(call_.drawn_number("num_heads", y.back() % 4 == 0 ? 2 : 1));
        if (y.size() == 3 && (heads < 1 || y.back() % (2 * heads) != 0)) return false;
        call_.drawn_number("interleaved", choose_.one_in("interleaved", 2) ? 1 : 0);
        shape const table{y[0], y[y.size() - 2], y.back() / (y.size() == 3 ? 2 * heads : 2)};
        shape const of_positions(table.begin() + 1, table.end());
        if (call_.op == opcode::rotary_embedding)
          in = {y, table, table};
        else
          in = {y, {1}, of_positions, of_positions}, call_.lists = {{}, {0}};
        return true;
      }
      case opcode::attention: {
        if (y.size() != 3 && y.size() != 4) return false;
        auto const heads = y.size() == 4 ? y[1] : y.back() % 2 == 0 ? 2 : 1, length = y[y.size() - 2];
        if (y.size() == 3)
          for (auto const name : {"q_num_heads", "kv_num_heads"}) call_.drawn_number(name, static_cast<double>(heads));
        call_.drawn_number("scale", choose_.one_in("usual scale", 2) ? 0.5 : 0.25);
        in = {y, y, y, {1, choose_.one_in("a mask for all", 2) ? 1 : heads, length, length}};
        return true;
      }
      case opcode::multi_head_attention: {
        if (y.size() != 3) return false;
        auto const heads = y.back() % 2 == 0 ? 2 : 1;
        call_.drawn_number("num_heads", heads);
        call_.drawn_number("scale", choose_.one_in("usual scale", 2) ? 0.5 : 0.25);
        auto const of = [&](std::int64_t all) { return choose_.one_in("a mask for all", 2) ? 1 : all; };
        auto const keys = choose_.one_in("keys by heads", 5) ? shape{y[0], heads, y[1], y[2] / heads} : y;
        in = {y, keys, keys, {}, {}, {of(y[0]), of(heads), y[1], y[1]}};
        return true;
      }
      case opcode::skip_layer_norm:
      case opcode::skip_rms_norm: {
        if (y.empty()) return false;
        in = {y, y, {y.back()}, {y.back()}, {y.back()}};
        return true;
      }
      case opcode::gelu:
      case opcode::fast_gelu:
      case opcode::bias_gelu: {
        in = {y, y.empty() ? y : shape{y.back()}};
        return true;
      }
      case opcode::softmax:
      case opcode::log_softmax:
      case opcode::hardmax: {
        if (y.empty()) return false;
        auto const rank = static_cast<int>(y.size());
        call_.drawn_number("axis", choose_.number("softmax axis", {-1, -1, 0, 1}) % rank);
        in = {y};
        return true;
      }
      case opcode::cast: {
        in = {y};
        using enum element_type;
        constexpr element_type types[] = {float32, float64, float16, bfloat16, int32, int64, boolean};
        auto const to = types[choose_.number("converted to", {0, 0, 1, 1, 2, 3, 4, 5, 6})];
        call_.drawn_number("to", static_cast<double>(to));
        return true;
      }
      case opcode::expand:
      case opcode::tile: {
        if (y.empty() || call_.count != 2) return false;
        auto from = y;
        if (choose_.one_in("repeated", 3))
          from[static_cast<std::size_t>(choose_.number("along", {0, 1, 2})) % y.size()] = 1;
        auto to = y;
        if (call_.op == opcode::tile)
          for (std::size_t i = 0; i < y.size(); ++i) to[i] = from[i] == y[i] ? 1 : y[i];
        in = {from, {static_cast<std::int64_t>(y.size())}};
        call_.lists = {{}, to};
        return true;
      }
      case opcode::transpose: return draw_transpose();
      case opcode::reshape: return draw_reshape();
      case opcode::flatten: return draw_flatten();
      case opcode::concat: {
        if (y.empty() || call_.count == 0) return false;
        auto const axis = axis_of("concat axis");
        auto const n = static_cast<std::int64_t>(call_.count);
        if (y[axis] < n) return false;
        in.assign(call_.count, y);
        bool const alike = y[axis] % n == 0 && (call_.alike || !choose_.one_in("parts of several sizes", 3));
        for (auto& each : in) each[axis] = alike ? y[axis] / n : 1;
        if (!alike) in.back()[axis] = y[axis] - n + 1;
        return true;
      }
      case opcode::split: {
        if (y.empty()) return false;
        auto const axis = axis_of("split axis");
        in = {y};
        in[0][axis] = 2 * y[axis];
        call_.parts = 2;
        call_.drawn_list("split", {y[axis], y[axis]});
        return true;
      }
      case opcode::slice: {
        if (y.empty() || call_.count != 1) return false;
        auto const back = static_cast<std::size_t>(choose_.number("sliced axis", {1, 1, 2}));
        auto const axis = y.size() - std::min(back, y.size());
        auto const before = choose_.number("before the slice", {0, 1, 2});
        std::int64_t step = 1;
        if (choose_.one_in("steps stated", 2)) {
          step = choose_.number("step", {1, 1, 2});
          call_.drawn_list("steps", {step});
        }
        in = {y};
        in[0][axis] = before + (y[axis] - 1) * step + 1;
        call_.drawn_list("starts", {before});
        call_.drawn_list("ends", {in[0][axis]});
        call_.drawn_list("axes", {static_cast<std::int64_t>(axis)});
        return true;
      }
      case opcode::gather: {
        if (call_.count != 2) return false;
        if (y.empty()) {  // of a list
          in = {{inner() + 1}, y};
          call_.indices = {0, in[0][0]};
          return true;
        }
        if (y.size() < 2) return false;
        auto const rows = std::max(inner() + 1, y[y.size() - 2]);  // positions are among them
        in = {{rows, y.back()}, shape(y.begin(), y.end() - 1)};
        call_.indices = {0, rows};
        call_.drawn_number("axis", 0);
        return true;
      }
      case opcode::unsqueeze: {
        auto const added = std::count(y.begin(), y.end(), 1);
        if (added == 0) return false;
        auto skipped = choose_.number("unsqueezed", {0, 1, 2}) % added;
        auto at = y.begin();
        while (*at != 1 || skipped-- != 0) ++at;
        call_.drawn_list("axes", {at - y.begin()});
        in = {y};
        in[0].erase(in[0].begin() + (at - y.begin()));
        return true;
      }
      case opcode::squeeze: {
        auto more = y;
        auto const at = choose_.number("squeezed", {0, 1, 2}) % static_cast<int>(y.size() + 1);
        more.insert(more.begin() + at, 1);
        call_.drawn_list("axes", {at});
        in = {more};
        return true;
      }
      default: return false;
    }
  }

 private:
  [[nodiscard]] std::int64_t inner() { return choose_.number("inner", {2, 3, 4, 1}); }
  // What is summed by a product of matrices; sometimes much more than there are columns.
  [[nodiscard]] std::int64_t contracted() { return choose_.one_in("a wide operand", 4) ? 24 : inner(); }
  [[nodiscard]] std::size_t axis_of(std::string_view dimension) {
    auto const rank = static_cast<std::int64_t>(call_.result.size());
    auto const axis = static_cast<std::int64_t>(
        call_.drawn_number("axis", static_cast<double>(choose_.number(dimension, {-1, -1, 0, 1}) % rank)));
    return static_cast<std::size_t>((axis + 2 * rank) % rank);
  }

  bool draw_transpose() {
    auto const& y = call_.result;
    shape order;
    for (std::size_t i = 0; i < y.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(choose_.number("turned", {0, 1, 2, 3})) % i]);
    order = call_.drawn_list("perm", order);
    if (order.size() != y.size()) return false;
    shape from(y.size(), 1);
    for (std::size_t i = 0; i < order.size(); ++i) from[static_cast<std::size_t>(order[i])] = y[i];
    call_.operands = {from};
    return true;
  }
  bool draw_reshape() {
    auto const& y = call_.result;
    auto const at =
        static_cast<std::ptrdiff_t>(choose_.number("flattened", {1, 1, 2, 0, 3}) % static_cast<int>(y.size() + 1));
    auto const product = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
      std::int64_t all = 1;
      for (; from < to; ++from) all *= y[static_cast<std::size_t>(from)];
      return all;
    };
    shape const from{product(0, at), product(at, static_cast<std::ptrdiff_t>(y.size()))};
    auto to = y;
    for (std::size_t i = 0; i < to.size(); ++i)
      if (i < from.size() && to[i] == from[i] && choose_.one_in("an extent that is kept", 2)) to[i] = 0;
    if (!to.empty() && choose_.one_in("an extent that is left", 4))
      to[static_cast<std::size_t>(choose_.number("which is left", {0, 1, 2, 3})) % to.size()] = -1;
    call_.drawn_list("shape", to);
    call_.operands = {from};
    return true;
  }
  // What is flattened is the whole of the pattern, where that fits.
  bool draw_flatten() {
    auto const& y = call_.result;
    auto const rank = static_cast<std::int64_t>(whole_.size());
    auto const* told = call_.find("axis");
    std::int64_t before = 1;
    for (std::int64_t k = 0; k <= rank; ++k) {
      bool const here = told == nullptr || static_cast<std::int64_t>(told->number) == k ||
                        static_cast<std::int64_t>(told->number) == k - rank;
      if (before == y[0] && static_cast<std::int64_t>(count_of(whole_)) == y[0] * y[1] && here) {
        call_.operands = {whole_};
        call_.drawn_number("axis", static_cast<double>(choose_.one_in("from the last", 3) && k < rank ? k - rank : k));
        return true;
      }
      if (k < rank) before *= whole_[static_cast<std::size_t>(k)];
    }
    call_.drawn_number("axis", 1);
    call_.operands = {y};
    return true;
  }

  bool draw_gemm() {
    auto const& y = call_.result;
    bool const turned_a = call_.drawn_number("transA", choose_.one_in("transA", 3) ? 1 : 0) != 0;
    bool const turned_b = call_.drawn_number("transB", choose_.one_in("transB", 2) ? 1 : 0) != 0;
    constexpr double factors[] = {1, 1, 0.5, 2, -0.75};
    call_.drawn_number("alpha", factors[choose_.number("alpha", {0, 1, 2, 3, 4})]);
    call_.drawn_number("beta", factors[choose_.number("beta", {0, 1, 2, 3, 4})]);
    bool const known = call_.first != nullptr && call_.first->size() == 2;
    auto const k = known ? (*call_.first)[turned_a ? 0 : 1] : contracted();
    shape a{y[0], k}, b{k, y[1]}, c = y;
    if (turned_a) std::swap(a[0], a[1]);
    if (turned_b) std::swap(b[0], b[1]);
    switch (choose_.number("addend of a Gemm", {0, 0, 1, 2, 3})) {
      case 0: c = {y[1]}; break;
      case 1: c[0] = 1; break;
      case 2: c = {1}; break;
      default: break;
    }
    call_.operands = {a, b, c};
    return true;
  }

  // Strides, dilations, paddings and groups such that the result has the extents that are wanted.
  bool draw_convolution() {
    auto const& y = call_.result;
    bool const transposed = call_.op == opcode::conv_transpose;
    auto const spatial = y.size() - 2;
    auto const group =
        static_cast<std::int64_t>(call_.drawn_number("group", y[1] % 2 == 0 && choose_.one_in("groups", 4) ? 2 : 1));
    auto const kernel = static_cast<std::int64_t>(choose_.number("kernel", {1, 2, 3}));
    auto const stride = static_cast<std::int64_t>(choose_.number("stride", {1, 1, 2}));
    auto const dilation = static_cast<std::int64_t>(choose_.number("dilation", {1, 1, 1, 2}));
    auto const reach = dilation * (kernel - 1) + 1;
    auto const pad = static_cast<std::int64_t>(choose_.number("padding", {0, 0, 1})) % reach;
    auto const channels = group * inner();
    shape x{y[0], channels}, w;
    if (transposed)
      w = {channels, y[1] / group};
    else
      w = {y[1], channels / group};
    shape pads, strides;
    for (std::size_t i = 0; i < spatial; ++i) {
      auto const out = y[i + 2];
      auto each_stride = stride, before = pad, behind = pad;
      if (transposed) {
        // out = stride (in - 1) + reach - paddings
        each_stride = 1;
        auto in = out - reach + before + behind + 1;
        if (in < 1) {
          before = 0;
          behind = reach - out;  // what is too much at an extent of 1
          in = 1;
          if (behind < 0) in = out - reach + 1, behind = 0;
        }
        x.push_back(in);
      } else {
        auto const in = (out - 1) * each_stride + reach - before - behind;
        if (in < 1) return false;
        x.push_back(in);
      }
      w.push_back(kernel);
      strides.push_back(each_stride);
      pads.insert(pads.begin() + static_cast<std::ptrdiff_t>(i), before);
      pads.push_back(behind);
    }
    call_.drawn_list("strides", strides);
    call_.drawn_list("dilations", shape(spatial, dilation));
    call_.drawn_list("pads", pads);
    if (group == 1 && call_.find("group")->number == 1 && choose_.one_in("kernel told", 2))
      call_.drawn_list("kernel_shape", shape(spatial, kernel));
    call_.operands = {x, w, {y[1]}};
    return true;
  }

  // A pool over windows of one extent.
  bool draw_pool() {
    auto const& y = call_.result;
    auto const spatial = y.size() - 2;
    bool const largest = call_.op == opcode::max_pool;
    auto const kernel = static_cast<std::int64_t>(choose_.number("window", {3, 4, 2, 1}));
    auto const stride = static_cast<std::int64_t>(choose_.number("stride", {1, 1, 2}));
    auto const dilation = static_cast<std::int64_t>(largest && choose_.one_in("gaps in a window", 6) ? 2 : 1);
    auto const pad = static_cast<std::int64_t>(choose_.number("padding", {0, 0, 1})) % kernel;
    shape x{y[0], y[1]};
    for (std::size_t i = 0; i < spatial; ++i) {
      x.push_back((y[i + 2] - 1) * stride + dilation * (kernel - 1) + 1 - 2 * pad);
      if (x.back() < 1) return false;
    }
    call_.drawn_list("kernel_shape", shape(spatial, kernel));
    call_.drawn_list("strides", shape(spatial, stride));
    call_.drawn_list("pads", shape(2 * spatial, pad));
    if (largest)
      call_.drawn_list("dilations", shape(spatial, dilation));
    else
      call_.drawn_number("count_include_pad", choose_.one_in("padding counts", 2) ? 1 : 0);
    call_.operands = {x};
    return true;
  }
  // Some elements before and behind spatial axes, seldom less than none, or of other axes.
  bool draw_pad() {
    auto from = call_.result;
    auto const rank = from.size();
    bool const anywhere = rank < 3 || choose_.one_in("padding of any axis", 8);
    shape pads(2 * rank, 0);
    for (std::size_t i = anywhere ? 0 : 2; i < rank; ++i)
      for (auto const end : {i, rank + i}) {
        auto const most = from[i] - 1;
        pads[end] = std::min<std::int64_t>(choose_.number("padded", {1, 0, 2, 0}), most);
        if (choose_.one_in("something is cut off", 24)) pads[end] = -1;
        from[i] -= pads[end];
      }
    call_.drawn_list("pads", pads);
    call_.operands = {from};
    return true;
  }

  layer_call& call_;
  shape const& whole_;
  random_choices& choose_;
};

[[nodiscard]] inline bool shapes_of_operands(layer_call& call, std::vector<std::int64_t> const& whole,
                                             random_choices& choose) {
  return layer_shapes(call, whole, choose).draw();
}

}  // namespace fuse::inline v0::detail
