// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/eval/call.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>

namespace fuse::inline v0::detail {

/// The parameters of a node of an image, at the graph's operator set version. Those that are operands are read from
/// `Known`, see ops/node_parameters.hpp.
template <class Image, class Known>
class node_parameters final : public operator_parameters {
 public:
  node_parameters(Image const& image, Known const& known, dialect const& names, node_id n)
      : image_(image), known_(known), names_(names), n_(n) {}

  bool number(std::string_view name, double& into) const override {
    return read_number(image_, known_, names_, n_, name, into);
  }
  bool integers(std::string_view name, std::vector<std::int64_t>& into) const override {
    return read_integers(image_, known_, names_, n_, name, into);
  }
  [[nodiscard]] attribute_view attribute(std::string_view name) const override {
    return image_.source->attribute_of(n_, name);
  }
  [[nodiscard]] axis_use use_of_axis() const override {
    return axis_use_of(names_.row(image_.node(n_).tag.name, image_.version), op_of(image_, n_));
  }

 private:
  Image const& image_;
  Known const& known_;
  dialect const& names_;
  node_id n_;
};

}  // namespace fuse::inline v0::detail
