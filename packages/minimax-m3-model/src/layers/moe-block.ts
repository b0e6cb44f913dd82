import type { Tensor } from '@altstream/cuda-runtime';
import { add } from '@altstream/dense-kernels';
import type { RoutedExperts } from '@altstream/moe-kernels';
import type { Communicator } from '../communicator.js';
import type { ModelStep } from '../model-step.js';
import type { Overlap } from '../overlap.js';
import type { Router } from './router.js';
import type { SwigluMlp } from './swiglu-mlp.js';

/** A router with the experts that it chooses from. */
export interface ExpertPath {
  readonly router: Router;
  readonly experts: RoutedExperts;
}

/** What a MoE block is made of. */
export interface MoeBlockParts {
  readonly layer: number;
  /** Undefined when this rank holds nothing of the experts. */
  readonly routed: ExpertPath | undefined;
  /** The shared expert by itself; undefined when the layer, or this rank, has none of it. */
  readonly shared: SwigluMlp | undefined;
  /** The same sum with the shared expert as one more slot; undefined when it does not fit. */
  readonly fused: ExpertPath | undefined;
  /** Whether a pass of so many tokens uses the fused slot. */
  readonly usesFused: (tokens: number) => boolean;
  readonly overlap: Overlap;
  readonly communicator: Communicator | undefined;
}

/** MoE block: the routed experts run on the alternate stream beside the shared expert. */
export class MoeBlock {
  readonly #parts: MoeBlockParts;

  constructor(parts: MoeBlockParts) {
    this.#parts = parts;
  }

  /** Whether the shared expert can run separately and fused on this rank. */
  get hasBothWays(): boolean {
    const { routed, shared, fused } = this.#parts;
    return routed !== undefined && shared !== undefined && fused !== undefined;
  }

  /**
   * hidden [tokens, hidden] → `out` of the same shape: routed + shared, summed over all ranks. A rank
   * that holds nothing of one of them launches nothing for it.
   */
  forward(hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    const { shared, routed, communicator } = this.#parts;
    if (!shared || step.tokens === 0) this.forwardRouted(hidden, step, out);
    else if (this.#isFused(step)) this.forwardFused(hidden, step, out);
    else if (!routed) shared.forward(hidden, step, out);
    else this.forwardSeparate(hidden, step, out);
    communicator?.allReduce(out, step.stream);
    return out;
  }

  /** Shared and routed experts side by side where overlap applies, then their sum. */
  forwardSeparate(hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    const [shared, routed] = this.#parts.overlap.run(step, {
      current: (onCurrent) => this.forwardShared(hidden, onCurrent),
      alternate: (onAlternate) => this.forwardRouted(hidden, onAlternate),
    });
    return add({ a: routed, b: shared }, { ...step.on, out });
  }

  /** The shared expert, which every token passes with weight 1. */
  forwardShared(hidden: Tensor, step: ModelStep): Tensor {
    const out = step.workspace.tensor(hidden.shape, hidden.dtype, 'shared');
    this.#parts.shared?.forward(hidden, step, out);
    return out;
  }

  /** The chosen experts: router, top-k, experts. */
  forwardRouted(hidden: Tensor, step: ModelStep, out?: Tensor): Tensor {
    return this.#forwardPath(this.#parts.routed, hidden, step, out);
  }

  /** The chosen experts and the shared one in one sum. */
  forwardFused(hidden: Tensor, step: ModelStep, out?: Tensor): Tensor {
    return this.#forwardPath(this.#parts.fused ?? this.#parts.routed, hidden, step, out);
  }

  #isFused(step: ModelStep): boolean {
    return this.#parts.fused !== undefined && this.#parts.usesFused(step.tokens);
  }

  #forwardPath(
    path: ExpertPath | undefined,
    hidden: Tensor,
    step: ModelStep,
    given?: Tensor,
  ): Tensor {
    const out = given ?? step.workspace.tensor(hidden.shape, hidden.dtype, 'routed');
    if (!path) {
      step.stream.fill(out, 0);
      return out;
    }
    return step.scratch(() => {
      const topk = path.router.forward(hidden, step);
      step.taps?.router?.(this.#parts.layer, topk.ids, topk.weights, step.stream);
      return path.experts.forward({ hidden, topk }, { ...step.on, out });
    });
  }
}
