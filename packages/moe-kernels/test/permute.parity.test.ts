import { describeEachBackend, download, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels, permute } from '../src/index.js';
import { permuteCases } from './cases/permute.js';
import { makeIds } from './cases/routing.js';
import { poisoned } from './makers/poisoned-allocator.js';
import { referencePermute } from './reference/permute.js';

describeEachBackend('permute', permuteCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts, offset = 0, local = experts - offset, tileRows = 16 } = testCase;
  const { hasTiles = true } = testCase;
  const ids = makeIds(testCase);
  const range = { numExperts: experts, localExpertOffset: offset, localNumExperts: local };
  const options = { stream, allocator: poisoned(stream), ...(hasTiles && { tileRows }) };
  const result = permute(upload(stream, ids, [tokens, k], 'i32'), range, options);

  const expected = referencePermute(ids, { offset, local, tileRows });
  const read = async (name: 'offsets' | 'rows' | 'slots' | 'tiles' | 'tileCount') => {
    const tensor = result[name];
    return tensor ? [...(await download(stream, tensor))].map(Number) : [];
  };
  expect(await read('offsets')).toEqual(expected.offsets);
  expect(await read('rows')).toEqual(expected.rows);
  expect(await read('slots')).toEqual(expected.slots);
  if (!hasTiles) return;
  expect(await read('tileCount')).toEqual([expected.tiles.length]);
  const capacity = result.tiles?.shape[0] ?? 0;
  const unused = Array.from({ length: capacity - expected.tiles.length }, () => [-1, 0, 0]);
  expect(await read('tiles')).toEqual([...expected.tiles, ...unused].flat());
});
