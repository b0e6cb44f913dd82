import type { Tensor } from '@altstream/cuda-runtime';
import type {
  RoutedExperts,
  RoutedExpertsReport,
  RoutedRows,
  TopkPermutePlan,
} from '@altstream/moe-kernels';
import type { Communicator } from '../communicator.js';
import type { ModelStep } from '../model-step.js';
import type { Overlap } from '../overlap.js';
import type { SharedExpertWay } from '../shared-expert/shared-expert-choice.js';
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
  /** How a pass of so many tokens runs the shared expert. */
  readonly wayOf: (tokens: number) => SharedExpertWay;
  readonly overlap: Overlap;
  readonly communicator: Communicator | undefined;
}

/** MoE block: the routed experts run on the alternate stream beside the shared expert. */
export class MoeBlock {
  readonly #parts: MoeBlockParts;

  constructor(parts: MoeBlockParts) {
    this.#parts = parts;
  }

  /**
   * The ways in which this rank can run the shared expert; none without one, or without the others.
   */
  get ways(): readonly SharedExpertWay[] {
    const { routed, shared, fused, overlap } = this.#parts;
    if (!routed || !shared) return [];
    const serial = overlap.alternateName === undefined ? [] : (['serial'] as const);
    return ['separate', ...serial, ...(fused ? (['fused'] as const) : [])];
  }

  /** What the routed experts launch and decided; undefined without them on this rank. */
  describeRouted(): RoutedExpertsReport | undefined {
    const { routed, fused } = this.#parts;
    const reports = [routed, fused].map((path) => path?.experts.describe());
    return reports.find((report) => report?.lastPlan) ?? reports[0];
  }

  /** How the same pass chose and grouped; undefined before the first. */
  describeRouting(): TopkPermutePlan | undefined {
    const { routed, fused } = this.#parts;
    return routed?.router.lastPlan ?? fused?.router.lastPlan;
  }

  /**
   * hidden [tokens, hidden] → `out` of the same shape: routed + shared, summed over all ranks. A
   * rank that holds nothing of one of them launches nothing for it.
   */
  forward(hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    const { shared, communicator, wayOf } = this.#parts;
    if (!shared || step.tokens === 0) this.forwardRouted(hidden, step, out);
    else this.forwardBy(wayOf(step.tokens), hidden, step, out);
    communicator?.allReduce(out, step.stream);
    return out;
  }

  /** One way to the sum of shared and routed experts on this rank; `fused` where that exists. */
  forwardBy(way: SharedExpertWay, hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    const { shared, routed, fused } = this.#parts;
    if (way === 'fused' && fused) return this.forwardFused(hidden, step, out);
    if (shared && !routed) {
      shared.forward(hidden, step, out);
      return out;
    }
    return this.forwardSeparate(hidden, step, out, way !== 'serial');
  }

  /**
   * Shared and routed experts, side by side where overlap applies and is wanted; the last kernel of
   * the routed ones adds the shared one's output, on the current stream.
   */
  forwardSeparate(hidden: Tensor, step: ModelStep, out: Tensor, mayOverlap = true): Tensor {
    const { overlap, routed } = this.#parts;
    if (!routed) throw new RangeError('this rank holds nothing of the routed experts');
    const branches = {
      current: (onCurrent: ModelStep) => this.forwardShared(hidden, onCurrent),
      alternate: (onAlternate: ModelStep) => this.#rowsOf(routed, hidden, onAlternate),
    };
    const [addend, rows] = mayOverlap
      ? overlap.run(step, branches)
      : overlap.runSerially(step, branches);
    return routed.experts.sumRows(rows, { ...step.on, out, addend });
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
      const rows = this.#rowsOf(path, hidden, step);
      return path.experts.sumRows(rows, { ...step.on, out });
    });
  }

  /** Lives as long as the scratch of the caller. */
  #rowsOf({ router, experts }: ExpertPath, hidden: Tensor, step: ModelStep): RoutedRows {
    const { topk, permutation } = router.forward(hidden, experts.range, step);
    step.taps?.router?.(this.#parts.layer, topk.ids, topk.weights, step.stream);
    const options = { ...step.on, pdlWithPredecessor: step.programmatic };
    return experts.forwardRows({ hidden, topk, permutation }, options);
  }
}
