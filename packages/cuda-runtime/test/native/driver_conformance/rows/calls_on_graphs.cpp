// Rows CU and CK about launches, graphs and executables.
#include <unistd.h>

#include "harness/graphs.h"
#include "rows/calls.h"
#include "rows/rows.h"
#include "test_kernels/empty.h"

namespace conformance {
namespace {

cudaError_t bad_launch(Scene& s) {
  EmptyParams params = {0};
  LaunchTerms terms;
  if (s.is("threads")) terms.block = dim3(2048);
  if (s.is("grid")) terms.grid = dim3(0);
  if (s.is("shared memory")) terms.shared_bytes = size_t{1} << 30;
  return s.launch(s.kernels.empty, s.s1, &params, terms);
}

void bad_launch_captured(Scene& s) {
  during(s, [&] { return bad_launch(s); });
}

void bad_launch_eager(Scene& s) { s.put("call", bad_launch(s)); }

void bad_cluster(Scene& s) {
  during(s, [&] {
    EmptyParams params = {0};
    LaunchTerms terms;
    terms.grid = dim3(64);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 64;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    terms.attributes.push_back(cluster);
    return s.launch(s.kernels.empty, s.s1, &params, terms);
  });
}

// A graph with a kernel and a fill, made before the capture.
struct Made {
  explicit Made(Scene& s) {
    graph = make_graph();
    void* arguments[] = {&params};
    kernel_terms = kernel_params(s.kernels.empty, arguments);
    kernel = add_kernel(graph, kernel_terms);
    fill_terms = fill_params(s.counters, 0, 4);
    fill = add_fill(graph, fill_terms, {kernel});
    executable = instantiate(graph);
  }
  EmptyParams params = {0};
  cudaGraph_t graph = nullptr;
  cudaKernelNodeParams kernel_terms = {};
  cudaMemsetParams fill_terms = {};
  cudaGraphNode_t kernel = nullptr;
  cudaGraphNode_t fill = nullptr;
  cudaGraphExec_t executable = nullptr;
};

void executable_on(Scene& s, cudaStream_t stream) {
  const Made made(s);
  during(s, [&] {
    return s.is("upload") ? cudaGraphUpload(made.executable, stream)
                          : cudaGraphLaunch(made.executable, stream);
  });
}

void executable_on_itself(Scene& s) { executable_on(s, s.s1); }
void executable_elsewhere(Scene& s) { executable_on(s, s.s3); }

void come_and_go(Scene& s) {
  const Made made(s);
  during(s, [&] {
    cudaGraphExec_t another = nullptr;
    return s.is("destroy") ? cudaGraphExecDestroy(made.executable)
                           : cudaGraphInstantiate(&another, made.graph, 0);
  });
}

void CUDART_CB do_nothing(void*) {}

cudaError_t user_object(cudaGraph_t graph) {
  cudaUserObject_t object = nullptr;
  const cudaError_t error = cudaUserObjectCreate(&object, &object, do_nothing, 1,
                                                 cudaUserObjectNoDestructorSync);
  if (error != cudaSuccess) return error;
  return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
}

cudaGraph_t captured_graph(Scene& s) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  cudaStreamGetCaptureInfo(s.s1, &status, nullptr, &graph, nullptr, nullptr, nullptr);
  return graph;
}

void work_on_graphs(Scene& s) {
  Made made(s);
  void* arguments[] = {&made.params};
  made.kernel_terms.kernelParams = arguments;
  const cudaGraph_t spare = make_graph();
  during(s, [&] {
    cudaGraph_t created = nullptr;
    cudaGraphExecUpdateResultInfo info = {};
    if (s.is("create")) return cudaGraphCreate(&created, 0);
    if (s.is("destroy")) return cudaGraphDestroy(spare);
    if (s.is("update executable")) return cudaGraphExecUpdate(made.executable, made.graph, &info);
    if (s.is("set node parameters")) {
      return cudaGraphExecKernelNodeSetParams(made.executable, made.kernel, &made.kernel_terms);
    }
    if (s.is("enable node")) return cudaGraphNodeSetEnabled(made.executable, made.kernel, 0);
    if (s.is("user object")) return user_object(spare);
    const cudaGraph_t printed = s.is("print") ? made.graph : captured_graph(s);
    const std::string path = "/tmp/driver_conformance." + std::to_string(getpid()) + ".dot";
    const cudaError_t error = cudaGraphDebugDotPrint(printed, path.c_str(), 0);
    unlink(path.c_str());
    return error;
  });
}

}  // namespace

void add_calls_on_graphs(Rows& rows) {
  rows.insert({{"CU20", bad_launch_captured},
               {"CU21", bad_cluster},
               {"CU26", executable_on_itself},
               {"CU27", executable_elsewhere},
               {"CU28", come_and_go},
               {"CU29", work_on_graphs},
               {"CK01", bad_launch_eager}});
}

}  // namespace conformance
