import { describe, expect, test } from 'vitest';
import { bf16ToF32, f32ToBf16, roundBf16 } from './bf16.js';
import { e4m3ToF32, f32ToE4m3 } from './e4m3.js';
import { e8m0ToF32, f32ToE8m0 } from './e8m0.js';
import { f16ToF32, f32ToF16 } from './f16.js';
import { seededRandom } from './seeded-random.js';

interface Format {
  readonly name: string;
  readonly patterns: number;
  readonly encode: (values: Float32Array) => Uint8Array | Uint16Array;
  readonly decode: (patterns: never) => Float32Array;
  readonly table: Float32Array;
}

const formats: readonly Format[] = [
  format('bf16', 65_536, f32ToBf16, bf16ToF32, Uint16Array),
  format('f16', 65_536, f32ToF16, f16ToF32, Uint16Array),
  format('e4m3', 256, f32ToE4m3, e4m3ToF32, Uint8Array),
];

describe.each(formats)('$name', ({ patterns, encode, table }) => {
  test('every pattern that is a number survives a round trip', () => {
    const again = encode(table);
    for (let pattern = 0; pattern < patterns; pattern += 1) {
      if (!Number.isNaN(table[pattern])) expect(again[pattern]).toBe(pattern);
    }
  });

  test('NaN stays NaN', () => {
    const bits = encode(Float32Array.of(Number.NaN));
    expect(table[bits[0] ?? 0]).toBeNaN();
  });

  test('rounds to the nearest value, and halfway to the even pattern', () => {
    const half = patterns / 2;
    const positive = [...table.slice(0, half)].flatMap((value, pattern) =>
      Number.isFinite(value) ? [{ value, pattern }] : [],
    );
    const random = seededRandom(7);
    for (let round = 0; round < 2000; round += 1) {
      const at = random.integer(0, positive.length - 1);
      const [low, high] = [positive[at], positive[at + 1]];
      if (!low || !high) throw new Error('outside the table');
      const middle = low.value / 2 + high.value / 2;
      const nearLow = low.value * 0.75 + high.value * 0.25;
      const even = low.pattern % 2 === 0 ? low.pattern : high.pattern;
      const bits = encode(Float32Array.of(middle, nearLow, -middle));
      expect([...bits]).toEqual([even, low.pattern, even + half]);
    }
  });
});

describe('limits', () => {
  test('bf16 and f16 overflow to infinity, e4m3 saturates', () => {
    expect(roundBf16(3.4e38)).toBe(Infinity);
    expect(f16ToF32(f32ToF16(Float32Array.of(65_519, 65_520, -1e30)))).toEqual(
      Float32Array.of(65_504, Infinity, -Infinity),
    );
    const large = f32ToE4m3(Float32Array.of(448, 463, 464, 1e9, -Infinity));
    expect([...large]).toEqual([0x7e, 0x7e, 0x7e, 0x7e, 0xfe]);
  });

  test('e4m3 follows the vectors of the MX specification', () => {
    const values = Float32Array.of(17, 19, 20, 432, 2 ** -6, 2 ** -9, 2 ** -10, 1.5 * 2 ** -9, -0);
    const bits = [0x58, 0x5a, 0x5a, 0x7e, 0x08, 0x01, 0x00, 0x02, 0x80];
    expect([...f32ToE4m3(values)]).toEqual(bits);
  });

  test('e8m0 takes the nearest power of two and refuses what has none', () => {
    const values = Float32Array.of(1, 2 ** -127, 2 ** 127, 1.4, 1.6, 3);
    expect([...f32ToE8m0(values)]).toEqual([127, 0, 254, 127, 128, 128]);
    expect([...e8m0ToF32(Uint8Array.of(0, 127, 254))]).toEqual([2 ** -127, 1, 2 ** 127]);
    expect(e8m0ToF32(Uint8Array.of(255))[0]).toBeNaN();
    expect(() => f32ToE8m0(Float32Array.of(0))).toThrow('not positive');
  });
});

function format<A extends Uint8Array | Uint16Array>(
  name: string,
  patterns: number,
  encode: (values: Float32Array) => A,
  decode: (patterns: A) => Float32Array,
  array: { from(source: ArrayLike<number>): A },
): Format {
  const all = array.from(Array.from({ length: patterns }, (_, pattern) => pattern));
  return { name, patterns, encode, decode, table: decode(all) };
}
