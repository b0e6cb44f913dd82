import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type Serving, startServing } from '../makers/serving.js';

const preload = new URL('../makers/lose-device.mjs', import.meta.url).href;

describe('a device that is lost', () => {
  let folder: ModelFolder;
  let server: Serving;

  beforeAll(async () => {
    folder = await makeModelFolder('T32');
    process.env['NODE_OPTIONS'] = `--import=${preload}`;
    process.env['LOSE_DEVICE_AFTER_STEPS'] = '60';
    server = await startServing('--model', folder.path, '--device', 'cpu').finally(() => {
      delete process.env['NODE_OPTIONS'];
      delete process.env['LOSE_DEVICE_AFTER_STEPS'];
    });
  });
  afterAll(() => folder?.remove());

  const post = (body: object) =>
    fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'T32', prompt: 'a', ignore_eos: true, ...body }),
    });
  const endless = { max_tokens: 450, min_tokens: 450 };

  it('ends every request with an error, refuses new ones, and the process exits with 70', async () => {
    const exited = once(server.child, 'exit');
    const [stream, whole] = await Promise.all([
      post({ ...endless, n: 3, stream: true }).then((answer) => answer.text()),
      post(endless),
    ]);
    const frames = stream.trimEnd().split('\n\n');
    expect(frames.length).toBeGreaterThan(20);
    const last = JSON.parse(frames.at(-1)?.replace(/^data: /, '') ?? '');
    expect(last).toMatchObject({
      error: { type: expect.stringMatching(/server_error|unavailable/) },
    });
    expect(whole.status).toBeGreaterThanOrEqual(500);
    const refused = await post({ max_tokens: 1 });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'engine_dead' } },
    ]);
    expect((await fetch(`${server.url}/livez`)).status).toBe(503);
    await exited;
    expect(server.child.exitCode).toBe(70);
    expect(server.output()).toContain('open requests are told, and the process ends');
    expect(server.output()).toContain(
      'altstream: the engine died; crash report, without prompts: ',
    );
    expect(server.output()).toContain('a test made kernel sampling fail with error 700');
  });
});
