/** MiniMax-M3, text only: token ids in, logits out, on one rank. */

import { loadAttentionKernels } from '@altstream/attention-kernels';
import type { Device, Runtime, Tensor } from '@altstream/cuda-runtime';
import { loadDenseKernels } from '@altstream/dense-kernels';
import { loadMoeKernels, type PdlChooser, type PdlDtype, PdlPolicy } from '@altstream/moe-kernels';
import { buildLayers } from './build-layers.js';
import type { ModelConfig } from './config/model-config.js';
import type { DecoderLayer } from './decoder-layer.js';
import { describeModel, uncommunicated } from './describe-model.js';
import { ModelStateError } from './errors/index.js';
import {
  type ActivationDType,
  type CacheShape,
  KvCache,
  pageBytesOf,
  pageTokensOf,
} from './kv-cache.js';
import { LmHead } from './layers/lm-head.js';
import type { MoeBlock } from './layers/moe-block.js';
import { RmsNorm } from './layers/rms-norm.js';
import { TokenEmbedding } from './layers/token-embedding.js';
import type { LoadReport } from './loader/load-report.js';
import { loadWeights } from './loader/load-weights.js';
import { bytesOfLayer, type ModelWeights } from './loader/model-weights.js';
import type { ModelDecisions, ModelOptions } from './model-options.js';
import { openSource, resolveConfig } from './model-source.js';
import { type ModelBatch, ModelStep, type StepContext } from './model-step.js';
import { alternateStream, Overlap } from './overlap.js';
import {
  measuredPages,
  measureSharedExpert,
  mostMeasuredBlocks,
  mostMeasuredLayers,
  type WayLayers,
} from './shared-expert/measure-shared-expert.js';
import { SharedExpertChoice } from './shared-expert/shared-expert-choice.js';

/** A loaded model. Satisfies the engine's `CausalModel`. */
export class MiniMaxM3Model {
  readonly config: ModelConfig;
  readonly report: LoadReport;
  readonly runtime: Runtime;
  readonly device: Device;
  readonly vocabSize: number;
  /** Longest sequence, in tokens. */
  readonly maxPositions: number;
  /** Tokens of a page of the cache. */
  readonly pageTokens: number;
  /** Bytes of a page over all layers. */
  readonly pageBytes: number;
  readonly activations: ActivationDType;
  /** Who sums the parts of several ranks. */
  readonly sums: 'one rank' | 'communicator' | typeof uncommunicated;
  readonly overlap: Overlap;
  readonly sharedExpert: SharedExpertChoice;
  /** Who decides which launches are programmatic. */
  readonly pdl: PdlPolicy;
  /** Decides each launch of a pass; undefined where sums of ranks come between the kernels. */
  readonly launches: PdlChooser | undefined;
  /** The MoE blocks by layer, for tests and measurements. */
  readonly moeBlocks: ReadonlyMap<number, MoeBlock>;
  /** Bytes of the weights of one layer, the largest. */
  readonly layerBytes: number;
  /** First to last, for tests and measurements. */
  readonly layers: readonly DecoderLayer[];
  readonly #parts: ModelParts;
  readonly #weights: ModelWeights;
  readonly #embedding: TokenEmbedding;
  readonly #lmHead: LmHead;
  readonly #cacheShape: CacheShape;
  #isDisposed = false;

  private constructor(parts: ModelParts) {
    const { config, weights, options, device } = parts;
    // With one rank there is nothing to sum, so a communicator is not asked.
    const communicator = weights.tensorParallel.size > 1 ? options.communicator : undefined;
    this.config = config;
    this.report = parts.report;
    this.runtime = options.runtime;
    this.device = device;
    this.vocabSize = config.vocabSize;
    this.maxPositions = config.maxPositions;
    this.pageTokens = pageTokensOf(config);
    this.activations = options.dtype === 'float32' ? 'f32' : 'bf16';
    this.#parts = parts;
    this.#weights = weights;
    this.#cacheShape = {
      config,
      kvHeads: weights.heads.kvHeads,
      pageTokens: this.pageTokens,
      dtype: this.activations,
    };
    this.pageBytes = pageBytesOf(this.#cacheShape);
    this.layerBytes = Math.max(0, ...weights.layers.map(bytesOfLayer));
    const isAlone = weights.tensorParallel.size === 1;
    const summed = communicator ? 'communicator' : uncommunicated;
    this.sums = isAlone ? 'one rank' : summed;
    const mode = options.overlap ?? 'capture';
    const alternate = mode === 'off' ? undefined : alternateStream(this.runtime, device);
    this.overlap = new Overlap(mode, alternate);
    this.sharedExpert = new SharedExpertChoice(options.sharedExpert ?? 'separate');
    const { overlap, sharedExpert } = this;
    const { pdl } = options;
    this.pdl = new PdlPolicy(pdl);
    // Of what a communicator launches nothing is known: it may trigger before it has waited.
    this.launches = communicator ? undefined : this.pdl.chooser(pdlDtypeOfWeights(weights));
    const built = buildLayers(weights, { config, overlap, sharedExpert, communicator, pdl });
    this.#embedding = new TokenEmbedding(weights, this.activations, communicator);
    this.layers = built.layers;
    this.moeBlocks = built.moeBlocks;
    const finalNorm = new RmsNorm(weights.finalNorm, config.rmsNormEps);
    this.#lmHead = new LmHead(finalNorm, weights, config.vocabSize, communicator);
  }

  /**
   * Loads a checkpoint folder, or makes a model of its size.
   *
   * @throws ModelConfigError, CheckpointError, ModelMemoryError, ModelStateError; nothing stays
   *   allocated then
   */
  static async load(options: ModelOptions): Promise<MiniMaxM3Model> {
    const { runtime, tensorParallel, onProgress, signal } = options;
    const device = options.device ?? runtime.device();
    const config = await resolveConfig(options);
    const kernels = [loadDenseKernels, loadAttentionKernels, loadMoeKernels];
    await Promise.all(kernels.map((load) => load(runtime)));
    const source = await openSource(options, config, options.seed);
    try {
      const { weights, report } = await loadWeights(source, {
        config,
        stream: runtime.currentStream(device),
        ...(tensorParallel && { tensorParallel }),
        isSummed: options.communicator !== undefined,
        ...(onProgress && { onProgress }),
        ...(signal && { signal }),
      });
      try {
        const model = new MiniMaxM3Model({ config, weights, report, options, device });
        await model.#settleSharedExpert(options.measuredBatchSizes ?? []);
        return model;
      } catch (error) {
        weights.dispose();
        throw error;
      }
    } finally {
      await source.close();
    }
  }

  /**
   * The same weights with other decisions; for comparing them, and fit for the same caches. It
   * lives as long as the model that was loaded, whose `dispose` ends all of them.
   *
   * @throws ModelStateError as `load`
   */
  async variant(decisions: ModelDecisions): Promise<MiniMaxM3Model> {
    this.#checkAlive('variant');
    const options = { ...this.#parts.options, ...decisions };
    const model = new MiniMaxM3Model({ ...this.#parts, options, owner: this.#parts.owner ?? this });
    await model.#settleSharedExpert(options.measuredBatchSizes ?? []);
    return model;
  }

  /** Allocates a cache of so many pages. */
  createCache(pages: number): KvCache {
    if (!Number.isSafeInteger(pages) || pages < 0) {
      throw new RangeError(`createCache: \`pages\` is ${pages}, expected a whole number`);
    }
    return new KvCache(this.device, pages, this.#cacheShape);
  }

  /**
   * Enqueues one pass and returns at once; may be captured.
   *
   * @param cache of this model; the keys and values of the batch are written into it
   * @returns logits f32 [rows, vocabSize], in the step's workspace
   * @throws ModelStateError for a cache of another model or a disposed model
   */
  forward(batch: ModelBatch, cache: { readonly pages: number }, context: StepContext): Tensor {
    const pdl = this.launches;
    const step = new ModelStep(batch, this.#checkCache(cache), { ...(pdl && { pdl }), ...context });
    const residual = this.#embedding.forward(step);
    const hidden = step.workspace.tensor(residual.shape, residual.dtype, 'hidden');
    for (const [at, layer] of this.layers.entries()) {
      layer.forward(hidden, residual, step, at === 0);
    }
    return this.#lmHead.forward(hidden, residual, step);
  }

  /** What was loaded and what was chosen. */
  describe(): Record<string, unknown> {
    return describeModel(this);
  }

  /** Frees the weights, if they are not another model's. Caches are their owners'. */
  dispose(): void {
    if (!this.#isDisposed && !this.#parts.owner) this.#weights.dispose();
    this.#isDisposed = true;
  }

  #checkCache(cache: { readonly pages: number }): KvCache {
    this.#checkAlive('forward');
    if (cache instanceof KvCache && cache.layers.length === this.layers.length) return cache;
    throw new ModelStateError(
      'MODEL_FOREIGN_CACHE',
      'forward: `cache` is not of this model; make it with `createCache` of the same model',
    );
  }

  #checkAlive(api: string): void {
    const owner = this.#parts.owner ?? this;
    if (!this.#isDisposed && !owner.#isDisposed) return;
    throw new ModelStateError('MODEL_DISPOSED', `${api}: the model is disposed; load it again`);
  }

  async #settleSharedExpert(batchSizes: readonly number[]): Promise<void> {
    const { mode } = this.sharedExpert;
    const canFuse = this.#weights.layers.every(({ moe }) => !moe?.shared || moe.fused);
    if (mode === 'fused' && !canFuse) {
      throw new ModelStateError(
        'MODEL_SHARED_EXPERT',
        "sharedExpert 'fused': the shared expert differs from the routed ones in width or " +
          "storage, so it cannot be one of their slots; use 'separate' or 'auto'",
      );
    }
    if (mode === 'auto' && batchSizes.length > 0) await this.#measureSharedExpert(batchSizes);
  }

  async #measureSharedExpert(batchSizes: readonly number[]): Promise<void> {
    const { device, activations: dtype, config, pageTokens, launches: pdl } = this;
    const ways = this.#layersByWay();
    if (ways.length < 2) return;
    const blocks = config.sparse?.topkBlocks ?? mostMeasuredBlocks;
    const context = Math.min(blocks * pageTokens, config.maxPositions);
    const cache = this.createCache(measuredPages);
    const same = { device, ways, hidden: config.hidden, dtype, cache, pageTokens, context, pdl };
    try {
      for (const tokens of batchSizes) {
        this.sharedExpert.record(await measureSharedExpert({ ...same, tokens }));
      }
    } finally {
      cache.dispose();
    }
  }

  /** MoE layers that can run in all ways, once for each: those of a pass without sums of ranks. */
  #layersByWay(): WayLayers[] {
    const { config, overlap } = this;
    const [first] = this.moeBlocks.values();
    const ways = first?.ways ?? [];
    const fits = (layer: number) => `${this.moeBlocks.get(layer)?.ways}` === `${ways}`;
    return ways.map((way) => {
      const { pdl } = this.#parts.options;
      // Ranks load at their own pace, and some have nothing to measure: none may wait for another.
      const context = { config, overlap, communicator: undefined, pdl };
      const built = buildLayers(this.#weights, { ...context, sharedExpert: { wayOf: () => way } });
      return { way, layers: built.layers.filter((_, i) => fits(i)).slice(0, mostMeasuredLayers) };
    });
  }
}

/** The format of the experts, or of the projections where there are none. */
function pdlDtypeOfWeights({ layers }: ModelWeights): PdlDtype {
  const largest = layers.map(({ attention, moe }) => moe?.experts.gateUp ?? attention.qkv);
  return largest.at(-1)?.scales ? 'mxfp8' : 'bf16';
}

interface ModelParts {
  readonly config: ModelConfig;
  readonly weights: ModelWeights;
  readonly report: LoadReport;
  readonly options: ModelOptions;
  readonly device: Device;
  /** Whose weights these are; undefined for the model that loaded them. */
  readonly owner?: MiniMaxM3Model;
}
