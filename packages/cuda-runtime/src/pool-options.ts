import { wrongKind } from './arguments/faults.js';
import { checkOptions, type OptionNames } from './arguments/options.js';
import { ArgumentError } from './errors/argument-error.js';
import type { NativeOpenOptions } from './native/binding.js';

/**
 * The memory pool of a device. On CUDA it belongs to the process: opening the device again with
 * other options is an `ArgumentError`, and without `pool` it stays as it is
 * (`describe().details.pool`).
 */
export interface PoolOptions {
  /**
   * Bytes of freed memory that are kept for the next allocation. Default on CUDA `max`, as giving
   * memory back stalls the device; on the CPU 512 MiB in blocks of at most 64 MiB.
   */
  readonly releaseThreshold?: number | 'max';
  /**
   * Memory taken when the device is opened, so that first allocations need not ask the system;
   * default 0. On the CPU it serves an allocation of that size.
   */
  readonly initialBytes?: number;
}

const names: OptionNames<PoolOptions> = { releaseThreshold: true, initialBytes: true };

/** Fills in defaults. @throws ArgumentError naming the option */
export function resolvePool(pool: PoolOptions): NativeOpenOptions['pool'] {
  checkOptions('open', 'pool', pool, names);
  const { releaseThreshold, initialBytes = 0 } = pool;
  const threshold = releaseThreshold === undefined ? 'max' : releaseThreshold;
  if (threshold !== 'max' && !isSize(threshold)) {
    const expected = 'a non-negative integer or max';
    throw wrongKind('open', 'pool.releaseThreshold', threshold, expected);
  }
  if (!isSize(initialBytes)) {
    throw wrongKind('open', 'pool.initialBytes', initialBytes, 'a non-negative integer below 2^53');
  }
  if (threshold !== 'max' && initialBytes > threshold) {
    throw refuse(
      `\`pool.initialBytes\` is ${initialBytes}, expected at most \`pool.releaseThreshold\` (${threshold}), beyond which memory is given back`,
    );
  }
  return {
    given: releaseThreshold !== undefined || initialBytes !== 0,
    hasThreshold: releaseThreshold !== undefined,
    releaseThreshold: threshold === 'max' ? -1 : threshold,
    initialBytes,
  };
}

function isSize(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes >= 0;
}

function refuse(detail: string): ArgumentError {
  return new ArgumentError({ api: 'open', detail });
}
