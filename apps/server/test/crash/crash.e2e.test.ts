import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type Serving, startServing } from '../makers/serving.js';

const mark = 'canaryINthePROMPT';
const key = 'canary-key-1';
const killEngine = new URL('../makers/kill-engine-on-signal.mjs', import.meta.url).href;
const throwOnMain = new URL('./throw-on-signal.mjs', import.meta.url).href;

describe('a crash', () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-crash-'));
  let model: ModelFolder;

  beforeAll(async () => {
    model = await makeModelFolder('T32');
  });
  afterAll(() => {
    model?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A server with an endless stream under way, to be crashed by SIGWINCH. */
  async function busyServer(preload: string): Promise<Serving> {
    Object.assign(process.env, { NODE_OPTIONS: `--import=${preload}`, THROWN_TEXT: mark });
    const args = ['--model', model.path, '--device', 'cpu', '--crash-dir', folder];
    const texts = ['--default-chat-template-kwargs', `{"a":"${mark}"}`, '--api-key', key];
    const server = await startServing(...args, ...texts).finally(() => {
      delete process.env['NODE_OPTIONS'];
    });
    const body = { model: 'T32', prompt: mark, max_tokens: 500, ignore_eos: true, stream: true };
    await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    return server;
  }

  async function reportOf(server: Serving) {
    server.child.kill('SIGWINCH');
    if (server.child.exitCode === null) await once(server.child, 'exit');
    const [, path = ''] = /crash report, without prompts: (\S+)/.exec(server.output()) ?? [];
    const text = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(`${text}${server.output()}`).not.toMatch(/canary/i);
    return { exitCode: server.child.exitCode, report: JSON.parse(text) };
  }

  it('of the engine leaves a report with the last steps, and no prompt or key', async () => {
    const { exitCode, report } = await reportOf(await busyServer(killEngine));
    expect(exitCode).toBe(70);
    expect(report).toMatchObject({
      what: 'the engine died',
      error: { message: 'the engine worker ended unexpectedly' },
      process: { node: process.version },
      engine: 'failed',
      openRequests: expect.any(Number),
      isDraining: false,
      settings: { model: JSON.stringify(model.path), 'api-key': 'not shown (1)', port: '0' },
      chosen: { model: { backend: 'cpu' }, engine: { limits: { maxSequences: 8 } } },
    });
    expect(report.error.stack[0]).toMatch(/^at /);
    const numbers: number[] = report.steps.map(({ step }: { step: number }) => step);
    expect(numbers.length).toBeLessThanOrEqual(100);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(report.steps.at(-1)).toMatchObject({ running: 1, waiting: 0 });
    expect(report.steps.at(-1).reservedPages).toBeGreaterThan(0);
  });

  it('of the main thread leaves one, too, and quotes nothing of what it fell over', async () => {
    const { exitCode, report } = await reportOf(await busyServer(throwOnMain));
    expect(exitCode).toBe(70);
    expect(report).toMatchObject({ what: 'an error that nobody caught', engine: 'ready' });
    expect(report.error).toMatchObject({ type: 'SyntaxError', message: 'Unexpected token …' });
    expect(report.error.stack.join()).toMatch(/throw-on-signal\.mjs/);
  });

  it('is written to a folder that the start makes, as traces and profiles are', async () => {
    const places = ['crashes', 'profiles', 'traces'].map((name) => join(folder, 'new', name));
    const [crashes = '', profiles = '', traces = ''] = places;
    const server = await startServing(
      ...['--model', model.path, '--device', 'cpu', '--crash-dir', crashes],
      ...['--profile-dir', profiles, '--record-trace', join(traces, 'trace.jsonl')],
    );
    const profiled = await fetch(`${server.url}/start_profile`, { method: 'POST' });
    expect(profiled.status).toBe(200);
    await fetch(`${server.url}/stop_profile`, { method: 'POST' });
    expect(await server.stop()).toBe(0);
    expect(places.map((place) => readdirSync(place).length)).toEqual([0, 1, 1]);
  });

  it.each(['--crash-dir', '--profile-dir', '--record-trace'])(
    'is not awaited where nothing can be written: %s',
    async (flag) => {
      const place = join(model.path, 'config.json', 'x', 'y');
      const { code, stderr } = await altstream('serve', '--model', model.path, flag, place);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`altstream: ${flag} ${place} cannot be written: `),
      ]);
    },
  );
});
