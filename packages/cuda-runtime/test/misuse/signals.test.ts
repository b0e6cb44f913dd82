import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ArgumentError, type Stream } from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

const run = promisify(execFile);
let t: TestRuntime;
let s: Stream;

beforeAll(async () => {
  t = await openTestRuntime();
  s = t.device.createStream();
});
afterAll(() => t.runtime.dispose());

const waits: readonly [string, (signal: never) => Promise<void>][] = [
  ['stream.synchronize', (signal) => s.synchronize({ signal })],
  ['stream.synchronize', (signal) => s.synchronize({ signal, timeoutMs: 5 })],
  ['event.done', (signal) => s.record().done({ signal })],
  ['device.synchronize', (signal) => t.device.synchronize({ signal })],
];

test.each(waits)('%s names a signal that is none', async (api, wait) => {
  for (const signal of [{}, null, 5, new AbortController()]) {
    const error: unknown = await wait(signal as never).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(new RegExp(`${api}: \`signal\` is .*expected an AbortSignal`));
  }
});

test('ready names a count that is none', async () => {
  for (const below of [{}, null, 0, Symbol('x')]) {
    await expect(s.ready(below as never)).rejects.toThrow(/`below` is .*positive integer/);
  }
});

test('a process whose wait was refused ends by itself', { timeout: 30_000 }, async () => {
  const source = new URL('../../src/index.ts', import.meta.url).href;
  const code = `
    const { open } = await import(${JSON.stringify(source)});
    const runtime = await open({ backend: 'cpu' });
    const stream = runtime.device().createStream();
    await stream.synchronize({ signal: {} }).catch(({ code }) => console.log(code));
    try { stream.notify(undefined); } catch ({ code }) { console.log(code); }`;
  const options = ['--import', 'tsx', '--conditions=@altstream/source', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...options, '-e', code], { timeout: 20_000 });
  expect(stdout).toBe('CRT_ARGUMENT\nCRT_ARGUMENT\n');
});
