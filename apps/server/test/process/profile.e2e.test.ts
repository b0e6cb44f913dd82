import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';

describe('the operator of a running engine', () => {
  let folder: ModelFolder;
  let profiles: string;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128');
    profiles = mkdtempSync(join(tmpdir(), 'altstream-'));
    server = await startTestServer(folder.path, { args: ['--profile-dir', profiles] });
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
    rmSync(profiles, { recursive: true });
  });

  const post = async (path: string, body: object = {}) => {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };
  const complete = (prompt: number[]) =>
    post('/v1/completions', { model: 'T128', prompt, max_tokens: 8, ignore_eos: true });

  it('records what it computes as a trace that Perfetto reads', async () => {
    const started = await post('/start_profile');
    expect((await post('/start_profile')).status).toBe(400);
    await complete([1, 2, 3]);
    const { body } = await post('/stop_profile');
    expect(body).toMatchObject({ file: started.body['file'], steps: 8 });
    const trace = JSON.parse(readFileSync(started.body['file'] ?? '', 'utf8')) as {
      traceEvents: { ph: string; name: string; dur?: number }[];
    };
    const kernels = trace.traceEvents.filter(({ ph, dur }) => ph === 'X' && dur !== undefined);
    expect(kernels.length).toBeGreaterThanOrEqual(body['spans'] ?? 1e9);
    expect(kernels.some(({ name }) => /linear|attention|norm/.test(name))).toBe(true);
    expect((await post('/stop_profile')).status).toBe(400);
  });

  it('stops a recording after some steps', async () => {
    const { body } = await post('/start_profile', { num_steps: 2 });
    await complete([4, 5, 6]);
    await complete([4, 5, 6]);
    expect((await post('/stop_profile')).status).toBe(400);
    expect(JSON.parse(readFileSync(body['file'] ?? '', 'utf8'))).toHaveProperty('traceEvents');
  });

  it('empties the prefix cache', async () => {
    await complete(Array.from({ length: 300 }, (_, index) => index));
    // Its pages are held until the step that was under way at its end is over: that is awaited.
    expect((await post('/flush_cache')).body['evicted_pages']).toBeGreaterThan(1);
    expect((await post('/reset_prefix_cache')).body).toEqual({ evicted_pages: 0 });
  });
});
