import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchRuntime } from './bench-runtime.js';

/** PyTorch's medians for the same work in the same run. */
export interface PyTorch {
  /** Version, or why there are no numbers. */
  readonly status: string;
  /** Microseconds by the key that the script gives them. */
  readonly us: Readonly<Record<string, number>>;
}

const script = fileURLToPath(new URL('peers/pytorch_graphs.py', import.meta.url));

/** Runs one section of `peers/pytorch_graphs.py` on the same GPU; CPUs and `--quick` runs have no peer. */
export function pytorch(
  { runtime, isQuick }: BenchRuntime,
  section: string,
  ...sizes: readonly number[]
): PyTorch {
  if (isQuick) return { status: 'not compared: --quick', us: {} };
  if (runtime.backend !== 'cuda')
    return { status: 'not compared: it has no graphs on a CPU', us: {} };
  const args = [script, section, ...sizes.map(String)];
  const { error, status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' });
  if (error) return { status: `missing: python3 does not start (${error.message})`, us: {} };
  if (status !== 0) {
    const last = stderr.trim().split('\n').at(-1) ?? '';
    return { status: `missing: it ended with ${status}: ${last}`, us: {} };
  }
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** The `peers` of a row: PyTorch's median under `key`, if there is one. */
export function peersOf(
  { us }: PyTorch,
  key: string,
): { readonly peers?: Readonly<Record<string, number>> } {
  const peer = us[key];
  return peer === undefined ? {} : { peers: { pytorch: peer } };
}
