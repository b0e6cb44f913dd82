import { ArgumentError } from './errors/argument-error.js';
import { BackendUnavailableError } from './errors/backend-unavailable-error.js';
import { CudaRuntimeError } from './errors/cuda-runtime-error.js';
import type { UnavailableReason } from './errors/unavailable-reason.js';
import { environment } from './native/environment.js';
import { guarded } from './native/guarded.js';
import { runTextTask } from './native/task.js';
import { resolveOptions } from './open-options.js';
import { readSettings } from './settings.js';

/** What runs the work of a runtime. */
export type BackendName = 'cpu' | 'cuda';

/** Whether a backend can be used on this machine, and if not, why. */
export interface BackendReport {
  readonly backend: BackendName;
  readonly usable: boolean;
  /** Absent when usable. */
  readonly reason?: UnavailableReason;
  /** What was found, in words. */
  readonly detail: string;
  readonly driverVersion?: number;
  readonly runtimeVersion?: number;
  readonly devices?: number;
  readonly addonVersion: string;
  /** Node-API version of this Node. */
  readonly napi: number;
  readonly libc?: string;
}

/**
 * Looks at both backends, and whether `open` without options would open them; never rejects.
 * Starting the driver is left to another thread.
 */
export async function probe(): Promise<readonly BackendReport[]> {
  return (await machineReports()).map(withSettings);
}

/** The same, blocking: starting the driver can take a tenth of a second. Never throws. */
export function probeSync(): readonly BackendReport[] {
  return machineReportsSync().map(withSettings);
}

/**
 * @internal What the machine has, whatever the variables of the environment say: options of `open`
 * win over them.
 */
export async function machineReports(): Promise<readonly BackendReport[]> {
  try {
    const { binding } = environment();
    return parseReports(await runTextTask((token) => binding.probeAsync(token)));
  } catch (error) {
    return unloadable(error);
  }
}

/** @internal The same, blocking. */
export function machineReportsSync(): readonly BackendReport[] {
  try {
    return parseReports(environment().binding.probe());
  } catch (error) {
    return unloadable(error);
  }
}

function parseReports(text: string): readonly BackendReport[] {
  const reports = JSON.parse(text) as readonly BackendReport[];
  return reports.map((report) => ({ ...report, napi: napiVersion() }));
}

function unloadable(error: unknown): readonly BackendReport[] {
  const reason = BackendUnavailableError.isInstance(error) ? error.reason : 'NO_ADDON';
  const detail = wordsOf(error);
  const report = { usable: false, reason, detail, addonVersion: '', napi: napiVersion() };
  return [
    { backend: 'cpu', ...report },
    { backend: 'cuda', ...report },
  ];
}

function withSettings(report: BackendReport): BackendReport {
  const wrong = report.usable ? wrongSetting(report.backend) : undefined;
  if (wrong === undefined) return report;
  return { ...report, usable: false, reason: 'WRONG_SETTING', detail: wordsOf(wrong) };
}

/** Why a variable of the environment keeps `open` without options from opening `backend`. */
function wrongSetting(backend: 'cpu' | 'cuda'): unknown {
  try {
    const { native } = resolveOptions({ backend }, readSettings());
    // Whether the machine has a level only the addon knows, and it says so when it opens.
    if (backend === 'cpu' && native.cpu.level !== '') tryToOpen(JSON.stringify(native));
    return undefined;
  } catch (error) {
    return error;
  }
}

function tryToOpen(options: string): void {
  const { binding } = environment();
  try {
    binding.closeRuntime(guarded(() => binding.openRuntime('cpu', options)));
  } catch (error) {
    if (!ArgumentError.isInstance(error)) throw error;
    // The addon got the level as if it were an option.
    const detail = error.message.replace('`cpu.level`', 'CUDA_RUNTIME_CPU_LEVEL');
    throw Object.assign(error, { message: detail });
  }
}

/** Whoever reports the reason adds its hint. */
function wordsOf(error: unknown): string {
  if (!CudaRuntimeError.isInstance(error)) {
    return error instanceof Error ? error.message : String(error);
  }
  const { api, hint, message } = error;
  const end = hint ? `. ${hint}.` : '.';
  const start = message.startsWith(`${api}: `) ? api.length + 2 : 0;
  return message.slice(start, message.endsWith(end) ? -end.length : undefined);
}

function napiVersion(): number {
  return Number(process.versions['napi'] ?? 0);
}
