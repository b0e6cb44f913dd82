// Order and concurrency of streams, events, programmatic launches, completions; which streams have
// one of a few places.
#include <mutex>
#include <thread>

#include "core/stream/recent_places.h"
#include "fixture.h"
#include "runner.h"
#include "test_kernels/pdl.h"
#include "test_kernels/rendezvous.h"

namespace crt_test {
namespace {

struct Meeting {
  explicit Meeting(Fixture& f) : fixture(f) {
    s1 = fixture.stream("main");
    s2 = fixture.stream("alt");
    flags = fixture.buffer(8, "flags");
    met1 = fixture.buffer(4, "met1");
    met2 = fixture.buffer(4, "met2");
    OK(fixture.fill(*s1, flags, 0));
    OK(s2->wait_stream(*s1));
  }
  void launch(Stream& first, Stream& second, int timeout_ms) {
    launch_side(first, met1, 0, timeout_ms);
    launch_side(second, met2, 1, timeout_ms);
  }
  bool have_met() {
    OK(s1->wait_stream(*s2));
    return fixture.ints(*s1, met1)[0] == 1 && fixture.ints(*s1, met2)[0] == 1;
  }

  Fixture& fixture;
  Ref<Stream> s1, s2;
  Ref<Buffer> flags, met1, met2;

 private:
  void launch_side(Stream& stream, const Ref<Buffer>& met, int side, int timeout_ms) {
    OK(fixture.launch(stream, "test_rendezvous", {{0, flags}, {1, met}},
                      RendezvousParams{nullptr, nullptr, side, timeout_ms}));
  }
};

Status launch_pdl(Fixture& fixture, Stream& stream, const char* kernel, const Ref<Buffer>& x,
                  const Ref<Buffer>& y, const Ref<Buffer>& early, uint32_t flags) {
  std::vector<std::pair<uint32_t, Ref<Buffer>>> buffers = {{1, y}};
  if (x) buffers.emplace_back(0, x);
  if (early) buffers.emplace_back(2, early);
  return fixture.launch(stream, kernel, buffers, PdlParams{nullptr, nullptr, nullptr, 42, 100'000},
                        flags);
}

/// Streams by number.
const void* key(int number) {
  static const char streams[16] = {};
  return streams + number;
}

/// Asks, and takes what it is offered. -1 without a place.
int ask(RecentPlaces& places, int number) {
  const auto [place, is_own] = places.ask(key(number));
  if (place >= 0 && !is_own) places.take(place, key(number));
  return place;
}

/// Four that each have the place of their number.
RecentPlaces full() {
  RecentPlaces places;
  for (int number = 0; number < RecentPlaces::kPlaces; ++number) {
    CHECK(ask(places, number) == number);
  }
  return places;
}

constexpr int kKept = static_cast<int>(RecentPlaces::kKeptFor);

}  // namespace

TEST("streams: two kernels meet, eager and in a replay; in one stream they do not") {
  Fixture fixture(options(""));
  Meeting eager(fixture);
  eager.launch(*eager.s1, *eager.s2, 5000);
  CHECK(eager.have_met());
  Meeting alone(fixture);
  alone.launch(*alone.s1, *alone.s1, 20);
  CHECK(!alone.have_met());
  Meeting replay(fixture);
  OK(replay.s1->synchronize_blocking(-1));
  OK(replay.s2->synchronize_blocking(-1));
  OK(replay.s1->begin_capture(1));
  OK(replay.s2->wait_stream(*replay.s1));
  replay.launch(*replay.s1, *replay.s2, 5000);
  OK(replay.s1->wait_stream(*replay.s2));
  Ref<Graph> graph;
  OK(replay.s1->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  for (int i = 0; i < 5; ++i) OK(exec->launch(*replay.s1));
  CHECK(replay.have_met());
}

TEST("events: snapshots, states, times (CE01-CE03)") {
  Fixture fixture(options(""));
  const Ref<Stream> s1 = fixture.stream("s1");
  const Ref<Stream> s2 = fixture.stream("s2");
  const Ref<Event> event = fixture.event(true);
  const Ref<Event> untimed = fixture.event();
  bool complete = false;
  OK(event->query(complete));
  CHECK(complete && event->state() == EventState::kUnrecorded);
  OK(event->record(*s1, false));
  OK(fixture.spin(*s1, 50'000));
  OK(event->wait(*s2, false));
  const Ref<Event> later = fixture.event(true);
  OK(later->record(*s1, false));
  OK(s2->synchronize_blocking(-1));  // the snapshot: s2 does not wait for the long kernel
  CHECK(later->state() == EventState::kPending);
  double ms = 0;
  CHECK(number(Event::elapsed_ms(*event, *later, ms)) == 600);
  CHECK(number(Event::elapsed_ms(*untimed, *later, ms)) == 400);
  OK(later->wait_blocking());
  OK(Event::elapsed_ms(*later, *event, ms));
  CHECK_WITH(ms <= -50, std::to_string(ms));
}

TEST("streams: the legacy stream and blocking streams wait for each other (CL06)") {
  Fixture fixture(options(""));
  const Ref<Stream> legacy = fixture.runtime->legacy_stream();
  const Ref<Stream> b1 = fixture.stream("b1", true);
  const Ref<Stream> b2 = fixture.stream("b2", true);
  const Ref<Stream> s1 = fixture.stream("s1");
  OK(fixture.spin(*b1, 50'000));
  OK(fixture.empty(*legacy));
  OK(fixture.empty(*b2));
  OK(fixture.empty(*s1));
  OK(s1->synchronize_blocking(-1));
  bool idle = true;
  OK(legacy->is_idle(idle));
  CHECK(!idle);
  OK(b2->is_idle(idle));
  CHECK(!idle);
  OK(b2->synchronize_blocking(-1));
  OK(b1->is_idle(idle));
  CHECK(idle);
}

TEST("streams: completions, notifications, time-outs, pending counts") {
  Fixture fixture(options(""));
  const Ref<Stream> stream = fixture.stream("main");
  auto sink = make_ref<Sink>();
  OK(fixture.spin(*stream, 30'000));
  OK(notify(*stream, sink, 7));
  OK(stream->synchronize(sink, 8));
  CHECK(stream->pending() == 3);
  CHECK(number(stream->synchronize_blocking(1)) == 600);
  CHECK(sink->wait(7).empty() && sink->wait(8).empty());
  OK(stream->synchronize_blocking(-1));
  Ref<Graph> graph;
  OK(stream->begin_capture(1));
  OK(notify(*stream, sink, 9));
  OK(stream->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  for (int i = 0; i < 3; ++i) OK(exec->launch(*stream));
  OK(stream->synchronize_blocking(-1));
  CHECK(sink->posts(9) == 3 && exec->launches() == 3 && stream->pending() == 0);
}

TEST("programmatic launch: the second starts early, waits, and is ordered; eager and replay") {
  for (const bool graph_path : {false, true}) {
    Fixture fixture(options("\"strictPdl\":true"));
    const Ref<Stream> stream = fixture.stream("main");
    const Ref<Buffer> x = fixture.buffer(4, "x");
    const Ref<Buffer> y = fixture.buffer(4, "y");
    const Ref<Buffer> early = fixture.buffer(4, "early");
    OK(fixture.fill(*stream, x, 0));
    OK(stream->synchronize_blocking(-1));
    Ref<Graph> graph;
    if (graph_path) OK(stream->begin_capture(1));
    OK(launch_pdl(fixture, *stream, "test_pdl_first", nullptr, x, nullptr, 0));
    OK(launch_pdl(fixture, *stream, "test_pdl_second", x, y, early, kProgrammatic));
    OK(fixture.accumulate(*stream, y, 1, 1));
    if (graph_path) {
      OK(stream->end_capture(graph));
      CHECK(graph->nodes()[1].dependencies[0].type == EdgeType::kProgrammatic);
      CHECK(graph->nodes()[2].dependencies[0].type == EdgeType::kFull);
      Ref<Exec> exec;
      OK(Exec::instantiate(graph, exec));
      OK(exec->launch(*stream));
    }
    CHECK(fixture.ints(*stream, y)[0] == 43);
    CHECK(fixture.ints(*stream, early)[0] == 1);
    // Without the wait the copy comes too early, and strict mode reports it.
    OK(fixture.fill(*stream, x, 0));
    OK(launch_pdl(fixture, *stream, "test_pdl_first", nullptr, x, nullptr, 0));
    OK(launch_pdl(fixture, *stream, "test_pdl_no_wait", x, y, early, kProgrammatic));
    const Status status = stream->synchronize_blocking(-1);
    CHECK(!status.ok() && status.fault().code == "CRT_PDL_NO_WAIT");
    CHECK(fixture.ints(*stream, y)[0] == 0);
  }
}

TEST("programmatic launch: policy latest never starts early") {
  Fixture fixture(options("\"pdl\":\"latest\""));
  const Ref<Stream> stream = fixture.stream("main");
  const Ref<Buffer> x = fixture.buffer(4);
  const Ref<Buffer> y = fixture.buffer(4);
  const Ref<Buffer> early = fixture.buffer(4);
  OK(fixture.fill(*stream, x, 0));
  OK(launch_pdl(fixture, *stream, "test_pdl_first", nullptr, x, nullptr, 0));
  OK(launch_pdl(fixture, *stream, "test_pdl_second", x, y, early, kProgrammatic));
  CHECK(fixture.ints(*stream, early)[0] == 0 && fixture.ints(*stream, y)[0] == 42);
}

TEST("places: the first ones get a free one each, and find it again") {
  RecentPlaces places = full();
  for (int number = 0; number < RecentPlaces::kPlaces; ++number) {
    const auto [place, is_own] = places.ask(key(number));
    CHECK(place == number);
    CHECK(is_own);
  }
}

TEST("places: an offer that is not taken stays free") {
  RecentPlaces places;
  CHECK(!places.ask(key(0)).is_own);
  CHECK(!places.ask(key(0)).is_own);
  CHECK(ask(places, 1) == 0);
  CHECK(ask(places, 0) == 1);
}

TEST("places: more than there are, in turn, leave each other alone") {
  RecentPlaces places = full();
  for (int turn = 0; turn < 100; ++turn) {
    for (int number = 0; number < 7; ++number) {
      CHECK(ask(places, number) == (number < RecentPlaces::kPlaces ? number : -1));
    }
  }
}

TEST("places: one that asks no more loses its place to one that does, the longest unused first") {
  RecentPlaces places = full();
  ask(places, 1);
  ask(places, 0);  // the longest unused is 2, with three asks behind its own, then 3, 1, 0
  int refusals = 0;
  while (ask(places, 8) < 0) ++refusals;
  CHECK(refusals == kKept - 3);
  CHECK(ask(places, 8) == 2);
  CHECK(ask(places, 8) == 2);
  CHECK(ask(places, 9) == 3);
  CHECK(ask(places, 2) == 1);  // who lost its place asks like a new one
  CHECK(ask(places, 9) == 3);
}

TEST("places: streams that come and go, one after the other, each get one") {
  RecentPlaces places;
  for (int number = 0; number < 16; ++number) {
    int last = -1;
    for (int launch = 0; launch < 2 * kKept; ++launch) last = ask(places, number);
    CHECK(last >= 0);
    CHECK(places.ask(key(number)).is_own);
  }
}

TEST("places: a mutex that is held is not waited for by who only tries") {
  Mutex mutex;
  bool is_free = true;
  {
    const LockGuard lock(mutex);
    std::thread other([&] { is_free = mutex.try_lock(); });
    other.join();
  }
  CHECK(!is_free);
  CHECK(mutex.try_lock());
  const LockGuard adopted(mutex, std::adopt_lock);
}

}  // namespace crt_test
