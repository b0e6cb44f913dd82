import { expect, test } from 'vitest';
import { isCudaRequired } from './required-backend.js';

test('CUDA is required by 1 and by nothing else', () => {
  const isRequired = (value?: string) => isCudaRequired({ CUDA_RUNTIME_REQUIRE_CUDA: value });
  expect([isRequired('1'), isRequired('0'), isRequired(''), isRequired()]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a mistyped value is refused by name', () => {
  expect(() => isCudaRequired({ CUDA_RUNTIME_REQUIRE_CUDA: 'yes' })).toThrow(
    'CUDA_RUNTIME_REQUIRE_CUDA is `yes`, expected 0 or 1',
  );
});
