// exp over lanes, for arguments that softmax makes (x <= 0). Included after one vector header.
#ifndef ATTENTION_KERNELS_VECTOR_EXPONENTIAL_H
#define ATTENTION_KERNELS_VECTOR_EXPONENTIAL_H

namespace attention_kernels {
namespace {

// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 P(r), where P is our minimax fit of
// degree 4 (relative error 3.1e-9, a twentieth of an fp32 rounding). Below the smallest normal
// number the result is 0; NaN stays NaN.
inline Vec exp_nonpositive(Vec x) {
  constexpr float kFloor = -87.3365f;      // ln of the smallest normal fp32
  constexpr float kWhole = 12582912.0f;    // 1.5 * 2^23: adding it rounds to a whole number
  constexpr float kLn2High = 0.693359375f; // 9 bits, so that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  const Vec floored = larger(splat(kFloor), x);
  const Vec n = sub(fma(floored, splat(1.44269504f), splat(kWhole)), splat(kWhole));
  const Vec r = fma(n, splat(-kLn2Low), fma(n, splat(-kLn2High), floored));
  Vec polynomial = splat(0.00138145401f);
  polynomial = fma(polynomial, r, splat(0.00836874511f));
  polynomial = fma(polynomial, r, splat(0.0416683908f));
  polynomial = fma(polynomial, r, splat(0.166665204f));
  polynomial = fma(polynomial, r, splat(0.499999934f));
  const Vec value = add(splat(1.0f), fma(mul(r, r), polynomial, r));
  return zero_below(x, splat(kFloor), scale_by_power(value, n));
}

}  // namespace
}  // namespace attention_kernels

#endif
