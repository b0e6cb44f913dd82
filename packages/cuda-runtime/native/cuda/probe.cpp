#include "cuda/probe.h"

#include <cuda_runtime_api.h>

namespace cuda_runtime::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// CUDA answers 35 both without a driver and with an old one; its version tells them apart.
void explain_driver(ProbeResult& result) {
  if (result.driver_version == 0) {
    result.reason = "NO_DRIVER";
    result.detail = "there is no NVIDIA driver on this machine";
    result.hint = "Install the NVIDIA driver; in a container pass the GPU through";
    return;
  }
  result.reason = "DRIVER_TOO_OLD";
  result.detail = "the driver supports CUDA " + version_text(result.driver_version) +
                  ", this build needs " + version_text(result.runtime_version);
  result.hint = "Update the NVIDIA driver";
}

void explain(cudaError_t error, ProbeResult& result) {
  const std::string name = std::string(cudaGetErrorName(error)) + " " + std::to_string(error);
  switch (error) {
    case cudaErrorInsufficientDriver:
      return explain_driver(result);
    case cudaErrorNoDevice:
      result.reason = "NO_DEVICE";
      result.detail = "the driver sees no device [" + name + "]";
      result.hint = "Check CUDA_VISIBLE_DEVICES and the container's devices";
      return;
    case cudaErrorStubLibrary:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      result.reason = "STUB_OR_MISMATCH";
      result.detail = "a toolkit stub or a mixed driver answered [" + name + "]";
      result.hint = "Look for libcuda.so.1 of a toolkit on the library path";
      return;
    default:
      result.reason = "INIT_FAILED";
      result.detail = std::string(cudaGetErrorString(error)) + " [" + name + "]";
      result.hint = "Run `nvidia-smi`; a process that used CUDA before a fork cannot use it after";
  }
}

}  // namespace

ProbeResult probe() {
  ProbeResult result;
  cudaRuntimeGetVersion(&result.runtime_version);
  if (cudaDriverGetVersion(&result.driver_version) != cudaSuccess) result.driver_version = 0;
  const cudaError_t error = cudaGetDeviceCount(&result.devices);
  if (error != cudaSuccess) {
    result.devices = 0;
    explain(error, result);
    return result;
  }
  result.detail = "driver for CUDA " + version_text(result.driver_version) + ", " +
                  std::to_string(result.devices) + " device(s)";
  return result;
}

}  // namespace cuda_runtime::cuda
