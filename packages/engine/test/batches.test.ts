import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine, type EngineStats, type GenerationEvent, type MarkovModel } from '../src/index.js';
import { collect, counted, countingModel, ids, smoothModel, vocab } from './makers/counting.js';
import { settledStats } from './makers/settled-stats.js';
import { until } from './makers/until.js';
import { WatchedModel } from './makers/watched-model.js';

/** One token of a batch as the device saw it. */
interface SeenToken {
  readonly id: number;
  readonly position: number;
  readonly slot: number;
  readonly page: number;
}

onEachBackend((backend) => {
  describe('what the model is given', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let smooth: MarkovModel;

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime, { pageTokens: 4, maxPositions: 256 });
      smooth = await smoothModel(runtime);
    });
    afterAll(async () => {
      counting.dispose();
      smooth.dispose();
      await runtime.dispose();
    });

    /** Makes a model that keeps what the device held at each pass. */
    function recording(): { model: WatchedModel; passes: SeenToken[][] } {
      const model = new WatchedModel(counting);
      const passes: SeenToken[][] = [];
      model.before = ({ tokenIds, positions, sequenceIds, slots, pageTable }, { stream }) => {
        const read = async (): Promise<void> => {
          const [id, position, sequence, slot, pages] = [
            tokenIds,
            positions,
            sequenceIds,
            slots,
            pageTable,
          ].map((tensor) => ({ tensor, host: new Int32Array(tensor.elements) }));
          const all = [id, position, sequence, slot, pages].flatMap((one) => (one ? [one] : []));
          await Promise.all(all.map(({ tensor, host }) => stream.read(tensor, host)));
          const width = pageTable.shape[1] ?? 0;
          const at = (column: typeof id, index: number): number => column?.host[index] ?? -2;
          passes.push(
            Array.from({ length: tokenIds.elements }, (_, index) => ({
              id: at(id, index),
              position: at(position, index),
              slot: at(slot, index),
              page: at(pages, at(sequence, index) * width + Math.floor(at(position, index) / 4)),
            })),
          );
        };
        void read();
      };
      return { model, passes };
    }

    it('every token of a prompt that spans pages lies in the slot that the page table says', async () => {
      const { model, passes } = recording();
      const engine = await Engine.create({ model, graphSizes: [], maxBatchedTokens: 7, pages: 40 });
      const prompts = [13, 5, 22].map((length) =>
        Array.from({ length }, (_, index) => (length + index * 3) % vocab),
      );
      await Promise.all(
        prompts.map((prompt) => collect(engine.generate(prompt, { temperature: 0, maxTokens: 6 }))),
      );
      await engine.close();
      const tokens = passes.flat();
      expect(tokens).toHaveLength(13 + 5 + 22 + 3 * 5);
      for (const { position, slot, page } of tokens) {
        expect(slot).toBe(page * 4 + (position % 4));
      }
      // Two sequences of one pass never share a slot; a page that came back may be handed out
      // again.
      for (const pass of passes)
        expect(new Set(pass.map(({ slot }) => slot)).size).toBe(pass.length);
    });

    it('a short prompt is not stuck behind a long one, and the long one moves on', async () => {
      const { model, passes } = recording();
      // Given pages are not measured, so these requests make the first pass.
      const engine = await Engine.create({ model, graphSizes: [], maxBatchedTokens: 8, pages: 64 });
      const order: string[] = [];
      const run = async (name: string, length: number): Promise<void> => {
        await collect(
          engine.generate(new Array(length).fill(length % vocab), { temperature: 0, maxTokens: 1 }),
        );
        order.push(name);
      };
      await Promise.all([run('long', 60), run('short', 4), run('shorter', 3)]);
      await engine.close();
      expect(order).toEqual(['short', 'shorter', 'long']);
      for (const pass of passes) expect(pass.length).toBeLessThanOrEqual(8);
      expect(passes[0]?.filter(({ id }) => id > 0)).toHaveLength(8);
    });

    it('gives the same bits for every amount of padding in a bucket', async () => {
      const engine = await Engine.create({ model: smooth, graphSizes: [8], maxSequences: 8 });
      const ask = (id: number): Promise<GenerationEvent[]> =>
        collect(
          engine.generate([id], {
            seed: id,
            temperature: 0.8,
            topK: 9,
            logprobs: 2,
            maxTokens: 12,
          }),
        );
      const alone: GenerationEvent[][] = [];
      for (let id = 0; id < 8; id += 1) alone.push(await ask(id));
      for (let rows = 2; rows <= 8; rows += 1) {
        const together = await Promise.all(Array.from({ length: rows }, (_, id) => ask(id)));
        expect(together).toEqual(alone.slice(0, rows));
      }
      expect(engine.stats().graphs.eagerSteps).toBe(0);
      await engine.close();
    });

    it('an abort in any state frees the pages within one step and ends with one event', async () => {
      const engine = await Engine.create({
        model: counting,
        checkLedger: true,
        maxSequences: 1,
        maxBatchedTokens: 2,
      });
      const stats = () => engine.stats();
      const states = {
        waiting: { prompt: [1], isThere: () => stats().waiting > 0 },
        prefilling: {
          prompt: new Array(40).fill(2),
          isThere: (before: EngineStats) => stats().promptTokens > before.promptTokens + 4,
        },
        decoding: {
          prompt: [3],
          isThere: (before: EngineStats) => stats().generatedTokens > before.generatedTokens + 5,
        },
      };
      for (const { prompt, isThere } of Object.values(states)) {
        const before = stats();
        const first = collect(engine.generate([9], { temperature: 0, maxTokens: 2 }));
        const given = new AbortController();
        const events = collect(engine.generate(prompt, { maxTokens: 200, signal: given.signal }));
        await until(() => isThere(before));
        const { steps } = stats();
        given.abort();
        const finishes = (await events).filter(({ type }) => type === 'finish');
        expect(finishes).toMatchObject([{ reason: 'abort' }]);
        // Steps under way are counted already; at most two more have begun, without this request.
        expect(stats().steps - steps).toBeLessThanOrEqual(2);
        given.abort();
        expect(ids(await first)).toEqual(counted(9, 2));
        const { pages, running, waiting } = await settledStats(engine);
        expect([pages.pinned, pages.reserved, running, waiting]).toEqual([0, 0, 0, 0]);
      }
      await engine.close();
    });
  });
});
