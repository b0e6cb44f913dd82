// Rows CM: memory nodes and pools.
#include "harness/graphs.h"
#include "rows/rows.h"

namespace conformance {
namespace {

// A graph that allocates, fills, and perhaps frees.
struct MemoryGraph {
  explicit MemoryGraph(bool frees) {
    cudaMemAllocNodeParams params = alloc_params(256);
    cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params);
    pointer = params.dptr;
    fill = add_fill(graph, fill_params(pointer, 3, 256), {alloc});
    if (frees) cudaGraphAddMemFreeNode(&free, graph, &fill, 1, pointer);
  }
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t alloc = nullptr;
  cudaGraphNode_t fill = nullptr;
  cudaGraphNode_t free = nullptr;
  void* pointer = nullptr;
};

void put_launch(Scene& s, const char* key, cudaGraphExec_t executable) {
  const cudaError_t error = cudaGraphLaunch(executable, s.s1);
  s.put(key, error != cudaSuccess ? error : cudaStreamSynchronize(s.s1));
}

void cannot(Scene& s) {
  const MemoryGraph made(true);
  if (s.is("remove node")) return s.put("call", cudaGraphDestroyNode(made.fill));
  if (s.is("clone")) {
    cudaGraph_t clone = nullptr;
    return s.put("call", cudaGraphClone(&clone, made.graph));
  }
  if (s.is("child")) {
    cudaGraphNode_t child = nullptr;
    return s.put("call",
                 cudaGraphAddChildGraphNode(&child, make_graph(), nullptr, 0, made.graph));
  }
  cudaGraphExec_t executable = instantiate(made.graph);
  s.put("first", std::string(executable != nullptr ? "made" : "refused"));
  s.put("call", cudaGraphInstantiate(&executable, made.graph, 0));
}

void again(Scene& s) {
  const MemoryGraph made(false);
  const cudaGraphExec_t executable = instantiate(made.graph);
  put_launch(s, "launch", executable);
  if (s.is("after an async free")) cudaFreeAsync(made.pointer, s.s1);
  if (s.is("after a plain free")) cudaFree(made.pointer);
  put_launch(s, "again", executable);
}

void auto_free(Scene& s) {
  const MemoryGraph made(false);
  const cudaGraphExec_t executable =
      instantiate(made.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  put_launch(s, "launch", executable);
  put_launch(s, "again", executable);
}

void escaped(Scene& s) {
  const MemoryGraph made(false);
  const cudaGraphExec_t executable = instantiate(made.graph);
  cudaGraphLaunch(executable, s.s1);
  cudaStreamSynchronize(s.s1);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(made.graph);
  s.put("fill", cudaMemsetAsync(made.pointer, 5, 256, s.s1));
  cudaStreamSynchronize(s.s1);
  unsigned char byte = 0;
  cudaMemcpy(&byte, made.pointer, 1, cudaMemcpyDeviceToHost);
  s.put("value", byte == 5 ? "right" : std::to_string(int(byte)));
  s.put("free", cudaFreeAsync(made.pointer, s.s1));
}

void free_on_fork(Scene& s) {
  s.begin(s.s1);
  void* made = nullptr;
  cudaMallocAsync(&made, 256, s.s1);
  s.link(s.s1, s.s2);
  cudaMemsetAsync(made, 1, 256, s.s2);
  cudaFreeAsync(made, s.s2);
  s.link(s.s2, s.s1);
  s.put("end", s.end(s.s1));
  const cudaGraphExec_t executable = instantiate(s.graph);
  put_launch(s, "launch", executable);
  put_launch(s, "again", executable);
}

void free_outside(Scene& s) {
  const MemoryGraph made(true);
  put_launch(s, "launch", instantiate(made.graph));
  s.put("call", cudaFreeAsync(made.pointer, s.s1));
}

void bad_frees(Scene& s) {
  void* made = nullptr;
  cudaMallocAsync(&made, 256, s.s1);
  cudaStreamSynchronize(s.s1);
  if (s.is("wild pointer")) {
    return s.put("call", cudaFree(reinterpret_cast<void*>(uintptr_t{0x123456000})));
  }
  cudaFreeAsync(made, s.s1);
  if (s.is("async free twice")) return s.put("call", cudaFreeAsync(made, s.s1));
  s.put("call", cudaFree(made));
}

void unusual_frees(Scene& s) {
  void* plain = nullptr;
  if (s.is("async free of a plain allocation")) cudaMalloc(&plain, 256);
  s.put("call", cudaFreeAsync(plain, s.s1));
}

void nothing(Scene& s) {
  void* made = &made;
  s.put("call", s.is("plain") ? cudaMalloc(&made, 0) : cudaMallocAsync(&made, 0, s.s1));
  s.put("pointer", std::string(made == nullptr ? "null" : "set"));
}

void too_much(Scene& s) {
  constexpr size_t kBytes = size_t{1} << 50;
  void* made = nullptr;
  s.put("call", s.is("plain") ? cudaMalloc(&made, kBytes) : cudaMallocAsync(&made, kBytes, s.s1));
  s.put("then", cudaMalloc(&made, 256));
}

}  // namespace

void add_memory(Rows& rows) {
  rows.insert({{"CM01", cannot},
               {"CM02", again},
               {"CM03", auto_free},
               {"CM04", escaped},
               {"CM05", free_on_fork},
               {"CM06", free_outside},
               {"CM07", bad_frees},
               {"CM08", unusual_frees},
               {"CM09", nothing},
               {"CM10", too_much}});
}

}  // namespace conformance
