import { type BenchCase, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { expectClose } from '@altstream/cuda-runtime/testing';
import { loadAttentionKernels, type QkNormRopeResult, qkNormRope } from '../src/index.js';
import { qkNormRopeCases } from '../test/cases/qk-norm-rope.js';
import { makeHeads, uploadHeads } from '../test/makers/qk-norm-rope-input.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { ropeTolerance } from '../test/makers/tolerances.js';
import { referenceNormRope } from '../test/reference/qk-norm-rope.js';

const theta = 5e6;
const steps = [1, 16, 256];

const cases = qkNormRopeCases
  .filter(({ name }) => name.startsWith('M3, fused'))
  .flatMap((base) =>
    steps.map((tokens): BenchCase => {
      const spec = { ...base, positions: Array.from({ length: tokens }, (_, i) => 4000 + i) };
      const { rotaryDim, dtype, positions } = spec;
      const all = makeHeads(spec);
      const elements = all.reduce((sum, { x, name }) => (name === 'v' ? sum : sum + x.length), 0);
      return {
        case: { dtype, tokens },
        bytes: 2 * elements * (dtype === 'bf16' ? 2 : 4),
        prepare: async (stream) => {
          const input = uploadHeads(stream, spec, all);
          const allocator = new Workspace(stream.device);
          const options = { stream, allocator, rotaryDim, theta };
          let result: QkNormRopeResult | undefined;
          return {
            run: () => {
              allocator.reset();
              result = qkNormRope(input, options);
            },
            check: async () => {
              for (const { name, x, heads, dims, weight } of all) {
                const output = name === 'v' ? undefined : result?.[name];
                if (!output) continue;
                const rope = { positions, rotaryDim, theta, eps: 1e-6 };
                const expected = referenceNormRope({ x, heads, dims, weight }, rope);
                expectClose(await readNumbers(stream, output), expected, ropeTolerance[dtype]);
              }
            },
          };
        },
      };
    }),
  );

const setting = { bench: 'qk-norm-rope', from: import.meta.url, load: loadAttentionKernels };
await runBench(setting, cases);
