import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Event, open, probeSync, type Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  errorOf,
  launchEmpty,
  numberOf,
  openPeerScene,
  type PeerScene,
} from '../makers/peer-scene.js';
import { spin } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: PeerScene;
  let [main, side] = [] as Stream[] as [Stream, Stream];

  beforeEach(async () => {
    t = await openPeerScene({ backend });
    ({ main, side } = t);
  });
  afterEach(() => t.runtime.dispose());

  test('#23: a wait before the record orders nothing, and strictEvents refuses it', async () => {
    const event = t.device.createEvent();
    expect([event.state, event.isDone()]).toEqual(['unrecorded', true]);
    spin(t, main, 200);
    side.wait(event);
    main.record(event);
    launchEmpty(t, side);
    await side.synchronize();
    expect(event.isDone()).toBe(false);
    const graph = t.device.capture((s) => void s.wait(t.device.createEvent()), { stream: side });
    expect(graph.nodes).toEqual([]);
    await event.done();

    const strict = await openPeerScene({ backend, strictEvents: true });
    const never = strict.device.createEvent();
    for (const inCapture of [false, true]) {
      if (inCapture) strict.main.beginCapture();
      const error = errorOf(() => strict.main.wait(never));
      expect(error?.code).toBe('CRT_EVENT_NOT_RECORDED');
    }
    expect(strict.main.captureStatus).toBe('active');
    strict.main.abortCapture();
    strict.main.wait(strict.side.record(never));
    await strict.runtime.dispose();
  });

  test('#24: plain events of a graph are stale, external ones time each replay', async () => {
    const make = () => t.device.createEvent({ timing: true });
    const [plain, alsoPlain, start, end] = [make(), make(), make(), make()];
    const graph = t.device.capture(
      () => {
        main.record(plain);
        main.record(start, { external: true });
        spin(t, main, 20);
        main.record(end, { external: true });
        main.record(alsoPlain);
      },
      { stream: main },
    );
    const elapsed = () => Event.elapsedMs(start, end);
    expect(numberOf(elapsed)).toBe(400);
    const exec = graph.instantiateSync();
    for (let launch = 0; launch < 3; launch += 1) {
      exec.launch(main);
      await main.synchronize();
      expect(elapsed()).toBeGreaterThanOrEqual(19);
      expect(elapsed()).toBeLessThan(2000);
    }
    const stale = errorOf(() => Event.elapsedMs(plain, alsoPlain));
    expect(stale).toMatchObject({ code: 'CRT_EVENT_STALE', cuda: { number: 1 } });
    expect(stale?.message).toContain('external');
  });

  test('#25: each misuse of elapsed time has a code of its own', async () => {
    const timed = () => t.device.createEvent({ timing: true });
    const [never, untimed] = [timed(), main.record()];
    const first = main.record(timed());
    spin(t, main, 100);
    const second = main.record(timed());
    const codes = [
      errorOf(() => Event.elapsedMs(first, never))?.code,
      errorOf(() => Event.elapsedMs(untimed, first))?.code,
      errorOf(() => Event.elapsedMs(first, second))?.code,
    ];
    expect(codes).toEqual(['CRT_EVENT_NOT_RECORDED', 'CRT_EVENT_NO_TIMING', 'CRT_EVENT_NOT_READY']);
    await second.done();
    expect(Event.elapsedMs(first, second)).toBeGreaterThan(90);
    expect(Event.elapsedMs(second, first)).toBeLessThan(-90);
  });

  test('#27: events of a finished capture answer 1, and a wait for one spares a new capture', async () => {
    const event = t.device.createEvent({ timing: true });
    const endings: readonly (() => void)[] = [
      () => main.endCapture(),
      () => main.endCapture().dispose(),
      () => main.abortCapture(),
    ];
    for (const end of endings) {
      main.beginCapture();
      launchEmpty(t, main);
      main.record(event);
      end();
      expect(event.state).toBe('stale');
      expect(numberOf(() => event.isDone())).toBe(1);
      expect(numberOf(() => event.waitSync())).toBe(1);
      expect(numberOf(() => Event.elapsedMs(event, event))).toBe(1);
      expect(numberOf(() => side.wait(event))).toBe(1);
      expect(side.captureStatus).toBe('none');
      side.beginCapture();
      expect(numberOf(() => side.wait(event))).toBe(1);
      launchEmpty(t, side);
      expect(side.captureStatus).toBe('active');
      expect(side.endCapture().nodes).toHaveLength(1);
    }
    main.record(event);
    await event.done();
    expect(event.isDone()).toBe(true);
  });
});

test('#26: elapsed time touches no other device', async ({ skip }) => {
  const report = probeSync().find(({ backend }) => backend === 'cuda');
  const devices = report?.devices ?? 0;
  if (devices < 2) skip(`needs two GPUs, this machine has ${devices}`);
  const used = () =>
    execFileSync('nvidia-smi', ['-i', '0', '--query-gpu=memory.used', '--format=csv,noheader'], {
      encoding: 'utf8',
    });
  const before = used();
  const runtime = await open({ backend: 'cuda', device: 1, isolated: true });
  const stream = runtime.device().createStream();
  const [a, b] = [runtime, runtime].map((r) => r.device().createEvent({ timing: true }));
  if (!a || !b) throw new Error('no events');
  stream.record(a).state;
  stream.record(b);
  await b.done();
  expect(Event.elapsedMs(a, b)).toBeGreaterThanOrEqual(0);
  const after = used();
  await runtime.dispose();
  expect(after).toBe(before);
});
