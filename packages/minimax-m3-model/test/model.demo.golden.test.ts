import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import {
  type DemoGoldens,
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  readDemoGoldens,
  requireDemoWeights,
} from './makers/demo-model.js';
import { logprobs, worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

/**
 * fp32 on both sides, over some thousand tokens and trained weights: the bound, absolute.
 */
const tolerance = 1e-3;

/** What MXFP8 may cost, as a share of the perplexity. */
const perplexityTolerance = 0.01;

describe.skipIf(demoIsLeftOut)(`the demo model${leftOutBecause}`, () => {
  onEachBackend((backend) => {
    const load = makeModels(backend);

    let goldens: DemoGoldens;
    let model: MiniMaxM3Model;
    let session: Session;

    beforeAll(async () => {
      requireDemoWeights();
      goldens = readDemoGoldens();
      model = await load({ directory: demoFolder });
      session = new Session(model, 1, model.maxPositions);
    });

    const logitsOf = async (tokens: readonly number[]): Promise<Float32Array[]> => {
      session.reset();
      const [rows = []] = await session.run([{ sequence: 0, tokens }]);
      expect(rows).toHaveLength(tokens.length);
      return rows;
    };

    it("has transformers' logits on stored prompts, also where blocks are left out", async () => {
      expect(goldens.logits.length).toBeGreaterThan(1);
      const longest = Math.max(...goldens.logits.map(({ ids }) => ids.length));
      const { sparse } = model.config;
      expect(longest).toBeGreaterThan((sparse?.topkBlocks ?? 0) * (sparse?.blockTokens ?? 0));
      for (const golden of goldens.logits) {
        const rows = await logitsOf(golden.ids);
        for (const [index, ids] of golden.bestIds.entries()) {
          const row = rows[(golden.first ?? 0) + index] ?? [];
          const actual = ids.map((id) => row[id] ?? Number.NaN);
          expect(worst(actual, golden.bestLogits[index] ?? [])).toBeLessThan(tolerance);
        }
        for (const [position, expected] of Object.entries(golden.sampled)) {
          const actual = rows[Number(position)]?.filter((_, id) => id % golden.stride === 0) ?? [];
          expect(worst(actual, expected)).toBeLessThan(tolerance);
        }
        const sum = rows.reduce((all, row) => all + row.reduce((a, b) => a + Math.abs(b), 0), 0);
        expect(Math.abs(sum / golden.sumOfMagnitudes - 1)).toBeLessThan(1e-4);
      }
    }, 300_000);

    it('loses at most one percent of perplexity to MXFP8', async () => {
      const { rows, mxfp8, trained } = goldens.perplexity;
      let loss = 0;
      let tokens = 0;
      for (const { ids, counts } of rows) {
        const logits = await logitsOf(ids);
        for (let position = 1; position < ids.length; position++) {
          if (counts[position] !== 1) continue;
          loss -= logprobs(logits[position - 1] ?? [])[ids[position] ?? -1] ?? Number.NaN;
          tokens++;
        }
      }
      expect(tokens).toBeGreaterThan(200);
      const perplexity = Math.exp(loss / tokens);
      expect(Math.abs(perplexity / mxfp8 - 1)).toBeLessThan(1e-4);
      expect(Math.abs(perplexity / trained - 1)).toBeLessThan(perplexityTolerance);
    }, 300_000);
  });
});
