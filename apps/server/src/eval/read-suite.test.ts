import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitSkills, readSuite } from './read-suite.js';

describe('reading a suite', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'altstream-suite-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const line = (id: string, more: object = {}): string =>
    JSON.stringify({
      id,
      skill: 'greet',
      thinking: 'disabled',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 8,
      check: { type: 'contains', value: 'Hello' },
      ...more,
    });
  const suite = (...lines: string[]): string => {
    const path = join(folder, 'suite.jsonl');
    writeFileSync(path, lines.join('\n'));
    return path;
  };

  it('takes every prompt in order, and leaves blank lines and a byte order mark out', () => {
    const prompts = readSuite(suite(`\uFEFF${line('a')}\r`, '', line('b', { skill: 'x' }), ''));
    expect(prompts.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('limits each skill, not the suite', () => {
    const prompts = readSuite(suite(line('a'), line('b'), line('c', { skill: 'x' })));
    expect(limitSkills(prompts, 1).map(({ id }) => id)).toEqual(['a', 'c']);
  });

  it('names every bad line, its prompt and its field', () => {
    const path = suite(
      line('a'),
      '{"id": ',
      line('b', { thinking: 'maybe' }),
      line('a'),
      line('c', { check: { type: 'regex', value: '(' } }),
      line('d', { check: { type: 'equals', value: ' 4' } }),
      line('e', { check: { type: 'like', value: '4' } }),
      line('f', { max_token: 4 }),
      '[]',
    );
    const error = (() => {
      try {
        return readSuite(path) && '';
      } catch (caught) {
        return (caught as Error).message;
      }
    })();
    expect(error).toContain('8 problems');
    expect(error).toMatch(/line 2: not JSON/);
    expect(error).toMatch(/line 3: prompt "b": thinking: /);
    expect(error).toMatch(/line 4: id "a" is that of line 1/);
    expect(error).toMatch(/line 5: prompt "c": check\.value: not a regular expression/);
    expect(error).toMatch(/line 6: prompt "d": check\.value: answers are trimmed/);
    expect(error).toMatch(/line 7: prompt "e": check\.type: /);
    expect(error).toMatch(/line 8: prompt "f": .*max_token/);
    expect(error).toMatch(/line 9: /);
    expect(error).toMatch(/docs\/eval\.md/);
  });

  it('shows ten problems of many', () => {
    const path = suite(...Array.from({ length: 40 }, () => 'x'));
    expect(() => readSuite(path)).toThrow(/40 problems[\s\S]*line 10: [\s\S]*and 30 more/);
  });

  it('says what is wrong with a file that holds nothing, or is not there', () => {
    expect(() => readSuite(suite('', ' '))).toThrow(/holds no prompt/);
    expect(() => readSuite(join(folder, 'none.jsonl'))).toThrow(/cannot be read.*--suite demo/);
    expect(() => readSuite(folder)).toThrow(/cannot be read/);
  });
});
