import { describe, expect, test } from 'vitest';
import { type M3OutputParserOptions, parseOutput } from '../src/index.js';
import { weatherTools } from './cases/tools.js';

const NS = ']<]minimax[>[';
let next = 0;
const createId = (): string => `call_${next++}`;

function parse(raw: string, options: M3OutputParserOptions = {}) {
  next = 0;
  const { toolCalls, ...rest } = parseOutput(raw, { tools: weatherTools, createId, ...options });
  return { ...rest, calls: toolCalls.map((c) => [c.name, c.arguments, c.isComplete]) };
}

describe('M3OutputParser on the examples of the format', () => {
  test('E1: separates thoughts and answer', () => {
    const out = parse('<mm:think>Two plus three is five.</mm:think>The sum is 5.');
    expect(out.reasoning).toBe('Two plus three is five.');
    expect(out.content).toBe('The sum is 5.');
    expect(out.finish).toBe('stop');
  });

  test('E2: gives plain content, with or without a stray leading closer (vllm#50549)', () => {
    for (const raw of ['Paris.', '</mm:think>Paris.', '\n</mm:think>\n\nParis.']) {
      expect(parse(raw)).toMatchObject({ reasoning: null, content: 'Paris.', calls: [] });
    }
  });

  test('E3: reads a call behind prefilled thoughts', () => {
    const raw =
      'I need the weather.</mm:think>Checking now.\n' +
      `${NS}<tool_call>\n${NS}<invoke name="get_weather">${NS}<city>Oslo${NS}</city>` +
      `${NS}<days>3${NS}</days>${NS}</invoke>\n${NS}</tool_call>`;
    expect(parse(raw, { start: 'inside' })).toMatchObject({
      reasoning: 'I need the weather.',
      content: 'Checking now.',
      calls: [['get_weather', '{"city":"Oslo","days":3}', true]],
      finish: 'tool_calls',
    });
    expect(parse(raw, { start: 'inside', tools: [] }).calls).toEqual([
      ['get_weather', '{"city":"Oslo","days":"3"}', true],
    ]);
  });

  test('E4: reads nested values and two calls', () => {
    const raw =
      `${NS}<tool_call>\n${NS}<invoke name="plan">${NS}<stops>${NS}<item>a<b${NS}</item>` +
      `${NS}<item>null${NS}</item>${NS}</stops>${NS}<opts>${NS}<fast>true${NS}</fast>` +
      `${NS}</opts>${NS}</invoke>\n${NS}<invoke name="ping">${NS}</invoke>\n${NS}</tool_call>`;
    expect(parse(raw)).toMatchObject({
      reasoning: null,
      content: null,
      calls: [
        ['plan', '{"stops":["a<b","null"],"opts":{"fast":true}}', true],
        ['ping', '{}', true],
      ],
    });
  });
});

describe('M3OutputParser on output that is cut off (vllm#47903)', () => {
  const call = `${NS}<tool_call>${NS}<invoke name="get_weather">${NS}<city>Os`;

  test('leaves the arguments truncated inside a value', () => {
    const out = parseOutput(call, { tools: weatherTools, reason: 'length' });
    expect(out.toolCalls).toMatchObject([{ arguments: '{"city":"Os', isComplete: false }]);
    expect(out.finish).toBe('length');
    expect(parseOutput(call, { tools: weatherTools }).finish).toBe('stop');
  });

  test('closes the JSON when every value is complete', () => {
    const out = parse(`${call}lo${NS}</city>${NS}</inv`);
    expect(out.calls).toEqual([['get_weather', '{"city":"Oslo"}', true]]);
    expect(out.content).toBeNull();
  });

  test('shows a tag that was cut before its name as text, and no closing tag', () => {
    expect(parse(`a\n${NS}<tool_call>\n${NS}<invoke na`).content).toBe(
      'a\n<tool_call>\n<invoke na',
    );
    expect(parse(`${call}${NS}</city>${NS}</invoke>\n${NS}</tool`).content).toBeNull();
  });
});

describe('M3OutputParser options', () => {
  const ping = `${NS}<invoke name="ping">${NS}</invoke>`;

  test('stops after maxToolCalls', () => {
    const out = parse(`${NS}<tool_call>${ping}${ping}${NS}</tool_call>tail`, { maxToolCalls: 1 });
    expect(out).toMatchObject({ calls: [['ping', '{}', true]], content: null });
  });

  test('passes unknown functions through, or shows them as text with strictTools', () => {
    const raw = `${NS}<tool_call>${NS}<invoke name="rm">${NS}</invoke>${NS}</tool_call>`;
    expect(parse(raw).calls).toEqual([['rm', '{}', true]]);
    expect(parse(raw).faults.unknownFunction).toBe(1);
    const strict = parse(raw, { strictTools: true });
    expect(strict).toMatchObject({ calls: [], content: '<tool_call><invoke name="rm"></invoke>' });
  });

  test('removes markers when calls are not parsed', () => {
    expect(parse(`a${NS}<tool_call>b`, { parseToolCalls: false }).content).toBe('a<tool_call>b');
  });
});
