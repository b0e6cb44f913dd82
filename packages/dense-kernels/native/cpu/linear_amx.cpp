// linear's dot blocks for AMX-TILE + AMX-BF16; see dense_kernels/dot_block_amx.h.

#include "dense_kernels/dot_block_amx.h"
#include "linear_levels.h"

PackedDotFunction linear_dot_amx(LinearWeight weight, LinearX x) {
  if (x == LinearX::kF32) {
    return weight == LinearWeight::kMxfp8 ? dot_block_mxfp8_f32_amx : nullptr;
  }
  if (weight == LinearWeight::kMxfp8) return dot_block_mxfp8_bf16_amx;
  return weight == LinearWeight::kBf16 ? dot_block_bf16_bf16_amx : nullptr;
}

int64_t linear_packed_columns(int32_t in, LinearX x) {
  return amx_padded_columns(in) * (x == LinearX::kF32 ? kAmxParts : 1);
}

void linear_pack_amx(const void* const* x, int32_t tokens, int32_t in, LinearX type,
                     uint16_t* packed) {
  if (type == LinearX::kF32) {
    amx_pack_f32(x, tokens, in, packed);
  } else {
    amx_pack(x, tokens, in, packed, 0, (tokens + kAmxTokens - 1) / kAmxTokens);
  }
}
