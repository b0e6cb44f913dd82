import { expect, test } from 'vitest';
import { referencePhilox, referenceUnit } from './reference/philox.js';

// Known-answer vectors of Random123 (kat_vectors, philox4x32 10). The native generator is held to
// the same three at compile time, in native/include/dense_kernels/philox.h.
const vectors = [
  {
    counter: '00000000 00000000 00000000 00000000',
    key: 0n,
    expected: '6627e8d5 e169c58d bc57ac4c 9b00dbd8',
  },
  {
    counter: 'ffffffff ffffffff ffffffff ffffffff',
    key: 0xffff_ffff_ffff_ffffn,
    expected: '408f276d 41c83b0e a20bc7c6 6d5451fd',
  },
  {
    counter: '243f6a88 85a308d3 13198a2e 03707344',
    key: 0x299f_31d0_a409_3822n,
    expected: 'd16cfe09 94fdcceb 5001e420 24126ea1',
  },
];

const words = (text: string) => text.split(' ').map((word) => Number.parseInt(word, 16));

test.each(vectors)('the reference generator gives $expected', ({ counter, key, expected }) => {
  expect(referencePhilox(words(counter), key)).toEqual(words(expected));
});

test('a negative seed is its two’s complement', () => {
  expect(referenceUnit(-1n, 3)).toBe(referenceUnit(0xffff_ffff_ffff_ffffn, 3));
});
