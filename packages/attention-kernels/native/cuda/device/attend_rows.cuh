// Rows of attention on tensor cores: bf16, head_dim 64 or 128; for decode steps, and for lists of
// blocks, which neighbours do not share. Four warps have sixteen query heads of one token and KV
// head and meet its keys piece by piece (fold.cuh); a launch may be cut so that a block meets one
// piece, or one run of them, alone.
//
// A warp scores one of a piece's four steps; then each has a quarter of the dims of the values of
// all steps. So all keys and values of a piece are on their way at once, and the additions of a row
// are those of attend_chunk.cuh, in the same order: scores and maxima are formed apart, but every
// sum is one thread's over the steps in turn.
//
// A decode step finds this code cold: it is short, and loops are rolled.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_ROWS_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_ROWS_CUH

#include "dense_kernels/cuda/pdl.cuh"

#include "query_tile.cuh"
#include "row_keys.cuh"

namespace attention_kernels::cuda {

using dense_kernels::cuda::commit_copies;
using dense_kernels::cuda::copy16_async;
using dense_kernels::cuda::wait_copies;

constexpr int kRowWarps = kPieceKeys / kStepKeys;
constexpr int kRowThreads = 32 * kRowWarps;

// src/attend.plan.ts has its size.
template <int kDims>
struct RowsShared {
  uint4 keys[kPieceKeys * kDims / 8];  // as tile_place has it; at the end, what is divided
  uint4 values[kPieceKeys * kDims / 8];
  union {
    uint4 queries[kTileRows * kDims / 8];  // until every warp has them in registers
    uint4 weights[kRowWarps][2][2][32];    // of a step's halves, the low and the high bf16 of a lane
  };
  float largest[kRowWarps][kTileRows];  // scores of each step
  float2 sums[kRowWarps][32];           // of a step's weights, of a lane's columns
  uint32_t seen[kRowWarps];             // which keys of a step there are
};
static_assert(sizeof(RowsShared<128>) == 75024 && sizeof(RowsShared<64>) == 42256);

// Starts to copy the cache rows of the warp's 32 slots; zeros for slots that are none.
template <int kDims>
__device__ __forceinline__ void load_step(const void* cache, uint32_t row_bytes, uint32_t slot,
                                          uint4* to) {
  constexpr int kChunks = kDims / 8;
  constexpr int kRows = 32 / kChunks;  // that the warp copies at a time
  const int row = lane_id() / kChunks;
  const int chunk = lane_id() % kChunks;
#pragma unroll 2
  for (int first = 0; first < kStepKeys; first += kRows) {
    const uint32_t of_row = __shfl_sync(kAllLanes, slot, first + row);
    const bool exists = of_row != kNoSlot;
    const char* from = static_cast<const char*>(cache) +
                       static_cast<uint64_t>(exists ? of_row : 0u) * row_bytes + 16 * chunk;
    copy16_async(to + tile_place<kDims>(first + row, chunk), from, exists);
  }
}

template <int kDims>
__device__ __forceinline__ void load_queries(const Attend& a, const Unit& unit, uint4* to) {
  constexpr int kChunks = kDims / 8;
  const Bf16* q = static_cast<const Bf16*>(a.q) + (unit.token * a.heads + unit.first_head) * kDims;
#pragma unroll
  for (int i = 0; i < kTileRows * kChunks / kRowThreads; ++i) {
    const int row = (i * kRowThreads + threadIdx.x) / kChunks;
    const int chunk = threadIdx.x % kChunks;
    const bool exists = row < unit.heads;
    copy16_async(to + tile_place<kDims>(row, chunk), q + (exists ? row : 0) * kDims + 8 * chunk,
                 exists);
  }
}

// A step's 32 keys against the sixteen queries. With g = lane / 4 and q = lane % 4 a thread gets
// rows g and g + 8, keys 8n + 2q and the next.
template <int kDims>
struct Scores {
  float of[kStepKeys / 8][4];

  __device__ __forceinline__ Scores(const uint32_t (&q)[kDims / 16][4], const uint4* keys) {
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) of[n][i] = 0.0f;
    }
#pragma unroll
    for (int chunk = 0; chunk < kDims / 8; chunk += 4) {
#pragma unroll
      for (int n = 0; n < kStepKeys / 8; ++n) {
        uint32_t word[4];
        load_matrix_x4(word,
                       keys + tile_place<kDims>(n * 8 + lane_id() % 8, chunk + lane_id() / 8));
        mma_bf16(of[n], q[chunk / 2], {word[0], word[1]});
        mma_bf16(of[n], q[chunk / 2 + 1], {word[2], word[3]});
      }
    }
  }

  // Only the keys of the mask are seen.
  __device__ __forceinline__ void hide_but(uint32_t seen) {
    seen >>= 2 * (lane_id() % 4);
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if ((seen >> (8 * n + i % 2) & 1u) == 0u) of[n][i] = kMinusInfinity;
      }
    }
  }

  // The largest of row g + 8r.
  __device__ __forceinline__ float largest(int r) const {
    float top = kMinusInfinity;
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
      top = fmaxf(top, fmaxf(of[n][2 * r], of[n][2 * r + 1]));
    }
    return warp_reduce<Max, 4>(top);
  }

  // Scores of row g + 8r become weights, given the largest score of the steps up to this one;
  // returns the sum of the thread's.
  __device__ __forceinline__ float weigh(int r, float top, float factor) {
    const float base = top == kMinusInfinity ? 0.0f : -__fmul_rn(top, factor);
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        of[n][i] = exp2_fast(__fmaf_rn(of[n][i], factor, base));
        sum = __fadd_rn(sum, of[n][i]);
      }
    }
    return sum;
  }

  // Weights as two bf16 each, laid out for tensor cores.
  __device__ __forceinline__ void store_weights(uint4 (&to)[2][2][32]) const {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      uint32_t high[4], low[4];
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const float a = of[2 * k + word / 2][word % 2 * 2];
        const float b = of[2 * k + word / 2][word % 2 * 2 + 1];
        high[word] = f32_to_bf16x2(a, b);
        low[word] = f32_to_bf16x2(a - bf16x2_low(high[word]), b - bf16x2_high(high[word]));
      }
      to[k][0][lane_id()] = {low[0], low[1], low[2], low[3]};
      to[k][1][lane_id()] = {high[0], high[1], high[2], high[3]};
    }
  }
};

// The warp's scores of a piece become weights of shared memory. The block's threads call it
// together.
template <int kDims>
__device__ __forceinline__ void weigh_step(RowsShared<kDims>& s, Scores<kDims>& scores,
                                           float factor) {
  const int g = lane_id() / 4;
  float2 sums;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float top = kMinusInfinity;
#pragma unroll
    for (int step = 0; step < kRowWarps; ++step) {
      if (step <= warp_id()) top = fmaxf(top, s.largest[step][g + 8 * r]);
    }
    (r == 0 ? sums.x : sums.y) = scores.weigh(r, top, factor);
  }
  s.sums[warp_id()][lane_id()] = sums;
  scores.store_weights(s.weights[warp_id()]);
}

// What a warp has of its sixteen rows and some of their keys: a quarter of the dims.
template <int kDims>
struct Quarter {
  static constexpr int kGroups = kDims / 8 / kRowWarps;  // of eight dims
  static constexpr int kOwnDims = 8 * kGroups;

  Part part[2];  // of rows g and g + 8
  float acc[kGroups][4] = {};

  // Takes the next step of a piece, whose weights and values are in shared memory.
  __device__ __forceinline__ void take(const RowsShared<kDims>& s, int step, float factor) {
    const float2 sums = s.sums[step][lane_id()];
    float correction[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float top = fmaxf(part[r].largest, s.largest[step][lane_id() / 4 + 8 * r]);
      correction[r] = rescale(part[r].largest, top, factor);
      part[r].largest = top;
      part[r].sum = __fmaf_rn(part[r].sum, correction[r], r == 0 ? sums.x : sums.y);
    }
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[n][i] = __fmul_rn(acc[n][i], correction[i / 2]);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint4 low = s.weights[step][k][0][lane_id()];
      const uint4 high = s.weights[step][k][1][lane_id()];
      const int row = step * kStepKeys + k * 16 + lane_id() % 16;
      uint32_t word[kGroups / 2][4];
#pragma unroll
      for (int i = 0; i < kGroups / 2; ++i) {
        const int chunk = warp_id() * kGroups + 2 * i + lane_id() / 16;
        load_matrix_x4_transposed(word[i], s.values + tile_place<kDims>(row, chunk));
      }
#pragma unroll
      for (int n = 0; n < kGroups; ++n) {
        mma_bf16(acc[n], {low.x, low.y, low.z, low.w},
                 {word[n / 2][n % 2 * 2], word[n / 2][n % 2 * 2 + 1]});
      }
#pragma unroll
      for (int n = 0; n < kGroups; ++n) {
        mma_bf16(acc[n], {high.x, high.y, high.z, high.w},
                 {word[n / 2][n % 2 * 2], word[n / 2][n % 2 * 2 + 1]});
      }
    }
  }

  // A whole piece that is there.
  __device__ __forceinline__ void take_piece(const RowsShared<kDims>& s, float factor) {
#pragma unroll 1
    for (int step = 0; step < kRowWarps; ++step) {
      if (s.seen[step] != 0u) take(s, step, factor);
    }
    part[0].sum = warp_reduce<Sum, 4>(part[0].sum);
    part[1].sum = warp_reduce<Sum, 4>(part[1].sum);
  }

  __device__ __forceinline__ void join(const Quarter& other, float factor) {
    const Fold low(part[0], other.part[0], factor);
    const Fold high(part[1], other.part[1], factor);
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        acc[n][i] = (i < 2 ? low : high).join(acc[n][i], other.acc[n][i]);
      }
    }
  }
};

template <int kDims>
__device__ __forceinline__ void store_partial(const Attend& a, const Unit& unit,
                                              const Quarter<kDims>& rows) {
  constexpr int kWidth = kDims + 2;
  const int32_t g = lane_id() / 4;
  const int64_t first = unit.token * a.heads + unit.first_head + g;
  float* to = a.partials + (first * a.pieces + blockIdx.z) * kWidth;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (g + 8 * r >= unit.heads) return;
    float* own = to + warp_id() * Quarter<kDims>::kOwnDims + 2 * (lane_id() % 4);
#pragma unroll
    for (int n = 0; n < Quarter<kDims>::kGroups; ++n) {
      *reinterpret_cast<float2*>(own + n * 8) = {rows.acc[n][2 * r], rows.acc[n][2 * r + 1]};
    }
    if (threadIdx.x % 4 == 0 && warp_id() == 0) {
      *reinterpret_cast<float2*>(to + kDims) = {rows.part[r].largest, rows.part[r].sum};
    }
    to += static_cast<int64_t>(8 * kWidth) * a.pieces;
  }
}

// The sixteen rows of all warps in shared memory. Rows begin in different banks.
template <int kDims>
struct KeptRows {
  float values[kTileRows][kDims + 8];
  Part parts[kTileRows];

  __device__ __forceinline__ void keep(const Quarter<kDims>& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int32_t row = lane_id() / 4 + 8 * r;
      float* own = values[row] + warp_id() * Quarter<kDims>::kOwnDims + 2 * (lane_id() % 4);
#pragma unroll
      for (int n = 0; n < Quarter<kDims>::kGroups; ++n) {
        *reinterpret_cast<float2*>(own + n * 8) = {rows.acc[n][2 * r], rows.acc[n][2 * r + 1]};
      }
      if (threadIdx.x % 4 == 0 && warp_id() == 0) parts[row] = rows.part[r];
    }
  }
};

// Divides by the sums and rounds once; a row that met no key is zero. Through shared memory, so
// that the division is there once.
template <int kDims>
__device__ __forceinline__ void store_out(const Attend& a, const Unit& unit,
                                          const Quarter<kDims>& rows, KeptRows<kDims>& kept) {
  wait_copies<0>();  // of a row without keys
  __syncthreads();
  kept.keep(rows);
  __syncthreads();
  Bf16* out = static_cast<Bf16*>(a.out) + (unit.token * a.heads + unit.first_head) * kDims;
#pragma unroll 1
  for (int32_t i = 2 * threadIdx.x; i < unit.heads * kDims; i += 2 * kRowThreads) {
    const float sum = kept.parts[i / kDims].sum;
    const float2 value = *reinterpret_cast<const float2*>(&kept.values[i / kDims][i % kDims]);
    const float first = sum == 0.0f ? 0.0f : __fdiv_rn(value.x, sum);
    const float second = sum == 0.0f ? 0.0f : __fdiv_rn(value.y, sum);
    *reinterpret_cast<uint32_t*>(out + i) = f32_to_bf16x2(first, second);
  }
}

// What the warps of a block share of a launch.
template <int kDims>
struct RowsBlock {
  RowsShared<kDims>& s;
  const Attend& a;
  const Unit unit;
  const float factor;
  RowKeys keys;

  // Reads nothing.
  __device__ __forceinline__ RowsBlock(RowsShared<kDims>& shared, const Attend& attend)
      : s(shared),
        a(attend),
        unit(unit_of(attend, blockIdx.x, blockIdx.y)),
        factor(score_factor(attend.scale)),
        keys(attend, unit.token, unit.kv_head) {}

  // Starts to copy the warp's step of keys, or of values.
  __device__ __forceinline__ void load(bool is_values, uint32_t slot) const {
    const Bf16* cache = static_cast<const Bf16*>(is_values ? a.v_cache : a.k_cache);
    load_step<kDims>(cache + unit.kv_head * kDims, a.kv_heads * kDims * sizeof(Bf16), slot,
                     own_step(is_values ? s.values : s.keys));
  }

  // Scores the warp's step of keys, which is in shared memory, and leaves its maxima there.
  __device__ __forceinline__ Scores<kDims> score(const uint32_t (&q)[kDims / 16][4],
                                                 uint32_t seen) const {
    Scores<kDims> scores(q, own_step(s.keys));
    if (seen != kAllLanes) scores.hide_but(seen);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float top = scores.largest(r);
      if (lane_id() % 4 == 0) s.largest[warp_id()][lane_id() / 4 + 8 * r] = top;
    }
    if (lane_id() == 0) s.seen[warp_id()] = seen;
    return scores;
  }

  // After a barrier behind load_queries().
  __device__ __forceinline__ void read_queries(uint32_t (&q)[kDims / 16][4]) const {
#pragma unroll
    for (int i = 0; i < kDims / 16; ++i) {
      load_matrix_x4(q[i], s.queries + tile_place<kDims>(lane_id() % 16, 2 * i + lane_id() / 16));
    }
  }

 private:
  static __device__ __forceinline__ uint4* own_step(uint4* piece) {
    return piece + warp_id() * (kStepKeys * kDims / 8);
  }
};

// Loads piece z of the block's keys and leaves its weights and values in shared memory; false if
// the piece is not there. Reads that wait for each other: the token's numbers and its list, the
// page table, the caches.
template <int kDims>
__device__ __forceinline__ bool weigh_piece(RowsBlock<kDims>& block) {
  const Attend& a = block.a;
  const int32_t index = blockIdx.z * kPieceKeys;
  int64_t end = block.keys.most_places();
  dense_kernels::cuda::wait_and_trigger();
  const int32_t position = a.positions[block.unit.token];
  const int32_t sequence = a.sequence_ids[block.unit.token];
  const Place place = block.keys.place(index + threadIdx.x);
  // Which pieces exist, attention_combine knows from the position alone.
  if (a.blocks == nullptr) end = min(end, static_cast<int64_t>(position) + 1);
  if (position < 0 || index >= end) return false;
  block.keys.open(position, sequence);
  const uint32_t slot = block.keys.slot(place);
  load_queries<kDims>(a, block.unit, block.s.queries);
#pragma unroll 1
  for (int is_values = 0; is_values < 2; ++is_values) {
    block.load(is_values != 0, slot);
    commit_copies();
  }
  wait_copies<1>();
  __syncthreads();  // queries and keys are there
  uint32_t q[kDims / 16][4];
  block.read_queries(q);
  Scores<kDims> scores = block.score(q, __ballot_sync(kAllLanes, slot != kNoSlot));
  __syncthreads();  // maxima are there, queries are in registers
  weigh_step<kDims>(block.s, scores, block.factor);
  wait_copies<0>();
  __syncthreads();  // weights and values are there
  return true;
}

// Grid: x a token, y sixteen of its query heads, z a piece of its keys. Shared memory: RowsShared.
template <int kDims>
__device__ __forceinline__ void attend_piece(const Attend& a) {
  extern __shared__ uint4 shared[];
  RowsBlock<kDims> block(*reinterpret_cast<RowsShared<kDims>*>(shared), a);
  if (!weigh_piece(block)) return;
  Quarter<kDims> rows;
  rows.take_piece(block.s, block.factor);
  store_partial<kDims>(a, block.unit, rows);
}

// The same for z a run of keys, or all of them. While a piece is worked on, the next is on its way.
template <int kDims>
__device__ __forceinline__ void attend_rows(const Attend& a) {
  extern __shared__ uint4 shared[];
  RowsBlock<kDims> block(*reinterpret_cast<RowsShared<kDims>*>(shared), a);
  RowsShared<kDims>& s = block.s;
  dense_kernels::cuda::wait_and_trigger();
  const int32_t position = a.positions[block.unit.token];
  const bool is_split = a.partials != nullptr;
  int32_t index = blockIdx.z * a.piece_keys;
  int64_t end = is_split ? block.keys.most_places() : block.keys.places(position);
  if (is_split) {
    if (a.blocks == nullptr) end = min(end, static_cast<int64_t>(position) + 1);
    if (position < 0 || index >= end) return;
    end = min(end, static_cast<int64_t>(index) + a.piece_keys);
  }
  block.keys.open(position, a.sequence_ids[block.unit.token]);
  uint32_t slot = block.keys.slot(block.keys.place(index + threadIdx.x));
  load_queries<kDims>(a, block.unit, s.queries);
  commit_copies();
  block.load(false, slot);
  commit_copies();
  wait_copies<1>();
  __syncthreads();  // queries are there
  uint32_t q[kDims / 16][4];
  block.read_queries(q);

  Quarter<kDims> rows, run;
#pragma unroll 1
  while (index < end) {
    block.load(true, slot);
    commit_copies();
    const uint32_t seen = __ballot_sync(kAllLanes, slot != kNoSlot);
    const int32_t next = index + kPieceKeys;
    const bool has_next = next < end;
    slot = has_next ? block.keys.slot(block.keys.place(next + threadIdx.x)) : kNoSlot;
    wait_copies<1>();
    __syncwarp();  // the warp's keys are there
    Scores<kDims> scores = block.score(q, seen);
    __syncthreads();  // maxima are there, queries are in registers
    if (has_next) block.load(false, slot);
    commit_copies();
    weigh_step<kDims>(s, scores, block.factor);
    wait_copies<1>();
    __syncthreads();  // weights and values are there
    Quarter<kDims> piece;
    piece.take_piece(s, block.factor);
    run.join(piece, block.factor);
    if (!has_next || next % kRunKeys == 0) {
      rows.join(run, block.factor);
      run = Quarter<kDims>{};
    }
    __syncthreads();  // what is in shared memory is done with
    index = next;
  }
  if (is_split) {
    store_partial<kDims>(a, block.unit, rows);
  } else {
    store_out(a, block.unit, rows, *reinterpret_cast<KeptRows<kDims>*>(s.keys));
  }
}

}  // namespace attention_kernels::cuda

#endif
