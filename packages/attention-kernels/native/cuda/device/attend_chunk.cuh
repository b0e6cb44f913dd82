// Chunks of attention on tensor cores, for prefill: bf16, head_dim 64 or 128. A warp has sixteen
// query rows of one token and KV head (query_tile.cuh); the warps of a block have neighbouring
// tokens and share the keys of each run of tokens that stays in one sequence. A row's arithmetic is
// that of attend_rows.cuh, in the same order.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CHUNK_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_CHUNK_CUH

#include "query_tile.cuh"

namespace attention_kernels::cuda {

using dense_kernels::cuda::commit_copies;
using dense_kernels::cuda::copy16_async;
using dense_kernels::cuda::wait_copies;

// A part of a row's keys that is put aside in shared memory, each thread's values for itself.
template <int kDims>
struct PutAside {
  float4* values;  // [kDims / 8][32]
  Part part[2];

  // Adds what the tile has.
  __device__ __forceinline__ void join(QueryTile<kDims>& tile, float factor) {
    const Fold low(part[0], tile.part[0], factor);
    const Fold high(part[1], tile.part[1], factor);
#pragma unroll
    for (int n = 0; n < kDims / 8; ++n) {
      float4& to = values[n * 32 + lane_id()];
      const float4 own = to;
      to = {low.join(own.x, tile.acc[n][0]), low.join(own.y, tile.acc[n][1]),
            high.join(own.z, tile.acc[n][2]), high.join(own.w, tile.acc[n][3])};
    }
  }

  // Gives what is here to the tile and is empty.
  __device__ __forceinline__ void move_to(QueryTile<kDims>& tile) {
#pragma unroll
    for (int n = 0; n < kDims / 8; ++n) {
      const float4 own = values[n * 32 + lane_id()];
      tile.acc[n][0] = own.x;
      tile.acc[n][1] = own.y;
      tile.acc[n][2] = own.z;
      tile.acc[n][3] = own.w;
    }
    tile.part[0] = part[0];
    tile.part[1] = part[1];
    part[0] = part[1] = Part{};
  }
};

// A warp's sixteen rows on their way over the keys.
template <int kDims>
struct Rows {
  QueryTile<kDims> tile;
  PutAside<kDims> run;  // the pieces of this run of keys
  PutAside<kDims> row;  // the runs
  int32_t position;     // the token's; negative: nothing is seen
  float factor;
  bool has_taken = false;  // the tile has keys

  __device__ __forceinline__ void take(const uint4* keys, const uint4* values,
                                       int32_t key_position) {
    if (!__any_sync(kAllLanes, key_position <= position)) return;
    tile.take(keys, values, key_position, position, factor);
    has_taken = true;
  }

  // At the end of a piece.
  __device__ __forceinline__ void put_piece_aside() {
    if (!has_taken) return;
    tile.finish();
    run.join(tile, factor);
    tile.clear();
    has_taken = false;
  }

  // At the end of a run of keys; the tile is empty.
  __device__ __forceinline__ void put_run_aside() {
    run.move_to(tile);
    row.join(tile, factor);
    tile.clear();
  }

  // All that was put aside, at the end.
  __device__ __forceinline__ void take_back() {
    if (row.values != nullptr) {
      row.move_to(tile);
    } else {
      run.move_to(tile);
    }
  }
};

// Divides by the sums and rounds once; a row that met no key is zero.
template <int kDims>
__device__ __forceinline__ void store_out(const Attend& a, const Unit& unit,
                                          const QueryTile<kDims>& tile) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int32_t row = lane_id() / 4 + 8 * r;
    if (row >= unit.heads) continue;
    const float sum = tile.part[r].sum;
    Bf16* to = static_cast<Bf16*>(a.out) +
               (unit.token * a.heads + unit.first_head + row) * kDims + 2 * (lane_id() % 4);
#pragma unroll
    for (int n = 0; n < kDims / 8; ++n) {
      const float first = sum == 0.0f ? 0.0f : __fdiv_rn(tile.acc[n][2 * r], sum);
      const float second = sum == 0.0f ? 0.0f : __fdiv_rn(tile.acc[n][2 * r + 1], sum);
      *reinterpret_cast<uint32_t*>(to + n * 8) = f32_to_bf16x2(first, second);
    }
  }
}

// Keys and values of kStages steps in shared memory, loaded by all warps of the block.
template <int kDims, int kStages>
class Steps {
 public:
  static constexpr int kTile = kStepKeys * kDims / 8;  // 16-byte words of a step's keys
  static constexpr int kWords = kStages * 2 * kTile;

  __device__ __forceinline__ Steps(const Attend& a, uint4* tiles) : a_(a), tiles_(tiles) {}

  // Takes the steps [step, end) of a walk, those that have a key.
  __device__ __forceinline__ void walk(const Walk& walk, int32_t step, int32_t end,
                                       Rows<kDims>& rows) {
    int32_t steps[kStages];      // the next ones, steps[0] first
    int32_t positions[kStages];  // of the lane's key in each
    int32_t stage = 0;
#pragma unroll
    for (int i = 0; i + 1 < kStages; ++i) {
      steps[i] = load_next(walk, step, end, i, positions[i]);
      step = steps[i] + 1;
    }
    while (steps[0] < end) {
      wait_copies<kStages - 2>();
      __syncthreads();  // the step is here, and what was before the last to be loaded is done with
      const int32_t last = stage == 0 ? kStages - 1 : stage - 1;
      steps[kStages - 1] = load_next(walk, step, end, last, positions[kStages - 1]);
      step = steps[kStages - 1] + 1;
      const uint4* keys = tiles_ + stage * 2 * kTile;
      rows.take(keys, keys + kTile, positions[0]);
      end_parts(rows, steps[0], steps[1], end);
#pragma unroll
      for (int i = 0; i + 1 < kStages; ++i) {
        steps[i] = steps[i + 1];
        positions[i] = positions[i + 1];
      }
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    wait_copies<0>();
    __syncthreads();
  }

 private:
  static constexpr int kStepsOfPiece = kPieceKeys / kStepKeys;
  static constexpr int kStepsOfRun = kRunKeys / kStepKeys;

  // Puts aside what ends with `step` when `next` follows it.
  __device__ __forceinline__ void end_parts(Rows<kDims>& rows, int32_t step, int32_t next,
                                            int32_t end) const {
    const bool is_last = next >= end;
    if (is_last || next / kStepsOfPiece != step / kStepsOfPiece) rows.put_piece_aside();
    if (rows.row.values == nullptr) return;
    if (is_last || next / kStepsOfRun != step / kStepsOfRun) rows.put_run_aside();
  }

  // Starts to load the first step of [step, end) that has a key. Returns it, at least `end` if
  // none.
  __device__ __forceinline__ int32_t load_next(const Walk& walk, int32_t step, int32_t end,
                                               int32_t stage, int32_t& position) const {
    Key key = {0, kNoPosition};
    for (; step < end; ++step) {
      key = walk.key(step * kStepKeys + lane_id());
      if (__any_sync(kAllLanes, key.position != kNoPosition)) break;
    }
    if (step < end) load(key, tiles_ + stage * 2 * kTile);
    commit_copies();
    position = key.position;
    return step;
  }

  __device__ __forceinline__ void load(const Key& key, uint4* keys) const {
    constexpr int kChunks = kDims / 8;
    for (int32_t i = warp_id(); i < kTile / 32; i += blockDim.x / 32) {
      const int32_t row = (i * 32 + lane_id()) / kChunks;
      const int32_t chunk = lane_id() % kChunks;
      const int64_t offset = __shfl_sync(kAllLanes, key.offset, row) + chunk * 8;
      const bool exists = __shfl_sync(kAllLanes, key.position, row) != kNoPosition;
      uint4* to = keys + tile_place<kDims>(row, chunk);
      copy16_async(to, static_cast<const Bf16*>(a_.k_cache) + offset, exists);
      copy16_async(to + kTile, static_cast<const Bf16*>(a_.v_cache) + offset, exists);
    }
  }

  const Attend& a_;
  uint4* tiles_;
};

template <int kDims>
__device__ __forceinline__ void begin_rows(const Attend& a, const Unit& unit, Rows<kDims>& rows) {
  const Bf16* q = static_cast<const Bf16*>(a.q) +
                  (unit.token * a.heads + unit.first_head) * kDims;
  rows.tile.load(q, unit.heads);
  rows.tile.clear();
  rows.factor = score_factor(a.scale);
}

// The most places that a walk of this launch can have; what is put aside depends on it alone.
__device__ __forceinline__ int64_t most_places(const Attend& a) {
  const int64_t entries = a.blocks == nullptr ? a.max_pages : a.topk_blocks;
  return entries * a.page_tokens;
}

// Grid: x as many tokens as the block has warps, the last first, since in a prompt they have the
// longest contexts; y sixteen of their query heads. Shared memory: Steps<kDims, 3>::kWords, and
// what each warp puts aside. A NaN among the values of the run's later tokens reaches the rows of
// the earlier ones: their weight for it is 0, and 0 * NaN is NaN.
template <int kDims>
__device__ __forceinline__ void attend_chunk(const Attend& a) {
  extern __shared__ uint4 shared[];
  using Loads = Steps<kDims, 3>;
  const int32_t warps = blockDim.x / 32;
  const int32_t first = (gridDim.x - 1 - blockIdx.x) * warps;
  const int32_t count = min(warps, a.tokens - first);
  const bool has_token = warp_id() < count;
  const int32_t token = first + (has_token ? warp_id() : 0);
  const Unit unit = unit_of(a, token, blockIdx.y);

  Rows<kDims> rows;
  begin_rows(a, unit, rows);
  constexpr int kAside = kDims / 8 * 32;
  float4* aside = reinterpret_cast<float4*>(shared + Loads::kWords);
  const bool has_runs = most_places(a) > kRunKeys;
  rows.run.values = aside + warp_id() * kAside;
  rows.row.values = has_runs ? aside + (warps + warp_id()) * kAside : nullptr;

  Loads loads(a, shared);
  for (int32_t begin = first; begin < first + count;) {
    int32_t last = a.positions[begin];
    int32_t end = begin + 1;
    for (; end < first + count && a.sequence_ids[end] == a.sequence_ids[begin]; ++end) {
      last = max(last, a.positions[end]);
    }
    const bool is_own = has_token && token >= begin && token < end;
    rows.position = is_own ? a.positions[token] : -1;
    const Walk walk(a, begin, unit.kv_head, last);
    const int32_t steps = walk.places() / kStepKeys + (walk.places() % kStepKeys != 0);
    loads.walk(walk, 0, steps, rows);
    begin = end;
  }
  if (!has_token) return;
  rows.take_back();
  store_out(a, unit, rows.tile);
}

}  // namespace attention_kernels::cuda

#endif
