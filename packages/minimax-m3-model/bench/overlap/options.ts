// The command line of `pnpm bench:overlap`.
import { parseArgs } from 'node:util';
import type { Runtime } from '@altstream/cuda-runtime';
import { type ConfigOverrides, parseOverrides } from '../../src/index.js';

/** How the shared expert runs beside the routed ones. */
export const modes = ['off', 'on', 'fused', 'auto', 'without'] as const;

/**
 * `off`: one after the other; `on`: on two streams; `fused`: one more slot; `auto`: measured;
 * `without`: the shared expert left out, which no way of running it can beat. Its results are
 * another model's.
 */
export type Mode = (typeof modes)[number];

/** What is measured. */
export interface OverlapOptions {
  readonly model: string;
  readonly overrides: ConfigOverrides;
  readonly rank: { readonly rank: number; readonly size: number };
  readonly seed: number;
  /** Tokens in the cache of each sequence. */
  readonly context: number;
  readonly batches: readonly number[];
  readonly modes: readonly Mode[];
  /** Timed decode steps of each mode and batch. */
  readonly steps: number;
  /** Tokens of the prompt; 0 = no prefill. */
  readonly prefill: number;
  readonly prefillSteps: number;
}

/**
 * What a person gets who asks for nothing: the real rank on a GPU, a test of the bench on a CPU.
 */
const defaults = {
  cuda: {
    layers: 60,
    overrides: [] as string[],
    rank: '0/4',
    context: 8192,
    batches: '1,2,4,8,16,32,64',
    steps: 200,
    prefill: 7680,
    prefillSteps: 10,
  },
  cpu: {
    layers: 6,
    overrides: [
      'hidden_size=256',
      'num_attention_heads=16',
      'intermediate_size=256',
      'shared_intermediate_size=256',
      'dense_intermediate_size=512',
      'vocab_size=2048',
      'num_local_experts=16',
      'max_position_embeddings=16384',
    ],
    rank: '0/1',
    context: 2304,
    batches: '1,4',
    steps: 20,
    prefill: 256,
    prefillSteps: 3,
  },
};

/** Flags of every bench, which `runOptions` of the harness reads. */
const shared = {
  backend: { type: 'string' },
  threads: { type: 'string' },
  save: { type: 'boolean' },
  out: { type: 'string' },
} as const;

/** Reads the flags; what is left out depends on the backend. @throws Error naming the flag */
export function overlapOptions(
  args: readonly string[],
  { backend }: Pick<Runtime, 'backend'>,
): OverlapOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...shared,
      model: { type: 'string', default: 'MiniMax-M3' },
      layers: { type: 'string' },
      override: { type: 'string', multiple: true },
      rank: { type: 'string' },
      seed: { type: 'string' },
      context: { type: 'string' },
      batches: { type: 'string' },
      modes: { type: 'string', default: modes.join(',') },
      steps: { type: 'string' },
      prefill: { type: 'string' },
      'prefill-steps': { type: 'string' },
    },
  });
  const byDefault = defaults[backend];
  const layers = whole('layers', values.layers ?? byDefault.layers, 1);
  const given = parseOverrides(values.override ?? byDefault.overrides);
  const batches = (values.batches ?? byDefault.batches).split(',');
  return {
    model: values.model,
    overrides: { num_hidden_layers: layers, ...given },
    rank: rankOf(values.rank ?? byDefault.rank),
    seed: whole('seed', values.seed ?? 0, 0),
    context: whole('context', values.context ?? byDefault.context, 1),
    batches: batches.map((text) => whole('batches', text, 1)),
    modes: values.modes.split(',').map(modeOf),
    steps: whole('steps', values.steps ?? byDefault.steps, 1),
    prefill: whole('prefill', values.prefill ?? byDefault.prefill, 0),
    prefillSteps: whole('prefill-steps', values['prefill-steps'] ?? byDefault.prefillSteps, 1),
  };
}

/** The flags of every bench alone, for the harness. */
export function harnessArguments(args: readonly string[]): string[] {
  const { values } = parseArgs({ args: [...args], options: shared, strict: false });
  return Object.keys(shared).flatMap((name) => {
    const value = values[name as keyof typeof shared];
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });
}

function whole(flag: string, value: string | number, least: number): number {
  const number = Number(value);
  if (`${value}`.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${flag} is ${value}, expected a whole number from ${least}`);
}

function modeOf(text: string): Mode {
  const mode = modes.find((one) => one === text);
  if (mode) return mode;
  throw new Error(`--modes has ${text}, expected some of ${modes.join(', ')}`);
}

function rankOf(text: string): OverlapOptions['rank'] {
  const [, rank, size] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const parsed = { rank: Number(rank), size: Number(size) };
  if (parsed.rank < parsed.size) return parsed;
  throw new Error(`--rank is ${text}, expected RANK/SIZE, such as 0/4`);
}
