import { describe, expect, it } from 'vitest';
import { ApiError, ServerError } from '../errors/index.js';
import { EngineWorkerError } from '../worker/engine-worker-error.js';
import { toApiError } from './error-response.js';

const engine = (code: string, facts: Record<string, unknown> = {}): EngineWorkerError =>
  new EngineWorkerError({ name: 'Error', code, message: 'm', facts });

describe('the answer to an error', () => {
  it.each([
    ['ENGINE_PROMPT', { problem: 'too-long' }, 400, 'context_length_exceeded'],
    ['ENGINE_PROMPT', { problem: 'token-id' }, 400, 'invalid_value'],
    ['ENGINE_PARAMETER', { parameter: 'topP' }, 400, 'invalid_value'],
    ['ENGINE_CAPACITY', { reason: 'never' }, 400, 'context_length_exceeded'],
    ['ENGINE_CAPACITY', { reason: 'queue' }, 503, 'overloaded'],
    ['ENGINE_CLOSED', {}, 503, 'engine_dead'],
    ['CHAT_TEMPLATE_RAISED', {}, 400, 'invalid_value'],
    ['CHAT_TEMPLATE_MISSING', {}, 404, 'unsupported_endpoint'],
    ['ENGINE_STEP', {}, 500, 'internal_error'],
  ])('of the engine: %s %j', (code, facts, status, slug) => {
    expect(toApiError(engine(code, facts))).toMatchObject({ status, code: slug });
  });

  it('names the field as clients know it', () => {
    const answer = toApiError(engine('ENGINE_PARAMETER', { parameter: 'minTokens' }));
    expect(answer.param).toBe('min_tokens');
  });

  it('tells clients when to come back, unless nothing comes back', () => {
    const overloaded = toApiError(engine('ENGINE_CAPACITY', { reason: 'queue' }));
    expect(overloaded.headers).toEqual({
      'retry-after': expect.stringMatching(/^[123]$/),
      'retry-after-ms': expect.stringMatching(/^[123]000$/),
    });
    expect(toApiError(new ServerError('ENGINE_CLOSED', 'gone'))).toMatchObject({
      status: 503,
      code: 'engine_dead',
      headers: {},
    });
  });

  it('shows nothing of an error that nobody foresaw', () => {
    const answer = toApiError(new Error('secret path'));
    expect([answer.status, answer.message]).toEqual([
      500,
      'the server failed to answer this request',
    ]);
  });

  it('passes answers on', () => {
    const answer = new ApiError({ status: 404, code: 'model_not_found', message: 'm' });
    expect(toApiError(answer)).toBe(answer);
  });
});
