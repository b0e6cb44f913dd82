#include "core/stream/recent_places.h"

#include <cstddef>

namespace cuda_runtime::core {

// Free places have never been asked for, so that the longest unused one is free while any is.
RecentPlaces::Answer RecentPlaces::ask(const void* key) noexcept {
  ++asks_;
  int longest = 0;
  for (int place = 0; place < kPlaces; ++place) {
    Holder& holder = holders_[static_cast<size_t>(place)];
    if (holder.key == key) {
      holder.asked = asks_;
      return {place, true};
    }
    if (holder.asked < holders_[static_cast<size_t>(longest)].asked) longest = place;
  }
  const Holder& holder = holders_[static_cast<size_t>(longest)];
  if (holder.key != nullptr && asks_ - holder.asked <= kKeptFor) return {};
  return {longest, false};
}

void RecentPlaces::take(int place, const void* key) noexcept {
  holders_[static_cast<size_t>(place)] = {key, asks_};
}

}  // namespace cuda_runtime::core
