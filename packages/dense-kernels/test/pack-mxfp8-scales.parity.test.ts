import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, packMxfp8Scales, unpackMxfp8Scales } from '../src/index.js';
import { packCases } from './cases/pack-mxfp8-scales.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { referencePack } from './reference/pack-mxfp8-scales.js';

describeEachBackend(
  'scales go into tiles, padding written, and back',
  packCases,
  async ({ stream, runtime }, { rows, blocks }) => {
    await loadDenseKernels(runtime);
    const random = seededRandom(freshSeed);
    const bytes = Uint8Array.from({ length: rows * blocks }, () => random.integer(0, 256));
    const expected = referencePack(bytes, rows, blocks);
    const out = stream.tensor([expected.length], 'e8m0');
    poison(stream, out);
    const scales = upload(stream, bytes, [rows, blocks], 'e8m0');
    const packed = packMxfp8Scales({ scales }, { stream, out });
    expectClose(await downloadRaw(stream, packed), expected, { message: seedNote });
    const back = unpackMxfp8Scales({ packed, rows, blocks }, { stream });
    expectClose(await downloadRaw(stream, back), bytes, { message: seedNote });
  },
);
