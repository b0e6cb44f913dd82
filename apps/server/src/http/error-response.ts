import type { FastifyError } from 'fastify';
import { ApiError, ServerError } from '../errors/index.js';
import { EngineWorkerError } from '../worker/engine-worker-error.js';

/** Turns whatever a route threw into an answer with OpenAI's error body. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof EngineWorkerError) return ofEngine(error);
  if (ServerError.isInstance(error) && error.code === 'ENGINE_CLOSED') {
    return unavailable('engine_dead', error.message, error);
  }
  if (error instanceof Error && 'statusCode' in error) return ofFastify(error as FastifyError);
  // Nobody foresaw it, so it is a bug, and the same request would meet it again.
  const headers = { 'x-should-retry': 'false' };
  const message = 'the server failed to answer this request';
  return new ApiError({ status: 500, code: 'internal_error', message, headers, cause: error });
}

/** An engine or template error by its stable code. */
function ofEngine(error: EngineWorkerError): ApiError {
  const { code, message, facts } = error;
  const bad = (slug: string, param?: string): ApiError =>
    new ApiError({ status: 400, code: slug, message, ...(param ? { param } : {}), cause: error });
  switch (code) {
    case 'ENGINE_PROMPT':
      if (facts['problem'] === 'too-long') return bad('context_length_exceeded');
      return bad('invalid_value', 'prompt');
    case 'ENGINE_PARAMETER':
      return bad('invalid_value', fieldOf(String(facts['parameter'])));
    case 'ENGINE_CAPACITY':
      if (facts['reason'] === 'never') return bad('context_length_exceeded', 'max_tokens');
      return unavailable('overloaded', message, error);
    case 'PROFILE_STATE':
      return bad('invalid_state');
    case 'ENGINE_CLOSED':
      return unavailable('engine_dead', message, error);
    case 'CHAT_TEMPLATE_INPUT':
    case 'CHAT_TEMPLATE_RAISED':
    case 'CHAT_TEMPLATE_FAILED':
    case 'CHAT_TEMPLATE_TOO_LARGE':
      return bad('invalid_value', 'messages');
    case 'CHAT_TEMPLATE_MISSING':
    case 'CHAT_TEMPLATE_SYNTAX':
      return new ApiError({ status: 404, code: 'unsupported_endpoint', message, cause: error });
    default:
      return new ApiError({ status: 500, code: 'internal_error', message, cause: error });
  }
}

/**
 * The engine names its own parameters; clients know them as fields: `minTokens` is `min_tokens`.
 */
function fieldOf(parameter: string): string {
  return parameter.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A 503 that tells clients when to come back. */
export function unavailable(code: string, message: string, cause?: unknown): ApiError {
  const seconds = 1 + Math.floor(Math.random() * 3);
  const headers =
    code === 'engine_dead'
      ? {}
      : { 'retry-after': String(seconds), 'retry-after-ms': String(seconds * 1000) };
  return new ApiError({ status: 503, code, message, headers, cause });
}

const fastifyCodes: Readonly<Record<string, { status: number; code: string; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'unsupported_media_type',
    message: 'expected a body of type application/json',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'request_too_large',
    message: 'the body is larger than the server accepts (--max-body-size)',
  },
};

function ofFastify(error: FastifyError): ApiError {
  const known = fastifyCodes[error.code];
  if (known) return new ApiError({ ...known, cause: error });
  const status = error.statusCode ?? 500;
  if (status >= 500) {
    const message = 'the server failed to answer this request';
    return new ApiError({ status, code: 'internal_error', message, cause: error });
  }
  const message = `the request cannot be read: ${error.message}`;
  return new ApiError({ status: 400, code: 'invalid_request', message, cause: error });
}
