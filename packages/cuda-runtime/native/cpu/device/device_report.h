// What `deviceInfo` says of the CPU as a device.
#pragma once

#include "core/base/json.h"
#include "core/launch_config.h"
#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {

/// Limits of a Hopper device: a launch that the CPU accepts should run there too.
inline constexpr uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr uint32_t kMaxSharedBytes = 232'448;
inline constexpr uint32_t kMaxClusterBlocks = 8;

/// Processors that this process may use.
uint32_t usable_processors();
void report_device(core::JsonWriter& json, const SchedulerOptions& options, uint64_t total_bytes);

}  // namespace cuda_runtime::cpu
