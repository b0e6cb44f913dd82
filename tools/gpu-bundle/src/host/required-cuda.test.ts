import { expect, test } from 'vitest';
import { checkUsable } from './required-cuda.js';

const cpu = { backend: 'cpu', usable: true, detail: '' } as never;

test('a missing GPU is an error with the reason', () => {
  const cuda = {
    backend: 'cuda',
    usable: false,
    reason: 'NO_DRIVER',
    detail: 'no driver',
  } as never;
  expect(() => checkUsable([cpu, cuda])).toThrow('CUDA is required here: NO_DRIVER, no driver');
  expect(() => checkUsable([cpu])).toThrow('this build has no CUDA backend');
  expect(() => checkUsable([cpu, { backend: 'cuda', usable: true } as never])).not.toThrow();
});
