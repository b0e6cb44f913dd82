// A core graph as a graph of the driver, ready to launch. The driver never captures: nodes and
// edges are added one by one, so that no foreign call can break a capture, and every node's handle
// is known.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/graph/exec.h"
#include "cuda/device/device.h"
#include "cuda/queue/mark.h"
#include "cuda/queue/waiter.h"

namespace cuda_runtime::cuda {

class CudaPlan : public core::ExecPlan {
 public:
  /// Throws when the driver refuses.
  CudaPlan(Device& device, const core::Graph& graph, bool node_priority);
  ~CudaPlan() override;

  cudaGraphExec_t exec() const { return exec_; }
  /// What it was instantiated from; later changes of nodes are not in it.
  cudaGraph_t graph() const { return graph_; }
  /// External events as they are now: waits take what is recorded, records get a mark of their own.
  /// Needs the runtime's mutex.
  void bind_events(const core::Graph& graph);
  /// Marks that a launch makes.
  size_t recorded_events() const { return event_records_.size(); }
  /// What the launch waits for, to be kept until it is over; null without such nodes.
  core::Ref<core::RefCounted> awaited_events() const { return awaited_; }
  /// After the launch: events that the graph records now hold those marks. `places` are as many.
  void publish_events(const core::Graph& graph, WatchPlaces& places) noexcept;
  /// A node of the executable does what `node` says from the next launch on. Throws when refused;
  /// parameters may be taken then and the switch not.
  void set_node(const core::GraphNode& node, uint32_t index);

 private:
  /// The graph itself, or a body of a conditional node, while it is built.
  struct Part {
    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes;
    std::vector<Part> bodies;  // of its conditional nodes, in their order
  };

  void add_conditionals(Part& part, const core::Graph& graph);
  void note_events(const core::Graph& graph);
  void build(Part& part, const core::Graph& graph);
  void add_edges(Part& part, const core::Graph& graph);
  // Each adds one node to the graph of a part.
  void add_node(cudaGraph_t graph, const core::GraphNode& node, cudaGraphNode_t& added);
  void add_kernel(cudaGraph_t graph, const core::GraphNode& node, cudaGraphNode_t& added);
  void add_transfer(cudaGraph_t graph, const core::Work& work, cudaGraphNode_t& added);
  void add_host(cudaGraph_t graph, const core::Work& work, cudaGraphNode_t& added);
  void add_event(cudaGraph_t graph, const core::Work& work, cudaGraphNode_t& added);
  void switch_off(const core::GraphNode& node, cudaGraphNode_t native);
  void set_enabled(cudaGraphNode_t node, bool enabled);
  void set_fill(const core::GraphNode& node, cudaGraphNode_t native);
  void instantiate(const core::Graph& graph, bool node_priority);
  void require(cudaError_t error, const std::string& what);
  void destroy() noexcept;

  Device& device_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<uint32_t> event_waits_;
  std::vector<uint32_t> event_records_;
  core::Ref<Mark> unrecorded_;  // for waits on events that hold nothing
  // Of the latest launch, one for each node. The executable's nodes name their events.
  std::vector<core::Ref<Mark>> recorded_;
  struct Awaited : core::RefCounted {
    std::vector<core::Ref<core::Ticket>> tickets;
  };
  core::Ref<Awaited> awaited_;
};

}  // namespace cuda_runtime::cuda
