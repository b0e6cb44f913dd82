import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { OpenOptions } from '@altstream/cuda-runtime';

const flagsWithValue = ['--backend', '--threads', '--out'];

/** What the command line asks for. */
export interface RunOptions {
  readonly open: OpenOptions;
  readonly save: boolean;
  /** Folder for the rows, beside or instead of the one in the package. */
  readonly out: string | undefined;
}

/**
 * Reads `--backend auto|cpu|cuda`, `--threads N` of the CPU backend, `--save` and `--out FOLDER`.
 * @throws Error naming the flag
 */
export function runOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'auto' },
      threads: { type: 'string' },
      save: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const backend = backendOf(values.backend);
  const { save, out } = values;
  if (values.threads === undefined) return { open: { backend }, save, out };
  const threads = Number(values.threads);
  if (!Number.isInteger(threads) || threads < 1) {
    throw new Error(`--threads is ${values.threads}, expected a positive integer`);
  }
  return { open: { backend, cpu: { threads } }, save, out };
}

function backendOf(text: string): 'auto' | 'cpu' | 'cuda' {
  if (text === 'auto' || text === 'cpu' || text === 'cuda') return text;
  throw new Error(`--backend is ${text}, expected auto, cpu or cuda`);
}

/** Splits the arguments of `pnpm bench` into filters and the flags that each bench gets. */
export function splitArguments(args: readonly string[]): {
  readonly filters: readonly string[];
  readonly flags: readonly string[];
} {
  const isFlag = args.map(
    (argument, at) => argument.startsWith('-') || flagsWithValue.includes(args[at - 1] ?? ''),
  );
  return {
    filters: args.filter((_, at) => !isFlag[at]),
    // Each bench runs in the folder of its package.
    flags: args
      .map((argument, at) => (args[at - 1] === '--out' ? resolve(argument) : argument))
      .filter((argument, at) => isFlag[at] && argument !== '--'),
  };
}
