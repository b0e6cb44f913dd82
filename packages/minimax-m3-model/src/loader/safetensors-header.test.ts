import { describe, expect, it } from 'vitest';
import { CheckpointError } from '../errors/index.js';
import { parseHeader } from './safetensors-header.js';

const place = { dataStart: 100, dataBytes: 24 };
const a = { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] };
const b = { dtype: 'BF16', shape: [4], data_offsets: [16, 24] };

function problemOf(header: unknown): string {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  try {
    parseHeader('model.safetensors', text, place);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    expect(error.code).toBe('MODEL_CHECKPOINT_HEADER');
    expect(error.message).toContain('`model.safetensors`');
    return error.message;
  }
  throw new Error('the header was accepted');
}

describe('parseHeader', () => {
  it('lists tensors in order of their bytes', () => {
    const header = { __metadata__: { format: 'pt' }, b, a };
    const [first, second] = parseHeader('f', `${JSON.stringify(header)}   `, place);
    expect(first).toMatchObject({ name: 'a', offset: 100, bytes: 16, shape: [2, 2] });
    expect(second).toMatchObject({ name: 'b', offset: 116, bytes: 8, dtype: 'BF16' });
  });

  it('accepts empty tensors and scalars', () => {
    const empty = { dtype: 'F32', shape: [0, 7], data_offsets: [16, 16] };
    const scalar = { dtype: 'I64', shape: [], data_offsets: [16, 24] };
    expect(parseHeader('f', JSON.stringify({ a, empty, scalar }), place)).toHaveLength(3);
  });

  it.each([
    ['not JSON', '{"a": ', 'not JSON'],
    ['an array', '[]', 'does not begin with'],
    ['leading blanks', ` ${JSON.stringify({ a, b })}`, 'does not begin with'],
    ['metadata of numbers', { __metadata__: { n: 1 }, a, b }, '__metadata__'],
    ['an entry of null', { a, b: null }, '`b` is no object'],
    ['an unknown dtype', { a, b: { ...b, dtype: 'F4' } }, 'unknown dtype "F4"'],
    ['a dtype from the prototype', { a, b: { ...b, dtype: 'toString' } }, 'unknown dtype'],
    ['a negative size', { a, b: { ...b, shape: [-4] } }, 'whole numbers'],
    ['a fractional size', { a, b: { ...b, shape: [0.5] } }, 'whole numbers'],
    ['one offset', { a, b: { ...b, data_offsets: [16] } }, '[begin, end]'],
    ['offsets the wrong way', { a, b: { ...b, data_offsets: [24, 16] } }, 'data_offsets'],
    ['offsets behind the end', { a, b: { ...b, shape: [8], data_offsets: [16, 32] } }, '24 bytes'],
    ['a shape of other bytes', { a, b: { ...b, shape: [3] } }, 'takes 6 bytes'],
    ['a huge shape', { a, b: { ...b, shape: [2 ** 40, 2 ** 40] } }, 'takes'],
    ['an overlap', { a, b: { ...b, shape: [8], data_offsets: [8, 24] } }, 'overlap'],
    ['a hole', { b, a: { ...a, shape: [2], data_offsets: [0, 8] } }, 'unused'],
    ['bytes at the end', { a }, 'belong to no tensor'],
    ['a name twice', `{"a": ${JSON.stringify(a)}, "a": ${JSON.stringify(b)}}`, '`a` twice'],
    ['a name twice, escaped', `{"a":${JSON.stringify(a)},"\\u0061":${JSON.stringify(b)}}`, 'twice'],
  ])('refuses %s', (_, header, words) => {
    expect(problemOf(header)).toContain(words);
  });
});
