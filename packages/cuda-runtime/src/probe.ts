import { BackendUnavailableError } from './errors/backend-unavailable-error.js';
import type { UnavailableReason } from './errors/unavailable-reason.js';
import { environment } from './native/environment.js';
import { runTextTask } from './native/task.js';

/** What runs the work of a runtime. */
export type BackendName = 'cpu' | 'cuda';

/** Whether a backend can be used on this machine, and if not, why. */
export interface BackendReport {
  readonly backend: BackendName;
  readonly usable: boolean;
  /** One of nine causes; absent when usable. */
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

/** Looks at both backends; never rejects. Starting the driver is left to another thread. */
export async function probe(): Promise<readonly BackendReport[]> {
  try {
    const { binding } = environment();
    return parseReports(await runTextTask((token) => binding.probeAsync(token)));
  } catch (error) {
    return unloadable(error);
  }
}

/** The same, blocking: starting the driver can take a tenth of a second. Never throws. */
export function probeSync(): readonly BackendReport[] {
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
  const detail = withoutHint(error);
  const report = { usable: false, reason, detail, addonVersion: '', napi: napiVersion() };
  return [
    { backend: 'cpu', ...report },
    { backend: 'cuda', ...report },
  ];
}

/** Whoever reports the reason adds its hint. */
function withoutHint(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const end = BackendUnavailableError.isInstance(error) && error.hint ? `. ${error.hint}.` : '.';
  return error.message.endsWith(end) ? error.message.slice(0, -end.length) : error.message;
}

function napiVersion(): number {
  return Number(process.versions['napi'] ?? 0);
}
