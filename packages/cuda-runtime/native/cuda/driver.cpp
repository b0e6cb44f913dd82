#include "cuda/driver.h"

#include "core/base/failure.h"

namespace cuda_runtime::cuda {

using core::Status;

std::string error_text(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " " + std::to_string(error);
}

bool is_device_lost(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorDeviceUninitialized:
      return true;
    default:
      return false;
  }
}

bool is_capture_error(cudaError_t error) {
  return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

bool is_unloading(cudaError_t error) { return error == cudaErrorCudartUnloading; }

Status to_status(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  const std::string detail =
      what + " failed: " + cudaGetErrorString(error) + " [" + error_text(error) + "]";
  if (is_device_lost(error)) {
    return Status::error("CRT_DEVICE_LOST", error, detail,
                         "Restart the process; every later call on the device fails the same way");
  }
  if (error == cudaErrorMemoryAllocation) {
    return Status::error("CRT_OOM", error, detail,
                         "Dispose buffers, wait for pending work, or use a smaller batch");
  }
  if (error == cudaErrorNoKernelImageForDevice) {
    return Status::error("CRT_NO_KERNEL_IMAGE", error, detail,
                         "Rebuild the kernel package for this device: CRT_GENCODE");
  }
  if (error == cudaErrorInvalidClusterSize || error == cudaErrorInvalidConfiguration) {
    return Status::error("CRT_LAUNCH_CONFIG", error, detail, "Change the launch configuration");
  }
  return Status::error("CRT_DRIVER", error, detail, "Look the number up in the CUDA reference");
}

void relax_thread() noexcept {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw core::StatusException(to_status(error, what));
}

}  // namespace cuda_runtime::cuda
