/**
 * Weights that mean nothing, for measuring a model whose checkpoint is not there: valid numbers of the
 * right size, made on the device. Short random patterns are laid out many times, each tensor from
 * places of its own, so that no two layers and no two experts are alike and the host never holds more
 * than one pattern.
 */

import { type Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelConfig } from '../../config/model-config.js';
import { CheckpointError } from '../../errors/index.js';
import type { StoredTensor, TensorSource } from '../tensor-source.js';
import {
  hashOf,
  makePattern,
  mixed,
  type PatternDType,
  patternAlignment,
} from './dummy-pattern.js';
import { type DummyTensor, listDummyTensors } from './dummy-tensors.js';

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
  readonly #seed: number;
  readonly #patternBytes: number;
  readonly #patterns = new Map<string, Tensor>();

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
    this.#seed = mixed(seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0);
    this.tensors = new Map(listDummyTensors(config).map((tensor) => [tensor.name, tensor]));
    const largest = Math.max(...[...this.tensors.values()].map(({ bytes }) => bytes));
    const wanted = Math.min(mostPatternBytes, Math.max(leastPatternBytes, largest));
    this.#patternBytes = Math.ceil(wanted / patternAlignment) * patternAlignment;
  }

  /** What was made so far. */
  get report(): DummyReport {
    const { seed } = this;
    return { seed, patternBytes: this.#patternBytes, patterns: this.#patterns.size };
  }

  /** Lays the tensor's pattern out over `into`, in the type that this has. */
  async fill({ name }: StoredTensor, into: Tensor, stream: Stream): Promise<void> {
    const { width = 1 } = this.tensors.get(name) ?? {};
    const pattern = this.#pattern(into.dtype as PatternDType, width, stream);
    const start = hashOf(name);
    const flat = Tensor.of(into.buffer, [into.bytes], 'u8', { byteOffset: into.byteOffset });
    const places = pattern.bytes / patternAlignment;
    for (let done = 0, tile = 0; done < into.bytes; tile++) {
      await stream.ready();
      const from = (mixed(start, this.#seed + tile) % places) * patternAlignment;
      const bytes = Math.min(into.bytes - done, pattern.bytes - from);
      stream.copy(flat.slice(0, done, done + bytes), pattern.slice(0, from, from + bytes));
      done += bytes;
    }
  }

  async read({ name }: StoredTensor): Promise<never> {
    throw new CheckpointError(
      'MODEL_CHECKPOINT_FILE',
      `dummy weights: \`${name}\` has no bytes to read; it is made on the device`,
    );
  }

  async close(): Promise<void> {
    for (const pattern of this.#patterns.values()) pattern.dispose();
    this.#patterns.clear();
  }

  #pattern(dtype: PatternDType, width: number, stream: Stream): Tensor {
    // Elements of MXFP8 are the same for every width; their scales are not.
    const key = dtype === 'e4m3' ? dtype : `${dtype} ${width}`;
    const known = this.#patterns.get(key);
    if (known) return known;
    const bytes = this.#patternBytes;
    const label = `dummy pattern ${key}`;
    const pattern = Tensor.allocate(stream.device, [bytes], 'u8', { stream, label });
    this.#patterns.set(key, pattern);
    stream.write(pattern, makePattern(dtype, width, bytes, mixed(hashOf(key), this.#seed)));
    return pattern;
  }
}
