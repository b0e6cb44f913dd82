// Rows CX20–CX28: stale and external events.
#include "harness/graphs.h"
#include "rows/rows.h"

namespace conformance {
namespace {

// Two events of a capture on S1 that is over.
struct Stale {
  explicit Stale(Scene& s) : first(s.event(true)), second(s.event(true)) {
    s.begin(s.s1);
    s.k(s.s1);
    cudaEventRecord(first, s.s1);
    cudaEventRecord(second, s.s1);
    if (s.is("after an invalidation")) cudaStreamQuery(s.s1);
    s.end(s.s1);
    if (s.is("after the graph was destroyed")) cudaGraphDestroy(s.graph);
  }
  cudaEvent_t first;
  cudaEvent_t second;
};

void stale(Scene& s) {
  const Stale events(s);
  float milliseconds = 0;
  s.put("query", cudaEventQuery(events.first));
  s.put("synchronise", cudaEventSynchronize(events.first));
  s.put("elapsed", cudaEventElapsedTime(&milliseconds, events.first, events.second));
  s.put("wait", cudaStreamWaitEvent(s.s3, events.first, 0));
  s.put("after3", s.status(s.s3));
}

void stale_anew(Scene& s) {
  const Stale events(s);
  if (s.is("destroy")) return s.put("call", cudaEventDestroy(events.first));
  s.put("call", cudaEventRecord(events.first, s.s3));
  cudaStreamSynchronize(s.s3);
  s.put("query", cudaEventQuery(events.first));
}

void stale_in_capture(Scene& s) {
  const Stale events(s);
  s.begin(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s1, events.first, 0));
  s.finish();
}

void external(Scene& s) {
  s.begin(s.s1);
  s.put("record", cudaEventRecordWithFlags(s.event(), s.s1, cudaEventRecordExternal));
  s.put("wait", cudaStreamWaitEvent(s.s1, s.event(), cudaEventWaitExternal));
  s.finish();
  s.put("kinds", kinds_of(s.graph));
}

void external_outside(Scene& s) {
  const cudaEvent_t event = s.event();
  s.put("record", cudaEventRecordWithFlags(event, s.s1, cudaEventRecordExternal));
  s.put("wait", cudaStreamWaitEvent(s.s1, event, cudaEventWaitExternal));
}

// An executable that waits for the event and then runs a kernel.
cudaGraphExec_t external_wait(Scene& s, cudaEvent_t event, const char* key = nullptr) {
  s.begin(s.s1);
  const cudaError_t error = cudaStreamWaitEvent(s.s1, event, cudaEventWaitExternal);
  s.k(s.s1);
  if (key == nullptr) {
    s.end(s.s1);
  } else {
    s.put(key, error);
    s.finish();
  }
  return instantiate(s.graph);
}

void external_never_recorded(Scene& s) {
  const cudaGraphExec_t executable = external_wait(s, s.event(), "call");
  cudaGraphLaunch(executable, s.s1);
  s.put("replay", cudaStreamSynchronize(s.s1));
}

void external_timing(Scene& s) {
  const cudaEvent_t first = s.event(true);
  const cudaEvent_t second = s.event(true);
  s.begin(s.s1);
  cudaEventRecordWithFlags(first, s.s1, cudaEventRecordExternal);
  s.spin(s.s1, 50);
  cudaEventRecordWithFlags(second, s.s1, cudaEventRecordExternal);
  s.put("end", s.end(s.s1));
  float milliseconds = 0;
  s.put("before", cudaEventElapsedTime(&milliseconds, first, second));
  cudaGraphLaunch(instantiate(s.graph), s.s1);
  cudaStreamSynchronize(s.s1);
  const cudaError_t error = cudaEventElapsedTime(&milliseconds, first, second);
  const bool is_time = error == cudaSuccess && milliseconds >= 49 && milliseconds < 1000;
  s.put("elapsed", is_time ? "a time" : std::to_string(int(error)));
  s.put("milliseconds", std::to_string(milliseconds));
}

void recorded_after(Scene& s) {
  const cudaEvent_t event = s.event();
  const cudaGraphExec_t executable = external_wait(s, event);
  cudaGraphLaunch(executable, s.s1);
  s.spin(s.s2, 400);
  cudaEventRecord(event, s.s2);
  cudaStreamSynchronize(s.s1);
  s.put("waits", std::string(cudaEventQuery(event) == cudaErrorNotReady ? "no" : "yes"));
}

void recorded_before(Scene& s) {
  const cudaEvent_t event = s.event();
  const cudaGraphExec_t executable = external_wait(s, event);
  s.spin(s.s2, 400);
  cudaEventRecord(event, s.s2);
  cudaGraphLaunch(executable, s.s1);
  cudaStreamSynchronize(s.s1);
  s.put("waits", std::string(cudaEventQuery(event) == cudaSuccess ? "yes" : "no"));
}

}  // namespace

void add_captured_events(Rows& rows) {
  rows.insert({{"CX20", stale},
               {"CX21", stale_anew},
               {"CX22", stale_in_capture},
               {"CX23", external},
               {"CX24", external_outside},
               {"CX25", external_never_recorded},
               {"CX26", external_timing},
               {"CX27", recorded_after},
               {"CX28", recorded_before}});
}

}  // namespace conformance
