import { type BackendReport, probe } from '@altstream/cuda-runtime';

const variable = 'CUDA_RUNTIME_REQUIRE_CUDA';

/**
 * The environment of a run in which a missing CUDA is a failure, unless the caller's own says
 * otherwise.
 * @throws Error with the probe's reason if CUDA is required and cannot be used
 */
export async function requiredCuda(): Promise<Readonly<Record<string, string>>> {
  const value = process.env[variable] || '1';
  if (value === '1') checkUsable(await probe());
  return { [variable]: value };
}

/** @throws Error with the reason if CUDA cannot be used */
export function checkUsable(reports: readonly BackendReport[]): void {
  const cuda = reports.find(({ backend }) => backend === 'cuda');
  if (cuda?.usable) return;
  const reason = cuda ? `${cuda.reason}, ${cuda.detail}` : 'this build has no CUDA backend';
  throw new Error(`CUDA is required here: ${reason} (${variable}=0 runs what needs no GPU)`);
}
