// Sixteen floats at a time, on the widest vectors that the translation unit may use.
//
// The logical width is 16 at every level, sums over lanes are taken in one fixed order and nothing
// is contracted into fma, so baseline, AVX2 and AVX-512 give the same bits. Everything here has
// internal linkage: a file compiled for one instruction set must not define weak symbols.
// GCC and Clang vector extensions; intrinsics only where compilers do badly without. Other kernel
// packages include it too.
#ifndef DENSE_KERNELS_CPU_LANES_H
#define DENSE_KERNELS_CPU_LANES_H

#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

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
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m128i half = _mm_loadu_si128((const __m128i*)(from + i * kPartLanes));
    r.part[i] = (PartF)_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16);
#else
    PartH half;
    __builtin_memcpy(&half, from + i * kPartLanes, sizeof half);
    r.part[i] = (PartF)(__builtin_convertvector(half, PartU) << 16);
#endif
  }
  return r;
}

LANES_INLINE void store(float* to, const Floats& x) {
  for (int i = 0; i < kParts; ++i) {
    __builtin_memcpy(to + i * kPartLanes, &x.part[i], sizeof(PartF));
  }
}

// The low halves of sixteen words, in order.
LANES_INLINE void store_low_halves(uint16_t* to, const PartU (&words)[kParts]) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  // Packing works within 128 bits: quarters come as 0, 2, 1, 3.
  const __m256i packed = _mm256_packus_epi32((__m256i)words[0], (__m256i)words[1]);
  _mm256_storeu_si256((__m256i*)to, _mm256_permute4x64_epi64(packed, 0xD8));
#elif defined(__SSE2__) && !defined(__AVX512F__)
  for (int i = 0; i < kParts; i += 2) {  // SSE2 packs signed numbers only
    const __m128i first = _mm_srai_epi32(_mm_slli_epi32((__m128i)words[i], 16), 16);
    const __m128i second = _mm_srai_epi32(_mm_slli_epi32((__m128i)words[i + 1], 16), 16);
    _mm_storeu_si128((__m128i*)(to + i * kPartLanes), _mm_packs_epi32(first, second));
  }
#else
  for (int i = 0; i < kParts; ++i) {
    const PartH half = __builtin_convertvector(words[i], PartH);
    __builtin_memcpy(to + i * kPartLanes, &half, sizeof half);
  }
#endif
}

// Whether a lane may be NaN; exact on x86, where one comparison looks at two vectors.
LANES_INLINE bool may_have_nan(const Floats& x) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  return _mm256_movemask_ps(_mm256_cmp_ps(x.part[0], x.part[1], _CMP_UNORD_Q)) != 0;
#elif defined(__SSE2__) && !defined(__AVX512F__)
  const __m128 low = _mm_cmpunord_ps(x.part[0], x.part[1]);
  const __m128 high = _mm_cmpunord_ps(x.part[2], x.part[3]);
  return _mm_movemask_ps(_mm_or_ps(low, high)) != 0;
#else
  (void)x;
  return true;
#endif
}

// Nearest, ties to even; a NaN stays a (quiet) NaN. Without one, which is the rule, no lane has to
// choose, which spares a third of the work.
LANES_INLINE void store(Bf16* to, const Floats& x) {
  PartU words[kParts];
  for (int i = 0; i < kParts; ++i) {
    const PartU bits = (PartU)x.part[i];
    words[i] = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  }
  if (__builtin_expect(may_have_nan(x), 0)) {
    for (int i = 0; i < kParts; ++i) {
      const PartU quiet = ((PartU)x.part[i] >> 16) | 0x40u;
      words[i] = x.part[i] == x.part[i] ? words[i] : quiet;
    }
  }
  store_low_halves(&to->bits, words);
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
