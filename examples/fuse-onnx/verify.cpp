// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <fuse/adapters/onnx.hpp>
#include <fuse/verify/verify.hpp>
#include <string>

#include "bundled.hpp"
#include "commands.hpp"

namespace fuse_onnx {

int verify_rules(rules_arguments const& arguments) {
  fuse::verify_options options;
  options.graphs = arguments.verify;
  options.seed = arguments.seed;
  if (!arguments.rule.empty()) options.only = {arguments.rule};
  auto const verified = fuse::verify(bundled_program(), bundled_rules(), options);
  std::printf("%s", to_text(verified).c_str());
  if (verified) return success;
  if (verified.seed == 0 || arguments.output.empty()) return bad_input;
  std::string bytes;
  fuse::adapters::model_of(verified.before, verified.inputs).SerializeToString(&bytes);
  auto const reason = fuse::adapters::detail::replace_file(arguments.output, bytes);
  return reason.empty() ? bad_input : complain(bad_input, "cannot write " + arguments.output.string() + ": " + reason);
}

}  // namespace fuse_onnx
