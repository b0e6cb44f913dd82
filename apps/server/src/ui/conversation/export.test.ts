import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { toCurl, toMarkdown } from './export.js';
import { emptyAnswer } from './turn.js';

describe('toMarkdown', () => {
  it('fences a result that holds fences itself', () => {
    const text = toMarkdown({
      id: 'a',
      title: 'T',
      turns: [
        { ...emptyAnswer, reasoning: 'a\nb', content: 'Hi' },
        { role: 'tool', callId: 'c', name: 'get', content: '```\nx\n```' },
      ],
    });
    expect(text).toBe(
      '# T\n\n## Assistant\n\n> a\n> b\n\nHi\n\n## Result of get\n\n````\n```\nx\n```\n````\n',
    );
  });
});

describe('toCurl', () => {
  it('is one command to a shell, whatever the question, and holds no key', () => {
    const body = { messages: [{ role: 'user', content: `it's $HOME \`id\` "x"\n\\` }] };
    const line = toCurl('http://127.0.0.1:1/v1', body, true);
    const shown = execFileSync('sh', ['-c', line.replace(/^curl/, `printf '%s\\0'`)]);
    const words = shown.toString().split('\0');
    expect(words).toContain('authorization: Bearer ');
    expect(JSON.parse(words.at(-2) ?? '')).toEqual(body);
  });
});
