import { afterEach, expect, test } from 'vitest';
import { type CpuOptions, Tensor, Workspace } from '../../src/index.js';
import { openTestRuntime, spin, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
afterEach(() => t.runtime.dispose());

async function start(cpu: CpuOptions, label = 't'): Promise<Tensor> {
  t = await openTestRuntime({ cpu: { poison: true, ...cpu } });
  return Tensor.allocate(t.device, [4], 'i32', { label });
}

/** Writes one int more than `y` has. */
function overrun(y: Tensor): void {
  const params = { y, index: y.elements, value: 77 };
  t.runtime.currentStream().launch(t.kernels.overrun, { grid: [1], block: [4] }, params);
}

const others: Readonly<Record<string, CpuOptions>> = {
  'poison alone': {},
  'the race checker, too': { raceCheck: true },
  'closed pages': { protect: true },
  'memory that is reused at once': { reuse: 'immediate' },
};

test.each(Object.keys(others))(
  'an overrun is told by the wait behind the free: %s',
  async (name) => {
    const y = await start(others[name] ?? {});
    overrun(y);
    const stream = t.runtime.currentStream();
    await stream.synchronize();
    y.dispose();
    const error: unknown = await stream.synchronize().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'CRT_RACE',
      api: 'stream.synchronize',
      message:
        'stream.synchronize: something wrote after buffer t (16 bytes), its bytes 16 to 20. ' +
        'Look for a kernel or host function with a count, size or offset that reaches past its memory.',
      races: [{ kind: 'red-zone', buffer: 't' }],
    });
  },
);

test.each(Object.keys(others))('memory in use is looked at when asked for: %s', async (name) => {
  const y = await start(others[name] ?? {}, '');
  overrun(y);
  await t.runtime.currentStream().synchronize();
  expect(() => t.runtime.checkRaces()).toThrow(
    /^runtime.checkRaces: something wrote after a buffer of 16 bytes, its bytes 16 to 20/,
  );
  t.runtime.checkRaces();
  y.dispose();
  t.runtime.checkRaces();
});

test('dispose tells of memory in use, and of work that is under way', async () => {
  const y = await start({});
  spin(t, t.runtime.currentStream(), 20);
  overrun(y);
  await expect(t.runtime.dispose()).rejects.toMatchObject({
    api: 'runtime.dispose',
    races: [{ kind: 'red-zone' }],
  });
});

test('dispose ends once, and every call of it waits for that', async () => {
  const y = await start({});
  spin(t, t.runtime.currentStream(), 20);
  const first = t.runtime.dispose();
  await t.runtime.dispose();
  expect(() => t.runtime.stats()).toThrow('runtime');
  await first;
  y.dispose();
});

test('what stays inside the memory of a workspace is not found', async () => {
  await start({});
  const workspace = new Workspace(t.device, { label: 'step' });
  overrun(workspace.tensor([4], 'i32'));
  await t.runtime.currentStream().synchronize();
  t.runtime.checkRaces();
  workspace.dispose();
});
