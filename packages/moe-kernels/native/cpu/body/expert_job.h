// A grouped matrix product over the active experts: what the gate-up and the down projection share.
//
// Work is cut into (channel block, active expert) units, numbered block by block, so that every
// contiguous share of the range holds all active experts: threads stay even however tokens are
// routed. A unit takes its expert's permuted rows in tiles of 64; its weights stream past once per
// tile. A result depends on its row and its expert alone (dot_block.h), not on the batch.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_JOB_H
#define MOE_KERNELS_CPU_BODY_EXPERT_JOB_H

#include "expert_dots.h"

namespace {

constexpr int32_t kMaxLocalExperts = 4097;  // as many as top-k can name: 4096 routed and one shared

// Most permuted rows that one dot block takes: their activations stay in the second-level cache
// while the weights stream past.
constexpr int32_t kRowTile = 64;

// Weights [experts, rows, in] with scales [experts, rows, in / 32].
struct ExpertMatrix {
  const void* weights;
  const void* scales;
  int64_t rows;
  int64_t in;
  ExpertWeight kind;
};

// Experts that have rows. Weights of the others are never read.
struct ActiveExperts {
  int32_t count;
  int32_t expert[kMaxLocalExperts];
};

struct ExpertJob {
  const void* params;      // of the kernel
  const int32_t* offsets;  // [experts + 1]
  ActiveExperts active;
  ExpertMatrix matrix;
  DotBlockFunction dots;
  PackedDotFunction packed_dots;  // if not null, used instead of dots
  uint16_t* packed;               // [permuted rows, packed_columns] in the order of the tiles
  int64_t packed_columns;
};

// `count` permuted rows of one expert from `first` on.
struct RowTile {
  int32_t expert;
  int32_t first;
  int32_t count;
};

inline RowTile row_tile(const int32_t* offsets, int32_t expert, int32_t first) {
  const int32_t left = offsets[expert + 1] - first;
  return {expert, first, left < kRowTile ? left : kRowTile};
}

// sums[r * kRowTile + i] = weight row `row + r` of the tile's expert times x[i].
inline void multiply(const ExpertJob* job, const RowTile& tile, const void* const* x, int64_t row,
                     int32_t rows, float* sums) {
  const ExpertMatrix& m = job->matrix;
  const int64_t element_bytes = m.kind == kWeightMxfp8 ? 1 : m.kind == kWeightBf16 ? 2 : 4;
  const int64_t index = tile.expert * m.rows + row;
  DotBlock block = {};
  block.weight_stride = m.in * element_bytes;
  block.scale_stride = m.in / MXFP8_BLOCK;
  block.weights = (const char*)m.weights + index * block.weight_stride;
  block.scales =
      m.kind == kWeightMxfp8 ? (const uint8_t*)m.scales + index * block.scale_stride : nullptr;
  block.x = x;
  block.y = sums;
  block.y_row = kRowTile;
  block.y_token = 1;
  block.rows = rows;
  block.tokens = tile.count;
  block.in = (int32_t)m.in;
  if (job->packed_dots != nullptr) {
    job->packed_dots(&block, job->packed + tile.first * job->packed_columns);
  } else {
    job->dots(&block);
  }
}

// Units of the parallel loop. `kTile` computes `kChannels` channels (fewer at the end) of a tile.
template <void (*kTile)(const ExpertJob*, const RowTile&, int32_t channel), int32_t kChannels>
void run_units(void* argument, int64_t begin, int64_t end) {
  const ExpertJob* job = (const ExpertJob*)argument;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int32_t expert = job->active.expert[unit % job->active.count];
    const int32_t channel = (int32_t)(unit / job->active.count) * kChannels;
    const int32_t end_row = job->offsets[expert + 1];
    for (int32_t first = job->offsets[expert]; first < end_row; first += kRowTile) {
      kTile(job, row_tile(job->offsets, expert, first), channel);
    }
  }
}

// Packs row tiles [begin, end), counted over the active experts. `kRows` points at a tile's rows.
template <void (*kRows)(const ExpertJob*, const RowTile&, const void** x)>
void pack_tiles(void* argument, int64_t begin, int64_t end) {
  const ExpertJob* job = (const ExpertJob*)argument;
  int64_t number = 0;
  for (int32_t a = 0; a < job->active.count; ++a) {
    const int32_t expert = job->active.expert[a];
    const int32_t end_row = job->offsets[expert + 1];
    for (int32_t first = job->offsets[expert]; first < end_row; first += kRowTile, ++number) {
      if (number < begin || number >= end) continue;
      const RowTile tile = row_tile(job->offsets, expert, first);
      const void* x[kRowTile];
      kRows(job, tile, x);
      expert_pack_amx(x, tile.count, job->matrix.in, job->packed + first * job->packed_columns);
    }
  }
}

inline int64_t count_tiles(const ExpertJob* job) {
  int64_t tiles = 0;
  for (int32_t a = 0; a < job->active.count; ++a) {
    const int32_t expert = job->active.expert[a];
    tiles += (job->offsets[expert + 1] - job->offsets[expert] + kRowTile - 1) / kRowTile;
  }
  return tiles;
}

// Offsets are data of the device: an expert whose rows do not lie in [0, slots) is left out.
inline void list_active_experts(const int32_t* offsets, int32_t experts, int32_t slots,
                                ActiveExperts* active) {
  active->count = 0;
  for (int32_t e = 0; e < experts; ++e) {
    const bool lies_inside = offsets[e] >= 0 && offsets[e + 1] <= slots;
    if (lies_inside && offsets[e + 1] > offsets[e]) active->expert[active->count++] = e;
  }
}

// Fills in the job of a projection with activations of type T and, for AMX, packs them.
// `packed` is null where the plan wants none.
template <typename T, void (*kRows)(const ExpertJob*, const RowTile&, const void** x)>
void prepare(ExpertJob* job, const CpuContext* context, int32_t experts, int32_t slots,
             void* packed) {
  constexpr ExpertActivation kActivation = sizeof(T) == 2 ? kActivationBf16 : kActivationF32;
  list_active_experts(job->offsets, experts, slots, &job->active);
  job->dots = expert_dots(context->level, job->matrix.kind, kActivation);
  job->packed_dots = nullptr;
#ifdef CRT_X86
  if (packed == nullptr) return;
  job->packed_dots = expert_packed_dots(context->level, job->matrix.kind, kActivation);
  if (job->packed_dots == nullptr) return;
  job->packed = (uint16_t*)packed;
  job->packed_columns = expert_packed_columns(job->matrix.in);
  context->parallel_for(context, count_tiles(job), 1, pack_tiles<kRows>, job);
#else
  (void)packed;
#endif
}

inline void store_rounded(float* to, float value) { *to = value; }
inline void store_rounded(uint16_t* to, float value) { *to = f32_to_bf16(value); }

}  // namespace

#endif
