import type { Kernel } from '../contract.js';
import type { LaunchConfig } from '../launch/launch-config.js';
import type { OperationOptions } from './operation-options.js';

/**
 * The launch of an operation as its options want it: with `programmatic` the kernel may start
 * before its predecessor in the stream has ended, if it is one that waits itself (`pdl=waits` in
 * its header).
 */
export function dependentConfig(
  kernel: Pick<Kernel, 'attributes'>,
  config: LaunchConfig,
  { programmatic = false }: Pick<OperationOptions, 'programmatic'>,
): LaunchConfig {
  if (!programmatic || !kernel.attributes.pdl.waits) return config;
  return { ...config, programmatic: { serialize: true } };
}
