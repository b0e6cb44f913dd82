import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askWhole } from '../../src/client/ask-chat.js';
import { parseServerAddress } from '../../src/client/server-address.js';
import { altstream } from '../makers/altstream.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startStub } from '../makers/openai-stub.js';
import { altstreamMain } from '../makers/serving.js';
import { suitePromptOf, writeSuite } from '../makers/suite-file.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';
import { waitFor } from '../makers/wait-for.js';

describe('altstream eval', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
    server = await startTestServer(folder.path, { apiKey: 'secret' });
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  it('finds what a served model says, whole and streamed, and exits by the thresholds', async () => {
    const address = parseServerAddress(server.url, 'secret');
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const prompts = await Promise.all(
      ids.map(async (id) => {
        const prompt = suitePromptOf(id, { max_tokens: 6 });
        const { messages } = prompt;
        const facts = { model: 'T128', messages, max_tokens: 6, temperature: 0 };
        const kwargs = { chat_template_kwargs: { thinking_mode: 'disabled' } };
        const answer = await askWhole(address, { ...facts, ...kwargs });
        return { prompt, answer };
      }),
    );
    // Random weights do not end by themselves, so every prompt is wrong, for one stated reason.
    const suite = writeSuite(prompts.map(({ prompt }) => prompt));
    const json = join(suite.folder, 'report.json');
    const at = ['--base-url', server.url, '--api-key', 'secret', '--suite', suite.path];
    const run = await altstream('eval', ...at, '--json', json);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/T128 at http.*4 at once/);
    expect(run.stdout).toMatch(/sums {9}5 {6}0 {5}0\.0 % {10}6\.0 +\d/);
    expect(run.stdout).toMatch(/5 prompts in .* 2 of them also streamed, with the same answers/);
    expect(run.stdout).toMatch(/a: cut off by max_tokens/);
    const report = JSON.parse(readFileSync(json, 'utf8')) as {
      total: object;
      results: { id: string; answer: { content: string } }[];
    };
    expect(report.total).toMatchObject({ prompts: 5, right: 0, failed: 0, meanTokens: 6 });
    expect(report.results.map(({ answer }) => answer.content)).toEqual(
      prompts.map(({ answer }) => answer.content),
    );
    const gated = await altstream('eval', ...at, '--limit', '2', '--min-accuracy', 'sums=0.5');
    expect(gated.code).toBe(1);
    expect(gated.stderr).toContain('sums: accuracy 0.000, wanted at least 0.5');
    suite.remove();
  });

  it('counts right answers, and exits with 0 when enough are right', async () => {
    const stub = await startStub(({ messages }) => ({ content: messages[0]?.content ?? '' }));
    const suite = writeSuite([suitePromptOf('a'), suitePromptOf('b', { skill: 'x' })]);
    const at = ['--base-url', stub.address.baseUrl, '--suite', suite.path];
    const run = await altstream('eval', ...at, '--min-accuracy', '1', 'x=1');
    await stub.close();
    suite.remove();
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/all {10}2 {6}2 {3}100\.0 %/);
  });

  it('shows and writes at Ctrl-C what it has until then', async () => {
    const stub = await startStub(({ messages }) =>
      messages[0]?.content === 'c' ? { after: 'silence' } : { content: messages[0]?.content ?? '' },
    );
    const suite = writeSuite(['a', 'b', 'c', 'd'].map((id) => suitePromptOf(id)));
    const json = join(suite.folder, 'report.json');
    const at = ['--base-url', stub.address.baseUrl, '--suite', suite.path, '--json', json];
    const child = spawn(process.execPath, [altstreamMain, 'eval', '--concurrency', '1', ...at]);
    let stdout = '';
    child.stdout.on('data', (text) => {
      stdout += String(text);
    });
    await waitFor(() => stub.requests.some(({ messages }) => messages[0]?.content === 'c'));
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    const report = JSON.parse(readFileSync(json, 'utf8')) as object;
    await stub.close();
    suite.remove();
    expect(code).toBe(130);
    expect(stdout).toMatch(/sums +2 +2 +100\.0 %[\s\S]*stopped: 2 of 4 prompts were not asked/);
    expect(report).toMatchObject({ ended: 'stopped', total: { prompts: 2, right: 2 } });
  });

  it.each([
    ['a server that is not there', [], /no server answers at http:\/\/127\.0\.0\.1:1\/v1/],
    ['a wrong address', ['--base-url', 'localhost'], /--base-url is "localhost", expected/],
    ['a suite that is not there', ['--suite', 'none.jsonl'], /none\.jsonl cannot be read/],
    ['a threshold that is none', ['--min-accuracy', '95'], /--min-accuracy is "95"/],
    ['a skill that is none', ['--min-accuracy', 'sing=1'], /"sing"; the suite has sums/],
    [
      'a report that cannot be written',
      ['--json', 'package.json/f.json'],
      /--json package\.json\/f\.json cannot be written/,
    ],
    ['a number that is none', ['--concurrency', '0'], /Expected an integer from 1/],
  ])('says in one sentence what is wrong: %s', async (_, args, sentence) => {
    const suite = writeSuite([suitePromptOf('a')]);
    const base = ['--base-url', 'http://127.0.0.1:1', '--suite', suite.path];
    const { code, stderr } = await altstream('eval', ...base, ...args);
    suite.remove();
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('says which line of a suite is wrong, which key and which model are wanted', async () => {
    const suite = writeSuite([suitePromptOf('a')]);
    const at = ['--base-url', server.url, '--suite', suite.path];
    const keyless = await altstream('eval', ...at);
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringMatching(/401.*--api-key/)]);
    const other = await altstream('eval', ...at, '--api-key', 'secret', '--model', 'M9');
    expect([other.code, other.stderr]).toEqual([2, expect.stringMatching(/"M9".*serves T128/)]);
    writeFileSync(suite.path, '{"id": "a"}\n');
    const bad = await altstream('eval', ...at);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringMatching(/line 1: prompt "a": skill/)]);
    suite.remove();
  });

  it('reports a prompt that the server refuses, and exits with 1', async () => {
    const suite = writeSuite([
      suitePromptOf('a', { messages: [{ role: 'clown', content: 'a' }] }),
      suitePromptOf('b'),
    ]);
    const at = ['--base-url', server.url, '--api-key', 'secret', '--suite', suite.path];
    const run = await altstream('eval', ...at);
    suite.remove();
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/a: .*answered 400: .*role/);
    expect(run.stdout).not.toMatch(/b: .*answered/);
  });
});
