import { open, type Runtime, Tensor } from '@altstream/cuda-runtime';
import { download, onEachBackend, upload } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine, type GenerationParameters, type MarkovModel } from '../src/index.js';
import { LogitChanges } from '../src/step/logit-changes.js';
import { collect, ids, smoothModel, vocab } from './makers/counting.js';
import { penalisedIds, rawLogprob } from './makers/penalised.js';
import { makeSequence } from './makers/sequence.js';

const kinds: Record<string, GenerationParameters> = {
  nothing: {},
  frequency: { frequencyPenalty: 0.7 },
  presence: { presencePenalty: 1.3 },
  'a liking for what came': { frequencyPenalty: -2, presencePenalty: -2 },
  repetition: { repetitionPenalty: 1.4 },
  biases: {
    logitBias: new Map([
      [3, 2.5],
      [7, -100],
      [0, 1],
    ]),
  },
  bans: {
    logitBias: new Map([
      [3, Number.NEGATIVE_INFINITY],
      [17, Number.NEGATIVE_INFINITY],
    ]),
  },
  'early stops': { minTokens: 9, stopTokenIds: [1, 5, 9, 13, 17, 21, 25, 29, 31] },
  everything: {
    frequencyPenalty: 0.4,
    presencePenalty: 0.3,
    repetitionPenalty: 1.2,
    logitBias: new Map([
      [2, 3],
      [9, 1],
      [5, 2],
    ]),
    minTokens: 7,
    stopTokenIds: [5, 9, 14, 20],
  },
};

onEachBackend((backend) => {
  describe('changed logits', () => {
    let runtime: Runtime;
    let model: MarkovModel;
    const engines: Engine[] = [];

    beforeAll(async () => {
      runtime = await open({ backend });
      model = await smoothModel(runtime);
    });
    afterAll(async () => {
      for (const engine of engines) await engine.close();
      model.dispose();
      await runtime.dispose();
    });

    async function start(graphSizes?: readonly number[]): Promise<Engine> {
      const options = { model, maxSequences: 4, checkLedger: true, maxLogitBias: 8 };
      const engine = await Engine.create({ ...options, ...(graphSizes && { graphSizes }) });
      engines.push(engine);
      return engine;
    }

    it.each([
      ['in graphs', undefined],
      ['without graphs', []],
    ])('give what the equations say, %s, in rows that come and go', async (_, sizes) => {
      const engine = await start(sizes);
      const jobs = Object.values(kinds).flatMap((kind, n) =>
        [0, 1, 2].map((turn) => ({
          prompt: [turn, (3 * n + turn) % vocab],
          parameters: { ...kind, temperature: 0, maxTokens: 5 + ((7 * n + 11 * turn) % 23) },
        })),
      );
      const answers = await Promise.all(
        jobs.map(({ prompt, parameters }) => collect(engine.generate(prompt, parameters))),
      );
      answers.forEach((events, index) => {
        const { prompt = [], parameters } = jobs[index] ?? {};
        const expected = penalisedIds(prompt, parameters ?? {}, parameters?.maxTokens ?? 0);
        expect(ids(events), JSON.stringify(jobs[index])).toEqual(expected);
      });
    });

    it('draw the same from one seed, alone and beside others', async () => {
      const [alone, together] = [await start([]), await start()];
      const parameters = { ...kinds['everything'], seed: 5, maxTokens: 30, temperature: 0.9 };
      const expected = ids(await collect(alone.generate([1, 2], parameters)));
      const others = [0, 1, 2, 3, 4].map((n) =>
        collect(together.generate([n], { ...kinds['frequency'], maxTokens: 4 * n + 1 })),
      );
      const actual = await collect(together.generate([1, 2], parameters));
      await Promise.all(others);
      expect(ids(actual)).toEqual(expected);
    });

    it('report log-probabilities of the model, not of the changes', async () => {
      const engine = await start();
      const parameters = { logitBias: new Map([[7, 100]]), presencePenalty: 2, logprobs: 3 };
      const events = await collect(engine.generate([4], { ...parameters, maxTokens: 4 }));
      const tokens = events.filter((event) => event.type === 'token');
      expect(tokens.map(({ id }) => id)).toEqual([7, 7, 7, 7]);
      tokens.forEach(({ id, logprob, top }, n) => {
        const last = n === 0 ? 4 : 7;
        expect(logprob).toBeCloseTo(rawLogprob(last, id), 5);
        for (const best of top) expect(best.logprob).toBeCloseTo(rawLogprob(last, best.id), 5);
        expect(top.map(({ id: other }) => other)).not.toContain(7);
      });
    });

    it('end a request that leaves no token, and no other', async () => {
      const engine = await start();
      const stopTokenIds = Array.from({ length: vocab }, (_, id) => id);
      const none = collect(engine.generate([1], { minTokens: 2, stopTokenIds }));
      const fine = collect(engine.generate([1], { ...kinds['frequency'], maxTokens: 9 }));
      expect((await none).at(-1)).toMatchObject({ type: 'finish', reason: 'error' });
      expect((await fine).at(-1)).toMatchObject({ reason: 'length', generatedTokens: 9 });
    });

    it('count anew what a row did not see', async () => {
      const { device } = model;
      const stream = device.createStream();
      const changes = new LogitChanges(device, { rows: 1, vocab: 4, entries: 1 }, 'test');
      const { sequence } = makeSequence({
        promptTokens: 2,
        parameters: { frequencyPenalty: 1, temperature: 0 },
      });
      const positions = upload(stream, [1], [1], 'i32');
      const drawn = {
        ids: upload(stream, [3], [1], 'i32'),
        logprobs: upload(stream, [0], [1], 'f32'),
      };
      const drawAt = async (position: number): Promise<number[]> => {
        changes.uploadCounts(stream, [sequence], { positions: Int32Array.of(position) });
        changes.uploadParameters(stream, [sequence], 1);
        const logits = upload(stream, new Float32Array(4), [1, 4], 'f32');
        const seen = Tensor.allocate(device, [1, 4], 'f32', { stream });
        changes.around(logits, { positions, stream, allocator: stream }, () => {
          stream.copy(seen, logits);
          return drawn;
        });
        return Array.from((await download(stream, seen)) as Float32Array);
      };
      expect(await drawAt(2)).toEqual([0, 0, 0, 0]);
      sequence.generated.push(3);
      expect(await drawAt(3)).toEqual([0, 0, 0, -1]);
      // Two tokens were drawn elsewhere, and this row's own second one was taken back.
      sequence.generated.push(1, 1);
      expect(await drawAt(5)).toEqual([0, -2, 0, -1]);
      changes.dispose();
      stream.dispose();
    });
  });
});
