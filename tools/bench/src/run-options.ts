import { parseArgs } from 'node:util';
import type { OpenOptions } from '@altstream/cuda-runtime';

const flagsWithValue = ['--backend', '--threads'];

/** What the command line asks for. */
export interface RunOptions {
  readonly open: OpenOptions;
  readonly save: boolean;
}

/**
 * Reads `--backend auto|cpu|cuda`, `--threads N` of the CPU backend, and `--save`.
 * @throws Error naming the flag
 */
export function runOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'auto' },
      threads: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const backend = backendOf(values.backend);
  if (values.threads === undefined) return { open: { backend }, save: values.save };
  const threads = Number(values.threads);
  if (!Number.isInteger(threads) || threads < 1) {
    throw new Error(`--threads is ${values.threads}, expected a positive integer`);
  }
  return { open: { backend, cpu: { threads } }, save: values.save };
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
    flags: args.filter((argument, at) => isFlag[at] && argument !== '--'),
  };
}
