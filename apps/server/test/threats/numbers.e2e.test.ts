import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

/** JSON texts of what a number may be, with what JavaScript's own writer cannot write. */
const hostile = [
  ...['1e999', '-1e999', '1e308', '-1e308', '5e-324', '-0', '0', '-1', '0.5', '9007199254740993'],
  ...['18446744073709551616', '-9223372036854775809', '2147483648', '"NaN"', '"1"', '""', 'true'],
  ...['[]', '[1]', '{}', 'null'],
];
const shared = [
  ...[
    'temperature',
    'top_p',
    'top_k',
    'min_p',
    'seed',
    'n',
    'min_tokens',
    'priority',
    'max_tokens',
  ],
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'stop_token_ids'],
];

describe('numbers that no one means (S23)', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server.close());

  it.each<readonly [path: string, rest: string, field: string]>([
    ...shared.map((field) => ['/v1/completions', '"prompt":"a"', field] as const),
    ['/v1/completions', '"prompt":"a"', 'logprobs'],
    ['/v1/completions', '"prompt":"a"', 'best_of'],
    ['/v1/completions', '"max_tokens":1', 'prompt'],
    ['/v1/chat/completions', '"messages":[{"role":"user","content":"a"}]', 'max_completion_tokens'],
    [
      '/v1/chat/completions',
      '"messages":[{"role":"user","content":"a"}],"logprobs":true',
      'top_logprobs',
    ],
    ['/detokenize', '"model":"m3"', 'tokens'],
  ])('%s %s: %s is taken or refused by its name, and nothing fails', async (path, rest, field) => {
    for (const value of hostile) {
      const answer = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"model":"m3",${rest},"${field}":${value}}`,
      });
      const { error } = (await answer.json()) as { error?: { param: string | null } };
      expect([value, [200, 400].includes(answer.status)]).toEqual([value, true]);
      if (error) expect(String(error.param)).toContain(field);
    }
    const good = { model: 'm3', prompt: 'a' };
    expect((await server.client.completions.create(good)).choices[0]?.text).toBe('Hello');
    expect(server.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
