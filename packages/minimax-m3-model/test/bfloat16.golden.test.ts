import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { goldenNames, hashModelOf, logprobs, readGolden, worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { argmax, Session } from './makers/session.js';

/**
 * What honest bf16 runs of transformers reach against these goldens: mean 0.024 to 0.031, median 0.010
 * to 0.012, 95 to 98 % of the best tokens. A rounding can flip an expert or a block, which moves a
 * whole position by about 1, so each number says something of its own:
 *
 * - median, 95 % point: rounding noise. Of a normal distribution the 95 % point is three medians;
 *   five leave room for positions whose noise is larger.
 * - flipped: positions with a difference that rounding noise does not reach. One or two in a hundred in
 *   the reference; 5 % allows four of the 90 of T32.
 * - argmax: two of those 90 below the reference's worst.
 * - mean, flips included: only where there are enough positions, since three flips among 90 double it.
 */
const allowed = { median: 0.012, p95: 0.06, flipped: 0.05, mean: 0.031, argmax: 0.93 };
const flip = 0.3;
const enoughPositions = 500;

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe.each(goldenNames)('%s in bfloat16', (name) => {
    it('stays as near to fp32 as bf16 runs of the reference do', async () => {
      const golden = readGolden(name);
      const directory = await folder(hashModelOf(name));
      const model = await load({ directory, dtype: 'bfloat16' });
      const session = new Session(model, 1, golden.token_ids.length);
      const [rows = []] = await session.run([{ sequence: 0, tokens: golden.token_ids }]);
      const differences: number[] = [];
      let agreed = 0;
      let flipped = 0;
      for (const [position, row] of rows.entries()) {
        const all = logprobs(row);
        const expected = golden.top5_logprobs[position] ?? [];
        const own = (golden.top5_ids[position] ?? []).map((id) => all[id] ?? 0);
        differences.push(...own.map((value, i) => Math.abs(value - (expected[i] ?? 0))));
        if (worst(own, expected) > flip) flipped++;
        if (argmax(row) === golden.argmax[position]) agreed++;
      }
      differences.sort((a, b) => a - b);
      const quantile = (share: number) => differences[Math.floor(share * differences.length)];
      expect(rows).toHaveLength(golden.token_ids.length);
      expect(quantile(0.5)).toBeLessThan(allowed.median);
      expect(quantile(0.95)).toBeLessThan(allowed.p95);
      expect(flipped / rows.length).toBeLessThan(allowed.flipped);
      expect(agreed / rows.length).toBeGreaterThan(allowed.argmax);
      if (rows.length > enoughPositions) {
        const mean = differences.reduce((a, b) => a + b, 0) / differences.length;
        expect(mean).toBeLessThan(allowed.mean);
      }
      // fp32 in disguise would be nearer by three orders of magnitude.
      expect(quantile(0.5)).toBeGreaterThan(0.002);
    });
  });
});
