import { describe, expect, test } from 'vitest';
import { ReasoningParser, ToolCallParser } from '../src/index.js';

const NS = ']<]minimax[>[';

describe('ToolCallParser alone', () => {
  const names = (raw: string): string[] => {
    const parser = new ToolCallParser();
    const deltas = [...parser.push(raw), ...parser.finish()];
    return deltas.flatMap((delta) => (delta.type === 'tool-call-start' ? [delta.name] : []));
  };

  test('allows white space between marker and tag, up to 64 characters', () => {
    const raw = (space: string): string => `${NS}${space}<invoke name="f">${NS}\n</invoke>`;
    expect(names(raw(' \n'))).toEqual(['f']);
    expect(names(raw(' '.repeat(64)))).toEqual(['f']);
    expect(names(raw(' '.repeat(65)))).toEqual([]);
  });

  test('reads names in either quotes, and none at all', () => {
    expect(names(`${NS}<invoke name='f'>`)).toEqual(['f']);
    expect(names(`${NS}<invoke name = "a.b-c">`)).toEqual(['a.b-c']);
    expect(names(`${NS}<invoke name="">`)).toEqual([]);
    expect(names(`${NS}<invoke>`)).toEqual([]);
  });

  test('gives each call an id of its own', () => {
    const parser = new ToolCallParser();
    const raw = `${NS}<invoke name="f">${NS}</invoke>`.repeat(100);
    const ids = parser.push(raw).flatMap((delta) => ('id' in delta ? [delta.id] : []));
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test('a value may have the name of a tag of the format', () => {
    const parser = new ToolCallParser();
    const inner = `${NS}<invoke>a${NS}</invoke>${NS}<tool_call>b${NS}</tool_call>`;
    const raw = `${NS}<tool_call>${NS}<invoke name="f">${inner}${NS}</invoke>${NS}</tool_call>`;
    const texts = parser.push(raw).map((delta) => ('text' in delta ? delta.text : ''));
    expect(texts.join('')).toBe('{"invoke":"a","tool_call":"b"}');
  });
});

describe('ReasoningParser alone', () => {
  test('restores white space before content, drops it before a marker', () => {
    const run = (text: string) => {
      const parser = new ReasoningParser('outside');
      return [...parser.push(text), ...parser.finish()];
    };
    expect(run(' \n hi')).toEqual([{ kind: 'content', text: ' \n hi' }]);
    expect(run(' \n <mm:think>hi')).toEqual([{ kind: 'reasoning', text: 'hi' }]);
    expect(run(' ')).toEqual([{ kind: 'content', text: ' ' }]);
    expect(run('<mm:thin')).toEqual([{ kind: 'content', text: '<mm:thin' }]);
    expect(run('<mm:thinker>')).toEqual([{ kind: 'content', text: '<mm:thinker>' }]);
  });

  test('drops every newline behind the closer, however they arrive', () => {
    const parser = new ReasoningParser('inside');
    const pieces = ['a</mm:', 'think>\n', '\r\n', '\nb\n'].flatMap((text) => parser.push(text));
    expect(pieces).toEqual([
      { kind: 'reasoning', text: 'a' },
      { kind: 'content', text: 'b\n' },
    ]);
  });
});
