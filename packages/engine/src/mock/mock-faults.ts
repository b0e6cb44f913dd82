import { DeviceLostError, OutOfMemoryError } from '@altstream/cuda-runtime';
import { ParameterError } from '../errors/index.js';

const kinds = ['row', 'step', 'out-of-memory', 'device-lost', 'slow'] as const;

/** Something that goes wrong at a chosen step. */
export interface MockFault {
  /**
   * `row`: the logits of one row are no numbers. `step`: the step fails. `out-of-memory`: it fails
   * for want of memory. `device-lost`: so does every later one. `slow`: it takes `ms` longer.
   */
  readonly kind: (typeof kinds)[number];
  /** Decode steps and prompt steps are counted apart; default `decode`. */
  readonly during?: 'decode' | 'prefill' | undefined;
  /** Which step from now on: 1 is the next one. */
  readonly at: number;
  /** And again after so many steps; default: once. */
  readonly every?: number | undefined;
  /** Row of a `row` fault, counted around when the step has fewer; default 0. */
  readonly row?: number | undefined;
  /** Milliseconds of a `slow` one. */
  readonly ms?: number | undefined;
}

/** What a step meets. */
export interface MetFaults {
  /** Rows whose logits are no numbers, each to be taken modulo the rows of the step. */
  readonly rows: readonly number[];
  readonly extraMs: number;
  /** What the step throws when its time is over. */
  readonly error: Error | undefined;
}

/** The faults that are still to come. */
export class MockFaults {
  #armed: { readonly fault: MockFault; stepsLeft: number }[] = [];
  #lost: Error | undefined;

  /** @throws ParameterError for one that makes no sense */
  add(fault: MockFault): void {
    check(fault);
    this.#armed.push({ fault, stepsLeft: fault.at });
  }

  /** Counts a step. */
  meet(part: 'decode' | 'prefill'): MetFaults {
    if (this.#armed.length === 0 && !this.#lost) return none;
    const due: MockFault[] = [];
    for (const one of this.#armed) {
      if ((one.fault.during ?? 'decode') !== part) continue;
      one.stepsLeft -= 1;
      if (one.stepsLeft > 0) continue;
      due.push(one.fault);
      one.stepsLeft = one.fault.every ?? Number.POSITIVE_INFINITY;
    }
    this.#armed = this.#armed.filter(({ stepsLeft }) => Number.isFinite(stepsLeft));
    if (due.some(({ kind }) => kind === 'device-lost')) {
      this.#lost ??= new DeviceLostError({ api: 'mock', detail: 'a planted fault' });
    }
    return {
      rows: due.flatMap(({ kind, row = 0 }) => (kind === 'row' ? [row] : [])),
      extraMs: due.reduce((sum, { ms = 0 }) => sum + ms, 0),
      error: this.#lost ?? due.map(errorOf).find((error) => error !== undefined),
    };
  }
}

const none: MetFaults = { rows: [], extraMs: 0, error: undefined };

function errorOf({ kind, during = 'decode' }: MockFault): Error | undefined {
  if (kind === 'step') return new Error(`a planted fault of a ${during} step`);
  const detail = 'a planted fault';
  return kind === 'out-of-memory' ? new OutOfMemoryError({ api: 'mock', detail }) : undefined;
}

function check(fault: MockFault): void {
  if (typeof fault !== 'object' || fault === null) {
    throw new ParameterError({ parameter: 'fault', expected: 'an object', received: fault });
  }
  const { kind, during = 'decode', at, every = 1, row = 0, ms } = fault;
  const refuse = (parameter: string, expected: string, received: unknown): never => {
    throw new ParameterError({ parameter: `fault.${parameter}`, expected, received });
  };
  const isFrom = (least: number, value: number): boolean =>
    Number.isInteger(value) && value >= least;
  if (!kinds.includes(kind)) refuse('kind', `one of ${kinds.join(', ')}`, kind);
  if (!['decode', 'prefill'].includes(during)) refuse('during', 'decode or prefill', during);
  if (!isFrom(1, at)) refuse('at', 'an integer from 1', at);
  if (!isFrom(1, every)) refuse('every', 'an integer from 1', every);
  if (!isFrom(0, row)) refuse('row', 'an integer from 0', row);
  const isTime = kind === 'slow' ? Number(ms) > 0 : ms === undefined;
  if (!isTime) refuse('ms', kind === 'slow' ? 'above 0' : 'none, since it is not slow', ms);
}
