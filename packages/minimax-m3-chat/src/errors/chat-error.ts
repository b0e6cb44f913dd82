const marker = Symbol.for('@altstream/minimax-m3-chat/ChatError');

/** Base of every error of this package; `code` is stable and may be switched on. */
export class ChatError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    Object.defineProperty(this, marker, { value: true });
  }

  /** True for errors of any copy of this package. */
  static isInstance(value: unknown): value is ChatError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
