// Which backends this build has. The only place that knows them by name.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/runtime.h"

namespace cuda_runtime::core {

Status open_backend(const std::string& name, const RuntimeOptions& options, Ref<Runtime>& runtime);
/// JSON array of `BackendReport`s. Starts the driver where there is one; makes no context.
std::string probe_backends();

}  // namespace cuda_runtime::core
