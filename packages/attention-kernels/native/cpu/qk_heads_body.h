// Norm and rotation of a token's heads, compiled once per instruction set with internal linkage.
//
// Nothing is contracted into fma and the squares are summed in eight lanes at every level, so
// baseline and AVX2 give the same bits. One pass widens a head into the L1 cache and sums its
// squares, a second one norms, rotates, rounds and stores.
#ifndef ATTENTION_KERNELS_QK_HEADS_BODY_H
#define ATTENTION_KERNELS_QK_HEADS_BODY_H

#include "dense_kernels/bf16.h"
#include "dense_kernels/cpu/lanes.h"
#include "qk_heads.h"

namespace attention_kernels {
namespace {

static_assert(kMaxDims % kLanes == 0);
static_assert(kParts % 2 == 0, "eight lanes are half of the parts");

// The first `count` elements, at most sixteen; the other lanes are 0.
template <typename T>
LANES_INLINE Floats load_up_to(const T* from, int32_t count) {
  return count >= kLanes ? load(from) : load_some(from, count);
}

// 1 + w, formed once for all heads; 1 without a weight, which changes no bit of x.
LANES_INLINE void fill_gains(const TokenHeads& heads, float* gains) {
  const Floats one = splat(1.0f);
  for (int32_t d = 0; d < heads.dims; d += kLanes) {
    Floats gain = one;
    if (heads.weight != nullptr) {
      const int32_t left = heads.dims - d;
      gain = one + (heads.weights_f32
                        ? load_up_to(static_cast<const float*>(heads.weight) + d, left)
                        : load_up_to(static_cast<const Bf16*>(heads.weight) + d, left));
    }
    store(gains + d, gain);
  }
}

// Widens a head into x, a multiple of sixteen long, zeros behind. The sum of squares: lane i takes
// the elements d with d % 8 = i in ascending order, then the lanes are joined in a tree.
template <typename T>
LANES_INLINE float widen_and_square(const T* from, int32_t dims, float* x) {
  PartF sums[kParts / 2] = {};
  for (int32_t d = 0; d < dims; d += kLanes) {
    const Floats part = load_up_to(from + d, dims - d);
    store(x + d, part);
    const Floats squares = part * part;
    for (int i = 0; i < kParts; ++i) sums[i % (kParts / 2)] += squares.part[i];
  }
  float lanes[8];
  __builtin_memcpy(lanes, sums, sizeof lanes);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

LANES_INLINE void put(float* to, float value) { *to = value; }
LANES_INLINE void put(Bf16* to, float value) { to->bits = f32_to_bf16(value); }

// A widened head and what it is multiplied with.
struct NormedHead {
  const float* x;
  const float* gains;
  float inverse;

  LANES_INLINE float at(int32_t d) const { return x[d] * inverse * gains[d]; }
  LANES_INLINE Floats from(int32_t d) const {
    return load(x + d) * splat(inverse) * load(gains + d);
  }
};

// Sixteen pairs (i, i + pairs) from `i` on.
template <typename T>
LANES_INLINE void rotate_sixteen(const NormedHead& head, const Rotation& rotation, int32_t i,
                                 T* out) {
  const int32_t j = i + rotation.pairs;
  const Floats low = head.from(i), high = head.from(j);
  const Floats cosine = load(rotation.cosines + i), sine = load(rotation.sines + i);
  store(out + i, low * cosine - high * sine);
  store(out + j, high * cosine + low * sine);
}

// Where a rest of less than sixteen remains, the last sixteen are done again: they come from the
// widened copy, so the results are the same. Shorter ranges go one by one.
template <typename T>
LANES_INLINE void rotate_pairs(const NormedHead& head, const Rotation& rotation, T* out) {
  const int32_t pairs = rotation.pairs;
  int32_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) rotate_sixteen(head, rotation, i, out);
  if (i < pairs && i > 0) {
    rotate_sixteen(head, rotation, pairs - kLanes, out);
    return;
  }
  for (; i < pairs; ++i) {
    const float low = head.at(i), high = head.at(i + pairs);
    put(out + i, low * rotation.cosines[i] - high * rotation.sines[i]);
    put(out + i + pairs, high * rotation.cosines[i] + low * rotation.sines[i]);
  }
}

// Dims [first, dims), which are normed but not rotated; a rest as in rotate_pairs.
template <typename T>
LANES_INLINE void store_normed(const NormedHead& head, int32_t first, int32_t dims, T* out) {
  int32_t d = first;
  for (; d + kLanes <= dims; d += kLanes) store(out + d, head.from(d));
  if (d < dims && d > first) {
    store(out + dims - kLanes, head.from(dims - kLanes));
    return;
  }
  for (; d < dims; ++d) put(out + d, head.at(d));
}

template <typename T>
inline void norm_and_rotate(const TokenHeads& heads, const Rotation& rotation) {
  float gains[kMaxDims];
  float x[kMaxDims];
  fill_gains(heads, gains);
  const float count = static_cast<float>(heads.dims);
  for (int64_t head = 0; head < heads.heads; ++head) {
    const int64_t first = head * heads.dims;
    const float sum = widen_and_square(static_cast<const T*>(heads.in) + first, heads.dims, x);
    const float inverse =
        heads.weight != nullptr ? 1.0f / __builtin_sqrtf(sum / count + heads.eps) : 1.0f;
    T* out = static_cast<T*>(heads.out) + first;
    rotate_pairs({x, gains, inverse}, rotation, out);
    store_normed({x, gains, inverse}, 2 * rotation.pairs, heads.dims, out);
  }
}

}  // namespace
}  // namespace attention_kernels

#endif
