import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { M3OutputParser, type OutputDelta, parseOutput } from '../src/index.js';
import { weatherTools } from './cases/tools.js';
import { randomOutput } from './makers/random-output.js';

const NS = ']<]minimax[>[';
const cuts = fc.array(fc.nat(400), { maxLength: 40 });
const start = fc.constantFrom('inside' as const, 'outside' as const);
const createId = (): string => 'call_x';

function split(text: string, at: readonly number[]): string[] {
  const bounds = [0, ...[...at].sort((a, b) => a - b).filter((i) => i < text.length), text.length];
  return bounds.slice(1).map((bound, i) => text.slice(bounds[i], bound));
}

function stream(
  chunks: readonly string[],
  options: ConstructorParameters<typeof M3OutputParser>[0],
) {
  const parser = new M3OutputParser({ tools: weatherTools, createId, ...options });
  const deltas: OutputDelta[] = chunks.flatMap((chunk) => parser.push(chunk));
  deltas.push(...parser.finish());
  return { deltas, result: parser.result() };
}

/** Neighbouring texts joined: what a client sees, whatever the chunks were. */
function fold(deltas: readonly OutputDelta[]): unknown[] {
  const folded: Record<string, unknown>[] = [];
  for (const delta of deltas) {
    const last = folded.at(-1);
    const isSame = 'text' in delta && last?.['type'] === delta.type;
    if (isSame && last['index'] === (delta as { index?: number }).index) last['text'] += delta.text;
    else folded.push({ ...delta });
  }
  return folded;
}

describe('M3OutputParser under any chunking', () => {
  test('gives the same events for every chunking, surrogate pairs cut included', () => {
    fc.assert(
      fc.property(randomOutput, cuts, start, (text, at, begin) => {
        const options = { start: begin };
        const whole = stream([text], options);
        const chunked = stream(split(text, at), options);
        const single = stream(text.split(''), options);
        expect(fold(chunked.deltas)).toEqual(fold(whole.deltas));
        expect(fold(single.deltas)).toEqual(fold(whole.deltas));
        expect(chunked.result).toEqual(whole.result);
        expect(single.result).toEqual(whole.result);
      }),
      { numRuns: 3000 },
    );
  });

  test('never lets a namespace marker through, in any place', () => {
    fc.assert(
      fc.property(randomOutput, start, (text, begin) => {
        const { result } = stream(text.split(''), { start: begin });
        const shown = [
          result.reasoning,
          result.content,
          ...result.toolCalls.map((c) => c.arguments),
        ];
        for (const part of shown) expect(part ?? '').not.toContain(NS);
      }),
      { numRuns: 1500 },
    );
  });

  test('complete calls have arguments that are a JSON object, and indexes rise by one', () => {
    fc.assert(
      fc.property(randomOutput, start, (text, begin) => {
        const { deltas, result } = stream([text], { start: begin });
        for (const call of result.toolCalls.filter((c) => c.isComplete)) {
          expect(typeof JSON.parse(call.arguments)).toBe('object');
        }
        const starts = deltas.filter((delta) => delta.type === 'tool-call-start');
        expect(starts.map((delta) => delta.index)).toEqual(starts.map((_, i) => i));
      }),
      { numRuns: 1500 },
    );
  });

  test('every delta is well-formed UTF-16', () => {
    fc.assert(
      fc.property(randomOutput, cuts, (text, at) => {
        for (const delta of stream(split(text, at), {}).deltas) {
          if ('text' in delta) expect(delta.text).not.toMatch(/[\ud800-\udfff]/u);
        }
      }),
    );
  });
});

describe('M3OutputParser hold-back', () => {
  test('E5: holds a partial marker back, and gives it out when it was none', () => {
    const parser = new M3OutputParser();
    expect(parser.push('ok]<]mini')).toEqual([{ type: 'content-delta', text: 'ok' }]);
    expect(parser.push('max[>[<tool_')).toEqual([]);
    expect(parser.push('call>')).toEqual([]);
    const other = new M3OutputParser();
    other.push('ok]<]mini');
    expect(other.push('um')).toEqual([{ type: 'content-delta', text: ']<]minium' }]);
  });

  test('gives the name first, then string values while they grow (vllm#39649)', () => {
    const parser = new M3OutputParser({ tools: weatherTools, createId });
    const begin = parser.push(`${NS}<tool_call>${NS}<invoke name="get_weather">`);
    expect(begin).toEqual([
      { type: 'tool-call-start', index: 0, id: 'call_x', name: 'get_weather' },
      { type: 'tool-call-delta', index: 0, text: '{' },
    ]);
    const texts = [`${NS}<city>O`, 's"', `lo${NS}</ci`, `ty>`, `${NS}<days>`, `1`, `${NS}</days>`]
      .map((chunk) =>
        parser.push(chunk).map((delta) => ('text' in delta ? delta.text : delta.type)),
      )
      .map((delta) => delta.join());
    expect(texts).toEqual(['"city":"O', 's\\"', 'lo', '"', '', '', ',"days":1']);
    expect(parser.push(`${NS}</invoke>`)).toEqual([
      { type: 'tool-call-delta', index: 0, text: '}' },
      { type: 'tool-call-end', index: 0, isComplete: true },
    ]);
  });

  test('a whole parse is the stream fed at once', () => {
    const text = `<mm:think>a</mm:think>b${NS}<invoke name="ping">${NS}</invoke>`;
    expect(parseOutput(text, { createId })).toEqual(stream([text], { tools: [] }).result);
  });
});
