import { type CpuLevelName, cpuLevelNames } from '../cpu/cpu-options.js';
import { CudaRuntimeError } from '../errors/cuda-runtime-error.js';
import { openSync } from '../open.js';
import { machineReportsSync } from '../probe.js';

let found: readonly CpuLevelName[] | undefined;

/**
 * Instruction-set levels that this machine has, lowest first; empty if the addon cannot be loaded.
 * `CUDA_RUNTIME_CPU_LEVEL` narrows them to one.
 */
export function cpuLevels(): readonly CpuLevelName[] {
  found ??= machineReportsSync().some(({ backend, usable }) => backend === 'cpu' && usable)
    ? detect()
    : [];
  return found;
}

function detect(): readonly CpuLevelName[] {
  const only = process.env['CUDA_RUNTIME_CPU_LEVEL'];
  return cpuLevelNames.filter((level) => (only === undefined || only === level) && opens(level));
}

function opens(level: CpuLevelName): boolean {
  try {
    openSync({ backend: 'cpu', isolated: true, cpu: { level } }).dispose().catch(rethrow);
    return true;
  } catch (error) {
    if (CudaRuntimeError.isInstance(error)) return false;
    throw error;
  }
}

function rethrow(error: unknown): never {
  throw error;
}
