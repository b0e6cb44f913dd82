import { type Stream, Tensor } from '@altstream/cuda-runtime';
import { type CausalModel, WrappedModel } from '@altstream/engine';
import type { MiniMaxM3Model, ModelTaps } from '@altstream/minimax-m3-model';

/** How unevenly a pass used the experts: tokens of the busiest expert ÷ those of the mean one. */
export interface ExpertLoad {
  /** Mean over the layers. */
  readonly mean: number;
  /** Of the layer where it is worst. */
  readonly worst: number;
}

/** A look costs a copy of the choices of a pass, some MB of the real model. */
const lookEveryMs = 5000;
/** With fewer tokens an expert chance would decide. */
const leastPerExpert = 4;

type Forward = CausalModel['forward'];

/**
 * The model as the engine gets it, which looks at the experts that prompts choose now and then.
 * Only passes that are launched one by one can be looked at, and those are prompts; decode steps
 * are graphs.
 */
export class ExpertWatch extends WrappedModel<MiniMaxM3Model> {
  readonly #now: () => number;
  #choices: Tensor | undefined;
  #nextLookMs = Number.POSITIVE_INFINITY;
  #load: ExpertLoad | undefined;

  constructor(model: MiniMaxM3Model, now: () => number = () => performance.now()) {
    super(model);
    this.#now = now;
  }

  /** Of the last pass that was looked at. */
  get load(): ExpertLoad | undefined {
    return this.#load;
  }

  /** Looks from now on; call it when every graph is captured, since a look is no part of one. */
  begin(maxTokens: number): void {
    const { moe } = this.inner.config;
    const layers = this.inner.moeBlocks.size;
    if (!moe || layers === 0) return;
    // One more slot a token where the shared expert is one of them.
    const shape = [layers * maxTokens * (moe.expertsPerToken + 1)];
    this.#choices = Tensor.allocate(this.device, shape, 'i32', { label: 'chosen experts' });
    this.#nextLookMs = this.#now();
  }

  /** As the model does it; a look changes nothing of that. */
  override forward(...[batch, cache, step]: Parameters<Forward>): Tensor {
    const { moe } = this.inner.config;
    const [tokens = 0] = batch.tokenIds.shape;
    const isEnough = moe && tokens * moe.expertsPerToken >= leastPerExpert * moe.experts;
    // Its parts are forgotten at once, so they are borrowed.
    const choices = this.#choices?.borrow();
    if (!choices || !isEnough || this.#now() < this.#nextLookMs) {
      return this.inner.forward(batch, cache, step);
    }
    // Not again before this look is over.
    this.#nextLookMs = Number.POSITIVE_INFINITY;
    const ends: number[] = [];
    const router: ModelTaps['router'] = (_, ids, __, stream) => {
      const begin = ends.at(-1) ?? 0;
      const end = begin + ids.elements;
      if (end > choices.elements) return;
      stream.copy(choices.slice(0, begin, end), ids.borrow().view([ids.elements]));
      ends.push(end);
    };
    try {
      const logits = this.inner.forward(batch, cache, { ...step, taps: { router } });
      void this.#read(choices, ends, step.stream);
      return logits;
    } catch (error) {
      this.#lookLater();
      throw error;
    }
  }

  #lookLater(): void {
    this.#nextLookMs = this.#now() + lookEveryMs;
  }

  dispose(): void {
    this.#choices?.dispose();
    this.#choices = undefined;
  }

  /** A pass that fails says so itself. */
  async #read(choices: Tensor, ends: readonly number[], stream: Stream): Promise<void> {
    const ids = new Int32Array(ends.at(-1) ?? 0);
    try {
      await stream.read(choices.slice(0, 0, ids.length), ids);
      const experts = this.inner.config.moe?.experts ?? 0;
      const layers = ends.map((end, layer) => ids.subarray(ends[layer - 1] ?? 0, end));
      this.#load = loadOf(layers, experts) ?? this.#load;
    } catch {
      return;
    } finally {
      this.#lookLater();
    }
  }
}

/**
 * How unevenly tokens chose.
 *
 * @param layers chosen experts of the tokens of each layer; −1 = padding, `experts` and above = a
 * shared one
 * @returns undefined if nothing was chosen
 */
export function loadOf(layers: readonly Int32Array[], experts: number): ExpertLoad | undefined {
  const ratios = layers.flatMap((ids) => {
    const counts = new Float64Array(experts);
    for (const id of ids) if (id >= 0 && id < experts) counts[id] = (counts[id] ?? 0) + 1;
    const total = counts.reduce((sum, count) => sum + count, 0);
    return total === 0 ? [] : [(Math.max(...counts) * experts) / total];
  });
  if (ratios.length === 0) return undefined;
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  return { mean, worst: Math.max(...ratios) };
}
