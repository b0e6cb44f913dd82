// Rows CU: calls of the capturing thread, except those on graphs and executables.
#include <cstdlib>

#include "harness/graphs.h"
#include "rows/calls.h"
#include "rows/rows.h"
#include "test_kernels/parallel.h"

namespace conformance {
namespace {

cudaStream_t const legacy = cudaStreamLegacy;

void on_itself(Scene& s) {
  during(s, [&] { return s.is("query") ? cudaStreamQuery(s.s1) : cudaStreamSynchronize(s.s1); });
}

void device_synchronise(Scene& s) { during(s, [] { return cudaDeviceSynchronize(); }); }

void on_another(Scene& s) {
  during(s, [&] { return s.is("query") ? cudaStreamQuery(s.s3) : cudaStreamSynchronize(s.s3); });
}

void on_legacy(Scene& s) {
  during(s, [&] { return s.is("query") ? cudaStreamQuery(legacy) : cudaStreamSynchronize(legacy); });
}

void outside_event(Scene& s) {
  const bool is_recorded = s.is("query recorded") || s.is("synchronise recorded");
  const bool is_query = s.is("query recorded") || s.is("query unrecorded");
  const cudaEvent_t event = is_recorded ? s.record(s.s3) : s.event();
  cudaStreamSynchronize(s.s3);
  during(s, [&] { return is_query ? cudaEventQuery(event) : cudaEventSynchronize(event); });
}

void captured_event(Scene& s) {
  during(s, [&] {
    const cudaEvent_t event = s.record(s.s1);
    return s.is("query") ? cudaEventQuery(event) : cudaEventSynchronize(event);
  });
}

void elapsed(Scene& s) {
  const cudaEvent_t first = s.event(true);
  const cudaEvent_t second = s.event(true);
  during(s, [&] {
    cudaEventRecord(first, s.s1);
    cudaEventRecord(second, s.s1);
    float milliseconds = 0;
    return cudaEventElapsedTime(&milliseconds, first, second);
  });
}

void make_and_destroy(Scene& s) {
  during(s, [&] {
    if (s.is("stream")) {
      cudaStream_t made = nullptr;
      const cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
      return error != cudaSuccess ? error : cudaStreamDestroy(made);
    }
    cudaEvent_t made = nullptr;
    cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(made, s.s1);
    return error != cudaSuccess ? error : cudaEventDestroy(made);
  });
}

void plain_memory(Scene& s) {
  constexpr size_t kBytes = 1 << 16;
  void* device = nullptr;
  void* pinned = nullptr;
  void* pages = std::aligned_alloc(4096, kBytes);
  void* registered = std::aligned_alloc(4096, kBytes);
  cudaMalloc(&device, kBytes);
  cudaMallocHost(&pinned, kBytes);
  cudaHostRegister(registered, kBytes, cudaHostRegisterDefault);
  during(s, [&] {
    void* made = nullptr;
    if (s.is("malloc")) return cudaMalloc(&made, kBytes);
    if (s.is("free")) return cudaFree(device);
    if (s.is("malloc host")) return cudaMallocHost(&made, kBytes);
    if (s.is("host register")) return cudaHostRegister(pages, kBytes, cudaHostRegisterDefault);
    if (s.is("free host")) return cudaFreeHost(pinned);
    return cudaHostUnregister(registered);
  });
}

void async_memory(Scene& s) {
  during(s, [&] {
    void* made = nullptr;
    cudaError_t error = cudaMallocAsync(&made, 256, s.s1);
    if (error == cudaSuccess) error = cudaMemsetAsync(made, 1, 256, s.s1);
    return error != cudaSuccess ? error : cudaFreeAsync(made, s.s1);
  });
  s.put("kinds", kinds_of(s.graph));
}

void async_alloc_elsewhere(Scene& s) {
  void* made = nullptr;
  during(s, [&] { return cudaMallocAsync(&made, 256, s.s3); });
}

void async_free_foreign(Scene& s) {
  void* made = nullptr;
  cudaMallocAsync(&made, 256, s.s3);
  cudaStreamSynchronize(s.s3);
  during(s, [&] { return cudaFreeAsync(made, s.s1); });
}

void async_free_twice(Scene& s) {
  s.begin(s.s1);
  void* made = nullptr;
  cudaMallocAsync(&made, 256, s.s1);
  s.put("first", cudaFreeAsync(made, s.s1));
  s.put("second", cudaFreeAsync(made, s.s1));
  s.finish();
}

void blocking_copy(Scene& s) {
  const int32_t seven = 7;
  during(s, [&] {
    if (s.is("fill")) return cudaMemset(s.counters, 7, sizeof seven);
    return cudaMemcpy(s.counters, &seven, sizeof seven, cudaMemcpyHostToDevice);
  });
  put_executed(s, s.counter() == (s.is("fill") ? 0x07070707 : 7));
}

void host_copy(Scene& s) {
  void* pinned = nullptr;
  cudaMallocHost(&pinned, 64);
  static int32_t pageable[16] = {};
  const bool is_pinned = s.is("to device, pinned") || s.is("to host, pinned");
  const bool is_to_device = s.is("to device, pinned") || s.is("to device, pageable");
  void* host = is_pinned ? pinned : pageable;
  during(s, [&] {
    return is_to_device ? cudaMemcpyAsync(s.counters, host, 4, cudaMemcpyHostToDevice, s.s1)
                        : cudaMemcpyAsync(host, s.counters, 4, cudaMemcpyDeviceToHost, s.s1);
  });
}

void questions(Scene& s) {
  s.begin(s.s1);
  size_t free_bytes = 0;
  size_t total = 0;
  int value = 0;
  static cudaDeviceProp properties;
  cudaPointerAttributes pointer = {};
  s.put("memory", cudaMemGetInfo(&free_bytes, &total));
  s.put("attribute", cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  s.put("properties", cudaGetDeviceProperties(&properties, 0));
  s.put("device", cudaSetDevice(0));
  s.put("pointer", cudaPointerGetAttributes(&pointer, s.counters));
  s.finish();
}

void pools(Scene& s) {
  cudaMemPool_t pool = nullptr;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  uint64_t value = 0;
  during(s, [&] {
    if (s.is("get attribute")) {
      return cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value);
    }
    if (s.is("set attribute")) {
      return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value);
    }
    if (s.is("trim")) return cudaMemPoolTrimTo(pool, 0);
    return cudaDeviceGetDefaultMemPool(&pool, 0);
  });
}

cudaError_t load_again(Scene& s, cudaLibrary_t& library) {
  return cudaLibraryLoadData(&library, s.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
}

void kernels_and_libraries(Scene& s) {
  static int64_t results[1];
  during(s, [&] {
    const void* kernel = reinterpret_cast<const void*>(s.kernels.parallel);
    cudaFuncAttributes attributes = {};
    cudaKernel_t found = nullptr;
    cudaLibrary_t loaded = nullptr;
    int blocks = 0;
    if (s.is("attributes")) return cudaFuncGetAttributes(&attributes, kernel);
    if (s.is("occupancy")) {
      return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0);
    }
    if (s.is("load library")) return load_again(s, loaded);
    if (s.is("get kernel")) return cudaLibraryGetKernel(&found, s.kernel_library, "test_add");
    ParallelParams params = {};
    params.y = results;  // count is 0: nothing is written
    return s.launch(s.kernels.parallel, s.s1, &params);
  });
}

void unload(Scene& s) {
  cudaLibrary_t loaded = nullptr;
  load_again(s, loaded);
  during(s, [&] { return cudaLibraryUnload(loaded); });
}

void wild_copy(Scene& s) {
  during(s, [&] {
    void* const wild = reinterpret_cast<void*>(uintptr_t{0x123456000});
    return cudaMemcpyAsync(wild, s.counters, 4, cudaMemcpyDeviceToDevice, s.s1);
  });
}

void long_fill(Scene& s) {
  during(s, [&] { return cudaMemsetAsync(s.counters, 0, size_t{1} << 40, s.s1); });
}

void CUDART_CB do_nothing(void*) {}
void CUDART_CB old_callback(cudaStream_t, cudaError_t, void*) {}

void host_function(Scene& s) {
  during(s, [&] { return cudaLaunchHostFunc(s.s1, do_nothing, nullptr); });
  s.put("kinds", kinds_of(s.graph));
}

void stream_callback(Scene& s) {
  during(s, [&] { return cudaStreamAddCallback(s.s1, old_callback, nullptr, 0); });
}

void set_limit(Scene& s) {
  during(s, [] { return cudaDeviceSetLimit(cudaLimitStackSize, 2048); });
}

void attributes_of_stream(Scene& s) {
  during(s, [&] {
    cudaStreamAttrValue value = {};
    int priority = 0;
    if (s.is("priority")) return cudaStreamGetPriority(s.s1, &priority);
    const cudaStreamAttrID id = cudaStreamAttributeSynchronizationPolicy;
    if (s.is("get attribute")) return cudaStreamGetAttribute(s.s1, id, &value);
    value.syncPolicy = cudaSyncPolicyAuto;
    return cudaStreamSetAttribute(s.s1, id, &value);
  });
}

void facts_of(Scene& s, cudaStream_t stream) {
  during(s, [&] {
    unsigned flags = 0;
    unsigned long long id = 0;
    int device = 0;
    if (s.is("flags")) return cudaStreamGetFlags(stream, &flags);
    return s.is("id") ? cudaStreamGetId(stream, &id) : cudaStreamGetDevice(stream, &device);
  });
}

void facts(Scene& s) { facts_of(s, s.s1); }
void facts_elsewhere(Scene& s) { facts_of(s, s.s3); }

int host_calls = 0;
void CUDART_CB count_call(void*) { ++host_calls; }

void work_elsewhere(Scene& s) {
  const int32_t seven = 7;
  const bool is_legacy = s.name.rfind("legacy", 0) == 0;
  const std::string what = is_legacy ? s.name.substr(7) : s.name;
  const cudaStream_t stream = is_legacy ? legacy : s.s3;
  const cudaEvent_t event = s.event();
  during(s, [&] {
    if (what == "kernel") return s.add(stream);
    if (what == "fill") return cudaMemsetAsync(s.counters, 1, 1, stream);
    if (what == "record") return cudaEventRecord(event, stream);
    if (what == "wait") return cudaStreamWaitEvent(stream, event, 0);
    if (what == "host function") return cudaLaunchHostFunc(stream, count_call, nullptr);
    return cudaMemcpyAsync(s.counters, &seven, sizeof seven, cudaMemcpyHostToDevice, stream);
  });
  cudaStreamSynchronize(stream);
  const int value = s.counter();
  if (what == "kernel" || what == "fill") return put_executed(s, value == 1);
  if (what == "copy") return put_executed(s, value == seven);
  if (what == "host function") return put_executed(s, host_calls == 1);
  put_executed(s, cudaEventQuery(event) == cudaSuccess);
}

}  // namespace

void put_executed(Scene& s, bool is_executed) {
  s.put("executed", std::string(is_executed ? "yes" : "no"));
}

void add_calls(Rows& rows) {
  rows.insert({{"CU01", on_itself},         {"CU02", device_synchronise},
               {"CU03", on_another},        {"CU04", on_legacy},
               {"CU05", outside_event},     {"CU06", captured_event},
               {"CU07", elapsed},           {"CU08", make_and_destroy},
               {"CU09", plain_memory},      {"CU10", async_memory},
               {"CU11", async_alloc_elsewhere}, {"CU12", async_free_foreign},
               {"CU13", async_free_twice},  {"CU14", blocking_copy},
               {"CU15", host_copy},         {"CU16", questions},
               {"CU17", pools},             {"CU18", kernels_and_libraries},
               {"CU19", unload},            {"CU22", wild_copy},
               {"CU23", long_fill},         {"CU24", host_function},
               {"CU25", stream_callback},   {"CU30", set_limit},
               {"CU31", attributes_of_stream}, {"CU32", facts},
               {"CU33", facts_elsewhere},   {"CU34", work_elsewhere}});
}

}  // namespace conformance
