// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/again.hpp>
#include <fuse/dsl/along.hpp>
#include <fuse/dsl/capture.hpp>
#include <fuse/dsl/condition.hpp>
#include <fuse/dsl/conditions.hpp>
#include <fuse/dsl/constant.hpp>
#include <fuse/dsl/dimension.hpp>
#include <fuse/dsl/either.hpp>
#include <fuse/dsl/fold.hpp>
#include <fuse/dsl/list.hpp>
#include <fuse/dsl/neutral.hpp>
#include <fuse/dsl/op.hpp>
#include <fuse/dsl/optional.hpp>
#include <fuse/dsl/or_else.hpp>
#include <fuse/dsl/parameter.hpp>
#include <fuse/dsl/part.hpp>
#include <fuse/dsl/rearrange.hpp>
#include <fuse/dsl/rest.hpp>
#include <fuse/dsl/result.hpp>
#include <fuse/dsl/roots.hpp>
#include <fuse/dsl/row.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/dsl/scalar.hpp>
#include <fuse/dsl/through.hpp>
#include <fuse/dsl/with_or_without.hpp>
