import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type Serving, startServing } from '../makers/serving.js';
import { waitFor } from '../makers/wait-for.js';

const preload = new URL('../makers/kill-engine-on-signal.mjs', import.meta.url).href;

describe('how a server ends', () => {
  let folder: ModelFolder;

  beforeAll(async () => {
    folder = await makeModelFolder('T32');
  });
  afterAll(() => folder?.remove());

  /** Starts a server that has one endless stream under way. */
  async function busyServer(...args: readonly string[]) {
    const server = await startServing('--model', folder.path, '--device', 'cpu', ...args);
    const answer = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'T32',
        prompt: 'a',
        n: 8,
        max_tokens: 500,
        stream: true,
        ignore_eos: true,
        min_tokens: 500,
      }),
    });
    return { server, answer };
  }
  const lastFrame = (text: string): unknown =>
    JSON.parse(
      text
        .trimEnd()
        .split('\n\n')
        .at(-1)
        ?.replace(/^data: /, '') ?? '',
    );
  const exitOf = async ({ child }: Serving): Promise<unknown> => {
    if (child.exitCode === null) await once(child, 'exit');
    return child.exitCode;
  };

  it('a dead engine: open streams are told, health says so, exit code 70', async () => {
    process.env['NODE_OPTIONS'] = `--import=${preload}`;
    const { server, answer } = await busyServer().finally(() => {
      delete process.env['NODE_OPTIONS'];
    });
    server.child.kill('SIGWINCH');
    expect(lastFrame(await answer.text())).toMatchObject({ error: { code: 'engine_dead' } });
    const health = await fetch(`${server.url}/health`);
    expect([health.status, await health.json()]).toEqual([503, { status: 'engine_dead' }]);
    const refused = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'T32', prompt: 'a' }),
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'engine_dead' } },
    ]);
    expect(await exitOf(server)).toBe(70);
  });

  it('a drain that takes too long: streams end with a frame, exit code 0', async () => {
    const { server, answer } = await busyServer('--shutdown-timeout', '0');
    server.child.kill('SIGTERM');
    expect(lastFrame(await answer.text())).toMatchObject({ error: { code: 'shutting_down' } });
    expect(await exitOf(server)).toBe(0);
  });

  it('a second signal: at once', async () => {
    const { server, answer } = await busyServer();
    const cut = answer.text().catch(() => 'cut');
    server.child.kill('SIGTERM');
    // Two signals that come together are one.
    await waitFor(
      async () => (await fetch(`${server.url}/health`).catch(() => undefined))?.status !== 200,
    );
    server.child.kill('SIGTERM');
    expect(await exitOf(server)).toBe(1);
    await cut;
  });
});
