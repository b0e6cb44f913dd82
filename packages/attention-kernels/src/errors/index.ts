export { ArgumentRangeError } from './argument-range-error.js';
export {
  AttentionKernelsError,
  type AttentionKernelsErrorCode,
  type AttentionKernelsErrorFacts,
} from './attention-kernels-error.js';
export { DeviceError } from './device-error.js';
export { DTypeError } from './dtype-error.js';
export { NotLoadedError } from './not-loaded-error.js';
export { ShapeError } from './shape-error.js';
