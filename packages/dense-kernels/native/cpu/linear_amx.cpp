// linear's dot blocks for AMX-TILE + AMX-BF16; see dense_kernels/dot_block_amx.h.

#include "dense_kernels/dot_block_amx.h"
#include "linear_levels.h"

PackedDotFunction linear_dot_amx(LinearWeight weight) {
  if (weight == LinearWeight::kMxfp8) return dot_block_mxfp8_bf16_amx;
  return weight == LinearWeight::kBf16 ? dot_block_bf16_bf16_amx : nullptr;
}

int64_t linear_packed_columns(int32_t in) { return amx_padded_columns(in); }

void linear_pack_amx(const void* const* x, int32_t tokens, int32_t in, uint16_t* packed) {
  amx_pack(x, tokens, in, packed, 0, (tokens + kAmxTokens - 1) / kAmxTokens);
}
