import { ServerError } from './server-error.js';

/** What kept a request to a server from having an answer. */
type ClientErrorCode =
  /** Nothing answers at the address. */
  | 'CLIENT_UNREACHABLE'
  /** The server answered with an HTTP status other than success. */
  | 'CLIENT_STATUS'
  /** No complete answer within the time-out. */
  | 'CLIENT_TIMEOUT'
  /** The answer is no chat completion: not JSON, of another shape, or cut off. */
  | 'CLIENT_ANSWER'
  /** The server began to answer and then failed. */
  | 'CLIENT_SERVER_FAILED'
  /** The caller gave the request up. */
  | 'CLIENT_ABORTED';

/** A request of `chat` or `eval` to a server that failed; the message says what to do about it. */
export class ClientError extends ServerError {
  declare readonly code: ClientErrorCode;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;
  /** Milliseconds after which the server wants to be asked again, if it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    facts: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number } = {},
  ) {
    super(code, message, facts);
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
  }
}
