import { expect } from 'vitest';
import type { Row, Scene } from './scene.js';

/** Rows CI01–CI05: what a broken capture answers. */
export const invalidationRows: readonly Row[] = [
  {
    id: 'CI01',
    title: 'a launch, record or wait after the invalidation answers 901',
    run(scene) {
      const event = scene.event();
      breakCapture(scene);
      expect(scene.number(() => scene.k(scene.s1))).toBe(901);
      expect(scene.number(() => scene.s1.record())).toBe(901);
      expect(scene.number(() => scene.s1.wait(event))).toBe(901);
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
  {
    id: 'CI02',
    title: 'beginning again before the end answers 401',
    run(scene) {
      breakCapture(scene);
      expect(scene.number(() => scene.s1.beginCapture())).toBe(401);
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
  {
    id: 'CI03',
    title: 'synchronising or querying the origin answers 900',
    run(scene) {
      breakCapture(scene);
      expect(scene.number(() => scene.s1.synchronizeSync())).toBe(900);
      expect(scene.number(() => scene.s1.isIdle())).toBe(900);
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
  {
    id: 'CI04',
    title: 'the status says invalidated, and the id can still be read',
    run(scene) {
      breakCapture(scene);
      expect(scene.s1.captureStatus).toBe('invalidated');
      expect(scene.s1.captureId).toBeGreaterThan(0n);
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
  {
    id: 'CI05',
    title: 'synchronising the fork answers 900',
    run(scene) {
      breakCapture(scene);
      expect(scene.number(() => scene.s2.synchronizeSync())).toBe(900);
      expect(scene.s2.captureStatus).toBe('invalidated');
      expect(scene.end(scene.s1)).toBe('901');
    },
  },
];

// Ending on a fork breaks a capture with and without guards.
function breakCapture(scene: Scene): void {
  scene.s1.beginCapture();
  scene.link(scene.s1, scene.s2);
  expect(scene.end(scene.s2)).toBe('903');
}
