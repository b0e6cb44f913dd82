import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchRuntime } from './bench-runtime.js';

/** A peer's medians for the same work on the same GPU in the same run. */
export interface PeerTimes {
  /** Version, or why there are no numbers. */
  readonly status: string;
  /** Microseconds by the key that the peer gives them. */
  readonly us: Readonly<Record<string, number>>;
}

/** Peers by name. */
export type Peers = Readonly<Record<string, PeerTimes>>;

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** One section of `peers/pytorch_graphs.py`: PyTorch's streams, graphs and allocator. */
export function pytorch(
  setup: BenchRuntime,
  section: string,
  ...sizes: readonly number[]
): PeerTimes {
  const args = [join(folder, 'pytorch_graphs.py'), section, ...sizes.map(String)];
  return whyNone(setup) ?? times('python3', args);
}

/** One section of `peers/driver.cu`: the same calls from C++ without us, compiled here by nvcc. */
export function driver(
  setup: BenchRuntime,
  section: string,
  ...sizes: readonly number[]
): PeerTimes {
  const none = whyNone(setup);
  if (none) return none;
  const built = mkdtempSync(join(tmpdir(), 'altstream-driver-'));
  try {
    const program = join(built, 'driver');
    const source = join(folder, 'driver.cu');
    const compiled = run('nvcc', ['-O2', '-arch=native', '-o', program, source]);
    if (compiled.why !== undefined) return { status: `missing: ${compiled.why}`, us: {} };
    return times(program, [section, ...sizes.map(String)]);
  } finally {
    rmSync(built, { recursive: true });
  }
}

/** The `peers` of a row: what each peer has under `key`. */
export function peersOf(
  peers: Peers,
  key: string,
): { readonly peers?: Readonly<Record<string, number>> } {
  const found = Object.entries(peers).flatMap(([name, { us }]) => {
    const time = us[key];
    return time === undefined ? [] : [[name, time] as const];
  });
  return found.length === 0 ? {} : { peers: Object.fromEntries(found) };
}

function whyNone({ runtime, isQuick }: BenchRuntime): PeerTimes | undefined {
  if (isQuick) return { status: 'not compared: --quick', us: {} };
  if (runtime.backend !== 'cuda') return { status: 'not compared: it needs a GPU', us: {} };
  return undefined;
}

// The last line of what it prints.
function times(command: string, args: readonly string[]): PeerTimes {
  const { why, stdout } = run(command, args);
  if (why !== undefined) return { status: `missing: ${why}`, us: {} };
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

function run(command: string, args: readonly string[]) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) return { why: `${command} does not start (${error.message})`, stdout: '' };
  const last = stderr.trim().split('\n').at(-1) ?? '';
  if (status !== 0) return { why: `${command} ended with ${status}: ${last}`, stdout };
  return { why: undefined, stdout };
}
