import { expect, test } from 'vitest';
import { AttentionKernelsError, NotLoadedError, ShapeError } from './index.js';

test('errors are recognised by marker, also those of another copy of the package', () => {
  const error = new ShapeError('pagedAttention', 'q', 'must have rank 3.');
  expect(AttentionKernelsError.isInstance(error)).toBe(true);
  expect(AttentionKernelsError.isInstance(new Error('other'))).toBe(false);
  const copy = Object.create(null);
  copy[Symbol.for('@altstream/attention-kernels/error')] = true;
  expect(AttentionKernelsError.isInstance(copy)).toBe(true);
});

test('errors carry code, operation, argument and a message with all of them', () => {
  const error = new ShapeError('pagedAttention', 'q', 'must have rank 3.');
  expect(error).toMatchObject({
    name: 'ShapeError',
    code: 'ATTENTION_SHAPE',
    operation: 'pagedAttention',
    argument: 'q',
    message: 'pagedAttention: q must have rank 3.',
  });
  expect(new NotLoadedError('block_topk').code).toBe('ATTENTION_NOT_LOADED');
});
