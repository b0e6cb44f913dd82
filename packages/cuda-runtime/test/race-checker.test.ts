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
    const check = () => {
      graph.instantiateSync();
      t.runtime.checkRaces();
    };
    expect(check).toThrow(expect.objectContaining({ code: 'CRT_RACE' }));
  });

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
});
