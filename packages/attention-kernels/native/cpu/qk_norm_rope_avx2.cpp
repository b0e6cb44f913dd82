// Norm and rotation of a token's heads, AVX2.
#include "qk_heads_body.h"

void attention_kernels::norm_and_rotate_bf16_avx2(const TokenHeads& heads,
                                                  const Rotation& rotation) {
  norm_and_rotate<Bf16>(heads, rotation);
}

void attention_kernels::norm_and_rotate_f32_avx2(const TokenHeads& heads,
                                                 const Rotation& rotation) {
  norm_and_rotate<float>(heads, rotation);
}
