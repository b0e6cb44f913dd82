import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { HttpSettings } from '../../server-context.js';
import { turnOf } from './turn.js';

const turn = (
  headers: Record<string, string>,
  settings: Partial<HttpSettings> = {},
  priority?: number,
) =>
  turnOf(
    { model: 'm', ...(priority === undefined ? {} : { priority }) },
    { request: { headers, tenant: 'key' }, elapsedTime: 30 } as unknown as FastifyReply,
    { requestTimeoutMs: 0, tenantHeader: 'x-tenant', ...settings } as HttpSettings,
  );

describe('the turn of a request', () => {
  it('is that of its key, and of what the header names', () => {
    expect(turn({})).toEqual({ tenant: 'key' });
    expect(turn({ 'x-tenant': 'blue' })).toEqual({ tenant: 'key blue' });
    expect(turn({ 'x-tenant': 'blue' }, { tenantHeader: undefined })).toEqual({ tenant: 'key' });
  });

  it('has its priority', () => {
    expect(turn({}, {}, -2)).toMatchObject({ priority: -2 });
    expect(turn({}, {}, 0)).not.toHaveProperty('priority');
  });

  it('has the shorter of two times, less what is gone of it', () => {
    const own = { 'x-request-timeout-ms': '500' };
    expect(turn({}, { requestTimeoutMs: 1000 }).timeoutMs).toBe(970);
    expect(turn(own, { requestTimeoutMs: 1000 }).timeoutMs).toBe(470);
    expect(turn(own, { requestTimeoutMs: 100 }).timeoutMs).toBe(70);
    expect(turn({ 'x-request-timeout-ms': '20' }).timeoutMs).toBe(0);
  });

  it.each(['0', '-1', '1.5', 'soon', ''])('refuses %j as a time', (text) => {
    expect(() => turn({ 'x-request-timeout-ms': text })).toThrow(
      expect.objectContaining({ status: 400, param: 'x-request-timeout-ms' }),
    );
  });
});
