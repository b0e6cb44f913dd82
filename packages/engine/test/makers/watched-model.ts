import type { Tensor } from '@altstream/cuda-runtime';
import {
  type ModelBatch,
  type ModelCache,
  type StepContext,
  WrappedModel,
} from '../../src/index.js';

/** Called before each forward pass that is not a replay; may throw. */
export type BeforeForward = (batch: ModelBatch, step: StepContext) => void;

/** Another model, with something looking on. */
export class WatchedModel extends WrappedModel {
  /** Replace it at any time. */
  before: BeforeForward = () => undefined;

  /** Called for each page that is copied; replace it at any time. */
  copied: (from: number, to: number) => void = () => undefined;

  override createCache(pages: number): ModelCache {
    const cache = super.createCache(pages);
    return {
      pages,
      copyPage: (from, to, stream) => {
        this.copied(from, to);
        cache.copyPage(from, to, stream);
      },
      dispose: () => cache.dispose(),
    };
  }

  override forward(batch: ModelBatch, cache: ModelCache, step: StepContext): Tensor {
    this.before(batch, step);
    return super.forward(batch, cache, step);
  }
}
