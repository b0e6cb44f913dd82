import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';

const request = {
  model: 'T128',
  prompt: 'once upon',
  max_tokens: 8,
  seed: 5,
  temperature: 0.8,
  logprobs: 4,
  return_tokens_as_token_ids: true,
};
/** What JSON has in place of −∞. */
const impossible = -9999;

describe('--logprobs-mode processed', () => {
  let folder: ModelFolder;
  let raw: TestServer;
  let processed: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
    raw = await startTestServer(folder.path);
    const args = ['--logprobs-mode', 'processed_logprobs'];
    processed = await startTestServer(folder.path, { args });
  }, 60_000);
  afterAll(async () => {
    await raw?.close();
    await processed?.close();
    folder?.remove();
  });

  async function complete(server: TestServer, more: object = {}) {
    const answer = await server.client.completions.create({ ...request, ...more });
    const {
      tokens = [],
      token_logprobs: own = [],
      top_logprobs: top = [],
    } = answer.choices[0]?.logprobs ?? {};
    return { tokens, own, top: top.map((one) => Object.entries(one ?? {})) };
  }
  const both = async (more: object = {}) =>
    [await complete(raw, more), await complete(processed, more)] as const;

  it('gives the same tokens with other log-probabilities', async () => {
    const [model, draw] = await both();
    expect(draw.tokens).toEqual(model.tokens);
    expect(draw.own).not.toEqual(model.own);
    // Below 1 a temperature makes the likely likelier.
    const best = ({ top }: typeof draw) => Math.max(...(top[0] ?? []).map(([, value]) => value));
    expect(best(draw)).toBeGreaterThan(best(model) + 0.01);
  });

  it('shows what filters removed as impossible, and a forced token as certain', async () => {
    const [model, draw] = await both({ top_k: 2 });
    expect(model.top.flat().every(([, value]) => value > impossible)).toBe(true);
    for (const top of draw.top) {
      const possible = top.filter(([, value]) => value > impossible);
      const sum = possible.reduce((all, [, value]) => all + Math.exp(value), 0);
      expect([possible.length, sum]).toEqual([2, expect.closeTo(1, 5)]);
    }
    expect(draw.own.every((value) => value !== null && value > impossible)).toBe(true);
    const [, forced] = await both({ logit_bias: { 70: 100 } });
    expect(forced.tokens).toEqual(new Array(8).fill('token_id:70'));
    for (const value of forced.own) expect(value).toBeCloseTo(0, 5);
  });

  it('gives those of a prompt as the model has them', async () => {
    const [model, draw] = await both({ echo: true, max_tokens: 1 });
    expect(draw.own.length).toBeGreaterThan(2);
    expect(draw.own.slice(0, -1)).toEqual(model.own.slice(0, -1));
    expect(draw.own.at(-1)).not.toBe(model.own.at(-1));
  });

  it('knows what a grammar allows, streamed as whole', async () => {
    const chat = {
      model: 'T128',
      messages: [{ role: 'user' as const, content: 'Yes or no?' }],
      structured_outputs: { choice: ['yes', 'no'] },
      chat_template_kwargs: { thinking_mode: 'disabled' },
      logprobs: true,
      top_logprobs: 5,
      max_tokens: 12,
      seed: 3,
      n: 2,
    };
    const { choices } = await processed.client.chat.completions.create(chat);
    const stream = await processed.client.chat.completions.create({ ...chat, stream: true });
    const streamed = new Map<number, unknown[]>();
    for await (const chunk of stream) {
      for (const { index, logprobs } of chunk.choices) {
        streamed.set(index, [...(streamed.get(index) ?? []), ...(logprobs?.content ?? [])]);
      }
    }
    expect(choices).toHaveLength(2);
    for (const { index, message, logprobs } of choices) {
      expect(['yes', 'no']).toContain(message.content);
      const content = logprobs?.content ?? [];
      expect(streamed.get(index)).toEqual(content);
      const [first] = content;
      const letters = first?.top_logprobs.filter(({ logprob }) => logprob > impossible) ?? [];
      expect(letters.length).toBeGreaterThan(0);
      for (const { token } of letters) expect('yes no'.includes(token)).toBe(true);
      const sum = letters.reduce((all, { logprob }) => all + Math.exp(logprob), 0);
      expect(sum).toBeCloseTo(1, 5);
    }
  });

  it('is told by /server_info', async () => {
    const modes = [raw, processed].map(async ({ url }) => {
      const { engine } = (await (await fetch(`${url}/server_info`)).json()) as Info;
      return engine.limits.logprobsMode;
    });
    expect(await Promise.all(modes)).toEqual(['raw', 'processed']);
  });
});

interface Info {
  readonly engine: { readonly limits: { readonly logprobsMode: string } };
}
