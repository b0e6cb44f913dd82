import { expect, it } from 'vitest';
import type { ServeFlags } from '../config/serve-flags.js';
import { checkBlockSize, checkFlags } from './check-flags.js';

it('--block-size is the model’s own or nothing', () => {
  checkBlockSize({}, { pageTokens: 8 });
  checkBlockSize({ blockSize: 8 }, { pageTokens: 8 });
  const wrong = { exitCode: 2, message: expect.stringMatching(/16: .* have 8 tokens; .* pass 8/) };
  const check = () => checkBlockSize({ blockSize: 16 }, { pageTokens: 8 });
  expect(check).toThrow(expect.objectContaining(wrong));
});

it('--strict-tools needs grammars', () => {
  const flags = { strictTools: true, grammarBackend: 'none' } as ServeFlags;
  const wrong = { exitCode: 2, message: expect.stringMatching(/--strict-tools .* leave one out/) };
  expect(() => checkFlags(flags)).toThrow(expect.objectContaining(wrong));
  expect(() => checkFlags({ ...flags, grammarBackend: 'auto' })).not.toThrow();
});
