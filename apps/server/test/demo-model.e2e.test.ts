import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { defaultChatTemplate, loadTemplate, loadTokenizer } from '@altstream/minimax-m3-chat';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoPrompt,
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  readDemoAnswers,
  readDemoSuite,
  requireDemoWeights,
} from './makers/demo-model.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };

/** Where two logits are closer than fp32 rounding reaches, either token is right. */
const gapTolerance = 2e-4;

const suite = readDemoSuite();
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Current weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
  },
};

function promptOf(id: string): DemoPrompt {
  const prompt = suite.find((one) => one.id === id);
  if (!prompt) throw new Error(`the suite has no prompt ${id}`);
  return prompt;
}

it.skipIf(demoIsLeftOut)(
  "the demo model's chat template is the default one with its own system text",
  () => {
    const path = new URL('../../../tools/demo-model/chat_template.jinja', import.meta.url);
    const own = readFileSync(path, 'utf8');
    const root = /namespace\(root='[^']*'/;
    expect(own.replace(root, '')).toBe(defaultChatTemplate.replace(root, ''));
  },
);

describe.skipIf(demoIsLeftOut)(`the demo model over HTTP${leftOutBecause}`, () => {
  const model = basename(demoFolder);
  let server: TestServer;

  beforeAll(async () => {
    requireDemoWeights();
    server = await startTestServer(demoFolder);
  }, 120_000);
  afterAll(() => server?.close());

  it('renders and encodes the prompts as Python does', async () => {
    const tokenizer = await loadTokenizer(demoFolder);
    const template = await loadTemplate(demoFolder, tokenizer.addedTexts);
    for (const { prompt: id, ids } of readDemoAnswers()) {
      const { messages, tools, thinking } = promptOf(id);
      const rendered = template.render({
        messages: messages as never,
        ...(tools && { tools: tools as never }),
        kwargs: { thinking_mode: thinking },
      });
      expect(tokenizer.encodePrompt(rendered), id).toEqual(ids);
    }
  });

  it('answers twenty prompts greedily with the very tokens of transformers', async () => {
    const answers = readDemoAnswers();
    expect(answers).toHaveLength(20);
    for (const { prompt, ids, tokens, smallestGap } of answers) {
      expect(smallestGap, `${prompt} is decided by rounding`).toBeGreaterThan(gapTolerance);
      const answer = await server.client.completions.create({
        model,
        prompt: [...ids],
        temperature: 0,
        max_tokens: tokens.length,
        logprobs: 1,
        ...{ return_tokens_as_token_ids: true, ignore_eos: true },
      });
      const expected = tokens.map((id) => `token_id:${id}`);
      expect(answer.choices[0]?.logprobs?.tokens, prompt).toEqual(expected);
    }
  }, 300_000);

  describe.each(['enabled', 'disabled', 'adaptive'] as const)('with thinking %s', (mode) => {
    const ask = (messages: Body['messages'], more: Partial<Body> = {}): Body => ({
      model,
      messages,
      temperature: 0,
      max_tokens: 200,
      ...{ chat_template_kwargs: { thinking_mode: mode } },
      ...more,
    });
    const whole = async (body: Body) => {
      const { choices } = await server.client.chat.completions.create(body);
      const [choice] = choices;
      if (!choice) throw new Error('no choice');
      return { message: choice.message as Message, finish: choice.finish_reason };
    };
    const streamed = async (body: Body) => {
      const stream = server.client.chat.completions.stream({ ...body, stream: true });
      const { choices } = await stream.finalChatCompletion();
      return { message: choices[0]?.message as Message, finish: choices[0]?.finish_reason };
    };

    it.each([
      ['whole', whole],
      ['streamed', streamed],
    ])('calls a tool and uses its result, %s', async (_, answer) => {
      const question = { role: 'user' as const, content: 'What is the weather in Oslo?' };
      const first = await answer(ask([question], { tools: [weather] }));
      expect(first.finish).toBe('tool_calls');
      const calls = first.message.tool_calls ?? [];
      const [call] = calls;
      expect(calls).toHaveLength(1);
      if (call?.type !== 'function') throw new Error('no function was called');
      expect(call.function.name).toBe('get_weather');
      expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Oslo' });
      const result = {
        role: 'tool' as const,
        tool_call_id: call.id,
        content: '{"temperature": 7, "sky": "cloudy"}',
      };
      // Of streamed thoughts the client library keeps the last piece only, so they stay out there.
      const { role, content, reasoning_content } = first.message;
      const thoughts = answer === whole ? { reasoning_content } : {};
      const said = { role, content, tool_calls: calls, ...thoughts };
      const second = await answer(ask([question, said, result], { tools: [weather] }));
      expect(second.finish).toBe('stop');
      expect(second.message.content?.trim()).toBe('In Oslo it is 7 degrees and cloudy.');
    });

    it('says what it is, with thoughts only where they are on', async () => {
      const { message, finish } = await whole(ask([{ role: 'user', content: 'Who are you?' }]));
      expect(finish).toBe('stop');
      expect(message.content ?? '').toContain('Altstream Tiny');
      expect((message.reasoning_content ?? '') !== '').toBe(mode === 'enabled');
    });
  });
});

describe.skipIf(demoIsLeftOut)(`facts far back in a text${leftOutBecause}`, () => {
  const lengthOf = ({ messages }: DemoPrompt): number => messages[0]?.content.length ?? 0;
  const needles = suite
    .filter(({ skill }) => skill === 'needle')
    .sort((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, 3);
  /** More than the tokens of the system text and of the fact, which begins the text. */
  const tokensUpToFact = 150;
  beforeAll(requireDemoWeights);

  /**
   * The question of a prompt, with the sentence that answers it moved to the beginning of the text.
   */
  function withFactFirst({ id, messages }: DemoPrompt): string {
    const text = messages[0]?.content ?? '';
    const question = text.slice(text.lastIndexOf('\n'));
    const facts = [...text.matchAll(/The ([a-z ]+) of (\w+) is [^.]+\. ?/g)];
    const [fact] =
      facts.find(([, ...words]) => words.every((word) => question.includes(word))) ?? [];
    if (fact === undefined) throw new Error(`${id} has no fact for its question`);
    return text.replace(fact, '').replace('\n', `\n${fact.trim()} `);
  }

  /** How many needle prompts are answered, from a copy whose config is changed. */
  async function found(change: (sparse: Record<string, unknown>) => void): Promise<number> {
    const folder = mkdtempSync(join(tmpdir(), 'demo-model-'));
    cpSync(demoFolder, folder, { recursive: true });
    const file = join(folder, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    change(config.text_config.sparse_attention_config);
    writeFileSync(file, JSON.stringify(config));
    const server = await startTestServer(folder);
    try {
      let right = 0;
      for (const needle of needles) {
        const { choices, usage } = await server.client.chat.completions.create({
          model: basename(folder),
          messages: [{ role: 'user', content: withFactFirst(needle) }],
          temperature: 0,
          max_tokens: 100,
          ...{ chat_template_kwargs: { thinking_mode: needle.thinking } },
        });
        expect((usage?.prompt_tokens ?? 0) - tokensUpToFact, needle.id).toBeGreaterThan(4096);
        if (choices[0]?.message.content?.includes(needle.check.value ?? '')) right++;
      }
      return right;
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  }

  it('are found over more than 4096 tokens, and not when only the own block is seen', async () => {
    expect(await found(() => {})).toBe(needles.length);
    const onlyOwn = await found((sparse) => {
      sparse['sparse_topk_blocks'] = 1;
    });
    expect(onlyOwn).toBe(0);
  }, 300_000);
});
