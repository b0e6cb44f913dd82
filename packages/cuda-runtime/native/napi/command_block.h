// What TypeScript writes into the command block before a launch, a kernel node or a host function.
#pragma once

#include "core/launch.h"

namespace cuda_runtime::napi {

// All take a block that may be null. The request's pointers lead into the block, so that they hold
// until TypeScript writes again.

/// The launch that the block describes: stream, kernel and all. CRT_DISPOSED and CRT_ARGUMENT for
/// handles that name nothing.
core::Status read_launch(const uint32_t* block, core::LaunchRequest& request);

/// The same without stream and kernel, which a node does not take from the block.
core::Status read_node(const uint32_t* block, core::LaunchRequest& request);

/// Buffers and parameters alone.
core::Status read_arguments(const uint32_t* block, core::LaunchRequest& request);

}  // namespace cuda_runtime::napi
