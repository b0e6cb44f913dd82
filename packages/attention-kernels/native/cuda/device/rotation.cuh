// Frequencies, cosines and sines of the rotation, in double and rounded to fp32 once: series as
// short as their errors allow (below 1e-15, so that they round as the functions of a library do).
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ROTATION_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ROTATION_CUH

#include <stdint.h>

namespace attention_kernels::cuda {

// 2^x for |x| < 1000.
__device__ __forceinline__ double power_of_two(double x) {
  const double whole = rint(x);
  const double t = (x - whole) * 0.69314718055994530942;  // at most 0.35
  double sum = 1.0 / 6227020800.0;                        // e^t: 1/13!, …
  sum = fma(sum, t, 1.0 / 479001600.0);
  sum = fma(sum, t, 1.0 / 39916800.0);
  sum = fma(sum, t, 1.0 / 3628800.0);
  sum = fma(sum, t, 1.0 / 362880.0);
  sum = fma(sum, t, 1.0 / 40320.0);
  sum = fma(sum, t, 1.0 / 5040.0);
  sum = fma(sum, t, 1.0 / 720.0);
  sum = fma(sum, t, 1.0 / 120.0);
  sum = fma(sum, t, 1.0 / 24.0);
  sum = fma(sum, t, 1.0 / 6.0);
  sum = fma(sum, t, 0.5);
  sum = fma(sum, t, 1.0);
  sum = fma(sum, t, 1.0);
  return sum * __hiloint2double((static_cast<int32_t>(whole) + 1023) << 20, 0);
}

// theta^(-2 pair / rotary_dim), given log2(theta).
__device__ __forceinline__ float frequency_of(int32_t pair, int32_t rotary_dim,
                                              double log2_theta) {
  return static_cast<float>(power_of_two(-2.0 * pair / rotary_dim * log2_theta));
}

struct Rotation {
  float cosine, sine;
};

// Angles beyond what a step of a model has. Not inlined.
static __device__ __noinline__ Rotation rotation_of_large(float angle) {
  double sine, cosine;
  sincos(static_cast<double>(angle), &sine, &cosine);
  return {static_cast<float>(cosine), static_cast<float>(sine)};
}

// Cosine and sine of exactly this number.
__device__ __forceinline__ Rotation rotation_of(float angle) {
  if (!(fabsf(angle) < 2147483648.0f)) return rotation_of_large(angle);
  // The rest of whole quarters of a turn: pi / 2 in two parts, each product exact before it is
  // added.
  const double a = static_cast<double>(angle);
  const double quarters = rint(a * 0.63661977236758134308);
  double r = fma(-quarters, 1.57079632679489655800e+00, a);
  r = fma(-quarters, 6.12323399573676603587e-17, r);
  const double z = r * r;
  // Minimax series for |r| <= pi / 4.
  double s = 1.58969099521155010221e-10;
  s = fma(s, z, -2.50507602534068634195e-08);
  s = fma(s, z, 2.75573137070700676789e-06);
  s = fma(s, z, -1.98412698298579493134e-04);
  s = fma(s, z, 8.33333333332248946124e-03);
  s = fma(s, z, -1.66666666666666324348e-01);
  const float sine = static_cast<float>(fma(s * z, r, r));
  double c = -1.13596475577881948265e-11;
  c = fma(c, z, 2.08757232129817482790e-09);
  c = fma(c, z, -2.75573143513906633035e-07);
  c = fma(c, z, 2.48015872894767294178e-05);
  c = fma(c, z, -1.38888888888741095749e-03);
  c = fma(c, z, 4.16666666666666019037e-02);
  const float cosine = static_cast<float>(fma(c * z, z, fma(z, -0.5, 1.0)));
  const int32_t quarter = static_cast<int32_t>(quarters);
  const bool is_odd = (quarter & 1) != 0;
  const float x = is_odd ? sine : cosine;
  const float y = is_odd ? cosine : sine;
  return {((quarter + 1) & 2) != 0 ? -x : x, (quarter & 2) != 0 ? -y : y};
}

}  // namespace attention_kernels::cuda

#endif
