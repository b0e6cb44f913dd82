// Rows CL: the legacy stream and blocking streams.
#include "rows/calls.h"
#include "rows/rows.h"

namespace conformance {
namespace {

cudaStream_t const legacy = cudaStreamLegacy;

void finish_on(Scene& s, cudaStream_t origin) {
  s.put("after", s.status(origin));
  s.put("end", s.end(origin));
}

void use_legacy(Scene& s) {
  const cudaEvent_t event = s.event();
  const int32_t seven = 7;
  s.begin(s.b1);
  if (s.is("launch")) s.put("call", s.k(legacy));
  if (s.is("copy")) s.put("call", cudaMemcpy(s.counters, &seven, 4, cudaMemcpyHostToDevice));
  if (s.is("query")) s.put("call", cudaStreamQuery(legacy));
  if (s.is("synchronise")) s.put("call", cudaStreamSynchronize(legacy));
  if (s.is("record")) s.put("call", cudaEventRecord(event, legacy));
  finish_on(s, s.b1);
}

void ask_legacy(Scene& s) {
  s.begin(s.b1);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  s.put("call", cudaStreamIsCapturing(legacy, &status));
  finish_on(s, s.b1);
}

void another_blocking(Scene& s) {
  s.begin(s.b1);
  s.put("call", s.add(s.b2));
  finish_on(s, s.b1);
  put_executed(s, s.counter() == 1);
}

void legacy_waits(Scene& s) {
  s.begin(s.s1);
  const cudaEvent_t event = s.record(s.s1);
  s.put("call", cudaStreamWaitEvent(legacy, event, 0));
  s.finish();
}

void blocking_joined(Scene& s) {
  s.begin(s.s1);
  s.link(s.s1, s.b1);
  s.put("call", s.k(legacy));
  s.finish();
}

std::string yes_if(bool condition) { return condition ? "yes" : "no"; }

void order(Scene& s) {
  const cudaEvent_t ends[] = {s.event(true), s.event(true), s.event(true), s.event(true)};
  s.spin(s.b1, 200);
  cudaEventRecord(ends[0], s.b1);
  s.spin(legacy, 50);
  cudaEventRecord(ends[1], legacy);
  s.k(s.b2);
  cudaEventRecord(ends[2], s.b2);
  s.k(s.s1);
  cudaEventRecord(ends[3], s.s1);
  cudaDeviceSynchronize();
  const auto after = [&](int first, int second) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, ends[first], ends[second]);
    return milliseconds;
  };
  s.put("legacy waits for B1", yes_if(after(0, 1) >= 49));
  s.put("B2 waits for legacy", yes_if(after(1, 2) >= 0));
  s.put("S1 waits", yes_if(after(0, 3) >= 0));
}

}  // namespace

void add_legacy_stream(Rows& rows) {
  rows.insert({{"CL01", use_legacy},
               {"CL02", ask_legacy},
               {"CL03", another_blocking},
               {"CL04", legacy_waits},
               {"CL05", blocking_joined},
               {"CL06", order}});
}

}  // namespace conformance
