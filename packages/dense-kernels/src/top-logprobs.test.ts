import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { topLogprobs } from './top-logprobs.js';
import { planTopLogprobs } from './top-logprobs.plan.js';

const logits = fakeTensor([6, 50], 'f32');
const ids = fakeTensor([6], 'i32');

test('takes a launch without scratch on the CPU', () => {
  const shape = { rows: 6, vocab: 50, count: 20 };
  expect(planTopLogprobs(shape, { ...limits, cpuLevel: 'avx2' })).toEqual({
    launches: [{ kernel: 'top_logprobs', config: { grid: [6], block: [1] }, firstRow: 0 }],
    workspaceBytes: 0,
  });
});

test.each([
  {
    rows: 1,
    vocab: 200_064,
    grids: [
      [98, 1],
      [1, 1],
    ],
    bytes: 98 * 184,
  },
  {
    rows: 64,
    vocab: 200_064,
    grids: [
      [4, 64],
      [1, 64],
    ],
    bytes: 64 * 98 * 184,
  },
  {
    rows: 257,
    vocab: 50,
    grids: [
      [1, 256],
      [1, 256],
      [1, 1],
      [1, 1],
    ],
    bytes: 256 * 184,
  },
])('splits $rows rows of $vocab ids into parts on CUDA', ({ rows, vocab, grids, bytes }) => {
  const plan = planTopLogprobs({ rows, vocab, count: 20 }, { ...limits, processors: 132 });
  expect(plan.launches.map(({ config }) => config.grid)).toEqual(grids);
  expect(plan.launches.map(({ firstRow }) => firstRow)).toEqual(
    [0, 0, 256, 256].slice(0, grids.length),
  );
  expect(plan.workspaceBytes).toBe(bytes);
});

test('returns the chosen and the best, or the chosen alone', async () => {
  const { stream, launches } = await fakeStream();
  const best = topLogprobs({ logits, ids, count: 20 }, { stream });
  expect([best.chosen.shape, best.ids.shape, best.logprobs.shape]).toEqual([[6], [6, 20], [6, 20]]);
  topLogprobs({ logits, ids, count: 0 }, { stream });
  expect(launches.at(-1)?.params).toMatchObject({ count: 0, best_ids: null, best_logprobs: null });
});

test('launches nothing for no rows', async () => {
  const { stream, launches } = await fakeStream();
  topLogprobs(
    { logits: fakeTensor([0, 50], 'f32'), ids: fakeTensor([0], 'i32'), count: 5 },
    { stream },
  );
  expect(launches).toEqual([]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const refused = (run: () => unknown, argument: string, code: string) =>
    expect(run).toThrow(expect.objectContaining({ operation: 'topLogprobs', argument, code }));
  refused(() => topLogprobs({ logits: ids, ids, count: 1 }, { stream }), 'logits', 'DENSE_DTYPE');
  refused(() => topLogprobs({ logits, ids: logits, count: 1 }, { stream }), 'ids', 'DENSE_DTYPE');
  for (const count of [-1, 1.5, 51, Number.NaN]) {
    refused(() => topLogprobs({ logits, ids, count }, { stream }), 'count', 'DENSE_RANGE');
  }
  const wide = fakeTensor([6, 1000], 'f32');
  refused(() => topLogprobs({ logits: wide, ids, count: 257 }, { stream }), 'count', 'DENSE_RANGE');
});
