// RMSNorm with optional residual addition, the body that every instruction set shares.
//
// One row at a time, rows in parallel. A row is read twice: it fits the cache. The sum of squares
// runs in 16 lanes of fp32, joined in double in a fixed order, so the bits depend on neither the
// number of threads nor the instruction set. Bound by memory above a few rows.
#ifndef DENSE_KERNELS_CPU_BODY_RMS_NORM_H
#define DENSE_KERNELS_CPU_BODY_RMS_NORM_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/cpu/lanes.h"
#include "dense_kernels/rms_norm.h"

namespace {

constexpr int64_t kRmsNormGrain = 16384;  // elements a piece

// The pointers of one row; residual and residual_out are null without a residual.
template <typename T>
struct NormRow {
  const T* x;
  const T* residual;
  const void* weight;
  T* residual_out;
  T* y;
};

template <typename T>
LANES_INLINE Floats load_up_to(const T* from, int count) {
  return count == kLanes ? load(from) : load_some(from, count);
}

template <typename T>
LANES_INLINE void store_up_to(T* to, const Floats& x, int count) {
  if (count == kLanes) {
    store(to, x);
  } else {
    store_some(to, x, count);
  }
}

template <bool kAdds, typename T>
LANES_INLINE Floats summed(const NormRow<T>& row, int column, int count) {
  const Floats x = load_up_to(row.x + column, count);
  if constexpr (kAdds) return x + load_up_to(row.residual + column, count);
  return x;
}

// Both passes start from x and residual, never from the rounded sum: y is the norm of the unrounded
// sum. residual_out may be residual and y may be x, so each column is written only after its last
// read.
template <bool kAdds, typename T, typename W>
void norm_row(const RmsNormParams* p, const NormRow<T>& row) {
  const int hidden = p->hidden;
  // 1. mean of squares
  Floats squares = splat(0.0f);
  for (int column = 0; column < hidden; column += kLanes) {
    const int count = hidden - column < kLanes ? hidden - column : kLanes;
    const Floats s = summed<kAdds>(row, column, count);
    squares = squares + s * s;
  }
  const double mean = sum_lanes(squares) / hidden;
  const float inverse = static_cast<float>(1.0 / __builtin_sqrt(mean + p->epsilon));
  // 2. scale, weigh, round once
  const W* weight = static_cast<const W*>(row.weight);
  for (int column = 0; column < hidden; column += kLanes) {
    const int count = hidden - column < kLanes ? hidden - column : kLanes;
    const Floats s = summed<kAdds>(row, column, count);
    const Floats w = splat(p->weight_offset) + load_up_to(weight + column, count);
    if constexpr (kAdds) store_up_to(row.residual_out + column, s, count);
    store_up_to(row.y + column, s * splat(inverse) * w, count);
  }
}

template <typename T, typename W>
void norm_rows(void* argument, int64_t begin, int64_t end) {
  const RmsNormParams* p = static_cast<const RmsNormParams*>(argument);
  for (int64_t index = begin; index < end; ++index) {
    const int64_t token = index / p->heads;
    const int64_t head = index % p->heads;
    const int64_t dense = index * p->hidden;
    const T* residual = static_cast<const T*>(p->residual);
    T* residual_out = static_cast<T*>(p->residual_out);
    const NormRow<T> row{
        static_cast<const T*>(p->x) + token * p->x_token_stride + head * p->x_head_stride,
        residual ? residual + dense : nullptr,
        p->weight,
        residual ? residual_out + dense : nullptr,
        static_cast<T*>(p->y) + token * p->y_token_stride + head * p->y_head_stride,
    };
    if (residual) {
      norm_row<true, T, W>(p, row);
    } else {
      norm_row<false, T, W>(p, row);
    }
  }
}

template <typename T>
void rms_norm(const RmsNormParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int64_t rows = static_cast<int64_t>(p->tokens) * p->heads;
  const int64_t grain = kRmsNormGrain / (p->hidden + 1) + 1;
  const CpuLoopBody body = p->weight_is_bf16 ? norm_rows<T, Bf16> : norm_rows<T, float>;
  context->parallel_for(context, rows, grain, body, const_cast<RmsNormParams*>(p));
}

}  // namespace

#endif
