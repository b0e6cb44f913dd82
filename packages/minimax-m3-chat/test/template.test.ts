import { describe, expect, test } from 'vitest';
import {
  buildByteTokenizer,
  type ChatMessage,
  ChatTemplate,
  ChatTokenizer,
  controlTexts,
  defaultChatTemplate,
  type RenderInput,
  reasoningStartOf,
} from '../src/index.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 512 }).tokenizerJson);
const template = new ChatTemplate(defaultChatTemplate, tokenizer.addedTexts);
const user = (content: string): ChatMessage => ({ role: 'user', content });
const NS = controlTexts.namespace;

function render(input: RenderInput): string {
  return template.render(input).text;
}

describe('the default chat template', () => {
  test('renders turns, roles and the generation prefix', () => {
    const text = render({ messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')] });
    expect(text.startsWith(']~!b[]~b]system\nYou are')).toBe(true);
    expect(text).toContain('<mm:think></mm:think>');
    expect(text.endsWith('[e~[\n]~b]developer\nBe brief.[e~[\n]~b]user\nHi[e~[\n]~b]ai\n')).toBe(
      true,
    );
  });

  test('lets a root message replace the system paragraph', () => {
    const text = render({ messages: [{ role: 'root', content: 'R' }, user('Hi')] });
    expect(text.startsWith(']~!b[]~b]system\nR\n\n<thinking_instructions>')).toBe(true);
    expect(text).toContain(']~b]developer\nYou are a helpful assistant.[e~[');
  });

  test.each([
    ['enabled', '<mm:think>', 'inside'],
    ['disabled', '</mm:think>', 'outside'],
    ['adaptive', ']~b]ai\n', 'outside'],
  ])('ends the prompt for thinking mode %s', (mode, suffix, start) => {
    const text = render({ messages: [user('Hi')], kwargs: { thinking_mode: mode } });
    expect(text.endsWith(suffix)).toBe(true);
    expect(text).toContain(`Thinking is ${mode}`);
    expect(reasoningStartOf(text)).toBe(start);
  });

  test('renders thoughts, calls and grouped results of earlier turns', () => {
    const call = (name: string, args: string) => ({ function: { name, arguments: args } });
    const text = render({
      messages: [
        user('Hi'),
        {
          role: 'assistant',
          content: '<mm:think>R</mm:think>\nC',
          tool_calls: [call('f', '{"a":[1,"x"],"b":{"c":true,"d":null},"e":"é"}'), call('g', '')],
        },
        { role: 'tool', content: 'one' },
        { role: 'tool', content: 'two' },
        { role: 'assistant', content: 'done' },
      ],
      addGenerationPrompt: false,
    });
    const tag = (name: string, inner: string): string => `${NS}<${name}>${inner}${NS}</${name}>`;
    const list = tag('a', tag('item', '1') + tag('item', 'x'));
    expect(text).toContain(
      `]~b]ai\n<mm:think>R</mm:think>C\n${NS}<tool_call>\n${NS}<invoke name="f">${list}` +
        `${tag('b', tag('c', 'true'))}${tag('e', 'é')}${NS}</invoke>\n${NS}<invoke name="g">` +
        `${NS}</invoke>\n${NS}</tool_call>[e~[\n` +
        ']~b]tool\n<response>one</response>\n<response>two</response>[e~[\n' +
        ']~b]ai\n</mm:think>done[e~[\n',
    );
  });

  test('writes tools as JSON and leaves non-ASCII alone (sglang#13722)', () => {
    const parameters = { type: 'object', properties: { ort: { type: 'string' } } };
    const tools = [{ function: { name: 'wetter', description: '天気', parameters } }];
    expect(render({ messages: [user('Hi')], tools })).toContain(
      '<tools>\n<tool>{"name": "wetter", "description": "天気", "parameters": {"type": "object", ' +
        '"properties": {"ort": {"type": "string"}}}}</tool>\n</tools>',
    );
  });
});

describe('ChatTemplate errors', () => {
  const code = (value: string) => expect.objectContaining({ code: value });

  test('tells a broken template, a refusal and a failure apart', () => {
    expect(() => new ChatTemplate('{% if %}', [])).toThrow(code('CHAT_TEMPLATE_SYNTAX'));
    const orphan = { messages: [{ role: 'tool', content: 'x' } as const] };
    expect(() => template.render(orphan)).toThrow(code('CHAT_TEMPLATE_RAISED'));
    expect(() => template.render(orphan)).toThrow(/refused the messages: a tool message must/);
    const failing = new ChatTemplate('{{ messages | no_such_filter }}', []);
    expect(() => failing.render({ messages: [] })).toThrow(code('CHAT_TEMPLATE_FAILED'));
    const endless = new ChatTemplate('{% for i in range(30000000) %}{% endfor %}', []);
    expect(() => endless.render({ messages: [] })).toThrow(/at most 100000/);
  });

  test('says what a template says in a length that an error may have', () => {
    const doubled = (loops: number, end: string) =>
      new ChatTemplate(
        '{% set ns = namespace(s="😀😀😀😀") %}' +
          `{% for i in range(${loops}) %}{% set ns.s = ns.s + ns.s %}{% endfor %}${end}`,
        [],
      );
    const failures: [ends: string, problem: string][] = [
      ['{{ raise_exception("x" + ns.s) }}', 'CHAT_TEMPLATE_RAISED'],
      ['{{ ns.s[ns.s] }}{{ (ns.s)(1) }}{{ none[ns.s].a.b }}', 'CHAT_TEMPLATE_FAILED'],
    ];
    for (const [end, problem] of failures) {
      const message = expect.stringMatching(/^.{1,700}$/s);
      expect(() => doubled(16, end).render({ messages: [] })).toThrow(
        expect.objectContaining({ code: problem, message }),
      );
    }
    expect(() => doubled(16, failures[0]?.[0] ?? '').render({ messages: [] })).toThrow(
      /refused the messages: x(😀){249}… \(524289 characters\)/,
    );
    expect(() => new ChatTemplate(`{{ ${'"'.repeat(3)}${'a'.repeat(9000)} }}`, [])).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,700}$/s) }),
    );
  });

  test('refuses what a template makes of few words beyond 64 Mi characters', () => {
    const large = new ChatTemplate(
      '{% set ns = namespace(s="12345678") %}' +
        '{% for i in range(24) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}',
      [],
    );
    expect(() => large.render({ messages: [] })).toThrow(code('CHAT_TEMPLATE_TOO_LARGE'));
  });

  test('names the message that is malformed', () => {
    const bad = (message: unknown) => () => template.render({ messages: [message as ChatMessage] });
    expect(bad({ content: 'x' })).toThrow(/`messages\[0\]` is not an object with a known `role`/);
    expect(bad({ role: 'user', content: [{ type: 'image_url' }] })).toThrow(
      /messages\[0\].content\[0\]/,
    );
    const call = { function: { name: 'f', arguments: '{"a":' } };
    expect(bad({ role: 'assistant', tool_calls: [call] })).toThrow(/tool_calls\[0\].* not JSON/);
    const kwargs = { messages: [] };
    expect(() => template.render({ messages: [], kwargs })).toThrow(/`kwargs.messages`/);
  });
});
