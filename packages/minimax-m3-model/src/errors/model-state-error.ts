import { ModelError } from './model-error.js';

/** What a loaded model can be asked that it cannot do. */
export type ModelStateCode = 'MODEL_DISPOSED' | 'MODEL_FOREIGN_CACHE' | 'MODEL_SHARED_EXPERT';

/** A model that is used in a way its weights or its state do not allow. */
export class ModelStateError extends ModelError {
  declare readonly code: ModelStateCode;

  constructor(code: ModelStateCode, message: string) {
    super(code, message);
  }
}
