import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { expect, it, vi } from 'vitest';
import { Gate } from '../../src/http/access/gate.js';
import type { HttpSettings } from '../../src/server-context.js';

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

const keys = ['first-key', 'second', 'k'.repeat(500)];

it('every key is compared whole, whatever is sent and whichever fits (S2)', () => {
  const settings = { apiKeys: keys, adminApiKeys: [], isExposed: false };
  const gate = new Gate(settings as unknown as HttpSettings);
  for (const text of ['', 'f', 'first-kez', 'x'.repeat(10_000), ...keys]) {
    vi.mocked(timingSafeEqual).mockClear();
    const headers = { authorization: `Bearer ${text}` };
    const request = { headers, routeOptions: { config: {} } } as unknown as FastifyRequest;
    const isKnown = keys.includes(text);
    if (isKnown) gate.check(request);
    else expect(() => gate.check(request)).toThrow(expect.objectContaining({ status: 401 }));
    const compared = vi.mocked(timingSafeEqual).mock.calls;
    expect(compared).toHaveLength(keys.length);
    expect(compared.flat().map((bytes) => bytes.byteLength)).toEqual(new Array(6).fill(32));
  }
});
