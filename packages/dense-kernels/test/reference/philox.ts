const mask = 0xffff_ffffn;

/** Philox4x32-10 of Random123 with a 64-bit key; words are unsigned 32-bit. */
export function referencePhilox(counter: readonly number[], key: bigint): number[] {
  let [c0 = 0n, c1 = 0n, c2 = 0n, c3 = 0n] = counter.map(BigInt);
  let low = BigInt.asUintN(64, key) & mask;
  let high = BigInt.asUintN(64, key) >> 32n;
  for (let round = 0; round < 10; round += 1) {
    const a = 0xd251_1f53n * c0;
    const b = 0xcd9e_8d57n * c2;
    [c0, c1, c2, c3] = [(b >> 32n) ^ c1 ^ low, b & mask, (a >> 32n) ^ c3 ^ high, a & mask];
    low = (low + 0x9e37_79b9n) & mask;
    high = (high + 0xbb67_ae85n) & mask;
  }
  return [c0, c1, c2, c3].map(Number);
}

/** The number in [0, 1) that a row with this seed and position draws with: 53 bits. */
export function referenceUnit(seed: bigint, position: number): number {
  const [high = 0, low = 0] = referencePhilox([position, 0, 0, 0], seed);
  return Number(((BigInt(high) << 32n) | BigInt(low)) >> 11n) / 2 ** 53;
}
