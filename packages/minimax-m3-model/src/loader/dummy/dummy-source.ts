/**
 * Weights that mean nothing, for measuring a model whose checkpoint is not there: valid numbers of
 * the right size, made on the device. Short random patterns are laid out many times, each tensor
 * from places of its own, so that no two layers and no two experts are alike and the host never
 * holds more than one pattern.
 */

import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelConfig } from '../../config/model-config.js';
import { CheckpointError } from '../../errors/index.js';
import type { StoredTensor, TensorSource } from '../tensor-source.js';
import { type DummyTensor, listDummyTensors } from './dummy-tensors.js';
import { RandomFill } from './random-fill.js';

const mostPatternBytes = 16 * 2 ** 20;
const leastPatternBytes = 64 * 2 ** 10;

/** What is known about weights that were made. */
export interface DummyReport {
  readonly seed: number;
  /** Bytes of each pattern that was repeated. */
  readonly patternBytes: number;
  readonly patterns: number;
}

/** A source without bytes: it fills device memory itself. */
export class DummySource implements TensorSource {
  readonly tensors: ReadonlyMap<string, DummyTensor>;
  readonly seed: number;
  readonly #random: RandomFill;

  /** @param seed a whole number; the same one gives the same weights */
  constructor(config: ModelConfig, seed = 0) {
    if (!Number.isSafeInteger(seed)) {
      throw new CheckpointError(
        'MODEL_CHECKPOINT_SEED',
        `dummy weights: \`seed\` is ${seed}, expected a whole number`,
        { facts: { expected: 'a whole number', received: seed } },
      );
    }
    this.seed = seed;
    this.tensors = new Map(listDummyTensors(config).map((tensor) => [tensor.name, tensor]));
    const largest = Math.max(...[...this.tensors.values()].map(({ bytes }) => bytes));
    const patternBytes = Math.min(mostPatternBytes, Math.max(leastPatternBytes, largest));
    this.#random = new RandomFill(seed, patternBytes);
  }

  /** What was made so far. */
  get report(): DummyReport {
    const { patternBytes, patterns } = this.#random;
    return { seed: this.seed, patternBytes, patterns };
  }

  /** Lays the tensor's pattern out over `into`, in the type that this has. */
  fill({ name }: StoredTensor, into: Tensor, stream: Stream): Promise<void> {
    return this.#random.fill(name, this.tensors.get(name)?.width ?? 1, into, stream);
  }

  async read({ name }: StoredTensor): Promise<never> {
    throw new CheckpointError(
      'MODEL_CHECKPOINT_FILE',
      `dummy weights: \`${name}\` has no bytes to read; it is made on the device`,
    );
  }

  async close(): Promise<void> {
    this.#random.dispose();
  }
}
