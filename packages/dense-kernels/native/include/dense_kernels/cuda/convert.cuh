// Conversions between fp32 and the narrow formats, on the device. The values are those of
// dense_kernels/bf16.h and dense_kernels/mxfp8.h, bit for bit, except that every NaN is the quiet
// one of the hardware. Nothing here depends on alignment.
#ifndef DENSE_KERNELS_CUDA_CONVERT_CUH
#define DENSE_KERNELS_CUDA_CONVERT_CUH

#include <stdint.h>

namespace dense_kernels::cuda {

// A bf16 value in memory.
struct Bf16 {
  uint16_t bits;
};

// ---- bf16 --------------------------------------------------------------------------------------

__device__ __forceinline__ float to_f32(float value) { return value; }
__device__ __forceinline__ float to_f32(Bf16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}

// Two values to one word, `low` in the low half; nearest, ties to even.
__device__ __forceinline__ uint32_t f32_to_bf16x2(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

// The halves of a word of two bf16; exact.
__device__ __forceinline__ float bf16x2_low(uint32_t word) { return __uint_as_float(word << 16); }
__device__ __forceinline__ float bf16x2_high(uint32_t word) {
  return __uint_as_float(word & 0xffff0000u);
}

// round_to<float>(x) is x, round_to<Bf16>(x) the nearest bf16.
template <typename T>
__device__ __forceinline__ T round_to(float value);
template <>
__device__ __forceinline__ float round_to<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ Bf16 round_to<Bf16>(float value) {
  return Bf16{static_cast<uint16_t>(f32_to_bf16x2(value, 0.0f))};
}

// Both halves multiplied, rounded once; subnormals are kept.
__device__ __forceinline__ uint32_t bf16x2_multiply(uint32_t a, uint32_t b) {
  uint32_t product;
#if __CUDA_ARCH__ >= 900
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
#else
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000u));
#endif
  return product;
}

// ---- e8m0 --------------------------------------------------------------------------------------

// 2^(scale - 127) as fp32; byte 0 is a subnormal, byte 255 NaN.
__device__ __forceinline__ float e8m0_to_f32(uint32_t scale) {
  const uint32_t bits = scale == 0 ? 0x00400000u : scale << 23;
  return __uint_as_float(scale == 255 ? 0x7fc00000u : bits);
}

// 2^(scale - 127) in both halves of a word of two bf16.
__device__ __forceinline__ uint32_t e8m0_to_bf16x2(uint32_t scale) {
  const uint32_t bits = scale == 0 ? 0x0040u : scale << 7;
  return (scale == 255 ? 0x7fc0u : bits) * 0x00010001u;
}

// ---- e4m3 --------------------------------------------------------------------------------------

// Whether one of the four codes of a word is NaN (0x7f or 0xff).
__device__ __forceinline__ bool e4m3x4_has_nan(uint32_t codes) {
  return (((codes & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u) != 0;
}

// Collects in bits 7, 15, 23 and 31 whether there was a NaN: adding 1 to a code turns its highest
// bit over if the others are ones. What one NaN carries into the next code changes nothing. A
// caller may hide from the compiler that `one` is 1: then the sum is made where products are, if
// the other units are busy.
__device__ __forceinline__ void find_nan(uint32_t& found, uint32_t codes,
                                         uint32_t one = 1) {
  found |= (codes * one + 0x01010101u) ^ codes;
}
constexpr uint32_t kNanBits = 0x80808080u;

// Exact, any code.
__device__ __forceinline__ float e4m3_to_f32(uint32_t code) {
  const uint32_t sign = (code & 0x80u) << 24;
  const uint32_t magnitude = code & 0x7fu;
  // Four exponent and three mantissa bits in place: the value times 2^-120, subnormals included.
  const float scaled = __uint_as_float(sign | magnitude << 20) * 0x1p120f;
  return magnitude == 0x7fu ? __uint_as_float(sign | 0x7fc00000u) : scaled;
}

// The four codes of a word, byte 0 first; exact, any code.
__device__ __forceinline__ void e4m3x4_to_f32(uint32_t codes, float (&value)[4]) {
#if __CUDA_ARCH__ >= 890
  asm("{\n"
      ".reg .b16 low, high, a, b, c, d;\n"
      ".reg .b32 ab, cd;\n"
      "mov.b32 {low, high}, %4;\n"
      "cvt.rn.f16x2.e4m3x2 ab, low;\n"
      "cvt.rn.f16x2.e4m3x2 cd, high;\n"
      "mov.b32 {a, b}, ab;\n"
      "mov.b32 {c, d}, cd;\n"
      "cvt.f32.f16 %0, a;\n"
      "cvt.f32.f16 %1, b;\n"
      "cvt.f32.f16 %2, c;\n"
      "cvt.f32.f16 %3, d;\n"
      "}"
      : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
      : "r"(codes));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) value[i] = e4m3_to_f32(codes >> (8 * i) & 0xffu);
#endif
}

// Two codes, in bytes 1 and 3 of a word whose bytes 0 and 2 are 0, as bf16 times 2^-120: the sign
// at bit 15 and the seven magnitude bits at bits 10 to 4 are that, subnormals included.
__device__ __forceinline__ uint32_t e4m3x2_placed(uint32_t codes) {
  return (codes & 0x80008000u) | (codes >> 4 & 0x07f007f0u);
}

// What placed codes are multiplied by: 2^120 * 2^(scale - 127) in both halves of a
// word, for scale bytes up to 134.
__device__ __forceinline__ uint32_t e4m3_factor(uint32_t scale) {
  return (scale + 120u) * 0x00800080u;
}

// The four codes of a word times one scale, as two words of two bf16: codes (0, 1) and (2, 3), the
// lower code in the low half. For codes without NaN and scale bytes up to 134, which are those of a
// model's weights; exact when the scale byte is at least 3, else rounded once.
__device__ __forceinline__ void e4m3x4_to_bf16_plain(uint32_t codes, uint32_t scale, uint32_t& low,
                                                     uint32_t& high) {
  const uint32_t factor = e4m3_factor(scale);
  low = bf16x2_multiply(e4m3x2_placed(__byte_perm(codes, 0, 0x1404)), factor);
  high = bf16x2_multiply(e4m3x2_placed(__byte_perm(codes, 0, 0x3424)), factor);
}

// As e4m3x4_to_bf16_plain, with the factor made once for many words: each pair of codes is widened
// to 16 bits with its signs, moved, cleared of the surplus signs and multiplied.
__device__ __forceinline__ void e4m3x4_to_bf16_by(uint32_t codes, uint32_t factor, uint32_t& low,
                                                  uint32_t& high) {
  uint32_t first, second;  // 0x9180: byte 0, its sign eight times, byte 1, its sign; 0xb3a2: 2 and 3
  asm("prmt.b32 %0, %1, 0, 0x9180;" : "=r"(first) : "r"(codes));
  asm("prmt.b32 %0, %1, 0, 0xb3a2;" : "=r"(second) : "r"(codes));
  low = bf16x2_multiply(first * 16u & 0x87f087f0u, factor);
  high = bf16x2_multiply(second * 16u & 0x87f087f0u, factor);
}

// Whether e4m3x4_to_bf16_plain would be wrong.
__device__ __forceinline__ bool e4m3x4_is_special(uint32_t codes, uint32_t scale) {
  return scale > 134 || e4m3x4_has_nan(codes);
}

// The same for any codes and scale; NaN codes and scale 255 give NaN. Exact when the scale byte is
// 3 to 246, else rounded once.
__device__ __forceinline__ void e4m3x4_to_bf16(uint32_t codes, uint32_t scale, uint32_t& low,
                                               uint32_t& high) {
  if (!e4m3x4_is_special(codes, scale)) {
    e4m3x4_to_bf16_plain(codes, scale, low, high);
    return;
  }
  // Not in one factor, which bf16 may not hold; the first product is exact.
  const uint32_t factor = e8m0_to_bf16x2(scale);
  const uint32_t a = bf16x2_multiply(e4m3x2_placed(__byte_perm(codes, 0, 0x1404)), 0x7b807b80u);
  const uint32_t b = bf16x2_multiply(e4m3x2_placed(__byte_perm(codes, 0, 0x3424)), 0x7b807b80u);
  low = bf16x2_multiply(a, factor);
  high = bf16x2_multiply(b, factor);
  if ((codes & 0x7fu) == 0x7fu) low |= 0x00007fc0u;
  if ((codes & 0x7f00u) == 0x7f00u) low |= 0x7fc00000u;
  if ((codes & 0x7f0000u) == 0x7f0000u) high |= 0x00007fc0u;
  if ((codes & 0x7f000000u) == 0x7f000000u) high |= 0x7fc00000u;
}

// Nearest, ties to even, saturating to +-448; NaN gives 0x7f, -0 gives 0x80.
__device__ __forceinline__ uint32_t f32_to_e4m3(float value) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t sign = bits >> 24 & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fu;
  if (magnitude >= 0x43e00000u) return sign | 0x7eu;  // 448 and above
  if (magnitude < 0x3c800000u) {                      // below 2^-6: steps of 2^-9
    // Adding 2^14, whose last place is 2^-9, makes the adder do the rounding.
    return sign | (__float_as_uint(__uint_as_float(magnitude) + 16384.0f) - 0x46800000u);
  }
  return sign | ((magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23)) >> 20);
}

// Four values to one word, value 0 in byte 0.
__device__ __forceinline__ uint32_t f32_to_e4m3x4(float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 890
  uint32_t word;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n"
      "}"
      : "=r"(word)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return word;
#else
  return f32_to_e4m3(a) | f32_to_e4m3(b) << 8 | f32_to_e4m3(c) << 16 | f32_to_e4m3(d) << 24;
#endif
}

}  // namespace dense_kernels::cuda

#endif
