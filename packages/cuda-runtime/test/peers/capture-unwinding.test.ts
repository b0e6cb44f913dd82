import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  collectUntil,
  launchEmpty,
  numberOf,
  openPeerScene,
  type PeerScene,
  replay,
} from '../makers/peer-scene.js';
import { accumulate, readInts, zeros } from '../makers/test-kernels.js';

/** A way to lose a capture on `main`, from inside the callback of `device.capture`. */
type Mistake = (t: PeerScene) => unknown;

const mistakes: Readonly<Record<string, Mistake>> = {
  'unjoined 904': (t) => {
    t.side.waitStream(t.main);
    launchEmpty(t, t.side);
  },
  'isolation 905': (t) => t.main.wait(t.third.record()),
  'merge 902': (t) => {
    t.third.beginCapture();
    try {
      t.main.waitStream(t.third);
    } finally {
      t.third.abortCapture();
    }
  },
  'ended on a fork 903': (t) => t.side.waitStream(t.main).endCapture(),
  'begun again 401': (t) => t.main.beginCapture(),
  'queried 900': (t) => t.main.isIdle(),
  'captured event 907': (t) => t.main.record().isDone(),
  'bad launch 1': (t) => t.main.launch(t.kernels.empty, { grid: [0], block: [1] }, { tag: 0 }),
  'a promise': async () => undefined,
  'an exception': () => {
    throw new Error('of the user');
  },
};

onEachBackend((backend) => {
  describe.each([true, false])('guards: %s', (guards) => {
    let t: PeerScene;
    beforeEach(async () => {
      t = await openPeerScene({ backend, guards });
    });
    afterEach(() => t.runtime.dispose());

    const lose = (mistake: Mistake) => () =>
      t.device.capture(() => mistake(t) as undefined, { stream: t.main });

    test.each(Object.entries(mistakes))(
      '#11: after a capture lost by %s, a good one follows on the same streams',
      async (_, mistake) => {
        const y = zeros(t, t.main, 1);
        await t.device.synchronize();
        for (let round = 1; round <= 3; round += 1) {
          expect(lose(mistake)).toThrow();
          const graph = t.device.capture(() => diamond(t, y), { stream: t.main });
          expect([graph.nodes.length, graph.edges.length]).toEqual([4, 4]);
          await replay(graph, t.main);
          expect(await readInts(t.main, y)).toEqual([3 * round]);
        }
      },
    );

    test('#13: the current stream is the same before and after each failure', () => {
      for (const current of [t.third, t.main]) {
        t.runtime.withStream(current, () => {
          for (const mistake of Object.values(mistakes)) {
            expect(lose(mistake)).toThrow();
            expect(t.runtime.currentStream()).toBe(current);
          }
        });
      }
      expect(t.runtime.currentStream()).not.toBe(t.main);
    });

    test('#14: abandoned captures keep nothing', async () => {
      const live = async () => {
        await t.device.synchronize();
        await delay(20);
        return t.runtime.stats().live;
      };
      const before = await live();
      for (const mistake of Object.values(mistakes)) {
        const record = () => {
          accumulate(t, t.main, zeros(t, t.main, 1000));
          t.main.notify(() => undefined);
          return mistake(t);
        };
        expect(lose(record)).toThrow();
      }
      const forgotten = t.device.createStream();
      forgotten.beginCapture();
      accumulate(t, forgotten, zeros(t, forgotten, 1000));
      forgotten.dispose();
      await collectUntil(() => t.runtime.stats().live['buffer'] === before['buffer']);
      expect(await live()).toEqual(before);
    });

    test('#20: the capture mode is off after a body that throws, and counts when nested', () => {
      const { runtime } = t;
      const failing = () =>
        runtime.withCaptureMode(() => {
          runtime.withCaptureMode(() => expect(runtime.isCaptureMode()).toBe(true));
          expect(runtime.isCaptureMode()).toBe(true);
          expect(lose(() => Promise.resolve())).toThrow('promise');
          expect(runtime.isCaptureMode()).toBe(true);
          throw new Error('body');
        });
      expect(failing).toThrow('body');
      expect(runtime.isCaptureMode()).toBe(false);
      for (const mistake of Object.values(mistakes)) {
        expect(lose(mistake)).toThrow();
        expect(runtime.isCaptureMode()).toBe(false);
      }
    });
  });

  test('#15: a replay inside a capture is refused, and releases there do not throw', async () => {
    const t = await openPeerScene({ backend });
    const y = zeros(t, t.main, 1);
    await t.main.synchronize();
    const inner = t.device.capture(() => accumulate(t, t.main, y), { stream: t.main });
    const exec = inner.instantiateSync();
    exec.launch(t.side);
    const objects = [exec, inner, t.side.record(), t.device.alloc(64), t.device.allocHostSync(64)];
    t.main.beginCapture({ mode: 'global' });
    expect(numberOf(() => exec.launch(t.main))).toBe(900);
    accumulate(t, t.main, y);
    for (const object of [...objects, t.third]) object[Symbol.dispose]();
    expect(t.main.captureStatus).toBe('active');
    const graph = t.main.endCapture();
    expect(graph.nodes).toHaveLength(1);
    await t.side.synchronize();
    await replay(graph, t.main);
    expect(await readInts(t.main, y)).toEqual([2]);
    await t.runtime.dispose();
  });
});

function diamond(t: PeerScene, y: ReturnType<typeof zeros>): void {
  const streams: Stream[] = [t.main, t.side];
  accumulate(t, t.main, y);
  t.side.waitStream(t.main);
  launchEmpty(t, t.main);
  for (const stream of streams.slice(1)) accumulate(t, stream, y);
  t.main.waitStream(t.side);
  accumulate(t, t.main, y);
}
