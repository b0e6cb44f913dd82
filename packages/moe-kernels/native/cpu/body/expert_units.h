// The loop over (channel block, active expert) units and their row tiles.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_UNITS_H
#define MOE_KERNELS_CPU_BODY_EXPERT_UNITS_H

#include "expert_dots.h"

namespace {

// A piece of the parallel loop. `Work` has `p->offsets` and `active`; `kTile` computes `kChannels`
// channels (fewer at the end) of `count` permuted rows from `first` on.
template <typename Work,
          void (*kTile)(const Work*, int32_t expert, int32_t channel, int32_t first, int32_t count),
          int32_t kChannels>
void run_units(void* argument, int64_t begin, int64_t end) {
  const Work* w = (const Work*)argument;
  const int32_t* offsets = (const int32_t*)w->p->offsets;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int32_t expert = w->active->expert[unit % w->active->count];
    const int32_t channel = (int32_t)(unit / w->active->count) * kChannels;
    for (int32_t first = offsets[expert]; first < offsets[expert + 1]; first += kRowTile) {
      const int32_t left = offsets[expert + 1] - first;
      kTile(w, expert, channel, first, left < kRowTile ? left : kRowTile);
    }
  }
}

}  // namespace

#endif
