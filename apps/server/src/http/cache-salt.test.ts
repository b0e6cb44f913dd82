import { describe, expect, it } from 'vitest';
import { type CacheIsolation, cacheSaltOf } from './cache-salt.js';

const salt = (tenant: string, cache_salt?: string, isolation: CacheIsolation = 'api-key') =>
  cacheSaltOf(
    { model: 'm', ...(cache_salt === undefined ? {} : { cache_salt }) },
    tenant,
    isolation,
  );

describe('the salt of a request', () => {
  it('is its own one where keys share', () => {
    expect([salt('a', 's', 'none'), salt('b', 's', 'none')]).toEqual(['s', 's']);
    expect(salt('a', undefined, 'none')).toBeUndefined();
  });

  it('tells keys apart where they do not', () => {
    const salts = [salt('a'), salt('b'), salt('a', 's'), salt('b', 's'), salt('a', ' s')];
    expect(new Set(salts).size).toBe(salts.length);
  });
});
