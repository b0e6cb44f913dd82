#include "cuda/graph/plan.h"

#include <map>
#include <utility>
#include <vector>

#include "core/base/failure.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/host_function.h"
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
  static_assert(static_cast<int>(core::EdgePort::kProgrammatic) ==
                cudaGraphKernelNodePortProgrammatic);
  static_assert(static_cast<int>(core::EdgePort::kLaunch) ==
                cudaGraphKernelNodePortLaunchCompletion);
  cudaGraphEdgeData data{};
  data.from_port = static_cast<unsigned char>(dependency.port);
  if (dependency.type == core::EdgeType::kProgrammatic) {
    data.type = cudaGraphDependencyTypeProgrammatic;
  }
  return data;
}

/// Edges of one kind, as the driver takes them.
struct Edges {
  std::vector<cudaGraphNode_t> from;
  std::vector<cudaGraphNode_t> to;
  std::vector<cudaGraphEdgeData> data;
};

/// `arguments` is the driver's list of the one parameter; both must live until the call is over.
cudaGraphNodeParams kernel_params(const Work& work, void** arguments) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = static_cast<const KernelEntry*>(work.kernel->entry())->kernel;
  params.kernel.gridDim = {work.config.grid.x, work.config.grid.y, work.config.grid.z};
  params.kernel.blockDim = {work.config.block.x, work.config.block.y, work.config.block.z};
  params.kernel.sharedMemBytes = work.config.shared_bytes;
  params.kernel.kernelParams = arguments;
  return params;
}

cudaMemsetParams fill_params(const Work& work) {
  cudaMemsetParams params{};
  params.dst = work.to;
  params.elementSize = 1;
  params.width = work.bytes;
  params.height = 1;
  params.pitch = work.bytes;
  params.value = work.fill_byte;
  return params;
}

// The graph keeps the work, and a launch in flight the graph.
cudaHostNodeParams host_params(const Work& work) {
  cudaHostNodeParams params{};
  params.fn = work.kind == WorkKind::kNotify ? post_token : run_host;
  params.userData = const_cast<Work*>(&work);
  return params;
}

cudaGraphConditionalNodeType conditional_type(core::ConditionalType type) {
  if (type == core::ConditionalType::kWhile) return cudaGraphCondTypeWhile;
  return type == core::ConditionalType::kSwitch ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf;
}

}  // namespace

CudaPlan::CudaPlan(Device& device, const core::Graph& graph, bool node_priority)
    : device_(device) {
  device_.require();
  device_.make_current();
  const RelaxedCapture relaxed;
  try {
    require(cudaGraphCreate(&graph_, 0), "making a graph");
    condition_handles.resize(graph.conditions().size());
    Part whole{graph_, {}, {}};
    add_conditionals(whole, graph);
    build(whole, graph);
    nodes_ = std::move(whole.nodes);
    note_events(graph);
    instantiate(graph, node_priority);
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!graph.nodes()[i].enabled) switch_off(graph.nodes()[i], nodes_[i]);
    }
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

// ---- building -----------------------------------------------------------------------------------

// Before all other nodes: a handle belongs to the graph that holds its node, and kernels anywhere
// may be given it.
void CudaPlan::add_conditionals(Part& part, const core::Graph& graph) {
  part.nodes.resize(graph.nodes().size());
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].work->kind != WorkKind::kConditional) continue;
    const core::Conditional& conditional = *graph.nodes()[i].work->conditional;
    const core::GraphCondition& condition = *conditional.condition;
    cudaGraphConditionalHandle handle = 0;
    require(cudaGraphConditionalHandleCreate(&handle, part.graph, condition.initial,
                                             cudaGraphCondAssignDefault),
            "making a condition");
    condition_handles.at(condition.index) = handle;
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = conditional_type(conditional.type);
    params.conditional.size = static_cast<unsigned>(conditional.bodies.size());
    require(cudaGraphAddNode(&part.nodes[i], part.graph, nullptr, nullptr, 0, &params),
            "adding a conditional node");
    for (size_t body = 0; body < conditional.bodies.size(); ++body) {
      part.bodies.push_back({params.conditional.phGraph_out[body], {}, {}});
      add_conditionals(part.bodies.back(), *conditional.bodies[body]);
    }
  }
}

void CudaPlan::note_events(const core::Graph& graph) {
  for (uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const WorkKind kind = graph.nodes()[i].work->kind;
    if (kind == WorkKind::kEventWait) event_waits_.push_back(i);
    if (kind == WorkKind::kEventRecord) event_records_.push_back(i);
  }
  if (!event_waits_.empty()) unrecorded_ = core::make_ref<Mark>(device_, false);
  recorded_.resize(event_records_.size());
}

// All nodes before the edges, which may lead backwards.
void CudaPlan::build(Part& part, const core::Graph& graph) {
  size_t next_body = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const GraphNode& node = graph.nodes()[i];
    if (node.work->kind != WorkKind::kConditional) {
      add_node(part.graph, node, part.nodes[i]);
      continue;
    }
    for (const core::Ref<core::Graph>& body : node.work->conditional->bodies) {
      build(part.bodies[next_body++], *body);
    }
  }
  add_edges(part, graph);
}

void CudaPlan::add_node(cudaGraph_t graph, const GraphNode& node, cudaGraphNode_t& added) {
  const Work& work = *node.work;
  switch (work.kind) {
    case WorkKind::kKernel:
      return add_kernel(graph, node, added);
    case WorkKind::kCopy:
    case WorkKind::kFill:
    case WorkKind::kWrite:
    case WorkKind::kRead:
      return add_transfer(graph, work, added);
    case WorkKind::kNotify:
    case WorkKind::kHost:
      return add_host(graph, work, added);
    case WorkKind::kEventRecord:
    case WorkKind::kEventWait:
      return add_event(graph, work, added);
    case WorkKind::kEmpty:
    case WorkKind::kChild:        // its nodes are in the flat graph
    case WorkKind::kConditional:  // is there already
    case WorkKind::kAlloc:        // the memory is there; the core keeps the books
    case WorkKind::kFree:
      return require(cudaGraphAddEmptyNode(&added, graph, nullptr, 0), "adding an empty node");
  }
}

void CudaPlan::add_kernel(cudaGraph_t graph, const GraphNode& node, cudaGraphNode_t& added) {
  const core::Ref<Work> work = core::with_condition_handles(node.work, condition_handles);
  void* arguments[] = {work->params.data()};
  cudaGraphNodeParams params = kernel_params(*work, arguments);
  const std::string what = "adding kernel " + work->kernel->name() + " to a graph";
  require(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &params), what);
  LaunchAttributes attributes(work->config, false);
  if ((work->config.flags & core::kPriorityGiven) == 0) {
    CUlaunchAttribute& priority = attributes.values[attributes.count++];
    priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    priority.value.priority = node.stream_priority;
  }
  static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));
  for (unsigned i = 0; i < attributes.count; ++i) {
    const auto id = static_cast<cudaLaunchAttributeID>(attributes.values[i].id);
    const auto* value = reinterpret_cast<cudaLaunchAttributeValue*>(&attributes.values[i].value);
    require(cudaGraphKernelNodeSetAttribute(added, id, value), what);
  }
}

void CudaPlan::add_transfer(cudaGraph_t graph, const Work& work, cudaGraphNode_t& added) {
  if (work.bytes == 0) {
    return require(cudaGraphAddEmptyNode(&added, graph, nullptr, 0), "adding an empty node");
  }
  if (work.kind != WorkKind::kFill) {
    return require(cudaGraphAddMemcpyNode1D(&added, graph, nullptr, 0, work.to, work.from,
                                            work.bytes, cudaMemcpyDefault),
                   "adding a copy to a graph");
  }
  const cudaMemsetParams params = fill_params(work);
  require(cudaGraphAddMemsetNode(&added, graph, nullptr, 0, &params), "adding a fill to a graph");
}

void CudaPlan::add_host(cudaGraph_t graph, const Work& work, cudaGraphNode_t& added) {
  const cudaHostNodeParams params = host_params(work);
  require(cudaGraphAddHostNode(&added, graph, nullptr, 0, &params),
          "adding " + work.label() + " to a graph");
}

// Replaced before each launch; the driver wants some event from the start.
void CudaPlan::add_event(cudaGraph_t graph, const Work& work, cudaGraphNode_t& added) {
  const core::Ref<Mark> some = core::make_ref<Mark>(device_, false);
  const cudaError_t error =
      work.kind == WorkKind::kEventRecord
          ? cudaGraphAddEventRecordNode(&added, graph, nullptr, 0, some->event())
          : cudaGraphAddEventWaitNode(&added, graph, nullptr, 0, some->event());
  require(error, "adding an event node");
}

// A call a kind of edge: the driver gives all edges of a call the kind of the first (580.159.04).
// So a full one would keep every kernel of the graph from starting early, a programmatic one let
// kernels start early that do not wait. docs/cuda-backend.md, mixed-edges.test.ts
void CudaPlan::add_edges(Part& part, const core::Graph& graph) {
  std::map<std::pair<core::EdgeType, core::EdgePort>, Edges> kinds;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const core::GraphDependency& dependency : graph.nodes()[i].dependencies) {
      Edges& edges = kinds[{dependency.type, dependency.port}];
      edges.from.push_back(part.nodes[dependency.node]);
      edges.to.push_back(part.nodes[i]);
      edges.data.push_back(edge_data(dependency));
    }
  }
  for (const auto& [kind, edges] : kinds) {
    require(cudaGraphAddDependencies(part.graph, edges.from.data(), edges.to.data(),
                                     edges.data.data(), edges.from.size()),
            "adding edges to a graph");
  }
}

void CudaPlan::instantiate(const core::Graph& graph, bool node_priority) {
  cudaGraphInstantiateParams params{};
  params.flags = node_priority ? cudaGraphInstantiateFlagUseNodePriority : 0;
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

// ---- changes ------------------------------------------------------------------------------------

void CudaPlan::set_node(const GraphNode& node, uint32_t index) {
  const Work& work = *node.work;
  cudaGraphNode_t native = nodes_[index];
  if (work.kind == WorkKind::kKernel) {
    void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
    cudaGraphNodeParams params = kernel_params(work, arguments);
    require(cudaGraphExecNodeSetParams(exec_, native, &params),
            "giving kernel " + work.label() + " to a node");
    set_enabled(native, node.enabled);
  } else if (work.kind == WorkKind::kCopy && work.bytes > 0) {
    require(cudaGraphExecMemcpyNodeSetParams1D(exec_, native, work.to, work.from, work.bytes,
                                               cudaMemcpyDefault),
            "giving a copy to a node");
    set_enabled(native, node.enabled);
  } else if (work.kind == WorkKind::kFill && work.bytes > 0) {
    set_fill(node, native);
  } else if (work.kind == WorkKind::kNotify || work.kind == WorkKind::kHost) {
    const cudaHostNodeParams params = host_params(work);
    require(cudaGraphExecHostNodeSetParams(exec_, native, &params),
            "giving " + work.label() + " to a node");
  }
}

void CudaPlan::switch_off(const GraphNode& node, cudaGraphNode_t native) {
  if (node.work->kind != WorkKind::kKernel && node.work->bytes == 0) return;  // an empty node
  if (node.work->kind == WorkKind::kFill) return set_fill(node, native);
  set_enabled(native, false);
}

void CudaPlan::set_enabled(cudaGraphNode_t node, bool enabled) {
  require(cudaGraphNodeSetEnabled(exec_, node, enabled ? 1 : 0), "switching a node");
}

// With a fill that the driver has switched off, nodes behind it run too early or not at all, or the
// device is lost (580.159.04, CG09). So one that is off fills a byte that nobody reads.
void CudaPlan::set_fill(const GraphNode& node, cudaGraphNode_t native) {
  cudaMemsetParams params = fill_params(*node.work);
  if (!node.enabled) {
    core::Status status = device_.unread_byte(params.dst);
    if (!status.ok()) throw core::StatusException(std::move(status));
    params.width = params.pitch = 1;
  }
  require(cudaGraphExecMemsetNodeSetParams(exec_, native, &params), "giving a fill to a node");
}

// ---- external events ----------------------------------------------------------------------------

void CudaPlan::bind_events(const core::Graph& graph) {
  core::Ref<Awaited> awaited;
  if (!event_waits_.empty()) awaited = core::make_ref<Awaited>();
  for (const uint32_t node : event_waits_) {
    const core::Ref<core::Ticket>& ticket = graph.nodes()[node].work->event->ticket;
    awaited->tickets.push_back(ticket ? ticket : core::Ref<core::Ticket>(unrecorded_));
    Mark& mark = static_cast<Mark&>(*awaited->tickets.back());
    require(cudaGraphExecEventWaitNodeSetEvent(exec_, nodes_[node], mark.event()),
            "setting the event that a graph waits for");
  }
  awaited_ = std::move(awaited);
  for (size_t i = 0; i < event_records_.size(); ++i) {
    const uint32_t node = event_records_[i];
    const bool timing = graph.nodes()[node].work->event->has_timing();
    recorded_[i] = core::make_ref<Mark>(device_, timing);
    require(cudaGraphExecEventRecordNodeSetEvent(exec_, nodes_[node], recorded_[i]->event()),
            "setting the event that a graph records");
  }
}

void CudaPlan::publish_events(const core::Graph& graph, WatchPlaces& places) noexcept {
  for (size_t i = 0; i < event_records_.size(); ++i) {
    core::Event& event = *graph.nodes()[event_records_[i]].work->event;
    event.ticket = recorded_[i];
    event.sequence = nullptr;
    event.snapshot.clear();
    places.watch(recorded_[i]);
  }
}

}  // namespace cuda_runtime::cuda
