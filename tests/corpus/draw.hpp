// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/verify/choices.hpp>

namespace corpus {

using draw = fuse::detail::random_choices;

}  // namespace corpus
