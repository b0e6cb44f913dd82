import { ModelError } from './model-error.js';

/** What does not fit, and what would. */
export interface ModelMemoryFacts {
  /** Of all weights of the rank, about. */
  readonly neededBytes: number;
  /** What was free before the load. */
  readonly freeBytes: number;
  readonly layers: number;
  /** Leading layers that would fit, with embedding and head. */
  readonly layersThatFit: number;
  /** Fewest ranks of which one would fit; undefined when no number of them is enough. */
  readonly ranksThatFit: number | undefined;
}

/** The weights do not fit into the device's memory; says what would. */
export class ModelMemoryError extends ModelError {
  declare readonly code: 'MODEL_MEMORY';
  declare readonly facts: Readonly<Record<string, unknown>> & ModelMemoryFacts;

  constructor(message: string, options: { facts: ModelMemoryFacts; cause?: unknown }) {
    super('MODEL_MEMORY', message, { ...options, facts: { ...options.facts } });
  }
}
