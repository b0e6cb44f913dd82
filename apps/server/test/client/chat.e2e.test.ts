import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { altstream, altstreamPiped } from '../makers/altstream.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type OpenAiStub, startStub } from '../makers/openai-stub.js';
import { altstreamMain } from '../makers/serving.js';

describe('altstream chat', () => {
  let folder: ModelFolder;
  let stub: OpenAiStub | undefined;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
  });
  afterAll(() => folder?.remove());
  afterEach(() => stub?.close());
  const echoing = async () => {
    stub = await startStub(({ messages }) => ({ content: messages.at(-1)?.content ?? '' }));
    return stub.address.baseUrl;
  };

  it('loads a checkpoint by itself, answers, prints the speed and ends', async () => {
    const few = ['--max-tokens', '5', '--temperature', '0'];
    const { code, stdout, stderr } = await altstream(
      'chat',
      folder.path,
      '--message',
      'Hi',
      ...few,
    );
    expect(code).toBe(0);
    expect(stdout.trim().length).toBeGreaterThan(0);
    expect(stderr).toMatch(/Loading .*\nReady after \d\.\d\d s\n[\s\S]*\[5 tokens, .*first after/);
  });

  it('talks to its own server without the keys that others would need', async () => {
    const keys = {
      ALTSTREAM_API_KEY_FILE: join(folder.path, 'keys'),
      ALTSTREAM_ADMIN_API_KEY: 'b',
    };
    writeFileSync(keys.ALTSTREAM_API_KEY_FILE, 'a-key\n', { mode: 0o600 });
    Object.assign(process.env, keys);
    const talk = altstream('chat', folder.path, '--message', 'Hi', '--max-tokens', '1');
    for (const name of Object.keys(keys)) delete process.env[name];
    const { code, stderr } = await talk;
    expect([code, stderr]).toEqual([0, expect.stringMatching(/\[1 token, /)]);
  });

  it('answers the lines of a pipe, and nothing but answers goes to the next program', async () => {
    const url = await echoing();
    const { code, stdout } = await altstreamPiped('one\ntwo\n', 'chat', '--base-url', url);
    expect([code, stdout]).toEqual([0, 'one\ntwo\n']);
    expect(stub?.requests[1]?.messages).toHaveLength(3);
  });

  it('stops an answer at SIGINT and says so by its exit code', async () => {
    stub = await startStub(() => ({ content: 'x'.repeat(1000), gapMs: 10 }));
    const at = ['--base-url', stub.address.baseUrl, '--message', 'go'];
    const child = spawn(process.execPath, [altstreamMain, 'chat', ...at]);
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).toBe(130);
  });

  it.each([
    ['an unreachable server', ['--base-url', 'http://127.0.0.1:1'], /no server answers.*serve/],
    ['a folder that is none', ['no/such/folder'], /the model folder no\/such\/folder does not/],
    ['two places', ['x', '--base-url', 'http://127.0.0.1:1'], /which of the two is meant/],
    ['tools that are none', ['--tools', 'package.json'], /--tools package\.json: .*JSON list/],
    ['a wrong mode', ['--thinking', 'maybe'], /enabled, disabled, adaptive/],
  ])('says in one sentence what is wrong: %s', async (_, args, sentence) => {
    const { code, stderr } = await altstream('chat', ...args, '--message', 'Hi');
    expect(code === 2 || code === 3).toBe(true);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
