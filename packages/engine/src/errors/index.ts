export { CapacityError } from './capacity-error.js';
export { ClosedError } from './closed-error.js';
export { EngineError, type EngineErrorCode } from './engine-error.js';
export { LedgerError } from './ledger-error.js';
export { MemoryError, type MemoryFacts } from './memory-error.js';
export { ParameterError } from './parameter-error.js';
export { PromptError } from './prompt-error.js';
export { StepError } from './step-error.js';
