// SwiGLU-OAI, the body that every instruction set shares. Rows in parallel, and columns of one row
// when there are few rows; one exponential and one division an element.
#ifndef DENSE_KERNELS_CPU_BODY_SWIGLU_OAI_H
#define DENSE_KERNELS_CPU_BODY_SWIGLU_OAI_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/cpu/lanes.h"
#include "dense_kernels/swiglu_oai.h"

namespace {

constexpr int kSwigluPiece = 1024;    // columns that are worked on together
constexpr int64_t kSwigluGrain = 8;   // pieces for which another thread pays

struct SwigluConstants {
  Floats alpha, beta, limit, lowest;
};

// The gate has no lower clamp. A NaN in either input survives: at_most and at_least keep it.
LANES_INLINE Floats activate(const Floats& gate, const Floats& up, const SwigluConstants& c) {
  const Floats g = at_most(c.limit, gate);
  const Floats u = at_least(c.lowest, at_most(c.limit, up));
  return g * sigmoid(c.alpha * g) * (u + c.beta);
}

template <typename T>
void swiglu_pieces(void* argument, int64_t begin, int64_t end) {
  const SwigluOaiParams* p = static_cast<const SwigluOaiParams*>(argument);
  const SwigluConstants c{splat(p->alpha), splat(p->beta), splat(p->limit), splat(-p->limit)};
  const int64_t pieces = (p->intermediate + kSwigluPiece - 1) / kSwigluPiece;
  for (int64_t index = begin; index < end; ++index) {
    const int64_t token = index / pieces;
    const int64_t first = index % pieces * kSwigluPiece;
    const int64_t left = p->intermediate - first;
    const int columns = static_cast<int>(left < kSwigluPiece ? left : kSwigluPiece);
    const T* gate = static_cast<const T*>(p->gate) + token * p->gate_stride + first;
    const T* up = static_cast<const T*>(p->up) + token * p->up_stride + first;
    T* y = static_cast<T*>(p->y) + token * p->intermediate + first;
    int i = 0;
    for (; i + kLanes <= columns; i += kLanes) store(y + i, activate(load(gate + i), load(up + i), c));
    const int rest = columns - i;
    if (rest > 0) {
      store_some(y + i, activate(load_some(gate + i, rest), load_some(up + i, rest), c), rest);
    }
  }
}

template <typename T>
void swiglu_oai(const SwigluOaiParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int64_t pieces = (p->intermediate + kSwigluPiece - 1) / kSwigluPiece;
  context->parallel_for(context, pieces * p->tokens, kSwigluGrain, swiglu_pieces<T>,
                        const_cast<SwigluOaiParams*>(p));
}

}  // namespace

#endif
