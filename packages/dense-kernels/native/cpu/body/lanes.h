// Sixteen floats at a time, on the widest vectors that the translation unit may use.
//
// The logical width is 16 at every level, sums over lanes are taken in one fixed order and nothing
// is contracted into fma, so baseline, AVX2 and AVX-512 give the same bits. Everything here has
// internal linkage: a file compiled for one instruction set must not define weak symbols.
// GCC and Clang vector extensions; no intrinsics needed.
#ifndef DENSE_KERNELS_CPU_BODY_LANES_H
#define DENSE_KERNELS_CPU_BODY_LANES_H

#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed only between inlined functions
#endif

#define LANES_INLINE inline __attribute__((always_inline, unused))

namespace {

constexpr int kLanes = 16;
#if defined(__AVX512F__)
constexpr int kPartLanes = 16;
#elif defined(__AVX2__)
constexpr int kPartLanes = 8;
#else
constexpr int kPartLanes = 4;
#endif
constexpr int kParts = kLanes / kPartLanes;

typedef float PartF __attribute__((vector_size(kPartLanes * 4)));
typedef int32_t PartI __attribute__((vector_size(kPartLanes * 4)));
typedef uint32_t PartU __attribute__((vector_size(kPartLanes * 4)));
typedef uint16_t PartH __attribute__((vector_size(kPartLanes * 2)));

// A bf16 value in memory.
struct Bf16 {
  uint16_t bits;
};

struct Floats {
  PartF part[kParts];
};

#define LANES_BINARY(op)                                                          \
  LANES_INLINE Floats operator op(const Floats& a, const Floats& b) {             \
    Floats r;                                                                     \
    for (int i = 0; i < kParts; ++i) r.part[i] = a.part[i] op b.part[i];          \
    return r;                                                                     \
  }
LANES_BINARY(+)
LANES_BINARY(-)
LANES_BINARY(*)
LANES_BINARY(/)
#undef LANES_BINARY

LANES_INLINE Floats splat(float value) {
  Floats r;
  for (int i = 0; i < kParts; ++i) r.part[i] = value - (PartF){};
  return r;
}

// a < b ? a : b, so a NaN in b stays NaN, one in a is dropped: pass the data as b.
LANES_INLINE Floats at_most(const Floats& limit, const Floats& x) {
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    r.part[i] = limit.part[i] < x.part[i] ? limit.part[i] : x.part[i];
  }
  return r;
}

LANES_INLINE Floats at_least(const Floats& limit, const Floats& x) {
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    r.part[i] = limit.part[i] > x.part[i] ? limit.part[i] : x.part[i];
  }
  return r;
}

// NaN becomes -inf.
LANES_INLINE Floats without_nan(const Floats& x) {
  const Floats lowest = splat(-__builtin_inff());
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    r.part[i] = x.part[i] == x.part[i] ? x.part[i] : lowest.part[i];
  }
  return r;
}

LANES_INLINE Floats load(const float* from) {
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    __builtin_memcpy(&r.part[i], from + i * kPartLanes, sizeof(PartF));
  }
  return r;
}

LANES_INLINE Floats load(const Bf16* from) {
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    PartH half;
    __builtin_memcpy(&half, from + i * kPartLanes, sizeof half);
    r.part[i] = (PartF)(__builtin_convertvector(half, PartU) << 16);
  }
  return r;
}

LANES_INLINE void store(float* to, const Floats& x) {
  for (int i = 0; i < kParts; ++i) {
    __builtin_memcpy(to + i * kPartLanes, &x.part[i], sizeof(PartF));
  }
}

// Nearest, ties to even; a NaN stays a (quiet) NaN.
LANES_INLINE void store(Bf16* to, const Floats& x) {
  for (int i = 0; i < kParts; ++i) {
    const PartU bits = (PartU)x.part[i];
    const PartU rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    const PartU quiet = (bits >> 16) | 0x40u;
    const PartU word = x.part[i] == x.part[i] ? rounded : quiet;
    const PartH half = __builtin_convertvector(word, PartH);
    __builtin_memcpy(to + i * kPartLanes, &half, sizeof half);
  }
}

// The first `count` < 16 elements; the other lanes are 0.
template <typename T>
LANES_INLINE Floats load_some(const T* from, int count) {
  T padded[kLanes] = {};
  for (int i = 0; i < count; ++i) padded[i] = from[i];
  return load(padded);
}

template <typename T>
LANES_INLINE void store_some(T* to, const Floats& x, int count) {
  T padded[kLanes];
  store(padded, x);
  for (int i = 0; i < count; ++i) to[i] = padded[i];
}

// The sixteen lanes added in a fixed tree, in double.
LANES_INLINE double sum_lanes(const Floats& x) {
  float lane[kLanes];
  store(lane, x);
  double tree[kLanes / 2];
  for (int i = 0; i < kLanes / 2; ++i) tree[i] = (double)lane[i] + (double)lane[i + kLanes / 2];
  for (int width = kLanes / 4; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) tree[i] += tree[i + width];
  }
  return tree[0];
}

LANES_INLINE float max_lanes(const Floats& x) {
  float lane[kLanes];
  store(lane, x);
  float most = lane[0];
  for (int i = 1; i < kLanes; ++i) most = lane[i] > most ? lane[i] : most;
  return most;
}

// e^x within 1.5 ulp over all floats: exact 0 below -103.98, +inf above 88.73, subnormal results
// rounded once, NaN stays NaN. x = n ln2 + r with |r| <= ln2 / 2, e^r by its Taylor
// polynomial of degree 7 (5e-9), 2^n in two factors so that neither leaves the range of a float.
LANES_INLINE Floats exp(const Floats& argument) {
  const float kLog2E = 1.44269504088896341f;
  const float kLn2High = 0.693145751953125f;  // 15 bits: n * kLn2High is exact for |n| < 512
  const float kLn2Low = 1.42860682030941723e-6f;
  const float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const Floats x = at_least(splat(-104.0f), at_most(splat(89.0f), argument));
  Floats r;
  for (int i = 0; i < kParts; ++i) {
    const PartF shifted = x.part[i] * kLog2E + kRounder;
    const PartF n = shifted - kRounder;
    const PartF rest = (x.part[i] - n * kLn2High) - n * kLn2Low;
    PartF p = rest * 1.98412698e-4f + 1.38888889e-3f;
    p = p * rest + 8.33333333e-3f;
    p = p * rest + 4.16666667e-2f;
    p = p * rest + 1.66666667e-1f;
    p = p * rest + 0.5f;
    p = (p * rest * rest + rest) + 1.0f;
    const PartI exponent = (PartI)shifted - 0x4B400000;
    const PartI first = exponent >> 1;
    const PartI second = exponent - first;
    const PartF scale = (PartF)((first + 127) << 23);
    r.part[i] = p * scale * (PartF)((second + 127) << 23);
  }
  return r;
}

// 1 / (1 + e^-x) from e^-|x|, which neither overflows nor loses the digits of a tiny result.
LANES_INLINE Floats sigmoid(const Floats& x) {
  Floats power;
  for (int i = 0; i < kParts; ++i) power.part[i] = (PartF)((PartU)x.part[i] | 0x80000000u);
  power = exp(power);
  const Floats one = splat(1.0f);
  Floats top;
  for (int i = 0; i < kParts; ++i) top.part[i] = x.part[i] < 0.0f ? power.part[i] : one.part[i];
  return top / (one + power);
}

}  // namespace

#endif
