import { hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { randomModel } from './makers/random-config.js';
import { RepeatingCommunicator, runRanks } from './makers/ranks.js';
import { Session } from './makers/session.js';

const folder = makeFolders();
const load = makeModels();

describe('the ranks of a tensor-parallel model together equal the whole model', () => {
  it.each([
    ['T32', 2, false],
    ['T32', 4, false],
    ['T32', 8, false],
    ['T32', 2, true],
    ['T32', 4, true],
    ['T128', 4, true],
    [3, 3, false],
    [4, 2, true],
    [5, 2, false],
  ] as const)('%s over %i ranks, mxfp8 %s', async (name, size, mxfp8) => {
    const random = typeof name === 'number' && randomModel(name, { divisibleBy: size, mxfp8 });
    const source = random || { model: name as 'T32', mxfp8 };
    const directory = await folder({ ...source, model: random ? random.config : (name as 'T32') });
    const whole = await load({ directory });
    const tokens = hashTokens(24, whole.vocabSize);
    const session = new Session(whole, 1, tokens.length);
    const [expected = []] = await session.run([{ sequence: 0, tokens }]);
    const ranks = [];
    for (let rank = 0; rank < size; rank++) {
      const communicator = new RepeatingCommunicator();
      const tensorParallel = { rank, size };
      const model = await load({ directory, tensorParallel, communicator });
      expect(model.report.deviceBytes).toBeLessThan(whole.report.deviceBytes);
      ranks.push({ model, communicator });
    }
    const { logits, sums } = await runRanks(ranks, tokens);
    // One sum after attention, one after the MLP of each layer, one for the logits.
    expect(sums).toBe(2 * whole.config.layers.length + 1);
    for (const rows of logits) {
      for (const [position, row] of rows.entries()) {
        expect(worst(row, expected[position] ?? [])).toBeLessThan(1e-4);
      }
    }
  });
});

describe('the shared expert over ranks', () => {
  it.each(['separate', 'fused'] as const)('is counted once when %s', async (sharedExpert) => {
    const directory = await folder({ model: 'T32', mxfp8: true });
    const whole = await load({ directory });
    const tokens = hashTokens(9, 256);
    const [expected = []] = await new Session(whole, 1, 9).run([{ sequence: 0, tokens }]);
    const ranks = [];
    for (const rank of [0, 1]) {
      const communicator = new RepeatingCommunicator();
      const tensorParallel = { rank, size: 2 };
      const model = await load({ directory, tensorParallel, communicator, sharedExpert });
      ranks.push({ model, communicator });
    }
    const { logits } = await runRanks(ranks, tokens);
    expect(worst(logits[1]?.at(-1) ?? [], expected.at(-1) ?? [])).toBeLessThan(1e-4);
  });
});

describe('one rank alone', () => {
  it('runs without a communicator, and says that its sums are partial', async () => {
    const directory = await folder({ model: 'T32', mxfp8: true });
    const model = await load({ directory, tensorParallel: { rank: 1, size: 2 } });
    const session = new Session(model, 1, 8);
    const [rows = []] = await session.run([{ sequence: 0, tokens: [5, 6, 7] }]);
    expect(rows[0]?.some((value) => value !== 0)).toBe(true);
    expect(model.describe()).toMatchObject({
      tensorParallel: { rank: 1, size: 2, sums: expect.stringContaining('nobody') },
    });
    // 32 columns of an expert over 2 ranks cut an MXFP8 block: kept without loss as bf16, and told.
    expect(model.report.conversions[0]).toMatchObject({ from: 'F8_E4M3', to: 'bf16' });
  });

  it.each([
    [{ rank: 2, size: 2 }, 'rank 2 of 2'],
    [{ rank: 0, size: 3 }, 'choose a size'],
    [{ rank: 0, size: 16 }, 'query heads'],
  ])('refuses %j', async (tensorParallel, words) => {
    const directory = await folder({ model: 'T32' });
    const error = await load({ directory, tensorParallel }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 'MODEL_CHECKPOINT_SHARDING',
      message: expect.stringContaining(words),
    });
  });
});
