// Gemma RMS norm per head and partial rotation of q, k and the index pair on the CPU.
//
// A token's cosines and sines are formed once and serve all its heads. fp32 inside, one rounding at
// the output. Reads and writes (heads + kv_heads) * head_dim elements per token.
#include "attention_kernels/qk_norm_rope.h"

#include <math.h>

#include "cuda_runtime/abi.h"
#include "dense_kernels/bf16.h"
#include "tile_limits.h"

namespace attention_kernels {
namespace {

struct Rotation {
  float cosines[kMaxDims / 2];
  float sines[kMaxDims / 2];
};

// One of the four tensors of the launch.
struct Heads {
  const void* in;
  void* out;
  const void* weight;
  int64_t stride;
  int32_t heads, dims;
};

float element(const void* from, int64_t i, bool is_f32) {
  return is_f32 ? static_cast<const float*>(from)[i]
                : bf16_to_f32(static_cast<const uint16_t*>(from)[i]);
}

void put(void* to, int64_t i, float value, bool is_f32) {
  if (is_f32) {
    static_cast<float*>(to)[i] = value;
  } else {
    static_cast<uint16_t*>(to)[i] = f32_to_bf16(value);
  }
}

// theta^(-2i / rotary_dim), rounded to fp32 once.
void fill_frequencies(float* frequencies, int32_t rotary_dim, float theta) {
  for (int32_t i = 0; i < rotary_dim / 2; ++i) {
    const double power = -2.0 * i / rotary_dim;
    frequencies[i] = static_cast<float>(pow(static_cast<double>(theta), power));
  }
}

// The angle is an fp32 product, as in the reference implementations; its cosine and sine are those
// of exactly that number, from the double functions, which reduce any argument correctly.
void fill_rotation(Rotation& rotation, const float* frequencies, int32_t pairs, int32_t position) {
  for (int32_t i = 0; i < pairs; ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    rotation.cosines[i] = static_cast<float>(cos(static_cast<double>(angle)));
    rotation.sines[i] = static_cast<float>(sin(static_cast<double>(angle)));
  }
}

// 1 / sqrt(mean(x^2) + eps), summed in eight fixed lanes.
float inverse_rms(const float* x, int32_t dims, float eps) {
  float lanes[8] = {};
  int32_t d = 0;
  for (; d + 8 <= dims; d += 8) {
    for (int32_t lane = 0; lane < 8; ++lane) lanes[lane] += x[d + lane] * x[d + lane];
  }
  for (; d < dims; ++d) lanes[d % 8] += x[d] * x[d];
  const float sum = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                    ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  return 1.0f / sqrtf(sum / static_cast<float>(dims) + eps);
}

// 1. widen; 2. norm with 1 + w, if there is a weight; 3. rotate pairs (i, i + rotary_dim / 2) of
// the first rotary_dim dims; 4. round.
void norm_and_rotate(const QkNormRopeParams& p, const Heads& heads, const Rotation& rotation,
                     int64_t in, int64_t out, bool is_f32) {
  float x[kMaxDims];
  for (int32_t d = 0; d < heads.dims; ++d) x[d] = element(heads.in, in + d, is_f32);
  if (heads.weight != nullptr) {
    const float inverse = inverse_rms(x, heads.dims, p.eps);
    for (int32_t d = 0; d < heads.dims; ++d) {
      x[d] = x[d] * inverse * (1.0f + element(heads.weight, d, p.weights_f32 != 0));
    }
  }
  const int32_t pairs = p.rotary_dim / 2;
  for (int32_t i = 0; i < pairs; ++i) {
    const float low = x[i];
    const float high = x[i + pairs];
    x[i] = low * rotation.cosines[i] - high * rotation.sines[i];
    x[i + pairs] = high * rotation.cosines[i] + low * rotation.sines[i];
  }
  for (int32_t d = 0; d < heads.dims; ++d) put(heads.out, out + d, x[d], is_f32);
}

void do_heads(const QkNormRopeParams& p, const Heads& heads, const Rotation& rotation,
              int64_t token, bool is_f32) {
  const bool padding = p.positions[token] < 0;
  for (int64_t head = 0; head < heads.heads; ++head) {
    const int64_t in = token * heads.stride + head * heads.dims;
    const int64_t out = (token * heads.heads + head) * heads.dims;
    if (padding) {
      for (int32_t d = 0; d < heads.dims; ++d) put(heads.out, out + d, 0.0f, is_f32);
    } else {
      norm_and_rotate(p, heads, rotation, in, out, is_f32);
    }
  }
}

template <bool kIsF32>
void do_tokens(void* argument, int64_t begin, int64_t end) {
  const QkNormRopeParams& p = *static_cast<const QkNormRopeParams*>(argument);
  const Heads all[4] = {
      {p.q, p.q_out, p.q_weight, p.q_stride, p.heads, p.head_dim},
      {p.k, p.k_out, p.k_weight, p.k_stride, p.kv_heads, p.head_dim},
      {p.index_q, p.index_q_out, p.index_q_weight, p.index_q_stride, p.index_heads, p.index_dim},
      {p.index_k, p.index_k_out, p.index_k_weight, p.index_k_stride, 1, p.index_dim},
  };
  float frequencies[kMaxDims / 2];
  Rotation rotation;
  fill_frequencies(frequencies, p.rotary_dim, p.theta);
  for (int64_t token = begin; token < end; ++token) {
    fill_rotation(rotation, frequencies, p.rotary_dim / 2, p.positions[token]);
    for (const Heads& heads : all) {
      if (heads.in != nullptr) do_heads(p, heads, rotation, token, kIsF32);
    }
  }
}

}  // namespace
}  // namespace attention_kernels

extern "C" void qk_norm_rope_bf16(const QkNormRopeParams* p, const CpuContext* context) {
  QkNormRopeParams copy = *p;
  context->parallel_for(context, p->tokens, 1, attention_kernels::do_tokens<false>, &copy);
}

extern "C" void qk_norm_rope_f32(const QkNormRopeParams* p, const CpuContext* context) {
  QkNormRopeParams copy = *p;
  context->parallel_for(context, p->tokens, 1, attention_kernels::do_tokens<true>, &copy);
}
