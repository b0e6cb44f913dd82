// Which instruction sets kernels may use.
#pragma once

#include <string>

#include "core/base/status.h"
#include "cuda_runtime/abi.h"

namespace cuda_runtime::cpu {

/// The best level of this machine, found once. AMX needs a permission, asked for here.
CpuLevel machine_level();
const char* level_name(CpuLevel level);
/// The level of the option, else of CUDA_RUNTIME_CPU_LEVEL, else the machine's. A level that the
/// machine lacks is an error.
core::Status choose_level(const std::string& option, CpuLevel& level);

}  // namespace cuda_runtime::cpu
