// Rows of the conformance table (cuda-runtime.md 3.3) that the core answers, raw and guarded.
#include <thread>

#include "fixture.h"
#include "runner.h"

namespace crt_test {
namespace {

constexpr int kThreadLocal = 1;

/// Two streams in a capture begun on the first.
struct Capture {
  explicit Capture(bool guards, int mode = kThreadLocal) : fixture(options("", guards)) {
    OK(s1->begin_capture(mode));
  }
  /// A capture holds its streams until it ends, as the release of their handles would do it.
  ~Capture() {
    for (const Ref<Stream>& stream : {s1, s2, s3}) stream->abort_capture();
  }
  int state(Stream& stream) {
    int status = 0;
    uint64_t id = 0;
    OK(stream.capture_status(status, id));
    return status;
  }
  int end(Stream& stream) {
    graph = nullptr;
    return number(stream.end_capture(graph));
  }
  size_t nodes() { return graph ? graph->nodes().size() : 999; }
  size_t edges() {
    size_t count = 0;
    for (const GraphNode& node : graph->nodes()) count += node.dependencies.size();
    return count;
  }

  Fixture fixture;
  Ref<Stream> s1 = fixture.stream("s1");
  Ref<Stream> s2 = fixture.stream("s2");
  Ref<Stream> s3 = fixture.stream("s3");
  Ref<Graph> graph;
};

}  // namespace

TEST("capture: begin and end (CB01, CB03-CB07, CB10)") {
  for (const bool guards : {true, false}) {
    Capture c(guards);
    CHECK(number(c.fixture.runtime->legacy_stream()->begin_capture(0)) == 900);
    CHECK(number(c.s1->begin_capture(0)) == 401);
    CHECK(number(c.s2->begin_capture(7)) == 1);
    OK(c.s2->wait_stream(*c.s1));
    CHECK(number(c.s2->begin_capture(0)) == 401);
    CHECK(c.state(*c.s1) == 1 && c.state(*c.s2) == 1);
    CHECK(number(c.s3->end_capture(c.graph)) == 401);
    CHECK(c.end(*c.s1) == 0 && c.nodes() == 0);
    Ref<Exec> exec;
    OK(Exec::instantiate(c.graph, exec));
    OK(exec->launch(*c.s1));
    OK(c.s1->synchronize_blocking(-1));
  }
}

TEST("capture: ended on a fork (CB09), on another thread (CB11, CB12)") {
  Capture fork(true);
  OK(fork.s2->wait_stream(*fork.s1));
  CHECK(fork.end(*fork.s2) == 903);
  CHECK(fork.state(*fork.s1) == 2 && fork.state(*fork.s2) == 2);
  CHECK(fork.end(*fork.s1) == 901 && fork.state(*fork.s2) == 0);
  for (const bool guards : {true, false}) {
    Capture c(guards);
    int answer = 0;
    std::thread([&] { answer = c.end(*c.s1); }).join();
    CHECK(answer == 908);
    CHECK(c.end(*c.s1) == (guards ? 0 : 401));
  }
  Capture relaxed(false, 2);
  int answer = -1;
  std::thread([&] { answer = relaxed.end(*relaxed.s1); }).join();
  CHECK(answer == 0);
}

TEST("capture: streams destroyed while capturing (CB17-CB19)") {
  Capture origin(true);
  const Ref<Event> event = origin.fixture.event();
  OK(origin.s2->wait_stream(*origin.s1));
  OK(event->record(*origin.s2, false));
  origin.s1->on_handle_released();
  CHECK(origin.state(*origin.s2) == 0 && event->state() == EventState::kStale);
  Capture unjoined(true);
  OK(unjoined.s2->wait_stream(*unjoined.s1));
  OK(unjoined.fixture.empty(*unjoined.s2));
  unjoined.s2->on_handle_released();
  CHECK(unjoined.end(*unjoined.s1) == 904);
  Capture joined(true);
  OK(joined.fixture.empty(*joined.s1));
  OK(joined.s2->wait_stream(*joined.s1));
  OK(joined.fixture.empty(*joined.s2));
  OK(joined.s1->wait_stream(*joined.s2));
  joined.s2->on_handle_released();
  CHECK(joined.end(*joined.s1) == 0 && joined.nodes() == 2 && joined.edges() == 1);
}

TEST("capture: forbidden calls (CU01, CU03, CU05, CU06, CU20, CU26, CU28), raw and guarded") {
  for (const bool guards : {true, false}) {
    for (const int mode : {0, 1, 2}) {
      const int after = guards ? 1 : 2;
      bool idle = false;
      bool complete = false;
      Capture sync(guards, mode);
      CHECK(number(sync.s1->synchronize_blocking(0)) == 900 && sync.state(*sync.s1) == after);
      CHECK(sync.end(*sync.s1) == (guards ? 0 : 901));
      Capture query(guards, mode);
      CHECK(number(query.s2->is_idle(idle)) == (mode == 2 ? 0 : 900));
      CHECK(query.state(*query.s1) == (mode == 2 ? 1 : after));
      Capture event(guards, mode);
      const Ref<Event> outside = event.fixture.event();
      CHECK(number(outside->query(complete)) == (mode == 2 ? 0 : 900));
      Capture captured(guards, mode);
      const Ref<Event> inside = captured.fixture.event(true);
      OK(inside->record(*captured.s1, false));
      double ms = 0;
      CHECK(number(Event::elapsed_ms(*inside, *inside, ms)) == 907);
      CHECK(captured.state(*captured.s1) == 1);
      CHECK(number(inside->query(complete)) == 907 && captured.state(*captured.s1) == after);
    }
    Capture launched(guards);
    Ref<Graph> empty;
    OK(launched.s2->begin_capture(0));
    OK(launched.s2->end_capture(empty));
    Ref<Exec> exec;
    CHECK(number(Exec::instantiate(empty, exec)) == (guards ? 0 : 900));
    if (!guards) continue;
    CHECK(number(exec->launch(*launched.s1)) == 900 && launched.state(*launched.s1) == 1);
    OK(exec->launch(*launched.s3));
  }
}

TEST("capture: device synchronisation conflicts from any thread (CU02, CT02)") {
  for (const bool guards : {true, false}) {
    Capture c(guards, 2);
    int answer = 0;
    std::thread([&] { answer = number(synchronize_device(*c.fixture.runtime)); }).join();
    CHECK(answer == 900 && c.state(*c.s1) == (guards ? 1 : 2));
  }
}

TEST("capture: fork and join shapes (CX06-CX15)") {
  Capture c(false);
  OK(c.fixture.empty(*c.s1));
  OK(c.s2->wait_stream(*c.s1));
  OK(c.fixture.empty(*c.s1));
  OK(c.fixture.empty(*c.s2));
  OK(c.s1->wait_stream(*c.s2));
  OK(c.s1->wait_stream(*c.s2));
  OK(c.fixture.empty(*c.s1));
  CHECK(c.end(*c.s1) == 0 && c.nodes() == 4 && c.edges() == 4);
  OK(c.s1->begin_capture(1));
  OK(c.s2->wait_stream(*c.s1));
  OK(c.fixture.empty(*c.s2));
  Status status = c.s1->end_capture(c.graph);
  CHECK(number(status) == 904);
  CHECK(status.fault().detail.find("s2#") != std::string::npos);
  OK(c.s1->begin_capture(1));
  OK(c.s2->wait_stream(*c.s1));
  CHECK(c.end(*c.s1) == 0 && c.nodes() == 0);
  OK(c.s1->begin_capture(1));
  OK(c.fixture.empty(*c.s1));
  OK(c.s2->wait_stream(*c.s1));
  OK(c.s3->wait_stream(*c.s2));
  OK(c.fixture.empty(*c.s2));
  OK(c.fixture.empty(*c.s3));
  OK(c.s2->wait_stream(*c.s3));
  OK(c.s1->wait_stream(*c.s2));
  CHECK(c.end(*c.s1) == 0 && c.nodes() == 3 && c.edges() == 2);
  const Ref<Event> own = c.fixture.event();
  OK(c.s1->begin_capture(1));
  OK(c.fixture.empty(*c.s1));
  OK(own->record(*c.s1, false));
  OK(own->wait(*c.s1, false));
  OK(c.fixture.empty(*c.s1));
  CHECK(c.end(*c.s1) == 0 && c.edges() == 1);
}

TEST("capture: events from outside, merged and stale (CX01-CX03, CX16-CX22, CX24)") {
  for (const bool guards : {true, false}) {
    const int after = guards ? 1 : 2;
    Capture c(guards);
    const Ref<Event> event = c.fixture.event();
    OK(event->wait(*c.s1, false));
    OK(event->record(*c.s2, false));
    CHECK(number(event->wait(*c.s1, false)) == 905 && c.state(*c.s1) == after);
    CHECK(number(c.fixture.empty(*c.s1)) == (guards ? 0 : 901));
    c.s1->abort_capture();
    OK(c.s1->begin_capture(1));
    OK(c.s2->begin_capture(1));
    OK(event->record(*c.s2, false));
    CHECK(number(event->wait(*c.s1, false)) == 902);
    CHECK(c.end(*c.s1) == 901 && c.end(*c.s2) == 901);
    CHECK(event->state() == EventState::kStale);
    bool complete = false;
    CHECK(number(event->query(complete)) == 1 && number(event->wait(*c.s3, false)) == 1);
    OK(c.s1->begin_capture(1));
    CHECK(number(event->wait(*c.s1, false)) == 1 && c.state(*c.s1) == after);
    c.s1->abort_capture();
    OK(event->record(*c.s3, false));
    OK(event->wait_blocking());
    CHECK(number(event->record(*c.s3, true)) == 401 && number(event->wait(*c.s3, true)) == 401);
  }
}

TEST("capture: legacy and blocking streams (CL01, CL03-CL05, CU34)") {
  for (const bool guards : {true, false}) {
    Fixture fixture(options("", guards));
    const Ref<Stream> legacy = fixture.runtime->legacy_stream();
    const Ref<Stream> b1 = fixture.stream("b1", true);
    const Ref<Stream> b2 = fixture.stream("b2", true);
    const Ref<Stream> s1 = fixture.stream("s1");
    Ref<Graph> graph;
    OK(b1->begin_capture(1));
    CHECK(number(fixture.empty(*b2)) == 0);
    CHECK(number(fixture.empty(*legacy)) == 906);
    CHECK(number(b1->end_capture(graph)) == (guards ? 0 : 901));
    OK(s1->begin_capture(1));
    OK(fixture.empty(*legacy));
    CHECK(number(legacy->wait_stream(*s1)) == 906);
    s1->abort_capture();
    OK(s1->begin_capture(1));
    OK(b1->wait_stream(*s1));
    CHECK(number(fixture.empty(*legacy)) == 906);
    CHECK(number(s1->end_capture(graph)) == (guards ? 0 : 901));
  }
}

TEST("capture: external events (CX23, CX25-CX28)") {
  Fixture fixture(options(""));
  const Ref<Stream> s1 = fixture.stream("s1");
  const Ref<Event> start = fixture.event(true);
  const Ref<Event> end = fixture.event(true);
  const Ref<Event> gate = fixture.event();
  Ref<Graph> graph;
  OK(s1->begin_capture(1));
  OK(gate->wait(*s1, true));
  OK(start->record(*s1, true));
  OK(fixture.spin(*s1, 2000));
  OK(end->record(*s1, true));
  OK(s1->end_capture(graph));
  CHECK(graph->nodes().size() == 4);
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  double ms = 0;
  CHECK(number(Event::elapsed_ms(*start, *end, ms)) == 400);
  OK(exec->launch(*s1));  // the gate was never recorded: no wait
  OK(s1->synchronize_blocking(-1));
  OK(Event::elapsed_ms(*start, *end, ms));
  CHECK_WITH(ms >= 2 && ms < 1000, std::to_string(ms));
  const Ref<Stream> s2 = fixture.stream("s2");
  OK(fixture.spin(*s2, 30'000));
  OK(gate->record(*s2, false));
  OK(exec->launch(*s1));  // the record came before the launch: waits
  OK(s1->synchronize_blocking(-1));
  CHECK(gate->state() == EventState::kComplete);
  OK(exec->launch(*s1));
  OK(fixture.spin(*s2, 300'000));
  OK(gate->record(*s2, false));  // after the launch: not waited for
  OK(s1->synchronize_blocking(-1));
  CHECK(gate->state() == EventState::kPending);
  OK(s2->synchronize_blocking(-1));
}

}  // namespace crt_test
