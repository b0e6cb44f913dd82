// Moving and filling memory in pieces, so that the watchdog sees a long one go on.
#pragma once

#include <cstdint>

namespace cuda_runtime::cpu {

/// Bytes of a piece. First use of this much takes milliseconds, on a busy machine some tens.
inline constexpr uint64_t kPieceBytes = 4u << 20;

/// As `memmove`: the ranges may overlap. Calls `piece_done` behind each piece.
void move_bytes(uint8_t* to, const uint8_t* from, uint64_t bytes, void (*piece_done)());

/// As `memset`.
void fill_bytes(uint8_t* to, uint8_t byte, uint64_t bytes, void (*piece_done)());

}  // namespace cuda_runtime::cpu
