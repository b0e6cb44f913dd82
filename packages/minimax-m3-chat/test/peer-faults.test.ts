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

describe('M3OutputParser on what went wrong elsewhere', () => {
  test('ends thoughts at a namespace marker (dynamo frontend-crates#133)', () => {
    const out = parse(
      `hm${NS}<tool_call>${NS}<invoke name="ping">${NS}</invoke>${NS}</tool_call>`,
      {
        start: 'inside',
      },
    );
    expect(out).toMatchObject({ reasoning: 'hm', content: null, calls: [['ping', '{}', true]] });
    expect(out.faults.impliedReasoningEnd).toBe(1);
  });

  test('keeps everything as thoughts when the closer never comes', () => {
    const out = parse('still thinking', { start: 'inside' });
    expect(out).toMatchObject({ reasoning: 'still thinking', content: null });
  });

  test('drops a repeated opener behind a prefilled one (vllm#45687)', () => {
    const out = parse('\n<mm:think>a</mm:think>b', { start: 'inside' });
    expect(out).toMatchObject({ reasoning: 'a', content: 'b' });
  });

  test('goes on at the next tag when the first parameter tag was elided (vllm#51075)', () => {
    const out = parse(
      `${NS}<tool_call>${NS}<invoke name="get_weather">Oslo${NS}</city>${NS}<days>2${NS}</days>` +
        `${NS}</invoke>${NS}</tool_call>`,
    );
    expect(out.calls).toEqual([['get_weather', '{"days":2}', true]]);
    expect(out.faults).toMatchObject({ droppedText: 1, unexpectedTag: 1 });
  });

  test('numbers calls over several blocks and keeps the text between (sglang tool_index)', () => {
    const block = `${NS}<tool_call>${NS}<invoke name="ping">${NS}</invoke>${NS}</tool_call>`;
    const out = parseOutput(`a ${block} b ${block}`, { createId });
    expect(out.content).toBe('a b');
    expect(out.toolCalls).toHaveLength(2);
  });

  test('shows an unproven block as text without markers (MiniMax-M3#31)', () => {
    const out = parse(`${NS}<tool_call>\nsorry, no tool`);
    expect(out).toMatchObject({ content: '<tool_call>\nsorry, no tool', calls: [] });
    expect(parse(`a ${NS} b`).content).toBe('a  b');
  });

  test('keeps think markers inside values and in the middle of content (vllm#45718, #46042)', () => {
    const out = parse(
      `see </mm:think> there${NS}<tool_call>${NS}<invoke name="get_weather">` +
        `${NS}<city><mm:think>x</mm:think>${NS}</city>${NS}</invoke>${NS}</tool_call>`,
    );
    expect(out.content).toBe('see </mm:think> there');
    expect(out.calls).toEqual([['get_weather', '{"city":"<mm:think>x</mm:think>"}', true]]);
  });
});
