// Memory that a graph allocates and frees while it runs (L10, L11). Its address is fixed over
// replays: the memory is taken from the pool when the node is made and belongs to the graph, so
// that what the nodes change is who may use it.
#pragma once

#include <atomic>

#include "core/base/status.h"
#include "core/memory/buffer.h"

namespace cuda_runtime::core {

class GraphBuffer : public Buffer {
 public:
  GraphBuffer(uint64_t home, Ref<Runtime> runtime, uint8_t* data, uint64_t bytes,
              std::string label);

  GraphBuffer* as_graph_buffer() override { return this; }
  void on_handle_added() override { handles_.fetch_add(1); }
  /// With the last handle, freed outside the graph: later launches may allocate it again.
  void on_handle_released() override;

  const uint64_t home;  // Graph::home of the graph that allocates it
  // Guarded by the runtime's mutex.
  bool has_free_node = false;
  bool is_allocated = false;  // by a launch, and not freed since
  bool is_reachable = true;   // somebody outside could still use it

 private:
  std::atomic<int> handles_{0};  // of all threads
};

/// Memory for an allocation node.
Status allocate_graph_buffer(Runtime& runtime, uint64_t home, uint64_t bytes,
                             const std::string& label, Ref<GraphBuffer>& buffer);

}  // namespace cuda_runtime::core
