// Memory and threads that run out: every call reports it, nothing ends the process, and the runtime
// works on afterwards.
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "core/base/failure.h"
#include "cpu/parallel_pool.h"
#include "failing_memory.h"
#include "fixture.h"
#include "runner.h"
#include "test_kernels/parallel.h"

namespace crt_test {
namespace {

using cuda_runtime::core::kOutOfMemoryText;
using cuda_runtime::core::refuse_threads_for_tests;
using cuda_runtime::core::status_of_exception;
using cuda_runtime::cpu::ParallelPool;

/// What a binding does: the call's status, or that of its exception.
template <typename Call>
bool succeeds(Call call) {
  std::string code;
  try {
    const Status status = call();
    const Exempt exempt;
    if (status.ok()) return true;
    code = status.fault().code;
  } catch (...) {
    const Exempt exempt;
    code = status_of_exception().fault().code;
  }
  const Exempt exempt;
  CHECK_WITH(code == "CRT_OOM", code);
  return false;
}

/// Two streams, events, copies, a graph with external events and a read; false when something
/// failed.
class Program {
 public:
  explicit Program(Fixture& f) : fixture(f), sink(make_ref<Sink>()) {
    main = fixture.stream("main");
    alt = fixture.stream("alt");
    legacy = fixture.runtime->legacy_stream();
    y = fixture.buffer(16, "y");
    z = fixture.buffer(16, "z");
    done = fixture.event(true);
  }

  bool run() {
    const int32_t ones[4] = {1, 1, 1, 1};
    bool good = step([&] { return write(*main, {y, 0}, bytes(ones), sizeof ones); });
    good &= step([&] { return fixture.accumulate(*main, y, 2, 3); });  // 5
    good &= order([&] { return alt->wait_stream(*main); });
    good &= step([&] { return copy(*alt, {z, 0}, {y, 0}, 16); });
    good &= order([&] { return done->record(*alt, false); });
    good &= order([&] { return done->wait(*main, false); });
    good &= step([&] { return fixture.empty(*legacy); });
    good &= replay();
    good &= step([&] { return notify(*main, sink, ++token); });
    good &= step([&] { return main->synchronize(sink, ++token); }) && arrives();
    good &= step([&] { return done->done(sink, ++token); }) && arrives();
    const bool is_read = step([&] { return read(*main, {z, 0}, 16, sink, ++token); }) && arrives();
    good &= is_read;
    good &= step([&] { return main->synchronize_blocking(-1); });
    const Exempt exempt;
    OK(alt->synchronize_blocking(-1));
    OK(legacy->synchronize_blocking(-1));
    CHECK(main->pending() == 0 && alt->pending() == 0);
    if (good) value = first_int(sink->staged(token));
    return good;
  }

  Fixture& fixture;
  Ref<Sink> sink;
  Ref<Stream> main, alt, legacy;
  Ref<Buffer> y, z;
  Ref<Event> done;
  int64_t token = 0;
  int32_t value = 0;

 private:
  template <typename Call>
  bool step(Call call) {
    return succeeds(call);
  }
  /// What orders streams. Without it the program would race with itself, so it waits instead.
  template <typename Call>
  bool order(Call call) {
    if (succeeds(call)) return true;
    const Exempt exempt;
    OK(synchronize_device(*fixture.runtime));
    return false;
  }
  static const uint8_t* bytes(const int32_t* values) {
    return reinterpret_cast<const uint8_t*>(values);
  }
  static int32_t first_int(const std::vector<uint8_t>& content) {
    int32_t result = 0;
    std::memcpy(&result, content.data(), sizeof result);
    return result;
  }
  bool arrives() {
    const Exempt exempt;
    const std::string status = sink->wait(token);
    CHECK_WITH(status.empty() || status.find("CRT_OOM") != std::string::npos, status);
    return status.empty();
  }
  /// z = 10 z + 7 in a graph of two streams.
  bool replay() {
    Ref<Graph> graph;
    Ref<Exec> exec;
    bool good = step([&] { return main->begin_capture(1); });
    good = good && step([&] { return alt->wait_stream(*main); });
    good = good && step([&] { return fixture.accumulate(*alt, z, 10, 7); });
    good = good && step([&] { return done->record(*alt, true); });
    good = good && step([&] { return main->wait_stream(*alt); });
    good = good && step([&] { return main->end_capture(graph); });
    main->abort_capture();
    good = good && step([&] { return Exec::instantiate(graph, exec); });
    good = good && step([&] { return exec->launch(*main); });
    return good;
  }
};

uint64_t settled(Fixture& fixture, Kind kind, uint64_t expected) {
  // The last completion releases on its own thread, an instant after it is visible.
  for (int i = 0; i < 2000 && fixture.runtime->live().count(kind) != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return fixture.runtime->live().count(kind);
}

void fail_each_allocation(const std::string& cpu, bool by_events = false) {
  Fixture fixture(options(cpu));
  Program program(fixture);
  OK(fixture.runtime->start_trace(TraceMode::kGraph, by_events));
  CHECK(program.run() && program.value == 57);
  int64_t failed = 1;
  int64_t position = 0;
  for (; failed > 0 && position < 5000; ++position) {
    fail_memory_after(position, false);
    const bool good = program.run();
    failed = restore_memory();
    if (good) CHECK(program.value == 57);
    std::string spans;
    const Status traced = fixture.runtime->stop_trace(spans);
    CHECK(traced.ok() || traced.fault().code == "CRT_OOM");
    OK(fixture.runtime->start_trace(TraceMode::kGraph, by_events));
    CHECK(program.run() && program.value == 57);  // as if nothing had been
  }
  std::string rest;
  OK(fixture.runtime->stop_trace(rest));
  CHECK_WITH(position > 50 && position < 5000, std::to_string(position));
  CHECK(settled(fixture, Kind::kBuffer, 2) == 2);
  CHECK(settled(fixture, Kind::kExec, 0) == 0);
  CHECK(settled(fixture, Kind::kGraph, 0) == 0);
}

}  // namespace

TEST("failures: any one allocation of a program may fail") { fail_each_allocation(""); }

TEST("failures: any one allocation of a program that is traced by events may fail") {
  fail_each_allocation("", true);
}

TEST("failures: any one allocation may fail with the race checker and poison") {
  fail_each_allocation("\"raceCheck\":true,\"poison\":true");
}

TEST("failures: what is in flight completes without any memory; its reads fail") {
  Fixture fixture(options("\"strictPdl\":true"));
  const Ref<Stream> stream = fixture.stream("main");
  const Ref<Buffer> y = fixture.buffer(4096, "y");
  auto sink = make_ref<Sink>();
  OK(fixture.runtime->start_trace(TraceMode::kGraph, false));
  OK(fixture.spin(*stream, 20'000));
  for (int i = 0; i < 50; ++i) OK(fixture.fill(*stream, y, i));
  OK(read(*stream, {y, 0}, 4096, sink, 1));
  OK(notify(*stream, sink, 2));
  OK(stream->synchronize(sink, 3));
  fail_memory_after(0, true);
  {
    const Exempt exempt;
    CHECK_WITH(sink->wait(1) == kOutOfMemoryText, sink->wait(1));
    CHECK(sink->wait(2).empty() && sink->wait(3).empty());
  }
  CHECK(restore_memory() > 0);
  std::string spans;
  CHECK(number(fixture.runtime->stop_trace(spans)) == 2);  // lost spans are not kept quiet
  CHECK(fixture.ints(*stream, y)[0] == 49);
}

TEST("failures: without threads, open says so, and running ones do all the work") {
  Fixture fixture(options("\"threads\":3"));
  refuse_threads_for_tests.store(true);
  Ref<Runtime> refused;
  const Status status = Runtime::open("cpu", options("\"threads\":3,\"seed\":991"), refused);
  CHECK(!status.ok() && status.fault().code == "CRT_OOM");
  CHECK(!status.ok() && status.fault().detail.find("thread") != std::string::npos);
  std::vector<Ref<Stream>> streams;
  std::vector<Ref<Buffer>> outputs;
  for (int s = 0; s < 4; ++s) {
    streams.push_back(fixture.stream("s" + std::to_string(s)));
    outputs.push_back(fixture.buffer(1000 * 8));
    for (int round = 0; round < 10; ++round) {
      OK(fixture.launch(*streams[s], "test_parallel", {{0, outputs[s]}},
                        ParallelParams{nullptr, 1000, 10}));
    }
  }
  for (int s = 0; s < 4; ++s) CHECK(fixture.ints(*streams[s], outputs[s])[2 * 7] == 49);
  ParallelPool pool(4);
  CHECK(pool.started() == 1 && pool.threads() == 4);
  std::vector<int64_t> starts;
  pool.run(100, 1, [](void* list, int64_t begin, int64_t) {
    static_cast<std::vector<int64_t>*>(list)->push_back(begin);
  }, &starts);
  CHECK(starts.size() == 15 && starts.back() == 98);  // cut as with four threads
  refuse_threads_for_tests.store(false);
  OK(Runtime::open("cpu", options("\"threads\":3,\"seed\":991"), refused));
}

TEST("failures: exceptions become a status") {
  const auto code_of = [](auto thrown) {
    try {
      throw thrown;
    } catch (...) {
      return status_of_exception().fault().code;
    }
  };
  CHECK(code_of(std::bad_alloc()) == "CRT_OOM");
  CHECK(code_of(std::length_error("vector")) == "CRT_OOM");
  CHECK(code_of(std::system_error(std::make_error_code(
            std::errc::resource_unavailable_try_again))) == "CRT_OOM");
  CHECK(code_of(std::runtime_error("odd")) == "CRT_INTERNAL");
  CHECK(code_of(7) == "CRT_INTERNAL");
}

}  // namespace crt_test
