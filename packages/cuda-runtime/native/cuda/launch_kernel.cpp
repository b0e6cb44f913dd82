#include "cuda/launch_kernel.h"

#include "core/graph/nodes/host_function.h"
#include "cuda/driver.h"
#include "cuda/driver_calls.h"
#include "cuda/image.h"

namespace cuda_runtime::cuda {
namespace {

using core::Status;

void append(LaunchAttributes& attributes, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  attributes.values[attributes.count].id = id;
  attributes.values[attributes.count++].value = value;
}

}  // namespace

LaunchAttributes::LaunchAttributes(const core::LaunchConfig& config, bool with_programmatic) {
  CUlaunchAttributeValue value{};
  if (with_programmatic && (config.flags & core::kProgrammatic) != 0) {
    value.programmaticStreamSerializationAllowed = 1;
    append(*this, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, value);
  }
  if ((config.flags & core::kClusterGiven) != 0) {
    value.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
    append(*this, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
  }
  if ((config.flags & core::kCooperative) != 0) {
    value.cooperative = 1;
    append(*this, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  if ((config.flags & core::kPriorityGiven) != 0) {
    value.priority = config.priority;
    append(*this, CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
  }
}

void LaunchAttributes::add(const LaunchMarks& marks) {
  CUlaunchAttributeValue value{};
  if (marks.triggered != nullptr) {
    value.programmaticEvent = {marks.triggered, 0, marks.at_block_start ? 1 : 0};
    append(*this, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value);
  }
  if (marks.started != nullptr) {
    value.launchCompletionEvent = {marks.started, 0};
    append(*this, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, value);
  }
}

Status function_of(cudaKernel_t kernel, CUfunction& function) {
  const DriverCalls& driver = driver_calls();
  if (driver.error != cudaSuccess) return to_status(driver.error, "finding the driver's functions");
  const CUresult result = driver.function(&function, reinterpret_cast<CUkernel>(kernel));
  return to_status(as_error(result), "finding a kernel's function");
}

cudaError_t launch_plain_kernel(const core::Work& work, cudaStream_t stream) {
  const auto& entry = *static_cast<const KernelEntry*>(work.kernel->entry());
  if (entry.graphs && entry.graphs->launch(work, entry.function, stream)) return cudaSuccess;
  return launch_kernel(work, stream, {});
}

cudaError_t launch_kernel(const core::Work& work, cudaStream_t stream, const LaunchMarks& marks) {
  LaunchAttributes attributes(work.config, true);
  attributes.add(marks);
  CUlaunchConfig config{};
  config.gridDimX = work.config.grid.x;
  config.gridDimY = work.config.grid.y;
  config.gridDimZ = work.config.grid.z;
  config.blockDimX = work.config.block.x;
  config.blockDimY = work.config.block.y;
  config.blockDimZ = work.config.block.z;
  config.sharedMemBytes = work.config.shared_bytes;
  config.hStream = stream;
  config.attrs = attributes.values;
  config.numAttrs = attributes.count;
  void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
  const auto& entry = *static_cast<const KernelEntry*>(work.kernel->entry());
  return as_error(driver_calls().launch(&config, entry.function, arguments, nullptr));
}

void CUDART_CB run_host(void* work) { static_cast<const core::Work*>(work)->host->call(); }

cudaError_t call_host(const core::Work& work, cudaStream_t stream) {
  return cudaLaunchHostFunc(stream, run_host, const_cast<core::Work*>(&work));
}

cudaError_t move_bytes(const core::Work& work, void* to, const void* from, cudaStream_t stream) {
  if (work.bytes == 0) return cudaSuccess;
  if (work.kind == core::WorkKind::kFill) {
    return cudaMemsetAsync(to, work.fill_byte, work.bytes, stream);
  }
  return cudaMemcpyAsync(to, from, work.bytes, cudaMemcpyDefault, stream);
}

}  // namespace cuda_runtime::cuda
