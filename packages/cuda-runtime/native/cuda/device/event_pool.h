// Private events for marks. Creating one costs more than recording it, so they are kept.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/base/mutex.h"

namespace cuda_runtime::cuda {

class EventPool {
 public:
  /// Throws when the driver refuses.
  cudaEvent_t take(bool timing);
  /// A pending event may come back: recording it again leaves earlier waits alone.
  void give_back(cudaEvent_t event, bool timing) noexcept;

 private:
  core::Mutex mutex_;
  std::vector<cudaEvent_t> free_[2];
};

}  // namespace cuda_runtime::cuda
