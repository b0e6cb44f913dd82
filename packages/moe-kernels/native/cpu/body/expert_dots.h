// The dot products of an expert's weights, by instruction set.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_DOTS_H
#define MOE_KERNELS_CPU_BODY_EXPERT_DOTS_H

#include <stdint.h>

#include "cuda_runtime/abi.h"
#include "dense_kernels/dot_block.h"

enum ExpertWeight { kWeightMxfp8 = 0, kWeightBf16 = 1, kWeightF32 = 2 };
enum ExpertActivation { kActivationBf16 = 0, kActivationF32 = 1 };

// One function for each (weight, activation); experts_gate_up_avx2.cpp, experts_gate_up_avx512.cpp.
extern const DotBlockFunction kExpertDotsAvx2[3][2];
extern const DotBlockFunction kExpertDotsAvx512[3][2];

// AMX wants bf16 activations in the order of its tiles; experts_gate_up_amx.cpp.
typedef void (*PackedDotFunction)(const DotBlock* block, const uint16_t* packed);
extern const PackedDotFunction kExpertPackedDotsAmx[3];  // by weight, null for f32
int64_t expert_packed_columns(int64_t in);
void expert_pack_amx(const void* const* x, int32_t count, int64_t in, uint16_t* packed);

namespace {

constexpr DotBlockFunction kExpertDotsBaseline[3][2] = {
    {dot_block_mxfp8_bf16_baseline, dot_block_mxfp8_f32_baseline},
    {dot_block_bf16_bf16_baseline, dot_block_bf16_f32_baseline},
    {dot_block_f32_bf16_baseline, dot_block_f32_f32_baseline},
};

// The fastest function that `level` allows.
inline DotBlockFunction expert_dots(uint32_t level, ExpertWeight weight,
                                    ExpertActivation activation) {
#ifdef CRT_X86
  if (level >= kCpuAvx512) return kExpertDotsAvx512[weight][activation];
  if (level >= kCpuAvx2) return kExpertDotsAvx2[weight][activation];
#endif
  (void)level;
  return kExpertDotsBaseline[weight][activation];
}

// The AMX function, or null where `level`, weights or activations do not allow it.
inline PackedDotFunction expert_packed_dots(uint32_t level, ExpertWeight weight,
                                            ExpertActivation activation) {
#ifdef CRT_X86
  if (level >= kCpuAmx && activation == kActivationBf16) return kExpertPackedDotsAmx[weight];
#endif
  (void)level, (void)weight, (void)activation;
  return nullptr;
}

}  // namespace

#endif
