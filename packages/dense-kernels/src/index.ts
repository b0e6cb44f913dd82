export {
  ArgumentRangeError,
  DenseKernelsError,
  type DenseKernelsErrorCode,
  type DenseKernelsErrorFacts,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
export { loadDenseKernels } from './module.js';
