#include "cuda/graph/plan.h"

#include "core/base/failure.h"
#include "core/stream/event.h"
#include "cuda/driver.h"
#include "cuda/image.h"
#include "cuda/launch_kernel.h"

namespace cuda_runtime::cuda {
namespace {

using core::GraphNode;
using core::Work;
using core::WorkKind;

// On the driver's callback thread: no CUDA call, and nothing that waits.
void CUDART_CB post_token(void* data) {
  const Work& work = *static_cast<const Work*>(data);
  work.sink->post(work.token, {});
}

cudaGraphEdgeData edge_data(const core::GraphDependency& dependency) {
  cudaGraphEdgeData data{};
  if (dependency.type == core::EdgeType::kProgrammatic) {
    data.type = cudaGraphDependencyTypeProgrammatic;
    data.from_port = cudaGraphKernelNodePortProgrammatic;
  }
  return data;
}

}  // namespace

CudaPlan::CudaPlan(Device& device, const core::Graph& graph) : device_(device) {
  device_.require();
  device_.make_current();
  try {
    require(cudaGraphCreate(&graph_, 0), "making a graph");
    add_nodes(graph);
    add_edges(graph);
    instantiate(graph);
  } catch (...) {
    destroy();
    throw;
  }
}

CudaPlan::~CudaPlan() { destroy(); }

void CudaPlan::destroy() noexcept {
  if (device_.is_lost()) return;
  device_.reaper().destroy_exec(exec_);
  device_.reaper().destroy_graph(graph_);
}

void CudaPlan::require(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw core::StatusException(device_.fail(error, what));
}

void CudaPlan::add_nodes(const core::Graph& graph) {
  nodes_.reserve(graph.nodes().size());
  for (const GraphNode& node : graph.nodes()) {
    if (node.work->kind == WorkKind::kEventWait) {
      event_waits_.push_back(static_cast<uint32_t>(nodes_.size()));
    }
    if (node.work->kind == WorkKind::kEventRecord) {
      event_records_.push_back(static_cast<uint32_t>(nodes_.size()));
    }
    nodes_.push_back(nullptr);
    add_node(node);
  }
  if (!event_waits_.empty()) unrecorded_ = core::make_ref<Mark>(device_, false);
  recorded_.resize(event_records_.size());
  awaited_.resize(event_waits_.size());
}

void CudaPlan::add_node(const GraphNode& node) {
  const Work& work = *node.work;
  switch (work.kind) {
    case WorkKind::kKernel:
      return add_kernel(node);
    case WorkKind::kCopy:
    case WorkKind::kFill:
    case WorkKind::kWrite:
    case WorkKind::kRead:
      return add_transfer(work);
    case WorkKind::kNotify:
      return add_notify(work);
    case WorkKind::kEventRecord:
    case WorkKind::kEventWait: {
      // Replaced before each launch; the driver wants some event from the start.
      const core::Ref<Mark> some = core::make_ref<Mark>(device_, false);
      const bool records = work.kind == WorkKind::kEventRecord;
      const cudaError_t error =
          records ? cudaGraphAddEventRecordNode(&nodes_.back(), graph_, nullptr, 0, some->event())
                  : cudaGraphAddEventWaitNode(&nodes_.back(), graph_, nullptr, 0, some->event());
      return require(error, "adding an event node");
    }
  }
}

void CudaPlan::add_kernel(const GraphNode& node) {
  const Work& work = *node.work;
  void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = static_cast<const KernelEntry*>(work.kernel->entry())->kernel;
  params.kernel.gridDim = {work.config.grid.x, work.config.grid.y, work.config.grid.z};
  params.kernel.blockDim = {work.config.block.x, work.config.block.y, work.config.block.z};
  params.kernel.sharedMemBytes = work.config.shared_bytes;
  params.kernel.kernelParams = arguments;
  const std::string what = "adding kernel " + work.kernel->name() + " to a graph";
  require(cudaGraphAddNode(&nodes_.back(), graph_, nullptr, nullptr, 0, &params), what);
  LaunchAttributes attributes(work.config, false);
  if ((work.config.flags & core::kPriorityGiven) == 0) {
    CUlaunchAttribute& priority = attributes.values[attributes.count++];
    priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    priority.value.priority = node.stream_priority;
  }
  static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));
  for (unsigned i = 0; i < attributes.count; ++i) {
    const auto id = static_cast<cudaLaunchAttributeID>(attributes.values[i].id);
    const auto* value = reinterpret_cast<cudaLaunchAttributeValue*>(&attributes.values[i].value);
    require(cudaGraphKernelNodeSetAttribute(nodes_.back(), id, value), what);
  }
}

void CudaPlan::add_transfer(const Work& work) {
  cudaGraphNode_t* node = &nodes_.back();
  if (work.bytes == 0) {
    return require(cudaGraphAddEmptyNode(node, graph_, nullptr, 0), "adding an empty node");
  }
  if (work.kind != WorkKind::kFill) {
    return require(cudaGraphAddMemcpyNode1D(node, graph_, nullptr, 0, work.to, work.from,
                                            work.bytes, cudaMemcpyDefault),
                   "adding a copy to a graph");
  }
  cudaMemsetParams params{};
  params.dst = work.to;
  params.elementSize = 1;
  params.width = work.bytes;
  params.height = 1;
  params.pitch = work.bytes;
  params.value = work.fill_byte;
  require(cudaGraphAddMemsetNode(node, graph_, nullptr, 0, &params), "adding a fill to a graph");
}

// The graph keeps the work, the executable the graph, a launch in flight the executable.
void CudaPlan::add_notify(const Work& work) {
  cudaHostNodeParams params{};
  params.fn = post_token;
  params.userData = const_cast<Work*>(&work);
  require(cudaGraphAddHostNode(&nodes_.back(), graph_, nullptr, 0, &params),
          "adding a notification to a graph");
}

void CudaPlan::add_edges(const core::Graph& graph) {
  std::vector<cudaGraphNode_t> from;
  std::vector<cudaGraphNode_t> to;
  std::vector<cudaGraphEdgeData> data;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const core::GraphDependency& dependency : graph.nodes()[i].dependencies) {
      from.push_back(nodes_[dependency.node]);
      to.push_back(nodes_[i]);
      data.push_back(edge_data(dependency));
    }
  }
  if (from.empty()) return;
  require(cudaGraphAddDependencies(graph_, from.data(), to.data(), data.data(), from.size()),
          "adding edges to a graph");
}

void CudaPlan::instantiate(const core::Graph& graph) {
  cudaGraphInstantiateParams params{};
  params.flags = cudaGraphInstantiateFlagUseNodePriority;
  const cudaError_t error = cudaGraphInstantiateWithParams(&exec_, graph_, &params);
  if (error == cudaSuccess) return;
  exec_ = nullptr;
  std::string culprit;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (params.errNode_out != nullptr && nodes_[i] == params.errNode_out) {
      culprit = " at node " + std::to_string(i) + " (" + graph.nodes()[i].work->label() + ")";
    }
  }
  if (is_device_lost(error) || error == cudaErrorMemoryAllocation) {
    throw core::StatusException(device_.fail(error, "instantiating a graph"));
  }
  cudaGetLastError();
  throw core::StatusException(core::Status::error(
      "CRT_GRAPH_INVALID", error,
      "the driver cannot instantiate the graph" + culprit + ": " + cudaGetErrorString(error) +
          " [" + error_text(error) + ", result " + std::to_string(params.result_out) + "]",
      "Look at the named node"));
}

// ---- external events ----------------------------------------------------------------------------

void CudaPlan::bind_events(const core::Graph& graph) {
  for (size_t i = 0; i < event_waits_.size(); ++i) {
    const uint32_t node = event_waits_[i];
    const core::Ref<core::Ticket>& ticket = graph.nodes()[node].work->event->ticket;
    awaited_[i] = ticket ? ticket : core::Ref<core::Ticket>(unrecorded_);
    require(cudaGraphExecEventWaitNodeSetEvent(exec_, nodes_[node],
                                               static_cast<Mark&>(*awaited_[i]).event()),
            "setting the event that a graph waits for");
  }
  for (size_t i = 0; i < event_records_.size(); ++i) {
    const uint32_t node = event_records_[i];
    const bool timing = graph.nodes()[node].work->event->has_timing();
    recorded_[i] = core::make_ref<Mark>(device_, timing);
    require(cudaGraphExecEventRecordNodeSetEvent(exec_, nodes_[node], recorded_[i]->event()),
            "setting the event that a graph records");
  }
}

void CudaPlan::publish_events(const core::Graph& graph) {
  for (size_t i = 0; i < event_records_.size(); ++i) {
    core::Event& event = *graph.nodes()[event_records_[i]].work->event;
    event.ticket = recorded_[i];
    event.sequence = nullptr;
    event.snapshot.clear();
    device_.waiter().watch(recorded_[i]);
  }
}

}  // namespace cuda_runtime::cuda
