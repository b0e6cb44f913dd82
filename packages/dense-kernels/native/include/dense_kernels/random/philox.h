/* Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy
 * as 1, 2, 3" (2011). Constants and rounds are theirs; the vectors below are of Random123. */
#ifndef DENSE_KERNELS_RANDOM_PHILOX_H
#define DENSE_KERNELS_RANDOM_PHILOX_H

#include <stdint.h>

struct PhiloxBlock {
  uint32_t word[4];
};

/* Ten rounds over the counter under the 64-bit key. */
static constexpr PhiloxBlock philox(PhiloxBlock counter, uint64_t key) {
  uint32_t key_low = static_cast<uint32_t>(key);
  uint32_t key_high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ull * counter.word[0];
    const uint64_t b = 0xCD9E8D57ull * counter.word[2];
    counter = {{static_cast<uint32_t>(b >> 32) ^ counter.word[1] ^ key_low,
                static_cast<uint32_t>(b),
                static_cast<uint32_t>(a >> 32) ^ counter.word[3] ^ key_high,
                static_cast<uint32_t>(a)}};
    key_low += 0x9E3779B9u;
    key_high += 0xBB67AE85u;
  }
  return counter;
}

/* 53 bits of the block's first two words, in [0, 1). */
static constexpr double philox_unit(const PhiloxBlock& block) {
  const uint64_t bits = static_cast<uint64_t>(block.word[0]) << 32 | block.word[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

static constexpr bool philox_gives(const PhiloxBlock& counter, uint64_t key, const PhiloxBlock& expected) {
  const PhiloxBlock block = philox(counter, key);
  for (int i = 0; i < 4; ++i) {
    if (block.word[i] != expected.word[i]) return false;
  }
  return true;
}

static_assert(philox_gives({{0, 0, 0, 0}}, 0,
                           {{0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u}}));
static_assert(philox_gives({{~0u, ~0u, ~0u, ~0u}}, ~0ull,
                           {{0x408F276Du, 0x41C83B0Eu, 0xA20BC7C6u, 0x6D5451FDu}}));
static_assert(philox_gives({{0x243F6A88u, 0x85A308D3u, 0x13198A2Eu, 0x03707344u}},
                           0x299F31D0A4093822ull,
                           {{0xD16CFE09u, 0x94FDCCEBu, 0x5001E420u, 0x24126EA1u}}));

#endif
