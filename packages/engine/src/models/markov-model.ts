import { type Device, type Runtime, Tensor } from '@altstream/cuda-runtime';
import { embedding, loadDenseKernels } from '@altstream/dense-kernels';
import type { CausalModel, ModelBatch, ModelCache, StepContext } from '../model.js';

/**
 * The smallest model that the engine can run: the next token depends on the last one only, by a
 * table of logits. For tests and for measuring the engine without a model's cost; it runs on the
 * real runtime, in real graphs.
 */
export class MarkovModel implements CausalModel {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly pageTokens: number;
  readonly pageBytes = 1;
  readonly #table: Tensor;

  private constructor(runtime: Runtime, table: Tensor, limits: MarkovLimits) {
    this.runtime = runtime;
    this.device = table.device;
    this.#table = table;
    this.vocabSize = table.shape[0] ?? 0;
    this.maxPositions = limits.maxPositions ?? 1024;
    this.pageTokens = limits.pageTokens ?? 16;
  }

  /** @param logits row-major [vocab, vocab]: logits of the next token for each last token */
  static async create(
    runtime: Runtime,
    logits: Float32Array,
    limits: MarkovLimits = {},
  ): Promise<MarkovModel> {
    await loadDenseKernels(runtime);
    const vocab = Math.sqrt(logits.length);
    const stream = runtime.device().createStream({ name: 'markov' });
    const table = Tensor.allocate(runtime.device(), [vocab, vocab], 'f32', { label: 'markov' });
    stream.write(table, logits);
    await stream.synchronize();
    stream.dispose();
    return new MarkovModel(runtime, table, limits);
  }

  /** Of what came before the last token nothing is kept, so a page has nothing to copy. */
  createCache(pages: number): ModelCache {
    return { pages, copyPage: () => undefined, dispose: () => undefined };
  }

  forward(batch: ModelBatch, _cache: ModelCache, step: StepContext): Tensor {
    const options = { stream: step.stream, allocator: step.workspace };
    const all = embedding({ table: this.#table, ids: batch.tokenIds }, options);
    return embedding({ table: all, ids: batch.rows }, options);
  }

  describe(): Record<string, unknown> {
    return { model: 'markov', vocabSize: this.vocabSize };
  }

  dispose(): void {
    this.#table.dispose();
  }
}

/** Limits that a test wants. */
interface MarkovLimits {
  readonly maxPositions?: number;
  readonly pageTokens?: number;
}
