import { ModelError } from './model-error.js';

/** What can be wrong with the weights of a checkpoint. */
export type CheckpointCode =
  | 'MODEL_CHECKPOINT_FILE'
  | 'MODEL_CHECKPOINT_HEADER'
  | 'MODEL_CHECKPOINT_INDEX'
  | 'MODEL_CHECKPOINT_SHARD_MISSING'
  | 'MODEL_CHECKPOINT_TENSOR_MISSING'
  | 'MODEL_CHECKPOINT_DTYPE'
  | 'MODEL_CHECKPOINT_SHAPE'
  | 'MODEL_CHECKPOINT_SHARDING'
  | 'MODEL_CHECKPOINT_SEED';

/** A checkpoint folder that is incomplete, damaged, or does not fit its config. */
export class CheckpointError extends ModelError {
  declare readonly code: CheckpointCode;

  constructor(
    code: CheckpointCode,
    message: string,
    options: { facts?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(code, message, options);
  }
}
