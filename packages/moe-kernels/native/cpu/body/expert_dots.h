// The dot products of an expert's weights, per instruction set, and how experts are cut into work.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_DOTS_H
#define MOE_KERNELS_CPU_BODY_EXPERT_DOTS_H

#include <stdint.h>

#include "cuda_runtime/abi.h"
#include "dense_kernels/dot_block.h"

enum ExpertWeight { kWeightMxfp8 = 0, kWeightBf16 = 1, kWeightF32 = 2 };
enum ExpertActivation { kActivationBf16 = 0, kActivationF32 = 1 };

// One function for each (weight, activation), by instruction set.
extern const DotBlockFunction kExpertDotsAvx2[3][2];
extern const DotBlockFunction kExpertDotsAvx512[3][2];

// The fastest function that `level` allows.
DotBlockFunction expert_dots(uint32_t level, ExpertWeight weight, ExpertActivation activation);

constexpr int32_t kMaxLocalExperts = 4097;  // as many as top-k can name: 4096 routed and one shared

// Experts that have rows. Weights of the others are never read.
struct ActiveExperts {
  int32_t count;
  int32_t expert[kMaxLocalExperts];
};

void list_active_experts(const int32_t* offsets, int32_t experts, ActiveExperts* active);

// Most permuted rows that one dot block takes: their activations stay in the second-level cache
// while the weights stream past.
constexpr int32_t kRowTile = 64;

#endif
