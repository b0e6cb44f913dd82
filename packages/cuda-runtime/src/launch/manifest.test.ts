import { describe, expect, test } from 'vitest';
import { KernelImageError } from '../errors/kernel-image-error.js';
import { parseManifest } from './manifest.js';

const field = { name: 'y', type: 'buf', offset: 0, access: 'w', dtype: ['f32', 'bf16'] };
const kernel = {
  name: 'scale',
  struct: 'ScaleParams',
  bytes: 16,
  fields: [field, { name: 'n', type: 'i32', offset: 8 }],
  block: [32, 4, 1],
  minSm: '9.0',
  pdl: { waits: true, triggers: false },
};

const parse = (changes: object) =>
  parseManifest(JSON.stringify({ kernels: [{ ...kernel, ...changes }] }), 'm.json');

test('a manifest gives each kernel its attributes and fields', () => {
  const parsed = parse({}).get('scale');
  expect(parsed?.attributes).toEqual({
    name: 'scale',
    maxThreadsPerBlock: 128,
    minSm: '9.0',
    pdl: { waits: true, triggers: false },
  });
  expect(parsed?.params.fields).toEqual([
    { ...field, optional: false },
    { name: 'n', type: 'i32', offset: 8 },
  ]);
});

describe('a manifest that is wrong names file, kernel and field', () => {
  test.each([
    [
      'a field outside the struct',
      { bytes: 8 },
      /scale\.n: offset 8 does not fit a i32 in 8 bytes/,
    ],
    ['a misaligned field', { fields: [{ ...field, offset: 4 }] }, /scale\.y: offset 4/],
    ['an unknown type', { fields: [{ ...field, type: 'f8' }] }, /scale\.y: type is f8/],
    ['no access', { fields: [{ ...field, access: undefined }] }, /access is undefined, expected r/],
    ['no fields', { fields: 3 }, /scale: fields is not a list/],
    ['no name', { name: '' }, /a kernel name/],
    ['a negative size', { bytes: -1 }, /scale: bytes is -1/],
  ])('%s', (_, changes, message) => {
    expect(() => parse(changes)).toThrow(KernelImageError);
    expect(() => parse(changes)).toThrow(message);
    expect(() => parse(changes)).toThrow(expect.objectContaining({ code: 'CRT_PARAMS_LAYOUT' }));
  });

  test('no JSON at all', () => {
    expect(() => parseManifest('{', 'm.json')).toThrow(/m\.json: not JSON/);
    expect(() => parseManifest('[]', 'm.json')).toThrow(/is not an object/);
  });
});
