// Rows CG: graphs made node by node, and their executables.
#include <atomic>
#include <chrono>
#include <thread>

#include "harness/graphs.h"
#include "rows/calls.h"
#include "rows/rows.h"
#include "test_kernels/accumulate.h"
#include "test_kernels/spin.h"

namespace conformance {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void CUDART_CB do_nothing(void*) {}

cudaGraphNode_t add_spin(Scene& s, cudaGraph_t graph, int milliseconds, const Nodes& after = {}) {
  SpinParams params = {nullptr, int64_t{milliseconds} * 1000};
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(s.kernels.spin, arguments), after);
}

// Adds a number to counter 0.
cudaGraphNode_t add_sum(Scene& s, cudaGraph_t graph, int number, const Nodes& after = {}) {
  AccumulateParams params = {s.counters, 1, 1, number};
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(s.kernels.accumulate, arguments), after);
}

void cycle(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraphNode_t a = add_empty(graph);
  const cudaGraphNode_t b = add_empty(graph, {a});
  s.put("add", add_edge(graph, b, a));
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiateParams params = {};
  s.put("instantiate", cudaGraphInstantiateWithParams(&executable, graph, &params));
  s.put("result", static_cast<int>(params.result_out));
  s.put("node", std::string(params.errNode_out != nullptr ? "given" : "none"));
}

void bad_edges(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraph_t other = make_graph();
  const cudaGraphNode_t a = add_empty(graph);
  const cudaGraphNode_t b = add_empty(graph, {a});
  if (s.is("duplicate")) return s.put("call", add_edge(graph, a, b));
  if (s.is("self")) return s.put("call", add_edge(graph, a, a));
  if (s.is("foreign node")) return s.put("call", add_edge(graph, a, add_empty(other)));
  const cudaGraphNode_t twice[] = {a, a};
  cudaGraphNode_t node = nullptr;
  s.put("call", cudaGraphAddEmptyNode(&node, graph, twice, 2));
}

void graph_destroyed(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_sum(s, graph, 1);
  const cudaGraphExec_t executable = instantiate(graph);
  s.put("destroy", cudaGraphDestroy(graph));
  s.put("launch", cudaGraphLaunch(executable, s.s1));
  put_executed(s, s.counter() == 1);
}

void executable_destroyed(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_sum(s, graph, 1, {add_spin(s, graph, 200)});
  const cudaGraphExec_t executable = instantiate(graph);
  cudaGraphLaunch(executable, s.s1);
  s.put("destroy", cudaGraphExecDestroy(executable));
  put_executed(s, s.counter() == 1);
}

void two_streams(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_spin(s, graph, 200);
  const cudaGraphExec_t first = instantiate(graph);
  const cudaGraphExec_t second = s.is("two executables") ? instantiate(graph) : first;
  cudaGraphUpload(first, s.s1);
  cudaGraphUpload(second, s.s2);
  cudaDeviceSynchronize();
  const auto start = Clock::now();
  cudaGraphLaunch(first, s.s1);
  cudaGraphLaunch(second, s.s2);
  cudaDeviceSynchronize();
  const double milliseconds = milliseconds_since(start);
  s.put("milliseconds", std::to_string(milliseconds));
  s.put("launches", std::string(milliseconds >= 390   ? "serialised"
                                : milliseconds <= 300 ? "concurrent"
                                                      : "unclear"));
}

void on_default_streams(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_sum(s, graph, 1);
  const cudaStream_t stream = s.is("legacy") ? cudaStreamLegacy : cudaStreamPerThread;
  s.put("launch", cudaGraphLaunch(instantiate(graph), stream));
  put_executed(s, s.counter() == 1);
}

void set_while_running(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraphNode_t sum = add_sum(s, graph, 1, {add_spin(s, graph, 200)});
  const cudaGraphExec_t executable = instantiate(graph);
  cudaGraphLaunch(executable, s.s1);
  AccumulateParams params = {s.counters, 1, 1, 10};
  void* arguments[] = {&params};
  const cudaKernelNodeParams terms = kernel_params(s.kernels.accumulate, arguments);
  s.put("set", cudaGraphExecKernelNodeSetParams(executable, sum, &terms));
  const int running = s.counter();
  s.put("running", running == 1 ? "old" : std::to_string(running));
  cudaGraphLaunch(executable, s.s1);
  const int next = s.counter() - running;
  s.put("next", next == 10 ? "new" : std::to_string(next));
}

void set_foreign(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraph_t other = make_graph();
  add_sum(s, graph, 1);
  const cudaGraphNode_t foreign = add_sum(s, other, 1);
  AccumulateParams params = {s.counters, 1, 1, 10};
  void* arguments[] = {&params};
  const cudaKernelNodeParams terms = kernel_params(s.kernels.accumulate, arguments);
  s.put("call", cudaGraphExecKernelNodeSetParams(instantiate(graph), foreign, &terms));
}

void disable(Scene& s) {
  if (s.name.find("in a chain") != std::string::npos) return switched_off_in_chains(s);
  const cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = nullptr;
  if (s.is("kernel")) node = add_sum(s, graph, 1);
  if (s.is("fill")) node = add_fill(graph, fill_params(s.counters, 1, 4));
  if (s.is("host function")) node = add_host(graph, do_nothing, nullptr);
  s.put("call", cudaGraphNodeSetEnabled(instantiate(graph), node, 0));
}

void null_handles(Scene& s) {
  if (s.is("events")) {
    s.put("record", cudaEventRecord(nullptr, s.s1));
    s.put("wait", cudaStreamWaitEvent(s.s1, nullptr, 0));
    return s.put("destroy", cudaEventDestroy(nullptr));
  }
  cudaGraphExec_t executable = nullptr;
  s.put("launch", cudaGraphLaunch(nullptr, s.s1));
  s.put("instantiate", cudaGraphInstantiate(&executable, nullptr, 0));
  s.put("destroy executable", cudaGraphExecDestroy(nullptr));
  s.put("destroy graph", cudaGraphDestroy(nullptr));
}

void child_copy(Scene& s) {
  const cudaGraph_t source = make_graph();
  const cudaGraph_t graph = make_graph();
  add_sum(s, source, 1);
  cudaGraphNode_t child = nullptr;
  cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, source);
  s.put("destroy", cudaGraphDestroy(source));
  s.put("launch", cudaGraphLaunch(instantiate(graph), s.s1));
  put_executed(s, s.counter() == 1);
}

void own_child(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_empty(graph);
  cudaGraphNode_t child = nullptr;
  s.put("call", cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, graph));
}

// The body of an `if` node whose condition is a constant.
cudaGraph_t add_if(cudaGraph_t graph, unsigned condition) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, condition,
                                   cudaGraphCondAssignDefault);
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  const cudaError_t error = cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
  return error == cudaSuccess ? params.conditional.phGraph_out[0] : nullptr;
}

void bad_conditional(Scene& s) {
  const cudaGraph_t graph = make_graph();
  if (s.is("handle without node")) {
    cudaGraphConditionalHandle handle = 0;
    cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
    add_empty(graph);
  } else {
    add_host(add_if(graph, 1), do_nothing, nullptr);
  }
  cudaGraphExec_t executable = nullptr;
  s.put("instantiate", cudaGraphInstantiate(&executable, graph, 0));
}

void clone_conditional(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_if(graph, 1);
  cudaGraph_t clone = nullptr;
  s.put("call", cudaGraphClone(&clone, graph));
}

void capture_into_body(Scene& s) {
  const cudaGraph_t graph = make_graph();
  const cudaGraph_t body = add_if(graph, s.is("condition 1") ? 1 : 0);
  cudaStreamBeginCaptureToGraph(s.s1, body, nullptr, nullptr, 0, s.mode);
  s.add(s.s1);
  s.end(s.s1);
  s.put("graph", std::string(s.graph == body ? "same" : "another"));
  cudaGraphLaunch(instantiate(graph), s.s1);
  s.put("ran", std::string(s.counter() == 1 ? "yes" : "no"));
}

std::atomic<int> destroyed = 0;
void CUDART_CB count_destroyed(void*) { ++destroyed; }

// Destructors run on a thread of the driver, some time after.
int destroyed_soon() {
  for (int i = 0; i < 100 && destroyed == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return destroyed;
}

void retained(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_spin(s, graph, 400);
  cudaUserObject_t object = nullptr;
  cudaUserObjectCreate(&object, &destroyed, count_destroyed, 1, cudaUserObjectNoDestructorSync);
  cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  const cudaGraphExec_t executable = instantiate(graph);
  cudaGraphDestroy(graph);
  if (s.is("graph destroyed")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    s.put("with the executable", destroyed.load());
    cudaGraphExecDestroy(executable);
  } else {
    cudaGraphLaunch(executable, s.s1);
    cudaGraphExecDestroy(executable);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    s.put("while it runs", destroyed.load());
    cudaStreamSynchronize(s.s1);
  }
  s.put("after it", destroyed_soon());
}

}  // namespace

void add_graphs(Rows& rows) {
  rows.insert({{"CG01", cycle},             {"CG02", bad_edges},
               {"CG03", graph_destroyed},   {"CG04", executable_destroyed},
               {"CG05", two_streams},       {"CG06", on_default_streams},
               {"CG07", set_while_running}, {"CG08", set_foreign},
               {"CG09", disable},           {"CG10", null_handles},
               {"CG11", child_copy},        {"CG12", own_child},
               {"CG13", bad_conditional},   {"CG14", clone_conditional},
               {"CG15", capture_into_body}, {"CG16", retained},
               {"CG17", mixed_edges}});
}

}  // namespace conformance
