import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { messages, post } from './makers/requests.js';

interface Golden {
  readonly template: string;
  readonly cases: readonly {
    readonly title: string;
    readonly request: object;
    readonly prompt: string;
  }[];
}

// Rendered by Python's jinja2 as transformers does it; make_hf_prompts.py says how.
const file = new URL('./fixtures/hf-prompts.json', import.meta.url);
const golden = JSON.parse(readFileSync(file, 'utf8')) as Golden;
const casesOf = (number: string) => golden.cases.filter(({ title }) => title.startsWith(number));

describe('prompts', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
    server.text.use(golden.template);
  });
  afterAll(() => server?.close());

  async function promptOf(request: object): Promise<unknown> {
    const answer = await post(`${server.url}/apply-template`, { model: 'm3', ...request });
    return ((await answer.json()) as { prompt?: string }).prompt;
  }

  it('C33: fields that nobody knows, and null where nothing is meant, are accepted', async () => {
    const nothing = Object.fromEntries(
      [
        'temperature',
        'top_p',
        'top_k',
        'min_p',
        'seed',
        'stop',
        'n',
        'stream',
        'stream_options',
        'max_tokens',
        'max_completion_tokens',
        'tools',
        'tool_choice',
        'logprobs',
        'top_logprobs',
        'logit_bias',
        'response_format',
        'user',
        'frequency_penalty',
        'presence_penalty',
        'reasoning_effort',
        'functions',
        'audio',
        'modalities',
      ].map((field) => [field, null]),
    );
    const odd = {
      user: 'u',
      metadata: { a: '1' },
      store: true,
      service_tier: 'auto',
      safety_identifier: 's',
      verbosity: 'low',
      prompt_cache_key: 'k',
      prediction: { type: 'content', content: 'x' },
      some_new_field: [{ deep: true }],
    };
    const history = [
      { role: 'user', content: 'Hi', name: 'ann', cache_control: { type: 'ephemeral' } },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        audio: null,
        tool_calls: null,
        function_call: null,
        annotations: [],
      },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'text', text: 'Go on', cache_control: {} }] },
    ];
    for (const more of [
      nothing,
      odd,
      { messages: history },
      { ...odd, ...nothing, messages: history },
    ]) {
      const answer = await post(`${server.url}/v1/chat/completions`, {
        model: 'm3',
        messages,
        ...more,
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { object: 'chat.completion' },
      ]);
    }
  });

  it.each(casesOf('C34'))(
    'C34: is what transformers renders: $title',
    async ({ request, prompt }) => {
      expect(await promptOf(request)).toBe(prompt);
    },
  );

  it.each(casesOf('C51'))(
    'C51: no character of tools is escaped: $title',
    async ({ request, prompt }) => {
      expect(await promptOf(request)).toBe(prompt);
      const tokens = await post(`${server.url}/tokenize`, { model: 'm3', ...request });
      const { tokens: ids } = (await tokens.json()) as { tokens: number[] };
      await post(`${server.url}/v1/chat/completions`, { model: 'm3', ...request });
      expect(server.engine.received.at(-1)?.prompt).toEqual(ids);
    },
  );
});
