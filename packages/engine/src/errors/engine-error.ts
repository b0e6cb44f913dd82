const marker = Symbol.for('@altstream/engine/error');

/** Stable codes of this package's errors. */
export type EngineErrorCode =
  | 'ENGINE_PARAMETER'
  | 'ENGINE_PROMPT'
  | 'ENGINE_CAPACITY'
  | 'ENGINE_CLOSED'
  | 'ENGINE_DEADLINE'
  | 'ENGINE_STEP'
  | 'ENGINE_TRACE'
  | 'ENGINE_MEMORY'
  | 'ENGINE_GRAMMAR'
  | 'ENGINE_LEDGER';

/** Base of every error that this package throws; recognised by marker, so two copies agree. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    Object.defineProperty(this, marker, { value: true });
  }

  /** True for errors of any copy of this package. */
  static isInstance(error: unknown): error is EngineError {
    return typeof error === 'object' && error !== null && marker in error;
  }
}
