import { EngineError } from './engine-error.js';

/** What does not fit, and what would. */
export interface MemoryFacts {
  /** Bytes that the cache would take. */
  readonly neededBytes: number;
  /** Bytes that are left for it. */
  readonly leftBytes: number;
  /** Pages that fit. */
  readonly pages: number;
  /** Longest sequence that fits, in tokens. */
  readonly context: number;
}

/** The KV cache does not fit into device memory; says what would. */
export class MemoryError extends EngineError {
  readonly neededBytes: number;
  readonly leftBytes: number;
  readonly pages: number;
  readonly context: number;

  constructor(message: string, facts: MemoryFacts, options?: ErrorOptions) {
    super('ENGINE_MEMORY', message, options);
    this.neededBytes = facts.neededBytes;
    this.leftBytes = facts.leftBytes;
    this.pages = facts.pages;
    this.context = facts.context;
  }
}
