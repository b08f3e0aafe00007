// SPDX-License-Identifier: BSL-1.0
// expect: a rule wants an attribute to be what it cannot hold
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'a', 'x', 'i', 's', ':', ' ', 'l', 'a', 'y', 'e', 'r', '_', 'n', 'o', 'r', 'm'
// expect: ' ', 'h', 'a', 's', ' ', 'i', 'n', 't', 'e', 'g', 'e', 'r', ' ', 'a', 'x', 'i', 's'
// expect: 'n', 'u', 'm', 'b', 'e', 'r', ' ', 'e', 'p', 's'>
// twin: hana_struct_twin.cpp
#include <fuse/adapters/hana_struct.hpp>
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace own {
struct norm {
  int axis = -1;
  float eps = 1e-5f;
};
struct graph : fuse::graph {};
}  // namespace own
BOOST_HANA_ADAPT_STRUCT(own::norm, axis, eps);

namespace own {
inline constexpr fuse::parameter_source sources[] = {{"epsilon", fuse::parameter_source::kind::attribute, "eps"}};
inline constexpr fuse::operator_row rows[] = {
    {"relu", fuse::opcode::relu},
    fuse::adapters::hana_struct::with<norm>({"layer_norm", fuse::opcode::layer_norm, 1, sources}),
};
inline constexpr auto dialect = fuse::make_dialect("own", rows);

constexpr auto x = var<"x">;
constexpr auto wrong =
    fuse::rule<"wrong">(op<"relu">(op<"layer_norm">(x))).replace(op<"layer_norm">(x).attr<"axis">(0.5));
}  // namespace own

template <>
struct fuse::graph_traits<own::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = own::dialect;
};

fuse::rewrite_report use(own::graph& g) { return fuse::rewrite<own::wrong>(g); }
