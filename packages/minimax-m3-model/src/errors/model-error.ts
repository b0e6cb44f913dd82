const marker = Symbol.for('@altstream/minimax-m3-model.error');

/**
 * Base of every error of this package. Recognised by marker, so two copies of the package agree.
 */
export class ModelError extends Error {
  readonly [marker] = true;
  /** Stable code, `MODEL_…`; texts may change. */
  readonly code: string;
  /** The single facts of the message. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    options: { facts?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.facts = options.facts ?? {};
  }

  /** True for errors of this package, whichever copy made them. */
  static isInstance(value: unknown): value is ModelError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
