import type { Device, Runtime, Tensor } from '@altstream/cuda-runtime';
import type { CausalModel, ModelBatch, ModelCache, StepContext } from '../model.js';

/** Another model as it is; whoever looks on, or changes a part of it, overrides that. */
export class WrappedModel<Inner extends CausalModel = CausalModel> implements CausalModel {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly pageTokens: number;
  readonly pageBytes: number;
  readonly layerBytes?: number;
  readonly inner: Inner;

  constructor(inner: Inner) {
    this.inner = inner;
    this.runtime = inner.runtime;
    this.device = inner.device;
    this.vocabSize = inner.vocabSize;
    this.maxPositions = inner.maxPositions;
    this.pageTokens = inner.pageTokens;
    this.pageBytes = inner.pageBytes;
    if (inner.layerBytes !== undefined) this.layerBytes = inner.layerBytes;
  }

  createCache(pages: number): ModelCache {
    return this.inner.createCache(pages);
  }

  forward(batch: ModelBatch, cache: ModelCache, step: StepContext): Tensor {
    return this.inner.forward(batch, cache, step);
  }

  describe(): Record<string, unknown> {
    return this.inner.describe();
  }
}
