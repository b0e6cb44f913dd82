import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildByteTokenizer, defaultChatTemplate } from '@altstream/minimax-m3-chat';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { type Serving, startServing } from '../makers/serving.js';

describe('serving without a model', () => {
  let folder: string;
  const started: Serving[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'altstream-mock-'));
    const { tokenizerJson } = buildByteTokenizer({ vocabSize: 600 });
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    writeFileSync(join(folder, 'chat_template.jinja'), defaultChatTemplate);
    writeFileSync(join(folder, 'generation_config.json'), '{"eos_token_id": 1}');
  });
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function start(mock: object): Promise<Serving> {
    const flags = ['--tokenizer', folder, '--mock-engine', JSON.stringify(mock)];
    const server = await startServing(...flags);
    started.push(server);
    return server;
  }
  const post = async ({ url }: Serving, path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock', ...body }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const complete = (server: Serving, prompt: string) =>
    post(server, '/v1/completions', { prompt, max_tokens: 8 });

  it('says prompts again, and says that this means nothing', async () => {
    const server = await start({});
    const { text } = await complete(server, 'abc');
    expect(JSON.parse(text)).toMatchObject({
      choices: [{ text: 'abcabcab', finish_reason: 'length' }],
      usage: { prompt_tokens: 3, completion_tokens: 8 },
    });
    expect(server.output()).toContain('ANSWERS MEAN NOTHING');
    const set = await (await fetch(`${server.url}/admin/settings`)).json();
    expect((set as { settings: object[] }).settings).toContainEqual({
      ...{ name: 'tokenizer', value: JSON.stringify(folder), source: 'flag' },
    });
    const info = await (await fetch(`${server.url}/server_info`)).json();
    expect(JSON.stringify(info)).toContain('a mock says what its script says');
  });

  it('says scripts, which the parsers read as they read a model', async () => {
    const server = await start({ answers: ['<mm:think>Well.</mm:think>Good day.', 'Yes.'] });
    const ask = async () => {
      const { text } = await post(server, '/v1/chat/completions', {
        messages: [{ role: 'user', content: 'Hello' }],
        chat_template_kwargs: { thinking_mode: 'adaptive' },
      });
      return { text, ...JSON.parse(text).choices?.[0] };
    };
    expect(await ask()).toMatchObject({
      message: { content: 'Good day.', reasoning_content: 'Well.' },
      finish_reason: 'stop',
    });
    expect(await ask()).toMatchObject({ message: { content: 'Yes.' }, finish_reason: 'stop' });
  });

  it('fails where it is told to, and ends as a server does whose device is lost', async () => {
    const faults = [
      { kind: 'row', at: 3 },
      { kind: 'device-lost', during: 'prefill', at: 3 },
    ];
    const server = await start({ faults });
    const exited = once(server.child, 'exit');
    const failed = await complete(server, 'abc');
    expect([failed.status, failed.text]).toEqual([500, expect.stringContaining('no logit')]);
    expect((await complete(server, 'abc')).status).toBe(200);
    expect((await complete(server, 'abc')).status).toBeGreaterThanOrEqual(500);
    await exited;
    expect(server.child.exitCode).toBe(70);
  });

  it('has nothing to profile', async () => {
    const server = await start({});
    const { status, text } = await post(server, '/start_profile', {});
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('internal_error');
  });

  it('refuses settings that make no sense, and a folder without a tokenizer', async () => {
    const wrong = await altstream('serve', '--mock-engine', '{"decodeMs":"fast"}');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/decodeMs.*number/)]);
    const none = await altstream('serve', '--mock-engine', '{}', '--tokenizer', tmpdir());
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('no tokenizer.json')]);
  });
});
