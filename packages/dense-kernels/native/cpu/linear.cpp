// linear on the CPU: y = x * weight^T.
//
// The result is cut into units of 16 outputs x 64 tokens, spread over the threads. A unit walks its
// weight rows once per 4 tokens while its 64 rows of x stay in L2; sums land in a small fp32 tile,
// which is rounded once on the way out. Nothing about the cutting changes a result (dot_block.h).
// Reads the weights once per 64 tokens; with one token it is bound by that read. With AMX, x is
// first repacked into the workspace (f32 as three bf16).

#include "dense_kernels/linear.h"

#include <algorithm>

#include "cuda_runtime/abi.h"
#include "dense_kernels/dot_block.h"
#include "linear_levels.h"

namespace {

constexpr int32_t kUnitOutputs = 16;
constexpr int32_t kUnitTokens = 64;
constexpr int32_t kPackTokens = 16;
constexpr int64_t kPieceWork = 1 << 19; /* multiply-adds below which a thread is not worth waking */

DENSE_KERNELS_LINEAR_DOT(baseline)

struct Job {
  const LinearParams* p;
  DotBlockFunction dot;
  PackedDotFunction packed_dot; /* if not null, used instead of dot */
  int64_t packed_columns;
  LinearX x;
  int64_t weight_row_bytes;
  int64_t x_row_bytes;
  int32_t output_units;
};

inline void store(float* to, float value) { *to = value; }
inline void store(uint16_t* to, float value) { *to = f32_to_bf16(value); }

void row_pointers(const Job& job, int32_t token, int32_t tokens, const void** x) {
  for (int32_t t = 0; t < tokens; ++t) {
    x[t] = static_cast<const char*>(job.p->x) + (token + t) * job.x_row_bytes;
  }
}

uint16_t* packed_rows(const Job& job, int32_t token) {
  return static_cast<uint16_t*>(job.p->workspace) + token * job.packed_columns;
}

template <typename Y>
void run_unit(const Job& job, int64_t unit) {
  const LinearParams& p = *job.p;
  const int32_t output = static_cast<int32_t>(unit % job.output_units) * kUnitOutputs;
  const int32_t token = static_cast<int32_t>(unit / job.output_units) * kUnitTokens;
  const int32_t outputs = std::min(kUnitOutputs, p.out - output);
  const int32_t tokens = std::min(kUnitTokens, p.tokens - token);

  const void* x[kUnitTokens];
  row_pointers(job, token, tokens, x);
  const int64_t scale_stride = p.scales ? p.in / MXFP8_BLOCK : 0;
  float tile[kUnitTokens * kUnitOutputs];
  DotBlock block{};
  block.weights = static_cast<const char*>(p.weight) + output * job.weight_row_bytes;
  block.scales =
      p.scales ? static_cast<const uint8_t*>(p.scales) + output * scale_stride : nullptr;
  block.weight_stride = job.weight_row_bytes;
  block.scale_stride = scale_stride;
  block.x = x;
  block.y = tile;
  block.y_row = 1;
  block.y_token = kUnitOutputs;
  block.rows = outputs;
  block.tokens = tokens;
  block.in = p.in;
  if (job.packed_dot) {
    job.packed_dot(&block, packed_rows(job, token));
  } else {
    job.dot(&block);
  }

  for (int32_t t = 0; t < tokens; ++t) {
    Y* y = static_cast<Y*>(p.y) + (token + t) * p.y_stride + output;
    for (int32_t o = 0; o < outputs; ++o) store(y + o, tile[t * kUnitOutputs + o]);
  }
}

template <typename Y>
void run_units(void* argument, int64_t begin, int64_t end) {
  const Job& job = *static_cast<const Job*>(argument);
  for (int64_t unit = begin; unit < end; ++unit) run_unit<Y>(job, unit);
}

#ifdef CRT_X86
/* Groups of 16 tokens. */
void pack_groups(void* argument, int64_t begin, int64_t end) {
  const Job& job = *static_cast<const Job*>(argument);
  for (int64_t group = begin; group < end; ++group) {
    const int32_t token = static_cast<int32_t>(group) * kPackTokens;
    const int32_t tokens = std::min(kPackTokens, job.p->tokens - token);
    const void* x[kPackTokens];
    row_pointers(job, token, tokens, x);
    linear_pack_amx(x, tokens, job.p->in, job.x, packed_rows(job, token));
  }
}

void prepare_packed(Job* job, const CpuContext* context, LinearWeight weight, LinearX x) {
  const bool has_amx = context->level >= kCpuAmx && job->p->workspace != nullptr;
  job->packed_dot = has_amx ? linear_dot_amx(weight, x) : nullptr;
  if (!job->packed_dot) return;
  job->packed_columns = linear_packed_columns(job->p->in, x);
  const int64_t groups = (job->p->tokens + kPackTokens - 1) / kPackTokens;
  context->parallel_for(context, groups, 1, pack_groups, job);
}
#endif

DotBlockFunction choose_dot(const CpuContext* context, LinearWeight weight, LinearX x) {
#ifdef CRT_X86
  if (context->level >= kCpuAvx512) return linear_dot_avx512(weight, x);
  if (context->level >= kCpuAvx2) return linear_dot_avx2(weight, x);
#else
  (void)context;
#endif
  return linear_dot_baseline(weight, x);
}

template <LinearWeight kWeight, LinearX kX, typename Y>
void linear(const LinearParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  if (p->tokens <= 0 || p->out <= 0) return;
  constexpr int64_t kWeightBytes =
      kWeight == LinearWeight::kF32 ? 4 : kWeight == LinearWeight::kBf16 ? 2 : 1;
  Job job{};
  job.p = p;
  job.x = kX;
  job.dot = choose_dot(context, kWeight, kX);
  job.weight_row_bytes = p->in * kWeightBytes;
  job.x_row_bytes = p->x_stride * (kX == LinearX::kF32 ? 4 : 2);
#ifdef CRT_X86
  prepare_packed(&job, context, kWeight, kX);
#endif
  job.output_units = (p->out + kUnitOutputs - 1) / kUnitOutputs;
  const int64_t token_units = (p->tokens + kUnitTokens - 1) / kUnitTokens;
  const int64_t unit_work = static_cast<int64_t>(kUnitOutputs) *
                            std::min(p->tokens, kUnitTokens) * std::max(p->in, 1);
  context->parallel_for(context, job.output_units * token_units,
                        std::max<int64_t>(1, kPieceWork / unit_work), run_units<Y>, &job);
}

}  // namespace

#define DENSE_KERNELS_LINEAR_ENTRY(name, weight, x, Y)                             \
  extern "C" void name(const LinearParams* p, const CpuContext* context) {         \
    linear<LinearWeight::weight, LinearX::x, Y>(p, context);                       \
  }

DENSE_KERNELS_LINEAR_ENTRY(linear_f32_f32_f32, kF32, kF32, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_f32_f32_bf16, kF32, kF32, uint16_t)
DENSE_KERNELS_LINEAR_ENTRY(linear_f32_bf16_f32, kF32, kBf16, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_f32_bf16_bf16, kF32, kBf16, uint16_t)
DENSE_KERNELS_LINEAR_ENTRY(linear_bf16_f32_f32, kBf16, kF32, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_bf16_f32_bf16, kBf16, kF32, uint16_t)
DENSE_KERNELS_LINEAR_ENTRY(linear_bf16_bf16_f32, kBf16, kBf16, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_bf16_bf16_bf16, kBf16, kBf16, uint16_t)
DENSE_KERNELS_LINEAR_ENTRY(linear_mxfp8_f32_f32, kMxfp8, kF32, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_mxfp8_f32_bf16, kMxfp8, kF32, uint16_t)
DENSE_KERNELS_LINEAR_ENTRY(linear_mxfp8_bf16_f32, kMxfp8, kBf16, float)
DENSE_KERNELS_LINEAR_ENTRY(linear_mxfp8_bf16_bf16, kMxfp8, kBf16, uint16_t)
