// Every live record of a runtime and what holds it, for whoever looks for what was left behind.
#pragma once

#include <string>

#include "core/runtime.h"

namespace cuda_runtime::core {

/// JSON array of the records of the runtime, its open captures, the runtime itself, and the files
/// of the process, each with its holders; `environment` is the one that asks. Retains nothing, so
/// that it changes no lifetime. Submissions wait while it looks; what other threads begin or end
/// meanwhile may show half.
std::string audit(Runtime& runtime, uint64_t environment);

}  // namespace cuda_runtime::core
