import { checkText, wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { Runtime } from '../contract.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';

/** A rule of `injectFault` (JSON). */
interface NativeFaultRule {
  /** `clear` removes all rules; `wakeups` drops the next `after` wake-ups of waiting threads. */
  readonly kind: 'call' | 'kernel' | 'delay' | 'wakeups' | 'clear';
  /** The call, kernel or operation concerned; empty: any. */
  readonly name?: string;
  /** How many matches pass before. */
  readonly after?: number;
  readonly code?: string;
  readonly number?: number;
  readonly detail?: string;
  /** `delay` only. */
  readonly ms?: number;
}

const calls = [
  'device.alloc',
  'device.allocHost',
  'stream.launch',
  'stream.copy',
  'stream.fill',
  'stream.write',
  'stream.read',
  'stream.notify',
  'stream.mark',
  'stream.wait',
  'graph.instantiate',
  'exec.launch',
  'exec.update',
  'runtime.loadModule',
] as const;

/**
 * A call that can be made to fail; `stream.mark` is what `record` and `synchronize` make,
 * `exec.update` what a change of an executable makes for each node, and for each that it takes
 * back.
 */
export type FaultyCall = (typeof calls)[number];

/** Which call fails and how. */
export interface CallFault {
  /** Default: any. */
  readonly api?: FaultyCall;
  /** How many matching calls succeed before; default 0. */
  readonly after?: number;
  /**
   * What the call throws; default `CRT_OOM`, number 2. `CRT_DEVICE_LOST` stays for all later calls.
   */
  readonly error?: { readonly code: `CRT_${string}`; readonly number?: number };
}

/** Makes faults on one CPU runtime. */
export interface FaultInjector {
  /** One call fails, and changes nothing. */
  failCall(fault?: CallFault): void;
  /**
   * When a kernel of this name comes to run, the device is lost: nothing runs any more, pending
   * promises reject, every later call throws `DeviceLostError` with this number (default 700).
   */
  failKernel(name: string, number?: number, options?: { readonly after?: number }): void;
  /**
   * Each operation of this name (kernel, or copy, fill, write, read) starts later, real or virtual.
   */
  delay(name: string, milliseconds: number): void;
  /**
   * The next wake-ups of threads that wait for work are left out; they look again by themselves.
   */
  dropWakeups(count: number): void;
  /** Removes what has not happened yet; a lost device stays lost. */
  clear(): void;
}

/** @throws ArgumentError for a runtime of another backend, when a fault is asked for */
export function injectFaults(runtime: Runtime): FaultInjector {
  const add = (rule: NativeFaultRule) => {
    const { binding } = environment();
    guarded(() => binding.injectFault(runtime.use(api), JSON.stringify(rule)));
  };
  return {
    failCall: (fault = {}) => add(callRule(fault)),
    failKernel: (name, number = 700, options = {}) => add(kernelRule(name, number, options)),
    delay: (name, ms) => {
      checkText(api, 'name', name);
      if (!(ms >= 0 && ms <= 1e9)) throw wrongKind(api, 'milliseconds', ms, 'from 0 to 1e9');
      add({ kind: 'delay', name, ms });
    },
    dropWakeups: (count) => add({ kind: 'wakeups', after: checkCount('count', count) }),
    clear: () => add({ kind: 'clear' }),
  };
}

const api = 'injectFaults';
const faultNames: OptionNames<CallFault> = { api: true, after: true, error: true };
const errorNames: OptionNames<NonNullable<CallFault['error']>> = { code: true, number: true };
const kernelNames: OptionNames<{ after?: number }> = { after: true };

function callRule(fault: CallFault): NativeFaultRule {
  checkOptions(api, 'fault', fault, faultNames);
  const { api: name, after = 0, error = { code: 'CRT_OOM', number: 2 } } = fault;
  if (name !== undefined && !calls.includes(name)) {
    throw wrongKind(api, 'fault.api', name, calls.join(', '));
  }
  checkOptions(api, 'fault.error', error, errorNames);
  const { code, number = 0 } = error;
  if (typeof code !== 'string' || !code.startsWith('CRT_')) {
    throw wrongKind(api, 'fault.error.code', code, 'a code CRT_…');
  }
  const detail = `a test made ${name ?? 'a call'} fail`;
  const rule = { after: checkCount('fault.after', after), code, number, detail };
  return { kind: 'call', name: name ?? '', ...rule };
}

function kernelRule(
  name: string,
  number: number,
  options: { readonly after?: number },
): NativeFaultRule {
  checkText(api, 'name', name);
  checkOptions(api, 'options', options, kernelNames);
  const { after = 0 } = options;
  if (!Number.isInteger(number) || number <= 0) {
    throw wrongKind(api, 'number', number, 'a number of a CUDA error');
  }
  const detail = `a test made kernel ${name} fail with error ${number}`;
  return { kind: 'kernel', name, after: checkCount('after', after), number, detail };
}

function checkCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw wrongKind(api, name, value, 'a count');
}
