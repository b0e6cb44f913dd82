import { Ajv, type AnySchema } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  requireDemoWeights,
} from '../makers/demo-model.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';

type Body = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly error?: { code: string; message: string; param: string };
  readonly choices?: {
    finish_reason: string;
    message: {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { function: { name: string; arguments: string } }[];
    };
  }[];
}

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 12 },
    age: { type: 'integer', minimum: 18, exclusiveMaximum: 100 },
    mood: { enum: ['fair', 'foul', null] },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 1, maxItems: 3 },
  },
  required: ['name', 'age', 'mood', 'tags'],
  $defs: { tag: { type: ['string', 'boolean'], maxLength: 5 } },
};
const tools = [
  {
    type: 'function',
    function: {
      name: 'book',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', enum: ['Oslo', 'Rome'] },
          nights: { type: 'integer' },
          guests: {
            type: 'array',
            items: {
              type: 'object',
              properties: { adult: { type: 'boolean' } },
              required: ['adult'],
            },
            minItems: 1,
            maxItems: 2,
          },
          note: { enum: ['late', 'early'] },
        },
        required: ['city', 'nights', 'guests'],
      },
    },
  },
  { type: 'function', function: { name: 'stop', parameters: { type: 'object', properties: {} } } },
];
const ajv = new Ajv({ strict: false });
const isValid = (schema: AnySchema, text: string | null | undefined): boolean => {
  const value: unknown = JSON.parse(text ?? '');
  const check = ajv.compile(schema);
  if (!check(value)) throw new Error(`${text}: ${ajv.errorsText(check.errors)}`);
  return true;
};

describe.skipIf(demoIsLeftOut)(`structured output of the demo model${leftOutBecause}`, () => {
  let server: TestServer;

  beforeAll(async () => {
    requireDemoWeights();
    server = await startTestServer(demoFolder);
  }, 120_000);
  afterAll(() => server.close());

  async function ask(body: Body): Promise<Answer> {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'minimax-m3-tiny',
        messages: [{ role: 'user', content: 'Tell me of a person.' }],
        max_tokens: 600,
        thinking: { type: 'disabled' },
        ...body,
      }),
    });
    return { status: response.status, ...((await response.json()) as object) } as Answer;
  }
  const contentOf = async (body: Body): Promise<string | null | undefined> => {
    const answer = await ask(body);
    expect(answer.error).toBeUndefined();
    expect(answer.choices?.[0]?.finish_reason).toBe('stop');
    return answer.choices?.[0]?.message.content;
  };
  const jsonSchema = (schema: unknown, strict = true): Body => ({
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict } },
  });

  it('parses and validates at any temperature', async () => {
    for (const temperature of [0, 0.7, 1.5]) {
      const content = await contentOf({ ...jsonSchema(person), temperature, seed: 3 });
      expect(isValid(person, content)).toBe(true);
    }
  });

  it('C32: comes behind free thoughts, whichever the thinking mode', async () => {
    for (const type of ['enabled', 'adaptive']) {
      const body = { ...jsonSchema(person), thinking: { type }, temperature: 0, max_tokens: 600 };
      const message = (await ask(body)).choices?.[0]?.message;
      expect(isValid(person, message?.content)).toBe(true);
      if (type === 'enabled') expect(message?.reasoning_content).not.toBe('');
    }
  });

  it('has every shape of the request fields', async () => {
    const greedy = { temperature: 0 };
    const regex = '[A-Z][a-z]{2,5} (19|20)\\d{2}';
    const choice = ['fair', 'foul "weather"\n', 'none'];
    const ebnf = 'root ::= "<" word ">"\nword ::= [a-c]{3}';
    const structured = (value: Body): Body => ({ ...greedy, structured_outputs: value });
    expect(await contentOf(structured({ regex }))).toMatch(new RegExp(`^${regex}$`));
    expect(await contentOf({ ...greedy, regex })).toMatch(new RegExp(`^${regex}$`));
    expect(choice).toContain(await contentOf(structured({ choice })));
    expect(await contentOf(structured({ grammar: ebnf }))).toMatch(/^<[a-c]{3}>$/);
    expect(await contentOf({ ...greedy, ebnf })).toMatch(/^<[a-c]{3}>$/);
    expect(isValid(person, await contentOf(structured({ json: JSON.stringify(person) })))).toBe(
      true,
    );
    expect(isValid(person, await contentOf({ ...greedy, json_schema: person }))).toBe(true);
    const tag = { format: { type: 'const_string', value: 'just so' } };
    const structural_tag = JSON.stringify({ type: 'structural_tag', ...tag });
    expect(await contentOf(structured({ structural_tag }))).toBe('just so');
  });

  it('of a chosen text with words of markup is that text, in whatever answers show it', async () => {
    for (const text of ['no </mm:think> [e~[ <mm:think>', '<tool_call>', ']<]minimax[>']) {
      const choice = { temperature: 0, structured_outputs: { choice: [text] } };
      expect(await contentOf(choice)).toBe(text);
    }
    for (const text of ['</mm:think>x', '<mm:think>', ']<]minimax[>[<tool_call>']) {
      const { choices } = await server.client.completions.create({
        model: 'minimax-m3-tiny',
        prompt: 'Hi',
        max_tokens: 100,
        ...({ structured_outputs: { choice: [text] } } as object),
      });
      expect(choices[0]?.text).toBe(text);
    }
  });

  it('is the same streamed', async () => {
    const body = { ...jsonSchema(person), seed: 9, temperature: 1 };
    const whole = await contentOf(body);
    const stream = await server.client.chat.completions.create({
      model: 'minimax-m3-tiny',
      messages: [{ role: 'user', content: 'Tell me of a person.' }],
      max_tokens: 600,
      stream: true,
      ...body,
      ...({ thinking: { type: 'disabled' } } as object),
    } as never);
    let text = '';
    for await (const chunk of stream as unknown as AsyncIterable<{
      choices: { delta: { content?: string } }[];
    }>) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe(whole);
  });

  it('calls a tool when it must, with arguments that validate', async () => {
    const schemas = new Map(tools.map((one) => [one.function.name, one.function.parameters]));
    const choices = ['required', { type: 'function', function: { name: 'book' } }];
    for (const [seed, tool_choice] of [...choices, ...choices].entries()) {
      const body = { tools, tool_choice, seed, temperature: 1, max_tokens: 900 };
      const [choice] = (await ask({ ...body, parallel_tool_calls: seed >= 2 })).choices ?? [];
      expect(choice?.finish_reason).toBe(tool_choice === 'required' ? 'tool_calls' : 'stop');
      expect(choice?.message.content).toBeNull();
      const calls = choice?.message.tool_calls ?? [];
      expect(calls.length).toBeGreaterThan(0);
      if (seed < 2) expect(calls).toHaveLength(1);
      for (const { function: call } of calls) {
        expect(isValid(schemas.get(call.name) ?? false, call.arguments)).toBe(true);
      }
      if (typeof tool_choice === 'object') expect(calls[0]?.function.name).toBe('book');
    }
  });

  it('says what is wrong with a grammar, and serves on after each (S6)', async () => {
    const wrong: [Body, string, RegExp][] = [
      [jsonSchema({ type: 'foo' }), 'invalid_schema', /unknown type "foo"/],
      [jsonSchema({ type: 'string', pattern: '(a' }), 'invalid_schema', /parenthesis/],
      [jsonSchema({ $ref: '#/nope' }), 'invalid_schema', /leads nowhere/],
      [jsonSchema({ properties: { a: { not: {} } } }), 'invalid_schema', /#\/properties\/a: `not`/],
      [{ regex: '[a' }, 'invalid_grammar', /in the middle of/],
      [{ regex: '(?=a)b' }, 'invalid_grammar', /Lookahead is not supported/],
      [{ ebnf: 'root ::= nothing' }, 'invalid_grammar', /"nothing" is not defined/],
      [{ structured_outputs: { structural_tag: { type: 'x' } } }, 'invalid_grammar', /./],
    ];
    const running = contentOf({ ...jsonSchema(person), temperature: 1, seed: 5 });
    for (const [body, code, message] of wrong) {
      const answer = await ask(body);
      expect([answer.status, answer.error?.code]).toEqual([400, code]);
      expect(answer.error?.message).toMatch(message);
    }
    // An answer that was under way when workers died is none the worse for it.
    expect(isValid(person, await running)).toBe(true);
    expect(isValid(person, await contentOf({ ...jsonSchema(person), temperature: 0 }))).toBe(true);
  });
});
