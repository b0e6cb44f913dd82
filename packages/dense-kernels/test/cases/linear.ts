import { bf16ToF32, e4m3ToF32, f32ToBf16, seededRandom } from '@altstream/cuda-runtime/testing';
import type { LinearWeightKind } from '../../src/linear.weight.js';
import { decodeE8m0 } from '../reference/quantize-mxfp8.js';

/** A product to compute. */
export interface LinearCase {
  readonly name: string;
  readonly tokens: number;
  readonly in: number;
  readonly out: number;
  readonly weight: LinearWeightKind;
  readonly x: 'f32' | 'bf16';
  readonly y: 'f32' | 'bf16';
  /** Columns of the buffer that x is a slice of; default `in`. */
  readonly xColumns?: number;
  /** MXFP8: a NaN, or a block whose scale is far from the others, in every row. */
  readonly hasSpecialBlocks?: boolean;
}

const pairs: readonly Pick<LinearCase, 'weight' | 'x'>[] = [
  { weight: 'f32', x: 'f32' },
  { weight: 'f32', x: 'bf16' },
  { weight: 'bf16', x: 'f32' },
  { weight: 'bf16', x: 'bf16' },
  { weight: 'mxfp8', x: 'f32' },
  { weight: 'mxfp8', x: 'bf16' },
];

/** Around every tile: units of 16 outputs x 64 tokens, tiles of 8 or 4 x 4 or 2, blocks of 32. */
const shapes: readonly (readonly [tokens: number, columns: number, out: number])[] = [
  [0, 64, 8],
  [1, 32, 1],
  [1, 6144, 24],
  [2, 96, 17],
  [3, 64, 31],
  [7, 544, 9],
  [8, 1056, 16],
  [9, 160, 33],
  [31, 96, 15],
  [33, 512, 7],
  [130, 224, 40],
];

/** Lengths that MXFP8 does not allow. */
const oddShapes: readonly (readonly [tokens: number, columns: number, out: number])[] = [
  [3, 1, 5],
  [5, 7, 8],
  [1, 33, 19],
  [6, 47, 4],
];

/** Every pair of data types with every shape, outputs in turn f32 and bf16. */
export const linearCases: readonly LinearCase[] = pairs.flatMap((pair) =>
  [...shapes, ...(pair.weight === 'mxfp8' ? [] : oddShapes)].map(([tokens, columns, out], i) =>
    named({ ...pair, tokens, in: columns, out, y: i % 2 === 0 ? 'f32' : 'bf16' }),
  ),
);

/** x as a slice of columns of a wider buffer. */
export const stridedCases: readonly LinearCase[] = pairs.flatMap((pair) => [
  named({ ...pair, tokens: 5, in: 96, out: 18, y: 'bf16', xColumns: 300 }),
  named({ ...pair, tokens: 2, in: 1088, out: 18, y: 'bf16', xColumns: 1104 }),
]);

/**
 * Where bf16 x on a GPU goes from one kernel to the next, in rows of several units a slice: the
 * ring in shared memory comes round, whole and half units at the end, scales that do and do not
 * begin at words, slices with more scales than are kept, and an odd number of slices and of units a
 * slice.
 */
export const streamCases: readonly LinearCase[] = pairs
  .filter(({ weight, x }) => weight !== 'f32' && x === 'bf16')
  .flatMap((pair) =>
    (
      [
        [1, 6144, 40],
        [4, 5984, 33],
        [5, 6016, 16],
        [8, 3072, 50],
        [12, 5920, 17],
        [16, 2048, 130],
        [17, 768, 40],
        [32, 6144, 21],
        [2, 20_480, 17],
        [3, 20_000, 16],
        [1, 192, 9],
        [2, 320, 24],
        [4, 2112, 7],
        [1, 18_528, 8],
      ] as const
    ).map(([tokens, columns, out], i) =>
      named({ ...pair, tokens, in: columns, out, y: i % 2 === 0 ? 'bf16' : 'f32' }),
    ),
  );

/**
 * Outputs that a GPU spreads evenly: one to eight slices, a short last one, the longest that it
 * takes, scales that do and do not begin at words, one output and no multiple of 4, blocks of
 * several times 4 outputs.
 */
export const spreadCases: readonly LinearCase[] = (
  [
    [1, 64, 6],
    [2, 192, 1],
    [2, 256, 1099],
    [2, 288, 533],
    [1, 320, 1061],
    [2, 480, 50],
    [2, 2048, 130],
    [2, 5984, 21],
    [1, 7584, 10],
    [2, 7680, 7],
    [2, 7712, 9],
    [3, 1056, 13],
  ] as const
).map(([tokens, columns, out], i) =>
  named({
    tokens,
    in: columns,
    out,
    weight: 'mxfp8',
    x: 'bf16',
    y: i % 2 === 0 ? 'bf16' : 'f32',
  }),
);

/** A router's rows: f32 weights, tokens of which a thread of a GPU has four and a block eight. */
export const routerCases: readonly LinearCase[] = pairs
  .filter(({ weight }) => weight === 'f32')
  .flatMap((pair) =>
    (
      [
        [1, 6144, 9],
        [4, 1096, 10],
        [5, 6144, 11],
        [12, 2048, 33],
        [17, 72, 9],
        [2, 9000, 9],
      ] as const
    ).map(([tokens, columns, out], i) =>
      named({ ...pair, tokens, in: columns, out, y: i % 2 === 0 ? 'f32' : 'bf16' }),
    ),
  );

/** Rows with NaN codes and with scales that vector code has to treat apart. */
export const specialCases: readonly LinearCase[] = pairs
  .filter(({ weight }) => weight === 'mxfp8')
  .flatMap((pair) => [
    ...[1, 5, 40].map((tokens) =>
      named({ ...pair, tokens, in: 160, out: 37, y: 'f32', hasSpecialBlocks: true }),
    ),
    ...[2, 3, 8, 13].map((tokens) =>
      named({ ...pair, tokens, in: 2112, out: 37, y: 'f32', hasSpecialBlocks: true }),
    ),
  ]);

/** Slices of several units of 64 columns, and enough of both sides for every tile of a GPU. */
export const batchCases: readonly LinearCase[] = pairs.flatMap((pair) => {
  const isFloat = pair.weight === 'f32' || pair.x === 'f32';
  const large = isFloat ? { tokens: 300, in: 1088, out: 70 } : { tokens: 260, in: 576, out: 4230 };
  return [
    named({ ...pair, tokens: 20, in: 2080, out: 40, y: 'bf16' }),
    named({ ...pair, tokens: 130, in: 2080, out: 40, y: 'f32' }),
    named({ ...pair, ...large, y: 'f32' }),
    named({ ...pair, ...large, tokens: large.tokens + 1, y: 'bf16' }),
  ];
});

/**
 * Enough of both sides for the widest tiles of a GPU, in rows that are fewer units than its ring
 * has stages, that end in half a unit, or lie apart, with blocks that are widened in another way.
 */
export const wideCases: readonly LinearCase[] = pairs
  .filter(({ weight, x }) => weight !== 'f32' && x === 'bf16')
  .flatMap((pair) => {
    const wide = { ...pair, tokens: 260, out: 4230 };
    const isMxfp8 = pair.weight === 'mxfp8';
    return [
      named({ ...wide, in: 32, y: 'f32' }),
      named({ ...wide, in: 96, y: 'bf16', xColumns: 112 }),
      named({ ...wide, in: 160, y: 'f32', hasSpecialBlocks: isMxfp8 }),
      named({ ...wide, in: 288, y: 'bf16', hasSpecialBlocks: isMxfp8 }),
    ];
  });

function named(testCase: Omit<LinearCase, 'name'>): LinearCase {
  const { tokens, out, weight, x, y, xColumns, hasSpecialBlocks } = testCase;
  const strided = xColumns ? `, x from ${xColumns} columns` : '';
  const special = hasSpecialBlocks ? ', special blocks' : '';
  return {
    ...testCase,
    name: `${weight} weight, ${x} to ${y}, ${tokens} x ${testCase.in} x ${out}${strided}${special}`,
  };
}

/** Random operands: bytes for the device, exact values for the reference. */
export interface LinearData {
  /** `[tokens, xColumns]`, the values that the device holds. */
  readonly x: Float32Array;
  /** `[out, in]` widened exactly. */
  readonly weight: Float32Array;
  /** MXFP8 only: the codes of `weight`. */
  readonly codes: Uint8Array;
  /** MXFP8 only: `[out, in / 32]`. */
  readonly scales: Uint8Array;
}

/** Normal activations, weights of a trained layer's size; codes and scales random for MXFP8. */
export function makeLinearData(testCase: LinearCase, seed: number): LinearData {
  const random = seededRandom(seed);
  const { tokens, out, xColumns = testCase.in } = testCase;
  const columns = testCase.in;
  const values = random.floats(tokens * xColumns, 1);
  const x = testCase.x === 'bf16' ? bf16ToF32(f32ToBf16(values)) : values;
  if (testCase.weight !== 'mxfp8') {
    const exact = random.floats(out * columns, 0.05);
    const weight = testCase.weight === 'bf16' ? bf16ToF32(f32ToBf16(exact)) : exact;
    return { x, weight, codes: new Uint8Array(0), scales: new Uint8Array(0) };
  }
  const codes = Uint8Array.from({ length: out * columns }, () => finiteCode(random));
  const scales = Uint8Array.from({ length: (out * columns) / 32 }, () => random.integer(108, 124));
  if (testCase.hasSpecialBlocks) addSpecialBlocks(codes, scales, columns);
  const weight = e4m3ToF32(codes).map(
    (value, i) => value * decodeE8m0(scales[Math.floor(i / 32)] ?? 0),
  );
  return { x, weight, codes, scales };
}

function finiteCode(random: ReturnType<typeof seededRandom>): number {
  const code = random.integer(0, 256);
  return (code & 127) === 127 ? code - 1 : code;
}

/** Scale bytes outside the range in which bf16 holds the scaled weights, and at its ends. */
const specialScales = [0, 1, 9, 10, 240, 255];

function addSpecialBlocks(codes: Uint8Array, scales: Uint8Array, columns: number): void {
  const blocks = columns / 32;
  for (let row = 0; row * columns < codes.length; row += 1) {
    const kind = row % (specialScales.length + 2);
    const scale = specialScales[kind];
    if (scale !== undefined) scales[row * blocks + (row % blocks)] = scale;
    if (kind === specialScales.length) codes[row * columns + row] = 0xff;
  }
}
