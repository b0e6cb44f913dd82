import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { demoIsLeftOut, leftOutBecause, requireDemoWeights } from '../makers/demo-model.js';
import { startServing } from '../makers/serving.js';

const killEngine = new URL('../makers/kill-engine-on-signal.mjs', import.meta.url).href;
/** Every text of a client has it. */
const mark = (where: string): string => `canary-${where}`;
const key = mark('key');

const call = { id: mark('call'), type: 'function', function: { name: 'f', arguments: '' } };
const chat = {
  model: 'minimax-m3-tiny',
  max_tokens: 3,
  user: mark('user'),
  metadata: { a: mark('metadata') },
  cache_salt: mark('salt'),
  stop: [mark('stop')],
  messages: [
    { role: 'system', content: mark('system') },
    { role: 'user', content: mark('prompt') },
    {
      role: 'assistant',
      content: mark('answer'),
      tool_calls: [{ ...call, function: { name: 'f', arguments: `{"a":"${mark('argument')}"}` } }],
    },
    { role: 'tool', tool_call_id: mark('call'), content: mark('result') },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'f', description: mark('tool'), parameters: { title: mark('schema') } },
    },
  ],
};
const text = { model: 'minimax-m3-tiny', prompt: mark('text'), max_tokens: 3 };

/** Bodies, some of them wrong, by route. */
const bodies: readonly [path: string, body: string][] = [
  ['/v1/chat/completions', JSON.stringify(chat)],
  ['/v1/chat/completions', JSON.stringify({ ...chat, stream: true, logprobs: true })],
  ['/v1/chat/completions', JSON.stringify({ ...chat, model: mark('model') })],
  ['/v1/chat/completions', JSON.stringify({ ...chat, temperature: mark('temperature') })],
  ['/v1/chat/completions', JSON.stringify({ ...chat, tool_choice: mark('choice') })],
  ['/v1/chat/completions', JSON.stringify({ ...chat, messages: [{ role: mark('role') }] })],
  ['/v1/chat/completions', `{"messages": ${mark('json')}`],
  ['/v1/chat/completions', `"${mark('quoted')}`],
  ['/v1/completions', JSON.stringify({ ...text, echo: true, logprobs: 1 })],
  ['/v1/completions', JSON.stringify({ ...text, stream: true, n: 2 })],
  ['/v1/completions', JSON.stringify({ ...text, prompt: mark('long').repeat(100_000) })],
  ['/v1/completions', JSON.stringify({ ...text, suffix: mark('suffix') })],
  ['/v1/completions', JSON.stringify({ ...text, logit_bias: { [mark('bias')]: 1 } })],
  ['/tokenize', JSON.stringify(text)],
  ['/tokenize', JSON.stringify(chat)],
  ['/detokenize', JSON.stringify({ tokens: [mark('token')] })],
  ['/apply-template', JSON.stringify(chat)],
  ['/abort_request', JSON.stringify({ rid: mark('rid') })],
  ['/start_profile', JSON.stringify({ output_dir: mark('folder') })],
  [`/v1/${mark('path')}?key=${mark('query')}`, '{}'],
  [`/v1/models/${mark('name')}`, '{}'],
];

async function sendEverything(url: string): Promise<number[]> {
  const statuses: number[] = [];
  for (const [path, body] of bodies) {
    for (const [name, value] of [
      ['authorization', `Bearer ${key}`],
      ['x-api-key', mark('wrong')],
    ] as const) {
      const more = { 'x-tenant': mark('tenant'), cookie: mark('cookie'), [name]: value };
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body,
      });
      await answer.text();
      statuses.push(answer.status);
    }
  }
  return statuses;
}

describe(`what a client sends${leftOutBecause}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-leak-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.skipIf(demoIsLeftOut).each(['trace', 'debug', 'info', 'warn', 'error', 'silent'])(
    'is in no log, metric, trace or crash report at the level %s (S19)',
    async (level) => {
      requireDemoWeights();
      process.env['NODE_OPTIONS'] = `--import=${killEngine}`;
      process.env['ALTSTREAM_API_KEY'] = key;
      const server = await startServing(
        ...['--device', 'cpu', '--log-level', level, '--tenant-header', 'x-tenant'],
        ...['--crash-dir', folder, '--profile-dir', folder],
        ...['--record-trace', join(folder, `${level}.jsonl`)],
      ).finally(() => {
        delete process.env['NODE_OPTIONS'];
        delete process.env['ALTSTREAM_API_KEY'];
      });
      const statuses = new Set(await sendEverything(server.url));
      expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404, 405]);
      const headers = { authorization: `Bearer ${key}` };
      for (const path of ['/metrics', '/server_info', '/v1/loads?include=all', '/health']) {
        const shown = await (await fetch(server.url + path, { headers })).text();
        expect(shown.length).toBeGreaterThan(10);
        expect(shown).not.toContain('canary');
      }
      server.child.kill('SIGWINCH');
      await once(server.child, 'exit');
      expect(server.output()).toMatch(/crash report, without prompts/);
      expect(server.output()).not.toContain('canary');
      const files = readdirSync(folder);
      expect(files.some((file) => file === `${level}.jsonl`)).toBe(true);
      expect(files.some((file) => /^altstream-crash-/.test(file))).toBe(true);
      for (const file of files) {
        const written = readFileSync(join(folder, file), 'utf8');
        expect([file, written.includes('canary')]).toEqual([file, false]);
      }
    },
  );
});
