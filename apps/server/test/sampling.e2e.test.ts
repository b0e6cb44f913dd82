import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

const model = 'T128';
const messages = [{ role: 'user' as const, content: 'Hello there' }];
const greedy = { model, temperature: 0, max_tokens: 12 };
const text = { ...greedy, prompt: 'once upon', logprobs: 4, return_tokens_as_token_ids: true };

/** Ids of a text completion that shows tokens as ids. */
const idsOf = (tokens: readonly string[] | undefined): number[] =>
  (tokens ?? []).map((token) => Number(token.replace('token_id:', '')));

describe('what a request says about sampling', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
    const args = ['--max-num-queued-reqs', '32', '--max-logprobs', '256'];
    server = await startTestServer(folder.path, { args });
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  async function complete(more: object = {}) {
    const { choices } = await server.client.completions.create({ ...text, ...more });
    const { logprobs, ...choice } = choices[0] ?? { logprobs: null };
    return { ...choice, logprobs, ids: idsOf(logprobs?.tokens) };
  }

  it('is obeyed: a bias forces a token, another forbids one', async () => {
    const plain = await complete();
    const [best = 0] = plain.ids;
    const other = best === 70 ? 71 : 70;
    const forced = await complete({ logit_bias: { [other]: 100 } });
    expect(forced.ids).toEqual(new Array(12).fill(other));
    const forbidden = await complete({ logit_bias: { [best]: -1000 } });
    expect(forbidden.ids[0]).toBe(idsOf(Object.keys(plain.logprobs?.top_logprobs?.[0] ?? {}))[1]);
    expect(forbidden.ids).not.toContain(best);
  });

  it('leaves log-probabilities as the model gave them', async () => {
    const plain = await complete();
    const other = plain.ids[0] === 70 ? 71 : 70;
    const forced = await complete({ logit_bias: { [other]: 100 }, logprobs: 4, max_tokens: 1 });
    const first = ({ logprobs }: typeof plain) => logprobs?.top_logprobs?.[0] ?? {};
    expect(forced.logprobs?.token_logprobs?.[0]).toBeLessThan(-1);
    const bests = Object.entries(first(plain)).slice(0, 4);
    for (const [token, logprob] of bests) expect(first(forced)[token]).toBeCloseTo(logprob, 4);
  });

  it('may ask for as many alternatives as the operator allows', async () => {
    const { logprobs } = await complete({ logprobs: 256, max_tokens: 1 });
    const bests = Object.values(logprobs?.top_logprobs?.[0] ?? {});
    expect(bests).toHaveLength(256);
    expect([...bests].sort((a, b) => b - a)).toEqual(bests);
    const likely = bests.reduce((sum, logprob) => sum + Math.exp(logprob), 0);
    expect(likely).toBeGreaterThan(0.5);
    expect(likely).toBeLessThanOrEqual(1.0001);
    await expect(complete({ logprobs: 257 })).rejects.toMatchObject({ status: 400 });
  });

  it('keeps tokens from coming again', async () => {
    const [once, presence] = [await complete(), await complete({ presence_penalty: 2 })];
    const repeats = ({ ids }: typeof once) => ids.length - new Set(ids).size;
    expect(presence.ids[0]).toBe(once.ids[0]);
    const liked = await complete({ frequency_penalty: -2, presence_penalty: -2 });
    expect(repeats(presence)).toBeLessThan(repeats(liked));
    const repetition = await complete({ repetition_penalty: 2 });
    expect(repetition.ids).not.toEqual(once.ids);
  });

  it('puts stop tokens off until there are enough tokens', async () => {
    const { ids } = await complete();
    const stops = { stop_token_ids: [ids[0]] };
    const early = await complete(stops);
    expect([early.ids, early.finish_reason]).toEqual([[], 'stop']);
    const late = await complete({ ...stops, min_tokens: 5 });
    expect(late.ids.length).toBeGreaterThanOrEqual(5);
    expect(late.ids.slice(0, 5)).not.toContain(ids[0]);
  });

  it('gives n choices that stream as they are whole, log-probabilities and all', async () => {
    const request = {
      ...greedy,
      messages,
      temperature: 0.9,
      seed: 11,
      n: 3,
      logprobs: true,
      top_logprobs: 5,
      frequency_penalty: 0.8,
      repetition_penalty: 1.1,
      logit_bias: { 70: 3, 71: -2 },
      min_tokens: 4,
    };
    const whole = await server.client.chat.completions.create(request);
    const stream = await server.client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    const seen = [0, 1, 2].map(() => ({ text: '', content: [] as unknown[], finish: '' }));
    let usage: unknown;
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      for (const { index, delta, logprobs, finish_reason: finish } of chunk.choices) {
        const choice = seen[index];
        if (!choice) throw new Error(`a chunk of choice ${index}`);
        choice.text += delta.content ?? '';
        choice.content.push(...(logprobs?.content ?? []));
        choice.finish += finish ?? '';
      }
    }
    expect(whole.choices).toHaveLength(3);
    expect(new Set(whole.choices.map((one) => JSON.stringify(one.logprobs))).size).toBe(3);
    whole.choices.forEach(({ index, message, logprobs, finish_reason: finish }) => {
      const content = logprobs?.content ?? [];
      expect(seen[index]).toEqual({ text: message.content ?? '', content, finish });
      for (const { top_logprobs: best } of content) expect(best).toHaveLength(5);
    });
    expect(usage).toEqual(whole.usage);
    expect(whole.usage?.completion_tokens).toBe(
      whole.choices.reduce((sum, one) => sum + (one.logprobs?.content?.length ?? 0), 0),
    );
  });

  it('gives a seed the same tokens alone and among others', async () => {
    const request = { seed: 3, temperature: 1, presence_penalty: 1, logit_bias: { 80: 2 } };
    const alone = await complete(request);
    const [, , among] = await Promise.all([
      complete({ temperature: 1, frequency_penalty: 1 }),
      complete({ temperature: 1 }),
      complete(request),
      complete({ temperature: 0, repetition_penalty: 1.5 }),
    ]);
    expect(among?.ids).toEqual(alone.ids);
  });

  it.each([
    ['logit_bias.4096000', { logit_bias: { 4096000: 1 } }, 'outside the vocabulary'],
    [
      'logit_bias',
      { logit_bias: Object.fromEntries(Array.from({ length: 1025 }, (_, id) => [id, 1])) },
      'at most 1024',
    ],
    ['frequency_penalty', { frequency_penalty: -3 }, '-2'],
    ['repetition_penalty', { repetition_penalty: 0 }, '0'],
  ])('refuses a wrong %s', async (param, fields, message) => {
    await expect(complete(fields)).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringContaining(message),
    });
  });
});
