#include "cpu/device/move_bytes.h"

#include <algorithm>
#include <cstring>

namespace cuda_runtime::cpu {

// Where the target begins inside the source, the last piece goes first: none is read after it was
// written to.
void move_bytes(uint8_t* to, const uint8_t* from, uint64_t bytes, void (*piece_done)()) {
  const bool is_backward = to > from;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = std::min(bytes - done, kPieceBytes);
    const uint64_t offset = is_backward ? bytes - done - piece : done;
    std::memmove(to + offset, from + offset, piece);
    done += piece;
    piece_done();
  }
}

void fill_bytes(uint8_t* to, uint8_t byte, uint64_t bytes, void (*piece_done)()) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = std::min(bytes - done, kPieceBytes);
    std::memset(to + done, byte, piece);
    done += piece;
    piece_done();
  }
}

}  // namespace cuda_runtime::cpu
