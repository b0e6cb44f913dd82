import { type Device, type Runtime, Tensor } from '@altstream/cuda-runtime';
import type {
  CausalModel,
  MarkovModel,
  ModelBatch,
  ModelCache,
  StepContext,
} from '../../src/index.js';

/** Another model whose cache takes memory, and whose activations do. */
export class PagedModel implements CausalModel {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly pageTokens: number;
  readonly pageBytes = 64 * 2 ** 10;
  readonly activationBytes = 2 ** 10;
  readonly #model: MarkovModel;

  constructor(model: MarkovModel) {
    this.#model = model;
    this.runtime = model.runtime;
    this.device = model.device;
    this.vocabSize = model.vocabSize;
    this.maxPositions = model.maxPositions;
    this.pageTokens = model.pageTokens;
  }

  createCache(pages: number): ModelCache {
    const memory = Tensor.allocate(this.device, [pages, this.pageBytes], 'u8');
    const page = (index: number) => memory.borrow().slice(0, index, index + 1);
    return {
      pages,
      copyPage: (from, to, stream) => stream.copy(page(to), page(from)),
      dispose: () => memory.dispose(),
    };
  }

  forward(batch: ModelBatch, cache: ModelCache, step: StepContext): Tensor {
    step.workspace.tensor([batch.tokenIds.elements, this.activationBytes], 'u8');
    return this.#model.forward(batch, cache, step);
  }

  describe(): Record<string, unknown> {
    return {};
  }
}
