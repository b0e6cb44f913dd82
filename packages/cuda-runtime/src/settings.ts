import { ArgumentError } from './errors/argument-error.js';

/** Environment variables of this package; the addon's loader reads `CUDA_RUNTIME_BINARY` itself. */
export interface Settings {
  /** `CUDA_RUNTIME_CPU_LEVEL`: baseline, avx2, avx512 or amx; none = the best the machine has. */
  readonly cpuLevel: string | undefined;
  /** `CUDA_RUNTIME_CPU_THREADS`: threads of a kernel's parallel loops; none = all cores. */
  readonly cpuThreads: number | undefined;
  /** `CUDA_RUNTIME_LAUNCH_BY_GRAPH`: 0 or 1; none = yes. */
  readonly launchByGraph: boolean | undefined;
  /**
   * `CRT_WARN_LEAKS`: 0 or 1; 1 = a warning for each object collected undisposed; places of
   * disposals.
   */
  readonly warnLeaks: boolean;
}

/** Reads the environment; called when a runtime is opened. @throws ArgumentError */
export function readSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  return {
    cpuLevel: environment['CUDA_RUNTIME_CPU_LEVEL'] || undefined,
    cpuThreads: positive('CUDA_RUNTIME_CPU_THREADS', environment['CUDA_RUNTIME_CPU_THREADS']),
    launchByGraph: flag(
      'CUDA_RUNTIME_LAUNCH_BY_GRAPH',
      environment['CUDA_RUNTIME_LAUNCH_BY_GRAPH'],
    ),
    warnLeaks: flag('CRT_WARN_LEAKS', environment['CRT_WARN_LEAKS']) ?? false,
  };
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw wrongSetting(name, text, 'a positive integer');
}

function flag(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined || text === '') return undefined;
  if (text === '0' || text === '1') return text === '1';
  throw wrongSetting(name, text, '0 or 1');
}

function wrongSetting(name: string, text: string, expected: string): ArgumentError {
  return new ArgumentError({
    api: 'open',
    detail: `${name} is \`${text}\`, expected ${expected}`,
    hint: 'Unset or correct it',
  });
}
