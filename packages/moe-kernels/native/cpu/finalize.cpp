// Finalize on the CPU: the entries and the baseline level. The loop: body/finalize_rows.h.
// Reads tokens * k rows once and writes tokens rows; bound by memory on every level.

#include "cuda_runtime/abi.h"
#include "body/finalize_levels.h"
#include "body/finalize_rows.h"

namespace {

// A piece of about this many elements outweighs waking a thread.
constexpr int64_t kElementsPerPiece = 16384;

void run(const FinalizeParams* p, const CpuContext* context, const FinalizeLevels& levels) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  CpuLoopBody body = levels.baseline;
#ifdef CRT_X86
  if (context->level >= kCpuAvx2) body = levels.avx2;
  if (context->level >= kCpuAvx512) body = levels.avx512;
#endif
  const int64_t elements = (int64_t)p->k * p->hidden;
  const int64_t grain = 1 + kElementsPerPiece / (elements + 1);
  context->parallel_for(context, p->tokens, grain, body, (void*)p);
}

#ifdef CRT_X86
constexpr FinalizeLevels kF32 = {finalize_tokens<float>, finalize_f32_avx2, finalize_f32_avx512};
constexpr FinalizeLevels kBf16 = {finalize_tokens<uint16_t>, finalize_bf16_avx2,
                                  finalize_bf16_avx512};
#else
constexpr FinalizeLevels kF32 = {finalize_tokens<float>, nullptr, nullptr};
constexpr FinalizeLevels kBf16 = {finalize_tokens<uint16_t>, nullptr, nullptr};
#endif

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void finalize_f32(const FinalizeParams* p, const CpuContext* context) {
  run(p, context, kF32);
}

extern "C" void finalize_bf16(const FinalizeParams* p, const CpuContext* context) {
  run(p, context, kBf16);
}
