import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const limits = { n: 2, prompts: 3, logprobs: 1, stopStrings: 1, logitBiases: 2 };
const messages = [{ role: 'user', content: 'Hi' }];
const chat = (more: object) => ['/v1/chat/completions', { messages, ...more }] as const;
const text = (more: object) => ['/v1/completions', { prompt: 'Hi', ...more }] as const;
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, id) => [id, 1]));

describe('what one request may ask for', () => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await startScripted({ limits });
  });
  afterEach(() => server.close());

  async function answer([path, body]: readonly [string, object]) {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', ...body }),
    });
    return { status: response.status, ...((await response.json()) as { error?: object }) };
  }

  it.each([
    ['n', chat({ n: 3 }), /received 3, this server takes at most 2 \(--max-n\)/],
    ['n', text({ n: 3 }), /--max-n/],
    ['prompt', text({ prompt: ['a', 'b', 'c', 'd'] }), /received 4, .* 3 \(--max-prompt-batch\)/],
    ['top_logprobs', chat({ logprobs: true, top_logprobs: 2 }), /--max-logprobs/],
    ['logprobs', text({ logprobs: 2 }), /--max-logprobs/],
    ['stop', text({ stop: ['a', 'b'] }), /--max-stop-strings/],
    ['logit_bias', chat({ logit_bias: many(3) }), /--max-logit-bias/],
    // One limit, however far beyond it a request goes.
    ['n', chat({ n: 200 }), /received 200, this server takes at most 2 \(--max-n\)/],
    ['top_logprobs', chat({ logprobs: true, top_logprobs: 300 }), /received 300, .* at most 1 /],
    ['logprobs', text({ logprobs: 300 }), /received 300, .* at most 1 /],
    ['stop', chat({ stop: new Array(200).fill('a') }), /received 200, .* most 1 \(--max-stop-str/],
    ['prompt', text({ prompt: new Array(3000).fill('a') }), /received 3000, .* at most 3 /],
  ])('is limited by flags: %s', async (param, request, message) => {
    expect(await answer(request)).toMatchObject({
      status: 400,
      error: { param, code: 'invalid_value', message: expect.stringMatching(message) },
    });
    expect(server.engine.received).toHaveLength(0);
  });

  it('is enough up to those', async () => {
    const all = { n: 2, logprobs: 1, stop: 'z', logit_bias: many(2), prompt: ['a', 'b', 'c'] };
    expect(await answer(text(all))).toMatchObject({ status: 200 });
  });

  it.each([
    ['n', text({ n: 1e9 })],
    ['best_of', text({ best_of: 1e9 })],
    ['prompt', text({ prompt: new Array(100_000).fill('a') })],
    ['prompt', text({ prompt: new Array(100_000).fill([1]) })],
    ['prompt', text({ prompt: new Array(200_000).fill(5.5) })],
    ['logprobs', text({ logprobs: 1e9 })],
    ['top_logprobs', chat({ logprobs: true, top_logprobs: 1e9 })],
    ['logit_bias', chat({ logit_bias: many(20_000) })],
    ['stop', chat({ stop: new Array(100_000).fill(5) })],
  ])(
    'is refused before anything is made of it, and costs no memory: a huge %s (S5)',
    async (param, request) => {
      global.gc?.();
      const before = process.memoryUsage.rss();
      expect(await answer(request)).toMatchObject({ status: 400, error: { param } });
      expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
      expect([server.engine.received.length, server.text.jobs]).toEqual([0, 0]);
    },
  );
});
