// A core graph as a graph of the driver, ready to launch. The driver never captures: nodes and edges
// are added one by one, so that no foreign call can break a capture, and every node's handle is known.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/graph/exec.h"
#include "cuda/device/device.h"
#include "cuda/queue/mark.h"

namespace cuda_runtime::cuda {

class CudaPlan : public core::ExecPlan {
 public:
  /// Throws when the driver refuses.
  CudaPlan(Device& device, const core::Graph& graph);
  ~CudaPlan() override;

  cudaGraphExec_t exec() const { return exec_; }
  /// External events as they are now: waits take what is recorded, records get a mark of their own.
  /// Needs the runtime's mutex.
  void bind_events(const core::Graph& graph);
  /// After the launch: events that the graph records now hold those marks.
  void publish_events(const core::Graph& graph);

 private:
  void add_nodes(const core::Graph& graph);
  void add_edges(const core::Graph& graph);
  void add_node(const core::GraphNode& node);
  void add_kernel(const core::GraphNode& node);
  void add_transfer(const core::Work& work);
  void add_notify(const core::Work& work);
  void instantiate(const core::Graph& graph);
  void require(cudaError_t error, const std::string& what);
  void destroy() noexcept;

  Device& device_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<uint32_t> event_waits_;
  std::vector<uint32_t> event_records_;
  core::Ref<Mark> unrecorded_;  // for waits on events that hold nothing
  // One for each record node, of the latest launch. The executable's nodes name their events.
  std::vector<core::Ref<Mark>> recorded_;
  std::vector<core::Ref<core::Ticket>> awaited_;
};

}  // namespace cuda_runtime::cuda
