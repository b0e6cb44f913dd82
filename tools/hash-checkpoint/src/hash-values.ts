/**
 * The deterministic weights of the test models: value i of a tensor depends on the tensor's name
 * and on i only, so any language can rebuild a checkpoint from its config (model specification,
 * 10.1).
 */

const GOLDEN_RATIO = 0x9e3779b9;

/** FNV-1a over the UTF-8 bytes of a name, 32 bits. */
function fnv1a(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** The finaliser of MurmurHash3: a bijection of 32-bit numbers without visible structure. */
function mix(value: number): number {
  let x = value;
  x ^= x >>> 16;
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  x ^= x >>> 16;
  return x >>> 0;
}

/**
 * The values of a tensor before rounding to its storage type.
 *
 * @param name full checkpoint name, the seed
 * @param elements number of values, row-major
 * @param scale width of the interval: values lie in [-scale/2, scale/2)
 */
export function hashValues(name: string, elements: number, scale: number): Float32Array {
  const seed = fnv1a(name);
  const values = new Float32Array(elements);
  let counter = seed;
  for (let i = 0; i < elements; i++) {
    counter = (counter + GOLDEN_RATIO) | 0;
    values[i] = ((mix(counter) >>> 8) / 16_777_216 - 0.5) * scale;
  }
  return values;
}

/**
 * Token ids of the test sequences: 3 + hash mod (vocabulary - 62), so low ids stay free for roles.
 */
export function hashTokens(count: number, vocabSize: number): number[] {
  return Array.from(
    { length: count },
    (_, j) => 3 + (mix((Math.imul(j, GOLDEN_RATIO) + 12345) >>> 0) % (vocabSize - 62)),
  );
}
