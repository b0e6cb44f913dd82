import type { Device, Runtime, Tensor } from '@altstream/cuda-runtime';
import type { CausalModel, ModelBatch, ModelCache, StepContext } from '../../src/index.js';

/** Called before each forward pass that is not a replay; may throw. */
export type BeforeForward = (batch: ModelBatch, step: StepContext) => void;

/** Another model, with something looking on. */
export class WatchedModel implements CausalModel {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly pageTokens: number;
  readonly pageBytes: number;
  readonly #model: CausalModel;
  /** Replace it at any time. */
  before: BeforeForward = () => undefined;

  constructor(model: CausalModel) {
    this.#model = model;
    this.runtime = model.runtime;
    this.device = model.device;
    this.vocabSize = model.vocabSize;
    this.maxPositions = model.maxPositions;
    this.pageTokens = model.pageTokens;
    this.pageBytes = model.pageBytes;
  }

  /** Called for each page that is copied; replace it at any time. */
  copied: (from: number, to: number) => void = () => undefined;

  createCache(pages: number): ModelCache {
    const cache = this.#model.createCache(pages);
    return {
      pages,
      copyPage: (from, to, stream) => {
        this.copied(from, to);
        cache.copyPage(from, to, stream);
      },
      dispose: () => cache.dispose(),
    };
  }

  forward(batch: ModelBatch, cache: ModelCache, step: StepContext): Tensor {
    this.before(batch, step);
    return this.#model.forward(batch, cache, step);
  }

  describe(): Record<string, unknown> {
    return this.#model.describe();
  }
}
