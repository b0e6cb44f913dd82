// Whether CUDA can be used here, and if not, why.
#pragma once

#include <string>

namespace cuda_runtime::cuda {

struct ProbeResult {
  std::string reason;  // one of UnavailableReason
  std::string detail;
  std::string hint;
  int driver_version = 0;  // 0: no driver
  int runtime_version = 0;
  int devices = 0;
};

/// Starts the driver where there is one, which may take 0.1 s and more; makes no context.
ProbeResult probe();

}  // namespace cuda_runtime::cuda
