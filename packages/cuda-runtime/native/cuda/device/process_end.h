// The end of the process: background threads make no CUDA call while the driver takes itself down.
#pragma once

namespace cuda_runtime::cuda {

/// A stretch of a background thread's work with CUDA calls in it. When the process has begun to end
/// the constructor does not return.
class DriverUse {
 public:
  DriverUse() noexcept;
  ~DriverUse();
  DriverUse(const DriverUse&) = delete;
  DriverUse& operator=(const DriverUse&) = delete;
};

/// Makes the end of the process wait, a second at most, until no thread is inside a DriverUse. To
/// be called after the first CUDA call, so that it comes before the driver's own clean-up.
void park_threads_at_exit();

}  // namespace cuda_runtime::cuda
