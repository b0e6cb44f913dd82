import { MoeKernelsError } from './moe-kernels-error.js';

/** An environment variable or a PDL setting that cannot be read. Code `MOE_CONFIGURATION`. */
export class ConfigurationError extends MoeKernelsError {
  /** The variable or option as the caller spells it. */
  readonly setting: string;

  constructor(setting: string, expected: string, received: string) {
    super('MOE_CONFIGURATION', `${setting}: expected ${expected}, got ${received}`);
    this.setting = setting;
  }
}
