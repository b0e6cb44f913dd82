#include "cuda/launch_kernel.h"

namespace cuda_runtime::cuda {
namespace {

dim3 dimensions(const core::Dim3& size) { return {size.x, size.y, size.z}; }

}  // namespace

LaunchAttributes::LaunchAttributes(const core::LaunchConfig& config, bool with_programmatic) {
  if (with_programmatic && (config.flags & core::kProgrammatic) != 0) {
    values[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    values[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if ((config.flags & core::kClusterGiven) != 0) {
    values[count].id = cudaLaunchAttributeClusterDimension;
    values[count++].val.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
  }
  if ((config.flags & core::kCooperative) != 0) {
    values[count].id = cudaLaunchAttributeCooperative;
    values[count++].val.cooperative = 1;
  }
  if ((config.flags & core::kPriorityGiven) != 0) {
    values[count].id = cudaLaunchAttributePriority;
    values[count++].val.priority = config.priority;
  }
}

cudaError_t launch_kernel(const core::Work& work, cudaStream_t stream) {
  LaunchAttributes attributes(work.config, true);
  cudaLaunchConfig_t config{};
  config.gridDim = dimensions(work.config.grid);
  config.blockDim = dimensions(work.config.block);
  config.dynamicSmemBytes = work.config.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.values;
  config.numAttrs = attributes.count;
  void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
  return cudaLaunchKernelExC(&config, work.kernel->entry(), arguments);
}

cudaError_t move_bytes(const core::Work& work, void* to, const void* from, cudaStream_t stream) {
  if (work.bytes == 0) return cudaSuccess;
  if (work.kind == core::WorkKind::kFill) {
    return cudaMemsetAsync(to, work.fill_byte, work.bytes, stream);
  }
  return cudaMemcpyAsync(to, from, work.bytes, cudaMemcpyDefault, stream);
}

}  // namespace cuda_runtime::cuda
