import type { Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import type { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import type { ModelOptions } from '../src/model-options.js';
import { worst } from './makers/golden.js';
import { transformersNames } from './makers/other-spellings.js';
import { randomModel } from './makers/random-config.js';
import { type Rank, RankGroup, RepeatingCommunicator } from './makers/ranks.js';
import { Recorder } from './makers/recorder.js';
import { Session } from './makers/session.js';
import { bf16, makeT32, mxfp8 } from './makers/t32.js';
import { unevenModels } from './makers/uneven-models.js';

onEachBackend((backend) => {
  const { folder, load, withTensors } = makeT32(backend);

  let shared: Runtime | undefined;

  /** A whole model; models of a backend share a runtime, which looks for races where it can. */
  async function loadWhole(options: Omit<ModelOptions, 'runtime'>): Promise<MiniMaxM3Model> {
    const cpu = { raceCheck: true, schedule: 'adversarial' } as const;
    const own = backend === 'cpu' ? { cpu } : {};
    const model = await load({ ...options, ...(shared ? { runtime: shared } : own) });
    shared ??= model.runtime;
    return model;
  }

  /** All ranks of a group. */
  async function loadRanks(
    whole: MiniMaxM3Model,
    size: number,
    options: Omit<ModelOptions, 'runtime'>,
  ): Promise<Rank[]> {
    const ranks: Rank[] = [];
    for (let rank = 0; rank < size; rank++) {
      const communicator = new RepeatingCommunicator();
      const { runtime } = whole;
      // Half of the ranks overlap in eager passes, too.
      const overlap = rank % 2 === 0 ? 'capture' : 'always';
      const tensorParallel = { rank, size };
      const place = { runtime, tensorParallel, communicator, overlap } as const;
      ranks.push({ model: await load({ ...options, ...place }), communicator });
    }
    return ranks;
  }

  /** Every rank gives the logits of the whole model. */
  function expectLogits(
    results: readonly (readonly Float32Array[])[],
    expected: readonly Float32Array[],
  ): void {
    for (const rows of results) {
      expect(rows).toHaveLength(expected.length);
      for (const [i, row] of rows.entries())
        expect(worst(row, expected[i] ?? [])).toBeLessThan(1e-4);
    }
  }

  const prompt = 19;

  describe.each(unevenModels)('the ranks of $name', ({ model, mxfp8, sizes, fusedSizes = [] }) => {
    let directory: string | undefined;
    const cases = [
      ...sizes.map((size) => ({ size, sharedExpert: 'separate' }) as const),
      ...fusedSizes.map((size) => ({ size, sharedExpert: 'fused' }) as const),
    ];
    it.each(cases)('are the whole model: $size, $sharedExpert', async ({ size, sharedExpert }) => {
      directory ??= await folder({ model, mxfp8 });
      await expectSum({ directory, sharedExpert }, size);
    });
  });

  describe('the ranks of a model of any shape', () => {
    const cases = Array.from({ length: 4 }, (_, i) => [i + 40, 2 * i + 2] as const);
    it.each(cases)('are the whole model: seed %i over %i', async (seed, size) => {
      const { config: model, ...stored } = randomModel(seed);
      await expectSum({ directory: await folder({ model, ...stored }) }, size);
    });
  });

  /** A prompt, a step, and the same step captured: ranks and the whole model agree. */
  async function expectSum(options: Omit<ModelOptions, 'runtime'>, size: number): Promise<void> {
    const whole = await loadWhole(options);
    const tokens = Array.from({ length: prompt }, (_, i) => (i * i * 7 + 3) % whole.vocabSize);
    const next = 5;
    const session = new Session(whole, 1, prompt + 1);
    const recorder = new Recorder();
    const [ofPrompt = []] = await session.run([{ sequence: 0, tokens }], { taps: recorder.taps });
    const [ofStep = []] = await session.run([{ sequence: 0, tokens: [next] }]);

    const ranks = await loadRanks(whole, size, options);
    const recorders = ranks.map(() => new Recorder());
    const group = new RankGroup(ranks, prompt + 1);
    const prefill = await group.run(0, tokens, (rank) => ({
      ...(recorders[rank] && { taps: recorders[rank].taps }),
    }));
    // One for the embedding, after attention and after the MLP of each layer, for the logits.
    expect(prefill.sums).toBe(size === 1 ? 0 : 2 * whole.config.layers.length + 2);
    expectLogits(prefill.results, ofPrompt);
    await expectDecisions(ranks, recorders, recorder);
    const step = await group.run(prompt, [next]);
    expectLogits(step.results, ofStep);
    const replayed = await group.replay(prompt, next);
    expectLogits(replayed.results, ofStep);
    expect(replayed).toMatchObject({ sums: step.sums, largestError: 0 });
    whole.runtime.checkRaces();
  }

  /**
   * The embedding, the experts and the blocks that each rank chose are exactly those of the whole
   * model.
   */
  async function expectDecisions(
    ranks: readonly Rank[],
    recorders: readonly Recorder[],
    whole: Recorder,
  ): Promise<void> {
    for (const [rank, { model }] of ranks.entries()) {
      const recorder = recorders[rank] as Recorder;
      const { kvHeads, expertColumns } = model.report.part;
      const hasExperts = expertColumns.some(({ count }) => count > 0);
      const { layers } = model.config;
      for (const token of [0, 7, prompt - 1]) {
        const embedded = await recorder.residual('embed', token, layers.length);
        expect(embedded).toEqual(await whole.residual('embed', token, layers.length));
        for (const [layer, { attention, mlp }] of layers.entries()) {
          if (mlp === 'moe' && hasExperts) {
            const { ids } = await recorder.experts(layer, token);
            expect(ids).toEqual((await whole.experts(layer, token)).ids);
          }
          if (attention !== 'sparse' || kvHeads.count === 0) continue;
          const all = await whole.blocks(layer, token);
          const own = all.slice(kvHeads.start, kvHeads.start + kvHeads.count);
          expect(await recorder.blocks(layer, token)).toEqual(own);
        }
      }
    }
  }

  describe('the ranks of a built-in model', () => {
    it.each([
      ['T32', 2, false],
      ['T32', 3, true],
      ['T32', 8, false],
      ['T128', 5, true],
    ] as const)('sum up to the whole model: %s over %i, mxfp8 %s', async (name, size, mxfp8) => {
      const directory = await folder({ model: name, mxfp8 });
      const whole = await loadWhole({ directory });
      const tokens = hashTokens(24, whole.vocabSize);
      const [expected = []] = await new Session(whole, 1, 24).run([{ sequence: 0, tokens }]);
      const ranks = await loadRanks(whole, size, { directory });
      for (const { model } of ranks) {
        expect(model.report.deviceBytes).toBeLessThan(whole.report.deviceBytes);
        expect(model.report.conversions).toEqual([]);
        expect(model.report.unused).toEqual([]);
      }
      expectLogits((await new RankGroup(ranks, 24).run(0, tokens)).results, expected);
    });
  });

  describe('other spellings', () => {
    it.each([
      ['bf16', bf16],
      ['MXFP8', mxfp8],
    ])('with packed gate, up and experts give the same parts: %s', async (_, plain) => {
      const packed = transformersNames(plain);
      const whole = await loadWhole({ directory: await withTensors(plain) });
      const tokens = hashTokens(9, 256);
      const [expected = []] = await new Session(whole, 1, 9).run([{ sequence: 0, tokens }]);
      const ranks = await loadRanks(whole, 3, { directory: await withTensors(packed, true) });
      expectLogits((await new RankGroup(ranks, 9).run(0, tokens)).results, expected);
    });
  });

  describe('a rank that holds nothing', () => {
    it('launches nothing but zeros, norms and sums, and its pages take no memory', async () => {
      const { model: json } = unevenModels.at(-1) ?? {};
      const directory = await folder({ model: json ?? 'T32' });
      const communicator = new RepeatingCommunicator();
      const model = await load({ directory, tensorParallel: { rank: 12, size: 13 }, communicator });
      const session = new Session(model, 1, 4);
      await session.run([{ sequence: 0, tokens: [5] }]);
      communicator.begin();
      const { graph } = await session.capture(1);
      const kernels = graph.nodes.filter(({ kind }) => kind === 'kernel').map(({ label }) => label);
      const expected = expect.stringMatching(/^(rms_norm|embedding)_/);
      expect(kernels).toEqual(kernels.map(() => expected));
      // Two rows of hidden and residual are picked for the head; no token is looked up.
      expect(kernels.filter((label) => label.startsWith('embedding'))).toHaveLength(2);
      expect(model.pageBytes).toBe(0);
      expect(model.describe()).toMatchObject({
        tensorParallel: { part: { queryHeads: { count: 0 }, expertColumns: [{ count: 0 }] } },
      });
    });
  });

  describe('the choice of the shared expert', () => {
    it.each([
      { rank: 0, measured: [1, 3] },
      { rank: 1, measured: [] },
    ])('is measured only where there is one: rank $rank', async ({ rank, measured }) => {
      const directory = await folder({ model: 'T32', mxfp8: true });
      const tensorParallel = { rank, size: 2 };
      const measuring = { sharedExpert: 'auto', measuredBatchSizes: [1, 3] } as const;
      const model = await load({ directory, tensorParallel, ...measuring });
      expect(model.describe()).toMatchObject({
        sharedExpert: { mode: 'auto', measured: measured.map((tokens) => ({ tokens })), layers: 3 },
      });
      const piece = { sequence: 0, tokens: [5] };
      const [[row] = []] = await new Session(model, 1, 8).run([piece]);
      expect(row?.some((value) => value !== 0)).toBe(true);
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
        tensorParallel: {
          rank: 1,
          size: 2,
          sums: expect.stringContaining('nobody'),
          embedding: expect.stringContaining('whole'),
          part: {
            queryHeads: { start: 4, count: 4 },
            kvHeads: { start: 1, count: 1 },
            vocab: { start: 128, count: 128 },
            embedding: { start: 0, count: 256 },
            denseColumns: [{ start: 64, count: 64 }],
            // 32 columns are one MXFP8 block, which rank 0 has.
            expertColumns: [{ start: 32, count: 0 }],
          },
        },
      });
    });

    it('keeps heads that cut an MXFP8 block without loss as bf16, and tells', async () => {
      const { model: json } = unevenModels[2] ?? {};
      const directory = await folder({ model: json ?? 'T32', mxfp8: true });
      const { report } = await load({ directory, tensorParallel: { rank: 0, size: 2 } });
      expect(report.conversions).toHaveLength(2);
      expect(report.conversions[0]).toMatchObject({
        tensor: expect.stringContaining('o_proj'),
        from: 'F8_E4M3',
        to: 'bf16',
      });
    });

    it.each([
      { rank: 2, size: 2 },
      { rank: -1, size: 2 },
      { rank: 0, size: 0 },
      { rank: 0.5, size: 2 },
      { rank: 0, size: 1.5 },
      { rank: 0, size: Number.POSITIVE_INFINITY },
    ])('refuses %j', async (tensorParallel) => {
      const directory = await folder({ model: 'T32' });
      const error = await load({ directory, tensorParallel }).catch((e: unknown) => e);
      expect(error).toMatchObject({
        code: 'MODEL_CHECKPOINT_SHARDING',
        message: expect.stringContaining(`rank ${tensorParallel.rank} of ${tensorParallel.size}`),
      });
    });
  });
});
