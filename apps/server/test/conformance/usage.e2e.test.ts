import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { askBothWays } from './makers/folded.js';
import { paths } from './makers/plain-answers.js';
import { dataOf, messages, post } from './makers/requests.js';

interface Chunk {
  readonly choices: readonly unknown[];
  readonly usage?: Readonly<Record<string, number>> | null;
}

describe('usage', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  async function stream(path: (typeof paths)[number], more: object): Promise<Chunk[]> {
    const body = { model: 'm3', stream: true, ...more };
    const prompt = path === '/v1/completions' ? { prompt: ['Hi', 'You there'] } : { messages };
    const answer = await post(server.url + path, { ...body, ...prompt });
    const frames = dataOf(await answer.text());
    expect(frames.pop()).toBe('[DONE]');
    return frames.map((frame) => JSON.parse(frame) as Chunk);
  }

  it.each([1, 2, 3, 4])(
    'C17: is the same streamed and whole, over all choices (n = %i)',
    async (n) => {
      const texts = ['one', 'one two', 'three </mm:think> four five', 'six 漢字'].slice(0, n);
      const ends = texts.map((text, index) => ({
        text,
        reason: index === 1 ? ('length' as const) : ('stop' as const),
      }));
      server.engine.scripts = [...ends, ...ends];
      const request = {
        model: 'm3',
        messages,
        n,
        chat_template_kwargs: { thinking_mode: 'enabled' },
      };
      const before = server.engine.received.length;
      const { usage, whole, streamed } = await askBothWays(server.client, {
        ...request,
        logprobs: true,
      });
      expect(usage.streamed).toEqual(usage.whole);
      const shown = whole.reduce((sum, { logprobs }) => sum + logprobs.length, 0);
      // The token that ends a choice is counted and not shown.
      const ended = whole.filter(({ finishes }) => finishes[0] === 'stop').length;
      expect(usage.whole).toMatchObject({
        completion_tokens: shown + ended,
        prompt_tokens: server.engine.received[before]?.prompt.length,
      });
      expect(streamed.map(({ finishes }) => finishes)).toEqual(
        whole.map(({ finishes }) => finishes),
      );
    },
  );

  it.each(paths)(
    'C18: comes once, in a last chunk without choices, when it is asked for: %s',
    async (path) => {
      server.engine.scripts = [{ text: 'Hello there' }];
      const without = await stream(path, { n: 2 });
      expect(without.some((chunk) => 'usage' in chunk)).toBe(false);
      const chunks = await stream(path, { n: 2, stream_options: { include_usage: true } });
      const last = chunks.pop();
      expect(last).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
      for (const chunk of chunks) {
        expect(chunk.usage).toBeNull();
        expect(chunk.choices).toHaveLength(1);
      }
    },
  );

  it('counts no tokens where only the prompt is wanted', async () => {
    const body = { model: 'm3', prompt: ['Hi', 'You there'], max_tokens: 0, echo: true, n: 2 };
    const whole = await (await post(`${server.url}/v1/completions`, body)).json();
    const { usage } = whole as { usage: Record<string, number> };
    expect(usage).toMatchObject({ completion_tokens: 0, total_tokens: usage['prompt_tokens'] });
    const options = { include_usage: true, continuous_usage_stats: true };
    const chunks = await stream('/v1/completions', { ...body, stream_options: options });
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.at(-1)?.usage).toEqual(usage);
    for (const chunk of chunks) expect(chunk.usage?.['completion_tokens']).toBe(0);
  });

  it.each(paths)('C18: continuous counts only grow, up to the totals: %s', async (path) => {
    server.engine.scripts = [{ text: 'Hello there, you' }];
    const options = { include_usage: true, continuous_usage_stats: true };
    const chunks = await stream(path, { n: 3, stream_options: options });
    const counts = chunks.map(({ usage }) => usage?.['completion_tokens'] ?? -1);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBeGreaterThan(6);
    const prompts = new Set(chunks.map(({ usage }) => usage?.['prompt_tokens']));
    expect(prompts.size).toBe(1);
    expect(chunks.at(-1)?.choices).toEqual([]);
    const wrong = await post(server.url + path, {
      model: 'm3',
      messages,
      prompt: 'a',
      stream: true,
      stream_options: { continuous_usage_stats: true },
    });
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: { param: 'stream_options.continuous_usage_stats' } },
    ]);
  });
});
