const marker = Symbol.for('@altstream/server/error');

/** Base of every error that the server throws itself; recognised by marker. */
export class ServerError extends Error {
  /** Stable slug, such as `model_not_found` or `SERVER_PORT`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    Object.defineProperty(this, marker, { value: true });
  }

  /** True for errors of any copy of this package. */
  static isInstance(error: unknown): error is ServerError {
    return typeof error === 'object' && error !== null && marker in error;
  }
}
