import { checkFlag, wrongKind } from '../arguments/faults.js';
import { checkNames, checkOptions, type OptionNames } from '../arguments/options.js';
import { describeValue } from '../errors/describe-value.js';
import { LaunchConfigError } from '../errors/launch-config-error.js';
import type { DeviceLimits } from '../limits.js';
import { commandLayout } from '../native/binding.js';
import type { CommandBlock } from '../native/command-block.js';
import { Event } from '../stream/event.js';
import type { KernelAttributes } from './kernel-attributes.js';
import type { Dim3, LaunchConfig } from './launch-config.js';

const configNames: OptionNames<LaunchConfig> = {
  grid: true,
  block: true,
  sharedBytes: true,
  cluster: true,
  nonPortableCluster: true,
  cooperative: true,
  priority: true,
  programmatic: true,
};
const programmaticNames: OptionNames<NonNullable<LaunchConfig['programmatic']>> = {
  serialize: true,
  event: true,
  eventAtBlockStart: true,
  completionEvent: true,
};
const dimNames: OptionNames<{ x: number; y?: number; z?: number }> = { x: true, y: true, z: true };

const flags = {
  programmatic: 1,
  cooperative: 2,
  cluster: 4,
  priority: 8,
  eventAtBlockStart: 16,
  nonPortableCluster: 32,
} as const;
const portableCluster = 8;
const nonPortableCluster = 16;
// What CUDA answers to the same launch.
const invalidValue = 1;
const invalidClusterSize = 912;

/**
 * Checks a launch configuration against the device and the kernel and writes it into the block.
 * Everything is refused here, because a launch that CUDA refuses destroys the capture it is in.
 * @throws LaunchConfigError naming the limit
 */
export function encodeConfig(
  block: CommandBlock,
  config: LaunchConfig,
  kernel: KernelAttributes,
  limits: DeviceLimits,
  api: string,
): void {
  if (typeof config !== 'object' || config === null) {
    throw wrongKind(api, 'config', config, 'an object with `grid` and `block`');
  }
  // The names that all have are known without looking them up.
  for (const name in config) {
    if (name !== 'grid' && name !== 'block' && name !== 'sharedBytes') {
      checkNames(api, 'config', config, configNames);
      break;
    }
  }
  const { words } = block;
  const { grid, block: threads, sharedBytes: shared = 0 } = config;
  writeDim(words, commandLayout.grid, grid, 'grid', api);
  writeDim(words, commandLayout.block, threads, 'block', api);
  checkGrid(words, limits, api);
  checkBlock(words, kernel, limits, api);
  if (!Number.isInteger(shared) || shared < 0 || shared > limits.sharedBytesPerBlockOptIn) {
    throw refuse(
      api,
      `\`sharedBytes\` is ${describeValue(shared)}, expected 0 … ${limits.sharedBytesPerBlockOptIn} on this device`,
    );
  }
  words[commandLayout.sharedBytes] = shared;
  words[commandLayout.flags] = encodeFlags(words, config, kernel, api);
}

function encodeFlags(
  words: Int32Array,
  config: LaunchConfig,
  kernel: KernelAttributes,
  api: string,
): number {
  let bits = encodeEvents(words, config.programmatic, api);
  if (config.programmatic?.serialize) {
    if (!kernel.pdl.waits) {
      throw refuse(
        api,
        `kernel ${kernel.name} does not wait for its predecessor on the device, so it cannot be launched with \`programmatic.serialize\``,
        invalidValue,
        'Leave `serialize` out, or let the kernel wait (pdl=waits)',
      );
    }
    bits |= flags.programmatic;
  }
  const { cooperative = false } = config;
  checkFlag(api, 'cooperative', cooperative);
  if (cooperative) bits |= flags.cooperative;
  if (config.cluster !== undefined) {
    const isPortable = !isNonPortable(config, api);
    encodeCluster(words, config.cluster, isPortable, api);
    bits |= isPortable ? flags.cluster : flags.cluster | flags.nonPortableCluster;
  }
  if (config.priority !== undefined) {
    words[commandLayout.priority] = whole(config.priority, 'priority', api);
    bits |= flags.priority;
  }
  return bits;
}

function encodeEvents(
  words: Int32Array,
  programmatic: LaunchConfig['programmatic'],
  api: string,
): number {
  words[commandLayout.triggeredEvent] = 0;
  words[commandLayout.startedEvent] = 0;
  if (programmatic === undefined) return 0;
  checkOptions(api, 'programmatic', programmatic, programmaticNames);
  const { event, completionEvent, eventAtBlockStart = false, serialize = false } = programmatic;
  checkFlag(api, 'programmatic.serialize', serialize);
  checkFlag(api, 'programmatic.eventAtBlockStart', eventAtBlockStart);
  if (eventAtBlockStart && event === undefined) {
    throw refuse(
      api,
      '`programmatic.eventAtBlockStart` says when `programmatic.event` is recorded, which is not given',
      invalidValue,
      'Give `programmatic.event`, or leave `eventAtBlockStart` out',
    );
  }
  if (event !== undefined) {
    words[commandLayout.triggeredEvent] = eventHandle('programmatic.event', event, api);
  }
  if (completionEvent !== undefined) {
    words[commandLayout.startedEvent] = eventHandle(
      'programmatic.completionEvent',
      completionEvent,
      api,
    );
  }
  return eventAtBlockStart ? flags.eventAtBlockStart : 0;
}

function eventHandle(argument: string, event: Event, api: string): number {
  if (!(event instanceof Event)) throw wrongKind(api, argument, event, 'an event');
  return event.use(api);
}

function isNonPortable({ nonPortableCluster = false }: LaunchConfig, api: string): boolean {
  checkFlag(api, 'nonPortableCluster', nonPortableCluster);
  return nonPortableCluster;
}

function encodeCluster(words: Int32Array, cluster: Dim3, isPortable: boolean, api: string): void {
  writeDim(words, commandLayout.cluster, cluster, 'cluster', api);
  let blocks = 1;
  for (let axis = 0; axis < 3; axis += 1) {
    const size = at(words, commandLayout.cluster + axis);
    const grid = at(words, commandLayout.grid + axis);
    if (size < 1 || grid % size !== 0) {
      throw refuse(
        api,
        `\`cluster\` ${'xyz'[axis]} is ${size}, expected a divisor of the grid's ${grid}`,
        invalidClusterSize,
      );
    }
    blocks *= size;
  }
  const most = isPortable ? portableCluster : nonPortableCluster;
  if (blocks > most) {
    const more = isPortable ? `; up to ${nonPortableCluster} with \`nonPortableCluster\`` : '';
    throw refuse(
      api,
      `\`cluster\` has ${blocks} blocks, expected at most ${most}${more}`,
      invalidClusterSize,
    );
  }
}

function checkGrid(words: Int32Array, { maxGrid }: DeviceLimits, api: string): void {
  checkAxis(words, commandLayout.grid, maxGrid, 'grid', 0, api);
  checkAxis(words, commandLayout.grid, maxGrid, 'grid', 1, api);
  checkAxis(words, commandLayout.grid, maxGrid, 'grid', 2, api);
}

function checkBlock(
  words: Int32Array,
  kernel: KernelAttributes,
  limits: DeviceLimits,
  api: string,
): void {
  const x = checkAxis(words, commandLayout.block, limits.maxBlock, 'block', 0, api);
  const y = checkAxis(words, commandLayout.block, limits.maxBlock, 'block', 1, api);
  const z = checkAxis(words, commandLayout.block, limits.maxBlock, 'block', 2, api);
  const threads = x * y * z;
  const most = Math.min(kernel.maxThreadsPerBlock, limits.maxThreadsPerBlock);
  if (threads > most) {
    throw refuse(
      api,
      `\`block\` has ${threads} threads, kernel ${kernel.name} allows at most ${most} a block`,
    );
  }
}

function checkAxis(
  words: Int32Array,
  first: number,
  largest: readonly number[],
  argument: string,
  axis: number,
  api: string,
): number {
  const size = at(words, first + axis);
  const most = largest[axis] ?? 1;
  if (size >= 1 && size <= most) return size;
  throw refuse(api, `\`${argument}\` ${'xyz'[axis]} is ${size}, expected 1 … ${most}`);
}

function writeDim(words: Int32Array, at: number, dim: Dim3, argument: string, api: string): void {
  if (isArray(dim)) {
    if (dim.length > 3) {
      throw refuse(api, `\`${argument}\` has ${dim.length} sizes, expected [x, y, z]`);
    }
    // By index: destructuring asks the iterator, on each launch.
    words[at] = whole(dim[0], argument, api, ' x');
    words[at + 1] = orOne(dim[1], argument, api, ' y');
    words[at + 2] = orOne(dim[2], argument, api, ' z');
    return;
  }
  if (typeof dim !== 'object' || dim === null) {
    throw refuse(
      api,
      `\`${argument}\` is ${describeValue(dim)}, expected [x, y, z] or { x, y, z }`,
    );
  }
  for (const name in dim) {
    if (name !== 'x' && name !== 'y' && name !== 'z') checkNames(api, argument, dim, dimNames);
  }
  words[at] = whole(dim.x, argument, api, ' x');
  words[at + 1] = orOne(dim.y, argument, api, ' y');
  words[at + 2] = orOne(dim.z, argument, api, ' z');
}

function whole(size: number, argument: string, api: string, axis = ''): number {
  if (typeof size === 'number' && (size | 0) === size) return size;
  throw refuse(api, `\`${argument}\`${axis} is ${describeValue(size)}, expected a 32-bit integer`);
}

function orOne(size: number | undefined, argument: string, api: string, axis: string): number {
  return size === undefined ? 1 : whole(size, argument, api, axis);
}

function isArray(dim: Dim3): dim is readonly [number, number?, number?] {
  return Array.isArray(dim);
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function refuse(
  api: string,
  detail: string,
  number = invalidValue,
  hint = 'Change grid, block, shared memory or cluster in the plan of the operation',
): LaunchConfigError {
  return new LaunchConfigError({ api, number, detail, hint });
}
