import { expect } from 'vitest';
import { Event } from '../../src/index.js';
import { forkAndJoin } from './across-streams.js';
import type { Row, Scene } from './scene.js';

/** Rows CX16–CX28: merges, stale and external events. */
export const capturedEventRows: readonly Row[] = [
  {
    id: 'CX16',
    title: 'joining two captures answers 902 and breaks both',
    run(scene) {
      scene.s1.beginCapture();
      scene.s2.beginCapture();
      const event = scene.s2.record();
      expect(scene.number(() => scene.s1.wait(event))).toBe(902);
      expect([scene.s1.captureStatus, scene.s2.captureStatus]).toEqual([
        'invalidated',
        'invalidated',
      ]);
      expect([scene.end(scene.s1), scene.end(scene.s2)]).toEqual(['901', '901']);
    },
  },
  {
    id: 'CX17',
    title: 'a captured event that is recorded outside is ordinary again',
    run(scene) {
      scene.s1.beginCapture({ mode: 'relaxed' });
      const event = scene.s1.record();
      scene.s3.record(event);
      expect(['pending', 'complete']).toContain(event.state);
      expect(scene.number(() => event.isDone())).toBe(0);
      expect(scene.number(() => scene.s1.wait(event))).toBe(905);
      scene.expectRefused(scene.s1, 'ok 0/0');
      scene.s1.beginCapture({ mode: 'thread_local' });
      expect(scene.number(() => event.isDone())).toBe(900);
      scene.expectRefused(scene.s1, 'ok 0/0');
    },
  },
  {
    id: 'CX18',
    title: 'an event recorded again on the fork joins it',
    run(scene) {
      scene.s1.beginCapture();
      scene.k(scene.s1);
      const event = scene.s1.record();
      scene.s2.wait(event);
      scene.k(scene.s2);
      scene.s2.record(event);
      scene.s1.wait(event);
      expect(scene.end(scene.s1)).toBe('ok 2/1');
    },
  },
  {
    id: 'CX19',
    title: 'events may be disposed right after the waits that used them',
    run(scene) {
      scene.s1.beginCapture();
      scene.k(scene.s1);
      for (const [from, to] of [
        [scene.s1, scene.s2],
        [scene.s2, scene.s1],
      ] as const) {
        const event = from.record();
        to.wait(event);
        event.dispose();
        if (to === scene.s2) scene.k(scene.s2);
      }
      expect(scene.end(scene.s1)).toBe('ok 2/1');
    },
  },
  ...(['the end', 'the graph is gone', 'invalidation'] as const).map(staleEvent),
  {
    id: 'CX21',
    title: 'a stale event can be disposed, or recorded and used again',
    async run(scene) {
      const [first, second] = [staleAfter(scene, 'the end'), staleAfter(scene, 'the end')];
      expect(scene.number(() => first.dispose())).toBe(0);
      expect(scene.number(() => scene.s3.record(second))).toBe(0);
      await scene.s3.synchronize();
      expect(second.isDone()).toBe(true);
    },
  },
  {
    id: 'CX22',
    title: 'waiting for a stale event in a new capture answers 1',
    run(scene) {
      const event = staleAfter(scene, 'the end');
      scene.s1.beginCapture();
      expect(scene.number(() => scene.s1.wait(event))).toBe(1);
      scene.expectRefused(scene.s1, 'ok 0/0');
    },
  },
  {
    id: 'CX23',
    title: 'external record and wait become nodes',
    run(scene) {
      scene.s1.beginCapture();
      scene.s1.record(scene.event(), { external: true });
      scene.s1.wait(scene.event(), { external: true });
      expect(scene.end(scene.s1)).toBe('ok 2/1');
      const kinds = scene.graph?.nodes.map(({ kind }) => kind);
      expect(kinds).toEqual(['event-record', 'event-wait']);
    },
  },
  {
    id: 'CX24',
    title: 'external outside a capture answers 401',
    run(scene) {
      const event = scene.event();
      expect(scene.number(() => scene.s1.record(event, { external: true }))).toBe(401);
      expect(scene.number(() => scene.s1.wait(event, { external: true }))).toBe(401);
    },
  },
  {
    id: 'CX25',
    title: 'a replay does not wait for an external event that was never recorded',
    async run(scene) {
      externalWait(scene, scene.event());
      await scene.replay();
    },
  },
  {
    id: 'CX26',
    title: 'external events time a kernel: 400 before the replay, a time after it',
    async run(scene) {
      const [start, end] = [scene.event(true), scene.event(true)];
      scene.s1.beginCapture();
      scene.s1.record(start, { external: true });
      scene.long(scene.s1, 20);
      scene.s1.record(end, { external: true });
      expect(scene.end(scene.s1)).toBe('ok 4/3');
      expect(scene.number(() => Event.elapsedMs(start, end))).toBe(400);
      await scene.replay();
      expect(Event.elapsedMs(start, end)).toBeGreaterThanOrEqual(20);
    },
  },
  {
    id: 'CX27',
    title: 'a record issued after the launch is not waited for',
    async run(scene) {
      const event = scene.event();
      const executable = externalWait(scene, event);
      executable.launch(scene.s1);
      scene.long(scene.s2, 300);
      scene.s2.record(event);
      await scene.s1.synchronize();
      expect(scene.s2.isIdle()).toBe(false);
    },
  },
  {
    id: 'CX28',
    title: 'a record issued before the launch is waited for',
    async run(scene) {
      const event = scene.event();
      const executable = externalWait(scene, event);
      scene.long(scene.s2, 60);
      scene.s2.record(event);
      expect(event.isDone()).toBe(false);
      executable.launch(scene.s1);
      await scene.s1.synchronize();
      expect(event.isDone()).toBe(true);
    },
  },
];

type Ending = 'the end' | 'the graph is gone' | 'invalidation';

function staleEvent(ending: Ending): Row {
  return {
    id: 'CX20',
    title: `an event captured before ${ending} answers 1 to everything`,
    run(scene) {
      const [event, other] = [staleAfter(scene, ending, true), staleAfter(scene, ending, true)];
      expect(event.state).toBe('stale');
      expect(scene.number(() => event.isDone())).toBe(1);
      expect(scene.number(() => event.waitSync())).toBe(1);
      expect(scene.number(() => Event.elapsedMs(event, other))).toBe(1);
      expect(scene.number(() => scene.s3.wait(event))).toBe(1);
      expect(scene.s3.captureStatus).toBe('none');
    },
  };
}

function staleAfter(scene: Scene, ending: Ending, timing = false): Event {
  const event = scene.event(timing);
  if (ending !== 'invalidation') {
    forkAndJoin(scene);
    scene.s1.record(event);
    scene.end(scene.s1);
    if (ending === 'the graph is gone') scene.graph?.dispose();
    return event;
  }
  scene.s1.beginCapture();
  scene.s1.record(event);
  scene.s2.beginCapture();
  scene.number(() => scene.s1.wait(scene.s2.record()));
  scene.end(scene.s1);
  scene.end(scene.s2);
  return event;
}

function externalWait(scene: Scene, event: Event) {
  scene.s1.beginCapture();
  scene.s1.wait(event, { external: true });
  scene.k(scene.s1);
  expect(scene.end(scene.s1)).toBe('ok 2/1');
  if (!scene.graph) throw new Error('no graph');
  return scene.graph.instantiateSync();
}
