import { expect, it } from 'vitest';
import { charactersOf } from './job-size.js';

it('counts all texts of a job', () => {
  expect(charactersOf({ kind: 'text', text: 'Hé' })).toBe(2);
  const input = {
    messages: [{ role: 'user', content: [{ type: 'text', text: '12345' }] } as const],
    kwargs: { key: [1, true, null, 'x'] },
  };
  const words = ['messages', '0', 'role', 'user', 'content', '0', 'type', 'text', 'text', '12345'];
  const more = ['kwargs', 'key', '0', '1', '2', '3', 'x', 'the template'];
  const task = { kind: 'chat', input, template: 'the template' } as const;
  expect(charactersOf(task)).toBe([...words, ...more].join('').length);
});
