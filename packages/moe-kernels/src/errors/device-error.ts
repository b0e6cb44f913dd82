import { TensorError, type TensorFacts } from './tensor-error.js';

/** A tensor lives on another device or runtime than the others. Code `MOE_DEVICE`. */
export class DeviceError extends TensorError {
  constructor(facts: TensorFacts) {
    super('MOE_DEVICE', facts);
  }
}
