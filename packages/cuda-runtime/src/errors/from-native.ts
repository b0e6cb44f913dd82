import { getSystemErrorName } from 'node:util';
import type { NativeFault } from '../native/binding.js';
import { publish } from '../trace/diagnostics.js';
import { ArgumentError } from './argument-error.js';
import { BackendMismatchError } from './backend-mismatch-error.js';
import { BackendUnavailableError } from './backend-unavailable-error.js';
import { BusyError } from './busy-error.js';
import { CaptureError } from './capture-error.js';
import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { DeadlockError } from './deadlock-error.js';
import { DeviceLostError } from './device-lost-error.js';
import { DisposedError } from './disposed-error.js';
import { EventStateError } from './event-state-error.js';
import { FileError } from './file-error.js';
import { GraphExecBrokenError } from './graph-exec-broken-error.js';
import { GraphInstantiateError } from './graph-instantiate-error.js';
import { GraphLifetimeError } from './graph-lifetime-error.js';
import { HostCallbackError } from './host-callback-error.js';
import { KernelImageError } from './kernel-image-error.js';
import { LaunchConfigError } from './launch-config-error.js';
import { NotOwnerError } from './not-owner-error.js';
import { OutOfMemoryError } from './out-of-memory-error.js';
import { QueueFullError } from './queue-full-error.js';
import { RaceError } from './race-error.js';
import { isUnavailableReason } from './unavailable-reason.js';
import { WrongThreadError } from './wrong-thread-error.js';

/**
 * The only place where a failure of the addon becomes one of our classes.
 * @param api the public call to name, where the addon cannot know it
 */
export function fromNative(thrown: unknown, api?: string): unknown {
  // Ours already: also those have a code and a call.
  if (!isFault(thrown) || CudaRuntimeError.isInstance(thrown)) return thrown;
  const fault = api === undefined ? thrown : { ...thrown, api };
  return errorOf(fault, thrown instanceof Error ? thrown : undefined);
}

/** The error of a completion's status text; the text is empty when all went well. */
export function fromCompletion(status: string): unknown {
  const fault: unknown = JSON.parse(status, (key, value) =>
    key === 'captureId' ? BigInt(value) : value,
  );
  return isFault(fault) ? errorOf(fault, undefined) : new Error(status);
}

type Constructor = new (facts: CodedFacts) => CudaRuntimeError;

const exact: Readonly<Record<string, Constructor>> = {
  CRT_ARGUMENT: ArgumentError,
  CRT_LAUNCH_CONFIG: LaunchConfigError,
  CRT_DISPOSED: DisposedError,
  CRT_NOT_OWNER: NotOwnerError,
  CRT_BUSY: BusyError,
  CRT_BACKEND_MISMATCH: BackendMismatchError,
  CRT_WRONG_THREAD: WrongThreadError,
  CRT_GRAPH_EXEC_BROKEN: GraphExecBrokenError,
  CRT_GRAPH_INVALID: GraphInstantiateError,
  CRT_GRAPH_SINGLE_EXEC: GraphLifetimeError,
  CRT_GRAPH_NOT_CLONEABLE: GraphLifetimeError,
  CRT_NO_KERNEL_IMAGE: KernelImageError,
  CRT_BAD_KERNEL_IMAGE: KernelImageError,
  CRT_NO_SYMBOL: KernelImageError,
  CRT_NO_CPU_KERNEL: KernelImageError,
  CRT_PARAMS_LAYOUT: KernelImageError,
  CRT_DEVICE_LOST: DeviceLostError,
  CRT_QUEUE_FULL: QueueFullError,
  CRT_IN_CALLBACK: HostCallbackError,
  CRT_DEADLOCK: DeadlockError,
};

function errorOf(fault: NativeFault, thrown: Error | undefined): CudaRuntimeError {
  tell(fault);
  return made(fault, thrown?.cause);
}

function made(fault: NativeFault, cause: unknown): CudaRuntimeError {
  const isNative = isFault(cause) && !CudaRuntimeError.isInstance(cause);
  const earlier = isNative ? made(cause, undefined) : cause; // was told of when it was thrown
  const facts = { ...pick(fault), ...(earlier ? { cause: earlier } : {}) };
  const known = exact[fault.code];
  if (known) return new known(facts);
  if (fault.code.startsWith('CRT_CAPTURE_')) return new CaptureError(facts);
  if (fault.code.startsWith('CRT_EVENT_')) return new EventStateError(facts);
  if (fault.code.startsWith('CRT_FILE_')) return fileErrorOf(fault, facts);
  if (fault.code === 'CRT_OOM') return outOfMemoryOf(fault, facts);
  if (fault.code === 'CRT_RACE') return raceOf(facts);
  if (fault.code === 'CRT_UNAVAILABLE') return unavailableOf(fault, facts);
  return new CudaRuntimeError(facts);
}

// For those who subscribe to diagnostics.
function tell(fault: NativeFault): void {
  const { rule, code, api, stream, captureId, detail, number } = fault;
  if (rule) publish('guard', { rule, code, api, stream, captureId, detail });
  if (code === 'CRT_DEVICE_LOST') publish('deviceLost', { api, number, detail });
}

function pick(fault: NativeFault): CodedFacts & { readonly code: string } {
  return {
    code: fault.code,
    api: fault.api,
    detail: fault.detail,
    hint: fault.hint,
    number: fault.number,
    stream: fault.stream,
    captureId: fault.captureId,
  };
}

function outOfMemoryOf(fault: NativeFault, facts: CodedFacts): OutOfMemoryError {
  const { requestedBytes, freeBytes, reservedBytes, largestLive } = fault;
  return new OutOfMemoryError({ ...facts, requestedBytes, freeBytes, reservedBytes, largestLive });
}

function raceOf(facts: CodedFacts): RaceError {
  const unknown = { first: '', second: '', buffer: '', firstStack: '', secondStack: '' };
  const race = { kind: 'conflict', message: facts.detail, ...unknown };
  return new RaceError({ ...facts, races: [race] });
}

function fileErrorOf(fault: NativeFault, facts: CodedFacts & { code: string }): FileError {
  const { file = '', byte = -1, systemError = 0 } = fault;
  return new FileError({
    ...facts,
    file,
    ...(byte >= 0 && { byte }),
    ...(systemError !== 0 && { errno: getSystemErrorName(-systemError) }),
  });
}

function unavailableOf(fault: NativeFault, facts: CodedFacts): BackendUnavailableError {
  const reason = 'reason' in fault ? fault.reason : undefined;
  return new BackendUnavailableError({
    ...facts,
    ...(facts.hint ? {} : { hint: undefined }),
    reason: isUnavailableReason(reason) ? reason : 'INIT_FAILED',
  });
}

function isFault(value: unknown): value is NativeFault {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    value.code.startsWith('CRT_') &&
    'api' in value &&
    'detail' in value
  );
}
