// The CPU backend's checks: injected faults, the watchdog, protected memory, reuse.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/base/failure.h"
#include "core/base/json.h"
#include "cpu/device/move_bytes.h"
#include "fixture.h"
#include "runner.h"
#include "test_kernels/rendezvous.h"

namespace crt_test {
namespace {

using cuda_runtime::core::JsonValue;
using cuda_runtime::core::parse_json;
using cuda_runtime::core::status_of_exception;

void inject(Fixture& fixture, const std::string& rule) {
  JsonValue json;
  std::string error;
  CHECK(parse_json(rule, json, error));
  OK(fixture.runtime->backend().inject(json));
}

/// The code of a call's failure, as a binding sees it; empty: it succeeded.
template <typename Call>
std::string code_of(Call call) {
  try {
    const Status status = call();
    return status.ok() ? "" : status.fault().code;
  } catch (...) {
    return status_of_exception().fault().code;
  }
}

/// A kernel that waits for another one that is never launched, for so long.
Status wait_in_vain(Fixture& fixture, Stream& stream, int32_t ms) {
  const Ref<Buffer> flags = fixture.buffer(8);
  const Ref<Buffer> met = fixture.buffer(4);
  OK(fixture.fill(stream, flags, 0));
  return fixture.launch(stream, "test_rendezvous", {{0, flags}, {1, met}},
                        RendezvousParams{nullptr, nullptr, 0, ms});
}

/// Whether a process that reads the byte survives.
bool survives_reading(const uint8_t* data) {
  const pid_t child = fork();
  if (child == 0) {
    // Silent: sanitizers would report what is meant to happen.
    close(STDERR_FILENO);
    const volatile uint8_t byte = *static_cast<const volatile uint8_t*>(data);
    (void)byte;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST("checks: long moves go in pieces, whichever range is first") {
  static uint64_t pieces;
  const auto count = [] { ++pieces; };
  constexpr uint64_t kPiece = cuda_runtime::cpu::kPieceBytes;
  constexpr uint64_t kBytes = 3 * kPiece + 5;
  for (const uint64_t shift : {uint64_t{0}, uint64_t{7}, kPiece, kBytes}) {
    for (const bool up : {true, false}) {
      std::vector<uint8_t> memory(kBytes + shift);
      for (uint64_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 31 >> 3);
      std::vector<uint8_t> expected = memory;
      uint8_t* const low = memory.data();
      uint8_t* const high = memory.data() + shift;
      std::memmove(expected.data() + (up ? shift : 0), expected.data() + (up ? 0 : shift), kBytes);
      pieces = 0;
      cuda_runtime::cpu::move_bytes(up ? high : low, up ? low : high, kBytes, count);
      CHECK(pieces == 4);
      CHECK(memory == expected);
    }
  }
  std::vector<uint8_t> filled(kBytes + 1, 1);
  pieces = 0;
  cuda_runtime::cpu::fill_bytes(filled.data(), 9, kBytes, count);
  CHECK(pieces == 4);
  CHECK(std::count(filled.begin(), filled.end(), 9) == static_cast<ptrdiff_t>(kBytes));
  CHECK(filled.back() == 1);
  cuda_runtime::cpu::move_bytes(nullptr, nullptr, 0, count);
  CHECK(pieces == 4);
}

TEST("checks: a lost device fails every call, and completes what was submitted") {
  for (const char* schedule : {"parallel", "serial", "random", "adversarial"}) {
    Fixture fixture(options(std::string("\"schedule\":\"") + schedule + "\""));
    const Ref<Stream> s1 = fixture.stream("s1");
    const Ref<Stream> s2 = fixture.stream("s2");
    const Ref<Buffer> y = fixture.buffer(16);
    const auto sink = make_ref<Sink>();
    inject(fixture, "{\"kind\":\"kernel\",\"name\":\"test_empty\",\"number\":719,\"detail\":\"x\"}");
    OK(fixture.fill(*s1, y, 1));
    OK(s2->wait_stream(*s1));
    std::string code = code_of([&] { return fixture.empty(*s2); });
    CHECK(code.empty());
    // The device is lost at any moment from here on.
    code = code_of([&] { return read(*s2, {y, 0}, 16, sink, 1); });
    if (code.empty()) {
      const std::string answer = sink->wait(1);
      CHECK_WITH(answer.find("CRT_DEVICE_LOST") != std::string::npos, answer);
    } else {
      CHECK_WITH(code == "CRT_DEVICE_LOST", code);
    }
    while (fixture.runtime->backend().loss().ok()) std::this_thread::yield();
    CHECK(fixture.runtime->backend().loss().fault().number == 719);
    for (const Ref<Stream>& stream : {s1, s2}) {
      CHECK(code_of([&] { return fixture.empty(*stream); }) == "CRT_DEVICE_LOST");
      CHECK(code_of([&] { return stream->synchronize_blocking(-1); }) == "CRT_DEVICE_LOST");
    }
    CHECK(code_of([&] { return synchronize_device(*fixture.runtime); }) == "CRT_DEVICE_LOST");
  }
}

TEST("checks: the watchdog rejects waits and leaves the work alone") {
  Fixture fixture(options("\"hangMs\":50"));
  const Ref<Stream> stuck = fixture.stream("stuck");
  const auto sink = make_ref<Sink>();
  OK(wait_in_vain(fixture, *stuck, 1500));
  OK(stuck->synchronize(sink, 1));
  CHECK(code_of([&] { return stuck->synchronize_blocking(-1); }) == "CRT_DEADLOCK");
  const std::string answer = sink->wait(1);
  CHECK_WITH(answer.find("head test_rendezvous") != std::string::npos, answer);
  CHECK_WITH(answer.find("runs on thread") != std::string::npos, answer);
  const Ref<Event> end = fixture.event();
  OK(end->record(*stuck, false));
  while (end->state() != EventState::kComplete) std::this_thread::yield();
  OK(stuck->synchronize_blocking(-1));
  CHECK(sink->posts(1) == 1);
}

TEST("checks: lost wake-ups cost time only") {
  Fixture fixture(options(""));
  const Ref<Stream> stream = fixture.stream("s");
  inject(fixture, "{\"kind\":\"wakeups\",\"after\":1000000}");
  for (int i = 0; i < 20; ++i) {
    OK(fixture.spin(*stream, 100));
    OK(stream->synchronize_blocking(-1));
  }
}

TEST("checks: protected memory is open to operations that name it only") {
  Fixture fixture(options("\"protect\":true,\"poison\":true"));
  Fixture open(options("\"poison\":true"));
  const Ref<Stream> stream = fixture.stream("s");
  const Ref<Buffer> y = fixture.buffer(64, "y");
  const Ref<Buffer> z = fixture.buffer(64, "z");
  OK(fixture.fill(*stream, y, 7));
  OK(copy(*stream, {z, 0}, {y, 0}, 64));
  CHECK(fixture.ints(*stream, z) == std::vector<int32_t>(16, 7));
  OK(stream->synchronize_blocking(-1));
  CHECK(!survives_reading(y->data()));
  CHECK(!survives_reading(z->data() + 63));
  CHECK(survives_reading(open.buffer(64)->data()));
  CHECK(fixture.runtime->races().take() == "[]");
}

TEST("checks: memory that is reused at once is the last that fits") {
  Fixture fixture(options("\"reuse\":\"immediate\""));
  Ref<Buffer> large = fixture.buffer(4096);
  const uint8_t* const memory = large->data();
  large = nullptr;
  const Ref<Buffer> small = fixture.buffer(64);
  CHECK(small->data() == memory);
  CHECK(fixture.buffer(64)->data() != memory);
}

// Deliberately not given back: the process ends in the middle of it. Global, so that whoever looks
// for leaks finds what refers to it.
struct Outliving {
  Fixture fixture{options("\"raceCheck\":true")};
  std::vector<Ref<Stream>> streams;
  std::vector<Ref<Sink>> sinks;
};
Outliving* outliving = nullptr;

void start_what_outlives_main() {
  outliving = new Outliving();
  Fixture& fixture = outliving->fixture;
  std::vector<Ref<Stream>>& streams = outliving->streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(fixture.stream("s"));
    outliving->sinks.push_back(make_ref<Sink>());
    OK(fixture.spin(*streams.back(), 200'000));
    OK(streams.back()->synchronize(outliving->sinks.back(), i));
  }
  Ref<Graph> graph;
  OK(streams[0]->begin_capture(1));
  OK(fixture.spin(*streams[0], 200'000));
  OK(streams[0]->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  OK(exec->launch(*streams[1]));
  OK(fixture.spin(*streams[2], 10));
}

}  // namespace crt_test
