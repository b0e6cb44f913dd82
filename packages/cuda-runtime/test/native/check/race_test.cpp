// What orders operations for the race checker, besides waits: the host that was told.
#include "fixture.h"
#include "runner.h"
#include "test_kernels/fill.h"

namespace crt_test {
namespace {

struct Setup {
  Fixture fixture{options("\"raceCheck\":true")};
  Ref<Stream> s1 = fixture.stream("main");
  Ref<Stream> s2 = fixture.stream("alt");
  Ref<Buffer> y = fixture.buffer(64, "y");
  Ref<Sink> sink = make_ref<Sink>();
  std::string races() { return fixture.runtime->races().take(); }

  // Says that it writes y, and writes nothing: these tests race on purpose, and a sanitizer that
  // watches memory would be right about it.
  Status claim(Stream& stream) {
    return fixture.launch(stream, "test_fill", {{0, y}}, FillParams{nullptr, 0, 1});
  }
};

}  // namespace

TEST("races: a completion orders only once it was delivered") {
  Setup unseen;
  OK(unseen.claim(*unseen.s1));
  OK(unseen.s1->synchronize(unseen.sink, 1));
  OK(unseen.claim(*unseen.s2));
  const std::string report = unseen.races();
  CHECK(report.find("test_fill@main#") != std::string::npos);
  CHECK(report.find("test_fill@alt#") != std::string::npos);
  Setup seen;
  OK(seen.fixture.fill(*seen.s1, seen.y, 1));
  OK(seen.s1->synchronize(seen.sink, 1));
  seen.sink->wait(1);
  OK(seen.fixture.fill(*seen.s2, seen.y, 2));
  CHECK(seen.races() == "[]");
}

TEST("races: a read that was awaited, an event that was awaited, a blocking wait") {
  Setup setup;
  OK(setup.fixture.fill(*setup.s1, setup.y, 1));
  setup.fixture.ints(*setup.s1, setup.y);
  OK(setup.fixture.fill(*setup.s2, setup.y, 2));
  const Ref<Event> event = setup.fixture.event();
  OK(event->record(*setup.s2, false));
  OK(event->done(setup.sink, 2));
  setup.sink->wait(2);
  OK(setup.fixture.fill(*setup.s1, setup.y, 3));
  OK(setup.s1->synchronize_blocking(-1));
  OK(setup.fixture.fill(*setup.s2, setup.y, 4));
  CHECK(setup.races() == "[]");
}

TEST("races: readers do not conflict, disjoint ranges do not, overlapping ones do") {
  Setup setup;
  const Ref<Buffer> other = setup.fixture.buffer(64, "other");
  OK(copy(*setup.s1, {other, 0}, {setup.y, 0}, 32));
  OK(copy(*setup.s2, {other, 32}, {setup.y, 0}, 32));
  CHECK(setup.races() == "[]");
  OK(fill(*setup.s2, {other, 31}, 0, 1));
  CHECK(setup.races() != "[]");
}

TEST("races: a graph launch counts with all that its nodes touch") {
  Setup setup;
  Ref<Graph> graph;
  OK(setup.s1->begin_capture(1));
  OK(setup.fixture.fill(*setup.s1, setup.y, 1));
  OK(setup.s1->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  OK(exec->launch(*setup.s1));
  OK(setup.s2->wait_stream(*setup.s1));
  OK(setup.fixture.fill(*setup.s2, setup.y, 2));
  CHECK(setup.races() == "[]");
  OK(exec->launch(*setup.s1));
  CHECK(setup.races().find("in a graph") != std::string::npos);
}

TEST("red zones: told on both sides, of memory in use and at its end, once each") {
  Fixture fixture(options("\"poison\":true"));
  const auto told = [&] { return fixture.runtime->races().take(); };
  Ref<Buffer> y = fixture.buffer(20, "y");
  y->data()[-64] = 1;
  y->data()[-2] = 1;
  y->data()[83] = 1;
  CHECK(told() == "[]");
  fixture.runtime->backend().check_guards();
  const std::string report = told();
  CHECK(report.find("before buffer y (20 bytes), its bytes -64 to -1") != std::string::npos);
  CHECK(report.find("after buffer y (20 bytes), its bytes 83 to 84") != std::string::npos);
  y->data()[20] = 1;
  y = nullptr;
  const std::string at_end = told();
  CHECK(at_end.find("its bytes 20 to 21") != std::string::npos);
  CHECK(at_end.find("before") == std::string::npos);
  fixture.runtime->backend().check_guards();
  CHECK(told() == "[]");
}

}  // namespace crt_test
