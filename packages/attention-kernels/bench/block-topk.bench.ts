import { type BenchCase, runBench } from '@altstream/bench';
import { seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { blockTopk, loadAttentionKernels } from '../src/index.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { referenceBlockTopk } from '../test/reference/block-topk.js';

const choice = { pageTokens: 128, topkBlocks: 16 };
const indexHeads = 4;
const sizes = [
  { tokens: 1, maxPages: 64 },
  { tokens: 1, maxPages: 8192 },
  { tokens: 256, maxPages: 64 },
  { tokens: 64, maxPages: 1024 },
];

const cases = sizes.map(({ tokens, maxPages }): BenchCase => {
  const scores = seededRandom(1).floats(tokens * indexHeads * maxPages);
  const positions = new Int32Array(tokens).fill(maxPages * 128 - 1);
  return {
    case: { blocks: maxPages, tokens, indexHeads, topk: choice.topkBlocks },
    bytes: scores.byteLength,
    prepare: async (stream) => {
      const tensors = {
        scores: upload(stream, scores, [tokens, indexHeads, maxPages], 'f32'),
        positions: upload(stream, positions, [tokens], 'i32'),
      };
      const out = stream.tensor([indexHeads, tokens, choice.topkBlocks], 'i32');
      return {
        run: () => void blockTopk(tensors, { stream, ...choice, out }),
        check: async () => {
          const input = { ...choice, scores, positions, indexHeads, maxPages };
          const expected = referenceBlockTopk(input).join();
          if ((await readNumbers(stream, out)).join() !== expected) throw new Error('wrong blocks');
        },
      };
    },
  };
});

const setting = { bench: 'block-topk', from: import.meta.url, load: loadAttentionKernels };
await runBench(setting, cases);
