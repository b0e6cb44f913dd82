import { ServerError } from './server-error.js';

/** OpenAI's `type` of an error, by its HTTP status. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 503) return 'service_unavailable_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Nginx's status for a client that left; only logs and metrics see it. */
export const clientClosedRequest = 499;

/** The facts of an {@link ApiError}. */
export interface ApiErrorFacts {
  readonly status: number;
  /** Slug, such as `invalid_value`. */
  readonly code: string;
  readonly message: string;
  /** JSON path of the field at fault. */
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An answer other than success; becomes OpenAI's error body in `http/error-response.ts`. */
export class ApiError extends ServerError {
  readonly status: number;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(facts: ApiErrorFacts) {
    super(facts.code, facts.message, { cause: facts.cause });
    this.status = facts.status;
    this.param = facts.param ?? null;
    this.headers = facts.headers ?? {};
  }

  /** The body that the openai clients understand. */
  get body(): { error: { message: string; type: string; param: string | null; code: string } } {
    const { message, param, code, status } = this;
    return { error: { message, type: typeOf(status), param, code } };
  }
}
