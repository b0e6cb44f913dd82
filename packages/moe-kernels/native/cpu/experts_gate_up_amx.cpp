// Dot products of the experts for AMX; the down projection uses them too.

#include "body/expert_dots.h"
#include "dense_kernels/dot_block_amx.h"

const PackedDotFunction kExpertPackedDotsAmx[3] = {dot_block_mxfp8_bf16_amx,
                                                   dot_block_bf16_bf16_amx, nullptr};

int64_t expert_packed_columns(int64_t in) { return amx_padded_columns((int32_t)in); }

void expert_pack_amx(const void* const* x, int32_t count, int64_t in, uint16_t* packed) {
  amx_pack(x, count, (int32_t)in, packed, 0, (count + kAmxTokens - 1) / kAmxTokens);
}
