import { inspect } from 'node:util';
import { EngineError } from './engine-error.js';

/** A generation parameter or an engine option outside its range. */
export class ParameterError extends EngineError {
  readonly parameter: string;

  constructor(facts: { parameter: string; expected: string; received: unknown }) {
    const { parameter, expected, received } = facts;
    super('ENGINE_PARAMETER', `\`${parameter}\` is ${shown(received)}, expected ${expected}`);
    this.parameter = parameter;
  }
}

/** Objects as they are written, in one line; an empty text so that it is seen. */
function shown(received: unknown): string {
  if (received === '') return '""';
  if (typeof received !== 'object' || received === null) return String(received);
  return inspect(received, { breakLength: Number.POSITIVE_INFINITY, depth: 1, maxArrayLength: 8 });
}
