// How answers of the CUDA runtime become ours. Return values only: the thread's last error is
// cleared after each failure and never read.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/base/status.h"

namespace cuda_runtime::cuda {

/// "cudaErrorIllegalAddress 700".
std::string error_text(cudaError_t error);

/// True for errors after which the device answers nothing else (CD03).
bool is_device_lost(cudaError_t error);

/// Refused because of a capture by somebody else (900 to 908): says nothing of the device.
bool is_capture_error(cudaError_t error);

/// The runtime ends with the process: what is left is the system's to release (L17).
bool is_unloading(cudaError_t error);

/// Success, or what the driver refused: `what` says what was tried, "launching kernel add".
core::Status to_status(cudaError_t error, const std::string& what);

/// From now on nothing that this thread does breaks a capture of somebody else in the process
/// (CT03).
void relax_thread() noexcept;

/// While it lives, this thread's calls leave captures of other libraries alone, and are not refused
/// because of them (CT03, CT05).
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Throws a StatusException unless the driver agreed.
void check(cudaError_t error, const char* what);

}  // namespace cuda_runtime::cuda
