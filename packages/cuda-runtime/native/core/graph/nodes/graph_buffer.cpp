#include "core/graph/nodes/graph_buffer.h"

#include "core/runtime.h"

namespace cuda_runtime::core {

GraphBuffer::GraphBuffer(uint64_t home_graph, Ref<Runtime> runtime, uint8_t* data, uint64_t bytes,
                         std::string label)
    : Buffer(Kind::kBuffer, std::move(runtime), data, bytes, std::move(label)), home(home_graph) {}

void GraphBuffer::on_handle_released() {
  if (handles_.fetch_sub(1) > 1) return;
  LockGuard lock(runtime().mutex());
  is_allocated = false;
  is_reachable = false;
}

Status allocate_graph_buffer(Runtime& runtime, uint64_t home, uint64_t bytes,
                             const std::string& label, Ref<GraphBuffer>& buffer) {
  uint8_t* data = nullptr;
  Status status = runtime.backend().allocate(bytes, label, MemoryPlace::kDevice, data);
  runtime.add_memory_facts(status, bytes, MemoryPlace::kDevice);
  if (!status.ok()) return status;
  try {
    buffer = make_ref<GraphBuffer>(home, Ref<Runtime>(&runtime), data, bytes, label);
  } catch (...) {
    runtime.backend().free_memory(data, bytes, label, MemoryPlace::kDevice);
    throw;
  }
  return {};
}

}  // namespace cuda_runtime::core
