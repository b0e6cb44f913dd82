// Gemma RMS norm per head and partial rotation of q, k and the index pair on the CPU: the entries,
// the rotation, which serves all heads of a token, and the baseline level. Heads: qk_heads_body.h.
//
// fp32 inside, one rounding at the output. Reads and writes (heads + kv_heads) * head_dim elements
// per token.
#include "attention_kernels/qk_norm_rope.h"

#include <math.h>
#include <string.h>

#include "cuda_runtime/abi.h"
#include "qk_heads.h"
#include "qk_heads_body.h"

namespace attention_kernels {
namespace {

// One of the four tensors of the launch.
struct Heads {
  const void* in;
  void* out;
  const void* weight;
  int64_t stride;
  int32_t heads, dims;
};

// What a piece of the tokens needs.
struct NormRope {
  const QkNormRopeParams* p;
  HeadsFunction norm_and_rotate;
  int64_t element_bytes;
  float frequencies[kMaxDims / 2];
};

// theta^(-2i / rotary_dim), rounded to fp32 once.
void fill_frequencies(float* frequencies, int32_t rotary_dim, float theta) {
  for (int32_t i = 0; i < rotary_dim / 2; ++i) {
    const double power = -2.0 * i / rotary_dim;
    frequencies[i] = static_cast<float>(pow(static_cast<double>(theta), power));
  }
}

// The angle is an fp32 product, as in the reference implementations; its cosine and sine are those
// of exactly that number, from the double functions, which reduce any argument correctly.
void fill_rotation(Rotation& rotation, const float* frequencies, int32_t position) {
  for (int32_t i = 0; i < rotation.pairs; ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    rotation.cosines[i] = static_cast<float>(cos(static_cast<double>(angle)));
    rotation.sines[i] = static_cast<float>(sin(static_cast<double>(angle)));
  }
}

void do_heads(const NormRope& job, const Heads& heads, const Rotation& rotation, int64_t token) {
  const QkNormRopeParams& p = *job.p;
  const int64_t width = static_cast<int64_t>(heads.heads) * heads.dims;
  const char* in = static_cast<const char*>(heads.in) + token * heads.stride * job.element_bytes;
  char* out = static_cast<char*>(heads.out) + token * width * job.element_bytes;
  if (p.positions[token] < 0) {
    memset(out, 0, width * job.element_bytes);
    return;
  }
  const bool weights_f32 = p.weights_f32 != 0;
  job.norm_and_rotate({in, out, heads.weight, heads.heads, heads.dims, weights_f32, p.eps},
                      rotation);
}

void copy_row(void* cache, int64_t slot, const void* row, int64_t bytes) {
  memcpy(static_cast<char*>(cache) + slot * bytes, row, bytes);
}

// What kv_write does with the token's results and its v.
void write_slot(const NormRope& job, int64_t token) {
  const QkNormRopeParams& p = *job.p;
  if (p.v == nullptr) return;
  const int64_t slot = p.slots[token];
  if (slot < 0 || slot >= p.cache_slots) return;
  const int64_t bytes = static_cast<int64_t>(p.kv_heads) * p.head_dim * job.element_bytes;
  const int64_t index_bytes = p.index_dim * job.element_bytes;
  const char* v = static_cast<const char*>(p.v) + token * p.v_stride * job.element_bytes;
  copy_row(p.k_cache, slot, static_cast<const char*>(p.k_out) + token * bytes, bytes);
  copy_row(p.v_cache, slot, v, bytes);
  if (p.index_cache == nullptr) return;
  copy_row(p.index_cache, slot, static_cast<const char*>(p.index_k_out) + token * index_bytes,
           index_bytes);
}

void do_tokens(void* argument, int64_t begin, int64_t end) {
  const NormRope& job = *static_cast<const NormRope*>(argument);
  const QkNormRopeParams& p = *job.p;
  const Heads all[4] = {
      {p.q, p.q_out, p.q_weight, p.q_stride, p.heads, p.head_dim},
      {p.k, p.k_out, p.k_weight, p.k_stride, p.kv_heads, p.head_dim},
      {p.index_q, p.index_q_out, p.index_q_weight, p.index_q_stride, p.index_heads, p.index_dim},
      {p.index_k, p.index_k_out, p.index_k_weight, p.index_k_stride, 1, p.index_dim},
  };
  Rotation rotation;
  rotation.pairs = p.rotary_dim / 2;
  for (int64_t token = begin; token < end; ++token) {
    fill_rotation(rotation, job.frequencies, p.positions[token]);
    for (const Heads& heads : all) {
      if (heads.in != nullptr) do_heads(job, heads, rotation, token);
    }
    write_slot(job, token);
  }
}

void qk_norm_rope(const QkNormRopeParams* p, const CpuContext* context, HeadsFunction function,
                  int64_t element_bytes) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  NormRope job;
  job.p = p;
  job.norm_and_rotate = function;
  job.element_bytes = element_bytes;
  fill_frequencies(job.frequencies, p->rotary_dim, p->theta);
  context->parallel_for(context, p->tokens, 1, do_tokens, &job);
}

}  // namespace
}  // namespace attention_kernels

extern "C" void qk_norm_rope_bf16(const QkNormRopeParams* p, const CpuContext* context) {
  attention_kernels::HeadsFunction function = attention_kernels::norm_and_rotate<Bf16>;
#if CRT_X86
  if (context->level >= kCpuAvx2) function = attention_kernels::norm_and_rotate_bf16_avx2;
#endif
  attention_kernels::qk_norm_rope(p, context, function, 2);
}

extern "C" void qk_norm_rope_f32(const QkNormRopeParams* p, const CpuContext* context) {
  attention_kernels::HeadsFunction function = attention_kernels::norm_and_rotate<float>;
#if CRT_X86
  if (context->level >= kCpuAvx2) function = attention_kernels::norm_and_rotate_f32_avx2;
#endif
  attention_kernels::qk_norm_rope(p, context, function, 4);
}
