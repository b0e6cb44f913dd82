// How the experts are cut into work: (channel block, active expert) units and their row tiles.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_UNITS_H
#define MOE_KERNELS_CPU_BODY_EXPERT_UNITS_H

#include <stdint.h>

namespace {

constexpr int32_t kMaxLocalExperts = 4097;  // as many as top-k can name: 4096 routed and one shared

// Most permuted rows that one dot block takes: their activations stay in the second-level cache
// while the weights stream past.
constexpr int32_t kRowTile = 64;

// Experts that have rows. Weights of the others are never read.
struct ActiveExperts {
  int32_t count;
  int32_t expert[kMaxLocalExperts];
};

inline void list_active_experts(const int32_t* offsets, int32_t experts, ActiveExperts* active) {
  active->count = 0;
  for (int32_t e = 0; e < experts; ++e) {
    if (offsets[e + 1] > offsets[e]) active->expert[active->count++] = e;
  }
}

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
