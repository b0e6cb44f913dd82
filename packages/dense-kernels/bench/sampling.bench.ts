import { type BenchCase, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { download, expectClose } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, sample } from '../src/index.js';
import { makeRows, uploadRows } from '../test/makers/sampling.js';
import { referenceUnit } from '../test/reference/philox.js';
import { referenceDistribution, referenceDraw } from '../test/reference/sampling.js';

const off = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const kinds = {
  greedy: { ...off, temperature: 0 },
  temperature: off,
  'top-k 40': { ...off, topK: 40 },
  'top-p 0.9': { ...off, topP: 0.9 },
  'min-p 0.05': { ...off, minP: 0.05 },
  'k 40, p 0.95, min 0.05': { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 },
};

const cases = [1, 16, 64].flatMap((rows) =>
  Object.entries(kinds).map(([kind, settings]): BenchCase => {
    const vocab = 200_064;
    return {
      case: { rows, vocab, kind },
      bytes: rows * vocab * 4,
      prepare: async (stream) => {
        // four rows over and over: the reference sorts each
        const distinct = makeRows({ name: kind, rows: Math.min(rows, 4), vocab, settings }, 1);
        const repeated = Array.from({ length: Math.ceil(rows / distinct.length) }, () => distinct);
        const host = repeated.flat();
        const input = uploadRows(stream, host, vocab);
        const out = { ids: stream.tensor([rows], 'i32'), logprobs: stream.tensor([rows], 'f32') };
        const workspace = new Workspace(stream.device, { label: 'sampling' });
        return {
          run: () => {
            workspace.reset();
            sample(input, { stream, allocator: workspace, out });
          },
          check: async () => {
            const drawn = distinct.map(({ logits, seed, position }) => {
              const unit = referenceUnit(seed, position);
              return referenceDraw(referenceDistribution(logits, settings), unit);
            });
            const expected = repeated.flatMap(() => drawn);
            expectClose((await download(stream, out.ids)) as Int32Array, expected);
          },
        };
      },
    };
  }),
);

const setting = { bench: 'sampling', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
