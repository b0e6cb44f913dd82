// When a mode's results are right.
//
// Two streams and the serial order must agree bit for bit. The fused slot sums shared and routed
// experts in fp32 and rounds once, so it may differ in last bits. Behind many layers of random
// weights that says nothing: a last bit turns a tie of the router, and soon every token goes
// another way. So the fused sum is compared where nothing before it differs, at the first layer
// with experts, and the whole pass with itself: a replay must repeat its bits.

/** Roundings of a bf16 sum in two steps and in one: a few units of 2^-8 of the largest term. */
const mostApart = 2 ** -6;

/** What is wrong with logits that must be those of the serial order; undefined if nothing. */
export function faultOfEqual(values: Float32Array, serial: Float32Array): string | undefined {
  for (const [i, value] of values.entries()) {
    if (!Number.isFinite(value)) return `logit ${i} is ${value}`;
    if (value !== serial[i]) return `value ${i} is ${value}, in serial order ${serial[i]}`;
  }
  return undefined;
}

/** What is wrong with the logits of two replays of the same inputs; undefined if nothing. */
export function faultOfRepeated(first: Float32Array, second: Float32Array): string | undefined {
  for (const [i, value] of first.entries()) {
    if (!Number.isFinite(value)) return `logit ${i} is ${value}`;
    if (value !== second[i]) return `logit ${i} is ${value}, ${second[i]} in the next replay`;
  }
  return undefined;
}

/**
 * What is wrong with the first layer of experts beside that of the serial order; undefined if
 * nothing.
 */
export function faultOfFused(values: Float32Array, serial: Float32Array): string | undefined {
  if (values.length === 0) return 'no layer has experts';
  const fault = faultOfRelative(values, serial);
  return fault && `the first layer of experts: ${fault}`;
}

/**
 * What is wrong with values that round otherwise than those of the serial order; undefined if
 * nothing.
 */
export function faultOfRelative(values: Float32Array, serial: Float32Array): string | undefined {
  let [apart, size] = [0, 0];
  for (const [i, value] of values.entries()) {
    const other = serial[i] ?? Number.NaN;
    apart += (value - other) ** 2;
    size += other ** 2;
  }
  const relative = Math.sqrt(apart / size);
  if (relative <= mostApart) return undefined;
  return `${relative} apart from the serial order, relative to its norm`;
}
