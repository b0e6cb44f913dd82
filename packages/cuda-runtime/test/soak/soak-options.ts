import { parseArgs } from 'node:util';

/** What the command line of `pnpm soak` asks for. */
export interface SoakOptions {
  /** Operations to reach, of all threads together. */
  readonly operations: number;
  /** Ends earlier after this long; 0 = only when the operations are reached. */
  readonly seconds: number;
  readonly backend: 'cpu' | 'cuda';
  readonly seed: number;
  /** Workers that run beside the main thread; they end and start anew all the time. */
  readonly workers: number;
  /** Folder of the result. */
  readonly out: string | undefined;
  /** Keeps the result in `bench/results`. */
  readonly isSaved: boolean;
}

/** @throws Error naming the flag */
export function soakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: args.filter((word) => word !== '--'),
    options: {
      operations: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '0' },
      backend: { type: 'string', default: 'cpu' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
      out: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  if (values.backend !== 'cpu' && values.backend !== 'cuda') {
    throw new Error(`--backend is ${values.backend}, expected cpu or cuda`);
  }
  return {
    operations: count('--operations', values.operations, 1),
    seconds: count('--seconds', values.seconds, 0),
    backend: values.backend,
    seed: count('--seed', values.seed, 0),
    workers: count('--workers', values.workers, 0),
    out: values.out ?? process.env['OUT'],
    isSaved: values.save,
  };
}

function count(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`${flag} is ${text}, expected an integer from ${least}`);
}
