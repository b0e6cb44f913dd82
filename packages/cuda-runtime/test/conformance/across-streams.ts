import { expect } from 'vitest';
import type { CaptureMode, Event } from '../../src/index.js';
import { accumulate, readInts, zeros } from '../makers/test-kernels.js';
import type { Row, Scene } from './scene.js';

const modes: readonly CaptureMode[] = ['global', 'thread_local', 'relaxed'];

/** Rows CX01–CX15: forks, joins and isolation. */
export const acrossStreamsRows: readonly Row[] = [
  {
    id: 'CX01',
    title: 'waiting for a never-recorded event has no effect',
    run(scene) {
      scene.s1.beginCapture();
      expect(scene.number(() => scene.s1.wait(scene.event()))).toBe(0);
      expect(scene.s1.captureStatus).toBe('active');
      expect(scene.end(scene.s1)).toBe('ok 0/0');
    },
  },
  ...modes.flatMap((mode) =>
    (['pending', 'complete', 'own'] as const).map((kind) => outsideWait(mode, kind)),
  ),
  {
    id: 'CX03',
    title: 'an event recorded during the capture on a stream outside it answers 905',
    run(scene) {
      scene.s1.beginCapture();
      const event = scene.s2.record();
      expect(scene.number(() => scene.s1.wait(event))).toBe(905);
      scene.expectRefused(scene.s1, 'ok 0/0');
    },
  },
  {
    id: 'CX04',
    title: 'a stream that waits for a captured event takes part in the same capture',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      expect(scene.s2.captureStatus).toBe('active');
      expect(scene.s2.captureId).toBe(scene.s1.captureId);
      scene.s1.abortCapture();
    },
  },
  {
    id: 'CX05',
    title: 'work that was pending on the fork stays outside, and the replay does not wait for it',
    async run(scene) {
      scene.long(scene.s2, 300);
      scene.s1.beginCapture();
      scene.k(scene.s1);
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      scene.link(scene.s2, scene.s1);
      expect(scene.end(scene.s1)).toBe('ok 2/1');
      await scene.replay();
      expect(scene.s2.isIdle()).toBe(false);
    },
  },
  {
    id: 'CX06',
    title: 'a diamond has four nodes and four edges, and each replay runs all four',
    async run(scene) {
      const [a, b] = [zeros(scene.test, scene.s1, 1), zeros(scene.test, scene.s1, 1)];
      scene.s1.beginCapture();
      accumulate(scene.test, scene.s1, a);
      scene.link(scene.s1, scene.s2);
      accumulate(scene.test, scene.s1, a);
      accumulate(scene.test, scene.s2, b);
      scene.link(scene.s2, scene.s1);
      accumulate(scene.test, scene.s1, a);
      expect(scene.end(scene.s1)).toBe('ok 4/4');
      for (const replays of [1, 2, 3]) {
        await scene.replay();
        const sum = [...(await readInts(scene.s1, a)), ...(await readInts(scene.s1, b))];
        expect(sum.reduce((total, value) => total + value)).toBe(4 * replays);
      }
    },
  },
  {
    id: 'CX07',
    title: 'a fork with a node and no join answers 904',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      expect(scene.end(scene.s1)).toBe('904');
    },
  },
  {
    id: 'CX08',
    title: 'a fork that only waited, or waited and recorded, needs no join',
    run(scene) {
      for (const alsoRecords of [false, true]) {
        scene.s1.beginCapture();
        scene.k(scene.s1);
        scene.link(scene.s1, scene.s2);
        if (alsoRecords) scene.s2.record();
        expect(scene.end(scene.s1)).toBe('ok 1/0');
      }
    },
  },
  {
    id: 'CX09',
    title: 'a fork from an origin without nodes takes part and needs no join',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      expect(scene.s2.captureStatus).toBe('active');
      expect(scene.end(scene.s1)).toBe('ok 0/0');
    },
  },
  {
    id: 'CX10',
    title: 'joining at an event before the last node of the fork answers 904',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      const early = scene.s2.record();
      scene.k(scene.s2);
      scene.s1.wait(early);
      expect(scene.end(scene.s1)).toBe('904');
    },
  },
  {
    id: 'CX11',
    title: 'a node on the fork after its join answers 904',
    run(scene) {
      forkAndJoin(scene);
      scene.k(scene.s2);
      expect(scene.end(scene.s1)).toBe('904');
    },
  },
  {
    id: 'CX12',
    title: 'joins may go along a chain of streams or back the same way',
    run(scene) {
      for (const back of [[scene.s3, scene.s1] as const, [scene.s3, scene.s2, scene.s1] as const]) {
        scene.s1.beginCapture();
        scene.k(scene.s1);
        scene.link(scene.s1, scene.s2);
        scene.k(scene.s2);
        scene.link(scene.s2, scene.s3);
        scene.k(scene.s3);
        for (const [index, to] of back.slice(1).entries()) {
          const from = back[index];
          if (from) scene.link(from, to);
        }
        expect(scene.end(scene.s1)).toBe('ok 3/2');
      }
    },
  },
  {
    id: 'CX13',
    title: 'a join with no node after it leaves two entries in the frontier',
    run(scene) {
      forkAndJoin(scene);
      expect(scene.end(scene.s1)).toBe('ok 2/1');
    },
  },
  {
    id: 'CX14',
    title: "waiting for one's own event makes no edge, on the origin and on a fork",
    run(scene) {
      scene.s1.beginCapture();
      scene.k(scene.s1);
      scene.link(scene.s1, scene.s1);
      scene.k(scene.s1);
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      scene.link(scene.s2, scene.s2);
      scene.k(scene.s2);
      scene.link(scene.s2, scene.s1);
      expect(scene.end(scene.s1)).toBe('ok 4/3');
    },
  },
  {
    id: 'CX15',
    title: 'waiting twice for the same event makes no second edge',
    run(scene) {
      scene.s1.beginCapture();
      scene.k(scene.s1);
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      scene.k(scene.s1);
      const joined = scene.s2.record();
      scene.s1.wait(joined);
      scene.s1.wait(joined);
      scene.k(scene.s1);
      expect(scene.end(scene.s1)).toBe('ok 4/4');
    },
  },
];

/** Begins on S1, a node there, a node on the fork S2, join. */
export function forkAndJoin(scene: Scene): void {
  scene.s1.beginCapture();
  scene.k(scene.s1);
  scene.link(scene.s1, scene.s2);
  scene.k(scene.s2);
  scene.link(scene.s2, scene.s1);
}

function outsideWait(mode: CaptureMode, kind: 'pending' | 'complete' | 'own'): Row {
  return {
    id: 'CX02',
    title: `waiting for an outside event (${kind}) in mode ${mode} answers 905`,
    async run(scene) {
      const on = kind === 'own' ? scene.s1 : scene.s2;
      if (kind === 'pending') scene.long(on);
      const event: Event = on.record();
      if (kind === 'complete') await event.done();
      scene.s1.beginCapture({ mode });
      expect(scene.number(() => scene.s1.wait(event))).toBe(905);
      scene.expectRefused(scene.s1, 'ok 0/0');
    },
  };
}
