// Rows CE, CH and CD: events, host functions and devices, without capture.
#include <atomic>
#include <chrono>
#include <thread>

#include "harness/graphs.h"
#include "rows/rows.h"
#include "test_kernels/fill.h"

namespace conformance {
namespace {

using Clock = std::chrono::steady_clock;

void elapsed(Scene& s) {
  const bool has_timing = !s.is("without timing");
  const cudaEvent_t first = s.event(has_timing);
  const cudaEvent_t second = s.event(has_timing);
  if (!s.is("never recorded")) {
    cudaEventRecord(first, s.s1);
    s.spin(s.s1, s.is("not complete") ? 400 : 20);
    cudaEventRecord(second, s.s1);
    if (!s.is("not complete")) cudaStreamSynchronize(s.s1);
  }
  float milliseconds = 0;
  const bool is_reversed = s.is("reversed");
  s.put("call", cudaEventElapsedTime(&milliseconds, is_reversed ? second : first,
                                     is_reversed ? first : second));
  s.put("time", std::string(milliseconds < 0 ? "negative" : "not negative"));
}

void never_recorded(Scene& s) {
  const cudaEvent_t event = s.event();
  s.put("call", s.is("query") ? cudaEventQuery(event) : cudaEventSynchronize(event));
}

void recorded_again(Scene& s) {
  const cudaEvent_t event = s.record(s.s1);
  s.spin(s.s1, 400);
  cudaStreamWaitEvent(s.s2, event, 0);
  cudaEventRecord(event, s.s1);
  s.k(s.s2);
  cudaStreamSynchronize(s.s2);
  s.put("query", cudaEventQuery(event));
  s.put("waits", std::string(cudaStreamQuery(s.s1) == cudaErrorNotReady ? "no" : "yes"));
}

void destroy_pending(Scene& s) {
  s.spin(s.s1, 200);
  s.add(s.s1);
  const cudaEvent_t event = s.record(s.s1);
  cudaStreamWaitEvent(s.s2, event, 0);
  s.add(s.s2);
  if (s.is("event")) {
    s.put("destroy", cudaEventDestroy(event));
  } else {
    s.put("destroy", cudaStreamDestroy(s.s1));
    s.forget(s.s1);
  }
  const cudaError_t waited = cudaStreamSynchronize(s.s2);
  const bool is_complete = waited == cudaSuccess && s.counter() == 2;
  s.put("waiter", std::string(is_complete ? "completes" : "does not complete"));
}

void query_pending(Scene& s) {
  s.spin(s.s1, 200);
  const cudaEvent_t event = s.record(s.s1);
  cudaGetLastError();
  s.put("query", cudaEventQuery(event));
  s.put("last error", cudaPeekAtLastError());
}

std::atomic<int> inside = -1;
void CUDART_CB call_runtime(void*) {
  void* made = nullptr;
  inside = static_cast<int>(cudaMalloc(&made, 256));
}

void inside_host_function(Scene& s) {
  cudaLaunchHostFunc(s.s1, call_runtime, nullptr);
  cudaStreamSynchronize(s.s1);
  s.put("inside", inside.load());
}

void CUDART_CB sleep_50(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

void host_functions(Scene& s) {
  const cudaGraph_t graph = make_graph();
  add_host(graph, sleep_50, nullptr);
  add_host(graph, sleep_50, nullptr);
  const cudaGraphExec_t executable = instantiate(graph);
  const bool is_graph = s.is("two branches");
  const auto start = Clock::now();
  if (is_graph) cudaGraphLaunch(executable, s.s1);
  for (const cudaStream_t stream : {s.s1, s.s2, s.s3}) {
    if (!is_graph) cudaLaunchHostFunc(stream, sleep_50, nullptr);
  }
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
  s.put("milliseconds", std::to_string(taken.count()));
  const bool is_serial = taken.count() >= (is_graph ? 99 : 149);
  s.put("ran", std::string(is_serial ? "one after the other" : "at once"));
}

// Writes where no memory is: the device is lost from then on.
void lose_device(Scene& s) {
  FillParams params = {reinterpret_cast<int32_t*>(uintptr_t{0x123456000}), 1, 1};
  s.launch(s.kernels.fill, s.s1, &params);
}

std::atomic<int> host_calls = 0;
void CUDART_CB count_call(void*) { ++host_calls; }

void host_function_after_error(Scene& s) {
  lose_device(s);
  s.put("enqueue", cudaLaunchHostFunc(s.s1, count_call, nullptr));
  s.put("synchronise", cudaStreamSynchronize(s.s1));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  s.put("called", std::string(host_calls == 0 ? "no" : "yes"));
}

void device_99(Scene& s) { s.put("call", cudaSetDevice(99)); }

void low_priority(Scene& s) {
  int least = 0;
  int greatest = 0;
  int priority = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t stream = nullptr;
  s.put("call", cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
  cudaStreamGetPriority(stream, &priority);
  s.put("priority", priority == greatest ? "greatest" : std::to_string(priority));
}

void after_loss(Scene& s) {
  const cudaEvent_t event = s.event();
  const cudaEvent_t pending = s.record(s.s2);
  lose_device(s);
  s.put("synchronise", cudaStreamSynchronize(s.s1));
  void* made = nullptr;
  s.put("query", cudaStreamQuery(s.s2));
  s.put("event query", cudaEventQuery(pending));
  s.put("malloc", cudaMalloc(&made, 256));
  s.put("begin", s.begin(s.s2));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  s.put("status", cudaStreamIsCapturing(s.s2, &status));
  s.put("host function", cudaLaunchHostFunc(s.s2, count_call, nullptr));
  s.put("destroy stream", cudaStreamDestroy(s.s3));
  s.put("destroy event", cudaEventDestroy(event));
  s.put("free", cudaFree(s.counters));
}

}  // namespace

void add_without_capture(Rows& rows) {
  rows.insert({{"CE01", elapsed},
               {"CE02", never_recorded},
               {"CE03", recorded_again},
               {"CE04", destroy_pending},
               {"CE05", query_pending},
               {"CH01", inside_host_function},
               {"CH02", host_functions},
               {"CH03", host_function_after_error},
               {"CD01", device_99},
               {"CD02", low_priority},
               {"CD03", after_loss}});
}

}  // namespace conformance
