const marker = Symbol.for('altstream.moe-kernels.error');

/**
 * Base of every error of this package. Recognised by a marker, not by class identity, so that two
 * copies of the package in one program agree.
 */
export class MoeKernelsError extends Error {
  /** Stable, `MOE_…`. */
  readonly code: string;
  readonly [marker] = true;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }

  /** Whether `value` is an error of this package, from whichever copy of it. */
  static isInstance(value: unknown): value is MoeKernelsError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
