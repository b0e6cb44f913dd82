// The command line of the `moe-block` bench.
import { parseArgs } from 'node:util';
import type { Runtime } from '@altstream/cuda-runtime';

/** The widths of the experts, which tell one shape from the other. */
export interface BlockShape {
  /** `tp1`: whole experts; `tp4`: what one of four ranks holds of each. */
  readonly name: 'tp1' | 'tp4';
  readonly hidden: number;
  readonly width: number;
  readonly experts: number;
}

/** What is measured. */
export interface BlockOptions {
  readonly shapes: readonly BlockShape[];
  readonly tokens: readonly number[];
  /** Blocks with weights of their own, at most: replays rotate over them. */
  readonly layers: number;
  /** Inputs of each number of tokens: replays rotate over them too. */
  readonly inputs: number;
  /** Timed replays of each mode. */
  readonly replays: number;
  readonly seed: number;
  readonly peers: boolean;
}

const real = { hidden: 6144, experts: 128 };
const small = { hidden: 256, experts: 16 };

/**
 * What a person gets who asks for nothing: the real block on a GPU, a test of the bench on a CPU.
 */
const defaults = {
  cuda: {
    shapes: [
      { name: 'tp1', ...real, width: 3072 },
      { name: 'tp4', ...real, width: 768 },
    ] as const,
    tokens: '1,4,16,64,256,2048,7680',
    layers: 4,
    inputs: 8,
    replays: 80,
  },
  cpu: {
    shapes: [
      { name: 'tp1', ...small, width: 256 },
      { name: 'tp4', ...small, width: 64 },
    ] as const,
    tokens: '1,5,33',
    layers: 2,
    inputs: 3,
    replays: 10,
  },
};

/** Reads the flags; what is left out depends on the backend. @throws Error naming the flag */
export function blockOptions(
  args: readonly string[],
  { backend }: Pick<Runtime, 'backend'>,
): BlockOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string' },
      threads: { type: 'string' },
      save: { type: 'boolean' },
      out: { type: 'string' },
      shapes: { type: 'string', default: 'tp1,tp4' },
      tokens: { type: 'string' },
      layers: { type: 'string' },
      inputs: { type: 'string' },
      replays: { type: 'string' },
      seed: { type: 'string', default: '0' },
      'no-peers': { type: 'boolean', default: false },
    },
  });
  const byDefault = defaults[backend];
  const shapes = values.shapes.split(',').map((text) => {
    const shape = byDefault.shapes.find(({ name }) => name === text);
    if (shape) return shape;
    throw new Error(`--shapes has ${text}, expected some of tp1, tp4`);
  });
  return {
    shapes,
    tokens: (values.tokens ?? byDefault.tokens).split(',').map((text) => whole('tokens', text, 1)),
    layers: whole('layers', values.layers ?? byDefault.layers, 1),
    inputs: whole('inputs', values.inputs ?? byDefault.inputs, 1),
    replays: whole('replays', values.replays ?? byDefault.replays, 1),
    seed: whole('seed', values.seed, 0),
    peers: !values['no-peers'],
  };
}

function whole(flag: string, value: string | number, least: number): number {
  const number = Number(value);
  if (`${value}`.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${flag} is ${value}, expected a whole number from ${least}`);
}
