// Who has one of a few places: whoever asks often keeps its place, and loses it to another once it
// asks no more. For what each stream in use should have, when there is not enough for every stream.
#pragma once

#include <array>
#include <cstdint>

namespace cuda_runtime::core {

/// Not locked: the caller's to guard.
class RecentPlaces {
 public:
  static constexpr int kPlaces = 4;
  /// After so many asks of others a holder that did not ask may lose its place. More streams than
  /// have places, in turn, must not take them from each other all the time; one that asks this
  /// often is in use.
  static constexpr uint64_t kKeptFor = 64;

  struct Answer {
    int place = -1;  // none: everybody who has one is in use
    bool is_own = false;  // else it is free, or the longest unused: the caller's to `take` or to leave
  };
  /// Counts an ask of `key`, which is not null.
  Answer ask(const void* key) noexcept;
  /// From now on `key` has the place, and nobody else.
  void take(int place, const void* key) noexcept;

 private:
  struct Holder {
    const void* key = nullptr;
    uint64_t asked = 0;  // when, in asks of all
  };

  std::array<Holder, kPlaces> holders_;
  uint64_t asks_ = 0;
};

}  // namespace cuda_runtime::core
