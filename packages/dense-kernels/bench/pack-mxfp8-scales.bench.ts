// Scales of one expert matrix and of a wide projection into tiles, once at load, and back.
import { type BenchCase, runBench } from '@altstream/bench';
import { downloadRaw, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, packMxfp8Scales, unpackMxfp8Scales } from '../src/index.js';
import { referencePack } from '../test/reference/pack-mxfp8-scales.js';

const sizes = [
  { rows: 3072, blocks: 192 },
  { rows: 12288, blocks: 192 },
];

function makeCase({ rows, blocks }: { rows: number; blocks: number }): BenchCase {
  return {
    case: { direction: 'pack', rows, blocks },
    bytes: 2 * rows * blocks,
    prepare: async (stream) => {
      const random = seededRandom(1);
      const bytes = Uint8Array.from({ length: rows * blocks }, () => random.integer(0, 256));
      const expected = referencePack(bytes, rows, blocks);
      const scales = upload(stream, bytes, [rows, blocks], 'e8m0');
      const out = stream.tensor([expected.length], 'e8m0');
      return {
        run: () => void packMxfp8Scales({ scales }, { stream, out }),
        check: async () => expectClose(await downloadRaw(stream, out), expected),
      };
    },
  };
}

function makeUnpackCase({ rows, blocks }: { rows: number; blocks: number }): BenchCase {
  return {
    case: { direction: 'unpack', rows, blocks },
    bytes: 2 * rows * blocks,
    prepare: async (stream) => {
      const random = seededRandom(1);
      const expected = Uint8Array.from({ length: rows * blocks }, () => random.integer(0, 256));
      const tiles = referencePack(expected, rows, blocks);
      const packed = upload(stream, tiles, [tiles.length], 'e8m0');
      const out = stream.tensor([rows, blocks], 'e8m0');
      return {
        run: () => void unpackMxfp8Scales({ packed, rows, blocks }, { stream, out }),
        check: async () => expectClose(await downloadRaw(stream, out), expected),
      };
    },
  };
}

const setting = { bench: 'pack-mxfp8-scales', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, [...sizes.map(makeCase), ...sizes.map(makeUnpackCase)]);
