// Joins the pieces of split query rows on the CPU. CPU attention does not split its rows: this is
// what the CUDA kernel is compared with. Plain loops; a few numbers per row and piece.
#include "attention_kernels/attention_combine.h"

#include <math.h>

#include "cuda_runtime/abi.h"
#include "dense_kernels/bf16.h"
#include "vector/tile_limits.h"

namespace attention_kernels {
namespace {

// What a row has of some of its keys.
struct Part {
  float largest = kMinusInfinity;
  float sum = 0.0f;
};

// Factors that bring the values of two parts together; `a` becomes the join.
struct Factors {
  float a, b;
};

Factors join(Part& a, const Part& b, float scale) {
  if (b.sum == 0.0f) return {1.0f, 0.0f};
  if (a.sum == 0.0f) {
    a = b;
    return {0.0f, 1.0f};
  }
  const float top = a.largest > b.largest ? a.largest : b.largest;
  const Factors factors = {a.largest == top ? 1.0f : expf((a.largest - top) * scale),
                           b.largest == top ? 1.0f : expf((b.largest - top) * scale)};
  a.sum = a.sum * factors.a + b.sum * factors.b;
  a.largest = top;
  return factors;
}

int64_t pieces_of(const AttentionCombineParams& p, int64_t position) {
  if (position < 0) return 0;
  const bool ends_early = p.is_causal != 0 && position + 1 < p.most_keys;
  return ((ends_early ? position + 1 : p.most_keys) + p.piece_keys - 1) / p.piece_keys;
}

void combine_row(const AttentionCombineParams& p, int64_t row) {
  const int64_t dims = p.head_dim;
  const int64_t pieces = pieces_of(p, p.positions[row / p.heads]);
  const float* of_row = p.partials + row * p.pieces * (dims + 2);
  uint16_t* out = static_cast<uint16_t*>(p.out) + row * dims;
  for (int64_t d = 0; d < dims; ++d) {
    Part part;
    float value = 0.0f;
    for (int64_t i = 0; i < pieces; ++i) {
      const float* piece = of_row + i * (dims + 2);
      const Factors factors = join(part, {piece[dims], piece[dims + 1]}, p.scale);
      // A factor of 0 drops what was never written, which may be anything.
      value = (factors.a == 0.0f ? 0.0f : value * factors.a) +
              (factors.b == 0.0f ? 0.0f : piece[d] * factors.b);
    }
    out[d] = f32_to_bf16(part.sum == 0.0f ? 0.0f : value / part.sum);
  }
}

}  // namespace
}  // namespace attention_kernels

extern "C" void attention_combine_bf16(const AttentionCombineParams* p,
                                       const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  context->parallel_for(
      context, static_cast<int64_t>(p->tokens) * p->heads, 1,
      [](void* argument, int64_t begin, int64_t end) {
        const auto& params = *static_cast<const AttentionCombineParams*>(argument);
        for (int64_t row = begin; row < end; ++row) attention_kernels::combine_row(params, row);
      },
      const_cast<AttentionCombineParams*>(p));
}
