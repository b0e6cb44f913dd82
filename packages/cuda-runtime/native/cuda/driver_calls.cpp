#include "cuda/driver_calls.h"

namespace cuda_runtime::cuda {
namespace {

template <typename Function>
void look_up(const char* name, Function& function, cudaError_t& error) {
  constexpr unsigned kSince = 12'000;
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t answer =
      cudaGetDriverEntryPointByVersion(name, &address, kSince, cudaEnableDefault, &result);
  function = reinterpret_cast<Function>(address);
  if (answer != cudaSuccess) error = answer;
  if (address == nullptr && error == cudaSuccess) error = cudaErrorSymbolNotFound;
}

}  // namespace

const DriverCalls& driver_calls() {
  static const DriverCalls calls = [] {
    DriverCalls found;
    look_up("cuLaunchKernelEx", found.launch, found.error);
    look_up("cuKernelGetFunction", found.function, found.error);
    look_up("cuGraphAddKernelNode", found.add_kernel, found.error);
    look_up("cuGraphExecKernelNodeSetParams", found.set_kernel, found.error);
    look_up("cuGraphLaunch", found.launch_graph, found.error);
    return found;
  }();
  return calls;
}

}  // namespace cuda_runtime::cuda
