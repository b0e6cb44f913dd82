import { ApiError, clientClosedRequest } from '../../errors/index.js';

/** The client left before its prompt was there. */
export function clientLeft(): ApiError {
  const message = 'the client left before its prompt was prepared';
  return new ApiError({ status: clientClosedRequest, code: 'client_closed_request', message });
}

/** A template is foreign code: what it costs is the doing of the messages that it gets. */
export function notRendered(reason: string): ApiError {
  const message = `the chat template cannot be rendered with these messages: ${reason}; send fewer or shorter ones`;
  return new ApiError({ status: 400, code: 'invalid_value', param: 'messages', message });
}

/** Time depends on what else the machine does, so the same prompt may succeed later. */
export function tookTooLong(reason: string): ApiError {
  const message = `the prompt could not be prepared: ${reason}; try again later, or send a shorter one`;
  return new ApiError({ status: 503, code: 'tokenization_timeout', message });
}

/** Too many prompts wait for a text worker; when to come back is for the one who answers. */
export function tooManyWait(jobs: number): ApiError {
  const message = `${jobs} prompts wait to be prepared, and no more can; try again later`;
  return new ApiError({ status: 503, code: 'overloaded', message });
}

/** The server ends before the prompt's turn came. */
export function shuttingDown(): ApiError {
  const message = 'the server is shutting down';
  return new ApiError({ status: 503, code: 'shutting_down', message });
}

/** Trying the same prompt again would fail the same way. */
export function workerLost(reason: string): ApiError {
  const message = `the prompt could not be prepared: ${reason}`;
  const headers = { 'x-should-retry': 'false' };
  return new ApiError({ status: 500, code: 'internal_error', message, headers });
}
