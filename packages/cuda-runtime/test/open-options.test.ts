import { afterEach, expect, test } from 'vitest';
import { type OpenOptions, open, type Runtime } from '../src/index.js';

const opened: Runtime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.dispose();
});

const start = async (options: OpenOptions) => {
  const runtime = await open({ backend: 'cpu', ...options });
  opened.push(runtime);
  return runtime;
};

test.each<[string, OpenOptions, OpenOptions, string]>([
  [
    'one of the CPU',
    { cpu: { threads: 2 } },
    { cpu: { threads: 1 } },
    '`cpu.threads` 2, asked for 1',
  ],
  ['one that was left out', {}, { guards: false }, '`guards` true, asked for false'],
  [
    'several',
    { maxPending: 10, cpu: { schedule: 'serial' } },
    { maxPending: 20, cpu: { schedule: 'serial', seed: 7 } },
    '`maxPending` 10, asked for 20; `cpu.seed` 1, asked for 7',
  ],
  [
    'one deep inside',
    { cpu: { clock: 'virtual', cost: { copy: { us: 3 } } } },
    { cpu: { clock: 'virtual' } },
    '`cpu.cost.copy.us` 3, asked for none',
  ],
])('other options than the open runtime has: %s', async (_, first, second, found) => {
  await start(first);
  const again = open({ backend: 'cpu', ...second });
  await expect(again).rejects.toThrow(
    `open: the cpu runtime of this thread is open with ${found}. Use the same options, dispose it`,
  );
});

test('the same options in another order give the same runtime', async () => {
  const runtime = await start({ cpu: { seed: 3, threads: 1 }, guards: true });
  expect(await start({ guards: true, cpu: { threads: 1, seed: 3 } })).toBe(runtime);
});
