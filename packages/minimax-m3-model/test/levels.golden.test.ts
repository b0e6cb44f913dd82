import { cpuLevels } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { hashModelOf, logitTolerance, readGolden, worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

// Instruction sets and threads are the CPU's; model.golden.test.ts has the goldens on each backend.
const folder = makeFolders();
const load = makeModels('cpu');

describe.each(['T32', 'T32-mxfp8'])('%s', (name) => {
  const golden = readGolden(name);

  it.each(cpuLevels())('has the logits of the goldens with %s code', async (level) => {
    const directory = await folder(hashModelOf(name));
    const session = new Session(await load({ directory, cpu: { level } }), 1, 90);
    const [rows = []] = await session.run([{ sequence: 0, tokens: golden.token_ids }]);
    for (const [position, logits] of Object.entries(golden.logits)) {
      expect(worst(rows[Number(position)] ?? [], logits)).toBeLessThan(logitTolerance);
    }
  });

  it.each(['float32', 'bfloat16'] as const)(
    'has the same bits with one thread and with many in %s',
    async (dtype) => {
      const directory = await folder(hashModelOf(name));
      const runs: Float32Array[] = [];
      for (const threads of [1, 3]) {
        const session = new Session(await load({ directory, dtype, cpu: { threads } }), 1, 90);
        const [rows = []] = await session.run([{ sequence: 0, tokens: golden.token_ids }]);
        runs.push(...rows.slice(-1));
      }
      expect(worst(runs[0] ?? [], runs[1] ?? [])).toBe(0);
    },
  );
});
