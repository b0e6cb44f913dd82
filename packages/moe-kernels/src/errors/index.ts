export { ArgumentRangeError } from './argument-range-error.js';
export { ConfigurationError } from './configuration-error.js';
export { DeviceError } from './device-error.js';
export { DTypeError } from './dtype-error.js';
export { MoeKernelsError } from './moe-kernels-error.js';
export { NotLoadedError } from './not-loaded-error.js';
export { ShapeError } from './shape-error.js';
