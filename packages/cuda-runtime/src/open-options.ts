import { isMainThread } from 'node:worker_threads';
import { checkFlag, wrongKind } from './arguments/faults.js';
import { checkObject, checkOptions, type OptionNames } from './arguments/options.js';
import { type CpuOptions, resolveCpuOptions } from './cpu/cpu-options.js';
import { ArgumentError } from './errors/argument-error.js';
import type { NativeOpenOptions } from './native/binding.js';
import { type PoolOptions, resolvePool } from './pool-options.js';
import type { Settings } from './settings.js';
import type { QueueOptions, QueuePolicy } from './stream/pending-limit.js';

/** Options of `open`. */
export interface OpenOptions {
  /** Default `auto`: CUDA if usable, else the CPU with one process warning. */
  readonly backend?: 'auto' | 'cpu' | 'cuda';
  /** Which of the devices that the backend sees the runtime drives; default 0. */
  readonly device?: number;
  /** Refuses calls that would break a capture before the driver sees them; default true. */
  readonly guards?: boolean;
  /** Waiting for a never-recorded event is an error; default false. */
  readonly strictEvents?: boolean;
  /** A runtime of its own instead of the one that this thread shares; default false. */
  readonly isolated?: boolean;
  /** Most pending operations of a stream; default 768. */
  readonly maxPending?: number;
  /**
   * What a full stream does to a call: `throw` on the main thread, `block` by default in a worker,
   * whose event loop may stand still.
   */
  readonly queuePolicy?: QueuePolicy;
  /**
   * CUDA: a kernel that a stream starts often is launched as a graph of one node, which takes half
   * the time of the call (docs/cuda-backend.md); default `CUDA_RUNTIME_LAUNCH_BY_GRAPH`, else true.
   */
  readonly launchByGraph?: boolean;
  readonly pool?: PoolOptions;
  readonly cpu?: CpuOptions;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly backend: 'auto' | 'cpu' | 'cuda';
  readonly device: number;
  readonly isolated: boolean;
  readonly queue: QueueOptions;
  /** Who decided on `launchByGraph`. */
  readonly whyLaunchByGraph: string;
  readonly native: NativeOpenOptions;
}

const names: OptionNames<OpenOptions> = {
  backend: true,
  device: true,
  guards: true,
  strictEvents: true,
  isolated: true,
  maxPending: true,
  queuePolicy: true,
  launchByGraph: true,
  pool: true,
  cpu: true,
};

/** @throws ArgumentError naming the option */
export function resolveOptions(options: OpenOptions, settings: Settings): ResolvedOptions {
  checkOptions('open', 'options', options, names);
  const { backend = 'auto', device = 0, guards = true, strictEvents = false } = options;
  const { isolated = false, pool = {}, cpu = {} } = options;
  const { launchByGraph = settings.launchByGraph ?? true } = options;
  for (const [name, flag] of Object.entries({ guards, strictEvents, isolated, launchByGraph })) {
    checkFlag('open', name, flag);
  }
  checkObject('open', 'cpu', cpu);
  if (backend !== 'auto' && backend !== 'cpu' && backend !== 'cuda') {
    throw wrongKind('open', 'backend', backend, 'auto, cpu or cuda');
  }
  if (!Number.isInteger(device) || device < 0) {
    throw wrongKind('open', 'device', device, 'a non-negative integer');
  }
  return {
    backend,
    device,
    isolated,
    queue: resolveQueue(options),
    whyLaunchByGraph: whyLaunchByGraph(options, settings),
    native: {
      device,
      guards,
      strictEvents,
      launchByGraph,
      pool: resolvePool(pool),
      cpu: resolveCpuOptions(cpu, settings),
    },
  };
}

function whyLaunchByGraph(options: OpenOptions, settings: Settings): string {
  if (options.launchByGraph !== undefined) return 'the option of `open`';
  return settings.launchByGraph === undefined ? 'the default' : 'CUDA_RUNTIME_LAUNCH_BY_GRAPH';
}

function resolveQueue(options: OpenOptions): QueueOptions {
  const { maxPending = 768, queuePolicy: policy = isMainThread ? 'throw' : 'block' } = options;
  if (!Number.isInteger(maxPending) || maxPending < 1) {
    throw wrongKind('open', 'maxPending', maxPending, 'a positive integer');
  }
  if (policy !== 'throw' && policy !== 'block') {
    throw wrongKind('open', 'queuePolicy', policy, 'throw or block');
  }
  if (policy === 'block' && isMainThread) {
    throw refuse('`queuePolicy` block would stop the event loop of the main thread; use throw');
  }
  return { maxPending, policy };
}

function refuse(detail: string): ArgumentError {
  return new ArgumentError({ api: 'open', detail });
}
