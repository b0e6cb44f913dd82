// Rows CX01–CX19: forks, joins and isolation.
#include "harness/graphs.h"
#include "rows/rows.h"

namespace conformance {
namespace {

void never_recorded(Scene& s) {
  s.begin(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s1, s.event(), 0));
  s.finish();
}

void outside(Scene& s) {
  const cudaStream_t stream = s.is("own") ? s.s1 : s.s2;
  if (s.is("pending")) s.spin(stream, 200);
  const cudaEvent_t event = s.record(stream);
  if (s.is("complete")) cudaEventSynchronize(event);
  s.begin(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s1, event, 0));
  s.finish();
}

void outside_during(Scene& s) {
  s.begin(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s1, s.record(s.s2), 0));
  s.finish();
}

unsigned long long id_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr);
  return id;
}

void fork(Scene& s) {
  s.begin(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s2, s.record(s.s1), 0));
  s.put("after2", s.status(s.s2));
  s.put("id", std::string(id_of(s.s1) == id_of(s.s2) ? "same" : "another"));
  s.finish();
}

void pending_fork(Scene& s) {
  s.spin(s.s2, 400);
  s.begin(s.s1);
  s.k(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s2, s.record(s.s1), 0));
  s.k(s.s2);
  s.link(s.s2, s.s1);
  s.finish();
  const cudaGraphExec_t executable = instantiate(s.graph);
  cudaGraphLaunch(executable, s.s1);
  cudaStreamSynchronize(s.s1);
  s.put("replay waits", std::string(cudaStreamQuery(s.s2) == cudaErrorNotReady ? "no" : "yes"));
}

void diamond(Scene& s) {
  s.begin(s.s1);
  s.add(s.s1, 0);
  s.link(s.s1, s.s2);
  s.add(s.s1, 0);
  s.add(s.s2, 1);
  s.link(s.s2, s.s1);
  s.add(s.s1, 0);
  s.finish();
  const cudaGraphExec_t executable = instantiate(s.graph);
  std::string added;
  for (int before = 0, i = 0; i < 3; ++i) {
    cudaGraphLaunch(executable, s.s1);
    const int now = s.counter(0) + s.counter(1);
    added += (i == 0 ? "" : " ") + std::to_string(now - before);
    before = now;
  }
  s.put("added", added);
}

void unjoined(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  s.finish();
}

void idle_fork(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.link(s.s1, s.s2);
  if (s.is("wait and record")) s.record(s.s2);
  s.finish();
}

void empty_fork(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.put("after2", s.status(s.s2));
  s.finish();
}

void early_join(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  const cudaEvent_t early = s.record(s.s2);
  s.k(s.s2);
  cudaStreamWaitEvent(s.s1, early, 0);
  s.finish();
}

void late_node(Scene& s) {
  s.fork_and_join();
  s.k(s.s2);
  s.finish();
}

void chain(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  s.link(s.s2, s.s3);
  s.k(s.s3);
  if (s.is("S1 S2 S3 S1")) {
    s.link(s.s3, s.s1);
  } else {
    s.link(s.s3, s.s2);
    s.link(s.s2, s.s1);
  }
  s.finish();
}

void join_last(Scene& s) {
  s.fork_and_join();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* dependencies = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  cudaStreamGetCaptureInfo(s.s1, &status, nullptr, nullptr, &dependencies, &edges, &count);
  s.put("frontier", static_cast<int>(count));
  s.finish();
}

void own_event(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.put("call", cudaStreamWaitEvent(s.s1, s.record(s.s1), 0));
  s.k(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  s.link(s.s2, s.s2);
  s.k(s.s2);
  s.link(s.s2, s.s1);
  s.finish();
}

void wait_twice(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  s.link(s.s1, s.s2);
  s.k(s.s2);
  const cudaEvent_t joined = s.record(s.s2);
  cudaStreamWaitEvent(s.s1, joined, 0);
  s.put("call", cudaStreamWaitEvent(s.s1, joined, 0));
  s.k(s.s1);
  s.finish();
}

void two_captures(Scene& s) {
  s.begin(s.s1);
  s.begin(s.s2);
  s.put("call", cudaStreamWaitEvent(s.s1, s.record(s.s2), 0));
  s.put("after2", s.status(s.s2));
  s.finish();
  s.put("end2", s.end(s.s2));
}

void recorded_outside(Scene& s) {
  s.begin(s.s1);
  const cudaEvent_t event = s.record(s.s1);
  s.put("record", cudaEventRecord(event, s.s3));
  if (s.is("query")) {
    // The record on an idle stream is over long before the time limit; 600 would only mean wait.
    cudaError_t answer = cudaErrorNotReady;
    while (answer == cudaErrorNotReady) answer = cudaEventQuery(event);
    s.put("call", answer);
  } else {
    s.put("call", cudaStreamWaitEvent(s.s1, event, 0));
  }
  s.finish();
}

void recorded_on_fork(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  const cudaEvent_t event = s.record(s.s1);
  cudaStreamWaitEvent(s.s2, event, 0);
  s.k(s.s2);
  cudaEventRecord(event, s.s2);
  s.put("call", cudaStreamWaitEvent(s.s1, event, 0));
  s.finish();
}

void events_destroyed(Scene& s) {
  s.begin(s.s1);
  s.k(s.s1);
  const cudaEvent_t fork_event = s.record(s.s1);
  cudaStreamWaitEvent(s.s2, fork_event, 0);
  cudaEventDestroy(fork_event);
  s.k(s.s2);
  const cudaEvent_t join_event = s.record(s.s2);
  cudaStreamWaitEvent(s.s1, join_event, 0);
  s.put("call", cudaEventDestroy(join_event));
  s.finish();
}

}  // namespace

void add_across_streams(Rows& rows) {
  rows.insert({{"CX01", never_recorded}, {"CX02", outside},         {"CX03", outside_during},
               {"CX04", fork},           {"CX05", pending_fork},    {"CX06", diamond},
               {"CX07", unjoined},       {"CX08", idle_fork},       {"CX09", empty_fork},
               {"CX10", early_join},     {"CX11", late_node},       {"CX12", chain},
               {"CX13", join_last},      {"CX14", own_event},       {"CX15", wait_twice},
               {"CX16", two_captures},   {"CX17", recorded_outside}, {"CX18", recorded_on_fork},
               {"CX19", events_destroyed}});
}

}  // namespace conformance
