export { type CheckpointCode, CheckpointError } from './checkpoint-error.js';
export { type ModelConfigCode, ModelConfigError } from './model-config-error.js';
export { ModelError } from './model-error.js';
export { ModelMemoryError, type ModelMemoryFacts } from './model-memory-error.js';
export { type ModelStateCode, ModelStateError } from './model-state-error.js';
