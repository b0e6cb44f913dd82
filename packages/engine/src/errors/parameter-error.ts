import { EngineError } from './engine-error.js';

/** A generation parameter or an engine option outside its range. */
export class ParameterError extends EngineError {
  readonly parameter: string;

  constructor(facts: { parameter: string; expected: string; received: unknown }) {
    const { parameter, expected, received } = facts;
    super('ENGINE_PARAMETER', `\`${parameter}\` is ${String(received)}, expected ${expected}`);
    this.parameter = parameter;
  }
}
