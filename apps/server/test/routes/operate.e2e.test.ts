import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';

describe('routes of the operator', () => {
  let server: ScriptedServer;
  let folder: string;

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'altstream-')));
    server = await startScripted({
      apiKeys: ['one'],
      adminApiKeys: ['root'],
      profileDirectory: folder,
    });
  });
  afterEach(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  async function post(path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        authorization: 'Bearer root',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  const ask = (more: object, headers: Record<string, string> = {}) =>
    post('/v1/completions', { model: 'm3', prompt: 'Hi', max_tokens: 9e5, ...more }, headers);

  it('are closed to other keys', async () => {
    const user = { authorization: 'Bearer one' };
    for (const path of [
      '/abort_request',
      '/flush_cache',
      '/reset_prefix_cache',
      '/start_profile',
    ]) {
      const { status, text } = await post(path, undefined, user);
      expect([path, status, JSON.parse(text).error.code]).toEqual([
        path,
        403,
        'insufficient_permissions',
      ]);
    }
  });

  it('tell what was set, and where', async () => {
    const list = (key: string) =>
      fetch(`${server.url}/admin/settings`, { headers: { authorization: `Bearer ${key}` } });
    expect((await list('one')).status).toBe(403);
    expect(await (await list('root')).json()).toEqual({
      settings: [
        { name: 'port', value: '0', source: 'flag' },
        { name: 'api-key', value: 'not shown (1)', source: 'environment' },
      ],
    });
  });

  it('list the requests under way, and nothing that they say', async () => {
    const list = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${server.url}/admin/requests`, { headers });
      return { status: answer.status, text: await answer.text() };
    };
    expect((await list('one')).status).toBe(403);
    expect(await list('root')).toEqual({ status: 200, text: '{"requests":[]}' });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = server.text.run.bind(server.text);
    server.text.run = async (job, client) => held.then(() => run(job, client));
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const canary = { prompt: 'canary', n: 2, request_id: 'mine' };
    const user = { authorization: 'Bearer one' };
    const asked = ask(canary, user);
    await waitFor(() => server.context.active.size === 1);
    const [first] = JSON.parse((await list('root')).text).requests;
    expect(first).toMatchObject({ state: 'preparing', prompt_tokens: null, generated_tokens: 0 });
    release();
    await waitFor(() => (server.context.active.get('mine')?.look().generatedTokens ?? 0) > 9);
    const { text } = await list('root');
    const [{ age_seconds, generated_tokens, ...more }] = JSON.parse(text).requests;
    const [endpoint, prompt_tokens] = ['/v1/completions', server.engine.received[0]?.prompt.length];
    const tenant = createHash('sha256').update('one').digest('hex').slice(0, 16);
    expect(more).toEqual({
      ...{ request_id: 'mine', endpoint, state: 'decode', tenant, n: 2, prompt_tokens },
    });
    expect(generated_tokens).toBeGreaterThan(9);
    expect(age_seconds).toBeGreaterThan(first.age_seconds);
    expect(text).not.toMatch(/canary|on and on/);
    await post('/abort_request', { rid: 'mine' });
    await asked;
    await waitFor(() => server.context.active.size === 0);
  });

  it.each([true, false])('end a request by its id (stream: %s)', async (stream) => {
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const asked = ask({ stream, rid: 'mine' }, { 'x-request-id': 'other' });
    await waitFor(() => server.engine.received.length === 1);
    expect(server.context.active.get('mine')).toBeDefined();
    const ended = await post('/abort_request', { rid: 'mine' });
    expect([ended.status, ended.text]).toEqual([200, '{"aborted":["mine"]}']);
    const { status, headers, text } = await asked;
    expect([status, headers.get('x-request-id')]).toEqual([stream ? 200 : 503, 'mine']);
    expect(text).toContain('request_aborted');
    expect(text).not.toContain('[DONE]');
    if (!stream) expect(headers.get('x-should-retry')).toBe('false');
    expect(server.engine.received[0]?.isAborted).toBe(true);
    await waitFor(() => server.context.active.size === 0);
    expect((await post('/abort_request', { rid: 'mine' })).status).toBe(404);
  });

  it('end all, also those whose prompt is not ready', async () => {
    const gate = makeGate();
    server.text.until = gate.opened;
    const asked = [ask({}), ask({}, { 'x-request-id': 'second' })];
    await waitFor(() => server.context.active.size === 2);
    const { text } = await post('/abort_request', { abort_all: true });
    expect(JSON.parse(text).aborted).toContain('second');
    gate.open();
    for (const one of asked) expect((await one).text).toContain('request_aborted');
    expect(server.engine.received.every(({ isAborted }) => isAborted)).toBe(true);
    expect((await post('/abort_request', {})).status).toBe(400);
    expect((await post('/abort_request', { rid: 'a', abort_all: true })).status).toBe(400);
  });

  it('an id of two live requests is refused, in the header and in the body', async () => {
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const first = ask({ request_id: 'twin' });
    await waitFor(() => server.engine.received.length === 1);
    for (const second of [ask({ rid: 'twin' }), ask({}, { 'x-request-id': 'twin' })]) {
      expect(await second).toMatchObject({ status: 400 });
      expect((await second).text).toContain('duplicate_request_id');
    }
    await post('/abort_request', { request_id: 'twin' });
    expect((await first).text).toContain('request_aborted');
    server.engine.scripts = [{ text: 'short' }];
    expect((await ask({ request_id: 'twin' })).status).toBe(200);
  });

  it.each(['a b', 'a\nb', 'ü', 'a'.repeat(129), ''])('no id is %j (S20)', async (id) => {
    const { status, text } = await ask({ request_id: id });
    expect([status, JSON.parse(text).error.param]).toEqual([400, 'request_id']);
  });

  it('empty the prefix cache', async () => {
    for (const path of ['/flush_cache', '/reset_prefix_cache']) {
      expect(await post(path)).toMatchObject({ status: 200, text: '{"evicted_pages":7}' });
    }
  });

  it('take an empty body as none, also one of JSON', async () => {
    const json = { 'content-type': 'application/json' };
    for (const path of ['/flush_cache', '/reset_prefix_cache', '/start_profile', '/stop_profile']) {
      expect([path, (await post(path, undefined, json)).status]).toEqual([path, 200]);
    }
  });

  it.each([{}, { 'content-type': 'application/json' }])(
    'end nothing for a body that says nothing: %j',
    async (headers: Record<string, string>) => {
      server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
      const asked = ask({ rid: 'mine' });
      await waitFor(() => server.engine.received.length === 1);
      const { status, text } = await post('/abort_request', undefined, headers);
      expect([status, JSON.parse(text).error]).toMatchObject([
        400,
        {
          ...{ code: 'missing_required_parameter', param: 'rid' },
          message: expect.stringMatching(/send the id of a request, or `abort_all: true`/),
        },
      ]);
      expect(server.engine.received[0]?.isAborted).toBe(false);
      await post('/abort_request', { abort_all: true });
      await asked;
    },
  );

  it('write profiles below their folder and nowhere else (S14)', async () => {
    mkdirSync(join(folder, 'inside'));
    symlinkSync(tmpdir(), join(folder, 'outside'));
    for (const output_dir of [
      '..',
      '/etc',
      'outside',
      'absent',
      '../../etc',
      'inside/../..',
      'a\0b',
    ]) {
      const { status, text } = await post('/start_profile', { output_dir });
      expect([output_dir, status, JSON.parse(text).error.param]).toEqual([
        output_dir,
        400,
        'output_dir',
      ]);
    }
    const { text } = await post('/start_profile', { output_dir: 'inside', num_steps: 3 });
    expect(server.engine.profiles).toEqual([{ file: JSON.parse(text).file, steps: 3 }]);
    expect(JSON.parse(text).file).toMatch(`${folder}/inside/altstream-`);
    expect((await post('/start_profile')).status).toBe(200);
    expect((await post('/stop_profile')).status).toBe(200);
  });
});

describe('routes of the operator without keys', () => {
  it.each([false, true])('are for this machine only (exposed: %s)', async (isExposed) => {
    const server = await startScripted({ isExposed });
    const answer = await fetch(`${server.url}/flush_cache`, { method: 'POST' });
    expect(answer.status).toBe(isExposed ? 403 : 200);
    const profile = await fetch(`${server.url}/start_profile`, { method: 'POST' });
    expect(profile.status).toBe(isExposed ? 403 : 404);
    await server.close();
  });
});
