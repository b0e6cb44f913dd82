// Dot products of the experts for AVX2; the down projection uses them too.

#include "body/expert_dots.h"
#include "dense_kernels/dot_block_avx2.h"

const DotBlockFunction kExpertDotsAvx2[3][2] = {
    {dot_block_mxfp8_bf16_avx2, dot_block_mxfp8_f32_avx2},
    {dot_block_bf16_bf16_avx2, dot_block_bf16_f32_avx2},
    {dot_block_f32_bf16_avx2, dot_block_f32_f32_avx2},
};
