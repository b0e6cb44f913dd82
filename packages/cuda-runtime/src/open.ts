import { threadId } from 'node:worker_threads';
import type { Runtime } from './contract.js';
import { ArgumentError } from './errors/argument-error.js';
import { BackendUnavailableError } from './errors/backend-unavailable-error.js';
import { environment } from './native/environment.js';
import { guarded } from './native/guarded.js';
import { setLeakWarnings } from './native/record.js';
import { type OpenOptions, type ResolvedOptions, resolveOptions } from './open-options.js';
import { type BackendReport, probeSync } from './probe.js';
import { NativeRuntime } from './runtime.js';
import { readSettings } from './settings.js';
import { attachTool } from './trace/host-ranges.js';

interface Shared {
  readonly runtime: Runtime;
  readonly key: string;
  count: number;
}

const shared = new Map<string, Shared>();
let hasWarned = false;
let isolatedCount = 0;

/**
 * Opens a backend. The same options give the same runtime on the same thread, with its count raised;
 * `dispose` as often as opened.
 * @throws ArgumentError for other options than the open runtime has, BackendUnavailableError
 */
export async function open(options: OpenOptions = {}): Promise<Runtime> {
  return openSync(options);
}

/** The same, blocking. */
export function openSync(options: OpenOptions = {}): Runtime {
  const settings = readSettings();
  setLeakWarnings(settings.warnLeaks);
  attachTool();
  const resolved = resolveOptions(options, settings);
  const { backend, why } = chooseBackend(resolved);
  if (resolved.isolated) return openNew(backend, why, resolved, () => true);
  return openShared(backend, why, resolved);
}

function openShared(backend: 'cpu' | 'cuda', why: string, options: ResolvedOptions): Runtime {
  const key = JSON.stringify([options.device, options.queue, options.native]);
  const known = shared.get(backend);
  if (known) {
    if (known.key !== key) throw otherOptions(backend, known.key, key);
    known.count += 1;
    return known.runtime;
  }
  const giveBack = () => {
    const entry = shared.get(backend);
    if (entry && --entry.count > 0) return false;
    shared.delete(backend);
    return true;
  };
  const runtime = openNew(backend, why, options, giveBack);
  shared.set(backend, { runtime, key, count: 1 });
  return runtime;
}

function openNew(
  backend: 'cpu' | 'cuda',
  why: string,
  options: ResolvedOptions,
  giveBack: () => boolean,
): Runtime {
  const { binding } = environment();
  const separate = options.isolated ? { isolated: `${threadId}-${++isolatedCount}` } : {};
  const native = JSON.stringify({ ...options.native, ...separate });
  const handle = guarded(() => binding.openRuntime(backend, native));
  return new NativeRuntime(handle, { backend, why, options, giveBack });
}

function chooseBackend(options: ResolvedOptions): { backend: 'cpu' | 'cuda'; why: string } {
  const reports = probeSync();
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
  return new BackendUnavailableError({
    api: 'open',
    backend,
    detail: `the ${backend} backend is not usable: ${report?.detail ?? 'the addon does not report it'}`,
    reason: report?.reason ?? 'NO_ADDON',
  });
}

function otherOptions(backend: string, open: string, asked: string): ArgumentError {
  return new ArgumentError({
    api: 'open',
    detail: `the ${backend} runtime of this thread is open with ${open}, asked for ${asked}`,
    hint: 'Use the same options, dispose it first, or pass `isolated: true`',
  });
}
