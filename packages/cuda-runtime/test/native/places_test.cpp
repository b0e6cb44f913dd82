// RecentPlaces: which streams have one of the few graphs of a kernel.
#include <thread>

#include "core/base/mutex.h"
#include "core/stream/recent_places.h"
#include "runner.h"

namespace crt_test {
namespace {

using cuda_runtime::core::LockGuard;
using cuda_runtime::core::Mutex;
using cuda_runtime::core::RecentPlaces;

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
