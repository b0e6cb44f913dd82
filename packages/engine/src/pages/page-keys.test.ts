import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PageKeys } from './page-keys.js';

const keysOf = (ids: readonly number[], salt?: string): PageKeys =>
  new PageKeys({ pageTokens: 2, salt, tokenAt: (position) => ids[position] ?? -1 });

describe('the name of a page', () => {
  it('is the SHA-256 of the page before, the salt and the ids', () => {
    const sha = (...parts: (Buffer | Uint8Array | string)[]): Buffer => {
      const hash = createHash('sha256');
      for (const part of parts) hash.update(part);
      return hash.digest();
    };
    const [salt, ids] = [sha('+s'), new Uint8Array(Int32Array.of(7, 8).buffer)];
    const first = sha(Buffer.alloc(32), salt, ids);
    const second = sha(first, salt, new Uint8Array(Int32Array.of(7, 9).buffer));
    const keys = keysOf([7, 8, 7, 9], 's');
    expect(keys.at(1)).toBe(second.toString('latin1'));
    expect(keys.parentOf(1)).toBe(first.toString('latin1'));
    expect(keys.parentOf(0)).toBe('');
  });

  it('depends on every token before, on the place, and on the salt', () => {
    const keys = [
      keysOf([1, 2, 3, 4]).at(1),
      keysOf([9, 2, 3, 4]).at(1),
      keysOf([1, 2, 3, 5]).at(1),
      keysOf([3, 4]).at(0),
      keysOf([1, 2, 3, 4], 'a').at(1),
      keysOf([1, 2, 3, 4], 'b').at(1),
      keysOf([1, 2, 3, 4], '-').at(1),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keysOf([1, 2, 3, 4, 5]).at(1)).toBe(keys[0]);
  });
});
