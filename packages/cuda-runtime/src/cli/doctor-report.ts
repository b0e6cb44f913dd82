import { readFileSync } from 'node:fs';
import { BackendUnavailableError } from '../errors/backend-unavailable-error.js';
import { remedyOf } from '../native/addon-candidates.js';
import { glibcVersion } from '../native/glibc-floor.js';
import { type LoadAttempt, loadAttempts } from '../native/load-binding.js';
import { packageRoot, packageVersion } from '../native/package-root.js';
import { open } from '../open.js';
import { type BackendReport, probe } from '../probe.js';
import { type BuildTool, buildTools } from './build-tools.js';

/** What this machine has, as `doctor --json` prints it. */
export interface DoctorReport {
  readonly version: string;
  readonly platform: string;
  readonly node: { readonly version: string; readonly napi: number };
  /** Empty where the C library is not glibc. */
  readonly glibc: string;
  /** Each place of the addon, in load order. */
  readonly addon: readonly LoadAttempt[];
  readonly backends: readonly DiagnosedBackend[];
  /** Version of the NVIDIA kernel module; empty when it is not loaded. */
  readonly driver: string;
  readonly devices: readonly DeviceFinding[];
  readonly tools: readonly BuildTool[];
}

/** A backend, and what to do where it cannot be used. */
export type DiagnosedBackend = BackendReport & { readonly hint?: string };

/** A device of the CUDA backend. */
export interface DeviceFinding {
  readonly index: number;
  readonly isUsable: boolean;
  /** Name, compute capability and memory; or why it could not be opened. */
  readonly detail: string;
}

/** Looks at this machine. A few tenths of a second; longer where a driver starts. */
export async function doctorReport(): Promise<DoctorReport> {
  const backends = (await probe()).map(diagnosed);
  const cuda = backends.find(({ backend }) => backend === 'cuda');
  return {
    version: packageVersion(packageRoot()),
    platform: `${process.platform}-${process.arch}`,
    node: { version: process.versions.node, napi: Number(process.versions['napi'] ?? 0) },
    glibc: glibcVersion() ?? '',
    addon: attempts(),
    backends,
    driver: kernelDriver(),
    devices: cuda?.usable ? await devices(cuda.devices ?? 0) : [],
    tools: buildTools(process.env, false),
  };
}

/** On a Node that is too old nothing is tried; the backends say so. */
function attempts(): readonly LoadAttempt[] {
  try {
    return loadAttempts();
  } catch (error) {
    if (!BackendUnavailableError.isInstance(error)) throw error;
    return [];
  }
}

function diagnosed(report: BackendReport): DiagnosedBackend {
  const { reason } = report;
  if (reason === undefined) return report;
  return { ...report, hint: remedyOf(reason) };
}

function devices(count: number): Promise<readonly DeviceFinding[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => device(index)));
}

async function device(index: number): Promise<DeviceFinding> {
  try {
    const runtime = await open({ backend: 'cuda', device: index, isolated: true });
    try {
      const { name, sm, limits } = runtime.device();
      const memory = `${(limits.memoryBytes / 2 ** 30).toFixed(1)} GiB`;
      return { index, isUsable: true, detail: `${name}, compute capability ${sm}, ${memory}` };
    } finally {
      await runtime.dispose();
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { index, isUsable: false, detail };
  }
}

function kernelDriver(): string {
  try {
    const text = readFileSync('/proc/driver/nvidia/version', 'utf8');
    return /Kernel Module.*?\s(\d+\.[\d.]+)/.exec(text)?.[1] ?? '';
  } catch {
    // No kernel module, or no /proc here: the backend's own reason says what is missing.
    return '';
  }
}
