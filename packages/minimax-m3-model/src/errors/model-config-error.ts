import { ModelError } from './model-error.js';

/** What can be wrong with a `config.json`. */
export type ModelConfigCode =
  | 'MODEL_CONFIG_FILE'
  | 'MODEL_CONFIG_JSON'
  | 'MODEL_CONFIG_MODEL_TYPE'
  | 'MODEL_CONFIG_MISSING'
  | 'MODEL_CONFIG_TYPE'
  | 'MODEL_CONFIG_RANGE'
  | 'MODEL_CONFIG_CONFLICT'
  | 'MODEL_CONFIG_OVERRIDE'
  | 'MODEL_CONFIG_UNSUPPORTED';

/** A `config.json` that cannot be read, or that describes something else than a MiniMax-M3. */
export class ModelConfigError extends ModelError {
  declare readonly code: ModelConfigCode;

  constructor(
    code: ModelConfigCode,
    message: string,
    options: { facts?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(code, message, options);
  }
}
