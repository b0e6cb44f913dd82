import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from './makers/altstream.js';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startServing } from './makers/serving.js';

describe('the command line', () => {
  let folder: ModelFolder;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
  });
  afterAll(() => folder?.remove());

  it('says that the model folder does not exist, and how to get one', async () => {
    const { code, stderr } = await altstream('serve', '--model', 'no/such/folder', '--port', '0');
    expect(code).toBe(3);
    expect(stderr).toMatch(/the model folder no\/such\/folder does not exist\..*does not download/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('says which flag is wrong', async () => {
    const { code, stderr } = await altstream('serve', '--modle', 'x');
    expect(code).toBe(2);
    expect(stderr).toMatch(/unknown option '--modle'[\s\S]*--model/);
    expect((await altstream('serve', '--port', '99999')).stderr).toMatch(/from 0 to 65535/);
  });

  it('refuses to be reachable from other machines without a key', async () => {
    const { code, stderr } = await altstream('serve', '--model', folder.path, '--host', '0.0.0.0');
    expect(code).toBe(2);
    expect(stderr).toMatch(/pass --api-key KEY, or --allow-unauthenticated/);
  });

  it('says that the port is taken and proposes another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await altstream(
      'serve',
      '--model',
      folder.path,
      '--port',
      String(port),
    );
    other.close();
    expect(code).toBe(6);
    expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
    expect(stderr).toContain(`--port ${port + 1}`);
  });

  it('serves, chats and drains: a stream under way at SIGTERM ends whole', async () => {
    const { child, url, output } = await startServing('--model', folder.path);
    const chat = await altstream(
      'chat',
      '--base-url',
      url,
      '--message',
      'Hi',
      '--max-tokens',
      '5',
      '--temperature',
      '0',
    );
    expect([chat.code, chat.stderr]).toEqual([0, expect.stringMatching(/^\[5 tokens, /m)]);
    const [start = '', banner = ''] = output().split(/(?=\n {2}Altstream serves)/);
    expect(start).toContain('"msg":"ready"');
    expect(banner).toMatch(/sequences {3}8 at once \(8 at full length\), 32 waiting/);
    const answer = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'T128',
        prompt: 'a',
        max_tokens: 200,
        stream: true,
        ignore_eos: true,
        temperature: 0,
      }),
    });
    child.kill('SIGTERM');
    const text = await answer.text();
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(output()).toMatch(/shutting down/);
  });

  it('inspects a checkpoint and looks at the machine', async () => {
    const inspected = await altstream('inspect', folder.path, '--json');
    expect(JSON.parse(inspected.stdout)).toMatchObject({ layers: 3, vocabSize: 512 });
    const doctor = await altstream('doctor', '--json');
    const findings = JSON.parse(doctor.stdout) as {
      name: string;
      isGood: boolean;
      detail: string;
    }[];
    expect(findings.find(({ name }) => name === 'backend cpu')?.isGood).toBe(true);
    expect(findings.find(({ name }) => name === 'backend cuda')?.detail).toEqual(
      expect.any(String),
    );
  });
});
