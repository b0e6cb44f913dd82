// Rows CT: what other threads may do while S1 captures on this one.
#include "harness/graphs.h"
#include "harness/worker.h"
#include "rows/calls.h"
#include "rows/rows.h"

namespace conformance {
namespace {

cudaError_t be_relaxed() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  return cudaThreadExchangeStreamCaptureMode(&mode);
}

// What the calls of these rows need, made before the capture.
struct Things {
  explicit Things(Scene& s) {
    graph = make_graph();
    add_empty(graph);
    executable = instantiate(graph);
    event = s.record(s.s3);
    cudaMalloc(&plain, 256);
    cudaMallocHost(&pinned, 256);
    cudaMallocAsync(&pooled, 256, s.s3);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPoolCreate(&pool, &props);
    cudaLibraryLoadData(&loaded, s.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaStreamSynchronize(s.s3);
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaEvent_t event = nullptr;
  void* plain = nullptr;
  void* pinned = nullptr;
  void* pooled = nullptr;
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaLibrary_t loaded = nullptr;
};

cudaError_t call_named(Scene& s, const Things& things) {
  void* made = nullptr;
  cudaGraphExec_t executable = nullptr;
  size_t free_bytes = 0;
  size_t total = 0;
  if (s.is("malloc")) return cudaMalloc(&made, 256);
  if (s.is("malloc host")) return cudaMallocHost(&made, 256);
  if (s.is("async alloc")) return cudaMallocAsync(&made, 256, s.s2);
  if (s.is("event query")) return cudaEventQuery(things.event);
  if (s.is("event synchronise")) return cudaEventSynchronize(things.event);
  if (s.is("stream synchronise")) return cudaStreamSynchronize(s.s3);
  if (s.is("synchronise")) return cudaStreamSynchronize(s.s2);
  if (s.is("query")) return cudaStreamQuery(s.s3);
  if (s.is("instantiate")) return cudaGraphInstantiate(&executable, things.graph, 0);
  if (s.is("destroy executable")) return cudaGraphExecDestroy(things.executable);
  if (s.is("destroy graph")) return cudaGraphDestroy(things.graph);
  if (s.is("destroy event")) return cudaEventDestroy(things.event);
  if (s.is("destroy stream")) return cudaStreamDestroy(things.stream);
  if (s.is("destroy pool")) return cudaMemPoolDestroy(things.pool);
  if (s.is("unload library")) return cudaLibraryUnload(things.loaded);
  if (s.is("free")) return cudaFree(things.plain);
  if (s.is("free host")) return cudaFreeHost(things.pinned);
  if (s.is("async free")) return cudaFreeAsync(things.pooled, s.s3);
  if (s.is("memory info")) return cudaMemGetInfo(&free_bytes, &total);
  if (s.is("copy")) return cudaMemcpy(things.plain, things.pinned, 4, cudaMemcpyHostToDevice);
  return cudaErrorUnknown;
}

void elsewhere(Scene& s) {
  const Things things(s);
  during(s, [&] {
    cudaError_t error = cudaErrorUnknown;
    on_thread([&] { error = call_named(s, things); });
    return error;
  });
}

void elsewhere_relaxed(Scene& s) {
  const Things things(s);
  during(s, [&] {
    cudaError_t error = cudaErrorUnknown;
    on_thread([&] {
      be_relaxed();
      error = call_named(s, things);
    });
    return error;
  });
}

void device_synchronise(Scene& s) {
  during(s, [] {
    cudaError_t error = cudaErrorUnknown;
    on_thread([&] { error = cudaDeviceSynchronize(); });
    return error;
  });
}

void device_synchronise_relaxed(Scene& s) {
  during(s, [] {
    cudaError_t error = cudaErrorUnknown;
    on_thread([&] {
      be_relaxed();
      error = cudaDeviceSynchronize();
    });
    return error;
  });
}

void self_relaxed(Scene& s) {
  const Things things(s);
  during(s, [&] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    const cudaError_t error = call_named(s, things);
    cudaThreadExchangeStreamCaptureMode(&mode);
    return error;
  });
}

void work_elsewhere(Scene& s) {
  s.begin(s.s1);
  Worker b;
  b.run([&] {
    s.put("launch", s.k(s.s1));
    const cudaEvent_t event = s.event();
    s.put("record", cudaEventRecord(event, s.s1));
    s.put("wait", cudaStreamWaitEvent(s.s2, event, 0));
    s.k(s.s2);
    s.link(s.s2, s.s1);
  });
  s.finish();
}

void exchange(Scene& s) {
  if (s.is("null")) return s.put("call", cudaThreadExchangeStreamCaptureMode(nullptr));
  auto undefined = static_cast<cudaStreamCaptureMode>(99);
  s.put("call", cudaThreadExchangeStreamCaptureMode(&undefined));
}

}  // namespace

void add_threads(Rows& rows) {
  rows.insert({{"CT01", elsewhere},
               {"CT02", device_synchronise},
               {"CT03", elsewhere_relaxed},
               {"CT04", device_synchronise_relaxed},
               {"CT05", self_relaxed},
               {"CT06", work_elsewhere},
               {"CT07", exchange}});
}

}  // namespace conformance
