import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RaceError, type Stream, type Tensor, Workspace, withAlt } from '../src/index.js';
import { accumulate, openTestRuntime, type TestRuntime, zeros } from './makers/test-kernels.js';

let t: TestRuntime;
let a: Stream;
let b: Stream;
let y: Tensor;

beforeEach(async () => {
  t = await openTestRuntime({ cpu: { raceCheck: true, schedule: 'serial' } });
  a = t.device.createStream({ name: 'a' });
  b = t.device.createStream({ name: 'b' });
  y = zeros(t, a, 64);
  await a.synchronize();
});
afterEach(() => t.runtime.dispose());

describe('the race checker', () => {
  test('finds a missing waitStream and names both operations and streams', async () => {
    accumulate(t, a, y);
    accumulate(t, b, y);
    const error = await b.synchronize().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!RaceError.isInstance(error)) throw new Error(`expected a RaceError, got ${error}`);
    const [race] = error.races;
    expect(race?.first).toMatch(/test_accumulate.*a#/);
    expect(race?.second).toMatch(/test_accumulate.*b#/);
    expect(error).toMatchObject({ code: 'CRT_RACE' });
    // Both call stacks, from the line of the user on: of this file, and not of the package.
    const [first, second] = [race?.firstStack, race?.secondStack].map((stack) =>
      stack?.split('\n').filter((frame) => frame.includes('race-checker.test.ts')),
    );
    expect(lineOf(second) - lineOf(first)).toBe(1);
    expect(race?.firstStack).toMatch(/^ *at /);
    expect(race?.secondStack).not.toContain('cuda-runtime/src/');
  });

  test('stacks of a graph are of its capture, and of its nodes; a launch has its own', async () => {
    const record = function recordedHere(stream: Stream) {
      b.waitStream(stream);
      accumulate(t, stream, y);
      accumulate(t, b, y);
      stream.waitStream(b);
    };
    const racy = t.device.capture(record, { stream: a });
    const built = t.device.createGraph();
    const addedHere = () => built.addFill(y, 1);
    addedHere();
    addedHere();
    for (const [graph, name] of [
      [racy, 'recordedHere'],
      [built, 'addedHere'],
    ] as const) {
      const error = raceOf(() => graph.instantiateSync());
      for (const stack of [error.races[0]?.firstStack, error.races[0]?.secondStack]) {
        expect(stack).toContain(name);
      }
    }
    const exec = t.device.capture((s) => accumulate(t, s, y), { stream: a }).instantiateSync();
    const launchedHere = () => exec.launch(a);
    const submittedHere = () => b.fill(y, 0);
    launchedHere();
    submittedHere();
    const { races } = raceOf(() => b.synchronizeSync());
    expect(races[0]?.firstStack).toContain('launchedHere');
    expect(races[0]?.secondStack).toContain('submittedHere');
    expect(Error.stackTraceLimit).toBeLessThan(1000);
  });

  test('is silent when the wait is there', async () => {
    accumulate(t, a, y);
    b.waitStream(a);
    accumulate(t, b, y);
    await b.synchronize();
  });

  test('is silent when the host waited in between', async () => {
    accumulate(t, a, y);
    await a.synchronize();
    accumulate(t, b, y);
    await b.synchronize();
  });

  test('lets two streams read the same bytes, and write different ones', async () => {
    const [low, high] = [y.slice(0, 0, 32), y.slice(0, 32, 64)];
    const [x, z] = [zeros(t, a, 32), zeros(t, b, 32)];
    await t.device.synchronize();
    accumulate(t, a, low);
    accumulate(t, b, high);
    await t.device.synchronize();
    a.copy(x, low);
    b.copy(z, low);
    await t.device.synchronize();
  });

  test('finds a race between branches of a graph when it is made executable', () => {
    const graph = t.device.capture(
      () => {
        b.waitStream(a);
        accumulate(t, a, y);
        accumulate(t, b, y);
        a.waitStream(b);
      },
      { stream: a },
    );
    const executables = () => t.runtime.stats().live['graph executable'];
    const before = executables();
    expect(() => graph.instantiateSync()).toThrow(expect.objectContaining({ code: 'CRT_RACE' }));
    expect(executables()).toBe(before);
  });

  test('knows that launches of one executable run one after another, on any streams', async () => {
    const exec = t.device.capture((s) => accumulate(t, s, y), { stream: a }).instantiateSync();
    exec.launch(a);
    exec.launch(b);
    await b.synchronize();
  });

  test('knows that the legacy stream and blocking streams wait for each other', async () => {
    const blocking = t.device.createStream({ name: 'c', blocking: true });
    accumulate(t, blocking, y);
    accumulate(t, t.device.legacyStream, y);
    accumulate(t, blocking, y);
    await blocking.synchronize();
    accumulate(t, a, y);
    accumulate(t, t.device.legacyStream, y);
    await expect(a.synchronize()).rejects.toThrow(RaceError);
  });

  test.each(['record', 'wait'] as const)('knows what an external %s orders', async (how) => {
    const event = t.device.createEvent();
    const external = { external: true };
    const record = (s: Stream) => {
      if (how === 'wait') s.wait(event, external);
      accumulate(t, s, y);
      if (how === 'record') s.record(event, external);
    };
    const exec = t.device.capture(record, { stream: a }).instantiateSync();
    if (how === 'wait') {
      accumulate(t, b, y);
      b.record(event);
      exec.launch(a);
    } else {
      exec.launch(a);
      b.wait(event);
      accumulate(t, b, y);
    }
    await Promise.all([a.synchronize(), b.synchronize()]);
  });

  test.each(['isDone', 'isIdle', 'notify'] as const)(
    'knows what %s tells the host',
    async (how) => {
      accumulate(t, a, y);
      const event = a.record();
      const notified = new Promise<void>((resolve) => a.notify(resolve));
      const isOver = () => (how === 'isDone' ? event.isDone() : a.isIdle());
      if (how === 'notify') await notified;
      else while (!isOver()) await delay(1);
      accumulate(t, b, y);
      await b.synchronize();
    },
  );

  test('finds two branches in one workspace, and is silent when each has a lane', async () => {
    for (const hasLane of [false, true]) {
      const workspace = new Workspace(t.device, { label: 'step' });
      await t.device.synchronize();
      const use = (stream: Stream, from: Workspace) => {
        const mark = from.mark();
        stream.fill(from.tensor([256], 'f32'), 1);
        from.release(mark);
      };
      const alt = hasLane ? workspace.lane('alt') : workspace;
      const record = () =>
        withAlt(
          a,
          b,
          () => use(b, alt),
          () => use(a, workspace),
        );
      const step = () => {
        const executable = t.device.capture(record, { stream: a }).instantiateSync();
        t.runtime.checkRaces();
        executable.launch(a);
      };
      if (hasLane) step();
      else expect(step).toThrow(RaceError);
      await a.synchronize();
      workspace.dispose();
    }
  });

  // `before` writes y, then `first` runs, and `last` may start as soon as `first` has.
  test.each([
    ['what was over before', 'full', 'y', false],
    ['what may still run', 'programmatic', 'y', true],
    ['what it started with', 'full', 'z', true],
  ] as const)('knows of a launch edge: %s', (_name, type, reads, isRace) => {
    const z = zeros(t, a, 64);
    const graph = t.device.createGraph();
    const [config, early] = [
      { grid: [1], block: [1] },
      { started_early: null, value: 1 },
    ] as const;
    const add = (name: 'pdl_first' | 'pdl_second', from: Tensor, to: Tensor) =>
      graph.addKernel(t.kernels[name], config, { x: from, y: to, ...early, microseconds: 0 });
    const before = add('pdl_first', y, y);
    const first = add('pdl_second', z, z);
    const last = graph.addCopy(zeros(t, b, 64), { y, z }[reads], 4);
    graph.addDependency(before, first, { type });
    graph.addDependency(first, last, { port: 'launch' });
    const make = () => graph.instantiateSync();
    if (isRace) expect(make).toThrow(RaceError);
    else make();
  });
});

/** The line of a stack's first frame. */
function lineOf(frames: readonly string[] | undefined): number {
  const lines = (frames ?? []).map((frame) => Number(/:(\d+):\d+\)?$/.exec(frame)?.[1]));
  return lines[0] ?? Number.NaN;
}

function raceOf(call: () => unknown): RaceError {
  try {
    call();
  } catch (error) {
    if (RaceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('expected a RaceError');
}
