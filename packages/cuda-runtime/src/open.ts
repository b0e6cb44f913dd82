import { threadId } from 'node:worker_threads';
import { differences } from './arguments/differences.js';
import type { Runtime } from './contract.js';
import { ArgumentError } from './errors/argument-error.js';
import { BackendUnavailableError } from './errors/backend-unavailable-error.js';
import { remedyOf } from './native/addon-candidates.js';
import type { Handle } from './native/binding.js';
import { environment } from './native/environment.js';
import { guarded } from './native/guarded.js';
import { setLeakWarnings } from './native/record.js';
import { runTask } from './native/task.js';
import { type OpenOptions, type ResolvedOptions, resolveOptions } from './open-options.js';
import { type BackendReport, machineReports, machineReportsSync } from './probe.js';
import { NativeRuntime } from './runtime.js';
import { readSettings } from './settings.js';
import { attachTool } from './trace/host-ranges.js';

interface Shared {
  readonly runtime: Runtime;
  readonly options: ResolvedOptions;
  count: number;
}

interface Choice {
  readonly backend: 'cpu' | 'cuda';
  readonly why: string;
}

const shared = new Map<string, Shared>();
let hasWarned = false;
let isolatedCount = 0;

/**
 * Opens a backend. The same options give the same runtime on the same thread, with its count
 * raised;
 * `dispose` as often as opened.
 * @throws ArgumentError for other options than the open runtime has, BackendUnavailableError
 */
export async function open(options: OpenOptions = {}): Promise<Runtime> {
  const resolved = readOptions(options);
  const choice = chooseBackend(resolved, await machineReports());
  const known = reopen(choice, resolved);
  if (known) return known;
  const { binding } = environment();
  const native = nativeOptions(resolved);
  const handle = await runTask((token) => binding.openRuntimeAsync(choice.backend, native, token));
  return share(choice, resolved, handle);
}

/** The same, blocking. */
export function openSync(options: OpenOptions = {}): Runtime {
  const resolved = readOptions(options);
  const choice = chooseBackend(resolved, machineReportsSync());
  const known = reopen(choice, resolved);
  if (known) return known;
  const { binding } = environment();
  const native = nativeOptions(resolved);
  return share(
    choice,
    resolved,
    guarded(() => binding.openRuntime(choice.backend, native)),
  );
}

function readOptions(options: OpenOptions): ResolvedOptions {
  const settings = readSettings();
  setLeakWarnings(settings.warnLeaks);
  attachTool();
  return resolveOptions(options, settings);
}

/** The runtime that this thread has open, if it may be shared. @throws ArgumentError */
function reopen({ backend }: Choice, options: ResolvedOptions): Runtime | undefined {
  const known = options.isolated ? undefined : shared.get(backend);
  if (!known) return undefined;
  const differing = differences(askable(known.options), askable(options));
  if (differing !== undefined) throw otherOptions(backend, differing);
  known.count += 1;
  return known.runtime;
}

/** What decides whether a runtime may be shared, by the names that `open` takes. */
function askable({ native, queue }: ResolvedOptions): object {
  return { maxPending: queue.maxPending, queuePolicy: queue.policy, ...native };
}

/** The wrapper of a fresh native runtime. */
function share(choice: Choice, options: ResolvedOptions, handle: Handle): Runtime {
  const { backend } = choice;
  if (options.isolated) {
    return new NativeRuntime(handle, { ...choice, options, giveBack: () => true });
  }
  // While this one was opened another call may have been quicker.
  if (shared.has(backend)) {
    environment().binding.closeRuntime(handle);
    const known = reopen(choice, options);
    if (known) return known;
  }
  const giveBack = () => {
    const entry = shared.get(backend);
    if (entry && --entry.count > 0) return false;
    shared.delete(backend);
    return true;
  };
  const runtime = new NativeRuntime(handle, { ...choice, options, giveBack });
  shared.set(backend, { runtime, options, count: 1 });
  return runtime;
}

function nativeOptions(options: ResolvedOptions): string {
  const separate = options.isolated ? { isolated: `${threadId}-${++isolatedCount}` } : {};
  return JSON.stringify({ ...options.native, ...separate });
}

function chooseBackend(options: ResolvedOptions, reports: readonly BackendReport[]): Choice {
  const find = (name: string) => reports.find(({ backend }) => backend === name);
  if (options.backend !== 'auto') {
    const report = find(options.backend);
    if (!report?.usable) throw unavailable(options.backend, report);
    return { backend: options.backend, why: 'asked for' };
  }
  const cuda = find('cuda');
  if (cuda?.usable) return { backend: 'cuda', why: 'usable' };
  const cpu = find('cpu');
  if (!cpu?.usable) throw unavailable('cpu', cpu);
  const why = `CUDA is not usable: ${cuda?.reason ?? 'NO_ADDON'}, ${cuda?.detail ?? ''}`;
  if (!hasWarned) process.emitWarning(`cuda-runtime uses the CPU backend. ${why}`);
  hasWarned = true;
  return { backend: 'cpu', why };
}

function unavailable(
  backend: 'cpu' | 'cuda',
  report: BackendReport | undefined,
): BackendUnavailableError {
  const reason = report?.reason ?? 'NO_ADDON';
  return new BackendUnavailableError({
    api: 'open',
    backend,
    detail: `the ${backend} backend is not usable: ${report?.detail ?? 'the addon does not report it'}`,
    reason,
    hint: remedyOf(reason),
  });
}

function otherOptions(backend: string, differing: string): ArgumentError {
  return new ArgumentError({
    api: 'open',
    detail: `the ${backend} runtime of this thread is open with ${differing}`,
    hint: 'Use the same options, dispose it first, or pass `isolated: true`',
  });
}
