import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import {
  gapTolerance,
  goldenNames,
  hashModelOf,
  logitTolerance,
  logprobs,
  readGolden,
  worst,
} from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Recorder } from './makers/recorder.js';
import { argmax, Session } from './makers/session.js';

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe.each(goldenNames)('%s in float32', (name) => {
    const golden = readGolden(name);
    const prompt = golden.token_ids;
    const layers = name.startsWith('T32') ? 4 : 3;
    const recorder = new Recorder();
    let session: Session;
    let whole: Float32Array[] = [];

    beforeAll(async () => {
      const directory = await folder(hashModelOf(name));
      const model = await load({ directory });
      session = new Session(model, 3, prompt.length + 32);
      const [logits = []] = await session.run([{ sequence: 0, tokens: prompt }], {
        taps: recorder.taps,
      });
      whole = logits;
    });

    it('has the logits', () => {
      for (const [position, logits] of Object.entries(golden.logits)) {
        expect(worst(whole[Number(position)] ?? [], logits)).toBeLessThan(logitTolerance);
      }
      const sum = whole.reduce((all, row) => all + row.reduce((a, b) => a + Math.abs(b), 0), 0);
      expect(Math.abs(sum - golden.sum_abs_logits) / golden.sum_abs_logits).toBeLessThan(1e-5);
    });

    it('has the best tokens and their logprobs at every position', () => {
      for (const [position, row] of whole.entries()) {
        const all = logprobs(row);
        const five = golden.top5_ids[position] ?? [];
        const expected = golden.top5_logprobs[position] ?? [];
        expect(
          worst(
            five.map((id) => all[id] ?? 0),
            expected,
          ),
        ).toBeLessThan(logitTolerance);
        if ((golden.gap[position] ?? 0) > gapTolerance) {
          expect(argmax(row)).toBe(golden.argmax[position]);
        }
      }
    });

    it('chooses the same experts with the same weights', async () => {
      for (const [layer, rows] of Object.entries(golden.router)) {
        for (const { pos, experts, weights } of rows) {
          const chosen = await recorder.experts(Number(layer), pos);
          expect(chosen.ids).toEqual(experts);
          // The golden weights are before the routed scale of 2.
          expect(
            worst(
              chosen.weights.map((w) => w / 2),
              weights,
            ),
          ).toBeLessThan(logitTolerance);
        }
      }
    });

    it('chooses the same blocks', async () => {
      for (const [layer, rows] of Object.entries(golden.blocks)) {
        for (const { pos, groups } of rows) {
          expect(await recorder.blocks(Number(layer), pos)).toEqual(groups);
        }
      }
    });

    it('has the residual stream at every stage', async () => {
      for (const [stage, rows] of Object.entries(golden.residual)) {
        for (const { pos, rms, first16 } of rows) {
          const row = await recorder.residual(stage, pos, layers);
          expect(worst(row.slice(0, 16), first16)).toBeLessThan(1e-4 + 3e-5 * rms);
          const squares = row.reduce((sum, value) => sum + value * value, 0);
          expect(Math.abs(Math.sqrt(squares / row.length) - rms)).toBeLessThan(1e-4 + 3e-5 * rms);
        }
      }
    });

    it('gives the same bits in chunks, whose borders are no block borders', async () => {
      session.reset();
      let start = 0;
      for (const size of [7, 50, 33, 300, 201, 309]) {
        const tokens = prompt.slice(start, start + size);
        if (tokens.length === 0) break;
        const [rows = []] = await session.run([{ sequence: 1, tokens }], { padding: size % 5 });
        for (const [i, row] of rows.entries()) expect(worst(row, whole[start + i] ?? [])).toBe(0);
        start += size;
      }
      expect(start).toBeGreaterThanOrEqual(prompt.length);
    });

    it('gives the same bits token by token, eager and replayed', async () => {
      session.reset();
      const early = prompt.length - 40;
      await session.run([{ sequence: 2, tokens: prompt.slice(0, early) }]);
      const { replay } = await session.capture(2);
      for (let position = early; position < prompt.length; position++) {
        const piece = [{ sequence: 2, tokens: prompt.slice(position, position + 1) }];
        const [[row] = []] = await (position % 3 === 0 ? session.run(piece) : replay(piece));
        expect(worst(row ?? [], whole[position] ?? [])).toBe(0);
      }
    });

    it('continues greedily as recorded, with replayed graphs', async () => {
      session.reset();
      const [prefill = []] = await session.run([{ sequence: 0, tokens: prompt }]);
      const { replay } = await session.capture(1);
      let row = prefill.at(-1) ?? new Float32Array();
      for (const { token, gap, top5 } of golden.greedy) {
        const all = logprobs(row);
        expect(
          worst(
            top5.map(([id]) => all[id] ?? 0),
            top5.map(([, p]) => p),
          ),
        ).toBeLessThan(logitTolerance);
        if (gap > gapTolerance) expect(argmax(row)).toBe(token);
        const [[next] = []] = await replay([{ sequence: 0, tokens: [token] }]);
        row = next ?? new Float32Array();
      }
    });

    it('gives every sequence of a mixed batch the bits that it gets alone', async () => {
      session.reset();
      const lengths = [prompt.length - 3, 41, 13];
      const pieces = (cut: (length: number) => [number, number]) =>
        lengths.map((length, sequence) => ({ sequence, tokens: prompt.slice(...cut(length)) }));
      const first = await session.run(pieces((length) => [0, length - 5]));
      const second = await session.run(
        pieces((length) => [length - 5, length]),
        { padding: 3 },
      );
      for (const [sequence, length] of lengths.entries()) {
        const rows = [...(first[sequence] ?? []), ...(second[sequence] ?? [])];
        expect(rows).toHaveLength(length);
        for (const [i, row] of rows.entries()) expect(worst(row, whole[i] ?? [])).toBe(0);
      }
    });
  });
});
