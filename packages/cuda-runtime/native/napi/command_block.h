// What TypeScript writes into the command block before a launch, a kernel node or a host function.
#pragma once

#include "core/launch.h"
#include "napi/arguments.h"

namespace cuda_runtime::napi {

/// The parts of the block; pointers lead into it, so that they hold until TypeScript writes again.
struct Command {
  core::LaunchConfig config;
  core::InlineVector<core::BufferArgument, 8> buffers;
  std::vector<core::ConditionField> conditions;
  const uint8_t* params = nullptr;
  uint32_t params_bytes = 0;
};

/// Reads the block of the environment; throws when it holds nothing that could be one.
Command read_command(const Arguments& in);

/// The launch that the block describes, of the kernel in argument `kernel`.
core::LaunchRequest read_launch(const Arguments& in, size_t kernel);

}  // namespace cuda_runtime::napi
