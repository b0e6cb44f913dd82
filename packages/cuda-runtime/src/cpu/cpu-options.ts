import { checkFlag, wrongKind } from '../arguments/faults.js';
import { checkNames, type OptionNames } from '../arguments/options.js';
import { ArgumentError } from '../errors/argument-error.js';
import type { NativeOpenOptions } from '../native/binding.js';
import type { Settings } from '../settings.js';
import { type CpuCost, checkCost } from './cpu-cost.js';

/** Instruction-set levels of the CPU backend, lowest first. */
export const cpuLevelNames = ['baseline', 'avx2', 'avx512', 'amx'] as const;

/** One of them. */
export type CpuLevelName = (typeof cpuLevelNames)[number];

/** How the CPU backend orders operations that nothing orders. */
export type CpuSchedule = 'parallel' | 'serial' | 'random' | 'adversarial';

/** Options of the CPU backend. */
export interface CpuOptions {
  /** Default: the highest that the machine has. */
  readonly level?: CpuLevelName;
  /**
   * Threads of a kernel's parallel loops, at most 1024; default all cores. Results never depend on
   * it.
   */
  readonly threads?: number;
  /** Most operations that run at once, at most 1024; default 32. */
  readonly maxThreads?: number;
  /** Default `parallel`. */
  readonly schedule?: CpuSchedule;
  /** Seed of `random`; default 1. */
  readonly seed?: number;
  /** Reports accesses that conflict and that nothing orders; default false. */
  readonly raceCheck?: boolean;
  /**
   * Fills fresh and freed memory with patterns, and reports what was written beside memory; default
   * false.
   */
  readonly poison?: boolean;
  /** When a programmatic dependent starts; default `earliest`. */
  readonly pdl?: 'earliest' | 'latest' | 'random';
  /** A programmatic launch whose kernel never waits is an error; default false. */
  readonly strictPdl?: boolean;
  /** Device memory in bytes; default 0 = no limit. */
  readonly limitBytes?: number;
  /**
   * Default `steady`. On `virtual` an operation takes what `cost` says: `elapsedMs` and traces are
   * exact numbers, which no machine and no schedule changes.
   */
  readonly clock?: 'steady' | 'virtual';
  /** Costs on the virtual clock. */
  readonly cost?: CpuCost;
  /**
   * After this time without an end of any operation, waits reject with a `DeadlockError` that says
   * what waits for what; default 10 000, 0 = never.
   */
  readonly hangMs?: number;
  /** Device memory is accessible to the operations that name it only; default false. */
  readonly protect?: boolean;
  /**
   * `size` (default): freed memory serves allocations of its size. `immediate`: the next allocation
   * that fits, so that a premature free shows at once.
   */
  readonly reuse?: 'size' | 'immediate';
}

const names: OptionNames<CpuOptions> = {
  level: true,
  threads: true,
  maxThreads: true,
  schedule: true,
  seed: true,
  raceCheck: true,
  poison: true,
  pdl: true,
  strictPdl: true,
  limitBytes: true,
  clock: true,
  cost: true,
  hangMs: true,
  protect: true,
  reuse: true,
};

const choices = {
  level: cpuLevelNames,
  schedule: ['parallel', 'serial', 'random', 'adversarial'],
  pdl: ['earliest', 'latest', 'random'],
  clock: ['steady', 'virtual'],
  reuse: ['size', 'immediate'],
} as const;

// Beyond this the system runs out of threads before any machine has that many cores.
const mostThreads = 1024;

/** Fills in defaults. An empty level, or 0 threads, lets the addon choose. @throws ArgumentError */
export function resolveCpuOptions(
  options: CpuOptions,
  settings: Settings,
): NativeOpenOptions['cpu'] {
  const { raceCheck = false, poison = false, strictPdl = false, protect = false } = options;
  const { level = settings.cpuLevel ?? '', threads = settings.cpuThreads ?? 0 } = options;
  const { maxThreads = 32, schedule = 'parallel', seed = 1, pdl = 'earliest' } = options;
  const { limitBytes = 0, clock = 'steady', cost = {}, hangMs = 10_000, reuse = 'size' } = options;
  const resolved = {
    level,
    threads,
    maxThreads,
    schedule,
    seed,
    raceCheck,
    poison,
    pdl,
    strictPdl,
    limitBytes,
    clock,
    cost,
    hangMs,
    protect,
    reuse,
  };
  checkNames('open', 'cpu', options, names);
  if (level !== '') {
    const isOwn = options.level !== undefined;
    checkChoice('level', level, isOwn ? 'cpu.level' : 'CUDA_RUNTIME_CPU_LEVEL');
  }
  checkChoice('schedule', resolved.schedule);
  for (const name of ['pdl', 'clock', 'reuse'] as const) checkChoice(name, resolved[name]);
  checkCost(resolved.cost);
  for (const name of ['threads', 'maxThreads', 'seed', 'limitBytes', 'hangMs'] as const) {
    if (!Number.isSafeInteger(resolved[name]) || resolved[name] < 0) {
      throw wrongKind('open', `cpu.${name}`, resolved[name], 'a non-negative integer below 2^53');
    }
  }
  for (const name of ['raceCheck', 'poison', 'strictPdl', 'protect'] as const) {
    checkFlag('open', `cpu.${name}`, resolved[name]);
  }
  for (const name of ['threads', 'maxThreads'] as const) {
    if (resolved[name] > mostThreads) {
      const isOwn = options[name] !== undefined;
      const source = isOwn ? `cpu.${name}` : 'CUDA_RUNTIME_CPU_THREADS';
      throw refuse(`\`${source}\` is ${resolved[name]}, expected at most ${mostThreads}`);
    }
  }
  return resolved;
}

function checkChoice(name: keyof typeof choices, value: string, source = `cpu.${name}`): void {
  const allowed: readonly string[] = choices[name];
  if (allowed.includes(value)) return;
  throw wrongKind('open', source, value, allowed.join(', '));
}

function refuse(detail: string): ArgumentError {
  return new ArgumentError({ api: 'open', detail });
}
