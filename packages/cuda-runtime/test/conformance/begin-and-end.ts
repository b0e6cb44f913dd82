import { expect } from 'vitest';
import type { CaptureMode } from '../../src/index.js';
import { forkAndJoin } from './across-streams.js';
import type { Row } from './scene.js';

/** Rows CB01–CB19 that one thread can play. */
export const beginAndEndRows: readonly Row[] = [
  {
    id: 'CB01',
    title: 'the legacy stream cannot capture, in any mode',
    run(scene) {
      const { device } = scene.test;
      for (const mode of ['global', 'thread_local', 'relaxed'] as const) {
        expect(scene.number(() => device.legacyStream.beginCapture({ mode }))).toBe(900);
      }
      expect(device.legacyStream.captureStatus).toBe('none');
    },
  },
  {
    id: 'CB03',
    title: 'beginning twice answers 401 and leaves the capture alone',
    run(scene) {
      scene.s1.beginCapture();
      expect(scene.number(() => scene.s1.beginCapture())).toBe(401);
      expect(scene.end(scene.s1)).toBe('ok 0/0');
    },
  },
  {
    id: 'CB04',
    title: 'an unknown mode answers 1',
    run(scene) {
      const mode = 'strict' as CaptureMode;
      expect(scene.number(() => scene.s1.beginCapture({ mode }))).toBe(1);
      expect(scene.s1.captureStatus).toBe('none');
    },
  },
  {
    id: 'CB05',
    title: 'beginning on a participant of another capture answers 401, both stay good',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      expect(scene.number(() => scene.s2.beginCapture())).toBe(401);
      expect(scene.s2.captureStatus).toBe('active');
      expect(scene.end(scene.s1)).toBe('ok 0/0');
    },
  },
  {
    id: 'CB06',
    title: 'unfinished earlier work is not captured',
    run(scene) {
      scene.long(scene.s1);
      scene.s1.beginCapture();
      scene.k(scene.s1);
      expect(scene.end(scene.s1)).toBe('ok 1/0');
    },
  },
  {
    id: 'CB07',
    title: 'ending without a beginning answers 401, also on the legacy stream',
    run(scene) {
      expect(scene.end(scene.s1)).toBe('401');
      expect(scene.end(scene.test.device.legacyStream)).toBe('401');
    },
  },
  {
    id: 'CB09',
    title: 'ending on a fork answers 903 and breaks the capture',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      expect(scene.end(scene.s2)).toBe('903');
      expect(scene.s1.captureStatus).toBe('invalidated');
      expect(scene.s2.captureStatus).toBe('invalidated');
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
  {
    id: 'CB10',
    title: 'an empty capture is a graph that can be launched',
    async run(scene) {
      scene.s1.beginCapture();
      expect(scene.end(scene.s1)).toBe('ok 0/0');
      await scene.replay();
    },
  },
  {
    id: 'CB16',
    title: 'origin and fork have one id, the next capture another',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      const id = scene.s1.captureId;
      expect(scene.s2.captureId).toBe(id);
      expect(scene.end(scene.s1)).toBe('ok 0/0');
      expect(scene.s1.captureId).toBeUndefined();
      scene.s1.beginCapture();
      expect(scene.s1.captureId).not.toBe(id);
      expect(scene.end(scene.s1)).toBe('ok 0/0');
    },
  },
  {
    id: 'CB17',
    title: 'disposing the capturing origin ends the capture',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      const event = scene.s2.record();
      scene.s1.dispose();
      expect(scene.s2.captureStatus).toBe('none');
      expect(event.state).toBe('stale');
      expect(scene.number(() => scene.s3.isIdle())).toBe(0);
    },
  },
  {
    id: 'CB18',
    title: 'disposing an unjoined fork that has nodes still answers 904',
    run(scene) {
      scene.s1.beginCapture();
      scene.link(scene.s1, scene.s2);
      scene.k(scene.s2);
      scene.s2.dispose();
      expect(scene.end(scene.s1)).toBe('904');
    },
  },
  {
    id: 'CB19',
    title: 'disposing a joined fork does not matter',
    run(scene) {
      forkAndJoin(scene);
      scene.s2.dispose();
      expect(scene.end(scene.s1)).toBe('ok 2/1');
    },
  },
];
