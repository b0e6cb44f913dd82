// Rows CI: what a broken capture answers.
#include <atomic>
#include <chrono>
#include <thread>

#include "rows/rows.h"

namespace conformance {
namespace {

void work(Scene& s) {
  const cudaEvent_t event = s.event();
  s.break_capture();
  s.put("kernel", s.k(s.s1));
  s.put("record", cudaEventRecord(event, s.s1));
  s.put("wait", cudaStreamWaitEvent(s.s1, event, 0));
  s.put("end", s.end(s.s1));
}

void begin_again(Scene& s) {
  s.break_capture();
  s.put("call", s.begin(s.s1));
  s.put("end", s.end(s.s1));
}

void unsafe(Scene& s) {
  s.break_capture();
  s.put("synchronise", cudaStreamSynchronize(s.s1));
  s.put("query", cudaStreamQuery(s.s1));
  void* made = nullptr;
  s.put("malloc", cudaMalloc(&made, 256));
  s.put("end", s.end(s.s1));
}

void facts(Scene& s) {
  s.break_capture();
  s.put("after", s.status(s.s1));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  s.put("info",
        cudaStreamGetCaptureInfo(s.s1, &status, &id, nullptr, nullptr, nullptr, nullptr));
  s.put("end", s.end(s.s1));
}

void synchronise_fork(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.put("call", cudaStreamSynchronize(s.s2));
  s.put("after2", s.status(s.s2));
  s.finish();
}

void refused_malloc(Scene& s) {
  s.begin(s.s1);
  void* made = nullptr;
  s.put("call", cudaMalloc(&made, 256));
  s.put("pointer", std::string(made == nullptr ? "null" : "set"));
  s.put("end", s.end(s.s1));
}

std::atomic<int> destroyed = 0;
void CUDART_CB count_destroyed(void*) { ++destroyed; }

void user_object(Scene& s) {
  cudaUserObject_t object = nullptr;
  cudaUserObjectCreate(&object, &destroyed, count_destroyed, 1, cudaUserObjectNoDestructorSync);
  s.begin(s.s1);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  cudaStreamGetCaptureInfo(s.s1, &status, nullptr, &graph, nullptr, nullptr, nullptr);
  cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  cudaStreamQuery(s.s1);
  s.put("before", destroyed.load());
  s.put("end", s.end(s.s1));
  // Destructors run on a thread of the driver.
  for (int i = 0; i < 100 && destroyed == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  s.put("destructor", destroyed.load());
}

}  // namespace

void add_invalidation(Rows& rows) {
  rows.insert({{"CI01", work},
               {"CI02", begin_again},
               {"CI03", unsafe},
               {"CI04", facts},
               {"CI05", synchronise_fork},
               {"CI06", refused_malloc},
               {"CI07", user_object}});
}

}  // namespace conformance
