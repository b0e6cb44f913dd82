import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { demoIsLeftOut, leftOutBecause } from '../makers/demo-model.js';
import { startServing } from '../makers/serving.js';

describe.skipIf(demoIsLeftOut)(`serve --uds${leftOutBecause}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-uds-'));
  const path = join(folder, 'm3.sock');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const flags = ['--mock-engine', '{}', '--uds', path] as const;
  const ask = async (route: string, body?: object) => {
    const dispatcher = new Agent({ connect: { socketPath: path } });
    const answer = await fetch(`http://anything${route}`, {
      dispatcher,
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      headers: { 'content-type': 'application/json' },
    });
    const text = await answer.text();
    await dispatcher.close();
    return { status: answer.status, text };
  };

  it('answers there, replaces what a killed server left, and never a live one', async () => {
    const killed = await startServing(...flags);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    expect(existsSync(path)).toBe(true);

    const server = await startServing(...flags);
    expect(server.output()).toContain(`serves mock at unix:${path}\n`);
    expect(server.output()).toContain(`curl --unix-socket ${path} http://localhost/v1/`);
    const second = await altstream('serve', ...flags);
    expect([second.code, second.stderr]).toEqual([6, expect.stringMatching(/is in use/)]);
    const prompt = { model: 'mock', prompt: 'abc', max_tokens: 2 };
    const answer = await ask('/v1/completions', { ...prompt, stream: true });
    expect([answer.status, answer.text.trimEnd().endsWith('data: [DONE]')]).toEqual([200, true]);
    // A proxy may stand before it, so the operator's routes want a key here.
    expect((await ask('/flush_cache', {})).status).toBe(403);
    expect(await server.stop()).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('says before anything is loaded what cannot be', async () => {
    const tls = await altstream('serve', ...flags, '--ssl-certfile', 'a', '--ssl-keyfile', 'a');
    expect([tls.code, tls.stderr]).toEqual([2, expect.stringMatching(/do not go together/)]);
    const nowhere = await altstream('serve', '--mock-engine', '{}', '--uds', '/no/where/a.sock');
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      expect.stringMatching(/the folder \/no\/where of --uds does not exist/),
    ]);
  });
});
