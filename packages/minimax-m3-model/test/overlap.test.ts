import { RaceError, Workspace } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTokens } from '@altstream/hash-checkpoint';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import { ModelStep } from '../src/model-step.js';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

const tokens = hashTokens(45, 256);

/** Prefill of 40 tokens, then 5 steps of one; the logits of those. */
async function decode(model: MiniMaxM3Model, how: 'eager' | 'graph'): Promise<Float32Array[]> {
  const session = new Session(model, 1, tokens.length);
  await session.run([{ sequence: 0, tokens: tokens.slice(0, 40) }]);
  const captured = how === 'graph' ? await session.capture(1) : undefined;
  const rows: Float32Array[] = [];
  for (const token of tokens.slice(40)) {
    const piece = [{ sequence: 0, tokens: [token] }];
    const [[row] = []] = await (captured ? captured.replay(piece) : session.run(piece));
    if (row) rows.push(row);
  }
  model.runtime.checkRaces();
  return rows;
}

/** The logits of five steps, bit for bit. */
function expectSame(rows: readonly Float32Array[], expected: readonly Float32Array[]): void {
  expect([rows.length, expected.length]).toEqual([5, 5]);
  for (const [i, row] of rows.entries()) expect(worst(row, expected[i] ?? [])).toBe(0);
}

/** Out of memory in the shared branch. */
class FailingWorkspace extends Workspace {
  override tensor(...args: Parameters<Workspace['tensor']>) {
    if (args[2] === 'shared') throw new Error('planted');
    return super.tensor(...args);
  }
}

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);
  const checked = backend === 'cpu' ? { cpu: { raceCheck: true } } : {};
  let directory = '';

  beforeAll(async () => {
    directory = await folder({ model: 'T32', mxfp8: true });
  });

  describe('overlap of shared and routed experts', () => {
    it.each(['float32', 'bfloat16'] as const)(
      'gives the bits of the serial run in %s',
      async (dtype) => {
        const serial = await decode(await load({ directory, dtype, overlap: 'off' }), 'eager');
        const off = await load({ directory, dtype, overlap: 'off' });
        const captured = await load({ directory, dtype, ...checked });
        const always = await load({ directory, dtype, overlap: 'always', ...checked });
        const runs = [
          await decode(off, 'graph'),
          await decode(captured, 'graph'),
          await decode(captured, 'eager'),
          await decode(always, 'graph'),
          await decode(always, 'eager'),
        ];
        for (const rows of runs) expectSame(rows, serial);
      },
    );

    it.each(['alternate', 'current'] as const)(
      'leaves both streams usable when the %s branch throws',
      async (branch) => {
        const model = await load({ directory, overlap: 'always', ...checked });
        const serial = await decode(await load({ directory, overlap: 'off' }), 'eager');
        const session = new Session(model, 1, tokens.length, new FailingWorkspace(model.device));
        const failing = {
          router: () => {
            throw new Error('planted');
          },
        };
        const options = branch === 'alternate' ? { taps: failing } : {};
        const piece = { sequence: 0, tokens: [5, 6] };
        await expect(session.run([piece], options)).rejects.toThrow('planted');
        expect(model.runtime.streams.get('alt').captureStatus).toBe('none');
        expectSame(await decode(model, 'graph'), serial);
      },
    );
  });

  describe('a pass of no tokens', () => {
    it('gives no rows and still calls the routed experts', async () => {
      const model = await load({ directory, overlap: 'always' });
      const session = new Session(model, 1, 8);
      const routed: number[] = [];
      const taps = { router: (layer: number) => routed.push(layer) };
      expect(await session.run([], { taps })).toEqual([]);
      expect(routed).toEqual([1, 2, 3]);
    });
  });
});

// In which order streams run, and whether anything orders them, is to be chosen and seen on the CPU
// only.
describe('overlap in any order', () => {
  const folder = makeFolders();
  const load = makeModels('cpu');
  let directory = '';
  let serial: Float32Array[] = [];

  beforeAll(async () => {
    directory = await folder({ model: 'T32', mxfp8: true });
    const model = await load({ directory, overlap: 'off', cpu: { schedule: 'serial' } });
    serial = await decode(model, 'eager');
  });

  const seeds = Array.from({ length: 6 }, (_, i) => ({ schedule: 'random', seed: i + 1 }) as const);
  const schedules = [{ schedule: 'serial' }, { schedule: 'adversarial' }, ...seeds] as const;
  it.each(schedules)('gives the bits of the serial run under %j, without a race', async (cpu) => {
    const checked = { raceCheck: true, poison: true, ...cpu };
    const captured = await load({ directory, cpu: checked });
    const always = await load({ directory, overlap: 'always', cpu: checked });
    expectSame(await decode(captured, 'graph'), serial);
    expectSame(await decode(always, 'eager'), serial);
  });

  it('would be caught by the race checker if a wait were missing', async () => {
    const model = await load({ directory, cpu: { raceCheck: true, schedule: 'serial' } });
    const session = new Session(model, 1, 8);
    const [block] = model.moeBlocks.values();
    const { stream, workspace } = session;
    const hidden = stream.tensor([1, 64], 'f32', 'hidden');
    const ids = stream.tensor([1], 'i32', 'ids');
    const batch = {
      tokenIds: ids,
      positions: ids,
      sequenceIds: ids,
      slots: ids,
      rows: ids,
      pageTable: ids,
    };
    stream.fill(hidden, 0);
    stream.fill(ids, 0);
    const step = new ModelStep(batch, session.cache, { stream, workspace });
    const alternate = step.beside(model.runtime.streams.get('alt'));
    block?.forwardShared(hidden, step);
    // Planted: alt does not wait for the stream that makes `hidden`.
    block?.forwardRouted(hidden, alternate);
    const race = await model.device.synchronize().then(
      () => model.runtime.checkRaces(),
      (error: unknown) => error,
    );
    expect(race).toBeInstanceOf(RaceError);
    expect((race as Error).message).toContain('hidden');
  });
});
