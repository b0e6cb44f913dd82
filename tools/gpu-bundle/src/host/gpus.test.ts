import { expect, test } from 'vitest';
import { parseGpus } from './gpus.js';

test('each line of nvidia-smi is a GPU with its driver', () => {
  expect(parseGpus('NVIDIA H200, 580.159.04\nNVIDIA L4, 580.159.04\n')).toEqual([
    { name: 'NVIDIA H200', driver: '580.159.04' },
    { name: 'NVIDIA L4', driver: '580.159.04' },
  ]);
  expect(parseGpus('')).toEqual([]);
});
